//! The characters of glyph names, and the encodings that PDF defines by number.
//!
//! Owns tables only. Names follow the Adobe Glyph List: `eacute`, `uni20AC`, `f_i`, `a.alt`.

use encoding_rs::{MACINTOSH, WINDOWS_1252};
use unicode_normalization::UnicodeNormalization;

/// An encoding of one byte to a code that a PDF names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    WinAnsi,
    MacRoman,
    Standard,
    Symbol,
    Dingbats,
}

impl Base {
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "WinAnsiEncoding" => Self::WinAnsi,
            "MacRomanEncoding" => Self::MacRoman,
            "StandardEncoding" => Self::Standard,
            _ => return None,
        })
    }

    pub fn character(self, code: u8) -> Option<char> {
        match self {
            Self::WinAnsi => decoded(WINDOWS_1252, code),
            Self::MacRoman => decoded(MACINTOSH, code),
            Self::Standard => standard(code),
            Self::Symbol => symbol(code),
            Self::Dingbats => dingbat(code),
        }
    }
}

fn decoded(encoding: &'static encoding_rs::Encoding, byte: u8) -> Option<char> {
    encoding.decode_without_bom_handling(&[byte]).0.chars().next().filter(|c| !c.is_control())
}

/// Printable ASCII, with quotes that are curly, and the upper half of `STANDARD`.
fn standard(code: u8) -> Option<char> {
    match code {
        b'\'' => Some('’'),
        b'`' => Some('‘'),
        b' '..=b'~' => Some(char::from(code)),
        0xa1.. => STANDARD.chars().nth(usize::from(code - 0xa1)).filter(|c| *c != ' '),
        _ => None,
    }
}

fn symbol(code: u8) -> Option<char> {
    match code {
        0x20..=0x7e => SYMBOL.chars().nth(usize::from(code - 0x20)),
        0xa0.. => SYMBOL_UPPER.chars().nth(usize::from(code - 0xa0)).filter(|c| *c != ' '),
        _ => None,
    }
}

fn dingbat(code: u8) -> Option<char> {
    let place = match code {
        b' ' => u32::from(b' '),
        0x6c => 0x25cf,
        0x6e => 0x25a0,
        0x73 => 0x25b2,
        0x74 => 0x25bc,
        0x75 => 0x25c6,
        0x21..=0x7e => 0x2701 + u32::from(code - 0x21),
        0xac..=0xb5 => 0x2460 + u32::from(code - 0xac),
        0xa1..=0xfe => 0x2761 + u32::from(code - 0xa1),
        _ => return None,
    };
    char::from_u32(place)
}

/// The characters of a glyph name.
pub(super) fn characters(name: &str) -> Option<String> {
    if let Some(only) = single(name) {
        return (!only.is_control()).then(|| only.to_string());
    }
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    if name.contains('_') {
        return name.split('_').map(characters).collect();
    }
    if let Some(only) = single(name) {
        return Some(only.to_string());
    }
    if let Some((_, text)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some((*text).to_owned());
    }
    by_number(name).or_else(|| accented(name)).or_else(|| variant(name))
}

fn single(name: &str) -> Option<char> {
    let mut letters = name.chars();
    letters.next().filter(|_| letters.next().is_none())
}

/// Returns the text of a glyph name that is only a code in one of TeX's fonts: `a65`, or the control character itself.
pub(super) fn of_tex(name: &str) -> Option<String> {
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let numbered = || digits.parse::<u8>().ok().filter(|_| name.len() - digits.len() <= 2);
    let code = single(name).filter(char::is_ascii).and_then(|c| u8::try_from(c).ok()).or_else(numbered)?;
    let text = match code {
        // Of fonts for English, and of those for the languages of Europe.
        11 | 27 => "ff",
        12 | 28 => "fi",
        13 | 29 => "fl",
        14 | 30 => "ffi",
        15 | 31 => "ffl",
        33..=126 => return Some(char::from(code).to_string()),
        215 => "Œ",
        247 => "œ",
        223 | 255 => "ß",
        192.. => return Some(char::from(code).to_string()),
        _ => return None,
    };
    Some(text.to_owned())
}

/// `uni00410042`, `u1D49C`, and `afii10017` of the older lists.
fn by_number(name: &str) -> Option<String> {
    let character = |hex: &str| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
    if let Some(hex) = name.strip_prefix("uni").filter(|hex| !hex.is_empty() && hex.len() % 4 == 0 && hex.is_ascii()) {
        return hex.as_bytes().chunks(4).map(|four| character(std::str::from_utf8(four).ok()?)).collect();
    }
    if let Some(hex) = name.strip_prefix('u').filter(|hex| (4..=6).contains(&hex.len())) {
        return character(hex).map(String::from);
    }
    let number: u32 = name.strip_prefix("afii")?.parse().ok()?;
    let code = match number {
        10_017..=10_022 => 0x410 + number - 10_017,
        10_023 => 0x401,
        10_024..=10_049 => 0x416 + number - 10_024,
        10_050 => 0x490,
        10_051..=10_061 => 0x402 + number - 10_051,
        10_062 => 0x40e,
        10_065..=10_070 => 0x430 + number - 10_065,
        10_071 => 0x451,
        10_072..=10_097 => 0x436 + number - 10_072,
        10_098 => 0x491,
        10_099..=10_109 => 0x452 + number - 10_099,
        10_110 => 0x45e,
        10_145 => 0x40f,
        10_193 => 0x45f,
        57_664..=57_690 => 0x5d0 + number - 57_664,
        61_352 => 0x2116,
        _ => return None,
    };
    char::from_u32(code).map(String::from)
}

