//! contract-client [--revision REV] -- COMMAND ARGS...: the contract client on rmcp 3.11.

use std::collections::VecDeque;
use std::future::Future;
use std::process::{ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::{mpsc, watch};

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const STEP: Duration = Duration::from_secs(15);

type Outcome = Result<Option<Value>, String>;

struct Wanted {
    revision: Option<ProtocolVersion>,
    command: tokio::process::Command,
}

fn wanted() -> Result<Wanted, String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let at = args.iter().position(|arg| arg == "--").ok_or("no command")?;
    let revision = match &args[..at] {
        [] => None,
        [flag, revision] if flag == "--revision" => {
            Some(serde_json::from_value(json!(revision)).map_err(|error| error.to_string())?)
        }
        other => return Err(format!("unknown: {}", other.join(" "))),
    };
    let [program, rest @ ..] = &args[at + 1..] else {
        return Err("no command".into());
    };
    let mut command = tokio::process::Command::new(program);
    command.args(rest);
    Ok(Wanted { revision, command })
}

fn lifecycle(revision: Option<&ProtocolVersion>) -> ClientLifecycleMode {
    match revision {
        None => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        },
        Some(revision) if revision.has_initialize() => ClientLifecycleMode::Initialize,
        Some(revision) => ClientLifecycleMode::Discover {
            preferred_versions: vec![revision.clone()],
        },
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, right: T) -> Result<(), String> {
    if got == right {
        Ok(())
    } else {
        Err(format!("{what}: expected {right:?}, got {got:?}"))
    }
}

fn told(error: ServiceError) -> String {
    error.to_string()
}

struct Handler {
    info: ClientConfig,
    answers: Arc<Mutex<VecDeque<ElicitResult>>>,
    progress: mpsc::UnboundedSender<ProgressNotificationParam>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.info.clone()
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            return Err(ErrorData::invalid_params("not a form", None));
        };
        let fields: Vec<&String> = requested_schema.properties.keys().collect();
        if message != "What is your name?" || fields != ["name"] {
            return Err(ErrorData::invalid_params(
                format!("asked {message:?} with {fields:?}"),
                None,
            ));
        }
        let answer = self
            .answers
            .lock()
            .ok()
            .and_then(|mut answers| answers.pop_front());
        Ok(answer.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel)))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let _ = self.progress.send(params);
    }
}

/// The server's stderr, line by line.
fn lines(stderr: tokio::process::ChildStderr) -> watch::Receiver<Vec<String>> {
    let (sender, receiver) = watch::channel(Vec::new());
    tokio::spawn(async move {
        let mut lines = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            sender.send_modify(|seen| seen.push(line.trim().to_owned()));
        }
    });
    receiver
}

async fn until(lines: &mut watch::Receiver<Vec<String>>, line: &str) -> Result<(), String> {
    let seen = lines.wait_for(|seen| seen.iter().any(|one| one == line)).await;
    seen.map(drop)
        .map_err(|_| format!("stderr ended without {line:?}"))
}

struct Steps {
    client: RunningService<RoleClient, Handler>,
    revision: String,
    stderr: watch::Receiver<Vec<String>>,
    answers: Arc<Mutex<VecDeque<ElicitResult>>>,
    progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
}

fn request(name: &str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(name.to_owned())
        .with_arguments(arguments.as_object().cloned().unwrap_or_default())
}

fn first_text(result: &CallToolResult) -> Option<&str> {
    result
        .content
        .first()
        .and_then(|block| block.as_text())
        .map(|text| text.text.as_str())
}

/// Every page of one list: the items and how many pages there were.
macro_rules! every_page {
    ($self:ident, $list:ident, $field:ident) => {{
        let (mut items, mut pages, mut cursor) = (Vec::new(), 0, None);
        loop {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let page = $self.client.$list(Some(params)).await.map_err(told)?;
            items.extend(page.$field);
            pages += 1;
            cursor = page.next_cursor;
            if cursor.is_none() || pages == 50 {
                break (items, pages);
            }
        }
    }};
}

fn paged_names(what: &str, mut names: Vec<String>, pages: usize, right: &[&str]) -> Outcome {
    names.sort();
    let mut right: Vec<String> = right.iter().map(|name| (*name).to_owned()).collect();
    right.sort();
    expect(what, names, right)?;
    if pages < 2 {
        Err(format!("{what} came in one page"))
    } else {
        Ok(Some(json!({"pages": pages})))
    }
}

