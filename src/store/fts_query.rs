//! Queries in the language of the FTS.
//!
//! Owns their quoting: user text never becomes an operator. Does not own running them ([`super::search`]).

/// A query in the FTS's own language, built from quoted strings only: user text never becomes an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtsQuery(String);

impl FtsQuery {
    /// The words of `text` next to each other, in order; `None` when it has no letter or digit.
    pub fn phrase(text: &str) -> Option<Self> {
        let has_word = text.chars().any(|c| c.is_alphanumeric() || c == '_');
        // The tokenizer ends a C string at NUL.
        let text = text.replace('\0', " ").replace('"', "\"\"");
        has_word.then(|| Self(format!("\"{text}\"")))
    }

    /// Words that begin with the last word of `text`.
    pub fn prefix(text: &str) -> Option<Self> {
        Self::phrase(text).map(|Self(phrase)| Self(format!("{phrase}*")))
    }

    /// Matches only among the names that chunks define.
    #[must_use]
    pub fn in_names(self) -> Self {
        Self(format!("names : {}", self.0))
    }

    /// Chunks that define a symbol of that name, and others that define one of the same words.
    pub(super) fn names(name: &str) -> Option<Self> {
        Self::phrase(name).map(Self::in_names)
    }

    /// Matches only where a path begins.
    #[must_use]
    pub(super) fn at_start_of_path(self) -> Self {
        Self(format!("path : ^{}", self.0))
    }

    pub fn all(parts: impl IntoIterator<Item = Self>) -> Option<Self> {
        Self::join(parts, " AND ")
    }

    pub fn any(parts: impl IntoIterator<Item = Self>) -> Option<Self> {
        Self::join(parts, " OR ")
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    fn join(parts: impl IntoIterator<Item = Self>, operator: &str) -> Option<Self> {
        let parts: Vec<String> = parts.into_iter().map(|Self(part)| part).collect();
        match parts.as_slice() {
            [] => None,
            [one] => Some(Self(one.clone())),
            _ => Some(Self(format!("({})", parts.join(operator)))),
        }
    }
}
