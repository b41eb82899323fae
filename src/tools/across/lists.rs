//! The answers of several repositories as one: lists, sums, and a file of one of them.
//!
//! Owns the order of the items of a list. It depends on the items and on the roots, so that pages fit together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::ScopedCall;
use crate::error::{Error, Result};
use crate::model::{first_of, printable};
use crate::query::symbols;
use crate::tools::{render, run};
use crate::wording::{Name, Tool};

/// The maximum limit of `get_symbol`.
const MAX_SYMBOLS: usize = 1000;
/// References that `get_symbol` returns without a limit.
const REFERENCES: usize = 20;

/// Sort key of an item of a list.
pub(super) type SortKey = [i64; 4];

/// Combines the lists of several repositories, and shows `limit` items from `offset` on.
pub(super) fn combined(
    across: &ScopedCall,
    lists: Vec<(PathBuf, (Vec<Value>, Value))>,
    list: &str,
    (offset, limit): (usize, Option<usize>),
    key: fn(&Value, usize, usize) -> SortKey,
) -> Value {
    let mut total = Some(0);
    let mut has_more = false;
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sorted: Vec<(SortKey, Value)> = Vec::new();
    for (member, (root, (items, rest))) in lists.into_iter().enumerate() {
        total = total.zip(rest["total"].as_u64()).map(|(total, more)| total + more);
        has_more |= rest["truncated"] == true;
        for name in ["belowMinScore", "vectors_pending"] {
            if let Some(number) = rest[name].as_u64() {
                *sums.entry(name).or_default() += number;
            }
        }
        sorted.extend(items.into_iter().enumerate().map(|(index, mut item)| {
            let key = key(&item, index, member);
            across.name_repository(&mut item, &root);
            (key, item)
        }));
    }
    sorted.sort_by_key(|(key, _)| *key);
    let gathered = sorted.len();
    let shown: Vec<Value> =
        sorted.into_iter().skip(offset).take(limit.unwrap_or(usize::MAX)).map(|(_, item)| item).collect();
    let end = offset.saturating_add(shown.len());
    let is_cut = has_more || end < gathered;
    let mut answer = json!({ "truncated": is_cut });
    if let Some(total) = total {
        answer["total"] = json!(total);
    }
    if is_cut && !shown.is_empty() {
        answer["next_offset"] = json!(end);
    }
    answer[list] = Value::Array(shown);
    for (name, sum) in sums {
        answer[name] = json!(sum);
    }
    answer
}

