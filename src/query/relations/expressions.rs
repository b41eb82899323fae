//! The parts of an expression: the steps from its first name through calls, fields and indexes to its end.
//!
//! Owns reading them backwards from the text, and the types that signatures and declarations write. Pure: `chains` asks
//! what the names refer to.

use super::statements::{closing, opening, split};
use super::variables::is_part;

/// A step of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A variable or type at first, then a field.
    Name(String),
    /// A function at first, then a method.
    Call(String),
    /// A function that a path of types or modules leads to: `Cart::new(1)`.
    PathCall(Vec<String>, String),
    /// A value of a type that is written: `new T(…)`, `(T) x`, `x.(T)`, `T{…}`.
    OfType(String),
    /// An element: `a[0]`.
    Element,
    /// The value that a result or option holds: `a?`.
    Held,
    /// The target of a reference or pointer of Rust: `*a`.
    Deref,
}

/// The steps of the expression that a text ends with, and where it begins. `None` if its form is not known.
pub(super) fn steps(text: &str, language: &str) -> Option<(Vec<Step>, usize)> {
    let mut steps = Vec::new();
    let mut rest = text.trim_end();
    loop {
        if let Some(before) = rest.strip_suffix('?').filter(|_| language == "rust") {
            steps.push(Step::Held);
            rest = before.trim_end();
            continue;
        }
        if language == "rust"
            && let Some((written, start)) = literal(rest)
        {
            steps.push(Step::OfType(written.to_owned()));
            return Some(finished(steps, start));
        }
        if rest.ends_with(']') {
            rest = &rest[..opening(rest, ('[', ']'))?];
            steps.push(Step::Element);
            if rest.ends_with(|c: char| is_part(c) || matches!(c, ')' | ']')) {
                continue;
            }
            return None;
        }
        if rest.ends_with('}') && matches!(language, "go" | "rust") {
            let head = rest[..opening(rest, ('{', '}'))?].trim_end();
            let start = head.trim_end_matches(|c: char| is_part(c) || matches!(c, '.' | ':')).len();
            steps.push(Step::OfType(head[start..].to_owned()));
            return (start < head.len()).then(|| finished(steps, start));
        }
        if rest.ends_with(')') {
            let open = opening(rest, ('(', ')'))?;
            let inner = &rest[open + 1..rest.len() - 1];
            let head = rest[..open].trim_end();
            if let Some(before) = head.strip_suffix('.').filter(|_| language == "go") {
                steps.push(Step::OfType(inner.trim().to_owned()));
                return Some(finished(steps, start_of(before)));
            }
            let (whole, head) = (head, without_type_arguments(head));
            let start = head.trim_end_matches(is_part).len();
            let word = &head[start..];
            if word.ends_with("_cast") && language == "cpp" {
                let written = whole[head.len()..].trim().trim_start_matches('<').strip_suffix('>')?;
                steps.push(Step::OfType(written.to_owned()));
                return Some(finished(steps, start));
            }
            if word.is_empty() {
                return if head.ends_with('!') { None } else { in_parentheses(inner, language, steps, open) };
            }
            let before = &head[..start];
            let bare = before.trim_end();
            if bare.strip_suffix("new").is_some_and(|b| !b.ends_with(is_part)) && matches!(language, "java" | "cpp") {
                steps.push(Step::OfType(word.to_owned()));
                return Some(finished(steps, bare.len() - 3));
            }
            let (path, further) = path_before(before);
            let is_pointer = path.last().is_some_and(|last| matches!(last.as_str(), "Box" | "Rc" | "Arc" | "Pin"));
            if is_pointer && word == "new" && language == "rust" {
                return in_parentheses(inner, language, steps, further.len());
            }
            if !path.is_empty() {
                steps.push(Step::PathCall(path, word.to_owned()));
                return Some(finished(steps, further.len()));
            }
            steps.push(Step::Call(word.to_owned()));
            match without_accessor(before) {
                Some(further) => rest = further,
                None => return Some(finished(steps, start)),
            }
            continue;
        }
        let start = rest.trim_end_matches(is_part).len();
        let word = &rest[start..];
        // Parts of tuples have numbers.
        let is_part = language == "rust" && rest[..start].ends_with('.') && !rest[..start].ends_with("..");
        let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && !is_part;
        if word.is_empty() || is_number || rest[..start].ends_with("::") {
            return None;
        }
        // The output of what is awaited is what its function states.
        if !(language == "rust" && word == "await") {
            steps.push(Step::Name(word.to_owned()));
        }
        match without_accessor(&rest[..start]) {
            Some(further) => rest = further,
            None => return Some(finished(steps, start)),
        }
    }
}

