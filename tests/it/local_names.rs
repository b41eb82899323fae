//! Local variables, keys of objects and fields by syntax: what a name is where several have it.

use serde_json::{Value, json};

use crate::support::harness::Repo;

fn definition(repo: &Repo, file: &str, line: u32, column: u32) -> Vec<String> {
    let answer = repo.call("goto_definition", &json!({ "file": file, "line": line, "column": column }));
    let shown = |one: &Value| {
        let precision = one["precision"].as_str().map_or_else(String::new, |precision| format!(" {precision}"));
        format!("{}:{}{precision}", one["file"].as_str().unwrap(), one["line"])
    };
    answer["definitions"].as_array().unwrap().iter().map(shown).collect()
}

/// Lines of the references, and the whole answer.
fn references(repo: &Repo, file: &str, line: u32, column: u32) -> (Vec<String>, Value) {
    let answer = repo.call("find_references", &json!({ "file": file, "line": line, "column": column }));
    let shown = |one: &Value| {
        let precision = one["precision"].as_str().map_or_else(String::new, |precision| format!(" {precision}"));
        format!("{}:{}{precision}", one["file"].as_str().unwrap(), one["line"])
    };
    (answer["references"].as_array().unwrap().iter().map(shown).collect(), answer)
}

#[test]
fn types_of_the_same_name_in_several_blocks_are_not_confused() {
    let repo = Repo::new(
        "\
//- /cart.test.ts
import { expect, test } from 'vitest';

test('one', () => {
  type Cart = { first: number };
  const cart: Cart = make(1);
});

test('two', () => {
  type Cart = { second: number };
  if (ready) {
    type Cart = { third: number };
    const cart: Cart = make(3);
  }
  const cart: Cart = make(2);
});
//- /other.ts
import { basket } from './basket';

export const result: Cart = basket.Cart;
",
    );
    assert_eq!(definition(&repo, "cart.test.ts", 5, 15), ["cart.test.ts:4"]);
    assert_eq!(definition(&repo, "cart.test.ts", 12, 17), ["cart.test.ts:11"]);
    assert_eq!(definition(&repo, "cart.test.ts", 14, 15), ["cart.test.ts:9"]);
    let (found, answer) = references(&repo, "cart.test.ts", 4, 8);
    assert_eq!(found, ["cart.test.ts:4", "cart.test.ts:5"], "{answer}");
    assert_eq!(answer["complete"], Value::Null, "{answer}");
    // A variable of a block is not what else has its name.
    let (found, answer) = references(&repo, "cart.test.ts", 5, 9);
    assert_eq!((found, &answer["complete"]), (vec!["cart.test.ts:5".to_owned()], &Value::Null), "{answer}");
}

