//! Definitions that a line shows, compared with symbols: where a pattern of a line finds one, a symbol has its name at
//! that line.
//!
//! The patterns know no grammar, so they find what a grammar could not parse. The suite compares the fixtures of every
//! language in `HEADS`; `.ci/soak definitions` compares the trees that `IXMCP_DEFINITION_TREES` lists (as `PATH` lists
//! folders), prints what is missing or excluded, and fails below the shares that `LEAST` and `LEAST_MEAN` state.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ixmcp::extract::{self, Options};
use ixmcp::model::RepoPath;
use regex_automata::meta::Regex;

/// Shares of definitions that have a symbol, in trees: in any language with at least `ENOUGH` matches, and their mean.
const LEAST: f64 = 0.98;
const LEAST_MEAN: f64 = 0.99;
const ENOUGH: usize = 50;

/// A language's definitions: patterns over whole texts, `^` for each line, whose group is the name.
struct Heads {
    language: &'static str,
    quotes: &'static Quotes,
    patterns: &'static [&'static str],
}

/// Comments and strings of a language, which are not code.
struct Quotes {
    line: &'static [&'static str],
    /// Between two words, without escapes, over several lines.
    blocks: &'static [(&'static str, &'static str)],
    /// Within a line, with `\` for escapes.
    strings: &'static [&'static str],
}

const C_QUOTES: Quotes = Quotes { line: &["//"], blocks: &[("/*", "*/"), ("R\"(", ")\"")], strings: &["\"", "'"] };
const RUST_QUOTES: Quotes = Quotes {
    line: &["//"],
    blocks: &[("/*", "*/"), ("r#\"", "\"#"), ("r##\"", "\"##"), ("r\"", "\""), ("\"", "\"")],
    strings: &[],
};
const TRIPLE_QUOTES: Quotes =
    Quotes { line: &["//"], blocks: &[("/*", "*/"), ("\"\"\"", "\"\"\""), ("'''", "'''")], strings: &["\"", "'"] };
const SCRIPT_QUOTES: Quotes = Quotes { line: &["//"], blocks: &[("/*", "*/"), ("`", "`")], strings: &["\"", "'"] };
const PHP_QUOTES: Quotes = Quotes { line: &["//", "#"], blocks: &[("/*", "*/")], strings: &["\"", "'"] };
const PYTHON_QUOTES: Quotes =
    Quotes { line: &["#"], blocks: &[("\"\"\"", "\"\"\""), ("'''", "'''")], strings: &["\"", "'"] };
const RUBY_QUOTES: Quotes =
    Quotes { line: &["#"], blocks: &[("\n=begin", "\n=end"), ("\n__END__", "\0")], strings: &["\"", "'"] };
const LUA_QUOTES: Quotes = Quotes { line: &["--"], blocks: &[("--[[", "]]"), ("[[", "]]")], strings: &["\"", "'"] };
const HASKELL_QUOTES: Quotes = Quotes { line: &["-- "], blocks: &[("{-", "-}")], strings: &["\""] };
const ZIG_QUOTES: Quotes = Quotes { line: &["//", "\\\\"], blocks: &[], strings: &["\"", "'"] };

