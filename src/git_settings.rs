//! The syntax of git's settings files, read as `config.c` of git 2.47 reads it.
//!
//! Owns keys and values. Does not own which files there are (`git_config`, `git_layout`), or what a setting means.

use std::io;
use std::path::Path;

use crate::platform::files::read_regular;

/// Larger files are passed over: settings, and what they name.
pub const MAX_BYTES: u64 = 8 << 20;

/// Keys and their values, in the order in which git reads them.
#[derive(Clone, Debug, Default)]
pub struct GitSettings {
    /// Section and key are lowercase, the part between them is as written. `None`: there is no `=`.
    values: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl GitSettings {
    /// Adds what a file says, up to its first damaged line. Returns whether the whole file was read, or there is none.
    pub fn add_file(&mut self, file: &Path) -> bool {
        match read_regular(file, MAX_BYTES) {
            Ok(bytes) => parse(&bytes, &mut |key, value| self.push(key, value)).is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }

    pub fn push(&mut self, key: &[u8], value: Option<Vec<u8>>) {
        self.values.push((key.to_vec(), value));
    }

    pub fn into_values(self) -> impl Iterator<Item = (Vec<u8>, Option<Vec<u8>>)> {
        self.values.into_iter()
    }

    /// The last value of a key. `Some(None)`: it has none.
    fn last(&self, key: &str) -> Option<Option<&[u8]>> {
        let found = self.values.iter().rev().find(|(known, _)| known == key.as_bytes())?;
        Some(found.1.as_deref())
    }

    /// The last value of a key.
    pub fn text(&self, key: &str) -> Option<&[u8]> {
        self.last(key).flatten()
    }

    /// Whether a key is set to a true value.
    pub fn is_true(&self, key: &str) -> bool {
        let Some(value) = self.last(key) else { return false };
        let Some(value) = value else { return true };
        let value = String::from_utf8_lossy(value).to_lowercase();
        let number = value.trim_end_matches(['k', 'm', 'g']);
        matches!(value.as_str(), "true" | "yes" | "on") || number.parse::<i64>().is_ok_and(|number| number != 0)
    }
}

/// Takes a key and its value.
pub type Each<'e> = &'e mut dyn FnMut(&[u8], Option<Vec<u8>>);

/// Calls `each` with the keys and values of a file. The error is the number of the first line that is not valid.
pub fn parse(bytes: &[u8], each: Each) -> Result<(), usize> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut text = Text { bytes, at: 0, line: 1 };
    let mut section = Vec::new();
    while text.at < bytes.len() {
        match text.next() {
            b'#' | b';' => while text.at < bytes.len() && text.next() != b'\n' {},
            byte if is_space(byte) => {}
            b'[' => section = text.section().ok_or(text.line)?,
            byte if byte.is_ascii_alphabetic() => {
                let mut key = section.clone();
                key.push(byte.to_ascii_lowercase());
                let value = text.entry(&mut key).ok_or(text.line)?;
                // For git, text ends at a NUL.
                let value = value.map(|value| value.split(|byte| *byte == 0).next().unwrap_or_default().to_vec());
                each(&key, value);
            }
            _ => return Err(text.line),
        }
    }
    Ok(())
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

const fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// The text of a file, with `\n` at its end.
struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl Text<'_> {
    fn next(&mut self) -> u8 {
        self.at += usize::from(self.bytes[self.at.min(self.bytes.len())..].starts_with(b"\r\n"));
        let byte = self.bytes.get(self.at).copied().unwrap_or(b'\n');
        self.at += 1;
        self.line += usize::from(byte == b'\n');
        byte
    }

    /// `core]` or `remote "origin"]`, as the beginning of a key.
    fn section(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        let mut byte = self.next();
        while is_of_key(byte) || byte == b'.' {
            name.push(byte.to_ascii_lowercase());
            byte = self.next();
        }
        if is_space(byte) {
            while byte != b'\n' && is_space(byte) {
                byte = self.next();
            }
            if byte != b'"' {
                return None;
            }
            name.push(b'.');
            loop {
                byte = self.next();
                match byte {
                    b'"' => break,
                    b'\\' => byte = self.next(),
                    _ => {}
                }
                if byte == b'\n' {
                    return None;
                }
                name.push(byte);
            }
            byte = self.next();
        }
        name.push(b'.');
        (byte == b']' && name.len() > 1).then_some(name)
    }

    /// The rest of a key, and its value.
    fn entry(&mut self, key: &mut Vec<u8>) -> Option<Option<Vec<u8>>> {
        let mut byte = self.next();
        while is_of_key(byte) {
            key.push(byte.to_ascii_lowercase());
            byte = self.next();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next();
        }
        match byte {
            b'\n' => Some(None),
            b'=' => self.value().map(Some),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let (mut is_quoted, mut is_comment) = (false, false);
        // The length without the spaces at the end.
        let mut length = None;
        loop {
            let byte = self.next();
            match byte {
                b'\n' if is_quoted => return None,
                b'\n' => {
                    value.truncate(length.unwrap_or(value.len()));
                    return Some(value);
                }
                _ if is_comment => {}
                _ if is_space(byte) && !is_quoted => {
                    length = length.or(Some(value.len()));
                    if !value.is_empty() {
                        value.push(byte);
                    }
                }
                b';' | b'#' if !is_quoted => is_comment = true,
                _ => {
                    length = None;
                    match byte {
                        b'\\' => match self.next() {
                            b'\n' => {}
                            b't' => value.push(b'\t'),
                            b'b' => value.push(8),
                            b'n' => value.push(b'\n'),
                            escaped @ (b'\\' | b'"') => value.push(escaped),
                            _ => return None,
                        },
                        b'"' => is_quoted = !is_quoted,
                        _ => value.push(byte),
                    }
                }
            }
        }
    }
}
