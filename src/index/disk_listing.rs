//! Listings of the disk that reads share during a long update.
//!
//! Owns what a listing is, and how many an update is making. Does not own when the tree is walked (`plan`, `unindexed`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::watch::Watch;
use crate::scan::Listing;

/// A listing of the disk.
pub struct DiskListing {
    pub(super) listing: Listing,
    pub(super) begun: Instant,
    /// The position in the change feed at which the listing began; `None` if folders were not watched yet.
    pub(super) position: Option<u64>,
}

/// How many listings of everything an update is making.
#[derive(Default)]
pub(super) struct Listings(AtomicUsize);

/// A listing, until it is dropped.
pub(super) struct RunningListing<'l>(&'l Listings);

impl Listings {
    pub(super) fn begin(&self) -> RunningListing<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        RunningListing(self)
    }

    pub(super) fn are_running(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Drop for RunningListing<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl DiskListing {
    /// A listing that begins now, and is empty so far.
    pub(super) fn begin(watch: Option<&Watch>) -> Self {
        let begun = Instant::now();
        let position = watch.map(|watch| watch.changes_since_listing(0).1);
        Self { listing: Listing::default(), begun, position }
    }

    /// The listing with what it found. Reads that begin before it began may use it.
    pub(super) fn with(self, listing: &Listing) -> Self {
        let Listing { files, skipped, .. } = listing;
        let listing = Listing { files: files.clone(), skipped: skipped.clone(), ..Listing::default() };
        Self { listing, ..self }
    }
}
