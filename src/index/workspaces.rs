//! The repositories that this process has open, each once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{Workspace, locked};
use crate::config::{Config, Environment, Flags};
use crate::error::{Error, Result};
use crate::scan::{self, Homes};

pub struct Workspaces {
    flags: Flags,
    environment: Environment,
    homes: Homes,
    opened: Mutex<HashMap<PathBuf, Arc<Workspace>>>,
}

impl Workspaces {
    pub fn new(flags: Flags, environment: Environment) -> Self {
        Self { homes: Homes::of_machine(environment.home()), flags, environment, opened: Mutex::new(HashMap::new()) }
    }

    /// The workspace that `start` stands in: its nearest ancestor that is a repository, else the folder itself.
    pub fn at(&self, start: &Path) -> Result<Arc<Workspace>> {
        let root = scan::repository_root(start, &self.homes)?;
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
        let root = scan::repository_root(start, &self.homes)?;
        let (config, warnings) = Config::load(&self.flags, &self.environment, Some(&root))?;
        for warning in warnings {
            tracing::warn!("{}", warning.0);
        }
        Ok((root, config))
    }

    /// The repository that a call names: another one than the connection's must be a repository already.
    pub fn named(&self, repo: Option<&str>, connection: &Path) -> Result<Arc<Workspace>> {
        self.at(&self.root_of(repo, connection)?)
    }

    /// The root of the repository that a call names, which is not opened.
    pub fn root_of(&self, repo: Option<&str>, connection: &Path) -> Result<PathBuf> {
        let Some(repo) = repo else { return scan::repository_root(connection, &self.homes) };
        let path = connection.join(repo);
        if !path.is_dir() {
            return Err(Error::invalid_path(format!(
                "argument `repo`: {} is no folder",
                crate::model::printable(repo)
            ))
            .hint("Give the path of a repository."));
        }
        let root = scan::repository_root(&path, &self.homes)?;
        let is_connections = scan::repository_root(connection, &self.homes).is_ok_and(|own| own == root);
        if !is_connections && !scan::is_own_repository(&root) {
            return Err(Error::invalid_path(format!("argument `repo`: {} is no repository of yours", root.display()))
                .hint("Name a folder with .git, .ixchel or .ixmcp in it; `ixmcp sync PATH` makes one."));
        }
        Ok(root)
    }
}
