//! Layout analysis: glyphs on a page to lines, and lines to paragraphs and headings.

use std::collections::HashMap;

use hayro_syntax::object::Rect;
use unicode_normalization::UnicodeNormalization;

use super::super::flow::Flow;
use super::bidi;
use super::matrix::Matrix;

/// A gap of this many ems is a space between words.
const SPACE: f32 = 0.1;
/// Spaced letters have at most `MAX_JOINT_GAP` ems between them, and there are at least `FEW` of them.
const MAX_JOINT_GAP: f32 = 0.5;
const FEW: usize = 3;
/// A glyph that is this many ems back begins another word, which the small `A` of TeX's logos does not; one further
/// back is on another line.
const OVERLAP: f32 = 0.45;
const BACK: f32 = 2.0;
/// A glyph this many ems from another of its kind is drawn twice, to look bold or to have a shadow; a row of periods has more between them.
const TWICE: f32 = 0.1;
/// Glyphs of a page that are remembered for that: more are not text to be read.
const MOST_DRAWN: usize = 200_000;
/// Glyphs are looked up in squares of this many points.
const SQUARE: f32 = 2.0;
/// A baseline that is off by more than this many ems is another line.
const OTHER_LINE: f32 = 0.5;
/// A glyph whose size is at most this share of its neighbour's, and whose baseline is this many ems of that higher, is raised.
const SMALLER: f32 = 0.85;
const RAISED: f32 = 0.15;
/// Lines whose gap is larger than most by this factor belong to two paragraphs.
const PARAGRAPH: f32 = 1.2;
/// Text that is larger than most by this factor is a heading.
const LARGER: f32 = 1.15;
const MAX_HEADING_CHARS: usize = 120;
/// Sizes of headings that count as levels of their own.
const MOST_LEVELS: usize = 6;

/// Letters that are drawn as one, and asked for as several.
const LIGATURES: &[(char, &str)] = &[
    ('\u{fb00}', "ff"),
    ('\u{fb01}', "fi"),
    ('\u{fb02}', "fl"),
    ('\u{fb03}', "ffi"),
    ('\u{fb04}', "ffl"),
    ('\u{fb05}', "st"),
    ('\u{fb06}', "st"),
];

/// A line of text as it is on its page.
pub(super) struct Line {
    text: String,
    /// In points, of its largest glyph.
    size: f32,
    is_bold: bool,
    y: f32,
}

/// A page as it is drawn.
pub(super) struct Layout {
    lines: Vec<Line>,
    open: Option<OpenLine>,
    /// Where glyphs are.
    drawn: HashMap<(char, i32, i32), (f32, f32)>,
    /// Glyphs outside of it are not seen.
    page: Option<Rect>,
    unknown: usize,
    left: usize,
}

/// The line that glyphs are added to.
struct OpenLine {
    line: Line,
    /// Where two glyphs meet, in order.
    joints: Vec<Joint>,
    /// A space was drawn after the last glyph.
    is_spaced: bool,
    /// Glyphs that were drawn to the left of the one before, as they are read.
    backward: usize,
    pen: Pen,
}

/// The position of the last glyph, its size, and the direction of the line.
#[derive(Clone, Copy)]
struct Pen {
    height: f32,
    from: (f32, f32),
    to: (f32, f32),
    along: (f32, f32),
}

struct Joint {
    /// In the text.
    at: usize,
    /// In ems.
    gap: f32,
    is_spaced: bool,
}

impl Layout {
    pub fn new(left: usize) -> Self {
        Self { lines: Vec::new(), open: None, drawn: HashMap::new(), page: None, unknown: 0, left }
    }

    /// Leaves out what is outside of `page`.
    pub fn within(&mut self, page: Rect) {
        self.page = (page.x1 - page.x0 > 1.0 && page.y1 - page.y0 > 1.0).then_some(page);
    }

