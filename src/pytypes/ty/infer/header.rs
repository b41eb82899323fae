//! Where to insert the imports that an annotation needs.
//!
//! Owns the top of a file. Does not know about types.

use std::collections::BTreeSet;

use super::annotation::Import;
use crate::pytypes::ty::api::{Expr, Ranged, Stmt, TextRange, TextSize, parse_module};
use crate::pytypes::ty::edits::Edit;

/// The top of a file, where imports can be added.
pub(super) struct Header {
    at: TextSize,
    line_end: &'static str,
    has_type_checking: bool,
    /// Existing imports: (module, name).
    present: BTreeSet<(String, String)>,
}

impl Header {
    /// After the last import at the top of the file, or after the docstring, or before the first statement.
    pub fn parse(text: &str) -> Self {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut header = Self { at: TextSize::new(0), line_end, has_type_checking: false, present: BTreeSet::new() };
        let Ok(parsed) = parse_module(text) else { return header };
        let after = |end: TextSize| {
            let rest = &text[end.to_usize()..];
            let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
            TextSize::try_from(end.to_usize() + line).unwrap_or(end)
        };
        let mut may_be_docstring = true;
        for statement in parsed.suite() {
            match statement {
                Stmt::Expr(one) if may_be_docstring && matches!(&*one.value, Expr::StringLiteral(_)) => {
                    header.at = after(one.end());
                }
                Stmt::Import(one) => header.at = after(one.end()),
                Stmt::ImportFrom(one) => {
                    header.at = after(one.end());
                    let module = one.module.as_ref().map_or_else(String::new, ToString::to_string);
                    for alias in one.names.iter().filter(|alias| alias.asname.is_none()) {
                        header.present.insert((module.clone(), alias.name.to_string()));
                    }
                }
                other => {
                    if may_be_docstring {
                        header.at = line_start(text, other.start());
                    }
                    break;
                }
            }
            may_be_docstring = false;
        }
        header.has_type_checking = header.present.contains(&("typing".to_owned(), "TYPE_CHECKING".to_owned()));
        header
    }

    /// The edits that add an import; none if it exists.
    pub fn import(&self, import: &Import) -> Vec<Edit> {
        if self.present.contains(&(import.module.clone(), import.name.clone())) {
            return Vec::new();
        }
        let (module, name, end) = (&import.module, &import.name, self.line_end);
        let line = format!("from {module} import {name}{end}");
        let edit = |text: String| Edit { range: TextRange::empty(self.at), text };
        if !import.is_for_checking {
            return vec![edit(line)];
        }
        let mut edits = Vec::new();
        if !self.has_type_checking {
            edits.push(edit(format!("from typing import TYPE_CHECKING{end}")));
        }
        edits.push(edit(format!("if TYPE_CHECKING:{end}    {line}")));
        edits
    }
}

fn line_start(text: &str, at: TextSize) -> TextSize {
    let before = &text[..at.to_usize()];
    TextSize::try_from(before.rfind('\n').map_or(0, |newline| newline + 1)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pytypes::ty::edits;

    #[test]
    fn imports_go_after_those_that_are_there() {
        let import = |text: &str, is_for_checking: bool| {
            let wanted = Import { module: "shop".to_owned(), name: "Cart".to_owned(), is_for_checking };
            edits::apply(text, &Header::parse(text).import(&wanted))
        };
        assert_eq!(
            import("\"\"\"Doc.\"\"\"\nimport os\n\nx = 1\n", false),
            "\"\"\"Doc.\"\"\"\nimport os\nfrom shop import Cart\n\nx = 1\n"
        );
        assert_eq!(import("#!/usr/bin/python\nx = 1\n", false), "#!/usr/bin/python\nfrom shop import Cart\nx = 1\n");
        assert_eq!(import("from shop import Cart\n", false), "from shop import Cart\n");
        assert_eq!(
            import("x = 1\n", true),
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop import Cart\nx = 1\n"
        );
    }
}
