//! The tool `changes`: definitions that differ from a commit and their dependents, on real repositories of git.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::{Repo, shown_run};
use crate::worktrees::{committed, git};

const SHOP: &str = "\
//- /shop/__init__.py
//- /shop/cart.py
LIMIT = 10


class Cart:
    def __init__(self, items):
        self.items = items

    def total(self):
        return sum(item.price for item in self.items)

    def clear(self):
        self.items = []


def checkout(cart):
    if not cart.items:
        raise ValueError('empty')
    return cart.total()


def discount(cart, rate):
    total = cart.total()
    reduced = total * (1 - rate)
    return max(reduced, 0)


def unused():
    return None
//- /shop/views.py
from shop.cart import Cart, checkout, discount


def buy(items):
    cart = Cart(items)
    return checkout(cart)


def offer(cart):
    return discount(cart, 0.1)
//- /tests/test_cart.py
from shop.cart import checkout


def test_checkout():
    assert checkout(None)
//- /tests/test_views.py
import shop.views
//- /docs/guide.md
# Guide

Call `checkout` at the end. Words such as total say nothing.
//- /.ixchel/decisions/dec-1a2b3c.md
---
id: dec-1a2b3c
title: Checkout is one step
---
`checkout` takes a cart.
";

fn changes(repo: &Repo, arguments: Value) -> Value {
    repo.call("changes", &arguments)
}

fn names(answer: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let kinds = |change: &Value| change["change"].as_array().unwrap().iter().map(text).collect::<Vec<_>>().join("+");
    let mut names: Vec<String> = answer["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| format!("{} {} {}", kinds(change), text(&change["kind"]), text(&change["name"])))
        .collect();
    names.sort();
    names
}

fn change<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let found = answer["changes"].as_array().unwrap().iter().find(|change| change["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {answer}"))
}

/// A list of dependents as `path:line name [precision how]`.
fn dependents(change: &Value, list: &str) -> Vec<String> {
    let items = change[list].as_array().cloned().unwrap_or_default();
    let text = |item: &Value, field: &str| item[field].as_str().unwrap().to_owned();
    let shown = |item: &Value| {
        let (path, name) = (text(item, "file_path"), text(item, "name"));
        format!("{path}:{} {name} [{} {}]", item["line"], text(item, "precision"), text(item, "how"))
    };
    items.iter().map(shown).collect()
}

fn replace(repo: &Repo, path: &str, from: &str, to: &str) {
    let text = fs::read_to_string(repo.path().join(path)).unwrap();
    assert!(text.contains(from), "{path} lacks {from:?}");
    repo.write(path, text.replace(from, to));
}

#[test]
fn nothing_differs_right_after_a_commit_or_after_a_file_was_only_touched() {
    let repo = committed(SHOP);
    assert_eq!(changes(&repo, json!({}))["total"], 0);
    let text = fs::read(repo.path().join("shop/cart.py")).unwrap();
    repo.write("shop/cart.py", &text);
    repo.write("shop/views.py", [b"\n\n", fs::read(repo.path().join("shop/views.py")).unwrap().as_slice()].concat());
    let answer = changes(&repo, json!({}));
    assert_eq!(
        (&answer["total"], &answer["files"], &answer["truncated"]),
        (&json!(0), &json!(1), &json!(false)),
        "{answer}"
    );
    repo.write("shop/cart.py", String::from_utf8(text).unwrap().replace('\n', "\r\n"));
    assert_eq!(changes(&repo, json!({}))["total"], 0, "line ends are not definitions");
}

