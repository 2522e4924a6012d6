//! The demo site over HTTP. `tower-http` reads the files: paths, types, ranges, conditions. This file adds the headers the site needs, and refuses
//! hidden files and links that lead out of the folder, which the library would serve.

use std::fs;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use tower_http::services::ServeDir;
use tower_http::services::fs::{
    Backend, DefaultServeDirFallback, ServeFileSystemResponseBody, TokioBackend, TokioFile,
};

use meromorph::error::{Error, Result};

/// The served folder.
#[derive(Clone)]
pub(super) struct Site(ServeDir<DefaultServeDirFallback, Inside>);

/// A file, or a page of this program.
type Body = Either<ServeFileSystemResponseBody, Full<Bytes>>;

/// Headers of every response. The first two make the page cross-origin isolated, which exact timers and shared memory require.
const HEADERS: [(HeaderName, &str); 6] = [
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// Own files only. Allows to compile wasm, to save and read tables and models as blobs, and to run the engine in a worker from a blob.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; \
                      font-src 'self'; connect-src 'self' blob: data:; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

const ABSENT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\
                      <title>Not found</title><h1>Not found</h1><p>This page does not exist. <a href=\"/\">Go to the start</a></p></html>";

impl Site {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let refused = |what: &str| Error::new(format!("{}: {what}", folder.display()));
        let absent = "there is no demo site; build it with `npm run build` in the source's folder web";
        let root = fs::canonicalize(folder).map_err(|_| refused(absent))?;
        if !root.join("index.html").is_file() {
            return Err(refused("has no index.html; build the demo site again"));
        }
        Ok(Self(ServeDir::with_backend(root.clone(), Inside(root.into()))))
    }

    /// The response to a request that names this machine as its host, as the address that the server listens on; a refusal of others. A page of another
    /// site can have a name of its own lead to this machine, but not hide that name.
    pub(super) async fn answer_to<B: Send + 'static>(&self, own: IpAddr, request: Request<B>) -> Response<Body> {
        let host = request.headers().get(header::HOST).map(|host| host.to_str().unwrap_or_default());
        let host = host.or_else(|| request.uri().host());
        if host.is_none_or(|host| is_own_host(host, own)) {
            return self.answer(request).await;
        }
        let text = "this server answers requests for localhost and for its own address only\n";
        let mut response = Response::new(Either::Right(Full::new(Bytes::from_static(text.as_bytes()))));
        *response.status_mut() = StatusCode::FORBIDDEN;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        response
    }

    /// The response to any request.
    pub(super) async fn answer<B: Send + 'static>(&self, request: Request<B>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        // A redirect to a path with two slashes would lead to another host.
        let is_path = !path.starts_with("//");
        let served = if is_path { self.0.clone().try_call(request).await.ok() } else { None };
        let found = served.filter(|response| response.status() != StatusCode::NOT_FOUND);
        let mut response = found.map_or_else(absent, |response| response.map(Either::Left));
        let is_lasting = response.status().is_success() && is_hashed(Path::new(&path));
        let headers = response.headers_mut();
        for (name, value) in HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let caching = if is_lasting { "public, max-age=31536000, immutable" } else { "no-cache" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
        // Every text of the site is UTF-8, which the library does not say.
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let text = kind.filter(|kind| kind.starts_with("text/") && !kind.contains("charset"));
        if let Some(kind) = text.and_then(|kind| HeaderValue::from_str(&format!("{kind}; charset=utf-8")).ok()) {
            headers.insert(header::CONTENT_TYPE, kind);
        }
        response
    }
}

/// Whether the host of a request, perhaps with a port, is a name of this machine or the address that the server listens on.
fn is_own_host(host: &str, own: IpAddr) -> bool {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) && (!name.contains(':') || name.ends_with(']')) => name,
        _ => host,
    };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return true;
    }
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name).parse::<IpAddr>();
    address.is_ok_and(|address| address.is_loopback() || address == own || own.is_unspecified())
}

fn absent() -> Response<Body> {
    let mut response = Response::new(Either::Right(Full::new(Bytes::from_static(ABSENT.as_bytes()))));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
    response
}

/// The files of a folder, without hidden ones and without those outside it that a link leads to.
#[derive(Clone)]
struct Inside(Arc<Path>);

/// A boxed future.
type BoxFuture<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

impl Inside {
    /// `path` with links resolved, if it is in the folder and no part of either is hidden.
    fn resolved(&self, path: PathBuf) -> impl Future<Output = io::Result<PathBuf>> + Send + use<> {
        let root = self.0.clone();
        async move {
            let resolved = tokio::fs::canonicalize(&path).await?;
            let is_shown = |path: &Path| path.strip_prefix(&root).is_ok_and(is_plain);
            if is_shown(&path) && is_shown(&resolved) { Ok(resolved) } else { Err(io::ErrorKind::NotFound.into()) }
        }
    }
}

impl Backend for Inside {
    type File = TokioFile;
    type Metadata = fs::Metadata;
    type OpenFuture = BoxFuture<TokioFile>;
    type MetadataFuture = BoxFuture<fs::Metadata>;

    fn open(&self, path: PathBuf) -> Self::OpenFuture {
        let resolved = self.resolved(path);
        Box::pin(async move { TokioBackend.open(resolved.await?).await })
    }

    fn metadata(&self, path: PathBuf) -> Self::MetadataFuture {
        let resolved = self.resolved(path);
        Box::pin(async move { TokioBackend.metadata(resolved.await?).await })
    }
}

/// Whether no part of a path is hidden or names a stream of an NTFS file.
fn is_plain(path: &Path) -> bool {
    let mut names = path.components().map(|part| part.as_os_str().to_string_lossy());
    names.all(|name| !name.starts_with('.') && !name.contains(':'))
}

/// Whether the name of a file in `assets` ends in a digest, as bundlers write it: `page-B6fW8_kx.js`.
fn is_hashed(file: &Path) -> bool {
    let is_asset = file.parent().is_some_and(|folder| folder.ends_with("assets"));
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    // The digest may itself contain a dash.
    let digest = stem.get(stem.len().saturating_sub(9)..).and_then(|end| end.strip_prefix('-'));
    is_asset && digest.is_some_and(|digest| digest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_assets_with_a_digest_are_cached_for_ever() {
        let cases = [
            ("/assets/page-B6fW8_kx.js", true),
            ("/assets/page-B6fW-_kx.js", true),
            ("/assets/meromorph_bg-00ffAA11.wasm", true),
            ("/assets/page.js", false),
            ("/assets/page-short.js", false),
            ("/page-B6fW8_kx.js", false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_hashed(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn only_names_of_this_machine_are_its_host() {
        let (own, any): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [0, 0, 0, 0].into());
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "a.localhost:1",
            "localhost.",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_own_host(host, own), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example:8080", "127.0.0.1.evil.example", "192.168.1.5:8080", "", "[::2]"]
        {
            assert!(!is_own_host(host, own), "{host}");
        }
        assert!(is_own_host("192.168.1.5:8080", any) && !is_own_host("evil.example", any));
        assert!(is_own_host("192.168.1.5", [192, 168, 1, 5].into()));
    }

    #[test]
    fn hidden_names_and_streams_are_not_plain() {
        for path in ["..", "a/../b", ".git", "a/.b/c", "index.html::$DATA"] {
            assert!(!is_plain(Path::new(path)), "{path:?}");
        }
        assert!(is_plain(Path::new("a/index.html")) && is_plain(Path::new("a..b")));
    }
}
