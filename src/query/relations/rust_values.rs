//! Values that patterns of Rust bind, parts of structs, and bounds of type parameters.
//!
//! Owns asking what the paths in them refer to. `bindings` reads patterns, `chains` follows the expressions that they take apart.

use std::rc::Rc;

use super::bindings::{self, Layer, Origin};
use super::chains::{Value, receiver_named};
use super::receiver::Receiver;
use super::resolution::{DEEPEST, Declarations, NameQuery, ResolutionRule, Resolver, Typed};
use super::statements::{code, following, matched, part, preceding};
use super::{expressions, kinds, standard, variables};
use crate::error::Result;
use crate::extract::CodeWord;
use crate::store::{DefinitionNode, Reference};

impl Resolver<'_> {
    /// The value that a pattern of Rust binds to a name, which begins at an offset of its line.
    pub(super) fn value_bound(&mut self, asked: &NameQuery, whole: &str, start: usize, name: &str) -> Result<Value> {
        let text = self.library.text(&asked.file.path)?;
        let after = following(&text, asked.line, &whole[start + name.len()..]);
        let mut before = whole[..start].to_owned();
        let is_whole = |layer: &Layer| matches!(layer, Layer::Payload(..) | Layer::Field(..));
        let (layers, rest) = bindings::layers(&before);
        // A pattern may go over several lines.
        let is_part = rest.trim().is_empty() && !layers.iter().any(is_whole);
        if is_part && bindings::origin(rest, &after, layers.len()).is_none() {
            before = preceding(&text, asked.line, &before);
        }
        let (mut layers, rest) = bindings::layers(&before);
        let value = if let Some(at) = layers.iter().position(is_whole) {
            let part = layers.swap_remove(at);
            layers.truncate(at);
            self.value_of_part(asked, &part, name)?
        } else {
            let line = asked.line + u32::from(after.trim_end().ends_with('=') || whole.trim_end().ends_with('='));
            let next = NameQuery { line, ..*asked };
            match bindings::origin(rest, &after, layers.len()) {
                Some(Origin::Value(value)) => match (layers.last(), part(&value, 0)) {
                    (Some(Layer::Part(index)), Some(_)) => {
                        let part = part(&value, *index).unwrap_or_default().to_owned();
                        layers.pop();
                        self.value_of_whole(&next, &part, 0)?
                    }
                    _ => self.value_of_whole(&next, &value, 0)?,
                },
                Some(Origin::ElementOf(value)) => self.value_of_whole(&next, &value, 0)?.rewritten(standard::item),
                Some(Origin::Closure { before, index }) => {
                    let method = before.trim_end_matches(variables::is_part).len();
                    let value = self.value_before(asked, &before[..method])?;
                    value.rewritten(|text| standard::parameter(text, &before[method..], index))
                }
                Some(Origin::Arm) => match matched(&text, asked.line, "match ") {
                    Some((value, line)) => self.value_of_whole(&NameQuery { line, ..*asked }, value, 0)?,
                    None => Value::UNKNOWN,
                },
                None if layers.is_empty() => {
                    let written = expressions::declared(&whole[start..], name, "rust");
                    let (path, line) = (asked.file.path.clone(), asked.line);
                    let itself = self.types_around(asked)?.into_iter().next().unwrap_or_default();
                    written.map_or(Value::UNKNOWN, |text| Value::Written { text, path, line, itself })
                }
                None => Value::UNKNOWN,
            }
        };
        Ok(layers.iter().rev().fold(value, |value, layer| {
            value.rewritten(|text| match layer {
                Layer::Held => standard::held(text),
                Layer::Error => standard::error(text),
                Layer::Part(index) => standard::part(text, *index),
                Layer::Element => expressions::element(text, "rust"),
                Layer::Payload(..) | Layer::Field(..) => None,
            })
        }))
    }

    /// The part of a variant or struct that a pattern of Rust binds.
    fn value_of_part(&mut self, asked: &NameQuery, part: &Layer, name: &str) -> Result<Value> {
        let (Layer::Payload(path, _) | Layer::Field(path, _)) = part else { return Ok(Value::UNKNOWN) };
        let [outer @ .., last] = path.as_slice() else { return Ok(Value::UNKNOWN) };
        let receiver = if outer.is_empty() { Receiver::Bare } else { receiver_named(asked, outer) };
        let of_type = NameQuery { name: last, kind: "call", depth: asked.depth + 1, ..*asked };
        let found = if last == "Self" {
            self.types_around(asked)?.into_iter().next()
        } else {
            self.resolve_asked(&of_type, &receiver)?.filter(|found| found.how.is_proof()).map(|found| found.targets)
        };
        let Some([target]) = found.as_deref() else { return Ok(Value::UNKNOWN) };
        match part {
            Layer::Payload(_, index) => self.value_in(target, "", *index),
            Layer::Field(_, field) => self.value_in(target, if field.is_empty() { name } else { field }, 0),
            _ => Ok(Value::UNKNOWN),
        }
    }

    /// The field of a struct or variant of Rust with that name, or with that index if it has none.
    fn value_in(&mut self, of: &Rc<DefinitionNode>, field: &str, index: usize) -> Result<Value> {
        let definition = &of.definition;
        if !matches!(definition.kind.as_str(), "variant" | "struct") {
            return Ok(Value::UNKNOWN);
        }
        let text = self.library.text(&definition.path)?;
        let own = text.line(definition.line);
        let start: usize = own.chars().take(definition.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        let body = following(&text, definition.line, own.get(start + definition.name.len()..).unwrap_or_default());
        let written =
            if field.is_empty() { expressions::payload(&body, index) } else { expressions::field(&body, field) };
        let Some(text) = written else { return Ok(Value::UNKNOWN) };
        let itself = if definition.kind == "struct" { vec![Rc::clone(of)] } else { self.owner_of(of)? };
        Ok(Value::Written { text, path: definition.path.clone(), line: definition.line, itself })
    }

    /// The target of a value, which is not known if its type has a `Deref` of its own.
    pub(super) fn dereferenced(&mut self, asked: &NameQuery, value: Value) -> Result<Value> {
        let (text, path, line, itself) = match value {
            Value::Written { text, path, line, itself } => (text, path, line, itself),
            Value::Typed(Typed::Known(types, how)) if !self.has_deref(&types, asked.depth)? => {
                return Ok(Value::Typed(Typed::Known(types, how)));
            }
            Value::Typed(_) => return Ok(Value::UNKNOWN),
        };
        let value = Value::Written { text: text.clone(), path: path.clone(), line, itself: itself.clone() };
        match self.type_of(asked, value)? {
            Typed::Known(types, _) if self.has_deref(&types, asked.depth)? => Ok(Value::UNKNOWN),
            _ => Ok(Value::Written { text, path, line, itself }),
        }
    }

    /// The part of a tuple, or of a struct without names: `x.0`.
    pub(super) fn part_of(&mut self, asked: &NameQuery, value: Value, index: usize) -> Result<Value> {
        let part = match &value {
            Value::Written { text, .. } => standard::part(text, index),
            Value::Typed(_) => None,
        };
        if part.is_some() {
            return Ok(value.rewritten(|_| part.clone()));
        }
        let Typed::Known(types, _) = self.type_of(asked, value)? else { return Ok(Value::UNKNOWN) };
        let [of] = types.as_slice() else { return Ok(Value::UNKNOWN) };
        self.value_in(of, "", index)
    }

    /// The type of the first argument in the call of a name.
    pub(super) fn type_of_argument(&mut self, used: &Reference, asked: &NameQuery) -> Result<Typed> {
        let rest = self.after(used)?;
        let text = self.library.text(&asked.file.path)?;
        let after = following(&text, asked.line, &rest);
        let Some(argument) = expressions::payload(&after, 0) else { return Ok(Typed::Unknown) };
        let value = self.value_of_whole(asked, &argument, 0)?;
        self.type_of(asked, value)
    }

    /// The traits that bound a type parameter of Rust, which is bound before a line: `V` in `fn visit<V: Visitor>(…)`.
    pub(super) fn bound_of(&mut self, path: &str, line: u32, name: &str, depth: usize) -> Result<Typed> {
        if depth > DEEPEST {
            return Ok(Typed::Unknown);
        }
        let Some(bounds) = self.bounds_of(path, line, name)? else { return Ok(Typed::Unknown) };
        let mut types = Vec::new();
        for written in &bounds {
            let Some(written) = variables::written_type(written, "rust") else { continue };
            match self.type_named(path, line, &written, depth + 1)? {
                Typed::Known(found, _) => types.extend(found),
                Typed::Outside => {}
                // A trait from outside has no members that are defined here.
                Typed::Unknown if !self.defines_type(&written)? => {}
                Typed::Unknown => return Ok(Typed::Unknown),
            }
        }
        Ok(match (types.is_empty(), bounds.is_empty()) {
            (false, _) => Typed::Known(types, ResolutionRule::File),
            (true, false) => Typed::Outside,
            (true, true) => Typed::Unknown,
        })
    }

    /// The bounds of a type parameter of Rust, as written; `None` if nothing before a line binds one of that name.
    pub(super) fn bounds_of(&mut self, path: &str, line: u32, name: &str) -> Result<Option<Vec<String>>> {
        if !path.ends_with(".rs") {
            return Ok(None);
        }
        let words = self.library.words(path)?;
        let Some(words) = &*words else { return Ok(None) };
        let is_binder = |word: &CodeWord| word.line <= line && word.binder() == Some((word.line, word.column));
        let here = words.of_name(name).find(|word| word.line == line).and_then(|word| word.binder());
        let before = || words.of_name(name).filter(is_binder).last().map(|word| (word.line, word.column));
        let Some((line, column)) = here.or_else(before) else { return Ok(None) };
        let text = self.library.text(path)?;
        let own = text.line(line);
        let start: usize = own.chars().take(column as usize - 1).map(char::len_utf8).sum();
        let after = following(&text, line, own.get(start + name.len()..).unwrap_or_default());
        Ok(Some(expressions::bounds(&after, name).into_iter().map(str::to_owned).collect()))
    }

    /// The struct or variant that a literal or pattern of Rust names by a path, also through `Self` and type aliases.
    pub(super) fn type_of_literal(&mut self, asked: &NameQuery, path: &[String]) -> Result<Option<Declarations>> {
        let file = &asked.file.path;
        if let Typed::Known(types, _) = self.type_named(file, asked.line, &path.join("::"), asked.depth)? {
            return Ok(Some(types));
        }
        let [outer @ .., last] = path else { return Ok(None) };
        if outer.is_empty() {
            return Ok(None);
        }
        let Typed::Known(types, _) = self.type_named(file, asked.line, &outer.join("::"), asked.depth)? else {
            return Ok(None);
        };
        let of_variant = NameQuery { name: last, ..*asked };
        let (found, _) = self.members(&of_variant, &types)?;
        Ok(Some(found.into_iter().filter(|of| of.definition.kind == "variant").collect()))
    }

    /// The bounds of a type parameter of Rust that a line names; `None` if it names none.
    pub(super) fn parameter_at(&mut self, path: &str, line: u32, name: &str, depth: usize) -> Result<Option<Typed>> {
        if !path.ends_with(".rs") {
            return Ok(None);
        }
        let words = self.library.words(path)?;
        let is_bound = (*words).as_ref().is_some_and(|words| {
            let mut here = words.of_name(name).filter(|word| word.line == line);
            here.any(|word| word.binder().is_some())
        });
        if is_bound { self.bound_of(path, line, name, depth).map(Some) } else { Ok(None) }
    }

    /// Whether a word is an argument of a macro that the repository defines, which may use it as a member.
    pub(super) fn is_in_own_macro(&mut self, asked: &NameQuery, before: &str) -> Result<bool> {
        if asked.file.language != "rust" {
            return Ok(false);
        }
        let text = self.library.text(&asked.file.path)?;
        let whole = preceding(&text, asked.line, &code(before));
        for name in bindings::macros_around(&whole) {
            if self.library.named(name)?.iter().any(|found| found.definition.kind == "macro") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn defines_type(&mut self, written: &str) -> Result<bool> {
        let name = written.rsplit("::").next().unwrap_or(written);
        Ok(self.library.named(name)?.iter().any(|found| kinds::is_type(&found.definition.kind)))
    }
}
