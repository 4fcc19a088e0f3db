use std::sync::Arc;

use bytes::Bytes;
use mcp_exchange::Peer;
use mcp_jsonrpc::{Call, ErrorObject, ParamKey, RawJson, Request, RequestId, codes};
use mcp_types::meta::RequestMeta;
use mcp_types::method::{self, Side};
use mcp_types::{ClientCapabilities, Era, Implementation, LoggingLevel, Revision, Revisions};
use serde::Deserialize;

use crate::negotiate::{answer_version, unsupported_version};

/// What to do with a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// Hand it to the handler.
    Serve(Admission),
    /// Hand this `initialize` to the handler, and open a session with this peer.
    Handshake(Admission),
    /// Answer this at once: `ping`.
    Answer(RawJson),
    /// Answer this error.
    Refuse(ErrorObject),
}

/// What the session rules know about a request that may be served.
#[derive(Debug)]
#[non_exhaustive]
pub struct Admission {
    /// Who asks, in which revision.
    pub peer: Arc<Peer>,
    /// The token to report progress under.
    pub progress_token: Option<RawJson>,
    /// The log level of this request, in the stateless era.
    pub log_level: Option<LoggingLevel>,
}

/// What to do with a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteVerdict {
    /// Hand it to the handler.
    Deliver,
    /// Cancel the request of this id, if it is under way.
    Cancel(RequestId),
    /// The client finished the handshake: change notices and questions may start. Then hand it to the handler.
    Initialized,
    /// Drop it; for the log, why.
    Ignore(&'static str),
}

/// The rules of a server for what comes in on one connection: eras, handshake, what exists in which revision.
///
/// One connection may carry both eras at once; each request is judged by its own `_meta`
/// (2026-07-28: basic/versioning).
#[derive(Debug)]
pub struct ServerInbound {
    served: Revisions,
    stateful: Option<Arc<Peer>>,
    initialized: bool,
    /// The last stateless peer, with the bytes that made it. A pure cache: nothing is remembered by it.
    last: Option<(PeerKey, Arc<Peer>)>,
}

#[derive(Debug, PartialEq, Eq)]
struct PeerKey {
    revision: Revision,
    capabilities: Bytes,
    info: Bytes,
}

impl ServerInbound {
    /// A fresh connection to a server of these revisions.
    pub fn new(served: Revisions) -> Self {
        Self {
            served,
            stateful: None,
            initialized: false,
            last: None,
        }
    }

    /// The peer of the handshake, once there was one.
    pub fn stateful_peer(&self) -> Option<&Arc<Peer>> {
        self.stateful.as_ref()
    }

    /// Whether `notifications/initialized` was seen.
    pub fn is_initialized(&self) -> bool {
        self.initialized
    }

    /// Whether a batch may be taken apart here: only after a handshake to 2025-03-26.
    pub fn takes_batches(&self) -> bool {
        self.stateful
            .as_ref()
            .is_some_and(|peer| peer.revision == Revision::V2025_03_26)
    }

    /// Whether everything understood so far was stateless: then even a report about something unreadable is
    /// written as that era writes it.
    pub fn only_stateless_seen(&self) -> bool {
        self.stateful.is_none() && self.last.is_some()
    }

    /// Whether this call is one of the stateless era, by its own `_meta`. Such a one may not be part of a batch.
    pub fn is_stateless(call: &Call) -> bool {
        let raw = call.param(ParamKey::Meta);
        read_meta(raw.as_ref()).is_ok_and(|meta| meta.protocol_version.is_some())
    }

    /// The handler refused the handshake that was let through last: the connection is fresh again.
    pub fn handshake_failed(&mut self) {
        self.stateful = None;
        self.initialized = false;
    }

    /// Judges a request.
    pub fn request(&mut self, request: &Request) -> Verdict {
        let method = request.call.method();
        if is_notification(method) {
            return refuse(ErrorObject::invalid_request(format!(
                "Invalid request: {method} is a notification and has no id"
            )));
        }
        let raw = request.call.param(ParamKey::Meta);
        let meta = match read_meta(raw.as_ref()) {
            Ok(meta) => meta,
            Err(error) => return refuse(error),
        };
        let outcome = match &meta.protocol_version {
            Some(version) => self.stateless(method, version, &meta),
            None => self.stateful(request, &meta),
        };
        outcome.unwrap_or_else(refuse)
    }

