//! Types from overridden and overriding methods, and from the language for methods that Python calls itself.
//!
//! Owns the mapping of a parameter to that of the related method. The caller checks whether its type is known.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::annotation::{Annotation, Import};
use super::flow::exits;
use super::slots::{self, Slot};
use super::values::last_name;
use crate::pytypes::ty::api::{
    Definition, File, HasDefinition, HasType, ProgramFile, ScopeKind, SemanticDb as _, SemanticModel, Stmt, TextRange,
    Type, ast, contains_identifier, parsed_module, source_text,
};
use crate::pytypes::ty::checker_panics::{caught, caught_in_query};
use crate::pytypes::ty::class_members::{class_around, class_at};
use crate::pytypes::ty::db::{Database, Db};
use crate::pytypes::ty::family;

/// The maximum number of superclasses that are searched.
const MAX_CLASSES: usize = 50;

/// An overridden method.
#[derive(Clone, Debug, PartialEq, Eq, salsa::SalsaValue)]
pub(super) struct Overridden<'db> {
    pub definition: Definition<'db>,
    pub class: String,
    /// The declared type of its parameter.
    pub declared: Option<Type<'db>>,
    /// The name of its parameter.
    pub name: String,
}

/// The return type of an overridden method.
pub(super) struct ReturnAbove<'db> {
    pub class: String,
    pub declared: Option<Type<'db>>,
}

/// The method in the nearest superclass that has the parameter of this slot too.
pub(super) fn of_parameter<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    function: &ast::StmtFunctionDef,
) -> Option<Cow<'db, Overridden<'db>>> {
    if slot.is_annotated {
        return find(db, model, function, &slot.name).map(Cow::Owned);
    }
    in_file(db, model.program_file()).get(&slot.range.start().to_u32()).map(Cow::Borrowed)
}

/// The overridden methods of a file, by the offset of the name of each parameter without an annotation. Memoized until a class
/// changes.
#[salsa::tracked(returns(ref))]
fn in_file<'db>(db: &'db dyn Db, file: ProgramFile<'db>) -> BTreeMap<u32, Overridden<'db>> {
    let parsed = parsed_module(db, file.python_file(db)).load(db);
    let model = SemanticModel::new(db, file);
    slots::open_parameters(parsed.suite())
        .filter_map(|(at, function, name)| {
            Some((at, caught_in_query(db, || find(db.itself(), &model, function, &name))??))
        })
        .collect()
}

fn find<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    name: &str,
) -> Option<Overridden<'db>> {
    let at = index_of(function, name);
    above(db, model, function, |above, class, method| {
        let parameter = parameter_at(method, name, at)?;
        let declared = parameter.parameter.annotation.is_some().then(|| parameter.inferred_type(above)).flatten();
        Some(Overridden {
            definition: method.definition(above),
            class: class.name.to_string(),
            declared,
            name: parameter.parameter.name.to_string(),
        })
    })
}

/// The declared return type of the method in the nearest superclass that has it too.
pub(super) fn return_above<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
) -> Option<ReturnAbove<'db>> {
    above(db, model, function, |above, class, method| {
        // The value of a coroutine is what is declared, not the coroutine.
        let is_same = method.is_async == function.is_async;
        let declared = method.returns.as_deref().filter(|_| is_same).and_then(|returns| returns.inferred_type(above));
        Some(ReturnAbove { class: class.name.to_string(), declared })
    })
}

