//! The token that lets a TCP client write: `.ixmcp/token`, or `IXMCP_TOKEN`.
//!
//! Owns the file. Who must bring it is the door's to say.

use std::fs;
use std::path::Path;

use crate::config::Environment;
use crate::error::{Error, Result};
use crate::platform::files;
use crate::platform::random::secret;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::scan;

const FILE: &str = ".ixmcp/token";
/// A person may have put one there: half of what we write will do.
const SHORTEST: usize = 32;

/// The token of the repository at `root`, made on first need. One that others could know is made anew.
pub fn of(root: &Path, environment: &Environment) -> Result<String> {
    if let Some(token) = environment.get("IXMCP_TOKEN") {
        return Ok(token.to_owned());
    }
    let path = root.join(FILE);
    if let Some(token) = read(root, &path) {
        return Ok(token);
    }
    let token = secret().map_err(|error| Error::internal("the system gives no random bytes").caused_by(error))?;
    replace(&path, token.as_bytes(), Permissions::Private, Durability::Unsynced)
        .map_err(|error| Error::io("write", &path, error))?;
    Ok(token)
}

fn read(root: &Path, path: &Path) -> Option<String> {
    let data = path.symlink_metadata().ok()?;
    let is_private = data.is_file() && files::is_own(&data) && files::is_private(&data);
    if !is_private || scan::tracks_under(root, FILE) {
        tracing::warn!("{FILE} was not private: it is made anew");
        return None;
    }
    let token = fs::read_to_string(path).ok()?;
    (token.len() >= SHORTEST).then(|| token.trim().to_owned())
}
