//! Links of an entity: from the fields of its front matter, and for imported notes from its prose.
//!
//! Owns which values are ids. The database resolves ids: `certain` says whether a link counts even if nothing has that
//! id.

use std::collections::HashSet;

use super::entity_kinds::Kind;
use super::front_matter::{FrontMatter, Node, Value};
use super::prose::{self, ProseMark};
use crate::model::{Link, Problem, comparable_name, composed};

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
    "tag",
    "keywords",
    "keyword",
    "labels",
    "aliases",
    "alias",
    "priority",
];

/// Whether a field of that name, in any case, describes an entity: it has no edges.
pub fn is_data_field(name: &str) -> bool {
    DATA.iter().any(|field| field.eq_ignore_ascii_case(name))
}

/// Longer texts are not ids.
const MAX_ID_BYTES: usize = 200;

/// Names that a link leads to, as in [`Link`].
struct Target {
    name: String,
    otherwise: Option<String>,
    certain: bool,
}

/// The relationships that the fields state, in their order, each once; for a note, with its path in its folder.
pub(super) fn of_fields(front: &FrontMatter, note: Option<&str>) -> (Vec<Link>, Vec<Problem>) {
    let mut links = Links { note, ..Links::default() };
    for (name, value) in &front.fields {
        let Some(name) = name.text().map(str::trim).filter(|name| !name.is_empty()) else { continue };
        links.is_data = is_data_field(name);
        // YAML's merge key is not a relationship, nor is what other readers do not read.
        if links.is_data && note.is_none() || front.is_broken(name) || name == "<<" || name.len() > MAX_ID_BYTES {
            continue;
        }
        links.add_value(front, name, value);
    }
    (links.links, links.problems)
}

#[derive(Default)]
struct Links<'n> {
    note: Option<&'n str>,
    /// In a field that describes a note: only wiki links lead from it.
    is_data: bool,
    links: Vec<Link>,
    seen: Seen,
    problems: Vec<Problem>,
}

/// Relationships and targets of the links so far.
type Seen = HashSet<(String, String, Option<String>)>;

/// Adds a link that is not among them yet.
fn add(links: &mut Vec<Link>, seen: &mut Seen, rel: &str, target: Option<Target>, line: u32) {
    let fits = |name: &String| !name.is_empty() && name.len() <= MAX_ID_BYTES;
    let Some(Target { name, otherwise, certain }) = target.filter(|target| fits(&target.name)) else { return };
    let otherwise = otherwise.filter(|other| *other != name && fits(other));
    if seen.insert((rel.to_owned(), name.clone(), otherwise.clone())) {
        links.push(Link { rel: rel.to_owned(), target: name, otherwise, certain, line });
    }
}

impl Links<'_> {
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
        let value = |field: &str| entries.iter().find(|(name, _)| name.text() == Some(field)).map(|(_, value)| value);
        let Some(id) = value("id") else { return false };
        let of_type = value("type").and_then(|kind| front.resolve_alias(kind).text()).map(str::trim);
        let rel = of_type.and_then(|kind| dependency(rel, kind)).unwrap_or(rel);
        self.add_text(rel, front.resolve_alias(id), id.line);
        true
    }

    fn add_text(&mut self, rel: &str, node: &Node, line: u32) {
        let Some(written) = node.text().map(str::trim) else { return };
        let plain = matches!(node.value, Value::Scalar { plain: true, .. });
        let wiki = written.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
        let found = match wiki {
            Some(inner) if !inner.contains(['[', ']']) => {
                named(self.note.unwrap_or_default(), inner).map(|found| Target { certain: true, ..found })
            }
            _ if self.is_data => None,
            _ => {
                let certain = Kind::of_id(written).is_some();
                let name = composed(written).into_owned();
                (certain || may_be_id(&name, plain)).then_some(Target { name, otherwise: None, certain })
            }
        };
        add(&mut self.links, &mut self.seen, rel, found, line);
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

/// The relationship of a dependency that has a type, as in beads: only `blocks` says which comes first.
fn dependency<'t>(rel: &str, of_type: &'t str) -> Option<&'t str> {
    let is_dependency = DEPENDENCIES.contains(&rel) && Kind::named(of_type).is_none();
    (is_dependency && of_type != "blocks" && may_be_id(of_type, true)).then_some(of_type)
}

