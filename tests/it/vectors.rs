//! Vectors of chunks: made after words answer, kept with their text, found by meaning.

use ixmcp::budget::Budget;
use ixmcp::embed::Purpose;
use ixmcp::workspace::Workspace;
use serde_json::json;

use crate::support::harness::Repo;
use crate::support::sound::{assert_sound, freshen, open, sync, watched};

/// Paths of the nearest chunks to a query by their vectors, nearest first.
fn nearest(workspace: &Workspace, query: &str) -> Vec<String> {
    let vector = workspace.embeddings.embedder().embed(Purpose::Query, &[query]).unwrap().remove(0);
    workspace
        .read(&Budget::unlimited(), |snapshot| {
            let space = snapshot.space(&workspace.embeddings.space())?.expect("something was embedded");
            let near = snapshot.nearest(space, vector.components(), 10, None)?;
            near.iter().map(|near| Ok(snapshot.chunk(near.id)?.path)).collect()
        })
        .unwrap()
}

fn pending(workspace: &Workspace) -> u64 {
    workspace.read(&Budget::unlimited(), |snapshot| snapshot.vectors_pending(&workspace.embeddings.space())).unwrap()
}

fn repository() -> Repo {
    let repo = Repo::new("");
    repo.write("shelf.rs", "pub fn erase(file: &Path) -> io::Result<()> {\n    fs::unlink(file)\n}\n");
    repo.write("sums.py", "def mean(numbers):\n    return sum(numbers) / len(numbers)\n");
    repo.write("net.go", "func Dial(host string, port int) (*Conn, error) {\n\treturn connectSocket(host, port)\n}\n");
    repo.write("notes.md", "# Cooking\n\nBoil the pasta in salted water for nine minutes, then add the sauce.\n");
    repo
}

#[test]
fn a_paraphrase_finds_what_shares_no_word_with_it() {
    let repo = repository();
    let workspace = open(repo.path());
    sync(&workspace);
    assert_eq!(pending(&workspace), 0, "a sync returns when the vectors stand");
    assert_eq!(nearest(&workspace, "delete a document from disk")[0], "shelf.rs");
    assert_eq!(nearest(&workspace, "average of some values")[0], "sums.py");
    assert_eq!(nearest(&workspace, "open a TCP connection to a server")[0], "net.go");
    assert_eq!(nearest(&workspace, "recipe for noodles")[0], "notes.md");
    let stats = repo.call("stats", &json!({}));
    assert_eq!(stats["vectors"], 4);
    assert_eq!(stats["vectors_pending"], 0);
    assert_eq!(stats["model"]["name"], "ixmcp-static");
    assert_eq!(stats["model"]["device"], "cpu");
    assert_sound(&workspace, "after a sync");
}

#[test]
fn vectors_follow_a_save_in_a_watched_tree() {
    let repo = repository();
    let workspace = watched(repo.path());
    repo.write("shelf.rs", "pub fn paint(canvas: &mut Canvas) {\n    canvas.draw_circle(RED);\n}\n");
    repo.write("new.rs", "pub fn encrypt(key: &Key, plaintext: &[u8]) -> Ciphertext {\n    aes(key, plaintext)\n}\n");
    freshen(&workspace);
    workspace.embeddings.embed(&Budget::unlimited()).unwrap();
    assert_eq!(pending(&workspace), 0);
    assert_eq!(nearest(&workspace, "secret cipher")[0], "new.rs");
    assert_eq!(nearest(&workspace, "picture of a round shape")[0], "shelf.rs");
    repo.remove("new.rs");
    sync(&workspace);
    assert!(!nearest(&workspace, "secret cipher").contains(&"new.rs".to_owned()));
    assert_sound(&workspace, "after saves");
}

#[test]
fn a_chunk_that_stays_is_not_embedded_again() {
    let repo = Repo::new("");
    let function = |name: &str| format!("def {name}(x):\n    return {}\n\n\n", "x + ".repeat(250) + "1");
    let names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
    repo.write("many.py", names.map(function).concat());
    let workspace = open(repo.path());
    sync(&workspace);
    let chunks = workspace.read(&Budget::unlimited(), |snapshot| snapshot.chunk_count()).unwrap();
    assert!(chunks >= 4, "{chunks}");
    repo.write("many.py", names.map(|name| function(if name == "zeta" { "omega" } else { name })).concat());
    let number = |query: &str| -> u64 { repo.ok(&["sql", query]).lines().last().unwrap().trim().parse().unwrap() };
    let embedded = number("select embedded from embedding_spaces");
    sync(&workspace);
    let new = number(&format!("select count(*) from chunks where id > {embedded}"));
    assert_eq!(new, 1, "of {chunks} chunks one has another text");
    assert_sound(&workspace, "after an edit");
}

/// The nearest chunks by the functions of sqlite-vec.
const NEAREST: &str = "
    SELECT v.chunk_id AS id, 1 - vec_distance_cosine(vec_int8(v.vector), vec_int8(embed('remove a file'))) AS cosine
    FROM vectors v WHERE v.space_id = embedding_space() ORDER BY cosine DESC";

#[test]
fn sql_finds_the_chunks_that_the_memory_finds() {
    let repo = repository();
    for number in 0..40 {
        let word = ["reader", "socket", "parser", "folder"][number % 4];
        repo.write(
            &format!("many/{number}.py"),
            format!("def {word}_{number}(path):\n    return open(path).{word}()\n"),
        );
    }
    let workspace = open(repo.path());
    sync(&workspace);
    let vector = workspace.embeddings.embedder().embed(Purpose::Query, &["remove a file"]).unwrap().remove(0);
    let ask = |snapshot: &ixmcp::store::Snapshot| {
        let space = snapshot.space(&workspace.embeddings.space())?.expect("something was embedded");
        Ok(snapshot.nearest(space, vector.components(), 100, None)?.iter().map(|near| near.cosine).collect::<Vec<_>>())
    };
    let in_memory = workspace.read(&Budget::unlimited(), ask).unwrap();
    let rows = repo.ok(&["sql", "--json", NEAREST]);
    let in_sql =
        rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap()["cosine"].as_f64().unwrap());
    let in_sql: Vec<f64> = in_sql.collect();
    assert_eq!((in_memory.len(), in_sql.len()), (44, 44));
    assert!(in_memory.iter().zip(&in_sql).all(|(a, b)| (a - b).abs() < 1e-5), "{in_memory:?} {in_sql:?}");
    assert_eq!(repo.ok(&["sql", "SELECT typeof(embed('x')), length(embed('x'))"]).lines().last(), Some("blob\t256"));
}
