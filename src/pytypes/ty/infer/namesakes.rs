//! Parameters about which only the name is known.
//!
//! Owns the class that all annotated parameters of that name have in common, if it is a class of the project. It counts
//! only when there is no other evidence.

use std::collections::{BTreeMap, HashMap};

use super::importing::is_of_project;
use super::parameters::{NO_ARGUMENT, UNKNOWN_ARGUMENT};
use super::shape::{Evidence, Shape};
use super::slots::{self, Parameter, SlotSource};
use super::{FileState, Inference, InferenceRun, Key, concluded};
use crate::pytypes::ty::api::{
    Definition, HasType, ProgramEnvironment, SemanticDb as _, SemanticModel, Type, TypeDefinition, UnionType,
    parsed_module,
};
use crate::pytypes::ty::checker_panics::caught;
use crate::pytypes::ty::db::Database;
use crate::pytypes::values::Confidence;

/// Fewer agree by chance.
const MIN_NAMESAKES: usize = 3;

impl InferenceRun<'_> {
    /// Annotations for parameters whose only evidence is their namesakes.
    pub(super) fn namesakes(&self, texts: &[FileState]) -> BTreeMap<Key, Inference> {
        let db = self.trial.db();
        let of_file = |text: &FileState| {
            let program_file = db.program_file(text.file);
            let parsed = parsed_module(db, program_file.python_file(db)).load(db);
            (SemanticModel::new(db, program_file), parsed)
        };
        let files: Vec<_> = texts.iter().map(of_file).collect();
        let slots: Vec<_> = files.iter().map(|(_, parsed)| slots::find(parsed.suite())).collect();
        let mut by_name: HashMap<&str, Vec<Type<'_>>> = HashMap::new();
        for ((model, _), slots) in files.iter().zip(&slots) {
            for slot in slots {
                let SlotSource::Parameter(function, Parameter { is_variadic: false, .. }) = &slot.of else { continue };
                let mut all = function.parameters.iter_non_variadic_params();
                let annotation = all.find(|one| one.parameter.name.as_str() == slot.name);
                let annotation = annotation.and_then(|one| one.parameter.annotation.as_deref());
                if let Some(declared) = annotation.and_then(|one| caught(|| one.inferred_type(model)).ok()?) {
                    by_name.entry(&slot.name).or_default().push(declared);
                }
            }
        }
        let mut found = BTreeMap::new();
        for (number, (text, ((model, _), slots))) in texts.iter().zip(files.iter().zip(&slots)).enumerate() {
            let environment = model.program_environment();
            for (at, slot) in slots.iter().enumerate() {
                let reason = text.reasons.get(&at).map(String::as_str);
                let is_open = text.states[at].is_open && !text.found.contains_key(&at);
                if !is_open || slot.kind != slots::Kind::Parameter {
                    continue;
                }
                let Some(declared) = by_name.get(slot.name.as_str()).filter(|all| all.len() >= MIN_NAMESAKES) else {
                    continue;
                };
                let mut classes = declared.iter().map(|one| without_none(db, &environment, *one));
                let Some(first) = classes.next().filter(|first| classes.all(|one| one == *first)) else { continue };
                let Some(class) = class_of_project(db, &environment, first) else { continue };
                let is_named_so = class.name(db).is_some_and(|class| is_named_after(&slot.name, &class));
                let is_unknown = match reason {
                    Some(NO_ARGUMENT) => true,
                    // Some other type is passed, too.
                    Some(UNKNOWN_ARGUMENT) => is_named_so,
                    _ => false,
                };
                if !is_unknown {
                    continue;
                }
                let evidence = Evidence {
                    inferred: Shape::Plain(first),
                    explanation: format!("{} parameters of the same name", declared.len()),
                    confidence: Confidence::Medium,
                };
                let inferred = concluded(|| self.inference(db, model, evidence, slot, &HashMap::new()));
                let inferred = inferred.ok().filter(|one| text.rejected.get(&at) != Some(&one.annotation.text));
                found.extend(inferred.map(|one| ((number, at), one)));
            }
        }
        found
    }
}

/// The definition of a class of the project, if that is what the type is an instance of.
fn class_of_project<'db>(
    db: &'db Database,
    environment: &ProgramEnvironment<'db>,
    instance: Type<'db>,
) -> Option<Definition<'db>> {
    let Type::NominalInstance(_) = instance else { return None };
    match instance.definition(db, environment)? {
        TypeDefinition::StaticClass(class) => Some(class).filter(|class| is_of_project(db, *class)),
        _ => None,
    }
}

fn without_none<'db>(db: &'db Database, environment: &ProgramEnvironment<'db>, declared: Type<'db>) -> Type<'db> {
    match declared {
        Type::Union(union) => {
            let rest = union.elements(db).iter().copied().filter(|member| !member.is_none(db));
            UnionType::from_elements(db, environment, rest)
        }
        one => one,
    }
}

/// Whether a parameter is called as its class: `frame`, `parent_frame` and `Frame`.
fn is_named_after(name: &str, class: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").to_lowercase();
    let class = plain(class);
    let words: Vec<&str> = name.split('_').collect();
    (0..words.len()).any(|at| words[at..].concat().to_lowercase() == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_may_have_the_name_of_its_class() {
        assert!(is_named_after("frame", "Frame"));
        assert!(is_named_after("eval_context", "EvalContext"));
        assert!(is_named_after("parent_frame", "Frame"));
        assert!(!is_named_after("frames", "Frame"));
        assert!(!is_named_after("name", "Frame"));
    }
}
