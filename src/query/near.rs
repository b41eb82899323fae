//! "Did you mean": the nearest of many names.

use memchr::memmem;

/// Longer names, in bytes, are not typing errors.
const MAX_CHARS: usize = 500;

/// The best few of `names` for a mistyped `wanted`, nearest first: those that share its last part, or differ in few
/// characters.
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>, count: usize) -> Vec<&'n str> {
    let mistyped = Mistyped::new(wanted);
    let mut near: Vec<(usize, &str)> =
        names.into_iter().filter_map(|name| Some((mistyped.distance_to(name)?, name))).collect();
    near.sort_unstable();
    near.truncate(count);
    near.into_iter().map(|(_, name)| name).collect()
}

/// A name that nothing has, for a look at many names that do exist.
pub struct Mistyped {
    lower: String,
    last: memmem::Finder<'static>,
    whole: Outline,
    part: Outline,
    close_enough: usize,
    is_too_long: bool,
}

impl Mistyped {
    pub fn new(wanted: &str) -> Self {
        let lower = wanted.to_lowercase();
        let last = last_part(&lower);
        Self {
            last: memmem::Finder::new(last).into_owned(),
            whole: Outline::from_word(&lower),
            part: Outline::from_word(last),
            close_enough: last.chars().count().max(3) / 3,
            is_too_long: wanted.len() > MAX_CHARS,
            lower,
        }
    }

    /// How far `name` is, if it is near: it shares the last part, or differs in few characters.
    pub fn distance_to(&self, name: &str) -> Option<usize> {
        // A distance costs a hundred times as much as an outline, and most names are far away.
        if self.is_too_long || name.len() > MAX_CHARS || !self.may_be_near(name) {
            return None;
        }
        let lower = name.to_lowercase();
        let (last, tail) = (last_part(&self.lower), last_part(&lower));
        let contains = || self.last.find(tail.as_bytes()).is_some() || last.contains(tail);
        let inside = tail.len() >= 3 && last.len() >= 3 && contains();
        let is_near =
            |outline: &Outline, other| outline.least_distance(&Outline::from_word(other)) <= self.close_enough;
        if !inside && !is_near(&self.part, tail) && !is_near(&self.whole, &lower) {
            return None;
        }
        let far = distance(last, tail).min(distance(&self.lower, &lower));
        (far <= self.close_enough || inside).then_some(far)
    }

    /// False only for names that are far away, which takes one pass over the bytes of most names.
    fn may_be_near(&self, name: &str) -> bool {
        let Some(outline) = Outline::from_plain(name) else { return true };
        outline.least_distance(&self.part) <= self.close_enough
            || outline.least_distance(&self.whole) <= self.close_enough
            // One that is inside the other has no character that the other lacks.
            || outline.occurring & !self.part.occurring == 0
            || self.part.occurring & !outline.occurring == 0
    }
}

/// The name with the fewest edits from a mistyped `wanted`, in any case: one edit, or one for every four characters.
pub fn closest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = wanted.to_lowercase();
    let most = (lower.chars().count() / 4).max(1);
    let far = |name: &str| distance(&lower, &name.to_lowercase());
    let near = names.into_iter().map(|name| (far(name), name)).filter(|(far, _)| *far <= most);
    near.min().map(|(_, name)| name)
}

/// The name with the fewest edits from a mistyped argument: at most two, or one in a name of less than six letters.
pub fn mistyped<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let most = if wanted.chars().count() < 6 { 1 } else { 2 };
    let far = names.into_iter().map(|name| (distance(wanted, name), name));
    far.filter(|(far, _)| *far <= most).min().map(|(_, name)| name)
}

/// `", "`-joined and quoted, for a hint; `None` when there is nothing near.
pub fn did_you_mean(near: &[&str]) -> Option<String> {
    let quoted: Vec<String> = near.iter().map(|name| crate::model::printable(name)).collect();
    (!quoted.is_empty()).then(|| format!("Did you mean {}?", quoted.join(", ")))
}

/// A hint that names the most similar of a few names; lists all of them if none is similar.
pub fn one_of(wanted: &str, names: &[&str]) -> String {
    let near = nearest(wanted, names.iter().copied(), 3);
    did_you_mean(&near).unwrap_or_else(|| format!("There are: {}.", names.join(", ")))
}

