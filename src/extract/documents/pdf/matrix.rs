//! Transformations of the plane, as PDF has them.

use hayro_syntax::object::Rect;

/// The numbers of `a b c d e f cm`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix(pub [f32; 6]);

impl Matrix {
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub const fn moved(x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Turns a page that is shown rotated clockwise.
    pub const fn turned(degrees: i32) -> Self {
        match degrees {
            90 => Self([0.0, -1.0, 1.0, 0.0, 0.0, 0.0]),
            180 => Self([-1.0, 0.0, 0.0, -1.0, 0.0, 0.0]),
            270 => Self([0.0, 1.0, -1.0, 0.0, 0.0, 0.0]),
            _ => Self::IDENTITY,
        }
    }

    /// Moves and stretches a rectangle to another.
    pub fn fitting(from: Rect, to: Rect) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "places on a page")]
        let along = |from: (f64, f64), to: (f64, f64)| {
            let scale = if from.0 == from.1 { 1.0 } else { (to.1 - to.0) / (from.1 - from.0) };
            (scale as f32, (to.0 - from.0 * scale) as f32)
        };
        let (x, right) = along((from.x0, from.x1), (to.x0, to.x1));
        let (y, up) = along((from.y0, from.y1), (to.y0, to.y1));
        Self([x, 0.0, 0.0, y, right, up])
    }

    /// First this one, then `other`.
    pub fn times(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [p, q, r, s, t, u]) = (self.0, other.0);
        Self([a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u])
    }

    /// With the line running down the page instead of to the right.
    pub fn turned_down(self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        Self([-c, -d, a, b, e, f])
    }

    /// The rectangle around what this makes of another.
    pub fn around(self, of: Rect) -> Rect {
        let [a, b, c, d, e, f] = self.0.map(f64::from);
        let corners = [(of.x0, of.y0), (of.x0, of.y1), (of.x1, of.y0), (of.x1, of.y1)];
        let corners = corners.map(|(x, y)| (a * x + c * y + e, b * x + d * y + f));
        let least = |of: fn((f64, f64)) -> f64| corners.map(of).into_iter().fold(f64::MAX, f64::min);
        let most = |of: fn((f64, f64)) -> f64| corners.map(of).into_iter().fold(f64::MIN, f64::max);
        Rect {
            x0: least(|corner| corner.0),
            y0: least(|corner| corner.1),
            x1: most(|corner| corner.0),
            y1: most(|corner| corner.1),
        }
    }
}
