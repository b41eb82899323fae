//! `query` in modes literal and regex against ripgrep on the same files: the same lines for thousands of patterns.
//!
//! Short in the suite; `IXMCP_PATTERNS` says how many random patterns there are, and `IXMCP_PATTERN_TREE` names sources to
//! copy and search as well: `IXMCP_PATTERN_TREE=~/src/django IXMCP_PATTERNS=3000 cargo test --test it exact::`.

mod patterns;

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use ixmcp::budget::Budget;
use ixmcp::index::Workspace;
use ixmcp::query::{PathFilter, exact};

use self::patterns::{Asked, Maker};
use crate::harness::Repo;
use crate::sound::{number, open};
use crate::tree::Random;

/// Places where texts are odd: line ends, empty lines, letters of several cases and widths, what a regex means by space.
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

struct Tree {
    repo: Repo,
    workspace: std::sync::Arc<Workspace>,
    indexed: HashSet<String>,
    files: Vec<String>,
}

impl Tree {
    fn of(repo: Repo) -> Self {
        repo.sync();
        let workspace = open(repo.path());
        // Elsewhere ripgrep reads bytes where we read letters.
        let odd = "SELECT path FROM files WHERE encoding IS NOT NULL";
        let decoded = Command::new("sqlite3").arg(repo.database()).arg(odd).output().unwrap();
        let decoded: BTreeSet<&str> = std::str::from_utf8(&decoded.stdout).unwrap().lines().collect();
        let paths = workspace.read(&Budget::unlimited(), |snapshot| snapshot.paths(None)).unwrap();
        let indexed: HashSet<String> =
            paths.into_iter().map(|(path, _)| path).filter(|path| !decoded.contains(path.as_str())).collect();
        let mut files: Vec<String> = indexed.iter().cloned().collect();
        files.sort();
        Self { repo, workspace, indexed, files }
    }

    fn texts(&self) -> Vec<String> {
        self.files.iter().map(|path| fs::read_to_string(self.repo.path().join(path)).unwrap()).collect()
    }

    /// The page at `offset`, and how many lines match in all.
    fn ours(&self, asked: &Asked, offset: usize, limit: usize) -> Result<(Vec<(String, u32)>, usize), String> {
        let pattern = exact::Pattern {
            text: &asked.text,
            is_regex: !asked.literal,
            case_sensitive: !asked.ignore_case,
            word: asked.word,
            multiline: asked.multiline,
        };
        let filter = PathFilter::of_paths(self.indexed.clone());
        let budget = Budget::unlimited();
        let found = self
            .workspace
            .read(&budget, |snapshot| exact::search(snapshot, &pattern, &filter, 0, (offset, limit), &budget));
        let page = found.map_err(|error| error.to_string())?;
        let lines: Vec<(String, u32)> = page.items.into_iter().map(|hit| (hit.path, hit.line)).collect();
        let total = page.total.unwrap();
        let next = (offset + lines.len() < total && !lines.is_empty()).then_some(offset + lines.len());
        assert_eq!(page.next_offset, next, "{asked:?}");
        Ok((lines, total))
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

    /// What differs, in words. `None` where both agree, or ripgrep takes no such pattern.
    fn difference(&self, asked: &Asked, random: &mut Random, refused: &mut usize) -> Option<String> {
        const PAGE: usize = 300;
        let Some(theirs) = self.theirs(asked) else {
            *refused += 1;
            return None;
        };
        let (ours, total) = match self.ours(asked, 0, PAGE) {
            Ok(found) => found,
            Err(error) => return Some(format!("{asked:?}: refused: {error}")),
        };
        let expected = &theirs[..theirs.len().min(PAGE)];
        if ours != expected {
            let (ours, expected): (BTreeSet<_>, BTreeSet<_>) = (ours.iter().collect(), expected.iter().collect());
            let missing: Vec<_> = expected.difference(&ours).take(3).collect();
            let extra: Vec<_> = ours.difference(&expected).take(3).collect();
            return Some(format!("{asked:?}: missing {missing:?}, extra {extra:?}"));
        }
        if total != theirs.len() {
            return Some(format!("{asked:?}: {total} lines for {}", theirs.len()));
        }
        let offset = usize::try_from(random.below(theirs.len() as u64 + 1)).unwrap();
        let (later, _) = self.ours(asked, offset, 7).unwrap();
        let expected: Vec<_> = theirs[offset..].iter().take(7).cloned().collect();
        (later != expected).then(|| format!("{asked:?}: the page at {offset} is {later:?} for {expected:?}"))
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
    let tree = Tree::of(mixed());
    tree.compare(patterns::by_hand(), 1);
}

#[test]
fn random_patterns_find_what_ripgrep_finds() {
    let tree = Tree::of(mixed());
    let texts = tree.texts();
    let seed = number("IXMCP_SEED", 7);
    tree.compare(Maker::new(seed, &texts).take(usize::try_from(number("IXMCP_PATTERNS", 500)).unwrap()), seed);
}

#[test]
fn patterns_find_in_a_real_tree_what_ripgrep_finds() {
    let Ok(sources) = std::env::var("IXMCP_PATTERN_TREE") else { return };
    let repo = Repo::new("");
    let mut copy = Command::new("cp");
    copy.args(["-a", "--no-preserve=ownership"]).arg(format!("{sources}/.")).arg(repo.path());
    assert!(copy.status().unwrap().success(), "{sources} cannot be copied");
    let tree = Tree::of(repo);
    let texts = tree.texts();
    tree.compare(patterns::by_hand(), 1);
    let seed = number("IXMCP_SEED", 8);
    tree.compare(Maker::new(seed, &texts).take(usize::try_from(number("IXMCP_PATTERNS", 500)).unwrap()), seed);
}
