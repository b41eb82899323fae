//! Names as callers write them: alone, with what is around them, or as answers print them.
//!
//! Owns how a written name is read, and which definitions a reading fits. Does not own where definitions are looked up.

use std::collections::HashMap;

use crate::error::Result;
use crate::extract::languages;
use crate::query::qualified_name::terraform_addresses;
use crate::store::{Definition, Snapshot};

/// Between a name and what is around it, or before it: `a.b`, `a::b`, `a#b`, `a\b`, `a/b`, `a$b`, `@a`.
const SEPARATORS: &[char] = &['.', ':', '#', '\\', '/', '$', '@'];
/// Languages in which names of types and modules are the same in any case.
const CASELESS: &[&str] = &["cmake", "php", "powershell", "sql"];
/// Folders and files that names in code leave out, and objects that Kotlin does.
const HOLLOW: &[&str] = &["mod", "lib", "__init__", "index", "src", "Companion"];
/// Lines of a manifest in which its name is looked for.
const MANIFEST_LINES: u32 = 60;
/// Scopes of PowerShell, which may precede a name.
const POWERSHELL_SCOPES: &[&str] = &["global", "local", "private", "script", "using"];

/// One way to read a written name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading<'w> {
    /// Outermost first.
    pub around: Vec<&'w str>,
    pub name: &'w str,
    /// Whether the name is all that is written.
    is_whole: bool,
}

/// Each way to read a written name: as one name that has separators in it first, as the last word alone last. `a.b()` is `a.b`, and so
/// is `a.b/2`.
pub(super) fn readings(written: &str) -> Vec<Reading<'_>> {
    let written = written.trim();
    let plain = written.strip_suffix("()").filter(|plain| !plain.is_empty()).unwrap_or(written);
    let arity = plain.rsplit_once('/').filter(|(name, arity)| !name.is_empty() && arity.parse::<u8>().is_ok());
    let mut found = Vec::new();
    let ended = Some(plain.trim_end_matches(SEPARATORS)).filter(|ended| *ended != plain && !ended.is_empty());
    for text in std::iter::once(plain).chain(arity.map(|(name, _)| name)).chain(ended) {
        let starts = text.match_indices(SEPARATORS).map(|(at, separator)| (at + separator.len(), separator));
        for (start, separator) in std::iter::once((0, "")).chain(starts) {
            let name = text[start..].trim();
            let is_doubled = !separator.is_empty() && name.starts_with(separator);
            let is_name = name.contains(|c| !matches!(c, '.' | ':' | '#'));
            if is_name && !is_doubled {
                found.push(Reading { around: separated(&text[..start]).collect(), name, is_whole: start == 0 });
            }
        }
    }
    found
}

fn separated(text: &str) -> impl Iterator<Item = &str> {
    // `(*Store).Open` is how Go prints a method.
    let parts = text.split(SEPARATORS).map(|part| part.trim().trim_matches(['(', ')', '*']).trim());
    parts.filter(|part| !part.is_empty())
}

/// How well a definition fits a reading.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The written containers are those around it.
    Around,
    /// People may call it so: names are imported from the packages around the module that defines them.
    Loosely,
    /// Without the sign that is written before it.
    Unsigned,
}

/// How the names of types and modules are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// By the rules of the language.
    OfLanguage,
    Any,
}

/// The items that a written name stands for, of those that `look_up` has for a name.
pub(super) fn named<T>(
    snapshot: &Snapshot,
    written: &str,
    case: Case,
    definition: impl Fn(&T) -> &Definition,
    look_up: impl Fn(&str) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let mut surroundings = Surroundings::new(snapshot, case);
    let mut found: Vec<(Fit, T)> = Vec::new();
    for reading in readings(written) {
        for item in look_up(reading.name)? {
            if let Some(fit) = surroundings.fit(definition(&item), &reading)? {
                found.push((fit, item));
            }
        }
    }
    let best = found.iter().map(|(fit, _)| *fit).min();
    found.retain(|(fit, _)| Some(*fit) == best);
    // A name is not one of another language where its own has it.
    if found.iter().any(|(_, item)| is_spelling_of(written, &definition(item).language)) {
        found.retain(|(_, item)| is_spelling_of(written, &definition(item).language));
    }
    Ok(found.into_iter().map(|(_, item)| item).collect())
}

/// Whether a language joins names as they are written.
fn is_spelling_of(written: &str, language: &str) -> bool {
    let separator = languages::by_name(language).map_or(".", |language| language.separator);
    match () {
        () if written.contains("::") => separator == "::",
        () if written.contains('\\') => language == "php",
        () if written.contains('.') => separator != "::",
        () => true,
    }
}

