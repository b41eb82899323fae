//! An interpreter of a page's content that executes only the operators that show text.
//!
//! Owns the state that operators change, drawings within drawings, and content that is marked as hidden or as a
//! replacement of other text. `layout` owns how glyphs become text.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hayro_syntax::content::{Instruction, UntypedIter};
use hayro_syntax::object::{
    Array, Dict, MaybeRef, Name, Number, ObjRef, Object, ObjectIdentifier, Rect, Stream, String as PdfString,
};
use hayro_syntax::page::Resources;

use super::glyphs::Glyphs;
use super::layout::Layout;
use super::matrix::Matrix;
use super::streams;

/// Drawings are drawn by other drawings down to here.
const DEEPEST: usize = 8;
/// Graphics states that are saved at once.
const MOST_SAVED: usize = 1000;
/// Drawings within drawings, in all.
const MOST_DRAWINGS: usize = 50_000;

/// Syntax errors in one content.
const MOST_FAULTS: usize = 1000;

/// Values that are kept from page to page.
pub(super) struct PageRenderer {
    fonts: HashMap<ObjectIdentifier, Rc<Glyphs>>,
    /// Layers that are not shown.
    hidden: HashSet<ObjRef>,
    drawings_left: usize,
}

/// The graphics state, which `Q` restores.
#[derive(Clone)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Glyphs>>,
    size: f32,
    char_space: f32,
    word_space: f32,
    scale: f32,
    leading: f32,
    rise: f32,
}

/// Marked content: how its glyphs become text.
enum ContentMark {
    Plain,
    Hidden,
    /// It replaces a text: the first glyph shows it, and the others nothing.
    Text(Option<String>),
}

impl PageRenderer {
    pub fn new(catalog: &Dict<'_>) -> Self {
        let layers = catalog.get::<Dict<'_>>("OCProperties").and_then(|all| all.get::<Dict<'_>>("D"));
        let off = layers.and_then(|layers| layers.get::<Array<'_>>("OFF"));
        let hidden = off.into_iter().flat_map(|off| off.raw_iter()).filter_map(|layer| layer.as_obj_ref()).collect();
        Self { fonts: HashMap::new(), hidden, drawings_left: MOST_DRAWINGS }
    }

    pub fn draw(&mut self, content: &[u8], resources: &Dict<'_>, matrix: Matrix, layout: &mut Layout) {
        let resources = Resources::new(resources.clone());
        Drawing::new(self, &resources, matrix, layout, 0).run(content);
    }

    /// Draws the appearance of a note or a form field, which is on a page and not in its content.
    pub fn annotation(&mut self, annotation: &Dict<'_>, matrix: Matrix, layout: &mut Layout) {
        /// Hidden, or not to be seen on a screen.
        const UNSEEN: i32 = 2 | 32;
        let is_unseen = annotation.get::<i32>("F").is_some_and(|flags| flags & UNSEEN != 0);
        let is_popup = annotation.get::<Name<'_>>("Subtype").is_some_and(|kind| kind.as_str() == "Popup");
        if is_unseen || is_popup || self.is_hidden(annotation) {
            return;
        }
        let Some(looks) = annotation.get::<Dict<'_>>("AP") else {
            Self::field(annotation, matrix, layout);
            return;
        };
        let state = || looks.get::<Dict<'_>>("N")?.get::<Stream<'_>>(annotation.get::<Name<'_>>("AS")?);
        let Some(form) = looks.get::<Stream<'_>>("N").or_else(state) else { return };
        let (Some(to), Some(from)) = (annotation.get::<Rect>("Rect"), form.dict().get::<Rect>("BBox")) else { return };
        let from = matrix_of(form.dict()).around(from);
        let fit = Matrix::fitting(from, to).times(matrix);
        let none = Resources::new(Dict::empty());
        Drawing::new(self, &none, fit, layout, 0).form(&form);
    }

    /// Draws the value of a form field that has no appearance of its own.
    fn field(annotation: &Dict<'_>, matrix: Matrix, layout: &mut Layout) {
        const SIZE: f32 = 10.0;
        let is_widget = annotation.get::<Name<'_>>("Subtype").is_some_and(|kind| kind.as_str() == "Widget");
        let above = annotation.get::<Dict<'_>>("Parent");
        let value = |field: &Dict<'_>| field.get::<PdfString<'_>>("V").map(|value| spelled(&value));
        let value = value(annotation).or_else(|| value(&above?));
        if let (Some(value), Some(rect), true) = (value, annotation.get::<Rect>("Rect"), is_widget) {
            #[expect(clippy::cast_possible_truncation, reason = "a place on a page")]
            let positioned = Matrix::moved(rect.x0 as f32, rect.y0 as f32).times(matrix);
            for (line, number) in value.lines().zip(0_u16..) {
                let down = Matrix::moved(0.0, -f32::from(number) * SIZE * 2.0);
                layout.add(Some(line), false, down.times(positioned), SIZE, SIZE);
            }
        }
    }

