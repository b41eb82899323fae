//! Opening files below a folder without following symbolic links, even if links are swapped concurrently, and reading
//! their metadata.
//!
//! Owns the system calls. `scan` decides which files may be read.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::model::Stat;

/// Does not block on a named pipe, does not follow a link at the end, and is closed on `exec`.
const FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

const FOLDER_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens the regular file `relative` below `root` for reading. Fails if a component of `relative` is a symbolic link or
/// `..`: the path was resolved before, so such a component was added since.
pub fn open_beneath(root: &Path, relative: &Path) -> io::Result<File> {
    Folder::open(root)?.open_file(relative).map(|(file, _)| file)
}

#[cfg(target_os = "linux")]
fn open_without_links(folder: &OwnedFd, relative: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    use rustix::io::Errno;

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(folder, relative, FLAGS, Mode::empty(), resolve) {
        // Older kernels lack the call, and some sandboxes forbid it.
        Err(Errno::NOSYS | Errno::PERM) => open_by_steps(folder, relative),
        opened => Ok(opened?),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(folder: &OwnedFd, relative: &Path) -> io::Result<OwnedFd> {
    open_by_steps(folder, relative)
}

/// Opens one folder at a time, each relative to the one before.
fn open_by_steps(folder: &OwnedFd, relative: &Path) -> io::Result<OwnedFd> {
    let mut at = folder.try_clone()?;
    let mut parts = relative.components().peekable();
    while let Some(part) = parts.next() {
        let std::path::Component::Normal(name) = part else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain relative path"));
        };
        let is_last = parts.peek().is_none();
        let opened = rustix::fs::openat(&at, name, if is_last { FLAGS } else { FOLDER_FLAGS }, Mode::empty())?;
        if is_last {
            return Ok(opened);
        }
        at = opened;
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "an empty path"))
}

/// For folders that are opened for lookups and to open what is below them; on Linux this requires no read permission.
#[cfg(target_os = "linux")]
const TO_LOOK_BELOW: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const TO_LOOK_BELOW: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open folder for looking up names and opening files, which is faster than resolving each full path.
pub struct Folder(OwnedFd);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, TO_LOOK_BELOW, Mode::empty())?))
    }

    /// Opens the regular file `relative` below this folder for reading, as [`open_beneath`] does.
    pub fn open_file(&self, relative: &Path) -> io::Result<(File, Metadata)> {
        let file = File::from(open_without_links(&self.0, relative)?);
        let metadata = file.metadata()?;
        if metadata.is_file() {
            Ok((file, metadata))
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
        }
    }

    /// The folder `relative` below this one. Its last component must not be a link.
    pub fn within(&self, relative: &str) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(&self.0, relative, TO_LOOK_BELOW | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// The metadata of an entry, in the format of `files::stat_of`. Does not follow links.
    pub fn stat(&self, name: &str) -> io::Result<Stat> {
        let found = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(stat_from(&found))
    }
}

fn stat_from(found: &rustix::fs::Stat) -> Stat {
    const NS_PER_SECOND: i64 = 1_000_000_000;
    // Systems differ in the signedness of the nanoseconds.
    fn nanoseconds(seconds: i64, rest: impl TryInto<i64>) -> i64 {
        seconds.saturating_mul(NS_PER_SECOND).saturating_add(rest.try_into().unwrap_or(0))
    }
    Stat {
        size: u64::try_from(found.st_size).unwrap_or(0),
        mtime_ns: nanoseconds(found.st_mtime, found.st_mtime_nsec),
        ctime_ns: nanoseconds(found.st_ctime, found.st_ctime_nsec),
        inode: found.st_ino,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn both_ways_open_files_and_refuse_links_and_pipes() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::write(root.join("a/b.txt"), "inside").unwrap();
        std::fs::write(dir.path().join("secret"), "outside").unwrap();
        symlink(dir.path(), root.join("out")).unwrap();
        symlink("../../secret", root.join("a/link")).unwrap();

        let folder = rustix::fs::open(&root, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        type Open = fn(&OwnedFd, &Path) -> io::Result<OwnedFd>;
        for open in [open_without_links as Open, open_by_steps as Open] {
            let mut text = String::new();
            File::from(open(&folder, Path::new("a/b.txt")).unwrap()).read_to_string(&mut text).unwrap();
            assert_eq!(text, "inside");
            for path in ["out/secret", "a/link", "../secret", "a/../../secret", "/etc/passwd", "missing"] {
                assert!(open(&folder, Path::new(path)).is_err(), "{path} was opened");
            }
        }
    }

    #[test]
    fn a_named_pipe_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap();
        assert!(made.success());
        let error = open_beneath(dir.path(), Path::new("pipe")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
