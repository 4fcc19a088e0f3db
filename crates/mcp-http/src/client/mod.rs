//! The client side: a transport for `mcp-client`.

mod link;
mod options;
mod pair;
mod streams;
mod wire;

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use mcp_exchange::{BoxHandler, BoxLink, Connect, LinkError};

use link::HttpLink;
pub use options::Options;
use wire::{Pool, mark_secrets};

/// A server at a URL. Give it to `mcp_client::Client::builder(..).connect(..)`: which era the server speaks is found out
/// there.
///
/// ```no_run
/// # fn example() -> Result<(), mcp_exchange::LinkError> {
/// let server = mcp_http::client::Http::new("http://127.0.0.1:8080/mcp")?.header("x-team", "notes")?;
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Http {
    url: Uri,
    headers: HeaderMap,
    options: Options,
    http_sse: bool,
}

impl Http {
    /// The server at this URL.
    ///
    /// # Errors
    /// When it is no `http` URL, or an `https` one without the feature `rustls`.
    pub fn new(url: &str) -> Result<Self, LinkError> {
        let parsed: Uri = url
            .parse()
            .map_err(|error| LinkError::usage(format!("{url:?} is no URL: {error}")))?;
        match parsed.scheme_str() {
            Some("http") => {}
            Some("https") if cfg!(feature = "rustls") => {}
            Some("https") => return Err(LinkError::usage("https needs the feature `rustls` of mcp-http")),
            _ => {
                return Err(LinkError::usage(format!(
                    "{url:?} does not begin with http:// or https://"
                )));
            }
        }
        Ok(Self {
            url: parsed,
            headers: HeaderMap::new(),
            options: Options::default(),
            http_sse: false,
        })
    }

    /// Sends this header with every request. Those that the protocol demands stay as they are (P080).
    ///
    /// # Errors
    /// When the name or the value is no legal one; the value is not repeated in the error.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, LinkError> {
        let bad = |what: &str| LinkError::usage(format!("header {name:?}: its {what} is not legal"));
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("name"))?;
        let value = HeaderValue::from_str(value).map_err(|_| bad("value"))?;
        self.headers.insert(key, value);
        mark_secrets(&mut self.headers);
        Ok(self)
    }

    /// The server is known to speak HTTP+SSE, the transport of 2024-11-05 and before, at this URL. Without this it is
    /// found out by itself, after the newer transports were refused.
    #[must_use]
    pub fn http_sse(mut self) -> Self {
        self.http_sse = true;
        self
    }

    /// Sets the bounds.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}

/// Shows the URL without its query, and of the headers their names alone.
impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        let host = self.url.authority().map_or("", |authority| authority.host());
        f.debug_struct("Http")
            .field("host", &host)
            .field("path", &self.url.path())
            .field("headers", &names)
            .finish()
    }
}

/// Nothing is sent yet, save for HTTP+SSE: the first message finds out whether the server can be reached.
impl Connect for Http {
    async fn connect(&self, inbound: BoxHandler) -> Result<BoxLink, LinkError> {
        let pool = Pool::new()?;
        let link = HttpLink::new(
            pool,
            self.url.clone(),
            self.headers.clone(),
            self.options.clone(),
            inbound,
        );
        if self.http_sse {
            link.open_pair().await?;
        }
        Ok(BoxLink::new(link))
    }
}
