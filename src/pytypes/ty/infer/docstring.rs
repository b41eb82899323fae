//! Types from docstrings in the styles of Sphinx, Epydoc, Google and NumPy.
//!
//! Owns reading them. Prose is not a type: only text that parses as an annotation with classes known in the file
//! counts. Types that are found must still pass the type checker.

use super::annotation::Annotation;
use crate::pytypes::ty::api::{
    AnyNodeRef, DefinitionKind, Expr, ImportAliasResolution, ResolvedDefinition, SemanticModel, Stmt, ast,
    definitions_for_name, parse_expression, parsed_module,
};
use crate::pytypes::ty::db::Database;

/// The documented type of a parameter. `is_optional`: `None` is passed too.
pub(super) fn of_parameter(
    db: &Database,
    model: &SemanticModel<'_>,
    function: &ast::StmtFunctionDef,
    name: &str,
    is_optional: bool,
) -> Option<Annotation> {
    let text = of_function(function)?;
    let mut annotation = annotation(db, model, &parameter(&text, name)?)?;
    if is_optional && !annotation.text.split(" | ").any(|member| member == "None") {
        annotation.text.push_str(" | None");
    }
    Some(annotation)
}

/// Whether the docstring says that a parameter may be `None`.
pub(super) fn allows_none(function: &ast::StmtFunctionDef, name: &str) -> bool {
    let written = of_function(function).and_then(|text| parameter(&text, name));
    written.is_some_and(|written| normalized(&written).split('|').any(|member| member.trim() == "None"))
}

/// The documented type of the returned value.
pub(super) fn returned(
    db: &Database,
    model: &SemanticModel<'_>,
    function: &ast::StmtFunctionDef,
) -> Option<Annotation> {
    annotation(db, model, &return_type(&of_function(function)?)?)
}

fn of_function(function: &ast::StmtFunctionDef) -> Option<String> {
    match function.body.first()? {
        Stmt::Expr(one) => Some(one.value.as_string_literal_expr()?.value.to_str().to_owned()),
        _ => None,
    }
}

/// Fields of Sphinx (8.1, Python domain) and Epydoc (3.0) that document a parameter.
const PARAMETER_FIELDS: [&str; 6] = ["param", "parameter", "arg", "argument", "key", "keyword"];
/// Titles of sections about parameters, of Google's style guide, Napoleon (Sphinx 8.1) and numpydoc (1.8).
const PARAMETER_SECTIONS: [&str; 8] = [
    "Parameters",
    "Other Parameters",
    "Args:",
    "Arguments:",
    "Parameters:",
    "Other Parameters:",
    "Keyword Args:",
    "Keyword Arguments:",
];

/// The type that a docstring gives for a parameter, as written there.
fn parameter(text: &str, name: &str) -> Option<String> {
    // `:type name: str`, `:param str name: …`, `@type name: str`
    let of_field = fields(text).find_map(|(field, argument, written)| match argument.rsplit_once(' ') {
        None if field == "type" && argument == name => Some(written),
        Some((declared, named)) if named == name && PARAMETER_FIELDS.contains(&field) => Some(declared),
        _ => None,
    });
    if let Some(written) = of_field {
        return Some(written.trim().to_owned());
    }
    for line in section(text, &PARAMETER_SECTIONS) {
        // `name (str): …`
        let starred = line.trim().trim_start_matches('*');
        if let Some(rest) = starred.strip_prefix(name)
            && let Some(rest) = rest.trim_start().strip_prefix('(')
        {
            return Some(rest.split_once("):")?.0.trim().to_owned());
        }
        // `name : str`, `name, *other : str`
        let separator = if is_numpy(text) { ":" } else { " :" };
        if let Some((names, written)) = line.split_once(separator)
            && names.split(',').any(|one| one.trim().trim_start_matches('*') == name)
        {
            return Some(written.trim().to_owned());
        }
    }
    None
}

/// The fields `:name argument: text` of Sphinx and `@name argument: text` of Epydoc, of one line each.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    text.lines().filter_map(|line| {
        let (head, text) = line.trim().strip_prefix([':', '@'])?.split_once(':')?;
        let (name, argument) = head.split_once(' ').unwrap_or((head, ""));
        Some((name, argument.trim(), text.trim()))
    })
}

