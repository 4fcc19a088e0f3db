use std::sync::Arc;

use mcp_exchange::{ParamHeaders, Reply, Scope};
use mcp_jsonrpc::{Call, ErrorObject, ParamKey, RawJson};
use mcp_types::{CallToolResult, ListToolsResult};

use super::{Answer, Responder, kept};
use crate::lists::{ListKind, page};
use crate::param_headers;
use crate::settings::UnknownTool;

impl Responder {
    fn allows(&self, tool: &str) -> bool {
        self.settings.policy.as_ref().is_none_or(|allowed| allowed(tool))
    }

    pub(super) fn tools_list(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_tools(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        // A policy may say something else each time.
        let keep = self.settings.policy.is_none();
        self.list(scope, call, &lists, ListKind::Tools, keep, |cursor| {
            let allowed = lists.tools.iter().filter(|(name, _)| self.allows(name));
            let entries = allowed.map(|(name, tool)| (&**name, &tool.definition));
            let (tools, next) = page(ListKind::Tools, entries, cursor, self.settings.page_size)?;
            let mut result = ListToolsResult::new(tools).with_cache_hints(self.settings.cache);
            result.next_cursor = next;
            self.stamp(scope, &mut result.meta);
            Ok(result)
        })
    }

    pub(super) async fn tools_call(
        &self,
        scope: &Scope,
        call: Call,
        headers: Option<&ParamHeaders>,
    ) -> Answer {
        let lists = self.registry.now();
        if !self.has_tools(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let name = match call.param_str(ParamKey::Name) {
            Ok(Some(name)) => name,
            _ => {
                return Err(ErrorObject::invalid_params(
                    "Invalid params: name is not a string",
                ));
            }
        };
        let Some(tool) = lists.tools.get(&*name).filter(|_| self.allows(&name)) else {
            return match self.settings.unknown_tool {
                UnknownTool::Protocol => Err(ErrorObject::invalid_params(format!("Unknown tool: {name}"))),
                UnknownTool::Result => Ok(self.tool_result(
                    scope,
                    CallToolResult::error(format!("Tool not available: {name}")),
                )),
            };
        };
        let tool = Arc::clone(tool);
        drop((name, lists));
        let given = call
            .param(ParamKey::Arguments)
            .filter(|arguments| !arguments.is_null());
        let arguments = match given {
            None => RawJson::empty_object(),
            Some(arguments) if arguments.is_object() => arguments,
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "Invalid params: arguments is not an object",
                ));
            }
        };
        if let Some(headers) = headers {
            param_headers::check(&tool.header_params, headers, &arguments)?;
        }
        let base = self.base(scope, &call)?;
        let _end = base.end();
        let work = match tool.start(base.clone(), &arguments) {
            Ok(work) => work,
            Err(error) => return Ok(self.tool_result(scope, CallToolResult::error(error.into_text()))),
        };
        drop(arguments);
        let call = kept(scope, call);
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
            Err(other) => self.unfinished(&base, call.as_ref(), other, None),
        }
    }

    fn tool_result(&self, scope: &Scope, mut result: CallToolResult) -> Reply {
        self.stamp(scope, &mut result.meta);
        scope.complete(&result)
    }
}
