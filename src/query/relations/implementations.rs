//! Implementations: what SCIP files state to implement a definition, and the members that override one another.
//!
//! Owns how a member of a type is connected with those of its bases and subtypes. `types` owns what types inherit from.

use std::collections::HashMap;
use std::rc::Rc;

use super::families::Spelling;
use super::resolution::{DEEPEST, Declarations};
use super::{Groups, Related, ResolutionRule, Resolver, kinds, means, related};
use crate::error::Result;
use crate::query::scip;
use crate::store::{DefinitionNode, SymbolId};

/// Members of one name that are examined.
const EXAMINED: usize = 300;

/// The groups `implements` and `implemented by`, in addition to what types state themselves.
pub(super) fn implementations(resolver: &mut Resolver, subject: &DefinitionNode, groups: &mut Groups) -> Result<()> {
    for (relation, known, is_above) in [("implements", "inherits", true), ("implemented by", "inherited by", false)] {
        for found in stated(resolver, subject, is_above)? {
            let item = related(&found, ResolutionRule::Scip);
            if !groups.replace(known, &item) && !groups.replace(relation, &item) {
                groups.add(relation, item);
            }
        }
    }
    if !kinds::is_overridable(subject) {
        return Ok(());
    }
    for item in overridden(resolver, subject)? {
        groups.add_new("implements", item);
    }
    for item in overriding(resolver, subject)? {
        groups.add_new("implemented by", item);
    }
    Ok(())
}

/// The definitions that a SCIP file states to implement another one, or to be implemented by it.
pub(super) fn stated(resolver: &mut Resolver, subject: &DefinitionNode, is_above: bool) -> Result<Declarations> {
    if !resolver.has_scip()? {
        return Ok(Vec::new());
    }
    let definition = &subject.definition;
    let snapshot = resolver.library.snapshot;
    let Some(found) = scip::subject(snapshot, &definition.path, definition.line, definition.column)? else {
        return Ok(Vec::new());
    };
    let places = scip::implementations(snapshot, &found, is_above)?;
    let mut nodes = resolver.defined_at(&places)?;
    nodes.retain(|node| node.id != subject.id);
    Ok(nodes)
}

/// Why the implementers of an interface are not known: its language does not have types name it, and no SCIP file describes
/// it.
pub(super) fn unstated(resolver: &mut Resolver, subject: &DefinitionNode) -> Result<Option<&'static str>> {
    let definition = &subject.definition;
    let reason = super::families::Family::for_language(&definition.language).unstated_implementers;
    let Some(reason) = reason.filter(|_| definition.kind == "interface") else { return Ok(None) };
    let snapshot = resolver.library.snapshot;
    let is_described = resolver.has_scip()?
        && scip::subject(snapshot, &definition.path, definition.line, definition.column)?.is_some();
    Ok((!is_described).then_some(reason))
}

/// The members that override a member, in types that inherit from its type.
pub(super) fn overriding(resolver: &mut Resolver, member: &DefinitionNode) -> Result<Vec<Related>> {
    let Some(of) = type_of(resolver, member)? else { return Ok(Vec::new()) };
    if super::families::Family::for_language(&member.definition.language).spelling == Spelling::Rust {
        let found = implementing(resolver, member)?;
        return Ok(found.iter().map(|(other, how)| related(other, *how)).collect());
    }
    let mut found = Vec::new();
    for other in namesakes(resolver, member)? {
        let Some(heir) = type_of(resolver, &other)?.filter(|heir| heir.id != of.id) else { continue };
        if let Some(how) = bases_of(resolver, &heir)?.get(&of.id) {
            found.push(related(&other, *how));
        }
    }
    Ok(found)
}

/// The members that a member overrides, in the types that its type inherits from.
fn overridden(resolver: &mut Resolver, member: &DefinitionNode) -> Result<Vec<Related>> {
    let Some(of) = type_of(resolver, member)? else { return Ok(Vec::new()) };
    let bases = bases_of(resolver, &of)?;
    let mut found = Vec::new();
    for other in namesakes(resolver, member)? {
        if let Some(how) = other.parent.and_then(|parent| bases.get(&parent)) {
            found.push(related(&other, *how));
        }
    }
    Ok(found)
}

/// The methods of Rust's `impl Trait for` blocks that implement one of a trait, with the rule by which the trait is known.
pub(super) fn implementing(
    resolver: &mut Resolver,
    member: &DefinitionNode,
) -> Result<Vec<(Rc<DefinitionNode>, ResolutionRule)>> {
    let Some(of) = type_of(resolver, member)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for other in namesakes(resolver, member)? {
        let Some(block) = resolver.trait_of(&other)?.filter(|block| block.name == of.definition.name) else { continue };
        let Some(line) = block.line else { continue };
        let target = resolver.base(&other.definition.path, line, &block.name, 0)?;
        found.extend(target.filter(|target| means(target, &of)).map(|target| (Rc::clone(&other), target.how)));
    }
    Ok(found)
}

