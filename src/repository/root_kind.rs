//! The kinds of roots: a repository, the sources of a dependency, and the mirror of a published repository.
//!
//! Owns what follows from the kind: where the index is, whether git decides what is indexed, whether changes are watched, and whether
//! `ixmcp repos` lists it. Does not own the folders of the kinds (`dependency_indexes`, `organisation`).

use std::path::{Path, PathBuf};

use super::dependency_indexes;
use crate::config::Environment;
use crate::organisation::is_mirror;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RootKind {
    Repository,
    /// With the folder of its index.
    Dependency(PathBuf),
    Mirror,
}

impl RootKind {
    /// The kind of `root`, which has no links.
    pub(crate) fn find(root: &Path, environment: &Environment) -> Self {
        match dependency_indexes::folder_of(root, environment) {
            Some(folder) => Self::Dependency(folder),
            None if is_mirror(root, environment) => Self::Mirror,
            None => Self::Repository,
        }
    }

    /// The folder in which the index always is. Any other is in the repository, or where that cannot be, in a folder of the user.
    pub(super) fn index_folder(&self) -> Option<&Path> {
        match self {
            Self::Dependency(folder) => Some(folder),
            Self::Repository | Self::Mirror => None,
        }
    }

    /// Whether git's rules decide what is indexed. A project ignores the folder of its packages, so they do not for a dependency.
    pub(super) const fn follows_git(&self) -> bool {
        !matches!(self, Self::Dependency(_))
    }

    /// Whether its changes are watched. The files of a mirror get another version when they change: see `mirrored`.
    pub(crate) const fn is_watched(&self) -> bool {
        !matches!(self, Self::Mirror)
    }

    /// Whether git may know its history. That of a mirror is where it was published.
    pub(crate) const fn may_have_history(&self) -> bool {
        !matches!(self, Self::Mirror)
    }

    /// Whether `ixmcp repos` lists it.
    pub(super) const fn is_listed(&self) -> bool {
        matches!(self, Self::Repository)
    }

    pub(crate) const fn is_dependency(&self) -> bool {
        matches!(self, Self::Dependency(_))
    }
}
