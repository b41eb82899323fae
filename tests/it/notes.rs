//! Notes of other programs: which links, names and tags of Obsidian, zk, Logseq and Foam the graph has.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;

/// A repository whose notes are in `notes`.
fn vault(files: &str) -> Repo {
    let repo = Repo::new("//- /.ixmcp.toml\n[entities]\nnotes = [\"notes\"]\n");
    repo.write_files(files);
    repo
}

fn json_of(repo: &Repo, arguments: &[&str]) -> Value {
    serde_json::from_slice(&repo.run(&[arguments, &["--json"]].concat()).stdout).unwrap()
}

/// `from rel to` of each edge; a target that nothing has is in brackets.
fn edges(repo: &Repo) -> BTreeSet<String> {
    let query = "SELECT s.key, e.kind, coalesce((SELECT t.key FROM entity_names n JOIN entities t ON t.id = n.entity_id
        WHERE n.name = e.target ORDER BY n.rank, n.path LIMIT 1), iif(e.certain, '[' || e.target || ']', '')) AS leads
        FROM edges e JOIN entities s ON s.id = e.entity_id";
    repo.ok(&["sync"]);
    let rows = repo.ok(&["sql", "--json", query]);
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let rows = rows.filter(|row| row["leads"] != "");
    rows.map(|row| format!("{} {} {}", text(&row, "key"), text(&row, "kind"), text(&row, "leads"))).collect()
}

/// The keys of the notes that lead to one.
fn led_from(repo: &Repo, key: &str) -> BTreeSet<String> {
    let graph = json_of(repo, &["graph", key]);
    let edges = graph["edges"].as_array().unwrap().iter().filter(|edge| edge["to"] == key);
    edges.map(|edge| edge["from"].as_str().unwrap().to_owned()).collect()
}

fn set(edges: &[&str]) -> BTreeSet<String> {
    edges.iter().map(|edge| (*edge).to_owned()).collect()
}

fn tags(repo: &Repo) -> BTreeMap<String, u64> {
    let answer = json_of(repo, &["entity", "tags"]);
    let tags = answer["tags"].as_array().unwrap().iter();
    tags.map(|tag| (tag["tag"].as_str().unwrap().to_owned(), tag["count"].as_u64().unwrap())).collect()
}

/// Forms of links, and the destinations that commonmark.js 0.31.2 finds in them; `!` before that of an image.
const FORMS: &[(&str, &[&str])] = &[
    ("[a](b.md)", &["b.md"]),
    ("[a](<b c.md>)", &["b%20c.md"]),
    ("[a](b\\(c\\).md)", &["b(c).md"]),
    ("[a](b(c).md)", &["b(c).md"]),
    ("[a](b&amp;c.md)", &["b&c.md"]),
    ("[a\nb](c.md)", &["c.md"]),
    ("[a]: c.md\n\n[a]", &["c.md"]),
    ("[a]: <c d.md> 'title'\n\n[x][a] [a][]", &["c%20d.md", "c%20d.md"]),
    ("[a]: c.md\n\n[A ]", &["c.md"]),
    ("[a](b.markdown)", &["b.markdown"]),
    ("<!-- [a](b.md) --> x", &[]),
    ("x <!-- [a](b.md) --> y", &[]),
    ("`[a](b.md)`", &[]),
    ("\\[a](b.md)", &[]),
    ("[a]\\(b.md)", &[]),
    ("[a] (b.md)", &[]),
    ("[a](b.md 'title')", &["b.md"]),
    ("[a](b.md \"t\")", &["b.md"]),
    ("[a](b c.md)", &[]),
    ("[a](\nb.md\n)", &["b.md"]),
    ("[![x](y.png)](b.md)", &["b.md", "!y.png"]),
    ("[a [b] c](d.md)", &["d.md"]),
    ("[a](b.md#c)", &["b.md#c"]),
    ("[*a*](b.md)", &["b.md"]),
    ("[a](b%20c.md)", &["b%20c.md"]),
    ("    [a](b.md)", &[]),
    ("- [a](b.md)\n\n      [c](d.md)", &["b.md"]),
    ("> [a](b.md)", &["b.md"]),
    ("~~~\n[a](b.md)\n~~~", &[]),
    ("```\n[a](b.md)\n```", &[]),
    ("<div>\n[a](b.md)\n</div>", &[]),
    ("<div>\n\n[a](b.md)\n\n</div>", &["b.md"]),
    ("<a href=\"b.md\">x</a>", &[]),
    ("[a](<b.md)", &[]),
    ("[a](b.md", &[]),
    ("[a](b.md) [c](d.md)", &["b.md", "d.md"]),
    ("![a](b.md)", &["!b.md"]),
    ("[a](/b.md)", &["/b.md"]),
    ("[a](//h/b.md)", &["//h/b.md"]),
    ("[a](https://h/b.md)", &["https://h/b.md"]),
    ("[](b.md)", &["b.md"]),
    ("[a]()", &[""]),
    ("# [a](b.md)", &["b.md"]),
    ("[a](b.md)\n===", &["b.md"]),
    ("| [a](b.md) |", &["b.md"]),
    ("[a](b\\_c.md)", &["b_c.md"]),
    ("[a](b.md)[c](d.md)", &["b.md", "d.md"]),
    ("1. [a](b.md)", &["b.md"]),
    ("[a][b]\n\n[b]: c.md", &["c.md"]),
    ("[b]: c.md\n[b]: d.md\n\n[b]", &["c.md"]),
    ("[a\\]](b.md)", &["b.md"]),
    ("[a`]`](b.md)", &["b.md"]),
    ("<https://h/b.md>", &["https://h/b.md"]),
    ("**[a](b.md)**", &["b.md"]),
    ("[link](foo\\bar.md)", &["foo%5Cbar.md"]),
    ("[a](\"b.md\")", &["%22b.md%22"]),
    ("[a](b.md (t))", &["b.md"]),
];

