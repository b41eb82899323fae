//! The type that one line of code states for a variable.
//!
//! Owns the few spellings that need no inference: an annotation, a construction, a declaration. A wrong guess costs
//! nothing: the type must then have the member that is asked for.

/// The type that `line` gives `variable`: `x: T`, `x = T(…)`, `T x`, `x *T`, `x := &T{…}`. With its qualifiers, as written: `a.T`.
pub(super) fn type_in(line: &str, variable: &str, language: &str) -> Option<String> {
    for (start, _) in line.match_indices(variable) {
        let end = start + variable.len();
        let whole = !line[..start].ends_with(is_part) && !line[end..].starts_with(is_part);
        if !whole || line[..start].ends_with(['.', '>']) {
            continue;
        }
        if let Some(found) = before(&line[..start], language).or_else(|| after(&line[end..], language)) {
            return Some(found);
        }
    }
    None
}

/// The type that `line` gives a member of an object, whether it declares it or assigns it.
pub(super) fn type_of_member(line: &str, member: &str, language: &str) -> Option<String> {
    type_of_assigned(line, member, language).or_else(|| type_in(line, member, language))
}

/// The type of what `line` assigns to a member: `this.x = new T(…)`, `self.x: T = …`.
pub(super) fn type_of_assigned(line: &str, member: &str, language: &str) -> Option<String> {
    const OWNERS: &[&str] = &["this.", "self.", "this->", "$this->", "that."];
    let assigned = OWNERS.iter().find_map(|owner| line.trim_start().strip_prefix(owner))?;
    assigned.starts_with(member).then(|| type_in(assigned, member, language)).flatten()
}

/// The type before the first of several names: `T *a, *b;`.
pub(super) fn type_of_listed(line: &str, language: &str) -> Option<String> {
    let (first, _) = line.split_once(',').filter(|(first, _)| !first.contains('('))?;
    let first = first.trim_end();
    before(&first[..first.trim_end_matches(is_part).len()], language)
}

/// Whether a line declares a local variable or parameter: `val x`, `x: T`, `T x`.
pub(super) fn declares(line: &str, name: &str, language: &str) -> bool {
    const PRIMITIVES: &[&str] = &[
        "int", "long", "short", "byte", "char", "float", "double", "boolean", "bool", "string", "var", "auto", "object",
    ];
    line.match_indices(name).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + name.len()..]);
        if before.ends_with(is_part) || after.starts_with(is_part) || before.ends_with('.') {
            return false;
        }
        let (spaced, after) = (before.len() > before.trim_end().len(), after.trim_start());
        let before = before.trim_end_matches([' ', '\t', '&', '*']);
        let word = &before[before.trim_end_matches(is_part).len()..];
        match language {
            "kotlin" | "scala" | "swift" => {
                matches!(word, "val" | "var" | "let")
                    || (after.starts_with(':') && !after.starts_with("::"))
                    || (after.starts_with("->") && before.ends_with(['{', ',', '(']))
            }
            "java" | "csharp" | "dart" => {
                let is_type = word.starts_with(char::is_uppercase) || PRIMITIVES.contains(&word);
                let is_end =
                    after.is_empty() || after.starts_with(['=', ';', ',', ')', ':']) || after.starts_with("in ");
                spaced && (is_type || before.ends_with(['>', ']'])) && is_end
            }
            _ => false,
        }
    })
}

