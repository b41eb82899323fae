//! Style of results on a terminal: colours, links from paths to their files, and the folder where paths begin.
//!
//! Owns when colours and links are used: `--color` and `--hyperlink`, else the variables and the terminal. The text is
//! the same without them. Paths begin at the current folder, as compilers print them: those below it are relative,
//! others absolute. Formats for other programs and readers (JSON, patches, Markdown, pictures) name paths from the
//! root.

use std::io::IsTerminal;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::terminal_text::sequence;
use crate::config::Environment;
use crate::error::Error;
use crate::model::{Span, printable};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    /// Whether what goes to a place is coloured.
    pub(super) fn colors(self, environment: &Environment, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => wants_colors(environment, is_terminal),
        }
    }
}

/// Colours as ripgrep has them: paths, lines, matches.
const PATH: &str = "35";
const LINE: &str = "32";
const MATCH: &str = "1;31";
const NAME: &str = "36";

#[derive(Clone, Debug, Default)]
pub(super) struct Paint {
    pub colored: bool,
    /// Where paths lead to files: the machine, for a terminal that shows another's.
    links: Option<String>,
    /// The current folder.
    folder: Option<PathBuf>,
    /// Where relative paths of answers begin.
    root: Option<PathBuf>,
}

impl Paint {
    /// `root` is the root of the repository whose answers are printed, if there is only one.
    pub(super) fn new(
        color: ColorChoice,
        hyperlink: ColorChoice,
        environment: &Environment,
        root: Option<PathBuf>,
    ) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let colored = color.colors(environment, is_terminal);
        let linked = match hyperlink {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && follows_links(environment),
        };
        let folder = environment.working_folder().map(Path::to_owned);
        Self { colored, links: linked.then(host), folder, root }
    }

    /// A path of an answer, as it is printed; not escaped.
    pub(super) fn shown(&self, path: &str) -> String {
        let (Some(folder), Some(absolute)) = (&self.folder, self.absolute(path)) else { return path.to_owned() };
        match absolute.strip_prefix(folder) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => absolute.to_string_lossy().into_owned(),
        }
    }

    /// The file that a path in an answer names. A published repository has no files on this disk.
    fn absolute(&self, path: &str) -> Option<PathBuf> {
        match &self.root {
            // Without the `.` that stands for the root itself.
            Some(root) => Some(root.join(path).components().collect()),
            None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
        }
    }

    /// A sentence that may name files of the repository, with their paths as they are printed.
    pub(super) fn sentence(&self, text: &str) -> String {
        if self.folder == self.root {
            return text.to_owned();
        }
        let words: Vec<String> = text.split(' ').map(|word| self.word(word)).collect();
        words.join(" ")
    }

    fn word(&self, word: &str) -> String {
        let is_around = |c: char| "`'\"(),;:?".contains(c);
        let start = word.len() - word.trim_start_matches(is_around).len();
        let is_file = |root: &PathBuf, path: &str| root.join(path).starts_with(root) && root.join(path).is_file();
        // Behind a path may be a line, and the end of the sentence.
        let ends = word.match_indices([':', '`', '\'', '"', ')', ',', ';', '?', '.']).map(|(at, _)| at);
        for end in [word.len()].into_iter().chain(ends.collect::<Vec<_>>().into_iter().rev()) {
            let Some(path) = word.get(start..end).filter(|path| path.contains(['/', '.'])) else { continue };
            if self.root.as_ref().is_some_and(|root| is_file(root, path)) {
                return format!("{}{}{}", &word[..start], self.shown(path), &word[end..]);
            }
        }
        word.to_owned()
    }

    /// An error with the paths in it as they are printed.
    pub(super) fn shown_from_here(&self, mut error: Error) -> Error {
        error.message = error.message.map_text(|text| self.sentence(text));
        error.hint = error.hint.map(|hint| hint.map_text(|text| self.sentence(text)));
        error
    }

    /// Text that quotes places as the checker prints them: ` --> path:1:2`.
    pub(super) fn quoted(&self, line: &str) -> String {
        let marked = [" --> ", " ::: "].into_iter().find_map(|mark| line.split_once(mark).map(|(a, b)| (a, mark, b)));
        let Some((before, mark, span)) = marked.filter(|(before, ..)| before.trim().is_empty()) else {
            return line.to_owned();
        };
        let is_place = |rest: &str| {
            let rest = rest.strip_prefix("cell ").and_then(|rest| rest.split_once(':')).map_or(rest, |(_, rest)| rest);
            rest.split(':').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let end = span.match_indices(':').map(|(at, _)| at).find(|at| is_place(&span[at + 1..]));
        let (path, rest) = span.split_at(end.unwrap_or(span.len()));
        format!("{before}{mark}{}{rest}", self.shown(path))
    }

    /// Text in a colour; it is safe for a terminal already.
    pub(super) fn in_color(&self, color: &str, text: &str) -> String {
        if !self.colored || text.is_empty() {
            return text.to_owned();
        }
        format!("{}{text}{}", sequence(&format!("[{color}m")), sequence("[0m"))
    }

    /// A name next to a position.
    pub(super) fn name(&self, text: &str) -> String {
        self.in_color(NAME, &printable(text))
    }

    /// A path as an answer has it: relative to the repository, or absolute.
    pub(super) fn path(&self, path: &str) -> String {
        self.linked(path, self.in_color(PATH, &printable(&self.shown(path))))
    }

    /// `path:12:3`
    pub(super) fn position(&self, path: &str, numbers: &[u32]) -> String {
        let mut text = self.in_color(PATH, &printable(&self.shown(path)));
        for (at, number) in numbers.iter().enumerate() {
            let number = number.to_string();
            text.push(':');
            text += &if at == 0 { self.in_color(LINE, &number) } else { number };
        }
        self.linked(path, text)
    }

    /// A location for a person; in a notebook, the line is relative to the cell.
    pub(super) fn location(&self, Span { file, cell, line, column, .. }: &Span) -> String {
        match cell {
            Some(cell) => {
                let (file, line) = (self.path(file), self.in_color(LINE, &line.to_string()));
                format!("{file}:cell {cell}:{line}:{column}")
            }
            None => self.position(file, &[*line, *column]),
        }
    }

    /// A location for another program.
    pub(super) fn plain_location(&self, Span { file, cell, line, column, .. }: &Span) -> String {
        let cell = cell.map_or_else(String::new, |cell| format!("cell {cell}:"));
        format!("{}:{cell}{line}:{column}", self.shown(file))
    }

    /// A line with its matches marked; tabs are four blanks.
    pub(super) fn matches(&self, line: &str, matches: &[Range<usize>]) -> String {
        let shown = |text: &str| printable(&text.replace('\t', "    "));
        if !self.colored {
            return shown(line);
        }
        let (mut text, mut done) = (String::new(), 0);
        for found in matches {
            let (Some(before), Some(inside)) = (line.get(done..found.start), line.get(found.clone())) else { continue };
            text += &shown(before);
            text += &self.in_color(MATCH, &shown(inside));
            done = found.end;
        }
        text + &shown(line.get(done..).unwrap_or_default())
    }

    fn linked(&self, path: &str, text: String) -> String {
        let (Some(host), Some(path)) = (&self.links, self.absolute(path)) else { return text };
        let link = format!("]8;;file://{host}{}", encoded(&path.to_string_lossy()));
        let end = sequence("\\");
        format!("{}{end}{text}{}{end}", sequence(&link), sequence("]8;;"))
    }
}

