use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use mcp_exchange::{Exchange, Handler, Notice, Reply, Session};
use mcp_types::{Revisions, method};

use crate::answer::Responder;
use crate::builder::{self, Builder};
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
    responder: Arc<Responder>,
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
            responder: Arc::new(Responder::new(settings, registry)),
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
        let (key, entry) = tool.erase(&self.state)?;
        self.responder.change(Change::Tools, |lists| {
            lists.tools.insert(key, Arc::new(entry));
            true
        })?;
        Ok(())
    }

    /// Removes a tool and tells the clients. False where there is none of this name.
    ///
    /// # Errors
    /// When the server is not [`dynamic`](Builder::dynamic).
    pub fn remove_tool(&self, name: &str) -> Result<bool, BuildError> {
        self.responder
            .change(Change::Tools, |lists| lists.tools.remove(name).is_some())
    }

    /// Puts these tools in the place of all that were there, and tells the clients once.
    ///
    /// # Errors
    /// When one of the tools cannot be used, two have the same name, or the server's tools are not
    /// [`dynamic`](Builder::dynamic_tools). Nothing is changed then.
    pub fn set_tools(&self, tools: impl IntoIterator<Item = Tool<S>>) -> Result<(), BuildError> {
        let mut all = BTreeMap::new();
        for tool in tools {
            let (name, entry) = tool.erase(&self.state)?;
            builder::add(&mut all, "tool", name, entry)?;
        }
        self.responder.change(Change::Tools, |lists| {
            lists.tools = all;
            true
        })?;
        Ok(())
    }

    /// Adds a resource, or replaces the one at its URI, and tells the clients.
    ///
    /// # Errors
    /// As [`Server::add_tool`].
    pub fn add_resource(&self, resource: Resource<S>) -> Result<(), BuildError> {
        let (key, entry) = resource.erase(&self.state)?;
        self.responder.change(Change::Resources, |lists| {
            lists.resources.insert(key, Arc::new(entry));
            true
        })?;
        Ok(())
    }

    /// Removes a resource and tells the clients. False where there is none at this URI.
    ///
    /// # Errors
    /// As [`Server::remove_tool`].
    pub fn remove_resource(&self, uri: &str) -> Result<bool, BuildError> {
        self.responder
            .change(Change::Resources, |lists| lists.resources.remove(uri).is_some())
    }

    /// Adds a resource template, or replaces the same one, and tells the clients.
    ///
    /// # Errors
    /// As [`Server::add_tool`].
    pub fn add_template(&self, template: Template<S>) -> Result<(), BuildError> {
        let (key, entry) = template.erase(&self.state)?;
        self.responder.change(Change::Resources, |lists| {
            lists.templates.insert(key, Arc::new(entry));
            true
        })?;
        Ok(())
    }

    /// Removes a resource template and tells the clients. False where there is none with this text.
    ///
    /// # Errors
    /// As [`Server::remove_tool`].
    pub fn remove_template(&self, uri_template: &str) -> Result<bool, BuildError> {
        self.responder.change(Change::Resources, |lists| {
            lists.templates.remove(uri_template).is_some()
        })
    }

    /// Adds a prompt, or replaces the one of its name, and tells the clients.
    ///
    /// # Errors
    /// As [`Server::add_tool`].
    pub fn add_prompt(&self, prompt: Prompt<S>) -> Result<(), BuildError> {
        let (key, entry) = prompt.erase(&self.state)?;
        self.responder.change(Change::Prompts, |lists| {
            lists.prompts.insert(key, Arc::new(entry));
            true
        })?;
        Ok(())
    }

    /// Removes a prompt and tells the clients. False where there is none of this name.
    ///
    /// # Errors
    /// As [`Server::remove_tool`].
    pub fn remove_prompt(&self, name: &str) -> Result<bool, BuildError> {
        self.responder
            .change(Change::Prompts, |lists| lists.prompts.remove(name).is_some())
    }

    /// Tells the clients that subscribed to this resource, or to a folder above it, that it changed.
    pub fn resource_updated(&self, uri: &str) {
        self.responder.tell(Change::Uri(uri));
    }
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self {
            responder: Arc::clone(&self.responder),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S: Send + Sync + 'static> Handler for Server<S> {
    async fn call(&self, exchange: Exchange) -> Reply {
        self.responder.call(exchange).await
    }

    async fn notify(&self, notice: Notice) {
        if let (method::INITIALIZED, Some(session)) = (notice.call.method(), &notice.session) {
            self.responder.welcome(session);
        }
        tracing::debug!(method = notice.call.method(), "a notification was heard");
    }

    async fn attend(&self, session: Session) {
        self.responder.attend(session).await;
    }

    fn revisions(&self) -> Revisions {
        self.responder.settings.revisions
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("settings", &self.responder.settings)
            .finish_non_exhaustive()
    }
}
