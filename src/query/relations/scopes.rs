//! Scopes of C and C++: names below namespaces and types, through the types that a `typedef` names, and the bodies of prototypes.
//!
//! Owns which namespaces a path begins in, and which of their members a file sees. `resolve` asks before it looks for members.

use std::rc::Rc;

use super::opened::ParsedFile;
use super::resolution::{DEEPEST, Declarations, NameQuery, Resolution, ResolutionRule, Resolver, Typed};
use super::{kinds, modules};
use crate::error::Result;
use crate::query::qualified_name::qualified;
use crate::store::DefinitionNode;

impl Resolver<'_> {
    /// A name of C++ after a path of namespaces, or of types below namespaces and other types: `store::Table::Row`. `None` if a part
    /// of the path is not known, or if the path is a class, whose members may be inherited.
    pub(super) fn below_scopes(&mut self, asked: &NameQuery, path: &[String]) -> Result<Option<Resolution>> {
        if asked.file.language != "cpp" || asked.depth > DEEPEST {
            return Ok(None);
        }
        let part = |name| NameQuery { name, kind: "type", depth: asked.depth + 1, ..*asked };
        let mut scopes = self.namespaces_named(asked, &path[0])?;
        if scopes.is_empty() {
            let found = self.bare(&part(&path[0]))?.filter(|found| found.how.is_proof());
            scopes = found.map(|found| found.targets).unwrap_or_default();
            if path.len() == 1 && scopes.iter().all(|scope| scope.definition.kind != "type") {
                return Ok(None);
            }
        }
        for name in &path[1..] {
            scopes = self.within(&part(name), &scopes)?;
        }
        let scopes = self.without_aliases(scopes, asked.depth)?;
        let is_of_type = scopes.iter().any(|scope| kinds::is_type(&scope.definition.kind));
        let found = if is_of_type { self.members(asked, &scopes)?.0 } else { self.within(asked, &scopes)? };
        Ok(Self::one(ResolutionRule::Import, found))
    }

    /// The class of C++ around a line that has the asked name: in its own body, the name of a class means that class.
    pub(super) fn type_around_named(&mut self, asked: &NameQuery) -> Result<Declarations> {
        if asked.file.language != "cpp" {
            return Ok(Vec::new());
        }
        let around = self.types_around(asked)?;
        let is_named = |types: &Declarations| types.iter().any(|of| of.definition.name == asked.name);
        Ok(around.into_iter().find(is_named).unwrap_or_default())
    }

    /// Keeps the definitions that are visible from the scopes around the line, if there are any.
    pub(super) fn nearest_scope(&mut self, asked: &NameQuery, found: Declarations) -> Result<Declarations> {
        if asked.file.language != "cpp" || found.len() < 2 {
            return Ok(found);
        }
        let scopes = self.scopes_around(asked)?;
        let seen: Declarations = found.iter().filter(|d| is_visible(d, &scopes)).cloned().collect();
        Ok(if seen.is_empty() { found } else { seen })
    }

    fn scopes_around(&mut self, asked: &NameQuery) -> Result<Vec<String>> {
        let around = self.library.around(asked.file, asked.line)?;
        let named = around.iter().map(|outer| qualified(&outer.definition));
        Ok(named.chain(around.iter().filter_map(|outer| outer.definition.container.clone())).collect())
    }

    /// The namespaces of a name that are visible from a line.
    fn namespaces_named(&mut self, asked: &NameQuery, name: &str) -> Result<Declarations> {
        let scopes = self.scopes_around(asked)?;
        let mut named = self.library.named(name)?.to_vec();
        named.retain(|d| {
            d.definition.language == "cpp" && kinds::is_namespace(&d.definition.kind) && is_visible(d, &scopes)
        });
        Ok(named)
    }

    /// The definitions of a name in some scopes that the file declares or includes, with the bodies of what is only declared there.
    fn within(&mut self, asked: &NameQuery, scopes: &[Rc<DefinitionNode>]) -> Result<Declarations> {
        let names: Vec<String> = scopes.iter().map(|scope| qualified(&scope.definition)).collect();
        let mut all = self.candidates(asked)?;
        all.retain(|d| kinds::is_seen_in(&d.definition, &names));
        let included = self.library.included(asked.file)?;
        let is_read = |path: &String| *path == asked.file.path || included.contains(path);
        let read = all.iter().filter(|d| is_read(&d.definition.path)).cloned().collect();
        self.with_bodies(asked.file, read, &all)
    }

    /// The types that some types stand for.
    fn without_aliases(&mut self, scopes: Declarations, depth: usize) -> Result<Declarations> {
        let mut found = Vec::new();
        for scope in scopes {
            match self.aliased(&scope, depth + 1)? {
                Typed::Known(types, _) => found.extend(types),
                _ => found.push(scope),
            }
        }
        Ok(found)
    }

    /// With a prototype comes its body: in the source next to the header, else the only one there is. Bodies first.
    pub(super) fn with_bodies(
        &self,
        file: &ParsedFile,
        mut found: Declarations,
        all: &[Rc<DefinitionNode>],
    ) -> Result<Declarations> {
        if !file.family.headers || found.iter().any(|d| kinds::has_body(d)) {
            return Ok(found);
        }
        let bodies: Vec<&Rc<DefinitionNode>> =
            all.iter().filter(|d| kinds::has_body(d) && !kinds::is_private_to_file(d)).collect();
        let same_file = |d: &DefinitionNode| {
            found.iter().any(|f| modules::stem(&f.definition.path) == modules::stem(&d.definition.path))
        };
        let near: Declarations = bodies.iter().filter(|d| same_file(d)).map(|d| Rc::clone(d)).collect();
        let chosen = match (near.is_empty(), bodies.as_slice()) {
            (false, _) => near,
            (true, [only]) => vec![Rc::clone(only)],
            _ => Vec::new(),
        };
        found.splice(0..0, chosen);
        Ok(found)
    }
}

/// Whether a definition has no container, or one of the scopes as its container.
fn is_visible(definition: &DefinitionNode, scopes: &[String]) -> bool {
    kinds::seen_in(&definition.definition).is_none() || kinds::is_seen_in(&definition.definition, scopes)
}
