//! The one resolver of paths that people and agents give.
//!
//! Owns the checks: links are resolved, paths are compared by component, and secrets and everything outside of what the
//! repository may show are refused. `open` opens what was resolved without following links, so a swapped link leads nowhere.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::bare;
use super::rules::is_private_name;
use crate::error::{Error, Result};
use crate::model::{RepoPath, printable};
use crate::platform::beneath::open_beneath;
use crate::platform::paths::canonical;
use crate::secrets::{is_secret, is_secret_name};
use crate::wording::Tool;

/// No file system takes longer ones.
const MAX_PATH_BYTES: usize = 4096;

/// Where the type engine's stubs are written.
const STUBS: &str = ".ixmcp/typeshed";

/// How much of a path an error shows.
const MAX_SHOWN_CHARS: usize = 200;

/// Which folder a resolved path is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathLocation {
    /// The repository's own folder.
    Root,
    Repository(RepoPath),
    /// In a folder outside that the user had indexed (by index in the resolver's list).
    Folder(usize),
    /// A Python source of the standard library or of `site-packages`; read-only.
    Python,
}

/// A path that exists and may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Without links.
    pub absolute: PathBuf,
    pub location: PathLocation,
    /// The folder that allowed it: the repository, the indexed folder, or the library.
    base: PathBuf,
}

impl Resolved {
    /// The path in answers: relative to the repository, or absolute.
    pub fn shown(&self) -> String {
        match &self.location {
            PathLocation::Root => ".".to_owned(),
            PathLocation::Repository(path) => path.as_str().to_owned(),
            PathLocation::Folder(_) | PathLocation::Python => self.absolute.to_string_lossy().into_owned(),
        }
    }

    /// Opens the regular file. A link put in its way since it was resolved is an error.
    pub fn open(&self) -> Result<File> {
        let relative = self.absolute.strip_prefix(&self.base).unwrap_or(&self.absolute);
        let shown = || brief(&self.shown());
        if self.absolute.is_dir() {
            return Err(Error::invalid_path(format!("{} is a folder", shown())).hint("Name a file."));
        }
        open_beneath(&self.base, relative).map_err(|error| {
            Error::invalid_path(format!("{} cannot be read: {error}", shown()))
                .hint("Name a readable file.")
                .caused_by(error)
        })
    }
}

/// Files and folders that may be read on behalf of one repository.
#[derive(Clone, Debug)]
pub struct Resolver {
    root: PathBuf,
    folders: Vec<PathBuf>,
    python: Vec<PathBuf>,
    allow_secrets: bool,
}

impl Resolver {
    /// For the repository at `root`, which exists.
    pub fn new(root: &Path) -> Result<Self> {
        let root = canonical(root).map_err(|error| Error::io("read the repository", root, error))?;
        Ok(Self { root, folders: Vec::new(), python: Vec::new(), allow_secrets: false })
    }

    /// Folders outside the repository that the user had indexed. One that is gone allows nothing.
    #[must_use]
    pub fn with_folders(mut self, folders: &[PathBuf]) -> Self {
        self.folders = folders.iter().map(|folder| canonical(folder).unwrap_or_else(|_| folder.clone())).collect();
        self
    }

    /// Folders whose Python sources may be read.
    #[must_use]
    pub fn with_python(mut self, folders: &[PathBuf]) -> Self {
        self.python = folders.iter().filter_map(|folder| canonical(folder).ok()).collect();
        self
    }

    /// Where the user's own settings switched `index.skip_secrets` off.
    #[must_use]
    pub fn with_secrets(mut self, allow: bool) -> Self {
        self.allow_secrets = allow;
        self
    }

    /// Refuses what was read of a file if the content says that no one should be shown it.
    pub fn check_content(&self, resolved: &Resolved, bytes: &[u8]) -> Result<()> {
        let below = resolved.absolute.strip_prefix(&resolved.base).unwrap_or(&resolved.absolute);
        let is_refused = !self.allow_secrets && is_secret(&below.to_string_lossy(), bytes);
        if is_refused { Err(secret(&resolved.shown())) } else { Ok(()) }
    }

