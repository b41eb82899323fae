//! Extraction: the bytes of a file in, values out.
//!
//! Owns decoding, parsing, chunking and the language packs. A pure function of (path, bytes, options, extractor
//! version): no disk, no clock, no environment. It never fails: it returns what it could extract, and problems.

mod blocks;
mod captures;
mod chunk;
mod code_words;
mod columns;
pub(crate) mod documents;
pub(crate) mod entity;
pub(crate) mod entity_kinds;
mod found_nodes;
pub(crate) mod front_matter;
mod gaps;
mod heading_text;
mod headings;
pub mod highlight;
pub(crate) mod kinds;
pub mod languages;
mod links;
mod local_scopes;
mod logseq;
pub mod markdown;
mod parse;
mod patterns;
pub mod position;
pub(crate) mod prose;
mod read_word;
mod recover;
pub mod scip;
mod scopes;
mod script_exports;
mod source;
mod syntax;
mod text;
mod word_classes;

use crate::model::{Extracted, Problem, RepoPath, SkipReason};
use crate::secrets;

pub use code_words::{CodeWord, CodeWords, WordRole};
pub use documents::{Document, FORMATS, Format};
pub(crate) use languages::fault_of;
pub use languages::{LANGUAGES, Language};
pub(crate) use links::is_data_field;
pub use script_exports::ScriptExport;

/// Incremented when the code of this folder would produce other rows for every language.
const EXTRACTOR: u32 = 7;

/// The settings of extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// A chunk is never above this many bytes, unless one character is.
    pub chunk_bytes: usize,
    /// The chunking of a folder that is indexed as documents; it replaces `chunk_bytes`.
    pub folder: Option<Chunking>,
    pub skip_minified: bool,
    pub skip_generated: bool,
    /// Files that are secrets as a whole are refused.
    pub skip_secrets: bool,
    /// Tokens and keys in other files are masked.
    pub mask_secrets: bool,
    /// Folders whose Markdown files are notes to import into the graph, relative to the repository.
    pub notes: Vec<String>,
}

impl Options {
    /// Changes when other options, or other rules for secrets, make other rows of the same bytes.
    pub fn fingerprint(&self) -> String {
        format!("{self:?} {}", secrets::VERSION)
    }
}

/// How the files of a folder are cut, in characters. `overlap` of them are the last ones of the chunk before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunking {
    pub size: usize,
    /// Less than `size`.
    pub overlap: usize,
}

impl Chunking {
    /// Formats the sizes as they are stored with each file.
    pub fn to_text(self) -> String {
        format!("{}/{}", self.size, self.overlap)
    }
}

impl Options {
    fn sizing(&self) -> chunk::Sizing {
        match self.folder {
            None => chunk::Sizing::Bytes(self.chunk_bytes),
            Some(Chunking { size, overlap }) => chunk::Sizing::Characters { size, overlap },
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            chunk_bytes: 1500,
            folder: None,
            skip_minified: true,
            skip_generated: true,
            skip_secrets: true,
            mask_secrets: false,
            notes: Vec::new(),
        }
    }
}

/// The version that rows of `language` carry: other rows for the same bytes need another number.
pub const fn version(language: &Language) -> u32 {
    EXTRACTOR * 10_000 + language.version
}

/// The version that rows of a document's format carry: no language has that number.
const fn version_of_format(format: &Format) -> u32 {
    EXTRACTOR * 10_000 + 5_000 + format.version
}

/// Whether this program would make the same rows from the same bytes; `in_folder` as in [`documents::of_file`].
pub fn is_current(path: &RepoPath, language: &str, extractor: u32, in_folder: bool) -> bool {
    if let Some(format) = documents::of_file(path, in_folder) {
        return format.name == language && version_of_format(format) == extractor;
    }
    let Some(language) = languages::by_name(language) else { return false };
    // A language learned since may claim what was plain text.
    let is_claimed = language.name == languages::plain().name && languages::claims(path);
    version(language) == extractor && !is_claimed
}

/// The name that files of a language or of a document's format are stored with, however it was typed.
pub fn named(name: &str) -> Option<&'static str> {
    let language = languages::by_name(name).map(|language| language.name);
    language.or_else(|| documents::by_name(name).map(|format| format.name))
}

/// Text without a language of its own.
const PLAIN_TEXT: &[&str] = &[
    "adoc",
    "asciidoc",
    "bib",
    "cfg",
    "conf",
    "diff",
    "env",
    "ini",
    "msg",
    "opml",
    "org",
    "patch",
    "po",
    "pot",
    "properties",
    "srt",
    "svg",
    "tex",
    "textile",
    "vtt",
    "wiki",
    "xml",
];

