//! Downloads the files of a model from a hub.
//!
//! Owns the hub's interface (`<hub>/<name>/resolve/<revision>/<file>`), resuming interrupted downloads, and checksums. A
//! proxy is taken from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use ureq::http::{HeaderMap, Response, StatusCode};
use ureq::{Agent, Body};

use super::super::output;
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::model::printable;

const HUB: &str = "https://huggingface.co";
/// A file is on a store that the hub sends on to, and that perhaps once more.
const MOST_REDIRECTS: usize = 5;
/// Times that a transfer that breaks off is continued, as long as each brings something.
const MOST_TRIES: usize = 5;
const LARGEST: u64 = 2 << 30;
const CONNECT: Duration = Duration::from_secs(20);
/// A server that sends nothing for this long is gone.
const SILENCE: Duration = Duration::from_secs(60);
const TELL: Duration = Duration::from_secs(5);

pub(super) struct Hub {
    agent: Agent,
    base: String,
    token: Option<String>,
}

/// Facts that the hub sends about a file before its bytes.
struct Download {
    /// SHA-256, hexadecimal, of a large file.
    checksum: Option<String>,
    size: Option<u64>,
}

impl Hub {
    pub fn new(environment: &Environment) -> Result<Self> {
        let base = environment.get("HF_ENDPOINT").unwrap_or(HUB).trim_end_matches('/').to_owned();
        if !(base.starts_with("https://") || base.starts_with("http://")) {
            return Err(Error::invalid_argument(format!("HF_ENDPOINT is \"{}\"", printable(&base)))
                .hint("It must begin with https://."));
        }
        let config = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .https_only(base.starts_with("https://"))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .user_agent(concat!("ixmcp/", env!("CARGO_PKG_VERSION")))
            .build();
        let token = environment.get("HF_TOKEN").map(str::to_owned);
        Ok(Self { agent: config.into(), base, token })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// Puts a file of the model at `to`; `false` where the model has none of that name.
    pub fn fetch(&self, name: &str, revision: &str, file: &str, to: &Path) -> Result<bool> {
        let part = to.with_file_name(format!("{}.part", to.file_name().unwrap_or_default().to_string_lossy()));
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, error))?;
        }
        let mut tries = 0;
        let mut resumed = length(&part) > 0;
        loop {
            let before = length(&part);
            match self.go_on(name, revision, file, &part) {
                Ok(None) => return Ok(false),
                Ok(Some(described)) if fits(&described, &part)? => {
                    fs::rename(&part, to).map_err(|error| Error::io("put", to, error))?;
                    return Ok(true);
                }
                Ok(Some(_)) => {
                    let _ = fs::remove_file(&part);
                    if !resumed {
                        return Err(Error::internal(format!(
                            "the checksum of {file} differs from the one that the hub reports"
                        ))
                        .hint("The download was discarded. Try again; if this persists, do not trust the source."));
                    }
                    // What lay there may have been the beginning of another file.
                    resumed = false;
                }
                Err(Failed::Broken(reason)) => {
                    tries = if length(&part) > before { 0 } else { tries + 1 };
                    if tries >= MOST_TRIES {
                        return Err(unreachable(format!("{file}: the download was interrupted: {reason}"))
                            .hint(format!("The next attempt resumes it. {WAYS}")));
                    }
                    resumed = length(&part) > 0;
                    std::thread::sleep(Duration::from_millis(200) * u32::try_from(tries).unwrap_or(1));
                }
                Err(Failed::Refused(error)) => return Err(error),
            }
        }
    }

    /// Fetches what `part` lacks.
    fn go_on(
        &self,
        name: &str,
        revision: &str,
        file: &str,
        part: &Path,
    ) -> std::result::Result<Option<Download>, Failed> {
        let have = length(part);
        let mut url = format!("{}/{name}/resolve/{revision}/{file}", self.base);
        let mut described = Download { checksum: None, size: None };
        for _ in 0..=MOST_REDIRECTS {
            let mut request = self.agent.get(&url);
            if have > 0 {
                request = request.header("Range", format!("bytes={have}-"));
            }
            // Only to the hub, not to servers that it redirects to.
            if let Some(token) = self.token.as_ref().filter(|_| url.starts_with(&format!("{}/", self.base))) {
                request = request.header("Authorization", format!("Bearer {token}"));
            }
            let response = request.call().map_err(|error| self.failed(&error))?;
            hear(response.headers(), &mut described);
            match response.status() {
                status if status.is_redirection() => {
                    let next = header(response.headers(), "location").unwrap_or_default();
                    url = if next.starts_with('/') { format!("{}{next}", origin(&url)) } else { next };
                    if !(url.starts_with("https://")
                        || (url.starts_with("http://") && self.base.starts_with("http://")))
                    {
                        return Err(refused(format!("{file}: the hub redirects to \"{}\"", printable(&url))));
                    }
                }
                StatusCode::OK | StatusCode::PARTIAL_CONTENT => {
                    receive(response, file, have, part, &mut described)?;
                    return Ok(Some(described));
                }
                // The whole file is already here, or more than it.
                StatusCode::RANGE_NOT_SATISFIABLE if have > 0 => return Ok(Some(described)),
                StatusCode::NOT_FOUND => return Ok(None),
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    return Err(Failed::Refused(
                        Error::not_found(format!("the hub has no model {name}, or you have no access to it")).hint(
                            "Check the name. If the model requires consent, give it on the hub and set HF_TOKEN.",
                        ),
                    ));
                }
                status if status.is_server_error() => {
                    return Err(Failed::Broken(format!("the hub responds with {status}")));
                }
                status => return Err(refused(format!("{file}: the hub responds with {status}"))),
            }
        }
        Err(refused(format!("{file}: too many redirects")))
    }

    /// There is no way to the hub: another try would not find one.
    fn cut_off(&self, error: &ureq::Error) -> Failed {
        let cause = match error {
            ureq::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        Failed::Refused(unreachable(format!("{} cannot be reached: {cause}", self.base)))
    }

    fn failed(&self, error: &ureq::Error) -> Failed {
        match error {
            ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Tls(_)
            | ureq::Error::InvalidProxyUrl
            | ureq::Error::ConnectProxyFailed(_)
            | ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => self.cut_off(error),
            ureq::Error::Io(io) if NO_WAY.contains(&io.kind()) || io.to_string().contains(NO_NAME) => {
                self.cut_off(error)
            }
            error => Failed::Broken(error.to_string()),
        }
    }
}

