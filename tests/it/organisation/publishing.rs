//! Publishing: which files, how often, by several at once, and what a killed publisher leaves.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::organisation::server::{Organisation, Postgres, shared};
use crate::support::harness::Repo;
use crate::support::sound::number;
use crate::worktrees::{committed, git};

pub const PAY: &str =
    "//- /pay.py\ndef charge_card(card):\n    return card\n//- /docs/guide.md\n# Paying\n\nBy card.\n";

fn paths(organisation: &Organisation, name: &str) -> Vec<String> {
    let statement = format!(
        "SELECT path FROM ixmcp.files f JOIN ixmcp.repos r ON r.id = f.repo WHERE r.name = '{name}' ORDER BY path"
    );
    organisation.sql(&statement).lines().map(str::to_owned).collect()
}

/// The texts that the server has, whatever names them.
fn texts(organisation: &Organisation) -> String {
    organisation.sql("SELECT content FROM ixmcp.contents ORDER BY content COLLATE \"C\"")
}

pub fn commit_all(repo: &Repo, message: &str) {
    git(repo.path(), &["add", "-A"]);
    git(repo.path(), &["commit", "-qm", message]);
}

#[test]
fn the_tracked_files_of_a_commit_are_published_and_nothing_else() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "pay-*", &["--publish"]);
    let repo = committed(&format!(
        "{PAY}//- /.gitignore\nbuild/\n//- /.env\nPASSWORD=hunter2hunter2\n//- /id_rsa\n-----BEGIN OPENSSH PRIVATE KEY-----\nx\n"
    ));
    repo.write("image.bin", b"\0\x01\x02\xff".as_slice());
    // Not a secret file: what is secret in it is masked, whatever the settings of the local index say.
    let token = ["ghp", "_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
    repo.write("conf.py", format!("def connect(): pass\ntoken = \"{token}\"\n"));
    repo.write(".ixmcp.toml", "[secrets]\nmask = false\n");
    commit_all(&repo, "binary");
    repo.write("untracked.py", "def untracked_secret(): pass\n");
    repo.write("build/ignored.py", "def ignored_secret(): pass\n");
    repo.write("pay.py", "def not_committed(): pass\n");
    let report = organisation.json(&repo, &team, &["publish", "--as", "pay-api"]);
    assert_eq!(report["unchanged"], false, "{report}");
    assert_eq!(report["files"], 5, "{report}");
    assert_eq!(paths(&organisation, "pay-api"), [".gitignore", ".ixmcp.toml", "conf.py", "docs/guide.md", "pay.py"]);
    expect![[r##"
        # Paying

        By card.

        [secrets]
        mask = false

        build/

        def charge_card(card):
            return card

        def connect(): pass
        token = "ghp_************************************""##]]
    .assert_eq(&texts(&organisation));
}

#[test]
fn publishing_again_sends_what_differs_and_nothing_if_nothing_does() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    let publish = || organisation.json(&repo, &team, &["publish", "--as", "pay"]);
    assert_eq!(publish()["sent"], 2);
    let again = publish();
    assert_eq!((&again["unchanged"], &again["sent"]), (&true.into(), &0.into()), "{again}");
    assert_eq!(again["files"], 2, "{again}");
    repo.write("pay.py", "def refund_card(card):\n    return card\n");
    repo.remove("docs/guide.md");
    commit_all(&repo, "second");
    let second = publish();
    assert_eq!((&second["changed"], &second["gone"], &second["sent"]), (&1.into(), &1.into(), &1.into()), "{second}");
    assert_eq!(second["generation"], 2);
    assert_eq!(paths(&organisation, "pay"), ["pay.py"]);
    // A branch, whose texts are there already.
    let branch = organisation.json(&repo, &team, &["publish", "--as", "pay", "--branch", "next"]);
    assert_eq!((&branch["repo"], &branch["sent"]), (&"pay@next".into(), &0.into()), "{branch}");
    assert_eq!(organisation.seen_by(&team), ["pay", "pay@next"]);
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.uploads"), "0");
}

#[test]
fn an_older_commit_and_another_history_are_refused_unless_forced() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    repo.write("pay.py", "def second(): pass\n");
    commit_all(&repo, "second");
    let publish = ["publish", "--as", "pay"];
    organisation.ok(&repo, &team, &publish);
    let published = organisation.sql("SELECT commit FROM ixmcp.repos");
    git(repo.path(), &["checkout", "-q", "HEAD~1"]);
    let mut refused = format!("older: {}", organisation.fails(&repo, &team, &publish));
    repo.write("pay.py", "def other(): pass\n");
    commit_all(&repo, "other");
    refused += &format!("other: {}", organisation.fails(&repo, &team, &publish));
    let unknown = committed("//- /a.py\nx = 1\n");
    refused += &format!("unknown: {}", organisation.fails(&unknown, &team, &publish));
    expect![[r#"
        older: ixmcp: INVALID_ARGUMENT: a newer commit is published: PUBLISHED. Nothing was changed. `--force` publishes the older one.
        other: ixmcp: INVALID_ARGUMENT: the published commit PUBLISHED is not in the history of this one. Publish a branch as `--branch NAME`. After a rewritten history, `--force` replaces what is published.
        unknown: ixmcp: INVALID_ARGUMENT: this clone does not know whether the published commit PUBLISHED is older. Run `git fetch --unshallow` or `git fetch`, or replace what is published with `--force`.
    "#]].assert_eq(&refused.replace(&published[..12], "PUBLISHED"));
    expect![[r#"
        # Paying

        By card.

        def second(): pass"#]]
    .assert_eq(&texts(&organisation));
    organisation.ok(&repo, &team, &["publish", "--as", "pay", "--force"]);
    assert_eq!(organisation.sql("SELECT generation, files FROM ixmcp.repos"), "2|2");
}

#[test]
fn what_is_unpublished_is_gone_and_a_sweep_removes_its_texts() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let (pay, shop) = (committed(PAY), committed("//- /pay.py\ndef charge_card(card):\n    return card\n"));
    organisation.ok(&pay, &team, &["publish", "--as", "pay"]);
    organisation.ok(&shop, &team, &["publish", "--as", "shop"]);
    assert_eq!(organisation.json(&pay, &team, &["unpublish", "--as", "pay"])["removed"], true);
    assert_eq!(
        organisation.command(&pay, &team, &["unpublish", "--as", "pay"]).output().unwrap().status.code(),
        Some(1)
    );
    assert_eq!(organisation.seen_by(&team), ["shop"]);
    // A publication that is not finished may still need a text that was sent today.
    assert!(organisation.admin(&["org", "sweep"]).starts_with("0 texts"));
    assert!(organisation.admin(&["org", "sweep", "--older-than", "0"]).starts_with("1 text "));
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.texts"), "1");
    assert_eq!(paths(&organisation, "shop"), ["pay.py"]);
}

#[test]
fn one_of_several_publishers_of_a_name_wins_and_the_others_may_try_again() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    for number in 0..60 {
        repo.write(&format!("src/m{number}.py"), format!("def function_{number}(): pass\n"));
    }
    commit_all(&repo, "many");
    let started: Vec<_> = (0..6)
        .map(|_| {
            let mut command = organisation.command(&repo, &team, &["publish", "--as", "pay", "--force"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut won = 0;
    for publisher in started {
        let output = publisher.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        won += usize::from(output.status.success());
        assert!(
            output.status.success() || error.contains("BUSY: another commit of pay was published meanwhile"),
            "{error}"
        );
    }
    assert!(won > 0);
    assert_eq!(organisation.sql("SELECT generation, files FROM ixmcp.repos"), format!("{won}|62"));
    assert_eq!(paths(&organisation, "pay").len(), 62);
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.uploads"), "0");
}

/// No file without its text, and every published repository has exactly the files of one commit.
pub fn check_whole(organisation: &Organisation, expected: &[usize]) {
    let torn = "SELECT count(*) FROM ixmcp.files f WHERE NOT EXISTS (SELECT FROM ixmcp.texts t WHERE t.key = f.key)";
    assert_eq!(organisation.sql(torn), "0");
    let empty =
        "SELECT count(*) FROM ixmcp.texts t WHERE NOT EXISTS (SELECT FROM ixmcp.contents c WHERE c.key = t.key)";
    assert_eq!(organisation.sql(empty), "0");
    let wrong = "SELECT count(*) FROM ixmcp.contents WHERE key <> sha256(convert_to(content, 'UTF8'))";
    assert_eq!(organisation.sql(wrong), "0");
    let files = organisation
        .sql("SELECT count(f.path) FROM ixmcp.repos r LEFT JOIN ixmcp.files f ON f.repo = r.id GROUP BY r.id");
    for count in files.lines() {
        assert!(expected.contains(&count.parse().unwrap()), "{count} files");
    }
}

#[test]
fn publishers_killed_at_any_moment_leave_what_was_published_before() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    for number in 0..300 {
        repo.write(&format!("src/m{number}.py"), format!("def function_{number}(): pass\n").repeat(40));
    }
    commit_all(&repo, "many");
    let attempts = number("IXMCP_KILLED_PUBLISHERS", 12);
    for attempt in 0..attempts {
        let mut command = organisation.command(&repo, &team, &["publish", "--as", "pay", "--force"]);
        let mut publisher = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(attempt * 480 / attempts));
        publisher.kill().unwrap();
        publisher.wait().unwrap();
        check_whole(&organisation, &[2, 302]);
        if attempt == attempts / 2 {
            organisation.admin(&["org", "sweep", "--older-than", "0"]);
            check_whole(&organisation, &[2, 302]);
        }
    }
    organisation.ok(&repo, &team, &["publish", "--as", "pay", "--force"]);
    organisation.admin(&["org", "sweep", "--older-than", "0"]);
    check_whole(&organisation, &[302]);
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.uploads"), "0");
}

#[test]
fn a_server_that_crashes_loses_no_publication_and_answers_after_its_restart() {
    let mut server = Postgres::start();
    let organisation = Organisation::on(&server);
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    for number in 0..400 {
        repo.write(&format!("src/m{number}.py"), format!("def function_{number}(): pass\n").repeat(40));
    }
    commit_all(&repo, "many");
    let mut command = organisation.command(&repo, &team, &["publish", "--as", "pay"]);
    let publisher = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    server.kill();
    let output = publisher.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() || error.contains("UNREACHABLE"), "{error}");
    let down = organisation.fails(&repo, &team, &["publish", "--as", "pay"]);
    expect![[r#"
        ixmcp: UNREACHABLE: the organisation's server does not answer: error connecting to server: No such file or directory (os error 2). Check its address and that it runs; then try again.
    "#]].assert_eq(&down);
    server.run();
    check_whole(&organisation, &[2, 402]);
    // A pooler tries the server again a while later.
    let tried = Instant::now();
    while organisation.is_pooled() && tried.elapsed() < Duration::from_secs(60) {
        if organisation.command(&repo, &team, &["publish", "--as", "pay"]).output().unwrap().status.success() {
            break;
        }
    }
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    check_whole(&organisation, &[402]);
}

#[test]
fn names_with_special_characters_are_refused_before_anything_is_sent() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    let long = "n".repeat(300);
    let mut refused = String::new();
    for name in ["it's", "a\nb", "a b", "*", "", "/a", "a//b", "ü", "x\u{202e}y", &long] {
        refused += &organisation.fails(&repo, &team, &["publish", "--as", name]);
    }
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: "it's" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "a\u{a}b" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "a b" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "*" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "/a" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "a//b" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "ü" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "x\u{202e}y" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
        ixmcp: INVALID_ARGUMENT: "LONG" is not a name for a repository. Names have at most 200 letters, digits and . _ + - in parts separated by /: --as payments/api.
    "#]].assert_eq(&refused.replace(&long[..100], "LONG"));
    assert_eq!(organisation.sql("SELECT count(*) FROM ixmcp.uploads"), "0");
    let longest = "n".repeat(200);
    organisation.ok(&repo, &team, &["publish", "--as", &longest]);
    // Paths are whatever git has.
    let odd = committed("//- /a.py\nx = 1\n");
    odd.write("quote's \"and\" tab\t; DROP TABLE x.py", "y = 1\n");
    odd.write("line\nbreak.py", "z = 1\n");
    // But for those that a mirror cannot have.
    odd.write("back\\slash.py", "w = 1\n");
    commit_all(&odd, "odd");
    let report = organisation.json(&odd, &team, &["publish", "--as", "odd"]);
    assert_eq!((&report["files"], &report["skipped"]), (&3.into(), &1.into()), "{report}");
    let stored =
        organisation.sql("SELECT count(*) FROM ixmcp.files WHERE path = E'line\\nbreak.py' OR path LIKE 'quote''s%'");
    assert_eq!(stored, "2");
}

#[test]
fn servers_that_cannot_be_used_are_named_without_their_password() {
    let organisation = Organisation::without_schema(shared());
    let repo = committed(PAY);
    let publish = ["publish", "--as", "pay"];
    expect![[r#"
        ixmcp: UNSUPPORTED_FORMAT: the organisation's server has another schema than this program: schema "ixmcp" does not exist. An administrator runs `ixmcp org init` of the newest version.
    "#]].assert_eq(&organisation.fails(&repo, "postgres", &publish));
    let mut refused = String::new();
    for url in [
        "postgresql://team:hunter2@127.0.0.1:1/x",
        "postgresql://team:hunter2@/x?host=%2Fnot%2Fthere",
        "postgresql://team:hunter2@127.0.0.1:port/x",
        "mysql://team:hunter2@127.0.0.1/x",
    ] {
        let mut command = repo.command(&publish);
        let output = command.env("IXMCP_ORG_URL", url).env("RUST_LOG", "trace").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{url}");
        let (printed, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(!printed.contains("hunter2") && !error.contains("hunter2"), "{printed}{error}");
        refused += &format!("{url}\n");
        // The other lines are the log.
        for line in error.lines().filter(|line| line.starts_with("ixmcp: ")) {
            refused += &format!("{line}\n");
        }
    }
    expect![[r#"
        postgresql://team:hunter2@127.0.0.1:1/x
        ixmcp: UNREACHABLE: the organisation's server does not answer: Connection refused (os error 111). Check its address and that it runs; then try again.
        postgresql://team:hunter2@/x?host=%2Fnot%2Fthere
        ixmcp: UNREACHABLE: the organisation's server does not answer: error connecting to server: No such file or directory (os error 2). Check its address and that it runs; then try again.
        postgresql://team:hunter2@127.0.0.1:port/x
        ixmcp: INVALID_ARGUMENT: the address of the organisation "default" cannot be read. Write it as postgresql://ROLE@HOST:PORT/DATABASE.
        mysql://team:hunter2@127.0.0.1/x
        ixmcp: INVALID_ARGUMENT: the address of the organisation "default" cannot be read. Write it as postgresql://ROLE@HOST:PORT/DATABASE.
    "#]].assert_eq(&refused);
    let named = [(repo.home().to_str().unwrap(), "HOME")];
    // None is configured, and a repository cannot configure one.
    repo.write(".ixmcp.toml", "[organisations]\nevil = \"postgresql://x@127.0.0.1:1/x\"\n");
    let mut refused = repo.failures(&[&publish[..]], &named);
    let folder = repo.home().join(".config/ixmcp");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("config.toml");
    std::fs::write(&file, "[organisations]\nwork = \"postgresql://team:hunter2@127.0.0.1:1/x\"\nplay = \"postgresql://x@/x?host=%2Fno\"\n")
        .unwrap();
    refused += &repo.failures(
        &[&publish[..], &["publish", "--as", "pay", "--to", "work"], &["publish", "--as", "pay", "--to", "other"]],
        &named,
    );
    std::fs::write(&file, "[organisations]\nwork = \"team:hunter2@127.0.0.1\"\n").unwrap();
    refused += &repo.failures(&[&publish[..]], &named);
    assert!(!refused.contains("hunter2"), "{refused}");
    // Lines of the log have times.
    let errors: String =
        refused.lines().filter(|line| !line.contains(" WARN ")).map(|line| format!("{line}\n")).collect();
    expect![[r#"
        $ ixmcp publish --as pay
        ixmcp: INVALID_ARGUMENT: no organisation is configured. Add its server under [organisations] in HOME/.config/ixmcp/config.toml, or set IXMCP_ORG_URL.
        $ ixmcp publish --as pay
        ixmcp: INVALID_ARGUMENT: several organisations are configured. Name one with --to: play, work.
        $ ixmcp publish --as pay --to work
        WARN REPOSITORY/.ixmcp.toml: organisations.evil is ignored, because a repository may not set it
        ixmcp: UNREACHABLE: the organisation's server does not answer: Connection refused (os error 111). Check its address and that it runs; then try again.
        $ ixmcp publish --as pay --to other
        ixmcp: INVALID_ARGUMENT: there is no organisation "other". Organisations in HOME/.config/ixmcp/config.toml: play, work.
        $ ixmcp publish --as pay
        ixmcp: INVALID_ARGUMENT: HOME/.config/ixmcp/config.toml: organisations.work must be the address of a server, such as "postgresql://team_pay@db.example.com/ixmcp". Correct it or remove it.
    "#]].assert_eq(&errors);
}

#[test]
fn a_damaged_list_of_migrations_is_reported_and_nothing_is_changed() {
    let organisation = Organisation::new();
    let repo = Repo::new("");
    let mut refused = String::new();
    for (column, value) in [
        ("checksum", "'x'"),
        ("checksum", "'-1'"),
        ("checksum", "'99999999999999999999'"),
        ("applied_on", "'yesterday'"),
        ("applied_on", "'2026-13-01T00:00:00Z'"),
        ("applied_on", "NULL"),
        ("checksum", "NULL"),
    ] {
        organisation.sql("CREATE TABLE ixmcp.kept AS SELECT * FROM ixmcp.schema_history");
        organisation.sql(&format!("UPDATE ixmcp.schema_history SET {column} = {value} WHERE version = 1"));
        let error = organisation.fails(&repo, organisation.administrator(), &["org", "init"]);
        refused += &format!("{column} {value}: {error}");
        organisation.sql("TRUNCATE ixmcp.schema_history");
        organisation.sql("INSERT INTO ixmcp.schema_history SELECT * FROM ixmcp.kept");
        organisation.sql("DROP TABLE ixmcp.kept");
        assert_eq!(organisation.admin(&["org", "init"]), "the schema is up to date\n");
    }
    expect![[r#"
        checksum 'x': ixmcp: CORRUPT_INDEX: the table ixmcp.schema_history of the organisation's server is damaged. Restore it from a backup. Nothing was changed.
        checksum '-1': ixmcp: CORRUPT_INDEX: the table ixmcp.schema_history of the organisation's server is damaged. Restore it from a backup. Nothing was changed.
        checksum '99999999999999999999': ixmcp: CORRUPT_INDEX: the table ixmcp.schema_history of the organisation's server is damaged. Restore it from a backup. Nothing was changed.
        applied_on 'yesterday': ixmcp: CORRUPT_INDEX: the table ixmcp.schema_history of the organisation's server is damaged. Restore it from a backup. Nothing was changed.
        applied_on '2026-13-01T00:00:00Z': ixmcp: CORRUPT_INDEX: the table ixmcp.schema_history of the organisation's server is damaged. Restore it from a backup. Nothing was changed.
        applied_on NULL: ixmcp: CORRUPT_INDEX: the table ixmcp.schema_history of the organisation's server is damaged. Restore it from a backup. Nothing was changed.
        checksum NULL: ixmcp: CORRUPT_INDEX: the table ixmcp.schema_history of the organisation's server is damaged. Restore it from a backup. Nothing was changed.
    "#]].assert_eq(&refused);
}

#[test]
fn the_schema_is_made_once_however_many_make_it() {
    let organisation = Organisation::new();
    assert_eq!(organisation.admin(&["org", "init"]), "the schema is up to date\n");
    let repo = Repo::new("");
    let started: Vec<_> = (0..4)
        .map(|_| {
            organisation
                .command(&repo, organisation.administrator(), &["org", "init"])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut one in started {
        assert!(one.wait().unwrap().success());
    }
    let applied = organisation.sql("SELECT version FROM ixmcp.schema_history ORDER BY version");
    let distinct: BTreeSet<&str> = applied.lines().collect();
    assert_eq!(distinct.len(), applied.lines().count());
    // A newer program was there.
    organisation.sql("INSERT INTO ixmcp.schema_history VALUES (99, 'later', '2026-01-01T00:00:00Z', '1')");
    expect![[r#"
        ixmcp: NEWER_INDEX: the schema of the organisation's server was made by another version of ixmcp. Run `ixmcp org init` of the newest version in use.
    "#]].assert_eq(&organisation.fails(&repo, organisation.administrator(), &["org", "init"]));
}

#[test]
fn changes_of_tracked_files_are_published_if_that_is_asked_for() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(&format!("{PAY}//- /same.py\ndef same(): pass\n//- /.gitignore\nbuild/\n"));
    let dirty = || organisation.json(&repo, &team, &["publish", "--as", "pay", "--dirty"]);
    let published = || paths(&organisation, "pay");
    let texts =
        || organisation.sql("SELECT content FROM ixmcp.contents c JOIN ixmcp.files f ON f.key = c.key ORDER BY f.path");
    // Without changes it is the commit.
    let report = dirty();
    assert!(!report["commit"].as_str().unwrap().ends_with("-dirty"), "{report}");
    assert_eq!(organisation.json(&repo, &team, &["publish", "--as", "pay"])["unchanged"], true);
    repo.write("pay.py", "def charge_later(card): pass\n");
    repo.remove("docs/guide.md");
    repo.write("added.py", "def added(): pass\n");
    git(repo.path(), &["add", "added.py"]);
    repo.write("untracked.py", "def untracked_secret(): pass\n");
    repo.write("build/ignored.py", "def ignored_secret(): pass\n");
    repo.write(".env", "PASSWORD=hunter2hunter2\n");
    git(repo.path(), &["add", "-f", ".env"]);
    // Only touched.
    repo.write("same.py", "def same(): pass\n");
    let report = dirty();
    assert!(report["commit"].as_str().unwrap().ends_with("-dirty"), "{report}");
    assert_eq!((&report["changed"], &report["gone"], &report["sent"]), (&2.into(), &1.into(), &2.into()), "{report}");
    assert_eq!(published(), [".gitignore", "added.py", "pay.py", "same.py"]);
    expect![[r#"
        build/

        def added(): pass

        def charge_later(card): pass

        def same(): pass"#]]
    .assert_eq(&texts());
    assert_eq!(organisation.sql("SELECT commit ~ '^[0-9a-f]{40}-dirty$', generation FROM ixmcp.repos"), "t|2");
    let again = dirty();
    assert_eq!((&again["unchanged"], &again["sent"]), (&true.into(), &0.into()), "{again}");
    let listed = organisation.ok(&repo, &team, &["org", "status"]);
    let status = organisation.json(&repo, &team, &["org", "status"])["repositories"][0].take();
    let (commit, at) = (status["commit"].as_str().unwrap(), status["published_at"].as_str().unwrap());
    expect![[r#"
        pay  (COMMIT-dirty, 4 files, 0.1 kB, published TIME)
    "#]]
    .assert_eq(&listed.replace(&commit[..12], "COMMIT").replace(at, "TIME"));
    // The commit without them, and then a commit with them.
    let clean = organisation.json(&repo, &team, &["publish", "--as", "pay"]);
    assert_eq!((&clean["unchanged"], &clean["gone"]), (&false.into(), &1.into()), "{clean}");
    assert_eq!(published(), [".gitignore", "docs/guide.md", "pay.py", "same.py"]);
    expect![[r#"
        build/

        # Paying

        By card.

        def charge_card(card):
            return card

        def same(): pass"#]]
    .assert_eq(&texts());
    dirty();
    git(repo.path(), &["rm", "-q", "--cached", ".env"]);
    git(repo.path(), &["add", "-u"]);
    git(repo.path(), &["commit", "-qm", "second"]);
    let second = organisation.json(&repo, &team, &["publish", "--as", "pay"]);
    assert_eq!(second["sent"], 0, "{second}");
    assert_eq!(published(), [".gitignore", "added.py", "pay.py", "same.py"]);
}

#[test]
fn changes_with_conflicts_of_a_merge_are_refused() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    git(repo.path(), &["checkout", "-q", "-b", "other"]);
    repo.write("pay.py", "def other(): pass\n");
    commit_all(&repo, "other");
    git(repo.path(), &["checkout", "-q", "main"]);
    repo.write("pay.py", "def mine(): pass\n");
    commit_all(&repo, "mine");
    let merge = std::process::Command::new("git").arg("-C").arg(repo.path()).args(["merge", "-q", "other"]).output();
    assert!(!merge.unwrap().status.success());
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: some files have merge conflicts. Resolve them, or publish the commit without --dirty.
    "#]]
    .assert_eq(&organisation.fails(&repo, &team, &["publish", "--as", "pay", "--dirty"]));
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    expect![[r#"
        # Paying

        By card.

        def mine(): pass"#]]
    .assert_eq(&texts(&organisation));
}

#[test]
fn extensions_that_are_in_another_schema_are_used_there() {
    let organisation = Organisation::without_schema(shared());
    organisation.sql("CREATE SCHEMA \"my ext\"; GRANT USAGE ON SCHEMA \"my ext\" TO PUBLIC");
    organisation.sql("CREATE EXTENSION pg_trgm WITH SCHEMA public; CREATE EXTENSION pgcrypto WITH SCHEMA \"my ext\"");
    organisation.admin(&["org", "init"]);
    let team = organisation.role("team", "*", &["--publish"]);
    organisation.ok(&committed(PAY), &team, &["publish", "--as", "pay"]);
    check_whole(&organisation, &[2]);
}

#[test]
fn a_schema_from_before_the_first_release_is_named_and_left_as_it_is() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo = committed(PAY);
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    // The list of its migrations, and its version for clients.
    organisation.sql(
        "TRUNCATE ixmcp.schema_history; INSERT INTO ixmcp.schema_history VALUES
            (1, 'organisation', '2026-11-23T10:00:00Z', '12345'), (2, 'partitions', '2026-11-23T10:00:00Z', '2345'),
            (3, 'pending_lists', '2026-11-24T10:00:00Z', '345'), (4, 'no_traces', '2026-11-25T10:00:00Z', '45');
        CREATE OR REPLACE FUNCTION ixmcp.protocol() RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER
            SET search_path = pg_catalog, ixmcp, pg_temp AS 'SELECT 3'",
    );
    let state = || organisation.sql("SELECT version, name FROM ixmcp.schema_history ORDER BY version");
    let before = state();
    let of_administrator = organisation.fails(&Repo::new(""), organisation.administrator(), &["org", "init"]);
    let of_publisher = organisation.fails(&repo, &team, &["publish", "--as", "pay"]);
    expect![[r#"
        ixmcp: UNSUPPORTED_FORMAT: the schema of the organisation's server is from before the first release. Nothing was changed. Make a new database, run `ixmcp org init` there, and publish again.
        ixmcp: UNSUPPORTED_FORMAT: the organisation's server has version 3 of the schema; this program needs 6. An administrator runs `ixmcp org init`.
    "#]].assert_eq(&(of_administrator + &of_publisher));
    assert_eq!(state(), before);
    check_whole(&organisation, &[2]);
}

#[test]
fn uncommitted_changes_are_published_as_git_would_commit_them_and_no_filter_is_undone() {
    let organisation = Organisation::new();
    let team = organisation.role("team", "*", &["--publish"]);
    let repo =
        committed(&format!("{PAY}//- /.gitattributes\nconf.py filter=enc\nnew.py filter=enc\nwin.py text eol=crlf\n"));
    let mark = repo.home().join("ran");
    let program = format!("tee -a '{}' | rev", mark.display());
    for side in ["clean", "smudge"] {
        git(repo.path(), &["config", &format!("filter.enc.{side}"), &program]);
    }
    let plain = "def login():\n    return 'otterplain'\n";
    repo.write("conf.py", plain);
    repo.write("win.py", "def windows():\r\n    return 1\r\n");
    repo.write("assumed.py", "def assumed():\n    return 1\n");
    commit_all(&repo, "second");
    git(repo.path(), &["update-index", "--assume-unchanged", "assumed.py"]);
    repo.write("assumed.py", "def assumed():\n    return 'assumedsecret'\n");
    organisation.ok(&repo, &team, &["publish", "--as", "pay"]);
    let committed = texts(&organisation);
    expect![[r#"
        # Paying

        By card.

        :)(nigol fed
        'nialpretto' nruter    

        conf.py filter=enc
        new.py filter=enc
        win.py text eol=crlf

        def assumed():
            return 1

        def charge_card(card):
            return card

        def windows():
            return 1"#]]
    .assert_eq(&committed);
    std::fs::remove_file(&mark).unwrap();
    // Written again with the same bytes, so that git has to look at them.
    for path in ["conf.py", "win.py"] {
        let bytes = std::fs::read(repo.path().join(path)).unwrap();
        repo.remove(path);
        repo.write(path, bytes);
    }
    let dirty = || organisation.json(&repo, &team, &["publish", "--as", "pay", "--dirty"]);
    let report = dirty();
    assert_eq!(report["undecided"][0]["path"], "conf.py", "{report}");
    assert_eq!((&report["unchanged"], report["undecided"].as_array().unwrap().len()), (&true.into(), 1), "{report}");
    assert_eq!(texts(&organisation), committed);
    // Edited, and one that is new.
    repo.write("conf.py", plain.replace("plain", "edited"));
    repo.write("win.py", "def windows():\r\n    return 2\r\n");
    repo.write("new.py", "def brand_new():\n    return 'otternew'\n");
    git(repo.path(), &["add", "new.py"]);
    std::fs::remove_file(&mark).unwrap();
    let report = dirty();
    assert!(report["commit"].as_str().unwrap().ends_with("-dirty"), "{report}");
    let named: Vec<&str> =
        report["undecided"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(named, ["conf.py", "new.py"], "{report}");
    expect![[r#"
        # Paying

        By card.

        :)(nigol fed
        'nialpretto' nruter    

        conf.py filter=enc
        new.py filter=enc
        win.py text eol=crlf

        def assumed():
            return 1

        def charge_card(card):
            return card

        def windows():
            return 1

        def windows():
            return 2"#]]
    .assert_eq(&texts(&organisation));
    assert_eq!(
        paths(&organisation, "pay"),
        [".gitattributes", "assumed.py", "conf.py", "docs/guide.md", "pay.py", "win.py"]
    );
    let said = organisation.command(&repo, &team, &["publish", "--as", "pay", "--dirty", "--force"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap() + &String::from_utf8(said.stderr).unwrap();
    expect![[r#"
        pay at COMMIT-dirty: 6 files (6 changed, 0 gone, 0 skipped), 0.0 kB sent
        conf.py is published as committed: git converts it with a filter, which is not run here
        new.py is published as committed: git converts it with a filter, which is not run here
    "#]]
    .assert_eq(&said.replace(&report["commit"].as_str().unwrap()[..12], "COMMIT"));
    assert!(!mark.exists(), "a filter was run");
}
