//! Which definitions differ between two versions of files: added, removed, renamed, moved, or changed.
//!
//! Owns the comparison, which is by text and knows no language. Pure.

use std::collections::{HashMap, HashSet};

use crate::model::Symbol;
use crate::store::DefinitionNode;

/// A definition of one version.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub path: String,
    pub language: String,
    pub name: String,
    pub kind: String,
    pub container: Option<String>,
    pub signature: Option<String>,
    pub line: u32,
    pub start_line: u32,
    pub end_line: u32,
    /// The enclosing definition, by its number in the same file.
    parent: Option<usize>,
    /// The lines without those of definitions inside, and without the indentation of the first.
    own: Vec<String>,
    /// The line of its name.
    pub head: String,
    /// In the index, for those of the new version.
    pub node: Option<DefinitionNode>,
}

/// How a definition differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Added,
    Removed,
    Renamed,
    Moved,
    Signature,
    Body,
}

impl Kind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Moved => "moved",
            Self::Signature => "signature",
            Self::Body => "body",
        }
    }
}

/// A definition that differs.
#[derive(Debug)]
pub(super) struct Change {
    pub kinds: Vec<Kind>,
    /// The new version; the old one if it was removed.
    pub entry: Entry,
    /// The old version, if the definition is neither added nor removed.
    pub old: Option<Entry>,
    /// Definitions in it that share its fate, and are not listed themselves.
    pub members: usize,
}

/// Definitions whose names nothing else refers to, or that only contain others.
const NOT_COMPARED: &[&str] = &[
    "heading",
    "section",
    "package",
    "implementation",
    "import",
    "key",
    "selector",
    "element",
    "id",
    "label",
    "call",
    "use",
    "block",
    "inherits",
    "implements",
    "module",
    "namespace",
];
/// Kinds whose signature is the whole definition.
const DATA: &[&str] = &["variable", "constant", "field", "attribute", "property", "variant"];
/// Pairs of definitions that are compared in search of a rename.
const MAX_PAIRS: usize = 40_000;
/// The part of the lines that a renamed definition keeps.
const SIMILAR: f64 = 0.6;

/// The definitions of a version of a file.
pub(super) fn entries_before(path: &str, language: &str, text: &str, symbols: &[Symbol]) -> Vec<Entry> {
    let lines: Vec<&str> = text.lines().collect();
    let bare = |symbol: &Symbol| Entry {
        path: path.to_owned(),
        language: language.to_owned(),
        name: symbol.name.clone(),
        kind: symbol.kind.to_owned(),
        container: symbol.container.clone(),
        signature: symbol.signature.clone(),
        line: symbol.line,
        start_line: symbol.start_line,
        end_line: symbol.end_line,
        parent: symbol.parent,
        own: Vec::new(),
        head: String::new(),
        node: None,
    };
    with_text(symbols.iter().map(bare).collect(), &lines)
}

/// The definitions of a file as the index has it.
pub(super) fn entries_now(nodes: Vec<DefinitionNode>, lines: &[String]) -> Vec<Entry> {
    let numbers: HashMap<_, _> = nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let bare = |node: DefinitionNode| {
        let definition = node.definition.clone();
        Entry {
            path: definition.path,
            language: definition.language,
            name: definition.name,
            kind: definition.kind,
            container: definition.container,
            signature: definition.signature,
            line: definition.line,
            start_line: definition.start_line,
            end_line: definition.end_line,
            parent: node.parent.and_then(|parent| numbers.get(&parent).copied()),
            own: Vec::new(),
            head: String::new(),
            node: Some(node),
        }
    };
    with_text(nodes.into_iter().map(bare).collect(), &lines)
}

