//! The type of an expression: what its first name is, then the results of the calls and the fields that follow.
//!
//! Owns following the steps, in languages whose signatures state types. `expressions` owns reading them from the text,
//! `fields` and `types` what single names have.

use std::rc::Rc;

use super::expressions::{self, Given, Step};
use super::receiver::Receiver;
use super::resolution::{DEEPEST, Declarations, NameQuery, ResolutionRule, Resolver, Typed};
use super::statements::{LINES, code, matched};
use super::{kinds, standard, variables};
use crate::error::Result;
use crate::store::DefinitionNode;

/// Languages in which each function and field states its type, held against a compiler or language server.
const LANGUAGES: &[&str] = &["go", "rust", "java", "cpp"];

/// The value of a step.
pub(super) enum Value {
    /// A type that is written at a line of a file, and the type that `Self` is there.
    Written {
        text: String,
        path: String,
        line: u32,
        itself: Declarations,
    },
    Typed(Typed),
}

impl Value {
    pub(super) const UNKNOWN: Self = Self::Typed(Typed::Unknown);

    /// Applies a change to the written type.
    pub(super) fn rewritten(self, change: impl Fn(&str) -> Option<String>) -> Self {
        match self {
            Self::Written { text, path, line, itself } => match change(&text) {
                Some(text) => Self::Written { text, path, line, itself },
                None => Self::UNKNOWN,
            },
            Self::Typed(_) => Self::UNKNOWN,
        }
    }
}

pub(super) fn receiver_named(asked: &NameQuery, names: &[String]) -> Receiver {
    match names {
        [first] if asked.file.family.itself.contains(&first.as_str()) => Receiver::Itself,
        [first, fields @ ..] if asked.file.family.itself.contains(&first.as_str()) => Receiver::Fields(fields.to_vec()),
        _ => Receiver::Path(names.to_vec()),
    }
}

