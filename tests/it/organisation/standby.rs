//! A server with a standby: reads may go there, publications never.

use expect_test::expect;

use crate::organisation::publishing::{PAY, commit_all};
use crate::organisation::server::{Organisation, Postgres};
use crate::support::harness::Repo;
use crate::worktrees::committed;

#[test]
fn reads_go_to_the_server_that_the_address_wants_and_writes_to_the_primary() {
    let primary = Postgres::start();
    let standby = primary.standby();
    let organisation = Organisation::on(&primary);
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    primary.wait_for(&standby);
    // From here on they differ.
    standby.script("postgres", &["-c", "SELECT pg_wal_replay_pause()"]);
    repo.write("pay.py", "def second(): pass\n");
    commit_all(&repo, "second");
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    let (both, turned) = ([&standby, &primary], [&primary, &standby]);
    let run = |servers: &[&Postgres], wanted: &str, arguments: &[&str]| {
        let parameters = if wanted.is_empty() { String::new() } else { format!("&target_session_attrs={wanted}") };
        let url = organisation.url_of(&team, servers, &parameters);
        let output = repo.command(arguments).env("IXMCP_ORG_URL", url).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    };
    let generation = |servers: &[&Postgres], wanted: &str| {
        let listed =
            run(servers, wanted, &["org", "status", "--json"]).unwrap_or_else(|error| panic!("{wanted}: {error}"));
        serde_json::from_str::<serde_json::Value>(&listed).unwrap()["repositories"][0]["generation"].as_u64().unwrap()
    };
    for (wanted, of_both, of_turned) in [
        ("", 1, 2),
        ("any", 1, 2),
        ("read-write", 2, 2),
        ("primary", 2, 2),
        ("read-only", 1, 1),
        ("standby", 1, 1),
        ("prefer-standby", 1, 1),
    ] {
        assert_eq!((generation(&both, wanted), generation(&turned, wanted)), (of_both, of_turned), "{wanted}");
    }
    assert_eq!((generation(&[&primary], "prefer-standby"), generation(&[&standby], "prefer-standby")), (2, 1));
    let mut refused = String::new();
    for (servers, wanted) in
        [([&primary], "standby"), ([&primary], "read-only"), ([&standby], "primary"), ([&standby], "read-write")]
    {
        refused += &run(&servers, wanted, &["org", "status"]).unwrap_err();
    }
    expect![[r#"
        ixmcp: UNREACHABLE: the address of the organisation wants a standby, and names none. Change target_session_attrs, or name more hosts.
        ixmcp: UNREACHABLE: the address of the organisation wants a server that cannot be written, and names none. Change target_session_attrs, or name more hosts.
        ixmcp: UNREACHABLE: the address of the organisation wants a primary server, and names none. Change target_session_attrs, or name more hosts.
        ixmcp: UNREACHABLE: the address of the organisation wants a server that can be written, and names none. Change target_session_attrs, or name more hosts.
    "#]].assert_eq(&refused);
    // A whole search of a standby.
    let asking = Repo::new("//- /own.md\nnothing\n");
    let search = ["query", "charge_card", "--mode", "literal", "--repo", "org:*"];
    let url = organisation.url_of(&team, &[&standby], "");
    let found = asking.command(&search).env("IXMCP_ORG_URL", &url).output().unwrap();
    expect![[r#"
        org:pay/pay.py:1  [charge_card]
            def charge_card(card):
    "#]]
    .assert_eq(&String::from_utf8(found.stdout).unwrap());
    // What writes finds the primary in any order, whatever is wanted for reads, and is refused by a standby alone.
    for (number, wanted) in ["", "any", "standby", "read-only", "prefer-standby", "primary"].iter().enumerate() {
        let name = format!("shop-{number}");
        run(&both, wanted, &["publish", "--as", &name]).unwrap_or_else(|error| panic!("{wanted}: {error}"));
        run(&turned, wanted, &["unpublish", "--as", &name]).unwrap_or_else(|error| panic!("{wanted}: {error}"));
    }
    let mut refused = String::new();
    for arguments in
        [&["publish", "--as", "pay"][..], &["unpublish", "--as", "pay"], &["org", "sweep"], &["org", "init"]]
    {
        refused += &run(&[&standby], "", arguments).unwrap_err();
    }
    expect![[r#"
        ixmcp: READ_ONLY: the organisation's server cannot be written: it is a standby. Nothing was changed. Name the primary in the address, as HOST1,HOST2 next to the standby.
        ixmcp: READ_ONLY: the organisation's server cannot be written: it is a standby. Nothing was changed. Name the primary in the address, as HOST1,HOST2 next to the standby.
        ixmcp: READ_ONLY: the organisation's server cannot be written: it is a standby. Nothing was changed. Name the primary in the address, as HOST1,HOST2 next to the standby.
        ixmcp: READ_ONLY: the organisation's server cannot be written: it is a standby. Nothing was changed. Name the primary in the address, as HOST1,HOST2 next to the standby.
    "#]].assert_eq(&refused);
    // A primary that does not answer may be written again.
    let gone = std::path::Path::new("/not/there");
    let url = organisation
        .url_of(&team, &[&standby], "")
        .replace("?host=", &format!("?host={},", gone.display()).replace('/', "%2F"));
    let output = repo.command(&["publish", "--as", "pay"]).env("IXMCP_ORG_URL", url).output().unwrap();
    expect![[r#"
        ixmcp: UNREACHABLE: the organisation's server does not answer: error connecting to server: No such file or directory (os error 2). Check its address and that it runs; then try again.
    "#]].assert_eq(&String::from_utf8(output.stderr).unwrap());
}
