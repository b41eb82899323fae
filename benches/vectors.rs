//! Recall, memory and time of the vectors in memory: `cargo bench --bench vectors -- DIR…`, each DIR a repository.
//!
//! Recall at 10 against a look at every vector, of all chunks and of those of one file in ten; memory for each number
//! of each vector; how long `search_documents` takes in a process that watches. The queries are sentences and the
//! beginnings of chunks drawn at random. Prints a table with what is to be held; judges nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench that fails has failed")]
#![expect(clippy::cast_precision_loss, reason = "figures need no more")]

mod asked;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::embed::{Embedder, Purpose, Vector, built_in};
use ixmcp::store::{ChunkId, Scope, Snapshot, SpaceId};
use ixmcp::tools::Tools;
use ixmcp::workspace::{Watching, Workspace, Workspaces};
use serde_json::{Value, json};

use asked::{ask, caller};

const SENTENCES: &[&str] = &[
    "how are migrations applied to the database",
    "how does the scheduler pick the next task",
    "send an email when a form is valid",
    "free memory when the device is removed",
    "cache key prefix and timeout",
    "write dirty pages back to disk",
    "where are passwords hashed",
    "retry after a connection was lost",
    "parse a date from text",
    "what happens when the disk is full",
];
/// Queries that are the beginnings of chunks, and how many words those have.
const DRAWN: usize = 90;
const WORDS: usize = 9;
const NEAREST: usize = 10;
const ROUNDS: usize = 5;
/// One file in this many is in scope.
const ONE_OF: u64 = 10;

fn main() {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("Load average at the start: {}.\n", load.split(' ').take(3).collect::<Vec<_>>().join(" "));
    println!("| tree | what | hold | came out |\n|---|---|---|---|");
    for root in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        measure(&Path::new(&root).canonicalize().unwrap());
    }
}

fn measure(root: &Path) {
    let name = root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let row = |what: &str, hold: &str, came: String| println!("| {name} | {what} | {hold} | {came} |");
    let environment = Environment::new([], root.with_file_name("no-home"), root.to_owned());
    let sources = Sources { flags: Flags::default(), environment };
    let tools = Tools::new(Arc::new(Workspaces::new(sources.clone(), Watching::Yes)));
    let caller = caller(root, None);
    let ask = |tool: &str, arguments: Value| ask(&tools, &caller, tool, arguments);
    ask("stats", json!({}));
    let index = Workspace::open(root, Arc::new(sources)).unwrap();
    index.embeddings.embed(&Budget::unlimited()).unwrap();
    let queries = index.read(&Budget::unlimited(), queries).unwrap();
    let look = |snapshot: &Snapshot| {
        vectors(snapshot, &index, &queries, &row);
        Ok(())
    };
    index.read(&Budget::unlimited(), look).unwrap();
    drop(index);

    // Until they are in memory the answer says that some are not.
    while ask("search_documents", json!({ "query": SENTENCES[0] })).1.get("vectors_pending").is_some() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let folder = first_folder(root);
    let limit = if index_is_large(&ask("stats", json!({})).1) { "p50 ≤ 40 ms" } else { "p50 ≤ 8 ms" };
    for (what, hold, folder) in [("`search_documents`", limit, None), ("the same in one folder", "", folder.as_deref())]
    {
        let mut times = Vec::new();
        for round in 0..=ROUNDS {
            for query in &queries {
                let mut arguments = json!({ "query": query, "options": { "minScore": 0 } });
                if let Some(folder) = folder {
                    arguments["options"]["folderPath"] = json!(folder);
                }
                let (took, _) = ask("search_documents", arguments);
                if round > 0 {
                    times.push(took);
                }
            }
        }
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
        row(what, hold, format!("p50 {:.1?}, p99 {:.1?} of {}", at(50), at(99), times.len()));
    }
}

fn index_is_large(stats: &Value) -> bool {
    stats["total_chunks"].as_u64().unwrap() > 100_000
}

/// A folder of the tree, the first by name.
fn first_folder(root: &Path) -> Option<String> {
    let entries = std::fs::read_dir(root).unwrap().flatten().filter(|entry| entry.path().is_dir());
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with('.')).min()
}

