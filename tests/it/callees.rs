//! Which definition a call names: by the stated type of the field or variable that it is made on, and by what scripts assign to objects.
//! And which definition a call is in.

use serde_json::{Value, json};

use crate::support::harness::Repo;

/// `name how` of what relates to a definition, for each definition of the name.
fn related(repo: &Repo, name: &str, group: &str) -> Vec<String> {
    let answer = repo.call("get_symbol", &json!({ "symbol_name": name, "relations": true }));
    let groups = answer["relations"].as_array().unwrap().iter().flat_map(|one| one["groups"].as_array().unwrap());
    let items = groups.filter(|one| one["relation"] == group).flat_map(|one| one["items"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    items.map(|item| format!("{}:{} {}", text(&item["file_path"]), item["line"], text(&item["name"]))).collect()
}

/// In each language, `Letter.stamp` is called on a field of stated type, and `Seal.stamp` is not called.
/// The language: files, and both names as its specification qualifies them.
const FIELDS: &[(&str, &str, &str, &str)] = &[
    // The Java Language Specification 25, 6.4.1: a field is in scope in the whole body of its class, unless it is shadowed.
    (
        "java",
        "//- /d/Letter.java\npackage d;\npublic class Letter { public void stamp() {} }\n\
         //- /d/Seal.java\npackage d;\npublic class Seal { public void stamp() {} }\n\
         //- /d/Depot.java\npackage d;\npublic class Depot {\n  private final Letter letter = new Letter();\n  void a() { letter.stamp(); }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    // ECMA-334 (C# 7), 12.8.4: simple names.
    (
        "csharp",
        "//- /A.cs\nnamespace D;\npublic class Letter { public void stamp() {} }\npublic class Seal { public void stamp() {} }\n\
         public class Depot {\n  private Letter _letter;\n  public void A() { _letter.stamp(); }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    (
        "kotlin",
        "//- /A.kt\nclass Letter { fun stamp() {} }\nclass Seal { fun stamp() {} }\n\
         class Depot(private val letter: Letter) {\n  fun a() { letter.stamp() }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    (
        "scala",
        "//- /A.scala\nclass Letter { def stamp(): Unit = () }\nclass Seal { def stamp(): Unit = () }\n\
         class Depot(letter: Letter) {\n  def a(): Unit = letter.stamp()\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    (
        "swift",
        "//- /A.swift\nclass Letter { func stamp() {} }\nclass Seal { func stamp() {} }\n\
         class Depot {\n  let letter: Letter = Letter()\n  func a() { letter.stamp() }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    (
        "dart",
        "//- /a.dart\nclass Letter { void stamp() {} }\nclass Seal { void stamp() {} }\n\
         class Depot {\n  final Letter letter = Letter();\n  void a() { letter.stamp(); }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    // ISO C++20, [class.member.lookup]. Also through a smart pointer, whose `->` is that of what it holds.
    (
        "cpp",
        "//- /a.cpp\n#include <memory>\nclass Letter { public: void stamp(); };\nclass Seal { public: void stamp(); };\n\
         class Depot {\n  Letter letter_;\n  std::unique_ptr<Letter> held_;\n  void a() { letter_.stamp(); }\n  void b() { held_->stamp(); }\n};\n",
        "Letter::stamp",
        "Seal::stamp",
    ),
    (
        "go",
        "//- /go.mod\nmodule e\n\ngo 1.24\n//- /a.go\npackage e\n\ntype Letter struct{}\n\nfunc (l *Letter) stamp() {}\n\n\
         type Seal struct{}\n\nfunc (s *Seal) stamp() {}\n\ntype Depot struct {\n\tletter *Letter\n}\n\n\
         func (d *Depot) a() {\n\td.letter.stamp()\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    (
        "php",
        "//- /a.php\n<?php\nclass Letter { function stamp() {} }\nclass Seal { function stamp() {} }\n\
         class Depot {\n    function __construct(private Letter $letter) {}\n    function a() { $this->letter->stamp(); }\n}\n",
        "Letter::stamp",
        "Seal::stamp",
    ),
    // Generic types: the Rust Reference, 10.1; TypeScript Handbook, Generic Classes.
    (
        "rust",
        "//- /Cargo.toml\n[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n//- /src/lib.rs\n\
         pub struct Letter<T> { t: T }\nimpl<T> Letter<T> { pub fn stamp(&self) {} }\npub struct Seal;\n\
         impl Seal { pub fn stamp(&self) {} }\npub struct Depot { letter: Letter<u8>, held: Box<Letter<u8>> }\n\
         impl Depot {\n    pub fn a(&self) { self.letter.stamp() }\n    pub fn b(&self) { self.held.stamp() }\n}\n\
         pub fn c(letter: &Letter<u8>) {\n    letter.stamp()\n}\n",
        "Letter::stamp",
        "Seal::stamp",
    ),
    (
        "typescript",
        "//- /a.ts\nexport class Letter<T> { stamp() {} }\nexport class Seal { stamp() {} }\n\
         export class Depot {\n  private letter: Letter<number>;\n  a() { this.letter.stamp(); }\n}\n\
         export function c(letter: Letter<string>) {\n  letter.stamp();\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    (
        "generic java",
        "//- /d/Letter.java\npackage d;\npublic class Letter<T> { public void stamp() {} }\n\
         //- /d/Seal.java\npackage d;\npublic class Seal { public void stamp() {} }\n\
         //- /d/Depot.java\npackage d;\npublic class Depot {\n  private Letter<String> letter;\n  void a() { letter.stamp(); }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    (
        "generic csharp",
        "//- /A.cs\nnamespace D;\npublic class Letter<T> { public void stamp() {} }\npublic class Seal { public void stamp() {} }\n\
         public class Depot {\n  private readonly Letter<int> letter;\n  public void A() { letter.stamp(); }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
    (
        "generic kotlin",
        "//- /A.kt\nclass Letter<T> { fun stamp() {} }\nclass Seal { fun stamp() {} }\n\
         class Depot {\n  private val letter: Letter<Int> = Letter()\n  fun a() { letter.stamp() }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
    ),
];

#[test]
fn a_call_on_a_field_of_stated_type_names_the_member_of_that_type() {
    let mut wrong = Vec::new();
    for (language, files, called, other) in FIELDS {
        let repo = Repo::new(files);
        let (callers, others) = (related(&repo, called, "called_by"), related(&repo, other, "called_by"));
        if callers.is_empty() || !others.is_empty() {
            wrong.push(format!("{language}: {called} is called by {callers:?}, {other} by {others:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Receivers whose type is generic, optional or that of a constructed value, and inherited fields.
const STATED: &[(&str, &str, &str, &str, usize)] = &[
    (
        "csharp",
        "//- /A.cs\nnamespace D;\npublic class Letter { public void stamp() {} }\npublic class Seal { public void stamp() {} }\n\
         public class Depot(Letter held)\n{\n    public Letter Item { get; set; }\n    private readonly Letter? _maybe;\n    public void A()\n    {\n\
         \x20       Item.stamp();\n        _maybe?.stamp();\n        held.stamp();\n    }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
        3,
    ),
    (
        "kotlin",
        "//- /A.kt\nclass Letter { fun stamp() {} }\nclass Seal { fun stamp() {} }\nclass Depot {\n  private lateinit var letter: Letter\n\
         \x20 private var maybe: Letter? = null\n  private val made = Letter()\n  fun a() {\n    letter.stamp()\n    maybe?.stamp()\n    made.stamp()\n  }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
        3,
    ),
    (
        "dart",
        "//- /a.dart\nclass Letter { void stamp() {} }\nclass Seal { void stamp() {} }\nclass Depot {\n  late final Letter letter;\n\
         \x20 final made = Letter();\n  void a() {\n    letter.stamp();\n    made.stamp();\n  }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
        2,
    ),
    (
        "typescript",
        "//- /a.ts\nexport class Letter<T> { stamp() {} }\nexport class Seal { stamp() {} }\nexport class Depot {\n  made = new Letter<number>();\n\
         \x20 constructor(private readonly held: Letter<string>, public whole: Readonly<Letter<number>>) {}\n  a() {\n    this.made.stamp();\n\
         \x20   this.held.stamp();\n    this.whole.stamp();\n  }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
        3,
    ),
    (
        "python",
        "//- /a.py\nclass Letter:\n    def stamp(self):\n        pass\n\n\nclass Seal:\n    def stamp(self):\n        pass\n\n\nclass Depot:\n\
         \x20   def __init__(self):\n        self.letter = Letter()\n\n    def a(self):\n        self.letter.stamp()\n",
        "Letter.stamp",
        "Seal.stamp",
        1,
    ),
    (
        "java",
        "//- /d/Letter.java\npackage d;\nclass Letter { void stamp() {} }\n//- /d/Seal.java\npackage d;\nclass Seal { void stamp() {} }\n\
         //- /d/Base.java\npackage d;\nclass Base { protected Letter letter; }\n\
         //- /d/Depot.java\npackage d;\nclass Depot extends Base {\n  void a() { letter.stamp(); }\n}\n",
        "Letter.stamp",
        "Seal.stamp",
        1,
    ),
    (
        "go",
        "//- /go.mod\nmodule e\n\ngo 1.24\n//- /a.go\npackage e\n\ntype Letter[T any] struct{}\n\nfunc (l *Letter[T]) stamp() {}\n\n\
         type Seal struct{}\n\nfunc (s *Seal) stamp() {}\n\ntype Depot struct {\n\tletter *Letter[int]\n}\n\n\
         func (d *Depot) a() {\n\td.letter.stamp()\n}\n\nfunc b(l Letter[string]) {\n\tl.stamp()\n}\n",
        "Letter.stamp",
        "Seal.stamp",
        2,
    ),
];

#[test]
fn a_type_counts_however_a_field_states_it() {
    let mut wrong = Vec::new();
    for (language, files, called, other, count) in STATED {
        let repo = Repo::new(files);
        let (callers, others) = (related(&repo, called, "called_by"), related(&repo, other, "called_by"));
        if callers.len() != *count || !others.is_empty() {
            wrong.push(format!("{language}: {called} is called by {callers:?}, {other} by {others:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A local variable hides a field of its name (JLS 25, 6.4.1), so that the field's type says nothing of it.
#[test]
fn a_variable_hides_the_field_of_its_name() {
    let repo = Repo::new(
        "//- /d/Letter.java\npackage d;\npublic class Letter { public void stamp() {} }\n\
         //- /d/Seal.java\npackage d;\npublic class Seal { public void stamp() {} }\n\
         //- /d/Depot.java\npackage d;\npublic class Depot {\n  private Letter letter;\n  void a(Seal letter) { letter.stamp(); }\n}\n",
    );
    assert_eq!(related(&repo, "Seal.stamp", "called_by"), ["d/Depot.java:4 Depot.a"]);
    assert_eq!(related(&repo, "Letter.stamp", "called_by"), Vec::<String>::new());
}

/// Functions that JavaScript assigns to objects, next to a class that has methods of the same names. The callees are those that tsserver of
/// TypeScript 5.9.3 finds.
const OBJECTS: &str = r"
//- /other.js
class Other {
  start() {}
  stop() {}
  fill() {}
  drain() {}
  level() {}
  report() {}
  notify() {}
}
//- /pump.js
function Pump(notify) {
  const self = this;
  this.notify = notify;
  this.start = function () {
    self.stop();
  };
  self.stop = function () {
    this.notify();
  };
}
Pump.prototype.fill = function () {
  this.start();
};
//- /tank.js
const tank = {
  drain() { return this.level(); },
  level: function () { return 1; },
};
tank.drain();
//- /main.js
exports.report = function () {};
exports.run = function () {
  exports.report();
};
//- /use.js
class Valve {
  constructor() {
    this.fill = () => {};
    const that = this;
    setTimeout(function () {
      that.fill();
    });
  }
}
";

#[test]
fn members_that_scripts_assign_are_called_instead_of_an_unrelated_class() {
    let repo = Repo::new(OBJECTS);
    for (name, callers) in [
        ("Pump.stop", vec!["pump.js:5 Pump.start"]),
        ("Pump.start", vec!["pump.js:12 Pump.fill"]),
        ("tank.level", vec!["tank.js:2 tank.drain"]),
        ("tank.drain", vec!["tank.js:5 tank"]),
        ("Valve.fill", vec!["use.js:6 Valve.constructor"]),
    ] {
        assert_eq!(related(&repo, name, "called_by"), callers, "{name}");
    }
    for name in ["start", "stop", "fill", "drain", "level", "report", "notify"] {
        assert_eq!(related(&repo, &format!("Other.{name}"), "called_by"), Vec::<String>::new(), "{name}");
    }
    assert_eq!(related(&repo, "main.report", "called_by"), ["main.js:3 run"]);
}

#[test]
fn a_function_that_calls_itself_is_its_own_caller() {
    let repo = Repo::new(
        "//- /a.py\ndef fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\n\
         //- /b.go\npackage e\n\nfunc Walk(n int) int {\n\treturn Walk(n - 1)\n}\n\
         //- /c.js\nexport class Tree {\n  depth() { return this.depth(); }\n}\n",
    );
    assert_eq!(related(&repo, "fact", "called_by"), ["a.py:2 fact"]);
    assert_eq!(related(&repo, "Walk", "called_by"), ["b.go:4 Walk"]);
    assert_eq!(related(&repo, "Tree.depth", "called_by"), ["c.js:2 Tree.depth"]);
}

/// The heads of a function's further clauses call nothing.
#[test]
fn a_function_of_several_clauses_calls_itself_once() {
    let repo = Repo::new("//- /c.ex\ndefmodule C do\n  def walk([]), do: :ok\n  def walk([_ | t]), do: walk(t)\nend\n");
    assert_eq!(related(&repo, "C.walk", "called_by"), ["c.ex:3 C.walk"]);
}

#[test]
fn definitions_of_one_line_keep_their_calls() {
    let repo = Repo::new(
        "//- /a.js\nfunction one() { first(); } function two() { second(); }\nfunction first() {} function second() {}\n\
         //- /b.rs\nfn three() { third() } fn four() { fourth() }\nfn third() {}\nfn fourth() {}\n",
    );
    for (name, calls) in [("one", "first"), ("two", "second"), ("three", "third"), ("four", "fourth")] {
        let called: Vec<String> = related(&repo, name, "calls");
        assert!(called.len() == 1 && called[0].ends_with(calls), "{name} calls {called:?}");
        let callers = related(&repo, calls, "called_by");
        assert!(callers.len() == 1 && callers[0].ends_with(name), "{calls} is called by {callers:?}");
    }
}

#[test]
fn a_member_outside_the_body_of_its_type_is_contained_by_the_type() {
    let repo = Repo::new(
        "//- /Cargo.toml\n[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         //- /src/lib.rs\n//! Doc.\n\npub struct Kettle;\n\nimpl Kettle {\n    pub fn boil(&self) {}\n}\n\npub mod lid {\n    pub struct Lid;\n\n    impl Lid {\n        pub fn lift(&self) {}\n    }\n}\n\
         //- /e/a.go\npackage e\n\ntype Inner struct{}\n\nfunc (p *Inner) Inner() {}\n\
         //- /e/b.go\npackage e\n\nfunc (p *Inner) Haul() {}\n\
         //- /c/drawer.h\n#pragma once\n\nclass Drawer {\n  void pull();\n};\n\
         //- /c/drawer.cpp\n#include \"drawer.h\"\n\nvoid Drawer::pull() {}\n",
    );
    for (name, container) in [
        ("Kettle::boil", "src/lib.rs:3 Kettle"),
        ("Lid::lift", "src/lib.rs:10 lid::Lid"),
        ("Inner.Inner", "e/a.go:3 Inner"),
        ("Inner.Haul", "e/a.go:3 Inner"),
        ("Drawer::pull", "c/drawer.h:3 Drawer"),
    ] {
        let mut found = related(&repo, name, "contained_by");
        found.dedup();
        assert_eq!(found, [container], "{name}");
    }
    assert_eq!(related(&repo, "Inner.Inner", "contains"), Vec::<String>::new());
}

#[test]
fn a_callee_that_two_rules_find_is_counted_once() {
    let repo = Repo::new(
        "//- /shop.py\nclass Cart:\n    def total(self):\n        return 1\n\n\ndef check(cart: Cart, other):\n    cart.total()\n    other.total()\n",
    );
    let answer = repo.call("get_symbol", &json!({ "symbol_name": "check", "relations": true }));
    let calls =
        answer["relations"][0]["groups"].as_array().unwrap().iter().find(|one| one["relation"] == "calls").unwrap();
    assert_eq!((calls["items"].as_array().unwrap().len(), &calls["total"]), (1, &json!(1)), "{calls}");
    assert_ne!(calls["items"][0]["how"], "name", "{calls}");
}
