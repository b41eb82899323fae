//! `infer_types`: what it may not offer, though its own file would bear it.

use serde_json::{Value, json};

use crate::harness::Repo;

fn types(answer: &Value) -> Vec<String> {
    let all = answer["suggestions"].as_array().unwrap().iter();
    all.map(|one| format!("{} {}", one["name"].as_str().unwrap(), one["type"].as_str().unwrap())).collect()
}

#[test]
fn an_annotation_that_breaks_a_file_that_uses_it_is_not_offered() {
    // The default alone says `int`; the annotated caller elsewhere hands on a wider type.
    let repo = Repo::new(
        "//- /lib.py\nclass Box:\n    def fill(self, size=1):\n        return str(size)\n//- /use.py\nfrom lib import Box\n\n\ndef f(box: Box, **rest: str) -> str:\n    return box.fill(**rest)\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "lib.py" }));
    assert_eq!(types(&answer), ["fill str"]);
    assert!(answer["skipped"].to_string().contains("would bring a new diagnostic"), "{answer}");
    // Without that caller it is.
    repo.remove("use.py");
    let answer = repo.call("infer_types", &json!({ "file": "lib.py" }));
    assert_eq!(types(&answer).len(), 2, "{answer}");
}

#[test]
fn not_implemented_is_no_part_of_what_a_caller_gets() {
    let repo = Repo::new(
        "//- /a.py\nclass A:\n    def __eq__(self, other: object):\n        if not isinstance(other, A):\n            return NotImplemented\n        return self is other\n",
    );
    assert_eq!(types(&repo.call("infer_types", &json!({ "file": "a.py" }))), ["__eq__ bool"]);
}
