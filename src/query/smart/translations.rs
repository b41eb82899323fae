//! Files that differ from others only in their language: `locales/de/app.json` and `locales/fr/app.json`.
//!
//! Owns finding them among the hits of a query, by the codes of ISO 639-1 in their paths. Does not own which of them comes first.

use std::collections::{HashMap, HashSet};

/// Fewer languages are no set of translations: `is` and `cs` may be anything.
const LEAST: usize = 3;

/// The codes of ISO 639-1, one after the other.
const CODES: &str = "aaabaeafakamanarasavayazbabebgbhbibmbnbobrbscacechcocrcscucvcydadedvdzeeeleneoeseteufafffifjfofrfygagdglgngugvhahehihohrhthuhyhziaidieigiiikioisitiujajvkakgkikjkkklkmknkokrkskukvkwkylalblglilnloltlulvmgmhmimkmlmnmrmsmtmynanbndnengnlnnnonrnvnyocojomorospapiplpsptqurmrnrorurwsascsdsesgsiskslsmsnsosqsrssstsusvswtatetgthtitktltntotrtstttwtyugukuruzvevivowawoxhyiyozazhzu";

/// The paths that are translations, each with the path that all of its set share.
pub(super) fn shared<'p>(paths: impl Iterator<Item = &'p str>) -> HashMap<&'p str, String> {
    let mut sets: HashMap<String, HashSet<&str>> = HashMap::new();
    let mut known: HashMap<&str, String> = HashMap::new();
    for path in paths {
        if let Some(common) = without_language(path).filter(|_| !known.contains_key(path)) {
            sets.entry(common.clone()).or_default().insert(path);
            known.insert(path, common);
        }
    }
    known.retain(|_, common| sets[common].len() >= LEAST);
    known
}

/// The path with `*` for the last language in it; `None` if there is none.
fn without_language(path: &str) -> Option<String> {
    let is_separator = |c: char| matches!(c, '/' | '.');
    // `ts` is a language as well.
    let name = path.rfind('/').map_or(0, |at| at + 1);
    let mut end = path[name..].rfind('.').map_or(path.len(), |at| name + at);
    loop {
        let start = path[..end].rfind(is_separator).map_or(0, |at| at + 1);
        let part = &path[start..end];
        if let Some(before) = language_at_end(part) {
            return Some(format!("{}{before}*{}", &path[..start], &path[end..]));
        }
        end = start.checked_sub(1)?;
    }
}

/// Returns the text before a language at the end of a part of a path: `messages_` for `messages_pt_BR`, an empty text for `zh-Hans`.
fn language_at_end(part: &str) -> Option<&str> {
    let mut starts = vec![0];
    starts.extend(part.match_indices(['-', '_']).map(|(at, _)| at + 1));
    starts.into_iter().find(|start| is_language(&part[*start..])).map(|start| &part[..start])
}

/// A code of a language, with or without a script and a region.
fn is_language(tag: &str) -> bool {
    let mut subtags = tag.split(['-', '_']);
    let is_code = |code: &str| code.len() == 2 && CODES.as_bytes().chunks(2).any(|known| known == code.as_bytes());
    let is_further = |subtag: &str| {
        let letters = subtag.strip_prefix('r').filter(|rest| rest.len() == 2).unwrap_or(subtag);
        match letters.len() {
            2 => letters.bytes().all(|byte| byte.is_ascii_uppercase()) || is_code(letters),
            3 => letters.bytes().all(|byte| byte.is_ascii_digit()),
            4 => {
                letters.starts_with(|c: char| c.is_ascii_uppercase())
                    && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            }
            _ => false,
        }
    };
    subtags.next().is_some_and(is_code) && subtags.all(is_further)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_found_wherever_projects_write_it() {
        for (path, common) in [
            ("locales/de/app.json", "locales/*/app.json"),
            ("i18n/pt-BR.json", "i18n/*.json"),
            ("i18n/zh-Hans-CN.json", "i18n/*.json"),
            ("src/messages_pt_BR.properties", "src/messages_*.properties"),
            ("res/values-de/strings.xml", "res/values-*/strings.xml"),
            ("res/values-pt-rBR/strings.xml", "res/values-*/strings.xml"),
            ("app.fr.resx", "app.*.resx"),
            ("po/uk.po", "po/*.po"),
            ("locale/es_419/LC_MESSAGES/django.po", "locale/*/LC_MESSAGES/django.po"),
        ] {
            assert_eq!(without_language(path).as_deref(), Some(common), "{path}");
        }
        for path in ["src/main.rs", "go/a.go", "a/xx.json", "src/lib.ts", "README"] {
            assert_eq!(without_language(path), None, "{path}");
        }
    }

    #[test]
    fn a_set_has_several_languages() {
        let found = shared(["l/de.json", "l/fr.json", "l/it.json", "src/is.ts", "src/it.ts"].into_iter());
        assert_eq!(found.len(), 3);
        assert_eq!(found["l/it.json"], "l/*.json");
    }
}