const HEADS: &[Heads] = &[
    Heads {
        language: "c",
        quotes: &C_QUOTES,
        patterns: &[
            r"^[ \t]*(?:typedef\s+|static\s+|const\s+)*(?:struct|union|enum)\s+(?:(?:[A-Z_][A-Z0-9_]*|__\w+)(?:\([^()\n]*\))?\s+)*(\w+)\s*\{",
            r"^[A-Za-z_](?:[\w*]|[ \t]|\([\w, ]*\))*?[ \t*\n](\w+)\s*\((?:[^;{}()]|\([^(){};]*\))*\)\s*\{",
            r"^[ \t]*#[ \t]*define[ \t]+(\w+)",
        ],
    },
    Heads {
        language: "cpp",
        quotes: &C_QUOTES,
        patterns: &[
            r"^[ \t]*(?:template\s*<[^{};]*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:[A-Z_][A-Z0-9_]*(?:\([^()\n]*\))?\s+|\[\[[^\]\n]*\]\]\s*|alignas\([^)\n]*\)\s*|__\w+(?:\(\([^)\n]*\)\))?\s+)*(\w+)(?:\s+final)?\s*(?::[^:;{}()][^;{}()]*)?\{",
            r"^[A-Za-z_](?:[\w:<>*&~,]|[ \t])*?\b[A-Za-z_]\w*(?:<[\w, ]*>)?::(~?\w+)\((?:[^;{}()]|\([^(){};]*\))*\)\s*(?:const|noexcept|override|\s)*\{",
            r"^[ \t]*#[ \t]*define[ \t]+(\w+)",
        ],
    },
    Heads {
        language: "csharp",
        quotes: &TRIPLE_QUOTES,
        patterns: &[
            r"^[ \t]*(?:\[[^\]\n]*\]\s*)*(?:(?:public|private|protected|internal|static|abstract|sealed|partial|readonly|ref|unsafe|new|file)\s+)*(?:class|interface|struct|enum|record(?:\s+(?:struct|class))?)\s+([A-Z_]\w*)",
            r"^[ \t]*(?:public|private|protected|internal)(?:[ \t]+(?:static|virtual|override|abstract|sealed|async|unsafe|extern|new|partial|readonly))*[ \t]+[\w<>\[\],.?]+(?:[ \t]*<[^<>()\n]*>)?[ \t]+([A-Z]\w*)(?:<[\w, ]*>)?\(",
        ],
    },
    Heads {
        language: "dart",
        quotes: &TRIPLE_QUOTES,
        patterns: &[
            r"^(?:(?:abstract|sealed|base|final|interface|mixin)\s+)*(?:class|mixin|enum)\s+(\w+)",
            r"^(?:extension(?:\s+type)?)\s+(\w+)(?:<[^>\n]*>)?\s+on\b",
            r"^typedef\s+(\w+)(?:<[^\n]*>)?\s*=",
        ],
    },
    Heads {
        language: "elixir",
        quotes: &PYTHON_QUOTES,
        patterns: &[
            r"^[ \t]*(?:defmodule|defprotocol)\s+([\w.]+)",
            r"^[ \t]*(?:def|defp|defmacro|defmacrop|defguard|defdelegate)\s+([a-z_]\w*[?!]?)",
        ],
    },
    Heads {
        language: "go",
        quotes: &SCRIPT_QUOTES,
        patterns: &[
            r"^func\s+(?:\([^)\n]*\)\s*)?([A-Za-z]\w*)",
            r"^type\s+(\w+)",
            r"^\t(\w+)\s+(?:struct|interface)\s*\{",
            r"^(?:var|const)\s+([A-Za-z]\w*)",
        ],
    },
    Heads {
        language: "haskell",
        quotes: &HASKELL_QUOTES,
        patterns: &[r"^(?:data|newtype|type)\s+([A-Z]\w*)", r"^([a-z]\w*'*)\s*::"],
    },
    Heads {
        language: "java",
        quotes: &TRIPLE_QUOTES,
        patterns: &[
            r"^[ \t]*(?:@\w+(?:\([^()\n]*\))?\s+)*(?:(?:public|private|protected|static|final|abstract|sealed|non-sealed|strictfp)\s+)*(?:class|@?interface|enum|record)\s+([A-Z]\w*)",
            r"^[ \t]+(?:@\w+\s+)*(?:public|private|protected)(?:[ \t]+(?:static|final|abstract|synchronized|native|default))*(?:[ \t]*<[^()\n]*>)?[ \t]+[\w<>\[\],.? ]+[ \t]+(\w+)\([^;={}]*\)[^;={}]*\{",
        ],
    },
    Heads {
        language: "javascript",
        quotes: &SCRIPT_QUOTES,
        patterns: &[
            r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s+(\w+)\s*\(",
            r"^[ \t]*(?:export\s+)?(?:default\s+)?class\s+([A-Z]\w*)",
            r"^(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=",
        ],
    },
    Heads {
        language: "kotlin",
        quotes: &TRIPLE_QUOTES,
        patterns: &[
            r"^[ \t]*(?:@[\w.:]+(?:\([^()\n]*\))?\s+)*(?:(?:public|private|internal|protected|open|abstract|sealed|data|inner|value|inline|enum|annotation|expect|actual|external|fun|companion|final)\s+)*(?:class|interface|object|typealias)\s+(\w+)",
            r"^[ \t]*(?:@[\w.:]+(?:\([^()\n]*\))?\s+)*(?:(?:public|private|internal|protected|open|abstract|override|suspend|operator|infix|tailrec|inline|external|expect|actual|final)\s+)*fun\s+(?:<[^>\n]*>\s+)?(?:[\w.]+(?:<[\w, *?]*>)?\??\.)?(\w+)\s*\(",
        ],
    },
    Heads {
        language: "lua",
        quotes: &LUA_QUOTES,
        patterns: &[r"^[ \t]*(?:local\s+)?function\s+(?:[\w.]+[.:])?(\w+)\s*\("],
    },
    Heads {
        language: "objc",
        quotes: &C_QUOTES,
        patterns: &[r"^@(?:interface|implementation|protocol)\s+(\w+)[^;\n]*$"],
    },
    Heads {
        language: "php",
        quotes: &PHP_QUOTES,
        patterns: &[
            r"^[ \t]*(?:(?:abstract|final|readonly)\s+)*(?:class|interface|trait|enum)\s+([A-Z]\w*)",
            r"^[ \t]*(?:(?:public|private|protected|static|abstract|final)\s+)*function\s+&?(\w+)\s*\(",
        ],
    },
    Heads {
        language: "python",
        quotes: &PYTHON_QUOTES,
        patterns: &[r"^[ \t]*(?:async\s+)?def\s+(\w+)\s*[(\[]", r"^[ \t]*class\s+(\w+)\s*[(:\[]"],
    },
    Heads {
        language: "ruby",
        quotes: &RUBY_QUOTES,
        patterns: &[
            r"^[ \t]*(?:class|module)\s+(?:[A-Z]\w*::)*([A-Z]\w*)",
            r"^[ \t]*(?:(?:private|protected|public|private_class_method|module_function|memoize)\s+)?def\s+(?:self\.)?([a-zA-Z_]\w*[?!=]?)",
        ],
    },
    Heads {
        language: "rust",
        quotes: &RUST_QUOTES,
        patterns: &[
            r"^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?(?:unsafe\s+|auto\s+)*(?:struct|enum|union|trait|type)\s+([A-Za-z_]\w*)\s*(?:[<({;:=]|where\b|$)",
            r#"^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?(?:(?:default|unsafe|const|async|safe|extern(?:\s+"[^"\n]*")?)\s+)*fn\s+([A-Za-z_]\w*)\s*[<(]"#,
            r"^[ \t]*macro_rules!\s*(\w+)",
            r"^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?mod\s+(\w+)\s*\{",
            r"^(?:pub(?:\([^)\n]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?([A-Z]\w*)\s*:",
        ],
    },
    Heads {
        language: "scala",
        quotes: &TRIPLE_QUOTES,
        patterns: &[
            r"^[ \t]*(?:(?:private|protected|final|sealed|abstract|implicit|case|lazy|override|inline|open)(?:\[\w+\])?\s+)*(?:class|trait|object|enum)\s+([A-Z]\w*)",
            r"^[ \t]*(?:(?:private|protected|final|implicit|override|inline)(?:\[\w+\])?\s+)*def\s+([a-z]\w*)",
        ],
    },
    Heads {
        language: "shell",
        quotes: &Quotes { line: &["#"], blocks: &[], strings: &["\""] },
        patterns: &[r"^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{", r"^function\s+([A-Za-z_][\w-]*)\s*\{"],
    },
    Heads {
        language: "swift",
        quotes: &TRIPLE_QUOTES,
        patterns: &[
            r"^[ \t]*(?:@\w+(?:\([^()\n]*\))?\s+)*(?:(?:public|private|fileprivate|internal|open|package|final|indirect|static|dynamic)\s+)*(?:class|struct|enum|protocol|actor)\s+([A-Z]\w*)\s*[:<{]",
            r"^[ \t]*(?:@\w+(?:\([^()\n]*\))?\s+)*(?:(?:public|private|fileprivate|internal|open|package|final|static|class|mutating|nonmutating|override|required|convenience|nonisolated)\s+)*func\s+(\w+)\s*[<(]",
        ],
    },
    Heads { language: "tsx", quotes: &SCRIPT_QUOTES, patterns: TYPESCRIPT },
    Heads { language: "typescript", quotes: &SCRIPT_QUOTES, patterns: TYPESCRIPT },
    Heads {
        language: "zig",
        quotes: &ZIG_QUOTES,
        patterns: &[
            r#"^[ \t]*(?:pub\s+)?(?:(?:inline|noinline|export|extern(?:\s+"[^"\n]*")?)\s+)*fn\s+(\w+)\s*\("#,
            r"^[ \t]*(?:pub\s+)?const\s+(\w+)\s*=\s*(?:extern\s+|packed\s+)?(?:struct|enum|union|opaque)\b",
        ],
    },
];

const TYPESCRIPT: &[&str] = &[
    r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?function\s*\*?\s+(\w+)\s*[(<]",
    r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?class\s+([A-Z]\w*)",
    r"^[ \t]*(?:export\s+)?(?:declare\s+)?(?:interface|(?:const\s+)?enum|namespace)\s+([A-Z][\w.]*)",
    r"^[ \t]*(?:export\s+)?(?:declare\s+)?type\s+([A-Z]\w*)\s*(?:<[^;{}\n]*>\s*)?=",
    r"^(?:export\s+)?(?:const|let|var)\s+(\w+)\s*[:=]",
];

/// Names that a pattern of a line takes for a definition's, and that are keywords.
const KEYWORDS: &[&str] = &["if", "while", "for", "switch", "return", "else", "do", "defined", "catch", "new", "in"];

/// Result of the comparison in one language.
#[derive(Default)]
struct Compared {
    matches: usize,
    found: usize,
    excluded: Vec<String>,
    missing: Vec<String>,
}

impl Compared {
    fn share(&self) -> f64 {
        let counted = self.found + self.missing.len();
        if counted == 0 {
            1.0
        } else {
            f64::from(u32::try_from(self.found).unwrap()) / f64::from(u32::try_from(counted).unwrap())
        }
    }
}

impl Quotes {
    /// The ranges of comments and strings, each with what it is, in order.
    fn ranges(&self, text: &str) -> Vec<(Range<usize>, &'static str)> {
        let mut ranges = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let block = self.blocks.iter().find(|(open, _)| rest.starts_with(open));
            if let Some((open, close)) = block {
                let is_comment = !open.ends_with(['"', '\'', '`', '[']) || open.starts_with("--");
                let end = if *open == "\"" {
                    end_of_string(rest)
                } else {
                    rest[open.len()..].find(close).map_or(rest.len(), |found| open.len() + found + close.len())
                };
                ranges.push((at..at + end, if is_comment { "a comment" } else { "a string" }));
                at += end;
            } else if self.line.iter().any(|mark| rest.starts_with(mark)) {
                let end = rest.find('\n').unwrap_or(rest.len());
                ranges.push((at..at + end, "a comment"));
                at += end;
            } else if let Some(quote) = self.strings.iter().find(|quote| rest.starts_with(**quote)) {
                let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
                let end = end_of_quoted(line, quote).unwrap_or(quote.len());
                ranges.push((at..at + end, "a string"));
                at += end;
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        ranges
    }
}

/// The end of a string of several lines with escapes, which `text` begins with.
fn end_of_string(text: &str) -> usize {
    end_of_quoted(text, "\"").unwrap_or(text.len())
}

fn end_of_quoted(text: &str, quote: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped && text[at..].starts_with(quote) {
            return Some(at + quote.len());
        }
        escaped = !escaped && c == '\\';
    }
    None
}

/// Files below a folder, in order.
fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries.into_iter().filter(|path| !path.is_symlink()) {
        if path.is_dir() { below(&path, files) } else { files.push(path) }
    }
}

struct Comparison {
    heads: BTreeMap<&'static str, (&'static Quotes, Vec<Regex>)>,
    by_language: BTreeMap<&'static str, Compared>,
}

