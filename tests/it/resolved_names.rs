//! Code in which names were once resolved wrongly or not at all, as it is written in real projects.

use serde_json::{Value, json};

use crate::support::harness::Repo;

fn definition(repo: &Repo, file: &str, line: u32, column: u32) -> Vec<String> {
    let answer = repo.call("goto_definition", &json!({ "file": file, "line": line, "column": column }));
    let shown = |one: &Value| format!("{}:{}", one["file"].as_str().unwrap(), one["line"]);
    answer["definitions"].as_array().unwrap().iter().map(shown).collect()
}

/// Names in the outline of a file, with those in them.
fn outline(repo: &Repo, file: &str) -> Vec<String> {
    fn shown(symbol: &Value) -> String {
        let name = symbol["name"].as_str().unwrap();
        let children: Vec<String> = symbol["children"].as_array().into_iter().flatten().map(shown).collect();
        if children.is_empty() { name.to_owned() } else { format!("{name}({})", children.join(" ")) }
    }
    let answer = repo.call("symbols", &json!({ "file": file }));
    answer["symbols"].as_array().unwrap().iter().map(shown).collect()
}

#[test]
fn the_declared_type_counts_and_not_the_one_that_builds_the_value() {
    let repo = Repo::new(
        "\
//- /Foo.java
package shop;
public class Foo {
    public void bar() {}
}
//- /FooBuilder.java
package shop;
public class FooBuilder {
    public FooBuilder bar() { return this; }
    public Foo create() { return new Foo(); }
}
//- /Main.java
package shop;
class Main {
    void run() {
        Foo foo = new FooBuilder().create();
        foo.bar();
        final java.util.List<Foo> all = java.util.List.of(foo);
        for (Foo one : all) { one.bar(); }
    }
}
",
    );
    assert_eq!(definition(&repo, "Main.java", 5, 13), ["Foo.java:3"]);
    assert_eq!(definition(&repo, "Main.java", 7, 35), ["Foo.java:3"]);
}

#[test]
fn methods_are_under_their_types_in_the_symbols_of_a_file() {
    let repo = Repo::new(
        "\
//- /cart.rs
pub struct Cart { items: u32 }
impl Cart {
    pub fn open() -> Self { Cart { items: 0 } }
}
impl Default for Cart {
    fn default() -> Self { Self::open() }
}
//- /cart.go
package shop

type Cart struct{}

func (c *Cart) Open() {}

func (c Cart) Close() {}
",
    );
    assert_eq!(outline(&repo, "cart.rs"), ["Cart(items open default)"]);
    assert_eq!(outline(&repo, "cart.go"), ["Cart(Open Close)"]);
}

/// Code like fmt's `format.h`: macros around namespaces, before types, and instead of keywords.
const FORMAT: &str = "\
//- /fmt/format.h
#ifndef FMT_FORMAT_H_
#define FMT_FORMAT_H_

FMT_BEGIN_NAMESPACE
namespace detail {

template <typename T> struct size_padding {
  unsigned size;
  FMT_CONSTEXPR size_padding(int num_digits, unsigned prefix, const T& specs)
      : size((prefix >> 24) + to_unsigned(num_digits)) {
    if (specs.align == align::numeric) {
      auto width = to_unsigned(specs.width);
      if (width > size) {
        size = width;
      }
    }
  }
};

template <typename Char> FMT_CONSTEXPR auto write_int(Char* out, int value) -> Char* {
  return out + value;
}

FMT_NORETURN FMT_API void throw_format_error(const char* message);

}  // namespace detail

FMT_BEGIN_EXPORT
class FMT_SO_VISIBILITY(\"default\") format_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  FMT_API ~format_error() noexcept override;
};

FMT_NODISCARD FMT_API auto vformat(string_view fmt, format_args args) -> std::string;

template <typename... T>
FMT_NODISCARD FMT_INLINE auto format(format_string<T...> fmt, T&&... args) -> std::string {
  return vformat(fmt, fmt::make_format_args(args...));
}
FMT_END_EXPORT
FMT_END_NAMESPACE

#endif
//- /test/format-test.cc
#include \"fmt/format.h\"

void test() {
  fmt::format(\"{}\", 1);
  fmt::vformat(\"{}\", {});
}
";

#[test]
fn functions_after_macros_are_not_in_the_type_before_them() {
    let repo = Repo::new(FORMAT);
    let found: Value = serde_json::from_str(&repo.ok(&["symbol", "write_int", "--json"])).unwrap();
    assert_eq!(found["symbols"][0]["container"], "detail", "{found}");
    assert_eq!(definition(&repo, "test/format-test.cc", 4, 8), ["fmt/format.h:38"]);
    assert_eq!(definition(&repo, "test/format-test.cc", 5, 8), ["fmt/format.h:35"]);
}
