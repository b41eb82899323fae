//! PDF as it comes: cut off, with a wrong table, locked, too large. What is not read, or not whole, is told.

use std::io::Write;

use ixmcp::extract::{self, Options};
use ixmcp::model::{Extracted, RepoPath, SkipReason};
use serde_json::{Value, json};

use crate::harness::Repo;

/// A file of these objects, numbered from 1, of which the first is the catalog; and where each begins.
fn pdf(objects: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
    let (mut file, mut places) = (b"%PDF-1.5\n".to_vec(), Vec::new());
    for (object, number) in objects.iter().zip(1..) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj\n").as_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in &places {
        file.extend(format!("{place:010} 00000 n \n").as_bytes());
    }
    let trailer = format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    file.extend(trailer.as_bytes());
    (file, places)
}

fn stream(dictionary: &str, data: &[u8]) -> Vec<u8> {
    [format!("<<{dictionary}/Length {}>>\nstream\n", data.len()).as_bytes(), data, b"\nendstream"].concat()
}

/// One page drawn by that stream, and so often in the document.
fn pages(count: usize, content: Vec<u8>) -> Vec<Vec<u8>> {
    vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Count {count}/Kids[{}]>>", "3 0 R ".repeat(count)).into_bytes(),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>".to_vec(),
        content,
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec(),
    ]
}

const SHOWN: &[u8] = b"BT /F1 12 Tf 72 700 Td (the survivor is a potoroo) Tj ET";

fn read(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    extract::extract(&RepoPath::new("x.pdf").unwrap(), bytes, &Options::default())
}

fn gives_its_text(bytes: &[u8], what: &str) {
    let extracted = read(bytes).unwrap_or_else(|reason| panic!("{what}: {}", reason.as_str()));
    assert!(extracted.chunks[0].text.contains("the survivor is a potoroo"), "{what}");
    assert!(extracted.problems[0].reason.contains("table of objects"), "{what}: {:?}", extracted.problems);
}

#[test]
fn a_pdf_without_a_sound_table_is_read_by_its_objects() {
    let (whole, places) = pdf(&pages(1, stream("", SHOWN)));
    assert!(read(&whole).unwrap().problems.is_empty());
    let end = |mark: &[u8]| memchr::memmem::rfind(&whole, mark).unwrap();
    gives_its_text(&whole[..end(b"/Root")], "cut off within the trailer");
    gives_its_text(&whole[..end(b"xref\n0")], "cut off before the table");
    gives_its_text(&[&whole[..end(b"startxref")], b"startxref\n999999\n%%EOF"].concat(), "a table that is elsewhere");
    let shifted = [b"%PDF-1.5\n%a comment that somebody put there\n", &whole[9..]].concat();
    gives_its_text(&shifted, "places that are no longer so");
    gives_its_text(&[b"\n\n\n", &whole[..places[0] - 9], &whole[..end(b"xref\n0")]].concat(), "something before it");
}

#[test]
fn objects_within_a_stream_of_objects_are_found_without_a_table() {
    let all = pages(1, stream("", SHOWN));
    let (mut numbers, mut held) = (String::new(), Vec::new());
    for number in [1, 2, 3, 5] {
        numbers += &format!("{number} {} ", held.len());
        held.extend(&all[number - 1]);
        held.push(b' ');
    }
    let packed = stream(&format!("/Type/ObjStm/N 4/First {}", numbers.len()), &[numbers.as_bytes(), &held].concat());
    let file = [b"%PDF-1.5\n4 0 obj\n", all[3].as_slice(), b"\nendobj\n6 0 obj\n", &packed, b"\nendobj\n"].concat();
    gives_its_text(&file, "no table at all");
}

#[test]
fn pages_of_a_tree_that_leads_in_a_circle_are_read_once_each() {
    let shown = |word: &str| stream("", format!("BT /F1 12 Tf 72 700 Td ({word}) Tj ET").as_bytes());
    let page = |parent: usize, content: usize| {
        let resources = "/MediaBox[0 0 612 792]/Resources<</Font<</F1 4 0 R>>>>";
        format!("<</Type/Page/Parent {parent} 0 R{resources}/Contents {content} 0 R>>").into_bytes()
    };
    let file = |root: &str, branch: &str| {
        let objects = [
            b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
            format!("<</Type/Pages{root}>>").into_bytes(),
            format!("<</Type/Pages{branch}>>").into_bytes(),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec(),
            page(2, 7),
            page(3, 8),
            shown("the first is a potoroo"),
            shown("the second is a numbat"),
        ];
        pdf(&objects).0
    };
    for (root, branch, what) in [
        ("/Count 2/Kids[2 0 R 5 0 R 3 0 R]", "/Parent 2 0 R/Count 1/Kids[6 0 R]", "its own child"),
        ("/Count 9/Kids[5 0 R 3 0 R]", "/Parent 2 0 R/Count 9/Kids[2 0 R 6 0 R]", "its child's child"),
        ("/Count 2/Kids[5 0 R 3 0 R 3 0 R]", "/Parent 2 0 R/Count 1/Kids[6 0 R]", "a child twice"),
        (
            "/Parent 3 0 R/Count 2/Kids[5 0 R 3 0 R]",
            "/Parent 2 0 R/Count 1/Kids[6 0 R 2 0 R]",
            "its child's parent and child",
        ),
    ] {
        let extracted = read(&file(root, branch)).unwrap_or_else(|reason| panic!("{what}: {}", reason.as_str()));
        let text: String = extracted.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        for word in ["potoroo", "numbat"] {
            assert_eq!(text.matches(word).count(), 1, "{what}: {text}");
        }
        assert!(text.find("potoroo") < text.find("numbat"), "{what}: {text}");
        let problems: Vec<&str> = extracted.problems.iter().map(|problem| problem.reason.as_str()).collect();
        assert_eq!(problems, ["its table of pages leads back to pages that it has already: each is in the index once"]);
    }
    // Counts that lie, and a page that is not there, cost nothing but that page.
    let extracted = read(&file("/Count 1/Kids[9 0 R 5 0 R 3 0 R]", "/Parent 2 0 R/Count 7/Kids[6 0 R]")).unwrap();
    let text: String = extracted.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert!(text.contains("potoroo") && text.contains("numbat"), "{text}");
    assert_eq!(extracted.problems[0].reason, "1 of 3 pages cannot be read");
    // And one that leads nowhere else has no page.
    assert_eq!(read(&file("/Count 9/Kids[2 0 R]", "/Count 0/Kids[]")).err(), Some(SkipReason::Malformed));
}

