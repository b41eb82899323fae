//! Hints as a person at a terminal reads them: by commands, not by tools.
//!
//! Owns the translation alone. In a hint a tool's name stands in backticks, so that it is told from the name of a file or a
//! symbol; which command asks which tool stands in `shapes`.

use super::shapes;
use crate::error::Error;
use crate::tools;

/// The error with the commands in its hint that do what the tools there do.
pub(super) fn in_commands(mut error: Error) -> Error {
    error.hint = error.hint.map(|hint| told(&hint));
    error
}

fn told(hint: &str) -> String {
    let parts: Vec<String> = hint.split('`').enumerate().map(|(at, part)| command(at, part)).collect();
    parts.join("`")
}

/// Every second part stands between backticks.
fn command(at: usize, part: &str) -> String {
    if at.is_multiple_of(2) || tools::find(part).is_err() {
        return part.to_owned();
    }
    shapes::command_of(part).map_or_else(|| format!("ixmcp call {part}"), |words| format!("ixmcp {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_told_as_commands_and_nothing_else_is_changed() {
        for (hint, shown) in [
            ("Index it with `index_files` first.", "Index it with `ixmcp documents index` first."),
            ("`symbols` lists those of the file.", "`ixmcp call symbols` lists those of the file."),
            ("`goto_definition` or `get_symbol`", "`ixmcp def` or `ixmcp symbol`"),
            ("Did you mean get_slice, src/query?", "Did you mean get_slice, src/query?"),
            ("`ixmcp call query --args` takes `limit`", "`ixmcp call query --args` takes `limit`"),
            ("an odd ` query", "an odd ` query"),
        ] {
            assert_eq!(told(hint), shown);
        }
    }
}
