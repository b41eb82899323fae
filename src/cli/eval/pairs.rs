//! `ixmcp eval --pairs`: queries paired with texts that answer them and texts that do not, and the evidence for each
//! pair.
//!
//! `fixtures/search/calibrate.py` fits the score of documents to these pairs. Right texts are the spans that a query
//! names (for a file, any of its chunks) and, in prose, the text after a first sentence or under a heading that was
//! removed. Unrelated texts are chunks drawn from other files of the query's tree, and from other trees.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::{LabelledQuery, Relevant, freshen, output};
use crate::budget::Budget;
use crate::cli::Session;
use crate::embed::transformer::Transformer;
use crate::embed::{Calibration, Embedder, Purpose, Space, Vector, built_in};
use crate::error::Result;
use crate::locked::locked;
use crate::query::corpus::Corpus;
use crate::query::measure::{Random, Target};
use crate::query::smart::relevance::{self, Passage};
use crate::store::{DocumentPiece, Snapshot, text_to_embed};

/// Unrelated texts next to each query, from its own tree and from others.
const DRAWN: usize = 12;
/// Chunks of a tree that are drawn from.
const POOL: usize = 300;
/// Queries made of the prose of one tree.
const MADE: usize = 40;
/// Prose that queries are made of, and words of a sentence that is one.
const PROSE: &[&str] = &["markdown", "restructuredtext", "text"];
const LEAST_TEXT: usize = 300;
const WORDS: std::ops::RangeInclusive<usize> = 5..=25;

/// A query with the texts that answer it; where there are several in a group, one of them does.
struct LabelledPair {
    half: Option<String>,
    kind: String,
    text: String,
    /// No unrelated text is drawn from these.
    paths: Vec<String>,
    right: Vec<(usize, Passage)>,
}

