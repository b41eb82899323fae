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
