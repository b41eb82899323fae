//! Names resolved across files, asked as a person would: `ixmcp symbol NAME --relations`.

use std::time::Duration;

use expect_test::expect;
use ixmcp::budget::Budget;
use ixmcp::query::relations::{Resolver, of_symbol};
use ixmcp::query::symbols;
use serde_json::{Value, json};

use crate::support::harness::Repo;
use crate::support::sound::{open, sync};

/// The groups of the one definition of a name.
fn relations(repo: &Repo, name: &str) -> Value {
    let answer: Value = serde_json::from_str(&repo.ok(&["symbol", name, "--relations", "--json"])).unwrap();
    assert_eq!(answer["total"], 1, "{answer}");
    answer["symbols"][0]["relations"].clone()
}

/// A group's items as `path:line name [how]`.
fn items(relations: &Value, group: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = relations[group]["items"].as_array().cloned().unwrap_or_default();
    items
        .iter()
        .map(|i| format!("{}:{} {} [{}]", text(&i["file_path"]), i["line"], text(&i["name"]), text(&i["how"])))
        .collect()
}

/// Places of the references that `get_symbol` gives.
fn references(repo: &Repo, name: &str) -> Vec<String> {
    let answer = repo.call("get_symbol", &json!({ "symbol_name": name }));
    let symbols = answer["symbols"].as_array().unwrap();
    let references = symbols.iter().filter(|symbol| symbol["role"] == "reference");
    references.map(|symbol| format!("{}:{}", symbol["file_path"].as_str().unwrap(), symbol["line"])).collect()
}

const PYTHON: &str = "\
//- /shop/__init__.py
from .cart import Cart
//- /shop/cart.py
from .base import Basket as Base
from . import tax

class Cart(Base):
    def total(self):
        return self.net() + tax.of(self)

    def save(self):
        pass
//- /shop/base.py
class Basket:
    def net(self):
        return 0
//- /shop/tax.py
import os.path

def of(cart):
    return os.path.join(cart)
//- /shop/log.py
class Log:
    def save(self):
        pass

    def close(self):
        self.save()

def join(parts):
    return parts
//- /tests/test_shop.py
from shop import Cart as Basketful
from shop.log import Log

def test_cart(other):
    basket = Basketful()
    basket.save()
    Log().save()
    other.save()
";

#[test]
fn python_names_are_followed_through_imports_aliases_and_packages() {
    let repo = Repo::new(PYTHON);
    let cart = relations(&repo, "Cart");
    assert_eq!(items(&cart, "inherits"), ["shop/base.py:1 Basket [import]"]);
    assert_eq!(
        items(&cart, "imported_by"),
        ["shop/__init__.py:1 __init__ [import]", "tests/test_shop.py:1 test_shop [import]"]
    );
    assert_eq!(items(&cart, "called_by"), ["tests/test_shop.py:5 test_cart [import]"]);
    assert_eq!(
        items(&cart, "contains"),
        ["shop/cart.py:5 Cart.total [container]", "shop/cart.py:8 Cart.save [container]"]
    );

    let total = relations(&repo, "Cart.total");
    assert_eq!(items(&total, "calls"), ["shop/base.py:2 Basket.net [container]", "shop/tax.py:3 of [import]"]);
    assert_eq!(items(&total, "contained_by"), ["shop/cart.py:4 Cart [container]"]);
    let net = relations(&repo, "net");
    assert_eq!(items(&net, "called_by"), ["shop/cart.py:6 Cart.total [container]"]);
    assert_eq!(items(&relations(&repo, "Basket"), "inherited_by"), ["shop/cart.py:4 Cart [import]"]);
    // `os.path.join` is not ours.
    assert_eq!(items(&relations(&repo, "join"), "called_by"), Vec::<String>::new());
}

#[test]
fn a_qualified_query_leaves_out_references_to_other_definitions() {
    let repo = Repo::new(PYTHON);
    // Line 6 has a variable of the type; lines 7 and 8 could be anyone's.
    assert_eq!(
        references(&repo, "Cart.save"),
        ["tests/test_shop.py:6", "tests/test_shop.py:7", "tests/test_shop.py:8"]
    );
    assert_eq!(references(&repo, "Log.save"), ["shop/log.py:6", "tests/test_shop.py:7", "tests/test_shop.py:8"]);
    assert_eq!(references(&repo, "save").len(), 4);
}

