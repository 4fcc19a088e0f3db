//! The layer `vectors`: fixtures through the scanner, the codec, the types and the bridge's names.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use mcp_bridge::name::Naming;
use mcp_codec::{Line, LineDecoder};
use mcp_jsonrpc::{Frame, Limits, Message, RequestId, codes, scan};
use mcp_types::{CallToolResult, ContentBlock, Revision, Revisions, wire};
use serde_json::Value;

use super::Outcome;

pub(super) fn run() -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    messages(&mut outcomes);
    error_codes(&mut outcomes);
    framing(&mut outcomes);
    tool_names(&mut outcomes);
    revisions(&mut outcomes);
    outcomes
}

fn outcome(krate: &'static str, name: impl Into<String>, failure: Option<String>) -> Outcome {
    Outcome {
        layer: "vectors",
        krate,
        revision: "-".into(),
        transport: "-",
        name: name.into(),
        failure,
    }
}

fn read(krate: &'static str, path: &str, outcomes: &mut Vec<Outcome>) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            outcomes.push(outcome(
                krate,
                path.display().to_string(),
                Some(error.to_string()),
            ));
            None
        }
    }
}

fn read_json(krate: &'static str, path: &str, outcomes: &mut Vec<Outcome>) -> Option<Value> {
    let text = read(krate, path, outcomes)?;
    match serde_json::from_str(&text) {
        Ok(value) => Some(value),
        Err(error) => {
            outcomes.push(outcome(krate, path, Some(error.to_string())));
            None
        }
    }
}

fn compare(expected: &str, got: &str) -> Option<String> {
    (expected != got).then(|| format!("\n  expected {expected}\n  got      {got}"))
}

/// Frames, and what a scan makes of them.
fn messages(outcomes: &mut Vec<Outcome>) {
    let Some(text) = read("mcp-jsonrpc", "conformance/vectors/messages.txt", outcomes) else {
        return;
    };
    let mut lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(frame) = lines.next() {
        let expected = lines
            .next()
            .and_then(|line| line.strip_prefix("= "))
            .unwrap_or("nothing");
        outcomes.push(outcome("mcp-jsonrpc", frame, compare(expected, &scanned(frame))));
    }
}

fn scanned(frame: &str) -> String {
    let id = |id: Option<&RequestId>| id.map_or("-".into(), RequestId::to_string);
    match scan(Bytes::copy_from_slice(frame.as_bytes()), &Limits::default()) {
        Ok(Frame::Batch(messages)) => format!("batch {}", messages.len()),
        Ok(Frame::One(Message::Request(request))) => format!("request {}", request.id),
        Ok(Frame::One(Message::Notification(_))) => "notification -".into(),
        Ok(Frame::One(Message::Response(response))) => {
            let kind = if response.outcome.is_ok() {
                "result"
            } else {
                "failure"
            };
            format!("{kind} {}", id(response.id.as_ref()))
        }
        Err(error) => format!("error {} {}", error.to_error_object().code, id(error.id())),
    }
}

fn error_codes(outcomes: &mut Vec<Outcome>) {
    let ours = [
        ("PARSE_ERROR", codes::PARSE_ERROR),
        ("INVALID_REQUEST", codes::INVALID_REQUEST),
        ("METHOD_NOT_FOUND", codes::METHOD_NOT_FOUND),
        ("INVALID_PARAMS", codes::INVALID_PARAMS),
        ("INTERNAL_ERROR", codes::INTERNAL_ERROR),
        ("CONNECTION_CLOSED", codes::CONNECTION_CLOSED),
        ("REQUEST_TIMEOUT", codes::REQUEST_TIMEOUT),
        ("RESOURCE_NOT_FOUND", codes::RESOURCE_NOT_FOUND),
        ("URL_ELICITATION_REQUIRED", codes::URL_ELICITATION_REQUIRED),
        ("HEADER_MISMATCH", codes::HEADER_MISMATCH),
        (
            "MISSING_REQUIRED_CLIENT_CAPABILITY",
            codes::MISSING_REQUIRED_CLIENT_CAPABILITY,
        ),
        (
            "UNSUPPORTED_PROTOCOL_VERSION",
            codes::UNSUPPORTED_PROTOCOL_VERSION,
        ),
        ("USER_REJECTED", codes::USER_REJECTED),
    ];
    let Some(known) = read_json("mcp-jsonrpc", "conformance/vectors/codes.json", outcomes) else {
        return;
    };
    for (name, code) in ours {
        let failure = (known[name] != code).then(|| format!("{code}, not {}", known[name]));
        outcomes.push(outcome("mcp-jsonrpc", name, failure));
    }
}

