//! The way from a call to the Python type engine of its repository.
//!
//! Owns which engine answers whom (one for each Python environment that callers bring), and how a caller's file and place
//! become the engine's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use super::Call;
use crate::error::{Error, Result};
use crate::index::{Mark, Noticed, Workspace};
use crate::locked::locked;
use crate::pytypes::values::{Answer, Position, Question};
use crate::pytypes::{Feed, Fresh, Service, Spec};

/// The engines of one repository, by what their callers' environments say; few have more than one.
#[derive(Default)]
pub(super) struct Engines {
    services: Mutex<Vec<(Environment, Arc<Service>)>>,
}

/// Variables by which a caller's Python is known.
type Environment = BTreeMap<String, String>;

/// More environments than this at once would fill the memory: the one that was asked least lately goes.
const MOST_ENGINES: usize = 2;

/// A file that a call names.
pub(super) struct File {
    /// As answers name it.
    pub shown: String,
    pub absolute: PathBuf,
    pub is_python: bool,
}

pub(super) fn file(call: &Call, given: &str) -> Result<File> {
    let located = call.workspace().locate(given);
    let (shown, absolute) = match located {
        Err(_) if admit_libraries(call, given) => call.workspace().locate(given)?,
        located => located?,
    };
    let extension = absolute.extension().and_then(|extension| extension.to_str());
    let is_python = matches!(extension, Some("py" | "pyi" | "pyw" | "ipynb"));
    Ok(File { shown, absolute, is_python })
}

/// Makes the libraries that the engine uses readable, where a path could be of one. Says whether to try again.
pub(super) fn admit_libraries(call: &Call, given: &str) -> bool {
    let is_source = Path::new(given).extension().is_some_and(|extension| extension == "py" || extension == "pyi");
    if !is_source || !Path::new(given).is_absolute() {
        return false;
    }
    match ask(call, &Question::Libraries) {
        Ok(Answer::Libraries(libraries)) => {
            call.workspace().admit_python(libraries.folders.iter().map(PathBuf::from).collect());
            true
        }
        _ => false,
    }
}

pub(super) fn position(file: &File, cell: Option<u32>, line: u32, column: u32) -> Result<Position> {
    for (name, number) in [("cell", cell.unwrap_or(1)), ("line", line), ("column", column)] {
        if number == 0 {
            return Err(Error::invalid_argument(format!("argument `{name}`: cells, lines and columns are 1-based"))
                .hint("Give 1 or more."));
        }
    }
    if cell.is_some() && file.absolute.extension().is_none_or(|extension| extension != "ipynb") {
        return Err(Error::invalid_argument("argument `cell`: only notebooks have cells").hint("Leave it out."));
    }
    Ok(Position { file: file.absolute.to_string_lossy().into_owned(), cell, line, column })
}

/// The engine's answer, within the call's budget; who waits for a long call hears how far it has come.
pub(super) fn ask(call: &Call, question: &Question) -> Result<Answer> {
    service(call)?.ask(question, call.budget(), &|done, total| call.progress().stand_at(done as u64, total as u64))
}

pub(super) fn unexpected() -> Error {
    Error::internal("the type engine answered another question").hint("Ask again.")
}

fn service(call: &Call) -> Result<Arc<Service>> {
    let engines: Arc<Engines> = call.workspace().kept(|| Ok(Engines::default()))?;
    let mut services = locked(&engines.services);
    if let Some(at) = services.iter().position(|(environment, _)| *environment == call.caller.python) {
        let found = services.remove(at);
        let service = Arc::clone(&found.1);
        services.push(found);
        return Ok(service);
    }
    let program = call.workspace().program();
    let python = call.workspace().config().python;
    let spec = Spec {
        root: call.workspace().root().to_owned(),
        program: program.ok_or_else(|| Error::internal("this program's file cannot be found"))?,
        environment: call.caller.python.clone(),
        ty: python.server,
        idle: python.idle,
        longest: python.timeout,
        is_once: call.caller.is_last,
    };
    let feed = WorkspaceFeed { workspace: Arc::downgrade(call.workspace), mark: Mutex::default() };
    let service = Service::new(spec, Box::new(feed));
    if services.len() >= MOST_ENGINES {
        services.remove(0).1.rest();
    }
    services.push((call.caller.python.clone(), Arc::clone(&service)));
    Ok(service)
}

/// What the workspace notices, as the engine's feed.
struct WorkspaceFeed {
    workspace: Weak<Workspace>,
    mark: Mutex<Mark>,
}

impl Feed for WorkspaceFeed {
    fn begin(&self) {
        self.changes();
    }

    fn changes(&self) -> Fresh {
        let Some(workspace) = self.workspace.upgrade() else { return Fresh::Everything };
        let mut mark = locked(&self.mark);
        let (noticed, next) = workspace.noticed(*mark);
        *mark = next;
        match noticed {
            Noticed::Paths(paths) if paths.is_empty() => Fresh::Nothing,
            Noticed::Paths(paths) => Fresh::Paths(paths.iter().map(|path| path.to_path(workspace.root())).collect()),
            Noticed::Anything => Fresh::Everything,
        }
    }
}
