//! The plain values that all modules share: paths, hashes, file metadata, positions, and the results of extraction.
//!
//! Owns their types and nothing else: no file access, no database.

mod spans;

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use strum_macros::{EnumString, IntoStaticStr};
use unicode_normalization::{UnicodeNormalization, is_nfc};

pub use spans::{Definition, Position, Reference, Span, TextEdit};

/// The repository's root folder, which contains all paths that are not outside.
pub const ROOT: &str = ".";

/// Whether a path, as the index stores it, is `folder` or is in it.
pub fn is_in(path: &str, folder: &str) -> bool {
    let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
    if folder == ROOT { !path.starts_with('/') } else { path.strip_prefix(folder).is_some_and(below) }
}

/// The path of a file, in UTF-8, with `/` between its parts, and without `.`, `..` and empty parts. It is relative if the
/// file is in the repository, and absolute if it is in an indexed folder outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(String);

impl RepoPath {
    /// `None` if the path is absolute or empty, or contains `.` or `..`.
    pub fn new(path: impl Into<String>) -> Option<Self> {
        let path = path.into();
        let fits = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        fits.then_some(Self(path))
    }

    /// The absolute path of a file in an indexed folder outside the repository.
    pub fn outside(path: impl Into<String>) -> Option<Self> {
        let path = path.into();
        let fits = path.strip_prefix('/').is_some_and(|rest| Self::new(rest).is_some());
        fits.then_some(Self(path))
    }

    /// A path as the index stores it.
    pub fn stored(path: &str) -> Option<Self> {
        if path.starts_with('/') { Self::outside(path) } else { Self::new(path) }
    }

    pub fn is_outside(&self) -> bool {
        self.0.starts_with('/')
    }

    /// Whether this is `folder` or is in it: see [`is_in`].
    pub fn is_in(&self, folder: &str) -> bool {
        is_in(&self.0, folder)
    }

