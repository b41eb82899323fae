//! Words that are not ASCII: letters without their accents, and scripts that are written without spaces.
//!
//! Owns what of such a token the index keeps beside the text and a question asks for. The FTS takes a run of letters for
//! one word and an accent for a difference; what is kept here makes `cafe` find `café`, and two characters of Chinese,
//! Japanese, Korean or Thai what stands in a sentence.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::parts;

/// The pieces of a token as the index knows them, in small letters without accents: words, and of a script without spaces
/// every two letters that follow each other, then the last one alone, so that each letter begins a piece. Each is shown
/// with whether it is only such an end, which says nothing that the piece before does not.
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
    // The FTS takes the signs above and below a letter for ends of words.
    let letters: String = run.chars().filter(|c| !is_combining_mark(*c)).collect();
    let mut starts = letters.char_indices().map(|(at, _)| at).chain([letters.len()]).peekable();
    while let Some(start) = starts.next() {
        let Some(&next) = starts.peek() else { break };
        let after = letters[next..].chars().next().map(|c| next + c.len_utf8());
        visit(&letters[start..after.unwrap_or(next)], start > 0 && after.is_none());
    }
}

/// Whether a word is one letter of a script without spaces: it is found as the beginning of a piece.
pub fn is_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(is_unspaced) && letters.next().is_none()
}

pub fn has_unspaced(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_unspaced)
}

/// Of a script whose words stand next to each other, or, as Korean's, with what other languages say by words of their own.
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

/// A text without the accents of its letters, with ligatures and forms of one width written out. Case stays.
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
            Form::Written(letters) => plain.push_str(letters),
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

/// How a character is made plain.
enum Form {
    Plain,
    /// Left out.
    Accent,
    /// A letter, and maybe accents: Latin, Greek, Cyrillic.
    Accented,
    /// What people write who do not have the letter.
    Written(&'static str),
    /// Comes apart in some texts and is one in others: forms of another width, voiced kana, Hangul by its parts.
    Composed,
}

const fn form(c: char) -> Form {
    match c {
        '\0'..='\u{bf}' => Form::Plain,
        '\u{300}'..='\u{36f}' => Form::Accent,
        'ß' => Form::Written("ss"),
        'ẞ' => Form::Written("SS"),
        'æ' => Form::Written("ae"),
        'Æ' => Form::Written("AE"),
        'œ' => Form::Written("oe"),
        'Œ' => Form::Written("OE"),
        'ø' => Form::Written("o"),
        'Ø' => Form::Written("O"),
        'ł' => Form::Written("l"),
        'Ł' => Form::Written("L"),
        'đ' | 'ð' => Form::Written("d"),
        'Đ' | 'Ð' => Form::Written("D"),
        'þ' => Form::Written("th"),
        'Þ' => Form::Written("TH"),
        'ħ' => Form::Written("h"),
        'Ħ' => Form::Written("H"),
        'ı' => Form::Written("i"),
        'ς' => Form::Written("σ"),
        '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}' | '\u{fb00}'..='\u{fb06}' => {
            Form::Accented
        }
        // The other letters of Cyrillic are plain.
        '\u{400}'..='\u{40f}' | 'Й' | 'й' | '\u{450}'..='\u{45f}' => Form::Accented,
        '\u{1100}'..='\u{11ff}' | '\u{3099}' | '\u{309a}' | '\u{ff01}'..='\u{ffdc}' => Form::Composed,
        _ => Form::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(token: &str) -> String {
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
    fn a_script_without_spaces_is_known_by_two_letters_each() {
        assert_eq!(of("図書館"), "図書 書館 館.");
        assert_eq!(of("猫"), "猫");
        assert_eq!(of("도서관은"), "도서 서관 관은 은.");
        assert_eq!(of("ห้องน้ำ"), "หอ อง งน นำ ำ.");
        assert_eq!(of("iPhone手机Größe2"), "i phone 手机 机. grosse 2");
        assert_eq!(of("кодСтрока"), "код строка");
        assert_eq!(of("\u{301}"), "");
    }

    #[test]
    fn one_letter_alone_is_told_from_a_word() {
        assert!(is_letter("猫") && !is_letter("猫が") && !is_letter("a") && !is_letter(""));
        assert!(has_unspaced("a 猫") && !has_unspaced("größe"));
    }
}
