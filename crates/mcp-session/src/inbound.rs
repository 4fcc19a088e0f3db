use std::sync::Arc;

use bytes::Bytes;
use mcp_exchange::Peer;
use mcp_jsonrpc::{Call, ErrorObject, RawJson, Request, RequestId, codes};
use mcp_types::method::{self, Sender};
use mcp_types::{ClientCapabilities, Era, Implementation, LoggingLevel, Revision, Revisions};
use serde::Deserialize;

use crate::meta::{self, MetaKeys};
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

    /// Judges a request.
    pub fn request(&mut self, request: &Request) -> Verdict {
        let method = request.call.method();
        if method::is_notification(method) {
            return refuse(ErrorObject::invalid_request(format!(
                "Invalid request: {method} is a notification and has no id"
            )));
        }
        let raw = meta::of(&request.call);
        let keys = match MetaKeys::read(raw.as_ref()) {
            Ok(keys) => keys,
            Err(error) => return refuse(error),
        };
        let outcome = match keys.version {
            Some(version) => self.stateless(method, version.get(), &keys),
            None => self.stateful(request, &keys),
        };
        outcome.unwrap_or_else(refuse)
    }

    fn stateless(
        &mut self,
        method: &str,
        version: &str,
        keys: &MetaKeys<'_>,
    ) -> Result<Verdict, ErrorObject> {
        let version: String = serde_json::from_str(version)
            .map_err(|_| ErrorObject::invalid_params("Invalid params: protocolVersion is not a string"))?;
        let served = Revision::from_name(&version)
            .filter(|revision| revision.is_stateless() && self.served.contains(*revision));
        let Some(revision) = served else {
            return Err(unsupported_version(&version, self.served));
        };
        let Some(capabilities) = keys.capabilities else {
            return Err(ErrorObject::invalid_params(format!(
                "Invalid params: _meta lacks {}",
                "io.modelcontextprotocol/clientCapabilities"
            )));
        };
        exists(method, revision)?;
        let key = |raw: Option<&serde_json::value::RawValue>| raw.map(|raw| raw.get()).unwrap_or_default();
        let known = self.last.as_ref().filter(|(last, _)| {
            last.revision == revision
                && last.capabilities == key(Some(capabilities))
                && last.info == key(keys.info)
        });
        let peer = match known {
            Some((_, peer)) => Arc::clone(peer),
            None => {
                let declared: ClientCapabilities =
                    serde_json::from_str(capabilities.get()).map_err(|error| {
                        ErrorObject::invalid_params(format!("Invalid params: clientCapabilities: {error}"))
                    })?;
                // Only for display, so a malformed one counts as absent.
                let info = keys
                    .info
                    .and_then(|info| serde_json::from_str::<Implementation>(info.get()).ok());
                let peer = Arc::new(Peer::new(revision).with_capabilities(declared).with_info(info));
                let key = PeerKey {
                    revision,
                    capabilities: Bytes::copy_from_slice(capabilities.get().as_bytes()),
                    info: Bytes::copy_from_slice(key(keys.info).as_bytes()),
                };
                self.last = Some((key, Arc::clone(&peer)));
                peer
            }
        };
        let log_level = match keys.log_level {
            None => None,
            Some(level) => Some(serde_json::from_str(level.get()).map_err(|_| {
                ErrorObject::invalid_params(format!("Invalid params: unknown log level {}", level.get()))
            })?),
        };
        Ok(Verdict::Serve(Admission {
            peer,
            progress_token: keys.progress_token()?,
            log_level,
        }))
    }

    fn stateful(&mut self, request: &Request, keys: &MetaKeys<'_>) -> Result<Verdict, ErrorObject> {
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
                    progress_token: keys.progress_token()?,
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
                    progress_token: keys.progress_token()?,
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
            method::NOTIFICATION_CANCELLED => cancelled(call),
            method::NOTIFICATION_INITIALIZED if self.stateful.is_none() => {
                NoteVerdict::Ignore("initialized before initialize")
            }
            method::NOTIFICATION_INITIALIZED if self.initialized => NoteVerdict::Ignore("initialized twice"),
            method::NOTIFICATION_INITIALIZED => {
                self.initialized = true;
                NoteVerdict::Initialized
            }
            other if !method::is_notification(other) => NoteVerdict::Ignore("a request without an id"),
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

    /// Judges a request of the server. None: drop it, since a stateless client never writes a response.
    pub fn request(&mut self, request: &Request) -> Option<Verdict> {
        if self.settled && self.peer.era() == Era::Stateless {
            return None;
        }
        let method = request.call.method();
        if method == method::PING {
            return Some(Verdict::Answer(RawJson::empty_object()));
        }
        if method::is_notification(method) {
            return Some(refuse(ErrorObject::invalid_request(format!(
                "Invalid request: {method} is a notification and has no id"
            ))));
        }
        let known = method::lookup(method, Sender::Server, self.peer.revision).is_some();
        if !known && method::is_known(method) {
            return Some(refuse(ErrorObject::method_not_found(method)));
        }
        let raw = meta::of(&request.call);
        let progress_token = MetaKeys::read(raw.as_ref()).and_then(|keys| keys.progress_token());
        Some(match progress_token {
            Ok(progress_token) => Verdict::Serve(Admission {
                peer: Arc::clone(&self.peer),
                progress_token,
                log_level: None,
            }),
            Err(error) => refuse(error),
        })
    }

    /// Judges a notification of the server.
    pub fn notification(&self, call: &Call) -> NoteVerdict {
        match call.method() {
            method::NOTIFICATION_CANCELLED => cancelled(call),
            other if method::is_known(other) && !method::is_notification(other) => {
                NoteVerdict::Ignore("a request without an id")
            }
            _ => NoteVerdict::Deliver,
        }
    }
}

/// A method that some revision knows must be known in this one, sent by a client. Methods that no revision knows
/// are for the handler to judge: an extension may define them.
fn exists(method: &str, revision: Revision) -> Result<(), ErrorObject> {
    if method::lookup(method, Sender::Client, revision).is_some() || !method::is_known(method) {
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
