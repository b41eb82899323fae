//! Formulas of MathML and of Word (OMML), in the linear format of Unicode Technical Note 28: `x^2`, `(a+b)/c`, `√(x)`.
//!
//! Owns what separates the parts of a formula, so that a formula has the same text in every format. Does not own where
//! formulas are.

use super::xml::{self, Piece};
use crate::model::SkipReason;

/// Other notations of a formula whose presentation is read, and text that only takes space.
const NOT_SHOWN: &[&str] = &["annotation", "annotation-xml", "mphantom"];
/// Elements with text; white space elsewhere says nothing.
const TOKENS: &[&str] = &["mi", "mn", "mo", "ms", "mtext", "t"];
/// Elements that are nested deeper add their text to that of the element around them, so that depth costs nothing.
const MAX_DEPTH: usize = 64;
const OVERBAR: &str = "¯";
const UNDERBAR: &str = "▁";

/// A formula that is being read.
#[derive(Default)]
pub(super) struct Formula {
    open: Vec<Element>,
    /// Text outside of all elements.
    parts: Vec<Part>,
    /// Open elements below the deepest that is kept.
    deeper: usize,
    /// Open elements with the properties of the element around them.
    properties: usize,
    /// Open elements that are not shown.
    hidden: usize,
}

#[derive(Default)]
struct Element {
    name: String,
    parts: Vec<Part>,
    /// The operator or accent, and the delimiters around and between the parts, where they are stated.
    sign: Option<String>,
    begin: Option<String>,
    between: Option<String>,
    end: Option<String>,
    /// Whether a fraction has no bar, as that of a binomial.
    has_no_bar: bool,
    /// Whether a bar is above its operand.
    is_on_top: bool,
    /// How many parts are before the scripts that are written before the base.
    prescripts: Option<usize>,
}

struct Part {
    text: String,
    /// Whether it continues another run, in the middle of a word.
    is_run: bool,
}

/// The formula of a part that is one in MathML.
pub(super) fn read(part: &str) -> Result<Option<String>, SkipReason> {
    let mut formula = None;
    xml::walk(part, &mut |piece| match (&mut formula, piece) {
        (None, Piece::Open("math", _)) => formula = Some(Formula::default()),
        (Some(formula), piece) => formula.take(&piece),
        _ => {}
    })?;
    Ok(formula.map(Formula::text))
}

impl Formula {
    pub fn take(&mut self, piece: &Piece) {
        match piece {
            Piece::Open(name, attributes) => self.open(name, &|name| attributes.get(name)),
            Piece::Close(name) => self.close(name),
            Piece::Text(text) => self.show(text),
        }
    }

    pub fn is_hidden(&self) -> bool {
        self.hidden > 0
    }

    pub fn open(&mut self, name: &str, value: &dyn Fn(&str) -> Option<String>) {
        self.hidden += usize::from(NOT_SHOWN.contains(&name));
        if self.hidden > 0 {
            return;
        }
        self.properties += usize::from(is_of_properties(name));
        if self.properties > 0 {
            if let Some(element) = self.open.last_mut() {
                match name {
                    "chr" => element.sign = value("val"),
                    "begChr" => element.begin = value("val"),
                    "sepChr" => element.between = value("val"),
                    "endChr" => element.end = value("val"),
                    "pos" => element.is_on_top = value("val").is_some_and(|position| position == "top"),
                    "type" => element.has_no_bar = value("val").is_some_and(|kind| kind == "noBar"),
                    _ => {}
                }
            }
            return;
        }
        if self.deeper > 0 || self.open.len() == MAX_DEPTH {
            self.deeper += 1;
            return;
        }
        let mut element = Element { name: name.to_owned(), ..Element::default() };
        match name {
            "mfenced" => {
                element.begin = value("open");
                element.end = value("close");
                element.between = value("separators").or_else(|| Some(",".to_owned()));
            }
            "mfrac" => {
                element.has_no_bar = value("linethickness")
                    .is_some_and(|width| width.starts_with('0') && !width.contains(|c| matches!(c, '1'..='9')));
            }
            _ => {}
        }
        self.open.push(element);
    }

    pub fn close(&mut self, name: &str) {
        if self.hidden > 0 {
            self.hidden -= usize::from(NOT_SHOWN.contains(&name));
        } else if self.properties > 0 {
            self.properties -= usize::from(is_of_properties(name));
        } else if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(at) = self.open.iter().rposition(|element| element.name == name) {
            self.close_to(at);
        }
    }

    /// Closes the elements from the one at `at` on.
    fn close_to(&mut self, at: usize) {
        while self.open.len() > at
            && let Some(element) = self.open.pop()
        {
            if element.name == "mprescripts" {
                if let Some(around) = self.open.last_mut() {
                    around.prescripts = Some(around.parts.len());
                }
                continue;
            }
            let is_run = element.name == "r";
            let part = Part { text: element.text(), is_run };
            self.parts_open().push(part);
        }
    }

    fn parts_open(&mut self) -> &mut Vec<Part> {
        self.open.last_mut().map_or(&mut self.parts, |element| &mut element.parts)
    }

    pub fn show(&mut self, text: &str) {
        let is_token = self.open.last().is_some_and(|element| TOKENS.contains(&element.name.as_str()));
        if self.hidden == 0 && (is_token || !text.trim().is_empty()) {
            self.parts_open().push(Part { text: text.to_owned(), is_run: true });
        }
    }

    pub fn text(mut self) -> String {
        self.close_to(0);
        row(&self.parts)
    }
}

/// Leaves out operators that are not shown, such as an application of a function.
fn without_hidden(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\u{2061}'..='\u{2064}')).collect()
}

/// Whether an element of Word says in its elements how to set the one around it.
fn is_of_properties(name: &str) -> bool {
    name.ends_with("Pr")
}