/// Decides on colors by the rules of <https://no-color.org> and <https://bixense.com/clicolors>.
fn wants_colors(environment: &Environment, is_terminal: bool) -> bool {
    let says = |name: &str| environment.get(name).is_some_and(|value| value != "0");
    if environment.get("NO_COLOR").is_some() {
        return false;
    }
    let is_dumb = environment.get("TERM") == Some("dumb");
    says("CLICOLOR_FORCE") || (is_terminal && !is_dumb && environment.get("CLICOLOR") != Some("0"))
}

/// Programs that set `TERM_PROGRAM` and open links in what they show.
const PROGRAMS: &[&str] =
    &["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "terminology", "rio", "Tabby", "zed", "kitty"];
/// Terminals that are known by `TERM`.
const TERMINALS: &[&str] = &["xterm-kitty", "alacritty", "foot", "xterm-ghostty", "wezterm", "rio"];
/// First version of GNOME's terminal library that shows links: 0.50.
const VTE: u32 = 5_000;
/// First version of KDE's terminal that shows links: 20.12.
const KONSOLE: u32 = 201_200;

fn follows_links(environment: &Environment) -> bool {
    let number = |name: &str| environment.get(name).and_then(|value| value.parse::<u32>().ok()).unwrap_or(0);
    let is_one_of = |name: &str, known: &[&str]| {
        environment.get(name).is_some_and(|value| known.iter().any(|known| value.starts_with(known)))
    };
    // A multiplexer keeps the variables of the terminal that it was started in, and may show another.
    let is_inside = environment.get("TMUX").is_some() || is_one_of("TERM", &["screen", "tmux"]);
    !is_inside
        && environment.get("TERM") != Some("dumb")
        && (is_one_of("TERM_PROGRAM", PROGRAMS)
            || is_one_of("TERM", TERMINALS)
            || number("VTE_VERSION") >= VTE
            || number("KONSOLE_VERSION") >= KONSOLE
            || ["WT_SESSION", "DOMTERM"].iter().any(|name| environment.get(name).is_some()))
}

/// The name of this machine, where it is easily had; a link without one means the machine of the terminal.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    Some(name.trim().to_owned()).filter(|name| is_name(name)).unwrap_or_default()
}

