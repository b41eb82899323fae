//! `infer_types`: suggestions that it must not make although the file itself would stay valid.

use serde_json::{Value, json};

use crate::harness::Repo;

fn types(answer: &Value) -> Vec<String> {
    let all = answer["suggestions"].as_array().unwrap().iter();
    all.map(|one| format!("{} {}", one["name"].as_str().unwrap(), one["type"].as_str().unwrap())).collect()
}

#[test]
fn annotations_that_break_a_dependent_file_are_not_suggested() {
    // The default alone yields `int`; the annotated caller in another file passes a wider type.
    let repo = Repo::new(
        "//- /lib.py\nclass Box:\n    def fill(self, size=1):\n        return str(size)\n//- /use.py\nfrom lib import Box\n\n\ndef f(box: Box, **rest: str) -> str:\n    return box.fill(**rest)\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "lib.py" }));
    assert_eq!(types(&answer), ["fill str"]);
    assert!(answer["skipped"].to_string().contains("would cause a new diagnostic"), "{answer}");
    // Without that caller it is suggested.
    repo.remove("use.py");
    let answer = repo.call("infer_types", &json!({ "file": "lib.py" }));
    assert_eq!(types(&answer).len(), 2, "{answer}");
}

#[test]
fn not_implemented_is_not_part_of_the_return_type() {
    let repo = Repo::new(
        "//- /a.py\nclass A:\n    def __eq__(self, other: object):\n        if not isinstance(other, A):\n            return NotImplemented\n        return self is other\n",
    );
    assert_eq!(types(&repo.call("infer_types", &json!({ "file": "a.py" }))), ["__eq__ bool"]);
}

#[test]
fn types_propagate_through_unannotated_files() {
    let repo = Repo::new(
        "//- /a.py\nfrom b import middle\n\n\ndef first():\n    return middle()\n//- /b.py\nimport c\n\n\ndef middle():\n    return c.Last().name(), c.deep(2)\n//- /c.py\nfrom a import first\n\n\nclass Last:\n    def name(self):\n        return self.made()\n\n    def made(self):\n        return \"x\"\n\n\ndef deep(n=1):\n    return n + 1\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(types(&answer), ["first tuple[str, int]"], "{answer}");
    // The other files are unchanged on disk: the edit is valid without further edits.
    repo.write("a.py", "from b import middle\n\n\ndef first() -> tuple[str, int]:\n    return middle()\n");
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn inference_for_one_symbol_uses_all_others() {
    let repo = Repo::new("//- /a.py\ndef f():\n    return g()\n\n\ndef g():\n    return \"x\"\n");
    assert_eq!(types(&repo.call("infer_types", &json!({ "file": "a.py", "symbol": "f" }))), ["f str"]);
}

#[test]
fn parameters_take_the_types_of_overridden_methods() {
    let repo = Repo::new(
        "//- /pyproject.toml\n[project]\nname = \"p\"\nrequires-python = \">=3.12\"\n//- /base.py\nclass Reader:\n    def read(self, name: str, size: int | None = None) -> str:\n        return name * (size or 1)\n//- /a.py\nfrom base import Reader\n\n\nclass Loud(Reader):\n    def read(self, name, size=None):\n        return name.upper()\n\n    def __eq__(self, other):\n        return other is self\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(types(&answer), ["read str", "name str", "size int | None", "__eq__ bool", "other object"], "{answer}");
    assert_eq!(answer["suggestions"][1]["evidence"], "it overrides that of Reader");
}

#[test]
fn calls_through_the_superclass_count_for_overriding_methods() {
    let repo = Repo::new(
        "//- /a.py\nclass Base:\n    def put(self, key):\n        return None\n\n\nclass Below(Base):\n    def put(self, key):\n        return None\n\n\ndef use(base: Base, below: Below) -> None:\n    base.put(1)\n    below.put(\"x\")\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "Below" }));
    assert!(types(&answer).iter().all(|one| one != "key str"), "narrower than what it overrides: {answer}");
}

#[test]
fn arguments_passed_by_python_have_known_types() {
    let repo = Repo::new(
        "//- /pyproject.toml\n[project]\nname = \"p\"\nrequires-python = \">=3.12\"\n//- /a.py\nclass Held:\n    def __exit__(self, kind, value=None, traceback=None):\n        return None\n\n    def __getattr__(self, name):\n        return name\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(
        types(&answer),
        [
            "__exit__ None",
            "kind type[BaseException] | None",
            "value BaseException | None",
            "traceback TracebackType | None",
            "__getattr__ str",
            "name str",
        ],
        "{answer}"
    );
}

#[test]
fn a_marker_default_alone_is_no_evidence() {
    let repo = Repo::new(
        "//- /a.py\nclass NotGiven:\n    \"\"\"No value.\"\"\"\n\n\nclass Limits:\n    def __init__(self, most: int = 3) -> None:\n        self.most = most\n\n\nNOT_GIVEN = NotGiven()\nLIMITS = Limits()\n\n\ndef get(timeout=NOT_GIVEN, limits=LIMITS, retries=NOT_GIVEN) -> None:\n    return None\n\n\nget(timeout=3)\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "get" }));
    assert_eq!(types(&answer), ["timeout NotGiven | int", "limits Limits"], "{answer}");
    assert!(answer["skipped"].to_string().contains("is a marker"), "{answer}");
}

#[test]
fn annotated_defaults_have_spaces_around_the_equals_sign() {
    let repo = Repo::new("//- /a.py\ndef f(tax=0.1, rate = 2, name=(\"x\")) -> None:\n    return None\n");
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    let mut inserts: Vec<(u64, String)> = Vec::new();
    for one in answer["suggestions"].as_array().unwrap() {
        for edit in std::iter::once(&one["edit"]).chain(one["imports"].as_array().unwrap()) {
            inserts.push((edit["column"].as_u64().unwrap(), edit["insert"].as_str().unwrap().to_owned()));
        }
    }
    inserts.sort();
    let mut line = "def f(tax=0.1, rate = 2, name=(\"x\")) -> None:".to_owned();
    for (column, insert) in inserts.iter().rev() {
        line.insert_str(usize::try_from(*column).unwrap() - 1, insert);
    }
    assert_eq!(line, "def f(tax: float = 0.1, rate: int = 2, name: str = (\"x\")) -> None:");
}

const CALLED: &str = "//- /a.py\nclass Box:\n    def __init__(self, value, third=1):\n        self.value = value\n        self.third = third\n\n\nclass Leaf(Box): ...\n\n\nBox(1)\nBox(\"a\")\n";

#[test]
fn annotations_based_on_a_rejected_one_are_not_suggested() {
    let repo = Repo::new(&format!("{CALLED}\n\ndef f(**rest: str) -> Box:\n    return Box(1, **rest)\n"));
    let answer = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "Box" }));
    assert_eq!(types(&answer), ["value int | str", "__init__ None", "value int | str"], "{answer}");
    assert!(answer["skipped"].to_string().contains("`int` would cause a new diagnostic"), "{answer}");
    let asked = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "Box.third" }));
    assert_eq!(types(&asked), Vec::<String>::new(), "{asked}");
}

