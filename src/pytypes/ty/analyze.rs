//! `analyze_project`: a summary of a project.
//!
//! Owns the counting: one pass over every syntax tree, the import graph, and the totals of a check.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::api::{
    AnyNodeRef, Expr, File, HasType, SemanticDb as _, SemanticModel, SourceOrderVisitor, Stmt, Type, ast,
    file_to_module, operands, parsed_module, source_text, walk_expr, walk_stmt,
};
use super::db::{Database, Db as _};
use super::display::PathDisplay;
use super::file_diagnostics::diagnostics;
use crate::cycles::strongly_connected;
use crate::pytypes::engine::Observer;
use crate::pytypes::entry_points;
use crate::pytypes::values::{
    Analysis, Annotated, EntryPoint, Imports, Known, ModuleCount, ModuleSize, Package, RuleCount, Totals,
};

/// The maximum number of items in each list of the answer.
const MAX_ITEMS: usize = 20;
/// The maximum number of modules that are named for one import cycle.
const MAX_CYCLE_MODULES: usize = 12;

/// The counts of one file.
#[derive(Default)]
struct Facts {
    module: String,
    totals: Totals,
    annotated: Annotated,
    types: Known,
    codes: BTreeMap<String, usize>,
    imports: BTreeSet<File>,
    /// It has an `if __name__ == "__main__"`.
    is_script: bool,
    /// It is a `__main__.py`.
    is_main: bool,
}

pub(super) fn analyze(db: &Database, files: &[File], display: &PathDisplay, observer: &dyn Observer) -> Analysis {
    let done = std::sync::atomic::AtomicUsize::new(0);
    let mut facts: Vec<(File, Facts)> = files
        .into_par_iter()
        .map_with(db.clone(), |db, file| {
            observer.begins(&display.path(db, *file));
            let facts = salsa::attach_allow_change(&*db, || of_file(db, *file, display));
            observer.ends();
            observer.advanced(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1, files.len());
            (*file, facts)
        })
        .collect();
    facts.sort_by(|(_, a), (_, b)| a.module.cmp(&b.module));
    let mut analysis = Analysis::default();
    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for (_, one) in &facts {
        analysis.totals.add(&one.totals);
        analysis.annotated.add(&one.annotated);
        analysis.types.known += one.types.known;
        analysis.types.unknown += one.types.unknown;
        let name = one.module.split('.').next().unwrap_or_default().to_owned();
        let package = packages.entry(name.clone()).or_insert_with(|| Package { name, ..Package::default() });
        package.modules += 1;
        package.files += 1;
        package.lines += one.totals.lines;
        for (code, count) in &one.codes {
            *codes.entry(code.clone()).or_default() += count;
        }
        analysis.largest.push(ModuleSize { module: one.module.clone(), lines: one.totals.lines });
    }
    imports(&facts, &mut analysis);
    analysis.list_totals.packages = packages.len();
    analysis.list_totals.rules = codes.len();
    analysis.packages = packages.into_values().collect();
    analysis.packages.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
    analysis.packages.truncate(MAX_ITEMS);
    analysis.diagnostics = largest_counts(codes).map(|(code, count)| RuleCount { code, count }).collect();
    analysis.largest.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.module.cmp(&b.module)));
    analysis.largest.truncate(MAX_ITEMS);
    analysis.entry_points = entry_points(db, &display.root, &facts);
    analysis.list_totals.entry_points = analysis.entry_points.len();
    analysis.entry_points.truncate(MAX_ITEMS);
    analysis
}

/// The scripts that the project and nested projects declare, each `__main__.py`, the declared entry points of other
/// groups, and the modules that can be run.
fn entry_points(db: &Database, root: &Path, facts: &[(File, Facts)]) -> Vec<EntryPoint> {
    let inner = db.project().inner(db).iter().rev().map(|inner| inner.folder.as_path());
    let declared = std::iter::once(root).chain(inner).flat_map(entry_points::read);
    let (mut found, plugins): (Vec<EntryPoint>, Vec<EntryPoint>) = declared.partition(|one| one.group.is_none());
    let run =
        |(_, one): &(File, Facts)| EntryPoint { name: one.module.clone(), target: "__main__".to_owned(), group: None };
    found.extend(facts.iter().filter(|(_, one)| one.is_main).map(run));
    found.extend(plugins);
    found.extend(facts.iter().filter(|(_, one)| one.is_script && !one.is_main).map(run));
    found
}

/// The largest counts, sorted by name where they are equal.
fn largest_counts(counts: BTreeMap<String, usize>) -> impl Iterator<Item = (String, usize)> {
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.into_iter().take(MAX_ITEMS)
}

fn of_file(db: &Database, file: File, display: &PathDisplay) -> Facts {
    let program_file = db.program_file(file);
    let module = file_to_module(db, program_file.resolver_file(db)).map(|module| module.name(db).to_string());
    let mut facts = Facts { module: module.unwrap_or_else(|| display.path(db, file)), ..Facts::default() };
    facts.is_main = file.path(db).as_str().rsplit(['/', '\\']).next() == Some("__main__.py");
    facts.totals.modules = 1;
    facts.totals.lines = source_text(db, file).lines().count();
    for found in diagnostics(db, program_file) {
        *facts.codes.entry(found.id().as_str().to_owned()).or_default() += 1;
    }
    let model = SemanticModel::new(db, program_file);
    let python_file = program_file.python_file(db);
    let parsed = parsed_module(db, python_file).load(db);
    let mut counter = Counter { db, model: &model, facts: &mut facts, depth: Depth::Module };
    AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut counter);
    parsed_module(db, python_file).clear();
    facts
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Module,
    Class,
    Function,
}

