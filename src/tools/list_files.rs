//! `list_files`: which files are indexed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::extract;
use crate::model::RepoPath;
use crate::query::{Page, PathFilter, files, near};
use crate::wording::Argument;

pub(super) static LIST_FILES: Declaration = declare! {
    run;
    name: "list_files",
    title: "List indexed files",
    about: "List the paths of indexed files, sorted. To search their text use query.",
    access: Access::Read,
    core: true,
    list: Some("files"),
    example: r#"{"include": ["migrations/**"]}"#,
};

/// For the page's tree, in a third of the bytes.
pub(crate) static PATHS: Declaration = declare! {
    run_paths;
    name: "paths",
    title: "Paths of indexed files, shortened",
    about: "The paths of indexed files, sorted, each as the number of characters that it shares with the one before, and the rest.",
    access: Access::Read,
    core: false,
    list: Some("paths"),
    example: "{}",
};

/// Arguments of `paths`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PathsArguments {
    /// Paths to skip (default 0).
    offset: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct PathsAnswer {
    /// `12 name`: 12 UTF-16 code units of the path before, then `name`.
    paths: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

/// Arguments of `list_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Globs, as in .gitignore (default: all).
    #[serde(default)]
    include: Vec<String>,
    /// Globs of paths to skip.
    #[serde(default)]
    exclude: Vec<String>,
    /// python, rust, … (default: all).
    language: Option<String>,
    /// Paths to return (default: all that fit).
    limit: Option<u64>,
    /// Paths to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let filter = PathFilter::new(&arguments.include, &arguments.exclude)?;
    let language = arguments.language.as_deref().map(known_language).transpose()?;
    let (offset, limit) = super::page(arguments.offset, arguments.limit, usize::MAX, usize::MAX);
    let page = call.read_now(|snapshot, unindexed| {
        let Some(unindexed) = unindexed else { return files::list(snapshot, &filter, language, offset, limit) };
        let mut listed = files::list(snapshot, &filter, language, 0, usize::MAX)?.items;
        listed.retain(|path| !unindexed.is_outdated(path));
        let is_listed = |path: &&RepoPath| {
            filter.admits(path.as_str()) && language.is_none_or(|language| extract::language_of(path) == language)
        };
        listed.extend(unindexed.paths().filter(is_listed).map(|path| path.as_str().to_owned()));
        listed.sort_unstable();
        Ok(Page::from_list(listed, offset, limit))
    })?;
    Ok(Answer { total: page.total, truncated: page.is_cut, next_offset: page.next_offset(), files: page.items })
}

fn run_paths(call: &Call, arguments: &PathsArguments) -> Result<PathsAnswer> {
    // The path before the first one of a page is on the page before.
    let offset = arguments.offset.unwrap_or(0);
    let before = u64::from(offset > 0);
    let every = Arguments {
        include: Vec::new(),
        exclude: Vec::new(),
        language: None,
        limit: None,
        offset: Some(offset - before),
    };
    let listed = run(call, &every)?;
    let skipped = usize::from(offset > 0);
    let paths = (skipped..listed.files.len()).map(|at| {
        let (path, known) = (&listed.files[at], at.checked_sub(1).map_or("", |at| listed.files[at].as_str()));
        let shared = path.char_indices().zip(known.chars()).find(|((_, one), other)| one != other);
        let shared = shared.map_or(path.len().min(known.len()), |((at, _), _)| at);
        format!("{} {}", path[..shared].encode_utf16().count(), &path[shared..])
    });
    Ok(PathsAnswer {
        paths: paths.collect(),
        total: listed.total,
        truncated: listed.truncated,
        next_offset: listed.next_offset,
    })
}

fn known_language(name: &str) -> Result<&'static str> {
    extract::named(name).ok_or_else(|| {
        let names = extract::names();
        let near = near::did_you_mean(&near::nearest(name, names.iter().copied(), 2));
        Error::invalid_argument((
            Argument("language"),
            format!(": {:?} is not a known language", crate::model::printable(name)),
        ))
        .hint(near.unwrap_or_else(|| format!("Known: {}.", names.join(", "))))
    })
}
