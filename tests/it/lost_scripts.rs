//! Definitions of scripting languages that grammars and patterns lose in valid files, and names that define nothing, each with
//! the answer of the language's own parser or manual.

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

/// Prism 1.9.0 has the names as arguments; `Struct.new` and `Data.define` of Ruby 3.4 make methods of them.
#[test]
fn members_of_ruby_structs_are_attributes() {
    let text = "Point = Struct.new(:x, :y, keyword_init: true) do\n  def dist = 1\nend\nPort::Sail = Data.define(:area)\n\
                class Rope < Struct.new(:ends)\n  def tie; end\nend\nStruct.new(\"Named\", :n)\ndef moor\n  local = Struct.new(:inner)\nend\n";
    let wanted = [
        "1 class Point",
        "1 attribute Point: x",
        "1 attribute Point: y",
        "2 method Point: dist",
        "4 class Port: Sail",
        "4 attribute Port::Sail: area",
        "5 class Rope",
        "5 attribute Rope: ends",
        "6 method Rope: tie",
        "8 attribute n",
        "9 function moor",
        "10 attribute moor: inner",
    ];
    assert_eq!(symbols("a.rb", text), wanted);
}
