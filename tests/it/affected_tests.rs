//! The tests that `changes` names: by the convention of their language, and in folders that correspond to the source.

use serde_json::{Value, json};

use crate::support::harness::Repo;
use crate::worktrees::committed;

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_test_of_the_same_name_in_another_package_is_not_one_to_run() {
    let mut tree = String::from("//- /go.mod\nmodule std\n");
    for folder in ["net/textproto", "archive/tar", "bytes"] {
        let package = folder.rsplit('/').next().unwrap();
        tree.push_str(&format!("//- /{folder}/reader.go\npackage {package}\n\nfunc size() int {{ return 1 }}\n"));
        tree.push_str(&format!("//- /{folder}/reader_test.go\npackage {package}\n\nfunc TestNothing() {{}}\n"));
    }
    tree.push_str("//- /testing/iotest/reader.go\npackage iotest\n\nfunc Nothing() {}\n");
    let repo: Repo = committed(&tree);
    repo.write("net/textproto/reader.go", "package textproto\n\nfunc size() int { return 2 }\n");
    let answer = repo.call("changes", &json!({}));
    assert_eq!(texts(&answer["tests"]), ["net/textproto/reader_test.go"], "{answer}");
    let named: Vec<&Value> =
        answer["changes"][0]["tests"].as_array().unwrap().iter().map(|test| &test["file_path"]).collect();
    assert_eq!(named, [&json!("net/textproto/reader_test.go")], "{answer}");
}

#[test]
fn code_of_a_library_in_a_folder_named_test_is_no_test() {
    let repo: Repo = committed(
        "\
//- /lib/plug/conn.ex
defmodule Plug.Conn do
  @spec assign(t, atom) :: t
  def assign(conn, key), do: {conn, key}
end
//- /lib/plug/adapters/test/conn.ex
defmodule Plug.Adapters.Test.Conn do
  def conn(conn), do: Plug.Conn.assign(conn, :a)
end
//- /test/plug/conn_test.exs
defmodule Plug.ConnTest do
  def go(conn), do: Plug.Conn.assign(conn, :a)
end
//- /test/support/case.ex
defmodule Plug.Case do
  def go(conn), do: Plug.Conn.assign(conn, :a)
end
",
    );
    repo.write(
        "lib/plug/conn.ex",
        "defmodule Plug.Conn do\n  @spec assign(t, atom) :: t\n  def assign(conn, key), do: {key, conn}\nend\n",
    );
    let answer = repo.call("changes", &json!({}));
    assert_eq!(texts(&answer["tests"]), ["test/plug/conn_test.exs"], "{answer}");
    let change = &answer["changes"][0];
    let callers: Vec<&Value> = change["callers"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(callers, [&json!("Plug.Adapters.Test.Conn.conn")], "{answer}");
}
