//! A repository that is itself a Python package: the type checker cannot resolve its relative imports.

use serde_json::json;

use crate::support::harness::{Repo, Server};

#[test]
fn references_with_unresolved_relative_imports_do_not_claim_to_be_complete() {
    let repo = Repo::new(
        r#"
//- /__init__.py
from .nodes import Loader

//- /nodes.py
class Loader:
    def load(self): ...


class Alone: ...

//- /sub/__init__.py

//- /sub/inner.py
def run():
    from ..nodes import Loader

    return Loader().load()

//- /user.py
from nodes import Alone

Alone()

//- /gone.py
from .missing import Alone
"#,
    );
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    for name in ["Loader", "Loader.load"] {
        let found = server.call("find_references", &json!({ "symbol_name": name }));
        assert_eq!(found["complete"], json!(false), "{found}");
    }
    let of_loader = server.call("find_references", &json!({ "symbol_name": "Loader" }));
    assert!(of_loader["reason"].as_str().unwrap().starts_with("2 files"), "{of_loader}");

    // A module that is nowhere refers to nothing.
    let of_alone = server.call("find_references", &json!({ "symbol_name": "Alone" }));
    assert_eq!((&of_alone["complete"], &of_alone["total"]), (&json!(null), &json!(3)), "{of_alone}");

    // No definition is not the same as no reference.
    let unknown = json!({ "file": "sub/inner.py", "line": 2, "column": 25 });
    let of_unknown = server.call("find_references", &unknown);
    assert_eq!((&of_unknown["complete"], &of_unknown["total"]), (&json!(false), &json!(0)), "{of_unknown}");
}
