//! Detects files that are secrets, and masks secrets inside other files; removes e-mail addresses from texts.
//!
//! Owns the rules by name, the rules by content, and masking. Pure: a verdict depends on the path and the bytes alone.
//! The callers decide what follows from it: `scan` (listing), `extract` (indexing) and `repository` (reading).

mod addresses;
mod contents;
mod documents;
mod mask;
mod names;
mod pem;
mod public;
mod settings;
mod tokens;

pub use addresses::without_addresses;
pub use mask::{mask, mask_text};

use names::Name;

/// Raise it when a change gives the same bytes another verdict or masks other spans: indexes are then rebuilt.
pub const VERSION: u32 = 2;

/// Whether the name alone makes the file a secret, so that it is never opened. `path` uses `/` as its separator.
pub fn is_secret_name(path: &str) -> bool {
    names::judge(path) == Name::Secret
}

/// Whether the name raises a suspicion that the content confirms or not.
pub fn depends_on_content(path: &str) -> bool {
    !matches!(names::judge(path), Name::Secret | Name::Open)
}

/// Whether the file as a whole is a secret, by its name or its content.
///
/// A source file or documentation that contains a key or a token among other text is not.
pub fn is_secret(path: &str, bytes: &[u8]) -> bool {
    match names::judge(path) {
        Name::Secret => true,
        Name::Key => !pem::is_public(&readable(bytes)),
        Name::Suspect => !public::is_public(&readable(bytes)),
        Name::Settings(reach) => settings::hold_secrets(&readable(bytes), reach) || contents::is_secret(path, bytes),
        Name::Open => contents::is_secret(path, bytes),
    }
}

/// The text with one byte per character: UTF-16 with a byte order mark is narrowed, because the rules match ASCII only.
fn readable(bytes: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let narrow = |first: usize| {
        let units = bytes[2..].chunks_exact(2);
        units.map(|unit| if unit[1 - first] == 0 { unit[first] } else { b'?' }).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => std::borrow::Cow::Owned(narrow(0)),
        [0xfe, 0xff, ..] => std::borrow::Cow::Owned(narrow(1)),
        [0xef, 0xbb, 0xbf, rest @ ..] => std::borrow::Cow::Borrowed(rest),
        _ => std::borrow::Cow::Borrowed(bytes),
    }
}

#[cfg(test)]
mod tests;
