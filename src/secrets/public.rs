//! Decides whether a file whose name suggests secrets holds public values only.
//!
//! The reverse of the other rules: text that is not recognized as public counts as a secret. A line is an assignment, a
//! comment or words. A value with a name such as `password` is public only if it is a switch or a reference to a
//! variable; others have to consist of words, numbers, addresses and paths.

use super::{pem, settings, tokens};

/// A larger file is not a list of settings.
const MAX_SIZE: usize = 64 << 10;

/// Whether no value of the text could be a credential. The text is a list of assignments, as `.env` and `.npmrc` are.
pub(super) fn is_public(text: &[u8]) -> bool {
    text.len() <= MAX_SIZE
        && tokens::secret_parts(text).next().is_none()
        && !pem::blocks(text).any(|block| block.is_private(text))
        && !settings::hold_secrets(text, settings::Reach::Named)
        && std::str::from_utf8(text).is_ok_and(|text| text.lines().all(is_public_line))
}

fn is_public_line(line: &str) -> bool {
    // What is commented out may be used elsewhere.
    let line = line.trim().trim_start_matches(['#', ';', '/', ' ', '\t']);
    if let Some((line, comment)) = line.split_once(" #").filter(|(line, _)| !line.contains(['"', '\''])) {
        return is_public_line(line) && is_public_line(comment);
    }
    match assignment(line.strip_prefix("export ").unwrap_or(line)) {
        Some((name, value)) => is_public_value(name, bare(value)),
        None => !is_telling(line) && line.split_whitespace().all(is_plain),
    }
}

/// `name = value`, `"name": "value"`, and in `.npmrc` `//host/:name=value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || "_-.@/:[]\"'%".contains(c);
        !name.is_empty() && name.chars().all(is_part)
    };
    let at =
        |sign: &str| line.split_once(sign).map(|(name, value)| (name.trim(), value)).filter(|(name, _)| is_name(name));
    at("=").or_else(|| at(": ")).or_else(|| at(":").filter(|(name, _)| !name.contains('/')))
}

/// The value without a comment that follows it, quotes and the comma between items.
fn bare(value: &str) -> &str {
    let value = value.trim().trim_end_matches([',', ';']).trim_end();
    let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    quoted.unwrap_or(value)
}

fn is_public_value(name: &str, value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if value.is_empty() || SWITCHES.contains(&&*lower) || is_reference(value) {
        return true;
    }
    let own = without_variables(value);
    // `-Dpassword=x`, `user: x` and `--token x`, but not the path of an address.
    let is_nested = own.contains(['=', ' ', '\t']) || (own.contains(':') && !own.contains("://"));
    // `mysql -uroot -pswordfish`
    let is_flag_with_password = |word: &str| word.len() > 3 && word.starts_with("-p") && !word.starts_with("-p=");
    let is_public = !(is_nested && (is_telling(&own) || own.split_whitespace().any(is_flag_with_password)))
        && own.split_whitespace().all(is_plain);
    is_public && (!is_telling(name) || words(name).last().is_some_and(|word| DESCRIBING.contains(&word.as_str())))
}

/// The value without `$HOME` and `${HOME}` in it.
fn without_variables(value: &str) -> String {
    let mut parts = value.split('$');
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let inner = part.strip_prefix('{').unwrap_or(part);
        let length = inner.bytes().take_while(|byte| byte.is_ascii_uppercase() || *byte == b'_').count();
        let after = &inner[length..];
        let after = if inner.len() < part.len() { after.strip_prefix('}') } else { Some(after) };
        match after {
            Some(after) if length > 1 => rest.push_str(after),
            // Not a variable: a character that no public value has.
            _ => rest.extend(["$", part]),
        }
    }
    rest
}

/// `${NAME}`, `{{ name }}`, `$NAME`. A default value in it may be a credential, and a password may begin with `$`.
fn is_reference(value: &str) -> bool {
    let inner = [("${{", "}}"), ("{{", "}}"), ("${", "}")]
        .iter()
        .find_map(|(open, close)| value.strip_prefix(open)?.strip_suffix(close));
    let is_name = |name: &str| {
        let has_letters = name.starts_with(|c: char| c.is_ascii_alphabetic());
        has_letters && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c)) && !looks_random(name)
    };
    inner.is_some_and(|name| is_name(name.trim())) || without_variables(value).is_empty()
}

