//! Definitions and references as SCIP files state them.
//!
//! Owns which of their occurrences still count: all of those in files that are as they were indexed, and otherwise those whose
//! position still holds the name of the symbol.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::extract::scip::{DEFINITION, IMPLEMENTATION, REFERENCE, constructed, counterpart, is_name_part};
use crate::store::{ScipOccurrence, Snapshot};

pub use crate::extract::scip::{is_definition, role};

/// Symbols that belong together. More are a mistake of the indexer.
const MAX_RELATED: usize = 1_000;

/// The symbol that a position names; or several, as `{ a }` is both a variable and a property in TypeScript.
#[derive(Clone, Debug)]
pub struct ScipSubject {
    pub symbol: String,
    pub is_local: bool,
    /// The rows in the SCIP file that says what is at the position.
    own: Vec<i64>,
    /// The rows of the same symbols in all SCIP files.
    ids: Vec<i64>,
    /// Rows of the symbols that they belong to by their names: the type of a constructor that is called, the setter of
    /// a getter.
    kin: Vec<i64>,
    /// The rows of their constructors, if they are types.
    constructors: Vec<i64>,
}

impl ScipSubject {
    /// The package, version and descriptors of a symbol that is defined elsewhere.
    pub fn external(&self) -> Option<String> {
        // `scheme manager package version descriptors`
        (!self.is_local)
            .then(|| self.symbol.split_once(' ').map_or_else(|| self.symbol.clone(), |(_, rest)| rest.to_owned()))
    }
}

/// Lines that were read, by file.
#[derive(Default)]
struct Lines(BTreeMap<(String, u32), Option<String>>);

impl Lines {
    /// Whether the position of an occurrence still holds the name of its symbol.
    fn fits(&mut self, snapshot: &Snapshot, one: &ScipOccurrence) -> Result<bool> {
        if one.is_current {
            return Ok(true);
        }
        if one.name.is_empty() || one.line != one.end_line {
            return Ok(false);
        }
        let key = (one.path.clone(), one.line);
        if !self.0.contains_key(&key) {
            let line = snapshot.lines(&one.path, one.line, one.line)?.pop();
            self.0.insert(key.clone(), line);
        }
        let Some(Some(line)) = self.0.get(&key) else { return Ok(false) };
        let (from, to) = (one.column.saturating_sub(1) as usize, one.end_column.saturating_sub(1) as usize);
        let before = from.checked_sub(1).and_then(|before| line.chars().nth(before));
        let held = line.chars().skip(from).take(to.saturating_sub(from));
        Ok(held.eq(one.name.chars())
            && !before.is_some_and(is_name_part)
            && !line.chars().nth(to).is_some_and(is_name_part))
    }
}

/// The symbol at a position of a file; `None` if no SCIP file says what is there.
pub fn subject(snapshot: &Snapshot, path: &str, line: u32, column: u32) -> Result<Option<ScipSubject>> {
    let mut lines = Lines::default();
    let mut found: Option<(ScipSubject, (u32, u32))> = None;
    for one in snapshot.scip_at(path, line, column)? {
        if !lines.fits(snapshot, &one)? {
            continue;
        }
        let range = (one.column, one.end_column);
        if found.as_ref().is_some_and(|(_, first)| *first != range) {
            break;
        }
        let ids = if one.is_local { vec![one.symbol_id] } else { snapshot.scip_symbols(&one.symbol)? };
        let nothing = || ScipSubject {
            symbol: one.symbol.clone(),
            is_local: true,
            own: Vec::new(),
            ids: Vec::new(),
            kin: Vec::new(),
            constructors: Vec::new(),
        };
        let (subject, _) = found.get_or_insert_with(|| (nothing(), range));
        if subject.is_local && !one.is_local {
            subject.symbol.clone_from(&one.symbol);
            subject.is_local = false;
        }
        subject.own.push(one.symbol_id);
        subject.ids.extend(ids);
        if !one.is_local {
            // At its own definition, a constructor is not a reference to its type.
            let of_type = constructed(&one.symbol).filter(|_| !is_definition(one.roles)).map(str::to_owned);
            for kin in [of_type.clone(), counterpart(&one.symbol)].into_iter().flatten() {
                subject.kin.extend(snapshot.scip_symbols(&kin)?);
            }
            let of_type = of_type.unwrap_or_else(|| one.symbol.clone());
            if of_type.ends_with('#') {
                let below = snapshot.scip_symbols_below(&of_type)?;
                let own = below.into_iter().filter(|(_, symbol)| constructed(symbol) == Some(of_type.as_str()));
                subject.constructors.extend(own.map(|(id, _)| id));
            }
        }
    }
    Ok(found.map(|(mut subject, _)| {
        subject.ids.sort_unstable();
        subject.ids.dedup();
        subject
    }))
}