/// A path as part of a URI.
pub(super) fn encoded(path: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(path, KEPT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::terminal_text;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment::new(variables, "/home/x".into(), "/home/x".into())
    }

    #[test]
    fn variables_decide_over_the_terminal() {
        let colored = |variables: &[(&str, &str)], is_terminal| wants_colors(&environment(variables), is_terminal);
        assert!(colored(&[("TERM", "xterm")], true));
        assert!(!colored(&[("TERM", "xterm")], false));
        assert!(!colored(&[("TERM", "dumb")], true));
        assert!(!colored(&[("NO_COLOR", "1")], true));
        assert!(colored(&[("NO_COLOR", "")], true));
        assert!(!colored(&[("CLICOLOR", "0")], true));
        assert!(colored(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!colored(&[("CLICOLOR_FORCE", "0")], false));
        assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true));
    }

    #[test]
    fn links_are_for_terminals_that_follow_them() {
        let linked = |variables: &[(&str, &str)]| follows_links(&environment(variables));
        assert!(linked(&[("TERM", "xterm-kitty")]));
        assert!(linked(&[("VTE_VERSION", "7200"), ("TERM", "xterm-256color")]));
        assert!(linked(&[("KONSOLE_VERSION", "220400")]));
        assert!(linked(&[("TERM_PROGRAM", "vscode")]));
        assert!(!linked(&[("VTE_VERSION", "4800")]));
        assert!(!linked(&[("KONSOLE_VERSION", "191200")]));
        assert!(!linked(&[("TERM", "xterm-256color")]));
        assert!(!linked(&[("TERM", "tmux-256color"), ("VTE_VERSION", "7200")]));
        assert!(!linked(&[]));
    }

    #[test]
    fn what_is_quoted_can_neither_end_a_link_nor_colour_by_itself() {
        let root = Some("/r".into());
        let paint = Paint { colored: true, links: Some("h".to_owned()), folder: root.clone(), root };
        let path = "a\u{1b}]8;;\u{7} b.rs";
        let painted = paint.path(path);
        let shown = terminal_text::line(&painted, true);
        assert!(shown.starts_with("\u{1b}]8;;file://h/r/a%1B%5D8%3B%3B%07%20b.rs\u{1b}\\"), "{shown:?}");
        assert_eq!(shown.matches('\u{1b}').count(), 6, "{shown:?}");
        assert_eq!(
            terminal_text::line(&paint.matches("x\u{1b}[5m\ty", std::slice::from_ref(&(0..1))), true),
            "\u{1b}[1;31mx\u{1b}[0m\\u{1b}[5m    y"
        );
    }

    #[test]
    fn paths_begin_at_the_current_folder() {
        let at = |folder: &str| Paint { folder: Some(folder.into()), root: Some("/r".into()), ..Paint::default() };
        let paint = at("/r/sub");
        for (path, shown) in [("sub", "."), (".", "/r"), ("subway/a.py", "/r/subway/a.py")] {
            assert_eq!(paint.path(path), shown);
        }
        for (path, shown) in [("sub/a.py", "a.py"), ("a.py", "/r/a.py"), ("/lib/a.py", "/lib/a.py")] {
            assert_eq!(paint.position(path, &[1]), format!("{shown}:1"));
            assert_eq!(paint.quoted(&format!("  --> {path}:1:2")), format!("  --> {shown}:1:2"));
            assert_eq!(paint.quoted(&format!(" ::: {path}:cell 3:1:2")), format!(" ::: {shown}:cell 3:1:2"));
        }
        assert_eq!(paint.quoted("1 | x --> sub/a.py:1:2"), "1 | x --> sub/a.py:1:2");
        assert_eq!(at("/r").quoted(" --> a.py:1:2"), " --> a.py:1:2");
        let of_several = Paint { root: None, ..at("/r") };
        for (path, shown) in [("/r/a.py", "a.py"), ("/q/a.py", "/q/a.py"), ("org:pay/a.py", "org:pay/a.py")] {
            assert_eq!(of_several.path(path), shown);
        }
    }

    #[test]
    fn without_colours_a_line_is_the_text() {
        assert_eq!(Paint::default().matches("a b", std::slice::from_ref(&(0..1))), "a b");
        assert_eq!(Paint::default().position("a.rs", &[3, 1]), "a.rs:3:1");
    }
}
