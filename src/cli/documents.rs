//! `ixmcp documents index|update|remove|list|search|show`: the tools on documents, for people.

use clap::{Args, Subcommand};
use serde_json::json;

use super::paint::Paint;
use super::{Outcome, Session, arguments, output};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::tools::index_files::{LeftOut, Partial};
use crate::tools::search_documents::Hit;
use crate::tools::{get_file_details, index_files, search_documents, stats, update_index};

/// Index and search folders of documents
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

impl Arguments {
    /// Whether it only searches.
    pub(super) const fn is_search(&self) -> bool {
        matches!(self.command, Command::Search(_))
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Index(Index),
    Update(Update),
    Remove(Remove),
    /// List the indexed folders
    List,
    Search(Search),
    Show(Show),
}

/// Index a folder and keep it up to date
#[derive(Debug, Args)]
struct Index {
    /// The folder, in the repository or outside it
    folder: String,
    /// Maximum number of characters per chunk [default: 1000]
    #[arg(long)]
    chunk_size: Option<u64>,
    /// Number of characters by which chunks overlap [default: 200, or a fifth of the chunk size if that is less]
    #[arg(long)]
    overlap: Option<u64>,
    /// Maximum number of files [default: 10000]
    #[arg(long)]
    max_files: Option<u64>,
    /// File extensions, or format names such as markdown, separated by commas [default: all supported formats]
    #[arg(long, value_delimiter = ',')]
    types: Option<Vec<String>>,
}

/// Update an indexed folder and report what changed
#[derive(Debug, Args)]
struct Update {
    /// The folder
    folder: String,
    /// Files or folders to update [default: the whole folder]
    changes: Vec<String>,
}

/// Stop indexing a folder
///
/// Removes its documents from the index. Files that belong to the repository stay indexed. Nothing on disk changes.
#[derive(Debug, Args)]
struct Remove {
    /// The folder; it does not have to exist any more
    folder: String,
}

/// Search documents by words and meaning
#[derive(Debug, Args)]
struct Search {
    /// The query
    #[arg(required = true)]
    text: Vec<String>,
    /// Maximum number of results
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: u64,
    /// Number of results to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Minimum score, from 0 to 1 [default: 0.7]
    #[arg(long, value_parser = score)]
    min_score: Option<f64>,
    /// Search only this folder
    #[arg(long)]
    folder: Option<String>,
    /// Search only files with these extensions, or formats such as markdown, separated by commas
    #[arg(long, value_delimiter = ',')]
    types: Option<Vec<String>>,
}

/// Print the text of a document or of one of its chunks
#[derive(Debug, Args)]
struct Show {
    /// The file, relative to the current folder or the repository, or absolute
    file: String,
    /// The index of the chunk, starting at 0 [default: the whole text]
    #[arg(long)]
    chunk: Option<u64>,
    /// Number of lines to show around the chunk
    #[arg(long, default_value_t = 3)]
    context: u64,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    match &typed.command {
        Command::Index(typed) => index(session, typed),
        Command::Update(typed) => update(session, typed),
        Command::Remove(typed) => remove(session, typed),
        Command::List => list(session),
        Command::Search(typed) => search(session, typed),
        Command::Show(typed) => show(session, typed),
    }
}

fn index(session: &Session, typed: &Index) -> Result<Outcome> {
    let options = arguments! {
        "chunkSize": typed.chunk_size, "overlap": typed.overlap, "maxFiles": typed.max_files, "fileTypes": typed.types,
    };
    let given = json!({ "folderPath": session.here(&typed.folder), "options": options });
    let answer = session.call::<index_files::Answer>("index_files", given)?;
    session.show(&answer.json, true, || {
        let index_files::Answer { folder_path, processed_files, total_files, total_chunks, .. } = &*answer;
        let folder = session.paint.path(folder_path);
        let files = output::count(*total_files as u64, "file", "files");
        let chunks = output::count(*total_chunks, "chunk", "chunks");
        output::line(&format!("{folder}: {processed_files} of {files}, {chunks}"));
        print_skipped(&answer.left, &answer.partial, &session.paint);
        if let Some(warning) = &answer.warning {
            output::note(warning);
        }
    })
}

fn update(session: &Session, typed: &Update) -> Result<Outcome> {
    let changes: Vec<String> = typed.changes.iter().map(|change| session.here(change)).collect();
    let given = arguments! { "folderPath": session.here(&typed.folder), "changes": changes };
    let answer = session.call::<update_index::Answer>("update_index", given)?;
    session.show(&answer.json, true, || {
        let update_index::Answer { folder_path, added, updated, removed, unchanged, .. } = &*answer;
        let folder = session.paint.path(folder_path);
        output::line(&format!("{folder}: {added} added, {updated} updated, {removed} removed, {unchanged} unchanged"));
        print_skipped(&answer.left, &answer.partial, &session.paint);
    })
}

fn remove(session: &Session, typed: &Remove) -> Result<Outcome> {
    let given = json!({ "folderPath": session.here(&typed.folder), "forget": true });
    let answer = session.call::<update_index::Answer>("update_index", given)?;
    session.show(&answer.json, true, || {
        let stay = match answer.unchanged {
            0 => String::new(),
            1 => "; 1 stays, because the repository or a parent folder indexes it".to_owned(),
            files => format!("; {files} stay, because the repository or a parent folder indexes them"),
        };
        let removed = output::count(answer.removed as u64, "file", "files");
        let folder = session.paint.path(&answer.folder_path);
        output::line(&format!("{folder}: {removed} removed from the index{stay}"));
    })
}

fn list(session: &Session) -> Result<Outcome> {
    let stats = session.call::<stats::Answer>("stats", json!({}))?;
    let folders = &stats.document_folders;
    let empty = "no folder is indexed as documents; `ixmcp documents index FOLDER` adds one";
    session.show_list(&json!({ "folders": folders }), folders, empty, |folder| {
        let types = folder.file_types.as_deref().unwrap_or_default().join(" ");
        let types = if types.is_empty() { types } else { format!(", only {}", printable(&types)) };
        output::line(&format!(
            "{}  {}, chunks of {} characters, overlapping by {}{types}",
            session.paint.path(&folder.folder_path),
            output::count(folder.total_files as u64, "file", "files"),
            folder.chunk_size,
            folder.overlap
        ));
    })
}

fn score(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|score| (0.0..=1.0).contains(score));
    number.ok_or_else(|| "give a number from 0, which shows everything, to 1".to_owned())
}

