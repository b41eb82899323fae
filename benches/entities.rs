//! How long queries to a large knowledge graph take: `cargo bench --bench entities [-- ENTITIES EDGES]`.
//!
//! Makes a repository of 10,000 entities with 50,000 edges, asks as a process that stays would, and prints medians next
//! to what is to be held. Judges none of them.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench that fails has failed")]

mod asked;

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::tools::Tools;
use ixmcp::workspace::{Watching, Workspaces};
use serde_json::{Value, json};

use asked::{ask, caller};

const WORDS: &[&str] = &[
    "index", "store", "search", "token", "parser", "writer", "batch", "graph", "vector", "query", "cache", "lock",
    "daemon", "socket", "schema", "ranking", "snippet", "chunk", "symbol", "budget",
];
const KINDS: &[(&str, &str, &str)] = &[
    ("issue", "issues", "iss"),
    ("decision", "decisions", "dec"),
    ("idea", "ideas", "idea"),
    ("report", "reports", "rpt"),
];
const RELATIONS: &[&str] = &["depends_on", "blocks", "relates_to", "implements", "parent"];

/// A small generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }
}

fn id(at: usize) -> String {
    format!("{}-{at:06x}", KINDS[at % KINDS.len()].2)
}

/// Chooses the target of a link: mostly an entity made shortly before, sometimes one of a few that everybody links to,
/// sometimes any.
fn target(random: &mut Random, at: usize, count: usize) -> usize {
    match random.below(10) {
        0 => random.below(20),
        1 | 2 => random.below(count),
        _ => at.saturating_sub(1 + random.below(50)),
    }
}

fn make(root: &Path, count: usize, edges: usize) {
    let mut random = Random(7);
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::create_dir_all(root.join("src")).unwrap();
    for (_, folder, _) in KINDS {
        std::fs::create_dir_all(root.join(".ixchel").join(folder)).unwrap();
    }
    for word in WORDS {
        let text = WORDS.iter().fold(String::new(), |mut text, other| {
            writeln!(text, "def {word}_{other}(x):\n    return {other}_{word}(x)\n").unwrap();
            text
        });
        std::fs::write(root.join(format!("src/{word}.py")), text).unwrap();
    }
    for at in 0..count {
        let (kind, folder, _) = KINDS[at % KINDS.len()];
        let word = |random: &mut Random| WORDS[random.below(WORDS.len())];
        let mut text = format!(
            "---\nid: {}\ntype: {kind}\ntitle: The {} of the {}\nstatus: open\n",
            id(at),
            word(&mut random),
            word(&mut random)
        );
        writeln!(text, "created_at: 2026-01-06T05:14:10Z\nupdated_at: 2026-01-06T05:14:10Z").unwrap();
        writeln!(text, "tags: [{}, {}, area-{}]", word(&mut random), word(&mut random), random.below(200)).unwrap();
        for relation in RELATIONS {
            let share = edges / count / RELATIONS.len();
            let targets: Vec<String> = (0..share.max(1)).map(|_| id(target(&mut random, at, count))).collect();
            writeln!(text, "{relation}: [{}]", targets.join(", ")).unwrap();
        }
        text.push_str("---\n\n");
        for _ in 0..3 {
            let words: Vec<&str> = (0..60).map(|_| word(&mut random)).collect();
            writeln!(text, "{}.\n", words.join(" ")).unwrap();
        }
        writeln!(
            text,
            "See `{}_{}` and src/{}.py:{}.",
            word(&mut random),
            word(&mut random),
            word(&mut random),
            1 + random.below(40)
        )
        .unwrap();
        std::fs::write(root.join(format!(".ixchel/{folder}/{}.md", id(at))), text).unwrap();
    }
}

fn main() {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let (count, edges) = (numbers.first().copied().unwrap_or(10_000), numbers.get(1).copied().unwrap_or(50_000));
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make(&root, count, edges);
    let environment = Environment::new([], root.with_file_name("no-home"), root.clone());
    let sources = Sources { flags: Flags::default(), environment };
    let caller = caller(&root, Some(24 << 10));
    let ask = |tools: &Tools, tool: &str, arguments: Value| ask(tools, &caller, tool, arguments);

    let swept = Tools::new(Arc::new(Workspaces::new(sources.clone(), Watching::No)));
    let (time, answer) = ask(&swept, "ixchel_sync", json!({}));
    println!("{count} entities, about {edges} edges; first build {time:.2?}, {} problems", answer["total_problems"]);
    figure("sync, nothing changed", "150 ms", (0..15).map(|_| ask(&swept, "ixchel_sync", json!({})).0));
    let edit = |at: usize| {
        let path = root.join(format!(".ixchel/{}/{}.md", KINDS[at % KINDS.len()].1, id(at)));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text + "One more line.\n").unwrap();
    };
    figure(
        "sync after one edit, all files looked at",
        "",
        (0..15).map(|at| {
            edit(at * 7);
            ask(&swept, "ixchel_sync", json!({})).0
        }),
    );
    drop(swept);

    let watched = Tools::new(Arc::new(Workspaces::new(sources, Watching::Yes)));
    ask(&watched, "ixchel_sync", json!({}));
    figure(
        "sync after one edit, watched",
        "20 ms",
        (0..30).map(|at| {
            edit(at * 11);
            ask(&watched, "ixchel_sync", json!({})).0
        }),
    );
    std::thread::sleep(Duration::from_millis(500));
    let mut random = Random(3);
    let mut calls = |name: &str, hold: &str, tool: &str, arguments: &dyn Fn(&str) -> Value| {
        figure(name, hold, (0..200).map(|_| ask(&watched, tool, arguments(&id(random.below(count)))).0));
    };
    calls("graph, depth 3, outgoing", "10 ms", "ixchel_graph", &|id| json!({ "id": id, "depth": 3 }));
    calls("graph, depth 3, both", "", "ixchel_graph", &|id| json!({ "id": id, "depth": 3, "direction": "both" }));
    calls("context", "10 ms", "ixchel_context", &|id| json!({ "id": id }));
    calls("tags", "5 ms", "ixchel_tags", &|_| json!({}));
    calls("tags of issues", "5 ms", "ixchel_tags", &|_| json!({ "kind": "issue" }));
    calls("show", "", "ixchel_show", &|id| json!({ "id": id }));
    calls("search", "5 ms", "ixchel_search", &|id| json!({ "query": format!("vector cache {id}") }));
    let narrowed = json!({ "query": "vector", "kind": "issue", "tag": "cache" });
    calls("search, one kind and tag", "", "ixchel_search", &|_| narrowed.clone());
}

/// Prints what calls took. Times are those that the caller waited; the CPU time is that of the whole process, embedding
/// in the background included, for each call.
fn figure(name: &str, hold: &str, times: impl IntoIterator<Item = Duration>) {
    let before = cpu_time();
    let mut times: Vec<Duration> = times.into_iter().collect();
    let cpu = (cpu_time() - before) / u32::try_from(times.len()).unwrap();
    times.sort();
    let at = |percent: usize| times[times.len() * percent / 100];
    let hold = if hold.is_empty() { String::new() } else { format!("  (hold {hold})") };
    println!("{name:<42} p50 {:>9.2?}  p90 {:>9.2?}  CPU {cpu:>9.2?}{hold}", at(50), at(90));
}

/// CPU time of this process so far, in steps of a hundredth of a second, as Linux counts it; zero elsewhere.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    Duration::from_millis(fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10)
}
