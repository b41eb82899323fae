//! Forms of declarations, as each language's reference has them: what is declared, its kind, its container, and its head.

use expect_test::expect;
use ixmcp::extract::{self, Options};
use ixmcp::model::{RepoPath, Symbol};

fn extracted(name: &str, text: &str) -> Vec<Symbol> {
    extract::extract(&RepoPath::new(name).unwrap(), text.as_bytes(), &Options::default()).unwrap().symbols
}

/// The line, kind and name of each symbol, and what contains it.
fn symbols(name: &str, text: &str) -> Vec<String> {
    let row = |symbol: &Symbol| {
        let container = symbol.container.as_ref().map(|container| format!("{container} > ")).unwrap_or_default();
        format!("{} {} {container}{}", symbol.line, symbol.kind, symbol.name)
    };
    extracted(name, text).iter().map(row).collect()
}

/// The heads of symbols with that name.
fn heads(file: &str, text: &str, name: &str) -> Vec<String> {
    let symbols = extracted(file, text);
    symbols.into_iter().filter(|symbol| symbol.name == name).filter_map(|symbol| symbol.signature).collect()
}

/// The Swift Programming Language 6, Declarations: Operator, Precedence Group, Protocol, Extension and Subscript.
#[test]
fn operators_and_extensions_of_swift_are_declared() {
    let text = "precedencegroup Power { higherThan: MultiplicationPrecedence }\ninfix operator ** : Power\n\
                protocol Sum {\n    static func + (l: Self, r: Self) -> Self\n    static func <=> (l: Self, r: Self) -> Bool\n}\n\
                extension [Int] {\n    var total: Int { 0 }\n}\nstruct Row {\n    subscript(at: Int) -> Int { get { 1 } set { } }\n}\n\
                var top: Int { 3 }\n";
    let wanted = [
        "1 operator Power",
        "2 operator **",
        "3 protocol Sum",
        "4 method Sum > +",
        "5 method Sum > <=>",
        "7 extension [Int]",
        "8 property [Int] > total",
        "10 struct Row",
        "11 method Row > subscript",
        "13 variable top",
    ];
    assert_eq!(symbols("Sum.swift", text), wanted);
    assert_eq!(heads("Sum.swift", text, "subscript"), ["subscript(at: Int) -> Int"]);
    assert_eq!(heads("Sum.swift", text, "top"), ["var top: Int"]);
}

/// Dart 3.5 language specification: external variables and functions, abstract fields, operators, extension types.
#[test]
fn external_members_and_operators_of_dart_are_declared() {
    let text = "external int get clock;\nexternal void beep();\nabstract class Row {\n  abstract int size;\n  external int width, depth;\n\
                \x20 int operator [](int at) => at;\n  void operator []=(int at, int to) {}\n  Row operator ~() => this;\n}\n\
                extension type const Meters._(double of) {\n  void show() {}\n}\n";
    let wanted = [
        "1 function clock",
        "2 function beep",
        "3 class Row",
        "4 field Row > size",
        "5 field Row > width",
        "5 field Row > depth",
        "6 method Row > []",
        "7 method Row > []=",
        "8 method Row > ~",
        "10 extension Meters",
        "10 field Meters > of",
        "11 method Meters > show",
    ];
    assert_eq!(symbols("row.dart", text), wanted);
}

/// Scala 3 reference: Enumerations, Extension Methods, Auxiliary Constructors.
#[test]
fn members_of_scala_enumerations_and_extensions_have_their_type() {
    let text = "enum Tide:\n  case Ebb\n  val height = 1\nextension (words: String)\n  def shout: String = words\n\
                extension [T](all: List[T]) def last: T = ???\nclass Boat(name: String):\n  def this() = this(\"\")\n";
    let wanted = [
        "1 enum Tide",
        "2 variant Tide > Ebb",
        "3 field Tide > height",
        "5 method String > shout",
        "6 method List > last",
        "7 class Boat",
        "7 field Boat > name",
        "8 constructor Boat > this",
    ];
    assert_eq!(symbols("Tide.scala", text), wanted);
}

