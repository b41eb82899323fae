//! Removes e-mail addresses from a text.
//!
//! Owns what is an address: one in angle brackets, or a name, an `@` and a domain that ends with letters. A decorator (`@cached`) and
//! a version (`lodash@4.17`) are not.

/// The text without addresses and the brackets around them.
pub fn without_addresses(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let before = &rest[..at];
        let name = before.trim_end_matches(is_of_name);
        let after = &rest[at + 1..];
        let domain = &after[..after.find(|c: char| !is_of_domain(c)).unwrap_or(after.len())];
        let domain = domain.trim_end_matches(['.', '-']);
        let is_bracketed = name.ends_with('<') && after[domain.len()..].starts_with('>');
        let has_name = name.len() < before.len();
        if !has_name || domain.is_empty() || !(is_bracketed || is_domain(domain)) {
            kept.push_str(&rest[..=at]);
            rest = after;
            continue;
        }
        let name = name.strip_suffix("mailto:").unwrap_or(name);
        let left = if is_bracketed { name.trim_end_matches('<').trim_end_matches(' ') } else { name };
        kept.push_str(left);
        rest = &after[domain.len() + usize::from(is_bracketed)..];
    }
    kept.push_str(rest);
    kept
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c)
}

fn is_of_domain(c: char) -> bool {
    c.is_alphanumeric() || c == '.' || c == '-'
}

fn is_domain(text: &str) -> bool {
    let Some((host, top)) = text.rsplit_once('.') else { return false };
    !host.is_empty() && top.chars().count() > 1 && top.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_removed_and_nothing_else_is() {
        for (text, expected) in [
            ("Signed-off-by: Ann B. <ann.b+x@mail.example.org>\nnext", "Signed-off-by: Ann B.\nnext"),
            ("ask ann@example.org, or <root@localhost>.", "ask , or."),
            ("mailto:ann@example.org", ""),
            ("jörg@exämple.de. End", ". End"),
            (
                "@pytest.fixture and lodash@4.17.21 and a @ b and user@host",
                "@pytest.fixture and lodash@4.17.21 and a @ b and user@host",
            ),
            ("a@b.cd@e.fg", "@e.fg"),
            ("ends with @", "ends with @"),
        ] {
            assert_eq!(without_addresses(text), expected, "{text}");
        }
    }
}