/// Reads the method of the same name in the nearest superclass that has one.
fn above<'db, T>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    read: impl Fn(&SemanticModel<'db>, &ast::StmtClassDef, &ast::StmtFunctionDef) -> Option<T>,
) -> Option<T> {
    let is_method = function.definition(model).scope(db).scope(db).kind() == ScopeKind::Class;
    // Constructors need not be compatible with those of the superclass.
    if !is_method || matches!(function.name.as_str(), "__init__" | "__new__" | "__init_subclass__" | "__post_init__") {
        return None;
    }
    let own = class_around(db, model.file(), function.name.range)?;
    let mut waiting = VecDeque::from(family::bases(db, own).to_vec());
    let mut seen = Vec::new();
    while let Some(class) = waiting.pop_front() {
        if seen.contains(&class) || seen.len() >= MAX_CLASSES {
            continue;
        }
        seen.push(class);
        let (file, range) = class;
        let program_file = db.program_file(file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let Some(node) = class_at(parsed.syntax().into(), range) else { continue };
        let methods = node.body.iter().filter_map(Stmt::as_function_def_stmt);
        let mut methods = methods.filter(|method| method.name.id == function.name.id);
        let (Some(method), None) = (methods.next(), methods.next()) else {
            waiting.extend(family::bases(db, class));
            continue;
        };
        return read(&SemanticModel::new(db, program_file), node, method);
    }
    None
}

/// Declarations in methods of subclasses, by class, method and parameter.
#[derive(Default)]
pub(super) struct Below<'db> {
    parameters: HashMap<(OpenClass, String, String), Vec<Type<'db>>>,
    returns: HashMap<(OpenClass, String), Vec<Type<'db>>>,
    /// Methods that return values.
    with_values: HashSet<(OpenClass, String)>,
}

/// A class by its file and qualified name.
pub(super) type OpenClass = (File, String);

/// With more names than this, nearly every file contains one: all files are searched.
const MAX_NAMES: usize = 200;

/// More different declarations are too unspecific.
const MAX_DECLARATIONS: usize = 2;

impl<'db> Below<'db> {
    pub fn parameter(&self, file: File, class: &str, method: &str, name: &str) -> Option<&[Type<'db>]> {
        let key = ((file, class.to_owned()), method.to_owned(), name.to_owned());
        self.parameters.get(&key).filter(|found| found.len() <= MAX_DECLARATIONS).map(Vec::as_slice)
    }

    pub fn returned(&self, file: File, class: &str, method: &str) -> Option<&[Type<'db>]> {
        let found = self.returns.get(&((file, class.to_owned()), method.to_owned()));
        found.filter(|found| found.len() <= MAX_DECLARATIONS).map(Vec::as_slice)
    }

    pub fn returns_values(&self, file: File, class: &str, method: &str) -> bool {
        self.with_values.contains(&((file, class.to_owned()), method.to_owned()))
    }

    /// Reads the direct subclasses of these classes, given by the file and the range of their name.
    pub fn find(db: &'db Database, classes: &HashMap<(File, TextRange), OpenClass>) -> Self {
        let mut below = Self::default();
        let last = |class: &str| class.rsplit('.').next().unwrap_or_default().to_owned();
        let names: BTreeSet<String> = classes.values().map(|(_, class)| last(class)).collect();
        if names.is_empty() {
            return below;
        }
        let own: HashSet<File> = classes.keys().map(|(file, _)| *file).collect();
        let mut files: Vec<File> = db.project().files(db).iter().copied().filter(|file| !own.contains(file)).collect();
        files.extend(own);
        files.sort_by_key(|file| file.path(db).as_str().to_owned());
        for file in files {
            let text = source_text(db, file);
            if names.len() <= MAX_NAMES && !names.iter().any(|name| contains_identifier(&text, name)) {
                continue;
            }
            let program_file = db.program_file(file);
            let model = SemanticModel::new(db, program_file);
            let parsed = parsed_module(db, program_file.python_file(db)).load(db);
            for class in subclasses(parsed.suite(), &names) {
                let read = || {
                    let above = family::bases(db, (file, class.name.range)).iter();
                    above.filter_map(|above| classes.get(above)).for_each(|above| below.read(&model, above, class));
                };
                // What the checker panics at is left out.
                let _panicked = caught(read);
            }
        }
        below.parameters.retain(|_, types| !types.is_empty());
        below.returns.retain(|_, types| !types.is_empty());
        below
    }