#[test]
fn a_file_shows_its_imports_and_importers() {
    let repo = Repo::new(PYTHON);
    let answer: Value = serde_json::from_str(&repo.ok(&["symbol", "shop/log.py", "-r", "--json"])).unwrap();
    assert_eq!(items(&answer["symbols"][0]["relations"], "imported_by"), ["tests/test_shop.py:2 test_shop [import]"]);
    let answer: Value = serde_json::from_str(&repo.ok(&["symbol", "shop/cart.py", "-r", "--json"])).unwrap();
    let relations = &answer["symbols"][0]["relations"];
    assert_eq!(items(relations, "imports"), ["shop/base.py:1 .base Basket [import]", "shop/tax.py:1 . tax [import]"]);
    assert_eq!(items(relations, "imported_by"), ["shop/__init__.py:1 __init__ [import]"]);
    let text = repo.ok(&["symbol", "Cart.total", "-r"]);
    assert!(
        text.contains("\n  calls 2\n") && text.contains("  shop/base.py:2  method Basket.net [container]\n"),
        "{text}"
    );
}

#[test]
fn rust_paths_methods_and_traits_are_resolved() {
    let repo = Repo::new(
        "\
//- /src/lib.rs
mod cart;
pub mod price;
pub use cart::Cart;
//- /src/cart.rs
use crate::price::{self, Price as Cost, Priced};

pub struct Cart { cost: Cost }

impl Cart {
    pub fn open() -> Self { Self::empty() }
    fn empty() -> Self { Cart { cost: Cost::zero() } }
}

impl Priced for Cart {
    fn tell(&self) { price::show(&self.cost); }
}
//- /src/price.rs
pub struct Price;

pub trait Priced { fn tell(&self); }

impl Price { pub fn zero() -> Self { Price } }

pub fn show(price: &Price) { std::fs::open(price); }

pub struct Door;

impl Door { pub fn open(&self) {} }
//- /tests/shop.rs
use shop::Cart;

fn opens() { let cart = Cart::open(); cart.tell(); }
",
    );
    assert_eq!(items(&relations(&repo, "zero"), "called_by"), ["src/cart.rs:7 Cart::empty [import]"]);
    assert_eq!(items(&relations(&repo, "empty"), "called_by"), ["src/cart.rs:6 Cart::open [container]"]);
    assert_eq!(items(&relations(&repo, "show"), "called_by"), ["src/cart.rs:11 Cart::tell [import]"]);
    assert_eq!(items(&relations(&repo, "Priced"), "implemented_by"), ["src/cart.rs:3 Cart [import]"]);
    assert_eq!(items(&relations(&repo, "Cart::open"), "called_by"), ["tests/shop.rs:3 opens [import]"]);
    assert_eq!(references(&repo, "Door::open"), Vec::<String>::new());
    assert_eq!(references(&repo, "Cart::open"), ["tests/shop.rs:3"]);
}

#[test]
fn typescript_modules_and_their_indexes_are_resolved() {
    let repo = Repo::new(
        "\
//- /src/shop/cart.ts
import { Priced } from '../price';
export class Cart implements Priced {
  total() { return this.net(); }
  net() { return 1; }
}
export function open() { return new Cart(); }
//- /src/shop/index.ts
export * from './cart';
export { open as openCart } from './cart';
//- /src/price.ts
export interface Priced { total(): number }
//- /src/door.ts
export function open() {}
export class Safe { net() {} }
//- /src/app.ts
import { openCart, Cart as Basket } from './shop';
import * as door from './door.js';
import fs from 'fs';
export function main(basket: Basket) {
  openCart();
  door.open();
  fs.open();
  basket.total();
  return new Basket();
}
",
    );
    let cart = relations(&repo, "Cart");
    assert_eq!(items(&cart, "implements"), ["src/price.ts:1 Priced [import]"]);
    assert_eq!(items(&cart, "called_by"), ["src/shop/cart.ts:6 open [file]", "src/app.ts:9 main [import]"]);
    assert_eq!(
        items(&relations(&repo, "main"), "calls"),
        [
            "src/door.ts:1 open [import]",
            "src/shop/cart.ts:2 Cart [import]",
            "src/shop/cart.ts:3 Cart.total [import]",
            "src/shop/cart.ts:6 open [import]",
        ]
    );
    assert_eq!(items(&relations(&repo, "Cart.net"), "called_by"), ["src/shop/cart.ts:3 Cart.total [container]"]);
    assert_eq!(references(&repo, "Safe.net"), Vec::<String>::new());
}

