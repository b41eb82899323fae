//! References where scopes, aliases and crates decide: what a name in a block, a function or a manifest refers to.
//!
//! The expected positions of Rust are those of rust-analyzer 1.95.0, by the definition of each name.

use crate::references_text::check;
use crate::support::harness::Repo;

/// A crate with one file of that text.
fn library(text: &str) -> Repo {
    let manifest = "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    Repo::new(&format!("//- /Cargo.toml\n{manifest}//- /src/lib.rs\n{text}"))
}

/// Values and `else` blocks do not see the variables that `if let` binds.
#[test]
fn scrutinees_and_else_blocks_belong_to_the_outer_variable() {
    let repo = library(
        r#"pub fn f(s: u8, o: Option<u8>) -> u8 {
    if let Some(s) = o && s > 1 { s } else { s + 1 }
}
pub fn g(s: u8, o: Option<u8>) -> u8 {
    if let Some(s) = o { s } else { s + 1 }
}
"#,
    );
    check(
        &repo,
        &[
            ("src/lib.rs", 1, 10, "src/lib.rs:1:10 src/lib.rs:2:46"),
            ("src/lib.rs", 1, 17, "src/lib.rs:1:17 src/lib.rs:2:22"),
            ("src/lib.rs", 2, 17, "src/lib.rs:2:17 src/lib.rs:2:27 src/lib.rs:2:35"),
            ("src/lib.rs", 4, 10, "src/lib.rs:4:10 src/lib.rs:5:37"),
            ("src/lib.rs", 4, 17, "src/lib.rs:4:17 src/lib.rs:5:22"),
            ("src/lib.rs", 5, 17, "src/lib.rs:5:17 src/lib.rs:5:26"),
        ],
    );
}

/// All alternatives of a pattern bind one variable.
#[test]
fn the_alternatives_of_a_pattern_bind_one_variable() {
    let repo = library(
        r#"pub enum P { Num(u8), Rec { val: u8 } }
pub fn f(p: P) -> u8 {
    let (P::Num(i) | P::Rec { val: i }) = p;
    i + 1
}
pub fn g(p: P) -> u8 {
    match p { P::Num(i) | P::Rec { val: i, .. } => i }
}
pub fn h(p: P) -> u8 {
    if let P::Num(i) | P::Rec { val: i } = p { i } else { 0 }
}
"#,
    );
    check(
        &repo,
        &[
            (
                "src/lib.rs",
                1,
                10,
                "src/lib.rs:1:10 src/lib.rs:2:13 src/lib.rs:3:10 src/lib.rs:3:22 src/lib.rs:6:13 src/lib.rs:7:15 src/lib.rs:7:27 src/lib.rs:9:13 src/lib.rs:10:12 src/lib.rs:10:24",
            ),
            ("src/lib.rs", 1, 14, "src/lib.rs:1:14 src/lib.rs:3:13 src/lib.rs:7:18 src/lib.rs:10:15"),
            ("src/lib.rs", 1, 23, "src/lib.rs:1:23 src/lib.rs:3:25 src/lib.rs:7:30 src/lib.rs:10:27"),
            ("src/lib.rs", 1, 29, "src/lib.rs:1:29 src/lib.rs:3:31 src/lib.rs:7:36 src/lib.rs:10:33"),
            ("src/lib.rs", 2, 10, "src/lib.rs:2:10 src/lib.rs:3:43"),
            ("src/lib.rs", 3, 17, "src/lib.rs:3:17 src/lib.rs:3:36 src/lib.rs:4:5"),
            ("src/lib.rs", 6, 10, "src/lib.rs:6:10 src/lib.rs:7:11"),
            ("src/lib.rs", 7, 22, "src/lib.rs:7:22 src/lib.rs:7:41 src/lib.rs:7:52"),
            ("src/lib.rs", 9, 10, "src/lib.rs:9:10 src/lib.rs:10:44"),
            ("src/lib.rs", 10, 19, "src/lib.rs:10:19 src/lib.rs:10:38 src/lib.rs:10:48"),
        ],
    );
}

