//! The repositories that this process has open, each once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{Workspace, locked};
use crate::config::{Config, Settings};
use crate::error::{Error, Result};
use crate::scan::resolve;

pub struct Workspaces {
    settings: Settings,
    opened: Mutex<HashMap<PathBuf, Arc<Workspace>>>,
}

impl Workspaces {
    pub fn new(settings: Settings) -> Self {
        Self { settings, opened: Mutex::new(HashMap::new()) }
    }

    /// The workspace that `start` stands in: its nearest ancestor that is a repository, else the folder itself.
    pub fn at(&self, start: &Path) -> Result<Arc<Workspace>> {
        let root = resolve::root(start, self.settings.home())?;
        let mut opened = locked(&self.opened);
        if let Some(workspace) = opened.get(&root) {
            return Ok(Arc::clone(workspace));
        }
        let (root, config) = self.settle(&root)?;
        let workspace = Arc::new(Workspace::open(&root, config)?);
        opened.insert(root, Arc::clone(&workspace));
        Ok(workspace)
    }

    /// The root that `start` stands in and its settings, without opening its index.
    pub fn settle(&self, start: &Path) -> Result<(PathBuf, Config)> {
        let root = resolve::root(start, self.settings.home())?;
        let (config, warnings) = self.settings.resolve(&root)?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        Ok((root, config))
    }

    /// The repository that a call names: another one than the connection's must be a repository already.
    pub fn named(&self, repo: Option<&str>, connection: &Path) -> Result<Arc<Workspace>> {
        let Some(repo) = repo else { return self.at(connection) };
        let path = connection.join(repo);
        if !path.is_dir() {
            return Err(Error::invalid_path(format!("argument `repo`: {} is no folder", crate::model::printable(repo)))
                .hint("Give the path of a repository."));
        }
        let root = resolve::root(&path, self.settings.home())?;
        if root != resolve::root(connection, self.settings.home())? {
            resolve::must_be_repository(&root)?;
        }
        self.at(&root)
    }
}
