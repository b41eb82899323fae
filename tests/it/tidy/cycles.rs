//! Import cycles between files.
//!
//! A file imports another if a path in it leads there: through `use`, or written out in the code, followed through re-exports to the
//! file that defines the item. What a file takes from the modules around it does not count.

use std::collections::{BTreeMap, BTreeSet};

use super::{root, sources};

/// Modules and the paths that their code names.
type Paths = BTreeMap<Vec<String>, Vec<Vec<String>>>;

fn path(text: &str) -> Vec<String> {
    text.split("::").map(|part| part.trim().to_owned()).collect()
}

/// Lists the paths of a `use` tree: `a::{b, c::d as e}` is `a::b` and `a::c::d`.
fn tree(text: &str, before: &str, paths: &mut Vec<Vec<String>>) {
    let Some((head, rest)) = text.split_once('{') else {
        let text = text.split(" as ").next().unwrap().trim();
        if !text.is_empty() {
            paths.push(path(&format!("{before}{text}")));
        }
        return;
    };
    let body = rest.rsplit_once('}').unwrap().0;
    let (mut depth, mut start) = (0, 0);
    for (at, c) in body.char_indices().chain([(body.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                tree(&body[start..at], &format!("{before}{}", head.trim()), paths);
                start = at + 1;
            }
            _ => {}
        }
    }
}

fn paths_in(code: &str) -> Vec<Vec<String>> {
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut paths = Vec::new();
    for statement in code.split(';') {
        let begins =
            |line: &&str| line.trim_start().starts_with("use ") || line.contains("pub") && line.contains(" use ");
        if let Some(from) = statement.lines().find(begins) {
            let at = statement.find(from).unwrap();
            tree(statement[at..].split_once("use ").unwrap().1, "", &mut paths);
        }
    }
    for first in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(first) {
            let rest = &code[at..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
            paths.push(path(rest[..end].trim_end_matches(':')));
        }
    }
    paths
}

/// Follows a path from a module to the module that defines what it names.
fn target(paths: &Paths, from: &[String], wanted: &[String], seen: &mut BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let mut rest = wanted;
    let mut at = match rest.first()?.as_str() {
        "crate" => Vec::new(),
        "self" => from.to_vec(),
        "super" => {
            let ups = rest.iter().take_while(|part| *part == "super").count();
            rest = &rest[ups - 1..];
            from[..from.len().checked_sub(ups)?].to_vec()
        }
        child => {
            let is_child = paths.contains_key(&[from, &[child.to_owned()]].concat());
            return if is_child { target(paths, from, &[&["self".to_owned()], wanted].concat(), seen) } else { None };
        }
    };
    rest = &rest[1..];
    while let Some(next) = rest.first() {
        let inner = [&at[..], std::slice::from_ref(next)].concat();
        if !paths.contains_key(&inner) {
            break;
        }
        at = inner;
        rest = &rest[1..];
    }
    let named = paths.get(&at)?;
    if let Some(name) = rest.first()
        && seen.insert([&at[..], std::slice::from_ref(name)].concat())
    {
        let passed_on = named.iter().filter(|path| path.last() == Some(name) && path[..] != *wanted);
        for path in passed_on {
            if let Some(found) = target(paths, &at, path, seen).filter(|found| *found != at) {
                return Some(found);
            }
        }
    }
    Some(at)
}

#[test]
fn no_files_import_each_other_in_a_cycle() {
    let src = root().join("src");
    let mut paths = Paths::new();
    for (_, file, code) in sources() {
        let relative = file.strip_prefix(&src).unwrap().with_extension("");
        let mut module: Vec<String> = relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if module.last().unwrap() == "mod" {
            module.pop();
        }
        if !matches!(module[0].as_str(), "lib" | "main") {
            paths.insert(module, paths_in(&code));
        }
    }
    let imports: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = paths
        .iter()
        .map(|(module, named)| {
            let found = named.iter().filter_map(|path| target(&paths, module, path, &mut BTreeSet::new()));
            (module, found.filter(|found| !module.starts_with(found)).collect())
        })
        .collect();
    assert!(imports.values().map(BTreeSet::len).sum::<usize>() > paths.len(), "the imports are not read");
    let reached = |from: &Vec<String>| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            open.extend(imports[&module].iter().filter(|next| reached.insert((*next).clone())).cloned());
        }
        reached
    };
    let all: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        paths.keys().map(|module| (module, reached(module))).collect();
    let mut wrong = Vec::new();
    for module in paths.keys().filter(|module| all[*module].contains(*module)) {
        let next = imports[module].iter().filter(|next| all[*next].contains(module)).map(|next| next.join("::"));
        wrong.push(format!("{} imports {}", module.join("::"), next.collect::<Vec<_>>().join(", ")));
    }
    assert!(wrong.is_empty(), "files that import each other in a cycle:\n{}", wrong.join("\n"));
}