const NO_WAY: &[ErrorKind] =
    &[ErrorKind::ConnectionRefused, ErrorKind::HostUnreachable, ErrorKind::NetworkUnreachable, ErrorKind::NotFound];

/// Message of the standard library for an unknown host name: its error kind has no name of its own.
const NO_NAME: &str = "failed to lookup address";

const WAYS: &str = "Check the network, HTTPS_PROXY, NO_PROXY, and HF_ENDPOINT if you use a mirror; or copy the model's folder from another \
    machine and use `--from FOLDER`.";

fn unreachable(message: String) -> Error {
    Error::new(crate::error::ErrorKind::Unreachable, message).hint(WAYS)
}

enum Failed {
    /// A transfer that broke off and can be continued.
    Broken(String),
    Refused(Error),
}

fn refused(message: String) -> Failed {
    Failed::Refused(unreachable(message))
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.trim().to_owned())
}

/// `https://host` of an address.
fn origin(url: &str) -> &str {
    let after = url.find("://").map_or(0, |at| at + 3);
    url[after..].find('/').map_or(url, |at| &url[..after + at])
}

/// Large files have their checksum where they are linked from.
fn hear(headers: &HeaderMap, described: &mut Download) {
    let tag = header(headers, "x-linked-etag").map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_lowercase());
    let is_checksum = |tag: &String| tag.len() == 64 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    described.checksum = tag.filter(is_checksum).or_else(|| described.checksum.take());
    described.size = header(headers, "x-linked-size").and_then(|size| size.parse().ok()).or(described.size);
}

fn receive(
    response: Response<Body>,
    file: &str,
    have: u64,
    part: &Path,
    described: &mut Download,
) -> std::result::Result<(), Failed> {
    let failed = |error| Failed::Refused(Error::io("write", part, error));
    // A server that knows no ranges sends all of it again.
    let from = if response.status() == StatusCode::PARTIAL_CONTENT { have } else { 0 };
    let mut options = OpenOptions::new();
    let mut out = options.create(true).append(from > 0).write(true).truncate(from == 0).open(part).map_err(failed)?;
    let total = response.body().content_length().map(|length| from + length);
    described.size = described.size.or(total);
    if total.is_some_and(|total| total > LARGEST) {
        return Err(refused(format!("{file} is too large")));
    }
    let mut reader = response.into_body().into_reader().take(LARGEST);
    let (mut buffer, mut done, mut last) = (vec![0; 1 << 16], from, Instant::now());
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => return Err(Failed::Broken(error.to_string())),
        };
        out.write_all(&buffer[..count]).map_err(failed)?;
        done += count as u64;
        if last.elapsed() >= TELL {
            last = Instant::now();
            let of = total.map_or_else(String::new, |total| format!(" of {}", total >> 20));
            output::note(&format!("{file}: {}{of} MB", done >> 20));
        }
    }
    out.sync_all().map_err(failed)?;
    if total.is_some_and(|total| done < total) {
        return Err(Failed::Broken(format!("{done} bytes were received")));
    }
    Ok(())
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

/// Whether the file is what the hub says.
fn fits(described: &Download, part: &Path) -> Result<bool> {
    if described.size.is_some_and(|size| size != length(part)) {
        return Ok(false);
    }
    let Some(checksum) = &described.checksum else { return Ok(true) };
    let failed = |error| Error::io("read", part, error);
    let mut file = File::open(part).map_err(failed)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer).map_err(failed)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    Ok(faster_hex::hex_string(&hasher.finalize()) == *checksum)
}
