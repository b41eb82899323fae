//! PDF as it comes: cut off, with a wrong table, encrypted, too large, set by old programs. What is not read, or not
//! whole, is reported.

use std::io::Write;

use expect_test::expect;
use ixmcp::extract::{self, Options};
use ixmcp::model::{Extracted, RepoPath, SkipReason};
use serde_json::{Value, json};

use crate::support::harness::Repo;

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

/// One page drawn by that stream, `count` times in the document.
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
    assert_eq!(extracted.chunks[0].text, "the survivor is a potoroo\n", "{what}");
    let reasons: Vec<&str> = extracted.problems.iter().map(|problem| problem.reason.as_str()).collect();
    assert_eq!(
        reasons,
        ["its table of objects is broken or cut off: only what was found without it is in the index"],
        "{what}"
    );
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
fn pages_of_a_tree_with_a_cycle_are_read_once_each() {
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
    assert_eq!(text, "the first is a potoroo\n\nthe second is a numbat\n");
    assert_eq!(extracted.problems[0].reason, "1 of 3 pages cannot be read");
    // And one that leads nowhere else has no page.
    assert_eq!(read(&file("/Count 9/Kids[2 0 R]", "/Count 0/Kids[]")).err(), Some(SkipReason::Malformed));
}

#[test]
fn what_cannot_be_repaired_is_malformed() {
    let (whole, _) = pdf(&pages(1, stream("", SHOWN)));
    for bytes in [&whole[..60], b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 1 0 R>>\nendobj", b"%PDF-1.7 1 0 obj"] {
        assert_eq!(read(bytes).err(), Some(SkipReason::Malformed), "{}", bytes.len());
    }
}

/// The file of `pages`, encrypted: that stream, and what its trailer says of the keys.
fn encrypted(stream_hex: &str, keys: &str) -> Vec<u8> {
    let bytes = (0..stream_hex.len()).step_by(2).map(|at| u8::from_str_radix(&stream_hex[at..at + 2], 16).unwrap());
    let mut objects = pages(1, stream("", &bytes.collect::<Vec<u8>>()));
    objects.push(format!("<</Filter/Standard{keys}>>").into_bytes());
    let id = "31415926535897932384626433832795";
    let (mut file, _) = pdf(&objects);
    let end = memchr::memmem::rfind(&file, b"/Root 1 0 R").unwrap();
    file.splice(end..end, format!("/Encrypt 6 0 R/ID[<{id}><{id}>]").into_bytes());
    file
}

/// `SHOWN`, encrypted by qpdf 11 with an owner's password, and no user's.
const BY_RC4: (&str, &str) = (
    "5db3922276a4c426aa84c4ff047f4d53178c6c11dcab56bb7284251d8a455f0fcd5bcfe5f1a3066730e01bf4b08dbf39b8f5b712f0ec54ce",
    "/O<c92422687facee686e373f10b5c7d04738053152f7e2ee30e11c69ec442576ab>\
     /U<b3d9fa366906ef42f354c6deb74c59075eaf334eb7c04356ba0d7f3dd8b51d0a>",
);
const BY_AES_256: (&str, &str) = (
    "c8671e96730606e75aa153a13d899cf21b2ce3b0f3903eca93920bd2555b5d51\
     a2945426f8c1725d30dd55b9c122a289c224a06521b2383457880f2fe8e9730c\
     19bd9ca7f50bfb8ffbf867018eefb676",
    "/V 5/R 6/Length 256/P -4/CF<</StdCF<</AuthEvent/DocOpen/CFM/AESV3/Length 32>>>>/StmF/StdCF/StrF/StdCF\
     /O<d86834b5e8682a6aba9395c83f9a536afc302199549a34ce74c6b4c7217fc8b7dfcbece33f06359b915d4aa9610d940a>\
     /U<f560d439a9ba0049c53acd98a08ed8ec0ddc57957f5a5ff0829e811afcc13157e1613104ee4fd5bd82f9c5410b6b3808>\
     /OE<76a660714bd9023407cd1bf86bef685ab1653f76a70e552b55b42b913b0201f0>\
     /UE<65c8869e30a24b8ead771f7cc9ec1a912aa5f5d53cf3687d83d023e4b9e60c3e>/Perms<cef41a0539a409cfe18bfd655c57cf38>",
);