fn with_text(mut entries: Vec<Entry>, lines: &[&str]) -> Vec<Entry> {
    let mut within: HashMap<usize, Vec<(u32, u32)>> = HashMap::new();
    let mut starting: HashMap<u32, usize> = HashMap::new();
    for entry in &entries {
        if let Some(parent) = entry.parent {
            within.entry(parent).or_default().push((entry.start_line, entry.end_line));
        }
        *starting.entry(entry.start_line).or_default() += 1;
    }
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.head = line_of(lines, entry.line).trim().to_owned();
        let shares_line = entry.start_line == entry.end_line && starting.get(&entry.start_line).is_some_and(|n| *n > 1);
        if shares_line {
            entry.own = entry.signature.iter().cloned().collect();
            continue;
        }
        let others = within.get(&at).map(Vec::as_slice).unwrap_or_default();
        let first = line_of(lines, entry.start_line);
        let indent = first.len() - first.trim_start().len();
        let is_own = |line: &u32| !others.iter().any(|(start, end)| (start..=end).contains(&line));
        let own =
            (entry.start_line..=entry.end_line).filter(is_own).map(|line| unindented(line_of(lines, line), indent));
        entry.own = own.filter(|line| !line.is_empty()).collect();
    }
    entries
}

fn line_of<'l>(lines: &[&'l str], number: u32) -> &'l str {
    lines.get((number as usize).wrapping_sub(1)).copied().unwrap_or_default()
}

fn unindented(line: &str, indent: usize) -> String {
    let spaces = line.len() - line.trim_start().len();
    line.get(spaces.min(indent)..).unwrap_or(line).trim_end().to_owned()
}

impl Entry {
    pub(super) fn qualified(&self) -> String {
        let separator = crate::extract::languages::by_name(&self.language).map_or(".", |language| language.separator);
        self.container.as_ref().map_or_else(|| self.name.clone(), |around| format!("{around}{separator}{}", self.name))
    }

    fn is_compared(&self) -> bool {
        !NOT_COMPARED.contains(&self.kind.as_str()) && (self.kind != "table" || self.language == "sql")
    }

    /// The lines of its own with its name left out.
    fn nameless(&self) -> Vec<String> {
        self.own.iter().map(|line| line.replace(&self.name, "\0")).collect()
    }

    /// The definition's own text in one line, without the signature.
    fn body(&self) -> String {
        let whole = collapsed(&self.own.join(" "));
        match self.signature.as_deref().map(collapsed) {
            Some(signature) => whole.replacen(signature.trim_end_matches(['{', ':', ';', ' ']), "", 1),
            None => whole,
        }
    }

    /// Returns the part that callers depend on: for data, everything before its value.
    fn interface(&self) -> String {
        let signature = self.signature.as_deref().map(collapsed).unwrap_or_default();
        match DATA.contains(&self.kind.as_str()) {
            true => signature.split('=').next().unwrap_or_default().trim().to_owned(),
            false => signature,
        }
    }
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The definitions that differ.
pub(super) fn changes(old: &[Entry], new: &[Entry]) -> Vec<Change> {
    let mut matching = Matching::new(old, new);
    matching.exactly();
    for _ in 0..ROUNDS {
        if !matching.renames() {
            break;
        }
        matching.exactly();
    }
    matching.across_files();
    let Matching { of_old, moved_files, around_old, around_new, .. } = matching;
    let mut changes = Vec::new();
    let mut matched = vec![false; new.len()];
    of_old.iter().flatten().for_each(|to| matched[*to] = true);
    let is_gone: Vec<bool> = of_old.iter().map(Option::is_none).collect();
    let is_added: Vec<bool> = matched.iter().map(|is_matched| !is_matched).collect();
    for (at, entry) in old.iter().enumerate().filter(|(_, entry)| entry.is_compared()) {
        let Some(to) = of_old[at] else {
            if around_old[at].is_none_or(|parent| !is_gone[parent]) {
                let members = members(old, at, &is_gone);
                changes.push(Change { kinds: vec![Kind::Removed], entry: entry.clone(), old: None, members });
            }
            continue;
        };
        let kinds = differences(entry, &new[to], around_old[at].is_some(), &moved_files);
        if !kinds.is_empty() {
            changes.push(Change { kinds, entry: new[to].clone(), old: Some(entry.clone()), members: 0 });
        }
    }
    for (at, entry) in new.iter().enumerate().filter(|(at, entry)| is_added[*at] && entry.is_compared()) {
        if around_new[at].is_none_or(|parent| !is_added[parent]) {
            let members = members(new, at, &is_added);
            changes.push(Change { kinds: vec![Kind::Added], entry: entry.clone(), old: None, members });
        }
    }
    changes
}

/// Rounds of renames: a type, its members, their members.
const ROUNDS: usize = 4;

/// The enclosing definition of each that is compared, by its number in the list.
fn around(entries: &[Entry]) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = Vec::with_capacity(entries.len());
    // The definitions of a file follow each other.
    let mut first = 0;
    for (at, entry) in entries.iter().enumerate() {
        if entries[first].path != entry.path {
            first = at;
        }
        let parent = entry.parent.map(|number| first + number).filter(|parent| *parent < at);
        found.push(parent.and_then(|parent| if entries[parent].is_compared() { Some(parent) } else { found[parent] }));
    }
    found
}

