//! Which files of the project a file imports.
//!
//! Owns the walk from import to import. Nothing is inferred on the way: it ends for files that inference does not end for.

use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_python_ast::Stmt;
use ty_python_semantic::{Db as _, SemanticModel};

use super::db::Database;

/// The nearest first; not the file itself.
pub(super) fn of(db: &Database, own: File, most: usize) -> Vec<File> {
    let mut files = vec![own];
    let mut at = 0;
    while at < files.len() && files.len() <= most {
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
    files.into_iter().skip(1).take(most).collect()
}

/// The modules that an import may mean, each with how many folders up it begins.
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