/// Elixir 1.18, Typespecs and Kernel.defimpl/3; Erlang/OTP 28 reference manual, Nominal Types.
#[test]
fn callbacks_implementations_and_nominal_types_are_declared() {
    let text = "defmodule Sail do\n  @callback moor(at) :: :ok when at: atom\nend\n\
                defimpl Size, for: [List, Map] do\n  def size(all), do: length(all)\nend\n";
    let wanted = ["1 module Sail", "2 function Sail > moor", "5 method [List, Map] > size"];
    assert_eq!(symbols("sail.ex", text), wanted);
    let erlang = "-module(port).\n-nominal depth() :: integer().\n";
    assert_eq!(symbols("port.erl", erlang), ["1 module port", "2 type depth"]);
}

/// Lua 5.4 manual, 3.4.11: a function without statements is a function, and its head ends before `end`.
#[test]
fn empty_functions_of_lua_are_functions() {
    let text = "local M = {}\nM.open = function(at) end\nlocal close = function() end\nfunction M:moor(at) end\n";
    let wanted = ["1 variable M", "2 function M > open", "3 function close", "4 method M > moor"];
    assert_eq!(symbols("port.lua", text), wanted);
    assert_eq!(heads("port.lua", text, "moor"), ["function M:moor(at)"]);
}

/// Julia 1.11 manual: Constants, Per-field atomics, Methods, Variables (`var"…"`), Enums.
#[test]
fn typed_variables_infix_methods_and_quoted_names_of_julia_are_declared() {
    let text = "module Port\ndepth::Int = 3\nmutable struct Boat\n    @atomic count::Int\nend\nsail(x::T, y::S)::T where T where S = x\n\
                a ⊗ b = a\nfunction var\"odd name\"(x) x end\nconst Alias{T} = Vector{T}\n@enum Wind::UInt8 calm=1 gale\nend\n";
    let wanted = [
        "1 module Port",
        "2 variable Port > depth",
        "3 struct Port > Boat",
        "4 field Port.Boat > count",
        "6 function Port > sail",
        "7 function Port > ⊗",
        "8 function Port > odd name",
        "9 constant Port > Alias",
        "10 enum Port > Wind",
        "10 variant Port.Wind > calm",
        "10 variant Port.Wind > gale",
    ];
    assert_eq!(symbols("Port.jl", text), wanted);
}

/// Haskell 2010 report, 4.4.3 and 4.2.1; the user's guide of GHC 9.12: Type operators, Declaring data types with explicit constructor
/// signatures, Pattern synonyms.
#[test]
fn infix_definitions_of_haskell_are_declared() {
    let text = "module Port where\n\ntype a ~> b = a -> b\n\ndata a :*: b = a :*: b\n\ndata Rope = Int `Tied` Int\n\n\
                data Knot where\n  Bowline, Hitch :: Int -> Knot\n\npattern a :+ b = (a, b)\n\npattern Zero = 0\n\n\
                x `moor` y = x + y\n\n(f . g) x = f (g x)\n\n(east, west) = (1, 2)\n";
    let wanted = [
        "3 type ~>",
        "5 type :*:",
        "5 variant :*: > :*:",
        "7 type Rope",
        "7 variant Rope > Tied",
        "9 type Knot",
        "10 variant Knot > Bowline",
        "10 variant Knot > Hitch",
        "12 constant :+",
        "14 constant Zero",
        "16 function moor",
        "18 function .",
        "20 function east",
        "20 function west",
    ];
    assert_eq!(symbols("Port.hs", text), wanted);
}

