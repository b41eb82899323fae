//! A model in a child process: hostile files, crashes, timeouts, and the fallbacks of a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ixmcp::embed::Purpose;
use ixmcp::embed::transformer::{RunnerConfig, Transformer};
use ixmcp::error::{ErrorKind, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::harness::{Repo, Server};
use crate::support::waiting::until;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ixmcp");

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/models").join(name)
}

fn in_child(program: &Path) -> RunnerConfig {
    RunnerConfig { program: Some(program.to_owned()), ..RunnerConfig::default() }
}

fn opened(folder: &Path, config: &RunnerConfig) -> Result<Transformer> {
    Transformer::open("tried", folder, config)
}

/// A model's folder without its ONNX file, and the path at which that is missing.
fn without_model() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["tokenizer.json", "config.json", "sentence_bert_config.json", "modules.json"] {
        std::fs::copy(fixture("bert").join(name), folder.path().join(name)).unwrap();
    }
    let model = folder.path().join("model.onnx");
    (folder, model)
}

/// A program that is started instead of this one.
fn script(folder: &Path, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join("program");
    std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[test]
fn a_model_in_a_child_process_returns_the_same_vectors() {
    let (here, there) = (RunnerConfig::default(), in_child(Path::new(PROGRAM)));
    for name in ["bert", "albert"] {
        let [here, there] = [&here, &there].map(|config| opened(&fixture(name), config).unwrap());
        for text in ["", "erase a file", &"walk the tree and hash each file ".repeat(12)] {
            let [one, other] = [&here, &there].map(|model| model.values(Purpose::Passage, text).unwrap());
            assert_eq!(one, other, "{name}: {text:?}");
        }
    }
}

#[test]
fn a_file_with_a_changed_byte_is_rejected_or_runs() {
    let (folder, file) = without_model();
    let model = std::fs::read(fixture("bert/onnx/model.onnx")).unwrap();
    let config = in_child(Path::new(PROGRAM));
    for part in [0, 1, 100, model.len() / 2, model.len() - 1] {
        std::fs::write(&file, &model[..part]).unwrap();
        let error = opened(folder.path(), &config).err().unwrap();
        assert_eq!(error.kind, ErrorKind::UnsupportedFormat, "{part} bytes: {error}");
    }
    let head = model.len() - 60_000.min(model.len());
    for at in (0..model.len()).step_by(model.len() / 30).chain((0..head).step_by(1999)) {
        let mut broken = model.clone();
        broken[at] ^= 0x15;
        std::fs::write(&file, &broken).unwrap();
        if let Err(error) = opened(folder.path(), &config) {
            assert_eq!(error.kind, ErrorKind::UnsupportedFormat, "byte {at}: {error}");
        }
    }
}

/// A field of a protocol buffer.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    field.push(u8::try_from(length).unwrap());
    field.extend(content);
    field
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let mut node: Vec<u8> = inputs.iter().flat_map(|input| field(1, input.as_bytes())).collect();
    node.extend([field(2, output.as_bytes()), field(4, operator.as_bytes())].concat());
    field(1, &node)
}

/// A model of these nodes, from `input_ids` and the whole number `many` to `out`.
fn model_of(nodes: &[Vec<u8>], many: i64) -> Vec<u8> {
    let shape = [field(1, &[]), field(1, &[])].concat();
    let tensor = [vec![1 << 3, 7], field(2, &shape)].concat();
    let input = [field(1, b"input_ids"), field(2, &field(1, &tensor))].concat();
    let constant = [vec![1 << 3, 1, 2 << 3, 7], field(8, b"many"), field(9, &many.to_le_bytes())].concat();
    let graph = [nodes.concat(), field(5, &constant), field(11, &input), field(12, &field(1, b"out"))].concat();
    [vec![1 << 3, 8], field(7, &graph), field(8, &[2 << 3, 13])].concat()
}

#[test]
fn a_file_that_needs_too_much_memory_is_rejected() {
    let (folder, file) = without_model();
    let refused = |model: &[u8]| {
        std::fs::write(&file, model).unwrap();
        let error = opened(folder.path(), &in_child(Path::new(PROGRAM))).err().unwrap();
        assert_eq!(error.kind, ErrorKind::UnsupportedFormat, "{error}");
    };
    let numbers = |many| model_of(&[node("ConstantOfShape", &["many"], "out")], many);
    refused(&numbers(1 << 40));
    refused(&numbers(i64::MAX));
    refused(&numbers(-1));
    // Each of these is twice the one before.
    let mut nodes = vec![node("ConstantOfShape", &["many"], "v0")];
    let names: Vec<String> = (0..24).map(|at| format!("v{at}")).chain(["out".to_owned()]).collect();
    nodes.extend(names.windows(2).map(|pair| node("Add", &[&pair[0], &pair[0]], &pair[1])));
    refused(&model_of(&nodes, 1 << 29));
    refused(&model_of(&[node("NoSuchThing", &["input_ids"], "out")], 1));
    refused(&model_of(&[node("Identity", &["nowhere"], "out")], 1));
    refused(&model_of(&[node("Identity", &["input_ids"], "elsewhere")], 1));
}

