//! Links of an entity: from the fields of its front matter, and for imported notes from its prose.
//!
//! Owns which values are ids. The database resolves ids: `certain` says whether a link counts even if nothing has that
//! id.

use std::collections::HashSet;

use super::entity_kinds::Kind;
use super::front_matter::{FrontMatter, Node, Value};
use super::prose::{self, ProseMark};
use crate::model::{Link, Problem};

/// Fields that describe an entity, and never relate it to others.
const DATA: &[&str] = &[
    "id",
    "type",
    "title",
    "status",
    "date",
    "created_at",
    "updated_at",
    "created_by",
    "tags",
    "labels",
    "aliases",
    "alias",
    "priority",
];

/// Whether a field of that name describes an entity: it has no edges.
pub fn is_data_field(name: &str) -> bool {
    DATA.contains(&name)
}

/// Longer texts are not ids.
const MAX_ID_BYTES: usize = 200;

/// The relationships that the fields state, in their order, each once.
pub(super) fn of_fields(front: &FrontMatter) -> (Vec<Link>, Vec<Problem>) {
    let mut links = Links::default();
    for (name, value) in &front.fields {
        let Some(name) = name.text().map(str::trim).filter(|name| !name.is_empty()) else { continue };
        // YAML's merge key is not a relationship.
        if is_data_field(name) || name == "<<" || name.len() > MAX_ID_BYTES {
            continue;
        }
        links.add_value(front, name, value);
    }
    (links.links, links.problems)
}

#[derive(Default)]
struct Links {
    links: Vec<Link>,
    seen: HashSet<(String, String)>,
    problems: Vec<Problem>,
}

impl Links {
    /// An id, a list of ids, a list of maps with an `id`; a map without one holds relationships of its own.
    fn add_value(&mut self, front: &FrontMatter, rel: &str, value: &Node) {
        let resolved = front.resolve_alias(value);
        match &resolved.value {
            Value::List { .. } => {
                let mut maps = Vec::new();
                let all = front.each_node(resolved, |node| match &front.resolve_alias(node).value {
                    Value::Map { .. } => maps.push(node.clone()),
                    _ => self.add_text(rel, front.resolve_alias(node), node.line),
                });
                if !all {
                    let reason = format!("the field `{}` grows without measure", crate::model::printable(rel));
                    self.problems.push(Problem { line: Some(value.line), reason });
                }
                for map in &maps {
                    self.add_map(front, rel, map);
                }
            }
            Value::Map { .. } => {
                if !self.add_map(front, rel, resolved) {
                    let Value::Map { entries, .. } = &resolved.value else { return };
                    for (name, value) in entries {
                        let value = front.resolve_alias(value);
                        if let (Some(name), false) = (name.text(), matches!(value.value, Value::Map { .. })) {
                            self.add_value(front, name, value);
                        }
                    }
                }
            }
            _ => self.add_text(rel, resolved, value.line),
        }
    }

    /// `false` for a map without an id.
    fn add_map(&mut self, front: &FrontMatter, rel: &str, map: &Node) -> bool {
        let Value::Map { entries, .. } = &front.resolve_alias(map).value else { return false };
        let Some((_, id)) = entries.iter().find(|(name, _)| name.text() == Some("id")) else { return false };
        self.add_text(rel, front.resolve_alias(id), id.line);
        true
    }

    fn add_text(&mut self, rel: &str, node: &Node, line: u32) {
        let Some(written) = node.text().map(str::trim) else { return };
        let plain = matches!(node.value, Value::Scalar { plain: true, .. });
        let wiki = written.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
        let (target, certain) = match wiki {
            Some(inner) if !inner.contains(['[', ']']) => (normal(inner), true),
            _ => (written.to_owned(), Kind::of_id(written).is_some()),
        };
        let fits = !target.is_empty() && target.len() <= MAX_ID_BYTES && (certain || may_be_id(&target, plain));
        if fits && self.seen.insert((rel.to_owned(), target.clone())) {
            self.links.push(Link { rel: rel.to_owned(), target, certain, line });
        }
    }
}

/// Words that could be an id if some entity has it: not numbers, dates, truth values or text.
fn may_be_id(text: &str, plain: bool) -> bool {
    let is_word = !text.contains(char::is_whitespace) && text.chars().any(char::is_alphanumeric);
    let is_other = plain
        && (matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "yes" | "no" | "on" | "off")
            || text.parse::<f64>().is_ok()
            || text.starts_with(|c: char| c.is_ascii_digit())
                && text.bytes().all(|b| b.is_ascii_digit() || b":-+.TZtz".contains(&b)));
    is_word && !is_other
}

/// How the name of a note is looked up: without heading, block and label, in lowercase.
pub(super) fn normal(name: &str) -> String {
    let name = name.split(['|', '#', '^']).next().unwrap_or_default().trim();
    let name = name.strip_suffix(".md").unwrap_or(name).trim_start_matches('/');
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Adds the links in the prose of the note at `path` of its folder.
pub(super) fn add_of_prose(links: &mut Vec<Link>, path: &str, body: &str, body_line: u32) {
    let mut seen: HashSet<(String, String)> =
        links.iter().map(|link| (link.rel.clone(), link.target.clone())).collect();
    prose::marks(body, body_line, |mark, line| {
        let (rel, target) = match mark {
            // Pictures and the like are shown, not linked to.
            ProseMark::Wiki { target, embeds: true, .. } if is_other_file(&target) => return,
            ProseMark::Wiki { target, embeds, field } => {
                let rel = if embeds { "embeds" } else { field.as_deref().unwrap_or("links") };
                (rel.to_owned(), normal(&target))
            }
            ProseMark::Path(address) => ("links".to_owned(), normal(&joined(path, &address))),
            _ => return,
        };
        let fits = !target.is_empty() && target.len() <= MAX_ID_BYTES;
        if fits && seen.insert((rel.clone(), target.clone())) {
            links.push(Link { rel, target, certain: true, line });
        }
    });
}

/// Whether a name ends like a file that is not a note.
fn is_other_file(target: &str) -> bool {
    let name = target.split(['|', '#']).next().unwrap_or_default().trim();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    (2..=5).contains(&extension.len())
        && extension != "md"
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A relative address as a path of the folder.
fn joined(path: &str, address: &str) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if address.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in address.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}
