//! Where definitions are named: every occurrence, read from the texts of all files that have the name.
//!
//! Owns which files are read, in which order and for how long, and under which other names a definition is known.
//! `extract` owns what a text says of a word, `relations` what the word then refers to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use super::positions::{Referred, is_script};
use super::relations::{Alias, ITSELF, MAX_NAMES, Occurrence, Reading, Resolver, Wanted, read_words, words_of};
use crate::budget::Budget;
use crate::error::Result;
use crate::extract::kinds::TYPES;
use crate::extract::position::Named;
use crate::extract::{CodeWords, LANGUAGES, WordRole};
use crate::store::{Definition, FtsQuery, NamingFile, Reference, Snapshot};

/// One position at which a definition is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub path: String,
    pub line: u32,
    pub column: u32,
    /// How it is used; `None` for the definition itself.
    pub kind: Option<String>,
    /// The name in that file, if an import or export gives it another one.
    pub alias: Option<String>,
    /// Whether the code states that it is one, and not only the name.
    pub is_certain: bool,
}

/// Where definitions are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// The name of the definitions.
    pub name: String,
    /// By path, line and column; where they are of many files, those of the nearest files first.
    pub found: Vec<Mention>,
    /// References through an import that could not be followed to a definition; they stay in `found`.
    pub unfollowed: usize,
    /// Occurrences that only the name suggests to be references; they stay in `found`.
    pub guessed: usize,
    /// Words in templates and in other text that is not code, which may be references.
    pub outside: usize,
    /// Files that were read, and that are to be read, if these are not all.
    pub unfinished: Option<(usize, usize)>,
    /// Whether the definitions themselves are known by their name only.
    pub is_of_guess: bool,
    /// Whether references that are not found are likely: to a member in a language with object literals.
    pub has_unlisted: bool,
}

impl Mentions {
    /// Records that only `done` of the `total` files with one of the names were read.
    fn leave_unread(&mut self, done: usize, total: usize) {
        let (before, all) = self.unfinished.unwrap_or_default();
        self.unfinished = Some((before + done, all + total));
    }
}

/// How long files may be read for one answer.
#[derive(Clone, Debug)]
pub struct ReadingTime {
    pub budget: Budget,
    /// When reading many files ends, and what was found is the answer.
    pub until: Option<Instant>,
    /// When reading ends in any case.
    pub at_last: Option<Instant>,
}

impl ReadingTime {
    pub fn unlimited() -> Self {
        Self { budget: Budget::unlimited(), until: None, at_last: None }
    }

    /// Whether no further file is to be read, out of `files` in all.
    fn is_over(&self, files: usize) -> Result<bool> {
        let end = if files > MANY_FILES { self.until } else { self.at_last };
        if end.is_some_and(|end| Instant::now() >= end) {
            return Ok(true);
        }
        self.budget.check()?;
        Ok(false)
    }
}

/// A name that more files have is read in the nearest ones first, and for a short time.
pub const MANY_FILES: usize = 200;

/// Files that are parsed by several threads before the first of them is looked at.
const AT_ONCE: usize = 8;

/// Where these definitions are named, including the definitions. References that are known to refer to something else are left out.
pub fn mentions(snapshot: &Snapshot, definitions: &[Definition], time: &ReadingTime) -> Result<Mentions> {
    let Some(first) = definitions.first() else { return Ok(Mentions::default()) };
    let mut resolver = Resolver::new(snapshot);
    let kin = resolver.declarations_of(definitions)?;
    let mut reading = MentionReading {
        snapshot,
        time,
        first,
        wanted: Wanted::new(&mut resolver, kin, &first.name)?,
        resolver,
        found: Mentions { name: first.name.clone(), ..Mentions::default() },
        is_many: false,
    };
    for (path, line, column) in reading.wanted.positions.clone() {
        reading.add(Mention { path, line, column, kind: None, alias: None, is_certain: true });
    }
    reading.read_all()?;
    let MentionReading { mut found, is_many, wanted, .. } = reading;
    if is_many {
        let homes = wanted.homes();
        found.found.sort_by_cached_key(|one| (away(&homes, &one.path), one.path.clone(), one.line, one.column));
    } else {
        found.found.sort_by(|a, b| (&a.path, a.line, a.column, &a.kind).cmp(&(&b.path, b.line, b.column, &b.kind)));
    }
    found.found.dedup_by(|a, b| (&a.path, a.line, a.column) == (&b.path, b.line, b.column));
    let is_type = TYPES.contains(&first.kind.as_str());
    found.has_unlisted = first.container.is_some() && is_script(&first.language) && !is_type;
    Ok(found)
}

/// Folders to pass on the way from one file to another; 0 for the same file.
pub(super) fn steps(from: &str, to: &str) -> usize {
    if from == to {
        return 0;
    }
    let folders = |path: &str| path.matches('/').count();
    let shared = from.split('/').zip(to.split('/')).take_while(|(a, b)| a == b).count();
    1 + folders(from) + folders(to) - 2 * shared
}

