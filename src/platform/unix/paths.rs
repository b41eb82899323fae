//! Paths as the file system has them and as the index has them: here the same bytes.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Between paths in a variable that lists some.
pub const BETWEEN: char = ':';

/// What follows the root in a path that a walk from there gave, with `/` between parts. Comparing by components, as
/// `strip_prefix` does, takes longer than all else that is done with an entry.
pub fn below<'a>(root: &Path, path: &'a Path) -> Cow<'a, Path> {
    let (root, path) = (root.as_os_str().as_bytes(), path.as_os_str().as_bytes());
    let rest = path.strip_prefix(root).unwrap_or(path);
    Cow::Borrowed(Path::new(OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest))))
}

/// The path that git writes in these bytes.
pub fn of_git(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Absolute and without links.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
