//! Resolution of references: the definitions that a reference can refer to, and by which rule.
//!
//! Owns the order of the rules. What a SCIP file states comes first, then certain rules (the type around, the file, its
//! imports, its package); then all definitions of that name. A name that is imported from outside the repository has no
//! definition here.

use std::collections::HashSet;
use std::rc::Rc;

use super::families::{Scope, Spelling};
use super::kinds;
use super::modules::{self, Module};
use super::objects;
use super::opened::{ParsedFile, is_wildcard, local};
use super::ranked::shared;
use super::receiver::{Receiver, receiver};
use super::resolution::{
    DEEPEST, Declarations, NameQuery, OUTSIDE, Offer, Offered, Resolution, ResolutionRule, Resolver, Typed, package_of,
};
use crate::error::Result;
use crate::query::qualified_name::qualified;
use crate::store::{DefinitionNode, Import, Reference};

impl<'s> Resolver<'s> {
    /// The targets of a reference; `None` if it refers to nothing in this repository.
    pub fn resolve(&mut self, used: &Reference) -> Result<Option<Resolution>> {
        if let Some(stated) = self.stated(used)? {
            return Ok(Some(stated));
        }
        let Some(file) = self.library.open(&used.path)? else { return Ok(None) };
        let found = self.resolve_in(&file, used)?;
        Ok(if file.language == "go" { found.map(|found| found.with_variants(&used.path)) } else { found })
    }

    fn resolve_in(&mut self, file: &Rc<ParsedFile>, used: &Reference) -> Result<Option<Resolution>> {
        let asked = NameQuery { file, line: used.line, name: &used.name, kind: &used.kind, depth: 0 };
        if used.kind == "import" {
            return self.imported(&asked);
        }
        let before = self.library.before(&used.path, used.line, used.column)?;
        // `self::$count` of PHP.
        let before = before.strip_suffix('$').filter(|before| before.ends_with("::")).unwrap_or(&before);
        self.resolve_asked(&asked, &receiver(before, file.family))
    }

    pub(super) fn resolve_asked(&mut self, asked: &NameQuery, receiver: &Receiver) -> Result<Option<Resolution>> {
        if asked.depth > DEEPEST {
            return Ok(None);
        }
        match receiver {
            Receiver::Bare => self.bare(asked),
            Receiver::Itself | Receiver::Above => {
                let above = *receiver == Receiver::Above;
                let (found, closed) = self.of_types_around(asked, above)?;
                if !found.is_empty() {
                    return Ok(Self::one(ResolutionRule::Container, found));
                }
                let found = self.of_object(asked)?;
                if !found.is_empty() {
                    return Ok(Self::one(ResolutionRule::File, found));
                }
                if closed && let Some(outside) = Self::elsewhere(asked) {
                    return Ok(Some(outside));
                }
                if let Some(found) = self.of_stated_this(asked)? {
                    return Ok(Some(found));
                }
                if self.is_assigned(asked)? {
                    return Ok(None);
                }
                // A subtype may define what the type itself lacks, so the only definition of that name is a guess.
                let mut found = self.loosely(asked, true)?;
                if let Some(found) = found.as_mut().filter(|_| closed) {
                    found.how = ResolutionRule::Ambiguous;
                }
                Ok(found)
            }
            Receiver::Path(path) => self.below(asked, path),
            Receiver::Fields(names) => self.of_fields(asked, names),
            Receiver::Module(module) => self.of_loaded_module(asked, module),
            Receiver::Expression => self.loosely(asked, true),
        }
    }

