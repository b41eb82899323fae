//! Framing: where a message in a pipe begins and ends.
//!
//! Owns the one framing: a JSON value per line. The reader returns `None` at the end of the pipe, and for a message that is
//! malformed or longer than `max_bytes`.

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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let message = json!({ "text": "größe\n" });
        let lines = [line(&message), line(&message)].concat();
        let mut pipe = &lines[..];
        assert_eq!(read_line(&mut pipe, 100), Some(message));
        assert_eq!(read_line(&mut pipe, 5), None::<Value>, "it is too long");
        assert_eq!(read_line(&mut &b""[..], 100), None::<Value>);
    }
}
