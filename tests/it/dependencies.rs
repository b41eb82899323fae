//! `ixmcp deps` and `@deps`: the sources of what a repository depends on, as package managers leave them on disk.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;

/// A repository that depends on packages of four ecosystems.
const MANIFESTS: &str = r#"
//- /Cargo.lock
version = 4

[[package]]
name = "own"
version = "0.1.0"
dependencies = ["engine 2.0.0", "absent"]

[[package]]
name = "engine"
version = "2.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
dependencies = ["piston"]

[[package]]
name = "engine"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "piston"
version = "0.3.1"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "absent"
version = "9.9.9"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "../../escape"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
//- /src/lib.rs
pub fn own_function() {}
//- /web/package.json
{"name": "web", "dependencies": {"@acme/gauge": "^1.0.0", "sibling": "*", "outside": "*"}}
//- /web/sibling/package.json
{"name": "sibling"}
//- /web/sibling/index.js
export function siblingFunction() {}
//- /web/node_modules/@acme/gauge/package.json
{"name": "@acme/gauge", "version": "1.2.3"}
//- /web/node_modules/@acme/gauge/index.js
/** Measures the pressure of the boiler. */
export function measurePressure(boiler) { return boiler.pressure; }
//- /web/node_modules/transitive/package.json
{"name": "transitive", "version": "4.0.0"}
//- /web/node_modules/transitive/index.js
export function transitivePressure() {}
//- /.gitignore
node_modules
.venv
//- /pyproject.toml
[project]
name = "own"
dependencies = ["Boiler_Room>=1", "six", "not-installed"]
//- /.venv/lib/python3.12/site-packages/boiler_room-1.5.dist-info/METADATA
Metadata-Version: 2.1
Name: Boiler.Room
Version: 1.5

Name: not this
//- /.venv/lib/python3.12/site-packages/boiler_room-1.5.dist-info/RECORD
boiler_room/__init__.py,,
boiler_room/pressure.py,,
../../../../etc/passwd.py,,
//- /.venv/lib/python3.12/site-packages/boiler_room/__init__.py
from .pressure import release_pressure
//- /.venv/lib/python3.12/site-packages/boiler_room/pressure.py
def release_pressure(boiler):
    """Release the pressure of a boiler."""
    return boiler
//- /.venv/lib/python3.12/site-packages/six-1.16.dist-info/METADATA
Name: six
Version: 1.16
//- /.venv/lib/python3.12/site-packages/six-1.16.dist-info/RECORD
six.py,,
//- /.venv/lib/python3.12/site-packages/six.py
PY3 = True
//- /go.mod
module example.com/own

require example.com/Valve v1.0.0
"#;

