//! Attacks: what a role without grants, another team, and a hostile publisher can learn or change.

use expect_test::expect;

use crate::organisation::server::Organisation;
use crate::worktrees::{committed, git};

const PAY: &str = "//- /pay.py\ndef charge_card(card):\n    return card\n";
const SHOP: &str = "//- /shop.py\ndef checkout(cart):\n    return cart\n";
const SECRET: &str = "def charge_card(card):\n    return card\n";

/// Two teams, each with a repository of its own.
fn two_teams() -> (Organisation, String, String) {
    let organisation = Organisation::new();
    let pay = organisation.role("pay", "pay-*", &["--publish"]);
    let shop = organisation.role("shop", "shop-*", &["--publish"]);
    organisation.ok(&committed(PAY), &pay, &["publish", "--as", "pay-api"]);
    organisation.ok(&committed(SHOP), &shop, &["publish", "--as", "shop-web"]);
    (organisation, pay, shop)
}

fn begin(organisation: &Organisation, role: &str, name: &str) -> String {
    organisation.sql_as(role, &format!("SELECT upload FROM ixmcp.begin_publication('{name}')")).unwrap()
}

#[test]
fn a_role_sees_what_it_was_granted_and_nothing_else() {
    let (organisation, pay, shop) = two_teams();
    assert_eq!(organisation.seen_by(&pay), ["pay-api"]);
    assert_eq!(organisation.seen_by(&shop), ["shop-web"]);
    let defined = organisation.sql(
        "SELECT d.terms[1] FROM ixmcp.derived d JOIN ixmcp.files f ON f.key = d.key JOIN ixmcp.repos r ON r.id = f.repo WHERE r.name = 'pay-api'",
    );
    for statement in [
        "SELECT repo FROM ixmcp.files_of(ARRAY['pay-api'])",
        "SELECT repo FROM ixmcp.files_with(ARRAY['pay-api'], ARRAY['charge'], 10)",
        "SELECT repo FROM ixmcp.files_with(ARRAY['*'], ARRAY['charge'], 10)",
        "SELECT repo FROM ixmcp.files_with(ARRAY['*', 'pay-*'], ARRAY[E'CARD\ncharge'], 10)",
        &format!("SELECT repo FROM ixmcp.files_defining(ARRAY['*'], ARRAY[{defined}], 10)"),
        &format!("SELECT content FROM ixmcp.texts_of(ARRAY[sha256('{SECRET}')])"),
        "SELECT name FROM ixmcp.repositories('pay*')",
    ] {
        assert_eq!(organisation.sql_as(&shop, statement).unwrap(), "", "{statement}");
        assert_ne!(organisation.sql_as(&pay, statement).unwrap(), "", "{statement}");
    }
    // A grant holds for what is published later, too, and ends when it is taken back.
    organisation.admin(&["org", "grant", &shop, "pay-*"]);
    assert_eq!(organisation.seen_by(&shop), ["pay-api", "shop-web"]);
    organisation.ok(&committed(PAY), &pay, &["publish", "--as", "pay-web"]);
    assert_eq!(organisation.seen_by(&shop), ["pay-api", "pay-web", "shop-web"]);
    organisation.admin(&["org", "grant", &shop, "pay-*", "--revoke"]);
    assert_eq!(organisation.seen_by(&shop), ["shop-web"]);
    // Members of a granted role have its grants.
    let alice = organisation.ungranted_role("alice");
    organisation.sql(&format!("GRANT {pay} TO {alice}"));
    assert_eq!(organisation.seen_by(&alice), ["pay-api", "pay-web"]);
}

#[test]
fn a_role_without_grants_cannot_call_or_read_anything() {
    let (organisation, ..) = two_teams();
    let stranger = organisation.ungranted_role("stranger");
    for statement in [
        "SELECT ixmcp.protocol()",
        "SELECT * FROM ixmcp.repositories('*')",
        "SELECT * FROM ixmcp.texts",
        "SELECT * FROM ixmcp.begin_publication('pay-api')",
    ] {
        let error = organisation.sql_as(&stranger, statement).unwrap_err();
        assert_eq!(error.lines().next(), Some("ERROR:  permission denied for schema ixmcp"), "{statement}");
    }
}

