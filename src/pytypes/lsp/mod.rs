//! The alternative engine: an installed `ty server`, used over the language server protocol.
//!
//! Owns the conversion between our queries and the protocol. Each query opens the file and closes it again, so that no
//! answer is based on an old text. What the protocol does not support (inference, project analysis, notebooks) is
//! answered by the embedded engine, which is opened when it is needed.

mod client;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use self::client::Client;
use super::engine::{Answered, Answerer, Engine, Observer};
use super::values::{
    Answer, Changes, Checked, Definition, Diagnostic, Libraries, Outline, Position, Query, Reference, Renamed, Role,
    Severity, Span, Subject, TextEdit, Typed,
};
use crate::error::{Error, ErrorKind, Result};
use crate::git_layout::Worktrees;
use crate::model::printable;
use crate::pytypes::ty::Embedded;

/// A file name that no project has.
const NO_FILE: &str = ".ixmcp-no-file.py";

pub(super) struct TyServer {
    root: PathBuf,
    program: PathBuf,
    client: Arc<Client>,
    embedded: Option<Embedded>,
}

/// Whether the protocol has no request for a query.
fn needs_embedded(query: &Query) -> bool {
    let is_notebook = |file: &str| Path::new(file).extension().is_some_and(|extension| extension == "ipynb");
    matches!(query, Query::Infer { .. } | Query::InferAll { .. } | Query::Analyze)
        || query.file().is_some_and(is_notebook)
}

impl TyServer {
    pub fn open(root: &Path, program: &Path) -> Result<Self> {
        let client = start(root, program)?;
        Ok(Self { root: root.to_owned(), program: program.to_owned(), client, embedded: None })
    }
}

fn start(root: &Path, program: &Path) -> Result<Arc<Client>> {
    let client = Client::start(program, &["server"], root)?;
    let uri = uri(root);
    let params = json!({
        "processId": std::process::id(),
        "rootUri": uri,
        "workspaceFolders": [{ "uri": uri, "name": "repository" }],
        "capabilities": {
            // Columns count code points, as in our values.
            "general": { "positionEncodings": ["utf-32"] },
            "textDocument": {
                "hover": { "contentFormat": ["plaintext"] },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                "diagnostic": { "dynamicRegistration": false },
            },
            "workspace": { "diagnostics": { "refreshSupport": false } },
        },
        "initializationOptions": { "diagnosticMode": "workspace" },
    });
    let answer = client.request("initialize", &params, &AtomicBool::new(false))?;
    if answer["capabilities"]["positionEncoding"] != "utf-32" {
        return Err(Error::internal("this language server does not support UTF-32 columns")
            .hint("Set python.ty to ty 0.0.74 or newer, or python.engine to embedded."));
    }
    client.notify("initialized", &json!({}));
    Ok(client)
}

impl Engine for TyServer {
    fn apply(&mut self, changes: &Changes) -> Result<()> {
        if let Some(embedded) = &mut self.embedded {
            embedded.apply(changes)?;
        }
        match changes {
            Changes::Everything => self.client = start(&self.root, &self.program)?,
            Changes::Paths(paths) => {
                const CREATED_OR_CHANGED: [u8; 2] = [1, 2];
                const DELETED: [u8; 1] = [3];
                let kinds = |path: &Path| if path.exists() { &CREATED_OR_CHANGED[..] } else { &DELETED[..] };
                let change = |path: &String| {
                    let uri = uri(Path::new(path));
                    kinds(Path::new(path))
                        .iter()
                        .map(move |kind| json!({ "uri": uri, "type": kind }))
                        .collect::<Vec<_>>()
                };
                let changes: Vec<Value> = paths.iter().flat_map(change).collect();
                self.client.notify("workspace/didChangeWatchedFiles", &json!({ "changes": changes }));
            }
        }
        Ok(())
    }

    fn quarantine(&mut self, files: &[String]) -> Result<()> {
        // The server is another process, and this one survives its crash.
        match &mut self.embedded {
            Some(embedded) => embedded.quarantine(files),
            None => Ok(()),
        }
    }

    fn libraries(&self) -> Vec<String> {
        self.embedded.as_ref().map(Engine::libraries).unwrap_or_default()
    }

    fn trim_memory(&mut self) {
        if let Some(embedded) = &mut self.embedded {
            embedded.trim_memory();
        }
    }

