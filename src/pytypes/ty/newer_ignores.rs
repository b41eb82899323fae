//! Ignore comments that name a rule as newer releases of ty do.
//!
//! Owns which diagnostics such a comment suppresses: the checker knows only the names of its own release, and reports others as
//! unknown. Does not own the names (`rule_names`).

use super::api::{
    Diagnostic as RuffDiagnostic, ProgramFile, Ranged, SemanticDb, TextLen, TextRange, TextSize, Token, TokenKind,
    default_lint_registry, parsed_module, source_text,
};
use super::rule_names::{self, RuleName};

/// A rule in an ignore comment, under a newer name.
struct Ignore<'t> {
    /// The range of the name.
    name: TextRange,
    written: &'t str,
    /// The rule's name in the embedded release, if that has it.
    rule: Option<&'t str>,
    /// A diagnostic that begins or ends there is suppressed.
    suppressed: TextRange,
}

impl Ignore<'_> {
    fn suppresses(&self, found: &RuffDiagnostic) -> bool {
        let Some(range) = found.range() else { return false };
        let id = found.id().as_str();
        let is_unknown = id == "ignore-comment-unknown-rule" && range == self.name;
        let is_covered = self.suppressed.contains(range.start()) || self.suppressed.contains_inclusive(range.end());
        is_unknown || (self.rule == Some(id) && is_covered && rule_names::can_report(self.written, found))
    }
}

/// Removes what comments with newer names suppress.
pub(super) fn apply(db: &dyn SemanticDb, file: ProgramFile<'_>, found: Box<[RuffDiagnostic]>) -> Box<[RuffDiagnostic]> {
    let source = file.file(db);
    let text = source_text(db, source);
    if found.is_empty() || !text.contains("ignore[") {
        return found;
    }
    let parsed = parsed_module(db, file.python_file(db)).load(db);
    let ignores = ignores(&text, parsed.tokens(), db.analysis_settings(source).respect_type_ignore_comments);
    if ignores.is_empty() {
        return found;
    }
    let is_left = |one: &RuffDiagnostic| !ignores.iter().any(|ignore| ignore.suppresses(one));
    found.into_vec().into_iter().filter(is_left).collect()
}

fn ignores<'t>(text: &'t str, tokens: &[Token], respects_type_ignore: bool) -> Vec<Ignore<'t>> {
    let mut ignores = Vec::new();
    let (mut line_start, mut is_at_top) = (TextSize::default(), true);
    for (at, token) in tokens.iter().enumerate() {
        is_at_top &= token.kind().is_trivia();
        match token.kind() {
            TokenKind::Newline | TokenKind::NonLogicalNewline => line_start = token.end(),
            TokenKind::Comment => {
                for Named { name, range, is_type_ignore, comment_start } in names(text, token.range()) {
                    let is_known = |name: &str| default_lint_registry().get(name).is_ok();
                    let rule = match rule_names::named(name, is_known) {
                        RuleName::Newer => None,
                        RuleName::Part(rule) => Some(rule),
                        RuleName::Rule(rule) if rule != name => Some(rule),
                        RuleName::Rule(_) => continue,
                    };
                    if is_type_ignore && !respects_type_ignore {
                        continue;
                    }
                    let before = &text[..token.start().to_usize()];
                    let is_alone = before.rsplit('\n').next().is_some_and(|before| before.trim().is_empty());
                    let suppressed = if is_at_top {
                        TextRange::up_to(text.text_len())
                    } else if is_alone && !is_type_ignore {
                        TextRange::new(comment_start, end_of_next(tokens, at))
                    } else {
                        TextRange::new(line_start, token.end())
                    };
                    ignores.push(Ignore { name: range, written: name, rule, suppressed });
                }
            }
            _ => {}
        }
    }
    ignores
}

/// A name in the brackets of an ignore comment.
struct Named<'t> {
    name: &'t str,
    range: TextRange,
    is_type_ignore: bool,
    comment_start: TextSize,
}

/// The names in a comment: `# ty: ignore[a, b]`, `# type: ignore[ty:a]`, also after another comment on the line.
fn names(text: &str, comment: TextRange) -> Vec<Named<'_>> {
    let (start, comment) = (comment.start().to_usize(), &text[comment]);
    let size = |at: usize| TextSize::try_from(at).unwrap_or_default();
    let mut names = Vec::new();
    for (at, _) in comment.match_indices('#') {
        let rest = comment[at + 1..].trim_start();
        let (rest, is_type_ignore) = match (rest.strip_prefix("type"), rest.strip_prefix("ty")) {
            (Some(rest), _) => (rest, true),
            (None, Some(rest)) => (rest, false),
            (None, None) => continue,
        };
        let list = rest.trim_start().strip_prefix(':').and_then(|rest| rest.trim_start().strip_prefix("ignore["));
        let Some((list, _)) = list.and_then(|list| list.split_once(']')).filter(|(list, _)| !list.contains('#')) else {
            continue;
        };
        let mut from = start + list.as_ptr().addr() - comment.as_ptr().addr();
        for item in list.split(',') {
            let code = item.trim();
            let code_start = from + item.len() - item.trim_start().len();
            from += item.len() + 1;
            let name = if is_type_ignore { code.strip_prefix("ty:") } else { Some(code) };
            let range = TextRange::new(size(code_start), size(code_start + code.len()));
            names.extend(name.map(|name| Named { name, range, is_type_ignore, comment_start: size(start + at) }));
        }
    }
    names
}

/// Where the code ends that a comment on a line of its own is about: the next logical line, or within one the next line with
/// code.
fn end_of_next(tokens: &[Token], comment: usize) -> TextSize {
    let before = tokens[..comment].iter().rev().find(|token| !token.kind().is_trivia());
    let is_inside = before.is_some_and(|token| token.kind() != TokenKind::Newline);
    let mut end = tokens[comment].end();
    let (mut has_code, mut is_past_comment) = (false, false);
    for token in &tokens[comment..] {
        match token.kind() {
            TokenKind::Newline => return token.start(),
            TokenKind::Comment => {}
            TokenKind::NonLogicalNewline if is_inside => {
                end = token.start();
                if is_past_comment && has_code {
                    return end;
                }
                (has_code, is_past_comment) = (false, true);
            }
            _ => {
                has_code = true;
                end = token.end();
            }
        }
    }
    end
}
