//! Which bytes are text, and which texts are left out.

use super::super::languages;
use super::*;

fn decoded(bytes: &[u8]) -> Result<(String, Option<&'static str>), SkipReason> {
    decode(bytes).map(|decoded| (decoded.text.into_owned(), decoded.encoding))
}

#[test]
fn utf8_is_taken_as_it_is() {
    for text in ["", "plain\r\nlines", "ä 日本 \u{1f600}", "\x0c form feed", "\x1b[1mbold\x1b[0m", "one \x01 control"]
    {
        assert_eq!(decoded(text.as_bytes()), Ok((text.to_owned(), None)));
    }
    assert_eq!(decoded(b"\xef\xbb\xbfmarked"), Ok(("marked".to_owned(), None)));
    assert_eq!(decoded(b"\xef\xbb\xbf"), Ok((String::new(), None)));
}

#[test]
fn utf16_is_recognized_by_its_byte_order_mark() {
    let little: Vec<u8> = "\u{feff}class Ä {}\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{feff}class Ä {}\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(decoded(&little), Ok(("class Ä {}\r\n".to_owned(), Some("UTF-16LE"))));
    assert_eq!(decoded(&big), Ok(("class Ä {}\r\n".to_owned(), Some("UTF-16BE"))));
    let unmarked: Vec<u8> = "text".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(decoded(&unmarked), Err(SkipReason::Binary));
    assert!(decoded(b"\xff\xfe\x00\xd8").is_err(), "half a surrogate pair");
    assert!(decoded(b"\xff\xfe\x01\x00\x02\x00\x03\x00\x04\x00").is_err());
}

#[test]
fn utf16_without_a_byte_order_mark_is_recognized_by_its_zeros() {
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    for text in ["Windows Registry Editor\r\n\r\n[HKEY]\r\n", "Die Größe für Übergaben – naïve façade, und so weiter\n"]
    {
        assert_eq!(decoded(&little(text)), Ok((text.to_owned(), Some("UTF-16LE"))));
        assert_eq!(decoded(&big(text)), Ok((text.to_owned(), Some("UTF-16BE"))));
    }
    // Half a character, a NUL in the text, both sides, controls, numbers and punctuation that make no words.
    let text = little("some words that make a line of text\n");
    let numbers = |from: u16, to: u16| (from..to).chain(from..to).flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let wide: Vec<u8> = "wide text of four bytes each".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    for wrong in [
        &text[..text.len() - 1],
        &[text.as_slice(), b"\0\0"].concat(),
        &[text.as_slice(), &big("and more")].concat(),
        &wide,
        &numbers(1, 256),
        &numbers(160, 256),
        &numbers(33, 48),
    ] {
        assert_eq!(decoded(wrong), Err(SkipReason::Binary), "{wrong:?}");
    }
}

#[test]
fn few_wrong_bytes_leave_utf8_what_it_is() {
    let german = "Die Größe für Übergaben: naïve façade, täglich geändert, schöne Grüße.\n";
    for (wrong, replacement) in [(&b"\xff"[..], "\u{fffd}"), (b"\xe2\x82", "\u{fffd}"), (b"\xc3\n", "\u{fffd}\n")] {
        let bytes = [german.as_bytes(), b"before ", wrong, b" behind\n", german.as_bytes()].concat();
        let text = format!("{german}before {replacement} behind\n{german}");
        assert_eq!(decoded(&bytes), Ok((text, None)));
        assert_eq!(decode(&bytes).unwrap().wrong, 1);
    }
    let short = b"Gr\xc3\xbc\xc3\x9fe: na\xc3\xafve \xff here\n";
    assert_eq!(decoded(short).unwrap().0, "Grüße: naïve \u{fffd} here\n", "a few letters, and nothing else fits");
    // Cut in the middle of a letter.
    let cut = &german.repeat(3).into_bytes()[..german.len() * 2 + "Die Gr".len() + 1];
    assert!(decoded(cut).unwrap().0.ends_with("Die Gr\u{fffd}"));
    // Of plain text with one byte that no encoding has a letter for.
    let plain = "No letter beyond ASCII in this line.\n".repeat(60).into_bytes();
    let with = |wrong: &[u8], times: usize| [plain.repeat(times), wrong.repeat(times), b"\n".to_vec()].concat();
    assert!(decoded(&with(b"\x81", 1)).unwrap().0.ends_with("\u{fffd}\n"));
    assert_eq!(decoded(b"short \x81\n"), Err(SkipReason::Encoding), "one of nine");
    assert_eq!(decoded(&with(b"\x81 ", MOST_WRONG + 1)), Err(SkipReason::Encoding), "too many");
    // What was written in Latin-1 stays so.
    assert_eq!(decoded(&with(b"caf\xe9", 1)).unwrap().1, Some("windows-1252"));
    assert_eq!(
        decoded(&[german.as_bytes(), &b"\xe4\xf6\xfc\xdf ".repeat(MOST_WRONG)].concat()).unwrap().1.map(|_| ()),
        Some(())
    );
}

#[test]
fn older_encodings_are_detected() {
    let cases = [
        (encoding_rs::WINDOWS_1252, "“Dear Sir” – the café’s terrace costs €5 per person – please reply.\n"),
        (encoding_rs::WINDOWS_1252, "# Prüft die Größe für Übergaben; naïve façade\nx = 1\n"),
        (
            encoding_rs::SHIFT_JIS,
            "// これは日本語のコメントです。テストのために書きました。\nint main() { return 0; }\n",
        ),
        (encoding_rs::EUC_JP, "// これは日本語のコメントです。テストのために書きました。\nint main() { return 0; }\n"),
        (encoding_rs::WINDOWS_1251, "// Это комментарий на русском языке, он довольно длинный.\nint x = 1;\n"),
        (encoding_rs::GBK, "// 这是一个中文注释，用来测试编码检测的功能。\nint x = 1;\n"),
    ];
    for (encoding, text) in cases {
        let (bytes, _, _) = encoding.encode(text);
        assert_eq!(decoded(&bytes), Ok((text.to_owned(), Some(encoding.name()))), "{}", encoding.name());
    }
}

