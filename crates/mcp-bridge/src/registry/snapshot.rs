use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use mcp_types::Tool;
use serde::Serialize;

use super::error::Problem;
use super::source::ToolSource;
use super::{RegistryBuilder, Server, lock};
use crate::text;

/// The tools of all servers at one moment, by their names for the model, in the order of their bytes.
#[derive(Debug, Default)]
pub struct Tools {
    by_name: BTreeMap<String, BridgedTool>,
    problems: Vec<Problem>,
}

/// One tool, as it goes to a model.
pub struct BridgedTool {
    name: String,
    server: String,
    description: String,
    parameters: RawJson,
    definition: Arc<Tool>,
    pub(super) source: Arc<dyn ToolSource>,
}

impl BridgedTool {
    /// The name for the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server that it is a tool of.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What the server said, with the original name and schema.
    pub fn definition(&self) -> &Tool {
        &self.definition
    }

    /// `[SERVER] DESCRIPTION`; the tool's title where it has no description.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The schema for the model: the server's own, with `type` and `properties` added if they were missing.
    pub fn parameters(&self) -> &RawJson {
        &self.parameters
    }
}

impl fmt::Debug for BridgedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BridgedTool")
            .field("name", &self.name)
            .field("server", &self.server)
            .field("tool", &self.definition.name)
            .finish_non_exhaustive()
    }
}

impl Tools {
    /// The tool of a name.
    pub fn get(&self, name: &str) -> Option<&BridgedTool> {
        self.by_name.get(name)
    }

    /// All tools, in the order of their names' bytes.
    pub fn iter(&self) -> impl Iterator<Item = &BridgedTool> {
        self.by_name.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Servers that could not be listed, tools that were left out, names that had to be told apart.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The `tools` of a chat completions request: `{"type":"function","function":{name,description,parameters}}`
    /// each, in the order of the names.
    pub fn to_chat_tools(&self) -> Vec<ChatTool<'_>> {
        self.iter().map(ChatTool::of).collect()
    }

    pub(super) fn gather(options: &RegistryBuilder, servers: &BTreeMap<String, Arc<Server>>) -> Self {
        let mut problems = Vec::new();
        let mut admitted = Vec::new();
        for (name, server) in servers {
            let listed = lock(&server.listed);
            if let Some(failure) = &listed.failure {
                problems.push(Problem::of_server(
                    name,
                    format!("could not list its tools: {failure}"),
                ));
            }
            let max = options.limits.max_tools;
            if listed.tools.len() > max {
                let text = format!("has {} tools, and {max} are taken", listed.tools.len());
                problems.push(Problem::of_server(name, text));
            }
            let mut seen = BTreeSet::new();
            for tool in listed.tools.iter().take(max) {
                let fault = match seen.insert(tool.name.as_str()) {
                    false => Err("is listed twice; the first counts".to_owned()),
                    true => parameters(tool),
                };
                let admit = |parameters| match &options.gate {
                    Some(gate) => gate.admit(name, tool).map(|()| parameters),
                    None => Ok(parameters),
                };
                match fault.and_then(admit) {
                    Ok(parameters) => admitted.push((name.as_str(), server, Arc::clone(tool), parameters)),
                    Err(text) => problems.push(Problem::of_tool(name, &tool.name, text)),
                }
            }
        }
        let pairs = admitted
            .iter()
            .map(|(server, _, tool, _)| (*server, tool.name.as_str()));
        let names = options.naming.assign(pairs);
        for clash in names.clashes() {
            for (server, tool) in clash {
                let name = names.name_of(server, tool).unwrap_or_default();
                let text = format!("shares its name with another tool; it is {name} now");
                problems.push(Problem::of_tool(server, tool, text));
            }
        }
        let mut by_name = BTreeMap::new();
        for (server_name, server, definition, parameters) in &admitted {
            let Some(name) = names.name_of(server_name, &definition.name) else {
                continue;
            };
            if options
                .reserved
                .iter()
                .any(|reserved| name.starts_with(reserved.as_str()))
            {
                let text = format!("would be {name}, and the host keeps such names");
                problems.push(Problem::of_tool(server_name, &definition.name, text));
                continue;
            }
            let tool = BridgedTool {
                name: name.to_owned(),
                server: (*server_name).to_owned(),
                description: description(server_name, definition, options.limits.max_description),
                parameters: parameters.clone(),
                definition: Arc::clone(definition),
                source: Arc::clone(&server.source),
            };
            by_name.insert(tool.name.clone(), tool);
        }
        Self { by_name, problems }
    }
}

/// The schema for the model, if the tool's own can be one.
fn parameters(tool: &Tool) -> Result<RawJson, String> {
    let bad = |e: mcp_schema::SchemaError| format!("left out: {e}");
    if !tool.input_schema.is_object() {
        return Err("left out: its input schema is not a JSON object".to_owned());
    }
    let completed = mcp_schema::complete_for_model(&tool.input_schema);
    mcp_schema::check_tool_input_schema(&completed).map_err(bad)?;
    Ok(completed)
}

fn description(server: &str, tool: &Tool, max: usize) -> String {
    let annotated = tool
        .annotations
        .as_ref()
        .and_then(|annotations| annotations.title.as_ref());
    match tool.description.as_ref().or(tool.title.as_ref()).or(annotated) {
        Some(said) => format!("[{server}] {}", text::within(said.clone(), max)),
        None => format!("[{server}]"),
    }
}

/// A tool as chat completions take it.
#[derive(Debug, Serialize)]
pub struct ChatTool<'a> {
    r#type: &'static str,
    function: ChatFunction<'a>,
}

#[derive(Debug, Serialize)]
struct ChatFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawJson,
}

impl<'a> ChatTool<'a> {
    fn of(tool: &'a BridgedTool) -> Self {
        Self {
            r#type: "function",
            function: ChatFunction {
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.parameters,
            },
        }
    }
}
