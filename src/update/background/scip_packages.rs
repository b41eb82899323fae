//! Symbols that a SCIP file names in two ways: the definition without its package, a reference with it.
//!
//! Where a TypeScript project refers to another one of the same package, scip-typescript names a definition by its path in the
//! project (`npm . . helpers/util.ts/…`), and the references in other projects by its path in the package
//! (`npm zod 3.25.76 src/v3/helpers/util.ts/…`). Owns which of them are one symbol. Does not own the format (`extract`).

use std::collections::{HashMap, HashSet};

use crate::extract::scip::{PackageSymbol, is_definition};
use crate::store::ScipRows;

/// Makes one symbol of each definition and the references that name it by its package. `is_package` says whether a folder
/// of the repository, empty or with a slash at its end, is that of the package.
pub(super) fn unite(rows: &mut ScipRows, mut is_package: impl FnMut(&str, &str) -> bool) {
    let defined = defined(rows);
    let undefined: Vec<(usize, PackageSymbol)> =
        symbols(rows).filter(|(at, symbol)| !defined.contains_key(at) && !symbol.package.is_empty()).collect();
    if undefined.is_empty() {
        return;
    }
    let mut definitions: HashMap<(&str, String), usize> = HashMap::new();
    for (at, symbol) in symbols(rows) {
        let Some(path) = defined.get(&at).map(|document| rows.documents[*document].path.as_str()) else { continue };
        for (_, rest) in symbol.splits().filter(|(within, _)| folder_of(path, within).is_some()) {
            definitions.insert((path, rest), at);
        }
    }
    let mut paths: HashMap<&str, Vec<&str>> = HashMap::new();
    for document in &rows.documents {
        paths.entry(last_of(&document.path)).or_default().push(&document.path);
    }
    let mut same: HashMap<usize, usize> = HashMap::new();
    for (at, symbol) in undefined {
        let candidates = symbol.splits().flat_map(|(within, rest)| {
            let named = paths.get(last_of(&within)).map(Vec::as_slice).unwrap_or_default();
            let fits = named.iter().filter_map(|path| Some((*path, folder_of(path, &within)?)));
            fits.map(|(path, folder)| (path, folder, rest.clone())).collect::<Vec<_>>()
        });
        let mut found = candidates
            .filter_map(|(path, folder, rest)| Some((folder, *definitions.get(&(path, rest))?)))
            .filter(|(folder, _)| is_package(folder, &symbol.package));
        if let Some((_, definition)) = found.next() {
            same.insert(at, definition);
        }
    }
    apply(rows, &same);
}

/// Symbols that are defined in the file, with the document.
fn defined(rows: &ScipRows) -> HashMap<usize, usize> {
    let of_document = |at: usize| {
        let definitions = rows.documents[at].occurrences.iter().filter(|range| is_definition(range.roles));
        definitions.map(move |range| (range.symbol, at))
    };
    (0..rows.documents.len()).flat_map(of_document).collect()
}

/// Symbols that name their package, with their numbers.
fn symbols(rows: &ScipRows) -> impl Iterator<Item = (usize, PackageSymbol)> {
    let global = rows.symbols.iter().enumerate().filter(|(_, (_, _, document))| document.is_none());
    global.filter_map(|(at, (symbol, _, _))| Some((at, PackageSymbol::parse(symbol)?)))
}

/// Returns the folder of `path` if it ends with the path `within`.
fn folder_of<'p>(path: &'p str, within: &str) -> Option<&'p str> {
    let folder = path.strip_suffix(within)?;
    (folder.is_empty() || folder.ends_with('/')).then_some(folder)
}

fn last_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The definition takes the name with the package, by which other repositories know it, too.
fn apply(rows: &mut ScipRows, same: &HashMap<usize, usize>) {
    let number = |at: usize| same.get(&at).copied().unwrap_or(at);
    for range in rows.documents.iter_mut().flat_map(|document| &mut document.occurrences) {
        range.symbol = number(range.symbol);
    }
    for (one, other, _) in &mut rows.relationships {
        (*one, *other) = (number(*one), number(*other));
    }
    let mut renamed = HashSet::new();
    let mut pairs: Vec<(usize, usize)> = same.iter().map(|(at, definition)| (*at, *definition)).collect();
    pairs.sort_unstable();
    for (at, definition) in pairs {
        if renamed.insert(definition) {
            let with_package = rows.symbols[at].0.clone();
            let without = std::mem::replace(&mut rows.symbols[definition].0, with_package);
            rows.symbols[at].0 = without;
        }
    }
}
