//! The program: arguments in, exit code out. Everything else is the library's.

/// Of the parsers and of SQLite too, where the platform lets a program replace `malloc`. `benches/RESULTS.md` has what it
/// saves.
#[cfg(not(windows))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// jemalloc's settings: what was freed goes back to the system after a second, not after ten. It looks for them under
/// this name, where it has taken the platform's.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
#[expect(unsafe_code, reason = "a C library reads a variable of this name; no other thing is called so")]
#[unsafe(export_name = "malloc_conf")]
pub static SETTINGS: &[u8; 20] = b"dirty_decay_ms:1000\0";

fn main() -> std::process::ExitCode {
    ixmcp::cli::run()
}
