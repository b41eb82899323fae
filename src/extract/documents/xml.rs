//! XML as a sequence of events. No element is kept open, so depth costs nothing. No entity is expanded but the five of
//! the language itself, the characters that XHTML names, and short texts that the document itself declares.

use std::borrow::Cow;
use std::collections::HashMap;

use encoding_rs::Encoding;
use html5gum::{Token, Tokenizer};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::model::SkipReason;

/// Longer entities, and more of them, are no abbreviations.
const MAX_ENTITY_BYTES: usize = 256;
const MOST_ENTITIES: usize = 1000;

/// An encoding is declared within this many bytes.
const DECLARED_WITHIN: usize = 256;

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
    let mut own: HashMap<String, String> = HashMap::new();
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
            Ok(Event::GeneralRef(named)) => {
                let name = named.into_inner();
                match own.get(name.as_ref()) {
                    Some(text) => visit(Piece::Text(text)),
                    None => visit(Piece::Text(&referred(&name))),
                }
            }
            Ok(Event::DocType(declared)) => own = own_entities(&declared.into_inner()),
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(_) => return Err(SkipReason::BrokenXml),
        }
    }
}

/// Reads a part whose paragraphs may have boxes of text in them.
pub(super) trait BoxedReader {
    fn take(&mut self, piece: Piece);
    /// Whether an element is such a box: its text is not a part of the paragraph that it is anchored in.
    fn begins_box(&self, name: &str) -> bool;
}

/// Shows every piece of `xml` to `reader`, those of a box once the paragraph around it has ended. A box within another is shown
/// where it is, so that depth costs nothing.
pub(super) fn walk_with_boxes(xml: &str, paragraphs: &[&str], reader: &mut dyn BoxedReader) -> Result<(), SkipReason> {
    let (mut open, mut depth) = (0_usize, 0_usize);
    let mut kept: Vec<KeptPiece> = Vec::new();
    walk(xml, &mut |piece| {
        let (begins, ends) = match piece {
            Piece::Open(name, _) => (paragraphs.contains(&name), false),
            Piece::Close(name) => (false, paragraphs.contains(&name)),
            Piece::Text(_) => (false, false),
        };
        if depth > 0 {
            depth = match piece {
                Piece::Open(..) => depth + 1,
                Piece::Close(_) => depth - 1,
                Piece::Text(_) => depth,
            };
            kept.push(KeptPiece::from(piece));
            return;
        }
        if let Piece::Open(name, _) = piece
            && open > 0
            && reader.begins_box(name)
        {
            depth = 1;
            kept.push(KeptPiece::from(piece));
            return;
        }
        open = (open + usize::from(begins)).saturating_sub(usize::from(ends));
        reader.take(piece);
        if open == 0 {
            std::mem::take(&mut kept).iter().for_each(|piece| piece.show(reader));
        }
    })?;
    kept.iter().for_each(|piece| piece.show(reader));
    Ok(())
}

/// A piece that is shown later.
enum KeptPiece {
    Open(BytesStart<'static>),
    Close(String),
    Text(String),
}

impl KeptPiece {
    fn show(&self, reader: &mut dyn BoxedReader) {
        match self {
            Self::Open(start) => reader.take(Piece::Open(start.local_name().into_inner(), &Attributes(start))),
            Self::Close(name) => reader.take(Piece::Close(name)),
            Self::Text(text) => reader.take(Piece::Text(text)),
        }
    }
}

impl From<Piece<'_>> for KeptPiece {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Open(_, attributes) => Self::Open(attributes.0.to_owned()),
            Piece::Close(name) => Self::Close(name.to_owned()),
            Piece::Text(text) => Self::Text(text.to_owned()),
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

/// Texts that a document type declares as its own entities. One with markup or with another entity in it is left out.
fn own_entities(doctype: &str) -> HashMap<String, String> {
    let subset = doctype.split_once('[').map_or("", |(_, subset)| subset);
    let entity = |declared: &str| {
        let (name, rest) = declared.trim_start().split_once(char::is_whitespace)?;
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (text, _) = rest[1..].split_once(quote)?;
        (name != "%" && text.len() <= MAX_ENTITY_BYTES && !text.contains('<'))
            .then(|| (name.to_owned(), unescaped(text)))
    };
    subset.split("<!ENTITY").skip(1).take(MOST_ENTITIES).filter_map(entity).collect()
}

/// The encoding that bytes which are not UTF-8 declare, as XML or as a page: XML 1.0, 4.3.3.
pub(super) fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]);
    let declaration = head.trim_start().strip_prefix("<?xml")?.split_once("?>")?.0;
    let (_, after) = declaration.split_once("encoding")?;
    let after = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Encoding::for_label(after[1..].split_once(quote)?.0.as_bytes())
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
