//! Values whose type the code states: variables, parameters, and fields of known types.
//!
//! Owns where such a statement is looked for. `variables` owns how one is spelled, `types` the members of a type.

use std::rc::Rc;

use super::families::Spelling;
use super::occurrence::ITSELF;
use super::receiver::{Receiver, receiver};
use super::resolution::{DEEPEST, Declarations, NameQuery, OUTSIDE, Resolution, ResolutionRule, Resolver, Typed};
use super::{blocks, kinds, modules, standard, variables};
use crate::error::Result;
use crate::query::qualified_name::qualified;
use crate::store::{Definition, DefinitionNode, Reference};

/// Lines of a type in which its constructor's parameters are looked for.
const LINES: u32 = 400;
/// Words that make a parameter of a constructor a field.
const FIELD_WORDS: &[&str] = &["private", "protected", "public", "readonly", "val", "var"];

impl Resolver<'_> {
    /// A name after `this.a.b.`.
    pub(super) fn of_fields(&mut self, asked: &NameQuery, names: &[String]) -> Result<Option<Resolution>> {
        for types in self.types_around(asked)? {
            let typed = Typed::Known(types, ResolutionRule::Container);
            match self.through_fields(asked, typed, names)? {
                Typed::Known(types, how) => {
                    let (found, closed) = self.members(asked, &types)?;
                    if !found.is_empty() {
                        return Ok(Self::one(how, found));
                    }
                    if closed {
                        return Ok(Self::elsewhere(asked));
                    }
                }
                Typed::Outside => return Ok(Some(OUTSIDE)),
                Typed::Unknown => {}
            }
        }
        self.loosely(asked, true)
    }

    /// Without the variables of blocks that do not see a line; of the others those of the innermost block.
    pub(super) fn in_blocks(&mut self, asked: &NameQuery, mut found: Declarations) -> Result<Declarations> {
        if asked.file.family.spelling != Spelling::Script {
            return Ok(found);
        }
        let text = self.library.text(&asked.file.path)?;
        let block = |d: &DefinitionNode| blocks::block_of(&text, d);
        let mut innermost = 0;
        found.retain(|d| match block(d) {
            None => true,
            Some((start, end)) if (start..=end).contains(&asked.line) => {
                innermost = innermost.max(start);
                true
            }
            Some(_) => false,
        });
        found.retain(|d| block(d).map_or(0, |(start, _)| start) == innermost);
        Ok(found)
    }

    /// Whether a name is a parameter or variable of the function around it, or a parameter of Kotlin's constructor in the head of a class,
    /// and not a member.
    pub(super) fn is_local(&mut self, asked: &NameQuery) -> Result<bool> {
        let language = asked.file.language.as_str();
        if self.is_free
            || asked.kind != "use"
            || !matches!(language, "java" | "kotlin" | "scala" | "csharp" | "swift" | "dart")
        {
            return Ok(false);
        }
        let around = self.library.around(asked.file, asked.line)?;
        let Some(outer) = around.iter().find(|outer| !kinds::is_local(&outer.definition.kind)) else {
            return Ok(false);
        };
        let is_type = kinds::is_type(&outer.definition.kind);
        if is_type && language != "kotlin" {
            return Ok(false);
        }
        let text = self.library.text(&asked.file.path)?;
        let from = outer.definition.start_line.max(asked.line.saturating_sub(LINES));
        let mut declaring =
            text.backwards(from, asked.line).filter(|line| variables::declares(line, asked.name, language));
        Ok(declaring.any(|line| {
            let before = line.split(asked.name).next().unwrap_or_default();
            !is_type || !before.split(|c: char| !c.is_alphanumeric()).any(|word| FIELD_WORDS.contains(&word))
        }))
    }

    /// The namespace of that name in one around a line of C#, which hides what the file has by `using`: in `Shop.Tests`, `Core` is
    /// `Shop.Core` before it is a class that is called `Core`.
    pub(super) fn namespaces_around(&mut self, asked: &NameQuery) -> Result<Declarations> {
        if asked.file.language != "csharp" || asked.kind != "use" {
            return Ok(Vec::new());
        }
        for outer in self.library.around(asked.file, asked.line)? {
            if !kinds::is_namespace(&outer.definition.kind) {
                continue;
            }
            let mut parts = modules::parts(&qualified(&outer.definition));
            while !parts.is_empty() {
                // A type of the namespace itself comes first.
                let space = Some(parts.join("."));
                let own = self.library.named(asked.name)?;
                if own.iter().any(|d| d.definition.container == space && kinds::is_type(&d.definition.kind)) {
                    return Ok(Vec::new());
                }
                let named = self.library.named(&format!("{}.{}", parts.join("."), asked.name))?;
                if named.iter().any(|found| kinds::is_namespace(&found.definition.kind)) {
                    return Ok(named.iter().take(1).cloned().collect());
                }
                parts.pop();
            }
        }
        Ok(Vec::new())
    }

    /// Whether a name in TypeScript is one of values, which no type has. What a file exports may be both.
    pub(super) fn is_value(&mut self, asked: &NameQuery) -> Result<bool> {
        Ok(match asked.kind {
            "call" => true,
            "use" => !self.library.text(&asked.file.path)?.line(asked.line).contains("export"),
            _ => false,
        })
    }

    /// Whether no interface or alias of TypeScript can be meant.
    pub(super) fn means_value(&mut self, asked: &NameQuery) -> Result<bool> {
        Ok(matches!(asked.file.language.as_str(), "typescript" | "tsx") && self.is_value(asked)?)
    }

    /// Whether nothing in a file can be a reference to some definitions, although no rule says what it refers to.
    pub(super) fn is_unreachable(&mut self, used: &Reference, wanted: &[(String, u32, u32)]) -> Result<bool> {
        let Some(file) = self.library.open(&used.path)? else { return Ok(false) };
        if file.family.spelling != Spelling::Script {
            return Ok(false);
        }
        let before = self.library.before(&used.path, used.line, used.column)?;
        let is_bare = receiver(&before, file.family) == Receiver::Bare;
        let is_module = !file.imports.is_empty();
        let named = self.library.named(&used.name)?;
        for declared in named.iter() {
            let definition = &declared.definition;
            let is_wanted = wanted.iter().any(|(path, line, column)| {
                (path, *line, *column) == (&definition.path, definition.line, definition.column)
            });
            if !is_wanted {
                continue;
            }
            let is_here = definition.path == used.path;
            let is_plain = blocks::is_variable(declared) && !kinds::is_member(declared);
            let is_local = blocks::block_of(self.library.text(&definition.path)?.as_ref(), declared).is_some();
            // Within its block a variable is found. It is never reached through something. A bare name in a module is imported or its own.
            let is_out_of_reach = is_local || if is_bare { is_module && !is_here } else { is_plain && is_here };
            if !is_out_of_reach {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The stated type of a field of the types around, which may be written without `this`. A variable hides it.
    pub(super) fn type_of_bare_field(&mut self, asked: &NameQuery, field: &str) -> Result<Typed> {
        if self.is_local(&NameQuery { name: field, kind: "use", ..*asked })? {
            return Ok(Typed::Unknown);
        }
        for types in self.types_around(asked)? {
            let typed = self.type_of_field(asked, &types, field)?;
            if !matches!(typed, Typed::Unknown) {
                return Ok(typed);
            }
        }
        Ok(Typed::Unknown)
    }

    /// The type of a field of a field of a value.
    pub(super) fn through_fields(&mut self, asked: &NameQuery, mut typed: Typed, names: &[String]) -> Result<Typed> {
        for name in names {
            let Typed::Known(types, how) = typed else { return Ok(typed) };
            typed = match self.type_of_field(asked, &types, name)? {
                Typed::Known(found, further) => Typed::Known(found, how.max(further)),
                other => other,
            };
        }
        Ok(typed)
    }

    fn type_of_field(&mut self, asked: &NameQuery, types: &[Rc<DefinitionNode>], field: &str) -> Result<Typed> {
        let of_field = NameQuery { name: field, kind: "use", ..*asked };
        let (fields, _) = self.members(&of_field, types)?;
        for found in fields.iter().filter(|found| !kinds::is_type(&found.definition.kind)) {
            let definition = &found.definition;
            let line = self.library.text(&definition.path)?.line(definition.line).to_owned();
            // A constant of an enum is one of its values.
            if definition.kind == "variant" && definition.language == "java" {
                return Ok(Typed::Known(types.to_vec(), ResolutionRule::Container));
            }
            let listed = || variables::type_of_listed(&line, &definition.language);
            if let Some(written) = variables::type_of_member(&line, field, &definition.language).or_else(listed) {
                return self.type_stated(&definition.path, definition.line, &written, asked.depth);
            }
        }
        for of in types.iter().filter(|of| of.definition.language == "go") {
            let bases = self.heritage(of, asked.depth)?;
            // The name of an embedded type is that of its field.
            let embedded =
                bases.iter().find(|(base, _)| modules::parts(&base.target).last().is_some_and(|last| last == field));
            if let Some((base, found)) = embedded {
                let found = found.as_ref().filter(|found| found.how != ResolutionRule::Ambiguous);
                return match found {
                    Some(found) if !found.targets.is_empty() => Ok(Typed::Known(found.targets.clone(), found.how)),
                    _ => self.type_stated(&of.definition.path, base.line, &base.target, asked.depth),
                };
            }
        }
        for of in types {
            let definition = &of.definition;
            let text = self.library.text(&definition.path)?;
            let last = definition.end_line.min(definition.start_line.saturating_add(LINES));
            let parameter = (definition.start_line..=last).find_map(|number| {
                let line = text.line(number);
                if let Some(written) = variables::type_of_assigned(line, field, &definition.language) {
                    return Some((number, written));
                }
                let written = variables::type_in(line, field, &definition.language)?;
                let before = line.split(field).next().unwrap_or_default();
                let mut words = before.split(|c: char| !c.is_alphanumeric());
                // In Scala each parameter in the head of a class is a field.
                let is_in_head =
                    definition.language == "scala" && before.contains(&format!("class {}", definition.name));
                (is_in_head || words.any(|word| FIELD_WORDS.contains(&word))).then_some((number, written))
            });
            if let Some((number, written)) = parameter {
                return self.type_named(&definition.path, number, &written, asked.depth);
            }
        }
        Ok(Typed::Unknown)
    }

    /// The type that the code around says a variable has: `x: T`, `x = T(`, `T x`.
    pub(super) fn declared_type(&mut self, asked: &NameQuery, variable: &str) -> Result<Typed> {
        let around = self.library.around(asked.file, asked.line)?;
        let from = around.first().map_or(asked.line.saturating_sub(40), |outer| outer.definition.start_line);
        let text = self.library.text(&asked.file.path)?;
        let from = from.max(asked.line.saturating_sub(200)).max(1);
        // What a block binds has the type that is stated there.
        let bound = self.root_at.filter(|_| asked.depth == 0 && asked.file.language == "rust");
        let written = match bound {
            Some((line, column)) => {
                let rest: String = text.line(line).chars().skip(column.saturating_sub(1) as usize).collect();
                variables::type_in(&rest, variable, &asked.file.language)
            }
            None => {
                let mut lines = text.backwards(from, asked.line);
                lines.find_map(|line| variables::type_in(line, variable, &asked.file.language))
            }
        };
        match written {
            Some(written) => self.type_named(&asked.file.path, asked.line, &written, asked.depth),
            None => Ok(Typed::Unknown),
        }
    }

    /// The type that the code states at a line of a file: from outside, if the repository defines nothing of that name.
    pub(super) fn type_stated(&mut self, path: &str, line: u32, written: &str, depth: usize) -> Result<Typed> {
        // The parameter of a generic type hides a type of its name.
        let bound = self.parameter_at(path, line, written, depth)?;
        let typed = match bound {
            Some(typed) => typed,
            None => self.type_named(path, line, written, depth)?,
        };
        let is_outside = matches!(typed, Typed::Unknown) && depth < DEEPEST && self.is_absent(path, written)?;
        Ok(if is_outside { Typed::Outside } else { typed })
    }

    /// Whether a type that a file names is from outside, in languages in which no code adds members to such a type.
    pub(super) fn is_absent(&mut self, path: &str, written: &str) -> Result<bool> {
        const LANGUAGES: &[&str] = &["java", "go", "c", "cpp", "objc"];
        // Other types of TypeScript may be narrowed, or stand for the members of others.
        const OF_SCRIPTS: &[&str] = &[
            "Array",
            "AsyncIterator",
            "Date",
            "Iterable",
            "Iterator",
            "Map",
            "Promise",
            "PromiseLike",
            "ReadonlyArray",
            "RegExp",
            "Set",
            "WeakMap",
            "WeakSet",
        ];
        let Some(file) = self.library.open(path)? else { return Ok(false) };
        let Some(name) = modules::parts(written).pop() else { return Ok(false) };
        let is_typed = LANGUAGES.contains(&file.language.as_str());
        let is_script = matches!(file.language.as_str(), "typescript" | "tsx") && OF_SCRIPTS.contains(&name.as_str());
        let is_closed = file.language == "rust" && standard::CLOSED.contains(&name.as_str());
        // A module or function may have the name of a primitive type.
        let is_primitive = is_closed && name.starts_with(char::is_lowercase);
        let is_defined = !is_primitive && self.library.named(&name)?.iter().any(|found| !kinds::is_member(found));
        if !(is_typed || is_script || is_closed) || is_defined {
            return Ok(false);
        }
        // A parameter of a generic type, or a type of a block.
        let words = self.library.words(path)?;
        Ok((*words).as_ref().is_some_and(|words| !words.of_name(&name).any(|word| word.binder().is_some())))
    }

    /// The type that the definition of a value states: of a variable outside of all functions.
    pub(super) fn type_of_value(&mut self, asked: &NameQuery, name: &str) -> Result<Typed> {
        let of_value = NameQuery { name, kind: "use", depth: asked.depth + 1, ..*asked };
        let found = self.resolve_asked(&of_value, &Receiver::Bare)?.filter(|found| found.how.is_proof());
        let Some(value) = found.as_ref().and_then(|found| found.targets.first()) else { return Ok(Typed::Unknown) };
        let Definition { path, line, kind, language, .. } = &value.definition;
        if !matches!(kind.as_str(), "variable" | "constant" | "static") {
            return Ok(Typed::Unknown);
        }
        let text = self.library.text(path)?.line(*line).to_owned();
        match variables::type_of_member(&text, &value.definition.name, language) {
            Some(written) => self.type_stated(path, *line, &written, of_value.depth),
            None => Ok(Typed::Unknown),
        }
    }

    /// The type that a `typedef` of C, or a `using` of C++, names.
    pub(super) fn aliased(&mut self, of: &DefinitionNode, depth: usize) -> Result<Typed> {
        let definition = &of.definition;
        let stated = definition.signature.as_deref().and_then(|signature| {
            let using = || signature.strip_prefix("using ").and_then(|alias| alias.split_once(" = ")).map(|(_, of)| of);
            signature.strip_prefix("typedef ").or_else(using)
        });
        let Some(stated) = stated.filter(|_| depth < DEEPEST) else { return Ok(Typed::Unknown) };
        let words = ["typename ", "const ", "struct ", "class ", "union ", "enum "];
        let bare = words.iter().fold(stated, |rest, word| rest.trim_start_matches(word));
        let name: String = bare.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
        if name.is_empty() || (name == definition.name && bare == stated) {
            return Ok(Typed::Unknown);
        }
        if name.contains(':') {
            return self.type_named(&definition.path, definition.line, &name, depth + 1);
        }
        let mut found = self.library.named(&name)?.to_vec();
        found.retain(|d| matches!(d.definition.kind.as_str(), "struct" | "union" | "class" | "enum"));
        let of_file: Declarations = found.iter().filter(|d| d.definition.path == definition.path).cloned().collect();
        let found = if of_file.is_empty() { found } else { of_file };
        if !found.is_empty() {
            return Ok(Typed::Known(found, ResolutionRule::File));
        }
        if name == definition.name {
            Ok(Typed::Unknown)
        } else {
            self.type_named(&definition.path, definition.line, &name, depth + 1)
        }
    }

    /// The type of that name at a line of a file.
    pub(super) fn type_named(&mut self, path: &str, line: u32, written: &str, depth: usize) -> Result<Typed> {
        let Some(file) = self.library.open(path)? else { return Ok(Typed::Unknown) };
        let mut qualifiers = modules::parts(written);
        let Some(name) = qualifiers.pop() else { return Ok(Typed::Unknown) };
        let of_type = NameQuery { file: &file, line, name: &name, kind: "type", depth: depth + 1 };
        if file.language == "rust" && written == ITSELF {
            let around = self.types_around(&of_type)?.into_iter().next();
            return Ok(around.map_or(Typed::Unknown, |types| Typed::Known(types, ResolutionRule::Container)));
        }
        // A type that belongs to a trait.
        if file.language == "rust" && qualifiers.first().is_some_and(|first| first == ITSELF) {
            return Ok(Typed::Unknown);
        }
        let receiver = if qualifiers.is_empty() { Receiver::Bare } else { Receiver::Path(qualifiers) };
        let mut found = self.resolve_asked(&of_type, &receiver)?;
        if found.is_none() && file.family.spelling == Spelling::Script {
            found = self.resolve_asked(&NameQuery { kind: "call", ..of_type }, &receiver)?;
        }
        let Some(found) = found else { return Ok(Typed::Unknown) };
        if found.targets.is_empty() {
            return Ok(Typed::Outside);
        }
        if found.how == ResolutionRule::Ambiguous {
            return Ok(Typed::Unknown);
        }
        let mut types = Vec::new();
        for found in found.targets {
            if found.definition.kind == "type"
                && file.family.headers
                && let Typed::Known(aliased, _) = self.aliased(&found, depth + 1)?
            {
                types.extend(aliased);
            }
            let may_be_alias = found.definition.kind == "type" && file.language == "rust" && depth < DEEPEST;
            // A type that belongs to a trait is another one in each implementation.
            if may_be_alias && self.trait_named(&found)?.is_none() {
                let alias = found.definition.signature.as_deref().and_then(|signature| signature.split_once('='));
                let written = alias.and_then(|(_, of)| variables::written_type(of.trim(), "rust"));
                if let Some(written) = written.filter(|written| *written != name) {
                    let Definition { path, line, .. } = &found.definition;
                    match self.type_stated(path, *line, &written, depth + 1)? {
                        Typed::Known(aliased, _) => {
                            types.extend(aliased);
                            continue;
                        }
                        Typed::Outside => return Ok(Typed::Outside),
                        Typed::Unknown => {}
                    }
                }
            }
            // A function of a script may construct objects.
            let is_constructor = file.family.spelling == Spelling::Script && found.definition.kind == "function";
            if kinds::is_type(&found.definition.kind) || (is_constructor && self.constructs(&found)?) {
                types.push(found);
            }
        }
        Ok(if types.is_empty() { Typed::Unknown } else { Typed::Known(types, found.how) })
    }
}
