//! Documents: what readers make of files that programs wrote, and of files that somebody broke.
//!
//! `UPDATE_EXPECT=1 cargo test documents` rewrites the expectations; read the difference.

use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use expect_test::{expect, expect_file};
use ixmcp::extract::{self, Chunking, FORMATS, Options};
use ixmcp::model::{Extracted, RepoPath, SkipReason};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::support::harness::Repo;
use crate::support::sound::{dump, fresh_dump, open, sync};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents")
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

fn fixtures() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".expect") && name != "README.md");
    names.sort();
    names
}

/// Options of a folder that is indexed as documents.
pub fn in_folder(size: usize, overlap: usize) -> Options {
    Options { folder: Some(Chunking { size, overlap }), ..Options::default() }
}

pub fn read(name: &str, bytes: &[u8], options: &Options) -> Result<Extracted, SkipReason> {
    extract::extract(&RepoPath::new(name).unwrap(), bytes, options)
}

pub fn text_of(extracted: &Extracted) -> String {
    extracted.chunks.iter().map(|chunk| chunk.text.as_str()).collect()
}

fn render(extracted: Result<Extracted, SkipReason>) -> String {
    let extracted = match extracted {
        Ok(extracted) => extracted,
        Err(reason) => return format!("skipped: {}\n", reason.as_str()),
    };
    let mut text = format!("{}, {} lines", extracted.language, extracted.lines);
    text.push_str(&extracted.encoding.map_or_else(String::new, |encoding| format!(", {encoding}")));
    text.push('\n');
    for symbol in &extracted.symbols {
        let container = symbol.container.as_deref().map_or_else(String::new, |container| format!(" in {container}"));
        writeln!(text, "{} {}{container} [{}-{}]", symbol.kind, symbol.name, symbol.start_line, symbol.end_line)
            .unwrap();
    }
    for chunk in &extracted.chunks {
        let page = chunk.page.map_or_else(String::new, |page| format!(" page {page}"));
        let headings = chunk.headings.replace('\n', " > ");
        writeln!(text, "\n--- {}-{} @{}{page} {headings}", chunk.start_line, chunk.end_line, chunk.start_offset)
            .unwrap();
        // Expectations are compared without it.
        text.push_str(&chunk.text.replace('\r', ""));
    }
    for problem in &extracted.problems {
        writeln!(text, "problem: {}", problem.reason).unwrap();
    }
    text
}

#[test]
fn every_format_gives_its_golden_text() {
    let names = fixtures();
    for format in FORMATS {
        let has_one = names.iter().any(|name| format.extensions.iter().any(|end| name.ends_with(&format!(".{end}"))));
        assert!(has_one, "{} has no fixture", format.name);
    }
    for name in names {
        let extracted = read(&name, &fixture(&name), &in_folder(600, 0));
        expect_file![folder().join(format!("{name}.expect"))].assert_eq(&render(extracted));
    }
}

/// One text in seven formats: a query need not know which.
#[test]
fn the_same_words_are_read_from_every_format() {
    for format in ["docx", "odt", "epub", "html", "ipynb", "pdf", "rst"] {
        let extracted =
            read(&format!("x.{format}"), &fixture(&format!("manual.{format}")), &in_folder(500, 0)).unwrap();
        let text = text_of(&extracted).split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "A hive wants morning sun and shelter from the wind.",
            "The queen lays up to two thousand eggs a day.",
            "Do not open the lid below eight degrees Celsius.",
            "naïve œuvre",
            "an efficient office",
            "def weight(hive):",
        ] {
            assert!(text.contains(words), "{format} lacks {words:?}: {text}");
        }
        let winter = extracted.chunks.iter().find(|chunk| chunk.text.contains("huddle")).unwrap();
        let reported = format!("{}\n{}", winter.headings, winter.names);
        assert!(reported.lines().any(|heading| heading == "Winter"), "{format}: {reported:?}");
        // Letters of one size say nothing of levels.
        let above = winter.headings.lines().any(|heading| heading.ends_with("a colony"));
        assert!(above || format == "pdf", "{format}: {reported:?}");
    }
}

#[test]
fn pages_are_numbered_as_they_come() {
    let extracted = read("x.pdf", &fixture("typeset.pdf"), &in_folder(300, 50)).unwrap();
    let page = |words: &str| extracted.chunks.iter().find(|chunk| chunk.text.contains(words)).unwrap().page;
    assert_eq!(page("dancing"), Some(1));
    assert_eq!(page("moved at night"), Some(2));
}

