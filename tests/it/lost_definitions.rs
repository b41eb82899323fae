//! Definitions that grammars lose in valid files, and names that define nothing, each with the answer of the language's own
//! parser, by the scripts of `tests/authorities`. `.ci/soak symbols` compares whole packages.

use expect_test::expect;
use ixmcp::extract::{self, Options};
use ixmcp::model::RepoPath;

/// The line, kind and name of each symbol.
fn symbols(name: &str, text: &str) -> Vec<String> {
    let extracted = extract::extract(&RepoPath::new(name).unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let row = |symbol: &ixmcp::model::Symbol| format!("{} {} {}", symbol.line, symbol.kind, symbol.name);
    extracted.symbols.iter().map(row).collect()
}

/// kotlin-compiler 2.4.20: the class, its property, and its method.
#[test]
fn a_kotlin_constructor_with_an_annotation_and_a_modifier_may_have_its_own_line() {
    let text = "package a\n\nclass Sail\n@VisibleForTesting\ninternal constructor(\n    @get:JvmName(\"area\") internal val area: Int,\n\
                \x20   name: String,\n) : Canvas(name) {\n    fun hoist() = area\n}\n";
    assert_eq!(symbols("Sail.kt", text), ["1 package a", "3 class Sail", "6 property area", "9 method hoist"]);
}

/// libclang 18.1.1, with `-DLIB_API=`: the macro, the class and its method. This file does not contain what the macro makes.
#[test]
fn the_text_of_a_macro_defines_nothing_but_the_macro() {
    let text = "#define FORMAT_AS(Type, Base) \\\n  template <typename Char> \\\n  struct formatter<Type, Char> : formatter<Base, Char> { \\\n\
                \x20   int parsed; \\\n  }\n\nclass LIB_API Pilot final : public Base { void steer(); };\n";
    assert_eq!(symbols("format.hpp", text), ["1 macro FORMAT_AS", "7 class Pilot", "7 method steer"]);
}

/// libclang 18.1.1, with `-DLIB_CONSTEXPR=constexpr -DLIB_EXPORT=`: one constructor, its fields, and two functions.
#[test]
fn macros_before_cpp_declarations_hide_no_definition() {
    let text = "struct rgb {\n  LIB_CONSTEXPR rgb(unsigned hex) : r((hex >> 16) & 0xFF), g((hex >> 8) & 0xFF) {}\n  unsigned char r;\n\
                \x20 unsigned char g;\n};\n\nLIB_EXPORT template <typename T>\nT first(T value) { return value; }\n\n\
                LIB_EXPORT LIB_CONSTEXPR inline int last() { return 1; }\n";
    let found = symbols("rgb.hpp", text);
    let wanted = ["1 struct rgb", "2 method rgb", "3 field r", "4 field g", "8 function first", "10 function last"];
    assert_eq!(found, wanted);
}

/// libclang 18.1.1, with the macros defined as nothing or as `noexcept`.
#[test]
fn macros_around_cpp_functions_and_classes_hide_no_definition() {
    let text = "LIB_BEGIN_NAMESPACE\nLIB_EXPORT_BEGIN\n\ntemplate <bool B> using pick = typename choose<B>::type;\nclass LIB_API\n\
                \x20   gauge\n{\npublic:\n    gauge() = default;\n    ~gauge();\n    int depth_;\n};\n\nLIB_INLINE gauge::gauge(int depth)\n\
                \x20   : depth_(depth)\n{}\n\nLIB_INLINE gauge::gauge(gauge &&other) LIB_NOEXCEPT : depth_{other.depth_}\n{}\n\n\
                LIB_INLINE gauge::~gauge() = default;\n\nLIB_INLINE std::tm local(const std::time_t &now) LIB_NOEXCEPT\n{\n}\n\n\
                LIB_API std::tm global(const std::time_t &now) LIB_NOEXCEPT;\n\n\
                LIB_INLINE gauge &gauge::operator=(gauge &&other) LIB_NOEXCEPT\n{\n}\n\n\
                template<typename M>\nLIB_INLINE sink<M>::sink(FILE *file)\n    : file_(file)\n{}\n";
    let found = symbols("gauge.hpp", text);
    let wanted = [
        "4 type pick",
        "6 class gauge",
        "9 method gauge",
        "10 method ~gauge",
        "11 field depth_",
        "14 method gauge",
        "18 method gauge",
        "21 method ~gauge",
        "23 function local",
        "27 function global",
        "29 method operator=",
        "34 method sink",
    ];
    assert_eq!(found, wanted);
}

/// libclang 18.1.1: a specialization has the name of its template.
#[test]
fn specializations_of_functions_are_functions() {
    let text = "template <> inline void put<wchar_t>(const wchar_t* text) {}\ntemplate <> constexpr auto bits<int>() -> int { return 32; }\n\
                template <> int* find<int>(int n);\ntemplate <> void Box::fill<char>(int n) {}\n";
    assert_eq!(symbols("box.hpp", text), ["1 function put", "2 function bits", "3 function find", "4 method fill"]);
}

/// typescript 5.9.3. The template of the last line ends in a backslash.
#[test]
fn escapes_in_the_type_of_a_template_hide_no_definition() {
    let text = "type Missing<U extends string> = `Missing \\`Self\\`: use \\`${U}\\` for \\${U}`;\ninterface Box { fill(): void; }\n\
                const path = `C:\\\\`;\ninterface Lid { lift(): void; }\n";
    let found = symbols("box.ts", text);
    assert_eq!(
        found,
        ["1 type Missing", "2 interface Box", "2 method fill", "3 constant path", "4 interface Lid", "4 method lift"]
    );
}

/// typescript 5.9.3: every bound name is a declaration; a parameter in a default value is not.
#[test]
fn names_bound_deep_in_a_pattern_are_defined() {
    let text = "export const { a, b: { c: first, d, e = 1 }, ...rest } = load();\nexport let [{ f }, [g], h = ({ inner }) => inner] = load();\n\
                export const { i: [j, { k }], l: { m } = {} } = load();\nvar { n: { o: { p = 2 } }, q = 3 } = load();\n";
    let wanted = [
        "1 constant a",
        "1 constant first",
        "1 constant d",
        "1 constant e",
        "1 constant rest",
        "2 variable f",
        "2 variable g",
        "2 variable h",
        "3 constant j",
        "3 constant k",
        "3 constant m",
        "4 variable q",
    ];
    for file in ["bound.ts", "bound.js"] {
        let found = symbols(file, text);
        let missing: Vec<&&str> = wanted.iter().filter(|wanted| !found.contains(&(**wanted).to_owned())).collect();
        assert!(
            missing.is_empty() && !found.iter().any(|one| one.ends_with(" inner")),
            "{file}: {missing:?} of {found:?}"
        );
    }
}

/// Scala 3 reference, Value Declarations; The Swift Programming Language, Tuple Pattern; C++17 [dcl.struct.bind]: each name is declared.
#[test]
fn several_names_of_one_declaration_are_defined() {
    let scala = "object Port {\n  val (berth, depth) = (1, 2)\n  val east, west = 1\n}\nval Some(tide) = load()\n";
    let wanted = ["1 object Port", "2 field berth", "2 field depth", "3 field east", "3 field west", "5 variable tide"];
    assert_eq!(symbols("Port.scala", scala), wanted);
    let swift = symbols("Port.swift", "let (berth, depth) = (1, 2)\n");
    assert_eq!(swift, ["1 variable berth", "1 variable depth"]);
    let cpp = "auto [berth, depth] = load();\nint moor() {\n  auto [inner, other] = load();\n  return inner;\n}\n";
    assert_eq!(symbols("port.cpp", cpp), ["1 variable berth", "1 variable depth", "2 function moor"]);
}

/// Haskell 2010 report, 4.2.1 and 8.3; GHC's data families; Prism's `MultiWriteNode` of two `ConstantTargetNode`s.
#[test]
fn constructors_as_operators_imports_and_constants_at_once_are_defined() {
    let haskell = "module Port where\n\ndata Rope a = a :+: a | Knot\n\ndata family Hull a\n\nforeign import ccall \"moor\" moor :: Int\n";
    let wanted = ["3 type Rope", "3 variant :+:", "3 variant Knot", "5 type Hull", "7 function moor"];
    assert_eq!(symbols("Port.hs", haskell), wanted);
    assert_eq!(symbols("port.rb", "EAST, WEST = 1, 2\n"), ["1 constant EAST", "1 constant WEST"]);
}

/// The manuals of OCaml 5.3 (Patterns; Class types) and Julia 1.11 (`Base.Enums.@enum`; Destructuring Assignment).
#[test]
fn members_of_enums_and_names_of_tuples_are_defined() {
    let ocaml = "let (east, west) = (1, 2)\nclass type port = object method moor : int end\n";
    assert_eq!(symbols("port.ml", ocaml), ["1 variable east", "1 variable west", "2 class port", "2 method moor"]);
    let julia = "@enum Tide slack=1 ebb flow=2\n@enum Wind begin\n    calm\n    gale = 9\nend\neast, west = 1, 2\n";
    expect![[r#"
        1 enum Tide
        1 variant slack
        1 variant ebb
        1 variant flow
        2 enum Wind
        3 variant calm
        4 variant gale
        6 variable east
        6 variable west"#]]
    .assert_eq(&symbols("port.jl", julia).join("\n"));
}

/// typescript 5.9.3: `file`, `lock`, `open` with its local `inner`, and `after`.
#[test]
fn resources_are_defined() {
    let text = "using file = open();\nawait using lock = take();\nfunction open() {\n    using inner = take();\n}\nconst after = 1;\n";
    for name in ["resource.ts", "resource.js"] {
        let wanted = ["1 constant file", "2 constant lock", "3 function open", "6 constant after"];
        assert_eq!(symbols(name, text), wanted, "{name}");
    }
}

/// libpg-query 18.1.5: `average` and `top`.
#[test]
fn aggregates_are_functions() {
    let text = "CREATE AGGREGATE average(int) (SFUNC = add, STYPE = int);\n\n\
                CREATE OR REPLACE AGGREGATE s.top(text)  (\n    SFUNC = larger,\n    STYPE = text\n);\n";
    assert_eq!(symbols("aggregates.sql", text), ["1 function average", "3 function top"]);
}

/// libpg-query 18.1.5: a schema, a table with two columns, and an index. Neither `harbour`, `ON`, `boats` nor `EXCLUDE` is defined.
#[test]
fn options_of_sql_statements_define_nothing() {
    let text = "CREATE SCHEMA fleet AUTHORIZATION harbour;\n\nCREATE TABLE berths (\n    id int,\n    during tsrange,\n\
                \x20   EXCLUDE USING gist (during WITH &&)\n);\n\nCREATE INDEX ON berths USING gist (during range_ops(siglen = 2));\n\n\
                CREATE INDEX by_id ON berths (id);\n\nCREATE OPERATOR CLASS boat_ops\n    DEFAULT FOR TYPE boats USING gist AS\n\
                \x20   FUNCTION 1 boat_consistent(internal, boats);\n";
    let wanted = ["1 namespace fleet", "3 table berths", "4 field id", "5 field during", "11 index by_id"];
    assert_eq!(symbols("options.sql", text), wanted);
}

/// kotlin-compiler 2.4.20: two functions. The grammar takes each for an expression, without an error.
#[test]
fn annotated_kotlin_functions_need_no_class_in_their_file() {
    let text = "package a\n\n@Preview\n@Composable\nprivate fun NoSails() {\n    Theme {\n        Sails(emptyList())\n    }\n}\n\n\
                @Preview\n@Composable\nprivate fun ManySails() {\n    Theme { Sails(many) }\n}\n";
    assert_eq!(symbols("Sails.kt", text), ["1 package a", "5 function NoSails", "13 function ManySails"]);
}

/// kotlin-compiler 2.4.20: a class with its method and property, and two functions. `Preference` and `Flow` are types of receivers.
#[test]
fn kotlin_calls_of_set_and_get_are_no_accessors() {
    let text = "class Model {\n    fun toggle(item: Item) {\n        update {\n            val first = none { it.selected }\n\
                \x20           set(item.index, item.copy(selected = first))\n            ids.add(item.id)\n\n            if (first) {\n\
                \x20               positions[0] = item.index\n            } else if (last) {\n                positions[1] = indexOfLast { it.selected }\n\
                \x20           }\n        }\n    }\n\n    private val limit = 3\n}\n\n\
                operator fun <T> Preference<Set<T>>.plusAssign(item: T) {}\n\nfun Flow<(Int) -> Unit>.run() {}\n";
    let wanted = ["1 class Model", "2 method toggle", "16 property limit", "19 function plusAssign", "21 function run"];
    assert_eq!(symbols("Model.kt", text), wanted);
}

/// libpg-query 18.1.5: a table with three columns, and a column that is added.
#[test]
fn quoted_sql_columns_are_columns() {
    let text = "CREATE TABLE \"sails\" (\n    \"id\" SERIAL NOT NULL,\n    \"made at\" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,\n\
                \x20   \"area\" INTEGER,\n    CONSTRAINT \"sails_pkey\" PRIMARY KEY (\"id\")\n);\nALTER TABLE \"sails\" ADD COLUMN \"colour\" TEXT;\n";
    assert_eq!(
        symbols("sails.sql", text),
        ["1 table sails", "2 field id", "3 field made at", "4 field area", "7 field colour"]
    );
}

/// Prism 1.9.0: a module, a class, two methods and a constant. It has the other names of methods as arguments of calls.
#[test]
fn ruby_names_may_begin_at_the_top_and_be_operators() {
    let text = "module ::Kernel\n  def raise_sail; end\nend\n\nclass ::Harbour::Sail\n  def add(other) = nil\n  alias_method :+, :add\n\
                \x20 alias_method :[]=, :add\nend\n\n::LIMIT = 3\n";
    let wanted = [
        "1 module Kernel",
        "2 method raise_sail",
        "5 class Sail",
        "6 method add",
        "7 method +",
        "8 method []=",
        "11 constant LIMIT",
    ];
    assert_eq!(symbols("sails.rb", text), wanted);
}

/// typescript 5.9.3: two interfaces, of which one has one field and the other four.
#[test]
fn typescript_signatures_may_follow_comments_and_fields_be_named_as_operators() {
    let text = "interface Sails {\n  // of a harbour\n  <T extends Sail>(harbour: T): T\n  <T extends Sail>(harbour: T, all: boolean): T\n\
                \x20 name: 'main'\n  /** by name */\n  <K extends keyof T>(name: K): T\n}\n\ninterface Filter {\n  first?: number\n  in2?: number\n\
                \x20 in?: string\n  last?: number\n}\n";
    let wanted = [
        "1 interface Sails",
        "5 field name",
        "10 interface Filter",
        "11 field first",
        "12 field in2",
        "13 field in",
        "14 field last",
    ];
    assert_eq!(symbols("sails.ts", text), wanted);
}

/// libclang 18.1.1, with the macros of the text. The grammar reads most of these lines without an error, as something else.
#[test]
fn macros_around_c_declarations_hide_no_definition() {
    let text = "#define LIB_API __attribute__((visibility(\"default\")))\n#define LIB_CALL\n#define OF(args) args\n\
                #define LIB_ATTR __attribute__((unused))\n#define printflike(a, b) __attribute__((format(printf, a, b)))\n\
                #define EMPTY(name, type) \\\n  struct name { \\\n    struct type *first; /* the first */ \\\n  }\n\
                #define LIMIT (7 /* seven */)\ntypedef struct sail sail;\n\n\
                LIB_API void (raise_sail) (sail *s, const char *name);\nLIB_API const char * (*name_of)(const sail *s) LIB_ATTR;\n\
                LIB_API sail *first_sail(void) LIB_ATTR;\nLIB_API int LIB_CALL count_sails OF((const sail *s,\n\
                \x20                                    int all));\nstatic void lower OF((sail *s));\nextern char **(*lines_of)(void);\n\
                static char **names_of[2];\nvoid printflike(1, 2) report(const char *, ...);\n\
                void report_all(int code, const char *fmt, ...) LIB_ATTR;\ntypedef void (visitor)(sail *s);\n\
                struct rope { char **ends[2]; char **(*split)(void); };\nstatic sail *(*maker)(void) = 0;\n\
                typedef int (LIB_CALL *callback) OF((int a));\n";
    let wanted = [
        "1 constant LIB_API",
        "2 constant LIB_CALL",
        "3 macro OF",
        "4 constant LIB_ATTR",
        "5 macro printflike",
        "6 macro EMPTY",
        "10 constant LIMIT",
        "11 type sail",
        "13 function raise_sail",
        "14 variable name_of",
        "15 function first_sail",
        "16 function count_sails",
        "18 function lower",
        "19 variable lines_of",
        "20 variable names_of",
        "21 function report",
        "22 function report_all",
        "23 type visitor",
        "24 struct rope",
        "24 field ends",
        "24 field split",
        "25 variable maker",
        "26 type callback",
    ];
    let found = symbols("sails.h", text);
    assert_eq!(found, wanted);
}

/// libclang 18.1.1: a function, and two macros in it. Neither `if` nor the type that it returns is defined here.
#[test]
fn c_functions_contain_macros_and_no_functions() {
    let text = "static struct rope\ntie(int strands)\n{\n#define STRANDS 4\n#define TIE(x) x\n\tstruct rope made = {0};\n#ifdef FAST\n\
                \tif (strands > 2)\n\t{\n#else\n\tif (strands == STRANDS) {\n#endif\n\t\tstrands = TIE(1);\n\t}\n#ifdef KNOTS\n\
                \tif (strands > 3)\n\t\tstrands = 3;\n\telse\n#endif\n\tif (strands < 0) strands = 0;\n\treturn made;\n}\n";
    assert_eq!(symbols("rope.c", text), ["2 function tie", "4 constant STRANDS", "5 macro TIE"]);
}

/// libclang 18.1.1, with `-include` of what the text names: two types, a class with its members, and what is implemented. The
/// protocol is only declared.
#[test]
fn blocks_of_objective_c_are_named_in_their_declarators() {
    let text = "NS_ASSUME_NONNULL_BEGIN\n\n@protocol Harbour;\n@class Rope;\n\ntypedef void (^SailHandler)(Rope *rope);\n\
                typedef NSString *(^NameOf)(Rope *rope);\n\n@interface Sail : NSObject <Harbour>\n\
                @property (nonatomic, copy) void (^handler)(int count);\n@property (nonatomic, copy) NSString * (^name)(int count);\n\
                - (void)raise:(int)a with:(Rope *)b;\n@end\n\n@implementation Sail {\n  void (^_setter)(int);\n  Rope *_list[3];\n}\n\
                - (void)raise:(int)a with:(Rope *)b {\n}\n@end\n\nNS_ASSUME_NONNULL_END\n";
    let wanted = [
        "6 type SailHandler",
        "7 type NameOf",
        "9 class Sail",
        "10 property handler",
        "11 property name",
        "12 method raise",
        "15 implementation Sail",
        "16 field _setter",
        "17 field _list",
        "19 method raise",
    ];
    assert_eq!(symbols("Sail.m", text), wanted);
}

/// libclang 18.1.1, with the macros defined as nothing: classes, their members, variables, and a function.
#[test]
fn macros_after_cpp_members_hide_no_definition() {
    let text = "class Harbour {\n  void Moor() LOCK_FUNCTION() { open_ = false; }\n  bool open_ GUARDED_BY(mutex_);\n\
                \x20 std::deque<Sail*> sails_ GUARDED_BY(mutex_);\n  int count_ = 0;\n};\n\n\
                template <typename Key>\nstruct List<Key>::Node {\n  Key key;\n};\n\n\
                const double Harbour::kDepths[2] = {1, 2};\nconst char* Harbour::kName = \"north\";\n\
                extern LIB_EXPORT harbour_t*\nharbour_open(const char* name);\n";
    let wanted = [
        "1 class Harbour",
        "2 method Moor",
        "3 field open_",
        "4 field sails_",
        "5 field count_",
        "9 struct Node",
        "10 field key",
        "13 field kDepths",
        "14 field kName",
        "16 function harbour_open",
    ];
    assert_eq!(symbols("harbour.cpp", text), wanted);
}

/// libclang 18.1.1, with `HARBOUR_PRIVATE=private`, `signals=public`, `PORT_NAMES={"a"}` and the other macros defined as nothing.
#[test]
fn access_macros_and_members_outside_their_class_hide_no_definition() {
    let text = "class Dock : public Base {\n\
                \x20 HARBOUR_PRIVATE:\n\
                \x20   // The first one.\n\
                \x20   int depth;\n\
                \x20 public slots:\n\
                \x20   void moor();\n\
                \x20 signals: // sent by moor\n\
                \x20   void moored(int depth);\n\
                \x20 private HARBOUR_SLOTS:\n\
                \x20   void leave();\n\
                \x20 public:\n\
                \x20   static int count;\n\
                \x20   static Dock* first;\n\
                };\n\
                static text_t names[] PORT_NAMES;\n\
                LIB_API std::shared_ptr<Dock> open(const std::string& name);\n\
                int Dock::count;\n\
                Dock* Dock::first = nullptr;\n\
                const Dock& home = open(\"a\");\n\
                extern Dock& other;\n\
                template <typename T>\n\
                const int port::Dock::Part<T>::size = 3;\n\
                int Dock::*part = nullptr;\n\
                void sail() { const Dock& local = home; }\n";
    let wanted = [
        "1 class Dock",
        "4 field depth",
        "6 method moor",
        "8 method moored",
        "10 method leave",
        "12 field count",
        "13 field first",
        "15 variable names",
        "16 function open",
        "17 field count",
        "18 field first",
        "19 variable home",
        "20 variable other",
        "22 field size",
        "23 variable part",
        "24 function sail",
    ];
    assert_eq!(symbols("dock.hpp", text), wanted);
}

/// typescript 5.9.3, `isParameterPropertyDeclaration`.
#[test]
fn a_parameter_with_any_modifier_is_a_property_of_typescript() {
    let text = "class Hull extends Base {\n  constructor(\n    readonly bow: number,\n    override stern = 1,\n\
                \x20   private readonly keel?: X,\n    override readonly mast: X,\n    @Inject() readonly sail: X,\n    plain: number,\n\
                \x20 ) {\n    super();\n  }\n}\n";
    let fields: Vec<String> = symbols("hull.ts", text).into_iter().filter(|one| one.contains("field")).collect();
    assert_eq!(fields, ["3 field bow", "4 field stern", "5 field keel", "6 field mast", "7 field sail"]);
}

/// libclang 18.1.1: the semantic parent of each cursor.
#[test]
fn a_type_that_is_declared_with_a_pointer_contains_its_fields_alone() {
    let text = "typedef struct _point { long x; } point, *point_ptr;\nstruct list { int n; } *head;\n\
                static struct cfg { int v; } table[3], *current;\nunion word { int w; } *words[2], *first = 0;\n\
                typedef struct { int q; } *hidden_ptr;\n";
    let extracted = extract::extract(&RepoPath::new("types.c").unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let row = |symbol: &ixmcp::model::Symbol| {
        format!("{} {} {}", symbol.kind, symbol.container.as_deref().unwrap_or_default(), symbol.name)
    };
    let mut found: Vec<String> = extracted.symbols.iter().map(row).collect();
    found.sort();
    let expected = [
        "field _point x",
        "field cfg v",
        "field list n",
        "field word w",
        "struct  _point",
        "struct  cfg",
        "struct  list",
        "type  hidden_ptr",
        "type  point",
        "type  point_ptr",
        "union  word",
        "variable  current",
        "variable  first",
        "variable  head",
        "variable  table",
        "variable  words",
    ];
    found.retain(|one| !one.ends_with(" q"));
    assert_eq!(found, expected);
}
