//! The arguments of calls in the project, as evidence for parameters.
//!
//! Owns finding the calls of a file's functions and matching their arguments with parameters. It does not judge what the arguments
//! say: unknown ones are recorded as such. Mocks and files of test data are never evidence.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::SlotState;
use super::constructors::Constructors;
use super::slots::{Slot, SlotSource, is_decorated};
use super::values::{Receivers, is_mock, known_part, last_name, own_variable};
use crate::pytypes::ty::api::{
    AnyNodeRef, Definition, Expr, ExprRef, File, HasDefinition, HasType, ImportAliasResolution, ProgramFile, Ranged,
    ScopeKind, SemanticDb, SemanticModel, SourceOrderVisitor, Stmt, TextRange, Type, TypeDefinition, ast,
    contains_identifier, parsed_module, source_text, walk_expr, walk_stmt,
};
use crate::pytypes::ty::checker_panics::caught;
use crate::pytypes::ty::db::{Database, Db as _};
use crate::pytypes::ty::expressions::of_expression;
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

impl Called<'_, '_> {
    /// Whether a call of one of these names may be a call of this function.
    fn is_named_by(&self, names: &BTreeSet<String>) -> bool {
        let is_constructor = matches!(self.function.name.as_str(), "__init__" | "__new__");
        names.contains(self.function.name.as_str())
            || is_constructor
                && (self.class.as_ref().is_some_and(|class| names.contains(class))
                    || CONSTRUCTING.iter().any(|name| names.contains(*name)))
    }
}

/// The arguments of calls in the project, by function and parameter name. `None` is an argument of unknown type.
pub(super) struct Calls<'db> {
    pub arguments: HashMap<(Definition<'db>, String), Vec<Option<Type<'db>>>>,
    pub files: HashMap<Definition<'db>, BTreeSet<File>>,
    /// The class that `Self` means where a method passes itself, or its class, by the type that the checker shows as `Self@method`.
    pub receivers: Receivers<'db>,
}

/// The functions with a parameter that lacks an annotation.
pub(super) fn open_functions<'a, 'db>(
    model: &SemanticModel<'db>,
    slots: &[Slot<'a>],
    states: &[SlotState],
) -> Vec<Called<'a, 'db>> {
    let mut functions = Vec::new();
    for (at, slot) in slots.iter().enumerate() {
        let SlotSource::Function(function, context) = &slot.of else { continue };
        // The slots of its parameters follow it.
        let is_own =
            |other: &&Slot<'_>| matches!(&other.of, SlotSource::Parameter(of, _) if std::ptr::eq(*of, *function));
        let parameters = slots[at + 1..].iter().take_while(is_own).count();
        if states[at + 1..=at + parameters].iter().any(|state| state.is_open) {
            let class = slot.container.as_ref().filter(|_| context.in_class);
            let class = class.and_then(|class| class.rsplit('.').next()).map(str::to_owned);
            functions.push(Called { definition: function.definition(model), function, class, file: model.file() });
        }
    }
    functions
}

/// Where calls of some functions are searched for. It follows from their names and the imports of the project, which annotations do
/// not change.
pub(super) struct Searched {
    functions: BTreeSet<String>,
    classes: BTreeSet<String>,
    names: BTreeSet<String>,
    files: Vec<File>,
}

/// Searches the project for calls of these functions. `searched` is what the last search of the same functions left.
pub(super) fn find<'db>(
    db: &'db Database,
    functions: &[Called<'_, 'db>],
    searched: &mut Option<Searched>,
) -> Calls<'db> {
    let mut calls = Calls { arguments: HashMap::new(), files: HashMap::new(), receivers: HashMap::new() };
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
    let known = searched.take().filter(|last| last.functions == names && last.classes == classes);
    let known = known.unwrap_or_else(|| search(db, functions, names, classes));
    let by_definition: HashMap<Definition<'db>, &Called<'_, 'db>> =
        functions.iter().map(|one| (one.definition, one)).collect();
    let mut constructors = Constructors::default();
    for &file in &known.files {
        let found = calls_in(db, db.program_file(file), &known.names, &mut constructors);
        if !found.panicked.is_empty() {
            let named = functions.iter().filter(|called| called.is_named_by(&found.panicked));
            named.for_each(|called| calls.note_unknown(called));
        }
        for call in &found.calls {
            for called in call.callees.iter().filter_map(|callee| by_definition.get(callee)) {
                // Arguments that a function passes on to itself add no information.
                let is_own = called.file == file && called.function.range().contains_range(call.range);
                calls.receivers.extend(call.receivers.iter().copied());
                if !is_own && (!is_data(db, file) || is_data(db, called.file)) {
                    calls.add(db, file, call, called);
                }
            }
        }
    }
    *searched = Some(known);
    calls
}

