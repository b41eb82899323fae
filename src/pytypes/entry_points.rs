//! The entry points that a Python project declares.
//!
//! Owns the formats: `[project.scripts]`, `[project.entry-points]` and `[tool.poetry.scripts]` of `pyproject.toml`,
//! `[options.entry_points]` of `setup.cfg`. A file that does not parse has no entry points.

use std::path::Path;

use super::options::read_file;
use super::values::EntryPoint;

/// The scripts, then the entry points of each group, each sorted by name.
pub(super) fn read(folder: &Path) -> Vec<EntryPoint> {
    let mut found = Vec::new();
    if let Some((_, text)) = read_file(&folder.join("pyproject.toml")) {
        found.extend(of_pyproject(&text));
    }
    if let Some((_, text)) = read_file(&folder.join("setup.cfg")) {
        found.extend(of_setup(&text));
    }
    found.sort_by(|a, b| (&a.group, &a.name, &a.target).cmp(&(&b.group, &b.name, &b.target)));
    found.dedup();
    found
}

fn of_pyproject(text: &str) -> Vec<EntryPoint> {
    let Ok(table) = text.parse::<toml::Table>() else { return Vec::new() };
    let tables: [&[&str]; 3] = [&["project", "scripts"], &["project", "gui-scripts"], &["tool", "poetry", "scripts"]];
    let inner =
        |path: &[&str]| path.iter().try_fold(&table, |table, name| table.get(*name).and_then(toml::Value::as_table));
    let entry = |group: Option<&String>, (name, target): (&String, &toml::Value)| {
        Some(EntryPoint { name: name.clone(), target: target.as_str()?.to_owned(), group: group.cloned() })
    };
    let scripts = tables.into_iter().filter_map(inner).flatten().filter_map(|pair| entry(None, pair));
    let groups = inner(&["project", "entry-points"]).into_iter().flatten();
    let plugins = groups.flat_map(|(group, table)| {
        table.as_table().into_iter().flatten().filter_map(move |pair| entry(Some(group), pair))
    });
    scripts.chain(plugins).collect()
}

/// Reads `console_scripts` and `gui_scripts`, whose values are indented below the key or follow it on the same line.
fn of_setup(text: &str) -> Vec<EntryPoint> {
    let (mut in_section, mut in_key) = (false, false);
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        if line.starts_with('[') {
            in_section = line.trim_end() == "[options.entry_points]";
            in_key = false;
            continue;
        }
        let mut rest = line;
        if !line.starts_with(char::is_whitespace) {
            let Some((key, value)) = line.split_once('=') else { continue };
            in_key = matches!(key.trim(), "console_scripts" | "gui_scripts");
            rest = value;
        }
        if in_section
            && in_key
            && let Some((name, target)) = rest.split_once('=')
        {
            found.push(EntryPoint { name: name.trim().to_owned(), target: target.trim().to_owned(), group: None });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_every_form_are_read() {
        let toml = "[project.scripts]\na = \"m:a\"\n[project.gui-scripts]\nb = \"m:b\"\n[tool.poetry.scripts]\nc = \"m:c\"\nd = { x = 1 }\n";
        let names: Vec<String> = of_pyproject(toml).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let plugins =
            of_pyproject("[project.entry-points]\nx = 1\n[project.entry-points.pytest11]\np = \"m:p\"\nq = 1\n");
        assert_eq!(plugins.len(), 1, "{plugins:?}");
        assert_eq!((plugins[0].name.as_str(), plugins[0].group.as_deref()), ("p", Some("pytest11")));
        assert!(of_pyproject("[project").is_empty() && of_pyproject("project = 1\n").is_empty());
        let cfg = "[metadata]\nname = x\nconsole_scripts = no = no:no\n[options.entry_points]\nconsole_scripts =\n    a = m:a\n    # b = m:b\n  c=m.n:c [extra]\nother =\n    d = m:d\ngui_scripts = e = m:e\n";
        let pairs: Vec<String> = of_setup(cfg).into_iter().map(|one| format!("{} {}", one.name, one.target)).collect();
        assert_eq!(pairs, ["a m:a", "c m.n:c [extra]", "e m:e"]);
    }
}
