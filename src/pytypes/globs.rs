//! Which files a project's `include` and `exclude` patterns take.
//!
//! Owns the meaning of the patterns, which is the released checker's: all begin at the project's root. `include` takes a
//! folder with all in it; of `exclude` patterns the last that fits decides, and one with `!` takes in again.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Folders that no project means, wherever they stand, unless an `exclude` begins with `!` for them.
const NEVER_MEANT: &[&str] = &[
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

/// Patterns made ready. Two are equal when made of the same patterns.
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
    /// Patterns without wildcards, for files of any name.
    literal: Vec<String>,
    /// What each pattern begins with before its first wildcard, as parts of a path.
    beginnings: Vec<Vec<String>>,
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
    /// The patterns that hold for a whole project; the error names the pattern that means nothing.
    pub fn of_project(root: &Path, include: Option<&[String]>, exclude: &[String]) -> Result<Self, String> {
        let never = NEVER_MEANT.iter().map(|name| format!("**/{name}/"));
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
            let Some(mut glob) = from_root(root, rest).map_err(|error| refused("exclude", pattern, &error))? else {
                continue;
            };
            if glob.is_empty() {
                continue;
            }
            if glob.ends_with("/**") {
                glob.push_str("/*");
            }
            globs.add(compiled(&glob, pattern)?);
            excludes.push(Exclude { is_allowed, only_folders });
        }
        let exclude = globs.build().map_err(|error| error.to_string())?;
        Ok(Self { patterns, include, exclude, excludes })
    }

    /// Whether a pattern can be taken; the error says why it cannot.
    pub fn admit(which: &str, pattern: &str) -> Result<(), String> {
        let patterns = [pattern.to_owned()];
        match which {
            "include" => Self::new(Path::new("/"), Some(&patterns), &[]).map(drop),
            _ => Self::new(Path::new("/"), None, &patterns).map(drop),
        }
    }

    /// Whether a walk looks into a folder, by its path below the project's root.
    pub fn enters(&self, folder: &Path) -> bool {
        !self.is_excluded(folder, true) && self.include.as_ref().is_none_or(|include| include.may_hold(folder))
    }

    /// Whether a file is meant that was come upon in folders that [`Self::enters`].
    pub fn takes(&self, file: &Path) -> bool {
        !self.is_excluded(file, false) && self.include.as_ref().is_none_or(|include| include.files.is_match(file))
    }

    /// As [`Self::takes`], for a file that no walk led to.
    pub fn takes_anywhere(&self, file: &Path) -> bool {
        let folders = file.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        self.takes(file) && !folders.into_iter().any(|above| self.is_excluded(above, true))
    }

    /// Whether a pattern names this very file, whatever its extension.
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
        let (mut literal, mut beginnings) = (Vec::new(), Vec::new());
        for pattern in patterns {
            let (only_folders, own) = match pattern.strip_suffix('/') {
                Some(own) => (true, own),
                None => (false, pattern.as_str()),
            };
            let own = from_root(root, own).map_err(|error| refused("include", pattern, &error))?;
            let Some(own) = own.as_deref() else { continue };
            if own.is_empty() {
                // The root itself.
                beginnings.push(Vec::new());
                globs.add(compiled("**", pattern)?);
                continue;
            }
            let is_wild = |part: &str| part.contains(['*', '?', '[', '{']);
            beginnings.push(own.split('/').take_while(|part| !is_wild(part)).map(str::to_owned).collect());
            if own.ends_with("**") {
                globs.add(compiled(own, pattern)?);
                continue;
            }
            globs.add(compiled(&format!("{own}/**"), pattern)?);
            if !only_folders {
                globs.add(compiled(own, pattern)?);
                if !is_wild(own) {
                    literal.push(own.to_owned());
                }
            }
        }
        let files = globs.build().map_err(|error| error.to_string())?;
        Ok(Self { files, literal, beginnings })
    }

    /// Whether something in the folder could be taken: it lies on the way to a pattern's beginning, or below it.
    fn may_hold(&self, folder: &Path) -> bool {
        let parts: Vec<&str> = folder.iter().filter_map(|part| part.to_str()).collect();
        self.beginnings.iter().any(|beginning| parts.iter().zip(beginning).all(|(part, wanted)| part == wanted))
    }
}

/// A pattern as it is below the root; `None` for an absolute one of elsewhere.
fn from_root(root: &Path, pattern: &str) -> Result<Option<String>, String> {
    let relative = match Path::new(pattern).strip_prefix(root) {
        Ok(below) if pattern.starts_with('/') => below.to_str().unwrap_or_default(),
        _ if pattern.starts_with('/') => return Ok(None),
        _ => pattern,
    };
    portable(relative)?;
    let relative = relative.trim_start_matches("./");
    Ok(Some(if relative == "." { "" } else { relative }.to_owned()))
}

/// Patterns mean the same on every system: what would not is refused.
fn portable(pattern: &str) -> Result<(), String> {
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

fn refused(which: &str, pattern: &str, why: &str) -> String {
    format!("invalid {which} pattern `{pattern}`: {why}")
}

fn compiled(glob: &str, pattern: &str) -> Result<globset::Glob, String> {
    let built = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    built.map_err(|error| format!("`{pattern}` is no pattern: {}", error.kind()))
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
    fn includes_begin_at_the_root_and_take_folders_whole() {
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
    fn excludes_begin_at_the_root_too() {
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
    fn a_pattern_that_means_another_thing_elsewhere_is_refused() {
        for pattern in ["../a", "a b", "{a,b}", "[a", "[!a]", "a***", "a\\", "a\\/b", "a:b"] {
            let exclude = Filter::new(Path::new("/repo"), None, &owned(&[pattern]));
            assert!(exclude.unwrap_err().contains("invalid exclude pattern"), "{pattern}");
            assert!(Filter::new(Path::new("/repo"), Some(&owned(&[pattern])), &[]).is_err(), "{pattern}");
        }
        assert!(Filter::new(Path::new("/repo"), None, &owned(&["a\\ b", "[a-z]?", "ü*"])).is_ok());
    }
}