fn search(
    db: &Database,
    functions: &[Called<'_, '_>],
    functions_named: BTreeSet<String>,
    classes_named: BTreeSet<String>,
) -> Searched {
    let (mut names, mut classes) = (functions_named.clone(), classes_named.clone());
    let own: HashSet<File> = functions.iter().map(|one| one.file).collect();
    let mut files: Vec<File> = db.project().files(db).iter().copied().filter(|file| !own.contains(file)).collect();
    // The settings may exclude them.
    files.extend(&own);
    files.sort_by_key(|file| (!own.contains(file), file.path(db).as_str().to_owned()));
    if !own.iter().any(|file| is_data(db, *file)) {
        files.retain(|file| !is_data(db, *file));
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
    Searched { functions: functions_named, classes: classes_named, names, files }
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

/// The calls in one file.
#[derive(Default)]
struct FileCalls<'db> {
    calls: Vec<FoundCall<'db>>,
    /// The names of callees at whose calls the checker panics.
    panicked: BTreeSet<String>,
}

/// A call, as far as it is evidence.
struct FoundCall<'db> {
    range: TextRange,
    callees: Vec<Definition<'db>>,
    /// The receiver is a class, so a method gets its receiver as argument: `Base.method(self, …)`.
    is_of_class: bool,
    /// The name after the dot.
    method: Option<String>,
    arguments: Vec<Argument<'db>>,
    /// Classes that `Self` refers to among the arguments.
    receivers: Vec<(Type<'db>, Definition<'db>)>,
}

struct Argument<'db> {
    /// The keyword; `None` for a positional argument, or after `**`.
    name: Option<String>,
    is_positional: bool,
    is_unpacked: bool,
    known: Option<Type<'db>>,
    /// A part of its type is unknown.
    is_partly_unknown: bool,
}

/// The calls in a file whose callee has one of these names. Memoizing them would take longer than finding them again.
fn calls_in<'db>(
    db: &'db Database,
    file: ProgramFile<'db>,
    names: &BTreeSet<String>,
    constructors: &mut Constructors<'db>,
) -> FileCalls<'db> {
    let model = SemanticModel::new(db, file);
    let parsed = parsed_module(db, file.python_file(db)).load(db);
    let mut finder = CallFinder { db, model: &model, names, class: None, constructors, found: FileCalls::default() };
    AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut finder);
    finder.found
}

struct CallFinder<'a, 'db> {
    db: &'db Database,
    model: &'a SemanticModel<'db>,
    names: &'a BTreeSet<String>,
    /// The class around.
    class: Option<Definition<'db>>,
    constructors: &'a mut Constructors<'db>,
    found: FileCalls<'db>,
}

impl<'s> SourceOrderVisitor<'s> for CallFinder<'_, '_> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        let outer = self.class;
        if let Stmt::ClassDef(class) = statement {
            self.class = Some(class.definition(self.model));
        }
        walk_stmt(self, statement);
        self.class = outer;
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        if let Expr::Call(call) = expression
            && let Some(name) = last_name(&call.func).filter(|name| self.names.contains(*name))
            && caught(|| self.call(call)).is_err()
        {
            self.found.panicked.insert(name.to_owned());
        }
        walk_expr(self, expression);
    }
}

