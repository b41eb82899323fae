//! Words beyond ASCII: scripts without spaces between words, and letters with accents.

use serde_json::{Value, json};

use crate::support::harness::Repo;

const DOCUMENTS: &str = "\
//- /library_zh.md
# 社区指南

图书馆在星期一上午九点开门，下午五点关门。借书证可以在前台免费办理。
//- /clinic_zh.md
# 诊所

感冒药应当在饭后服用，每天三次。儿童的剂量减半，孕妇请先咨询医生。
//- /lighthouse_ja.txt
これは日本語の文書です。灯台のランプは日没の一時間前に点灯されます。猫が階段で眠っています。
//- /refund_ja.html
<html><body><h1>返品について</h1><p>商品の返品は到着後七日以内にお願いします。送料はお客様の負担となります。</p></body></html>
//- /library_ko.md
# 안내

도서관은 월요일 오전 아홉 시에 문을 엽니다. 대출한 책은 이 주 안에 반납해야 합니다.
//- /cooking_th.md
# ครัว

ต้มน้ำซุปด้วยไฟอ่อนสองชั่วโมงแล้วใส่ผักชี ห้องสมุดเปิดเวลาเก้าโมงเช้า
//- /menu.md
# Opening

The café opens at nine. Señor Núñez bakes the crêpes himself; a naïve guest asks for jalapeño jam.
//- /firma.md
# Über uns

Frau Müller wohnt in der Grünewaldstraße und prüft die Größe der Röcke.
//- /plain.md
# Notes

The resume of Mr Muller names a facade and a role in Sao Paulo.
//- /книга.md
# Книга

Маяк зажигают за час до заката солнца, ещё раньше зимой.
//- /note.txt
An unrelated line about ropes and anchors.
";

/// Queries, each with the file that answers it.
const ASKED: &[(&str, &str)] = &[
    ("图书馆", "library_zh.md"),
    ("图书馆几点开门", "library_zh.md"),
    ("借书证", "library_zh.md"),
    ("儿童的剂量", "clinic_zh.md"),
    ("感冒药怎么服用", "clinic_zh.md"),
    ("灯台", "lighthouse_ja.txt"),
    ("灯台のランプはいつ点灯されますか", "lighthouse_ja.txt"),
    ("日没", "lighthouse_ja.txt"),
    ("猫", "lighthouse_ja.txt"),
    ("ﾗﾝﾌﾟ", "lighthouse_ja.txt"),
    ("返品の送料", "refund_ja.html"),
    ("도서관", "library_ko.md"),
    ("책을 반납", "library_ko.md"),
    ("ผักชี", "cooking_th.md"),
    ("ห้องสมุดเปิด", "cooking_th.md"),
    ("cafe", "menu.md"),
    ("café", "menu.md"),
    ("CAFE\u{301}", "menu.md"),
    ("senor nunez", "menu.md"),
    ("naive", "menu.md"),
    ("crepes", "menu.md"),
    ("uber uns", "firma.md"),
    ("Grunewaldstrasse", "firma.md"),
    ("groesse der röcke", "firma.md"),
    ("grosse", "firma.md"),
    ("résumé", "plain.md"),
    ("façade", "plain.md"),
    ("São Paulo", "plain.md"),
    ("маяк", "книга.md"),
    ("еще раньше", "книга.md"),
];

#[test]
fn words_of_any_script_are_found_among_documents_and_in_code() {
    let repo = Repo::new(DOCUMENTS);
    repo.call("index_files", &json!({ "folderPath": "." }));
    let mut missed = Vec::new();
    for (query, path) in ASKED {
        let found = repo.call("search_documents", &json!({ "query": query }));
        if found["results"][0]["filePath"] != *path {
            missed.push(format!("search_documents {query}: {}", found["results"][0]));
        }
        let found = repo.call("query", &json!({ "text": query }));
        if found["results"][0]["file_path"] != *path {
            missed.push(format!("query {query}: {found}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_query_that_nothing_answers_finds_nothing_in_any_script() {
    let repo = Repo::new(DOCUMENTS);
    repo.call("index_files", &json!({ "folderPath": "." }));
    for query in ["量子力学的基本原理", "自動車の保険料を比較する", "주식 시장 전망", "ราคาทองคำวันนี้", "цена на нефть"]
    {
        let found = repo.call("search_documents", &json!({ "query": query }));
        assert_eq!(found["results"], json!([]), "{query}");
    }
}

/// A word in every text of a language is not a query.
#[test]
fn a_function_word_alone_is_not_a_query_in_any_language() {
    let repo = Repo::new(
        r"
//- /haus.md
# Haus und Hof

Bienen und Blumen.
//- /und.md
# Und

und so weiter
//- /avec.md
# Avec ou sans

une ruche avec des abeilles
//- /cipher.md
# DES

DES is an old cipher.
//- /test.py
def und(a, b):
    return a
",
    );
    let scores = |query: &str| {
        let options = json!({ "minScore": 0 });
        let answer = repo.call("search_documents", &json!({ "query": query, "options": options }));
        let scores = answer["results"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap());
        scores.collect::<Vec<_>>()
    };
    for query in ["und", "Und", "und?", "\"und\"", "avec", "UND"] {
        let scores = scores(query);
        assert!(!scores.is_empty() && scores.iter().all(|score| *score <= 0.5), "{query}: {scores:?}");
    }
    assert!(scores("DES")[0] > 0.7, "a thing of that name: {:?}", scores("DES"));
    assert!(scores("Bienen und Blumen")[0] > 0.7);
}

#[test]
fn both_spellings_are_found_and_exact_search_distinguishes_them() {
    let repo = Repo::new(
        r"
//- /a.md
Frau Müller
//- /b.md
Mister Muller
",
    );
    let paths = |found: Value, field: &str| {
        let hits = found[field].as_array().cloned().unwrap_or_default();
        hits.iter().map(|hit| hit["file_path"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    for query in ["Müller", "Muller", "muller"] {
        let mut found = paths(repo.call("query", &json!({ "text": query })), "results");
        found.sort();
        assert_eq!(found, ["a.md", "b.md"], "{query}");
    }
    let exactly = |text: &str| paths(repo.call("query", &json!({ "text": text, "mode": "literal" })), "results");
    assert_eq!(exactly("Müller"), ["a.md"]);
    assert_eq!(exactly("Muller"), ["b.md"]);
}

#[test]
fn phrases_and_exclusions_hold_in_any_script() {
    let repo = Repo::new(
        r"
//- /a.md
图书馆在星期一开门
//- /b.md
图书馆在星期二开门
//- /c.md
the café au lait
",
    );
    let paths = |text: &str| {
        let found = repo.call("query", &json!({ "text": text }));
        let hits = found["results"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["file_path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths("\"星期二开门\""), ["b.md"]);
    assert_eq!(paths("图书馆 -星期二"), ["a.md"]);
    assert_eq!(paths("\"cafe au\""), ["c.md"]);
}

#[test]
fn a_name_of_a_file_is_found_by_its_pieces() {
    let repo = Repo::new(
        r"
//- /設計ガイド.md
# x

nothing
//- /Übersicht.md
# y

nothing
",
    );
    for (query, path) in [("設計", "設計ガイド.md"), ("ubersicht", "Übersicht.md")] {
        let found = repo.call("query", &json!({ "text": query }));
        assert_eq!(found["results"][0]["file_path"], path, "{found}");
    }
}
