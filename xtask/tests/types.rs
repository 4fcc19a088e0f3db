//! What our types write holds to the published schema of each revision.

#[allow(dead_code, unreachable_pub)]
#[path = "../src/schema.rs"]
mod schema;

use mcp_types::wire::Wire;
use mcp_types::*;
use schema::{SchemaSet, Side};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn schemas() -> Option<SchemaSet> {
    let folder = SchemaSet::default_folder();
    let set = SchemaSet::load(&folder);
    if set.is_none() {
        eprintln!("skipped: no published schemas in {}", folder.display());
    }
    set
}

fn meta() -> Value {
    json!({"example.com/key": 1})
}

fn icons() -> Value {
    json!([{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}])
}

fn annotations() -> Value {
    json!({"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z"})
}

fn program() -> Value {
    json!({"name": "a", "title": "A", "version": "1", "description": "d", "websiteUrl": "https://example.com", "icons": icons()})
}

fn resource() -> Value {
    json!({"uri": "file:///a", "name": "a", "title": "A", "description": "d", "mimeType": "text/plain", "size": 3,
           "annotations": annotations(), "icons": icons(), "_meta": meta()})
}

fn template() -> Value {
    json!({"uriTemplate": "file:///{a}", "name": "a", "title": "A", "description": "d", "mimeType": "text/plain",
           "annotations": annotations(), "icons": icons(), "_meta": meta()})
}

fn prompt() -> Value {
    json!({"name": "p", "title": "P", "description": "d", "icons": icons(), "_meta": meta(),
           "arguments": [{"name": "a", "title": "A", "description": "d", "required": true}]})
}

fn tool() -> Value {
    json!({"name": "t", "title": "T", "description": "d", "_meta": meta(), "icons": icons(),
           "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
           "outputSchema": {"type": "object", "properties": {"b": {"type": "string"}}},
           "annotations": {"title": "T", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
           "execution": {"taskSupport": "optional"}})
}

fn blocks() -> Vec<Value> {
    let mut link = resource();
    link["type"] = json!("resource_link");
    let mut blocks = vec![
        json!({"type": "text", "text": "a"}),
        json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
        json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
        json!({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "t", "_meta": meta()}}),
        json!({"type": "resource", "resource": {"uri": "file:///a", "blob": "AA=="}}),
    ];
    for block in &mut blocks {
        block["annotations"] = annotations();
        block["_meta"] = meta();
    }
    blocks.push(link);
    blocks
}

fn form() -> Value {
    json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["s"], "properties": {
        "s": {"type": "string", "title": "S", "description": "d", "minLength": 1, "maxLength": 9, "format": "email", "default": "a@b"},
        "n": {"type": "number", "title": "N", "description": "d", "minimum": 0, "maximum": 9, "default": 1},
        "i": {"type": "integer", "default": 1},
        "b": {"type": "boolean", "title": "B", "description": "d", "default": true},
        "e": {"type": "string", "enum": ["a"], "default": "a"},
        "o": {"type": "string", "oneOf": [{"const": "a", "title": "A"}], "default": "a"},
    }})
}

/// Reads `value` as `T`; checks that it held all of it, and what it writes for each of `revisions`.
fn check<T: DeserializeOwned + Wire + serde::Serialize>(
    set: &SchemaSet,
    definition: &str,
    revisions: Revisions,
    value: Value,
) {
    let typed: T =
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{definition}: {error}"));
    assert_eq!(
        serde_json::to_value(&typed).unwrap(),
        value,
        "{definition} loses something"
    );
    for revision in revisions.iter() {
        let written: Value = wire::to_raw(&typed, revision)
            .unwrap_or_else(|error| panic!("{definition}: {error}"))
            .parse()
            .unwrap();
        if let Err(problem) = set.check(revision, definition, &written) {
            panic!("{problem}\n  {written}");
        }
        assert_no_strangers(set, revision, definition, &written);
    }
}

