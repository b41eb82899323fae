//! Formulas, `$like this$` and `$$like this$$`, and Logseq's macros, `{{query [[like]] #this}}`: nothing in them is a mark.
//!
//! Owns where they begin and end. One that is never closed is text.

/// The formula and the macro that are open where prose is looked at.
#[derive(Default)]
pub(super) struct Hidden {
    formula: Option<Formula>,
    /// Marks before the macro.
    command: Option<usize>,
}

struct Formula {
    /// How many `$` close it.
    dollars: usize,
    /// Over several paragraphs.
    is_block: bool,
    /// Marks before it.
    marks: usize,
}

impl Hidden {
    /// The characters to read.
    pub(super) fn is_delimiter(byte: u8) -> bool {
        matches!(byte, b'$' | b'{' | b'}')
    }

    /// Reads the delimiter at `at`, after `marks` marks. Returns the byte behind what was read, and how many marks are left.
    pub(super) fn read(&mut self, text: &str, at: usize, marks: usize) -> (usize, usize) {
        if text.as_bytes()[at] == b'$' { self.dollar(text, at, marks) } else { self.brace(&text[at..], at, marks) }
    }

    /// Ends what only a paragraph can hold.
    pub(super) fn end_paragraph(&mut self) {
        self.formula.take_if(|formula| !formula.is_block);
        self.command = None;
    }

    fn dollar(&mut self, text: &str, at: usize, marks: usize) -> (usize, usize) {
        let bytes = text.as_bytes();
        let dollars = if bytes.get(at + 1) == Some(&b'$') { 2 } else { 1 };
        let behind = at + dollars;
        let is_blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
        let is_digit = bytes.get(behind).is_some_and(u8::is_ascii_digit);
        match &self.formula {
            // Only another `$$` closes it.
            Some(open) if open.dollars > dollars => return (behind, marks),
            Some(open) if open.dollars == dollars && (dollars == 2 || !is_blank(bytes[..at].last()) && !is_digit) => {
                let before = open.marks;
                self.formula = None;
                return (behind, before);
            }
            _ => {}
        }
        let is_block = dollars == 2 && begins_line(&text[..at]);
        let opens = dollars == 2 || !is_blank(bytes.get(behind));
        self.formula = opens.then_some(Formula { dollars, is_block, marks });
        (behind, marks)
    }

    fn brace(&mut self, rest: &str, at: usize, marks: usize) -> (usize, usize) {
        if rest.starts_with("}}") {
            return (at + 2, self.command.take().unwrap_or(marks));
        }
        let Some(inside) = rest.strip_prefix("{{") else { return (at + 1, marks) };
        // What `embed` shows is a link.
        if !inside.trim_start().starts_with("embed") {
            self.command.get_or_insert(marks);
        }
        (at + 2, marks)
    }
}

/// Whether nothing but the marks of lists and quotations is before it on its line.
fn begins_line(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t', '>', '-', '*', '+']);
    before.is_empty() || before.ends_with('\n')
}
