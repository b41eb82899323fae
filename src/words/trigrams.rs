//! Trigrams: three consecutive letters, the keys of the substring index.
//!
//! Owns the alphabet, for the index and for queries. Case is ignored, so that a query can ask for either, and non-ASCII
//! letters are hashed to 128 codes. A text that contains another has all its trigrams.

/// The number of possible trigrams.
const TRIGRAMS: usize = 1 << 24;

/// The code of a character. Line breaks keep their own code: no trigram contains one.
pub fn letter(c: char) -> u8 {
    match c {
        // The only two non-ASCII characters that are case variants of an ASCII letter.
        '\u{17f}' => b's',
        '\u{212a}' => b'k',
        c if c.is_ascii() => c.to_ascii_lowercase() as u8,
        c => {
            let folded = u32::from(c.to_lowercase().next().unwrap_or(c));
            // The upper bits of the product depend on all bits of the factor.
            0x80 | (folded.wrapping_mul(0x9e37_79b1) >> 25).to_le_bytes()[0]
        }
    }
}

/// The trigrams of consecutive letters.
pub fn of_letters(letters: &[u8]) -> impl Iterator<Item = u32> {
    let inside = letters.windows(3).filter(|three| !three.contains(&b'\n'));
    inside.map(|three| three.iter().fold(0, |trigram, &letter| trigram << 8 | u32::from(letter)))
}

/// Collects the trigrams of one text at a time.
pub struct Collector {
    /// A bit per trigram, to skip duplicates.
    seen: Vec<u64>,
    found: Vec<u32>,
    last: u32,
    /// Letters since the last line break.
    run: usize,
}

impl Default for Collector {
    fn default() -> Self {
        Self { seen: vec![0; TRIGRAMS / 64], found: Vec::new(), last: 0, run: 0 }
    }
}

impl Collector {
    /// Adds the next part of the text.
    pub fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c == '\n' {
                self.run = 0;
                continue;
            }
            self.last = (self.last << 8 | u32::from(letter(c))) & 0x00ff_ffff;
            self.run += 1;
            if self.run >= 3 {
                let (at, bit) = ((self.last / 64) as usize, 1 << (self.last % 64));
                if self.seen[at] & bit == 0 {
                    self.seen[at] |= bit;
                    self.found.push(self.last);
                }
            }
        }
    }

    /// Ends the text and visits each of its trigrams once, in no particular order.
    pub fn end(&mut self, mut visit: impl FnMut(u32)) {
        for trigram in self.found.drain(..) {
            self.seen[(trigram / 64) as usize] = 0;
            visit(trigram);
        }
        self.run = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigrams_in(parts: &[&str]) -> Vec<u32> {
        let (mut collector, mut found) = (Collector::default(), Vec::new());
        parts.iter().for_each(|part| collector.push(part));
        collector.end(|trigram| found.push(trigram));
        found.sort_unstable();
        found
    }

    fn letters(text: &str) -> Vec<u8> {
        text.chars().map(letter).collect()
    }

    #[test]
    fn a_text_has_the_trigrams_of_every_text_in_it() {
        let text = "fn Größe(ſtraße: &str)\r\n  日本語テキスト\nK\u{212a}m\nab\ncd";
        let all = trigrams_in(&[text]);
        for (start, _) in text.char_indices() {
            for (end, c) in text.char_indices().skip_while(|(at, _)| *at < start) {
                let part = &text[start..end + c.len_utf8()];
                for form in [part.to_owned(), part.to_lowercase(), part.to_uppercase().replace("SS", "ß")] {
                    assert!(of_letters(&letters(&form)).all(|trigram| all.contains(&trigram)), "{form:?}");
                }
            }
        }
    }

    #[test]
    fn parts_are_joined_and_lines_are_not() {
        assert_eq!(trigrams_in(&["ab", "", "c"]), trigrams_in(&["ABC"]));
        assert_eq!(trigrams_in(&["ab\nc", "d\n"]), [0_u32; 0]);
        assert_eq!(trigrams_in(&["abcabc"]), trigrams_in(&["abc", "ab"]));
        assert_eq!(of_letters(b"ab\ncd").count(), 0);
    }

    #[test]
    fn texts_are_independent() {
        let mut collector = Collector::default();
        collector.push("abcd");
        collector.end(|_| {});
        collector.push("x");
        collector.end(|trigram| panic!("{trigram:x}"));
        collector.push("abc");
        let mut count = 0;
        collector.end(|_| count += 1);
        assert_eq!(count, 1);
    }
}
