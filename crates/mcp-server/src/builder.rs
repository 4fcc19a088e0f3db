use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use mcp_session::{HmacSealer, StateSealer};
use mcp_types::{CacheHints, Icon, Implementation, Revisions};

use crate::error::BuildError;
use crate::hub::Hub;
use crate::lists::{Lists, Registry};
use crate::prompt::Prompt;
use crate::resource::{Resource, Template};
use crate::server::Server;
use crate::settings::{Dynamic, Policy, Settings, UnknownTool};
use crate::tool::Tool;

/// How long a question to the client waits by default.
const ASK_TIMEOUT: Duration = Duration::from_secs(600);
/// How long a `requestState` is good for by default.
const STATE_LIFETIME: Duration = Duration::from_secs(3600);

/// Makes a [`Server`]. What is wrong with a tool, a schema, a template shows at [`Builder::build`], never later.
#[must_use = "a builder does nothing until it is built"]
pub struct Builder<S = ()> {
    state: S,
    /// Something was added before the state, which it cannot get.
    state_too_late: bool,
    info: Implementation,
    instructions: Option<String>,
    revisions: Revisions,
    page_size: Option<usize>,
    unknown_tool: UnknownTool,
    policy: Option<Policy>,
    logging: bool,
    subscribe: bool,
    dynamic: Dynamic,
    sealer: Option<Arc<dyn StateSealer>>,
    state_lifetime: Duration,
    ask_timeout: Duration,
    cache: CacheHints,
    tools: Vec<Tool<S>>,
    resources: Vec<Resource<S>>,
    templates: Vec<Template<S>>,
    prompts: Vec<Prompt<S>>,
}

impl Builder<()> {
    pub(crate) fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            state: (),
            state_too_late: false,
            info: Implementation::new(name, version),
            instructions: None,
            revisions: Revisions::ALL,
            page_size: None,
            unknown_tool: UnknownTool::default(),
            policy: None,
            logging: false,
            subscribe: false,
            dynamic: Dynamic::default(),
            sealer: None,
            state_lifetime: STATE_LIFETIME,
            ask_timeout: ASK_TIMEOUT,
            cache: CacheHints::default(),
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
        }
    }

    /// Gives every handler this state. Comes before all tools, resources and prompts.
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> Builder<S> {
        let added = !self.tools.is_empty()
            || !self.resources.is_empty()
            || !self.templates.is_empty()
            || !self.prompts.is_empty();
        Builder {
            state,
            state_too_late: added,
            info: self.info,
            instructions: self.instructions,
            revisions: self.revisions,
            page_size: self.page_size,
            unknown_tool: self.unknown_tool,
            policy: self.policy,
            logging: self.logging,
            subscribe: self.subscribe,
            dynamic: self.dynamic,
            sealer: self.sealer,
            state_lifetime: self.state_lifetime,
            ask_timeout: self.ask_timeout,
            cache: self.cache,
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
        }
    }
}

