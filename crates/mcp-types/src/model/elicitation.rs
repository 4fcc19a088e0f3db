use mcp_jsonrpc::RawJson;

use super::ElicitSchema;
use crate::Revision;
use crate::entity::{entity, plain_words, tagged, words};
use crate::value::{JsonObject, Meta};
use crate::wire::{Members, Wire, Writer};

tagged! {
    /// Parameters of `elicitation/create`: a question to the user. Without a mode it is a form.
    ElicitParams by "mode" else Form {
        /// Asks to fill in a form.
        Form(ElicitFormParams) = "form",
        /// Asks to open a URL; since 2025-11-25.
        Url(ElicitUrlParams) = "url",
    }
}

impl ElicitParams {
    /// Asks to fill in a form.
    pub fn form(message: impl Into<String>, schema: ElicitSchema) -> Self {
        ElicitFormParams::new(message, schema).into()
    }

    /// Asks to open a URL. For 2025-11-25 it needs an id, too.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        ElicitUrlParams::new(message, url).into()
    }

    /// What the user is told.
    pub fn message(&self) -> Option<&str> {
        match self {
            ElicitParams::Form(form) => Some(&form.message),
            ElicitParams::Url(url) => Some(&url.message),
            ElicitParams::Unknown(_) => None,
        }
    }
}

impl Wire for ElicitParams {
    fn write(&self, out: &mut Writer<'_>) {
        if out.is_before(Revision::V2025_06_18) {
            out.refuse("an elicitation");
        } else if matches!(self, ElicitParams::Url(_)) && out.is_before(Revision::V2025_11_25) {
            out.refuse("an elicitation by URL");
        }
        self.write_plain(out);
    }
}

entity! {
    /// Asks the user to fill in a form. Never ask for secrets this way.
    ElicitFormParams [tag "mode" "form"] {
        /// What the user is told.
        required message: String = "message",
        /// The form.
        required requested_schema: ElicitSchema = "requestedSchema",
        /// Asks for a task (2025-11-25).
        raw task/with_task: RawJson = "task",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Asks the user to open a URL. The client shows the whole of it and opens it only with consent.
    ElicitUrlParams [tag "mode" "url"] {
        /// What the user is told.
        required message: String = "message",
        /// What to open. No secrets in it.
        required url: String = "url",
        /// Unique for this server; 2025-11-25 only, and needed there.
        optional elicitation_id/with_elicitation_id: String = "elicitationId",
        /// Asks for a task (2025-11-25).
        raw task/with_task: RawJson = "task",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
    tail demand_elicitation_id;
}

fn demand_elicitation_id(params: &ElicitUrlParams, members: &mut Members<'_, '_>) {
    if members.writer().revision() == Some(Revision::V2025_11_25) && params.elicitation_id.is_none() {
        members.refuse("an elicitation by URL without an id");
    }
}

words! {
    /// What the user did.
    ElicitAction {
        /// Agreed; of a URL this means consent, not completion.
        Accept = "accept",
        /// Refused.
        Decline = "decline",
        /// Closed the question without an answer.
        Cancel = "cancel",
    }
}

plain_words!(ElicitAction);

entity! {
    /// Result of `elicitation/create`.
    ElicitResult {
        /// What the user did.
        required action: ElicitAction = "action",
        /// What was filled in; only with an accepted form.
        optional content: JsonObject = "content" if is_accepted,
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

fn is_accepted(result: &ElicitResult, _: &Writer<'_>) -> bool {
    result.action == ElicitAction::Accept
}

impl ElicitResult {
    /// The user filled in the form.
    pub fn accept(content: impl Into<JsonObject>) -> Self {
        Self {
            content: Some(content.into()),
            ..Self::new(ElicitAction::Accept)
        }
    }

    /// The user agreed to open the URL.
    pub fn consent() -> Self {
        Self::new(ElicitAction::Accept)
    }

    /// The user refused.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user gave no answer.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

entity! {
    /// Parameters of `notifications/elicitation/complete` (2025-11-25).
    ElicitationCompleteParams {
        /// Which elicitation is done.
        required elicitation_id: String = "elicitationId",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}
