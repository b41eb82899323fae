//! Names as answers print them, and as languages qualify them, find what they are printed for.

use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};

/// Files of many languages, and names that the languages' specifications qualify so, with the position of the definition.
const FILES: &str = r#"
//- /lib/store.ex
defmodule Shop.Store do
  alias Shop.Cart

  def run(x), do: Cart.add(x)
end

defmodule Shop.Cart do
  def add(x), do: x
end
//- /R/widget.R
print.widget <- function(x) x
//- /com/acme/pay/Charge.java
package com.acme.pay;

public class Charge {
  public void run() {}
}
//- /kt/Charge.kt
package com.acme.ship

class Parcel {
  fun send() {}
}
class Dock {
  companion object { fun make() {} }
}

fun String.shout() {}
//- /sc/Ledger.scala
package com.acme
package book

class Ledger {
  def post(): Unit = ()
}
//- /shop.proto
syntax = "proto3";
package shop.v1;

message Order {
  string id = 1;
}
//- /src/Invoice.php
<?php
namespace Acme\Billing;

class Invoice {
    private int $count = 0;
    function total() {}
}
//- /Till.cs
namespace Acme.Pay;

public class Till
{
    public void Ring() {}
}
//- /core.cpp
namespace app::core {
struct Drawer { void pull(); };
}
namespace acme { namespace pay { class Till {}; } }
//- /Cargo.toml
[package]
name = "depot"
version = "0.1.0"
edition = "2024"

[package.metadata.docs]
all = true
//- /src/lib.rs
pub mod store;
//- /src/store.rs
pub fn open() {}
//- /main.tf
variable "region" {}

locals {
  zone = var.region
}

module "vpc" {
  source = "./v"
}

data "aws_ami" "ubuntu" {}

resource "aws_instance" "web" {}
//- /vault.js
export class Vault {
  #key = 1;
}
//- /run.ps1
function script:Get-Scoped { }
function Get-Berth { }
//- /jar.rb
class Jar
  def full?
    true
  end
end
//- /go.mod
module example.com/shop

go 1.24
//- /crate/open.go
package crate

type Box struct{}

func Open() {}

func (b *Box) Lift() {}
//- /pkg/mod.py
class Cart:
    def total(self):
        return 1
//- /rack.ml
let go x = x
//- /pump.js
function Pump() {}
Pump.prototype.run = function () {};
module.exports.halt = function () {};
//- /calc.erl
-module(calc).
-export([load/1]).

load(X) -> X.
"#;

