//! The retired terms of the glossary in CONTRIBUTING.md: no name, comment, document or message uses one.
//!
//! Owns how each term is recognized. CONTRIBUTING.md owns the list of terms and what to write instead.

use std::collections::HashSet;
use std::path::Path;

use tree_sitter::{Language, Node, Parser};

use super::{files_under, root};

/// A row of the glossary's table of retired terms.
struct Retired {
    /// First column of its row.
    term: &'static str,
    /// Words and phrases to reject in comments, messages and documents; single words also in all identifiers.
    words: &'static [&'static str],
    /// Words to reject in names of types, functions, modules, constants and tests only: prose has other uses for them.
    in_names: &'static [&'static str],
    /// Phrases that have one of the words and mean something else.
    except: &'static [&'static str],
}

const fn words(term: &'static str, words: &'static [&'static str]) -> Retired {
    Retired { term, words, in_names: &[], except: &[] }
}

const fn names(term: &'static str, in_names: &'static [&'static str]) -> Retired {
    Retired { term, words: &[], in_names, except: &[] }
}

const RETIRED: &[Retired] = &[
    words("tells, told", &["tells", "told"]),
    Retired { except: &["stands for", "stand for"], ..words("stands (in)", &["stand", "stands", "stood", "standing"]) },
    Retired {
        except: &["question mark", "question marks"],
        ..words("question (for a search or a read)", &["question", "questions"])
    },
    Retired {
        except: &["people who", "user who", "users who", "someone who", "anyone who"],
        ..words("who, whoever, nobody (for programs)", &["who", "whom", "whoever", "nobody"])
    },
    words("beside", &["beside"]),
    Retired { in_names: &["uses"], ..words("uses (of a symbol)", &["uses of"]) },
    names("place (as a type or a location)", &["place", "places"]),
    words("room", &["room", "rooms"]),
    words("ground", &["ground"]),
    words("anew", &["anew"]),
    words("door, flights", &["door", "doors", "flights"]),
    names("apart, inside (for processes)", &["apart", "inside"]),
    Retired { in_names: &["longest"], ..words("patience, longest", &["patience"]) },
    Retired { except: &["sign bits"], ..words("signs", &["signs"]) },
    names("usual, alike, meaning, meant (in ranking)", &["usual", "alike", "meaning", "meant"]),
    words("the table (of vectors)", &["table of vectors", "vector table"]),
    words("mend", &["mend", "mends", "mended", "mending"]),
    words("shelf", &["shelf", "shelves"]),
    words("circles", &["circle", "circles"]),
    words(
        "small letters, capitals",
        &["small letter", "small letters", "capital letter", "capital letters", "capitals"],
    ),
    Retired {
        except: &["there is no", "there is none", "there are none", "is no longer", "is no more", "is no such"],
        ..words("is no X, is none", &["is no", "is none", "are none"])
    },
    words("ends with N", &["ends with 0", "ends with 1", "ends with 2", "ended with 1", "ended with 2"]),
];

/// Words that stay where they are, by the beginning of a path.
const KEPT: &[(&str, &[&str])] = &[
    // Words of natural languages: the lists of function words, and texts of everyday life that scores are calibrated with.
    ("src/query/smart/stop.rs", &["who", "door"]),
    ("src/embed/calibration.rs", &["mend", "nobody", "anew"]),
    // The name of a set of queries, and an element of SVG.
    ("fixtures/search/README.md", &["questions"]),
    ("src/serve/ui/src/graph.tsx", &["circle"]),
    // Names of methods in a standard library, and a value of Python.
    ("src/query/relations/families.rs", &["is none"]),
    ("src/pytypes/ty/infer/evidence.rs", &["is none"]),
    ("src/pytypes/ty/infer/parameters.rs", &["is none"]),
];

/// Kind of a piece of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// A comment, a message or a line of a document.
    Prose,
    /// An identifier.
    Code,
    /// The name of an item.
    Name,
}

/// A piece of a file, and the line on which it begins.
struct Piece {
    line: usize,
    kind: Kind,
    text: String,
}

/// Declarations whose names count.
const ITEMS: &[&str] = &[
    "function_item",
    "function_signature_item",
    "struct_item",
    "enum_item",
    "trait_item",
    "type_item",
    "const_item",
    "static_item",
    "mod_item",
    "macro_definition",
];

/// Comments and identifiers of source code, and its strings as far as `messages`, in bytes.
fn source(text: &str, language: &Language, messages: usize) -> Vec<Piece> {
    let mut parser = Parser::new();
    parser.set_language(language).unwrap();
    let tree = parser.parse(text, None).unwrap();
    let (mut pieces, mut open): (Vec<Piece>, Vec<Node>) = (Vec::new(), vec![tree.root_node()]);
    while let Some(node) = open.pop() {
        let (line, written) = (node.start_position().row + 1, &text[node.byte_range()]);
        let mut add = |kind, text: &str| pieces.push(Piece { line, kind, text: text.to_owned() });
        match node.kind() {
            "line_comment" | "block_comment" | "comment" | "jsx_text" => add(Kind::Prose, written),
            // Text without a space is a key or a path.
            "string_literal" | "raw_string_literal" | "string_fragment" => {
                if node.end_byte() <= messages && written.contains(' ') {
                    add(Kind::Prose, &written.replace("\\n", " "));
                }
            }
            kind if kind.ends_with("identifier") => {
                add(Kind::Code, written);
                let parent = node.parent().filter(|parent| ITEMS.contains(&parent.kind()));
                if parent.and_then(|parent| parent.child_by_field_name("name")) == Some(node) {
                    add(Kind::Name, written);
                }
            }
            _ => open.extend((0..node.child_count()).rev().filter_map(|at| node.child(at))),
        }
    }
    joined(pieces)
}

/// Comments that go on in the next line are one piece.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    let mut next = 0;
    for piece in pieces {
        let goes_on = piece.kind == Kind::Prose && piece.line == next;
        next = if piece.kind == Kind::Prose { piece.line + piece.text.trim_end().lines().count() } else { 0 };
        match joined.last_mut().filter(|_| goes_on) {
            Some(last) => last.text.push_str(piece.text.trim_start_matches(['/', '!', '-', '#', ';'])),
            None => joined.push(piece),
        }
    }
    joined
}

