//! What is known of a server's tools: a snapshot that follows the change notices, and the schemas of their results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_jsonrpc::RawJson;
use mcp_schema::HeaderParam;
use mcp_types::{SubscriptionFilter, Tool};
use tokio::task::JoinHandle;

use crate::client::{Client, Inner};
use crate::error::ClientError;
use crate::inbound::Inlet;
use crate::listen::Subscription;

/// How long to leave a server alone that stopped telling of changes.
const BEFORE_LISTENING_AGAIN: Duration = Duration::from_secs(1);

/// The tools as last listed.
#[derive(Default)]
pub(crate) struct Catalogue {
    known: Mutex<Known>,
    /// Held while the tools are listed, so that all who want them share one listing (P141). In the stateless era it
    /// has what tells of changes.
    listing: tokio::sync::Mutex<Option<Watch>>,
}

#[derive(Default)]
struct Known {
    /// How many change notices had come when this was asked for.
    counted: Option<u64>,
    /// What [`Client::tools`] handed out.
    tools: Option<Arc<[Tool]>>,
    outputs: HashMap<String, Arc<Output>>,
    /// What calls repeat in headers, where there is any.
    headers: HashMap<String, Arc<[HeaderParam]>>,
}

impl Catalogue {
    /// Remembers a whole list that was asked for after `counted` change notices.
    pub(crate) fn learn(&self, counted: u64, tools: &[Tool]) {
        let mut known = self.lock();
        if known.counted.is_some_and(|newer| newer > counted) {
            return;
        }
        known.outputs = tools
            .iter()
            .filter_map(|tool| Some((tool.name.clone(), Output::of(tool)?)))
            .collect();
        known.headers = tools
            .iter()
            .filter_map(|tool| {
                Some((
                    tool.name.clone(),
                    mcp_schema::header_params(&tool.input_schema).ok()?,
                ))
            })
            .filter(|(_, params)| !params.is_empty())
            .map(|(name, params)| (name, params.into()))
            .collect();
        known.counted = Some(counted);
        known.tools = None;
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// What the results of this tool must look like, where that is known and has not changed since.
    pub(crate) fn output(&self, tool: &str) -> Option<Arc<Output>> {
        let known = self.catalogue.lock();
        let output = known.outputs.get(tool)?;
        (known.counted == Some(self.catalogue_mark())).then(|| Arc::clone(output))
    }

    /// What a call of this tool repeats in headers, where that is known; none where nothing is.
    pub(crate) fn header_params(&self, tool: &str) -> Option<Arc<[HeaderParam]>> {
        self.catalogue.lock().headers.get(tool).cloned()
    }

    /// Whether arguments are repeated in headers at all.
    pub(crate) fn repeats_arguments(&self) -> bool {
        self.revision.is_stateless() && self.link.0.takes_param_headers()
    }

    /// How many change notices have come.
    pub(crate) fn catalogue_mark(&self) -> u64 {
        *self.inlet.tools.borrow()
    }
}

impl Client {
    /// The tools, kept from the last listing until the server says that they changed. Whoever asks while they are
    /// being listed shares that listing; where a change comes in the meantime, they are listed once more.
    ///
    /// # Errors
    /// As [`Client::list_tools`].
    ///
    /// # Cancel safety
    /// When dropped, the listing is cancelled; others that wait for it begin their own.
    pub async fn tools(&self) -> Result<Arc<[Tool]>, ClientError> {
        let catalogue = &self.0.catalogue;
        let mut watching = catalogue.listing.lock().await;
        self.watch(&mut watching).await;
        let now = self.0.catalogue_mark();
        {
            let known = catalogue.lock();
            if let Some(tools) = known.tools.as_ref().filter(|_| known.counted == Some(now)) {
                return Ok(Arc::clone(tools));
            }
        }
        let mut tools = self.list_tools().await?;
        let mut counted = now;
        let after = self.0.catalogue_mark();
        if after != now {
            tools = self.list_tools().await?;
            counted = after;
        }
        let tools: Arc<[Tool]> = tools.into();
        let mut known = catalogue.lock();
        if known.counted == Some(counted) {
            known.tools = Some(Arc::clone(&tools));
        }
        Ok(tools)
    }

