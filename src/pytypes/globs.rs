//! Which files a project's `include` and `exclude` patterns take.
//!
//! Owns the meaning of the patterns. `include` patterns begin at the project's root, and take a folder with all in it;
//! `exclude` patterns are lines of a `.gitignore`, of which the last that fits decides.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Folders that no project means, unless an `exclude` begins with `!` for them.
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
    pub fn of_project(include: Option<&[String]>, exclude: &[String]) -> Result<Self, String> {
        let all: Vec<String> =
            NEVER_MEANT.iter().map(|name| (*name).to_owned()).chain(exclude.iter().cloned()).collect();
        Self::new(include, &all)
    }

    pub fn new(include: Option<&[String]>, exclude: &[String]) -> Result<Self, String> {
        let patterns = (include.map(<[_]>::to_vec), exclude.to_vec());
        let include = include.map(Include::new).transpose()?;
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
            let anchored = rest.trim_start_matches("./");
            let mut glob = match anchored.strip_prefix('/') {
                Some(rest) => rest.to_owned(),
                None if anchored.contains('/') => anchored.to_owned(),
                None => format!("**/{anchored}"),
            };
            if glob.ends_with("/**") {
                glob.push_str("/*");
            }
            globs.add(compiled(&glob, pattern)?);
            excludes.push(Exclude { is_allowed, only_folders });
        }
        let exclude = globs.build().map_err(|error| error.to_string())?;
        Ok(Self { patterns, include, exclude, excludes })
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
    fn new(patterns: &[String]) -> Result<Self, String> {
        let mut globs = GlobSetBuilder::new();
        let (mut literal, mut beginnings) = (Vec::new(), Vec::new());
        for pattern in patterns {
            let own = pattern.trim_start_matches("./").trim_start_matches('/');
            let (only_folders, own) = match own.strip_suffix('/') {
                Some(own) => (true, own),
                None => (false, own),
            };
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

    #[test]
    fn includes_begin_at_the_root_and_take_folders_whole() {
        let filter = Filter::of_project(Some(&owned(&["src", "tests/unit/", "tools/*.py"])), &[]).unwrap();
        for taken in ["src/a.py", "src/deep/b.py", "tests/unit/c.py", "tools/d.py"] {
            assert!(filter.takes(Path::new(taken)), "{taken}");
        }
        for left in ["other/src/a.py", "tests/a.py", "tools/deep/d.py", "setup.py"] {
            assert!(!filter.takes(Path::new(left)), "{left}");
        }
        assert!(filter.enters(Path::new("tests")) && filter.enters(Path::new("src/deep")));
        assert!(!filter.enters(Path::new("docs")) && !filter.enters(Path::new("tests/functional")));
    }

    #[test]
    fn excludes_are_lines_of_a_gitignore() {
        let filter = Filter::of_project(None, &owned(&["generated", "/build", "docs/**/conf.py", "!dist"])).unwrap();
        for left in ["a/generated", "generated", "build", ".venv", "x/node_modules"] {
            assert!(!filter.enters(Path::new(left)), "{left}");
        }
        assert!(filter.enters(Path::new("a/build")) && filter.enters(Path::new("dist")));
        assert!(!filter.takes(Path::new("docs/api/conf.py")) && filter.takes(Path::new("docs/index.py")));
        assert!(!filter.takes_anywhere(Path::new("generated/a.py")));
    }
}
