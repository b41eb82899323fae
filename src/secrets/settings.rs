//! Detects secret values in settings files whose name suggests secrets.
//!
//! Matches assignments in several notations without parsing them, and separates values from placeholders and labels.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use super::tokens;

/// Which values of a file count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All but plain words, and structural ones such as `kind` and `version`.
    All,
    /// Values with a key such as `password`.
    Named,
}

/// Larger files are data.
const MAX_SIZE: usize = 64 << 10;

/// In larger files only named values count: they describe credentials of many services, and hold none.
const MAX_ALL: usize = 16 << 10;

/// `name = value`, `"name": "value"`, `name: value`, `<name>value</name>`.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::builder()
        .syntax(syntax::Config::new().utf8(false).unicode(false))
        .configure(Regex::config().utf8_empty(false))
        .build_many(&[
            r#""([^"\\\n]{1,100})"[ \t]*[:=][ \t]*"((?:[^"\\\n]|\\.)*)""#,
            r#"(?m)^[ \t]*(?:export[ \t]+|-[ \t]+)?'?([A-Za-z_$][A-Za-z0-9_.$-]{0,100})'?[ \t]*[:=][ \t]*([^\s][^\r\n]*)"#,
            r"<([A-Za-z_][A-Za-z0-9_.-]{0,100})>([^<>\n]+)</",
        ])
        .expect("the patterns are of this file")
});

/// Whether one of the values is a secret.
pub(super) fn hold_secrets(text: &[u8], reach: Reach) -> bool {
    if text.len() > MAX_SIZE {
        return false;
    }
    tokens::certain(text).next().is_some()
        || holds_data(text)
        || ASSIGNMENT.captures_iter(text).any(|found| {
            let (Some(name), Some(value)) = (found.get_group(1), found.get_group(2)) else { return false };
            let (name, value) = (&text[name.range()], bare(&text[value.range()]));
            let is_other = || is_short_name(name) || (!is_of_structure(name) && !is_word(value));
            let counts = is_secret_name(name) || (reach == Reach::All && text.len() <= MAX_ALL && is_other());
            counts && is_value(name, value)
        })
}

/// Whether the text is a Kubernetes manifest of a secret with values in it.
fn holds_data(text: &[u8]) -> bool {
    if memchr::memmem::find(text, b"kind: Secret").is_none() {
        return false;
    }
    let indent = |line: &[u8]| line.iter().take_while(|byte| **byte == b' ').count();
    let mut data = None;
    text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).any(|line| {
        if matches!(line.trim_ascii(), b"data:" | b"stringData:") {
            data = Some(indent(line));
            return false;
        }
        data = data.filter(|data| indent(line) > *data);
        let Some(at) = memchr::memchr(b':', line).filter(|_| data.is_some()) else { return false };
        is_value(line[..at].trim_ascii(), bare(&line[at + 1..]))
    })
}

/// The value without quotes and without the separator that ends it.
fn bare(value: &[u8]) -> &[u8] {
    let value = value.trim_ascii();
    let value = value.strip_suffix(b",").or_else(|| value.strip_suffix(b";")).unwrap_or(value).trim_ascii();
    match value {
        [first @ (b'"' | b'\''), inner @ .., last] if first == last => inner,
        value => value,
    }
}

fn is_of_structure(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let structure: &[&[u8]] = &[
        b"apiversion",
        b"kind",
        b"name",
        b"namespace",
        b"type",
        b"$schema",
        b"version",
        b"description",
        b"title",
        b"username",
        b"user",
        b"url",
        b"uri",
        b"host",
        b"port",
        b"region",
        b"email",
        b"database",
        b"endpoint",
    ];
    structure.contains(&&*name)
}

/// `ListTables`, `dist/credentials/Http.js`: a password has a digit or another character among its letters.
fn is_word(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_' | b'-' | b'/' | b':'))
}

fn is_secret_name(name: &[u8]) -> bool {
    let name: Vec<u8> = name.to_ascii_lowercase().into_iter().filter(u8::is_ascii_alphanumeric).collect();
    let words: &[&[u8]] = &[
        b"password",
        b"passwd",
        b"passphrase",
        b"secret",
        b"token",
        b"apikey",
        b"accesskey",
        b"privatekey",
        b"authkey",
        b"credential",
    ];
    // `password_policy`, `token_lifetime` and `secret_name` describe a secret and are not one.
    let about: &[&[u8]] = &[
        b"policy",
        b"length",
        b"lifetime",
        b"ttl",
        b"name",
        b"arn",
        b"path",
        b"file",
        b"url",
        b"type",
        b"enabled",
        b"expiry",
        b"id",
    ];
    let has_word = words.iter().any(|word| memchr::memmem::find(&name, word).is_some());
    (has_word || name == b"pwd" || name == b"pass") && !about.iter().any(|about| name.ends_with(about))
}

/// Names that mean a secret among credentials, and anything elsewhere.
fn is_short_name(name: &[u8]) -> bool {
    let names: &[&[u8]] = &[b"key", b"auth", b"bearer", b"pin", b"cookie", b"session"];
    names.contains(&&*name.to_ascii_lowercase())
}

/// Shorter values are versions and keywords.
const MIN_VALUE: usize = 4;

fn is_value(name: &[u8], value: &[u8]) -> bool {
    // `"new_password": "New password"` is a label.
    let plain = |text: &[u8]| -> Vec<u8> {
        text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
    };
    let is_number = value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')) && value.len() < 6;
    value.len() >= MIN_VALUE
        && !value.iter().any(u8::is_ascii_whitespace)
        && value.is_ascii()
        && !is_number
        && !is_placeholder(value)
        && plain(name) != plain(value)
}

/// Whether a value is a placeholder or a reference to another value.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = value.trim_ascii().to_ascii_lowercase();
    let references: &[&[u8]] = &[
        b"${",
        b"$(",
        b"{{",
        b"{%",
        b"<",
        b"[",
        b"{",
        b"|",
        b">",
        b"&",
        b"*",
        b"var.",
        b"env.",
        b"local.",
        b"data.",
        b"process.env",
        b"os.environ",
        b"!secret",
        b"!vault",
        b"!env",
        b"!ref",
        b"!sub",
        b"vault:",
        b"secret:",
        b"ref:",
        b"op://",
        b"arn:",
        b"enc[",
    ];
    let fillers: &[&[u8]] = &[
        b"example",
        b"placeholder",
        b"changeme",
        b"change_me",
        b"change-me",
        b"replace",
        b"redacted",
        b"your_",
        b"your-",
        b"yoursecret",
        b"yourpassword",
        b"insert",
        b"dummy",
        b"xxxx",
        b"****",
        b"....",
        b"todo",
    ];
    let words: &[&[u8]] =
        &[b"", b"null", b"none", b"nil", b"true", b"false", b"undefined", b"string", b"~", b"yes", b"no"];
    words.contains(&&*value)
        || references.iter().any(|begin| value.starts_with(begin))
        || memchr::memmem::find(&value, b"{{").is_some()
        || fillers.iter().any(|word| memchr::memmem::find(&value, word).is_some())
        || value.iter().all(|byte| Some(byte) == value.first())
}
