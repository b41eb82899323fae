//! Blocks: the lines in which a local variable or type is visible.
//!
//! Owns how a block is recognized, by the indentation of code whose blocks have braces. `resolve` asks which variable a name is.

use super::kinds;
use super::opened::Text;
use crate::store::DefinitionNode;

/// Whether a definition is a variable, which other files cannot refer to unless the file is a module of it.
pub(super) fn is_variable(declared: &DefinitionNode) -> bool {
    matches!(declared.definition.kind.as_str(), "variable" | "constant")
}

/// The lines that see a definition that is local to a block; `None` if it is in no block, or in another definition.
pub(super) fn block_of(text: &Text, declared: &DefinitionNode) -> Option<(u32, u32)> {
    let definition = &declared.definition;
    let is_in_other = kinds::is_member(declared) || (definition.container.is_some() && !is_variable(declared));
    let is_exported = text.line(definition.line).trim_start().starts_with("export ");
    if is_in_other || is_exported { None } else { block_around(text, definition.line) }
}

/// The lines of the block in which a line is; `None` if it is outside of all blocks.
fn block_around(text: &Text, line: u32) -> Option<(u32, u32)> {
    let own = indent(text.line(line));
    if own == 0 {
        return None;
    }
    let is_outer = |number: &u32| {
        let line = text.line(*number);
        !line.trim().is_empty() && indent(line) < own
    };
    let opens = |number: &u32| is_outer(number) && text.line(*number).contains('{');
    let closes = |number: &u32| is_outer(number) && text.line(*number).trim_start().starts_with('}');
    let start = (1..line).rev().find(opens).unwrap_or(1);
    let end = (line + 1..=text.count()).find(closes).unwrap_or_else(|| text.count());
    Some((start, end))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_what_is_indented_between_braces() {
        let text = Text::new(
            "\
test('one', () => {
  const a = 1;
  expect(a).toBe(1);
});

test('two', () => {
  const text = `
unindented`;
  if (text) {
    const a = 2;
    use(a);
  }
});
const last = 1;
"
            .to_owned(),
        );
        assert_eq!(block_around(&text, 2), Some((1, 4)));
        assert_eq!(block_around(&text, 7), Some((6, 13)));
        assert_eq!(block_around(&text, 10), Some((9, 12)));
        assert_eq!(block_around(&text, 14), None);
    }
}
