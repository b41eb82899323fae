//! Limits the freed memory that the C library's allocator keeps.

/// Limits it for a process that stays. By default glibc keeps what was freed in one arena for each thread, three times the
/// memory of a daemon with twenty clients. `is_set` reports which environment variables the user has set: they come first.
/// Other allocators keep their own settings.
pub fn limit(is_set: impl Fn(&str) -> bool) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (variable, parameter, value) in [("MALLOC_ARENA_MAX", -8, 2), ("MALLOC_TRIM_THRESHOLD_", -1, 131_072)] {
        if !is_set(variable) {
            // It fails for values out of range only.
            let _ = set(parameter, value);
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = is_set;
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "glibc's malloc has no other interface that a running process can use")]
fn set(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int {
    unsafe extern "C" {
        fn mallopt(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
    }
    // SAFETY: it takes two numbers, may be called at any time, and locks what it changes.
    unsafe { mallopt(parameter, value) }
}
