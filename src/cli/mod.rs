//! Commands: one file each; here are only the list, the global options and the way to an exit code.
//!
//! Owns what a user types and sees. Exit codes: 0 success, 1 no results, 2 error.

mod answer;
mod call;
mod changes;
mod check;
mod completions;
mod daemon;
mod def;
mod deps;
mod doctor;
mod documents;
mod edited;
mod embedder;
mod engine;
mod entity;
mod eval;
mod files;
mod graph;
mod help;
mod hints;
mod http;
mod infer;
mod installation;
mod known;
mod log;
mod man;
mod marks;
mod mcp;
mod model;
mod named;
mod org;
mod output;
mod overview;
mod paint;
mod position;
mod publish;
mod query;
mod read;
mod rebuild;
mod refs;
mod relations;
mod rename;
mod repos;
mod scip;
mod setup;
mod shapes;
mod slice;
mod snapshot;
mod sql;
mod stats;
mod symbol;
mod sync;
mod type_at;
mod ui;
mod wrong_words;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::{FromArgMatches, Parser, Subcommand};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::answer::Answer;
use self::output::HowFar;
use self::paint::{ColorChoice, Paint};
use crate::budget::{Budget, Progress};
use crate::config::{Config, Environment, Flags, Sources};
use crate::error::{Error, ErrorKind, Result};
use crate::index::{IndexWait, Watching, Workspace, Workspaces};
use crate::locked::locked;
use crate::panics;
use crate::platform::{allocator, processor};
use crate::serve;
use crate::serve::client::Client;
use crate::store::Snapshot;
use crate::tools::{self, OnProgress, Request, Tools};

/// The heading of the options that every command takes.
const EVERYWHERE: &str = "Global options";

/// Search and read a repository through one SQLite index that is always fresh.
///
/// The index is stored in .ixmcp/index.db and is built when it is first needed.
#[derive(Debug, Parser)]
#[command(name = "ixmcp", version, max_term_width = 100)]
struct Cli {
    /// The repository: the nearest folder, from this one up, that contains .ixmcp, .ixchel or .git [default: $CLAUDE_PROJECT_DIR, then the current folder]; repeat it, or give a glob of paths or org:NAME, to search several
    #[arg(long, global = true, value_name = "PATH", help_heading = EVERYWHERE)]
    repo: Vec<PathBuf>,

    /// Search the repositories of a group, which [groups] in your config.toml defines, or `deps`: what this repository depends on; can be repeated
    #[arg(long, global = true, value_name = "NAME", help_heading = EVERYWHERE)]
    group: Vec<String>,

    /// When to use color
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = EVERYWHERE)]
    color: ColorChoice,

    /// When to print paths as terminal hyperlinks
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = EVERYWHERE)]
    hyperlink: ColorChoice,

    /// Build the index completely before answering
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    wait: bool,

    /// Print an overview of this repository as one JSON object
    #[arg(long)]
    json: bool,

    /// None: an overview of this repository.
    #[command(subcommand)]
    command: Option<Command>,
}

// Aliases are what users try first; they are not documented.
#[derive(Debug, Subcommand)]
enum Command {
    Init(entity::Init),
    Setup(setup::Arguments),
    #[command(alias = "index")]
    Sync(sync::Arguments),
    #[command(alias = "search")]
    Query(query::Arguments),
    Symbol(symbol::Arguments),
    Slice(slice::Arguments),
    Files(files::Arguments),
    Stats(stats::Arguments),
    Documents(documents::Arguments),
    Entity(entity::Arguments),
    Graph(graph::Arguments),
    Check(check::Arguments),
    TypeAt(type_at::Arguments),
    Def(def::Arguments),
    Refs(refs::Arguments),
    Changes(changes::Arguments),
    Infer(infer::Arguments),
    Scip(scip::Arguments),
    Rename(rename::Arguments),
    Repos(repos::Arguments),
    Deps(deps::Arguments),
    Publish(publish::Arguments),
    Unpublish(publish::Unpublish),
    Org(org::Arguments),
    Call(call::Arguments),
    #[command(alias = "serve")]
    Mcp(mcp::Arguments),
    Http(http::Arguments),
    Daemon(daemon::Arguments),
    Ui(ui::Arguments),
    Sql(sql::Arguments),
    Eval(eval::Arguments),
    Model(model::Arguments),
    Rebuild(rebuild::Arguments),
    Doctor(doctor::Arguments),
    Snapshot(snapshot::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    Engine(engine::Arguments),
    Embedder(embedder::Arguments),
    Read(read::Arguments),
}

impl Command {
    /// Whether the process stays to answer many queries: then it pays to notice changes as they happen.
    const fn stays(&self) -> bool {
        matches!(self, Self::Mcp(_) | Self::Http(_) | Self::Daemon(_) | Self::Ui(_))
    }

