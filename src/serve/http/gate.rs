//! Access control of `ixmcp http`: the token, the host, and the origin of every request.
//!
//! `Host` must be one of the server's own names, because another site's name could resolve to its address (DNS rebinding).
//! `Origin`, which browsers send, must be the server's own or one that the user allowed. Every request needs the token.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};

use super::reply::{self, Reply};
use crate::error::{Error, Result};
use crate::serve::token::is_same;

/// Headers that a page of an allowed origin may send, and read.
const ALLOWED_HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, \
    mcp-name, last-event-id";
const EXPOSED_HEADERS: &str = "mcp-session-id, www-authenticate";

pub struct Gate {
    pub token: String,
    /// The names of this server in the header `Host`.
    pub hosts: Vec<Host>,
    /// Whether any address, and `localhost`, is a name of this server. An address cannot be rebound.
    pub allows_addresses: bool,
    pub origins: Vec<Origin>,
    /// Whether clients connect with TLS, to this server or to a proxy in front of it.
    pub is_secure: bool,
}

/// A name in the header `Host`, with a port or for all ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    name: String,
    port: Option<u16>,
}

/// Value of the header `Origin`, which browsers send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

/// An admitted request, by its origin.
pub enum Admitted {
    /// A preflight request of a browser, which is answered with this.
    Preflight(Reply),
    /// The origin to allow in the answer, if the request comes from a page.
    Request(Option<HeaderValue>),
}

impl Host {
    /// Parses `NAME`, `ADDRESS` or `[ADDRESS]`, each with or without `:PORT`.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(port)),
            _ => (text, None),
        };
        let is_address = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'))
            .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let port = match port {
            // Not `+80`, which Rust would parse.
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
            Some(_) => return None,
            None => None,
        };
        (is_address || is_name).then(|| Self { name: name.to_ascii_lowercase(), port })
    }

    pub fn new(name: &str, port: Option<u16>) -> Self {
        Self { name: name.to_owned(), port }
    }

    fn is_address(&self) -> bool {
        self.name.starts_with('[') || self.name == "localhost" || self.name.parse::<std::net::Ipv4Addr>().is_ok()
    }
}

impl Origin {
    /// Parses `https://NAME` or `https://NAME:PORT`; also `http`.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).and_then(Host::parse);
        if host.is_none() {
            return Err(Error::invalid_argument(format!("\"{}\" is not an origin", crate::model::printable(&text)))
                .hint("Give the scheme, the host and, if it is not the default, the port: https://app.example.com."));
        }
        Ok(Self(text))
    }
}

impl Gate {
    /// Checks a request before anything of its body is read.
    pub fn admit<B>(&self, request: &Request<B>) -> Result<Admitted, Reply> {
        let headers = request.headers();
        let refuse = |status, reason: &'static str| Err(reply::closing(reply::text(status, reason)));
        if request.uri().authority().is_some() {
            return refuse(StatusCode::BAD_REQUEST, "The request must name a path, not an address.\n");
        }
        let Ok(host) = only(headers, &header::HOST) else {
            return refuse(StatusCode::BAD_REQUEST, "The request has several hosts.\n");
        };
        let host = host.and_then(|value| Host::parse(value.to_str().ok()?));
        let Some(host) = host.filter(|host| self.is_own(host)) else {
            return refuse(StatusCode::FORBIDDEN, "This host name or port is not served: see --allow-host.\n");
        };
        let origin = match only(headers, &header::ORIGIN) {
            Ok(None) => None,
            Ok(Some(origin)) if self.allows(origin, &host) => Some(origin.clone()),
            _ => return refuse(StatusCode::FORBIDDEN, "This origin is not allowed: see --allow-origin.\n"),
        };
        if let (&Method::OPTIONS, Some(origin)) = (request.method(), &origin) {
            return Ok(Admitted::Preflight(preflight(headers, origin)));
        }
        let sent = only(headers, &header::AUTHORIZATION).ok().flatten().map(HeaderValue::as_bytes);
        let sent = sent.filter(|value| value.len() > 7 && value[..7].eq_ignore_ascii_case(b"bearer "));
        if !sent.is_some_and(|value| is_same(value[7..].trim_ascii(), self.token.as_bytes())) {
            let mut refusal =
                reply::text(StatusCode::UNAUTHORIZED, "The header Authorization: Bearer TOKEN is missing or wrong.\n");
            refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            add_origin(&mut refusal, origin.as_ref());
            return Err(reply::closing(refusal));
        }
        Ok(Admitted::Request(origin))
    }