/// Literals and patterns may begin with `Self`.
#[test]
fn fields_of_variants_are_found_through_self() {
    let repo = library(
        r#"pub enum P { Num(u8), Rec { val: u8, id: u8 } }
pub enum Q { Rec { val: u8 }, Num }
impl P { pub fn mk() -> Self { Self::Rec { val: 1, id: 2 } } }
impl Q { pub fn mk() -> Self { Self::Rec { val: 1 } } pub fn g(&self) -> u8 { match self { Self::Rec { val } => *val, Self::Num => 0 } } }
"#,
    );
    check(
        &repo,
        &[
            ("src/lib.rs", 1, 29, "src/lib.rs:1:29 src/lib.rs:3:44"),
            ("src/lib.rs", 1, 38, "src/lib.rs:1:38 src/lib.rs:3:52"),
            ("src/lib.rs", 2, 20, "src/lib.rs:2:20 src/lib.rs:4:44 src/lib.rs:4:104"),
        ],
    );
}

/// Literals and patterns may begin with another name of a type.
#[test]
fn fields_of_variants_are_found_through_an_alias() {
    let repo = library(
        r#"pub enum R { Num(u16), Rec { val: u16 } }
pub enum P { Num(u16), Rec { val: u16 } }
type Al = R;
pub fn al(a: Al) -> u16 { match a { Al::Num(j) => j, Al::Rec { val } => val } }
pub fn mk() -> Al { Al::Rec { val: 1 } }
"#,
    );
    check(&repo, &[("src/lib.rs", 1, 30, "src/lib.rs:1:30 src/lib.rs:4:64 src/lib.rs:5:31")]);
}

/// Each `let` of a name is another variable.
#[test]
fn a_variable_has_the_type_that_its_own_let_gives() {
    let repo = library(
        r#"pub struct A; pub struct B;
impl A { pub fn go(&self) {} pub fn nx(&self) -> B { B } }
impl B { pub fn go(&self) {} pub fn nx(&self) -> A { A } }
pub fn g(x: &A) {
    let x = x.nx();
    x.go();
    let x = x.nx();
    x.go();
}
"#,
    );
    check(
        &repo,
        &[
            ("src/lib.rs", 2, 17, "src/lib.rs:2:17 src/lib.rs:8:7"),
            ("src/lib.rs", 3, 17, "src/lib.rs:3:17 src/lib.rs:6:7"),
        ],
    );
}

/// An import in a function is not seen in others.
#[test]
fn an_import_in_a_function_is_seen_there_alone() {
    let repo = library(
        r#"pub fn helper() -> u8 { 1 }
pub mod gl { pub fn helper() -> u16 { 2 } }
pub fn b() {
    fn helper() -> u32 { 3 }
    helper();
}
pub fn c() { use crate::gl::helper; helper(); }
pub fn d() { helper(); }
"#,
    );
    check(
        &repo,
        &[
            ("src/lib.rs", 1, 8, "src/lib.rs:1:8 src/lib.rs:8:14"),
            ("src/lib.rs", 2, 21, "src/lib.rs:2:21 src/lib.rs:7:29 src/lib.rs:7:37"),
        ],
    );
}