#[test]
fn each_definition_that_differs_is_listed_with_what_depends_on_it() {
    let repo = committed(SHOP);
    replace(&repo, "shop/cart.py", "def checkout(cart):", "def checkout(cart, user):");
    replace(&repo, "shop/cart.py", "self.items = []", "self.items.clear()");
    replace(&repo, "shop/cart.py", "def discount(cart, rate):", "def reduced_total(cart, rate):");
    replace(&repo, "shop/cart.py", "def unused():\n    return None\n", "");
    replace(&repo, "shop/cart.py", "LIMIT = 10", "LIMIT = 20");
    repo.write(
        "shop/tax.py",
        "class Tax:\n    def rate(self):\n        return 1\n\n    def _key(self):\n        return 2\n",
    );
    let answer = changes(&repo, json!({ "base": "HEAD" }));
    assert_eq!(
        names(&answer),
        [
            "added class Tax",
            "body method Cart.clear",
            "body variable LIMIT",
            "removed function unused",
            "renamed function reduced_total",
            "signature function checkout",
        ]
    );
    let checkout = change(&answer, "checkout");
    assert_eq!(checkout["old_signature"], "def checkout(cart)");
    assert_eq!(checkout["signature"], "def checkout(cart, user)");
    assert_eq!(dependents(checkout, "callers"), ["shop/views.py:6 buy [syntax import]"]);
    assert_eq!(dependents(checkout, "tests"), ["tests/test_cart.py:5 test_checkout [syntax import]"]);
    assert_eq!(
        checkout["mentioned_in"],
        json!([
            { "file_path": ".ixchel/decisions/dec-1a2b3c.md", "line": 5, "id": "dec-1a2b3c" },
            { "file_path": "docs/guide.md", "line": 3 },
        ])
    );
    let renamed = change(&answer, "reduced_total");
    assert_eq!(renamed["old_name"], "discount");
    assert_eq!(dependents(renamed, "old_callers"), ["shop/views.py:10 offer [syntax import]"], "{renamed}");
    assert_eq!(change(&answer, "Tax")["members"], 2);
    assert_eq!(change(&answer, "Cart.clear")["public"], true);
    assert_eq!(answer["changes"][0]["callers_total"], 1, "what most depends on comes first: {answer}");
    assert_eq!(answer["tests"][0], "tests/test_cart.py", "{answer}");
    let page = changes(&repo, json!({ "limit": 2, "offset": 5 }));
    assert_eq!((page["changes"].as_array().unwrap().len(), &page["total"]), (1, &json!(6)));
    assert_eq!(changes(&repo, json!({ "limit": 0 }))["truncated"], true);
}

#[test]
fn what_was_removed_lists_what_still_refers_to_it() {
    let repo = committed(SHOP);
    let cart = fs::read_to_string(repo.path().join("shop/cart.py")).unwrap();
    let (before, rest) = cart.split_once("def checkout").unwrap();
    let (_, after) = rest.split_once("def discount").unwrap();
    repo.write("shop/cart.py", format!("{before}def discount{after}"));
    repo.write("other.py", "from elsewhere import checkout\n\ncheckout(1)\n");
    let answer = changes(&repo, json!({}));
    assert_eq!(names(&answer), ["removed function checkout"]);
    let removed = change(&answer, "checkout");
    assert_eq!(dependents(removed, "callers"), ["shop/views.py:6 buy [syntax import]"], "{removed}");
    assert_eq!((&removed["file_path"], &removed["line"]), (&json!("shop/cart.py"), &json!(15)));
    fs::remove_file(repo.path().join("shop/cart.py")).unwrap();
    let answer = changes(&repo, json!({}));
    let class = change(&answer, "Cart");
    assert_eq!((&class["change"], &class["members"]), (&json!(["removed"]), &json!(3)), "{class}");
    assert_eq!(dependents(class, "callers"), ["shop/views.py:5 buy [syntax import]"]);
}

#[test]
fn a_file_that_git_no_longer_tracks_and_ignores_is_removed() {
    let repo = committed(SHOP);
    repo.write(".gitignore", "cart.py\n");
    git(repo.path(), &["rm", "-q", "--cached", "shop/cart.py"]);
    let status = Command::new("git").args(["status", "--porcelain", "shop"]).current_dir(repo.path()).output().unwrap();
    assert_eq!(status.stdout, b"D  shop/cart.py\n");
    let answer = changes(&repo, json!({}));
    assert_eq!(change(&answer, "Cart")["change"], json!(["removed"]), "{answer}");
    assert_eq!(answer["files"], 1, "{answer}");
}

