//! Messages over standard input and output.
//!
//! In:  bytes with `Content-Length` before each message.
//! Out: messages; what cannot be read is reported and skipped.
//!
//! **Invariant:** no input makes it panic, hang or take more memory than one message may have.

use lsp_server::Message;
use std::io::{self, BufRead, Read as _};

/// Larger messages are passed over: a text of 32 MiB is the largest that is read, and JSON at most doubles it.
const MAX_BYTES: u64 = 128 << 20;

/// Longer header lines are not header.
const MAX_HEADER: u64 = 4096;

/// What was read.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is none, and why.
    Nonsense(String),
    /// The input ended.
    End,
}

/// Reads the next message.
pub fn read(input: &mut dyn BufRead) -> Incoming {
    let length = match read_header(input) {
        Ok(Some(Some(length))) => length,
        Ok(Some(None)) => return Incoming::Nonsense("a message without Content-Length".to_owned()),
        Ok(None) | Err(_) => return Incoming::End,
    };
    if length > MAX_BYTES {
        let skipped = io::copy(&mut input.take(length), &mut io::sink());
        return match skipped {
            Ok(n) if n == length => {
                Incoming::Nonsense(format!("a message of {length} bytes is too long"))
            }
            _ => Incoming::End,
        };
    }
    let mut bytes = Vec::new();
    match input.take(length).read_to_end(&mut bytes) {
        Ok(n) if n as u64 == length => {}
        _ => return Incoming::End,
    }
    match serde_json::from_slice(&bytes) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Nonsense(error.to_string()),
    }
}

/// Reads header lines up to the empty one; gives the length, if there is one. None at the end of the input.
fn read_header(input: &mut dyn BufRead) -> io::Result<Option<Option<u64>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let n = input.take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if n == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return Ok(Some(length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_passed_over_and_the_next_message_is_read() {
        let good = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let text = format!(
            "garbage\r\nContent-Length: 3\r\n\r\n{{x}}no header\n\nContent-Length: minus\r\n\r\nContent-Length: {}\r\n\r\n{good}",
            good.len()
        );
        let mut input = text.as_bytes();
        let mut n_nonsense = 0;
        loop {
            match read(&mut input) {
                Incoming::Nonsense(_) => n_nonsense += 1,
                Incoming::Message(Message::Notification(n)) => {
                    assert_eq!(n.method, "exit");
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(n_nonsense >= 2);
        assert!(matches!(read(&mut input), Incoming::End));
    }

    #[test]
    fn a_length_beyond_all_memory_takes_none() {
        let mut input = "Content-Length: 99999999999999\r\n\r\nabc".as_bytes();
        assert!(matches!(read(&mut input), Incoming::End));
    }
}
