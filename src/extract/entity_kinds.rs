//! The kinds of entities, and the folder of each.
//!
//! Owns their names, folders and ids. Does not own which files are entities (`entity`).

/// Where entities live.
pub const FOLDER: &str = ".ixchel";

/// One kind of entity.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    /// Below [`FOLDER`].
    pub folder: &'static str,
    /// New ids begin with the first.
    pub prefixes: &'static [&'static str],
}

pub static KINDS: &[Kind] = &[
    Kind { name: "decision", folder: "decisions", prefixes: &["dec"] },
    Kind { name: "issue", folder: "issues", prefixes: &["iss", "bd"] },
    Kind { name: "idea", folder: "ideas", prefixes: &["idea"] },
    Kind { name: "report", folder: "reports", prefixes: &["rpt"] },
    Kind { name: "source", folder: "sources", prefixes: &["src"] },
    Kind { name: "citation", folder: "citations", prefixes: &["cite"] },
    Kind { name: "agent", folder: "agents", prefixes: &["agt"] },
    Kind { name: "session", folder: "sessions", prefixes: &["ses"] },
];

/// The kind of a note that was imported.
pub const NOTE: &str = "note";
/// The kind of any other Markdown file: documents have tags, and are not entities.
pub const DOCUMENT: &str = "document";

impl Kind {
    /// By its name, in any case, singular or plural.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.trim().to_lowercase();
        KINDS.iter().find(|kind| kind.name == name || kind.folder == name)
    }

    /// By what precedes the first `-` of an id.
    pub fn of_id(id: &str) -> Option<&'static Self> {
        let (prefix, rest) = id.split_once('-')?;
        let fits = rest.chars().any(char::is_alphanumeric)
            && rest.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        let prefix = prefix.to_ascii_lowercase();
        KINDS.iter().find(|kind| fits && kind.prefixes.contains(&prefix.as_str()))
    }
}
