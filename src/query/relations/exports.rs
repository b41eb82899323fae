//! Default exports: the definition that a script's module gives to importers, which choose the name themselves.
//!
//! Owns how a file states its default export. `resolve` owns everything that is passed on by name.

use std::collections::HashSet;
use std::rc::Rc;

use super::families::Spelling;
use super::opened::{ParsedFile, is_wildcard, local};
use super::resolution::{DEEPEST, Declarations, NameQuery, OUTSIDE, Resolution, ResolutionRule, Resolver};
use crate::error::Result;
use crate::extract::CodeWords;
use crate::store::{Import, Reference};

/// The name of a default export.
pub(super) const DEFAULT: &str = "default";

impl Resolver<'_> {
    /// Returns the definition that an import of a default export gives, whatever its module calls it.
    pub(super) fn by_default(
        &mut self,
        asked: &NameQuery,
        import: &Import,
        seen: &mut HashSet<(String, String)>,
    ) -> Result<Declarations> {
        if asked.file.family.spelling != Spelling::Script || !self.takes_default(asked.file, import)? {
            return Ok(Vec::new());
        }
        for module in self.library.modules(asked.file, &import.target, import.line)? {
            for path in self.library.files_of(asked.file, &module)?.iter() {
                let found = self.default_of(asked, path, seen)?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Resolves a name of a module that is loaded where it is used: `require("./a").name`.
    pub(super) fn of_loaded_module(&mut self, asked: &NameQuery, written: &str) -> Result<Option<Resolution>> {
        let (target, name) = (written.to_owned(), Some(asked.name.to_owned()));
        let import = Import { target, name, alias: None, line: asked.line };
        let found = self.through(asked, &import, asked.name, &mut HashSet::new())?;
        if found.is_empty() {
            for module in self.library.modules(asked.file, written, asked.line)? {
                if !self.library.files_of(asked.file, &module)?.is_empty() {
                    return Ok(None);
                }
            }
        }
        Ok(Self::one(ResolutionRule::Import, found).or(Some(OUTSIDE)))
    }

    /// Whether the import that gives a name is from a module of this repository.
    pub(super) fn imports_from_here(&mut self, used: &Reference) -> Result<bool> {
        let Some(file) = self.library.open(&used.path)? else { return Ok(false) };
        if file.family.spelling != Spelling::Script {
            return Ok(false);
        }
        let name = Some(used.name.as_str());
        let named = file.imports.iter().filter(|import| match used.kind == "import" {
            true => import.name.as_deref() == name,
            false => local(file.family, import) == name,
        });
        // An import's own name is that of the nearest.
        let Some(import) = named.min_by_key(|import| import.line.abs_diff(used.line)).cloned() else {
            return Ok(false);
        };
        for module in self.library.modules(&file, &import.target, import.line)? {
            if module.anchor.is_some() && !self.library.files_of(&file, &module)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an import takes the default export: `import a from`, `{ default as a }`, `a = require()`.
    pub(super) fn takes_default(&mut self, file: &ParsedFile, import: &Import) -> Result<bool> {
        if file.family.spelling != Spelling::Script {
            return Ok(false);
        }
        let Some(name) = import.name.as_deref() else { return Ok(import.alias.is_some()) };
        if name == "default" {
            return Ok(true);
        }
        if name == "*" || import.alias.is_some() {
            return Ok(false);
        }
        let text = self.library.text(&file.path)?;
        let line = text.line(import.line).trim_start();
        let rest = line.strip_prefix("import ").map(|rest| rest.strip_prefix("type ").unwrap_or(rest).trim_start());
        Ok(rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with([' ', ','])))
    }

    /// The definition that a file exports by default, followed through files that pass it on.
    fn default_of(
        &mut self,
        asked: &NameQuery,
        path: &str,
        seen: &mut HashSet<(String, String)>,
    ) -> Result<Declarations> {
        let Some(file) = self.library.open(path)? else { return Ok(Vec::new()) };
        if asked.depth >= DEEPEST || !seen.insert((path.to_owned(), "default".to_owned())) {
            return Ok(Vec::new());
        }
        let deeper = NameQuery { file: &file, depth: asked.depth + 1, ..*asked };
        for local in self.locals_of(path, DEFAULT)? {
            let found = self.called(&deeper, &local, seen)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let passed: Vec<Import> = file
            .imports
            .iter()
            .filter(|import| {
                let is_named = import.alias.as_deref() == Some("default")
                    || (import.name.as_deref() == Some("default") && import.alias.is_none());
                is_named && !is_wildcard(file.family, import)
            })
            .cloned()
            .collect();
        for import in passed {
            let name = import.name.clone().unwrap_or_default();
            let found = match name.as_str() {
                "default" => self.by_default(&deeper, &import, seen)?,
                name => self.through(&NameQuery { name, ..deeper }, &import, name, seen)?,
            };
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Resolves an export under a name that the file does not define: `export { a as b }`.
    pub(super) fn renamed(
        &mut self,
        asked: &NameQuery,
        path: &str,
        seen: &mut HashSet<(String, String)>,
    ) -> Result<Declarations> {
        if asked.file.family.spelling != Spelling::Script || asked.depth >= DEEPEST {
            return Ok(Vec::new());
        }
        for local in self.locals_of(path, asked.name)? {
            if local != asked.name {
                let found = self.called(asked, &local, seen)?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Returns the file's own names for what it exports under a name.
    fn locals_of(&mut self, path: &str, name: &str) -> Result<Vec<String>> {
        let words = self.library.words(path)?;
        let exports = words.iter().flat_map(CodeWords::exports);
        let own = exports.filter(|export| &*export.name == name && !export.is_passed_on);
        Ok(own.map(|export| export.local.to_string()).collect())
    }

    /// Resolves a name within a file: to its own definition, or to an import.
    fn called(&mut self, asked: &NameQuery, name: &str, seen: &mut HashSet<(String, String)>) -> Result<Declarations> {
        let file = Rc::clone(asked.file);
        let all = self.candidates(&NameQuery { name, ..*asked })?;
        let here: Declarations =
            all.into_iter().filter(|d| d.definition.path == file.path && d.definition.container.is_none()).collect();
        if !here.is_empty() {
            return Ok(here);
        }
        for import in self.bound(&file, name) {
            let wanted = import.name.clone().filter(|name| name != DEFAULT).unwrap_or_else(|| name.to_owned());
            let found = self.through(&NameQuery { name: &wanted, ..*asked }, &import, &wanted, seen)?;
            if !found.is_empty() {
                return Ok(found);
            }
            let found = self.by_default(asked, &import, seen)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }
}
