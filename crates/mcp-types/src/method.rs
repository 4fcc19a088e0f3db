//! Every method and notification: who may send it, in which revisions, and what must be declared for it.

use crate::model::{ClientCapabilities, ServerCapabilities};
use crate::{Revision, Revisions};

#[allow(missing_docs)]
mod names {
    pub const INITIALIZE: &str = "initialize";
    pub const PING: &str = "ping";
    pub const SERVER_DISCOVER: &str = "server/discover";
    pub const TOOLS_LIST: &str = "tools/list";
    pub const TOOLS_CALL: &str = "tools/call";
    pub const RESOURCES_LIST: &str = "resources/list";
    pub const RESOURCES_TEMPLATES_LIST: &str = "resources/templates/list";
    pub const RESOURCES_READ: &str = "resources/read";
    pub const RESOURCES_SUBSCRIBE: &str = "resources/subscribe";
    pub const RESOURCES_UNSUBSCRIBE: &str = "resources/unsubscribe";
    pub const PROMPTS_LIST: &str = "prompts/list";
    pub const PROMPTS_GET: &str = "prompts/get";
    pub const COMPLETION_COMPLETE: &str = "completion/complete";
    pub const LOGGING_SET_LEVEL: &str = "logging/setLevel";
    pub const SUBSCRIPTIONS_LISTEN: &str = "subscriptions/listen";
    pub const TASKS_GET: &str = "tasks/get";
    pub const TASKS_RESULT: &str = "tasks/result";
    pub const TASKS_LIST: &str = "tasks/list";
    pub const TASKS_CANCEL: &str = "tasks/cancel";
    pub const TASKS_UPDATE: &str = "tasks/update";
    pub const SAMPLING_CREATE_MESSAGE: &str = "sampling/createMessage";
    pub const ROOTS_LIST: &str = "roots/list";
    pub const ELICITATION_CREATE: &str = "elicitation/create";
    pub const INITIALIZED: &str = "notifications/initialized";
    pub const CANCELLED: &str = "notifications/cancelled";
    pub const PROGRESS: &str = "notifications/progress";
    pub const MESSAGE: &str = "notifications/message";
    pub const TOOLS_LIST_CHANGED: &str = "notifications/tools/list_changed";
    pub const PROMPTS_LIST_CHANGED: &str = "notifications/prompts/list_changed";
    pub const RESOURCES_LIST_CHANGED: &str = "notifications/resources/list_changed";
    pub const RESOURCES_UPDATED: &str = "notifications/resources/updated";
    pub const ROOTS_LIST_CHANGED: &str = "notifications/roots/list_changed";
    pub const ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";
    pub const TASKS_STATUS: &str = "notifications/tasks/status";
    pub const TASKS: &str = "notifications/tasks";
    pub const SUBSCRIPTIONS_ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
}

pub use names::*;

/// The id of the tasks extension of 2026-07-28.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Whether an answer is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It is.
    Request,
    /// It is not.
    Notification,
}

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// Who may send a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sender {
    /// Only the client.
    Client,
    /// Only the server.
    Server,
    /// Either.
    Both,
}

impl Sender {
    const fn includes(self, side: Side) -> bool {
        matches!(
            (self, side),
            (Sender::Both, _) | (Sender::Client, Side::Client) | (Sender::Server, Side::Server)
        )
    }
}

/// What must have been declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// A capability of the client, and perhaps one of its members.
    Client(&'static str, Option<&'static str>),
    /// A capability of the server, and perhaps one of its members.
    Server(&'static str, Option<&'static str>),
    /// An extension, by both: the client in the same request.
    Extension(&'static str),
}

impl Gate {
    /// Whether it was declared.
    pub fn is_open(self, client: &ClientCapabilities, server: &ServerCapabilities) -> bool {
        match self {
            Gate::Client(capability, member) => client_has(client, capability, member),
            Gate::Server(capability, member) => server_has(server, capability, member),
            Gate::Extension(id) => client.extension(id).is_some() && server.extension(id).is_some(),
        }
    }
}

