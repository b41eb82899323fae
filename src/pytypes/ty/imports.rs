//! Which files of the project a file imports, and whether the type checker resolves its imports.
//!
//! Owns the traversal of imports. It infers no types, so it also terminates for files whose inference does not.

use super::api::{
    AnyNodeRef, File, FilePath, Ranged as _, SemanticDb as _, SemanticModel, SourceOrderVisitor, Stmt, SystemPath,
    TextSize, TraversalSignal, parsed_module, system_path_to_file,
};
use super::db::Database;

/// The transitive imports, nearest first, without the file itself.
pub(super) fn transitive(db: &Database, own: File, max: usize) -> Vec<File> {
    let mut files = vec![own];
    let mut at = 0;
    while at < files.len() && files.len() <= max {
        let program_file = db.program_file(files[at]);
        let model = SemanticModel::new(db, program_file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        for statement in parsed.suite() {
            for (name, level) in modules(statement) {
                let found = model.resolve_module(name.as_deref(), level).and_then(|module| module.file(db));
                files.extend(found.filter(|file| db.is_own(*file) && !files.contains(file)));
            }
        }
        at += 1;
    }
    files.into_iter().skip(1).take(max).collect()
}

/// The modules that an import statement may refer to, each with its relative level.
fn modules(statement: &Stmt) -> Vec<(Option<String>, u32)> {
    match statement {
        Stmt::Import(import) => import.names.iter().map(|alias| (Some(alias.name.to_string()), 0)).collect(),
        Stmt::ImportFrom(from) => {
            let module = from.module.as_ref().map(ToString::to_string);
            let inner = from.names.iter().map(|alias| match &module {
                Some(module) => (Some(format!("{module}.{}", alias.name)), from.level),
                None => (Some(alias.name.to_string()), from.level),
            });
            std::iter::once((module.clone(), from.level)).chain(inner).collect()
        }
        _ => Vec::new(),
    }
}

/// Where a file has its first relative import that the type checker cannot resolve although the module exists. The root of a project is
/// a search path, so the checker never sees it as a package (`findings/ty-root-package.sh`).
pub(super) fn first_unresolved(db: &Database, file: File) -> Option<TextSize> {
    let FilePath::System(path) = file.path(db) else { return None };
    let program_file = db.program_file(file);
    let model = SemanticModel::new(db, program_file);
    let parsed = parsed_module(db, program_file.python_file(db)).load(db);
    let mut finder = UnresolvedImports { db, model: &model, path, found: None };
    AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut finder);
    finder.found
}

struct UnresolvedImports<'a> {
    db: &'a Database,
    model: &'a SemanticModel<'a>,
    path: &'a SystemPath,
    found: Option<TextSize>,
}

impl<'a> SourceOrderVisitor<'a> for UnresolvedImports<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if self.found.is_some() || node.is_expression() {
            return TraversalSignal::Skip;
        }
        if let AnyNodeRef::StmtImportFrom(from) = node
            && from.level > 0
        {
            let module = from.module.as_deref();
            let is_unresolved = self.model.resolve_module(module, from.level).is_none()
                && exists(self.db, self.path, module, from.level);
            self.found = is_unresolved.then(|| from.start());
        }
        TraversalSignal::Traverse
    }
}

/// Whether the module that a relative import in the file at `path` names is on disk.
fn exists(db: &Database, path: &SystemPath, module: Option<&str>, level: u32) -> bool {
    let Some(folder) = path.ancestors().nth(level as usize) else { return false };
    let named = module.into_iter().flat_map(|module| module.split('.'));
    let target = named.fold(folder.to_path_buf(), |folder, name| folder.join(name));
    let is_file = |path| system_path_to_file(db, path).is_ok();
    is_file(target.join("__init__.py")) || is_file(target.with_extension("py")) && module.is_some()
}