/// The type of the literal of Rust that a text ends with, or of what a macro of the standard library makes, and where it begins.
fn literal(text: &str) -> Option<(&'static str, usize)> {
    if let Some(inner) = text.strip_suffix('"') {
        let quoted = inner.rfind('"').filter(|at| !inner[..*at].ends_with('\\'))?;
        let start = inner[..quoted].trim_end_matches(['r', 'b', 'c', '#']).len();
        return Some(("str", start));
    }
    let open = match text.chars().next_back()? {
        ')' => opening(text, ('(', ')'))?,
        ']' => opening(text, ('[', ']'))?,
        _ => return None,
    };
    let head = text[..open].strip_suffix('!')?;
    let start = head.trim_end_matches(is_part).len();
    match &head[start..] {
        "format" | "concat" | "stringify" | "env" | "include_str" => Some(("String", start)),
        "vec" => Some(("Vec", start)),
        _ => None,
    }
}

fn finished(mut steps: Vec<Step>, start: usize) -> (Vec<Step>, usize) {
    steps.reverse();
    (steps, start)
}

/// `(T) x`, `x as T`, `&T{…}` or another expression, in parentheses.
fn in_parentheses(inner: &str, language: &str, mut after: Vec<Step>, open: usize) -> Option<(Vec<Step>, usize)> {
    let inner = inner.trim();
    if let Some(written) = inner.strip_prefix('(').filter(|_| language == "java") {
        let end = written.find(')')?;
        after.push(Step::OfType(written[..end].trim().to_owned()));
        return Some(finished(after, open));
    }
    if let Some((_, written)) = inner.split_once(" as ").filter(|_| language == "rust") {
        after.push(Step::OfType(written.trim().to_owned()));
        return Some(finished(after, open));
    }
    let (steps, start) = whole(inner, language)?;
    after.extend(steps.into_iter().rev());
    (start == 0).then(|| finished(after, open))
}

/// The steps of a text that is one expression, with only `&` and `*` before it.
pub(super) fn whole(text: &str, language: &str) -> Option<(Vec<Step>, usize)> {
    let text = text.trim();
    let bare = text.trim_start_matches(['&', '*']).trim_start();
    let bare = bare.strip_prefix("mut ").unwrap_or(bare);
    let (mut steps, start) = steps(bare, language)?;
    if language == "rust" && text.starts_with('*') {
        steps.push(Step::Deref);
    }
    (start == 0).then_some((steps, 0))
}

fn start_of(before: &str) -> usize {
    let bare = before.trim_end();
    let is_name = |c: char| is_part(c) || c == '.';
    match bare.ends_with(')') {
        true => opening(bare, ('(', ')')).map_or(bare.len(), |open| bare[..open].trim_end_matches(is_name).len()),
        false => bare.trim_end_matches(is_name).len(),
    }
}

fn without_accessor(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let rest = ["->", "."].iter().find_map(|accessor| text.strip_suffix(accessor))?;
    (!rest.ends_with('.')).then(|| rest.trim_end())
}

fn without_type_arguments(head: &str) -> &str {
    let is_generic = head.ends_with('>') && !head.ends_with("->");
    let open = if is_generic { opening(head, ('<', '>')) } else { None };
    open.map_or(head, |open| head[..open].trim_end().trim_end_matches("::"))
}

