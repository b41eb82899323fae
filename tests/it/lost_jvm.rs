//! Definitions of Java, Kotlin, Scala, C# and Swift that grammars lose, and where they belong, each with the answer of the language's
//! own parser or with its specification. `lost_definitions` has those of all languages.

use crate::lost_c_family::contained;

/// javac 25: fields and methods of the implied class. `local` is local.
#[test]
fn members_of_a_compact_java_file_are_defined() {
    let text = "int count = 1, other;\nstatic final int LIMIT = 3;\n@Deprecated int[] berths = {1};\nvoid main() { int local = 1; }\nrecord Port(int depth) { }\n";
    let wanted = [
        "1 field count",
        "1 field other",
        "2 constant LIMIT",
        "3 field berths",
        "4 method main",
        "5 record Port",
        "5 field depth in Port",
    ];
    assert_eq!(contained("Harbour.java", text), wanted);
}

/// javac 25: the fields are of the anonymous class, `depth` is one of `Port`.
#[test]
fn fields_of_an_anonymous_class_are_not_those_of_the_class_that_constructs_it() {
    let text = "class Port {\n    private int depth;\n    Port() {\n        this.depth = 1;\n        new Thread() { int tide; public void run() { } }.start();\n    }\n\
                \x20   void moor() { new Thread() { int tide; public void run() { } }.start(); }\n}\n";
    let wanted = [
        "1 class Port",
        "2 field depth in Port",
        "3 constructor Port in Port",
        "5 field tide in Port.Port",
        "5 method run in Port.Port",
        "7 method moor in Port",
        "7 field tide in Port.moor",
        "7 method run in Port.moor",
    ];
    assert_eq!(contained("Port.java", text), wanted);
    let parameters = "class Port { constructor(private depth: number) { this.tide = 1; } tide = 0; }\n";
    let wanted = ["1 class Port", "1 constructor constructor in Port", "1 field depth in Port", "1 field tide in Port"];
    assert_eq!(contained("port.ts", parameters), wanted);
}

/// kotlin-compiler 2.4.20.
#[test]
fn kotlin_receivers_in_parentheses_hide_no_definition() {
    let text = "val (Int).depth: Int get() = 1\nval (Int?).tide: Int\n    get() = 1\nval <T> (List<T>).size2 get() = 1\nfun (() -> Unit).moor() = 1\n\
                fun dock() { val (east, west) = load() }\nval after = 1\n";
    let wanted = [
        "1 variable depth",
        "2 variable tide",
        "4 variable size2",
        "5 function moor",
        "6 function dock",
        "7 variable after",
    ];
    assert_eq!(contained("Port.kt", text), wanted);
}

/// kotlin-compiler 2.4.20. `set` in `moor` is a function that is called.
#[test]
fn kotlin_accessors_may_be_on_the_line_of_their_property() {
    let text = "class Port {\n    var depth = 0; private set\n    var tide: Int = 0; private set; val berths = 1\n    val name: String; get() = \"\"\n\
                \x20   var area = 1; get() = field; set(value) { field = value }\n    fun moor() { val local = 1; set(2) }\n    val last = 1\n}\nval after = 1\n";
    let wanted = [
        "1 class Port",
        "2 property depth in Port",
        "3 property tide in Port",
        "3 property berths in Port",
        "4 property name in Port",
        "5 property area in Port",
        "6 method moor in Port",
        "7 property last in Port",
        "9 variable after",
    ];
    assert_eq!(contained("Port.kt", text), wanted);
}

/// kotlin-compiler 2.4.20.
#[test]
fn kotlin_guards_on_one_line_hide_no_definition() {
    let text = "val first = 1\nfun moor(ship: Any) = when (ship) { is Int if ship > 1 -> 1; is String if ship.isEmpty() -> 2; else if true -> 3; else -> 4 }\n\
                val last = 1\n";
    assert_eq!(contained("Port.kt", text), ["1 variable first", "2 function moor", "3 variable last"]);
}

/// kotlin-compiler 2.4.20: each function of an object or an entry is a member of it.
#[test]
fn functions_of_kotlin_objects_and_entries_are_methods() {
    let text = "val port = object : Runnable {\n    val depth = 1\n    override fun run() {}\n}\nclass Quay {\n    fun make() = object : Runnable { override fun run() {} }\n}\n\
                enum class Tide {\n    EBB {\n        override fun turn() = 1\n        val height = 2\n    };\n    abstract fun turn(): Int\n}\n\
                fun outer() { fun inner() = 1 }\n";
    let wanted = [
        "1 variable port",
        "2 property depth in port",
        "3 method run in port",
        "5 class Quay",
        "6 method make in Quay",
        "6 method run in Quay.make",
        "8 enum Tide",
        "9 variant EBB in Tide",
        "10 method turn in Tide.EBB",
        "11 property height in Tide.EBB",
        "13 method turn in Tide",
        "15 function outer",
        "15 function inner in outer",
    ];
    assert_eq!(contained("Port.kt", text), wanted);
}

