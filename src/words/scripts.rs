//! Non-ASCII words: removal of accents, and scripts written without spaces.
//!
//! Owns the pieces of such tokens that are indexed and searched. The FTS treats a run of letters as one word and keeps
//! accents. The pieces let `cafe` match `café`, and two characters of Chinese, Japanese, Korean or Thai match inside a
//! sentence.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::parts;

/// Calls `visit` for each piece of a token, in lowercase without accents: words, and for a script without spaces every
/// pair of adjacent letters, then the last letter alone, so that a piece begins at every letter. The flag marks such a
/// last letter, which the pair before it already contains.
pub fn pieces(token: &str, visit: &mut dyn FnMut(&str, bool)) {
    let plain = plain(token);
    let mut rest = &*plain;
    while let Some(first) = rest.chars().next() {
        let unspaced = is_unspaced(first);
        let end = rest.find(|c| is_unspaced(c) != unspaced && !is_combining_mark(c)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        rest = tail;
        if unspaced {
            pairs(run, visit);
        } else {
            parts(run).for_each(|part| visit(&part.to_lowercase(), false));
        }
    }
}

fn pairs(run: &str, visit: &mut dyn FnMut(&str, bool)) {
    // The FTS treats combining marks as word boundaries.
    let letters: String = run.chars().filter(|c| !is_combining_mark(*c)).collect();
    let mut starts = letters.char_indices().map(|(at, _)| at).chain([letters.len()]).peekable();
    while let Some(start) = starts.next() {
        let Some(&next) = starts.peek() else { break };
        let after = letters[next..].chars().next().map(|c| next + c.len_utf8());
        visit(&letters[start..after.unwrap_or(next)], start > 0 && after.is_none());
    }
}

/// Whether a word is a single letter of a script without spaces. A search finds it as the prefix of a piece.
pub fn is_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(is_unspaced) && letters.next().is_none()
}

pub fn has_unspaced(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_unspaced)
}

/// Whether a character belongs to a script without spaces between words, or, as in Korean, with particles attached to
/// words.
pub const fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        // Thai, Lao; Myanmar; Khmer.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        // Kana.
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        // Hangul.
        | '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7ff}'
        // Han.
        | '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
    )
}

/// The text without accents, ligatures and width variants. Case is kept.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(|c| matches!(form(c), Form::Plain)) {
        return Cow::Borrowed(text);
    }
    let composed: Cow<str> = match text.chars().any(|c| matches!(form(c), Form::Composed)) {
        true => Cow::Owned(text.nfkc().collect()),
        false => Cow::Borrowed(text),
    };
    let mut plain = String::with_capacity(composed.len());
    for c in composed.chars() {
        match form(c) {
            Form::Accent => {}
            Form::Transliterated(letters) => plain.push_str(letters),
            Form::Accented => decompose_compatible(c, |c| {
                if !matches!(form(c), Form::Accent) {
                    plain.push(c);
                }
            }),
            Form::Plain | Form::Composed => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// How a character is normalized.
enum Form {
    Plain,
    /// Removed.
    Accent,
    /// A letter, possibly with accents: Latin, Greek, Cyrillic.
    Accented,
    /// Replaced by the usual transliteration.
    Transliterated(&'static str),
    /// Has composed and decomposed forms: width variants, voiced kana, Hangul jamo.
    Composed,
}

const fn form(c: char) -> Form {
    match c {
        '\0'..='\u{bf}' => Form::Plain,
        '\u{300}'..='\u{36f}' => Form::Accent,
        'ß' => Form::Transliterated("ss"),
        'ẞ' => Form::Transliterated("SS"),
        'æ' => Form::Transliterated("ae"),
        'Æ' => Form::Transliterated("AE"),
        'œ' => Form::Transliterated("oe"),
        'Œ' => Form::Transliterated("OE"),
        'ø' => Form::Transliterated("o"),
        'Ø' => Form::Transliterated("O"),
        'ł' => Form::Transliterated("l"),
        'Ł' => Form::Transliterated("L"),
        'đ' | 'ð' => Form::Transliterated("d"),
        'Đ' | 'Ð' => Form::Transliterated("D"),
        'þ' => Form::Transliterated("th"),
        'Þ' => Form::Transliterated("TH"),
        'ħ' => Form::Transliterated("h"),
        'Ħ' => Form::Transliterated("H"),
        'ı' => Form::Transliterated("i"),
        'ς' => Form::Transliterated("σ"),
        '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}' | '\u{fb00}'..='\u{fb06}' => {
            Form::Accented
        }
        // The remaining Cyrillic letters have no accents.
        '\u{400}'..='\u{40f}' | 'Й' | 'й' | '\u{450}'..='\u{45f}' => Form::Accented,
        '\u{1100}'..='\u{11ff}' | '\u{3099}' | '\u{309a}' | '\u{ff01}'..='\u{ffdc}' => Form::Composed,
        _ => Form::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces_in(token: &str) -> String {
        let mut found = Vec::new();
        pieces(token, &mut |piece, is_end| found.push(format!("{piece}{}", if is_end { "." } else { "" })));
        found.join(" ")
    }

    #[test]
    fn accents_go_and_letters_stay() {
        for (text, expected) in [
            ("café", "cafe"),
            ("cafe\u{301}s", "cafes"),
            ("naïve Müller", "naive Muller"),
            ("Straße STRAẞE", "Strasse STRASSE"),
            ("Łódź Ærø Œuvre İzmir ılık", "Lodz AEro OEuvre Izmir ilik"),
            ("Việt Nam", "Viet Nam"),
            ("Ελλάδα όλος", "Ελλαδα ολοσ"),
            ("ещё й", "еще и"),
            ("ﬁnd ＡＢ１ ｶﾞｽ", "find AB1 ガス"),
            ("か\u{3099}", "が"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("x – “y” 漢字 ไทย", "x – “y” 漢字 ไทย"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
        assert!(matches!(plain("東京 and тест"), Cow::Borrowed(_)));
    }

    #[test]
    fn scripts_without_spaces_are_split_into_pairs() {
        assert_eq!(pieces_in("図書館"), "図書 書館 館.");
        assert_eq!(pieces_in("猫"), "猫");
        assert_eq!(pieces_in("도서관은"), "도서 서관 관은 은.");
        assert_eq!(pieces_in("ห้องน้ำ"), "หอ อง งน นำ ำ.");
        assert_eq!(pieces_in("iPhone手机Größe2"), "i phone 手机 机. grosse 2");
        assert_eq!(pieces_in("кодСтрока"), "код строка");
        assert_eq!(pieces_in("\u{301}"), "");
    }

    #[test]
    fn single_letters_are_distinguished_from_words() {
        assert!(is_letter("猫") && !is_letter("猫が") && !is_letter("a") && !is_letter(""));
        assert!(has_unspaced("a 猫") && !has_unspaced("größe"));
    }
}