/// The containers of definitions, by the paths of their files or by the packages that these state.
pub(super) struct Surroundings<'s> {
    snapshot: &'s Snapshot<'s>,
    case: Case,
    /// The packages and namespaces that a file states without a block, with their lines.
    stated: HashMap<String, Vec<(u32, String)>>,
    /// The names that manifests state.
    manifests: HashMap<String, Option<String>>,
}

impl<'s> Surroundings<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>, case: Case) -> Self {
        Self { snapshot, case, stated: HashMap::new(), manifests: HashMap::new() }
    }

    fn fit(&mut self, definition: &Definition, reading: &Reading) -> Result<Option<Fit>> {
        if reading.around.is_empty() {
            return Ok(Some(if reading.is_whole { Fit::Around } else { Fit::Unsigned }));
        }
        if self.is_in(definition, &reading.around)? {
            return Ok(Some(Fit::Around));
        }
        Ok(self.may_be_in(definition, &reading.around).then_some(Fit::Loosely))
    }

    /// Whether the names are around the definition in that order, and its type is among them if it has one.
    fn may_be_in(&self, definition: &Definition, names: &[&str]) -> bool {
        let around = around(definition);
        let mut rest = around.iter();
        let in_order = names.iter().all(|name| rest.any(|part| self.is_same(part, name, &definition.language)));
        in_order && (definition.container.is_none() || rest.next().is_none())
    }

    /// Whether a name is that of a part.
    fn is_same(&self, part: &str, name: &str, language: &str) -> bool {
        match language {
            // The folder of a crate may have dashes.
            "rust" if part.contains('-') => part.replace('-', "_") == name.replace('-', "_"),
            // A file of OCaml is a module whose name begins with an uppercase letter.
            "ocaml" | "ocaml_interface" => part.eq_ignore_ascii_case(name),
            _ if self.case == Case::Any || CASELESS.contains(&language) => part.eq_ignore_ascii_case(name),
            _ => part == name,
        }
    }

    /// Whether the names around a definition end with these: its container, and before that the path of its file, its
    /// package, or the name of its crate or module.
    pub(super) fn is_in(&mut self, definition: &Definition, around: &[&str]) -> Result<bool> {
        let language = definition.language.as_str();
        let container: Vec<&str> = separated(definition.container.as_deref().unwrap_or_default()).collect();
        // What `module.exports` is may have no other name.
        if self.ends(&container, around, language) {
            return Ok(true);
        }
        let names = without_prefix(around, language);
        if names.is_empty() {
            return Ok(container.is_empty());
        }
        if language == "hcl" {
            return Ok(terraform_addresses(definition).iter().any(|address| self.ends(address, names, language)));
        }
        let modules = modules(definition);
        if self.ends(&[&modules[..], &container].concat(), names, language) {
            return Ok(true);
        }
        let Some((package, folder)) = self.package(definition)? else { return Ok(false) };
        let package: Vec<&str> = separated(&package).collect();
        let below = &modules[folder.min(modules.len())..];
        let is_receiver = |outer: &str| {
            let signature = definition.signature.as_deref().unwrap_or_default();
            language == "kotlin" && signature.contains(&format!("{outer}.{}", definition.name))
        };
        // The receiver of an extension function is not around it.
        let is_extension = definition.container.as_deref().is_some_and(is_receiver);
        let container = if is_extension { Vec::new() } else { container };
        Ok(self.ends(&[&package[..], below, &container].concat(), names, language))
    }

    /// Whether parts end with these names. Parts that are not written in code may be left out.
    fn ends(&self, parts: &[&str], names: &[&str], language: &str) -> bool {
        let mut names = names.iter().rev().peekable();
        for part in parts.iter().rev() {
            match names.peek() {
                Some(name) if self.is_same(part, name, language) => {
                    names.next();
                }
                Some(_) if HOLLOW.contains(part) => {}
                Some(_) => return false,
                None => return true,
            }
        }
        names.peek().is_none()
    }

    /// Returns the package of a definition's file, and how many of the first folders of its path that stands for: the
    /// package or namespace that it states before the definition, the crate, the module of Go.
    fn package(&mut self, definition: &Definition) -> Result<Option<(String, usize)>> {
        let Definition { path, language, .. } = definition;
        match language.as_str() {
            "rust" => return self.manifest(path, "Cargo.toml", "name = "),
            "go" => return self.manifest(path, "go.mod", "module "),
            "csharp" | "haskell" | "java" | "kotlin" | "php" | "proto" | "scala" => {}
            _ => return Ok(None),
        }
        if !self.stated.contains_key(path) {
            let mut stated = self.snapshot.unsigned_between(path, 0, u32::MAX - 1)?;
            stated.retain(|one| {
                let is_space = matches!(one.kind.as_str(), "package" | "namespace" | "module");
                is_space && one.container.is_none() && one.start_line == one.end_line
            });
            let stated = stated.into_iter().map(|one| (one.line, one.name)).collect();
            self.stated.insert(path.clone(), stated);
        }
        let before = self.stated[path].iter().filter(|(line, _)| *line <= definition.line);
        let before: Vec<&str> = before.map(|(_, name)| name.as_str()).collect();
        let package = match language.as_str() {
            // Clauses that follow each other are one inside of the other.
            "scala" => (!before.is_empty()).then(|| before.join(".")),
            _ => before.last().map(|last| (*last).to_owned()),
        };
        Ok(package.map(|package| (package, usize::MAX)))
    }

    /// The name that the nearest manifest above a file states, and how many folders lead to it.
    fn manifest(&mut self, path: &str, manifest: &str, before: &str) -> Result<Option<(String, usize)>> {
        let mut folders: Vec<&str> = path.split('/').collect();
        while folders.pop().is_some() {
            let path = folders.iter().copied().chain([manifest]).collect::<Vec<_>>().join("/");
            if !self.manifests.contains_key(&path) {
                let lines = self.snapshot.lines(&path, 1, MANIFEST_LINES)?;
                let name = lines.iter().find_map(|line| line.trim().strip_prefix(before));
                let name = name.map(|name| name.trim().trim_matches('"').to_owned());
                self.manifests.insert(path.clone(), name);
            }
            if let Some(Some(name)) = self.manifests.get(&path) {
                return Ok(Some((name.clone(), folders.len())));
            }
        }
        Ok(None)
    }
}

