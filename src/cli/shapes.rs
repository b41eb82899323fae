//! JSON that `--json` prints, command by command: shown by each command's `--help`.
//!
//! Owns the table. Where a command prints a tool's answer, the shape is the tool's own schema.

use std::fmt::Write;

use clap::{Arg, ArgAction, Command};
use serde_json::Value;

use crate::tools;

enum Shape {
    /// The answer of a tool.
    Tool(&'static str),
    /// Written out: `a` is always there, `b?` sometimes.
    Written(&'static str),
}

use Shape::{Tool, Written};

const REPORT: Shape =
    Written("{added, modified, deleted, unchanged, skipped, chunks, symbols, seconds, db_bytes, warning?}");
const LINK: Shape = Written("{from, rel, to, changed}");

/// By the words of the command.
const SHAPES: &[(&str, Shape)] = &[
    ("setup", Written("{clients: [{client, part, file, changes, written}]}")),
    ("sync", REPORT),
    ("doctor", Written("{ok, root, findings: [{check, level, message, remedy, fixable, fixed}]}")),
    ("query", Tool("query")),
    ("documents index", Tool("index_files")),
    ("documents update", Tool("update_index")),
    ("documents remove", Tool("update_index")),
    ("documents list", Written("{folders: [{folderPath, totalFiles, chunkSize, overlap, maxFiles, fileTypes?}]}")),
    ("documents search", Tool("search_documents")),
    ("documents show", Tool("get_file_details")),
    ("symbol", Tool("get_symbol")),
    ("slice", Tool("get_slice")),
    ("files", Tool("list_files")),
    ("stats", Tool("stats")),
    ("check", Tool("check")),
    ("type-at", Tool("type_at")),
    ("def", Tool("goto_definition")),
    ("refs", Tool("find_references")),
    ("changes", Tool("changes")),
    ("infer", Tool("infer_types")),
    ("rename", Tool("rename_symbol")),
    ("init", Written("{root, folder, made}")),
    ("entity init", Written("{root, folder, made}")),
    ("entity create", Written("{id, kind, title, path}")),
    ("entity link", LINK),
    ("entity unlink", LINK),
    ("entity tag", Written("{id, action, changed, tags}")),
    ("entity edit", Written("{id, path, changed}")),
    (
        "entity check",
        Written("{ok, errors: [{path, line?, message, suggestion?}], warnings: [{path, line?, message, suggestion?}]}"),
    ),
    ("entity list", Written("{total, items: [{id, kind, title, path, status, created_at, updated_at}]}")),
    ("entity show", Tool("ixchel_show")),
    ("entity search", Tool("ixchel_search")),
    ("entity context", Tool("ixchel_context")),
    ("entity tags", Tool("ixchel_tags")),
    ("entity sync", Tool("ixchel_sync")),
    ("entity path", Written("{found, steps: [{from, rel, to, against}]}")),
    ("entity cycles", Written("{total, cycles}")),
    ("entity ready", Written("{total, items: [{id, title, status, priority, path}]}")),
    ("graph", Written("{nodes: [{id, kind, title, status}], edges: [{from, rel, to}]}")),
    ("daemon start", Written("{pid, version, root}")),
    ("daemon stop", Written("{stopped, root}")),
    (
        "daemon status",
        Written(
            "{running, root, pid?, version?, proto?, uptime_seconds?, clients?, requests?, pending_changes?, memory?, \
             watch_mode?, socket?, tcp?}",
        ),
    ),
    ("model list", Written("{built_in, models: [{name, bytes, path, used}], used}")),
    (
        "model info",
        Written(
            "{built_in: {name, dimension, device}, transformer: {name, device?, dimension?, vectors, answers, \
             seconds_left?, warning?}}",
        ),
    ),
    (
        "repos",
        Written(
            "{total, repositories: [{repo, files?, index_size_bytes?, last_update?, changed?, daemon?, gone?, error?}], \
             groups: [{name, members, repositories?, problems?, error?}], dependencies: {total, bytes}}",
        ),
    ),
    (
        "deps",
        Written(
            "{total, indexed, dependencies: [{ecosystem, name, version, direct, path?, files?, indexed, problem?}], \
             cache_bytes, removed}",
        ),
    ),
    (
        "publish",
        Written(
            "{repo, commit, generation, unchanged, files, changed, gone, skipped, sent, sent_bytes, undecided: [{path, reason}]}",
        ),
    ),
    ("unpublish", Written("{repo, removed}")),
    ("org init", Written("{applied}")),
    ("org grant", Written("{role, pattern, granted, changed}")),
    ("org status", Written("{total, repositories: [{repo, commit, generation, published_at, files, bytes}]}")),
    ("org sweep", Written("{uploads, texts, bytes}")),
    ("scip load", Written("{file, tool, documents, occurrences}")),
    ("scip make", Written("{total, made: [{file, tool, documents, occurrences}], missing}")),
    ("scip list", Written("{total, files: [{file, tool, documents, occurrences, problem?}]}")),
    ("scip remove", Written("{removed}")),
    ("rebuild", REPORT),
    ("snapshot save", Written("{file, bytes, files, schema}")),
    ("snapshot load", REPORT),
];

/// Options that make it another object.
const OTHERS: &[(&str, &str, &str)] = &[
    (
        "symbol",
        "--relations",
        "{symbols: [{file_path, name?, kind?, line?, column?, container?, relations, unexamined, reason?}], total}",
    ),
    ("files", "--skipped", "{total, skipped: [{path, reason}]}"),
    ("repos", "--prune", "{removed, removed_dependencies, freed_bytes}"),
    ("sync", "--watch", "one such object a line"),
];

/// JSON of `ixmcp` without a command.
pub(super) const OVERVIEW: &str = "{root, index, daemon, clients, next: [{command, what}]}";
const ROWS: &str = "one object a row, by the names of the columns";

/// Every command that takes `--json` says in its long help what it prints.
pub(super) fn described(program: Command) -> Command {
    let describe = |command: Command, words: &str| {
        let Some(shape) = describe(words) else { return command };
        let before = command.get_after_help().map_or_else(String::new, |help| format!("{help}\n\n"));
        command.after_long_help(format!("{before}{shape}"))
    };
    each(program, "", &describe)
}

/// Each command of the table takes `--json`.
pub(super) fn with_json(program: Command) -> Command {
    let json = Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the answer as one JSON object");
    let add = |command: Command, words: &str| {
        let has_own = command.get_arguments().any(|argument| argument.get_id() == "json");
        if has_own || !SHAPES.iter().any(|(known, _)| *known == words) { command } else { command.arg(json.clone()) }
    };
    each(program, "", &add)
}

/// Changes a command and all below it; `words` lead to it.
pub(super) fn each(command: Command, words: &str, change: &dyn Fn(Command, &str) -> Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        let words = format!("{words} {name}");
        command.mut_subcommand(name, |below| each(below, words.trim_start(), change))
    });
    change(command, words)
}

