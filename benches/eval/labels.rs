//! Queries whose relevant files or lines are known, from JSON Lines.

use std::path::Path;

use serde::Deserialize;

use super::measure::Target;

/// One line of a set of queries.
#[derive(Clone, Debug, Deserialize)]
pub struct LabelledQuery {
    pub query: String,
    #[serde(deserialize_with = "targets")]
    pub relevant: Vec<Target>,
    pub kind: Option<String>,
    pub half: Option<String>,
    pub tree: Option<String>,
}

impl LabelledQuery {
    /// Counts a hit anywhere in a relevant file.
    pub fn leave_out_lines(&mut self) {
        self.relevant.iter_mut().for_each(|target| target.lines = None);
        self.relevant.dedup();
    }

    /// Refuses a line by which nothing can be measured.
    fn checked(self) -> Result<Self, String> {
        if self.query.trim().is_empty() {
            return Err("the query is empty".to_owned());
        }
        if self.relevant.is_empty() {
            return Err("no file is relevant".to_owned());
        }
        let is_turned = |target: &&Target| target.lines.is_some_and(|(first, last)| first == 0 || first > last);
        match self.relevant.iter().find(is_turned) {
            Some(target) => Err(format!("the lines of {} are not a range that starts at 1 or later", target.path)),
            None => Ok(self),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Relevant {
    Text(String),
    Lines { path: String, start_line: u32, end_line: u32 },
}

impl Relevant {
    /// `path`, `path:line` or `path:from-to`.
    fn target(self) -> Target {
        let (path, lines) = match self {
            Self::Lines { path, start_line, end_line } => (path, Some((start_line, end_line))),
            Self::Text(text) => {
                let lines = text.rsplit_once(':').and_then(|(path, lines)| {
                    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
                    Some((path.to_owned(), Some((first.parse().ok()?, last.parse().ok()?))))
                });
                lines.unwrap_or((text, None))
            }
        };
        Target { path: path.trim_start_matches("./").to_owned(), lines }
    }
}

fn targets<'d, D: serde::Deserializer<'d>>(from: D) -> Result<Vec<Target>, D::Error> {
    Ok(Vec::<Relevant>::deserialize(from)?.into_iter().map(Relevant::target).collect())
}

/// Reads a file of queries; an error names the line.
pub fn read(path: &Path) -> Result<Vec<LabelledQuery>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let read: Result<LabelledQuery, _> = serde_json::from_str(line);
            let checked = read.map_err(|error| error.to_string()).and_then(LabelledQuery::checked);
            checked.map_err(|error| format!("{}:{}: {error}", path.display(), at + 1))
        })
        .collect()
}
