//! A folder of files as answers to requests: nothing outside the folder, nothing hidden, nothing but reading.

use std::fs;
use std::path::{Path, PathBuf};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;

use crate::error::{Error, Result};

/// The served folder, links resolved.
#[derive(Clone)]
pub(super) struct Site {
    root: PathBuf,
}

/// What every answer says. The first two make the page cross-origin isolated, which exact timers and shared memory ask for.
const HEADERS: [(HeaderName, &str); 6] = [
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// Own files only; wasm may be compiled, tables and models saved and read by way of a blob, the engine run in a worker made of one.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; \
                      font-src 'self'; connect-src 'self' blob: data:; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

const KINDS: [(&str, &str); 15] = [
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("json", "application/json"),
    ("map", "application/json"),
    ("webmanifest", "application/manifest+json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("ico", "image/x-icon"),
    ("woff2", "font/woff2"),
    ("csv", "text/csv; charset=utf-8"),
    ("txt", "text/plain; charset=utf-8"),
];

const ABSENT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\
                      <title>Not found</title><h1>Not found</h1><p>There is no such page here. <a href=\"/\">To the start</a></p></html>";

/// What a path leads to.
enum Found {
    File(PathBuf),
    /// A folder asked for without the slash that its pages count on.
    Folder(String),
}

impl Site {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let told = |what: &str| Error::new(format!("{}: {what}", folder.display()));
        let absent = "there is no demo site; build it with `npm run build` in the source's folder web";
        let root = fs::canonicalize(folder).map_err(|_| told(absent))?;
        if !root.join("index.html").is_file() {
            return Err(told("holds no index.html; build the demo site again"));
        }
        Ok(Self { root })
    }

    /// The answer to a request, whatever it asks.
    pub(super) fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut refusal =
                answered(StatusCode::METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", "only GET and HEAD\n");
            refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refusal;
        }
        match self.find(request.uri().path()) {
            Some(Found::File(file)) => fs::read(&file).map_or_else(|_| absent(), |bytes| content(&file, bytes)),
            Some(Found::Folder(path)) => moved(&path),
            None => absent(),
        }
    }

    fn find(&self, path: &str) -> Option<Found> {
        let decoded = percent_decode_str(path).decode_utf8().ok()?;
        let names: Vec<&str> = decoded.split('/').filter(|name| !name.is_empty()).collect();
        if !names.iter().all(|name| is_plain(name)) {
            return None;
        }
        let place = names.iter().fold(self.root.clone(), |place, name| place.join(name));
        // A link may lead out of the folder.
        let place = fs::canonicalize(place).ok().filter(|place| place.starts_with(&self.root))?;
        match place.is_dir() {
            false if path.ends_with('/') => None,
            false => Some(Found::File(place)),
            true if path.ends_with('/') => Some(Found::File(place.join("index.html"))),
            true => Some(Found::Folder(format!("{}/", path.trim_start_matches('/')))),
        }
    }
}

/// Whether a part of a path is the name of a file that may be shown: not hidden, not `..`, no drive and no other separator.
fn is_plain(name: &str) -> bool {
    !name.starts_with('.') && !name.contains(['\\', ':', '\0'])
}

fn answered(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn absent() -> Response<Full<Bytes>> {
    answered(StatusCode::NOT_FOUND, KINDS[0].1, ABSENT)
}

fn moved(path: &str) -> Response<Full<Bytes>> {
    let mut response = answered(StatusCode::MOVED_PERMANENTLY, "text/plain; charset=utf-8", "");
    match HeaderValue::from_str(&format!("/{path}")) {
        Ok(place) => drop(response.headers_mut().insert(header::LOCATION, place)),
        Err(_) => return absent(),
    }
    response
}

fn content(file: &Path, bytes: Vec<u8>) -> Response<Full<Bytes>> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let kind = KINDS.iter().find(|(known, _)| *known == extension).map_or("application/octet-stream", |(_, kind)| kind);
    let mut response = answered(StatusCode::OK, kind, bytes);
    if is_hashed(file) {
        let for_ever = HeaderValue::from_static("public, max-age=31536000, immutable");
        response.headers_mut().insert(header::CACHE_CONTROL, for_ever);
    }
    response
}

/// Whether the name of a file in `assets` ends in a digest, as bundlers have it: `page-B6fW8_kx.js`.
fn is_hashed(file: &Path) -> bool {
    let is_asset = file.parent().is_some_and(|folder| folder.ends_with("assets"));
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    // The digest may itself hold a dash.
    let digest = stem.get(stem.len().saturating_sub(9)..).and_then(|end| end.strip_prefix('-'));
    is_asset && digest.is_some_and(|digest| digest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_digest_makes_an_asset_last() {
        let cases = [
            ("site/assets/page-B6fW8_kx.js", true),
            ("site/assets/page-B6fW-_kx.js", true),
            ("site/assets/meromorph_bg-00ffAA11.wasm", true),
            ("site/assets/page.js", false),
            ("site/assets/page-short.js", false),
            ("site/page-B6fW8_kx.js", false),
        ];
        for (path, wanted) in cases {
            assert_eq!(is_hashed(Path::new(path)), wanted, "{path}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_not_plain() {
        for name in ["..", ".", ".git", "a\\b", "C:", "a\0"] {
            assert!(!is_plain(name), "{name:?}");
        }
        assert!(is_plain("index.html") && is_plain("a..b"));
    }
}