fn accented(name: &str) -> Option<String> {
    let (base, marks) = ACCENTS.iter().find_map(|(accent, marks)| Some((name.strip_suffix(accent)?, marks)))?;
    let base = match base {
        "" => return None,
        "dotlessi" => "i".to_owned(),
        "dotlessj" => "j".to_owned(),
        base => characters(base)?,
    };
    let is_letter = base.chars().count() == 1 && base.chars().all(char::is_alphabetic);
    is_letter.then(|| format!("{base}{marks}").nfc().collect())
}

/// Small uppercase letters and digits of other forms.
fn variant(name: &str) -> Option<String> {
    let base = ["oldstyle", "inferior", "superior"].iter().find_map(|form| name.strip_suffix(form));
    if let Some(base) = base {
        return characters(base);
    }
    let base = characters(name.strip_suffix("small")?)?;
    base.chars().all(char::is_alphabetic).then(|| base.to_lowercase())
}

/// After a letter's name: a letter with these marks. A longer name precedes one that it ends with.
const ACCENTS: &[(&str, &str)] = &[
    ("dieresistonos", "\u{308}\u{301}"),
    ("grave", "\u{300}"),
    ("acute", "\u{301}"),
    ("tonos", "\u{301}"),
    ("circumflex", "\u{302}"),
    ("tilde", "\u{303}"),
    ("macron", "\u{304}"),
    ("breve", "\u{306}"),
    ("dotaccent", "\u{307}"),
    ("dotbelow", "\u{323}"),
    ("dieresis", "\u{308}"),
    ("hookabove", "\u{309}"),
    ("ring", "\u{30a}"),
    ("hungarumlaut", "\u{30b}"),
    ("caron", "\u{30c}"),
    ("horn", "\u{31b}"),
    ("cedilla", "\u{327}"),
    ("commaaccent", "\u{326}"),
    ("ogonek", "\u{328}"),
];

/// The standard encoding from 0xA1 on.
const STANDARD: &str =
    "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß    ";

/// The font of that name, from 0x20 on and from 0xA0 on.
const SYMBOL: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
const SYMBOL_UPPER: &str =
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ ";

