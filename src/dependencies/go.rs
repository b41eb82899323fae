//! Go modules: `go.mod`, and the module cache.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::manifests::text_of;
use super::{Dependency, NOT_HERE, folder_in, is_component};
use crate::config::Environment;
use crate::platform::paths::PATH_SEPARATOR;

pub(super) fn list(file: &Path, environment: &Environment) -> Vec<Dependency> {
    let (Some(text), Some(cache)) = (text_of(file), cache(environment)) else { return Vec::new() };
    let lines = directives(&text);
    let replaced: HashMap<&str, Replacement> = lines.iter().filter_map(|line| replacement(line)).collect();
    let of_line = |line: &Directive| {
        let mut words = line.words.split_whitespace();
        let (path, version) = (words.next()?, words.next()?);
        let (path, version) = match replaced.get(path) {
            // A folder of the user.
            Some(Replacement::Folder) => return None,
            Some(Replacement::Module(path, version)) => (*path, *version),
            None => (path, version),
        };
        Some(Dependency {
            ecosystem: "go",
            name: path.to_owned(),
            version: version.to_owned(),
            is_direct: !line.is_indirect,
            sources: folder_of(&cache, path, version).ok_or(NOT_HERE),
        })
    };
    lines.iter().filter(|line| line.verb == "require").filter_map(of_line).collect()
}

/// `$GOMODCACHE`, or `pkg/mod` in the first folder of `$GOPATH` or in `~/go`.
fn cache(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let path = || {
        let first = environment.get("GOPATH").and_then(|paths| paths.split(PATH_SEPARATOR).next().map(PathBuf::from));
        first.or_else(|| environment.home().map(|home| home.join("go"))).map(|path| path.join("pkg/mod"))
    };
    absolute("GOMODCACHE").or_else(path)
}

/// One line of a block, or a directive on its own line.
struct Directive<'t> {
    verb: &'t str,
    words: &'t str,
    is_indirect: bool,
}

fn directives(text: &str) -> Vec<Directive<'_>> {
    let mut block = None;
    let mut directives = Vec::new();
    for line in text.lines() {
        let (line, comment) = line.split_once("//").unwrap_or((line, ""));
        let is_indirect = comment.trim().starts_with("indirect");
        let line = line.trim();
        match (block, line.split_once(char::is_whitespace)) {
            (Some(_), _) if line == ")" => block = None,
            (Some(verb), _) => directives.push(Directive { verb, words: line, is_indirect }),
            (None, Some((verb, rest))) if rest.trim() == "(" => block = Some(verb),
            (None, Some((verb, words))) => directives.push(Directive { verb, words, is_indirect }),
            (None, None) => {}
        }
    }
    directives
}

enum Replacement<'t> {
    Folder,
    Module(&'t str, &'t str),
}

/// `old [version] => new [version]`
fn replacement<'t>(line: &Directive<'t>) -> Option<(&'t str, Replacement<'t>)> {
    let (old, new) = line.words.split_once("=>").filter(|_| line.verb == "replace")?;
    let mut new = new.split_whitespace();
    let target = match (new.next()?, new.next()) {
        (path, Some(version)) => Replacement::Module(path, version),
        _ => Replacement::Folder,
    };
    Some((old.split_whitespace().next()?, target))
}

/// In the cache, an uppercase letter is `!` and the lowercase one, because some file systems have only one of them.
fn folder_of(cache: &Path, path: &str, version: &str) -> Option<PathBuf> {
    if !path.split('/').all(is_component) || !is_component(version) {
        return None;
    }
    let mut name = String::new();
    for character in format!("{path}@{version}").chars() {
        if character.is_ascii_uppercase() {
            name.push('!');
        }
        name.push(character.to_ascii_lowercase());
    }
    folder_in(cache, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_go_mod_names_modules_in_blocks_and_lines_with_replacements() {
        let home = tempfile::tempdir().unwrap();
        let cache = home.path().join("go/pkg/mod");
        for module in ["example.com/a@v1.0.0", "github.com/!burnt!sushi/toml@v1.3.0", "example.com/new@v3.0.0"] {
            std::fs::create_dir_all(cache.join(module)).unwrap();
        }
        let file = home.path().join("go.mod");
        std::fs::write(
            &file,
            "module example.com/own\n\ngo 1.22\n\nrequire example.com/a v1.0.0\nrequire (\n\
             \tgithub.com/BurntSushi/toml v1.3.0 // indirect\n\texample.com/old v1.0.0\n\texample.com/mine v0.0.0\n\
             \texample.com/../../x v1.0.0\n)\nreplace (\n\texample.com/old => example.com/new v3.0.0\n\
             \texample.com/mine => ../mine\n)\n",
        )
        .unwrap();
        let environment = Environment::new([], home.path().to_owned(), home.path().to_owned());
        let found: Vec<_> = list(&file, &environment)
            .into_iter()
            .map(|one| (one.name, one.version, one.is_direct, one.sources.is_ok()))
            .collect();
        let row =
            |name: &str, version: &str, is_direct, is_here| (name.to_owned(), version.to_owned(), is_direct, is_here);
        assert_eq!(
            found,
            [
                row("example.com/a", "v1.0.0", true, true),
                row("github.com/BurntSushi/toml", "v1.3.0", false, true),
                row("example.com/new", "v3.0.0", true, true),
                row("example.com/../../x", "v1.0.0", true, false),
            ]
        );
    }
}
