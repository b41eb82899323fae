//! Fixtures with cursors: blocks of files in which marks name positions, so that no test has to count lines and columns.

use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

/// Files as [`Repo::new`](crate::support::harness::Repo::new) takes them, and the positions that were marked in them.
///
/// `$0`, `$1`, … mark a position of that group; `$0?` marks one that a test starts from, too.
pub struct Cursors {
    pub files: String,
    marks: Vec<Mark>,
}

#[derive(Clone)]
pub struct Mark {
    group: u32,
    is_start: bool,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Mark {
    /// The position of an item of an answer.
    pub fn from_item(item: &Value) -> Self {
        let number = |field: &str| u32::try_from(item[field].as_u64().unwrap()).unwrap();
        let file = item["file"].as_str().unwrap().to_owned();
        Self { group: 0, is_start: true, file, line: number("line"), column: number("column") }
    }

    /// The arguments of a tool that takes a position.
    pub fn arguments(&self) -> Value {
        json!({ "file": self.file, "line": self.line, "column": self.column })
    }
}

impl Display for Mark {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The position that `$0` marks in `marked`, which without the mark occurs once in these files.
pub fn at(files: &str, marked: &str) -> Mark {
    let plain = marked.replace("$0", "");
    assert_eq!(files.matches(&plain).count(), 1, "{plain:?} in {files}");
    let Ok([mark]) = <[Mark; 1]>::try_from(Cursors::new(&files.replace(&plain, marked)).marks) else {
        panic!("not one mark: {marked}");
    };
    mark
}

impl Cursors {
    pub fn new(text: &str) -> Self {
        let (mut files, mut marks) = (String::new(), Vec::new());
        let (mut file, mut line) = (String::new(), 0);
        for marked in text.split_inclusive('\n') {
            if let Some(path) = marked.strip_prefix("//- /") {
                (file, line) = (path.trim().to_owned(), 0);
                files.push_str(marked);
                continue;
            }
            line += 1;
            let mut parts = marked.split('$');
            let mut plain = parts.next().unwrap().to_owned();
            for part in parts {
                let digits = part.bytes().take_while(u8::is_ascii_digit).count();
                let group = part[..digits].parse().unwrap_or_else(|_| panic!("a mark without a number: {marked}"));
                let rest = part[digits..].strip_prefix('?');
                let column = u32::try_from(plain.chars().count()).unwrap() + 1;
                marks.push(Mark { group, is_start: rest.is_some(), file: file.clone(), line, column });
                plain.push_str(rest.unwrap_or(&part[digits..]));
            }
            files.push_str(&plain);
        }
        marks.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        Self { files, marks }
    }

    /// All positions of a group as `file:line:column`, in order of files.
    pub fn positions(&self, group: u32) -> Vec<String> {
        self.marks.iter().filter(|mark| mark.group == group).map(Mark::to_string).collect()
    }

    /// The lines of a group as `file:line`, in order of files.
    pub fn lines(&self, group: u32) -> Vec<String> {
        let of_group = self.marks.iter().filter(|mark| mark.group == group);
        of_group.map(|mark| format!("{}:{}", mark.file, mark.line)).collect()
    }

    /// The one position of a group that a test starts from.
    pub fn start(&self, group: u32) -> &Mark {
        let starts = self.starts(group);
        assert_eq!(starts.len(), 1, "${group}? in {}", self.files);
        starts[0]
    }

    /// The positions of a group that a test starts from; at least one.
    pub fn starts(&self, group: u32) -> Vec<&Mark> {
        let starts: Vec<_> = self.marks.iter().filter(|mark| mark.group == group && mark.is_start).collect();
        assert!(!starts.is_empty(), "no ${group}? in {}", self.files);
        starts
    }
}
