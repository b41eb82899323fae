//! Paths and definitions of the checker as they appear in answers.
//!
//! Owns the paths: relative inside the repository, absolute outside. The bundled stubs do not exist on disk; the first
//! answer that refers to one writes it below `.ixmcp/typeshed/`.

use std::fs;
use std::path::{Path, PathBuf};

use super::api::{
    Definition as TyDefinition, DefinitionKind, File, FilePath, Ranged, ResolvedDefinition, ScopeKind, parsed_module,
    source_text,
};
use super::db::Database;
use super::lines::Lines;
use crate::model::Definition;
use crate::platform::files::is_own;
use crate::platform::own_folder::hide_from_git;
use crate::platform::replace::{Durability, Permissions, replace};

/// The folder for bundled stubs, relative to the repository.
pub(super) const STUBS: &str = ".ixmcp/typeshed";

/// The maximum length of a preview line in characters.
const MAX_PREVIEW: usize = 200;

#[derive(Clone, Debug)]
pub(super) struct PathDisplay {
    pub root: PathBuf,
}

impl PathDisplay {
    pub fn path(&self, db: &Database, file: File) -> String {
        match file.path(db) {
            FilePath::System(path) => self.relative(path.as_std_path()),
            FilePath::Vendored(path) => format!("{STUBS}/{}", path.as_str()),
            FilePath::SystemVirtual(path) => path.to_string(),
        }
    }

    pub fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// A definition with its line. Makes sure that its file exists.
    pub fn definition(&self, db: &Database, found: &ResolvedDefinition<'_>) -> Definition {
        let range = found.focus_range(db);
        self.write_stub(db, range.file());
        let text = source_text(db, range.file());
        let lines = Lines::from_source(&text);
        let span = lines.span(self.path(db, range.file()), range.range());
        let (name, kind) = match found {
            ResolvedDefinition::Definition(definition) => (name_of(db, *definition, &text), kind_of(db, *definition)),
            ResolvedDefinition::Module(_) => (module_name(&span.file), "module"),
            ResolvedDefinition::FileWithRange(range) => (text[range.range()].to_owned(), "import"),
        };
        let preview = preview(lines.line_at(range.range().start()));
        Definition { span, name, kind: kind.to_owned(), preview, precision: None }
    }

    /// Makes sure that a file named in an answer exists.
    pub fn offer(&self, db: &Database, file: File) {
        if let FilePath::Vendored(path) = file.path(db)
            && !self.root.join(STUBS).join(path.as_str()).exists()
        {
            self.write_stub(db, file);
        }
    }

    /// If the folder is not writable, the answer still names the stub.
    fn write_stub(&self, db: &Database, file: File) {
        let FilePath::Vendored(path) = file.path(db) else { return };
        let target = self.root.join(STUBS).join(path.as_str());
        let text = source_text(db, file);
        if fs::read(&target).is_ok_and(|there| there == text.as_bytes()) {
            return;
        }
        if let Err(error) = write_beneath(&self.root, &target, text.as_bytes()) {
            tracing::debug!(%error, "a bundled stub cannot be written");
            return;
        }
        // Without an index, nothing else has made the folder around it.
        if let Some(Err(error)) = self.root.join(STUBS).parent().map(hide_from_git) {
            tracing::debug!(%error, "git does not ignore the bundled stubs");
        }
    }
}

/// Writes a file; fails if a folder between it and `root` is a symbolic link or belongs to another user.
fn write_beneath(root: &Path, target: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = target.parent().unwrap_or(root);
    let mut at = root.to_owned();
    for part in folder.strip_prefix(root).unwrap_or(folder) {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(data) if data.is_dir() && is_own(&data) => {}
            Ok(_) => return Err(std::io::Error::other("a file, a link or another user's folder is in the way")),
            Err(_) => fs::create_dir(&at).or_else(|error| if at.is_dir() { Ok(()) } else { Err(error) })?,
        }
    }
    replace(target, bytes, Permissions::Keep, Durability::Unsynced)
}

pub(super) fn preview(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(MAX_PREVIEW) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

pub(super) fn module_name(path: &str) -> String {
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let mut parts = path.rsplit('/');
    let file = stem(parts.next().unwrap_or_default());
    if file == "__init__" { parts.next().map(stem).unwrap_or(file) } else { file }
}

fn name_of(db: &Database, definition: TyDefinition<'_>, text: &str) -> String {
    let parsed = parsed_module(db, definition.python_file(db)).load(db);
    let range = definition.focus_range(db, &parsed).range();
    let written = text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
    definition.name(db).unwrap_or_else(|| written.rsplit('.').next().unwrap_or(written).to_owned())
}

/// The kind of a definition, in the terms of the index.
pub(super) fn kind_of(db: &Database, definition: TyDefinition<'_>) -> &'static str {
    let parsed = || parsed_module(db, definition.python_file(db)).load(db);
    let scope = definition.scope(db).scope(db).kind();
    let assigned = |is_attribute: bool| match scope {
        _ if is_attribute => "attribute",
        ScopeKind::Class => "attribute",
        _ => "variable",
    };
    match definition.kind(db) {
        DefinitionKind::Function(_) if scope == ScopeKind::Class => "method",
        DefinitionKind::Function(_) => "function",
        DefinitionKind::Class(_) => "class",
        DefinitionKind::TypeAlias(_) => "type",
        DefinitionKind::Parameter(_) | DefinitionKind::LambdaParameter(_) => "parameter",
        DefinitionKind::TypeVar(_) | DefinitionKind::ParamSpec(_) | DefinitionKind::TypeVarTuple(_) => "type_parameter",
        DefinitionKind::Import(_)
        | DefinitionKind::ImportFrom(_)
        | DefinitionKind::ImportFromSubmodule(_)
        | DefinitionKind::StarImport(_) => "import",
        DefinitionKind::Assignment(one) => assigned(one.target(&parsed()).is_attribute_expr()),
        DefinitionKind::AnnotatedAssignment(one) => assigned(one.target(&parsed()).is_attribute_expr()),
        _ => assigned(false),
    }
}