/// How far a file is from the nearest of some others.
fn away(homes: &[&str], path: &str) -> usize {
    homes.iter().map(|home| steps(home, path)).min().unwrap_or(0)
}

/// Where the variable of a block is bound that a position is on.
pub fn binder_at(snapshot: &Snapshot, path: &str, line: u32, column: u32) -> Result<Option<(u32, u32)>> {
    Ok(bound_at(snapshot, path, line, column)?.flatten())
}

/// The definition of the variable of a block that a position is on, also where it is bound. A lifetime or label of Rust leads to
/// nothing; `None` if the position is on neither.
pub fn local_at(snapshot: &Snapshot, path: &str, line: u32, named: &Named) -> Result<Option<Referred>> {
    let (line, column) = match bound_at(snapshot, path, line, named.column)? {
        None => return Ok(None),
        Some(None) => return Ok(path.ends_with(".rs").then(Referred::default)),
        Some(Some(binder)) => binder,
    };
    let is_one = |one: &Definition| (one.line, one.column) == (line, column);
    let mut definitions = snapshot.definitions_between(path, 0, line)?;
    definitions.retain(is_one);
    if definitions.is_empty() {
        let language = snapshot.file(path)?.map(|(_, language)| language).unwrap_or_default();
        definitions.push(Definition {
            path: path.to_owned(),
            language,
            name: named.name.clone(),
            kind: "variable".to_owned(),
            container: None,
            signature: None,
            line,
            column,
            start_line: line,
            end_line: line,
        });
    }
    Ok(Some(Referred { definitions, is_certain: true }))
}

/// Where the variable of a block is bound that a position is on, `Some(None)` for a label; `None` for anything else.
fn bound_at(snapshot: &Snapshot, path: &str, line: u32, column: u32) -> Result<Option<Option<(u32, u32)>>> {
    let Some(version) = snapshot.text_version(path)? else { return Ok(None) };
    let words = words_of(snapshot, version, path)?;
    Ok((*words).as_ref().and_then(|words| words.at(line, column)).and_then(|word| match word.role {
        WordRole::Declared => Some(None),
        _ => word.binder().map(Some),
    }))
}

/// Where a name that is not a symbol is named: a variable of a block, which is bound at `binder`, or what a file alone
/// has: an import from elsewhere.
pub fn in_file(
    snapshot: &Snapshot,
    path: &str,
    (line, column): (u32, u32),
    name: &str,
    binder: Option<(u32, u32)>,
) -> Result<Mentions> {
    let Some(version) = snapshot.text_version(path)? else { return Ok(Mentions::default()) };
    let words = words_of(snapshot, version, path)?;
    let Some(words) = &*words else { return Ok(Mentions::default()) };
    let is_bare = |role: WordRole| matches!(role, WordRole::Free | WordRole::Shorthand { bound_at: None, .. });
    let positions: Vec<(u32, u32)> = match (binder, words.at(line, column)) {
        (Some((line, column)), _) => words.bound_at(line, column).map(|word| (word.line, word.column)).collect(),
        (None, Some(word)) if is_bare(word.role) && !word.is_member => {
            if !words.binds(name) && !Resolver::new(snapshot).imports(path, name)? {
                return Ok(Mentions::default());
            }
            let all = words.of_name(name).filter(|word| is_bare(word.role) && !word.is_member);
            all.map(|word| (word.line, word.column)).collect()
        }
        _ => Vec::new(),
    };
    let rows = match snapshot.file(path)? {
        Some((file, _)) => snapshot.references_in_file(file, name)?,
        None => Vec::new(),
    };
    let mention = |(line, column): (u32, u32)| {
        let row = rows.iter().find(|row| (row.line, row.column) == (line, column));
        let kind = row.map_or_else(|| "use".to_owned(), |row| row.kind.clone());
        Mention {
            path: path.to_owned(),
            line,
            column,
            kind: (binder != Some((line, column))).then_some(kind),
            alias: None,
            is_certain: true,
        }
    };
    let found = positions.into_iter().map(mention).collect();
    Ok(Mentions { name: name.to_owned(), found, ..Mentions::default() })
}

struct MentionReading<'a, 's> {
    snapshot: &'s Snapshot<'s>,
    time: &'a ReadingTime,
    first: &'a Definition,
    wanted: Wanted,
    resolver: Resolver<'s>,
    found: Mentions,
    is_many: bool,
}

impl MentionReading<'_, '_> {
    fn add(&mut self, mention: Mention) {
        self.found.found.push(mention);
    }

