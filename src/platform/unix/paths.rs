//! Conversion between paths of the file system and of the index; on Unix they have the same bytes.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Separates the paths in a variable such as `PATH`.
pub const PATH_SEPARATOR: char = ':';

/// The path relative to the root of a walk, with `/` as separator. `strip_prefix` compares by components, which takes
/// longer than everything else that is done for an entry.
pub fn below<'a>(root: &Path, path: &'a Path) -> Cow<'a, Path> {
    let (root, path) = (root.as_os_str().as_bytes(), path.as_os_str().as_bytes());
    let rest = path.strip_prefix(root).unwrap_or(path);
    Cow::Borrowed(Path::new(OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest))))
}

/// Converts a path from git's output.
pub fn of_git(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The absolute path without links.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
