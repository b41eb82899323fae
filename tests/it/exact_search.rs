//! `query` in modes literal and regex against ripgrep on the same files: the same lines for thousands of patterns.
//!
//! `IXMCP_PATTERNS` is the number of random patterns. Of the hand-picked ones every third runs, or every `IXMCP_PATTERN_STEP`th.
//! `.ci/soak exact` runs thousands of random ones and all hand-picked ones, and searches real sources, too.

mod patterns;

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ixmcp::budget::Budget;
use ixmcp::query::{Page, PathFilter, exact};
use ixmcp::workspace::Workspace;
use serde_json::json;

use self::patterns::{Asked, Maker};
use crate::support::harness::Repo;
use crate::support::sound::{number, open, sync};
use crate::support::tree::Random;

/// Places where texts are odd: line ends, empty lines, letters of several cases and widths, what a regex means by
/// space.
const ODD: &[(&str, &str)] = &[
    ("odd/crlf.txt", "one\r\ntwo two\r\n\r\nthree\r\n"),
    ("odd/mixed_ends.txt", "unix\ndos\r\nmac\rstill mac\n\r\n\n"),
    ("odd/no_end.py", "def last():\n    return 'no line break after this'"),
    ("odd/empty.txt", ""),
    ("odd/one_break.txt", "\n"),
    ("odd/breaks.txt", "\n\n\n"),
    ("odd/spaces.txt", " \n\t\n  \t \nx \n x\n\u{a0}\n\u{2003}em\u{2003}\n\u{b}\u{c}\u{85}\u{2028}\u{2029}\n"),
    (
        "odd/letters.txt",
        "Straße STRASSE ſtraße\nΣίσυφος ΣΊΣΥΦΟΣ ς\nKelvin \u{212a}elvin kelvin\nİstanbul ıstanbul istanbul ISTANBUL\n\
         e\u{301} é E\u{301} É\nЖук жук ЖУК\n日本語テキスト 日本\nא ב ג\n🦀🦀 crab 👩‍👩‍👧\nǅ ǆ Ǆ\nﬀ ff FF\n",
    ),
    ("odd/words.txt", "foo foobar bar_foo foo-bar foo.bar FOO éfoo fooé foo1 1foo\n-foo- (foo) foo\n_foo_\nfoo"),
    (
        "odd/signs.txt",
        "a.b*c+d?e|f(g)h[i]j{k}l^m$n\\o/p\n^start\nend$\n\\\\ \\n \\t\n$&`'\"<>;:,!@#%=~\n{1,2} {} () []\n",
    ),
    ("odd/repeats.txt", "aaaa\nabababab\nab\nba\nfunc(func(x), y)\nif (a) { b; }\n}\n\n}\n}\n"),
    (
        "odd/control.txt",
        "bell\u{7} escape\u{1b}[0m delete\u{7f}\nzero width\u{200b}joiner\u{200d}\n\u{feff}mark inside\n",
    ),
    ("odd/mark.py", "\u{feff}first = 1\nsecond = first\n"),
];

/// One tree, indexed twice: as small trees are, and with trigrams as large ones are.
struct Tree {
    repo: Repo,
    plain: Arc<Workspace>,
    with_trigrams: Arc<Workspace>,
    _copy: tempfile::TempDir,
    indexed: HashSet<String>,
    files: Vec<String>,
}

