//! Work that runs in its own process, so that its memory and CPU time are distinguished: parsing alone, and a watched
//! index on which files are saved.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::extract;
use ixmcp::query::corpus::Corpus;
use ixmcp::query::{PathFilter, exact, smart};
use ixmcp::scan::{self, Rules};
use ixmcp::store::FtsQuery;
use ixmcp::workspace::{Watching, Workspaces};

/// Some grammars recurse as deep as a file nests.
const STACK_BYTES: usize = 16 << 20;

/// Saves that are also looked for by a literal, which scans all text: that takes long on a large tree.
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
                    if let Ok(content) = scan::read(&root, &found.path, rules.max_file_size(&found.path)) {
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

/// Makes the index as far as words, symbols and references answer; `ixmcp sync` goes on to the vectors.
pub fn build(root: &Path) -> Result<(), Box<dyn Error>> {
    let sources = Sources { flags: Flags::default(), environment: Environment::from_process() };
    let workspace = Workspaces::new(sources, Watching::No).at(root)?;
    workspace.freshen(Some(Duration::MAX), &Budget::unlimited())?;
    Ok(())
}

/// Reads that come this soon after one another may share a look at the watches; after it they do not.
const QUIET: Duration = Duration::from_millis(200);

/// A save that is not found within this is lost.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Saves `saves` indexed files of all sizes, one after the other, each with a new word, and prints for each how many
/// microseconds passed until reads, asked without pause, found the word: `quiet N` where no one had read for a while,
/// `crowded N` right after another read, and now and then `literal N` by a scan of all text. Puts the files back.
pub fn watched(root: &Path, saves: usize) -> Result<(), Box<dyn Error>> {
    let sources = Sources { flags: Flags::default(), environment: Environment::from_process() };
    let workspace = Workspaces::new(sources, Watching::Yes).at(root)?;
    let budget = Budget::unlimited();
    workspace.freshen(Some(Duration::MAX), &budget)?;
    let paths = workspace.read(&budget, |snapshot| snapshot.paths(None))?;
    let paths = of_all_sizes(&paths.into_iter().map(|(path, _)| path).collect::<Vec<_>>(), root, saves)?;
    let everywhere = PathFilter::new(&[], &[])?;
    let mut stdout = std::io::stdout();
    for (number, path) in paths.iter().enumerate() {
        let kind = if number % 2 == 0 { "quiet" } else { "crowded" };
        if kind == "quiet" {
            std::thread::sleep(QUIET);
        } else {
            workspace.freshen(Some(Duration::MAX), &budget)?;
        }
        let word = format!("zqsaved{}x{number}", std::process::id());
        let query = FtsQuery::phrase(&word).ok_or("a word has letters")?;
        let save = Save::make(root, path, &word)?;
        let started = Instant::now();
        loop {
            workspace.freshen(Some(Duration::MAX), &budget)?;
            // Asked first, for `smart` scans all text when words find nothing.
            if workspace.read(&budget, |snapshot| snapshot.count_matches(&query))? > 0 {
                break;
            }
            if started.elapsed() > TIMEOUT {
                return Err(format!("{path} was saved with a new word, which was not found").into());
            }
        }
        workspace.read(&budget, |snapshot| {
            smart::search(&Corpus::single(snapshot), None, &word, &everywhere, 0, (0, 10), &budget)
        })?;
        writeln!(stdout, "{kind} {}", started.elapsed().as_micros())?;
        if number % saves.div_ceil(LITERALS) == 0 {
            let pattern =
                exact::Pattern { text: &word, is_regex: false, case_sensitive: true, word: false, multiline: false };
            let started = Instant::now();
            workspace
                .read(&budget, |snapshot| exact::search(snapshot, None, &pattern, &everywhere, 0, (0, 1), &budget))?;
            writeln!(stdout, "literal {}", started.elapsed().as_micros())?;
        }
        drop(save);
        workspace.freshen(Some(Duration::MAX), &budget)?;
    }
    Ok(())
}

/// A file saved with one word more, until this is dropped.
pub struct Save {
    file: PathBuf,
    before: Vec<u8>,
}

impl Save {
    pub fn make(root: &Path, path: &str, word: &str) -> Result<Self, Box<dyn Error>> {
        let file = root.join(path);
        let before = fs::read(&file)?;
        fs::write(&file, [&before, format!("\n{word}\n").as_bytes()].concat())?;
        Ok(Self { file, before })
    }
}

impl Drop for Save {
    fn drop(&mut self) {
        // The tree is a copy, and `git checkout` puts back what this cannot.
        let _ = fs::write(&self.file, &self.before);
    }
}

/// Chooses this many of the files, evenly from the smallest to the largest.
pub fn of_all_sizes(paths: &[String], root: &Path, wanted: usize) -> Result<Vec<String>, Box<dyn Error>> {
    let mut sized = Vec::with_capacity(paths.len());
    for path in paths {
        sized.push((fs::metadata(root.join(path))?.len(), path));
    }
    sized.sort_unstable();
    let last = sized.len().saturating_sub(1);
    let places = (0..wanted.min(sized.len())).map(|place| place * last / wanted.saturating_sub(1).max(1));
    Ok(places.map(|place| sized[place].1.clone()).collect())
}
