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

#[test]
fn a_type_travels_through_files_that_have_no_annotations() {
    let repo = Repo::new(
        "//- /a.py\nfrom b import middle\n\n\ndef first():\n    return middle()\n//- /b.py\nimport c\n\n\ndef middle():\n    return c.Last().name(), c.deep(2)\n//- /c.py\nfrom a import first\n\n\nclass Last:\n    def name(self):\n        return self.made()\n\n    def made(self):\n        return \"x\"\n\n\ndef deep(n=1):\n    return n + 1\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(types(&answer), ["first tuple[str, int]"], "{answer}");
    // On the disk they are as they were: the edit is sound beside them.
    repo.write("a.py", "from b import middle\n\n\ndef first() -> tuple[str, int]:\n    return middle()\n");
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn one_symbol_is_inferred_with_the_help_of_all() {
    let repo = Repo::new("//- /a.py\ndef f():\n    return g()\n\n\ndef g():\n    return \"x\"\n");
    assert_eq!(types(&repo.call("infer_types", &json!({ "file": "a.py", "symbol": "f" }))), ["f str"]);
}