    fn answerer(&mut self, query: &Query) -> Result<Box<dyn Answerer>> {
        if needs_embedded(query) {
            if self.embedded.is_none() {
                self.embedded = Some(Embedded::open(&self.root, false)?);
            }
            return self.embedded.as_mut().map_or_else(|| Err(not_answered()), |embedded| embedded.answerer(query));
        }
        if !self.client.is_alive() {
            self.client = start(&self.root, &self.program)?;
        }
        let (root, client) = (self.root.clone(), Arc::clone(&self.client));
        Ok(Box::new(TyServerAnswerer { root, client, is_over: Arc::default() }))
    }
}

struct TyServerAnswerer {
    root: PathBuf,
    client: Arc<Client>,
    is_over: Arc<AtomicBool>,
}

impl Answerer for TyServerAnswerer {
    fn answer(&self, query: &Query, _witness: &dyn Observer) -> Result<Answered> {
        match self.ask(query) {
            Err(error) if error.kind == ErrorKind::Cancelled => Ok(Answered::Cancelled),
            answer => Ok(Answered::Done(Box::new(answer?))),
        }
    }

    fn canceller(&self) -> Box<dyn Fn() + Send + Sync> {
        let is_over = Arc::clone(&self.is_over);
        Box::new(move || is_over.store(true, Ordering::Relaxed))
    }
}

impl TyServerAnswerer {
    fn ask(&self, query: &Query) -> Result<Answer> {
        Ok(match query {
            Query::Check { file: Some(file), .. } => {
                let report = self.with_open(file, |document| {
                    self.request("textDocument/diagnostic", &json!({ "textDocument": document }))
                })?;
                Answer::Check(Checked { diagnostics: self.diagnostics(file, &report), files: 1, ..Checked::default() })
            }
            Query::Check { file: None, within, .. } => self.check_all(within)?,
            Query::TypeAt(at) => Answer::TypeAt { found: self.type_at(at)?.map(Box::new) },
            Query::Symbols { file } => {
                let found = self.with_open(file, |document| {
                    self.request("textDocument/documentSymbol", &json!({ "textDocument": document }))
                })?;
                Answer::Symbols { symbols: found.as_array().into_iter().flatten().map(outline).collect() }
            }
            Query::Definition(at) => {
                let found = self.at(at, "textDocument/definition", &json!({}))?;
                Answer::Definition { definitions: locations(&found).filter_map(|one| self.definition(one)).collect() }
            }
            Query::Subject(at) => {
                let name = self.line(&at.file, at.line).and_then(|line| word(&line, at.column));
                Answer::Subject {
                    found: name.map(|name| Subject { name, is_local: false, classes: Vec::new(), left_out: None }),
                }
            }
            Query::References { at, include_declaration, .. } => {
                let context = json!({ "context": { "includeDeclaration": include_declaration } });
                let found = self.at(at, "textDocument/references", &context)?;
                let mut references: Vec<Reference> = locations(&found).filter_map(|one| self.reference(one)).collect();
                references.sort_by(|a, b| a.span.cmp(&b.span));
                Answer::References { references }
            }
            Query::Rename { at, new_name, .. } => {
                let found = self.at(at, "textDocument/rename", &json!({ "newName": new_name }))?;
                Answer::Rename(Renamed { edits: self.edits(&found), ..Renamed::default() })
            }
            Query::Infer { .. } | Query::InferAll { .. } | Query::Analyze => return Err(not_answered()),
            Query::Files | Query::Imports { .. } => Answer::Files { files: Vec::new() },
            Query::Libraries => Answer::Libraries(Libraries::default()),
        })
    }

    fn request(&self, method: &str, params: &Value) -> Result<Value> {
        self.client.request(method, params, &self.is_over)
    }

    /// Calls `work` while the file is open with its text on disk.
    fn with_open<T>(&self, file: &str, work: impl FnOnce(Value) -> Result<T>) -> Result<T> {
        let text = std::fs::read_to_string(file).map_err(|error| Error::io("read", Path::new(file), error))?;
        let uri = uri(Path::new(file));
        let document = json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
        self.client.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        let done = work(json!({ "uri": uri }));
        self.client.notify("textDocument/didClose", &json!({ "textDocument": { "uri": uri } }));
        done
    }

