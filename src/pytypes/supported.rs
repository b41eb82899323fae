//! The oldest Python version that a project supports, where its build files say so instead of `requires-python`.
//!
//! Owns reading `[tool.poetry.dependencies]`, `setup.cfg` and `setup.py`. The checker does not read them and uses the
//! version of the environment. Annotations are evaluated by the older versions too. Nothing is executed.

use std::path::Path;

use toml::de::DeTable;

use super::options::{lower_bound, read_file};

/// Major and minor.
pub(super) fn oldest(folder: &Path) -> Option<(u8, u8)> {
    let text = |name: &str| read_file(&folder.join(name)).map(|(_, text)| text);
    let required = text("pyproject.toml").and_then(|text| of_poetry(&text));
    let required = required.or_else(|| ["setup.cfg", "setup.py"].into_iter().find_map(|name| of_setup(&text(name)?)));
    lower_bound(&required?).ok().flatten()
}

/// `python = "^3.8"` is at least 3.8.
fn of_poetry(text: &str) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let mut table = table.get_ref();
    for name in ["tool", "poetry", "dependencies"] {
        table = table.get(name)?.get_ref().as_table()?;
    }
    let required = table.get("python")?.get_ref().as_str()?;
    let at_least =
        required.strip_prefix('^').or_else(|| required.strip_prefix('~').filter(|rest| !rest.starts_with('=')));
    Some(at_least.map_or_else(|| required.to_owned(), |version| format!(">={version}")))
}

/// `python_requires = >=3.8`, or with quotes as an argument of `setup`.
fn of_setup(text: &str) -> Option<String> {
    let (_, after) = text.split_once("python_requires")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.lines().next()?,
    };
    Some(value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_files_say_which_versions_are_supported() {
        let poetry = |python: &str| of_poetry(&format!("[tool.poetry.dependencies]\npython = \"{python}\"\n"));
        assert_eq!(poetry("^3.8").as_deref(), Some(">=3.8"));
        assert_eq!(poetry("~3.9").as_deref(), Some(">=3.9"));
        assert_eq!(poetry("~=3.10").as_deref(), Some("~=3.10"));
        assert_eq!(poetry(">=3.8,<4").as_deref(), Some(">=3.8,<4"));
        assert_eq!(of_setup("[options]\npython_requires = >=3.7\nzip_safe = no\n").as_deref(), Some(">=3.7"));
        assert_eq!(of_setup("setup(\n    python_requires='>=3.7.0',\n)\n").as_deref(), Some(">=3.7.0"));
        assert_eq!(of_setup("setup(name=\"a\")\n"), None);
    }
}
