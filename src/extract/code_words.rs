//! The words of a text's code, each with the facts that the text alone gives: which local variable it is, or of what it
//! is a field.
//!
//! Owns which words are code, and not strings or comments. `local_scopes` owns what blocks bind; `query` decides what a
//! word refers to outside of its text.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::languages::{self, Language};
use super::local_scopes::{Bindings, Mark};
use super::parse;
use super::read_word::{ReadWord, hash};
use super::script_exports::{ScriptExport, is_script, script_exports};
use super::source::Lines;
use super::syntax::{Node, ROOT, Syntax};
use super::word_classes::{Class, Classes};
use crate::model::RepoPath;

/// The role of a word, as far as its own text shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordRole<'w> {
    /// No block binds it.
    Free,
    /// A block binds it: the position of the name there.
    Local { line: u32, column: u32 },
    /// The name of a field or parameter of something, if that is named.
    Key { of: Option<&'w str> },
    /// A variable and the name of a field at once: `{ name }`.
    Shorthand { of: Option<&'w str>, bound_at: Option<(u32, u32)> },
    /// A declaration of something that is neither a symbol nor a variable: a label, a field of a type without a name.
    Declared,
    /// Outside of the parts that are code: in a template.
    Outside,
}

/// A word at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeWord<'w> {
    pub line: u32,
    pub column: u32,
    pub role: WordRole<'w>,
    /// Whether it is reached through something.
    pub is_member: bool,
    /// Stated type of the variable, where it is bound, without the path or arguments around its name.
    pub stated_type: Option<&'w str>,
}

/// All words of a text's code.
#[derive(Debug, Default)]
pub struct CodeWords {
    words: Vec<Word>,
    /// The names that keys belong to.
    owners: Vec<Box<str>>,
    exports: Vec<ScriptExport>,
    /// The names that the text binds outside of all blocks.
    outermost: HashSet<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    hash: u64,
    line: u32,
    column: u32,
    /// The word that binds it, or [`NONE`].
    bound_by: u32,
    /// Index in `owners` of the thing that it is a key of, or of the type of the variable that it binds; [`NONE`] if
    /// there is none.
    owner: u32,
    form: Form,
    is_member: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Key,
    Shorthand,
    Declared,
    Outside,
}

const NONE: u32 = u32::MAX;

/// Longer words are not names.
const MAX_WORD: usize = 512;

impl CodeWords {
    /// The words of a file's text; `None` if its language has no patterns of scopes, or the text cannot be parsed.
    pub fn read(path: &str, text: &str) -> Option<Self> {
        let path = RepoPath::new(path).or_else(|| RepoPath::outside(path))?;
        let language = languages::of_file(&path, text);
        let scopes = language.compiled_scopes()?;
        if parse::is_beyond(language, text) {
            return None;
        }
        let parts = language.parts.map(|parts| parts(text));
        if parts.as_ref().is_some_and(Vec::is_empty) {
            let mut reader = Reader::new(language, text);
            reader.outside(0..text.len());
            return Some(reader.done(None));
        }
        let syntax = match &parts {
            Some(parts) => Syntax::parse_ranges(&scopes.grammar, text.as_bytes(), parts)?,
            None => Syntax::parse(&scopes.grammar, text)?,
        };
        let mut reader = Reader::new(language, text);
        reader.read(&syntax, parts.as_deref());
        let bindings = scopes.bindings(&syntax, text);
        let exports = if is_script(&syntax) { script_exports(&syntax, text) } else { Vec::new() };
        Some(Self { exports, ..reader.done(Some(bindings)) })
    }

