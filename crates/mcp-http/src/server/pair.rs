//! HTTP+SSE, the transport of 2024-11-05 and before: a stream that is opened first and carries everything that the server
//! says, and a second URL that takes what the client says (2024-11-05: basic/transports, "HTTP with SSE").

use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use http::{HeaderMap, Request, Response, StatusCode};
use mcp_jsonrpc::{Frame, Message, codes, scan};
use mcp_session::batch_refused;

use super::body::Body;
use super::endpoint::Shared;
use super::options::Pair;
use super::session::{HttpSession, Taken};
use super::{answer, guard};

const ID: &str = "sessionId";

impl Shared {
    /// Opens the stream. The session lives as long as its client stays on it.
    pub(super) fn open_pair(self: &Arc<Self>, headers: &HeaderMap, pair: &Pair) -> Response<Body> {
        if !guard::accepts(headers, "text", "event-stream") {
            let text = "Not Acceptable: Client must accept text/event-stream";
            return answer::refusal(StatusCode::NOT_ACCEPTABLE, -32000, text, false);
        }
        let session = match self.open(true) {
            Ok(session) => session,
            Err(response) => return response,
        };
        let mut preface = BytesMut::new();
        preface.put_slice(b"event: endpoint\ndata: ");
        preface.put_slice(pair.messages.as_bytes());
        preface.put_slice(format!("?{ID}={}\n\n", session.id).as_bytes());
        let owner = Arc::downgrade(&self.sessions);
        let id = session.id.clone();
        let attached = session
            .own
            .attach(None, false, self.options.keep_alive)
            .preface(preface)
            .on_drop(move || {
                if let Some(table) = owner.upgrade() {
                    table.remove(&id);
                }
            });
        // Only a client that is attached keeps the session busy, so it is admitted second.
        match self.sessions.admit(&session, &self.options) {
            Ok(()) => answer::events(attached),
            Err(text) => answer::busy(None, text),
        }
    }

    /// Takes a message. What there is to answer comes on the stream.
    pub(super) async fn post_pair<B>(self: &Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let refuse = |status, text: &str| answer::refusal(status, codes::INVALID_REQUEST, text, false);
        let (parts, body) = request.into_parts();
        if !guard::is_json(&parts.headers) {
            let text = "Unsupported Media Type: Content-Type must be application/json";
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, text);
        }
        let Some(id) = session_id(parts.uri.query()) else {
            return refuse(
                StatusCode::BAD_REQUEST,
                "Bad Request: the query lacks sessionId; the stream's first event names this URL with it",
            );
        };
        let session = self.sessions.get(id).filter(|session| session.pair);
        let Some(session) = session else {
            return answer::refusal(StatusCode::NOT_FOUND, -32001, "Session not found", false);
        };
        let body = match self.read(&parts.headers, body).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        session.touch();
        if session.own.is_full() {
            return answer::busy(None, "The client does not read its stream");
        }
        match scan(body, &self.limits) {
            Ok(Frame::One(message)) => take(&session, message),
            Ok(Frame::Batch(_)) => {
                let refused = batch_refused();
                answer::refusal(
                    StatusCode::BAD_REQUEST,
                    refused.code,
                    refused.message.to_string(),
                    false,
                )
            }
            Err(error) => {
                let object = error.to_error_object();
                match error.id() {
                    Some(id) => answer::error(StatusCode::BAD_REQUEST, id, &object),
                    None => answer::refusal(
                        StatusCode::BAD_REQUEST,
                        object.code,
                        object.message.into_owned(),
                        false,
                    ),
                }
            }
        }
    }
}

fn take(session: &Arc<HttpSession>, message: Message) -> Response<Body> {
    match message {
        Message::Notification(call) => session.notification(call),
        Message::Response(response) => session.response(response),
        Message::Request(request) => {
            let id = request.id.clone();
            match session.request(request) {
                Taken::Answer(frame) => session.own.push(frame),
                Taken::Stream(_) => {}
                Taken::Busy => {
                    return answer::busy(Some(&id), "Too many requests under way in this session");
                }
            }
        }
    }
    answer::text(StatusCode::ACCEPTED, "Accepted")
}

/// The session's id in the query. Ids of ours need no escapes, so neither are any undone.
fn session_id(query: Option<&str>) -> Option<&str> {
    let query = query?;
    query
        .split('&')
        .find_map(|part| part.strip_prefix(ID)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::session_id;

    #[test]
    fn the_id_is_found_among_others() {
        assert_eq!(session_id(Some("sessionId=a1")), Some("a1"));
        assert_eq!(session_id(Some("x=1&sessionId=a1&y")), Some("a1"));
        for none in [
            None,
            Some(""),
            Some("sessionid=a"),
            Some("sessionId"),
            Some("xsessionId=a"),
        ] {
            assert_eq!(session_id(none), None, "{none:?}");
        }
    }
}
