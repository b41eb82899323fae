//! Paths as the file system has them, with `\`, and as the index has them, with `/`.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Between paths in a variable that lists some.
pub const BETWEEN: char = ';';

/// What follows the root in a path that a walk from there gave, with `/` between parts. A name that is no Unicode stays as
/// it is: it is not listed.
pub fn below<'a>(root: &Path, path: &'a Path) -> Cow<'a, Path> {
    let rest = path.strip_prefix(root).unwrap_or(path);
    match rest.to_str() {
        Some(rest) if rest.contains('\\') => Cow::Owned(PathBuf::from(rest.replace('\\', "/"))),
        _ => Cow::Borrowed(rest),
    }
}

/// The path that git writes in these bytes, which are UTF-8 here; of others, a name that no file has.
pub fn of_git(bytes: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(bytes).unwrap_or("\u{fffd}?"))
}

/// Absolute, without links, and without the prefix `\\?\` where it need not be.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}
