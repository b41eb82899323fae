//! Documents in forms that few programs write, and that their formats allow: boxes of text, readings, symbols, drawn text, reports.

use crate::documents::{archive, in_folder, read, text_of};

fn shown(name: &str, bytes: &[u8]) -> String {
    text_of(&read(name, bytes, &in_folder(4000, 0)).unwrap_or_else(|reason| panic!("{name}: {}", reason.as_str())))
}

const CONTAINER: &str =
    "<container><rootfile full-path=\"p.opf\" media-type=\"application/oebps-package+xml\"/></container>";

fn book(container: &str, manifest: &str, first: &str, chapter: &[u8]) -> Vec<u8> {
    let package =
        format!("<package><manifest>{manifest}</manifest><spine><itemref idref=\"{first}\"/></spine></package>");
    archive(&[("META-INF/container.xml", container.as_bytes()), ("p.opf", package.as_bytes()), ("c.xml", chapter)])
}

fn page(body: &str) -> String {
    format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/></head><body>{body}</body></html>")
}

/// OCF 3.3 and OPF 2.0.1: which root file is a package, what a chapter may be, which other form of a foreign one is read.
#[test]
fn chapters_are_those_that_the_package_says() {
    let item = |id: &str, path: &str, kind: &str, more: &str| {
        format!("<item id=\"{id}\" href=\"{path}\" media-type=\"{kind}\" {more}/>")
    };
    let xhtml = item("c", "c.xml", "application/xhtml+xml", "");
    let text = page("<p>The queen</p>");
    let two = "<container><rootfile full-path=\"b.pdf\" media-type=\"application/pdf\"/><rootfile full-path=\"p.opf\" \
        media-type=\"application/oebps-package+xml\"/></container>";
    let foreign = item("f", "f.pdf", "application/pdf", "fallback=\"c\"");
    let talking = "<?xml version=\"1.0\"?><dtbook xmlns=\"http://www.daisy.org/z3986/2005/dtbook/\"><book><level1><h1>The queen</h1></level1></book></dtbook>";
    let drawn =
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>no</title><text>The <tspan>queen</tspan></text></svg>";
    for (bytes, expected) in [
        (book(two, &xhtml, "c", text.as_bytes()), "The queen\n"),
        (book(CONTAINER, &(foreign + &xhtml), "f", text.as_bytes()), "The queen\n"),
        (book(CONTAINER, &item("c", "c.xml", "application/x-dtbook+xml", ""), "c", talking.as_bytes()), "The queen\n"),
        (book(CONTAINER, &item("c", "c.xml", "image/svg+xml", ""), "c", drawn.as_bytes()), "The queen\n"),
        (book(CONTAINER, &item("c", "c.xml", "image/svg+xml", "fallback=\"c\""), "f", drawn.as_bytes()), ""),
    ] {
        match expected {
            "" => assert!(read("x.epub", &bytes, &in_folder(4000, 0)).is_err()),
            _ => assert_eq!(shown("x.epub", &bytes), expected),
        }
    }
}

/// XML 1.0, 4.2.1 and 4.3.3; HTML, 15.3 (which elements are blocks) and 4.5.12 (readings); SVG 2, 11.2; EPUB 3.0, `epub:switch`.
#[test]
fn pages_are_read_by_the_rules_of_their_languages() {
    for (body, expected) in [
        (
            "<p>a</p><svg><style>.x{}</style><title>no</title><text x=\"1\">Drawn <tspan>words</tspan></text><g><text>two</text></g></svg><p>b</p>",
            "a\n\nDrawn words\ntwo\n\nb\n",
        ),
        ("<svg><svg><text>deep</text></svg><desc>no</desc></svg>", "deep\n"),
        ("<fieldset><legend>Hive</legend>seven</fieldset>", "Hive\n\nseven\n"),
        ("<p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です</p>", "漢字(かんじ)です\n"),
        ("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>です</p>", "漢字(かんじ)です\n"),
        ("<object data=\"x.svg\"><p>other form</p></object>", "other form\n"),
        (
            "<epub:switch xmlns:epub=\"e\"><epub:case><p>no</p></epub:case><epub:default><p>yes</p></epub:default></epub:switch>",
            "yes\n",
        ),
    ] {
        assert_eq!(shown("x.xhtml", page(body).as_bytes()), expected, "{body}");
    }
    // Not closed: nothing is lost.
    assert_eq!(shown("x.html", "<p><ruby>漢<rt>かん<p>です</p>".as_bytes()), "漢(かん)\n\nです\n");
    let declared = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE html [<!ENTITY hive \"Hive &amp; Co\"><!ENTITY more SYSTEM \"x\">]>{}",
        page("<p>&hive;, &eacute;&more;</p>")
    );
    assert_eq!(shown("x.xhtml", declared.as_bytes()), "Hive & Co, é\n");
    let polish = format!("<?xml version=\"1.0\" encoding=\"iso-8859-2\"?>{}", page("<p>łódź</p>"));
    let (bytes, _, _) = encoding_rs::ISO_8859_2.encode(&polish);
    let item = "<item id=\"c\" href=\"c.xml\" media-type=\"application/xhtml+xml\"/>";
    assert_eq!(shown("x.xhtml", &bytes), "łódź\n");
    assert_eq!(shown("x.epub", &book(CONTAINER, item, "c", &bytes)), "łódź\n");
}
