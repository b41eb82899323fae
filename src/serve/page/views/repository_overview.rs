//! The view `overview` of the web page: what a newcomer wants to know about a repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::query::overview::{self, Central, Folder};
use crate::tools::{self, Access, Call, Declaration, declare};

pub(super) static OVERVIEW: Declaration = declare! {
    run;
    name: "overview",
    title: "Overview of the repository",
    about: "The largest folders, the symbols that most files reference, the latest changes and commits, and open entities.",
    access: Access::Read,
    core: false,
    list: None,
    example: "{}",
};

/// `overview` takes no arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

#[derive(Serialize, JsonSchema)]
struct Answer {
    folders: Vec<Folder>,
    symbols: Vec<Central>,
    latest: Vec<Latest>,
    open: Vec<OpenEntity>,
    total_open: usize,
    commits: Vec<CommitNote>,
}

#[derive(Clone, Serialize, JsonSchema)]
struct CommitNote {
    subject: String,
    when: String,
}

#[derive(Serialize, JsonSchema)]
struct Latest {
    file: String,
    modified: String,
}

#[derive(Serialize, JsonSchema)]
struct OpenEntity {
    id: String,
    kind: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
}

const LATEST: u32 = 12;
const OPEN: usize = 12;
const COMMITS: usize = 12;
const MAX_SUBJECT: usize = 200;

fn run(call: &Call, _: &Arguments) -> Result<Answer> {
    // Without git, or without commits, there are none.
    let commits = call.workspace().history.latest(COMMITS, call.budget()).unwrap_or_default().into_iter();
    let commits = commits.map(|(seconds, subject)| CommitNote {
        subject: subject.chars().take(MAX_SUBJECT).collect(),
        when: tools::stats::instant(seconds.saturating_mul(1_000_000_000)),
    });
    let commits: Vec<CommitNote> = commits.collect();
    call.read_now(|snapshot, _| {
        let (open, total_open) = overview::open_entities(snapshot, OPEN)?;
        let open = open.into_iter().map(|entity| OpenEntity {
            id: entity.key,
            kind: entity.kind,
            title: entity.title,
            status: entity.status,
        });
        let latest = snapshot.latest_files(LATEST)?.into_iter();
        let latest = latest.map(|(file, at)| Latest { file, modified: tools::stats::instant(at) });
        Ok(Answer {
            folders: overview::folders(snapshot)?,
            symbols: overview::central(snapshot)?,
            latest: latest.collect(),
            open: open.collect(),
            total_open,
            commits: commits.clone(),
        })
    })
}
