//! Documents in forms that few programs write, and that their formats allow: boxes of text, readings, symbols, drawn text, reports.

use expect_test::expect;
use ixmcp::extract;
use serde_json::json;

use crate::documents::{archive, in_folder, read, text_of};

fn shown(name: &str, bytes: &[u8]) -> String {
    text_of(&read(name, bytes, &in_folder(4000, 0)).unwrap_or_else(|reason| panic!("{name}: {}", reason.as_str())))
}

fn headings(name: &str, bytes: &[u8]) -> Vec<String> {
    read(name, bytes, &in_folder(4000, 0)).unwrap().symbols.into_iter().map(|symbol| symbol.name).collect()
}

fn docx(body: &str) -> Vec<u8> {
    let body = format!("<w:document><w:body>{body}</w:body></w:document>");
    archive(&[("word/document.xml", body.as_bytes())])
}

fn odt(body: &str) -> Vec<u8> {
    let body = format!("<office:document-content><office:text>{body}</office:text></office:document-content>");
    archive(&[("content.xml", body.as_bytes())])
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

fn run(text: &str) -> String {
    format!("<w:r><w:t>{text}</w:t></w:r>")
}

/// ECMA-376, part 1, 17.3.1.22 and 20.1.2.2: a box is anchored in a run, its paragraphs are not of the one around. Pandoc 3.9 reads
/// the same headings and words around frames of an ODT, and loses those of a DOCX: findings/pandoc-box-of-text.sh.
#[test]
fn a_box_of_text_does_not_divide_the_paragraph_that_it_is_anchored_in() {
    let boxed = |text: &str| {
        format!(
            "<w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p>{0}</w:p></w:txbxContent></mc:Choice><mc:Fallback><w:pict>\
             <w:txbxContent><w:p>{0}</w:p></w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r>",
            run(text)
        )
    };
    let title = "<w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr>";
    let word = docx(&format!(
        "<w:p>{title}{}{}</w:p><w:p>{}{}{}</w:p><w:tbl><w:tr><w:tc><w:p>{}{}</w:p></w:tc></w:tr></w:tbl>",
        boxed("boxed"),
        run("Hives"),
        run("wo"),
        boxed(&format!("two{}", boxed("within"))),
        run("rd"),
        run("cell"),
        boxed("three")
    ));
    assert_eq!(shown("x.docx", &word), "Hives\n\nboxed\n\nword\n\ntwo\n\nwithin\ncell three\n");
    assert_eq!(headings("x.docx", &word), ["Hives"]);
    let open = odt(
        "<text:h text:outline-level=\"1\">Hi<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>ves</text:h>\
         <text:p>wo<draw:custom-shape><text:p>two</text:p></draw:custom-shape>rd</text:p>",
    );
    assert_eq!(shown("x.odt", &open), "Hives\n\nboxed\n\nword\n\ntwo\n");
    assert_eq!(headings("x.odt", &open), ["Hives"]);
    // Deep ones cost no stack.
    let deep = docx(&format!("<w:p>{}{}", "<w:txbxContent><w:p>".repeat(50_000), run("end")));
    assert_eq!(shown("x.docx", &deep), "end\n");
}

/// By pandoc 3.9, but for readings, which it leaves out of both: HTML (4.5.12) writes them in parentheses where they cannot be above.
#[test]
fn symbols_readings_and_captions_of_word_and_odt_are_read() {
    let symbol = |font: &str, code: &str| format!("<w:r><w:sym w:font=\"{font}\" w:char=\"{code}\"/></w:r>");
    for (body, expected) in [
        (format!("<w:p>{}{}{}</w:p>", run("20 "), symbol("Symbol", "F0B0"), run("C")), "20 °C\n"),
        (format!("<w:p>{}{}{}</w:p>", run("a"), symbol("Symbol", "61"), symbol("Arial", "00E9")), "aαé\n"),
        (
            format!(
                "<w:p><w:r><w:rPr><w:rFonts w:ascii=\"Symbol\" w:hAnsi=\"Symbol\"/></w:rPr><w:t>\u{f062}</w:t></w:r>{}</w:p>",
                run(" rays")
            ),
            "β rays\n",
        ),
        // Pandoc 3.9.
        (format!("<w:p>{}{}{}</w:p>", run("a"), symbol("Wingdings", "F0E0"), run("b")), "a🡪b\n"),
        (format!("<w:p>{}{}</w:p>", symbol("Wingdings", "F0FC"), symbol("wingdings", "FE")), "✔🗹\n"),
        (format!("<w:p>{}{}{}</w:p>", run("a"), symbol("Webdings", "F0E0"), run("b")), "a b\n"),
        (
            format!(
                "<w:p><w:pPr><w:framePr w:dropCap=\"drop\"/></w:pPr>{}</w:p><w:p><w:pPr><w:tabs><w:tab w:pos=\"7\"/></w:tabs></w:pPr>{}</w:p>",
                run("D"),
                run("rop cap")
            ),
            "Drop cap\n",
        ),
        (format!("<w:p>{}<w:r><w:ptab/></w:r>{}</w:p>", run("left"), run("right")), "left right\n"),
        (
            format!(
                "<w:p><w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>{}</w:p>",
                run("かんじ"),
                run("漢字"),
                run("です")
            ),
            "漢字(かんじ)です\n",
        ),
        (
            format!(
                "<w:tbl><w:tblPr><w:tblCaption w:val=\"Yield\"/><w:tblDescription w:val=\"by hive\"/></w:tblPr><w:tr><w:tc><w:p>{}</w:p></w:tc></w:tr></w:tbl>",
                run("7")
            ),
            "Yield by hive\n7\n",
        ),
    ] {
        assert_eq!(shown("x.docx", &docx(&body)), expected, "{body}");
    }
    for (body, expected) in [
        ("<text:h><text:number>1.1</text:number>Hives</text:h>", "Hives\n"),
        ("<text:p>a<text:script script:language=\"JavaScript\">alert(1)</text:script>b</text:p>", "ab\n"),
        (
            "<text:p><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>です</text:p>",
            "漢字(かんじ)です\n",
        ),
    ] {
        assert_eq!(shown("x.odt", &odt(body)), expected, "{body}");
    }
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

/// By pandoc 3.9, which shows the richest form; nbformat 5.11 for the names of the forms in versions 3 and 4.
#[test]
fn a_display_of_a_notebook_is_read_in_the_form_that_has_words() {
    let of_version_4 = |data: serde_json::Value| {
        json!({ "nbformat": 4, "cells": [{ "cell_type": "code", "source": "x",
            "outputs": [{ "output_type": "display_data", "metadata": {}, "data": data }] }] })
    };
    for (notebook, expected) in [
        (
            of_version_4(
                json!({ "text/plain": "<IPython.core.display.Markdown object>", "text/markdown": ["The *queen*"] }),
            ),
            "The *queen*",
        ),
        (
            of_version_4(
                json!({ "text/plain": "<IPython.core.display.HTML object>", "text/html": "<p>The <b>queen</b></p>" }),
            ),
            "The queen",
        ),
        (of_version_4(json!({ "text/html": "<p>The queen</p>" })), "The queen"),
        (of_version_4(json!({ "text/plain": "   a\n0  1", "text/html": "<table></table>" })), "   a\n0  1"),
        (
            of_version_4(json!({ "text/plain": "<Figure size 640x480 with 1 Axes>", "image/png": "eA==" })),
            "<Figure size 640x480 with 1 Axes>",
        ),
        (
            json!({ "nbformat": 3, "worksheets": [{ "cells": [{ "cell_type": "code", "input": "x",
                "outputs": [{ "output_type": "display_data", "html": ["<p>The queen</p>"] }] }] }] }),
            "The queen",
        ),
    ] {
        assert_eq!(shown("x.ipynb", notebook.to_string().as_bytes()), format!("x\n\n{expected}\n"));
    }
}

fn mail(head: &str, body: &[u8]) -> String {
    shown("x.eml", &[b"Subject: s\r\n", head.as_bytes(), b"\r\n\r\n", body].concat())
}

/// Names of encodings as Python 3.11 knows them; RFC 2046, 4.1.2: text without a name, or that is said to be ASCII.
#[test]
fn text_of_a_mail_is_decoded_whatever_its_encoding_is_called() {
    let typed = |kind: &str| format!("Content-Type: {kind}");
    let encoded = |encoding: &'static encoding_rs::Encoding, text: &str| encoding.encode(text).0.into_owned();
    for (kind, bytes, expected) in [
        ("text/plain; charset=cp932", encoded(encoding_rs::SHIFT_JIS, "日本語"), "日本語"),
        ("text/plain; charset=\"CP949\"", encoded(encoding_rs::EUC_KR, "안녕하세요"), "안녕하세요"),
        ("text/plain; charset=cp950", encoded(encoding_rs::BIG5, "你好"), "你好"),
        ("text/plain; charset=us-ascii", "Grüße aus Köln".into(), "Grüße aus Köln"),
        ("text/plain; charset=iso-8859-1", encoded(encoding_rs::WINDOWS_1252, "Grüße"), "Grüße"),
        (
            "text/plain",
            encoded(encoding_rs::WINDOWS_1252, "Viele Grüße aus der Straße in Köln"),
            "Viele Grüße aus der Straße in Köln",
        ),
        (
            "text/html",
            encoded(encoding_rs::WINDOWS_1251, "<meta charset=\"windows-1251\"><p>Привет мир</p>"),
            "Привет мир",
        ),
        ("text/plain; charset=utf-8", b"Gr\xc3\xbc\xff\xc3\x9fe".to_vec(), "Grü\u{fffd}ße"),
    ] {
        assert_eq!(mail(&typed(kind), &bytes), format!("s\n\n{expected}\n"), "{kind}");
    }
    let quoted = "Content-Type: text/plain; charset=cp932\r\nContent-Transfer-Encoding: quoted-printable";
    assert_eq!(mail(quoted, b"=93=FA=96{=8C=EA"), "s\n\n日本語\n");
    let utf_16 = "//5SAPYAcwBjAGgAZQBuACAAGyAgAFMAdAByAGEA3wBlAA==";
    for (kind, encoding, body, expected) in [
        (
            "text/csv",
            "quoted-printable",
            "Viele Gr=FC=DFe aus der Stra=DFe in K=F6ln",
            "Viele Grüße aus der Straße in Köln",
        ),
        (
            "text/csv",
            "base64",
            "VmllbGUgR3L832UgYXVz\r\nIGRlciBTdHJh32UgaW4gS/Zsbg==",
            "Viele Grüße aus der Straße in Köln",
        ),
        ("text/csv", "base64", utf_16, "Röschen ‛ Straße"),
        ("text/plain; charset=cp932", "base64", "k/qWe4zq", "日本語"),
        (
            "text/html",
            "quoted-printable",
            "<meta charset=3D\"windows-1251\"><p>=CF=F0=E8=E2=E5=F2 =EC=E8=F0",
            "Привет мир",
        ),
    ] {
        let part = format!(
            "--b\r\nContent-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\nContent-Disposition: attachment; filename=a\r\n\r\n{body}\r\n--b--\r\n"
        );
        let shown = mail("Content-Type: multipart/mixed; boundary=b", part.as_bytes());
        assert_eq!(shown, format!("s\n\nAttachment: a\n\n{expected}\n"), "{kind} {encoding}");
    }
}

/// By Python 3.11's `email`, which guesses no encoding of bytes that are not ASCII.
#[test]
fn the_head_of_a_mail_is_decoded_as_a_whole() {
    let of = |subject: &[u8]| {
        let mail = [b"From: a@b.example\r\nSubject: ", subject, b"\r\n\r\nx\r\n"].concat();
        shown("x.eml", &mail).lines().next().unwrap().to_owned()
    };
    for (subject, expected) in [
        (&b"=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?="[..], "caf\u{e9}"),
        (b"=?utf-8?Q?caf=C3?=\r\n =?UTF-8?q?=A9_au?= lait =?utf-8?B?4oKs?=", "caf\u{e9} au lait \u{20ac}"),
        (b"=?utf-8?B?w4M=?= =?utf-8?B?w6k=?=", "\u{c3}\u{e9}"),
        (b"=?iso-8859-1?Q?Stra=DFe?= =?utf-8?Q?_=C3=A9?=", "Stra\u{df}e \u{e9}"),
        (b"=?no word =?utf-8?Q?=C3=A9?= =?", "=?no word \u{e9} =?"),
        (b"Viele Gr\xfc\xdfe aus der Stra\xdfe in K\xf6ln", "Viele Gr\u{fc}\u{df}e aus der Stra\u{df}e in K\u{f6}ln"),
        ("Gr\u{fc}\u{df}e".as_bytes(), "Gr\u{fc}\u{df}e"),
    ] {
        assert_eq!(of(subject), expected, "{}", String::from_utf8_lossy(subject));
    }
}

/// RFC 3676, 4.1 and 4.2, RFC 3464 and RFC 5322, 3.4: by Python 3.11's `email`, which does not join lines.
#[test]
fn broken_lines_reports_invitations_and_groups_of_a_mail_are_read() {
    let flowed = "Content-Type: text/plain; format=flowed; delsp=yes";
    let text = "An exam \r\nple of  \r\ntwo.\r\n> quo \r\n> ted\r\n-- \r\nsig\r\n";
    assert_eq!(mail(flowed, text.as_bytes()), "s\n\nAn example of two.\n> quoted\n--\nsig\n");
    let parts = |kind: &str, parts: &[(&str, &str)]| {
        let part = |(kind, text): &(&str, &str)| format!("--b\r\nContent-Type: {kind}\r\n\r\n{text}\r\n");
        let body = parts.iter().map(part).collect::<String>() + "--b--\r\n";
        mail(&format!("Content-Type: multipart/{kind}; boundary=b"), body.as_bytes())
    };
    let report = parts(
        "report; report-type=delivery-status",
        &[
            ("text/plain", "Not delivered"),
            (
                "message/delivery-status",
                "Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; queen@hive.example",
            ),
            ("text/rfc822-headers", "Subject: Swarm"),
        ],
    );
    expect![[r#"
        s

        Not delivered

        Reporting-MTA: dns; mx.example

        Final-Recipient: rfc822; queen@hive.example

        Subject: Swarm
    "#]]
    .assert_eq(&report);
    let invitation = [("text/plain", "Come"), ("text/calendar", "SUMMARY:Swarm")];
    assert_eq!(parts("mixed", &invitation), "s\n\nCome\n\nSUMMARY:Swarm\n");
    assert_eq!(parts("alternative", &invitation), "s\n\nCome\n");
    let to = mail("To: Keepers: a@b.example, Bea <b@b.example>;", b"x");
    assert_eq!(to, "s\n\nTo: Keepers: a@b.example, Bea <b@b.example>\n\nx\n");
}

/// Words of poppler 22.12 and PDFium: a glyph that is drawn twice in its place is one, and a soft hyphen divides a word at a line's end.
#[test]
fn glyphs_that_are_drawn_twice_are_read_once() {
    let shown = |content: &str| {
        let mut file = b"%PDF-1.5\n".to_vec();
        let mut places = Vec::new();
        let content =
            [format!("<</Length {}>>\nstream\n", content.len()).as_bytes(), content.as_bytes(), b"\nendstream"]
                .concat();
        let objects: [&[u8]; 5] = [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>",
            &content,
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        ];
        for (object, number) in objects.iter().zip(1..) {
            places.push(file.len());
            file.extend([format!("{number} 0 obj\n").as_bytes(), object, b"\nendobj\n"].concat());
        }
        let table = file.len();
        file.extend(b"xref\n0 6\n0000000000 65535 f \n");
        places.iter().for_each(|place| file.extend(format!("{place:010} 00000 n \n").as_bytes()));
        file.extend(format!("trailer<</Size 6/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n").as_bytes());
        let path = ixmcp::model::RepoPath::new("x.pdf").unwrap();
        extract::extract(&path, &file, &extract::Options::default()).unwrap().chunks[0].text.clone()
    };
    let twice = "BT /F1 12 Tf 72 700 Td (Bold) Tj ET BT /F1 12 Tf 72.3 700 Td (Bold) Tj ET BT /F1 12 Tf 110 700 Td (fall...) Tj ET";
    assert_eq!(shown(twice), "Bold fall...\n");
    let soft = "BT /F1 12 Tf 72 700 Td (auto\\255) Tj 0 -14 Td (matic) Tj ET";
    assert_eq!(shown(soft), "automatic\n");
}
