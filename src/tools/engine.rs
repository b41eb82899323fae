//! Connects a tool call to the Python type engine of its repository.
//!
//! Owns the conversion of a caller's file and position to the engine's, and which changes the engine receives.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use super::Call;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::model::{Position, printable};
use crate::pytypes::values::{Answer, Query};
use crate::pytypes::{ChangeFeed, EngineSpec, FileChanges, MemoryBudget, TypeService};
use crate::wording::Argument;
use crate::workspace::{Changes, FeedPosition, Workspace};

/// A file named in a call.
pub(super) struct File {
    /// The path as it appears in answers.
    pub path: String,
    pub absolute: PathBuf,
    pub is_python: bool,
}

pub(super) fn file(call: &Call, given: &str) -> Result<File> {
    let located = call.workspace().files.locate(given);
    let (path, absolute) = match located {
        Err(_) if admit_libraries(call, given) => call.workspace().files.locate(given)?,
        located => located?,
    };
    let extension = absolute.extension().and_then(|extension| extension.to_str());
    let is_python = matches!(extension, Some("py" | "pyi" | "pyw" | "ipynb"));
    Ok(File { path, absolute, is_python })
}

/// Allows reading the engine's library folders if the path could be in one. Returns whether to try again.
pub(super) fn admit_libraries(call: &Call, given: &str) -> bool {
    let is_source = Path::new(given).extension().is_some_and(|extension| extension == "py" || extension == "pyi");
    if !is_source || !Path::new(given).is_absolute() {
        return false;
    }
    match ask(call, &Query::Libraries) {
        Ok(Answer::Libraries(libraries)) => {
            call.workspace().files.admit_python(libraries.folders.iter().map(PathBuf::from).collect());
            true
        }
        _ => false,
    }
}

pub(super) fn position(file: &File, cell: Option<u32>, line: u32, column: u32) -> Result<Position> {
    for (name, number) in [("cell", cell.unwrap_or(1)), ("line", line), ("column", column)] {
        if number == 0 {
            return Err(Error::invalid_argument((Argument(name), ": cells, lines and columns are 1-based"))
                .hint("Give 1 or more."));
        }
    }
    if cell.is_some() && file.absolute.extension().is_none_or(|extension| extension != "ipynb") {
        return Err(Error::invalid_argument((Argument("cell"), ": only notebooks have cells")).hint("Omit it."));
    }
    Ok(Position { file: file.absolute.to_string_lossy().into_owned(), cell, line, column })
}

/// Queries the engine within the call's budget and reports progress to the caller.
pub(super) fn ask(call: &Call, query: &Query) -> Result<Answer> {
    service(call)?.ask(query, call.budget(), &|done, total| call.progress().set(done as u64, total as u64))
}

/// Checks, with an installed ty if the user's settings name one.
pub(super) fn check(call: &Call, query: &Query) -> Result<Answer> {
    let Some(given) = call.workspace().config().python.ty else { return ask(call, query) };
    let program = call.workspace().installed(&given).ok_or_else(|| {
        let shown = printable(&given.to_string_lossy());
        Error::invalid_argument(format!("the program {shown} is not there, and python.engine is \"ty\""))
            .hint("Install ty, and set python.ty to its full path or a name on PATH outside of the repository; or set python.engine = \"embedded\".")
    })?;
    service(call)?.check_with(&program, query, call.budget())
}

pub(super) fn unexpected() -> Error {
    Error::internal("the type engine returned an unexpected answer").hint("Try again.")
}

fn service(call: &Call) -> Result<Arc<TypeService>> {
    call.workspace().type_engines.get(&call.request.python, || {
        let program = call.workspace().program();
        let python = call.workspace().config().python;
        let spec = EngineSpec {
            root: call.workspace().root().to_owned(),
            program: program.ok_or_else(|| Error::internal("this program's executable cannot be found"))?,
            environment: call.request.python.clone(),
            idle: python.idle,
            memory: MemoryBudget { folder: call.workspace().runtime_folder(), bytes: python.memory },
            timeout: python.timeout,
            is_once: call.request.is_last,
        };
        let feed = WorkspaceFeed { workspace: Arc::downgrade(call.workspace), position: Mutex::default() };
        Ok(TypeService::new(spec, Box::new(feed)))
    })
}

/// Forwards the changes that the workspace notices to the engine.
struct WorkspaceFeed {
    workspace: Weak<Workspace>,
    position: Mutex<FeedPosition>,
}

impl ChangeFeed for WorkspaceFeed {
    fn begin(&self) {
        self.changes();
    }

    fn changes(&self) -> FileChanges {
        let Some(workspace) = self.workspace.upgrade() else { return FileChanges::Everything };
        let mut position = locked(&self.position);
        let (changes, next) = workspace.changes_since(*position);
        *position = next;
        match changes {
            Changes::Paths(paths) if paths.is_empty() => FileChanges::Nothing,
            Changes::Paths(paths) => {
                FileChanges::Paths(paths.iter().map(|path| path.to_path(workspace.root())).collect())
            }
            Changes::Everything => FileChanges::Everything,
        }
    }
}