fn return_type(text: &str) -> Option<String> {
    if let Some((_, _, written)) = fields(text).find(|(name, argument, _)| *name == "rtype" && argument.is_empty()) {
        return Some(written.to_owned());
    }
    let section = section(text, &["Returns", "Returns:"]);
    let first = section.first()?.trim();
    if is_numpy(text) {
        let written = first.split_once(" : ").map_or(first, |(_, written)| written);
        return Some(written.to_owned());
    }
    Some(first.split_once(": ")?.0.to_owned())
}

fn is_numpy(text: &str) -> bool {
    text.lines().any(|line| line.trim().len() >= 3 && line.trim().chars().all(|c| c == '-'))
}

/// The entries of all sections with one of these titles, a line each.
fn section<'t>(text: &'t str, titles: &[&str]) -> Vec<&'t str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_numpy = is_numpy(text);
    let mut lines = text.lines().peekable();
    let mut found = Vec::new();
    // The indent of the title, and that of the entries.
    let mut levels: Option<(usize, Option<usize>)> = None;
    while let Some(line) = lines.next() {
        let is_underline = |line: &str| line.trim().len() >= 3 && line.trim().chars().all(|c| c == '-');
        if titles.contains(&line.trim()) && (!is_numpy || lines.peek().is_some_and(|next| is_underline(next))) {
            levels = Some((indent(line), None));
            continue;
        }
        let Some((title, entries)) = &mut levels else { continue };
        let is_title = is_numpy && lines.peek().is_some_and(|next| is_underline(next));
        if is_title || (!is_numpy && !line.trim().is_empty() && indent(line) <= *title) {
            levels = None;
            continue;
        }
        // An entry continues in lines that are indented further.
        let is_entry = !line.trim().is_empty() && !is_underline(line);
        if is_entry && indent(line) <= *entries.get_or_insert(indent(line)) {
            found.push(line);
        }
    }
    found
}

/// The annotation for a type as written in a docstring, if it names only known classes.
fn annotation(db: &Database, model: &SemanticModel<'_>, written: &str) -> Option<Annotation> {
    let parsed = parse_expression(&normalized(written)).ok()?;
    let text = Resolver { db, model }.written(parsed.expr())?;
    Some(Annotation { text, imports: Vec::new() })
}

/// `str or None, optional` as `str | None`.
fn normalized(written: &str) -> String {
    let mut text = written.trim().trim_end_matches('.').to_owned();
    for role in [":class:", ":obj:", ":py:class:", "~"] {
        text = text.replace(role, "");
    }
    text = text.replace('`', "").replace(" or ", " | ");
    if let Some(at) = text.find(", optional").or_else(|| text.find(", default")) {
        text.truncate(at);
    }
    for (word, class) in [("list of ", "list"), ("set of ", "set")] {
        if let Some(element) = text.strip_prefix(word) {
            text = format!(
                "{class}[{}]",
                element.trim_end_matches('s').replace("string", "str").replace("integer", "int")
            );
        }
    }
    match text.as_str() {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "boolean" => "bool".to_owned(),
        _ => text,
    }
}

/// Builtin classes that say enough without arguments.
const PLAIN: &[&str] = &["bool", "bytearray", "bytes", "complex", "float", "int", "range", "str"];

/// Builtin classes that need arguments.
const GENERIC: &[&str] = &["dict", "frozenset", "list", "set", "tuple", "type"];

struct Resolver<'a, 'db> {
    db: &'db Database,
    model: &'a SemanticModel<'db>,
}

impl Resolver<'_, '_> {
    fn written(&self, expression: &Expr) -> Option<String> {
        match expression {
            Expr::NoneLiteral(_) => Some("None".to_owned()),
            Expr::EllipsisLiteral(_) => Some("...".to_owned()),
            Expr::Name(name) if PLAIN.contains(&name.id.as_str()) => self.builtin(&name.id),
            Expr::Name(name) => self.class(&name.id),
            Expr::BinOp(ast::ExprBinOp { left, op: ast::Operator::BitOr, right, .. }) => {
                Some(format!("{} | {}", self.written(left)?, self.written(right)?))
            }
            Expr::Subscript(subscript) => {
                let name = subscript.value.as_name_expr()?.id.as_str();
                let inner = match &*subscript.slice {
                    Expr::Tuple(tuple) => {
                        tuple.elts.iter().map(|one| self.written(one)).collect::<Option<Vec<_>>>()?.join(", ")
                    }
                    one => self.written(one)?,
                };
                let name = match name {
                    "Optional" => return Some(format!("{inner} | None")),
                    "List" => "list",
                    "Dict" => "dict",
                    "Set" => "set",
                    "Tuple" => "tuple",
                    name => name,
                };
                let outer = if GENERIC.contains(&name) { self.builtin(name) } else { self.class(name) };
                Some(format!("{}[{inner}]", outer?))
            }
            _ => None,
        }
    }