    /// Whether several repositories can be searched by the command.
    const fn takes_several(&self) -> bool {
        match self {
            Self::Query(_) | Self::Symbol(_) | Self::Slice(_) | Self::Stats(_) | Self::Call(_) | Self::Ui(_) => true,
            Self::Files(arguments) => !arguments.is_of_skipped(),
            Self::Documents(arguments) => arguments.is_search(),
            Self::Entity(arguments) => arguments.is_search(),
            _ => false,
        }
    }
}

/// Whether a command found what it was asked for, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Outcome {
    Found = 0,
    Nothing = 1,
    /// It answered, and what it was asked by is at fault.
    Broken = 2,
    /// The type checker panicked at a file; the others were checked. The code is that of `ty check`.
    Panicked = 101,
}

impl Outcome {
    const fn of(is_found: bool) -> Self {
        if is_found { Self::Found } else { Self::Nothing }
    }
}

/// Runs the program.
pub fn run() -> ExitCode {
    let missing = processor::missing();
    if !missing.is_empty() {
        let message =
            format!("this build of ixmcp needs processor instructions that this machine lacks: {}", missing.join(", "));
        let error = Error::new(ErrorKind::UnsupportedFormat, message);
        output::error(&error.hint("Install a released package, which runs on every processor of its architecture, or build it on this machine."));
        return ExitCode::from(2);
    }
    // Help shows more than is needed to parse a command.
    let typed = help::declaration().try_get_matches().unwrap_or_else(|refused| {
        wrong_words::tell_in_json(&refused);
        help::described().get_matches()
    });
    let cli = Cli::from_arg_matches(&typed).unwrap_or_else(|error| error.exit());
    // `ixmcp call` names tools, so its errors do, too.
    let names_tools = matches!(cli.command, Some(Command::Call(_)));
    let described = |error| if names_tools { error } else { hints::in_commands(error, &help::declaration(), &typed) };
    let wants_json = wrong_words::want_json(&typed);
    ExitCode::from(exit_code(|| dispatch(cli, wants_json).map_err(described), wants_json))
}

/// Runs a command and reports what went wrong. A command that panics has failed.
fn exit_code(command: impl FnOnce() -> Result<Outcome>, wants_json: bool) -> u8 {
    match panics::caught(command) {
        Ok(outcome) => outcome as u8,
        Err(error) => {
            if wants_json {
                output::json_error(&error);
            }
            output::error(&error);
            error.kind.exit_code()
        }
    }
}

fn dispatch(cli: Cli, wants_json: bool) -> Result<Outcome> {
    // These need no settings, and get no say in them.
    match &cli.command {
        Some(Command::Read(arguments)) => return read::run(arguments),
        Some(Command::Embedder(arguments)) => return embedder::run(arguments),
        _ => {}
    }
    let environment = Environment::of_process();
    let (settings, is_detached) = match &cli.command {
        Some(Command::Daemon(arguments)) => (arguments.settings(), arguments.is_detached()),
        _ => (Vec::new(), false),
    };
    // `http` has the same option, for what it serves. Elsewhere a path alone is the repository of the command, and anything
    // else is what it searches.
    let is_served = matches!(cli.command, Some(Command::Http(_)));
    let only = if cli.repo.len() == 1 && cli.group.is_empty() { cli.repo.first() } else { None };
    let repository = if is_served { cli.repo.first() } else { only.filter(|path| !named::is_pattern(path)) }.cloned();
    let flags = Flags { repository, settings };
    let named = if is_served || flags.repository.is_some() { Vec::new() } else { named::names_of(&cli)? };
    let (config, _) = Config::load(&flags, &environment, None)?;
    let filter = environment.get("RUST_LOG").unwrap_or(&config.log_filter);
    // With `RUST_BACKTRACE`, a foreground command prints the whole panic. A process that stays does not: its output
    // may be read by an agent.
    let is_traced = environment.get("RUST_BACKTRACE").is_some() && !cli.command.as_ref().is_some_and(Command::stays);
    if !is_traced {
        panics::log_locations();
    }
    if is_detached {
        log::start_for_file(filter);
    } else {
        log::start(filter, cli.color.colors(&environment, std::io::stderr().is_terminal()));
    }
    if let (true, Some(_)) = (cli.json, &cli.command) {
        return Err(
            Error::invalid_argument("--json precedes the command").hint("Put it after: `ixmcp query x --json`.")
        );
    }
    let start = environment.start_folder(&flags)?;
    if !named.is_empty() && !cli.command.as_ref().is_some_and(Command::takes_several) {
        return Err(about_one());
    }
    let sources = Sources { flags, environment };
    let watching = if cli.command.as_ref().is_some_and(Command::stays) { Watching::Yes } else { Watching::No };
    let workspaces = Arc::new(Workspaces::new(sources.clone(), watching));
    let root = || workspaces.root(&start).ok();
    let paint = Paint::new(cli.color, cli.hyperlink, &sources.environment, root);
    let session = Session {
        start,
        named,
        config,
        sources: Arc::new(sources),
        workspaces,
        paint,
        json: wants_json,
        waits: cli.wait,
        unfinished: Mutex::default(),
    };
    let Some(command) = cli.command else { return overview::run(&session) };
    let outcome = run_command(&session, command);
    session.finish_build();
    outcome
}

