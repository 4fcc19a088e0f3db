use std::sync::Arc;

use mcp_exchange::{Exchange, Outgoing, Reply, Scope, Session};
use mcp_jsonrpc::{Call, ErrorObject, ParamKey, RawJson};
use mcp_types::meta::keys;
use mcp_types::wire::{self, Wire};
use mcp_types::{
    CallToolResult, CompleteParams, CompleteResult, CompletionReference, DiscoverResult, EmptyResult,
    GetPromptParams, InitializeResult, JsonObject, ListParams, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Meta, PromptsCapability,
    ResourceParams, ResourcesCapability, Revision, ServerCapabilities, SetLevelParams, SubscriptionFilter,
    SubscriptionParams, SubscriptionsListenResult, ToolsCapability, method,
};

use crate::ask::Round;
use crate::completion::{Completer, Completion};
use crate::cx::Core;
use crate::error::{BuildError, Failure, Kind, resource_not_found};
use crate::hub::{Change, Hub, Listener, Marks};
use crate::lists::{ListKind, Lists, Registry, page};
use crate::settings::{Settings, UnknownTool};

/// The server without its state's type: answers every method.
pub(crate) struct ServerCore {
    pub(crate) settings: Arc<Settings>,
    registry: Registry,
    hub: Hub,
    /// `serverInfo` as the stateless era puts it into the `_meta` of results.
    identity: RawJson,
}

type Answer = Result<Reply, ErrorObject>;

impl ServerCore {
    pub(crate) fn new(settings: Settings, registry: Registry) -> Self {
        let identity =
            wire::to_raw(&settings.info, Revision::LATEST).unwrap_or_else(|_| RawJson::empty_object());
        Self {
            settings: Arc::new(settings),
            registry,
            hub: Hub::default(),
            identity,
        }
    }

    pub(crate) async fn call(&self, exchange: Exchange) -> Reply {
        let scope = exchange.scope.clone();
        let call = &exchange.request.call;
        let answer = match call.method() {
            method::TOOLS_CALL => self.tools_call(&scope, call).await,
            method::TOOLS_LIST => self.tools_list(&scope, call),
            method::RESOURCES_READ => self.resources_read(&scope, call).await,
            method::RESOURCES_LIST => self.resources_list(&scope, call),
            method::RESOURCES_TEMPLATES_LIST => self.templates_list(&scope, call),
            method::RESOURCES_SUBSCRIBE => self.subscribe(&scope, call, true),
            method::RESOURCES_UNSUBSCRIBE => self.subscribe(&scope, call, false),
            method::PROMPTS_GET => self.prompts_get(&scope, call).await,
            method::PROMPTS_LIST => self.prompts_list(&scope, call),
            method::COMPLETION_COMPLETE => self.complete(&scope, call).await,
            method::LOGGING_SET_LEVEL => self.set_level(&scope, call),
            method::SUBSCRIPTIONS_LISTEN => self.listen(&scope, call).await,
            method::INITIALIZE => Ok(self.initialize(&scope)),
            method::SERVER_DISCOVER => Ok(self.discover(&scope)),
            method::PING => Ok(scope.complete(&EmptyResult::default())),
            other => Err(ErrorObject::method_not_found(other)),
        };
        answer.unwrap_or_else(|error| scope.fail(&error))
    }

    // Lifecycle.

    fn initialize(&self, scope: &Scope) -> Reply {
        let mut result = InitializeResult::new(
            scope.revision().name(),
            self.capabilities(),
            self.settings.info.clone(),
        );
        result.instructions = self.settings.instructions.clone();
        scope.complete(&result)
    }

    fn discover(&self, scope: &Scope) -> Reply {
        let versions: Vec<String> = self
            .settings
            .revisions
            .iter()
            .map(|one| one.name().to_owned())
            .collect();
        let mut result =
            DiscoverResult::new(versions, self.capabilities()).with_cache_hints(self.settings.cache);
        result.instructions = self.settings.instructions.clone();
        self.stamp(scope, &mut result.meta);
        scope.complete(&result)
    }

