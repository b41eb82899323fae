//! Parsing of `.scm` files.

use std::iter::Peekable;
use std::num::NonZeroU16;
use std::vec::IntoIter;

use regex_automata::meta::Regex;
use tree_sitter::Language;

use super::{ERROR, Kind, Many, Pattern, Patterns, Predicate, Shape, Step, Test};

/// A result, or a message about a fault of a `.scm`.
type Outcome<T> = Result<T, String>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    /// A bracket, an anchor, a quantifier, `!`.
    Sign(char),
    Name(String),
    /// Without its colon.
    Field(String),
    Capture(String),
    /// Without its `#`.
    Predicate(String),
    Quoted(String),
}

impl Patterns {
    /// Reads `source` as patterns over trees of `grammar`.
    pub(in crate::extract) fn read(grammar: &Language, source: &str) -> Outcome<Self> {
        let kinds =
            u16::try_from(grammar.node_kind_count()).map_err(|_| "the grammar has too many kinds".to_owned())?;
        let is_named: Vec<bool> = (0..kinds).map(|kind| grammar.node_kind_is_named(kind)).collect();
        let mut reader = Reader { grammar, words: words(source)?.into_iter().peekable(), captures: Vec::new() };
        let mut patterns = Vec::new();
        while reader.words.peek().is_some() {
            patterns.push(reader.pattern()?);
        }
        let mut by_kind = vec![Vec::new(); usize::from(kinds)];
        let mut at_error = Vec::new();
        for (at, pattern) in patterns.iter().enumerate() {
            for (root, shape) in pattern.roots.iter().enumerate() {
                let entry = (at, root);
                match &shape.kind {
                    Kind::One(ERROR) => at_error.push(entry),
                    Kind::One(kind) => by_kind[usize::from(*kind)].push(entry),
                    Kind::AnyOf(several) => several.iter().for_each(|kind| by_kind[usize::from(*kind)].push(entry)),
                    Kind::Any => by_kind.iter_mut().for_each(|entries| entries.push(entry)),
                    Kind::Named => {
                        let named = by_kind.iter_mut().zip(&is_named).filter(|(_, is_named)| **is_named);
                        named.for_each(|(entries, _)| entries.push(entry));
                    }
                }
            }
        }
        Ok(Self { patterns, by_kind, at_error, is_named, captures: reader.captures })
    }
}

struct Reader<'a> {
    grammar: &'a Language,
    words: Peekable<IntoIter<Word>>,
    captures: Vec<String>,
}

