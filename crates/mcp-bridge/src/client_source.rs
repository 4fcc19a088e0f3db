//! Clients as sources of tools.

use mcp_client::{Client, ClientError, Subscription};
use mcp_jsonrpc::RawJson;
use mcp_types::{CallToolResult, SubscriptionFilter, Tool};

use crate::registry::{BridgeError, Registry, SourceError, SourceFuture, ToolSource};

/// All tools of the client's server. What the server answers with an error is an
/// [`ErrorObject`](mcp_jsonrpc::ErrorObject) in the [`SourceError`]; everything else is the [`ClientError`].
impl ToolSource for Client {
    fn list_tools(&self) -> SourceFuture<'_, Vec<Tool>> {
        Box::pin(async move { Client::list_tools(self).await.map_err(source_error) })
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: RawJson) -> SourceFuture<'a, CallToolResult> {
        Box::pin(async move { self.tool(name).args_raw(&arguments).await.map_err(source_error) })
    }
}

fn source_error(error: ClientError) -> SourceError {
    match error.error_object() {
        Some(said) => SourceError::new(said.clone()),
        None => SourceError::new(error),
    }
}

/// Hears when the tools of an attached server change; made by [`Registry::attach_client`].
pub struct Follow {
    registry: Registry,
    name: String,
    changes: Subscription,
}

impl Follow {
    /// Lists the server's tools again after each notice, until the server is detached or gone. Any number of notices
    /// that come during a listing cost one more.
    ///
    /// Spawn it: this crate has no runtime of its own.
    ///
    /// # Cancel safety
    /// When dropped, the registry keeps the tools that it has.
    pub async fn run(mut self) {
        loop {
            match self.changes.next().await {
                Ok(Some(_)) => {
                    if self.registry.refresh(&self.name).await.is_err() {
                        return;
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::debug!(server = self.name, %error, "changes of its tools are no longer heard");
                    return;
                }
            }
        }
    }
}

impl std::fmt::Debug for Follow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow")
            .field("server", &self.name)
            .finish_non_exhaustive()
    }
}

impl Registry {
    /// Attaches a client's server under this name, with all its tools; see [`Registry::attach`]. Where the server
    /// tells about changes of its tools, the answer hears them.
    ///
    /// # Errors
    /// As [`Registry::attach`].
    ///
    /// # Cancel safety
    /// When dropped early, nothing is attached; when dropped while the tools are listed, the server is attached
    /// without tools.
    pub async fn attach_client(&self, name: &str, client: &Client) -> Result<Option<Follow>, BridgeError> {
        self.attach_client_through(name, client, client.clone()).await
    }

    /// [`Registry::attach_client`], with the tools coming from `source`: something that shows only some of the
    /// client's tools, for instance.
    ///
    /// # Errors
    /// As [`Registry::attach`].
    pub async fn attach_client_through(
        &self,
        name: &str,
        client: &Client,
        source: impl ToolSource,
    ) -> Result<Option<Follow>, BridgeError> {
        // Before the first listing, so that no change falls in between.
        let changes = listen(name, client).await;
        self.attach(name, source).await?;
        Ok(changes.map(|changes| Follow {
            registry: self.clone(),
            name: name.to_owned(),
            changes,
        }))
    }
}

async fn listen(name: &str, client: &Client) -> Option<Subscription> {
    let tools = client.server_capabilities().tools.as_ref();
    if !tools.is_some_and(|tools| tools.list_changed) {
        return None;
    }
    let filter = SubscriptionFilter::default().with_tools_list_changed(true);
    match client.listen(filter).await {
        Ok(changes) => Some(changes),
        // It said that it would tell, and does not: its tools are usable all the same.
        Err(error) => {
            tracing::warn!(server = name, %error, "changes of its tools cannot be heard");
            None
        }
    }
}