#[test]
fn an_encrypted_pdf_without_a_user_password_is_read() {
    let (drawn, keys) = BY_RC4;
    for (form, what) in [
        ("/V 1/R 2/Length 40/P -4", "as qpdf writes it"),
        ("/V 1/R 2/P -4", "without the length of the key"),
        // As Acrobat wrote it for years.
        ("/V 1/R 2/P 4294967292", "permissions without a sign"),
    ] {
        let extracted = read(&encrypted(drawn, &format!("{form}{keys}")));
        let extracted = extracted.unwrap_or_else(|reason| panic!("RC4, {what}: {}", reason.as_str()));
        assert_eq!(extracted.chunks[0].text.trim(), "the survivor is a potoroo", "RC4, {what}");
        assert!(extracted.problems.is_empty(), "{what}: {:?}", extracted.problems);
    }
    let extracted = read(&encrypted(BY_AES_256.0, BY_AES_256.1)).unwrap();
    assert_eq!(extracted.chunks[0].text.trim(), "the survivor is a potoroo");
}

/// Lists the documents that are left out, with the reason.
fn reasons(answer: &Value) -> String {
    let skipped = answer["skipped"].as_array().unwrap().iter();
    skipped.map(|one| format!("{one}\n")).collect()
}

#[test]
fn an_encrypted_pdf_that_cannot_be_read_says_why() {
    let (drawn, keys) = BY_RC4;
    let locked = keys.replace("b3d9fa36", "00000000");
    let repo = Repo::new("");
    repo.write("docs/locked.pdf", encrypted(drawn, &format!("/V 1/R 2/P -4{locked}")));
    repo.write("docs/sealed.pdf", encrypted(drawn, &format!("/V 9/R 9/P -4{keys}")));
    let answer = repo.call("index_files", &json!({ "folderPath": "docs" }));
    expect![[r#"
        {"path":"docs/locked.pdf","reason":"encrypted: it requires a password"}
        {"path":"docs/sealed.pdf","reason":"encrypted_unknown: its encryption is not supported by the reader"}
    "#]]
    .assert_eq(&reasons(&answer));
}

/// A page with that content and font.
fn page_of(content: &str, font: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = pages(1, stream("", content.as_bytes()));
    objects[4] = font.as_bytes().to_vec();
    objects.extend_from_slice(more);
    pdf(&objects).0
}

fn text_of(bytes: &[u8]) -> String {
    let extracted = read(bytes).unwrap_or_else(|reason| panic!("{}", reason.as_str()));
    let text: Vec<&str> = extracted.chunks.iter().flat_map(|chunk| chunk.text.split_whitespace()).collect();
    text.join(" ")
}

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";

#[test]
fn words_are_parted_where_a_page_leaves_a_gap() {
    for (content, font, expected) in [
        // A narrow space, as justified text has it, is a gap and no character.
        ("/F1 10 Tf [(not)-130(need)20(ed)] TJ", HELVETICA, "not needed"),
        // Letters that are set apart are one word.
        ("/F1 10 Tf 2 Tc (APART) Tj ( ) Tj (FROM) Tj", HELVETICA, "APART FROM"),
        // A string ends where the font that every reader has says, and no list of widths.
        ("/F1 10 Tf (will) Tj 13.32 0 Td (ing) Tj", HELVETICA, "willing"),
        // A space that the font has no glyph for.
        (
            "/F1 10 Tf (two words) Tj",
            "<</Type/Font/Subtype/Type1/BaseFont/Times-Roman/Encoding<</Differences[32/.notdef]>>>>",
            "two words",
        ),
        // A font that is drawn, in units of its own, with the letters named by their numbers in TeX's fonts.
        (
            "/F1 1 Tf .12 0 0 -.12 72 700 Tm [(a)-3000(b)-31000(c\\014)] TJ",
            "<</Type/Font/Subtype/Type3/FontMatrix[1 0 0 -1 0 0]/FontBBox[0 0 60 60]/FirstChar 12/LastChar 99\
             /Encoding<</Differences[12/a12 97/a97/a98/a99]>>/Widths 6 0 R>>",
            "ab cfi",
        ),
    ] {
        let widths = format!("[{}]", "50 ".repeat(88)).into_bytes();
        let file = page_of(&format!("BT 72 700 Td {content} ET"), font, &[widths]);
        assert_eq!(text_of(&file), expected, "{content}");
    }
}

/// Sets notes as LaTeX's news does (`l3news05.pdf`, `lppl.pdf` of texlive-latex-base 2022). pdftotext 22.12 has `1 http`, `CO2 and`, `x2y` and `LATE`,
/// too, but `Exchange13 question`, which hides the word.
#[test]
fn a_raised_number_is_a_note_and_not_a_part_of_a_word() {
    for (content, expected) in [
        ("/F1 6 Tf 2.8 Ts [(1)-80] TJ /F1 8 Tf 0 Ts (http) Tj", "1 http"),
        ("/F1 10 Tf (Exchange) Tj /F1 7 Tf 3.62 Ts (13) Tj /F1 10 Tf 0 Ts ( question) Tj", "Exchange 13 question"),
        ("/F1 10 Tf (CO) Tj /F1 7 Tf -1.5 Ts (2) Tj /F1 10 Tf 0 Ts ( and) Tj", "CO2 and"),
        ("/F1 10 Tf (x) Tj /F1 7 Tf 3.62 Ts (2) Tj /F1 10 Tf 0 Ts (y) Tj", "x2y"),
        // The bold logo of TeX.
        ("/F1 10 Tf [(L)405]TJ /F1 7 Tf 2 Ts (A) Tj /F1 10 Tf 0 Ts [(T)166(E)] TJ", "LATE"),
    ] {
        let file = page_of(&format!("BT 72 700 Td {content} ET"), HELVETICA, &[]);
        assert_eq!(text_of(&file), expected, "{content}");
    }
}

/// A glyph without a character leaves its gap, as in pdftotext 22.12.
#[test]
fn an_unreadable_glyph_does_not_glue_its_neighbours() {
    let map =
        b"begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 5 beginbfchar <0001> <006f> <0002> <006e> \
        <0003> <0065> <0004> <0074> <0005> <0077> endbfchar endcmap";
    for (width, expected) in [(500, "one two"), (0, "onetwo")] {
        let below = format!(
            "<</Type/Font/Subtype/CIDFontType2/BaseFont/Some/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)\
             /Supplement 0>>/DW 500/W[9[{width}]]>>"
        );
        let font =
            "<</Type/Font/Subtype/Type0/BaseFont/Some/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>";
        let content = "BT 72 700 Td /F1 10 Tf <0001000200030009000400050001> Tj ET";
        let file = page_of(content, font, &[below.into_bytes(), stream("", map)]);
        assert_eq!(text_of(&file), expected);
    }
}

#[test]
fn ligatures_are_read_by_the_encoding_of_the_font_program() {
    let font = "<</Type/Font/Subtype/Type1/BaseFont/XXXXXX+CMR10/FirstChar 12/LastChar 13/Widths[556 556]\
                /FontDescriptor<</Type/FontDescriptor/Flags 4/FontFile 6 0 R>>>>";
    let program = b"%!PS-AdobeFont-1.0: CMR10\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n\
        dup 12 /fi put\ndup 11/ff put\ndup 83 /S put\nreadonly def\ncurrentfile eexec\n";
    let letters: String = "Simplied".chars().map(|c| format!("dup {} /{c} put ", u32::from(c))).collect();
    let program = String::from_utf8_lossy(program).replace("readonly def", &format!("{letters}\nreadonly def"));
    let file =
        page_of("BT /F1 10 Tf 72 700 Td (Simpli\\014ed) Tj ET", font, &[stream("/Length1 1", program.as_bytes())]);
    assert_eq!(text_of(&file), "Simplified");
}

#[test]
fn what_a_page_shows_is_read_and_what_it_hides_is_not() {
    let hidden = b"<</Type/OCG/Name(hidden)>>".to_vec();
    let field = b"<</Type/Annot/Subtype/Widget/Rect[72 100 272 120]/AP<</N 8 0 R>>>>".to_vec();
    let looks = stream(
        "/Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<</Font<</F1 5 0 R>>>>",
        b"/Tx BMC BT /F1 10 Tf (filled in) Tj ET EMC",
    );
    let content = b"BT /F1 10 Tf 72 700 Td /Span<</ActualText(Again)>>BDC (xyz-) Tj EMC (st) Tj ET\n\
        /OC /L BDC BT /F1 10 Tf 72 600 Td (a layer that is off) Tj ET EMC\n\
        BT /F1 10 Tf 72 9000 Td (beside the page) Tj ET";
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>>>".to_vec(),
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>/Properties<</L 6 0 R>>>>\
          /Contents 4 0 R/Annots[7 0 R]>>"
            .to_vec(),
        stream("", content),
        HELVETICA.as_bytes().to_vec(),
        hidden,
        field,
        looks,
    ];
    assert_eq!(text_of(&pdf(&objects).0), "Against filled in");
}

#[test]
fn a_pdf_of_a_careless_program_is_read() {
    let (whole, _) = pdf(&pages(1, stream("", SHOWN)));
    let whole = String::from_utf8(whole).unwrap();
    let length = format!("/Length {}", SHOWN.len());
    for (broken, what) in [
        (whole.replace(&length, "/Length 9"), "a stream that is longer than it says"),
        (whole.replace(&length, "/Length 9 0 R"), "a length that is nowhere"),
        (whole.replace("xref\n0 6", "xref\n1 6"), "a table that counts from one"),
        (whole.replace("\nendobj\n5 0 obj", "\n5 0 obj"), "an object without an end"),
        (whole.replace("BT /F1", "BT 7 oops /F1"), "an operator that is none"),
        (whole.replace("BT /F1", "BT } ) ] >> <zz> --5 /F1"), "what is no part of the language"),
        (whole.replace("%PDF-1.5", "%PDF-7.x"), "an unknown version"),
    ] {
        let extracted = read(broken.as_bytes()).unwrap_or_else(|reason| panic!("{what}: {}", reason.as_str()));
        assert_eq!(extracted.chunks[0].text, "the survivor is a potoroo\n", "{what}");
    }
}

#[test]
fn drawings_within_drawings_come_to_an_end() {
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources 6 0 R/Contents 4 0 R>>".to_vec(),
        stream("", [SHOWN, b" ", b"/X Do ".repeat(50).as_slice()].concat().as_slice()),
        HELVETICA.as_bytes().to_vec(),
        b"<</Font<</F1 5 0 R>>/XObject<</X 7 0 R>>>>".to_vec(),
        stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources 6 0 R", &b"/X Do ".repeat(50)),
    ];
    assert!(text_of(&pdf(&objects).0).starts_with("the survivor is a potoroo"));
}

