//! The view `markdown` of the web page: a Markdown file as elements, with links to files and entities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_highlight::text_of;
use crate::error::{Error, ErrorKind, Result};
use crate::extract::entity_kinds::Kind;
use crate::extract::markdown::{self, Element, Piece};
use crate::store::Snapshot;
use crate::tools::{Access, Call, Declaration, declare};

pub(super) static MARKDOWN: Declaration = declare! {
    run;
    name: "markdown",
    title: "A Markdown file as elements",
    about: "A Markdown file as elements: headings, lists, tables, code, links led to files and entities.",
    access: Access::Read,
    core: false,
    list: None,
    example: r#"{"file": "README.md"}"#,
};

/// Arguments of `markdown`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file: String,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    elements: Vec<Piece>,
}

/// Links of a file that are looked up.
const MAX_LINKS: usize = 2_000;
/// Bytes of a path that code may be.
const MAX_PATH: usize = 300;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let (_, text) = text_of(call, &arguments.file)?;
    let mut elements = markdown::render(&text).ok_or_else(|| {
        Error::new(ErrorKind::UnsupportedFormat, "the file is too long to be rendered").hint("Read it as text.")
    })?;
    let path = call.workspace().files.indexed_path(&arguments.file)?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    call.workspace().read(call.budget(), |snapshot| {
        let mut looked_up = 0;
        let mut failed = Ok(());
        markdown::each(&mut elements, &mut |element| {
            if looked_up < MAX_LINKS && failed.is_ok() {
                looked_up += 1;
                failed = lead(snapshot, folder, element);
            }
        });
        failed
    })?;
    Ok(Answer { elements })
}

/// Leads a link, and code, to the file or the entity that it names; in front matter, the ids of entities.
fn lead(snapshot: &Snapshot, folder: &str, element: &mut Element) -> Result<()> {
    if element.tag == "front"
        && let [Piece::Text(text)] = element.children.as_slice()
    {
        element.children = with_entities(snapshot, text)?;
        return Ok(());
    }
    if element.tag == "code"
        && let [Piece::Text(text)] = element.children.as_slice()
    {
        element.entity = entity(snapshot, text)?;
        if element.entity.is_none() && is_like_path(text) {
            let path = text.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix(':').unwrap_or(text);
            element.file = file(snapshot, path)?.or(file(snapshot, &joined(folder, path).unwrap_or_default())?);
            element.to = element.file.as_ref().map(|_| text.clone());
        }
        return Ok(());
    }
    let Some(to) = element.to.as_deref().filter(|_| element.tag == "a") else { return Ok(()) };
    if let Some(id) = entity(snapshot, to)? {
        element.entity = Some(id);
        return Ok(());
    }
    let Some(path) = joined(folder, to) else { return Ok(()) };
    element.entity = snapshot.entity_at(&path)?.map(|entity| entity.key);
    element.file = file(snapshot, &path)?;
    Ok(())
}

/// A text with the ids of entities in it as links.
fn with_entities(snapshot: &Snapshot, text: &str) -> Result<Vec<Piece>> {
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let (mut pieces, mut plain) = (Vec::new(), String::new());
    for part in text.split_inclusive(|c: char| !is_of_id(c)) {
        let id = part.trim_end_matches(|c: char| !is_of_id(c));
        if let Some(key) = entity(snapshot, id)? {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            let children = vec![Piece::Text(id.to_owned())];
            pieces.push(Piece::Element(Element { tag: "a", children, entity: Some(key), ..Element::default() }));
            plain.push_str(&part[id.len()..]);
        } else {
            plain.push_str(part);
        }
    }
    pieces.push(Piece::Text(plain));
    Ok(pieces)
}

fn file(snapshot: &Snapshot, path: &str) -> Result<Option<String>> {
    Ok(snapshot.document_file(path)?.map(|_| path.to_owned()))
}

/// Whether code may be the path of a file, with or without a line: `src/main.rs:12`.
fn is_like_path(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "/._-:+@".contains(c);
    text.len() <= MAX_PATH
        && text.contains(['/', '.'])
        && text.chars().all(is_part)
        && text.contains(char::is_alphanumeric)
}

fn entity(snapshot: &Snapshot, id: &str) -> Result<Option<String>> {
    match Kind::of_id(id) {
        Some(_) => Ok(snapshot.entity_named(id)?.map(|entity| entity.key)),
        None => Ok(None),
    }
}

/// The path in the repository of a relative link; `None` for addresses, anchors and what is outside of the repository.
fn joined(folder: &str, to: &str) -> Option<String> {
    let to = to.split(['#', '?']).next().filter(|to| !to.is_empty())?;
    let has_scheme = to.split('/').next().is_some_and(|first| first.contains(':'));
    if has_scheme || to.starts_with("//") {
        return None;
    }
    let to = percent_encoding::percent_decode_str(to).decode_utf8().ok()?;
    let mut parts: Vec<&str> = if to.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn relative_links_are_joined_and_addresses_are_not() {
        assert_eq!(joined("docs/a", "../b.md#part").as_deref(), Some("docs/b.md"));
        assert_eq!(joined("", "./a%20b.md").as_deref(), Some("a b.md"));
        assert_eq!(joined("docs", "/README.md").as_deref(), Some("README.md"));
        for to in ["#part", "https://x/y", "javascript:alert(1)", "mailto:a@b", "//x/y", "../../x"] {
            assert_eq!(joined("docs", to), None, "{to}");
        }
    }
}