/// Where a symbol is defined.
pub fn definitions(snapshot: &Snapshot, subject: &ScipSubject) -> Result<Vec<ScipOccurrence>> {
    // Two projects of one repository may have the same symbol, if their packages have no names.
    let kin = || [&subject.ids[..], &subject.kin].concat();
    for symbols in [subject.own.clone(), subject.ids.clone(), related(snapshot, &kin(), DEFINITION)?] {
        let mut found = occurrences(snapshot, &symbols)?;
        found.retain(|one| is_definition(one.roles));
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Where the definitions are that a symbol belongs to by its name: the type of a constructor that is called, the setter of a getter.
pub fn kin(snapshot: &Snapshot, subject: &ScipSubject) -> Result<Vec<ScipOccurrence>> {
    let mut found = occurrences(snapshot, &subject.kin)?;
    found.retain(|one| is_definition(one.roles));
    Ok(found)
}

/// Where a symbol is named, with its definitions: by path, line and column. A type is named where it is constructed.
pub fn references(snapshot: &Snapshot, subject: &ScipSubject) -> Result<Vec<ScipOccurrence>> {
    let all = related(snapshot, &[&subject.ids[..], &subject.kin].concat(), REFERENCE | DEFINITION)?;
    let mut found = occurrences(snapshot, &all)?;
    let constructed = occurrences(snapshot, &subject.constructors)?;
    found.extend(constructed.into_iter().filter(|one| !is_definition(one.roles)));
    in_order(&mut found);
    Ok(found)
}

/// Whether a SCIP file says what is at a position.
pub fn is_stated(snapshot: &Snapshot, path: &str, line: u32, column: u32) -> Result<bool> {
    Ok(subject(snapshot, path, line, column)?.is_some())
}

/// Where the definitions are that a symbol implements, or that implement it, over all steps.
pub fn implementations(snapshot: &Snapshot, subject: &ScipSubject, is_above: bool) -> Result<Vec<ScipOccurrence>> {
    let next = |symbol| snapshot.scip_implementations(symbol, IMPLEMENTATION, is_above);
    let all = connected(snapshot, &subject.ids, &next)?;
    let mut found = occurrences(snapshot, &all)?;
    found.retain(|one| is_definition(one.roles) && !subject.ids.contains(&one.symbol_id));
    Ok(found)
}

fn occurrences(snapshot: &Snapshot, symbols: &[i64]) -> Result<Vec<ScipOccurrence>> {
    let mut lines = Lines::default();
    let mut found = Vec::new();
    for symbol in symbols {
        for one in snapshot.scip_occurrences(*symbol)? {
            if lines.fits(snapshot, &one)? {
                found.push(one);
            }
        }
    }
    in_order(&mut found);
    Ok(found)
}

/// Sorts occurrences by path, line and column, and keeps one at each position: a definition if there is one.
fn in_order(found: &mut Vec<ScipOccurrence>) {
    found.sort_by(|a, b| {
        (&a.path, a.line, a.column, !is_definition(a.roles)).cmp(&(&b.path, b.line, b.column, !is_definition(b.roles)))
    });
    found.dedup_by(|a, b| (&a.path, a.line, a.column) == (&b.path, b.line, b.column));
}

/// Symbols with all that are related to them in these ways, however they are connected.
fn related(snapshot: &Snapshot, symbols: &[i64], kinds: u8) -> Result<Vec<i64>> {
    connected(snapshot, symbols, &|symbol| snapshot.scip_related(symbol, kinds))
}

/// Symbols with all that `next` leads to, each once, so that cycles end.
fn connected(
    snapshot: &Snapshot,
    symbols: &[i64],
    next: &dyn Fn(i64) -> Result<Vec<(i64, String, bool)>>,
) -> Result<Vec<i64>> {
    let mut all: BTreeSet<i64> = symbols.iter().copied().collect();
    let mut pending: Vec<i64> = symbols.to_vec();
    while let Some(symbol) = pending.pop() {
        for (id, text, is_global) in next(symbol)? {
            let same = if is_global { snapshot.scip_symbols(&text)? } else { vec![id] };
            for id in same {
                if all.len() < MAX_RELATED && all.insert(id) {
                    pending.push(id);
                }
            }
        }
    }
    Ok(all.into_iter().collect())
}
