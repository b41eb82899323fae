//! HTTP responses: their bodies, statuses and headers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;
use tokio::sync::mpsc;

use crate::serve::envelope::{self, Id, RpcError};

pub type Reply = Response<ReplyBody>;

pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// A whole body, or server-sent events.
pub enum ReplyBody {
    Whole(Full<Bytes>),
    Events(mpsc::Receiver<Bytes>),
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.get_mut() {
            Self::Whole(body) => Pin::new(body).poll_frame(context),
            Self::Events(events) => events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

fn whole(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(Full::new(body.into())));
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

pub fn text(status: StatusCode, reason: impl Into<Bytes>) -> Reply {
    whole(status, "text/plain; charset=utf-8", reason)
}

pub fn json(status: StatusCode, body: String) -> Reply {
    whole(status, "application/json", body)
}

pub fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(Full::default()));
    *reply.status_mut() = status;
    reply
}

pub fn events(events: mpsc::Receiver<Bytes>) -> Reply {
    let mut reply = Response::new(ReplyBody::Events(events));
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Proxies would otherwise hold events back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    reply
}

/// An error of JSON-RPC. Without an id that could be read, MCP omits it.
pub fn error(status: StatusCode, id: Option<&Id>, fault: &RpcError) -> Reply {
    let body = match id {
        Some(id) => envelope::error(Some(id), fault),
        None => {
            let mut error = json!({ "code": fault.code, "message": fault.message });
            if let Some(data) = &fault.data {
                error["data"] = data.clone();
            }
            json!({ "jsonrpc": "2.0", "error": error }).to_string()
        }
    };
    json(status, body)
}

/// An error about a request that was not read further: the connection is closed.
pub fn closing(mut reply: Reply) -> Reply {
    reply.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    reply
}

/// One server-sent event. A message is one line.
pub fn event(id: Option<&str>, message: &str) -> Bytes {
    match id {
        Some(id) => Bytes::from(format!("id: {id}\nevent: message\ndata: {message}\n\n")),
        None => Bytes::from(format!("event: message\ndata: {message}\n\n")),
    }
}

/// The first event of a stream that can be resumed.
pub fn first_event(id: &str, retry_ms: u64) -> Bytes {
    Bytes::from(format!("id: {id}\nretry: {retry_ms}\ndata:\n\n"))
}

/// Keeps proxies from closing a quiet stream.
pub const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");
