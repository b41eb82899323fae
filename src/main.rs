//! The program: arguments in, exit code out. Everything else is the library's.

/// The allocator of the whole program, including the parsers and SQLite where the platform lets a program replace
/// `malloc`. `benches/RESULTS.md` has what it saves.
#[cfg(all(feature = "jemalloc", unix))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// jemalloc's settings: freed memory returns to the system after one second, not ten. jemalloc reads this symbol where it
/// replaces the platform's allocator.
#[cfg(all(feature = "jemalloc", any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
#[expect(unsafe_code, reason = "jemalloc reads this symbol; nothing else has its name")]
#[unsafe(export_name = "malloc_conf")]
pub static SETTINGS: &[u8; 20] = b"dirty_decay_ms:1000\0";

fn main() -> std::process::ExitCode {
    ixmcp::cli::run()
}
