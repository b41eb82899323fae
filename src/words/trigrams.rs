//! Three letters in a row: what the substring index knows of a text.
//!
//! Owns which letters count as one, for the index and for questions to it: cases of a letter do, so that a question may
//! ask for either, and letters beyond ASCII share a hundred places. A text that holds another has all its trigrams.

/// All there can be.
const ALL: usize = 1 << 24;

/// What a character counts as. Line breaks are themselves: no trigram has one inside.
pub fn letter(c: char) -> u8 {
    match c {
        // The only two outside ASCII that are a case of a letter in it.
        '\u{17f}' => b's',
        '\u{212a}' => b'k',
        c if c.is_ascii() => c.to_ascii_lowercase() as u8,
        c => {
            let folded = u32::from(c.to_lowercase().next().unwrap_or(c));
            // The upper bits of a product mix all of its factor's.
            0x80 | (folded.wrapping_mul(0x9e37_79b1) >> 25).to_le_bytes()[0]
        }
    }
}

/// The trigrams of letters that follow each other.
pub fn of_letters(letters: &[u8]) -> impl Iterator<Item = u32> {
    let inside = letters.windows(3).filter(|three| !three.contains(&b'\n'));
    inside.map(|three| three.iter().fold(0, |trigram, &letter| trigram << 8 | u32::from(letter)))
}

/// Gathers the trigrams of one text after the other.
pub struct Collector {
    /// A bit for each, so that none is found twice.
    seen: Vec<u64>,
    found: Vec<u32>,
    last: u32,
    /// Letters since the last line break.
    run: usize,
}

impl Default for Collector {
    fn default() -> Self {
        Self { seen: vec![0; ALL / 64], found: Vec::new(), last: 0, run: 0 }
    }
}

impl Collector {
    /// The next part of the text.
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

    /// Ends the text: shows its trigrams, each once, in no order.
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

    fn of(parts: &[&str]) -> Vec<u32> {
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
        let all = of(&[text]);
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
    fn parts_of_a_text_count_as_one_and_lines_do_not() {
        assert_eq!(of(&["ab", "", "c"]), of(&["ABC"]));
        assert_eq!(of(&["ab\nc", "d\n"]), [0_u32; 0]);
        assert_eq!(of(&["abcabc"]), of(&["abc", "ab"]));
        assert_eq!(of_letters(b"ab\ncd").count(), 0);
    }

    #[test]
    fn nothing_is_left_of_the_text_before() {
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
