//! Databases whose collations fold and sort letters otherwise: no answer depends on that.

use serde_json::json;

use crate::organisation::server::{Organisation, shared};
use crate::organisation::wide::add_many;
use crate::support::harness::{Repo, Server};
use crate::worktrees::committed;

/// Names with each letter that Turkish, Azeri or Lithuanian fold in another way.
const FILES: &str =
    "//- /index.py\nINDEX_needle = 1\n\ndef LIST_items(): pass\n\ndef lower_index(): pass\n//- /other.py\nother = 2\n";

#[test]
fn what_many_repositories_contain_is_found_in_databases_of_any_language() {
    for locale in ["tr-TR", "az-AZ", "lt-LT", "und"] {
        let locale = format!("ENCODING UTF8 LOCALE_PROVIDER icu ICU_LOCALE '{locale}' LOCALE 'C'");
        let organisation = Organisation::with_locale(shared(), &locale);
        organisation.admin(&["org", "init"]);
        let everything = organisation.role("everything", "*", &["--publish"]);
        let granted = organisation.role("granted", "made-*", &[]);
        organisation.admin(&["org", "grant", &granted, "Pay*"]);
        let repo = committed(FILES);
        organisation.ok(&repo, &everything, &["publish", "--as", "Pay-I"]);
        organisation.ok(&repo, &everything, &["publish", "--as", "Pay-i"]);
        add_many(&organisation);
        organisation.sql(
            "INSERT INTO ixmcp.granted SELECT u.role, r.id FROM ixmcp.rules u, ixmcp.repos r
            WHERE r.name LIKE 'made-%' AND u.pattern = 'made-*' ON CONFLICT DO NOTHING; ANALYZE",
        );
        // With the indexes of all texts, and by looking at the own ones.
        for role in [&everything, &granted] {
            let asking = Repo::new("//- /own.md\nnothing\n");
            let mut client = Server::start_mcp(organisation.command(&asking, role, &["mcp", "--no-daemon"]));
            for (text, case_sensitive, total) in [
                ("INDEX_needle", true, 2),
                ("index_needle", true, 0),
                ("index_NEEDLE", false, 2),
                ("list_ITEMS", false, 2),
                ("LOWER_INDEX", false, 2),
                ("lower_index", true, 2),
            ] {
                let search =
                    json!({ "text": text, "mode": "literal", "case_sensitive": case_sensitive, "repo": "org:*" });
                let found = client.tool("query", &search);
                assert_eq!((&found["total"], found.get("problems")), (&json!(total), None), "{locale} {text}: {found}");
            }
            for (name, total) in [("INDEX_needle", 2), ("list_items", 2)] {
                let found = client.tool("get_symbol", &json!({ "name": name, "repo": "org:*" }));
                assert_eq!(found["total"], total, "{locale} {name}: {found}");
            }
        }
        // Names are sorted by their bytes.
        assert_eq!(organisation.seen_by(&everything)[..2], ["Pay-I", "Pay-i"], "{locale}");
    }
}