    /// Reads the files that have the definition's name, then those that have one of its other names.
    fn read_all(&mut self) -> Result<()> {
        let own = Alias { name: self.first.name.clone(), only_in: None };
        let mut names = vec![own.clone()];
        let mut known: HashSet<Alias> = HashSet::from([own]);
        for (path, ..) in self.wanted.positions.clone() {
            let further = self.resolver.aliases_exported(&path, &self.first.name)?;
            names.extend(further.into_iter().filter(|alias| known.insert(alias.clone())));
        }
        let mut at = 0;
        while let Some(alias) = names.get(at).cloned() {
            at += 1;
            let further = self.read_name(&alias)?;
            if known.len() < MAX_NAMES {
                names.extend(further.into_iter().filter(|alias| known.insert(alias.clone())));
            }
        }
        Ok(())
    }

    /// Reads the files that have a name; returns the other names that imports and exports in them give.
    fn read_name(&mut self, alias: &Alias) -> Result<Vec<Alias>> {
        let name = alias.name.as_str();
        let files = self.files_naming(alias)?;
        let defined = self.resolver.positions_of(name)?;
        let many = files.len() > MANY_FILES;
        self.is_many |= many;
        let mut further = Vec::new();
        let total = files.len();
        for (done, file) in files.iter().enumerate() {
            if !self.time.is_over(total)? && done % AT_ONCE == 0 {
                read_words(self.snapshot, &files[done..total.min(done + AT_ONCE)])?;
            }
            if self.time.is_over(total)? {
                self.found.leave_unread(done, total);
                return Ok(further);
            }
            // File by file: a name of the kernel has half a million references, of which a first answer reads a few.
            let here = Alias { name: alias.name.clone(), only_in: Some(file.path.clone()) };
            let known = self.resolver.references_to(&here)?;
            let words = words_of(self.snapshot, file.version, &file.path)?;
            further.extend(self.read_file(alias, &file.path, known, &words, &defined)?);
            if alias.only_in.is_none() && self.resolver.has_itself(&file.path, &self.wanted)? {
                let itself = Alias { name: ITSELF.to_owned(), only_in: Some(file.path.clone()) };
                let known = self.resolver.references_to(&itself)?;
                self.read_file(&itself, &file.path, known, &words, &HashMap::new())?;
            }
        }
        further.extend(self.read_rows(alias, &files, &defined)?);
        Ok(further)
    }

    /// Reads the references of the index in files that are not among those read, such as files of other languages, the
    /// nearest first; returns the other names that imports and exports in them give.
    fn read_rows(
        &mut self,
        alias: &Alias,
        read: &[NamingFile],
        defined: &HashMap<(String, u32, u32), bool>,
    ) -> Result<Vec<Alias>> {
        let mut rows: BTreeMap<String, Vec<Reference>> = BTreeMap::new();
        for used in self.resolver.references_to(alias)? {
            rows.entry(used.path.clone()).or_default().push(used);
        }
        for file in read {
            rows.remove(&file.path);
        }
        let total = read.len() + rows.len();
        self.is_many |= total > MANY_FILES;
        let homes = self.wanted.homes();
        let mut rows: Vec<(String, Vec<Reference>)> = rows.into_iter().collect();
        rows.sort_by_cached_key(|(path, _)| (away(&homes, path), path.clone()));
        let mut further = Vec::new();
        for (done, (path, known)) in rows.into_iter().enumerate() {
            if self.time.is_over(total)? {
                self.found.leave_unread(read.len() + done, total);
                break;
            }
            further.extend(self.read_file(alias, &path, known, &Arc::default(), defined)?);
        }
        Ok(further)
    }

    /// The files that have a name, the nearest first.
    fn files_naming(&self, alias: &Alias) -> Result<Vec<NamingFile>> {
        let languages = self.resolver.languages_of(&self.first.language);
        let Some(query) = FtsQuery::phrase(&alias.name) else { return Ok(Vec::new()) };
        let mut files = self.snapshot.naming_files(&query, &languages)?;
        files.retain(|file| alias.only_in.as_ref().is_none_or(|only| *only == file.path));
        let homes = self.wanted.homes();
        files.sort_by_cached_key(|file| (away(&homes, &file.path), file.path.clone()));
        Ok(files)
    }

