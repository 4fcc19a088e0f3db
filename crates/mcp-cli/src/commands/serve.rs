use std::path::Path;

use mcp_host::serve::{WorkspaceOptions, workspace_server};

use crate::failure::Failure;

/// Serves until the input ends.
pub(crate) async fn run(root: &Path, allow_write: bool) -> Result<(), Failure> {
    let options = WorkspaceOptions::new().allow_write(allow_write);
    let server = workspace_server(root, options).map_err(|error| {
        let text = format!("cannot serve {}: {error}", root.display());
        match error.is_workspace() {
            true => Failure::usage(text),
            false => Failure::operation(text),
        }
    })?;
    let closed = mcp_stdio::serve(server)
        .await
        .map_err(|error| Failure::operation(format!("standard input or output cannot be used: {error}")))?;
    match closed.orderly {
        true => Ok(()),
        false => Err(Failure::operation(closed.reason)),
    }
}
