//! Names that come through other files: re-exports, path aliases, packages of a workspace, other crates, default exports. And the
//! relations that follow from them, in tools and pictures.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;

/// `path:line` of the definitions that `goto_definition` finds.
fn definition(repo: &Repo, file: &str, line: u32, column: u32) -> Vec<String> {
    let answer = repo.call("goto_definition", &json!({ "file": file, "line": line, "column": column }));
    let found = answer["definitions"].as_array().unwrap_or_else(|| panic!("{answer}"));
    found.iter().map(|one| format!("{}:{}", one["file"].as_str().unwrap(), one["line"])).collect()
}

/// `path:line role` of the references to a symbol, and the whole answer.
fn references(repo: &Repo, name: &str) -> (Vec<String>, Value) {
    let answer = repo.call("find_references", &json!({ "symbol_name": name }));
    let found = answer["references"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let shown =
        |one: &Value| format!("{}:{} {}", one["file"].as_str().unwrap(), one["line"], one["role"].as_str().unwrap());
    (found.iter().map(shown).collect(), answer)
}

/// Angular, NestJS and their generators name modules like this.
#[test]
fn modules_with_a_dot_in_their_name_are_found() {
    let repo = Repo::new(
        "\
//- /src/user/user.service.ts
import { Injectable } from '@nestjs/common';

@Injectable()
export class UserService {
  findAll(): string[] {
    return [];
  }
}
//- /src/user/user.ts
export class UserService {}
//- /src/routeTree.gen.ts
export const routeTree = { path: '/' };
//- /src/app.controller.ts
import { UserService } from './user/user.service';
import { routeTree } from './routeTree.gen';

export class AppController {
  constructor(private readonly users: UserService) {}

  all() {
    return [new UserService().findAll(), routeTree];
  }
}
",
    );
    assert_eq!(definition(&repo, "src/app.controller.ts", 5, 40), ["src/user/user.service.ts:4"]);
    assert_eq!(definition(&repo, "src/app.controller.ts", 8, 45), ["src/routeTree.gen.ts:1"]);
    let (found, _) = references(&repo, "routeTree");
    assert_eq!(
        found,
        ["src/app.controller.ts:2 import", "src/app.controller.ts:8 use", "src/routeTree.gen.ts:1 definition"]
    );
}

/// The layout of a monorepo such as trpc's: packages that import each other by name, whose index passes everything on.
#[test]
fn reexports_are_followed_through_packages_of_the_workspace() {
    let repo = Repo::new(
        "\
//- /package.json
{ \"name\": \"root\", \"workspaces\": [\"packages/*\"] }
//- /packages/client/package.json
{ \"name\": \"@trpc/client\", \"main\": \"dist/index.js\", \"types\": \"dist/index.d.ts\" }
//- /packages/client/src/index.ts
export * from './links';
export { createClient as createTRPCClient } from './createClient';
//- /packages/client/src/createClient.ts
export function createClient(url: string) {
  return url;
}
//- /packages/client/src/links/index.ts
export * from './retryLink';
//- /packages/client/src/links/retryLink.ts
export function retryLink(times: number) {
  return times;
}
//- /packages/server/package.json
{ \"name\": \"@trpc/server\" }
//- /packages/server/src/adapters/express.ts
export function createExpressMiddleware() {}
//- /apps/web/src/main.ts
import { createTRPCClient, retryLink } from '@trpc/client';
import { createExpressMiddleware } from '@trpc/server/adapters/express';
import { retryLink as other } from 'unrelated';

retryLink(3);
createExpressMiddleware();
other(1);
",
    );
    let link = "packages/client/src/links/retryLink.ts:1";
    assert_eq!(definition(&repo, "apps/web/src/main.ts", 5, 1), [link]);
    assert_eq!(definition(&repo, "apps/web/src/main.ts", 6, 1), ["packages/server/src/adapters/express.ts:1"]);
    let (found, answer) = references(&repo, "retryLink");
    assert_eq!(
        found,
        ["apps/web/src/main.ts:1 import", "apps/web/src/main.ts:5 call", &format!("{link} definition")],
        "{answer}"
    );
    assert_eq!((&answer["precision"], answer.get("complete")), (&json!("syntax"), None));
}

#[test]
fn reexports_are_followed_through_path_aliases() {
    let repo = Repo::new(
        "\
//- /tsconfig.json
{
  // Paths are relative to the folder of this file.
  \"compilerOptions\": {
    \"baseUrl\": \".\",
    \"paths\": { \"@x/client\": [\"./lib/http/source\"], \"#app/*\": [\"code/*\"], },
  },
}
//- /lib/http/source/index.ts
export * from './fetch';
//- /lib/http/source/fetch.ts
export const send = (url: string) => url;
//- /code/cart.ts
export class Cart {}
//- /web/main.ts
import { send } from '@x/client';
import { Cart } from '#app/cart';

send('/');
new Cart();
",
    );
    assert_eq!(definition(&repo, "web/main.ts", 4, 1), ["lib/http/source/fetch.ts:1"]);
    assert_eq!(definition(&repo, "web/main.ts", 5, 5), ["code/cart.ts:1"]);
}

#[test]
fn a_default_export_is_found_under_the_name_that_its_importer_gives() {
    let repo = Repo::new(
        "\
//- /src/button.tsx
export default function Button() {
  return null;
}
//- /src/cart.ts
class ShoppingCart {}

export default ShoppingCart;
//- /src/index.ts
export { default as PrimaryButton } from './button';
//- /src/loud.js
function shout() {}
module.exports = shout;
//- /src/app.ts
import Cart from './cart';
import Anything from './button';
import { PrimaryButton } from './index';
import { Missing } from './button';
import cry from './loud';

new Cart();
Anything();
PrimaryButton();
Missing();
cry();
",
    );
    assert_eq!(definition(&repo, "src/app.ts", 7, 5), ["src/cart.ts:1"]);
    assert_eq!(definition(&repo, "src/app.ts", 8, 1), ["src/button.tsx:1"]);
    assert_eq!(definition(&repo, "src/app.ts", 9, 1), ["src/button.tsx:1"]);
    assert_eq!(
        definition(&repo, "src/app.ts", 10, 1),
        Vec::<String>::new(),
        "a named import is not the default export"
    );
    assert_eq!(definition(&repo, "src/app.ts", 11, 1), ["src/loud.js:1"]);
}

#[test]
fn reexports_are_followed_into_other_crates() {
    let repo = Repo::new(
        "\
//- /Cargo.toml
[workspace]
members = [\"crates/*\", \"app\"]
//- /crates/foo-bar/Cargo.toml
[package]
name = \"foo-bar\"
version = \"0.1.0\"
//- /crates/foo-bar/src/lib.rs
mod inner;
pub use inner::deep::Deep;
//- /crates/foo-bar/src/inner.rs
pub mod deep;
//- /crates/foo-bar/src/inner/deep.rs
pub struct Deep;

impl Deep {
    pub fn dive(&self) {}
}
//- /app/Cargo.toml
[package]
name = \"app\"
//- /app/src/main.rs
use foo_bar::Deep;

fn main() {
    let deep: Deep = Deep;
    deep.dive();
}
",
    );
    assert_eq!(definition(&repo, "app/src/main.rs", 1, 14), ["crates/foo-bar/src/inner/deep.rs:1"]);
    assert_eq!(definition(&repo, "app/src/main.rs", 4, 15), ["crates/foo-bar/src/inner/deep.rs:1"]);
    assert_eq!(definition(&repo, "app/src/main.rs", 5, 10), ["crates/foo-bar/src/inner/deep.rs:4"]);
}

#[test]
fn references_that_may_be_incomplete_say_so() {
    let repo = Repo::new(
        "\
//- /src/links.ts
export function retryLink() {}
//- /src/generated.ts
const made = build();
export = made;
//- /src/renamed.ts
import { retryLink as again } from './links';

again();
//- /src/app.ts
import { retryLink } from './generated';

retryLink();
",
    );
    let (found, answer) = references(&repo, "retryLink");
    assert_eq!(
        found,
        [
            "src/app.ts:1 import",
            "src/app.ts:3 call",
            "src/links.ts:1 definition",
            "src/renamed.ts:1 import",
            "src/renamed.ts:1 import",
            "src/renamed.ts:3 call",
        ],
        "{answer}"
    );
    assert_eq!(answer["complete"], false);
    expect!["2 references are imported from modules in which the definition was not found."]
        .assert_eq(answer["reason"].as_str().unwrap());
}

const CALLS: &str = "\
//- /shop.py
def pay(order):
    return charge(order)


def charge(order):
    return send(order)


def send(order):
    return order


def checkout(order):
    return pay(order)


def main():
    checkout(1)
";

#[test]
fn get_symbol_lists_relations_and_follows_calls() {
    let repo = Repo::new(CALLS);
    let answer = repo.call("get_symbol", &json!({ "symbol_name": "pay", "relations": true, "depth": 3 }));
    let relations = &answer["relations"][0];
    assert_eq!(
        (&relations["name"], &relations["file_path"], &relations["line"]),
        (&json!("pay"), &json!("shop.py"), &json!(1))
    );
    let group = |name: &str| -> Vec<String> {
        let groups = relations["groups"].as_array().unwrap();
        let group = groups.iter().find(|group| group["relation"] == name).unwrap_or_else(|| panic!("{relations}"));
        let shown = |item: &Value| {
            format!("{} {} {}", item["name"].as_str().unwrap(), item["how"].as_str().unwrap(), item["depth"])
        };
        group["items"].as_array().unwrap().iter().map(shown).collect()
    };
    assert_eq!(group("calls"), ["charge file null", "send file 2"]);
    assert_eq!(group("called_by"), ["checkout file null", "main file 2"]);
    assert_eq!(repo.call("get_symbol", &json!({ "symbol_name": "pay" })).get("relations"), None);
    let too_deep = json!({ "symbol_name": "pay", "relations": true, "depth": 4 });
    expect![[r#"
        $ ixmcp call get_symbol --args '{"depth":4,"relations":true,"symbol_name":"pay"}'
        ixmcp: INVALID_ARGUMENT: argument `depth`: 4 is not between 1 and 3. Give 1, 2 or 3.
    "#]]
    .assert_eq(&repo.refusals(&[("get_symbol", too_deep)], &[]));
}

#[test]
fn the_calls_of_a_symbol_are_drawn_from_callers_to_callees() {
    let repo = Repo::new(CALLS);
    let drawn = repo.ok(&["graph", "--symbol", "pay", "--depth", "1", "--json"]);
    let drawn: Value = serde_json::from_str(&drawn).unwrap();
    assert_eq!(
        drawn,
        json!({
            "nodes": [
                { "id": "pay", "kind": "symbol", "title": "shop.py:1", "status": null },
                { "id": "charge", "kind": "callee", "title": "shop.py:5", "status": null },
                { "id": "checkout", "kind": "caller", "title": "shop.py:13", "status": null },
            ],
            "edges": [
                { "from": "pay", "to": "charge", "rel": "calls" },
                { "from": "checkout", "to": "pay", "rel": "calls" },
            ],
        })
    );
    expect![[r#"
        flowchart LR
          n0["pay<br/>shop.py:1"]:::k_symbol
          n1["charge<br/>shop.py:5"]:::k_callee
          n2["send<br/>shop.py:9"]:::k_callee
          n3["checkout<br/>shop.py:13"]:::k_caller
          n4["main<br/>shop.py:17"]:::k_caller
          n0 -->|"calls"| n1
          n1 -->|"calls"| n2
          n3 -->|"calls"| n0
          n4 -->|"calls"| n3
          classDef k_callee fill:#dbeafe,stroke:#1d4ed8,color:#111827
          classDef k_caller fill:#dcfce7,stroke:#15803d,color:#111827
          classDef k_symbol fill:#fef9c3,stroke:#a16207,color:#111827
    "#]]
    .assert_eq(&repo.ok(&["graph", "--symbol", "pay", "--format", "mermaid"]));
    expect![[r##"
        digraph entities {
          rankdir=LR;
          node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11];
          edge [fontname="sans-serif", fontsize=9, color="#6b7280", fontcolor="#374151"];
          n0 [label="pay\nshop.py:1", fillcolor="#fef9c3", color="#a16207"];
          n1 [label="charge\nshop.py:5", fillcolor="#dbeafe", color="#1d4ed8"];
          n2 [label="send\nshop.py:9", fillcolor="#dbeafe", color="#1d4ed8"];
          n3 [label="checkout\nshop.py:13", fillcolor="#dcfce7", color="#15803d"];
          n4 [label="main\nshop.py:17", fillcolor="#dcfce7", color="#15803d"];
          n0 -> n1 [label="calls"];
          n1 -> n2 [label="calls"];
          n3 -> n0 [label="calls"];
          n4 -> n3 [label="calls"];
        }
    "##]]
    .assert_eq(&repo.ok(&["graph", "--symbol", "pay", "--format", "dot"]));
    let unknown = repo.run(&["graph", "--symbol", "nowhere"]);
    assert_eq!(unknown.status.code(), Some(1));
    expect![[r#"
        ixmcp: NOT_FOUND: no definition of `nowhere` is indexed. `ixmcp symbol nowhere` suggests similar names.
    "#]]
    .assert_eq(&String::from_utf8(unknown.stderr).unwrap());
    repo.write("other.py", "def pay():\n    pass\n");
    expect![[r#"
        $ ixmcp graph --symbol pay
        ixmcp: INVALID_ARGUMENT: 2 symbols are called `pay`. Give Class.method or module::name; they are at other.py:1, shop.py:1.
    "#]].assert_eq(&repo.failures(&[&["graph", "--symbol", "pay"]], &[]));
}

/// Expects what the language service of TypeScript 5.9.3 finds, and the references through the names that modules are bound to.
#[test]
fn modules_that_are_loaded_where_they_are_used_give_their_names() {
    let repo = Repo::new(
        "\
//- /a.ts
export function build(n: number) { return n; }
//- /b.ts
async function one() {
  const { build } = await import('./a');
  return build(1);
}
async function two() {
  const { build: make } = await import('./a');
  make(2);
  const module = await import('./a');
  module.build(3);
  (await import('./a')).build(4);
}
import('./a').then(({ build }) => build(5));
import('./a').then(({ build: made }) => { made(7); });
function three(build: () => void) { build(); }
//- /c.js
const { build } = require('./a');
build(8);
require('./a').build(9);
",
    );
    let (found, answer) = references(&repo, "build");
    let lines: std::collections::BTreeSet<&str> = found.iter().map(|one| one.split(' ').next().unwrap()).collect();
    let all = ["a.ts:1", "b.ts:10", "b.ts:12", "b.ts:13", "b.ts:2", "b.ts:3", "b.ts:6", "b.ts:7", "b.ts:9"];
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), [&all[..], &["c.js:1", "c.js:2", "c.js:3"]].concat(), "{answer}");
}
