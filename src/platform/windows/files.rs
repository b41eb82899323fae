//! File metadata. The standard library does not report owners and access rights: private files are kept in folders that
//! Windows restricts to one user.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::model::Stat;
use crate::platform::{check_regular, read_at_most};

/// Opens a link itself instead of its target.
pub(super) const NO_LINK: u32 = 0x0020_0000;
/// The number of 100 ns ticks between 1601 and 1970.
const EPOCH: i64 = 116_444_736_000_000_000;

/// The metadata that is compared to detect changes of a file. There is no inode and no change time that programs cannot
/// set: a replacement with the same size and times is not detected, except by `--verify`.
pub fn stat_of(metadata: &Metadata) -> Stat {
    let nanoseconds = |ticks: u64| i64::try_from(ticks).unwrap_or(i64::MAX).saturating_sub(EPOCH).saturating_mul(100);
    Stat {
        size: metadata.len(),
        mtime_ns: nanoseconds(metadata.last_write_time()),
        ctime_ns: nanoseconds(metadata.creation_time()),
        inode: 0,
    }
}

/// Reads a regular file of at most `limit` bytes. Follows links.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    check_regular(&file.metadata()?, limit)?;
    read_at_most(file, limit)
}

/// Identifies a file by its creation time. Compared files are open meanwhile, so they cannot be replaced.
pub fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.creation_time(), 0)
}

/// Unknown; assumed to be true.
pub const fn is_own(_: &Metadata) -> bool {
    true
}

/// Unknown; assumed to be true.
pub const fn is_private(_: &Metadata) -> bool {
    true
}

/// Does nothing: a file inherits the access rights of its folder.
pub fn make_private(path: &Path) -> io::Result<()> {
    fs::metadata(path).map(drop)
}

pub fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Not reported.
pub const fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Unknown; assumed to be true.
pub const fn may_write(_: &Path) -> bool {
    true
}

/// Unknown; assumed to be true.
pub const fn can_be_locked(_: &File) -> bool {
    true
}

/// Whether a lock failed because the file system has none.
pub fn lacks_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// Unknown; assumed to be true.
pub const fn reports_all_changes(_: &Path) -> bool {
    true
}

/// Exchanges two files in one step, which Windows cannot.
pub fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames a file unless there is one of the new name. Returns whether it did.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<bool> {
    if to.try_exists()? {
        return Ok(false);
    }
    fs::rename(from, to).map(|()| true)
}

/// Creates a new file for writing.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens a file for appending and creates it if absent. Does not follow a link.
pub fn append_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).custom_flags(NO_LINK).open(path)
}
