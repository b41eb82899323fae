//! The files that the type engine may read.
//!
//! Owns two refusals in the repository itself: links that lead out of it, and secrets. What is outside is read where the environment or
//! the user's variables name it. Does not own which files are checked (`files`).

use std::any::Any;
use std::env;
use std::io;
use std::path::Path;

use super::api::{
    CommandExecutor, DirectoryEntry, Metadata, Notebook, NotebookError, OsSystem, PySourceType, System, SystemPath,
    SystemPathBuf, SystemVirtualPath, WalkDirectoryBuilder, WhichResult, WritableSystem,
};
use crate::secrets;

/// Folders of installed packages, whose files may be links to a cache.
const PACKAGES: &[&str] = &["site-packages", "dist-packages"];

/// The disk as the engine sees it.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    system: OsSystem,
    root: SystemPathBuf,
    /// `root` without links.
    real_root: SystemPathBuf,
}

impl Disk {
    /// For the repository at `root`.
    pub fn new(root: &SystemPath) -> Self {
        let system = OsSystem::new(root);
        let real_root = system.canonicalize_path(root).unwrap_or_else(|_| root.to_path_buf());
        Self { system, root: root.to_path_buf(), real_root }
    }

    /// Whether a path leads into the repository, or nowhere.
    pub fn holds(&self, path: &SystemPath) -> bool {
        match self.system.canonicalize_path(path) {
            Ok(real) => real.starts_with(&self.real_root),
            Err(_) => path.starts_with(&self.root) || path.starts_with(&self.real_root),
        }
    }

    /// The path of a source file of the repository, relative to it: `None` for packages, what is outside and other files.
    fn own_source<'p>(&self, path: &'p SystemPath) -> Option<&'p Path> {
        let relative = path.strip_prefix(&self.root).ok()?.as_std_path();
        let is_package = relative.iter().any(|part| part.to_str().is_some_and(|part| PACKAGES.contains(&part)));
        (!is_package && PySourceType::try_from_path(relative).is_some()).then_some(relative)
    }

    /// Refuses a source file of the repository that a link leads out of it, or that is a secret by its name. Returns the path that
    /// decides whether its text is a secret.
    fn checked(&self, path: &SystemPath) -> io::Result<Option<String>> {
        let Some(relative) = self.own_source(path) else { return Ok(None) };
        let real = self.system.canonicalize_path(path)?;
        let refused = || io::Error::from(io::ErrorKind::NotFound);
        let target = real.strip_prefix(&self.real_root).map_err(|_| refused())?;
        let named = relative.to_string_lossy().into_owned();
        if secrets::is_secret_name(&named) || secrets::is_secret_name(target.as_str()) {
            return Err(refused());
        }
        Ok(Some(if secrets::depends_on_content(target.as_str()) { target.to_string() } else { named }))
    }
}

impl System for Disk {
    fn path_metadata(&self, path: &SystemPath) -> io::Result<Metadata> {
        let found = self.system.path_metadata(path)?;
        if found.file_type().is_file() {
            self.checked(path)?;
        }
        Ok(found)
    }

    fn canonicalize_path(&self, path: &SystemPath) -> io::Result<SystemPathBuf> {
        self.system.canonicalize_path(path)
    }

    fn is_same_file(&self, first: &SystemPath, second: &SystemPath) -> io::Result<bool> {
        self.system.is_same_file(first, second)
    }

    fn which(&self, binary_name: &str) -> WhichResult {
        self.system.which(binary_name)
    }

    /// None: nothing is run.
    fn command_executor(&self) -> Option<&dyn CommandExecutor> {
        None
    }

    fn read_to_string(&self, path: &SystemPath) -> io::Result<String> {
        let checked = self.checked(path)?;
        let text = self.system.read_to_string(path)?;
        match checked {
            Some(name) if secrets::is_secret(&name, text.as_bytes()) => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(text),
        }
    }

    fn read_to_notebook(&self, path: &SystemPath) -> Result<Notebook, NotebookError> {
        self.checked(path)?;
        self.system.read_to_notebook(path)
    }

    fn read_virtual_path_to_string(&self, path: &SystemVirtualPath) -> io::Result<String> {
        self.system.read_virtual_path_to_string(path)
    }

    fn read_virtual_path_to_notebook(&self, path: &SystemVirtualPath) -> Result<Notebook, NotebookError> {
        self.system.read_virtual_path_to_notebook(path)
    }

    fn current_directory(&self) -> &SystemPath {
        self.system.current_directory()
    }

    fn user_config_directory(&self) -> Option<SystemPathBuf> {
        self.system.user_config_directory()
    }

    fn cache_dir(&self) -> Option<SystemPathBuf> {
        self.system.cache_dir()
    }

    fn read_directory<'a>(
        &'a self,
        path: &SystemPath,
    ) -> io::Result<Box<dyn Iterator<Item = io::Result<DirectoryEntry>> + 'a>> {
        self.system.read_directory(path)
    }

    fn walk_directory(&self, path: &SystemPath) -> WalkDirectoryBuilder {
        self.system.walk_directory(path)
    }

    fn env_var(&self, name: &str) -> Result<String, env::VarError> {
        self.system.env_var(name)
    }

    fn as_writable(&self) -> Option<&dyn WritableSystem> {
        self.system.as_writable()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn dyn_clone(&self) -> Box<dyn System> {
        Box::new(self.clone())
    }
}
