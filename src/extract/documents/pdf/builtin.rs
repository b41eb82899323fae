//! The built-in encoding of a font program: Type 1, the Compact Font Format, TrueType.
//!
//! Owns the characters of an embedded font's codes if the PDF does not define them. `ttf_parser` reads the tables.

use std::collections::HashMap;

use memchr::memmem;
use ttf_parser::{RawFace, Tag, cff, cmap};

use super::names::characters;

/// The characters of one-byte codes.
pub(super) type Codes = HashMap<u8, String>;

/// Reads the encoding of a Type 1 program; `None` where that is the standard encoding.
pub(super) fn of_type1(program: &[u8]) -> Option<Codes> {
    let clear = &program[..memmem::find(program, b"eexec").unwrap_or(program.len())];
    let mut rest = &clear[memmem::find(clear, b"/Encoding")? + b"/Encoding".len()..];
    let mut codes = Codes::new();
    // Each entry is `dup 12 /fi put`; the array ends with `def`.
    while let Some(at) = memmem::find(rest, b"dup") {
        if memmem::find(&rest[..at], b" def").is_some() {
            break;
        }
        rest = rest[at + b"dup".len()..].trim_ascii_start();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let code = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse::<u8>().ok());
        rest = rest[digits..].trim_ascii_start();
        let Some(name) = rest.strip_prefix(b"/") else { continue };
        let length = name.iter().take_while(|byte| byte.is_ascii_graphic() && **byte != b'/').count();
        let text = std::str::from_utf8(&name[..length]).ok().and_then(characters);
        if let (Some(code), Some(text)) = (code, text) {
            codes.insert(code, text);
        }
        rest = &name[length..];
    }
    (!codes.is_empty()).then_some(codes)
}

/// Reads the encoding of a program in the Compact Font Format, alone or in an OpenType file; `None` if it has no codes
/// of one byte.
pub(super) fn of_cff(program: &[u8]) -> Option<Codes> {
    let program = if program.starts_with(b"OTTO") { table(program, b"CFF ")? } else { program };
    let font = cff::Table::parse(program)?;
    let text = |code: u8| characters(font.glyph_name(font.glyph_index(code)?)?);
    let codes: Codes = (0..=u8::MAX).filter_map(|code| Some((code, text(code)?))).collect();
    (!codes.is_empty()).then_some(codes)
}

/// The characters of a TrueType program's glyphs.
pub(super) fn of_truetype(program: &[u8]) -> HashMap<u32, char> {
    // Some programs list a table several times.
    const MOST_TABLES: usize = 4;
    let mut glyphs = HashMap::new();
    let Some(tables) = table(program, b"cmap").and_then(cmap::Table::parse) else { return glyphs };
    for table in tables.subtables.into_iter().filter(cmap::Subtable::is_unicode).take(MOST_TABLES) {
        // A hostile table may list more code points than there are characters.
        for c in '\0'..=char::MAX {
            if let Some(glyph) = table.glyph_index(c.into()).filter(|glyph| glyph.0 != 0) {
                glyphs.entry(u32::from(glyph.0)).or_insert(c);
            }
        }
    }
    glyphs
}

/// A table of a TrueType or OpenType file, whose directory may be in any order.
fn table<'p>(program: &'p [u8], name: &[u8; 4]) -> Option<&'p [u8]> {
    let face = RawFace::parse(program, 0).ok()?;
    let record = face.table_records.into_iter().find(|record| record.tag == Tag::from_bytes(name))?;
    let start = usize::try_from(record.offset).ok()?;
    program.get(start..start.checked_add(usize::try_from(record.length).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of items of less than 255 bytes together.
    fn index_of(items: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![0, u8::try_from(items.len()).unwrap(), 1, 1];
        let mut end = 1;
        for item in items {
            end += u8::try_from(item.len()).unwrap();
            bytes.push(end);
        }
        [bytes, items.concat()].concat()
    }

    #[test]
    fn a_compact_font_says_what_its_codes_mean() {
        // Each number of the dictionary takes three bytes: 28 and the number itself.
        let top = |charset: u8, encoding: u8, glyphs: u8| [28, 0, charset, 15, 28, 0, encoding, 16, 28, 0, glyphs, 17];
        let head = |top: &[u8]| [vec![1, 0, 4, 1], index_of(&[b"F"]), index_of(&[top]), index_of(&[b"f_k"])].concat();
        let start = u8::try_from(head(&top(0, 0, 0)).len()).unwrap();
        let charset = [0, 0, 34, 1, 10, 1, 135];
        let encoding = [0, 3, 65, 11, 200];
        let places = top(start, start + 7, start + 12);
        let font = [&head(&places), charset.as_slice(), &encoding, &index_of(&[b"\x0e".as_slice(); 4])].concat();
        let codes = of_cff(&font).unwrap();
        assert_eq!((codes[&65].as_str(), codes[&11].as_str(), codes[&200].as_str()), ("A", "ff", "fk"));
        for end in 0..font.len() {
            let _ = of_cff(&font[..end]);
        }
    }

    #[test]
    fn a_truetype_font_says_which_glyphs_its_characters_have() {
        let segments: [u16; 16] = [4, 32, 0, 4, 0, 0, 0, 0x43, 0xffff, 0, 0x41, 0xffff, 0xffc4, 1, 0, 0];
        let table = segments.iter().flat_map(|number| number.to_be_bytes());
        let cmap: Vec<u8> = [0, 0, 0, 1, 0, 3, 0, 1, 0, 0, 0, 12].into_iter().chain(table).collect();
        let length = u8::try_from(cmap.len()).unwrap();
        let head = [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let font = [&head, b"cmap".as_slice(), &[0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, length], &cmap].concat();
        let glyphs = of_truetype(&font);
        assert_eq!((glyphs.get(&5), glyphs.get(&7), glyphs.len()), (Some(&'A'), Some(&'C'), 3));
        for end in 0..font.len() {
            let _ = of_truetype(&font[..end]);
        }
    }
}
