//! Tokens: permission for a TCP client to write, in the file `token` next to the index or in `IXMCP_TOKEN`, and their
//! comparison.
//!
//! Owns the file. The connection policy decides which clients must send the token.

use std::fs;
use std::path::Path;

use crate::config::Environment;
use crate::error::{Error, Result};
use crate::platform::files;
use crate::platform::random::secret;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::scan;

const FILE: &str = "token";
/// The path of that file in a repository that contains its own index.
const IN_REPOSITORY: &str = ".ixmcp/token";
/// A token that a user wrote may be half as long as a generated one.
const MIN_BYTES: usize = 32;

/// The token of the repository at `root`, whose index is in `folder`. It is created on first use. A token that other users could read is
/// replaced.
pub fn load_or_create(root: &Path, folder: &Path, environment: &Environment) -> Result<String> {
    if let Some(token) = environment.get("IXMCP_TOKEN") {
        return Ok(token.to_owned());
    }
    let path = folder.join(FILE);
    if let Some(token) = read(root, &path) {
        return Ok(token);
    }
    let token = secret().map_err(Error::no_random_bytes)?;
    match replace(&path, token.as_bytes(), Permissions::Private, Durability::Unsynced) {
        // No client can read this token, so none may write over TCP. Everything else works.
        Err(error) if !files::may_write(folder) => tracing::warn!("cannot write {}: {error}", path.display()),
        written => written.map_err(|error| Error::io("write", &path, error))?,
    }
    Ok(token)
}

/// Compares in constant time.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

fn read(root: &Path, path: &Path) -> Option<String> {
    let data = path.symlink_metadata().ok()?;
    let is_private = data.is_file() && files::is_own(&data) && files::is_private(&data);
    if !is_private || scan::tracks_under(root, IN_REPOSITORY) {
        tracing::warn!("{} was not private: it is replaced", path.display());
        return None;
    }
    let token = fs::read_to_string(path).ok()?;
    (token.len() >= MIN_BYTES).then(|| token.trim().to_owned())
}
