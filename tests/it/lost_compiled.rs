//! Definitions of Rust, Swift, C#, OCaml and protocol buffers that are lost or wrong in valid files, each with the rule of its
//! language.

use ixmcp::extract::{self, Options};
use ixmcp::model::{RepoPath, Symbol};

/// The line, kind, container and name of each symbol.
fn symbols(name: &str, text: &str) -> Vec<String> {
    let extracted = extract::extract(&RepoPath::new(name).unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let row = |symbol: &Symbol| {
        let container = symbol.container.as_ref().map(|container| format!("{container}: ")).unwrap_or_default();
        format!("{} {} {container}{}", symbol.line, symbol.kind, symbol.name)
    };
    extracted.symbols.iter().map(row).collect()
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
