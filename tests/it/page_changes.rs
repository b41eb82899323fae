//! `ixmcp ui` while its repository changes, and finding in what it shows.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::page::{Page, in_browser};
use crate::support::harness::Repo;

const SHOP: &str = "\
//- /src/shop.py
class Cart:
    def total_price_of_everything_in_it(self):
        return sum(self.items)

    def checkout(self):
        return self.total_price_of_everything_in_it()
//- /README.md
# Shop

One[^b] two[^1].

[^1]: First.
[^b]: Second.
//- /.ixchel/decisions/dec-1a2b3c.md
---
id: dec-1a2b3c
title: Carts sum their items
status: accepted
relates_to: [iss-42aa]
---
See `Cart` in src/shop.py.
//- /.ixchel/issues/iss-42aa.md
---
id: iss-42aa
title: Sums are slow
status: open
---
Very.
";

fn shop() -> Repo {
    let repo = Repo::new(SHOP);
    let functions = |number| format!("def function_number_{number}_with_a_long_name(a):\n    return a + {number}\n\n");
    repo.write("src/long.py", (0..1500).map(functions).collect::<String>());
    let line = |number| format!("line {number} of a large file of text, with needle{number}\n");
    repo.write("src/big.txt", (0..40_000).map(line).collect::<String>());
    repo.sync();
    repo
}

#[test]
fn a_person_sees_changes_in_a_browser_at_once() {
    let repo = shop();
    let page = Page::open(&repo);
    let mut plan = json!({ "address": page.address, "page": page.id(), "root": repo.path() });
    let said = in_browser("page_changes.cjs", &repo, plan.clone());
    assert!(said["checks"].as_u64().unwrap() > 60, "{said}");

    let repo = shop();
    repo.ok(&["daemon", "start", "--idle", "15m"]);
    let page = Page::open(&repo);
    plan = json!({ "address": page.address, "page": page.id(), "daemon": repo.status()["pid"], "root": repo.path() });
    let said = in_browser("page_changes.cjs", &repo, plan);
    assert!(said["checks"].as_u64().unwrap() > 60, "{said}");
}

/// Asks until something that is wanted has changed. Answers before it, such as those of earlier writes, are skipped.
fn changed(page: &Page, known: &mut Value, file: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let given =
            json!({ "file": file, "stamp": known["stamp"], "feed": known["feed"], "position": known["position"] });
        let (status, answer) = page.ask("POST /api/changes", &given.to_string());
        assert_eq!(status, 200, "{answer}");
        *known = answer.clone();
        if is_wanted(&answer) {
            return answer;
        }
        assert!(Instant::now() < end, "{answer}");
    }
}

#[test]
fn a_waiting_page_receives_changes_on_disk_with_a_daemon_and_without() {
    let repo = Repo::new(SHOP);
    let page = Page::open(&repo);
    for has_daemon in [false, true] {
        if has_daemon {
            repo.ok(&["daemon", "start", "--idle", "15m"]);
        }
        assert_eq!(page.ask("POST /api/tool/stats", "{}").0, 200);
        let has = |list: &'static str, path: &'static str| {
            move |answer: &Value| {
                answer["everything"] == json!(true) || answer[list].as_array().unwrap().contains(&json!(path))
            }
        };
        let mut known = json!({ "position": 0 });
        let first = changed(&page, &mut known, "src/shop.py", |_| true);
        assert_eq!((&first["everything"], &first["daemon"]), (&json!(false), &json!(has_daemon)), "{first}");
        let stamp = first["stamp"].clone();
        assert!(stamp.is_string(), "{first}");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| changed(&page, &mut known, "src/shop.py", move |now| now["stamp"] != stamp));
            // It waits by now.
            std::thread::sleep(Duration::from_millis(500));
            repo.write("src/shop.py", format!("x = {has_daemon}\n"));
            let answer = waiting.join().unwrap();
            assert!(answer["stamp"].is_string(), "{answer}");
        });
        repo.write("src/new.py", "x = 1\n");
        changed(&page, &mut known, "src/shop.py", has("saved", "src/new.py"));
        repo.remove("src/new.py");
        changed(&page, &mut known, "src/shop.py", has("removed", "src/new.py"));
        repo.remove("src/shop.py");
        changed(&page, &mut known, "src/shop.py", |now| now["stamp"].is_null());
        repo.write("src/shop.py", "x = 2\n");
        changed(&page, &mut known, "src/shop.py", |now| now["stamp"].is_string());
    }
    // A wait delays the end of the daemon for no more than a moment, and goes on without it.
    let mut known = json!({ "position": 0 });
    changed(&page, &mut known, "src/shop.py", |_| true);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| changed(&page, &mut known, "src/shop.py", |now| now["daemon"] == json!(false)));
        std::thread::sleep(Duration::from_millis(500));
        repo.ok(&["daemon", "stop"]);
        assert_eq!(waiting.join().unwrap()["everything"], json!(true), "another process noticed what was before");
    });
    for wrong in [json!({ "file": 7 }), json!({ "position": "x" }), json!({ "other": 1 })] {
        assert_eq!(page.ask("POST /api/changes", &wrong.to_string()).0, 400, "{wrong}");
    }
}
