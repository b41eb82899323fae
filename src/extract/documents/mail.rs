//! Mail: subject, people, date, and the text of every part that is for reading.

use mail_parser::{Address, Encoding, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::flow::Flow;
use super::{Document, Format, Reader, html};
use crate::extract::text;
use crate::model::SkipReason;

pub(super) static MAIL: Format = Format {
    name: "mail",
    version: 2,
    extensions: &["eml"],
    only_in_folders: false,
    is_risky: false,
    reader: Reader::Bytes(read),
};

/// Messages within messages are read down to here.
const DEEPEST: usize = 5;

fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let message = MessageParser::default().parse(bytes).ok_or(SkipReason::Malformed)?;
    if message.headers().is_empty() {
        return Err(SkipReason::Malformed);
    }
    let mut flow = Flow::default();
    take(&message, 0, &mut flow);
    flow.finish()
}

fn take(message: &Message, depth: usize, flow: &mut Flow) {
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
    // Where a part comes in two forms, the plain one says the same.
    for id in &message.text_body {
        let Some(part) = message.parts.get(*id as usize) else { continue };
        match &part.body {
            PartType::Text(text) => flow.verbatim(text),
            PartType::Html(text) => html::take(text, flow),
            _ => {}
        }
        flow.block();
    }
    for attachment in message.attachments() {
        if let PartType::Message(inner) = &attachment.body {
            flow.block();
            if depth < DEEPEST {
                take(inner, depth + 1, flow);
            } else {
                flow.problem("messages that are nested deeper are left out");
            }
        } else if is_multipart(attachment) {
            match text::decode(unparted(message, attachment)) {
                Ok(decoded) => flow.verbatim(&decoded.text),
                Err(_) => flow.problem("parts that nothing divides, and that are no text, are left out"),
            }
            flow.block();
        } else if let Some(name) = attachment.attachment_name() {
            flow.line();
            flow.words(&format!("Attachment: {name}"));
        }
    }
}

/// Whether a part says that it has parts. One that has is none of the attachments: of this the boundary is missing, or
/// never comes.
fn is_multipart(part: &MessagePart) -> bool {
    part.content_type().is_some_and(|kind| kind.ctype().eq_ignore_ascii_case("multipart"))
}

/// All that stands in such a part.
fn unparted<'m>(message: &'m Message, part: &'m MessagePart) -> &'m [u8] {
    let place = part.raw_body_offset() as usize..part.raw_end_offset() as usize;
    // The parser takes bytes that are not UTF-8 out of a text.
    let raw = message.raw_message.get(place).filter(|_| part.encoding == Encoding::None);
    raw.unwrap_or_else(|| part.contents())
}

fn named(people: &Address) -> String {
    let shown = people.iter().map(|one| match (one.name(), one.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    });
    shown.collect::<Vec<_>>().join(", ")
}
