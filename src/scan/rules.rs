//! The rules that leave a file out by its path or size: secrets, generated and minified files, oversize, exclusions.
//!
//! Owns the tables of names, except those in `secrets`. Does not own ignore files (`ignored`) nor rules that need the
//! content (`extract`).

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::absent_rules;
use super::patterns::Patterns;
use super::tracked;
use crate::config::{self, Environment};
use crate::git_config::UserFolders;
use crate::model::{RepoPath, SkipReason};
use crate::secrets;

/// Folders (or files) of these names are never looked into, at any depth: git's own, and ours.
pub(super) const PRIVATE_NAMES: &[&str] = &[".git", ".ixmcp", ".flashgrep"];

/// Rules of one repository; they hold until its settings change.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    settings: config::Index,
    /// The lines of `index.exclude`.
    exclude: Option<Arc<Patterns>>,
    named: Vec<RepoPath>,
    /// The rules are for a folder outside the repository.
    is_outside: bool,
    /// Extensions of documents: most bytes in them are not text.
    documents: Vec<&'static str>,
    /// Git's tracked list as last read: reading it again takes longer than asking for one file.
    tracked: Arc<Mutex<tracked::Cache>>,
    /// Ignore files that are not on disk.
    absent: absent_rules::Source,
    /// Where the user's settings of git are.
    user: UserFolders,
}

impl Rules {
    pub fn new(settings: &config::Index) -> Self {
        let exclude = Patterns::parse(settings.exclude.join("\n").as_bytes(), false);
        let exclude = (!exclude.is_empty()).then(|| Arc::new(exclude));
        Self { settings: settings.clone(), exclude, ..Self::default() }
    }

    /// Where git is, and the user's settings of it, which name files of rules.
    #[must_use]
    pub fn with_environment(self, environment: &Environment) -> Self {
        Self { user: environment.git_folders(), absent: absent_rules::Source::new(environment), ..self }
    }

    /// Folders of the repository that the user named: they are listed even where git ignores them.
    #[must_use]
    pub fn with_named(mut self, folders: Vec<RepoPath>) -> Self {
        self.named = folders;
        self
    }

    /// Files of these extensions, lower-case, may be as large as documents.
    #[must_use]
    pub fn with_documents(mut self, extensions: Vec<&'static str>) -> Self {
        self.documents = extensions;
        self
    }

    /// Rules for a folder outside the repository: it is read as it is, whatever ignores it from above, and it has
    /// neither entities nor a tracked list.
    #[must_use]
    pub fn outside(&self) -> Self {
        Self { named: Vec::new(), is_outside: true, tracked: Arc::default(), ..self.clone() }
    }

    pub(super) fn is_outside(&self) -> bool {
        self.is_outside
    }

    pub(super) fn named(&self) -> &[RepoPath] {
        &self.named
    }

    pub(super) fn user(&self) -> &UserFolders {
        &self.user
    }

    pub(super) fn absent(&self) -> &absent_rules::Source {
        &self.absent
    }

    /// Whether `index.exclude` names an entry of a folder that it does not name.
    pub(super) fn excludes_entry(&self, path: &[u8], is_folder: bool) -> bool {
        let Some(exclude) = &self.exclude else { return false };
        exclude.decide(path, is_folder).is_some_and(|decision| decision.ignores)
    }

    /// Whether `index.exclude` names the path or a folder above it.
    pub(super) fn excludes(&self, path: &Path, is_folder: bool) -> bool {
        let named = path.ancestors().take_while(|part| self.exclude.is_some() && !part.as_os_str().is_empty());
        let is_named = |(above, part): (usize, &Path)| {
            self.excludes_entry(part.as_os_str().as_encoded_bytes(), is_folder || above > 0)
        };
        named.enumerate().any(is_named)
    }

    /// The lists of tracked files as they were last read.
    pub(super) fn tracked(&self) -> &Mutex<tracked::Cache> {
        &self.tracked
    }

    /// All that the rules depend on, in words to compare with.
    pub(super) fn fingerprint(&self) -> String {
        format!("{:?} {:?} {:?}", self.settings, self.named, self.documents)
    }

    /// The largest size at which this file is read.
    pub fn max_file_size(&self, path: &RepoPath) -> u64 {
        let extension = path.extension().map(str::to_lowercase);
        let is_document = extension.is_some_and(|extension| self.documents.contains(&extension.as_str()));
        let documents = if is_document { self.settings.max_document_size } else { 0 };
        documents.max(self.settings.max_file_size)
    }

    /// Whether a file of a commit, which may not be on disk, is left out because of its path or size.
    pub fn leaves_out(&self, path: &RepoPath, size: u64) -> bool {
        let is_private = || Path::new(path.as_str()).iter().any(is_private_name);
        is_private() || self.excludes(Path::new(path.as_str()), false) || self.skip(path, size).is_some()
    }