    /// The words that are a name, in order.
    pub fn of_name(&self, name: &str) -> impl Iterator<Item = CodeWord<'_>> {
        let hash = hash(name);
        self.words.iter().filter(move |word| word.hash == hash).map(|word| self.shown(word))
    }

    /// The word at a position.
    pub fn at(&self, line: u32, column: u32) -> Option<CodeWord<'_>> {
        let after = self.words.partition_point(|word| (word.line, word.column) < (line, column));
        self.words.get(after).filter(|word| (word.line, word.column) == (line, column)).map(|word| self.shown(word))
    }

    /// The words that are bound where this position is.
    pub fn bound_at(&self, line: u32, column: u32) -> impl Iterator<Item = CodeWord<'_>> {
        self.words.iter().map(|word| self.shown(word)).filter(move |word| word.binder() == Some((line, column)))
    }

    /// Whether the text binds a name outside of all blocks.
    pub fn binds(&self, name: &str) -> bool {
        self.outermost.contains(&hash(name))
    }

    /// The exports of a script, under the names that are written.
    pub fn exports(&self) -> &[ScriptExport] {
        &self.exports
    }

    /// How much memory they take.
    pub fn bytes(&self) -> usize {
        self.words.len() * size_of::<Word>() + self.owners.iter().map(|owner| owner.len() + 16).sum::<usize>()
    }

    fn shown(&self, word: &Word) -> CodeWord<'_> {
        let bound_at = self.words.get(word.bound_by as usize).map(|binder| (binder.line, binder.column));
        let of = self.owners.get(word.owner as usize).map(|owner| &**owner);
        let role = match (word.form, bound_at) {
            (Form::Key, _) => WordRole::Key { of },
            (Form::Shorthand, bound_at) => WordRole::Shorthand { of, bound_at },
            (Form::Declared, _) => WordRole::Declared,
            (Form::Outside, _) => WordRole::Outside,
            (Form::Plain, Some((line, column))) => WordRole::Local { line, column },
            (Form::Plain, None) => WordRole::Free,
        };
        let stated_type = of.filter(|_| word.form == Form::Plain);
        CodeWord { line: word.line, column: word.column, role, is_member: word.is_member, stated_type }
    }
}

impl CodeWord<'_> {
    /// The position of the local variable that it is.
    pub fn binder(&self) -> Option<(u32, u32)> {
        match self.role {
            WordRole::Local { line, column } => Some((line, column)),
            WordRole::Shorthand { bound_at, .. } => bound_at,
            _ => None,
        }
    }
}

struct Reader<'t> {
    language: &'static Language,
    text: &'t str,
    words: Vec<ReadWord>,
    /// Where the current leaf starts, and where the code before it ends: comments may be between.
    leaf: Option<(usize, usize)>,
    /// The class of the current leaf.
    class: Class,
}

impl<'t> Reader<'t> {
    fn new(language: &'static Language, text: &'t str) -> Self {
        Self { language, text, words: Vec::new(), leaf: None, class: Class::Other }
    }

    /// Takes all words of code. What no leaf of the tree covers is code, too: branches that were left out.
    fn read(&mut self, syntax: &Syntax, parts: Option<&[Range<usize>]>) {
        let classes = Classes::from_syntax(syntax);
        let (mut covered, mut code_end) = (0, 0);
        // Nodes that are open, each with whether what is inside is the text of a string.
        let mut open: Vec<(Node, bool)> = Vec::new();
        let (mut node, end) = (ROOT, syntax.next(ROOT));
        let mut next_part = 0;
        while node < end {
            while open.pop_if(|(next, _)| *next <= node).is_some() {}
            let in_string = open.last().is_some_and(|(_, in_string)| *in_string);
            let class = classes.class(syntax, node);
            let range = syntax.range(node);
            let is_leaf = !syntax.has_children(node);
            if is_leaf || class == Class::Comment {
                if covered < range.start {
                    let gap = covered..range.start;
                    self.gap(gap, in_string, parts, &mut next_part);
                }
                let is_code = is_leaf && class != Class::Comment && class != Class::String;
                if is_code && classes.is_named(syntax, node) && !(in_string && class == Class::Escape) {
                    (self.leaf, self.class) = (Some((range.start, code_end)), class);
                    self.leaf(&range, class == Class::Type);
                    (self.leaf, self.class) = (None, Class::Other);
                }
                if class != Class::Comment && !range.is_empty() {
                    code_end = range.end;
                }
                if class == Class::String {
                    self.within_string(&range);
                }
                covered = covered.max(range.end);
                node = syntax.next(node);
                continue;
            }
            match class {
                Class::String => open.push((syntax.next(node), true)),
                Class::Interpolation => open.push((syntax.next(node), false)),
                _ => {}
            }
            node = syntax.first(node);
        }
        self.gap(covered..self.text.len(), false, parts, &mut next_part);
        self.words.sort_by_key(|word| (word.range.start, word.range.end));
        self.words.dedup_by(|a, b| a.range == b.range);
    }

