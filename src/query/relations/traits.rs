//! Traits of Rust: the trait that a member implements, the members that implement one of a trait, and the type that
//! `Self` stands for.
//!
//! Owns reading the heads of `impl` blocks, which are no symbols. `implementations` owns what blocks implement a trait.

use std::rc::Rc;

use super::implementations;
use super::occurrence::{ITSELF, Wanted, certain};
use super::opened::Text;
use super::receiver::Receiver;
use super::resolution::{Declarations, NameQuery, Resolution, Resolver, Typed};
use super::statements::{closing, indentation, opening};
use super::variables::is_part;
use super::{Reading, kinds, modules};
use crate::error::Result;
use crate::store::{DefinitionNode, Reference};

/// Lines that the head of an `impl` block may have.
const HEAD_LINES: u32 = 20;

/// The trait that a member belongs to.
pub(super) struct OfTrait {
    pub name: String,
    /// Where the `impl` block begins that names the trait; `None` in the trait itself.
    pub line: Option<u32>,
}

impl Resolver<'_> {
    pub(super) fn trait_named(&mut self, member: &DefinitionNode) -> Result<Option<String>> {
        Ok(self.trait_of(member)?.map(|of| of.name))
    }

    /// The trait that a member of Rust belongs to: the one around it, or the one that its `impl` block names.
    pub(super) fn trait_of(&mut self, member: &DefinitionNode) -> Result<Option<OfTrait>> {
        let definition = &member.definition;
        if definition.language != "rust" || definition.container.is_none() {
            return Ok(None);
        }
        let Some(file) = self.library.open(&definition.path)? else { return Ok(None) };
        let symbols = self.library.symbols(&file)?;
        if let Some(parent) = symbols.iter().find(|symbol| Some(symbol.id) == member.parent) {
            match parent.definition.kind.as_str() {
                "trait" => return Ok(Some(OfTrait { name: parent.definition.name.clone(), line: None })),
                "module" => {}
                _ => return Ok(None),
            }
        }
        let text = self.library.text(&definition.path)?;
        let Some((line, head)) = head_around(&text, definition.line) else { return Ok(None) };
        Ok(trait_of_head(&head).map(|name| OfTrait { name: name.to_owned(), line: Some(line) }))
    }

    /// Returns the other members of the trait of a member: for one that a trait declares, those of its implementations;
    /// for a type that belongs to a trait, all.
    pub(super) fn of_trait(&mut self, member: &DefinitionNode) -> Result<Declarations> {
        let Some(name) = self.trait_named(member)? else { return Ok(Vec::new()) };
        if member.definition.kind == "type" {
            let mut found = Vec::new();
            for other in self.library.named(&member.definition.name)?.iter() {
                let is_one = other.id != member.id && other.definition.kind == "type";
                if is_one && self.trait_named(other)?.as_deref() == Some(name.as_str()) {
                    found.push(Rc::clone(other));
                }
            }
            return Ok(found);
        }
        let found = implementations::implementing(self, member)?;
        Ok(found.into_iter().filter(|(_, how)| how.is_proof()).map(|(other, _)| other).collect())
    }

    /// Whether a member is called through the trait that a wanted one implements: `Mooring::weight(kind)`.
    pub(super) fn is_through_trait(
        &mut self,
        receiver: &Receiver,
        found: &Resolution,
        wanted: &Wanted,
    ) -> Result<bool> {
        let Receiver::Path(path) = receiver else { return Ok(false) };
        for node in wanted.nodes.iter().filter(|node| kinds::is_member(node)) {
            let of = self.trait_of(node)?.filter(|of| of.line.is_some() && path.last() == Some(&of.name));
            let Some(of) = of else { continue };
            for target in &found.targets {
                let declared = self.trait_of(target)?.filter(|declared| declared.line.is_none());
                if declared.is_some_and(|declared| declared.name == of.name) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a word is a type that belongs to a trait, which is reached through a type or bound: `Self::Item`, `Item = u8`.
    pub(super) fn reads_associated(&mut self, used: &Reference, of: &str) -> Result<Reading> {
        let before = self.library.before(&used.path, used.line, used.column)?;
        let after = self.after(used)?;
        let bare = before.trim_end();
        let Some(owner) = bare.strip_suffix("::") else {
            let is_binding = after.starts_with(['=', ':']) && !after.starts_with("==") && !after.starts_with("::");
            let is_first = bare.is_empty() || bare.ends_with(['<', ',']);
            return Ok(match unclosed(bare) {
                _ if !is_binding || !is_first => Reading::Other,
                Some(open) => certain(last_name(&bare[..open]) == of),
                None => Reading::May,
            });
        };
        if let Some(open) = owner.strip_suffix('>').and_then(|_| opening(owner, ('<', '>')))
            && let Some((_, named)) = owner[open + 1..owner.len() - 1].split_once(" as ")
        {
            return Ok(certain(last_name(without_arguments(named)) == of));
        }
        let Some(file) = self.library.open(&used.path)? else { return Ok(Reading::Other) };
        let asked = NameQuery { file: &file, line: used.line, name: &used.name, kind: "use", depth: 0 };
        let owner = last_name(owner);
        if let Some(bounds) = self.bounds_of(&used.path, used.line, owner)? {
            let names: Vec<&str> = bounds.iter().map(|bound| last_name(without_arguments(bound))).collect();
            if names.contains(&of) {
                return Ok(Reading::Does);
            }
            // A trait of the repository may extend the one that is asked for.
            let mut is_own = false;
            for name in names {
                is_own |= self.library.named(name)?.iter().any(|found| found.definition.kind == "trait");
            }
            return Ok(if is_own { Reading::May } else { Reading::Other });
        }
        if owner != ITSELF {
            // Modules have no such types; enumerations have variants.
            let is_module = owner.starts_with(char::is_lowercase);
            let types = self.library.named(owner)?;
            return Ok(if is_module || self.has_variant(&asked, &types)? { Reading::Other } else { Reading::May });
        }
        for around in self.library.around(&file, used.line)? {
            let is_trait = around.definition.kind == "trait";
            let named = if is_trait { Some(around.definition.name.clone()) } else { self.trait_named(&around)? };
            let Some(named) = named else { continue };
            if named == of {
                return Ok(Reading::Does);
            }
            // A trait of its own may have a type of that name.
            for other in self.library.named(&used.name)?.iter() {
                if self.trait_named(other)?.is_some_and(|other| other == named) {
                    return Ok(Reading::Other);
                }
            }
            break;
        }
        let types = self.types_around(&asked)?;
        let types = types.first().map(Vec::as_slice).unwrap_or_default();
        Ok(if self.has_variant(&asked, types)? { Reading::Other } else { Reading::May })
    }

    fn has_variant(&mut self, asked: &NameQuery, types: &[Rc<DefinitionNode>]) -> Result<bool> {
        let types: Declarations = types.iter().filter(|of| of.definition.kind == "enum").cloned().collect();
        let (found, _) = self.members(asked, &types)?;
        Ok(found.iter().any(|member| member.definition.kind == "variant"))
    }

    /// Resolves a call of a trait's method by the type of its first argument: `Display::fmt(&self.name, f)`.
    fn reads_through_trait(
        &mut self,
        used: &Reference,
        asked: &NameQuery,
        path: &[String],
        wanted: &Wanted,
    ) -> Result<Option<Reading>> {
        let mut owners = Vec::new();
        for node in &wanted.nodes {
            let of = self.trait_of(node)?.filter(|of| of.line.is_some() && path.last() == Some(&of.name));
            let Some(file) = self.library.open(&node.definition.path)? else { return Ok(None) };
            let owner = if of.is_some() { self.owner(&file, node)? } else { None };
            let Some(owner) = owner.filter(|owner| owner.definition.kind != "trait") else { return Ok(None) };
            owners.push(owner.id);
        }
        Ok(match self.type_of_argument(used, asked)? {
            Typed::Known(types, _) if types.iter().any(|of| owners.contains(&of.id)) => Some(Reading::Does),
            Typed::Known(types, _) if types.iter().all(|of| kinds::is_type(&of.definition.kind)) => {
                let is_concrete = types.iter().all(|of| of.definition.kind != "trait");
                is_concrete.then_some(Reading::Other)
            }
            Typed::Outside => Some(Reading::Other),
            _ => None,
        })
    }

    /// Resolves a member of Rust after `Type::`, `Self::` or the name of a type parameter.
    pub(super) fn reads_below_type(
        &mut self,
        used: &Reference,
        asked: &NameQuery,
        receiver: &Receiver,
        wanted: &Wanted,
    ) -> Result<Option<Reading>> {
        let path = &asked.file.path;
        let types = match receiver {
            Receiver::Itself => self.types_around(asked)?.into_iter().next().unwrap_or_default(),
            Receiver::Path(names) => {
                if let [name] = names.as_slice()
                    && let Typed::Known(bounds, how) = self.bound_of(path, asked.line, name, asked.depth)?
                {
                    let (found, _) = self.members(asked, &bounds)?;
                    return Ok(Self::one(how, found).map(|found| certain(wanted.is_target(&found))));
                }
                if let Some(reading) = self.reads_through_trait(used, asked, names, wanted)? {
                    return Ok(Some(reading));
                }
                match self.type_named(path, asked.line, &names.join("::"), asked.depth)? {
                    Typed::Known(types, _) => types,
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let is_other = !types.is_empty() && self.is_of_others(&types, asked, wanted)?;
        Ok(is_other.then_some(Reading::Other))
    }

    /// Resolves a member of a value whose type is from outside: only a trait of Rust may add one to such a type.
    pub(super) fn reads_outside(&mut self, asked: &NameQuery, wanted: &Wanted) -> Result<Reading> {
        if asked.file.language != "rust" {
            return Ok(Reading::Other);
        }
        let mut of_own = None;
        for node in &wanted.nodes {
            let Some(name) = self.trait_named(node)? else { continue };
            if self.library.named(&name)?.iter().any(|found| found.definition.kind == "trait") {
                of_own = Some(name);
            }
        }
        let Some(own) = of_own else { return Ok(Reading::Other) };
        // The declaration, and the only type that implements it.
        let named = self.library.named(asked.name)?;
        let mut is_only = named.len() <= 2;
        for node in named.iter() {
            is_only &= self.trait_named(node)?.as_ref() == Some(&own);
        }
        Ok(if is_only { Reading::Does } else { Reading::May })
    }

    pub(super) fn has_deref(&mut self, types: &[Rc<DefinitionNode>], depth: usize) -> Result<bool> {
        for of in types {
            if self.heritage(of, depth)?.iter().any(|(base, _)| last_name(&base.target).starts_with("Deref")) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Members of a type of Rust: its own ones hide those that implement a trait.
    pub(super) fn inherent_first(&mut self, mut found: Declarations) -> Result<Declarations> {
        if found.len() < 2 || found.iter().any(|of| of.definition.language != "rust") {
            return Ok(found);
        }
        let mut of_traits = Vec::new();
        for of in found.iter().filter(|of| of.definition.kind == "method") {
            if self.trait_of(of)?.is_some() {
                of_traits.push(of.id);
            }
        }
        let is_own = |of: &Rc<DefinitionNode>| of.definition.kind == "method" && !of_traits.contains(&of.id);
        if found.iter().any(is_own) {
            found.retain(|of| !of_traits.contains(&of.id));
        }
        Ok(found)
    }

    /// Whether the wanted members belong to other types of Rust, and these types neither have a member of the name nor
    /// dereference to another type.
    pub(super) fn is_of_others(
        &mut self,
        types: &[Rc<DefinitionNode>],
        asked: &NameQuery,
        wanted: &Wanted,
    ) -> Result<bool> {
        let is_concrete = |of: &DefinitionNode| matches!(of.definition.kind.as_str(), "struct" | "enum" | "union");
        if asked.file.language != "rust" || !types.iter().all(|of| is_concrete(of)) {
            return Ok(false);
        }
        if self.has_deref(types, asked.depth)? || !self.members(asked, types)?.0.is_empty() {
            return Ok(false);
        }
        for node in &wanted.nodes {
            let Some(file) = self.library.open(&node.definition.path)? else { return Ok(false) };
            // A trait may be implemented for all types.
            let is_of_type = self.owner(&file, node)?.is_some_and(|owner| is_concrete(&owner));
            if !kinds::is_member(node) || !is_of_type {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Resolves the call of a macro of Rust that its own crate defines, by its bare name or below `crate`.
    pub(super) fn reads_macro(
        &mut self,
        used: &Reference,
        asked: &NameQuery,
        receiver: &Receiver,
        wanted: &Wanted,
    ) -> Result<Option<Reading>> {
        let file = asked.file;
        if file.language != "rust" {
            return Ok(None);
        }
        let is_crate = |path: &[String]| matches!(path, [root] if matches!(root.as_str(), "crate" | "$crate"));
        let is_own = match receiver {
            Receiver::Bare => self.bound_for(asked, asked.name)?.is_empty(),
            Receiver::Path(path) => is_crate(path),
            _ => false,
        };
        if !is_own {
            return Ok(None);
        }
        let after = self.after(used)?;
        if !after.starts_with('!') || after.starts_with("!=") {
            return Ok(None);
        }
        let named = self.library.named(asked.name)?;
        let sources = |path: &str| path.rfind("src/").map(|at| path[..at].to_owned());
        let is_here = |of: &&Rc<DefinitionNode>| {
            of.definition.kind == "macro" && sources(&of.definition.path) == sources(&file.path)
        };
        let here: Vec<_> = named.iter().filter(is_here).collect();
        let count = here.iter().filter(|of| wanted.nodes.iter().any(|node| node.id == of.id)).count();
        Ok(match (here.len(), count) {
            (0, _) => None,
            (all, count) if all == count => Some(Reading::Does),
            (_, 0) => Some(Reading::Other),
            _ => Some(Reading::May),
        })
    }

    /// Whether `Self` stands for a wanted type.
    pub(super) fn reads_itself(&mut self, used: &Reference, wanted: &Wanted) -> Result<Reading> {
        let Some(file) = self.library.open(&used.path)? else { return Ok(Reading::Other) };
        let asked = NameQuery { file: &file, line: used.line, name: ITSELF, kind: "type", depth: 0 };
        let around = self.types_around(&asked)?;
        let Some(types) = around.first() else { return Ok(Reading::Other) };
        let is_one = types.iter().any(|of| wanted.nodes.iter().any(|node| node.id == of.id));
        Ok(match types.len() {
            1 => certain(is_one),
            _ if is_one => Reading::May,
            _ => Reading::Other,
        })
    }

    /// Whether `Self` may stand for a definition in a file: there its members are defined.
    pub fn has_itself(&mut self, path: &str, wanted: &Wanted) -> Result<bool> {
        let Some(of) = wanted.nodes.first().map(|node| &node.definition) else { return Ok(false) };
        if of.language != "rust" || !matches!(of.kind.as_str(), "struct" | "enum" | "union") {
            return Ok(false);
        }
        let Some(file) = self.library.open(path)? else { return Ok(false) };
        let symbols = self.library.symbols(&file)?;
        Ok(symbols.iter().any(|member| {
            let container = member.definition.container.as_deref().map(modules::parts).unwrap_or_default();
            container.contains(&of.name)
        }))
    }

    /// Whether the first name of a path is that of a crate or type from outside the repository, so that none of the wanted
    /// definitions is below it.
    pub(super) fn is_root_outside(&mut self, asked: &NameQuery, root: &str, wanted: &Wanted) -> Result<bool> {
        let file = asked.file;
        if file.language != "rust" || root.starts_with('$') || !self.bound(file, root).is_empty() {
            return Ok(false);
        }
        let may_be_of = |node: &DefinitionNode| {
            let container = node.definition.container.as_deref().map(modules::parts).unwrap_or_default();
            container.last().is_some_and(|last| last == root)
        };
        if wanted.nodes.iter().any(may_be_of) || self.library.leads_into(file, root)? {
            return Ok(false);
        }
        for node in wanted.nodes.iter().filter(|node| kinds::is_member(node)) {
            let parent = node.parent.map(|parent| self.library.snapshot.declared(parent)).transpose()?.flatten();
            // Types from outside may implement a trait of this repository.
            if parent.is_some_and(|parent| parent.definition.kind == "trait") {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn is_head(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    line.strip_prefix("impl").is_some_and(|rest| !rest.starts_with(is_part))
}

/// The head of the `impl` block around a line, in one piece, and where it begins.
fn head_around(text: &Text, line: u32) -> Option<(u32, String)> {
    let own = indentation(text.line(line));
    let is_around = |number: u32| {
        let text = text.line(number);
        is_head(text) && (number == line || indentation(text) < own)
    };
    let start = (1..=line).rev().find(|number| is_around(*number))?;
    let mut head = String::new();
    for number in start..=line.min(start + HEAD_LINES) {
        let (part, is_last) =
            text.line(number).split_once('{').map_or((text.line(number), false), |(part, _)| (part, true));
        head.push_str(part.trim());
        head.push(' ');
        if is_last {
            break;
        }
    }
    Some((start, head))
}

/// The name of the trait in the head of an `impl` block, if it has one.
fn trait_of_head(head: &str) -> Option<&str> {
    let head = head.strip_prefix("unsafe ").unwrap_or(head).strip_prefix("impl")?.trim_start();
    let after_parameters = if head.starts_with('<') { &head[closing(head, ('<', '>'))? + 1..] } else { head };
    let mut depth = 0_usize;
    let bytes = after_parameters.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && after_parameters[at..].starts_with(" for ") => {
                return Some(last_name(without_arguments(&after_parameters[..at])));
            }
            _ => {}
        }
    }
    None
}

/// The last angle bracket that a text leaves open.
fn unclosed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            '>' if text[..at].ends_with('-') => {}
            '>' => depth += 1,
            '<' if depth == 0 => return Some(at),
            '<' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Strips the arguments of a path's last name: `a::B<T>` is `a::B`.
fn without_arguments(path: &str) -> &str {
    let path = path.trim();
    path.find('<').map_or(path, |at| path[..at].trim_end().trim_end_matches(':'))
}

fn last_name(text: &str) -> &str {
    let text = text.trim_end().trim_end_matches(':').trim_end();
    &text[text.trim_end_matches(is_part).len()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_block_names_its_trait() {
        for (head, name) in [
            ("impl Visitor for Writer ", Some("Visitor")),
            ("unsafe impl<T: Fn(u8) -> u8> marker::Send for X<T> ", Some("Send")),
            ("impl<'a> IntoIterator for &'a Set<u8> where T: Into<u8> ", Some("IntoIterator")),
            ("impl<B> Service<Request<B>> for Box<dyn for<'a> Fn(&'a B)> ", Some("Service")),
            ("impl<T> Cart<T> where for<'a> &'a T: Sized ", None),
            ("impl Cart ", None),
        ] {
            assert_eq!(trait_of_head(head), name, "{head}");
        }
    }
}
