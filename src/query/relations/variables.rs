//! The type that one line of code states for a variable.
//!
//! Owns the few spellings that need no inference: an annotation, a construction, a declaration. A wrong guess costs
//! nothing: the type must then have the member that is asked for.

/// The type that `line` gives `variable`: `x: T`, `x = T(…)`, `T x`, `x *T`, `x := &T{…}`.
pub(super) fn type_in(line: &str, variable: &str, language: &str) -> Option<String> {
    for (start, _) in line.match_indices(variable) {
        let end = start + variable.len();
        let whole = !line[..start].ends_with(is_part) && !line[end..].starts_with(is_part);
        if !whole || line[..start].ends_with(['.', '>']) {
            continue;
        }
        if let Some(found) = after(&line[end..], language).or_else(|| before(&line[..start], language)) {
            return Some(found);
        }
    }
    None
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `: T`, `= T(`, `:= &T{`, ` *T`.
fn after(rest: &str, language: &str) -> Option<String> {
    let rest = rest.trim_start_matches('?').trim_start();
    if let Some(annotated) = rest.strip_prefix(':').filter(|rest| !rest.starts_with([':', '='])) {
        return type_name(annotated);
    }
    let made = rest.strip_prefix(":=").or_else(|| rest.strip_prefix('=').filter(|rest| !rest.starts_with('=')));
    if let Some(made) = made {
        let made = made.trim_start().trim_start_matches("new ").trim_start_matches(['&', '*']).trim_start();
        let word: String = made.chars().take_while(|c| is_part(*c)).collect();
        let next = &made[word.len()..];
        let upper = word.starts_with(char::is_uppercase);
        let built = match language {
            "rust" => upper && (next.starts_with("::") || next.trim_start().starts_with('{')),
            "go" => next.starts_with('{'),
            _ => upper && next.starts_with('('),
        };
        return built.then_some(word);
    }
    (language == "go" && rest.starts_with(|c: char| c == '*' || c.is_alphabetic())).then(|| type_name(rest)).flatten()
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
    let named = match spaced.strip_suffix('>') {
        Some(inner) => &inner[..opening(inner)?],
        None => spaced,
    };
    let word = &named[named.trim_end_matches(is_part).len()..];
    let keyword =
        matches!(word, "return" | "new" | "else" | "case" | "throw" | "const" | "var" | "auto" | "delete" | "in");
    (!keyword && word.starts_with(char::is_alphabetic)).then(|| word.to_owned())
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

/// The name of a type without what it is wrapped in: `&'a mut T`, `a.T | None`, `*T`.
fn type_name(text: &str) -> Option<String> {
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
    // A wrapper's members are its own.
    let wrapped = text[path.len()..].starts_with(['<', '[']);
    let name = path.trim_end_matches(':').rsplit(['.', ':']).next().unwrap_or_default();
    (!wrapped && name.starts_with(|c: char| c.is_alphabetic() || c == '_')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::type_in;

    #[test]
    fn types_are_next_to_their_variables() {
        let found = |line: &str, language: &str| type_in(line, "x", language);
        assert_eq!(found("def f(self, x: Cart, y):", "python").as_deref(), Some("Cart"));
        assert_eq!(found("    x = Cart(1)", "python").as_deref(), Some("Cart"));
        assert_eq!(found("    x = cart(1)", "python"), None);
        assert_eq!(found("    y.x = Cart(1)", "python"), None);
        assert_eq!(found("fn f(x: &'a mut shop::Cart)", "rust").as_deref(), Some("Cart"));
        assert_eq!(found("    let x = Cart::new();", "rust").as_deref(), Some("Cart"));
        assert_eq!(found("    let x: Vec<Cart> = y;", "rust"), None);
        assert_eq!(found("func f(x *Cart) {", "go").as_deref(), Some("Cart"));
        assert_eq!(found("\tx := &Cart{}", "go").as_deref(), Some("Cart"));
        assert_eq!(found("    Cart x = other();", "java").as_deref(), Some("Cart"));
        assert_eq!(found("    const Cart& x = other();", "cpp").as_deref(), Some("Cart"));
        assert_eq!(found("    return x;", "java"), None);
        assert_eq!(found("    Map<Key, List<Line>> x = other();", "java").as_deref(), Some("Map"));
        assert_eq!(found("  std::function<int(int) -> int> x;", "cpp").as_deref(), Some("function"));
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
