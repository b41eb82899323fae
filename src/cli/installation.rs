//! How this program was installed: by which package, how that is updated, and how MCP clients start it.
//!
//! Owns what is known of package managers' folders. The files around the executable decide; no package manager is run.

use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::platform::paths::canonical;

/// Where new versions are.
const RELEASES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases");
/// The name of the program, of its packages, and of its server in clients.
const NAME: &str = "ixmcp";
/// In a container image, next to `bin`.
const IMAGE_MARK: &str = "share/ixmcp/image";

/// The installer of the running executable.
pub(super) struct Installation {
    /// Words after "installed": "with npm".
    pub from: String,
    /// Instruction for getting a newer version.
    pub update: String,
    /// The words that start the program where a client must not name the executable: it is in a cache that may be emptied.
    pub launcher: Option<&'static [&'static str]>,
}

impl Installation {
    /// `None`: the system does not say where the executable is.
    pub(super) fn find(environment: &Environment) -> Option<Self> {
        let named = environment.program()?;
        Some(Self::at(&canonical(named).unwrap_or_else(|_| named.to_owned())))
    }

    fn at(program: &Path) -> Self {
        let found = KINDS.iter().find_map(|kind| kind(program));
        found.unwrap_or_else(|| {
            Self::new("as a single file", format!("Download a newer version from {RELEASES} and replace the file."))
        })
    }

    fn new(from: impl Into<String>, update: impl Into<String>) -> Self {
        Self { from: from.into(), update: update.into(), launcher: None }
    }

    fn started_by(self, launcher: &'static [&'static str]) -> Self {
        Self { launcher: Some(launcher), ..self }
    }
}

/// The first that recognizes the path decides.
const KINDS: &[fn(&Path) -> Option<Installation>] =
    &[image, debian, homebrew, npm, uv, pipx, python, cargo, bundle, source, archive];

fn image(program: &Path) -> Option<Installation> {
    let is_image = prefix(program)?.join(IMAGE_MARK).exists();
    is_image.then(|| Installation::new("in a container image", "Pull or build the newer image, and start it again."))
}

fn debian(program: &Path) -> Option<Installation> {
    let is_package = program == Path::new("/usr/bin/ixmcp") && Path::new("/var/lib/dpkg/info/ixmcp.list").exists();
    let update =
        format!("Download the newer .deb from {RELEASES} and run `sudo apt install ./ixmcp_VERSION_ARCHITECTURE.deb`.");
    is_package.then(|| Installation::new("as a Debian package", update))
}

fn homebrew(program: &Path) -> Option<Installation> {
    has(program, "Cellar").then(|| Installation::new("with Homebrew", "Run `brew upgrade ixmcp`."))
}

fn npm(program: &Path) -> Option<Installation> {
    let modules = folder(program, "node_modules")?;
    if has(program, "_npx") {
        // npx on Windows is a script, which only the command interpreter starts.
        let launcher: &[&str] = if cfg!(windows) { &["cmd", "/c", "npx", "-y", NAME] } else { &["npx", "-y", NAME] };
        let update = "Run `npx ixmcp@latest`: npx keeps the version that it once fetched until a newer one is named.";
        return Some(Installation::new("with npx", update).started_by(launcher));
    }
    let above = modules.parent()?;
    let is_global = above.ends_with("lib") || above.ends_with("npm");
    Some(if is_global {
        Installation::new("with npm for all projects", "Run `npm install --global ixmcp@latest`.")
    } else {
        let update = format!("Run `npm install ixmcp@latest` in {}.", above.display());
        Installation::new(format!("with npm in {}", above.display()), update)
    })
}

fn uv(program: &Path) -> Option<Installation> {
    if !prefix(program)?.join("pyvenv.cfg").exists() {
        return None;
    }
    let named = |start: &str| names(program).any(|name| name.starts_with(start));
    if named("archive-v") || named("environments-v") {
        let update = "Run `uvx ixmcp@latest`: uvx keeps the version that it once fetched until a newer one is named.";
        return Some(Installation::new("with uvx", update).started_by(&["uvx", NAME]));
    }
    let is_tool = has(program, "uv") && has(program, "tools");
    is_tool.then(|| Installation::new("with uv", "Run `uv tool upgrade ixmcp`."))
}

fn pipx(program: &Path) -> Option<Installation> {
    let is_tool = has(program, "pipx") && has(program, "venvs");
    is_tool.then(|| Installation::new("with pipx", "Run `pipx upgrade ixmcp`."))
}

