use mcp_bridge::{SourceError, SourceFuture, ToolSource};
use mcp_client::Client;
use mcp_jsonrpc::RawJson;
use mcp_types::{CallToolResult, Tool};

use crate::config::ToolFilter;

/// A client whose server's entry names the tools to offer.
pub(super) struct Filtered {
    client: Client,
    tools: ToolFilter,
}

impl Filtered {
    pub(super) fn new(client: Client, tools: ToolFilter) -> Self {
        Self { client, tools }
    }
}

impl ToolSource for Filtered {
    fn list_tools(&self) -> SourceFuture<'_, Vec<Tool>> {
        Box::pin(async move {
            let mut tools = ToolSource::list_tools(&self.client).await?;
            tools.retain(|tool| self.tools.permits(&tool.name));
            Ok(tools)
        })
    }

    /// Asked again here, so that nothing depends on which list a caller has in hand.
    fn call_tool<'a>(&'a self, name: &'a str, arguments: RawJson) -> SourceFuture<'a, CallToolResult> {
        if !self.tools.permits(name) {
            return Box::pin(async { Err(SourceError::new("the configuration keeps this tool back")) });
        }
        self.client.call_tool(name, arguments)
    }
}
