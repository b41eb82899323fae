//! One call about several repositories: which those are, that their hits are ranked as in one index, and that one that fails
//! takes nothing from the others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::harness::{Repo, Server};
use crate::support::normalized::sizes;
use crate::support::waiting::{has_ended, until};

/// Repositories next to each other, and one that asks.
struct Several {
    /// Where commands run. Its home is the user's.
    own: Repo,
    around: TempDir,
}

impl Several {
    fn new(repositories: &[(&str, &str)]) -> Self {
        let around = tempfile::Builder::new().prefix("ixmcp-several").tempdir().unwrap();
        let several = Self { own: Repo::new("//- /own.md\nnothing to find\n"), around };
        for (name, files) in repositories {
            several.add(name, files);
        }
        several
    }

    fn root(&self, name: &str) -> PathBuf {
        self.around.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.root(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, path: &str, text: &str) {
        let path = self.root(name).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A repository with files as blocks, each headed by `//- /path`.
    fn add(&self, name: &str, files: &str) {
        fs::create_dir_all(self.root(name).join(".git")).unwrap();
        for block in files.split("//- /").skip(1) {
            let (path, text) = block.split_once('\n').unwrap();
            self.write(name, path.trim(), text);
        }
    }

    fn sync(&self, name: &str) {
        self.own.ok(&["--repo", &self.text(name), "sync"]);
    }

    /// The user's settings.
    fn configure(&self, text: &str) {
        let folder = self.own.home().join(".config/ixmcp");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    fn names(&self, names: &[&str]) -> Vec<String> {
        names.iter().map(|name| self.text(name)).collect()
    }

    fn query(&self, repo: impl serde::Serialize, text: &str) -> Value {
        self.own.call("query", &json!({ "repo": repo, "text": text }))
    }

    /// A transcript of calls that must fail.
    fn refusals(&self, calls: &[(&str, Value)]) -> String {
        let around = self.around.path().canonicalize().unwrap();
        let home = self.own.home().canonicalize().unwrap();
        self.own.refusals(calls, &[(around.to_str().unwrap(), "AROUND"), (home.to_str().unwrap(), "HOME")])
    }

    /// A transcript of queries that must fail, one for each scope.
    fn refused_scopes(&self, scopes: &[&str]) -> String {
        let calls: Vec<(&str, Value)> =
            scopes.iter().map(|repo| ("query", json!({ "repo": repo, "text": "x" }))).collect();
        self.refusals(&calls)
    }
}

/// `name/path:line` of each hit.
fn hits(answer: &Value) -> Vec<String> {
    let of = |hit: &Value| {
        let repo = Path::new(hit["repo"].as_str().unwrap()).file_name().unwrap().to_str().unwrap().to_owned();
        format!("{repo}/{}:{}", hit["file_path"].as_str().unwrap(), hit["line"])
    };
    answer["results"].as_array().unwrap().iter().map(of).collect()
}

fn problems(answer: &Value) -> Vec<(String, String)> {
    let text = |problem: &Value, name: &str| problem[name].as_str().unwrap().to_owned();
    let problems = answer["problems"].as_array().cloned().unwrap_or_default();
    problems.iter().map(|problem| (text(problem, "repo"), text(problem, "reason"))).collect()
}

const PAY: &str = "//- /pay.py\ndef charge_card(card):\n    \"\"\"Charge a credit card.\"\"\"\n    return card\n";
const SHOP: &str =
    "//- /shop.py\nfrom pay import charge_card\n\ndef checkout(cart):\n    return charge_card(cart.card)\n";
const MAIL: &str =
    "//- /mail.py\ndef send_receipt(order):\n    \"\"\"Send the receipt of a charged card.\"\"\"\n    return order\n";

#[test]
fn every_hit_of_several_repositories_names_its_own_and_pages_cover_all_of_them() {
    let several = Several::new(&[("pay", PAY), ("shop", SHOP), ("mail", MAIL)]);
    let all = several.names(&["shop", "pay", "mail"]);
    let answer = several.query(&all, "charge card");
    let found = hits(&answer);
    assert_eq!(found[0], "pay/pay.py:1", "{answer}");
    let of: BTreeSet<&str> = found.iter().map(|hit| hit.split('/').next().unwrap()).collect();
    assert_eq!(of, ["mail", "pay", "shop"].into(), "{answer}");
    assert_eq!(answer["problems"], Value::Null);
    // One page after the other is the whole list, whatever the order of the names.
    let mut paged = Vec::new();
    let mut offset = 0;
    loop {
        let repo: Vec<&String> = all.iter().rev().collect();
        let call = json!({ "repo": repo, "text": "charge card", "limit": 1, "offset": offset });
        let page = several.own.call("query", &call);
        assert_eq!(page["total"], answer["total"], "{page}");
        paged.extend(hits(&page));
        match page["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(paged, found);
    // A single repository says nothing of itself, in whatever form it is named.
    for one in
        [json!(several.text("pay")), json!([several.text("pay")]), json!([several.text("pay"), several.text("pay")])]
    {
        let answer = several.query(&one, "charge card");
        assert_eq!(answer["results"][0]["file_path"], "pay.py", "{answer}");
        assert_eq!(answer["results"][0]["repo"], Value::Null, "{answer}");
    }
    let as_text = json!(json!(all).to_string());
    assert_eq!(hits(&several.query(&as_text, "charge card")), found, "a list that is written as a text");
}

#[test]
fn exact_search_lists_the_lines_of_each_repository_in_order_of_their_roots() {
    let several = Several::new(&[("b", PAY), ("a", SHOP)]);
    let call = |offset: u64, limit: u64| {
        let repo = several.names(&["b", "a"]);
        several.own.call(
            "query",
            &json!({ "repo": repo, "text": "charge_card", "mode": "literal", "limit": limit, "offset": offset }),
        )
    };
    let answer = call(0, 10);
    assert_eq!(hits(&answer), ["a/shop.py:1", "a/shop.py:4", "b/pay.py:1"]);
    assert_eq!((&answer["total"], &answer["truncated"]), (&json!(3), &json!(false)), "{answer}");
    let second = call(1, 1);
    assert_eq!(hits(&second), ["a/shop.py:4"]);
    assert_eq!((&second["total"], &second["next_offset"]), (&json!(3), &json!(2)), "{second}");
    assert_eq!(hits(&call(2, 5)), ["b/pay.py:1"]);
    let none = call(0, 0);
    assert_eq!((&none["total"], &none["truncated"]), (&json!(3), &json!(true)), "{none}");
}

/// The files of a folder of this project, as a repository.
fn copy_sources(from: &str, to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(from);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(&from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn several_repositories_are_ranked_like_one_index_over_their_parent() {
    const FOLDERS: &[&str] = &["store", "repository", "update", "serve"];
    const QUERIES: &[&str] = &[
        "how are changed files noticed",
        "update lock of a repository",
        "read one state of the index",
        "daemon exits when idle",
        "vectors of chunks that are gone",
        "open a connection to the database",
        "cookie file of the watcher",
        "Workspaces.at",
        "frequency of a word in chunks",
        "progress of an update",
        "token of a client over TCP",
        "replace a damaged index",
    ];
    let several = Several::new(&[]);
    // The parent is one repository with the same files.
    let parent = several.root("parent");
    fs::create_dir_all(parent.join(".git")).unwrap();
    for folder in FOLDERS {
        copy_sources(folder, &parent.join(folder));
        copy_sources(folder, &several.root(folder));
        fs::create_dir_all(several.root(folder).join(".git")).unwrap();
        several.sync(folder);
    }
    several.sync("parent");
    let members = several.names(FOLDERS);
    let (mut same, mut all, mut differing) = (0, 0, Vec::new());
    for query in QUERIES {
        let whole = several.query(several.text("parent"), query);
        let wanted: BTreeSet<String> = whole["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| format!("{}:{}", hit["file_path"].as_str().unwrap(), hit["line"]))
            .collect();
        let found: BTreeSet<String> = hits(&several.query(&members, query)).into_iter().collect();
        all += wanted.len();
        same += wanted.intersection(&found).count();
        if wanted != found {
            differing.push(format!("{query}: {wanted:?} {found:?}"));
        }
    }
    // The parent's paths have one more word.
    assert!(same * 100 >= all * 95, "{same} of {all}: {}", differing.join("\n"));
}

#[test]
fn a_name_is_found_where_it_is_defined_and_where_others_use_it() {
    let several = Several::new(&[("pay", PAY), ("shop", SHOP), ("mail", MAIL)]);
    let repo = several.names(&["mail", "pay", "shop"]);
    let answer = several.own.call("get_symbol", &json!({ "repo": repo, "symbol_name": "charge_card" }));
    let found: Vec<(&str, String)> = (answer["symbols"].as_array().unwrap().iter())
        .map(|symbol| {
            let repo = Path::new(symbol["repo"].as_str().unwrap()).file_name().unwrap();
            (symbol["role"].as_str().unwrap(), format!("{}:{}", repo.to_str().unwrap(), symbol["line"]))
        })
        .collect();
    let expected = [("definition", "pay:1"), ("reference", "shop:1"), ("reference", "shop:4")];
    assert_eq!(found, expected.map(|(role, at)| (role, at.to_owned())), "{answer}");
    let unknown = several.own.call("get_symbol", &json!({ "repo": repo, "symbol_name": "charge_cart" }));
    assert_eq!(unknown["suggestions"], json!(["charge_card"]), "{unknown}");

    let files = several.own.call("list_files", &json!({ "repo": repo }));
    let expected: Vec<String> =
        ["mail/mail.py", "pay/pay.py", "shop/shop.py"].iter().map(|path| several.text(path)).collect();
    assert_eq!(files["files"], json!(expected), "{files}");
    assert_eq!(files["total"], 3);

    let stats = several.own.call("stats", &json!({ "repo": repo }));
    assert_eq!((&stats["total_files"], &stats["languages"]["python"]["files"]), (&json!(3), &json!(3)), "{stats}");
    assert_eq!(stats["repositories"].as_array().unwrap().len(), 3);

    let slice = |path: &str| json!({ "repo": repo, "file_path": path, "start_line": 1, "end_line": 1 });
    let lines = several.own.call("get_slice", &slice("shop.py"));
    assert_eq!((&lines["repo"], &lines["start_line"]), (&json!(several.text("shop")), &json!(1)), "{lines}");
    several.write("mail", "shop.py", "x = 1\n");
    expect![[r#"
        $ ixmcp call get_slice --args '{"end_line":1,"file_path":"shop.py","repo":["AROUND/mail","AROUND/pay","AROUND/shop"],"start_line":1}'
        ixmcp: INVALID_ARGUMENT: shop.py is in 2 repositories. Name one by `repo`: AROUND/mail, AROUND/shop.
        $ ixmcp call get_slice --args '{"end_line":1,"file_path":"gone.py","repo":["AROUND/mail","AROUND/pay","AROUND/shop"],"start_line":1}'
        ixmcp: INVALID_PATH: no repository of the scope has the file gone.py. `list_files` with the same `repo` lists their files.
        $ ixmcp call check --args '{"repo":["AROUND/mail","AROUND/pay","AROUND/shop"]}'
        ixmcp: INVALID_ARGUMENT: argument `repo`: check takes one repository. Name one. Several can be asked by query, get_slice, get_symbol, list_files, stats, search_documents, ixchel_search, ixchel_tags.
    "#]].assert_eq(&several.refusals(&[
        ("get_slice", slice("shop.py")),
        ("get_slice", slice("gone.py")),
        ("check", json!({ "repo": repo })),
    ]));
}

#[test]
fn documents_entities_and_tags_are_found_in_all_repositories() {
    let entity = |id: &str, title: &str| {
        format!(
            "//- /.ixchel/decisions/{id}.md\n---\nid: {id}\ntitle: {title}\ntags: [money]\n---\n\n{title} by card.\n"
        )
    };
    let several = Several::new(&[("pay", &entity("dec-1", "Payments")), ("shop", &entity("dec-2", "Refunds"))]);
    let repo = several.names(&["pay", "shop"]);
    // Scores of an index with vectors and of one without are not comparable.
    ["pay", "shop"].iter().for_each(|name| several.sync(name));
    let found = several.own.call("ixchel_search", &json!({ "repo": repo, "query": "refunds by card" }));
    assert_eq!((&found["hits"][0]["id"], &found["hits"][0]["repo"]), (&json!("dec-2"), &json!(repo[1])), "{found}");
    let tags = several.own.call("ixchel_tags", &json!({ "repo": repo }));
    assert_eq!((&tags["tags"], &tags["total"]), (&json!([{ "tag": "money", "count": 2 }]), &json!(1)), "{tags}");
    let options = json!({ "minScore": 0.1, "limit": 5 });
    let call = json!({ "repo": repo, "query": "payments by card", "options": options });
    let documents = several.own.call("search_documents", &call);
    let results = documents["results"].as_array().unwrap();
    assert!(results.iter().all(|hit| hit["repo"].is_string()) && results.len() >= 2, "{documents}");
    assert_eq!(results[0]["repo"], json!(repo[0]), "{documents}");
}

#[test]
fn a_group_is_defined_by_the_user_alone() {
    let several = Several::new(&[("pay", PAY), ("shop", SHOP), ("mail", MAIL)]);
    several.configure(&format!(
        "[groups]\nmoney = [{:?}, {:?}]\nall = [\"@money\", {:?}]\n\"odd 'name'\\n\" = [{:?}]\nempty = []\na = [\"@b\"]\nb = [\"@a\"]\n",
        several.text("pay"),
        several.text("shop"),
        several.text("mail"),
        several.text("p*"),
    ));
    let found = |repo: &str| -> BTreeSet<String> {
        hits(&several.query(repo, "card")).iter().map(|hit| hit.split('/').next().unwrap().to_owned()).collect()
    };
    assert_eq!(found("@money"), ["pay".to_owned(), "shop".to_owned()].into());
    assert_eq!(found("@all").len(), 3);
    // A glob of a group matches what is indexed.
    let one = several.query("@odd 'name'\n", "card");
    assert_eq!(one["results"][0]["file_path"], "pay.py", "{one}");
    let printed = several.own.ok(&["query", "card", "--group", "money"]);
    expect![[r#"
        AROUND/pay/pay.py:1  [charge_card]
            def charge_card(card):
        AROUND/shop/shop.py:4  [checkout]
                return charge_card(cart.card)
    "#]]
    .assert_eq(&printed.replace(&several.text(""), "AROUND/"));

    expect![[r#"
        $ ixmcp call query --args '{"repo":"@a","text":"x"}'
        ixmcp: INVALID_ARGUMENT: the groups form a cycle: @a -> @b -> @a. Correct [groups] in config.toml.
        $ ixmcp call query --args '{"repo":"@mone","text":"x"}'
        ixmcp: INVALID_ARGUMENT: there is no group @mone. Groups in HOME/.config/ixmcp/config.toml: a, all, b, empty, money, odd 'name'\u{a}.
        $ ixmcp call query --args '{"repo":"@empty","text":"x"}'
        ixmcp: INVALID_ARGUMENT: the group @empty is empty. Add repositories to it in config.toml.
    "#]].assert_eq(&several.refused_scopes(&["@a", "@mone", "@empty"]));
    let long = "x".repeat(300);
    let refused = several.refused_scopes(&[&format!("@{long}")]);
    expect![[r#"
        $ ixmcp call query --args '{"repo":"@LONG","text":"x"}'
        ixmcp: INVALID_ARGUMENT: there is no group @BEGINNING. Groups in HOME/.config/ixmcp/config.toml: a, all, b, empty, money, odd 'name'\u{a}.
    "#]].assert_eq(&refused.replace(&long, "LONG").replace(&long[..199], "BEGINNING"));
    // A group of the repository's own file would say what others' queries read.
    several.own.write(".ixmcp.toml", "[groups]\nstolen = [\"/etc\"]\n");
    expect![[r#"
        $ ixmcp call query --args '{"repo":"@stolen","text":"x"}'
        ixmcp: INVALID_ARGUMENT: there is no group @stolen. Groups in HOME/.config/ixmcp/config.toml: a, all, b, empty, money, odd 'name'\u{a}.
    "#]].assert_eq(&several.refused_scopes(&["@stolen"]));
    let warned = several.own.run(&["stats"]);
    let warned = String::from_utf8(warned.stderr).unwrap();
    expect![[r#"
        REPOSITORY/.ixmcp.toml: groups.stolen is ignored, because a repository may not set it
    "#]]
    .assert_eq(&warned.split_once(" WARN ").unwrap().1.replace(several.own.path().to_str().unwrap(), "REPOSITORY"));
    several.configure("[groups]\nmoney = \"pay\"\n");
    expect![[r#"
        $ ixmcp call query --args '{"repo":"@money","text":"x"}'
        ixmcp: INVALID_ARGUMENT: HOME/.config/ixmcp/config.toml: groups.money must be a list of paths, globs of paths and other groups, such as ["~/src/pay-*", "@mail"]. Correct it or remove it.
    "#]].assert_eq(&several.refused_scopes(&["@money"]));
}

#[test]
fn a_glob_matches_repositories_that_are_indexed_and_nothing_else() {
    let several = Several::new(&[("pay-a", PAY), ("pay-b", SHOP), ("pay-c", MAIL), ("other", PAY)]);
    fs::create_dir_all(several.root("pay-plain/sub")).unwrap();
    fs::write(several.root("pay-file"), "x").unwrap();
    ["pay-a", "pay-b", "other"].iter().for_each(|name| several.sync(name));
    let answer = several.query(several.text("pay-*"), "card");
    let of: BTreeSet<String> = hits(&answer).iter().map(|hit| hit.split('/').next().unwrap().to_owned()).collect();
    assert_eq!(of, ["pay-a".to_owned(), "pay-b".to_owned()].into(), "{answer}");
    assert!(!several.root("pay-c").join(".ixmcp").exists() && !several.root("pay-plain").join(".ixmcp").exists());
    let printed = several.own.ok(&["query", "card", "--repo", &several.text("pay-[ab]")]);
    expect![[r#"
        AROUND/pay-a/pay.py:1  [charge_card]
            def charge_card(card):
        AROUND/pay-b/shop.py:4  [checkout]
                return charge_card(cart.card)
    "#]]
    .assert_eq(&printed.replace(&several.text(""), "AROUND/"));

    let home = format!("{}*", several.own.home().display());
    let of = |glob: &str| several.text(glob);
    expect![[r#"
        $ ixmcp call query --args '{"repo":"AROUND/none-*","text":"x"}'
        ixmcp: INDEX_NOT_FOUND: no folder matches it. `ixmcp sync --repo PATH` indexes a repository.
        $ ixmcp call query --args '{"repo":"AROUND/pay-f*","text":"x"}'
        ixmcp: INDEX_NOT_FOUND: no folder matches it. `ixmcp sync --repo PATH` indexes a repository.
        $ ixmcp call query --args '{"repo":"AROUND/pay-p*","text":"x"}'
        ixmcp: INDEX_NOT_FOUND: it matches one folder, which is not an indexed repository. `ixmcp sync --repo PATH` indexes a repository.
        $ ixmcp call query --args '{"repo":"AROUND/**/x","text":"x"}'
        ixmcp: INVALID_ARGUMENT: argument `repo`: the glob "AROUND/**/x" contains `**`. A glob of repositories names each level: ~/src/*/api.
        $ ixmcp call query --args '{"repo":"AROUND/[x","text":"x"}'
        ixmcp: INVALID_ARGUMENT: argument `repo`: the glob "AROUND/[x" is not valid: unclosed character class; missing ']'. Correct it, or list the paths.
        $ ixmcp call query --args '{"repo":"HOME*","text":"x"}'
        ixmcp: INDEX_NOT_FOUND: it matches one folder, which is not an indexed repository. `ixmcp sync --repo PATH` indexes a repository.
        $ ixmcp call query --args '{"repo":"~/*","text":"x"}'
        ixmcp: INDEX_NOT_FOUND: no folder matches it. `ixmcp sync --repo PATH` indexes a repository.
        $ ixmcp call query --args '{"repo":"~","text":"x"}'
        ixmcp: INVALID_PATH: HOME is a home folder and never indexed. Name a project's folder by --repo.
    "#]].assert_eq(&several.refused_scopes(&[
        &of("none-*"),
        &of("pay-f*"),
        &of("pay-p*"),
        &of("**/x"),
        &of("[x"),
        &home,
        "~/*",
        "~",
    ]));
    // How many folders there are depends on the machine.
    let refused = several.refused_scopes(&["/*"]);
    assert!(refused.contains("none of which is an indexed repository"), "{refused}");
    // A folder that is named like a glob is a folder.
    several.add("[x]", PAY);
    let answer = several.query(several.text("[x]"), "charge card");
    assert_eq!(answer["results"][0]["file_path"], "pay.py", "{answer}");
    for folder in 0..3_000 {
        fs::create_dir_all(several.root("many").join(folder.to_string())).unwrap();
    }
    expect![[r#"
        $ ixmcp call query --args '{"repo":"AROUND/many/*","text":"x"}'
        ixmcp: INDEX_NOT_FOUND: it matches 3000 folders, none of which is an indexed repository. `ixmcp sync --repo PATH` indexes a repository.
    "#]].assert_eq(&several.refused_scopes(&[&of("many/*")]));
}

#[test]
fn a_repository_that_cannot_answer_is_a_problem_and_the_others_answer() {
    let several = Several::new(&[("pay", PAY), ("shop", SHOP), ("newer", MAIL)]);
    several.sync("newer");
    let newer =
        "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES (999, 'later', '', '1')";
    let database = several.root("newer").join(".ixmcp/index.db");
    assert!(Command::new("sqlite3").arg(database).arg(newer).status().unwrap().success());
    fs::create_dir_all(several.root("plain")).unwrap();
    let odd = "quote ' \" and\nnewline";
    several.add(odd, PAY);
    let long = format!("/tmp/{}", "x".repeat(300));
    let mut repo = several.names(&["pay", "shop", "newer", "plain", "missing", odd]);
    repo.extend(["/etc".to_owned(), "/".to_owned(), long.clone()]);
    let answer = several.query(&repo, "charge card");
    let of: BTreeSet<String> = hits(&answer).iter().map(|hit| hit.split('/').next().unwrap().to_owned()).collect();
    assert_eq!(of, [odd.to_owned(), "pay".to_owned(), "shop".to_owned()].into(), "{answer}");
    let problems: String = problems(&answer).into_iter().map(|(repo, reason)| format!("{repo}: {reason}\n")).collect();
    expect![[r#"
        /: INVALID_PATH: / is a folder of the system and never indexed. Name a project's folder by --repo.
        AROUND/missing: INVALID_PATH: argument `repo`: AROUND/missing is not a folder. Give the path of a repository.
        AROUND/newer: NEWER_INDEX: AROUND/newer/.ixmcp/index.db has schema 999, this ixmcp knows up to 7. Use the newer ixmcp, or run `ixmcp rebuild` to build the index again with this one.
        AROUND/plain: INVALID_PATH: argument `repo`: AROUND/plain is not a repository of yours. Name a folder with .git, .ixchel or .ixmcp in it; `ixmcp sync PATH` makes one.
        /etc: INVALID_PATH: /etc is a folder of the system and never indexed. Name a project's folder by --repo.
        LONG: INVALID_PATH: argument `repo`: LONG is not a folder. Give the path of a repository.
    "#]].assert_eq(&problems.replace(&long, "LONG").replace(&long[..200], "LONG").replace(&several.text(""), "AROUND/"));
    expect![[r#"
        $ ixmcp call query --args '{"repo":["/etc","/proc"],"text":"x"}'
        ixmcp: INVALID_PATH: none of 2 repositories answers. The first, /etc: /etc is a folder of the system and never indexed. Name a project's folder by --repo.
        $ ixmcp call query --args '{"repo":["AROUND/pay","AROUND/missing"],"text":" "}'
        ixmcp: INVALID_ARGUMENT: argument `text` is empty. Give a query.
        $ ixmcp call query --args '{"repo":[1],"text":"x"}'
        ixmcp: INVALID_ARGUMENT: argument `repo`: expected a list of paths, got a number. See the tool's input schema.
    "#]].assert_eq(&several.refusals(&[
        ("query", json!({ "repo": ["/etc", "/proc"], "text": "x" })),
        ("query", json!({ "repo": several.names(&["pay", "missing"]), "text": " " })),
        ("query", json!({ "repo": [1], "text": "x" })),
    ]));
}

#[test]
fn a_repository_may_vanish_between_two_pages_and_be_named_by_two_paths() {
    let several = Several::new(&[("a", PAY), ("b", SHOP), ("c", MAIL)]);
    std::os::unix::fs::symlink(several.root("b"), several.root("link")).unwrap();
    let repo = several.names(&["a", "b", "link", "c", "b/../b/."]);
    let mut server = Server::start_mcp(several.own.command(&["mcp", "--no-daemon"]));
    let page = |server: &mut Server, offset: usize| {
        server.tool("query", &json!({ "repo": repo, "text": "card", "limit": 1, "offset": offset }))
    };
    let first = page(&mut server, 0);
    let all = first["total"].as_u64().unwrap();
    assert_eq!(first["results"].as_array().unwrap().len(), 1, "{first}");
    assert_eq!(problems(&first), []);
    // As a whole: the server may be writing vectors in it.
    fs::rename(several.root("c"), several.root("elsewhere")).unwrap();
    let second = page(&mut server, 1);
    assert!(second["total"].as_u64().unwrap() < all, "{second}");
    assert!(hits(&second).iter().all(|hit| !hit.starts_with("c/")), "{second}");
    let c = several.text("c");
    let reason = format!("INVALID_PATH: argument `repo`: {c} is not a folder. Give the path of a repository.");
    assert_eq!(problems(&second), [(c, reason)]);
}

#[test]
fn every_repository_is_fresh_whichever_process_keeps_it() {
    let several = Several::new(&[("a", PAY), ("b", SHOP)]);
    let repo = several.names(&["a", "b"]);
    let count = |answer: &Value| hits(answer).iter().filter(|hit| hit.contains("new.py")).count();
    assert_eq!(count(&several.query(&repo, "quarterly invoice")), 0);
    several.write("b", "new.py", "def quarterly_invoice():\n    pass\n");
    assert_eq!(count(&several.query(&repo, "quarterly invoice")), 1);
    // By a process that stays and watches.
    let mut server = Server::start_mcp(several.own.command(&["mcp", "--no-daemon"]));
    let mut ask = |text: &str| count(&server.tool("query", &json!({ "repo": repo, "text": text })));
    assert_eq!(ask("yearly statement"), 0);
    several.write("a", "new.py", "def yearly_statement():\n    pass\n");
    assert_eq!(ask("yearly statement"), 1);
    // The daemon of a member keeps it fresh; none is started for the other.
    several.own.ok(&["--repo", &repo[0], "daemon", "start"]);
    several.write("a", "new.py", "def monthly_reminder():\n    pass\n");
    assert_eq!(ask("monthly reminder"), 1);
    several.write("a", "new.py", "def weekly_digest():\n    pass\n");
    assert_eq!(count(&several.query(&repo, "weekly digest")), 1);
    let literal = json!({ "repo": repo, "text": "weekly_digest", "mode": "literal" });
    assert_eq!(count(&several.own.call("query", &literal)), 1);
    let status: Value =
        serde_json::from_slice(&several.own.run(&["--repo", &repo[1], "daemon", "status", "--json"]).stdout).unwrap();
    assert_eq!(status["running"], false, "{status}");
    let status: Value =
        serde_json::from_slice(&several.own.run(&["--repo", &repo[0], "daemon", "status", "--json"]).stdout).unwrap();
    several.own.ok(&["--repo", &repo[0], "daemon", "stop"]);
    // Its folder must not be removed while it ends.
    until("it has ended", || has_ended(status["pid"].as_u64().unwrap()));
}

#[test]
fn commands_about_one_repository_refuse_several() {
    let several = Several::new(&[("a", PAY), ("b", SHOP)]);
    let (a, b) = (several.text("a"), several.text("b"));
    let refused = several.own.failures(
        &[
            &["--repo", &a, "--repo", &b, "sync"],
            &["--repo", &a, "--repo", &b, "rebuild"],
            &["--repo", &a, "--repo", &b, "entity", "create", "issue", "x"],
            &["--repo", &a, "--repo", &b, "files", "--skipped"],
            &["--repo", &a, "--repo", &b, "deps"],
            &["--repo", &a, "--repo", &b, "check"],
        ],
        &[(a.as_str(), "A"), (b.as_str(), "B")],
    );
    expect![[r#"
        $ ixmcp --repo A --repo B sync
        ixmcp: INVALID_ARGUMENT: this command takes one repository. Give one --repo. Several can be searched by query, symbol, slice, files, stats, documents search, entity search and entity tags.
        $ ixmcp --repo A --repo B rebuild
        ixmcp: INVALID_ARGUMENT: this command takes one repository. Give one --repo. Several can be searched by query, symbol, slice, files, stats, documents search, entity search and entity tags.
        $ ixmcp --repo A --repo B entity create issue x
        ixmcp: INVALID_ARGUMENT: this command takes one repository. Give one --repo. Several can be searched by query, symbol, slice, files, stats, documents search, entity search and entity tags.
        $ ixmcp --repo A --repo B files --skipped
        ixmcp: INVALID_ARGUMENT: this command takes one repository. Give one --repo. Several can be searched by query, symbol, slice, files, stats, documents search, entity search and entity tags.
        $ ixmcp --repo A --repo B deps
        ixmcp: INVALID_ARGUMENT: this command takes one repository. Give one --repo. Several can be searched by query, symbol, slice, files, stats, documents search, entity search and entity tags.
        $ ixmcp --repo A --repo B check
        ixmcp: INVALID_ARGUMENT: this command takes one repository. Give one --repo. Several can be searched by query, symbol, slice, files, stats, documents search, entity search and entity tags.
    "#]].assert_eq(&refused);
    let around = several.text("");
    let printed = several.own.ok(&["--repo", &a, "--repo", &b, "symbol", "charge_card"]);
    expect![[r#"
        AROUND/a/pay.py:1:5  function charge_card  def charge_card(card)
        AROUND/b/shop.py:1:17  import charge_card
        AROUND/b/shop.py:4:12  call charge_card
    "#]]
    .assert_eq(&printed.replace(&around, "AROUND/"));
    let printed = several.own.ok(&["--repo", &a, "--repo", &b, "stats"]);
    expect![[r#"
        $ ixmcp stats
                1 file           1 chunk      SIZE  AROUND/a
                1 file           1 chunk      SIZE  AROUND/b
                2 files          2 chunks     SIZE  in all
    "#]]
    .assert_eq(&format!("$ ixmcp stats\n{}", sizes(&printed.replace(&around, "AROUND/"))));
    let files = several.own.ok(&["--repo", &a, "--repo", &b, "files"]);
    expect![[r#"
        AROUND/a/pay.py
        AROUND/b/shop.py
    "#]]
    .assert_eq(&files.replace(&around, "AROUND/"));
}

#[test]
fn many_repositories_of_which_one_in_ten_fails_are_answered() {
    // Each index takes a few megabytes.
    let count: usize = if std::env::var_os("SOAK").is_some() { 500 } else { 60 };
    let several = Several::new(&[]);
    let mut repo = Vec::new();
    for number in 0..count {
        let name = format!("r{number:03}");
        repo.push(several.text(&name));
        if number % 10 != 0 {
            several.add(&name, &format!("//- /main.py\ndef handler_{number}(request):\n    return request\n"));
        }
    }
    let answer = several.query(&repo, "handler 23");
    assert_eq!(hits(&answer)[0], "r023/main.py:1", "{}", answer["results"]);
    assert_eq!(problems(&answer).len(), count / 10, "{}", answer["problems"]);
    let literal = json!({ "repo": repo, "text": "def handler_", "mode": "literal", "limit": 1000 });
    let answer = several.own.call("query", &literal);
    assert_eq!(answer["total"], count - count / 10);
    assert_eq!(hits(&answer).len(), count - count / 10);
    // Names that are similar are looked for once nothing was found; what failed is reported once.
    let unknown = several.own.call("get_symbol", &json!({ "repo": repo, "symbol_name": "handler_2x" }));
    assert_eq!((&unknown["total"], problems(&unknown).len()), (&json!(0), count / 10), "{unknown}");
    expect![[r#"["handler_2","handler_21","handler_22","handler_23","handler_24"]"#]]
        .assert_eq(&unknown["suggestions"].to_string());
    // Over MCP, the problems leave space for hits.
    let more = (count + 30).min(512) - count;
    let missing = (0..more).map(|number| several.text(&format!("missing{number}")));
    let with_missing: Vec<String> = repo.iter().cloned().chain(missing).collect();
    let mut server = Server::start_mcp(several.own.command(&["mcp", "--no-daemon"]));
    let call = json!({ "repo": with_missing, "text": "handler 47", "timeout_ms": 120_000 });
    let answer = server.tool("query", &call);
    assert_eq!(hits(&answer)[0], "r047/main.py:1", "{answer}");
    assert_eq!(answer["problems"].as_array().unwrap().len(), 20);
    let said = format!("{} of {} repositories did not answer; 20 are listed.", count / 10 + more, count + more);
    assert_eq!(answer["warning"], said);
    let too_many: Vec<String> = (0..600).map(|number| several.text(&format!("more{number}"))).collect();
    let too_many = json!({ "repo": too_many, "text": "x" }).to_string();
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: argument `repo` names 600 repositories. Name at most 512.
    "#]]
    .assert_eq(&several.own.fails(&["call", "query", "--args", &too_many]));
}
