//! ixmcp keeps a repository's files, chunks, symbols, tags and entity graph in one SQLite database, keeps it current
//! with the last save, and serves it over MCP and on the command line. This page is the map of the code.
//!
//! ```text
//! disk ─► scan ─► extract ─► embed ─► store ◄─ query ◄─ tools ◄─ serve   MCP and plain JSON-RPC
//!         walk    decode     vectors  SQLite   smart    one      └ cli   people
//!         rules   parse               FTS5     exact    file
//!         hash    chunk                       symbols  each
//!           └────────── update ─────────┘  the only writer; driven by the watch, by reads, and by the CLI
//!
//! repository   settings, locks and watch of one repository that is open in this process
//! update       brings its index up to date
//! unindexed    finds what the index lacks during a long update, for reads that do not wait for its end
//! workspace    the repositories that this process has open
//!
//! organisation ─► PostgreSQL: published commits of many repositories
//! pytypes ─► child process with the Python type engine
//! ```
//!
//! Arrows to the right carry data into the index, arrows to the left carry requests. One process per repository does
//! all this for every client: the daemon of [`serve`]. `ixmcp mcp` is a relay to it; commands use the daemon if it is
//! running, and otherwise do the work themselves under the update lock. Commands that only read do not wait for that
//! lock while another process builds the index (`repository::provisional`).
//!
//! The `mod` lines at the end follow the data, from `scan` to `cli`. Any module may use the base modules:
//!
//! - [`model`]: plain values; [`error`]: the error type; `wording`: texts that MCP, the command line and the page each
//!   write in their own words
//! - [`budget`]: deadlines, cancellation, progress; `locked`: mutexes; `threads`: work on a list in several threads;
//!   [`panics`]: catching and reporting panics
//! - [`words`]: splitting identifiers; `cycles`: cycles of a graph; [`secrets`]: detection of secrets by name and
//!   content
//! - `git_layout`: where git keeps a repository and its worktrees; `git_settings`: the syntax of git's settings files;
//!   `git_config`: the settings in effect; `wildmatch`: git's globs; `git_objects`: commits and their files, read with
//!   git's plumbing
//! - `platform`: what differs by operating system; `child_process`: runs work that may crash in a child process
//!
//! Some modules also use [`config`] (settings; the only reader of the environment) and `dependencies` (where the
//! sources of a repository's dependencies are).
//!
//! # A file is saved
//!
//! 1. In a long-running process, `repository::watch` marks the file's path dirty, and starts an update once events stop
//!    coming. The next read (`update::schedule`) writes a cookie (a marker file) and waits for the cookie's event: by
//!    then, the events of all earlier saves have arrived. The read joins the running update or starts one. Commands do
//!    not watch; they compare all files.
//! 2. `update::rounds` runs rounds under the update lock. Each round makes a plan and applies it.
//! 3. `update::plan` stats the dirty paths ([`scan::at`]) or the whole tree ([`scan::list`]) by git's rules, and
//!    compares the result with the index to find the files to read and the files that are gone. A file whose size,
//!    times and inode are unchanged is not opened.
//! 4. `update::apply` reads and hashes these files on all cores, and calls [`extract::extract_with`] if the bytes are
//!    new: decoding, tree-sitter, chunks, symbols, references, entities, edges. A new file with the bytes of a vanished
//!    file counts as a rename. The one writer replaces all rows of a file in one transaction
//!    ([`store::Batch::replace_file`]). A transaction covers a batch of a few hundred files; between batches, other
//!    processes can take the update lock. In a first build, the same threads also index the chunks for full-text search
//!    (`update::bundles`), and the writer copies the result.
//! 5. Reads that waited continue. `update::background` then computes the vectors of new chunks ([`embed`]), a thousand
//!    at a time; a chunk whose text is unchanged keeps its vector.
//!
//! # A tool is called
//!
//! 1. `ixmcp mcp` records the request's ids (`serve::ledger`) and sends its line through `.flashgrep/mcp.sock` (the
//!    socket that clients of flashgrep know). If the daemon ends, the relay starts another: it sends reads again, and
//!    answers all other requests with an error. A call for another repository is handed to that repository's daemon.
//!    `ixmcp http` does the same for the body of an HTTP request; the hello, the first message that it sends to the
//!    daemon, restricts what the connection may do.
//! 2. A line of JSON comes in through [`serve`]; `serve::mux` finds the method, makes a [`tools::Request`] with the
//!    caller and the deadline, and hands it to a thread, where it passes through the daemon's metrics and
//!    `serve::call_router`, which chooses the process that answers.
//! 3. [`tools::Tools::plan`] decides once what the call is: the tool, its arguments, the repositories, the size of the answer, and
//!    the deadline ([`tools::CallPlan`]). The arguments are checked against the tool's own struct.
//! 4. The tool reads by a method such as `Call::read_index`: the index is brought up to date, then [`query`] runs on
//!    one snapshot, under the budget. Searches do not wait for a long update (`tools::incomplete`): they read from disk
//!    what the index lacks, or ask the update to index the files that they need first.
//! 5. The answer becomes JSON, items are dropped until it fits, and [`serve`] wraps it for MCP; plain methods return it
//!    unchanged.
//!
//! # Where a change goes
//!
//! | change | file |
//! |---|---|
//! | a tool | `tools`: a file and a row in `TOOLS` |
//! | a language | `extract::languages::table`: a row, a `.scm` file of patterns next to it, the grammar in `Cargo.toml` |
//! | a reason to skip a file | [`model::SkipReason`]; `scan::walk` decides by the kind of file, `scan::rules` by path and size, [`extract`] by the content (`extract::text`, if it is text) |
//! | a setting | [`config`]: a field of `Config` or of a struct in it, such as `Index`; its line in `Settings::resolve`, a row of `config::keys` |
//! | a slow read | `update::schedule` (how long it waits), `tools::incomplete` (what it does instead), [`unindexed`] (what the index lacks), `repository::provisional` (a command, while another process builds), [`query`] (the work itself) |
//! | a view of the web page | `serve::page::views`, and `src/serve/ui` for what is drawn |
//!
//! CONTRIBUTING.md has the steps for a tool, a language, a migration and an upgrade of the type engine.
//!
//! # Invariants
//!
//! 1. The database is derived: deleting it loses nothing but time.
//! 2. Only [`update`] changes rows; one file's rows change in one transaction.
//! 3. Incremental equals full: after any sequence of changes the database holds what a fresh build would.
//! 4. Extraction is a pure function of path, bytes, options and extractor version. It returns rows, or a reason to skip the file.
//! 5. Only [`store`] names `rusqlite`, only [`serve`] names `rmcp`, only `pytypes` the type checker's crates; [`query`]
//!    returns plain values.
//! 6. SQL is text next to its row mapping, values are bound, and user text reaches the FTS only inside quotes.
//! 7. stdout belongs to the protocol, and to `cli::output`.
//! 8. A read sees one snapshot, has a deadline, and can be cancelled.
//! 9. Nothing that a repository contains is executed, and nothing it contains can crash the process, make it hang, or
//!    make it read outside the repository.
//!
//! A table in `tests/it/tidy.rs` lists the allowed imports.

pub mod scan;

pub mod extract;

pub mod embed;

pub mod store;

pub mod repository;

pub mod update;

pub mod unindexed;

pub mod workspace;

mod pytypes;

pub mod query;

pub mod organisation;

pub mod tools;

pub mod serve;

pub mod cli;

pub mod budget;
mod child_process;
pub mod config;
mod cycles;
mod dependencies;
pub mod error;
mod git_config;
mod git_layout;
mod git_objects;
mod git_settings;
mod locked;
pub mod model;
pub mod panics;
mod platform;
#[cfg(test)]
mod random_texts;
mod secrets;
mod threads;
mod wildmatch;
mod wording;
pub mod words;
