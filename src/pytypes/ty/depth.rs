//! Source text that is nested more deeply than Python accepts. It would overflow the engine's stack.
//!
//! Owns the check. It only recognizes brackets, strings and comments, so it is cheap.

/// The maximum nesting of brackets in CPython's tokenizer.
const MAX_NESTING: usize = 200;

/// The offset of the first bracket that is nested too deeply.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    // A fast upper bound: most texts do not even reach the limit with strings and comments counted.
    let mut depth = 0_usize;
    let may_be = bytes.iter().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_NESTING
    });
    if may_be { of_code(bytes) } else { None }
}

/// Like [`too_deep`], without brackets in strings and comments.
fn of_code(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'#' => at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at),
            b'"' | b'\'' => at = string_end(bytes, at),
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > MAX_NESTING {
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

/// The end of the string that starts here. An unterminated string ends with its line, or with the text.
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
    fn brackets_in_strings_do_not_count() {
        let open = "[".repeat(MAX_NESTING);
        assert_eq!(too_deep(&format!("x = {open}{}", "]".repeat(MAX_NESTING))), None);
        assert_eq!(too_deep(&format!("x = {open}(")), Some(4 + MAX_NESTING));
        for harmless in [
            format!("x = \"{open}(\""),
            format!("# {open}(\n"),
            format!("'''{open}\n'\\''({open}'''"),
            "()".repeat(500),
        ] {
            assert_eq!(too_deep(&harmless), None, "{harmless:.20}");
        }
        assert_eq!(too_deep(&format!("x = \"a\\\"b\" + {open}(")), Some(13 + MAX_NESTING));
        // An unterminated string ends with its line.
        assert_eq!(too_deep(&format!("x = \"\n{open}(")), Some(6 + MAX_NESTING));
    }
}
