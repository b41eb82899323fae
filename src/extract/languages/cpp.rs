//! C++: namespaces, classes, templates, members, and definitions outside their class.

use std::sync::OnceLock;

use super::Language;

pub(super) static CPP: Language = Language {
    name: "cpp",
    version: 2,
    extensions: &[
        "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp", "inl", "ixx", "cppm", "cu", "cuh", "ino",
    ],
    file_names: &[],
    interpreters: &[],
    separator: "::",
    grammar: Some(|| tree_sitter_cpp::LANGUAGE.into()),
    query: concat!(include_str!("cpp.scm"), include_str!("c.scm")),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};

/// Whether a header has what C lacks. `extern "C"` alone is what C headers say to C++.
pub(super) fn shows_in(text: &str) -> bool {
    const LEADS: [&str; 7] = ["class ", "namespace ", "template<", "template <", "public:", "private:", "protected:"];
    text.lines().any(|line| {
        let line = line.trim_start();
        let is_comment = line.starts_with("//") || line.starts_with('*') || line.starts_with("/*");
        !is_comment && (LEADS.iter().any(|lead| line.starts_with(lead)) || line.contains("std::"))
    })
}
