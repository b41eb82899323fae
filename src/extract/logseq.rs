//! Logseq's own parts of a note: the properties of its page, names that are encoded in file names, titles of journals.
//!
//! Owns their syntax. What properties mean is `entity`'s.

use jiff::civil::Date;

use super::prose::percent_decoded;

/// Properties of one page; further ones are ignored.
const MOST_PROPERTIES: usize = 100;

/// A property of a page: `name:: value, value`.
pub(super) struct Property {
    /// In lowercase.
    pub name: String,
    /// Without brackets and `#`.
    pub values: Vec<String>,
    /// The whole value, as it is written.
    pub written: String,
    pub line: u32,
}

/// The properties in the first block of a page; a block with other text has none.
pub(super) fn properties(body: &str, body_line: u32) -> Vec<Property> {
    let lines = (body_line..).zip(body.lines()).skip_while(|(_, line)| line.trim().is_empty());
    let properties = lines.enumerate().map_while(|(at, (number, line))| {
        let line = line.trim();
        property(if at == 0 { line.strip_prefix("- ").unwrap_or(line) } else { line }, number)
    });
    properties.take(MOST_PROPERTIES).collect()
}

fn property(line: &str, number: u32) -> Option<Property> {
    let (name, value) = line.split_once("::")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    let value = value.strip_prefix(' ').or_else(|| value.is_empty().then_some(value)).filter(|_| is_name)?.trim();
    Some(Property {
        name: name.to_lowercase(),
        values: values(value).filter(|value| !value.is_empty()).collect(),
        written: bare(value),
        line: number,
    })
}

/// Splits a value at its commas, but not at those inside brackets, which belong to a name.
fn values(value: &str) -> impl Iterator<Item = String> {
    let mut depth = 0_i32;
    let between = move |c: char| {
        depth += match c {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        c == ',' && depth <= 0
    };
    value.split(between).map(bare)
}

/// `[[name]]`, `#name` and `#[[name]]` as the name.
fn bare(value: &str) -> String {
    let value = value.trim().trim_start_matches('#');
    let inner = value.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    inner.filter(|inner| !inner.contains("[[")).unwrap_or(value).trim().to_owned()
}

/// The name of the page in a file's name, in which `___` or `%2F` is the `/` of a namespace.
pub(super) fn page_name(file: &str) -> String {
    percent_decoded(file).replace("___", "/")
}

/// The titles by which links name a journal's page, given the path of its file without extension: as Logseq writes it by default, then
/// in its other formats. None for other files.
pub(super) fn journal_titles(stem: &str) -> Vec<String> {
    let Some((folder, file)) = stem.rsplit_once('/') else { return Vec::new() };
    let day = Date::strptime("%Y_%m_%d", file).or_else(|_| Date::strptime("%Y-%m-%d", file));
    let (true, Ok(day)) = (folder == "journals" || folder.ends_with("/journals"), day) else { return Vec::new() };
    let ordinal = format!("{}{}", day.day(), suffix(day.day()));
    let formats = [
        "%b ORD, %Y",
        "%B ORD, %Y",
        "ORD %b %Y",
        "ORD %B %Y",
        "%Y-%m-%d",
        "%Y/%m/%d",
        "%Y_%m_%d",
        "%Y%m%d",
        "%Y-%m-%d %A",
        "%a, %Y/%m/%d",
        "%A, %Y/%m/%d",
        "%m/%d/%Y",
        "%m_%d_%Y",
        "%a, %m/%d/%Y",
        "%A, %m/%d/%Y",
        "%Y年%m月%d日",
    ];
    // Up to the twelfth it is another day where the day comes first.
    let by_month = Some("%m-%d-%Y").filter(|_| day.day() > 12);
    formats
        .into_iter()
        .chain(by_month)
        .map(|format| day.strftime(&format.replace("ORD", &ordinal)).to_string())
        .collect()
}

fn suffix(day: i8) -> &'static str {
    match (day % 10, day / 10) {
        (1, 0 | 2 | 3) => "st",
        (2, 0 | 2) => "nd",
        (3, 0 | 2) => "rd",
        _ => "th",
    }
}
