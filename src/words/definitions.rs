//! Names in a text that look defined, without parsing it.
//!
//! Owns the guess from the line of a name, the text around it, and its braces, in most languages. Does not own what a
//! parser finds (`extract`).

use super::search_words::MAX_TOKEN;

/// How many bytes before a name are searched for the beginning of its line, and for the brace around it.
const MAX_BEFORE: usize = 200;
/// How many bytes of a line before a token are looked at by [`looks_defined`].
const MAX_BEFORE_PART: usize = 120;
const MAX_AROUND: usize = 4_000;

/// Keywords before a name, with the kind of definition.
const KEYWORDS: &[(&str, &str)] = &[
    ("def", "function"),
    ("fn", "function"),
    ("func", "function"),
    ("fun", "function"),
    ("function", "function"),
    ("sub", "function"),
    ("class", "class"),
    ("struct", "struct"),
    ("enum", "enum"),
    ("union", "union"),
    ("interface", "interface"),
    ("trait", "trait"),
    ("protocol", "protocol"),
    ("record", "record"),
    ("object", "object"),
    ("type", "type"),
    ("module", "module"),
    ("namespace", "namespace"),
    ("package", "package"),
    ("#define", "macro"),
    ("define", "macro"),
    ("macro_rules!", "macro"),
    ("const", "constant"),
    ("let", "variable"),
    ("var", "variable"),
    ("val", "variable"),
];

/// Words that may come before a keyword.
const MODIFIERS: &[&str] = &[
    "pub",
    "pub(crate)",
    "pub(super)",
    "async",
    "unsafe",
    "extern",
    "export",
    "default",
    "static",
    "const",
    "inline",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "override",
    "virtual",
    "sealed",
    "partial",
    "open",
    "data",
    "typedef",
    "declare",
    "local",
    "\"C\"",
    "#",
];

/// Words that may come after the name of a type.
const AFTER_TYPES: &[&str] = &["extends", "implements", "where", "with", "struct", "interface", "is"];

/// Words of expressions and statements: no definition follows on their line.
const IN_EXPRESSIONS: &[&str] =
    &["return", "else", "case", "goto", "in", "and", "or", "not", "new", "delete", "throw", "sizeof", "typeof"];

/// Further words that are no type of the name that they precede: it belongs to an expression, or is defined elsewhere.
const NOT_TYPES: &[&str] = &[
    "await", "yield", "import", "from", "if", "while", "do", "struct", "enum", "union", "class", "use", "using",
    "raise", "as",
];

/// Keywords anywhere before a name in a line that probably defines it.
const ON_LINE: &[&str] = &[
    "def",
    "class",
    "fn",
    "func",
    "fun",
    "function",
    "struct",
    "enum",
    "union",
    "interface",
    "trait",
    "type",
    "typedef",
    "module",
    "namespace",
    "package",
    "macro",
    "const",
    "static",
    "let",
    "var",
    "val",
    "object",
    "record",
    "protocol",
    "impl",
    "#define",
];

/// Braces around a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    /// The braces of a type.
    Type,
    /// The braces of a function, or of a value.
    Code,
}

/// Where the line of a position begins, or `most` bytes before that position.
fn line_start(text: &[u8], at: usize, most: usize) -> usize {
    let from = at.saturating_sub(most);
    memchr::memrchr(b'\n', &text[from..at]).map_or(from, |line_break| from + line_break + 1)
}

/// Whether a token at `at` looks like the name in a definition, like a part of that name, or like part of a heading. Looser than
/// [`defined_kind`], and cheaper.
pub fn looks_defined(text: &[u8], at: usize) -> bool {
    let start = line_start(text, at, MAX_BEFORE_PART);
    let Ok(before) = std::str::from_utf8(&text[start..at]) else { return false };
    let before = before.trim_start();
    if before.starts_with("# ") || before.starts_with("##") || before.starts_with("== ") {
        return true;
    }
    // The name may begin before the part that was found.
    let before = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let mut tokens = before.split(|c: char| c.is_whitespace() || matches!(c, '*' | '&' | '(' | '<'));
    if before.len() < MAX_BEFORE_PART
        && tokens.any(|token| ON_LINE.contains(&token))
        && !before.contains(['=', '"', '\''])
    {
        return true;
    }
    let rest = &text[at..text.len().min(at + MAX_TOKEN)];
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let after = rest[length..].trim_ascii_start();
    // A function of C, or a variable of a module or a class.
    let is_outside = start == at || !text[start].is_ascii_whitespace();
    (is_outside && after.starts_with(b"(") && !before.contains(['(', '=', '.', '"']))
        || (before.is_empty() && after.starts_with(b"=") && !after.starts_with(b"=="))
}