/// Fields whose maps may have a type.
const DEPENDENCIES: &[&str] = &["depends_on", "depends-on", "dependencies", "blocked_by", "blocked-by"];

/// The target of a wiki link in the note at `path` of its folder: a name, or the exact path of a note if it is relative. `None`
/// for a part of the note itself, and for what is outside of the folder.
fn named(path: &str, written: &str) -> Option<Target> {
    let whole = written.split('|').next().unwrap_or_default().trim();
    let name = whole.split(['#', '^']).next().unwrap_or_default().trim();
    let comparable = |name: &str| {
        let name = without_extension(name).unwrap_or(name);
        if is_relative(name) { Some(exact(&joined(path, name)?)) } else { Some(comparable_name(name)) }
    };
    let target = comparable(name).filter(|target| !target.is_empty())?;
    // `[[C#]]` may name the note `C#`, or a part of `C`.
    let otherwise = if whole == name { None } else { comparable(whole) };
    Some(Target { name: target, otherwise, certain: !is_other_file(name) })
}

/// The target of a link with an address: a page of Markdown by its path, and what has no such extension only where it names a
/// note, as zk's links do.
fn addressed(path: &str, address: &str) -> Option<Target> {
    // Logseq: `[label]([[page]])`.
    if let Some(name) = address.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
        return named(path, name);
    }
    let address = address.split('#').next().filter(|address| !address.is_empty())?;
    if address.starts_with("//") || has_scheme(address) {
        return None;
    }
    let address = prose::percent_decoded(address);
    let target = joined(path, &address)?;
    let (name, certain) = match without_extension(&target) {
        Some(page) if is_relative(&address) => (exact(page), true),
        Some(page) => (comparable_name(page), true),
        None => (exact(&target), false),
    };
    // Obsidian names a file so, wherever that is, unless its setting for new links is a relative path.
    let file = without_extension(&address).unwrap_or(&address);
    let otherwise = (!is_relative(&address)).then(|| comparable_name(file));
    (name != "/").then_some(Target { name, otherwise, certain })
}

/// The name that a note has only by its whole path.
pub(super) fn exact(path: &str) -> String {
    format!("/{}", comparable_name(path))
}

/// Whether an address begins with a scheme, by RFC 3986.
fn has_scheme(address: &str) -> bool {
    address.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

fn is_relative(name: &str) -> bool {
    ["./", "../", "/"].iter().any(|start| name.starts_with(start))
}

/// The name of a page of Markdown, by its extension.
fn without_extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_page = ["md", "markdown"].iter().any(|page| extension.eq_ignore_ascii_case(page));
    (is_page && !stem.is_empty() && !stem.ends_with('/')).then_some(stem)
}

/// Adds the links in the prose of the note at `path` of its folder, without those on the lines of its other names.
pub(super) fn add_of_prose(links: &mut Vec<Link>, path: &str, body: &str, body_line: u32, names: &[u32]) {
    let key = |link: &Link| (link.rel.clone(), link.target.clone(), link.otherwise.clone());
    let mut seen: Seen = links.iter().map(key).collect();
    prose::marks(body, body_line, |mark, line| match mark {
        _ if names.contains(&line) => {}
        ProseMark::Wiki { target, embeds, field } => {
            let rel = if embeds { "embeds" } else { field.as_deref().unwrap_or("links") };
            add(links, &mut seen, rel, named(path, &target), line);
        }
        ProseMark::Address { address, embeds } => {
            // Pictures and the like are shown, not linked to.
            let found = addressed(path, &address).filter(|target| target.certain || !embeds);
            add(links, &mut seen, if embeds { "embeds" } else { "links" }, found, line);
        }
        _ => {}
    });
}

/// Whether a name ends like a file that is not a note.
fn is_other_file(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    (2..=5).contains(&extension.len())
        && !matches!(extension, "md" | "markdown")
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A relative address as a path of the folder; `None` if it leaves the folder.
fn joined(path: &str, address: &str) -> Option<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if address.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    parts.retain(|part| !part.is_empty());
    for part in address.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
