//! Python that no one writes: the types of it cost themselves alone, and the caller hears in time.

use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server, repeatedly};

/// A server whose engine spends at most five seconds on one file.
fn server(repo: &Repo) -> Server {
    let mut command = repo.command(&["mcp", "--no-daemon"]);
    command.env("IXMCP_PYTHON_LONGEST", "20s");
    Server::start(command)
}

fn at(file: &str, line: u32, column: u32) -> Value {
    json!({ "file": file, "line": line, "column": column })
}

/// `file rule` of every diagnostic.
fn found(answer: &Value) -> Vec<String> {
    let all = answer["diagnostics"].as_array().unwrap().iter();
    all.map(|one| format!("{} {}", one["file"].as_str().unwrap(), one["code"].as_str().unwrap())).collect()
}

const ONE_WRONG: &str = r"
//- /ok.py
def f() -> int:
    return 1


x: str = f()
";

/// A query about a file that may take for ever ends in time, and one about the file next to it is answered.
fn ends_in_time(server: &mut Server, file: &str) {
    let begun = Instant::now();
    let mut arguments = at(file, 1, 1);
    arguments["timeout_ms"] = json!(1000);
    let answer = server.response("type_at", &arguments);
    // Without a `timeout_ms` it would be 30 s.
    assert!(begun.elapsed() < Duration::from_secs(25), "it took {:?}", begun.elapsed());
    if let Some(fault) = answer.get("error") {
        let code = fault["data"]["code"].as_str().unwrap();
        assert!(["TIMEOUT", "INTERNAL", "NOT_FOUND", "UNSUPPORTED_FORMAT"].contains(&code), "{answer}");
    }
    assert_eq!(server.call("type_at", &at("ok.py", 5, 10))["type"], "def f() -> int");
}

/// Asks of a file that may take for ever, and of others next to it; gives what the whole check says of the file.
fn checked_with_neighbours(text: &str) -> Vec<String> {
    let repo = Repo::new(ONE_WRONG);
    repo.write("odd.py", text);
    let mut server = server(&repo);
    ends_in_time(&mut server, "odd.py");
    let whole = server.call("check", &json!({}));
    let (odd, others): (Vec<_>, Vec<_>) = found(&whole).into_iter().partition(|one| one.starts_with("odd.py"));
    assert_eq!(others, ["ok.py invalid-assignment"]);
    let said = server.call("query", &json!({ "text": "x: str = f()", "mode": "literal" }));
    assert_eq!(said["results"][0]["file_path"], "ok.py");
    // What it was given up for is over when the file is another.
    repo.write("odd.py", "y: int = \"\"\n");
    assert_eq!(found(&server.call("check", &json!({ "file": "odd.py" }))), ["odd.py invalid-assignment"]);
    odd
}

#[test]
fn a_sum_of_20000_terms() {
    assert_eq!(checked_with_neighbours(&format!("x = {}\n", vec!["1"; 20_000].join(" + "))), Vec::<String>::new());
}

#[test]
fn a_chain_of_5000_attributes() {
    let said = checked_with_neighbours(&format!("import os\nx = os{}\n", ".a".repeat(5_000)));
    assert!(said.iter().all(|one| one.contains("engine-gave-up") || one.contains("unresolved-attribute")), "{said:?}");
}

#[test]
fn a_chain_of_5000_calls() {
    checked_with_neighbours(&format!("def f(): return f\nx = f{}\n", "()".repeat(5_000)));
}

#[test]
fn files_that_do_not_come_to_an_end_are_given_up_and_no_others() {
    let repo = Repo::new(ONE_WRONG);
    let arms: String = (0..4_000).map(|n| format!("elif x == {n}:\n    y = {n}\n")).collect();
    repo.write("arms.py", format!("x = int(input())\nif x < 0:\n    y = 0\n{arms}print(y)\n"));
    repo.write("chain.py", format!("import os\nx = os{}\n", ".a".repeat(5_000)));
    // They wait for what they import.
    for n in 0..6 {
        repo.write(&format!("use{n}.py"), "import arms\nimport chain\n\nz: int = arms.y\nw = chain.x\nv: str = 1\n");
    }
    let mut server = server(&repo);
    ends_in_time(&mut server, "arms.py");
    let whole = server.call("check", &json!({}));
    let given_up: Vec<String> = found(&whole).into_iter().filter(|one| one.ends_with("engine-gave-up")).collect();
    assert_eq!(given_up, ["arms.py engine-gave-up", "chain.py engine-gave-up"]);
    let wrong = found(&whole).into_iter().filter(|one| one.ends_with("invalid-assignment")).count();
    assert_eq!(wrong, 7, "{whole}");
    let said = server.call("query", &json!({ "text": "x: str = f()", "mode": "literal" }));
    assert_eq!(said["results"][0]["file_path"], "ok.py");
}

