//! Compares files of the work tree with blobs, as git would commit them.
//!
//! Owns which attributes and settings count, and how git is asked for them: `check-attr` and `config` read files of rules and git's
//! index, and run nothing. Does not own the conversions (`conversion`).

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::conversion::{Comparison, Conversion, Encoding, Lines, is_convertible};
use super::{MAX_LINE, MAX_TREE, Objects};
use crate::budget::Budget;
use crate::error::{ErrorKind, Result};

/// In the order in which `check-attr` is asked for them.
const ATTRIBUTES: [&str; 6] = ["filter", "text", "crlf", "eol", "ident", "working-tree-encoding"];
/// The settings that decide how a work tree is compared.
const SETTINGS: &str = r"^(filter\..*|core\.(autocrlf|attributesfile))$";
/// Git would read a larger file of attributes to its end, and `/dev/zero` for ever.
const MAX_ATTRIBUTES: u64 = 8 << 20;

/// The settings of a repository that decide how its work tree is compared.
pub struct Settings {
    /// By key in lowercase; the last value of a key counts. `None`: written without a value.
    values: HashMap<String, Option<String>>,
    /// Names of filters that have a command.
    filters: BTreeSet<String>,
    /// Whether the files of attributes outside the work tree can be read.
    is_readable: bool,
}

impl Settings {
    fn is_true(&self, key: &str) -> bool {
        let value = self.values.get(key).map(|value| value.as_deref().unwrap_or("true").to_lowercase());
        value.is_some_and(|value| !matches!(value.as_str(), "" | "false" | "no" | "off" | "0"))
    }

    /// Reads the output of `check-attr` for a file, in the order of [`ATTRIBUTES`].
    fn conversion(&self, values: &[&str]) -> Conversion {
        let &[filter, text, crlf, eol, ident, encoding] = values else { return Conversion::Unknown };
        // A filter may be called like a state.
        let is_filtered = !matches!(filter, "unspecified" | "unset" | "set") || self.filters.contains(filter);
        if is_filtered {
            return Conversion::Filter { is_lfs: filter == "lfs" };
        }
        let lines = |value: &str| match value {
            "set" | "input" => Some(Lines::Text),
            "unset" => Some(Lines::Binary),
            "auto" => Some(Lines::Auto),
            _ => None,
        };
        let lines = match (lines(text).or_else(|| lines(crlf)), eol) {
            (None, "lf" | "crlf") => Lines::Text,
            (None, _) if self.is_true("core.autocrlf") => Lines::Auto,
            (None, _) => Lines::Binary,
            (Some(lines), _) => lines,
        };
        Conversion::Text { lines, has_id: ident == "set", encoding: Encoding::named(encoding) }
    }
}

/// A file of the work tree, and what it is compared with.
pub struct WorkFile<'f> {
    /// Below the root.
    pub path: &'f str,
    pub bytes: &'f [u8],
    /// The id of the committed blob.
    pub committed: Option<&'f str>,
    /// The id of the blob in git's index.
    pub staged: Option<&'f str>,
}

