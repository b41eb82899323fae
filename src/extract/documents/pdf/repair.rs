//! A PDF whose table of objects is missing or wrong, because it was cut off or written by a careless program: the table
//! is rebuilt from the objects that are found.
//!
//! Owns finding objects without the table, also in streams of objects. Damaged objects stay damaged.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::ZlibDecoder;
use memchr::memmem;

/// The reader takes no higher number.
const HIGHEST: u32 = 999_990;
/// Bytes within which the header begins.
const HEADER_WITHIN: usize = 1024;
/// Bytes at the beginning of an object in which its dictionary is looked for.
const DICTIONARY: usize = 2048;

/// Unpacked bytes of all streams of objects.
const MOST_HELD: u64 = 128 << 20;

/// Where an object is.
#[derive(Clone, Copy)]
enum ObjectLocation {
    At { offset: usize, generation: u16 },
    InStream { stream: u32, index: u16 },
}

/// Rebuilds the table of objects from those that are in the file; `None` where that would not make it a document.
pub(super) fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let start = memmem::find(&bytes[..bytes.len().min(HEADER_WITHIN)], b"%PDF-")?;
    // Offsets count from the header; text before it has no objects.
    let found: Vec<FoundObject> = objects(bytes).into_iter().filter(|object| object.offset >= start).collect();
    let ends = found.iter().skip(1).map(|object| object.offset).chain([bytes.len()]);
    let mut objects: BTreeMap<u32, ObjectLocation> = BTreeMap::new();
    let mut catalog = None;
    // Later objects in a file replace earlier ones.
    for (object, end) in found.iter().zip(ends) {
        // Offsets count from the header: what precedes it is not a part of the document.
        let Some(offset) = object.offset.checked_sub(start) else { continue };
        let body = &bytes[object.offset..end];
        objects.insert(object.number, ObjectLocation::At { offset, generation: object.generation });
        if says(body, b"/Catalog") {
            catalog = Some((object.number, object.generation));
        }
        for (index, (number, is_catalog)) in (0..).zip(held(body)) {
            objects.insert(number, ObjectLocation::InStream { stream: object.number, index });
            if is_catalog {
                catalog = Some((number, 0));
            }
        }
    }
    let (root, generation) = named_root(bytes).filter(|(root, _)| objects.contains_key(root)).or(catalog)?;
    Some(with_table(bytes, start, &objects, root, generation))
}

struct FoundObject {
    number: u32,
    generation: u16,
    offset: usize,
}

/// Each `1 0 obj`, in order.
fn objects(bytes: &[u8]) -> Vec<FoundObject> {
    let ends_word = |at: usize| bytes.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let object = |at: usize| {
        let (before, generation) = number_before(bytes, at)?;
        let (offset, number) = number_before(bytes, before)?;
        let number = u32::try_from(number).ok().filter(|number| (1..=HIGHEST).contains(number))?;
        Some(FoundObject { number, generation: u16::try_from(generation).ok()?, offset })
    };
    memmem::find_iter(bytes, b"obj").filter(|at| ends_word(at + 3)).filter_map(object).collect()
}

/// The number that precedes `limit`, with white space between, and where it begins.
fn number_before(bytes: &[u8], limit: usize) -> Option<(usize, u64)> {
    let before = bytes.get(..limit)?;
    let end = before.iter().rposition(|byte| !byte.is_ascii_whitespace())? + 1;
    let start = before[..end].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    (end < limit && start < end).then(|| Some((start, digits(&before[start..end])?)))?
}

fn digits(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim_ascii().parse().ok()
}

fn head(body: &[u8]) -> &[u8] {
    &body[..body.len().min(DICTIONARY)]
}