/// The rest of each line after `mark`, with the mark.
fn comments(text: &str, mark: &str) -> Vec<Piece> {
    let lines = (1..).zip(text.lines());
    let comments = lines.filter_map(|(line, text)| Some((line, &text[text.find(mark)?..])));
    joined(comments.map(|(line, text)| Piece { line, kind: Kind::Prose, text: format!("{text}\n") }).collect())
}

/// The lines of a Markdown file without blocks of code and the glossary.
fn markdown(text: &str) -> Vec<Piece> {
    let (mut pieces, mut is_code, mut is_glossary) = (Vec::new(), false, false);
    for (line, text) in (1..).zip(text.lines()) {
        is_code ^= text.trim_start().starts_with("```");
        is_glossary = if text.starts_with("## ") { text == "## Glossary" } else { is_glossary };
        if !is_code && !is_glossary {
            pieces.push(Piece { line, kind: Kind::Prose, text: format!("{text}\n") });
        }
    }
    joined(pieces)
}

/// Lowercase words with one space around each. Parts of identifiers are words; a sentence ends with a `|`.
fn plain(text: &str) -> String {
    let mut plain = " ".to_owned();
    let mut last = ' ';
    for c in text.chars() {
        if c.is_uppercase() && last.is_lowercase() {
            plain.push(' ');
        }
        if c.is_alphanumeric() || c == '\'' {
            plain.extend(c.to_lowercase());
        } else {
            plain.push_str(if ".:;!?".contains(c) { " | " } else { " " });
        }
        last = c;
    }
    plain.split_whitespace().fold(" ".to_owned(), |plain, word| plain + word + " ")
}

/// The words of a retired term that a piece has.
fn found(retired: &Retired, kind: Kind, plain: &str) -> Option<&'static str> {
    let words = if kind == Kind::Name { retired.in_names } else { retired.words };
    // Nearly every piece has none.
    if !words.iter().any(|word| plain.contains(word)) {
        return None;
    }
    let text = retired.except.iter().fold(plain.to_owned(), |text, phrase| text.replace(&format!(" {phrase} "), " | "));
    // Phrases in identifiers, such as `is_none`, are coincidences.
    let mut words = words.iter().filter(|word| kind != Kind::Code || !word.contains(' '));
    words.find(|word| text.contains(&format!(" {word} "))).copied()
}

