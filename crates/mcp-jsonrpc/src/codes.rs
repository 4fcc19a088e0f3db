//! The error codes of JSON-RPC 2.0 and of the Model Context Protocol, by name.
//!
//! JSON-RPC 2.0 section 5.1; MCP 2025-11-25 `schema.ts` (`URL_ELICITATION_REQUIRED`); MCP 2026-07-28
//! `schema.ts` (`HEADER_MISMATCH`, `MISSING_REQUIRED_CLIENT_CAPABILITY`, `UNSUPPORTED_PROTOCOL_VERSION`).

/// The bytes are not valid JSON.
pub const PARSE_ERROR: i64 = -32700;
/// Valid JSON, but not a valid message here.
pub const INVALID_REQUEST: i64 = -32600;
/// The receiver does not implement the method, or did not declare it.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are wrong: an unknown tool, a bad cursor, a missing member.
pub const INVALID_PARAMS: i64 = -32602;
/// The receiver failed while handling the request.
pub const INTERNAL_ERROR: i64 = -32603;

/// Convention of official SDKs: the connection closed, or an HTTP request was refused before dispatch.
pub const CONNECTION_CLOSED: i64 = -32000;
/// Convention of official SDKs: no answer in time; over HTTP, an unknown session.
pub const REQUEST_TIMEOUT: i64 = -32001;
/// No such resource, up to 2025-11-25. From 2026-07-28 this is [`INVALID_PARAMS`].
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// The user must open a URL first. 2025-11-25 only.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// An HTTP header does not match the body. From 2026-07-28.
pub const HEADER_MISMATCH: i64 = -32020;
/// The request needs a client capability that it did not declare. From 2026-07-28.
pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
/// The receiver does not speak the revision that the request names. From 2026-07-28.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// The user refused a sampling request. 2024-11-05 to 2025-11-25.
pub const USER_REJECTED: i64 = -1;