/// The command that a person types where an agent calls that tool.
pub(super) fn command_of(tool: &str) -> Option<&'static str> {
    let prints = |shape: &Shape| matches!(shape, Tool(name) if *name == tool);
    SHAPES.iter().find(|(_, shape)| prints(shape)).map(|(words, _)| *words)
}

/// Describes the JSON of a command for its help.
fn describe(words: &str) -> Option<String> {
    if words == "sql" {
        return Some(format!("JSON: {ROWS}"));
    }
    let shape = match &SHAPES.iter().find(|(command, _)| *command == words)?.1 {
        Tool(name) => tools::find(name).map_or_else(|_| String::new(), |tool| drawn(&tool.answer_schema())),
        Written(shape) => (*shape).to_owned(),
    };
    let mut text = format!("JSON (a ? marks what may be absent):\n  {shape}");
    for (_, option, shape) in OTHERS.iter().filter(|(command, ..)| *command == words) {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  with {option}: {shape}");
    }
    Some(text)
}

/// A schema as a person reads it: only names.
fn drawn(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object() else {
        let items = schema.get("items").map_or_else(String::new, drawn);
        return if items.is_empty() { items } else { format!("[{items}]") };
    };
    let is_required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let names = properties.iter().map(|(name, property)| {
        let mark = if is_required(name) { "" } else { "?" };
        let below = drawn(property);
        if below.is_empty() { format!("{name}{mark}") } else { format!("{name}{mark}: {below}") }
    });
    format!("{{{}}}", names.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help;

    /// The words of all commands that take `--json`.
    fn with_json(command: &Command, words: &str, found: &mut Vec<String>) {
        if command.get_arguments().any(|argument| argument.get_id() == "json") {
            found.push(words.to_owned());
        }
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            with_json(below, format!("{words} {}", below.get_name()).trim_start(), found);
        }
    }

    #[test]
    fn every_command_with_json_says_what_it_prints_and_no_other_does() {
        let mut taking = Vec::new();
        with_json(&help::described(), "", &mut taking);
        // The program itself, and rows.
        taking.retain(|words| !matches!(words.as_str(), "" | "sql"));
        taking.sort();
        let mut described: Vec<&str> = SHAPES.iter().map(|(words, _)| *words).collect();
        described.sort_unstable();
        assert_eq!(taking, described);
        for (words, shape) in SHAPES {
            assert!(!matches!(shape, Tool(name) if tools::find(name).is_err()), "{words}");
            assert!(describe(words).is_some_and(|text| text.contains('{')), "{words}");
        }
    }
}
