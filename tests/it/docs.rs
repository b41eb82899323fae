//! The documentation: every command, option and link in it exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::harness::Repo;

/// Two screens.
const README_LINES: usize = 100;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README and its siblings, the pages of `docs/`, and the measurements, each with its text.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut pages = BTreeMap::new();
    for folder in ["", "docs", "benches"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                pages.insert(path, text);
            }
        }
    }
    pages
}

/// The text of all code: fenced lines, and spans between backticks.
fn code(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, block) in page.split("```").enumerate() {
        if at % 2 == 1 {
            found.extend(block.lines().skip(1));
        } else {
            found.extend(block.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// The words after each `ixmcp` in a piece of code, up to the end of that command.
fn commands(code: &str) -> Vec<Vec<&str>> {
    let starts = code.match_indices("ixmcp").filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        before.is_none_or(|c| c == '(' || c.is_whitespace()) && code[at + "ixmcp".len()..].starts_with(' ')
    });
    starts
        .map(|(at, name)| {
            let rest = &code[at + name.len()..];
            let end = rest.find(['|', '&', ';', '#', '>']).unwrap_or(rest.len());
            rest[..end].split_whitespace().collect()
        })
        .filter(|words: &Vec<&str>| !words.is_empty())
        .collect()
}

/// The help of commands, each asked for once.
#[derive(Default)]
struct Help(BTreeMap<Vec<String>, Option<String>>);

impl Help {
    /// `None`: the program does not know the command.
    fn load(&mut self, repo: &Repo, words: &[&str]) -> Option<&str> {
        let key = words.iter().map(ToString::to_string).collect();
        let run = || {
            let output = repo.run(&[words, &["--help"]].concat());
            output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
        };
        self.0.entry(key).or_insert_with(run).as_deref()
    }
}

#[test]
fn every_command_and_option_in_the_documentation_exists() {
    let repo = Repo::new("");
    let mut help = Help::default();
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for (page, text) in pages() {
        for words in code(&text).into_iter().flat_map(commands) {
            // A placeholder, or the name of the server in a client's own command.
            if words[0] == "--" || words[0].chars().all(char::is_uppercase) {
                continue;
            }
            let shown = format!("{}: ixmcp {}", page.file_name().unwrap().display(), words.join(" "));
            let mut command: Vec<&str> = Vec::new();
            for word in &words {
                let has_subcommands =
                    command.is_empty() || help.load(&repo, &command).is_some_and(|help| help.contains("\nCommands:\n"));
                let is_word = word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && !word.starts_with('-');
                if !(has_subcommands && is_word) {
                    break;
                }
                command.push(word);
                if help.load(&repo, &command).is_none() {
                    wrong.push(format!("{shown}: no such command"));
                    break;
                }
            }
            let Some(described) = help.load(&repo, &command) else { continue };
            // Options with values: `--tcp=off`, and in prose `--tcp ADDR:PORT`.
            for option in words.iter().filter(|word| word.starts_with('-') && word.len() > 1) {
                let option =
                    option.split('=').next().unwrap().trim_end_matches(|c: char| c != '-' && !c.is_alphanumeric());
                let names = |line: &str| line.split([' ', ',', '[']).any(|found| found == option);
                if !described.lines().any(names) {
                    wrong.push(format!("{shown}: no option {option}"));
                }
            }
            seen.insert(command.join(" "));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() > 40, "only {seen:?} were found");
}

/// Anchors that GitHub gives the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let kept = heading.to_lowercase().replace(' ', "-");
            kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
        })
        .collect()
}

/// Targets of `[text](target)`, without those on the network.
fn links(page: &str) -> Vec<&str> {
    let targets = page.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_link_in_the_documentation_leads_to_a_file_and_a_heading() {
    let pages = pages();
    let mut wrong = Vec::new();
    for (page, text) in &pages {
        for link in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let heads = std::fs::read_to_string(&target).map(|text| anchors(&text));
            if !target.exists() || !(anchor.is_empty() || heads.is_ok_and(|heads| heads.contains(anchor))) {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn readme_links_the_index_of_docs_which_lists_every_page() {
    let pages = pages();
    let of = |path: &str| pages[&root().join(path)].as_str();
    let docs = root().join("docs");
    for page in pages.keys().filter(|page| page.starts_with(&docs) && !page.ends_with("README.md")) {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(links(of("docs/README.md")).contains(&name), "docs/README.md does not list {name}");
    }
    assert!(links(of("README.md")).contains(&"docs/README.md"));
    let lines = of("README.md").lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines: move what only some readers need into docs/");
}

/// The registry compares these texts and refuses a server whose packages have another name.
#[test]
fn the_name_in_the_mcp_registry_is_the_same_in_all_packages() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let json = |path: &str| serde_json::from_str::<serde_json::Value>(&read(path)).unwrap();
    let owner = env!("CARGO_PKG_REPOSITORY").strip_prefix("https://github.com/").unwrap();
    let name = format!("io.github.{owner}");
    assert_eq!(json("packaging/server.json")["name"], name);
    assert_eq!(json("packaging/npm/package.json")["mcpName"], name);
    assert!(read("README.md").contains(&format!("mcp-name: {name}")), "README.md");
    assert!(read("packaging/Containerfile").contains(&format!("server.name=\"{name}\"")), "Containerfile");
}