#[test]
fn what_no_mending_helps_is_malformed() {
    let (whole, _) = pdf(&pages(1, stream("", SHOWN)));
    for bytes in [&whole[..60], b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 1 0 R>>\nendobj", b"%PDF-1.7 1 0 obj"] {
        assert_eq!(read(bytes).err(), Some(SkipReason::Malformed), "{}", bytes.len());
    }
}

#[test]
fn a_cipher_that_cannot_be_read_is_told() {
    let mut objects = pages(1, stream("", SHOWN));
    let key = "00".repeat(48);
    objects.push(
        format!(
            "<</Filter/Standard/V 5/R 6/Length 256/P -4/O<{key}>/U<{key}>/OE<{0}>/UE<{0}>/Perms<{1}>\
             /CF<</StdCF<</CFM/AESV3/AuthEvent/DocOpen/Length 32>>>>/StmF/StdCF/StrF/StdCF>>",
            &key[..64],
            &key[..32]
        )
        .into_bytes(),
    );
    let (file, _) = pdf(&objects);
    let text = String::from_utf8(file).unwrap().replace("/Root 1 0 R", "/Root 1 0 R/Encrypt 6 0 R/ID[<00><00>]");
    assert_eq!(read(text.as_bytes()).err(), Some(SkipReason::Sealed));
    let repo = Repo::new("");
    repo.write("docs/sealed.pdf", text);
    let answer = repo.call("index_files", &json!({ "folderPath": "docs" }));
    let reason = answer["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("encrypted_aes256: ") && reason.contains("AES-256"), "{answer}");
}

#[test]
fn a_bomb_is_told_by_what_it_exceeds() {
    // Each byte 0x81 stands for 64 of its like, three times over: more than a reader may have.
    let bomb = stream("/Filter[/RunLengthDecode/RunLengthDecode/RunLengthDecode]", &[0x81; 16 << 10]);
    // So much markup in an archive of a few kilobytes.
    let mut packed = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    packed.start_file("word/document.xml", zip::write::SimpleFileOptions::default()).unwrap();
    packed.write_all(&vec![b' '; 130 << 20]).unwrap();
    let repo = Repo::new("");
    repo.write("docs/bomb.pdf", pdf(&pages(1, bomb)).0);
    repo.write("docs/bomb.docx", packed.finish().unwrap().into_inner());
    let answer = repo.call("index_files", &json!({ "folderPath": "docs" }));
    let reason = |at: usize| answer["skipped"][at]["reason"].as_str().unwrap();
    assert!(reason(0).starts_with("overfull: ") && reason(0).contains("128 MiB"), "{answer}");
    assert!(reason(1).starts_with("overweight: ") && reason(1).contains("2 GiB of memory"), "{answer}");
}

#[test]
fn a_document_that_is_cut_says_so() {
    let repo = Repo::new("");
    repo.write("docs/long.pdf", pdf(&pages(5001, stream("", SHOWN))).0);
    repo.write("docs/short.pdf", pdf(&pages(1, stream("", SHOWN))).0);
    let answer = repo.call("index_files", &json!({ "folderPath": "docs" }));
    let reason = "only the first 5000 of 5001 pages are in the index";
    assert_eq!(answer["problems"], json!([{ "path": "docs/long.pdf", "reason": reason }]), "{answer}");
    let answer = repo.call("update_index", &json!({ "folderPath": "docs", "changes": ["docs/short.pdf"] }));
    assert_eq!(answer["problems"], Value::Null, "{answer}");
    let details = |file: &str| repo.call("get_file_details", &json!({ "filePath": file }))["problems"].clone();
    assert_eq!((details("docs/long.pdf"), details("docs/short.pdf")), (json!([reason]), json!(null)));
}
