//! `ixmcp init` and `ixmcp entity create|link|unlink|tag|edit`: changes of entity files, limited to what is asked.
//!
//! Owns how files are created and replaced: completely or not at all, never through a link. `amend` decides which bytes
//! change.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde_json::json;

use super::super::known::KnownValues;
use super::super::{Outcome, Session, output};
use super::amend::{self, Change, amend};
use crate::error::{Error, ErrorKind, Result};
use crate::extract::entity_kinds::{FOLDER, KINDS, Kind};
use crate::extract::front_matter::{self, FrontMatter, FrontMatterRange};
use crate::model::{RepoPath, printable};
use crate::platform::beneath::open_beneath;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::query::entities;
use crate::query::near;
use crate::store::StoredEntity;

/// Create the folder .ixchel for decisions, issues, ideas and notes
#[derive(Debug, Args)]
pub(in crate::cli) struct Init {}

/// Create an entity with a new id
#[derive(Debug, Args)]
pub(super) struct Create {
    /// The kind: decision, issue, idea, report, source, citation, agent or session
    #[arg(value_parser = KnownValues(kind_names), hide_possible_values = true)]
    kind: String,
    /// The title
    #[arg(required = true)]
    title: Vec<String>,
    /// The status: open, proposed, accepted, …
    #[arg(long)]
    status: Option<String>,
    /// Add a tag; can be repeated
    #[arg(long = "tag", short)]
    tags: Vec<String>,
    /// Add an edge; can be repeated
    #[arg(long = "link", short, value_name = "REL=ID")]
    links: Vec<String>,
    /// The text; `-` reads it from stdin
    #[arg(long)]
    body: Option<String>,
}

/// Add an edge from one entity to another
#[derive(Debug, Args)]
pub(super) struct Link {
    /// The id of the entity whose file contains the edge
    from: String,
    /// The relationship: depends_on, blocks, supersedes, or any other word
    rel: String,
    /// The id of the target entity
    to: String,
}

/// Remove an edge
#[derive(Debug, Args)]
pub(super) struct Unlink {
    /// The id of the entity whose file contains the edge
    from: String,
    /// The relationship
    rel: String,
    /// The id of the target entity
    to: String,
}

/// Add or remove tags of an entity
#[derive(Debug, Args)]
pub(super) struct Tag {
    #[arg(value_enum)]
    action: Action,
    /// The entity's id
    id: String,
    /// The tags
    #[arg(required = true)]
    tags: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    Add,
    Remove,
}

/// Change fields of an entity, or open its file in $VISUAL or $EDITOR
#[derive(Debug, Args)]
pub(super) struct Edit {
    /// The entity's id
    id: String,
    /// A new title
    #[arg(long)]
    title: Option<String>,
    /// A new status
    #[arg(long)]
    status: Option<String>,
    /// Set a field to a text; can be repeated
    #[arg(long, value_name = "FIELD=TEXT")]
    set: Vec<String>,
}

pub(in crate::cli) fn init(session: &Session) -> Result<Outcome> {
    let root = session.workspaces.root(&session.start)?;
    let folder = root.join(FOLDER);
    refuse_link(&folder)?;
    let was_there = folder.is_dir();
    for kind in KINDS {
        let folder = folder.join(kind.folder);
        fs::create_dir_all(&folder).map_err(|error| Error::io("make", &folder, error))?;
    }
    session.show(&json!({ "root": root, "folder": FOLDER, "made": !was_there }), true, || {
        let shown = printable(&folder.to_string_lossy());
        output::line(&if was_there { format!("{shown} already exists") } else { format!("created {shown}") });
        output::note("next: ixmcp entity create decision \"What was decided\"");
    })
}

fn kind_names() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}

