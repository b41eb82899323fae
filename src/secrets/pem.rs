//! Finds PEM blocks (`-----BEGIN …-----`), as OpenSSL, OpenSSH, GnuPG and SSH2 write them, and classifies them as
//! private or public.

use std::ops::Range;

use memchr::memmem;

/// Dashes before `BEGIN` and `END`: in PEM, and in the format of RFC 4716.
const DASHES: &[&[u8]] = &[b"-----", b"---- "];

/// RSA keys of 16384 bits take 13 kB; PGP keys with photos take more.
const MAX_BLOCK: usize = 64 << 10;
const MAX_LABEL: usize = 60;
/// The body of the shortest private key (Ed25519 in PKCS #8) has 64 characters. Placeholders have fewer.
const MIN_BODY: usize = 40;
/// The longest line of a body has at least this length. Prose has no such words.
const MIN_LINE: usize = 24;
/// The most text before the first block of a key file, such as `Bag Attributes` and a hexadecimal dump.
const MAX_PREAMBLE: usize = 16 << 10;

/// One PEM block.
pub(super) struct Block<'a> {
    label: &'a [u8],
    /// From the first dash to the last one, or to the end of the text.
    pub span: Range<usize>,
    /// The bytes between the two lines.
    pub body: Range<usize>,
}

impl Block<'_> {
    /// A private key, encrypted or not, whose body is more than a placeholder.
    pub fn is_private(&self, text: &[u8]) -> bool {
        contains(self.label, b"PRIVATE KEY") && has_body(&text[self.body.clone()])
    }

    fn is_public(&self) -> bool {
        PUBLIC.iter().any(|label| contains(self.label, label))
    }
}

const PUBLIC: &[&[u8]] = &[
    b"PUBLIC KEY",
    b"CERTIFICATE",
    b"X509 CRL",
    b"PARAMETERS",
    b"PGP SIGNATURE",
    b"PGP SIGNED MESSAGE",
    b"PKCS7",
    b"CMS",
];

fn contains(text: &[u8], word: &[u8]) -> bool {
    memmem::find(text, word).is_some()
}

fn has_body(body: &[u8]) -> bool {
    let runs = || body.split(|byte| !is_base64(*byte));
    let longest = runs().max_by_key(|run| run.len()).unwrap_or_default();
    let is_varied = longest.iter().any(|byte| Some(byte) != longest.first());
    runs().map(<[u8]>::len).sum::<usize>() >= MIN_BODY && longest.len() >= MIN_LINE && is_varied
}

pub(super) const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// The blocks of a text, in order. Linear in the size of the text, also for unbalanced blocks.
pub(super) fn blocks(text: &[u8]) -> impl Iterator<Item = Block<'_>> {
    let (mut from, mut end) = (0, Some(0));
    std::iter::from_fn(move || {
        loop {
            let (start, label_from) = armour_line(text, b"BEGIN ", from)?;
            from = label_from;
            let Some((label, body_from)) = label(text, label_from) else { continue };
            if end.is_some_and(|at| at < body_from) {
                end = armour_line(text, b"END ", body_from).map(|(at, _)| at);
            }
            let near = &text[..text.len().min(body_from + MAX_BLOCK)];
            let next = armour_line(near, b"BEGIN ", body_from).map_or(near.len(), |(at, _)| at);
            let close = end.filter(|at| *at < next).and_then(|at| {
                let (_, closing) = armour_line(text, b"END ", at)?;
                let (closed, past) = self::label(text, closing)?;
                (closed == label).then_some((at, past))
            });
            let (body, span) = match close {
                Some((at, past)) => (body_from..at, start..past),
                // Truncated: the block extends as far as its characters fit.
                None => {
                    let rest = text[body_from..next].iter();
                    let body_end = body_from + rest.take_while(|byte| is_armour(**byte)).count();
                    (body_from..body_end, start..body_end)
                }
            };
            from = span.end;
            return Some(Block { label, span, body });
        }
    })
}

