//! Suggestions for a name that is not a setting: the setting that was probably meant, or nothing if none is similar.

use super::KEYS;

/// Characters of a name that are compared.
const MAX_COMPARED: usize = 64;

/// The prefix of the environment variables of ixmcp.
const PREFIX: &str = "IXMCP_";

/// Completes "… is not a setting": the section it names, the nearest key, or the keys of its section.
pub(super) fn key(name: &str) -> String {
    let in_section = |section: &str| -> Vec<&'static str> {
        let begin = format!("{section}.");
        KEYS.iter().map(|key| key.name).filter(|key| key.starts_with(&begin)).collect()
    };
    let own = in_section(name);
    if !own.is_empty() {
        return format!(" but a section: write [{name}], and below it one of {}", last_parts(&own));
    }
    // Without its section, or in another one.
    let last = name.rsplit('.').next().unwrap_or(name);
    let elsewhere = KEYS.iter().map(|key| key.name).find(|key| key.rsplit('.').next() == Some(last));
    if let Some(near) = elsewhere.or_else(|| nearest(name, KEYS.iter().map(|key| key.name))) {
        return format!("; the nearest is {near}");
    }
    let siblings = name.split_once('.').map_or_else(Vec::new, |(section, _)| in_section(section));
    if siblings.is_empty() { String::new() } else { format!("; that section has {}", last_parts(&siblings)) }
}

/// Completes "… is not a setting" for a variable of the environment.
pub(super) fn variable<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    // The common prefix says nothing about similarity.
    let own: Vec<&str> = known.filter_map(|known| known.strip_prefix(PREFIX)).collect();
    let near = nearest(name.strip_prefix(PREFIX).unwrap_or(name), own.into_iter());
    near.map_or_else(String::new, |near| format!("; the nearest is {PREFIX}{near}"))
}

fn last_parts(keys: &[&str]) -> String {
    keys.iter().filter_map(|key| key.rsplit('.').next()).collect::<Vec<_>>().join(", ")
}

/// The known name with the smallest edit distance, if most of its letters match.
fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let name = &name[..name.char_indices().nth(MAX_COMPARED).map_or(name.len(), |(at, _)| at)];
    let (far, near) = known.map(|known| (strsim::levenshtein(name, known), known)).min()?;
    (far <= name.chars().count().min(near.len()) / 3).then_some(near)
}