#[test]
fn lists_nested_1500_deep() {
    assert_eq!(
        checked_with_neighbours(&format!("x = {}{}\n", "[".repeat(1_500), "]".repeat(1_500))),
        ["odd.py invalid-syntax"]
    );
}

#[test]
fn what_is_nested_too_deep_is_reported_at_once() {
    let repo = Repo::new(ONE_WRONG);
    repo.write("odd.py", format!("y = 1\nx = {}{}\n", "[".repeat(2_000), "]".repeat(2_000)));
    let commands = [
        &["type-at", "odd.py:2:900"][..],
        &["infer", "odd.py"],
        &["refs", "odd.py:1:1"],
        &["check", "odd.py", "--output-format", "concise"],
    ];
    expect![[r#"
        $ ixmcp type-at odd.py:2:900
        ixmcp: UNSUPPORTED_FORMAT: odd.py is not analyzed: Too many nested brackets: Python takes 200, line 2. `ixmcp check` reports it too. `ixmcp slice` can read it.
        exit code 2
        $ ixmcp infer odd.py
        ixmcp: UNSUPPORTED_FORMAT: odd.py is not analyzed: Too many nested brackets: Python takes 200, line 2. `ixmcp check` reports it too. `ixmcp slice` can read it.
        exit code 2
        $ ixmcp refs odd.py:1:1
        ixmcp: UNSUPPORTED_FORMAT: odd.py is not analyzed: Too many nested brackets: Python takes 200, line 2. `ixmcp check` reports it too. `ixmcp slice` can read it.
        exit code 2
        $ ixmcp check odd.py --output-format concise
        odd.py:2:205: error[invalid-syntax] Too many nested brackets: Python takes 200
        1 file checked: 1 diagnostic
        exit code 1
    "#]].assert_eq(&repo.transcript(&commands, &[]));
}

#[test]
fn annotations_are_looked_for_next_to_a_sum_of_20000_terms() {
    let repo = Repo::new(ONE_WRONG);
    repo.write("odd.py", format!("x = {}\n\n\ndef f(a=1):\n    return a\n", vec!["1"; 20_000].join(" + ")));
    let arguments = json!({ "file": "odd.py", "timeout_ms": 20_000 });
    let answer = server(&repo).response("infer_types", &arguments);
    if answer.get("error").is_none() && answer["result"]["status"].is_null() {
        assert_eq!(answer["result"]["suggestions"][0]["type"], "int", "{answer}");
    }
}

#[test]
fn parentheses_nested_100000_deep() {
    checked_with_neighbours(&format!("x = {}1{}\n", "(".repeat(100_000), ")".repeat(100_000)));
}

#[test]
fn functions_nested_90_deep() {
    let text: String = (0..90).map(|n| format!("{}def f{n}():\n", " ".repeat(n))).collect();
    checked_with_neighbours(&format!("{text}{}pass\n", " ".repeat(90)));
}

#[test]
fn a_file_of_5_megabytes() {
    let function = |n: usize| {
        let doc = "One function of many, with some words about it, so that it has a size.";
        format!(
            "def f{n}(first: int, second: str = \"x\") -> int:\n    \"\"\"{doc}\"\"\"\n    return first + len(second) * {n}\n\n\n"
        )
    };
    let text: String = (0..30_000).map(function).collect();
    assert!(text.len() > 4_500_000);
    let repo = Repo::new(ONE_WRONG);
    repo.write("large.py", format!("{text}wrong: int = \"\"\n"));
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let whole = server.call("check", &json!({}));
    assert_eq!(found(&whole), ["large.py invalid-assignment", "ok.py invalid-assignment"]);
    assert_eq!(server.call("type_at", &at("large.py", 150_001, 1))["expression"], "wrong");
}

#[test]
fn modules_that_import_each_other_in_a_ring() {
    // With 60 modules, ty 0.0.94 itself takes 25 times as long as 0.0.74 (3.0 s and 0.12 s), and with 30 five times.
    const RING: usize = 30;
    let repo = Repo::new(ONE_WRONG);
    for n in 0..RING {
        let next = (n + 1) % RING;
        let text = format!(
            "from m{next} import *\nfrom m{next} import C{next}\n\n\nclass C{n}(C{next}): ...\n\n\nv{n} = v{next}\n"
        );
        repo.write(&format!("m{n}.py"), text);
    }
    // On a busy machine, a few seconds for a file are not enough for all of them.
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let whole = server.call("check", &json!({}));
    let mut rules = found(&whole);
    rules.dedup_by_key(|one| one.split(' ').nth(1).unwrap().to_owned());
    expect![[r#"
        m0.py cyclic-class-definition
        ok.py invalid-assignment"#]]
    .assert_eq(&rules.join("\n"));
    assert_eq!(server.call("type_at", &at("m7.py", 5, 7))["type"], "<class 'C7'>");
    assert!(server.call("find_references", &at("m7.py", 5, 7))["total"].as_u64().unwrap() >= 3);
}

#[test]
fn files_that_vanish_between_request_and_answer() {
    let repo = Repo::new(ONE_WRONG);
    let mut server = server(&repo);
    server.call("check", &json!({}));
    let comes_and_goes = |round| {
        repo.write("going.py", format!("from ok import f\n\n\ndef g{round}() -> int:\n    return f()\n"));
        std::thread::sleep(Duration::from_millis(3 + round % 7));
        repo.remove("going.py");
        std::thread::sleep(Duration::from_millis(round % 5));
    };
    repeatedly(comes_and_goes, || {
        for round in 0..40 {
            let (tool, arguments) = match round % 5 {
                0 => ("type_at", at("going.py", 5, 12)),
                1 => ("goto_definition", at("going.py", 5, 12)),
                2 => ("find_references", at("ok.py", 1, 5)),
                3 => ("symbols", json!({ "file": "going.py" })),
                _ => ("check", json!({})),
            };
            let answer = server.response(tool, &arguments);
            let code = answer["error"]["data"]["code"].as_str().unwrap_or("none");
            assert!(["none", "INVALID_PATH", "NOT_FOUND"].contains(&code), "{tool}: {answer}");
        }
    });
    assert_eq!(found(&server.call("check", &json!({}))), ["ok.py invalid-assignment"]);
}

#[test]
fn positions_past_the_end() {
    let repo = Repo::new(ONE_WRONG);
    let mut server = server(&repo);
    for tool in ["type_at", "goto_definition", "find_references", "rename_symbol"] {
        for (line, column) in [(99, 1), (1, 99), (u32::MAX, u32::MAX), (7, 1)] {
            let mut arguments = at("ok.py", line, column);
            if tool == "rename_symbol" {
                arguments["new_name"] = json!("y");
            }
            let answer = server.response(tool, &arguments);
            assert_eq!(answer["error"]["data"]["code"], "NOT_FOUND", "{tool} {line}:{column}: {answer}");
        }
    }
}

#[test]
fn bytes_that_are_no_text() {
    let repo = Repo::new(ONE_WRONG);
    repo.write("bytes.py", b"x = \"\xff\xfe\"\ny: int = x\n");
    repo.write("zeros.py", b"x = 1\0\0\0\n");
    repo.write("latin.py", b"# -*- coding: latin-1 -*-\nname = \"caf\xe9\"\n");
    let mut server = server(&repo);
    let whole = server.call("check", &json!({}));
    expect![[r#"
        bytes.py io
        latin.py io
        ok.py invalid-assignment
        zeros.py invalid-syntax
        zeros.py invalid-syntax
        zeros.py invalid-syntax
        zeros.py invalid-syntax"#]]
    .assert_eq(&found(&whole).join("\n"));
    for file in ["bytes.py", "zeros.py", "latin.py"] {
        for tool in ["symbols", "check", "infer_types"] {
            let answer = server.response(tool, &json!({ "file": file }));
            assert_ne!(answer["error"]["data"]["code"], "INTERNAL", "{tool} {file}: {answer}");
        }
        let answer = server.response("type_at", &at(file, 1, 1));
        assert_ne!(answer["error"]["data"]["code"], "INTERNAL", "{file}: {answer}");
    }
    // Not that its lines had an end: it is the encoding.
    let answer = server.response("type_at", &at("latin.py", 2, 1));
    assert_eq!(answer["error"]["data"]["code"], "UNSUPPORTED_FORMAT", "{answer}");
    expect!["latin.py is not UTF-8, which the type engine requires"]
        .assert_eq(answer["error"]["message"].as_str().unwrap());
    let said = &server.call("check", &json!({ "file": "latin.py" }))["diagnostics"][0];
    assert_eq!((&said["file"], &said["line"], &said["code"]), (&json!("latin.py"), &json!(1), &json!("io")), "{said}");
}

#[test]
fn a_file_at_every_stage_of_being_written() {
    const WHOLE: &str = "from ok import f\n\n\nclass A[T]:\n    \"\"\"Doc.\"\"\"\n\n    def m(self, *a: int, k: \"A[T] | None\" = None) -> T:\n        match a:\n            case (x, *_) if x:\n                return [y async for y in x][0]\n        with f() as g, (z := 1):\n            return f\"{z!r:>{g}}\"\n";
    let repo = Repo::new(ONE_WRONG);
    let mut server = server(&repo);
    for end in (0..WHOLE.len()).step_by(7) {
        repo.write("half.py", &WHOLE[..end]);
        let line = u32::try_from(WHOLE[..end].matches('\n').count() + 1).unwrap();
        for (tool, arguments) in [
            ("check", json!({ "file": "half.py" })),
            ("symbols", json!({ "file": "half.py" })),
            ("type_at", at("half.py", line, 1)),
            ("find_references", at("half.py", line, 1)),
        ] {
            let answer = server.response(tool, &arguments);
            let code = answer["error"]["data"]["code"].as_str().unwrap_or("none");
            assert!(["none", "NOT_FOUND"].contains(&code), "{tool} of the first {end}: {answer}");
        }
    }
}

#[test]
fn an_environment_that_points_nowhere() {
    let repo = Repo::new(ONE_WRONG);
    std::os::unix::fs::symlink("/nowhere/at/all", repo.path().join(".venv")).unwrap();
    assert_eq!(found(&repo.call("check", &json!({}))), ["ok.py invalid-assignment"]);
    // One that was asked for by name is reported.
    let mut command = repo.command(&["call", "check", "--args", "{}"]);
    let output = command.env("VIRTUAL_ENV", "/nowhere/at/all").output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found(&answer), ["/nowhere/at/all invalid-setting", "ok.py invalid-assignment"], "{answer}");
    repo.write("ty.toml", "[environment]\npython = \"gone\"\n");
    let answer = repo.call("check", &json!({}));
    assert_eq!(found(&answer), ["ok.py invalid-assignment", "ty.toml invalid-setting"]);
}

#[test]
fn settings_that_are_broken() {
    let repo = Repo::new(ONE_WRONG);
    let repeated = format!("[tool.ty.src]\ninclude = {}{}\n", "[".repeat(2_000), "]".repeat(2_000));
    for (text, line) in [
        ("[project\nname = ", 1),
        ("[tool.ty]\nrules = 3\n", 2),
        ("[tool.ty.environment]\npython-version = \"2.7\"\n", 2),
        ("[tool.ty.src]\n\nexclude = [\"a b\"]\n", 3),
        ("[project]\nrequires-python = 3\n", 2),
        ("\u{feff}[project]\nname = \u{0}\n", 2),
        (&repeated, 2),
    ] {
        repo.write("pyproject.toml", text);
        let answer = repo.call("check", &json!({}));
        assert_eq!(found(&answer), ["ok.py invalid-assignment", "pyproject.toml invalid-setting"], "{text:.40}");
        assert_eq!(answer["diagnostics"][1]["line"], line, "{answer}");
        // The check of one file reports its environment.
        assert_eq!(found(&repo.call("check", &json!({ "file": "ok.py" }))), found(&answer));
    }
}
