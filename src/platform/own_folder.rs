//! Folders of this user.
//!
//! Owns their creation, the checks of one that exists, and that git ignores one. Does not own what a caller does about
//! a folder that fails them.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use super::files;
use super::replace::{Durability, Permissions, replace};

/// The file of git's rules in a folder, and the rule that names everything in it.
const RULES: &str = ".gitignore";
const EVERYTHING: &[u8] = b"*\n";

/// Creates a folder that only this user can access. One that exists must belong to this user and must not be a link; others
/// may be able to access it.
pub fn create(folder: &Path) -> io::Result<Metadata> {
    match files::create_private_folder(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let data = folder.symlink_metadata()?;
    if data.is_dir() && files::is_own(&data) {
        return Ok(data);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is a link or belongs to another user"))
}

/// Creates a folder, or makes one private that is not.
pub fn create_private(folder: &Path) -> io::Result<()> {
    let data = create(folder)?;
    if files::is_private(&data) { Ok(()) } else { files::make_private(folder) }
}

/// Makes git ignore all that is in a folder: what is in it may be a token. On a full disk nothing is written, rather than a part.
pub fn hide_from_git(folder: &Path) -> io::Result<()> {
    let rules = folder.join(RULES);
    // Git does not follow a link, and a folder has no rules.
    match rules.symlink_metadata() {
        Ok(found)
            if found.is_file()
                && found.len() == EVERYTHING.len() as u64
                && fs::read(&rules).is_ok_and(|there| there == EVERYTHING) =>
        {
            return Ok(());
        }
        Ok(found) if found.is_dir() => fs::remove_dir_all(&rules)?,
        _ => {}
    }
    replace(&rules, EVERYTHING, Permissions::Keep, Durability::Unsynced)
}
