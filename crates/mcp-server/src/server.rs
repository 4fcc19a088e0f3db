use std::fmt;
use std::sync::Arc;

use mcp_exchange::{Exchange, Handler, Notice, Reply, Session};
use mcp_types::Revisions;

use crate::builder::Builder;
use crate::core::ServerCore;
use crate::error::BuildError;
use crate::hub::Change;
use crate::lists::Registry;
use crate::prompt::Prompt;
use crate::resource::{Resource, Template};
use crate::settings::Settings;
use crate::tool::Tool;

/// A server: a [`Handler`] for any transport. A clone is the same server, so keep one to change its lists while it
/// runs.
pub struct Server<S = ()> {
    core: Arc<ServerCore>,
    state: Arc<S>,
}

impl Server<()> {
    /// Starts to make a server of this name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> Builder<()> {
        Builder::new(name, version)
    }
}

impl<S: Send + Sync + 'static> Server<S> {
    pub(crate) fn new(state: Arc<S>, settings: Settings, registry: Registry) -> Self {
        Self {
            core: Arc::new(ServerCore::new(settings, registry)),
            state,
        }
    }

    /// The application's state.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Adds a tool, or replaces the one of its name, and tells the clients.
    ///
    /// # Errors
    /// When the tool cannot be used, or the server is not [`dynamic`](Builder::dynamic).
    pub fn add_tool(&self, tool: Tool<S>) -> Result<(), BuildError> {
        let entry = tool.erase(&self.state)?;
        let name = entry.definition.name.as_str().into();
        self.core
            .change(Change::Tools, |lists| lists.tools.insert(name, Arc::new(entry)))?;
        Ok(())
    }

    /// Removes a tool and tells the clients. False where there is none of this name.
    ///
    /// # Errors
    /// When the server is not [`dynamic`](Builder::dynamic).
    pub fn remove_tool(&self, name: &str) -> Result<bool, BuildError> {
        self.core
            .change_if(Change::Tools, |lists| lists.tools.remove(name).is_some())
    }

    /// Adds a resource, or replaces the one at its URI, and tells the clients.
    ///
    /// # Errors
    /// As [`Server::add_tool`].
    pub fn add_resource(&self, resource: Resource<S>) -> Result<(), BuildError> {
        let entry = resource.erase(&self.state)?;
        let uri = entry.definition.uri.as_str().into();
        self.core.change(Change::Resources, |lists| {
            lists.resources.insert(uri, Arc::new(entry))
        })?;
        Ok(())
    }

    /// Removes a resource and tells the clients. False where there is none at this URI.
    ///
    /// # Errors
    /// As [`Server::remove_tool`].
    pub fn remove_resource(&self, uri: &str) -> Result<bool, BuildError> {
        self.core
            .change_if(Change::Resources, |lists| lists.resources.remove(uri).is_some())
    }

    /// Adds a resource template, or replaces the same one, and tells the clients.
    ///
    /// # Errors
    /// As [`Server::add_tool`].
    pub fn add_template(&self, template: Template<S>) -> Result<(), BuildError> {
        let entry = template.erase(&self.state)?;
        let text = entry.definition.uri_template.as_str().into();
        self.core.change(Change::Resources, |lists| {
            lists.templates.insert(text, Arc::new(entry))
        })?;
        Ok(())
    }

    /// Removes a resource template and tells the clients. False where there is none with this text.
    ///
    /// # Errors
    /// As [`Server::remove_tool`].
    pub fn remove_template(&self, uri_template: &str) -> Result<bool, BuildError> {
        self.core.change_if(Change::Resources, |lists| {
            lists.templates.remove(uri_template).is_some()
        })
    }

    /// Adds a prompt, or replaces the one of its name, and tells the clients.
    ///
    /// # Errors
    /// As [`Server::add_tool`].
    pub fn add_prompt(&self, prompt: Prompt<S>) -> Result<(), BuildError> {
        let entry = prompt.erase(&self.state)?;
        let name = entry.definition.name.as_str().into();
        self.core.change(Change::Prompts, |lists| {
            lists.prompts.insert(name, Arc::new(entry))
        })?;
        Ok(())
    }

    /// Removes a prompt and tells the clients. False where there is none of this name.
    ///
    /// # Errors
    /// As [`Server::remove_tool`].
    pub fn remove_prompt(&self, name: &str) -> Result<bool, BuildError> {
        self.core
            .change_if(Change::Prompts, |lists| lists.prompts.remove(name).is_some())
    }

    /// Tells the clients that subscribed to this resource, or to a folder above it, that it changed.
    pub fn resource_updated(&self, uri: &str) {
        self.core.tell(Change::Uri(uri));
    }
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S: Send + Sync + 'static> Handler for Server<S> {
    async fn call(&self, exchange: Exchange) -> Reply {
        self.core.call(exchange).await
    }

    async fn notify(&self, notice: Notice) {
        tracing::debug!(method = notice.call.method(), "a notification was heard");
    }

    async fn attend(&self, session: Session) {
        self.core.attend(session).await;
    }

    fn revisions(&self) -> Revisions {
        self.core.settings.revisions
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("settings", &self.core.settings)
            .finish_non_exhaustive()
    }
}
