//! Access control of the page's port, which any program of the machine and any site in the browser can reach.
//!
//! Owns the token and three checks. `Host` must be our own, because another site's name could resolve to this address (DNS
//! rebinding). `Origin`, if present, must be our own. Requests for repository data need the token in a header: unlike a cookie,
//! it is not sent to other ports of this machine, and other sites cannot send it. The token is the fragment of the page's
//! address, which browsers do not send to servers; the page reads it from there.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};

use crate::error::{Error, Result};
use crate::platform::random;
use crate::serve::token::is_same;

/// The page loads only its own files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const DATA: &str = "/api/";

pub struct Gate {
    port: u16,
    token: String,
}

/// The status of a refusal, and why.
type Refusal = (StatusCode, &'static str);

impl Gate {
    pub fn new(port: u16) -> Result<Self> {
        Ok(Self { port, token: random::secret().map_err(Error::no_random_bytes)? })
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#token={}", self.port, self.token)
    }

    pub fn admits(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Refusal> {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let one = |name: HeaderName| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().map(HeaderValue::as_bytes);
            if values.next().is_some() { Some(&b""[..]) } else { first }
        };
        let is_own_host = one(header::HOST).is_some_and(|host| hosts.iter().any(|own| own.as_bytes() == host));
        if !is_own_host {
            return Err((
                StatusCode::FORBIDDEN,
                "The host name or port is wrong. (A tunnel must use the same port number.)",
            ));
        }
        let is_own_origin = |origin: &[u8]| {
            hosts.iter().any(|own| origin.strip_prefix(b"http://").is_some_and(|host| host == own.as_bytes()))
        };
        if !one(header::ORIGIN).is_none_or(is_own_origin) {
            return Err((StatusCode::FORBIDDEN, "Other sites may not send requests to this page."));
        }
        if is_of_data(path) {
            let brought = one(header::AUTHORIZATION).and_then(|value| value.strip_prefix(b"Bearer "));
            if !brought.is_some_and(|token| is_same(token, self.token.as_bytes())) {
                return Err((StatusCode::UNAUTHORIZED, "The token is missing, or it is from an earlier run."));
            }
            return Ok(());
        }
        match *method {
            Method::GET | Method::HEAD => Ok(()),
            _ => Err((StatusCode::METHOD_NOT_ALLOWED, "The page is read-only.")),
        }
    }
}

/// Whether a path returns repository data. All other paths are static files.
pub fn is_of_data(path: &str) -> bool {
    path.starts_with(DATA)
}

/// Adds the security headers of every response.
pub fn harden(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(of: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in of {
            headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_our_own_host_origin_and_token_are_admitted() {
        let gate = Gate { port: 4000, token: "secret".to_owned() };
        let refusal = |path: &str, of: &[(&str, &str)]| {
            gate.admits(&Method::GET, path, &headers(of)).err().map(|(status, _)| status.as_u16())
        };
        let host = ("host", "127.0.0.1:4000");
        let token = ("authorization", "Bearer secret");
        assert_eq!(refusal("/", &[host]), None);
        assert_eq!(refusal("/", &[("host", "localhost:4000")]), None);
        assert_eq!(refusal("/api/state", &[host, token, ("origin", "http://127.0.0.1:4000")]), None);
        for wrong in ["127.0.0.1", "127.0.0.1:4001", "evil.example:4000", "localhost:4000.evil.example", ""] {
            assert_eq!(refusal("/", &[("host", wrong)]), Some(403), "{wrong}");
        }
        assert_eq!(refusal("/", &[]), Some(403));
        assert_eq!(refusal("/", &[host, host]), Some(403), "two hosts are ambiguous");
        for wrong in ["null", "http://127.0.0.1:4001", "https://127.0.0.1:4000", "http://evil.example", ""] {
            assert_eq!(refusal("/api/state", &[host, token, ("origin", wrong)]), Some(403), "{wrong}");
            assert_eq!(refusal("/", &[host, ("origin", wrong)]), Some(403), "{wrong}");
        }
        for wrong in ["Bearer secre", "Bearer secrets", "Bearer Secret", "secret", "Bearer ", ""] {
            assert_eq!(refusal("/api/state", &[host, ("authorization", wrong)]), Some(401), "{wrong}");
        }
        assert_eq!(refusal("/api/state", &[host]), Some(401));
        assert!(gate.admits(&Method::POST, "/", &headers(&[host])).is_err());
    }
}
