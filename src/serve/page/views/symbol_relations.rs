//! The view `relations` of the web page: what relates to the definition on a line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::printable;
use crate::query::relations::{self, Resolver};
use crate::tools::{self, Access, Call, Declaration, declare};
use crate::wording::{Tool, Wording};

pub(super) static RELATIONS: Declaration = declare! {
    run;
    name: "relations",
    title: "Relations of a definition",
    about: "What relates to the definition on a line: callers, callees, members, subtypes, each with how that is known.",
    access: Access::Read,
    core: false,
    list: None,
    example: r#"{"file": "tests/clients/python_mcp.py", "line": 35}"#,
};

/// Arguments of `relations`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file: String,
    /// The line of the definition's name, from 1.
    line: u32,
    /// Items of each group (default and at most 100).
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    name: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    groups: Vec<Group>,
    /// References to the name that were not checked.
    unexamined: usize,
}

#[derive(Serialize, JsonSchema)]
struct Group {
    relation: String,
    items: Vec<Item>,
    total: usize,
}

#[derive(Serialize, JsonSchema)]
struct Item {
    file: String,
    line: u32,
    name: String,
    kind: String,
    /// How the relation is known.
    how: String,
}

const MAX_ITEMS: usize = 100;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let path = call.workspace().files.indexed_path(&arguments.file)?;
    let (_, limit) = tools::page(None, arguments.limit, MAX_ITEMS, MAX_ITEMS);
    call.refresh_scip()?;
    let found = call.read_file(&path, |snapshot| {
        let Some((file, _)) = snapshot.file(&path)? else { return Ok(None) };
        let declared = snapshot.declared_in(file)?;
        let Some(subject) = declared.into_iter().find(|one| one.definition.line == arguments.line) else {
            return Ok(None);
        };
        let relations = relations::of_symbol(&mut Resolver::new(snapshot), &subject, limit)?;
        Ok(Some((subject.definition, relations)))
    })?;
    let (definition, relations) = found.ok_or_else(|| {
        Error::not_found(format!("nothing is defined on line {} of {}", arguments.line, printable(&path)))
            .hint(Wording::from("Give the line of a definition.").then((Tool("symbols"), " lists them.")))
    })?;
    let groups = relations.groups.into_iter().map(|group| Group {
        relation: group.relation.to_owned(),
        total: group.total,
        items: group.items.into_iter().map(Item::from).collect(),
    });
    Ok(Answer {
        name: definition.name,
        kind: definition.kind,
        container: definition.container,
        groups: groups.collect(),
        unexamined: relations.unexamined,
    })
}

impl From<relations::Related> for Item {
    fn from(related: relations::Related) -> Self {
        let how = related.how.as_str().to_owned();
        Self { file: related.path, line: related.line, name: related.name, kind: related.kind, how }
    }
}