/// Names without what only code writes before them: `crate::`, the scopes of PowerShell, `exports.` and `prototype.`.
fn without_prefix<'n>(names: &'n [&'n str], language: &str) -> &'n [&'n str] {
    match (language, names) {
        ("rust", ["crate", rest @ ..]) => rest,
        ("powershell", [scope, rest @ ..]) if POWERSHELL_SCOPES.iter().any(|one| one.eq_ignore_ascii_case(scope)) => {
            rest
        }
        ("javascript", ["module", "exports", rest @ ..] | ["exports", rest @ ..]) => rest,
        ("javascript", [rest @ .., "prototype"]) => rest,
        _ => names,
    }
}

/// Folders, modules and types around a definition, outermost first.
fn around(definition: &Definition) -> Vec<&str> {
    let container = separated(definition.container.as_deref().unwrap_or_default());
    modules(definition).into_iter().filter(|part| !HOLLOW.contains(part)).chain(container).collect()
}

/// The folders of a definition's file, and the file without its extension.
fn modules(definition: &Definition) -> Vec<&str> {
    // A package of Go is a folder, whatever its files are called.
    let ends = if definition.language == "go" { '/' } else { '.' };
    let stem = definition.path.rsplit_once(ends).map_or(definition.path.as_str(), |(stem, _)| stem);
    let stem = if definition.language == "go" && !definition.path.contains('/') { "" } else { stem };
    stem.split('/').filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_name_is_read_as_a_whole_and_by_its_parts() {
        let read = |written: &'static str| -> Vec<(String, &str)> {
            readings(written).into_iter().map(|reading| (reading.around.join(" "), reading.name)).collect()
        };
        let pair = |around: &str, name: &'static str| (around.to_owned(), name);
        assert_eq!(read("a"), [pair("", "a")]);
        assert_eq!(read("a.b()"), [pair("", "a.b"), pair("a", "b")]);
        assert_eq!(read("a::b"), [pair("", "a::b"), pair("a", "b")]);
        assert_eq!(read("#key"), [pair("", "#key"), pair("", "key")]);
        assert_eq!(read("Safe.#key"), [pair("", "Safe.#key"), pair("Safe", "#key"), pair("Safe", "key")]);
        assert_eq!(read(r"A\B"), [pair("", r"A\B"), pair("A", "B")]);
        assert_eq!(
            read("a.b/2"),
            [pair("", "a.b/2"), pair("a", "b/2"), pair("a b", "2"), pair("", "a.b"), pair("a", "b")]
        );
        assert_eq!(read("/"), [pair("", "/")]);
        assert_eq!(read(" "), []);
    }
}