#[test]
fn what_is_not_text_is_refused() {
    assert_eq!(decoded(b"\x7fELF\x02\x01\x01\0\0\0"), Err(SkipReason::Binary));
    assert_eq!(decoded(b"GIF89a\x01\x02\x03\x04\x05\x06\x07\x0e\x0f"), Err(SkipReason::Binary));
    let late_nul = [vec![b'a'; SAMPLE_BYTES + 10], vec![0]].concat();
    assert_eq!(decoded(&late_nul), Err(SkipReason::Binary));
    // Any byte with equal chance, but NUL.
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u8::try_from((state >> 24).max(1)).unwrap()
    })
    .take(5000)
    .collect();
    assert!(decoded(&noise).is_err());
    let high: Vec<u8> = noise.iter().map(|byte| byte | 0x80).collect();
    assert!(decoded(&high).is_err(), "no encoding makes sense of noise");
}

fn refused(path: &str, text: &str) -> Option<SkipReason> {
    let path = RepoPath::new(path).unwrap();
    refuse(&path, text, languages::of_file(&path, text), &Options::default()).err()
}

#[test]
fn minified_scripts_are_recognized_by_their_lines() {
    let packed = "!function(e,t){return e(t)};".repeat(400);
    assert_eq!(refused("app.js", &packed), Some(SkipReason::Minified));
    assert_eq!(refused("app.css", &".a{color:red}.b{margin:0}".repeat(300)), Some(SkipReason::Minified));
    let with_header = format!("/*! library v1\n * licence\n */\n{packed}\n//# sourceMappingURL=x\n");
    assert_eq!(refused("lib.js", &with_header), Some(SkipReason::Minified));
    let written = "function f(a) {\n  return a + 1;\n}\n".repeat(400);
    assert_eq!(refused("app.js", &written), None);
    assert_eq!(refused("small.js", "!function(){}();"), None);
    assert_eq!(refused("data.json", &packed), None, "not of the family");
    let paragraphs = format!("{}\n\n", "Words of a long paragraph in one line. ".repeat(60)).repeat(5);
    assert_eq!(refused("book.md", &paragraphs), None);
    assert_eq!(refused("book.html", &format!("<p>{paragraphs}</p>")), None);
    let numbers = "M1 2 3 4 ".repeat(700);
    let icon = format!("export const Icon = () => <svg><path d=\"{numbers}\"/></svg>;\nexport function label() {{}}\n");
    assert_eq!(refused("icons.jsx", &icon), None, "the long line is a picture");
    let table = format!("const TABLE = [{}];\nfunction at(i) {{ return TABLE[i]; }}\n", "17,".repeat(3000));
    assert_eq!(refused("table.js", &table), None);
    let font =
        format!("@font-face {{ src: url(data:font/woff2;base64,{}) }}\n.a {{ color: red }}\n", "d09GMgAB".repeat(900));
    assert_eq!(refused("font.css", &font), None);
    assert_eq!(
        refused("picture.js", &format!("export default \"{numbers}\"")),
        Some(SkipReason::Minified),
        "nothing but data"
    );
    let bundle = format!("{packed}var picture=\"{numbers}\";\nexport default x;\n");
    assert_eq!(refused("bundle.js", &bundle), Some(SkipReason::Minified));
    let options = Options { skip_minified: false, ..Options::default() };
    let path = RepoPath::new("app.js").unwrap();
    assert_eq!(refuse(&path, &packed, languages::of_file(&path, &packed), &options), Ok(()));
}

#[test]
fn generated_files_say_so_in_their_header() {
    let go = "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage x\n";
    let tag = "/**\n * Copyright\n *\n * @generated SignedSource<<abc>>\n */\nconst a = 1;\n";
    let python =
        "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n# source: x.proto\n";
    let cs = "//------\n// <auto-generated>\n//     This code was generated by a tool.\n// </auto-generated>\n";
    let two_lines = "# This file was automatically generated.\n#\n# Do not edit it by hand.\nx = 1\n";
    let html = "<!-- This page is generated by a tool; do not edit. -->\n<html>\n";
    for (path, text) in [
        ("x.go", go),
        ("x.js", tag),
        ("x.py", python),
        ("x.cs", cs),
        ("y.py", two_lines),
        ("x.html", html),
        ("x.rs", "// @generated by tool\nmod x;\n"),
    ] {
        assert_eq!(refused(path, text), Some(SkipReason::Generated), "{text}");
    }
}

#[test]
fn files_that_talk_about_generated_code_are_kept() {
    for (path, text) in [
        ("a.rs", "//! Tells generated files by `@generated` in their header.\nfn f() {}\n"),
        ("a.py", "import re\nMARK = 'Code generated by x. DO NOT EDIT.'\n"),
        ("a.py", "# Looks for the words DO NOT EDIT in the first line.\nx = 1\n"),
        ("a.py", "\"\"\"Writes reports that are generated by the nightly job.\"\"\"\nx = 1\n"),
        ("a.md", "<!-- @generated -->\n# Title\n"),
        ("a.txt", "# Code generated by x. DO NOT EDIT.\n"),
        ("a.go", "package x\n\n// Code generated by x. DO NOT EDIT.\nvar a int\n"),
        ("0001_initial.py", "# Generated by Django 5.2 on 2025-01-01\nfrom django.db import migrations\n"),
    ] {
        assert_eq!(refused(path, text), None, "{text}");
    }
}
