//! What is checked before a body is read: who may call, and in which words.

use http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};

use super::options::Options;

/// The host that a request is for: the header, or the request's own authority where there is none (HTTP/2).
fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    match headers.get(HOST) {
        Some(value) => value.to_str().ok(),
        None => uri.authority().map(http::uri::Authority::as_str),
    }
}

/// Whether a page that was tricked into calling us would be refused: DNS rebinding gives it our address, not our name
/// (2025-11-25: basic/transports, "Security Warning"). The error is for people and names the setting.
pub(crate) fn caller(headers: &HeaderMap, uri: &Uri, options: &Options) -> Result<(), String> {
    let on_list = |host: &str| {
        options
            .allowed_hosts
            .iter()
            .any(|allowed| same_host(host, allowed))
    };
    if let Some(host) = host(headers, uri).filter(|host| !on_list(host)) {
        return Err(format!(
            "Host {host:?} is not allowed; add it with Options::allow_host"
        ));
    }
    let foreign = |origin: &&HeaderValue| allowed_origin(origin, options).is_none();
    if let Some(origin) = headers.get(ORIGIN).filter(foreign) {
        return Err(format!(
            "Origin {origin:?} is not allowed; add it with Options::allow_origin"
        ));
    }
    Ok(())
}

/// The origin, where it is on the list.
pub(crate) fn allowed_origin<'a>(origin: &'a HeaderValue, options: &Options) -> Option<&'a HeaderValue> {
    let text = origin.to_str().ok()?;
    let (scheme, host) = text.split_once("://")?;
    let on_list = options.allowed_origins.iter().any(|allowed| {
        allowed
            .split_once("://")
            .is_some_and(|(known, name)| known.eq_ignore_ascii_case(scheme) && same_host(host, name))
    });
    on_list.then_some(origin)
}

/// Equal without case; a listed host without a port goes with every port.
fn same_host(host: &str, listed: &str) -> bool {
    let (name, _) = split_port(host);
    let (listed_name, listed_port) = split_port(listed);
    if listed_port.is_some() {
        host.eq_ignore_ascii_case(listed)
    } else {
        name.eq_ignore_ascii_case(listed_name)
    }
}

fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port))
            if !name.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') =>
        {
            // An IPv6 address has its colons in brackets.
            if name.contains(':') && !name.ends_with(']') {
                (host, None)
            } else {
                (name, Some(port))
            }
        }
        _ => (host, None),
    }
}

/// Whether the media ranges of `Accept` cover this type: any order, parameters and weights ignored but for `q=0`.
/// A request without the header accepts everything.
pub(crate) fn accepts(headers: &HeaderMap, kind: &str, subtype: &str) -> bool {
    let mut any = false;
    for value in headers.get_all(ACCEPT) {
        any = true;
        let covered = value.to_str().unwrap_or_default().split(',').any(|range| {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default();
            let refused = parts.any(|parameter| {
                parameter.split_once('=').is_some_and(|(name, q)| {
                    name.trim().eq_ignore_ascii_case("q") && q.trim().parse::<f32>().is_ok_and(|q| q <= 0.0)
                })
            });
            let (top, sub) = media.split_once('/').unwrap_or((media, ""));
            let covers = top == "*" && sub == "*"
                || top.eq_ignore_ascii_case(kind) && (sub == "*" || sub.eq_ignore_ascii_case(subtype));
            covers && !refused
        });
        if covered {
            return true;
        }
    }
    !any
}

/// Whether the body is JSON: the media type alone counts, parameters and case do not.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    value
        .split(';')
        .next()
        .is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
}

/// A header's value without the white space around it.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn p106_p107_loopback_goes_with_any_port_and_case_and_nothing_else_does() {
        let options = Options::default().allow_host("mcp.example.com");
        let uri = Uri::from_static("/mcp");
        for good in [
            "localhost",
            "LOCALHOST:3000",
            "[::1]:80",
            "127.0.0.1:1",
            "mcp.example.com:443",
        ] {
            assert!(
                caller(&headers(&[(HOST, good)]), &uri, &options).is_ok(),
                "{good}"
            );
        }
        for bad in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.nip.io:80",
            "::1",
        ] {
            let error = caller(&headers(&[(HOST, bad)]), &uri, &options).unwrap_err();
            assert!(error.contains(bad) && error.contains("allow_host"), "{error}");
        }
        let authority = Uri::from_static("http://evil.example/mcp");
        assert!(caller(&HeaderMap::new(), &authority, &options).is_err());
        let authority = Uri::from_static("http://localhost:3000/mcp");
        assert!(caller(&HeaderMap::new(), &authority, &options).is_ok());
    }

    #[test]
    fn p108_a_foreign_origin_is_refused() {
        let options = Options::default().allow_origin("https://app.example");
        let uri = Uri::from_static("/mcp");
        let with = |origin: &str| caller(&headers(&[(HOST, "localhost"), (ORIGIN, origin)]), &uri, &options);
        assert!(with("http://localhost:5173").is_ok());
        assert!(with("https://app.example").is_ok());
        for bad in [
            "https://evil.example",
            "null",
            "http://app.example",
            "https://localhost.evil.example",
        ] {
            assert!(with(bad).unwrap_err().contains("allow_origin"), "{bad}");
        }
    }

    #[test]
    fn p079_accept_is_read_as_media_ranges() {
        let both = |accept: &str| {
            let headers = headers(&[(ACCEPT, accept)]);
            accepts(&headers, "application", "json") && accepts(&headers, "text", "event-stream")
        };
        assert!(both("*/*"));
        assert!(both("application/json;charset=utf-8, text/event-stream;q=0.9"));
        assert!(both("text/*, application/*"));
        assert!(both("TEXT/event-stream, Application/JSON"));
        assert!(!both("application/json"));
        assert!(!both("text/event-stream"));
        assert!(!both("application/json, text/event-stream;q=0"));
    }

    #[test]
    fn p081_the_media_type_alone_counts() {
        let json = |value: &str| is_json(&headers(&[(CONTENT_TYPE, value)]));
        assert!(json("application/json; charset=utf-8") && json("Application/JSON"));
        assert!(!json("text/plain; x=application/json") && !json(""));
    }
}