impl Comparison {
    fn new() -> Self {
        let compiled = |heads: &'static Heads| {
            let patterns = heads.patterns.iter().map(|pattern| Regex::new(&format!("(?m){pattern}")).unwrap());
            (heads.language, (heads.quotes, patterns.collect()))
        };
        Self { heads: HEADS.iter().map(compiled).collect(), by_language: BTreeMap::new() }
    }

    fn compare_tree(&mut self, tree: &Path) {
        let mut files = Vec::new();
        below(tree, &mut files);
        for file in files {
            let relative = file.strip_prefix(tree).unwrap().to_string_lossy().into_owned();
            self.compare(&relative, &fs::read(&file).unwrap());
        }
    }

    fn compare(&mut self, path: &str, bytes: &[u8]) {
        let (Some(path), Ok(text)) = (RepoPath::new(path), std::str::from_utf8(bytes)) else { return };
        let language = extract::languages::of_file(&path, text).name;
        let Some((quotes, patterns)) = self.heads.get(language) else { return };
        // What is not indexed has no symbols.
        let Ok(extracted) = extract::extract(&path, bytes, &Options::default()) else { return };
        let symbols: HashSet<(&str, u32)> =
            extracted.symbols.iter().map(|symbol| (symbol.name.as_str(), symbol.line)).collect();
        let quoted = std::cell::LazyCell::new(|| quotes.ranges(text));
        let compared = self.by_language.entry(language).or_default();
        let mut seen = HashSet::new();
        for pattern in patterns {
            for captures in pattern.captures_iter(text) {
                let name = captures.get_group(1).unwrap().range();
                let word = &text[name.clone()];
                if !seen.insert(name.start) || KEYWORDS.contains(&word) {
                    continue;
                }
                compared.matches += 1;
                let line = u32::try_from(text[..name.start].matches('\n').count() + 1).unwrap();
                let last = word.rsplit('.').next().unwrap();
                if symbols.contains(&(word, line)) || symbols.contains(&(last, line)) {
                    compared.found += 1;
                    continue;
                }
                let start = text[..name.start].rfind('\n').map_or(0, |at| at + 1);
                let shown =
                    format!("{}:{line} {word}: {}", path.as_str(), text[start..].lines().next().unwrap().trim());
                let before = quoted.partition_point(|(range, _)| range.start <= name.start);
                let around = before.checked_sub(1).map(|at| &quoted[at]).filter(|(range, _)| range.end > name.start);
                match around.map(|(_, why)| *why).or_else(|| excluded(language, text, start)) {
                    Some(why) => compared.excluded.push(format!("{shown} ({why})")),
                    None => compared.missing.push(shown),
                }
            }
        }
    }

    fn print(&self) {
        for compared in self.by_language.values() {
            for shown in &compared.excluded {
                println!("excluded {shown}");
            }
        }
        for (language, compared) in &self.by_language {
            for shown in &compared.missing {
                println!("missing {language} {shown}");
            }
        }
        println!("{:<12} {:>8} {:>8} {:>9} {:>8}  share", "language", "matches", "found", "excluded", "missing");
        for (language, compared) in &self.by_language {
            let Compared { matches, found, excluded, missing } = compared;
            let share = compared.share();
            println!("{language:<12} {matches:>8} {found:>8} {:>9} {:>8}  {share:.4}", excluded.len(), missing.len());
        }
    }
}