/// How many definitions in one are listed with it.
fn members(entries: &[Entry], of: usize, is_listed: &[bool]) -> usize {
    let below = entries.iter().enumerate().skip(of + 1).take_while(|(_, entry)| entry.path == entries[of].path);
    below
        .take_while(|(_, entry)| entry.start_line <= entries[of].end_line)
        .filter(|(at, entry)| entry.is_compared() && entry.end_line <= entries[of].end_line && is_listed[*at])
        .count()
}

fn differences(old: &Entry, new: &Entry, is_member: bool, moved_files: &HashMap<String, String>) -> Vec<Kind> {
    let mut kinds = Vec::new();
    if old.name != new.name {
        kinds.push(Kind::Renamed);
    }
    if old.path != new.path && (!is_member || !moved_files.contains_key(&old.path)) {
        kinds.push(Kind::Moved);
    }
    let unnamed =
        |entry: &Entry, text: String| if old.name == new.name { text } else { text.replace(&entry.name, "\0") };
    if unnamed(old, old.interface()) != unnamed(new, new.interface()) {
        kinds.push(Kind::Signature);
        if unnamed(old, old.body()) != unnamed(new, new.body()) {
            kinds.push(Kind::Body);
        }
    } else if old.own != new.own && (old.name == new.name || old.nameless() != new.nameless()) {
        kinds.push(Kind::Body);
    }
    kinds
}

/// Definitions of the old and of the new version that have a key, by their numbers.
type Unmatched = (Vec<usize>, Vec<usize>);

/// Which definition of the new version each of the old one is.
struct Matching<'e> {
    old: &'e [Entry],
    new: &'e [Entry],
    of_old: Vec<Option<usize>>,
    is_taken: Vec<bool>,
    /// Files that only the old version has, by their names in the new one.
    moved_files: HashMap<String, String>,
    /// Containers that were renamed, by their file in the new version.
    renamed: HashMap<(String, String), String>,
    around_old: Vec<Option<usize>>,
    around_new: Vec<Option<usize>>,
    /// The names in each type, and the text of others without their name.
    content_old: Vec<Content<'e>>,
    content_new: Vec<Content<'e>>,
}

/// By what a renamed definition is recognized.
struct Content<'e> {
    names: HashSet<&'e str>,
    lines: Vec<String>,
}

fn content<'e>(entries: &'e [Entry], around: &[Option<usize>]) -> Vec<Content<'e>> {
    let lines = entries.iter().map(|entry| if entry.is_compared() { entry.nameless() } else { Vec::new() });
    let mut content: Vec<Content> = lines.map(|lines| Content { names: HashSet::new(), lines }).collect();
    for (entry, parent) in entries.iter().zip(around) {
        if let Some(parent) = parent {
            content[*parent].names.insert(&entry.name);
        }
    }
    content
}

