//! The plain values that every part speaks of: paths, hashes, stats, and what extraction makes.
//!
//! Owns their shapes and nothing else: no disk, no database, no JSON.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The folder of the repository itself, around all paths that are not outside.
pub const ROOT: &str = ".";

/// Whether a path as the index has it is `folder`, or lies in it.
pub fn is_in(path: &str, folder: &str) -> bool {
    let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
    if folder == ROOT { !path.starts_with('/') } else { path.strip_prefix(folder).is_some_and(below) }
}

/// A path inside the repository: relative, UTF-8, `/` between parts, never empty, no `.` or `..`. One in an indexed folder
/// outside is absolute.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(String);

impl RepoPath {
    /// `None` for what cannot be a repository path: absolute, empty, or with `.` or `..` in it.
    pub fn new(path: impl Into<String>) -> Option<Self> {
        let path = path.into();
        let fits = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        fits.then_some(Self(path))
    }

    /// The path of a file outside the repository, in a folder that a person had indexed: absolute, else alike.
    pub fn outside(path: impl Into<String>) -> Option<Self> {
        let path = path.into();
        let fits = path.strip_prefix('/').is_some_and(|rest| Self::new(rest).is_some());
        fits.then_some(Self(path))
    }

    /// A path as the index has it.
    pub fn stored(path: &str) -> Option<Self> {
        if path.starts_with('/') { Self::outside(path) } else { Self::new(path) }
    }

    pub fn is_outside(&self) -> bool {
        self.0.starts_with('/')
    }

    /// Whether this is `folder`, or lies in it: see [`is_in`].
    pub fn is_in(&self, folder: &str) -> bool {
        is_in(&self.0, folder)
    }

    /// The path of `file` under `root`; `None` when it lies elsewhere or is not UTF-8.
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

    /// What follows the last dot of the file name; none for dot files.
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

/// `text` with control, bidirectional and zero-width characters escaped: safe in a terminal and in an error.
pub fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let hidden = c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
            let escaped = hidden.then(|| c.escape_unicode());
            let plain = if hidden { None } else { Some(c) };
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// The first `most` of these, printable, with commas between and a sign where more follow.
pub fn first_of<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(|name| printable(name.as_ref())).collect();
    let more = if names.len() > most { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// blake3 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..6].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What the file system says of a file without reading it. Times in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stat {
    pub size: u64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
    pub inode: u64,
}

/// Why a file that was found is not indexed. The text form is what people and answers see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// A folder, with whatever is in it.
    UnreadableFolder,
    /// A document that asks for a password.
    Encrypted,
    /// A document that is encrypted in a way that its reader does not know.
    Sealed,
    /// A document that breaks the rules of its format.
    Malformed,
    /// A document that unpacks to more than is read.
    Overfull,
    /// A document whose reader took too long.
    Overrun,
    /// A document whose reader asked for too much memory.
    Overweight,
    /// A document without a word in it, such as an empty file or scanned pages.
    NoText,
    /// One more than its folder may have.
    MaxFiles,
}

impl SkipReason {
    pub const ALL: &'static [Self] = &[
        Self::Secret,
        Self::Minified,
        Self::Generated,
        Self::Binary,
        Self::Oversize,
        Self::Encoding,
        Self::NonUtf8Path,
        Self::Symlink,
        Self::Special,
        Self::Unreadable,
        Self::UnreadableFolder,
        Self::Encrypted,
        Self::Sealed,
        Self::Malformed,
        Self::Overfull,
        Self::Overrun,
        Self::Overweight,
        Self::NoText,
        Self::MaxFiles,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Minified => "minified",
            Self::Generated => "generated",
            Self::Binary => "binary",
            Self::Oversize => "oversize",
            Self::Encoding => "encoding",
            Self::NonUtf8Path => "non_utf8_path",
            Self::Symlink => "symlink",
            Self::Special => "special",
            Self::Unreadable => "unreadable",
            Self::UnreadableFolder => "unreadable_folder",
            Self::Encrypted => "encrypted",
            Self::Sealed => "encrypted_unknown",
            Self::Malformed => "malformed",
            Self::Overfull => "overfull",
            Self::Overrun => "overrun",
            Self::Overweight => "overweight",
            Self::NoText => "no_text",
            Self::MaxFiles => "max_files",
        }
    }

    /// What the word means where that is not plain, for those who have not read the manual.
    const fn meaning(self) -> Option<&'static str> {
        Some(match self {
            Self::Encrypted => "it asks for a password",
            Self::Sealed => "it is encrypted in a way that its reader does not know",
            Self::Malformed => "it breaks the rules of its format",
            Self::Overfull => "it unpacks to more than 128 MiB, or holds more than 16 MiB of text",
            Self::Overrun => "its reader took more than 20 seconds of processor time, or two minutes in all",
            Self::Overweight => "it unpacks to more than its reader's 2 GiB of memory",
            Self::NoText => "it holds no text: it is empty, or of pictures alone, as scanned pages are",
            Self::UnreadableFolder => {
                "the folder, or an ignore file in it, cannot be read: nothing of it is in the index"
            }
            _ => return None,
        })
    }

    /// The word, and what it means where that is not plain.
    pub fn explained(self) -> String {
        match self.meaning() {
            Some(meaning) => format!("{}: {meaning}", self.as_str()),
            None => self.as_str().to_owned(),
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.as_str() == name)
    }
}