/// Strips the arguments of the type before a member of Rust, and what it is taken as: `Cart::<u8>::` is `Cart::`,
/// `<T as Trait<u8>>::` is `Trait::`.
pub(super) fn plain_path(before: &str) -> Option<String> {
    let head = before.strip_suffix("::").filter(|head| head.ends_with('>'))?;
    let open = opening(head, ('<', '>'))?;
    let (outer, inner) = (&head[..open], &head[open + 1..head.len() - 1]);
    if outer.ends_with(|c: char| is_part(c) || c == ':') {
        return Some(format!("{}::", outer.trim_end_matches(':')));
    }
    let of = inner.rsplit_once(" as ").map_or(inner, |(_, of)| of);
    Some(format!("{outer}{}::", without_type_arguments(bare(of))))
}

/// The names before a name, each followed by `::`, and the text before them.
fn path_before(text: &str) -> (Vec<String>, &str) {
    let (mut path, mut rest) = (Vec::new(), text);
    while let Some(before) = rest.strip_suffix("::") {
        let bare = without_type_arguments(before);
        let start = bare.trim_end_matches(is_part).len();
        if start == bare.len() {
            break;
        }
        path.insert(0, bare[start..].to_owned());
        rest = &bare[..start];
    }
    (path, rest)
}

/// The type that a signature writes for the result of a function, the first of several; `index` counts them from 0.
pub(super) fn result(signature: &str, name: &str, language: &str, index: usize) -> Option<String> {
    let is_name = |at: &usize| {
        let (before, after) = (&signature[..*at], signature[at + name.len()..].trim_start());
        !before.ends_with(is_part) && after.starts_with(['(', '[', '<'])
    };
    let at = signature.match_indices(name).map(|(at, _)| at).find(is_name)?;
    if matches!(language, "java" | "cpp") {
        return type_before(&signature[..at]).filter(|_| index == 0);
    }
    let mut rest = signature[at + name.len()..].trim_start();
    for pair in [('[', ']'), ('<', '>')] {
        if rest.starts_with(pair.0) {
            rest = rest[closing(rest, pair)? + 1..].trim_start();
        }
    }
    let rest = rest.starts_with('(').then(|| closing(rest, ('(', ')'))).flatten().map(|end| rest[end + 1..].trim())?;
    match language {
        "rust" => {
            let written = rest.strip_prefix("->")?;
            let end = written.find(" where").unwrap_or(written.len());
            let written = written[..end].trim_end_matches(['{', ';']).trim();
            (index == 0 && !written.is_empty()).then(|| written.to_owned())
        }
        "go" => {
            let rest = rest.trim_end_matches('{').trim();
            let Some(list) = rest.strip_prefix('(') else {
                return (index == 0 && !rest.is_empty()).then(|| rest.to_owned());
            };
            let list = &list[..closing(rest, ('(', ')'))?.checked_sub(1)?];
            let written = split(list).nth(index)?.trim();
            // `(n int, err error)`.
            let (first, second) = written.split_once(' ').unwrap_or(("", written));
            let is_named = !first.is_empty() && first.chars().all(is_part) && !matches!(first, "chan" | "func" | "map");
            Some(if is_named { second.trim().to_owned() } else { written.to_owned() })
        }
        _ => None,
    }
}

/// The type that a line writes for the name that it declares there.
pub(super) fn declared(line: &str, name: &str, language: &str) -> Option<String> {
    let is_whole = |at: &usize| {
        !line[..*at].ends_with(|c: char| is_part(c) || c == '.') && !line[at + name.len()..].starts_with(is_part)
    };
    let at = line.match_indices(name).map(|(at, _)| at).find(is_whole)?;
    let after = line[at + name.len()..].trim_start();
    let written = match language {
        "rust" => {
            let after = after.strip_prefix(':')?;
            let end = split(after).next().map_or(after.len(), str::len);
            after[..end].split('=').next().unwrap_or_default()
        }
        "go" => {
            // Other names of the list come before the type.
            let after = match after.strip_prefix(',') {
                Some(list) => list.rsplit(',').next()?.trim_start().split_once(' ')?.1,
                None => after,
            };
            after.split(['`', '=', '/']).next().unwrap_or_default()
        }
        "cpp" if after.starts_with('[') => return type_before(&line[..at]).map(|of| of + "[]"),
        _ => return type_before(&line[..at]),
    };
    let written = written.trim();
    (!written.is_empty()).then(|| written.to_owned())
}