pub(super) fn create(session: &Session, typed: &Create) -> Result<Outcome> {
    let kind = Kind::named(&typed.kind).ok_or_else(|| {
        let near = near::did_you_mean(&near::nearest(&typed.kind, kind_names(), 1));
        Error::invalid_argument(format!("there is no kind {:?}", printable(&typed.kind)))
            .hint(near.unwrap_or_else(|| format!("There are: {}.", kind_names().join(", "))))
    })?;
    let title = typed.title.join(" ");
    if title.trim().is_empty() {
        return Err(Error::invalid_argument("TITLE is empty").hint("Give a title of a few words."));
    }
    let root = session.workspaces.root(&session.start)?;
    let folder = root.join(FOLDER);
    if !folder.is_dir() {
        return Err(Error::new(ErrorKind::NotFound, format!("{} does not exist", folder.display()))
            .hint("Run `ixmcp init` first."));
    }
    let mut links = Vec::new();
    for link in &typed.links {
        let (rel, to) = link.split_once('=').ok_or_else(|| {
            Error::invalid_argument(format!("--link {:?} is not REL=ID", printable(link)))
                .hint("Write it as --link depends_on=iss-1a2b3c.")
        })?;
        links.push((relationship(rel)?, session.read_entities(|snapshot| entities::find(snapshot, to))?.key));
    }
    let folder = folder.join(kind.folder);
    refuse_link(&root.join(FOLDER))?;
    refuse_link(&folder)?;
    fs::create_dir_all(&folder).map_err(|error| Error::io("make", &folder, error))?;
    let body = match typed.body.as_deref() {
        Some("-") => {
            let mut body = String::new();
            std::io::stdin().read_to_string(&mut body).map_err(|error| Error::io("read", Path::new("stdin"), error))?;
            body
        }
        Some(body) => format!("{}\n", body.trim_end()),
        None => String::new(),
    };
    let id = new_id(session, kind, &folder)?;
    let now = format!("{:.0}", Timestamp::now());
    let mut text = format!("---\nid: {id}\ntype: {}\n---\n\n{body}", kind.name);
    let author = ["IXCHEL_ACTOR", "USER", "USERNAME"].iter().find_map(|name| session.sources.environment.get(name));
    let fields = [
        ("title", Some(title.as_str())),
        ("status", typed.status.as_deref()),
        ("created_at", Some(&now)),
        ("updated_at", Some(&now)),
        ("created_by", author),
    ];
    for (field, value) in fields {
        if let Some(value) = value {
            text = amend(&text, field, &Change::Set(value.to_owned()))?.unwrap_or(text);
        }
    }
    // Every new entity has an empty list of tags, to show where they go.
    text = text.replacen("\n---\n", "\ntags: []\n---\n", 1);
    for tag in &typed.tags {
        text = amend(&text, "tags", &Change::Add(bare_tag(tag)?))?.unwrap_or(text);
    }
    for (rel, to) in &links {
        text = amend(&text, rel, &Change::Add(to.clone()))?.unwrap_or(text);
    }
    let path = folder.join(format!("{id}.md"));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = file
        .as_mut()
        .map_err(|error| std::io::Error::from(error.kind()))
        .and_then(|file| file.write_all(text.as_bytes()));
    written.map_err(|error| Error::io("write", &path, error))?;
    let shown = RepoPath::under(&root, &path).map_or_else(String::new, |path| path.to_string());
    session.show(&json!({ "id": id, "kind": kind.name, "title": title, "path": shown }), true, || {
        output::line(&id);
        output::note(&format!("created {}", printable(&session.paint.shown(&shown))));
    })
}

/// A new id that no entity has: the kind's prefix and six hexadecimal digits.
fn new_id(session: &Session, kind: &Kind, folder: &Path) -> Result<String> {
    for _ in 0..100 {
        let random = RandomState::new().build_hasher().finish() & 0xff_ffff;
        let id = format!("{}-{random:06x}", kind.prefixes[0]);
        let is_taken = session.read_entities(|snapshot| Ok(snapshot.entity_named(&id)?.is_some()))?;
        if !is_taken && !folder.join(format!("{id}.md")).exists() {
            return Ok(id);
        }
    }
    Err(Error::internal("found no unused id"))
}

pub(super) fn link(session: &Session, typed: &Link) -> Result<Outcome> {
    let rel = relationship(&typed.rel)?;
    let from = session.read_entities(|snapshot| entities::find(snapshot, &typed.from))?;
    let to = session.read_entities(|snapshot| entities::find(snapshot, &typed.to))?.key;
    if from.key == to {
        return Err(Error::invalid_argument(format!("{} cannot be linked to itself", printable(&to)))
            .hint("Name two entities."));
    }
    let changed = change(session, &from, |text| amend(text, &rel, &Change::Add(to.clone())))?;
    show_link(session, [&from.key, &rel, &to], changed)?;
    Ok(Outcome::Found)
}

