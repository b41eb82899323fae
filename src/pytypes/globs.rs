//! Which files a project's `include` and `exclude` patterns match.
//!
//! Owns the meaning of the patterns, which is the same as in the released checker: all are anchored at the project's
//! root. `include` takes a folder with everything in it; among `exclude` patterns the last match decides, and `!`
//! negates.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Folders that are excluded everywhere unless an `exclude` pattern with `!` re-includes them.
const ALWAYS_EXCLUDED: &[&str] = &[
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pypackages__",
    "_build",
    "buck-out",
    "dist",
    "node_modules",
    "venv",
];

/// Compiled patterns. Two filters are equal if their patterns are.
#[derive(Clone, Debug)]
pub struct Filter {
    patterns: (Option<Vec<String>>, Vec<String>),
    include: Option<Include>,
    exclude: GlobSet,
    excludes: Vec<Exclude>,
}

#[derive(Clone, Debug)]
struct Include {
    files: GlobSet,
    /// Patterns without wildcards. They match files with any extension.
    literal: Vec<String>,
    /// The path components of each pattern before its first wildcard.
    prefixes: Vec<Vec<String>>,
}

#[derive(Clone, Debug)]
struct Exclude {
    is_allowed: bool,
    only_folders: bool,
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

impl Filter {
    /// The filter for a whole project. The error names the invalid pattern.
    pub fn of_project(root: &Path, include: Option<&[String]>, exclude: &[String]) -> Result<Self, String> {
        let never = ALWAYS_EXCLUDED.iter().map(|name| format!("**/{name}/"));
        Self::new(root, include, &never.chain(exclude.iter().cloned()).collect::<Vec<_>>())
    }

    pub fn new(root: &Path, include: Option<&[String]>, exclude: &[String]) -> Result<Self, String> {
        let patterns = (include.map(<[_]>::to_vec), exclude.to_vec());
        let include = include.map(|patterns| Include::new(root, patterns)).transpose()?;
        let mut globs = GlobSetBuilder::new();
        let mut excludes = Vec::new();
        for pattern in exclude {
            let (is_allowed, rest) = match pattern.strip_prefix('!') {
                Some(rest) => (true, rest),
                None => (false, pattern.as_str()),
            };
            let (only_folders, rest) = match rest.strip_suffix('/') {
                Some(rest) => (true, rest),
                None => (false, rest),
            };
            let Some(mut glob) = from_root(root, rest).map_err(|error| invalid_pattern("exclude", pattern, &error))?
            else {
                continue;
            };
            if glob.is_empty() {
                continue;
            }
            if glob.ends_with("/**") {
                glob.push_str("/*");
            }
            globs.add(compile(&glob, pattern)?);
            excludes.push(Exclude { is_allowed, only_folders });
        }
        let exclude = globs.build().map_err(|error| error.to_string())?;
        Ok(Self { patterns, include, exclude, excludes })
    }

    /// Whether a pattern is valid; the error says why it is not.
    pub fn validate(which: &str, pattern: &str) -> Result<(), String> {
        let patterns = [pattern.to_owned()];
        match which {
            "include" => Self::new(Path::new("/"), Some(&patterns), &[]).map(drop),
            _ => Self::new(Path::new("/"), None, &patterns).map(drop),
        }
    }

    /// Whether a walk descends into a folder, given relative to the project's root.
    pub fn enters(&self, folder: &Path) -> bool {
        !self.is_excluded(folder, true) && self.include.as_ref().is_none_or(|include| include.may_hold(folder))
    }

    /// Whether a file is included, assuming that all its parent folders pass [`Self::enters`].
    pub fn takes(&self, file: &Path) -> bool {
        !self.is_excluded(file, false) && self.include.as_ref().is_none_or(|include| include.files.is_match(file))
    }

