//! `ixmcp doctor`: each check on a repository that is well, and on one that has what it looks for.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use serde_json::Value;

use crate::support::harness::{Repo, numberless};

/// The exit code, and the findings of one check.
fn look(mut command: Command, check: &str) -> (i32, Vec<Value>) {
    let output = command.output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let code = output.status.code().unwrap();
    assert_eq!(answer["ok"], code == 0, "{answer}");
    let findings = answer["findings"].as_array().unwrap().iter();
    (code, findings.filter(|finding| finding["check"] == check).cloned().collect())
}

fn doctor(repo: &Repo, check: &str) -> (i32, Vec<Value>) {
    look(repo.command(&["doctor", "--json", check]), check)
}

/// The level of the only finding, and what it says.
fn only(findings: &[Value]) -> (&str, String) {
    assert_eq!(findings.len(), 1, "{findings:?}");
    (findings[0]["level"].as_str().unwrap(), shown(findings))
}

/// Each finding's message, and its remedy below.
fn shown(findings: &[Value]) -> String {
    let lines = findings.iter().flat_map(|finding| [&finding["message"], &finding["remedy"]]);
    lines.filter_map(Value::as_str).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_repository_that_is_well_has_notes_at_most() {
    let repo = Repo::new(
        r"
//- /a.py
def f(): ...
//- /.venv/pyvenv.cfg
home = /usr
",
    );
    let (code, findings) = doctor(&repo, "database");
    assert_eq!((code, only(&findings).0), (0, "note"), "an index that was never made");
    assert!(!repo.database().exists(), "looking makes nothing");
    repo.sync();
    let answer: Value = serde_json::from_str(&repo.ok(&["doctor", "--json"])).unwrap();
    let findings = answer["findings"].as_array().unwrap().iter();
    let levels = findings.map(|finding| (finding["check"].as_str().unwrap(), finding["level"].as_str().unwrap()));
    // How many watches a machine has is not ours to say, or whether another ixmcp is installed.
    let levels: Vec<_> = levels.filter(|(check, _)| !["watching", "program"].contains(check)).collect();
    assert_eq!(
        levels,
        [
            ("settings", "ok"),
            ("database", "ok"),
            ("edits", "ok"),
            ("daemon", "note"),
            ("port", "ok"),
            ("socket", "ok"),
            ("model", "ok"),
            ("grammars", "ok"),
            // The age of the type engine, and the environment.
            ("python", "ok"),
            ("python", "ok"),
            ("clients", "note")
        ]
    );
    let printed = repo.transcript(&[&["doctor", "database", "model"], &["doctor", "databse"]], &[]);
    expect![[r#"
        $ ixmcp doctor database model
        database   ok       the index is sound: 2 files, schema 7
        model      ok       ixmcp-static, built in, 256 dimensions
        $ ixmcp doctor databse
        ixmcp: INVALID_ARGUMENT: there is no check "databse". Did you mean database?
        exit code 2
    "#]]
    .assert_eq(&printed);
}

#[test]
fn a_damaged_index_is_reported_and_repaired() {
    let repo = Repo::new("");
    for at in 0..200 {
        repo.write(&format!("src/m{at}.py"), format!("def f{at}(x):\n    return g{at}(x)\n").repeat(20));
    }
    repo.sync();
    let length = fs::metadata(repo.database()).unwrap().len();
    let holed = || {
        let mut bytes = fs::read(repo.database()).unwrap();
        let (from, to) = (bytes.len() / 3, bytes.len() / 2);
        bytes[from..to].fill(0x5a);
        fs::write(repo.database(), bytes).unwrap();
    };
    let cut = || fs::File::options().write(true).open(repo.database()).unwrap().set_len(length / 2).unwrap();
    let other = || fs::write(repo.database(), "no database at all").unwrap();
    let mut damages = String::new();
    for damage in [&holed as &dyn Fn(), &cut, &other] {
        damage();
        let (code, findings) = doctor(&repo, "database");
        let (level, reported) = only(&findings);
        assert_eq!((code, level), (1, "error"), "{reported}");
        damages += &reported;
        assert_eq!(findings[0]["fixable"], true);
        let (code, findings) = look(repo.command(&["doctor", "--fix", "--json", "database"]), "database");
        assert_eq!((code, &findings[0]["fixed"]), (0, &Value::Bool(true)), "{findings:?}");
        let (code, findings) = doctor(&repo, "database");
        assert_eq!((code, only(&findings).0), (0, "ok"), "{findings:?}");
    }
    expect![[r#"
        the index is damaged (database disk image is malformed)
        Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.
        the index is damaged (database disk image is malformed)
        Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.
        REPOSITORY/.ixmcp/index.db is not an index of ixmcp, or is damaged
        Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.
    "#]]
    .assert_eq(&repo.named(&damages, &[]));
    assert_eq!(repo.call("stats", &serde_json::json!({}))["total_files"], 200);
}

#[test]
fn an_index_with_other_tables_or_that_is_a_folder_is_reported_and_repaired() {
    let repo = Repo::new("//- /a.py\ndef f(): ...\n");
    repo.sync();
    let sql = |statements: &'static str| {
        let database = repo.database();
        move || assert!(Command::new("sqlite3").arg(&database).arg(statements).status().unwrap().success())
    };
    let folder = || {
        fs::remove_file(repo.database()).unwrap();
        fs::create_dir(repo.database()).unwrap();
    };
    let mut damages = String::new();
    for (name, damage) in [
        ("files", &sql("DROP TABLE files; CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT)") as &dyn Fn()),
        ("files", &sql("ALTER TABLE files RENAME COLUMN hash TO digest")),
        ("chunks", &sql("DROP TABLE chunks")),
        ("chunks_by_hash", &sql("DROP INDEX chunks_by_hash")),
        ("index.db", &folder),
    ] {
        damage();
        let (code, findings) = doctor(&repo, "database");
        let (level, reported) = only(&findings);
        assert_eq!((code, level), (1, "error"), "{name}: {reported}");
        damages += &reported;
        let (code, findings) = look(repo.command(&["doctor", "--fix", "--json", "database"]), "database");
        assert_eq!((code, &findings[0]["fixed"]), (0, &Value::Bool(true)), "{name}: {findings:?}");
        assert_eq!(only(&doctor(&repo, "database").1).0, "ok", "{name}");
        assert_eq!(repo.call("stats", &serde_json::json!({}))["total_files"], 1, "{name}");
    }
    expect![[r#"
        the index is damaged: the index files_by_hash is missing; the index files_by_language is missing; the index files_by_trigram_slot is missing
        Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.
        the index is damaged: the index files_by_hash differs from that of a new index; the table files differs from that of a new index
        Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.
        the index is damaged: the index chunks_by_hash is missing; the table chunks is missing
        Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.
        the index is damaged: the index chunks_by_hash is missing
        Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.
        REPOSITORY/.ixmcp/index.db is not an index of ixmcp, or is damaged
        Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.
    "#]].assert_eq(&repo.named(&damages, &[]));
    // What a user has added is not checked.
    sql("CREATE TABLE mine (a)")();
    assert_eq!(only(&doctor(&repo, "database").1).0, "ok");
}

#[test]
fn an_index_whose_first_build_was_broken_off_is_not_called_sound() {
    let repo = Repo::new("");
    for at in 0..300 {
        repo.write(&format!("src/m{at}.py"), format!("def f{at}(x):\n    return g{at}(x)\n").repeat(100));
    }
    // No file may grow beyond 4.5 MB: for a program that is as a disk that is full.
    let asked = repo.command(&[]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 9216; exec \"$0\" \"$@\""]);
    limited.arg(asked.get_program()).arg("sync").current_dir(repo.path());
    for (name, value) in asked.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let output = limited.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    // Progress comes before it.
    expect!["ixmcp: READ_ONLY: the disk is full or failing (disk I/O error). Free some space and run `ixmcp sync`."]
        .assert_eq(String::from_utf8_lossy(&output.stderr).lines().last().unwrap());
    let (_, findings) = doctor(&repo, "database");
    let (level, reported) = only(&findings);
    assert_eq!(level, "warning", "{reported}");
    expect![[r#"
        the index is incomplete: its first build is running or was interrupted, with N files so far
        Run `ixmcp sync`, which continues it. On a full disk, free some space first.
    "#]]
    .assert_eq(&numberless(&reported));
    let (code, findings) = look(repo.command(&["doctor", "--fix", "--json", "database"]), "database");
    assert_eq!((code, &findings[0]["fixed"]), (0, &Value::Bool(true)), "{findings:?}");
    let (_, findings) = doctor(&repo, "database");
    let (level, reported) = only(&findings);
    assert_eq!(level, "ok");
    expect![[r#"
        the index is sound: 300 files, schema 7
    "#]]
    .assert_eq(&reported);
}

#[test]
fn ignored_settings_are_reported() {
    let repo = Repo::new(
        r"
//- /.ixmcp.toml
[index]
chunk_sizes = 3
",
    );
    let (code, findings) = doctor(&repo, "settings");
    let (level, reported) = only(&findings);
    assert_eq!((code, level), (0, "warning"));
    expect![[r#"
        REPOSITORY/.ixmcp.toml: index.chunk_sizes is not a setting; the nearest is index.chunk_size
        Correct it. docs/settings.md lists all settings.
    "#]]
    .assert_eq(&repo.named(&reported, &[]));
    repo.write(".ixmcp.toml", "[index\n");
    let (code, findings) = doctor(&repo, "settings");
    let (level, reported) = only(&findings);
    assert_eq!((code, level), (1, "error"));
    expect![[r#"
        REPOSITORY/.ixmcp.toml, line 1, is not TOML
        Correct it or remove it.
    "#]]
    .assert_eq(&repo.named(&reported, &[]));
}

#[test]
fn an_index_that_git_tracks_is_reported() {
    let repo = Repo::new("//- /a.txt\na\n");
    repo.sync();
    for arguments in [&["init", "-q"][..], &["add", "-f", ".ixmcp/.gitignore"]] {
        assert!(Command::new("git").args(arguments).current_dir(repo.path()).status().unwrap().success());
    }
    let (_, findings) = doctor(&repo, "database");
    assert_eq!(findings[0]["level"], "warning");
    expect![[r#"
        git tracks files in .ixmcp: they are not trusted, and rebuilt each time
        Run `git rm -r --cached .ixmcp`.
    "#]]
    .assert_eq(&shown(&findings[..1]));
}

#[test]
fn a_port_that_is_taken_is_a_note() {
    let repo = Repo::new("");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = repo.command(&["doctor", "--json", "port"]);
    command.env("IXMCP_TCP", &address);
    let (code, findings) = look(command, "port");
    let (level, reported) = only(&findings);
    assert_eq!((code, level), (0, "note"));
    expect![[r#"
        ADDRESS is taken by another program
        The daemon works without it. Choose another port with the setting daemon.tcp, or turn it off.
    "#]]
    .assert_eq(&reported.replace(&address, "ADDRESS"));
}

#[test]
fn a_socket_that_others_may_use_is_an_error_and_is_closed() {
    let repo = Repo::new("//- /a.txt\na\n");
    repo.ok(&["daemon", "start"]);
    assert_eq!(only(&doctor(&repo, "daemon").1).0, "ok");
    assert_eq!(only(&doctor(&repo, "socket").1).0, "ok");
    fs::set_permissions(repo.socket(), Permissions::from_mode(0o666)).unwrap();
    let (code, findings) = doctor(&repo, "socket");
    assert_eq!((code, only(&findings).0), (1, "error"), "{findings:?}");
    let (code, _) = look(repo.command(&["doctor", "--fix", "--json", "socket"]), "socket");
    assert_eq!(code, 0);
    assert_eq!(fs::metadata(repo.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    repo.ok(&["daemon", "stop"]);
}

#[test]
fn an_invalid_python_environment_is_reported() {
    let repo = Repo::new(
        r"
//- /a.py
x = 1
//- /empty/note
",
    );
    repo.sync();
    let with = |name: &str, value: &str| {
        let mut command = repo.command(&["doctor", "--json", "python"]);
        command.env_remove("VIRTUAL_ENV").env_remove("CONDA_PREFIX").env(name, value);
        let (code, mut findings) = look(command, "python");
        assert!(findings.remove(0)["message"].as_str().unwrap().starts_with("the built-in type engine is "));
        (code, findings)
    };
    let empty = repo.path().join("empty");
    let (code, findings) = with("VIRTUAL_ENV", empty.to_str().unwrap());
    assert_eq!((code, only(&findings).0), (0, "warning"), "{findings:?}");
    let (code, findings) = with("PATH", empty.to_str().unwrap());
    assert_eq!((code, only(&findings).0), (0, "note"), "{findings:?}");
}

#[test]
fn a_newer_ty_in_the_environment_is_named_with_the_setting_that_runs_it() {
    let repo = Repo::new("//- /a.py\nx = 1\n//- /.venv/pyvenv.cfg\nhome = /usr/bin\n");
    repo.sync();
    let log = repo.home().join("log");
    repo.write(".venv/bin/ty", format!("#!/bin/sh\necho run >> {}\n", log.display()));
    fs::set_permissions(repo.path().join(".venv/bin/ty"), Permissions::from_mode(0o755)).unwrap();
    let package = ".venv/lib/python3.12/site-packages/ty-1.dist-info";
    let about = |release: &str| {
        repo.write(
            &format!("{package}/METADATA"),
            format!("Metadata-Version: 2.4\nName: ty\nVersion: {release}\n\nWords\n"),
        );
        let (code, findings) = look(repo.command(&["doctor", "--json", "python"]), "python");
        assert_eq!(code, 0, "{findings:?}");
        findings.into_iter().find(|one| one["message"].as_str().unwrap().starts_with("ty "))
    };
    let newer = about("99.0.1").unwrap();
    assert_eq!(newer["level"], "note");
    expect![[r#"
        ty N.N.N is installed in REPOSITORY/.venv; the built-in type engine equals ty N.N.N
        To check with the newer one, set python.engine = "ty" and python.ty = "REPOSITORY/.venv/bin/ty" in your own settings; it is then run.
    "#]].assert_eq(&numberless(&repo.named(&shown(&[newer]), &[])));
    assert_eq!(about("0.0.9").unwrap()["level"], "ok");
    assert!(about("").is_none() && about("\u{1b}[31m").is_none());
    assert!(!log.exists(), "it was run");
    // The setting that it names works.
    repo.write(&format!("{package}/METADATA"), "Version: 99.0.1\n");
    let program = repo.path().canonicalize().unwrap().join(".venv/bin/ty");
    let mut command = repo.command(&["check"]);
    command.env("IXMCP_PYTHON_ENGINE", "ty").env("IXMCP_PYTHON_TY", program).output().unwrap();
    assert!(log.exists());
}

/// The executable as a package leaves it: at a path, with other files and folders (which end with `/`) around it.
struct Placed {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Placed {
    fn at(program: &str, others: &[(&str, &str)]) -> Self {
        // On the file system of the executable, which is then linked.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, text) in others.iter().chain([&(program, "")]) {
            let is_folder = path.ends_with('/');
            let path = root.join(path);
            fs::create_dir_all(if is_folder { &path } else { path.parent().unwrap() }).unwrap();
            if !is_folder {
                fs::write(path, text.replace("ROOT", root.to_str().unwrap())).unwrap();
            }
        }
        let program = root.join(program);
        fs::remove_file(&program).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_ixmcp"), &program).unwrap();
        Self { program, folder }
    }

    /// The program in `repo`, as `repo.command` would start the tested one.
    fn command(&self, repo: &Repo, arguments: &[&str]) -> Command {
        let built = repo.plain_command(arguments);
        let mut command = Command::new(&self.program);
        command.args(built.get_args()).current_dir(repo.path());
        for (name, value) in built.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("PATH", "/usr/bin:/bin");
        command
    }

    fn reported(&self, repo: &Repo) -> String {
        let (code, findings) = look(self.command(repo, &["doctor", "--json", "program"]), "program");
        let (level, reported) = only(&findings);
        assert_eq!((code, level), (0, "ok"), "{reported}");
        let root = self.folder.path().canonicalize().unwrap();
        reported.replace(root.to_str().unwrap(), "ROOT")
    }
}

#[test]
fn the_package_that_installed_the_program_is_named_with_how_to_update_it() {
    let repo = Repo::new("");
    let venv = ("venv/pyvenv.cfg", "");
    let info = ("venv/lib/python3.12/site-packages/ixmcp-0.1.0.dist-info/METADATA", "");
    let crates = "[v1]\n\"ixmcp 0.1.0 (registry+https://github.com/rust-lang/crates.io-index)\" = [\"ixmcp\"]\n";
    let own = "[v1]\n\"ixmcp 0.1.0 (path+file://ROOT/clone)\" = [\"ixmcp\"]\n";
    let manifest = "{ \"manifest_version\": \"0.3\", \"name\": \"ixmcp\" }";
    let reported = [
        ("lib/node_modules/ixmcp/node_modules/@ixmcp/linux-x64/bin/ixmcp", vec![]),
        ("shop/node_modules/@ixmcp/linux-x64/bin/ixmcp", vec![]),
        ("_npx/0a/node_modules/@ixmcp/linux-x64/bin/ixmcp", vec![]),
        ("uv/tools/ixmcp/bin/ixmcp", vec![("uv/tools/ixmcp/pyvenv.cfg", "")]),
        ("uv/archive-v0/a/bin/ixmcp", vec![("uv/archive-v0/a/pyvenv.cfg", "")]),
        ("pipx/venvs/ixmcp/bin/ixmcp", vec![("pipx/venvs/ixmcp/pyvenv.cfg", "")]),
        ("venv/bin/ixmcp", vec![venv, info]),
        ("cargo/bin/ixmcp", vec![("cargo/.crates.toml", crates)]),
        ("cargo/bin/ixmcp", vec![("cargo/.crates.toml", own)]),
        ("Cellar/ixmcp/0.1.0/bin/ixmcp", vec![]),
        ("bundle/server/ixmcp", vec![("bundle/manifest.json", manifest)]),
        ("i/ixmcp", vec![("i/man/", ""), ("i/completions/", "")]),
        ("usr/local/bin/ixmcp", vec![("usr/local/share/ixmcp/image", "")]),
        ("alone/bin/ixmcp", vec![]),
    ]
    .map(|(program, others)| Placed::at(program, &others).reported(&repo));
    expect![[r#"
        ixmcp VERSION, installed with npm for all projects: ROOT/lib/node_modules/ixmcp/node_modules/@ixmcp/linux-x64/bin/ixmcp
        To update: run `npm install --global ixmcp@latest`.
        ixmcp VERSION, installed with npm in ROOT/shop: ROOT/shop/node_modules/@ixmcp/linux-x64/bin/ixmcp
        To update: run `npm install ixmcp@latest` in ROOT/shop.
        ixmcp VERSION, installed with npx: ROOT/_npx/0a/node_modules/@ixmcp/linux-x64/bin/ixmcp
        To update: run `npx ixmcp@latest`: npx keeps the version that it once fetched until a newer one is named.
        ixmcp VERSION, installed with uv: ROOT/uv/tools/ixmcp/bin/ixmcp
        To update: run `uv tool upgrade ixmcp`.
        ixmcp VERSION, installed with uvx: ROOT/uv/archive-v0/a/bin/ixmcp
        To update: run `uvx ixmcp@latest`: uvx keeps the version that it once fetched until a newer one is named.
        ixmcp VERSION, installed with pipx: ROOT/pipx/venvs/ixmcp/bin/ixmcp
        To update: run `pipx upgrade ixmcp`.
        ixmcp VERSION, installed with pip in ROOT/venv: ROOT/venv/bin/ixmcp
        To update: run `ROOT/venv/bin/python -m pip install --upgrade ixmcp`.
        ixmcp VERSION, installed with cargo: ROOT/cargo/bin/ixmcp
        To update: run `cargo binstall ixmcp`, or `cargo install ixmcp --locked --profile dist --features jemalloc`.
        ixmcp VERSION, installed with cargo from ROOT/clone: ROOT/cargo/bin/ixmcp
        To update: run `git pull && cargo install --path . --locked --profile dist --features jemalloc` in ROOT/clone.
        ixmcp VERSION, installed with Homebrew: ROOT/Cellar/ixmcp/VERSION/bin/ixmcp
        To update: run `brew upgrade ixmcp`.
        ixmcp VERSION, installed as an MCP bundle: ROOT/bundle/server/ixmcp
        To update: download the newer .mcpb from https://github.com/ixmcp/ixmcp/releases and open it.
        ixmcp VERSION, installed from an archive: ROOT/i/ixmcp
        To update: download the newer archive from https://github.com/ixmcp/ixmcp/releases and replace the folder.
        ixmcp VERSION, installed in a container image: ROOT/usr/local/bin/ixmcp
        To update: pull or build the newer image, and start it again.
        ixmcp VERSION, installed as a single file: ROOT/alone/bin/ixmcp
        To update: download a newer version from https://github.com/ixmcp/ixmcp/releases and replace the file.
    "#]].assert_eq(&reported.concat().replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    let (_, findings) = look(repo.command(&["doctor", "--json", "program"]), "program");
    let built = Path::new(env!("CARGO_BIN_EXE_ixmcp")).canonicalize().unwrap();
    let names = [
        (built.to_str().unwrap(), "PROGRAM"),
        (env!("CARGO_MANIFEST_DIR"), "CLONE"),
        (env!("CARGO_PKG_VERSION"), "VERSION"),
    ];
    expect![[r#"
        ixmcp VERSION, installed by cargo in CLONE: PROGRAM
        To update: run `git pull && cargo build --release --locked` in CLONE.
    "#]]
    .assert_eq(&repo.named(&shown(&findings[..1]), &names));
}

#[test]
fn another_ixmcp_that_a_shell_would_start_is_reported() {
    let repo = Repo::new("");
    let placed = Placed::at("new/bin/ixmcp", &[("old/ixmcp", "#!/bin/sh\n")]);
    let folder = |name: &str| placed.folder.path().join(name);
    let findings = |folder: &Path| {
        let mut command = placed.command(&repo, &["doctor", "--json", "program"]);
        command.env("PATH", folder);
        look(command, "program").1
    };
    assert_eq!(findings(&folder("new/bin")).len(), 1, "the program itself");
    let other = &findings(&folder("old"))[1];
    assert_eq!(other["level"], "note");
    let root = placed.folder.path().canonicalize().unwrap();
    expect![[r#"
        a shell, and clients that start ixmcp by name, start another one: ROOT/old/ixmcp
        Remove the one that you do not want, or change the order of PATH.
    "#]]
    .assert_eq(&repo.named(&shown(std::slice::from_ref(other)), &[(root.to_str().unwrap(), "ROOT")]));
    // The script of the npm package starts the program of another package.
    let script = "lib/node_modules/ixmcp/bin/ixmcp.js";
    let placed =
        Placed::at("lib/node_modules/ixmcp/node_modules/@ixmcp/linux-x64/bin/ixmcp", &[(script, ""), ("bin/x", "")]);
    std::os::unix::fs::symlink(placed.folder.path().join(script), placed.folder.path().join("bin/ixmcp")).unwrap();
    let mut command = placed.command(&repo, &["doctor", "--json", "program"]);
    command.env("PATH", placed.folder.path().join("bin"));
    assert_eq!(look(command, "program").1.len(), 1);
}

/// The program is in a cache that is emptied: settings start it as the person did.
#[test]
fn setup_of_a_program_that_npx_or_uvx_fetched_starts_it_with_them() {
    for (program, others, words) in [
        ("_npx/0a/node_modules/@ixmcp/linux-x64/bin/ixmcp", vec![("bin/npx", "")], vec!["npx", "-y", "ixmcp", "mcp"]),
        ("archive-v0/a/bin/ixmcp", vec![("archive-v0/a/pyvenv.cfg", ""), ("bin/uvx", "")], vec!["uvx", "ixmcp", "mcp"]),
    ] {
        let repo = Repo::new("");
        let placed = Placed::at(program, &others);
        let bin = placed.folder.path().join("bin");
        let run = |arguments: &[&str]| {
            let mut command = placed.command(&repo, arguments);
            let output = command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        run(&["setup", "--yes", "claude-code", "opencode", "codex"]);
        let read = |file: &str| fs::read_to_string(repo.path().join(file)).unwrap();
        let json = |file: &str| -> Value { serde_json::from_str(&read(file)).unwrap() };
        let entry = &json(".mcp.json")["mcpServers"]["ixmcp"];
        assert_eq!((&entry["command"], &entry["args"]), (&words[0].into(), &words[1..].into()), "{entry}");
        assert_eq!(json("opencode.json")["mcp"]["ixmcp"]["command"], Value::from(words.clone()));
        let codex: toml::Table = read(".codex/config.toml").parse().unwrap();
        assert_eq!(codex["mcp_servers"]["ixmcp"]["command"].as_str(), Some(words[0]));
        assert_eq!(run(&["setup", "--yes", "claude-code", "opencode", "codex"]), "", "a second time changes nothing");
        let answer: Value = serde_json::from_str(&run(&["doctor", "--json", "clients"])).unwrap();
        assert_eq!(
            answer["findings"].as_array().unwrap().iter().map(|finding| &finding["level"]).collect::<Vec<_>>(),
            ["ok"; 3]
        );
        // Programs that no shell starts are given a path.
        run(&["setup", "--yes", "cursor", "--scope", "user"]);
        let home = repo.command(&[]).get_envs().find(|(name, _)| *name == "HOME").unwrap().1.unwrap().to_owned();
        let settings = fs::read_to_string(Path::new(&home).join(".cursor/mcp.json")).unwrap();
        let given: Value = serde_json::from_str(&settings).unwrap();
        assert_eq!(given["mcpServers"]["ixmcp"]["command"], bin.join(words[0]).to_str().unwrap());
        // An installed program leaves what starts the package as it is.
        let mut installed = repo.command(&["setup", "--yes", "cursor", "--scope", "user"]);
        assert!(installed.status().unwrap().success());
        assert_eq!(fs::read_to_string(Path::new(&home).join(".cursor/mcp.json")).unwrap(), settings);
    }
}

#[test]
fn an_index_that_is_not_built_yet_is_no_warning() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    repo.ok(&["check"]);
    expect![[r#"
        $ ixmcp doctor database
        database   note     there is no index yet
                            Run `ixmcp sync`, or any query: the first one builds it.
    "#]]
    .assert_eq(&repo.transcript(&[&["doctor", "database"]], &[]));
    let (_, findings) = doctor(&repo, "python");
    assert_eq!(findings.iter().map(|finding| &finding["level"]).collect::<Vec<_>>(), ["ok"; 2], "{findings:?}");
}
