//! One HTTP request and what came back, redirects included.

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, LOCATION};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use mcp_exchange::LinkError;

#[cfg(feature = "rustls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "rustls"))]
type Connector = HttpConnector;

/// A pool of connections.
#[derive(Clone)]
pub(crate) struct Pool(Client<Connector, Full<Bytes>>);

impl Pool {
    pub(crate) fn new() -> Result<Self, LinkError> {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        #[cfg(feature = "rustls")]
        let connector = {
            tcp.enforce_http(false);
            hyper_rustls::HttpsConnectorBuilder::new()
                .with_native_roots()
                .map_err(|error| {
                    LinkError::start("the system's certificates cannot be read").with_source(error)
                })?
                .https_or_http()
                .enable_http1()
                .wrap_connector(tcp)
        };
        #[cfg(not(feature = "rustls"))]
        let connector = tcp;
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector)))
    }

    /// Sends a request. Redirects that keep method and body are followed on the same origin, or from http to https on the
    /// same host; any other is an error that names where it leads (P109).
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Uri,
        headers: &HeaderMap,
        body: Bytes,
        redirects: u32,
    ) -> Result<Response<Incoming>, LinkError> {
        let mut url = url.clone();
        for _ in 0..=redirects {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = url.clone();
            *request.headers_mut() = headers.clone();
            let response = self.0.request(request).await.map_err(|error| {
                LinkError::transport(format!("{} cannot be reached: {}", origin(&url), chain(&error)))
                    .with_source(error)
            })?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            let place = response
                .headers()
                .get(LOCATION)
                .and_then(|place| place.to_str().ok())
                .unwrap_or_default();
            let next = resolve(&url, place);
            let keeps = matches!(
                status,
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
            );
            match next {
                Some(next) if keeps && goes_along(&url, &next) => url = next,
                _ => {
                    return Err(LinkError::transport(format!(
                        "{url} redirects to {place:?} ({status}), which is not followed; use that URL if it is right"
                    )));
                }
            }
        }
        Err(LinkError::transport(format!("{url}: too many redirects")))
    }
}

/// All causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        text = format!("{text}: {one}");
        cause = one.source();
    }
    text
}

fn origin(url: &Uri) -> String {
    format!(
        "{}://{}",
        url.scheme_str().unwrap_or("http"),
        url.authority().map_or("", |part| part.as_str())
    )
}

/// A reference as it is read from this URL (RFC 3986, section 5.2), as far as servers use it.
pub(crate) fn resolve(base: &Uri, place: &str) -> Option<Uri> {
    if place.starts_with("//") || place.is_empty() {
        return None;
    }
    if place.starts_with('/') {
        return format!("{}{place}", origin(base)).parse().ok();
    }
    if place
        .split(['/', '?', '#'])
        .next()
        .is_some_and(|start| start.contains(':'))
    {
        return place.parse::<Uri>().ok().filter(|url| url.scheme().is_some());
    }
    let folder = if place.starts_with('?') {
        base.path()
    } else {
        base.path().rsplit_once('/').map_or("/", |(folder, _)| folder)
    };
    let slash = if place.starts_with('?') || folder.ends_with('/') {
        ""
    } else {
        "/"
    };
    format!("{}{folder}{slash}{place}", origin(base)).parse().ok()
}

/// Whether both have the same scheme, host and port.
pub(crate) fn same_origin(one: &Uri, other: &Uri) -> bool {
    one.scheme() == other.scheme() && one.host() == other.host() && port(one) == port(other)
}

/// Whether credentials may go along: the same origin, or the same host behind TLS.
fn goes_along(from: &Uri, to: &Uri) -> bool {
    let safer = from.scheme_str() == Some("http")
        && to.scheme_str() == Some("https")
        && from.host() == to.host()
        && to.port_u16().is_none_or(|port| port == 443);
    same_origin(from, to) || safer
}

fn port(url: &Uri) -> u16 {
    url.port_u16().unwrap_or(if url.scheme_str() == Some("https") {
        443
    } else {
        80
    })
}

/// A body up to a limit.
pub(crate) async fn read(response: Response<Incoming>, limit: usize) -> Result<Bytes, LinkError> {
    match Limited::new(response.into_body(), limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(LinkError::peer(format!(
            "the server's answer exceeds {limit} bytes"
        ))),
        Err(error) => Err(LinkError::transport(format!(
            "the server's answer broke off: {error}"
        ))),
    }
}

/// The start of a body, for an error message: no more than a line of it, and no control characters.
pub(crate) fn excerpt(body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.trim().to_owned()
}

/// Headers whose values are secrets, so that they are marked and kept out of logs.
pub(crate) fn mark_secrets(headers: &mut HeaderMap) {
    for name in [AUTHORIZATION, COOKIE] {
        if let Some(value) = headers.get_mut(&name) {
            value.set_sensitive(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p109_p194_credentials_stay_on_their_origin() {
        let base: Uri = "http://a.example/mcp".parse().unwrap();
        for good in [
            "/mcp/",
            "http://a.example/x",
            "http://a.example:80/x",
            "https://a.example/mcp",
        ] {
            assert!(goes_along(&base, &resolve(&base, good).unwrap()), "{good}");
        }
        for bad in [
            "http://b.example/",
            "http://a.example:81/",
            "https://a.example:444/",
            "ftp://a.example/",
        ] {
            assert!(!goes_along(&base, &resolve(&base, bad).unwrap()), "{bad}");
        }
        assert_eq!(resolve(&base, "//b.example/"), None);
        let safe: Uri = "https://a.example/mcp".parse().unwrap();
        assert!(
            !goes_along(&safe, &"http://a.example/mcp".parse().unwrap()),
            "never back to http"
        );
    }

    #[test]
    fn references_are_read_as_browsers_read_them() {
        let base: Uri = "http://a.example:8080/x/sse?k=1".parse().unwrap();
        for (place, whole) in [
            (
                "/messages?sessionId=1",
                "http://a.example:8080/messages?sessionId=1",
            ),
            (
                "messages?sessionId=1",
                "http://a.example:8080/x/messages?sessionId=1",
            ),
            ("?sessionId=1", "http://a.example:8080/x/sse?sessionId=1"),
            ("m/?t=a:b", "http://a.example:8080/x/m/?t=a:b"),
            ("https://b.example/m", "https://b.example/m"),
        ] {
            assert_eq!(resolve(&base, place).unwrap().to_string(), whole);
        }
        let bare: Uri = "http://a.example".parse().unwrap();
        assert_eq!(resolve(&bare, "m").unwrap(), "http://a.example/m");
        assert_eq!(resolve(&base, ""), None);
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        assert_eq!(excerpt(b"<html>\x1b[2J\n</html>"), "<html> [2J </html>");
        assert_eq!(excerpt(&[b'x'; 1000]).len(), 200);
    }
}
