//! The characters of the codes in a PDF's strings, and their widths.
//!
//! A font defines them in several ways, each optional: a map to Unicode, names of glyphs, an encoding by name, the
//! encoding of the font program. The first that has an answer is taken, in this order.

use std::borrow::Cow;
use std::collections::HashMap;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, SHIFT_JIS};
use hayro_cmap::{BfString, CMap, WritingMode};
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream};

use super::names::{Base, characters, of_tex};
use super::streams::unpacked;
use super::{builtin, metrics};

pub(super) struct Glyphs {
    codes: Codes,
    is_bold: bool,
    is_vertical: bool,
    /// An em in units of the font's size: 1, except for fonts that are drawn in their own units.
    em: f32,
    to_unicode: Option<CMap>,
    /// By code; of fonts whose codes are one byte.
    named: Vec<Option<Box<str>>>,
    /// By the number of a glyph, as the font program says where nothing else does.
    drawn: HashMap<u32, char>,
    widths: Widths,
}

/// How the bytes of a string divide into codes.
enum Codes {
    OneByte,
    /// A code is the number of a glyph.
    TwoBytes,
    Utf16,
    /// Text in an older encoding of Chinese, Japanese or Korean.
    Legacy(&'static Encoding),
    /// Codes by a table of the PDF.
    Table(Box<CMap>),
}

/// A code of a string.
pub(super) struct ShownCode<'a> {
    /// `None` where nothing says what the glyph is.
    pub text: Option<Cow<'a, str>>,
    /// In ems.
    pub width: f32,
    /// Whether the spacing between words applies.
    pub is_space: bool,
}

impl Glyphs {
    pub fn from_font(font: &Dict<'_>) -> Self {
        if name(font, "Subtype").as_deref() == Some("Type0") { Self::composite(font) } else { Self::simple(font) }
    }

    pub fn is_bold(&self) -> bool {
        self.is_bold
    }

    pub fn is_vertical(&self) -> bool {
        self.is_vertical
    }

    pub fn em(&self) -> f32 {
        self.em
    }

    fn composite(font: &Dict<'_>) -> Self {
        let below: Dict<'_> =
            font.get::<Array<'_>>("DescendantFonts").and_then(|fonts| fonts.flex_iter().next()).unwrap_or_default();
        let (mut codes, is_vertical) = codes(font);
        let to_unicode = to_unicode(font);
        let mut drawn = HashMap::new();
        if to_unicode.is_none() && matches!(codes, Codes::TwoBytes) {
            let descriptor = below.get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
            let program = descriptor.get::<Stream<'_>>("FontFile2").and_then(|program| unpacked(&program));
            drawn = program.map(|program| builtin::of_truetype(&program)).unwrap_or_default();
            let numbers = below.get::<Stream<'_>>("CIDToGIDMap").and_then(|numbers| unpacked(&numbers));
            if let Some(numbers) = numbers {
                drawn = by_other_number(&drawn, &numbers);
                if drawn.is_empty() {
                    // The numbers are not those of a font program, and then they are those of characters.
                    codes = Codes::Utf16;
                }
            }
        }
        Self {
            codes,
            is_bold: is_bold(font),
            is_vertical,
            em: 1.0,
            to_unicode,
            named: Vec::new(),
            drawn,
            widths: Widths::of_composite(&below),
        }
    }

    fn simple(font: &Dict<'_>) -> Self {
        let mut named = characters_of(font);
        // A glyph without a name, where a space is customary, is one.
        named[usize::from(b' ')].get_or_insert_with(|| " ".into());
        let (widths, em) = if is_drawn(font) { Widths::of_drawn(font) } else { (Widths::of_simple(font, &named), 1.0) };
        Self {
            codes: Codes::OneByte,
            is_bold: is_bold(font),
            is_vertical: false,
            em,
            to_unicode: to_unicode(font),
            widths,
            named,
            drawn: HashMap::new(),
        }
    }

