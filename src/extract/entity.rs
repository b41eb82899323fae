//! Entities and tags of a Markdown file, from its front matter and the marks in its prose.
//!
//! Owns which files are entities, and what a field means. Does not own the kinds (`entity_kinds`), YAML (`front_matter`) nor
//! what prose is (`prose`). The database resolves the targets of links: the target's file may be created later, or deleted.

use std::collections::HashSet;

use super::entity_kinds::{FOLDER, KINDS, Kind, NOTE};
use super::front_matter::{self, FrontMatter, FrontMatterRange, Node, Value};
use super::logseq::Property;
use super::prose::{self, ProseMark};
use super::{Options, links, logseq, markdown};
use crate::model::{Entity, Problem, RepoPath, Tag, TagSource, comparable_name, composed};

/// Folders below [`FOLDER`] that other programs fill.
const OTHER_FOLDERS: &[&str] = &["data", "models"];

/// Fields that hold tags.
pub const TAG_FIELDS: &[&str] = &["tags", "labels", "tag", "keywords", "keyword"];

/// Names of the note that stands for its folder, in the order of precedence.
const FOLDER_NOTES: &[&str] = &["index", "readme"];

/// Names of one note; further ones are ignored.
const MAX_NAMES: usize = 200;

/// The role of a Markdown file in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<'p> {
    /// An entity's file, with its folder below [`FOLDER`].
    Entity(&'p str),
    /// A note in an imported folder, with its path there.
    Note(&'p str),
    Document,
}

/// Returns the role of the file at `path`, where `notes` are the folders to import.
pub fn role<'p>(path: &'p RepoPath, notes: &[String]) -> Role<'p> {
    let below = |folder: &str| path.as_str().strip_prefix(folder)?.strip_prefix('/');
    if let Some(rest) = below(FOLDER).filter(|rest| rest.ends_with(".md")) {
        let folder = rest.split_once('/').map_or("", |(folder, _)| folder);
        return if OTHER_FOLDERS.contains(&folder) { Role::Document } else { Role::Entity(folder) };
    }
    // The innermost of nested folders.
    let around = notes.iter().map(|folder| folder.trim_matches('/')).filter_map(|folder| {
        let rest = if matches!(folder, "" | ".") { Some(path.as_str()) } else { below(folder) };
        rest.filter(|_| is_markdown(path))
    });
    let innermost = around.min_by_key(|rest| rest.len());
    innermost.filter(|rest| !is_set_aside(rest)).map_or(Role::Document, Role::Note)
}

/// Whether a path in a folder of notes is where programs keep what is deleted, backed up or their own: hidden folders, and those of
/// Logseq.
fn is_set_aside(path: &str) -> bool {
    let is_logseqs = |folders: &[&str]| matches!(folders, ["logseq", "bak" | "version-files"]);
    let parts: Vec<&str> = path.split('/').collect();
    let (_, folders) = parts.split_last().unwrap_or((&"", &[]));
    folders.iter().any(|folder| folder.starts_with('.') || *folder == "node_modules")
        || folders.windows(2).any(is_logseqs)
}

fn is_markdown(path: &RepoPath) -> bool {
    path.extension().is_some_and(|extension| matches!(extension.to_ascii_lowercase().as_str(), "md" | "markdown"))
}

/// A Markdown file's part of the graph.
#[derive(Default)]
pub(super) struct GraphStatements {
    pub entity: Option<Entity>,
    pub tags: Vec<Tag>,
    pub problems: Vec<Problem>,
}

/// Reads a Markdown file.
pub(super) fn read(path: &RepoPath, text: &str, options: &Options) -> GraphStatements {
    let role = role(path, &options.notes);
    let mut said = GraphStatements::default();
    let (front, body_at) = match front_matter::find(text) {
        FrontMatterRange::Between { yaml, body } => (Some(FrontMatter::read(text, yaml)), body),
        FrontMatterRange::Unclosed if matches!(role, Role::Entity(_)) => {
            said.report(Some(1), "the front matter is not closed: a line `---` is missing");
            (None, 0)
        }
        _ => (None, 0),
    };
    let body = &text[body_at..];
    let is_note = matches!(role, Role::Note(_));
    let before = memchr::memchr_iter(b'\n', &text.as_bytes()[..body_at]).count();
    let body_line = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1);
    let front = front.unwrap_or_default();
    said.problems.extend(front.problems.iter().cloned());
    let properties = if is_note { logseq::properties(body, body_line) } else { Vec::new() };
    said.add_tags(&front, &properties, body, body_line);
    match role {
        Role::Document => {}
        Role::Entity(folder) => said.entity = entity(&mut said.problems, folder, &front, text, body),
        Role::Note(rest) => said.entity = Some(note(rest, &front, &properties, body, body_line)),
    }
    said
}