    /// A name without a receiver.
    pub(super) fn bare(&mut self, asked: &NameQuery) -> Result<Option<Resolution>> {
        let NameQuery { file, .. } = *asked;
        let family = file.family;
        let bound = self.bound_for(asked, asked.name)?;
        let mut found = Vec::new();
        for import in &bound {
            let name = import.name.as_deref().filter(|name| *name != "default").unwrap_or(asked.name);
            let name = name.rsplit(['.', ':', '\\']).next().unwrap_or(name).to_owned();
            let passed = self.through(asked, import, &name, &mut HashSet::new())?;
            let is_passed = !passed.is_empty();
            found.extend(passed);
            if !is_passed {
                found.extend(self.by_default(asked, import, &mut HashSet::new())?);
                found.extend(self.imported_module(asked, import)?);
            }
        }
        if !found.is_empty() {
            return Ok(Self::one(ResolutionRule::Import, found));
        }
        if family.implicit_self {
            if self.is_local(asked)? {
                return Ok(None);
            }
            let (mut found, _) = self.of_types_around(asked, false)?;
            if found.is_empty() {
                found = self.type_around_named(asked)?;
            }
            if !found.is_empty() {
                return Ok(Self::one(ResolutionRule::Container, found));
            }
        }
        let all = self.candidates(asked)?;
        let found = self.in_scope(asked, &all)?;
        if !found.is_empty() {
            return Ok(Self::one(ResolutionRule::File, self.with_bodies(file, found, &all)?));
        }
        if !bound.is_empty() {
            return Ok(Some(OUTSIDE));
        }
        let found = self.namespaces_around(asked)?;
        if !found.is_empty() {
            return Ok(Self::one(ResolutionRule::Package, found));
        }
        let found = Self::variants_by_wildcards(asked, &all);
        if !found.is_empty() {
            return Ok(Self::one(ResolutionRule::Import, found));
        }
        let outer: Declarations =
            all.iter().filter(|d| d.definition.path != file.path && !kinds::is_member(d)).cloned().collect();
        let found = self.by_wildcards(asked, &outer)?;
        if !found.is_empty() {
            return Ok(Self::one(ResolutionRule::Import, found));
        }
        let found = self.in_package(asked, &outer)?;
        if !found.is_empty() {
            return Ok(Self::one(ResolutionRule::Package, found));
        }
        let script = family.spelling == Spelling::Script && file.imports.is_empty();
        let wide = family.scope == Scope::Program && (family.spelling != Spelling::Script || script);
        let is_macro = |d: &Rc<DefinitionNode>| d.definition.kind == "macro";
        if wide || outer.iter().any(is_macro) {
            return self.loosely(asked, false);
        }
        Ok(None)
    }

    /// Definitions of the file that a bare name at that line can see: those of the innermost scope around it.
    fn in_scope(&mut self, asked: &NameQuery, all: &[Rc<DefinitionNode>]) -> Result<Declarations> {
        let here: Vec<&Rc<DefinitionNode>> = all.iter().filter(|d| d.definition.path == asked.file.path).collect();
        if here.is_empty() {
            return Ok(Vec::new());
        }
        let around = self.library.around(asked.file, asked.line)?;
        let mut scopes: Vec<String> = Vec::new();
        for (depth, outer) in around.iter().enumerate() {
            // What is in a type is seen from its own body, not from its methods.
            if depth == 0 || !kinds::is_type(&outer.definition.kind) {
                scopes.push(qualified(&outer.definition));
            }
        }
        let depth = |d: &DefinitionNode| match kinds::seen_in(&d.definition) {
            None => Some(usize::MAX),
            Some(container) => scopes.iter().position(|scope| scope == container),
        };
        let innermost = here.iter().filter_map(|d| depth(d)).min();
        let found = here.into_iter().filter(|d| depth(d) == innermost && innermost.is_some()).cloned().collect();
        self.in_blocks(asked, found)
    }

    fn by_wildcards(&mut self, asked: &NameQuery, outer: &[Rc<DefinitionNode>]) -> Result<Declarations> {
        let file = asked.file;
        if outer.is_empty() {
            return Ok(Vec::new());
        }
        if file.family.spelling == Spelling::File {
            let included = self.library.included(file)?;
            let here: Declarations = outer.iter().filter(|d| included.contains(&d.definition.path)).cloned().collect();
            if !here.is_empty() {
                let here = self.nearest_scope(asked, here)?;
                return self.with_bodies(file, here, outer);
            }
        }
        let mut found = Vec::new();
        let wildcards: Vec<Import> =
            file.imports.iter().filter(|import| is_wildcard(file.family, import)).cloned().collect();
        for import in wildcards {
            found.extend(self.through(asked, &import, asked.name, &mut HashSet::new())?);
        }
        Ok(found)
    }

    fn in_package(&self, asked: &NameQuery, outer: &[Rc<DefinitionNode>]) -> Result<Declarations> {
        let file = asked.file;
        let mut found: Declarations = Vec::new();
        if file.family.scope == Scope::Folder {
            let own = package_of(&file.path);
            found.extend(outer.iter().filter(|d| package_of(&d.definition.path) == own).cloned());
        }
        if found.is_empty() && file.family.scope != Scope::File {
            // The same namespace, or one around it.
            let around = self.library.around(file, asked.line)?;
            let spaces: Vec<String> = around
                .iter()
                .filter(|d| kinds::is_namespace(&d.definition.kind))
                .map(|d| qualified(&d.definition))
                .collect();
            let inside = |d: &DefinitionNode| kinds::is_seen_in(&d.definition, &spaces);
            found.extend(outer.iter().filter(|d| inside(d)).cloned());
        }
        Ok(found)
    }

