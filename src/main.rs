//! The program: arguments in, exit code out. Everything else is the library's.

/// Of the parsers and of SQLite too: the crate replaces `malloc`. A process that stays gives memory back after a bulk
/// build, where glibc keeps an arena for each thread; `benches/RESULTS.md` has the figures.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    ixmcp::cli::run()
}
