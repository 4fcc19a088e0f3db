//! From a transport to a client: which era, which revision, who is there.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_exchange::{BoxHandler, Closed, Connect, LinkError, Outgoing};
use mcp_jsonrpc::{ErrorObject, RawJson, codes};
use mcp_session::{Probe, Step};
use mcp_types::meta::keys;
use mcp_types::{
    ClientCapabilities, DiscoverResult, Implementation, InitializeParams, InitializeResult, JsonObject,
    Revision, Revisions, ServerCapabilities, ToolsCapability, method,
};
use serde::Deserialize;

use crate::builder::{Bounds, ClientBuilder};
use crate::client::{Client, Inner, Lifeline, Server, check_roots};
use crate::drive::{Patience, Wire};
use crate::error::ClientError;
use crate::inbound::{Inbound, Inlet};
use crate::params::{Members, MetaParts, common_meta};

/// How long to wait for the reason why a connection ended, before doing without.
const REASON: Duration = Duration::from_secs(5);

pub(crate) async fn connect(builder: ClientBuilder, transport: impl Connect) -> Result<Client, ClientError> {
    if let Some(roots) = &builder.questions.roots {
        check_roots(&roots.lock().unwrap_or_else(std::sync::PoisonError::into_inner))?;
    }
    let declared = builder.questions.declare(builder.capabilities);
    let inlet = Inlet::new(builder.questions, builder.ears);
    let link = open(&transport, &inlet).await?;
    let mut handshake = Handshake {
        link,
        inlet,
        info: builder.info,
        declared,
        bounds: builder.bounds,
        offered: builder.revisions,
        known: builder.known,
        fallback_name: builder.server_name.unwrap_or_else(|| "server".into()),
    };
    let (revision, server) = match handshake.run(&transport).await {
        Ok(settled) => settled,
        Err(error) => return Err(handshake.why(error).await),
    };
    let common_meta = common_meta(revision, &handshake.declared, &handshake.info)?;
    let inner = Inner::new(
        handshake.link,
        handshake.inlet,
        revision,
        server,
        handshake.declared,
        common_meta,
        handshake.bounds,
    );
    Ok(Client(Arc::new(inner)))
}

async fn open(transport: &impl Connect, inlet: &Arc<Inlet>) -> Result<Lifeline, ClientError> {
    let inbound = BoxHandler::new(Inbound(Arc::clone(inlet)));
    transport
        .connect(inbound)
        .await
        .map(Lifeline)
        .map_err(ClientError::link)
}

struct Handshake {
    link: Lifeline,
    inlet: Arc<Inlet>,
    info: Implementation,
    declared: ClientCapabilities,
    bounds: Bounds,
    offered: Revisions,
    known: Option<Revision>,
    fallback_name: String,
}

impl Handshake {
    async fn run(&mut self, transport: &impl Connect) -> Result<(Revision, Server), ClientError> {
        let mut probe = Probe::new(self.offered);
        let mut step = probe.first(self.known).map_err(ClientError::negotiation)?;
        let mut discovered = None;
        let (mut probed, mut restarted, mut turned) = (false, false, false);
        loop {
            step = match step {
                Step::Settled(revision) => match discovered.take() {
                    Some(result) => {
                        self.link.0.negotiated(revision);
                        return Ok((revision, self.described(result)));
                    }
                    // Known from last time: its capabilities are still to be asked for.
                    None => Step::Discover(revision),
                },
                Step::Discover(revision) => {
                    probed = true;
                    let next = match self.discover(revision).await {
                        Ok(result) => {
                            let next = probe.discovered(result.supported_versions.iter().map(String::as_str));
                            discovered = Some(result);
                            next
                        }
                        Err(error) if error.is_timeout() => probe.silent(),
                        Err(error) if error.is_closed() => {
                            let how = self.how_it_ended().await;
                            tracing::debug!(?how, "the server ended when it was probed");
                            match probe.died() {
                                Ok(next) => Ok(next),
                                Err(_) => return Err(error),
                            }
                        }
                        Err(error) => match error.error_object() {
                            Some(object) => {
                                let supported = supported(object);
                                probe.refused(object.code, supported.iter().map(String::as_str))
                            }
                            // An answer that makes no sense is as good as an unknown error.
                            None if error.is_protocol() => probe.refused(codes::METHOD_NOT_FOUND, []),
                            None => return Err(error),
                        },
                    };
                    next.map_err(ClientError::negotiation)?
                }
                Step::Restart(revision) => {
                    restarted = true;
                    let ended = self.how_it_ended().await;
                    self.link = match open(transport, &self.inlet).await {
                        Ok(link) => link,
                        Err(error) => {
                            let text =
                                format!("the server ended when it was probed ({}): {error}", ended.reason);
                            return Err(ClientError::link(LinkError::start(text).with_source(error)));
                        }
                    };
                    Step::Initialize(revision)
                }
                Step::Initialize(offer) => match self.initialize(&probe, offer).await {
                    Ok(settled) => return Ok(settled),
                    // Some old servers answer a probe, or do not, and end after that.
                    Err(error) if error.is_closed() && probed && !restarted => Step::Restart(offer),
                    Err(error) => {
                        // This code is proof of a modern server: what was remembered no longer holds, or it was
                        // too slow when it was probed.
                        let modern = self.offered.and(Revisions::STATELESS).newest();
                        match modern.filter(|_| error.is_peer_error() && error.is_negotiation()) {
                            Some(revision) if !turned => {
                                turned = true;
                                Step::Discover(revision)
                            }
                            _ => return Err(error),
                        }
                    }
                },
            };
        }
    }