    fn stateless(
        &mut self,
        method: &str,
        version: &str,
        meta: &RequestMeta<'_>,
    ) -> Result<Verdict, ErrorObject> {
        let served = Revision::from_name(version)
            .filter(|revision| revision.is_stateless() && self.served.contains(*revision));
        let Some(revision) = served else {
            return Err(unsupported_version(version, self.served));
        };
        let Some(capabilities) = meta.client_capabilities else {
            return Err(ErrorObject::invalid_params(
                "Invalid params: _meta lacks io.modelcontextprotocol/clientCapabilities",
            ));
        };
        exists(method, revision)?;
        let info = meta.client_info.unwrap_or_default();
        let known = self.last.as_ref().filter(|(last, _)| {
            last.revision == revision && last.capabilities == capabilities && last.info == info
        });
        let peer = match known {
            Some((_, peer)) => Arc::clone(peer),
            None => {
                let declared: ClientCapabilities = serde_json::from_str(capabilities).map_err(|error| {
                    ErrorObject::invalid_params(format!("Invalid params: clientCapabilities: {error}"))
                })?;
                let peer = Peer::new(revision)
                    .with_capabilities(declared)
                    .with_info(meta.parse_client_info());
                let peer = Arc::new(peer);
                let key = PeerKey {
                    revision,
                    capabilities: Bytes::copy_from_slice(capabilities.as_bytes()),
                    info: Bytes::copy_from_slice(info.as_bytes()),
                };
                self.last = Some((key, Arc::clone(&peer)));
                peer
            }
        };
        Ok(Verdict::Serve(Admission {
            peer,
            progress_token: progress_token(meta),
            log_level: meta.log_level,
        }))
    }

    fn stateful(&mut self, request: &Request, meta: &RequestMeta<'_>) -> Result<Verdict, ErrorObject> {
        let method = request.call.method();
        match (method, &self.stateful) {
            (method::PING, _) if !self.served.and(Revisions::STATEFUL).is_empty() => {
                Ok(Verdict::Answer(RawJson::empty_object()))
            }
            (method::INITIALIZE, Some(_)) => Err(ErrorObject::invalid_request(
                "Invalid request: this session is initialized already",
            )),
            (method::INITIALIZE, None) => {
                let peer = Arc::new(self.handshake(&request.call)?);
                self.stateful = Some(Arc::clone(&peer));
                Ok(Verdict::Handshake(Admission {
                    peer,
                    progress_token: progress_token(meta),
                    log_level: None,
                }))
            }
            (method::SERVER_DISCOVER, _) => Err(ErrorObject::invalid_params(
                "Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion",
            )),
            (_, None) => {
                let served: Vec<_> = self.served.iter().map(Revision::name).collect();
                let text = format!(
                    "Invalid request: {method} before initialize, and without a protocol version in _meta \
                     (this server speaks {})",
                    served.join(", ")
                );
                Err(ErrorObject::invalid_request(text))
            }
            (_, Some(peer)) => {
                exists(method, peer.revision)?;
                let peer = Arc::clone(peer);
                Ok(Verdict::Serve(Admission {
                    peer,
                    progress_token: progress_token(meta),
                    log_level: None,
                }))
            }
        }
    }

    fn handshake(&self, call: &Call) -> Result<Peer, ErrorObject> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            protocol_version: String,
            #[serde(default)]
            capabilities: Option<RawJson>,
            #[serde(default)]
            client_info: Option<RawJson>,
        }
        let params: Params = call
            .parse()
            .map_err(|error| ErrorObject::invalid_params(format!("Invalid params: {error}")))?;
        let asked = &params.protocol_version;
        let Some(revision) = answer_version(asked, self.served) else {
            return Err(unsupported_version(asked, self.served));
        };
        let capabilities = match params.capabilities.filter(|raw| !raw.is_null()) {
            Some(raw) => raw.parse().map_err(|error| {
                ErrorObject::invalid_params(format!("Invalid params: capabilities: {error}"))
            })?,
            None => ClientCapabilities::default(),
        };
        let info = params
            .client_info
            .and_then(|raw| raw.parse::<Implementation>().ok());
        Ok(Peer::new(revision)
            .with_capabilities(capabilities)
            .with_info(info))
    }

    /// Judges a notification.
    pub fn notification(&mut self, call: &Call) -> NoteVerdict {
        match call.method() {
            method::CANCELLED => cancelled(call),
            method::INITIALIZED if self.stateful.is_none() => {
                NoteVerdict::Ignore("initialized before initialize")
            }
            method::INITIALIZED if self.initialized => NoteVerdict::Ignore("initialized twice"),
            method::INITIALIZED => {
                self.initialized = true;
                NoteVerdict::Initialized
            }
            other if !is_notification(other) => NoteVerdict::Ignore("a request without an id"),
            // Those of extensions may belong to the stateless era, which has no handshake.
            other if self.stateful.is_none() && is_known(other) => {
                NoteVerdict::Ignore("a notification before initialize")
            }
            _ => NoteVerdict::Deliver,
        }
    }
}