impl<'db> CallFinder<'_, 'db> {
    fn call(&mut self, call: &ast::ExprCall) {
        let callees = self.callees(call);
        if callees.is_empty() {
            return;
        }
        let attribute = call.func.as_attribute_expr();
        let owner = attribute.and_then(|attribute| attribute.value.inferred_type(self.model));
        let by_position = call.arguments.args.iter().map(|argument| {
            let value = (!argument.is_starred_expr()).then_some(argument);
            self.argument(None, true, value)
        });
        let by_name = call.arguments.keywords.iter().map(|keyword| {
            let value = keyword.arg.is_some().then_some(&keyword.value);
            self.argument(keyword.arg.as_ref().map(ToString::to_string), false, value)
        });
        let arguments: Vec<Argument<'db>> = by_position.chain(by_name).collect();
        let (db, environment) = (self.model.db(), self.model.program_environment());
        let own = arguments.iter().filter_map(|one| own_variable(db, &environment, one.known?));
        let receivers = self.class.map_or_else(Vec::new, |class| own.map(|own| (own, class)).collect());
        self.found.calls.push(FoundCall {
            range: call.range(),
            callees,
            is_of_class: matches!(owner, Some(Type::ClassLiteral(_) | Type::GenericAlias(_) | Type::SubclassOf(_))),
            method: attribute.map(|attribute| attribute.attr.to_string()),
            arguments,
            receivers,
        });
    }

    /// The functions that a call may run, as far as it is evidence for their parameters.
    fn callees(&mut self, call: &ast::ExprCall) -> Vec<Definition<'db>> {
        let (callee, aliases) = (ExprRef::from(&*call.func), ImportAliasResolution::ResolveAliases);
        let called = call.func.inferred_type(self.model);
        let definition = called.and_then(|called| called.definition(self.db, &self.model.program_environment()));
        let (mut callees, declared) = match (called, definition) {
            // The name may have other definitions, for other platforms and versions.
            (Some(Type::FunctionLiteral(_) | Type::BoundMethod(_)), Some(TypeDefinition::Function(one))) => {
                (vec![one], of_expression(self.model, callee, aliases))
            }
            (Some(Type::ClassLiteral(_)), Some(TypeDefinition::StaticClass(class)))
                if let Ok(constructor) = self.constructors.resolve(self.db, class) =>
            {
                (constructor.into_iter().collect(), Vec::new())
            }
            // This also matches the arguments with the parameters of each overload, which takes long.
            _ => {
                let target = Target::Callee { callee, call, on_parenthesis: true };
                (Vec::new(), target.declared(self.model, aliases))
            }
        };
        for declared in declared {
            callees.extend(declared.definition().filter(|found| !callees.contains(found)));
        }
        callees
    }

    /// `value` is `None` for what is unpacked.
    fn argument(&self, name: Option<String>, is_positional: bool, value: Option<&Expr>) -> Argument<'db> {
        let (db, environment) = (self.model.db(), self.model.program_environment());
        let inferred = value.and_then(|value| value.inferred_type(self.model));
        let known = inferred.and_then(|inferred| known_part(db, &environment, inferred));
        let known = known.filter(|known| !is_mock(db, &environment, *known));
        let is_partly_unknown = known.is_some() && known != inferred;
        Argument { name, is_positional, is_unpacked: value.is_none(), known, is_partly_unknown }
    }
}

impl<'db> Calls<'db> {
    /// Assigns the arguments of a call to parameters, as far as the call alone determines it.
    fn add(&mut self, db: &'db Database, file: File, call: &FoundCall<'db>, called: &Called<'_, 'db>) {
        let (definition, function) = (called.definition, called.function);
        let parameters = &function.parameters;
        let all: Vec<&ast::ParameterWithDefault> = parameters.posonlyargs.iter().chain(&parameters.args).collect();
        // A bound receiver takes the first parameter; a function called through its module has no receiver.
        let in_class = ScopeKind::Class == definition.scope(db).scope(db).kind();
        let takes_receiver = in_class && !is_decorated(function, "staticmethod");
        let bound = usize::from(takes_receiver && !call.gives_receiver(function));
        let mut given = BTreeSet::new();
        for (at, argument) in call.arguments.iter().filter(|one| one.is_positional).enumerate() {
            if argument.is_unpacked {
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
        let mut by_name = call.arguments.iter().filter(|one| !one.is_positional);
        for (name, argument) in by_name.clone().filter_map(|one| Some((one.name.as_deref()?, one))) {
            given.insert(name);
            self.note(definition, name, Some(argument));
        }
        if by_name.any(|one| one.is_unpacked) {
            let named = parameters.args.iter().skip(bound).chain(&parameters.kwonlyargs);
            let names = named.map(|one| one.parameter.name.as_str());
            for name in names.filter(|name| !given.contains(name)) {
                self.note(definition, name, None);
            }
        }
        self.files.entry(definition).or_default().insert(file);
    }

    /// Notes a call with unknown arguments.
    fn note_unknown(&mut self, called: &Called<'_, 'db>) {
        for parameter in called.function.parameters.iter_non_variadic_params() {
            self.note(called.definition, parameter.parameter.name.as_str(), None);
        }
    }

    fn note(&mut self, definition: Definition<'db>, parameter: &str, argument: Option<&Argument<'db>>) {
        let noted = self.arguments.entry((definition, parameter.to_owned())).or_default();
        noted.push(argument.and_then(|argument| argument.known));
        if argument.is_some_and(|argument| argument.is_partly_unknown) {
            noted.push(None);
        }
    }
}

impl FoundCall<'_> {
    /// Whether the receiver is an explicit argument: `Base.__init__(self, …)`, `super().__new__(cls, …)`.
    fn gives_receiver(&self, function: &ast::StmtFunctionDef) -> bool {
        let is_named = self.method.as_deref() == Some(function.name.as_str());
        is_named && !is_decorated(function, "classmethod") && (function.name.as_str() == "__new__" || self.is_of_class)
    }
}

fn is_data(db: &Database, file: File) -> bool {
    is_test_data(Path::new(file.path(db).as_str()))
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
