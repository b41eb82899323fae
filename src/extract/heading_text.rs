//! Text of a Markdown heading as a reader sees it: without the addresses of links, without images, without HTML.
//!
//! Does not own where headings are (`languages`, `markdown`).

use std::borrow::Cow;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Elements without attributes that format text. Others are text for people who write `Vec<T>`.
const ELEMENTS: &[&str] = &[
    "a", "b", "br", "center", "code", "div", "em", "h1", "h2", "i", "kbd", "p", "small", "span", "strong", "sub", "sup",
];

/// Returns what is shown of a heading; the descriptions of its images if it has nothing else. A heading without links, images and
/// HTML is returned as it is written, with its marks of emphasis and code.
pub(super) fn shown(written: &str) -> Cow<'_, str> {
    if !["](", "][", "<"].iter().any(|mark| written.contains(mark)) {
        return written.into();
    }
    let (mut text, mut described, mut images) = (String::new(), String::new(), 0_u32);
    for event in Parser::new(written) {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => {
                images -= 1;
                described.push(' ');
            }
            Event::Text(words) | Event::Code(words) if images > 0 => described.push_str(&words),
            Event::Text(words) => text.push_str(&words),
            Event::Code(code) => text.push_str(&format!("`{code}`")),
            Event::InlineHtml(tag) | Event::Html(tag) if !is_element(&tag) => text.push_str(&tag),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = [&text, &described].map(|text| on_one_line(text)).into_iter().find(|text| !text.is_empty());
    shown.map_or(Cow::Borrowed(written), Cow::Owned)
}

fn is_element(tag: &str) -> bool {
    let inner = tag.trim_start_matches("</").trim_start_matches('<').trim_end_matches('>').trim_end_matches('/').trim();
    tag.starts_with("<!--") || inner.contains('=') || ELEMENTS.contains(&inner.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::shown;

    /// Expected: what github.com shows of these headings, for images their description if there is nothing else.
    #[test]
    fn a_heading_is_what_a_reader_sees() {
        for (written, expected) in [
            ("Plain *text* and `code`", "Plain *text* and `code`"),
            ("[![CI](https://ci/x.svg)](https://ci) Shop", "Shop"),
            ("[![CI](https://ci/x.svg)](https://ci) [![npm](n.svg)](n)", "CI npm"),
            ("Shop <img src=\"logo.png\" width=\"20\"> &amp; co", "Shop & co"),
            ("[Shop](https://shop.example/a?b=c) of `carts`", "Shop of `carts`"),
            ("<a name=\"usage\"></a>Usage<br/>", "Usage"),
            ("Box<T> and Vec<u8>", "Box<T> and Vec<u8>"),
            ("a < b", "a < b"),
            ("1.0.0 - [2020][1]", "1.0.0 - [2020][1]"),
        ] {
            assert_eq!(shown(written), expected, "{written}");
        }
    }
}