/// The kind of the definition whose name is at `start..end` of a text, if it looks like one.
pub fn defined_kind(text: &[u8], start: usize, end: usize) -> Option<&'static str> {
    let line = line_start(text, start, MAX_BEFORE);
    let before = std::str::from_utf8(&text[line..start]).ok()?;
    let is_indented = before.starts_with(char::is_whitespace);
    let before = before.trim();
    let blanks = text[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let after = &text[end + blanks..];
    let is_whole = after.first().is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    let is_marked = !before.is_empty() && before.bytes().all(|byte| byte == b'#');
    if is_whole && (is_marked || (before.is_empty() && is_underlined(text, line))) {
        return Some("heading");
    }
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    if let Some((_, kind)) = KEYWORDS.iter().find(|(keyword, _)| *keyword == last) {
        let mut modifiers = before[..before.len() - last.len()].split_whitespace();
        let is_defined = modifiers.all(|word| MODIFIERS.contains(&word)) && may_follow(after, kind);
        // `struct name *` refers to it.
        let begins = !matches!(last, "struct" | "enum" | "union" | "class") || after.first() != Some(&b'*');
        let is_of_c = matches!(last, "struct" | "enum" | "union") && after.starts_with(b";");
        return (is_defined && begins && !is_of_c).then_some(kind);
    }
    if before.starts_with("func (") && before.ends_with(')') && after.starts_with(b"(") {
        return Some("method");
    }
    if before.contains(['=', '"', '\'', '#', '.', ';', '/', ':']) {
        return None;
    }
    let is_assigned = after.starts_with(b"=") && !after.starts_with(b"==");
    if before.is_empty() {
        return (is_assigned && !is_indented).then_some("variable");
    }
    // A comment.
    if !before.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let is_called = after.starts_with(b"(");
    if let Some(pointer) = before.strip_suffix('*').and_then(|before| before.strip_suffix('(')) {
        return (after.starts_with(b")(") && !pointer.contains('(')).then_some("field");
    }
    let is_type = last.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '*' | '&' | '>'));
    if !is_type || before.contains(['(', ',']) || before.split_whitespace().any(|word| IN_EXPRESSIONS.contains(&word)) {
        return None;
    }
    if NOT_TYPES.contains(&last) {
        return None;
    }
    if is_called {
        return (!is_indented || around(text, line) == Around::Type).then_some("function");
    }
    if !(is_assigned || after.starts_with(b";") || after.starts_with(b"[") || is_bits(after)) {
        return None;
    }
    match around(text, line) {
        Around::Nothing => Some("variable"),
        Around::Type => Some("field"),
        Around::Code => None,
    }
}

/// Whether a name is defined before this: in a sentence, another word follows.
fn may_follow(after: &[u8], kind: &str) -> bool {
    let length = after.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let word = std::str::from_utf8(&after[..length]).unwrap_or_default();
    let is_end = !matches!(after.first(), Some(b'.' | b',' | b')' | b'\'' | b'"'));
    kind == "macro" || AFTER_TYPES.contains(&word) || (length == 0 && is_end)
}

/// A number of bits after a field of C.
fn is_bits(after: &[u8]) -> bool {
    after.strip_prefix(b":").is_some_and(|rest| rest.trim_ascii_start().first().is_some_and(u8::is_ascii_digit))
}

/// Whether the next line underlines this one, as headings are in reStructuredText.
fn is_underlined(text: &[u8], line: usize) -> bool {
    const LEAST: usize = 3;
    let mut lines = text[line..].splitn(3, |byte| *byte == b'\n');
    let (Some(own), Some(next)) = (lines.next(), lines.next()) else { return false };
    let next = next.trim_ascii_end();
    let is_mark = next.first().is_some_and(|mark| matches!(mark, b'=' | b'-' | b'~' | b'^' | b'*' | b'+' | b'#'));
    is_mark && next.len() >= LEAST.max(own.trim_ascii().len()) && next.iter().all(|byte| *byte == next[0])
}

/// Finds out what the innermost open brace before a line belongs to.
fn around(text: &[u8], line: usize) -> Around {
    let from = line.saturating_sub(MAX_AROUND);
    let mut closed = 0;
    for at in memchr::memchr2_iter(b'{', b'}', &text[from..line]).rev() {
        if text[from + at] == b'}' {
            closed += 1;
        } else if closed > 0 {
            closed -= 1;
        } else {
            let before = text[..from + at].trim_ascii_end();
            let line = memchr::memrchr(b'\n', before).map_or(0, |line_break| line_break + 1);
            let head = std::str::from_utf8(&before[line..]).unwrap_or_default();
            let is_type = |word: &str| {
                matches!(word, "struct" | "union" | "class" | "interface" | "namespace" | "trait" | "impl" | "extern")
            };
            let is_head = !head.contains([')', '=', ';']) && head.split_whitespace().any(is_type);
            return if is_head { Around::Type } else { Around::Code };
        }
    }
    Around::Nothing
}