    /// Like [`Self::takes`], for a file that was not found by a walk.
    pub fn takes_anywhere(&self, file: &Path) -> bool {
        let folders = file.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        self.takes(file) && !folders.into_iter().any(|above| self.is_excluded(above, true))
    }

    /// Whether a pattern names exactly this file; its extension does not matter then.
    pub fn names(&self, file: &Path) -> bool {
        self.include.as_ref().is_some_and(|include| include.literal.iter().any(|name| Path::new(name) == file))
    }

    fn is_excluded(&self, path: &Path, is_folder: bool) -> bool {
        let last =
            self.exclude.matches(path).into_iter().rev().find(|at| is_folder || !self.excludes[*at].only_folders);
        last.is_some_and(|at| !self.excludes[at].is_allowed)
    }
}

impl Include {
    fn new(root: &Path, patterns: &[String]) -> Result<Self, String> {
        let mut globs = GlobSetBuilder::new();
        let (mut literal, mut prefixes) = (Vec::new(), Vec::new());
        for pattern in patterns {
            let (only_folders, own) = match pattern.strip_suffix('/') {
                Some(own) => (true, own),
                None => (false, pattern.as_str()),
            };
            let own = from_root(root, own).map_err(|error| invalid_pattern("include", pattern, &error))?;
            let Some(own) = own.as_deref() else { continue };
            if own.is_empty() {
                // The root itself.
                prefixes.push(Vec::new());
                globs.add(compile("**", pattern)?);
                continue;
            }
            let is_wild = |part: &str| part.contains(['*', '?', '[', '{']);
            prefixes.push(own.split('/').take_while(|part| !is_wild(part)).map(str::to_owned).collect());
            if own.ends_with("**") {
                globs.add(compile(own, pattern)?);
                continue;
            }
            globs.add(compile(&format!("{own}/**"), pattern)?);
            if !only_folders {
                globs.add(compile(own, pattern)?);
                if !is_wild(own) {
                    literal.push(own.to_owned());
                }
            }
        }
        let files = globs.build().map_err(|error| error.to_string())?;
        Ok(Self { files, literal, prefixes })
    }