/// Whether a text speaks of a credential, as the name of one does.
fn is_telling(text: &str) -> bool {
    let plain: String = text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    TELLING_PARTS.iter().any(|part| plain.contains(part))
        || words(text).iter().any(|word| TELLING_WORDS.contains(&word.as_str()))
}

/// The words of a name: `authToken`, `AUTH_TOKEN` and `auth-token` have two.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a text without spaces consists of words and numbers: an address, a path, a version.
fn is_plain(text: &str) -> bool {
    let has_user = || {
        let authority = text.split_once("://").map_or(text, |(_, rest)| rest);
        let authority = authority.split('/').next().unwrap_or_default();
        authority.split_once('@').is_some_and(|(user, _)| user.contains(':') || text.contains("://"))
    };
    let is_part = |c: char| c.is_alphanumeric() || "._-/:,+*=?&~@()[]{}<>\"'`|".contains(c);
    // `Xk29-qPz8-77Lm-aQ1z`
    let is_mixed = |part: &&str| part.contains(char::is_numeric) && part.contains(char::is_alphabetic);
    text.chars().all(is_part)
        && !has_user()
        && text.split(|c: char| !c.is_alphanumeric()).filter(is_mixed).count() <= MAX_MIXED_PARTS
        && text.split(|c: char| !c.is_alphanumeric()).all(|part| !looks_random(part))
}

/// Whether letters and digits are mixed as in a key or a password, and not as in `utf8`, `x86`, `30s` or `localStorage`.
fn looks_random(part: &str) -> bool {
    let count = |is: fn(&char) -> bool| part.chars().filter(is).count();
    let (digits, length) = (count(char::is_ascii_digit), part.chars().count());
    if digits == length {
        return length > MAX_DIGITS;
    }
    let runs = part.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    let is_mixed = digits > 0 && (digits > 3 || runs > 2 || length > MAX_MIXED);
    let vowels = count(|c| "aeiouyAEIOUY".contains(*c) || !c.is_ascii());
    let uppercase = count(char::is_ascii_uppercase);
    let is_vowel = |c: char| "aeiouyAEIOUY".contains(c) || !c.is_ascii_alphabetic();
    let longest = part.split(is_vowel).map(str::len).max().unwrap_or_default();
    let is_jumbled = vowels * 6 < length
        || (uppercase * 4 > length && uppercase + digits < length)
        || longest > MAX_CONSONANTS
        || count(|c| "jqxzJQXZ".contains(*c)) > 1;
    is_mixed || (length >= MIN_JUMBLED && is_jumbled) || length > MAX_WORD
}

/// An account of a cloud has twelve digits.
const MAX_DIGITS: usize = 12;
/// Parts with letters and digits, as `x86` is one.
const MAX_MIXED_PARTS: usize = 2;
/// The longest word with digits in it.
const MAX_MIXED: usize = 12;
const MAX_WORD: usize = 20;
/// Shorter words may be abbreviations.
const MIN_JUMBLED: usize = 8;
/// Consonants in a row in a word.
const MAX_CONSONANTS: usize = 4;

const SWITCHES: &[&str] = &["true", "false", "yes", "no", "on", "off", "null", "none", "nil"];

/// Endings of names that describe a credential and hold none.
const DESCRIBING: &[&str] = &["url", "uri", "host", "port", "path", "file", "dir", "region", "enabled", "type", "ttl"];

/// Parts of names of credentials, also where they are glued to other words: `DBPASS`, `APPKEY`. In German, French,
/// Spanish and Portuguese, too.
const TELLING_PARTS: &[&str] = &[
    "pass",
    "secret",
    "token",
    "key",
    "credential",
    "rootpw",
    "userpw",
    "dbpw",
    "authcode",
    "accesscode",
    "recovery",
    "unlock",
    "unseal",
    "licen",
    "connectionstring",
    "kennwort",
    "geheim",
    "contrase",
    "senha",
    "clave",
];

