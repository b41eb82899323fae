//! Rules under the names that newer releases of ty give them.
//!
//! Owns the table of renamed, split and new rules, up to ty 0.0.108. A project whose settings are written for a newer ty is checked as
//! its settings say.

/// A newer name, with the name in the embedded release.
const RENAMED: &[(&str, &str)] = &[
    ("abstract-class-instantiation", "call-non-callable"),
    ("abstract-method-call", "call-abstract-method"),
    ("call-to-function-with-unknown-signature", "call-top-callable"),
    ("disjoint-type-is-narrowing", "invalid-type-guard-definition"),
    ("implicit-string-concatenation-in-annotation", "implicit-concatenated-string-type-annotation"),
    ("import-not-found", "unresolved-import"),
    ("incompatible-attribute-override", "invalid-attribute-override"),
    ("incompatible-method-override", "invalid-method-override"),
    ("incompatible-mutable-override", "invalid-mutable-override"),
    ("incompatible-property-override", "invalid-property-type-override"),
    ("inconsistent-overload-decorator", "invalid-overload"),
    ("inconsistent-overload-implementation", "invalid-overload"),
    ("invalid-dataclass-field-order", "dataclass-field-order"),
    ("invalid-dataclass-post-init", "invalid-dataclass"),
    ("invalid-explicit-return", "invalid-return-type"),
    ("invalid-generator-return-type", "invalid-return-type"),
    ("invalid-implicit-return", "invalid-return-type"),
    ("invalid-implicit-return-in-function-with-stub-body", "empty-body"),
    ("invalid-typed-dict-key", "invalid-key"),
    ("lost-keyword-for-regular-parameter", "invalid-method-override"),
    ("mismatched-enum-name", "mismatched-type-name"),
    ("mismatched-namedtuple-name", "mismatched-type-name"),
    ("mismatched-newtype-name", "mismatched-type-name"),
    ("mismatched-paramspec-name", "mismatched-type-name"),
    ("mismatched-type-alias-name", "mismatched-type-name"),
    ("mismatched-typeddict-name", "mismatched-type-name"),
    ("mismatched-typevar-name", "mismatched-type-name"),
    ("mismatched-typevartuple-name", "mismatched-type-name"),
    ("misplaced-overload-decorator", "invalid-overload"),
    ("missing-attribute", "unresolved-attribute"),
    ("missing-module-member", "unresolved-import"),
    ("missing-overload-implementation", "invalid-overload"),
    ("missing-union-attribute", "unresolved-attribute"),
    ("non-literal-typed-dict-key", "invalid-key"),
    ("not-callable", "call-non-callable"),
    ("single-overload", "invalid-overload"),
    ("suspicious-type-is-narrowing", "invalid-type-guard-definition"),
    ("unknown-typed-dict-constructor-key", "invalid-key"),
    ("unsound-return", "unsound-return-statement"),
];

/// Rules that the embedded release has under no name. They cannot be checked, so their level has no effect.
const NEWER: &[&str] = &["renamed-rule-in-ignore-comment"];

/// Rule that a name in the settings refers to.
pub(super) enum RuleName<'n> {
    /// The rule of this name.
    Rule(&'n str),
    /// A rule that a newer release has.
    Newer,
}

/// `is_known`: whether the embedded release has a rule of that name.
pub(super) fn named<'n>(name: &'n str, is_known: impl Fn(&str) -> bool) -> RuleName<'n> {
    if is_known(name) {
        return RuleName::Rule(name);
    }
    if let Some((_, older)) = RENAMED.iter().find(|(newer, older)| *newer == name && is_known(older)) {
        return RuleName::Rule(older);
    }
    if NEWER.contains(&name) { RuleName::Newer } else { RuleName::Rule(name) }
}

#[cfg(test)]
mod tests {
    use crate::pytypes::ty::api::default_lint_registry;

    use super::*;

    #[test]
    fn every_renamed_rule_is_one_of_the_embedded_release_and_no_newer_name_is() {
        let is_known = |name: &str| default_lint_registry().get(name).is_ok();
        for (newer, older) in RENAMED {
            assert!(!is_known(newer) && is_known(older), "{newer} {older}");
        }
        assert!(NEWER.iter().all(|name| !is_known(name)));
    }
}
