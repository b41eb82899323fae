//! Python distributions: `pyproject.toml`, `requirements*.txt`, and the `site-packages` of the project's environment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::manifests::{Manifests, text_of};
use super::{Dependency, NOT_INSTALLED, SINGLE_FILE, folder_in, folders_in, is_component};
use crate::config::Environment;

/// Variables that name the environment that is active.
const ACTIVE: &[&str] = &["VIRTUAL_ENV", "CONDA_PREFIX"];
/// Folders of a project that hold its environment.
const OWN: &[&str] = &[".venv", "venv"];

pub(super) fn list(manifests: &Manifests, root: &Path, environment: &Environment) -> Vec<Dependency> {
    let mut declared = BTreeSet::new();
    for file in &manifests.pyprojects {
        if let Some(table) = text_of(file).and_then(|text| text.parse::<Table>().ok()) {
            declared.extend(declared_by(&table));
        }
    }
    for file in &manifests.requirements {
        declared.extend(text_of(file).unwrap_or_default().lines().filter_map(normalized));
    }
    let mut found = Vec::new();
    let mut installed = BTreeSet::new();
    for distribution in site_packages(root, environment).iter().flat_map(|folder| distributions(folder)) {
        let is_direct = declared.contains(&distribution.name);
        installed.insert(distribution.name.clone());
        let folders: Vec<Result<PathBuf, &'static str>> = match distribution.folders {
            folders if folders.is_empty() => vec![Err(SINGLE_FILE)],
            folders => folders.into_iter().map(Ok).collect(),
        };
        found.extend(folders.into_iter().map(|sources| Dependency {
            ecosystem: "pypi",
            name: distribution.name.clone(),
            version: distribution.version.clone(),
            is_direct,
            sources,
        }));
    }
    let missing = declared.into_iter().filter(|name| !installed.contains(name));
    found.extend(missing.map(|name| Dependency {
        ecosystem: "pypi",
        name,
        version: String::new(),
        is_direct: true,
        sources: Err(NOT_INSTALLED),
    }));
    found
}

/// The names in the lists of a `pyproject.toml`: of the standards, of uv and of Poetry.
fn declared_by(table: &Table) -> Vec<String> {
    let at = |path: &[&str]| {
        let mut value = table.get(path[0])?;
        for key in &path[1..] {
            value = value.get(key)?;
        }
        Some(value)
    };
    let texts = |list: &Value| {
        let items = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        items.filter_map(normalized).collect::<Vec<_>>()
    };
    let keys = |table: &Value| {
        let names = table.as_table().into_iter().flat_map(Table::keys).filter(|name| *name != "python");
        names.filter_map(|name| normalized(name)).collect::<Vec<_>>()
    };
    let values = |table: &Value| table.as_table().into_iter().flat_map(Table::values).cloned().collect::<Vec<_>>();
    let mut names = Vec::new();
    for list in [&["project", "dependencies"][..], &["tool", "uv", "dev-dependencies"]] {
        names.extend(at(list).map(texts).unwrap_or_default());
    }
    for groups in [&["project", "optional-dependencies"][..], &["dependency-groups"]] {
        names.extend(at(groups).map(values).unwrap_or_default().iter().flat_map(texts));
    }
    names.extend(at(&["tool", "poetry", "dependencies"]).map(keys).unwrap_or_default());
    for group in at(&["tool", "poetry", "group"]).map(values).unwrap_or_default() {
        names.extend(group.get("dependencies").map(keys).unwrap_or_default());
    }
    names
}

/// The name that a requirement begins with, as all of its spellings are compared: `Foo.Bar_baz[x]>=1` is `foo-bar-baz`.
fn normalized(requirement: &str) -> Option<String> {
    let text = requirement.trim_start();
    if !text.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return None;
    }
    let end = text.find(|character: char| !(character.is_ascii_alphanumeric() || "-_.".contains(character)));
    let name = text[..end.unwrap_or(text.len())].to_lowercase();
    let parts: Vec<&str> = name.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
    Some(parts.join("-"))
}

/// The folders of installed packages of the environment that is active, else of the project's own.
fn site_packages(root: &Path, environment: &Environment) -> Vec<PathBuf> {
    let active = ACTIVE.iter().filter_map(|name| environment.get(name).map(PathBuf::from));
    let own = OWN.iter().map(|name| root.join(name));
    let mut environments = active.filter(|folder| folder.is_absolute()).chain(own).map(|folder| packages_of(&folder));
    environments.find(|folders| !folders.is_empty()).unwrap_or_default()
}