    fn read(&mut self, model: &SemanticModel<'db>, above: &OpenClass, class: &ast::StmtClassDef) {
        let note = |types: &mut Vec<Type<'db>>, declared: Option<Type<'db>>| {
            let declared = declared.filter(|one| !matches!(one, Type::Dynamic(_) | Type::Divergent(_)));
            types.extend(declared.filter(|one| !types.contains(one)));
        };
        for method in class.body.iter().filter_map(Stmt::as_function_def_stmt) {
            let key = (above.clone(), method.name.to_string());
            let found = exits(method);
            if found.is_generator || found.values.iter().any(|value| !value.is_none_literal_expr()) {
                self.with_values.insert(key.clone());
            }
            if let Some(returns) = &method.returns {
                note(self.returns.entry(key.clone()).or_default(), returns.inferred_type(model));
            }
            for parameter in method.parameters.iter_non_variadic_params() {
                if let Some(annotation) = parameter.parameter.annotation.as_deref() {
                    let key = (key.0.clone(), key.1.clone(), parameter.parameter.name.to_string());
                    note(self.parameters.entry(key).or_default(), annotation.inferred_type(model));
                }
            }
        }
    }
}

/// Classes with a base of one of these names.
fn subclasses<'a>(body: &'a [Stmt], names: &BTreeSet<String>) -> Vec<&'a ast::StmtClassDef> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Stmt> = body.iter().collect();
    while let Some(statement) = waiting.pop() {
        if let Stmt::ClassDef(class) = statement {
            if class.bases().iter().filter_map(last_name).any(|base| names.contains(base)) {
                found.push(class);
            }
            waiting.extend(&class.body);
        }
    }
    found
}

/// The return type of a method that Python calls itself.
pub(super) fn return_of_language(function: &ast::StmtFunctionDef) -> Option<Annotation> {
    let text = match function.name.as_str() {
        "__lt__" | "__le__" | "__gt__" | "__ge__" | "__contains__" | "__bool__" | "__instancecheck__" => "bool",
        "__len__" | "__index__" | "__int__" | "__length_hint__" => "int",
        "__float__" => "float",
        "__bytes__" => "bytes",
        "__init__" | "__setattr__" | "__delattr__" | "__setitem__" | "__delitem__" | "__set_name__" => "None",
        _ => return None,
    };
    Some(Annotation { text: text.to_owned(), imports: Vec::new() })
}

/// The position of a parameter among the positional ones.
fn index_of(function: &ast::StmtFunctionDef, name: &str) -> Option<usize> {
    let parameters = &function.parameters;
    parameters.posonlyargs.iter().chain(&parameters.args).position(|one| one.parameter.name.as_str() == name)
}

/// The parameter of the same name, or a positional-only one at the same position.
fn parameter_at<'m>(
    method: &'m ast::StmtFunctionDef,
    name: &str,
    at: Option<usize>,
) -> Option<&'m ast::ParameterWithDefault> {
    let parameters = &method.parameters;
    let named = parameters.iter_non_variadic_params().find(|one| one.parameter.name.as_str() == name);
    named.or_else(|| parameters.posonlyargs.get(at?))
}

/// The annotation of a parameter whose argument Python itself passes.
pub(super) fn of_language(function: &ast::StmtFunctionDef, name: &str) -> Option<Annotation> {
    let plain = |text: &str| Annotation { text: text.to_owned(), imports: Vec::new() };
    match (function.name.as_str(), index_of(function, name)?) {
        ("__exit__" | "__aexit__", 1) => Some(plain("type[BaseException] | None")),
        ("__exit__" | "__aexit__", 2) => Some(plain("BaseException | None")),
        ("__exit__" | "__aexit__", 3) => {
            let traceback =
                Import { module: "types".to_owned(), name: "TracebackType".to_owned(), is_for_checking: false };
            Some(Annotation { text: "TracebackType | None".to_owned(), imports: vec![traceback] })
        }
        ("__getattr__" | "__getattribute__" | "__setattr__" | "__delattr__" | "__format__", 1) => Some(plain("str")),
        ("__set_name__", 1) => Some(plain("type")),
        ("__set_name__", 2) => Some(plain("str")),
        _ => None,
    }
}
