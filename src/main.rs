//! The program: arguments in, exit code out. Everything else is the library's.

fn main() -> std::process::ExitCode {
    ixmcp::cli::run()
}