    /// A name after `a.b.`.
    fn below(&mut self, asked: &NameQuery, path: &[String]) -> Result<Option<Resolution>> {
        let file = asked.file;
        if let Some(found) = self.of_type_named(asked, path)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.of_address(asked, path)? {
            return Ok(Self::one(ResolutionRule::Package, found));
        }
        if let Some(found) = self.below_scopes(asked, path)? {
            return Ok(Some(found));
        }
        let bound = self.bound_root(asked, &path[0])?;
        if bound.is_empty() && file.family.spelling == Spelling::Script {
            if objects::is_exports(path) {
                return Ok(Self::one(ResolutionRule::File, self.of_module(asked)?));
            }
            if self.is_this(asked, &path[0])? {
                let fields = &path[1..];
                let receiver = if fields.is_empty() { Receiver::Itself } else { Receiver::Fields(fields.to_vec()) };
                return self.resolve_asked(asked, &receiver);
            }
        }
        let mut types: Declarations = Vec::new();
        let mut outside = !bound.is_empty();
        for import in &bound {
            let modules = self.library.modules(file, &import.target, import.line)?;
            for module in modules {
                let own = import.name.as_deref().filter(|name| *name != "*").map(modules::parts);
                let module = module.child(&own.unwrap_or_default());
                let found = self.offered(asked, &module.child(&path[1..]))?;
                if !found.is_empty() {
                    return Ok(Self::one(ResolutionRule::Import, found));
                }
                outside &= self.library.files_of(file, &module)?.is_empty();
            }
            let name = import.name.clone().unwrap_or_else(|| path[0].clone());
            let of_type = NameQuery { name: &name, kind: "type", file, line: asked.line, depth: asked.depth + 1 };
            types.extend(self.through(&of_type, import, &name, &mut HashSet::new())?);
        }
        let mut how = ResolutionRule::Import;
        if bound.is_empty() {
            let (found, external) = self.by_module_path(asked, path)?;
            if !found.is_empty() {
                let here = found.iter().all(|d| d.definition.path == file.path);
                return Ok(Self::one(if here { ResolutionRule::File } else { ResolutionRule::Import }, found));
            }
            outside = external;
            let of_type = NameQuery { name: &path[0], kind: "type", file, line: asked.line, depth: asked.depth + 1 };
            if let Some(found) = self.bare(&of_type)?.filter(|found| found.how != ResolutionRule::Ambiguous) {
                how = found.how;
                types = found.targets;
            }
        }
        let mut is_reached = path.len() == 1;
        if let Some(found) = self.of_type_in_module(asked, path, &bound)? {
            (types, how, is_reached) = (found, ResolutionRule::Import, true);
        }
        outside &= types.is_empty();
        types.retain(|d| kinds::contains(&d.definition.kind));
        if !types.is_empty() && !is_reached && matches!(file.language.as_str(), "java" | "kotlin" | "csharp") {
            match self.through_fields(asked, Typed::Known(types.clone(), how), &path[1..])? {
                Typed::Known(found, by) => (types, how, is_reached) = (found, by, true),
                Typed::Outside => return Ok(Some(OUTSIDE)),
                Typed::Unknown => {}
            }
        }
        if types.is_empty() && (path.len() == 1 || bound.is_empty()) {
            let mut declared = self.declared_type(asked, &path[0])?;
            if matches!(declared, Typed::Unknown) && file.family.implicit_self {
                declared = self.type_of_bare_field(asked, &path[0])?;
            }
            if matches!(declared, Typed::Unknown) {
                declared = self.type_of_value(asked, &path[0])?;
            }
            is_reached = true;
            // In the arguments of a macro of Rust nothing says which variable it is.
            let is_guess = file.language == "rust" && self.root_at.is_none();
            match self.through_fields(asked, declared, &path[1..])? {
                Typed::Known(found, by) => (types, how) = (found, by),
                Typed::Outside if !is_guess => return Ok(Some(OUTSIDE)),
                Typed::Outside => {}
                Typed::Unknown => {}
            }
            let around = self.types_around(asked)?;
            let is_around = around.iter().flatten().any(|outer| types.iter().any(|of| of.id == outer.id));
            if is_around && path.len() == 1 {
                how = ResolutionRule::Container;
            }
        }
        if !types.is_empty() && is_reached {
            let (found, closed) = self.members(asked, &types)?;
            if !found.is_empty() {
                return Ok(Self::one(how, found));
            }
            if closed {
                // A module may have the first part of another one's name.
                let found = self.of_qualified_module(asked, path, &bound)?;
                return Ok(Self::one(ResolutionRule::Package, found).or_else(|| Self::elsewhere(asked)));
            }
        }
        if outside {
            let found = self.of_qualified_module(asked, path, &bound)?;
            return Ok(Self::one(ResolutionRule::Package, found).or(Some(OUTSIDE)));
        }
        // Types of Java's own packages need no import.
        let is_type_name = path[0].starts_with(char::is_uppercase) && path[0].contains(char::is_lowercase);
        if file.language == "java" && is_type_name && self.is_absent(&file.path, &path[0])? {
            return Ok(Some(OUTSIDE));
        }
        let mut found = self.of_qualified_module(asked, path, &bound)?;
        if found.is_empty() {
            found = self.of_dotted_module(asked, path)?;
        }
        if found.is_empty() {
            found = self.of_package(asked, path)?;
        }
        if found.is_empty() {
            found = self.of_file_module(asked, path)?;
        }
        if !found.is_empty() {
            return Ok(Self::one(ResolutionRule::Package, found));
        }
        let all = self.candidates(asked)?;
        let inside =
            |d: &DefinitionNode| modules::parts(d.definition.container.as_deref().unwrap_or_default()).ends_with(path);
        let found: Declarations = all.iter().filter(|d| inside(d)).cloned().collect();
        if !found.is_empty() {
            let here = found.iter().all(|d| d.definition.path == file.path);
            return Ok(if here { Self::one(ResolutionRule::File, found) } else { self.ranked(file, found, false) });
        }
        let found = self.loosely(asked, true)?;
        // A namespace that a macro opens is not known.
        let is_hidden = file.family.headers && path[0] != "std" && self.library.named(&path[0])?.is_empty();
        if found.is_none() && is_hidden { self.loosely(asked, false) } else { Ok(found) }
    }

