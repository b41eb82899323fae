//! A pack of context around an entity: itself, its neighbours by importance, and the code that their texts name, within
//! a budget of tokens.
//!
//! Owns what goes in, in which order, and what is left out. `mentions` recognizes code.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entities;
use super::mentions::{self, Mention};
use crate::error::Result;
use crate::extract::front_matter;
use crate::store::{GraphNode, Snapshot};

/// An entity with its neighbours and the code that it mentions, as far as they fit.
#[derive(Debug, Default)]
pub struct Pack {
    pub id: String,
    pub items: Vec<Item>,
    pub code: Vec<Code>,
    /// Neighbours that did not fit, the most important first.
    pub left_out: Vec<LeftOut>,
    /// Mentioned code that did not fit.
    pub code_left_out: usize,
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
pub struct Item {
    pub id: String,
    pub title: String,
    pub kind: String,
    /// Without the front matter.
    pub body: String,
    pub why: String,
    /// The body is cut; `ixchel_show` returns all of it.
    #[serde(rename = "truncated", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
pub struct LeftOut {
    pub id: String,
    pub title: String,
}

#[derive(Debug, JsonSchema, Serialize, Deserialize)]
pub struct Code {
    #[serde(flatten)]
    pub mention: Mention,
    pub why: String,
}

/// The budget of an answer: tokens, and bytes where the answer has a limit.
#[derive(Clone, Copy, Debug)]
pub struct ContextBudget {
    pub tokens: usize,
    pub bytes: Option<usize>,
}

/// A model's token is about this many characters of English and code.
const CHARS_PER_TOKEN: usize = 4;
/// Tokens of an item in addition to its words.
const ITEM_TOKENS: usize = 20;
/// The share of the budget that code may take: one part in this.
const CODE_SHARE: usize = 4;
/// Neighbours whose weight is looked up; a hub's others come after, by relationship and id.
const WEIGHED: usize = 200;

impl ContextBudget {
    /// Takes the cost of a text from the budget, if it fits.
    fn take(&mut self, texts: &[&str]) -> bool {
        let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
        let tokens = characters.div_ceil(CHARS_PER_TOKEN) + ITEM_TOKENS;
        // As JSON writes it, quotes and names of fields included.
        let bytes = texts.iter().map(|text| json_bytes(text)).sum::<usize>() + ITEM_TOKENS * CHARS_PER_TOKEN;
        let fits = tokens <= self.tokens && self.bytes.is_none_or(|budget| bytes <= budget);
        if fits {
            self.tokens -= tokens;
            self.bytes = self.bytes.map(|budget| budget - bytes);
        }
        fits
    }

    fn is_full(&self) -> bool {
        self.tokens <= 2 * ITEM_TOKENS || self.bytes.is_some_and(|budget| budget <= 2 * ITEM_TOKENS * CHARS_PER_TOKEN)
    }

    /// The part that code may take.
    fn for_code(&mut self) -> Self {
        let part = Self { tokens: self.tokens / CODE_SHARE, bytes: self.bytes.map(|budget| budget / CODE_SHARE) };
        self.tokens -= part.tokens;
        self.bytes = self.bytes.map(|budget| budget - part.bytes.unwrap_or(0));
        part
    }
}

fn json_bytes(text: &str) -> usize {
    text.chars()
        .map(|c| match c {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        })
        .sum()
}

/// Packs the context of the entity `id`.
pub fn pack(snapshot: &Snapshot, id: &str, mut budget: ContextBudget) -> Result<Pack> {
    let entity = entities::find(snapshot, id)?;
    let mut pack = Pack { id: entity.key.clone(), ..Pack::default() };
    let mut code_budget = budget.for_code();
    let text = snapshot.text_of(&entity.path)?;
    let body = front_matter::body(&text).0.trim();
    let mut item = Item {
        id: entity.key.clone(),
        title: entity.title.clone(),
        kind: entity.kind.clone(),
        body: body.to_owned(),
        why: "asked for".to_owned(),
        is_cut: false,
    };
    if !budget.take(&[&item.title, &item.body]) {
        let kept = prefix_that_fits(body, &item.title, &mut budget);
        item.body = kept.to_owned();
        item.is_cut = true;
        item.why = format!("asked for; the first {} of {} characters", kept.chars().count(), body.chars().count());
    }
    pack.items.push(item);
    add_code(snapshot, &mut pack, &mut code_budget, &entity.key, &text)?;
    for (node, why) in neighbours(snapshot, &entity.key, entity.id)? {
        // Closed entities cost nothing to skip; a full pack must not read a thousand files.
        let fits = !budget.is_full() && {
            let path = entities::find(snapshot, &node.key)?.path;
            let text = snapshot.text_of(&path)?;
            let body = front_matter::body(&text).0.trim().to_owned();
            let fits = budget.take(&[&node.title, &body, &why]);
            if fits {
                let (id, title, kind) = (node.key.clone(), node.title.clone(), node.kind.clone());
                pack.items.push(Item { id, title, kind, body, why, is_cut: false });
                add_code(snapshot, &mut pack, &mut code_budget, &node.key, &text)?;
            }
            fits
        };
        if !fits {
            pack.left_out.push(LeftOut { id: node.key, title: node.title });
        }
    }
    Ok(pack)
}

/// The start of a body that fits the budget, up to the end of a line where one is near.
fn prefix_that_fits<'b>(body: &'b str, title: &str, budget: &mut ContextBudget) -> &'b str {
    let (mut least, mut most) = (0, body.len());
    while least < most {
        let middle = body.ceil_char_boundary(least + (most - least).div_ceil(2));
        let mut trial = *budget;
        if trial.take(&[title, &body[..middle]]) {
            least = middle;
        } else {
            most = body.floor_char_boundary(middle.saturating_sub(1));
        }
    }
    let kept = &body[..least];
    let kept = kept.rfind('\n').filter(|at| *at * 2 > least).map_or(kept, |at| &kept[..at]);
    budget.take(&[title, kept]);
    kept
}