    /// What the server has; the same for every client (P059).
    fn capabilities(&self) -> ServerCapabilities {
        let lists = self.registry.now();
        let (dynamic, subscribe) = (self.settings.dynamic, self.settings.subscribe);
        let mut declared = ServerCapabilities::default();
        if dynamic || !lists.tools.is_empty() {
            declared.tools = Some(ToolsCapability::default().with_list_changed(dynamic));
        }
        if self.has_resources(&lists) {
            let resources = ResourcesCapability::default()
                .with_list_changed(dynamic)
                .with_subscribe(subscribe);
            declared.resources = Some(resources);
        }
        if dynamic || !lists.prompts.is_empty() {
            declared.prompts = Some(PromptsCapability::default().with_list_changed(dynamic));
        }
        if has_completers(&lists) {
            declared.completions = Some(JsonObject::new());
        }
        if self.settings.logging {
            declared.logging = Some(JsonObject::new());
        }
        declared
    }

    fn has_resources(&self, lists: &Lists) -> bool {
        self.settings.dynamic
            || self.settings.subscribe
            || !lists.resources.is_empty()
            || !lists.templates.is_empty()
    }

    /// In the stateless era every result says who made it (2026-07-28: basic/index, "_meta").
    fn stamp(&self, scope: &Scope, meta: &mut Meta) {
        if scope.revision().is_stateless() && !meta.contains_key(keys::SERVER_INFO) {
            meta.insert(keys::SERVER_INFO, self.identity.clone());
        }
    }

    // Tools.

    fn allows(&self, tool: &str) -> bool {
        self.settings.policy.as_ref().is_none_or(|allowed| allowed(tool))
    }

