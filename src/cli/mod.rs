//! Commands, one file each; here are only their list, the global options and the conversion to an exit code.
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
mod entity;
mod files;
mod global_options;
mod graph;
mod help;
mod history;
mod http;
mod infer;
mod installation;
mod interruption;
mod known;
mod log;
mod man;
mod marks;
mod mcp;
mod model;
mod named;
mod numbers;
mod org;
mod output;
mod overview;
mod paint;
mod position;
mod processes;
mod publish;
mod query;
mod rebuild;
mod refs;
mod relations;
mod rename;
mod repos;
mod rewrite;
mod scip;
mod session;
mod setup;
mod shapes;
mod slice;
mod snapshot;
mod sql;
mod stats;
mod symbol;
mod sync;
mod terminal_text;
mod type_at;
mod typed_path;
mod ui;
mod words;
mod wrong_words;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::{FromArgMatches, Parser, Subcommand};

use self::paint::{ColorChoice, Paint};
use self::session::{Session, about_one, freshen};
use processes::{embedder, engine, read};

use crate::config::{Config, Environment, Flags, Sources};
use crate::error::{Error, ErrorKind, Result};
use crate::panics;
use crate::platform::processor;
use crate::workspace::{Watching, Workspaces};

/// The heading of the options that every command takes.
const EVERYWHERE: &str = "Global options";

/// Search and read a repository through one SQLite index that is always fresh.
///
/// The index is stored in .ixmcp/index.db and is built when it is first needed.
#[derive(Debug, Parser)]
#[command(name = "ixmcp", version, max_term_width = 100)]
struct Cli {
    /// The repository: the nearest folder, from the given one up, that contains .ixmcp, .ixchel or .git [default: $CLAUDE_PROJECT_DIR, then the current folder]; repeat it, or give a glob of paths or org:NAME, to search several
    #[arg(long, global = true, value_name = "PATH", help_heading = EVERYWHERE)]
    repo: Vec<PathBuf>,

    /// Search the repositories of a group, which `[groups]` in your config.toml defines, or `deps`: what this repository depends on; can be repeated
    #[arg(long, global = true, value_name = "NAME", help_heading = EVERYWHERE)]
    group: Vec<String>,

    /// When to use color
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = EVERYWHERE)]
    color: ColorChoice,

    /// When to print paths as terminal hyperlinks
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = EVERYWHERE)]
    hyperlink: ColorChoice,

    /// Build the index completely before answering, in commands that use it
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
    History(history::Arguments),
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
    /// A command that answered, but whose input is invalid.
    Broken = 2,
    /// The type checker panicked at a file; the others were checked. The code is that of `ty check`.
    Panicked = 101,
}

impl Outcome {
    const fn found_if(is_found: bool) -> Self {
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
        if refused.kind() == clap::error::ErrorKind::DisplayVersion {
            refused.exit();
        }
        wrong_words::tell_in_json(&refused);
        help::described().get_matches()
    });
    let cli = Cli::from_arg_matches(&typed).unwrap_or_else(|error| error.exit());
    // `ixmcp call` names tools, so its errors do, too.
    let names_tools = matches!(cli.command, Some(Command::Call(_)));
    let described = |error| if names_tools { error } else { words::of_command(error, &help::declaration(), &typed) };
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
    // These need no settings.
    match &cli.command {
        Some(Command::Read(arguments)) => return read::run(arguments),
        Some(Command::Embedder(arguments)) => return embedder::run(arguments),
        _ => {}
    }
    let environment = Environment::from_process();
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
    let root = workspaces.root(&start).ok();
    if let Some(root) = &root
        && !cli.command.as_ref().is_some_and(|command| command.stays() || matches!(command, Command::Doctor(_)))
    {
        edited::note_interrupted(root, &sources.environment);
    }
    // Of several repositories, answers have absolute paths.
    let root = root.filter(|_| named.is_empty());
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
    session.finish();
    if wants_json { outcome } else { outcome.map_err(|error| session.paint.shown_from_here(error)) }
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
        Command::History(arguments) => history::run(session, &arguments),
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

/// The runtime of a process that serves.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))
}

/// Arguments of a tool from the typed ones; arguments that were not typed are left out.
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
    use super::output::HowFar;
    use super::*;

    #[test]
    fn a_command_that_panics_ends_with_exit_code_2() {
        assert_eq!(exit_code(|| panic!("on purpose"), false), 2);
        assert_eq!(exit_code(|| output::with_progress(HowFar::default, || panic!("on purpose")), false), 2);
        assert_eq!(exit_code(|| Ok(Outcome::Nothing), false), 1);
    }
}
