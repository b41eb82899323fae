//! The built-in encoding of a font program: Type 1, the Compact Font Format, TrueType.
//!
//! Owns the characters of an embedded font's codes if the PDF does not define them. Every offset in a program is
//! checked against its size.

use std::collections::HashMap;

use memchr::memmem;

use super::names::{characters, standard_string};

/// The characters of one-byte codes.
pub(super) type Codes = HashMap<u8, String>;

/// Of a Type 1 program; `None` where that is the standard encoding.
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

/// Of a program in the Compact Font Format, also within an OpenType file; `None` where that is the standard encoding.
pub(super) fn of_cff(program: &[u8]) -> Option<Codes> {
    let program = if program.starts_with(b"OTTO") { table(program, *b"CFF ")? } else { program };
    let names_at = usize::from(*program.get(2)?);
    let (_, tops_at) = index(program, names_at)?;
    let (tops, strings_at) = index(program, tops_at)?;
    let (strings, _) = index(program, strings_at)?;
    let top = FontDictionary::of(tops.first()?);
    if top.is_by_number || top.encoding <= 1 {
        return None;
    }
    let glyphs = usize::from(u16_at(program, top.glyphs)?);
    let glyph_strings = charset(program, top.charset, glyphs)?;
    let text = |number: usize| match number.checked_sub(STANDARD_STRINGS) {
        Some(own) => std::str::from_utf8(strings.get(own)?).ok().and_then(characters),
        None => standard_string(number).map(String::from),
    };
    let mut codes = Codes::new();
    for (code, glyph) in encoding(program, top.encoding)? {
        if let Some(text) = glyph_strings.get(glyph).copied().and_then(text) {
            codes.insert(code, text);
        }
    }
    (!codes.is_empty()).then_some(codes)
}

/// A string with a lower number is one that every reader knows.
const STANDARD_STRINGS: usize = 391;

/// The characters that a TrueType program has glyphs for, by the numbers of the glyphs.
pub(super) fn of_truetype(program: &[u8]) -> HashMap<u32, char> {
    let mut glyphs = HashMap::new();
    let Some(tables) = table(program, *b"cmap") else { return glyphs };
    for at in 0..usize::from(u16_at(tables, 2).unwrap_or(0)) {
        let Some(row) = tables.get(4 + at * 8..12 + at * 8) else { break };
        let is_unicode = matches!(row[..4], [0, 0, 0, _] | [0, 3, 0, 1 | 10]);
        if is_unicode && let Some(table) = tables.get(big_endian(&row[4..])..) {
            match u16_at(table, 0) {
                Some(4) => drop(by_segment(table, &mut glyphs)),
                Some(12) => drop(by_group(table, &mut glyphs)),
                _ => {}
            }
        }
    }
    glyphs
}

/// A table of characters of two bytes.
fn by_segment(table: &[u8], glyphs: &mut HashMap<u32, char>) -> Option<()> {
    let twice = usize::from(u16_at(table, 6)?);
    for segment in (0..twice).step_by(2) {
        let at = |column: usize| u16_at(table, 14 + column * twice + if column > 0 { 2 } else { 0 } + segment);
        let (last, first, delta, offset) = (at(0)?, at(1)?, at(2)?, usize::from(at(3)?));
        for code in first..=last.min(0xfffe) {
            let glyph = if offset == 0 {
                code.wrapping_add(delta)
            } else {
                let place = 16 + 3 * twice + segment + offset + usize::from(code - first) * 2;
                u16_at(table, place).filter(|glyph| *glyph != 0).map_or(0, |glyph| glyph.wrapping_add(delta))
            };
            if let Some(c) = char::from_u32(u32::from(code)).filter(|_| glyph != 0) {
                glyphs.entry(u32::from(glyph)).or_insert(c);
            }
        }
    }
    Some(())
}

/// A table of characters of four bytes.
fn by_group(table: &[u8], glyphs: &mut HashMap<u32, char>) -> Option<()> {
    /// A font has no more glyphs.
    const MOST: usize = 0xffff;
    for group in table.get(16..)?.chunks_exact(12).take(big_endian(table.get(12..16)?)) {
        let (first, last) = (big_endian(&group[..4]), big_endian(&group[4..8]));
        for (code, glyph) in (first..=last).zip(big_endian(&group[8..])..MOST) {
            if let (Some(c), Ok(glyph)) = (u32::try_from(code).ok().and_then(char::from_u32), u32::try_from(glyph)) {
                glyphs.entry(glyph).or_insert(c);
            }
        }
    }
    Some(())
}

