//! The listing of the disk that reads share during a long update.
//!
//! Owns when such reads walk the tree. Does not own what a listing is (`repository`), nor how a snapshot is compared with it
//! (`unindexed`).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::budget::Budget;
use crate::error::Result;
use crate::locked::locked;
use crate::model::RepoPath;
use crate::repository::{DiskListing, Repository, Watch};
use crate::scan::Listing;

/// How many times a walk is repeated when new folders keep appearing.
const MAX_LISTINGS: usize = 4;

/// How long a read waits for the listing of a first build to begin, and how often it looks.
const MAX_WAIT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(2);

/// The files on disk, including every write that returned before `since`. Walks the tree only if changes may have been
/// missed since the last time.
pub(super) fn list_disk(repository: &Repository, since: Instant, budget: &Budget) -> Result<Arc<DiskListing>> {
    let settings = repository.settings();
    let watch = repository.full_watch();
    let asked = Instant::now();
    // The first build lists the tree as well: to do so at the same time would take both twice as long.
    let is_to_come = || repository.in_flight.is_planning() && repository.lent().is_none() && asked.elapsed() < MAX_WAIT;
    while locked(&repository.listed).is_none() && (repository.listings.are_running() || is_to_come()) {
        budget.check()?;
        std::thread::sleep(POLL);
    }
    let known = locked(&repository.listed).clone();
    if let Some(known) = known {
        let changes = watch.zip(known.position).map(|(watch, position)| watch.changes_since_listing(position));
        match changes {
            Some((Some(paths), _)) if paths.is_empty() => return Ok(known),
            // Which files of a document folder are listed may depend on all of them.
            Some((Some(paths), position)) if settings.folders.all().is_empty() => {
                let part = settings.folders.at(&repository.root, &paths, &settings.rules, budget)?;
                let listing = replaced(&known.listing, &paths, part);
                return Ok(repository.share_listing(DiskListing { listing, begun: since, position: Some(position) }));
            }
            None if known.begun >= since => return Ok(known),
            _ => {}
        }
    }
    let entering = watch.map(Watch::entering);
    let list = || settings.folders.list(&repository.root, &settings.rules, entering.as_ref(), budget);
    for _ in 0..MAX_LISTINGS {
        let DiskListing { begun, position, .. } = DiskListing::begin(repository.full_watch());
        let listing = list()?;
        // What is saved in a folder that is not watched yet has no event: such a listing cannot be continued.
        if !watch.is_some_and(|watch| watch.cover(&listing.folders)) {
            return Ok(repository.share_listing(DiskListing { listing, begun, position }));
        }
    }
    let begun = Instant::now();
    let listing = list()?;
    Ok(repository.share_listing(DiskListing { listing, begun, position: None }))
}

/// A listing with `part` for what is at or below `paths`.
fn replaced(listing: &Listing, paths: &[RepoPath], part: Listing) -> Listing {
    let changed: HashSet<&str> = paths.iter().map(RepoPath::as_str).collect();
    let is_kept = |path: &str| {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        !above.chain([path]).any(|part| changed.contains(part))
    };
    let mut files: Vec<_> = listing.files.iter().filter(|file| is_kept(file.path.as_str())).cloned().collect();
    files.extend(part.files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut skipped: Vec<_> = listing.skipped.iter().filter(|left| is_kept(&left.path)).cloned().collect();
    skipped.extend(part.skipped);
    Listing { files, skipped, ..Listing::default() }
}