const TELLING_WORDS: &[&str] = &[
    "pwd", "pw", "auth", "pin", "otp", "totp", "jwt", "salt", "pepper", "seed", "mnemonic", "bearer", "private",
    "login", "creds", "cred", "psk", "hmac", "sas", "license", "cookie", "dsn", "pgpass", "mysqlpwd", "webhook",
    "connstr", "basic", "identity", "nonce",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_without_a_credential_are_public() {
        for text in [
            "",
            "# Values for all\nDEBUG=true\nPORT=8080\nAPI_URL=https://api.example.com/v1\nLOG_LEVEL='info'\n",
            "registry=https://registry.npmjs.org/\nsave-exact=true\nengine-strict = true\n@acme:registry=https://npm.acme.dev/\n",
            "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nalways-auth=true\n",
            "[default]\nregion = us-east-1\noutput = json\n[profile dev]\nsso_account_id = 123456789012\n",
            "[distutils]\nindex-servers =\n    pypi\n    testpypi\n\n[testpypi]\nrepository = https://test.pypi.org/legacy/\n",
            "export PATH=$PWD/bin:$PATH\nuse flake\nPATH_add bin\nlayout python3\n",
            "region = \"eu-west-1\"\ncount = 3\nzones = [\"a\", \"b\"]\ntags = {\n  team = \"web\"\n}\n",
            "TOKEN_URL=https://auth.example.com/oauth/token\nDB_PASSWORD_FILE=/run/secrets/db\nDB_PASSWORD=\n",
            "COMPOSE_PROJECT_NAME=shop  # of all services\nIMAGE=postgres:16-alpine\nADMIN=ops@example.com\n",
            "NODE_OPTIONS=--max-old-space-size=4096\nJAVA_OPTS=\"-Xmx512m -Dfile.encoding=UTF-8\"\n",
            "plugin_cache_dir = \"$HOME/.terraform.d/cache\"\ndisable_checkpoint = true\n",
        ] {
            assert!(is_public(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn whatever_could_be_a_credential_is_not_public() {
        for text in [
            "PASSWORD=hunter2",
            "DB_PASS=swordfish",
            "DBPASS=swordfish",
            "ROOTPW=swordfish",
            "rootpass=swordfish",
            "APPKEY=swordfish",
            "LICENSEKEY=ABCD-1234-EFGH-5678",
            "AUTHCODE=swordfish",
            "RECOVERY_CODE=swordfish",
            "VAULT_UNSEAL=swordfish",
            "PASSWORT=swordfish",
            "kennwort=swordfish",
            "CONTRASENA=swordfish",
            "CONNECTION_STRING=swordfish",
            "CMD=mysql -uroot -pswordfish",
            "X=Xk29-qPz8-77Lm-aQ1z",
            "DB_PWD: swordfish",
            "PGPASSWORD=swordfish",
            "APP_KEY=base",
            "TOKEN=1",
            "PIN=1234",
            "SIGNING-KEY=abc",
            "dbPassword = \"swordfish\"",
            "# PASSWORD=hunter2",
            "# the password is swordfish",
            "PORT=1 # PASSWORD=swordfish",
            "//registry.npmjs.org/:_authToken=0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
            "_auth=bWU6aHVudGVyMg==",
            "//npm.acme.dev/:_password=aHVudGVyMg==",
            "DATABASE_URL=postgres://app:hunter2@db/x",
            "DATABASE_URL=postgres://app@db/x",
            "X=app:hunter2@db",
            "SETTING=9f86d081884c7d659a2feaa0c55ad015",
            "SETTING=550e8400-e29b-41d4-a716-446655440000",
            "SETTING=S3cr3tP4ss",
            "SETTING=xKdPqWzLmNbVcR",
            "SETTING=P@ss!word",
            "SETTING=pa$$word",
            "PASSWORD=$ecret123",
            "SETTING=${NAME:-hunter2}",
            "SETTING=$(pass show x)",
            "HOOK=https://hooks.slack.com/services/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",
            "JAVA_OPTS=-Ddb.password=swordfish",
            "ARGS=--token swordfish",
            "DSN=https://abc@sentry.io/1",
            "[client]\npassword\n",
            "credentials \"app.terraform.io\" {\n  token = \"swordfish\"\n}",
            "{\"db_password\": \"swordfish\"}",
            "KEY=\"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n\"",
            "NAME=caf\u{0}e",
        ] {
            assert!(!is_public(text.as_bytes()), "{text}");
        }
        assert!(!is_public(b"NAME=\xff\xfe"), "it is not text");
        assert!(!is_public("A=b\n".repeat(20_000).as_bytes()), "it is not a page of settings");
    }
}