const NAMES: &[(&str, &[&str])] = &[
    ("Shop.Store", &["lib/store.ex:1"]),
    ("Shop.Store.run", &["lib/store.ex:4"]),
    ("Shop.Store.run/1", &["lib/store.ex:4"]),
    ("print.widget", &["R/widget.R:1"]),
    ("com.acme.pay", &["com/acme/pay/Charge.java:1"]),
    ("com.acme.pay.Charge", &["com/acme/pay/Charge.java:3"]),
    ("com.acme.pay.Charge.run", &["com/acme/pay/Charge.java:4"]),
    ("com.acme.ship", &["kt/Charge.kt:1"]),
    ("com.acme.ship.Parcel.send", &["kt/Charge.kt:4"]),
    ("com.acme.book.Ledger", &["sc/Ledger.scala:4"]),
    ("com.acme.book.Ledger.post", &["sc/Ledger.scala:5"]),
    ("shop.v1", &["shop.proto:2"]),
    ("shop.v1.Order", &["shop.proto:4"]),
    (r"Acme\Billing", &["src/Invoice.php:2"]),
    (r"Acme\Billing\Invoice", &["src/Invoice.php:4"]),
    (r"\Acme\Billing\Invoice", &["src/Invoice.php:4"]),
    // Names of classes and namespaces are the same in any case: PHP Manual, "Classes and Objects".
    (r"acme\billing\Invoice", &["src/Invoice.php:4"]),
    (r"Acme\Billing\Invoice::total", &["src/Invoice.php:6"]),
    ("Invoice::$count", &["src/Invoice.php:5"]),
    ("$count", &["src/Invoice.php:5"]),
    ("Acme.Pay", &["Till.cs:1"]),
    ("Acme.Pay.Till", &["Till.cs:3"]),
    ("Acme.Pay.Till.Ring", &["Till.cs:5"]),
    ("app::core", &["core.cpp:1"]),
    ("app::core::Drawer", &["core.cpp:2"]),
    ("acme::pay::Till", &["core.cpp:4"]),
    ("package.metadata.docs", &["Cargo.toml:6"]),
    ("crate::store::open", &["src/store.rs:1"]),
    ("store::open", &["src/store.rs:1"]),
    ("var.region", &["main.tf:1"]),
    ("local.zone", &["main.tf:4"]),
    ("module.vpc", &["main.tf:7"]),
    ("data.aws_ami.ubuntu", &["main.tf:11"]),
    ("aws_instance.web", &["main.tf:13"]),
    ("#key", &["vault.js:2"]),
    ("Vault.#key", &["vault.js:2"]),
    ("Get-Scoped", &["run.ps1:1"]),
    ("script:Get-Scoped", &["run.ps1:1"]),
    ("Get-Berth", &["run.ps1:2"]),
    ("Jar#full?", &["jar.rb:2"]),
    ("calc:load", &["calc.erl:4"]),
    ("calc:load/1", &["calc.erl:4"]),
    // As rustdoc and `go doc` print them, with the name of the crate, and of the module in go.mod.
    ("depot::store::open", &["src/store.rs:1"]),
    ("example.com/shop/crate.Open", &["crate/open.go:5"]),
    ("(*Box).Lift", &["crate/open.go:7"]),
    ("pkg.mod.Cart.total", &["pkg/mod.py:2"]),
    ("Rack.go", &["rack.ml:1"]),
    ("com.acme.ship.Dock.make", &["kt/Charge.kt:7"]),
    ("com.acme.ship.shout", &["kt/Charge.kt:10"]),
    ("Pump.prototype.run", &["pump.js:2"]),
    ("module.exports.halt", &["pump.js:3"]),
    // Names of types and modules in another case are others.
    ("APP::CORE::Drawer", &[]),
    ("Acme.pay.Till", &[]),
];

fn defined(answer: &Value) -> Vec<String> {
    let symbols = answer["symbols"].as_array().unwrap().iter().filter(|one| one["role"] == "definition");
    symbols.map(|one| format!("{}:{}", one["file_path"].as_str().unwrap(), one["line"])).collect()
}

#[test]
fn a_name_as_it_is_printed_or_qualified_is_found_by_every_tool() {
    let repo = Repo::new(FILES);
    repo.sync();
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut wrong = Vec::new();
    for (name, expected) in NAMES {
        let found = defined(&server.call("get_symbol", &json!({ "symbol_name": name })));
        if found != *expected {
            wrong.push(format!("get_symbol {name}: {found:?}"));
        }
        let Some(first) = expected.first() else { continue };
        for tool in ["goto_definition", "find_references"] {
            let answer = server.response(tool, &json!({ "symbol_name": name }));
            if !answer.to_string().contains(first.split(':').next().unwrap()) {
                wrong.push(format!("{tool} {name}: {answer}"));
            }
        }
        let related = server.call("get_symbol", &json!({ "symbol_name": name, "relations": true }));
        if related["relations"][0]["file_path"].as_str() != first.split(':').next() {
            wrong.push(format!("relations of {name}: {related}"));
        }
    }
    let listed: Value = serde_json::from_str(&repo.ok(&["symbol", "Shop.Store", "--relations", "--json"])).unwrap();
    assert_eq!(listed["total"], 1, "{listed}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_of_several_parts_is_referred_to_by_its_last_one() {
    let repo = Repo::new(FILES);
    let answer = repo.call("goto_definition", &json!({ "file": "lib/store.ex", "line": 4, "column": 20 }));
    assert_eq!(answer["definitions"][0]["line"], 7, "{answer}");
}

/// A name that two languages have is that of the language which writes it so.
#[test]
fn a_qualified_name_is_one_of_its_own_language() {
    let repo = Repo::new(
        "//- /a.cpp\nnamespace Acme { namespace Pay { class Till {}; } }\n//- /c.ex\ndefmodule Acme.Pay.Till do\n  def ring(x), do: x\nend\n",
    );
    assert_eq!(defined(&repo.call("get_symbol", &json!({ "symbol_name": "Acme.Pay.Till" }))), ["c.ex:1"]);
    assert_eq!(defined(&repo.call("get_symbol", &json!({ "symbol_name": "Acme::Pay::Till" }))), ["a.cpp:1"]);
}
