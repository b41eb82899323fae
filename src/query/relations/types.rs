//! Members: the type around a piece of code, the stated type of a variable, and the bases of types.
//!
//! Owns the rules for names that are reached through a type. `resolve` applies them.

use std::collections::HashSet;
use std::rc::Rc;

use super::families::{Family, Spelling};
use super::opened::{ParsedFile, is_wildcard};
use super::ranked::shared;
use super::receiver::receiver;
use super::resolution::{
    Bases, DEEPEST, Declarations, NameQuery, OUTSIDE, Resolution, ResolutionRule, Resolver, Typed, package_of,
};
use super::{kinds, modules};
use crate::error::Result;
use crate::query::qualified_name::qualified;
use crate::store::{Definition, DefinitionNode, Import};

/// Base types that are followed.
const BASES: usize = 32;

impl Resolver<'_> {
    /// Members of the type that the code belongs to; whether all that it inherits from is known.
    pub(super) fn of_types_around(&mut self, asked: &NameQuery, above: bool) -> Result<(Declarations, bool)> {
        let around = self.types_around(asked)?;
        // An anonymous class of Java is not indexed, and may have members of its own.
        let mut all_closed = asked.file.language == "java" && !around.is_empty() && !self.may_be_anonymous(asked)?;
        for types in around {
            let (found, closed) = if above {
                let (bases, closed) = self.bases(&types, asked.depth)?;
                let (found, further) = self.members(asked, &bases)?;
                (found, closed && further)
            } else {
                self.members(asked, &types)?
            };
            if !found.is_empty() || !asked.file.family.implicit_self {
                return Ok((found, closed));
            }
            all_closed &= closed;
            if above {
                break;
            }
        }
        Ok((Vec::new(), all_closed))
    }

    /// Whether a line of Java may be in a class without a name: in the body of `new Task() {`, or of a constant of an enum.
    fn may_be_anonymous(&mut self, asked: &NameQuery) -> Result<bool> {
        let around = self.library.around(asked.file, asked.line)?;
        let Some(of) = around.iter().find(|outer| kinds::is_type(&outer.definition.kind)) else { return Ok(true) };
        let text = self.library.text(&asked.file.path)?;
        let mut lines = text.backwards(of.definition.start_line, asked.line);
        Ok(of.definition.kind == "enum" || lines.any(|line| line.contains("new ") && line.trim_end().ends_with('{')))
    }

    /// The definition that contains another: the type or module that it is a member of, wherever that is, else the one around it.
    pub(super) fn owner(&mut self, file: &ParsedFile, of: &DefinitionNode) -> Result<Option<Rc<DefinitionNode>>> {
        let parent = match of.parent {
            Some(parent) => self.library.snapshot.declared(parent)?.map(Rc::new),
            None => None,
        };
        let Some(container) = &of.definition.container else { return Ok(parent) };
        if parent.as_ref().is_some_and(|parent| qualified(&parent.definition) == *container) {
            return Ok(parent);
        }
        let name = modules::parts(container).pop().unwrap_or_default();
        let named = self.library.named(&name)?;
        let is_owner = |d: &&Rc<DefinitionNode>| {
            let Definition { kind, language, .. } = &d.definition;
            // In scripts a function or a table may have members.
            let is_here = d.definition.path == file.path && qualified(&d.definition) == *container;
            (kinds::contains(kind) || is_here) && file.family.sees(&file.language, language) && d.id != of.id
        };
        let owners: Vec<&Rc<DefinitionNode>> = named.iter().filter(is_owner).collect();
        let near = owners.iter().filter(|owner| is_member_of(of, owner)).max_by_key(|owner| {
            let path = &owner.definition.path;
            (*path == file.path, shared(path, &file.path))
        });
        let whole: Vec<_> = owners.iter().filter(|owner| qualified(&owner.definition) == *container).collect();
        let owner = near.or(if let [only] = whole.as_slice() { Some(only) } else { None });
        Ok(owner.map(|owner| Rc::clone(owner)).or(parent))
    }

    /// The types around a line, innermost first: by their bodies, or by the container that a method names. In scripts a function or an
    /// object is one, too, if it has members, and in Java and Kotlin a constant of an enumeration.
    pub(super) fn types_around(&mut self, asked: &NameQuery) -> Result<Vec<Declarations>> {
        let mut types = Vec::new();
        for outer in self.library.around(asked.file, asked.line)? {
            let is_script = asked.file.family.spelling == Spelling::Script;
            if kinds::is_type(&outer.definition.kind) {
                types.push(vec![outer]);
                continue;
            }
            let kind = outer.definition.kind.as_str();
            // A constant of an enumeration may have a body, whose members hide those of the enumeration.
            let may_hold = match asked.file.language.as_str() {
                "java" | "kotlin" => kind == "variant",
                _ => is_script && matches!(kind, "function" | "constant" | "variable"),
            };
            if may_hold && self.has_members(asked.file, &outer)? {
                types.push(vec![Rc::clone(&outer)]);
            }
            if let Some(container) = outer.definition.container.clone() {
                let name = modules::parts(&container).pop().unwrap_or_default();
                let named = NameQuery { name: &name, kind: "type", ..*asked };
                let all = self.candidates(&named)?;
                let found: Declarations = all
                    .into_iter()
                    .filter(|d| {
                        kinds::is_type(&d.definition.kind)
                            && (qualified(&d.definition) == container || d.definition.name == name)
                    })
                    .collect();
                let here: Declarations =
                    found.iter().filter(|d| d.definition.path == asked.file.path).cloned().collect();
                let folder = package_of(&asked.file.path);
                let near: Declarations =
                    found.iter().filter(|d| package_of(&d.definition.path) == folder).cloned().collect();
                let of_name = [here, near, found].into_iter().find(|found| !found.is_empty());
                if of_name.is_none() && is_script {
                    let symbols = self.library.symbols(asked.file)?;
                    let holds = |d: &&Rc<DefinitionNode>| qualified(&d.definition) == container;
                    types.extend(symbols.iter().find(holds).map(|holder| vec![Rc::clone(holder)]));
                }
                types.extend(of_name);
            }
        }
        Ok(types)
    }

    /// Members of that name of the types, or of the nearest that they inherit from; and whether all bases are known.
    pub(super) fn members(&mut self, asked: &NameQuery, types: &[Rc<DefinitionNode>]) -> Result<(Declarations, bool)> {
        let all = self.candidates(asked)?;
        let mut level = types.to_vec();
        let mut seen: HashSet<_> = level.iter().map(|d| d.id).collect();
        let mut closed = true;
        for _ in 0..DEEPEST {
            let mut found: Declarations =
                all.iter().filter(|d| level.iter().any(|of| is_member_of(d, of))).cloned().collect();
            // A type of the same name in a file nearby has members of its own.
            let same_file = |d: &DefinitionNode| level.iter().any(|of| of.definition.path == d.definition.path);
            if asked.file.family.spelling != Spelling::File && found.iter().any(|d| same_file(d)) {
                found.retain(|d| same_file(d));
            }
            // `Table::Row` and `Log::Row` are two types, also in C++, where their members may be in any file.
            let is_whole = |d: &DefinitionNode| {
                level.iter().any(|of| {
                    d.parent == Some(of.id) || d.definition.container.as_ref() == Some(&qualified(&of.definition))
                })
            };
            if asked.file.family.spelling == Spelling::File && found.iter().any(|d| is_whole(d)) {
                found.retain(|d| is_whole(d));
            }
            if !found.is_empty() || level.is_empty() {
                return Ok((self.inherent_first(found)?, closed));
            }
            let (mut bases, known) = self.bases(&level, asked.depth)?;
            closed &= known;
            bases.retain(|base| seen.insert(base.id));
            if seen.len() > BASES {
                return Ok((Vec::new(), false));
            }
            level = bases;
        }
        Ok((Vec::new(), false))
    }

    /// The resolution of a member that a type with known bases does not define: one that the language gives to all types.
    pub(super) fn elsewhere(asked: &NameQuery) -> Option<Resolution> {
        matches!(asked.file.language.as_str(), "java" | "go" | "c").then_some(OUTSIDE)
    }

    /// A member of the type that a function of TypeScript states for `this`: `function (this: Action) {`.
    pub(super) fn of_stated_this(&mut self, asked: &NameQuery) -> Result<Option<Resolution>> {
        if !matches!(asked.file.language.as_str(), "typescript" | "tsx") {
            return Ok(None);
        }
        let Typed::Known(types, how) = self.declared_type(asked, "this")? else { return Ok(None) };
        let (found, _) = self.members(asked, &types)?;
        Ok(Self::one(how, found))
    }

    /// A name of Java after `Outer.this.`, `Base.super.` or `Type.class.`.
    pub(super) fn of_type_named(&mut self, asked: &NameQuery, path: &[String]) -> Result<Option<Resolution>> {
        let [name, word, fields @ ..] = path else { return Ok(None) };
        if asked.file.language != "java" || !matches!(word.as_str(), "this" | "super" | "class") {
            return Ok(None);
        }
        if word == "class" {
            return Ok(Some(OUTSIDE));
        }
        let typed = self.type_named(&asked.file.path, asked.line, name, asked.depth)?;
        let Typed::Known(mut types, how) = typed else { return Ok(None) };
        if word == "super" && types.iter().all(|of| of.definition.kind != "interface") {
            types = self.bases(&types, asked.depth)?.0;
        }
        Ok(match self.through_fields(asked, Typed::Known(types, how), fields)? {
            Typed::Known(types, how) => {
                let (found, closed) = self.members(asked, &types)?;
                Self::one(how, found).or(closed.then_some(OUTSIDE))
            }
            Typed::Outside => Some(OUTSIDE),
            Typed::Unknown => None,
        })
    }

    /// The type that a path of Rust ends in, by way of a module that may pass it on: before `crate::shop::Cart::`.
    pub(super) fn of_type_in_module(
        &mut self,
        asked: &NameQuery,
        path: &[String],
        bound: &[Import],
    ) -> Result<Option<Declarations>> {
        let [_, modules @ .., name] = path else { return Ok(None) };
        if asked.file.family.spelling != Spelling::Rust || !name.starts_with(char::is_uppercase) {
            return Ok(None);
        }
        let of_type = NameQuery { name, kind: "type", depth: asked.depth + 1, ..*asked };
        for import in bound {
            for module in self.library.modules(asked.file, &import.target, import.line)? {
                let own = import.name.as_deref().filter(|name| *name != "*").map(modules::parts);
                let module = module.child(&own.unwrap_or_default()).child(modules);
                let found = self.offered(&of_type, &module)?;
                if !found.is_empty() {
                    return Ok(Some(found));
                }
            }
        }
        if !bound.is_empty() {
            return Ok(None);
        }
        let (found, _) = self.by_module_path(&of_type, &path[..path.len() - 1])?;
        Ok((!found.is_empty()).then_some(found))
    }

    /// Variants that the nearest `use Enum::*` of Rust before a line brings.
    pub(super) fn variants_by_wildcards(asked: &NameQuery, all: &[Rc<DefinitionNode>]) -> Declarations {
        let file = asked.file;
        if file.family.spelling != Spelling::Rust {
            return Vec::new();
        }
        let brought = |d: &DefinitionNode| {
            let enumeration = modules::parts(d.definition.container.as_deref()?).pop()?;
            let is_one = |import: &&Import| {
                import.line <= asked.line
                    && is_wildcard(file.family, import)
                    && modules::parts(&import.target).last() == Some(&enumeration)
            };
            file.imports.iter().filter(is_one).map(|import| import.line).max()
        };
        let variants = all.iter().filter(|d| d.definition.kind == "variant");
        let lines: Vec<(u32, &Rc<DefinitionNode>)> = variants.filter_map(|d| Some((brought(d)?, d))).collect();
        let nearest = lines.iter().map(|(line, _)| *line).max();
        lines.into_iter().filter(|(line, _)| Some(*line) == nearest).map(|(_, d)| Rc::clone(d)).collect()
    }

    pub(super) fn bases(&mut self, types: &[Rc<DefinitionNode>], depth: usize) -> Result<(Declarations, bool)> {
        let mut bases = Vec::new();
        let mut closed = true;
        for of in types {
            for (base, found) in self.heritage(of, depth)?.iter() {
                closed &= match found {
                    Some(found) => found.how != ResolutionRule::Ambiguous,
                    // No member of a type from elsewhere is defined here.
                    None => self.is_absent(&of.definition.path, &base.target)?,
                };
                bases.extend(found.iter().flat_map(|found| &found.targets).cloned());
            }
        }
        bases.retain(|base| kinds::is_type(&base.definition.kind));
        Ok((bases, closed))
    }

    /// The bases that a type states, with their targets.
    pub(super) fn heritage(&mut self, of: &DefinitionNode, depth: usize) -> Result<Bases> {
        if let Some(known) = self.heritage.get(&(of.id, depth)) {
            return Ok(Rc::clone(known));
        }
        let mut stated = Vec::new();
        for base in self.library.snapshot.heritage_of(of.id)? {
            let found = match depth < DEEPEST {
                true => self.base(&of.definition.path, base.line, &base.target, depth)?,
                false => None,
            };
            let found = found.filter(|found| found.targets.iter().any(|target| target.id != of.id));
            stated.push((base, found));
        }
        let stated: Bases = stated.into();
        self.heritage.insert((of.id, depth), Rc::clone(&stated));
        Ok(stated)
    }

    /// The target of a base type named at a line.
    pub(super) fn base(&mut self, path: &str, line: u32, target: &str, depth: usize) -> Result<Option<Resolution>> {
        let Some(file) = self.library.open(path)? else { return Ok(None) };
        let name = modules::parts(target).pop().unwrap_or_default();
        let text = self.library.text(path)?;
        let text = text.line(line);
        // The subtype's own name may contain the base's: the base is the last match.
        let before = text.rfind(name.as_str()).map_or("", |at| &text[..at]);
        let receiver = receiver(before, file.family);
        self.resolve_asked(&NameQuery { file: &file, line, name: &name, kind: "inherits", depth: depth + 1 }, &receiver)
    }
}

/// Whether a definition is a constructor that bears the name of a type.
pub(super) fn is_constructor_of(constructor: &DefinitionNode, of: &DefinitionNode) -> bool {
    constructor.definition.name == of.definition.name
        && kinds::is_type(&of.definition.kind)
        && is_member_of(constructor, of)
}

/// Whether a definition is in a type: in its body, or in a container of its name nearby.
pub(super) fn is_member_of(member: &DefinitionNode, of: &DefinitionNode) -> bool {
    let Some(container) = &member.definition.container else { return false };
    if member.parent == Some(of.id) {
        return true;
    }
    let family = Family::for_language(&of.definition.language);
    let same_file = member.definition.path == of.definition.path;
    let whole = qualified(&of.definition);
    if same_file && (*container == whole || kinds::seen_in(&member.definition) == Some(whole.as_str())) {
        return true;
    }
    if !family.open_types {
        return false;
    }
    let is_type = kinds::is_type(&of.definition.kind);
    let named = *container == whole || (is_type && modules::parts(container).last() == Some(&of.definition.name));
    let near = package_of(&member.definition.path) == package_of(&of.definition.path)
        || modules::stem(&member.definition.path) == modules::stem(&of.definition.path);
    named && (same_file || near)
}
