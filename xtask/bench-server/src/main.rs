//! A stdio server with the tools that the benchmarks call.

use std::error::Error;

use mcp_server::{Cx, Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

async fn echo(_cx: Cx, args: Text) -> String {
    args.text
}

async fn progress(cx: Cx, args: Steps) -> &'static str {
    for step in 1..=args.steps {
        cx.progress(f64::from(step), Some(f64::from(args.steps))).await;
    }
    "done"
}

async fn ok(_cx: Cx, _args: Text) -> &'static str {
    "ok"
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let many = (0..200).map(|n| {
        Tool::new(format!("t{n:03}"), ok).description(format!("Tool number {n} of the list benchmark"))
    });
    let server = Server::builder("bench", "1.0.0")
        .tool(Tool::new("echo", echo).description("Returns its text"))
        .tool(Tool::new("progress", progress).description("Reports progress"))
        .tools(many)
        .build()?;
    mcp_stdio::serve(server).await?;
    Ok(())
}
