//! A repository that is itself a Python package: the type checker does not follow imports that leave it.

use serde_json::json;

use crate::harness::{Repo, Server};

#[test]
fn references_through_imports_that_the_type_checker_does_not_follow_are_not_claimed_to_be_complete() {
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

    // A name that the checker knows nothing of has no known references, which is not the same as none.
    let unknown = json!({ "file": "sub/inner.py", "line": 2, "column": 25 });
    let of_unknown = server.call("find_references", &unknown);
    assert_eq!((&of_unknown["complete"], &of_unknown["total"]), (&json!(false), &json!(0)), "{of_unknown}");
}