impl GraphStatements {
    fn report(&mut self, line: Option<u32>, reason: &str) {
        self.problems.push(Problem { line, reason: reason.to_owned() });
    }

    fn add_tags(&mut self, front: &FrontMatter, properties: &[Property], body: &str, body_line: u32) {
        let mut seen = HashSet::new();
        let mut tags = Vec::new();
        let mut add = |name: &str, line: u32, source: TagSource| {
            let name = name.trim().trim_start_matches('#').trim();
            let name = composed(name).into_owned();
            if !name.is_empty() && seen.insert((name.clone(), line, source)) {
                tags.push(Tag { name, line, source });
            }
        };
        for field in TAG_FIELDS {
            let Some(value) = front.get(field) else { continue };
            let all = front.each_text(value, |node, text| {
                // `tags: a, b` and `tags: a b` are how people write two.
                let is_list = !matches!(front.resolve_alias(value).value, Value::Scalar { .. });
                let between = |c: char| if text.contains(',') { c == ',' } else { c.is_whitespace() };
                text.split(|c| !is_list && between(c)).for_each(|part| add(part, node.line, TagSource::FrontMatter));
            });
            if !all {
                self.problems.push(Problem {
                    line: Some(value.line),
                    reason: format!("the field `{field}` grows without measure; what was read of it counts"),
                });
            }
            if matches!(value.value, Value::Map { .. }) {
                self.problems.push(Problem {
                    line: Some(value.line),
                    reason: format!("the field `{field}` is not a list of words"),
                });
            }
        }
        for Property { values, line, .. } in properties.iter().filter(|one| TAG_FIELDS.contains(&one.name.as_str())) {
            values.iter().for_each(|tag| add(tag, *line, TagSource::FrontMatter));
        }
        prose::marks(body, body_line, |mark, line| {
            if let ProseMark::Hashtag(tag) = mark {
                add(&tag, line, TagSource::Hashtag);
            }
        });
        self.tags = tags;
    }
}

/// The entity in a file below [`FOLDER`]; none without front matter or id.
fn entity(problems: &mut Vec<Problem>, folder: &str, front: &FrontMatter, text: &str, body: &str) -> Option<Entity> {
    let mut report = |line, reason: String| problems.push(Problem { line, reason });
    let said = |name: &str| front.get(name).and_then(Node::text).map(str::trim).filter(|text| !text.is_empty());
    let Some(key) = said("id") else {
        if front.problems.is_empty() && front_matter::find(text) != FrontMatterRange::Unclosed {
            let has_front = matches!(front_matter::find(text), FrontMatterRange::Between { .. });
            let reason = if has_front { "there is no `id` in the front matter" } else { "there is no front matter" };
            report(Some(1), format!("{reason}: the file is not an entity"));
        }
        return None;
    };
    let by_id = Kind::of_id(key);
    let by_folder = KINDS.iter().find(|kind| kind.folder == folder);
    let kind = match said("type") {
        Some(written) => match Kind::named(written).or(by_id).or(by_folder) {
            Some(kind) => {
                if Kind::named(written).is_none() {
                    let shown: String = crate::model::printable(written).chars().take(60).collect();
                    let line = front.get("type").map(|node| node.line);
                    report(line, format!("the type `{shown}` is not a known type; it counts as {}", kind.name));
                }
                kind.name.to_owned()
            }
            None => written.to_lowercase(),
        },
        None => by_id.or(by_folder).map_or("report", |kind| kind.name).to_owned(),
    };
    let (links, faults) = links::of_fields(front, None);
    problems.extend(faults);
    Some(Entity {
        title: said("title").map_or_else(|| markdown::first_heading(body).unwrap_or_else(|| key.to_owned()), one_line),
        names: names_of(key),
        key: key.to_owned(),
        kind,
        links,
        ..dated(front)
    })
}