/// The rules of a client for what comes in on one connection.
#[derive(Debug)]
pub struct ClientInbound {
    peer: Arc<Peer>,
    settled: bool,
}

impl Default for ClientInbound {
    fn default() -> Self {
        Self {
            peer: Arc::new(Peer::new(Revision::LATEST_HANDSHAKE)),
            settled: false,
        }
    }
}

impl ClientInbound {
    /// Both sides settled on this revision.
    pub fn negotiated(&mut self, revision: Revision) {
        self.settled = true;
        self.peer = Arc::new(Peer::new(revision));
    }

    /// The server, as far as the session rules know it.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Whether a batch may be taken apart here.
    pub fn takes_batches(&self) -> bool {
        self.settled && self.peer.revision == Revision::V2025_03_26
    }

    /// Whether responses are written at all: not in the stateless era (2026-07-28: basic/transports, stdio).
    pub fn answers(&self) -> bool {
        !self.settled || self.peer.era() != Era::Stateless
    }

    /// Judges a request of the server. None: drop it, since a stateless client never writes a response.
    pub fn request(&mut self, request: &Request) -> Option<Verdict> {
        if !self.answers() {
            return None;
        }
        let method = request.call.method();
        if method == method::PING {
            return Some(Verdict::Answer(RawJson::empty_object()));
        }
        if is_notification(method) {
            return Some(refuse(ErrorObject::invalid_request(format!(
                "Invalid request: {method} is a notification and has no id"
            ))));
        }
        let known = method::lookup(method, Side::Server, self.peer.revision).is_some();
        if !known && is_known(method) {
            return Some(refuse(ErrorObject::method_not_found(method)));
        }
        let raw = request.call.param(ParamKey::Meta);
        Some(match read_meta(raw.as_ref()) {
            Ok(meta) => Verdict::Serve(Admission {
                peer: Arc::clone(&self.peer),
                progress_token: progress_token(&meta),
                log_level: None,
            }),
            Err(error) => refuse(error),
        })
    }

    /// Judges a notification of the server.
    pub fn notification(&self, call: &Call) -> NoteVerdict {
        match call.method() {
            method::CANCELLED => cancelled(call),
            other if is_known(other) && !is_notification(other) => {
                NoteVerdict::Ignore("a request without an id")
            }
            _ => NoteVerdict::Deliver,
        }
    }
}

/// Reads `_meta`; absent and null are empty.
fn read_meta(meta: Option<&RawJson>) -> Result<RequestMeta<'_>, ErrorObject> {
    match meta.filter(|meta| !meta.is_null()) {
        None => Ok(RequestMeta::default()),
        Some(meta) => RequestMeta::parse(meta)
            .map_err(|error| ErrorObject::invalid_params(format!("Invalid params: _meta: {error}"))),
    }
}

/// The token to report progress under, as JSON: echoed in the type in which it came.
fn progress_token(meta: &RequestMeta<'_>) -> Option<RawJson> {
    RawJson::encode(meta.progress_token.as_ref()?).ok()
}

/// A method that some revision knows must be known in this one, sent by a client. Methods that no revision knows
/// are for the handler to judge: an extension may define them.
fn exists(method: &str, revision: Revision) -> Result<(), ErrorObject> {
    if method::lookup(method, Side::Client, revision).is_some() || !is_known(method) {
        return Ok(());
    }
    Err(ErrorObject::method_not_found(method))
}

fn cancelled(call: &Call) -> NoteVerdict {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        request_id: RequestId,
    }
    match call.parse::<Params>() {
        Ok(params) => NoteVerdict::Cancel(params.request_id),
        Err(_) => NoteVerdict::Ignore("a cancellation without a usable requestId"),
    }
}

fn refuse(error: ErrorObject) -> Verdict {
    Verdict::Refuse(error)
}

/// The error for a batch where the revision has none.
pub fn batch_refused() -> ErrorObject {
    ErrorObject::new(
        codes::INVALID_REQUEST,
        "Invalid request: batches exist in protocol version 2025-03-26 only",
    )
}

fn is_notification(method: &str) -> bool {
    method.starts_with("notifications/")
}

/// Whether any revision knows the method.
fn is_known(method: &str) -> bool {
    method::all().iter().any(|known| known.name == method)
}

#[cfg(test)]
mod tests;
