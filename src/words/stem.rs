//! The Porter stemmer for English: `parse`, `parsed` and `parsing` have the same stem.
//!
//! The FTS tokenizer `porter` uses the same algorithm. Here it identifies the words of a text that a query matches.

/// Longer words are their own stems, as they are to the FTS tokenizer. This bounds the recursion of the rules.
const MAX_LENGTH: usize = 64;

/// The stem of a lowercase word. Words with other characters are returned unchanged.
pub fn stem(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) { token_stem(word) } else { word.to_owned() }
}

/// The stem of a lowercase token as the FTS has it: `alloc_page` of `alloc_pages`, too.
pub fn token_stem(word: &str) -> String {
    let is_stemmed = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if !(3..=MAX_LENGTH).contains(&word.len()) || !word.bytes().all(is_stemmed) {
        return word.to_owned();
    }
    let mut stem = Stem(word.as_bytes().to_vec());
    stem.plurals();
    stem.past();
    stem.last_y();
    stem.replace_first(DOUBLE, 0);
    stem.replace_first(SINGLE, 0);
    stem.drop_suffix();
    stem.drop_e();
    // The input consists of ASCII letters.
    String::from_utf8(stem.0).unwrap_or_else(|_| word.to_owned())
}

/// The other number of a lowercase noun, where the two have different stems: `alias` and `aliases`, `index` and `indices`.
/// Some of what this returns is not a word.
pub fn other_numbers(word: &str) -> Vec<String> {
    const SHORTEST: usize = 4;
    // What a word ends in, and what the other number has there.
    const ENDINGS: &[(&str, &[&str])] = &[
        ("ases", &["as"]),
        ("uses", &["us"]),
        ("ises", &["is"]),
        ("ices", &["ex", "ix"]),
        ("as", &["ases"]),
        ("us", &["uses"]),
        ("is", &["ises", "es"]),
        ("ex", &["ices"]),
        ("ix", &["ices"]),
    ];
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    let ending = ENDINGS.iter().find(|(ending, _)| word.ends_with(ending));
    let others = ending.into_iter().flat_map(|(ending, others)| {
        let begin = &word[..word.len() - ending.len()];
        others.iter().map(move |other| format!("{begin}{other}"))
    });
    others.filter(|other| word.len().min(other.len()) >= SHORTEST).collect()
}

/// Suffixes with their replacements, applied if the remaining stem is long enough.
const DOUBLE: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

