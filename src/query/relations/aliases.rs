//! The other names of a definition: those that imports and exports give it.
//!
//! Owns where such a name is seen. Does not own what a name refers to there (`resolve`).

use std::collections::{HashMap, HashSet};

use super::declarations;
use super::exports;
use super::families::{Family, Spelling};
use super::modules;
use super::opened::local;
use super::resolution::{NameQuery, ResolutionRule, Resolver};
use super::{STATED, kinds, means};
use crate::error::Result;
use crate::extract::ScriptExport;
use crate::store::{DefinitionNode, Import, Reference};

/// Another name of a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    pub name: String,
    /// The only file that uses it; `None` if others may import it.
    pub only_in: Option<String>,
}

/// Lines between the name of an import and its module.
const IMPORT_LINES: u32 = 50;

/// Names that one definition may have.
pub(crate) const MAX_NAMES: usize = 64;

/// Where a definition is known under other names.
pub(super) struct UnderOtherNames {
    pub names: Vec<Alias>,
    /// Each with the rule by which it is known.
    pub references: Vec<(Reference, ResolutionRule)>,
}

impl Resolver<'_> {
    /// The languages whose files may name what a language defines.
    pub fn languages_of<'l>(&self, language: &'l str) -> Vec<&'l str> {
        let family = Family::for_language(language);
        if family.languages.contains(&language) { family.languages.to_vec() } else { vec![language] }
    }

    /// The references to a name that the index has.
    pub fn references_to(&mut self, alias: &Alias) -> Result<Vec<Reference>> {
        let snapshot = self.library.snapshot;
        let Some(only) = &alias.only_in else { return Ok(snapshot.references(&alias.name, 0, usize::MAX)?.0) };
        match self.library.open(only)? {
            Some(file) => snapshot.references_in_file(file.id, &alias.name),
            None => Ok(Vec::new()),
        }
    }

    /// Where a name is defined, and whether as a constructor of C++, which has the name of its type.
    pub fn positions_of(&mut self, name: &str) -> Result<HashMap<(String, u32, u32), bool>> {
        let named = self.library.named(name)?;
        Ok(named
            .iter()
            .map(|node| (declarations::at(&node.definition), kinds::is_constructor(&node.definition)))
            .collect())
    }

    /// The other names under which a file gives what it calls by a name.
    pub fn aliases_exported(&mut self, path: &str, called: &str) -> Result<Vec<Alias>> {
        let words = self.library.words(path)?;
        let Some(words) = &*words else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for export in words.exports().iter().filter(|export| &*export.local == called && &*export.name != called) {
            if &*export.name == exports::DEFAULT {
                found.extend(self.names_of_default(path)?);
            } else {
                found.push(Alias { name: export.name.to_string(), only_in: None });
            }
        }
        if called == exports::DEFAULT {
            found.extend(self.names_of_default(path)?);
        }
        Ok(found)
    }

    /// The names that importers give to the default export of a file.
    fn names_of_default(&mut self, path: &str) -> Result<Vec<Alias>> {
        let Some(file) = self.library.open(path)? else { return Ok(Vec::new()) };
        let mut importers: HashSet<String> = HashSet::new();
        for (target, _) in modules::spellings(file.family, path) {
            for (importer, _) in self.library.snapshot.importers_of(&target, STATED)? {
                importers.insert(importer);
            }
        }
        let mut found = Vec::new();
        for path in importers {
            let Some(importer) = self.library.open(&path)? else { continue };
            for import in importer.imports.clone() {
                if !self.takes_default(&importer, &import)? {
                    continue;
                }
                let mut is_of_file = false;
                for module in self.library.modules(&importer, &import.target, import.line)? {
                    is_of_file |= self.library.files_of(&importer, &module)?.contains(&file.path);
                }
                if !is_of_file {
                    continue;
                }
                let name = import.alias.clone().or_else(|| import.name.clone()).unwrap_or_default();
                if name == exports::DEFAULT {
                    found.extend(self.names_of_default_passed_on(&path)?);
                } else {
                    found.push(self.alias_in(&path, &name)?);
                }
            }
        }
        Ok(found)
    }

    /// Returns the names that importers give the default export of a file that takes it from another one.
    fn names_of_default_passed_on(&mut self, path: &str) -> Result<Vec<Alias>> {
        let Some(file) = self.library.open(path)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (target, _) in modules::spellings(file.family, path) {
            for (importer, import) in self.library.snapshot.importers_of(&target, STATED)? {
                let Some(opened) = self.library.open(&importer)? else { continue };
                if self.takes_default(&opened, &import)? {
                    let name = import.alias.clone().or_else(|| import.name.clone()).unwrap_or_default();
                    if name != exports::DEFAULT {
                        found.push(self.alias_in(&importer, &name)?);
                    }
                }
            }
        }
        Ok(found)
    }

    /// The other names that a reference gives to its definition: by the import that it is in, or by exports of the
    /// file.
    pub fn aliases_at(&mut self, used: &Reference) -> Result<Vec<Alias>> {
        let Some(file) = self.library.open(&used.path)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        if used.kind == "import" {
            let is_it = |import: &&Import| {
                import.line.abs_diff(used.line) < IMPORT_LINES
                    && import.name.as_deref().is_some_and(|name| name.ends_with(&used.name))
            };
            let nearest = file.imports.iter().filter(is_it).min_by_key(|import| import.line.abs_diff(used.line));
            let alias = nearest.and_then(|import| import.alias.clone());
            if let Some(alias) = alias.filter(|alias| *alias != used.name && alias != exports::DEFAULT) {
                found.push(self.alias_in(&used.path, &alias)?);
            }
        }
        if file.family.spelling == Spelling::Script && self.gives(&file.path, &used.name)? {
            found.extend(self.aliases_exported(&used.path, &used.name)?);
        }
        Ok(found)
    }

    /// Whether an import gives a name where it is.
    pub fn is_given_at(&mut self, used: &Reference) -> Result<bool> {
        let Some(file) = self.library.open(&used.path)? else { return Ok(false) };
        let is_it = |import: &Import| {
            import.alias.as_deref() == Some(used.name.as_str())
                && (used.line..used.line + IMPORT_LINES).contains(&import.line)
        };
        Ok(used.kind == "use" && file.imports.iter().any(is_it))
    }

    /// Whether a file has a name by an import.
    pub fn imports(&mut self, path: &str, name: &str) -> Result<bool> {
        let Some(file) = self.library.open(path)? else { return Ok(false) };
        Ok(file.imports.iter().any(|import| local(file.family, import) == Some(name)))
    }

    /// Whether the variable that a block binds at a line holds the imported name, and is not another variable of that name.
    pub(super) fn gives_at(&mut self, path: &str, import: &Import, line: u32) -> Result<bool> {
        if import.line.abs_diff(line) > IMPORT_LINES {
            return Ok(false);
        }
        let text = self.library.text(path)?;
        let is_list = |line: u32| !text.line(line).contains([';', '(']);
        // The names are after their module only in `import(module).then((names) => …)`.
        let is_then = |line: u32| text.line(line).contains("then(");
        Ok(match import.line >= line {
            true => (line..import.line).all(is_list),
            false => (import.line..=line).any(is_then) && (import.line + 1..line).all(is_list),
        })
    }

    /// The imports that bind the first name of a path, without those that a variable of a block hides.
    pub(super) fn bound_root(&mut self, asked: &NameQuery, name: &str) -> Result<Vec<Import>> {
        let found = self.bound_for(asked, name)?;
        // Deeper queries are for types, not for the variable.
        let Some((line, _)) = self.root_at.filter(|_| asked.depth == 0) else { return Ok(found) };
        let mut given = Vec::new();
        for import in found {
            if self.gives_at(&asked.file.path, &import, line)? {
                given.push(import);
            }
        }
        Ok(given)
    }

    /// The imports that bind a name at a line: in Rust those of the innermost function or module around it.
    pub(super) fn bound_for(&mut self, asked: &NameQuery, name: &str) -> Result<Vec<Import>> {
        let all = self.bound(asked.file, name);
        if asked.file.family.spelling != Spelling::Rust || all.is_empty() {
            return Ok(all);
        }
        let mut innermost = 0;
        let mut seen = Vec::new();
        for import in all {
            let around = self.library.around(asked.file, import.line)?;
            let scope =
                around.iter().find(|of| matches!(of.definition.kind.as_str(), "function" | "method" | "module"));
            let (start, end) = scope.map_or((0, u32::MAX), |of| (of.definition.start_line, of.definition.end_line));
            if (start..=end).contains(&asked.line) {
                innermost = innermost.max(start);
                seen.push((start, import));
            }
        }
        Ok(seen.into_iter().filter(|(start, _)| *start == innermost).map(|(_, import)| import).collect())
    }

    /// Whether a file has a name by an import, or passes it on.
    fn gives(&mut self, path: &str, name: &str) -> Result<bool> {
        let Some(file) = self.library.open(path)? else { return Ok(false) };
        let is_passed_on = file.imports.iter().any(|import| import.name.as_deref() == Some(name));
        Ok(is_passed_on || self.imports(path, name)?)
    }

    /// A name that a file gives to something that it imports.
    fn alias_in(&mut self, path: &str, name: &str) -> Result<Alias> {
        let Some(file) = self.library.open(path)? else {
            return Ok(Alias { name: name.to_owned(), only_in: Some(path.to_owned()) });
        };
        let is_seen = match file.family.spelling {
            // What a module of Python imports is its own.
            Spelling::Dotted => true,
            Spelling::Rust => {
                let text = self.library.text(path)?;
                let imports = file.imports.iter().filter(|import| import.alias.as_deref() == Some(name));
                imports.into_iter().any(|import| text.line(import.line).trim_start().starts_with("pub"))
            }
            Spelling::Script => {
                let words = self.library.words(path)?;
                let is_it = |export: &ScriptExport| &*export.name == name;
                (*words).as_ref().is_some_and(|words| words.exports().iter().any(is_it))
            }
            Spelling::Go | Spelling::File | Spelling::Names => false,
        };
        Ok(Alias { name: name.to_owned(), only_in: (!is_seen).then(|| path.to_owned()) })
    }

    /// The other names of a definition and the references to it under them. `imports` are those of its own name.
    pub(super) fn references_under_other_names(
        &mut self,
        subject: &DefinitionNode,
        imports: &[Reference],
    ) -> Result<UnderOtherNames> {
        let definition = &subject.definition;
        let mut names = self.aliases_exported(&definition.path, &definition.name)?;
        for import in imports {
            names.extend(self.aliases_at(import)?);
        }
        let mut known: HashSet<Alias> = HashSet::new();
        names.retain(|alias| known.insert(alias.clone()));
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(alias) = names.get(at).cloned() {
            at += 1;
            for used in self.references_to(&alias)? {
                let Some(resolution) = self.resolve(&used)?.filter(|resolution| means(resolution, subject)) else {
                    continue;
                };
                if !resolution.how.is_proof() {
                    continue;
                }
                if names.len() < MAX_NAMES {
                    let further = self.aliases_at(&used)?;
                    names.extend(further.into_iter().filter(|alias| known.insert(alias.clone())));
                }
                found.push((used, resolution.how));
            }
        }
        Ok(UnderOtherNames { names, references: found })
    }
}
