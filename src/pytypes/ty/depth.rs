//! Text that is nested deeper than Python itself takes: it is not worth an engine's life.
//!
//! Owns the measure. It reads no more of the language than strings and comments, so that nothing is spent on such a file.

/// As deep as brackets may stand in each other: CPython's tokenizer takes no more.
const DEEPEST: usize = 200;

/// Where brackets begin to be nested too deep.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    // Most texts have not even as many brackets together as a guess at their depth needs.
    let mut depth = 0_usize;
    let may_be = bytes.iter().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    });
    if may_be { of_code(bytes) } else { None }
}

/// The same, strings and comments left out.
fn of_code(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'#' => at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at),
            b'"' | b'\'' => at = string_end(bytes, at),
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > DEEPEST {
                    return Some(at);
                }
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ => at += 1,
        }
    }
    None
}

/// Just past the string that begins here; one that is not closed ends with its line, or with the text.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let is_long = bytes[start..].starts_with(&[quote; 3]);
    let mut at = start + if is_long { 3 } else { 1 };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' if !is_long => return at,
            _ if *byte == quote && !is_long => return at + 1,
            _ if *byte == quote && bytes[at..].starts_with(&[quote; 3]) => return at + 3,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_text_are_no_depth() {
        let open = "[".repeat(DEEPEST);
        assert_eq!(too_deep(&format!("x = {open}{}", "]".repeat(DEEPEST))), None);
        assert_eq!(too_deep(&format!("x = {open}(")), Some(4 + DEEPEST));
        for harmless in [
            format!("x = \"{open}(\""),
            format!("# {open}(\n"),
            format!("'''{open}\n'\\''({open}'''"),
            "()".repeat(500),
        ] {
            assert_eq!(too_deep(&harmless), None, "{harmless:.20}");
        }
        assert_eq!(too_deep(&format!("x = \"a\\\"b\" + {open}(")), Some(13 + DEEPEST));
        // What is not closed ends with its line.
        assert_eq!(too_deep(&format!("x = \"\n{open}(")), Some(6 + DEEPEST));
    }
}
