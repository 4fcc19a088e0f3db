//! The `mcp` command.
fn main() {}
