//! Mail: subject, people, date, and the text of every readable part, including attachments.

use std::borrow::Cow;

use mail_parser::{Addr, Address, ContentType, Encoding, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use memchr::memmem;

use super::flow::Flow;
use super::mail_encoding as encoding;
use super::{Document, FORMATS, Format, html};
use crate::extract::{self, text};
use crate::model::SkipReason;

/// The format of pages.
const HTML: &str = "html";
/// Depth down to which messages within messages are read.
const DEEPEST: usize = 5;

/// Depth down to which parts within parts of one message are read.
const DEEPEST_PART: usize = 50;

/// Multipart parts of a message whose end is checked.
const MOST_DIVIDED: usize = 16;
/// Bytes of an attachment: only the name of a longer one is indexed. A text file is read up to this size, too.
const MAX_ATTACHMENT_BYTES: usize = 2 << 20;
/// Bytes of all attachments of the messages in one file, so that those of one message leave some for the others.
const MOST_ATTACHED: usize = 8 << 20;

/// Attached text that says little without the program that it is for.
const NOT_FOR_READING: &[&str] = &["rtf", "svg"];

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let readable = encoding::with_readable_head(bytes);
    let bytes = readable.as_ref();
    let message = parsed(bytes)?;
    if message.headers().is_empty() {
        return Err(SkipReason::Malformed);
    }
    let closed = closed(bytes, &message);
    let message = closed.as_deref().map_or(Ok(message), parsed)?;
    match read_with(&message, closed.is_some(), MOST_ATTACHED) {
        // The messages themselves may need it.
        Err(SkipReason::Overfull) => read_with(&message, closed.is_some(), 0),
        read => read,
    }
}

fn parsed(bytes: &[u8]) -> Result<Message<'_>, SkipReason> {
    MessageParser::default().parse(bytes).ok_or(SkipReason::Malformed)
}

/// A mail that was cut off, with the missing ends of its parts: the parser drops a part without one.
fn closed(bytes: &[u8], message: &Message) -> Option<Vec<u8>> {
    let mut open = unclosed(bytes, message, 0);
    let mut whole = None;
    // What is within a part is seen once that has its end.
    for _ in 0..DEEPEST {
        if open.is_empty() {
            break;
        }
        let ends: Vec<String> = open.iter().rev().map(|boundary| format!("\r\n--{boundary}--\r\n")).collect();
        let longer = [bytes, ends.concat().as_bytes()].concat();
        let seen = parsed(&longer).map(|message| unclosed(bytes, &message, 0));
        whole = Some(longer);
        match seen {
            Ok(seen) if seen != open => open = seen,
            _ => break,
        }
    }
    whole
}

/// The boundaries of parts that begin and never end, outermost first.
fn unclosed(bytes: &[u8], message: &Message, depth: usize) -> Vec<String> {
    let mut open = Vec::new();
    for part in message.parts.iter().filter(|part| is_multipart(part)).take(MOST_DIVIDED) {
        let Some(boundary) = part.content_type().and_then(|kind| kind.attribute("boundary")) else { continue };
        if !boundary.is_empty()
            && has_line(bytes, &format!("--{boundary}"))
            && !has_line(bytes, &format!("--{boundary}--"))
        {
            open.push(boundary.to_owned());
        }
    }
    for part in &message.parts {
        if let PartType::Message(inner) = &part.body
            && depth < DEEPEST
        {
            open.extend(unclosed(bytes, inner, depth + 1));
        }
    }
    open
}

/// Whether a line is this, except for white space behind it.
fn has_line(bytes: &[u8], line: &str) -> bool {
    memmem::find_iter(bytes, line).any(|at| {
        let begins = at == 0 || bytes[at - 1] == b'\n';
        begins && bytes.get(at + line.len()).is_none_or(u8::is_ascii_whitespace)
    })
}

fn read_with(message: &Message, is_cut: bool, mut budget: usize) -> Result<Document, SkipReason> {
    let mut flow = Flow::default();
    take(message, 0, &mut budget, &mut flow);
    if is_cut {
        flow.problem("it ends before its last part does");
    }
    flow.finish()
}