pub(super) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `: T`, `= T(`, `:= &T{`, ` *T`.
fn after(rest: &str, language: &str) -> Option<String> {
    let rest = rest.trim_start_matches('?').trim_start();
    let is_annotation = !matches!(language, "java" | "c" | "cpp" | "objc" | "csharp" | "dart" | "php");
    if let Some(annotated) = rest.strip_prefix(':').filter(|rest| is_annotation && !rest.starts_with([':', '='])) {
        return type_name(annotated, language);
    }
    let made = rest.strip_prefix(":=").or_else(|| rest.strip_prefix('=').filter(|rest| !rest.starts_with('=')));
    if let Some(made) = made {
        let plain = made.trim_start();
        let made = plain.trim_start_matches("new ").trim_start_matches(['&', '*']).trim_start();
        let is_new = plain.starts_with("new ");
        let is_dotted = language != "rust";
        let word: String = made.chars().take_while(|c| is_part(*c) || (is_dotted && *c == '.')).collect();
        let next = &made[word.len()..];
        let last = word.rsplit('.').next().unwrap_or_default();
        let upper = last.starts_with(char::is_uppercase);
        let built = match language {
            "rust" => upper && (next.starts_with("::") || next.trim_start().starts_with('{')),
            "go" => !last.is_empty() && next.starts_with('{'),
            _ => {
                let next = without_arguments(next);
                let is_call = next.starts_with('(') && !is_receiver(next);
                upper && (is_call || (is_new && language == "scala" && !next.starts_with(['(', '.'])))
            }
        };
        return built.then_some(word);
    }
    (language == "go" && rest.starts_with(|c: char| c == '*' || c.is_alphabetic()))
        .then(|| type_name(rest, language))
        .flatten()
}

/// Strips the arguments of a generic type: `(1)` is left of `<T>(1)`.
fn without_arguments(text: &str) -> &str {
    if !text.starts_with(['<', '[']) {
        return text;
    }
    let mut depth = 0_usize;
    let end = text.char_indices().find_map(|(at, c)| {
        match c {
            '<' | '[' => depth += 1,
            '>' | ']' => depth = depth.saturating_sub(1),
            ';' | '{' => return Some(0),
            _ => {}
        }
        (depth == 0).then_some(at + 1)
    });
    &text[end.unwrap_or(0)..]
}

/// Whether the call is only the receiver of a member access: `(a).b`, whose type is another.
fn is_receiver(call: &str) -> bool {
    let mut depth = 0_usize;
    let end = call.char_indices().find_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at + 1)
    });
    let rest = end.map_or("", |end| call[end..].trim_start());
    ["?.", "->", "."].iter().any(|accessor| rest.starts_with(accessor))
}

/// `T `, `T *`, `T<U> `, `const T& `.
fn before(rest: &str, language: &str) -> Option<String> {
    if !matches!(language, "java" | "c" | "cpp" | "objc" | "csharp" | "dart" | "php") {
        return None;
    }
    let spaced = rest.trim_end_matches(['*', '&', ' ', '$']);
    if spaced.len() == rest.len() {
        return None;
    }
    // A pointer that is constant: `T* const x`.
    let constant = spaced.strip_suffix("const").filter(|before| before.ends_with([' ', '*', '&']));
    let spaced = constant.map_or(spaced, |before| before.trim_end_matches(['*', '&', ' ']));
    // `T?` may be no value.
    let spaced = spaced.strip_suffix('?').filter(|bare| bare.ends_with(|c| is_part(c) || c == '>')).unwrap_or(spaced);
    let (named, arguments) = match spaced.strip_suffix('>') {
        Some(inner) => inner.split_at(opening(inner)?),
        None => (spaced, ""),
    };
    let word = &named[named.trim_end_matches(|c| is_part(c) || matches!(c, '.' | ':' | '\\')).len()..];
    let keyword = matches!(
        word,
        "return"
            | "new"
            | "else"
            | "case"
            | "throw"
            | "const"
            | "var"
            | "auto"
            | "delete"
            | "in"
            | "final"
            | "late"
            | "static"
    );
    let is_type = !keyword && word.starts_with(|c: char| c.is_alphabetic() || c == '\\') && word.ends_with(is_part);
    is_type.then(|| held(word, arguments, language).unwrap_or_else(|| word.to_owned()))
}

/// The type that a pointer or optional holds, and whose members it has: `Box<T>`, `std::unique_ptr<T>`.
fn held(word: &str, arguments: &str, language: &str) -> Option<String> {
    let last = word.rsplit([':', '.']).next().unwrap_or_default();
    let holds = match language {
        "rust" => matches!(last, "Box" | "Rc" | "Arc" | "Cow" | "Pin" | "Ref" | "RefMut" | "MutexGuard"),
        "cpp" | "objc" => matches!(last, "unique_ptr" | "shared_ptr"),
        "python" => matches!(last, "Optional" | "Annotated" | "ClassVar" | "Final"),
        "typescript" | "tsx" | "vue" | "svelte" | "astro" => matches!(last, "Readonly" | "Required" | "Partial"),
        _ => false,
    };
    let inner = arguments.strip_prefix(['<', '[']).filter(|_| holds)?;
    let inner = inner.strip_prefix('\'').map_or(inner, |lifetime| lifetime.trim_start_matches(is_part));
    type_name(inner.trim_start_matches([',', ' ']), language)
}