/// Facts about a word from which a lower bound of its distance to another follows.
struct Outline {
    chars: usize,
    /// A bit for each character that occurs, by its last six bits.
    occurring: u64,
}

impl Outline {
    fn from_word(word: &str) -> Self {
        let mut outline = Self { chars: 0, occurring: 0 };
        for one in word.chars() {
            outline.chars += 1;
            outline.occurring |= 1 << (u32::from(one) % 64);
        }
        outline
    }

    /// The outline in lower case of a word of ASCII characters without folders.
    fn from_plain(word: &str) -> Option<Self> {
        let (mut occurring, mut high, mut is_path) = (0, 0, false);
        for byte in word.bytes() {
            occurring |= 1_u64 << (byte.to_ascii_lowercase() % 64);
            high |= byte;
            is_path |= byte == b'/';
        }
        (high.is_ascii() && !is_path).then_some(Self { chars: word.len(), occurring })
    }

    /// One edit changes the length by at most one, and adds or removes at most one character.
    fn least_distance(&self, other: &Self) -> usize {
        let removed = (self.occurring & !other.occurring).count_ones();
        let added = (other.occurring & !self.occurring).count_ones();
        self.chars.abs_diff(other.chars).max(removed.max(added) as usize)
    }
}

fn last_part(name: &str) -> &str {
    name.trim_end_matches('/').rsplit('/').next().unwrap_or(name)
}

/// Edits of one character (insert, delete, replace) between two words; names above 64 characters count as far apart.
fn distance(a: &str, b: &str) -> usize {
    let (long, other) = (a.chars().count(), b.chars().count());
    if long.abs_diff(other) > 8 || long.max(other) > 64 { usize::MAX } else { strsim::levenshtein(a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        let names = ["src/query/mod.rs", "src/store/mod.rs", "src/main.rs", "README.md"];
        assert_eq!(nearest("src/mian.rs", names, 3), ["src/main.rs"]);
        assert_eq!(nearest("quer", ["query", "stats", "get_slice"], 2), ["query"]);
        assert_eq!(closest("chekout", ["cart", "Checkout", "check"]), Some("Checkout"));
        assert_eq!(closest("quartz", ["query", "Quart_er"]), None);
        assert_eq!(mistyped("limt", ["list", "limit"]), Some("limit"));
        assert_eq!(mistyped("tetx", ["text"]), None);
        assert_eq!(mistyped("case_sensitve", ["case_sensitive"]), Some("case_sensitive"));
        assert!(nearest("zzzzzz", names, 3).is_empty());
    }

    #[test]
    fn an_outline_is_never_farther_than_the_word() {
        let words =
            ["", "a", "abc", "acb", "query", "quarry", "symbol", "simbols", "größe", "grösse", "get_symbol", "aaaa"];
        for (one, other) in words.iter().flat_map(|one| words.iter().map(move |other| (one, other))) {
            let least = Outline::from_word(one).least_distance(&Outline::from_word(other));
            assert!(least <= strsim::levenshtein(one, other), "{one} {other}: {least}");
        }
        assert_eq!(Outline::from_word("query").least_distance(&Outline::from_word("stats")), 5);
    }

    #[test]
    fn no_name_is_given_up_too_early() {
        let names =
            ["", "a", "Get", "getSymbol", "get_symbols", "symbol", "SYMBOL", "a/symbol", "größe", "Grösse", "sym"];
        for wanted in names {
            let mistyped = Mistyped::new(wanted);
            for name in names {
                let (lower, last) = (name.to_lowercase(), last_part(&mistyped.lower));
                let tail = last_part(&lower);
                let inside = tail.len() >= 3 && last.len() >= 3 && (last.contains(tail) || tail.contains(last));
                let far = strsim::levenshtein(last, tail).min(strsim::levenshtein(&mistyped.lower, &lower));
                let expected = (inside || far <= mistyped.close_enough).then_some(far);
                assert_eq!(mistyped.distance_to(name), expected, "{wanted} {name}");
            }
        }
    }
}