/// Manifests rename dependencies.
#[test]
fn a_dependency_may_have_another_name_than_its_crate() {
    let repo = Repo::new(
        r#"//- /Cargo.toml
[workspace]
members=["core","app"]
resolver="2"
//- /app/Cargo.toml
[package]
name="app"
version="0.1.0"
edition="2024"
[dependencies]
kern={package="my-core",path="../core"}
//- /core/Cargo.toml
[package]
name="my-core"
version="0.1.0"
edition="2024"
//- /app/src/lib.rs
use kern::Sq;
pub fn run(s: Sq) -> u8 { s.grow(); kern::area() }
//- /core/src/lib.rs
pub fn area() -> u8 { 1 }
pub struct Sq;
impl Sq { pub fn grow(&self) {} }
"#,
    );
    check(
        &repo,
        &[
            (
                "app/src/lib.rs",
                1,
                11,
                "app/src/lib.rs:1:11 app/src/lib.rs:2:15 core/src/lib.rs:2:12 core/src/lib.rs:3:6",
            ),
            ("app/src/lib.rs", 2, 12, "app/src/lib.rs:2:12 app/src/lib.rs:2:27"),
            ("app/src/lib.rs", 2, 29, "app/src/lib.rs:2:29 core/src/lib.rs:3:18"),
            ("app/src/lib.rs", 2, 43, "app/src/lib.rs:2:43 core/src/lib.rs:1:8"),
        ],
    );
}

/// A module in the file of its crate passes names on.
#[test]
fn a_prelude_of_another_crate_is_followed() {
    let repo = Repo::new(
        r#"//- /Cargo.toml
[workspace]
members=["core","app"]
resolver="2"
//- /app/Cargo.toml
[package]
name="app"
version="0.1.0"
edition="2024"
[dependencies]
my-core={path="../core"}
//- /core/Cargo.toml
[package]
name="my-core"
version="0.1.0"
edition="2024"
//- /app/src/lib.rs
use my_core::prelude::*;
pub fn run(s: Sq) -> u8 { area() }
//- /core/src/lib.rs
pub mod prelude { pub use crate::shapes::{Sq, area}; }
pub mod shapes { pub fn area() -> u8 { 1 } pub struct Sq; }
"#,
    );
    check(
        &repo,
        &[
            ("app/src/lib.rs", 1, 14, "app/src/lib.rs:1:14 core/src/lib.rs:1:9"),
            ("app/src/lib.rs", 2, 15, "app/src/lib.rs:2:15 core/src/lib.rs:1:43 core/src/lib.rs:2:55"),
            ("app/src/lib.rs", 2, 27, "app/src/lib.rs:2:27 core/src/lib.rs:1:47 core/src/lib.rs:2:25"),
            ("core/src/lib.rs", 1, 34, "core/src/lib.rs:1:34 core/src/lib.rs:2:9"),
        ],
    );
}

/// Lifetimes and labels have names of their own.
#[test]
fn lifetimes_and_labels_are_not_functions() {
    let repo = library(
        r#"pub fn a() {}
pub fn lt<'a>(x: &'a u8) -> &'a u8 { x }
pub fn f() { a(); 'f: loop { break 'f; } }
"#,
    );
    check(&repo, &[("src/lib.rs", 1, 8, "src/lib.rs:1:8 src/lib.rs:3:14")]);
}

/// The Swift Programming Language 6.2 (optional binding), the Kotlin specification 1.9 (for-loops) and C++23 (stmt.ranged): a value
/// is read before the variable is bound.
#[test]
fn loops_and_conditions_do_not_see_their_own_variables_in_their_values() {
    let repo = Repo::new(
        r#"//- /A.swift
func f(x: Int?, y: Int?) {
  if let x = x, let y = y { print(x, y) } else { print(x) }
  guard let x = x else { return }
  while let y = y { print(y) }
}
//- /a.kt
fun f(x: List<Int>) { for (x in x) { print(x) } }
//- /a.cpp
int f(V x) { for (auto x : x) { g(x); } return 0; }
"#,
    );
    check(
        &repo,
        &[
            ("A.swift", 1, 8, "A.swift:1:8 A.swift:2:14 A.swift:2:56 A.swift:3:17"),
            ("A.swift", 2, 10, "A.swift:2:10 A.swift:2:35"),
            ("a.kt", 1, 7, "a.kt:1:7 a.kt:1:33"),
            ("a.cpp", 1, 9, "a.cpp:1:28 a.cpp:1:9"),
        ],
    );
}
