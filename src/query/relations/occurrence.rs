//! Resolves a word of code, given its role in its own text.
//!
//! Owns which definitions a word cannot mean although its name is theirs. `resolve` owns what a name refers to.

use std::rc::Rc;

use super::expressions::plain_path;
use super::families::{Family, Scope, Spelling};
use super::opened::local;
use super::receiver::{Receiver, receiver};
use super::resolution::{NameQuery, Resolution, ResolutionRule, Resolver, Typed};
use super::statements::opening;
use super::variables::is_part;
use super::{Reading, kinds, modules, types};
use crate::error::Result;
use crate::extract::WordRole;
use crate::store::{Definition, DefinitionNode, Reference};

/// Values through which a script's module, or what all scripts share, is reached.
const OWN_MODULE: &[&str] = &["exports", "module"];
const SHARED: &[&str] = &["this", "self", "window", "globalThis", "global"];

/// The name that Rust has for the type around the code.
pub(crate) const ITSELF: &str = "Self";

/// The kind of a reference whose use is unknown.
const ANY_KIND: &str = "word";

/// The definitions that are asked for.
pub struct Wanted {
    pub positions: Vec<(String, u32, u32)>,
    pub(super) nodes: Vec<DefinitionNode>,
    /// Definitions that a block binds: only words that it binds can refer to them.
    locals: Vec<(String, u32, u32)>,
    /// Whether any is reached through a value or type.
    has_members: bool,
    /// The trait of Rust that the wanted type belongs to.
    of_trait: Option<String>,
}

impl Wanted {
    pub fn new(resolver: &mut Resolver, positions: Vec<(String, u32, u32)>, name: &str) -> Result<Self> {
        let named = resolver.library.named(name)?;
        let is_one = |node: &DefinitionNode| {
            let definition = &node.definition;
            positions.iter().any(|(path, line, column)| {
                (path, *line, *column) == (&definition.path, definition.line, definition.column)
            })
        };
        let nodes: Vec<DefinitionNode> =
            named.iter().filter(|node| is_one(node)).map(|node| (**node).clone()).collect();
        let mut locals = Vec::new();
        for node in nodes.iter().filter(|node| !kinds::is_member(node)) {
            let definition = &node.definition;
            let words = resolver.library.words(&definition.path)?;
            let word = (*words).as_ref().and_then(|words| words.at(definition.line, definition.column));
            // The names of a function and of its parameter are next to each other.
            let own = WordRole::Local { line: definition.line, column: definition.column };
            if word.is_some_and(|word| word.role == own) {
                locals.push((definition.path.clone(), definition.line, definition.column));
            }
        }
        let has_members = nodes.iter().any(kinds::is_member);
        let of_trait = match nodes.first().filter(|node| node.definition.kind == "type") {
            Some(node) => resolver.trait_named(node)?,
            None => None,
        };
        Ok(Self { positions, nodes, locals, has_members, of_trait })
    }

    /// The files of the definitions.
    pub fn homes(&self) -> Vec<&str> {
        self.positions.iter().map(|(path, ..)| path.as_str()).collect()
    }

    fn has(&self, path: &str, line: u32, column: u32) -> bool {
        self.positions.iter().any(|one| (one.0.as_str(), one.1, one.2) == (path, line, column))
    }

    /// Whether a resolution is a macro with the name of a wanted function, which calls or renames that function.
    fn is_wrapped_by(&self, found: &Resolution) -> bool {
        let is_function = |node: &DefinitionNode| node.definition.kind == "function";
        let is_macro = |node: &DefinitionNode| matches!(node.definition.kind.as_str(), "macro" | "constant");
        self.nodes.iter().any(is_function)
            && !found.targets.is_empty()
            && found.targets.iter().all(|node| is_macro(node))
    }

    /// Whether a resolution is a type whose constructor is wanted, in C++.
    fn has_constructor_of(&self, found: &Resolution) -> bool {
        let is_of = |target: &Rc<DefinitionNode>| {
            self.nodes
                .iter()
                .any(|node| kinds::is_constructor(&node.definition) && types::is_constructor_of(node, target))
        };
        found.targets.iter().any(is_of)
    }

