//! `xtask interop serve`: our server with what `xtask/peers/README.md` states, over stdio, for the peers' clients.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use mcp_server::{BuildError, Cx, Elicit, Elicited, Failure, Json, Prompt, Resource, Server, Template, Tool};
use mcp_types::{ContentBlock, ElicitSchema, Map, StringSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One black pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PAGE: usize = 3;
const MEMOS: [&str; 4] = ["one", "two", "three", "four"];
const PROMPTS: [&str; 3] = ["bow", "nod", "wave"];

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Summands {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Wait {
    ms: u64,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

async fn echo(_cx: Cx, args: Echo) -> String {
    args.text
}

async fn image(_cx: Cx) -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

async fn structured(_cx: Cx, args: Summands) -> Json<Sum> {
    Json(Sum {
        sum: args.a.wrapping_add(args.b),
    })
}

async fn fail(_cx: Cx) -> Result<String, Failure> {
    Err(Failure::text("it failed"))
}

async fn progress(cx: Cx, args: Steps) -> &'static str {
    for step in 1..=args.steps {
        cx.progress(f64::from(step), Some(f64::from(args.steps))).await;
    }
    "done"
}

/// Says so when it is dropped before its work is done: a cancelled call is a dropped future.
struct Unfinished(bool);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.0 {
            say("cancelled");
        }
    }
}

/// The clients wait for these lines.
fn say(line: &str) {
    // Nobody listens to stderr: nothing to be done, and no reason to stop.
    let _ = writeln!(std::io::stderr(), "{line}");
}

async fn slow(_cx: Cx, args: Wait) -> String {
    let mut unfinished = Unfinished(true);
    say("started");
    tokio::time::sleep(Duration::from_millis(args.ms)).await;
    unfinished.0 = false;
    format!("slept {}", args.ms)
}

async fn ask(cx: Cx) -> Result<String, Failure> {
    let form = ElicitSchema::new().required("name", StringSchema::new());
    Ok(
        match cx
            .ask("name", Elicit::<Name>::form("What is your name?", form))
            .await?
        {
            Elicited::Accept(answer) => format!("hello {}", answer.name),
            Elicited::Decline | Elicited::Cancel => "declined".to_owned(),
        },
    )
}

fn server() -> Result<Server, BuildError> {
    let mut builder = Server::builder("contract-ours", env!("CARGO_PKG_VERSION"))
        .page_size(PAGE)
        .tool(Tool::new("echo", echo).description("Returns its text"))
        .tool(Tool::new("image", image).description("Returns one pixel"))
        .tool(Tool::new("structured", structured).description("Adds two integers"))
        .tool(Tool::new("fail", fail).description("Fails"))
        .tool(Tool::new("progress", progress).description("Reports progress"))
        .tool(Tool::new("slow", slow).description("Waits"))
        .tool(Tool::new("ask", ask).description("Asks for a name"));
    for name in MEMOS {
        let read = move |_cx: Cx| async move { format!("memo {name}") };
        builder =
            builder.resource(Resource::new(format!("memo://{name}"), name, read).mime_type("text/plain"));
    }
    let read = |_cx: Cx, values: Map<String>| async move {
        values
            .get("name")
            .map(|name| format!("memo {name}"))
            .ok_or_else(Failure::not_found)
    };
    builder = builder.template(Template::new("memo://{name}", "memo", read).mime_type("text/plain"));
    let greet = |_cx: Cx, arguments: Map<String>| async move {
        format!("Hello, {}!", arguments.get("who").map_or("", String::as_str))
    };
    builder = builder.prompt(
        Prompt::new("greet", greet)
            .description("Greets somebody")
            .required("who"),
    );
    for name in PROMPTS {
        let make = move |_cx: Cx, _arguments: Map<String>| async move { format!("Please {name}.") };
        builder = builder.prompt(Prompt::new(name, make).description(format!("Asks for a {name}")));
    }
    builder.build()
}

/// Serves until the input ends.
pub(crate) fn run() -> ExitCode {
    let serve = || -> Result<(), Box<dyn std::error::Error>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(mcp_stdio::serve(server()?))?;
        Ok(())
    };
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