    fn definitions(&self, name: &str) -> Vec<ResolvedDefinition<'_>> {
        let parsed = parsed_module(self.db, self.model.python_file()).load(self.db);
        let root = AnyNodeRef::from(parsed.syntax());
        definitions_for_name(self.model, name, root, ImportAliasResolution::ResolveAliases)
    }

    /// A builtin that no name of the file hides.
    fn builtin(&self, name: &str) -> Option<String> {
        let is_vendored = |one: &ResolvedDefinition<'_>| {
            one.definition().is_some_and(|definition| definition.file(self.db).path(self.db).is_vendored_path())
        };
        self.definitions(name).iter().all(is_vendored).then(|| name.to_owned())
    }

    /// A class that the file defines or imports.
    fn class(&self, name: &str) -> Option<String> {
        let is_class = |one: &ResolvedDefinition<'_>| {
            one.definition().is_some_and(|definition| matches!(definition.kind(self.db), DefinitionKind::Class(_)))
        };
        let found = self.definitions(name);
        let is_generic = GENERIC.contains(&name) || name == "object";
        (!found.is_empty() && !is_generic && found.iter().all(is_class)).then(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_in_three_styles() {
        let sphinx = "Do it.\n\n:param str name: what\n:param size: how\n:type size: int or None\n:rtype: list[str]\n";
        assert_eq!(parameter(sphinx, "name").as_deref(), Some("str"));
        assert_eq!(parameter(sphinx, "size").map(|one| normalized(&one)).as_deref(), Some("int | None"));
        assert_eq!(return_type(sphinx).as_deref(), Some("list[str]"));
        let google = "Do it.\n\n    Args:\n        name (str): What\n            it is: a name.\n        size (int, optional): How.\n\n    Returns:\n        bool: Whether.\n";
        assert_eq!(parameter(google, "name").as_deref(), Some("str"));
        assert_eq!(parameter(google, "size").map(|one| normalized(&one)).as_deref(), Some("int"));
        assert_eq!(parameter(google, "it"), None);
        assert_eq!(return_type(google).as_deref(), Some("bool"));
        let numpy = "Do it.\n\n    Parameters\n    ----------\n    name : str\n        What it is.\n    size : int, optional\n\n    Returns\n    -------\n    total : float\n        The sum.\n";
        assert_eq!(parameter(numpy, "name").as_deref(), Some("str"));
        assert_eq!(parameter(numpy, "size").map(|one| normalized(&one)).as_deref(), Some("int"));
        assert_eq!(return_type(numpy).as_deref(), Some("float"));
    }

    /// Follows the numpydoc guide ("x1, x2 : array_like"), Napoleon's sections, Sphinx's field lists and Epydoc's manual.
    #[test]
    fn several_names_sections_and_synonyms_of_fields_are_read() {
        let numpy = "Do it.\n\nParameters\n----------\nfirst, *rest : int\n    Numbers.\n\nOther Parameters\n----------------\nsize: str\n\nNotes\n-----\nlater : bytes\n";
        let found = ["first", "rest", "size", "later"].map(|name| parameter(numpy, name));
        assert_eq!(found.each_ref().map(Option::as_deref), [Some("int"), Some("int"), Some("str"), None]);
        let google = "Do it.\n\nArgs:\n    first (int): One.\n\nKeyword Args:\n    size (str): How.\n\nRaises:\n    last (int): No.\n";
        let found = ["first", "size", "last"].map(|name| parameter(google, name));
        assert_eq!(found.each_ref().map(Option::as_deref), [Some("int"), Some("str"), None]);
        let fields = ":arg int first: One.\n:keyword str size: How.\n@type last: int or None\n@rtype: bool\n:raises int other: No.\n";
        let found = ["first", "size", "last", "other"].map(|name| parameter(fields, name));
        assert_eq!(found.each_ref().map(Option::as_deref), [Some("int"), Some("str"), Some("int or None"), None]);
        assert_eq!(return_type(fields).as_deref(), Some("bool"));
    }

    #[test]
    fn prose_has_no_type() {
        assert_eq!(parameter("Takes name (see above).", "name"), None);
        assert_eq!(return_type("Returns the name: a string."), None);
        assert_eq!(parameter(":param name: what", "name"), None);
    }
}
