//! Known types of values.
//!
//! Owns which types are known, which are mocks, and what `Self` stands for. Does not own what follows for a slot (`evidence`).

use std::collections::HashMap;

use crate::pytypes::ty::api::{
    Definition, Expr, FilePath, ProgramEnvironment, SemanticDb, SemanticModel, Type, TypeDefinition, UnionType,
};

/// The classes that types `Self@method` stand for.
pub(super) type Receivers<'db> = HashMap<Type<'db>, Definition<'db>>;

/// `Self` if the type is `Self` or `type[Self]`.
pub(super) fn own_variable<'db>(
    db: &'db dyn SemanticDb,
    environment: &ProgramEnvironment<'db>,
    known: Type<'db>,
) -> Option<Type<'db>> {
    let variable = match known {
        Type::TypeVar(_) => known,
        Type::SubclassOf(class) => Type::TypeVar(class.into_type_var()?),
        _ => return None,
    };
    // The other type variables have a definition.
    variable.definition(db, environment).is_none().then_some(variable)
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

/// The type unless it is unknown. A member of unknown type is left for the annotation to reject.
pub(super) fn known<'db>(
    db: &'db dyn SemanticDb,
    model: &SemanticModel<'db>,
    inferred: Option<Type<'db>>,
) -> Option<Type<'db>> {
    let inferred = inferred?;
    match inferred {
        Type::Dynamic(_) | Type::Divergent(_) => None,
        Type::Intersection(_) => known_part(db, &model.program_environment(), inferred),
        inferred => Some(inferred),
    }
}

/// The known part of a type: a union without its unknown members, the class that a check established for an unknown value.
pub(super) fn known_part<'db>(
    db: &'db dyn SemanticDb,
    environment: &ProgramEnvironment<'db>,
    inferred: Type<'db>,
) -> Option<Type<'db>> {
    let is_unknown = |one: &Type<'db>| matches!(one, Type::Dynamic(_) | Type::Divergent(_));
    match inferred {
        Type::Union(union) => {
            let members = union.elements(db).iter();
            let part: Vec<_> = members.filter_map(|one| known_part(db, environment, *one)).collect();
            (!part.is_empty()).then(|| UnionType::from_elements(db, environment, part))
        }
        Type::Intersection(all) => {
            let positive: Vec<Type<'db>> = all.iter_positive(db).collect();
            if !positive.iter().any(is_unknown) {
                return Some(inferred);
            }
            match positive.into_iter().filter(|one| !is_unknown(one)).collect::<Vec<_>>()[..] {
                [only] => Some(only),
                _ => None,
            }
        }
        inferred => (!is_unknown(&inferred)).then_some(inferred),
    }
}

/// Whether a type is a mock, which replaces an object of any other type.
pub(super) fn is_mock<'db>(
    db: &'db dyn SemanticDb,
    environment: &ProgramEnvironment<'db>,
    inferred: Type<'db>,
) -> bool {
    if let Type::Union(union) = inferred {
        return union.elements(db).iter().any(|one| is_mock(db, environment, *one));
    }
    let Some(TypeDefinition::StaticClass(class)) = inferred.definition(db, environment) else { return false };
    match class.file(db).path(db) {
        FilePath::Vendored(path) => path.as_str().ends_with("unittest/mock.pyi"),
        FilePath::System(path) => path.as_str().contains("/site-packages/mock/"),
        FilePath::SystemVirtual(_) => false,
    }
}
