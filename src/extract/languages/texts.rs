//! Languages recognized by a text, where a file's name does not show it.
//!
//! Owns the evidence for C++ and Objective-C in headers, for MATLAB in `.m`, and for types in JavaScript.

/// The language of a header, by syntax that C lacks. Lines that C headers have only for C++ compilers do not count.
pub(super) fn of_header(text: &str) -> Option<&'static str> {
    const OBJC: [&str; 7] =
        ["@interface", "@protocol", "@property", "@class", "NS_ASSUME_NONNULL_BEGIN", "FOUNDATION_EXPORT", "#import "];
    if code_lines(text).any(|line| OBJC.iter().any(|lead| line.starts_with(lead))) {
        return Some("objc");
    }
    code_lines(text).any(is_cpp).then_some("cpp")
}

/// Whether a line of a header is C++ and not C.
fn is_cpp(line: &str) -> bool {
    const LEADS: [&str; 19] = [
        "class ",
        "namespace ",
        "inline namespace ",
        "template<",
        "template <",
        "public:",
        "private:",
        "protected:",
        "using ",
        "virtual ",
        "explicit ",
        "friend ",
        "constexpr ",
        "concept ",
        "enum class ",
        "enum struct ",
        "mutable ",
        "export module",
        "import <",
    ];
    const PARTS: [&str; 14] = [
        "std::",
        " operator",
        ") const;",
        ") const {",
        ") const override",
        ") override",
        ") noexcept",
        "= default;",
        "= delete;",
        "static_cast<",
        "reinterpret_cast<",
        "const_cast<",
        "typename ",
        "decltype(",
    ];
    if line.starts_with('#') {
        return false;
    }
    let line = line.split("//").next().unwrap_or(line);
    LEADS.iter().any(|lead| line.starts_with(lead) && !line.starts_with("using namespace_"))
        || PARTS.iter().any(|part| line.contains(part))
        || has_reference(line)
        || has_scope(line)
}

/// `const Vec3 &v` or `Vec3 &v,`: no expression is in a head of C.
fn has_reference(line: &str) -> bool {
    line.contains("const ")
        && line.match_indices('&').any(|(at, _)| {
            let before = line[..at].trim_end();
            let after = line[at + 1..].trim_start();
            let is_type = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '>'));
            is_type
                && !after.starts_with('&')
                && after.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | ')' | ','))
        })
        && !line.contains(" = ")
        && !line.contains("return ")
        && !line.contains("if (")
}

fn has_scope(line: &str) -> bool {
    line.match_indices("::").any(|(at, _)| {
        line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '>'))
            && line[at + 2..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '~'))
    }) && !line.contains('"')
}

/// Lines of code, trimmed: no comments, and not what `#ifdef __cplusplus` holds only for C++.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    // How many conditionals are open, and the one that is for C++.
    let (mut depth, mut skipped) = (0_usize, None);
    let mut in_comment = false;
    text.lines().map(str::trim_start).filter(move |line| {
        if in_comment {
            in_comment = !line.contains("*/");
            return false;
        }
        if line.starts_with("/*") {
            in_comment = !line.contains("*/");
            return false;
        }
        if let Some(directive) = line.strip_prefix('#').map(str::trim_start) {
            if directive.starts_with("if") {
                depth += 1;
                if skipped.is_none() && directive.contains("__cplusplus") && !directive.starts_with("ifndef") {
                    skipped = Some(depth);
                }
            } else if directive.starts_with("endif") {
                if skipped == Some(depth) {
                    skipped = None;
                }
                depth = depth.saturating_sub(1);
            } else if directive.starts_with("el") && skipped == Some(depth) {
                skipped = None;
            }
        }
        skipped.is_none() && !line.is_empty() && !line.starts_with("//") && !line.starts_with('*')
    })
}

/// Whether a `.m` is MATLAB: its comments, functions and classes begin lines as nothing does in Objective-C.
pub(super) fn is_matlab(text: &str) -> bool {
    for line in text.lines().map(str::trim_start).filter(|line| !line.is_empty()) {
        let is_word =
            |word: &str| line.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '(']));
        if line.starts_with('%')
            || is_word("function")
            || is_word("classdef")
            || is_word("end")
            || line.starts_with("...")
        {
            return true;
        }
        if line.starts_with(['#', '@', '/']) || line.ends_with(['{', '}']) {
            return false;
        }
        if line.ends_with(';') && line.contains(" = ") && !line.starts_with(char::is_uppercase) {
            // `x = zeros(3);` and `int x = 3;`
            return line.split(" = ").next().is_some_and(|name| !name.trim().contains([' ', '*']));
        }
    }
    false
}

/// Whether JavaScript has types: Flow's mark is in a comment at the head of the file, or an alias shows them.
pub(super) fn is_flow(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(4_000)];
    let is_marked = memchr::memmem::find_iter(head.as_bytes(), b"@flow").any(|at| {
        let before = head[..at].trim_end_matches([' ', '\t']);
        before.ends_with(['*', '/', '\n'])
    }) || head.contains("@noflow");
    is_marked || (memchr::memmem::find(text.as_bytes(), b"type ").is_some() && text.lines().any(is_typed))
}

fn is_typed(line: &str) -> bool {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let line = line.strip_prefix("opaque ").unwrap_or(line);
    if line.starts_with("import type {") || line.starts_with("import typeof ") {
        return true;
    }
    let Some(rest) = line.strip_prefix("type ") else { return false };
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or_default();
    let after = rest[name.len()..].trim_start();
    !name.is_empty()
        && (after.starts_with('=') && !after.starts_with("==") || after.starts_with('<') && after.contains("> ="))
}
