//! The path filters of a query: include and exclude patterns.
//!
//! Patterns read as in an ignore file: `*.py` at any depth, `src/*.rs` from the root, `src` and everything in it.

use std::collections::{BTreeSet, HashSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{Error, Result};
use crate::model::{is_in, printable};
use crate::wording::{Argument, Name, Wording};

/// More patterns are a mistake, and take longer to compile than all files to read.
const MAX_PATTERNS: usize = 500;
const MAX_PATTERN_BYTES: usize = 1000;

/// How much of a pattern an error repeats.
const SHOWN: usize = 100;

/// Patterns of one query, ready to match.
#[derive(Debug, Default)]
pub struct PathFilter {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
    /// A folder, and extensions in lower case.
    folder: Option<String>,
    extensions: Option<Vec<String>>,
    /// Whole paths that were not selected by a pattern.
    only: Option<HashSet<String>>,
    /// The patterns that the sets were made of.
    patterns: [Vec<String>; 2],
}

impl PathFilter {
    /// `INVALID_ARGUMENT` for a pattern that cannot be read.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self> {
        let patterns = [include.to_vec(), exclude.to_vec()];
        Ok(Self { include: set("include", include)?, exclude: set("exclude", exclude)?, patterns, ..Self::default() })
    }

    /// Paths that match `pattern`, or that contain it if it is not a pattern.
    pub fn containing(pattern: &str) -> Option<Self> {
        let loose = if pattern.contains(['*', '?', '[', '{']) { pattern.to_owned() } else { format!("**/*{pattern}*") };
        let patterns = [loose, format!("**/*{}*/**", pattern.trim_matches('/')), pattern.to_owned()];
        let include = set("path:", &patterns).ok()?;
        Some(Self { include, patterns: [patterns.to_vec(), Vec::new()], ..Self::default() })
    }

    /// Admits these paths and no other.
    pub fn from_paths(paths: HashSet<String>) -> Self {
        Self { only: Some(paths), ..Self::default() }
    }

    /// Files in a folder, which is relative to the repository or absolute as the paths of its files are, and of these
    /// types.
    pub fn from_folder(folder: Option<String>, extensions: Option<Vec<String>>) -> Self {
        Self { folder, extensions, ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.include.is_none()
            && self.exclude.is_none()
            && self.only.is_none()
            && self.folder.is_none()
            && self.extensions.is_none()
    }

    /// Identifies the filter: equal names admit the same paths.
    pub fn name(&self) -> String {
        let only = self.only.as_ref().map(|paths| paths.iter().collect::<BTreeSet<_>>());
        format!("{:?} {:?} {:?} {only:?}", self.patterns, self.folder, self.extensions)
    }

    pub fn admits(&self, path: &str) -> bool {
        self.include.as_ref().is_none_or(|set| set.is_match(path))
            && !self.exclude.as_ref().is_some_and(|set| set.is_match(path))
            && self.only.as_ref().is_none_or(|only| only.contains(path))
            && self.folder.as_ref().is_none_or(|folder| is_in(path, folder))
            && self.extensions.as_ref().is_none_or(|extensions| has_one_of(path, extensions))
    }
}

fn has_one_of(path: &str, extensions: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension.to_lowercase()))
}

fn set(argument: &str, patterns: &[String]) -> Result<Option<GlobSet>> {
    let wrong = |what: String| {
        Error::invalid_argument((Argument(argument), format!(": {what}")))
            .hint("Patterns are like those of .gitignore: *.py, src/**, {a,b}/*.rs.")
    };
    if patterns.len() > MAX_PATTERNS {
        return Err(wrong(format!("{} patterns are more than {MAX_PATTERNS}", patterns.len())));
    }
    let mut set = GlobSetBuilder::new();
    // As in an ignore file, a blank pattern names nothing.
    for given in patterns.iter().filter(|pattern| !pattern.trim().is_empty()) {
        let shown: String = printable(given).chars().take(SHOWN).collect();
        if given.len() > MAX_PATTERN_BYTES {
            return Err(wrong(format!("\"{shown}…\" is longer than {MAX_PATTERN_BYTES} bytes")));
        }
        if given.starts_with('!') {
            return Err(wrong(format!("\"{shown}\" begins with !, which takes nothing back here")).hint(
                Wording::from(("Name what to leave out in ", Name("exclude"), ".")).then("Escape a leading ! as \\!."),
            ));
        }
        let bare = given.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
        let anchored = given.starts_with('/') || bare.contains('/');
        let bare = match bare {
            "" | "." => "**".to_owned(),
            bare if anchored => bare.to_owned(),
            bare => format!("**/{bare}"),
        };
        for pattern in [bare.clone(), format!("{bare}/**")] {
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
            set.add(glob.map_err(|error| wrong(format!("\"{shown}\" is not a glob: {}", error.kind())))?);
        }
    }
    let set = set.build().map_err(|error| wrong(format!("the list is not a set of globs: {}", error.kind())))?;
    Ok(if set.is_empty() { None } else { Some(set) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_read_as_in_an_ignore_file() {
        let filter = |include: &[&str], exclude: &[&str]| {
            let owned = |patterns: &[&str]| patterns.iter().map(|&p| p.to_owned()).collect::<Vec<_>>();
            PathFilter::new(&owned(include), &owned(exclude)).unwrap()
        };
        assert!(filter(&["*.py"], &[]).admits("a/b/c.py"));
        assert!(!filter(&["*.py"], &[]).admits("a/b/c.rs"));
        assert!(filter(&["src"], &[]).admits("src/x.rs"));
        assert!(filter(&["src/*.rs"], &[]).admits("src/x.rs"));
        assert!(!filter(&["src/*.rs"], &[]).admits("a/src/x.rs"));
        assert!(!filter(&["src/*.rs"], &[]).admits("src/a/x.rs"));
        assert!(filter(&["/docs/"], &[]).admits("docs/a/b.md"));
        assert!(!filter(&[], &["tests"]).admits("a/tests/b.py"));
        assert!(filter(&["{a,b}/**"], &["*.md"]).admits("b/x.py"));
        for root in [".", "./", "/", ""] {
            assert!(filter(&[root], &[]).admits("a/b.py"), "{root:?}");
        }
        assert!(filter(&["\\!a.py"], &[""]).admits("!a.py"));
    }

    #[test]
    fn invalid_patterns_are_refused_with_a_short_error() {
        for (include, said) in [
            (vec!["[".to_owned()], "\"[\" is not a glob"),
            (vec!["!*.py".to_owned()], "exclude"),
            (vec!["x".repeat(100_000)], "longer than 1000 bytes"),
            (vec!["x".to_owned(); 20_000], "more than 500"),
        ] {
            let error = PathFilter::new(&include, &[]).unwrap_err().to_string();
            assert!(error.contains(said) && error.len() < 500, "{error}");
        }
    }
}