    fn tools_list(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.settings.dynamic && lists.tools.is_empty() {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let all = |cursor: Option<&str>| {
            let allowed = lists.tools.iter().filter(|(name, _)| self.allows(name));
            let (tools, next) = page(
                allowed.map(|(name, tool)| (&**name, tool.definition.clone())),
                cursor,
                self.settings.page_size,
            )?;
            let mut result = ListToolsResult::new(tools).with_cache_hints(self.settings.cache);
            result.next_cursor = next;
            self.stamp(scope, &mut result.meta);
            Ok(result)
        };
        // A policy may say something else each time.
        let keep = self.settings.policy.is_none();
        self.list(scope, call, &lists, ListKind::Tools, keep, all)
    }

    /// A page of a list. The whole list, as most clients ask for it, is encoded once for each revision.
    fn list<T: Wire>(
        &self,
        scope: &Scope,
        call: &Call,
        lists: &Lists,
        kind: ListKind,
        keep: bool,
        make: impl Fn(Option<&str>) -> Result<T, ErrorObject>,
    ) -> Answer {
        let params: ListParams = parse(call)?;
        if params.cursor.is_none() && keep {
            let encode = || encode(&make(None)?, scope.revision());
            return Ok(scope.complete_raw(&lists.encoded(kind, scope.revision(), encode)?));
        }
        Ok(scope.complete(&make(params.cursor.as_deref())?))
    }

    async fn tools_call(&self, scope: &Scope, call: &Call) -> Answer {
        let name = call
            .param_str(ParamKey::Name)
            .ok()
            .flatten()
            .ok_or_else(|| ErrorObject::invalid_params("Invalid params: name is not a string"))?;
        let lists = self.registry.now();
        if !self.settings.dynamic && lists.tools.is_empty() {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let Some(tool) = lists.tools.get(&*name).filter(|_| self.allows(&name)) else {
            return match self.settings.unknown_tool {
                UnknownTool::Protocol => Err(ErrorObject::invalid_params(format!("Unknown tool: {name}"))),
                UnknownTool::Result => Ok(self.tool_result(
                    scope,
                    CallToolResult::error(format!("Tool not available: {name}")),
                )),
            };
        };
        let arguments = match call
            .param(ParamKey::Arguments)
            .filter(|arguments| !arguments.is_null())
        {
            None => RawJson::empty_object(),
            Some(arguments) if arguments.is_object() => arguments,
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "Invalid params: arguments is not an object",
                ));
            }
        };
        let core = match self.core(scope, call) {
            Ok(core) => core,
            Err(failure) => return Err(self.protocol(scope, failure, None)),
        };
        let work = match tool.start(core.clone(), &arguments) {
            Ok(work) => work,
            Err(error) => return Ok(self.tool_result(scope, CallToolResult::error(error.into_text()))),
        };
        let tool = Arc::clone(tool);
        // What the call holds on to while it waits is its own.
        drop((lists, arguments));
        let failure = match work.await {
            Ok(result) => {
                return match tool.check_output(&result) {
                    Ok(()) => Ok(self.tool_result(scope, result)),
                    Err(text) => {
                        tracing::error!("{text}");
                        Err(ErrorObject::internal(text))
                    }
                };
            }
            Err(failure) => failure,
        };
        match failure.into_tool_result() {
            Ok(result) => Ok(self.tool_result(scope, result)),
            Err(other) => self.interrupted(scope, call, &core, other, None),
        }
    }

    fn tool_result(&self, scope: &Scope, mut result: CallToolResult) -> Reply {
        self.stamp(scope, &mut result.meta);
        scope.complete(&result)
    }

    /// What a handler gets to work with.
    fn core(&self, scope: &Scope, call: &Call) -> Result<Core, Failure> {
        let round = if scope.revision().is_stateless() {
            let principal = scope.peer().principal.as_deref();
            Some(Arc::new(Round::open(call, principal, &*self.settings.sealer)?))
        } else {
            None
        };
        Ok(Core {
            scope: scope.clone(),
            round,
            settings: Arc::clone(&self.settings),
            may_ask: true,
        })
    }

    /// For requests during which nothing may be asked.
    fn quiet_core(&self, scope: &Scope) -> Core {
        Core {
            scope: scope.clone(),
            round: None,
            settings: Arc::clone(&self.settings),
            may_ask: false,
        }
    }

    /// What a handler that has no result gets: an error, or the questions that it asked.
    fn interrupted(
        &self,
        scope: &Scope,
        call: &Call,
        core: &Core,
        failure: Failure,
        uri: Option<&str>,
    ) -> Answer {
        let (Kind::Interrupt, Some(round)) = (failure.as_kind(), &core.round) else {
            return Err(self.protocol(scope, failure, uri));
        };
        let principal = scope.peer().principal.as_deref();
        let needed = round.need_input(
            call,
            principal,
            &*self.settings.sealer,
            self.settings.state_lifetime,
        );
        match needed {
            Ok(mut result) => {
                self.stamp(scope, &mut result.meta);
                Ok(scope.complete(&result))
            }
            Err(failure) => Err(self.protocol(scope, failure, uri)),
        }
    }

    fn protocol(&self, scope: &Scope, failure: Failure, uri: Option<&str>) -> ErrorObject {
        let error = failure.into_error_object(scope.revision(), uri);
        error.unwrap_or_else(|| ErrorObject::internal("a question was asked where none may be"))
    }

    // Resources.

    fn resources_list(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_resources(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        self.list(scope, call, &lists, ListKind::Resources, true, |cursor| {
            let entries = lists
                .resources
                .iter()
                .map(|(uri, entry)| (&**uri, entry.definition.clone()));
            let (resources, next) = page(entries, cursor, self.settings.page_size)?;
            let mut result = ListResourcesResult::new(resources).with_cache_hints(self.settings.cache);
            result.next_cursor = next;
            self.stamp(scope, &mut result.meta);
            Ok(result)
        })
    }

    fn templates_list(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_resources(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        self.list(scope, call, &lists, ListKind::Templates, true, |cursor| {
            let entries = lists
                .templates
                .iter()
                .map(|(text, entry)| (&**text, entry.definition.clone()));
            let (templates, next) = page(entries, cursor, self.settings.page_size)?;
            let mut result =
                ListResourceTemplatesResult::new(templates).with_cache_hints(self.settings.cache);
            result.next_cursor = next;
            self.stamp(scope, &mut result.meta);
            Ok(result)
        })
    }

    async fn resources_read(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_resources(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let uri = call
            .param_str(ParamKey::Uri)
            .ok()
            .flatten()
            .ok_or_else(|| ErrorObject::invalid_params("Invalid params: uri is not a string"))?;
        let core = match self.core(scope, call) {
            Ok(core) => core,
            Err(failure) => return Err(self.protocol(scope, failure, None)),
        };
        let mut broken = None;
        let work = match lists.resources.get(&*uri) {
            Some(entry) => Some((entry.read)(core.clone(), uri.to_string())),
            None => lists
                .templates
                .values()
                .find_map(|entry| match entry.template.matches(&uri) {
                    Ok(values) => values.map(|values| (entry.read)(core.clone(), uri.to_string(), values)),
                    Err(error) => {
                        broken = Some(error);
                        None
                    }
                }),
        };
        let Some(work) = work else {
            return Err(match broken {
                Some(error) => ErrorObject::invalid_params(format!("Invalid params: uri: {error}")),
                None => resource_not_found(scope.revision(), &uri, None),
            });
        };
        drop(lists);
        match work.await {
            Ok(mut result) => {
                if result.ttl_ms.is_none() {
                    result = result.with_cache_hints(self.settings.cache);
                }
                self.stamp(scope, &mut result.meta);
                Ok(scope.complete(&result))
            }
            Err(failure) => self.interrupted(scope, call, &core, failure, Some(&uri)),
        }
    }

    fn subscribe(&self, scope: &Scope, call: &Call, on: bool) -> Answer {
        let (true, Some(session)) = (self.settings.subscribe, scope.session()) else {
            return Err(ErrorObject::method_not_found(call.method()));
        };
        let params: ResourceParams = parse(call)?;
        let listener = self.listener(session);
        if on && !listener.subscribe(&params.uri) {
            return Err(ErrorObject::invalid_params(
                "Too many subscriptions in this session",
            ));
        }
        if !on {
            listener.unsubscribe(&params.uri);
        }
        Ok(scope.complete(&EmptyResult::default()))
    }

    fn listener(&self, session: &Session) -> Arc<Listener> {
        let fresh = || {
            let listener = Arc::new(Listener::default());
            self.hub.add(&listener);
            listener
        };
        session.state(fresh).cloned().unwrap_or_default()
    }

    // Prompts.

    fn prompts_list(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.settings.dynamic && lists.prompts.is_empty() {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        self.list(scope, call, &lists, ListKind::Prompts, true, |cursor| {
            let entries = lists
                .prompts
                .iter()
                .map(|(name, entry)| (&**name, entry.definition.clone()));
            let (prompts, next) = page(entries, cursor, self.settings.page_size)?;
            let mut result = ListPromptsResult::new(prompts).with_cache_hints(self.settings.cache);
            result.next_cursor = next;
            self.stamp(scope, &mut result.meta);
            Ok(result)
        })
    }

    async fn prompts_get(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.settings.dynamic && lists.prompts.is_empty() {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let params: GetPromptParams = parse(call)?;
        let Some(prompt) = lists.prompts.get(params.name.as_str()) else {
            return Err(ErrorObject::invalid_params(format!(
                "Unknown prompt: {}",
                params.name
            )));
        };
        if let Some(missing) = prompt.missing(&params.arguments) {
            return Err(ErrorObject::invalid_params(format!(
                "Missing argument: {missing}"
            )));
        }
        let core = match self.core(scope, call) {
            Ok(core) => core,
            Err(failure) => return Err(self.protocol(scope, failure, None)),
        };
        let work = (prompt.make)(core.clone(), params.arguments);
        drop(lists);
        match work.await {
            Ok(mut result) => {
                self.stamp(scope, &mut result.meta);
                Ok(scope.complete(&result))
            }
            Err(failure) => self.interrupted(scope, call, &core, failure, None),
        }
    }

    async fn complete(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !has_completers(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let params: CompleteParams = parse(call)?;
        let argument = &params.argument.name;
        let known = params
            .context
            .map(|context| context.arguments)
            .unwrap_or_default();
        let completers: &[(String, Completer)] = match &params.reference {
            CompletionReference::Prompt(prompt) => {
                let Some(entry) = lists.prompts.get(prompt.name.as_str()) else {
                    return Err(ErrorObject::invalid_params(format!(
                        "Unknown prompt: {}",
                        prompt.name
                    )));
                };
                let arguments = &entry.definition.arguments;
                known_argument(arguments.iter().map(|argument| argument.name.as_str()), argument)?;
                &entry.completers
            }
            CompletionReference::Resource(template) => {
                let Some(entry) = lists.templates.get(template.uri.as_str()) else {
                    // The reference may be a plain URI, which has nothing to complete.
                    if lists.resources.contains_key(template.uri.as_str()) {
                        return Ok(self.completed(scope, Vec::new()));
                    }
                    return Err(ErrorObject::invalid_params(format!(
                        "Unknown resource: {}",
                        template.uri
                    )));
                };
                known_argument(entry.template.variables(), argument)?;
                &entry.completers
            }
            _ => return Err(ErrorObject::invalid_params("Invalid params: unknown kind of ref")),
        };
        let Some((_, completer)) = completers.iter().find(|(name, _)| name == argument) else {
            return Ok(self.completed(scope, Vec::new()));
        };
        let work = completer(
            self.quiet_core(scope),
            Completion::new(params.argument.value, known),
        );
        let values = work.await;
        Ok(self.completed(scope, values))
    }

    fn completed(&self, scope: &Scope, values: Vec<String>) -> Reply {
        let mut result = CompleteResult::new(mcp_types::Completion::first_of(values));
        self.stamp(scope, &mut result.meta);
        scope.complete(&result)
    }

    // Logging.

    fn set_level(&self, scope: &Scope, call: &Call) -> Answer {
        let (true, Some(session)) = (self.settings.logging, scope.session()) else {
            return Err(ErrorObject::method_not_found(call.method()));
        };
        let params: SetLevelParams = parse(call)?;
        session.set_log_level(params.level);
        Ok(scope.complete(&EmptyResult::default()))
    }

    // Changes.

    /// Changes the lists and tells everyone.
    pub(crate) fn change<T>(
        &self,
        what: Change<'_>,
        change: impl FnOnce(&mut Lists) -> T,
    ) -> Result<T, BuildError> {
        self.require_dynamic()?;
        let outcome = self.registry.change(|lists| Ok(change(lists)))?;
        self.hub.tell(what);
        Ok(outcome)
    }

    /// Changes the lists, and tells everyone where something changed.
    pub(crate) fn change_if(
        &self,
        what: Change<'_>,
        change: impl FnOnce(&mut Lists) -> bool,
    ) -> Result<bool, BuildError> {
        self.require_dynamic()?;
        let changed = self.registry.change(|lists| Ok(change(lists)))?;
        if changed {
            self.hub.tell(what);
        }
        Ok(changed)
    }

    fn require_dynamic(&self) -> Result<(), BuildError> {
        if self.settings.dynamic {
            return Ok(());
        }
        Err(BuildError::new(
            "the lists of this server cannot change: build it with `dynamic()`",
        ))
    }

    pub(crate) fn tell(&self, change: Change<'_>) {
        self.hub.tell(change);
    }

    /// Sends a stateful session what changes, for as long as it lasts.
    pub(crate) async fn attend(&self, session: Session) {
        let listener = self.listener(&session);
        listener.want_lists();
        loop {
            let marks = listener.next().await;
            for (method, uri) in marks.notices() {
                if uri.is_none() && !self.settings.dynamic {
                    continue;
                }
                let params =
                    uri.and_then(|uri| wire::to_raw(&ResourceParams::new(uri), session.peer().revision).ok());
                let note = Outgoing::new(method, params.map(RawJson::into_bytes));
                if session.link().notify(note).await.is_err() {
                    return;
                }
            }
        }
    }

    /// `subscriptions/listen` (2026-07-28): acknowledges, then sends what changes until the client or the server
    /// ends it.
    async fn listen(&self, scope: &Scope, call: &Call) -> Answer {
        let params: SubscriptionParams = parse(call)?;
        let accepted = self.accepted(&params.notifications);
        let id = RawJson::encode(scope.id()).unwrap_or_else(|_| RawJson::null());
        let tag = || JsonObject::from([(keys::SUBSCRIPTION_ID, id.clone())]);
        // Listening starts before the acknowledgement, so that nothing is missed after it.
        let listener = self.hub.listen(Marks::from_filter(&accepted));
        let acknowledged = encode(
            &SubscriptionParams::new(accepted).with_meta(tag()),
            scope.revision(),
        )?;
        scope
            .notify(method::SUBSCRIPTIONS_ACKNOWLEDGED, acknowledged.as_bytes())
            .await;
        loop {
            let marks = {
                let mut next = std::pin::pin!(listener.next());
                let mut end = std::pin::pin!(scope.signal().draining());
                std::future::poll_fn(|cx| {
                    use std::task::Poll;
                    if let Poll::Ready(marks) = next.as_mut().poll(cx) {
                        return Poll::Ready(Some(marks));
                    }
                    end.as_mut().poll(cx).map(|()| None)
                })
                .await
            };
            let Some(marks) = marks else { break };
            for (method, uri) in marks.notices() {
                let params = match uri {
                    Some(uri) => encode(&ResourceParams::new(uri).with_meta(tag()), scope.revision())?,
                    None => encode(
                        &mcp_types::EmptyParams::default().with_meta(tag()),
                        scope.revision(),
                    )?,
                };
                scope.notify(method, params.as_bytes()).await;
            }
        }
        let mut result = SubscriptionsListenResult::of(scope.id());
        self.stamp(scope, &mut result.meta);
        Ok(scope.complete(&result))
    }

    /// The part of a filter that this server can serve.
    fn accepted(&self, asked: &SubscriptionFilter) -> SubscriptionFilter {
        let dynamic = self.settings.dynamic;
        let mut accepted = SubscriptionFilter::default()
            .with_tools_list_changed(asked.tools_list_changed && dynamic)
            .with_prompts_list_changed(asked.prompts_list_changed && dynamic)
            .with_resources_list_changed(asked.resources_list_changed && dynamic);
        if self.settings.subscribe {
            let uris = asked
                .resource_subscriptions
                .iter()
                .take(crate::hub::MAX_URIS)
                .cloned();
            accepted.resource_subscriptions = uris.collect();
        }
        accepted
    }
}

fn has_completers(lists: &Lists) -> bool {
    lists.prompts.values().any(|entry| !entry.completers.is_empty())
        || lists.templates.values().any(|entry| !entry.completers.is_empty())
}

fn known_argument<'a>(mut names: impl Iterator<Item = &'a str>, asked: &str) -> Result<(), ErrorObject> {
    if names.any(|name| name == asked) {
        return Ok(());
    }
    Err(ErrorObject::invalid_params(format!("Unknown argument: {asked}")))
}

fn parse<'a, T: serde::Deserialize<'a>>(call: &'a Call) -> Result<T, ErrorObject> {
    call.parse()
        .map_err(|error| ErrorObject::invalid_params(format!("Invalid params: {error}")))
}

fn encode<T: Wire + ?Sized>(value: &T, revision: Revision) -> Result<RawJson, ErrorObject> {
    wire::to_raw(value, revision).map_err(|error| ErrorObject::internal(format!("Internal error: {error}")))
}
