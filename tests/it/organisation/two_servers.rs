//! Texts on two servers: partitions of the first are foreign tables of the second, as `packaging/organisation` makes them.

use serde_json::json;

use crate::organisation::publishing::{check_whole, commit_all};
use crate::organisation::server::{Organisation, Postgres};
use crate::support::harness::{Repo, Server};
use crate::worktrees::committed;

const SECOND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/organisation/second-server.sql");
const MOVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/organisation/move-partition.sql");

fn many(count: usize, generation: usize) -> Repo {
    let repo = committed("//- /first.py\nfirst = 1\n");
    change(&repo, count, generation);
    repo
}

fn change(repo: &Repo, count: usize, generation: usize) {
    for number in 0..count {
        let text = format!("def function_{number}(): return {generation}\n").repeat(20);
        repo.write(&format!("src/m{number}.py"), text);
    }
    commit_all(repo, "many");
}

#[test]
fn partitions_of_texts_lie_on_another_server() {
    let (first, mut second) = (Postgres::start(), Postgres::start());
    let organisation = Organisation::on(&first);
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = many(60, 1);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    second.script("postgres", &["-c", "CREATE DATABASE ixmcp_texts TEMPLATE template0"]);
    let socket = second.folder.to_str().unwrap();
    organisation.sql(&format!(
        "CREATE EXTENSION postgres_fdw;
        CREATE SERVER texts_2 FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (host '{socket}', dbname 'ixmcp_texts', async_capable 'true', fetch_size '1000', batch_size '100');
        CREATE USER MAPPING FOR ixmcp_owner SERVER texts_2 OPTIONS (user 'postgres', password_required 'false');
        -- For what this test counts itself.
        CREATE USER MAPPING FOR postgres SERVER texts_2 OPTIONS (user 'postgres');
        GRANT USAGE ON FOREIGN SERVER texts_2 TO ixmcp_owner"
    ));
    for part in (0..16).step_by(2) {
        let part = format!("part={part}");
        second.script("ixmcp_texts", &["-v", &part, "-f", SECOND]);
        organisation.script(&["-v", &part, "-v", "server=texts_2", "-f", MOVE]);
    }
    // What was published is still there, half of it on the second server.
    check_whole(&organisation, &[61]);
    let of_second = |what: &str| {
        let parts = (0..16).step_by(2).map(|part| format!("SELECT {what} FROM contents_{part}"));
        second_sql(&second, &format!("SELECT sum(n) FROM ({}) x(n)", parts.collect::<Vec<_>>().join(" UNION ALL ")))
    };
    let moved: u32 = of_second("count(*)").parse().unwrap();
    assert!((10..=50).contains(&moved), "{moved}");
    // Both search at the same time, the second where the texts lie.
    let plan = organisation
        .sql("EXPLAIN (VERBOSE, COSTS OFF) SELECT key FROM ixmcp.contents WHERE lower(content) LIKE '%function_7%'");
    assert_eq!(plan.matches("Async Foreign Scan").count(), 8, "{plan}");
    assert!(
        plan.contains("Remote SQL: SELECT key FROM public.contents_0 WHERE ((lower(content) ~~ '%function_7%'"),
        "{plan}"
    );
    let with = "SELECT count(*) FROM ixmcp.files_with(ARRAY['pay'], ARRAY['function_'], 1000)";
    assert_eq!(organisation.sql_as(&team, with).unwrap(), "60");
    // Publishing, searching and sweeping.
    change(&repo, 60, 2);
    let report = organisation.json(&repo, &team, &["publish", "--as", "pay"]);
    assert_eq!((&report["changed"], &report["sent"]), (&60.into(), &60.into()), "{report}");
    check_whole(&organisation, &[61]);
    organisation.ok(&many(40, 2), &team, &["publish", "--as", "shop"]);
    let asking = Repo::new("//- /own.md\nnothing\n");
    let mut client = Server::start_mcp(organisation.command(&asking, &team, &["mcp", "--no-daemon"]));
    let search = json!({ "text": "return 2", "mode": "literal", "repo": "org:*", "limit": 1, "timeout_ms": 120_000 });
    assert_eq!(client.tool("query", &search)["total"], 100 * 20);
    organisation.admin(&["org", "sweep", "--older-than", "0"]);
    check_whole(&organisation, &[61, 41]);
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.contents"), "61");
    // A publication that ends on the first server alone leaves a text on the second, which does not hinder the next.
    let inserted = "BEGIN; INSERT INTO ixmcp.contents SELECT sha256(convert_to(t, 'UTF8')), t FROM
        (SELECT 'def late_' || n || '(): pass' || chr(10) FROM generate_series(1, 20) n) x(t) ON CONFLICT DO NOTHING; COMMIT";
    organisation.sql(inserted);
    for number in 1..=20 {
        repo.write(&format!("late/m{number}.py"), format!("def late_{number}(): pass\n"));
    }
    commit_all(&repo, "late");
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    check_whole(&organisation, &[81, 41]);
    // Without the second server nothing that needs it is answered or published, and nothing is lost.
    second.kill();
    change(&repo, 60, 3);
    let error = organisation.fails(&repo, &team, &["publish", "--as", "pay"]);
    assert!(error.contains("UNREACHABLE"), "{error}");
    second.run();
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    check_whole(&organisation, &[81, 41]);
    let search = json!({ "text": "return 3", "mode": "literal", "repo": "org:pay", "limit": 1 });
    assert_eq!(client.tool("query", &search)["total"], 60 * 20);
}

fn second_sql(server: &Postgres, statement: &str) -> String {
    server.script("ixmcp_texts", &["-c", statement]).trim().to_owned()
}