    pub(super) fn is_target(&self, found: &Resolution) -> bool {
        found.targets.iter().any(|target| {
            let definition = &target.definition;
            // A constructor bears the name of its type: `new Cart()`.
            let is_constructor = definition.kind == "constructor" || definition.language == "cpp";
            self.has(&definition.path, definition.line, definition.column)
                || (is_constructor && self.nodes.iter().any(|of| types::is_constructor_of(target, of)))
        })
    }
}

/// A word, as its text has it.
pub struct Occurrence<'w> {
    pub used: Reference,
    /// Whether the index has it: then the kind of the reference says how it is used.
    pub is_indexed: bool,
    /// `None` where the text was not read.
    pub role: Option<WordRole<'w>>,
    /// Whether it is reached through something.
    pub is_member: bool,
}

impl Resolver<'_> {
    /// Whether a word refers to the wanted definition.
    pub fn reads(&mut self, word: &Occurrence, wanted: &Wanted) -> Result<Reading> {
        let used = &word.used;
        if self.has_other_form(used, wanted)? {
            return Ok(Reading::Other);
        }
        if used.name == ITSELF && used.path.ends_with(".rs") {
            return self.reads_itself(used, wanted);
        }
        if let Some(of) = wanted.of_trait.as_deref() {
            return self.reads_associated(used, of);
        }
        if used.kind == "import" {
            return super::reading(self, used, &wanted.positions);
        }
        match word.role {
            Some(WordRole::Outside | WordRole::Declared) => Ok(Reading::Other),
            Some(WordRole::Local { line, column }) => self.reads_local(used, (line, column), wanted),
            Some(WordRole::Key { of }) => self.reads_key(used, of, wanted),
            Some(WordRole::Shorthand { of, bound_at }) => {
                let as_variable = match bound_at {
                    Some(bound_at) => self.reads_local(used, bound_at, wanted)?,
                    None => self.reads_free(word, wanted)?,
                };
                match as_variable {
                    Reading::Other => self.reads_key(used, of, wanted),
                    reading => Ok(reading),
                }
            }
            Some(WordRole::Free) | None => self.reads_free(word, wanted),
        }
    }

    /// Whether the variable of a block is wanted, or holds a wanted name that an import in that block binds.
    fn reads_local(&mut self, used: &Reference, (line, column): (u32, u32), wanted: &Wanted) -> Result<Reading> {
        if wanted.has(&used.path, line, column) {
            return Ok(Reading::Does);
        }
        let Some(file) = self.library.open(&used.path)? else { return Ok(Reading::Other) };
        for import in self.bound(&file, &used.name) {
            let name = import.name.clone().filter(|name| name != "*");
            if let Some(name) = name.filter(|_| file.family.spelling == Spelling::Script)
                && self.gives_at(&file.path, &import, line)?
            {
                let given = Reference { name, kind: "import".to_owned(), line: import.line, ..used.clone() };
                return super::reading(self, &given, &wanted.positions);
            }
        }
        Ok(Reading::Other)
    }

    /// Whether the name of a field or parameter is that of a wanted member.
    fn reads_key(&mut self, used: &Reference, of: Option<&str>, wanted: &Wanted) -> Result<Reading> {
        if !wanted.has_members {
            return Ok(Reading::Other);
        }
        let Some(file) = self.library.open(&used.path)? else { return Ok(Reading::Other) };
        // Only fields of Rust are given with a value.
        if file.family.spelling == Spelling::Rust && wanted.nodes.iter().all(|node| node.definition.kind != "field") {
            return Ok(Reading::Other);
        }
        let Some(of) = of else {
            // Nothing says what it belongs to. As the only definition of its name, it may be the one.
            let is_only = self.library.named(&used.name)?.len() == wanted.nodes.len();
            let is_script = file.family.spelling == Spelling::Script;
            return Ok(if is_only && !is_script { Reading::May } else { Reading::Other });
        };
        let asked = NameQuery { file: &file, line: used.line, name: &used.name, kind: "use", depth: 0 };
        let mut path = modules::parts(of);
        if file.language == "rust"
            && let Some(types) = self.type_of_literal(&asked, &path)?
        {
            let (found, _) = self.members(&asked, &types)?;
            return Ok(certain(Self::one(ResolutionRule::File, found).is_some_and(|found| wanted.is_target(&found))));
        }
        if path.len() == 1 && file.family.itself.contains(&path[0].as_str()) {
            path.clear();
        }
        let receiver = if path.is_empty() { Receiver::Itself } else { Receiver::Path(path) };
        let found = self.resolve_asked(&asked, &receiver)?;
        Ok(match found {
            Some(found) if found.how != ResolutionRule::Ambiguous => certain(wanted.is_target(&found)),
            _ => Reading::Other,
        })
    }

    fn reads_free(&mut self, word: &Occurrence, wanted: &Wanted) -> Result<Reading> {
        let used = &word.used;
        let Some(file) = self.library.open(&used.path)? else { return Ok(Reading::Other) };
        if self.has_scip()? {
            return super::reading(self, used, &wanted.positions);
        }
        let before = self.library.before(&used.path, used.line, used.column)?;
        let named_type = self.type_named_before(&file, used, &before)?.map(str::to_owned);
        let is_type = named_type.is_some();
        let before = named_type.unwrap_or(before);
        let before = match file.language.as_str() {
            // An element of an array of C has the type that its pointer has.
            "c" => without_indexes(&before),
            "rust" => plain_path(&before).unwrap_or(before),
            _ => before,
        };
        let receiver = match receiver(&before, file.family) {
            found if is_type => found,
            Receiver::Bare if word.is_member => Receiver::Expression,
            _ if word.role.is_some() && !word.is_member => Receiver::Bare,
            found => found,
        };
        let kind = match (is_type, word.is_indexed) {
            (true, _) => "type",
            (_, true) => used.kind.as_str(),
            _ => ANY_KIND,
        };
        let asked = NameQuery { file: &file, line: used.line, name: &used.name, kind, depth: 0 };
        self.root_at = self.binder_of_root(&asked, &before, &receiver)?;
        let reading = self.reads_asked(word, &asked, &before, &receiver, wanted);
        self.root_at = None;
        reading
    }

    /// Where a block binds the variable that a path of names begins with.
    fn binder_of_root(&mut self, asked: &NameQuery, before: &str, receiver: &Receiver) -> Result<Option<(u32, u32)>> {
        let Receiver::Path(path) = receiver else { return Ok(None) };
        let Some(start) = root_of(before, path) else { return Ok(None) };
        // No variable has members after `::`.
        if before[start + path[0].len()..].starts_with("::") {
            return Ok(None);
        }
        let column = u32::try_from(before[..start].chars().count() + 1).unwrap_or(u32::MAX);
        let words = self.library.words(&asked.file.path)?;
        Ok((*words).as_ref().and_then(|words| words.at(asked.line, column)).and_then(|root| root.binder()))
    }

    fn reads_asked(
        &mut self,
        word: &Occurrence,
        asked: &NameQuery,
        before: &str,
        receiver: &Receiver,
        wanted: &Wanted,
    ) -> Result<Reading> {
        let used = &word.used;
        let file = asked.file;
        if let Some(reading) = self.reads_by_type(asked, before, receiver, wanted)? {
            return Ok(reading);
        }
        let is_case = file.language == "java" && before.trim_start().starts_with("case ");
        if is_case
            && *receiver == Receiver::Bare
            && let Typed::Known(types, how) = self.type_of_switch(asked)?
            && let (found, _) = self.members(asked, &types)?
            && let Some(found) = Self::one(how, found)
        {
            return Ok(certain(wanted.is_target(&found)));
        }
        if let Some(reading) = self.reads_macro(used, asked, receiver, wanted)? {
            return Ok(reading);
        }
        if file.language == "rust" && before.trim_end().ends_with("::") {
            if let Some(reading) = self.reads_below_type(used, asked, receiver, wanted)? {
                return Ok(reading);
            }
            if self.is_below_outside(asked, before, receiver, wanted)? {
                return Ok(Reading::Other);
            }
        }
        self.is_free = matches!(word.role, Some(WordRole::Free));
        let found = self.resolve_asked(asked, receiver);
        self.is_free = false;
        let mut found = found?;
        if let Some(found) = &mut found {
            found.targets = self.inherent_first(std::mem::take(&mut found.targets))?;
        }
        let mut is_target = found.as_ref().is_some_and(|found| wanted.is_target(found));
        if let Some(found) = found.as_ref().filter(|found| !is_target && wanted.has_constructor_of(found)) {
            is_target = found.how.is_proof() && self.is_construction(used)?;
        }
        let is_wrapped = file.family.headers && found.as_ref().is_some_and(|found| wanted.is_wrapped_by(found));
        if let Some(found) = found.as_ref().filter(|found| found.how.is_proof() && !is_wrapped) {
            if !is_target && self.is_through_trait(receiver, found, wanted)? {
                return Ok(Reading::May);
            }
            if found.targets.is_empty() && file.language == "rust" && before.trim_end().ends_with('.') {
                return self.reads_outside(asked, wanted);
            }
            let is_unfollowed = !is_target && found.targets.is_empty() && self.imports_from_here(used)?;
            return Ok(if is_unfollowed { Reading::Unfollowed } else { certain(is_target) });
        }
        let is_only_other = !is_target && !is_wrapped && found.is_some_and(|found| found.how == ResolutionRule::Name);
        if is_only_other || (!is_target && self.is_unreachable(used, &wanted.positions)?) {
            return Ok(Reading::Other);
        }
        for node in &wanted.nodes {
            if !self.is_beyond(asked, before, receiver, node, wanted)? {
                return Ok(Reading::May);
            }
        }
        Ok(Reading::Other)
    }

    /// Resolves a name that is reached through a variable whose block states its type.
    fn reads_by_type(
        &mut self,
        asked: &NameQuery,
        before: &str,
        receiver: &Receiver,
        wanted: &Wanted,
    ) -> Result<Option<Reading>> {
        Ok(match self.type_of_receiver(asked, before, receiver)? {
            Typed::Known(types, how) => {
                let (found, is_closed) = self.members(asked, &types)?;
                match Self::one(how, found) {
                    Some(found) => Some(certain(wanted.is_target(&found))),
                    // The members of what a type stands for are not known.
                    None if is_closed && types.iter().all(|of| of.definition.kind != "type") => Some(Reading::Other),
                    None if self.is_of_others(&types, asked, wanted)? => Some(Reading::Other),
                    None => None,
                }
            }
            Typed::Outside => Some(self.reads_outside(asked, wanted)?),
            Typed::Unknown => None,
        })
    }

    /// Resolves a name at a position: a member by the type of its receiver, if the code says which that is.
    pub fn resolve_at(&mut self, used: &Reference) -> Result<Option<Resolution>> {
        let Some(file) = self.library.open(&used.path)? else { return Ok(None) };
        if !self.has_scip()? {
            let before = self.library.before(&used.path, used.line, used.column)?;
            let receiver = receiver(&before, file.family);
            let asked = NameQuery { file: &file, line: used.line, name: &used.name, kind: &used.kind, depth: 0 };
            self.root_at = self.binder_of_root(&asked, &before, &receiver)?;
            let typed = self.type_of_receiver(&asked, &before, &receiver);
            self.root_at = None;
            if let Typed::Known(types, how) = typed? {
                let (found, _) = self.members(&asked, &types)?;
                if let Some(found) = Self::one(how, found) {
                    return self.of_form(used, found).map(Some);
                }
            }
        }
        match self.resolve(used)? {
            Some(found) => self.of_form(used, found).map(Some),
            None => Ok(None),
        }
    }

    fn type_of_receiver(&mut self, asked: &NameQuery, before: &str, receiver: &Receiver) -> Result<Typed> {
        // `self.0.`.
        let is_numbered = match receiver {
            Receiver::Path(names) | Receiver::Fields(names) => {
                names.iter().any(|name| name.starts_with(|c: char| c.is_ascii_digit()))
            }
            _ => false,
        };
        let (stated, fields) = match receiver {
            _ if is_numbered => (self.type_of_expression(asked, before)?, &[][..]),
            Receiver::Path(path) => {
                let Some((line, column)) = self.root_at else { return Ok(Typed::Unknown) };
                let words = self.library.words(&asked.file.path)?;
                let binder = (*words).as_ref().and_then(|words| words.at(line, column));
                let stated = match binder.and_then(|binder| binder.stated_type) {
                    Some(written) => {
                        let path = &asked.file.path;
                        match self.type_stated(path, asked.line, written, asked.depth)? {
                            Typed::Unknown => self.bound_of(path, asked.line, written, asked.depth)?,
                            typed => typed,
                        }
                    }
                    None => self.type_given(asked, &path[0], (line, column))?,
                };
                (stated, &path[1..])
            }
            Receiver::Expression => {
                let written =
                    if asked.file.family.headers || asked.file.language == "java" { cast(before) } else { None };
                let stated = match written {
                    Some(written) => self.type_stated(&asked.file.path, asked.line, written, asked.depth)?,
                    None => self.type_of_expression(asked, before)?,
                };
                (stated, &[][..])
            }
            _ => return Ok(Typed::Unknown),
        };
        self.through_fields(asked, stated, fields)
    }

    /// Whether a path of Rust leads on from a name that no block binds and that is from outside the repository.
    fn is_below_outside(
        &mut self,
        asked: &NameQuery,
        before: &str,
        receiver: &Receiver,
        wanted: &Wanted,
    ) -> Result<bool> {
        let Receiver::Path(path) = receiver else { return Ok(false) };
        let Some(start) = root_of(before, path) else { return Ok(false) };
        if !before[start + path[0].len()..].starts_with("::") {
            return Ok(false);
        }
        // `Default::default()` may be the function of any type that has the trait.
        for node in &wanted.nodes {
            if path.last() == self.trait_named(node)?.as_ref() {
                return Ok(false);
            }
        }
        let column = u32::try_from(before[..start].chars().count() + 1).unwrap_or(u32::MAX);
        let words = self.library.words(&asked.file.path)?;
        let root = (*words).as_ref().and_then(|words| words.at(asked.line, column));
        let is_free = root.is_some_and(|root| root.role == WordRole::Free);
        Ok(is_free && self.is_root_outside(asked, &path[0], wanted)?)
    }

    /// Whether a word that no rule resolves cannot be a definition.
    fn is_beyond(
        &mut self,
        asked: &NameQuery,
        before: &str,
        receiver: &Receiver,
        node: &DefinitionNode,
        wanted: &Wanted,
    ) -> Result<bool> {
        let file = asked.file;
        let family = file.family;
        let definition = &node.definition;
        let is_here = definition.path == file.path;
        let is_bare = *receiver == Receiver::Bare;
        let at = (definition.path.clone(), definition.line, definition.column);
        if is_bare && is_here && wanted.locals.contains(&at) {
            return Ok(true);
        }
        Ok(match (is_bare, kinds::is_member(node)) {
            (true, false) => {
                let is_private = kinds::is_private_to_file(node) && !is_here;
                is_private
                    || (!is_here && definition.kind != "macro" && is_out_of_scope(family, &file.path, definition))
            }
            (true, true) if !family.implicit_self || (file.language == "c" && definition.kind == "field") => {
                !self.is_in_own_macro(asked, before)?
            }
            // `case NAME:`, and enumerators of C.
            (true, true) if definition.kind == "variant" => false,
            (true, true) => {
                let around = self.types_around(asked)?;
                let (found, is_closed) = self.of_types_around(asked, false)?;
                !around.is_empty() && found.is_empty() && is_closed
            }
            (false, false) => self.is_value_of_another(asked, before, receiver, node)?,
            (false, true) => false,
        })
    }

    /// Whether a name is read from a value, and so is not a function or type of a module.
    fn is_value_of_another(
        &mut self,
        asked: &NameQuery,
        before: &str,
        receiver: &Receiver,
        node: &DefinitionNode,
    ) -> Result<bool> {
        let family = asked.file.family;
        let accessor = before.trim_end();
        let is_path = accessor.ends_with("::") || accessor.ends_with('\\');
        let root = match receiver {
            Receiver::Path(path) => path.first().map(String::as_str),
            Receiver::Itself => Some("this"),
            Receiver::Module(_) => return Ok(false),
            _ => None,
        };
        let is_imported =
            root.is_some_and(|root| asked.file.imports.iter().any(|import| local(family, import) == Some(root)));
        if is_path || is_imported {
            return Ok(false);
        }
        Ok(match family.spelling {
            Spelling::Rust | Spelling::Go => true,
            Spelling::Script => {
                let Definition { path, line, column, .. } = &node.definition;
                if root.is_some_and(|root| OWN_MODULE.contains(&root)) {
                    return Ok(*path != asked.file.path);
                }
                let is_member = self.library.before(path, *line, *column)?.ends_with('.');
                let is_shared = root.is_some_and(|root| SHARED.contains(&root)) && asked.file.imports.is_empty();
                !is_member && !is_shared
            }
            Spelling::File => family.headers,
            Spelling::Names => matches!(family.languages, ["php"] | ["lua"]),
            Spelling::Dotted => false,
        })
    }
}

