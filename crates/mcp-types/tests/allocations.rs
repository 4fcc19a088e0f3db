//! The commonest result costs no allocation beyond the buffer it is written to.

use bytes::BytesMut;
use mcp_jsonrpc::RawJson;
use mcp_types::{CallToolResult, Revision, wire};

#[test]
fn a_text_result_is_written_without_allocating() {
    let result = CallToolResult::text("plain text, with \"quotes\" and\nlines");
    for revision in Revision::ALL {
        let mut out = BytesMut::with_capacity(1024);
        let info = allocation_counter::measure(|| wire::encode(&mut out, &result, revision).unwrap());
        assert_eq!(info.count_total, 0, "{revision}");
    }
}

#[test]
fn a_text_result_is_read_with_one_allocation_for_the_text_and_one_for_the_list() {
    let raw = RawJson::from_text(r#"{"resultType":"complete","content":[{"type":"text","text":"plain"}]}"#)
        .unwrap();
    let info = allocation_counter::measure(|| {
        raw.parse::<CallToolResult>().unwrap();
    });
    assert_eq!(info.count_total, 2);
}
