//! Mail: subject, people, date, and the text of every part that is for reading.

use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};

use super::flow::Flow;
use super::{Document, Format, Reader, html};
use crate::model::SkipReason;

pub(super) static MAIL: Format = Format {
    name: "mail",
    version: 1,
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
        } else if let Some(name) = attachment.attachment_name() {
            flow.line();
            flow.words(&format!("Attachment: {name}"));
        }
    }
}

fn named(people: &Address) -> String {
    let shown = people.iter().map(|one| match (one.name(), one.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    });
    shown.collect::<Vec<_>>().join(", ")
}
