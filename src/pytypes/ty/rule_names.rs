//! Rules under the names that newer releases of ty give them.
//!
//! Owns the table of renamed, split and new rules, up to ty 0.0.108. A project whose settings are written for a newer ty is checked as
//! its settings say. Does not own comments (`newer_ignores`).

use std::collections::BTreeMap;

use super::api::{Diagnostic as RuffDiagnostic, Severity};
use crate::pytypes::options::Level;

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

/// Rules that still exist next to the newer ones that took a part of what they report.
const KEPT: &[&str] = &["invalid-dataclass", "invalid-type-guard-definition"];

/// Rules that the embedded release has under no name. They cannot be checked, so their level has no effect.
const NEWER: &[&str] = &["renamed-rule-in-ignore-comment"];

/// Rule that a name in the settings refers to.
pub(super) enum RuleName<'n> {
    /// The rule of this name.
    Rule(&'n str),
    /// The rule that newer releases split: the name refers to a part of what it reports.
    Part(&'static str),
    /// A rule that a newer release has.
    Newer,
}

/// `is_known`: whether the embedded release has a rule of that name.
pub(super) fn named<'n>(name: &'n str, is_known: impl Fn(&str) -> bool) -> RuleName<'n> {
    if is_known(name) {
        return RuleName::Rule(name);
    }
    if let Some((_, older)) = RENAMED.iter().find(|(newer, older)| *newer == name && is_known(older)) {
        return if parts(older).len() > 1 { RuleName::Part(older) } else { RuleName::Rule(older) };
    }
    if NEWER.contains(&name) { RuleName::Newer } else { RuleName::Rule(name) }
}

/// Names of the rules into which newer releases split one.
pub(super) fn parts(rule: &str) -> Vec<&'static str> {
    let newer = RENAMED.iter().filter(|(_, older)| *older == rule).map(|(newer, _)| *newer);
    newer.chain(KEPT.iter().copied().filter(|kept| *kept == rule)).collect()
}

/// Whether a diagnostic of a split rule can be one of this part. Where messages do not tell parts apart, each can.
pub(super) fn can_report(part: &str, found: &RuffDiagnostic) -> bool {
    let message = found.headline_message();
    let is_of_generator = || {
        let mut notes = found.sub_diagnostics().iter().map(|note| note.headline_message());
        notes.any(|note| note.starts_with("Function is inferred as returning"))
    };
    let starts_with = |words: &str| message.starts_with(words);
    let is_of_text = starts_with("Non-literal") || message.trim_end_matches('.').ends_with("key of type `str`");
    match part {
        "missing-union-attribute" => message.contains(" in union `"),
        "missing-attribute" => !message.contains(" in union `"),
        "missing-module-member" => starts_with("Module `"),
        "import-not-found" => !starts_with("Module `"),
        "invalid-implicit-return" => message.contains("implicitly return"),
        "invalid-explicit-return" => !message.contains("implicitly return") && !is_of_generator(),
        "invalid-generator-return-type" => is_of_generator(),
        "non-literal-typed-dict-key" => is_of_text,
        "invalid-typed-dict-key" => !is_of_text && !starts_with("Unpacked argument"),
        "unknown-typed-dict-constructor-key" => starts_with("Unknown key") || starts_with("Unpacked argument"),
        _ => match part.strip_prefix("mismatched-").and_then(|rest| rest.strip_suffix("-name")) {
            Some(kind) => {
                let constructor = message.split('`').nth(1).unwrap_or_default().to_lowercase();
                let kind = kind.replace('-', "");
                constructor == kind
                    || constructor == format!("{kind}type")
                    || (kind == "enum" && constructor.ends_with("enum"))
            }
            None => true,
        },
    }
}

/// Gives each diagnostic the highest level of the parts that may report it. Those to ignore are removed.
pub(super) fn with_levels_of_parts(
    levels: &BTreeMap<&'static str, Level>,
    found: Box<[RuffDiagnostic]>,
) -> Box<[RuffDiagnostic]> {
    if levels.is_empty() {
        return found;
    }
    let leveled = |mut one: RuffDiagnostic| {
        let names = parts(one.id().as_str()).into_iter();
        let names = names.filter(|name| can_report(name, &one));
        match names.filter_map(|name| levels.get(name)).max() {
            Some(Level::Ignore) => return None,
            Some(Level::Warn) => one.set_severity(Severity::Warning),
            Some(Level::Error) => one.set_severity(Severity::Error),
            None => {}
        }
        Some(one)
    };
    found.into_vec().into_iter().filter_map(leveled).collect()
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
        assert!(KEPT.iter().all(|name| is_known(name) && parts(name).len() > 1));
    }
}
