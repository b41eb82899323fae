//! The exports of a script, and their names.
//!
//! Owns the forms of exports in JavaScript and TypeScript, CommonJS included. What imports them is for `query` to say.

use super::syntax::{Node, ROOT, Syntax};

/// One exported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptExport {
    /// `default` for the default export, and for what `module.exports` is.
    pub name: Box<str>,
    /// Name in the file, or in the file that it is taken from.
    pub local: Box<str>,
    /// Whether it is taken from another file.
    pub is_passed_on: bool,
}

/// The name of a default export without one.
const DEFAULT: &str = "default";

/// The exports of a text under names that are written.
pub(super) fn script_exports(syntax: &Syntax, text: &str) -> Vec<ScriptExport> {
    let mut found = Vec::new();
    let kind = |name: &str| syntax.grammar().id_for_node_kind(name, true);
    let (statement, assignment) = (kind("export_statement"), kind("assignment_expression"));
    for node in syntax.nodes() {
        if syntax.kind(node) == statement {
            Exports { syntax, text, found: &mut found }.statement(node);
        } else if syntax.kind(node) == assignment {
            Exports { syntax, text, found: &mut found }.assignment(node);
        }
    }
    found
}

struct Exports<'a> {
    syntax: &'a Syntax,
    text: &'a str,
    found: &'a mut Vec<ScriptExport>,
}

impl<'a> Exports<'a> {
    fn text(&self, node: Node) -> &'a str {
        &self.text[self.syntax.range(node)]
    }

    fn field(&self, node: Node, name: &str) -> Option<Node> {
        self.syntax.child(node, self.syntax.grammar().field_id_for_name(name)?)
    }

    fn add(&mut self, name: &str, local: &str, is_passed_on: bool) {
        let plain = |name: &str| -> Box<str> { name.trim_matches(['"', '\'']).into() };
        self.found.push(ScriptExport { name: plain(name), local: plain(local), is_passed_on });
    }

    fn statement(&mut self, node: Node) {
        let is_passed_on = self.field(node, "source").is_some();
        let children: Vec<Node> = self.syntax.children(node).collect();
        for child in &children {
            if self.syntax.kind_name(*child) != "export_clause" {
                continue;
            }
            let specifiers: Vec<Node> = self.syntax.children(*child).collect();
            for specifier in specifiers {
                let Some(local) = self.field(specifier, "name") else { continue };
                let name = self.field(specifier, "alias").unwrap_or(local);
                self.add(self.text(name), self.text(local), is_passed_on);
            }
        }
        let is_default = children.iter().any(|child| matches!(self.text(*child), "default" | "="));
        if !is_default {
            return;
        }
        let value = self
            .field(node, "value")
            .or_else(|| self.field(node, "declaration"))
            .or_else(|| children.iter().copied().rfind(|child| self.syntax.kind_name(*child) == "identifier"));
        if let Some(value) = value {
            self.default(value, DEFAULT);
        }
    }

    /// `module.exports = …`, `exports.a = …`.
    fn assignment(&mut self, node: Node) {
        let (Some(left), Some(right)) = (self.field(node, "left"), self.field(node, "right")) else { return };
        let left = self.text(left);
        if left == "module.exports" {
            return self.default(right, "exports");
        }
        let name = left.strip_prefix("module.exports.").or_else(|| left.strip_prefix("exports."));
        let Some(name) = name.filter(|name| !name.contains(['.', '[', '('])) else { return };
        if let Some(local) = self.name_of(right) {
            self.add(name, local, false);
        }
    }

    /// The default export; `unnamed` is what the symbol of one without a name is called.
    fn default(&mut self, value: Node, unnamed: &str) {
        if self.syntax.kind_name(value) != "object" {
            let local = self.name_of(value).unwrap_or(unnamed);
            return self.add(DEFAULT, local, false);
        }
        let parts: Vec<Node> = self.syntax.children(value).collect();
        for part in parts {
            match self.syntax.kind_name(part) {
                "shorthand_property_identifier" => self.add(self.text(part), self.text(part), false),
                "pair" => {
                    let (Some(key), Some(value)) = (self.field(part, "key"), self.field(part, "value")) else {
                        continue;
                    };
                    if let Some(local) = self.name_of(value) {
                        self.add(self.text(key), local, false);
                    }
                }
                _ => {}
            }
        }
    }

    /// The name of a value: of a variable, or of a function or class that has one.
    fn name_of(&self, value: Node) -> Option<&'a str> {
        match self.syntax.kind_name(value) {
            "identifier" => Some(self.text(value)),
            _ => self.field(value, "name").map(|name| self.text(name)),
        }
    }
}

/// Whether a tree is one of a script.
pub(super) fn is_script(syntax: &Syntax) -> bool {
    syntax.kind_name(ROOT) == "program" && syntax.grammar().id_for_node_kind("export_statement", true) != 0
}