impl<S: Send + Sync + 'static> Builder<S> {
    /// The server's name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// What the server is.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.info.description = Some(text.into());
        self
    }

    /// The server's home page.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Pictures of the server.
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.info.icons = icons.into_iter().collect();
        self
    }

    /// How the server's features fit together, for the host's model.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Serves these revisions only. Default: all.
    pub fn revisions(mut self, revisions: impl Into<Revisions>) -> Self {
        self.revisions = revisions.into();
        self
    }

    /// Entries on one page of a list. Default: everything on one page.
    pub fn page_size(mut self, entries: usize) -> Self {
        self.page_size = Some(entries.max(1));
        self
    }

    /// What a call of an unknown or withheld tool gets.
    pub fn unknown_tool(mut self, answer: UnknownTool) -> Self {
        self.unknown_tool = answer;
        self
    }

    /// Withholds the tools for which this says false: they are neither listed nor callable, and answer exactly like
    /// unknown ones. Asked at each listing and call.
    pub fn policy(mut self, allowed: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.policy = Some(Arc::new(allowed));
        self
    }

    /// Declares logging: handlers may send log messages to the client.
    pub fn logging(mut self) -> Self {
        self.logging = true;
        self
    }

    /// Declares that clients may subscribe to resources: call [`Server::resource_updated`].
    pub fn subscriptions(mut self) -> Self {
        self.subscribe = true;
        self
    }

    /// Declares that all lists may change while the server runs; without this or one of its siblings they may not.
    pub fn dynamic(self) -> Self {
        self.dynamic_tools().dynamic_resources().dynamic_prompts()
    }

    /// Declares that the list of tools may change while the server runs.
    pub fn dynamic_tools(mut self) -> Self {
        self.dynamic.tools = true;
        self
    }

    /// Declares that the lists of resources and of their templates may change while the server runs.
    pub fn dynamic_resources(mut self) -> Self {
        self.dynamic.resources = true;
        self
    }

    /// Declares that the list of prompts may change while the server runs.
    pub fn dynamic_prompts(mut self) -> Self {
        self.dynamic.prompts = true;
        self
    }

    /// Protects `requestState` with this instead of a key of this process. Servers of several processes need it.
    pub fn sealer(mut self, sealer: impl StateSealer) -> Self {
        self.sealer = Some(Arc::new(sealer));
        self
    }

    /// How long a `requestState` is good for. Default: an hour.
    pub fn state_lifetime(mut self, time: Duration) -> Self {
        self.state_lifetime = time;
        self
    }

    /// How long a question to the client waits for its answer. Default: 10 minutes, since people answer some.
    pub fn ask_timeout(mut self, time: Duration) -> Self {
        self.ask_timeout = time;
        self
    }

    /// How long and with whom clients may keep lists and resources (from 2026-07-28). Default: not at all.
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: Tool<S>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool<S>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, resource: Resource<S>) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds a resource template.
    pub fn template(mut self, template: Template<S>) -> Self {
        self.templates.push(template);
        self
    }

    /// Adds a prompt.
    pub fn prompt(mut self, prompt: Prompt<S>) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// The server.
    ///
    /// # Errors
    /// When a name is used twice or is no legal name, a schema cannot be used, a template does not parse, no revision
    /// is served, something was added before [`Builder::state`], or the system has no random numbers for the key of `requestState`.
    pub fn build(self) -> Result<Server<S>, BuildError> {
        if self.revisions.is_empty() {
            return Err(BuildError::new("no revision is served"));
        }
        if self.state_too_late {
            return Err(BuildError::new(
                "`state()` comes before what is added to a server: what was added before it cannot have the state",
            ));
        }
        let state = Arc::new(self.state);
        let mut lists = Lists::default();
        for tool in self.tools {
            let (name, entry) = tool.erase(&state)?;
            add(&mut lists.tools, "tool", name, entry)?;
        }
        for resource in self.resources {
            let (uri, entry) = resource.erase(&state)?;
            add(&mut lists.resources, "resource", uri, entry)?;
        }
        for template in self.templates {
            let (text, entry) = template.erase(&state)?;
            add(&mut lists.templates, "resource template", text, entry)?;
        }
        for prompt in self.prompts {
            let (name, entry) = prompt.erase(&state)?;
            add(&mut lists.prompts, "prompt", name, entry)?;
        }
        let sealer = match self.sealer {
            Some(sealer) => sealer,
            None => Arc::new(HmacSealer::random().map_err(|error| BuildError::new(error.to_string()))?),
        };
        let settings = Settings {
            info: self.info,
            instructions: self.instructions,
            revisions: self.revisions,
            page_size: self.page_size,
            unknown_tool: self.unknown_tool,
            policy: self.policy,
            logging: self.logging,
            subscribe: self.subscribe,
            dynamic: self.dynamic,
            sealer,
            state_lifetime: self.state_lifetime,
            ask_timeout: self.ask_timeout,
            cache: self.cache,
            hub: Hub::default(),
        };
        Ok(Server::new(state, settings, Registry::new(lists)))
    }
}

/// Adds an entry under a key that must be free.
pub(crate) fn add<T>(
    list: &mut BTreeMap<Box<str>, Arc<T>>,
    what: &str,
    key: Box<str>,
    entry: T,
) -> Result<(), BuildError> {
    match list.entry(key) {
        Entry::Vacant(place) => {
            place.insert(Arc::new(entry));
            Ok(())
        }
        Entry::Occupied(taken) => Err(BuildError::new(format!(
            "{what} {:?} is there twice",
            taken.key()
        ))),
    }
}