pub(super) fn unlink(session: &Session, typed: &Unlink) -> Result<Outcome> {
    let from = session.read_entities(|snapshot| entities::find(snapshot, &typed.from))?;
    // The target of the edge may be gone: then the id is used as the user typed it.
    let to = session.read_entities(|snapshot| snapshot.entity_named(typed.to.trim()))?;
    let to = to.map_or_else(|| typed.to.trim().to_owned(), |to| to.key);
    let changed = change(session, &from, |text| amend(text, &typed.rel, &Change::Remove(to.clone())))?;
    show_link(session, [&from.key, &typed.rel, &to], changed)
}

fn show_link(session: &Session, [from, rel, to]: [&str; 3], changed: bool) -> Result<Outcome> {
    session.show(&json!({ "from": from, "rel": rel, "to": to, "changed": changed }), changed, || {
        if changed {
            output::line(&printable(&format!("{from} {rel} {to}")));
        } else {
            output::note("nothing to change");
        }
    })
}

pub(super) fn tag(session: &Session, typed: &Tag) -> Result<Outcome> {
    let entity = session.read_entities(|snapshot| entities::find(snapshot, &typed.id))?;
    let tags = typed.tags.iter().map(|tag| bare_tag(tag)).collect::<Result<Vec<_>>>()?;
    let mut carried = Vec::new();
    let changed = change(session, &entity, |text| {
        let mut now: Option<String> = None;
        for tag in &tags {
            let text = now.as_deref().unwrap_or(text);
            let fields = tag_fields(text);
            let next = match typed.action {
                Action::Add => {
                    let is_there = fields.iter().any(|field| has_item(text, field, tag));
                    if is_there { None } else { amend(text, &fields[0], &Change::Add(tag.clone()))? }
                }
                Action::Remove => {
                    let mut next: Option<String> = None;
                    for field in fields {
                        let text = next.as_deref().unwrap_or(text);
                        next = amend(text, &field, &Change::Remove(tag.clone()))?.or(next);
                    }
                    next
                }
            };
            now = next.or(now);
        }
        carried = tags_in(now.as_deref().unwrap_or(text));
        Ok(now)
    })?;
    let action = if typed.action == Action::Add { "add" } else { "remove" };
    let json = json!({ "id": entity.key, "action": action, "changed": changed, "tags": carried });
    session.show(&json, true, || output::line(&printable(&format!("{}  {}", entity.key, carried.join(", ")))))
}

/// Fields that contain a file's tags. New tags go into the first one.
fn tag_fields(text: &str) -> Vec<String> {
    let FrontMatterRange::Between { yaml, .. } = front_matter::find(text) else { return vec!["tags".to_owned()] };
    let front = FrontMatter::read(text, yaml);
    let written = ["tags", "labels"].into_iter().filter_map(|field| front.name_as_written(field));
    let written: Vec<String> = written.map(str::to_owned).collect();
    if written.is_empty() { vec!["tags".to_owned()] } else { written }
}

/// The tags that the front matter lists.
fn tags_in(text: &str) -> Vec<String> {
    tag_fields(text).into_iter().flat_map(|field| amend::items_of(text, &field)).collect()
}

fn has_item(text: &str, field: &str, item: &str) -> bool {
    // An item is present if adding it changes nothing. An error is reported by the change itself.
    matches!(amend(text, field, &Change::Add(item.to_owned())), Ok(None))
}

pub(super) fn edit(session: &Session, typed: &Edit) -> Result<Outcome> {
    let entity = session.read_entities(|snapshot| entities::find(snapshot, &typed.id))?;
    let mut fields: Vec<(String, Change)> = Vec::new();
    fields.extend(typed.title.iter().map(|title| ("title".to_owned(), Change::Set(title.clone()))));
    fields.extend(typed.status.iter().map(|status| ("status".to_owned(), Change::Set(status.clone()))));
    for set in &typed.set {
        let (field, value) = set.split_once('=').ok_or_else(|| {
            Error::invalid_argument(format!("--set {:?} is not FIELD=TEXT", printable(set)))
                .hint("Write it as --set priority=1.")
        })?;
        if field.trim() == "id" {
            return Err(Error::invalid_argument("an id cannot be changed, because other entities link to it")
                .hint("Create another entity."));
        }
        fields.push((field_name(field)?, Change::SetValue(value.to_owned())));
    }
    if fields.is_empty() {
        return open_editor(session, &entity);
    }
    let changed = change(session, &entity, |text| {
        let mut now: Option<String> = None;
        for (field, change) in &fields {
            let text = now.as_deref().unwrap_or(text);
            now = amend(text, field, change)?.or(now);
        }
        Ok(now)
    })?;
    session.show(&json!({ "id": entity.key, "path": entity.path, "changed": changed }), true, || {
        output::note(if changed { "changed" } else { "nothing to change" });
    })
}

