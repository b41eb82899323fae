//! Text that is a mark, and text that is not.

use super::*;

fn found(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    marks(text, 1, |mark, line| {
        all.push(match mark {
            ProseMark::Hashtag(tag) => format!("{line} #{tag}"),
            ProseMark::Wiki { target, embeds, field } => {
                let sign = if embeds { "!" } else { "" };
                format!("{line} {}{sign}[[{target}]]", field.map(|field| field + "::").unwrap_or_default())
            }
            ProseMark::Address { address, embeds } => {
                let sign = if embeds { "!" } else { "" };
                format!("{line} {sign}({address})")
            }
            ProseMark::Code(words) => format!("{line} `{words}`"),
        });
    });
    all
}

#[test]
fn hashtags_are_outside_code() {
    let text = "# Heading\n#first line, (#second) and #a/b-c_d. #1 #12x #2024\n`#no` ``a ` #no`` #yes\n\n    #code\n\n\
        ```c\n#include <x>\n```\n<!-- #no\n#no -->\n[a](#no) x#no http://a/#no \\#no &#39; #ff8800 #fff #beef\n";
    assert_eq!(
        found(text).into_iter().filter(|mark| !mark.contains('`')).collect::<Vec<_>>(),
        ["2 #first", "2 #second", "2 #a/b-c_d", "2 #12x", "3 #yes", "12 (#no)", "12 #ff8800", "12 #fff", "12 #beef"]
    );
}

/// Obsidian's help, "Tags", of August 2026 ("at least one non-numerical character", emojis), `HASHTAG_REGEX` of `@foam/core` 0.45.1, `tag.go`
/// of zk 0.15, and `mldoc` 1.6.0. A tag is one of a program that has it.
#[test]
fn hashtags_begin_and_end_as_in_the_programs_of_notes() {
    for (text, tags) in [
        ("#1abc #12a #c0ffee #2024-01 #1984 #y1984", &["1abc", "12a", "c0ffee", "2024-01", "y1984"][..]),
        ("#dash-x- #a_b/ #🎉 #tag's #c++ #a.b", &["dash-x-", "a_b/", "🎉", "tag", "c", "a"]),
        ("**#bold** *#em* ~~#out~~ <b>#html</b>", &["bold", "em", "out", "html"]),
        ("\"#q\" (#p) [#b] {#c} a:\n#line >#quote", &["q", "p", "b", "c", "line", "quote"]),
        ("#a#b x#no é#no 1#no a_#no a/#no x=#no ##no \\#no \\##no", &["a", "b"]),
        ("http://x.y/z?#no <http://x.y/#no> see http://x.y. #yes", &["yes"]),
    ] {
        let found: Vec<String> =
            found(text).into_iter().filter_map(|mark| Some(mark.split_once('#')?.1.to_owned())).collect();
        assert_eq!(found, tags, "{text}");
    }
}

/// `mldoc` 1.6.0, and pandoc 3.9 for the digit behind a `$`; Foam and zk have no formulas.
#[test]
fn formulas_are_no_prose() {
    for (text, shown) in [
        ("$$[[no]]$$ [[A]] $[[no]]$ #a $\\sum #no$ [[B]]", &["1 [[A]]", "1 #a", "1 [[B]]"][..]),
        ("$$\n[[no]]\n\n[[no]] `no`\n$$\n[[A]]", &["6 [[A]]"]),
        ("- $$\n  [[no]]\n  $$\n  [[A]]", &["4 [[A]]"]),
        ("a $$x$$ [[A]] $$y$$ $x$[[B]]$y$", &["1 [[A]]", "1 [[B]]"]),
        ("$5 [[A]] and $6 [[B]], $5[[C]]$6, US$ [[D]] $", &["1 [[A]]", "1 [[B]]", "1 [[C]]", "1 [[D]]"]),
        ("[[$A]] and [[$B]] `$a` [[C]] `b$`", &["1 [[$A]]", "1 [[$B]]", "1 `$a`", "1 [[C]]", "1 `b$`"]),
        ("\\$[[A]]\\$ a $x\n\n[[B]]$ $$\n\n[[C]] $$", &["1 [[A]]", "3 [[B]]", "5 [[C]]"]),
        ("$$ [[A]] #b", &["1 [[A]]", "1 #b"]),
    ] {
        assert_eq!(found(text), shown, "{text:?}");
    }
}

