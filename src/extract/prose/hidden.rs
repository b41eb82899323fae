//! Formulas, `$like this$` and `$$like this$$`: nothing in them is a mark.
//!
//! Owns where they begin and end. One that is never closed is text.

/// The formula that is open where prose is looked at.
#[derive(Default)]
pub(super) struct Hidden {
    formula: Option<Formula>,
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
    /// Ends what only a paragraph can hold.
    pub(super) fn end_paragraph(&mut self) {
        self.formula.take_if(|formula| !formula.is_block);
    }

    /// Reads the `$` at `at`, after so many marks. Returns the byte behind what was read, and how many marks are left.
    pub(super) fn dollar(&mut self, text: &str, at: usize, marks: usize) -> (usize, usize) {
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
}

/// Whether nothing but the marks of lists and quotations is before it on its line.
fn begins_line(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t', '>', '-', '*', '+']);
    before.is_empty() || before.ends_with('\n')
}
