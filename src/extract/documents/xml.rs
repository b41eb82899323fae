//! XML as a row of events, with nothing kept open: depth costs nothing, and no entity is ever expanded but the five of
//! the language itself.

use std::borrow::Cow;

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
            Ok(Event::GeneralRef(named)) => match named.resolve_char_ref() {
                Ok(Some(c)) => visit(Piece::Text(c.encode_utf8(&mut [0; 4]))),
                _ => visit(Piece::Text(predefined(&named.into_inner()))),
            },
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(_) => return Err(SkipReason::Malformed),
        }
    }
}

fn predefined(name: &str) -> &'static str {
    match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "apos" => "'",
        "quot" => "\"",
        _ => "",
    }
}

fn unescaped(value: &str) -> String {
    let mut text = Cow::Borrowed(value);
    for name in ["lt", "gt", "apos", "quot", "amp"] {
        let reference = format!("&{name};");
        if text.contains(&reference) {
            text = Cow::Owned(text.replace(&reference, predefined(name)));
        }
    }
    text.into_owned()
}
