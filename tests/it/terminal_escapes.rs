//! A file's text cannot control the terminal on which a command shows it, whichever command that is.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::harness::Repo;
use crate::terminal::run_on_terminal;
use crate::worktrees::git;

/// Sets the title and the color, rings, reorders and hides text, returns to the start of the line.
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}31m\u{202e}\u{2066}\u{61c}\u{200b}\u{2028}\u{e0041}\r.";
/// Changes the color, rings and reorders text: for the names of files, which cannot contain all of `HOSTILE`.
const IN_NAMES: &str = "\u{1b}[31m\u{7}\u{9b}m\u{202e}";

/// Whether a terminal would not show a character as it is. By the Unicode character database: `Cc`, `Bidi_Control`, and what
/// has no width.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn repo() -> Repo {
    let repo = Repo::new("");
    let python = format!(
        "\"\"\"Words {HOSTILE}\"\"\"\n\n\ndef pay(amount):  # {HOSTILE}\n    \"\"\"Pays {HOSTILE}\"\"\"\n    return amount * 2  # {HOSTILE}\n\n\nwrong: int = \"{HOSTILE}\"\ntotal = pay(3)  # {HOSTILE}\n"
    );
    repo.write("pay.py", &python);
    let odd = format!("from pay import pay\n\nagain = pay(4)  # {HOSTILE}\nbad: int = ''\n");
    repo.write(&format!("od{IN_NAMES}d.py"), odd);
    let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n";
    repo.write(&format!("od{IN_NAMES}d.pem"), key);
    // Without plain text, it would be binary.
    let plain = "Words as a text has them, line by line, and nothing else.\n".repeat(40);
    repo.write("notes.md", format!("# Paying {HOSTILE}\n\nOrders {HOSTILE} are paid. #tag{IN_NAMES}\n{plain}"));
    let entity = |id: &str, more: &str| {
        let [hostile, short] = [HOSTILE, IN_NAMES].map(yaml);
        format!(
            "---\nid: {id}\ntitle: \"Paid {hostile}\"\nstatus: \"op{short}en\"\ntags: [\"t{short}\"]\n{more}---\nBody {HOSTILE} of pay.py and `pay`.\n"
        )
    };
    let edges = format!("\"re{}l\": iss-2\nblocks: iss-2\n", yaml(IN_NAMES));
    repo.write(".ixchel/issues/one.md", entity("iss-1", &edges));
    repo.write(".ixchel/issues/two.md", entity("iss-2", "blocks: iss-1\n"));
    repo.write(".ixchel/issues/three.md", "---\nid: iss-3\ntitle: \"Three\"\nblocks: [iss-77\n---\n");
    git(repo.path(), &["init", "-q", "-b", "main"]);
    git(repo.path(), &["add", "."]);
    git(repo.path(), &["commit", "-qm", "first"]);
    repo.write("pay.py", python.replace("amount * 2", "amount * 3"));
    repo.sync();
    repo
}