impl Steps {
    fn at(&self, revision: &str) -> bool {
        self.revision.as_str() >= revision
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<CallToolResult, String> {
        self.client
            .call_tool(request(name, arguments))
            .await
            .map_err(told)
    }

    async fn list_tools(&mut self) -> Outcome {
        let (tools, pages) = every_page!(self, list_tools, tools);
        if self.at("2025-06-18") {
            let structured = tools.iter().find(|tool| tool.name == "structured");
            let schema = json!(structured.and_then(|tool| tool.output_schema.clone()));
            expect(
                "outputSchema",
                &schema["properties"]["sum"]["type"],
                &json!("integer"),
            )?;
        }
        let names = tools.iter().map(|tool| tool.name.to_string()).collect();
        let right = ["echo", "image", "structured", "fail", "progress", "slow", "ask"];
        paged_names("tools", names, pages, &right)
    }

    async fn list_resources(&mut self) -> Outcome {
        let (resources, pages) = every_page!(self, list_resources, resources);
        let names = resources.iter().map(|resource| resource.name.clone()).collect();
        paged_names("resources", names, pages, &["one", "two", "three", "four"])
    }

    async fn list_templates(&mut self) -> Outcome {
        let (templates, _) = every_page!(self, list_resource_templates, resource_templates);
        let templates: Vec<_> = templates
            .iter()
            .map(|template| template.uri_template.as_str())
            .collect();
        expect("templates", templates, vec!["memo://{name}"])?;
        Ok(None)
    }

    async fn list_prompts(&mut self) -> Outcome {
        let (prompts, pages) = every_page!(self, list_prompts, prompts);
        let greet = prompts
            .iter()
            .find(|prompt| prompt.name == "greet")
            .ok_or("no greet")?;
        let arguments: Vec<_> = greet
            .arguments
            .iter()
            .flatten()
            .map(|a| (a.name.as_str(), a.required))
            .collect();
        expect("arguments", arguments, vec![("who", Some(true))])?;
        let names = prompts.iter().map(|prompt| prompt.name.clone()).collect();
        paged_names("prompts", names, pages, &["bow", "greet", "nod", "wave"])
    }

    async fn echo(&mut self) -> Outcome {
        let text = "tea, \"thé\", 茶\n🫖";
        let result = self.call("echo", json!({"text": text})).await?;
        expect(
            "content",
            (result.content.len(), first_text(&result)),
            (1, Some(text)),
        )?;
        Ok(None)
    }

    async fn image(&mut self) -> Outcome {
        let result = self.call("image", json!({})).await?;
        let image = result
            .content
            .first()
            .and_then(|block| block.as_image())
            .ok_or("no image")?;
        expect(
            "content",
            (image.mime_type.as_str(), image.data.as_str()),
            ("image/png", PNG),
        )?;
        Ok(None)
    }

    async fn structured(&mut self) -> Outcome {
        let result = self.call("structured", json!({"a": 2, "b": -5})).await?;
        let text: Value =
            serde_json::from_str(first_text(&result).unwrap_or("")).map_err(|e| e.to_string())?;
        expect("text", text, json!({"sum": -3}))?;
        if self.at("2025-06-18") {
            expect(
                "structuredContent",
                result.structured_content,
                Some(json!({"sum": -3})),
            )?;
        }
        Ok(None)
    }

    async fn fail(&mut self) -> Outcome {
        let result = self.call("fail", json!({})).await?;
        expect(
            "result",
            (result.is_error, first_text(&result)),
            (Some(true), Some("it failed")),
        )?;
        Ok(None)
    }

    async fn unknown_tool(&mut self) -> Outcome {
        match self.client.call_tool(request("nope", json!({}))).await {
            Ok(result) => {
                expect("isError", result.is_error, Some(true))?;
                Ok(Some(json!({"isError": true})))
            }
            Err(ServiceError::McpError(error)) => {
                expect("code", error.code, ErrorCode::INVALID_PARAMS)?;
                Ok(Some(json!({"code": error.code})))
            }
            Err(error) => Err(told(error)),
        }
    }

    async fn progress(&mut self) -> Outcome {
        // Every request of this SDK carries a progress token.
        let result = self.call("progress", json!({"steps": 3})).await?;
        expect("text", first_text(&result), Some("done"))?;
        let mut seen = Vec::new();
        while seen.len() < 3 {
            let note = self.progress.recv().await.ok_or("no more reports")?;
            seen.push((note.progress, note.total));
        }
        // Notifications are handled by a task each, so their order is not kept by this SDK.
        seen.sort_by(|a, b| a.0.total_cmp(&b.0));
        expect(
            "progress",
            seen,
            vec![(1.0, Some(3.0)), (2.0, Some(3.0)), (3.0, Some(3.0))],
        )?;
        Ok(None)
    }

    async fn cancel(&mut self) -> Outcome {
        let call =
            ClientRequest::CallToolRequest(CallToolRequest::new(request("slow", json!({"ms": 60_000}))));
        let options = PeerRequestOptions::no_options();
        let handle = self
            .client
            .send_cancellable_request(call, options)
            .await
            .map_err(told)?;
        until(&mut self.stderr, "started").await?;
        handle.cancel(Some("enough".into())).await.map_err(told)?;
        until(&mut self.stderr, "cancelled").await?;
        let later = self.call("echo", json!({"text": "still here"})).await?;
        expect("a later call", first_text(&later), Some("still here"))?;
        Ok(None)
    }

    async fn read(&self, uri: &str) -> Result<Vec<ResourceContents>, ServiceError> {
        Ok(self
            .client
            .read_resource(ReadResourceRequestParams::new(uri))
            .await?
            .contents)
    }

    async fn resource(&mut self) -> Outcome {
        let contents = json!(self.read("memo://one").await.map_err(told)?);
        let got = (
            contents[0]["uri"].as_str(),
            contents[0]["text"].as_str(),
            contents[0]["mimeType"].as_str(),
        );
        expect(
            "contents",
            got,
            (Some("memo://one"), Some("memo one"), Some("text/plain")),
        )?;
        Ok(None)
    }

    async fn template(&mut self) -> Outcome {
        let contents = json!(self.read("memo://tea").await.map_err(told)?);
        let got = (contents[0]["uri"].as_str(), contents[0]["text"].as_str());
        expect("contents", got, (Some("memo://tea"), Some("memo tea")))?;
        Ok(None)
    }

    async fn missing_resource(&mut self) -> Outcome {
        match self.read("nowhere://tea").await {
            Err(ServiceError::McpError(error)) if matches!(error.code.0, -32002 | -32602) => {
                Ok(Some(json!({"code": error.code})))
            }
            other => Err(format!("{other:?}")),
        }
    }

    async fn prompt(&mut self) -> Outcome {
        let arguments = json!({"who": "Ada"}).as_object().cloned().unwrap_or_default();
        let params = GetPromptRequestParams::new("greet").with_arguments(arguments);
        let result = self.client.get_prompt(params).await.map_err(told)?;
        let messages = json!(result.messages);
        let got = (
            messages[0]["role"].as_str(),
            messages[0]["content"]["text"].as_str(),
        );
        expect("messages", got, (Some("user"), Some("Hello, Ada!")))?;
        Ok(None)
    }

    async fn ask(&mut self) -> Outcome {
        if !self.at("2025-06-18") {
            return Ok(Some(json!({"skipped": "no elicitation in this revision"})));
        }
        let accept = ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ada"}));
        let decline = ElicitResult::new(ElicitationAction::Decline);
        self.answers
            .lock()
            .map_err(|error| error.to_string())?
            .extend([accept, decline]);
        expect(
            "accepted",
            first_text(&self.call("ask", json!({})).await?),
            Some("hello Ada"),
        )?;
        expect(
            "declined",
            first_text(&self.call("ask", json!({})).await?),
            Some("declined"),
        )?;
        Ok(None)
    }
}

async fn report(step: &str, body: impl Future<Output = Outcome>) -> bool {
    let outcome = match tokio::time::timeout(STEP, body).await {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("nothing after {STEP:?}")),
    };
    let mut line = json!({"step": step, "ok": outcome.is_ok()});
    match outcome {
        Ok(Some(detail)) => line["detail"] = detail,
        Ok(None) => {}
        Err(error) => line["error"] = error.into(),
    }
    println!("{line}");
    line["ok"] == true
}

