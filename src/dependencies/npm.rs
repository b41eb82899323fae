//! npm packages: `package.json`, and the folders `node_modules` of npm, yarn and pnpm.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::manifests::text_of;
use super::{Dependency, NOT_INSTALLED, folder_in, folders_in, is_component};

/// Where packages are installed.
const INSTALLED: &str = "node_modules";
/// The lists of a manifest.
const LISTS: &[&str] = &["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
/// Packages of one repository.
const MAX_PACKAGES: usize = 20_000;

/// Lists the dependencies that the manifests name, then all other installed packages.
pub(super) fn list(manifests: &[PathBuf], root: &Path) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut installed = BTreeSet::new();
    for manifest in manifests {
        let folder = manifest.parent().unwrap_or(root);
        installed.insert(folder.join(INSTALLED));
        let manifest = object(manifest);
        for name in LISTS.iter().filter_map(|list| manifest.get(*list)?.as_object()).flat_map(Map::keys) {
            let above = folder.ancestors().take_while(|above| above.starts_with(root));
            let package =
                above.map(|above| package(root, &above.join(INSTALLED), name)).find(|one| one.is_some()).flatten();
            match package {
                // A link to a package of the same workspace.
                Some(package) if !is_installed(&package) => {}
                package => found.push(dependency(name, package, true)),
            }
        }
    }
    let mut others = Vec::new();
    for folder in &installed {
        let with_versions = folders_in(&folder.join(".pnpm")).into_iter().map(|version| version.join(INSTALLED));
        others.extend([folder.clone()].into_iter().chain(with_versions).flat_map(|folder| packages_in(root, &folder)));
    }
    others.truncate(MAX_PACKAGES);
    // Those that are named come first: a folder that occurs twice is reported once.
    found.extend(others.into_iter().map(|(name, folder)| dependency(&name, Some(folder), false)));
    found
}

fn dependency(name: &str, folder: Option<PathBuf>, is_direct: bool) -> Dependency {
    let about = folder.as_ref().map(|folder| object(&folder.join("package.json")));
    let version = about.as_ref().and_then(|about| about.get("version")?.as_str());
    Dependency {
        ecosystem: "npm",
        name: name.to_owned(),
        version: version.filter(|version| is_component(version)).unwrap_or_default().to_owned(),
        is_direct,
        sources: folder.ok_or(NOT_INSTALLED),
    }
}

/// The folder of a package, which must be in the repository: a link could lead anywhere.
fn package(root: &Path, installed: &Path, name: &str) -> Option<PathBuf> {
    let (scope, own) = name.split_once('/').map_or(("", name), |(scope, own)| (scope, own));
    let is_scope = scope.is_empty() || (scope.starts_with('@') && is_component(scope));
    if !is_scope || !is_component(own) {
        return None;
    }
    let below = installed.join(name);
    folder_in(root, below.strip_prefix(root).ok()?)
}

/// The packages of one `node_modules`, with those of its scopes.
fn packages_in(root: &Path, installed: &Path) -> Vec<(String, PathBuf)> {
    let name_of =
        |folder: &Path| folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut names = Vec::new();
    for folder in folders_in(installed) {
        let name = name_of(&folder);
        if name.starts_with('@') {
            names.extend(folders_in(&folder).iter().map(|own| format!("{name}/{}", name_of(own))));
        } else {
            names.push(name);
        }
    }
    let of_name = |name: String| {
        let folder = package(root, installed, &name).filter(|folder| is_installed(folder))?;
        folder.join("package.json").is_file().then_some((name, folder))
    };
    names.into_iter().filter_map(of_name).collect()
}

fn is_installed(folder: &Path) -> bool {
    folder.components().any(|component| component.as_os_str() == INSTALLED)
}

fn object(file: &Path) -> Map<String, Value> {
    match text_of(file).and_then(|text| serde_json::from_str(&text).ok()) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}