impl Tree {
    fn build(repo: Repo) -> Self {
        let mut sync_plain = repo.command(&["sync"]);
        assert!(sync_plain.env("IXMCP_TRIGRAMS_FROM", "1000000000000").output().unwrap().status.success());
        let plain = open(repo.path());
        let copy = tempfile::tempdir().unwrap();
        let copied = Command::new("cp").arg("-a").arg(format!("{}/.", repo.path().display())).arg(copy.path()).status();
        assert!(copied.unwrap().success());
        let with_trigrams = open(copy.path());
        sync(&with_trigrams);
        for (workspace, expected) in [(&plain, false), (&with_trigrams, true)] {
            assert_eq!(workspace.read(&Budget::unlimited(), |snapshot| snapshot.has_trigrams()).unwrap(), expected);
        }
        // Elsewhere ripgrep reads bytes where we read letters, or a format where we read what is in it.
        let odd = "SELECT path FROM files WHERE encoding IS NOT NULL
            OR language IN ('docx', 'epub', 'mail', 'notebook', 'odt', 'pdf')
            OR id IN (SELECT file_id FROM problems WHERE reason LIKE '%U+FFFD%')";
        let decoded = Command::new("sqlite3").arg(repo.database()).arg(odd).output().unwrap();
        let decoded: BTreeSet<&str> = std::str::from_utf8(&decoded.stdout).unwrap().lines().collect();
        let paths = plain.read(&Budget::unlimited(), |snapshot| snapshot.paths(None)).unwrap();
        let indexed: HashSet<String> =
            paths.into_iter().map(|(path, _)| path).filter(|path| !decoded.contains(path.as_str())).collect();
        let mut files: Vec<String> = indexed.iter().cloned().collect();
        files.sort();
        Self { repo, plain, with_trigrams, _copy: copy, indexed, files }
    }

    fn texts(&self) -> Vec<String> {
        let read = |path: &String| fs::read(self.repo.path().join(path)).unwrap();
        self.files.iter().map(|path| String::from_utf8_lossy(&read(path)).into_owned()).collect()
    }

    /// The page at `offset`.
    fn ours(
        &self,
        workspace: &Workspace,
        asked: &Asked,
        offset: usize,
        limit: usize,
    ) -> Result<Page<(String, u32)>, String> {
        let pattern = exact::Pattern {
            text: &asked.text,
            is_regex: !asked.literal,
            case_sensitive: !asked.ignore_case,
            word: asked.word,
            multiline: asked.multiline,
        };
        let filter = PathFilter::from_paths(self.indexed.clone());
        let budget = Budget::unlimited();
        let found = workspace
            .read(&budget, |snapshot| exact::search(snapshot, None, &pattern, &filter, 0, (offset, limit), &budget));
        Ok(found.map_err(|error| error.to_string())?.map(|hit| (hit.path, hit.line)))
    }