/// The glossary's table of retired terms: each with what to write instead.
fn glossary() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let table = text.split_once("| retired | write |\n|---|---|\n").unwrap().1;
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split_once(" | ").unwrap());
    cells.map(|(term, instead)| (term.trim().to_owned(), instead.trim().to_owned())).collect()
}

/// The files that are checked, with their pieces.
fn pieces_of(path: &Path) -> Vec<Piece> {
    let text = std::fs::read_to_string(path).unwrap();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => {
            let is_test = path.ends_with("tests.rs") || !path.starts_with(root().join("src"));
            let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
            let messages = if is_test { 0 } else { tests };
            let mut pieces = source(&text, &tree_sitter_rust::LANGUAGE.into(), messages);
            let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
            pieces.push(Piece { line: 1, kind: Kind::Name, text: module });
            pieces
        }
        Some("ts" | "tsx") => source(&text, &tree_sitter_typescript::LANGUAGE_TSX.into(), text.len()),
        Some("md") => markdown(&text),
        Some("sql") => comments(&text, "--"),
        Some("scm") => comments(&text, ";"),
        _ => comments(&text, "# "),
    }
}

fn checked_files() -> Vec<std::path::PathBuf> {
    let folders = [
        ("src", "rs"),
        ("src", "scm"),
        ("src/serve/ui/src", "ts"),
        ("src/serve/ui/src", "tsx"),
        ("tests", "rs"),
        ("benches", "rs"),
        ("benches", "md"),
        ("docs", "md"),
        ("migrations", "sql"),
    ];
    let mut files: Vec<_> = folders.iter().flat_map(|(folder, kind)| files_under(&root().join(folder), kind)).collect();
    let single = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Cargo.toml"];
    files.extend(single.map(|name| root().join(name)));
    files.extend(["README.md", "pack", "trial"].map(|name| root().join("packaging").join(name)));
    let entries = |folder: &str| std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    files.extend(entries(".ci").filter(|path| path.is_file()));
    files.extend(entries("fixtures").map(|folder| folder.join("README.md")).filter(|path| path.is_file()));
    files
}

#[test]
fn the_glossary_and_the_test_have_the_same_retired_terms() {
    let terms: Vec<String> = glossary().into_iter().map(|(term, _)| term).collect();
    assert_eq!(terms, RETIRED.iter().map(|retired| retired.term).collect::<Vec<_>>());
}

#[test]
fn no_retired_term_is_used() {
    let glossary = glossary();
    let mut wrong = Vec::new();
    // Most identifiers occur often.
    let mut clean: HashSet<(Kind, String)> = HashSet::new();
    for path in checked_files() {
        let shown = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let kept: Vec<_> = KEPT.iter().filter(|(file, _)| *file == shown).flat_map(|(_, words)| *words).collect();
        for piece in pieces_of(&path) {
            let is_name = piece.kind != Kind::Prose;
            if is_name && clean.contains(&(piece.kind, piece.text.clone())) {
                continue;
            }
            let before = wrong.len();
            // Code in prose is code.
            let prose = || piece.text.split('`').step_by(2).collect::<Vec<_>>().join(" | ");
            let plain = if piece.kind == Kind::Prose { plain(&prose()) } else { plain(&piece.text) };
            for (retired, (_, instead)) in RETIRED.iter().zip(&glossary) {
                if let Some(word) = found(retired, piece.kind, &plain).filter(|word| !kept.contains(&word)) {
                    wrong.push(format!("{shown}:{}: not “{word}”, write: {instead}", piece.line));
                }
            }
            if is_name && kept.is_empty() && wrong.len() == before {
                clean.insert((piece.kind, piece.text));
            }
        }
    }
    wrong.sort_unstable();
    wrong.dedup();
    assert!(wrong.is_empty(), "{} retired terms (CONTRIBUTING.md, Glossary):\n{}", wrong.len(), wrong.join("\n"));
}