impl<'e> Matching<'e> {
    fn new(old: &'e [Entry], new: &'e [Entry]) -> Self {
        let (around_old, around_new) = (around(old), around(new));
        Self {
            old,
            new,
            of_old: vec![None; old.len()],
            is_taken: vec![false; new.len()],
            moved_files: moved_files(old, new),
            renamed: HashMap::new(),
            content_old: content(old, &around_old),
            content_new: content(new, &around_new),
            around_old,
            around_new,
        }
    }

    fn file_now<'p>(&'p self, path: &'p str) -> &'p str {
        self.moved_files.get(path).map_or(path, String::as_str)
    }

    fn container_now(&self, entry: &Entry) -> Option<String> {
        let container = entry.container.clone()?;
        let path = self.file_now(&entry.path).to_owned();
        Some(self.renamed.get(&(path, container.clone())).cloned().unwrap_or(container))
    }

    fn take(&mut self, old: usize, new: usize) {
        self.of_old[old] = Some(new);
        self.is_taken[new] = true;
    }

    /// Pairs definitions with the same name in the same file and container; of several, those with equal text first.
    fn exactly(&mut self) {
        let mut by_key: HashMap<(&str, Option<&str>, &str, &str), Vec<usize>> = HashMap::new();
        for (at, entry) in self.new.iter().enumerate().filter(|(at, _)| !self.is_taken[*at]) {
            let key = (entry.path.as_str(), entry.container.as_deref(), entry.name.as_str(), entry.kind.as_str());
            by_key.entry(key).or_default().push(at);
        }
        let equal: [fn(&Entry, &Entry) -> bool; 3] =
            [|a, b| a.own == b.own, |a, b| a.signature == b.signature, |_, _| true];
        for is_equal in equal {
            for at in (0..self.old.len()).filter(|at| self.of_old[*at].is_none()).collect::<Vec<_>>() {
                let entry = &self.old[at];
                let container = self.container_now(entry);
                let path = self.file_now(&entry.path);
                let key = (path, container.as_deref(), entry.name.as_str(), entry.kind.as_str());
                let mut named = by_key.get(&key).into_iter().flatten().copied();
                let found = named.find(|to| !self.is_taken[*to] && is_equal(entry, &self.new[*to]));
                if let Some(to) = found {
                    self.take(at, to);
                }
            }
        }
    }

