//! PDF: the text of each page, in the order in which it is drawn.
//!
//! A page says where glyphs stand, not what is a word, a line or a heading: those are told by the gaps between them and
//! by their size. Owns that; which characters glyphs stand for is `glyphs`'s.

mod glyphs;
mod layout;
mod mend;
mod pages;

use std::cell::RefCell;
use std::collections::HashMap;

use ::pdf::PdfError;
use ::pdf::content::{Matrix, Op, TextDrawAdjusted};
use ::pdf::file::{Cache, FileOptions};
use ::pdf::object::{ParseOptions, PlainRef, Resolve, Resources, XObject};
use ::pdf::primitive::Name;

use super::flow::Flow;
use super::{Document, Format, Reader};
use crate::model::SkipReason;
use glyphs::Glyphs;
use layout::{Layout, Line};
use pages::Pages;

pub(super) static PDF: Format = Format {
    name: "pdf",
    version: 3,
    extensions: &["pdf"],
    only_in_folders: false,
    is_risky: true,
    reader: Reader::Bytes(read),
};

const MOST_PAGES: usize = 5000;
/// Drawings are drawn by other drawings down to here.
const DEEPEST: usize = 8;
/// Glyphs in all, which a page of any use has some thousands of.
const MOST_GLYPHS: usize = 8_000_000;

fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let has = |mark: &[u8]| memchr::memmem::find(bytes, mark).is_some();
    if has(b"/Encrypt") {
        return drawn(bytes, false).map_err(|reason| match reason {
            // The crate (0.10) takes half of such a key, whatever the password.
            SkipReason::Encrypted | SkipReason::Malformed if has(b"/AESV3") => SkipReason::Sealed,
            SkipReason::Malformed => SkipReason::Encrypted,
            reason => reason,
        });
    }
    match drawn(bytes, false) {
        Err(SkipReason::Malformed) => match mend::mended(bytes) {
            Some(mended) => drawn(&mended, true),
            None => Err(SkipReason::Malformed),
        },
        read => read,
    }
}

/// The text of all pages. One that gives none because its pages cannot be found is malformed.
fn drawn(bytes: &[u8], is_mended: bool) -> Result<Document, SkipReason> {
    let refused = |error: PdfError| match error {
        PdfError::InvalidPassword => SkipReason::Encrypted,
        _ => SkipReason::Malformed,
    };
    let file = FileOptions::uncached().cache(Kept::default(), Kept::default()).parse_options(OPTIONS);
    let file = file.load(bytes).map_err(refused)?;
    let resolver = file.resolver();
    let found = Pages::of(&file.get_root().pages, &resolver, MOST_PAGES);
    let mut pages: Vec<Vec<Line>> = Vec::new();
    let (mut unknown, mut broken, mut left) = (0, 0, MOST_GLYPHS);
    for page in &found.first {
        let mut layout = Layout::new(left);
        let drawn = page.as_ref().map_err(|_| ()).and_then(|page| {
            let Some(page) = pages::leaf(page) else { return Ok(()) };
            let (Some(content), Ok(resources)) = (&page.contents, page.resources()) else { return Ok(()) };
            let ops = content.operations(&resolver).map_err(|_| ())?;
            let mut fonts = HashMap::new();
            draw(&ops, resources, &resolver, Matrix::default(), &mut fonts, &mut layout, 0);
            Ok(())
        });
        broken += usize::from(drawn.is_err());
        unknown += layout.unknown();
        left = layout.left();
        pages.push(layout.lines());
        if left == 0 {
            return Err(SkipReason::Overfull);
        }
    }
    if broken == pages.len() && (broken > 0 || found.is_doubled || !is_mended) {
        return Err(SkipReason::Malformed);
    }
    let mut flow = Flow::default();
    layout::write(&pages, &mut flow);
    if is_mended {
        flow.problem("its table of objects is broken or cut off: only what was found without it is in the index");
    }
    if found.total > pages.len() {
        flow.problem(&format!("only the first {} of {} pages are in the index", pages.len(), found.total));
    }
    if found.is_doubled {
        flow.problem("its table of pages leads back to pages that it has already: each is in the index once");
    }
    if broken > 0 {
        flow.problem(&format!("{broken} of {} pages cannot be read", pages.len()));
    }
    if unknown > 0 {
        flow.problem("some letters cannot be told: their font does not say which they are");
    }
    flow.finish()
}

/// What a tree of pages says of what lies above may lead in a circle, and is needed by none that can do without.
const OPTIONS: ParseOptions = ParseOptions { allow_error_in_option: true, ..ParseOptions::strict() };