    /// The path of `file` relative to `root`; `None` if it is not under `root` or not UTF-8.
    pub fn under(root: &Path, file: &Path) -> Option<Self> {
        let mut path = String::new();
        for part in file.strip_prefix(root).ok()?.components() {
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(part.as_os_str().to_str()?);
        }
        Self::new(path)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The part after the last dot of the file name; `None` for dot files.
    pub fn extension(&self) -> Option<&str> {
        let (stem, extension) = self.file_name().rsplit_once('.')?;
        (!stem.is_empty()).then_some(extension)
    }

    pub fn to_path(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a terminal would obey a character instead of showing it, or show nothing: control, bidirectional and zero-width
/// characters, separators of lines, and tags.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Escapes what [`is_hidden`]: the result is safe in a terminal and in an error.
pub fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let hidden = is_hidden(c);
            let escaped = hidden.then(|| c.escape_unicode());
            let plain = if hidden { None } else { Some(c) };
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// In Unicode's composed form (NFC), in which equal texts have equal bytes: keyboards and file systems differ in whether `Ü`
/// is one character or two.
pub fn composed(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// The form in which names of entities are compared: composed, in lowercase, with words one space apart.
pub fn comparable_name(name: &str) -> String {
    composed(&name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()).into_owned()
}

/// Joins the first `max` names by commas, escaped by [`printable`], with an ellipsis if there are more.
pub fn first_of<T: AsRef<str>>(names: &[T], max: usize) -> String {
    let shown: Vec<String> = names.iter().take(max).map(|name| printable(name.as_ref())).collect();
    let more = if names.len() > max { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The BLAKE3 hash of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    pub fn compute(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..6].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A file's metadata. Times are in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stat {
    pub size: u64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
    pub inode: u64,
}

/// Why a file is not indexed. Answers contain the text form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SkipReason {
    Secret,
    Minified,
    Generated,
    Binary,
    Oversize,
    Encoding,
    NonUtf8Path,
    Symlink,
    Special,
    Unreadable,
    /// A folder with everything in it.
    UnreadableFolder,
    /// A document that requires a password.
    Encrypted,
    /// A document whose encryption the reader does not support.
    #[strum(serialize = "encrypted_unknown")]
    Sealed,
    /// A document that violates its format.
    Malformed,
    /// A document whose ZIP archive is damaged or incomplete, or that is not one.
    BrokenArchive,
    /// A document whose archive lacks the part with the text.
    MissingPart,
    /// A document whose part with the text is not XML.
    BrokenXml,
    /// A document that exceeds the size limit when unpacked.
    Overfull,
    /// A document whose reader exceeded its time limit.
    Overrun,
    /// A document whose reader exceeded its memory limit.
    Overweight,
    /// A document without text, such as an empty file or scanned pages.
    NoText,
    /// The folder already contains the maximum number of files.
    MaxFiles,
    /// A folder that is another worktree of the same repository, with everything in it.
    Worktree,
}

impl SkipReason {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// An explanation, if the name alone is not clear.
    const fn explanation(self) -> Option<&'static str> {
        Some(match self {
            Self::Encrypted => "it requires a password",
            Self::Sealed => "its encryption is not supported by the reader",
            Self::Malformed => "it violates its format; open it with the program that wrote it, and save it again",
            Self::BrokenArchive => {
                "its ZIP archive is damaged or incomplete, or it is another kind of file under this name; get it again from where it came from"
            }
            Self::MissingPart => {
                "its ZIP archive lacks the part with the text (word/document.xml of a DOCX, content.xml of an ODT, the package of an EPUB); open it with \
                 the program that wrote it, and save it again"
            }
            Self::BrokenXml => {
                "the XML of its text is not well-formed; open it with the program that wrote it, and save it again"
            }
            Self::Overfull => "it unpacks to more than 128 MiB, or contains more than 16 MiB of text",
            Self::Overrun => "its reader took more than 20 seconds of CPU time, or two minutes in total",
            Self::Overweight => "its reader needs more than 2 GiB of memory",
            Self::NoText => "it contains no text: it is empty, or it consists only of images, such as scanned pages",
            Self::UnreadableFolder => {
                "the folder, or an ignore file in it, cannot be read, so none of its files is indexed"
            }
            Self::Worktree => "the folder is another worktree of this repository, with an index of its own",
            _ => return None,
        })
    }

    /// Whether the reason is found by reading the file: it holds as long as the file does not change.
    pub const fn is_by_content(self) -> bool {
        match self {
            Self::Binary
            | Self::BrokenArchive
            | Self::BrokenXml
            | Self::Encoding
            | Self::Encrypted
            | Self::Generated
            | Self::Malformed
            | Self::Minified
            | Self::MissingPart
            | Self::NoText
            | Self::Overfull
            | Self::Overrun
            | Self::Overweight
            | Self::Sealed
            | Self::Secret => true,
            Self::MaxFiles
            | Self::NonUtf8Path
            | Self::Oversize
            | Self::Special
            | Self::Symlink
            | Self::Unreadable
            | Self::UnreadableFolder
            | Self::Worktree => false,
        }
    }

    /// Whether a whole folder is skipped, not a file.
    pub const fn is_of_folder(self) -> bool {
        matches!(self, Self::UnreadableFolder | Self::Worktree)
    }

    /// The name, with an explanation if the name alone is not clear.
    pub fn explained(self) -> String {
        match self.explanation() {
            Some(explanation) => format!("{}: {explanation}", self.as_str()),
            None => self.as_str().to_owned(),
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// Everything that is extracted from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    pub language: &'static str,
    /// The version of the extractor. It changes when the same bytes would result in other rows.
    pub extractor: u32,
    /// `None` for UTF-8.
    pub encoding: Option<&'static str>,
    pub lines: u32,
    /// The chunking options of the folder, if it has any, as text that can be compared.
    pub chunking: Option<String>,
    pub chunks: Vec<Chunk>,
    pub symbols: Vec<Symbol>,
    pub references: Vec<References>,
    pub edges: Vec<Edge>,
    pub entity: Option<Entity>,
    pub tags: Vec<Tag>,
    pub problems: Vec<Problem>,
}

/// A piece of a file's text. The concatenated chunks of a file are its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    pub start_line: u32,
    pub end_line: u32,
    /// In characters of the decoded text.
    pub start_offset: u32,
    pub text: String,
    /// Search terms in addition to `text`: see [`crate::words::Terms`].
    pub words: String,
    pub names: String,
    /// The definitions in this chunk, as a range in the file's symbols.
    pub symbols: Range<usize>,
    /// The end of the preceding text, if chunks are to overlap. It is returned and searched with this chunk.
    pub lead: String,
    /// For documents: the enclosing headings, outermost first, one per line.
    pub headings: String,
    /// For documents with pages: the page on which the chunk begins.
    pub page: Option<u32>,
}

/// Symbols per file. More are left out, because the ids of symbols have 20 bits for them.
pub const MAX_SYMBOLS: u32 = 1 << 20;

/// A definition. Lines and columns are 1-based; columns count code points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    /// class, function, method, heading, …, as the language's patterns name it.
    pub kind: &'static str,
    /// The index of the enclosing symbol in the same list.
    pub parent: Option<usize>,
    /// The qualified name of the enclosing symbol, whether or not this file defines it.
    pub container: Option<String>,
    pub signature: Option<String>,
    /// The span of the signature in the text, in characters, if the text contains it literally, up to white space.
    pub written: Option<Range<u32>>,
    /// The position of the name.
    pub line: u32,
    pub column: u32,
    /// The lines of the whole definition.
    pub start_line: u32,
    pub end_line: u32,
}

/// The references to one name in a file that are of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    pub name: String,
    /// call, type, inherits, implements, import, signature or use.
    pub kind: &'static str,
    /// Lines and columns in order, as they are stored: `line:column`, separated by spaces.
    positions: String,
}

impl References {
    /// The first reference.
    pub fn new(name: &str, kind: &'static str, position: (u32, u32)) -> Self {
        let mut references = Self { name: name.to_owned(), kind, positions: String::new() };
        references.add(position);
        references
    }

    /// Adds a reference behind the others.
    pub fn add(&mut self, (line, column): (u32, u32)) {
        let gap = if self.positions.is_empty() { "" } else { " " };
        // A string takes every write.
        let _ = write!(self.positions, "{gap}{line}:{column}");
    }

    /// The positions as text.
    pub fn written(&self) -> &str {
        &self.positions
    }

    /// Lines and columns in order.
    pub fn positions(&self) -> impl Iterator<Item = (u32, u32)> {
        self.positions.split(' ').filter_map(|position| {
            let (line, column) = position.split_once(':')?;
            Some((line.parse().ok()?, column.parse().ok()?))
        })
    }
}

/// A relation that the file states, from a symbol or the file itself to a name as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// imports, inherits or implements.
    pub kind: &'static str,
    /// The index of the symbol in the file's list.
    pub symbol: Option<usize>,
    /// A module or a type, as written.
    pub target: String,
    /// imports: the name that is imported from the module.
    pub name: Option<String>,
    /// imports: the local name.
    pub alias: Option<String>,
    pub line: u32,
}

/// A node of the knowledge graph: a Markdown file with an id. Its fields are stored as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// The id as written.
    pub key: String,
    pub kind: String,
    pub title: String,
    pub status: Option<String>,
    pub date: Option<String>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub created_by: Option<String>,
    pub priority: Option<String>,
    /// The names by which links may refer to it, each with a rank: 0 is the key, higher ranks are less certain.
    pub names: Vec<(u8, String)>,
    /// The outgoing edges, in the order of the file.
    pub links: Vec<Link>,
}

/// An edge from an entity, as its file states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The relationship, which is the name of the field: `depends_on`, `blocks`, …
    pub rel: String,
    /// A name of the target entity, whether or not that exists.
    pub target: String,
    /// A second name. If it is longer than `target`, it is looked up first; if it is shorter, it is that of a file, and is looked up
    /// where nothing has the name `target`.
    pub otherwise: Option<String>,
    /// Whether the target has the form of an id. Otherwise the link counts only while an entity has that name.
    pub certain: bool,
    pub line: u32,
}

/// A label of a Markdown file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub name: String,
    pub line: u32,
    pub source: TagSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TagSource {
    FrontMatter,
    Hashtag,
}

impl TagSource {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Something in a file that extraction did not understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub line: Option<u32>,
    pub reason: String,
}
