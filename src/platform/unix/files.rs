//! File metadata: identity, ownership, permissions; and creating private files.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::process::user_id;
use crate::model::Stat;

const NS_PER_SECOND: i64 = 1_000_000_000;
const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_FOLDER: u32 = 0o700;
const OTHERS: u32 = 0o077;

/// The metadata that is compared to detect changes of a file.
pub fn stat_of(metadata: &Metadata) -> Stat {
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(NS_PER_SECOND).saturating_add(rest);
    Stat {
        size: metadata.len(),
        mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

/// Identifies a file independently of its path.
pub fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Whether the file belongs to the user of this process.
pub fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == user_id()
}

/// Whether no other user has any permission for the file.
pub fn is_private(metadata: &Metadata) -> bool {
    metadata.mode() & OTHERS == 0
}

/// Removes all permissions of other users.
pub fn make_private(path: &Path) -> io::Result<()> {
    let mode = if fs::metadata(path)?.is_dir() { PRIVATE_FOLDER } else { PRIVATE_FILE };
    fs::set_permissions(path, Permissions::from_mode(mode))
}

pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE_FOLDER).create(path)
}

/// Bytes that this user may still write to the disk of a folder.
pub fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Creates a new file for writing.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(path)
}

/// Opens a file for appending and creates it if absent. Does not follow a link.
pub fn append_private(path: &Path) -> io::Result<File> {
    let no_link = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new().append(true).create(true).mode(PRIVATE_FILE).custom_flags(no_link).open(path)
}