    fn is_hidden(&self, dict: &Dict<'_>) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let layers = dict.get::<Dict<'_>>("OC").and_then(|group| group.get_ref("OCGs"));
        dict.get_ref("OC").into_iter().chain(layers).any(|layer| self.hidden.contains(&layer))
    }
}

struct Drawing<'d, 'a> {
    artist: &'d mut PageRenderer,
    resources: &'d Resources<'a>,
    layout: &'d mut Layout,
    depth: usize,
    /// Fonts that have no number, by name.
    fonts: HashMap<Vec<u8>, Rc<Glyphs>>,
    state: State,
    saved: Vec<State>,
    text: Matrix,
    line: Matrix,
    marks: Vec<ContentMark>,
    hidden: usize,
}

impl<'d, 'a> Drawing<'d, 'a> {
    fn new(
        artist: &'d mut PageRenderer,
        resources: &'d Resources<'a>,
        matrix: Matrix,
        layout: &'d mut Layout,
        depth: usize,
    ) -> Self {
        let state = State {
            matrix,
            font: None,
            size: 1.0,
            char_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        Self {
            artist,
            resources,
            layout,
            depth,
            fonts: HashMap::new(),
            state,
            saved: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            marks: Vec::new(),
            hidden: 0,
        }
    }

    /// Runs `content`, and past whatever in it is not a part of the language.
    fn run(&mut self, content: &[u8]) {
        let mut from = 0;
        for _ in 0..MOST_FAULTS {
            let mut instructions = UntypedIter::new(&content[from..]);
            while let Some(instruction) = instructions.next() {
                from = end_within(content, instruction.operator).unwrap_or(from);
                self.step(&instruction);
                if self.layout.left() == 0 {
                    return;
                }
            }
            let Some(next) = after_token(content, from) else { return };
            from = next;
        }
    }

    fn step(&mut self, instruction: &Instruction<'_, '_>) {
        // Those before the ones that an operator takes are too many, and count for nothing.
        let count = instruction.operands().count();
        let operand = |last: usize| instruction.operands().nth(count.checked_sub(last)?);
        match &**instruction.operator {
            b"q" if self.saved.len() < MOST_SAVED => self.saved.push(self.state.clone()),
            b"Q" => {
                if let Some(state) = self.saved.pop() {
                    self.state = state;
                }
            }
            b"cm" => {
                if let Some(matrix) = numbers(instruction).map(Matrix) {
                    self.state.matrix = matrix.times(self.state.matrix);
                }
            }
            b"BT" => (self.text, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            b"Tc" => self.state.char_space = number(instruction).unwrap_or(self.state.char_space),
            b"Tw" => self.state.word_space = number(instruction).unwrap_or(self.state.word_space),
            b"Tz" => self.state.scale = number(instruction).map_or(self.state.scale, |percent| percent / 100.0),
            b"TL" => self.state.leading = number(instruction).unwrap_or(self.state.leading),
            b"Ts" => self.state.rise = number(instruction).unwrap_or(self.state.rise),
            b"Tf" => {
                if let (Some(Object::Name(name)), Some(Object::Number(size))) = (operand(2), operand(1)) {
                    (self.state.font, self.state.size) = (self.font(name), size.as_f32());
                }
            }
            b"gs" => {
                if let Some(Object::Name(name)) = operand(1) {
                    self.font_of_state(name);
                }
            }
            b"Td" => self.next_line(numbers(instruction)),
            b"TD" => {
                let by = numbers::<2>(instruction);
                self.state.leading = by.map_or(self.state.leading, |[_, y]| -y);
                self.next_line(by);
            }
            b"T*" => self.next_line(Some([0.0, -self.state.leading])),
            b"Tm" => {
                if let Some(matrix) = numbers(instruction).map(Matrix) {
                    (self.text, self.line) = (matrix, matrix);
                }
            }
            b"Tj" => self.show_last(instruction),
            b"'" => {
                self.next_line(Some([0.0, -self.state.leading]));
                self.show_last(instruction);
            }
            b"\"" => {
                if let (Some(Object::Number(word)), Some(Object::Number(char))) = (operand(3), operand(2)) {
                    (self.state.word_space, self.state.char_space) = (word.as_f32(), char.as_f32());
                }
                self.next_line(Some([0.0, -self.state.leading]));
                self.show_last(instruction);
            }
            b"TJ" => {
                if let Some(Object::Array(pieces)) = operand(1) {
                    self.show_pieces(pieces);
                }
            }
            b"Do" => {
                if let Some(Object::Name(name)) = operand(1)
                    && let Some(form) = self.resources.get_x_object(name)
                    && self.hidden == 0
                {
                    self.form(&form);
                }
            }
            b"BMC" => self.begin(ContentMark::Plain),
            b"BDC" => {
                let mark = self.mark(operand(2), operand(1));
                self.begin(mark);
            }
            b"EMC" => {
                if matches!(self.marks.pop(), Some(ContentMark::Hidden)) {
                    self.hidden -= 1;
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, mark: ContentMark) {
        self.hidden += usize::from(matches!(mark, ContentMark::Hidden));
        self.marks.push(mark);
    }

    fn mark(&self, kind: Option<&Object<'_>>, said: Option<&Object<'_>>) -> ContentMark {
        let (Some(Object::Name(kind)), Some(said)) = (kind, said) else { return ContentMark::Plain };
        let text = |dict: &Dict<'_>| dict.get::<PdfString<'_>>("ActualText").map(|text| spelled(&text));
        let (text, is_hidden) = match said {
            Object::Dict(dict) => (text(dict), false),
            Object::Name(name) => {
                let named = self.resources.properties.get::<Dict<'_>>(name);
                let layer = self.resources.properties.get_ref(name);
                let members = named.as_ref().and_then(|named| named.get_ref("OCGs"));
                let is_hidden = layer.into_iter().chain(members).any(|layer| self.artist.hidden.contains(&layer));
                (named.as_ref().and_then(text), is_hidden && kind.as_str() == "OC")
            }
            _ => (None, false),
        };
        match text {
            _ if is_hidden => ContentMark::Hidden,
            Some(text) => ContentMark::Text(Some(text)),
            None => ContentMark::Plain,
        }
    }

    fn font(&mut self, name: &Name<'_>) -> Option<Rc<Glyphs>> {
        let id = self.resources.fonts.get_ref(name).map(ObjectIdentifier::from);
        let known = id.map_or_else(|| self.fonts.get(name.as_ref()), |id| self.artist.fonts.get(&id));
        if let Some(known) = known {
            return Some(Rc::clone(known));
        }
        let glyphs = Rc::new(Glyphs::from_font(&self.resources.get_font(name)?));
        match id {
            Some(id) => self.artist.fonts.insert(id, Rc::clone(&glyphs)),
            None => self.fonts.insert(name.as_ref().to_vec(), Rc::clone(&glyphs)),
        };
        Some(glyphs)
    }

    fn font_of_state(&mut self, name: &Name<'_>) {
        let font = self.resources.get_ext_g_state(name).and_then(|state| state.get::<Array<'_>>("Font"));
        let Some(font) = font else { return };
        let Some(MaybeRef::Ref(id)) = font.raw_iter().next() else { return };
        let id = ObjectIdentifier::from(id);
        let mut values = font.flex_iter();
        let (Some(dict), Some(size)) = (values.next::<Dict<'_>>(), values.next::<Number>()) else { return };
        let glyphs = self.artist.fonts.entry(id).or_insert_with(|| Rc::new(Glyphs::from_font(&dict)));
        (self.state.font, self.state.size) = (Some(Rc::clone(glyphs)), size.as_f32());
    }

    fn next_line(&mut self, by: Option<[f32; 2]>) {
        let Some([x, y]) = by else { return };
        self.line = Matrix::moved(x, y).times(self.line);
        self.text = self.line;
    }

    fn form(&mut self, form: &Stream<'_>) {
        let dict = form.dict();
        let is_form = dict.get::<Name<'_>>("Subtype").is_none_or(|kind| kind.as_str() == "Form");
        if !is_form || self.depth >= DEEPEST || self.artist.drawings_left == 0 || self.artist.is_hidden(dict) {
            return;
        }
        self.artist.drawings_left -= 1;
        let Some(content) = streams::unpacked(form) else { return };
        let own = dict.get::<Dict<'_>>("Resources").map(Resources::new);
        let matrix = matrix_of(dict).times(self.state.matrix);
        let depth = self.depth + 1;
        match &own {
            Some(own) => Drawing::new(self.artist, own, matrix, self.layout, depth).run(&content),
            None => Drawing::new(self.artist, self.resources, matrix, self.layout, depth).run(&content),
        }
    }

    fn show_last(&mut self, instruction: &Instruction<'_, '_>) {
        if let Some(Object::String(shown)) = instruction.operands().last() {
            self.show(shown.as_bytes());
        }
    }

    fn show_pieces(&mut self, pieces: &Array<'_>) {
        for piece in pieces.raw_iter() {
            match piece {
                MaybeRef::NotRef(Object::String(shown)) => self.show(shown.as_bytes()),
                MaybeRef::NotRef(Object::Number(by)) => {
                    let by = -by.as_f32() / 1000.0 * self.state.size;
                    let is_vertical = self.state.font.as_ref().is_some_and(|font| font.is_vertical());
                    let by =
                        if is_vertical { Matrix::moved(0.0, by) } else { Matrix::moved(by * self.state.scale, 0.0) };
                    self.text = by.times(self.text);
                }
                _ => {}
            }
        }
    }

    /// Shows a string glyph by glyph, and advances by their widths.
    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.state.font.clone() else { return };
        let state = &self.state;
        let size = state.size * font.em();
        let mut stands_for = self.marks.iter_mut().rev().find_map(|mark| match mark {
            ContentMark::Text(text) => Some(text),
            _ => None,
        });
        font.show(bytes, |glyph| {
            let word_space = if glyph.is_space { state.word_space } else { 0.0 };
            let space = state.char_space + word_space;
            let width = glyph.width * size * state.scale;
            let positioned = Matrix::moved(0.0, state.rise).times(self.text).times(state.matrix);
            let (positioned, width, by) = if font.is_vertical() {
                // Its line runs down from above the middle of the glyph.
                (positioned.turned_down(), size, Matrix::moved(0.0, -size - space))
            } else {
                (positioned, width, Matrix::moved(width + space * state.scale, 0.0))
            };
            if self.hidden == 0 {
                let other = stands_for.as_mut().map(|text| text.take().unwrap_or_default());
                let shown = other.as_deref().or(glyph.text.as_deref());
                self.layout.add(shown, font.is_bold(), positioned, size, width);
            }
            self.text = by.times(self.text);
        });
    }
}

/// Where an operator ends in the content that it was read from.
fn end_within(content: &[u8], operator: &[u8]) -> Option<usize> {
    let start = operator.as_ptr().addr().checked_sub(content.as_ptr().addr())?;
    start.checked_add(operator.len()).filter(|end| *end <= content.len())
}

/// Where the token ends that follows `from`; `None` where none does.
fn after_token(content: &[u8], from: usize) -> Option<usize> {
    let start = from + content[from..].iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0)?;
    let rest = content[start + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    Some(start + 1 + rest)
}

fn number(instruction: &Instruction<'_, '_>) -> Option<f32> {
    numbers::<1>(instruction).map(|[number]| number)
}

/// Returns the last `COUNT` operands, if they are numbers.
fn numbers<const COUNT: usize>(instruction: &Instruction<'_, '_>) -> Option<[f32; COUNT]> {
    let mut numbers = [0.0; COUNT];
    let mut operands = instruction.operands().skip(instruction.operands().count().checked_sub(COUNT)?);
    for value in &mut numbers {
        let Some(Object::Number(number)) = operands.next() else { return None };
        *value = number.as_f32();
    }
    Some(numbers)
}

fn matrix_of(form: &Dict<'_>) -> Matrix {
    let Some(array) = form.get::<Array<'_>>("Matrix") else { return Matrix::IDENTITY };
    let mut given = array.iter::<Number>();
    let mut matrix = [0.0; 6];
    for value in &mut matrix {
        let Some(number) = given.next() else { return Matrix::IDENTITY };
        *value = number.as_f32();
    }
    Matrix(matrix)
}

/// A string that is text: UTF-16 or UTF-8 where it says so, and otherwise an encoding close to Latin 1.
fn spelled(text: &[u8]) -> String {
    if let Some(utf16) = text.strip_prefix(b"\xfe\xff") {
        return encoding_rs::UTF_16BE.decode_without_bom_handling(utf16).0.into_owned();
    }
    if let Some(utf8) = text.strip_prefix(b"\xef\xbb\xbf") {
        return String::from_utf8_lossy(utf8).into_owned();
    }
    encoding_rs::WINDOWS_1252.decode_without_bom_handling(text).0.into_owned()
}