fn python(program: &Path) -> Option<Installation> {
    let prefix = prefix(program)?;
    let folders = std::fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten().map(|entry| entry.path());
    let folders =
        folders.chain([prefix.join("Lib")]).flat_map(|lib| ["site-packages", "dist-packages"].map(|p| lib.join(p)));
    let is_ours = |name: &str| name.starts_with("ixmcp-") && name.ends_with(".dist-info");
    let mut entries = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    entries.find(|entry| entry.file_name().to_str().is_some_and(is_ours))?;
    let update = if prefix.join("pyvenv.cfg").exists() {
        format!("Run `{} -m pip install --upgrade ixmcp`.", program.with_file_name("python").display())
    } else {
        "Run `python3 -m pip install --upgrade ixmcp`.".to_owned()
    };
    Some(Installation::new(format!("with pip in {}", prefix.display()), update))
}

fn cargo(program: &Path) -> Option<Installation> {
    let installed = std::fs::read_to_string(prefix(program)?.join(".crates.toml")).ok()?;
    let line = installed.lines().find(|line| line.starts_with("\"ixmcp "))?;
    let folder = line.split_once("(path+file://").and_then(|(_, rest)| rest.split_once(')')).map(|(folder, _)| folder);
    Some(match folder {
        Some(folder) => {
            let install = "cargo install --path . --locked --profile dist --features jemalloc";
            Installation::new(format!("with cargo from {folder}"), format!("Run `git pull && {install}` in {folder}."))
        }
        None => {
            let update =
                "Run `cargo binstall ixmcp`, or `cargo install ixmcp --locked --profile dist --features jemalloc`.";
            Installation::new("with cargo", update)
        }
    })
}

/// An `.mcpb` bundle as a client unpacks it.
fn bundle(program: &Path) -> Option<Installation> {
    let manifest = std::fs::read_to_string(prefix(program)?.join("manifest.json")).ok()?;
    let is_ours = manifest.contains("\"manifest_version\"") && manifest.contains("\"ixmcp\"");
    let update = format!("Download the newer .mcpb from {RELEASES} and open it.");
    is_ours.then(|| Installation::new("as an MCP bundle", update))
}

/// Recognizes an executable that cargo built in a clone: `target/PROFILE`, or `target/TARGET/PROFILE`.
fn source(program: &Path) -> Option<Installation> {
    let is_target = |folder: &&Path| ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|mark| folder.join(mark).exists());
    let target = program.ancestors().skip(2).take(2).find(is_target)?;
    let clone = target.parent().filter(|clone| clone.join("Cargo.toml").exists());
    let (from, place) = match clone {
        Some(clone) => (format!("by cargo in {}", clone.display()), format!(" in {}", clone.display())),
        None => ("by cargo from a clone".to_owned(), String::new()),
    };
    Some(Installation::new(from, format!("Run `git pull && cargo build --release --locked`{place}.")))
}

fn archive(program: &Path) -> Option<Installation> {
    let folder = program.parent()?;
    let is_archive = folder.join("completions").is_dir() && folder.join("man").is_dir();
    let update = format!("Download the newer archive from {RELEASES} and replace the folder.");
    is_archive.then(|| Installation::new("from an archive", update))
}

/// The folder that holds `bin`, in which the executable is.
fn prefix(program: &Path) -> Option<&Path> {
    program.parent()?.parent()
}

fn names(path: &Path) -> impl Iterator<Item = &str> {
    path.iter().filter_map(|name| name.to_str())
}

fn has(path: &Path, name: &str) -> bool {
    names(path).any(|found| found == name)
}

/// The outermost folder of that name above the path.
fn folder<'p>(path: &'p Path, name: &str) -> Option<&'p Path> {
    path.ancestors().filter(|above| above.file_name().is_some_and(|found| found == name)).last()
}

/// The `ixmcp` that a shell starts, and whether that is this installation: the executable, a link to it, or the script of the npm
/// package that starts it.
pub(super) fn on_path(environment: &Environment) -> Option<(PathBuf, bool)> {
    let found = environment.on_path(if cfg!(windows) { "ixmcp.exe" } else { NAME })?;
    let real = |path: &Path| canonical(path).unwrap_or_else(|_| path.to_owned());
    let (there, own) = (real(&found), real(environment.program()?));
    let is_own = there == own || folder(&there, "node_modules").is_some_and(|modules| own.starts_with(modules));
    Some((found, is_own))
}