fn packages_of(environment: &Path) -> Vec<PathBuf> {
    let versions = folders_in(&environment.join("lib")).into_iter();
    let versions =
        versions.filter(|folder| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python")));
    let folders = versions.chain([environment.join("Lib")]).map(|folder| folder.join("site-packages"));
    folders.filter(|folder| folder.is_dir()).collect()
}

struct Distribution {
    name: String,
    version: String,
    /// The folders of its modules.
    folders: Vec<PathBuf>,
}

fn distributions(site_packages: &Path) -> Vec<Distribution> {
    let is_about = |folder: &&PathBuf| folder.extension().is_some_and(|extension| extension == "dist-info");
    let of_folder = |about: &PathBuf| {
        let metadata = text_of(&about.join("METADATA"))?;
        let header = metadata.split("\n\n").next().unwrap_or_default();
        let field = |name: &str| header.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let record = text_of(&about.join("RECORD"))?;
        let files = record.lines().filter_map(module_of).collect::<Vec<_>>();
        let mut folders = Vec::new();
        package_folders(&files, &mut Vec::new(), &mut folders);
        Some(Distribution {
            name: normalized(field("Name:")?)?,
            version: field("Version:").filter(|version| is_component(version)).unwrap_or_default().to_owned(),
            folders: folders.iter().filter_map(|below| folder_in(site_packages, below)).collect(),
        })
    };
    folders_in(site_packages).iter().filter(is_about).filter_map(of_folder).collect()
}

/// The components of the path of a Python file in a line of `RECORD`: `path,hash,size`.
fn module_of(line: &str) -> Option<Vec<&str>> {
    let path = line.split(',').next()?;
    let is_module = path.ends_with(".py") || path.ends_with(".pyi");
    let components: Vec<&str> = path.split('/').collect();
    (is_module && components.iter().all(|component| is_component(component))).then_some(components)
}

/// The nearest folders that hold modules themselves: `google/auth`, not the namespace `google`.
fn package_folders(files: &[Vec<&str>], above: &mut Vec<String>, found: &mut Vec<PathBuf>) {
    let mut children: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for file in files {
        match &file[..] {
            [] => {}
            [_module] if !above.is_empty() => {
                found.push(above.iter().collect());
                return;
            }
            // A module that is a file of `site-packages` itself.
            [_module] => {}
            [folder, rest @ ..] => children.entry(folder).or_default().push(rest.to_vec()),
        }
    }
    for (folder, files) in children {
        above.push(folder.to_owned());
        package_folders(&files, above, found);
        above.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_begins_with_a_name_that_has_one_spelling() {
        for (requirement, name) in [
            ("Foo.Bar__baz[x]>=1; python_version<'3.9'", Some("foo-bar-baz")),
            ("requests == 2.31", Some("requests")),
            ("six", Some("six")),
            ("-r other.txt", None),
            ("# comment", None),
            ("", None),
        ] {
            assert_eq!(normalized(requirement).as_deref(), name, "{requirement}");
        }
    }

    #[test]
    fn folders_of_a_distribution_are_the_nearest_with_modules() {
        let record = "requests/__init__.py,sha256=x,1\nrequests/api.py,,\ngoogle/auth/__init__.py,,\ngoogle/oauth2/a.py,,\n\
                      six.py,,\n../../../bin/x.py,,\nrequests-2.dist-info/RECORD,,\n";
        let files: Vec<_> = record.lines().filter_map(module_of).collect();
        let mut folders = Vec::new();
        package_folders(&files, &mut Vec::new(), &mut folders);
        assert_eq!(folders, ["google/auth", "google/oauth2", "requests"].map(PathBuf::from));
    }

    #[test]
    fn every_list_of_a_pyproject_counts() {
        let table = "[project]\ndependencies = ['a>=1']\n[project.optional-dependencies]\nx = ['b']\n[dependency-groups]\n\
                     dev = ['c', {include-group = 'x'}]\n[tool.uv]\ndev-dependencies = ['d']\n[tool.poetry.dependencies]\n\
                     python = '^3.9'\ne = '1'\n[tool.poetry.group.dev.dependencies]\nf = '1'\n";
        let mut names = declared_by(&table.parse().unwrap());
        names.sort();
        assert_eq!(names, ["a", "b", "c", "d", "e", "f"]);
    }
}
