use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::endpoint::Endpoint;

/// How long the head of a request may take to come.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long open connections may go on after the end was asked for.
const DRAIN: Duration = Duration::from_secs(10);
/// How long to wait after the system refused a connection (too many files are open).
const REFUSED: Duration = Duration::from_millis(100);

/// A server that runs until it is told to end, or dropped.
#[derive(Debug)]
pub struct Listening {
    address: SocketAddr,
    end: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Listening {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no new connections, ends the sessions, and lets requests finish for up to 10 s.
    ///
    /// # Cancel safety
    /// When dropped, the server ends at once.
    pub async fn close(mut self) {
        self.end.send_replace(true);
        let _ = (&mut self.task).await;
    }

    /// Waits until it ends by itself, which it does only when its task is stopped from outside.
    pub async fn wait(mut self) {
        let _ = (&mut self.task).await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.end.send_replace(true);
        self.task.abort();
    }
}

/// Serves an endpoint on a listener, HTTP/1.1 and HTTP/2, at every path. Small packets go out at once; a client that
/// takes longer than 10 s for the head of a request is cut off.
///
/// ```no_run
/// # async fn example(server: mcp_server::Server) -> std::io::Result<()> {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let running = mcp_http::server::serve(listener, mcp_http::server::Endpoint::new(server))?;
/// println!("http://{}/mcp", running.address());
/// running.wait().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the listener has no address.
pub fn serve(listener: TcpListener, endpoint: Endpoint) -> io::Result<Listening> {
    let address = listener.local_addr()?;
    let (end, ending) = watch::channel(false);
    let task = tokio::spawn(run(listener, endpoint, ending));
    Ok(Listening { address, end, task })
}

async fn run(listener: TcpListener, endpoint: Endpoint, mut ending: watch::Receiver<bool>) {
    let mut connections = tokio::task::JoinSet::new();
    let mut told = ending.clone();
    let mut end = std::pin::pin!(async move {
        let _ = told.wait_for(|end| *end).await;
    });
    loop {
        let accepted = {
            let mut accept = std::pin::pin!(listener.accept());
            std::future::poll_fn(|cx| {
                use std::task::Poll;
                if end.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(None);
                }
                while let Poll::Ready(Some(_)) = connections.poll_join_next(cx) {}
                accept.as_mut().poll(cx).map(Some)
            })
            .await
        };
        let stream = match accepted {
            None => break,
            Some(Ok((stream, _))) => stream,
            Some(Err(error)) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(REFUSED).await;
                continue;
            }
        };
        // The head and the first event may be two packets; the second must not wait for the first to be confirmed.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(endpoint.clone());
        let mut told = ending.clone();
        connections.spawn(async move {
            let mut builder = auto::Builder::new(TokioExecutor::new());
            builder
                .http1()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME);
            builder.http2().timer(TokioTimer::new());
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            let mut connection = std::pin::pin!(connection);
            let mut end = std::pin::pin!(told.wait_for(|end| *end));
            let mut asked = false;
            let outcome = std::future::poll_fn(|cx| {
                if !asked && end.as_mut().poll(cx).is_ready() {
                    asked = true;
                    connection.as_mut().graceful_shutdown();
                }
                connection.as_mut().poll(cx)
            })
            .await;
            if let Err(error) = outcome {
                tracing::debug!(error, "a connection ended badly");
            }
        });
    }
    drop(listener);
    endpoint.close();
    let drained = tokio::time::timeout(DRAIN, async { while connections.join_next().await.is_some() {} });
    if drained.await.is_err() {
        connections.shutdown().await;
    }
    let _ = ending.borrow_and_update();
}
