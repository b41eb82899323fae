//! The receiver in front of a name: `self.`, `a.b.`, `super().`, an expression, or none.
//!
//! Owns parsing the text of one line backwards. `resolve` owns what the words refer to.

use super::families::{Family, Spelling};

/// The receiver of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Receiver {
    /// No receiver: a bare name.
    Bare,
    /// The object or type that the code belongs to: `self.`
    Itself,
    /// A base of the type that the code belongs to: `super().`
    Above,
    /// Names joined by dots or colons, first to last.
    Path(Vec<String>),
    /// Fields of the object that the code belongs to, first to last: `this.a.b.`
    Fields(Vec<String>),
    /// A module of a script, loaded where it is used: `require("./a").`
    Module(String),
    /// An expression whose type is unknown.
    Expression,
}

/// Written between a name and its member. An accessor comes before those that it ends with.
const ACCESSORS: &[&str] = &["?->", "?.", "!!.", "!.", "&.", "->", "::", ".", "\\"];

/// The receiver of the name that follows `before`.
pub(super) fn receiver(before: &str, family: &Family) -> Receiver {
    let Some((mut rest, innermost)) = without_accessor(before, family) else { return Receiver::Bare };
    let mut accessor = innermost;
    let mut path: Vec<String> = Vec::new();
    loop {
        let word = last_word(rest);
        if word.is_empty() {
            let above = path.is_empty() && family.above.iter().any(|word| ends_with_call(rest, word));
            if let Some(module) = loaded_module(rest, family).filter(|_| path.is_empty()) {
                return Receiver::Module(module.to_owned());
            }
            let rooted = !path.is_empty() && matches!(accessor, "::" | "\\") && !rest.ends_with(['>', ')']);
            return match (above, rooted) {
                (true, _) => Receiver::Above,
                // `::a` is `a`.
                (_, true) => of_path(path, innermost, family),
                _ => Receiver::Expression,
            };
        }
        path.insert(0, word.to_owned());
        match without_accessor(&rest[..rest.len() - word.len()], family) {
            Some((further, between)) => (rest, accessor) = (further, between),
            None => return of_path(path, innermost, family),
        }
    }
}

fn of_path(path: Vec<String>, accessor: &str, family: &Family) -> Receiver {
    let first = path[0].as_str();
    // `self::f` belongs to the module, `self.f` to the object.
    if family.spelling == Spelling::Rust && accessor == "::" && first == "self" {
        return Receiver::Path(path);
    }
    match path.len() {
        1 if family.itself.contains(&first) => Receiver::Itself,
        1 if family.above.contains(&first) => Receiver::Above,
        _ if family.itself.contains(&first) => Receiver::Fields(path[1..].to_vec()),
        _ => Receiver::Path(path),
    }
}

fn without_accessor<'t>(text: &'t str, family: &Family) -> Option<(&'t str, &'static str)> {
    let accessor = match ACCESSORS.iter().find(|accessor| text.ends_with(**accessor)) {
        Some(accessor) => *accessor,
        None if family.languages.contains(&"lua") && text.ends_with(':') => ":",
        None => return None,
    };
    let rest = &text[..text.len() - accessor.len()];
    // `..` and `...` are ranges and spreads.
    (!(accessor == "." && rest.ends_with('.'))).then_some((rest, accessor))
}

fn last_word(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let word = text.trim_end_matches(is_part);
    &text[word.len()..]
}

/// The module that is loaded by the expression at the end of `text`: `require("./a")`, `(await import("./a"))`.
fn loaded_module<'t>(text: &'t str, family: &Family) -> Option<&'t str> {
    let inside = text.strip_suffix(')').filter(|_| family.spelling == Spelling::Script)?;
    let open = inside.rfind("(await ").filter(|open| last_word(&inside[..*open]).is_empty());
    let awaited = open.map(|open| inside[open + "(await ".len()..].trim());
    let call = awaited.filter(|call| call.starts_with("import")).and_then(|call| call.strip_suffix(')'));
    let (callee, argument) = call.unwrap_or(inside).rsplit_once('(')?;
    let is_load = last_word(callee) == if call.is_some() { "import" } else { "require" };
    let argument = argument.trim();
    let module = argument.strip_prefix(['"', '\'', '`'])?.strip_suffix(['"', '\'', '`'])?;
    (is_load && !module.contains(['"', '\'', '`', '$'])).then_some(module)
}

/// Whether `text` ends with a call of `word`, which is written with its parentheses: `super(A, self)` for `super()`.
fn ends_with_call(text: &str, word: &str) -> bool {
    let Some(name) = word.strip_suffix("()") else { return false };
    let Some(inside) = text.strip_suffix(')') else { return false };
    let Some(open) = inside.rfind('(') else { return false };
    last_word(&inside[..open]) == name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(words: &[&str]) -> Receiver {
        Receiver::Path(words.iter().map(|&word| word.to_owned()).collect())
    }

    #[test]
    fn receivers_are_read_backwards() {
        let python = Family::for_language("python");
        assert_eq!(receiver("    return ", python), Receiver::Bare);
        assert_eq!(receiver("    return self.", python), Receiver::Itself);
        assert_eq!(receiver("    self.items.", python), Receiver::Fields(vec!["items".to_owned()]));
        assert_eq!(receiver("        super().", python), Receiver::Above);
        assert_eq!(receiver("        super(A, self).", python), Receiver::Above);
        assert_eq!(receiver("x = models.query.", python), path(&["models", "query"]));
        assert_eq!(receiver("x = f(1).", python), Receiver::Expression);
        assert_eq!(receiver("        .", python), Receiver::Expression);
        assert_eq!(receiver("x = f(1).all.", python), Receiver::Expression);
        let script = Family::for_language("typescript");
        let module = |path: &str| Receiver::Module(path.to_owned());
        assert_eq!(receiver("x = require('./a').", script), module("./a"));
        assert_eq!(receiver("(await import(\"./a\"))?.", script), module("./a"));
        assert_eq!(receiver("f(await import('./a')).", script), Receiver::Expression);
        assert_eq!(receiver("import('./a').", script), Receiver::Expression);
        assert_eq!(receiver("require('./a').b.", script), Receiver::Expression);
        assert_eq!(receiver("require(').", script), Receiver::Expression);
        let rust = Family::for_language("rust");
        assert_eq!(receiver("let x = Self::", rust), Receiver::Itself);
        assert_eq!(receiver("let x = crate::a::", rust), path(&["crate", "a"]));
        assert_eq!(receiver("self::", rust), path(&["self"]));
        assert_eq!(receiver("let x = self.", rust), Receiver::Itself);
        assert_eq!(receiver("for i in 0..", rust), Receiver::Bare);
        assert_eq!(receiver("this->", Family::for_language("cpp")), Receiver::Itself);
        assert_eq!(receiver("parent::", Family::for_language("php")), Receiver::Above);
        assert_eq!(receiver("m:", Family::for_language("lua")), path(&["m"]));
    }
}
