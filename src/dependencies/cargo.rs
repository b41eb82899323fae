//! Crates: `Cargo.lock`, and the sources that Cargo has unpacked.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::manifests::text_of;
use super::{Dependency, NOT_HERE, folder_in, folders_in, is_component};
use crate::config::Environment;

/// Characters of a commit that name the folder of a checkout.
const COMMIT: usize = 7;

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    /// None of packages that are in a folder of the user, such as the members of a workspace.
    source: Option<String>,
    /// `name`, `name version` or `name version (source)`.
    #[serde(default)]
    dependencies: Vec<String>,
}

pub(super) fn list(lock: &Path, environment: &Environment) -> Vec<Dependency> {
    let Some(lock) = text_of(lock).and_then(|text| toml::from_str::<Lock>(&text).ok()) else { return Vec::new() };
    let home = environment.get("CARGO_HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let Some(home) = home.or_else(|| environment.home().map(|home| home.join(".cargo"))) else { return Vec::new() };
    let registries = folders_in(&home.join("registry/src"));
    let checkouts = folders_in(&home.join("git/checkouts"));
    let own = lock.package.iter().filter(|package| package.source.is_none());
    let named: Vec<&str> = own.flat_map(|package| package.dependencies.iter().map(String::as_str)).collect();
    let of_package = |package: &Package| {
        let source = package.source.as_deref()?;
        let folder = match source.split_once('#') {
            Some((_, commit)) if source.starts_with("git+") => checkout(&checkouts, commit),
            _ => unpacked(&registries, package),
        };
        Some(Dependency {
            ecosystem: "cargo",
            name: package.name.clone(),
            version: package.version.clone(),
            is_direct: named.iter().any(|named| is_named(package, named)),
            sources: folder.ok_or(NOT_HERE),
        })
    };
    lock.package.iter().filter_map(of_package).collect()
}

fn is_named(package: &Package, named: &str) -> bool {
    let mut parts = named.split(' ');
    parts.next() == Some(package.name.as_str()) && parts.next().is_none_or(|version| version == package.version)
}

fn unpacked(registries: &[PathBuf], package: &Package) -> Option<PathBuf> {
    let name = format!("{}-{}", package.name, package.version);
    if !is_component(&name) {
        return None;
    }
    registries.iter().find_map(|registry| folder_in(registry, &name))
}

fn checkout(checkouts: &[PathBuf], commit: &str) -> Option<PathBuf> {
    let short = commit.get(..COMMIT).filter(|short| short.chars().all(|digit| digit.is_ascii_hexdigit()))?;
    checkouts.iter().find_map(|checkout| folder_in(checkout, short))
}
