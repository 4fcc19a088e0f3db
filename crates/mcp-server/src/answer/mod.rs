//! Answers requests: what every method of every revision gets.

mod changes;
mod prompts;
mod resources;
mod tools;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_exchange::{Exchange, Reply, Scope};
use mcp_jsonrpc::{Call, ErrorObject, RawJson};
use mcp_types::meta::keys;
use mcp_types::wire::{self, Wire};
use mcp_types::{
    DiscoverResult, EmptyResult, InitializeResult, JsonObject, ListParams, Meta, PromptsCapability,
    ResourcesCapability, Revision, ServerCapabilities, SetLevelParams, ToolsCapability, method,
};

use crate::cx::Base;
use crate::error::{Failure, Kind};
use crate::lists::{ListKind, Lists, Registry};
use crate::round::Round;
use crate::settings::Settings;

/// The server without its state's type.
pub(crate) struct Responder {
    pub(crate) settings: Arc<Settings>,
    registry: Registry,
    /// Something could be completed at some time: what was declared stays declared.
    completes: AtomicBool,
    /// `serverInfo` as the stateless era puts it into the `_meta` of results.
    identity: RawJson,
}

type Answer = Result<Reply, ErrorObject>;

impl Responder {
    pub(crate) fn new(settings: Settings, registry: Registry) -> Self {
        let identity =
            wire::to_raw(&settings.info, Revision::LATEST).unwrap_or_else(|_| RawJson::empty_object());
        Self {
            settings: Arc::new(settings),
            completes: AtomicBool::new(registry.now().has_completers()),
            registry,
            identity,
        }
    }

    pub(crate) async fn call(&self, exchange: Exchange) -> Reply {
        let Exchange {
            request,
            scope,
            extensions,
            ..
        } = exchange;
        let call = request.call;
        let answer = match call.method() {
            method::TOOLS_CALL => self.tools_call(&scope, call, extensions.get()).await,
            method::TOOLS_LIST => self.tools_list(&scope, &call),
            method::RESOURCES_READ => self.resources_read(&scope, call).await,
            method::RESOURCES_LIST => self.resources_list(&scope, &call),
            method::RESOURCES_TEMPLATES_LIST => self.templates_list(&scope, &call),
            method::RESOURCES_SUBSCRIBE => self.subscribe(&scope, &call, true),
            method::RESOURCES_UNSUBSCRIBE => self.subscribe(&scope, &call, false),
            method::PROMPTS_GET => self.prompts_get(&scope, call).await,
            method::PROMPTS_LIST => self.prompts_list(&scope, &call),
            method::COMPLETION_COMPLETE => self.complete(&scope, &call).await,
            method::LOGGING_SET_LEVEL => self.set_level(&scope, &call),
            method::SUBSCRIPTIONS_LISTEN => self.listen(&scope, &call).await,
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
        let served = self.settings.revisions.iter();
        let versions: Vec<String> = served.map(|one| one.name().to_owned()).collect();
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
        if self.has_tools(&lists) {
            declared.tools = Some(ToolsCapability::default().with_list_changed(dynamic.tools));
        }
        if self.has_resources(&lists) {
            let resources = ResourcesCapability::default()
                .with_list_changed(dynamic.resources)
                .with_subscribe(subscribe);
            declared.resources = Some(resources);
        }
        if self.has_prompts(&lists) {
            declared.prompts = Some(PromptsCapability::default().with_list_changed(dynamic.prompts));
        }
        if self.completes() {
            declared.completions = Some(JsonObject::new());
        }
        if self.settings.logging {
            declared.logging = Some(JsonObject::new());
        }
        declared
    }

    fn has_tools(&self, lists: &Lists) -> bool {
        self.settings.dynamic.tools || !lists.tools.is_empty()
    }

    fn has_resources(&self, lists: &Lists) -> bool {
        self.settings.dynamic.resources
            || self.settings.subscribe
            || !lists.resources.is_empty()
            || !lists.templates.is_empty()
    }

    fn has_prompts(&self, lists: &Lists) -> bool {
        self.settings.dynamic.prompts || !lists.prompts.is_empty()
    }

    fn completes(&self) -> bool {
        self.completes.load(Ordering::Acquire)
    }

    fn set_level(&self, scope: &Scope, call: &Call) -> Answer {
        let (true, Some(session)) = (self.settings.logging, scope.session()) else {
            return Err(ErrorObject::method_not_found(call.method()));
        };
        let params: SetLevelParams = parse(call)?;
        session.set_log_level(params.level);
        Ok(scope.complete(&EmptyResult::default()))
    }

    // What several methods share.

    /// In the stateless era every result says who made it (2026-07-28: basic/index, "_meta"). What a handler put
    /// there stays.
    fn stamp(&self, scope: &Scope, meta: &mut Meta) {
        if scope.revision().is_stateless() && !meta.contains_key(keys::SERVER_INFO) {
            meta.insert(keys::SERVER_INFO, self.identity.clone());
        }
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

    /// What a handler gets to work with during a request in which the client may be asked.
    fn base(&self, scope: &Scope, call: &Call) -> Result<Base, ErrorObject> {
        let round = if scope.revision().is_stateless() {
            let principal = scope.peer().principal.as_deref();
            Round::replay(call, principal, &*self.settings.sealer)
                .map_err(|failure| protocol(scope, failure, None))?
        } else {
            let seat = scope
                .session()
                .and_then(|session| self.settings.hub.seat(session));
            Round::live(seat.is_some_and(|seat| !seat.is_open()))
        };
        Ok(self.base_of(scope, round))
    }

    fn base_of(&self, scope: &Scope, round: Round) -> Base {
        Base {
            scope: scope.clone(),
            round: Arc::new(round),
            settings: Arc::clone(&self.settings),
        }
    }

    /// What a handler that has no result gets: an error, or the questions that it asked. `call` is there in the
    /// stateless era.
    fn unfinished(&self, base: &Base, call: Option<&Call>, failure: Failure, uri: Option<&str>) -> Answer {
        let scope = &base.scope;
        let (Kind::Interrupt, Some(call)) = (failure.as_kind(), call) else {
            return Err(protocol(scope, failure, uri));
        };
        let principal = scope.peer().principal.as_deref();
        let (sealer, lifetime) = (&*self.settings.sealer, self.settings.state_lifetime);
        match base.round.need_input(call, principal, sealer, lifetime) {
            Ok(mut result) => {
                self.stamp(scope, &mut result.meta);
                Ok(scope.complete(&result))
            }
            Err(failure) => Err(protocol(scope, failure, uri)),
        }
    }
}

fn protocol(scope: &Scope, failure: Failure, uri: Option<&str>) -> ErrorObject {
    let error = failure.into_error_object(scope.revision(), uri);
    error.unwrap_or_else(|| ErrorObject::internal("a question was asked where none may be"))
}

fn parse<'a, T: serde::Deserialize<'a>>(call: &'a Call) -> Result<T, ErrorObject> {
    call.parse()
        .map_err(|error| ErrorObject::invalid_params(format!("Invalid params: {error}")))
}

fn encode<T: Wire + ?Sized>(value: &T, revision: Revision) -> Result<RawJson, ErrorObject> {
    wire::to_raw(value, revision).map_err(|error| ErrorObject::internal(format!("Internal error: {error}")))
}

/// The call where it is needed again: to seal what a retry brings back. Elsewhere its frame goes now, not when the
/// handler is done.
fn kept(scope: &Scope, call: Call) -> Option<Call> {
    scope.revision().is_stateless().then_some(call)
}