    fn at(&self, at: &Position, method: &str, more: &Value) -> Result<Value> {
        self.with_open(&at.file, |document| {
            let mut params = json!({
                "textDocument": document,
                "position": { "line": at.line.saturating_sub(1), "character": at.column.saturating_sub(1) },
            });
            for (name, value) in more.as_object().into_iter().flatten() {
                params[name] = value.clone();
            }
            self.request(method, &params)
        })
    }

    fn check_all(&self, within: &[String]) -> Result<Answer> {
        // A server without any findings delays its response until there is one. It responds at once if a file is
        // reported to have had findings before.
        let no_file = uri(&self.root.join(NO_FILE));
        let before = json!({ "previousResultIds": [{ "uri": no_file, "value": "none" }] });
        let reports = self.request("workspace/diagnostic", &before)?;
        let worktrees = Worktrees::of(&self.root);
        let mut checked = Checked::default();
        for report in reports["items"].as_array().into_iter().flatten() {
            let Some(path) = report["uri"].as_str().and_then(path_of) else { continue };
            let is_included = within.is_empty() || within.iter().any(|one| path.starts_with(one));
            let is_of_another = path.strip_prefix(&self.root).is_ok_and(|below| worktrees.hold(&self.root, below));
            if path.ends_with(NO_FILE) || !is_included || is_of_another {
                continue;
            }
            checked.files += 1;
            checked.diagnostics.extend(self.diagnostics(&path.to_string_lossy(), report));
        }
        checked.diagnostics.sort_by(|a, b| (&a.span, &a.code).cmp(&(&b.span, &b.code)));
        Ok(Answer::Check(checked))
    }

    fn diagnostics(&self, file: &str, report: &Value) -> Vec<Diagnostic> {
        let convert = |one: &Value| Diagnostic {
            span: span(self.display_path(Path::new(file)), &one["range"]),
            severity: match one["severity"].as_u64() {
                Some(1) => Severity::Error,
                Some(2) => Severity::Warning,
                _ => Severity::Info,
            },
            code: one["code"].as_str().unwrap_or_default().to_owned(),
            message: one["message"].as_str().unwrap_or_default().to_owned(),
            rendered: None,
            notes: Vec::new(),
        };
        // Hints only change how an editor colours the code.
        const HINT: u64 = 4;
        let items = report["items"].as_array().into_iter().flatten();
        items.filter(|one| one["severity"].as_u64() != Some(HINT)).map(convert).collect()
    }

    fn type_at(&self, at: &Position) -> Result<Option<Typed>> {
        let found = self.at(at, "textDocument/hover", &json!({}))?;
        let Some(text) = found["contents"]["value"].as_str() else { return Ok(None) };
        // The hover text has the type, a separator, and the docstring.
        let mut parts = text.splitn(2, "\n---");
        let display = parts.next().unwrap_or_default().trim().to_owned();
        let docstring = parts.next().map(|rest| rest.trim_start_matches('-').trim().to_owned());
        let span = span(self.display_path(Path::new(&at.file)), &found["range"]);
        let line = self.line(&at.file, span.line).unwrap_or_default();
        let width = span.end_column.saturating_sub(span.column) as usize;
        let expression = line.chars().skip(span.column.saturating_sub(1) as usize).take(width).collect();
        let definitions = self.at(at, "textDocument/definition", &json!({}))?;
        let definition = locations(&definitions).find_map(|one| self.definition(one));
        Ok(Some(Typed { display, expression, span, definition, docstring: docstring.filter(|text| !text.is_empty()) }))
    }

    fn definition(&self, location: &Value) -> Option<Definition> {
        let (path, span) = self.location(location)?;
        let line = self.line(&path.to_string_lossy(), span.line).unwrap_or_default();
        let name = word(&line, span.column).unwrap_or_else(|| stem(&path));
        let trimmed = line.trim_start();
        let kind = match trimmed.split_whitespace().next() {
            _ if span.line == 1 && span.end_column == 1 => "module",
            Some("class") => "class",
            Some("def" | "async") => "function",
            Some("import" | "from") => "import",
            _ => "variable",
        };
        Some(Definition {
            span,
            name,
            kind: kind.to_owned(),
            preview: line.trim().chars().take(200).collect(),
            precision: None,
        })
    }

    fn reference(&self, location: &Value) -> Option<Reference> {
        let (path, span) = self.location(location)?;
        let line = self.line(&path.to_string_lossy(), span.line).unwrap_or_default();
        let role = match line.split_whitespace().next() {
            Some("class" | "def") => Role::Definition,
            Some("import" | "from") => Role::Import,
            _ => Role::Read,
        };
        let preview = line.trim().chars().take(200).collect();
        Some(Reference { span, role: role.name().to_owned(), preview, precision: None })
    }

