//! Conversion between paths of the file system, with `\`, and of the index, with `/`.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Separates the paths in a variable such as `PATH`.
pub const PATH_SEPARATOR: char = ';';

/// The path relative to the root of a walk, with `/` as separator. A path that is not valid Unicode is unchanged; it is
/// not listed.
pub fn below<'a>(root: &Path, path: &'a Path) -> Cow<'a, Path> {
    let rest = path.strip_prefix(root).unwrap_or(path);
    match rest.to_str() {
        Some(rest) if rest.contains('\\') => Cow::Owned(PathBuf::from(rest.replace('\\', "/"))),
        _ => Cow::Borrowed(rest),
    }
}

/// Converts a path from git's output, which is UTF-8 on Windows. Invalid UTF-8 becomes a name that no file has.
pub fn of_git(bytes: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(bytes).unwrap_or("\u{fffd}?"))
}

/// The absolute path without links, and without the prefix `\\?\` unless it is required.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}
