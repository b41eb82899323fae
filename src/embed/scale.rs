//! What a cosine says, model by model: unrelated texts have nothing in common for one, nearly everything for another.
//!
//! Owns a few questions with texts that answer them, by which a model's cosines are brought onto the scale of the table's. None
//! of them is in a set that anything was fitted to or is judged by.

use super::{Embedder, Purpose, Vector};
use crate::error::Result;

/// Each text answers its question and no other.
const KNOWN: &[(&str, &str)] = &[
    (
        "how long is a package kept at the post office",
        "A parcel that could not be delivered waits for seven days at the branch named on the card. After that it goes back \
         to the sender.",
    ),
    (
        "retry a request that timed out",
        "fn call_again(client: &Client, request: Request) -> Result<Response> {\n    for attempt in 0..MAX_ATTEMPTS {\n        \
         match client.send(&request) {\n            Err(error) if error.is_timeout() => sleep(BACKOFF * attempt),\n",
    ),
    (
        "why do leaves turn red in autumn",
        "When the days grow shorter, trees take the green pigment out of their foliage. Carotenoids, which were there all \
         along, show, and anthocyanins are made anew.",
    ),
    (
        "parse command line arguments",
        "def read_options(argv):\n    parser = argparse.ArgumentParser(description=__doc__)\n    \
         parser.add_argument('--verbose', action='store_true')\n    return parser.parse_args(argv)\n",
    ),
    (
        "who pays when a rented car is damaged",
        "The hirer is liable for scratches and dents up to the excess stated in the contract, unless the full cover was \
         taken out at the desk.",
    ),
    (
        "draw a circle on the canvas",
        "export function disc(context, x, y, radius, colour) {\n  context.beginPath();\n  context.arc(x, y, radius, 0, 2 * \
         Math.PI);\n  context.fillStyle = colour;\n  context.fill();\n}\n",
    ),
    (
        "change the password of the database user",
        "Log in as an administrator and run ALTER ROLE app WITH PASSWORD with the new secret. Connections that are open \
         stay so; the pool must be restarted.",
    ),
    (
        "remove duplicates from a list",
        "func Unique(items []string) []string {\n\tseen := make(map[string]bool)\n\tvar kept []string\n\tfor _, item := range \
         items {\n\t\tif !seen[item] {\n\t\t\tseen[item] = true\n",
    ),
    (
        "the soup tastes too salty",
        "A raw potato simmered in the broth for a quarter of an hour takes up some of the salt; more water and a spoonful \
         of cream do the rest.",
    ),
    (
        "compute the distance between two points on earth",
        "double greatCircle(double lat1, double lon1, double lat2, double lon2) {\n    double a = haversine(lat2 - lat1) + \
         cos(lat1) * cos(lat2) * haversine(lon2 - lon1);\n    return 2 * EARTH_RADIUS * asin(sqrt(a));\n}\n",
    ),
];

/// Right answers must be nearer than unrelated texts by so much, or the cosines say nothing.
const LEAST: f64 = 0.05;

/// How near texts are on an average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    unrelated: f64,
    right: f64,
}

impl Scale {
    /// `None` for a model that cannot tell the right ones from the others.
    pub(super) fn of(model: &dyn Embedder) -> Result<Option<Self>> {
        let (questions, texts): (Vec<&str>, Vec<&str>) = KNOWN.iter().copied().unzip();
        let questions = model.embed(Purpose::Question, &questions)?;
        let texts = model.embed(Purpose::Passage, &texts)?;
        let cosine = |a: &Vector, b: &Vector| f64::from(a.cosine(b));
        let mean = |cosines: &[f64]| {
            #[expect(clippy::cast_precision_loss, reason = "some hundred")]
            let count = cosines.len().max(1) as f64;
            cosines.iter().sum::<f64>() / count
        };
        let right: Vec<f64> = questions.iter().zip(&texts).map(|(question, text)| cosine(question, text)).collect();
        let mut unrelated = Vec::new();
        for (at, question) in questions.iter().enumerate() {
            let others = texts.iter().enumerate().filter(|(other, _)| *other != at);
            unrelated.extend(others.map(|(_, text)| cosine(question, text)));
        }
        let scale = Self { unrelated: mean(&unrelated), right: mean(&right) };
        Ok(Some(scale).filter(|scale| scale.right - scale.unrelated >= LEAST))
    }

    /// What a cosine of this scale is on another.
    pub fn onto(&self, other: &Self, cosine: f64) -> f64 {
        let share = (cosine - self.unrelated) / (self.right - self.unrelated);
        (other.unrelated + share * (other.right - other.unrelated)).clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::built_in;

    #[test]
    fn what_is_as_far_from_one_is_as_far_from_the_other() {
        let table = built_in().scale().unwrap();
        let other = Scale { unrelated: 0.7, right: 0.9 };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        near(other.onto(&table, 0.7), table.unrelated);
        near(other.onto(&table, 0.9), table.right);
        near(table.onto(&table, 0.33), 0.33);
        near(other.onto(&table, 1e9), 1.0);
    }

    #[test]
    fn the_table_tells_right_from_unrelated() {
        let table = built_in().scale().unwrap();
        assert!(table.unrelated < 0.3 && table.right > table.unrelated + 0.15, "{table:?}");
    }
}