/// Chunks cover the text once; what they overlap by is next to it and comes from before.
#[test]
fn sizes_and_overlaps_hold_for_every_document() {
    for name in fixtures() {
        for (size, overlap) in [(1000, 200), (120, 40), (60, 59), (37, 0), (1, 0)] {
            let Ok(extracted) = read(&name, &fixture(&name), &in_folder(size, overlap)) else { continue };
            let whole = text_of(&extracted);
            let mut before = String::new();
            for chunk in &extracted.chunks {
                let (lead, length) = (chunk.lead.chars().count(), chunk.text.chars().count());
                assert!(before.ends_with(&chunk.lead), "{name}: {:?} is not what came before", chunk.lead);
                assert!(lead <= overlap && lead + length <= size, "{name} {size}/{overlap}: {lead} + {length}");
                assert_eq!(chunk.start_offset as usize, before.chars().count(), "{name}");
                before.push_str(&chunk.text);
            }
            assert_eq!(before, whole);
            if overlap == 200 && extracted.chunks.len() > 1 && extracted.chunks[0].text.chars().count() > 200 {
                assert!(extracted.chunks[1].lead.chars().count() > 100, "{name} overlaps by too little");
            }
        }
    }
}

#[test]
fn a_long_line_is_cut_between_sentences_or_words() {
    let sentence = "Bees fly far, and they come home with what they found. ";
    let page = format!("<p>{}</p><p>{}</p>", sentence.repeat(40), "x".repeat(500));
    let extracted = read("x.html", page.as_bytes(), &in_folder(200, 0)).unwrap();
    for chunk in extracted.chunks.iter().filter(|chunk| chunk.text.contains("Bees")) {
        assert!(chunk.text.starts_with("Bees") && chunk.text.trim_end().ends_with('.'), "{:?}", chunk.text);
    }
    assert_eq!(text_of(&extracted).matches('x').count(), 500);
}

#[test]
fn html_is_source_in_a_repository_and_text_in_a_folder_of_documents() {
    let page = "<html><body><h1 id=top>Title</h1><p>one <b>two</b></p></body></html>\n";
    let source = read("x.html", page.as_bytes(), &Options::default()).unwrap();
    assert_eq!(text_of(&source), page);
    let document = read("x.html", page.as_bytes(), &in_folder(1000, 0)).unwrap();
    assert_eq!(text_of(&document), "Title\n\none two\n");
}

pub fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn documents_that_defeat_their_reader_are_skipped_with_the_reason() {
    let zeros = vec![b' '; 200 << 20];
    let bomb = archive(&[("word/document.xml", &zeros)]);
    assert!(bomb.len() < 1 << 20, "a bomb is small");
    let paragraph = format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "word ".repeat(1000));
    let long = archive(&[("word/document.xml", format!("<w:body>{}</w:body>", paragraph.repeat(4000)).as_bytes())]);
    let locked_odt = archive(&[
        ("META-INF/manifest.xml", b"<manifest:encryption-data/>"),
        ("content.xml", b"<office:text><text:p>no</text:p></office:text>"),
    ]);
    let laughs = "<!DOCTYPE a [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;\">]><w:body><w:t>&b;</w:t></w:body>";
    let cases: Vec<(&str, Vec<u8>, SkipReason)> = vec![
        ("bomb.docx", bomb, SkipReason::Overfull),
        ("long.docx", long, SkipReason::Overfull),
        ("locked.odt", locked_odt, SkipReason::Encrypted),
        ("locked.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on".to_vec(), SkipReason::Encrypted),
        ("locked.pdf", fixture("locked.pdf"), SkipReason::Encrypted),
        ("laughs.docx", archive(&[("word/document.xml", laughs.as_bytes())]), SkipReason::NoText),
        ("empty.docx", archive(&[]), SkipReason::MissingPart),
        ("not.docx", b"words".to_vec(), SkipReason::BrokenArchive),
        ("tags.docx", archive(&[("word/document.xml", b"<w:p><w:r><w:t>words</w:t")]), SkipReason::BrokenXml),
        ("cut.odt", fixture("manual.odt")[..5000].to_vec(), SkipReason::BrokenArchive),
        ("none.odt", archive(&[("styles.xml", b"<a/>")]), SkipReason::MissingPart),
        ("not.pdf", b"words".to_vec(), SkipReason::Malformed),
        ("not.epub", archive(&[("content.xml", b"<a/>")]), SkipReason::MissingPart),
        ("not.ipynb", b"{\"cells\": 1}".to_vec(), SkipReason::Malformed),
        ("deep.ipynb", format!("{{\"cells\": {}", "[".repeat(100_000)).into_bytes(), SkipReason::Malformed),
        ("blank.html", b"<html><script>no()</script></html>".to_vec(), SkipReason::NoText),
        ("not.eml", b"\r\nno header".to_vec(), SkipReason::Malformed),
        ("empty.eml", b"\r\n ".to_vec(), SkipReason::NoText),
    ];
    for (name, bytes, reason) in cases {
        assert_eq!(read(name, &bytes, &in_folder(1000, 0)).err(), Some(reason), "{name}");
    }
}