/// Members of that name in other types.
fn namesakes(resolver: &mut Resolver, member: &DefinitionNode) -> Result<Declarations> {
    let all = resolver.library.named(&member.definition.name)?;
    let is_one = |other: &&Rc<DefinitionNode>| {
        other.id != member.id && other.definition.language == member.definition.language && kinds::is_overridable(other)
    };
    Ok(all.iter().filter(is_one).take(EXAMINED).cloned().collect())
}

/// Members of that name in the types that its type inherits from, and in those that inherit from its type.
pub(super) fn of_family(resolver: &mut Resolver, member: &DefinitionNode) -> Result<Declarations> {
    let Some(of) = type_of(resolver, member)? else { return Ok(Vec::new()) };
    let above = bases_of(resolver, &of)?;
    let all = resolver.library.named(&member.definition.name)?;
    let mut found = Vec::new();
    for other in all.iter().filter(|other| other.id != member.id && kinds::is_member(other)).take(EXAMINED) {
        let Some(heir) = type_of(resolver, other)? else { continue };
        if above.contains_key(&heir.id) || bases_of(resolver, &heir)?.contains_key(&of.id) {
            found.push(Rc::clone(other));
        }
    }
    Ok(found)
}

/// Methods that a virtual method of C++ overrides, and those that override it: a call may run any of them.
pub(super) fn of_virtual(resolver: &mut Resolver, member: &DefinitionNode) -> Result<Declarations> {
    let definition = &member.definition;
    if definition.language != "cpp" || !kinds::is_overridable(member) || kinds::is_constructor(definition) {
        return Ok(Vec::new());
    }
    let Some(file) = resolver.library.open(&definition.path)? else { return Ok(Vec::new()) };
    let Some(of) = resolver.owner(&file, member)?.filter(|of| kinds::is_type(&of.definition.kind)) else {
        return Ok(Vec::new());
    };
    let named = namesakes(resolver, member)?;
    let above = bases_of(resolver, &of)?;
    let (mut found, mut is_virtual) = (Vec::new(), says_virtual(member));
    for other in &named {
        let is_base = other.parent.is_some_and(|parent| above.contains_key(&parent));
        let is_own = other.parent == Some(of.id);
        is_virtual |= is_own && says_virtual(other);
        if is_base && says_virtual(other) {
            found.push(Rc::clone(other));
            is_virtual = true;
        }
    }
    for other in named.iter().filter(|_| is_virtual) {
        let Some(heir) = type_of(resolver, other)?.filter(|heir| heir.id != of.id) else { continue };
        if bases_of(resolver, &heir)?.contains_key(&of.id) {
            found.push(Rc::clone(other));
        }
    }
    Ok(found)
}

fn says_virtual(member: &DefinitionNode) -> bool {
    let signature = member.definition.signature.as_deref().unwrap_or_default();
    signature.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "virtual" | "override" | "final"))
}

/// The type that a member is in.
fn type_of(resolver: &mut Resolver, member: &DefinitionNode) -> Result<Option<Rc<DefinitionNode>>> {
    let Some(parent) = member.parent else { return Ok(None) };
    let Some(file) = resolver.library.open(&member.definition.path)? else { return Ok(None) };
    let symbols = resolver.library.symbols(&file)?;
    let parent = symbols.iter().find(|symbol| symbol.id == parent);
    Ok(parent.filter(|parent| kinds::is_type(&parent.definition.kind)).map(Rc::clone))
}

/// All that a type inherits from, with the least certain rule on the way.
fn bases_of(resolver: &mut Resolver, of: &DefinitionNode) -> Result<HashMap<SymbolId, ResolutionRule>> {
    let mut bases: HashMap<SymbolId, ResolutionRule> = HashMap::new();
    let mut level: Vec<(Rc<DefinitionNode>, ResolutionRule)> = vec![(Rc::new(of.clone()), ResolutionRule::Scip)];
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for (heir, so_far) in level {
            for (_, found) in resolver.heritage(&heir, 0)?.iter() {
                let Some(found) = found else { continue };
                let how = found.how.max(so_far);
                for base in &found.targets {
                    if base.id != of.id && !bases.contains_key(&base.id) {
                        bases.insert(base.id, how);
                        next.push((Rc::clone(base), how));
                    }
                }
            }
        }
        level = next;
    }
    Ok(bases)
}