    fn edits(&self, found: &Value) -> Vec<TextEdit> {
        let by_name = found["changes"].as_object().into_iter().flatten().map(|(uri, edits)| (uri.clone(), edits));
        let by_document = found["documentChanges"].as_array().into_iter().flatten();
        let by_document = by_document
            .filter_map(|change| Some((change["textDocument"]["uri"].as_str()?.to_owned(), &change["edits"])));
        let mut edits = Vec::new();
        for (uri, changes) in by_name.chain(by_document) {
            let Some(path) = path_of(&uri) else { continue };
            for edit in changes.as_array().into_iter().flatten() {
                let new_text = edit["newText"].as_str().unwrap_or_default().to_owned();
                edits.push(TextEdit { span: span(self.display_path(&path), &edit["range"]), new_text });
            }
        }
        edits.sort_by(|a, b| a.span.cmp(&b.span));
        edits
    }

    fn location(&self, location: &Value) -> Option<(PathBuf, Span)> {
        let uri = location.get("targetUri").or(location.get("uri"))?.as_str()?;
        let range = location.get("targetSelectionRange").or(location.get("range"))?;
        let path = path_of(uri)?;
        let span = span(self.display_path(&path), range);
        Some((path, span))
    }

    fn display_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    fn line(&self, file: &str, line: u32) -> Option<String> {
        let text = std::fs::read_to_string(file).ok()?;
        text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?).map(str::to_owned)
    }
}

fn not_answered() -> Error {
    Error::internal("the language server was asked what the embedded engine answers")
}

/// The locations in a response that has one or several.
fn locations(found: &Value) -> impl Iterator<Item = &Value> {
    let several = found.as_array().into_iter().flatten();
    several.chain(found.is_object().then_some(found))
}

fn span(file: String, range: &Value) -> Span {
    let number = |end: &str, name: &str| {
        let number = range[end][name].as_u64().unwrap_or(0).saturating_add(1);
        u32::try_from(number).unwrap_or(u32::MAX)
    };
    Span {
        file,
        cell: None,
        line: number("start", "line"),
        column: number("start", "character"),
        end_line: number("end", "line"),
        end_column: number("end", "character"),
    }
}

fn outline(symbol: &Value) -> Outline {
    let name = span(String::new(), &symbol["selectionRange"]);
    let whole = span(String::new(), &symbol["range"]);
    let kind = match symbol["kind"].as_u64() {
        Some(5) => "class",
        Some(6 | 9) => "method",
        Some(12) => "function",
        Some(7 | 8) => "attribute",
        _ => "variable",
    };
    Outline {
        cell: None,
        name: symbol["name"].as_str().unwrap_or_default().to_owned(),
        kind: kind.to_owned(),
        display: symbol["detail"].as_str().unwrap_or_default().to_owned(),
        line: name.line,
        column: name.column,
        end_line: whole.end_line,
        signature: None,
        children: symbol["children"].as_array().into_iter().flatten().map(outline).collect(),
    }
}

/// The word at a column of a line, or one that ends just before it.
fn word(line: &str, column: u32) -> Option<String> {
    let characters: Vec<char> = line.chars().collect();
    let is_part = |at: usize| characters.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let at = usize::try_from(column).ok()?.checked_sub(1)?;
    let on = if is_part(at) { at } else { at.checked_sub(1).filter(|before| is_part(*before))? };
    let start = (0..=on).rev().take_while(|at| is_part(*at)).last()?;
    Some(characters[start..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect())
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| printable(&stem.to_string_lossy())).unwrap_or_default()
}

fn uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

fn path_of(uri: &str) -> Option<PathBuf> {
    let encoded = uri.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_uris_are_inverse() {
        let path = Path::new("/a b/ü%/c.py");
        assert_eq!(uri(path), "file:///a%20b/%C3%BC%25/c.py");
        assert_eq!(path_of(&uri(path)).as_deref(), Some(path));
    }

    #[test]
    fn a_word_is_found_at_and_just_past_a_position() {
        for column in 3..=7 {
            assert_eq!(word("a name(", column).as_deref(), Some("name"), "{column}");
        }
        assert_eq!(word("a  b", 3), None);
    }
}
