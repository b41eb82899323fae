//! Unguessable values from the system's random source.

use std::io;

/// 256 bits as 64 hexadecimal digits.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
