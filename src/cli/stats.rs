//! `ixmcp stats`: the tool `stats`, for people.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};

use super::{Outcome, Session, output, sync};
use crate::error::Result;
use crate::model::printable;
use crate::tools::stats::{Answer, Language};

/// Show statistics of the index
#[derive(Debug, Args)]
pub(super) struct Arguments {}

pub(super) fn run(session: &Session, _: &Arguments) -> Result<Outcome> {
    if !session.named.is_empty() {
        let answer = session.call_as_json("stats", json!({}))?;
        return session.show(&answer, true, || print_all(&answer));
    }
    let answer = session.call::<Answer>("stats", json!({}))?;
    session.show(&answer.json, true, || print(&answer))
}

/// The sums of several repositories, then one line for each.
fn print_all(answer: &Value) {
    let number = |of: &Value, name: &str| of[name].as_u64().unwrap_or(0);
    let line = |of: &Value, name: &str| {
        let (files, chunks) = (number(of, "total_files"), number(of, "total_chunks"));
        let size = sync::size(number(of, "index_size_bytes"));
        let unit = |count, one, many| if count == 1 { one } else { many };
        let (of_files, of_chunks) = (unit(files, "file ", "files"), unit(chunks, "chunk ", "chunks"));
        output::line(&format!("{files:>9} {of_files}  {chunks:>9} {of_chunks}  {size:>9}  {}", printable(name)));
    };
    for repository in answer["repositories"].as_array().into_iter().flatten() {
        line(repository, repository["repo"].as_str().unwrap_or_default());
    }
    line(answer, "in all");
    for problem in answer["problems"].as_array().into_iter().flatten() {
        let text = |name: &str| problem[name].as_str().unwrap_or_default();
        output::note(&printable(&format!("{}: {}", text("repo"), text("reason"))));
    }
}

fn print(answer: &Answer) {
    output::line(&format!("root        {}", printable(&answer.root)));
    output::line(&format!("stored in   {}", printable(&answer.index_path)));
    output::line(&format!("files       {}", answer.total_files));
    output::line(&format!("chunks      {}", answer.total_chunks));
    output::line(&format!("symbols     {}", answer.total_symbols));
    output::line(&format!("references  {}", answer.total_references));
    output::line(&format!("index       {}, schema {}", sync::size(answer.index_size_bytes), answer.schema_version));
    if let Some(sibling) = &answer.seeded_from {
        output::line(&format!("copied from {}", printable(sibling)));
    }
    if let Some(changed) = &answer.last_update {
        output::line(&format!("changed     {changed}"));
    }
    table(&answer.languages).iter().for_each(|line| output::line(line));
}

/// The languages with their files and lines, in columns as wide as their contents.
fn table(languages: &BTreeMap<String, Language>) -> Vec<String> {
    let row = |(language, counts): (&String, &Language)| {
        [printable(language), counts.files.to_string(), counts.lines.to_string()]
    };
    let rows: Vec<[String; 3]> = languages.iter().map(row).collect();
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
    fn columns_of_languages_are_as_wide_as_their_contents() {
        let languages = [("a-language-with-a-long-name", 1, 1), ("c", 12, 3), ("rust", 123_456_789, 98_765)];
        let languages = languages.map(|(name, files, lines)| (name.to_owned(), Language { files, lines })).into();
        assert_eq!(
            table(&languages),
            [
                "  a-language-with-a-long-name          1 file       1 line",
                "  c                                   12 files      3 lines",
                "  rust                         123456789 files  98765 lines",
            ]
        );
        assert!(table(&BTreeMap::new()).is_empty());
    }
}