/// Why a match in the line at `start` is not a definition, where neither a comment nor a string explains it.
fn excluded(language: &str, text: &str, start: usize) -> Option<&'static str> {
    let line = text[start..].lines().next().unwrap();
    if language == "javascript" && line.contains("= require(") {
        return Some("an import");
    }
    if language == "elixir" {
        let head = line.trim_start().split_once(' ').map_or("", |(_, head)| head);
        let (name, after) = head.split_at(head.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(head.len()));
        if after.trim_start().starts_with(|c: char| "+-*/<>=&|^~".contains(c)) {
            return Some("an operand of the operator that is defined");
        }
        let before = text[..start].lines().next_back().unwrap_or_default().trim_start();
        if before.starts_with("def") && before.contains(&format!(" {name}(")) {
            return Some("a further clause");
        }
    }
    (language == "rust" && is_in_macro_rules(&text[..start], line)).then_some("a template of a macro")
}

/// Whether a line is indented below a `macro_rules!`, of which `before` is what precedes it.
fn is_in_macro_rules(before: &str, line: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut least = indent(line);
    for outer in before.lines().rev().filter(|outer| !outer.trim().is_empty() && !outer.starts_with('#')) {
        if indent(outer) < least {
            least = indent(outer);
            if outer.contains("macro_rules!") {
                return true;
            }
        }
    }
    false
}

