//! Words that programmers write for each other: abbreviations, and the few verbs that names are made of.
//!
//! A query says `directory`, the code says `dir`. Each row is a set; a word is in one row at most.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::words;

const SYNONYMS: &[&[&str]] = &[
    &["abbreviate", "abbrev"],
    &["add", "register", "append", "insert"],
    &["address", "addr"],
    &["allocate", "alloc", "allocation"],
    &["application", "app"],
    &["argument", "arg", "parameter", "param"],
    &["asynchronous", "async"],
    &["attribute", "attr"],
    &["authentication", "auth", "authenticate", "authorization", "authorize"],
    &["average", "avg"],
    &["boolean", "bool"],
    &["buffer", "buf"],
    &["calculate", "calc", "compute"],
    &["callback", "cb"],
    &["certificate", "cert"],
    &["character", "char"],
    &["child", "children"],
    &["choose", "select", "pick"],
    &["column", "col"],
    &["command", "cmd"],
    &["compare", "cmp", "comparison"],
    &["configuration", "config", "conf", "cfg", "configure"],
    &["connection", "conn"],
    &["context", "ctx"],
    &["convert", "transform", "conversion"],
    &["count", "cnt"],
    &["create", "new", "construct", "make", "build"],
    &["current", "cur", "curr"],
    &["database", "db"],
    &["declaration", "decl"],
    &["definition", "def"],
    &["delete", "remove", "del", "drop", "unlink"],
    &["destination", "dest", "dst"],
    &["dictionary", "dict"],
    &["difference", "diff"],
    &["directory", "dir", "folder"],
    &["document", "doc", "documentation"],
    &["dump", "serialize", "marshal"],
    &["element", "elem"],
    &["environment", "env"],
    &["error", "err", "failure"],
    &["evaluate", "eval", "evaluation"],
    &["event", "evt"],
    &["exception", "exc"],
    &["execute", "exec", "run"],
    &["expression", "expr"],
    &["extension", "ext"],
    &["format", "fmt"],
    &["function", "func", "fn"],
    &["generate", "gen"],
    &["group", "grp"],
    &["hexadecimal", "hex"],
    &["identifier", "id", "ident"],
    &["implementation", "impl", "implement"],
    &["index", "idx"],
    &["information", "info"],
    &["initialize", "init", "initialise", "initialization"],
    &["integer", "int"],
    &["iterate", "iter", "iterator"],
    &["javascript", "js"],
    &["language", "lang"],
    &["length", "len", "size"],
    &["library", "lib"],
    &["load", "deserialize", "unmarshal"],
    &["manager", "mgr"],
    &["maximum", "max"],
    &["memory", "mem"],
    &["message", "msg"],
    &["minimum", "min"],
    &["mutex", "lock"],
    &["number", "num"],
    &["object", "obj"],
    &["operation", "op", "operator", "oper"],
    &["option", "opt"],
    &["original", "orig"],
    &["package", "pkg"],
    &["password", "passwd", "pwd"],
    &["pointer", "ptr"],
    &["position", "pos"],
    &["previous", "prev"],
    &["print", "display", "show"],
    &["process", "proc"],
    &["property", "prop"],
    &["random", "rand", "rng"],
    &["receive", "recv"],
    &["reference", "ref"],
    &["regex", "regexp"],
    &["repository", "repo"],
    &["request", "req"],
    &["response", "resp"],
    &["result", "res"],
    &["return", "ret"],
    &["second", "sec"],
    &["sequence", "seq"],
    &["source", "src"],
    &["specification", "spec"],
    &["standard", "std"],
    &["statement", "stmt"],
    &["string", "str"],
    &["structure", "struct"],
    &["synchronize", "sync", "synchronous"],
    &["table", "tbl"],
    &["template", "tmpl"],
    &["temporary", "temp", "tmp"],
    &["timestamp", "ts"],
    &["utility", "util"],
    &["validate", "verify", "check", "validation"],
    &["value", "val"],
    &["variable", "var"],
    &["vector", "vec"],
    &["version", "ver"],
    &["window", "win"],
];

/// Words with their stems.
type Row = Arc<[(String, &'static str)]>;

/// Each row by the stems of its words.
static ROWS: LazyLock<HashMap<String, Row>> = LazyLock::new(|| {
    let mut rows = HashMap::new();
    for row in SYNONYMS {
        let row: Row = row.iter().map(|word| (words::stem(word), *word)).collect();
        for (stem, _) in &*row {
            rows.entry(stem.clone()).or_insert_with(|| Arc::clone(&row));
        }
    }
    rows
});

/// Other words for a word, which is given by its stem.
pub(super) fn others(stem: &str) -> impl Iterator<Item = &'static str> {
    let others = ROWS.get(stem).into_iter().flat_map(|row| row.iter());
    others.filter(move |(other, _)| other != stem).map(|(_, word)| *word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_in_one_row_and_is_like_the_others_of_it() {
        let mut rows: HashMap<String, usize> = HashMap::new();
        for (at, row) in SYNONYMS.iter().enumerate() {
            for word in *row {
                let before = rows.insert(words::stem(word), at);
                assert!(before.is_none_or(|before| before == at), "{word} is in two rows");
            }
        }
        assert_eq!(others(&words::stem("directories")).collect::<Vec<_>>(), ["dir", "folder"]);
        assert_eq!(others("zebra").count(), 0);
    }
}
