//! The system's watcher of folders.

pub use notify_debouncer_full::notify::RecommendedWatcher as SystemWatcher;