    /// Why a regular file is left out, by its path and size alone.
    pub fn skip(&self, path: &RepoPath, size: u64) -> Option<SkipReason> {
        let by_name = skipped_by_name(path).filter(|reason| match reason {
            SkipReason::Secret => self.settings.skip_secrets,
            SkipReason::Minified => self.settings.skip_minified,
            SkipReason::Generated => self.settings.skip_generated,
            _ => true,
        });
        by_name.or_else(|| (size > self.max_file_size(path)).then_some(SkipReason::Oversize))
    }
}

/// Whether a file or folder of this name is never listed and never walked.
pub fn is_private_name(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| PRIVATE_NAMES.contains(&name))
}

/// Why a file is left out by its name: a secret, minified or generated.
pub fn skipped_by_name(path: &RepoPath) -> Option<SkipReason> {
    if secrets::is_secret_name(path.as_str()) {
        return Some(SkipReason::Secret);
    }
    let name = path.file_name();
    let lower = name.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| lower.len() > ending.len() && lower.ends_with(ending));
    if ends(MINIFIED_ENDINGS) {
        Some(SkipReason::Minified)
    } else if GENERATED_NAMES.contains(&name) || ends(GENERATED_ENDINGS) {
        Some(SkipReason::Generated)
    } else {
        None
    }
}

const MINIFIED_ENDINGS: &[&str] =
    &[".min.js", ".min.mjs", ".min.cjs", ".min.css", ".min.html", "-min.js", "-min.css", ".bundle.min.js"];

/// Lock files: exact, large, and of no use to a reader, and known to the package manager.
const GENERATED_NAMES: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "deno.lock",
    "Cargo.lock",
    "poetry.lock",
    "pdm.lock",
    "uv.lock",
    "pixi.lock",
    "conda-lock.yml",
    "Pipfile.lock",
    "Gemfile.lock",
    "composer.lock",
    "go.sum",
    "go.work.sum",
    "flake.lock",
    "mix.lock",
    "pubspec.lock",
    "Podfile.lock",
    "Package.resolved",
    "packages.lock.json",
    "gradle.lockfile",
    "Manifest.toml.lock",
    ".terraform.lock.hcl",
    "MODULE.bazel.lock",
    "Cartfile.resolved",
    "stack.yaml.lock",
    "cabal.project.freeze",
];

const GENERATED_ENDINGS: &[&str] = &[
    ".js.map",
    ".mjs.map",
    ".cjs.map",
    ".css.map",
    ".ts.map",
    "_pb2.py",
    "_pb2.pyi",
    "_pb2_grpc.py",
    ".pb.go",
    ".pb.gw.go",
    "_grpc.pb.go",
    ".pb.cc",
    ".pb.h",
    ".pb.swift",
    "_pb.js",
    "_pb.ts",
    "_pb.d.ts",
    "_grpc_pb.js",
    "_pb.rb",
    ".g.dart",
    ".freezed.dart",
    ".pb.dart",
    ".pbenum.dart",
    ".pbjson.dart",
    ".designer.cs",
    ".designer.vb",
    ".g.cs",
    ".g.i.cs",
    ".generated.cs",
    ".tsbuildinfo",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> RepoPath {
        RepoPath::new(path).unwrap()
    }

    #[test]
    fn generated_and_minified_files_are_recognized_by_name() {
        for generated in [
            "Cargo.lock",
            "web/package-lock.json",
            "go.sum",
            "app.js.map",
            "x_pb2.py",
            "api/x.pb.go",
            "m.g.dart",
            "Form1.Designer.cs",
            "uv.lock",
        ] {
            assert_eq!(skipped_by_name(&path(generated)), Some(SkipReason::Generated), "{generated}");
        }
        for minified in ["a.min.js", "x/b.min.css", "lib-min.js"] {
            assert_eq!(skipped_by_name(&path(minified)), Some(SkipReason::Minified), "{minified}");
        }
        for kept in
            ["lock.rs", "Cargo.toml", "admin.js", "roadmap", "world.map", "pb2.py", "min.js", ".min.js", "file.lock"]
        {
            assert_eq!(skipped_by_name(&path(kept)), None, "{kept}");
        }
    }

    #[test]
    fn each_class_has_its_switch() {
        let settings = config::Index {
            skip_secrets: false,
            skip_generated: false,
            skip_minified: false,
            max_file_size: 10,
            ..Default::default()
        };
        let (strict, lax) = (Rules::default(), Rules::new(&settings));
        for name in [".netrc", "Cargo.lock", "a.min.js"] {
            assert!(strict.skip(&path(name), 1).is_some(), "{name}");
            assert_eq!(lax.skip(&path(name), 10), None, "{name}");
            assert_eq!(lax.skip(&path(name), 11), Some(SkipReason::Oversize), "{name}");
        }
    }
}
