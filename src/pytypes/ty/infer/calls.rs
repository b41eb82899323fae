//! The arguments of calls in the project, as evidence for parameters.
//!
//! Owns finding the calls of a file's functions and matching their arguments with parameters. It does not judge what the arguments
//! say: unknown ones are recorded as such. Mocks and files of test data are never evidence.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_db::source::source_text;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{self as ast, AnyNodeRef, Expr, ExprRef, Stmt};
use ruff_text_size::Ranged;
use ty_python_core::definition::Definition;
use ty_python_semantic::types::Type;
use ty_python_semantic::{Db as _, HasType, ImportAliasResolution, SemanticModel, contains_identifier};

use super::evidence::{is_mock, known_part};
use super::slots::is_decorated;
use crate::pytypes::ty::db::{Database, Db as _};
use crate::pytypes::ty::target::Target;

/// The maximum number of files that are searched for calls of the functions of one file.
const MAX_FILES: usize = 300;

/// With more names than this, nearly every file contains one: all files are searched.
const MAX_NAMES: usize = 200;

/// A function whose calls are searched for.
pub(super) struct Called<'a, 'db> {
    pub definition: Definition<'db>,
    pub function: &'a ast::StmtFunctionDef,
    /// The name of the class around it.
    pub class: Option<String>,
    pub file: File,
}

/// The arguments of calls in the project, by function and parameter name. `None` is an argument of unknown type.
pub(super) struct Calls<'db> {
    pub arguments: HashMap<(Definition<'db>, String), Vec<Option<Type<'db>>>>,
    pub files: HashMap<Definition<'db>, BTreeSet<File>>,
}

/// Searches the project for calls of these functions.
pub(super) fn of<'db>(db: &'db Database, functions: &[Called<'_, 'db>]) -> Calls<'db> {
    let mut calls = Calls { arguments: HashMap::new(), files: HashMap::new() };
    // A constructor is called by the name of its class.
    let (mut names, mut classes) = (BTreeSet::new(), BTreeSet::new());
    for Called { function, class, .. } in functions {
        match function.name.as_str() {
            "__init__" | "__new__" => classes.extend(class.clone()),
            "__call__" => {}
            name => drop(names.insert(name.to_owned())),
        }
    }
    if names.is_empty() && classes.is_empty() {
        return calls;
    }
    let own: HashSet<File> = functions.iter().map(|one| one.file).collect();
    let mut files: Vec<File> = db.project().files(db).iter().copied().filter(|file| !own.contains(file)).collect();
    // The settings may exclude them.
    files.extend(&own);
    files.sort_by_key(|file| (!own.contains(file), file.path(db).as_str().to_owned()));
    let is_data = |file: File| is_test_data(Path::new(file.path(db).as_str()));
    if !own.iter().any(|file| is_data(*file)) {
        files.retain(|file| !is_data(*file));
    }
    let holding = |names: &BTreeSet<String>| {
        if names.len() > MAX_NAMES {
            return files.clone();
        }
        let holds = |file: &&File| {
            let text = source_text(db, **file);
            names.iter().any(|name| contains_identifier(&text, name))
        };
        let max = if own.len() == 1 { MAX_FILES } else { usize::MAX };
        files.iter().filter(holds).take(max).copied().collect::<Vec<_>>()
    };
    for _ in 0..MAX_SUBCLASS_DEPTH {
        let below: BTreeSet<String> =
            holding(&classes).into_iter().flat_map(|file| classes_below(db, file, &classes)).collect();
        let known = classes.len();
        classes.extend(below);
        if classes.len() == known {
            break;
        }
    }
    let has_classes = !classes.is_empty();
    names.append(&mut classes);
    let files = holding(&names);
    if has_classes {
        names.extend(CONSTRUCTING.iter().map(|&name| name.to_owned()));
    }
    let by_definition: HashMap<Definition<'db>, &Called<'_, 'db>> =
        functions.iter().map(|one| (one.definition, one)).collect();
    for file in files {
        let program_file = db.program_file(file);
        let model = SemanticModel::new(db, program_file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let (names, functions, is_data) = (&names, &by_definition, is_data(file));
        let mut finder = CallFinder { model: &model, names, functions, file, is_data, calls: &mut calls };
        AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut finder);
    }
    calls
}

/// The maximum depth of subclasses that are followed to find calls of an inherited constructor.
const MAX_SUBCLASS_DEPTH: usize = 4;

/// How a class is called without its name: `cls()`, `self.__class__()`, `type(self)()`, `super().__init__()`.
const CONSTRUCTING: &[&str] = &["cls", "__class__", "type", "__init__", "__new__"];

/// Classes of a file that may be subclasses of the given ones, judged by the names of their bases.
fn classes_below(db: &Database, file: File, above: &BTreeSet<String>) -> Vec<String> {
    struct Below<'n>(&'n BTreeSet<String>, Vec<String>);
    impl<'s> SourceOrderVisitor<'s> for Below<'_> {
        fn visit_stmt(&mut self, statement: &'s Stmt) {
            if let Stmt::ClassDef(class) = statement
                && class.bases().iter().filter_map(last_name).any(|base| self.0.contains(base))
            {
                self.1.push(class.name.to_string());
            }
            walk_stmt(self, statement);
        }

        fn visit_expr(&mut self, _expression: &'s Expr) {}
    }
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let mut below = Below(above, Vec::new());
    below.visit_body(parsed.suite());
    below.1
}

/// The last name in a callee or base class: `C` in `module.C[int]`, `type` in `type(self)`.
pub(super) fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        Expr::Subscript(subscript) => last_name(&subscript.value),
        Expr::Call(call) => last_name(&call.func),
        _ => None,
    }
}

