//! Detects JSON credentials: service accounts, OAuth clients, access keys, registry logins, private JSON Web Keys.

use memchr::memmem;
use serde_json::{Map, Value};

use super::pem;
use super::settings::is_placeholder;

/// Each of these files contains one of the keywords; other files are not parsed.
const MARKS: &[&[u8]] = &[
    b"\"private_key\"",
    b"\"privateKey\"",
    b"\"client_secret\"",
    b"\"clientSecret\"",
    b"\"refresh_token\"",
    b"\"SecretAccessKey\"",
    b"\"secretAccessKey\"",
    b"\"aws_secret_access_key\"",
    b"\"auths\"",
    b"\"kty\"",
];

/// Credentials have a handful of fields. An object with more is data.
const MAX_FIELDS: usize = 32;

/// Whether the text is a credentials file.
pub(super) fn is_account(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let is_object = text.starts_with(b"{") && text.ends_with(b"}");
    if !is_object || !MARKS.iter().any(|mark| memmem::find(text, mark).is_some()) {
        return false;
    }
    let Ok(Value::Object(document)) = serde_json::from_slice(text) else { return false };
    if document.len() > MAX_FIELDS {
        return false;
    }
    let inner = WRAPPERS.iter().filter_map(|wrapper| document.get(*wrapper)?.as_object());
    std::iter::once(&document).chain(inner).any(logs_in) || is_registry(&document) || is_key_set(&document)
}

const WRAPPERS: &[&str] = &["installed", "web", "AccessKey", "Credentials", "credentials"];

fn logs_in(object: &Map<String, Value>) -> bool {
    let text = |name: &str| object.get(name).and_then(Value::as_str).filter(|value| !is_placeholder(value.as_bytes()));
    let any = |names: &[&str]| names.iter().any(|name| text(name).is_some());
    let mut keys = ["private_key", "privateKey"].iter().filter_map(|name| object.get(*name)?.as_str());
    let holds_key = keys.any(|key| pem::blocks(key.as_bytes()).any(|block| block.is_private(key.as_bytes())));
    let names = |names: &[&str]| names.iter().any(|name| object.get(*name).is_some_and(Value::is_string));
    let is_client = names(&["client_id", "clientId"]) && any(&["client_secret", "clientSecret"]);
    let is_user = names(&["client_id", "access_token", "id_token", "token"]) && any(&["refresh_token"]);
    let access = ["SecretAccessKey", "secretAccessKey", "aws_secret_access_key"];
    let is_access = access.iter().any(|name| text(name).is_some_and(|value| value.len() == 40));
    holds_key || is_client || is_user || is_access
}

/// The registry logins of Docker.
fn is_registry(document: &Map<String, Value>) -> bool {
    let logins = document.get("auths").and_then(Value::as_object);
    logins.is_some_and(|logins| {
        logins.values().any(|login| {
            ["auth", "password", "identitytoken"].iter().any(|name| {
                login.get(*name).and_then(Value::as_str).is_some_and(|value| !is_placeholder(value.as_bytes()))
            })
        })
    })
}

/// A private JSON Web Key, or a key set that contains one.
fn is_key_set(document: &Map<String, Value>) -> bool {
    let is_private = |key: &Map<String, Value>| {
        let has = |name: &str| key.get(name).and_then(Value::as_str).is_some_and(|value| value.len() >= 16);
        let kind = key.get("kty").and_then(Value::as_str);
        (matches!(kind, Some("RSA" | "EC" | "OKP")) && has("d")) || (kind == Some("oct") && has("k"))
    };
    let keys = document.get("keys").and_then(Value::as_array);
    is_private(document) || keys.is_some_and(|keys| keys.iter().filter_map(Value::as_object).any(is_private))
}
