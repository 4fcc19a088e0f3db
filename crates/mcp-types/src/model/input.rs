use mcp_jsonrpc::RawJson;

use crate::Revision;
use crate::entity::entity;
use crate::value::{Map, Meta};
use crate::wire::Members;
use crate::{JsonObject, Revisions};

/// Answers to what a server asked, by its keys, each as it came.
pub type InputResponses = JsonObject;

entity! {
    /// What a server asks of the client, as a value: no envelope, no id (2026-07-28).
    InputRequest {
        /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
        required method: String = "method",
        /// Its parameters.
        raw params/with_params: RawJson = "params",
    }
}

entity! {
    /// Result of a request that the server cannot complete before it knows more (2026-07-28).
    ///
    /// At least one of the two members must be set. Writing it for an older revision fails.
    #[derive(Default)]
    InputRequiredResult {
        /// What it asks, by keys that are unique in the request.
        object input_requests/with_input_requests: Map<InputRequest> = "inputRequests",
        /// What it wants back with the answers; opaque.
        optional request_state/with_request_state: String = "requestState",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
    settle drop_result_type;
    tail write_result_type;
}

fn drop_result_type(result: &mut InputRequiredResult) {
    result.extra.remove("resultType");
}

fn write_result_type(_: &InputRequiredResult, members: &mut Members<'_, '_>) {
    if members.writer().is_before(Revision::V2026_07_28) {
        members.refuse("an input_required result");
    }
    members.member("resultType", Revisions::ALL, "input_required");
}
