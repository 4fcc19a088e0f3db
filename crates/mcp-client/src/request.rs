use std::borrow::Cow;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes};
use mcp_jsonrpc::RawJson;
use mcp_types::meta::keys;
use mcp_types::{JsonObject, ProgressParams};
use serde::de::DeserializeOwned;

use crate::catalogue::Output;
use crate::client::Client;
use crate::drive::{OnProgress, Patience, Wire};
use crate::error::ClientError;
use crate::params::{Members, MetaParts};
use crate::repeats::Repeats;

/// A request that is being put together; awaiting it sends it.
///
/// ```no_run
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
/// use std::time::Duration;
///
/// #[derive(serde::Serialize)]
/// struct Query<'a> {
///     city: &'a str,
/// }
///
/// let result = client
///     .tool("forecast")
///     .args(&Query { city: "Oslo" })
///     .on_progress(|progress| eprintln!("{}", progress.progress))
///     .timeout(Duration::from_secs(10))
///     .await?;
/// # let _ = result;
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping it while it waits cancels the request, and the server is told so. It is never sent again by itself: after
/// an error it is not known whether the server did the work.
#[must_use = "it is sent when it is awaited"]
pub struct Request<T> {
    pub(crate) client: Client,
    pub(crate) method: Cow<'static, str>,
    /// Its own parameters, or why it cannot be sent.
    pub(crate) members: Result<Members, ClientError>,
    /// Where arguments go. A tool has it from the start, a prompt once there are any.
    pub(crate) arguments_at: Option<usize>,
    /// What the structured result of a tool must look like.
    pub(crate) output: Option<Arc<Output>>,
    /// What a tool's call repeats in headers, where the transport has them.
    pub(crate) repeats: Option<Box<Repeats>>,
    /// Whether `resultType` means anything here, and whether questions are answered.
    pub(crate) rounds: Rounds,
    pub(crate) options: Options,
    finish: Finish<T>,
}

type Finish<T> = fn(&Context<'_>, RawJson) -> Result<T, ClientError>;

/// What is known when a result is read.
pub(crate) struct Context<'a> {
    pub(crate) client: &'a Client,
    pub(crate) method: &'a str,
    pub(crate) output: Option<&'a Output>,
}

/// What becomes of a result that is not complete (2026-07-28: basic/patterns/mrtr).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// It is handed out as it is.
    Ignore,
    /// It is an error.
    Refuse,
    /// What it asks is answered, and the request sent again.
    Answer,
}

/// What the caller set for one request.
#[derive(Default)]
pub(crate) struct Options {
    /// None for the client's default, `Some(None)` for no limit.
    timeout: Option<Option<Duration>>,
    max_timeout: Option<Duration>,
    reset_on_progress: Option<bool>,
    on_progress: Option<OnProgress>,
    pub(crate) meta: JsonObject,
}

/// Reads a result.
pub(crate) fn typed<T: DeserializeOwned>(context: &Context<'_>, raw: RawJson) -> Result<T, ClientError> {
    raw.parse()
        .map_err(|error| ClientError::unreadable(context.method, error))
}

/// Hands a result out as it came.
pub(crate) fn as_it_is(_: &Context<'_>, raw: RawJson) -> Result<RawJson, ClientError> {
    Ok(raw)
}

impl<T> Request<T> {
    pub(crate) fn new(
        client: &Client,
        method: impl Into<Cow<'static, str>>,
        members: Result<Members, ClientError>,
        rounds: Rounds,
        finish: Finish<T>,
    ) -> Self {
        Self {
            client: client.clone(),
            method: method.into(),
            members,
            arguments_at: None,
            output: None,
            repeats: None,
            rounds,
            options: Options::default(),
            finish,
        }
    }

