//! The servers that transcripts talk to: one with everything, and a few small ones.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_jsonrpc::RawJson;
use mcp_server::{
    BuildError, Cx, Elicit, Elicited, Failure, Json, ListRoots, Prompt, Resource, Sample, Server, Template,
    Tool,
};
use mcp_types::{
    Annotations, CallToolResult, ContentBlock, CreateMessageParams, ElicitSchema, GetPromptResult, Icon,
    LoggingLevel, Map, Number, PromptArgument, PromptMessage, ResourceContents, ResourceLink, Revisions,
    Role, SamplingMessage, StringSchema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// A picture of one byte or so; nobody looks at it.
const PIXEL: &str = "iVBORw0KGgo=";

/// What the fixture's handlers share.
#[derive(Default)]
pub(crate) struct App {
    /// The server itself, for tools that change its lists.
    server: OnceLock<Server<App>>,
    released: Notify,
    /// How often work was done that must be done once.
    runs: AtomicU32,
}

/// Which server a transcript wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Everything that there is.
    Rich,
    /// Tools alone, and none may change.
    Plain,
    /// Lists of several pages.
    Paged,
    /// One tool that says all that can be said about a tool.
    Described,
    /// The revisions with a handshake alone.
    Handshake,
    /// The stateless revisions alone.
    Modern,
}

impl Kind {
    const ALL: [(&'static str, Kind); 6] = [
        ("rich", Kind::Rich),
        ("plain", Kind::Plain),
        ("paged", Kind::Paged),
        ("described", Kind::Described),
        ("handshake", Kind::Handshake),
        ("modern", Kind::Modern),
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| *kind)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("", |(name, _)| name)
    }
}

/// Makes a server.
pub(crate) fn server(kind: Kind) -> Result<Server<App>, BuildError> {
    match kind {
        Kind::Rich => rich(),
        Kind::Plain => plain("plain").build(),
        Kind::Paged => paged(),
        Kind::Described => Server::builder("described", "1.0.0")
            .state(App::default())
            .tool(described())
            .build(),
        Kind::Handshake => plain("handshake").revisions(Revisions::STATEFUL).build(),
        Kind::Modern => plain("modern").revisions(Revisions::STATELESS).build(),
    }
}

fn plain(name: &str) -> mcp_server::Builder<App> {
    Server::builder(name, "1.0.0")
        .state(App::default())
        .tool(Tool::new("echo", echo).description("Returns its text."))
}

fn paged() -> Result<Server<App>, BuildError> {
    let mut builder = Server::builder("paged", "1.0.0")
        .state(App::default())
        .page_size(2);
    for name in ["a", "b", "c", "d", "e"] {
        builder = builder
            .tool(Tool::new(name, done))
            .resource(Resource::new(
                format!("page://{name}"),
                name,
                async |_: Cx<App>| "text",
            ))
            .template(Template::new(
                format!("page://{name}/{{x}}"),
                name,
                async |_: Cx<App>, _: Map<String>| "text",
            ))
            .prompt(Prompt::new(name, async |_: Cx<App>, _: Map<String>| {
                "text".to_owned()
            }));
    }
    builder.build()
}

fn icon() -> [Icon; 1] {
    [Icon::new("https://example.com/icon.png").with_mime_type("image/png".to_owned())]
}

/// Says all that can be said about a tool.
fn described() -> Tool<App> {
    Tool::new("described", async |_: Cx<App>| {
        Json(Weather {
            city: "Oslo",
            degrees: 3.5,
        })
    })
    .title("Described")
    .description("Says all that can be said about a tool.")
    .read_only()
    .open_world(false)
    .icons(icon())
}

