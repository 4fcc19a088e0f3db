use std::net::SocketAddr;
use std::path::Path;

use mcp_host::serve::{WorkspaceOptions, workspace_server};
use mcp_http::server::{Endpoint, Options};
use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::screen;

/// Where and for whom to serve over HTTP.
pub(crate) struct Http {
    pub(crate) address: SocketAddr,
    /// Serves the transport of 2024-11-05, too.
    pub(crate) sse: bool,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
}

/// Serves until the input ends, or over HTTP until it is told to stop.
pub(crate) async fn run(root: &Path, allow_write: bool, http: Option<Http>) -> Result<(), Failure> {
    let options = WorkspaceOptions::new().allow_write(allow_write);
    let server = workspace_server(root, options).map_err(|error| {
        let text = format!("cannot serve {}: {error}", root.display());
        match error.is_workspace() {
            true => Failure::usage(text),
            false => Failure::operation(text),
        }
    })?;
    if let Some(http) = http {
        let mut options = Options::default();
        if http.sse {
            options = options.http_sse("/sse", "/messages");
        }
        for host in http.hosts {
            options = options.allow_host(host);
        }
        for origin in http.origins {
            options = options.allow_origin(origin);
        }
        let refused = |error| Failure::operation(format!("cannot listen on {}: {error}", http.address));
        let listener = TcpListener::bind(http.address).await.map_err(refused)?;
        let endpoint = Endpoint::with_options(server, options);
        let running = mcp_http::server::serve(listener, endpoint).map_err(refused)?;
        screen::result(&format!("http://{}/mcp\n", running.address()))?;
        // When this command is dropped, because somebody wants it to stop, requests may finish first.
        let (_held, dropped) = tokio::sync::oneshot::channel::<()>();
        let draining = tokio::spawn(async move {
            let _ = dropped.await;
            running.close().await;
        });
        return draining
            .await
            .map_err(|error| Failure::operation(format!("the server ended: {error}")));
    }
    let closed = mcp_stdio::serve(server)
        .await
        .map_err(|error| Failure::operation(format!("standard input or output cannot be used: {error}")))?;
    match closed.orderly {
        true => Ok(()),
        false => Err(Failure::operation(closed.reason)),
    }
}