    /// How long to wait for the answer, instead of the client's [`timeout`](crate::ClientBuilder::timeout). Where the
    /// server comes back for input, the time of each round counts by itself, and that of the handlers not at all.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.options.timeout = Some(Some(time));
        self
    }

    /// Waits for the answer as long as it takes.
    pub fn no_timeout(mut self) -> Self {
        self.options.timeout = Some(None);
        self
    }

    /// How long to wait in all where progress extends the time, instead of the client's
    /// [`max_timeout`](crate::ClientBuilder::max_timeout).
    pub fn max_timeout(mut self, time: Duration) -> Self {
        self.options.max_timeout = Some(time);
        self
    }

    /// Hears progress. Called while the request is awaited, so it must not block.
    pub fn on_progress(mut self, hear: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.options.on_progress = Some(Box::new(hear));
        self
    }

    /// Whether progress starts the time of [`Request::timeout`] again, up to [`Request::max_timeout`]. By default it
    /// does where there is an [`on_progress`](Request::on_progress).
    pub fn reset_on_progress(mut self, reset: bool) -> Self {
        self.options.reset_on_progress = Some(reset);
        self
    }

    /// Adds a member to the request's `_meta`. Members that the protocol sets itself stay as they are.
    pub fn meta(mut self, key: impl Into<String>, value: RawJson) -> Self {
        self.options.meta.insert(key, value);
        self
    }

    /// The result as it comes, once it is complete: not read and not checked.
    pub fn raw(self) -> Request<RawJson> {
        Request {
            client: self.client,
            method: self.method,
            members: self.members,
            arguments_at: self.arguments_at,
            output: None,
            repeats: self.repeats,
            rounds: self.rounds,
            options: self.options,
            finish: as_it_is,
        }
    }

    /// Sends it, and does all that it takes to get a complete result.
    pub(crate) async fn run(mut self) -> Result<T, ClientError> {
        let mut members = std::mem::replace(&mut self.members, Ok(Members::taken()))?;
        if self.arguments_at == Some(members.len()) {
            // A tool's arguments are always there (P144).
            members.key("arguments").put_slice(b"{}");
        }
        let raw = self.perform(members).await?;
        let context = Context {
            client: &self.client,
            method: &self.method,
            output: self.output.as_deref(),
        };
        (self.finish)(&context, raw)
    }

    /// Sends it once, or twice where the server missed headers. Gives back the encoded parameters, too, where they may
    /// be needed again.
    pub(crate) async fn send(&mut self, members: Members) -> Result<(RawJson, Option<Bytes>), ClientError> {
        let own = members.len();
        let (outcome, params) = self.send_once(members).await;
        let error = match outcome {
            Ok(result) => return Ok((result, params)),
            Err(error) => error,
        };
        let (Some(repeats), Some(members)) = (
            &mut self.repeats,
            params.as_deref().and_then(|all| all.get(..own)),
        ) else {
            return Err(error);
        };
        if !Box::pin(repeats.learn(&self.client, &error)).await {
            return Err(error);
        }
        let (outcome, params) = self.send_once(Members::again(members)).await;
        outcome.map(|result| (result, params))
    }

    async fn send_once(&mut self, members: Members) -> (Result<RawJson, ClientError>, Option<Bytes>) {
        let inner = &*self.client.0;
        let bounds = &inner.bounds;
        let options = &mut self.options;
        let extends = options.reset_on_progress.unwrap_or(options.on_progress.is_some());
        let wants_progress = extends || options.on_progress.is_some();
        let stateless = inner.revision.is_stateless();
        if !options.meta.is_empty() {
            if stateless {
                options.meta.remove(keys::PROTOCOL_VERSION);
                options.meta.remove(keys::CLIENT_CAPABILITIES);
                options.meta.remove(keys::CLIENT_INFO);
            }
            if wants_progress {
                options.meta.remove(keys::PROGRESS_TOKEN);
            }
        }
        let id = inner.link.0.next_id();
        let log_level = inner
            .log_level()
            .filter(|_| stateless && !options.meta.contains_key(keys::LOG_LEVEL));
        // The id is the token: transports find the call by it.
        let meta = MetaParts {
            common: &inner.common_meta,
            extra: &options.meta,
            log_level,
            progress: wants_progress.then_some(&id),
        };
        let param_headers = self
            .repeats
            .as_ref()
            .and_then(|one| one.headers(members.as_bytes()));
        let params = members.close(&meta);
        let kept = params
            .as_ref()
            .filter(|_| stateless && self.rounds == Rounds::Answer)
            .cloned();
        let patience = Patience {
            timeout: options.timeout.unwrap_or(Some(bounds.timeout)),
            extends,
            max: options.max_timeout.unwrap_or(bounds.max_timeout),
        };
        let wire = Wire {
            link: &inner.link.0,
            inlet: &inner.inlet,
            id,
            method: self.method.clone(),
            params,
            param_headers,
        };
        (wire.send(patience, options.on_progress.as_mut()).await, kept)
    }

    /// Writes the arguments of a tool, in place of earlier ones.
    pub(crate) fn write_arguments(
        &mut self,
        write: impl FnOnce(&mut bytes::BytesMut) -> Result<(), ClientError>,
    ) {
        let Ok(members) = &mut self.members else { return };
        let start = *self.arguments_at.get_or_insert(members.len());
        members.truncate(start);
        let out = members.key("arguments");
        let value_at = out.len();
        if let Err(error) = write(out) {
            self.members = Err(error);
            return;
        }
        match out.get(value_at) {
            Some(b'{') => {}
            // What has no arguments says so in the same way as what has none set (P144).
            Some(b'n') => {
                out.truncate(value_at);
                out.put_slice(b"{}");
            }
            _ => self.members = Err(ClientError::usage("the arguments are not a JSON object")),
        }
    }
}

impl<T: Send + 'static> IntoFuture for Request<T> {
    type Output = Result<T, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}