    /// Calls `each` with every code of a string.
    pub fn show(&self, bytes: &[u8], mut each: impl FnMut(ShownCode<'_>)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (code, length, glyph, legacy) = self.next(rest);
            rest = &rest[length.clamp(1, rest.len())..];
            let mapped = self.to_unicode.as_ref().and_then(|map| map.lookup_bf_string(code)).and_then(text_of);
            let named = || self.named.get(usize::try_from(code).ok()?)?.as_deref().map(Cow::Borrowed);
            let drawn = || self.drawn.get(&glyph).map(|c| Cow::Owned(c.to_string()));
            let text = mapped.map(Cow::Owned).or_else(named).or_else(|| legacy.map(Cow::Owned)).or_else(drawn);
            each(ShownCode { text, width: self.widths.get(glyph), is_space: length == 1 && code == 32 });
        }
    }

    /// The code that a string begins with, its length, the number of its glyph, and its text where the code is text.
    fn next(&self, bytes: &[u8]) -> (u32, usize, u32, Option<String>) {
        let number = |length: usize| bytes.iter().take(length).fold(0, |code, byte| (code << 8) | u32::from(*byte));
        match &self.codes {
            Codes::OneByte => (number(1), 1, number(1), None),
            Codes::TwoBytes => (number(2), 2, number(2), None),
            Codes::Utf16 => {
                let units: Vec<u16> =
                    bytes.chunks_exact(2).take(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect();
                let first = char::decode_utf16(units).next().and_then(Result::ok).filter(|c| !c.is_control());
                let length = first.map_or(2, |c| c.len_utf16() * 2);
                (number(length), length, u32::MAX, first.map(String::from))
            }
            Codes::Legacy(encoding) => {
                let of = |length: usize| {
                    let bytes = bytes.get(..length)?;
                    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
                    (text.chars().count() == 1 && !text.contains(char::is_control)).then(|| text.into_owned())
                };
                let found = [1, 2, 3].into_iter().find_map(|length| Some((length, of(length)?)));
                let (length, text) = found.map_or((1, None), |(length, text)| (length, Some(text)));
                (number(length), length, if length == 1 { Widths::NARROW } else { u32::MAX }, text)
            }
            Codes::Table(table) => {
                let of = |length: u8| table.lookup_cid_code(number(usize::from(length)), length);
                let found = (1..=4)
                    .filter(|length| usize::from(*length) <= bytes.len())
                    .find_map(|length| Some((length, of(length)?)));
                let (length, glyph) = found.map_or((2, number(2)), |(length, glyph)| (usize::from(length), glyph));
                (number(length), length, glyph, None)
            }
        }
    }
}

/// The characters of glyphs by other numbers: those that a table lists the glyphs under, two bytes each.
fn by_other_number(drawn: &HashMap<u32, char>, numbers: &[u8]) -> HashMap<u32, char> {
    let glyphs = numbers.chunks_exact(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]])));
    (0..=0xffff).zip(glyphs).filter_map(|(code, glyph)| Some((code, *drawn.get(&glyph)?))).collect()
}

/// How strings of a composite font divide, and whether they run down the page.
fn codes(font: &Dict<'_>) -> (Codes, bool) {
    if let Some(stream) = font.get::<Stream<'_>>("Encoding") {
        let table = unpacked(&stream).and_then(|bytes| CMap::parse(&bytes, |_| None));
        let Some(table) = table else { return (Codes::TwoBytes, false) };
        let is_vertical = table.metadata().writing_mode == Some(WritingMode::Vertical);
        return (Codes::Table(Box::new(table)), is_vertical);
    }
    let name = name(font, "Encoding").unwrap_or_default();
    let has = |part: &str| name.contains(part);
    let codes = match name.as_str() {
        _ if has("UCS2") || has("UTF16") => Codes::Utf16,
        _ if has("RKSJ") => Codes::Legacy(SHIFT_JIS),
        "EUC-H" | "EUC-V" => Codes::Legacy(EUC_JP),
        _ if has("GB") && has("EUC") || has("GBK") => Codes::Legacy(GBK),
        _ if has("KSC") => Codes::Legacy(EUC_KR),
        _ if has("B5") => Codes::Legacy(BIG5),
        _ => Codes::TwoBytes,
    };
    (codes, name.ends_with("-V") || name == "V")
}