    /// Whether the folder can contain an included file: it is above the literal prefix of a pattern or below it.
    fn may_hold(&self, folder: &Path) -> bool {
        let parts: Vec<&str> = folder.iter().filter_map(|part| part.to_str()).collect();
        self.prefixes.iter().any(|prefix| parts.iter().zip(prefix).all(|(part, wanted)| part == wanted))
    }
}

/// The pattern relative to the root; `None` if it is absolute and outside the root.
fn from_root(root: &Path, pattern: &str) -> Result<Option<String>, String> {
    let relative = match Path::new(pattern).strip_prefix(root) {
        Ok(below) if pattern.starts_with('/') => below.to_str().unwrap_or_default(),
        _ if pattern.starts_with('/') => return Ok(None),
        _ => pattern,
    };
    check_portable(relative)?;
    let relative = relative.trim_start_matches("./");
    Ok(Some(if relative == "." { "" } else { relative }.to_owned()))
}

/// Rejects patterns that would have a different meaning on another system.
fn check_portable(pattern: &str) -> Result<(), String> {
    if pattern.split('/').any(|part| part == "..") {
        return Err("the parent directory operator (`..`) is not allowed".to_owned());
    }
    let mut characters = pattern.chars().peekable();
    let mut stars = 0;
    while let Some(c) = characters.next() {
        stars = if c == '*' { stars + 1 } else { 0 };
        match c {
            '*' if stars > 2 => return Err("too many stars".to_owned()),
            '*' | '?' | '/' | '_' | '-' | '.' => {}
            '\\' => match characters.next() {
                Some('/') => return Err("path separators can't be escaped".to_owned()),
                Some(_) => {}
                None => return Err("nothing follows the backslash".to_owned()),
            },
            '[' => {
                let wrong = characters.find(|c| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
                match wrong {
                    Some(']') => {}
                    Some(wrong) => return Err(format!("invalid character `{wrong}` in range")),
                    None => return Err("unclosed character class; missing ']'".to_owned()),
                }
            }
            c if c.is_alphanumeric() => {}
            c => return Err(format!("invalid character `{c}`; characters can be escaped with a backslash")),
        }
    }
    Ok(())
}

fn invalid_pattern(which: &str, pattern: &str, why: &str) -> String {
    format!("invalid {which} pattern `{pattern}`: {why}")
}

/// Whether one of the patterns, anchored at the folder that `folder` is relative to, matches it. Invalid ones match nothing.
pub fn match_folder(patterns: &[String], folder: &Path) -> bool {
    let matches = |pattern: &String| {
        let plain = pattern.trim_start_matches("./").trim_end_matches('/');
        compile(plain, pattern).is_ok_and(|glob| glob.compile_matcher().is_match(folder))
    };
    patterns.iter().any(matches)
}

fn compile(glob: &str, pattern: &str) -> Result<globset::Glob, String> {
    let built = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    built.map_err(|error| format!("`{pattern}` is not a valid pattern: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(patterns: &[&str]) -> Vec<String> {
        patterns.iter().map(|pattern| (*pattern).to_owned()).collect()
    }

    fn filter(include: Option<&[&str]>, exclude: &[&str]) -> Filter {
        Filter::of_project(Path::new("/repo"), include.map(owned).as_deref(), &owned(exclude)).unwrap()
    }

    #[test]
    fn includes_are_anchored_at_the_root_and_take_whole_folders() {
        let filter = filter(Some(&["src", "tests/unit/", "tools/*.py", "/repo/far", "/far"]), &[]);
        for taken in ["src/a.py", "src/deep/b.py", "tests/unit/c.py", "tools/d.py", "far/e.py"] {
            assert!(filter.takes(Path::new(taken)), "{taken}");
        }
        for left in ["other/src/a.py", "tests/a.py", "tools/deep/d.py", "setup.py"] {
            assert!(!filter.takes(Path::new(left)), "{left}");
        }
        assert!(filter.enters(Path::new("tests")) && filter.enters(Path::new("src/deep")));
        assert!(!filter.enters(Path::new("docs")) && !filter.enters(Path::new("tests/functional")));
    }

    #[test]
    fn excludes_are_anchored_at_the_root() {
        let filter = filter(None, &["generated", "build/", "docs/**/conf.py", "!dist", "**/x.py", "/repo/y.py", ""]);
        for left in ["generated", "build", ".venv", "x/node_modules"] {
            assert!(!filter.enters(Path::new(left)), "{left}");
        }
        assert!(filter.enters(Path::new("a/build")) && filter.enters(Path::new("dist")));
        assert!(filter.enters(Path::new("a/generated")) && !filter.enters(Path::new("a/dist")));
        assert!(!filter.takes(Path::new("docs/api/conf.py")) && filter.takes(Path::new("docs/index.py")));
        assert!(!filter.takes(Path::new("a/x.py")) && !filter.takes(Path::new("y.py")));
        assert!(filter.takes(Path::new("a/y.py")) && !filter.takes_anywhere(Path::new("generated/a.py")));
    }

    #[test]
    fn unportable_patterns_are_rejected() {
        for pattern in ["../a", "a b", "{a,b}", "[a", "[!a]", "a***", "a\\", "a\\/b", "a:b"] {
            let exclude = Filter::new(Path::new("/repo"), None, &owned(&[pattern]));
            assert!(exclude.unwrap_err().contains("invalid exclude pattern"), "{pattern}");
            assert!(Filter::new(Path::new("/repo"), Some(&owned(&[pattern])), &[]).is_err(), "{pattern}");
        }
        assert!(Filter::new(Path::new("/repo"), None, &owned(&["a\\ b", "[a-z]?", "ü*"])).is_ok());
    }
}