#[test]
fn tables_and_functions_of_the_owner_are_closed_to_teams() {
    let (organisation, pay, _) = two_teams();
    for table in [
        "repos",
        "files",
        "texts",
        "contents",
        "contents_0",
        "derived",
        "granted",
        "rules",
        "members",
        "trust_groups",
        "uploads",
        "claims",
        "staged",
    ] {
        for statement in [format!("SELECT * FROM ixmcp.{table}"), format!("DELETE FROM ixmcp.{table}")] {
            let error = organisation.sql_as(&pay, &statement).unwrap_err();
            assert_eq!(error, format!("ERROR:  permission denied for table {table}"), "{statement}");
        }
    }
    let mut refused = String::new();
    for statement in [
        "SELECT ixmcp.sweep(0)".to_owned(),
        format!("SELECT ixmcp.grant_repos('{pay}', '*', true, NULL)"),
        format!("SELECT ixmcp.revoke_repos('{pay}', '*')"),
        "SELECT ixmcp.caller()".to_owned(),
        "SELECT ixmcp.readable()".to_owned(),
        "SELECT ixmcp.readable_named(ARRAY['pay-api'])".to_owned(),
        "SELECT ixmcp.readable_like(ARRAY['*'])".to_owned(),
        "SELECT ixmcp.likes_of('x')".to_owned(),
        "SELECT ixmcp.has_text(1, '')".to_owned(),
        "SELECT ixmcp.reads_everything()".to_owned(),
        "SELECT ixmcp.opened('')".to_owned(),
        "SELECT ixmcp.unpacked('', ARRAY[1])".to_owned(),
        "SET ROLE ixmcp_owner".to_owned(),
        "CREATE TABLE ixmcp.mine (x int)".to_owned(),
        "CREATE FUNCTION ixmcp.protocol() RETURNS int LANGUAGE sql AS 'SELECT 2'".to_owned(),
    ] {
        let error = organisation.sql_as(&pay, &statement).unwrap_err();
        refused += &format!("{statement}\n  {}\n", error.lines().next().unwrap());
    }
    expect![[r#"
        SELECT ixmcp.sweep(0)
          ERROR:  permission denied for function sweep
        SELECT ixmcp.grant_repos('PAY', '*', true, NULL)
          ERROR:  permission denied for function grant_repos
        SELECT ixmcp.revoke_repos('PAY', '*')
          ERROR:  permission denied for function revoke_repos
        SELECT ixmcp.caller()
          ERROR:  permission denied for function caller
        SELECT ixmcp.readable()
          ERROR:  permission denied for function readable
        SELECT ixmcp.readable_named(ARRAY['pay-api'])
          ERROR:  permission denied for function readable_named
        SELECT ixmcp.readable_like(ARRAY['*'])
          ERROR:  permission denied for function readable_like
        SELECT ixmcp.likes_of('x')
          ERROR:  permission denied for function likes_of
        SELECT ixmcp.has_text(1, '')
          ERROR:  permission denied for function has_text
        SELECT ixmcp.reads_everything()
          ERROR:  permission denied for function reads_everything
        SELECT ixmcp.opened('')
          ERROR:  permission denied for function opened
        SELECT ixmcp.unpacked('', ARRAY[1])
          ERROR:  permission denied for function unpacked
        SET ROLE ixmcp_owner
          ERROR:  permission denied to set role "ixmcp_owner"
        CREATE TABLE ixmcp.mine (x int)
          ERROR:  permission denied for schema ixmcp
        CREATE FUNCTION ixmcp.protocol() RETURNS int LANGUAGE sql AS 'SELECT 2'
          ERROR:  permission denied for schema ixmcp
    "#]]
    .assert_eq(&refused.replace(&pay, "PAY"));
    // Every function that runs as the owner has a fixed search path: what a caller creates does not replace a table.
    let open = "SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_roles r ON r.oid = p.proowner
        WHERE n.nspname = 'ixmcp' AND r.rolname = 'ixmcp_owner'
        AND NOT coalesce(p.proconfig::text LIKE '%search_path=pg_catalog, ixmcp, pg_temp%', false)";
    assert_eq!(organisation.sql(open), "");
    let shadow =
        "CREATE TEMP TABLE repos AS SELECT 1 AS id, 'pay-api' AS name; SELECT name FROM ixmcp.repositories('*')";
    assert_eq!(organisation.sql_as(&pay, shadow).unwrap(), "pay-api");
}

#[test]
fn nothing_reports_whether_a_text_exists_that_the_caller_cannot_read() {
    let (organisation, _, shop) = two_teams();
    let upload = begin(&organisation, &shop, "shop-web");
    let missing = |text: &str| {
        let statement = format!("SELECT count(*) FROM ixmcp.missing({upload}, ARRAY[sha256('{text}')])");
        organisation.sql_as(&shop, &statement).unwrap()
    };
    // Another team's text must be sent in full, like one that no repository has.
    assert_eq!(missing(SECRET), "1");
    assert_eq!(missing("never seen"), "1");
    assert_eq!(missing("def checkout(cart):\n    return cart\n"), "0");
    // The same through the program: the whole text is sent, and its file is the caller's own.
    let copy = committed(PAY);
    let report = organisation.json(&copy, &shop, &["publish", "--as", "shop-copy"]);
    assert_eq!(report["sent"], 1, "{report}");
    let texts = organisation.sql("SELECT count(*) FROM ixmcp.texts");
    assert_eq!(texts, "2", "the text is stored once");
}

/// How many more pages the first of two statements reads than the second, in a session with that `plan_cache_mode`. Any role can set it.
/// The statements take turns and the median counts: the first executions fill caches, and other tests add roles to `pg_authid`, which
/// every call reads.
fn more_pages(organisation: &Organisation, role: &str, mode: &str, statements: &[String; 2]) -> i64 {
    let explained = statements.each_ref().map(|statement| {
        format!("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM ixmcp.{statement};")
    });
    let script = format!("SET plan_cache_mode = {mode}; {}", explained.concat().repeat(13));
    let plans = organisation.sql_as(role, &script).unwrap();
    let pages_of = |plan: &str| -> i64 {
        let pages = plan.lines().nth(1).unwrap_or_default();
        assert!(pages.contains("Buffers: shared"), "{plan}");
        pages.split_whitespace().filter_map(|word| word.rsplit('=').next()?.parse::<i64>().ok()).sum()
    };
    let pages: Vec<i64> = plans.split("Function Scan").skip(1).map(pages_of).collect();
    let mut more: Vec<i64> = pages.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect();
    assert_eq!(more.len(), 13, "{plans}");
    more.sort_unstable();
    more[more.len() / 2]
}

#[test]
fn what_a_caller_may_not_read_leaves_no_trace_in_what_its_calls_cost() {
    let (organisation, pay, shop) = two_teams();
    // So many texts that indexes are used.
    organisation.sql(
        "CREATE TABLE ixmcp.made AS SELECT sha256(convert_to(t, 'UTF8')) AS key, t AS content
            FROM (SELECT 'def many_' || n || '(): return ' || md5(n::text) || repeat(' filled', 40) FROM generate_series(1, 4000) n) x(t);
        INSERT INTO ixmcp.texts (key, bytes) SELECT key, length(content) FROM ixmcp.made;
        INSERT INTO ixmcp.contents SELECT key, content FROM ixmcp.made;
        INSERT INTO ixmcp.files SELECT r.id, encode(m.key, 'hex'), m.key, 'python', 'x', 1, 'x.py'
            FROM ixmcp.made m, ixmcp.repos r WHERE r.name = 'pay-api';
        INSERT INTO ixmcp.derived SELECT m.key, 'x.py', 'x', r.trust, ARRAY[4711] FROM ixmcp.made m, ixmcp.repos r WHERE r.name = 'pay-api';
        DROP TABLE ixmcp.made; ANALYZE",
    );
    organisation.sql("VACUUM");
    let upload = begin(&organisation, &shop, "shop-web");
    let (there, absent) = (format!("sha256('{SECRET}')"), "sha256('nowhere')".to_owned());
    let key = |call: &dyn Fn(&str) -> String| [call(&there), call(&absent)];
    let either = |call: &dyn Fn(&str) -> String, one: &str, other: &str| [call(one), call(other)];
    for probes in [
        key(&|key| format!("missing({upload}, ARRAY[{key}])")),
        key(&|key| format!("texts_of(ARRAY[{key}])")),
        key(&|key| format!("texts_of(ARRAY[{key}], 'shop-web')")),
        either(&|literal| format!("files_with(ARRAY['shop-web'], ARRAY['{literal}'], 10)"), "def many_", "def none_"),
        either(&|term| format!("files_defining(ARRAY['shop-web'], ARRAY[{term}], 10)"), "4711", "4712"),
        either(
            &|literal| format!("files_with(ARRAY['*'], ARRAY['{literal}', 'checkout'], 10)"),
            "def many_",
            "def none_",
        ),
        either(&|name| format!("files_with(ARRAY['{name}'], ARRAY['def many_'], 10)"), "pay-*", "pax-*"),
        either(&|term| format!("files_defining(ARRAY['*'], ARRAY[{term}], 10)"), "4711", "4712"),
        either(&|name| format!("files_defining(ARRAY['{name}'], ARRAY[4711], 10)"), "pay-*", "pax-*"),
        either(&|name| format!("files_of(ARRAY['{name}'])"), "pay-api", "pay-apx"),
        either(&|name| format!("files_with(ARRAY['{name}'], ARRAY['def'], 10)"), "pay-api", "pay-apx"),
        either(&|name| format!("texts_of(ARRAY[{there}], '{name}')"), "pay-api", "pay-apx"),
        either(&|name| format!("repositories('{name}')"), "pay-api", "pay-apx"),
    ] {
        for mode in ["force_custom_plan", "force_generic_plan"] {
            assert_eq!(more_pages(&organisation, &shop, mode, &probes), 0, "{mode}: {probes:?}");
        }
    }
    // Nothing reports that others in the trust group derived something from a text that the caller does not have.
    organisation.admin(&["org", "grant", &shop, "shop-*", "--publish", "--trust", "core"]);
    organisation.admin(&["org", "grant", &pay, "pay-*", "--publish", "--trust", "core"]);
    organisation.ok(&committed(PAY), &pay, &["publish", "--as", "pay-api", "--force"]);
    let extractor =
        organisation.sql("SELECT extractor FROM ixmcp.derived WHERE inputs = 'pay.py' ORDER BY trust DESC LIMIT 1");
    let stage = format!(
        "SELECT ixmcp.stage_files({upload}, ARRAY['a/pay.py', 'b/pay.py'], ARRAY[{there}, {absent}], ARRAY['python', 'python'], ARRAY['1', '2'], ARRAY[1, 1], ARRAY['pay.py', 'pay.py'])"
    );
    organisation.sql_as(&shop, &stage).unwrap();
    let underived = format!("SELECT path FROM ixmcp.underived({upload}, '{extractor}') ORDER BY path");
    assert_eq!(organisation.sql_as(&shop, &underived).unwrap(), "a/pay.py\nb/pay.py");
    // The number of an upload says nothing about how often others publish.
    let numbers: Vec<i64> = (0..3).map(|_| begin(&organisation, &shop, "shop-web").parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1000), "{numbers:?}");
}

/// How many rows a statement of a role reads of files and of what belongs to them, as PostgreSQL counts them for that role.
fn rows_of(organisation: &Organisation, role: &str, statement: &str) -> u64 {
    let counted = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_all_tables
        WHERE schemaname = 'ixmcp' AND (relname IN ('files', 'texts', 'derived') OR relname LIKE 'contents%')";
    let script = format!("BEGIN; SELECT count(*) FROM ixmcp.{statement}; {counted}; COMMIT");
    organisation.sql_as(role, &script).unwrap().lines().last().unwrap().parse().unwrap()
}

#[test]
fn what_others_have_of_the_same_text_is_not_read() {
    let organisation = Organisation::new();
    let pay = organisation.role("pay", "pay-*", &["--publish"]);
    let shop = organisation.role("shop", "shop-*", &["--publish"]);
    let both = "def in_both(): pass\n";
    let own = "def in_shop(): pass\n";
    organisation.ok(&committed(&format!("//- /a.py\n{both}")), &pay, &["publish", "--as", "pay-api"]);
    let repo = committed(&format!("//- /a.py\n{both}//- /b.py\n{own}"));
    organisation.ok(&repo, &shop, &["publish", "--as", "shop-web"]);
    // The text that both have is in many repositories of the other team, among many other files. So are its terms.
    organisation.sql(&format!(
        "INSERT INTO ixmcp.repos (name) SELECT 'pay-' || n FROM generate_series(1, 300) n;
        INSERT INTO ixmcp.granted SELECT '{pay}', r.id FROM ixmcp.repos r WHERE r.name LIKE 'pay-%' ON CONFLICT DO NOTHING;
        INSERT INTO ixmcp.files SELECT r.id, 'p' || n || '.py', sha256('{both}'), 'python', 'x', 1, 'a.py'
            FROM ixmcp.repos r, generate_series(1, 10) n WHERE r.name LIKE 'pay-%';
        CREATE TABLE ixmcp.made AS SELECT sha256(convert_to(t, 'UTF8')) AS key, t AS content
            FROM (SELECT 'def other_' || n || '(): pass' FROM generate_series(1, 2000) n) x(t);
        INSERT INTO ixmcp.texts (key, bytes) SELECT key, length(content) FROM ixmcp.made;
        INSERT INTO ixmcp.contents SELECT key, content FROM ixmcp.made;
        INSERT INTO ixmcp.files SELECT r.id, encode(m.key, 'hex'), m.key, 'python', 'x', 1, 'a.py'
            FROM ixmcp.made m, ixmcp.repos r WHERE r.name = 'pay-api';
        DROP TABLE ixmcp.made; ANALYZE"
    ));
    let term = |name: &str| {
        organisation.sql(&format!(
            "SELECT d.terms[1] FROM ixmcp.derived d JOIN ixmcp.texts t USING (key) WHERE t.key = sha256('def {name}(): pass\n') LIMIT 1"
        ))
    };
    let calls = |name: &str| {
        [
            format!("files_with(ARRAY['*'], ARRAY['{name}'], 10)"),
            format!("files_with(ARRAY['shop-web'], ARRAY['{name}'], 10)"),
            format!("files_defining(ARRAY['*'], ARRAY[{}], 10)", term(name)),
            format!("texts_of(ARRAY[sha256('def {name}(): pass\n')])"),
            format!("texts_of(ARRAY[sha256('def {name}(): pass\n')], 'shop-web')"),
            "files_of(ARRAY['shop-web'])".to_owned(),
        ]
    };
    for (of_both, of_own) in calls("in_both").iter().zip(&calls("in_shop")) {
        let found = organisation.sql_as(&shop, &format!("SELECT count(*) FROM ixmcp.{of_both}")).unwrap();
        assert_eq!(found, if of_both.starts_with("files_of") { "2" } else { "1" }, "{of_both}");
        let (with_both, with_own) = (rows_of(&organisation, &shop, of_both), rows_of(&organisation, &shop, of_own));
        assert_eq!(with_both, with_own, "{of_both}");
        // No more than the files of the caller, with what belongs to them, some of it twice.
        assert!(with_both <= 12, "{of_both}: {with_both}");
    }
}

#[test]
fn a_publisher_cannot_name_a_text_that_it_does_not_have() {
    let (organisation, _, shop) = two_teams();
    let upload = begin(&organisation, &shop, "shop-web");
    let stage = format!(
        "SELECT ixmcp.stage_files({upload}, ARRAY['stolen.py'], ARRAY[sha256('{SECRET}')], ARRAY['python'], ARRAY['1'], ARRAY[1], ARRAY['stolen.py'])"
    );
    organisation.sql_as(&shop, &stage).unwrap();
    // Neither by a file, nor by what others derived from the text, nor by the error: it is that of a text that is nowhere.
    let finish = |upload: &str| {
        let statement = format!("SELECT ixmcp.finish_publication({upload}, repeat('a', 40))");
        organisation.sql_as(&shop, &statement).unwrap_err().lines().next().unwrap().to_owned()
    };
    let stolen = finish(&upload);
    let other = begin(&organisation, &shop, "shop-web");
    organisation.sql_as(&shop, &stage.replace(&upload, &other).replace("charge_card", "nowhere")).unwrap();
    assert_eq!(stolen, finish(&other));
    assert_eq!(stolen, "ERROR:  a text was not sent");
    assert_eq!(organisation.sql_as(&shop, "SELECT path FROM ixmcp.files_of(ARRAY['shop-web'])").unwrap(), "shop.py");
    // The key of a text is the server's own: a text cannot be stored under another.
    organisation.sql_as(&shop, &format!("SELECT ixmcp.send_texts({upload}, {}, ARRAY[6])", packed("poison"))).unwrap();
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.contents WHERE content = 'poison'"), "1");
    let wrong = "SELECT count(*) FROM ixmcp.contents WHERE key <> sha256(convert_to(content, 'UTF8'))";
    assert_eq!(organisation.sql(wrong), "0");
}

/// A text as publishers send it.
fn packed(text: &str) -> String {
    format!("ixmcp.pgp_sym_encrypt('{text}', 'ixmcp')")
}

#[test]
fn messages_that_are_not_as_they_should_be_are_refused() {
    let (organisation, pay, _) = two_teams();
    let upload = begin(&organisation, &pay, "pay-api");
    let send = |message: &str, sizes: &str| {
        organisation.sql_as(&pay, &format!("SELECT ixmcp.send_texts({upload}, {message}, {sizes})"))
    };
    let texts = || organisation.sql("SELECT (SELECT count(*) FROM ixmcp.texts), (SELECT count(*) FROM ixmcp.contents)");
    assert_eq!(texts(), "2|2");
    for (message, sizes) in [
        (packed("abc"), "ARRAY[2]"),
        (packed("abc"), "ARRAY[4]"),
        (packed("abc"), "ARRAY[-1, 4]"),
        (packed("abc"), "ARRAY[3, NULL]"),
        (packed("abc"), "ARRAY[2147483647, 2147483647]"),
        (packed("abc"), "ARRAY[]::int[]"),
        (packed("abc"), "NULL"),
        ("'\\xdeadbeef'".to_owned(), "ARRAY[4]"),
        ("''".to_owned(), "ARRAY[0]"),
        ("NULL".to_owned(), "ARRAY[1]"),
        ("ixmcp.pgp_sym_encrypt('abc', 'another')".to_owned(), "ARRAY[3]"),
        ("ixmcp.pgp_sym_encrypt_bytea('\\xff00', 'ixmcp')".to_owned(), "ARRAY[2]"),
    ] {
        send(&message, sizes).expect_err(&format!("{message} {sizes}"));
        assert_eq!(texts(), "2|2", "{message} {sizes}");
    }
    send(&packed("abcde"), "ARRAY[2, 0, 3]").unwrap();
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.contents WHERE content IN ('ab', '', 'cde')"), "3");
}

#[test]
fn an_upload_and_a_name_belong_to_their_publisher() {
    let (organisation, pay, shop) = two_teams();
    let upload = begin(&organisation, &pay, "pay-api");
    for call in [
        format!("published({upload})"),
        format!("missing({upload}, ARRAY[sha256('x')])"),
        format!("send_texts({upload}, {}, ARRAY[1])", packed("x")),
        format!("stage_gone({upload}, ARRAY['pay.py'])"),
        format!("underived({upload}, 'x')"),
        format!("send_terms({upload}, 'x', ARRAY['pay.py'], ARRAY['{{1}}'])"),
        format!("finish_publication({upload}, repeat('a', 40))"),
        format!("abandon_publication({upload})"),
    ] {
        let error = organisation.sql_as(&shop, &format!("SELECT * FROM ixmcp.{call}")).unwrap_err();
        assert_eq!(error.lines().next(), Some("ERROR:  the publication was swept, or is not yours"), "{call}");
    }
    let repo = committed(SHOP);
    let mut refused = String::new();
    for arguments in
        [["publish", "--as", "pay-api"], ["unpublish", "--as", "pay-api"], ["publish", "--as", "not-granted"]]
    {
        refused += &organisation.fails(&repo, &shop, &arguments);
    }
    // Reading is not publishing.
    organisation.admin(&["org", "grant", &shop, "pay-*"]);
    refused += &organisation.fails(&repo, &shop, &["unpublish", "--as", "pay-api"]);
    expect![[r#"
        ixmcp: READ_ONLY: the role SHOP may not publish pay-api. An administrator grants it with `ixmcp org grant ROLE PATTERN --publish`.
        ixmcp: READ_ONLY: the role SHOP may not publish pay-api. An administrator grants it with `ixmcp org grant ROLE PATTERN --publish`.
        ixmcp: READ_ONLY: the role SHOP may not publish not-granted. An administrator grants it with `ixmcp org grant ROLE PATTERN --publish`.
        ixmcp: READ_ONLY: the role SHOP may not publish pay-api. An administrator grants it with `ixmcp org grant ROLE PATTERN --publish`.
    "#]].assert_eq(&refused.replace(&shop, "SHOP"));
    assert_eq!(organisation.seen_by(&pay), ["pay-api"]);
}

#[test]
fn what_is_derived_from_a_text_is_shared_within_a_trust_group_only() {
    let organisation = Organisation::new();
    let one = organisation.role("one", "one-*", &["--publish", "--trust", "core"]);
    let two = organisation.role("two", "two-*", &["--publish", "--trust", "core"]);
    let three = organisation.role("three", "three-*", &["--publish"]);
    let repo = committed(PAY);
    for (role, name) in [(&one, "one-a"), (&two, "two-a"), (&three, "three-a")] {
        organisation.ok(&repo, role, &["publish", "--as", name]);
    }
    assert_eq!(organisation.sql("SELECT count(*), count(DISTINCT trust) FROM ixmcp.derived"), "2|2");
    // Terms that a hostile publisher derives change nothing for others.
    let evil = organisation.role("evil", "evil-*", &["--publish"]);
    organisation.ok(&repo, &evil, &["publish", "--as", "evil-a"]);
    let upload = begin(&organisation, &evil, "evil-a");
    let stage = format!(
        "SELECT ixmcp.stage_files({upload}, ARRAY['pay.py'], ARRAY[sha256('{SECRET}')], ARRAY['python'], ARRAY['1'], ARRAY[1], ARRAY['pay.py']);
        SELECT ixmcp.missing({upload}, ARRAY[sha256('{SECRET}')]);
        SELECT ixmcp.send_terms({upload}, 'forged', ARRAY['pay.py'], ARRAY['{{4711}}']);
        SELECT ixmcp.finish_publication({upload}, repeat('a', 40))"
    );
    organisation.sql_as(&evil, &stage).unwrap();
    let defining = |role: &str, name: &str| {
        let statement = format!("SELECT path FROM ixmcp.files_defining(ARRAY['{name}'], ARRAY[4711], 10)");
        organisation.sql_as(role, &statement).unwrap()
    };
    assert_eq!(defining(&evil, "evil-a"), "pay.py");
    assert_eq!(defining(&one, "one-a"), "");
    assert_eq!(defining(&three, "three-a"), "");
}

#[test]
fn arguments_are_values_whatever_they_contain() {
    let (organisation, pay, _) = two_teams();
    let upload = begin(&organisation, &pay, "pay-api");
    let evil = "x''; DROP TABLE ixmcp.texts; --";
    let state = || {
        organisation.sql("SELECT (SELECT count(*) FROM ixmcp.texts), (SELECT count(*) FROM ixmcp.files), (SELECT count(*) FROM ixmcp.rules)")
    };
    let before = state();
    for call in [
        format!("begin_publication('{evil}')"),
        format!("published({upload})"),
        format!("missing({upload}, ARRAY['{evil}'::bytea])"),
        format!("send_texts({upload}, '{evil}'::bytea, ARRAY[1])"),
        format!(
            "stage_files({upload}, ARRAY['{evil}'], ARRAY['{evil}'::bytea], ARRAY['{evil}'], ARRAY['{evil}'], ARRAY[1], ARRAY['{evil}'])"
        ),
        format!("stage_gone({upload}, ARRAY['{evil}'])"),
        format!("underived({upload}, '{evil}')"),
        format!("send_terms({upload}, '{evil}', ARRAY['{evil}'], ARRAY['{evil}'])"),
        format!("finish_publication({upload}, '{evil}')"),
        format!("unpublish('{evil}')"),
        format!("repositories('{evil}')"),
        format!("files_of(ARRAY['{evil}'])"),
        format!("files_with(ARRAY['{evil}'], ARRAY['{evil}', '%', '_', '\\'], 10)"),
        format!("files_defining(ARRAY['{evil}'], ARRAY[1], 10)"),
        format!("texts_of(ARRAY['{evil}'::bytea])"),
        format!("texts_of(ARRAY['{evil}'::bytea], '{evil}')"),
        // Patterns of LIKE are no patterns here.
        "repositories('%')".to_owned(),
        "repositories('____api')".to_owned(),
        "files_with(ARRAY['pay-api'], ARRAY['ch_rge'], 10)".to_owned(),
        "files_with(ARRAY['*'], ARRAY['%', '', E'\n', E'charge\nch_rge', E'charge\n%', NULL], 10)".to_owned(),
        "files_with(ARRAY['%', 'pay_api', NULL], ARRAY['charge'], 10)".to_owned(),
        "files_with(NULL, ARRAY['charge'], 10)".to_owned(),
        "files_with(ARRAY['*'], NULL, 10)".to_owned(),
        "files_defining(ARRAY['%', NULL], ARRAY[1], 10)".to_owned(),
        "files_defining(ARRAY['*'], NULL, 10)".to_owned(),
    ] {
        // An error, or nothing: but nothing happens.
        let answer = organisation.sql_as(&pay, &format!("SELECT * FROM ixmcp.{call}"));
        if call.starts_with("repositories") || call.starts_with("files") || call.starts_with("texts") {
            assert_eq!(answer.as_deref(), Ok(""), "{call}");
        }
        assert_eq!(state(), before, "{call}");
    }
    // A role's name is quoted by the server.
    organisation.sql("CREATE ROLE \"odd \"\" role; DROP TABLE ixmcp.texts\" LOGIN");
    organisation.admin(&["org", "grant", "odd \" role; DROP TABLE ixmcp.texts", "pay-*"]);
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.texts"), before.split('|').next().unwrap());
    let missing = organisation
        .command(&committed(PAY), organisation.administrator(), &["org", "grant", "absent'; --", "pay-*"])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(1), "{}", String::from_utf8_lossy(&missing.stderr));
}

#[test]
fn a_text_that_others_need_survives_when_its_publisher_goes() {
    let (organisation, pay, shop) = two_teams();
    organisation.ok(&committed(PAY), &shop, &["publish", "--as", "shop-copy"]);
    organisation.ok(&committed(PAY), &pay, &["unpublish", "--as", "pay-api"]);
    organisation.admin(&["org", "sweep", "--older-than", "0"]);
    let text = organisation
        .sql_as(&shop, "SELECT t.content FROM ixmcp.files_of(ARRAY['shop-copy']) f, ixmcp.texts_of(ARRAY[f.key]) t");
    assert_eq!(text.unwrap(), SECRET.trim_end());
    // An upload that was swept changes nothing.
    let repo = committed(SHOP);
    git(repo.path(), &["commit", "-q", "--allow-empty", "-m", "next"]);
    let upload = begin(&organisation, &shop, "shop-late");
    organisation.admin(&["org", "sweep", "--older-than", "0"]);
    let error =
        organisation.sql_as(&shop, &format!("SELECT ixmcp.finish_publication({upload}, repeat('a', 40))")).unwrap_err();
    assert_eq!(error.lines().next(), Some("ERROR:  the publication was swept, or is not yours"));
}
