//! XML as a sequence of events. No element is kept open, so depth costs nothing. No entity is expanded but the five of
//! the language itself and the characters that XHTML names.

use std::borrow::Cow;

use html5gum::{Token, Tokenizer};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::model::SkipReason;

pub(super) enum Piece<'a> {
    /// The element's name without its prefix.
    Open(&'a str, &'a Attributes<'a>),
    Close(&'a str),
    Text(&'a str),
}

pub(super) struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// The value of an attribute, by its name without prefix.
    pub fn get(&self, name: &str) -> Option<String> {
        let found = self.0.attributes().with_checks(false).flatten().find(|attribute| {
            let key: &str = attribute.key.local_name().into_inner();
            key == name
        })?;
        Some(unescaped(&found.value))
    }
}

/// Shows every piece of `xml` to `visit`, in order.
pub(super) fn walk(xml: &str, visit: &mut dyn FnMut(Piece)) -> Result<(), SkipReason> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => visit(Piece::Open(start.local_name().into_inner(), &Attributes(&start))),
            Ok(Event::Empty(start)) => {
                visit(Piece::Open(start.local_name().into_inner(), &Attributes(&start)));
                visit(Piece::Close(start.local_name().into_inner()));
            }
            Ok(Event::End(end)) => visit(Piece::Close(end.local_name().into_inner())),
            Ok(Event::Text(text)) => visit(Piece::Text(&text.xml10_content())),
            Ok(Event::CData(text)) => visit(Piece::Text(&text.xml10_content())),
            Ok(Event::GeneralRef(named)) => visit(Piece::Text(&referred(&named.into_inner()))),
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(_) => return Err(SkipReason::Malformed),
        }
    }
}

/// Whether a text is XML all through: every element that begins ends.
pub(super) fn is_well_formed(xml: &str) -> bool {
    let mut reader = Reader::from_str(xml);
    let mut depth = 0_usize;
    loop {
        match reader.read_event() {
            Ok(Event::Start(_)) => depth += 1,
            Ok(Event::End(_)) => depth = depth.saturating_sub(1),
            Ok(Event::Eof) => return depth == 0,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// The character that a reference `&name;` or `&#number;` stands for; nothing for an entity of the document's own.
fn referred(name: &str) -> Cow<'_, str> {
    match name {
        "lt" => "<".into(),
        "gt" => ">".into(),
        "amp" => "&".into(),
        "apos" => "'".into(),
        "quot" => "\"".into(),
        _ => {
            let written = format!("&{name};");
            let text = Tokenizer::new(&written).find_map(|token| match token {
                Ok(Token::String(text)) => Some(String::from_utf8_lossy(&text).into_owned()),
                _ => None,
            });
            text.filter(|text| *text != written).unwrap_or_default().into()
        }
    }
}

fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        match after.split_once(';') {
            Some((name, behind)) if !name.contains(['&', ' ']) => {
                text.push_str(&referred(name));
                rest = behind;
            }
            _ => {
                text.push('&');
                rest = after;
            }
        }
    }
    text + rest
}