/// The extensions that a user names, in lower case and without their dot: by `.md`, `*.md` or `MD` that one, by
/// `markdown`, a name that [`named`] knows, all of it.
pub fn extensions(typed: &str) -> Vec<String> {
    let one = typed.trim().trim_start_matches('*').trim_start_matches('.').to_lowercase();
    let language = languages::by_name(typed.trim()).map(|language| language.extensions);
    let format = documents::by_name(typed.trim()).map(|format| format.extensions);
    let mut all: Vec<String> =
        [language, format].into_iter().flatten().flatten().map(|&extension| extension.to_owned()).collect();
    if all.is_empty() || reads(&one) {
        all.push(one);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether files of that extension, in lower case and without its dot, can be read.
pub fn reads(extension: &str) -> bool {
    LANGUAGES.iter().any(|language| language.extensions.contains(&extension))
        || FORMATS.iter().any(|format| format.extensions.contains(&extension))
        || PLAIN_TEXT.contains(&extension)
}

/// Whether all extensions of a type that a user names can be read: see [`extensions`].
pub fn reads_type(typed: &str) -> bool {
    extensions(typed).iter().all(|extension| reads(extension))
}

/// All names that [`named`] knows, in order.
pub fn names() -> Vec<&'static str> {
    let languages = LANGUAGES.iter().map(|language| language.name);
    let mut names: Vec<_> = languages.chain(FORMATS.iter().map(|format| format.name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Lists what rows depend on in addition to a file's bytes and the options: the languages and their versions.
pub fn fingerprint() -> String {
    let mut text = format!("{EXTRACTOR}");
    for language in LANGUAGES {
        let Language { name, version, extensions, file_names, interpreters, .. } = language;
        text.push_str(&format!(" {name} {version} {extensions:?} {file_names:?} {interpreters:?}"));
    }
    for Format { name, version, extensions, .. } in FORMATS {
        text.push_str(&format!(" {name} {version} {extensions:?}"));
    }
    text
}

/// Everything extracted from `bytes`, or why they are not indexed.
pub fn extract(path: &RepoPath, bytes: &[u8], options: &Options) -> Result<Extracted, SkipReason> {
    extract_with(path, bytes, options, &mut Format::read)
}

/// How bytes of a format are read.
pub type ReadAs<'a> = dyn FnMut(&'static Format, &[u8]) -> Result<Document, SkipReason> + 'a;

/// Like [`extract`], with `read` calling the readers of formats.
pub fn extract_with(
    path: &RepoPath,
    bytes: &[u8],
    options: &Options,
    read: &mut ReadAs,
) -> Result<Extracted, SkipReason> {
    if options.skip_secrets && secrets::is_secret(path.as_str(), bytes) {
        return Err(SkipReason::Secret);
    }
    if let Some(format) = documents::of_file(path, options.folder.is_some()) {
        return extract_document(path, format, bytes, options, read);
    }
    let decoded = decode(bytes, options)?;
    let text = decoded.text.as_ref();
    let language = languages::of_file(path, text);
    text::refuse(path, text, language, options)?;

    let parsed = parse::parse(language, text);
    Ok(assemble(path, language, &decoded, parsed, options))
}

/// The text of a file as the index stores it.
fn decode<'a>(bytes: &'a [u8], options: &Options) -> Result<text::Decoded<'a>, SkipReason> {
    let mut decoded = text::decode(bytes)?;
    if options.mask_secrets {
        decoded.text = secrets::mask_text(decoded.text);
    }
    Ok(decoded)
}

fn extract_document(
    path: &RepoPath,
    format: &'static Format,
    bytes: &[u8],
    options: &Options,
    read: &mut ReadAs,
) -> Result<Extracted, SkipReason> {
    if !format.keeps_text() {
        let mut document = read(format, bytes)?;
        if options.mask_secrets {
            document.text = secrets::mask_text(document.text.into()).into_owned();
        }
        return Ok(of_document(format, &document, options));
    }
    let decoded = decode(bytes, options)?;
    text::refuse(path, &decoded.text, languages::plain(), options)?;
    let outline = format.outline(&decoded.text, path).unwrap_or_default();
    let problems = replaced(&decoded).into_iter().chain(nothing_in(&decoded.text, options)).collect();
    let (text, encoding) = (decoded.text.into_owned(), decoded.encoding);
    Ok(of_document(format, &Document { text, outline, problems, encoding }, options))
}

fn of_document(format: &'static Format, document: &Document, options: &Options) -> Extracted {
    let symbols = headings::symbols(&document.text, &document.outline.headings);
    let mut chunks = chunk::of_document(&document.text, &document.outline, options.sizing());
    chunk::name(&mut chunks, &symbols);
    let problem = |reason: &String| Problem { line: None, reason: reason.clone() };
    Extracted {
        language: format.name,
        extractor: version_of_format(format),
        encoding: document.encoding,
        lines: line_count(&document.text),
        chunking: options.folder.map(Chunking::to_text),
        chunks,
        symbols,
        problems: document.problems.iter().map(problem).collect(),
        ..Extracted::default()
    }
}

/// The format of a document that has no lines on disk, such as a PDF; `None` for every other file.
pub fn without_lines(path: &str, bytes: &[u8]) -> Option<&'static str> {
    let path = RepoPath::new(path).or_else(|| RepoPath::outside(path))?;
    let format = documents::of_file(&path, true).filter(|format| !format.keeps_text())?;
    // Pages, mail and notebooks are text on disk. A PDF may be made of nothing but letters.
    let has_lines = decoded(bytes).is_some() && !bytes.starts_with(b"%PDF-");
    (!has_lines).then_some(format.name)
}

