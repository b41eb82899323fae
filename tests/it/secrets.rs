//! Files that are secrets are neither indexed nor shown, whatever their name. Tokens in other files are masked on request.

use std::fs;
use std::process::Command;

use expect_test::expect;
use ixmcp::budget::Budget;
use ixmcp::store::Fact;
use serde_json::Value;

use crate::support::harness::Repo;
use crate::support::sound::{assert_same, dump, fresh_dump, freshen, open, sync, watched};
use crate::support::waiting::settle;

/// Part of every file that must not be shown.
const WORD: &str = "hunter2secret";

/// Lines that look like the body of a key.
fn body(lines: usize) -> String {
    let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlwAAAAdz\n";
    line.repeat(lines)
}

fn key(label: &str) -> String {
    format!("-----BEGIN {label} PRIVATE KEY-----\n{}-----END {label} PRIVATE KEY-----\n", body(20))
}

/// A token with a checksum that fits.
fn token() -> String {
    ["gh", "p_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"].concat()
}

/// (path, content) of files that are secrets as a whole.
fn secrets() -> Vec<(&'static str, String)> {
    let one_line = key("RSA").replace('\n', "\\n");
    vec![
        ("mykey", key("OPENSSH")),
        ("ops/deploy_key", key("OPENSSH")),
        ("putty.txt", format!("PuTTY-User-Key-File-3: ssh-rsa\nComment: {WORD}\n{}", body(6))),
        ("gcp-abc123.json", format!(r#"{{"type": "service_account", "private_key": "{one_line}", "note": "{WORD}"}}"#)),
        ("config/credentials.json", format!(r#"{{"user": "me", "password": "{WORD}"}}"#)),
        (".env~", format!("PASSWORD={WORD}\n")),
        ("app.env.bak", format!("PASSWORD={WORD}\n")),
        ("terraform.tfvars", format!("db_password = \"{WORD}\"\n")),
        (".bash_history", format!("mysql -p{WORD}\n")),
        ("settings", format!("WORD={WORD}\nGH_TOKEN={}\n", token())),
        ("tls/site.pem", key("RSA")),
    ]
}

fn skipped(repo: &Repo) -> Vec<(String, String)> {
    let output = repo.run(&["files", "--skipped", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    answer["skipped"].as_array().unwrap().iter().map(|file| (text(&file["path"]), text(&file["reason"]))).collect()
}

/// A transcript of slices that must fail.
fn refused_slices<'a>(repo: &Repo, paths: impl Iterator<Item = &'a str>) -> String {
    let refused: String = paths.map(|path| repo.fails(&["slice", path, "1", "9"])).collect();
    refused.replace(repo.path().canonicalize().unwrap().to_str().unwrap(), "REPOSITORY")
}

fn slice(repo: &Repo, path: &str) -> std::process::Output {
    repo.run(&["slice", path, "1", "9"])
}

#[test]
fn whole_files_of_secrets_are_neither_indexed_nor_shown() {
    let repo = Repo::new("//- /src/main.py\nprint('hello')\n");
    for (path, content) in secrets() {
        repo.write(path, content);
    }
    repo.ok(&["sync"]);
    let mut expected: Vec<_> = secrets().iter().map(|(path, _)| ((*path).to_owned(), "secret".to_owned())).collect();
    expected.sort();
    assert_eq!(skipped(&repo), expected);
    for words in [WORD, "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlwAAAAdz"] {
        let found = repo.run(&["query", "-m", "literal", words]);
        assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stdout));
    }
    expect![[r#"
        ixmcp: INVALID_PATH: mykey may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: ops/deploy_key may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: putty.txt may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: gcp-abc123.json may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: config/credentials.json may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: .env~ may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: app.env.bak may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: terraform.tfvars may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: REPOSITORY/.bash_history may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: settings may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: tls/site.pem may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
    "#]].assert_eq(&refused_slices(&repo, secrets().iter().map(|(path, _)| *path)));
}

/// (path, content without a credential, the same with one) of files whose name alone says nothing.
fn suspects() -> Vec<(&'static str, &'static str, String)> {
    vec![
        (".npmrc", "registry=https://registry.npmjs.org/\n", format!("//registry.npmjs.org/:_authToken={}\n", token())),
        ("web/.npmrc", "//npm.acme.dev/:_authToken=${NPM_TOKEN}\n", "//npm.acme.dev/:_authToken=abc\n".to_owned()),
        ("config/public.env", "API_URL=https://api.example.com\nDEBUG=true\n", format!("DB_PASSWORD={WORD}\n")),
        (".env", "LOG_LEVEL=info\nPORT=8080\n", "LOG_LEVEL=info\nAPI_KEY=abc\n".to_owned()),
        (".env~", "LOG_LEVEL=info\n", format!("URL=postgres://app:{WORD}@db/x\n")),
        (".envrc", "use flake\nexport PATH=$PWD/bin:$PATH\n", format!("export TOKEN={WORD}\n")),
        ("infra/terraform.tfvars", "region = \"eu-west-1\"\n", format!("db_password = \"{WORD}\"\n")),
        (".aws/config", "[default]\nregion = us-east-1\n", format!("[default]\naws_secret_access_key = {WORD}\n")),
        (".pypirc", "[distutils]\nindex-servers = pypi\n", format!("[pypi]\nusername = me\npassword = {WORD}\n")),
    ]
}

#[test]
fn a_name_raises_suspicion_and_the_content_decides() {
    let repo = Repo::new("//- /src/main.py\nprint('hello')\n");
    suspects().iter().for_each(|(path, public, _)| repo.write(path, public));
    repo.ok(&["sync"]);
    assert_eq!(skipped(&repo), []);
    for (path, public, _) in suspects() {
        let shown = String::from_utf8(slice(&repo, path).stdout).unwrap();
        assert_eq!(shown.trim_end(), public.trim_end(), "{path}");
    }
    expect![[r#"
        .npmrc:1
            registry=https://registry.npmjs.org/
    "#]]
    .assert_eq(&repo.ok(&["query", "-m", "literal", "registry.npmjs.org"]));
    suspects().iter().for_each(|(path, _, secret)| repo.write(path, secret));
    repo.ok(&["sync"]);
    let mut expected: Vec<_> = suspects().iter().map(|(path, ..)| ((*path).to_owned(), "secret".to_owned())).collect();
    expected.sort();
    assert_eq!(skipped(&repo), expected);
    expect![[r#"
        ixmcp: INVALID_PATH: .npmrc may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: web/.npmrc may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: config/public.env may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: .env may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: .env~ may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: .envrc may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: infra/terraform.tfvars may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: .aws/config may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        ixmcp: INVALID_PATH: .pypirc may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
    "#]].assert_eq(&refused_slices(&repo, suspects().iter().map(|(path, ..)| *path)));
}

#[test]
fn a_secret_that_was_found_by_its_content_is_not_read_again() {
    let repo = Repo::new("//- /a.txt\nplain text\n");
    repo.write("mykey", key("OPENSSH"));
    let workspace = open(repo.path());
    settle(&workspace);
    let last_change = || workspace.read(&Budget::unlimited(), |snapshot| snapshot.fact(Fact::LastChange)).unwrap();
    let before = last_change();
    sync(&workspace);
    assert_eq!(last_change(), before);
}

#[test]
fn files_that_git_ignores_are_looked_at_before_they_are_shown() {
    let repo = Repo::new(
        r"
//- /.gitignore
/local
//- /local/notes.txt
an ignored note
",
    );
    repo.write("local/mykey", key("OPENSSH"));
    repo.ok(&["sync"]);
    assert_eq!(repo.ok(&["slice", "local/notes.txt", "1", "9"]), "an ignored note\n");
    expect![[r#"
        ixmcp: INVALID_PATH: local/mykey may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
    "#]].assert_eq(&refused_slices(&repo, ["local/mykey"].into_iter()));
}

#[test]
fn public_keys_and_sources_with_a_key_in_them_are_indexed() {
    let public = format!("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{}-----END PGP PUBLIC KEY BLOCK-----\n", body(12));
    let repo = Repo::new("");
    for (path, content) in [
        ("apt/repo.gpg.key", public.clone()),
        ("ca.pem", public.replace("PGP PUBLIC KEY BLOCK", "CERTIFICATE")),
        ("tests/test_tls.py", format!("KEY = \"\"\"\\\n{}\"\"\"\n", key("RSA"))),
        ("docs/tls.md", format!("# TLS\n\n```\n{}```\n", key("RSA"))),
        ("main.py", format!("TOKEN = '{}'\n", token())),
    ] {
        repo.write(path, content);
    }
    repo.ok(&["sync"]);
    assert_eq!(skipped(&repo), []);
    assert_eq!(repo.ok(&["slice", "apt/repo.gpg.key", "1"]), "-----BEGIN PGP PUBLIC KEY BLOCK-----\n");
    assert_eq!(repo.ok(&["slice", "main.py", "1"]), format!("TOKEN = '{}'\n", token()), "masking is off");
}

#[test]
fn a_setting_masks_tokens_in_hits_and_slices_without_moving_anything() {
    let repo = Repo::new("//- /.gitignore\n/local.py\n");
    let source = format!("# ä\nTOKEN = '{}'  # deploys\nkey = \"\"\"\n{}\"\"\"\nafter = 1\n", token(), key("RSA"));
    repo.write("main.py", &source);
    repo.write("local.py", &source);
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(source.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    repo.write("wide.py", wide);
    let masked = |arguments: &[&str]| {
        let output = repo.command(arguments).env("IXMCP_MASK_SECRETS", "true").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let search = ["query", "-m", "literal", "deploys", "--json"];
    let previews = |answer: &str| -> Vec<String> {
        let answer: Value = serde_json::from_str(answer).unwrap();
        answer["results"].as_array().unwrap().iter().map(|hit| hit["preview"].as_str().unwrap().to_owned()).collect()
    };
    let open = vec![format!("TOKEN = '{}'  # deploys", token()); 2];
    assert_eq!(previews(&repo.ok(&search)), open);
    assert_eq!(previews(&masked(&search)), vec![format!("TOKEN = 'ghp_{}'  # deploys", "*".repeat(36)); 2]);
    assert_eq!(masked(&["query", "-m", "literal", &token()[4..], "--json"]).matches("main.py").count(), 0);
    for path in ["main.py", "local.py", "wide.py"] {
        let content = masked(&["slice", path, "1", "99"]);
        assert!(!content.contains(&token()[4..]) && !content.contains("b3BlbnNza"), "{path}: {content}");
        let shape = |text: &str| text.lines().map(|line| line.chars().count()).collect::<Vec<_>>();
        assert_eq!(shape(&content), shape(&source), "{path}");
        // A slice that begins within a key shows none of it either.
        assert!(masked(&["slice", path, "9"]).starts_with("************"), "{path}");
    }
    assert_eq!(previews(&repo.ok(&search)), open, "it can be switched off again");
}

#[test]
fn a_repository_cannot_switch_masking() {
    let repo = Repo::new(
        r"
//- /.ixmcp.toml
[secrets]
mask = false
",
    );
    repo.write("main.py", format!("TOKEN = '{}'\n", token()));
    let output = repo.command(&["query", "-m", "literal", "TOKEN"]).env("IXMCP_MASK_SECRETS", "true").output().unwrap();
    expect![[r#"
        main.py:1  [TOKEN]
            TOKEN = 'ghp_************************************'
    "#]]
    .assert_eq(&String::from_utf8(output.stdout).unwrap());
}

#[test]
fn secrets_that_come_and_go_leave_what_a_fresh_build_makes() {
    let repo = Repo::new(
        r#"
//- /a.txt
plain text
//- /b.json
{"password": "hunter2secret"}
//- /g/config
[core]
"#,
    );
    let workspace = watched(repo.path());
    let steps: &[&dyn Fn()] = &[
        &|| repo.write("a.txt", key("OPENSSH")),
        &|| repo.write("a.txt", "plain text again\n"),
        // The same bytes under a name that says what they are.
        &|| fs::rename(repo.path().join("b.json"), repo.path().join("credentials.json")).unwrap(),
        &|| fs::rename(repo.path().join("credentials.json"), repo.path().join("b.json")).unwrap(),
        &|| repo.write(".env", "DEBUG=true\n"),
        &|| repo.write(".env", "DEBUG=true\nPASSWORD=hunter2secret\n"),
        &|| fs::rename(repo.path().join(".env"), repo.path().join("env")).unwrap(),
        &|| fs::rename(repo.path().join("env"), repo.path().join("app.env")).unwrap(),
        &|| repo.write("app.env", "DEBUG=false\n"),
        &|| repo.write("x.pem", key("RSA")),
        &|| repo.write("x.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        &|| fs::create_dir_all(repo.path().join("g/objects")).unwrap(),
        &|| fs::create_dir_all(repo.path().join("g/refs")).unwrap(),
        &|| repo.write("g/HEAD", "ref: refs/heads/main\n"),
        &|| repo.remove("g/HEAD"),
    ];
    for (at, step) in steps.iter().enumerate() {
        step();
        freshen(&workspace);
        assert_same(&dump(&workspace), &fresh_dump(repo.path()), &format!("step {at}"));
    }
}

#[test]
fn what_git_keeps_in_a_bare_repository_is_not_indexed() {
    let repo = Repo::new("//- /README.md\n# Around\n");
    let git = |arguments: &[&str]| {
        assert!(Command::new("git").args(arguments).current_dir(repo.path()).output().unwrap().status.success());
    };
    git(&["init", "-q", "--bare", "store.git"]);
    git(&["--git-dir=store.git", "config", "remote.origin.url", "https://me:hunter2secret@example.org/x"]);
    repo.write("store.git/worktree/notes.md", "# Kept beside\n");
    repo.ok(&["sync"]);
    assert_eq!(repo.ok(&["files"]), "README.md\nstore.git/worktree/notes.md\n");
    expect![[r#"
        ixmcp: INVALID_PATH: REPOSITORY/store.git/config is git's or ixmcp's own and never shown. Name a file of the project.
    "#]].assert_eq(&refused_slices(&repo, ["store.git/config"].into_iter()));
    // The folder that the program is started in.
    let bare = tempfile::tempdir().unwrap();
    assert!(
        Command::new("git").args(["init", "-q", "--bare"]).current_dir(bare.path()).output().unwrap().status.success()
    );
    let mut inside = repo.command(&["files"]);
    inside.current_dir(bare.path());
    let listed = inside.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.contains("config")).count(), 0);
}
