//! How many allocations a scan makes.

use bytes::{Bytes, BytesMut};
use mcp_jsonrpc::{Limits, ParamKey, encode, scan};

/// A frame as the line decoder makes one: cut out of a read buffer, so that slices of it share a count.
fn frame(text: &str) -> Bytes {
    let mut buffer = BytesMut::from(format!("{text}\n").as_str());
    buffer.split_to(text.len()).freeze()
}

fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

fn of_scan(text: &str) -> u64 {
    let (frame, limits) = (frame(text), Limits::default());
    let mut scanned = None;
    let count = allocations(|| scanned = Some(scan(frame, &limits)));
    scanned.unwrap().unwrap();
    count
}

#[test]
fn a_call_with_an_integer_id_is_scanned_without_allocating() {
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":[3]}}}"#;
    assert_eq!(of_scan(call), 0);
    assert_eq!(
        of_scan(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        0
    );
    assert_eq!(of_scan(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#), 0);
}

#[test]
fn a_string_id_and_an_error_message_cost_one_allocation_each() {
    assert_eq!(of_scan(r#"{"jsonrpc":"2.0","id":"req-7","method":"ping"}"#), 1);
    assert_eq!(
        of_scan(r#"{"jsonrpc":"2.0","id":"req-7","error":{"code":1,"message":"x","data":[]}}"#),
        2
    );
}

#[test]
fn a_frame_that_owns_its_bytes_alone_costs_one_more_to_be_shared() {
    let frame = Bytes::from(br#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{}}"#.to_vec());
    let limits = Limits::default();
    assert_eq!(allocations(|| drop(scan(frame, &limits))), 1);
}

#[test]
fn a_string_member_of_params_is_borrowed() {
    let params = mcp_jsonrpc::RawJson::from_text(r#"{"name":"add"}"#).unwrap();
    let call = mcp_jsonrpc::Call::new("tools/call", Some(params));
    assert_eq!(allocations(|| drop(call.param_str(ParamKey::Name).unwrap())), 0);
}

#[test]
fn a_message_is_encoded_in_one_allocation() {
    let encoded = |write: &dyn Fn(&mut BytesMut)| allocations(|| write(&mut BytesMut::new()));
    let payload = br#"{"content":[{"type":"text","text":"5"}]}"#;
    assert_eq!(encoded(&|out| encode::result(out, &2.into(), payload)), 1);
    assert_eq!(
        encoded(&|out| encode::request(out, &2.into(), "tools/call", Some(payload))),
        1
    );
    assert_eq!(
        encoded(&|out| encode::notification(out, "notifications/initialized", None)),
        1
    );
    let error = mcp_jsonrpc::ErrorObject::new(-32601, "Method not found");
    assert_eq!(encoded(&|out| encode::error(out, Ok(&2.into()), &error)), 1);
}
