//! Definitions that are lost or wrong in valid files of JavaScript, TypeScript, Flow and Svelte, each with the answer of the
//! language's own parser.

use ixmcp::extract::{self, Options};
use ixmcp::model::RepoPath;

/// The line, kind and qualified name of each symbol.
pub(crate) fn symbols(name: &str, text: &str) -> Vec<String> {
    let extracted = extract::extract(&RepoPath::new(name).unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let row = |symbol: &ixmcp::model::Symbol| {
        let container = symbol.container.as_ref().map(|container| format!("{container}.")).unwrap_or_default();
        format!("{} {} {container}{}", symbol.line, symbol.kind, symbol.name)
    };
    extracted.symbols.iter().map(row).collect()
}

/// Asserts that a file has these symbols, as TypeScript and as JavaScript.
fn assert_both(text: &str, wanted: &[&str]) {
    for name in ["sails.ts", "sails.js"] {
        assert_eq!(symbols(name, text), wanted, "{name}");
    }
}

/// typescript 5.9.3, `getNavigationTree`: classes and their members. A name that the expression gives itself is seen in it alone.
#[test]
fn a_class_has_the_name_of_what_it_is_assigned_to() {
    let text = "const sails = { Jib: class { hoist() {} }, Main: class Own extends Base { reef() {} } };\n\
                sails.Genoa = class { furl() {} };\n\
                fleet.sails.Storm = class Other { set() {} };\n\
                exports.Spinnaker = class Named { gybe() {} };\n\
                class Boat { static Mast = class { step() {} }; }\n\
                (function (root) { root.Boom = class { swing() {} }; })(globalThis);\n\
                sails.first = new (class { none() {} })();\nmodule.exports = class Own {};\n";
    let wanted = [
        "1 constant sails",
        "1 class sails.Jib",
        "1 method sails.Jib.hoist",
        "1 class sails.Main",
        "1 method sails.Main.reef",
        "2 class sails.Genoa",
        "2 method sails.Genoa.furl",
        "3 class fleet.sails.Storm",
        "3 method fleet.sails.Storm.set",
        "4 class Spinnaker",
        "4 method Spinnaker.gybe",
        "5 class Boat",
        "5 class Boat.Mast",
        "5 method Boat.Mast.step",
        "6 class root.Boom",
        "6 method root.Boom.swing",
        "7 method none",
        "8 class Own",
    ];
    assert_both(text, &wanted);
}

/// typescript 5.9.3, `getNavigationTree`: the methods of `Boat`, of `fleet.Boat` and of `fleet.sails`.
#[test]
fn functions_belong_to_the_prototype_or_object_that_they_are_assigned_to() {
    let text = "Boat.prototype = {\n  constructor: Boat,\n  moor() {},\n  sail: function () {},\n  get name() { return 1; },\n};\n\
                fleet.Boat.prototype.row = function () {};\n\
                Boat.prototype.each = function* () {};\n\
                fleet.sails.hoist = function () {};\n\
                fleet.sails.reef = async () => 1;\n\
                Boat.build = async function* () {};\n\
                Object.assign(Boat.prototype, { anchor() {} });\n\
                this.state.none = function () {};\n\
                Boat.prototype = Object.create(Base.prototype, { length: { get() {} } });\n";
    let wanted = [
        "3 method Boat.moor",
        "4 method Boat.sail",
        "5 method Boat.name",
        "7 method fleet.Boat.row",
        "8 method Boat.each",
        "9 function fleet.sails.hoist",
        "10 function fleet.sails.reef",
        "11 function Boat.build",
        "12 method Boat.anchor",
        "14 method get",
    ];
    assert_both(text, &wanted);
}

/// typescript 5.9.3, `getPropertiesOfType`: each class has each member once, and `hoist` is a method.
#[test]
fn a_member_that_the_constructor_sets_is_one_symbol() {
    let text = "class Boat {\n  length;\n  #depth;\n  constructor() {\n    this.length = 1;\n    this.#depth = 2;\n    this.beam = 3;\n\
                \x20   this.beam = 4;\n    this.hoist = this.hoist.bind(this);\n    this.reef = () => 1;\n  }\n  hoist() {}\n  late;\n}\n\
                class Other {\n  get beam() { return 1; }\n  set beam(value) {}\n  constructor() { this.length = 1; }\n}\nconst length = 2;\n";
    let wanted = [
        "1 class Boat",
        "2 field Boat.length",
        "3 field Boat.#depth",
        "4 constructor Boat.constructor",
        "7 field Boat.beam",
        "10 method Boat.reef",
        "12 method Boat.hoist",
        "13 field Boat.late",
        "15 class Other",
        "16 method Other.beam",
        "17 method Other.beam",
        "18 constructor Other.constructor",
        "18 field Other.length",
        "20 constant length",
    ];
    assert_eq!(symbols("boat.js", text), wanted);
    let text = "class Boat {\n  hoist: () => void;\n  constructor() {\n    this.hoist = () => {};\n  }\n}\n";
    assert_eq!(symbols("boat.ts", text), ["1 class Boat", "2 field Boat.hoist", "3 constructor Boat.constructor"]);
}

/// ECMA-262 2025, 8.2.7 (`TopLevelVarScopedDeclarations`): names of `var` in blocks are the file's, those of `let` and `const` not.
#[test]
fn variables_of_var_in_loops_and_handlers_are_those_of_the_file() {
    let text = "try {} catch (error) {\n  var reason = 1;\n  const inner = 2;\n}\n\
                for (var i = 0; i < 3; i++) {\n  var last = i;\n  let inner = 1;\n  if (last) {\n    const deeper = 2;\n  }\n}\n\
                for (let j = 0; j < 3; j++) {}\nfor (var key in {}) {}\nfor (const other of []) {}\n\
                function local() {\n  for (var k = 0; k < 3; k++) {}\n  for (var l in {}) {}\n  try {} catch { var m = 1; }\n}\n";
    let wanted = ["2 variable reason", "5 variable i", "6 variable last", "13 variable key", "15 function local"];
    assert_both(text, &wanted);
}

/// typescript 5.9.3, `getPropertiesOfType`: the members of each type and variable, and of the parts of a union and elements of arrays.
#[test]
fn members_of_object_types_in_other_types_are_defined() {
    let text = "type Sail = Base & { area: number; hoist(): void } & { tack: string };\n\
                type Rope = { length: number } | ({ width: number });\n\
                type Mast = Readonly<{ height: number; step(): void }>;\n\
                type Boats = { name: string }[];\n\
                type Crew = Array<{ rank: { title: string; promote(): void } }>;\n\
                interface Port { depth: { low: number; high: Partial<{ spring: number }> } }\n\
                class Dock { tide: { ebb: number } = { ebb: 1 }; }\n\
                declare const buoy: { colour: string; light(): void };\n\
                let marks: Array<{ side: string }>;\n";
    let wanted = [
        "1 type Sail",
        "1 field Sail.area",
        "1 method Sail.hoist",
        "1 field Sail.tack",
        "2 type Rope",
        "2 field Rope.length",
        "2 field Rope.width",
        "3 type Mast",
        "3 field Mast.height",
        "3 method Mast.step",
        "4 type Boats",
        "4 field Boats.name",
        "5 type Crew",
        "5 field Crew.rank",
        "5 field Crew.rank.title",
        "5 method Crew.rank.promote",
        "6 interface Port",
        "6 field Port.depth",
        "6 field Port.depth.low",
        "6 field Port.depth.high",
        "6 field Port.depth.high.spring",
        "7 class Dock",
        "7 field Dock.tide",
        "7 field Dock.tide.ebb",
        "8 constant buoy",
        "8 field buoy.colour",
        "8 method buoy.light",
        "9 variable marks",
        "9 field marks.side",
    ];
    assert_eq!(symbols("sails.ts", text), wanted);
}

/// typescript 5.9.3, `getPropertiesOfType`: none of these is a member of the definition around it.
#[test]
fn object_types_of_parameters_bounds_and_bases_define_no_members() {
    let text = "function moor(at: { depth: { low: number } }, by: Rope & { length: number }): { done: boolean } {\n\
                \x20 const local: { inner: string } = load<{ other: string }>();\n  type Own = { kept: string };\n}\n\
                class Boat<T extends { bound: string }> extends Base<{ base: string }> {\n  sail(to: { port: string }): { at: string } {}\n}\n\
                interface Port<T extends { bound: string }> extends Base<{ base: string }> { open(by: { key: string }): { at: string } }\n\
                type Pick<T> = T extends { tested: infer U } ? U : never;\n\
                const row = (at: { depth: number }) => at;\nmoor(x as Array<{ cast: string }>);\n";
    let wanted = [
        "1 function moor",
        "3 type moor.Own",
        "3 field moor.Own.kept",
        "5 class Boat",
        "6 method Boat.sail",
        "8 interface Port",
        "8 method Port.open",
        "9 type Pick",
        "10 function row",
    ];
    assert_eq!(symbols("moor.ts", text), wanted);
}

/// typescript 5.9.3, `getNavigationTree`; a string in brackets is the member's name, any other expression is shown with them.
#[test]
fn members_with_numbers_and_expressions_as_names_are_defined() {
    let text = "class Sails {\n  42() {}\n  ['jib']() {}\n  *[Symbol.iterator]() {}\n  7 = 1;\n  [\"main\"] = 2;\n  [key] = () => 3;\n  'storm'() {}\n}\n\
                const all = { [key]() {}, ['jib']: () => 1, 5: function () {}, each: function* () {} };\n";
    let wanted = [
        "1 class Sails",
        "2 method Sails.42",
        "3 method Sails.jib",
        "4 method Sails.[Symbol.iterator]",
        "5 field Sails.7",
        "6 field Sails.main",
        "7 method Sails.[key]",
        "8 method Sails.storm",
        "10 constant all",
        "10 method all.[key]",
        "10 method all.jib",
        "10 method all.5",
        "10 method all.each",
    ];
    assert_both(text, &wanted);
    let text = "enum Sails { Jib, ['main'] = 1, 'storm sail' = 2 }\n\
                interface Port { 42: string; ['depth']: number; [Symbol.iterator](): void; [key: string]: any; (): void; 9(): void }\n\
                type Buoy = { 1: string; ['light'](): void };\ntype Marks = { [type in Buoys]: number };\nabstract class Boat { abstract ['moor'](): void; abstract 5(): void }\n";
    let wanted = [
        "1 enum Sails",
        "1 variant Sails.Jib",
        "1 variant Sails.main",
        "1 variant Sails.storm sail",
        "2 interface Port",
        "2 field Port.42",
        "2 field Port.depth",
        "2 method Port.[Symbol.iterator]",
        "2 method Port.9",
        "3 type Buoy",
        "3 field Buoy.1",
        "3 method Buoy.light",
        "4 type Marks",
        "5 class Boat",
        "5 method Boat.moor",
        "5 method Boat.5",
    ];
    assert_eq!(symbols("sails.ts", text), wanted);
}

/// typescript 5.9.3, `getNavigationTree`: the string is the name.
#[test]
fn a_colon_in_a_string_is_a_part_of_the_name() {
    assert_both(
        "const marks = { ':north'() {}, 'a:b'() {} };\n",
        &["1 constant marks", "1 method marks.:north", "1 method marks.a:b"],
    );
}

/// typescript 5.9.3: the names in brackets are read.
#[test]
fn a_name_in_brackets_is_a_reference() {
    let text = "const HOIST = 'hoist';\nconst all = { [HOIST]() {} };\n";
    let extracted = extract::extract(&RepoPath::new("all.js").unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let references: Vec<&str> = extracted.references.iter().map(|reference| reference.name.as_str()).collect();
    assert_eq!(references, ["HOIST"]);
}

/// typescript 5.9.3: a property for each, also for `accessor` alone.
#[test]
fn accessors_with_modifiers_are_fields() {
    let text = "abstract class Sail extends Base {\n  static accessor count = 1;\n  protected abstract accessor area: number;\n\
                \x20 override accessor tack = 2;\n  private static accessor #all = 3;\n  accessor luff = 4;\n  static accessor = 5;\n\
                \x20 declare readonly foot: string;\n  override readonly leech = 6;\n}\n";
    let wanted = [
        "1 class Sail",
        "2 field Sail.count",
        "3 field Sail.area",
        "4 field Sail.tack",
        "5 field Sail.#all",
        "6 field Sail.luff",
        "7 field Sail.accessor",
        "8 field Sail.foot",
        "9 field Sail.leech",
    ];
    assert_eq!(symbols("sail.ts", text), wanted);
}

/// typescript 5.9.3, `getNavigationTree`: a class that is the default export, with its members.
#[test]
fn an_abstract_class_may_have_no_name() {
    let text = "export default abstract class extends Base {\n  abstract hoist(): void;\n  reef() {}\n}\n";
    assert_eq!(symbols("sail.ts", text), ["1 class default", "2 method default.hoist", "3 method default.reef"]);
}

/// svelte 5.57.3, `compile`: a variable for each name that the script does not declare; `$store` is a subscription.
#[test]
fn reactive_declarations_are_variables() {
    let text = "<script>\n  export let a = 1;\n  let b;\n  $: total = a + b;\n  $: b = a * 2;\n  $: ({ first, second: other } = load(a));\n\
                \x20 $: [x, y] = load(a);\n  $: $store = total;\n  $: console.log(total);\n  $: total = 3;\n  function none() {\n    $: inner = 1;\n  }\n</script>\n";
    let wanted = [
        "2 variable a",
        "3 variable b",
        "4 variable total",
        "6 variable first",
        "6 variable other",
        "7 variable x",
        "7 variable y",
        "11 function none",
    ];
    assert_eq!(symbols("Sail.svelte", text), wanted);
    assert_eq!(symbols("sail.ts", "$: total = 1;\n"), [""; 0]);
}

/// svelte 5.57.3, `compile`: a function for each snippet, also in an element and in a snippet. Vue has none.
#[test]
fn snippets_of_svelte_are_functions() {
    let text = "{#snippet early()}<p/>{/snippet}\n<script lang=\"ts\">\n  let { items } = $props();\n  const text = '{#snippet text()}';\n</script>\n\n\
                <!-- {#snippet hidden()}{/snippet} -->\n{#snippet row(item: Item, { src, caption } = {})}\n  {#snippet cell()}<td>{src}</td>{/snippet}\n\
                \x20 <tr>{@render cell()}</tr>\n{/snippet}\n<Table {items}>\n  {#snippet header( )}<th>fruit</th>{/snippet}\n</Table>\n\
                {#if items}{@render row(1)}{/if}\n";
    let wanted = [
        "1 function early",
        "3 variable items",
        "4 constant text",
        "8 function row",
        "9 function cell",
        "13 function header",
    ];
    assert_eq!(symbols("Table.svelte", text), wanted);
    assert_eq!(symbols("Table.vue", text), ["3 variable items", "4 constant text"]);
}

/// hermes-parser 0.37.0: two components, a class with its members, and a type with its member.
#[test]
fn declared_components_and_fields_of_prototypes_are_defined_in_flow() {
    let text = "/* @flow */\ndeclare component Sail(area: string);\ndeclare export component Mast();\n\
                declare class Boat { proto length: number; moor(): void; proto: string }\n\
                export type Props = $ReadOnly<{| area: string, [string]: mixed |}>;\n";
    let wanted = [
        "2 function Sail",
        "3 function Mast",
        "4 class Boat",
        "4 field Boat.length",
        "4 method Boat.moor",
        "4 field Boat.proto",
        "5 type Props",
        "5 field Props.area",
    ];
    assert_eq!(symbols("sail.js", text), wanted);
}

/// Node 20.20.2: each is a function after running the text. Comparisons and calls assign nothing to the names before them.
#[test]
fn a_function_that_is_assigned_to_several_names_is_defined_for_each() {
    let text = "res.set =\nres.header = function header(field) { const local = 1; };\n\
                Boat.prototype.moor = Boat.prototype.dock = function () {};\nexports.reef = exports.furl = function () {};\n\
                module.exports = exports.only = function named() {};\na.x = b.y = c.d.z = (w) => 1;\n\
                var hoist = exports.hoist = async function () {};\nlet first = boat.second = one => 1;\n\
                function Sail() { this.set = this.put = function () {}; }\nexports.k = exports.l = 3;\n\
                boat.none = boat.nil = make(function () {});\nconst lift = () => boat.lower = function () {};\n";
    let wanted = [
        "1 function res.set",
        "2 function res.header",
        "3 method Boat.moor",
        "3 method Boat.dock",
        "4 function reef",
        "4 function furl",
        "5 function only",
        "6 function a.x",
        "6 function b.y",
        "6 function c.d.z",
        "7 function hoist",
        "7 function hoist",
        "8 function first",
        "8 function boat.second",
        "9 function Sail",
        "9 method Sail.set",
        "9 method Sail.put",
        "10 variable k",
        "10 variable l",
        "12 function lift",
        "12 function lift.boat.lower",
    ];
    assert_both(text, &wanted);
}

/// ECMAScript 2024, 15.7: declarations in a static block are its own.
#[test]
fn variables_of_a_static_block_are_local() {
    let text = "class Boat {\n  static {\n    const a = 1; let b = 2; var c = 3;\n  }\n  moor() {}\n}\n";
    assert_both(text, &["1 class Boat", "5 method Boat.moor"]);
}