struct CallFinder<'a, 'db> {
    model: &'a SemanticModel<'db>,
    names: &'a BTreeSet<String>,
    functions: &'a HashMap<Definition<'db>, &'a Called<'a, 'db>>,
    file: File,
    /// The file is data of tests.
    is_data: bool,
    calls: &'a mut Calls<'db>,
}

impl<'s> SourceOrderVisitor<'s> for CallFinder<'_, '_> {
    fn visit_expr(&mut self, expression: &'s Expr) {
        if let Expr::Call(call) = expression {
            self.call(call);
        }
        walk_expr(self, expression);
    }
}

impl<'db> CallFinder<'_, 'db> {
    fn call(&mut self, call: &ast::ExprCall) {
        if !last_name(&call.func).is_some_and(|name| self.names.contains(name)) {
            return;
        }
        let callee = ExprRef::from(&*call.func);
        let target = Target::Callee { callee, call, on_parenthesis: true };
        let mut meant: Vec<&Called<'_, 'db>> = Vec::new();
        for declared in target.declared(self.model, ImportAliasResolution::ResolveAliases) {
            let found = declared.definition().and_then(|definition| self.functions.get(&definition).copied());
            meant.extend(found.filter(|found| !meant.iter().any(|one| one.definition == found.definition)));
        }
        for called in meant {
            // Arguments that a function passes on to itself add no information.
            let is_own = called.file == self.file && called.function.range().contains_range(call.range());
            let is_evidence = !self.is_data || is_test_data(Path::new(called.file.path(self.model.db()).as_str()));
            if !is_own && is_evidence {
                self.arguments(call, called.definition, called.function);
            }
        }
    }

    /// Assigns the arguments of a call to parameters, as far as the call alone determines it.
    fn arguments(&mut self, call: &ast::ExprCall, definition: Definition<'db>, function: &ast::StmtFunctionDef) {
        let parameters = &function.parameters;
        let all: Vec<&ast::ParameterWithDefault> = parameters.posonlyargs.iter().chain(&parameters.args).collect();
        // A bound receiver takes the first parameter; a function called through its module has no receiver.
        let in_class =
            ty_python_core::scope::ScopeKind::Class == definition.scope(self.model.db()).scope(self.model.db()).kind();
        let takes_receiver = in_class && !is_decorated(function, "staticmethod");
        let bound = usize::from(takes_receiver && !self.gives_receiver(call, function));
        let mut given = BTreeSet::new();
        for (at, argument) in call.arguments.args.iter().enumerate() {
            if argument.is_starred_expr() {
                // An unpacked argument may fill any of the remaining parameters.
                for parameter in all.iter().skip(at + bound) {
                    self.note(definition, parameter.parameter.name.as_str(), None);
                }
                break;
            }
            if let Some(parameter) = all.get(at + bound) {
                given.insert(parameter.parameter.name.as_str());
                self.note(definition, parameter.parameter.name.as_str(), Some(argument));
            }
        }
        for keyword in &call.arguments.keywords {
            if let Some(name) = &keyword.arg {
                given.insert(name.as_str());
                self.note(definition, name.as_str(), Some(&keyword.value));
            }
        }
        if call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none()) {
            let named = parameters.args.iter().skip(bound).chain(&parameters.kwonlyargs);
            let names = named.map(|one| one.parameter.name.as_str());
            for name in names.filter(|name| !given.contains(name)) {
                self.note(definition, name, None);
            }
        }
        self.calls.files.entry(definition).or_default().insert(self.file);
    }

    /// Whether the receiver is an explicit argument: `Base.__init__(self, …)`, `super().__new__(cls, …)`.
    fn gives_receiver(&self, call: &ast::ExprCall, function: &ast::StmtFunctionDef) -> bool {
        let Expr::Attribute(attribute) = &*call.func else { return false };
        if attribute.attr.id != function.name.id || is_decorated(function, "classmethod") {
            return false;
        }
        let owner = attribute.value.inferred_type(self.model);
        function.name.as_str() == "__new__"
            || matches!(owner, Some(Type::ClassLiteral(_) | Type::GenericAlias(_) | Type::SubclassOf(_)))
    }

    fn note(&mut self, definition: Definition<'db>, parameter: &str, argument: Option<&Expr>) {
        let (db, environment) = (self.model.db(), self.model.program_environment());
        let inferred = argument.and_then(|argument| argument.inferred_type(self.model));
        let known = inferred.and_then(|inferred| known_part(db, &environment, inferred));
        let known = known.filter(|known| !is_mock(db, &environment, *known));
        let noted = self.calls.arguments.entry((definition, parameter.to_owned())).or_default();
        noted.push(known);
        // A part of the argument is unknown.
        if known.is_some() && known != inferred {
            noted.push(None);
        }
    }
}

/// Whether a file is data of tests rather than code that calls the project.
fn is_test_data(path: &Path) -> bool {
    let names: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let is_test = |name: &str| matches!(name, "test" | "tests" | "testing");
    let is_data = |name: &str| matches!(name, "data" | "fixtures" | "samples" | "cases");
    names.contains(&"testdata") || names.windows(2).any(|pair| is_test(pair[0]) && is_data(pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_tests_is_recognized_by_its_folder() {
        assert!(is_test_data(Path::new("/p/tests/data/sample.py")));
        assert!(is_test_data(Path::new("/p/testdata/sample.py")));
        assert!(!is_test_data(Path::new("/p/data/tests/test_sample.py")));
        assert!(!is_test_data(Path::new("/p/data/sample.py")));
    }
}