fn add_code(snapshot: &Snapshot, pack: &mut Pack, budget: &mut ContextBudget, key: &str, text: &str) -> Result<()> {
    let (body, _) = front_matter::body(text);
    for mention in mentions::mentions(snapshot, body)? {
        let known = pack.code.iter().any(|code| {
            (&code.mention.path, &code.mention.symbol, code.mention.line)
                == (&mention.path, &mention.symbol, mention.line)
        });
        if known {
            continue;
        }
        let mut why = format!("`{}` in {key}", crate::model::printable(&mention.words));
        if mention.of > 1 {
            why.push_str(&format!(", one of {} definitions", mention.of));
        }
        if budget.take(&[&mention.path, mention.symbol.as_deref().unwrap_or_default(), &why]) {
            pack.code.push(Code { mention, why });
        } else {
            pack.code_left_out += 1;
        }
    }
    Ok(())
}

/// Entities one edge away with their relationships, the most important first.
fn neighbours(snapshot: &Snapshot, key: &str, entity: crate::store::EntityId) -> Result<Vec<(GraphNode, String)>> {
    let mut ties: BTreeMap<String, (GraphNode, Vec<String>, u32)> = BTreeMap::new();
    let mut tie = |node: GraphNode, how: String, strength: u32| {
        if node.key != key {
            let (_, hows, best) = ties.entry(node.key.clone()).or_insert_with(|| (node, Vec::new(), 0));
            *best = (*best).max(strength);
            hows.push(how);
        }
    };
    for link in snapshot.links_from(entity)? {
        if let Some(node) = link.entity {
            tie(node, format!("{key} {} it", link.rel), 2 * strength(&link.rel) + 1);
        }
    }
    for link in snapshot.links_to(entity)? {
        tie(link.source, format!("it {} {key}", link.rel), 2 * strength(&link.rel));
    }
    let mut all: Vec<_> = ties.into_values().collect();
    all.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.key.cmp(&b.0.key)));
    let mut weighed = Vec::with_capacity(all.len());
    for (at, (node, hows, strength)) in all.into_iter().enumerate() {
        let weight = if at < WEIGHED { snapshot.weight(node.id)? } else { 0 };
        weighed.push((node, hows, strength, weight.min(100)));
    }
    weighed.sort_by(|a, b| (b.2, b.3).cmp(&(a.2, a.3)).then_with(|| a.0.key.cmp(&b.0.key)));
    let mut seen = HashSet::new();
    let nodes = weighed.into_iter().map(|(node, mut hows, ..)| {
        hows.retain(|how| seen.insert((node.key.clone(), how.clone())));
        (node, hows.join("; "))
    });
    Ok(nodes.collect())
}

/// The strength of a relationship: the other entity comes first if one must know it to work on this one.
fn strength(rel: &str) -> u32 {
    match rel.to_lowercase().replace('-', "_").as_str() {
        "depends_on" | "blocks" | "blocked_by" | "requires" | "needs" | "supersedes" | "superseded_by" => 3,
        "parent" | "children" | "implements" | "decides" | "resolves" | "fixes" | "part_of" => 2,
        "links" | "embeds" | "relates_to" | "related" | "see_also" | "see" => 0,
        _ => 1,
    }
}
