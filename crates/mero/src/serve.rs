//! `mero serve`: serves the built demo site on a port of this machine, with the headers that WebGPU, wasm threads and a strict policy need.

mod moving;
mod site;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::terminal::console::{complain, finish_output, say};
use crate::{Answer, web};
use meromorph::error::{Error, Result};
use moving::Moving;
use site::Site;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The port to listen on; 0 for any free port
    #[arg(long, default_value_t = 8080, value_name = "N")]
    port: u16,
    /// The address to listen on; by default only this machine can connect
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    host: IpAddr,
    /// Folder of the web files, whose `site` is served [default: found near this program]
    #[arg(long, value_name = "DIR")]
    web: Option<PathBuf>,
    /// Open the site in the browser
    #[arg(long)]
    open: bool,
}

/// Time limit for a client to take some bytes of a response.
const STALL_TIME: Duration = Duration::from_secs(30);
/// Time limit for a client to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args) -> Answer {
    let site = Site::open(&web::find(args.web.as_deref())?.join("site"))?;
    let failed = |error: std::io::Error| Error::new(format!("cannot start the server: {error}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    Ok(runtime.block_on(serve(args, &site))?)
}

async fn serve(args: &Args, site: &Site) -> Result<()> {
    let listener = TcpListener::bind((args.host, args.port)).await.map_err(|error| args.refused(&error))?;
    let address = listener.local_addr().map_err(|error| args.refused(&error))?;
    if !args.host.is_loopback() {
        complain(&format!("mero: serve: warning: everyone who can reach {address} can open the site"));
    }
    // Stopping loses nothing.
    let _ = ctrlc::set_handler(|| std::process::exit(0));
    announce(args, address)?;
    let host = args.host;
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let site = site.clone();
        let stream = Moving::new(stream, STALL_TIME);
        tokio::spawn(async move {
            let answer = service_fn(async |request| Ok::<_, Infallible>(site.answer_to(host, request).await));
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            // A client may close its connection at any time.
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

/// Errors if the address cannot be printed: nobody would find the site.
fn announce(args: &Args, address: SocketAddr) -> Result<()> {
    let shown = if address.ip().is_unspecified() {
        SocketAddr::new(IpAddr::from([127, 0, 0, 1]), address.port())
    } else {
        address
    };
    let url = format!("http://{shown}/");
    say(&format!("{url}  (Ctrl-C to stop)"));
    finish_output()?;
    if args.open && open::that_detached(&url).is_err() {
        complain(&format!("mero: serve: cannot start a browser; open {url} yourself"));
    }
    Ok(())
}

impl Args {
    fn refused(&self, error: &std::io::Error) -> Error {
        let Self { port, host, .. } = self;
        Error::new(match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                format!("port {port} of {host} is in use; choose another with --port, or 0 for any free port")
            }
            std::io::ErrorKind::PermissionDenied => {
                format!("this user may not listen on port {port}; choose one above 1023")
            }
            _ => format!("cannot listen on port {port} of {host}: {error}"),
        })
    }
}