#[test]
fn a_document_is_read_without_parts_that_are_broken() {
    let body = "<w:p><w:r><w:t>in the text</w:t></w:r></w:p>";
    let file = archive(&[
        ("word/document.xml", body.as_bytes()),
        ("word/styles.xml", b"<w:style <w:name"),
        ("word/footnotes.xml", b"<w:p <w:t"),
    ]);
    let read = read("x.docx", &file, &in_folder(1000, 0)).unwrap();
    assert_eq!(text_of(&read), "in the text\n");
    let why = "was not read (broken_xml: the XML of its text is not well-formed; open it with the program that wrote it, and save it again)";
    assert_eq!(reasons(&read), [format!("word/styles.xml {why}"), format!("word/footnotes.xml {why}")]);
}

#[test]
fn mail_whose_parts_nothing_divides_keeps_its_text() {
    let text = |kind: &str, body: &[u8]| {
        let head = format!("Subject: hives\r\nFrom: anna@example.org\r\nContent-Type: {kind}\r\n\r\n");
        text_of(&read("x.eml", &[head.as_bytes(), body].concat(), &in_folder(1000, 0)).unwrap())
    };
    let body = b"The queen is gone.\r\n\r\nLook on Monday.\r\n";
    for kind in [
        "multipart/mixed",
        "multipart/alternative; charset=utf-8",
        "Multipart/Report; boundary=\"\"",
        "multipart/mixed; boundary=never",
        "multipart/related; boundary=never; type=\"text/html\"",
    ] {
        let read = text(kind, body);
        assert!(read.starts_with("hives\n"), "{kind}: {read}");
        assert!(read.ends_with("The queen is gone.\n\nLook on Monday.\n"), "{kind}: {read}");
    }
    let [plain, bounded] = ["multipart/mixed", "multipart/mixed; boundary=never"]
        .map(|kind| text(kind, b"Gr\xfc\xdfe aus K\xf6ln, Anna\r\n"));
    expect![[r#"
        hives

        From: anna@example.org

        Grüße aus Köln, Anna
    "#]]
    .assert_eq(&plain);
    assert_eq!(bounded, plain);
    // Within another that is divided, next to what is there.
    let inner = b"--b\r\n\r\nfirst\r\n--b\r\nContent-Type: multipart/alternative\r\n\r\nsecond\r\n--b--\r\n";
    expect![[r#"
        hives

        From: anna@example.org

        first

        second
    "#]]
    .assert_eq(&text("multipart/mixed; boundary=b", inner));
    // What a divided one has before and behind its parts is for programs that know of none.
    let divided = b"no MIME here\r\n--b\r\n\r\nonly this\r\n--b--\r\nnor here\r\n";
    expect![[r#"
        hives

        From: anna@example.org

        only this
    "#]]
    .assert_eq(&text("multipart/mixed; boundary=b", divided));
}

#[test]
fn mail_of_an_unknown_type_is_text() {
    for kind in ["text; charset=us-ascii", "text"] {
        let mail = format!("Subject: hives\r\nMIME-Version: 1.0\r\nContent-Type: {kind}\r\n\r\nThe queen is gone.\r\n");
        let read = text_of(&read("x.eml", mail.as_bytes(), &in_folder(1000, 0)).unwrap());
        assert!(read.ends_with("The queen is gone.\n"), "{kind}: {read}");
    }
}

/// Text between elements keeps its distance where white space counts.
#[test]
fn code_on_a_page_keeps_its_words_lines_and_indentation() {
    let page = "<pre>\n<span>async</span> <span>def</span> <em>main</em>():\n    <span>await</span><span> </span><b>bell</b>()\n\n  \n\
        CREATE USER <em><code>name</code></em> [ WITH ]  \n</pre><p><b>bold</b> <i>plain</i></p><pre>x <b>y</b> z<br>  w</pre>";
    let read = text_of(&read("x.html", page.as_bytes(), &in_folder(1000, 0)).unwrap());
    let shown = "async def main():\n    await bell()\n\nCREATE USER name [ WITH ]\n\nbold plain\n\nx y z\n  w\n";
    assert_eq!(read, shown);
}

#[test]
fn a_word_document_is_read_by_what_its_parts_say_they_are() {
    let of_type = |kind: &str, target: &str| {
        format!(
            "<Relationships><Relationship Type=\"http://x/relationships/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    let text = |words: &str| format!("<w:p><w:r><w:t>{words}</w:t></w:r></w:p>");
    for target in ["word/document2.xml", "/word/document2.xml"] {
        let file = archive(&[
            ("_rels/.rels", of_type("officeDocument", target).as_bytes()),
            ("word/_rels/document2.xml.rels", of_type("footnotes", "notes7.xml").as_bytes()),
            ("word/document2.xml", text("in the text").as_bytes()),
            ("word/notes7.xml", text("in a note").as_bytes()),
        ]);
        let read = text_of(&read("x.docx", &file, &in_folder(1000, 0)).unwrap());
        assert_eq!(read, "in the text\n\nin a note\n", "{target}");
    }
}

/// A mail of such a body, whose parts `b` divides.
fn divided(body: &[u8]) -> Extracted {
    let head = b"Subject: hives\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n";
    read("x.eml", &[head, body].concat(), &in_folder(1000, 0)).unwrap()
}

pub fn reasons(extracted: &Extracted) -> Vec<&str> {
    extracted.problems.iter().map(|problem| problem.reason.as_str()).collect()
}

#[test]
fn mail_that_is_cut_off_keeps_what_came() {
    let inner = "--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain\r\n\r\nin the other";
    for (parts, last) in [
        ("--b\r\n\r\nthe only one", "the only one"),
        ("--b\r\n\r\nthe first\r\n--b\r\n\r\nthe second\r\n", "the second"),
        (&format!("--b\r\n\r\nthe first\r\n{inner}"), "in the other"),
    ] {
        let cut = divided(parts.as_bytes());
        assert!(text_of(&cut).trim_end().ends_with(last), "{parts}: {}", text_of(&cut));
        assert_eq!(reasons(&cut), ["it ends before its last part does"], "{parts}");
    }
    let whole = divided(b"--b\r\n\r\nthe whole\r\n--b--\r\n");
    assert_eq!((text_of(&whole).contains("the whole"), reasons(&whole).len()), (true, 0), "{}", text_of(&whole));
}

#[test]
fn text_that_is_attached_to_a_mail_is_read_below_its_name() {
    let part = |head: &str, body: &[u8]| [b"--b\r\n", head.as_bytes(), b"\r\n\r\n", body, b"\r\n"].concat();
    let named = |kind: &str, name: &str| {
        format!("Content-Type: {kind}\r\nContent-Disposition: attachment; filename=\"{name}\"")
    };
    let mail = |parts: &[Vec<u8>]| {
        divided(&[&part("Content-Type: text/plain", b"See below."), &parts.concat(), &b"--b--\r\n"[..]].concat())
    };
    let all = text_of(&mail(&[
        part(&named("text/csv", "weights.csv"), b"hive,kg\r\nlinden,41"),
        part(&named("text/html", "page.html"), b"<p>Brood in <b>five</b> frames</p>"),
        part(&named("application/octet-stream", "todo.md"), b"# Todo\r\n\r\nBuy wax"),
        part(&named("text/plain", "koeln.txt"), b"Gr\xfc\xdfe aus K\xf6ln, Anna"),
        part(&named("text/plain; charset=iso-8859-1", "gras.txt"), b"Gr\xfcnes Gras"),
        part(&named("application/json; name=x", "scale.json"), b"{\"queen\": 1}"),
        part("Content-Disposition: attachment", b"nameless words"),
    ]));
    let reported = "See below.\n\nAttachment: weights.csv\n\nhive,kg\nlinden,41\n\nAttachment: page.html\n\nBrood in five frames\n\n\
        Attachment: todo.md\n\n# Todo\n\nBuy wax\n\nAttachment: koeln.txt\n\nGrüße aus Köln, Anna\n\nAttachment: gras.txt\n\n\
        Grünes Gras\n\nAttachment: scale.json\n\n{\"queen\": 1}\n\nnameless words\n";
    assert!(all.ends_with(reported), "{all}");
    // What is not a text to read is named, as it was.
    let all = text_of(&mail(&[
        part(&named("text/plain", "noise.txt"), b"\x00\x01\x02"),
        part(&named("text/rtf", "letter.rtf"), b"{\\rtf1 hidden}"),
        part(&named("image/svg+xml", "logo.svg"), b"<svg>hidden</svg>"),
        part(&named("application/pdf", "plan.pdf"), b"%PDF-1.4 hidden"),
        part(&named("application/pkcs7-signature", "smime.p7s"), b"hidden"),
    ]));
    let reported = "Attachment: noise.txt\nAttachment: letter.rtf\nAttachment: logo.svg\nAttachment: plan.pdf\nAttachment: smime.p7s\n";
    assert!(all.ends_with(reported), "{all}");
    // What is too long is left out and said, and takes nothing along: neither by itself nor many together.
    let long = |bytes: usize| part(&named("text/plain", "log.txt"), "wax and honey\r\n".repeat(bytes / 15).as_bytes());
    for parts in [vec![long(5 << 20)], vec![long(2_000_000); 12]] {
        let read = mail(&[parts, vec![part(&named("text/plain", "last.txt"), b"the end")]].concat());
        assert_eq!(reasons(&read), ["attachments that are too long are named alone"]);
        let all = text_of(&read);
        assert!(all.contains("See below.") && all.contains("Attachment: log.txt") && all.contains("the end"));
    }
    let words = "wax and honey\r\n".repeat(1_000_000);
    let inner = format!("Subject: inner\r\n\r\n{words}the end of it");
    let read = mail(&[long(2_000_000), long(2_000_000), part("Content-Type: message/rfc822", inner.as_bytes())]);
    assert!(text_of(&read).contains("the end of it"), "a message goes before what is attached to another");
}

#[test]
fn nesting_costs_no_stack() {
    let open = "<w:p><w:r>".repeat(200_000);
    let deep = archive(&[("word/document.xml", format!("{open}<w:t>at the bottom</w:t>").as_bytes())]);
    assert_eq!(text_of(&read("x.docx", &deep, &in_folder(1000, 0)).unwrap()), "at the bottom\n");
    let deep = format!("{}at the bottom", "<div><svg><p>".repeat(200_000).replace("<svg>", ""));
    assert_eq!(text_of(&read("x.html", deep.as_bytes(), &in_folder(1000, 0)).unwrap()), "at the bottom\n");
    let boundary = |level: usize| format!("Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n");
    let deep = format!("Subject: deep\r\n{}\r\nat the bottom", (0..5000).map(boundary).collect::<String>());
    assert!(read("x.eml", deep.as_bytes(), &in_folder(1000, 0)).is_ok());
}

/// Bytes changed, cut and doubled at random: whatever comes of it, it is an answer. PDF's reader has its own process
/// for this, and is tried there.
#[test]
fn broken_documents_break_nothing() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below.max(1) as u64).unwrap()
    };
    let mut read_at_all = 0;
    for name in fixtures().iter().filter(|name| !name.ends_with(".pdf")) {
        let whole = fixture(name);
        for _ in 0..30 {
            let mut bytes = whole.clone();
            for _ in 0..=next(20) {
                let at = next(bytes.len());
                match next(4) {
                    0 => bytes.truncate(at.max(1)),
                    1 => bytes.extend_from_within(at..),
                    _ => bytes[at] = u8::try_from(next(256)).unwrap(),
                }
            }
            read_at_all += usize::from(read(name, &bytes, &in_folder(300, 30)).is_ok());
        }
    }
    assert!(read_at_all > 10, "only {read_at_all} were read");
}

#[test]
fn a_pdf_is_read_in_a_process_that_may_die() {
    let repo = Repo::new("");
    let asked = |bytes: &[u8]| {
        let mut command = repo.command(&["read", "pdf"]);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(bytes);
        drop(stdin);
        child.wait_with_output().unwrap()
    };
    let whole = asked(&fixture("typeset.pdf"));
    let reported: Value = serde_json::from_slice(&whole.stdout).unwrap();
    assert!(reported["document"]["text"].as_str().unwrap().contains("dancing on the"), "{reported}");
    // A page tree that is its own child.
    let looped = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 9/Kids[2 0 R]>>endobj\n\
        xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000054 00000 n \ntrailer<</Size 3/Root 1 0 R>>\nstartxref\n107\n%%EOF\n";
    for end in [10, 1000, 20_000, 60_000] {
        asked(&fixture("typeset.pdf")[..end]);
        asked(looped);
    }
}

#[test]
fn a_repository_of_mixed_documents_is_searched_as_one() {
    let repo = Repo::new(
        r"
//- /notes.md
# Garden

Roses and thyme.
",
    );
    for name in fixtures() {
        repo.write(&format!("docs/{name}"), fixture(&name));
    }
    repo.write("docs/broken.pdf", b"%PDF-1.7 and then nothing");
    repo.write("docs/broken.docx", b"PK and then nothing");
    let found = |words: &str| {
        let hits = repo.call("query", &json!({ "text": words, "limit": 20 }));
        let paths = hits["results"].as_array().unwrap().iter();
        paths.map(|hit| hit["file_path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("optic flow")[0], "docs/typeset.pdf");
    assert_eq!(found("huddle shiver keep warm")[0], "docs/manual.docx");
    assert_eq!(found("syrup until the first frost")[0], "docs/mail.eml");
    assert_eq!(found("lang:pdf optic flow"), ["docs/typeset.pdf"]);
    let exact = repo.call("query", &json!({ "text": "huddle around", "mode": "literal", "include": ["*.docx"] }));
    assert_eq!(exact["results"][0]["file_path"], "docs/manual.docx");
    let skipped: Value = serde_json::from_str(&repo.ok(&["files", "--skipped", "--json"])).unwrap();
    let reason_of =
        |file: &Value| format!("{}: {}\n", file["path"].as_str().unwrap(), file["reason"].as_str().unwrap());
    let reasons: String = skipped["skipped"].as_array().unwrap().iter().map(reason_of).collect();
    expect![[r#"
        docs/broken.docx: broken_archive
        docs/broken.pdf: malformed
        docs/locked.pdf: encrypted
    "#]]
    .assert_eq(&reasons);
    let files = repo.call("list_files", &json!({ "language": "pdf" }));
    assert_eq!(files["total"], 4);
}

#[test]
fn documents_come_and_go_as_any_file() {
    let repo = Repo::new("//- /a.md\n# A\n");
    let workspace = open(repo.path());
    let alike = |what: &str| {
        sync(&workspace);
        assert_eq!(dump(&workspace), fresh_dump(repo.path()), "{what}");
        assert_eq!(workspace.faults().unwrap(), Vec::<String>::new(), "{what}");
    };
    repo.write("m.docx", fixture("manual.docx"));
    repo.write("m.csv", fixture("harvest.csv"));
    repo.write("m.pdf", fixture("manual.pdf"));
    alike("added");
    repo.write("m.docx", fixture("word.docx"));
    repo.write("m.pdf", b"broken");
    alike("changed");
    std::fs::rename(repo.path().join("m.docx"), repo.path().join("n.docx")).unwrap();
    repo.write("m.pdf", fixture("drawn.pdf"));
    repo.remove("m.csv");
    alike("renamed, mended and removed");
}

/// However many there are, and however many processors.
#[cfg(target_os = "linux")]
#[test]
fn documents_that_unpack_to_much_are_read_one_after_the_other() {
    let repo = Repo::new("");
    let bomb = archive(&[("word/document.xml", &vec![b' '; 120 << 20])]);
    for number in 0..6 {
        repo.write(&format!("bomb{number}.docx"), &bomb);
    }
    let mut child = repo.command(&["sync"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let reported = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = reported.map_or(peak, |reported| peak.max(reported.parse::<u64>().unwrap() >> 10));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(peak < 300, "{peak} MiB");
    let skipped = repo.ok(&["files", "--skipped"]);
    assert_eq!(skipped.matches("no_text").count(), 6, "{skipped}");
}
