//! `ixmcp documents index|update|remove|list|search|show`: the tools on documents, for people.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::paint::Paint;
use super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::model::printable;

/// Index folders of documents, and search them
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Index(Index),
    Update(Update),
    Remove(Remove),
    List(List),
    Search(Search),
    Show(Show),
}

/// Have a folder indexed from now on
#[derive(Debug, Args)]
struct Index {
    /// The folder, in the repository or outside it
    folder: String,
    /// Most characters of a chunk [default: 1000]
    #[arg(long)]
    chunk_size: Option<u64>,
    /// Characters that a chunk repeats of the one before [default: 200, or a fifth of the chunk's if that is less]
    #[arg(long)]
    overlap: Option<u64>,
    /// Most files of the folder [default: 10000]
    #[arg(long)]
    max_files: Option<u64>,
    /// Extensions to read, or names such as markdown, separated by commas [default: all that can be read]
    #[arg(long, value_delimiter = ',')]
    types: Option<Vec<String>>,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

/// Bring an indexed folder up to date, and count what changed
#[derive(Debug, Args)]
struct Update {
    /// The folder
    folder: String,
    /// Files or folders that changed [default: the whole folder]
    changes: Vec<String>,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

/// Have a folder indexed no longer
///
/// Its documents leave the index; files of the repository stay in it as the repository's. Nothing on disk changes.
#[derive(Debug, Args)]
struct Remove {
    /// The folder, which need not be there any more
    folder: String,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

/// Show which folders are indexed
#[derive(Debug, Args)]
struct List {
    /// Print the folders as one JSON object
    #[arg(long)]
    json: bool,
}

/// Search chunks by wording and meaning
#[derive(Debug, Args)]
struct Search {
    /// What to look for, in the words that come to mind
    #[arg(required = true)]
    text: Vec<String>,
    /// Most results to show
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: u64,
    /// Results to leave out at the start
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Least score, from 0 to 1 [default: 0.7]
    #[arg(long, value_parser = score)]
    min_score: Option<f64>,
    /// Only in this folder
    #[arg(long)]
    folder: Option<String>,
    /// Only files of these extensions, or of names such as markdown, separated by commas
    #[arg(long, value_delimiter = ',')]
    types: Option<Vec<String>>,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

/// Print the text of a document, or one chunk of it
#[derive(Debug, Args)]
struct Show {
    /// The file: from the repository's root or from here, or absolute
    file: String,
    /// The chunk, from 0 [default: the whole text]
    #[arg(long)]
    chunk: Option<u64>,
    /// Lines around the chunk; the whole text has none
    #[arg(long, default_value_t = 3)]
    context: u64,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    match &typed.command {
        Command::Index(typed) => index(session, typed),
        Command::Update(typed) => update(session, typed),
        Command::Remove(typed) => remove(session, typed),
        Command::List(typed) => list(session, typed),
        Command::Search(typed) => search(session, typed),
        Command::Show(typed) => show(session, typed),
    }
}

fn index(session: &Session, typed: &Index) -> Result<Outcome> {
    let options = arguments! {
        "chunkSize": typed.chunk_size, "overlap": typed.overlap, "maxFiles": typed.max_files, "fileTypes": typed.types,
    };
    let given = json!({ "folderPath": session.here(&typed.folder), "options": options });
    let answer = session.call("index_files", given)?;
    if typed.json {
        output::json(&answer);
    } else {
        output::line(&format!(
            "{} of {} files, {} chunks",
            answer["processedFiles"], answer["totalFiles"], answer["totalChunks"]
        ));
        print_skipped(&answer);
        if let Some(warning) = answer["warning"].as_str() {
            output::note(warning);
        }
    }
    Ok(Outcome::Found)
}

fn update(session: &Session, typed: &Update) -> Result<Outcome> {
    let changes: Vec<String> = typed.changes.iter().map(|change| session.here(change)).collect();
    let given = arguments! { "folderPath": session.here(&typed.folder), "changes": changes };
    let answer = session.call("update_index", given)?;
    if typed.json {
        output::json(&answer);
    } else {
        let count = |name: &str| format!("{} {name}", answer[name]);
        let counts: Vec<String> = ["added", "updated", "removed", "unchanged"].map(count).into();
        output::line(&counts.join(", "));
        print_skipped(&answer);
    }
    Ok(Outcome::Found)
}

fn remove(session: &Session, typed: &Remove) -> Result<Outcome> {
    let given = json!({ "folderPath": session.here(&typed.folder), "forget": true });
    let answer = session.call("update_index", given)?;
    if typed.json {
        output::json(&answer);
    } else {
        let stay = match answer["unchanged"].as_u64() {
            None | Some(0) => String::new(),
            Some(1) => "; 1 stays, as the repository or a folder around indexes it".to_owned(),
            Some(files) => format!("; {files} stay, as the repository or a folder around indexes them"),
        };
        let removed = output::count(answer["removed"].as_u64().unwrap_or(0), "file has", "files have");
        output::line(&format!("{removed} left the index{stay}"));
    }
    Ok(Outcome::Found)
}

fn list(session: &Session, typed: &List) -> Result<Outcome> {
    let stats = session.call("stats", json!({}))?;
    let folders = stats["document_folders"].as_array().map_or(&[][..], Vec::as_slice);
    if typed.json {
        output::json(&json!({ "folders": folders }));
    } else {
        for folder in folders {
            let types: Vec<String> = folder["fileTypes"].as_array().into_iter().flatten().map(output::text).collect();
            let types = if types.is_empty() { String::new() } else { format!(", of {} alone", types.join(" ")) };
            output::line(&format!(
                "{}  {}, chunks of {} characters with {} of the one before{types}",
                output::text(&folder["folderPath"]),
                output::count(folder["totalFiles"].as_u64().unwrap_or(0), "file", "files"),
                folder["chunkSize"],
                folder["overlap"]
            ));
        }
        if folders.is_empty() {
            output::note_nothing();
        }
    }
    Ok(if folders.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

fn score(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|score| (0.0..=1.0).contains(score));
    number.ok_or_else(|| "give a number from 0, which shows everything, to 1".to_owned())
}

fn print_skipped(answer: &Value) {
    for (list, word) in [("skipped", "skipped"), ("problems", "partial")] {
        for file in answer[list].as_array().into_iter().flatten() {
            output::line(&format!("{word}  {}  {}", output::text(&file["path"]), output::text(&file["reason"])));
        }
    }
    if let Some(total) = answer["totalProblems"].as_u64() {
        let documents = output::count(total, "document is", "documents are");
        output::note(&format!("{documents} in the index in part"));
    }
}

fn search(session: &Session, typed: &Search) -> Result<Outcome> {
    let folder = typed.folder.as_deref().map(|folder| session.here(folder));
    let options = arguments! {
        "limit": typed.limit, "minScore": typed.min_score, "folderPath": folder, "fileTypes": typed.types,
    };
    let given = json!({ "query": typed.text.join(" "), "offset": typed.offset, "options": options });
    let answer = session.call("search_documents", given)?;
    let results = answer["results"].as_array().map_or(&[][..], Vec::as_slice);
    if typed.json {
        output::json(&answer);
    } else {
        results.iter().for_each(|result| print(result, &session.paint));
        output::note_rest(&answer, "results");
        match answer["belowMinScore"].as_u64() {
            None | Some(0) => {}
            Some(1) => output::note("1 more is less sure: --min-score 0 shows it"),
            Some(below) => output::note(&format!("{below} more are less sure: --min-score 0 shows them")),
        }
    }
    Ok(if results.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

fn print(result: &Value, paint: &Paint) {
    let metadata = &result["metadata"];
    let page = metadata["page"].as_u64().map_or_else(String::new, |page| format!(", page {page}"));
    let headings: Vec<String> = metadata["headings"].as_array().into_iter().flatten().map(output::text).collect();
    let place = paint.place(&result["filePath"], &[&metadata["startLine"]]);
    output::line(&format!("{place}{page}  {}  {:.2}", headings.join(" > "), result["score"].as_f64().unwrap_or(0.0)));
    for line in result["content"].as_str().unwrap_or_default().lines() {
        output::line(&format!("    {}", printable(&line.replace('\t', "    "))));
    }
}

fn show(session: &Session, typed: &Show) -> Result<Outcome> {
    let given = json!({
        "filePath": session.file(&typed.file), "chunkIndex": typed.chunk, "contextLines": typed.context,
    });
    let answer = session.call("get_file_details", given)?;
    if typed.json {
        output::json(&answer);
    } else {
        for problem in answer["problems"].as_array().into_iter().flatten() {
            output::note(&output::text(problem));
        }
        for line in answer["content"].as_str().unwrap_or_default().lines() {
            output::line(&printable(&line.replace('\t', "    ")));
        }
    }
    Ok(Outcome::Found)
}
