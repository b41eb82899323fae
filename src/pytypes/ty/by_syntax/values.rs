//! Values of an expression, as far as the syntax shows them.
//!
//! Owns the sets of such values, and what an annotation makes of them.

use super::super::class_members::{Class, Member};
use crate::pytypes::ty::api::File;

/// A value that an expression can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Instance(Class),
    Class(Class),
    Function(Member),
    Module(File),
}

/// Values that an expression can have, except for those without members of the project, such as literals.
#[derive(Debug)]
pub(super) struct Values {
    pub known: Vec<Value>,
    pub is_complete: bool,
}

impl Values {
    pub const fn unknown() -> Self {
        Self { known: Vec::new(), is_complete: false }
    }

    pub const fn nothing() -> Self {
        Self { known: Vec::new(), is_complete: true }
    }

    pub fn one(value: Value) -> Self {
        Self { known: vec![value], is_complete: true }
    }

    fn add(&mut self, other: Self) {
        self.is_complete &= other.is_complete;
        for one in other.known {
            if !self.known.contains(&one) {
                self.known.push(one);
            }
        }
    }

    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::nothing();
        parts.into_iter().for_each(|part| all.add(part));
        all
    }

    /// The values of an annotation that names a class.
    pub fn instances(mut self) -> Self {
        for one in &mut self.known {
            if let Value::Class(class) = *one {
                *one = Value::Instance(class);
            }
        }
        self
    }

    /// The values of `type[…]` of an annotation.
    pub fn classes(mut self) -> Self {
        for one in &mut self.known {
            if let Value::Instance(class) = *one {
                *one = Value::Class(class);
            }
        }
        self
    }
}