#[test]
fn links_are_those_of_commonmark() {
    let pages = ["b", "c", "d", "b c", "c d", "b(c)", "b&c", "b_c"];
    let repo = vault("//- /notes/b.markdown\nB\n");
    for page in pages {
        repo.write(&format!("notes/{page}.md"), "x\n");
    }
    let mut expected = BTreeSet::new();
    for (number, (form, destinations)) in FORMS.iter().enumerate() {
        repo.write(&format!("notes/form {number}.md"), form);
        for destination in *destinations {
            let rel = if destination.starts_with('!') { "embeds" } else { "links" };
            let path = destination.trim_start_matches('!').split('#').next().unwrap();
            let path = percent_encoding::percent_decode_str(path).decode_utf8().unwrap();
            let page = path.strip_prefix('/').filter(|path| !path.starts_with('/')).unwrap_or(&path);
            let page = page.strip_suffix(".md").or_else(|| page.strip_suffix(".markdown")).unwrap_or("");
            if pages.contains(&page) {
                expected.insert(format!("form {number} {rel} {page}"));
            }
        }
    }
    let found: BTreeSet<String> = edges(&repo).into_iter().filter(|edge| !edge.ends_with(']')).collect();
    let differing: Vec<&String> = found.symmetric_difference(&expected).collect();
    assert!(differing.is_empty(), "{differing:?}");
}