/// The OCaml 5.3 manual: Recursive modules, Class types, Patterns.
#[test]
fn recursive_modules_class_types_and_patterns_of_ocaml_are_declared() {
    let text = "module rec East : S = struct type t = int end\nand West : S = struct type u = int end\n\
                let { first; second } = load ()\nlet Some third = load ()\n";
    let wanted = [
        "1 module East",
        "1 type East > t",
        "2 module West",
        "2 type West > u",
        "3 variable first",
        "3 variable second",
        "4 variable third",
    ];
    assert_eq!(symbols("port.ml", text), wanted);
    let interface = "class type port = object\n  val depth : int\n  method moor : int\nend\n";
    assert_eq!(symbols("port.mli", interface), ["1 class port", "2 field port > depth", "3 method port > moor"]);
}

/// Terraform 1.13, Syntax: a label is a string or a word. The Nix 2.30 manual: a name that is computed is not known. R 4.5, Assignment.
#[test]
fn labels_computed_names_and_chained_assignments() {
    assert_eq!(
        symbols("main.tf", "variable plain {\n}\nresource aws_instance web {\n}\n"),
        ["1 variable plain", "3 resource aws_instance > web"]
    );
    assert_eq!(symbols("a.nix", "{\n  \"with-${x}\" = 1;\n  \"plain\" = 2;\n}\n"), ["3 key plain"]);
    assert_eq!(
        symbols("a.r", "east <- west <- 2\nport$moor <- function(x) x\n"),
        ["1 variable east", "1 variable west", "2 function port > moor"]
    );
}

/// protoc 31 (`DescriptorProto`): a group declares a message. GraphQL, October 2021, 3.3 to 3.10: what extends a type contains what it adds,
/// and a description precedes a definition.
#[test]
fn groups_of_protocol_buffers_and_extensions_of_graphql() {
    let proto =
        "syntax = \"proto2\";\nmessage Port {\n  repeated group Berth = 1 {\n    required int32 depth = 1;\n  }\n}\n";
    let wanted = ["2 message Port", "3 message Port > Berth", "4 field Port.Berth > depth"];
    assert_eq!(symbols("port.proto", proto), wanted);
    let schema = "extend enum Tide { SLACK }\nextend input Boat { length: Int }\nextend union Craft = Raft\n\
                  type Port {\n  \"In metres.\"\n  depth(at: Int = 1): Int\n}\nquery Moor($at: Int) { port }\n";
    let wanted = [
        "1 extension Tide",
        "1 variant Tide > SLACK",
        "2 extension Boat",
        "2 field Boat > length",
        "3 extension Craft",
        "4 class Port",
        "6 field Port > depth",
        "8 function Moor",
    ];
    assert_eq!(symbols("port.graphql", schema), wanted);
    assert_eq!(heads("port.graphql", schema, "depth"), ["depth(at: Int = 1): Int"]);
    assert_eq!(heads("port.graphql", schema, "Moor"), ["query Moor($at: Int)"]);
}

/// PowerShell 7.5, about_Enum, about_Classes_Constructors and about_Variables.
#[test]
fn enumerations_constructors_and_typed_variables_of_powershell() {
    let text = "[int]$depth = 2\n${my port} = 3\nenum Right : byte { Read = 1 }\nclass Boat {\n    Boat([string]$name) { $this.Name = $name }\n\
                \x20   [void] Moor() { }\n}\n";
    let wanted = [
        "1 variable depth",
        "2 variable my port",
        "3 enum Right",
        "3 variant Right > Read",
        "4 class Boat",
        "5 constructor Boat > Boat",
        "6 method Boat > Moor",
    ];
    assert_eq!(symbols("port.ps1", text), wanted);
    assert_eq!(heads("port.ps1", text, "Moor"), ["[void] Moor()"]);
}

/// C# 14, User-defined compound assignment operators.
#[test]
fn compound_assignment_operators_have_their_name() {
    let text = "class Sum\n{\n    public void operator +=(int x) { }\n    public void operator <<=(int x) { }\n}\n";
    assert_eq!(symbols("Sum.cs", text), ["1 class Sum", "3 operator Sum > +=", "4 operator Sum > <<="]);
}

