#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mcp_jsonrpc::{Call, Frame, Limits, Message, RawJson, ScanErrorKind, encode, scan};
use serde::de::IgnoredAny;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::default().with_max_depth(usize::MAX);
    let valid = std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    let frame = Bytes::copy_from_slice(bytes);

    let value = RawJson::from_bytes(frame.clone(), &limits);
    assert_eq!(value.is_ok(), valid);
    if let Ok(value) = value {
        let compact = encode::compact(&value);
        assert!(!compact.as_bytes().contains(&b'\n'));
        assert!(serde_json::from_slice::<IgnoredAny>(compact.as_bytes()).is_ok());
    }

    match scan(frame, &limits) {
        Ok(Frame::One(message)) => look_at(&message),
        Ok(Frame::Batch(messages)) => messages.iter().flatten().for_each(look_at),
        Err(error) => assert_eq!(error.kind() == ScanErrorKind::Syntax, !valid),
    }
});

/// Every payload is a value by itself, and params scanned again have the same members.
fn look_at(message: &Message) {
    let call = match message {
        Message::Request(request) => &request.call,
        Message::Notification(call) => call,
        Message::Response(response) => {
            if let Ok(result) = &response.outcome {
                assert!(result.parse::<IgnoredAny>().is_ok());
            }
            return;
        }
    };
    if let Some(params) = call.params() {
        assert!(params.parse::<IgnoredAny>().is_ok());
    }
    let again = Call::new(call.method(), call.params().cloned());
    for key in [
        mcp_jsonrpc::ParamKey::Name,
        mcp_jsonrpc::ParamKey::Uri,
        mcp_jsonrpc::ParamKey::Arguments,
        mcp_jsonrpc::ParamKey::Meta,
        mcp_jsonrpc::ParamKey::InputResponses,
        mcp_jsonrpc::ParamKey::RequestState,
    ] {
        assert_eq!(again.param(key), call.param(key));
        if let Some(value) = call.param(key) {
            assert!(value.parse::<IgnoredAny>().is_ok());
        }
    }
}
