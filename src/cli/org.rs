//! `ixmcp org`: the server of an organisation, for its administrators and users.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Outcome, Session, output, sync};
use crate::budget::Budget;
use crate::config::organisation;
use crate::error::Result;
use crate::model::printable;
use crate::organisation::{self, Connection, Grant, Purpose};

/// Set up and inspect an organisation's server (PostgreSQL)
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ixmcp org init
  ixmcp org grant team_pay 'pay-*' --publish
  ixmcp org status
  ixmcp org sweep")]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create or upgrade the roles, tables and functions
    Init(Server),
    /// Let a role read or publish repositories
    Grant(GrantArguments),
    /// List the repositories that you can read
    Status(Status),
    /// Remove texts that no repository uses, and unfinished uploads
    Sweep(Sweep),
}

#[derive(Debug, Args)]
struct Server {
    /// The organisation in `[organisations]` of your config.toml [default: $IXMCP_ORG_URL, or the only one]
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
}

#[derive(Debug, Args)]
struct GrantArguments {
    /// A role of the server
    role: String,
    /// The name of a repository, in which * matches any text
    pattern: String,
    /// Also allow the role to publish
    #[arg(long)]
    publish: bool,
    /// The trust group of the role: publishers of one group share what is derived from texts [default: its own]
    #[arg(long, value_name = "GROUP")]
    trust: Option<String>,
    /// Revoke the grant of this role and pattern
    #[arg(long, conflicts_with_all = ["publish", "trust"])]
    revoke: bool,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct Status {
    /// Only repositories of this name, in which * matches any text
    #[arg(default_value = "*")]
    pattern: String,
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
struct Sweep {
    /// Keep texts that were sent within this many hours: an unfinished publication may need them
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    older_than: u32,
    #[command(flatten)]
    server: Server,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let budget = Budget::unlimited();
    let address = |server: &Server| organisation(&session.sources.environment, server.to.as_deref());
    let connect = |server: &Server| Connection::open_as_administrator(&address(server)?, &budget);
    match &typed.verb {
        Verb::Init(server) => {
            let applied = organisation::initialize(&address(server)?, &budget)?;
            session.show(&json!({ "applied": applied }), true, || {
                applied.iter().for_each(|name| output::line(&format!("applied {}", printable(name))));
                if applied.is_empty() {
                    output::line("the schema is up to date");
                }
            })
        }
        Verb::Grant(typed) => {
            let GrantArguments { role, pattern, publish, trust, revoke, server } = typed;
            let mut connection = connect(server)?;
            let is_changed = if *revoke {
                organisation::revoke(&mut connection, role, pattern, &budget)?
            } else {
                let grant = Grant { role, pattern, may_publish: *publish, trust: trust.as_deref() };
                organisation::grant(&mut connection, &grant, &budget)?;
                true
            };
            let json = json!({ "role": role, "pattern": pattern, "granted": !revoke, "changed": is_changed });
            session.show(&json, is_changed, || {
                let (role, pattern) = (printable(role), printable(pattern));
                output::line(&match (revoke, is_changed) {
                    (false, _) if *publish => format!("{role} may read and publish {pattern}"),
                    (false, _) => format!("{role} may read {pattern}"),
                    (true, true) => format!("{role} has no grant for {pattern} any more"),
                    (true, false) => format!("{role} had no grant for {pattern}"),
                });
            })
        }
        Verb::Status(typed) => {
            let mut connection = Connection::open(&address(&typed.server)?, Purpose::Read, &budget)?;
            let published = organisation::published(&mut connection, &typed.pattern, &budget)?;
            let described = |one: &organisation::Published| {
                json!({
                    "repo": one.name, "commit": one.commit, "generation": one.generation,
                    "published_at": one.published_at, "files": one.files, "bytes": one.bytes,
                })
            };
            let listed: Vec<Value> = published.iter().map(described).collect();
            let json = json!({ "total": listed.len(), "repositories": listed });
            let empty = match typed.pattern.as_str() {
                "*" => "no repository is published, or none that this role may read".to_owned(),
                pattern => format!("no published repository that this role may read matches {}", printable(pattern)),
            };
            session.show_list(&json, &published, &empty, |one| {
                let commit = organisation::short_commit(one.commit.as_deref().unwrap_or_default());
                let files = output::count(u64::from(one.files.unsigned_abs()), "file", "files");
                let (size, at) =
                    (sync::size(one.bytes.unsigned_abs()), one.published_at.as_deref().unwrap_or_default());
                output::line(&printable(&format!("{}  ({commit}, {files}, {size}, published {at})", one.name)));
            })
        }
        Verb::Sweep(typed) => {
            let mut connection = connect(&typed.server)?;
            let swept = organisation::sweep(&mut connection, f64::from(typed.older_than), &budget)?;
            let json = json!({ "uploads": swept.uploads, "texts": swept.texts, "bytes": swept.bytes });
            session.show(&json, true, || {
                let texts = output::count(swept.texts.unsigned_abs(), "text", "texts");
                let uploads = output::count(swept.uploads.unsigned_abs(), "upload", "uploads");
                output::line(&format!("{texts} ({}) and {uploads} removed", sync::size(swept.bytes.unsigned_abs())));
            })
        }
    }
}
