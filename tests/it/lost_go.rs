//! Definitions of Go and Rust that the patterns lose in valid files, each with the answer of the language's own parser.

use crate::lost_scripts::symbols;

/// `go/parser` of Go 1.27.3. Members of types without a name in functions and parameters are local.
#[test]
fn members_of_go_types_without_a_name_are_defined() {
    let text = "package a\n\nvar (\n\tone   struct{ A int }\n\tpairs map[string][]struct{ B int }\n\twaits chan struct{ C int }\n\
                \tfour  = [...]struct{ D int }{{1}}\n\tany   interface{ E() }\n)\n\nvar ways = map[string]*struct{ F int }{}\n\n\
                type Port struct {\n\tberths []*struct{ Depth int }\n\tgate   interface{ Open() }\n\tgrid   [2]struct{ cell struct{ x int } }\n}\n\n\
                type List []struct{ G int }\ntype Alias = struct{ H int }\ntype Both interface {\n\tinterface{ I() }\n\tJ() interface{ K() }\n}\n\n\
                func moor(a struct{ local int }) {\n\ttests := []struct{ local int }{{1}}\n\tvar more = []struct{ local int }{{1}}\n\
                \tvar one struct{ local int }\n\ttype kept struct{ x int }\n\t_, _, _ = tests, more, one\n}\n";
    let wanted = [
        "4 variable one",
        "4 field one: A",
        "5 variable pairs",
        "5 field pairs: B",
        "6 variable waits",
        "6 field waits: C",
        "7 variable four",
        "7 field four: D",
        "8 variable any",
        "8 method any: E",
        "11 variable ways",
        "11 field ways: F",
        "13 struct Port",
        "14 field Port: berths",
        "14 field Port.berths: Depth",
        "15 field Port: gate",
        "15 method Port.gate: Open",
        "16 field Port: grid",
        "16 field Port.grid: cell",
        "16 field Port.grid.cell: x",
        "19 type List",
        "19 field List: G",
        "20 type Alias",
        "20 field Alias: H",
        "21 interface Both",
        "22 method Both: I",
        "23 method Both: J",
        "23 method Both.J: K",
        "26 function moor",
        "30 struct moor: kept",
        "30 field moor.kept: x",
    ];
    assert_eq!(symbols("a.go", text), wanted);
}

/// `go/parser` of Go 1.27.3.
#[test]
fn receivers_of_go_may_be_in_brackets() {
    let text = "package a\n\nfunc (Box) a()           {}\nfunc (*Box) b()          {}\nfunc (*(Box)) c()        {}\nfunc (s (Box)) d()       {}\n\
                func (s (*Box)) e()      {}\nfunc (s List[Key, V]) f() {}\nfunc (*List[Key, V]) g() {}\nfunc (s *(List[Key, V])) h() {}\n";
    let wanted = [
        "3 method Box: a",
        "4 method Box: b",
        "5 method Box: c",
        "6 method Box: d",
        "7 method Box: e",
        "8 method List: f",
        "9 method List: g",
        "10 method List: h",
    ];
    assert_eq!(symbols("a.go", text), wanted);
}

/// `syn` 2.0: `ItemTraitAlias`, of an unstable feature.
#[test]
fn an_alias_of_rust_traits_is_a_trait() {
    let text = "pub trait Both = Clone + Copy;\ntrait Other<T> = From<T>;\nfn moor() {}\n";
    assert_eq!(symbols("a.rs", text), ["1 trait Both", "2 trait Other", "3 function moor"]);
}

/// `syn` 2.0 reads the text in the brackets as a file of items.
#[test]
fn items_in_a_rust_macro_may_be_on_its_line() {
    let text = "thread_local! { static LEVEL: u8 = 1; }\nhide! { pub struct Rope { ends: u8 } }\n\
                check! { moor == Rope, static }\n";
    let wanted = ["1 constant LEVEL", "2 struct Rope", "2 field Rope: ends"];
    assert_eq!(symbols("a.rs", text), wanted);
}

/// The Go Programming Language Specification, version go1.24, Blank identifier: it "does not introduce a binding".
#[test]
fn the_blank_identifier_of_go_defines_nothing() {
    let text = "package a\n\nvar _ io.Reader = (*T)(nil)\n\nconst (\n\t_ = iota\n\tA\n)\n\nfunc _() {}\n\n\
                type T struct {\n\t_    struct{}\n\t_, b int\n}\n\nvar _, x = 1, 2\n\nfunc (T) _() {}\n\ntype _ = int\n\nvar _x int\n";
    let wanted = ["7 constant A", "12 struct T", "14 field T: b", "17 variable x", "23 variable _x"];
    assert_eq!(symbols("a.go", text), wanted);
}
