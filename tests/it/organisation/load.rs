//! Many publishers and clients at the same time, and a server that crashes meanwhile: no publication is lost or torn.
//!
//! `.ci/soak organisation` runs it in full: `IXMCP_ORG_SECONDS`, `IXMCP_ORG_PUBLISHERS` and `IXMCP_ORG_CLIENTS` say how long and how many.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::organisation::publishing::{check_whole, commit_all};
use crate::organisation::server::{Organisation, Postgres};
use crate::support::harness::{Repo, Server};
use crate::support::sound::number;
use crate::worktrees::committed;

/// Files that each commit changes together.
const FILES: usize = 5;
/// Errors after which the same call may be made again.
const RETRYABLE: &[&str] = &["BUSY", "UNREACHABLE", "TIMEOUT"];

/// A publisher: of its own repository, or of one of two with equal names.
struct Publisher {
    number: usize,
    name: String,
    repo: Repo,
    is_alone: bool,
}

impl Publisher {
    fn new(number: usize, of: usize) -> Self {
        // The last two publish as one name.
        let is_alone = number + 2 < of;
        let name = if is_alone { format!("load-{number}") } else { "load-shared".to_owned() };
        Self { number, name, repo: committed("//- /kept.py\nkept = 1\n"), is_alone }
    }

    fn commit(&self, at: u64) {
        for file in 0..FILES {
            let rest = format!("# {}\n", at * 31 % 7).repeat(50);
            let text = format!("marker_{}_{at} = {file}\ndef in_{at}_{file}(): pass\n{rest}", self.number);
            self.repo.write(&format!("src/m{file}.py"), text);
        }
        commit_all(&self.repo, "next");
    }

    /// Whether it was published. Any error must be one after which it may be tried again.
    fn publish(&self, organisation: &Organisation, role: &str) -> bool {
        let mut arguments = vec!["publish", "--as", &self.name];
        if !self.is_alone {
            arguments.push("--force");
        }
        let output = organisation.command(&self.repo, role, &arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || is_retryable(&error), "{}: {error}", self.name);
        output.status.success()
    }
}

fn is_retryable(error: &str) -> bool {
    RETRYABLE.iter().any(|code| error.contains(code))
}

/// Checks an answer: what is found of each repository is of one commit, and not older than `least`. How many repositories it has.
fn check(answer: &Value, least: &BTreeMap<String, u64>) -> usize {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    if result["isError"] == true {
        assert!(is_retryable(text), "{answer}");
        return 0;
    }
    let found = &result["structuredContent"];
    for problem in found["problems"].as_array().into_iter().flatten() {
        assert!(is_retryable(problem["reason"].as_str().unwrap()), "{answer}");
    }
    if found["indexing"].is_object() {
        return 0;
    }
    let mut markers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for hit in found["results"].as_array().unwrap_or_else(|| panic!("{answer}")) {
        let preview = hit["preview"].as_str().unwrap().split(' ').next().unwrap();
        markers.entry(hit["repo"].as_str().unwrap()).or_default().push(preview);
    }
    for (repo, of) in &markers {
        assert_eq!(of.len(), FILES, "{repo} {of:?}");
        assert!(of.iter().all(|marker| marker == &of[0]), "{repo} is torn: {of:?}");
        let at: u64 = of[0].rsplit('_').next().unwrap().parse().unwrap();
        let expected = least.get(*repo).copied().unwrap_or_default();
        assert!(at >= expected, "{repo}: {at} was found after {expected} was published");
    }
    markers.len()
}