/// Sentences, and beginnings of chunks all over the index.
fn queries(snapshot: &Snapshot) -> ixmcp::error::Result<Vec<String>> {
    let mut queries: Vec<String> = SENTENCES.iter().map(|&sentence| sentence.to_owned()).collect();
    let count = snapshot.chunk_count()?;
    for at in 0..DRAWN as u64 {
        let Some(id) = snapshot.nth_chunk(count * at / DRAWN as u64)? else { continue };
        let text = snapshot.chunk(id)?.text;
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect();
        queries.push(words.into_iter().take(WORDS).collect::<Vec<_>>().join(" "));
    }
    queries.retain(|query| !query.is_empty());
    Ok(queries)
}

fn vectors(snapshot: &Snapshot, index: &Workspace, queries: &[String], row: &dyn Fn(&str, &str, String)) {
    let space = snapshot.space(&index.embeddings.space()).unwrap().unwrap();
    let asked: Vec<Vector> = queries
        .iter()
        .map(|query| built_in().embed(Purpose::Query, &[query]).unwrap().remove(0))
        .filter(|vector| !vector.is_zero())
        .collect();
    let (before, begun) = (anonymous(), Instant::now());
    snapshot.nearest(space, asked[0].components(), NEAREST, None).unwrap();
    let (loaded_in, grown) = (begun.elapsed(), anonymous().saturating_sub(before));
    let (count, bytes) = snapshot.vectors_in_memory(space).unwrap();
    let dimension = index.embeddings.space().dimension;
    row("chunks with a vector, numbers of each", "", format!("{count}, {dimension}; read in {loaded_in:.1?}"));
    let each = |bytes: usize| bytes as f64 / (count * dimension) as f64;
    let held = format!("{:.3} × ({} MB); the process grew by {:.3} ×", each(bytes), bytes >> 20, each(grown));
    row("memory ÷ (dimension × chunks)", "≤ 1.2 × bytes", held);

    let mut all: Vec<(ChunkId, Vector)> = Vec::with_capacity(count);
    snapshot.each_vector(space, |id, vector| all.push((id, Vector::from_components(vector.to_vec())))).unwrap();
    let some = snapshot.scope_of_files("one in some", |path, _| {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        hasher.finish().is_multiple_of(ONE_OF)
    });
    let some = some.unwrap();
    for (what, scope) in [("recall at 10 of exact search", None), ("the same of one file in ten", Some(&*some))] {
        let (found, took) = recall(snapshot, space, &asked, &all, scope);
        row(what, "≥ 0.98", format!("{found:.4} of {} questions; the nearest in p50 {took:.1?}", asked.len()));
    }
}

/// The share of the nearest that are found, and what finding them took.
fn recall(
    snapshot: &Snapshot,
    space: SpaceId,
    asked: &[Vector],
    all: &[(ChunkId, Vector)],
    scope: Option<&Scope>,
) -> (f64, Duration) {
    let (mut found, mut wanted, mut times) = (0_usize, 0_usize, Vec::new());
    for query in asked {
        let mut exact: Vec<f64> = all
            .iter()
            .filter(|(id, _)| scope.is_none_or(|scope| scope.contains(*id)))
            .map(|(_, vector)| f64::from(vector.cosine(query)))
            .collect();
        exact.sort_unstable_by(|a, b| b.total_cmp(a));
        exact.truncate(NEAREST);
        let begun = Instant::now();
        let near = snapshot.nearest(space, query.components(), NEAREST, scope).unwrap();
        times.push(begun.elapsed());
        // Of the equally near any will do.
        let least = exact.last().copied().unwrap_or_default() - 1e-6;
        wanted += exact.len();
        found += near.iter().filter(|near| near.cosine >= least).count().min(exact.len());
    }
    times.sort_unstable();
    (found as f64 / wanted.max(1) as f64, times[times.len() / 2])
}

/// Bytes of this process that are no file's, as Linux counts them; nothing elsewhere.
fn anonymous() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or_default() << 10
}