fn run_command(session: &Session, command: Command) -> Result<Outcome> {
    match command {
        Command::Init(_) => entity::init(session),
        Command::Documents(arguments) => documents::run(session, &arguments),
        Command::Setup(arguments) => setup::run(session, &arguments),
        Command::Entity(arguments) => entity::run(session, &arguments),
        Command::Graph(arguments) => graph::run(session, &arguments),
        Command::Sync(arguments) => sync::run(session, &arguments),
        Command::Query(arguments) => query::run(session, &arguments),
        Command::Symbol(arguments) => symbol::run(session, &arguments),
        Command::Slice(arguments) => slice::run(session, &arguments),
        Command::Files(arguments) => files::run(session, &arguments),
        Command::Stats(arguments) => stats::run(session, &arguments),
        Command::Check(arguments) => check::run(session, &arguments),
        Command::TypeAt(arguments) => type_at::run(session, &arguments),
        Command::Def(arguments) => def::run(session, &arguments),
        Command::Refs(arguments) => refs::run(session, &arguments),
        Command::Changes(arguments) => changes::run(session, &arguments),
        Command::Infer(arguments) => infer::run(session, &arguments),
        Command::Scip(arguments) => scip::run(session, &arguments),
        Command::Rename(arguments) => rename::run(session, &arguments),
        Command::Repos(arguments) => repos::run(session, &arguments),
        Command::Deps(arguments) => deps::run(session, &arguments),
        Command::Publish(arguments) => publish::run(session, &arguments),
        Command::Unpublish(arguments) => publish::unpublish(session, &arguments),
        Command::Org(arguments) => org::run(session, &arguments),
        Command::Call(arguments) => call::run(session, &arguments),
        Command::Mcp(arguments) => mcp::run(session, &arguments),
        Command::Http(arguments) => http::run(session, &arguments),
        Command::Daemon(arguments) => daemon::run(session, &arguments),
        Command::Ui(arguments) => ui::run(session, &arguments),
        Command::Sql(arguments) => sql::run(session, &arguments),
        Command::Eval(arguments) => eval::run(session, &arguments),
        Command::Model(arguments) => model::run(session, &arguments),
        Command::Rebuild(arguments) => rebuild::run(session, &arguments),
        Command::Doctor(arguments) => doctor::run(session, &arguments),
        Command::Snapshot(arguments) => snapshot::run(session, &arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Engine(arguments) => engine::run(&arguments),
        Command::Embedder(arguments) => embedder::run(&arguments),
        Command::Read(arguments) => read::run(&arguments),
    }
}

/// The empty text, which every tool refuses; joined to a folder it would stand for that.
const NO_PATH: &str = "";

/// What every command has to work with.
struct Session {
    /// The current folder, or the one given.
    start: PathBuf,
    /// The repositories that are searched, if those are several: paths, globs and groups.
    named: Vec<String>,
    /// Settings as they are before a repository has its say.
    config: Config,
    sources: Arc<Sources>,
    workspaces: Arc<Workspaces>,
    paint: Paint,
    /// Whether the answer is printed as JSON.
    json: bool,
    /// Whether the index is built completely before an answer.
    waits: bool,
    /// The repository whose index this process has left unfinished to answer first.
    unfinished: Mutex<Option<Arc<Workspace>>>,
}

/// A command answers from a part of the index if building all of it takes longer than this.
const PARTIAL_AFTER: Duration = Duration::from_secs(3);

impl Session {
    /// For a process that stays until it is stopped: it keeps little memory that it does not use.
    fn stay(&self) {
        allocator::limit(|variable| self.sources.environment.get(variable).is_some());
    }

    /// Prints an answer, as JSON or by `print`.
    fn show(&self, json: &impl Serialize, is_found: bool, print: impl FnOnce()) -> Result<Outcome> {
        if self.json {
            output::json(json);
        } else {
            print();
        }
        Ok(Outcome::of(is_found))
    }

    /// Prints a list, as JSON or item by item.
    fn show_list<T>(&self, json: &impl Serialize, items: &[T], print: impl Fn(&T)) -> Result<Outcome> {
        self.show(json, !items.is_empty(), || {
            items.iter().for_each(print);
            if items.is_empty() {
                output::note_nothing();
            }
        })
    }

    fn workspace(&self) -> Result<Arc<Workspace>> {
        if !self.named.is_empty() {
            return Err(about_one());
        }
        self.workspaces.at(&self.start)
    }

    /// The running daemon of the repository at `root`.
    fn daemon(&self, root: &Path) -> Option<Client> {
        Client::find(root, &self.start, &self.sources.environment)
    }

    /// How paths are printed for people: relative to the current folder.
    fn paint_here(&self) -> Paint {
        let folder = self.sources.environment.working_folder().map(Path::to_owned);
        match (folder, self.workspaces.root(&self.start)) {
            (Some(folder), Ok(root)) => self.paint.from(folder, root),
            _ => self.paint.clone(),
        }
    }

    /// A file as a person names it: an existing one in the current folder, else as the tools take it.
    fn file(&self, typed: &str) -> String {
        self.named(typed, Path::is_file)
    }

    /// The same for a file or folder.
    fn path(&self, typed: &str) -> String {
        self.named(typed, Path::exists)
    }

    /// A path relative to the current folder, whether or not it exists.
    fn here(&self, typed: &str) -> String {
        if typed.is_empty() { NO_PATH.to_owned() } else { self.start.join(typed).to_string_lossy().into_owned() }
    }

    fn named(&self, typed: &str, is_meant: impl Fn(&Path) -> bool) -> String {
        if typed.is_empty() {
            return NO_PATH.to_owned();
        }
        let folder = self.sources.environment.working_folder();
        let named = folder.map(|folder| folder.join(typed)).filter(|file| is_meant(file));
        let root = self.workspaces.root(&self.start).ok();
        match (named, root) {
            (Some(file), Some(root)) if file.starts_with(&root) => file.to_string_lossy().into_owned(),
            _ => typed.to_owned(),
        }
    }

    /// Calls a tool for a command that prints its answer, of the type `A`.
    fn call<A: DeserializeOwned>(&self, tool: &str, arguments: Value) -> Result<Answer<A>> {
        Answer::read(self.call_as_json(tool, arguments)?, !self.named.is_empty())
    }

    /// Calls a tool without a limit on the size of its answer, and shows the progress if it takes long. If there is no index
    /// yet, the tool answers before all of it is built, unless the user wants to wait. A running daemon of the repository
    /// answers; none is started.
    fn call_as_json(&self, tool: &str, arguments: Value) -> Result<Value> {
        self.called(tool, arguments).map_err(|error| match error.kind {
            // No command has an option for it.
            ErrorKind::Timeout => error
                .hint(format!("`ixmcp call {tool} --args` takes a timeout_ms that is longer than the usual 30000.")),
            _ => error,
        })
    }

    fn called(&self, tool: &str, mut arguments: Value) -> Result<Value> {
        let budget = Budget::unlimited();
        if !self.named.is_empty() && arguments.get("repo").is_none() {
            arguments["repo"] = Value::from(self.named.clone());
        }
        let names = tools::repositories(arguments.get("repo"))?;
        if self.workspaces.may_be_several(&names, &self.start) {
            return self.called_across(tool, arguments, &names);
        }
        let root = self.workspaces.root_of(names.first().map(String::as_str), &self.start)?;
        if let Some(mut daemon) = self.daemon(&root) {
            let asked = serve::call_params(tool, &arguments, None, self.waits);
            let answer = output::with_remote_progress(|tell| daemon.call("ixmcp/call", asked, &budget, tell));
            // If it is gone, this process runs the query.
            if let Ok(answer) = answer {
                return answer;
            }
        }
        let workspace = self.workspaces.at(&root)?;
        let waits = self.waits || workspace.is_built(&budget);
        if waits && tools::find(tool)?.asks_index {
            match freshen_within(&workspace, Duration::MAX, &budget) {
                Err(error) if error.kind == ErrorKind::Busy => {}
                freshened => freshened?,
            }
        }
        let shown = Arc::new(Progress::default());
        let progress = Arc::clone(&shown);
        let on_progress: OnProgress = Arc::new(move |done, total| {
            progress.total_bytes.store(total, Ordering::Relaxed);
            progress.done_bytes.store(done, Ordering::Relaxed);
        });
        let request = Request {
            python: self.sources.environment.python(),
            budget,
            index_wait: if waits {
                IndexWait::TO_THE_END
            } else {
                IndexWait { partial_after: PARTIAL_AFTER, ..IndexWait::TO_THE_END }
            },
            on_progress: Some(on_progress),
            is_last: true,
            ..Request::new(tool, arguments, self.start.clone())
        };
        let tools = Tools::new(Arc::clone(&self.workspaces));
        let answer = output::with_progress(|| HowFar::of(&shown), || tools.call(request))?;
        // After the last file, the build still has its indexes to make.
        if answer.get("indexing").is_some() || !(waits || workspace.is_built(&Budget::unlimited())) {
            *locked(&self.unfinished) = Some(workspace);
        }
        Ok(answer)
    }

    /// The same for several repositories: this process reads them, after those without a daemon are up to date.
    fn called_across(&self, tool: &str, arguments: Value, names: &[String]) -> Result<Value> {
        let budget = Budget::unlimited();
        let wanted = tools::wanted(tool, &arguments)?;
        for root in self.workspaces.members_with(names, &wanted, &self.start, &budget)?.roots {
            if self.daemon(&root).is_some() {
                continue;
            }
            // The answer reports those that cannot be read.
            let freshened = self.workspaces.at(&root).and_then(|workspace| freshen(&workspace, &budget));
            if let Err(error) = freshened {
                tracing::debug!("{}: {error}", root.display());
            }
        }
        let request =
            Request { index_wait: IndexWait::TO_THE_END, ..Request::new(tool, arguments, self.start.clone()) };
        let daemons = serve::MemberDaemons::new(self.sources.environment.clone(), None);
        Tools::new(Arc::clone(&self.workspaces)).with_daemons(Arc::new(daemons)).call(request)
    }

    /// Builds the rest of an index that was left unfinished. If that fails, the next command continues.
    fn finish_build(&self) {
        let Some(workspace) = locked(&self.unfinished).take() else { return };
        if let Err(error) = freshen(&workspace, &Budget::unlimited()) {
            tracing::warn!("the index is not complete: {error}");
        }
    }

    /// Asks the index itself, made fresh before: for queries that no tool asks.
    fn read<T>(&self, ask: impl Fn(&Snapshot) -> Result<T>) -> Result<T> {
        let (workspace, budget) = (self.workspace()?, Budget::unlimited());
        workspace.with_repair(|| {
            freshen(&workspace, &budget)?;
            workspace.scip.refresh(&budget)?;
            workspace.read(&budget, &ask)
        })
    }
}

/// The error of a command that is given several repositories and takes one.
fn about_one() -> Error {
    Error::invalid_argument("this command is about one repository").hint(
        "Give one --repo. Several can be searched by query, symbol, slice, files, stats, documents search, entity search \
         and entity tags.",
    )
}

/// The runtime of a process that serves.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))
}