/// The repository, and what lies in its user's home.
fn project() -> Repo {
    let repo = Repo::new(MANIFESTS);
    for (path, text) in [
        (
            "cargo/engine-2.0.0/src/lib.rs",
            "/// Starts the engine with a pressure.\npub fn start_engine(pressure: u32) {}\n",
        ),
        ("cargo/engine-1.0.0/src/lib.rs", "pub fn start_old_engine() {}\n"),
        ("cargo/piston-0.3.1/src/lib.rs", "pub fn move_piston() {}\n"),
        (
            "go/example.com/!valve@v1.0.0/valve.go",
            "package valve\n\n// OpenValve lowers the pressure.\nfunc OpenValve() {}\n",
        ),
    ] {
        let path = path
            .replace("cargo/", ".cargo/registry/src/index.crates.io-1/")
            .replace("go/example", "go/pkg/mod/example");
        let path = repo.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // What a repository links to is not a dependency: a package of its own, and a folder elsewhere.
    let installed = repo.path().join("web/node_modules");
    std::os::unix::fs::symlink("../sibling", installed.join("sibling")).unwrap();
    fs::create_dir_all(repo.home().join("private")).unwrap();
    fs::write(repo.home().join("private/secret.js"), "export function privatePressure() {}\n").unwrap();
    std::os::unix::fs::symlink(repo.home().join("private"), installed.join("outside")).unwrap();
    repo
}

fn json_of(repo: &Repo, arguments: &[&str]) -> Value {
    serde_json::from_str(&repo.ok(&[arguments, &["--json"]].concat())).unwrap()
}

/// `ecosystem name version` of each dependency, with the number of files or what is wrong.
fn rows(answer: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |one: &Value| {
        let state = if one["files"].is_u64() { one["files"].to_string() } else { text(&one["problem"]) };
        format!("{} {} {}: {state}", text(&one["ecosystem"]), text(&one["name"]), text(&one["version"]))
    };
    answer["dependencies"].as_array().unwrap().iter().map(of).collect()
}

/// The error of a query.
fn refused(repo: &Repo, arguments: &Value) -> String {
    repo.fails(&["call", "query", "--args", &arguments.to_string()])
}

/// The files of the hits, each with the folder of its repository.
fn files(answer: &Value) -> Vec<String> {
    let mut files: Vec<String> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| {
            let root = Path::new(hit["repo"].as_str().unwrap_or_default());
            format!("{}/{}", root.file_name().unwrap_or_default().to_str().unwrap(), hit["file_path"].as_str().unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn the_sources_of_dependencies_are_indexed_where_package_managers_keep_them() {
    let repo = project();
    let answer = json_of(&repo, &["deps"]);
    assert_eq!(
        rows(&answer),
        [
            "cargo absent 9.9.9: its sources are not on this machine",
            "cargo engine 2.0.0: 1",
            "go example.com/Valve v1.0.0: 1",
            "npm @acme/gauge 1.2.3: 2",
            "npm outside : it is not installed",
            "pypi boiler-room 1.5: 2",
            "pypi not-installed : it is not installed",
            "pypi six 1.16: it has no folder of Python sources",
        ],
        "{answer}"
    );
    // Nothing is written next to the sources, and the repository itself has no part of them.
    for folder in [".cargo/registry/src/index.crates.io-1/engine-2.0.0", "go/pkg/mod/example.com/!valve@v1.0.0"] {
        let names: Vec<_> =
            fs::read_dir(repo.home().join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 1, "{folder}: {names:?}");
    }
    let own = repo.call("query", &json!({ "text": "pressure", "mode": "literal" }));
    assert_eq!(own["results"], json!([]), "{own}");

    let found = repo.call("query", &json!({ "text": "pressure", "mode": "literal", "repo": "@deps", "limit": 50 }));
    let mut found = files(&found);
    found.dedup();
    assert_eq!(
        found,
        [
            "!valve@v1.0.0/valve.go",
            "boiler_room/__init__.py",
            "boiler_room/pressure.py",
            "engine-2.0.0/src/lib.rs",
            "gauge/index.js"
        ]
    );
    let smart = repo.call("query", &json!({ "text": "release the pressure of a boiler", "repo": "@deps" }));
    assert_eq!(smart["results"][0]["file_path"], "pressure.py", "{smart}");
    // The repository of a hit is one that can be read on.
    let root = smart["results"][0]["repo"].as_str().unwrap();
    let slice =
        repo.call("get_slice", &json!({ "repo": root, "file_path": "pressure.py", "start_line": 1, "end_line": 1 }));
    expect![[r#"
        def release_pressure(boiler):
    "#]]
    .assert_eq(slice["content"].as_str().unwrap());
    let symbol = repo.call("get_symbol", &json!({ "name": "start_engine", "repo": ["@deps", repo.path()] }));
    assert_eq!(symbol["symbols"][0]["file_path"], "src/lib.rs", "{symbol}");

    // One of them, by name and version.
    for name in ["@deps/engine", "@deps/ENGINE@2.0.0"] {
        let one = repo.call("query", &json!({ "text": "pressure", "mode": "literal", "repo": name }));
        assert_eq!(one["results"][0]["file_path"], "src/lib.rs", "{one}");
    }
    let scoped = repo.call("query", &json!({ "text": "measurePressure", "repo": "@deps/@acme/gauge@1.2.3" }));
    assert_eq!(scoped["results"][0]["file_path"], "index.js", "{scoped}");
    let error = refused(&repo, &json!({ "text": "x", "repo": "@deps/unheard" }));
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: this repository does not depend on unheard. `ixmcp deps --list` lists what it depends on.
    "#]].assert_eq(&error);
    let old = refused(&repo, &json!({ "text": "x", "repo": "@deps/engine@1.0.0" }));
    expect![[r#"
        ixmcp: INDEX_NOT_FOUND: not indexed: engine. `ixmcp deps` indexes what this repository depends on.
    "#]]
    .assert_eq(&old);
}

#[test]
fn dependencies_of_dependencies_are_indexed_on_request_and_new_ones_are_reported() {
    let repo = project();
    expect![[r#"
        ixmcp: INDEX_NOT_FOUND: not indexed: engine, example.com/Valve, @acme/gauge, boiler-room. `ixmcp deps` indexes what this repository depends on.
    "#]].assert_eq(&refused(&repo, &json!({ "text": "pressure", "repo": "@deps" })));
    let listed = json_of(&repo, &["deps", "--list"]);
    assert_eq!(listed["indexed"], 0, "{listed}");
    let all = json_of(&repo, &["deps", "--all"]);
    expect![[r#"
        cargo absent 9.9.9: its sources are not on this machine
        cargo engine 2.0.0: 1
        go example.com/Valve v1.0.0: 1
        npm @acme/gauge 1.2.3: 2
        npm outside : it is not installed
        pypi boiler-room 1.5: 2
        pypi not-installed : it is not installed
        pypi six 1.16: it has no folder of Python sources
        cargo ../../escape 1.0.0: its sources are not on this machine
        cargo engine 1.0.0: 1
        cargo piston 0.3.1: 1
        npm transitive 4.0.0: 2"#]]
    .assert_eq(&rows(&all).join("\n"));
    let found = repo.call("query", &json!({ "text": "move_piston", "repo": "@deps" }));
    assert_eq!(found["results"][0]["file_path"], "src/lib.rs", "{found}");
    assert_eq!(found["problems"], Value::Null, "{found}");

    // A new version is a new dependency, which the answer says is not indexed yet.
    let next = ".cargo/registry/src/index.crates.io-1/piston-0.4.0/src";
    fs::create_dir_all(repo.home().join(next)).unwrap();
    fs::write(repo.home().join(next).join("lib.rs"), "pub fn move_piston_twice() {}\n").unwrap();
    let lock = fs::read_to_string(repo.path().join("Cargo.lock")).unwrap();
    repo.write("Cargo.lock", lock.replace("0.3.1", "0.4.0").replace("\"absent\"", "\"piston\""));
    let found = repo.call("query", &json!({ "text": "move_piston", "repo": "@deps" }));
    expect!["INDEX_NOT_FOUND: not indexed: piston. `ixmcp deps` indexes what this repository depends on."]
        .assert_eq(found["problems"][0]["reason"].as_str().unwrap());

    // An edited source is found as it is now.
    let gauge = "web/node_modules/@acme/gauge/index.js";
    repo.write(gauge, "export function measureTemperature() {}\n");
    let found = repo.call("query", &json!({ "text": "measureTemperature", "mode": "literal", "repo": "@deps" }));
    assert_eq!(found["results"][0]["file_path"], "index.js", "{found}");
    let gone = repo.call("query", &json!({ "text": "measurePressure", "mode": "literal", "repo": "@deps" }));
    assert_eq!(gone["results"], json!([]), "{gone}");
}

#[test]
fn indexes_of_dependencies_are_shared_limited_and_pruned() {
    let repo = project();
    json_of(&repo, &["deps"]);
    let cache = repo.home().join(".cache/ixmcp/dependencies");
    let count = || fs::read_dir(&cache).unwrap().count();
    assert_eq!(count(), 4);
    let repos = json_of(&repo, &["repos"]);
    assert_eq!(repos["dependencies"]["total"], 4, "{repos}");
    assert_eq!(repos["groups"][0]["name"], "deps", "{repos}");
    let roots: Vec<&str> =
        repos["repositories"].as_array().unwrap().iter().filter_map(|one| one["repo"].as_str()).collect();
    assert!(roots.iter().all(|root| !root.contains("engine-2.0.0")), "{roots:?}");

    // Another repository that depends on the same crate uses the same index.
    let other = repo.path().join("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    let lock = fs::read_to_string(repo.path().join("Cargo.lock")).unwrap();
    fs::write(other.join("Cargo.lock"), lock).unwrap();
    let shared = json_of(&repo, &["--repo", other.to_str().unwrap(), "deps", "--list"]);
    assert_eq!(shared["indexed"], 1, "{shared}");

    // Indexes of sources that are gone are removed, and then those that were not used for longest.
    fs::remove_dir_all(repo.path().join("web/node_modules")).unwrap();
    let pruned = json_of(&repo, &["repos", "--prune"]);
    assert_eq!(pruned["removed_dependencies"], 1, "{pruned}");
    assert_eq!(count(), 3);
    let settings = repo.home().join(".config/ixmcp");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("config.toml"), "[deps]\ncache = \"64M\"\n").unwrap();
    let make_large = || {
        for folder in fs::read_dir(&cache).unwrap() {
            fs::File::create(folder.unwrap().path().join("padding")).unwrap().set_len(40 << 20).unwrap();
        }
    };
    make_large();
    let oldest = fs::read_dir(&cache)
        .unwrap()
        .map(|folder| folder.unwrap().path())
        .find(|folder| fs::read_to_string(folder.join("sources")).unwrap().ends_with("engine-2.0.0"));
    let used = fs::File::options().write(true).open(oldest.as_ref().unwrap().join("used")).unwrap();
    used.set_modified(SystemTime::now() - Duration::from_secs(86_400)).unwrap();
    let pruned = json_of(&repo, &["repos", "--prune"]);
    assert_eq!(pruned["removed_dependencies"], 2, "{pruned}");
    assert!(count() == 1 && !oldest.unwrap().exists());
    // What this repository depends on stays, even if it is more than that.
    json_of(&repo, &["deps"]);
    make_large();
    let kept = json_of(&repo, &["deps"]);
    assert_eq!((&kept["indexed"], &kept["removed"]), (&json!(3), &json!(0)), "{kept}");
    assert_eq!(count(), 3);

    fs::write(settings.join("config.toml"), "[groups]\ndeps = [\"~/x\"]\n").unwrap();
    let refused = repo.fails(&["repos"]);
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: HOME/.config/ixmcp/config.toml: groups.deps cannot be defined: @deps is what a repository depends on. Choose another name.
    "#]].assert_eq(&refused.replace(repo.home().to_str().unwrap(), "HOME"));
}

#[test]
fn only_the_machine_s_own_user_reaches_dependencies() {
    let repo = Repo::new("//- /a.md\nnothing\n");
    let empty = refused(&repo, &json!({ "text": "x", "repo": "@deps" }));
    expect![[r#"
        ixmcp: INDEX_NOT_FOUND: this repository depends on nothing whose sources are on this machine. `ixmcp deps --list` says what was looked for.
    "#]].assert_eq(&empty);
    let listed = String::from_utf8(repo.run(&["deps"]).stderr).unwrap();
    expect![[r#"
        found no Cargo.lock, package.json, pyproject.toml, requirements.txt or go.mod that names a dependency
    "#]]
    .assert_eq(&listed);
    // A folder that merely has the name of one is a folder like any other.
    let refused = refused(&repo, &json!({ "text": "x", "repo": repo.home().join(".cargo") }));
    assert!(!refused.is_empty());
}