impl Resolver<'_> {
    /// The type of the expression before an accessor, which `before` ends with; of one that goes over several lines, too.
    pub(super) fn type_of_expression(&mut self, asked: &NameQuery, before: &str) -> Result<Typed> {
        if !LANGUAGES.contains(&asked.file.language.as_str()) {
            return Ok(Typed::Unknown);
        }
        let value = self.value_before(asked, before)?;
        self.type_of(asked, value)
    }

    /// The type of the value that a `switch` of Java takes apart, whose `case` a line begins.
    pub(super) fn type_of_switch(&mut self, asked: &NameQuery) -> Result<Typed> {
        let text = self.library.text(&asked.file.path)?;
        let Some((value, line)) = matched(&text, asked.line, "switch") else { return Ok(Typed::Unknown) };
        let value = self.value_of_whole(&NameQuery { line, ..*asked }, value, 0)?;
        self.type_of(asked, value)
    }

    /// The value of the expression before an accessor.
    pub(super) fn value_before(&mut self, asked: &NameQuery, before: &str) -> Result<Value> {
        let (mut whole, mut line) = (code(before).trim_end().to_owned(), asked.line);
        let text = self.library.text(&asked.file.path)?;
        // An accessor at the end of a line, or at the beginning of the next one, continues the expression.
        while line > 1 && asked.line - line < LINES && (whole.trim().is_empty() || whole.trim_start().starts_with('.'))
        {
            line -= 1;
            whole = format!("{}{}", code(text.line(line)).trim_end(), whole.trim_start());
        }
        let Some(whole) = whole.strip_suffix("->").or_else(|| whole.strip_suffix('.')) else {
            return Ok(Value::UNKNOWN);
        };
        self.value_of(&NameQuery { line, ..*asked }, whole)
    }

    /// The type of a variable of a block by the value that it is given, where it is bound.
    pub(super) fn type_given(&mut self, asked: &NameQuery, name: &str, at: (u32, u32)) -> Result<Typed> {
        let value = self.value_given(asked, name, at, 0)?;
        self.type_of(asked, value)
    }

    fn value_given(
        &mut self,
        asked: &NameQuery,
        name: &str,
        (line, column): (u32, u32),
        depth: usize,
    ) -> Result<Value> {
        let language = asked.file.language.as_str();
        if !LANGUAGES.contains(&language) || depth > DEEPEST || asked.depth + depth > DEEPEST {
            return Ok(Value::UNKNOWN);
        }
        let text = self.library.text(&asked.file.path)?;
        let whole = text.line(line);
        let start: usize = whole.chars().take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        let Some(after) = whole.get(start + name.len()..) else { return Ok(Value::UNKNOWN) };
        let asked = NameQuery { line, depth: asked.depth + 1, ..*asked };
        if language == "rust" {
            return self.value_bound(&asked, whole, start, name);
        }
        let (value, index, is_element) = match expressions::given(&whole[..start], after, language) {
            Some(Given::Value(value, index)) => (value, index, false),
            Some(Given::ElementOf(value)) => (value, 0, true),
            // The type may be one that has elements.
            None => {
                let written = expressions::declared(whole, name, language);
                let (path, itself) = (asked.file.path.clone(), Vec::new());
                return Ok(written.map_or(Value::UNKNOWN, |text| Value::Written { text, path, line, itself }));
            }
        };
        let value = self.value_of_whole(&asked, value, index)?;
        Ok(if is_element { value.rewritten(|text| expressions::element(text, language)) } else { value })
    }

    pub(super) fn value_of_whole(&mut self, asked: &NameQuery, text: &str, index: usize) -> Result<Value> {
        let Some((steps, _)) = expressions::whole(text, &asked.file.language) else { return Ok(Value::UNKNOWN) };
        self.follow(asked, &steps, None, index)
    }

    /// The value of the expression at the end of `text`, which begins on the line of the query.
    fn value_of(&mut self, asked: &NameQuery, text: &str) -> Result<Value> {
        let Some((steps, start)) = expressions::steps(text, &asked.file.language) else { return Ok(Value::UNKNOWN) };
        let column = u32::try_from(text[..start].chars().count() + 1).unwrap_or(u32::MAX);
        self.follow(asked, &steps, Some(column), 0)
    }

    fn follow(&mut self, asked: &NameQuery, steps: &[Step], column: Option<u32>, index: usize) -> Result<Value> {
        if asked.depth > DEEPEST {
            return Ok(Value::UNKNOWN);
        }
        let names: Vec<String> = steps
            .iter()
            .map_while(|step| match step {
                Step::Name(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        // A call through modules, types and fields is resolved like any other. A variable has the type that its binding gives it.
        let is_variable = match names.first() {
            Some(first) => self.word_at(asked, first, column)?.is_some_and(|binder| binder.is_some()),
            None => false,
        };
        if let (false, Some(Step::Call(name))) = (names.is_empty() || is_variable, steps.get(names.len())) {
            let receiver = receiver_named(asked, &names);
            let value =
                self.result_of_call(asked, name, &receiver, if steps.len() == names.len() + 1 { index } else { 0 })?;
            if !matches!(value, Value::Typed(Typed::Unknown)) {
                return self.follow_from(asked, value, &steps[names.len() + 1..], index);
            }
        }
        let [first, further @ ..] = steps else { return Ok(Value::UNKNOWN) };
        let first = match first {
            Step::Name(name) => self.value_named(asked, name, column)?,
            Step::Call(name) => {
                self.result_of_call(asked, name, &Receiver::Bare, if steps.len() == 1 { index } else { 0 })?
            }
            Step::PathCall(path, name) => {
                let receiver = receiver_named(asked, path);
                let value = self.result_of_call(asked, name, &receiver, 0)?;
                let makes_type = matches!(name.as_str(), "new" | "default" | "from" | "with_capacity");
                match value {
                    // Functions that are derived, or from outside.
                    Value::Typed(Typed::Unknown) if makes_type && asked.file.language == "rust" => Value::Written {
                        text: path.join("::"),
                        path: asked.file.path.clone(),
                        line: asked.line,
                        itself: self.types_around(asked)?.into_iter().next().unwrap_or_default(),
                    },
                    value => value,
                }
            }
            Step::OfType(written) => Value::Written {
                text: written.clone(),
                path: asked.file.path.clone(),
                line: asked.line,
                itself: self.types_around(asked)?.into_iter().next().unwrap_or_default(),
            },
            Step::Element | Step::Held | Step::Deref => Value::UNKNOWN,
        };
        self.follow_from(asked, first, further, index)
    }

    fn follow_from(&mut self, asked: &NameQuery, mut value: Value, steps: &[Step], index: usize) -> Result<Value> {
        let language = asked.file.language.as_str();
        for (at, step) in steps.iter().enumerate() {
            value = match step {
                Step::Element => value.rewritten(|text| expressions::element(text, language)),
                Step::Held => value.rewritten(standard::held),
                Step::Deref => self.dereferenced(asked, value)?,
                // Containers of the standard library are not indexed.
                Step::Call(name)
                    if language == "cpp"
                        && matches!(name.as_str(), "front" | "back" | "at" | "top")
                        && matches!(&value, Value::Written { text, .. } if text.starts_with("std::")) =>
                {
                    value.rewritten(|text| expressions::element(text, language))
                }
                Step::Name(name) if name.starts_with(|c: char| c.is_ascii_digit()) => {
                    self.part_of(asked, value, name.parse().unwrap_or(usize::MAX))?
                }
                Step::Name(name) => match self.type_of(asked, value)? {
                    Typed::Known(types, _) => self.field_of(asked, &types, name)?,
                    _ => Value::UNKNOWN,
                },
                Step::Call(name) => {
                    let index = if at + 1 == steps.len() { index } else { 0 };
                    self.result_of_method(asked, value, name, index)?
                }
                Step::PathCall(..) | Step::OfType(_) => Value::UNKNOWN,
            };
        }
        Ok(value)
    }

    fn result_of_method(&mut self, asked: &NameQuery, value: Value, name: &str, index: usize) -> Result<Value> {
        let is_rust = asked.file.language == "rust";
        let is_same = match name {
            "clone" => true,
            "as_ref" | "as_mut" | "borrow" | "borrow_mut" => is_rust,
            _ => false,
        };
        let of_standard = match &value {
            Value::Written { text, .. } if is_rust => standard::result(text, name),
            _ => None,
        };
        if of_standard.is_some() {
            return Ok(value.rewritten(|_| of_standard.clone()));
        }
        let Typed::Known(types, how) = self.type_of(asked, value)? else { return Ok(Value::UNKNOWN) };
        let of_member = NameQuery { name, kind: "call", depth: asked.depth + 1, ..*asked };
        let (found, _) = self.members(&of_member, &types)?;
        if found.is_empty() && is_same {
            return Ok(Value::Typed(Typed::Known(types, how)));
        }
        self.result_of(&found, index, &types)
    }

    /// Where the variable is bound that an expression begins with, `Some(None)` for another name; `None` if its line has
    /// no such word.
    fn word_at(&mut self, asked: &NameQuery, name: &str, column: Option<u32>) -> Result<Option<Option<(u32, u32)>>> {
        let words = self.library.words(&asked.file.path)?;
        let word = (*words).as_ref().and_then(|words| {
            // An expression may begin with a bracket.
            let first = column.and_then(|column| words.at(asked.line, column));
            first.or_else(|| words.of_name(name).filter(|word| word.line == asked.line && !word.is_member).last())
        });
        Ok(word.map(|word| word.binder()))
    }

    /// A variable, or the object or type of that name.
    fn value_named(&mut self, asked: &NameQuery, name: &str, column: Option<u32>) -> Result<Value> {
        let family = asked.file.family;
        if family.itself.contains(&name) {
            let around = self.types_around(asked)?;
            let types = around.into_iter().next().unwrap_or_default();
            return Ok(Value::Typed(Typed::Known(types, ResolutionRule::Container)));
        }
        let Some(binder) = self.word_at(asked, name, column)? else { return Ok(Value::UNKNOWN) };
        if let Some(binder) = binder {
            let words = self.library.words(&asked.file.path)?;
            let bound = (*words).as_ref().and_then(|words| words.at(binder.0, binder.1));
            if let Some(written) = bound.and_then(|bound| bound.stated_type) {
                let (path, line) = (asked.file.path.clone(), binder.0);
                let text = self.library.text(&path)?.line(line).to_owned();
                // What is written there may have arguments.
                let whole =
                    expressions::declared(&text, name, &asked.file.language).filter(|w| w.contains(['<', '[', '*']));
                return Ok(match whole {
                    Some(text) => Value::Written { text, path, line, itself: Vec::new() },
                    None => Value::Typed(self.type_stated(&path, line, written, asked.depth)?),
                });
            }
            return self.value_given(asked, name, binder, 1);
        }
        if family.implicit_self {
            for types in self.types_around(asked)? {
                let value = self.field_of(asked, &types, name)?;
                if !matches!(value, Value::Typed(Typed::Unknown)) {
                    return Ok(value);
                }
            }
        }
        let typed = self.type_of_value(asked, name)?;
        if matches!(typed, Typed::Unknown) && name.starts_with(char::is_uppercase) && asked.file.language != "go" {
            return Ok(Value::Typed(self.type_named(&asked.file.path, asked.line, name, asked.depth)?));
        }
        Ok(Value::Typed(typed))
    }

    /// The result of a function by a receiver that is resolved without following expressions.
    fn result_of_call(&mut self, asked: &NameQuery, name: &str, receiver: &Receiver, index: usize) -> Result<Value> {
        let of_call = NameQuery { name, kind: "call", depth: asked.depth + 1, ..*asked };
        let Some(found) = self.resolve_asked(&of_call, receiver)?.filter(|found| found.how.is_proof()) else {
            return Ok(Value::UNKNOWN);
        };
        self.result_of(&found.targets, index, &[])
    }

    /// The type that all of some functions have as their result.
    fn result_of(&mut self, found: &[Rc<DefinitionNode>], index: usize, of: &[Rc<DefinitionNode>]) -> Result<Value> {
        let mut result: Option<Value> = None;
        let is_field = |of: &&Rc<DefinitionNode>| of.definition.kind == "field";
        // A method may have the name of a field.
        let has_others = !found.iter().all(|of| is_field(&of));
        for function in found.iter().filter(|of| !has_others || !is_field(of)) {
            let definition = &function.definition;
            let is_type = kinds::is_type(&definition.kind);
            let is_constructor =
                matches!(definition.kind.as_str(), "constructor" | "variant") || kinds::is_constructor(definition);
            let Some(file) = self.library.open(&definition.path)? else { return Ok(Value::UNKNOWN) };
            if is_type || is_constructor {
                let owner = if is_type { Some(Rc::clone(function)) } else { self.owner(&file, function)? };
                let types = owner.into_iter().collect();
                return Ok(Value::Typed(Typed::Known(types, ResolutionRule::File)));
            }
            if !matches!(definition.kind.as_str(), "function" | "method") {
                return Ok(Value::UNKNOWN);
            }
            let signature = definition.signature.as_deref().unwrap_or_default();
            let written = expressions::result(signature, &definition.name, &definition.language, index);
            let Some(written) = written.filter(|written| !written.contains('…')) else { return Ok(Value::UNKNOWN) };
            match &result {
                Some(Value::Written { text, .. }) if *text != written => return Ok(Value::UNKNOWN),
                Some(_) => {}
                None => {
                    let owner = self.owner(&file, function)?;
                    let is_trait = owner.as_ref().is_none_or(|owner| owner.definition.kind == "trait");
                    let itself = match owner {
                        Some(owner) if !is_trait => vec![owner],
                        _ => of.to_vec(),
                    };
                    let (path, line) = (definition.path.clone(), definition.line);
                    result = Some(Value::Written { text: written, path, line, itself });
                }
            }
        }
        Ok(result.unwrap_or(Value::UNKNOWN))
    }

    pub(super) fn field_of(&mut self, asked: &NameQuery, types: &[Rc<DefinitionNode>], name: &str) -> Result<Value> {
        let of_field = NameQuery { name, kind: "use", depth: asked.depth + 1, ..*asked };
        let (fields, _) = self.members(&of_field, types)?;
        if let Some(field) = fields.iter().find(|found| found.definition.kind == "field") {
            let definition = &field.definition;
            let line = self.library.text(&definition.path)?.line(definition.line).to_owned();
            if let Some(text) = expressions::declared(&line, name, &definition.language) {
                let itself = self.owner_of(field)?;
                return Ok(Value::Written { text, path: definition.path.clone(), line: definition.line, itself });
            }
        }
        let names = [name.to_owned()];
        Ok(Value::Typed(self.through_fields(asked, Typed::Known(types.to_vec(), ResolutionRule::File), &names)?))
    }

    pub(super) fn owner_of(&mut self, member: &DefinitionNode) -> Result<Declarations> {
        let Some(file) = self.library.open(&member.definition.path)? else { return Ok(Vec::new()) };
        Ok(self.owner(&file, member)?.into_iter().collect())
    }

    /// The type of a value. A result from outside may hold anything, so that only what is written is known to be outside.
    pub(super) fn type_of(&mut self, asked: &NameQuery, value: Value) -> Result<Typed> {
        let (text, path, line, itself) = match value {
            Value::Typed(typed) => return Ok(typed),
            Value::Written { text, path, line, itself } => (text, path, line, itself),
        };
        let Some(file) = self.library.open(&path)? else { return Ok(Typed::Unknown) };
        let is_rust = file.language == "rust";
        // Slices, arrays and tuples.
        if is_rust && expressions::bare(&text).starts_with(['[', '(']) {
            return Ok(Typed::Outside);
        }
        let Some(name) = variables::written_type(&text, &file.language) else { return Ok(Typed::Unknown) };
        if name == "Self" {
            let is_known = !itself.is_empty() && is_rust;
            return Ok(if is_known { Typed::Known(itself, ResolutionRule::Container) } else { Typed::Unknown });
        }
        let depth = asked.depth + 1;
        let mut typed = self.type_stated(&path, line, &name, depth)?;
        // A parameter is bound where its type is declared, or in the `impl` block that reads the field.
        for (path, line) in [(path.as_str(), line), (asked.file.path.as_str(), asked.line)] {
            if matches!(typed, Typed::Unknown) && is_rust {
                typed = self.bound_of(path, line, &name, depth)?;
            }
        }
        Ok(typed)
    }
}