/// Obsidian's help, "Internal links", "Embed files", "Tables" of August 2026: a `|` in a table is escaped; an alias is
/// shown in the place of a name.
#[test]
fn obsidians_links_lead_where_they_do_in_obsidian() {
    let repo = vault(
        r"
//- /notes/home.md
| a | b |
|---|---|
| [[Note\|alias]] | ![[pic.png\|100]] |

[[Note#Part|x]] [[Sprint]] [[C]] [[deep]] ![[Note]] `[[no]]` <!-- [[no]] -->
//- /notes/Note.md
---
aliases: [C#, 'a|b']
---
text
//- /notes/Sprint notes.md
# Sprint #4 review
//- /notes/a/deep.md
x
//- /notes/deep.md
x
//- /notes/.trash/old.md
[[home]] #trashed
//- /notes/out.md
[x](../Note.md) [[../Note]] [y](../../deep.md)
",
    );
    let expected = ["home links Note", "home embeds Note", "home links [sprint]", "home links [c]", "home links deep"];
    assert_eq!(edges(&repo), set(&expected));
    assert_eq!(tags(&repo), BTreeMap::new());
}

/// YAML 1.2.2, 7.4.1: a list in brackets is closed. Obsidian 1.13 shows no property of such a note.
#[test]
fn a_line_that_is_not_yaml_is_a_problem_and_has_no_edge() {
    let repo = vault(
        "//- /notes/a.md\n---\nup: b\nbad: [unclosed\nnext: [[b]], [c\n---\n[[b]]\n//- /notes/b.md\nb\n//- /notes/unclosed.md\nc\n\
         //- /other.md\n---\nbad: [unclosed\n---\n",
    );
    assert_eq!(edges(&repo), set(&["a up b", "a links b"]));
    let checked = repo.run(&["entity", "check"]);
    assert_eq!(checked.status.code(), Some(1));
    let said = String::from_utf8(checked.stdout).unwrap();
    expect![[r#"
        notes/a.md:4: error: the front matter is not YAML: while parsing a block mapping, did not find expected key
        notes/a.md:4: error: the front matter is not YAML: while parsing a flow sequence, expected ',' or ']'
            close the list with `]`
    "#]]
    .assert_eq(&said);
}

/// zk 0.15 writes links without an extension by default (`link-drop-extension`), and its language server writes relative wiki links.
/// Obsidian 1.13.6 resolves them so (`getLinkpathDest`): first the note at that path of the vault, then those in or below the folder of
/// the link, then all others, the shortest path first. So do its links to `Security and privacy` in Obsidian's own help.
#[test]
fn a_link_leads_to_the_nearest_of_several_namesakes() {
    let repo = vault("//- /notes/one/a.md\n1\n//- /notes/two/a.md\n2\n//- /notes/left/common/a.md\n3\n");
    for folder in ["one", "two", "left/common", "left", "one/deep", "other"] {
        repo.write(&format!("notes/{folder}/bare.md"), "[[a]]\n");
    }
    repo.write("notes/other/path.md", "[[common/A]]\n");
    let expected = [
        ("one/bare", "one/a"),
        ("two/bare", "two/a"),
        ("left/common/bare", "left/common/a"),
        ("left/bare", "left/common/a"),
        ("one/deep/bare", "one/a"),
        ("other/bare", "one/a"),
        ("other/path", "left/common/a"),
    ];
    let found = |from: &str| -> Vec<String> {
        let shown = repo.ok(&["graph", from, "--format", "text"]);
        shown.lines().filter_map(|line| line.split("links -> ").nth(1)?.split(' ').next().map(str::to_owned)).collect()
    };
    repo.ok(&["sync"]);
    for (from, to) in expected {
        assert!(found(from).iter().any(|led| led == to), "{from}: {:?}", found(from));
    }
    let rows = repo.ok(&["sql", "--json", "SELECT key || ' ' || target_path AS link FROM links ORDER BY 1"]);
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["link"].as_str().unwrap().to_owned());
    let of_view: BTreeSet<String> = rows.collect();
    assert_eq!(of_view, expected.iter().map(|(from, to)| format!("{from} notes/{to}.md")).collect());
    // From the other end.
    assert_eq!(led_from(&repo, "two/a"), set(&["two/bare"]));
    // The note at exactly that path.
    repo.write("notes/a.md", "0\n");
    repo.ok(&["sync"]);
    for (from, to) in [("one/bare", "a"), ("left/common/bare", "a"), ("other/path", "left/common/a")] {
        assert!(found(from).iter().any(|led| led == to), "{from}: {:?}", found(from));
    }
}

/// The metadata that Obsidian made of `comments_markdown_style.md` and `comments_html_style.md` in the tests of the plugin Tasks 8.3
/// (`resolvedLinks.json`, `getAllTags`): `%%` does not hide a link or a tag, `<!--` does.
#[test]
fn obsidians_comments_hide_nothing_from_its_graph() {
    let repo = vault(
        "//- /notes/a.md\n%%\n- [ ] #block [[b]]\n\n[[c]]\n%%\n\ntext %% #inline [[d]] %% <!-- #no [[no]] -->\n<!--\n- [[no]]\n-->\n\
         //- /notes/no.md\n1\n",
    );
    for page in ["b", "c", "d"] {
        repo.write(&format!("notes/{page}.md"), "x\n");
    }
    assert_eq!(edges(&repo), set(&["a links b", "a links c", "a links d"]));
    assert_eq!(tags(&repo).into_keys().collect::<Vec<_>>(), ["block", "inline"]);
}

#[test]
fn zks_links_are_relative_and_need_no_extension() {
    let repo = vault(
        r"
//- /notes/index.md
[Title](sub/note) [file](sub/picture.png) [licence](LICENSE) [folder](sub) [part](#part) [mail](mailto:a@b) [web](https://x/sub/note)
//- /notes/sub/note.md
[[./other]] [[../index]] [[../note]] [up](../index) [Title](other#part) [escaped](with%20space)
//- /notes/sub/other.md
[away](../../index)
//- /notes/sub/with space.md
x
",
    );
    let expected = [
        "index links sub/note",
        "sub/note links index",
        "sub/note links sub/other",
        "sub/note links sub/with space",
        "sub/note links [/note]",
    ];
    assert_eq!(edges(&repo), set(&expected));
}

/// Logseq's documentation of May 2026, pages "Properties" and "Aliases", and `logseq.graph-parser` for names of files and of days.
#[test]
fn logseqs_pages_have_the_names_of_their_properties() {
    let repo = vault(
        r"
//- /notes/pages/Personal Knowledge Management.md
alias:: PKM, [[Knowledge, personal]]
tags:: method, [[two words]], #third

- text
//- /notes/pages/x1.md
- title:: The Page
- text
//- /notes/pages/a%2Fb.md
- alias:: not in the first block
//- /notes/pages/c___d.md
- text
  alias:: no
//- /notes/journals/2022_08_26.md
- today
//- /notes/pages/home.md
- [[PKM]] [[knowledge, Personal]] [[The Page]] [[a/b]] [[c/d]] [[no]]
- [[Aug 26th, 2022]] [label]([[PKM]])
//- /notes/logseq/bak/pages/home.md
- [[PKM]] #old
//- /notes/logseq/.recycle/home.md
- [[PKM]] #old
",
    );
    let expected = [
        "pages/home links pages/Personal Knowledge Management",
        "pages/home links pages/x1",
        "pages/home links pages/a%2Fb",
        "pages/home links pages/c___d",
        "pages/home links journals/2022_08_26",
        "pages/home links [no]",
    ];
    let links: BTreeSet<String> = edges(&repo).into_iter().filter(|edge| edge.starts_with("pages/home ")).collect();
    assert_eq!(links, set(&expected));
    let names = ["method", "third", "two words"];
    assert_eq!(tags(&repo), names.into_iter().map(|name| (name.to_owned(), 1)).collect());
    let shown = json_of(&repo, &["entity", "show", "pages/x1"]);
    assert_eq!(shown["title"], "The Page", "{shown}");
}

/// `mldoc` 1.6.0 has a link in a tag for it, `wikilink.go` of zk 0.15 and `@foam/core` 0.45.1 a link.
#[test]
fn a_tag_with_brackets_is_a_link_as_well() {
    let repo = vault("//- /notes/a.md\n#[[Two Words]] x#[[B]] #[[C|shown]]\n//- /notes/Two Words.md\n1\n");
    repo.write_files("//- /notes/B.md\n2\n//- /notes/C.md\n3\n");
    assert_eq!(led_to(&repo, "a"), set(&["notes/B.md", "notes/C.md", "notes/Two Words.md"]));
    assert!(tags(&repo).contains_key("Two Words"));
}

/// zk 0.15 (`markdown.go`: "Convert keys to lowercase, because we don't want to be case sensitive").
#[test]
fn fields_are_read_in_any_case() {
    let repo = vault(
        "//- /notes/a.md\n---\nTitle: Whole\nAliases: [Other]\nTAGS: [x, y]\nStatus: open\n---\n//- /notes/open.md\n1\n\
         //- /notes/from.md\n[[whole]] [[Other]]\n",
    );
    assert_eq!(led_to(&repo, "from"), set(&["notes/a.md"]));
    // `Status` is data, too.
    assert_eq!(edges(&repo), set(&["from links a"]));
    assert_eq!(tags(&repo).into_keys().collect::<Vec<_>>(), ["x", "y"]);
    let status = repo.ok(&["sql", "--json", "SELECT status FROM entities WHERE key = 'a'"]);
    assert_eq!(status.trim(), r#"{"status":"open"}"#);
}

/// Obsidian's `frontmatterLinks` are those of all properties (its help, "Properties", of August 2026).
#[test]
fn wiki_links_lead_from_every_field_of_a_note() {
    let repo = vault(
        "//- /notes/a.md\n---\ntype: '[[Book]]'\nDate: '[[2026-01-31]]'\ntags: ['[[Topic#Part]]', plain]\nstatus: plain\n---\n",
    );
    for page in ["Book", "2026-01-31", "Topic", "plain"] {
        repo.write(&format!("notes/{page}.md"), "x\n");
    }
    assert_eq!(edges(&repo), set(&["a type Book", "a Date 2026-01-31", "a tags Topic"]));
}

/// `@foam/core` 0.45.1 (`FoamWorkspace.listByDirectoryIdentifier`, `foam.links.directory.mode`).
#[test]
fn a_folder_has_the_name_of_the_note_about_it() {
    let repo = vault(
        "//- /notes/from.md\n[[one]] [[deep/two]] [[two]] [three](three/) [[four]]\n//- /notes/one/README.md\n1\n//- /notes/one/index.md\n2\n\
         //- /notes/deep/two/ReadMe.md\n3\n//- /notes/three/index.md\n4\n//- /notes/four/index.md\n5\n//- /notes/four.md\n6\n",
    );
    let expected = ["notes/one/index.md", "notes/deep/two/ReadMe.md", "notes/three/index.md", "notes/four.md"];
    assert_eq!(led_to(&repo, "from"), set(&expected));
}

#[test]
fn all_commands_agree_on_which_links_lead_nowhere() {
    let repo = vault(
        "//- /notes/First.md\n---\nid: one\n---\n//- /notes/Second.md\n---\nid: one\n---\n//- /notes/C#.md\n1\n//- /notes/D.md\n2\n\
         //- /.ixchel/ideas/idea-1.md\n---\nid: idea-1\nrelated: ['[[Second]]', '[[First]]', '[[C#]]', '[[D#Part]]', '[[nope#Part]]']\n---\n",
    );
    repo.ok(&["sync"]);
    let missing = ["nope", "second"];
    let graph = repo.ok(&["graph", "idea-1", "--format", "text"]);
    let marked = graph.lines().filter(|line| line.contains("no entity has this id"));
    assert_eq!(marked.filter_map(|line| line.split_whitespace().nth(2)).collect::<Vec<_>>(), missing, "{graph}");
    for arguments in [["entity", "check"], ["entity", "sync"]] {
        let said = String::from_utf8(repo.run(&arguments).stdout).unwrap();
        let leads = said.lines().filter_map(|line| line.split("leads to ").nth(1)?.split(',').next());
        assert_eq!(leads.collect::<BTreeSet<_>>(), missing.into_iter().collect(), "{said}");
    }
}

/// Logseq (`mldoc` 1.6.0) takes all between the brackets as the name of a page; Obsidian, Foam and zk divide it at the first `#`.
#[test]
fn a_link_with_punctuation_names_a_note_or_a_part_of_one() {
    let repo = vault(
        "//- /notes/from.md\n[[C#]] [[C]] [[F#]] [[C# Basics]] [[a^b]] [[Sprint #4 review]] [[net#]] [[D#Part]] [[D#Other|x]] [[D^block]] [[E#]]\n\
         //- /notes/C#.md\n1\n//- /notes/C.md\n2\n//- /notes/F#.md\n3\n//- /notes/sub/C# Basics.md\n4\n//- /notes/a^b.md\n5\n\
         //- /notes/sprint.md\n# Sprint #4 review\n//- /notes/dotnet.md\n---\naliases: ['Net#']\n---\n//- /notes/D.md\n7\n\
         //- /notes/sub/near.md\n[[./C# Basics]] [[../C#]]\n//- /notes/yaml.md\n---\nrelated: '[[C#]]'\n---\n",
    );
    let names = ["C#", "C", "F#", "sub/C# Basics", "a^b", "sprint", "dotnet", "D"];
    let mut expected: BTreeSet<String> = names.iter().map(|name| format!("notes/{name}.md")).collect();
    expected.insert("[e]".to_owned());
    assert_eq!(led_to(&repo, "from"), expected);
    assert_eq!(led_to(&repo, "sub/near"), set(&["notes/C#.md", "notes/sub/C# Basics.md"]));
    assert_eq!(led_to(&repo, "yaml"), set(&["notes/C#.md"]));
    // One edge to each note, in whichever of its parts the links end.
    for around in [&["graph"][..], &["graph", "from"]] {
        let edges = json_of(&repo, around)["edges"].clone();
        assert_eq!(edges.as_array().unwrap().iter().filter(|edge| edge["to"] == "D").count(), 1, "{edges}");
    }
    assert_eq!(led_from(&repo, "F#"), set(&["from"]));
}

/// Paths that the links of a note lead to, by the view `links`.
fn led_to(repo: &Repo, from: &str) -> BTreeSet<String> {
    repo.ok(&["sync"]);
    let query = format!(
        "SELECT coalesce(target_path, '[' || target || ']') AS leads FROM links WHERE path = 'notes/{from}.md'"
    );
    let rows = repo.ok(&["sql", "--json", &query]);
    let leads = |row: &str| serde_json::from_str::<Value>(row).unwrap()["leads"].as_str().unwrap().to_owned();
    rows.lines().map(leads).collect()
}

/// Obsidian 1.13.6 writes Markdown links as the shortest path that is unique, or as the path in the vault, and resolves them as it does
/// wiki links (`getLinkpathDest`), with or without `.md` (its help, "Internal links"). In CommonMark they are relative, which counts first: zk, Foam and forges read them so.
#[test]
fn a_markdown_link_without_a_note_at_its_path_names_a_file() {
    let repo = vault(
        "//- /notes/sub/a.md\n[N](Note.md) [M](My%20Note.md#h) [deep](x/Deep.md) [both](Both.md) [t](Title.md) [no](Nothing.md) [up](../Gone.md) [bare](Bare%20Note#h)\n\
         //- /notes/Note.md\n1\n//- /notes/y/My Note.md\n2\n//- /notes/x/Deep.md\n3\n//- /notes/Both.md\n4\n//- /notes/sub/Both.md\n5\n\
         //- /notes/z.md\n# Title\n//- /notes/x/Gone.md\n6\n//- /notes/x/Bare Note.md\n8\n",
    );
    let expected = [
        "notes/Note.md",
        "notes/sub/Both.md",
        "notes/x/Bare Note.md",
        "notes/x/Deep.md",
        "notes/y/My Note.md",
        "[/gone]",
        "[sub/nothing]",
        "[sub/title]",
    ];
    assert_eq!(led_to(&repo, "sub/a"), set(&expected));
    // The same from the other end.
    assert_eq!(led_from(&repo, "Note"), set(&["sub/a"]));
    expect![[r#"
        Note  note  Note
        sub/Both  note  Both
        sub/a  note  a
          links -> /gone  (no entity has this id)
          links -> Note  Note
          links -> sub/Both  Both
          links -> sub/nothing  (no entity has this id)
          links -> sub/title  (no entity has this id)
          links -> x/Bare Note  Bare Note
          links -> x/Deep  Deep
          links -> y/My Note  My Note
        x/Bare Note  note  Bare Note
        x/Deep  note  Deep
        y/My Note  note  My Note
    "#]]
    .assert_eq(&repo.ok(&["graph", "y/My Note", "--format", "text"]));
    // A note that comes to the relative path takes the link over.
    repo.write("notes/sub/Note.md", "7\n");
    let expected = expected.map(|path| if path == "notes/Note.md" { "notes/sub/Note.md" } else { path });
    assert_eq!(led_to(&repo, "sub/a"), set(&expected));
    assert_eq!(led_from(&repo, "Note"), BTreeSet::new());
}

/// `@foam/core` 0.45.1 (`aliasesPlugin`) and Logseq divide an alias at its commas; a list is as it is written.
#[test]
fn aliases_may_be_words_with_commas_between_them() {
    let repo = vault(
        "//- /notes/a.md\n---\nalias: bee, hive seven\n---\n//- /notes/b.md\n---\naliases: ['c, d']\n---\n\
         //- /notes/from.md\n[[bee]] [[Hive seven]] [[c, d]] [[c]]\n",
    );
    assert_eq!(led_to(&repo, "from"), set(&["notes/a.md", "notes/b.md", "[c]"]));
}

/// Logseq's documentation of May 2026, page "Preferred journal format".
#[test]
fn a_journal_has_the_titles_that_logseq_may_be_set_to() {
    let repo = vault("//- /notes/journals/2022_08_26.md\n- x\n//- /notes/journals/2022_08_07.md\n- x\n");
    let titles = [
        "Aug 26th, 2022",
        "Fri, 08/26/2022",
        "Fri, 2022/08/26",
        "Friday, 08/26/2022",
        "Friday, 2022/08/26",
        "08/26/2022",
        "08-26-2022",
        "08_26_2022",
        "2022/08/26",
        "2022-08-26",
        "2022_08_26",
        "2022年08月26日",
    ];
    let links: String = titles.iter().map(|title| format!("- [[{title}]]\n")).collect();
    repo.write("notes/pages/from.md", links);
    assert_eq!(led_to(&repo, "pages/from"), set(&["notes/journals/2022_08_26.md"]));
    // July, where the day comes first.
    repo.write("notes/pages/other.md", "- [[08-07-2022]]\n");
    assert_eq!(led_to(&repo, "pages/other"), set(&["[08-07-2022]"]));
}

/// Unicode 17, UAX #15: both forms of a text are equivalent.
#[test]
fn names_and_tags_are_compared_in_one_form_of_unicode() {
    let repo = vault("");
    let (composed, decomposed) = ("\u{dc}bersicht", "U\u{308}bersicht");
    repo.write(&format!("notes/{decomposed}.md"), format!("#{decomposed}\n"));
    repo.write("notes/a.md", format!("[[{composed}]] [x]({composed}.md) #{composed}\n"));
    repo.write("notes/b.md", format!("[[{decomposed}]]\n"));
    let target = |from: &str| format!("{from} links {decomposed}");
    assert_eq!(edges(&repo), BTreeSet::from([target("a"), target("b")]));
    for form in [composed, decomposed, "\u{fc}bersicht"] {
        assert_eq!(json_of(&repo, &["entity", "show", form])["id"], decomposed);
    }
    assert_eq!(tags(&repo), BTreeMap::from([(composed.to_owned(), 2)]));
    for form in [composed, decomposed] {
        let found = json_of(&repo, &["entity", "search", "bersicht", "--tag", form]);
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{form}: {found}");
    }
}

/// zk reads `tag`, `tags`, `keyword` and `keywords`, a list or words apart (`internal/adapter/markdown/markdown.go` of 0.15).
#[test]
fn tags_are_lists_or_words() {
    for (front, expected) in [
        ("tags: a b", &["a", "b"][..]),
        ("tags: a, b c", &["a", "b c"]),
        ("tags: [a, b c]", &["a", "b c"]),
        ("tags: [#abc, def]", &["abc", "def"]),
        ("tags:\n  - '#abc'\n  - def", &["abc", "def"]),
        ("keywords: [a, b]", &["a", "b"]),
        ("keyword: a", &["a"]),
        ("tag: '#a #b'", &["a", "b"]),
    ] {
        let repo = vault("");
        repo.write("notes/a.md", format!("---\n{front}\n---\nx\n"));
        let found: Vec<String> = tags(&repo).into_keys().collect();
        assert_eq!(found, expected, "{front}");
    }
}

/// The view `ready_issues` of beads 0.20 (`internal/storage/sqlite/schema.go`): dependencies of the type `blocks` count, and those of a
/// parent count for its children.
#[test]
fn issues_are_ready_by_the_rules_of_beads() {
    let issue = |id: &str, fields: &str| {
        (format!(".ixchel/issues/{id}.md"), format!("---\nid: {id}\ntype: issue\n{fields}\n---\n"))
    };
    let on = |id: &str, kind: &str| format!("status: open\ndepends_on:\n  - id: {id}\n    type: {kind}");
    let repo = Repo::new("");
    for (path, text) in [
        issue("iss-open", "status: open"),
        issue("iss-waits", &on("iss-open", "blocks")),
        issue("iss-related", &on("iss-open", "related")),
        issue("iss-found", &on("iss-open", "discovered-from")),
        issue("iss-child", &on("iss-open", "parent-child")),
        issue("iss-of-blocked", &on("iss-waits", "parent-child")),
        issue("iss-below", "status: open\nparent: iss-of-blocked"),
        issue("iss-plain", "status: open\ndepends_on: [iss-open]"),
        issue("iss-blocked", "status: blocked"),
        issue("iss-deferred", "status: Deferred"),
        issue("iss-closed", "status: closed"),
        issue("iss-after", &on("iss-closed", "blocks")),
    ] {
        repo.write(&path, text);
    }
    let answer = json_of(&repo, &["entity", "ready"]);
    let ready: Vec<&Value> = answer["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
    assert_eq!(json!(ready), json!(["iss-after", "iss-child", "iss-found", "iss-open", "iss-related"]));
}