    /// The existing file or folder that `given` means: relative to the repository, or absolute.
    ///
    /// Every refusal is `INVALID_PATH`.
    pub fn resolve(&self, given: &str) -> Result<Resolved> {
        let joined = self.join(given)?;
        let absolute = canonical(&joined).map_err(|error| {
            // A path outside is refused with the same message whether or not it exists.
            if !self.leads_into_root(&joined) {
                return outside(given);
            }
            let what = match error.kind() {
                std::io::ErrorKind::NotFound => "does not exist".to_owned(),
                std::io::ErrorKind::PermissionDenied => {
                    let what = format!(
                        "{} cannot be read: the folder {} may not be entered",
                        brief(given),
                        self.closed(&joined)
                    );
                    return Error::invalid_path(what).hint("Check the permissions of that folder.").caused_by(error);
                }
                _ => format!("cannot be read: {error}"),
            };
            Error::invalid_path(format!("{} {what}", brief(given))).caused_by(error)
        })?;
        self.check(given, absolute)
    }

    fn join(&self, given: &str) -> Result<PathBuf> {
        let refused = if given.is_empty() {
            "the path is empty".to_owned()
        } else if given.contains('\0') {
            format!("{} holds a NUL character, which no path does", brief(given))
        } else if given.len() > MAX_PATH_BYTES {
            format!("the path has {} bytes; no file system takes more than {MAX_PATH_BYTES}", given.len())
        } else {
            return Ok(self.root.join(given));
        };
        Err(Error::invalid_path(refused).hint("Give a path relative to the repository."))
    }

    fn check(&self, given: &str, absolute: PathBuf) -> Result<Resolved> {
        let (base, location) = self.location(&absolute).ok_or_else(|| outside(given))?;
        if !self.allow_secrets && is_secret_name(&absolute.strip_prefix(&base).unwrap_or(&absolute).to_string_lossy()) {
            return Err(secret(given));
        }
        let below = absolute.strip_prefix(&base).unwrap_or(&absolute);
        if is_private(below) || bare::holds(&base, below) {
            return Err(Error::invalid_path(format!("{} is git's or ixmcp's own and never shown", brief(given)))
                .hint("Name a file of the project."));
        }
        Ok(Resolved { absolute, location, base })
    }

    /// The allowed folder around an absolute path without links, and where in it that lies.
    fn location(&self, absolute: &Path) -> Option<(PathBuf, PathLocation)> {
        if absolute == self.root {
            return Some((self.root.clone(), PathLocation::Root));
        }
        if absolute.starts_with(&self.root) {
            let path = RepoPath::under(&self.root, absolute)?;
            return Some((self.root.clone(), PathLocation::Repository(path)));
        }
        let around = self.folders.iter().enumerate().filter(|(_, folder)| absolute.starts_with(folder));
        if let Some((at, folder)) = around.max_by_key(|(_, folder)| folder.components().count()) {
            return Some((folder.clone(), PathLocation::Folder(at)));
        }
        let is_python = absolute.extension().is_some_and(|extension| extension == "py" || extension == "pyi");
        let library = self.python.iter().find(|folder| is_python && absolute.starts_with(folder))?;
        Some((library.clone(), PathLocation::Python))
    }

    /// The folder on the way to a path that may not be entered, as answers name it.
    fn closed(&self, joined: &Path) -> String {
        let folder = joined.ancestors().skip(1).find(|above| canonical(above).is_ok()).unwrap_or(&self.root);
        match folder.strip_prefix(&self.root) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => brief(&below.to_string_lossy()),
            Err(_) => brief(&folder.to_string_lossy()),
        }
    }

    /// Whether the existing part of a path that leads nowhere may be read.
    fn leads_into_root(&self, joined: &Path) -> bool {
        let existing = joined.ancestors().find_map(|above| canonical(above).ok());
        let mut bases = [&self.root].into_iter().chain(&self.folders).chain(&self.python);
        existing.is_some_and(|existing| bases.any(|base| existing.starts_with(base)))
    }
}

/// Whether git or this program keeps the file for itself: settings with passwords in them, the token. The type engine's
/// stubs are there too, and are not private.
fn is_private(path: &Path) -> bool {
    !path.starts_with(STUBS) && path.iter().any(is_private_name)
}

fn secret(given: &str) -> Error {
    Error::invalid_path(format!("{} may hold secrets and is never shown", brief(given)))
        .hint("Name another file. Programs that may read this one can open it without ixmcp.")
}

fn outside(given: &str) -> Error {
    Error::invalid_path(format!("{} lies outside the repository and its indexed folders", brief(given))).hint((
        "Give a path inside the repository, or index that folder with ",
        Tool("index_files"),
        " first.",
    ))
}

