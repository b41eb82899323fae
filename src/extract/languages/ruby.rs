//! Ruby: classes, modules, methods, constants, attributes.

use std::sync::OnceLock;

use super::{Language, nesting};

pub(super) static RUBY: Language = Language {
    name: "ruby",
    version: 1,
    extensions: &["rb", "rake", "gemspec", "ru", "podspec", "builder", "jbuilder", "rabl"],
    file_names: &[
        "Rakefile",
        "Gemfile",
        "Guardfile",
        "Capfile",
        "Vagrantfile",
        "Podfile",
        "Fastfile",
        "Brewfile",
        "Berksfile",
        "Thorfile",
        "Dangerfile",
        ".irbrc",
        ".pryrc",
    ],
    interpreters: &["ruby", "jruby", "rake"],
    separator: "::",
    grammar: Some(|| tree_sitter_ruby::LANGUAGE.into()),
    query: include_str!("ruby.scm"),
    overfills: Some(overfills),
    shortcut: None,
    compiled: OnceLock::new(),
};

/// The scanner writes the words of open heredocs into a fixed buffer of a kilobyte, and aborts where they overfill it.
fn overfills(text: &str) -> bool {
    nesting::open_heredocs(text) > 800
}
