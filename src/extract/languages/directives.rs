//! C headers of nothing but directives: the register maps that are a third of a kernel.
//!
//! Owns the tree of such a text, which is that of the grammar to the byte, without a parser: `#define`, `#include`,
//! `#undef`, `#ifdef` to `#endif`, and comments. Whatever else a text has is left to the grammar, and so is each form
//! that the grammar reads in a way of its own (blanks behind a name without a value, a comment before more of the
//! line).

use std::num::NonZeroU16;
use std::ops::Range;
use std::sync::OnceLock;

use super::super::syntax::{Rows, Syntax};

/// What the grammar calls the nodes of such a text.
struct Kinds {
    grammar: tree_sitter::Language,
    root: u16,
    comment: u16,
    identifier: u16,
    define: Directive,
    define_macro: Directive,
    include: Directive,
    call: u16,
    directive: u16,
    ifdef: Directive,
    ifndef: Directive,
    alternative: Directive,
    endif: u16,
    value: u16,
    parameters: u16,
    open: u16,
    comma: u16,
    close: u16,
    rest: u16,
    string: u16,
    quote: u16,
    string_content: u16,
    system_path: u16,
    name_field: Option<NonZeroU16>,
    value_field: Option<NonZeroU16>,
    parameters_field: Option<NonZeroU16>,
    path_field: Option<NonZeroU16>,
    directive_field: Option<NonZeroU16>,
    argument_field: Option<NonZeroU16>,
    alternative_field: Option<NonZeroU16>,
}

/// A directive's node, and the word it begins with.
#[derive(Clone, Copy)]
struct Directive {
    node: u16,
    word: u16,
}

impl Kinds {
    fn of(grammar: tree_sitter::Language) -> Self {
        let named = |name: &str| grammar.id_for_node_kind(name, true);
        let token = |text: &str| grammar.id_for_node_kind(text, false);
        let field = |name: &str| grammar.field_id_for_name(name);
        let directive = |node: &str, word: &str| Directive { node: named(node), word: token(word) };
        Self {
            root: named("translation_unit"),
            comment: named("comment"),
            identifier: named("identifier"),
            define: directive("preproc_def", "#define"),
            define_macro: directive("preproc_function_def", "#define"),
            include: directive("preproc_include", "#include"),
            call: named("preproc_call"),
            directive: named("preproc_directive"),
            ifdef: directive("preproc_ifdef", "#ifdef"),
            ifndef: directive("preproc_ifdef", "#ifndef"),
            alternative: directive("preproc_else", "#else"),
            endif: token("#endif"),
            value: named("preproc_arg"),
            parameters: named("preproc_params"),
            open: token("("),
            comma: token(","),
            close: token(")"),
            rest: token("..."),
            string: named("string_literal"),
            quote: token("\""),
            string_content: named("string_content"),
            system_path: named("system_lib_string"),
            name_field: field("name"),
            value_field: field("value"),
            parameters_field: field("parameters"),
            path_field: field("path"),
            directive_field: field("directive"),
            argument_field: field("argument"),
            alternative_field: field("alternative"),
            grammar,
        }
    }
}

/// The tree of a text of directives and comments; `None` for every other.
pub(super) fn read(text: &str) -> Option<Syntax> {
    static KINDS: OnceLock<Kinds> = OnceLock::new();
    u32::try_from(text.len()).ok()?;
    let kinds = KINDS.get_or_init(|| Kinds::of(tree_sitter_c::LANGUAGE.into()));
    let mut reader = Reader {
        kinds,
        text: text.as_bytes(),
        at: 0,
        rows: Rows::default(),
        open: Vec::new(),
        done: 0,
        comments: Vec::new(),
    };
    reader.whole()?;
    Some(Syntax::laid_out(&kinds.grammar, reader.rows))
}

/// A conditional that is not closed yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    First,
    Alternative,
}

struct Reader<'t> {
    kinds: &'static Kinds,
    text: &'t [u8],
    at: usize,
    rows: Rows,
    open: Vec<Branch>,
    /// Where the last directive ends.
    done: usize,
    /// Behind that directive; not yet known to be in its branch, since those before an `#endif` are in none.
    comments: Vec<Range<usize>>,
}

