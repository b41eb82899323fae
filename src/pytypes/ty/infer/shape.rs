//! Evidence as a value: a type, what it is based on, and how sure it is.
//!
//! Owns the forms that a type may take in an annotation. Does not own how evidence is collected (`evidence`, `parameters`).

use super::annotation::Annotation;
use super::calls::Calls;
use super::handed_on::Tested;
use super::overridden::Below;
use super::values::last_name;
use crate::pytypes::ty::api::{Type, ast};
use crate::pytypes::values::Confidence;

/// A type with an explanation of what it is based on.
pub(super) struct Evidence<'db> {
    pub inferred: Shape<'db>,
    pub explanation: String,
    pub confidence: Confidence,
}

pub(super) enum Shape<'db> {
    Plain(Type<'db>),
    /// The types of values that are returned or assigned.
    Returned(Type<'db>),
    /// The types of values that callers pass: what the parameter accepts may be wider.
    Passed(Type<'db>, Tested),
    /// The type of a default that no call confirms.
    Default(Type<'db>, Tested),
    /// The type of what calls pass, and that of a default that is only a marker.
    PassedOr(Type<'db>, Type<'db>),
    /// The type that a generator yields.
    Yields(Type<'db>, Generated),
    /// The type that a generator delegates to.
    YieldsFrom(Type<'db>, Generated),
    /// `list[…]`, `set[…]` or `dict[…]` of the types that are put into an empty one later.
    Filled(&'static str, Vec<Type<'db>>),
    /// The type of the receiver.
    Receiver,
    /// An annotation that is used as written.
    Written(Annotation),
}

/// The type that calling a generator function returns, as far as its callers need it.
#[derive(Clone, Copy)]
pub(super) enum Generated {
    Iterator,
    AsyncIterator,
    /// `contextlib` deprecates iterators.
    ContextManager,
    AsyncContextManager,
}

impl Generated {
    pub fn new(function: &ast::StmtFunctionDef) -> Self {
        let decorators = || function.decorator_list.iter().filter_map(|one| last_name(&one.expression));
        match function.is_async {
            false if decorators().any(|name| name == "contextmanager") => Self::ContextManager,
            true if decorators().any(|name| name == "asynccontextmanager") => Self::AsyncContextManager,
            false => Self::Iterator,
            true => Self::AsyncIterator,
        }
    }

    pub fn annotation(self, yielded: Annotation) -> Annotation {
        let none = || Annotation { text: "None".to_owned(), imports: Vec::new() };
        let (name, inner) = match self {
            Self::Iterator => ("Iterator", vec![yielded]),
            Self::AsyncIterator => ("AsyncIterator", vec![yielded]),
            Self::ContextManager => ("Generator", vec![yielded, none(), none()]),
            Self::AsyncContextManager => ("AsyncGenerator", vec![yielded, none()]),
        };
        Annotation::generic(name, Some("collections.abc"), inner)
    }
}

/// Evidence from the rest of the project about the functions of a file.
pub(super) struct Context<'db> {
    pub calls: Calls<'db>,
    pub below: Below<'db>,
}
