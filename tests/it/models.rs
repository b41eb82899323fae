//! Models of a person's choice: fetched, chosen, asked, thrown away.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};
use crate::support::waiting::until;

const NAME: &str = "someone/small-bert";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/models").join(name)
}

/// A hub's answer to a request.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Whole,
    /// The first answer for the model itself ends half-way.
    BreaksOff,
    WrongChecksum,
}

/// A hub of one model, on this machine: as the real one it sends large files on to a store, with their checksums.
struct Hub {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Hub {
    fn serve(folder: PathBuf, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (log, broken) = (Arc::clone(&asked), Arc::new(AtomicUsize::new(0)));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (folder, log, broken) = (folder.clone(), Arc::clone(&log), Arc::clone(&broken));
                std::thread::spawn(move || answer(stream.unwrap(), &folder, manner, &log, &broken));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, folder: &Path, manner: Manner, log: &Mutex<Vec<String>>, broken: &AtomicUsize) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let range =
        head.iter().find_map(|line| line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    log.lock().unwrap().push(format!("{path}{}", range.map_or_else(String::new, |from| format!(" from {from}"))));
    let reply = |stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]| {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok();
    };
    let (of_store, file) = match path.strip_prefix("/store/") {
        Some(file) => (true, file.to_owned()),
        None => (false, path.strip_prefix(&format!("/{NAME}/resolve/main/")).unwrap_or("no such model").to_owned()),
    };
    let Ok(content) = std::fs::read(folder.join(&file)) else {
        return reply(&mut stream, "404 Not Found", "", b"Entry not found");
    };
    if file.ends_with(".onnx") && !of_store {
        use sha2::Digest;
        let mut sum: String = sha2::Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        if manner == Manner::WrongChecksum {
            sum = sum.chars().rev().collect();
        }
        let length = content.len();
        let headers = format!("Location: /store/{file}\r\nX-Linked-Etag: \"{sum}\"\r\nX-Linked-Size: {length}\r\n");
        return reply(&mut stream, "302 Found", &headers, b"");
    }
    if of_store && manner == Manner::BreaksOff && broken.fetch_add(1, Ordering::SeqCst) == 0 {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&content[..content.len() / 2]).unwrap();
        return;
    }
    match range {
        Some(from) => reply(&mut stream, "206 Partial Content", "", &content[from..]),
        None => reply(&mut stream, "200 OK", "", &content),
    }
}

fn pull(repo: &Repo, hub: &Hub) -> std::process::Output {
    let mut command = repo.command(&["model", "pull", NAME]);
    command.env("HF_ENDPOINT", &hub.address).env("NO_PROXY", "127.0.0.1").output().unwrap()
}

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

fn repository() -> Repo {
    let repo = Repo::new("");
    repo.write(
        "shelf.rs",
        "/// Erases a file.\npub fn erase(file: &Path) -> io::Result<()> {\n    fs::unlink(file)\n}\n",
    );
    repo.write("sums.py", "def mean(numbers):\n    return sum(numbers) / len(numbers)\n");
    repo.write(
        "notes.md",
        "# Cooking\n\nBoil the pasta in salted water for nine minutes, then add the sauce of the file.\n",
    );
    repo
}

