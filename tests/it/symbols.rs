//! The definitions of real packages, against each language's own parser.
//!
//! `.ci/soak symbols` names the packages and the parsers, which are the scripts of `tests/authorities`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ixmcp::extract::{self, Options};
use ixmcp::model::RepoPath;

/// The least share of all definitions of a language, and of each kind of them.
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

/// Runs a parser on files; returns the kind of each definition. Files that it rejects have none.
fn authority(command: &str, files: &[PathBuf]) -> BTreeMap<Position, String> {
    let mut child =
        Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let list: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(list.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{command}: {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = |line: &str| {
        let mut columns = line.split('\t');
        let path = columns.next()?.to_owned();
        let line = columns.next()?.parse().ok()?;
        let (kind, name) = (columns.next()?.to_owned(), columns.next()?.to_owned());
        Some(((path, line, name), kind))
    };
    text.lines().filter_map(row).collect()
}

/// Extracts a file; returns the kind of each symbol.
fn symbols(file: &Path) -> BTreeMap<Position, &'static str> {
    let options = Options { skip_generated: false, skip_minified: false, ..Options::default() };
    let name = RepoPath::new(file.file_name().unwrap().to_string_lossy()).unwrap();
    let Ok(extracted) = extract::extract(&name, &fs::read(file).unwrap(), &options) else { return BTreeMap::new() };
    let position = |line, name: &str| (file.display().to_string(), line, name.to_owned());
    extracted.symbols.iter().map(|symbol| (position(symbol.line, &symbol.name), symbol.kind)).collect()
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 1.0;
    }
    f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap())
}

/// Each line of `IXMCP_SYMBOLS` is a language, the extensions of its files, a folder, and the command of its parser.
#[test]
#[ignore = "`.ci/soak symbols` installs the parsers and the packages"]
fn definitions_are_those_of_each_languages_own_parser() {
    let table = std::env::var("IXMCP_SYMBOLS").expect("IXMCP_SYMBOLS lists languages");
    let mut faults = Vec::new();
    for row in table.lines().filter(|row| !row.trim().is_empty()) {
        let columns: Vec<&str> = row.trim().split('|').map(str::trim).collect();
        let [language, extensions, folder, command] = columns[..] else { panic!("four columns: {row}") };
        let mut files = Vec::new();
        below(Path::new(folder), &extensions.split(' ').collect::<Vec<_>>(), &mut files);
        assert!(!files.is_empty(), "{folder} has no file of {language}");
        let wanted = authority(command, &files);
        let read: BTreeSet<&String> = wanted.keys().map(|(path, ..)| path).collect();
        let found: BTreeMap<Position, &str> = files
            .iter()
            .filter(|file| read.contains(&file.display().to_string()))
            .flat_map(|file| symbols(file))
            .collect();
        let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (position, kind) in &wanted {
            let (hits, all) = kinds.entry(kind).or_default();
            *all += 1;
            if found.contains_key(position) {
                *hits += 1;
            } else if *all - *hits <= 20 {
                println!("missing {language} {kind} {position:?}");
            }
        }
        let extra: Vec<_> = found.iter().filter(|(position, _)| !wanted.contains_key(*position)).collect();
        extra.iter().take(20).for_each(|(position, kind)| println!("extra {language} {kind} {position:?}"));
        let hits: usize = kinds.values().map(|(hits, _)| hits).sum();
        let (recall, precision) = (share(hits, wanted.len()), 1.0 - share(extra.len(), found.len()));
        println!("{language}: {} definitions, recall {recall:.4}, precision {precision:.4}", wanted.len());
        for (kind, (hits, all)) in kinds {
            println!("  {kind:<10} {hits:>7} of {all:>7}  {:.4}", share(hits, all));
            if share(hits, all) < LEAST_OF_KIND {
                faults.push(format!("{language} {kind}"));
            }
        }
        if recall < LEAST {
            faults.push(language.to_owned());
        }
    }
    assert!(faults.is_empty(), "too few definitions: {faults:?}");
}
