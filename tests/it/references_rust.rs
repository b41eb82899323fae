//! References in Rust: types that belong to traits, `Self`, the forms of macros, methods and fields, and modules in files.
//!
//! The expected positions are those of rust-analyzer 1.95.0. Those in the body of a macro, into which it does not look, are
//! added: the compiler finds the names there.

use serde_json::json;

use crate::references_text::{check, references};
use crate::support::harness::Repo;

#[test]
fn what_a_trait_declares_is_named_with_its_implementations() {
    let repo = Repo::new(
        "\
//- /Cargo.toml
[package]
name = \"rt\"
version = \"0.1.0\"
edition = \"2021\"
[lib]
path = \"src/lib.rs\"
[workspace]
//- /src/lib.rs
pub mod berth;
pub mod harbor;
pub use crate::berth::Berth;
pub trait Mooring {
    type Line;
    fn weight(&self) -> u32;
    fn line(&self) -> Self::Line;
}
#[derive(Debug)]
pub enum Kind {
    Line(u8),
    Chain { links: u8 },
}
impl Kind {
    fn first() -> Self {
        Self::Line(1)
    }
    fn chain(links: u8) -> Self {
        Self::Chain { links }
    }
}
impl Mooring for Kind {
    type Line = u8;
    fn weight(&self) -> u32 {
        1
    }
    fn line(&self) -> <Kind as Mooring>::Line {
        0
    }
}
pub fn heaviest<M: Mooring<Line = u8>>(all: &[M]) -> u32 {
    all.iter().map(|one| one.weight()).max().unwrap_or(0)
}
macro_rules! harbor {
    ($name:ident) => {
        crate::Berth { depth: 1, length: 2, name: stringify!($name) }
    };
}
pub fn berth() -> Berth {
    harbor!(north)
}
//- /src/berth.rs
use crate::Mooring;
pub struct Berth {
    pub depth: u32,
    pub length: u32,
    pub name: &'static str,
}
impl Berth {
    pub fn new(depth: u32) -> Self {
        let length = 3;
        let made = vec![Self { depth, length, name: \"\" }, Berth { depth: 2, length, name: \"\" }];
        made.into_iter().next().unwrap()
    }
    pub fn depth(&self) -> u32 {
        self.depth
    }
}
impl Mooring for Berth {
    type Line = Vec<u32>;
    fn weight(&self) -> u32 {
        self.depth() * self.length
    }
    fn line(&self) -> <Self as Mooring>::Line {
        std::iter::once(self.depth).collect::<std::vec::Vec<u32>>()
    }
}
pub struct Line;
pub struct Winch(pub Line);
#[cfg(test)]
mod tests {
    use super::{Berth, Winch};
    #[test]
    fn a_berth_is_deep() {
        assert_eq!(Berth { depth: 2, length: 1, name: \"\" }.depth(), 2);
        let _ = Winch(super::Line);
    }
}
//- /src/harbor/mod.rs
use crate::{Berth, Kind, Mooring};
pub fn fill(kinds: &[Kind]) -> Vec<Berth> {
    let berth = crate::Berth::new(1);
    println!(\"{:?}\", crate::harbor::first(&[berth.weight()]));
    for kind in kinds {
        println!(\"{}\", Mooring::weight(kind));
    }
    vec![Berth::new(2), berth]
}
pub fn first(of: &[u32]) -> Option<&u32> {
    of.first()
}
",
    );
    check(
        &repo,
        &[
            (
                "src/lib.rs",
                5,
                10,
                "src/berth.rs:18:10 src/berth.rs:22:42 src/lib.rs:23:10 src/lib.rs:27:42 src/lib.rs:31:28 src/lib.rs:5:10 \
             src/lib.rs:7:29",
            ),
            (
                "src/lib.rs",
                6,
                8,
                "src/berth.rs:19:8 src/harbor/mod.rs:4:51 src/harbor/mod.rs:6:33 src/lib.rs:24:8 src/lib.rs:32:30 \
             src/lib.rs:6:8",
            ),
            (
                "src/lib.rs",
                10,
                10,
                "src/harbor/mod.rs:1:20 src/harbor/mod.rs:2:22 src/lib.rs:10:10 src/lib.rs:14:6 src/lib.rs:15:19 \
             src/lib.rs:16:9 src/lib.rs:18:28 src/lib.rs:19:9 src/lib.rs:22:18 src/lib.rs:27:24",
            ),
            ("src/lib.rs", 11, 5, "src/lib.rs:11:5 src/lib.rs:16:15"),
            ("src/lib.rs", 34, 14, "src/lib.rs:34:14 src/lib.rs:40:5"),
            ("src/lib.rs", 39, 8, "src/lib.rs:39:8"),
            (
                "src/berth.rs",
                2,
                12,
                "src/berth.rs:10:25 src/berth.rs:10:59 src/berth.rs:17:18 src/berth.rs:22:24 src/berth.rs:2:12 \
             src/berth.rs:30:17 src/berth.rs:33:20 src/berth.rs:7:6 src/berth.rs:8:31 src/harbor/mod.rs:1:13 \
             src/harbor/mod.rs:2:36 src/harbor/mod.rs:3:24 src/harbor/mod.rs:8:10 src/lib.rs:36:16 src/lib.rs:39:19 \
             src/lib.rs:3:23",
            ),
            (
                "src/berth.rs",
                3,
                9,
                "src/berth.rs:10:32 src/berth.rs:10:67 src/berth.rs:14:14 src/berth.rs:23:30 src/berth.rs:33:28 \
             src/berth.rs:3:9 src/lib.rs:36:24",
            ),
            ("src/berth.rs", 8, 12, "src/berth.rs:8:12 src/harbor/mod.rs:3:31 src/harbor/mod.rs:8:17"),
            ("src/berth.rs", 13, 12, "src/berth.rs:13:12 src/berth.rs:20:14 src/berth.rs:33:60"),
            (
                "src/berth.rs",
                18,
                10,
                "src/berth.rs:18:10 src/berth.rs:22:42 src/lib.rs:23:10 src/lib.rs:27:42 src/lib.rs:31:28 src/lib.rs:5:10 \
             src/lib.rs:7:29",
            ),
            ("src/berth.rs", 26, 12, "src/berth.rs:26:12 src/berth.rs:27:22 src/berth.rs:34:30"),
            ("src/harbor/mod.rs", 10, 8, "src/harbor/mod.rs:10:8 src/harbor/mod.rs:4:37"),
        ],
    );
}

/// rust-analyzer 1.95.0: receivers that patterns, closures, iterators, locks and bounds give. No answer leaves anything open.
#[test]
fn receivers_are_followed_through_patterns_closures_and_the_standard_library() {
    let repo = Repo::new(
        r#"//- /Cargo.toml
[package]
name = "rt"
version = "0.1.0"
edition = "2024"
[workspace]
//- /src/lib.rs
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

macro_rules! note {
    ($($part:tt)*) => {
        println!($($part)*)
    };
}

#[derive(Clone, Default)]
pub struct Anchor {
    pub len: usize,
    pub name: String,
}

impl Anchor {
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn parse(text: &str) -> Result<Anchor, Fault> {
        Err(Fault { at: text.len() })
    }
    pub fn default_length() -> usize {
        2
    }
    pub fn is_set(&self) -> bool {
        self.len > 0
    }
}

#[derive(Debug)]
pub struct Fault {
    pub at: usize,
}

impl Fault {
    pub fn len(&self) -> usize {
        self.at
    }
}

#[derive(Clone)]
pub struct Rope(pub Vec<Anchor>);

pub enum Gear {
    Anchor(Box<Anchor>),
    Rope(Rope, usize),
    Chain { links: usize, end: Anchor },
}

pub trait Hauled {
    type Load: Hauled;
    fn haul(&self) -> usize;
    fn load(&self) -> Self::Load;
}

impl Hauled for Anchor {
    type Load = Anchor;
    fn haul(&self) -> usize {
        self.len()
    }
    fn load(&self) -> Anchor {
        self.clone()
    }
}

pub trait Measured {
    fn measure(&self) -> usize;
}

impl Measured for str {
    fn measure(&self) -> usize {
        self.chars().count()
    }
}

pub struct Winch<T> {
    all: Vec<T>,
    held: Arc<Mutex<Anchor>>,
    last: RefCell<Option<Fault>>,
    names: HashMap<String, Anchor>,
}

pub struct Held(Anchor);

impl<T> Winch<T>
where
    T: Hauled + Clone,
{
    pub fn total(&self) -> usize {
        let first = self.all[0].haul();
        let most = self.all.iter().map(|one| one.haul()).max().unwrap_or(0);
        let held = self.held.lock().unwrap();
        let named: usize = self.names.values().filter(|anchor| anchor.is_set()).map(|anchor| anchor.len()).sum();
        if let Some(fault) = self.last.borrow().as_ref() {
            return fault.len();
        }
        for (name, anchor) in &self.names {
            note!("{} {}", name.len(), anchor.len());
        }
        first + most + named + held.len() + held.len
    }
    pub fn load_of<H: Hauled<Load = Anchor>>(of: &H) -> Anchor {
        H::load(of)
    }
}

pub fn weigh(gear: &Gear, held: &Held, text: &str) -> usize {
    match gear {
        Gear::Anchor(anchor) => anchor.len(),
        Gear::Rope(rope, _) if rope.0.len() > 1 => rope.0[0].len(),
        Gear::Rope(Rope(anchors), count) => anchors.first().map_or(*count, |anchor| anchor.len()),
        Gear::Chain { links, end } => links + end.len(),
    };
    let Ok(parsed) = Anchor::parse("(") else { return text.len() };
    match Anchor::parse(text) {
        Ok(anchor) => anchor.len() + parsed.len() + Anchor::default().len(),
        Err(fault) => fault.len() + held.0.len() + text.measure(),
    }
}

pub fn sort(anchors: &mut Vec<Anchor>) -> Option<usize> {
    anchors.sort_by_key(|anchor| anchor.len());
    let (first, second) = (anchors.first()?, "ab".len());
    let all = Winch::<Anchor> {
        all: anchors.clone(),
        held: Arc::new(Mutex::new(first.clone())),
        last: RefCell::new(None),
        names: HashMap::new(),
    };
    let shared = <Anchor as Hauled>::haul(first);
    Some(first.len() + second + Winch::<Anchor>::load_of(first).len + all.total() + shared)
}
"#,
    );
    for (line, column, places) in [
        (13, 9, "13:9 19:14 28:14 102:50 133:65"),
        (
            18,
            12,
            "18:12 61:14 95:101 100:47 102:37 111:40 112:62 113:92 114:51 118:30 118:45 118:71 119:44 124:41 133:16",
        ),
        (21, 12, "21:12 116:30 117:19"),
        (27, 12, "27:12 95:71"),
        (34, 9, "22:21 34:9 39:14"),
        (38, 12, "38:12 97:26 119:29"),
        (54, 8, "54:8 60:8 92:33 93:50 132:38"),
        (55, 8, "55:8 63:8 105:12"),
        (60, 8, "60:8 132:38"),
        (69, 8, "69:8 73:8 119:57"),
        (73, 8, "73:8 119:57"),
        (79, 5, "79:5 92:26 93:25 127:9"),
        (80, 5, "80:5 94:25 128:9"),
        (81, 5, "81:5 96:35 129:9"),
        (82, 5, "82:5 95:33 99:37 130:9"),
        (91, 12, "91:12 133:75"),
        (104, 12, "104:12 133:50"),
    ] {
        let (mut found, last) = references(&repo, "src/lib.rs", line, column);
        let mut wanted: Vec<String> = places.split(' ').map(|place| format!("src/lib.rs:{place}")).collect();
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted, "{line}:{column}");
        assert_ne!(last["complete"], json!(false), "{line}:{column}: {last}");
    }
}

/// rust-analyzer 1.95.0 follows `Deref`, expands macros, and infers the type that has a function. Its positions
/// are listed as possible ones.
#[test]
fn what_types_do_not_decide_is_listed_as_possible() {
    let repo = Repo::new(
        r#"//- /Cargo.toml
[package]
name = "rm"
version = "0.1.0"
edition = "2024"
[workspace]
//- /src/lib.rs
use std::ops::Deref;

macro_rules! ask {
    ($of:expr, $what:ident) => {
        $of.$what()
    };
}

#[derive(Clone)]
pub struct Anchor {
    pub weight: usize,
}

impl Anchor {
    pub fn depth(&self) -> usize {
        self.weight
    }
}

impl Default for Anchor {
    fn default() -> Self {
        Anchor { weight: 1 }
    }
}

pub struct Buoy;

impl Buoy {
    pub fn depth(&self) -> usize {
        0
    }
}

pub struct Held(Anchor);

impl Deref for Held {
    type Target = Anchor;
    fn deref(&self) -> &Anchor {
        &self.0
    }
}

pub fn sum(held: &Held, anchor: &Anchor) -> usize {
    let made: Anchor = Default::default();
    held.depth() + ask!(anchor, depth) + made.weight
}
"#,
    );
    for (line, column, places) in [(15, 12, "15:12 45:10 45:33"), (21, 8, "21:8 44:33")] {
        let (found, last) = references(&repo, "src/lib.rs", line, column);
        let wanted: Vec<String> = places.split(' ').map(|place| format!("src/lib.rs:{place}")).collect();
        assert_eq!(found, wanted, "{line}:{column}");
        assert_eq!(last["complete"], json!(false), "{line}:{column}: {last}");
    }
}
