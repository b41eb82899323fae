//! The declarations of one definition: prototypes and bodies, overloads, members that stand for one another.
//!
//! Owns which definitions of a name are one. Does not own the names that imports give (`aliases`).

use std::collections::HashSet;
use std::rc::Rc;

use super::families::{Family, Spelling};
use super::resolution::Resolver;
use super::{implementations, kinds};
use crate::error::Result;
use crate::store::{Definition, DefinitionNode};

pub(super) fn at(one: &Definition) -> (String, u32, u32) {
    (one.path.clone(), one.line, one.column)
}

/// Whether two definitions of C are one type: a structure, its `typedef` of that name, and declarations without its fields.
fn is_same_type(one: &Definition, other: &Definition) -> bool {
    let signature = |of: &Definition| of.signature.clone().unwrap_or_default();
    let is_of_tag = |of: &Definition| {
        let words = signature(of);
        let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        of.kind == "type"
            && words.any(|word| matches!(word, "struct" | "union" | "enum"))
            && words.next() == Some(&of.name)
    };
    let is_short = |of: &Definition| signature(of).ends_with(';');
    let is_header = |of: &Definition| !of.path.ends_with(".c");
    let is_near = one.path == other.path || is_header(one) || is_header(other);
    let is_one = (is_of_tag(one) && is_of_tag(other))
        || (is_of_tag(one) && other.kind != "type")
        || (is_of_tag(other) && one.kind != "type")
        || (one.kind == other.kind && one.kind != "type" && (is_short(one) || is_short(other)));
    is_near && is_one && one.container == other.container && kinds::is_type(&other.kind)
}

/// Whether two definitions of C are one variable: in one file, or if one of them declares what another file defines.
fn is_same_variable(one: &Definition, other: &Definition) -> bool {
    let is_declared =
        |of: &Definition| of.signature.as_deref().is_some_and(|text| text.split(' ').any(|word| word == "extern"));
    let is_one = one.path == other.path || is_declared(one) || is_declared(other);
    is_one && one.kind == other.kind && one.container == other.container && is_static(one) == is_static(other)
}

fn is_static(of: &Definition) -> bool {
    of.signature.as_deref().is_some_and(|text| text.starts_with("static "))
}

impl Resolver<'_> {
    /// The positions of definitions, with those of their other declarations: prototypes in headers, signatures of overloads.
    pub fn declarations_of(&mut self, definitions: &[Definition]) -> Result<Vec<(String, u32, u32)>> {
        let mut positions: Vec<(String, u32, u32)> = definitions.iter().map(at).collect();
        let Some(first) = definitions.first() else { return Ok(positions) };
        let family = Family::for_language(&first.language);
        // A member of a script's type stands for those that replace it, too.
        if family.spelling == Spelling::Script {
            let named = self.library.named(&first.name)?;
            let mut own = named.to_vec();
            own.retain(|node| kinds::is_member(node) && positions.contains(&at(&node.definition)));
            let mut next = 0;
            while let Some(node) = own.get(next).cloned() {
                next += 1;
                let family = implementations::of_family(self, &node)?;
                own.extend(family.into_iter().filter(|other| !positions.contains(&at(&other.definition))));
                positions.extend(own[next..].iter().map(|other| at(&other.definition)));
            }
        }
        if family.spelling == Spelling::Rust {
            let named = self.library.named(&first.name)?;
            for node in named.iter().filter(|node| at(&node.definition) == at(first)) {
                let others = self.of_trait(node)?;
                positions.extend(others.iter().map(|other| at(&other.definition)));
            }
            return Ok(positions);
        }
        let is_same = match first.kind.as_str() {
            "variable" => Some(is_same_variable as fn(&Definition, &Definition) -> bool),
            kind if kinds::is_type(kind) => Some(is_same_type as fn(&Definition, &Definition) -> bool),
            _ => None,
        };
        if let Some(is_same) = is_same.filter(|_| family.headers) {
            let named = self.library.named(&first.name)?;
            let others = named.iter().map(|node| &node.definition).filter(|other| is_same(first, other));
            positions.extend(others.map(at).filter(|other| *other != at(first)));
            return Ok(positions);
        }
        if !is_function(first) || !(family.headers || family.spelling == Spelling::Script) {
            return Ok(positions);
        }
        let named = self.library.named(&first.name)?;
        let own: Vec<Rc<DefinitionNode>> =
            named.iter().filter(|node| positions.contains(&at(&node.definition))).cloned().collect();
        positions.extend(declarations_of_function(&own, first, &named));
        for node in own.iter().filter(|_| family.headers) {
            for other in implementations::of_virtual(self, node)? {
                positions.extend(declarations_of_function(std::slice::from_ref(&other), &other.definition, &named));
            }
        }
        let mut seen = HashSet::new();
        positions.retain(|position| seen.insert(position.clone()));
        Ok(positions)
    }
}

fn is_function(one: &Definition) -> bool {
    matches!(one.kind.as_str(), "function" | "method" | "constructor")
}

/// All declarations and definitions of a function: those in `named` that belong to the known ones in `own`.
fn declarations_of_function(
    own: &[Rc<DefinitionNode>],
    first: &Definition,
    named: &[Rc<DefinitionNode>],
) -> Vec<(String, u32, u32)> {
    let family = Family::for_language(&first.language);
    let is_private = own.iter().any(|node| kinds::is_private_to_file(node));
    let has_body = own.iter().any(|node| kinds::has_body(node));
    let is_one = |node: &&Rc<DefinitionNode>| {
        let other = &node.definition;
        let is_same_file = other.path == first.path;
        // A source may be included by others, and its functions declared in a header.
        let is_private = is_private && !is_static(other);
        // If both have a body, they are two functions.
        let is_declaration = family.headers && !is_private && !(has_body && kinds::has_body(node) && !is_same_file);
        is_function(other)
            && other.container == first.container
            && family.sees(&first.language, &other.language)
            && (is_same_file || (is_declaration && (is_static(first) || !kinds::is_private_to_file(node))))
    };
    named.iter().filter(is_one).map(|node| at(&node.definition)).collect()
}
