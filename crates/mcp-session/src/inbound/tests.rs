use mcp_jsonrpc::{Frame, Limits, Message, scan};

use super::*;

fn message(text: &str) -> Message {
    let frame = Bytes::copy_from_slice(text.as_bytes());
    let Frame::One(message) = scan(frame, &Limits::default()).unwrap() else {
        panic!("one message");
    };
    message
}

fn request(method: &str, params: &str) -> Request {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let Message::Request(request) = message(&text) else {
        panic!("a request");
    };
    request
}

fn note(method: &str) -> Call {
    note_with(method, "{}")
}

fn note_with(method: &str, params: &str) -> Call {
    let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
    let Message::Notification(call) = message(&text) else {
        panic!("a notification");
    };
    call
}

/// What came of a request, in one word or code.
fn outcome(verdict: Verdict) -> String {
    match verdict {
        Verdict::Serve(admission) => format!("serve {}", admission.peer.revision.name()),
        Verdict::Handshake(admission) => format!("handshake {}", admission.peer.revision.name()),
        Verdict::Answer(_) => "answer".into(),
        Verdict::Refuse(error) => error.code.to_string(),
    }
}

/// `_meta` of the stateless era, with more members.
fn meta(version: &str, more: &str) -> String {
    format!(
        r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}{more}}}}}"#
    )
}

fn hello(version: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}"#
    )
}

/// Where the server stands before the message.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Fresh,
    Initializing,
    Ready,
}

fn server(state: State) -> ServerInbound {
    let mut rules = ServerInbound::new(Revisions::ALL);
    if state != State::Fresh {
        assert_eq!(
            outcome(rules.request(&request("initialize", &hello("2025-06-18")))),
            "handshake 2025-06-18"
        );
    }
    if state == State::Ready {
        assert_eq!(
            rules.notification(&note(method::INITIALIZED)),
            NoteVerdict::Initialized
        );
    }
    rules
}

