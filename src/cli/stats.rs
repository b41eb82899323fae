//! `ixmcp stats`: the tool `stats`, for people.

use clap::Args;
use serde_json::{Value, json};

use super::{Outcome, Session, output, sync};
use crate::error::Result;
use crate::model::printable;

/// Show what the index holds and how it is kept
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let answer = session.call("stats", json!({}))?;
    if typed.json {
        output::json(&answer);
        return Ok(Outcome::Found);
    }
    let number = |name: &str| answer[name].as_u64().unwrap_or(0);
    output::line(&format!("root        {}", output::text(&answer["root"])));
    output::line(&format!("files       {}", number("total_files")));
    output::line(&format!("chunks      {}", number("total_chunks")));
    output::line(&format!("symbols     {}", number("total_symbols")));
    output::line(&format!("references  {}", number("total_references")));
    output::line(&format!(
        "index       {}, schema {}",
        sync::size(number("index_size_bytes")),
        answer["schema_version"]
    ));
    if let Some(changed) = answer["last_update"].as_str() {
        output::line(&format!("changed     {changed}"));
    }
    for line in table(&answer["languages"]) {
        output::line(&line);
    }
    Ok(Outcome::Found)
}

/// The languages with their files and lines, in columns as wide as what stands in them.
fn table(languages: &Value) -> Vec<String> {
    let rows: Vec<[String; 3]> = languages
        .as_object()
        .into_iter()
        .flatten()
        .map(|(language, counts)| [printable(language), counts["files"].to_string(), counts["lines"].to_string()])
        .collect();
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second, third) = (wide(0), wide(1), wide(2));
    let word = |number: &str, one: &'static str, many: &'static str| if number == "1" { one } else { many };
    rows.iter()
        .map(|[language, files, lines]| {
            let (of_files, of_lines) = (word(files, "file ", "files"), word(lines, "line", "lines"));
            format!("  {language:<first$}  {files:>second$} {of_files}  {lines:>third$} {of_lines}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_languages_are_as_wide_as_what_stands_in_them() {
        let languages = json!({
            "a-language-with-a-long-name": { "files": 1, "lines": 1 },
            "c": { "files": 12, "lines": 3 },
            "rust": { "files": 123_456_789, "lines": 98_765 },
        });
        assert_eq!(
            table(&languages),
            [
                "  a-language-with-a-long-name          1 file       1 line",
                "  c                                   12 files      3 lines",
                "  rust                         123456789 files  98765 lines",
            ]
        );
        assert!(table(&Value::Null).is_empty());
    }
}