#[rustfmt::skip]
const NAMES: &[(&str, &str)] = &[
    ("space", " "), ("nbspace", " "), ("exclam", "!"), ("quotedbl", "\""), ("numbersign", "#"), ("dollar", "$"),
    ("percent", "%"), ("ampersand", "&"), ("quotesingle", "'"), ("quoteright", "’"), ("quoteleft", "‘"),
    ("parenleft", "("), ("parenright", ")"), ("asterisk", "*"), ("plus", "+"), ("comma", ","), ("hyphen", "-"),
    ("sfthyphen", "-"), ("minus", "−"), ("period", "."), ("slash", "/"), ("zero", "0"), ("one", "1"), ("two", "2"),
    ("three", "3"), ("four", "4"), ("five", "5"), ("six", "6"), ("seven", "7"), ("eight", "8"), ("nine", "9"),
    ("colon", ":"), ("semicolon", ";"), ("less", "<"), ("equal", "="), ("greater", ">"), ("question", "?"),
    ("at", "@"), ("bracketleft", "["), ("backslash", "\\"), ("bracketright", "]"), ("asciicircum", "^"),
    ("underscore", "_"), ("grave", "`"), ("braceleft", "{"), ("bar", "|"), ("braceright", "}"), ("asciitilde", "~"),
    ("exclamdown", "¡"), ("questiondown", "¿"), ("cent", "¢"), ("sterling", "£"), ("currency", "¤"), ("yen", "¥"),
    ("Euro", "€"), ("brokenbar", "¦"), ("section", "§"), ("paragraph", "¶"), ("copyright", "©"), ("registered", "®"),
    ("trademark", "™"), ("degree", "°"), ("plusminus", "±"), ("mu", "µ"), ("multiply", "×"), ("divide", "÷"),
    ("onehalf", "½"), ("onequarter", "¼"), ("threequarters", "¾"), ("onesuperior", "¹"), ("twosuperior", "²"),
    ("threesuperior", "³"), ("ordfeminine", "ª"), ("ordmasculine", "º"), ("logicalnot", "¬"), ("macron", "¯"),
    ("acute", "´"), ("dieresis", "¨"), ("cedilla", "¸"), ("circumflex", "ˆ"), ("tilde", "˜"), ("caron", "ˇ"),
    ("breve", "˘"), ("dotaccent", "˙"), ("ring", "˚"), ("ogonek", "˛"), ("hungarumlaut", "˝"),
    ("periodcentered", "·"), ("bullet", "•"), ("ellipsis", "…"), ("endash", "–"), ("emdash", "—"),
    ("quotedblleft", "“"), ("quotedblright", "”"), ("quotedblbase", "„"), ("quotesinglbase", "‚"),
    ("guillemotleft", "«"), ("guillemotright", "»"), ("guilsinglleft", "‹"), ("guilsinglright", "›"),
    ("dagger", "†"), ("daggerdbl", "‡"), ("perthousand", "‰"), ("fraction", "⁄"), ("florin", "ƒ"),
    ("ff", "ff"), ("fi", "fi"), ("fl", "fl"), ("ffi", "ffi"), ("ffl", "ffl"),
    ("AE", "Æ"), ("ae", "æ"), ("OE", "Œ"), ("oe", "œ"), ("Oslash", "Ø"), ("oslash", "ø"), ("germandbls", "ß"),
    ("Eth", "Ð"), ("eth", "ð"), ("Thorn", "Þ"), ("thorn", "þ"), ("dotlessi", "ı"), ("dotlessj", "ȷ"),
    ("Lslash", "Ł"), ("lslash", "ł"), ("Dcroat", "Đ"), ("dcroat", "đ"), ("Hbar", "Ħ"), ("hbar", "ħ"),
    ("Alpha", "Α"), ("Beta", "Β"), ("Gamma", "Γ"), ("Delta", "Δ"), ("Epsilon", "Ε"), ("Zeta", "Ζ"), ("Eta", "Η"),
    ("Theta", "Θ"), ("Iota", "Ι"), ("Kappa", "Κ"), ("Lambda", "Λ"), ("Mu", "Μ"), ("Nu", "Ν"), ("Xi", "Ξ"),
    ("Omicron", "Ο"), ("Pi", "Π"), ("Rho", "Ρ"), ("Sigma", "Σ"), ("Tau", "Τ"), ("Upsilon", "Υ"), ("Phi", "Φ"),
    ("Chi", "Χ"), ("Psi", "Ψ"), ("Omega", "Ω"), ("alpha", "α"), ("beta", "β"), ("gamma", "γ"), ("delta", "δ"),
    ("epsilon", "ε"), ("zeta", "ζ"), ("eta", "η"), ("theta", "θ"), ("iota", "ι"), ("kappa", "κ"), ("lambda", "λ"),
    ("nu", "ν"), ("xi", "ξ"), ("omicron", "ο"), ("pi", "π"), ("rho", "ρ"), ("sigma", "σ"), ("tau", "τ"),
    ("upsilon", "υ"), ("phi", "φ"), ("chi", "χ"), ("psi", "ψ"), ("omega", "ω"),
    ("infinity", "∞"), ("partialdiff", "∂"), ("integral", "∫"), ("summation", "∑"), ("product", "∏"),
    ("radical", "√"), ("approxequal", "≈"), ("notequal", "≠"), ("lessequal", "≤"), ("greaterequal", "≥"),
    ("nbhyphen", "‑"), ("figuredash", "‒"), ("visiblespace", "␣"), ("lscript", "ℓ"), ("epsilon1", "ϵ"), ("theta1", "ϑ"),
    ("phi1", "ϕ"), ("rho1", "ϱ"), ("sigma1", "ς"), ("omega1", "ϖ"), ("kgreenlandic", "ĸ"), ("longs", "ſ"), ("eng", "ŋ"),
    ("Eng", "Ŋ"), ("ij", "ij"), ("IJ", "IJ"), ("tbar", "ŧ"), ("Tbar", "Ŧ"), ("Zdot", "Ż"), ("zdot", "ż"), ("Euro", "€"),
    ("element", "∈"), ("intersection", "∩"), ("union", "∪"), ("arrowleft", "←"), ("arrowright", "→"),
    ("arrowup", "↑"), ("arrowdown", "↓"), ("lozenge", "◊"), ("similar", "∼"), ("equivalence", "≡"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_mean_what_the_lists_say() {
        for (name, text) in [
            ("A", "A"),
            ("eacute", "é"),
            ("uni00410042", "AB"),
            ("u1D49C", "\u{1d49c}"),
            ("f_i.alt", "fi"),
            ("afii10017", "А"),
            ("afii10049", "Я"),
            ("afii10097", "я"),
            ("alphatonos", "ά"),
            ("iotadieresistonos", "ΐ"),
            ("scommaaccent", "ș"),
            ("sevenoldstyle", "7"),
            ("Asmall", "a"),
            ("dotlessj", "ȷ"),
        ] {
            assert_eq!(characters(name).as_deref(), Some(text), "{name}");
        }
        for name in ["", ".notdef", "uni", "uniXYZW", "g41", "acutefoo", "small"] {
            assert_eq!(characters(name), None, "{name}");
        }
        let standard = |code| Base::Standard.character(code);
        assert_eq!((standard(0xae), standard(0xd0), standard(0xfb)), (Some('ﬁ'), Some('—'), Some('ß')));
        assert_eq!((standard(0xb0), standard(0xff), standard(7)), (None, None, None));
        assert_eq!((Base::Symbol.character(b'a'), Base::Symbol.character(0xa0)), (Some('α'), Some('€')));
    }
}
