//! Whether the type engine can be started, how old it is, and finds the libraries of the repository's Python code.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{DoctorContext, Finding, Level};
use crate::error::Result;
use crate::pytypes::{EMBEDDED, Release};

const PYTHON: &str = "python";

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let has_python = context.ask(|snapshot| Ok(!snapshot.paths(Some(PYTHON))?.is_empty()));
    if has_python == Some(false) {
        return Ok(vec![Finding::new(Level::Ok, "the repository contains no Python")]);
    }
    let environment = &context.session.sources.environment;
    let mut findings = Vec::new();
    findings.push(age(Timestamp::now()));
    let installed = context.session.config.python.ty.as_ref();
    if let Some(given) = installed {
        findings.push(match environment.installed(given, &context.root) {
            Some(program) => Finding::new(Level::Ok, format!("`check` runs {}", program.display())),
            None => {
                let message = format!("{} is not there, and python.engine is \"ty\"", given.display());
                Finding::new(Level::Error, message)
                    .remedy("Install ty, and set python.ty to its full path or a name on PATH outside of the repository; or set python.engine = \"embedded\".")
            }
        });
    }
    let own = context.root.join(".venv");
    let named = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().find_map(|name| environment.get(name).map(PathBuf::from));
    let folder = named.or_else(|| own.exists().then_some(own));
    if installed.is_none() {
        findings.extend(folder.as_deref().and_then(newer_ty));
    }
    findings.push(match folder {
        Some(folder) if has_libraries(&folder) => {
            Finding::new(Level::Ok, format!("libraries come from {}", folder.display()))
        }
        Some(folder) => Finding::new(Level::Warning, format!("{} is not a Python environment", folder.display()))
            .remedy("Create it again with `python3 -m venv .venv`, or unset the variable that names it."),
        None => match environment.on_path("python3") {
            Some(program) => Finding::new(Level::Ok, format!("libraries come from {}", program.display())),
            None => Finding::new(Level::Note, "there is no Python environment: types of libraries are unknown")
                .remedy("Create one with `python3 -m venv .venv`, and install the project in it."),
        },
    });
    Ok(findings)
}

/// How old the embedded engine is.
fn age(now: Timestamp) -> Finding {
    let Release { crates, day, ty } = EMBEDDED;
    let begun = format!("{day}T00:00:00Z").parse::<Timestamp>();
    let days = begun.map_or(0, |begun| (now.as_second() - begun.as_second()).max(0) / SECONDS_A_DAY);
    let what = format!("the built-in type engine is that of ty {ty}, {days} days old (crates {crates} of {day})");
    if days < OLD_DAYS {
        return Finding::new(Level::Ok, what);
    }
    Finding::new(Level::Note, what)
        .remedy("For newer checks, install ty and set python.engine = \"ty\", or update ixmcp.")
}

/// Bytes that are read of a package's metadata, whose headers come first.
const MAX_HEADERS: u64 = 1 << 16;

/// The release of ty in a Python environment, by its metadata: nothing there is run.
fn newer_ty(environment: &Path) -> Option<Finding> {
    let ours = EMBEDDED.ty;
    let release = installed_release(environment)?;
    let what = format!("ty {release} is installed in {}", environment.display());
    if numbers(&release) <= numbers(ours) {
        return Some(Finding::new(Level::Ok, what));
    }
    let programs = ["bin/ty", "Scripts/ty.exe"].map(|name| environment.join(name));
    let program = programs.iter().find(|program| program.is_file());
    let path = program.map_or_else(|| "the full path of ty".to_owned(), |program| format!("{program:?}"));
    let message = format!("{what}; the built-in type engine equals ty {ours}");
    Some(Finding::new(Level::Note, message).remedy(format!(
        "To check with the newer one, set python.engine = \"ty\" and python.ty = {path} in your own settings; it is then run."
    )))
}

fn installed_release(environment: &Path) -> Option<String> {
    let folders = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let versions = folders(&environment.join("lib")).map(|python| python.join("site-packages"));
    let mut packages = versions.chain([environment.join("Lib/site-packages")]).flat_map(|folder| folders(&folder));
    let is_ty = |package: &PathBuf| {
        let name = package.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("ty-") && name.ends_with(".dist-info"))
    };
    let metadata = packages.find(is_ty)?.join("METADATA");
    let mut text = Vec::new();
    std::fs::File::open(metadata.is_file().then_some(metadata)?).ok()?.take(MAX_HEADERS).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let release = text.lines().find_map(|line| line.strip_prefix("Version:"))?.trim();
    let is_release = !release.is_empty() && release.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    is_release.then(|| release.to_owned())
}

/// The numbers of a release, which compare as releases do.
fn numbers(release: &str) -> Vec<u64> {
    release.split('.').map_while(|part| part.parse().ok()).collect()
}

const SECONDS_A_DAY: i64 = 24 * 60 * 60;
/// ty is released weekly; after this time, newer releases check considerably more.
const OLD_DAYS: i64 = 180;

/// Whether a folder is an environment whose interpreter or libraries exist.
fn has_libraries(folder: &Path) -> bool {
    folder.join("pyvenv.cfg").is_file() || folder.join("bin/python").exists() || folder.join("conda-meta").is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_the_engine_is_counted_in_days_and_noted_when_it_is_old() {
        let at = |time: &str| age(time.parse().unwrap());
        assert!(at("2026-10-28T12:00:00Z").message.contains(", 1 days old"));
        assert_eq!(at("2026-11-25T00:00:00Z").level, Level::Ok);
        assert_eq!(at("2027-10-27T00:00:00Z").level, Level::Note);
    }
}
