//! Who may talk to the server: a page that this server gave out, to the person who started it.
//!
//! In:  the secret of the address, and the `Host` and `Origin` of a request.
//! Out: yes or no.
//!
//! The secret keeps out other users of the machine; `Host` keeps out names that someone pointed at this
//! machine; `Origin` keeps out other pages in the same browser.

use std::fmt::Write as _;

/// Bytes of the secret: more than anyone can try.
const SECRET_BYTES: usize = 16;

/// Makes a new secret, as letters and digits.
///
/// # Errors
///
/// The machine gives no random numbers.
pub fn new_secret() -> Result<String, String> {
    let mut bytes = [0_u8; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|e| format!("no random numbers: {e}"))?;
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Compares in a time that does not tell where two secrets differ.
pub fn is_secret(given: &str, secret: &str) -> bool {
    let differences = given.bytes().zip(secret.bytes()).map(|(a, b)| a ^ b);
    given.len() == secret.len() && differences.fold(0, |all, d| all | d) == 0
}

/// Tells whether a `Host` means this server by its own name.
pub fn is_own_host(host: Option<&str>, port: u16) -> bool {
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    host.is_some_and(|h| own.iter().any(|o| o == h))
}

/// Tells whether an `Origin` is a page of this server. A request without one is a plain visit; sockets always
/// have one.
pub fn is_own_origin(origin: Option<&str>, port: u16, is_socket: bool) -> bool {
    match origin {
        None => !is_socket,
        Some(origin) => {
            let host = origin.strip_prefix("http://");
            host.is_some_and(|h| is_own_host(Some(h), port))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_are_hosts() {
        assert!(is_own_host(Some("127.0.0.1:4000"), 4000));
        assert!(is_own_host(Some("localhost:4000"), 4000));
        for other in [
            "127.0.0.1",
            "127.0.0.1:4001",
            "evil.example:4000",
            "",
            "127.0.0.1:4000.evil.example",
        ] {
            assert!(!is_own_host(Some(other), 4000), "{other}");
        }
        assert!(!is_own_host(None, 4000));
    }

    #[test]
    fn foreign_pages_are_refused() {
        assert!(is_own_origin(Some("http://127.0.0.1:4000"), 4000, true));
        for other in [
            "http://evil.example",
            "https://127.0.0.1:4000",
            "null",
            "http://127.0.0.1:4000@evil.example",
        ] {
            assert!(!is_own_origin(Some(other), 4000, true), "{other}");
        }
        assert!(
            !is_own_origin(None, 4000, true),
            "a socket without origin is no browser"
        );
        assert!(is_own_origin(None, 4000, false));
    }

    #[test]
    fn secrets_are_long_and_compared_whole() {
        let (a, b) = (new_secret().expect("random"), new_secret().expect("random"));
        assert_eq!(a.len(), 2 * SECRET_BYTES);
        assert_ne!(a, b);
        assert!(is_secret(&a, &a));
        assert!(!is_secret(&a[1..], &a) && !is_secret("", &a) && !is_secret(&b, &a));
    }
}
