//! Responses.

use bytes::{Bytes, BytesMut};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use mcp_jsonrpc::encode::{self, NoId};
use mcp_jsonrpc::{ErrorObject, RequestId};

use super::body::{Body, Events};

const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A status and nothing more.
pub(crate) fn bare(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A line of text.
pub(crate) fn text(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

/// A JSON body.
pub(crate) fn json(status: StatusCode, frame: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::whole(frame));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A stream of events, which nothing on the way should hold back or change.
pub(crate) fn events(events: impl Events + 'static) -> Response<Body> {
    stream(Body::events(events))
}

/// Events that are all there already.
pub(crate) fn whole_events(bytes: BytesMut) -> Response<Body> {
    stream(Body::whole(bytes.freeze()))
}

fn stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// An error about a request whose id is known.
pub(crate) fn error(status: StatusCode, id: &RequestId, error: &ErrorObject) -> Response<Body> {
    let mut frame = BytesMut::with_capacity(160);
    encode::error(&mut frame, Ok(id), error);
    json(status, frame)
}

/// A refusal before anything was dispatched. `stateless` leaves the id out; before, it is null.
pub(crate) fn refusal(
    status: StatusCode,
    code: i64,
    text: impl Into<String>,
    stateless: bool,
) -> Response<Body> {
    let mut frame = BytesMut::with_capacity(160);
    let no_id = if stateless { NoId::Absent } else { NoId::Null };
    encode::error(&mut frame, Err(no_id), &ErrorObject::new(code, text.into()));
    json(status, frame)
}

/// Too much at once; try again.
pub(crate) fn busy(id: Option<&RequestId>, text: &str) -> Response<Body> {
    let object = ErrorObject::internal(text.to_owned());
    let mut frame = BytesMut::with_capacity(128);
    encode::error(&mut frame, id.ok_or(NoId::Null), &object);
    let mut response = json(StatusCode::SERVICE_UNAVAILABLE, frame);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
