//! The steps of our client, with each kind of server.

mod contract;
mod reference;

use mcp_client::{ClientError, Request};
use mcp_jsonrpc::RawJson;
use mcp_types::{CallToolResult, ContentBlock, ElicitResult, JsonObject, Revision};
use serde_json::{Value, json};

use super::contract_client::Session;
use super::contract_server::PNG;
use super::offer::Offer;

/// A detail, or null; or what was wrong.
pub(crate) type Outcome = Result<Value, String>;

const DONE: Outcome = Ok(Value::Null);

/// Takes one step. The names are those of [`Offer::steps`].
pub(crate) async fn take(session: &Session, offer: Offer, step: &str) -> Outcome {
    match (offer, step) {
        (_, "close") => close(session).await,
        (Offer::Contract, _) => contract::take(session, step).await,
        (Offer::Everything, _) => reference::everything(session, step).await,
        (Offer::Filesystem, _) => reference::filesystem(session, step).await,
        (Offer::Memory, _) => reference::memory(session, step).await,
        (Offer::Thinking, _) => reference::thinking(session, step).await,
    }
}

fn unknown(step: &str) -> Outcome {
    Err(format!("there is no step {step}"))
}

fn told(error: ClientError) -> String {
    error.to_string()
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, right: T) -> Result<(), String> {
    if got == right {
        Ok(())
    } else {
        Err(format!("{what}: expected {right:?}, got {got:?}"))
    }
}

fn tool(session: &Session, name: &str, arguments: &Value) -> Request<CallToolResult> {
    session.client.tool(name).args(arguments)
}

async fn call(session: &Session, name: &str, arguments: Value) -> Result<CallToolResult, String> {
    tool(session, name, &arguments).await.map_err(told)
}

/// The first text of a result that is none of a failed tool.
async fn call_text(session: &Session, name: &str, arguments: Value) -> Result<String, String> {
    let result = call(session, name, arguments).await?;
    if result.is_error {
        return Err(format!("the tool failed: {:?}", first_text(&result)));
    }
    first_text(&result)
        .map(str::to_owned)
        .ok_or_else(|| "no text".into())
}

fn first_text(result: &CallToolResult) -> Option<&str> {
    result.content.iter().find_map(ContentBlock::as_text)
}

fn value(raw: Option<&RawJson>) -> Result<Value, String> {
    raw.map_or(Ok(Value::Null), |raw| {
        raw.parse()
            .map_err(|error: mcp_jsonrpc::ParseError| error.to_string())
    })
}

/// `data` is how the picture's Base64 begins.
async fn image(session: &Session, name: &str, data: &str) -> Outcome {
    let result = call(session, name, json!({})).await?;
    let image = result.content.iter().find_map(|block| match block {
        ContentBlock::Image(image) => Some(image),
        _ => None,
    });
    let image = image.ok_or("no image")?;
    expect(
        "image",
        (image.mime_type.as_str(), image.data.starts_with(data)),
        ("image/png", true),
    )?;
    DONE
}

/// A tool that fails, with this in its text.
async fn failing(session: &Session, name: &str, arguments: Value, words: &str) -> Outcome {
    let result = call(session, name, arguments).await?;
    expect("isError", result.is_error, true)?;
    let text = first_text(&result).unwrap_or_default();
    expect("text", text.contains(words), true)?;
    DONE
}

async fn unknown_tool(session: &Session) -> Outcome {
    match session.client.tool("nope").args(&json!({})).await {
        Ok(result) => {
            expect("isError", result.is_error, true)?;
            Ok(json!({"isError": true}))
        }
        Err(error) => match error.error_object() {
            Some(object) if object.code == -32602 => Ok(json!({"code": object.code})),
            _ => Err(told(error)),
        },
    }
}

async fn read(session: &Session, uri: &str, mime_type: &str, right: impl Fn(&str) -> bool) -> Outcome {
    let result = session.client.read_resource(uri).await.map_err(told)?;
    let contents = result.contents.first().ok_or("no contents")?;
    expect(
        "contents",
        (contents.uri.as_str(), contents.mime_type.as_deref()),
        (uri, Some(mime_type)),
    )?;
    let text = contents.text.as_deref().unwrap_or_default();
    if right(text) {
        DONE
    } else {
        Err(format!("read {text:?}"))
    }
}

async fn missing_resource(session: &Session, uri: &str) -> Outcome {
    match session.client.read_resource(uri).await {
        Ok(result) => Err(format!("read {result:?}")),
        Err(error) => match error.error_object() {
            Some(object) if matches!(object.code, -32002 | -32602) => Ok(json!({"code": object.code})),
            _ => Err(told(error)),
        },
    }
}

async fn prompt(session: &Session, name: &str, argument: (&str, &str), right: &str) -> Outcome {
    let result = session.client.prompt(name).args([argument]).await.map_err(told)?;
    let texts: Vec<_> = result
        .messages
        .iter()
        .map(|message| message.content.as_text())
        .collect();
    expect("messages", texts, vec![Some(right)])?;
    DONE
}

async fn close(session: &Session) -> Outcome {
    let closed = session.client.close().await;
    if closed.orderly {
        Ok(json!({"reason": closed.reason}))
    } else {
        Err(closed.reason.into_owned())
    }
}
