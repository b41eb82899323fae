//! `ixmcp entity`: reads, traverses, writes and checks the knowledge graph.
//!
//! Owns the list of its subcommands. Entity files are written only here: tools only read.

mod amend;
mod check;
mod read;
mod walk;
mod write;

use clap::{Args, Subcommand};

use super::{Outcome, Session};
use crate::error::Result;

/// Read, traverse, write and check the entities in .ixchel
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

impl Arguments {
    /// Whether the subcommand only searches or lists tags.
    pub(super) const fn is_search(&self) -> bool {
        matches!(self.command, Command::Search(_) | Command::Tags(_))
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(Init),
    Create(write::Create),
    Link(write::Link),
    Unlink(write::Unlink),
    Tag(write::Tag),
    Edit(write::Edit),
    Check(check::Arguments),
    List(read::List),
    Show(read::Show),
    Search(read::Search),
    Context(read::Context),
    Tags(read::Tags),
    Sync(read::Sync),
    Path(walk::Path),
    /// List cycles of depends_on and blocks edges
    Cycles,
    /// List open issues that no open entity blocks, most important first
    Ready,
}

pub(super) use walk::direction;
pub(super) use write::{Init, init};

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    match &typed.command {
        Command::Init(_) => init(session),
        Command::Create(typed) => write::create(session, typed),
        Command::Link(typed) => write::link(session, typed),
        Command::Unlink(typed) => write::unlink(session, typed),
        Command::Tag(typed) => write::tag(session, typed),
        Command::Edit(typed) => write::edit(session, typed),
        Command::Check(typed) => check::run(session, typed),
        Command::List(typed) => read::list(session, typed),
        Command::Show(typed) => read::show(session, typed),
        Command::Search(typed) => read::search(session, typed),
        Command::Context(typed) => read::context(session, typed),
        Command::Tags(typed) => read::tags(session, typed),
        Command::Sync(typed) => read::sync(session, typed),
        Command::Path(typed) => walk::path(session, typed),
        Command::Cycles => walk::cycles(session),
        Command::Ready => walk::ready(session),
    }
}
