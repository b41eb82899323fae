//! `ixmcp symbol NAME --relations`: what relates to a definition or a file, grouped, each with how that is known.

use serde_json::{Value, json};

use super::paint::Paint;
use super::{Outcome, Session, output};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::query::relations::{self, Group, Relations, Resolver};
use crate::query::symbols;
use crate::store::Definition;
use crate::tools::unsearched;

/// Definitions of one name that are shown with their relations.
const SUBJECTS: usize = 5;

struct SubjectRelations {
    path: String,
    /// `None`: the file itself.
    definition: Option<Definition>,
    relations: Relations,
}

pub(super) fn run(session: &Session, name: &str, limit: u64, offset: u64) -> Result<Outcome> {
    if name.trim().is_empty() {
        return Err(Error::invalid_argument("NAME is empty").hint("Give a name such as QuerySet, or a file."));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let file = session.stored(name);
    let (subjects, total, unsearched) = session.read_name(name, |snapshot| {
        if let Some(relations) = relations::of_file(snapshot, &file, limit)? {
            return Ok((vec![SubjectRelations { path: file.clone(), definition: None, relations }], 1, None));
        }
        let found = symbols::subjects(snapshot, name)?;
        let mut subjects = Vec::new();
        let mut resolver = Resolver::new(snapshot);
        for declared in found.iter().skip(offset).take(SUBJECTS) {
            let relations = relations::of_symbol(&mut resolver, declared, limit)?;
            let definition = Some(declared.definition.clone());
            subjects.push(SubjectRelations { path: declared.definition.path.clone(), definition, relations });
        }
        let unsearched = if found.is_empty() { unsearched::note_of_name(snapshot)? } else { None };
        Ok((subjects, found.len(), unsearched))
    })?;
    let shown: Vec<Value> = subjects.iter().map(value).collect();
    let json = json!({ "symbols": shown, "total": total });
    let empty = match total {
        0 => format!("no definition is named {}", printable(name)),
        1 => "1 definition; the offset is past it".to_owned(),
        _ => format!("{total} definitions; the offset is past the last"),
    };
    let outcome = session.show_list(&json, &subjects, &empty, |subject| print(subject, &session.paint));
    if let Some(note) = unsearched.filter(|_| !session.json) {
        output::note(&note);
    }
    if !session.json && total > offset.saturating_add(subjects.len()) {
        let next = offset + subjects.len();
        output::note(&format!("{} of {total} definitions shown; more with --offset {next}", subjects.len()));
    }
    outcome
}

fn print(subject: &SubjectRelations, paint: &Paint) {
    output::line(&match &subject.definition {
        Some(found) => {
            let at = paint.position(&found.path, &[found.line, found.column]);
            format!("{at}  {} {}", printable(&found.kind), paint.name(&found.name))
        }
        None => paint.path(&subject.path),
    });
    for group in &subject.relations.groups {
        output::line(&format!("  {} {}", group.relation, group.total));
        for item in &group.items {
            let how = item.how.as_str();
            let at = paint.position(&item.path, &[item.line]);
            output::line(&format!("    {at}  {} [{how}]", printable(&format!("{} {}", item.kind, item.name))));
        }
        if group.total > group.items.len() {
            output::line(&format!("    … {} more", group.total - group.items.len()));
        }
    }
    if subject.relations.unexamined > 0 {
        output::line(&format!("  {} more references to the name were not checked", subject.relations.unexamined));
    }
    if let Some(reason) = subject.relations.unstated {
        output::line(&format!("  {reason}"));
    }
}

fn value(subject: &SubjectRelations) -> Value {
    let groups = subject.relations.groups.iter().map(|group| (group.relation.replace(' ', "_"), group_value(group)));
    let mut value = json!({
        "file_path": subject.path,
        "relations": groups.collect::<serde_json::Map<_, _>>(),
        "unexamined": subject.relations.unexamined,
    });
    if let Some(reason) = subject.relations.unstated {
        value["reason"] = json!(reason);
    }
    if let Some(found) = &subject.definition {
        value["name"] = json!(found.name);
        value["kind"] = json!(found.kind);
        value["line"] = json!(found.line);
        value["column"] = json!(found.column);
        value["container"] = json!(found.container);
    }
    value
}

fn group_value(group: &Group) -> Value {
    let items = group.items.iter().map(|item| {
        json!({
            "file_path": item.path,
            "line": item.line,
            "name": item.name,
            "kind": item.kind,
            "how": item.how.as_str(),
        })
    });
    json!({ "total": group.total, "items": items.collect::<Vec<_>>() })
}
