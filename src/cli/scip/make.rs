//! `ixmcp scip make`: run installed indexers.
//!
//! Owns the list of indexers and their options. Nothing runs without the user's consent, because indexers run build scripts.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::{Value, json};

use super::{name_of, value};
use crate::budget::Budget;
use crate::cli::{Outcome, Session, output};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::workspace::Workspace;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Run the commands without asking
    #[arg(long, short)]
    yes: bool,
    /// Run only these indexers, such as scip-typescript
    indexers: Vec<String>,
}

/// A program that writes SCIP files.
struct Indexer {
    name: &'static str,
    /// The indexer is useful if the root has one of these files, or a file with one of these extensions.
    files: &'static [&'static str],
    /// Arguments before the name of the file that it writes.
    arguments: &'static [&'static str],
    /// The option for that file, which follows as the next argument, or after `=`.
    output: &'static str,
}

/// Python is left to the type engine.
const INDEXERS: &[Indexer] = &[
    Indexer {
        name: "scip-typescript",
        files: &["tsconfig.json", "jsconfig.json", "package.json"],
        arguments: &["index"],
        output: "--output",
    },
    Indexer { name: "rust-analyzer", files: &["Cargo.toml"], arguments: &["scip", "."], output: "--output" },
    Indexer { name: "scip-go", files: &["go.mod"], arguments: &[], output: "--output" },
    Indexer {
        name: "scip-java",
        files: &["pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"],
        arguments: &["index"],
        output: "--output",
    },
    Indexer {
        name: "scip-clang",
        files: &["compile_commands.json"],
        arguments: &["--compdb-path=compile_commands.json"],
        output: "--index-output-path=",
    },
    Indexer { name: "scip-ruby", files: &["Gemfile"], arguments: &["."], output: "--index-file" },
    Indexer { name: "scip-dotnet", files: &[".sln", ".csproj"], arguments: &["index"], output: "--output" },
];

pub(super) fn run(session: &Session, workspace: &Workspace, typed: &Arguments) -> Result<Outcome> {
    let root = workspace.root();
    if let Some(unknown) = typed.indexers.iter().find(|named| !INDEXERS.iter().any(|one| one.name == **named)) {
        let names: Vec<&str> = INDEXERS.iter().map(|one| one.name).collect();
        return Err(Error::invalid_argument(format!("ixmcp knows no indexer {}", printable(unknown)))
            .hint(format!("There are: {}. Load the file of another one with `ixmcp scip load`.", names.join(", "))));
    }
    let is_asked = |one: &&Indexer| {
        if typed.indexers.is_empty() {
            has_work(root, one)
        } else {
            typed.indexers.iter().any(|named| named == one.name)
        }
    };
    let (mut made, mut missing) = (Vec::new(), Vec::new());
    for indexer in INDEXERS.iter().filter(is_asked) {
        // What the repository contains is never run.
        let Some(program) = session.sources.environment.on_path_outside(indexer.name, root) else {
            missing.push(indexer.name);
            continue;
        };
        if let Some(file) = make(workspace, indexer, &program, typed.yes)? {
            made.push(file);
        }
    }
    let json = json!({ "total": made.len(), "made": made, "missing": missing });
    session.show(&json, !made.is_empty(), || {
        for file in &made {
            output::line(&printable(&format!(
                "{}  ({} documents, {} occurrences)",
                file["file"].as_str().unwrap_or_default(),
                file["documents"],
                file["occurrences"]
            )));
        }
        missing.iter().for_each(|name| output::note(&format!("{name} is not on PATH")));
        if made.is_empty() && missing.is_empty() {
            output::note("no language of this repository has an indexer that ixmcp knows; Python needs none");
        }
    })
}

fn has_work(root: &Path, indexer: &Indexer) -> bool {
    let by_extension = |extension: &str| {
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().ends_with(extension))
    };
    indexer.files.iter().any(|file| if file.starts_with('.') { by_extension(file) } else { root.join(file).is_file() })
}

/// Runs one indexer and loads what it has written; `None` if the user does not want it to run.
fn make(workspace: &Workspace, indexer: &Indexer, program: &Path, is_agreed: bool) -> Result<Option<Value>> {
    let root = workspace.root();
    let folder = folder_for_output(workspace)?;
    let written = folder.join(format!("{}.scip", indexer.name));
    let mut arguments: Vec<OsString> = indexer.arguments.iter().map(OsString::from).collect();
    if indexer.output.ends_with('=') {
        let mut given = OsString::from(indexer.output);
        given.push(&written);
        arguments.push(given);
    } else {
        arguments.extend([OsString::from(indexer.output), written.clone().into_os_string()]);
    }
    let shown: Vec<String> = [program.as_os_str()]
        .into_iter()
        .chain(arguments.iter().map(OsString::as_os_str))
        .map(|word| printable(&word.to_string_lossy()))
        .collect();
    let shown = shown.join(" ");
    if !is_agreed && !agrees(&shown)? {
        return Ok(None);
    }
    output::note(&format!("runs {shown}"));
    let mut command = Command::new(program);
    // Its output belongs to people; stdout is ours.
    command.args(&arguments).current_dir(root).stdin(Stdio::null()).stdout(Stdio::from(std::io::stderr()));
    let status = command.status().map_err(|error| Error::io("run", program, error))?;
    if !status.success() || !written.is_file() {
        return Err(Error::invalid_argument(format!("{} wrote no SCIP file ({status})", indexer.name))
            .hint("Its own messages are above."));
    }
    let budget = Budget::unlimited();
    let loaded = workspace.scip.load(&written, &budget);
    // The copy that was loaded is what counts.
    let _ = std::fs::remove_file(&written).and_then(|()| std::fs::remove_dir(&folder));
    let name = loaded?;
    Ok(workspace.scip.list(&budget)?.iter().find(|file| name_of(file) == name).map(value))
}

/// A folder next to the index, which git ignores, for what an indexer writes.
fn folder_for_output(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.database().with_file_name("made");
    std::fs::create_dir_all(&folder).map_err(|error| Error::io("make", &folder, error))?;
    Ok(folder)
}

/// Asks on the terminal whether a command may run.
fn agrees(command: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Error::invalid_argument(format!("not run: {command}"))
            .hint("An indexer runs build scripts of the repository. Give --yes if you trust it."));
    }
    output::is_agreed(&format!("run {command}? It may run build scripts of the repository."))
}