pub(super) fn print(session: &Session, queries: &[LabelledQuery]) -> Result<()> {
    let budget = Budget::unlimited();
    let mut trees: BTreeMap<Option<&str>, Vec<&LabelledQuery>> = BTreeMap::new();
    for asked in queries {
        trees.entry(asked.tree.as_deref()).or_default().push(asked);
    }
    let mut random = Random(7);
    let mut pools: BTreeMap<Option<&str>, Vec<Passage>> = BTreeMap::new();
    let mut model = None;
    let known = VectorCache::default();
    for tree in trees.keys() {
        let workspace = session.workspaces.at(&super::root_of(session, *tree)?)?;
        freshen(&workspace, &budget)?;
        let chosen = workspace.model.load()?;
        let by = &Remembering { model: embedder(chosen.as_ref()), known: &known };
        model.get_or_insert_with(|| by.space().model.clone());
        pools.insert(*tree, workspace.read(&budget, |snapshot| draw(snapshot, by, &mut random))?);
    }
    output::json(&json!({ "names": relevance::NAMES, "model": model }));
    for (tree, of_tree) in &trees {
        let workspace = session.workspaces.at(&super::root_of(session, *tree)?)?;
        let half = of_tree.first().and_then(|asked| asked.half.clone());
        // Chunks of the other half are the other half's.
        let others: Vec<&Passage> = trees
            .iter()
            .filter(|(other, asked)| *other != tree && asked.first().is_some_and(|asked| asked.half == half))
            .flat_map(|(other, _)| &pools[other])
            .collect();
        let model = workspace.model.load()?;
        let by = &Remembering { model: embedder(model.as_ref()), known: &known };
        workspace.read(&budget, |snapshot| {
            let mut pairs = made(snapshot, by, half.as_ref(), &mut random)?;
            for asked in of_tree {
                pairs.push(named(snapshot, by, asked)?);
            }
            for query in pairs {
                print_one(snapshot, by, *tree, &query, (&pools[tree], &others), &mut random)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn print_one(
    snapshot: &Snapshot,
    by: &dyn Embedder,
    tree: Option<&str>,
    pair: &LabelledPair,
    (own, others): (&[Passage], &[&Passage]),
    random: &mut Random,
) -> Result<()> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut sorts: Vec<(&str, usize)> = Vec::new();
    for (group, passage) in &pair.right {
        passages.push(passage.clone());
        sorts.push(("right", *group));
    }
    for _ in 0..DRAWN {
        if let Some(drawn) = own.get(random.below(own.len())).filter(|drawn| !pair.paths.contains(&drawn.chunk.path)) {
            passages.push(drawn.clone());
            sorts.push(("same", 0));
        }
        if let Some(drawn) = others.get(random.below(others.len())) {
            passages.push((*drawn).clone());
            sorts.push(("other", 0));
        }
    }
    let known = relevance::evidence(&Corpus::single(snapshot), by, &pair.text, &passages, own)?;
    let rounded = |number: f64| (number * 1e4).round() / 1e4;
    let pairs: Vec<_> = sorts
        .iter()
        .zip(&known)
        .map(|((sort, group), known)| {
            json!([
                sort,
                group,
                rounded(known.score()),
                known.known.iter().map(|number| rounded(*number)).collect::<Vec<_>>(),
                known.is_prose
            ])
        })
        .collect();
    let is_name = known.first().is_some_and(|known| known.is_name);
    output::json(&json!({
        "tree": tree, "half": pair.half, "kind": pair.kind, "query": pair.text, "is_name": is_name, "pairs": pairs,
    }));
    Ok(())
}

/// The model that the tree's score is by: the one that was chosen there, else the table.
fn embedder(model: Option<&Arc<Transformer>>) -> &dyn Embedder {
    model.map_or(built_in() as &dyn Embedder, |model| &**model)
}

/// Vectors of texts, by model.
type VectorCache = Mutex<HashMap<(Space, String), Vector>>;

/// A model that embeds no passage twice: many queries have the same files for an answer.
struct Remembering<'m> {
    model: &'m dyn Embedder,
    known: &'m VectorCache,
}

impl Embedder for Remembering<'_> {
    fn space(&self) -> &Space {
        self.model.space()
    }

    fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vector>> {
        if purpose == Purpose::Query {
            return self.model.embed(purpose, texts);
        }
        let one = |text: &&str| {
            let key = (self.space().clone(), (*text).to_owned());
            let mut known = locked(self.known);
            if let Some(vector) = known.get(&key) {
                return Ok(vector.clone());
            }
            let vector = self.model.embed(purpose, &[text])?.remove(0);
            known.insert(key, vector.clone());
            Ok(vector)
        };
        texts.iter().map(one).collect()
    }

    fn calibration(&self) -> Option<&Calibration> {
        self.model.calibration()
    }
}

/// A chunk as it would be embedded.
fn passage(snapshot: &Snapshot, by: &dyn Embedder, piece: &DocumentPiece) -> Result<Passage> {
    let text = text_to_embed(&piece.headings, &piece.lead, &piece.text);
    let vector = by.embed(Purpose::Passage, &[&text])?.remove(0);
    Ok(Passage { chunk: snapshot.chunk(piece.id)?, vector })
}

fn draw(snapshot: &Snapshot, by: &dyn Embedder, random: &mut Random) -> Result<Vec<Passage>> {
    let count = usize::try_from(snapshot.chunk_count()?).unwrap_or(usize::MAX);
    let mut drawn = Vec::new();
    for at in 0..POOL.min(count) {
        let at = if count <= POOL { at } else { random.below(count) };
        if let Some(id) = snapshot.nth_chunk(at as u64)? {
            drawn.push(passage(snapshot, by, &snapshot.piece(id)?)?);
        }
    }
    Ok(drawn)
}

/// A query of the set, with the chunks of the spans that it names.
fn named(snapshot: &Snapshot, by: &dyn Embedder, asked: &LabelledQuery) -> Result<LabelledPair> {
    let targets: Vec<Target> = asked.relevant.iter().map(Relevant::target).collect();
    let mut right = Vec::new();
    for (group, target) in targets.iter().enumerate() {
        for piece in snapshot.pieces(&target.path)? {
            if target.lines.is_none_or(|(first, last)| piece.start_line <= last && first <= piece.end_line) {
                right.push((group, passage(snapshot, by, &piece)?));
            }
        }
    }
    Ok(LabelledPair {
        half: asked.half.clone(),
        kind: asked.kind.clone().unwrap_or_else(|| "other".to_owned()),
        text: asked.query.clone(),
        paths: targets.into_iter().map(|target| target.path).collect(),
        right,
    })
}

/// Queries made of prose: in turn the first sentence of a chunk, and the heading above one.
fn made(
    snapshot: &Snapshot,
    by: &dyn Embedder,
    half: Option<&String>,
    random: &mut Random,
) -> Result<Vec<LabelledPair>> {
    let mut prose = Vec::new();
    for (path, language) in snapshot.paths(None)? {
        if PROSE.contains(&language.as_str()) {
            prose.extend(snapshot.pieces(&path)?.into_iter().filter(|piece| piece.text.chars().count() >= LEAST_TEXT));
        }
    }
    let mut pairs = Vec::new();
    for _ in 0..MADE.min(prose.len()) {
        let mut piece = prose.swap_remove(random.below(prose.len()));
        let is_sentence = pairs.len() % 2 == 0;
        let Some(text) = (if is_sentence { take_sentence(&mut piece) } else { take_heading(&mut piece) }) else {
            continue;
        };
        let mut right = passage(snapshot, by, &piece)?;
        right.chunk.text.clone_from(&piece.text);
        if !is_sentence {
            // The innermost heading is the first name that stands for it.
            right.chunk.names.retain(|name| !name.text.starts_with(&text));
        }
        pairs.push(LabelledPair {
            half: half.cloned(),
            kind: if is_sentence { "sentence" } else { "heading" }.to_owned(),
            text,
            paths: vec![piece.path.clone()],
            right: vec![(0, right)],
        });
    }
    Ok(pairs)
}

/// The first sentence of a paragraph, which the text then lacks.
fn take_sentence(piece: &mut DocumentPiece) -> Option<String> {
    let begins =
        |line: &&str| line.starts_with(|c: char| c.is_uppercase()) && line.split_whitespace().count() >= *WORDS.start();
    let line = piece.text.lines().find(begins)?.to_owned();
    let from = piece.text.find(&line)?;
    let paragraph = piece.text[from..].split("\n\n").next()?;
    let end = paragraph.find(". ").or_else(|| paragraph.find(".\n"))? + 1;
    let sentence = paragraph[..end].to_owned();
    let words: Vec<&str> = sentence.split_whitespace().collect();
    if !WORDS.contains(&words.len()) {
        return None;
    }
    piece.text.replace_range(from..from + end, "");
    Some(words.join(" "))
}

/// The innermost heading, which the text then lacks.
fn take_heading(piece: &mut DocumentPiece) -> Option<String> {
    let heading = piece.headings.lines().last()?.to_owned();
    if heading.split_whitespace().count() < 2 {
        return None;
    }
    let rest: Vec<&str> = piece.headings.lines().filter(|line| *line != heading).collect();
    piece.headings = rest.join("\n");
    piece.text = piece.text.lines().filter(|line| !line.contains(&heading)).collect::<Vec<_>>().join("\n");
    Some(heading)
}