fn open_editor(session: &Session, entity: &StoredEntity) -> Result<Outcome> {
    let environment = &session.sources.environment;
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| environment.get(name)).ok_or_else(|| {
        Error::invalid_argument("there is nothing to change, and neither VISUAL nor EDITOR is set")
            .hint("Give --title, --status or --set, or set EDITOR.")
    })?;
    let workspace = session.workspace()?;
    let path = plain_file(workspace.root(), &entity.path)?;
    // Through a shell, like git: the variable may contain arguments.
    let status =
        std::process::Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(&path).status();
    let status = status.map_err(|error| Error::io("start", Path::new(editor), error))?;
    Ok(Outcome::found_if(status.success()))
}

/// Returns the trimmed name of a field if it is safe to write; otherwise fails.
fn field_name(name: &str) -> Result<String> {
    let name = name.trim();
    let fits = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.len() <= 60
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if fits {
        return Ok(name.to_owned());
    }
    Err(Error::invalid_argument(format!("{:?} is not a valid field name", printable(name)))
        .hint("Use letters, digits, _ and -, such as depends_on."))
}

/// Returns the name of a field that may contain edges; otherwise fails.
fn relationship(name: &str) -> Result<String> {
    let name = field_name(name)?;
    if crate::extract::is_data_field(&name) {
        return Err(Error::invalid_argument(format!("`{name}` says what an entity is, not what it relates to"))
            .hint("Use another word, such as relates_to."));
    }
    Ok(name)
}

fn bare_tag(tag: &str) -> Result<String> {
    let bare = tag.trim().trim_start_matches('#').trim();
    if bare.is_empty() || bare.contains(['\n', '\r', ',']) {
        return Err(Error::invalid_argument(format!("{:?} is not a tag", printable(tag)))
            .hint("Give words without commas or line breaks."));
    }
    Ok(bare.to_owned())
}

/// Replaces an entity's file by the text that `amended` returns. `false` when that changes nothing.
fn change(
    session: &Session,
    entity: &StoredEntity,
    amended: impl FnOnce(&str) -> Result<Option<String>>,
) -> Result<bool> {
    let workspace = session.workspace()?;
    let path = plain_file(workspace.root(), &entity.path)?;
    let _turn = turn(&path);
    let bytes = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::invalid_argument(format!("{} is not UTF-8", printable(&entity.path))).hint("Change it in an editor.")
    })?;
    let Some(changed) = amended(&text)? else { return Ok(false) };
    replace(&path, changed.as_bytes(), Permissions::Keep, Durability::Synced)
        .map_err(|error| Error::io("write", &path, error))?;
    Ok(true)
}

/// Locks the folder while a file in it is read, changed and replaced, so that of two concurrent commands neither loses
/// the changes of the other. `None` if the file system has no locks.
fn turn(path: &Path) -> Option<fs::File> {
    // The folder is locked, because each change replaces the file.
    let folder = fs::File::open(path.parent()?).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Path of an entity's file. Fails if a symbolic link leads to it.
fn plain_file(root: &Path, path: &str) -> Result<PathBuf> {
    open_beneath(root, Path::new(path)).map_err(|error| Error::io("open", &root.join(path), error))?;
    Ok(root.join(path))
}

fn refuse_link(folder: &Path) -> Result<()> {
    if folder.symlink_metadata().is_ok_and(|data| data.is_symlink()) {
        return Err(Error::invalid_path(format!("{} is a symbolic link", printable(&folder.to_string_lossy())))
            .hint("Make it a folder: entities live in the repository."));
    }
    Ok(())
}