fn rich() -> Result<Server<App>, BuildError> {
    let builder = Server::builder("fixture", "1.0.0")
        .title("Fixture")
        .description("A server with everything.")
        .website_url("https://example.com")
        .icons(icon())
        .instructions("Call anything.")
        .state(App::default())
        .logging()
        .subscriptions()
        .dynamic();
    let builder = contents(builder);
    let builder = builder
        .tool(Tool::new("echo", echo).description("Returns its text."))
        .tool(
            Tool::new("add", add)
                .description("Adds two integers.")
                .read_only()
                .idempotent(),
        )
        .tool(mirror())
        .tool(described())
        .tool(Tool::new("fail", async |_: Cx<App>| {
            Err::<String, _>(Failure::text("it failed"))
        }))
        .tool(Tool::new("refuse", async |_: Cx<App>| {
            Err::<String, _>(Failure::invalid_params("not today"))
        }))
        .tool(Tool::new("panic", panics))
        .tool(Tool::new("progress", progress).description("Reports progress."))
        .tool(Tool::new("log", log).description("Logs at a level."))
        .tool(Tool::new("wait", wait).description("Waits for `release`."))
        .tool(Tool::new("release", release).description("Lets `wait` go on."))
        .tool(Tool::new("grow", grow).description("Adds a tool."))
        .tool(Tool::new("touch", touch).description("Says that a resource changed."));
    let server = questions(builder)
        .resource(
            Resource::new("file:///readme.md", "readme", async |_: Cx<App>| "# Read me")
                .title("Read me")
                .description("What this is.")
                .mime_type("text/markdown")
                .size(9)
                .annotations(
                    Annotations::default()
                        .with_priority(Number::from(1))
                        .with_audience([Role::User]),
                )
                .icons(icon()),
        )
        .resource(
            Resource::new("file:///logo.png", "logo", async |_: Cx<App>| {
                ResourceContents::from_blob("file:///logo.png", PIXEL).with_mime_type("image/png".to_owned())
            })
            .mime_type("image/png"),
        )
        .resource(Resource::new("ask://name", "asked", async |cx: Cx<App>| {
            Ok::<String, Failure>(format!("You are {}.", who(&cx).await?))
        }))
        .template(
            Template::new("note://{name}", "note", read_note)
                .description("A note by name.")
                .mime_type("text/plain")
                .complete("name", async |_: Cx<App>, what: mcp_server::Completion| {
                    let known = ["design", "diary", "todo"];
                    let fits = known.iter().filter(|name| name.starts_with(&what.value));
                    fits.map(|name| (*name).to_owned()).collect()
                }),
        )
        .prompt(
            Prompt::new("greet", greet)
                .title("Greet")
                .description("Greets somebody.")
                .argument(
                    PromptArgument::new("name")
                        .with_description("Whom".to_owned())
                        .with_required(true),
                )
                .argument(PromptArgument::new("tone"))
                .icons(icon())
                .complete("tone", async |_: Cx<App>, what: mcp_server::Completion| {
                    let all =
                        (0..150).map(|n| format!("{}{n:03}", what.known.get("name").map_or("t", |n| n)));
                    all.filter(|tone| tone.starts_with(&what.value)).collect()
                }),
        )
        .prompt(Prompt::new("asked", async |cx: Cx<App>, _: Map<String>| {
            Ok::<String, Failure>(format!("I am {}.", who(&cx).await?))
        }))
        .build()?;
    // The server holds its state and the state the server: a test's process does not mind.
    let _ = server.state().server.set(server.clone());
    Ok(server)
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    /// What to return.
    text: String,
}

async fn echo(_: Cx<App>, args: Text) -> String {
    args.text
}

async fn done(_: Cx<App>) -> &'static str {
    "done"
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(_: Cx<App>, args: Add) -> Result<String, Failure> {
    let sum = args.a.checked_add(args.b);
    sum.map(|sum| sum.to_string())
        .ok_or_else(|| Failure::text("integer overflow"))
}

/// Returns its arguments as they came.
fn mirror() -> Tool<App> {
    let schema = RawJson::from_text(r#"{"type":"object"}"#).unwrap_or_else(|_| RawJson::empty_object());
    Tool::raw("mirror", schema, async |_: Cx<App>, args: RawJson| {
        CallToolResult::text(args.as_str()).with_structured_content(args)
    })
}

async fn panics(_: Cx<App>) -> String {
    panic!("the fixture panics because it was told to")
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    city: &'static str,
    degrees: f64,
}

/// A tool for each kind of content.
fn contents(builder: mcp_server::Builder<App>) -> mcp_server::Builder<App> {
    builder
        .tool(Tool::new("text", async |_: Cx<App>| "plain text"))
        .tool(Tool::new("image", async |_: Cx<App>| {
            ContentBlock::image(PIXEL, "image/png")
        }))
        .tool(Tool::new("audio", async |_: Cx<App>| {
            ContentBlock::audio("UklGRg==", "audio/wav")
        }))
        .tool(Tool::new("link", async |_: Cx<App>| {
            ContentBlock::resource_link(ResourceLink::new("file:///readme.md", "readme"))
        }))
        .tool(Tool::new("embedded", async |_: Cx<App>| {
            ContentBlock::resource(ResourceContents::from_text("file:///readme.md", "# Read me"))
        }))
        .tool(Tool::new("blob", async |_: Cx<App>| {
            ContentBlock::resource(ResourceContents::from_blob("file:///logo.png", PIXEL))
        }))
        .tool(Tool::new("mixed", async |_: Cx<App>| {
            vec![
                ContentBlock::text("one\ntwo"),
                ContentBlock::image(PIXEL, "image/png"),
            ]
        }))
        .tool(Tool::new("nothing", async |_: Cx<App>| ()))
        .tool(Tool::new("structured", async |_: Cx<App>| {
            Json(Weather {
                city: "Oslo",
                degrees: 3.5,
            })
        }))
        .tool(Tool::new("number", async |_: Cx<App>| Json(7)))
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

async fn progress(cx: Cx<App>, args: Steps) -> String {
    for step in 1..=args.steps {
        let text = format!("step {step}");
        cx.progress_text(f64::from(step), Some(f64::from(args.steps)), &text)
            .await;
    }
    // Not more than before: dropped.
    cx.progress(1.0, None).await;
    format!("{} steps", args.steps)
}

#[derive(Deserialize, JsonSchema)]
struct Level {
    level: String,
}

async fn log(cx: Cx<App>, args: Level) -> Result<&'static str, Failure> {
    let level: LoggingLevel = serde_json::from_value(args.level.into())?;
    Ok(match cx.log(level, "it happened").await {
        true => "logged",
        false => "not logged",
    })
}

async fn wait(cx: Cx<App>) -> &'static str {
    cx.progress(0.5, None).await;
    cx.state().released.notified().await;
    "released"
}

