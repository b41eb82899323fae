//! The definitions of real packages, against each language's own parser.
//!
//! `.ci/soak symbols` names the packages and the parsers, which are the scripts of `tests/authorities`. Each prints rows of
//! PATH, line, kind, name and, where it knows it, the type around the definition, separated by tabs. A row of the kind
//! `optional` is a definition that need not be a symbol: what only its own block sees. One of the kind `inside` is lines that
//! are counted apart, up to that of its fourth column: the text of macros, and branches that the preprocessor leaves out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ixmcp::extract::{self, Options};
use ixmcp::model::{RepoPath, Symbol};

/// The least share of all definitions of a language that are symbols, and of its symbols that are definitions; and of each kind.
const LEAST: f64 = 0.995;
const LEAST_OF_KIND: f64 = 0.98;

/// Where a definition is, and its name.
type Position = (String, u32, String);

/// Files below a folder with one of these extensions, in order.
fn below(folder: &Path, extensions: &[&str], files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries.into_iter().filter(|path| !path.is_symlink()) {
        if path.is_dir() {
            below(&path, extensions, files);
        } else if path.extension().is_some_and(|own| extensions.iter().any(|known| own == *known)) {
            files.push(path);
        }
    }
}

/// Definitions that a parser reads in files.
#[derive(Default)]
struct Authority {
    /// Files that it does not reject.
    read: BTreeSet<String>,
    /// The kind of each definition, and the type around it.
    definitions: BTreeMap<Position, (String, String)>,
    optional: BTreeSet<Position>,
    /// Lines that are counted apart.
    excluded: BTreeMap<String, Vec<RangeInclusive<u32>>>,
}

impl Authority {
    fn add(&mut self, row: &str) -> Option<()> {
        let mut columns = row.split('\t');
        let path = columns.next()?.to_owned();
        let line = columns.next()?.parse().ok()?;
        let (kind, name) = (columns.next()?.to_owned(), columns.next()?.to_owned());
        let container = columns.next().unwrap_or_default().to_owned();
        self.read.insert(path.clone());
        match kind.as_str() {
            "inside" => self.excluded.entry(path).or_default().push(line..=name.parse().ok()?),
            "optional" => _ = self.optional.insert((path, line, name)),
            _ => _ = self.definitions.insert((path, line, name), (kind, container)),
        }
        Some(())
    }

    /// Whether nothing here defines that name at that position.
    fn lacks(&self, position: &Position) -> bool {
        !self.definitions.contains_key(position) && !self.optional.contains(position) && !self.is_excluded(position)
    }

    fn is_excluded(&self, (path, line, _): &Position) -> bool {
        self.excluded.get(path).is_some_and(|ranges| ranges.iter().any(|lines| lines.contains(line)))
    }
}

/// Runs a parser on files.
fn authority(command: &str, files: &[PathBuf]) -> Authority {
    let mut child =
        Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let list: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(list.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{command}: {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut authority = Authority::default();
    for row in text.lines() {
        authority.add(row);
    }
    authority
}

/// Extracts a file; returns the kind of each symbol, and what is around it.
fn symbols(file: &Path) -> BTreeMap<Position, (&'static str, String)> {
    let options = Options { skip_generated: false, skip_minified: false, ..Options::default() };
    let name = RepoPath::new(file.file_name().unwrap().to_string_lossy()).unwrap();
    let Ok(extracted) = extract::extract(&name, &fs::read(file).unwrap(), &options) else { return BTreeMap::new() };
    let position = |line, name: &str| (file.display().to_string(), line, name.to_owned());
    let around = |container: Option<&str>| {
        let container = container.unwrap_or_default();
        let own = container.rsplit(['.', ':']).next().unwrap_or_default();
        own.split('<').next().unwrap_or_default().to_owned()
    };
    let row =
        |symbol: &Symbol| (position(symbol.line, &symbol.name), (symbol.kind, around(symbol.container.as_deref())));
    extracted.symbols.iter().map(row).collect()
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 1.0;
    }
    f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap())
}

/// Each line of `IXMCP_SYMBOLS` is a language, the extensions of its files, folders, and the command of its parser.
#[test]
#[ignore = "`.ci/soak symbols` installs the parsers and the packages"]
fn definitions_are_those_of_each_languages_own_parser() {
    let table = std::env::var("IXMCP_SYMBOLS").expect("IXMCP_SYMBOLS lists languages");
    let mut faults = Vec::new();
    for row in table.lines().filter(|row| !row.trim().is_empty()) {
        let columns: Vec<&str> = row.trim().split('|').map(str::trim).collect();
        let [language, extensions, folders, command] = columns[..] else { panic!("four columns: {row}") };
        let mut files = Vec::new();
        for folder in folders.split(' ') {
            below(Path::new(folder), &extensions.split(' ').collect::<Vec<_>>(), &mut files);
        }
        assert!(!files.is_empty(), "{folders} have no file of {language}");
        let wanted = authority(command, &files);
        let found: BTreeMap<Position, (&str, String)> = files
            .iter()
            .filter(|file| wanted.read.contains(&file.display().to_string()))
            .flat_map(|file| symbols(file))
            .collect();
        let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let (mut contained, mut with_container) = (0, 0);
        for (position, (kind, container)) in &wanted.definitions {
            let (hits, all) = kinds.entry(kind).or_default();
            *all += 1;
            let Some((_, around)) = found.get(position) else {
                if *all - *hits <= 20 {
                    println!("missing {language} {kind} {position:?}");
                }
                continue;
            };
            *hits += 1;
            if !container.is_empty() {
                with_container += 1;
                contained += usize::from(container == around);
            }
        }
        let extra: Vec<_> = found.iter().filter(|(position, _)| wanted.lacks(position)).collect();
        extra.iter().take(20).for_each(|(position, (kind, _))| println!("extra {language} {kind} {position:?}"));
        let compared = found.keys().filter(|position| !wanted.is_excluded(position)).count();
        let hits: usize = kinds.values().map(|(hits, _)| hits).sum();
        let (recall, precision) = (share(hits, wanted.definitions.len()), 1.0 - share(extra.len(), compared));
        println!(
            "{language}: {} of {} files, {} definitions, recall {recall:.4}, precision {precision:.4}, container {:.4}",
            wanted.read.len(),
            files.len(),
            wanted.definitions.len(),
            share(contained, with_container)
        );
        for (kind, (hits, all)) in kinds {
            println!("  {kind:<10} {hits:>7} of {all:>7}  {:.4}", share(hits, all));
            if share(hits, all) < LEAST_OF_KIND {
                faults.push(format!("{language} {kind}"));
            }
        }
        if recall < LEAST {
            faults.push(format!("{language}, recall"));
        }
        if precision < LEAST {
            faults.push(format!("{language}, precision"));
        }
    }
    assert!(faults.is_empty(), "too few definitions, or too many that are none: {faults:?}");
}
