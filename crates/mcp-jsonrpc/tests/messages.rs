//! What a scan makes of whole frames.

use std::fmt::Write;

use bytes::Bytes;
use mcp_jsonrpc::{Frame, Limits, Message, ParamKey, Peerhood, ScanError, ScanErrorKind, scan};

fn scanned(frame: impl AsRef<[u8]>) -> Result<Frame, ScanError> {
    scan(Bytes::copy_from_slice(frame.as_ref()), &Limits::default())
}

fn error(frame: impl AsRef<[u8]>) -> ScanError {
    scanned(frame).expect_err("should fail")
}

fn request(frame: &str) -> mcp_jsonrpc::Request {
    match scanned(frame) {
        Ok(Frame::One(Message::Request(request))) => request,
        other => panic!("no request: {other:?}"),
    }
}

/// In the words of `messages.txt`.
fn describe(message: &Result<Message, ScanError>) -> String {
    let or_none = |id: Option<&mcp_jsonrpc::RequestId>| id.map_or("none".to_owned(), ToString::to_string);
    let mut text = String::new();
    match message {
        Ok(Message::Request(request)) => {
            write!(text, "request {} {}", request.id, request.call.method()).unwrap();
            if let Some(params) = request.call.params() {
                write!(text, " {params}").unwrap();
            }
        }
        Ok(Message::Notification(call)) => write!(text, "notification {}", call.method()).unwrap(),
        Ok(Message::Response(response)) => {
            let id = or_none(response.id.as_ref());
            match &response.outcome {
                Ok(result) => write!(text, "result {id} {result}").unwrap(),
                Err(error) => {
                    write!(text, "error {id} {} {}", error.code, error.message).unwrap();
                    if let Some(data) = &error.data {
                        write!(text, " {data}").unwrap();
                    }
                }
            }
        }
        Err(error) => {
            let id = or_none(error.id());
            write!(text, "fails {:?} {id} {:?}", error.kind(), error.peerhood()).unwrap();
        }
    }
    text
}

#[test]
fn every_frame_of_the_list_is_what_the_list_says() {
    let mut lines = include_str!("messages.txt").lines().enumerate();
    let mut count = 0;
    while let Some((number, frame)) = lines.next() {
        if frame.is_empty() || frame.starts_with('#') {
            continue;
        }
        let (_, expected) = lines.next().expect("a frame is followed by what it is");
        let expected = expected
            .strip_prefix("= ")
            .expect("what it is begins with an equals sign");
        let found = match scanned(frame) {
            Ok(Frame::One(message)) => describe(&Ok(message)),
            Ok(Frame::Batch(messages)) => {
                format!(
                    "[{}]",
                    messages.iter().map(describe).collect::<Vec<_>>().join("; ")
                )
            }
            Err(error) => describe(&Err(error)),
        };
        assert_eq!(found, expected, "line {}: {frame}", number + 1);
        count += 1;
    }
    assert!(count > 60, "only {count} frames were read");
}

