//! `FILE:LINE:COLUMN`, as editors and compilers write a place.

use std::str::FromStr;

/// A place in a file that a person points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
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
        Ok(Self { file: file.to_owned(), line, column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_from_its_end() {
        let place: Place = "a:b/c.py:12:3".parse().unwrap();
        assert_eq!((place.file.as_str(), place.line, place.column), ("a:b/c.py", 12, 3));
        for wrong in ["", "a.py", "a.py:1", "a.py:0:1", "a.py:1:x", ":1:1"] {
            assert!(wrong.parse::<Place>().is_err(), "{wrong}");
        }
    }
}
