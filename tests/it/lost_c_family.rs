//! Definitions of C, C++ and Objective-C that grammars lose, and where they belong, each with the answer of the language's own
//! parser. `lost_definitions` has those of all languages.

use ixmcp::extract::{self, Options};
use ixmcp::model::RepoPath;

/// The line, kind and name of each symbol, and its container.
pub(crate) fn contained(name: &str, text: &str) -> Vec<String> {
    let extracted = extract::extract(&RepoPath::new(name).unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let row = |symbol: &ixmcp::model::Symbol| {
        let container = symbol.container.as_ref().map(|container| format!(" in {container}")).unwrap_or_default();
        format!("{} {} {}{container}", symbol.line, symbol.kind, symbol.name)
    };
    extracted.symbols.iter().map(row).collect()
}

/// libclang 18.1.1, with `-std=c2x`. `later` and `foo` are functions, `inner` is local.
#[test]
fn c_variables_of_functions_and_arrays_are_defined() {
    let text = "int (*table[3])(int);\nchar *(*grid[2][3])(void);\nvoid (*(*choose)(int))(void);\nint (*row)[3], ***deep, cube[1][2][3];\n\
                struct port {\n    int (*table[3])(int);\n    int (*row)[3];\n    void (*(*choose)(int))(void);\n    int cube[1][2][3], ***deep;\n};\n\
                typedef int (*handlers[3])(int);\ntypedef int (*rows)[4];\ntypedef void *maker(int);\n\
                void (*later(int, void (*)(int)))(int);\nint (foo)(int);\nint moor(void) { int (*inner[3])(int); return 0; }\n";
    let wanted = [
        "1 variable table",
        "2 variable grid",
        "3 variable choose",
        "4 variable row",
        "4 variable deep",
        "4 variable cube",
        "5 struct port",
        "6 field table in port",
        "7 field row in port",
        "8 field choose in port",
        "9 field cube in port",
        "9 field deep in port",
        "11 type handlers",
        "12 type rows",
        "13 type maker",
        "14 function later",
        "15 function foo",
        "16 function moor",
    ];
    assert_eq!(contained("port.c", text), wanted);
}

/// libclang 18.1.1, with `-std=c2x`; as C++20, the last four lines.
#[test]
fn specifiers_with_arguments_hide_no_variable() {
    let text = "_Atomic(int) berth;\n_Atomic(int *) crane = 0;\n_Thread_local int first, second;\n_Alignas(16) int depth;\n\
                __attribute__((unused)) static int tide;\ntypeof(int) pier = 1;\n";
    let wanted = ["1 berth", "2 crane", "3 first", "3 second", "4 depth", "5 tide", "6 pier"];
    assert_eq!(contained("port.c", text), wanted.map(|row| row.replace(' ', " variable ")));
    let text = "alignas(16) int depth = 1;\ndecltype(1) tide = 2;\n";
    assert_eq!(contained("port.cpp", text), ["1 variable depth", "2 variable tide"]);
}

/// libclang 18.1.1: spaces after a macro are not its value.
#[test]
fn an_empty_macro_does_not_hide_the_next_line() {
    let text = "#ifndef PORT_H\n#define PORT_H \n\n#include <a.h>\n#define MOOR(ship) \t\nint f(void);\n#define TIDE \n#define LAST 1\n#define LONG \\\n  2\n\
                int g;\n#endif\n";
    let wanted = [
        "2 constant PORT_H",
        "5 macro MOOR",
        "6 function f",
        "7 constant TIDE",
        "8 constant LAST",
        "9 constant LONG",
        "11 variable g",
    ];
    assert_eq!(contained("port.h", text), wanted);
    assert_eq!(contained("port.cpp", text), wanted);
    let attribute = "#define OLD \\\n  [[deprecated]]\nint f(void);\nenum tide { EBB [[deprecated]], FLOW };\n";
    let wanted = ["1 constant OLD", "3 function f", "4 enum tide", "4 variant EBB in tide", "4 variant FLOW in tide"];
    assert_eq!(contained("tide.cpp", attribute), wanted);
}

/// libclang 18.1.1: fields are in the struct, and no pointer to it is in it.
#[test]
fn names_of_one_typedef_are_neighbours() {
    let text = "typedef struct { int area; } sail, *sails;\ntypedef struct { int depth; } *holds, hold;\ntypedef enum { EBB, FLOW } tide, *tides;\n";
    let wanted = [
        "1 struct sail",
        "1 field area in sail",
        "1 type sails",
        "2 struct hold",
        "2 field depth in hold",
        "2 type holds",
        "3 enum tide",
        "3 variant EBB in tide",
        "3 variant FLOW in tide",
        "3 type tides",
    ];
    for file in ["sail.c", "sail.cpp", "sail.m"] {
        assert_eq!(contained(file, text), wanted, "{file}");
    }
}

/// libclang 18.1.1, with `-DOLD(x)=`; as C, without the last line.
#[test]
fn enumerators_may_have_attributes() {
    let text = "enum tide { EBB __attribute__((deprecated)), FLOW OLD(\"x\") = 2, SLACK };\nenum wind {\n    CALM [[deprecated]],\n    \
                GALE [[deprecated(\"x\")]] = 3,\n    STORM OLD(1) OLD(ios(9.0, 13.0))\n};\n";
    let wanted = [
        "1 enum tide",
        "1 variant EBB in tide",
        "1 variant FLOW in tide",
        "1 variant SLACK in tide",
        "2 enum wind",
        "3 variant CALM in wind",
        "4 variant GALE in wind",
        "5 variant STORM in wind",
    ];
    for file in ["wind.c", "wind.cpp"] {
        assert_eq!(contained(file, text), wanted, "{file}");
    }
    let class = "class MOOR {\n    MOOR(int depth);\n    constexpr MOOR(const MOOR&) = default;\n};\nenum tide { EBB OLD(1), FLOW };\n";
    let wanted = [
        "1 class MOOR",
        "2 method MOOR in MOOR",
        "3 method MOOR in MOOR",
        "5 enum tide",
        "5 variant EBB in tide",
        "5 variant FLOW in tide",
    ];
    assert_eq!(contained("moor.cpp", class), wanted);
    let apple = "typedef NS_ENUM(NSInteger, Tide) {\n    TideEbb API_AVAILABLE(ios(10)) = 1,\n    TideFlow NS_SWIFT_NAME(flow),\n    \
                 TideSlack API_DEPRECATED(\"x\", ios(9.0, 13.0)) API_UNAVAILABLE(watchos),\n    TideNone\n};\n";
    let wanted = [
        "1 enum Tide",
        "2 variant TideEbb in Tide",
        "3 variant TideFlow in Tide",
        "4 variant TideSlack in Tide",
        "5 variant TideNone in Tide",
    ];
    assert_eq!(contained("Tide.m", apple), wanted);
}

/// libclang 18.1.1, with `-std=c++20`, behind declarations of `load` and `Port`. `near`, `far` and `local` are local.
#[test]
fn cpp_references_and_pointers_to_members_are_variables() {
    let text = "auto& [east, west] = load();\nauto&& [north, south] = load();\nconst auto& [up, down] = load();\nint (Port::*moor)(int) = &Port::dock;\n\
                int (Port::*sail)(int);\nvoid (&call)(int) = run;\nstruct Port {\n    int (&berths)[3];\n    int Port::*depth;\n    int Port::*tide = nullptr;\n\
                \x20   int dock(int);\n    char **names();\n};\nvoid run(int) { auto& [near, far] = load(); int Port::*local; }\n";
    let wanted = [
        "1 variable east",
        "1 variable west",
        "2 variable north",
        "2 variable south",
        "3 variable up",
        "3 variable down",
        "4 variable moor",
        "5 variable sail",
        "6 variable call",
        "7 struct Port",
        "8 field berths in Port",
        "9 field depth in Port",
        "10 field tide in Port",
        "11 method dock in Port",
        "12 method names in Port",
        "14 function run",
    ];
    assert_eq!(contained("port.cpp", text), wanted);
}

/// libclang 18.1.1, behind declarations of the classes: each is a conversion function.
#[test]
fn cpp_conversions_are_operators_of_their_class() {
    let text = "harbour::Port::operator int() { return 1; }\ninline Port::operator bool() const { return true; }\n\
                constexpr harbour::Port::operator long() const { return 1; }\ntemplate<class T> inline Box<T>::operator bool() const { return true; }\n\
                a::b::C::operator T() { return {}; }\ninline bool Port::open() { return true; }\n\
                void *operator new(size_t size);\n";
    let wanted = [
        "1 operator int in harbour::Port",
        "2 operator bool in Port",
        "3 operator long in harbour::Port",
        "4 operator bool in Box",
        "5 operator T in a::b::C",
        "6 method open in Port",
        "7 function operator new",
    ];
    assert_eq!(contained("port.cpp", text), wanted);
}

/// libclang 18.1.1, with `-std=c++20`. A specialization has the name of its template; `constinit` makes no constant.
#[test]
fn cpp_variable_templates_and_nested_inline_namespaces_are_defined() {
    let text = "template<class T> int depth = 1;\ntemplate<> int depth<int> = 3;\ntemplate<class T> constexpr bool is_port = false;\n\
                template<class T> constexpr bool is_port<T*> = true;\nconstinit int tide = 2;\nnamespace harbour::inline v2::berths { int count; }\n\
                namespace harbour::berths { int area; }\n";
    let wanted = [
        "1 variable depth",
        "2 variable depth",
        "3 constant is_port",
        "4 constant is_port",
        "5 variable tide",
        "6 namespace berths in harbour::v2",
        "6 variable count in harbour::v2::berths",
        "7 namespace harbour::berths",
        "7 variable area in harbour::berths",
    ];
    assert_eq!(contained("port.cpp", text), wanted);
}

/// libclang 18.1.1, with the macros of Qt 6 defined as in `qtmetamacros.h` and `qobjectdefs.h`.
#[test]
fn macros_of_qt_define_nothing_and_hide_nothing() {
    let text = "class Port : public QObject {\n    Q_OBJECT\n    Q_PROPERTY(int depth READ depth WRITE setDepth NOTIFY deepened)\n    Q_PROPERTY(\n\
                \x20       QString name MEMBER name_)\npublic:\n    enum Tide { Ebb, Flow };\n    Q_ENUM(Tide)\n    explicit Port(QObject *parent = nullptr);\n\
                \x20   Q_INVOKABLE void moor();\npublic slots:\n    void setDepth(int depth);\nsignals:\n    void deepened(int depth);\nprivate:\n\
                \x20   QString name_;\n    Q_DISABLE_COPY(Port)\n};\nclass Quay : public QObject {\n    Q_OBJECT\npublic:\n    Quay();\n    int length();\n};\n\
                class Pier : public QObject { Q_OBJECT public: Pier(); signals: void moved(); };\nint tide;\n";
    let wanted = [
        "1 class Port",
        "7 enum Tide in Port",
        "7 variant Ebb in Port::Tide",
        "7 variant Flow in Port::Tide",
        "9 method Port in Port",
        "10 method moor in Port",
        "12 method setDepth in Port",
        "14 method deepened in Port",
        "16 field name_ in Port",
        "19 class Quay",
        "22 method Quay in Quay",
        "23 method length in Quay",
        "25 class Pier",
        "25 method Pier in Pier",
        "25 method moved in Pier",
        "26 variable tide",
    ];
    assert_eq!(contained("port.hpp", text), wanted);
    let quay = "class Quay : public QObject {\n    Q_OBJECT\npublic:\n    Quay();\n    int length();\n};\n";
    assert_eq!(contained("quay.hpp", quay), ["1 class Quay", "4 method Quay in Quay", "5 method length in Quay"]);
}

/// libclang 18.1.1, with `-fblocks`. A method without a type returns `id`.
#[test]
fn objective_c_methods_need_no_type() {
    let text = "@interface Port : NSObject\n- foo;\n- moor:(int)depth at:(int)berth;\n+ make;\n- (void)sail;\n@end\n@interface Port ()\n@property int tide;\n@end\n\
                @implementation Port\n- foo { return nil; }\n- moor:(int)depth at:(int)berth { return nil; }\n+ make { return nil; }\n- (void)sail { }\n@end\n\
                @protocol Docks\n- dock;\n@end\n";
    let wanted = [
        "1 class Port",
        "2 method foo in Port",
        "3 method moor in Port",
        "4 method make in Port",
        "5 method sail in Port",
        "7 extension Port",
        "8 property tide in Port",
        "10 implementation Port",
        "11 method foo in Port",
        "12 method moor in Port",
        "13 method make in Port",
        "14 method sail in Port",
        "16 protocol Docks",
        "17 method dock in Docks",
    ];
    assert_eq!(contained("Port.m", text), wanted);
}

/// libclang 18.1.1, with `-fblocks`. `inner` and `local` are local.
#[test]
fn objective_c_has_the_declarations_of_c() {
    let text = "#import <Foundation/Foundation.h>\nint (*table[3])(int);\nvoid (^moored)(int) = ^(int depth) { int inner; };\nstatic void (^sailed)(void);\n\
                typedef enum : NSUInteger { Ebb, Flow } Tide;\ntypedef struct { int (*dock)(int); } Port;\ntypedef void (^Handler)(int);\n\
                void run(int depth) { void (^local)(void) = ^{}; }\n@implementation Quay { int _length; }\nstatic int count;\n- (void)sail { static int once; }\n@end\n";
    let wanted = [
        "2 variable table",
        "3 variable moored",
        "4 variable sailed",
        "5 enum Tide",
        "5 variant Ebb in Tide",
        "5 variant Flow in Tide",
        "6 struct Port",
        "6 field dock in Port",
        "7 type Handler",
        "8 function run",
        "9 implementation Quay",
        "9 field _length in Quay",
        "10 variable count in Quay",
        "11 method sail in Quay",
    ];
    assert_eq!(contained("Quay.m", text), wanted);
}

/// libclang 18.1.1, with the macros of `NSObjCRuntime.h` defined as nothing.
#[test]
fn macros_of_apple_after_a_type_are_not_its_name() {
    let text = "#import <Foundation/Foundation.h>\ntypedef NSString *TideName NS_TYPED_ENUM;\n\
                typedef float TidePriority NS_TYPED_EXTENSIBLE_ENUM NS_SWIFT_NAME(Tide.Priority);\ntypedef struct tide NS_TIDE;\ntypedef NSString *Plain;\n";
    assert_eq!(contained("Tide.m", text), ["2 type TideName", "3 type TidePriority", "4 type NS_TIDE", "5 type Plain"]);
}

/// libclang 18.1.1, with the macros defined as nothing: each is a function, and none has a macro's name.
#[test]
fn macros_after_the_parameters_hide_no_function() {
    let text = "extern int moor(const char *a, int b) __THROW;\nint sail(int a) __must_check;\nextern int dock(char *p) __THROW __nonnull ((1));\n\
                struct berth { int depth; };\nextern int haul(char *p) __THROW __nonnull ((1)) __wur;\ntypedef struct { int area; } pier;\n\
                NORETURN void die(const char *f, ...) __attribute__((format(printf, 1, 2)));\nAPI int row(void);\n\
                int error(const char *f, ...) __attribute__((format(printf, 1, 2)));\nint lock(void) __acquires(quay);\n\
                static void stop(struct seq *m, void *p) __releases(RCU)\n{\n    int local;\n}\n\
                EXPORT(void) __poison(void const *at,\n    int size);\ntypedef clock_t __attribute__ ((__aligned__ (4))) __tick_t;\n";
    let wanted = [
        "1 function moor",
        "2 function sail",
        "3 function dock",
        "4 struct berth",
        "4 field depth in berth",
        "5 function haul",
        "6 struct pier",
        "6 field area in pier",
        "7 function die",
        "8 function row",
        "9 function error",
        "10 function lock",
        "11 function stop",
        "15 function __poison",
        "17 type __tick_t",
    ];
    assert_eq!(contained("port.c", text), wanted);
}

/// libclang 18.1.1: each is a typedef.
#[test]
fn names_of_the_standard_may_be_defined() {
    let text = "typedef unsigned char uint8_t;\ntypedef unsigned long size_t;\ntypedef int bool;\n";
    for file in ["port.c", "port.cpp"] {
        assert_eq!(contained(file, text), ["1 type uint8_t", "2 type size_t", "3 type bool"], "{file}");
    }
}

/// libclang 18.1.1, with the macros defined as nothing, and `DEFINE_PER_CPU(t, n)` as `t n`.
#[test]
fn macros_around_the_name_of_a_variable_do_not_hide_it() {
    let text = "static int __maybe_unused tide;\nstatic int __read_mostly depth = 1;\nstatic unsigned long area __read_mostly;\n\
                static int berth __initdata = 3;\nstatic char quay[4] __aligned(8);\nint MY_ATTR pier;\nextern int __daylight;\nextern char **__environ;\n\
                struct __port __dock, *crane;\nchar *const NAME = \"x\";\nint __must_check __moor(struct port *port);\nstatic DEFINE_PER_CPU(int, level);\n\
                struct sail { u8 data[] __counted_by(a); };\n";
    let wanted = [
        "1 variable tide",
        "2 variable depth",
        "3 variable area",
        "4 variable berth",
        "5 variable quay",
        "6 variable pier",
        "7 variable __daylight",
        "8 variable __environ",
        "9 variable __dock",
        "9 variable crane",
        "10 variable NAME",
        "11 function __moor",
        "12 variable level",
        "13 struct sail",
        "13 field data in sail",
    ];
    assert_eq!(contained("port.c", text), wanted);
}

/// libclang 18.1.1, with the macros defined as nothing.
#[test]
fn macros_after_a_struct_define_nothing() {
    let text = "struct port { int x; } __attribute__((packed)) __aligned(4);\nstruct dock { int y; } __aligned(SIZE);\n\
                typedef struct { int z; } __quay_t __attribute__ ((__aligned__));\n";
    let wanted = [
        "1 struct port",
        "1 field x in port",
        "2 struct dock",
        "2 field y in dock",
        "3 struct __quay_t",
        "3 field z in __quay_t",
    ];
    assert_eq!(contained("port.c", text), wanted);
}

/// libclang 18.1.1, with `-std=c2x`.
#[test]
fn directives_in_an_enumeration_hide_no_enumerator() {
    let text = "enum tide { EBB,\n#define EBB EBB\n FLOW\n#define FLOW FLOW\n};\nenum : unsigned char { SLACK };\n";
    let wanted = ["1 enum tide", "1 variant EBB in tide", "3 variant FLOW in tide", "6 variant SLACK"];
    assert_eq!(contained("tide.c", text), wanted);
}

/// libclang 18.1.1, with the macros defined as their attributes or as nothing.
#[test]
fn macros_around_members_hide_no_method() {
    let text = "struct Port {\n    bool full() const _LIB_NOEXCEPT { return true; }\n    iterator begin() _LIB_NOEXCEPT\n    { return 1; }\n\
                \x20   _LIB20_CONSTEXPR\n    ~Port() _LIB_NOEXCEPT { }\n    void run() OVERRIDE;\n    void stop() _NOEXCEPT;\n    CONSTEXPR\n\
                \x20   typename add<int>::type\n    operator*() const;\n    _LIB20_CONSTEXPR\n    explicit\n    Port(int a) : b(a) { }\n    Self&\n\
                \x20   operator++() _LIB_NOEXCEPT\n    {\n        while (a) __b = a;\n        return *this;\n    }\n};\nvoid moor() NOEXCEPT;\nvoid sail() NOEXCEPT { int x; }\n\
                template <class T> void swap(T&, T&)\n    _LIB_NOEXCEPT_IF(a && b)\n{ }\n";
    let wanted = [
        "1 struct Port",
        "2 method full in Port",
        "3 method begin in Port",
        "6 method ~Port in Port",
        "7 method run in Port",
        "8 method stop in Port",
        "11 method operator* in Port",
        "14 method Port in Port",
        "16 method operator++ in Port",
        "22 function moor",
        "23 function sail",
        "24 function swap",
    ];
    assert_eq!(contained("port.cpp", text), wanted);
}

/// libclang 18.1.1, with the macros defined as nothing. A comment may name an interval that is open on one side.
#[test]
fn brackets_in_comments_leave_no_branch_out() {
    let text = "#if ! NEW_PORT\n# include \"old.h\"\n#else\nclass Port {\n  /** From [first, last). */\n#if NEW\n  template<typename T>\n#endif\n\
                \x20 _LIB_CONSTEXPR\n  Port(int depth) : depth_(depth) { }\n  int depth_;\n};\n#endif\n";
    let wanted = ["4 class Port", "10 method Port in Port", "11 field depth_ in Port"];
    assert_eq!(contained("port.hpp", text), wanted);
}

/// libclang 18.1.1, with the macros defined as nothing: the function and the constructor, of which no macro is the type.
#[test]
fn several_macros_before_a_constructor_of_cpp_are_not_its_type() {
    let text = "LIB_BEGIN_NAMESPACE\ntemplate <typename... T> LIB_CONSTEXPR void ignore(const T&...) {}\nstruct view {\n  LIB_CONSTEXPR_TRAITS\n\
                \x20 LIB_INLINE\n  view(const char* s) : data_(s) {}\n  const char* data_;\n};\nLIB_END_NAMESPACE\n";
    let wanted = ["2 function ignore", "3 struct view", "6 method view in view", "7 field data_ in view"];
    assert_eq!(contained("view.hpp", text), wanted);
}