/// The headings of a document, with their kind.
pub fn headings(text: &str) -> Vec<(&str, &'static str)> {
    let start = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let is_heading = |line: &&str| line.starts_with('#') || is_underlined(text.as_bytes(), start(line));
    let shown = text.lines().filter(is_heading).map(|line| line.trim_start_matches('#').trim());
    shown.filter(|heading| heading.contains(char::is_alphanumeric)).map(|heading| (heading, "heading")).collect()
}

/// The names in a source text that look defined, with their kinds.
pub fn defined_names(text: &str) -> Vec<(&str, &'static str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    let (mut found, mut at): (Vec<(&str, &'static str)>, usize) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        if start == at {
            at += 1;
            continue;
        }
        let Some(name) = text.get(start..at).filter(|name| !name.starts_with(|c: char| c.is_ascii_digit())) else {
            continue;
        };
        if let Some(kind) = defined_kind(bytes, start, at)
            && !found.contains(&(name, kind))
        {
            found.push((name, kind));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str, name: &str) -> Option<&'static str> {
        let at = text.find(name).unwrap();
        defined_kind(text.as_bytes(), at, at + name.len())
    }

    #[test]
    fn names_in_definitions_have_a_kind() {
        for (text, name, expected) in [
            ("x\n    async def send_mail(self):", "send_mail", "function"),
            ("pub(crate) fn send_mail() {", "send_mail", "function"),
            ("static int probe(struct device *dev)", "probe", "function"),
            ("ssize_t vfs_read(struct file *file,", "vfs_read", "function"),
            ("extern void mutex_lock(struct mutex *lock);", "mutex_lock", "function"),
            ("#define alloc_pages(mask)", "alloc_pages", "macro"),
            ("#define RETURN(x...)     do { \\", "RETURN", "macro"),
            ("    type Return = G::Return;", "Return", "type"),
            ("export default class Page extends Base {", "Page", "class"),
            ("func (s *Server) Start(port int) error {", "Start", "method"),
            ("struct page {\n", "page", "struct"),
            ("struct page {\n\tint count;", "count", "field"),
            ("struct ops {\n\tstruct page *(*alloc)(int order);", "alloc", "field"),
            ("LIMIT = 3", "LIMIT", "variable"),
            ("int count;", "count", "variable"),
            ("## Migrations\n", "Migrations", "heading"),
            ("Migrations\n==========\n", "Migrations", "heading"),
        ] {
            assert_eq!(kind(text, name), Some(expected), "{text}");
        }
        for (text, name) in [
            ("    return send_mail(x)", "send_mail"),
            ("\tvfs_read(file);", "vfs_read"),
            ("struct page *page_of(void)", "page"),
            ("x = def_of(LIMIT)", "LIMIT"),
            ("if LIMIT == 3", "LIMIT"),
            ("int f(void)\n{\n\tint count;", "count"),
            ("int f(int count)", "count"),
            ("## How migrations work", "migrations"),
            ("    Error: send_mail(x)", "send_mail"),
            (" * Return: 0 if it was sent", "Return"),
            ("#define v0 $0 /* function return value */", "return"),
            ("Does the function return 0?", "return"),
            ("struct page;", "page"),
        ] {
            assert_eq!(kind(text, name), None, "{text}");
        }
    }

    #[test]
    fn names_in_definitions_look_defined() {
        let looks = |text: &str, name: &str| looks_defined(text.as_bytes(), text.find(name).unwrap());
        for (text, name) in [
            ("x\n    async def send_mail(self):", "send_mail"),
            ("pub(crate) fn send_mail() {", "mail"),
            ("static int probe(struct device *dev)", "probe"),
            ("ssize_t vfs_read(struct file *file,", "vfs_read"),
            ("#define alloc_pages(mask)", "alloc_pages"),
            ("LIMIT = 3", "LIMIT"),
            ("## How migrations work", "migrations"),
        ] {
            assert!(looks(text, name), "{text}");
        }
        for (text, name) in [
            ("    return send_mail(x)", "send_mail"),
            ("\tvfs_read(file);", "vfs_read"),
            ("x = def_of(LIMIT)", "LIMIT"),
            ("if LIMIT == 3", "LIMIT"),
        ] {
            assert!(!looks(text, name), "{text}");
        }
    }

    #[test]
    fn the_names_of_a_text_have_kinds() {
        let text = "struct page {\n\tint count;\n};\nint page_count(struct page *page)\n{\n\tint other;\n}\n";
        let names = defined_names(text);
        assert_eq!(names, [("page", "struct"), ("count", "field"), ("page_count", "function")]);
        let text = "Pages\n=====\n\nText.\n\n# Next page\n";
        assert_eq!(headings(text), [("Pages", "heading"), ("Next page", "heading")]);
    }
}
