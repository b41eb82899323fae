//! Tests of front matter: every style, every fault, and hostile text.

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::*;

/// Each field with its line and the words of its range, then problems.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    let FrontMatterRange::Between { yaml, .. } = find(text) else { return "none".to_owned() };
    let front = FrontMatter::read(text, yaml);
    for (key, value) in &front.fields {
        let mut texts = Vec::new();
        front.each_text(value, |_, text| texts.push(text.to_owned()));
        let name = key.text().unwrap_or_default();
        let (key, value) = (&text[key.range.clone()], &text[value.range.clone()]);
        writeln!(shown, "{}:{name} {texts:?} from {key:?} {value:?}", front.get(name).unwrap().line).unwrap();
    }
    for problem in &front.problems {
        writeln!(shown, "problem {}: {}", problem.line.unwrap(), problem.reason).unwrap();
    }
    shown
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&shown(text));
}

#[test]
fn every_scalar_style_is_read_with_its_position() {
    check(
        "---\nplain: a b # note\nsingle: 'it''s'\ndouble: \"a\\tb \\u00e9\"\nliteral: |\n  one\n  two\nfolded: >-\n  one\n  two\nnone:\ntilde: ~\n\
         date: 2026-01-06\nnumber: 1.0\n---\nbody\n",
        &expect![[r#"
            2:plain ["a b"] from "plain" "a b"
            3:single ["it's"] from "single" "'it''s'"
            4:double ["a\tb é"] from "double" "\"a\\tb \\u00e9\""
            6:literal ["one\ntwo\n"] from "literal" "one\n  two\n"
            9:folded ["one two"] from "folded" "one\n  two\n"
            11:none [] from "none" ""
            12:tilde [] from "tilde" "~"
            13:date ["2026-01-06"] from "date" "2026-01-06"
            14:number ["1.0"] from "number" "1.0"
        "#]],
    );
}

#[test]
fn lists_and_maps_are_read_in_both_forms() {
    check(
        "---\ntags: [a, \"b c\", 2024,]\nlabels:\n  - x\n  # between\n  - y\nsame_indent:\n- z\ndepends_on:\n  - id: bd-1\n    type: blocks\nmap: {id: q}\n---\n",
        &expect![[r#"
            2:tags ["a", "b c", "2024"] from "tags" "[a, \"b c\", 2024,]"
            4:labels ["x", "y"] from "labels" "- x\n  # between\n  - y\n"
            8:same_indent ["z"] from "same_indent" "z\n"
            10:depends_on [] from "depends_on" "- id: bd-1\n    type: blocks\n"
            12:map [] from "map" "{id: q}"
        "#]],
    );
}

#[test]
fn marks_and_line_ends_of_other_systems_make_no_difference() {
    check(
        "\u{feff}---  \r\nid: a\r\ntags:\r\n- b\r\n--- \r\nbody",
        &expect![[r#"
        2:id ["a"] from "id" "a"
        4:tags ["b"] from "tags" "b\r\n"
    "#]],
    );
    check(
        "---\n日本: 語 # é\nnext: 'ü'\n...\n",
        &expect![[r#"
        2:日本 ["語"] from "日本" "語"
        3:next ["ü"] from "next" "'ü'"
    "#]],
    );
}

#[test]
fn what_is_broken_costs_itself_alone() {
    check(
        "---\nid: dec-1\ntitle: A: b\nbad: [1, 2\ntags: [x]\nid: twice\n---\n",
        &expect![[r#"
        2:id ["dec-1"] from "id" "dec-1"
        3:title ["A: b"] from "title" "A: b"
        4:bad ["[1, 2"] from "bad" "[1, 2"
        5:tags ["x"] from "tags" "[x]"
        problem 3: the front matter is not YAML: mapping values are not allowed in this context
        problem 5: the front matter is not YAML: while parsing a flow sequence, expected ',' or ']'
        problem 6: the field `id` occurs twice; the first counts
    "#]],
    );
    check(
        "---\n- a\n- b\n---\n",
        &expect![[r#"
        problem 2: the front matter is not a list of fields
    "#]],
    );
    check(
        "---\njust words\n---\n",
        &expect![[r#"
        problem 2: the front matter is not a list of fields
    "#]],
    );
    check(
        "---\nx: *nobody\n\ttab: 1\n---\n",
        &expect![[r#"
        problem 2: the front matter is not YAML: while parsing node, found unknown anchor
    "#]],
    );
    check("---\n---\n", &expect![""]);
    assert_eq!(find("---\nopen\n"), FrontMatterRange::Unclosed);
    assert_eq!(find("text\n---\n"), FrontMatterRange::None);
    assert_eq!(find(""), FrontMatterRange::None);
    assert_eq!(find("---"), FrontMatterRange::Unclosed);
    assert_eq!(find("----\n---\n"), FrontMatterRange::None);
}

#[test]
fn aliases_are_looked_up_and_never_grow() {
    check(
        "---\na: &a [x, y]\nb: *a\nc: [*a, z]\n---\n",
        &expect![[r#"
        2:a ["x", "y"] from "a" "&a [x, y]"
        2:b ["x", "y"] from "b" "*a"
        4:c ["x", "y", "z"] from "c" "[*a, z]"
    "#]],
    );
    let mut bomb = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        writeln!(bomb, "a{level}: &a{level} [{alias}]").unwrap();
    }
    bomb.push_str("tags: *a29\nself: &s [*s, *s]\n---\n");
    let FrontMatterRange::Between { yaml, .. } = find(&bomb) else { panic!() };
    let front = FrontMatter::read(&bomb, yaml);
    let mut seen = 0;
    assert!(!front.each_text(front.get("tags").unwrap(), |_, _| seen += 1));
    assert!(seen <= MAX_VALUES);
    assert!(!front.each_text(front.get("self").unwrap(), |_, _| seen += 1));
}

#[test]
fn hostile_text_ends_soon() {
    let hostile = [
        format!("---\na: {}\n---\n", "[".repeat(300_000)),
        format!("---\n{}x\n---\n", "- ".repeat(300_000)),
        format!("---\n{}\n---\n", "a: {".repeat(100_000)),
        format!("---\n{}\n---\n", "? ".repeat(300_000)),
        format!("---\na: \"{}\n---\n", "x".repeat(900_000)),
        format!("---\ntags: [{}]\n---\n", "x, ".repeat(300_000)),
        format!("---\n{}---\n", "a: b: c\n".repeat(100_000)),
        (0..60_000).map(|at| format!("k{at}: {at}\n")).fold(String::from("---\n"), |all, line| all + &line)
            + "a: b: c\n---\n",
        format!("---\n{}---\n", "a: &a 1\n".repeat(100_000)),
        format!("---\na: {}\n---\n", "!".repeat(900_000)),
        format!("---\na: |\n{}\n---\n", " \n".repeat(400_000)),
        format!("---\n{}\n---\n", "x".repeat(10 << 20)),
    ];
    for text in &hostile {
        let started = std::time::Instant::now();
        let FrontMatterRange::Between { yaml, .. } = find(text) else { panic!() };
        let front = FrontMatter::read(text, yaml);
        assert!(front.problems.len() <= MAX_PROBLEMS);
        let shown: String = text.chars().take(20).collect();
        assert!(started.elapsed().as_secs() < 60, "{shown:?} took {:?}", started.elapsed());
    }
}

#[test]
fn any_bytes_are_read_without_a_fault() {
    let pieces = [
        "a", ": ", ":", "\n", "- ", "[", "]", "{", "}", ",", "\"", "'", "|", ">", "&x ", "*x", "!t ", "#", " ", "  ",
        "? ", "é", "\t", "---", "%", "\r\n", "<<: ",
    ];
    let mut state = 7_u64;
    for _ in 0..20_000 {
        let mut text = String::from("---\n");
        for _ in 0..24 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[usize::try_from(state >> 33).unwrap() % pieces.len()]);
        }
        text.push_str("\n---\n");
        if let FrontMatterRange::Between { yaml, .. } = find(&text) {
            let front = FrontMatter::read(&text, yaml.clone());
            for (key, value) in &front.fields {
                for range in [&key.range, &value.range] {
                    assert!(text.get(range.clone()).is_some(), "{text:?} {range:?}");
                    assert!(range.start >= yaml.start && range.end <= yaml.end, "{text:?} {range:?}");
                }
                front.each_text(value, |_, _| {});
            }
        }
    }
}