/// The type of one part of a struct or variant of Rust, in the text after its name: `(u8, Cart)`.
pub(super) fn payload(body: &str, index: usize) -> Option<String> {
    let inner = bracketed(body, ('(', ')'))?;
    split(inner).nth(index).map(|part| without_attributes(part).to_owned())
}

/// The type of a field of a struct or variant of Rust, in the text after its name: `{ at: u8, cart: Cart }`.
pub(super) fn field(body: &str, name: &str) -> Option<String> {
    let fields = split(bracketed(body, ('{', '}'))?);
    let mut fields = fields.filter_map(|field| without_attributes(field).split_once(':'));
    fields.find(|(own, _)| own.trim() == name).map(|(_, written)| written.trim().to_owned())
}

/// The text in the brackets that follow a name and its parameters.
fn bracketed(body: &str, pair: (char, char)) -> Option<&str> {
    let body = body.trim_start();
    let body = if body.starts_with('<') { body[closing(body, ('<', '>'))? + 1..].trim_start() } else { body };
    body.starts_with(pair.0).then(|| closing(body, pair)).flatten().map(|end| &body[1..end])
}

fn without_attributes(part: &str) -> &str {
    let mut part = part.trim();
    while let Some(end) = part.strip_prefix('#').and_then(|rest| closing(rest, ('[', ']'))) {
        part = part[end + 2..].trim_start();
    }
    let Some(rest) = part.strip_prefix("pub") else { return part };
    let rest = if rest.starts_with('(') { rest.split_once(')').map_or(rest, |(_, rest)| rest) } else { rest };
    rest.trim_start()
}

/// The bounds of a type parameter of Rust, in the text after its name: `: A + B, …` and `where T: C {`.
pub(super) fn bounds<'t>(after: &'t str, name: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut add = |text: &'t str| {
        let list = split(text).next().unwrap_or_default();
        let end = (0..list.len()).filter(|at| list.is_char_boundary(*at)).find(|at| {
            let rest = &list[*at..];
            // The bracket around the parameters closes after the last one.
            let is_behind = rest.starts_with('>') && closing(&format!("<{}", &list[..=*at]), ('<', '>')).is_some();
            is_behind || rest.starts_with(['{', ';', '=']) || rest.starts_with(" where ")
        });
        let list = &list[..end.unwrap_or(list.len())];
        found.extend(list.split('+').map(str::trim).filter(|bound| !bound.starts_with(['\'', '?'])));
    };
    if let Some(bound) = after.trim_start().strip_prefix(':') {
        add(bound);
    }
    let head = &after[..after.find(['{', ';']).unwrap_or(after.len())];
    if let Some((_, clause)) = head.split_once("where ") {
        for bound in split(clause) {
            if let Some((_, bound)) = bound.split_once(':').filter(|(own, _)| own.trim() == name) {
                add(bound);
            }
        }
    }
    found
}