    /// All lines that ripgrep prints; `None` for a pattern that it refuses.
    fn theirs(&self, asked: &Asked) -> Option<Vec<(String, u32)>> {
        let mut rg = Command::new("rg");
        rg.current_dir(self.repo.path());
        rg.args([
            "--no-config",
            "--color=never",
            "--no-heading",
            "--with-filename",
            "--line-number",
            "--null",
            "--text",
        ]);
        // The walk is compared elsewhere: here every file that we have.
        rg.args(["--hidden", "--no-ignore", "-g", "!.git", "-g", "!.ixmcp", "--max-columns=1"]);
        let flags = [
            (asked.literal, "--fixed-strings"),
            (asked.ignore_case, "--ignore-case"),
            (asked.word, "--word-regexp"),
            (asked.multiline, "--multiline"),
        ];
        rg.args(flags.iter().filter(|(given, _)| *given).map(|(_, flag)| flag));
        let output = rg.arg("-e").arg(&asked.text).arg(".").output().unwrap();
        if output.status.code() == Some(2) {
            return None;
        }
        let mut lines = Vec::new();
        for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            let (path, rest) = line.split_once('\0').unwrap_or_else(|| panic!("{asked:?}: {line}"));
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let path = path.strip_prefix("./").unwrap_or(path);
            if self.indexed.contains(path) {
                lines.push((path.to_owned(), number.parse().unwrap()));
            }
        }
        lines.sort();
        // With --multiline a line that several matches touch is printed once each.
        lines.dedup();
        Some(lines)
    }

    /// Describes a difference. `None` where both agree, or ripgrep rejects the pattern.
    fn difference(&self, asked: &Asked, random: &mut Random, refused: &mut usize) -> Option<String> {
        const PAGE: usize = 300;
        let Some(theirs) = self.theirs(asked) else {
            *refused += 1;
            return None;
        };
        let offset = usize::try_from(random.below(theirs.len() as u64 + 1)).unwrap();
        [(&self.plain, ""), (&self.with_trigrams, " with trigrams")].into_iter().find_map(|(workspace, how)| {
            let first = self.page_differs(workspace, asked, &theirs, 0, PAGE);
            let differs = first.or_else(|| self.page_differs(workspace, asked, &theirs, offset, 7));
            differs.map(|differs| format!("{asked:?}{how}: {differs}"))
        })
    }

    fn page_differs(
        &self,
        workspace: &Workspace,
        asked: &Asked,
        theirs: &[(String, u32)],
        offset: usize,
        limit: usize,
    ) -> Option<String> {
        let page = match self.ours(workspace, asked, offset, limit) {
            Ok(page) => page,
            Err(error) => return Some(format!("refused: {error}")),
        };
        let end = theirs.len().min(offset + limit);
        let expected = &theirs[offset..end];
        if page.items != expected {
            let (ours, expected): (BTreeSet<_>, BTreeSet<_>) = (page.items.iter().collect(), expected.iter().collect());
            let missing: Vec<_> = expected.difference(&ours).take(3).collect();
            let extra: Vec<_> = ours.difference(&expected).take(3).collect();
            return Some(format!("from {offset}: missing {missing:?}, extra {extra:?}"));
        }
        if page.next_offset() != (end > offset && end < theirs.len()).then_some(end) {
            return Some(format!("from {offset}: goes on at {:?} of {}", page.next_offset(), theirs.len()));
        }
        // Where there is much to search, lines are not counted, never wrongly.
        let is_plain = std::ptr::eq(workspace, &raw const *self.plain);
        let is_right = page.total.map_or(!is_plain && page.next_offset().is_some(), |total| total == theirs.len());
        (!is_right).then(|| format!("{:?} lines for {}", page.total, theirs.len()))
    }

    fn compare(&self, asked: impl IntoIterator<Item = Asked>, seed: u64) {
        let (mut random, mut refused, mut count, mut wrong) = (Random(seed), 0, 0, Vec::new());
        for asked in asked {
            count += 1;
            wrong.extend(self.difference(&asked, &mut random, &mut refused));
            assert!(wrong.len() < 40, "seed {seed}:\n{}", wrong.join("\n"));
        }
        assert!(wrong.is_empty(), "seed {seed}, {} of {count} patterns:\n{}", wrong.len(), wrong.join("\n"));
        assert!(refused * 2 < count, "ripgrep refused {refused} of {count} patterns");
        println!("{count} patterns alike in {} files, {refused} of them refused by ripgrep", self.files.len());
    }
}

/// Files of every language, and the odd ones.
fn mixed() -> Repo {
    let repo = Repo::new("");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folders = ["languages", "entities"].map(|folder| fixtures.join(folder));
    assert!(Command::new("cp").arg("-r").args(&folders).arg(repo.path()).status().unwrap().success());
    for (path, text) in ODD {
        repo.write(path, text);
    }
    // Lines that are longer than the parts in which a text is searched.
    let long: String = (0..4000).map(|n| format!("word{n} ")).collect();
    repo.write("odd/long.md", format!("before\n\n{long}\n\nafter word3999\n"));
    repo
}

#[test]
fn hand_picked_patterns_find_what_ripgrep_finds() {
    let tree = Tree::build(mixed());
    // Most texts have four patterns with different options: a step of three leaves no text out, and no option.
    let step = usize::try_from(number("IXMCP_PATTERN_STEP", 3)).unwrap();
    tree.compare(patterns::by_hand().into_iter().step_by(step), 1);
}