fn yaml(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) { format!("\\U{:08x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// Commands whose output is checked, and whether it shows something of the files that has to be escaped.
const COMMANDS: &[(&[&str], bool)] = &[
    (&[], false),
    (&["sync"], false),
    (&["sync", "--force"], false),
    (&["query", "orders paid"], true),
    (&["query", "-m", "literal", "pay", "-n", "50", "-C", "2"], true),
    (&["query", "-m", "literal", "pay", "--json"], true),
    (&["query", "orders paid", "--explain"], true),
    (&["symbol", "pay"], true),
    (&["symbol", "pay", "--relations"], true),
    (&["symbol", "--match", "prefix", "p"], false),
    (&["slice", "pay.py", "1", "20"], true),
    (&["slice", "pay.py", "1", "20", "--json"], true),
    (&["slice", "nowhere\u{1b}[31m\u{202e}.py", "1"], true),
    (&["slice", "od", "1"], false),
    (&["files"], true),
    (&["files", "--json"], true),
    (&["files", "--skipped"], true),
    (&["stats"], false),
    (&["stats", "--json"], false),
    (&["documents", "search", "orders", "--min-score", "0"], true),
    (&["documents", "show", "notes.md"], true),
    (&["documents", "show", "notes.md", "--json"], true),
    (&["documents", "index", "."], true),
    (&["documents", "list"], false),
    (&["documents", "update", "."], false),
    (&["entity", "list"], true),
    (&["entity", "show", "iss-1"], true),
    (&["entity", "show", "iss-1", "--json"], true),
    (&["entity", "search", "paid"], true),
    (&["entity", "context", "iss-1"], true),
    (&["entity", "tags"], true),
    (&["entity", "sync", "--force"], false),
    (&["entity", "check"], false),
    (&["entity", "path", "iss-1", "iss-2"], true),
    (&["entity", "cycles"], false),
    (&["entity", "ready"], false),
    (&["entity", "tag", "add", "iss-1", "new"], true),
    (&["entity", "link", "iss-1", "see", "iss-2"], false),
    (&["entity", "unlink", "iss-1", "see", "iss-2"], false),
    (&["entity", "edit", "iss-1", "--status", "closed"], false),
    (&["entity", "create", "idea", "A title"], false),
    (&["entity", "init"], false),
    (&["init"], false),
    (&["graph"], true),
    (&["graph", "-f", "dot"], true),
    (&["graph", "-f", "mermaid"], true),
    (&["graph", "-f", "json"], true),
    (&["graph", "--symbol", "pay"], true),
    (&["graph", "--symbol", "pay", "-f", "mermaid"], true),
    (&["check"], true),
    (&["check", "--output-format", "concise"], true),
    (&["check", "--output-format", "github"], true),
    (&["check", "--output-format", "sarif"], false),
    (&["check", "--json"], true),
    (&["type-at", "pay.py:4:5"], true),
    (&["def", "pay.py:10:9"], true),
    (&["refs", "pay.py:4:5"], true),
    (&["changes"], true),
    (&["history", "pay.py"], false),
    (&["changes", "-f", "markdown"], true),
    (&["infer"], false),
    (&["infer", "--diff"], true),
    (&["rename", "pay", "settle"], true),
    (&["rename", "pay", "settle", "--json"], true),
    (&["rename", "pay", "class"], false),
    (&["repos"], false),
    (&["deps", "--list"], false),
    (&["publish"], false),
    (&["unpublish"], false),
    (&["org", "status"], false),
    (&["call", "get_slice", "--args", "{\"file_path\":\"pay.py\",\"start_line\":1,\"end_line\":20}"], true),
    (&["sql", "SELECT path FROM files"], true),
    (&["sql", "SELECT path FROM files", "--json"], true),
    (&["sql", "SELECT text FROM nowhere\u{202e}"], false),
    (&["model", "list"], false),
    (&["model", "info"], false),
    (&["scip", "list"], false),
    (&["scip", "load", "notes.md"], false),
    (&["doctor"], false),
    (&["snapshot", "save", "saved\u{1b}[31m"], false),
    (&["setup", "claude-code", "--print"], false),
    (&["completions", "bash"], false),
    (&["man"], false),
    (&["rebuild"], false),
    (&["daemon", "status"], false),
];

/// Without the progress bar, which is drawn over itself and has numbers alone.
fn without_progress(shown: &str) -> String {
    shown.split("\r\u{1b}[2K").filter(|part| !part.starts_with("indexing ")).collect()
}

/// Commands that serve until they are stopped, and print addresses.
const SERVERS: &[&str] = &["mcp", "http", "ui"];

#[test]
fn every_command_escapes_on_a_terminal_what_would_control_it() {
    let repo = repo();
    let help = repo.ok(&["--help"]);
    let (_, listed) = help.split_once("Get started:").unwrap();
    let (listed, _) = listed.split_once("Examples:").unwrap();
    // A name has a column of its own; the text behind it may go on in the next line.
    let names = listed.lines().filter_map(|line| line.get(2..14).map(str::trim)).filter(|name| !name.contains(' '));
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && !name.ends_with(':')).collect();
    assert!(names.len() > 25, "{names:?}");
    let tested: BTreeSet<&str> = COMMANDS.iter().filter_map(|(arguments, _)| arguments.first().copied()).collect();
    for name in names {
        assert!(tested.contains(name) || SERVERS.contains(&name), "{name} is not in the list");
    }
    for (arguments, shows) in COMMANDS {
        let (_, shown) = run_on_terminal(&repo, &[("NO_COLOR", "1")], arguments);
        let shown = without_progress(&shown);
        let harmful: BTreeSet<char> = shown.chars().filter(|c| is_harmful(*c) && !matches!(c, '\n' | '\t')).collect();
        assert_eq!(harmful, BTreeSet::new(), "{arguments:?}: {shown:?}");
        let escapes = ["\\u{202e}", "\\u{1b}", "\\u202e", "\\u001b", "#123;202e#125;"];
        let is_escaped = escapes.iter().any(|escape| shown.contains(escape));
        assert!(is_escaped || !shows, "{arguments:?} shows nothing that had to be escaped: {shown}");
    }
}

#[test]
fn colors_and_links_are_the_only_sequences_on_a_terminal() {
    let repo = repo();
    let modern = [("VTE_VERSION", "7200")];
    for (arguments, _) in COMMANDS.iter().filter(|(_, shows)| *shows) {
        let (_, shown) = run_on_terminal(&repo, &modern, arguments);
        let shown = without_progress(&shown);
        for part in shown.split('\u{1b}').skip(1) {
            let color = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
            let is_color = color.is_some_and(|(codes, _)| ["0", "1;31", "31", "32", "33", "35", "36"].contains(&codes));
            let is_link = part.starts_with("]8;;") || part.starts_with('\\');
            assert!(is_color || is_link, "{arguments:?}: {part:?}");
        }
        let plain = shown.replace('\u{1b}', "");
        let harmful: Vec<char> = plain.chars().filter(|c| is_harmful(*c) && !matches!(c, '\n' | '\t')).collect();
        assert!(harmful.is_empty(), "{arguments:?}: {harmful:?} in {shown:?}");
    }
}

#[test]
fn a_pipe_is_given_the_bytes_of_the_file() {
    let repo = repo();
    let text = std::fs::read_to_string(repo.path().join("pay.py")).unwrap();
    assert_eq!(repo.ok(&["slice", "pay.py", "1", "99"]), text);
    let entity = std::fs::read_to_string(repo.path().join(".ixchel/issues/one.md")).unwrap();
    assert_eq!(repo.ok(&["entity", "show", "iss-1"]), entity);
    let json: Value = serde_json::from_str(&repo.ok(&["slice", "pay.py", "1", "99", "--json"])).unwrap();
    assert_eq!(json["content"], *text);
    repo.write("rename.patch", repo.ok(&["rename", "pay", "settle"]));
    git(repo.path(), &["apply", "rename.patch"]);
    let renamed = std::fs::read_to_string(repo.path().join("pay.py")).unwrap();
    assert_eq!(renamed, text.replace("def pay(", "def settle(").replace("= pay(", "= settle("));
}