fn brief(given: &str) -> String {
    let end = given.char_indices().nth(MAX_SHOWN_CHARS).map_or(given.len(), |(at, _)| at);
    let rest = if end < given.len() { "…" } else { "" };
    printable(&given[..end]) + rest
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::error::ErrorKind;

    /// A repository next to other things, with links of every kind.
    fn tree() -> (tempfile::TempDir, Resolver) {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        for folder in ["root/src", "root-other", "docs", "lib"] {
            std::fs::create_dir_all(at.join(folder)).unwrap();
        }
        for file in
            ["root/src/a.rs", "root/.netrc", "root-other/x.txt", "docs/d.md", "docs/id_rsa", "lib/os.py", "lib/x.so"]
        {
            std::fs::write(at.join(file), file).unwrap();
        }
        symlink("src/a.rs", at.join("root/inner")).unwrap();
        symlink(".netrc", at.join("root/readme")).unwrap();
        symlink("../root-other", at.join("root/out")).unwrap();
        symlink("loop", at.join("root/loop")).unwrap();
        let resolver =
            Resolver::new(&at.join("root")).unwrap().with_folders(&[at.join("docs")]).with_python(&[at.join("lib")]);
        (dir, resolver)
    }

    #[test]
    fn paths_in_the_root_resolve_however_they_are_written() {
        let (dir, resolver) = tree();
        let absolute = dir.path().join("root/src/a.rs").to_string_lossy().into_owned();
        for given in ["src/a.rs", "./src//a.rs", "src/../src/a.rs", "inner", "src/a.rs/", &absolute] {
            match resolver.resolve(given) {
                Ok(resolved) => assert_eq!(resolved.shown(), "src/a.rs", "{given}"),
                // A slash after a file's name says folder; the system refuses it and so do we.
                Err(error) => assert!(given.ends_with('/') && error.kind == ErrorKind::InvalidPath, "{given}: {error}"),
            }
        }
        assert_eq!(resolver.resolve("src/").unwrap().shown(), "src");
        assert_eq!(resolver.resolve(".").unwrap().location, PathLocation::Root);
        let document = dir.path().join("docs/d.md").to_string_lossy().into_owned();
        assert_eq!(resolver.resolve(&document).unwrap().location, PathLocation::Folder(0));
        let library = dir.path().join("lib/os.py").to_string_lossy().into_owned();
        assert_eq!(resolver.resolve(&library).unwrap().location, PathLocation::Python);
    }

    #[test]
    fn everything_else_is_refused() {
        let (dir, resolver) = tree();
        let inside = |path: &str| dir.path().join(path).to_string_lossy().into_owned();
        let huge = "a/".repeat(10_000);
        let long_name = "x".repeat(300);
        let given = [
            "",
            "..",
            "../root-other/x.txt",
            "out/x.txt",
            "/etc/passwd",
            "/",
            "src/../../root-other",
            "a\0b",
            "new\nline",
            "missing",
            ".netrc",
            "readme",
            "loop",
            &huge,
            &long_name,
            &inside("root-other/x.txt"),
            &inside("docs/id_rsa"),
            &inside("lib/x.so"),
            &inside("lib"),
            "~/x",
        ];
        for given in given {
            let error = resolver.resolve(given).expect_err(given);
            assert_eq!(error.kind, ErrorKind::InvalidPath, "{given}");
            assert!(error.to_string().len() < 700 && !error.to_string().contains('\n'), "{error}");
        }
    }

    #[test]
    fn outside_nothing_is_said_of_what_exists() {
        let (_dir, resolver) = tree();
        let there = resolver.resolve("../root-other/x.txt").unwrap_err().to_string();
        let gone = resolver.resolve("../root-other/y.txt").unwrap_err().to_string();
        assert_eq!(there.replace("x.txt", ""), gone.replace("y.txt", ""));
        let there = resolver.resolve("out/x.txt").unwrap_err().to_string();
        let gone = resolver.resolve("out/y.txt").unwrap_err().to_string();
        assert_eq!(there.replace("x.txt", ""), gone.replace("y.txt", ""));
    }

    #[test]
    fn a_link_swapped_in_after_the_check_leads_nowhere() {
        let (dir, resolver) = tree();
        let resolved = resolver.resolve("src/a.rs").unwrap();
        assert!(resolved.open().is_ok());
        std::fs::remove_dir_all(dir.path().join("root/src")).unwrap();
        std::fs::write(dir.path().join("root-other/a.rs"), "outside").unwrap();
        symlink("../root-other", dir.path().join("root/src")).unwrap();
        assert_eq!(resolved.open().unwrap_err().kind, ErrorKind::InvalidPath);
    }
}