#[test]
fn a_key_of_an_object_is_not_a_variable_of_its_name() {
    let repo = Repo::new("//- /a.ts\nconst length = 1;\nexport const box = {\n  length: 2,\n};\nuse(length);\n");
    let (found, answer) = references(&repo, "a.ts", 3, 3);
    assert_eq!(found, [""; 0], "{answer}");
    assert_eq!(answer["complete"], false, "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("nothing is known of this name"), "{answer}");
    assert_eq!(references(&repo, "a.ts", 1, 7).0, ["a.ts:1", "a.ts:5"]);
}

#[test]
fn references_that_only_the_name_suggests_are_marked() {
    let repo = Repo::new(
        "\
//- /a.go
package shop

type Cart struct{}

func (c *Cart) Total() int { return 1 }

func use(c *Cart, other any) int {
	thing := load(other)
	return c.Total() + thing.Total()
}
//- /b.go
package shop

type Order struct{}

func (o *Order) Total() int { return 2 }
",
    );
    let (found, answer) = references(&repo, "a.go", 5, 16);
    assert_eq!(found, ["a.go:5", "a.go:9", "a.go:9 name"], "{answer}");
    assert_eq!(answer["complete"], false, "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("1 references, marked `name`"), "{answer}");
    assert_eq!(definition(&repo, "a.go", 9, 11), ["a.go:5"]);
    assert!(definition(&repo, "a.go", 9, 27).iter().all(|one| one.ends_with(" name")));
}

#[test]
fn a_namespace_of_csharp_hides_a_class_of_its_name_that_is_imported() {
    let repo = Repo::new(
        "\
//- /Core.cs
namespace Shop.Core
{
    public class Core { public static int Get() { return 1; } }
    public class Near { int Run() { return Core.Get(); } }
}
//- /Tests.cs
using Shop.Core;
namespace Shop.Tests
{
    public class Tests
    {
        int Run() { return Core.Core.Get(); }
    }
}
//- /Other.cs
using Shop.Core;
namespace Other
{
    public class Run
    {
        int All() { return Core.Get(); }
    }
}
",
    );
    assert_eq!(definition(&repo, "Tests.cs", 6, 28), ["Core.cs:1"]);
    assert_eq!(definition(&repo, "Tests.cs", 6, 33), ["Core.cs:3"]);
    assert_eq!(definition(&repo, "Other.cs", 6, 28), ["Core.cs:3"]);
    assert_eq!(definition(&repo, "Core.cs", 4, 44), ["Core.cs:3"], "a type of the namespace itself comes first");
}

#[test]
fn a_parameter_or_local_variable_is_not_the_member_of_its_name() {
    let repo = Repo::new(
        "\
//- /Base.kt
package shop

open class Base(val name: String)

class Named(name: String) : Base(name) {
    fun show() = print(this.name)
    fun other(name: String) = print(name)
}
//- /Cart.java
package shop;

public class Cart {
    private int total;
    int sum(int total) { return total; }
    int all() { return total; }
}
",
    );
    assert_eq!(definition(&repo, "Base.kt", 5, 34), ["Base.kt:5"]);
    assert_eq!(definition(&repo, "Base.kt", 7, 37), ["Base.kt:7"]);
    assert_eq!(definition(&repo, "Cart.java", 5, 33), ["Cart.java:5"]);
    assert_eq!(definition(&repo, "Cart.java", 6, 24), ["Cart.java:4"]);
}

#[test]
fn members_are_reached_through_fields_and_variables_of_stated_type() {
    let repo = Repo::new(
        "\
//- /users.ts
export class Users {
  find(id: string) { return id; }
}
export class Orders {
  find(id: string) { return id; }
}
//- /service.ts
import { Orders, Users } from './users';
import * as shop from './users';
import { Client } from 'elsewhere';

export class Service {
  private orders: Orders;
  constructor(private readonly users: Users, private client: Client) {}

  load(service: Service, all: shop.Orders) {
    this.users.find('a');
    this.orders.find('b');
    service.orders.find('c');
    all.find('d');
    this.client.find('e');
  }
}
//- /store.go
package store

import \"example.com/app/config\"

type Config struct{}

func (c *Config) Get() string { return \"\" }

type Server struct {
	config *config.Config
	own    *Config
}

func (s *Server) Run() {
	s.config.Get()
	s.own.Get()
}
//- /config/config.go
package config

type Config struct{}

func (c *Config) Get() string { return \"\" }
//- /go.mod
module example.com/app
//- /Shop.java
public class Shop {
    private final Till till = new Till();
    int sum() { return this.till.total(); }
}
class Till {
    int total() { return 1; }
}
class Safe {
    int total() { return 2; }
}
//- /Shop.php
<?php
class Till { public function total() { return 1; } }
class Safe { public function total() { return 2; } }
class Shop {
    private Till $till;
    public function sum() { return $this->till->total(); }
}
",
    );
    for (line, expected) in [(10, "users.ts:2"), (11, "users.ts:5"), (12, "users.ts:5")] {
        let column = if line == 12 {
            20
        } else if line == 10 {
            16
        } else {
            17
        };
        assert_eq!(definition(&repo, "service.ts", line, column), [expected], "line {line}");
    }
    assert_eq!(definition(&repo, "service.ts", 13, 9), ["users.ts:5"]);
    assert_eq!(definition(&repo, "service.ts", 14, 17), [""; 0], "it is elsewhere");
    assert_eq!(definition(&repo, "store.go", 15, 11), ["config/config.go:5"]);
    assert_eq!(definition(&repo, "store.go", 16, 8), ["store.go:7"]);
    assert_eq!(definition(&repo, "Shop.java", 3, 34), ["Shop.java:6"]);
    assert_eq!(definition(&repo, "Shop.php", 6, 49), ["Shop.php:2"]);
}
