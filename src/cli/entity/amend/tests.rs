//! One field changes; every other byte stays.

use super::*;
use crate::random_texts::Random;

fn add(text: &str, field: &str, item: &str) -> Option<String> {
    amend(text, field, &Change::Add(item.to_owned())).unwrap()
}

fn remove(text: &str, field: &str, item: &str) -> Option<String> {
    amend(text, field, &Change::Remove(item.to_owned())).unwrap()
}

fn set(text: &str, field: &str, to: &str) -> Option<String> {
    amend(text, field, &Change::Set(to.to_owned())).unwrap()
}

#[track_caller]
fn same(found: Option<String>, expected: &str) {
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn lists_grow_in_their_own_style() {
    same(add("---\ntags: [a, \"b\"] # why\n---\n", "tags", "c d"), "---\ntags: [a, \"b\", c d] # why\n---\n");
    same(add("---\ntags: []\n---\n", "tags", "a"), "---\ntags: [a]\n---\n");
    same(add("---\ntags:\n---\n", "tags", "a"), "---\ntags: [a]\n---\n");
    same(add("---\ntags: ~\n---\n", "tags", "a"), "---\ntags: [a]\n---\n");
    same(add("---\ntags: a\n---\n", "tags", "b"), "---\ntags: [a, b]\n---\n");
    same(add("---\ntags: a, b\n---\n", "tags", "c"), "---\ntags: [a, b, c]\n---\n");
    same(add("---\nid: x\n---\nbody", "tags", "2024"), "---\nid: x\ntags: [\"2024\"]\n---\nbody");
    same(
        add("---\ntags:\n  - a # one\n  # between\n  - b # two\n\n# after\nid: x\n---\n", "tags", "c"),
        "---\ntags:\n  - a # one\n  # between\n  - b # two\n  - c\n\n# after\nid: x\n---\n",
    );
    same(add("---\r\ntags:\r\n- a\r\n---\r\n", "tags", "b"), "---\r\ntags:\r\n- a\r\n- b\r\n---\r\n");
    same(
        add("---\ndepends_on:\n  - id: bd-1\n    type: blocks\nz: 1\n---\n", "depends_on", "bd-2"),
        "---\ndepends_on:\n  - id: bd-1\n    type: blocks\n  - id: bd-2\nz: 1\n---\n",
    );
    same(add("---\nx: [{id: a}]\n---\n", "x", "b"), "---\nx: [{id: a}, {id: b}]\n---\n");
    same(add("---\nx: [\n  a,\n  b,\n]\n---\n", "x", "c"), "---\nx: [\n  a,\n  b, c,\n]\n---\n");
    assert_eq!(add("---\ntags: [a]\n---\n", "tags", "a"), None);
    assert_eq!(add("---\nx: [{id: a}]\n---\n", "x", "a"), None);
}

#[test]
fn lists_shrink_and_leave_the_rest() {
    same(remove("---\ntags: [a, b, c]\n---\n", "tags", "b"), "---\ntags: [a, c]\n---\n");
    same(remove("---\ntags: [a, b, c,]\n---\n", "tags", "c"), "---\ntags: [a, b,]\n---\n");
    same(remove("---\ntags: [a]\n---\n", "tags", "a"), "---\ntags: []\n---\n");
    same(remove("---\ntags: [a,]\n---\n", "tags", "a"), "---\ntags: []\n---\n");
    same(remove("---\ntags: a # why\n---\n", "tags", "a"), "---\ntags: [] # why\n---\n");
    same(remove("---\ntags: a, b\n---\n", "tags", "a"), "---\ntags: [b]\n---\n");
    same(
        remove("---\ntags:\n  - a # one\n  # between\n  - b\n---\n", "tags", "a"),
        "---\ntags:\n  # between\n  - b\n---\n",
    );
    same(remove("---\ntags:\n  - a\nz: 1\n---\n", "tags", "a"), "---\ntags: []\nz: 1\n---\n");
    same(remove("---\nx:\n  - id: a\n    type: t\n  - id: b\n---\n", "x", "a"), "---\nx:\n  - id: b\n---\n");
    same(remove("---\nblocks: iss-1\n---\n", "blocks", "iss-1"), "---\nblocks: []\n---\n");
    assert_eq!(remove("---\ntags: [a]\n---\n", "tags", "b"), None);
    assert_eq!(remove("---\nid: x\n---\n", "tags", "b"), None);
}

#[test]
fn values_keep_their_quotes() {
    same(set("---\ntitle: old # note\n---\n", "title", "new"), "---\ntitle: new # note\n---\n");
    same(set("---\ntitle: \"old\"\n---\n", "title", "say \"x\""), "---\ntitle: \"say \\\"x\\\"\"\n---\n");
    same(set("---\ntitle: 'old'\n---\n", "title", "it's"), "---\ntitle: 'it''s'\n---\n");
    same(set("---\ntitle: old\n---\n", "title", "a: b"), "---\ntitle: \"a: b\"\n---\n");
    same(set("---\ntitle: >-\n  old\n  text\nid: x\n---\n", "title", "new"), "---\ntitle: new\nid: x\n---\n");
    same(set("---\nstatus:\nid: x\n---\n", "status", "open"), "---\nstatus: open\nid: x\n---\n");
    same(set("---\nid: x\n---\n", "status", "yes"), "---\nid: x\nstatus: \"yes\"\n---\n");
    let value = amend("---\nid: x\n---\n", "priority", &Change::SetValue("1".to_owned())).unwrap();
    same(value, "---\nid: x\npriority: 1\n---\n");
    assert_eq!(set("---\nstatus: open\n---\n", "status", "open"), None);
}

#[test]
fn what_cannot_be_changed_safely_is_left_alone() {
    for (text, field) in [
        ("---\nx: {id: a}\n---\n", "x"),
        ("---\nx: *a\n---\n", "x"),
        ("---\na: &a [b]\nx: *a\n---\n", "x"),
        ("---\nx: |\n  text\n---\n", "x"),
        ("---\n{x: 1}\n---\n", "y"),
        ("no front matter", "x"),
        ("---\nopen", "x"),
    ] {
        assert!(amend(text, field, &Change::Add("q".to_owned())).is_err(), "{text:?}");
    }
}

/// Random front matters, random changes: the bytes outside the field stay, and so does what everything means.
#[test]
fn every_byte_outside_the_field_stays() {
    let mut random = Random(11);
    let mut below = move |count: usize| random.below(count);
    let fields = ["id", "title", "tags", "blocks", "depends_on", "x-y", "日本"];
    let values = [
        "",
        "~",
        "[]",
        "[a]",
        "[a, \"b c\", 'd']",
        "[ a ,b, ]",
        "[\n  a,\n  b\n]",
        "\n  - a\n  - b # two\n",
        "\n- a\n\n- 'b'\n",
        "\n  - id: a\n    type: t\n  - id: b\n",
        "plain words",
        "\"double \\\" q\"",
        "'single '' q'",
        "a, b",
        "|\n  lit\n  eral\n",
        ">-\n  folded\n\n",
        "{id: a}",
        "&n [a]",
        "2024",
        "[{id: a, t: 1}, {id: b}]",
        "a # comment",
        "\n  # above\n  - a\n  # below\n",
        "[a, # c\n  b]",
        "\n  -\n    a\n  - b\n",
        "!!str 5",
        "\"two\n  lines\"",
    ];
    let items = ["a", "b", "new", "two words", "2024", "c: d", "[x]", "'", "#tag", "日本", "-", "true", "a,b", "x\ny"];
    let (mut changed, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let end = ["\n", "\r\n"][below(2)];
        let mut text = String::from("---\n");
        let mut order: Vec<usize> = (0..fields.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, below(at + 1));
        }
        // Where each field's lines begin.
        let mut starts = Vec::new();
        for &at in order.iter().take(1 + below(6)) {
            if below(4) == 0 {
                text.push_str("# a comment\n");
            }
            starts.push((fields[at], text.len()));
            let value = values[below(values.len())];
            let space = if value.is_empty() || value.starts_with('\n') { "" } else { " " };
            text.push_str(&format!("{}:{space}{value}", fields[at]));
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
        starts.push(("", text.len()));
        text.push_str("---\nbody # with: [things]\n---\n");
        let field = fields[below(fields.len())];
        let item = items[below(items.len())].to_owned();
        let change = match below(3) {
            0 => Change::Set(item),
            1 => Change::Add(item),
            _ => Change::Remove(item),
        };
        // Line ends are settled last, so that places are found again by counting.
        let written = if end == "\n" { text.clone() } else { text.replace('\n', "\r\n") };
        let shift = |at: usize| at + if end == "\n" { 0 } else { text[..at].matches('\n').count() };
        match amend(&written, field, &change) {
            Ok(Some(new)) => {
                changed += 1;
                let place = starts.iter().position(|(name, _)| *name == field);
                let (from, to) = match place {
                    Some(at) => (shift(starts[at].1), shift(starts[at + 1].1)),
                    None => (shift(starts[starts.len() - 1].1), shift(starts[starts.len() - 1].1)),
                };
                assert!(new.starts_with(&written[..from]), "{written:?} {field} {change:?} {new:?}");
                assert!(new.ends_with(&written[to..]), "{written:?} {field} {change:?} {new:?}");
                // Asked again, there is nothing left to do.
                if !matches!(change, Change::Add(_)) || place.is_none() {
                    assert_eq!(amend(&new, field, &change).unwrap(), None, "{written:?} {field} {change:?} {new:?}");
                }
            }
            Ok(None) => {}
            Err(_) => refused += 1,
        }
    }
    assert!(changed > 8_000, "{changed} changed, {refused} refused");
}

/// Front matter with pieces cut out and others put in: whatever is left, a change is made or refused.
#[test]
fn broken_front_matter_is_changed_or_refused() {
    let texts = [
        "---\nid: a\ntags: [a, 'b c', \"d\"]\nx:\n  - a\n  - id: b\n    t: 1\n---\nbody\n",
        "\u{feff}---\r\n\"id\": >-\r\n  größe\r\ntags: {a: b}\r\nx: &n [é, # ü\r\n  b]\r\n...\r\n",
        "---\n? id\n: !!str a\ntags: *n\nx: |2\n    日本\n---\n",
    ];
    let pieces = [
        "é", "\n", "\r", ":", ": ", "- ", "[", "]", "{", "}", "\"", "'", "#", "&a ", "*a", "|", "---\n", "\t", "\0",
        "? ",
    ];
    let mut random = Random(7);
    for _ in 0..6_000 {
        let text = random.spliced(&texts, &pieces, 5);
        let item = ["a", "b", "é", ""][random.below(4)].to_owned();
        let change = match random.below(4) {
            0 => Change::Set(item),
            1 => Change::SetValue(item),
            2 => Change::Add(item),
            _ => Change::Remove(item),
        };
        let _refused = amend(&text, ["id", "tags", "x", "y"][random.below(4)], &change);
    }
}