/// The schemas are open objects, so that validation alone lets members of newer revisions through: compare names.
fn assert_no_strangers(set: &SchemaSet, revision: Revision, definition: &str, written: &Value) {
    let Some(known) = set.members(revision, definition) else {
        return;
    };
    for member in written.as_object().into_iter().flatten().map(|(name, _)| name) {
        // 2024-10-07 has one member more than the schema it is checked by.
        let first = revision == Revision::V2024_10_07 && member == "toolResult";
        assert!(
            known.contains(member) || first,
            "{definition} of {revision} has no {member}"
        );
    }
}

const SINCE_R2: Revisions = Revisions::since(Revision::V2025_03_26);
const SINCE_R3: Revisions = Revisions::since(Revision::V2025_06_18);
const SINCE_R4: Revisions = Revisions::since(Revision::V2025_11_25);
const ALL: Revisions = Revisions::ALL;
const OLD: Revisions = Revisions::STATEFUL;
const NEW: Revisions = Revisions::STATELESS;

#[test]
fn entities_hold_to_the_schema_of_each_revision() {
    let Some(set) = schemas() else { return };
    check::<Implementation>(&set, "Implementation", ALL, program());
    check::<Resource>(&set, "Resource", ALL, resource());
    check::<ResourceTemplate>(&set, "ResourceTemplate", ALL, template());
    check::<Prompt>(&set, "Prompt", ALL, prompt());
    check::<Tool>(&set, "Tool", ALL, tool());
    check::<Root>(
        &set,
        "Root",
        ALL,
        json!({"uri": "file:///a", "name": "a", "_meta": meta()}),
    );
    let definitions = [
        "TextContent",
        "ImageContent",
        "AudioContent",
        "EmbeddedResource",
        "EmbeddedResource",
        "ResourceLink",
    ];
    for (block, definition) in blocks().into_iter().zip(definitions) {
        let revisions = match definition {
            "AudioContent" => SINCE_R2,
            "ResourceLink" => SINCE_R3,
            _ => ALL,
        };
        check::<ContentBlock>(&set, definition, revisions, block);
    }
    for note in [2, 5] {
        let block: ContentBlock = serde_json::from_value(blocks()[note].clone()).unwrap();
        let written: Value = wire::to_raw(&block, Revision::V2024_11_05)
            .unwrap()
            .parse()
            .unwrap();
        set.check(Revision::V2024_11_05, "TextContent", &written).unwrap();
        assert_no_strangers(&set, Revision::V2024_11_05, "TextContent", &written);
    }
    let hints =
        json!({"hints": [{"name": "m"}], "costPriority": 0, "speedPriority": 0.5, "intelligencePriority": 1});
    check::<ModelPreferences>(&set, "ModelPreferences", ALL, hints);
    check::<ElicitSchema>(&set, "ElicitRequestFormParams", Revisions::NONE, form());
}

