//! Numbers of several runs, and their median and spread.

use std::time::Duration;

use crate::process::Cost;

/// The runs of one piece of work.
#[derive(Debug, Default)]
pub struct Samples(Vec<Cost>);

/// The middle of several numbers with their least and most.
#[derive(Clone, Copy, Debug)]
pub struct Spread<T> {
    pub median: T,
    pub least: T,
    pub most: T,
}

impl Samples {
    pub fn add(&mut self, cost: Cost) {
        self.0.push(cost);
    }

    pub fn wall(&self) -> Option<Spread<Duration>> {
        spread(self.0.iter().map(|cost| cost.wall).collect())
    }

    pub fn cpu(&self) -> Option<Spread<Duration>> {
        spread(self.0.iter().map(|cost| cost.cpu).collect())
    }

    pub fn peak_bytes(&self) -> Option<Spread<u64>> {
        spread(self.0.iter().map(|cost| cost.peak_bytes).collect())
    }
}

/// `None` of nothing.
fn spread<T: Copy + Ord>(mut numbers: Vec<T>) -> Option<Spread<T>> {
    numbers.sort_unstable();
    Some(Spread { median: quantile(&numbers, 50)?, least: *numbers.first()?, most: *numbers.last()? })
}

/// The value that this percentage of sorted numbers does not exceed.
pub fn quantile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1).copied()
}