/// Whether an object has a type: that name, and not one that begins with it.
fn says(body: &[u8], name: &[u8]) -> bool {
    let head = head(body);
    let head = &head[..memmem::find(head, b"stream").unwrap_or(head.len())];
    let ends = |at: usize| head.get(at + name.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    memmem::find_iter(head, name).any(ends)
}

/// The number after a key of an object's dictionary.
fn value(body: &[u8], key: &[u8]) -> Option<usize> {
    let head = head(body);
    let after = head[memmem::find(head, key)? + key.len()..].trim_ascii_start();
    let length = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    usize::try_from(digits(&after[..length])?).ok()
}

/// The objects that a stream of objects holds, and whether each is the catalog.
fn held(body: &[u8]) -> Vec<(u32, bool)> {
    let unpacked = || -> Option<Vec<(u32, bool)>> {
        if !says(body, b"/ObjStm") || memmem::find(head(body), b"/DecodeParms").is_some() {
            return None;
        }
        let (count, first) = (value(body, b"/N")?, value(body, b"/First")?);
        let data = &body[memmem::find(body, b"stream")? + b"stream".len()..];
        let data = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
        let data = &data[..memmem::rfind(data, b"endstream")?];
        let text = if memmem::find(head(body), b"/FlateDecode").is_some() {
            let mut text = Vec::new();
            // What is cut off is good up to there.
            let _ = ZlibDecoder::new(data).take(MOST_HELD).read_to_end(&mut text);
            text
        } else {
            data.to_vec()
        };
        let numbers: Vec<usize> = std::str::from_utf8(text.get(..first)?)
            .ok()?
            .split_ascii_whitespace()
            .map_while(|number| number.parse().ok())
            .take(count.checked_mul(2)?.min(1 << 16))
            .collect();
        let pairs: Vec<&[usize]> = numbers.chunks_exact(2).collect();
        let object = |(at, pair): (usize, &&[usize])| {
            let number = u32::try_from(pair[0]).ok().filter(|number| (1..=HIGHEST).contains(number))?;
            let end = pairs.get(at + 1).and_then(|next| first.checked_add(next[1])).unwrap_or(text.len());
            let own = text.get(first.checked_add(pair[1])?..end).unwrap_or_default();
            Some((number, says(own, b"/Catalog")))
        };
        // An index counts from the first, those that are left out included.
        pairs.iter().enumerate().map(object).collect()
    };
    unpacked().unwrap_or_default()
}

/// The catalog as what is left of a trailer names it.
fn named_root(bytes: &[u8]) -> Option<(u32, u16)> {
    let at = memmem::rfind(bytes, b"/Root")? + b"/Root".len();
    let words = std::str::from_utf8(bytes.get(at..)?.get(..40).unwrap_or(&bytes[at..])).ok();
    let mut words =
        words?.split(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>').filter(|word| !word.is_empty());
    let (number, generation) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (words.next()? == "R").then_some((number, generation))
}

/// The file with a table behind it, in the form of a stream: only such a table can name objects in other streams.
fn with_table(
    bytes: &[u8],
    start: usize,
    objects: &BTreeMap<u32, ObjectLocation>,
    root: u32,
    generation: u16,
) -> Vec<u8> {
    let own = objects.last_key_value().map_or(0, |(number, _)| *number) + 1;
    let mut rows = Vec::new();
    for number in 0..=own {
        let (sort, first, second): (u8, usize, u16) = match objects.get(&number) {
            Some(ObjectLocation::At { offset, generation }) => (1, *offset, *generation),
            Some(ObjectLocation::InStream { stream, index }) => (2, *stream as usize, *index),
            None => (0, 0, u16::MAX),
        };
        rows.push(sort);
        rows.extend(u32::try_from(first).unwrap_or(u32::MAX).to_be_bytes());
        rows.extend(second.to_be_bytes());
    }
    let mut repaired = bytes.to_vec();
    repaired.extend(b"\n");
    let at = repaired.len() - start;
    let head = format!(
        "{own} 0 obj\n<</Type/XRef/Size {size}/W[1 4 2]/Index[0 {size}]/Root {root} {generation} R/Length {length}>>\nstream\n",
        size = own + 1,
        length = rows.len()
    );
    repaired.extend(head.as_bytes());
    repaired.extend(rows);
    repaired.extend(format!("\nendstream\nendobj\nstartxref\n{at}\n%%EOF\n").as_bytes());
    repaired
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_before_the_header_do_not_count() {
        let bytes = b"1 0 obj\n%PDF-1.4\n2 0 obj<</Type/Catalog>>\nendobj\n";
        assert!(repaired(bytes).is_some_and(|repaired| repaired.ends_with(b"%%EOF\n")));
    }

    #[test]
    fn what_is_not_a_document_is_not_repaired() {
        for bytes in [
            &b""[..],
            b"%PDF-",
            b"obj",
            b"%PDF-1.4\n1 0 obj",
            b"%PDF 0 0 obj /Root 0 0 R",
            b"%PDF-1 1 obj<</Catalog",
            b"1 0 obj<</Type/Catalog>>endobj %PDF-1.4\n2 0 obj",
        ] {
            assert!(repaired(bytes).is_none_or(|repaired| repaired.len() > bytes.len()), "{bytes:?}");
        }
    }
}
