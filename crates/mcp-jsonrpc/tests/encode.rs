//! What is written, byte for byte, and that the scan reads it back.

use bytes::BytesMut;
use mcp_jsonrpc::encode::{self, NoId};
use mcp_jsonrpc::{ErrorObject, Frame, Limits, Message, RawJson, RequestId, codes, scan};
use proptest::prelude::*;

fn written(write: impl FnOnce(&mut BytesMut)) -> String {
    let mut out = BytesMut::new();
    write(&mut out);
    String::from_utf8(out.to_vec()).unwrap()
}

fn read(text: &str) -> Message {
    match scan(text.to_owned().into(), &Limits::default()) {
        Ok(Frame::One(message)) => message,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn the_lessons_messages_are_written_as_the_lesson_prints_them() {
    let (one, two, seven) = (RequestId::from(1), RequestId::from(2), RequestId::from("req-7"));
    let params = br#"{"name":"add","arguments":{"a":2,"b":3}}"#;
    let not_found = ErrorObject::new(codes::METHOD_NOT_FOUND, "Method not found");
    for (found, expected) in [
        (
            written(|out| encode::request(out, &one, "ping", None)),
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        ),
        (
            written(|out| encode::result(out, &one, b"{}")),
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ),
        (
            written(|out| encode::notification(out, "notifications/initialized", None)),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
        (
            written(|out| encode::request(out, &two, "tools/call", Some(params))),
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}"#,
        ),
        (
            written(|out| encode::error(out, Ok(&seven), &not_found)),
            r#"{"jsonrpc":"2.0","id":"req-7","error":{"code":-32601,"message":"Method not found"}}"#,
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn p036_an_error_without_an_id_says_null_or_leaves_it_out() {
    let error = ErrorObject::new(codes::PARSE_ERROR, "Parse error");
    assert_eq!(
        written(|out| encode::error(out, Err(NoId::Null), &error)),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#
    );
    assert_eq!(
        written(|out| encode::error(out, Err(NoId::Absent), &error)),
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#
    );
}

#[test]
fn p032_numbers_pass_through_a_raw_value_without_loss() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Outer {
        inner: RawJson,
    }
    let text = r#"{"inner":{"a":9007199254740993,"b":18446744073709551615,"c":1E400}}"#;
    let outer: Outer = RawJson::from_text(text).unwrap().parse().unwrap();
    assert_eq!(RawJson::encode(&outer).unwrap().as_str(), text);
}

fn id() -> impl Strategy<Value = RequestId> {
    prop_oneof![
        any::<i64>().prop_map(RequestId::from),
        any::<String>().prop_map(RequestId::from)
    ]
}

proptest! {
    #[test]
    fn p028_what_is_written_is_read_back(id in id(), text in any::<String>(), code in any::<i64>()) {
        let payload = RawJson::encode(&[&text]).unwrap();
        let bytes = payload.as_bytes();
        match read(&written(|out| encode::request(out, &id, &text, Some(bytes)))) {
            Message::Request(request) => {
                prop_assert_eq!(&request.id, &id);
                prop_assert_eq!(request.call.method(), &text);
                prop_assert_eq!(request.call.params(), Some(&payload));
            }
            other => prop_assert!(false, "{:?}", other),
        }
        match read(&written(|out| encode::result(out, &id, bytes))) {
            Message::Response(response) => {
                prop_assert_eq!(response.id.as_ref(), Some(&id));
                prop_assert_eq!(response.outcome, Ok(payload.clone()));
            }
            other => prop_assert!(false, "{:?}", other),
        }
        let error = ErrorObject::new(code, text.clone()).with_data(&text);
        match read(&written(|out| encode::error(out, Ok(&id), &error))) {
            Message::Response(response) => {
                prop_assert_eq!(response.id.as_ref(), Some(&id));
                prop_assert_eq!(response.outcome, Err(error));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
