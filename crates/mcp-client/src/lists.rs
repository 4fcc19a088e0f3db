//! The four lists, page by page or whole.

use mcp_jsonrpc::{RawJson, codes};
use mcp_types::{
    JsonObject, ListParams, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, Prompt, Resource, ResourceTemplate, Tool, method,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::ClientError;
use crate::repeats::is_usable;
use crate::request::{Context, Request, as_it_is, typed};

impl Client {
    /// All tools. Empty where the server did not declare any.
    ///
    /// An entry that cannot be read is left out with a warning; the others stay (P119). The schemas of structured
    /// results are remembered, and checked from then on. Over HTTP in the stateless era, so is a tool whose
    /// `x-mcp-header` annotations break the rules left out.
    ///
    /// # Errors
    /// As any request, and when the list is over [`max_pages`](crate::ClientBuilder::max_pages) or
    /// [`max_items`](crate::ClientBuilder::max_items).
    pub async fn list_tools(&self) -> Result<Vec<Tool>, ClientError> {
        let counted = self.0.catalogue_mark();
        let mut tools: Vec<Tool> = self.whole_list(method::TOOLS_LIST, "tools").await?;
        if self.0.repeats_arguments() {
            tools.retain(|tool| is_usable(&tool.name, &tool.input_schema));
        }
        self.0.catalogue.learn(counted, &tools);
        Ok(tools)
    }

    /// One page of tools: the first without a cursor.
    pub fn list_tools_page(&self, cursor: Option<&str>) -> Request<ListToolsResult> {
        self.page(method::TOOLS_LIST, cursor, typed)
    }

    /// All resources, as [`Client::list_tools`].
    ///
    /// # Errors
    /// As [`Client::list_tools`].
    pub async fn list_resources(&self) -> Result<Vec<Resource>, ClientError> {
        self.whole_list(method::RESOURCES_LIST, "resources").await
    }

    /// One page of resources.
    pub fn list_resources_page(&self, cursor: Option<&str>) -> Request<ListResourcesResult> {
        self.page(method::RESOURCES_LIST, cursor, typed)
    }

    /// All resource templates, as [`Client::list_tools`].
    ///
    /// # Errors
    /// As [`Client::list_tools`].
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, ClientError> {
        self.whole_list(method::RESOURCES_TEMPLATES_LIST, "resourceTemplates")
            .await
    }

    /// One page of resource templates.
    pub fn list_resource_templates_page(&self, cursor: Option<&str>) -> Request<ListResourceTemplatesResult> {
        self.page(method::RESOURCES_TEMPLATES_LIST, cursor, typed)
    }

    /// All prompts, as [`Client::list_tools`].
    ///
    /// # Errors
    /// As [`Client::list_tools`].
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>, ClientError> {
        self.whole_list(method::PROMPTS_LIST, "prompts").await
    }

    /// One page of prompts.
    pub fn list_prompts_page(&self, cursor: Option<&str>) -> Request<ListPromptsResult> {
        self.page(method::PROMPTS_LIST, cursor, typed)
    }

    fn page<T>(
        &self,
        method: &'static str,
        cursor: Option<&str>,
        finish: fn(&Context<'_>, RawJson) -> Result<T, ClientError>,
    ) -> Request<T> {
        let mut params = ListParams::new();
        params.cursor = cursor.map(str::to_owned);
        self.entity(method, &params, finish)
    }

    /// Follows the cursors to the end. Only an absent one ends the list (P140); one that repeats does so with a
    /// warning, before its page would be there twice (P138).
    async fn whole_list<T: DeserializeOwned>(
        &self,
        method: &'static str,
        member: &'static str,
    ) -> Result<Vec<T>, ClientError> {
        if self.0.permits(method).is_err() {
            return Ok(Vec::new());
        }
        let bounds = &self.0.bounds;
        let mut items = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let page = self
                .page(method, cursors.last().map(String::as_str), as_it_is)
                .await;
            let page = match page {
                Ok(page) => page,
                // Declared or not, there is no such list (P061).
                Err(error)
                    if error
                        .error_object()
                        .is_some_and(|e| e.code == codes::METHOD_NOT_FOUND) =>
                {
                    return Ok(items);
                }
                Err(error) => return Err(error),
            };
            let next = read_page(&page, method, member, &mut items)?;
            if items.len() > bounds.max_items {
                let text = format!("the server's {member} are more than {}", bounds.max_items);
                return Err(ClientError::protocol(text));
            }
            let Some(next) = next else { return Ok(items) };
            if cursors.contains(&next) {
                tracing::warn!(method, "the server repeats a cursor; the list ends here");
                return Ok(items);
            }
            cursors.push(next);
            if cursors.len() >= bounds.max_pages {
                let text = format!("the server's {member} have more than {} pages", bounds.max_pages);
                return Err(ClientError::protocol(text));
            }
        }
    }
}

/// Reads a page entry by entry, so that one bad entry costs no other. Returns the next cursor.
fn read_page<T: DeserializeOwned>(
    page: &RawJson,
    method: &str,
    member: &'static str,
    items: &mut Vec<T>,
) -> Result<Option<String>, ClientError> {
    let unreadable = |error| ClientError::unreadable(method, error);
    let mut page: JsonObject = page.parse().map_err(unreadable)?;
    let list: Vec<RawJson> = match page.remove(member) {
        Some(list) => list.parse().map_err(unreadable)?,
        None => {
            let text = format!("the server's answer to {method} has no {member}");
            return Err(ClientError::protocol(text));
        }
    };
    let next: Option<String> = match page.remove("nextCursor") {
        Some(next) => next.parse().map_err(unreadable)?,
        None => None,
    };
    items.reserve(list.len());
    for entry in list {
        match entry.parse() {
            Ok(item) => items.push(item),
            Err(error) => {
                #[derive(Deserialize)]
                struct Named {
                    name: Option<String>,
                }
                let name = entry.parse::<Named>().ok().and_then(|named| named.name);
                tracing::warn!(list = member, name, %error, "an entry that cannot be read was left out");
            }
        }
    }
    Ok(next)
}