async fn run(wanted: Wanted) -> bool {
    let revision = wanted.revision;
    let answers = Arc::new(Mutex::new(VecDeque::new()));
    let (sender, progress) = mpsc::unbounded_channel();
    let mut info = ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("contract-rmcp", "1.0.0"),
    )
    .with_protocol_version(
        revision
            .clone()
            .unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE),
    );
    if revision
        .as_ref()
        .is_none_or(|revision| revision.as_str() >= "2025-06-18")
    {
        info.capabilities.elicitation = Some(ElicitationCapability::default());
    }
    let handler = Handler {
        info,
        answers: answers.clone(),
        progress: sender,
    };
    let mut connected = None;
    let handshake = async {
        let (transport, stderr) = TokioChildProcess::builder(wanted.command)
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let stderr = lines(stderr.ok_or("no stderr")?);
        let client = handler
            .serve_with_lifecycle(transport, lifecycle(revision.as_ref()))
            .await
            .map_err(|error| error.to_string())?;
        let peer = client.peer_info().ok_or("no server info")?;
        let negotiated = peer.protocol_version.to_string();
        if let Some(revision) = &revision {
            expect("revision", negotiated.as_str(), revision.as_str())?;
        }
        let server = peer.server_info.as_ref().map(|server| server.name.clone());
        let detail = json!({"revision": negotiated, "server": server});
        connected = Some(Steps {
            client,
            revision: negotiated,
            stderr,
            answers,
            progress,
        });
        Ok(Some(detail))
    };
    if !report("handshake", handshake).await {
        return false;
    }
    let Some(mut steps) = connected else { return false };
    let mut all = true;
    macro_rules! each {
        ($($step:ident)*) => {$(all &= report(stringify!($step), steps.$step()).await;)*};
    }
    each!(list_tools list_resources list_templates list_prompts echo image structured fail unknown_tool progress);
    each!(cancel resource template missing_resource prompt ask);
    let close = async {
        steps
            .client
            .cancel()
            .await
            .map(|_| None)
            .map_err(|error| error.to_string())
    };
    report("close", close).await && all
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match wanted() {
        Ok(wanted) => ExitCode::from(u8::from(!run(wanted).await)),
        Err(error) => {
            eprintln!("{error}\nusage: contract-client [--revision REV] -- COMMAND ARGS...");
            ExitCode::from(2)
        }
    }
}