#[test]
fn the_state_machine_of_a_stateful_server() {
    use State::{Fresh, Initializing, Ready};
    for (state, method, params, expected) in [
        (Fresh, "initialize", hello("2025-11-25"), "handshake 2025-11-25"),
        (Fresh, "initialize", hello("2024-10-07"), "handshake 2024-10-07"),
        (Fresh, "initialize", hello("2099-01-01"), "handshake 2025-11-25"),
        (Fresh, "initialize", hello("2026-07-28"), "handshake 2025-11-25"),
        (Fresh, "initialize", "{}".into(), "-32602"),
        (Fresh, "initialize", "null".into(), "-32602"),
        (Fresh, "initialize", r#"{"protocolVersion":5}"#.into(), "-32602"),
        (Fresh, "ping", "{}".into(), "answer"),
        (Fresh, "tools/list", "{}".into(), "-32600"),
        (Fresh, "x/unknown", "{}".into(), "-32600"),
        (Fresh, "server/discover", "{}".into(), "-32602"),
        (Fresh, "notifications/initialized", "{}".into(), "-32600"),
        (Initializing, "ping", "{}".into(), "answer"),
        (Initializing, "tools/list", "{}".into(), "serve 2025-06-18"),
        (Initializing, "initialize", hello("2025-11-25"), "-32600"),
        (Ready, "initialize", hello("2025-11-25"), "-32600"),
        (Ready, "ping", "{}".into(), "answer"),
        (Ready, "tools/list", "null".into(), "serve 2025-06-18"),
        (Ready, "tools/list", "[]".into(), "serve 2025-06-18"),
        (Ready, "x/unknown", "{}".into(), "serve 2025-06-18"),
        (Ready, "tasks/list", "{}".into(), "-32601"),
        (Ready, "roots/list", "{}".into(), "-32601"),
        (Ready, "subscriptions/listen", "{}".into(), "-32601"),
        (Ready, "notifications/x", "{}".into(), "-32600"),
        (
            Ready,
            "tools/list",
            r#"{"_meta":null}"#.into(),
            "serve 2025-06-18",
        ),
        (
            Ready,
            "tools/list",
            r#"{"_meta":{"x":[1],"a/b":2}}"#.into(),
            "serve 2025-06-18",
        ),
        (Ready, "tools/list", r#"{"_meta":[]}"#.into(), "-32602"),
    ] {
        let mut rules = server(state);
        let verdict = outcome(rules.request(&request(method, &params)));
        assert_eq!(verdict, expected, "{state:?} {method} {params}");
    }
}

#[test]
fn telling_the_eras_apart() {
    use State::{Fresh, Ready};
    let modern = meta("2026-07-28", "");
    for (state, method, params, expected) in [
        (Fresh, "tools/list", modern.clone(), "serve 2026-07-28"),
        (Ready, "tools/list", modern.clone(), "serve 2026-07-28"),
        (Fresh, "server/discover", modern.clone(), "serve 2026-07-28"),
        (Fresh, "x/unknown", modern.clone(), "serve 2026-07-28"),
        // What this revision has no more.
        (Ready, "ping", modern.clone(), "-32601"),
        (Fresh, "initialize", modern.clone(), "-32601"),
        (Ready, "logging/setLevel", modern.clone(), "-32601"),
        (Ready, "resources/subscribe", modern, "-32601"),
        // A version that is not one of this era, whatever it looks like.
        (Ready, "tools/list", meta("2025-06-18", ""), "-32022"),
        (Fresh, "tools/list", meta("v999", ""), "-32022"),
        (Fresh, "ping", meta("2099-01-01", ""), "-32022"),
        (Fresh, "tools/list", meta("", ""), "-32022"),
        (
            Fresh,
            "tools/list",
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#.into(),
            "-32602",
        ),
        (
            Fresh,
            "tools/list",
            meta("2026-07-28", r#","io.modelcontextprotocol/logLevel":"loud""#),
            "-32602",
        ),
        (
            Fresh,
            "tools/list",
            meta("2026-07-28", r#","progressToken":1.5"#),
            "-32602",
        ),
    ] {
        let mut rules = server(state);
        let verdict = outcome(rules.request(&request(method, &params)));
        assert_eq!(verdict, expected, "{state:?} {method} {params}");
    }
}

#[test]
fn what_a_server_does_with_notifications() {
    use State::{Fresh, Initializing, Ready};
    let ignored = |verdict| matches!(verdict, NoteVerdict::Ignore(_));
    for state in [Fresh, Initializing, Ready] {
        let mut rules = server(state);
        let verdict = rules.notification(&note("notifications/initialized"));
        match state {
            Initializing => assert_eq!(verdict, NoteVerdict::Initialized),
            _ => assert!(ignored(verdict), "{state:?}"),
        }
        assert!(ignored(rules.notification(&note("tools/call"))), "P041");
        assert!(ignored(rules.notification(&note("window/logMessage"))), "P048");
        assert_eq!(rules.notification(&note("notifications/x")), NoteVerdict::Deliver);
        let roots = rules.notification(&note("notifications/roots/list_changed"));
        assert_eq!(ignored(roots), state == Fresh);
        assert_eq!(
            rules.notification(&note_with(method::CANCELLED, r#"{"requestId":"a","reason":1}"#)),
            NoteVerdict::Cancel("a".into())
        );
        for params in ["{}", r#"{"requestId":null}"#, r#"{"requestId":1.5}"#, "[1]"] {
            assert!(
                ignored(rules.notification(&note_with(method::CANCELLED, params))),
                "P074 {params}"
            );
        }
    }
}

#[test]
fn a_refused_handshake_leaves_the_connection_fresh() {
    let mut rules = server(State::Ready);
    rules.handshake_failed();
    assert!(rules.stateful_peer().is_none() && !rules.is_initialized());
    assert_eq!(
        outcome(rules.request(&request("initialize", &hello("2025-03-26")))),
        "handshake 2025-03-26"
    );
    assert!(rules.takes_batches());
}

#[test]
fn who_the_peer_is_comes_from_the_handshake_or_from_the_request() {
    let mut rules = server(State::Ready);
    let Verdict::Serve(stateful) = rules.request(&request(
        "tools/list",
        r#"{"_meta":{"progressToken":"a1","io.modelcontextprotocol/clientInfo":{"name":"liar","version":"9"}}}"#,
    )) else {
        panic!("served");
    };
    assert!(stateful.peer.capabilities.roots.is_some());
    assert_eq!(stateful.peer.info.as_ref().unwrap().name, "c");
    assert_eq!(stateful.progress_token.unwrap().as_str(), "\"a1\"");
    let serve = |rules: &mut ServerInbound, more: &str| match rules
        .request(&request("tools/list", &meta("2026-07-28", more)))
    {
        Verdict::Serve(admission) => admission,
        other => panic!("{other:?}"),
    };
    let info = r#","io.modelcontextprotocol/clientInfo":{"name":"m","version":"1"}"#;
    let first = serve(
        &mut rules,
        &format!(r#"{info},"progressToken":7,"io.modelcontextprotocol/logLevel":"info""#),
    );
    assert_eq!(first.progress_token.unwrap().as_str(), "7");
    assert_eq!(first.log_level, Some(LoggingLevel::Info));
    assert!(
        first.peer.capabilities.roots.is_none(),
        "nothing is remembered across eras"
    );
    assert_eq!(first.peer.info.as_ref().unwrap().name, "m");
    // The same bytes are the same peer, without another parse; others are another.
    let second = serve(&mut rules, info);
    assert!(Arc::ptr_eq(&first.peer, &second.peer));
    assert_eq!(second.log_level, None, "only for the request that asked");
    assert!(serve(&mut rules, "").peer.info.is_none());
}

#[test]
fn a_server_of_one_era_refuses_the_other_and_names_its_versions() {
    let mut modern = ServerInbound::new(Revisions::STATELESS);
    for (method, params) in [
        ("initialize", hello("2025-11-25")),
        ("initialize", hello("2026-07-28")),
    ] {
        let Verdict::Refuse(error) = modern.request(&request(method, &params)) else {
            panic!("refused");
        };
        assert_eq!(error.code, codes::UNSUPPORTED_PROTOCOL_VERSION);
        assert!(
            error
                .data
                .unwrap()
                .as_str()
                .contains(r#""supported":["2026-07-28"]"#)
        );
    }
    assert_eq!(outcome(modern.request(&request("ping", "{}"))), "-32600");
    let mut old = ServerInbound::new(Revisions::STATEFUL);
    assert_eq!(
        outcome(old.request(&request("server/discover", &meta("2026-07-28", "")))),
        "-32022"
    );
}

#[test]
fn batches_are_for_one_revision_and_only_stateful_calls() {
    for revision in Revisions::STATEFUL.iter() {
        let mut rules = ServerInbound::new(Revisions::ALL);
        assert!(!rules.takes_batches());
        rules.request(&request("initialize", &hello(revision.name())));
        assert_eq!(rules.takes_batches(), revision == Revision::V2025_03_26);
        let mut client = ClientInbound::default();
        assert!(!client.takes_batches());
        client.negotiated(revision);
        assert_eq!(client.takes_batches(), revision == Revision::V2025_03_26);
    }
    assert!(ServerInbound::is_stateless(
        &request("x", &meta("anything", "")).call
    ));
    assert!(!ServerInbound::is_stateless(
        &request("x", r#"{"_meta":{"progressToken":1}}"#).call
    ));
    assert!(!ServerInbound::is_stateless(&request("x", "{}").call));
}

#[test]
fn reports_without_an_id_follow_the_era_that_was_seen() {
    let mut rules = ServerInbound::new(Revisions::ALL);
    assert!(!rules.only_stateless_seen());
    rules.request(&request("tools/list", &meta("2026-07-28", "")));
    assert!(rules.only_stateless_seen());
    rules.request(&request("initialize", &hello("2025-11-25")));
    assert!(!rules.only_stateless_seen());
}

#[test]
fn what_a_client_does_with_what_a_server_asks() {
    let ask = |rules: &mut ClientInbound, method: &str| {
        rules
            .request(&request(method, "{}"))
            .map_or("nothing".into(), outcome)
    };
    let mut fresh = ClientInbound::default();
    assert_eq!(ask(&mut fresh, "ping"), "answer");
    let mut rules = ClientInbound::default();
    rules.negotiated(Revision::V2025_06_18);
    for (method, expected) in [
        ("ping", "answer"),
        ("roots/list", "serve 2025-06-18"),
        ("elicitation/create", "serve 2025-06-18"),
        ("sampling/createMessage", "serve 2025-06-18"),
        ("x/unknown", "serve 2025-06-18"),
        ("tools/list", "-32601"),
        ("initialize", "-32601"),
        ("tasks/list", "-32601"),
        ("notifications/message", "-32600"),
    ] {
        assert_eq!(ask(&mut rules, method), expected, "{method}");
    }
    assert!(rules.answers());
    assert_eq!(
        rules.notification(&note("notifications/message")),
        NoteVerdict::Deliver
    );
    assert!(matches!(
        rules.notification(&note("roots/list")),
        NoteVerdict::Ignore(_)
    ));
    assert_eq!(
        rules.notification(&note_with(method::CANCELLED, r#"{"requestId":3}"#)),
        NoteVerdict::Cancel(3.into())
    );
    rules.negotiated(Revision::V2026_07_28);
    for method in ["ping", "roots/list", "x/unknown"] {
        assert_eq!(ask(&mut rules, method), "nothing", "{method}");
    }
    assert!(!rules.answers());
}
