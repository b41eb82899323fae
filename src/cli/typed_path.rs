//! Paths and patterns as a person types them in a folder of the repository.
//!
//! Owns what `.` and `..` at their beginning mean. Does not own which paths may be read: `scan` refuses those outside.

use std::path::{Component, Path, PathBuf};

use crate::platform::paths::canonical;

/// Joins a typed path to the folder, without `.` and `..`. Where the folder of the file exists, links in it are resolved.
pub(super) fn absolute(folder: &Path, typed: &str) -> PathBuf {
    let file = folder.join(typed);
    let above = file.parent().and_then(|above| canonical(above).ok());
    match (above, file.file_name()) {
        (Some(above), Some(name)) => above.join(name),
        _ => without_dots(&file),
    }
}

/// Whether the path begins with `.` or `..`, which are no names of the repository.
pub(super) fn is_from_here(typed: &str) -> bool {
    matches!(Path::new(typed).components().next(), Some(Component::CurDir | Component::ParentDir))
}

/// Turns a pattern that begins with `./` or `../` into one from the root of the repository. Others are returned as typed, as
/// are those that lead out of the repository.
pub(super) fn pattern(root: &Path, folder: &Path, typed: &str) -> String {
    let mut rest = typed;
    let mut base = folder;
    while let Some((step, after)) = rest.split_once('/').filter(|(step, _)| matches!(*step, "." | "..")) {
        if step == ".." {
            match base.parent().filter(|above| above.starts_with(root)) {
                Some(above) => base = above,
                None => return typed.to_owned(),
            }
        }
        rest = after;
    }
    if rest.len() == typed.len() {
        return typed.to_owned();
    }
    let Ok(below) = base.strip_prefix(root) else { return typed.to_owned() };
    let names = below.iter().map(|name| globset::escape(&name.to_string_lossy()) + "/");
    format!("/{}{rest}", names.collect::<String>())
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_from_here_becomes_one_from_the_root() {
        let made = |typed| pattern(Path::new("/r"), Path::new("/r/a/b[1]"), typed);
        assert_eq!(made("../*.py"), "/a/*.py");
        assert_eq!(made("./*.py"), "/a/b[[]1[]]/*.py");
        assert_eq!(made("../../x/**"), "/x/**");
        assert_eq!(made("../../../x"), "../../../x");
        assert_eq!(made("*.py"), "*.py");
        assert_eq!(made("..x/y"), "..x/y");
    }
}
