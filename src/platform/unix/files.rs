//! File metadata: identity, ownership, permissions; and creating private files.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::process::user_id;
use crate::model::Stat;
use crate::platform::{check_regular, read_at_most};

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

/// Reads a regular file of at most `limit` bytes. Follows links, waits for no pipe and opens no device.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    check_regular(&fs::metadata(path)?, limit)?;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    check_regular(&file.metadata()?, limit)?;
    read_at_most(file, limit)
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

/// Whether permissions and mounts let this user write to a file or folder. Writes nothing.
pub fn may_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Whether both kinds of locks work on an open file: that of the whole file, and that of a range, which SQLite uses. On some
/// network file systems neither does.
pub fn can_be_locked(file: &File) -> bool {
    use rustix::fs::{FlockOperation, fcntl_lock, flock};
    use rustix::io::Errno;
    let works = |locked: rustix::io::Result<()>| matches!(locked, Ok(()) | Err(Errno::WOULDBLOCK | Errno::ACCESS));
    works(flock(file, FlockOperation::NonBlockingLockShared))
        && works(fcntl_lock(file, FlockOperation::NonBlockingLockShared))
}

/// Whether a lock failed because the file system has none.
pub fn lacks_locks(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    error.kind() == io::ErrorKind::Unsupported || number == Some(rustix::io::Errno::NOLCK.raw_os_error())
}

/// Whether the system reports every change below a folder. On file systems that other machines also write, it does not.
#[cfg(target_os = "linux")]
pub fn reports_all_changes(folder: &Path) -> bool {
    /// The numbers of NFS, SMB (3), 9P, FUSE (also virtiofs), Ceph, Lustre, AFS (2), Coda, GFS2, OCFS2, GPFS, BeeGFS, OrangeFS,
    /// and the shared folders of VirtualBox, VMware and Parallels.
    const SHARED: [u32; 19] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x6573_5546,
        0x00c3_6400,
        0x0bd0_0bd0,
        0x5346_414f,
        0x6b41_4653,
        0x7375_7245,
        0x0116_1970,
        0x7461_636f,
        0x4750_4653,
        0x1983_0326,
        0x2003_0528,
        0x786f_4256,
        0xbacb_acbc,
        0x7c7c_6673,
    ];
    // The number is signed on some systems.
    let number = rustix::fs::statfs(folder).ok().and_then(|found| u32::try_from(found.f_type & 0xffff_ffff).ok());
    number.is_none_or(|number| !SHARED.contains(&number))
}

/// Unknown; assumed to be true.
#[cfg(not(target_os = "linux"))]
pub const fn reports_all_changes(_: &Path) -> bool {
    true
}

/// Exchanges two files in one step.
#[cfg(target_os = "linux")]
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(io::Error::from)
}

/// Exchanges two files in one step, which is not implemented for this system.
#[cfg(not(target_os = "linux"))]
pub fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames a file unless there is one of the new name. Returns whether it did.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<bool> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // The file system has no links.
        Err(_) if !to.try_exists()? => fs::rename(from, to).map(|()| true),
        Err(_) => Ok(false),
    }
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
