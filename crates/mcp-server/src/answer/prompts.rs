use mcp_exchange::{Reply, Scope};
use mcp_jsonrpc::{Call, ErrorObject};
use mcp_types::{CompleteParams, CompleteResult, CompletionReference, GetPromptParams, ListPromptsResult};

use super::{Answer, Responder, kept, parse};
use crate::completion::{Completer, Completion};
use crate::lists::{ListKind, page};
use crate::round::Round;

impl Responder {
    pub(super) fn prompts_list(&self, scope: &Scope, call: &Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_prompts(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let kind = ListKind::Prompts;
        self.list(scope, call, &lists, kind, true, |cursor| {
            let entries = lists
                .prompts
                .iter()
                .map(|(name, entry)| (&**name, &entry.definition));
            let (prompts, next) = page(kind, entries, cursor, self.settings.page_size)?;
            let mut result = ListPromptsResult::new(prompts).with_cache_hints(self.settings.cache);
            result.next_cursor = next;
            self.stamp(scope, &mut result.meta);
            Ok(result)
        })
    }

    pub(super) async fn prompts_get(&self, scope: &Scope, call: Call) -> Answer {
        let lists = self.registry.now();
        if !self.has_prompts(&lists) {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let params: GetPromptParams = parse(&call)?;
        let Some(prompt) = lists.prompts.get(params.name.as_str()) else {
            return Err(unknown_prompt(&params.name));
        };
        if let Some(missing) = prompt.missing(&params.arguments) {
            return Err(ErrorObject::invalid_params(format!(
                "Missing argument: {missing}"
            )));
        }
        let base = self.base(scope, &call)?;
        let _end = base.end();
        let work = (prompt.make)(base.clone(), params.arguments);
        drop(lists);
        let call = kept(scope, call);
        match work.await {
            Ok(mut result) => {
                self.stamp(scope, &mut result.meta);
                Ok(scope.complete(&result))
            }
            Err(failure) => self.unfinished(&base, call.as_ref(), failure, None),
        }
    }

    pub(super) async fn complete(&self, scope: &Scope, call: &Call) -> Answer {
        if !self.completes() {
            return Err(ErrorObject::method_not_found(call.method()));
        }
        let lists = self.registry.now();
        let params: CompleteParams = parse(call)?;
        let argument = &params.argument.name;
        let known = params
            .context
            .map(|context| context.arguments)
            .unwrap_or_default();
        let completers: &[(String, Completer)] = match &params.reference {
            CompletionReference::Prompt(prompt) => {
                let Some(entry) = lists.prompts.get(prompt.name.as_str()) else {
                    return Err(unknown_prompt(&prompt.name));
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
                    let text = format!("Unknown resource: {}", template.uri);
                    return Err(ErrorObject::invalid_params(text));
                };
                known_argument(entry.template.variables(), argument)?;
                &entry.completers
            }
            _ => return Err(ErrorObject::invalid_params("Invalid params: unknown kind of ref")),
        };
        let Some((_, completer)) = completers.iter().find(|(name, _)| name == argument) else {
            return Ok(self.completed(scope, Vec::new()));
        };
        let base = self.base_of(scope, Round::quiet());
        let _end = base.end();
        let work = completer(base, Completion::new(params.argument.value, known));
        drop(lists);
        let values = work.await;
        Ok(self.completed(scope, values))
    }

    fn completed(&self, scope: &Scope, values: Vec<String>) -> Reply {
        let mut result = CompleteResult::new(mcp_types::Completion::first_of(values));
        self.stamp(scope, &mut result.meta);
        scope.complete(&result)
    }
}

fn unknown_prompt(name: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("Unknown prompt: {name}"))
}

fn known_argument<'a>(mut names: impl Iterator<Item = &'a str>, asked: &str) -> Result<(), ErrorObject> {
    if names.any(|name| name == asked) {
        return Ok(());
    }
    Err(ErrorObject::invalid_params(format!("Unknown argument: {asked}")))
}