#[test]
fn a_renamed_type_keeps_its_members_and_a_moved_file_its_definitions() {
    let repo = committed(SHOP);
    replace(&repo, "shop/cart.py", "class Cart:", "class Basket:");
    assert_eq!(names(&changes(&repo, json!({}))), ["renamed class Basket"]);
    replace(&repo, "shop/cart.py", "class Basket:", "class Cart:");
    fs::rename(repo.path().join("shop/cart.py"), repo.path().join("shop/basket.py")).unwrap();
    let answer = changes(&repo, json!({}));
    let moved = change(&answer, "checkout");
    assert_eq!((&moved["change"], &moved["old_path"]), (&json!(["moved"]), &json!("shop/cart.py")));
    assert_eq!(dependents(moved, "old_callers"), ["shop/views.py:6 buy [syntax import]"], "{moved}");
    // Methods moved with their class.
    assert_eq!(
        names(&answer),
        [
            "moved class Cart",
            "moved function checkout",
            "moved function discount",
            "moved function unused",
            "moved variable LIMIT"
        ],
        "{answer}"
    );
}

#[test]
fn implementers_and_overrides_outside_the_change_are_listed() {
    let repo = committed(
        "\
//- /src/store.ts
export interface Store {
  read(key: string): string;
  write(key: string): void;
}
//- /src/disk.ts
import { Store } from './store';

export class DiskStore implements Store {
  read(key: string): string {
    return key;
  }
  write(key: string): void {}
}
//- /src/app.ts
import { Store } from './store';

export function open(store: Store): string {
  return store.read('a');
}
",
    );
    replace(&repo, "src/store.ts", "read(key: string): string;", "read(key: string, size: number): string;");
    let answer = changes(&repo, json!({}));
    assert_eq!(names(&answer), ["signature method Store.read"]);
    let read = change(&answer, "Store.read");
    assert_eq!(dependents(read, "implementers"), ["src/disk.ts:4 DiskStore.read [syntax import]"], "{read}");
    assert_eq!(dependents(read, "callers"), ["src/app.ts:4 open [syntax import]"], "{read}");
}

