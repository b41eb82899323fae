//! Definitions that are lost or wrong in valid files of Python and Dart, each with the answer of the language's own parser or its
//! specification.

use crate::lost_ecmascript::symbols;

/// `ast` and `symtable` of Python 3.11: each name is stored in the module or the class.
#[test]
fn names_that_python_unpacks_are_defined_however_deep() {
    let text = "(a, (b, *c)) = load()\n[d, [e, (f, *g)]] = load()\nh, (i, j), k.x, l[0] = load()\n\
                class Boat:\n    (m, (n, *o)) = load()\n    def moor(self):\n        (p, (q, r)) = load()\n";
    let wanted = [
        "1 variable a",
        "1 variable b",
        "1 variable c",
        "2 variable d",
        "2 variable e",
        "2 variable f",
        "2 variable g",
        "3 variable h",
        "3 variable i",
        "3 variable j",
        "4 class Boat",
        "5 attribute Boat.m",
        "5 attribute Boat.n",
        "5 attribute Boat.o",
        "6 method Boat.moor",
    ];
    assert_eq!(symbols("boat.py", text), wanted);
}

/// `symtable` of Python 3.11: names of loops, of `with` and of `:=` are the module's or the class's; those of comprehensions, lambdas,
/// parameters and functions are not.
#[test]
fn names_of_loops_and_contexts_are_defined() {
    let text = "for berth in range(3):\n    depth = berth\nfor east, (west, *rest) in []:\n    pass\nfor boat.x, ports[0] in []:\n    pass\n\
                with open('a') as first, open('b') as (second, third):\n    pass\nif (found := first.read()):\n    pass\n\
                found_all = [seen := one for one in found]\npairs = {k: v for k, (v, *w) in []}\ncall = lambda p, *q: (r := p)\n\
                def moor(a, *args, b=(c := 1)):\n    with open('d') as e:\n        for f, (g, h) in e:\n            i = (j := 1)\n\
                class Boat:\n    for size in range(3):\n        pass\n    with open('f') as log:\n        pass\n\
                try:\n    pass\nexcept OSError as error:\n    pass\nmatch found:\n    case [x, *y]:\n        pass\n    case (m, n) as o:\n        pass\n";
    let wanted = [
        "1 variable berth",
        "2 variable depth",
        "3 variable east",
        "3 variable west",
        "3 variable rest",
        "7 variable first",
        "7 variable second",
        "7 variable third",
        "9 variable found",
        "11 variable found_all",
        "11 variable seen",
        "12 variable pairs",
        "13 variable call",
        "14 function moor",
        "18 class Boat",
        "19 attribute Boat.size",
        "21 attribute Boat.log",
    ];
    assert_eq!(symbols("boat.py", text), wanted);
}

/// Dart language specification 6 draft, 8 (Variables) and 9.4 (External Functions): a variable may be external.
#[test]
fn external_variables_of_dart_are_defined() {
    let text = "external int depth;\nexternal final String name, port;\nexternal int moor();\n";
    assert_eq!(
        symbols("port.dart", text),
        ["1 variable depth", "2 variable name", "2 variable port", "3 function moor"]
    );
}

/// `symtable` of Python 3.11: names of the class, not of the function around it.
#[test]
fn names_of_a_class_in_a_function_are_its_attributes() {
    let text = "def build():\n    class Boat:\n        a = b = 1\n        if a:\n            c = 2\n        d, e = 1, 2\n\
                \x20       for f in []:\n            pass\n        def moor(self):\n            local = 1\n    class Sail:\n        area = 1\n\
                \x20   local = 2\n    return [x for x in local]\n";
    let wanted = [
        "1 function build",
        "2 class build.Boat",
        "3 attribute build.Boat.a",
        "3 attribute build.Boat.b",
        "5 attribute build.Boat.c",
        "6 attribute build.Boat.d",
        "6 attribute build.Boat.e",
        "7 attribute build.Boat.f",
        "9 method build.Boat.moor",
        "11 class build.Sail",
        "12 attribute build.Sail.area",
    ];
    assert_eq!(symbols("boat.py", text), wanted);
}
