//! Folders of documents: registered, searched, brought up to date, inside the repository and outside.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::{Repo, shown_run};
use crate::support::sound::{dump, freshen, open, sync, watched};

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents").join(name)).unwrap()
}

/// A folder of its own, with documents of many formats.
fn papers() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("ixmcp-papers").tempdir().unwrap();
    for name in ["manual.docx", "typeset.pdf", "locked.pdf", "mail.eml", "harvest.csv"] {
        fs::write(folder.path().join(name), fixture(name)).unwrap();
    }
    fs::create_dir(folder.path().join("deep")).unwrap();
    fs::write(folder.path().join("deep/notes.txt"), "Refunds are paid within thirty days.\n").unwrap();
    folder
}

fn text(folder: &tempfile::TempDir) -> String {
    folder.path().canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn paths(answer: &Value) -> Vec<&str> {
    answer["results"].as_array().unwrap().iter().map(|hit| hit["filePath"].as_str().unwrap()).collect()
}

#[test]
fn a_folder_outside_is_indexed_searched_and_read() {
    let (repo, papers) = (Repo::new("//- /README.md\n# Readme\n"), papers());
    let at = text(&papers);
    let answer = repo.call("index_files", &json!({ "folderPath": at }));
    assert_eq!((&answer["totalFiles"], &answer["processedFiles"]), (&json!(6), &json!(5)), "{answer}");
    let (path, reason) = (&answer["skipped"][0]["path"], answer["skipped"][0]["reason"].as_str().unwrap());
    assert!(*path == format!("{at}/locked.pdf") && reason.starts_with("encrypted"), "{answer}");
    assert!(answer["totalChunks"].as_u64().unwrap() >= 5 && answer["indexSizeBytes"].as_u64().unwrap() > 0);

    let found = repo.call("search_documents", &json!({ "query": "how do bees measure distance by optic flow" }));
    let best = &found["results"][0];
    assert_eq!(best["filePath"], format!("{at}/typeset.pdf"), "{found}");
    expect![[r#"
        On the Flight of Bees

        A. Keeper

        1 Finding the way home

        A forager that has found a field of clover tells the others by dancing on the
        comb. The angle of her run against the vertical is the angle between the
        sun and the field; its length says how far away that is. This is difficult, and
        sufficiently official to be confirmed by five offices.

        1.1 Measuring distance

        Distance is measured by optic flow: what passes below the eye while flying.
        Over water, where nothing passes, a bee loses height and sometimes drowns.
        In a tunnel with patterned walls she believes to have flown much further
        than she has: the equation d =

        R

        v dt holds for her eyes alone.

        1

    "#]]
    .assert_eq(best["content"].as_str().unwrap());
    let metadata = &best["metadata"];
    assert_eq!(metadata["page"], 1);
    assert!(
        metadata["fileSize"].as_u64().unwrap() > 10_000 && metadata["lastModified"].as_str().unwrap().ends_with('Z')
    );

    let details = json!({ "filePath": best["filePath"], "chunkIndex": best["chunkIndex"], "contextLines": 1 });
    let details = repo.call("get_file_details", &details);
    expect![[r#"
        On the Flight of Bees

        A. Keeper

        1 Finding the way home

        A forager that has found a field of clover tells the others by dancing on the
        comb. The angle of her run against the vertical is the angle between the
        sun and the field; its length says how far away that is. This is difficult, and
        sufficiently official to be confirmed by five offices.

        1.1 Measuring distance

        Distance is measured by optic flow: what passes below the eye while flying.
        Over water, where nothing passes, a bee loses height and sometimes drowns.
        In a tunnel with patterned walls she believes to have flown much further
        than she has: the equation d =

        R

        v dt holds for her eyes alone.

        1

        2 Consequences
    "#]]
    .assert_eq(details["content"].as_str().unwrap());
    assert_eq!((&details["language"], &details["chunkIndex"]), (&json!("pdf"), &best["chunkIndex"]));
    let whole = repo.call("get_file_details", &json!({ "filePath": format!("{at}/deep/notes.txt") }));
    assert_eq!(whole["content"], "Refunds are paid within thirty days.\n");
    // The other tools know it too.
    let hit = repo.call("query", &json!({ "text": "Refunds are paid", "mode": "literal" }));
    assert_eq!(hit["results"][0]["file_path"], format!("{at}/deep/notes.txt"));
    let slice = json!({ "file_path": format!("{at}/deep/notes.txt"), "start_line": 1, "end_line": 1 });
    assert_eq!(repo.call("get_slice", &slice)["content"], "Refunds are paid within thirty days.\n");
    // A query that nothing answers gives nothing, and says how much was left out.
    let none = repo.call("search_documents", &json!({ "query": "quarterly shareholder dividend taxation" }));
    assert_eq!(paths(&none), Vec::<&str>::new(), "{none}");
}

#[test]
fn a_paraphrased_query_finds_its_chunk_among_mixed_documents() {
    let repo = Repo::new("");
    for name in ["manual.odt", "typeset.pdf", "mail.eml", "harvest.csv", "drawn.pdf", "word.docx"] {
        repo.write(name, fixture(name));
    }
    repo.call("index_files", &json!({ "folderPath": ".", "options": { "chunkSize": 400, "overlap": 60 } }));
    let best = |query: &str| {
        let found = repo.call("search_documents", &json!({ "query": query, "options": { "minScore": 0 } }));
        let best = &found["results"][0];
        format!("{query}? {}:\n{}\n", best["filePath"].as_str().unwrap(), best["content"].as_str().unwrap())
    };
    let queries = [
        "what keeps the insects warm in the cold season",
        "recipe for sugar syrup to feed in autumn",
        "how does a forager show the others where clover grows",
    ];
    expect![[r#"
        what keeps the insects warm in the cold season? manual.odt:
        a water bowl keeps the foragers from their swimming pool.

        The year of a colony

        Spring

        The queen lays up to two thousand eggs a day. Give the workers room, or half of them will leave with the old queen and hang in a tree: a swarm.

        Winter

        Bees do not sleep. They huddle around their monarch, shiver to keep warm and eat what they have gathered. Do not open the lid below eight degrees Celsius.


        recipe for sugar syrup to feed in autumn? mail.eml:
        Füttern im Herbst

        From: Anna Keeper <anna@example.org>
        To: Club <club@example.org>
        Date: 2026-09-01T08:30:00+02:00

        Feed them syrup until the first frost: three parts sugar, two parts water.
        Grüße, Anna

        Re: sugar

        From: Ben <ben@example.org>

        Is beet sugar as good as cane sugar?

        Attachment: scale.bin

        how does a forager show the others where clover grows? typeset.pdf:
        On the Flight of Bees

        A. Keeper

        1 Finding the way home

        A forager that has found a field of clover tells the others by dancing on the
        comb. The angle of her run against the vertical is the angle between the
        sun and the field; its length says how far away that is. This is difficult, and
        sufficiently official to be confirmed by five offices.


    "#]].assert_eq(&queries.map(best).concat());
}

#[test]
fn options_hold_for_the_nearest_folder() {
    let repo =
        Repo::new(&format!("//- /docs/a.md\n{0}\n//- /docs/near/b.md\n{0}\n//- /c.md\n{0}\n", "word ".repeat(400)));
    repo.call("index_files", &json!({ "folderPath": "docs", "options": { "chunkSize": 500, "overlap": 100 } }));
    repo.call("index_files", &json!({ "folderPath": "docs/near", "options": { "chunkSize": 200, "overlap": 0 } }));
    let longest = |file: &str| {
        let chunks = repo.call("get_file_details", &json!({ "filePath": file }))["totalChunks"].as_u64().unwrap();
        let length = |index| {
            let asked = json!({ "query": "word", "options": { "minScore": 0, "limit": 100 } });
            let found = repo.call("search_documents", &asked);
            let all = found["results"].as_array().unwrap().clone();
            all.iter()
                .filter(|hit| hit["filePath"] == file && hit["chunkIndex"] == index)
                .map(|hit| hit["content"].as_str().unwrap().chars().count())
                .max()
                .unwrap_or(0)
        };
        (chunks, length(0), length(1))
    };
    let (chunks, first, second) = longest("docs/a.md");
    assert!(chunks >= 5 && first <= 500 && second <= 500 && second > 300, "{chunks} {first} {second}");
    let (chunks, first, second) = longest("docs/near/b.md");
    assert!(chunks >= 10 && first <= 200 && second <= 200, "{chunks} {first} {second}");
    assert!(longest("c.md").0 <= 2, "the repository's own");
    let state = fs::read_to_string(repo.path().join(".ixmcp/state.toml")).unwrap();
    expect![[r#"
        [[folders]]
        path = "docs"
        chunk_size = 500
        overlap = 100
        max_files = 10000

        [[folders]]
        path = "docs/near"
        chunk_size = 200
        overlap = 0
        max_files = 10000
    "#]]
    .assert_eq(&state);
    // A rebuild reads it.
    repo.ok(&["rebuild"]);
    assert!(longest("docs/near/b.md").0 >= 10);
}

#[test]
fn what_cannot_be_indexed_is_refused_by_its_code() {
    let (repo, papers) = (Repo::new("//- /a.md\n# A\n"), papers());
    let at = text(&papers);
    let index = |folder: &str| ("index_files", json!({ "folderPath": folder }));
    let with = |options: Value| ("index_files", json!({ "folderPath": at, "options": options }));
    let refused = repo.refusals(
        &[
            index("/etc"),
            index("/"),
            index("missing"),
            index("a.md"),
            index(".ixmcp"),
            index(""),
            with(json!({ "chunkSize": 100, "overlap": 100 })),
            with(json!({ "chunkSize": 0 })),
            with(json!({ "colour": 1 })),
            ("update_index", json!({ "folderPath": at, "changes": [] })),
            ("search_documents", json!({ "query": "x", "options": { "folderPath": at } })),
            ("get_file_details", json!({ "filePath": format!("{at}/mail.eml") })),
        ],
        &[(&at, "PAPERS")],
    );
    expect![[r#"
        $ ixmcp call index_files --args '{"folderPath":"/etc"}'
        ixmcp: INVALID_PATH: /etc is a folder of the system and never indexed. Name a project's folder by --repo.
        $ ixmcp call index_files --args '{"folderPath":"/"}'
        ixmcp: INVALID_PATH: / is a folder of the system and never indexed. Name a project's folder by --repo.
        $ ixmcp call index_files --args '{"folderPath":"missing"}'
        ixmcp: INVALID_PATH: missing cannot be read. Give the path of a folder that exists.
        $ ixmcp call index_files --args '{"folderPath":"a.md"}'
        ixmcp: INVALID_PATH: a.md is not a folder. Give the path of a folder.
        $ ixmcp call index_files --args '{"folderPath":".ixmcp"}'
        ixmcp: INVALID_PATH: .ixmcp belongs to git or ixmcp. Name a folder of documents.
        $ ixmcp call index_files --args '{"folderPath":""}'
        ixmcp: INVALID_PATH: the empty text is not a path. Give the path of a folder.
        $ ixmcp call index_files --args '{"folderPath":"PAPERS","options":{"chunkSize":100,"overlap":100}}'
        ixmcp: INVALID_ARGUMENT: argument `options.overlap` must be from 0 to 99, less than the chunk size. Give fewer characters than a chunk has.
        $ ixmcp call index_files --args '{"folderPath":"PAPERS","options":{"chunkSize":0}}'
        ixmcp: INVALID_ARGUMENT: argument `options.chunkSize` must be from 50 to 100000. Give the most characters of a chunk.
        $ ixmcp call index_files --args '{"folderPath":"PAPERS","options":{"colour":1}}'
        ixmcp: INVALID_ARGUMENT: unknown argument `colour` in `options`. It takes: chunkSize, fileTypes, maxFiles, overlap.
        $ ixmcp call update_index --args '{"changes":[],"folderPath":"PAPERS"}'
        ixmcp: INDEX_NOT_FOUND: the folder PAPERS was never indexed. Index it with `index_files` first.
        $ ixmcp call search_documents --args '{"options":{"folderPath":"PAPERS"},"query":"x"}'
        ixmcp: INVALID_PATH: PAPERS lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        $ ixmcp call get_file_details --args '{"filePath":"PAPERS/mail.eml"}'
        ixmcp: INVALID_PATH: PAPERS/mail.eml lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
    "#]].assert_eq(&refused);
    expect![[r#"
        $ ixmcp call search_documents --args '{"query":"x"}'
        ixmcp: INDEX_NOT_FOUND: nothing is indexed. Index a folder with `index_files`.
    "#]]
    .assert_eq(&Repo::new("").refusals(&[("search_documents", json!({ "query": "x" }))], &[]));
    let unread = repo.refusals(&[with(json!({ "fileTypes": [".xyz", "exe"] }))], &[(&at, "PAPERS")]);
    expect![[r#"
        $ ixmcp call index_files --args '{"folderPath":"PAPERS","options":{"fileTypes":[".xyz","exe"]}}'
        ixmcp: UNSUPPORTED_FORMAT: no reader takes any of these types of files: .xyz, exe. Leave `fileTypes` out to read all that can be read, or name extensions such as .md, .txt, .pdf, or of these: astro, c, cmake, cpp, csharp, css, csv, dart, devicetree, dockerfile, docx, elixir, epub, erlang, go, graphql, haskell, hcl, html, java, javascript, json, julia, kotlin, lua, mail, make, markdown, matlab, nix, notebook, objc, ocaml, ocaml_interface, odt, pdf, php, powershell, proto, python, r, restructuredtext, ruby, rust, scala, shell, solidity, sql, svelte, swift, text, toml, tsx, typescript, vue, yaml, zig.
    "#]].assert_eq(&unread);
    // Some types that cannot be read stop nothing.
    let answer = repo.call("index_files", &json!({ "folderPath": at, "options": { "fileTypes": [".txt", ".xyz"] } }));
    assert_eq!((&answer["processedFiles"], &answer["skipped"][0]["path"]), (&json!(1), &json!(".xyz")), "{answer}");
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(repo.call("index_files", &json!({ "folderPath": text(&nothing) }))["totalFiles"], 0);
}

#[test]
fn options_of_a_folder_that_make_no_sense_are_refused_with_what_would() {
    let repo = Repo::new("//- /docs/a.md\n# A\n");
    let index = |options: Value| ("index_files", json!({ "folderPath": "docs", "options": options }));
    let search = |options: Value| ("search_documents", json!({ "query": "docs", "options": options }));
    let refused = repo.refusals(
        &[
            index(json!([500])),
            index(json!("x")),
            search(json!(7)),
            search(json!(true)),
            index(json!({ "fileTypes": {} })),
            search(json!({ "fileTypes": {} })),
            index(json!({ "chunkSize": 1e30 })),
            index(json!({ "chunkSize": 49 })),
            index(json!({ "chunkSize": 0.5 })),
            index(json!({ "chunkSize": -1e30 })),
            index(json!({ "overlap": 1e30 })),
            index(json!({ "chunkSize": 80, "overlap": 80 })),
            index(json!({ "overlap": -1 })),
            index(json!({ "maxFiles": 2.5 })),
            index(json!({ "maxFiles": 0 })),
        ],
        &[],
    );
    expect![[r#"
        $ ixmcp call index_files --args '{"folderPath":"docs","options":[500]}'
        ixmcp: INVALID_ARGUMENT: argument `options` must be an object, not a list. See the tool's input schema.
        $ ixmcp call index_files --args '{"folderPath":"docs","options":"x"}'
        ixmcp: INVALID_ARGUMENT: argument `options` must be an object, not text. See the tool's input schema.
        $ ixmcp call search_documents --args '{"options":7,"query":"docs"}'
        ixmcp: INVALID_ARGUMENT: argument `options` must be an object, not 7. See the tool's input schema.
        $ ixmcp call search_documents --args '{"options":true,"query":"docs"}'
        ixmcp: INVALID_ARGUMENT: argument `options` must be an object, not true. See the tool's input schema.
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"fileTypes":{}}}'
        ixmcp: INVALID_ARGUMENT: argument `options.fileTypes` must be a list, not an object. Types to read: ".md", "markdown", … (default: all).
        $ ixmcp call search_documents --args '{"options":{"fileTypes":{}},"query":"docs"}'
        ixmcp: INVALID_ARGUMENT: argument `options.fileTypes` must be a list, not an object. Only these types: ".md", "markdown", … (default: all).
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"chunkSize":1e+30}}'
        ixmcp: INVALID_ARGUMENT: argument `options.chunkSize` must be from 50 to 100000. Give the most characters of a chunk.
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"chunkSize":49}}'
        ixmcp: INVALID_ARGUMENT: argument `options.chunkSize` must be from 50 to 100000. Give the most characters of a chunk.
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"chunkSize":0.5}}'
        ixmcp: INVALID_ARGUMENT: argument `options.chunkSize` must be a whole number of 0 or more, not 0.5. Characters of a chunk (default 1000, 50 to 100000).
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"chunkSize":-1e+30}}'
        ixmcp: INVALID_ARGUMENT: argument `options.chunkSize` must be a whole number of 0 or more, not -1e+30. Characters of a chunk (default 1000, 50 to 100000).
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"overlap":1e+30}}'
        ixmcp: INVALID_ARGUMENT: argument `options.overlap` must be from 0 to 999, less than the chunk size. Give fewer characters than a chunk has.
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"chunkSize":80,"overlap":80}}'
        ixmcp: INVALID_ARGUMENT: argument `options.overlap` must be from 0 to 79, less than the chunk size. Give fewer characters than a chunk has.
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"overlap":-1}}'
        ixmcp: INVALID_ARGUMENT: argument `options.overlap` must be a whole number of 0 or more, not -1. Characters shared with the chunk before, less than chunkSize (default 200, or a fifth of chunkSize if that is less).
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"maxFiles":2.5}}'
        ixmcp: INVALID_ARGUMENT: argument `options.maxFiles` must be a whole number of 0 or more, not 2.5. Files to index, in path order (default 10000; 1 or more).
        $ ixmcp call index_files --args '{"folderPath":"docs","options":{"maxFiles":0}}'
        ixmcp: INVALID_ARGUMENT: argument `options.maxFiles` is 0. Give 1 or more, or leave it out.
    "#]].assert_eq(&refused);
    let answer = repo.call("index_files", &json!({ "folderPath": "docs", "options": null }));
    assert_eq!(answer["processedFiles"], 1);
}

