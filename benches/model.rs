//! How long `search_documents` takes with a model of a person's choice: `cargo bench --bench model -- DIR MODEL
//! LIBRARY`.
//!
//! DIR is a repository, MODEL the folder of a model, LIBRARY that of ONNX Runtime (none: rten). Asks a process that
//! watches: each query once while nothing of its answer has a vector by the model, then again and again, and at last
//! when all chunks have one and it finds by itself. Queries are sentences and the beginnings of chunks all over the
//! index. Prints a table with what is to be held; judges nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench that fails has failed")]

mod asked;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::store::Snapshot;
use ixmcp::tools::Tools;
use ixmcp::workspace::{Watching, Workspace, Workspaces};
use serde_json::json;

use asked::{ask, caller};

const SENTENCES: &[&str] = &[
    "how are migrations applied to the database",
    "send an email when a form is valid",
    "cache key prefix and timeout",
    "where are passwords hashed",
    "retry after a connection was lost",
    "parse a date from text",
    "limit the number of form fields",
    "translate a message lazily",
    "protect a form against request forgery",
    "stream a large file to the client",
];
/// Queries that are the beginnings of chunks, and how many words those have.
const DRAWN: u64 = 20;
const WORDS: usize = 9;
const ROUNDS: usize = 5;
/// Rounds until all that a query looks at has a vector, and the time before each.
const SETTLING: usize = 3;
const BACKGROUND: Duration = Duration::from_secs(40);

fn main() {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [root, model, library @ ..] = given.as_slice() else { panic!("DIR MODEL [LIBRARY]") };
    let root = Path::new(root).canonicalize().unwrap();
    let model = Path::new(model).canonicalize().unwrap();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("Load average at the start: {}.\n", load.split(' ').take(3).collect::<Vec<_>>().join(" "));

    let variables = library.iter().map(|library| ("ORT_DYLIB_PATH".to_owned(), library.clone()));
    let environment = Environment::new(variables, root.with_file_name("no-home"), root.clone())
        .with_program(PathBuf::from(env!("CARGO_BIN_EXE_ixmcp")));
    let sources = Sources { flags: Flags::default(), environment };
    let index = Arc::new(Workspace::open(&root, Arc::new(sources.clone())).unwrap());
    let chosen = Some(model.to_str().unwrap().to_owned());
    // Nothing by this model is known at first.
    index.model.select(None, &Budget::unlimited()).unwrap();
    index.model.select(chosen, &Budget::unlimited()).unwrap();
    index.freshen(Some(Duration::MAX), &Budget::unlimited()).unwrap();
    let queries = index.read(&Budget::unlimited(), queries).unwrap();
    drop(index);

    let watched = Arc::new(Workspaces::new(sources, Watching::Yes));
    let tools = Tools::new(Arc::clone(&watched));
    let caller = caller(&root, None);
    let search = |query: &str| {
        let arguments = json!({ "query": query, "options": { "minScore": 0 } });
        ask(&tools, &caller, "search_documents", arguments)
    };
    // The model is read in the background once somebody asks.
    let stats = || ask(&tools, &caller, "stats", json!({})).1;
    while search("what is read first").1.get("vectors_pending").is_some() || stats()["transformer"]["device"].is_null()
    {
        std::thread::sleep(Duration::from_millis(50));
    }
    let reported = stats();
    println!("{} chunks; {}", reported["total_chunks"], reported["transformer"]["device"]);
    let vectors = || stats()["transformer"]["vectors"].as_u64().unwrap_or_default();
    println!("\n| what | hold | came out |\n|---|---|---|");
    let row = |what: &str, hold: &str, mut times: Vec<Duration>| {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
        println!("| {what} | {hold} | p50 {:.1?}, p99 {:.1?} of {} |", at(50), at(99), times.len());
    };
    row("asked for the first time", "≤ 300 ms", queries.iter().map(|query| search(query).0).collect());
    // What there was no time for is made in the background, and the next time more is seen that there is none for.
    for _ in 0..SETTLING {
        std::thread::sleep(BACKGROUND);
        queries.iter().for_each(|query| drop(search(query)));
    }
    let again = || (0..ROUNDS).flat_map(|_| &queries).map(|query| search(query).0).collect();
    row("asked again", "≤ 50 ms", again());

    let index = watched.at(&root).unwrap();
    let (begun, before) = (Instant::now(), vectors());
    index.model.embed_all(&Budget::unlimited(), &|_| {}).unwrap();
    let (took, after) = (begun.elapsed(), vectors());
    println!("| {} chunks embedded by two threads | | {took:.0?} |", after - before);
    row("all chunks have a vector by it, asked", "≤ 50 ms", queries.iter().map(|query| search(query).0).collect());
    row("asked again", "≤ 50 ms", again());
}

/// Sentences, and beginnings of chunks all over the index.
fn queries(snapshot: &Snapshot) -> ixmcp::error::Result<Vec<String>> {
    let mut queries: Vec<String> = SENTENCES.iter().map(|&sentence| sentence.to_owned()).collect();
    let count = snapshot.chunk_count()?;
    for at in 0..DRAWN {
        let Some(id) = snapshot.nth_chunk(count * at / DRAWN)? else { continue };
        let text = snapshot.chunk(id)?.text;
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect();
        queries.push(words.into_iter().take(WORDS).collect::<Vec<_>>().join(" "));
    }
    queries.retain(|query| !query.is_empty());
    Ok(queries)
}
