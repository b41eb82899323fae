//! The token that lets a TCP client write: `.ixmcp/token`, or `IXMCP_TOKEN`.
//!
//! Owns the file. Who must bring it is the door's to say.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::place::{is_ours, write_anew};
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::scan;

const FILE: &str = ".ixmcp/token";
const RANDOM_BYTES: usize = 32;

/// The token of the repository at `root`, made on first need. One that others could know is made anew.
pub fn of(root: &Path, environment: &Environment) -> Result<String> {
    if let Some(token) = environment.get("IXMCP_TOKEN") {
        return Ok(token.to_owned());
    }
    let path = root.join(FILE);
    if let Some(token) = read(root, &path) {
        return Ok(token);
    }
    let token = random().map_err(|error| Error::internal("the system gives no random bytes").caused_by(error))?;
    write_anew(&path, token.as_bytes()).map_err(|error| Error::io("write", &path, error))?;
    Ok(token)
}

fn read(root: &Path, path: &Path) -> Option<String> {
    let data = path.symlink_metadata().ok()?;
    let is_private = data.is_file() && is_ours(&data) && data.mode() & 0o077 == 0;
    if !is_private || scan::tracks_under(root, FILE) {
        tracing::warn!("{FILE} was not private: it is made anew");
        return None;
    }
    let token = fs::read_to_string(path).ok()?;
    (token.len() >= RANDOM_BYTES).then(|| token.trim().to_owned())
}

/// 256 bits that nobody can guess, as text.
pub(super) fn random() -> std::io::Result<String> {
    let mut bytes = [0; RANDOM_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
