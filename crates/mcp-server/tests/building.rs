//! What is wrong with a server shows when it is built, in words that say where.

use mcp_jsonrpc::RawJson;
use mcp_server::{BuildError, Cx, Prompt, Resource, Server, Template, Tool};
use mcp_types::{Map, Revisions};
use schemars::JsonSchema;
use serde::Deserialize;

fn tool(name: &str) -> Tool {
    Tool::new(name, |_cx: Cx| async {})
}

fn raw(name: &str, schema: &str) -> Tool {
    let schema = RawJson::from_text(schema).unwrap();
    Tool::raw(name, schema, |_cx: Cx, _arguments: RawJson| async {})
}

fn template(text: &str) -> Template {
    Template::new(text, "t", |_cx: Cx, _values: Map<String>| async { "" })
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name, |_cx: Cx, _args: Map<String>| async { String::new() })
}

fn resource(uri: &str) -> Resource {
    Resource::new(uri, "r", |_cx: Cx| async { "" })
}

fn error(server: Result<Server, BuildError>) -> String {
    server
        .err()
        .map(|error| error.to_string())
        .unwrap_or_else(|| "it was built".into())
}

#[test]
fn a_name_that_is_not_legal_or_is_there_twice_is_refused() {
    let build = || Server::builder("s", "1");
    for name in ["", "a b", "a/b", "\u{e9}", &"x".repeat(129)] {
        let said = error(build().tool(tool(name)).build());
        assert_eq!(
            said,
            format!("tool {name:?}: a name is 1 to 128 characters of A-Z a-z 0-9 _ . -")
        );
    }
    assert!(
        build()
            .tool(tool("a"))
            .tool(tool("A"))
            .tool(tool("a_b.c-d"))
            .build()
            .is_ok()
    );
    assert_eq!(
        error(build().tools([tool("a"), tool("a")]).build()),
        "tool \"a\" is there twice"
    );
    assert_eq!(
        error(
            build()
                .resource(resource("x:a"))
                .resource(resource("x:a"))
                .build()
        ),
        "resource \"x:a\" is there twice"
    );
    assert_eq!(
        error(build().prompt(prompt("p")).prompt(prompt("p")).build()),
        "prompt \"p\" is there twice"
    );
    assert_eq!(
        error(
            build()
                .template(template("x:{a}"))
                .template(template("x:{a}"))
                .build()
        ),
        "resource template \"x:{a}\" is there twice"
    );
}

#[test]
fn a_uri_or_a_template_that_is_none_is_refused() {
    let build = || Server::builder("s", "1");
    for uri in ["", "notes", "/etc/x", "1x:y", "x:a\nb"] {
        assert!(
            error(build().resource(resource(uri)).build()).contains("a URI begins with a scheme"),
            "{uri:?}"
        );
    }
    for (text, said) in [
        ("x:{a", "'{' without '}'"),
        ("x:a}", "'}' without '{'"),
        ("x:{}", "{} cannot be used"),
        ("x:{a*}", "{a*} cannot be used"),
    ] {
        assert!(
            error(build().template(template(text)).build()).contains(said),
            "{text}"
        );
    }
}

#[test]
fn p118_a_schema_that_cannot_be_one_of_arguments_is_refused() {
    let build = |tool: Tool| Server::builder("s", "1").tool(tool).build();
    for schema in [
        "{}",
        r#"{"type":"string"}"#,
        "true",
        r#"{"type":"object","required":null}"#,
    ] {
        let built = build(raw("t", schema)).err().unwrap();
        assert!(built.is_schema(), "{schema}: {built}");
        assert!(
            built
                .to_string()
                .starts_with("tool \"t\": its input schema cannot be used: "),
            "{built}"
        );
    }
    let same_header = r#"{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#;
    assert!(build(raw("t", same_header)).err().unwrap().is_schema());

    async fn listed(_cx: Cx, _args: Vec<String>) {}
    assert!(build(Tool::new("t", listed)).err().unwrap().is_schema());
}

#[cfg(not(feature = "validate"))]
#[test]
fn a_schema_that_needs_a_validator_asks_for_the_feature() {
    #[derive(Deserialize, JsonSchema)]
    struct Range {
        #[schemars(range(min = 1))]
        #[allow(dead_code)]
        n: i64,
    }
    async fn ranged(_cx: Cx, _args: Range) {}
    for tool in [raw("t", r#"{"type":"object"}"#), Tool::new("t", ranged)] {
        let said = error(Server::builder("s", "1").tool(tool).build());
        assert!(
            said.contains("turn on the feature `validate` of mcp-server"),
            "{said}"
        );
    }
}

#[test]
fn completers_and_arguments_must_fit_what_they_belong_to() {
    let build = || Server::builder("s", "1");
    let none = |_cx: Cx, _what| async { Vec::new() };
    assert_eq!(
        error(build().prompt(prompt("p").complete("a", none)).build()),
        "prompt \"p\" has no argument \"a\" to complete"
    );
    assert_eq!(
        error(build().template(template("x:{b}").complete("a", none)).build()),
        "resource template \"x:{b}\" has no variable \"a\" to complete"
    );
    #[derive(Deserialize, JsonSchema)]
    struct Count {
        #[allow(dead_code)]
        count: u32,
    }
    async fn counted(_cx: Cx, _args: Count) -> String {
        String::new()
    }
    assert_eq!(
        error(build().prompt(Prompt::typed("p", counted)).build()),
        "prompt \"p\": its argument \"count\" is no string"
    );
}

#[test]
fn a_server_serves_something_and_gets_its_state_first() {
    let none: Revisions = std::iter::empty().collect();
    assert_eq!(
        error(Server::builder("s", "1").revisions(none).build()),
        "no revision is served"
    );
    let late = Server::builder("s", "1").tool(tool("t")).state(7).build();
    assert!(
        late.err()
            .unwrap()
            .to_string()
            .starts_with("`state()` comes before what is added")
    );
    let first = Server::builder("s", "1")
        .state(7)
        .tool(Tool::new(
            "t",
            |cx: Cx<i32>| async move { cx.state().to_string() },
        ))
        .build()
        .unwrap();
    assert_eq!(*first.state(), 7);
}
