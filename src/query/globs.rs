//! Which paths a question is about: include and exclude patterns.
//!
//! Patterns read as in an ignore file: `*.py` at any depth, `src/*.rs` from the root, `src` and everything in it.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{Error, Result};

/// Patterns of one question, ready to match.
#[derive(Debug, Default)]
pub struct PathFilter {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl PathFilter {
    /// `INVALID_ARGUMENT` for a pattern that cannot be read.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self> {
        Ok(Self { include: set("include", include)?, exclude: set("exclude", exclude)? })
    }

    /// Paths that `pattern` names, or that have it inside when it is no pattern.
    pub fn containing(pattern: &str) -> Option<Self> {
        let loose = if pattern.contains(['*', '?', '[', '{']) { pattern.to_owned() } else { format!("**/*{pattern}*") };
        set("path:", &[loose, format!("**/*{}*/**", pattern.trim_matches('/')), pattern.to_owned()])
            .ok()
            .map(|include| Self { include, exclude: None })
    }

    pub fn is_empty(&self) -> bool {
        self.include.is_none() && self.exclude.is_none()
    }

    pub fn admits(&self, path: &str) -> bool {
        self.include.as_ref().is_none_or(|set| set.is_match(path))
            && !self.exclude.as_ref().is_some_and(|set| set.is_match(path))
    }
}

fn set(argument: &str, patterns: &[String]) -> Result<Option<GlobSet>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let unreadable = |pattern: &str, error: globset::Error| {
        Error::invalid_argument(format!("argument `{argument}`: {pattern:?} is no glob: {}", error.kind()))
            .hint("Patterns are like those of .gitignore: *.py, src/**, {a,b}/*.rs.")
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let bare = pattern.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
        let anchored = pattern.starts_with('/') || bare.contains('/');
        let bare = if anchored { bare.to_owned() } else { format!("**/{bare}") };
        for pattern in [bare.clone(), format!("{bare}/**")] {
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
            set.add(glob.map_err(|error| unreadable(&pattern, error))?);
        }
    }
    Ok(Some(set.build().map_err(|error| unreadable("the list", error))?))
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
        assert!(PathFilter::new(&["[".to_owned()], &[]).is_err());
    }
}
