//! CSV: its text as it is, cut between records, with the names of the columns above every piece.

use csv_core::{ReadRecordResult, ReaderBuilder};

use super::flow::is_name;
use super::{MAX_NAMES_BYTES, Outline, Table};
use crate::model::RepoPath;

/// Where a record is longer, its rest is not looked at.
const MOST_FIELDS: usize = 4096;

pub(super) fn outline(text: &str, path: &RepoPath) -> Outline {
    let mut reader = ReaderBuilder::new().delimiter(delimiter(text, path)).build();
    let (mut at, mut field, mut ends) = (0, vec![0; text.len().min(1 << 16)], vec![0; MOST_FIELDS]);
    let mut outline = Outline::default();
    let (mut start, mut written, mut fields, mut is_first) = (0, 0, 0, true);
    loop {
        let (result, read, wrote, ended) =
            reader.read_record(&text.as_bytes()[at..], &mut field[written..], &mut ends[fields..]);
        at += read;
        written += wrote;
        fields += ended;
        match result {
            ReadRecordResult::Record => {
                if is_first {
                    let names = names(&field, &ends[..fields]).unwrap_or_default();
                    outline.tables.extend(Table::new(at..text.len(), &names));
                    is_first = false;
                } else {
                    outline.seams.push(record_start(text, start));
                }
                (start, written, fields) = (at, 0, 0);
            }
            // The values do not matter here, only where they end.
            ReadRecordResult::OutputFull => written = 0,
            ReadRecordResult::OutputEndsFull => fields = 0,
            ReadRecordResult::InputEmpty if at >= text.len() => {
                let (result, ..) = reader.read_record(&[], &mut field[written..], &mut ends[fields..]);
                if result == ReadRecordResult::Record && !is_first && start < text.len() {
                    outline.seams.push(record_start(text, start));
                }
                break;
            }
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::End => break,
        }
    }
    outline
}

/// Behind the line breaks that ended the record before.
fn record_start(text: &str, at: usize) -> usize {
    at + text.as_bytes()[at..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count()
}

fn delimiter(text: &str, path: &RepoPath) -> u8 {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv")) {
        return b'\t';
    }
    let first = text.lines().next().unwrap_or_default().as_bytes();
    let count = |sign: u8| memchr::memchr_iter(sign, first).count();
    [b',', b';', b'\t', b'|'].into_iter().rev().max_by_key(|sign| count(*sign)).unwrap_or(b',')
}

/// The first record, if it reads as names and not as values.
fn names(field: &[u8], ends: &[usize]) -> Option<String> {
    let mut start = 0;
    let mut names = Vec::new();
    for end in ends {
        let name = String::from_utf8_lossy(field.get(start..*end)?).trim().to_owned();
        start = *end;
        if !is_name(&name) || name.len() > MAX_NAMES_BYTES {
            return None;
        }
        names.push(name);
    }
    (ends.len() > 1).then(|| names.join(" | ").replace('\n', " "))
}