#[test]
fn capabilities_hold_to_the_schema_of_each_revision() {
    let Some(set) = schemas() else { return };
    let client = json!({"experimental": {"x": {}}, "roots": {"listChanged": true}, "sampling": {"context": {}, "tools": {}},
        "elicitation": {"form": {}, "url": {}}, "tasks": {"list": {}, "cancel": {}, "requests": {"elicitation": {"create": {}}}},
        "extensions": {"a.b/c": {}}});
    check::<ClientCapabilities>(&set, "ClientCapabilities", ALL, client.clone());
    let server = json!({"experimental": {"x": {}}, "logging": {}, "completions": {}, "prompts": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true}, "tools": {"listChanged": true},
        "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}, "extensions": {"a.b/c": {}}});
    check::<ServerCapabilities>(&set, "ServerCapabilities", ALL, server.clone());
    let result = json!({"protocolVersion": "2025-06-18", "capabilities": server, "serverInfo": program(), "instructions": "i", "_meta": meta()});
    check::<InitializeResult>(&set, "InitializeResult", OLD, result);
    let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": server, "instructions": "i", "_meta": meta()});
    check::<DiscoverResult>(&set, "DiscoverResult", NEW, result);
    check_params::<InitializeParams>(
        &set,
        method::INITIALIZE,
        Side::Client,
        OLD,
        json!({"protocolVersion": "2025-06-18", "capabilities": client, "clientInfo": program(), "_meta": meta()}),
    );
}

#[test]
fn results_hold_to_the_schema_of_each_revision() {
    let Some(set) = schemas() else { return };
    let page = |member: &str, entity: Value| json!({member: [entity], "nextCursor": "", "ttlMs": 5, "cacheScope": "public", "_meta": meta()});
    check::<ListToolsResult>(&set, "ListToolsResult", ALL, page("tools", tool()));
    check::<ListPromptsResult>(&set, "ListPromptsResult", ALL, page("prompts", prompt()));
    check::<ListResourcesResult>(&set, "ListResourcesResult", ALL, page("resources", resource()));
    check::<ListResourceTemplatesResult>(
        &set,
        "ListResourceTemplatesResult",
        ALL,
        page("resourceTemplates", template()),
    );
    let contents = json!([{"uri": "file:///a", "mimeType": "text/plain", "text": "t", "_meta": meta()}]);
    check::<ReadResourceResult>(
        &set,
        "ReadResourceResult",
        ALL,
        json!({"contents": contents, "ttlMs": 0, "cacheScope": "private", "_meta": meta()}),
    );
    let call = json!({"content": blocks(), "structuredContent": {"a": 1}, "isError": true, "_meta": meta()});
    check::<CallToolResult>(&set, "CallToolResult", ALL, call);
    for structure in [json!([1]), json!(null), json!("a")] {
        check::<CallToolResult>(
            &set,
            "CallToolResult",
            ALL,
            json!({"content": [], "structuredContent": structure}),
        );
    }
    let messages: Vec<Value> = blocks()
        .into_iter()
        .map(|block| json!({"role": "user", "content": block}))
        .collect();
    check::<GetPromptResult>(
        &set,
        "GetPromptResult",
        ALL,
        json!({"description": "d", "messages": messages, "_meta": meta()}),
    );
    let completion = json!({"completion": {"values": ["a"], "total": 3, "hasMore": true}, "_meta": meta()});
    check::<CompleteResult>(&set, "CompleteResult", ALL, completion);
    check::<EmptyResult>(&set, "EmptyResult", ALL, json!({"_meta": meta()}));
    check::<ListRootsResult>(
        &set,
        "ListRootsResult",
        ALL,
        json!({"roots": [{"uri": "file:///a"}], "_meta": meta()}),
    );
    let content = json!({"action": "accept", "content": {"a": "b", "c": 1, "d": true}, "_meta": meta()});
    check::<ElicitResult>(&set, "ElicitResult", SINCE_R3, content);
    check::<ElicitResult>(
        &set,
        "ElicitResult",
        SINCE_R4,
        json!({"action": "accept", "content": {"a": ["b"]}}),
    );
    check::<SubscriptionsListenResult>(
        &set,
        "SubscriptionsListenResult",
        NEW,
        json!({"_meta": {"io.modelcontextprotocol/subscriptionId": 7}}),
    );

    let sampled = json!({"role": "assistant", "content": {"type": "text", "text": "a"}, "model": "m", "stopReason": "endTurn", "_meta": meta()});
    check::<CreateMessageResult>(&set, "CreateMessageResult", ALL, sampled);
    let tools = json!([
        {"type": "tool_use", "id": "1", "name": "t", "input": {}, "_meta": meta()},
        {"type": "tool_result", "toolUseId": "1", "content": blocks(), "structuredContent": {}, "isError": true, "_meta": meta()},
    ]);
    check::<CreateMessageResult>(
        &set,
        "CreateMessageResult",
        SINCE_R4,
        json!({"role": "assistant", "content": tools, "model": "m"}),
    );
}

/// Checks parameters in a whole message.
fn check_params<T: DeserializeOwned + Wire + serde::Serialize>(
    set: &SchemaSet,
    method: &str,
    sender: Side,
    revisions: Revisions,
    params: Value,
) {
    let typed: T = serde_json::from_value(params.clone()).unwrap_or_else(|error| panic!("{method}: {error}"));
    assert_eq!(
        serde_json::to_value(&typed).unwrap(),
        params,
        "{method} loses something"
    );
    for revision in revisions.iter() {
        let mut written: Value = wire::to_raw(&typed, revision).unwrap().parse().unwrap();
        let info = method::lookup(method, sender, revision).unwrap();
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if info.kind == method::Kind::Request {
            message["id"] = json!(1);
            if revision.is_stateless() {
                written["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": revision.name(),
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
            }
        }
        if let Some(known) = set.parameters(revision, method) {
            for name in written.as_object().unwrap().keys() {
                // Any message may have `_meta`; not all definitions repeat that.
                assert!(
                    known.contains(name) || name == "_meta",
                    "{method} of {revision} has no {name}"
                );
            }
        }
        message["params"] = written;
        set.check_message(revision, sender, &message, None).unwrap();
    }
}

#[test]
fn parameters_hold_to_the_schema_of_each_revision() {
    let Some(set) = schemas() else { return };
    let set = &set;
    use Side::{Client, Server};
    for method in [
        method::TOOLS_LIST,
        method::PROMPTS_LIST,
        method::RESOURCES_LIST,
        method::RESOURCES_TEMPLATES_LIST,
    ] {
        check_params::<ListParams>(set, method, Client, ALL, json!({"cursor": "c", "_meta": meta()}));
    }
    let answers = json!({"k": {"action": "accept", "content": {"a": 1}}});
    check_params::<CallToolParams>(
        set,
        method::TOOLS_CALL,
        Client,
        ALL,
        json!({"name": "t", "arguments": {"a": 1}, "task": {"ttl": 5}, "inputResponses": answers, "requestState": "s", "_meta": meta()}),
    );
    check_params::<GetPromptParams>(
        set,
        method::PROMPTS_GET,
        Client,
        ALL,
        json!({"name": "p", "arguments": {"a": "1"}, "inputResponses": answers, "requestState": "s", "_meta": meta()}),
    );
    check_params::<ReadResourceParams>(
        set,
        method::RESOURCES_READ,
        Client,
        ALL,
        json!({"uri": "file:///a", "inputResponses": answers, "requestState": "s", "_meta": meta()}),
    );
    for method in [method::RESOURCES_SUBSCRIBE, method::RESOURCES_UNSUBSCRIBE] {
        check_params::<ResourceParams>(set, method, Client, OLD, json!({"uri": "file:///a"}));
    }
    check_params::<ResourceParams>(
        set,
        method::RESOURCES_UPDATED,
        Server,
        ALL,
        json!({"uri": "file:///a"}),
    );
    for reference in [
        json!({"type": "ref/prompt", "name": "p", "title": "P"}),
        json!({"type": "ref/resource", "uri": "a{b}"}),
    ] {
        check_params::<CompleteParams>(
            set,
            method::COMPLETION_COMPLETE,
            Client,
            ALL,
            json!({"ref": reference, "argument": {"name": "a", "value": "b"}, "context": {"arguments": {"c": "d"}}, "_meta": meta()}),
        );
    }
    check_params::<SetLevelParams>(
        set,
        method::LOGGING_SET_LEVEL,
        Client,
        OLD,
        json!({"level": "alert"}),
    );
    check_params::<LogMessageParams>(
        set,
        method::MESSAGE,
        Server,
        ALL,
        json!({"level": "alert", "logger": "l", "data": [1], "_meta": meta()}),
    );
    check_params::<ProgressParams>(
        set,
        method::PROGRESS,
        Server,
        ALL,
        json!({"progressToken": "t", "progress": 0.5, "total": 1, "message": "m", "_meta": meta()}),
    );
    check_params::<CancelledParams>(
        set,
        method::CANCELLED,
        Client,
        Revisions::since(Revision::V2024_11_05),
        json!({"requestId": 1, "reason": "r"}),
    );
    for method in [
        method::TOOLS_LIST_CHANGED,
        method::PROMPTS_LIST_CHANGED,
        method::RESOURCES_LIST_CHANGED,
    ] {
        check_params::<EmptyParams>(set, method, Server, ALL, json!({"_meta": meta()}));
    }
    let filter = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": ["file:///a"]});
    check_params::<SubscriptionParams>(
        set,
        method::SUBSCRIPTIONS_LISTEN,
        Client,
        NEW,
        json!({"notifications": filter}),
    );
    check_params::<SubscriptionParams>(
        set,
        method::SUBSCRIPTIONS_ACKNOWLEDGED,
        Server,
        NEW,
        json!({"notifications": filter}),
    );
    check_params::<ElicitationCompleteParams>(
        set,
        method::ELICITATION_COMPLETE,
        Server,
        Revisions::only(Revision::V2025_11_25),
        json!({"elicitationId": "e"}),
    );
}

#[test]
fn questions_hold_to_the_schema_of_each_revision() {
    let Some(set) = schemas() else { return };
    let stateful = |first| Revisions::since(first).and(OLD);
    let form_params = json!({"mode": "form", "message": "m", "requestedSchema": form(), "_meta": meta()});
    check_params::<ElicitParams>(
        &set,
        method::ELICITATION_CREATE,
        Side::Server,
        stateful(Revision::V2025_06_18),
        form_params.clone(),
    );
    let url = json!({"mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "e"});
    check_params::<ElicitParams>(
        &set,
        method::ELICITATION_CREATE,
        Side::Server,
        stateful(Revision::V2025_11_25),
        url.clone(),
    );
    let params = json!({
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "audio", "data": "", "mimeType": "audio/wav"}], "_meta": meta()},
        ],
        "modelPreferences": {"hints": [{"name": "m"}], "costPriority": 0.5}, "systemPrompt": "s", "includeContext": "none",
        "temperature": 0.5, "maxTokens": 9, "stopSequences": ["x"], "metadata": {"a": 1}, "tools": [tool()],
        "toolChoice": {"mode": "required"}, "task": {"ttl": 5}, "_meta": meta(),
    });
    check_params::<CreateMessageParams>(
        &set,
        method::SAMPLING_CREATE_MESSAGE,
        Side::Server,
        OLD,
        params.clone(),
    );

    // In the stateless revision they are values.
    let many = json!({"type": "array", "title": "M", "description": "d", "minItems": 1, "maxItems": 2, "default": ["a"],
                      "items": {"type": "string", "enum": ["a"]}});
    let titled = json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}});
    let mut wide = form_params;
    wide["requestedSchema"]["properties"]["m"] = many;
    wide["requestedSchema"]["properties"]["t"] = titled;
    let ask = |method: &str, params: Value| match method {
        method::ELICITATION_CREATE => {
            let params: ElicitParams = serde_json::from_value(params).unwrap();
            InputRequest::new(method).with_params(wire::to_raw(&params, Revision::LATEST).unwrap())
        }
        _ => {
            let params: CreateMessageParams = serde_json::from_value(params).unwrap();
            InputRequest::new(method).with_params(wire::to_raw(&params, Revision::LATEST).unwrap())
        }
    };
    let result = InputRequiredResult::new()
        .with_request_state("s")
        .with_input_requests([
            ("form", ask(method::ELICITATION_CREATE, wide)),
            ("url", ask(method::ELICITATION_CREATE, url)),
            ("model", ask(method::SAMPLING_CREATE_MESSAGE, params)),
            ("roots", InputRequest::new(method::ROOTS_LIST)),
        ]);
    let written: Value = wire::to_raw(&result, Revision::LATEST).unwrap().parse().unwrap();
    let message = json!({"jsonrpc": "2.0", "id": 1, "result": written});
    set.check_message(Revision::LATEST, Side::Server, &message, Some(method::TOOLS_CALL))
        .unwrap();
    for (pointer, definition) in [
        ("/inputRequests/form/params", "ElicitRequestFormParams"),
        ("/inputRequests/url/params", "ElicitRequestURLParams"),
        ("/inputRequests/model/params", "CreateMessageRequestParams"),
    ] {
        assert_no_strangers(
            &set,
            Revision::LATEST,
            definition,
            written.pointer(pointer).unwrap(),
        );
    }
}

