use mcp_jsonrpc::RequestId;

use crate::entity::entity;
use crate::value::{Meta, Number, ProgressToken};

entity! {
    /// Parameters of `notifications/progress`.
    ProgressParams {
        /// The token of the request.
        required progress_token: ProgressToken = "progressToken",
        /// How far; it must rise with each notice.
        required progress: Number = "progress",
        /// How far it will go, when known.
        optional total/with_total: Number = "total",
        /// What is being done.
        optional message/with_message: String = "message",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Parameters of `notifications/cancelled`.
    ///
    /// 2025-11-25 lets the id be absent; such a notice cancels nothing.
    #[derive(Default)]
    CancelledParams {
        /// Which request.
        optional request_id/with_request_id: RequestId = "requestId",
        /// Why, for logs.
        optional reason/with_reason: String = "reason",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

impl CancelledParams {
    /// Cancels the request with this id.
    pub fn of(request_id: impl Into<RequestId>) -> Self {
        Self::new().with_request_id(request_id)
    }
}