/// Where the first name of a path begins that a text ends with.
fn root_of(before: &str, path: &[String]) -> Option<usize> {
    let mut rest = before;
    for name in path.iter().rev() {
        rest = rest.trim_end_matches(|c: char| !is_part(c) && c != '$').strip_suffix(name.as_str())?;
    }
    Some(rest.len())
}

/// The type of `((Type *) value)->`, which a text ends with.
fn cast(before: &str) -> Option<&str> {
    let end = before.trim_end_matches(['.', '-', '>', '?']);
    let inside = &end[opening(end, ('(', ')'))? + 1..];
    let inside = inside.trim_start().strip_prefix('(')?;
    let written = inside[..inside.find(')')?].trim_end_matches([' ', '*']);
    let written = ["const ", "struct ", "union "].iter().fold(written, |rest, word| rest.trim_start_matches(word));
    (!written.is_empty() && written.chars().all(|c| is_part(c) || matches!(c, '.' | ':'))).then_some(written)
}

/// Strips the indexes of the expression that a text ends with: `a[i].b[0].` is `a.b.`.
fn without_indexes(before: &str) -> String {
    let (mut rest, mut found) = (before, String::new());
    loop {
        let bare = rest.trim_end_matches(['.', '-', '>']);
        found.insert_str(0, &rest[bare.len()..]);
        rest = bare;
        let is_reached = !found.is_empty();
        while let Some(start) = rest.ends_with(']').then(|| opening(rest, ('[', ']'))).flatten().filter(|_| is_reached)
        {
            rest = &rest[..start];
        }
        let word = &rest[rest.trim_end_matches(is_part).len()..];
        let further = &rest[..rest.len() - word.len()];
        if word.is_empty() || !is_reached || !further.ends_with(['.', '>']) {
            return format!("{rest}{found}");
        }
        found.insert_str(0, word);
        rest = further;
    }
}

/// Whether a bare name in a file cannot be a definition in another one without an import.
fn is_out_of_scope(family: &Family, path: &str, definition: &Definition) -> bool {
    match family.scope {
        Scope::File => true,
        Scope::Folder => super::resolution::package_of(path) != super::resolution::package_of(&definition.path),
        Scope::Program => false,
    }
}

pub(super) fn certain(does: bool) -> Reading {
    if does { Reading::Does } else { Reading::Other }
}