    /// Glyphs that may still come.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Glyphs without a known character.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    pub fn lines(mut self) -> Vec<Line> {
        self.end_line();
        self.lines
    }

    /// A glyph at the origin of `positioned`, `width` wide before that.
    pub fn add(&mut self, shown: Option<&str>, is_bold: bool, placed: Matrix, size: f32, width: f32) {
        self.left = self.left.saturating_sub(1);
        let [a, b, c, d, x, y] = placed.0;
        let (stretch, height) = (a.hypot(b), size.abs() * c.hypot(d));
        if !(stretch.is_finite() && stretch > 0.0 && height.is_finite() && height > 0.0) {
            return;
        }
        let pen = Pen { height, from: (x, y), to: (x + a * width, y + b * width), along: (a / stretch, b / stretch) };
        if self.page.is_some_and(|page| is_outside(page, pen.from) && is_outside(page, pen.to)) {
            return;
        }
        let joint = self.open.as_ref().and_then(|open| open.pen.joint(&pen, height));
        let Some(shown) = shown else {
            // The gap that it leaves parts its neighbours, as with poppler.
            self.unknown += 1;
            return;
        };
        let is_space = shown.chars().all(char::is_whitespace);
        if !is_space && self.is_there(shown, &pen) {
            return;
        }
        let is_backward = || is_space || shown.contains(bidi::is_right_to_left);
        let backward = self.open.as_ref().and_then(|open| pen.joint(&open.pen, height)).filter(|gap| gap.abs() < 1.0);
        let backward = backward.filter(|_| joint.is_none_or(|gap| gap < -OVERLAP) && is_backward());
        let joint = backward.or(joint);
        if joint.is_none() {
            self.end_line();
        }
        let Some(open) = &mut self.open else {
            if !is_space {
                let line = Line { text: written(shown), size: height, is_bold, y };
                self.open = Some(OpenLine { line, joints: Vec::new(), is_spaced: false, backward: 0, pen });
            }
            return;
        };
        let gap = joint.unwrap_or_default();
        let is_note = open.is_note(&pen, shown);
        open.pen = pen;
        open.backward += usize::from(backward.is_some());
        if is_space {
            open.is_spaced |= !shown.is_empty();
            return;
        }
        if gap < 0.0
            && !open.is_spaced
            && let Some(accented) = accented(&open.line.text, shown)
        {
            // An accent that the letter is drawn under.
            open.line.text.pop();
            open.line.text.push_str(&accented);
            return;
        }
        open.joints.push(Joint { at: open.line.text.len(), gap, is_spaced: open.is_spaced || is_note });
        open.is_spaced = false;
        open.line.text.push_str(&written(shown));
        open.line.size = open.line.size.max(height);
        open.line.is_bold &= is_bold;
    }

    /// Whether a glyph is where it was drawn before. Remembers it.
    #[expect(clippy::cast_possible_truncation, reason = "a position far outside of the page is any position there")]
    fn is_there(&mut self, shown: &str, pen: &Pen) -> bool {
        let Some(first) = shown.chars().next() else { return false };
        let (x, y) = pen.from;
        let near = (pen.height * TWICE).min(SQUARE / 2.0);
        let square = |at: f32| (at / SQUARE).floor() as i32;
        for across in square(x - near)..=square(x + near) {
            for up in square(y - near)..=square(y + near) {
                if let Some((other_x, other_y)) = self.drawn.get(&(first, across, up))
                    && (other_x - x).abs() < near
                    && (other_y - y).abs() < near
                {
                    return true;
                }
            }
        }
        if self.drawn.len() < MOST_DRAWN {
            self.drawn.insert((first, square(x), square(y)), (x, y));
        }
        false
    }

    fn end_line(&mut self) {
        if let Some(open) = self.open.take() {
            self.lines.push(open.line());
        }
    }
}

impl Pen {
    /// How many ems of the larger one another glyph follows this one, if it is on the same line.
    fn joint(&self, next: &Self, height: f32) -> Option<f32> {
        let along = next.along;
        let is_turned = self.along.0 * along.0 + self.along.1 * along.1 < 0.9;
        let (right, up) = (next.from.0 - self.to.0, next.from.1 - self.to.1);
        let gap = (right * along.0 + up * along.1) / height.max(self.height);
        let across = (right * along.1 - up * along.0).abs() / height.max(self.height);
        (!is_turned && across < OTHER_LINE && gap > -BACK).then_some(gap)
    }