#[test]
fn random_patterns_find_what_ripgrep_finds() {
    let tree = Tree::build(mixed());
    let texts = tree.texts();
    let seed = number("IXMCP_SEED", 7);
    tree.compare(Maker::new(seed, &texts).take(usize::try_from(number("IXMCP_PATTERNS", 150)).unwrap()), seed);
}

#[test]
#[ignore = "takes minutes, and sources to search"]
fn patterns_find_in_a_real_tree_what_ripgrep_finds() {
    let sources = std::env::var("IXMCP_PATTERN_TREE").expect("IXMCP_PATTERN_TREE names the sources to search");
    let repo = Repo::new("");
    let mut copy = Command::new("cp");
    copy.args(["-a", "--no-preserve=ownership"]).arg(format!("{sources}/.")).arg(repo.path());
    assert!(copy.status().unwrap().success(), "{sources} cannot be copied");
    let tree = Tree::build(repo);
    let texts = tree.texts();
    tree.compare(patterns::by_hand(), 1);
    let seed = number("IXMCP_SEED", 8);
    tree.compare(Maker::new(seed, &texts).take(usize::try_from(number("IXMCP_TREE_PATTERNS", 500)).unwrap()), seed);
}

/// Text around a byte that is not UTF-8 is found where ripgrep finds it, and shown as it is on disk.
#[test]
fn a_stray_byte_moves_no_line_and_no_column() {
    let repo = Repo::new("");
    let german = "Die Größe für Übergaben: naïve façade, täglich geändert, schöne Grüße.\r\n";
    let stray = [german.as_bytes(), b"stray \xff byte, M\xc3\xbcll\n", b"cut \xe2\x82\n", german.as_bytes()].concat();
    repo.write("notes/stray.txt", &stray);
    let wide: Vec<u8> = "[HKEY]\r\nfirst line of it\r\nGröße\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    repo.write("notes/wide.txt", &wide);
    repo.sync();
    for literal in ["Grüße", "stray ", " byte, Müll", "cut ", "ö", "e"] {
        let found =
            repo.call("query", &json!({ "text": literal, "mode": "literal", "include": ["stray.txt"], "limit": 99 }));
        let lines: Vec<String> =
            found["results"].as_array().unwrap().iter().map(|hit| hit["line"].to_string()).collect();
        let reported =
            Command::new("rg").args(["-nF", "--no-heading", literal]).arg(repo.path().join("notes/stray.txt")).output();
        let reported = String::from_utf8_lossy(&reported.unwrap().stdout).into_owned();
        let theirs: Vec<&str> = reported.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(lines, theirs, "{literal}");
    }
    let slice = |path: &str, line: u64| {
        repo.call("get_slice", &json!({ "file_path": path, "start_line": line, "end_line": line }))
    };
    let shown = slice("notes/stray.txt", 2);
    assert_eq!((&shown["content"], &shown["lossy"]), (&json!("stray \u{fffd} byte, Müll\n"), &json!(true)));
    assert_eq!(slice("notes/stray.txt", 4)["content"], german);
    let details = repo.call("get_file_details", &json!({ "filePath": "notes/stray.txt" }));
    assert_eq!(details["content"], String::from_utf8_lossy(&stray).as_ref());
    assert_eq!(details["encoding"], "UTF-8");
    let reason = "in 2 places U+FFFD replaces bytes that are not UTF-8";
    assert_eq!(details["problems"], json!([{ "path": "notes/stray.txt", "reason": reason }]));
    let shown = slice("notes/wide.txt", 2);
    assert_eq!((&shown["content"], &shown["encoding"]), (&json!("first line of it\r\n"), &json!("UTF-16LE")));
    let found = repo.call("query", &json!({ "text": "Größe", "mode": "literal", "include": ["wide.txt"] }));
    assert_eq!(found["results"][0]["line"], 3);
}
