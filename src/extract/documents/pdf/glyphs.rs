//! What the codes in a PDF's strings stand for: characters, and how wide they are.
//!
//! A font says it in several ways, each optional: a map to Unicode, an encoding by number, an encoding by the names of
//! glyphs. Taken are the first that has an answer, in this order.

use std::borrow::Cow;
use std::collections::HashMap;

use ::pdf::encoding::BaseEncoding;
use ::pdf::font::{Font, ToUnicodeMap, Widths};
use ::pdf::object::Resolve;
use encoding_rs::{MACINTOSH, WINDOWS_1252};
use unicode_normalization::UnicodeNormalization;

/// Where a font does not say how wide a glyph is, most are about so many ems.
const USUAL_WIDTH: f32 = 0.5;

pub(super) struct Glyphs {
    is_wide: bool,
    is_bold: bool,
    to_unicode: Option<ToUnicodeMap>,
    /// By code; of fonts whose codes are one byte.
    named: HashMap<u32, String>,
    base: Base,
    widths: Option<Widths>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    WinAnsi,
    MacRoman,
    /// ASCII but for its quotes.
    Standard,
    /// The codes are UTF-16.
    Utf16,
    Unknown,
}

impl Glyphs {
    pub fn of(font: &Font, resolver: &impl Resolve) -> Self {
        let is_wide = font.is_cid();
        let encoding = font.encoding();
        let base = match encoding.map(|encoding| &encoding.base) {
            Some(BaseEncoding::WinAnsiEncoding) => Base::WinAnsi,
            Some(BaseEncoding::MacRomanEncoding) => Base::MacRoman,
            Some(BaseEncoding::Other(name)) if name.contains("UCS2") || name.contains("UTF16") => Base::Utf16,
            _ if is_wide => Base::Unknown,
            _ => Base::Standard,
        };
        let differences = encoding.map(|encoding| &encoding.differences).into_iter().flatten();
        Self {
            is_wide,
            is_bold: font.name.as_ref().is_some_and(|name| is_bold(name.as_str())),
            to_unicode: font.to_unicode(resolver).and_then(Result::ok),
            named: differences.filter_map(|(code, name)| Some((*code, character(name)?))).collect(),
            base,
            widths: font.widths(resolver).ok().flatten(),
        }
    }

    pub fn is_bold(&self) -> bool {
        self.is_bold
    }

    /// The codes of a string, and whether each is the one that word spacing applies to.
    pub fn codes<'a>(&self, bytes: &'a [u8]) -> Box<dyn Iterator<Item = (u16, bool)> + 'a> {
        if self.is_wide {
            let code = |pair: &[u8]| (u16::from(pair[0]) << 8) | pair.get(1).copied().map_or(0, u16::from);
            Box::new(bytes.chunks(2).map(move |pair| (code(pair), false)))
        } else {
            Box::new(bytes.iter().map(|byte| (u16::from(*byte), *byte == b' ')))
        }
    }

    /// What a code shows, if that can be told, and its width in ems.
    pub fn get(&self, code: u16) -> (Option<Cow<'_, str>>, f32) {
        let width = self.widths.as_ref().map(|widths| widths.get(usize::from(code)) / 1000.0);
        let width = width.filter(|width| *width > 0.0 && *width < 10.0).unwrap_or(USUAL_WIDTH);
        let mapped = self.to_unicode.as_ref().and_then(|map| map.get(code)).filter(|text| is_text(text));
        let named = || self.named.get(&u32::from(code)).map(String::as_str);
        let shown = mapped.or_else(named).map(Cow::Borrowed);
        (shown.or_else(|| self.by_number(code).map(|c| Cow::Owned(c.to_string()))), width)
    }

    fn by_number(&self, code: u16) -> Option<char> {
        match (self.base, u8::try_from(code)) {
            (Base::Utf16, _) => char::from_u32(u32::from(code)).filter(|c| !c.is_control()),
            (Base::Unknown, _) | (_, Err(_)) => None,
            (Base::Standard, Ok(b'\'')) => Some('\u{2019}'),
            (Base::Standard, Ok(b'`')) => Some('\u{2018}'),
            (Base::Standard, Ok(0xae)) => Some('\u{fb01}'),
            (Base::Standard, Ok(0xaf)) => Some('\u{fb02}'),
            (Base::MacRoman, Ok(byte)) => decoded(MACINTOSH, byte),
            (_, Ok(byte)) => decoded(WINDOWS_1252, byte),
        }
    }
}

fn decoded(encoding: &'static encoding_rs::Encoding, byte: u8) -> Option<char> {
    encoding.decode_without_bom_handling(&[byte]).0.chars().next().filter(|c| !c.is_control())
}

/// By the name of the font; TeX's bold ones have names of their own.
fn is_bold(font: &str) -> bool {
    let font = font.split_once('+').map_or(font, |(_, font)| font);
    let lower = font.to_lowercase();
    ["bold", "black", "heavy"].iter().any(|word| lower.contains(word))
        || font.starts_with("CMBX")
        || font.starts_with("SFBX")
}

/// Some maps send every code to nothing at all.
fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| matches!(c, '\0' | '\u{fffd}') || (c.is_control() && c != '\t'))
}

/// What the name of a glyph says: `eacute`, `uni20AC`, `f_i`, `a.alt`.
fn character(name: &str) -> Option<String> {
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    if name.contains('_') {
        return name.split('_').map(character).collect();
    }
    let mut letters = name.chars();
    if let (Some(only), None) = (letters.next(), letters.next()) {
        return Some(only.to_string());
    }
    let hex = name.strip_prefix("uni").or_else(|| name.strip_prefix('u')).filter(|hex| (4..=6).contains(&hex.len()));
    if let Some(c) = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32) {
        return Some(c.to_string());
    }
    if let Some((_, text)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some((*text).to_owned());
    }
    let accented = ACCENTS.iter().find_map(|(accent, mark)| Some((name.strip_suffix(accent)?, mark)))?;
    let base = match accented.0 {
        "dotlessi" => "i".to_owned(),
        base if base.chars().count() == 1 => base.to_owned(),
        _ => return None,
    };
    Some(format!("{base}{}", accented.1).nfc().collect())
}

/// Behind a letter's name: a letter with that accent.
const ACCENTS: &[(&str, char)] = &[
    ("grave", '\u{300}'),
    ("acute", '\u{301}'),
    ("circumflex", '\u{302}'),
    ("tilde", '\u{303}'),
    ("macron", '\u{304}'),
    ("breve", '\u{306}'),
    ("dotaccent", '\u{307}'),
    ("dieresis", '\u{308}'),
    ("ring", '\u{30a}'),
    ("hungarumlaut", '\u{30b}'),
    ("caron", '\u{30c}'),
    ("cedilla", '\u{327}'),
    ("commaaccent", '\u{326}'),
    ("ogonek", '\u{328}'),
];

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
    ("element", "∈"), ("intersection", "∩"), ("union", "∪"), ("arrowleft", "←"), ("arrowright", "→"),
    ("arrowup", "↑"), ("arrowdown", "↓"), ("lozenge", "◊"), ("similar", "∼"), ("equivalence", "≡"),
];