#[test]
fn the_base_may_be_a_tag_a_branch_or_where_this_branch_began() {
    let repo = committed(SHOP);
    git(repo.path(), &["tag", "v1"]);
    git(repo.path(), &["checkout", "-qb", "topic"]);
    repo.write("shop/more.py", "def more():\n    return 1\n");
    git(repo.path(), &["add", "."]);
    git(repo.path(), &["commit", "-qm", "second"]);
    git(repo.path(), &["checkout", "-q", "main"]);
    repo.write("shop/later.py", "def later():\n    return 1\n");
    git(repo.path(), &["add", "."]);
    git(repo.path(), &["commit", "-qm", "third"]);
    git(repo.path(), &["checkout", "-q", "topic"]);
    assert_eq!(names(&changes(&repo, json!({}))), Vec::<String>::new());
    for base in ["v1", "HEAD~1", "topic^"] {
        assert_eq!(names(&changes(&repo, json!({ "base": base }))), ["added function more"], "{base}");
    }
    assert_eq!(names(&changes(&repo, json!({ "base": "main" }))), ["added function more", "removed function later"]);
    let branch = changes(&repo, json!({ "base": "branch" }));
    assert_eq!(names(&branch), ["added function more"]);
    assert_eq!(branch["base"]["merge_base_with"], "main");
    assert_eq!(branch["base"]["commit"].as_str().unwrap().len(), 40);
    let commit = &branch["base"]["commit"].as_str().unwrap()[..12];
    let commands = [&["changes", "branch", "--format", "markdown"][..], &["changes", "v1"]];
    expect![[r#"
        $ ixmcp changes branch --format markdown
        ## Changes since `branch` (COMMIT)

        1 definition in 1 file.

        | definition | change | public | callers | tests |
        |---|---|---|---|---|
        | function `more` (shop/more.py:1) | added | yes | 0 | 0 |
        $ ixmcp changes v1
        shop/more.py:1  added function more
    "#]]
    .assert_eq(&repo.transcript(&commands, &[(commit, "COMMIT")]));
    assert_eq!(repo.run(&["changes"]).status.code(), Some(1), "nothing differs");
}

#[test]
fn a_detached_worktree_a_folder_below_the_top_and_a_submodule_have_a_base() {
    let repo = committed(SHOP);
    git(repo.path(), &["worktree", "add", "-q", "--detach", ".trees/x"]);
    let nested = repo.path().join(".trees/x");
    fs::write(nested.join("shop/views.py"), "def buy(items):\n    return 0\n").unwrap();
    let call = |folder: &Path| -> Value {
        serde_json::from_str(&repo.ok(&["--repo", folder.to_str().unwrap(), "call", "changes"])).unwrap()
    };
    assert_eq!(names(&call(&nested)), ["body function buy", "removed function offer"]);
    let below = committed(SHOP);
    fs::create_dir(below.path().join("shop/.ixmcp")).unwrap();
    replace(&below, "shop/views.py", "def offer", "def give");
    replace(&below, "tests/test_cart.py", "def test_checkout", "def test_all");
    let part = below.path().join("shop");
    let found: Value = serde_json::from_str(&below.ok(&["--repo", part.to_str().unwrap(), "call", "changes"])).unwrap();
    assert_eq!(names(&found), ["renamed function give"], "{found}");
    assert_eq!(found["changes"][0]["file_path"], "views.py");
    let outer = committed("//- /a.py\ndef a():\n    return 1\n");
    let inner = repo.path().to_str().unwrap();
    git(outer.path(), &["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub"]);
    git(outer.path(), &["commit", "-qm", "sub"]);
    replace(&outer, "sub/shop/views.py", "def offer", "def give");
    let sub = outer.path().join("sub");
    let found: Value = serde_json::from_str(&outer.ok(&["--repo", sub.to_str().unwrap(), "call", "changes"])).unwrap();
    assert_eq!(names(&found), ["renamed function give"]);
    assert_eq!(changes(&outer, json!({}))["total"], 0, "the history of a submodule is its own");
}

#[test]
fn a_base_that_cannot_be_read_is_refused_with_what_to_do() {
    let repo = committed(SHOP);
    git(repo.path(), &["checkout", "-q", "--orphan", "lonely"]);
    git(repo.path(), &["commit", "-qm", "alone"]);
    let long = "x".repeat(5_000);
    let bases = ["nowhere", "--all", "a\u{7}b", "HEAD..main", "HEAD:shop", "branch", long.as_str()];
    let calls = bases.map(|base| ("changes", json!({ "base": base })));
    let mut refused = repo.refusals(&calls, &[(long.as_str(), "LONG")]);
    let without = Repo::new(SHOP);
    refused += &without.refusals(&[("changes", json!({ "base": "HEAD" }))], &[]);
    expect![[r#"
        $ ixmcp call changes --args '{"base":"nowhere"}'
        ixmcp: INVALID_ARGUMENT: argument `base`: there is no commit "nowhere" in this repository. Give a commit, a branch or a tag.
        $ ixmcp call changes --args '{"base":"--all"}'
        ixmcp: INVALID_ARGUMENT: argument `base` is not a commit. Give a commit, a branch or a tag, or "branch" for what this branch changes.
        $ ixmcp call changes --args '{"base":"a\u0007b"}'
        ixmcp: INVALID_ARGUMENT: argument `base` is not a commit. Give a commit, a branch or a tag, or "branch" for what this branch changes.
        $ ixmcp call changes --args '{"base":"HEAD..main"}'
        ixmcp: INVALID_ARGUMENT: argument `base`: there is no commit "HEAD..main" in this repository. Give a commit, a branch or a tag.
        $ ixmcp call changes --args '{"base":"HEAD:shop"}'
        ixmcp: INVALID_ARGUMENT: argument `base`: there is no commit "HEAD:shop" in this repository. Give a commit, a branch or a tag.
        $ ixmcp call changes --args '{"base":"branch"}'
        ixmcp: INVALID_ARGUMENT: argument `base`: HEAD and main have no common ancestor. Give a commit, a branch or a tag as `base`.
        $ ixmcp call changes --args '{"base":"LONG"}'
        ixmcp: INVALID_ARGUMENT: argument `base` is not a commit. Give a commit, a branch or a tag, or "branch" for what this branch changes.
        $ ixmcp call changes --args '{"base":"HEAD"}'
        ixmcp: INVALID_PATH: the history cannot be read: there is no git repository here. Only a git repository, a worktree or a submodule has a base to compare with.
    "#]].assert_eq(&refused);
    let unborn = Repo::new("//- /a.py\ndef a():\n    return 1\n");
    git(unborn.path(), &["init", "-q", "-b", "main"]);
    let answer = changes(&unborn, json!({}));
    assert_eq!((names(&answer), &answer["base"]), (vec!["added function a".to_owned()], &json!({ "name": "HEAD" })));
    let without_git = repo.plain_command(&["changes"]).env("PATH", "").output().unwrap();
    let without_git = shown_run(&["changes"], &without_git);
    expect![[r#"
        $ ixmcp changes
        ixmcp: INVALID_PATH: the program `git` is not installed. Install git, or add its folder to PATH.
        exit code 2
    "#]]
    .assert_eq(&without_git);
    let own = repo.path().join("bin");
    fs::create_dir(&own).unwrap();
    fs::copy("/bin/true", own.join("git")).unwrap();
    let output = repo.plain_command(&["changes"]).env("PATH", format!("bin:{}", own.display())).output().unwrap();
    assert_eq!(shown_run(&["changes"], &output), without_git, "a program of the repository is not run");
}

#[test]
fn a_git_file_that_leads_to_another_repository_is_not_followed() {
    let secret = committed("//- /secret.py\ndef password():\n    return 1\n");
    let directory = secret.path().join(".git");
    let pointing = Repo::new("//- /a.py\nA = 1\n");
    fs::remove_dir(pointing.path().join(".git")).unwrap();
    fs::write(pointing.path().join(".git"), format!("gitdir: {}\n", directory.display())).unwrap();
    let sharing = Repo::new("//- /a.py\nA = 1\n");
    fs::write(sharing.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(sharing.path().join(".git/commondir"), directory.to_str().unwrap()).unwrap();
    let linked = Repo::new("//- /a.py\nA = 1\n");
    fs::write(linked.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for part in ["objects", "refs"] {
        std::os::unix::fs::symlink(directory.join(part), linked.path().join(".git").join(part)).unwrap();
    }
    let refused = [&pointing, &sharing, &linked].map(|repo| repo.fails(&["call", "changes"]));
    expect![[r#"
        ixmcp: INVALID_PATH: the history cannot be read: `.git` names a repository that does not name this folder in return. Only a git repository, a worktree or a submodule has a base to compare with.
        ixmcp: INVALID_PATH: the history cannot be read: `.git` names a repository that does not name this folder in return. Only a git repository, a worktree or a submodule has a base to compare with.
        ixmcp: INVALID_PATH: the history cannot be read: `.git` contains symbolic links to another repository. Only a git repository, a worktree or a submodule has a base to compare with.
    "#]].assert_eq(&refused.concat());
}

#[test]
fn a_merge_with_conflicts_is_compared_as_it_is_and_says_so() {
    let repo = committed(SHOP);
    git(repo.path(), &["checkout", "-qb", "topic"]);
    replace(&repo, "shop/views.py", "cart = Cart(items)", "cart = Cart(list(items))");
    git(repo.path(), &["commit", "-qam", "list"]);
    git(repo.path(), &["checkout", "-q", "main"]);
    replace(&repo, "shop/views.py", "cart = Cart(items)", "cart = Cart(tuple(items))");
    git(repo.path(), &["commit", "-qam", "tuple"]);
    let merge = ["-c", "user.name=t", "-c", "user.email=t@t", "merge", "topic"];
    let merge = Command::new("git").args(merge).current_dir(repo.path()).output().unwrap();
    assert!(!merge.status.success());
    let answer = changes(&repo, json!({}));
    expect![[r#"["added variable cart", "added variable cart", "body function buy"] "A merge has conflicts in 1 file: its text is compared with its conflict markers.""#]].assert_eq(&format!("{:?} {}", names(&answer), answer["warning"]));
}

/// A clone of `from` with some arguments, in a repository of its own.
fn cloned(from: &Repo, arguments: &[&str]) -> Repo {
    let clone = Repo::new("");
    fs::remove_dir(clone.path().join(".git")).unwrap();
    let url = format!("file://{}", from.path().display());
    git(clone.path(), &[&["clone", "-q"], arguments, &[url.as_str(), "."]].concat());
    clone
}

#[test]
fn shallow_partial_and_sparse_clones_answer_from_what_they_have() {
    let repo = committed(SHOP);
    repo.write("shop/views.py", "def buy(items):\n    return 0\n");
    git(repo.path(), &["commit", "-qam", "second"]);
    git(repo.path(), &["config", "uploadpack.allowFilter", "true"]);
    let shallow = cloned(&repo, &["--depth", "1"]);
    assert_eq!(changes(&shallow, json!({}))["total"], 0);
    expect![[r#"
        $ ixmcp call changes --args '{"base":"HEAD~1"}'
        ixmcp: INVALID_ARGUMENT: argument `base`: there is no commit "HEAD~1" in this repository. Give a commit, a branch or a tag. This clone is shallow: `git fetch --unshallow` gets the rest of its history.
    "#]].assert_eq(&shallow.refusals(&[("changes", json!({ "base": "HEAD~1" }))], &[]));
    let partial = cloned(&repo, &["--filter=blob:none"]);
    let answer = changes(&partial, json!({ "base": "HEAD~1" }));
    assert_eq!(answer["problems"][0]["path"], "shop/views.py", "{answer}");
    let count = |repo: &Repo| {
        Command::new("git").args(["count-objects", "-v"]).current_dir(repo.path()).output().unwrap().stdout
    };
    let before = count(&partial);
    changes(&partial, json!({ "base": "HEAD~1" }));
    assert_eq!(before, count(&partial), "nothing is fetched");
    let sparse = cloned(&repo, &["--sparse"]);
    git(sparse.path(), &["sparse-checkout", "set", "docs"]);
    assert!(!sparse.path().join("shop").exists());
    assert_eq!(changes(&sparse, json!({}))["total"], 0, "what is not checked out was not removed");
}

#[test]
fn nothing_that_the_repository_names_is_run() {
    let repo = committed(SHOP);
    git(repo.path(), &["commit", "-q", "--allow-empty", "-m", "second"]);
    let trace = repo.home().join("ran");
    let script = repo.home().join("script");
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", trace.display())).unwrap();
    Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    let program = script.to_str().unwrap();
    let hooks = repo.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "post-checkout",
        "pre-commit",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-auto-gc",
    ] {
        fs::copy(&script, hooks.join(hook)).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", program),
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("core.sshCommand", program),
        ("core.pager", program),
        ("core.editor", program),
        ("core.gitProxy", program),
        ("core.askPass", program),
        ("core.alternateRefsCommand", program),
        ("credential.helper", program),
        ("diff.external", program),
        ("diff.trap.textconv", program),
        ("diff.trap.command", program),
        ("filter.trap.clean", program),
        ("filter.trap.smudge", program),
        ("filter.trap.process", program),
        ("filter.trap.required", "true"),
        ("merge.trap.driver", program),
        ("gpg.program", program),
        ("uploadpack.packObjectsHook", program),
        ("pager.ls-tree", program),
        ("pager.cat-file", program),
        ("alias.ls-tree", "!touch alias"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"),
    ] {
        git(repo.path(), &["config", key, value]);
    }
    git(repo.path(), &["config", "remote.origin.url", &format!("ext::{program} %S")]);
    git(repo.path(), &["config", "core.repositoryFormatVersion", "1"]);
    let open = "shop/cart.py !filter !working-tree-encoding\n";
    repo.write(".git/info/attributes", format!("* filter=trap diff=trap merge=trap\n{open}"));
    repo.write(".gitattributes", "* filter=trap diff=trap merge=trap working-tree-encoding=UTF-16\n");
    replace(&repo, "shop/cart.py", "def checkout(cart):", "def checkout(cart, user):");
    repo.write("shop/__init__.py", "def trapped(): pass\n");
    let _ = fs::remove_file(&trace);
    // The trap works: git itself runs what is configured.
    let status = Command::new("git").args(["status", "--short"]).current_dir(repo.path()).output().unwrap();
    assert!(trace.exists(), "{status:?}");
    fs::remove_file(&trace).unwrap();
    // An object that is missing would be fetched from the promisor.
    let blob = Command::new("git").args(["rev-parse", "HEAD:shop/views.py"]).current_dir(repo.path()).output().unwrap();
    let blob = String::from_utf8(blob.stdout).unwrap();
    let _ = fs::remove_file(&trace);
    let (folder, name) = blob.trim().split_at(2);
    fs::remove_file(repo.path().join(".git/objects").join(folder).join(name)).unwrap();
    replace(&repo, "shop/views.py", "def offer", "def give");
    let compared = ["HEAD", "HEAD~1", "main", "branch", "origin/main", "@{upstream}", "nowhere"].map(|base| {
        let output = repo.run(&["call", "changes", "--args", &json!({ "base": base }).to_string()]);
        assert!(!trace.exists(), "{base}: {}", fs::read_to_string(&trace).unwrap());
        let found = serde_json::from_slice(&output.stdout).map_or_else(
            |_| String::from_utf8_lossy(&output.stderr).into_owned(),
            |answer| names(&answer).join("\n") + "\n",
        );
        format!("{base}: {found}")
    });
    expect![[r#"
        HEAD: signature function checkout
        HEAD~1: signature function checkout
        main: signature function checkout
        branch: signature function checkout
        origin/main: ixmcp: INVALID_ARGUMENT: argument `base`: there is no commit "origin/main" in this repository. Give a commit, a branch or a tag.
        @{upstream}: ixmcp: INVALID_ARGUMENT: argument `base`: there is no commit "@{upstream}" in this repository. Give a commit, a branch or a tag.
        nowhere: ixmcp: INVALID_ARGUMENT: argument `base`: there is no commit "nowhere" in this repository. Give a commit, a branch or a tag.
    "#]].assert_eq(&compared.concat());
    let answer = changes(&repo, json!({}));
    assert_eq!(names(&answer), ["signature function checkout"]);
    let problems: Vec<&Value> = answer["problems"].as_array().unwrap().iter().map(|problem| &problem["path"]).collect();
    assert_eq!(problems, ["shop/views.py", "shop/__init__.py"], "{answer}");
    assert!(!repo.path().join("alias").exists());
}

#[test]
fn histories_without_a_common_ancestor_and_of_other_hashes_are_compared() {
    let repo = committed(SHOP);
    git(repo.path(), &["checkout", "-q", "--orphan", "lonely"]);
    repo.write("shop/views.py", "def buy(items):\n    return 0\n");
    git(repo.path(), &["add", "-A"]);
    git(repo.path(), &["commit", "-qm", "alone"]);
    assert_eq!(names(&changes(&repo, json!({ "base": "main" }))), ["body function buy", "removed function offer"]);
    let other = Repo::new(SHOP);
    fs::remove_dir_all(other.path().join(".git")).unwrap();
    git(other.path(), &["init", "-q", "-b", "main", "--object-format=sha256"]);
    git(other.path(), &["add", "-A"]);
    git(other.path(), &["commit", "-qm", "first"]);
    git(other.path(), &["pack-refs", "--all"]);
    git(other.path(), &["gc", "-q"]);
    replace(&other, "shop/views.py", "def offer", "def give");
    let answer = changes(&other, json!({}));
    assert_eq!(names(&answer), ["renamed function give"]);
    assert_eq!(answer["base"]["commit"].as_str().unwrap().len(), 64, "{answer}");
}

#[test]
fn a_rebase_and_a_revert_that_stopped_are_compared_as_they_are() {
    let repo = committed(SHOP);
    replace(&repo, "shop/views.py", "cart = Cart(items)", "cart = Cart(list(items))");
    git(repo.path(), &["commit", "-qam", "list"]);
    replace(&repo, "shop/views.py", "list(items)", "tuple(items)");
    git(repo.path(), &["commit", "-qam", "tuple"]);
    let mut stopped_at = Vec::new();
    for arguments in [&["revert", "--no-edit", "HEAD~1"][..], &["rebase", "--onto", "HEAD~2", "HEAD~1"]] {
        let stopped = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.editor=true"])
            .args(arguments)
            .current_dir(repo.path())
            .output()
            .unwrap();
        assert!(!stopped.status.success(), "{arguments:?}");
        let answer = changes(&repo, json!({}));
        stopped_at.push(format!("{:?} {}\n", names(&answer), answer["warning"]));
        git(repo.path(), &[arguments[0], "--abort"]);
    }
    expect![[r#"
        ["added variable cart", "added variable cart", "body function buy"] "A merge has conflicts in 1 file: its text is compared with its conflict markers."
        ["added variable cart", "added variable cart", "body function buy"] "A merge has conflicts in 1 file: its text is compared with its conflict markers."
    "#]].assert_eq(&stopped_at.concat());
}