fn client_has(client: &ClientCapabilities, capability: &str, member: Option<&str>) -> bool {
    match (capability, member) {
        ("roots", None) => client.roots.is_some(),
        ("roots", Some("listChanged")) => client.roots.as_ref().is_some_and(|roots| roots.list_changed),
        ("sampling", None) => client.sampling.is_some(),
        ("elicitation", None) => client.elicitation.is_some(),
        ("elicitation", Some("url")) => client.elicitation.as_ref().is_some_and(|one| one.has_url()),
        ("tasks", None) => client.tasks.is_some(),
        ("tasks", Some(member)) => client
            .tasks
            .as_ref()
            .is_some_and(|tasks| tasks.contains_key(member)),
        _ => false,
    }
}

fn server_has(server: &ServerCapabilities, capability: &str, member: Option<&str>) -> bool {
    match (capability, member) {
        ("tools", None) => server.tools.is_some(),
        ("tools", Some("listChanged")) => server.tools.as_ref().is_some_and(|one| one.list_changed),
        ("prompts", None) => server.prompts.is_some(),
        ("prompts", Some("listChanged")) => server.prompts.as_ref().is_some_and(|one| one.list_changed),
        ("resources", None) => server.resources.is_some(),
        ("resources", Some("listChanged")) => server.resources.as_ref().is_some_and(|one| one.list_changed),
        ("resources", Some("subscribe")) => server.resources.as_ref().is_some_and(|one| one.subscribe),
        ("completions", None) => server.completions.is_some(),
        ("logging", None) => server.logging.is_some(),
        ("tasks", None) => server.tasks.is_some(),
        ("tasks", Some(member)) => server
            .tasks
            .as_ref()
            .is_some_and(|tasks| tasks.contains_key(member)),
        _ => false,
    }
}

/// What is known of a method in some revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// The name on the wire.
    pub name: &'static str,
    /// Request or notification.
    pub kind: Kind,
    /// Who may send it.
    pub sender: Sender,
    /// Where it exists as a message of its own.
    pub revisions: Revisions,
    /// What must have been declared for it.
    pub gate: Option<Gate>,
}

/// The method `name` as `sender` may send it in `revision`; `None` is method-not-found.
pub fn lookup(name: &str, sender: Side, revision: Revision) -> Option<&'static MethodInfo> {
    TABLE
        .iter()
        .find(|row| row.name == name && row.sender.includes(sender) && row.revisions.contains(revision))
}

/// All rows, some methods with several: one for each set of revisions with the same rules.
pub fn all() -> &'static [MethodInfo] {
    TABLE
}

/// Whether the result of this request may be `input_required` (2026-07-28, multi round-trip requests).
pub fn allows_input_required(name: &str) -> bool {
    matches!(name, TOOLS_CALL | PROMPTS_GET | RESOURCES_READ)
}

/// Whether this method may be a value in `inputRequests` (2026-07-28).
pub fn may_be_asked(name: &str) -> bool {
    matches!(name, ELICITATION_CREATE | SAMPLING_CREATE_MESSAGE | ROOTS_LIST)
}

/// Whether the complete result of this request carries cache hints (2026-07-28, caching).
pub fn is_cacheable(name: &str) -> bool {
    matches!(
        name,
        SERVER_DISCOVER
            | TOOLS_LIST
            | PROMPTS_LIST
            | RESOURCES_LIST
            | RESOURCES_TEMPLATES_LIST
            | RESOURCES_READ
    )
}

const R1_TO_R4: Revisions = Revisions::between(Revision::V2024_11_05, Revision::V2025_11_25);
const R3_TO_R4: Revisions = Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25);
const R0_TO_R1: Revisions = Revisions::between(Revision::V2024_10_07, Revision::V2024_11_05);
const SINCE_R1: Revisions = Revisions::since(Revision::V2024_11_05);
const SINCE_R2: Revisions = Revisions::since(Revision::V2025_03_26);
const ONLY_R4: Revisions = Revisions::only(Revision::V2025_11_25);

const fn row(
    name: &'static str,
    kind: Kind,
    sender: Sender,
    revisions: Revisions,
    gate: Option<Gate>,
) -> MethodInfo {
    MethodInfo {
        name,
        kind,
        sender,
        revisions,
        gate,
    }
}

const fn client(capability: &'static str) -> Option<Gate> {
    Some(Gate::Client(capability, None))
}

