//! What runs in a process of its own, so that its memory and CPU time are told apart: parsing alone, and a watched
//! index on which files are saved.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::extract;
use ixmcp::index::{Watching, Workspaces};
use ixmcp::query::{PathFilter, exact, smart};
use ixmcp::scan::{self, Rules};

/// Some grammars recurse as deep as a file nests.
const STACK_BYTES: usize = 16 << 20;

/// A literal scans all text, which takes long on a large tree: so many saves are looked for by one, too.
const LITERALS: usize = 10;

/// Walks, reads and parses what the index would, on all cores, and does nothing else.
pub fn parse_only(root: &Path) -> Result<(), Box<dyn Error>> {
    let root = root.canonicalize()?;
    let rules = Rules::default();
    let files = scan::list(&root, &rules, &Budget::unlimited())?.files;
    let (next, nodes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let work = || {
                while let Some(found) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Ok(content) = scan::read(&root, &found.path, rules.max_file_size()) {
                        nodes.fetch_add(extract::parse_only(&found.path, &content.bytes), Ordering::Relaxed);
                    }
                }
            };
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        }
        Ok::<_, std::io::Error>(())
    })?;
    writeln!(std::io::stdout(), "{}", nodes.into_inner())?;
    Ok(())
}

/// Saves `saves` indexed files of all sizes, one after the other, each with a new word, and prints for each how many
/// microseconds passed until the word was found: `words N` by the FTS, `literal N` by a scan. Puts the files back.
pub fn watched(root: &Path, saves: usize) -> Result<(), Box<dyn Error>> {
    let sources = Sources { flags: Flags::default(), environment: Environment::of_process() };
    let workspace = Workspaces::new(sources, Watching::Yes).at(root)?;
    let budget = Budget::unlimited();
    workspace.freshen(Some(Duration::MAX), &budget)?;
    let everywhere = PathFilter::new(&[], &[])?;
    let mut stdout = std::io::stdout();
    for (number, path) in
        of_all_sizes(&workspace.read(&budget, |snapshot| snapshot.paths(None))?, root, saves)?.into_iter().enumerate()
    {
        let word = format!("zqsaved{}x{number}", std::process::id());
        let file = root.join(&path);
        let before = fs::read(&file)?;
        let mut after = before.clone();
        after.extend_from_slice(format!("\n{word}\n").as_bytes());

        let started = Instant::now();
        fs::write(&file, &after)?;
        workspace.freshen(Some(Duration::MAX), &budget)?;
        let by_words = workspace
            .read(&budget, |snapshot| smart::search(snapshot, &word, &everywhere, 0, (0, 1), &budget))?
            .items
            .iter()
            .any(|hit| hit.path == path);
        let took = started.elapsed();
        if !by_words {
            return Err(format!("{path} was saved with a new word, which was not found").into());
        }
        writeln!(stdout, "words {}", took.as_micros())?;
        if number % saves.div_ceil(LITERALS) == 0 {
            let pattern =
                exact::Pattern { text: &word, is_regex: false, case_sensitive: true, word: false, multiline: false };
            workspace.read(&budget, |snapshot| exact::search(snapshot, &pattern, &everywhere, 0, (0, 1), &budget))?;
            writeln!(stdout, "literal {}", started.elapsed().as_micros())?;
        }
        fs::write(&file, &before)?;
        workspace.freshen(Some(Duration::MAX), &budget)?;
    }
    Ok(())
}

/// So many of the files, evenly from the smallest to the largest.
pub fn of_all_sizes(paths: &[(String, String)], root: &Path, wanted: usize) -> Result<Vec<String>, Box<dyn Error>> {
    let mut sized = Vec::with_capacity(paths.len());
    for (path, _) in paths {
        sized.push((fs::metadata(root.join(path))?.len(), path));
    }
    sized.sort_unstable();
    let last = sized.len().saturating_sub(1);
    let places = (0..wanted.min(sized.len())).map(|place| place * last / wanted.saturating_sub(1).max(1));
    Ok(places.map(|place| sized[place].1.clone()).collect())
}
