//! Names of several parts: `Shop.Store` of Elixir, namespaces of C#, addresses of Terraform.
//!
//! Owns which definition of such a name the parts lead to. `modules` owns modules that files are.

use std::collections::HashSet;

use super::families::Spelling;
use super::ranked::shared;
use super::resolution::{Declarations, NameQuery, OUTSIDE, Resolution, ResolutionRule, Resolver};
use super::{kinds, modules};
use crate::error::Result;
use crate::extract::languages;
use crate::query::qualified_name::terraform_addresses;
use crate::store::{Definition, Import};

impl Resolver<'_> {
    /// Resolves an address of Terraform: `var.region`, `data.aws_ami.ubuntu`. `None` for a file of another language.
    pub(super) fn of_address(&mut self, asked: &NameQuery, path: &[String]) -> Result<Option<Declarations>> {
        if asked.file.language != "hcl" {
            return Ok(None);
        }
        let mut found = self.candidates(asked)?;
        found.retain(|d| {
            let is_near = modules::folder(&d.definition.path) == modules::folder(&asked.file.path);
            is_near && terraform_addresses(&d.definition).iter().any(|address| address == path)
        });
        Ok(Some(found))
    }

    /// The definitions of a name in a module, namespace or package with a qualified name. Imports of the first part complete the path;
    /// without one, the path is taken as written.
    pub(super) fn of_qualified_module(
        &mut self,
        asked: &NameQuery,
        path: &[String],
        bound: &[Import],
    ) -> Result<Declarations> {
        let family = asked.file.family;
        if family.headers || !matches!(family.spelling, Spelling::Names | Spelling::File) {
            return Ok(Vec::new());
        }
        let whole = |import: &Import| {
            let name = import.name.iter().filter(|name| *name != "*").flat_map(|name| modules::parts(name));
            modules::parts(&import.target).into_iter().chain(name).chain(path[1..].iter().cloned()).collect()
        };
        let paths: Vec<Vec<String>> = bound.iter().map(whole).chain([path.to_vec()]).collect();
        for path in paths {
            let mut found = self.of_dotted_module(asked, &path)?;
            if found.is_empty() {
                found = self.of_package(asked, &path)?;
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// The definitions of a name in a file of OCaml, which is the module that the path begins with: `Cart.Item.price`.
    pub(super) fn of_file_module(&mut self, asked: &NameQuery, path: &[String]) -> Result<Declarations> {
        if !matches!(asked.file.language.as_str(), "ocaml" | "ocaml_interface") {
            return Ok(Vec::new());
        }
        let mut found = self.candidates(asked)?;
        found.retain(|d| {
            let inside = modules::parts(d.definition.container.as_deref().unwrap_or_default());
            modules::stem(&d.definition.path).eq_ignore_ascii_case(&path[0]) && inside == path[1..]
        });
        // Of several libraries that have such a file, the one around comes first.
        let nearest = found.iter().map(|d| shared(&d.definition.path, &asked.file.path)).max();
        found.retain(|d| Some(shared(&d.definition.path, &asked.file.path)) == nearest);
        Ok(found)
    }

    /// The module whose qualified name is a path and the name after it: `Shop.Store` in Elixir.
    pub(super) fn of_dotted_module(&mut self, asked: &NameQuery, path: &[String]) -> Result<Declarations> {
        let separator = languages::by_name(&asked.file.language).map_or(".", |language| language.separator);
        let dotted = path.iter().map(String::as_str).chain([asked.name]).collect::<Vec<_>>();
        let mut found = Vec::new();
        for joint in [separator, "."] {
            let named = self.library.named(&dotted.join(joint))?;
            found.extend(
                named
                    .iter()
                    .filter(|d| {
                        let Definition { kind, language, .. } = &d.definition;
                        kinds::contains(kind) && asked.file.family.sees(&asked.file.language, language)
                    })
                    .cloned(),
            );
        }
        Ok(found)
    }

    /// Finds the definitions of a qualified name in the files of its package: `com.acme.Safe`, `Acme\Billing\Invoice`.
    pub(super) fn of_package(&mut self, asked: &NameQuery, path: &[String]) -> Result<Declarations> {
        let mut files = HashSet::new();
        for joint in [".", "\\"] {
            let named = self.library.named(&path.join(joint))?;
            let packages = named.iter().filter(|d| kinds::is_namespace(&d.definition.kind));
            files.extend(packages.map(|package| package.definition.path.clone()));
        }
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = self.candidates(asked)?;
        found.retain(|d| d.definition.container.is_none() && files.contains(&d.definition.path));
        Ok(found)
    }

    /// The module that an import is of, if a definition has its whole name: `alias Shop.Store` of Elixir.
    pub(super) fn imported_module(&mut self, asked: &NameQuery, import: &Import) -> Result<Declarations> {
        if asked.file.family.spelling != Spelling::Names {
            return Ok(Vec::new());
        }
        let mut parts = modules::parts(&import.target);
        parts.extend(import.name.clone().filter(|name| name != "*"));
        let Some(last) = parts.pop().filter(|_| !parts.is_empty()) else { return Ok(Vec::new()) };
        self.of_dotted_module(&NameQuery { name: &last, ..*asked }, &parts)
    }

    /// The target of an import's own name.
    pub(super) fn imported(&mut self, asked: &NameQuery) -> Result<Option<Resolution>> {
        let ends = |import: &&Import| import.name.as_deref().is_some_and(|name| name.ends_with(asked.name));
        let is_whole = |import: &Import| import.name.as_deref() == Some(asked.name);
        let imports = asked.file.imports.iter().filter(ends);
        let nearest = imports.min_by_key(|import| (import.line.abs_diff(asked.line), !is_whole(import))).cloned();
        let Some(import) = nearest else { return Ok(None) };
        let mut found = self.through(asked, &import, asked.name, &mut HashSet::new())?;
        if found.is_empty() {
            found = self.by_default(asked, &import, &mut HashSet::new())?;
        }
        if found.is_empty() {
            found = self.imported_module(asked, &import)?;
        }
        Ok(Some(Self::one(ResolutionRule::Import, found).unwrap_or(OUTSIDE)))
    }
}
