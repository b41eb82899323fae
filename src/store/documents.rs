//! Chunks as pieces of documents: with what they overlap by, the headings above them and their page.

use rusqlite::{Row, named_params};

use super::statements::statements;
use super::{ChunkId, FileProblem, Snapshot};
use crate::error::Result;

statements! {
    ONE = "SELECT c.id, f.path, f.size, f.mtime_ns, c.ordinal, c.start_line, c.end_line, c.start_offset, c.hash, c.text,
        coalesce(c.overlap, ''), coalesce(c.headings, ''), c.page
        FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.id = :id";
    OF_FILE = "SELECT c.id, f.path, f.size, f.mtime_ns, c.ordinal, c.start_line, c.end_line, c.start_offset, c.hash, c.text,
        coalesce(c.overlap, ''), coalesce(c.headings, ''), c.page
        FROM files f JOIN chunks c ON c.file_id = f.id WHERE f.path = :path ORDER BY c.start_offset";
    /// How many chunks before this one in its file are the same.
    SAME_BEFORE = "SELECT count(*) FROM chunks c JOIN chunks o ON o.file_id = c.file_id AND o.hash = c.hash
        AND o.start_offset < c.start_offset WHERE c.id = :id";
    /// Whether a file before this one has the same.
    SAME_ELSEWHERE = "SELECT 1 FROM chunks o JOIN files f ON f.id = o.file_id
        WHERE substr(o.hash, 1, 4) = substr(:hash, 1, 4) AND o.hash = :hash AND f.path < :path LIMIT 1";
    FILE = "SELECT size, mtime_ns, language, encoding FROM files WHERE path = :path";
    PROBLEMS = "SELECT f.path, f.language, p.reason FROM problems p JOIN files f ON f.id = p.file_id ORDER BY f.path, p.rowid";
    PROBLEMS_OF = "SELECT f.path, p.line, p.reason FROM files f JOIN problems p ON p.file_id = f.id WHERE f.path = :path ORDER BY p.rowid";
    AT = "SELECT c.id FROM chunks c JOIN files f ON f.id = c.file_id
        WHERE f.path = :path AND c.start_line <= :line AND c.end_line >= :line ORDER BY c.start_offset LIMIT 1";
    NTH = "SELECT id FROM chunks ORDER BY id LIMIT 1 OFFSET :at";
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPiece {
    pub id: ChunkId,
    pub path: String,
    pub file_size: u64,
    pub modified_ns: i64,
    /// From 0.
    pub index: u64,
    pub start_line: u32,
    pub end_line: u32,
    /// Start of `text`, in characters of the file's text.
    pub start_offset: u64,
    pub hash: Vec<u8>,
    pub text: String,
    /// Text before `text` that is read with it.
    pub lead: String,
    /// Outermost first, each in a line.
    pub headings: String,
    pub page: Option<u32>,
}

impl DocumentPiece {
    /// The line on which `lead` and `text` together begin.
    pub fn first_line(&self) -> u32 {
        let above = self.lead.bytes().filter(|byte| *byte == b'\n').count();
        self.start_line.saturating_sub(u32::try_from(above).unwrap_or(u32::MAX)).max(1)
    }
}

/// Facts about an indexed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFile {
    pub size: u64,
    pub modified_ns: i64,
    pub language: String,
    /// Detected encoding; `None` is UTF-8, or a document that is not a text.
    pub encoding: Option<String>,
}

fn piece(row: &Row) -> rusqlite::Result<DocumentPiece> {
    Ok(DocumentPiece {
        id: ChunkId(row.get(0)?),
        path: row.get(1)?,
        file_size: row.get::<_, i64>(2)?.cast_unsigned(),
        modified_ns: row.get(3)?,
        index: row.get::<_, i64>(4)?.cast_unsigned(),
        start_line: row.get(5)?,
        end_line: row.get(6)?,
        start_offset: row.get::<_, i64>(7)?.cast_unsigned(),
        hash: row.get(8)?,
        text: row.get(9)?,
        lead: row.get(10)?,
        headings: row.get(11)?,
        page: row.get(12)?,
    })
}

impl Snapshot<'_> {
    pub fn piece(&self, id: ChunkId) -> Result<DocumentPiece> {
        Ok(self.connection.prepare_cached(ONE)?.query_row(named_params! { ":id": id.0 }, piece)?)
    }

    /// All pieces of a file, in order.
    pub fn pieces(&self, path: &str) -> Result<Vec<DocumentPiece>> {
        self.rows(OF_FILE, named_params! { ":path": path }, piece)
    }

    /// Distinguishes equal pieces of one file.
    pub fn same_before(&self, id: ChunkId) -> Result<u64> {
        self.number(SAME_BEFORE, named_params! { ":id": id.0 })
    }

    /// Whether a file whose path comes before has a piece of the same text.
    pub fn is_said_before(&self, piece: &DocumentPiece) -> Result<bool> {
        let mut statement = self.connection.prepare_cached(SAME_ELSEWHERE)?;
        Ok(statement.exists(named_params! { ":hash": piece.hash, ":path": piece.path })?)
    }

    pub fn document_file(&self, path: &str) -> Result<Option<DocumentFile>> {
        self.row(FILE, named_params! { ":path": path }, |row| {
            Ok(DocumentFile {
                size: row.get::<_, i64>(0)?.cast_unsigned(),
                modified_ns: row.get(1)?,
                language: row.get(2)?,
                encoding: row.get(3)?,
            })
        })
    }

    /// Problems that extraction reported for files: path, language or format, in words.
    pub fn problems(&self) -> Result<Vec<(String, String, String)>> {
        self.rows(PROBLEMS, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// Problems that extraction reported for one file.
    pub fn problems_of(&self, path: &str) -> Result<Vec<FileProblem>> {
        self.rows(PROBLEMS_OF, named_params! { ":path": path }, FileProblem::from_row)
    }

    /// The chunk that contains a line of a file.
    pub fn chunk_at(&self, path: &str, line: u32) -> Result<Option<ChunkId>> {
        Ok(self.row(AT, named_params! { ":path": path, ":line": line }, |row| row.get(0))?.map(ChunkId))
    }

    /// The chunk at an index among all.
    pub fn nth_chunk(&self, at: u64) -> Result<Option<ChunkId>> {
        Ok(self.row(NTH, named_params! { ":at": at.cast_signed() }, |row| row.get(0))?.map(ChunkId))
    }
}
