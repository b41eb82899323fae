//! The repositories that this process has open, each once.
//!
//! Owns which repository a path belongs to, and when it is opened. Does not own what is opened (`workspace`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::components::Workspace;
use crate::config::{Environment, Sources};
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::platform::paths::canonical;
use crate::repository::{RootKind, dependency_indexes};
use crate::scan::{self, HomeFolders};
use crate::wording::{Argument, Command};

/// Whether repositories are watched for changes: for processes that stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watching {
    Yes,
    No,
}

pub struct Workspaces {
    sources: Arc<Sources>,
    homes: HomeFolders,
    watching: Watching,
    /// Repositories that were opened, or are being opened: opening one delays no call for another.
    opened: Mutex<HashMap<PathBuf, Arc<Slot>>>,
    watched: AtomicUsize,
}

/// A repository that is open once it was opened.
type Slot = Mutex<Option<Arc<Workspace>>>;

/// Repositories that one process watches; all others are swept before each read. The system limits watches per user.
const MAX_WATCHED: usize = 64;

impl Workspaces {
    pub fn new(sources: Sources, watching: Watching) -> Self {
        let homes = HomeFolders::load(sources.environment.home());
        Self {
            homes,
            sources: Arc::new(sources),
            watching,
            opened: Mutex::new(HashMap::new()),
            watched: AtomicUsize::new(0),
        }
    }

    /// The workspace of `start`: its nearest ancestor that is a repository, or else the folder itself.
    pub fn at(&self, start: &Path) -> Result<Arc<Workspace>> {
        self.of_root(&self.root(start)?)
    }

    /// The workspace of the repository at `root`, which this process has found before.
    pub fn of_root(&self, root: &Path) -> Result<Arc<Workspace>> {
        self.open(root, Workspace::open)
    }

    /// The workspace of the repository at `root`, whose index is opened, or made, when it is first needed.
    pub fn unopened(&self, root: &Path) -> Result<Arc<Workspace>> {
        self.open(root, Workspace::unopened)
    }

    /// Opens the workspace of a process that only asks, see [`Workspace::is_provisional`].
    pub fn only_asking(&self, root: &Path) -> Result<Arc<Workspace>> {
        self.open(root, Workspace::only_asking)
    }

    /// Removes the indexes that only this process uses.
    pub fn end_provisional(&self) {
        let slots: Vec<Arc<Slot>> = locked(&self.opened).values().cloned().collect();
        for workspace in slots.iter().filter_map(|slot| locked(slot).clone()) {
            workspace.end_provisional();
        }
    }

    fn open(&self, root: &Path, open: impl FnOnce(&Path, Arc<Sources>) -> Result<Workspace>) -> Result<Arc<Workspace>> {
        let slot = Arc::clone(locked(&self.opened).entry(root.to_owned()).or_default());
        let mut opened = locked(&slot);
        if let Some(workspace) = &*opened {
            return Ok(Arc::clone(workspace));
        }
        let workspace = Arc::new(open(root, Arc::clone(&self.sources))?);
        let may_watch = || !workspace.is_watchable() || self.watched.fetch_add(1, Ordering::Relaxed) < MAX_WATCHED;
        if self.watching == Watching::Yes && may_watch() {
            workspace.watch();
        }
        Ok(Arc::clone(opened.insert(workspace)))
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.sources.environment
    }

    /// The root of the repository of `start`, without opening its index.
    pub fn root(&self, start: &Path) -> Result<PathBuf> {
        match self.dependency_at(start) {
            Some(root) => Ok(root),
            None => scan::repository_root(start, &self.homes),
        }
    }

    /// Whether `root`, without links, is the folder of a dependency's sources with an index.
    pub fn is_dependency(&self, root: &Path) -> bool {
        RootKind::find(root, self.environment()).is_dependency()
    }

    /// The folder at `path`, if it is that of a dependency's sources with an index.
    fn dependency_at(&self, path: &Path) -> Option<PathBuf> {
        let folder = canonical(path).ok()?;
        self.is_dependency(&folder).then_some(folder)
    }

    /// Opens the index of the sources of a dependency, which it is to have from now on.
    pub fn dependency(&self, root: &Path) -> Result<Workspace> {
        let root = self.homes.admit(root)?;
        dependency_indexes::declare(&root, self.environment())?;
        Workspace::open(&root, Arc::clone(&self.sources))
    }

    /// Whether the folder is a repository of this user already.
    pub fn is_repository(&self, root: &Path) -> bool {
        scan::is_own_repository(root)
    }

    /// The repository that a call names. If it is not the one of the connection, it must be a repository already.
    pub fn named(&self, repo: Option<&str>, connection: &Path) -> Result<Arc<Workspace>> {
        self.at(&self.root_of(repo, connection)?)
    }

    /// The root of the repository that a call names, without opening its index.
    pub fn root_of(&self, repo: Option<&str>, connection: &Path) -> Result<PathBuf> {
        let Some(repo) = repo else { return self.root(connection) };
        let path = self.path_of(repo, connection);
        if !path.is_dir() {
            return Err(Error::invalid_path((
                Argument("repo"),
                format!(": {} is not a folder", crate::model::printable(repo)),
            ))
            .hint("Give the path of a repository."));
        }
        if let Some(root) = self.dependency_at(&path) {
            return Ok(root);
        }
        let root = scan::repository_root(&path, &self.homes)?;
        let is_connections = scan::repository_root(connection, &self.homes).is_ok_and(|own| own == root);
        if !is_connections && !scan::is_own_repository(&root) {
            return Err(Error::invalid_path((
                Argument("repo"),
                format!(": {} is not a repository of yours", root.display()),
            ))
            .hint((
                "Name a folder with .git, .ixchel or .ixmcp in it; ",
                Command("sync PATH"),
                " makes one.",
            )));
        }
        Ok(root)
    }
}