    /// Pairs definitions with different names and similar text in the same file and container. Returns whether there
    /// are any.
    fn renames(&mut self) -> bool {
        let mut groups: HashMap<(String, Option<String>, &str), Unmatched> = HashMap::new();
        for (at, entry) in
            self.old.iter().enumerate().filter(|(at, entry)| self.of_old[*at].is_none() && entry.is_compared())
        {
            let key = (self.file_now(&entry.path).to_owned(), self.container_now(entry), entry.kind.as_str());
            groups.entry(key).or_default().0.push(at);
        }
        for (at, entry) in self.new.iter().enumerate().filter(|(at, entry)| !self.is_taken[*at] && entry.is_compared())
        {
            let key = (entry.path.clone(), entry.container.clone(), entry.kind.as_str());
            if let Some((_, added)) = groups.get_mut(&key) {
                added.push(at);
            }
        }
        let mut found = Vec::new();
        for (old, new) in groups.into_values().filter(|(old, new)| old.len() * new.len() <= MAX_PAIRS) {
            for &from in &old {
                for &to in &new {
                    let similarity = self.similarity(from, to);
                    if similarity >= SIMILAR {
                        found.push((similarity, from, to));
                    }
                }
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut any = false;
        for (_, from, to) in found {
            if self.of_old[from].is_some() || self.is_taken[to] {
                continue;
            }
            self.take(from, to);
            let (old, new) = (&self.old[from], &self.new[to]);
            let before = old.qualified();
            self.renamed.insert((new.path.clone(), before), new.qualified());
            any = true;
        }
        any
    }

    /// 1 for equal text; 0 where there is too little of it to be recognized.
    fn similarity(&self, from: usize, to: usize) -> f64 {
        let (old, new) = (&self.content_old[from], &self.content_new[to]);
        if !old.names.is_empty() || !new.names.is_empty() {
            let shared = old.names.intersection(&new.names).count();
            return 2.0 * as_f64(shared) / as_f64(old.names.len() + new.names.len());
        }
        let (a, b) = (&old.lines, &new.lines);
        let is_short = a.len() < 2 || b.len() < 2;
        if is_short {
            let is_distinct = a.concat().len() > 24 && self.old[from].kind != "variable";
            return if is_distinct && a == b { 1.0 } else { 0.0 };
        }
        let mut left: HashMap<&str, usize> = HashMap::new();
        a.iter().for_each(|line| *left.entry(line.as_str()).or_default() += 1);
        let shared = b.iter().filter(|line| match left.get_mut(line.as_str()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        });
        2.0 * as_f64(shared.count()) / as_f64(a.len() + b.len())
    }

    /// Pairs definitions with the same name in different files, if no further file has that name.
    fn across_files(&mut self) {
        let mut by_key: HashMap<(Option<&str>, &str, &str), Unmatched> = HashMap::new();
        let key = |entry: &'e Entry| (entry.container.as_deref(), entry.name.as_str(), entry.kind.as_str());
        for (at, entry) in
            self.old.iter().enumerate().filter(|(at, entry)| self.of_old[*at].is_none() && entry.is_compared())
        {
            by_key.entry(key(entry)).or_default().0.push(at);
        }
        for (at, entry) in self.new.iter().enumerate().filter(|(at, entry)| !self.is_taken[*at] && entry.is_compared())
        {
            by_key.entry(key(entry)).or_default().1.push(at);
        }
        let pairs: Vec<(usize, usize)> = by_key
            .into_values()
            .filter_map(|(old, new)| match (old.as_slice(), new.as_slice()) {
                ([from], [to]) if self.old[*from].language == self.new[*to].language => Some((*from, *to)),
                _ => None,
            })
            .collect();
        for (from, to) in pairs {
            let is_equal = self.old[from].own == self.new[to].own && self.old[from].own.concat().len() > 24;
            if is_equal || self.similarity(from, to) >= SIMILAR {
                self.take(from, to);
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of lines")]
pub(super) const fn as_f64(count: usize) -> f64 {
    count as f64
}

/// Files that were renamed: only the old version has the one, only the new version the other, and they share most definitions.
fn moved_files(old: &[Entry], new: &[Entry]) -> HashMap<String, String> {
    let by_path = |entries: &[Entry]| {
        let mut files: HashMap<String, HashSet<String>> = HashMap::new();
        for entry in entries.iter().filter(|entry| entry.is_compared()) {
            files.entry(entry.path.clone()).or_default().insert(format!("{} {}", entry.kind, entry.qualified()));
        }
        files
    };
    let (old, new) = (by_path(old), by_path(new));
    let gone: Vec<_> = old.iter().filter(|(path, _)| !new.contains_key(*path)).collect();
    let added: Vec<_> = new.iter().filter(|(path, _)| !old.contains_key(*path)).collect();
    if gone.len() * added.len() > MAX_PAIRS {
        return HashMap::new();
    }
    let mut pairs = Vec::new();
    for (from, before) in &gone {
        for (to, now) in &added {
            let share = 2.0 * as_f64(before.intersection(now).count()) / as_f64(before.len() + now.len());
            if share >= SIMILAR {
                pairs.push((share, (*from).clone(), (*to).clone()));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2))));
    let mut taken: HashSet<String> = HashSet::new();
    let mut moved = HashMap::new();
    for (_, from, to) in pairs {
        if !moved.contains_key(&from) && taken.insert(to.clone()) {
            moved.insert(from, to);
        }
    }
    moved
}
