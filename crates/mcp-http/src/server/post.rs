//! What is posted: one message, or a batch.

use std::pin::Pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use mcp_jsonrpc::{Call, Frame, Message, ScanError, codes, scan};
use mcp_session::{ServerInbound, Verdict, batch_refused};
use mcp_types::{Revision, method};

use super::body::Body;
use super::endpoint::Shared;
use super::session::{HttpSession, Taken};
use super::stateless::Running;
use super::stream::Stream;
use super::{answer, guard};
use crate::{names, sse};

const NOT_ACCEPTABLE: &str = "Not Acceptable: Client must accept both application/json and text/event-stream";

// A refusal is a response; boxing it to hand it up two levels would cost more than moving it.
#[expect(clippy::result_large_err)]
impl Shared {
    pub(super) async fn post<B>(self: &Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let headers = parts.headers;
        let modern = guard::text(&headers, &names::PROTOCOL_VERSION)
            .and_then(Revision::from_name)
            .is_some_and(Revision::is_stateless);
        if !guard::accepts(&headers, "application", "json")
            || !guard::accepts(&headers, "text", "event-stream")
        {
            return answer::refusal(StatusCode::NOT_ACCEPTABLE, -32000, NOT_ACCEPTABLE, modern);
        }
        if !guard::is_json(&headers) {
            let text = "Unsupported Media Type: Content-Type must be application/json";
            return answer::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32000, text, modern);
        }
        let body = match self.read(&headers, body).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        match scan(body, &self.limits) {
            Ok(Frame::One(message)) => self.message(&headers, message, modern),
            Ok(Frame::Batch(messages)) => return self.batch(&headers, messages, modern).await,
            Err(error) => {
                let object = error.to_error_object();
                return match error.id() {
                    Some(id) => answer::error(StatusCode::BAD_REQUEST, id, &object),
                    None => answer::refusal(
                        StatusCode::BAD_REQUEST,
                        object.code,
                        object.message.into_owned(),
                        modern,
                    ),
                };
            }
        }
        .await
    }

    /// Reads a body up to the limit: one piece is used as it is, several are joined.
    pub(super) async fn read<B>(&self, headers: &HeaderMap, body: B) -> Result<Bytes, Response<Body>>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let too_large = || {
            let text = format!("Payload Too Large: the limit is {} bytes", self.options.max_body);
            answer::refusal(StatusCode::PAYLOAD_TOO_LARGE, codes::INVALID_REQUEST, text, false)
        };
        let announced = guard::text(headers, &CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if announced.is_some_and(|length| length > self.options.max_body as u64) {
            return Err(too_large());
        }
        match Limited::new(body, self.options.max_body).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
            Err(error) => {
                let text = format!("Bad Request: the body cannot be read: {error}");
                Err(answer::refusal(
                    StatusCode::BAD_REQUEST,
                    codes::INVALID_REQUEST,
                    text,
                    false,
                ))
            }
        }
    }

    /// One message. Returns the rest of the work as a future, so that the scan's results need not cross an await.
    fn message(
        self: &Arc<Self>,
        headers: &HeaderMap,
        message: Message,
        modern: bool,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        let done = |response| -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
            Box::pin(std::future::ready(response))
        };
        let request = match message {
            Message::Request(request) => request,
            other => return done(self.without_answer(headers, other, modern)),
        };
        if modern || ServerInbound::is_stateless(&request.call) {
            return match self.stateless(headers, &request) {
                Ok(admission) => {
                    let running = Running::start(&self.handler, request, admission, headers);
                    Box::pin(running.respond(self.options.keep_alive))
                }
                Err((status, error)) => done(answer::error(status, &request.id, &error)),
            };
        }
        let session = if request.call.method() == method::INITIALIZE {
            if let Err(response) = self.agrees(headers, &request.call) {
                return done(response);
            }
            self.open(false)
        } else {
            self.session(headers)
        };
        let session = match session {
            Ok(session) => session,
            Err(response) => return done(response),
        };
        let fresh = request.call.method() == method::INITIALIZE;
        let id = request.id.clone();
        let mut response = match session.request(request) {
            Taken::Answer(frame) if self.options.json => answer::json(StatusCode::OK, frame),
            Taken::Answer(frame) => {
                let mut out = BytesMut::new();
                sse::event(&mut out, None, &frame);
                answer::whole_events(out)
            }
            Taken::Busy => answer::busy(Some(&id), "Too many requests under way in this session"),
            Taken::Stream(stream) => {
                if self.options.json {
                    return self.json_reply(session, stream, fresh);
                }
                let priming =
                    self.options.replay_bytes > 0 && session.revision() == Some(Revision::V2025_11_25);
                match stream.take_whole(priming) {
                    Some(out) => answer::whole_events(out),
                    None => {
                        let attached = stream.attach(None, priming, self.options.keep_alive);
                        let cancels = self.options.disconnect_cancels && self.options.replay_bytes == 0;
                        let owner = Arc::downgrade(&session);
                        answer::events(attached.on_drop(move || {
                            if let (true, Some(session)) = (cancels, owner.upgrade()) {
                                session.cancel(&id);
                            }
                        }))
                    }
                }
            }
        };
        if fresh {
            self.admit(&session, &mut response);
        }
        done(response)
    }

    /// Waits for the answer and sends it as one body; what else there is goes to the session's own stream.
    fn json_reply(
        self: &Arc<Self>,
        session: Arc<HttpSession>,
        stream: Arc<Stream>,
        fresh: bool,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        let shared = Arc::clone(self);
        Box::pin(async move {
            let reply = stream.last(&session.own).await;
            let mut response = match reply {
                Some(frame) => answer::json(StatusCode::OK, frame),
                None => answer::bare(StatusCode::ACCEPTED),
            };
            if fresh {
                shared.admit(&session, &mut response);
            }
            response
        })
    }

    /// Judges a stateless request: what its `_meta` says, and whether its headers say the same.
    fn stateless(
        &self,
        headers: &HeaderMap,
        request: &mcp_jsonrpc::Request,
    ) -> Result<mcp_session::Admission, (StatusCode, mcp_jsonrpc::ErrorObject)> {
        use mcp_jsonrpc::{ErrorObject, ParamKey};
        use mcp_types::meta::RequestMeta;
        let bad = |error| (StatusCode::BAD_REQUEST, error);
        let raw = request
            .call
            .param(ParamKey::Meta)
            .unwrap_or(mcp_jsonrpc::RawJson::empty_object());
        let meta = RequestMeta::parse(&raw).map_err(|error| {
            bad(ErrorObject::invalid_params(format!(
                "Invalid params: _meta: {error}"
            )))
        })?;
        let version = meta.protocol_version.as_deref().ok_or_else(|| {
            bad(ErrorObject::invalid_params(
                "Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion",
            ))
        })?;
        match guard::text(headers, &names::PROTOCOL_VERSION) {
            None => return Err(bad(names::mismatch("MCP-Protocol-Version is missing"))),
            Some(said) if said != version => {
                let text = format!("MCP-Protocol-Version is {said:?}, the body says {version:?}");
                return Err(bad(names::mismatch(text)));
            }
            Some(_) => {}
        }
        let (method, name) = (
            guard::text(headers, &names::METHOD),
            guard::text(headers, &names::NAME),
        );
        names::match_body(method, name, &request.call).map_err(bad)?;
        match ServerInbound::new(self.served).request(request) {
            Verdict::Serve(admission) => Ok(admission),
            Verdict::Refuse(error) if error.code == codes::METHOD_NOT_FOUND => {
                Err((StatusCode::NOT_FOUND, error))
            }
            Verdict::Refuse(error) => Err(bad(error)),
            _ => Err(bad(ErrorObject::internal("Internal error"))),
        }
    }

    /// A notification or a response: accepted without a body.
    fn without_answer(&self, headers: &HeaderMap, message: Message, modern: bool) -> Response<Body> {
        if modern {
            return match message {
                Message::Response(_) => {
                    let text = "Invalid request: servers ask nothing in this revision";
                    answer::refusal(StatusCode::BAD_REQUEST, codes::INVALID_REQUEST, text, true)
                }
                // Nothing is defined for them; a closed stream is the cancel.
                _ => answer::bare(StatusCode::ACCEPTED),
            };
        }
        let session = match self.session(headers) {
            Ok(session) => session,
            Err(response) => return response,
        };
        match message {
            Message::Notification(call) => session.notification(call),
            Message::Response(response) => session.response(response),
            Message::Request(_) => {}
        }
        answer::bare(StatusCode::ACCEPTED)
    }

    /// A batch: in sessions of 2025-03-26 alone, answered by one array.
    async fn batch(
        self: &Arc<Self>,
        headers: &HeaderMap,
        messages: Vec<Result<Message, ScanError>>,
        modern: bool,
    ) -> Response<Body> {
        let refused = batch_refused();
        let refuse = || {
            answer::refusal(
                StatusCode::BAD_REQUEST,
                refused.code,
                refused.message.to_string(),
                modern,
            )
        };
        if modern {
            return refuse();
        }
        let session = match self.session(headers) {
            Ok(session) if session.takes_batches() => session,
            Ok(_) => return refuse(),
            Err(response) => return response,
        };
        let mut array = BytesMut::new();
        let mut add = |frame: &[u8]| {
            array.extend_from_slice(if array.is_empty() { b"[" } else { b"," });
            array.extend_from_slice(frame);
        };
        let mut waiting = Vec::new();
        for message in messages {
            match message {
                Ok(Message::Notification(call)) => session.notification(call),
                Ok(Message::Response(response)) => session.response(response),
                Ok(Message::Request(request)) => match session.request(request) {
                    Taken::Answer(frame) => add(&frame),
                    Taken::Busy => return answer::busy(None, "Too many requests under way in this session"),
                    Taken::Stream(stream) => waiting.push(stream),
                },
                Err(error) => {
                    let mut frame = BytesMut::new();
                    let id = error.id().ok_or(mcp_jsonrpc::encode::NoId::Null);
                    mcp_jsonrpc::encode::error(&mut frame, id, &error.to_error_object());
                    add(&frame);
                }
            }
        }
        for stream in waiting {
            if let Some(frame) = stream.last(&session.own).await {
                add(&frame);
            }
        }
        if array.is_empty() {
            return answer::bare(StatusCode::ACCEPTED);
        }
        array.extend_from_slice(b"]");
        answer::json(StatusCode::OK, array)
    }

    /// A version header on `initialize` may not contradict its body (P057).
    fn agrees(&self, headers: &HeaderMap, call: &Call) -> Result<(), Response<Body>> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            protocol_version: Option<String>,
        }
        let said = guard::text(headers, &names::PROTOCOL_VERSION);
        let asked = call
            .parse::<Params>()
            .ok()
            .and_then(|params| params.protocol_version);
        match (said, asked) {
            (Some(said), Some(asked)) if said != asked => {
                let text = format!("Bad Request: MCP-Protocol-Version is {said:?}, the body says {asked:?}");
                Err(answer::refusal(StatusCode::BAD_REQUEST, -32000, text, false))
            }
            _ => Ok(()),
        }
    }
}