/// What was read of a file, as long as it is read: objects stand in streams with many others.
struct Kept<T>(RefCell<HashMap<PlainRef, T>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone> Cache<T> for Kept<T> {
    fn get_or_compute(&self, key: PlainRef, compute: impl FnOnce() -> T) -> T {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        // Which may ask for others meanwhile.
        let made = compute();
        self.0.borrow_mut().insert(key, made.clone());
        made
    }

    fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    fn remove(&self, key: PlainRef) {
        self.0.borrow_mut().remove(&key);
    }
}

/// What drawing changes, and gives back at the end of a group.
#[derive(Clone)]
struct State {
    matrix: Matrix,
    font: Option<Name>,
    size: f32,
    char_space: f32,
    word_space: f32,
    scale: f32,
    leading: f32,
    rise: f32,
}

fn draw(
    ops: &[Op],
    resources: &Resources,
    resolver: &impl Resolve,
    matrix: Matrix,
    fonts: &mut HashMap<String, Glyphs>,
    layout: &mut Layout,
    depth: usize,
) {
    let start =
        State { matrix, font: None, size: 1.0, char_space: 0.0, word_space: 0.0, scale: 1.0, leading: 0.0, rise: 0.0 };
    let mut state = start;
    let mut saved: Vec<State> = Vec::new();
    let (mut text, mut line) = (Matrix::default(), Matrix::default());
    for op in ops {
        match op {
            Op::Save if saved.len() < 1000 => saved.push(state.clone()),
            Op::Restore => state = saved.pop().unwrap_or(state),
            Op::Transform { matrix } => state.matrix = times(*matrix, state.matrix),
            Op::BeginText => (text, line) = (Matrix::default(), Matrix::default()),
            Op::CharSpacing { char_space } => state.char_space = *char_space,
            Op::WordSpacing { word_space } => state.word_space = *word_space,
            Op::TextScaling { horiz_scale } => state.scale = horiz_scale / 100.0,
            Op::Leading { leading } => state.leading = *leading,
            Op::TextRise { rise } => state.rise = *rise,
            Op::TextFont { name, size } => {
                let known = fonts.contains_key(name.as_str());
                if !known && let Some(font) = resources.fonts.get(name).and_then(|font| font.load(resolver).ok()) {
                    fonts.insert(name.as_str().to_owned(), Glyphs::of(&font, resolver));
                }
                (state.font, state.size) = (Some(name.clone()), *size);
            }
            Op::MoveTextPosition { translation } => {
                line = times(moved(translation.x, translation.y), line);
                text = line;
            }
            Op::SetTextMatrix { matrix } => (text, line) = (*matrix, *matrix),
            Op::TextNewline => {
                line = times(moved(0.0, -state.leading), line);
                text = line;
            }
            Op::TextDraw { text: shown } => show(shown.as_bytes(), &state, fonts, &mut text, layout),
            Op::TextDrawAdjusted { array } => {
                for piece in array {
                    match piece {
                        TextDrawAdjusted::Text(shown) => show(shown.as_bytes(), &state, fonts, &mut text, layout),
                        TextDrawAdjusted::Spacing(by) => {
                            text = times(moved(-by / 1000.0 * state.size * state.scale, 0.0), text);
                        }
                    }
                }
            }
            Op::XObject { name } if depth < DEEPEST => {
                let object = resources.xobjects.get(name).and_then(|object| resolver.get(*object).ok());
                let Some(XObject::Form(form)) = object.as_deref() else { continue };
                let Ok(inner) = form.operations(resolver) else { continue };
                let own = form.dict().resources.clone();
                let resources = own.as_deref().unwrap_or(resources);
                // Names of fonts are the drawing's own.
                draw(&inner, resources, resolver, state.matrix, &mut HashMap::new(), layout, depth + 1);
            }
            _ => {}
        }
        if layout.left() == 0 {
            return;
        }
    }
}

/// Shows a string glyph by glyph and moves on by what they take.
fn show(bytes: &[u8], state: &State, fonts: &HashMap<String, Glyphs>, text: &mut Matrix, layout: &mut Layout) {
    let Some(glyphs) = state.font.as_ref().and_then(|name| fonts.get(name.as_str())) else { return };
    for (code, is_space) in glyphs.codes(bytes) {
        let (shown, width) = glyphs.get(code);
        let placed = times(times(moved(0.0, state.rise), *text), state.matrix);
        let word_space = if is_space { state.word_space } else { 0.0 };
        let advance = (width * state.size + state.char_space + word_space) * state.scale;
        layout.add(shown.as_deref(), glyphs.is_bold(), placed, state.size, width * state.size * state.scale);
        *text = times(moved(advance, 0.0), *text);
    }
}

fn moved(x: f32, y: f32) -> Matrix {
    Matrix { e: x, f: y, ..Matrix::default() }
}

/// First `a`, then `b`.
fn times(a: Matrix, b: Matrix) -> Matrix {
    Matrix {
        a: a.a * b.a + a.b * b.c,
        b: a.a * b.b + a.b * b.d,
        c: a.c * b.a + a.d * b.c,
        d: a.c * b.b + a.d * b.d,
        e: a.e * b.a + a.f * b.c + b.e,
        f: a.e * b.b + a.f * b.d + b.f,
    }
}
