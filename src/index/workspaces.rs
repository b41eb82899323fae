//! The repositories that this process has open, each once.
//!
//! Owns which repository a path belongs to, and when it is opened. Does not own what is opened (`workspace`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{Workspace, locked};
use crate::config::Sources;
use crate::error::{Error, Result};
use crate::scan::{self, Homes};

/// Whether repositories are watched for changes: for processes that stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watching {
    Yes,
    No,
}

pub struct Workspaces {
    sources: Arc<Sources>,
    homes: Homes,
    watching: Watching,
    opened: Mutex<HashMap<PathBuf, Arc<Workspace>>>,
}

impl Workspaces {
    pub fn new(sources: Sources, watching: Watching) -> Self {
        let homes = Homes::of_machine(sources.environment.home());
        Self { homes, sources: Arc::new(sources), watching, opened: Mutex::new(HashMap::new()) }
    }

    /// The workspace of `start`: its nearest ancestor that is a repository, or else the folder itself.
    pub fn at(&self, start: &Path) -> Result<Arc<Workspace>> {
        let root = scan::repository_root(start, &self.homes)?;
        let mut opened = locked(&self.opened);
        if let Some(workspace) = opened.get(&root) {
            return Ok(Arc::clone(workspace));
        }
        let workspace = Arc::new(Workspace::open(&root, Arc::clone(&self.sources))?);
        if self.watching == Watching::Yes {
            workspace.watch();
        }
        opened.insert(root, Arc::clone(&workspace));
        Ok(workspace)
    }

    /// The root of the repository of `start`, without opening its index.
    pub fn root(&self, start: &Path) -> Result<PathBuf> {
        scan::repository_root(start, &self.homes)
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
        let Some(repo) = repo else { return scan::repository_root(connection, &self.homes) };
        let path = connection.join(repo);
        if !path.is_dir() {
            return Err(Error::invalid_path(format!(
                "argument `repo`: {} is not a folder",
                crate::model::printable(repo)
            ))
            .hint("Give the path of a repository."));
        }
        let root = scan::repository_root(&path, &self.homes)?;
        let is_connections = scan::repository_root(connection, &self.homes).is_ok_and(|own| own == root);
        if !is_connections && !scan::is_own_repository(&root) {
            return Err(Error::invalid_path(format!(
                "argument `repo`: {} is not a repository of yours",
                root.display()
            ))
            .hint("Name a folder with .git, .ixchel or .ixmcp in it; `ixmcp sync PATH` makes one."));
        }
        Ok(root)
    }
}