impl Element {
    fn text(self) -> String {
        let part = |at: usize| self.parts.get(at).map_or("", |part| part.text.as_str());
        let listed = |between: &str| self.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(between);
        let scripts = |under: &str, over: &str| script('_', under) + &script('^', over);
        let operator = |operator: String, operand: &str| {
            row(&[operator, operand.to_owned()].map(|text| Part { text, is_run: false }))
        };
        match self.name.as_str() {
            "t" => without_hidden(&listed("")),
            name if TOKENS.contains(&name) => {
                without_hidden(&listed("")).split_whitespace().collect::<Vec<_>>().join(" ")
            }
            "mfrac" | "f" => {
                let bar = if self.has_no_bar { "¦" } else { "/" };
                format!("{}{bar}{}", group(part(0)), group(part(1)))
            }
            // A bar or brace over or under an operand is its prefix.
            "mover" | "munder" if let Some(sign) = stretched(part(1), self.name == "mover") => {
                format!("{sign}{}", group(part(0)))
            }
            "acc" if let Some(sign) = self.sign.as_deref().and_then(|sign| stretched(sign, true)) => {
                format!("{sign}{}", group(part(0)))
            }
            "bar" => format!("{}{}", if self.is_on_top { OVERBAR } else { UNDERBAR }, group(part(0))),
            // ECMA-376 (part 1, 22.1.2.20): this brace if none is stated.
            "groupChr" => format!("{}{}", self.sign.as_deref().unwrap_or("⏟"), group(part(0))),
            "mmultiscripts" => {
                let pairs = |from: usize, to: usize| {
                    (from..to).step_by(2).map(|at| scripts(part(at), part(at + 1))).collect::<String>()
                };
                let before = self.prescripts.unwrap_or(self.parts.len());
                operator(pairs(before, self.parts.len()), &(group(part(0)) + &pairs(1, before)))
            }
            "msup" | "mover" | "sSup" | "limUpp" => group(part(0)) + &script('^', part(1)),
            "msub" | "munder" | "sSub" | "limLow" => group(part(0)) + &script('_', part(1)),
            "msubsup" | "munderover" | "sSubSup" => group(part(0)) + &scripts(part(1), part(2)),
            "sPre" => operator(scripts(part(0), part(1)), part(2)),
            // ECMA-376 (part 1, 22.1.2.70): an integral if none is stated.
            "nary" => operator(self.sign.as_deref().unwrap_or("∫").to_owned() + &scripts(part(0), part(1)), part(2)),
            "func" => operator(part(0).to_owned(), part(1)),
            "msqrt" => format!("√({})", row(&self.parts)),
            "mroot" => format!("√({}&{})", part(1), part(0)),
            "rad" if part(0).is_empty() => format!("√({})", part(1)),
            "rad" => format!("√({}&{})", part(0), part(1)),
            "acc" => group(part(0)) + self.sign.as_deref().unwrap_or("\u{302}"),
            "d" | "mfenced" => {
                let sign =
                    |stated: &Option<String>, otherwise: &str| stated.clone().unwrap_or_else(|| otherwise.to_owned());
                let (begin, end) = (sign(&self.begin, "("), sign(&self.end, ")"));
                format!("{begin}{}{end}", listed(&sign(&self.between, "|")))
            }
            "mtr" | "mr" => listed("&"),
            "mtable" | "m" => format!("■({})", listed("@")),
            "eqArr" => format!("█({})", listed("@")),
            _ => row(&self.parts),
        }
    }
}

/// The bar or brace that a sign over or under a formula is, as programs write it.
fn stretched(sign: &str, is_above: bool) -> Option<&str> {
    match (sign, is_above) {
        ("¯" | "‾", true) => Some(OVERBAR),
        ("_" | "\u{332}" | "▁" | "‗" | "¯" | "‾", false) => Some(UNDERBAR),
        ("⏞", true) | ("⏟", false) => Some(sign),
        _ => None,
    }
}

/// Parts one after the other, with a space where two words would become one: letters that are elements of their own are factors,
/// or a word of a program that knows no words.
fn row(parts: &[Part]) -> String {
    let mut text = String::with_capacity(parts.iter().map(|part| part.text.len() + 1).sum());
    let mut before: Option<&Part> = None;
    for part in parts.iter().filter(|part| !part.text.is_empty()) {
        let is_divided = before.is_some_and(|before| {
            let is_number = before.text.chars().all(|c| c.is_ascii_digit() || c == '.');
            !(before.is_run && part.is_run)
                && before.text.ends_with(char::is_alphanumeric)
                && part.text.starts_with(char::is_alphanumeric)
                && ((is_long(&before.text) && !is_number) || is_long(&part.text))
        });
        if is_divided {
            text.push(' ');
        }
        text.push_str(&part.text);
        before = Some(part);
    }
    text
}

fn is_long(text: &str) -> bool {
    text.chars().nth(1).is_some()
}

fn script(mark: char, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{mark}{}", group(text)) }
}

/// An argument, in parentheses unless it is one word, number or sign, or already is in parentheses.
fn group(text: &str) -> String {
    let is_one = !is_long(text)
        || is_in_parentheses(text.trim_start_matches(['⏞', '⏟']))
        || text.chars().all(char::is_alphanumeric);
    if is_one { text.to_owned() } else { format!("({text})") }
}

/// Whether the parenthesis that a text begins with ends where the text does.
fn is_in_parentheses(text: &str) -> bool {
    let mut depth = 0_usize;
    let end = text.char_indices().find(|(_, c)| {
        depth = (depth + usize::from(*c == '(')).saturating_sub(usize::from(*c == ')'));
        depth == 0
    });
    text.starts_with('(') && end.is_some_and(|(at, _)| at + 1 == text.len())
}