impl Reader<'_> {
    fn whole(&mut self) -> Option<()> {
        self.skip_blanks(true);
        self.rows.open(self.kinds.root, None, self.at..self.text.len());
        let mut directives = 0;
        while let Some(byte) = self.peek() {
            match byte {
                b'/' => {
                    let comment = self.comment()?;
                    self.comments.push(comment);
                }
                b'#' => {
                    self.directive()?;
                    directives += 1;
                }
                _ => return None,
            }
            self.skip_blanks(true);
        }
        self.settle_comments();
        self.rows.close();
        (directives > 0 && self.open.is_empty()).then_some(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self, lines_too: bool) {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t') || (lines_too && matches!(byte, b'\n' | b'\r'));
        self.at += self.rest().iter().take_while(|byte| is_blank(byte)).count();
    }

    fn settle_comments(&mut self) {
        for comment in self.comments.drain(..) {
            self.rows.leaf(self.kinds.comment, None, comment);
        }
    }

    fn comment(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let length = match self.rest() {
            [b'/', b'/', line @ ..] => {
                let length = memchr::memchr(b'\n', line).unwrap_or(line.len());
                // A backslash may join the next line to this one.
                (!line[..length].contains(&b'\\')).then_some(length + 2)?
            }
            [b'/', b'*', inner @ ..] => memchr::memmem::find(inner, b"*/")? + 4,
            _ => return None,
        };
        self.at += length;
        Some(start..self.at)
    }

    /// A name of ASCII.
    fn name(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let length = self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let is_name = length > 0 && !self.rest()[0].is_ascii_digit();
        self.at += length;
        (is_name && self.peek().is_none_or(|byte| byte.is_ascii() && byte != b'$' && byte != b'\\'))
            .then_some(start..self.at)
    }

    fn take(&mut self, wanted: u8) -> Option<Range<usize>> {
        (self.peek() == Some(wanted)).then(|| {
            self.at += 1;
            self.at - 1..self.at
        })
    }

    /// The end of a directive's line, with a comment before it at most.
    fn end_of_line(&mut self) -> Option<()> {
        let before = self.at;
        self.skip_blanks(false);
        if self.at > before && self.peek()? != b'/' {
            return None;
        }
        if self.peek() == Some(b'/') {
            let comment = self.comment()?;
            self.rows.leaf(self.kinds.comment, None, comment);
        }
        self.take(b'\r');
        self.take(b'\n').map(drop)
    }

    fn directive(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        self.skip_blanks(false);
        let word = self.name()?;
        let hash = start..word.end;
        if self.text[word.clone()] != *b"endif" {
            self.settle_comments();
        }
        match &self.text[word] {
            b"define" => self.define(hash),
            b"include" => self.include(hash),
            b"undef" => self.undefine(hash),
            b"ifdef" => self.condition(self.kinds.ifdef, hash),
            b"ifndef" => self.condition(self.kinds.ifndef, hash),
            b"else" => self.otherwise(hash),
            b"endif" => self.end(hash),
            _ => None,
        }?;
        self.done = self.at;
        Some(())
    }

    /// Blanks, then a name.
    fn spaced_name(&mut self) -> Option<Range<usize>> {
        let before = self.at;
        self.skip_blanks(false);
        if self.at == before { None } else { self.name() }
    }

    fn define(&mut self, hash: Range<usize>) -> Option<()> {
        let name = self.spaced_name()?;
        let takes_parameters = self.peek() == Some(b'(');
        let Directive { node, word } = if takes_parameters { self.kinds.define_macro } else { self.kinds.define };
        self.rows.open(node, None, hash.clone());
        self.rows.leaf(word, None, hash);
        self.rows.leaf(self.kinds.identifier, self.kinds.name_field, name);
        if takes_parameters {
            self.parameters()?;
        }
        if !matches!(self.peek()?, b'\n' | b'\r') {
            let before = self.at;
            self.skip_blanks(false);
            match self.rest() {
                [] | [b'\n' | b'\r' | b'\\', ..] => return None,
                [b'/', b'/' | b'*', ..] => {}
                [b'/', ..] => return None,
                // White space that is not a blank.
                [first, ..] if !first.is_ascii_graphic() => return None,
                _ if self.at == before && !takes_parameters => return None,
                _ => self.value(self.kinds.value_field)?,
            }
        }
        self.end_of_line()?;
        self.rows.close_at(self.at);
        Some(())
    }

    /// The rest of the line and of those joined to it, up to a comment.
    fn value(&mut self, field: Option<NonZeroU16>) -> Option<()> {
        let start = self.at;
        loop {
            match self.rest() {
                [] | [b'/' | b'\\'] | [b'/', b'\n' | b'\\', ..] | [b'\\', b'\r' | b'\\', ..] => return None,
                [b'\n', ..] | [b'/', b'*', ..] => break,
                [b'/' | b'\\', _, ..] => self.at += 2,
                more => self.at += 1 + memchr::memchr3(b'\n', b'/', b'\\', &more[1..]).unwrap_or(more.len() - 1),
            }
        }
        self.rows.leaf(self.kinds.value, field, start..self.at);
        Some(())
    }

    fn parameters(&mut self) -> Option<()> {
        let kinds = self.kinds;
        let open = self.take(b'(')?;
        self.rows.open(kinds.parameters, kinds.parameters_field, open.clone());
        self.rows.leaf(kinds.open, None, open);
        self.skip_blanks(false);
        while self.peek()? != b')' {
            if self.rest().starts_with(b"...") {
                self.rows.leaf(kinds.rest, None, self.at..self.at + 3);
                self.at += 3;
            } else {
                let name = self.name()?;
                self.rows.leaf(kinds.identifier, None, name);
            }
            self.skip_blanks(false);
            if self.peek()? != b')' {
                let comma = self.take(b',')?;
                self.rows.leaf(kinds.comma, None, comma);
                self.skip_blanks(false);
                self.peek().filter(|byte| *byte != b')')?;
            }
        }
        let close = self.take(b')')?;
        self.rows.leaf(kinds.close, None, close);
        self.rows.close_at(self.at);
        Some(())
    }

    fn include(&mut self, hash: Range<usize>) -> Option<()> {
        let kinds = self.kinds;
        self.skip_blanks(false);
        let start = self.at;
        let closing = match self.peek()? {
            b'"' => b'"',
            b'<' => b'>',
            _ => return None,
        };
        let inner = &self.text[start + 1..];
        let length = memchr::memchr3(closing, b'\n', b'\\', inner)?;
        let has_comment = inner[..length].windows(2).any(|pair| matches!(pair, b"//" | b"/*"));
        if inner[length] != closing || length == 0 || has_comment {
            return None;
        }
        self.at = start + length + 2;
        self.rows.open(kinds.include.node, None, hash.clone());
        self.rows.leaf(kinds.include.word, None, hash);
        if closing == b'"' {
            self.rows.open(kinds.string, kinds.path_field, start..self.at);
            self.rows.leaf(kinds.quote, None, start..start + 1);
            self.rows.leaf(kinds.string_content, None, start + 1..self.at - 1);
            self.rows.leaf(kinds.quote, None, self.at - 1..self.at);
            self.rows.close();
        } else {
            self.rows.leaf(kinds.system_path, kinds.path_field, start..self.at);
        }
        self.end_of_line()?;
        self.rows.close_at(self.at);
        Some(())
    }

    fn undefine(&mut self, hash: Range<usize>) -> Option<()> {
        let kinds = self.kinds;
        let before = self.at;
        self.skip_blanks(false);
        if self.at == before || !self.peek()?.is_ascii_alphanumeric() && self.peek()? != b'_' {
            return None;
        }
        self.rows.open(kinds.call, None, hash.clone());
        self.rows.leaf(kinds.directive, kinds.directive_field, hash);
        self.value(kinds.argument_field)?;
        self.end_of_line()?;
        self.rows.close_at(self.at);
        Some(())
    }

    fn condition(&mut self, directive: Directive, hash: Range<usize>) -> Option<()> {
        let name = self.spaced_name()?;
        self.rows.open(directive.node, None, hash.clone());
        self.rows.leaf(directive.word, None, hash);
        self.rows.leaf(self.kinds.identifier, self.kinds.name_field, name);
        self.open.push(Branch::First);
        Some(())
    }

    fn otherwise(&mut self, hash: Range<usize>) -> Option<()> {
        let branch = self.open.last_mut().filter(|branch| **branch == Branch::First)?;
        *branch = Branch::Alternative;
        let Directive { node, word } = self.kinds.alternative;
        self.rows.open(node, self.kinds.alternative_field, hash.clone());
        self.rows.leaf(word, None, hash);
        Some(())
    }

    fn end(&mut self, hash: Range<usize>) -> Option<()> {
        if self.open.pop()? == Branch::Alternative {
            self.rows.close_at(self.done);
        }
        self.settle_comments();
        self.rows.leaf(self.kinds.endif, None, hash);
        self.rows.close_at(self.at);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::super::syntax::Syntax;

    fn equal_trees(text: &str) -> bool {
        let Some(ours) = super::read(text) else { return false };
        let grammars = Syntax::of(&tree_sitter_c::LANGUAGE.into(), text).expect("a text that is parsed");
        if let Some(difference) = ours.first_difference(&grammars) {
            panic!("{difference} of {text:?}");
        }
        true
    }

    #[test]
    fn the_tree_of_directives_is_the_grammars() {
        let texts = [
            "\n/* a\n map */\n#ifndef _A_H\n#define _A_H\n// one\n#define mmONE 0x1\n#define ONE__MASK\t0x00L // last\n\n#endif\n",
            "#define A 1 /* one */\n#define B(x, ...) do_it(x, \\\n\t__VA_ARGS__)\n#define C( )(1)\n# define D -1\r\n#undef D\n",
            "#include <linux/a.h>\n#include \"a/b.h\" // why\n#ifdef A\n#define B A / 2\n/* in */\n#else /* not A */\n#define B 0 \n// behind\n#endif // A\n// end",
            "#ifdef A\n#else\n/* nothing */\n#endif\n#ifdef B\n#ifndef C\n#define D \"a//b\"\n#endif\n#else\n#ifdef E\n#endif\n/* x */\n#endif",
            "#define \u{e9} 1\n",
        ];
        for text in &texts[..4] {
            assert!(equal_trees(text), "{text}");
        }
        assert!(!equal_trees(texts[4]));
    }

    /// Lines put together at random; most texts have one that is left to the grammar.
    #[test]
    fn no_text_is_read_otherwise_than_by_the_grammar() {
        let pieces = [
            "#define A",
            "#define B 0x10",
            "# define C(a,b) a + b",
            "#define int long",
            "#define D(x) ",
            "#define",
            "#define E\t",
            "#ifdef A",
            "#ifndef B",
            "#else",
            "#endif",
            "#endif /* A */",
            "#else // B",
            "#ifdef A // why",
            "#elif C",
            "#if 1",
            "/* one\n two */",
            "// three",
            "// three \\",
            "/**/",
            "/***/ ",
            "#undef A",
            "#undef A /* b */",
            "#pragma once",
            "#include <a.h>",
            "#include \"b.h\"",
            "#include MACRO",
            "#include \"\"",
            "#define F(a, ...) a \\\n b",
            "#define G /* x */ 1",
            "#define H 1 /* x */",
            "#define I 1 /* x */ ",
            "#define J 1 /* x\n y */",
            "#define K a//b",
            "#define L a/b",
            "#define M a/",
            "#define N \\",
            "#define O '/*'",
            "#define P //*/",
            "#define Q(a) (a)",
            "#define R()",
            "#define S(a)b",
            "#define T\\\n 1",
            "#define U \u{e9}",
            "",
            " ",
            "\t#define V 1",
            "int x;",
            "#define W$ 1",
            "#define X-1",
            "#define Y (a)",
            "#define Z\u{e9} 1",
            "#define AA 1 \\\n /* a */",
            "#define AB\r",
            "#define AC a\\b",
            "#define AD(a,) a",
            "#define AE( a , b ) a",
            "#define AF(a b) a",
            "#define AG 1\u{c}",
            "\u{c}",
            "#define AH /",
            "#define AI(a...) a",
        ];
        let (mut state, mut read) = (0x2545_f491_4f6c_dd1du64, 0);
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        for _ in 0..60_000 {
            let mut text = String::new();
            for _ in 0..=random(6) {
                text += pieces[random(pieces.len())];
                text += ["\n", "\n", "\n", "\n", "\n", "\r\n", "\n\n", ""][random(8)];
            }
            read += usize::from(equal_trees(&text));
        }
        assert!(read > 3_000, "only {read} texts of directives");
    }

    /// The kernel's headers that come with a C compiler, or those in `IXMCP_SYNTAX_TREE`.
    #[test]
    fn real_headers_are_read_as_by_the_grammar() {
        let tree = std::env::var("IXMCP_SYNTAX_TREE").unwrap_or_else(|_| "/usr/include/linux".to_owned());
        let mut open = vec![Path::new(&tree).to_owned()];
        let (mut files, mut read) = (0, 0);
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let kind = entry.file_type().unwrap();
                let path = entry.path();
                if kind.is_dir() {
                    open.push(path);
                } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "h") {
                    let Ok(text) = fs::read_to_string(&path) else { continue };
                    files += 1;
                    read += usize::from(equal_trees(&text));
                }
            }
        }
        eprintln!("{read} of {files} headers are read without the grammar");
        assert!(read > 20, "{read} of {files} headers in {tree}");
    }
}