    /// A path that begins with a module of the language's own: `crate::a`, `a.b` after `import a.b`. And whether that
    /// is known to be outside.
    pub(super) fn by_module_path(&mut self, asked: &NameQuery, path: &[String]) -> Result<(Declarations, bool)> {
        let file = asked.file;
        let written = match file.family.spelling {
            Spelling::Rust => path.join("::"),
            Spelling::Dotted => {
                let whole = path.join(".");
                let below =
                    |i: &&Import| i.name.is_none() && i.alias.is_none() && modules::is_below(&i.target, &path[0]);
                if !file.imports.iter().any(|import| below(&import)) {
                    return Ok((Vec::new(), false));
                }
                whole
            }
            _ => return Ok((Vec::new(), false)),
        };
        let modules = self.library.modules(file, &written, asked.line)?;
        let mut known = false;
        for module in &modules {
            let found = self.offered(asked, module)?;
            if !found.is_empty() {
                return Ok((found, false));
            }
            known |= !self.library.files_of(file, module)?.is_empty();
        }
        let outside = if file.family.spelling == Spelling::Rust { modules.is_empty() } else { !known };
        Ok((Vec::new(), outside))
    }

    /// The imports of a file that give a name.
    pub(super) fn bound(&self, file: &ParsedFile, name: &str) -> Vec<Import> {
        file.imports.iter().filter(|import| local(file.family, import) == Some(name)).cloned().collect()
    }