fn to_unicode(font: &Dict<'_>) -> Option<CMap> {
    CMap::parse(&unpacked(&font.get::<Stream<'_>>("ToUnicode")?)?, |_| None)
}

/// Some maps send codes to nothing at all.
fn text_of(mapped: BfString) -> Option<String> {
    let text = match mapped {
        BfString::Char(c) => c.to_string(),
        BfString::String(text) => text,
    };
    let is_text = !text.is_empty() && !text.chars().any(|c| c == '\u{fffd}' || (c.is_control() && !c.is_whitespace()));
    is_text.then_some(text)
}

/// The character of each code of a simple font.
fn characters_of(font: &Dict<'_>) -> Vec<Option<Box<str>>> {
    let encoding = font.get::<Dict<'_>>("Encoding");
    let of_name = name(font, "Encoding").or_else(|| name(encoding.as_ref()?, "BaseEncoding"));
    let base = of_name.as_deref().and_then(Base::by_name);
    let is_drawn = is_drawn(font);
    let own = if base.is_none() && !is_drawn { own_codes(font) } else { None };
    let base = base.unwrap_or_else(|| default_base(font));
    let by_number = |code: u8| match &own {
        Some(own) => own.get(&code).map(|text| Box::from(text.as_str())),
        None if is_drawn && of_name.is_none() => None,
        None => base.character(code).map(|c| Box::from(c.to_string())),
    };
    let mut named: Vec<Option<Box<str>>> = (0..=u8::MAX).map(by_number).collect();
    let Some(differences) = encoding.and_then(|encoding| encoding.get::<Array<'_>>("Differences")) else {
        return named;
    };
    let (mut code, mut differences) = (0_usize, differences.flex_iter());
    while let Some(next) = differences.next::<Object<'_>>() {
        match next {
            Object::Number(number) => code = usize::try_from(number.as_i64()).unwrap_or(usize::MAX),
            Object::Name(name) => {
                if let Some(place) = named.get_mut(code) {
                    let name = name.as_str();
                    let text = characters(name).or_else(|| is_drawn.then(|| of_tex(name)).flatten());
                    *place = text.map(String::into_boxed_str);
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    named
}

/// The encoding of a font that names none and brings none.
fn default_base(font: &Dict<'_>) -> Base {
    match name(font, "BaseFont").as_deref() {
        Some("Symbol") => Base::Symbol,
        Some("ZapfDingbats") => Base::Dingbats,
        _ if name(font, "Subtype").as_deref() == Some("TrueType") => Base::WinAnsi,
        _ => Base::Standard,
    }
}

/// Reads the encoding of the embedded font program, if it has its own.
fn own_codes(font: &Dict<'_>) -> Option<builtin::Codes> {
    let descriptor = font.get::<Dict<'_>>("FontDescriptor")?;
    if let Some(program) = descriptor.get::<Stream<'_>>("FontFile") {
        return builtin::of_type1(&unpacked(&program)?);
    }
    builtin::of_cff(&unpacked(&descriptor.get::<Stream<'_>>("FontFile3")?)?)
}

/// By the name of the font; TeX's bold ones have names of their own.
fn is_bold(font: &Dict<'_>) -> bool {
    let name = name(font, "BaseFont").unwrap_or_default();
    let name = name.split_once('+').map_or(name.as_str(), |(_, name)| name);
    let lower = name.to_lowercase();
    ["bold", "black", "heavy"].iter().any(|word| lower.contains(word))
        || name.starts_with("CMBX")
        || name.starts_with("SFBX")
}

/// Whether each glyph is a drawing of the PDF.
fn is_drawn(font: &Dict<'_>) -> bool {
    name(font, "Subtype").as_deref() == Some("Type3")
}

fn name(dict: &Dict<'_>, key: &str) -> Option<String> {
    dict.get::<Name<'_>>(key).map(|name| name.as_str().to_owned())
}

/// How wide glyphs are, in ems, by their number.
struct Widths {
    one: HashMap<u32, f32>,
    /// First, last, width; in order.
    ranges: Vec<(u32, u32, f32)>,
    other: f32,
}

impl Widths {
    /// A glyph of half the common width, of a font that does not say which number it has.
    const NARROW: u32 = u32::MAX - 1;

    fn get(&self, glyph: u32) -> f32 {
        if let Some(width) = self.one.get(&glyph) {
            return *width;
        }
        let after = self.ranges.partition_point(|(first, ..)| *first <= glyph);
        let range = after.checked_sub(1).and_then(|at| self.ranges.get(at)).filter(|(_, last, _)| glyph <= *last);
        match range {
            Some((.., width)) => *width,
            None if glyph == Self::NARROW => self.other / 2.0,
            None => self.other,
        }
    }

    fn of_simple(font: &Dict<'_>, named: &[Option<Box<str>>]) -> Self {
        if let Some(widths) = Self::listed(font) {
            let one = widths.map(|(code, width)| (code, sane(width / 1000.0))).collect();
            let descriptor = font.get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
            let missing = descriptor.get::<Number>("MissingWidth").map_or(0.0, |width| sane(width.as_f32() / 1000.0));
            return Self {
                one,
                ranges: Vec::new(),
                other: if missing > 0.0 { missing } else { metrics::DEFAULT_WIDTH },
            };
        }
        let mut one = HashMap::new();
        let by_character = name(font, "BaseFont").and_then(|name| metrics::of_font(&name));
        for (code, text) in (0..).zip(named) {
            if let (Some(of), Some(c)) = (by_character, text.as_ref().and_then(|text| text.chars().next())) {
                one.insert(code, of(c));
            }
        }
        Self { one, ranges: Vec::new(), other: metrics::DEFAULT_WIDTH }
    }

    /// Widths of a Type 3 font, whose glyphs are drawn, and how large an em is in its units: a glyph is as wide as in
    /// other fonts.
    fn of_drawn(font: &Dict<'_>) -> (Self, f32) {
        let matrix = font.get::<Array<'_>>("FontMatrix").and_then(|matrix| matrix.flex_iter().next::<Number>());
        let scale = matrix.map_or(0.001, |scale| scale.as_f32().abs());
        let widths = Self::listed(font).into_iter().flatten();
        let widths: Vec<(u32, f32)> = widths.map(|(code, width)| (code, (width * scale).abs())).collect();
        let drawn = widths.iter().map(|(_, width)| *width).filter(|width| width.is_finite() && *width > 0.0);
        let (count, sum) = drawn.fold((0.0, 0.0), |(count, sum), width| (count + 1.0, sum + width));
        let em = if count > 0.0 { sum / count / metrics::DEFAULT_WIDTH } else { 1.0 };
        let em = if (0.5..2.0).contains(&em) || !em.is_normal() { 1.0 } else { em };
        let one = widths.into_iter().map(|(code, width)| (code, sane(width / em))).collect();
        (Self { one, ranges: Vec::new(), other: metrics::DEFAULT_WIDTH }, em)
    }

    /// Widths in a simple font's `Widths`, by code.
    fn listed<'a>(font: &Dict<'a>) -> Option<impl Iterator<Item = (u32, f32)> + use<'a>> {
        let widths = font.get::<Array<'a>>("Widths")?;
        let first = font.get::<Number>("FirstChar").map_or(0, |first| u32::try_from(first.as_i64()).unwrap_or(0));
        Some((first..first.saturating_add(256)).zip(widths.iter::<Number>().map(|width| width.as_f32())))
    }

    fn of_composite(font: &Dict<'_>) -> Self {
        let other = font.get::<Number>("DW").map_or(1.0, |width| sane(width.as_f32() / 1000.0));
        let mut widths = Self { one: HashMap::new(), ranges: Vec::new(), other };
        let Some(table) = font.get::<Array<'_>>("W") else { return widths };
        let mut table = table.flex_iter();
        let number = |object: Object<'_>| u32::try_from(object.into_number()?.as_i64()).ok();
        // Either `first [width width …]` or `first last width`.
        while let (Some(first), Some(next)) = (table.next::<Object<'_>>().and_then(number), table.next::<Object<'_>>())
        {
            if let Object::Array(listed) = next {
                let mut listed = listed.flex_iter();
                let mut glyph = first;
                while let Some(width) = listed.next::<Number>() {
                    widths.one.insert(glyph, sane(width.as_f32() / 1000.0));
                    glyph = glyph.saturating_add(1);
                }
            } else if let (Some(last), Some(width)) = (number(next), table.next::<Number>()) {
                widths.ranges.push((first, last, sane(width.as_f32() / 1000.0)));
            }
        }
        widths.ranges.sort_by_key(|(first, ..)| *first);
        widths
    }
}

/// Returns the default width for one that is not a number, or wider than a page.
fn sane(width: f32) -> f32 {
    if (0.0..10.0).contains(&width) { width } else { metrics::DEFAULT_WIDTH }
}
