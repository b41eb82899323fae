//! The head and the text of a mail where the parser of mail could not decode them.
//!
//! Owns names of encodings that mails have and the Encoding Standard does not, and what counts where the name is missing or wrong.

use std::borrow::Cow;

use encoding_rs::{BIG5, EUC_KR, Encoding as Charset, SHIFT_JIS, X_MAC_CYRILLIC};
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, Message, MessagePart, MimeHeaders, PartType};
use memchr::memmem;

use super::html;
use crate::extract::text;

/// Names of Python and of Windows for encodings of the standard.
const NAMES: &[(&str, &Charset)] = &[
    ("cp932", SHIFT_JIS),
    ("cp949", EUC_KR),
    ("uhc", EUC_KR),
    ("cp950", BIG5),
    ("maccyrillic", X_MAC_CYRILLIC),
    ("mac-cyrillic", X_MAC_CYRILLIC),
];

/// Names by which programs send text of any encoding.
const ASCII: &[&str] = &["us-ascii", "ascii", "ansi_x3.4-1968", "iso646-us"];

/// The bytes of a part before the parser decoded them to text.
pub(super) fn bytes<'m>(message: &'m Message, part: &MessagePart) -> Option<Cow<'m, [u8]>> {
    let place = part.raw_body_offset() as usize..part.raw_end_offset() as usize;
    let raw = message.raw_message.get(place)?;
    match part.encoding {
        Encoding::None => Some(raw.into()),
        Encoding::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
        Encoding::Base64 => base64_decode(raw).map(Cow::Owned),
    }
}

/// The text of a part that was decoded as `parsed`. If bytes of it do not fit what it says, or if it says nothing, a page is
/// decoded as a page and text as a file is.
pub(super) fn decoded<'m>(message: &Message, part: &MessagePart, parsed: &'m str) -> Cow<'m, str> {
    let charset = part.content_type().and_then(|kind| kind.attribute("charset")).map(str::trim);
    let is_ascii = charset.is_some_and(|name| ASCII.iter().any(|ascii| name.eq_ignore_ascii_case(ascii)));
    if !parsed.contains('\u{fffd}') && (parsed.is_ascii() || !is_ascii) {
        return parsed.into();
    }
    let Some(bytes) = bytes(message, part) else { return parsed.into() };
    let named = charset.and_then(|name| {
        let other = NAMES.iter().find(|(other, _)| name.eq_ignore_ascii_case(other)).map(|(_, charset)| *charset);
        other.or_else(|| Charset::for_label(name.as_bytes()))
    });
    if let Some(text) =
        named.filter(|_| !is_ascii).and_then(|named| named.decode_without_bom_handling_and_without_replacement(&bytes))
    {
        return text.into_owned().into();
    }
    let is_unnamed = charset.is_none() || is_ascii;
    let read = match part.body {
        PartType::Html(_) if is_unnamed => html::decoded(&bytes).map(|(text, _)| text),
        _ if is_unnamed => text::decode(&bytes).map(|decoded| decoded.text.into_owned()),
        // Some bytes are damaged.
        _ => return parsed.into(),
    };
    read.map_or_else(|_| parsed.into(), Into::into)
}

/// A mail with a head that the parser can read: in UTF-8, and with words that are encoded in pieces (RFC 2047) put together, as a piece
/// may end within a character.
pub(super) fn with_readable_head(bytes: &[u8]) -> Cow<'_, [u8]> {
    let end = ["\r\n\r\n", "\n\n"].iter().filter_map(|end| memmem::find(bytes, end.as_bytes())).min();
    let (head, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
    let decoded = match std::str::from_utf8(head) {
        Ok(head) => Cow::Borrowed(head),
        Err(_) => match text::decode(head) {
            Ok(decoded) => decoded.text,
            Err(_) => return bytes.into(),
        },
    };
    let joined = joined(&decoded);
    if joined.as_bytes() == head { bytes.into() } else { [joined.as_bytes(), rest].concat().into() }
}

/// Joins adjacent encoded words of one encoding.
fn joined(head: &str) -> String {
    let mut out = String::with_capacity(head.len());
    let mut rest = head;
    // The encoding of the last word, if only white space follows it in `out`, and the end of its text there.
    let mut last: Option<(&str, &str, usize)> = None;
    while let Some((before, after)) = rest.split_once("=?") {
        let mut parts = after.splitn(3, '?');
        let word = match (parts.next(), parts.next(), parts.next()) {
            (Some(charset), Some(kind), Some(more)) => {
                let end =
                    more.find(|c: char| c == '?' || c.is_whitespace()).filter(|end| more[*end..].starts_with("?="));
                end.map(|end| (charset, kind, &more[..end], &more[end + 2..]))
            }
            _ => None,
        };
        let Some((charset, kind, text, behind)) = word else {
            out.push_str(before);
            out.push_str("=?");
            (rest, last) = (after, None);
            continue;
        };
        let same = last.filter(|(other, encoding, end)| {
            let is_whole = kind.eq_ignore_ascii_case("b") && out[..*end].ends_with('=');
            other.eq_ignore_ascii_case(charset)
                && encoding.eq_ignore_ascii_case(kind)
                && before.chars().all(char::is_whitespace)
                && !is_whole
        });
        match same {
            Some((.., end)) => out.truncate(end),
            None => {
                out.push_str(before);
                out.push_str(&format!("=?{charset}?{kind}?"));
            }
        }
        out.push_str(text);
        last = Some((charset, kind, out.len()));
        out.push_str("?=");
        rest = behind;
    }
    out + rest
}