/// `budget` is the number of bytes left for attachments.
fn take(message: &Message, depth: usize, budget: &mut usize, flow: &mut Flow) {
    if let Some(subject) = message.subject() {
        flow.heading(u8::try_from(depth + 1).unwrap_or(1), subject);
    }
    for (name, people) in [("From", message.from()), ("To", message.to()), ("Cc", message.cc())] {
        if let Some(people) = people.map(named).filter(|people| !people.is_empty()) {
            flow.line();
            flow.words(&format!("{name}: {people}"));
        }
    }
    if let Some(date) = message.date() {
        flow.line();
        flow.words(&format!("Date: {}", date.to_rfc3339()));
    }
    flow.block();
    let mut shown = Vec::new();
    if !add_shown(message, 0, 0, &mut shown) {
        flow.problem("parts that are nested deeper are left out");
    }
    for text in shown {
        match text {
            Shown::Plain(text) => flow.verbatim(&text),
            Shown::Page(text) => html::take(&text, flow),
        }
        flow.block();
    }
    for attachment in message.attachments() {
        if let PartType::Message(inner) = &attachment.body {
            flow.block();
            if depth < DEEPEST {
                take(inner, depth + 1, budget, flow);
            } else {
                flow.problem("messages that are nested deeper are left out");
            }
        } else if is_multipart(attachment) {
            match text::decode(unparted(message, attachment)) {
                Ok(decoded) => flow.verbatim(&decoded.text),
                Err(_) => flow.problem("parts that nothing divides, and that are no text, are left out"),
            }
            flow.block();
        } else {
            attach(message, attachment, budget, flow);
        }
    }
}

/// A part of the body.
enum Shown<'m> {
    Plain(Cow<'m, str>),
    Page(Cow<'m, str>),
}

impl Shown<'_> {
    fn words(&self) -> usize {
        match self {
            Self::Plain(text) => text.split_whitespace().count(),
            Self::Page(text) => {
                let mut flow = Flow::default();
                html::take(text, &mut flow);
                flow.finish().map_or(0, |page| page.text.split_whitespace().count())
            }
        }
    }
}

/// Adds what is shown of a part of a message. Of alternatives (RFC 2046, section 5.1.4) that is the one that says most, as a plain one
/// may be blank or only say that there is another. `false` where parts are nested too deeply.
fn add_shown<'m>(message: &'m Message, part: u32, depth: usize, shown: &mut Vec<Shown<'m>>) -> bool {
    let Some(found) = message.parts.get(part as usize) else { return true };
    let is_body = || message.text_body.contains(&part) || message.html_body.contains(&part);
    match &found.body {
        PartType::Multipart(_) if depth >= DEEPEST_PART => return false,
        PartType::Multipart(parts) => {
            let kind = found.content_type().and_then(ContentType::subtype).unwrap_or_default();
            if !kind.eq_ignore_ascii_case("alternative") {
                return parts.iter().all(|part| add_shown(message, *part, depth + 1, shown));
            }
            let (mut best, mut most) = (Vec::new(), 0);
            for part in parts {
                let mut other = Vec::new();
                if !add_shown(message, *part, depth + 1, &mut other) {
                    return false;
                }
                let words = other.iter().map(Shown::words).sum();
                if words > most {
                    (best, most) = (other, words);
                }
            }
            shown.append(&mut best);
        }
        PartType::Text(text) if is_body() => {
            let text = encoding::decoded(message, found, text);
            shown.push(Shown::Plain(flowed(found, text)));
        }
        PartType::Html(text) if is_body() => shown.push(Shown::Page(encoding::decoded(message, found, text))),
        _ => {}
    }
    true
}

/// Joins lines that were broken for sending. With `format=flowed` and `DelSp=yes`, such a line ends with a space (RFC 3676, 4.1).
fn flowed<'m>(part: &MessagePart, text: Cow<'m, str>) -> Cow<'m, str> {
    let says = |name: &str, value: &str| {
        part.content_type().and_then(|kind| kind.attribute(name)).is_some_and(|is| is.eq_ignore_ascii_case(value))
    };
    if !says("format", "flowed") || !says("delsp", "yes") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    // The quote depth of the line that continues.
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let content = line.trim_start_matches('>');
        let depth = line.len() - content.len();
        let content = content.strip_prefix(' ').unwrap_or(content);
        match open.take() {
            Some(above) if above == depth => {}
            Some(_) => out.push_str(&format!("\n{}", &line[..line.len() - content.len()])),
            None => out.push_str(&line[..line.len() - content.len()]),
        }
        match content.strip_suffix(' ').filter(|_| content != "-- ") {
            Some(begun) => {
                out.push_str(begun);
                open = Some(depth);
            }
            None => out.push_str(&format!("{content}\n")),
        }
    }
    out.into()
}

