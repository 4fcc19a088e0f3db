//! The client side: a transport for `mcp-client`.