/// A table of an OpenType or TrueType file.
fn table(file: &[u8], name: [u8; 4]) -> Option<&[u8]> {
    let tables = usize::from(u16_at(file, 4)?);
    let row = (0..tables).filter_map(|at| file.get(12 + at * 16..28 + at * 16)).find(|row| row.starts_with(&name))?;
    let (offset, length) = (big_endian(&row[8..12]), big_endian(&row[12..16]));
    file.get(offset..offset.checked_add(length)?)
}

/// The items of an index, and where it ends.
fn index(program: &[u8], at: usize) -> Option<(Vec<&[u8]>, usize)> {
    let count = usize::from(u16_at(program, at)?);
    if count == 0 {
        return Some((Vec::new(), at + 2));
    }
    let size = usize::from(*program.get(at + 2)?);
    let offset = |item: usize| Some(big_endian(program.get(at + 3 + item * size..at + 3 + (item + 1) * size)?));
    // Offsets count from the byte before the first item.
    let data = at + 2 + (count + 1) * size;
    let mut items = Vec::new();
    for item in 0..count {
        let (start, end) = (data.checked_add(offset(item)?)?, data.checked_add(offset(item + 1)?)?);
        items.push(program.get(start..end)?);
    }
    Some((items, data.checked_add(offset(count)?)?))
}

/// What the dictionary of a font says about where things are.
#[derive(Default)]
struct FontDictionary {
    charset: usize,
    encoding: usize,
    glyphs: usize,
    /// Its glyphs have numbers and no names.
    is_by_number: bool,
}

impl FontDictionary {
    fn of(dictionary: &[u8]) -> Self {
        let (mut top, mut last, mut rest) = (Self::default(), 0_usize, dictionary);
        while let Some((first, after)) = rest.split_first() {
            let number = |length: usize| big_endian(after.get(..length).unwrap_or_default());
            let (operand, taken) = match first {
                12 => {
                    top.is_by_number |= after.first() == Some(&30);
                    (None, 1)
                }
                15 => (Some((&mut top.charset, last)), 0),
                16 => (Some((&mut top.encoding, last)), 0),
                17 => (Some((&mut top.glyphs, last)), 0),
                28 => (Some((&mut last, number(2))), 2),
                29 => (Some((&mut last, number(4))), 4),
                // A real number ends with a half byte of ones.
                30 => (None, after.iter().take_while(|byte| **byte & 15 != 15).count() + 1),
                32..=246 => (Some((&mut last, usize::from(first.saturating_sub(139)))), 0),
                247..=250 => (Some((&mut last, (usize::from(*first) - 247) * 256 + number(1) + 108)), 1),
                251..=254 => (None, 1),
                _ => (None, 0),
            };
            if let Some((place, value)) = operand {
                *place = value;
            }
            rest = after.get(taken..).unwrap_or_default();
        }
        top
    }
}

/// The number of the string that names each glyph.
fn charset(program: &[u8], at: usize, glyphs: usize) -> Option<Vec<usize>> {
    if at <= 2 {
        return Some((0..glyphs.min(229)).collect());
    }
    let format = *program.get(at)?;
    let mut strings = vec![0];
    let mut place = at + 1;
    while strings.len() < glyphs {
        let first = usize::from(u16_at(program, place)?);
        let more = match format {
            0 => 0,
            1 => usize::from(*program.get(place + 2)?),
            2 => usize::from(u16_at(program, place + 2)?),
            _ => return None,
        };
        place += 2 + usize::from(format);
        strings.extend((first..=first + more).take(glyphs - strings.len()));
    }
    Some(strings)
}

/// Codes with their glyphs.
fn encoding(program: &[u8], at: usize) -> Option<Vec<(u8, usize)>> {
    let (format, count) = (*program.get(at)? & 0x7f, usize::from(*program.get(at + 1)?));
    match format {
        0 => Some(program.get(at + 2..at + 2 + count)?.iter().copied().zip(1..).collect()),
        1 => {
            let ranges = program.get(at + 2..at + 2 + count * 2)?;
            let codes = ranges.chunks_exact(2).flat_map(|range| range[0]..=range[0].saturating_add(range[1]));
            Some(codes.zip(1..).collect())
        }
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// Of four bytes at most.
fn big_endian(bytes: &[u8]) -> usize {
    bytes.iter().take(4).fold(0, |number, byte| (number << 8) | usize::from(*byte))
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
        let font = [&head(&places), charset.as_slice(), &encoding, &[0, 4]].concat();
        let codes = of_cff(&font).unwrap();
        assert_eq!((codes[&65].as_str(), codes[&11].as_str(), codes[&200].as_str()), ("A", "\u{fb00}", "fk"));
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