/// The key, and the forms in which it is compared.
fn names_of(key: &str) -> Vec<(u8, String)> {
    let mut names = vec![(0, key.to_owned())];
    for form in [composed(key).into_owned(), comparable_name(key)] {
        if names.iter().all(|(_, known)| *known != form) {
            names.push((1, form));
        }
    }
    names
}

/// The fields that are kept as they are written.
fn dated(front: &FrontMatter) -> Entity {
    let said = |name: &str| front.get(name).and_then(Node::text).map(one_line).filter(|text| !text.is_empty());
    Entity {
        status: said("status"),
        date: said("date"),
        created_at: said("created_at"),
        updated_at: said("updated_at"),
        created_by: said("created_by"),
        priority: said("priority"),
        ..Entity::default()
    }
}

/// A note of an imported folder: its name is that of its file, and every way to write that in a link finds it.
fn note(path: &str, front: &FrontMatter, properties: &[Property], body: &str, body_line: u32) -> Entity {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let last = stem.rsplit('/').next().unwrap_or(stem);
    let page = logseq::page_name(last);
    let journal = logseq::journal_titles(stem);
    let said = |name: &str| front.get(name).and_then(Node::text).map(str::trim).filter(|text| !text.is_empty());
    let property = |name: &str| properties.iter().find(|one| one.name == name && !one.written.is_empty());
    let key = said("id").unwrap_or(stem).to_owned();
    let title = said("title").map(one_line).or_else(|| property("title").map(|title| title.written.clone()));
    let title = title.or_else(|| markdown::first_heading(body)).or_else(|| journal.first().cloned());
    let mut names = vec![(0, key.clone())];
    let mut add = |rank: u8, name: &str| {
        let name = comparable_name(name);
        if !name.is_empty() && names.len() < MAX_NAMES && names.iter().all(|(_, known)| *known != name) {
            names.push((rank, name));
        }
    };
    add(1, &key);
    add(1, stem);
    add(1, &links::exact(stem));
    // A link may leave out the folders above; for a note at the top the link is exact.
    for (at, _) in stem.match_indices('/') {
        add(2, &stem[at + 1..]);
    }
    add(3, &page);
    let number = &last[..last.bytes().take_while(u8::is_ascii_digit).count()];
    if number.len() >= 8 {
        // Zettelkasten: links name the number alone.
        add(3, number);
    }
    for field in ["aliases", "alias"] {
        if let Some(value) = front.get(field) {
            // `alias: a, b` are two for Foam and Logseq.
            let is_one = matches!(value.value, Value::Scalar { .. });
            front.each_text(value, |_, text| {
                add(4, text);
                text.split(',').filter(|_| is_one).for_each(|part| add(4, part));
            });
        }
        for alias in properties.iter().filter(|one| one.name == field).flat_map(|one| &one.values) {
            add(4, alias);
        }
    }
    title.iter().chain(&journal).for_each(|title| add(5, title));
    // As in Foam, the name of a folder leads to the note that stands for it.
    let about = FOLDER_NOTES.iter().position(|name| last.eq_ignore_ascii_case(name));
    if let (Some(rank), Some((folder, _))) = (about, stem.rsplit_once('/')) {
        let rank = if rank == 0 { 6 } else { 7 };
        add(rank, folder);
        add(rank, &links::exact(folder));
        folder.match_indices('/').for_each(|(at, _)| add(rank, &folder[at + 1..]));
    }
    let mut written = links::of_fields(front, Some(path)).0;
    let of_names = properties.iter().filter(|one| matches!(one.name.as_str(), "alias" | "aliases"));
    let lines_of_names: Vec<u32> = of_names.map(|one| one.line).collect();
    links::add_of_prose(&mut written, path, body, body_line, &lines_of_names);
    Entity {
        kind: said("type").map_or_else(|| NOTE.to_owned(), |kind| kind.to_lowercase()),
        title: title.unwrap_or(page),
        key,
        names,
        links: written,
        ..dated(front)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