impl Reader<'_> {
    /// A node, alternatives of nodes, or one of both in brackets, with predicates.
    fn pattern(&mut self) -> Outcome<Pattern> {
        let mut predicates = Vec::new();
        let is_group = self.words.peek() == Some(&Word::Sign('('))
            && matches!(self.words.clone().nth(1), Some(Word::Sign('(' | '[')));
        if !is_group {
            let roots = self.root(&mut predicates)?;
            return Ok(Pattern { roots, predicates });
        }
        self.words.next();
        let mut roots = self.root(&mut predicates)?;
        while !self.takes(&Word::Sign(')')) {
            predicates.push(self.predicate()?);
        }
        self.capture_all(&mut roots);
        Ok(Pattern { roots, predicates })
    }

    /// Captures that follow a node.
    fn capture_all(&mut self, shapes: &mut [Shape]) {
        while let Some(Word::Capture(name)) = self.words.next_if(|word| matches!(word, Word::Capture(_))) {
            let capture = self.capture(&name);
            shapes.iter_mut().for_each(|shape| shape.captures.push(capture));
        }
    }

    fn root(&mut self, predicates: &mut Vec<Predicate>) -> Outcome<Vec<Shape>> {
        let root = self.step(predicates)?;
        if root.many == Many::One { Ok(root.shapes) } else { Err("a root occurs once".to_owned()) }
    }

    fn takes(&mut self, word: &Word) -> bool {
        self.words.next_if_eq(word).is_some()
    }

    /// One child of a pattern with all that follows it: its quantifier and captures.
    fn step(&mut self, predicates: &mut Vec<Predicate>) -> Outcome<Step> {
        let field = match self.words.next_if(|word| matches!(word, Word::Field(_))) {
            Some(Word::Field(name)) => Some(self.field(&name)?),
            _ => None,
        };
        let mut shapes = match self.words.next() {
            Some(Word::Sign('[')) => self.alternatives(predicates)?,
            Some(Word::Sign('(')) => vec![self.node(predicates)?],
            Some(Word::Quoted(word)) => vec![Shape::new(Kind::One(self.kind(&word, false)?))],
            Some(Word::Name(name)) if name == "_" => vec![Shape::new(Kind::Any)],
            other => return Err(format!("a node cannot begin with {other:?}")),
        };
        let many = if self.takes(&Word::Sign('?')) {
            Many::Optional
        } else if self.takes(&Word::Sign('+')) {
            Many::Repeated
        } else {
            Many::One
        };
        if many == Many::Repeated && shapes.iter().any(|shape| !shape.children.is_empty() || shape.field.is_some()) {
            return Err("what is repeated has neither children nor a field".to_owned());
        }
        self.capture_all(&mut shapes);
        if let Some(field) = field {
            shapes.iter_mut().for_each(|shape| shape.field = Some(field));
        }
        let is_silent = many == Many::One && shapes.iter().all(Shape::is_silent);
        Ok(Step { shapes, many, is_next: false, is_last: false, is_silent })
    }

    /// After its opening bracket.
    fn alternatives(&mut self, predicates: &mut Vec<Predicate>) -> Outcome<Vec<Shape>> {
        let mut shapes = Vec::new();
        while !self.takes(&Word::Sign(']')) {
            let step = self.step(predicates)?;
            if step.many != Many::One {
                return Err("an alternative occurs once".to_owned());
            }
            shapes.extend(step.shapes);
        }
        Ok(shapes)
    }

    /// After its opening bracket.
    fn node(&mut self, predicates: &mut Vec<Predicate>) -> Outcome<Shape> {
        let Some(Word::Name(name)) = self.words.next() else { return Err("a node has a kind".to_owned()) };
        let kind = match name.as_str() {
            "_" => Kind::Named,
            "ERROR" => Kind::One(ERROR),
            name => self.named(name)?,
        };
        let mut shape = Shape::new(kind);
        let mut is_next = false;
        while !self.takes(&Word::Sign(')')) {
            if self.takes(&Word::Sign('!')) {
                let Some(Word::Name(name)) = self.words.next() else {
                    return Err("`!` must precede a field".to_owned());
                };
                shape.absent.push(self.field(&name)?);
            } else if self.takes(&Word::Sign('.')) {
                is_next = true;
            } else if self.begins_predicate() {
                predicates.push(self.predicate()?);
            } else {
                let step = self.step(predicates)?;
                shape.children.push(Step { is_next, ..step });
                is_next = false;
            }
        }
        if is_next {
            let last = shape.children.last_mut().filter(|last| last.many == Many::One);
            last.ok_or("an anchor at the end must follow one node")?.is_last = true;
        }
        Ok(shape)
    }

    fn begins_predicate(&self) -> bool {
        let mut ahead = self.words.clone();
        ahead.next() == Some(Word::Sign('(')) && matches!(ahead.next(), Some(Word::Predicate(_)))
    }

    fn predicate(&mut self) -> Outcome<Predicate> {
        self.words.next();
        let (Some(Word::Predicate(name)), Some(Word::Capture(capture))) = (self.words.next(), self.words.next()) else {
            return Err("a predicate has a name and a capture".to_owned());
        };
        let capture = self.capture(&capture);
        let (wanted, kind) = name.strip_prefix("not-").map_or((true, name.as_str()), |kind| (false, kind));
        let test = match (kind, self.words.next()) {
            ("eq?", Some(Word::Quoted(word))) => Test::Is(word),
            ("eq?", Some(Word::Capture(other))) => Test::IsEqual(self.capture(&other)),
            ("match?", Some(Word::Quoted(pattern))) => {
                let regex = Regex::new(&pattern).map_err(|error| format!("`{pattern}` is not a pattern: {error}"))?;
                Test::Matches(Box::new(regex))
            }
            _ => return Err(format!("there is no predicate #{name} of this")),
        };
        if self.takes(&Word::Sign(')')) {
            Ok(Predicate { capture, test, wanted })
        } else {
            Err(format!("#{name} says too much"))
        }
    }

    fn capture(&mut self, name: &str) -> usize {
        self.captures.iter().position(|known| known == name).unwrap_or_else(|| {
            self.captures.push(name.to_owned());
            self.captures.len() - 1
        })
    }

    fn field(&self, name: &str) -> Outcome<NonZeroU16> {
        self.grammar.field_id_for_name(name).ok_or_else(|| format!("the grammar has no field `{name}`"))
    }

    fn kind(&self, name: &str, is_named: bool) -> Outcome<u16> {
        match self.grammar.id_for_node_kind(name, is_named) {
            0 => Err(format!("the grammar has no kind `{name}`")),
            kind => Ok(kind),
        }
    }

    fn named(&self, name: &str) -> Outcome<Kind> {
        let kind = self.kind(name, true)?;
        if !self.grammar.node_kind_is_supertype(kind) {
            return Ok(Kind::One(kind));
        }
        let (mut kinds, mut unseen) = (Vec::new(), vec![kind]);
        while let Some(kind) = unseen.pop() {
            for subtype in self.grammar.subtypes_for_supertype(kind) {
                if self.grammar.node_kind_is_supertype(*subtype) {
                    unseen.push(*subtype);
                } else if !kinds.contains(subtype) {
                    kinds.push(*subtype);
                }
            }
        }
        Ok(Kind::AnyOf(kinds))
    }
}

