//! Examples 1, 2 and 4: what needs no connection.

use bytes::{Bytes, BytesMut};
use mcp_bridge::text::for_model;
use mcp_codec::{Line, LineDecoder, encode_line};
use mcp_jsonrpc::{ErrorObject, Frame, Limits, Message, RequestId, encode, scan};
use mcp_types::{CallToolResult, ListToolsResult, Revision};

use super::wire::{after, json_text};
use super::{Input, Lines, Trouble};

/// Example 1: messages are written, read again, and named by what was read.
pub(super) async fn kinds(input: Input, _: Revision) -> Lines {
    let mut out = Vec::new();
    for line in input {
        let message = written(line)?;
        let text = String::from_utf8(message.to_vec())?;
        out.push(format!("{:<12} {text}", kind(message)));
    }
    Ok(out)
}

/// The message that a line of the input describes.
fn written(line: &str) -> Result<Bytes, Trouble> {
    let mut out = BytesMut::new();
    let (kind, rest) = line.split_once(' ').ok_or("one word is no message")?;
    let mut parts = rest.splitn(3, ' ');
    let mut part = || parts.next().ok_or_else(|| format!("too short: {line}"));
    match kind {
        "request" => {
            let (id, method) = (id(part()?)?, part()?);
            let params = parts.next().map(json_text).transpose()?;
            let params = params.as_ref().map(|params| params.as_bytes());
            encode::request(&mut out, &id, method, params);
        }
        "notification" => encode::notification(&mut out, part()?, None),
        "result" => encode::result(&mut out, &id(part()?)?, json_text(part()?)?.as_bytes()),
        "error" => {
            let (id, code, message) = (id(part()?)?, part()?.parse()?, part()?.to_owned());
            encode::error(&mut out, Ok(&id), &ErrorObject::new(code, message));
        }
        "line" => out.extend_from_slice(rest.as_bytes()),
        _ => return Err(format!("no kind of message: {line}").into()),
    }
    Ok(out.freeze())
}

fn id(text: &str) -> Result<RequestId, Trouble> {
    Ok(serde_json::from_str(text)?)
}

fn kind(message: Bytes) -> &'static str {
    match scan(message, &Limits::default()) {
        Ok(Frame::One(Message::Request(_))) => "request",
        Ok(Frame::One(Message::Notification(_))) => "notification",
        Ok(Frame::One(Message::Response(response))) => match response.outcome {
            Ok(_) => "result",
            Err(_) => "error",
        },
        Ok(Frame::Batch(_)) => "batch",
        Err(_) => "invalid",
    }
}

/// Example 2: bytes in pieces, lines out of them.
pub(super) async fn framing(input: Input, _: Revision) -> Lines {
    let mut out = Vec::new();
    let mut decoder = LineDecoder::default();
    let mut number = 0;
    for line in input {
        let (what, rest) = line.split_once(' ').ok_or("one word is no step")?;
        match what {
            "notification" => {
                let (method, params) = rest.split_once(' ').ok_or("no params")?;
                let wire = on_the_wire(method, params)?;
                out.push(format!("written: {}", wire.trim_end()));
                let newlines = wire.matches('\n').count();
                out.push(format!("newline characters on the wire: {newlines}"));
            }
            "chunk" => {
                let text: String = serde_json::from_str(rest)?;
                number += 1;
                out.extend(read_chunk(&mut decoder, number, text.as_bytes())?);
            }
            "cut" => {
                let (inside, text) = after("inside", rest)?.split_once(' ').ok_or("no text")?;
                let text: String = serde_json::from_str(text)?;
                // Between the two bytes of the character.
                let at = text.find(inside).ok_or("the character is not there")? + 1;
                for chunk in [&text.as_bytes()[..at], &text.as_bytes()[at..]] {
                    number += 1;
                    out.extend(read_chunk(&mut decoder, number, chunk)?);
                }
            }
            "limit" => {
                let (limit, bytes) = rest.split_once(" for ").ok_or("no bytes")?;
                let bytes = bytes.trim_end_matches(" bytes").parse()?;
                let mut small = LineDecoder::new(limit.parse()?);
                small.buffer().resize(bytes, 0);
                let line = small
                    .next_line()
                    .or_else(|| small.finish())
                    .ok_or("nothing came out")?;
                match line.into_message() {
                    Ok(_) => out.push("limit: none".to_owned()),
                    Err(exceeded) => out.push(format!("limit: {exceeded}")),
                }
            }
            _ => return Err(format!("no step: {line}").into()),
        }
    }
    Ok(out)
}

fn on_the_wire(method: &str, params: &str) -> Result<String, Trouble> {
    let (mut message, mut wire) = (BytesMut::new(), BytesMut::new());
    encode::notification(&mut message, method, Some(json_text(params)?.as_bytes()));
    encode_line(&mut wire, &message)?;
    Ok(String::from_utf8(wire.to_vec())?)
}

/// What comes out after one more piece went in.
fn read_chunk(decoder: &mut LineDecoder, number: usize, chunk: &[u8]) -> Lines {
    decoder.buffer().extend_from_slice(chunk);
    let mut said = Vec::new();
    while let Some(line) = decoder.next_line() {
        said.push(match line {
            Line::Message(line) => {
                let text = String::from_utf8(line.to_vec())?;
                match scan(line, &Limits::default()) {
                    Ok(_) => format!("  message {text}"),
                    Err(error) if error.is_syntax() => format!("  not JSON, reported and skipped: {text}"),
                    Err(error) => format!("  no message: {error}"),
                }
            }
            Line::Oversized { bytes, .. } => format!("  too long: {bytes} bytes"),
        });
    }
    let head = format!(
        "chunk {number} ({} bytes): {} complete line(s)",
        chunk.len(),
        said.len()
    );
    said.insert(0, head);
    Ok(said)
}

/// Example 4: definitions and results as a host reads them.
pub(super) async fn shapes(input: Input, _: Revision) -> Lines {
    let mut out = Vec::new();
    for line in input {
        if let Ok(tools) = after("tools", line) {
            let tools: ListToolsResult = serde_json::from_str(tools)?;
            for tool in tools.tools {
                let schema: serde_json::Value = tool.input_schema.parse()?;
                let hint = tool.annotations.and_then(|hints| hints.read_only_hint);
                out.push(format!(
                    "tool {} needs {}, read-only hint {}",
                    tool.name,
                    schema["required"],
                    hint.ok_or("no hint")?
                ));
            }
            continue;
        }
        let result: CallToolResult = serde_json::from_str(after("result", line)?)?;
        out.push("---".to_owned());
        out.extend(for_model(&result).split('\n').map(str::to_owned));
        if let Some(structured) = &result.structured_content {
            out.push(format!("(structured: {structured})"));
        }
    }
    Ok(out)
}
