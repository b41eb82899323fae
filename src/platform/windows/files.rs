//! Files as their metadata has them. Who owns a file, and who else may use it, the standard library does not tell: what
//! is to be private is kept in folders that Windows keeps for one user.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::model::Stat;

/// Opens a link itself, not what it leads to.
pub(super) const NO_LINK: u32 = 0x0020_0000;
/// Ticks of 100 ns between the year 1601 and 1970.
const EPOCH: i64 = 116_444_736_000_000_000;

/// What is compared to see whether a file changed. There is no number of a file and no time of a change that a program
/// cannot set: another file of the same size and times in its place is taken for it, unless it is read by `--verify`.
pub fn stat_of(metadata: &Metadata) -> Stat {
    let nanoseconds = |ticks: u64| i64::try_from(ticks).unwrap_or(i64::MAX).saturating_sub(EPOCH).saturating_mul(100);
    Stat {
        size: metadata.len(),
        mtime_ns: nanoseconds(metadata.last_write_time()),
        ctime_ns: nanoseconds(metadata.creation_time()),
        inode: 0,
    }
}

/// Which file it is: by when it was made. What is compared by it is open meanwhile, and cannot be replaced.
pub fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.creation_time(), 0)
}

/// Not told: taken for so.
pub const fn is_own(_: &Metadata) -> bool {
    true
}

/// Not told: taken for so.
pub const fn is_private(_: &Metadata) -> bool {
    true
}

/// A file has the rights of its folder.
pub fn make_private(path: &Path) -> io::Result<()> {
    fs::metadata(path).map(drop)
}

pub fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Not told.
pub const fn room(_: &Path) -> Option<u64> {
    None
}

/// A file that was not there, to be written.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// A file to append to, made when absent; never through a link.
pub fn append_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).custom_flags(NO_LINK).open(path)
}