/// Scala 3.7 reference: Variable Declarations and Definitions (4.2), Given Instances. `near` and `far` are local.
#[test]
fn scala_variables_may_share_a_declaration_and_givens_need_no_name() {
    let text = "var east, west = 0\nclass Port {\n  var depth, tide = 0\n  var (north, south) = (1, 2)\n  def moor = { var near, far = 0; near }\n}\n\
                given byDepth: Ordering[Port] with\n  def compare(a: Port, b: Port) = 0\n  val rank = 1\ngiven Show[Port] with\n  def show(port: Port) = \"\"\n  val width = 1\n\
                given time.Clock with { def now = 1 }\nextension (port: sea.Port) def leave = 1\nenum Wind:\n  case Calm\n  val force, gust = 1\n";
    let wanted = [
        "1 variable east",
        "1 variable west",
        "2 class Port",
        "3 field depth in Port",
        "3 field tide in Port",
        "4 field north in Port",
        "4 field south in Port",
        "5 method moor in Port",
        "7 instance byDepth",
        "8 method compare in byDepth",
        "9 field rank in byDepth",
        "11 method show in Show",
        "12 field width in Show",
        "13 method now in Clock",
        "14 method leave in Port",
        "15 enum Wind",
        "16 variant Calm in Wind",
        "17 field force in Wind",
        "17 field gust in Wind",
    ];
    assert_eq!(contained("Port.scala", text), wanted);
}

/// Scala 3.7 reference, 8.1 Patterns: each variable is bound. `shape` and `Tall` are names of patterns.
#[test]
fn names_in_scala_patterns_are_defined() {
    let text = "val first :: rest = ships\nclass Port {\n  val whole @ Some(_) = load()\n  val Ship(name, Some(depth)) = load()\n  val (east, (west, _)) = load()\n\
                \x20 val shape.Tall(mast: Int) = load()\n  var one :: two :: _ = ships\n  val moored = new Runnable { def run() = 1 }\n}\n";
    let wanted = [
        "1 variable first",
        "1 variable rest",
        "2 class Port",
        "3 field whole in Port",
        "4 field name in Port",
        "4 field depth in Port",
        "5 field east in Port",
        "5 field west in Port",
        "6 field mast in Port",
        "7 field one in Port",
        "7 field two in Port",
        "8 field moored in Port",
        "8 method run in Port.moored",
    ];
    assert_eq!(contained("Port.scala", text), wanted);
}

/// C# 14 language reference, Extension declarations: their members are of the class around them.
#[test]
fn csharp_extensions_may_share_a_line() {
    let text = "static class Ports {\n    extension(string name) { public int Depth() { return 1; } } extension(int berth) { public int Tide => 1; } public static int Last() => 1;\n\
                \x20   extension<T>(List<T> all) where T : class { public bool None => true; }\n}\nclass Sail { Sail() { } }\n";
    let wanted = [
        "1 class Ports",
        "2 method Depth in Ports",
        "2 property Tide in Ports",
        "2 method Last in Ports",
        "3 property None in Ports",
        "5 class Sail",
        "5 constructor Sail in Sail",
    ];
    assert_eq!(contained("Ports.cs", text), wanted);
}

/// The Swift Programming Language 6.2, Declarations: Variable Declaration, Constant Declaration.
#[test]
fn swift_names_of_a_tuple_are_properties_of_their_type() {
    let text = "let (east, west) = (1, 2)\nstruct Port {\n    let (depth, tide) = (1, 2)\n    var (north, south) = (1, 2), area = 3\n}\n\
                enum Wind { static let (calm, gale) = (1, 2) }\nfunc moor() { let (near, far) = (1, 2) }\nlet (up, (down, _)) = (1, (2, 3))\n";
    let mut found = contained("Port.swift", text);
    found.sort();
    let wanted = [
        "1 variable east",
        "1 variable west",
        "2 struct Port",
        "3 property depth in Port",
        "3 property tide in Port",
        "4 property area in Port",
        "4 property north in Port",
        "4 property south in Port",
        "6 enum Wind",
        "6 property calm in Wind",
        "6 property gale in Wind",
        "7 function moor",
        "8 variable down",
        "8 variable up",
    ];
    assert_eq!(found, wanted);
}

/// The Swift Programming Language 6.2, Lexical Structure: Operators.
#[test]
fn swift_operators_are_functions() {
    let text = "struct Port {\n    static func += (left: inout Port, right: Port) { }\n    static func | (left: Port, right: Port) -> Port { left }\n\
                \x20   static func << (left: Port, right: Port) -> Port { left }\n    static func ... (left: Port, right: Port) -> Port { left }\n\
                \x20   static prefix func ! (port: Port) -> Port { port }\n    static prefix func ~ (port: Port) -> Port { port }\n    func moor() { }\n}\n\
                postfix operator ++\ninfix operator <+>: AdditionPrecedence\nprotocol Docks { static func ^ (left: Self, right: Self) -> Self }\n";
    let wanted = [
        "1 struct Port",
        "2 method += in Port",
        "3 method | in Port",
        "4 method << in Port",
        "5 method ... in Port",
        "6 method ! in Port",
        "7 method ~ in Port",
        "8 method moor in Port",
        "10 operator ++",
        "11 operator <+>",
        "12 protocol Docks",
        "12 method ^ in Docks",
    ];
    assert_eq!(contained("Port.swift", text), wanted);
}
