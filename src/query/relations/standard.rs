//! The types of Rust's standard library: what their methods return, and what they hold.
//!
//! Owns the table of these methods, as types that are written. Pure: `chains` follows expressions.

use super::expressions::bare;
use super::statements::{self, split};

/// The name of an iterator's type, whose argument is the type of its items.
const ITERATOR: &str = "std::iter::Iterator";

/// Types that code without traits adds no members to, and that lead to no other type's members.
pub(super) const CLOSED: &[&str] = &[
    "str",
    "String",
    "char",
    "bool",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "Vec",
    "VecDeque",
    "BinaryHeap",
    "HashMap",
    "HashSet",
    "BTreeMap",
    "BTreeSet",
    "Option",
    "Poll",
    "Result",
];

/// A written type, by its last name and its arguments without lifetimes.
fn parts(written: &str) -> (&str, Vec<&str>) {
    let mut text = bare(written);
    loop {
        text = ["impl ", "dyn "].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
        if let Some(inner) = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
            return ("Vec", vec![inner.split(';').next().unwrap_or(inner).trim()]);
        }
        let Some((path, arguments)) = text.split_once('<') else { return (last(text), Vec::new()) };
        let inner = &arguments[..arguments.rfind('>').unwrap_or(arguments.len())];
        let arguments: Vec<&str> = split(inner).map(str::trim).filter(|a| !a.starts_with('\'')).collect();
        let name = last(path);
        match (name, arguments.as_slice()) {
            (
                "Box" | "Rc" | "Arc" | "Pin" | "Cow" | "Ref" | "RefMut" | "MutexGuard" | "RwLockReadGuard"
                | "RwLockWriteGuard",
                [of, ..],
            ) => {
                text = bare(of);
            }
            ("Iterator" | "IntoIterator" | "DoubleEndedIterator" | "ExactSizeIterator", [item, ..]) => {
                let item =
                    item.strip_prefix("Item").map_or(*item, |rest| rest.trim_start().trim_start_matches('=').trim());
                return ("Iterator", vec![item]);
            }
            _ => return (name, arguments),
        }
    }
}

fn last(path: &str) -> &str {
    path.trim().rsplit("::").next().unwrap_or(path)
}

fn is_list(name: &str) -> bool {
    matches!(name, "Vec" | "VecDeque" | "BinaryHeap" | "HashSet" | "BTreeSet" | "LinkedList")
}

fn is_map(name: &str) -> bool {
    matches!(name, "HashMap" | "BTreeMap")
}

/// The type of the items that a loop over a value takes.
pub(super) fn item(written: &str) -> Option<String> {
    let (name, arguments) = parts(written);
    match arguments.as_slice() {
        [of, ..] if is_list(name) || matches!(name, "Iterator" | "Option") => Some((*of).to_owned()),
        [key, value] if is_map(name) => Some(format!("({key}, {value})")),
        _ => None,
    }
}

/// The type of one part of a tuple.
pub(super) fn part(written: &str, index: usize) -> Option<String> {
    statements::part(bare(written), index).map(str::to_owned)
}

/// The type that an option or result holds.
pub(super) fn held(written: &str) -> Option<String> {
    let (name, arguments) = parts(written);
    matches!(name, "Option" | "Result" | "LockResult" | "Poll")
        .then(|| arguments.first().map(|of| (*of).to_owned()))
        .flatten()
}

/// The type of a result's error.
pub(super) fn error(written: &str) -> Option<String> {
    let (name, arguments) = parts(written);
    (name == "Result").then(|| arguments.get(1).map(|of| (*of).to_owned())).flatten()
}

/// The type of the parameter with an index of the closure that a method takes.
pub(super) fn parameter(written: &str, method: &str, index: usize) -> Option<String> {
    let (name, _) = parts(written);
    match (name, method, index) {
        ("Result", "map_err" | "or_else" | "unwrap_or_else" | "inspect_err" | "is_err_and", 0) => error(written),
        (
            "Option" | "Result",
            "map" | "and_then" | "filter" | "is_some_and" | "is_none_or" | "is_ok_and" | "map_or" | "map_or_else"
            | "inspect",
            0,
        ) => held(written),
        (
            "Iterator",
            "map" | "filter" | "for_each" | "any" | "all" | "find" | "find_map" | "filter_map" | "flat_map"
            | "position" | "rposition" | "take_while" | "skip_while" | "map_while" | "max_by_key" | "min_by_key"
            | "partition" | "inspect" | "try_for_each",
            0,
        )
        | ("Iterator", "fold" | "try_fold" | "scan", 1)
        | ("Iterator", "max_by" | "min_by" | "reduce" | "is_sorted_by", _) => item(written),
        (_, "sort_by" | "sort_unstable_by" | "dedup_by", _)
        | (
            _,
            "sort_by_key"
            | "sort_by_cached_key"
            | "sort_unstable_by_key"
            | "binary_search_by"
            | "binary_search_by_key"
            | "partition_point"
            | "dedup_by_key"
            | "retain",
            0,
        ) if is_list(name) => item(written),
        (_, "retain", _) if is_map(name) => part(&item(written)?, index),
        _ => None,
    }
}