fn listed(repo: &Repo) -> Vec<String> {
    let list: Value = serde_json::from_str(&repo.ok(&["model", "list", "--json"])).unwrap();
    list["models"].as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_model_is_fetched_chosen_asked_and_thrown_away() {
    let repo = repository();
    let hub = Hub::serve(fixture("bert"), Manner::Whole);
    let output = pull(&repo, &hub);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(listed(&repo), [NAME]);
    // What a model lacks is asked for, and nothing else.
    expect![[r#"
        /someone/small-bert/resolve/main/tokenizer.json
        /someone/small-bert/resolve/main/config.json
        /someone/small-bert/resolve/main/tokenizer_config.json
        /someone/small-bert/resolve/main/modules.json
        /someone/small-bert/resolve/main/sentence_bert_config.json
        /someone/small-bert/resolve/main/config_sentence_transformers.json
        /someone/small-bert/resolve/main/1_Pooling/config.json
        /someone/small-bert/resolve/main/onnx/model.onnx
        /store/onnx/model.onnx"#]]
    .assert_eq(&hub.asked().join("\n"));
    repo.ok(&["model", "use", NAME]);
    let stats = repo.call("stats", &json!({}));
    assert_eq!(stats["transformer"]["name"], NAME);
    assert!(stats["transformer"]["device"].is_null(), "nothing was asked of it: {stats}");
    // However slow the machine is.
    let ask = |tool: &str, arguments: &Value| -> Value {
        let mut command = repo.command(&["call", tool, "--args", &arguments.to_string()]);
        let output = command.env("IXMCP_RERANK_MS", "10000").output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
    };
    let found = ask("query", &json!({ "text": "erase the file", "explain": true }));
    assert!(found["results"][0]["parts"]["transformer"].is_number(), "{found}");
    let found = ask("search_documents", &json!({ "query": "erase the file", "options": { "minScore": 0.0 } }));
    assert!(found["results"].as_array().unwrap().len() >= 2, "{found}");
    let kept = repo.ok(&["sql", "--json", "SELECT count(*) AS n FROM text_vectors"]);
    assert_eq!(kept, "{\"n\":2}\n", "the two that have something to do with it");
    repo.ok(&["model", "remove", NAME]);
    assert!(listed(&repo).is_empty());
    assert!(repo.call("stats", &json!({}))["transformer"].is_null());
}

#[test]
fn a_transfer_that_breaks_off_is_gone_on_with() {
    let repo = repository();
    let hub = Hub::serve(fixture("bert"), Manner::BreaksOff);
    let output = pull(&repo, &hub);
    assert!(output.status.success(), "{}", said(&output));
    let half = std::fs::metadata(fixture("bert/onnx/model.onnx")).unwrap().len() / 2;
    expect![[r#"
        /someone/small-bert/resolve/main/tokenizer.json
        /someone/small-bert/resolve/main/config.json
        /someone/small-bert/resolve/main/tokenizer_config.json
        /someone/small-bert/resolve/main/modules.json
        /someone/small-bert/resolve/main/sentence_bert_config.json
        /someone/small-bert/resolve/main/config_sentence_transformers.json
        /someone/small-bert/resolve/main/1_Pooling/config.json
        /someone/small-bert/resolve/main/onnx/model.onnx
        /store/onnx/model.onnx
        /someone/small-bert/resolve/main/onnx/model.onnx from HALF
        /store/onnx/model.onnx from HALF"#]]
    .assert_eq(&hub.asked().join("\n").replace(&half.to_string(), "HALF"));
    let fetched = repo.ok(&["model", "list", "--json"]);
    let list: Value = serde_json::from_str(&fetched).unwrap();
    let there = Path::new(list["models"][0]["path"].as_str().unwrap()).join("onnx/model.onnx");
    assert_eq!(std::fs::read(there).unwrap(), std::fs::read(fixture("bert/onnx/model.onnx")).unwrap());
}

#[test]
fn without_a_connection_to_the_hub_the_alternatives_are_reported() {
    let repo = repository();
    let unreachable = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut transcript = String::new();
    for (name, hub) in
        [("HUB", format!("http://{unreachable}")), ("UNKNOWN", "https://no.such.host.invalid".to_owned())]
    {
        let mut command = repo.command(&["model", "pull", NAME]);
        command.env("HF_ENDPOINT", &hub).env("NO_PROXY", "*").env_remove("HTTPS_PROXY").env_remove("https_proxy");
        let output = command.output().unwrap();
        let reported = said(&output);
        assert_eq!(output.status.code(), Some(2), "{reported}");
        // The resolver's words depend on the machine.
        let reported = reported.replace("Temporary failure in name resolution", "Name or service not known");
        transcript += &reported.replace(&hub, name);
    }
    expect![[r#"
        Downloading someone/small-bert from HUB
        ixmcp: UNREACHABLE: HUB cannot be reached: Connection refused (os error 111). Check the network, HTTPS_PROXY, NO_PROXY, and HF_ENDPOINT if you use a mirror; or copy the model's folder from another machine and use `--from FOLDER`.
        Downloading someone/small-bert from UNKNOWN
        ixmcp: UNREACHABLE: UNKNOWN cannot be reached: failed to lookup address information: Name or service not known. Check the network, HTTPS_PROXY, NO_PROXY, and HF_ENDPOINT if you use a mirror; or copy the model's folder from another machine and use `--from FOLDER`.
    "#]].assert_eq(&transcript);
    let model_store = repo.home().join(".local/share/ixmcp/models");
    assert!(!model_store.join(".partial").exists(), "nothing came, nothing is left");
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: the built-in embeddings are part of the program. Run `ixmcp model use built-in` to use only the built-in embeddings; `pull` without a name downloads a transformer.
    "#]].assert_eq(&repo.fails(&["model", "pull", "built-in"]));
}

#[test]
fn what_comes_with_another_checksum_is_not_kept() {
    let repo = repository();
    let hub = Hub::serve(fixture("bert"), Manner::WrongChecksum);
    let output = pull(&repo, &hub);
    assert_eq!(output.status.code(), Some(2));
    expect![[r#"
        Downloading someone/small-bert from HUB
        ixmcp: INTERNAL: the checksum of onnx/model.onnx differs from the one that the hub reports. The download was discarded. Try again; if this persists, do not trust the source.
    "#]].assert_eq(&said(&output).replace(&hub.address, "HUB"));
    assert!(listed(&repo).is_empty());
}

#[test]
fn a_name_that_the_hub_does_not_have_is_an_error_with_a_way_out() {
    let repo = repository();
    let hub = Hub::serve(repo.path().to_owned(), Manner::Whole);
    let output = pull(&repo, &hub);
    assert_eq!(output.status.code(), Some(1));
    expect![[r#"
        Downloading someone/small-bert from HUB
        ixmcp: NOT_FOUND: the hub has no tokenizer.json of someone/small-bert. Check the name. The model must be exported to ONNX, as those of `Xenova/…` and `onnx-community/…` are.
    "#]].assert_eq(&said(&output).replace(&hub.address, "HUB"));
    let unknown = repo.command(&["model", "use", "no/such"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    expect![[r#"
        ixmcp: NOT_FOUND: the model no/such was not found. Download it with `ixmcp model pull no/such`, or select another with `ixmcp model use`; `ixmcp model list` lists the installed models.
    "#]].assert_eq(&said(&unknown));
    for outside in ["../outside", "/etc", "a/../../b"] {
        repo.fails(&["model", "pull", outside, "--from", "."]);
        repo.fails(&["model", "remove", outside]);
    }
}

#[test]
fn a_path_instead_of_a_name_is_not_offered_for_download() {
    let repo = repository();
    repo.write("folder/readme.md", "no model");
    let model = fixture("bert");
    let model = model.to_str().unwrap();
    std::os::unix::fs::symlink(model, repo.path().join("mine")).unwrap();
    let refused = |typed: &[&str]| {
        let output = repo.command(typed).output().unwrap();
        format!("$ ixmcp {}\n{}exit code {}\n", typed.join(" "), said(&output), output.status.code().unwrap())
    };
    let mut transcript = String::new();
    for path in ["./none", "/no/such", "../none", "a/b/c", "./folder", "folder/readme.md", "folder"] {
        transcript += &refused(&["model", "use", path]);
    }
    for path in ["./none", "/no/such", "../none", "a/b/c", "./folder", "./mine"] {
        transcript += &refused(&["model", "pull", path]);
    }
    // One that was used by its path, and is gone.
    repo.ok(&["model", "use", "./mine"]);
    transcript += &refused(&["model", "use", "no-such"]);
    transcript += &refused(&["model", "remove", "./mine"]);
    let root = repo.path().canonicalize().unwrap();
    let transcript = transcript
        .replace(root.to_str().unwrap(), "REPOSITORY")
        .replace(root.parent().unwrap().to_str().unwrap(), "PARENT");
    expect![[r#"
        $ ixmcp model use ./none
        ixmcp: NOT_FOUND: the model ./none was not found. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them.
        exit code 1
        $ ixmcp model use /no/such
        ixmcp: NOT_FOUND: the model /no/such was not found. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them.
        exit code 1
        $ ixmcp model use ../none
        ixmcp: NOT_FOUND: the model ../none was not found. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them.
        exit code 1
        $ ixmcp model use a/b/c
        ixmcp: NOT_FOUND: the model a/b/c was not found. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them.
        exit code 1
        $ ixmcp model use ./folder
        ixmcp: NOT_FOUND: REPOSITORY/folder holds no model. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx.
        exit code 1
        $ ixmcp model use folder/readme.md
        ixmcp: INVALID_PATH: folder/readme.md is a file. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx.
        exit code 2
        $ ixmcp model use folder
        ixmcp: NOT_FOUND: the model folder was not found. For the folder, run `ixmcp model use ./folder`; to download the model, `ixmcp model pull folder`.
        exit code 1
        $ ixmcp model pull ./none
        ixmcp: INVALID_ARGUMENT: "./none" is not a valid model name. A valid name is Xenova/paraphrase-albert-small-v2, for example. `ixmcp model list` lists the installed models.
        exit code 2
        $ ixmcp model pull /no/such
        ixmcp: INVALID_ARGUMENT: "/no/such" is not a valid model name. A valid name is Xenova/paraphrase-albert-small-v2, for example. `ixmcp model list` lists the installed models.
        exit code 2
        $ ixmcp model pull ../none
        ixmcp: INVALID_ARGUMENT: "../none" is not a valid model name. A valid name is Xenova/paraphrase-albert-small-v2, for example. `ixmcp model list` lists the installed models.
        exit code 2
        $ ixmcp model pull a/b/c
        ixmcp: INVALID_ARGUMENT: "a/b/c" is not a valid model name. A valid name is Xenova/paraphrase-albert-small-v2, for example. `ixmcp model list` lists the installed models.
        exit code 2
        $ ixmcp model pull ./folder
        ixmcp: INVALID_ARGUMENT: ./folder is a path; `pull` takes a name. It contains no model either. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. An example of a name is Xenova/paraphrase-albert-small-v2.
        exit code 2
        $ ixmcp model pull ./mine
        ixmcp: INVALID_ARGUMENT: ./mine is a path; `pull` takes a name. `ixmcp model use ./mine` uses the model in place, `ixmcp model pull NAME --from ./mine` copies it.
        exit code 2
        $ ixmcp model use no-such
        ixmcp: NOT_FOUND: the model no-such was not found. Download it with `ixmcp model pull no-such`, or select another with `ixmcp model use`; `ixmcp model list` lists the installed models.
        exit code 1
        $ ixmcp model remove ./mine
        ixmcp: INVALID_ARGUMENT: "./mine" is not a valid model name. A valid name is Xenova/paraphrase-albert-small-v2, for example. `ixmcp model list` lists the installed models.
        exit code 2
    "#]].assert_eq(&transcript);
}

#[test]
fn a_gpu_that_is_required_is_refused_and_one_that_is_hoped_for_is_not() {
    let repo = repository();
    let folder = fixture("albert");
    repo.ok(&["model", "use", folder.to_str().unwrap()]);
    let output =
        repo.command(&["call", "query", "--args", r#"{"text": "erase"}"#]).env("IXMCP_GPU", "required").output();
    let output = output.unwrap();
    assert!(!output.status.success() && said(&output).contains("GPU_NOT_AVAILABLE"), "{}", said(&output));
    assert!(repo.call("query", &json!({ "text": "erase the file" }))["results"].is_array());
}

#[test]
fn a_model_that_a_clone_names_by_its_path_is_not_read() {
    let repo = repository();
    repo.sync();
    std::fs::write(repo.path().join(".ixmcp/state.toml"), format!("model = {:?}\n", fixture("bert").to_str().unwrap()))
        .unwrap();
    assert!(repo.call("stats", &json!({}))["transformer"].is_null());
    repo.ok(&["model", "use", fixture("bert").to_str().unwrap()]);
    assert_eq!(repo.call("stats", &json!({}))["transformer"]["name"], fixture("bert").to_str().unwrap());
}

#[test]
fn facts_about_a_model_are_reported_without_reading_it() {
    let repo = repository();
    let separate = tempfile::tempdir().unwrap();
    let copied = std::process::Command::new("cp").arg("-r").arg(fixture("bert")).arg(separate.path()).status().unwrap();
    assert!(copied.success());
    let folder = separate.path().canonicalize().unwrap().join("bert");
    repo.ok(&["model", "use", folder.to_str().unwrap()]);
    let reported = |server: &mut Server| server.call("stats", &json!({}))["transformer"].clone();
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let model = reported(&mut server);
    assert_eq!((&model["device"], &model["vectors"], &model["warning"]), (&json!(null), &json!(0), &json!(null)));
    until("it is in use", || {
        server.call("query", &json!({ "text": "erase the file" }));
        let model = reported(&mut server);
        (model["device"] == "cpu" && model["dimension"] == 32) || {
            assert!(model["warning"].is_null(), "{model}");
            false
        }
    });
    drop(server);
    repo.ok(&["model", "use", folder.to_str().unwrap(), "--now"]);
    assert_eq!(repo.call("stats", &json!({}))["transformer"]["answers"], true);
    // The functions of `ixmcp sql` follow the model that finds chunks.
    let space = "SELECT length(embed('x')) AS length, dimension FROM embedding_spaces WHERE id = embedding_space()";
    let space: Value = serde_json::from_str(&repo.ok(&["sql", "--json", space])).unwrap();
    assert_eq!(space, json!({ "length": 32, "dimension": 32 }));
    // Reading this would fail.
    std::fs::write(folder.join("onnx/model.onnx"), "no model").unwrap();
    // A process that stays reads it by itself, sooner or later; others see that it is another.
    let model = repo.call("stats", &json!({}))["transformer"].clone();
    assert!(model["warning"].as_str().unwrap().starts_with("its files have changed"), "{model}");
    assert_eq!((&model["vectors"], &model["answers"]), (&json!(0), &json!(false)), "{model}");
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    until("it is found to be broken", || {
        server.call("query", &json!({ "text": "erase the file" }));
        reported(&mut server)["warning"].is_string()
    });
    std::fs::remove_dir_all(&folder).unwrap();
    let warning = reported(&mut server)["warning"].as_str().unwrap().to_owned();
    expect!["the model FOLDER was not found"].assert_eq(&warning.replace(folder.to_str().unwrap(), "FOLDER"));
}

#[test]
fn after_waiting_for_a_model_it_finds_documents_that_share_no_word() {
    let repo = repository();
    let folder = fixture("bert");
    let asked = json!({ "query": "zymurgy quokka", "options": { "minScore": 0.0 } });
    assert!(repo.call("search_documents", &asked)["total"].as_u64().unwrap() < 3);
    let used = said(&repo.run(&["model", "use", folder.to_str().unwrap(), "--now"]));
    expect![[r#"
        This repository uses FOLDER, on cpu.
        All chunks are embedded: it is used for search.
    "#]]
    .assert_eq(&used.replace(folder.to_str().unwrap(), "FOLDER"));
    let model = repo.call("stats", &json!({}))["transformer"].clone();
    assert_eq!((&model["answers"], &model["vectors"]), (&json!(true), &json!(3)), "{model}");
    let found = repo.call("search_documents", &asked);
    assert_eq!(found["total"], 3, "{found}");
}

#[test]
fn all_chunks_are_embedded_while_the_daemon_is_idle() {
    let repo = repository();
    repo.ok(&["model", "use", fixture("bert").to_str().unwrap()]);
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    server.call("query", &json!({ "text": "erase the file" }));
    let mut model = Value::Null;
    until("all are embedded", || {
        model = server.call("stats", &json!({}))["transformer"].clone();
        model["answers"] == true
    });
    assert_eq!(model["vectors"], 3, "{model}");
    assert!(server.call("query", &json!({ "text": "boil noodles" }))["results"].is_array());
}

/// A copy that a test may break.
fn own_copy() -> (tempfile::TempDir, PathBuf) {
    let separate = tempfile::tempdir().unwrap();
    let copied = std::process::Command::new("cp").arg("-r").arg(fixture("bert")).arg(separate.path()).status().unwrap();
    assert!(copied.success());
    let folder = separate.path().canonicalize().unwrap().join("bert");
    (separate, folder)
}

#[test]
fn an_answer_reports_that_the_selected_model_did_not_rerank_it() {
    let repo = repository();
    let (_separate, folder) = own_copy();
    let name = folder.to_str().unwrap();
    repo.ok(&["model", "use", name]);
    let ask = |tool: &str, arguments: &Value| repo.call(tool, arguments)["warning"].clone();
    let document = json!({ "query": "erase the file", "options": { "minScore": 0 } });
    let text = json!({ "text": "erase the file" });
    assert_eq!((ask("search_documents", &document), ask("query", &text)), (json!(null), json!(null)));

    std::fs::write(folder.join("onnx/model.onnx"), "no model").unwrap();
    let warnings = |calls: &[(&str, &Value)]| -> String {
        let shown = |(tool, arguments): &(&str, &Value)| {
            let warning = ask(tool, arguments);
            format!("{tool}: {}\n", warning.as_str().unwrap_or_else(|| panic!("{tool}: {warning}")))
        };
        calls.iter().map(shown).collect::<String>().replace(name, "FOLDER")
    };
    // No library could read it: the variable that names one is not mentioned.
    expect![[r#"
        search_documents: the built-in embeddings answered without the model FOLDER: the model cannot be used: it is not an ONNX file, or not all of one. Select another with `ixmcp model use`, or download its files again.
        query: the built-in embeddings answered without the model FOLDER: the model cannot be used: it is not an ONNX file, or not all of one. Select another with `ixmcp model use`, or download its files again.
    "#]].assert_eq(&warnings(&[("search_documents", &document), ("query", &text)]));
    assert_eq!(ask("query", &json!({ "text": "erase", "mode": "literal" })), json!(null), "no model is needed");

    std::fs::remove_dir_all(&folder).unwrap();
    let files = json!({ "query": "files" });
    expect![[r#"
        search_documents: the built-in embeddings answered without the model FOLDER: the model FOLDER was not found. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them.
        ixchel_search: the built-in embeddings answered without the model FOLDER: the model FOLDER was not found. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them.
    "#]].assert_eq(&warnings(&[("search_documents", &document), ("ixchel_search", &files)]));
    // A user sees it once.
    let seen = said(&repo.command(&["query", "erase the file"]).output().unwrap());
    assert_eq!(seen.matches("was not found").count(), 1, "{seen}");
    let stats = repo.call("stats", &json!({}))["transformer"]["warning"].as_str().unwrap().to_owned();
    let doctor = repo.ok(&["doctor", "model"]);
    expect![[r#"
        stats: the model FOLDER was not found
        doctor: model      ok       ixmcp-static, built in, 256 dimensions
        model      warning  FOLDER cannot embed: the model FOLDER was not found
                            A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them.
    "#]].assert_eq(&format!("stats: {stats}\ndoctor: {doctor}").replace(name, "FOLDER"));
}

#[test]
fn a_process_that_stays_notices_that_a_model_is_another() {
    let repo = repository();
    let (_separate, folder) = own_copy();
    let name = folder.to_str().unwrap();
    repo.ok(&["model", "use", name]);
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut warning = || {
        let warning = server.call("query", &json!({ "text": "erase the file" }))["warning"].take();
        warning.as_str().map(|text| text.replace(name, "FOLDER"))
    };
    let loading = warning().unwrap();
    until("it is read", || warning().is_none());
    let model = std::fs::read(folder.join("onnx/model.onnx")).unwrap();
    std::fs::write(folder.join("onnx/model.onnx"), "no model").unwrap();
    let mut broken = None;
    until("it is found to be broken", || {
        broken = warning().filter(|why| *why != loading);
        broken.is_some()
    });
    std::fs::write(folder.join("onnx/model.onnx"), model).unwrap();
    until("it is read again", || warning().is_none());
    std::fs::remove_dir_all(&folder).unwrap();
    expect![[r#"
        the built-in embeddings answered without the model FOLDER: it is being loaded, ask again in a few seconds
        the built-in embeddings answered without the model FOLDER: the model cannot be used: it is not an ONNX file, or not all of one. Select another with `ixmcp model use`, or download its files again.
        the built-in embeddings answered without the model FOLDER: the model FOLDER was not found. A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them."#]].assert_eq(&[loading, broken.unwrap(), warning().unwrap()].join("\n"));
}

#[test]
fn a_missing_gpu_is_reported_by_every_update_and_nothing_is_lost() {
    let repo = repository();
    repo.ok(&["model", "use", fixture("bert").to_str().unwrap()]);
    for (word, arguments) in [
        ("pelican", ["sync"].as_slice()),
        ("heron", &["call", "index_files", "--args", r#"{"folderPath": "."}"#]),
        ("stork", &["call", "update_index", "--args", r#"{"folderPath": "."}"#]),
    ] {
        repo.write(&format!("{word}.md"), format!("# Birds\n\nThe {word} flies.\n"));
        let output = repo.command(arguments).env("IXMCP_GPU", "required").output().unwrap();
        let reported = said(&output);
        assert_eq!(output.status.code(), Some(2), "{reported}");
        assert!(reported.contains("GPU_NOT_AVAILABLE") && reported.contains("index is up to date"), "{reported}");
        let found = repo.run(&["query", "--json", "-m", "literal", word]);
        let found: Value = serde_json::from_slice(&found.stdout).unwrap();
        assert_eq!(found["results"][0]["file_path"], format!("{word}.md"));
    }
    // The next answer reports what was not reported yet.
    assert_eq!(repo.sync()["added"], 6);
    repo.ok(&["model", "use", "built-in"]);
    assert!(
        repo.command(&["sync"]).env("IXMCP_GPU", "required").output().unwrap().status.success(),
        "no model needs it"
    );
}

#[test]
fn info_and_doctor_report_the_same_problems_of_a_model() {
    let repo = repository();
    let (_separate, folder) = own_copy();
    repo.ok(&["model", "use", folder.to_str().unwrap()]);
    expect![[r#"
        ixmcp-static, 256 dimensions
        FOLDER
          32 dimensions, on cpu
          0 of 3 chunks embedded
          it reranks the best hits
    "#]]
    .assert_eq(&repo.ok(&["model", "info"]).replace(folder.to_str().unwrap(), "FOLDER"));
    let reported = |gpu: &str| {
        let run = |arguments: &[&str]| {
            let output = repo.command(arguments).env("IXMCP_GPU", gpu).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let json: Value = serde_json::from_str(&run(&["model", "info", "--json"])).unwrap();
        let found: Value = serde_json::from_str(&run(&["doctor", "model", "--json"])).unwrap();
        let found = found["findings"].as_array().unwrap().last().unwrap().clone();
        (run(&["model", "info"]), json["transformer"]["warning"].clone(), found)
    };
    let alike = |gpu: &str| {
        let (info, json, found) = reported(gpu);
        let (message, remedy) = (found["message"].as_str().unwrap(), found["remedy"].as_str().unwrap());
        assert!(info.contains(message) && info.contains(remedy), "{info}\n{found}");
        let json = json.as_str().unwrap();
        assert!(json.contains(message) && json.contains(remedy), "{json}\n{found}");
        assert!(!info.contains("reranks the best hits") && !info.contains("used for search"), "{info}");
        [message, remedy].map(|text| text.replace(folder.to_str().unwrap(), "FOLDER"))
    };
    // The reason depends on the machine.
    let [message, _] = alike("required");
    assert!(message.contains("cannot embed") && message.contains("GPU"), "{message}");
    std::fs::write(folder.join("onnx/model.onnx"), "no model").unwrap();
    expect![[r#"
        FOLDER cannot embed: the model cannot be used: it is not an ONNX file, or not all of one
        Select another with `ixmcp model use`, or download its files again."#]]
    .assert_eq(&alike("auto").join("\n"));
    std::fs::remove_dir_all(&folder).unwrap();
    expect![[r#"
        FOLDER cannot embed: the model FOLDER was not found
        A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx. Select its folder with `ixmcp model use FOLDER`, or an installed model; `ixmcp model list` lists them."#]].assert_eq(&alike("auto").join("\n"));
}

#[test]
fn the_empty_text_is_not_a_model() {
    let repo = repository();
    let commands: [&[&str]; 3] = [&["model", "use", ""], &["model", "pull", ""], &["model", "remove", ""]];
    expect![[r#"
        $ ixmcp model use ''
        error: a value is required for '<MODEL>' but none was supplied

        For more information, try '--help'.
        $ ixmcp model pull ''
        error: a value is required for '[NAME]' but none was supplied

        For more information, try '--help'.
        $ ixmcp model remove ''
        error: a value is required for '<NAME>' but none was supplied

        For more information, try '--help'.
    "#]]
    .assert_eq(&repo.failures(&commands, &[]));
}

/// With a library of ONNX Runtime that was built for the CPU, on a machine without a GPU: `ORT_DYLIB_PATH=… cargo test
/// no_gpu_is_missed -- --ignored`.
#[test]
#[ignore = "takes ONNX Runtime, and a machine without a GPU"]
fn no_gpu_is_missed_where_nothing_speaks_of_one() {
    assert!(std::env::var_os("ORT_DYLIB_PATH").is_some(), "ORT_DYLIB_PATH names the library");
    assert!(!Path::new("/dev/nvidiactl").exists(), "this machine has a GPU");
    let repo = repository();
    repo.ok(&["model", "use", fixture("albert").to_str().unwrap()]);
    let output = repo.run(&["query", "erase the file"]);
    assert!(output.status.success() && !said(&output).contains("GPU"), "{}", said(&output));
    assert!(repo.ok(&["model", "info"]).contains("cpu (ONNX Runtime)"));
    let output = repo.command(&["query", "erase"]).env("IXMCP_GPU", "required").output().unwrap();
    assert!(said(&output).contains("GPU_NOT_AVAILABLE"), "{}", said(&output));
}