/// The type before a name of Java or C++, with its arguments: `const std::vector<T>& `.
fn type_before(text: &str) -> Option<String> {
    // A definition outside its class: `Status Db::Open(`.
    let (_, text) = path_before(text);
    let mut rest = text.trim_end();
    let mut suffix = String::new();
    loop {
        let bare = rest.trim_end_matches(['*', '&', ' ']);
        // What a pointer leads to may be an element of an array.
        suffix.extend(rest[bare.len()..].chars().filter(|c| *c == '*'));
        let constant = bare.strip_suffix("const").filter(|before| before.ends_with([' ', '*', '&']));
        let before = constant.map_or(bare, |before| before.trim_end_matches(['*', '&', ' ']));
        suffix.extend(bare[before.len()..].chars().filter(|c| *c == '*'));
        let bare = before;
        let Some(inner) = bare.strip_suffix("[]") else {
            rest = bare;
            break;
        };
        suffix.push_str("[]");
        rest = inner.trim_end();
    }
    let (named, arguments) = match rest.ends_with('>') {
        true => rest.split_at(opening(rest, ('<', '>'))?),
        false => (rest, ""),
    };
    let start = named.trim_end_matches(|c: char| is_part(c) || matches!(c, '.' | ':')).len();
    let word = &named[start..];
    let is_keyword =
        matches!(word, "return" | "new" | "else" | "throw" | "const" | "auto" | "var" | "static" | "final" | "public");
    (!word.is_empty() && !is_keyword).then(|| format!("{word}{arguments}{suffix}"))
}

/// The type of the elements of a written type: `[]T`, `T[]`, `Vec<T>`, `Map<K, T>`.
pub(super) fn element(written: &str, language: &str) -> Option<String> {
    let bare = bare(written);
    match language {
        "go" => {
            let inner = bare.strip_prefix("map").unwrap_or(bare);
            inner.starts_with('[').then(|| closing(inner, ('[', ']'))).flatten().map(|end| inner[end + 1..].to_owned())
        }
        _ => {
            if let Some(inner) = bare.strip_suffix("[]") {
                return Some(inner.to_owned());
            }
            if let Some(inner) = bare.strip_prefix('[') {
                return inner.split([';', ']']).next().map(|inner| inner.trim().to_owned());
            }
            let pointed = bare.trim_end_matches('*');
            let Some((name, arguments)) = pointed.split_once('<').filter(|_| pointed.ends_with('>')) else {
                return bare.strip_suffix('*').map(str::to_owned);
            };
            let last = name.rsplit(':').next().unwrap_or(name);
            let holds_one = matches!(
                last,
                "Vec"
                    | "VecDeque"
                    | "BTreeSet"
                    | "HashSet"
                    | "vector"
                    | "deque"
                    | "list"
                    | "array"
                    | "set"
                    | "List"
                    | "ArrayList"
                    | "Set"
                    | "Collection"
                    | "Iterable"
                    | "Deque"
                    | "Queue"
            );
            let holds_pairs = matches!(last, "HashMap" | "BTreeMap" | "map" | "unordered_map" | "Map");
            let inner = arguments.trim_end().strip_suffix('>')?;
            match (holds_one, holds_pairs) {
                (true, _) => first_argument(arguments),
                (_, true) => split(inner).nth(1).map(|second| second.trim().to_owned()),
                _ => None,
            }
        }
    }
}

/// A written type without references, lifetimes, `mut` and `const`.
pub(super) fn bare(written: &str) -> &str {
    let mut text = written.trim();
    loop {
        let inner = text.trim_start_matches(['&', '*', ' ']);
        let inner = inner.strip_prefix('\'').map_or(inner, |rest| rest.trim_start_matches(is_part).trim_start());
        let inner = ["mut ", "const "].iter().find_map(|word| inner.strip_prefix(word)).unwrap_or(inner);
        if inner == text {
            return text;
        }
        text = inner;
    }
}

/// The first of the arguments whose bracket is open before them.
fn first_argument(arguments: &str) -> Option<String> {
    let inner = arguments.trim_end().strip_suffix('>')?;
    split(inner).next().map(|first| first.trim().to_owned()).filter(|first| !first.is_empty())
}