#[test]
fn every_definition_that_a_line_of_a_fixture_shows_is_a_symbol() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/languages");
    let mut comparison = Comparison::new();
    for heads in HEADS {
        let mut files = Vec::new();
        below(&fixtures.join(heads.language), &mut files);
        for file in files.iter().filter(|file| file.extension().is_none_or(|extension| extension != "expect")) {
            comparison.compare(file.file_name().unwrap().to_str().unwrap(), &fs::read(file).unwrap());
        }
        let matches = comparison.by_language.get(heads.language).map_or(0, |compared| compared.found);
        assert!(matches > 0, "no pattern for {} matches in its fixtures", heads.language);
    }
    comparison.print();
    let missing: Vec<&String> = comparison.by_language.values().flat_map(|compared| &compared.missing).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
#[ignore = "`.ci/soak definitions` runs it on whole trees"]
fn few_definitions_that_lines_of_trees_show_lack_a_symbol() {
    let trees = std::env::var_os("IXMCP_DEFINITION_TREES").expect("IXMCP_DEFINITION_TREES lists folders");
    let mut comparison = Comparison::new();
    for tree in std::env::split_paths(&trees) {
        comparison.compare_tree(&tree);
    }
    comparison.print();
    let shares = comparison.by_language.values().filter(|compared| compared.matches >= ENOUGH).map(Compared::share);
    let shares: Vec<f64> = shares.collect();
    let count = f64::from(u32::try_from(shares.len()).unwrap());
    let (worst, mean) = (shares.iter().copied().fold(1.0, f64::min), shares.iter().sum::<f64>() / count);
    println!("worst {worst:.4}, mean {mean:.4}");
    assert!(worst >= LEAST && mean >= LEAST_MEAN, "worst {worst:.4}, mean {mean:.4}");
}
