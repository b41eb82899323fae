//! The program: arguments in, exit code out. Everything else is the library's.

/// Of the parsers and of SQLite too, where the platform lets a program replace `malloc`. `benches/RESULTS.md` has what it
/// saves.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    ixmcp::cli::run()
}