    /// Waits until the tools changed since [`Client::tools`] last listed them; forever, where the server does not tell.
    ///
    /// # Cancel safety
    /// Nothing is lost when dropped.
    pub async fn tools_changed(&self) {
        let mut count = self.0.inlet.tools.subscribe();
        {
            let mut watching = self.0.catalogue.listing.lock().await;
            self.watch(&mut watching).await;
        }
        let known = self.0.catalogue.lock().counted.unwrap_or(0);
        // The sender lives as long as this client.
        if count.wait_for(|now| *now > known).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// In the stateless era changes are told only to who listens.
    async fn watch(&self, watching: &mut Option<Watch>) {
        let tools = self.server_capabilities().tools.as_ref();
        let tells = tools.is_some_and(|tools| tools.list_changed);
        let watched = watching.as_ref().is_some_and(Watch::goes_on);
        if !tells || !self.revision().is_stateless() || watched {
            return;
        }
        let filter = SubscriptionFilter::new().with_tools_list_changed(true);
        *watching = match self.listen(filter).await {
            Ok(subscription) => {
                let inlet = Arc::clone(&self.0.inlet);
                Some(Watch(Some(tokio::spawn(follow(subscription, inlet)))))
            }
            Err(error) => {
                tracing::warn!(%error, "changes of the tools will not be noticed");
                Some(Watch(None))
            }
        };
    }
}

/// The task that listens for changes, or none where the server does not let us. Ends with the client.
struct Watch(Option<JoinHandle<()>>);

impl Watch {
    /// Whether there is no need to begin again.
    fn goes_on(&self) -> bool {
        self.0.as_ref().is_none_or(|task| !task.is_finished())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Takes in what is told; the inlet counts it in passing. Nothing is told again, so where the listening ends, the
/// tools count as changed.
async fn follow(mut subscription: Subscription, inlet: Arc<Inlet>) {
    while let Ok(Some(_)) = subscription.next().await {}
    drop(subscription);
    tokio::time::sleep(BEFORE_LISTENING_AGAIN).await;
    inlet.tools.send_modify(|count| *count += 1);
}

/// What the structured results of a tool must look like.
pub(crate) struct Output {
    #[cfg(feature = "validate")]
    tool: String,
    #[cfg(feature = "validate")]
    schema: RawJson,
    /// Compiled when it is first needed; none where it cannot be.
    #[cfg(feature = "validate")]
    compiled: std::sync::OnceLock<Option<mcp_schema::Validator>>,
}

#[cfg(feature = "validate")]
impl Output {
    fn of(tool: &Tool) -> Option<Arc<Self>> {
        let schema = tool.output_schema.as_ref()?;
        if schema.is_null() || accepts_anything(schema) {
            return None;
        }
        Some(Arc::new(Self {
            tool: tool.name.clone(),
            schema: schema.clone(),
            compiled: std::sync::OnceLock::new(),
        }))
    }

    /// Checks exactly the structured result (P126). One that is missing is an error that says so (P127).
    pub(crate) fn check(&self, structure: Option<&RawJson>) -> Result<(), ClientError> {
        let tool = &self.tool;
        let compiled = self.compiled.get_or_init(|| {
            let compiled = mcp_schema::Validator::compile(&self.schema, &mcp_schema::SchemaLimits::default());
            compiled
                .inspect_err(|error| {
                    tracing::warn!(tool, %error, "the results of this tool cannot be checked");
                })
                .ok()
        });
        let Some(validator) = compiled else { return Ok(()) };
        let Some(structure) = structure else {
            let text =
                format!("the tool {tool} has an output schema, and its result has no structuredContent");
            return Err(ClientError::protocol(text));
        };
        validator.check(structure).map_err(|error| {
            ClientError::protocol(format!(
                "the result of the tool {tool} does not fit its output schema: {error}"
            ))
        })
    }
}

/// Whether a schema is `{}` or `true`.
#[cfg(feature = "validate")]
fn accepts_anything(schema: &RawJson) -> bool {
    match schema.parse::<mcp_types::JsonObject>() {
        Ok(members) => members.is_empty(),
        Err(_) => schema.as_bytes() == b"true",
    }
}

#[cfg(not(feature = "validate"))]
impl Output {
    fn of(_: &Tool) -> Option<Arc<Self>> {
        None
    }

    pub(crate) fn check(&self, _: Option<&RawJson>) -> Result<(), ClientError> {
        Ok(())
    }
}