#[test]
fn a_bomb_is_reported_by_the_limit_it_exceeds() {
    // Each byte 0x81 stands for 64 of its like, three times over: more than a reader may have.
    let bomb = stream("/Filter[/RunLengthDecode/RunLengthDecode/RunLengthDecode]", &[0x81; 16 << 10]);
    // So much markup in an archive of a few kilobytes.
    let mut packed = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    packed.start_file("word/document.xml", zip::write::SimpleFileOptions::default()).unwrap();
    packed.write_all(&vec![b' '; 130 << 20]).unwrap();
    // A stream of objects, which a reader has to unpack before it knows what is in it; each layer ends as it must.
    let data = [[0x81; 16 << 10].as_slice(), &[2, 0, 0x80, 0x80, 0x80]].concat();
    let held = stream("/Type/ObjStm/N 1/First 4/Filter[/RunLengthDecode/RunLengthDecode/RunLengthDecode]", &data);
    let repo = Repo::new("");
    repo.write("docs/bomb.pdf", pdf(&pages(1, bomb)).0);
    repo.write("docs/held.pdf", [b"%PDF-1.5\n1 0 obj\n", held.as_slice(), b"\nendobj\n"].concat());
    repo.write("docs/bomb.docx", packed.finish().unwrap().into_inner());
    let answer = repo.call("index_files", &json!({ "folderPath": "docs" }));
    expect![[r#"
        {"path":"docs/bomb.docx","reason":"overfull: it unpacks to more than 128 MiB, or contains more than 16 MiB of text"}
        {"path":"docs/bomb.pdf","reason":"overfull: it unpacks to more than 128 MiB, or contains more than 16 MiB of text"}
        {"path":"docs/held.pdf","reason":"overweight: its reader needs more than 2 GiB of memory"}
    "#]].assert_eq(&reasons(&answer));
}

#[test]
fn a_document_that_is_cut_says_so() {
    let repo = Repo::new("");
    repo.write("docs/long.pdf", pdf(&pages(5001, stream("", SHOWN))).0);
    repo.write("docs/short.pdf", pdf(&pages(1, stream("", SHOWN))).0);
    let answer = repo.call("index_files", &json!({ "folderPath": "docs" }));
    let reason = "only the first 5000 of 5001 pages are in the index";
    assert_eq!(answer["problems"], json!([{ "path": "docs/long.pdf", "reason": reason }]), "{answer}");
    let updated = repo.call("update_index", &json!({ "folderPath": "docs", "changes": ["docs/short.pdf"] }));
    assert_eq!(updated["problems"], Value::Null, "{updated}");
    let details = |file: &str| repo.call("get_file_details", &json!({ "filePath": file }))["problems"].clone();
    assert_eq!((details("docs/long.pdf"), details("docs/short.pdf")), (answer["problems"].clone(), json!(null)));
}
