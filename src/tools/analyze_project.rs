//! `analyze_project`: a summary of a Python project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::Result;
use crate::pytypes::values::{Answer as Answered, Query};

pub(super) static ANALYZE_PROJECT: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "analyze_project",
        title: "Summary of a Python project",
        about: "A summary of the Python project: packages, number of modules, classes and functions, the import graph with its \
            cycles, entry points, annotation coverage, diagnostics by rule, the largest modules, and how many types \
            are known. Bounded in size. Example: {}.",
        access: Access::Read,
        core: false,
        list: None,
        example: "{}",
    }
};

/// Arguments of `analyze_project`. It takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Answer {
    packages: Vec<Package>,
    totals: Totals,
    imports: Imports,
    entry_points: Vec<EntryPoint>,
    annotated: Annotated,
    diagnostics: Vec<Rule>,
    largest: Vec<Large>,
    types: Types,
    precision: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Package {
    name: String,
    modules: usize,
    files: usize,
    lines: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Totals {
    modules: usize,
    classes: usize,
    functions: usize,
    methods: usize,
    variables: usize,
    lines: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Imports {
    edges: usize,
    cycles: Vec<Vec<String>>,
    most_imported: Vec<Imported>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Imported {
    module: String,
    count: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct EntryPoint {
    name: String,
    target: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Annotated {
    parameters: usize,
    returns: usize,
    of_parameters: usize,
    of_returns: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Rule {
    code: String,
    count: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Large {
    module: String,
    lines: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Types {
    known: usize,
    unknown: usize,
}

fn run(call: &Call, _: &Arguments) -> Result<Answer> {
    let Answered::Analyze(found) = engine::ask(call, &Query::Analyze)? else { return Err(engine::unexpected()) };
    Ok(Answer {
        packages: found
            .packages
            .into_iter()
            .map(|one| Package { name: one.name, modules: one.modules, files: one.files, lines: one.lines })
            .collect(),
        totals: Totals {
            modules: found.totals.modules,
            classes: found.totals.classes,
            functions: found.totals.functions,
            methods: found.totals.methods,
            variables: found.totals.variables,
            lines: found.totals.lines,
        },
        imports: Imports {
            edges: found.imports.edges,
            cycles: found.imports.cycles,
            most_imported: found
                .imports
                .most_imported
                .into_iter()
                .map(|one| Imported { module: one.name, count: one.count })
                .collect(),
        },
        entry_points: found
            .entry_points
            .into_iter()
            .map(|one| EntryPoint { name: one.name, target: one.target })
            .collect(),
        annotated: Annotated {
            parameters: found.annotated.parameters,
            returns: found.annotated.returns,
            of_parameters: found.annotated.of_parameters,
            of_returns: found.annotated.of_returns,
        },
        diagnostics: found.diagnostics.into_iter().map(|one| Rule { code: one.name, count: one.count }).collect(),
        largest: found.largest.into_iter().map(|one| Large { module: one.name, lines: one.count }).collect(),
        types: Types { known: found.types.known, unknown: found.types.unknown },
        precision: "types".to_owned(),
    })
}