/// The type of what a method of the standard library returns.
pub(super) fn result(written: &str, method: &str) -> Option<String> {
    let is_pointer = ["Box<", "Rc<", "Arc<"].iter().any(|pointer| bare(written).starts_with(pointer));
    if is_pointer && matches!(method, "as_ref" | "as_mut" | "borrow" | "borrow_mut") {
        return Some(written.to_owned());
    }
    let (name, arguments) = parts(written);
    let first = arguments.first().copied();
    let iterator = |of: &str| Some(format!("{ITERATOR}<{of}>"));
    let option = |of: &str| Some(format!("Option<{of}>"));
    let own = Some(written.to_owned());
    let found = match name {
        "str" | "String" => match method {
            "chars" => iterator("char"),
            "bytes" => iterator("u8"),
            "char_indices" => iterator("(usize, char)"),
            "lines"
            | "split"
            | "rsplit"
            | "splitn"
            | "rsplitn"
            | "split_whitespace"
            | "split_terminator"
            | "split_ascii_whitespace" => iterator("str"),
            "match_indices" => iterator("(usize, str)"),
            "len" => Some("usize".to_owned()),
            "find" | "rfind" => option("usize"),
            "strip_prefix" | "strip_suffix" | "get" => option("str"),
            "pop" => option("char"),
            "split_once" | "rsplit_once" => option("(str, str)"),
            "split_at" => Some("(str, str)".to_owned()),
            "as_bytes" | "to_vec" | "into_bytes" => Some("Vec<u8>".to_owned()),
            "to_string" | "to_owned" | "to_lowercase" | "to_uppercase" | "to_ascii_lowercase"
            | "to_ascii_uppercase" | "repeat" | "replace" | "trim" | "trim_start" | "trim_end" | "trim_matches"
            | "trim_start_matches" | "trim_end_matches" | "as_str" => Some("String".to_owned()),
            _ => None,
        },
        "Option" => match (method, first?) {
            (
                "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" | "get_or_insert"
                | "get_or_insert_with" | "insert",
                of,
            ) => Some(of.to_owned()),
            (
                "as_ref" | "as_mut" | "as_deref" | "as_deref_mut" | "take" | "cloned" | "copied" | "or" | "or_else"
                | "filter" | "replace" | "xor" | "inspect",
                of,
            ) => option(of),
            ("ok_or" | "ok_or_else", of) => Some(format!("Result<{of}>")),
            ("iter" | "iter_mut" | "into_iter", of) => iterator(of),
            _ => None,
        },
        "Result" | "LockResult" => match (method, first?) {
            ("unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default", of) => Some(of.to_owned()),
            ("ok", of) => option(of),
            ("err", _) => option(&error(written)?),
            ("unwrap_err" | "expect_err", _) => error(written),
            ("map_err", of) => Some(format!("Result<{of}>")),
            ("as_ref" | "as_mut" | "or_else" | "inspect" | "inspect_err", _) => own,
            _ => None,
        },
        "Mutex" | "RwLock" => match method {
            "lock" | "read" | "write" | "into_inner" | "get_mut" => Some(format!("LockResult<{}>", first?)),
            "try_lock" | "try_read" | "try_write" => Some(format!("Result<{}>", first?)),
            _ => None,
        },
        "RefCell" if matches!(method, "borrow" | "borrow_mut" | "into_inner" | "get_mut" | "take") => {
            first.map(str::to_owned)
        }
        "Cell" if matches!(method, "get" | "take" | "into_inner" | "replace") => first.map(str::to_owned),
        "OnceCell" | "OnceLock" | "LazyCell" | "LazyLock" => match method {
            "get" | "get_mut" | "into_inner" | "take" => option(first?),
            "get_or_init" => first.map(str::to_owned),
            _ => None,
        },
        "Weak" if method == "upgrade" => option(first?),
        "Iterator" => match (method, first?) {
            (
                "filter" | "rev" | "skip" | "take" | "peekable" | "cloned" | "copied" | "chain" | "skip_while"
                | "take_while" | "step_by" | "inspect" | "by_ref" | "fuse" | "cycle" | "iter" | "into_iter",
                of,
            ) => iterator(of),
            (
                "next" | "next_back" | "last" | "nth" | "find" | "max_by_key" | "min_by_key" | "max_by" | "min_by"
                | "max" | "min" | "peek" | "peek_mut" | "next_if" | "reduce",
                of,
            ) => option(of),
            ("enumerate", of) => iterator(&format!("(usize, {of})")),
            ("position" | "rposition", _) => option("usize"),
            ("count" | "len", _) => Some("usize".to_owned()),
            _ => None,
        },
        "Entry" if matches!(method, "or_insert" | "or_insert_with" | "or_default") => {
            arguments.last().map(|of| (*of).to_owned())
        }
        _ if is_list(name) => match (method, first?) {
            ("iter" | "iter_mut" | "into_iter" | "drain", of) => iterator(of),
            ("windows" | "chunks" | "chunks_exact" | "split", of) => iterator(&format!("Vec<{of}>")),
            (
                "first" | "last" | "get" | "get_mut" | "first_mut" | "last_mut" | "pop" | "pop_front" | "pop_back"
                | "front" | "back" | "front_mut" | "back_mut" | "peek" | "pop_first" | "pop_last",
                of,
            ) => option(of),
            ("remove" | "swap_remove", of) if name == "Vec" => Some(of.to_owned()),
            ("as_slice" | "as_mut_slice" | "to_vec" | "split_off" | "into_boxed_slice", of) => {
                Some(format!("Vec<{of}>"))
            }
            ("len", _) => Some("usize".to_owned()),
            _ => None,
        },
        _ if is_map(name) => match (method, arguments.as_slice()) {
            ("get" | "get_mut" | "remove" | "insert", [_, value]) => option(value),
            ("iter" | "iter_mut" | "into_iter" | "drain" | "range", [key, value]) => {
                iterator(&format!("({key}, {value})"))
            }
            ("keys" | "into_keys", [key, _]) => iterator(key),
            ("values" | "values_mut" | "into_values", [_, value]) => iterator(value),
            ("entry", [key, value]) => Some(format!("Entry<{key}, {value}>")),
            ("len", _) => Some("usize".to_owned()),
            _ => None,
        },
        _ => None,
    };
    let is_same = CLOSED.contains(&name) && matches!(method, "clone" | "as_ref" | "as_mut" | "borrow" | "borrow_mut");
    found.or_else(|| is_same.then(|| written.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The types that rust-analyzer 1.95.0 shows for these expressions.
    #[test]
    fn methods_of_the_standard_library_have_results() {
        for (written, method, expected) in [
            ("&'a [Cart]", "iter", Some("std::iter::Iterator<Cart>")),
            ("Vec<Cart<T>>", "last_mut", Some("Option<Cart<T>>")),
            ("Option<Box<Cart>>", "unwrap", Some("Box<Cart>")),
            ("Arc<Mutex<Cart>>", "lock", Some("LockResult<Cart>")),
            ("&HashMap<String, Cart>", "values", Some("std::iter::Iterator<Cart>")),
            ("RefCell<Vec<Cart>>", "borrow_mut", Some("Vec<Cart>")),
            ("impl Iterator<Item = Cart> + 'a", "next", Some("Option<Cart>")),
            ("std::iter::Iterator<Cart>", "enumerate", Some("std::iter::Iterator<(usize, Cart)>")),
            ("Result<Cart, Error>", "err", Some("Option<Error>")),
            ("&Vec<Cart>", "clone", Some("&Vec<Cart>")),
            ("Cart", "clone", None),
            ("Rc<Cart>", "as_ref", Some("Rc<Cart>")),
            ("Cart", "len", None),
        ] {
            assert_eq!(result(written, method).as_deref(), expected, "{written}.{method}()");
        }
        assert_eq!(parameter("Option<&Cart>", "map", 0).as_deref(), Some("&Cart"));
        assert_eq!(parameter("std::iter::Iterator<Cart>", "fold", 1).as_deref(), Some("Cart"));
        assert_eq!(item("&BTreeMap<u8, Cart>").as_deref(), Some("(u8, Cart)"));
        assert_eq!(part("(usize, Vec<Cart>)", 1).as_deref(), Some("Vec<Cart>"));
    }
}