#[test]
fn every_kind_of_constructor_call_is_evidence() {
    for (call, value) in [
        ("Box(b\"\")\n", "int | str | bytes"),
        ("Leaf(b\"\")\n", "int | str | bytes"),
        ("Box.__init__(Box(1), b\"\")\n", "int | str | bytes"),
        ("type(Box(1))(b\"\")\n", "int | str | bytes"),
        (
            "class Own(Box):\n    def __init__(self) -> None:\n        super().__init__(b\"\", third=2)\n",
            "int | str | bytes",
        ),
        ("class Own(Box):\n    def __init__(self, value) -> None:\n        super().__init__(value)\n", ""),
        ("from typing import Any\n\n\ndef f(x: Any) -> None:\n    Leaf(x)\n", ""),
        ("from typing import Any\n\n\ndef f(x: list[Any]) -> None:\n    Box(*x)\n", ""),
        ("from typing import Any\n\n\ndef f(x: dict[str, Any]) -> None:\n    Box(**x)\n", ""),
    ] {
        let repo = Repo::new(&format!("{CALLED}{call}"));
        let answer = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "Box" }));
        let found: Vec<String> = types(&answer).into_iter().filter(|one| one.starts_with("value")).collect();
        let parts = |text: &str| text.split(" | ").map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let found: Vec<_> = found.iter().map(|one| parts(one.trim_start_matches("value "))).collect();
        let expected = if value.is_empty() { Vec::new() } else { vec![parts(value); 2] };
        assert_eq!(found, expected, "{call}: {answer}");
    }
}

#[test]
fn unknown_symbols_are_not_found() {
    let repo = Repo::new("//- /a.py\nclass A:\n    def f(self, x=1):\n        self.y = x\n        return x\n");
    for symbol in ["A", "A.f", "A.f.x", "f", "y", "A.y"] {
        repo.call("infer_types", &json!({ "file": "a.py", "symbol": symbol }));
    }
    for symbol in ["nope", "A.nope", "f.A", "A.f.z"] {
        let output = repo.run(&["infer", "a.py", symbol]);
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("NOT_FOUND") && said.contains(symbol), "{said}");
    }
}

#[test]
fn return_types_of_recursive_functions_are_inferred() {
    let repo = Repo::new(
        "//- /a.py\ndef rec(n):\n    return 1 if n == 0 else n * rec(n - 1)\n\n\ndef even(n):\n    return True if n == 0 else odd(n - 1)\n\n\ndef odd(n):\n    return False if n == 0 else even(n - 1)\n\n\ndef half(n):\n    return 1 if n < 2 else half(n // 2) / 2\n\n\ndef depth(tree):\n    return 1 + max([depth(one) for one in tree], default=0)\n\n\ndef after(n):\n    return str(even(n)) + \"!\"\n\n\ndef lost(n, x):\n    return x if n == 0 else lost(n - 1, x) or 1\n\n\ndef never(n):\n    return never(n)\n\n\nrec(5)\neven(4)\nhalf(9)\nafter(2)\nnever(1)\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    let returns: Vec<String> = answer["suggestions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kind"] == "return")
        .map(|one| format!("{} {}", one["name"].as_str().unwrap(), one["type"].as_str().unwrap()))
        .collect();
    assert_eq!(returns, ["rec int", "even bool", "odd bool", "half float", "depth int", "after str"], "{answer}");
}

#[test]
fn unions_have_no_redundant_members() {
    let repo = Repo::new(
        "//- /a.py\ndef f(x=1):\n    return x\n\n\ndef g(flag):\n    if flag:\n        return 0\n    return False\n\n\ndef h(flag):\n    return [1, 2.5] if flag else None\n\n\nf(2.5)\nf(True)\ng(1)\nh(1)\n",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(
        types(&answer),
        ["f float", "x float", "g int", "flag int", "h list[float] | None", "flag int"],
        "{answer}"
    );
}
