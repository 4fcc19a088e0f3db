use mcp_exchange::Scope;
use mcp_jsonrpc::{Call, ErrorObject, ParamKey};
use mcp_types::{CacheHints, ListResourceTemplatesResult, ListResourcesResult};

use super::{Answer, Responder, kept};
use crate::error::resource_not_found;
use crate::lists::{ListKind, page};

impl Responder {
    pub(super) fn resources_list(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_resources(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let kind = ListKind::Resources;
        self.list(scope, call, &lists, kind, true, |cursor| {
            let entries = lists
                .resources
                .iter()
                .map(|(uri, entry)| (&**uri, &entry.definition));
            let (resources, next) = page(kind, entries, cursor, self.settings.page_size)?;
            let mut result = ListResourcesResult::new(resources).with_cache_hints(self.settings.cache);
            result.next_cursor = next;
            self.stamp(scope, &mut result.meta);
            Ok(result)
        })
    }

    pub(super) fn templates_list(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_resources(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let kind = ListKind::Templates;
        self.list(scope, call, &lists, kind, true, |cursor| {
            let entries = lists
                .templates
                .iter()
                .map(|(text, entry)| (&**text, &entry.definition));
            let (templates, next) = page(kind, entries, cursor, self.settings.page_size)?;
            let mut result =
                ListResourceTemplatesResult::new(templates).with_cache_hints(self.settings.cache);
            result.next_cursor = next;
            self.stamp(scope, &mut result.meta);
            Ok(result)
        })
    }

    pub(super) async fn resources_read(&self, scope: &Scope, call: Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_resources(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let uri = match call.param_str(ParamKey::Uri) {
            Ok(Some(uri)) => uri.into_owned(),
            _ => return Err(ErrorObject::invalid_params("Invalid params: uri is not a string")),
        };
        let base = self.base(scope, &call)?;
        let _end = base.end();
        let mut broken = None;
        let work = match lists.resources.get(uri.as_str()) {
            Some(entry) => Some((entry.read)(base.clone(), uri.clone())),
            None => lists
                .templates
                .values()
                .find_map(|entry| match entry.template.matches(&uri) {
                    Ok(values) => values.map(|values| (entry.read)(base.clone(), uri.clone(), values)),
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
        let call = kept(scope, call);
        match work.await {
            Ok(mut result) => {
                if result.ttl_ms.is_none() {
                    // What came of answers is for whoever gave them (2026-07-28: caching).
                    let hints = match &call {
                        Some(call) if is_retry(call) => CacheHints::default(),
                        _ => self.settings.cache,
                    };
                    result = result.with_cache_hints(hints);
                }
                self.stamp(scope, &mut result.meta);
                Ok(scope.complete(&result))
            }
            Err(failure) => self.unfinished(&base, call.as_ref(), failure, Some(&uri)),
        }
    }
}

fn is_retry(call: &Call) -> bool {
    [ParamKey::InputResponses, ParamKey::RequestState]
        .into_iter()
        .any(|key| call.param(key).is_some())
}