#[test]
fn go_packages_are_folders_and_imports_name_them() {
    let repo = Repo::new(
        "\
//- /go.mod
module example.com/shop

go 1.22
//- /cart/cart.go
package cart

type Cart struct{ lines []Line }

func (c *Cart) Total() int { return c.sum() + zero() }
//- /cart/line.go
package cart

type Line struct{}

func (c *Cart) sum() int { return 0 }

func zero() int { return 0 }
//- /tax/tax.go
package tax

func zero() int { return 1 }

func Of() int { return 2 }
//- /main.go
package main

import (
\t\"fmt\"
\tct \"example.com/shop/cart\"
\t\"example.com/shop/tax\"
)

func run(c *ct.Cart) { fmt.Println(c.Total(), tax.Of()) }

func Println() {}
",
    );
    assert_eq!(items(&relations(&repo, "tax::Of"), "called_by"), ["main.go:9 run [import]"]);
    assert_eq!(items(&relations(&repo, "Println"), "called_by"), Vec::<String>::new());
    let cart = relations(&repo, "Cart");
    assert_eq!(
        items(&cart, "contains"),
        [
            "cart/cart.go:3 Cart.lines [container]",
            "cart/cart.go:5 Cart.Total [container]",
            "cart/line.go:5 Cart.sum [container]"
        ]
    );
    assert_eq!(
        items(&relations(&repo, "Total"), "calls"),
        ["cart/line.go:5 Cart.sum [container]", "cart/line.go:7 zero [package]"]
    );
    assert_eq!(items(&relations(&repo, "cart::zero"), "called_by"), ["cart/cart.go:5 Cart.Total [package]"]);
}

