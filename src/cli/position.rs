//! `FILE:LINE:COLUMN`, the position format of editors and compilers, and `FILE:cell N:LINE:COLUMN`, as used by ty.

use std::str::FromStr;

use serde_json::{Value, json};

use super::Session;

/// A position in a file, given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourcePosition {
    pub file: String,
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
}

impl SourcePosition {
    /// The position as tool arguments.
    pub fn arguments(&self, session: &Session) -> Value {
        let Self { file, cell, line, column } = self;
        let mut arguments = json!({ "file": session.file(file), "line": line, "column": column });
        if let Some(cell) = cell {
            arguments["cell"] = json!(cell);
        }
        arguments
    }
}

impl FromStr for SourcePosition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "give FILE:LINE:COLUMN, both from 1".to_owned();
        // From the right, because the path may contain colons.
        let mut parts = text.trim_end_matches(':').rsplitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok()).filter(|number| *number > 0);
        let (Some(column), Some(line)) = (number(), number()) else { return Err(wrong()) };
        let file = parts.next().filter(|file| !file.is_empty()).ok_or_else(wrong)?;
        let (file, cell) = in_cell(file).map_or((file, None), |(file, cell)| (file, Some(cell)));
        Ok(Self { file: file.to_owned(), cell, line, column })
    }
}

/// The notebook and the cell number in `book.ipynb:cell 3`; the space is optional.
fn in_cell(text: &str) -> Option<(&str, u32)> {
    let (file, cell) = text.rsplit_once(":cell")?;
    let number = cell.trim_start().parse().ok().filter(|number| *number > 0)?;
    (!file.is_empty()).then_some((file, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_parsed_from_its_end() {
        let position: SourcePosition = "a:b/c.py:12:3".parse().unwrap();
        assert_eq!((position.file.as_str(), position.line, position.column), ("a:b/c.py", 12, 3));
        for (text, file, cell) in [
            ("a.ipynb:cell 3:12:3", "a.ipynb", Some(3)),
            ("a.ipynb:cell3:12:3", "a.ipynb", Some(3)),
            ("a:cell x:12:3", "a:cell x", None),
        ] {
            let position: SourcePosition = text.parse().unwrap();
            assert_eq!(
                (position.file.as_str(), position.cell, position.line, position.column),
                (file, cell, 12, 3),
                "{text}"
            );
        }
        for wrong in ["", "a.py", "a.py:1", "a.py:0:1", "a.py:1:x", ":1:1"] {
            assert!(wrong.parse::<SourcePosition>().is_err(), "{wrong}");
        }
    }
}