    /// `server/discover` (2026-07-28: server/discover), within the time of a probe.
    async fn discover(&self, revision: Revision) -> Result<DiscoverResult, ClientError> {
        let common = common_meta(revision, &self.declared, &self.info)?;
        let meta = MetaParts {
            common: &common,
            extra: &JsonObject::new(),
            log_level: None,
            progress: None,
        };
        let params = Members::new().close(&meta);
        let time = self.bounds.probe_timeout.min(self.bounds.timeout);
        let result = self.ask(method::SERVER_DISCOVER, params, time).await?;
        result
            .parse()
            .map_err(|error| ClientError::unreadable(method::SERVER_DISCOVER, error))
    }

    fn described(&self, result: DiscoverResult) -> Server {
        // The schema has the server's name in the result's metadata here.
        let info = result.meta.get(keys::SERVER_INFO);
        Server {
            info: info.and_then(|info| info.parse().ok()).unwrap_or_default(),
            capabilities: result.capabilities,
            instructions: result.instructions.filter(|text| !text.is_empty()),
            fallback_name: self.fallback_name.clone(),
        }
    }

    /// `initialize`, then `notifications/initialized` before anything else can be sent (P053).
    async fn initialize(&self, probe: &Probe, offer: Revision) -> Result<(Revision, Server), ClientError> {
        let params = InitializeParams::new(offer.name(), self.declared.clone(), self.info.clone());
        let none = MetaParts {
            common: b"",
            extra: &JsonObject::new(),
            log_level: None,
            progress: None,
        };
        let params = Members::of_entity(&params, offer)?.close(&none);
        let result = self.ask(method::INITIALIZE, params, self.bounds.timeout).await?;
        let (result, capabilities_given) = read_initialize(&result)?;
        let next = probe
            .initialized(&result.protocol_version, offer)
            .map_err(ClientError::negotiation)?;
        let Step::Settled(revision) = next else {
            return Err(ClientError::protocol("the handshake led to no protocol version"));
        };
        self.link.0.negotiated(revision);
        let note = Outgoing::new(method::INITIALIZED, None);
        self.link.0.notify(note).await.map_err(ClientError::link)?;
        let mut capabilities = result.capabilities;
        if !capabilities_given {
            tracing::warn!(
                "the server's initialize result has no capabilities; it is asked for tools all the same"
            );
            capabilities = ServerCapabilities::new().with_tools(ToolsCapability::new());
        }
        let server = Server {
            info: result.server_info,
            capabilities,
            instructions: result.instructions.filter(|text| !text.is_empty()),
            fallback_name: self.fallback_name.clone(),
        };
        Ok((revision, server))
    }

    async fn ask(
        &self,
        method: &'static str,
        params: Option<Bytes>,
        time: Duration,
    ) -> Result<RawJson, ClientError> {
        let wire = Wire {
            link: &self.link.0,
            inlet: &self.inlet,
            id: self.link.0.next_id(),
            method: Cow::Borrowed(method),
            params,
            param_headers: None,
        };
        let patience = Patience {
            timeout: Some(time),
            extends: false,
            max: time,
        };
        wire.send(patience, None).await
    }

    /// The reason why the connection ended, which a child process may still be about to give.
    async fn how_it_ended(&self) -> Closed {
        let gone = tokio::time::timeout(REASON, self.link.0.closed()).await;
        gone.unwrap_or_else(|_| Closed::new("the connection was closed", false))
    }

    /// Says more about a connection that ended: an exit code, the last lines of a log. Closes any other.
    async fn why(&self, error: ClientError) -> ClientError {
        if !error.is_closed() {
            self.link.0.close().await;
            return error;
        }
        let how = self.how_it_ended().await;
        ClientError::link(LinkError::closed(format!(
            "the server ended before it was ready: {}",
            how.reason
        )))
    }
}

/// Reads the result, and whether it has capabilities at all: a server without that member may have anything.
fn read_initialize(raw: &RawJson) -> Result<(InitializeResult, bool), ClientError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Given {
        protocol_version: Option<RawJson>,
        capabilities: Option<RawJson>,
    }
    let unreadable = |error| ClientError::unreadable(method::INITIALIZE, error);
    let given: Given = raw.parse().map_err(unreadable)?;
    if given.protocol_version.is_none() {
        return Err(ClientError::protocol(
            "the server's answer to initialize has no protocolVersion",
        ));
    }
    Ok((raw.parse().map_err(unreadable)?, given.capabilities.is_some()))
}

/// The versions that a refusal names.
fn supported(error: &ErrorObject) -> Vec<String> {
    #[derive(Deserialize)]
    struct Data {
        #[serde(default)]
        supported: Vec<String>,
    }
    let data = error.data.as_ref().and_then(|data| data.parse::<Data>().ok());
    data.map(|data| data.supported).unwrap_or_default()
}