#[test]
fn java_members_inherit_and_packages_need_no_import() {
    let repo = Repo::new(
        "\
//- /src/main/java/org/shop/Cart.java
package org.shop;
import org.price.Price;
public class Cart extends Basket {
  int total() { return net() + Price.zero() + new Line().cost(); }
}
//- /src/main/java/org/shop/Basket.java
package org.shop;
class Basket { int net() { return 0; } }
//- /src/main/java/org/shop/Line.java
package org.shop;
class Line { int cost() { return 1; } }
//- /src/main/java/org/price/Price.java
package org.price;
public class Price { public static int zero() { return 0; } int net() { return 1; } }
//- /src/test/java/org/shop/CartTest.java
package org.shop;
class CartTest { void runs(Cart cart) { cart.total(); } }
",
    );
    assert_eq!(items(&relations(&repo, "Cart"), "inherits"), ["src/main/java/org/shop/Basket.java:2 Basket [package]"]);
    expect![[r#"
        src/main/java/org/shop/Basket.java:2 Basket.net [container]
        src/main/java/org/price/Price.java:2 Price.zero [import]
        src/main/java/org/shop/Line.java:2 Line [package]
        src/main/java/org/shop/Line.java:2 Line.cost [name]"#]]
    .assert_eq(&items(&relations(&repo, "Cart.total"), "calls").join("\n"));
    assert_eq!(
        items(&relations(&repo, "total"), "called_by"),
        ["src/test/java/org/shop/CartTest.java:2 CartTest.runs [package]"]
    );
    assert_eq!(references(&repo, "Price.net"), Vec::<String>::new());
}

#[test]
fn c_calls_go_through_headers_to_bodies() {
    let repo = Repo::new(
        "\
//- /include/shop/cart.h
#include \"line.h\"
int cart_total(int n);
//- /include/shop/line.h
int line_cost(int n);
//- /src/cart.c
#include \"shop/cart.h\"
static int helper(int n) { return n; }
int cart_total(int n) { return helper(n) + line_cost(n); }
//- /src/line.c
#include \"shop/line.h\"
static int helper(int n) { return n + 1; }
int line_cost(int n) { return helper(n); }
//- /src/main.c
#include <stdio.h>
#include \"shop/cart.h\"
int main(void) { return cart_total(1) + line_cost(2); }
",
    );
    assert_eq!(
        items(&relations(&repo, "main.main"), "calls"),
        ["src/cart.c:3 cart_total [import]", "src/line.c:3 line_cost [import]"]
    );
    let helpers: Value = serde_json::from_str(&repo.ok(&["symbol", "helper", "-r", "--json"])).unwrap();
    assert_eq!(items(&helpers["symbols"][0]["relations"], "called_by"), ["src/cart.c:3 cart_total [file]"]);
    assert_eq!(items(&helpers["symbols"][1]["relations"], "called_by"), ["src/line.c:3 line_cost [file]"]);
}

#[test]
fn cpp_members_are_in_headers_and_sources() {
    let repo = Repo::new(
        "\
//- /src/cart.hpp
#include \"basket.hpp\"
class Cart : public Basket {
public:
  int total();
  int tax();
};
//- /src/basket.hpp
class Basket {
public:
  int net() { return 0; }
};
class Safe {
public:
  int net() { return 1; }
};
//- /src/cart.cpp
#include \"cart.hpp\"
int Cart::total() { return this->tax() + net(); }
int Cart::tax() { return 1; }
",
    );
    let total: Value = serde_json::from_str(&repo.ok(&["symbol", "Cart.total", "-r", "--json"])).unwrap();
    let body =
        total["symbols"].as_array().unwrap().iter().find(|symbol| symbol["file_path"] == "src/cart.cpp").unwrap();
    let calls = items(&body["relations"], "calls");
    expect![[r#"
        src/basket.hpp:3 Basket::net [container]
        src/cart.cpp:3 Cart::tax [container]"#]]
    .assert_eq(&calls.join("\n"));
    assert_eq!(items(&relations(&repo, "Basket"), "inherited_by"), ["src/cart.hpp:2 Cart [import]"]);
    assert_eq!(references(&repo, "Safe.net"), Vec::<String>::new());
}

#[test]
fn the_only_definition_of_a_name_is_referenced_unless_the_language_has_it_too() {
    let repo = Repo::new(
        "\
//- /a.py
class A:
    def settle(self): pass
    def append(self, x): pass
    def send_all(self): pass
//- /b.py
class B:
    def send_all(self): pass

def use(x):
    x().settle()
    x().append(1)
    x().send_all()
",
    );
    assert_eq!(items(&relations(&repo, "settle"), "called_by"), ["b.py:5 use [name]"]);
    assert_eq!(items(&relations(&repo, "append"), "called_by"), ["b.py:6 use [ambiguous]"]);
    assert_eq!(items(&relations(&repo, "A.send_all"), "called_by"), ["b.py:7 use [ambiguous]"]);
}

#[test]
fn files_that_name_each_other_are_followed_in_smaller_languages() {
    let repo = Repo::new(
        "\
//- /contracts/Base.sol
contract Base { function total_sol(uint256 n) public pure returns (uint256) { return n; } }
//- /contracts/Store.sol
import {Base} from \"./Base.sol\";
contract Store is Base { function ask_sol() public { total_sol(1); } }
//- /nix/default.nix
{ made_nix = name: name; }
//- /nix/use.nix
let made = import ./default.nix; in { asked_nix = x: made.made_nix x; }
//- /ps/Helpers.psm1
function Get-Total { return 1 }
//- /ps/main.ps1
Import-Module ./Helpers.psm1
function Show-Total { Get-Total }
//- /src/lists2.erl
-module(lists2).
total_erl(X) -> X.
//- /src/main.erl
-module(main).
-import(lists2, [total_erl/1]).
ask_erl(X) -> total_erl(X).
//- /jl/helpers.jl
total_jl(x) = x
//- /jl/main.jl
include(\"helpers.jl\")
function ask_jl(x) total_jl(x) end
//- /ios/Helper.h
int helper_objc(int n);
//- /ios/Helper.c
#include \"Helper.h\"
int helper_objc(int n) { return n; }
//- /ios/Store.m
#import \"Helper.h\"
@implementation Shop
- (int)ask_objc:(int)n { return helper_objc(n); }
@end
//- /dts/soc.dtsi
/ { soc_uart: uart@1 { }; };
//- /api/schema.graphql
interface Named { name: String }
type Item implements Named { name: String }
",
    );
    let expected = [
        ("ask_sol", "calls", "contracts/Base.sol:1 Base.total_sol [container]"),
        ("asked_nix", "calls", "nix/default.nix:1 made_nix [import]"),
        ("Show-Total", "calls", "ps/Helpers.psm1:1 Get-Total [import]"),
        ("ask_erl", "calls", "src/lists2.erl:2 total_erl [import]"),
        ("ask_jl", "calls", "jl/helpers.jl:1 total_jl [import]"),
        ("ask_objc", "calls", "ios/Helper.c:2 helper_objc [import]"),
        ("Item", "implements", "api/schema.graphql:1 Named [file]"),
    ];
    let found = expected.map(|(asked, group, _)| items(&relations(&repo, asked), group).join(", "));
    assert_eq!(found, expected.map(|(.., item)| item));
}

#[test]
fn a_comparison_or_an_arrow_before_a_receiver_is_not_a_type() {
    for (path, text, method) in [
        (
            "src/vec.cpp",
            "struct Vec {\n  int size();\n};\nint f(Vec& v, int n) {\n  for (int i = 0; n > v.size(); ++i) {}\n  return 0;\n}\n",
            "Vec::size",
        ),
        (
            "src/vec.c",
            "struct Vec { int (*size)(void); };\nint size(void) { return 0; }\nint f(struct Vec *v, int n) {\n  return n > v->size();\n}\n",
            "size",
        ),
        (
            "src/Foo.java",
            "class Foo {\n  void close() {}\n}\nclass Bar {\n  void f(Foo foo) {\n    run(() -> foo.close());\n  }\n}\n",
            "Foo.close",
        ),
        (
            "src/Foo.cs",
            "class Foo {\n  public int Size() { return 1; }\n}\nclass Bar {\n  void F(Foo foo) {\n    Run(n => n > foo.Size());\n  }\n}\n",
            "Foo.Size",
        ),
        (
            "src/foo.dart",
            "class Foo {\n  int size() => 1;\n}\nvoid f(Foo foo, int n) {\n  run(() => n > foo.size());\n}\n",
            "Foo.size",
        ),
        (
            "src/Foo.php",
            "<?php\nclass Foo {\n  function size() { return 1; }\n}\nfunction f(Foo $foo, $n) {\n  return $n > $foo->size();\n}\n",
            "Foo.size",
        ),
    ] {
        let repo = Repo::new("");
        repo.write(path, text);
        let answer: Value = serde_json::from_str(&repo.ok(&["symbol", method, "-r", "--json"])).unwrap();
        let called_by = answer["symbols"].as_array().unwrap().iter().flat_map(|s| items(&s["relations"], "called_by"));
        assert_eq!(called_by.count(), 1, "{path}: {answer}");
    }
}

#[test]
fn a_type_with_many_bases_is_resolved_in_time() {
    let names: Vec<String> = (0..12).map(|n| format!("P{n}")).collect();
    for (path, text) in [
        ("a.swift", format!("class A: {} {{\n    func f() {{ g() }}\n}}\n", names.join(", "))),
        ("a.cpp", format!("struct A : {} {{\n  void f() {{ g(); }}\n}};\n", names.join(", "))),
        ("A.scala", format!("class A extends {} {{\n  def f() = g()\n}}\n", names.join(" with "))),
        ("A.java", format!("class A implements {} {{\n  void f() {{ g(); }}\n}}\n", names.join(", "))),
    ] {
        let repo = Repo::new("");
        repo.write(path, text);
        let workspace = open(repo.path());
        sync(&workspace);
        let answer = workspace.read(&Budget::lasting(Duration::from_secs(120)), |snapshot| {
            let found = symbols::subjects(snapshot, "A.f")?;
            of_symbol(&mut Resolver::new(snapshot), &found[0], 20)
        });
        assert!(answer.is_ok(), "{path}: {answer:?}");
    }
}
