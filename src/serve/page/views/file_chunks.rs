//! The view `chunks` of the web page: how an indexed file is split into chunks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::query::documents;
use crate::tools::{self, Access, Call, Declaration, declare};
use crate::wording::Command;

pub(super) static CHUNKS: Declaration = declare! {
    run;
    name: "chunks",
    title: "Chunks of a file",
    about: "The chunks of an indexed file: the lines of each, the headings above it, its page.",
    access: Access::Read,
    core: false,
    list: Some("chunks"),
    example: r#"{"file": "README.md"}"#,
};

/// Arguments of `chunks`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file: String,
    /// Chunks to leave out at the start (default 0).
    offset: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    chunks: Vec<Chunk>,
    total: usize,
}

#[derive(Serialize, JsonSchema)]
struct Chunk {
    index: u64,
    start_line: u32,
    end_line: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let path = call.workspace().files.indexed_path(&arguments.file)?;
    let cuts = call.read_file(&path, |snapshot| documents::cuts(snapshot, &path))?;
    let cuts = cuts.ok_or_else(|| {
        Error::invalid_path(format!("{} is not in the index", crate::model::printable(&path)))
            .hint((Command("files --skipped"), " says why a file was left out."))
    })?;
    let total = cuts.len();
    let (offset, _) = tools::page(arguments.offset, None, usize::MAX, usize::MAX);
    let chunks = cuts.into_iter().skip(offset).map(|piece| Chunk {
        index: piece.index,
        start_line: piece.start_line,
        end_line: piece.end_line,
        headings: piece.headings.lines().map(str::to_owned).collect(),
        page: piece.page,
    });
    Ok(Answer { chunks: chunks.collect(), total })
}
