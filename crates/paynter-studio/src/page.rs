//! The files of the page, packed into the program, and the headers they go out with.
//!
//! In:  a path below the secret.
//! Out: bytes, compressed where that pays, with a strict content policy.

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/packed.rs"));

/// Stands in `index.html` for the nonce of a visit.
const NONCE_MARK: &str = "STYLE_NONCE";

/// Gives a file of the page; none if there is no such file.
pub fn file(path: &str, asked: &HeaderMap, port: u16, nonce: &str) -> Option<Response<Body>> {
    let path = if path.is_empty() { "index.html" } else { path };
    let (name, bytes) = PAGE.iter().find(|(name, _)| *name == path)?;
    if *name == "index.html" {
        let text = String::from_utf8_lossy(bytes).replace(NONCE_MARK, nonce);
        return respond(
            Body::from(text),
            "text/html; charset=utf-8",
            port,
            nonce,
            &[],
        );
    }
    // Names of assets carry a hash of their content.
    let keep = match name.starts_with("assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let accepts = asked
        .get(header::ACCEPT_ENCODING)
        .and_then(|v| v.to_str().ok());
    let packed = packed()
        .get(name)
        .filter(|_| accepts.is_some_and(|a| a.contains("gzip")));
    let further: &[(header::HeaderName, &str)] = &[(header::CACHE_CONTROL, keep)];
    match packed {
        Some(packed) => {
            let mut response = respond(
                Body::from(packed.as_slice()),
                kind_of(name),
                port,
                nonce,
                further,
            )?;
            let gzip = header::HeaderValue::from_static("gzip");
            response
                .headers_mut()
                .insert(header::CONTENT_ENCODING, gzip);
            Some(response)
        }
        None => respond(Body::from(*bytes), kind_of(name), port, nonce, further),
    }
}

/// Answers with a text made here, such as a picture.
pub fn made(text: String, kind: &'static str, port: u16) -> Option<Response<Body>> {
    respond(Body::from(text), kind, port, "none", &[])
}

/// Gives the licences of what the page carries.
pub fn licenses() -> &'static str {
    let found = PAGE.iter().find(|(name, _)| *name == "licenses.txt");
    found.map_or("", |(_, bytes)| std::str::from_utf8(bytes).unwrap_or(""))
}

/// Files that shrink, each packed once.
fn packed() -> &'static BTreeMap<&'static str, Vec<u8>> {
    static PACKED: OnceLock<BTreeMap<&'static str, Vec<u8>>> = OnceLock::new();
    PACKED.get_or_init(|| {
        let shrinks = |name: &str| {
            [".js", ".css", ".svg", ".txt"]
                .iter()
                .any(|e| name.ends_with(e))
        };
        let files = PAGE.iter().filter(|(name, _)| shrinks(name));
        files
            .filter_map(|(name, bytes)| Some((*name, gzip(bytes)?)))
            .collect()
    })
}

fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// The content policy: everything from here, nothing inline but styles with the nonce of this visit.
fn policy(port: u16, nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; font-src 'self'; img-src 'self' data: blob:; \
         connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

fn respond(
    body: Body,
    kind: &'static str,
    port: u16,
    nonce: &str,
    further: &[(header::HeaderName, &str)],
) -> Option<Response<Body>> {
    let mut response = Response::builder()
        .status(StatusCode::OK)
        .header(header::CONTENT_TYPE, kind)
        .header(header::CONTENT_SECURITY_POLICY, policy(port, nonce))
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header("cross-origin-opener-policy", "same-origin")
        .header("cross-origin-resource-policy", "same-origin");
    if further.is_empty() {
        response = response.header(header::CACHE_CONTROL, "no-store");
    }
    for (name, value) in further {
        response = response.header(name, *value);
    }
    response.body(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_packed_and_carries_its_licences() {
        assert!(PAGE.iter().any(|(name, _)| *name == "index.html"));
        for work in [
            "@fontsource-variable/inter",
            "@xyflow/react",
            "@codemirror/state",
            "uplot",
            "three",
        ] {
            assert!(licenses().contains(work), "{work}");
        }
    }

    #[test]
    fn nothing_outside_of_the_page_is_given_out() {
        for path in [
            "../Cargo.toml",
            "assets/../index.html",
            "/etc/passwd",
            "nothing.js",
        ] {
            assert!(file(path, &HeaderMap::new(), 1, "n").is_none(), "{path}");
        }
    }

    /// What goes over the wire before anything is shown: page, program, styles and fonts.
    #[test]
    fn the_page_is_small() {
        const MAX_BYTES: usize = 600_000;
        let sent = |(name, bytes): &(&str, &[u8])| packed().get(name).map_or(bytes.len(), Vec::len);
        // What is fetched when it is first looked at, such as the bodies in 3D, has names of its own.
        let is_first = |name: &str| name != "licenses.txt" && !name.starts_with("assets/later-");
        let first = PAGE.iter().filter(|(name, _)| is_first(name));
        let total: usize = first.map(sent).sum();
        assert!(total < MAX_BYTES, "{total} bytes");
    }
}