    /// Whether another glyph on the same line is raised above this one.
    fn is_below(&self, raised: &Self) -> bool {
        let (right, up) = (raised.from.0 - self.to.0, raised.from.1 - self.to.1);
        raised.height <= self.height * SMALLER && up * self.along.0 - right * self.along.1 >= self.height * RAISED
    }
}

impl OpenLine {
    /// Whether the next glyph begins a raised number behind a word, or a word behind such a number: a note is not a part of the word.
    fn is_note(&self, next: &Pen, shown: &str) -> bool {
        let text = &self.line.text;
        let word = |text: &str| text.chars().rev().take_while(|c| c.is_alphabetic()).count();
        if shown.starts_with(|c: char| c.is_ascii_digit()) {
            // A single letter has an exponent.
            return word(text) > 1 && self.pen.is_below(next);
        }
        let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_number = before.len() < text.len()
            && (!before.ends_with(char::is_alphanumeric)
                || self.joints.iter().rev().any(|joint| joint.at == before.len() && joint.is_spaced));
        is_number && shown.starts_with(char::is_alphabetic) && next.is_below(&self.pen)
    }

    /// With a space at each joint that is wider than the joints within words.
    fn line(self) -> Line {
        let own = self.joints.iter().filter(|joint| !joint.is_spaced).map(|joint| joint.gap);
        // Spaced letters.
        let usual = if self.joints.len() < FEW { 0.0 } else { own.fold(MAX_JOINT_GAP, f32::min).max(0.0) };
        let mut text = String::with_capacity(self.line.text.len() + self.joints.len() / 4);
        let mut from = 0;
        for joint in &self.joints {
            if joint.is_spaced || joint.gap > usual + SPACE || joint.gap < -OVERLAP {
                text.push_str(&self.line.text[from..joint.at]);
                text.push(' ');
                from = joint.at;
            }
        }
        text.push_str(&self.line.text[from..]);
        let is_as_read = self.backward * 2 > self.joints.len();
        Line { text: if is_as_read { text } else { bidi::logical(text) }, ..self.line }
    }
}

fn is_outside(page: Rect, (x, y): (f32, f32)) -> bool {
    let (x, y) = (f64::from(x), f64::from(y));
    x < page.x0 || x > page.x1 || y < page.y0 || y > page.y1
}

/// With ligatures split into letters.
fn written(shown: &str) -> String {
    shown.chars().fold(String::with_capacity(shown.len()), |mut text, c| {
        match LIGATURES.iter().find(|(one, _)| *one == c) {
            Some((_, letters)) => text.push_str(letters),
            None => text.push(c),
        }
        text
    })
}

/// The letter `shown` under the accent that `before` ends with.
fn accented(before: &str, shown: &str) -> Option<String> {
    let accent = before.chars().next_back()?;
    let (_, mark) = ACCENTS.iter().find(|(alone, _)| *alone == accent)?;
    let letter = match shown {
        "\u{131}" => "i",
        "\u{237}" => "j",
        _ => shown,
    };
    let is_letter = letter.chars().all(char::is_alphabetic);
    is_letter.then(|| format!("{letter}{mark}").nfc().collect())
}

/// Standalone accents, and the same as marks on a letter.
const ACCENTS: &[(char, char)] = &[
    ('`', '\u{300}'),
    ('\u{b4}', '\u{301}'),
    ('\u{2c6}', '\u{302}'),
    ('^', '\u{302}'),
    ('\u{2dc}', '\u{303}'),
    ('~', '\u{303}'),
    ('\u{af}', '\u{304}'),
    ('\u{2d8}', '\u{306}'),
    ('\u{a8}', '\u{308}'),
    ('\u{2da}', '\u{30a}'),
    ('\u{2c7}', '\u{30c}'),
    ('\u{b8}', '\u{327}'),
];

