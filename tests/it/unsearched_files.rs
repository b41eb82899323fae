//! Notes about files whose text is not searched.

use serde_json::{Value, json};

use crate::support::harness::Repo;

const NOTE: &str =
    "3 files are not searched (generated 1, minified 1, oversize 1); `ixmcp files --skipped` lists them.";

/// A lock file defines no name.
const OF_CODE: &str = "2 files are not searched (minified 1, oversize 1); `ixmcp files --skipped` lists them.";

/// A repository in which three files with the same name in them are skipped, each for another reason.
fn repository() -> Repo {
    let repo = Repo::new(
        r#"
//- /Cargo.lock
name = "settle_order"
//- /web/app.min.js
function settle_order(){}
//- /shop/cart.py
def pay(order):
    return settle_order(order)
"#,
    );
    repo.write("data/large.py", format!("def settle_order(order): pass\n{}", "# filler\n".repeat(300_000)));
    let skipped: Value = serde_json::from_str(&repo.ok(&["files", "--skipped", "--json"])).unwrap();
    let reasons: Vec<&str> =
        skipped["skipped"].as_array().unwrap().iter().map(|file| file["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["generated", "oversize", "minified"], "{skipped}");
    repo
}

#[test]
fn a_query_that_finds_nothing_names_how_many_files_are_not_searched() {
    let repo = repository();
    for mode in ["smart", "literal", "regex"] {
        let found = repo.call("query", &json!({ "text": "zzznowhere", "mode": mode }));
        assert_eq!((&found["results"], &found["warning"]), (&json!([]), &json!(NOTE)), "{mode}: {found}");
        let printed = repo.run(&["query", "zzznowhere", "-m", mode]);
        assert_eq!(String::from_utf8(printed.stderr).unwrap(), format!("nothing found\n{NOTE}\n"), "{mode}");
    }
}

#[test]
fn a_list_of_all_matches_names_once_how_many_files_are_not_searched() {
    let repo = repository();
    for mode in ["literal", "regex"] {
        let found = repo.call("query", &json!({ "text": "order", "mode": mode, "limit": 1 }));
        assert_eq!((&found["total"], &found["warning"]), (&json!(2), &json!(NOTE)), "{mode}: {found}");
        let rest = repo.call("query", &json!({ "text": "order", "mode": mode, "offset": 1 }));
        assert!(rest["results"].as_array().is_some_and(|rest| rest.len() == 1), "{rest}");
        assert_eq!(rest.get("warning"), None, "{mode}: {rest}");
    }
    let found = repo.call("query", &json!({ "text": "pay order" }));
    assert_eq!(found.get("warning"), None, "what is ranked is no list of all: {found}");
}

#[test]
fn only_files_that_a_query_would_search_are_counted() {
    let repo = repository();
    let search = |include: &str| {
        let found = repo.call("query", &json!({ "text": "order", "mode": "literal", "include": [include] }));
        found.get("warning").cloned()
    };
    let one = "1 file is not searched (oversize 1); `ixmcp files --skipped` lists them.";
    assert_eq!(search("*.py"), Some(json!(one.replace("them", "it"))));
    assert_eq!(search("shop"), None);

    let repo = Repo::new("//- /a.py\nx = 1\n");
    repo.write("image.bin", [0_u8, 159, 146, 150]);
    repo.write("id_rsa", "secret\n");
    let found = repo.call("query", &json!({ "text": "zzznowhere", "mode": "literal" }));
    assert_eq!(found.get("warning"), None, "pictures and secrets have no text for a search: {found}");
}

#[test]
fn a_name_without_a_definition_names_how_many_files_are_not_searched() {
    let repo = repository();
    for arguments in [
        json!({ "symbol_name": "settle_order" }),
        json!({ "symbol_name": "zzznowhere" }),
        json!({ "symbol_name": "zzznow", "match": "prefix" }),
    ] {
        let found = repo.call("get_symbol", &arguments);
        assert_eq!(found["warning"], OF_CODE, "{arguments}: {found}");
    }
    for arguments in [
        json!({ "symbol_name": "pay" }),
        json!({ "symbol_name": "settle_order", "kind": "call" }),
        json!({ "symbol_name": "settle_order", "limit": 0 }),
    ] {
        let found = repo.call("get_symbol", &arguments);
        assert_eq!(found.get("warning"), None, "{arguments}: {found}");
    }
    let printed = repo.run(&["symbol", "settle_order"]);
    assert_eq!(String::from_utf8(printed.stderr).unwrap(), format!("{OF_CODE}\n"));
    let printed = repo.run(&["symbol", "settle_order", "--relations"]);
    let stderr = String::from_utf8(printed.stderr).unwrap();
    assert_eq!(stderr, format!("no definition is named settle_order\n{OF_CODE}\n"));
}

#[test]
fn in_several_repositories_the_note_names_each() {
    let (repo, other) = (repository(), Repo::new("//- /a.py\nx = 1\n"));
    let roots = [repo.path().to_str().unwrap(), other.path().to_str().unwrap()];
    for mode in ["smart", "literal"] {
        let found = repo.call("query", &json!({ "text": "zzznowhere", "mode": mode, "repo": roots }));
        assert_eq!(found["warning"], format!("{}: {NOTE}", roots[0]), "{mode}: {found}");
    }
}
