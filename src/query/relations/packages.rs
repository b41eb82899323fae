//! Names that a repository gives to folders of its own: packages of workspaces, crates, and path aliases.
//!
//! Owns reading them from `package.json`, `tsconfig.json` and `Cargo.toml`, and which folders a module's name leads to. Does not own
//! which files are in those folders.

use std::collections::HashMap;

use serde_json::Value;

use super::modules::{Module, folder, joined, parts_of_path};
use crate::error::Result;
use crate::store::Snapshot;

/// Files that are read of each kind: a workspace has a few hundred packages.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: usize = 256 << 10;
/// Folders in which a package keeps its sources, seen from where its name leads.
const SOURCES: &[&str] = &["src", "", "lib"];

#[derive(Default)]
pub(super) struct Packages {
    /// Folders of npm packages by their name.
    npm: HashMap<String, String>,
    aliases: Vec<Alias>,
    /// Folders of crates by the name that code gives them.
    crates: HashMap<String, String>,
}

/// `"@app/*": ["./src/*"]`
struct Alias {
    /// The folder of the settings, whose files the alias is for.
    folder: String,
    key: String,
    /// Relative to the root, with a `*` for what the `*` of the key stands for.
    targets: Vec<String>,
}

impl Packages {
    pub(super) fn read_scripts(snapshot: &Snapshot) -> Result<Self> {
        let mut packages = Self::default();
        let named = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let is_settings = name.starts_with("tsconfig") || name.starts_with("jsconfig");
            name == "package.json" || (is_settings && name.ends_with(".json"))
        };
        for path in paths(snapshot, "json", named)? {
            let text = snapshot.text_of(&path)?;
            if text.len() > MAX_BYTES {
                continue;
            }
            let Ok(value) = serde_json::from_str::<Value>(&without_comments(&text)) else { continue };
            if path.ends_with("package.json") {
                if let Some(name) = value["name"].as_str() {
                    packages.npm.entry(name.to_owned()).or_insert_with(|| folder(&path).to_owned());
                }
            } else {
                packages.add_aliases(folder(&path), &value["compilerOptions"]);
            }
        }
        // The settings nearest to a file are asked first, and the longest key of them.
        packages.aliases.sort_by_key(|alias| std::cmp::Reverse((alias.folder.len(), alias.key.len())));
        Ok(packages)
    }

    pub(super) fn read_crates(snapshot: &Snapshot) -> Result<Self> {
        let mut packages = Self::default();
        for path in paths(snapshot, "toml", |path| path.rsplit('/').next() == Some("Cargo.toml"))? {
            let text = snapshot.text_of(&path)?;
            let mut section = "";
            for line in text.lines().map(str::trim) {
                if line.starts_with('[') {
                    section = line;
                } else if matches!(section, "[package]" | "[lib]")
                    && let Some(name) = line.strip_prefix("name").and_then(|rest| rest.trim_start().strip_prefix('='))
                {
                    let name = name.trim().trim_matches(['"', '\'']).replace('-', "_");
                    packages.crates.entry(name).or_insert_with(|| folder(&path).to_owned());
                }
                // A dependency may have another name than its crate: `kern = { package = "core", path = "../core" }`.
                let renamed = section.strip_suffix(']').filter(|section| section.contains("dependencies"));
                if let Some((_, written)) = line.split_once("path").filter(|_| renamed.is_some())
                    && let Some(written) = written.trim_start().strip_prefix('=')
                    && let Some(written) = written.trim_start().strip_prefix(['"', '\''])
                {
                    let written = written.split(['"', '\'']).next().unwrap_or_default();
                    let own = line.split_once('=').filter(|(own, _)| own.trim() != "path").map(|(own, _)| own.trim());
                    // `[dependencies.kern]`.
                    let name =
                        own.or_else(|| renamed.and_then(|section| section.rsplit('.').next())).unwrap_or_default();
                    let name = name.trim_matches('"').replace('-', "_");
                    packages.crates.entry(name).or_insert_with(|| resolved(folder(&path), written));
                }
            }
        }
        Ok(packages)
    }

    fn add_aliases(&mut self, folder: &str, options: &Value) {
        let Some(paths) = options["paths"].as_object() else { return };
        let base = resolved(folder, options["baseUrl"].as_str().unwrap_or("."));
        for (key, targets) in paths {
            let targets = targets.as_array().into_iter().flatten().filter_map(Value::as_str);
            let targets = targets.map(|target| resolved(&base, target)).collect();
            self.aliases.push(Alias { folder: folder.to_owned(), key: key.clone(), targets });
        }
    }

    /// The modules of this repository that a script's import can name.
    pub(super) fn script(&self, importer: &str, written: &str) -> Vec<Module> {
        let mut found = Vec::new();
        for alias in &self.aliases {
            if !alias.folder.is_empty() && !importer.starts_with(&format!("{}/", alias.folder)) {
                continue;
            }
            let Some(star) = matched(&alias.key, written) else { continue };
            for target in &alias.targets {
                let path = target.replacen('*', star, 1);
                let bare = [".d.ts", ".tsx", ".ts", ".jsx", ".js"].iter().find_map(|end| path.strip_suffix(end));
                let bare = bare.unwrap_or(&path);
                let bare = bare.strip_suffix("/index").unwrap_or(bare);
                found.push(Module { anchor: Some(Vec::new()), parts: parts_of_path(bare) });
            }
        }
        let words: Vec<&str> = written.split('/').collect();
        let length = if written.starts_with('@') { 2 } else { 1 };
        if words.len() >= length
            && let Some(folder) = self.npm.get(&words[..length].join("/"))
        {
            found.extend(in_sources(folder, words[length..].iter().map(|word| (*word).to_owned()).collect()));
        }
        found
    }

    /// The modules of this repository that a path in Rust can name.
    pub(super) fn rust(&self, words: &[String]) -> Vec<Module> {
        let Some(folder) = words.first().and_then(|first| self.crates.get(first)) else { return Vec::new() };
        vec![Module { anchor: Some(parts_of_path(&joined(folder, "src"))), parts: words[1..].to_vec() }]
    }
}

