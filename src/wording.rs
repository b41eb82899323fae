//! Texts of errors, with parts that each edge writes in its own words.
//!
//! Owns the parts: tools, their arguments and commands are values, not words in a text. Does not own the words: those of tools are
//! here, because logs have them, too; `cli` and the page have others.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A text, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    Text(String),
    /// The argument of a tool that an error is about.
    Argument(String),
    /// The argument of a tool that is to be given or left out.
    Name(String),
    /// The arguments that give a position in a file.
    Position,
    Tool(String),
    /// A command of this program, without the name of the program.
    Command(String),
    /// Between two sentences.
    Break,
}

/// An argument of a tool that an error is about.
pub struct Argument<'a>(pub &'a str);

/// An argument of a tool that is to be given or left out.
pub struct Name<'a>(pub &'a str);

/// The arguments that give a position in a file.
pub struct Position;

/// A tool, by its name.
pub struct Tool<'a>(pub &'a str);

/// A command of this program, without the name of the program.
pub struct Command<'a>(pub &'a str);

/// The word of an edge for a part that is not text; `None` if it has none.
pub type Words<'w> = dyn Fn(&Part) -> Option<String> + 'w;

impl Wording {
    /// Adds a sentence.
    #[must_use]
    pub fn then(mut self, next: impl Into<Self>) -> Self {
        self.0.push(Part::Break);
        self.0.extend(next.into().0);
        self
    }

    /// The whole text. A part for which an edge has no word is in the words of tools.
    pub fn written(&self, words: &Words) -> String {
        self.0.iter().map(|part| part.written(words).unwrap_or_else(|| part.to_string())).collect()
    }

    /// The sentences that an edge has words for; `None` if no sentence is left.
    pub fn advice(&self, words: &Words) -> Option<String> {
        let sentences = self.0.split(|part| *part == Part::Break);
        let written = |parts: &[Part]| parts.iter().map(|part| part.written(words)).collect::<Option<String>>();
        let written: Vec<String> = sentences.filter_map(written).collect();
        (!written.is_empty()).then(|| written.join(" "))
    }

    #[must_use]
    pub fn followed_by(mut self, text: &str) -> Self {
        self.0.push(text.into());
        self
    }

    #[must_use]
    pub fn preceded_by(mut self, text: &str) -> Self {
        self.0.insert(0, text.into());
        self
    }

    /// Changes the text between the other parts.
    #[must_use]
    pub fn map_text(self, change: impl Fn(&str) -> String) -> Self {
        let changed = |part| match part {
            Part::Text(text) => Part::Text(change(&text)),
            other => other,
        };
        Self(self.0.into_iter().map(changed).collect())
    }

    /// Whether all edges write it alike.
    pub fn is_text(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Text(_) | Part::Break))
    }
}

impl Part {
    fn written(&self, words: &Words) -> Option<String> {
        match self {
            Self::Text(_) | Self::Break => Some(self.to_string()),
            other => words(other),
        }
    }
}

/// In the words of tools.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Argument(name) => write!(f, "argument `{name}`"),
            Self::Name(name) | Self::Tool(name) => write!(f, "`{name}`"),
            Self::Position => f.write_str("`file`, `line` and `column`"),
            Self::Command(words) => write!(f, "`ixmcp {words}`"),
            Self::Break => f.write_str(" "),
        }
    }
}

/// In the words of tools.
impl fmt::Display for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| part.fmt(f))
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Argument<'_>> for Part {
    fn from(Argument(name): Argument) -> Self {
        Self::Argument(name.to_owned())
    }
}

impl From<Name<'_>> for Part {
    fn from(Name(name): Name) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<Position> for Part {
    fn from(Position: Position) -> Self {
        Self::Position
    }
}

impl From<Tool<'_>> for Part {
    fn from(Tool(name): Tool) -> Self {
        Self::Tool(name.to_owned())
    }
}

impl From<Command<'_>> for Part {
    fn from(Command(words): Command) -> Self {
        Self::Command(words.to_owned())
    }
}

impl From<&str> for Wording {
    fn from(text: &str) -> Self {
        Self(vec![text.into()])
    }
}

impl From<String> for Wording {
    fn from(text: String) -> Self {
        Self(vec![text.into()])
    }
}

macro_rules! from_tuples {
    ($($part:ident)*) => {
        impl<$($part: Into<Part>),*> From<($($part,)*)> for Wording {
            #[expect(non_snake_case, reason = "a type and its value have one name")]
            fn from(($($part,)*): ($($part,)*)) -> Self {
                Self(vec![$($part.into()),*])
            }
        }
    };
}

from_tuples!(A B);
from_tuples!(A B C);
from_tuples!(A B C D);
from_tuples!(A B C D E);
from_tuples!(A B C D E F G);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_without_a_word_are_left_out_of_advice_and_parts_of_a_message_are_not() {
        let advice = Wording::from(("Give ", Position, ".")).then(("Search with ", Tool("query"), "."));
        let has_no_position = |part: &Part| match part {
            Part::Tool(name) => Some(format!("<{name}>")),
            _ => None,
        };
        assert_eq!(advice.advice(&has_no_position).as_deref(), Some("Search with <query>."));
        assert_eq!(advice.advice(&|_| None), None);
        assert_eq!(advice.to_string(), "Give `file`, `line` and `column`. Search with `query`.");
        let message = Wording::from((Argument("text"), " is empty"));
        assert_eq!(message.written(&|_| None), "argument `text` is empty");
        assert!(!message.is_text() && Wording::from("a").then("b").is_text());
    }
}