#[test]
fn messages_that_break_the_rules_are_found() {
    let Some(set) = schemas() else { return };
    let (old, new) = (Revision::V2025_06_18, Revision::LATEST);
    let response = |result: Value| json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let error = |code: i64, data: Value| json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "m", "data": data}});
    let bad = |revision, sender, message: Value, method| {
        assert!(
            set.check_message(revision, sender, &message, method).is_err(),
            "{message}"
        );
    };
    let good = |revision, sender, message: Value, method| {
        set.check_message(revision, sender, &message, method).unwrap()
    };
    let (client, server) = (Side::Client, Side::Server);

    good(
        old,
        client,
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        None,
    );
    bad(
        new,
        client,
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        None,
    );
    bad(old, client, json!({"jsonrpc": "2.0", "method": "ping"}), None);
    bad(old, client, json!({"id": 1, "method": "ping"}), None);
    bad(
        old,
        client,
        json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
        None,
    );
    bad(
        old,
        client,
        json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}),
        None,
    );
    bad(
        old,
        client,
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}),
        None,
    );
    bad(
        new,
        client,
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}),
        None,
    );

    good(old, server, response(json!({"tools": []})), Some("tools/list"));
    bad(old, server, response(json!({})), Some("tools/list"));
    bad(
        old,
        server,
        response(json!({"tools": [], "resultType": "complete"})),
        Some("tools/list"),
    );
    bad(new, server, response(json!({"tools": []})), Some("tools/list"));
    bad(
        new,
        server,
        response(json!({"resultType": "input_required"})),
        Some("tools/call"),
    );
    bad(
        new,
        server,
        response(json!({"resultType": "input_required", "requestState": "s"})),
        Some("tools/list"),
    );
    good(
        new,
        server,
        response(json!({"resultType": "input_required", "requestState": "s"})),
        Some("tools/call"),
    );
    good(
        Revision::V2024_10_07,
        server,
        response(json!({"toolResult": 1})),
        Some("tools/call"),
    );
    bad(
        Revision::V2024_11_05,
        server,
        response(json!({"toolResult": 1})),
        Some("tools/call"),
    );

    good(
        old,
        server,
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "m"}}),
        None,
    );
    bad(
        old,
        server,
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "m"}}),
        None,
    );
    good(
        new,
        server,
        error(-32022, json!({"supported": ["2026-07-28"], "requested": "x"})),
        None,
    );
    bad(
        new,
        server,
        error(-32022, json!({"supported": "2026-07-28"})),
        None,
    );
    bad(old, server, error(-32022, json!({})), None);
    bad(new, server, error(-32002, json!({})), None);
    bad(new, server, error(-32042, json!({"elicitations": []})), None);

    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    good(Revision::V2025_03_26, client, json!([ping, ping]), None);
    bad(Revision::V2025_03_26, client, json!([]), None);
    bad(old, client, json!([ping]), None);
}
