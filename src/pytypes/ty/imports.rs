//! Which files of the project a file imports.
//!
//! Owns the traversal of imports. It infers no types, so it also terminates for files whose inference does not.

use super::api::{File, SemanticDb as _, SemanticModel, Stmt, parsed_module};
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