/// Everything one file's bytes mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    pub language: &'static str,
    /// Changes when the same bytes would give other rows.
    pub extractor: u32,
    /// `None` is UTF-8.
    pub encoding: Option<&'static str>,
    pub lines: u32,
    /// How it was cut, in words to compare with, where a folder says so.
    pub chunking: Option<String>,
    pub chunks: Vec<Chunk>,
    pub symbols: Vec<Symbol>,
    pub references: Vec<References>,
    pub edges: Vec<Edge>,
    pub entity: Option<Entity>,
    pub tags: Vec<Tag>,
    pub problems: Vec<Problem>,
}

/// A piece of a file's text. In order, the chunks of a file are its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    pub start_line: u32,
    pub end_line: u32,
    /// In characters of the decoded text.
    pub start_offset: u32,
    pub text: String,
    /// What it is found by beside `text`: see [`crate::words::Terms`], which these two are.
    pub words: String,
    pub names: String,
    /// These definitions: places in the file's symbols.
    pub symbols: Range<usize>,
    /// The end of the text before, to be read and found with this: what neighbours are to overlap by.
    pub lead: String,
    /// Of a document: the headings that the piece stands under, outermost first, each in a line.
    pub headings: String,
    /// Of a document with pages: the one on which the piece begins.
    pub page: Option<u32>,
}

/// What a file defines above so many is left out: ids of symbols have no room for it.
pub const MOST_SYMBOLS: u32 = 1 << 20;

/// A definition. Lines and columns 1-based; columns count code points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    /// class, function, method, heading, … : the word of the language's query.
    pub kind: &'static str,
    /// Place of the symbol around it in the same list.
    pub parent: Option<usize>,
    /// Qualified name around it, whether or not that is a symbol of this file.
    pub container: Option<String>,
    pub signature: Option<String>,
    /// Where the signature stands in the text, in characters, if it is there word for word: only white space differs.
    pub written: Option<Range<u32>>,
    /// Of the name.
    pub line: u32,
    pub column: u32,
    /// Of the whole definition.
    pub start_line: u32,
    pub end_line: u32,
}

/// The uses of one name in a file, as one kind of reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    pub name: String,
    /// call, type, inherits, implements, import or use.
    pub kind: &'static str,
    /// Lines and columns, in order of the text.
    pub places: Vec<(u32, u32)>,
}

/// A relation that the file states: from the symbol (by place in the list) or the file itself, to a name as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// imports, inherits or implements.
    pub kind: &'static str,
    pub symbol: Option<usize>,
    /// A module, or a type, as written.
    pub target: String,
    /// imports: the name taken from the module.
    pub name: Option<String>,
    /// imports: what it is called here.
    pub alias: Option<String>,
    pub line: u32,
}

/// A node of the knowledge graph: a Markdown file with an id. What is kept of its fields is as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// The id that people write.
    pub key: String,
    pub kind: String,
    pub title: String,
    pub status: Option<String>,
    pub date: Option<String>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub created_by: Option<String>,
    pub priority: Option<String>,
    /// What links may call it, and how sure that is: 0 is the key.
    pub names: Vec<(u8, String)>,
    /// Its outgoing edges, in the order of the file.
    pub links: Vec<Link>,
}

/// An edge from an entity, as its file states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The relationship: `depends_on`, `blocks`, whatever the field is called.
    pub rel: String,
    /// One of the names of the entity that is meant, if there is one.
    pub target: String,
    /// It is an id by its looks; else it is one only while an entity has it.
    pub certain: bool,
    pub line: u32,
}

/// A word that a Markdown file is filed under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub name: String,
    pub line: u32,
    pub source: TagSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagSource {
    FrontMatter,
    Hashtag,
}

impl TagSource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FrontMatter => "front_matter",
            Self::Hashtag => "hashtag",
        }
    }
}

/// Something extraction could not make sense of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub line: Option<u32>,
    pub reason: String,
}