    /// Text between leaves: of the code, or between its parts.
    fn gap(&mut self, gap: Range<usize>, in_string: bool, parts: Option<&[Range<usize>]>, next_part: &mut usize) {
        let Some(parts) = parts else {
            if !in_string {
                self.split(gap, false);
            }
            return;
        };
        let mut from = gap.start;
        while let Some(part) = parts.get(*next_part) {
            if part.start >= gap.end {
                break;
            }
            if from < part.start {
                self.outside(from..part.start);
            }
            let inside = from.max(part.start)..part.end.min(gap.end);
            if !in_string && !inside.is_empty() {
                self.split(inside, false);
            }
            from = from.max(part.end.min(gap.end));
            if part.end > gap.end {
                return;
            }
            *next_part += 1;
        }
        if from < gap.end {
            self.outside(from..gap.end);
        }
    }

    fn outside(&mut self, range: Range<usize>) {
        let before = self.words.len();
        self.split(range, false);
        self.words[before..].iter_mut().for_each(|word| word.is_outside = true);
    }

    /// A leaf of code. What has more than one word is read as several.
    fn leaf(&mut self, range: &Range<usize>, is_type: bool) {
        let text = &self.text[range.clone()];
        let is_one = text.len() <= MAX_WORD && text.chars().all(|c| is_part(c) || "$#@?!-'`".contains(c));
        if !is_one {
            return self.split(range.clone(), is_type);
        }
        let bare = text.trim_matches(|c: char| !is_part(c));
        self.push(range.clone(), is_type);
        if bare.len() < text.len() && !bare.is_empty() {
            let start = range.start + text.find(bare).unwrap_or_default();
            self.push(start..start + bare.len(), is_type);
        }
    }