    /// Returns the definitions that an import gives under `wanted`, followed through files that pass it on.
    pub(super) fn through(
        &mut self,
        asked: &NameQuery,
        import: &Import,
        wanted: &str,
        seen: &mut HashSet<(String, String)>,
    ) -> Result<Declarations> {
        for module in self.library.modules(asked.file, &import.target, import.line)? {
            let asked = NameQuery { name: wanted, ..*asked };
            let found = self.passed_on(&asked, &module, seen)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    pub(super) fn offered(&mut self, asked: &NameQuery, module: &Module) -> Result<Declarations> {
        self.passed_on(asked, module, &mut HashSet::new())
    }

    /// Definitions of a module itself, else of those that its files import from.
    fn passed_on(
        &mut self,
        asked: &NameQuery,
        module: &Module,
        seen: &mut HashSet<(String, String)>,
    ) -> Result<Declarations> {
        let mut nearest: Vec<(usize, Rc<DefinitionNode>)> = Vec::new();
        for (far, declared) in self.offered_itself(asked, module)?.iter() {
            let path = &declared.definition.path;
            if self.library.may_root(asked.file, module, path)? {
                nearest.push((far.saturating_sub(shared(&asked.file.path, path)), Rc::clone(declared)));
            }
        }
        if let Some(least) = nearest.iter().map(|(far, _)| *far).min() {
            return Ok(nearest.into_iter().filter(|(far, _)| *far == least).map(|(_, declared)| declared).collect());
        }
        if asked.depth >= DEEPEST {
            return Ok(Vec::new());
        }
        for path in self.library.files_of(asked.file, module)?.iter() {
            let key = (path.clone(), asked.name.to_owned(), asked.kind.to_owned());
            if let Some(known) = self.exports.get(&key) {
                if known.is_empty() {
                    continue;
                }
                return Ok(known.clone());
            }
            let first = seen.is_empty();
            let found = self.exported(asked, path, seen)?;
            // On the way through a cycle, nothing found does not mean that there is nothing.
            if first || !found.is_empty() {
                self.exports.insert(key, found.clone());
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Definitions of the name that a module offers itself.
    fn offered_itself(&mut self, asked: &NameQuery, module: &Module) -> Result<Offered> {
        let key = Offer {
            module: module.clone(),
            language: asked.file.language.clone(),
            name: asked.name.to_owned(),
            kind: asked.kind.to_owned(),
            is_value: self.means_value(asked)?,
        };
        if let Some(known) = self.offers.get(&key) {
            return Ok(Rc::clone(known));
        }
        let family = asked.file.family;
        let (names, with_extension) = (module.names(family), module.has_extension(family));
        let mut offered = Vec::new();
        for declared in self.candidates(asked)? {
            let home = self.home(family, &declared, with_extension);
            offered.extend(module.offers(family, &names, &home).map(|far| (far, declared)));
        }
        let offered = Offered::from(offered);
        self.offers.insert(key, Rc::clone(&offered));
        Ok(offered)
    }

    /// Returns the definitions that a file passes on under a name: by an import of that name, else by imports of
    /// everything.
    fn exported(
        &mut self,
        asked: &NameQuery,
        path: &str,
        seen: &mut HashSet<(String, String)>,
    ) -> Result<Declarations> {
        let Some(file) = self.library.open(path)? else { return Ok(Vec::new()) };
        if !seen.insert((path.to_owned(), asked.name.to_owned())) {
            return Ok(Vec::new());
        }
        let deeper = NameQuery { file: &file, depth: asked.depth + 1, ..*asked };
        let found = self.renamed(&deeper, path, seen)?;
        if !found.is_empty() {
            return Ok(found);
        }
        let by_name = self.bound(&file, asked.name);
        let wildcards = file.imports.iter().filter(|import| is_wildcard(file.family, import)).cloned();
        for import in by_name.into_iter().chain(wildcards) {
            let name = import.name.clone().filter(|name| name != "*" && name != "default");
            let name = name.unwrap_or_else(|| asked.name.to_owned());
            let found = self.through(&deeper, &import, &name, seen)?;
            if !found.is_empty() {
                return Ok(found);
            }
            if !is_wildcard(file.family, &import) {
                let found = self.by_default(&deeper, &import, seen)?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        Ok(Vec::new())
    }

    /// All definitions of that name.
    pub(super) fn loosely(&mut self, asked: &NameQuery, members: bool) -> Result<Option<Resolution>> {
        let mut all = self.candidates(asked)?;
        all.retain(|d| {
            let of_file = d.definition.path == asked.file.path;
            kinds::is_member(d) == members && (of_file || !kinds::is_private_to_file(d))
        });
        let is_common = members && asked.file.family.has_common_member(asked.name);
        Ok(self.ranked(asked.file, all, is_common))
    }

    /// Definitions of the name that the language sees and that can be used like this.
    pub(super) fn candidates(&mut self, asked: &NameQuery) -> Result<Declarations> {
        let all = self.library.named(asked.name)?;
        let language = asked.file.language.as_str();
        let mut fitting: Vec<(u8, Rc<DefinitionNode>)> = all
            .iter()
            .filter(|d| asked.file.family.sees(language, &d.definition.language))
            .filter_map(|d| Some((kinds::fit(asked.kind, &d.definition.kind)?, Rc::clone(d))))
            .collect();
        if self.means_value(asked)? {
            fitting.retain(|(_, d)| !matches!(d.definition.kind.as_str(), "interface" | "type"));
        }
        fitting.sort_by_key(|(fit, _)| *fit);
        Ok(fitting.into_iter().map(|(_, declared)| declared).collect())
    }
}