#[test]
fn types_of_files_are_named_by_extension_or_by_language() {
    let (repo, papers) = (Repo::new("//- /own.txt\nwords\n"), tempfile::tempdir().unwrap());
    let at = text(&papers);
    for name in ["a.md", "b.mdx", "c.py", "d.yml", "e.htm", "f.h"] {
        fs::write(papers.path().join(name), "words of a document\n").unwrap();
    }
    let index =
        |types: Value| repo.call("index_files", &json!({ "folderPath": at, "options": { "fileTypes": types } }));
    let cases =
        [("markdown", 2), ("Python", 1), ("yaml", 1), ("html", 1), ("c", 1), (".c", 0), (".markdown", 0), ("md", 1)];
    for (named, count) in cases {
        let answer = index(json!([named]));
        assert_eq!((&answer["totalFiles"], &answer["processedFiles"]), (&json!(count), &json!(count)), "{named}");
        let none = json!(format!("No file of the folder is of a type that was asked for: {named}."));
        assert_eq!(answer["warning"], if count == 0 { none } else { Value::Null }, "{named}");
    }
    let typed = repo.transcript(&[&["documents", "index", &at, "--types", "pdf"]], &[(&at, "PAPERS")]);
    expect![[r#"
        $ ixmcp documents index PAPERS --types pdf
        PAPERS: 0 of 0 files, 0 chunks
        No file of the folder is of a type that was asked for: pdf.
    "#]]
    .assert_eq(&typed);
    index(json!(["markdown", ".py"]));
    let found = |types: Value| {
        let options = json!({ "minScore": 0, "fileTypes": types });
        let answer = repo.call("search_documents", &json!({ "query": "words of a document", "options": options }));
        answer["results"].as_array().unwrap().len()
    };
    assert_eq!((found(json!(["markdown"])), found(json!([".py"])), found(json!([".markdown"]))), (2, 1, 0));
    let given = json!({ "folderPath": at, "options": { "fileTypes": ["word"] } });
    expect![[r#"
        $ ixmcp call index_files --args '{"folderPath":"PAPERS","options":{"fileTypes":["word"]}}'
        ixmcp: UNSUPPORTED_FORMAT: no reader takes any of these types of files: word. Leave `fileTypes` out to read all that can be read, or name extensions such as .md, .txt, .pdf, or of these: astro, c, cmake, cpp, csharp, css, csv, dart, devicetree, dockerfile, docx, elixir, epub, erlang, go, graphql, haskell, hcl, html, java, javascript, json, julia, kotlin, lua, mail, make, markdown, matlab, nix, notebook, objc, ocaml, ocaml_interface, odt, pdf, php, powershell, proto, python, r, restructuredtext, ruby, rust, scala, shell, solidity, sql, svelte, swift, text, toml, tsx, typescript, vue, yaml, zig.
    "#]].assert_eq(&repo.refusals(&[("index_files", given)], &[(&at, "PAPERS")]));
    // A folder that has nothing is not a fault of the types.
    assert_eq!(repo.call("index_files", &json!({ "folderPath": at }))["warning"], Value::Null);
}

/// The program as a user who owns the repository and may not read everything. For root nothing is closed.
fn as_owner(repo: &Repo, arguments: &[&str]) -> Output {
    repo.run_by_setpriv(&["--reuid=65534", "--regid=65534", "--clear-groups"], arguments)
}

fn hand_over(folder: &Path) {
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        assert!(Command::new("chown").args(["-R", "65534:65534"]).arg(folder).status().unwrap().success());
    }
}

#[test]
fn a_folder_that_cannot_be_read_is_named_wherever_it_matters() {
    let repo = Repo::new(
        r"
//- /docs/a.md
# A
//- /docs/closed/b.md
# B
//- /docs/closed/deep/c.md
# C
",
    );
    let papers = tempfile::tempdir().unwrap();
    let at = text(&papers);
    fs::create_dir(papers.path().join("closed")).unwrap();
    fs::write(papers.path().join("closed/d.md"), "# D\n").unwrap();
    [repo.path(), repo.home(), papers.path()].into_iter().for_each(hand_over);
    let close = |mode| {
        for folder in [repo.path().join("docs/closed"), papers.path().join("closed")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    let asked = |tool: &str, arguments: &Value| as_owner(&repo, &["call", tool, "--args", &arguments.to_string()]);
    let call = |tool: &str, arguments: Value| -> Value {
        let output = asked(tool, &arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{tool} {arguments}: {said}"))
    };
    let refused = |tool: &str, arguments: Value| {
        let output = asked(tool, &arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{tool} {arguments}");
        repo.named(&String::from_utf8_lossy(&output.stderr), &[(&at, "PAPERS")])
    };
    // Where it can be read at first, what was in it leaves the index when it is closed.
    assert_eq!(call("index_files", json!({ "folderPath": "docs" }))["totalFiles"], 3);
    close(0o000);
    for (folder, closed) in [("docs", "docs/closed".to_owned()), (at.as_str(), format!("{at}/closed"))] {
        for options in [json!({}), json!({ "fileTypes": [".md"] })] {
            let answer = call("index_files", json!({ "folderPath": folder, "options": options }));
            assert_eq!(answer["skipped"][0]["path"], json!(closed), "{options}: {answer}");
            let reason = answer["skipped"][0]["reason"].as_str().unwrap();
            assert!(reason.starts_with("unreadable_folder: the folder"), "{answer}");
            assert_eq!(answer["totalFiles"], answer["processedFiles"], "a folder is no file: {answer}");
            let updated = call("update_index", json!({ "folderPath": folder }));
            assert_eq!(updated["skipped"][0]["path"], json!(closed), "{options}: {updated}");
        }
    }
    let files = ["docs/closed/b.md", "docs/closed/deep/c.md", &format!("{at}/closed/d.md")];
    let details = files.map(|file| refused("get_file_details", json!({ "filePath": file }))).concat();
    expect![[r#"
        ixmcp: INVALID_PATH: docs/closed/b.md cannot be read: the folder docs/closed may not be entered. Check the permissions of that folder.
        ixmcp: INVALID_PATH: docs/closed/deep/c.md cannot be read: the folder docs/closed may not be entered. Check the permissions of that folder.
        ixmcp: INVALID_PATH: PAPERS/closed/d.md cannot be read: the folder PAPERS/closed may not be entered. Check the permissions of that folder.
    "#]].assert_eq(&details);
    let slices = files.map(|file| refused("get_slice", json!({ "file_path": file, "start_line": 1, "end_line": 1 })));
    assert_eq!(slices.concat(), details);
    expect![[r#"
        ixmcp: INVALID_PATH: docs/closed is not in the index, as nothing in docs/closed is (unreadable_folder: the folder, or an ignore file in it, cannot be read, so none of its files is indexed). Check the permissions of that folder.
    "#]].assert_eq(&refused("get_file_details", json!({ "filePath": "docs/closed" })));
    let update = json!({ "folderPath": "docs", "changes": ["closed/b.md", "closed/deep/c.md", "never.md"] });
    let reasons = call("update_index", update)["skipped"].clone();
    let within = "in docs/closed, a folder that cannot be read";
    assert_eq!(reasons[0], json!({ "path": "docs/closed/b.md", "reason": within }), "{reasons}");
    assert_eq!(reasons[1], json!({ "path": "docs/closed/deep/c.md", "reason": within }), "{reasons}");
    assert_eq!(reasons[2], json!({ "path": "docs/never.md", "reason": "neither there nor in the index" }), "{reasons}");
    // One that may be entered, but not listed: the file is there, and not in the index.
    close(0o311);
    expect![[r#"
        ixmcp: INVALID_PATH: docs/closed/b.md is not in the index, as nothing in docs/closed is (unreadable_folder: the folder, or an ignore file in it, cannot be read, so none of its files is indexed). Check the permissions of that folder.
    "#]].assert_eq(&refused("get_file_details", json!({ "filePath": "docs/closed/b.md" })));
    close(0o755);
    assert_eq!(call("get_file_details", json!({ "filePath": "docs/closed/b.md" }))["content"], "# B\n");
}

#[test]
fn more_files_than_a_folder_may_have_are_said_to_be_cut() {
    let (repo, papers) = (Repo::new(""), tempfile::tempdir().unwrap());
    let at = text(&papers);
    for number in 0..6 {
        fs::write(papers.path().join(format!("f{number}.txt")), format!("file number {number}\n")).unwrap();
    }
    let answer = repo.call("index_files", &json!({ "folderPath": at, "options": { "maxFiles": 4 } }));
    assert_eq!((&answer["totalFiles"], &answer["processedFiles"]), (&json!(6), &json!(4)));
    assert_eq!(answer["skipped"][1], json!({ "path": format!("{at}/f5.txt"), "reason": "max_files" }));
    // A removed file leaves a slot for the next.
    fs::remove_file(papers.path().join("f0.txt")).unwrap();
    let update = repo.call("update_index", &json!({ "folderPath": at }));
    assert_eq!(
        (&update["removed"], &update["added"], &update["unchanged"]),
        (&json!(1), &json!(1), &json!(3)),
        "{update}"
    );
}

#[test]
fn an_update_counts_what_changed_since_the_last() {
    let (repo, papers) = (Repo::new(""), papers());
    let at = text(&papers);
    repo.call("index_files", &json!({ "folderPath": at }));
    let counts =
        |answer: &Value| ["added", "updated", "removed", "unchanged"].map(|name| answer[name].as_u64().unwrap());
    assert_eq!(counts(&repo.call("update_index", &json!({ "folderPath": at }))), [0, 0, 0, 5]);
    fs::write(papers.path().join("new.md"), "# New\n\nAbout otters.\n").unwrap();
    fs::write(papers.path().join("deep/notes.txt"), "Refunds take forty days.\n").unwrap();
    fs::remove_file(papers.path().join("mail.eml")).unwrap();
    fs::write(papers.path().join(".gitignore"), "*.log\n").unwrap();
    fs::write(papers.path().join("x.log"), "ignored\n").unwrap();
    // A search needs no update before it.
    assert_eq!(paths(&repo.call("search_documents", &json!({ "query": "otters" }))), [format!("{at}/new.md")]);
    let some =
        json!({ "folderPath": at, "changes": ["new.md", format!("{at}/mail.eml"), "x.log", "never.md", "../out.md"] });
    let answer = repo.call("update_index", &some);
    assert_eq!(counts(&answer), [1, 0, 1, 0], "{answer}");
    expect![[r#"
        [
          {
            "path": "../out.md",
            "reason": "outside the folder"
          },
          {
            "path": "PAPERS/never.md",
            "reason": "neither there nor in the index"
          },
          {
            "path": "PAPERS/x.log",
            "reason": "ignored"
          }
        ]"#]]
    .assert_eq(&repo.named(&format!("{:#}", answer["skipped"]), &[(&at, "PAPERS")]));
    // What was not asked for is reported next time; a folder means its files.
    assert_eq!(counts(&repo.call("update_index", &json!({ "folderPath": at, "changes": ["deep"] }))), [0, 1, 0, 0]);
    assert_eq!(
        counts(&repo.call("update_index", &json!({ "folderPath": at }))),
        [1, 0, 0, 5],
        "the ignore file itself"
    );
}

#[test]
fn a_hit_reports_the_line_that_its_content_begins_on() {
    let lines: Vec<String> =
        (1..=200).map(|number| format!("Sentence {number} is about osprey number {number}.\n")).collect();
    let repo = Repo::new("//- /a.md\n# A\n");
    repo.write("docs/long.txt", lines.concat());
    repo.call("index_files", &json!({ "folderPath": "docs", "options": { "chunkSize": 200, "overlap": 100 } }));
    let query = json!({ "query": "osprey number 150", "options": { "minScore": 0 } });
    for hit in repo.call("search_documents", &query)["results"].as_array().unwrap() {
        let metadata = &hit["metadata"];
        let first = metadata["startLine"].as_u64().unwrap();
        let content = hit["content"].as_str().unwrap();
        // What is repeated of the chunk before may begin within a line.
        assert!(content.lines().next().unwrap().ends_with(&format!("number {first}.")), "{hit}");
        assert_eq!(content.lines().count() as u64, metadata["endLine"].as_u64().unwrap() - first + 1, "{hit}");
        let asked = json!({ "filePath": hit["filePath"], "chunkIndex": hit["chunkIndex"], "contextLines": 0 });
        let details = repo.call("get_file_details", &asked);
        assert_eq!(details["startLine"], metadata["startLine"], "{details}");
        assert!(details["content"].as_str().unwrap().ends_with(content), "{details}");
    }
}

#[test]
fn ids_stay_with_the_text() {
    let repo = Repo::new(
        r"
//- /a.md
# One

first words
",
    );
    let id = |query: &str| {
        let found = repo.call("search_documents", &json!({ "query": query, "options": { "minScore": 0 } }));
        found["results"][0]["id"].as_str().unwrap().to_owned()
    };
    let before = id("first words");
    repo.write("b.md", "# Two\n\nother text\n");
    assert_eq!(id("first words"), before);
    assert_ne!(id("other text"), before);
    // It is the chunk's, not the place's.
    for path in ["z.md", "deep/down/z.md"] {
        fs::create_dir_all(repo.path().join("deep/down")).unwrap();
        let from = if path == "z.md" { "a.md" } else { "z.md" };
        fs::rename(repo.path().join(from), repo.path().join(path)).unwrap();
        assert_eq!(id("first words"), before, "{path}");
    }
    repo.write("deep/down/z.md", "# One\n\nfirst words, changed\n");
    assert_ne!(id("first words"), before);
}

/// Chunks with equal text have different ids, in one file or in several.
#[test]
fn no_two_chunks_have_one_id() {
    let repo = Repo::new(
        r"
//- /b.md
# One

same words
",
    );
    let ids = || {
        let options = json!({ "minScore": 0, "limit": 100 });
        let found = repo.call("search_documents", &json!({ "query": "same words", "options": options }));
        let hits = found["results"].as_array().unwrap().iter();
        hits.map(|hit| (hit["filePath"].as_str().unwrap().to_owned(), hit["id"].as_str().unwrap().to_owned()))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let alone = ids();
    for name in ["c.md", "d.md"] {
        fs::copy(repo.path().join("b.md"), repo.path().join(name)).unwrap();
    }
    let three = ids();
    assert_eq!(three["b.md"], alone["b.md"], "who comes later changes nothing");
    assert_eq!(three.values().collect::<std::collections::BTreeSet<_>>().len(), 3, "{three:?}");
    // An earlier path takes the first id, and only that changes.
    fs::copy(repo.path().join("b.md"), repo.path().join("a.md")).unwrap();
    let four = ids();
    assert_eq!(four.values().collect::<std::collections::BTreeSet<_>>().len(), 4, "{four:?}");
    assert_eq!((&four["c.md"], &four["d.md"], &four["a.md"]), (&three["c.md"], &three["d.md"], &three["b.md"]));
    repo.ok(&["rebuild"]);
    assert_eq!(ids(), four, "an index that was made anew has the same");
}

#[test]
fn a_clone_reaches_no_folder_that_its_user_did_not_name() {
    let (repo, papers) = (Repo::new("//- /a.md\n# A\n"), papers());
    let at = text(&papers);
    fs::create_dir_all(repo.path().join(".ixmcp")).unwrap();
    repo.write(
        ".ixmcp/state.toml",
        format!("[[folders]]\npath = {at:?}\nchunk_size = 1000\noverlap = 0\nmax_files = 10\n"),
    );
    let files = repo.call("list_files", &json!({}));
    assert_eq!(files["files"], json!(["a.md"]));
    let slice = json!({ "file_path": format!("{at}/deep/notes.txt"), "start_line": 1, "end_line": 1 });
    expect![[r#"
        $ ixmcp call get_slice --args '{"end_line":1,"file_path":"PAPERS/deep/notes.txt","start_line":1}'
        WARN PAPERS: .ixmcp/state.toml names it, but you did not select it: it is not read
        ixmcp: INVALID_PATH: PAPERS/deep/notes.txt lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
    "#]].assert_eq(&repo.refusals(&[("get_slice", slice)], &[(&at, "PAPERS")]));
    repo.call("index_files", &json!({ "folderPath": at }));
    assert_eq!(repo.call("list_files", &json!({}))["total"], 6);
}

/// A chosen folder is indexed, not the target of a link that replaces it.
#[test]
fn a_folder_that_became_a_link_is_gone_and_leads_nowhere() {
    let repo = Repo::new("//- /a.md\n# A\n");
    let folder = tempfile::Builder::new().prefix("ixmcp-papers").tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for name in ["chosen/deep", "other/deep"] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    fs::write(base.join("chosen/deep/mine.md"), "# Mine\n\nAbout otters.\n").unwrap();
    fs::write(base.join("other/deep/theirs.md"), "# Theirs\n\nAbout badgers.\n").unwrap();
    repo.call("index_files", &json!({ "folderPath": base.join("chosen/deep") }));
    assert_eq!(repo.call("list_files", &json!({}))["total"], 2);

    let is_shut = |reached: &Path| {
        assert_eq!(repo.call("list_files", &json!({}))["files"], json!(["a.md"]));
        assert_eq!(paths(&repo.call("search_documents", &json!({ "query": "badgers" }))), Vec::<&str>::new());
        let slice = |path: &Path| ("get_slice", json!({ "file_path": path, "start_line": 1, "end_line": 1 }));
        let slices = [slice(reached), slice(&base.join("other/deep/theirs.md"))];
        expect![[r#"
            $ ixmcp call get_slice --args '{"end_line":1,"file_path":"BASE/chosen/deep/theirs.md","start_line":1}'
            WARN BASE/chosen/deep is not a folder any more, or a link leads there
            ixmcp: INVALID_PATH: the indexed folder BASE/chosen/deep is gone, or a link leads there. Restore it, or remove it from the index with `ixmcp documents remove`.
            $ ixmcp call get_slice --args '{"end_line":1,"file_path":"BASE/other/deep/theirs.md","start_line":1}'
            WARN BASE/chosen/deep is not a folder any more, or a link leads there
            ixmcp: INVALID_PATH: BASE/other/deep/theirs.md lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        "#]].assert_eq(&repo.refusals(&slices, &[(base.to_str().unwrap(), "BASE")]));
    };
    // The folder itself, then one above it.
    fs::remove_dir_all(base.join("chosen/deep")).unwrap();
    std::os::unix::fs::symlink(base.join("other/deep"), base.join("chosen/deep")).unwrap();
    is_shut(&base.join("chosen/deep/theirs.md"));
    fs::remove_dir_all(base.join("chosen")).unwrap();
    std::os::unix::fs::symlink(base.join("other"), base.join("chosen")).unwrap();
    is_shut(&base.join("chosen/deep/theirs.md"));
    // A folder again, it is the one that was chosen.
    fs::remove_file(base.join("chosen")).unwrap();
    fs::create_dir_all(base.join("chosen/deep")).unwrap();
    fs::write(base.join("chosen/deep/again.md"), "# Again\n").unwrap();
    assert_eq!(repo.call("list_files", &json!({}))["total"], 2);
}

#[test]
fn choices_that_cannot_be_read_are_not_written_over() {
    let repo = Repo::new("//- /a.md\n# A\n");
    repo.sync();
    repo.write(".ixmcp/state.toml", "not [ toml\n");
    // A model is a choice, too.
    let commands = [&["call", "index_files", "--args", r#"{"folderPath":"."}"#][..], &["model", "use", "built-in"]];
    expect![[r#"
        $ ixmcp call index_files --args '{"folderPath":"."}'
        WARN REPOSITORY/.ixmcp/state.toml is not read: key with no value, expected `=`
        ixmcp: INVALID_PATH: .ixmcp/state.toml cannot be read, and is not overwritten. Fix .ixmcp/state.toml, or remove it and select again.
        $ ixmcp model use built-in
        WARN REPOSITORY/.ixmcp/state.toml is not read: key with no value, expected `=`
        ixmcp: INVALID_PATH: .ixmcp/state.toml cannot be read, and is not overwritten. Fix .ixmcp/state.toml, or remove it and select again.
    "#]].assert_eq(&repo.failures(&commands, &[]));
    assert_eq!(fs::read_to_string(repo.path().join(".ixmcp/state.toml")).unwrap(), "not [ toml\n");
    fs::remove_file(repo.path().join(".ixmcp/state.toml")).unwrap();
    repo.call("index_files", &json!({ "folderPath": "." }));
}

#[test]
fn a_repository_in_an_update_means_its_files() {
    let repo = Repo::new("//- /a.md\n# A\n");
    repo.call("index_files", &json!({ "folderPath": "." }));
    for whole in [".", "./", repo.path().to_str().unwrap()] {
        repo.write("new.md", format!("# New\n\nAs {whole}\n"));
        let answer = repo.call("update_index", &json!({ "folderPath": ".", "changes": [whole] }));
        let changed = answer["added"].as_u64().unwrap() + answer["updated"].as_u64().unwrap();
        assert_eq!((changed, &answer["skipped"]), (1, &json!([])), "{whole}: {answer}");
    }
}

#[test]
fn incremental_equals_full_with_folders_within_and_outside_the_repository() {
    let (repo, papers) = (
        Repo::new(
            r"
//- /.gitignore
books/
//- /a.md
# A
//- /books/b.html
<h1>B</h1><p>text</p>
",
        ),
        papers(),
    );
    let at = text(&papers);
    for folder in [at.as_str(), "books", "."] {
        repo.call(
            "index_files",
            &json!({ "folderPath": folder, "options": { "chunkSize": 300, "overlap": 50, "maxFiles": 7 } }),
        );
    }
    // The environment of the program wrote the user's file; the workspace here reads the same home.
    let full = || {
        let (state, database) = (repo.path().join(".ixmcp/state.toml"), repo.database());
        let kept = fs::read(&state).unwrap();
        fs::remove_dir_all(database.parent().unwrap()).unwrap();
        fs::create_dir_all(database.parent().unwrap()).unwrap();
        fs::write(&state, kept).unwrap();
        repo.ok(&["sync"]);
        repo.ok(&["sql", "select group_concat(path || coalesce(chunking, '-') || hex(hash), char(10)) from (select * from files order by path)"])
    };
    let now = || {
        repo.ok(&["sync"]);
        repo.ok(&["sql", "select group_concat(path || coalesce(chunking, '-') || hex(hash), char(10)) from (select * from files order by path)"])
    };
    let steps: [&dyn Fn(); 5] = [
        &|| fs::write(papers.path().join("z.md"), "# Z\n").unwrap(),
        &|| fs::remove_file(papers.path().join("harvest.csv")).unwrap(),
        &|| fs::rename(papers.path().join("mail.eml"), repo.path().join("mail.eml")).unwrap(),
        &|| fs::write(repo.path().join("books/c.txt"), "more\n").unwrap(),
        &|| (0..9).for_each(|n| fs::write(papers.path().join(format!("n{n}.txt")), format!("{n}\n")).unwrap()),
    ];
    for (number, step) in steps.iter().enumerate() {
        step();
        let incremental = now();
        assert_eq!(incremental, full(), "step {number}");
    }
}

#[test]
fn a_folder_outside_is_watched() {
    let (repo, papers) = (Repo::new("//- /a.md\n# A\n"), papers());
    let at = text(&papers);
    let workspace = watched(repo.path());
    let options = ixmcp::update::FolderOptions { chunk_size: 500, overlap: 50, max_files: 100, file_types: Vec::new() };
    let budget = ixmcp::budget::Budget::unlimited();
    workspace.documents.index_folder(&at, &options, &std::sync::Arc::default(), &budget).unwrap();
    let has = |path: &str| {
        freshen(&workspace);
        let paths = workspace.read(&budget, |snapshot| snapshot.paths(None)).unwrap();
        paths.iter().any(|(known, _)| known == path)
    };
    assert!(has(&format!("{at}/deep/notes.txt")));
    fs::create_dir(papers.path().join("later")).unwrap();
    fs::write(papers.path().join("later/one.txt"), "one\n").unwrap();
    assert!(has(&format!("{at}/later/one.txt")), "a file in a new folder");
    fs::remove_file(papers.path().join("mail.eml")).unwrap();
    assert!(!has(&format!("{at}/mail.eml")));
    sync(&workspace);
    assert!(!dump(&workspace).is_empty());
    assert_eq!(workspace.faults().unwrap(), Vec::<String>::new());
    drop(open(repo.path()));
}

/// The system reports nothing of what happens above a watched folder.
#[test]
fn a_folder_outside_is_followed_whatever_happens_above_it() {
    let (repo, above) = (Repo::new("//- /a.md\n# A\n"), tempfile::tempdir().unwrap());
    let above = above.path().canonicalize().unwrap();
    let (folder_above, away) = (above.join("shelf"), above.join("away"));
    let put = |name: &str| {
        fs::create_dir_all(folder_above.join("papers")).unwrap();
        fs::write(folder_above.join("papers").join(name), "text\n").unwrap();
    };
    put("old.txt");
    let at = folder_above.join("papers").to_str().unwrap().to_owned();
    let workspace = watched(repo.path());
    let options = ixmcp::update::FolderOptions { chunk_size: 500, overlap: 50, max_files: 100, file_types: Vec::new() };
    let budget = ixmcp::budget::Budget::unlimited();
    workspace.documents.index_folder(&at, &options, &std::sync::Arc::default(), &budget).unwrap();
    let names = || -> Vec<String> {
        freshen(&workspace);
        let paths = workspace.read(&budget, |snapshot| snapshot.paths(None)).unwrap();
        paths
            .into_iter()
            .filter_map(|(path, _)| Some(path.strip_prefix(&at)?.trim_start_matches('/').to_owned()))
            .collect()
    };
    assert_eq!(names(), ["old.txt"]);
    fs::rename(&folder_above, &away).unwrap();
    assert_eq!(names(), Vec::<String>::new(), "gone with the folder above it");
    fs::rename(&away, &folder_above).unwrap();
    assert_eq!(names(), ["old.txt"], "back again");
    put("second.txt");
    assert_eq!(names(), ["old.txt", "second.txt"], "watched again");
    fs::rename(&folder_above, &away).unwrap();
    put("new.txt");
    assert_eq!(names(), ["new.txt"], "another in its place");
    put("newer.txt");
    fs::write(away.join("papers/old.txt"), "of no interest\n").unwrap();
    assert_eq!(names(), ["new.txt", "newer.txt"], "which is watched");
    fs::rename(folder_above.join("papers"), above.join("aside")).unwrap();
    assert_eq!(names(), Vec::<String>::new(), "the folder itself");
    fs::rename(above.join("aside"), folder_above.join("papers")).unwrap();
    assert_eq!(names(), ["new.txt", "newer.txt"], "and back");
    assert_eq!(workspace.faults().unwrap(), Vec::<String>::new());
}

#[test]
fn answers_report_which_indexed_folders_are_gone() {
    let (repo, above) = (Repo::new("//- /a.md\n# A wombat\n"), tempfile::tempdir().unwrap());
    let above = above.path().canonicalize().unwrap();
    let papers = above.join("papers");
    fs::create_dir(&papers).unwrap();
    fs::write(papers.join("t.md"), "# Thylacine\n").unwrap();
    let at = papers.to_str().unwrap();
    repo.call("index_files", &json!({ "folderPath": at }));
    let asked = json!({ "query": "thylacine wombat", "options": { "minScore": 0 } });
    assert_eq!(repo.call("search_documents", &asked).get("warning"), None);
    fs::rename(&papers, above.join("elsewhere")).unwrap();
    let answer = repo.call("search_documents", &asked);
    assert_eq!(paths(&answer), ["a.md"], "{answer}");
    expect!["Of the indexed folders these are gone, and nothing in them is found: PAPERS."]
        .assert_eq(&repo.named(answer["warning"].as_str().unwrap(), &[(at, "PAPERS")]));
    let calls = [
        ("search_documents", json!({ "query": "thylacine", "options": { "folderPath": at } })),
        ("update_index", json!({ "folderPath": at })),
        ("get_file_details", json!({ "filePath": format!("{at}/t.md") })),
    ];
    let refused = repo.refusals(&calls, &[(at, "PAPERS")]);
    expect![[r#"
        $ ixmcp call search_documents --args '{"options":{"folderPath":"PAPERS"},"query":"thylacine"}'
        WARN PAPERS is not a folder any more, or a link leads there
        ixmcp: INVALID_PATH: the indexed folder PAPERS is gone, or a link leads there. Restore it, or remove it from the index with `ixmcp documents remove`.
        $ ixmcp call update_index --args '{"folderPath":"PAPERS"}'
        WARN PAPERS is not a folder any more, or a link leads there
        ixmcp: INVALID_PATH: the indexed folder PAPERS is gone, or a link leads there. Restore it, or remove it from the index with `ixmcp documents remove`.
        $ ixmcp call get_file_details --args '{"filePath":"PAPERS/t.md"}'
        WARN PAPERS is not a folder any more, or a link leads there
        ixmcp: INVALID_PATH: the indexed folder PAPERS is gone, or a link leads there. Restore it, or remove it from the index with `ixmcp documents remove`.
    "#]].assert_eq(&refused);
    std::os::unix::fs::symlink(above.join("elsewhere"), &papers).unwrap();
    assert_eq!(repo.refusals(&calls, &[(at, "PAPERS")]), refused);
}

#[test]
fn a_filtered_query_finds_semantically_whatever_is_nearer_elsewhere() {
    let repo = Repo::new(
        r"
//- /few/one.md
The kitten played with a rat.
//- /few/two.txt
A puppy sat beside two hamsters.
",
    );
    for number in 0..150 {
        repo.write(&format!("many/n{number}.md"), format!("A cat chases mice in barn {number}.\n"));
    }
    repo.sync();
    let asked = "feline animals hunting rodents";
    let found = |narrowed: Value| {
        let mut options = json!({ "minScore": 0, "limit": 100 });
        options.as_object_mut().unwrap().extend(narrowed.as_object().unwrap().clone());
        repo.call("search_documents", &json!({ "query": asked, "options": options }))
    };
    // No word is shared, and of all that is near the folder has the farthest.
    let everywhere = found(json!({}));
    assert!(paths(&everywhere).iter().all(|path| path.starts_with("many/")), "{everywhere}");
    assert_eq!(paths(&found(json!({ "folderPath": "few", "fileTypes": [".md"] }))), ["few/one.md"]);
    let many = found(json!({ "folderPath": "many" }));
    assert_eq!(paths(&many).len(), 100, "{many}");
    for filter in ["path:few", "path:few kind:document", "lang:markdown -barn"] {
        let hits = repo.call("query", &json!({ "text": format!("{asked} {filter}") }));
        assert_eq!(hits["results"][0]["file_path"], "few/one.md", "{filter}: {hits}");
    }
    let hits = repo.call("query", &json!({ "text": asked, "include": ["few/**"] }));
    assert_eq!(hits["results"][0]["file_path"], "few/one.md", "{hits}");
    // A file that comes is in the folder, and found by meaning once it has its vector.
    repo.write("few/three.md", "The kitten ran after another rat.\n");
    repo.sync();
    let more = found(json!({ "folderPath": "few", "fileTypes": ["md"] }));
    let mut both = paths(&more);
    both.sort_unstable();
    assert_eq!(both, ["few/one.md", "few/three.md"], "{more}");
}

#[test]
fn a_folder_that_is_removed_leaves_the_index() {
    let (repo, papers) = (
        Repo::new(
            r"
//- /a.md
# A

About otters.
//- /.gitignore
books/
",
        ),
        papers(),
    );
    repo.write("books/b.md", "# B\n\nAbout badgers.\n");
    repo.write("docs/c.html", "<h1>C</h1><p>About <b>cranes</b></p>\n");
    let at = text(&papers);
    for folder in [at.as_str(), "books", "docs"] {
        repo.call("index_files", &json!({ "folderPath": folder, "options": { "chunkSize": 300, "overlap": 0 } }));
    }
    let state = || repo.named(&fs::read_to_string(repo.path().join(".ixmcp/state.toml")).unwrap(), &[(&at, "PAPERS")]);
    let files = || repo.call("list_files", &json!({}))["total"].as_u64().unwrap();
    assert_eq!(files(), 9);
    let removed = |folder: &str| {
        let answer = repo.ok(&["documents", "remove", folder, "--json"]);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        (answer["removed"].as_u64().unwrap(), answer["unchanged"].as_u64().unwrap())
    };

    // One that no one had indexed; the answer names those that were.
    let refused = repo.failures(&[&["documents", "remove", "src"]], &[(&at, "PAPERS")]);
    expect![[r#"
        $ ixmcp documents remove src
        ixmcp: INDEX_NOT_FOUND: the folder REPOSITORY/src is not indexed as documents. These are: PAPERS, books, docs.
    "#]]
    .assert_eq(&refused);

    let listed = repo.ok(&["documents", "list"]);
    expect![[r#"
        PAPERS  5 files, chunks of 300 characters, overlapping by 0
        books  1 file, chunks of 300 characters, overlapping by 0
        docs  1 file, chunks of 300 characters, overlapping by 0
    "#]]
    .assert_eq(&listed.replace(&at, "PAPERS"));

    assert_eq!(removed("books"), (1, 0), "git ignores it");
    expect![[r#"
        [[folders]]
        path = "PAPERS"
        chunk_size = 300
        overlap = 0
        max_files = 10000

        [[folders]]
        path = "docs"
        chunk_size = 300
        overlap = 0
        max_files = 10000
    "#]]
    .assert_eq(&state());
    let answer = repo.call("search_documents", &json!({ "query": "badgers" }));
    assert_eq!(paths(&answer), Vec::<&str>::new());

    // One of the repository's own is indexed again as the repository does: HTML is source there.
    let tag = || repo.call("query", &json!({ "text": "<b>cranes", "mode": "literal" }))["results"][0].clone();
    assert_eq!(removed("docs"), (0, 1));
    assert_eq!(tag()["file_path"], "docs/c.html");

    assert_eq!(removed(&at), (5, 0));
    assert_eq!(files(), 3);
    // A folder may be gone by then, and its files with it.
    repo.call("index_files", &json!({ "folderPath": at }));
    drop(papers);
    assert_eq!(removed(&format!("{at}/")), (0, 0));
    expect![""].assert_eq(&state());
    let none = repo.run(&["documents", "list"]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(1), 0));
    let update = json!({ "folderPath": "docs" }).to_string();
    let refused = repo
        .failures(&[&["documents", "remove", &at], &["call", "update_index", "--args", &update]], &[(&at, "PAPERS")]);
    expect![[r#"
        $ ixmcp documents remove PAPERS
        ixmcp: INDEX_NOT_FOUND: the folder PAPERS is not indexed as documents. No folder is indexed. Index one with `ixmcp documents index`.
        $ ixmcp call update_index --args '{"folderPath":"docs"}'
        ixmcp: INDEX_NOT_FOUND: the folder docs was never indexed. Index it with `index_files` first.
    "#]].assert_eq(&refused);

    // Registered again it counts again.
    repo.call("index_files", &json!({ "folderPath": "books" }));
    let answer = repo.call("update_index", &json!({ "folderPath": "books" }));
    assert_eq!((&answer["added"], &answer["unchanged"]), (&json!(0), &json!(1)), "{answer}");
}

#[test]
fn what_is_not_there_is_reported_with_its_reason() {
    let (repo, papers) = (Repo::new(""), papers());
    let at = text(&papers);
    fs::write(papers.path().join("locked.pdf"), fixture("locked.pdf")).unwrap();
    repo.call("index_files", &json!({ "folderPath": at }));
    let asked = |file: String| ("get_file_details", json!({ "filePath": file }));
    let refused = repo.refusals(&[asked(format!("{at}/locked.pdf")), asked(at.clone())], &[(&at, "PAPERS")]);
    expect![[r#"
        $ ixmcp call get_file_details --args '{"filePath":"PAPERS/locked.pdf"}'
        ixmcp: INVALID_PATH: PAPERS/locked.pdf was left out of the index (encrypted: it requires a password). It is read again when it changes.
        $ ixmcp call get_file_details --args '{"filePath":"PAPERS"}'
        ixmcp: INVALID_PATH: PAPERS is a folder. Name one of its files. `list_files` shows them.
    "#]].assert_eq(&refused);
    drop(papers);
    expect![[r#"
        $ ixmcp documents search anything
        WARN PAPERS is not a folder any more, or a link leads there
        ixmcp: INDEX_NOT_FOUND: nothing is indexed: no file can be read in PAPERS. Check whether it was moved. `ixmcp documents remove` stops indexing a folder.
    "#]].assert_eq(&repo.failures(&[&["documents", "search", "anything"]], &[(&at, "PAPERS")]));
}

#[test]
fn changes_are_counted_however_the_index_came_to_be() {
    let repo = Repo::new(
        r"
//- /docs/a.md
# A

About otters.
//- /docs/b.md
# B

About badgers.
",
    );
    let update = || {
        let answer = repo.call("update_index", &json!({ "folderPath": "docs" }));
        ["added", "updated", "removed", "unchanged"].map(|name| answer[name].as_u64().unwrap())
    };
    repo.call("index_files", &json!({ "folderPath": "docs" }));
    assert_eq!(update(), [0, 0, 0, 2]);

    repo.ok(&["rebuild"]);
    repo.write("docs/a.md", "# A\n\nAbout herons.\n");
    assert_eq!(update(), [0, 1, 0, 1]);

    // The folder is known, and an index without it was made.
    fs::remove_file(repo.path().join(".ixmcp/index.db")).unwrap();
    repo.sync();
    assert_eq!(update(), [0, 0, 0, 2]);
    repo.write("docs/b.md", "# B\n\nAbout storks.\n");
    assert_eq!(update(), [0, 1, 0, 1]);
}

#[test]
fn answers_say_whose_lines_they_count_and_report_encodings() {
    let repo = Repo::new(
        r"
//- /page.html
<h1>Pets</h1>
<p>Dogs and <b>cats</b></p>
",
    );
    repo.write(
        "docs/page.html",
        b"<head><meta charset=windows-1252></head>\n\n<p>Dogs and <b>cats</b> at the caf\xe9</p>\n",
    );
    repo.write(
        "docs/latin.txt",
        b"Der B\xe4r fri\xdft \xc4pfel w\xe4hrend der N\xe4chte. Gr\xf6\xdfe und S\xfc\xdfe.\n",
    );
    repo.write("docs/plain.md", "# Dogs\n\nCats, too.\n");
    repo.write("docs/manual.docx", fixture("manual.docx"));
    repo.call("index_files", &json!({ "folderPath": "docs" }));
    let reported = |file: &str| {
        let details = repo.call("get_file_details", &json!({ "filePath": file }));
        (details["encoding"].clone(), details["extracted"].clone())
    };
    assert_eq!(reported("page.html"), (json!("UTF-8"), json!(null)));
    assert_eq!(reported("docs/page.html"), (json!("windows-1252"), json!(true)));
    assert_eq!(reported("docs/latin.txt"), (json!("windows-1252"), json!(null)));
    assert_eq!(reported("docs/plain.md"), (json!("UTF-8"), json!(null)));
    assert_eq!(reported("docs/manual.docx"), (json!(null), json!(true)));
    let hits = |asked: &Value| repo.call("query", asked)["results"].clone();
    let marked = |hits: &Value| -> Vec<(String, bool)> {
        let marked = |hit: &Value| (hit["file_path"].as_str().unwrap().to_owned(), hit["extracted"] == true);
        hits.as_array().unwrap().iter().map(marked).collect()
    };
    let source = hits(&json!({ "text": "<b>cats", "mode": "literal" }));
    assert_eq!(marked(&source), [("page.html".to_owned(), false)]);
    let text = hits(&json!({ "text": "Dogs and cats", "mode": "literal" }));
    assert_eq!(marked(&text), [("docs/page.html".to_owned(), true)]);
    let found = repo.call("search_documents", &json!({ "query": "dogs and cats", "options": { "minScore": 0 } }));
    for hit in found["results"].as_array().unwrap() {
        let taken_out = ["docs/page.html", "docs/manual.docx"].contains(&hit["filePath"].as_str().unwrap());
        assert_eq!(hit["metadata"]["extracted"] == true, taken_out, "{hit}");
    }
}

#[test]
fn the_empty_text_is_not_a_folder_in_any_tool() {
    let repo = Repo::new(
        r"
//- /docs/a.md
# Harbour

Pilots and tugs.
",
    );
    repo.ok(&["documents", "index", "."]);
    let update = ["call", "update_index", "--args", r#"{"folderPath": "", "forget": true}"#];
    let refused = repo.failures(
        &[
            &["documents", "index", ""],
            &["documents", "update", ""],
            &["documents", "remove", ""],
            &["documents", "search", "tugs", "--folder", ""],
            &["documents", "show", ""],
            &["check", ""],
            &["infer", ""],
            &update,
            &["--repo", "", "stats"],
        ],
        &[],
    );
    expect![[r#"
        $ ixmcp documents index ''
        ixmcp: INVALID_PATH: the empty text is not a path. Give the path of a folder.
        $ ixmcp documents update ''
        ixmcp: INVALID_PATH: the empty text is not a path. Give the path of a folder.
        $ ixmcp documents remove ''
        ixmcp: INVALID_PATH: the empty text is not a path. Give the path of a folder.
        $ ixmcp documents search tugs --folder ''
        ixmcp: INVALID_PATH: option `--folder` is empty. Name a folder, or leave it out.
        $ ixmcp documents show ''
        ixmcp: INVALID_PATH: the path is empty. Give a path relative to the repository.
        $ ixmcp check ''
        ixmcp: INVALID_PATH: the path is empty. Give a path relative to the repository.
        $ ixmcp infer ''
        ixmcp: INVALID_PATH: the path is empty. Give a path relative to the repository.
        $ ixmcp call update_index --args '{"folderPath": "", "forget": true}'
        ixmcp: INVALID_PATH: the empty text is not a path. Give the path of a folder.
        $ ixmcp --repo '' stats
        error: a value is required for '--repo <PATH>' but none was supplied

        For more information, try '--help'.
    "#]]
    .assert_eq(&refused);
    let reported: Value = serde_json::from_str(&repo.ok(&["documents", "update", ".", "", "--json"])).unwrap();
    assert_eq!(reported["skipped"][0]["reason"], "not a path", "{reported}");
    assert!(repo.ok(&["documents", "list"]).starts_with(".  1 file"), "nothing was forgotten");
}

#[test]
fn the_repository_counts_no_file_of_a_folder_outside() {
    let (repo, papers) = (Repo::new("//- /+a.md\n# Harbour\n"), tempfile::tempdir().unwrap());
    let at = text(&papers);
    fs::write(papers.path().join("t.md"), "# Tides\n").unwrap();
    fs::write(papers.path().join("u.md"), "# Tugs\n").unwrap();
    repo.call("index_files", &json!({ "folderPath": at, "options": { "maxFiles": 1 } }));
    let options = json!({ "maxFiles": 1 });
    let answer = repo.call("index_files", &json!({ "folderPath": ".", "options": options }));
    assert_eq!((&answer["totalFiles"], &answer["processedFiles"]), (&json!(1), &json!(1)), "{answer}");
    let folders = repo.call("stats", &json!({}))["document_folders"].clone();
    let counts: Vec<(&str, u64)> = folders
        .as_array()
        .unwrap()
        .iter()
        .map(|folder| (folder["folderPath"].as_str().unwrap(), folder["totalFiles"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [(".", 1), (at.as_str(), 1)]);
    expect![[r#"
        $ ixmcp documents list
        .  1 file, chunks of 1000 characters, overlapping by 200
        PAPERS  1 file, chunks of 1000 characters, overlapping by 200
    "#]]
    .assert_eq(&repo.transcript(&[&["documents", "list"]], &[(&at, "PAPERS")]));
}

#[test]
fn a_query_with_unknown_file_types_is_refused() {
    let repo = Repo::new(
        r"
//- /a.md
# Harbour

Pilots and tugs.
//- /b.odd
pilots and tugs
",
    );
    let asked = |types: Value| json!({ "query": "pilots", "options": { "minScore": 0, "fileTypes": types } });
    let given = [json!(["bogus"]), json!([""]), json!(["bogus", ".zzz"])].map(|types| asked(types).to_string());
    let mut commands = vec![&["documents", "search", "pilots", "--types", "zzz"][..]];
    let calls = given.each_ref().map(|given| ["call", "search_documents", "--args", given.as_str()]);
    commands.extend(calls.iter().map(<[&str; 4]>::as_slice));
    expect![[r#"
        $ ixmcp documents search pilots --types zzz
        ixmcp: UNSUPPORTED_FORMAT: no reader takes any of these types of files: zzz. Leave `--types` out to search all that is indexed, or name extensions such as .md, .txt, .pdf, or of these: astro, c, cmake, cpp, csharp, css, csv, dart, devicetree, dockerfile, docx, elixir, epub, erlang, go, graphql, haskell, hcl, html, java, javascript, json, julia, kotlin, lua, mail, make, markdown, matlab, nix, notebook, objc, ocaml, ocaml_interface, odt, pdf, php, powershell, proto, python, r, restructuredtext, ruby, rust, scala, shell, solidity, sql, svelte, swift, text, toml, tsx, typescript, vue, yaml, zig.
        $ ixmcp call search_documents --args '{"options":{"fileTypes":["bogus"],"minScore":0},"query":"pilots"}'
        ixmcp: UNSUPPORTED_FORMAT: no reader takes any of these types of files: bogus. Leave `fileTypes` out to search all that is indexed, or name extensions such as .md, .txt, .pdf, or of these: astro, c, cmake, cpp, csharp, css, csv, dart, devicetree, dockerfile, docx, elixir, epub, erlang, go, graphql, haskell, hcl, html, java, javascript, json, julia, kotlin, lua, mail, make, markdown, matlab, nix, notebook, objc, ocaml, ocaml_interface, odt, pdf, php, powershell, proto, python, r, restructuredtext, ruby, rust, scala, shell, solidity, sql, svelte, swift, text, toml, tsx, typescript, vue, yaml, zig.
        $ ixmcp call search_documents --args '{"options":{"fileTypes":[""],"minScore":0},"query":"pilots"}'
        ixmcp: UNSUPPORTED_FORMAT: no reader takes any of these types of files: the empty text. Leave `fileTypes` out to search all that is indexed, or name extensions such as .md, .txt, .pdf, or of these: astro, c, cmake, cpp, csharp, css, csv, dart, devicetree, dockerfile, docx, elixir, epub, erlang, go, graphql, haskell, hcl, html, java, javascript, json, julia, kotlin, lua, mail, make, markdown, matlab, nix, notebook, objc, ocaml, ocaml_interface, odt, pdf, php, powershell, proto, python, r, restructuredtext, ruby, rust, scala, shell, solidity, sql, svelte, swift, text, toml, tsx, typescript, vue, yaml, zig.
        $ ixmcp call search_documents --args '{"options":{"fileTypes":["bogus",".zzz"],"minScore":0},"query":"pilots"}'
        ixmcp: UNSUPPORTED_FORMAT: no reader takes any of these types of files: bogus, .zzz. Leave `fileTypes` out to search all that is indexed, or name extensions such as .md, .txt, .pdf, or of these: astro, c, cmake, cpp, csharp, css, csv, dart, devicetree, dockerfile, docx, elixir, epub, erlang, go, graphql, haskell, hcl, html, java, javascript, json, julia, kotlin, lua, mail, make, markdown, matlab, nix, notebook, objc, ocaml, ocaml_interface, odt, pdf, php, powershell, proto, python, r, restructuredtext, ruby, rust, scala, shell, solidity, sql, svelte, swift, text, toml, tsx, typescript, vue, yaml, zig.
    "#]].assert_eq(&repo.failures(&commands, &[]));
    let answer = repo.call("search_documents", &asked(json!(["bogus", "", "md"])));
    assert_eq!(paths(&answer), ["a.md"]);
    assert_eq!(answer["warning"], r#"No reader takes files of these types: "bogus", ""."#);
    let search = ["documents", "search", "pilots", "--min-score", "0", "--types", "bogus,md"];
    expect![[r#"
        $ ixmcp documents search pilots --min-score 0 --types bogus,md
        a.md:1    0.99
            # Harbour
    
            Pilots and tugs.
        No reader takes files of these types: "bogus".
    "#]]
    .assert_eq(&repo.transcript(&[&search], &[]));
    // What is in the index as text can be asked for, and so can a type of which there is no file.
    let answer = repo.call("search_documents", &asked(json!([".odd", "pdf"])));
    assert_eq!((paths(&answer), &answer["warning"]), (vec!["b.odd"], &Value::Null));
    assert_eq!(repo.call("search_documents", &asked(json!(["pdf"])))["total"], 0);
}

#[test]
fn a_least_score_is_a_number_from_0_to_1() {
    let repo = Repo::new(
        r"
//- /a.md
# Harbour

Pilots and tugs.
",
    );
    let refused = ["nan", "NaN", "inf", "-inf", "-0.1", "1.1", "1e999", "", "x"]
        .map(|score| repo.failures(&[&["documents", "search", "tugs", &format!("--min-score={score}")]], &[]));
    expect![[r#"
        $ ixmcp documents search tugs --min-score=nan
        error: invalid value 'nan' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
        $ ixmcp documents search tugs --min-score=NaN
        error: invalid value 'NaN' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
        $ ixmcp documents search tugs --min-score=inf
        error: invalid value 'inf' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
        $ ixmcp documents search tugs --min-score=-inf
        error: invalid value '-inf' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
        $ ixmcp documents search tugs --min-score=-0.1
        error: invalid value '-0.1' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
        $ ixmcp documents search tugs --min-score=1.1
        error: invalid value '1.1' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
        $ ixmcp documents search tugs --min-score=1e999
        error: invalid value '1e999' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
        $ ixmcp documents search tugs --min-score=
        error: invalid value '' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
        $ ixmcp documents search tugs --min-score=x
        error: invalid value 'x' for '--min-score <MIN_SCORE>': give a number from 0, which shows everything, to 1

        For more information, try '--help'.
    "#]]
    .assert_eq(&refused.concat());
    for score in ["0", "0.5", "1e-3"] {
        assert!(!repo.ok(&["documents", "search", "tugs", "--min-score", score]).is_empty());
    }
}

#[test]
fn limits_are_what_their_schemas_say() {
    let repo = Repo::new("");
    repo.write("docs/long.md", (0..1500).fold(String::new(), |text, line| text + &format!("pilot number {line}\n\n")));
    repo.call("index_files", &json!({ "folderPath": "docs", "options": { "chunkSize": 50, "overlap": 0 } }));
    let asked = |limit: u64| json!({ "query": "pilot", "options": { "minScore": 0, "limit": limit } });
    let (most, more) = (repo.call("search_documents", &asked(100)), repo.call("search_documents", &asked(101)));
    assert_eq!(most["results"].as_array().unwrap().len(), 100);
    assert_eq!((&most["results"], &most["next_offset"]), (&more["results"], &more["next_offset"]));
    // A limit of nothing asks how much there is: more than was shown, and no place to go on from by pages of
    // none.
    repo.write("docs/broken.pdf", "%PDF-1.7 and then nothing");
    repo.write("tug.py", "def tug():\n    pass\n");
    repo.write(
        ".ixchel/decisions/dec-000001.md",
        "---\nid: dec-000001\ntype: decision\ntitle: Pilot\ntags: [a]\n---\n\nPilot.\n",
    );
    for (tool, none) in [
        ("search_documents", asked(0)),
        ("query", json!({ "text": "pilot", "limit": 0 })),
        ("query", json!({ "text": "pilot", "mode": "literal", "limit": 0 })),
        ("list_files", json!({ "limit": 0 })),
        ("get_symbol", json!({ "symbol_name": "tug", "limit": 0 })),
        ("update_index", json!({ "folderPath": "docs", "limit": 0 })),
        ("ixchel_search", json!({ "query": "pilot", "limit": 0 })),
        ("ixchel_tags", json!({ "limit": 0 })),
    ] {
        let answer = repo.call(tool, &none);
        assert_eq!((&answer["truncated"], answer.get("next_offset")), (&json!(true), None), "{tool}: {answer}");
    }
    for (tool, none) in [
        ("query", json!({ "text": "xyzzy", "mode": "literal", "limit": 0 })),
        ("list_files", json!({ "limit": 0, "include": ["*.none"] })),
        ("list_files", json!({ "limit": 0, "offset": 99 })),
    ] {
        let answer = repo.call(tool, &none);
        assert_eq!((&answer["truncated"], answer.get("next_offset")), (&json!(false), None), "{tool}: {answer}");
    }
    expect![[r#"
        $ ixmcp query -m literal pilot -n 0
        0 of 1500 shown
        exit code 1
    "#]]
    .assert_eq(&repo.transcript(&[&["query", "-m", "literal", "pilot", "-n", "0"]], &[]));
    // Of more chunks than are judged no one says how many there are.
    assert!(most.get("total").is_none() && most["truncated"] == json!(true), "{most}");
    let few = repo.call(
        "search_documents",
        &json!({ "query": "pilot number 1401", "options": { "fileTypes": ["pdf"], "minScore": 0 } }),
    );
    assert_eq!((&few["total"], &few["truncated"]), (&json!(0), &json!(false)));
    let lines = |arguments: Value| {
        let answer = repo.call("get_file_details", &arguments);
        (answer["startLine"].as_u64().unwrap(), answer["endLine"].as_u64().unwrap())
    };
    let around = |lines: u64| json!({ "filePath": "docs/long.md", "chunkIndex": 0, "contextLines": lines });
    assert_eq!(lines(around(1000)), lines(around(1001)));
    assert!(lines(around(1001)).1 < 1100);
    let whole = json!({ "filePath": "docs/long.md" });
    assert_eq!(lines(whole), lines(json!({ "filePath": "docs/long.md", "contextLines": 1 })));
    let described = |tool: &str, argument: &str| {
        ixmcp::tools::find(tool).unwrap().input_schema().pointer(argument).unwrap()["description"].to_string()
    };
    expect![[r#""Results to return (default 10, at most 100).""#]]
        .assert_eq(&described("search_documents", "/properties/options/properties/limit"));
    expect![[r#""Lines around the chunk (default 3, at most 1000; only with chunkIndex).""#]]
        .assert_eq(&described("get_file_details", "/properties/contextLines"));
}

#[test]
fn errors_on_the_command_line_name_what_a_person_types() {
    let repo = Repo::new(
        r"
//- /docs/a.md
# Tugs

Tugs pull barges.
",
    );
    let commands: [&[&str]; 7] = [
        &["documents", "index", "docs", "--chunk-size", "3"],
        &["documents", "index", "docs", "--overlap", "3000"],
        &["documents", "index", "docs", "--max-files", "0"],
        &["documents", "search", " "],
        &["symbol", "tug", "--kind", "boat"],
        &["files", "--language", "boat"],
        &["call", "index_files", "--args", r#"{"folderPath": "docs", "options": {"chunkSize": 3}}"#],
    ];
    expect![[r#"
        $ ixmcp documents index docs --chunk-size 3
        ixmcp: INVALID_ARGUMENT: option `--chunk-size` must be from 50 to 100000. Give the most characters of a chunk.
        $ ixmcp documents index docs --overlap 3000
        ixmcp: INVALID_ARGUMENT: option `--overlap` must be from 0 to 999, less than the chunk size. Give fewer characters than a chunk has.
        $ ixmcp documents index docs --max-files 0
        ixmcp: INVALID_ARGUMENT: option `--max-files` is 0. Give 1 or more, or leave it out.
        $ ixmcp documents search ' '
        ixmcp: INVALID_ARGUMENT: argument `TEXT` is empty. Give a query.
        $ ixmcp symbol tug --kind boat
        ixmcp: INVALID_ARGUMENT: option `--kind`: there is no kind "boat". Kinds are: class, struct, enum, union, interface, trait, protocol, object, record, mixin, extension, instance, exception, module, namespace, package, function, method, constructor, macro, type, constant, variable, field, attribute, property, variant, event, heading, key, table, section, selector, rule, target, stage, service, message, resource, view, index, trigger, element, id, label, operator, call, use, implementation, signature, block, import, inherits, implements.
        $ ixmcp files --language boat
        ixmcp: INVALID_ARGUMENT: option `--language`: "boat" is not a known language. Known: astro, c, cmake, cpp, csharp, css, csv, dart, devicetree, dockerfile, docx, elixir, epub, erlang, go, graphql, haskell, hcl, html, java, javascript, json, julia, kotlin, lua, mail, make, markdown, matlab, nix, notebook, objc, ocaml, ocaml_interface, odt, pdf, php, powershell, proto, python, r, restructuredtext, ruby, rust, scala, shell, solidity, sql, svelte, swift, text, toml, tsx, typescript, vue, yaml, zig.
        $ ixmcp call index_files --args '{"folderPath": "docs", "options": {"chunkSize": 3}}'
        ixmcp: INVALID_ARGUMENT: argument `options.chunkSize` must be from 50 to 100000. Give the most characters of a chunk.
    "#]].assert_eq(&repo.failures(&commands, &[]));
}

#[test]
fn a_chunk_size_alone_brings_an_overlap_below_it() {
    let repo = Repo::new(
        r"
//- /docs/a.md
# Tugs

Tugs pull barges.
",
    );
    for (size, overlap) in [(50, 10), (51, 10), (199, 39), (1000, 200), (100_000, 200)] {
        repo.call("index_files", &json!({ "folderPath": "docs", "options": { "chunkSize": size } }));
        let folder = &repo.call("stats", &json!({}))["document_folders"][0];
        assert_eq!((&folder["chunkSize"], &folder["overlap"]), (&json!(size), &json!(overlap)));
    }
    let schema = ixmcp::tools::find("index_files").unwrap().input_schema();
    expect![[r#""Characters shared with the chunk before, less than chunkSize (default 200, or a fifth of chunkSize if that is less).""#]].assert_eq(&schema["properties"]["options"]["properties"]["overlap"]["description"].to_string());
    let help = repo.ok(&["documents", "index", "--help"]);
    let described = help.lines().skip_while(|line| !line.trim().starts_with("--overlap")).skip(1);
    let described = described.take_while(|line| !line.is_empty()).map(str::trim).collect::<Vec<_>>().join(" ");
    expect![
        "Number of characters by which chunks overlap [default: 200, or a fifth of the chunk size if that is less]"
    ]
    .assert_eq(&described);
}

/// Whichever process answers: paths are relative to the user's current folder.
#[test]
fn paths_of_changes_are_relative_to_the_current_folder_as_the_folders_are() {
    let repo = Repo::new(
        r"
//- /boats/docs/tug.md
# Tugs

//- /docs/other.md
# Other
",
    );
    let here = |arguments: &[&str]| {
        let output = repo.command(arguments).current_dir(repo.path().join("boats")).output().unwrap();
        shown_run(arguments, &output)
    };
    let changes = || {
        let index = here(&["documents", "index", "docs"]);
        repo.write("boats/docs/ferry.md", "# The ferry\n");
        let added = here(&["documents", "update", "docs", "docs/ferry.md", "docs/tug.md"]);
        repo.write("boats/docs/ferry.md", "# Another ferry\n");
        let updated = here(&["documents", "update", "../boats/docs", "../boats/docs/ferry.md"]);
        repo.remove("boats/docs/ferry.md");
        let removed = here(&["documents", "update", "docs", "../boats/docs/ferry.md"]);
        [index, added, updated, removed, here(&["documents", "list"])].concat()
    };
    let alone = changes();
    expect![[r#"
        $ ixmcp documents index docs
        docs: 1 of 1 file, 1 chunk
        $ ixmcp documents update docs docs/ferry.md docs/tug.md
        docs: 1 added, 0 updated, 0 removed, 1 unchanged
        $ ixmcp documents update ../boats/docs ../boats/docs/ferry.md
        docs: 0 added, 1 updated, 0 removed, 0 unchanged
        $ ixmcp documents update docs ../boats/docs/ferry.md
        docs: 0 added, 0 updated, 1 removed, 0 unchanged
        $ ixmcp documents list
        docs  1 file, chunks of 1000 characters, overlapping by 200
    "#]]
    .assert_eq(&alone);
    // A daemon has another current folder.
    repo.ok(&["daemon", "start"]);
    assert_eq!(changes(), alone);
}

#[test]
fn a_folder_counts_the_same_files_when_it_is_indexed_and_when_it_is_listed() {
    let repo = Repo::new(
        r"
//- /a.md
# A
//- /b.txt
B
//- /docs/c.md
# C
//- /docs/d.md
# D
//- /docs/e.txt
E
",
    );
    let counts = |folder: &str, options: &Value| {
        let answer = repo.call("index_files", &json!({ "folderPath": folder, "options": options }));
        let stats = repo.call("stats", &json!({}));
        let folders = stats["document_folders"].as_array().unwrap();
        let listed = folders.iter().find(|one| one["folderPath"] == folder).unwrap();
        (answer["processedFiles"].clone(), listed["totalFiles"].clone())
    };
    for (folder, options, files) in [
        (".", json!({}), 5),
        ("docs", json!({ "fileTypes": [".md"] }), 2),
        (".", json!({}), 2),
        (".", json!({ "fileTypes": ["txt"] }), 1),
        ("docs", json!({ "maxFiles": 1 }), 1),
    ] {
        assert_eq!(counts(folder, &options), (json!(files), json!(files)), "{folder} {options}");
    }
}

/// More texts than are asked for what is usual.
#[test]
fn answers_do_not_depend_on_the_order_in_which_files_came() {
    let repo = Repo::new("");
    let things = ["boats", "ferries", "honey", "kernels", "rents", "soups", "storms", "taxes"];
    let text = |at: usize| {
        let (first, second) = (things[at % 8], things[at / 8 % 8]);
        format!("# Note {at}\n\nWhat {first} and {second} have to do with each other, told for the {at}th time.\n")
    };
    let write = |folder: &str, all: &mut dyn Iterator<Item = usize>| {
        all.for_each(|at| repo.write(&format!("{folder}/n{at}.md"), text(at)));
    };
    let index = || drop(repo.call("index_files", &json!({ "folderPath": "." })));
    let answers = || {
        let asked = |text: &&str| json!({ "query": text, "options": { "minScore": 0, "limit": 20 } });
        let reported = |hit: &Value| (hit["filePath"].clone(), hit["score"].clone());
        let of = |text: &&str| {
            let answer = repo.call("search_documents", &asked(text));
            answer["results"].as_array().unwrap().iter().map(reported).collect::<Vec<_>>()
        };
        ["what does bad weather do to ships", "sweet things", "money for the flat"].iter().map(of).collect::<Vec<_>>()
    };
    write("notes", &mut (0..300));
    index();
    let at_once = answers();
    fs::remove_dir_all(repo.path().join("notes")).unwrap();
    repo.ok(&["sync"]);
    for part in 0..5 {
        write("notes", &mut (0..300).rev().filter(|at| at % 5 == part));
        repo.ok(&["sync"]);
    }
    assert_eq!(answers(), at_once);
}

#[test]
fn files_without_text_are_reported_as_such() {
    let repo = Repo::new("//- /docs/tug.md\n# Tugs\n");
    for (name, bytes) in [
        ("empty.md", &b""[..]),
        ("mark.txt", b"\xef\xbb\xbf"),
        ("blank.txt", b" \n\n\t\n"),
        ("empty.csv", b""),
        ("__init__.py", b""),
        ("empty.pdf", b""),
        ("empty.docx", b"\n"),
        ("empty.eml", b" \r\n"),
        ("empty.ipynb", b""),
        ("empty.html", b""),
    ] {
        repo.write(&format!("docs/{name}"), bytes);
    }
    let answer = repo.call("index_files", &json!({ "folderPath": "docs" }));
    let reported = |list: &str| {
        let of = |file: &Value| format!("{}: {}", file["path"].as_str().unwrap(), file["reason"].as_str().unwrap());
        answer[list].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let (empty, blank) =
        ("it is empty: there is nothing to find in it", "it holds white space alone: there is nothing to find in it");
    assert_eq!(
        reported("problems"),
        [("blank.txt", blank), ("empty.csv", empty), ("empty.md", empty), ("mark.txt", empty)]
            .map(|(name, reason)| format!("docs/{name}: {reason}"))
    );
    let skipped = ["docx", "eml", "html", "ipynb", "pdf"];
    let why = "no_text: it contains no text: it is empty, or it consists only of images, such as scanned pages";
    assert_eq!(reported("skipped"), skipped.map(|end| format!("docs/empty.{end}: {why}")));
    assert_eq!((&answer["totalFiles"], &answer["processedFiles"]), (&json!(11), &json!(6)));
    let details = |name: &str| repo.call("get_file_details", &json!({ "filePath": format!("docs/{name}") }));
    let problem = |name: &str, reason: &str| json!([{ "path": format!("docs/{name}"), "reason": reason }]);
    assert_eq!(
        (&details("empty.md")["problems"], &details("empty.md")["totalChunks"]),
        (&problem("empty.md", empty), &json!(0))
    );
    assert_eq!(details("blank.txt")["problems"], problem("blank.txt", blank));
    assert!(details("tug.md").get("problems").is_none());
}

/// A link says where it leads, not which folder was named.
#[test]
fn a_folder_that_a_link_to_another_replaced_is_removed_itself() {
    let repo = Repo::new("//- /a.md\n# A\n//- /docs/one/o.md\n# One\n//- /docs/two/t.md\n# Two\n");
    let above = tempfile::tempdir().unwrap();
    let above = above.path().canonicalize().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(above.join(name)).unwrap();
        fs::write(above.join(name).join("p.md"), "# Paper\n").unwrap();
    }
    let outside = |name: &str| above.join(name).to_str().unwrap().to_owned();
    let registered = || -> Vec<String> {
        let folders = repo.call("stats", &json!({}))["document_folders"].clone();
        folders.as_array().unwrap().iter().map(|folder| folder["folderPath"].as_str().unwrap().to_owned()).collect()
    };
    let mut shown = String::new();
    for (one, two, at) in [
        ("docs/one".to_owned(), "docs/two".to_owned(), repo.path().join("docs/one")),
        (outside("one"), outside("two"), above.join("one")),
    ] {
        for folder in [&one, &two] {
            repo.call("index_files", &json!({ "folderPath": folder }));
        }
        fs::remove_dir_all(&at).unwrap();
        std::os::unix::fs::symlink(repo.path().join(&two), &at).unwrap();
        // What leads to another folder now is not updated in its place.
        let update = json!({ "folderPath": one });
        shown += &repo.refusals(&[("update_index", update)], &[(&one, "ONE")]);
        let answer = repo.call("update_index", &json!({ "folderPath": one, "forget": true }));
        assert_eq!(answer["folderPath"], json!(one), "{answer}");
        assert_eq!(registered(), [two.as_str()]);
        // Through the link the other one is meant, and named.
        let answer = repo.call("index_files", &json!({ "folderPath": one }));
        assert_eq!(answer["folderPath"], json!(two), "{answer}");
        let answer = repo.call("update_index", &json!({ "folderPath": one }));
        assert_eq!(answer["folderPath"], json!(two), "{answer}");
        let commands: [&[&str]; 2] = [&["documents", "index", &one], &["documents", "remove", &one]];
        shown += &repo.transcript(&commands, &[(&one, "ONE"), (&two, "TWO")]);
        assert_eq!(registered(), Vec::<String>::new());
    }
    expect![[r#"
        $ ixmcp call update_index --args '{"folderPath":"ONE"}'
        ixmcp: INVALID_PATH: the indexed folder ONE is gone, or a link leads there. Restore it, or remove it from the index with `ixmcp documents remove`.
        $ ixmcp documents index ONE
        TWO: 1 of 1 file, 1 chunk
        $ ixmcp documents remove ONE
        TWO: 0 files removed from the index; 1 stays, because the repository or a parent folder indexes it
        $ ixmcp call update_index --args '{"folderPath":"ONE"}'
        WARN ONE is not a folder any more, or a link leads there
        ixmcp: INVALID_PATH: the indexed folder ONE is gone, or a link leads there. Restore it, or remove it from the index with `ixmcp documents remove`.
        $ ixmcp documents index ONE
        TWO: 1 of 1 file, 1 chunk
        $ ixmcp documents remove ONE
        TWO: 1 file removed from the index
    "#]].assert_eq(&shown);
}
