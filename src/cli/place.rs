//! `FILE:LINE:COLUMN`, as editors and compilers write a place, and `FILE:cell N:LINE:COLUMN`, as ty does in notebooks.

use std::str::FromStr;

use serde_json::{Value, json};

use super::Session;

/// A place in a file that a person points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub file: String,
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
}

impl Place {
    /// As the tools take it.
    pub fn arguments(&self, session: &Session) -> Value {
        let Self { file, cell, line, column } = self;
        let mut arguments = json!({ "file": session.file(file), "line": line, "column": column });
        if let Some(cell) = cell {
            arguments["cell"] = json!(cell);
        }
        arguments
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "give FILE:LINE:COLUMN, both from 1".to_owned();
        // From the right: a path may have colons of its own.
        let mut parts = text.trim_end_matches(':').rsplitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok()).filter(|number| *number > 0);
        let (Some(column), Some(line)) = (number(), number()) else { return Err(wrong()) };
        let file = parts.next().filter(|file| !file.is_empty()).ok_or_else(wrong)?;
        let (file, cell) = in_cell(file).map_or((file, None), |(file, cell)| (file, Some(cell)));
        Ok(Self { file: file.to_owned(), cell, line, column })
    }
}

/// The notebook and the cell of `book.ipynb:cell 3`; the blank may be left out.
fn in_cell(text: &str) -> Option<(&str, u32)> {
    let (file, cell) = text.rsplit_once(":cell")?;
    let number = cell.trim_start().parse().ok().filter(|number| *number > 0)?;
    (!file.is_empty()).then_some((file, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_from_its_end() {
        let place: Place = "a:b/c.py:12:3".parse().unwrap();
        assert_eq!((place.file.as_str(), place.line, place.column), ("a:b/c.py", 12, 3));
        for (text, file, cell) in [
            ("a.ipynb:cell 3:12:3", "a.ipynb", Some(3)),
            ("a.ipynb:cell3:12:3", "a.ipynb", Some(3)),
            ("a:cell x:12:3", "a:cell x", None),
        ] {
            let place: Place = text.parse().unwrap();
            assert_eq!((place.file.as_str(), place.cell, place.line, place.column), (file, cell, 12, 3), "{text}");
        }
        for wrong in ["", "a.py", "a.py:1", "a.py:0:1", "a.py:1:x", ":1:1"] {
            assert!(wrong.parse::<Place>().is_err(), "{wrong}");
        }
    }
}
