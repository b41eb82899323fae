//! Listings of the disk that reads share during a long update.
//!
//! Owns what a listing is, and how many an update is making. Does not own when the tree is walked (`update`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::watch::Watch;
use crate::scan::Listing;

/// A listing of the disk.
pub struct DiskListing {
    pub(crate) listing: Listing,
    pub(crate) begun: Instant,
    /// The position in the change feed at which the listing began; `None` if folders were not watched yet.
    pub(crate) position: Option<u64>,
}

/// How many listings of everything an update is making.
#[derive(Default)]
pub(crate) struct Listings(AtomicUsize);

/// A listing, until it is dropped.
pub(crate) struct RunningListing<'l>(&'l Listings);

impl Listings {
    pub(crate) fn begin(&self) -> RunningListing<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        RunningListing(self)
    }

    pub(crate) fn are_running(&self) -> bool {
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
    pub(crate) fn begin(watch: Option<&Watch>) -> Self {
        let begun = Instant::now();
        let position = watch.map(|watch| watch.changes_since_listing(0).1);
        Self { listing: Listing::default(), begun, position }
    }

    /// The listing with what it found. Reads that begin before it began may use it.
    pub(crate) fn with(self, listing: &Listing) -> Self {
        let Listing { files, skipped, .. } = listing;
        let listing = Listing { files: files.clone(), skipped: skipped.clone(), ..Listing::default() };
        Self { listing, ..self }
    }
}