/// `mldoc` 1.6.0, and `get-page-reference` of `logseq.graph-parser`, which reads `embed` alone.
#[test]
fn macros_of_logseq_are_no_prose() {
    for (text, shown) in [
        ("{{query (and [[no]] #no)}} [[A]] {{embed [[B]]}} #c", &["1 [[A]]", "1 [[B]]", "1 #c"][..]),
        ("{{x}} [[A]] {{renderer :a, [[no]]}} {{ [[B]]\n\n[[C]] }}", &["1 [[A]]", "1 [[B]]", "3 [[C]]"]),
        ("{[[A]]} {#b} `{{` [[C]] `}}`", &["1 [[A]]", "1 #b", "1 `{{`", "1 [[C]]", "1 `}}`"]),
    ] {
        assert_eq!(found(text), shown, "{text:?}");
    }
}

#[test]
fn tags_of_all_scripts_are_tags() {
    assert_eq!(
        found("#日本語、#решение #हिन्दी #ação! #[[two words]]"),
        ["1 #日本語", "1 #решение", "1 #हिन्दी", "1 #ação", "1 #two words", "1 [[two words]]"]
    );
}

#[test]
fn list_items_may_be_indented_and_hold_fences() {
    let text = "- one\n\n    #in-item\n\n    ```\n    #no\n    ```\n- > ~~~\n  > #no\n  > ~~~\n\nprose\n\n    #code\n";
    assert_eq!(found(text), ["3 #in-item"]);
}

#[test]
fn links_are_reported_with_their_fields() {
    let text = "See [[Note]] and ![[Pic|alt]].\n- up:: [[A#h]], [[B]]\n(rel:: [[C]]) `[[no]]` [t](sub/x%20y.md#z) [u](http://a/b.md)\n";
    assert_eq!(
        found(text),
        [
            "1 [[Note]]",
            "1 ![[Pic]]",
            "2 up::[[A#h]]",
            "2 up::[[B]]",
            "3 rel::[[C]]",
            "3 `[[no]]`",
            "3 (sub/x%20y.md#z)",
            "3 (http://a/b.md)"
        ]
    );
}

#[test]
fn a_code_span_may_cover_lines_and_an_open_one_covers_nothing() {
    assert_eq!(found("`a\n#no` #yes\n\n` #open\n"), ["1 `a #no`", "2 #yes", "4 #open"]);
}

#[test]
fn no_text_takes_time_without_measure() {
    let started = std::time::Instant::now();
    for piece in ["`", "#", "[", "[[", "`` ` ", "- ", "\\", "](", "a::", "#a", "> ", "$", "$#a ", "$$\n\n", "{{a}}{{"] {
        marks(&piece.repeat(200_000), 1, |_, _| {});
    }
    // Quadratic time would be minutes.
    assert!(started.elapsed().as_secs() < 60);
}

/// CommonMark 0.31.2, 6.3 (a link's text may have images), and Obsidian's help, "Embed files", of August 2026.
#[test]
fn a_link_and_the_embed_in_its_text_are_two() {
    for (text, marks) in [
        ("[![[T5]]](T6.md)", &["1 (T6.md)", "1 ![[T5]]"][..]),
        ("[x ![[T5|b]] y](T6.md) ![[C]]", &["1 (T6.md)", "1 ![[T5]]", "1 ![[C]]"]),
        ("[![a](b.png)](T6.md)", &["1 (T6.md)", "1 !(b.png)"]),
        ("![[T5] y](b.png)", &["1 !(b.png)"]),
        ("![[T5]](T6.md)", &["1 ![[T5]]"]),
    ] {
        assert_eq!(found(text), marks, "{text}");
    }
}
