//! Glyphs on a page, put together to lines, and lines to paragraphs and headings.

use ::pdf::content::Matrix;
use unicode_normalization::UnicodeNormalization;

use super::super::flow::Flow;

/// A gap of this many ems is a space between words.
const SPACE: f32 = 0.18;
/// A baseline that is off by more than this many ems is another line.
const OTHER_LINE: f32 = 0.5;
/// Lines that are so much further apart than most are of two paragraphs.
const PARAGRAPH: f32 = 1.2;
/// Text that is so much larger than most is a heading.
const LARGER: f32 = 1.15;
const LONGEST_HEADING: usize = 120;
/// Sizes of headings that count as levels of their own.
const MOST_LEVELS: usize = 6;

/// Letters that are drawn as one, and asked for as several.
const LIGATURES: &[(&str, &str)] =
    &[("\u{fb00}", "ff"), ("\u{fb01}", "fi"), ("\u{fb02}", "fl"), ("\u{fb03}", "ffi"), ("\u{fb04}", "ffl")];

/// A line of text as it stands on its page.
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
    /// Where the last glyph ended, and which way the line runs.
    pen: Option<(f32, f32, f32, f32)>,
    unknown: usize,
    left: usize,
}

impl Layout {
    pub fn new(left: usize) -> Self {
        Self { lines: Vec::new(), pen: None, unknown: 0, left }
    }

    /// Glyphs that may still come.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Glyphs of which nobody knows what they stand for.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    pub fn lines(self) -> Vec<Line> {
        self.lines
    }

    /// A glyph at the origin of `placed`, `width` wide before that.
    pub fn add(&mut self, shown: Option<&str>, is_bold: bool, placed: Matrix, size: f32, width: f32) {
        self.left = self.left.saturating_sub(1);
        let Some(shown) = shown else {
            self.unknown += 1;
            return;
        };
        let stretch = placed.a.hypot(placed.b);
        let height = size.abs() * placed.c.hypot(placed.d);
        if !stretch.is_finite() || stretch == 0.0 || !height.is_finite() || height == 0.0 {
            return;
        }
        let (dx, dy) = (placed.a / stretch, placed.b / stretch);
        let ends = (placed.e + placed.a * width, placed.f + placed.b * width);
        let gap = self.pen.map(|(x, y, along_x, along_y)| {
            let (from_x, from_y) = (placed.e - x, placed.f - y);
            let turned = along_x * dx + along_y * dy < 0.9;
            (from_x * dx + from_y * dy, (from_x * dy - from_y * dx).abs(), turned)
        });
        let is_space = shown.chars().all(char::is_whitespace);
        match gap {
            Some((along, across, false)) if across < height * OTHER_LINE && along > -height * 2.0 => {
                let line = self.lines.last_mut();
                if along < 0.0
                    && let Some(line) = line
                    && let Some(accented) = accented(&line.text, shown)
                {
                    // An accent that the letter is drawn under.
                    line.text.pop();
                    line.text.push_str(&accented);
                    self.pen = Some((ends.0, ends.1, dx, dy));
                    return;
                }
                let line = self.lines.last_mut();
                if let Some(line) = line.filter(|line| !line.text.ends_with(' '))
                    && (along > height * SPACE || is_space)
                {
                    line.text.push(' ');
                }
            }
            _ if is_space => return,
            _ => self.lines.push(Line { text: String::new(), size: height, is_bold, y: placed.f }),
        }
        if let Some(line) = self.lines.last_mut()
            && !is_space
        {
            match LIGATURES.iter().find(|(one, _)| *one == shown) {
                Some((_, letters)) => line.text.push_str(letters),
                None => line.text.push_str(shown),
            }
            line.size = line.size.max(height);
            line.is_bold &= is_bold;
        }
        self.pen = Some((ends.0, ends.1, dx, dy));
    }
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

/// Accents that stand alone, and as marks on a letter.
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
            let is_apart = gap > leading * PARAGRAPH;
            let level = sizes.iter().position(|size| *size == tenths(line.size));
            let stands_alone = |next: &&Line| !next.is_bold || (line.y - next.y).abs() > leading * PARAGRAPH;
            let is_bold = line.is_bold && is_apart && lines.peek().is_none_or(stands_alone);
            let level = level.or_else(|| is_bold.then_some(sizes.len())).filter(|_| may_be_heading(line));
            if let Some(level) = level {
                flow.heading(u8::try_from(level + 1).unwrap_or(1), &line.text);
            } else if is_apart
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

/// How far apart most lines of the text are.
fn leading(pages: &[Vec<Line>], body: u32) -> f32 {
    let is_body = |line: &&Line| tenths(line.size) == body;
    let pairs = pages.iter().flat_map(|page| page.windows(2));
    let gaps = pairs.filter(|pair| pair.iter().all(|line| is_body(&line))).map(|pair| (pair[0].y - pair[1].y).abs());
    let mut counts = std::collections::BTreeMap::new();
    for gap in gaps.filter(|gap| *gap > 1.0) {
        *counts.entry(tenths(gap)).or_insert(0) += 1;
    }
    // Of gaps that are as frequent, the least.
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
        && text.chars().count() <= LONGEST_HEADING
        && line.text.chars().filter(|c| c.is_alphabetic()).count() > 2
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
fn tenths(size: f32) -> u32 {
    (size.clamp(0.0, 10_000.0) * 10.0).round() as u32
}
