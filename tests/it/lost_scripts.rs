//! Definitions of scripting languages that grammars and patterns lose in valid files, and names that define nothing, each with
//! the answer of the language's own parser or manual.

use ixmcp::extract::{self, Options};
use ixmcp::model::{RepoPath, Symbol};

/// The line, kind, container and name of each symbol.
pub(crate) fn symbols(name: &str, text: &str) -> Vec<String> {
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

/// Prism 1.9.0: `ConstantOrWriteNode` and its kin, `ConstantPathTargetNode`, `SplatNode`. Comparisons assign nothing.
#[test]
fn ruby_constants_may_be_assigned_by_any_operator_and_deep_in_a_list() {
    let text = "DEPTH ||= 3\nPort::LIMIT ||= 2\nDEPTH == 3\nPort.first ||= 1\nPort::EAST, *WEST = 1, 2\n(NORTH, b), SOUTH = load\n\
                class Port\n  self::KEEL = 1\nend\n";
    let wanted = [
        "1 constant DEPTH",
        "2 constant Port: LIMIT",
        "5 constant Port: EAST",
        "5 constant WEST",
        "6 constant NORTH",
        "6 constant SOUTH",
        "7 class Port",
        "8 constant Port: KEEL",
    ];
    assert_eq!(symbols("a.rb", text), wanted);
}

/// Prism 1.9.0: `AliasGlobalVariableNode`, and calls with symbols; Ruby 3.4, `Forwardable`; Rails 8.0, `Module#delegate`.
#[test]
fn ruby_aliases_and_methods_of_other_objects_are_methods() {
    let text = "alias $new $old\nalias :<< :push\nalias :\"x y\" z\ndefine_method(\"on_#{id}\") { }\nclass Port\n  def_delegators :@sails, :size, :<<\n  def_delegator :@sails, :shift, :leave\n\
                \x20 def_delegator :@sails, :pop\n  delegate :name, :age, to: :owner\n  delegate :street, to: :owner, prefix: true\nend\n";
    let wanted = [
        "1 variable $new",
        "2 method <<",
        "3 method x y",
        "5 class Port",
        "6 method Port: size",
        "6 method Port: <<",
        "7 method Port: leave",
        "8 method Port: pop",
        "9 method Port: name",
        "9 method Port: age",
    ];
    assert_eq!(symbols("a.rb", text), wanted);
}

/// Prism 1.9.0: four methods. The grammar does not read the first.
#[test]
fn the_object_of_a_ruby_method_is_not_its_name() {
    let text = "def self; end\nport = Object.new\ndef port.moor; end\nclass Rope; end\ndef Rope.tie; end\ndef Rope.<<(end); end\n";
    let wanted = ["1 function self", "3 method port: moor", "4 class Rope", "5 method Rope: tie", "6 method Rope: <<"];
    assert_eq!(symbols("a.rb", text), wanted);
}

/// php-parser 3.7.0.
#[test]
fn php_references_aliases_and_lists_define_their_names() {
    let text = "<?php\nclass Port {\n    use Moors { moor as protected tie; sink as private; Moors::a insteadof B; Moors::b as c; }\n\
                \x20   public function __construct(private array &$sails, int &$plain) {}\n}\n[$east, $west] = load();\n\
                list('a' => $north, 'b' => list($south)) = load();\n[$port->x, $list[0]] = load();\n";
    let wanted = [
        "2 class Port",
        "3 method Port: tie",
        "3 method Port: c",
        "4 constructor Port: __construct",
        "4 property Port: sails",
        "6 variable east",
        "6 variable west",
        "7 variable north",
        "7 variable south",
    ];
    assert_eq!(symbols("a.php", text), wanted);
}

/// PHP manual, `define` and `__halt_compiler`: a namespace is part of the string, and what follows is data.
#[test]
fn php_constants_may_be_in_a_namespace_and_data_defines_nothing() {
    let text = "<?php\ndefine(\"EAST\", 1);\n\\define('WEST', 2);\ndefine(\"App\\\\Port\\\\NORTH\", 1);\ndefine('App\\\\SOUTH', 1);\n\
                define(\"DEPTH$n\", 1);\n// __halt_compiler();\nfunction moor() {}\n__halt_compiler();\nfunction data() {}\n";
    let wanted = ["2 constant EAST", "3 constant WEST", "4 constant NORTH", "5 constant SOUTH", "8 function moor"];
    assert_eq!(symbols("a.php", text), wanted);
}

/// Elixir 1.18, `Kernel.defstruct/1` and `Kernel.defexception/1`.
#[test]
fn fields_of_elixir_structs_are_defined() {
    let text = "defmodule Port do\n  defstruct [:name, sails: [], depth: nil]\n  def list, do: [:a, b: 1]\nend\n\
                defmodule Rope do\n  defstruct ends: 2, knots: [:a]\nend\ndefmodule Sunk do\n  defexception [:message, code: 1]\nend\n";
    let wanted = [
        "1 module Port",
        "2 field Port: name",
        "2 field Port: sails",
        "2 field Port: depth",
        "3 function Port: list",
        "5 module Rope",
        "6 field Rope: ends",
        "6 field Rope: knots",
        "8 module Sunk",
        "9 field Sunk: message",
        "9 field Sunk: code",
    ];
    assert_eq!(symbols("port.ex", text), wanted);
}

/// Julia 1.11 manual: Destructuring Assignment, UnionAll Types, Mutable Composite Types.
#[test]
fn julia_aliases_tuples_and_fields_on_one_line_are_defined() {
    let text = "mutable struct Rope const ends::Int; knots end\nmutable struct Sail; area::Float64; const name; const id::Int end\n\
                List{T} = Vector{T}\n(east, west) = load()\nnorth, south::Int = load()\nconst (up, down) = 1, 2\n(; bow, stern) = port\n\
                port.x, list[1] = load()\n";
    let wanted = [
        "1 struct Rope",
        "1 field Rope: ends",
        "1 field Rope: knots",
        "2 struct Sail",
        "2 field Sail: area",
        "2 field Sail: name",
        "2 field Sail: id",
        "3 constant List",
        "4 variable east",
        "4 variable west",
        "5 variable north",
        "5 variable south",
        "6 constant up",
        "6 constant down",
        "7 variable bow",
        "7 variable stern",
    ];
    assert_eq!(symbols("a.jl", text), wanted);
}

/// Bash 5.2 manual, Arrays: `declare -A` makes one. `declare -p` prints, and `export` changes a variable.
#[test]
fn bash_arrays_without_a_value_are_defined() {
    let text = "declare -A ways\ndeclare -ga list more\ndeclare -p ways\nexport PATH\nmoor() { local -a inner; }\n";
    let wanted = ["1 variable ways", "2 variable list", "2 variable more", "5 function moor"];
    assert_eq!(symbols("a.sh", text), wanted);
}

/// Bash 5.2 (`declare -F` after reading the file): any compound command may be the body of a function.
#[test]
fn bodies_of_bash_functions_may_be_loops() {
    let text = "a() ( echo )\nb() if true; then echo; fi\nc() for i in 1 2; do echo; done\nd () while false; do echo; done\n\
                e() case $1 in x) ;; esac\nf() (( $1 > 2 ))\ng() [[ -n $1 ]]\nh() select x in 1; do :; done\nformat() { :; }\n";
    let wanted = ["a", "b", "c", "d", "e", "f", "g", "h", "format"];
    let wanted: Vec<String> =
        wanted.iter().enumerate().map(|(at, name)| format!("{} function {name}", at + 1)).collect();
    assert_eq!(symbols("a.sh", text), wanted);
}

/// Lua 5.4 manual, 3.3.7: an attribute does not change what a variable holds.
#[test]
fn a_lua_function_may_be_constant() {
    let text = "local moor <const> = function() end\nlocal depth <const> = 1\nlocal a <const>, b = load()\n";
    let wanted = ["1 function moor", "2 variable depth", "3 variable a", "3 variable b"];
    assert_eq!(symbols("a.lua", text), wanted);
}

/// Zig 0.14.1 language reference, Zig Test: the name of a test is one string.
#[test]
fn a_zig_test_has_one_name() {
    let text = "test \"moor\" {}\ntest \"a \\\"b\\\" c\" {}\n";
    assert_eq!(symbols("a.zig", text), ["1 function moor", "2 function \"a \\\"b\\\" c\""]);
}

/// Bash 5.2 (`declare -p` after reading the file): the environment of one command is not kept. A line of assignments is.
#[test]
fn assignments_before_a_command_define_nothing() {
    let text = "LC_ALL=C sort x\nFOO=1 ./run\nIFS=, read -r a\nbar=2\nif true; then x=3; y=1 cmd; fi\n\
                while IFS= read -r line; do z=1; done\na=1 b=\"2 3\" c=\necho\nd=1 e=2; echo\nf=$(ls a) g=1\necho\nh=$bar/$x.pid\ni=$(ls a) true\n";
    let wanted = [
        "4 variable bar",
        "5 variable x",
        "6 variable z",
        "7 variable a",
        "7 variable b",
        "7 variable c",
        "9 variable d",
        "9 variable e",
        "10 variable f",
        "10 variable g",
        "12 variable h",
    ];
    assert_eq!(symbols("a.sh", text), wanted);
}

/// R6 2.6.1, `R6Class`; R 4.4, `setRefClass`, `setClass`, and assignment operators.
#[test]
fn fields_of_r_classes_are_defined() {
    let text = "Boat <- R6Class(\"Boat\", public = list(name = NULL, moor = function() 1), private = list(crew = 2))\n\
                Sail <- setRefClass(\"Sail\", fields = list(area = \"numeric\", mast = \"character\"))\n\
                setClass(\"Tide\", slots = c(depth = \"numeric\"), prototype = list(none = 1))\n3 -> late\nlist(none = 2)\n";
    let wanted = [
        "1 class Boat",
        "1 field Boat: name",
        "1 method Boat: moor",
        "1 field Boat: crew",
        "2 class Sail",
        "2 field Sail: area",
        "2 field Sail: mast",
        "3 class Tide",
        "3 field Tide: depth",
        "4 variable late",
    ];
    assert_eq!(symbols("a.R", text), wanted);
}

/// Elixir 1.18, `Record`: macros of these names.
#[test]
fn records_of_elixir_are_macros() {
    let text = "defmodule Boat do\n  require Record\n  Record.defrecord(:sail, name: \"x\", area: 1)\n  Record.defrecordp :mast, height: 1\n\
                \x20 import Record\n  defrecord :info, extract(:file_info, from_lib: \"kernel\")\n  Record.is_record(:none)\nend\n";
    let wanted = ["1 module Boat", "3 macro Boat: sail", "4 macro Boat: mast", "6 macro Boat: info"];
    assert_eq!(symbols("a.ex", text), wanted);
}

/// PowerShell 7.2, about_Language_Keywords: `configuration` defines a command, as `function` does.
#[test]
fn configurations_of_powershell_are_functions() {
    let text = "configuration Port { Node 'a' { File b { Ensure = 'Present' } } }\nConfiguration Sea\n{\n  param($x)\n}\n\
                Get-Item configuration Port\n$x = 1\n";
    assert_eq!(symbols("a.ps1", text), ["1 function Port", "2 function Sea", "7 variable x"]);
}
