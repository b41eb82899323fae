//! HTML as a page to be read: its text, block by block.
//!
//! Tags are taken as they come, open or closed, nested or not, as browsers do; nothing is kept of them.

use encoding_rs::Encoding;
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use super::Document;
use super::flow::Flow;
use crate::model::SkipReason;

/// Elements that are not shown.
const NOT_SHOWN: &[&str] =
    &["script", "style", "template", "noscript", "svg", "iframe", "object", "select", "datalist"];

const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "ul",
];

/// A page declares its encoding within this many bytes.
const DECLARED_WITHIN: usize = 2048;

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let (text, encoding) = decoded(bytes)?;
    let mut flow = Flow::default();
    take(&text, &mut flow);
    Ok(Document { encoding, ..flow.finish()? })
}

/// Decoded by its byte order mark, as UTF-8, as declared, or as detected.
fn decoded(bytes: &[u8]) -> Result<(String, Option<&'static str>), SkipReason> {
    let is_marked = Encoding::for_bom(bytes).is_some();
    if !is_marked
        && std::str::from_utf8(bytes).is_err()
        && let Some(declared) = declared(&bytes[..bytes.len().min(DECLARED_WITHIN)])
        && let Some(text) = declared.decode_without_bom_handling_and_without_replacement(bytes)
    {
        return Ok((text.into_owned(), Some(declared.name())));
    }
    let decoded = super::super::text::decode(bytes)?;
    Ok((decoded.text.into_owned(), decoded.encoding))
}

fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, after) = head.split_once("charset=")?;
    let name: String = after
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_:".contains(*c))
        .collect();
    Encoding::for_label(name.as_bytes())
}

/// Adds the text of a page, which begins with its title where it has no heading of its own.
pub(super) fn take(text: &str, flow: &mut Flow) {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = Page { hidden: None, title: None, in_title: false, in_pre: 0 };
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let shown = tag.attributes.get(b"alt".as_slice()).filter(|_| name == "img");
                page.open(&name, tag.self_closing, flow);
                if let Some(shown) = shown {
                    page.show(&String::from_utf8_lossy(shown), flow);
                }
            }
            Token::EndTag(tag) => page.close(&String::from_utf8_lossy(&tag.name), flow),
            Token::String(text) => page.show(&String::from_utf8_lossy(&text), flow),
            _ => {}
        }
        if flow.is_overfull() {
            return;
        }
    }
    flow.end_heading();
    flow.block();
}

struct Page {
    /// The element that hides what is in it, and how often it is open.
    hidden: Option<(String, usize)>,
    /// Until a heading says it or a word is shown.
    title: Option<String>,
    in_title: bool,
    in_pre: usize,
}

impl Page {
    fn open(&mut self, name: &str, is_empty: bool, flow: &mut Flow) {
        if let Some((hiding, depth)) = &mut self.hidden {
            *depth += usize::from(hiding == name && !is_empty);
            return;
        }
        if NOT_SHOWN.contains(&name) && !is_empty {
            self.hidden = Some((name.to_owned(), 1));
            return;
        }
        match name {
            "title" => {
                self.in_title = true;
                self.title = Some(String::new());
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.title = None;
                flow.begin_heading(name.as_bytes()[1] - b'0');
            }
            "br" | "li" | "tr" | "option" => flow.line(),
            "td" | "th" => flow.cell(),
            "pre" => {
                self.in_pre += 1;
                flow.block();
            }
            _ if BLOCKS.contains(&name) => flow.block(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, flow: &mut Flow) {
        if let Some((hiding, depth)) = &mut self.hidden {
            *depth -= usize::from(hiding == name);
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        match name {
            "title" => self.in_title = false,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => flow.end_heading(),
            "li" | "tr" => flow.line(),
            "pre" => {
                self.in_pre = self.in_pre.saturating_sub(1);
                flow.block();
            }
            _ if BLOCKS.contains(&name) => flow.block(),
            _ => {}
        }
    }

    fn show(&mut self, text: &str, flow: &mut Flow) {
        if self.hidden.is_some() {
            return;
        }
        if self.in_title {
            self.title.get_or_insert_default().push_str(text);
            return;
        }
        if !text.trim().is_empty()
            && let Some(title) = self.title.take()
            && !title.trim().is_empty()
        {
            flow.heading(1, &title);
        }
        if self.in_pre > 0 { flow.verbatim(text) } else { flow.words(text) }
    }
}