async fn release(cx: Cx<App>) -> &'static str {
    cx.state().released.notify_waiters();
    "done"
}

async fn grow(cx: Cx<App>, args: Text) -> Result<&'static str, Failure> {
    if let Some(server) = cx.state().server.get() {
        server.add_tool(Tool::new(args.text, done))?;
    }
    Ok("grown")
}

async fn touch(cx: Cx<App>, args: Text) -> &'static str {
    if let Some(server) = cx.state().server.get() {
        server.resource_updated(&args.text);
    }
    "touched"
}

async fn read_note(_: Cx<App>, values: Map<String>) -> Result<String, Failure> {
    match values.get("name").map(String::as_str) {
        Some("todo") => Ok("- fix the parser".into()),
        Some("secret") => Err(Failure::not_found()),
        Some(name) => Ok(format!("a note on {name}")),
        None => Err(Failure::not_found()),
    }
}

async fn greet(_: Cx<App>, arguments: Map<String>) -> GetPromptResult {
    let name = arguments.get("name").map_or("you", String::as_str);
    let resource = ResourceContents::from_text("file:///readme.md", "# Read me");
    GetPromptResult::new(vec![
        PromptMessage::user(format!("Greet {name}.")),
        PromptMessage::new(Role::Assistant, ContentBlock::resource(resource)),
    ])
    .with_description("A greeting".to_owned())
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// Asks for a name.
async fn who(cx: &Cx<App>) -> Result<String, Failure> {
    let schema = ElicitSchema::default().required("name", StringSchema::new());
    match cx
        .ask("who", Elicit::<Name>::form("Who are you?", schema))
        .await?
    {
        Elicited::Accept(answer) => Ok(answer.name),
        Elicited::Decline => Ok("nobody".into()),
        Elicited::Cancel => Err(Failure::text("cancelled")),
    }
}

fn question(text: &str) -> Sample {
    Sample(CreateMessageParams::new(
        vec![SamplingMessage::user(text)],
        100u64,
    ))
}

async fn sampled(cx: &Cx<App>, key: &str, text: &str) -> Result<String, Failure> {
    Ok(cx.ask(key, question(text)).await?.content.to_text())
}

/// Tools that ask the client.
fn questions(builder: mcp_server::Builder<App>) -> mcp_server::Builder<App> {
    builder
        .tool(Tool::new("ask_name", async |cx: Cx<App>| {
            Ok::<String, Failure>(format!("Hello, {}!", who(&cx).await?))
        }))
        .tool(Tool::new("ask_url", async |cx: Cx<App>| {
            let question = Elicit::url("Please sign in.", "https://example.com/in", "e-1");
            Ok::<String, Failure>(match cx.ask("url", question).await? {
                Elicited::Accept(()) => "opened".into(),
                _ => "not opened".into(),
            })
        }))
        .tool(Tool::new("ask_model", async |cx: Cx<App>| {
            sampled(&cx, "model", "Say hi.").await
        }))
        .tool(Tool::new("ask_roots", async |cx: Cx<App>| {
            let roots = cx.ask("roots", ListRoots).await?.roots;
            Ok::<String, Failure>(
                roots
                    .iter()
                    .map(|root| root.uri.as_str())
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        }))
        .tool(Tool::new("ask_both", async |cx: Cx<App>| {
            let (name, text) = tokio::join!(who(&cx), sampled(&cx, "model", "Say hi."));
            let both = collect(name, text)?;
            Ok::<String, Failure>(format!("{} / {}", both.0, both.1))
        }))
        .tool(Tool::new("ask_twice", ask_twice))
}

/// Both results, or the first failure.
fn collect(
    one: Result<String, Failure>,
    other: Result<String, Failure>,
) -> Result<(String, String), Failure> {
    Ok((one?, other?))
}

/// Two questions one after the other, and work that may run once only.
async fn ask_twice(cx: Cx<App>) -> Result<String, Failure> {
    let work = async || Ok(cx.state().runs.fetch_add(1, Ordering::SeqCst) + 1);
    let first = cx.remember("first", work).await?;
    let name = who(&cx).await?;
    let second = cx.remember("second", work).await?;
    let text = sampled(&cx, "model", "Say hi.").await?;
    let runs = cx.state().runs.load(Ordering::SeqCst);
    Ok(format!("{name} {text}: {first}, {second} of {runs}"))
}
