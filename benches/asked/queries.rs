//! The queries that benches ask of any repository.

/// Names, sentences, and words that are in half of all files.
pub const QUERIES: &[&str] = &[
    "get_queryset",
    "mutex_lock",
    "HttpResponse",
    "alloc_pages",
    "user login",
    "query set filter",
    "page fault",
    "how are migrations applied to the database",
    "how does the scheduler pick the next task",
    "send an email when a form is valid",
    "free memory when the device is removed",
    "cache key prefix and timeout",
    "write dirty pages back to disk",
    "return",
    "self",
    "struct",
    "if not return",
    "error",
    "static int device",
    "import os",
];