/// Whether rows made of `bytes` at `from` hold at `to` too, as far as that is for the folder and the name to say.
pub fn is_equal(from: &RepoPath, to: &RepoPath, bytes: &[u8], options: &Options) -> bool {
    let is_document = |path: &RepoPath| entity::role(path, &options.notes) == entity::Role::Document;
    let is_secret = options.skip_secrets && secrets::is_secret(to.as_str(), bytes);
    is_document(from) && is_document(to) && !is_secret
}

/// The text of a file as the index has it, and its encoding where that is not UTF-8; `None` for what is not a text.
pub fn decoded(bytes: &[u8]) -> Option<(std::borrow::Cow<'_, str>, Option<&'static str>)> {
    text::decode(bytes).ok().map(|decoded| (decoded.text, decoded.encoding))
}

/// The text that [`extract`] would cut into chunks; `None` for a file that it refuses, and for a document that is not text.
pub fn searchable_text(path: &RepoPath, bytes: &[u8], options: &Options) -> Option<String> {
    if options.skip_secrets && secrets::is_secret(path.as_str(), bytes) {
        return None;
    }
    let format = documents::of_file(path, options.folder.is_some());
    if format.is_some_and(|format| !format.keeps_text()) {
        return None;
    }
    let decoded = decode(bytes, options).ok()?;
    let language = if format.is_some() { languages::plain() } else { languages::of_file(path, &decoded.text) };
    text::refuse(path, &decoded.text, language, options).ok()?;
    Some(decoded.text.into_owned())
}

/// The language that a file has by its name alone.
pub fn language_of(path: &RepoPath) -> &'static str {
    languages::of_file(path, "").name
}

/// Only parses what [`extract`] would: returns the number of nodes of the syntax tree, 0 if there is no syntax.
/// Measures the parser's share of the work.
pub fn parse_only(path: &RepoPath, bytes: &[u8]) -> usize {
    let Ok(decoded) = text::decode(bytes) else { return 0 };
    let text = decoded.text.as_ref();
    let language = languages::of_file(path, text);
    if text::refuse(path, text, language, &Options::default()).is_err() {
        return 0;
    }
    parse::nodes(language, text)
}

const EMPTY: &str = "it is empty: there is nothing to find in it";
const BLANK: &str = "it holds white space alone: there is nothing to find in it";
const REPLACED: &str = "U+FFFD replaces bytes that are not UTF-8";

/// The problem of bytes that are not text.
fn replaced(decoded: &text::Decoded) -> Option<String> {
    let places = if decoded.wrong == 1 { "in one place".to_owned() } else { format!("in {} places", decoded.wrong) };
    (decoded.wrong > 0).then(|| format!("{places} {REPLACED}"))
}

/// The problem of a file without text, in a folder that the user had indexed.
fn nothing_in(text: &str, options: &Options) -> Option<String> {
    let what = if text.is_empty() { EMPTY } else { BLANK };
    (options.folder.is_some() && text.trim().is_empty()).then(|| what.to_owned())
}

/// Whether a problem is one of the text as a whole, which is reported for every file; others are of documents or of
/// syntax.
pub fn is_of_text(problem: &str) -> bool {
    problem == EMPTY || problem == BLANK || problem.ends_with(REPLACED)
}

/// Extracts a file without the language's parser, after that has failed on these bytes.
pub fn without_syntax(path: &RepoPath, bytes: &[u8], options: &Options) -> Result<Extracted, SkipReason> {
    if options.skip_secrets && secrets::is_secret(path.as_str(), bytes) {
        return Err(SkipReason::Secret);
    }
    let decoded = decode(bytes, options)?;
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
    let mut chunks = chunk::chunks(text, parsed.syntax.as_ref(), options.sizing());
    chunk::name(&mut chunks, &parsed.symbols);
    if options.folder.is_some() {
        headings::set_headings(&mut chunks, &parsed.symbols);
    }
    let is_markdown = language.name == languages::MARKDOWN;
    if is_markdown && chunks.len() > 1 {
        chunk::add_columns(&mut chunks, &markdown::tables(text));
    }
    let said = if is_markdown { entity::read(path, text, options) } else { entity::GraphStatements::default() };
    let mut problems = parsed.problems;
    problems.extend(said.problems);
    // Sources are empty for a reason.
    let nothing = nothing_in(text, options).filter(|_| is_markdown || language.grammar.is_none());
    problems.extend(replaced(decoded).into_iter().chain(nothing).map(|reason| Problem { line: None, reason }));
    Extracted {
        language: language.name,
        extractor: version(language),
        encoding: decoded.encoding,
        lines: line_count(text),
        chunking: options.folder.map(Chunking::to_text),
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
