//! Default exports: what a script's module gives to importers that choose the name themselves.
//!
//! Owns how a file states its default export. `resolve` owns everything that is passed on by name.

use std::collections::HashSet;

use super::families::Spelling;
use super::opened::{is_wildcard, local};
use super::resolution::{DEEPEST, Declarations, NameQuery, Resolver};
use crate::error::Result;
use crate::store::{Import, Reference};

/// Ways to begin a default export, longest first.
const STARTS: &[&str] = &["export default ", "module.exports = ", "module.exports=", "export = "];
/// Words between the start and the name.
const WORDS: &[&str] = &["async ", "abstract ", "class ", "function* ", "function*", "function "];

impl Resolver<'_> {
    /// What an import of a default export gives: the definition that the module exports by default, whatever it is called there.
    pub(super) fn by_default(
        &mut self,
        asked: &NameQuery,
        import: &Import,
        seen: &mut HashSet<(String, String)>,
    ) -> Result<Declarations> {
        if asked.file.family.spelling != Spelling::Script || !self.takes_default(asked, import)? {
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
    fn takes_default(&mut self, asked: &NameQuery, import: &Import) -> Result<bool> {
        let Some(name) = import.name.as_deref() else { return Ok(import.alias.is_some()) };
        if name == "default" {
            return Ok(true);
        }
        if name == "*" || import.alias.is_some() {
            return Ok(false);
        }
        let text = self.library.text(&asked.file.path)?;
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
        let text = self.library.text(path)?;
        let named = text.backwards(1, u32::MAX).find_map(default_name);
        if let Some(name) = named {
            let all = self.candidates(&NameQuery { name: &name, ..deeper })?;
            let here = all.into_iter().filter(|d| d.definition.path == path && d.definition.container.is_none());
            let here: Declarations = here.collect();
            if !here.is_empty() {
                return Ok(here);
            }
            for import in self.bound(&file, &name) {
                let found = self.through(&NameQuery { name: &name, ..deeper }, &import, &name, seen)?;
                if !found.is_empty() {
                    return Ok(found);
                }
                let found = self.by_default(&deeper, &import, seen)?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
            return Ok(Vec::new());
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
}

/// The name that a line exports by default.
fn default_name(line: &str) -> Option<String> {
    let line = line.trim_start();
    let mut rest = STARTS.iter().find_map(|start| line.strip_prefix(start))?.trim_start();
    while let Some(further) = WORDS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = further.trim_start();
    }
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect();
    let is_name = name.starts_with(|c: char| !c.is_ascii_digit())
        && !matches!(name.as_str(), "extends" | "new" | "await" | "class" | "function" | "require");
    // `a.b` and `a(b)` are expressions.
    (is_name
        && !rest[name.len()..].starts_with(['.'])
        && (line.contains("function") || !rest[name.len()..].starts_with('(')))
    .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::default_name;

    #[test]
    fn the_name_of_a_default_export_is_read() {
        for (line, name) in [
            ("export default class Cart extends Base {", Some("Cart")),
            ("export default async function load() {", Some("load")),
            ("export default function (a) {", None),
            ("export default Cart;", Some("Cart")),
            ("export default class extends Base {", None),
            ("export default connect(Cart);", None),
            ("module.exports = Cart;", Some("Cart")),
            ("module.exports = { a };", None),
            ("export default { a };", None),
            ("export const a = 1;", None),
        ] {
            assert_eq!(default_name(line).as_deref(), name, "{line}");
        }
    }
}
