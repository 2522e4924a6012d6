//! `mero serve`: the built demo site on a port of this machine, with the headers that WebGPU, wasm and a strict policy want.

mod site;

use std::convert::Infallible;
use std::future::ready;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use self::site::Site;
use super::console::say;
use super::{Answer, web};
use crate::error::{Error, Result};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The port to listen on; 0 takes any that is free
    #[arg(long, default_value_t = 8080, value_name = "N")]
    port: u16,
    /// The address to listen on; by default only this machine can ask
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    host: IpAddr,
    /// The folder of the web files, whose `site` is served; found beside this program if not given
    #[arg(long, value_name = "DIR")]
    web: Option<PathBuf>,
    /// Open the site in the browser
    #[arg(long)]
    open: bool,
}

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args) -> Answer {
    let site = Site::open(&web::find(args.web.as_deref())?.join("site"))?;
    let failed = |error: std::io::Error| Error::new(format!("the server cannot be started: {error}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    Ok(runtime.block_on(serve(args, &site))?)
}

async fn serve(args: &Args, site: &Site) -> Result<()> {
    let listener = TcpListener::bind((args.host, args.port)).await.map_err(|error| args.refused(&error))?;
    let address = listener.local_addr().map_err(|error| args.refused(&error))?;
    if !args.host.is_loopback() {
        eprintln!("mero: serve: warning: whoever reaches this machine at {address} can open the site");
    }
    // Nothing is under way that an end could spoil.
    let _ = ctrlc::set_handler(|| std::process::exit(0));
    tell(args, address);
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let site = site.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request| ready(Ok::<_, Infallible>(site.answer(&request))));
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            // A client that goes away is its own affair.
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

fn tell(args: &Args, address: SocketAddr) {
    let seen = if address.ip().is_unspecified() {
        SocketAddr::new(IpAddr::from([127, 0, 0, 1]), address.port())
    } else {
        address
    };
    let url = format!("http://{seen}/");
    say(&format!("{url}  (Ctrl-C ends it)"));
    if args.open && open::that_detached(&url).is_err() {
        eprintln!("mero: serve: no browser could be opened; open {url} yourself");
    }
}

impl Args {
    fn refused(&self, error: &std::io::Error) -> Error {
        let Self { port, host, .. } = self;
        Error::new(match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                format!("port {port} of {host} is taken; choose another with --port, or 0 for any that is free")
            }
            std::io::ErrorKind::PermissionDenied => {
                format!("port {port} may not be taken by this user; choose one above 1023")
            }
            _ => format!("{host}, port {port}: cannot be listened on: {error}"),
        })
    }
}