    fn read_file(
        &mut self,
        alias: &Alias,
        path: &str,
        known: Vec<Reference>,
        words: &Arc<Option<CodeWords>>,
        defined: &HashMap<(String, u32, u32), bool>,
    ) -> Result<Vec<Alias>> {
        let is_own_name = alias.name == self.first.name;
        let mut occurrences: BTreeMap<(u32, u32), Occurrence> = BTreeMap::new();
        for used in known {
            occurrences
                .insert((used.line, used.column), Occurrence { used, is_indexed: true, role: None, is_member: false });
        }
        for word in words.iter().flat_map(|words| words.of_name(&alias.name)) {
            if word.role == WordRole::Outside {
                self.found.outside += 1;
                continue;
            }
            let occurrence = occurrences.entry((word.line, word.column)).or_insert_with(|| Occurrence {
                is_indexed: false,
                used: Reference {
                    path: path.to_owned(),
                    name: alias.name.clone(),
                    kind: "use".to_owned(),
                    line: word.line,
                    column: word.column,
                },
                role: None,
                is_member: false,
            });
            (occurrence.role, occurrence.is_member) = (Some(word.role), word.is_member);
        }
        let mut further = Vec::new();
        for (position, mut occurrence) in occurrences {
            match defined.get(&(path.to_owned(), position.0, position.1)) {
                // A constructor names its type.
                Some(true) => {
                    occurrence.used.kind = "type".to_owned();
                    occurrence.is_indexed = true;
                    occurrence.role = Some(WordRole::Free);
                }
                // What is defined under the name is another symbol, or is listed already.
                Some(false) if occurrence.used.kind != "inherits" => continue,
                _ => {}
            }
            let reading = self.resolver.reads(&occurrence, &self.wanted)?;
            // Under another name only what the code states counts.
            if reading == Reading::Other || (!is_own_name && reading != Reading::Does) {
                continue;
            }
            self.found.unfollowed += usize::from(reading == Reading::Unfollowed);
            self.found.guessed += usize::from(reading == Reading::May);
            let used = occurrence.used;
            if reading != Reading::May {
                further.extend(self.resolver.aliases_at(&used)?);
            }
            let is_given = !is_own_name && self.resolver.is_given_at(&used)?;
            self.add(Mention {
                path: used.path,
                line: used.line,
                column: used.column,
                kind: Some(if is_given { "import".to_owned() } else { used.kind }),
                alias: (!is_own_name).then_some(used.name),
                is_certain: reading == Reading::Does,
            });
        }
        Ok(further)
    }
}

/// Files and words that were left unread for a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Files that were read, and that are to be read, if these are not all.
    pub files: Option<(usize, usize)>,
    /// Words in templates.
    pub outside: usize,
}

/// Every reference to a name in code, in path and line order: without variables of blocks, and names of fields and parameters that
/// are given with a value.
pub fn of_name(
    snapshot: &Snapshot,
    name: &str,
    definitions: &[Definition],
    time: &ReadingTime,
) -> Result<(Vec<Reference>, Unread)> {
    let (references, _) = snapshot.references(name, 0, usize::MAX)?;
    let mut unread = Unread::default();
    let Some(query) = FtsQuery::phrase(name) else { return Ok((references, unread)) };
    let mut resolver = Resolver::new(snapshot);
    let defined = resolver.positions_of(name)?;
    let mut languages: Vec<&str> = definitions.iter().flat_map(|one| resolver.languages_of(&one.language)).collect();
    if languages.is_empty() {
        languages.extend(LANGUAGES.iter().map(|language| language.name));
    }
    let mut files = snapshot.naming_files(&query, &languages)?;
    let homes: Vec<&str> = definitions.iter().take(HOMES).map(|one| one.path.as_str()).collect();
    files.sort_by_cached_key(|file| (away(&homes, &file.path), file.path.clone()));
    let mut known: BTreeMap<(String, u32, u32), Reference> = BTreeMap::new();
    for used in references {
        known.insert((used.path.clone(), used.line, used.column), used);
    }
    for (done, file) in files.iter().enumerate() {
        if !time.is_over(files.len())? && done % AT_ONCE == 0 {
            read_words(snapshot, &files[done..files.len().min(done + AT_ONCE)])?;
        }
        if time.is_over(files.len())? {
            unread.files = Some((done, files.len()));
            break;
        }
        let words = words_of(snapshot, file.version, &file.path)?;
        for word in words.iter().flat_map(|words| words.of_name(name)) {
            let position = (file.path.clone(), word.line, word.column);
            let is_of_symbol = match word.role {
                WordRole::Local { line, column } => defined.contains_key(&(file.path.clone(), line, column)),
                WordRole::Shorthand { bound_at: Some((line, column)), .. } => {
                    defined.contains_key(&(file.path.clone(), line, column))
                }
                WordRole::Free | WordRole::Shorthand { .. } => true,
                WordRole::Key { .. } => known.contains_key(&position),
                WordRole::Declared => false,
                WordRole::Outside => {
                    unread.outside += 1;
                    false
                }
            };
            if !is_of_symbol {
                known.remove(&position);
            } else if !defined.contains_key(&position) {
                known.entry(position).or_insert_with(|| Reference {
                    path: file.path.clone(),
                    name: name.to_owned(),
                    kind: "use".to_owned(),
                    line: word.line,
                    column: word.column,
                });
            }
        }
    }
    Ok((known.into_values().collect(), unread))
}

/// Definitions from which nearness is measured.
const HOMES: usize = 20;