    fn is_own(&self, host: &Host) -> bool {
        let default = if self.is_secure { 443 } else { 80 };
        let is_listed = self
            .hosts
            .iter()
            .any(|own| own.name == host.name && own.port.is_none_or(|port| port == host.port.unwrap_or(default)));
        is_listed || (self.allows_addresses && host.is_address())
    }

    fn allows(&self, origin: &HeaderValue, host: &Host) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        let origin = origin.to_ascii_lowercase();
        let scheme = if self.is_secure { "https://" } else { "http://" };
        let is_same_site = origin.strip_prefix(scheme).and_then(Host::parse).is_some_and(|sent| sent == *host);
        is_same_site || self.origins.iter().any(|allowed| allowed.0 == origin)
    }
}

/// The value of a header that may be sent once.
pub fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { Err(()) } else { Ok(first) }
}

fn preflight(headers: &HeaderMap, origin: &HeaderValue) -> Reply {
    let mut reply = reply::empty(StatusCode::NO_CONTENT);
    add_origin(&mut reply, Some(origin));
    let answered = reply.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST, GET, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        answered.insert(name, HeaderValue::from_static(value));
    }
    if headers.contains_key("access-control-request-private-network") {
        let name = HeaderName::from_static("access-control-allow-private-network");
        answered.insert(name, HeaderValue::from_static("true"));
    }
    reply
}

/// Lets a page of an allowed origin read the answer.
pub fn add_origin(reply: &mut Reply, origin: Option<&HeaderValue>) {
    let headers = reply.headers_mut();
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    }
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate {
            token: "secret".to_owned(),
            hosts: vec![Host::new("127.0.0.1", Some(7780)), Host::new("localhost", Some(7780))],
            allows_addresses: false,
            origins: vec![Origin::parse("https://App.example.com/").unwrap()],
            is_secure: false,
        }
    }

    fn status(gate: &Gate, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method("POST").uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        gate.admit(&request.body(()).unwrap()).err().map_or(200, |reply| reply.status().as_u16())
    }

    #[test]
    fn only_own_hosts_allowed_origins_and_the_token_are_admitted() {
        let gate = gate();
        let (host, token) = (("host", "localhost:7780"), ("authorization", "Bearer secret"));
        assert_eq!(status(&gate, &[host, token]), 200);
        assert_eq!(status(&gate, &[("host", "LOCALHOST:7780"), ("authorization", "bearer  secret ")]), 200);
        for origin in ["http://localhost:7780", "https://app.example.com", "https://APP.example.com"] {
            assert_eq!(status(&gate, &[host, token, ("origin", origin)]), 200, "{origin}");
        }
        for origin in ["", "null", "http://app.example.com", "https://app.example.com:444", "http://127.0.0.1:7780"] {
            assert_eq!(status(&gate, &[host, token, ("origin", origin)]), 403, "{origin}");
        }
        for wrong in
            ["localhost", "localhost:7781", "evil.example:7780", "localhost:7780.evil.example", "", "[::1]:7780"]
        {
            assert_eq!(status(&gate, &[("host", wrong), token]), 403, "{wrong}");
        }
        assert_eq!(status(&gate, &[token]), 403);
        assert_eq!(status(&gate, &[host, host, token]), 400);
        for wrong in
            ["Bearer secre", "Bearer secrets", "Bearer ", "Bearer", "secret", "Basic secret", "Bearersecret", ""]
        {
            assert_eq!(status(&gate, &[host, ("authorization", wrong)]), 401, "{wrong}");
        }
        assert_eq!(status(&gate, &[host]), 401);
        assert_eq!(status(&gate, &[host, token, token]), 401, "two tokens are ambiguous");
    }

    #[test]
    fn addresses_are_names_of_a_server_that_listens_on_all_of_them() {
        let gate = Gate { hosts: vec![Host::new("example.com", None)], allows_addresses: true, ..gate() };
        let token = ("authorization", "Bearer secret");
        for own in ["10.0.0.7:80", "10.0.0.7", "[fe80::1]:9000", "localhost", "example.com:1234", "Example.com"] {
            assert_eq!(status(&gate, &[("host", own), token]), 200, "{own}");
        }
        for other in ["www.example.com", "10.0.0.7.nip.example", "[x]", "localhost.example"] {
            assert_eq!(status(&gate, &[("host", other), token]), 403, "{other}");
        }
    }
}
