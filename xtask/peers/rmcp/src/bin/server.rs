//! The contract server on rmcp 3.11, over stdio.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::{InputResponses as Answers, ToolCallContext};
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::*;
use rmcp::service::{ElicitationError, RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, elicit_safe, schemars, tool, tool_router};
use serde_json::json;

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PAGE: usize = 3;
const MEMOS: [&str; 4] = ["one", "two", "three", "four"];
const PROMPTS: [&str; 3] = ["bow", "nod", "wave"];

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArgs {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct SumArgs {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct ProgressArgs {
    steps: u32,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct SlowArgs {
    ms: u64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}
elicit_safe!(Name);

struct Contract {
    tools: ToolRouter<Self>,
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[tool_router]
impl Contract {
    #[tool(description = "Returns its text")]
    fn echo(&self, Parameters(args): Parameters<EchoArgs>) -> CallToolResult {
        text(args.text)
    }

    #[tool(description = "Returns one pixel")]
    fn image(&self) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::image(PNG, "image/png")])
    }

    #[tool(description = "Adds two integers")]
    fn structured(&self, Parameters(args): Parameters<SumArgs>) -> Json<Sum> {
        Json(Sum { sum: args.a + args.b })
    }

    #[tool(description = "Fails")]
    fn fail(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("it failed")])
    }

    #[tool(description = "Reports progress")]
    async fn progress(
        &self,
        Parameters(args): Parameters<ProgressArgs>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if let Some(token) = context.meta.get_progress_token() {
            for step in 1..=args.steps {
                let note = ProgressNotificationParam::new(token.clone(), f64::from(step))
                    .with_total(f64::from(args.steps));
                context.peer.notify_progress(note).await.map_err(internal)?;
            }
        }
        Ok(text("done"))
    }

    #[tool(description = "Waits")]
    async fn slow(
        &self,
        Parameters(args): Parameters<SlowArgs>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        eprintln!("started");
        tokio::select! {
            () = tokio::time::sleep(std::time::Duration::from_millis(args.ms)) => Ok(text(format!("slept {}", args.ms))),
            () = context.ct.cancelled() => {
                eprintln!("cancelled");
                Err(internal("cancelled"))
            }
        }
    }

    #[tool(description = "Asks for a name")]
    async fn ask(
        &self,
        Answers(answers): Answers,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        const MESSAGE: &str = "What is your name?";
        let stateless = context
            .protocol_version()
            .is_some_and(|revision| !revision.has_initialize());
        if !stateless {
            return match context.peer.elicit::<Name>(MESSAGE).await {
                Ok(Some(answer)) => Ok(text(format!("hello {}", answer.name)).into()),
                Ok(None) | Err(ElicitationError::UserDeclined | ElicitationError::UserCancelled) => {
                    Ok(text("declined").into())
                }
                Err(error) => Err(internal(error)),
            };
        }
        let Some(answer) = answers.as_ref().and_then(|answers| answers.get("name")) else {
            let question = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
                meta: None,
                message: MESSAGE.into(),
                requested_schema: serde_json::from_value(json!({
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                }))
                .map_err(internal)?,
            });
            let questions = [("name".to_owned(), InputRequest::Elicitation(question))].into();
            return Ok(InputRequiredResult::new(Some(questions), None).into());
        };
        Ok(match answer["content"]["name"].as_str() {
            Some(name) if answer["action"] == "accept" => text(format!("hello {name}")),
            _ => text("declined"),
        }
        .into())
    }
}

/// The page that a cursor names, and the next cursor.
fn page<T>(
    all: Vec<T>,
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match request.and_then(|request| request.cursor) {
        None => 0,
        Some(cursor) => match cursor.parse::<usize>() {
            Ok(start) if start < all.len() => start,
            _ => return Err(ErrorData::invalid_params("unknown cursor", None)),
        },
    };
    let next = (start + PAGE < all.len()).then(|| (start + PAGE).to_string());
    Ok((all.into_iter().skip(start).take(PAGE).collect(), next))
}

impl ServerHandler for Contract {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("contract-rmcp", "1.0.0"))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = ListToolsResult::default();
        (result.tools, result.next_cursor) = page(self.tools.list_all(), request)?;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.tools
            .call(ToolCallContext::new(self, request, context))
            .await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = MEMOS
            .iter()
            .map(|name| Resource::new(format!("memo://{name}"), *name).with_mime_type("text/plain"))
            .collect();
        let mut result = ListResourcesResult::default();
        (result.resources, result.next_cursor) = page(all, request)?;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut result = ListResourceTemplatesResult::default();
        result.resource_templates =
            vec![ResourceTemplate::new("memo://{name}", "memo").with_mime_type("text/plain")];
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(name) = request.uri.strip_prefix("memo://") else {
            return Err(ErrorData::resource_not_found(
                "no such memo",
                Some(json!({"uri": request.uri})),
            ));
        };
        let memo = ResourceContents::text(format!("memo {name}"), &request.uri).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![memo]).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let who = PromptArgument::new("who").with_required(true);
        let mut all = vec![Prompt::new("greet", Some("Greets somebody"), Some(vec![who]))];
        all.extend(
            PROMPTS
                .iter()
                .map(|name| Prompt::new(*name, Some(format!("Asks for a {name}")), None)),
        );
        let mut result = ListPromptsResult::default();
        (result.prompts, result.next_cursor) = page(all, request)?;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = match request.name.as_str() {
            "greet" => {
                let who = request
                    .arguments
                    .as_ref()
                    .and_then(|arguments| arguments.get("who")?.as_str());
                let who = who.ok_or_else(|| ErrorData::invalid_params("who is missing", None))?;
                format!("Hello, {who}!")
            }
            name if PROMPTS.contains(&name) => format!("Please {name}."),
            _ => return Err(ErrorData::invalid_params("no such prompt", None)),
        };
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let contract = Contract {
        tools: Contract::tool_router(),
    };
    match contract.serve(rmcp::transport::stdio()).await {
        Ok(running) => running.waiting().await.map(drop).map_err(Into::into),
        // Some clients probe for the era on a process of its own: that is no failure.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
