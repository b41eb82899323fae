//! Search quality by labelled queries: `cargo bench --bench eval -- QUERIES… [--repo FOLDER] [OPTIONS]`; `--help` lists the options.
//!
//! Prints NDCG@10, MRR, Recall@10 and the time of an answer, next to plain and stemmed BM25, as a Markdown table; judges
//! none of them. `fixtures/search/README.md` describes the queries.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod evaluation;
mod labels;
mod measure;
mod plain;

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::workspace::{Watching, Workspaces};

use evaluation::{Evaluation, Method, Row};

/// Measure search quality
///
/// Each line of QUERIES is {"query": "…", "relevant": ["src/a.rs", "src/b.rs:10-20"]}, optionally with "kind" and "half",
/// which group the rows, and "tree", a folder below the repository that is a repository itself.
#[derive(Debug, Parser)]
struct Arguments {
    /// JSON Lines files: each line has a query and its relevant files or lines
    #[arg(required = true)]
    queries: Vec<PathBuf>,
    /// The repository, or the folder that contains the trees of the queries
    #[arg(long, default_value = ".")]
    repo: PathBuf,
    /// Run only the queries of this half
    #[arg(long)]
    half: Option<String>,
    /// Compare files only and ignore line numbers
    #[arg(long)]
    files: bool,
    /// Measure `search_documents` instead of `query`
    #[arg(long, conflicts_with = "ablate")]
    documents: bool,
    /// Also measure with each part of the ranking left out in turn
    #[arg(long)]
    ablate: bool,
    /// Print the candidates of each query with the parts of their scores, for `fit.py`, without measuring
    #[arg(long, conflicts_with_all = ["files", "documents", "ablate"])]
    candidates: bool,
    /// Set by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let mut queries = Vec::new();
    for path in &arguments.queries {
        queries.extend(labels::read(path)?);
    }
    queries.retain(|asked| arguments.half.is_none() || asked.half == arguments.half);
    if queries.is_empty() {
        return Err("the files contain no query".into());
    }
    if arguments.files {
        queries.iter_mut().for_each(labels::LabelledQuery::leave_out_lines);
    }
    let sources = Sources { flags: Flags::default(), environment: Environment::from_process() };
    let evaluation = Evaluation::new(Workspaces::new(sources, Watching::No), arguments.repo.canonicalize()?, queries);
    if arguments.candidates {
        return Ok(evaluation.candidates(|line| println!("{line}"))?);
    }
    let absent = evaluation.absent()?;
    if let Some(first) = absent.first() {
        println!("{} relevant files are not in the index, such as {first}\n", absent.len());
    }
    let method = if arguments.documents { Method::Documents } else { Method::default() };
    print(&evaluation.rows(&method, arguments.ablate)?);
    Ok(())
}

fn print(rows: &[Row]) {
    println!(
        "| half | kind | ranking | queries | NDCG@10 | change (95 %) | compared with | MRR | Recall@10 | p50 ms | p99 ms |"
    );
    println!("|---|---|---|---:|---:|---|---|---:|---:|---:|---:|");
    for row in rows {
        let (summary, milliseconds) = (&row.summary, |time: std::time::Duration| time.as_secs_f64() * 1e3);
        let (gain, compared_with) = row.gain.as_ref().map_or_else(Default::default, |(other, gain)| {
            (format!("{:+.3} [{:+.3}, {:+.3}]", gain.mean, gain.low, gain.high), other.as_str())
        });
        println!(
            "| {} | {} | {} | {} | {:.3} | {gain} | {compared_with} | {:.3} | {:.3} | {:.2} | {:.2} |",
            row.half,
            row.kind,
            row.ranking,
            summary.queries,
            summary.ndcg,
            summary.mrr,
            summary.recall,
            milliseconds(summary.p50),
            milliseconds(summary.p99)
        );
    }
}