/// Brings the index up to date, however long that takes, and shows how far it is.
fn freshen(workspace: &Arc<Workspace>, budget: &Budget) -> Result<()> {
    freshen_within(workspace, Duration::MAX, budget)
}

/// The same; `BUSY` if that takes longer than `timeout`.
fn freshen_within(workspace: &Arc<Workspace>, timeout: Duration, budget: &Budget) -> Result<()> {
    output::with_progress(
        || workspace.progress().map_or_else(HowFar::default, |p| HowFar::of(&p)),
        || workspace.freshen(Some(timeout), budget).map(drop),
    )
}

/// Arguments of a tool from what was typed: what was not typed is left out.
macro_rules! arguments {
    ($($name:literal: $value:expr),* $(,)?) => {{
        let mut arguments = serde_json::Map::new();
        $(
            let value = serde_json::json!($value);
            if !(value.is_null() || value == serde_json::json!([]) || value == serde_json::json!(false)) {
                arguments.insert($name.to_owned(), value);
            }
        )*
        serde_json::Value::Object(arguments)
    }};
}
use arguments;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_panics_ends_with_exit_code_2() {
        assert_eq!(exit_code(|| panic!("on purpose"), false), 2);
        assert_eq!(exit_code(|| output::with_progress(HowFar::default, || panic!("on purpose")), false), 2);
        assert_eq!(exit_code(|| Ok(Outcome::Nothing), false), 1);
    }
}