fn int(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// One repository after the other.
pub(super) fn in_order(_: &Value, index: usize, member: usize) -> SortKey {
    [int(member), int(index), 0, 0]
}

/// The best first. Scores have at most six decimals that count.
pub(super) fn by_score(item: &Value, index: usize, member: usize) -> SortKey {
    #[expect(clippy::cast_possible_truncation, reason = "scores are small")]
    let score = (item["score"].as_f64().unwrap_or(0.0) * -1e6).round() as i64;
    [score, int(member), int(index), 0]
}

/// Definitions first, then references: the nearest of each repository, then the next of each.
fn by_role(item: &Value, index: usize, member: usize) -> SortKey {
    [i64::from(item["role"] != "definition"), int(index), int(member), 0]
}

pub(super) fn files(across: &ScopedCall) -> Result<Value> {
    across.list("files", "", (None, usize::MAX), in_order)
}

pub(super) fn symbols(across: &ScopedCall) -> Result<Value> {
    let offset = across.number("offset", "").unwrap_or(0);
    let limit = across.number("limit", "").map(|limit| limit.min(MAX_SYMBOLS));
    let need = limit.map(|limit| offset.saturating_add(limit)).or((offset > 0).then_some(offset + REFERENCES));
    let lists = across.each(|root| across.first(root, "symbols", "", need))?;
    let answered: Vec<(PathBuf, ())> = lists.iter().map(|(root, _)| (root.clone(), ())).collect();
    let definitions = |items: &[Value]| items.iter().filter(|item| item["role"] == "definition").count();
    let all: usize = lists.iter().map(|(_, (items, _))| definitions(items)).sum();
    // Without a limit: the definitions, and some references.
    let limit = limit.unwrap_or(all.saturating_sub(offset) + REFERENCES);
    let mut answer = combined(across, lists, "symbols", (offset, Some(limit)), by_role);
    if answer["total"] == 0 {
        // They have said the rest already.
        let remarks = std::mem::take(&mut *across.remarks());
        let answers =
            across.each_of(answered, |root, ()| Ok(across.ask_for(root, across.arguments, false).unwrap_or_default()));
        *across.remarks() = remarks;
        let answers = answers?;
        let names = answers
            .iter()
            .flat_map(|(_, rest)| rest["suggestions"].as_array().into_iter().flatten())
            .filter_map(|name| name.as_str().map(str::to_owned));
        let wanted = across.arguments.get("symbol_name").and_then(Value::as_str).unwrap_or_default();
        let names = symbols::most_similar(wanted, names);
        if !names.is_empty() {
            answer["suggestions"] = names.into();
        }
    }
    Ok(answer)
}

/// Tags with their counts in all repositories; or everything without a tag.
pub(super) fn tags(across: &ScopedCall) -> Result<Value> {
    if across.arguments.get("untagged") == Some(&Value::Bool(true)) {
        return across.list("items", "", (None, usize::MAX), in_order);
    }
    let lists = across.each(|root| {
        let mut arguments = across.arguments.clone();
        ["offset", "limit"].iter().for_each(|name| drop(arguments.remove(*name)));
        across.ask(root, &arguments)
    })?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for tag in lists.iter().flat_map(|(_, answer)| answer["tags"].as_array().into_iter().flatten()) {
        if let (Some(name), Some(count)) = (tag["tag"].as_str(), tag["count"].as_u64()) {
            *counts.entry(name.to_owned()).or_default() += count;
        }
    }
    let (offset, limit) = (across.number("offset", "").unwrap_or(0), across.number("limit", ""));
    let total = counts.len();
    let make = |kept: usize| {
        let tags: Vec<Value> =
            (counts.iter().skip(offset).take(kept)).map(|(tag, count)| json!({ "tag": tag, "count": count })).collect();
        let mut answer = json!({ "total": total });
        if offset + tags.len() < total {
            answer["truncated"] = json!(true);
            answer["next_offset"] = json!(offset + tags.len());
        }
        answer["tags"] = tags.into();
        answer
    };
    Ok(render::shrunk(total.saturating_sub(offset).min(limit.unwrap_or(usize::MAX)), across.request.cap, make))
}

/// The sums of all repositories, and what each has.
pub(super) fn stats(across: &ScopedCall) -> Result<Value> {
    const SUMS: &[&str] = &[
        "total_files",
        "total_chunks",
        "total_symbols",
        "total_references",
        "index_size_bytes",
        "entities",
        "tags",
        "vectors",
        "vectors_pending",
    ];
    let answers = across.each(|root| across.ask(root, across.arguments))?;
    let mut all = json!({});
    for name in SUMS {
        all[name] = json!(answers.iter().filter_map(|(_, answer)| answer[name].as_u64()).sum::<u64>());
    }
    all["last_update"] = answers.iter().filter_map(|(_, answer)| answer["last_update"].as_str()).max().into();
    for (name, of) in [("languages", &["files", "lines"][..]), ("skipped", &[])] {
        let mut sums = json!({});
        for (key, value) in answers.iter().flat_map(|(_, answer)| answer[name].as_object().into_iter().flatten()) {
            let sum = |before: &Value, more: &Value| json!(before.as_u64().unwrap_or(0) + more.as_u64().unwrap_or(0));
            if of.is_empty() {
                sums[key] = sum(&sums[key], value);
            } else {
                of.iter().for_each(|field| sums[key][*field] = sum(&sums[key][*field], &value[*field]));
            }
        }
        all[name] = sums;
    }
    for name in ["model", "schema_version"] {
        all[name] = answers.first().map(|(_, answer)| answer[name].clone()).unwrap_or_default();
    }
    let folders = answers.iter().flat_map(|(_, answer)| answer["document_folders"].as_array().cloned());
    all["document_folders"] = folders.flatten().collect();
    let each = answers.into_iter().map(|(root, mut answer)| {
        across.name_repository(&mut answer, &root);
        answer
    });
    all["repositories"] = each.collect();
    if let Some(fields) = all.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    Ok(all)
}

/// The lines of a file of one repository: the only one that has it.
pub(super) fn slice(across: &ScopedCall) -> Result<Value> {
    let given = across.arguments.get("file_path").and_then(Value::as_str).unwrap_or_default();
    let has = |root: &&PathBuf| !given.is_empty() && root.join(given).starts_with(root) && root.join(given).is_file();
    let roots: Vec<&PathBuf> = across.roots.iter().filter(has).collect();
    let shown: String = printable(given).chars().take(200).collect();
    match roots[..] {
        [root] => {
            let mut arguments = across.arguments.clone();
            arguments.remove("repo");
            let workspace = across.tools.workspaces.of_root(root)?;
            let mut answer = run(across.tool, &workspace, across.request, &Arc::default(), &arguments)?;
            across.name_repository(&mut answer, root);
            Ok(answer)
        }
        [] => Err(Error::invalid_path(format!("no repository of the scope has the file {shown}")).hint((
            Tool("list_files"),
            " with the same ",
            Name("repo"),
            " lists their files.",
        ))),
        [..] => {
            let names: Vec<String> = roots.iter().map(|root| printable(&across.name(root))).collect();
            Err(Error::invalid_argument(format!("{shown} is in {} repositories", names.len())).hint((
                "Name one by ",
                Name("repo"),
                format!(": {}.", first_of(&names, 5)),
            )))
        }
    }
}
