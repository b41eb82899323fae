//! Folders of this user.
//!
//! Owns their creation, and the checks of one that exists. Does not own what a caller does about a folder that fails them.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use super::files;

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
