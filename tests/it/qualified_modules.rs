//! Names of modules that are qualified by themselves, and the first part of which is another module of the repository.

use serde_json::Value;

use crate::support::harness::Repo;

/// A group of the relations of the only definition of a name: `path:line name [how]`.
fn group(repo: &Repo, name: &str, relation: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(&repo.ok(&["symbol", name, "--relations", "--json"])).unwrap();
    assert_eq!(answer["total"], 1, "{answer}");
    let items = answer["symbols"][0]["relations"][relation]["items"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shown =
        |i: &Value| format!("{}:{} {} [{}]", text(&i["file_path"]), i["line"], text(&i["name"]), text(&i["how"]));
    items.iter().map(shown).collect()
}

const ELIXIR: &str = "\
//- /lib/top.ex
defmodule Top do
  def run(x), do: x
end
//- /lib/top/par.ex
defmodule Top.Par do
  @type t :: any
  @callback run(any) :: any
  @spec go(t) :: {:ok, Top.Other.t()}
  def go(x), do: help(x)
  @spec size :: t
  def size, do: 1
  defp help(x), do: x
end
//- /lib/top/par/one.ex
defmodule Top.Par.One do
  @behaviour Top.Par
  def run(x), do: Top.Par.go(x)
end
//- /lib/two.ex
defmodule Two do
  alias Top.Par
  @behaviour Par
  def run(x), do: Par.go(x)
end
//- /lib/three.ex
defmodule Three do
  import Top.Par
  def run(x), do: go(x)
end
//- /lib/top/other.ex
defmodule Top.Other do
  @type t :: any
end
";

/// Top.Par.One states `@behaviour Top.Par`, Two the same by an alias.
#[test]
fn a_module_of_elixir_has_its_implementers_though_the_module_around_it_is_in_the_repository() {
    let repo = Repo::new(ELIXIR);
    assert_eq!(
        group(&repo, "Top.Par", "implemented_by"),
        ["lib/two.ex:1 Two [import]", "lib/top/par/one.ex:1 Top.Par.One [package]"]
    );
    assert_eq!(group(&repo, "Top.Par.One", "implements"), ["lib/top/par.ex:1 Top.Par [package]"]);
    assert_eq!(
        group(&repo, "Top.Par", "used_by"),
        [
            "lib/two.ex:4 Two.run [import]",
            "lib/three.ex:2 Three [package]",
            "lib/top/par/one.ex:3 Top.Par.One.run [package]",
            "lib/two.ex:2 Two [package]"
        ]
    );
}

/// Kernel.Typespec of Elixir: what a specification names are types, and it declares the function that it names.
#[test]
fn a_specification_of_elixir_calls_nothing() {
    let repo = Repo::new(ELIXIR);
    let callers = ["lib/three.ex:3 Three.run [import]", "lib/two.ex:4 Two.run [import]"];
    let found = group(&repo, "Top.Par.go", "called_by");
    assert_eq!(found[..2], callers, "{found:?}");
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(group(&repo, "Top.Par.go", "used_by"), Vec::<String>::new());
    assert_eq!(group(&repo, "Top.Par.size", "called_by"), Vec::<String>::new());
    assert_eq!(group(&repo, "Top.Par.size", "used_by"), Vec::<String>::new());
    assert_eq!(group(&repo, "Top.Other.t", "called_by"), Vec::<String>::new());
    assert_eq!(group(&repo, "Top.Other.t", "used_by"), ["lib/top/par.ex:4 Top.Par [name]"]);
    // What is renamed with it.
    let found = repo.call("get_symbol", &serde_json::json!({ "symbol_name": "go" }));
    let is_specification = |one: &Value| one["kind"] == "signature" && one["line"] == 4;
    assert!(found["symbols"].as_array().unwrap().iter().any(is_specification), "{found}");
}

#[test]
fn names_below_a_class_a_module_or_a_file_that_are_namespaces_too_are_found() {
    let repo = Repo::new(
        r"//- /php/Par.php
<?php
namespace Acme;
class Par { }
//- /php/Base.php
<?php
namespace Acme\Par;
class Base { }
//- /php/Heir.php
<?php
namespace Other;
use Acme\Par;
class Heir extends Par\Base { }
//- /ml/cart.ml
let total x = x
module Item = struct
  let price x = x
end
//- /ml/shop.ml
let sum x = Cart.total (Cart.Item.price x)
//- /rb/top.rb
module Top
end
//- /rb/base.rb
class Top::Root
end
//- /rb/heir.rb
class Leaf < Top::Root
end
//- /cs/Top.cs
namespace Shop { public class Cart { } }
//- /cs/Par.cs
namespace Shop.Parts { public class Part { } }
//- /cs/Heir.cs
namespace Bank { public class Heavy : Shop.Parts.Part { } }
",
    );
    assert_eq!(group(&repo, "Base", "inherited_by"), ["php/Heir.php:4 Heir [package]"]);
    assert_eq!(group(&repo, "total", "called_by"), ["ml/shop.ml:1 sum [package]"]);
    assert_eq!(group(&repo, "price", "called_by"), ["ml/shop.ml:1 sum [package]"]);
    assert_eq!(group(&repo, "Root", "inherited_by").len(), 1);
    assert_eq!(group(&repo, "Part", "inherited_by").len(), 1);
}

/// <https://pkg.go.dev/cmd/go#hdr-Build_constraints>: of files with constraints, some are compiled.
#[test]
fn a_name_of_go_that_several_files_of_its_package_define_is_ambiguous() {
    let repo = Repo::new(
        "\
//- /run/time_fake.go
//go:build faketime

package run

func nanotime() int64 { return 0 }
//- /run/time_nofake.go
//go:build !faketime

package run

func nanotime() int64 { return 1 }
//- /run/gc.go
package run

func start() int64 { return nanotime() + once() + helper() }

func once() int64 { return 2 }
//- /run/help.go
package run

func helper() int64 { return 3 }
//- /run/help_test.go
package run_test

func helper() int64 { return 4 }
",
    );
    assert_eq!(
        group(&repo, "start", "calls"),
        ["run/gc.go:5 once [file]", "run/help.go:3 helper [package]", "run/time_fake.go:5 nanotime [ambiguous]"]
    );
}