impl Shape {
    const fn new(kind: Kind) -> Self {
        Self { kind, field: None, absent: Vec::new(), captures: Vec::new(), children: Vec::new() }
    }

    fn is_silent(&self) -> bool {
        let is_silent = |step: &Step| step.shapes.iter().all(Self::is_silent);
        self.captures.is_empty() && self.children.iter().all(is_silent)
    }
}

fn words(source: &str) -> Outcome<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = source.chars().peekable();
    while let Some(first) = rest.next() {
        let mut name = |first: Option<char>| {
            let is_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '?');
            let mut name = String::from_iter(first);
            while let Some(c) = rest.next_if(|c| is_name(c) && (*c != '?' || first.is_none())) {
                name.push(c);
            }
            name
        };
        words.push(match first {
            c if c.is_whitespace() => continue,
            ';' => {
                while rest.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            '(' | ')' | '[' | ']' | '.' | '!' | '?' | '+' => Word::Sign(first),
            '@' => Word::Capture(name(None)),
            '#' => Word::Predicate(name(None)),
            '"' => Word::Quoted(quoted(&mut rest)?),
            c if c.is_alphanumeric() || c == '_' => {
                let name = name(Some(c));
                if rest.next_if_eq(&':').is_some() { Word::Field(name) } else { Word::Name(name) }
            }
            other => return Err(format!("`{other}` is not understood")),
        });
    }
    Ok(words)
}

/// After the opening quote.
fn quoted(rest: &mut Peekable<std::str::Chars>) -> Outcome<String> {
    let mut word = String::new();
    loop {
        match rest.next() {
            Some('"') => return Ok(word),
            Some('\\') => match rest.next() {
                Some('n') => word.push('\n'),
                Some('r') => word.push('\r'),
                Some('t') => word.push('\t'),
                Some(c) => word.push(c),
                None => break,
            },
            Some(c) => word.push(c),
            None => break,
        }
    }
    Err("a quote is not closed".to_owned())
}
