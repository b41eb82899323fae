//! References in Rust: types that belong to traits, `Self`, the forms of macros, methods and fields, and modules in files.
//!
//! The expected positions are those of rust-analyzer 1.95.0. Those in the body of a macro, into which it does not look, are
//! added: the compiler finds the names there.

use crate::harness::Repo;
use crate::references_text::check;

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
