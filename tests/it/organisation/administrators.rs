//! Administrators and servers as they are: without a superuser, with roles that do not inherit, with other settings and encodings.

use expect_test::expect;

use crate::organisation::publishing::{PAY, check_whole};
use crate::organisation::server::{Organisation, Postgres, shared};
use crate::support::harness::Repo;
use crate::worktrees::committed;

#[test]
fn an_administrator_that_is_not_a_superuser_prepares_a_server_and_lets_others_do_so() {
    // Roles of the schema belong to their creator.
    let server = Postgres::start();
    let organisation = Organisation::without_schema(&server);
    let owner = organisation.role_that("owner", "LOGIN CREATEROLE");
    organisation.sql(&format!("ALTER DATABASE {} OWNER TO {owner}", organisation.database));
    let repo = committed(PAY);
    let run = |role: &str, arguments: &[&str]| organisation.ok(&repo, role, arguments);
    let applied = run(&owner, &["org", "init"]);
    assert!(applied.starts_with("applied V1__schema\n"), "{applied}");
    assert_eq!(run(&owner, &["org", "init"]), "the schema is up to date\n");
    let team = format!("team_of_{owner}");
    organisation.sql_as(&owner, &format!("CREATE ROLE {team} LOGIN")).unwrap();
    run(&owner, &["org", "grant", &team, "*", "--publish"]);
    run(&team, &["publish", "--as", "pay"]);
    assert_eq!(organisation.seen_by(&team), ["pay"]);
    assert_eq!(organisation.seen_by(&owner), ["pay"]);
    check_whole(&organisation, &[2]);
    // Another one has nothing to do, and may not do anything else yet.
    let second = organisation.ungranted_role("second");
    let state = || organisation.sql("SELECT count(*) FROM pg_auth_members");
    let before = state();
    assert_eq!(run(&second, &["org", "init"]), "the schema is up to date\n");
    assert_eq!(state(), before);
    let grant = ["org", "grant", &team, "shop", "--publish"];
    let mut refused = String::new();
    for arguments in [&grant[..], &["org", "sweep"], &["org", "grant", &team, "*", "--revoke"]] {
        refused += &organisation.fails(&repo, &second, arguments);
    }
    expect![[r#"
        ixmcp: READ_ONLY: the role may not do that: permission denied for schema ixmcp. Run it as a superuser, or as a role with CREATEROLE that owns the database. The administrator that ran `ixmcp org init` first lets others do so: `GRANT ixmcp_owner TO ROLE`.
        ixmcp: READ_ONLY: the role may not do that: permission denied for schema ixmcp. Run it as a superuser, or as a role with CREATEROLE that owns the database. The administrator that ran `ixmcp org init` first lets others do so: `GRANT ixmcp_owner TO ROLE`.
        ixmcp: READ_ONLY: the role may not do that: permission denied for schema ixmcp. Run it as a superuser, or as a role with CREATEROLE that owns the database. The administrator that ran `ixmcp org init` first lets others do so: `GRANT ixmcp_owner TO ROLE`.
    "#]].assert_eq(&refused);
    organisation.sql_as(&owner, &format!("GRANT ixmcp_owner TO {second}")).unwrap();
    run(&second, &grant);
    run(&second, &["org", "sweep"]);
    assert_eq!(run(&second, &["org", "init"]), "the schema is up to date\n");
    let third = organisation.ungranted_role("third");
    run(&second, &["org", "grant", &third, "pay"]);
    assert_eq!(organisation.seen_by(&third), ["pay"]);
}

#[test]
fn an_administrator_without_the_rights_is_asked_for_those_and_not_for_a_grant() {
    let server = Postgres::start();
    let organisation = Organisation::without_schema(&server);
    let repo = Repo::new("");
    let plain = organisation.ungranted_role("plain");
    let maker = organisation.role_that("maker", "LOGIN CREATEROLE");
    let of_plain = organisation.fails(&repo, &plain, &["org", "init"]);
    let of_maker = organisation.fails(&repo, &maker, &["org", "init"]);
    expect![[r#"
        ixmcp: READ_ONLY: the role may not do that: permission denied to create role. Run it as a superuser, or as a role with CREATEROLE that owns the database. The administrator that ran `ixmcp org init` first lets others do so: `GRANT ixmcp_owner TO ROLE`.
        ixmcp: READ_ONLY: the role may not do that: permission denied for database DATABASE. Run it as a superuser, or as a role with CREATEROLE that owns the database. The administrator that ran `ixmcp org init` first lets others do so: `GRANT ixmcp_owner TO ROLE`.
    "#]].assert_eq(&(of_plain + &of_maker).replace(&organisation.database, "DATABASE"));
    assert_eq!(organisation.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'ixmcp'"), "0");
}

#[test]
fn the_creator_of_a_teams_role_reads_nothing_that_was_not_granted() {
    let organisation = Organisation::new();
    let pay = organisation.role("pay", "pay-*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &pay, &["publish", "--as", "pay-api"]);
    let maker = organisation.role_that("maker", "LOGIN CREATEROLE");
    organisation.admin(&["org", "grant", &maker, "own-*"]);
    let made = format!("made_by_{maker}");
    organisation.sql_as(&maker, &format!("CREATE ROLE {made} LOGIN")).unwrap();
    organisation.admin(&["org", "grant", &made, "pay-*", "--publish"]);
    assert_eq!(organisation.seen_by(&made), ["pay-api"]);
    assert_eq!(organisation.seen_by(&maker), [""; 0]);
    for statement in [
        "SELECT path FROM ixmcp.files_of(ARRAY['pay-api'])",
        "SELECT path FROM ixmcp.files_with(ARRAY['*'], ARRAY['charge'], 10)",
        "SELECT content FROM ixmcp.texts_of(ARRAY[sha256('def charge_card(card):\n    return card\n')])",
    ] {
        assert_eq!(organisation.sql_as(&maker, statement).unwrap(), "", "{statement}");
        assert_ne!(organisation.sql_as(&made, statement).unwrap(), "", "{statement}");
    }
    let error = organisation.fails(&repo, &maker, &["publish", "--as", "pay-api"]);
    expect![[r#"
        ixmcp: READ_ONLY: the role MAKER may not publish pay-api. An administrator grants it with `ixmcp org grant ROLE PATTERN --publish`.
    "#]].assert_eq(&error.replace(&maker, "MAKER"));
    // What it grants itself, it has.
    organisation.sql_as(&maker, &format!("GRANT {made} TO {maker}")).unwrap();
    assert_eq!(organisation.seen_by(&maker), ["pay-api"]);
}

#[test]
fn a_role_that_does_not_inherit_is_asked_to_and_may_act_as_the_granted_one() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "pay*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    let alice = organisation.role_that("alice", "LOGIN NOINHERIT");
    organisation.sql(&format!("GRANT {team} TO {alice}"));
    let error = organisation.fails(&repo, &alice, &["org", "status"]);
    expect![[r#"
        ixmcp: READ_ONLY: the role does not inherit what it was granted. An administrator changes that: `ALTER ROLE … INHERIT` (from PostgreSQL 16 on, grant again `WITH INHERIT TRUE`). To act as a granted role instead, add `options=-c%20role%3DROLE` to the address.
    "#]].assert_eq(&error);
    // PgBouncer 1.18 does not pass options on.
    if !organisation.is_pooled() {
        let acting = format!("{}&options=-c%20role%3D{team}", organisation.url(&alice));
        let run = |arguments: &[&str]| {
            let output = repo.command(arguments).env("IXMCP_ORG_URL", &acting).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        assert!(run(&["org", "status"]).starts_with("pay "));
        run(&["publish", "--as", "pay-next"]);
        assert_eq!(organisation.seen_by(&team), ["pay", "pay-next"]);
    }
    let is_16 = organisation.sql("SELECT current_setting('server_version_num')::int >= 160000") == "t";
    organisation.sql(&if is_16 {
        format!("GRANT {team} TO {alice} WITH INHERIT TRUE")
    } else {
        format!("ALTER ROLE {alice} INHERIT")
    });
    assert_eq!(organisation.seen_by(&alice), organisation.seen_by(&team));
}

#[test]
fn the_syntax_of_literals_that_a_server_has_changes_nothing() {
    let organisation = Organisation::without_schema(shared());
    organisation.sql(&format!("ALTER DATABASE {} SET standard_conforming_strings = off", organisation.database));
    organisation.admin(&["org", "init"]);
    let team = organisation.role("team", "pay-*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay-api"]);
    let found = organisation.ok(
        &Repo::new("//- /own.md\nnothing\n"),
        &team,
        &["query", "charge_card", "--mode", "literal", "--repo", "org:pay-*"],
    );
    expect![[r#"
        org:pay-api/pay.py:1  [charge_card]
            def charge_card(card):
    "#]]
    .assert_eq(&found);
    assert!(organisation.ok(&repo, &team, &["org", "status", "pay-*"]).starts_with("pay-api "));
}

#[test]
fn a_database_with_another_encoding_is_refused_before_anything_is_made() {
    let mut refused = String::new();
    for encoding in ["LATIN1", "SQL_ASCII"] {
        let organisation = Organisation::with_locale(shared(), &format!("ENCODING {encoding} LOCALE 'C'"));
        refused += &organisation.fails(&Repo::new(""), organisation.administrator(), &["org", "init"]);
        assert_eq!(organisation.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'ixmcp'"), "0");
    }
    expect![[r#"
        ixmcp: UNSUPPORTED_FORMAT: the database has the encoding LATIN1, and texts need UTF8. Make another in psql: `CREATE DATABASE ixmcp TEMPLATE template0 ENCODING UTF8`.
        ixmcp: UNSUPPORTED_FORMAT: the database has the encoding SQL_ASCII, and texts need UTF8. Make another in psql: `CREATE DATABASE ixmcp TEMPLATE template0 ENCODING UTF8`.
    "#]].assert_eq(&refused);
}

/// `default_toast_compression` lists the methods that a server was built with.
#[test]
fn texts_are_compressed_with_lz4_where_the_server_has_it() {
    let organisation = Organisation::new();
    let has_lz4 = "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'";
    let expected = if organisation.sql(has_lz4) == "t" { "16" } else { "0" };
    let compressed = "SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relname LIKE 'contents\\__%' AND c.relkind = 'r' AND a.attname = 'content' AND a.attcompression = 'l'";
    assert_eq!(organisation.sql(compressed), expected);
}
