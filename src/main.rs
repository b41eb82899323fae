//! The program: arguments in, exit code out. Everything else is the library's.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    ixmcp::cli::run()
}
