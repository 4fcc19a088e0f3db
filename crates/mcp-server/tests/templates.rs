//! URI templates, expanded and matched.

use mcp_server::UriTemplate;
use mcp_types::Map;

fn values(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
    let found = UriTemplate::parse(template).unwrap().matches(uri).unwrap();
    found.map(|map| {
        map.iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect()
    })
}

fn one(template: &str, uri: &str) -> Option<String> {
    values(template, uri)
        .and_then(|all| all.into_iter().next())
        .map(|(_, value)| value)
}

#[test]
fn p152_each_variable_is_decoded_once_and_plus_stays() {
    assert_eq!(
        one("x://i/{a}", "x://i/%C2%A7%20a+b").as_deref(),
        Some("\u{a7} a+b")
    );
    assert_eq!(one("x://i/{a}", "x://i/%2520").as_deref(), Some("%20"));
    assert!(
        UriTemplate::parse("x://i/{a}")
            .unwrap()
            .matches("x://i/%zz")
            .is_err()
    );
    assert!(
        UriTemplate::parse("x://i/{a}")
            .unwrap()
            .matches("x://i/%ff")
            .is_err()
    );
}

#[test]
fn p153_literals_match_raw_and_encoded() {
    assert_eq!(
        one("file:///caf\u{e9}/{n}", "file:///caf%C3%A9/a").as_deref(),
        Some("a")
    );
    assert_eq!(
        one("file:///caf%C3%A9/{n}", "file:///caf\u{e9}/a").as_deref(),
        Some("a")
    );
}

#[test]
fn p154_levels_1_to_3_expand_and_match() {
    let mut all = Map::new();
    all.insert("a", "x y".to_owned());
    all.insert("b", "1/2".to_owned());
    for (template, uri) in [
        ("s://{a}", "s://x%20y"),
        ("s://{+b}", "s://1/2"),
        ("s://p{/a,b}", "s://p/x%20y/1%2F2"),
        ("s://p{?a,b}", "s://p?a=x%20y&b=1%2F2"),
        ("s://p{#b}", "s://p#1/2"),
        ("s://p{.a}", "s://p.x%20y"),
        ("s://p{;a}", "s://p;a=x%20y"),
        ("s://p?z=1{&a}", "s://p?z=1&a=x%20y"),
        ("s://{missing}", "s://"),
    ] {
        let parsed = UriTemplate::parse(template).unwrap();
        assert_eq!(parsed.expand(&all), uri, "{template}");
        if template != "s://{missing}" {
            let found = parsed
                .matches(uri)
                .unwrap()
                .unwrap_or_else(|| panic!("{template}"));
            assert_eq!(parsed.expand(&found), uri, "{template}");
        }
    }
    assert_eq!(one("s://p{?q,page}", "s://p?q=a%20b").as_deref(), Some("a b"));
    assert_eq!(values("s://p{?q}", "s://p").map(|all| all.len()), Some(0));
    assert_eq!(values("s://p{?q}", "s://p?other=1"), None);
    assert_eq!(values("w://a.b/{c}", "w://aXb/c"), None);
}

#[test]
fn p155_many_variables_against_a_long_uri_end_at_once() {
    let template: String = (0..50).map(|n| format!("{{v{n}}}")).collect();
    let uri = format!("x://{}", "a".repeat(8000));
    assert_eq!(values(&format!("x://{template}!"), &uri), None);
    assert_eq!(values("x://{a}", &format!("x://{}", "a".repeat(9000))), None);
}

#[test]
fn a_simple_variable_stays_in_its_segment() {
    assert_eq!(values("notes://{name}", "notes://a/b"), None);
    assert_eq!(one("notes://{+path}", "notes://a/b").as_deref(), Some("a/b"));
    assert_eq!(one("t://{id}/data", "t://123/data").as_deref(), Some("123"));
    assert_eq!(values("t://{id}/data", "t:///data"), None);
}

#[test]
fn what_cannot_be_used_is_refused() {
    for bad in ["a{", "a}", "{}", "{a:3}", "{a*}", "{a b}", "{,}"] {
        assert!(UriTemplate::parse(bad).is_err(), "{bad}");
    }
}