#[test]
fn p008_a_frame_that_is_not_utf8_is_a_syntax_error_at_the_bad_byte() {
    let error = error(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    assert!(error.is_syntax());
    assert_eq!(error.offset(), 34);
    assert_eq!(
        error.to_error_object().to_string(),
        "MCP error -32700: Parse error"
    );
}

#[test]
fn white_space_may_surround_a_message() {
    let frame = " \t\r\n{\"jsonrpc\" : \"2.0\" ,\n\"id\": 1\t,\r\"method\" :\"ping\" } \n";
    assert_eq!(request(frame).call.method(), "ping");
}

/// A request whose arguments nest `depth` levels, with its id in front of or behind them.
fn nested(depth: usize, bracket: [&str; 2], id_first: bool) -> String {
    let deep = bracket[0].repeat(depth) + "1" + &bracket[1].repeat(depth);
    let params = format!(r#""params":{{"name":"x","arguments":{deep}}}"#);
    let id = r#""id":5"#;
    let [first, last] = if id_first { [id, &params] } else { [&params, id] };
    format!(r#"{{"jsonrpc":"2.0",{first},"method":"tools/call",{last}}}"#)
}

#[test]
fn p045_a_message_that_is_too_deep_fails_alone_and_with_its_id() {
    for depth in [127, 200, 100_000] {
        for bracket in [["[", "]"], ["{\"a\":", "}"]] {
            for id_first in [true, false] {
                let error = error(nested(depth, bracket, id_first));
                assert_eq!(error.kind(), ScanErrorKind::TooDeep);
                assert_eq!(error.id(), Some(&5.into()));
                assert_eq!(error.peerhood(), Peerhood::Call);
                assert_eq!(error.to_error_object().code, mcp_jsonrpc::codes::INVALID_REQUEST);
            }
        }
    }
    // The message and its params are two levels of the 128.
    assert!(scanned(nested(126, ["[", "]"], true)).is_ok());
}

#[test]
fn p045_brackets_are_matched_at_any_depth() {
    let deep = nested(1000, ["[{\"a\":", "}]"], true);
    assert_eq!(error(&deep).kind(), ScanErrorKind::TooDeep);
    for level in [10, 63, 64, 65, 127, 128, 129, 999] {
        let at = deep.len() - 3 - "\"method\":\"tools/call\",".len() - level;
        let at = deep[..at].rfind(']').unwrap();
        let mut wrong = deep.clone();
        wrong.replace_range(at..=at, "}");
        assert!(error(&wrong).is_syntax(), "a wrong bracket at level {level}");
    }
    assert!(error("[".repeat(100_000)).is_syntax());
}

#[test]
fn limits_hold_for_bytes_batches_and_ids() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let exact = Limits::default().with_max_bytes(ping.len());
    assert!(scan(ping.into(), &exact).is_ok());
    let error = scan(format!("{ping} ").into(), &exact).unwrap_err();
    assert_eq!(error.kind(), ScanErrorKind::TooLong);

    let batch = |count| format!("[{}]", vec![ping; count].join(","));
    assert!(matches!(scanned(batch(64)), Ok(Frame::Batch(messages)) if messages.len() == 64));
    assert_eq!(scanned(batch(65)).unwrap_err().kind(), ScanErrorKind::BadBatch);
    assert!(scanned(batch(65) + "x").unwrap_err().is_syntax());

    let with_id = |id: String| format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
    for (id, allowed) in [
        ("x".repeat(1024), true),
        ("x".repeat(1025), false),
        ("\\u0078".repeat(1024), true),
        ("\\u0078".repeat(1025), false),
        ("x".repeat(100_000), false),
    ] {
        assert_eq!(scanned(with_id(id)).is_ok(), allowed);
    }
}

#[test]
fn the_offset_of_an_error_counts_from_the_start_of_the_frame() {
    for (frame, at) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, 41),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 22),
        (r#"{"jsonrpc":"2.0", "jsonrpc":"2.0","method":"ping"}"#, 18),
        (
            r#"{"jsonrpc":"2.0","method":"x","params":{"uri":1, "uri":2}}"#,
            49,
        ),
        (r#"  {"jsonrpc":"2.0"}"#, 2),
    ] {
        assert_eq!(error(frame).offset(), at, "{frame}");
    }
    let Ok(Frame::Batch(messages)) = scanned(r#"[{"jsonrpc":"2.0","method":"x"}, {"jsonrpc":"1"}]"#) else {
        panic!("no batch");
    };
    assert_eq!(messages[1].as_ref().unwrap_err().offset(), 44);
}

#[test]
fn the_known_members_of_params_are_found_in_any_spelling_and_order() {
    let request = request(
        r#"{"params": {"_meta" : {"a":1}, "x":{"name":"inner"},"argum\u0065nts":[1, 2] ,"name":"n\u0061","uri":"file:///x",
           "inputResponses":{},"requestState":"s"},"jsonrpc":"2.0","id":1,"method":"x"}"#,
    );
    let text = |key| request.call.param(key).map(|value| value.to_string());
    assert_eq!(text(ParamKey::Meta).unwrap(), r#"{"a":1}"#);
    assert_eq!(text(ParamKey::Arguments).unwrap(), "[1, 2]");
    assert_eq!(text(ParamKey::InputResponses).unwrap(), "{}");
    assert_eq!(request.call.param_str(ParamKey::Name).unwrap().unwrap(), "na");
    assert_eq!(
        request.call.param_str(ParamKey::Uri).unwrap().unwrap(),
        "file:///x"
    );
    assert_eq!(
        request.call.param_str(ParamKey::RequestState).unwrap().unwrap(),
        "s"
    );
    assert!(request.call.param_str(ParamKey::Meta).is_err());

    let again = mcp_jsonrpc::Call::new("x", request.call.params().cloned());
    assert_eq!(
        again.param(ParamKey::Arguments),
        request.call.param(ParamKey::Arguments)
    );
    let bare = mcp_jsonrpc::Call::new("x", None);
    assert_eq!(bare.param(ParamKey::Name), None);
}

#[test]
fn p033_p034_absent_null_and_empty_params_parse_alike_and_an_array_does_not() {
    #[derive(serde::Deserialize)]
    struct Page {
        cursor: Option<String>,
    }
    for params in [
        "",
        r#","params":null"#,
        r#","params":{}"#,
        r#","params":[ ]"#,
        r#","params":{"_meta":{}}"#,
    ] {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"{params}}}"#);
        let page: Page = request(&frame)
            .call
            .parse()
            .unwrap_or_else(|error| panic!("{params}: {error}"));
        assert_eq!(page.cursor, None);
    }
    let by_position = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":["x"]}"#;
    assert!(request(by_position).call.parse::<Page>().is_err());
}

#[test]
fn p044_a_lone_surrogate_fails_the_typed_parse_of_its_own_value_only() {
    let request = request(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"text":"a\ud83d"}}}"#,
    );
    assert_eq!(request.call.param_str(ParamKey::Name).unwrap().unwrap(), "x");
    let arguments = request.call.param(ParamKey::Arguments).unwrap();
    assert!(
        arguments
            .parse::<std::collections::BTreeMap<String, String>>()
            .is_err()
    );
}

#[test]
fn payloads_are_slices_of_their_frame() {
    let frame = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#);
    let Ok(Frame::One(Message::Response(response))) = scan(frame.clone(), &Limits::default()) else {
        panic!("no response");
    };
    let result = response.outcome.unwrap();
    assert_eq!(result.as_bytes().as_ptr(), frame[33..].as_ptr());
    assert_ne!(
        result.clone().detach().as_bytes().as_ptr(),
        result.as_bytes().as_ptr()
    );
}