fn in_sources(folder: &str, parts: Vec<String>) -> impl Iterator<Item = Module> {
    SOURCES
        .iter()
        .map(move |source| Module { anchor: Some(parts_of_path(&joined(folder, source))), parts: parts.clone() })
}

fn paths(snapshot: &Snapshot, language: &str, is_named: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let all = snapshot.paths(Some(language))?.into_iter().map(|(path, _)| path);
    Ok(all.filter(|path| is_named(path) && !path.contains("node_modules/")).take(MAX_FILES).collect())
}

/// Returns the part of a module's name that matches the `*` of a key; empty for a key without `*` that is the name.
fn matched<'w>(key: &str, written: &'w str) -> Option<&'w str> {
    match key.split_once('*') {
        None => (key == written).then_some(""),
        Some((before, after)) => written
            .strip_prefix(before)?
            .strip_suffix(after)
            .filter(|star| !before.is_empty() || !star.starts_with('.')),
    }
}

/// A path as written in settings, from the folder of the settings.
fn resolved(folder: &str, written: &str) -> String {
    let mut parts = parts_of_path(folder);
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part.to_owned()),
        }
    }
    parts.join("/")
}

/// JSON without the comments and final commas that such settings may have.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '"' {
            let mut is_escaped = true;
            let end = rest.char_indices().find(|(_, c)| {
                let is_end = *c == '"' && !is_escaped;
                is_escaped = *c == '\\' && !is_escaped;
                is_end
            });
            let end = end.map_or(rest.len(), |(at, _)| at + 1);
            plain.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else {
            if matches!(c, '}' | ']') {
                let kept = plain.trim_end().trim_end_matches(',').len();
                plain.truncate(kept);
            }
            plain.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_comments_are_read() {
        let text = "{ // one\n \"a\\\"//\": [1, 2,], /* two */ \"b\": {\"c\": \"/*\",},\n}";
        let value: Value = serde_json::from_str(&without_comments(text)).unwrap();
        assert_eq!(value, serde_json::json!({ "a\"//": [1, 2], "b": { "c": "/*" } }));
        for broken in ["\"", "/*", "//", "\"\\", "{,}", "é\"é"] {
            without_comments(broken);
        }
    }

    #[test]
    fn aliases_match_with_and_without_a_star() {
        assert_eq!(matched("@app/*", "@app/a/b"), Some("a/b"));
        assert_eq!(matched("@app", "@app"), Some(""));
        assert_eq!(matched("@app", "@app/a"), None);
        assert_eq!(matched("*", "./a"), None);
        assert_eq!(resolved("packages/a", "../b/./src/*"), "packages/b/src/*");
    }
}