/// Bytes in pieces, and the lines in them; null for one that is too long.
fn framing(outcomes: &mut Vec<Outcome>) {
    let Some(cases) = read_json("mcp-codec", "conformance/vectors/framing.json", outcomes) else {
        return;
    };
    for case in cases.as_array().into_iter().flatten() {
        let number = |key: &str| {
            case[key]
                .as_u64()
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or(1)
        };
        let mut decoder = LineDecoder::new(number("limit"));
        let mut lines = Vec::new();
        let text = |line: Line| match line {
            Line::Message(bytes) => Value::from(String::from_utf8_lossy(&bytes)),
            Line::Oversized { .. } => Value::Null,
        };
        for piece in case["bytes"]
            .as_str()
            .unwrap_or_default()
            .as_bytes()
            .chunks(number("cut"))
        {
            decoder.buffer().extend_from_slice(piece);
            while let Some(line) = decoder.next_line() {
                lines.push(text(line));
            }
        }
        while let Some(line) = decoder.finish() {
            lines.push(text(line));
        }
        let name = case["name"].as_str().unwrap_or_default();
        let failure = compare(&case["lines"].to_string(), &Value::from(lines).to_string());
        outcomes.push(outcome("mcp-codec", name, failure));
    }
}

/// Names for models, in the order in which they are written and in the other one.
fn tool_names(outcomes: &mut Vec<Outcome>) {
    let path = "../crates/mcp-bridge/tests/data/tool_names.json";
    let Some(vectors) = read_json("mcp-bridge", path, outcomes) else {
        return;
    };
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    for case in vectors["tool_names"].as_array().into_iter().flatten() {
        let (Some(listed), None) = (case["in_order"].as_array(), case.get("generate")) else {
            continue;
        };
        let mut tools: Vec<(String, String)> = listed
            .iter()
            .map(|tool| (text(tool, "server"), text(tool, "tool")))
            .collect();
        for order in ["in order", "in reverse"] {
            let pairs = tools
                .iter()
                .map(|(server, tool)| (server.as_str(), tool.as_str()));
            let names = Naming::default().assign(pairs);
            let wrong = listed.iter().find_map(|tool| {
                let (server, name) = (text(tool, "server"), text(tool, "tool"));
                let got = names.name_of(&server, &name).unwrap_or("nothing");
                compare(&text(tool, "registered"), got)
            });
            outcomes.push(outcome(
                "mcp-bridge",
                format!("{} {order}", text(case, "id")),
                wrong,
            ));
            tools.reverse();
        }
    }
}

/// What each revision may see of one result that holds everything.
fn revisions(outcomes: &mut Vec<Outcome>) {
    let result = CallToolResult::new([ContentBlock::audio("UklGRg==", "audio/wav")])
        .with_structured_content(mcp_jsonrpc::RawJson::empty_object());
    // Member, and since when it is known.
    let members = [
        ("resultType", Revisions::STATELESS),
        ("structuredContent", Revisions::since(Revision::V2025_06_18)),
        ("toolResult", Revisions::only(Revision::V2024_10_07)),
        ("content", Revisions::ALL),
    ];
    for revision in Revision::ALL {
        let written = wire::to_raw(&result, revision)
            .map_err(|error| error.to_string())
            .and_then(|raw| raw.parse::<Value>().map_err(|error| error.to_string()));
        for (member, known) in members {
            let failure = match &written {
                Err(error) => Some(error.clone()),
                Ok(value) if value.get(member).is_some() == known.contains(revision) => None,
                Ok(value) => Some(format!("{member} in {revision}: {value}")),
            };
            let mut outcome = outcome("mcp-types", format!("{member} of a tool result"), failure);
            outcome.revision = revision.to_string();
            outcomes.push(outcome);
        }
    }
}
