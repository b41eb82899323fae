//! Detects files that are secrets as a whole, whatever their name.
//!
//! Runs on every file that is indexed. Each rule checks the first bytes, or only small files with a certain keyword.

use memchr::memmem;

use super::settings::is_placeholder;
use super::{documents, pem, readable, tokens};

/// No key file is larger.
const MAX_SIZE: usize = 256 << 10;
/// The largest configuration of a tunnel, a cluster or an account.
const MAX_SETTINGS: usize = 64 << 10;
/// The largest list of assignments, or single token.
const MAX_LIST: usize = 16 << 10;

pub(super) fn is_secret(path: &str, bytes: &[u8]) -> bool {
    if bytes.len() > MAX_SIZE {
        return false;
    }
    if BINARY_KEYS.iter().any(|begin| bytes.starts_with(begin)) || is_der_key(bytes) {
        return true;
    }
    let text = readable(bytes);
    if TEXT_KEYS.iter().any(|begin| text.starts_with(begin)) || pem::is_key_file(&text) {
        return true;
    }
    let is_small = text.len() <= MAX_SETTINGS;
    is_small && (documents::is_account(&text) || is_cluster(&text) || is_tunnel(&text) || is_identity(&text))
        || (text.len() <= MAX_LIST && may_be_list(path) && (is_token(&text) || is_list(&text)))
}

/// Java's key stores, KeePass databases, and OpenPGP secret keys as `gpg --export-secret-keys` writes them.
const BINARY_KEYS: &[&[u8]] = &[
    b"\xfe\xed\xfe\xed\0\0\0",
    b"\xce\xce\xce\xce\0\0\0",
    b"\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5",
    b"\x03\xd9\xa2\x9a\x65\xfb\x4b\xb5",
    b"\x95\x01\x03\x04",
    b"\x95\x03\x98\x04",
    b"\x95\x05\x98\x04",
    b"\x95\x07\x98\x04",
    b"\x95\x03\xc5\x04",
    b"\x95\x05\x46\x04",
    b"\x95\x07\x46\x04",
    b"\x94\x58\x04",
    b"\x94\x88\x04",
    b"\x94\x86\x04",
];

const TEXT_KEYS: &[&[u8]] = &[b"PuTTY-User-Key-File-", b"SSH PRIVATE KEY FILE FORMAT 1."];

/// A private key in DER: version 0 or 1, then the field that follows it in PKCS #1, PKCS #8 or SEC 1.
fn is_der_key(bytes: &[u8]) -> bool {
    let [0x30, rest @ ..] = bytes else { return false };
    let (length, rest) = match rest {
        [0x82, high, low, rest @ ..] => (usize::from(*high) << 8 | usize::from(*low), rest),
        [0x81, length, rest @ ..] => (usize::from(*length), rest),
        [length @ 0..=0x7f, rest @ ..] => (usize::from(*length), rest),
        _ => return false,
    };
    let begins = |begin: &[u8]| rest.starts_with(begin);
    let is_key = begins(b"\x02\x01\x00\x02\x82")
        || begins(b"\x02\x01\x00\x02\x81")
        || begins(b"\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01")
        || begins(b"\x02\x01\x00\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01")
        || begins(b"\x02\x01\x00\x30\x05\x06\x03\x2b\x65")
        || begins(b"\x02\x01\x01\x04\x20")
        || begins(b"\x02\x01\x01\x04\x30");
    is_key && length <= rest.len()
}

/// A Kubernetes client configuration with credentials in it.
fn is_cluster(text: &[u8]) -> bool {
    if memmem::find(text, b"kind: Config").is_none() || memmem::find(text, b"users:").is_none() {
        return false;
    }
    let logs_in = |line: &[u8]| {
        let value = LOGINS.iter().find_map(|name| line.strip_prefix(*name));
        value.is_some_and(|value| !is_placeholder(value))
    };
    lines(text).any(logs_in)
}

const LOGINS: &[&[u8]] = &[b"client-key-data:", b"token:", b"password:"];

/// The configuration of a WireGuard interface.
fn is_tunnel(text: &[u8]) -> bool {
    let is_key = |line: &[u8]| {
        let value = line.strip_prefix(b"PrivateKey").map(|rest| rest.trim_ascii().strip_prefix(b"="));
        value.flatten().is_some_and(|value| value.trim_ascii().len() == 44 && value.ends_with(b"="))
    };
    memmem::find(text, b"[Interface]").is_some() && lines(text).any(is_key)
}

/// An age identity file.
fn is_identity(text: &[u8]) -> bool {
    let mut content = lines(text).filter(|line| !line.is_empty() && !line.starts_with(b"#")).peekable();
    content.peek().is_some() && content.all(|line| line.starts_with(b"AGE-SECRET-KEY-1"))
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii)
}

/// Whether the name fits a list of secrets. Sources and program settings are indexed with the tokens they contain.
fn may_be_list(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let is_hidden = name.rfind('.') == Some(0);
    is_hidden || matches!(&*extension, "" | "txt" | "local" | "token" | "secret" | "secrets" | "creds" | "credentials")
}

/// A single token.
fn is_token(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    !text.iter().any(u8::is_ascii_whitespace) && tokens::certain(text).any(|span| span == (0..text.len()))
}

/// Only assignments, as in `.env` and `.aws/credentials`, and one of the values is a token.
fn is_list(text: &[u8]) -> bool {
    let is_value = |line: &[u8]| {
        let Some(at) = memchr::memchr(b'=', line) else { return line.starts_with(b"[") && line.ends_with(b"]") };
        let name = line[..at].trim_ascii();
        let name = name.strip_prefix(b"export ").unwrap_or(name);
        !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
    };
    let mut content = lines(text).filter(|line| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b";"));
    content.all(is_value) && tokens::certain(text).next().is_some()
}