fn print_skipped(left: &LeftOut, partial: &Partial, paint: &Paint) {
    let skipped = left.skipped.iter().map(|file| ("skipped", &file.path, &file.reason));
    let partial_files = partial.problems.iter().map(|problem| ("partial", &problem.path, &problem.reason));
    for (word, path, reason) in skipped.chain(partial_files) {
        output::line(&format!("{word}  {}  {}", paint.path(path), printable(reason)));
    }
    if let Some(total) = partial.total {
        let documents = output::count(total as u64, "document is", "documents are");
        output::note(&format!("{documents} only partly indexed"));
    }
}

fn search(session: &Session, typed: &Search) -> Result<Outcome> {
    if typed.folder.as_deref() == Some("") {
        return Err(Error::invalid_path("option `--folder` is empty").hint("Name a folder, or leave it out."));
    }
    let folder = typed.folder.as_deref().map(|folder| session.here(folder));
    let options = arguments! {
        "limit": typed.limit, "minScore": typed.min_score, "folderPath": folder, "fileTypes": typed.types,
    };
    let given = json!({ "query": typed.text.join(" "), "offset": typed.offset, "options": options });
    let answer = session.call::<search_documents::Answer>("search_documents", given)?;
    let results = &answer.results;
    session.show(&answer.json, !results.is_empty(), || {
        results.iter().for_each(|result| print(result, &session.paint));
        let empty =
            if answer.below_min_score > 0 { "no document has the minimum score" } else { "no document matches" };
        answer.note_rest(results.len(), empty);
        match answer.below_min_score {
            0 => {}
            1 => output::note("1 more has a lower score: --min-score 0 shows it"),
            below => output::note(&format!("{below} more have a lower score: --min-score 0 shows them")),
        }
    })
}

fn print(hit: &Hit, paint: &Paint) {
    let metadata = hit.metadata.as_ref();
    let page = metadata.and_then(|metadata| metadata.page).map_or_else(String::new, |page| format!(", page {page}"));
    let headings = metadata.map(|metadata| metadata.headings.join(" > ")).unwrap_or_default();
    let position = paint.position(&hit.file_path, metadata.map(|metadata| metadata.start_line).as_slice());
    output::line(&format!("{position}{page}  {}  {:.2}", printable(&headings), hit.score));
    for line in hit.content.lines() {
        output::line(format!("    {}", printable(&line.replace('\t', "    "))).trim_end());
    }
}

fn show(session: &Session, typed: &Show) -> Result<Outcome> {
    let given = json!({
        "filePath": session.file(&typed.file), "chunkIndex": typed.chunk, "contextLines": typed.context,
    });
    let answer = session.call::<get_file_details::Answer>("get_file_details", given)?;
    session.show(&answer.json, true, || {
        for problem in &answer.problems {
            output::note(&printable(&problem.reason));
        }
        for line in answer.content.lines() {
            output::line(&printable(&line.replace('\t', "    ")));
        }
    })
}