/// Puts the lines of all pages down as text.
pub(super) fn write(pages: &[Vec<Line>], flow: &mut Flow) {
    let body = body_size(pages);
    let sizes = heading_sizes(pages, body);
    let leading = leading(pages, body);
    for page in pages {
        flow.page();
        let mut before: Option<(&Line, bool)> = None;
        let mut lines = page.iter().filter(|line| !line.text.trim().is_empty()).peekable();
        while let Some(line) = lines.next() {
            let gap = before.map_or(f32::MAX, |(before, _)| (before.y - line.y).abs());
            let is_separated = gap > leading * PARAGRAPH;
            let level = sizes.iter().position(|size| *size == tenths(line.size));
            let is_single = |next: &&Line| !next.is_bold || (line.y - next.y).abs() > leading * PARAGRAPH;
            let is_bold = line.is_bold && is_separated && lines.peek().is_none_or(is_single);
            let level = level.or_else(|| is_bold.then_some(sizes.len())).filter(|_| may_be_heading(line));
            if let Some(level) = level {
                flow.heading(u8::try_from(level + 1).unwrap_or(1), &line.text);
            } else if is_separated
                || before.is_some_and(|(before, heading)| heading || tenths(before.size) != tenths(line.size))
            {
                flow.block();
                flow.words(line.text.trim_end());
            } else {
                flow.next_line(line.text.trim_end());
            }
            before = Some((line, level.is_some()));
        }
    }
}

/// The distance between most lines of the text.
fn leading(pages: &[Vec<Line>], body: u32) -> f32 {
    let is_body = |line: &&Line| tenths(line.size) == body;
    let pairs = pages.iter().flat_map(|page| page.windows(2));
    let gaps = pairs.filter(|pair| pair.iter().all(|line| is_body(&line))).map(|pair| (pair[0].y - pair[1].y).abs());
    let mut counts = std::collections::BTreeMap::new();
    for gap in gaps.filter(|gap| *gap > 1.0) {
        *counts.entry(tenths(gap)).or_insert(0) += 1;
    }
    // The smallest of equally frequent gaps.
    let most = counts.iter().rev().max_by_key(|(_, count)| **count).map(|(gap, _)| *gap);
    #[expect(clippy::cast_precision_loss, reason = "gaps are small numbers")]
    let most = most.map(|gap| gap as f32 / 10.0);
    #[expect(clippy::cast_precision_loss, reason = "sizes of letters are small numbers")]
    let usual = body as f32 / 10.0 * 1.2;
    most.map_or(usual, |gap| gap.min(usual * 2.0))
}

/// The size of most of the text, in tenths of a point.
fn body_size(pages: &[Vec<Line>]) -> u32 {
    let mut sizes = std::collections::BTreeMap::new();
    for line in pages.iter().flatten() {
        *sizes.entry(tenths(line.size)).or_insert(0) += line.text.len();
    }
    sizes.into_iter().max_by_key(|(_, letters)| *letters).map_or(0, |(size, _)| size)
}

/// The sizes of headings, the largest first.
fn heading_sizes(pages: &[Vec<Line>], body: u32) -> Vec<u32> {
    #[expect(clippy::cast_precision_loss, reason = "sizes of letters are small numbers")]
    let least = body as f32 * LARGER;
    let larger = pages.iter().flatten().filter(|line| line.size * 10.0 >= least && may_be_heading(line));
    let mut sizes: Vec<u32> = larger.map(|line| tenths(line.size)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    sizes.truncate(MOST_LEVELS);
    sizes
}

fn may_be_heading(line: &Line) -> bool {
    let text = line.text.trim_end();
    !text.ends_with(['.', ',', ';'])
        && text.chars().count() <= MAX_HEADING_CHARS
        && line.text.chars().filter(|c| c.is_alphabetic()).count() > 2
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
fn tenths(size: f32) -> u32 {
    (size.clamp(0.0, 10_000.0) * 10.0).round() as u32
}