/// The next `BEGIN` or `END` line: the offsets of its first dash and of its label.
fn armour_line(text: &[u8], word: &[u8], from: usize) -> Option<(usize, usize)> {
    memmem::find_iter(&text[from..], word).find_map(|at| {
        let at = from + at;
        let dashes = DASHES.iter().find(|dashes| text[from..at].ends_with(dashes))?;
        Some((at - dashes.len(), at + word.len()))
    })
}

/// The label at an offset, and the offset past the dashes after it.
fn label(text: &[u8], from: usize) -> Option<(&[u8], usize)> {
    let near = &text[from..text.len().min(from + MAX_LABEL)];
    let label = &near[..memmem::find(near, b"----")?];
    let is_label = label.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ');
    let past = from + label.len();
    is_label.then(|| (label, past + text[past..].iter().take_while(|byte| **byte == b'-').count()))
}

fn is_armour(byte: u8) -> bool {
    is_base64(byte) || byte.is_ascii_whitespace()
}

/// Whether the text consists of private keys, other blocks, comments, and the attributes that OpenSSL writes.
pub(super) fn is_key_file(text: &[u8]) -> bool {
    let start = &text[..text.len().min(MAX_PREAMBLE)];
    if armour_line(start, b"BEGIN ", 0).is_none() {
        return false;
    }
    let (mut outside, mut has_private) = (0, false);
    for block in blocks(text) {
        if !text[outside..block.span.start].split(|byte| *byte == b'\n').all(is_around_keys) {
            return false;
        }
        has_private |= block.is_private(text);
        outside = block.span.end;
    }
    has_private && text[outside..].split(|byte| *byte == b'\n').all(is_around_keys)
}

/// A line that may occur between the blocks of a key file.
fn is_around_keys(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_comment = line.starts_with(b"#") || line.starts_with(b";");
    let is_digits = line.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b' '));
    is_comment || is_digits || ATTRIBUTES.iter().any(|attribute| line.starts_with(attribute))
}

const ATTRIBUTES: &[&[u8]] = &[
    b"Bag Attributes",
    b"Key Attributes",
    b"friendlyName:",
    b"localKeyID:",
    b"Microsoft CSP Name:",
    b"Microsoft Local Key set:",
    b"X509v3 ",
    b"subject",
    b"issuer",
    b"RSA Private-Key:",
    b"Private-Key:",
    b"Public-Key:",
    b"Comment:",
    b"modulus:",
    b"publicExponent:",
    b"privateExponent:",
    b"prime1:",
    b"prime2:",
    b"exponent1:",
    b"exponent2:",
    b"coefficient:",
    b"priv:",
    b"pub:",
    b"ASN1 OID:",
    b"NIST CURVE:",
    b"ED25519 Private-Key:",
];

/// Whether a key file is empty or holds only public keys and certificates.
pub(super) fn is_public(text: &[u8]) -> bool {
    if text.trim_ascii().is_empty() || is_public_keyring(text) {
        return true;
    }
    let mut blocks = blocks(text).peekable();
    if blocks.peek().is_none() {
        let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        return lines.all(is_public_line);
    }
    // A line that ends a private key without its beginning is the rest of one.
    blocks.all(|block| block.is_public() && !contains(block.label, b"PRIVATE")) && !contains(text, b"PRIVATE KEY-----")
}

/// A line of `authorized_keys` or of an OpenSSH public key.
fn is_public_line(line: &[u8]) -> bool {
    [&b"ssh-"[..], b"ecdsa-sha2-", b"sk-ssh-", b"sk-ecdsa-", b"#"].iter().any(|begin| line.starts_with(begin))
}

/// A binary OpenPGP public key, as `gpg --export` writes it: a packet with tag 6, and its version.
fn is_public_keyring(bytes: &[u8]) -> bool {
    let version = match bytes {
        [0x98, _, version, ..] | [0x99, _, _, version, ..] => version,
        // The new packet format, with lengths of one and two bytes.
        [0xc6, 0..=191, version, ..] | [0xc6, 192..=223, _, version, ..] => version,
        _ => return false,
    };
    matches!(version, 3..=6)
}
