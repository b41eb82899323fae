//! What a panic leaves behind: the place in the source, and no text of the repository.

use std::process::Command;

use ixmcp::panics;

const TEXT: &str = "größe = geheim";

#[test]
#[ignore = "it replaces the panic hook of its process: the test below starts one"]
fn a_slice_within_a_character() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    panics::log_locations();
    let error = panics::caught(|| Ok(TEXT[..3].len())).unwrap_err();
    println!("{error}");
}

#[test]
fn a_panic_is_logged_and_answered_with_its_location_alone() {
    let mut this = Command::new(std::env::current_exe().unwrap());
    this.args(["--exact", "panics::a_slice_within_a_character", "--ignored", "--nocapture"]);
    let output = this.env_remove("RUST_LOG").env("RUST_BACKTRACE", "1").output().unwrap();
    let (answer, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(answer.contains("INTERNAL: the program panicked at tests/it/panics.rs:"), "{answer}");
    assert!(log.contains("a panic at tests/it/panics.rs:"), "{log}");
    for text in ["größe", "geheim", "byte index"] {
        assert!(!answer.contains(text) && !log.contains(text), "{answer}{log}");
    }
}