/// `go/parser` of Go 1.27: fields of types without a name.
#[test]
fn fields_of_unnamed_go_structures_are_declared() {
    let text = "package port\n\nvar cfg struct {\n\tHost string\n}\n\ntype Port struct {\n\tBerth struct {\n\t\tDepth int\n\t}\n\
                \tAll []struct{ Name string }\n}\n";
    let wanted = [
        "3 variable cfg",
        "4 field cfg > Host",
        "7 struct Port",
        "8 field Port > Berth",
        "9 field Port.Berth > Depth",
        "11 field Port > All",
        "11 field Port.All > Name",
    ];
    assert_eq!(symbols("port.go", text), wanted);
}

/// kotlin-compiler 2.4.20: the entries, their members, and what follows them.
#[test]
fn kotlin_enumerations_on_one_line_are_read() {
    let text = "enum class Tide { EBB { override fun f() = 1 }, FLOW { override fun f() = 2 }; abstract fun f(): Int }\n\
                enum class Wind { CALM; companion object { fun of() = CALM } }\n";
    expect![[r#"
        1 enum Tide
        1 variant Tide > EBB
        1 method Tide.EBB > f
        1 variant Tide > FLOW
        1 method Tide.FLOW > f
        1 method Tide > f
        2 enum Wind
        2 variant Wind > CALM
        2 method Wind > of"#]]
    .assert_eq(&symbols("Tide.kt", text).join("\n"));
}

/// clang 18.1.1, with the frameworks' definition of `NS_ENUM`: an enumeration, its constants, and a class.
#[test]
fn enumerations_of_apple_frameworks_are_declared() {
    let text = "#import <Foundation/Foundation.h>\n\ntypedef NS_ENUM(NSInteger, Tide) {\n  TideEbb,\n  TideFlow,\n};\n\n\
                typedef NS_OPTIONS(NSUInteger, Rights) { RightRead = 1 << 0 };\n\nNS_SWIFT_NAME(Port)\n@interface HPort : NSObject\n@end\n";
    let attributed = "NS_SWIFT_NAME(Sail)\n@interface HSail : NSObject\n- (void)hoist;\n@end\n\n\
                      __attribute__((deprecated))\n@interface HOar : NSObject\n@end\n";
    let wanted_classes = ["2 class HSail", "3 method HSail > hoist", "7 class HOar"];
    assert_eq!(symbols("Sail.h", attributed), wanted_classes);
    let wanted = [
        "3 enum Tide",
        "4 variant Tide > TideEbb",
        "5 variant Tide > TideFlow",
        "8 enum Rights",
        "8 variant Rights > RightRead",
        "11 class HPort",
    ];
    assert_eq!(symbols("Port.h", text), wanted);
}

/// clang 18.1.1 on these lines, with the macros defined as the libraries that have them do: zlib, libpng, libcurl.
#[test]
fn c_declarations_with_macros_and_several_pointers_are_read() {
    let text = "static const char *names[][2] = { { \"a\", \"b\" } };\nint (*rows)[3];\ntypedef png_color * * png_colorpp;\n\
                typedef png_info * PNG_RESTRICT png_inforp;\n#if 1\n   ZEXTERN z_off_t ZEXPORT gzseek OF((gzFile, z_off_t, int));\n#endif\n\
                CURL_EXTERN CURLMcode CURL_DEPRECATED(7.19.5, \"Use curl_multi_socket_action()\")\n\
                curl_multi_socket(CURLM *multi_handle, int *running_handles);\nEVENT2_EXPORT_SYMBOL\nev_uint32_t event_get_version_number(void);\n";
    let wanted = [
        "1 variable names",
        "2 variable rows",
        "3 type png_colorpp",
        "4 type png_inforp",
        "6 function gzseek",
        "9 function curl_multi_socket",
        "11 function event_get_version_number",
    ];
    assert_eq!(symbols("declared.h", text), wanted);
}
