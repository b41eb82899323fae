//! The file with passwords that an address may name: `passfile`, as PostgreSQL's own clients read it.
//!
//! Owns its format: `host:port:database:role:password` in each line, `*` for any, and `\` before a `:` or `\` that belongs to a field. The
//! first line that matches counts.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::model::printable;

/// A login that needs a password.
pub(super) struct Login<'l> {
    /// The name of the host, or the folder of the socket.
    pub host: &'l str,
    pub port: u16,
    pub database: &'l str,
    pub role: &'l str,
}

/// The password of a login, if the file has it.
pub(super) fn password(file: &Path, login: &Login) -> Result<Option<String>> {
    let text = fs::read_to_string(file).map_err(|_| {
        Error::invalid_argument(format!("passfile: {} cannot be read", printable(&file.to_string_lossy())))
            .hint("Name a file with lines of the form host:port:database:role:password.")
    })?;
    Ok(text.lines().find_map(|line| matched(line, login)))
}

fn matched(line: &str, login: &Login) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, role, password] = fields.as_slice() else { return None };
    let fits = |field: &str, wanted: &str| field == "*" || field == wanted;
    let is_for = fits(host, login.host)
        && fits(port, &login.port.to_string())
        && fits(database, login.database)
        && fits(role, login.role);
    is_for.then(|| password.clone())
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(one) = characters.next() {
        match one {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(characters.next())),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(one)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_matches_counts() {
        let login = Login { host: "db", port: 5432, database: "ixmcp", role: "a:b" };
        for (line, expected) in [
            (r"db:5432:ixmcp:a\:b:secret", Some("secret")),
            (r"*:*:*:*:se\:c:ret\\", Some(r"se:c:ret\")),
            (r"#*:*:*:*:secret", None),
            (r"other:*:*:*:secret", None),
            (r"*:5433:*:*:secret", None),
            (r"*:*:other:*:secret", None),
            (r"*:*:*:a:b:secret", None),
            (r"*:*:*:*", None),
            ("", None),
        ] {
            assert_eq!(matched(line, &login).as_deref(), expected, "{line}");
        }
    }
}
