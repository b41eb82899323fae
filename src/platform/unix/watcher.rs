//! The system's watcher of folders.

#[cfg(not(target_os = "linux"))]
pub use notify_debouncer_full::notify::RecommendedWatcher as SystemWatcher;

#[cfg(target_os = "linux")]
pub use super::inotify::SystemWatcher;