#[test]
fn no_publication_is_lost_or_torn_under_load_and_a_crash_of_the_server() {
    let seconds = number("IXMCP_ORG_SECONDS", 3);
    let publishers = usize::try_from(number("IXMCP_ORG_PUBLISHERS", 4)).unwrap();
    let clients = usize::try_from(number("IXMCP_ORG_CLIENTS", 2)).unwrap();
    let mut server = Postgres::start();
    let organisation = Organisation::on(&server);
    let role = organisation.role("team", "*", &["--publish"]);
    let reader = organisation.role("reader", "load-*", &[]);
    let all: Vec<Publisher> = (0..publishers).map(|number| Publisher::new(number, publishers)).collect();
    for publisher in &all {
        publisher.commit(1);
        assert!(publisher.publish(&organisation, &role));
    }
    // The newest commit of each that is certainly published.
    let newest: Vec<AtomicU64> = all.iter().map(|_| AtomicU64::new(1)).collect();
    let (published, refused, answers, seen) =
        (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let end = Instant::now() + Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        for publisher in &all {
            scope.spawn(|| {
                let mut at = 1;
                while Instant::now() < end {
                    at += 1;
                    publisher.commit(at);
                    if publisher.publish(&organisation, &role) {
                        published.fetch_add(1, Ordering::Relaxed);
                        newest[publisher.number].store(at, Ordering::SeqCst);
                    } else {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for number in 0..clients {
            let (all, newest, organisation, reader, answers, seen) =
                (&all, &newest, &organisation, &reader, &answers, &seen);
            scope.spawn(move || {
                let asking = Repo::new("//- /own.md\nnothing\n");
                let mut client = Server::start_mcp(organisation.command(&asking, reader, &["mcp", "--no-daemon"]));
                // The system limits how many folders the processes of a user watch.
                let one = |of: usize| format!("org:load-{}", of % (publishers - 2));
                let scope = json!([one(number), one(number + 1), "org:load-shared"]);
                let search = json!({ "text": "marker_", "mode": "literal", "repo": scope, "limit": 1000 });
                while Instant::now() < end {
                    let alone = all.iter().filter(|publisher| publisher.is_alone);
                    let least = alone
                        .map(|one| (format!("org:{}", one.name), newest[one.number].load(Ordering::SeqCst)))
                        .collect();
                    let answer = client.response("tools/call", &json!({ "name": "query", "arguments": search }));
                    seen.fetch_max(check(&answer, &least) as u64, Ordering::Relaxed);
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(Duration::from_secs(seconds) / 2);
        server.kill();
        std::thread::sleep(Duration::from_millis(500));
        server.run();
    });
    // What was interrupted is published when it is tried again.
    for publisher in &all {
        let attempts = (0..10).take_while(|_| !publisher.publish(&organisation, &role)).count();
        assert!(attempts < 10, "{} cannot be published", publisher.name);
    }
    check_whole(&organisation, &[FILES + 1]);
    organisation.admin(&["org", "sweep", "--older-than", "0"]);
    check_whole(&organisation, &[FILES + 1]);
    let left = "SELECT (SELECT count(*) FROM ixmcp.uploads), (SELECT count(*) FROM ixmcp.texts t
        WHERE NOT EXISTS (SELECT FROM ixmcp.files f WHERE f.key = t.key)), (SELECT count(*) FROM ixmcp.contents c
        WHERE NOT EXISTS (SELECT FROM ixmcp.texts t WHERE t.key = c.key))";
    assert_eq!(organisation.sql(left), "0|0|0");
    let asking = Repo::new("//- /own.md\nnothing\n");
    let mut client = Server::start_mcp(organisation.command(&asking, &reader, &["mcp", "--no-daemon"]));
    let search = json!({ "text": "marker_", "mode": "literal", "repo": "org:load-*", "limit": 1000 });
    let found = client.tool("query", &search);
    let names = publishers - usize::from(publishers > 1);
    assert_eq!(check(&json!({ "result": { "structuredContent": found } }), &BTreeMap::new()), names, "{found}");
    println!(
        "{seconds} s: {} publications, {} to be repeated, {} answers of up to {} repositories",
        published.into_inner(),
        refused.into_inner(),
        answers.into_inner(),
        seen.into_inner()
    );
}
