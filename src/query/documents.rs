//! Queries about documents: the chunks that answer one, and the text around a chunk.

use super::corpus::{ChunkAt, Corpus};
use super::smart::Reranker;
use super::smart::relevance::{self, Relevant};
use super::{Page, PathFilter};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::{DocumentFile, DocumentPiece, FileProblem, Snapshot};

/// A chunk that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Id that stays as long as the chunk's text, wherever its file goes. If several files have that text, the first by
    /// path has that id, and the ids of the others depend on their paths as well: no two chunks have the same.
    pub id: String,
    /// The relevance score, from 0 to 1.
    pub score: f64,
    pub piece: DocumentPiece,
    pub chunk: ChunkAt,
}

/// Chunks that answer `text` with a score of at least `least`, best first, and how many were scored below it.
/// They are not counted if more was found than was scored.
pub fn search(
    corpus: &Corpus,
    deep: Option<&Reranker>,
    text: &str,
    filter: &PathFilter,
    least: f64,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<(Page<Answer>, usize)> {
    let judged = relevance::relevant(corpus, deep, text, filter, budget)?;
    let found = judged.chunks.len();
    let sure: Vec<Relevant> = judged.chunks.into_iter().filter(|one| one.score >= least).collect();
    let below = found - sure.len();
    let mut page = Page::from_list(sure, offset, limit);
    page.total = page.total.filter(|_| judged.complete);
    let page = page.try_map(|one| {
        let (piece, id) = corpus.ask(one.id.source, |source| {
            let piece = source.piece(one.id.id)?;
            let id = id_of(source, &piece)?;
            Ok((piece, id))
        })?;
        Ok(Answer { id, score: one.score, piece, chunk: one.id })
    })?;
    Ok((page, below))
}

fn id_of(source: &Snapshot, piece: &DocumentPiece) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    if source.is_said_before(piece)? {
        hasher.update(piece.path.as_bytes());
    }
    hasher.update(&[0]).update(&piece.hash);
    hasher.update(&source.same_before(piece.id)?.to_le_bytes());
    Ok(hasher.finalize().to_hex()[..24].to_owned())
}

/// The text of an indexed file, or of one chunk of it with the lines around.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    pub file: DocumentFile,
    /// Parts that are not in the index.
    pub problems: Vec<FileProblem>,
    pub content: String,
    pub start_line: u32,
    pub end_line: u32,
    pub total_lines: u32,
    pub total_chunks: usize,
    pub chunk: Option<DocumentPiece>,
}

/// The chunks of an indexed file, in order; `None` where the index has no such file.
pub fn cuts(snapshot: &Snapshot, path: &str) -> Result<Option<Vec<DocumentPiece>>> {
    if snapshot.document_file(path)?.is_none() {
        return Ok(None);
    }
    snapshot.pieces(path).map(Some)
}

/// Reads the indexed text and facts of the file at `path`; `None` if it is not indexed.
pub fn details(snapshot: &Snapshot, path: &str, chunk: Option<u64>, context: u32) -> Result<Option<Details>> {
    let Some(file) = snapshot.document_file(path)? else { return Ok(None) };
    let (pieces, problems) = (snapshot.pieces(path)?, snapshot.problems_of(path)?);
    let total_chunks = pieces.len();
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let total_lines = pieces.last().map_or(0, |piece| piece.end_line);
    let Some(index) = chunk else {
        let start_line = u32::from(total_lines > 0);
        return Ok(Some(Details {
            file,
            problems,
            content: text,
            start_line,
            end_line: total_lines,
            total_lines,
            total_chunks,
            chunk: None,
        }));
    };
    let wanted = usize::try_from(index).ok().and_then(|index| pieces.get(index)).cloned();
    let wanted = wanted.ok_or_else(|| {
        let hint = match total_chunks {
            0 => "It has no text.".to_owned(),
            count => format!("Give a number from 0 to {}.", count - 1),
        };
        Error::not_found(format!("the file has no chunk {index}")).hint(hint)
    })?;
    let first = wanted.first_line().saturating_sub(context).max(1);
    let last = wanted.end_line.saturating_add(context).min(total_lines);
    let mut content = String::new();
    for (line, number) in text.split_inclusive('\n').zip(1_u32..) {
        if (first..=last).contains(&number) {
            content.push_str(line);
        }
    }
    Ok(Some(Details {
        file,
        problems,
        content,
        start_line: first,
        end_line: last,
        total_lines,
        total_chunks,
        chunk: Some(wanted),
    }))
}
