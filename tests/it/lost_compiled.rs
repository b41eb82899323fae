//! Definitions of Rust, Swift, C#, OCaml and protocol buffers that are lost or wrong in valid files, each with the rule of its
//! language.

use ixmcp::extract::{self, Options};
use ixmcp::model::RepoPath;

use crate::lost_scripts::symbols;

/// bitflags 2.11.0, `bitflags!`: a type for each `struct`, with constants.
#[test]
fn flags_of_rust_are_constants_of_their_type() {
    let text = "bitflags! {\n    pub struct Flags: u32 {\n        const X = 1;\n        const Y = 2;\n    }\n    struct Other: u8 { const A = 0b1; }\n}\n\
                bitflags::bitflags! {\n    #[derive(Debug)]\n    pub struct Perm: crate::c_int {\n        /// Reads.\n        const R = 0b1;\n\
                \x20       const RW = Self::R.bits();\n    }\n    impl Ext: u32 { const Z = 1; }\n}\nother! { struct Plain { x: u8 } }\n\
                const _: () = assert!(true);\n";
    let wanted = [
        "2 struct Flags",
        "3 constant Flags: X",
        "4 constant Flags: Y",
        "6 struct Other",
        "6 constant Other: A",
        "10 struct Perm",
        "12 constant Perm: R",
        "13 constant Perm: RW",
        "15 constant Ext: Z",
        "17 struct Plain",
        "17 field Plain: x",
    ];
    assert_eq!(symbols("a.rs", text), wanted);
    let extracted = extract::extract(&RepoPath::new("a.rs").unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let flags = &extracted.symbols[0];
    assert_eq!((flags.start_line, flags.end_line, flags.signature.as_deref()), (2, 5, Some("struct Flags: u32")));
}

/// The Swift Programming Language 6.1, Property Observers: their statements are those of a function.
#[test]
fn variables_of_swift_observers_are_local() {
    let text = "class Boat {\n  var a: Int = 0 {\n    willSet { let n = 1 }\n    didSet { let old = 2; var t = 3 }\n  }\n}\n\
                var top = 1 { didSet { let z = 1 } }\nstruct Sail { var b = 1 { didSet { var w = 1 } }; var c = 2 }\n";
    let wanted = [
        "1 class Boat",
        "2 property Boat: a",
        "7 variable top",
        "8 struct Sail",
        "8 property Sail: b",
        "8 property Sail: c",
    ];
    assert_eq!(symbols("a.swift", text), wanted);
}

/// C# 13 specification, 14.3: `namespace A.B;` is `namespace A.B { … }` around the rest of the file.
#[test]
fn a_file_scoped_namespace_contains_its_types() {
    let body = "class Boat { int f; void Moor() {} }\nenum Tide { Low }\n";
    let wanted = [
        "1 namespace Sea.Port_1",
        "2 class Sea.Port_1: Boat",
        "2 field Sea.Port_1.Boat: f",
        "2 method Sea.Port_1.Boat: Moor",
        "3 enum Sea.Port_1: Tide",
        "3 variant Sea.Port_1.Tide: Low",
    ];
    assert_eq!(symbols("a.cs", &format!("namespace Sea.Port_1;\n{body}")), wanted);
    assert_eq!(symbols("b.cs", &format!("namespace Sea.Port_1 {{\n{body}}}\n")), wanted);
}

/// OCaml 5.3 manual, 11.9.1 Class types: methods and instance variables.
#[test]
fn members_of_ocaml_class_types_are_defined() {
    let text = "class type boat = object\n  inherit base\n  method moor : int\n  method virtual furl : string\n  val mutable name : string\nend\n";
    let wanted = ["1 class boat", "3 method boat: moor", "4 method boat: furl", "5 field boat: name"];
    assert_eq!(symbols("a.ml", text), wanted);
    assert_eq!(symbols("a.mli", text), wanted);
}

/// protoc 35.1: the name of an extension is in the scope of the `extend`, not in the extended message.
#[test]
fn an_extension_belongs_to_what_is_around_it() {
    let text = "syntax = \"proto2\";\npackage p;\nmessage M {\n  extensions 100 to 200;\n  extend M { optional int32 inner = 101; }\n}\n\
                extend M { optional int32 outer = 100; }\n";
    let wanted = ["2 package p", "3 message M", "5 field M: inner", "7 field outer"];
    assert_eq!(symbols("a.proto", text), wanted);
}