const fn server(capability: &'static str) -> Option<Gate> {
    Some(Gate::Server(capability, None))
}

const fn server_flag(capability: &'static str, flag: &'static str) -> Option<Gate> {
    Some(Gate::Server(capability, Some(flag)))
}

#[rustfmt::skip]
const TABLE: &[MethodInfo] = {
    use Kind::{Notification, Request};
    use Revisions as Rev;
    use Sender::{Both, Client, Server};
    const TASKS_EXT: Option<Gate> = Some(Gate::Extension(TASKS_EXTENSION));
    &[
        // The hot ones first: the table is walked.
        row(TOOLS_CALL, Request, Client, Rev::ALL, server("tools")),
        row(TOOLS_LIST, Request, Client, Rev::ALL, server("tools")),
        row(PROGRESS, Notification, Both, Rev::STATEFUL, None),
        row(PROGRESS, Notification, Server, Rev::STATELESS, None),
        row(CANCELLED, Notification, Both, SINCE_R1, None),
        row(INITIALIZE, Request, Client, Rev::STATEFUL, None),
        row(INITIALIZED, Notification, Client, Rev::STATEFUL, None),
        row(PING, Request, Both, Rev::STATEFUL, None),
        row(SERVER_DISCOVER, Request, Client, Rev::STATELESS, None),
        row(RESOURCES_LIST, Request, Client, Rev::ALL, server("resources")),
        row(RESOURCES_TEMPLATES_LIST, Request, Client, Rev::ALL, server("resources")),
        row(RESOURCES_READ, Request, Client, Rev::ALL, server("resources")),
        row(RESOURCES_SUBSCRIBE, Request, Client, Rev::STATEFUL, server_flag("resources", "subscribe")),
        row(RESOURCES_UNSUBSCRIBE, Request, Client, Rev::STATEFUL, server_flag("resources", "subscribe")),
        row(PROMPTS_LIST, Request, Client, Rev::ALL, server("prompts")),
        row(PROMPTS_GET, Request, Client, Rev::ALL, server("prompts")),
        row(COMPLETION_COMPLETE, Request, Client, R0_TO_R1, None),
        row(COMPLETION_COMPLETE, Request, Client, SINCE_R2, server("completions")),
        row(LOGGING_SET_LEVEL, Request, Client, Rev::STATEFUL, server("logging")),
        row(SUBSCRIPTIONS_LISTEN, Request, Client, Rev::STATELESS, None),
        row(SAMPLING_CREATE_MESSAGE, Request, Server, Rev::STATEFUL, client("sampling")),
        row(ROOTS_LIST, Request, Server, R1_TO_R4, client("roots")),
        row(ELICITATION_CREATE, Request, Server, R3_TO_R4, client("elicitation")),
        row(MESSAGE, Notification, Server, Rev::ALL, server("logging")),
        row(TOOLS_LIST_CHANGED, Notification, Server, Rev::ALL, server_flag("tools", "listChanged")),
        row(PROMPTS_LIST_CHANGED, Notification, Server, Rev::ALL, server_flag("prompts", "listChanged")),
        row(RESOURCES_LIST_CHANGED, Notification, Server, Rev::ALL, server_flag("resources", "listChanged")),
        row(RESOURCES_UPDATED, Notification, Server, Rev::ALL, server_flag("resources", "subscribe")),
        row(ROOTS_LIST_CHANGED, Notification, Client, R1_TO_R4, Some(Gate::Client("roots", Some("listChanged")))),
        row(ELICITATION_COMPLETE, Notification, Server, ONLY_R4, Some(Gate::Client("elicitation", Some("url")))),
        row(SUBSCRIPTIONS_ACKNOWLEDGED, Notification, Server, Rev::STATELESS, None),
        // Tasks of 2025-11-25: the receiver has them, whichever side it is.
        row(TASKS_GET, Request, Client, ONLY_R4, server("tasks")),
        row(TASKS_GET, Request, Server, ONLY_R4, client("tasks")),
        row(TASKS_RESULT, Request, Client, ONLY_R4, server("tasks")),
        row(TASKS_RESULT, Request, Server, ONLY_R4, client("tasks")),
        row(TASKS_LIST, Request, Client, ONLY_R4, server_flag("tasks", "list")),
        row(TASKS_LIST, Request, Server, ONLY_R4, Some(Gate::Client("tasks", Some("list")))),
        row(TASKS_CANCEL, Request, Client, ONLY_R4, server_flag("tasks", "cancel")),
        row(TASKS_CANCEL, Request, Server, ONLY_R4, Some(Gate::Client("tasks", Some("cancel")))),
        row(TASKS_STATUS, Notification, Server, ONLY_R4, server("tasks")),
        row(TASKS_STATUS, Notification, Client, ONLY_R4, client("tasks")),
        // Tasks of 2026-07-28: an extension.
        row(TASKS_GET, Request, Client, Rev::STATELESS, TASKS_EXT),
        row(TASKS_UPDATE, Request, Client, Rev::STATELESS, TASKS_EXT),
        row(TASKS_CANCEL, Request, Client, Rev::STATELESS, TASKS_EXT),
        row(TASKS, Notification, Server, Rev::STATELESS, TASKS_EXT),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ElicitationCapability, ResourcesCapability};

    #[test]
    fn no_sender_has_two_rows_for_one_method_in_one_revision() {
        for revision in Revision::ALL {
            for side in [Side::Client, Side::Server] {
                for info in all() {
                    let matching = all()
                        .iter()
                        .filter(|row| {
                            row.name == info.name
                                && row.sender.includes(side)
                                && row.revisions.contains(revision)
                        })
                        .count();
                    assert!(matching <= 1, "{} in {revision}", info.name);
                }
            }
        }
    }

    #[test]
    fn methods_come_and_go_with_the_revisions() {
        use Side::{Client, Server};
        let has = |name, side, revision| lookup(name, side, revision).is_some();
        let (first, last) = (Revision::V2024_10_07, Revision::LATEST_HANDSHAKE);
        assert!(has(PING, Server, last) && !has(PING, Client, Revision::LATEST));
        assert!(!has(CANCELLED, Client, first) && has(CANCELLED, Client, Revision::V2024_11_05));
        assert!(has(SERVER_DISCOVER, Client, Revision::LATEST) && !has(SERVER_DISCOVER, Client, last));
        assert!(has(ELICITATION_CREATE, Server, last) && !has(ELICITATION_CREATE, Client, last));
        assert!(!has(ELICITATION_CREATE, Server, Revision::LATEST) && may_be_asked(ELICITATION_CREATE));
        assert!(has(PROGRESS, Client, last) && !has(PROGRESS, Client, Revision::LATEST));
        assert!(has(TASKS_RESULT, Server, last) && !has(TASKS_RESULT, Client, Revision::LATEST));
        assert!(!has("tools/nothing", Client, last));
    }

    #[test]
    fn a_gate_opens_with_its_capability() {
        let client = ClientCapabilities::new().with_elicitation(ElicitationCapability::new());
        let server = ServerCapabilities::new().with_resources(ResourcesCapability::new());
        let open = |name, side| {
            let info = lookup(name, side, Revision::LATEST_HANDSHAKE).unwrap();
            info.gate.unwrap().is_open(&client, &server)
        };
        assert!(open(ELICITATION_CREATE, Side::Server) && open(RESOURCES_READ, Side::Client));
        assert!(!open(RESOURCES_SUBSCRIBE, Side::Client) && !open(TOOLS_LIST, Side::Client));
        assert!(!open(ELICITATION_COMPLETE, Side::Server));
    }

    #[test]
    fn each_gate_can_be_opened() {
        let full = r#"{"list":{},"cancel":{},"listChanged":true,"subscribe":true,"form":{},"url":{}}"#;
        let keys = [
            "roots",
            "sampling",
            "elicitation",
            "tasks",
            "tools",
            "prompts",
            "resources",
            "completions",
            "logging",
        ];
        let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":{full}")).collect();
        let json = format!(
            "{{{},\"extensions\":{{\"{TASKS_EXTENSION}\":{{}}}}}}",
            members.join(",")
        );
        let (client, server) = (
            serde_json::from_str(&json).unwrap(),
            serde_json::from_str(&json).unwrap(),
        );
        for info in all() {
            assert!(
                info.gate.is_none_or(|gate| gate.is_open(&client, &server)),
                "{info:?}"
            );
        }
    }
}