impl Objects {
    /// Compares files with their committed contents, in their order. Blobs of more than `max_size` bytes count as
    /// different.
    pub fn compare<'f>(
        &self,
        files: &[WorkFile<'f>],
        settings: &Settings,
        max_size: u64,
        budget: &Budget,
    ) -> Result<Vec<Comparison<'f>>> {
        let ids: Vec<&str> = files.iter().filter_map(|file| file.committed).collect();
        let mut found = self.blobs(&ids, max_size, budget)?.into_iter();
        let blobs: Vec<Option<Vec<u8>>> =
            files.iter().map(|file| file.committed.and_then(|_| found.next().flatten())).collect();
        let is_equal =
            |at: &usize| blobs[*at].as_deref() == Some(files[*at].bytes) && !is_convertible(files[*at].bytes);
        let other: Vec<usize> = (0..files.len()).filter(|at| !is_equal(at)).collect();
        let paths: Vec<&str> = other.iter().map(|at| files[*at].path).collect();
        let conversions = self.conversions(&paths, settings, budget)?;
        // What is staged is mostly what is committed.
        let staged = |at: usize, conversion: &Conversion| {
            let file = &files[at];
            file.staged.filter(|id| conversion.reads_staged(file.bytes) && file.committed != Some(*id))
        };
        let ids: Vec<&str> = other.iter().zip(&conversions).filter_map(|(at, found)| staged(*at, found)).collect();
        let mut others = self.blobs(&ids, max_size, budget)?.into_iter();
        let mut compared: Vec<Comparison> = files.iter().map(|_| Comparison::Same).collect();
        for (at, conversion) in other.into_iter().zip(&conversions) {
            let blob = blobs[at].as_deref();
            let other = staged(at, conversion).and_then(|_| others.next().flatten());
            let staged = other.as_deref().or_else(|| blob.filter(|_| files[at].staged == files[at].committed));
            compared[at] = conversion.compare(files[at].bytes, blob, staged);
        }
        Ok(compared)
    }

    /// The settings that decide how the work tree is compared.
    pub fn settings(&self, budget: &Budget) -> Result<Settings> {
        let listed = self.run(&["config", "-z", "--get-regexp", SETTINGS], b"", MAX_TREE, budget)?;
        // 1: there is none.
        let mut is_readable = matches!(listed.status.and_then(|status| status.code()), Some(0 | 1));
        let mut values = HashMap::new();
        for entry in String::from_utf8_lossy(&listed.stdout).split_terminator('\0') {
            let (key, value) = entry.split_once('\n').map_or((entry, None), |(key, value)| (key, Some(value)));
            values.insert(key.to_owned(), value.map(str::to_owned));
        }
        let filter = |key: &String| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned());
        let filters = values.keys().filter_map(filter).collect();
        if values.contains_key("core.attributesfile") {
            let named =
                self.run(&["config", "-z", "--type=path", "--get", "core.attributesFile"], b"", MAX_LINE, budget)?;
            let path = String::from_utf8_lossy(&named.stdout).trim_end_matches('\0').to_owned();
            is_readable &= is_readable_file(&self.folder.join(path));
        }
        is_readable &= self.common_directory().is_some_and(|common| is_readable_file(&common.join("info/attributes")));
        Ok(Settings { values, filters, is_readable })
    }

    /// How git would convert files below the root, in their order.
    fn conversions(&self, paths: &[&str], settings: &Settings, budget: &Budget) -> Result<Vec<Conversion>> {
        let mut conversions = vec![Conversion::Unknown; paths.len()];
        let mut blocked = HashMap::new();
        let asked: Vec<usize> =
            (0..paths.len()).filter(|at| settings.is_readable && !self.is_blocked(paths[*at], &mut blocked)).collect();
        if asked.is_empty() {
            return Ok(conversions);
        }
        let input: Vec<u8> =
            asked.iter().flat_map(|at| [self.prefix.as_str(), paths[*at], "\0"]).flat_map(str::bytes).collect();
        let arguments = [&["check-attr", "--stdin", "-z"][..], &ATTRIBUTES].concat();
        let found = match self.run(&arguments, &input, MAX_TREE, budget) {
            // A file of attributes that does not end, such as those in `/proc`.
            Err(error) if error.kind == ErrorKind::Timeout => return budget.check().map(|()| conversions),
            found => found?,
        };
        if found.status.is_some_and(|status| status.success()) {
            let text = String::from_utf8_lossy(&found.stdout);
            let fields: Vec<&str> = text.split_terminator('\0').collect();
            // Each is a path, an attribute and its value.
            let files = fields.chunks_exact(3 * ATTRIBUTES.len());
            for (at, file) in asked.into_iter().zip(files) {
                let values: Vec<&str> = file.iter().skip(2).step_by(3).copied().collect();
                conversions[at] = settings.conversion(&values);
            }
        }
        Ok(conversions)
    }

    /// Whether git could not read an attributes file that applies to the path: it waits for a pipe.
    fn is_blocked(&self, path: &str, known: &mut HashMap<String, bool>) -> bool {
        let path = format!("{}{path}", self.prefix);
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]).chain([""]);
        let mut is_blocked = false;
        for folder in folders {
            is_blocked |= *known
                .entry(folder.to_owned())
                .or_insert_with(|| !is_readable_file(&self.folder.join(folder).join(".gitattributes")));
        }
        is_blocked
    }
}

/// Whether git reads that file in a bounded time, also if it is not there.
fn is_readable_file(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |found| found.is_dir() || (found.is_file() && found.len() <= MAX_ATTRIBUTES))
}
