//! Unguessable values from the system's random source.

use std::io;

/// 256 bits as 64 hexadecimal digits.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(faster_hex::hex_string(&bytes))
}