const SINGLE: &[(&str, &str)] =
    &[("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

/// Removed if two syllables remain; `ion` only after s or t.
const DROPPED: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

struct Stem(Vec<u8>);

impl Stem {
    fn is_vowel(&self, at: usize) -> bool {
        match self.0[at] {
            b'a' | b'e' | b'i' | b'o' | b'u' => true,
            b'y' => at > 0 && !self.is_vowel(at - 1),
            _ => false,
        }
    }

    /// How many times a consonant follows a vowel in the first `length` letters.
    fn measure(&self, length: usize) -> usize {
        (1..length).filter(|&at| self.is_vowel(at - 1) && !self.is_vowel(at)).count()
    }

    fn has_vowel(&self, length: usize) -> bool {
        (0..length).any(|at| self.is_vowel(at))
    }

    fn without(&self, suffix: &str) -> Option<usize> {
        self.0.strip_suffix(suffix.as_bytes()).map(<[u8]>::len)
    }

    fn set_end(&mut self, length: usize, suffix: &str) {
        self.0.truncate(length);
        self.0.extend_from_slice(suffix.as_bytes());
    }

    fn ends_double(&self) -> bool {
        let length = self.0.len();
        length >= 2 && self.0[length - 1] == self.0[length - 2] && !self.is_vowel(length - 1)
    }

    /// Whether the first `length` letters end with consonant, vowel, consonant other than w, x, y.
    fn ends_short(&self, length: usize) -> bool {
        length >= 3
            && !self.is_vowel(length - 1)
            && self.is_vowel(length - 2)
            && !self.is_vowel(length - 3)
            && !matches!(self.0[length - 1], b'w' | b'x' | b'y')
    }

    fn plurals(&mut self) {
        for (suffix, instead) in [("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")] {
            if let Some(length) = self.without(suffix) {
                self.set_end(length, instead);
                return;
            }
        }
    }

    fn past(&mut self) {
        if let Some(length) = self.without("eed") {
            if self.measure(length) > 0 {
                self.set_end(length, "ee");
            }
            return;
        }
        let Some(length) = self.without("ed").or_else(|| self.without("ing")).filter(|&left| self.has_vowel(left))
        else {
            return;
        };
        self.0.truncate(length);
        if ["at", "bl", "iz"].iter().any(|end| self.without(end).is_some()) {
            self.0.push(b'e');
        } else if self.ends_double() && !matches!(self.0.last(), Some(b'l' | b's' | b'z')) {
            self.0.pop();
        } else if self.measure(self.0.len()) == 1 && self.ends_short(self.0.len()) {
            self.0.push(b'e');
        }
    }

    fn last_y(&mut self) {
        if let Some(length) = self.without("y").filter(|&left| self.has_vowel(left)) {
            self.set_end(length, "i");
        }
    }

    fn replace_first(&mut self, suffixes: &[(&str, &str)], above: usize) {
        for (suffix, instead) in suffixes {
            if let Some(length) = self.without(suffix) {
                if self.measure(length) > above {
                    self.set_end(length, instead);
                }
                return;
            }
        }
    }

    fn drop_suffix(&mut self) {
        // The longest suffix decides: `ement` before `ment` before `ent`.
        let longest = DROPPED.iter().filter_map(|suffix| self.without(suffix).map(|length| (length, *suffix))).min();
        if let Some((length, suffix)) = longest {
            let fits = suffix != "ion" || matches!(self.0[..length].last(), Some(b's' | b't'));
            if fits && self.measure(length) > 1 {
                self.0.truncate(length);
            }
        }
    }

    fn drop_e(&mut self) {
        if let Some(length) = self.without("e") {
            let measure = self.measure(length);
            if measure > 1 || (measure == 1 && !self.ends_short(length)) {
                self.0.truncate(length);
            }
        }
        if self.ends_double() && self.0.last() == Some(&b'l') && self.measure(self.0.len()) > 1 {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{other_numbers, stem};

    #[test]
    fn a_noun_whose_numbers_have_different_stems_has_another_form() {
        for (one, many) in
            [("alias", "aliases"), ("status", "statuses"), ("index", "indices"), ("analysis", "analyses")]
        {
            assert_ne!(stem(one), stem(many));
            assert!(other_numbers(one).contains(&many.to_owned()), "{one}");
        }
        assert_eq!(other_numbers("aliases"), ["alias"]);
        for word in ["class", "parse", "us", "uses", "bus", "größes"] {
            assert!(other_numbers(word).is_empty(), "{word}");
        }
    }

    #[test]
    fn inflected_forms_share_a_stem() {
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("hopping", "hop"),
            ("filing", "file"),
            ("happy", "happi"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("digitizer", "digit"),
            ("triplicate", "triplic"),
            ("electrical", "electr"),
            ("revival", "reviv"),
            ("adjustment", "adjust"),
            ("replacement", "replac"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("controlling", "control"),
            ("connection", "connect"),
            ("connected", "connect"),
            ("parses", "pars"),
            ("parsing", "pars"),
            ("queries", "queri"),
            ("query", "queri"),
            ("is", "is"),
            ("utf8", "utf8"),
            ("größen", "größen"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn a_word_of_any_length_has_a_stem() {
        let long = "y".repeat(2_000_000);
        assert_eq!(stem(&long), long);
        assert_eq!(stem(&"y".repeat(super::MAX_LENGTH)).len(), super::MAX_LENGTH);
    }
}
