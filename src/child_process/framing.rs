//! Framing: where a message in a pipe begins and ends.
//!
//! Owns both framings: one JSON value per line, and that of the language server protocol. A reader returns `None` at the
//! end of the pipe, and for a message that is malformed or longer than `max_bytes`.

use std::io::{BufRead, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message as one line of JSON.
pub fn line(message: &impl Serialize) -> Vec<u8> {
    // Our messages have no maps whose keys are not strings.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

pub fn read_line<M: DeserializeOwned>(pipe: &mut impl BufRead, max_bytes: u64) -> Option<M> {
    let mut line = Vec::new();
    pipe.take(max_bytes).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

/// A message with its length in a header.
pub fn with_header(message: &serde_json::Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub fn read_with_header<M: DeserializeOwned>(pipe: &mut impl BufRead, max_bytes: usize) -> Option<M> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if pipe.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; Some(length).filter(|length| *length <= max_bytes)?];
    pipe.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let message = json!({ "text": "größe\n" });
        let lines = [line(&message), line(&message)].concat();
        let mut pipe = &lines[..];
        assert_eq!(read_line(&mut pipe, 100), Some(message.clone()));
        assert_eq!(read_line(&mut pipe, 5), None::<Value>, "it is too long");
        let framed = [with_header(&message), with_header(&message)].concat();
        let mut pipe = &framed[..];
        assert_eq!(read_with_header(&mut pipe, 100), Some(message));
        assert_eq!(read_with_header(&mut pipe, 5), None::<Value>, "it is too long");
        assert_eq!(read_with_header(&mut &b"Content-Length: -1\r\n\r\n"[..], 100), None::<Value>);
        assert_eq!(read_line(&mut &b""[..], 100), None::<Value>);
    }
}
