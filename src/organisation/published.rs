//! Conventions that publishers and readers of published repositories share.
//!
//! Owns the form of commits, paths and terms. Does not own what is published (`publication`), or what is read (`mirror`).

use crate::error::{Error, ErrorKind, Result};
use crate::model::{RepoPath, printable};

/// The suffix of the id of a commit with changes that are not committed.
pub(super) const DIRTY: &str = "-dirty";

/// The hash of a name that a text defines: case is ignored.
pub(super) fn term(name: &str) -> i32 {
    let hash = blake3::hash(format!("definition {}", name.to_lowercase()).as_bytes());
    let first = hash.as_bytes().first_chunk::<4>().copied().unwrap_or_default();
    (u32::from_le_bytes(first) >> 1).cast_signed()
}

/// The id of a published commit as people read it.
pub fn short_commit(commit: &str) -> String {
    let (id, dirty) = commit.strip_suffix(DIRTY).map_or((commit, ""), |id| (id, DIRTY));
    id.chars().take(12).chain(dirty.chars()).collect()
}

/// The path of a published file. The server's word is not taken for it.
pub(super) fn path_of(path: &str) -> Result<RepoPath> {
    let is_private = |part: &str| [".git", ".ixmcp"].iter().any(|own| part.eq_ignore_ascii_case(own));
    let fits = |path: &RepoPath| !path.as_str().contains(['\0', '\\']) && !path.as_str().split('/').any(is_private);
    RepoPath::new(path).filter(fits).ok_or_else(|| {
        let shown: String = printable(path).chars().take(100).collect();
        Error::new(
            ErrorKind::UnsupportedFormat,
            format!("the organisation's server has a file at \"{shown}\", which is not the path of a file"),
        )
        .hint("Publish the repository again.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_of_a_mirror_are_refused() {
        for path in [
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "",
            ".",
            ".git/hooks/x",
            "a/.GIT/config",
            ".ixmcp/index.db",
            "a\\b",
            "a\0b",
        ] {
            assert!(path_of(path).is_err(), "{path:?}");
        }
        for path in ["a.py", ".gitignore", ".ixmcp.toml", "a b/ü.py"] {
            assert!(path_of(path).is_ok(), "{path:?}");
        }
    }
}