struct Counter<'a, 'db> {
    db: &'db Database,
    model: &'a SemanticModel<'db>,
    facts: &'a mut Facts,
    depth: Depth,
}

impl<'s> SourceOrderVisitor<'s> for Counter<'_, '_> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        let outer = self.depth;
        match statement {
            Stmt::ClassDef(_) => {
                self.facts.totals.classes += 1;
                self.depth = Depth::Class;
            }
            Stmt::FunctionDef(function) => {
                self.function(function);
                self.depth = Depth::Function;
            }
            Stmt::Assign(assign) if outer != Depth::Function => {
                self.facts.totals.variables += assign.targets.iter().filter(|target| target.is_name_expr()).count();
            }
            Stmt::AnnAssign(assign) if outer != Depth::Function => {
                self.facts.totals.variables += usize::from(assign.target.is_name_expr());
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.import(Some(alias.name.as_str()), 0);
                }
            }
            Stmt::ImportFrom(from) => {
                let module = from.module.as_ref().map(ast::Identifier::as_str);
                self.import(module, from.level);
                // The imported name may be a module itself.
                for alias in &from.names {
                    let whole =
                        module.map_or_else(|| alias.name.to_string(), |module| format!("{module}.{}", alias.name));
                    self.import(Some(&whole), from.level);
                }
            }
            Stmt::If(condition) if outer == Depth::Module => self.facts.is_script |= is_main(&condition.test),
            _ => {}
        }
        walk_stmt(self, statement);
        self.depth = outer;
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        if expression.is_name_expr() || expression.is_attribute_expr() || expression.is_call_expr() {
            match expression.inferred_type(self.model) {
                Some(Type::Dynamic(_)) => self.facts.types.unknown += 1,
                Some(_) => self.facts.types.known += 1,
                // Unreachable code has no type.
                None => {}
            }
        }
        walk_expr(self, expression);
    }
}

impl Counter<'_, '_> {
    fn function(&mut self, function: &ast::StmtFunctionDef) {
        let is_method = self.depth == Depth::Class;
        if is_method {
            self.facts.totals.methods += 1;
        } else {
            self.facts.totals.functions += 1;
        }
        let is_static = function
            .decorator_list
            .iter()
            .any(|one| matches!(&one.expression, Expr::Name(name) if name.id.as_str() == "staticmethod"));
        let receivers = usize::from(is_method && !is_static);
        for parameter in function.parameters.iter().skip(receivers) {
            self.facts.annotated.of_parameters += 1;
            self.facts.annotated.parameters += usize::from(parameter.annotation().is_some());
        }
        self.facts.annotated.of_returns += 1;
        self.facts.annotated.returns += usize::from(function.returns.is_some());
    }

    fn import(&mut self, module: Option<&str>, level: u32) {
        let found = self.model.resolve_module(module, level).and_then(|module| module.file(self.db));
        self.facts.imports.extend(found.filter(|file| *file != self.model.file()));
    }
}

/// `__name__ == "__main__"`.
fn is_main(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else { return false };
    let is_name = |one: &Expr| matches!(one, Expr::Name(name) if name.id.as_str() == "__name__");
    let is_text = |one: &Expr| matches!(one, Expr::StringLiteral(text) if text.value.to_str() == "__main__");
    match operands(compare) {
        [left, right] => (is_name(left) && is_text(right)) || (is_text(left) && is_name(right)),
        _ => false,
    }
}

fn imports(facts: &[(File, Facts)], analysis: &mut Analysis) {
    let number: HashMap<File, usize> = facts.iter().enumerate().map(|(at, (file, _))| (*file, at)).collect();
    let graph: Vec<Vec<usize>> = facts
        .iter()
        .map(|(_, one)| one.imports.iter().filter_map(|file| number.get(file).copied()).collect())
        .collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for to in graph.iter().flatten() {
        *counts.entry(facts[*to].1.module.clone()).or_default() += 1;
    }
    let names = |group: Vec<usize>| {
        let mut names: Vec<String> = group.into_iter().map(|at| facts[at].1.module.clone()).collect();
        names.sort();
        names
    };
    let mut cycles: Vec<Vec<String>> =
        strongly_connected(&graph).into_iter().filter(|group| group.len() > 1).map(names).collect();
    cycles.sort();
    analysis.list_totals.cycles = cycles.len();
    analysis.list_totals.imported = counts.len();
    cycles.truncate(MAX_ITEMS);
    analysis.list_totals.cycle_modules = cycles.iter().map(Vec::len).collect();
    cycles.iter_mut().for_each(|names| names.truncate(MAX_CYCLE_MODULES));
    let most_imported = largest_counts(counts).map(|(module, count)| ModuleCount { module, count }).collect();
    analysis.imports = Imports { edges: graph.iter().map(Vec::len).sum(), cycles, most_imported };
}