/// The name of an attachment, and its text where it has one. Archives and PDF are only named: the bound on what they
/// unpack to is per file, and a mail may have hundreds.
fn attach(message: &Message, part: &MessagePart, budget: &mut usize, flow: &mut Flow) {
    if let Some(name) = part.attachment_name() {
        flow.line();
        flow.words(&format!("Attachment: {name}"));
    } else if is_alternative(message, part) {
        // Another form of what was shown, such as an invitation's.
        return;
    }
    let Some(text) = attached(message, part) else { return };
    if text.len() > MAX_ATTACHMENT_BYTES.min(*budget) {
        flow.problem("attachments that are too long are named alone");
        return;
    }
    *budget -= text.len();
    flow.block();
    if is_page(part) {
        html::take(&text, flow);
    } else {
        flow.verbatim(&text);
    }
    flow.block();
}

/// Whether a part is one of several forms of the same content.
fn is_alternative(message: &Message, part: &MessagePart) -> bool {
    let is_it = |number: &u32| message.parts.get(*number as usize).is_some_and(|other| std::ptr::eq(other, part));
    message.parts.iter().any(|around| match &around.body {
        PartType::Multipart(parts) => {
            let kind = around.content_type().and_then(ContentType::subtype).unwrap_or_default();
            kind.eq_ignore_ascii_case("alternative") && parts.iter().any(is_it)
        }
        _ => false,
    })
}

/// The text of an attachment that is one by its type or by its name.
fn attached<'m>(message: &'m Message, part: &'m MessagePart) -> Option<Cow<'m, str>> {
    let (kind, below) = part.content_type().map_or(("text", None), |kind| (kind.ctype(), kind.subtype()));
    let below = below.unwrap_or_default();
    let extension = extension(part);
    let is_hidden = |name: &&str| below.eq_ignore_ascii_case(name) || extension == **name;
    if NOT_FOR_READING.iter().any(is_hidden) {
        return None;
    }
    let is_by_name = || kind.eq_ignore_ascii_case("application") && is_text_by_name(&extension);
    // A report that a message was not delivered, a part of one: what is a message itself is not an attachment of this kind.
    let is_text = ["text", "message"].iter().any(|name| kind.eq_ignore_ascii_case(name));
    if !is_text && !is_by_name() {
        return None;
    }
    if let PartType::Text(text) | PartType::Html(text) = &part.body
        && part.content_type().is_some_and(|kind| kind.has_attribute("charset"))
    {
        let text = encoding::decoded(message, part, text);
        return Some(text).filter(|text| text::decode(text.as_bytes()).is_ok());
    }
    let bytes = encoding::bytes(message, part).unwrap_or_else(|| part.contents().into());
    let text = match is_page(part) {
        true => html::decoded(&bytes).map(|(text, _)| text),
        false => text::decode(&bytes).map(|decoded| decoded.text.into_owned()),
    };
    text.ok().map(Cow::Owned)
}

fn is_page(part: &MessagePart) -> bool {
    let is_html = |format: &Format| format.name == HTML && format.extensions.contains(&extension(part).as_str());
    matches!(part.body, PartType::Html(_)) || FORMATS.iter().any(is_html)
}

fn is_text_by_name(extension: &str) -> bool {
    let has_no_text_on_disk = |format: &&Format| !format.keeps_text() && format.name != HTML;
    let is_packed = FORMATS.iter().filter(has_no_text_on_disk).any(|format| format.extensions.contains(&extension));
    extract::reads(extension) && !is_packed
}

/// In lower case, without the dot.
fn extension(part: &MessagePart) -> String {
    let name = part.attachment_name().unwrap_or_default();
    name.rsplit_once('.').map_or_else(String::new, |(_, extension)| extension.to_lowercase())
}

/// Whether a part says that it has parts. One that does is not an attachment: of this the boundary is missing, or
/// never comes.
fn is_multipart(part: &MessagePart) -> bool {
    part.content_type().is_some_and(|kind| kind.ctype().eq_ignore_ascii_case("multipart"))
}

/// All that is in such a part.
fn unparted<'m>(message: &'m Message, part: &'m MessagePart) -> &'m [u8] {
    let place = part.raw_body_offset() as usize..part.raw_end_offset() as usize;
    // The parser removes bytes that are not UTF-8.
    let raw = message.raw_message.get(place).filter(|_| part.encoding == Encoding::None);
    raw.unwrap_or_else(|| part.contents())
}

fn named(people: &Address) -> String {
    let shown = |all: &[Addr]| {
        let shown = all.iter().map(|one| match (one.name(), one.address()) {
            (Some(name), Some(address)) => format!("{name} <{address}>"),
            (name, address) => name.or(address).unwrap_or_default().to_owned(),
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    match people {
        Address::List(all) => shown(all),
        Address::Group(groups) => {
            let groups = groups.iter().map(|group| match &group.name {
                Some(name) => format!("{name}: {}", shown(&group.addresses)),
                None => shown(&group.addresses),
            });
            groups.collect::<Vec<_>>().join(", ")
        }
    }
}
