//! How well the names that a chunk defines match a query.
//!
//! Owns the comparison: by words, as a whole, and by similarity to a sentence. Candidates share many names, so each name is
//! compared once.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::parsed_query::{ParsedQuery, QueryShape};
use super::scan::Scanner;
use super::semantic;
use crate::embed::{Comparison, built_in};
use crate::extract::kinds;
use crate::store::ChunkName;
use crate::words;

/// Weight of the least likely kind, relative to the most likely.
const OF_ANY_KIND: f64 = 0.6;
/// A defined name that fits less does not locate the hit.
const SHOWS: f64 = 0.5;

/// Words and similarity that the names of a chunk share with a query.
#[derive(Default)]
pub(super) struct NameMatches {
    /// Words of the query in any of them.
    pub all: u64,
    pub best: f64,
    pub defines: f64,
    pub cased: f64,
    pub of_type: f64,
    pub similarity: f64,
    /// The name that fits best.
    pub name: Option<String>,
}

/// Compares names with one query.
pub(super) struct NameReader<'q> {
    query: &'q ParsedQuery,
    /// The weight of its heaviest word.
    heaviest: f64,
    comparison: Option<Comparison<'static>>,
    known: HashMap<String, KnownName, RandomState>,
}

/// Words that a name shares with a query, whatever it names.
struct KnownName {
    /// Words of the query.
    set: u64,
    /// How much of it they make up, and of the query the name.
    fit: f64,
    /// It is the whole query, written together.
    is_joined: bool,
    /// The terms of the query that it is.
    terms: Vec<NamedTerm>,
    /// How near it is to the query, once asked for.
    similarity: Option<f64>,
}

/// A term of a query that a name is.
struct NamedTerm {
    says: f64,
    /// The name may be that of a type that the query is about.
    may_be_type: bool,
    /// With the same upper and lower case.
    is_cased: bool,
}

impl<'q> NameReader<'q> {
    pub fn new(query: &'q ParsedQuery) -> Self {
        Self {
            query,
            heaviest: query.words.iter().map(|word| word.weight).fold(0.0, f64::max),
            comparison: query.vector.as_ref().map(|vector| built_in().comparison(vector)),
            known: HashMap::default(),
        }
    }

    pub fn read(&mut self, scanner: &mut Scanner, names: &[ChunkName]) -> NameMatches {
        let mut found = NameMatches::default();
        let is_name = self.query.is_name();
        for ChunkName { text: name, kind } in names {
            if !self.known.contains_key(name) {
                let known = self.look_at(scanner, name);
                self.known.insert(name.clone(), known);
            }
            let Some(known) = self.known.get_mut(name) else { continue };
            if let Some(comparison) = &mut self.comparison
                && kind.as_deref().is_some_and(|kind| !is_of_data(kind))
            {
                let similarity = *known.similarity.get_or_insert_with(|| semantic::of_name(name, comparison));
                found.similarity = found.similarity.max(similarity);
            }
            if known.set == 0 && !is_name {
                continue;
            }
            found.all |= known.set;
            // A local variable is not a class.
            let by_kind = OF_ANY_KIND + (1.0 - OF_ANY_KIND) * likely(self.query, kind.as_deref());
            let mut defines = if known.is_joined { by_kind } else { 0.0 };
            for term in &known.terms {
                let says = term.says * by_kind;
                defines = f64::max(defines, says);
                if term.may_be_type && kind.as_deref().is_some_and(|kind| kinds::TYPES.contains(&kind)) {
                    found.of_type = found.of_type.max(self.query.weight_of(known.set) / self.heaviest);
                }
                if term.is_cased {
                    found.cased = f64::max(found.cased, says);
                }
            }
            let fit = known.fit;
            if found.name.is_none() || fit + defines > found.best + found.defines {
                found.name = (fit + defines > SHOWS).then(|| name.clone()).or(found.name);
            }
            found.best = found.best.max(fit);
            found.defines = found.defines.max(defines);
        }
        found
    }

    fn look_at(&self, scanner: &mut Scanner, name: &str) -> KnownName {
        let query = self.query;
        let (set, matched, count) = scanner.words_of(name);
        let fit = (f64::from(matched) / f64::from(count.max(1)) * query.share_of(set)).sqrt();
        let mut known = KnownName { set, fit, is_joined: false, terms: Vec::new(), similarity: None };
        if set == 0 && !query.is_name() {
            return known;
        }
        let lower = words::plain(name).to_lowercase();
        let last_of = last_component(&lower);
        known.is_joined = last_of.replace(['_', '-'], "") == query.joined;
        let last = query.terms.len().saturating_sub(1);
        let is_short = query.is_of_few_words();
        for (at, term) in query.terms.iter().enumerate().filter(|(_, term)| term.text == lower || term.text == last_of)
        {
            let says = match query.shape {
                // In `Class.method`, the method is asked for.
                QueryShape::Code => {
                    if at == last {
                        1.0
                    } else {
                        0.3
                    }
                }
                _ if term.is_compound() => 1.0,
                _ if self.heaviest > 0.0 => 0.5 * query.weight_of(set) / self.heaviest,
                _ => 0.0,
            };
            let may_be_type = is_short && !term.is_compound() && self.heaviest > 0.0;
            known.terms.push(NamedTerm { says, may_be_type, is_cased: name.ends_with(&term.written) });
        }
        known
    }
}

/// Kinds of symbols that hold a value.
fn is_of_data(kind: &str) -> bool {
    matches!(kind, "constant" | "variable" | "field" | "attribute" | "property" | "key" | "variant")
}

/// How likely a query refers to a symbol of that kind.
pub(super) fn likely(query: &ParsedQuery, kind: Option<&str>) -> f64 {
    match kind {
        _ if !query.kinds.is_empty() => {
            if kind.is_some_and(|kind| query.kinds.contains(&kind)) {
                1.0
            } else {
                0.0
            }
        }
        Some("constant") => 0.6,
        Some(kind) if is_of_data(kind) => 0.2,
        Some("method") => 0.8,
        _ => 1.0,
    }
}

/// The last component of a dotted name: `Query` of `Ecto.Query`.
fn last_component(name: &str) -> &str {
    if name.contains(char::is_whitespace) { name } else { name.rsplit(['.', ':', '/']).next().unwrap_or(name) }
}
