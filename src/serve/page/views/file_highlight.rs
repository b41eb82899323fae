//! The views `highlight` and `snippets` of the web page: the syntax classes of words, in lines of a file or in single lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::extract;
use crate::extract::highlight;
use crate::query::documents;
use crate::tools::{self, Access, Call, Declaration, declare};

pub(super) static HIGHLIGHT: Declaration = declare! {
    run;
    name: "highlight",
    title: "Highlighting of a file",
    about: "The classes of the words in lines of a file: keywords, strings, comments, names.",
    access: Access::Read,
    core: false,
    list: None,
    example: r#"{"file": "README.md"}"#,
};

/// Arguments of `highlight`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file: String,
    /// First line, from 1 (default 1).
    start_line: Option<u64>,
    /// Lines (default and at most 4000).
    lines: Option<u64>,
}

const MAX_LINES: usize = 4_000;

#[derive(Serialize, JsonSchema)]
struct Answer {
    language: String,
    start_line: usize,
    /// Spans of each line: start, length and class of each, one after the other. Empty: the text is shown plain.
    lines: Vec<Vec<u32>>,
    /// Whether the language has a grammar, and the text is neither too large nor too hostile for it.
    highlighted: bool,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let (language, text) = text_of(call, &arguments.file)?;
    let first = arguments.start_line.and_then(|line| usize::try_from(line).ok()).unwrap_or(1).max(1);
    let (_, count) = tools::page(None, arguments.lines, MAX_LINES, MAX_LINES);
    let found = highlight::highlight(&language, &text, first - 1..(first - 1).saturating_add(count));
    let highlighted = found.is_some();
    Ok(Answer {
        language,
        start_line: first,
        lines: found.unwrap_or_default().iter().map(|line| highlight::flat(line)).collect(),
        highlighted,
    })
}

/// The language and the text of a file: from the index, or from the disk if it is not indexed.
pub(super) fn text_of(call: &Call, file: &str) -> Result<(String, String)> {
    let path = call.workspace().files.indexed_path(file)?;
    if let Some(details) = call.read_file(&path, |snapshot| documents::details(snapshot, &path, None, 0))? {
        return Ok((details.file.language, details.content));
    }
    let (path, bytes) = call.workspace().files.read(file)?;
    let (text, _) = extract::decoded(&bytes).ok_or_else(|| {
        Error::new(ErrorKind::UnsupportedFormat, format!("{} is not text", crate::model::printable(&path)))
            .hint("Choose a text file.")
    })?;
    let language = crate::model::RepoPath::stored(&path).map_or("text", |path| extract::language_of(&path));
    let masks = call.workspace().files.masks_secrets();
    Ok((language.to_owned(), if masks { crate::secrets::mask_text(text) } else { text }.into_owned()))
}

pub(super) static SNIPPETS: Declaration = declare! {
    run_snippets;
    name: "snippets",
    title: "Highlighting of lines",
    about: "The classes of the words in single lines, such as the previews of hits.",
    access: Access::Read,
    core: false,
    list: None,
    example: r#"{"snippets": [{"file": "a.py", "text": "def a(): pass"}]}"#,
};

/// Arguments of `snippets`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SnippetArguments {
    snippets: Vec<Snippet>,
}

/// A line, and the file that contains it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Snippet {
    file: String,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct SnippetAnswer {
    /// Spans of each snippet, as in `highlight`.
    lines: Vec<Vec<u32>>,
}

const MAX_SNIPPETS: usize = 1_000;

fn run_snippets(_: &Call, arguments: &SnippetArguments) -> Result<SnippetAnswer> {
    let spans = |snippet: &Snippet| {
        let path = crate::model::RepoPath::stored(&snippet.file)?;
        let found = highlight::highlight(extract::language_of(&path), &snippet.text, 0..1)?;
        found.first().map(|line| highlight::flat(line))
    };
    let lines = arguments.snippets.iter().take(MAX_SNIPPETS).map(|snippet| spans(snippet).unwrap_or_default());
    Ok(SnippetAnswer { lines: lines.collect() })
}