/// The expression that gives a variable its value, in the text after its name: with the index of the result that it takes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Given<'t> {
    Value(&'t str, usize),
    /// An element of it.
    ElementOf(&'t str),
}

/// How a line gives a variable its value, whose name is between `before` and `after`.
pub(super) fn given<'t>(before: &str, after: &'t str, language: &str) -> Option<Given<'t>> {
    let after = after.trim_start();
    match language {
        "go" => {
            let (names, value) = after.split_once(":=").or_else(|| after.split_once('='))?;
            let is_list = names.chars().all(|c| is_part(c) || matches!(c, ',' | ' '));
            let statement = before.rsplit(['{', ';', '\t']).next().unwrap_or(before).trim_start();
            let statement =
                ["if ", "for ", "switch ", "var "].iter().fold(statement, |s, word| s.trim_start_matches(word));
            let index = statement.matches(',').count();
            if !is_list || !statement.chars().all(|c| is_part(c) || matches!(c, ',' | ' ')) {
                return None;
            }
            let value = value.trim();
            let value = value.strip_suffix('{').unwrap_or(value);
            let value = value.split(';').next().unwrap_or(value).trim();
            if let Some(of) = value.strip_prefix("range ") {
                return (index == 1).then_some(Given::ElementOf(of));
            }
            Some(Given::Value(value, index))
        }
        "java" | "cpp" => {
            if let Some(of) = after.strip_prefix(':').filter(|of| !of.starts_with(':')) {
                return Some(Given::ElementOf(of.trim().trim_end_matches('{').trim_end().strip_suffix(')')?));
            }
            let value = after.strip_prefix('=').filter(|value| !value.starts_with('='))?.trim();
            Some(Given::Value(value.strip_suffix(';')?, 0))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, language: &str) -> String {
        let Some((steps, start)) = steps(text, language) else { return "none".to_owned() };
        let shown = |step: Step| match step {
            Step::Name(name) => name,
            Step::Call(name) => format!("{name}()"),
            Step::PathCall(path, name) => format!("{}::{name}()", path.join("::")),
            Step::OfType(written) => format!("<{written}>"),
            Step::Element => "[]".to_owned(),
            Step::Held => "?".to_owned(),
            Step::Deref => "*".to_owned(),
        };
        format!("{start} {}", steps.into_iter().map(shown).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn an_expression_is_read_from_its_end() {
        for (text, language, steps) in [
            ("return a.b(1, f(2)).c", "go", "7 a b() c"),
            ("x = w.(http.Pusher)", "go", "4 <http.Pusher>"),
            ("(&Config{Tabwidth: 8})", "go", "0 <Config>"),
            ("fs[0].inner", "go", "0 fs [] inner"),
            ("Cart::<u8>::new(1)?.lines", "rust", "0 Cart::new() ? lines"),
            ("load(a).await?", "rust", "0 load() ?"),
            ("await", "rust", "0 "),
            ("f(\"a\"", "rust", "2 <str>"),
            ("format!(\"{a}\").trim()", "rust", "0 <String> trim()"),
            ("first!(a)", "rust", "none"),
            ("self.0.take()", "rust", "0 self 0 take()"),
            ("1.5", "go", "none"),
            ("Pin::new(&mut self.inner)", "rust", "0 self inner"),
            ("self.pots.get(1)", "rust", "0 self pots get()"),
            ("new Cart<>(1).line()", "java", "0 <Cart> line()"),
            ("((Cart) x).line", "java", "0 <Cart> line"),
            ("Cart.of(1)", "java", "0 Cart of()"),
            ("a->b[2]->c()", "cpp", "0 a b [] c()"),
            ("static_cast<const Cart*>(x)", "cpp", "0 <const Cart*>"),
            ("x + 1", "go", "none"),
            ("\"a\"", "java", "none"),
        ] {
            assert_eq!(shown(text, language), steps, "{language}: {text}");
        }
    }

    #[test]
    fn signatures_write_results() {
        for (signature, name, language, index, written) in [
            ("func (s *Store) Open(path string) (db *DB, err error)", "Open", "go", 0, Some("*DB")),
            ("func (s *Store) Open(path string) (db *DB, err error)", "Open", "go", 1, Some("error")),
            ("func New[T any](f func(T) int) *Set[T]", "New", "go", 0, Some("*Set[T]")),
            ("func Run()", "Run", "go", 0, None),
            ("Close() error", "Close", "go", 0, Some("error")),
            (
                "pub fn get<T: Fn(u8) -> u8>(&self, t: T) -> Option<&Cart<T>> where T: Copy",
                "get",
                "rust",
                0,
                Some("Option<&Cart<T>>"),
            ),
            ("fn run(&self)", "run", "rust", 0, None),
            ("public static Map<K, List<V>> of(int a)", "of", "java", 0, Some("Map<K, List<V>>")),
            ("public Cart[] all()", "all", "java", 0, Some("Cart[]")),
            ("Status Db::Open(const Options& o)", "Open", "cpp", 0, Some("Status")),
            ("const std::vector<Cart*>& all() const", "all", "cpp", 0, Some("std::vector<Cart*>")),
            ("Cart* const first()", "first", "cpp", 0, Some("Cart*")),
        ] {
            assert_eq!(result(signature, name, language, index).as_deref(), written, "{signature}");
        }
        for (before, plain) in [
            ("let x = Cart::<u8, Vec<u8>>::", Some("let x = Cart::")),
            ("<T as shop::Trait<u8>>::", Some("shop::Trait::")),
            ("(<&Cart<u8>>::", Some("(Cart::")),
            ("Cart::", None),
        ] {
            assert_eq!(plain_path(before).as_deref(), plain, "{before}");
        }
        for (after, found) in [
            (": Visitor>(ast: &Ast, other: impl A + 'a)", &["Visitor"][..]),
            (": Fn(u8) -> u8 + Send + 'a, U>", &["Fn(u8) -> u8", "Send"]),
            (">(self, t: T) -> T where U: A, T: Line<u8> + Clone {", &["Line<u8>", "Clone"]),
            (" = u8> {", &[]),
        ] {
            assert_eq!(bounds(after, "T"), found, "{after}");
        }
        assert_eq!(payload("(#[from] pub Box<Cart>, u8),", 0).as_deref(), Some("Box<Cart>"));
        assert_eq!(field("<'a> { pub(crate) at: u8, cart: Map<u8, Cart> },", "cart").as_deref(), Some("Map<u8, Cart>"));
        assert_eq!(element("&'a [Cart]", "rust").as_deref(), Some("Cart"));
        assert_eq!(element("Map<K, List<V>>", "java").as_deref(), Some("List<V>"));
        assert_eq!(element("map[string][]*Cart", "go").as_deref(), Some("[]*Cart"));
        assert_eq!(declared("\tcarts []*Cart // all", "carts", "go").as_deref(), Some("[]*Cart"));
        assert_eq!(declared("  Cart carts_[2];", "carts_", "cpp").as_deref(), Some("Cart[]"));
        assert_eq!(element("Cart*", "cpp").as_deref(), Some("Cart"));
        assert_eq!(element("std::vector<Cart*>*", "cpp").as_deref(), Some("Cart*"));
        assert_eq!(element("Cart", "cpp"), None);
        assert_eq!(declared("    pub carts: Vec<Cart>,", "carts", "rust").as_deref(), Some("Vec<Cart>"));
    }

    #[test]
    fn lines_give_variables_their_values() {
        use Given::{ElementOf, Value};
        for (before, after, language, value) in [
            ("\t", ", err := open(a)", "go", Some(Value("open(a)", 0))),
            ("\tv, ", " := x.(T)", "go", Some(Value("x.(T)", 1))),
            ("\tfor _, ", " := range s.all {", "go", Some(ElementOf("s.all"))),
            ("\tif ", ", ok := x.(T); ok {", "go", Some(Value("x.(T)", 0))),
            ("    var ", " = all.get(1);", "java", Some(Value("all.get(1)", 0))),
            ("    for (auto& ", " : all_) {", "cpp", Some(ElementOf("all_"))),
        ] {
            assert_eq!(given(before, after, language), value, "{language}: {before}x{after}");
        }
    }
}
