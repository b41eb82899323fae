//! The one table of what the ranking weighs, and the switches that an evaluation turns.

/// Declares the weights, each with what it weighs, as a struct, a constant and a list by name.
macro_rules! weights {
    ($($(#[doc = $about:literal])+ $name:ident = $value:expr;)*) => {
        /// Every weight of the ranking. A part is between 0 and 1 before its weight, unless it says otherwise.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Weights {
            $($(#[doc = $about])+ pub $name: f64,)*
        }

        /// The weights that questions are answered with.
        pub const WEIGHTS: Weights = Weights { $($name: $value,)* };

        impl Weights {
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// The weight of that name, to be changed.
            pub fn named(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

weights! {
    /// BM25 of the chunk, of the best chunk's.
    words = 1.0;
    /// A definition in the chunk has exactly a name that is asked for.
    defines = 1.2;
    /// Share of a definition's name that the question's words make up, for the best one.
    names = 0.6;
    /// Share of the question's words that stand in one line.
    together = 0.4;
    /// Share of the question's words in the path.
    path = 0.4;
}

/// A stage of the ranking that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// Candidates: chunks by their words.
    Words,
    /// The order of candidates by all of [`WEIGHTS`]; without it they stay as the arms found them.
    Rerank,
}

impl Arm {
    pub const ALL: &[Self] = &[Self::Words, Self::Rerank];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Rerank => "rerank",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|arm| arm.name() == name)
    }
}

/// How a question is answered: the program's own way, or one that an evaluation compares it with.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    pub weights: Weights,
    pub arms: Vec<Arm>,
}

impl Default for Ranking {
    fn default() -> Self {
        Self { weights: WEIGHTS, arms: Arm::ALL.to_vec() }
    }
}

impl Ranking {
    pub fn has(&self, arm: Arm) -> bool {
        self.arms.contains(&arm)
    }
}