/// The offset of the `<` whose `>` follows `inner`; `None` if that `>` is a comparison or the head of an arrow.
fn opening(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let is_arrow = |end: usize| end > 0 && matches!(bytes[end - 1], b'-' | b'=');
    if is_arrow(bytes.len()) {
        return None;
    }
    let mut depth = 1_usize;
    for (at, byte) in bytes.iter().enumerate().rev() {
        match byte {
            b'>' if !is_arrow(at) => depth += 1,
            b'<' if depth == 1 => return Some(at),
            b'<' => depth -= 1,
            b';' | b'{' | b'}' => return None,
            _ => {}
        }
    }
    None
}

/// The name of a written type whose members are reached through it. An array or function has none.
pub(super) fn written_type(text: &str, language: &str) -> Option<String> {
    let bare = text.trim_start_matches(['&', '*', ' ']);
    let is_array = bare.starts_with('[') || (language != "go" && bare.trim_end().ends_with(']'));
    let is_other = ["func(", "func ", "map[", "chan ", "fn(", "Fn", "<-"].iter().any(|start| bare.starts_with(start));
    if is_array || is_other { None } else { type_name(text, language) }
}

/// The name of a type without what it is wrapped in: `&'a mut T`, `a.T | None`, `*T`.
fn type_name(text: &str, language: &str) -> Option<String> {
    let mut text = text;
    loop {
        let opened = text.trim_start_matches(['&', '*', '"', '(', ' ']);
        let inner = match opened.strip_prefix('\'') {
            // A lifetime, or a name in quotes.
            Some(quoted) => quoted.trim_start_matches(is_part).strip_prefix(' ').unwrap_or(quoted),
            None => opened,
        };
        let inner = ["mut ", "dyn ", "impl ", "const "].iter().find_map(|w| inner.strip_prefix(w)).unwrap_or(inner);
        if inner == text {
            break;
        }
        text = inner;
    }
    let path: String = text.chars().take_while(|c| is_part(*c) || matches!(c, '.' | ':')).collect();
    let arguments = &text[path.len()..];
    // `T[]` is an array, and its members are its own.
    let is_array = arguments.starts_with('[') && !matches!(language, "python" | "go" | "scala");
    let path = path.trim_end_matches(['.', ':']);
    let is_type = !is_array && path.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_type.then(|| held(path, arguments, language).unwrap_or_else(|| path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{declares, type_in};

    #[test]
    fn types_are_next_to_their_variables() {
        let found = |line: &str, language: &str| {
            type_in(line, "x", language).map(|path| path.rsplit(['.', ':']).next().unwrap_or_default().to_owned())
        };
        assert_eq!(found("def f(self, x: Cart, y):", "python").as_deref(), Some("Cart"));
        assert_eq!(found("    x = Cart(1)", "python").as_deref(), Some("Cart"));
        assert_eq!(found("    x = cart(1)", "python"), None);
        assert_eq!(found("    y.x = Cart(1)", "python"), None);
        assert_eq!(found("fn f(x: &'a mut shop::Cart)", "rust").as_deref(), Some("Cart"));
        assert_eq!(found("    let x = Cart::new();", "rust").as_deref(), Some("Cart"));
        assert_eq!(found("    let x: Vec<Cart> = y;", "rust").as_deref(), Some("Vec"));
        assert_eq!(found("    x: Box<dyn Cart>,", "rust").as_deref(), Some("Cart"));
        assert_eq!(found("fn f(x: &'a Cow<'a, Cart>)", "rust").as_deref(), Some("Cart"));
        assert_eq!(found("  x: Cart[] = [];", "typescript"), None);
        assert_eq!(found("  x = new Cart<number>();", "typescript").as_deref(), Some("Cart"));
        assert_eq!(found("  private readonly Cart? x;", "csharp").as_deref(), Some("Cart"));
        assert_eq!(found("  late final x = Cart();", "dart").as_deref(), Some("Cart"));
        assert_eq!(found("  val x = new Cart", "scala").as_deref(), Some("Cart"));
        assert_eq!(found("    x: Cart[int]", "python").as_deref(), Some("Cart"));
        assert_eq!(found("  std::unique_ptr<Cart> x;", "cpp").as_deref(), Some("Cart"));
        assert_eq!(found("func f(x *Cart) {", "go").as_deref(), Some("Cart"));
        assert_eq!(found("\tx := &Cart{}", "go").as_deref(), Some("Cart"));
        assert_eq!(found("    Cart x = other();", "java").as_deref(), Some("Cart"));
        assert_eq!(found("    const Cart& x = other();", "cpp").as_deref(), Some("Cart"));
        assert_eq!(found("  Cart* const x;", "cpp").as_deref(), Some("Cart"));
        assert_eq!(found("  const x;", "cpp"), None);
        assert_eq!(found("    return x;", "java"), None);
        assert_eq!(found("    Foo x = new FooBuilder().create();", "java").as_deref(), Some("Foo"));
        assert_eq!(found("    var x = new FooBuilder(f(1)).create();", "java"), None);
        assert_eq!(found("    var x = new FooBuilder(f(1));", "java").as_deref(), Some("FooBuilder"));
        assert_eq!(found("    for (Foo x : all) {", "java").as_deref(), Some("Foo"));
        assert_eq!(found("    Map<Key, List<Line>> x = other();", "java").as_deref(), Some("Map"));
        assert_eq!(found("  std::function<int(int) -> int> x;", "cpp").as_deref(), Some("function"));
    }

    #[test]
    fn local_variables_are_recognized_where_they_are_declared() {
        for (line, language, is_declared) in [
            ("  fun f(x: Int) {", "kotlin", true),
            ("  val x = 1", "kotlin", true),
            ("  list.map { x -> y }", "kotlin", true),
            ("    x -> 1", "kotlin", false),
            ("  f(x, y)", "kotlin", false),
            ("  this.x = y", "kotlin", false),
            ("  void f(Cart x) {", "java", true),
            ("  for (var x : all) {", "java", true),
            ("  List<Cart> x = all;", "java", true),
            ("  return x;", "java", false),
            ("  // the x", "java", false),
            ("  foreach (var x in all)", "csharp", true),
            ("  y = x;", "csharp", false),
        ] {
            assert_eq!(declares(line, "x", language), is_declared, "{language}: {line}");
        }
    }

    #[test]
    fn types_keep_their_qualifiers() {
        let found = |line: &str, language: &str| type_in(line, "x", language);
        assert_eq!(found("func f(x *config.Config) {", "go").as_deref(), Some("config.Config"));
        assert_eq!(found("\tx := &config.Config{}", "go").as_deref(), Some("config.Config"));
        assert_eq!(found("  f(x: vscode.Uri) {", "typescript").as_deref(), Some("vscode.Uri"));
        assert_eq!(found("  const x = new vscode.Uri();", "typescript").as_deref(), Some("vscode.Uri"));
        assert_eq!(found("fn f(x: &shop::Cart)", "rust").as_deref(), Some("shop::Cart"));
        assert_eq!(found("    Map.Entry x = other();", "java").as_deref(), Some("Map.Entry"));
        assert_eq!(found("    x = config.load()", "python"), None);
    }

    #[test]
    fn a_closing_bracket_that_nothing_opens_gives_no_type() {
        for language in ["java", "c", "cpp", "objc", "csharp", "dart", "php"] {
            for line in [
                "  for (int i = 0; n > x.size(); ++i) {}",
                "  run(() -> x.close());",
                "  run(y => x.close());",
                "  > x",
                "> x",
                "  a >> x.b",
                "  if (i < 3; n > x.size()) {}",
                "  größe<ü> -> x.é",
            ] {
                assert_eq!(type_in(line, "x", language), None, "{language}: {line}");
            }
        }
    }
}