    fn split(&mut self, range: Range<usize>, is_type: bool) {
        let text = &self.text[range.clone()];
        let mut start = None;
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            match (is_part(c), start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    self.push(range.start + from..range.start + at, is_type);
                    start = None;
                }
                _ => {}
            }
        }
    }

    /// Takes names in strings that the grammar does not mark: `$name` in Kotlin, `{name}` in the format strings of Rust.
    fn within_string(&mut self, range: &Range<usize>) {
        let open = match self.language.name {
            "kotlin" => '$',
            "rust" => '{',
            _ => return,
        };
        let text = self.text;
        // The sign may be a leaf of its own.
        let start = if text[..range.start].ends_with(open) { range.start - open.len_utf8() } else { range.start };
        for (at, _) in text[start..range.end].match_indices(open) {
            let from = start + at + open.len_utf8();
            let rest = &text[from..];
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let is_closed = open == '$' || rest[length..].starts_with(['}', ':']);
            let is_escaped = text[..from - open.len_utf8()].ends_with([open, '\\']);
            if length > 0 && is_closed && !is_escaped {
                self.push(from..from + length, false);
            }
            if open == '$' || is_escaped {
                continue;
            }
            // The width and the precision: `{x:>width$.precision$}`.
            let form = &rest[..rest.find('}').unwrap_or(length)];
            for (end, _) in form.match_indices('$') {
                let name = form[..end].trim_end_matches(is_part).len();
                let count = self.words.len();
                self.push(from + name..from + end, false);
                // The dot before a precision leads to no member.
                self.words[count..].iter_mut().for_each(|word| word.is_member = false);
            }
        }
    }

    fn push(&mut self, range: Range<usize>, is_type: bool) {
        let word = &self.text[range.clone()];
        if word.is_empty() || word.len() > MAX_WORD || word.starts_with(|c: char| c.is_ascii_digit()) {
            return;
        }
        let before = match self.leaf {
            Some((start, code_end)) if !self.text[start..range.start].contains(is_part) => &self.text[..code_end],
            _ => &self.text[..range.start],
        };
        let is_member = is_member(before, self.language.name);
        let hash = hash(word);
        let class = if is_type { Class::Type } else { self.class };
        let is_member = is_member || class == Class::Property;
        let is_field = class == Class::Field;
        self.words.push(ReadWord { hash, range, is_member, is_field, is_type, is_outside: false });
    }

    /// Whether a name is that of a module or of a type outside of all blocks: `ast::Group`.
    fn is_module(&self, range: &Range<usize>) -> bool {
        matches!(self.language.name, "rust" | "cpp")
            && self.text[range.end..].starts_with("::")
            && self.text[range.clone()].starts_with(char::is_lowercase)
    }

    fn done(self, bindings: Option<Bindings>) -> CodeWords {
        let lines = Lines::new(self.text);
        let marks = bindings.as_ref().map(|bindings| &bindings.marks);
        let binders = bindings.as_ref().map(|bindings| bindings.binders(&self.words)).unwrap_or_default();
        let index: HashMap<usize, u32> =
            self.words.iter().enumerate().map(|(at, word)| (word.range.start, number(at))).collect();
        let mut owners: Vec<Box<str>> = Vec::new();
        let mut known: HashMap<Range<usize>, u32> = HashMap::new();
        let mut words = Vec::with_capacity(self.words.len());
        for (at, word) in self.words.iter().enumerate() {
            let (line, column) = lines.position(self.text, word.range.start);
            let mark = marks.and_then(|marks| marks.get(&word.range.start));
            let (form, owner) = match mark {
                _ if word.is_outside => (Form::Outside, None),
                Some(Mark::Key(owner)) => (Form::Key, owner.clone()),
                Some(Mark::Shorthand(owner)) => (Form::Shorthand, owner.clone()),
                Some(Mark::Declared) => (Form::Declared, None),
                Some(Mark::Free) | None => {
                    (Form::Plain, bindings.as_ref().and_then(|bindings| bindings.types.get(&word.range.start).cloned()))
                }
            };
            let owner = owner.map(|range| {
                *known.entry(range.clone()).or_insert_with(|| {
                    owners.push(bare_owner(&self.text[range]).into());
                    number(owners.len() - 1)
                })
            });
            let is_bound = !word.is_member
                && !word.is_field
                && !word.is_outside
                && mark != Some(&Mark::Free)
                && !self.is_module(&word.range);
            let bound_by = binders.get(at).copied().flatten().filter(|_| is_bound);
            words.push(Word {
                hash: word.hash,
                line,
                column,
                bound_by: bound_by.and_then(|start| index.get(&start).copied()).unwrap_or(NONE),
                owner: owner.unwrap_or(NONE),
                form,
                is_member: word.is_member,
            });
        }
        let outermost = bindings.map(|bindings| bindings.outermost).unwrap_or_default();
        CodeWords { words, owners, exports: Vec::new(), outermost }
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

/// The type or function that a key belongs to, without what is around its name: `&shop.Cart[int]` is `shop.Cart`.
fn bare_owner(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| !is_part(c));
    let end = text.find(|c: char| !is_part(c) && !matches!(c, '.' | ':' | '\\')).unwrap_or(text.len());
    text[..end].trim_end_matches(['.', ':'])
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a word is reached through the code that precedes it.
fn is_member(before: &str, language: &str) -> bool {
    let before = before.trim_end_matches(['@', '#', '$', '`']);
    let trimmed = before.trim_end();
    if let Some(rest) = trimmed.strip_suffix('.') {
        // Two are a range, or Dart's cascade; three are a rest of arguments. In PHP one joins texts.
        return match language {
            "dart" => !rest.ends_with(".."),
            "php" => false,
            _ => !rest.ends_with('.'),
        };
    }
    if trimmed.ends_with("->") {
        return matches!(language, "c" | "cpp" | "objc" | "php");
    }
    if let Some(rest) = trimmed.strip_suffix("::") {
        // In Kotlin and Java, what a function is taken from may be absent.
        return language != "kotlin" || rest.ends_with(|c: char| is_part(c) || c == ')' || c == '>');
    }
    (language == "lua" && before.ends_with(':')) || (language == "php" && before.ends_with('\\'))
}
