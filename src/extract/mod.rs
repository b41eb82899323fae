//! What a file means: bytes in, values out.
//!
//! Owns decoding, parsing, chunking and the language packs. A pure function of (path, bytes, options,
//! extractor version): no disk, no clock, no environment. It never fails: it returns what it got, and problems.

mod chunk;
pub mod entity;
pub mod front_matter;
pub mod kinds;
pub mod languages;
mod links;
mod parse;
pub mod prose;
mod scopes;
mod source;
mod text;

use crate::model::{Extracted, Problem, RepoPath, SkipReason};

pub use languages::{LANGUAGES, Language};
pub use links::is_data_field;
pub use parse::fault_of;

/// Raised when the code of this folder would give other rows for every language.
const EXTRACTOR: u32 = 2;

/// What a person may choose about extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// A chunk is never above this many bytes, unless one character is.
    pub chunk_bytes: usize,
    pub skip_minified: bool,
    pub skip_generated: bool,
    /// Folders whose Markdown files are notes to import into the graph, relative to the repository.
    pub notes: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { chunk_bytes: 1500, skip_minified: true, skip_generated: true, notes: Vec::new() }
    }
}

/// The version that rows of `language` carry: other rows for the same bytes need another number.
pub const fn version(language: &Language) -> u32 {
    EXTRACTOR * 10_000 + language.version
}

/// What rows depend on besides a file's bytes and the options, in words to compare with: the languages as they are now.
pub fn told() -> String {
    let mut told = format!("{EXTRACTOR}");
    for language in LANGUAGES {
        let Language { name, version, extensions, file_names, interpreters, .. } = language;
        told.push_str(&format!(" {name} {version} {extensions:?} {file_names:?} {interpreters:?}"));
    }
    told
}

/// Everything `bytes` mean, or why they are not indexed.
pub fn extract(path: &RepoPath, bytes: &[u8], options: &Options) -> Result<Extracted, SkipReason> {
    let decoded = text::decode(bytes)?;
    let text = decoded.text.as_ref();
    let language = languages::of_file(path, text);
    text::refuse(path, text, language, options)?;

    let parsed = parse::parse(language, text);
    Ok(assemble(path, language, &decoded, parsed, options))
}

/// Whether rows made of the file at `from` hold at `to` too, as far as that is for the folder to say.
pub fn is_alike(from: &RepoPath, to: &RepoPath, notes: &[String]) -> bool {
    [from, to].iter().all(|path| entity::role(path, notes) == entity::Role::Document)
}

/// The text of a file as the index has it, and its encoding where that is not UTF-8; `None` for what is no text.
pub fn decoded(bytes: &[u8]) -> Option<(std::borrow::Cow<'_, str>, Option<&'static str>)> {
    text::decode(bytes).ok().map(|decoded| (decoded.text, decoded.encoding))
}

/// Parses what [`extract`] would and makes nothing of it: the nodes of the syntax tree, none where there is no syntax.
/// Shows what share of the work is the parser's.
pub fn parse_only(path: &RepoPath, bytes: &[u8]) -> usize {
    let Ok(decoded) = text::decode(bytes) else { return 0 };
    let text = decoded.text.as_ref();
    let language = languages::of_file(path, text);
    if text::refuse(path, text, language, &Options::default()).is_err() {
        return 0;
    }
    parse::nodes(language, text)
}

/// What can be had without the language's parser, after that has failed on these bytes.
pub fn without_syntax(path: &RepoPath, bytes: &[u8], options: &Options) -> Result<Extracted, SkipReason> {
    let decoded = text::decode(bytes)?;
    let language = languages::of_file(path, decoded.text.as_ref());
    text::refuse(path, decoded.text.as_ref(), language, options)?;
    let reason = format!("the {} parser failed; indexed as plain text", language.name);
    let problems = vec![Problem { line: None, reason }];
    Ok(assemble(path, language, &decoded, parse::Parsed { problems, ..Default::default() }, options))
}

fn assemble(
    path: &RepoPath,
    language: &'static Language,
    decoded: &text::Decoded,
    parsed: parse::Parsed,
    options: &Options,
) -> Extracted {
    let text = decoded.text.as_ref();
    let mut chunks = chunk::chunks(text, parsed.tree.as_ref(), options.chunk_bytes);
    chunk::name(&mut chunks, &parsed.symbols);
    let is_markdown = language.name == languages::MARKDOWN;
    let said = if is_markdown { entity::read(path, text, options) } else { entity::Said::default() };
    let mut problems = parsed.problems;
    problems.extend(said.problems);
    Extracted {
        language: language.name,
        extractor: version(language),
        encoding: decoded.encoding,
        lines: line_count(text),
        chunks,
        symbols: parsed.symbols,
        references: parsed.references,
        edges: parsed.edges,
        entity: said.entity,
        tags: said.tags,
        problems,
    }
}

/// Lines end at LF; text after the last LF is a line too.
fn line_count(text: &str) -> u32 {
    let ended = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let open = usize::from(!text.is_empty() && !text.ends_with('\n'));
    u32::try_from(ended + open).unwrap_or(u32::MAX)
}