#[test]
fn a_model_that_does_not_answer_is_killed() {
    let (folder, file) = without_model();
    std::fs::copy(fixture("bert/onnx/model.onnx"), file).unwrap();
    let tried = |text: &str| {
        let config = RunnerConfig { timeout: Duration::from_millis(500), ..in_child(&script(folder.path(), text)) };
        let error = opened(folder.path(), &config).err().unwrap();
        assert_eq!(error.kind, ErrorKind::UnsupportedFormat, "{text}: {error}");
        error.message.to_string()
    };
    assert!(tried("exec sleep infinity").contains("too long"));
    // Ready, and then silent.
    let silent = r#"echo '{"ready":{"device":"cpu","warning":null}}'; exec sleep infinity"#;
    assert!(tried(silent).contains("too long"));
    for nonsense in [
        "exit 0",
        "echo what",
        "yes",
        "yes | tr -d '\\n'",
        r#"echo '{"gave":{"id":0,"shape":[1]}}'; echo none"#,
        r#"echo '{"ready":{"device":"cpu","warning":null}}'; echo '{"gave":{"id":1,"shape":[4611686018427387904,4,4]}}'; exec sleep infinity"#,
        &format!("{PROGRAM} embedder \"$2\" | head -c 60"),
    ] {
        tried(nonsense);
    }
}

#[test]
fn a_killed_model_process_is_replaced_a_few_times() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let program = script(folder.path(), &format!("echo $$ > {}\nexec {PROGRAM} \"$@\"", pid.to_str().unwrap()));
    let model = opened(&fixture("bert"), &in_child(&program)).unwrap();
    let values = || model.values(Purpose::Passage, "erase a file");
    let before = values().unwrap();
    let kill = || {
        let pid: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        let process = Pid::from_raw(pid).unwrap();
        kill_process(process, Signal::KILL).unwrap();
    };
    for _ in 0..3 {
        kill();
        assert_eq!(values().unwrap(), before);
    }
    kill();
    assert_eq!(values().err().unwrap().kind, ErrorKind::UnsupportedFormat, "the number of restarts is limited");
    drop(model);
}

/// The processes that run a model for that one.
fn embedders(parent: Pid) -> Vec<Pid> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", parent.as_raw_nonzero())).unwrap().flatten();
    let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let children: Vec<i32> = lists.flat_map(|list| list.split(' ').flat_map(str::parse).collect::<Vec<_>>()).collect();
    let runs_a_model = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|&byte| byte == 0).any(|word| word == b"embedder"))
    };
    children.into_iter().filter(runs_a_model).filter_map(Pid::from_raw).collect()
}

const MODEL_STORE: &str = r"
//- /shelf.rs
/// Erases a file.
pub fn erase(file: &Path) {
    fs::unlink(file)
}
";

/// Has the person at `home` choose a model for a repository.
fn choose(home: &Repo, repo: &Repo, model: &str) {
    home.ok(&["model", "use", fixture(model).to_str().unwrap(), "--repo", repo.path().to_str().unwrap()]);
}

/// Asks until the repository's model runs.
fn in_use(server: &mut Server, repo: &Repo) {
    let repo = repo.path().to_str().unwrap();
    until("it is in use", || {
        server.call("query", &json!({ "text": "erase the file", "repo": repo }));
        server.call("stats", &json!({ "repo": repo }))["transformer"]["device"] == "cpu"
    });
}

#[test]
fn repositories_of_one_process_share_a_model() {
    let [one, other, third] = [MODEL_STORE, MODEL_STORE, MODEL_STORE].map(Repo::new);
    for (repo, model) in [(&one, "bert"), (&other, "bert"), (&third, "albert")] {
        choose(&one, repo, model);
    }
    let mut server = Server::start(one.command(&["mcp", "--no-daemon"]));
    in_use(&mut server, &one);
    in_use(&mut server, &other);
    assert_eq!(embedders(server.pid()).len(), 1);
    in_use(&mut server, &third);
    assert_eq!(embedders(server.pid()).len(), 2);
}

#[test]
fn a_model_that_dies_fails_no_query() {
    let repo = Repo::new(MODEL_STORE);
    choose(&repo, &repo, "bert");
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    in_use(&mut server, &repo);
    for round in 0..6 {
        for process in embedders(server.pid()) {
            kill_process(process, Signal::KILL).unwrap();
        }
        let found = server.call("query", &json!({ "text": format!("erase the file number {round}") }));
        assert_eq!(found["results"][0]["file_path"], "shelf.rs", "{found}");
    }
}
