use super::*;

const AT: &str = "/home/ada/app/mcp-host.json";

fn parse(text: &str) -> HostConfig {
    HostConfig::parse(text, AT).unwrap()
}

fn around() -> Surroundings {
    Surroundings::new("/home/ada/app").with_variables([
        ("HOME", "/home/ada"),
        ("T", "tok"),
        ("ODD", "a$B${C}\"}"),
        ("EMPTY", ""),
        ("B", "not this"),
        ("C", "nor this"),
    ])
}

fn codes(config: &HostConfig) -> Vec<(&'static str, Option<&str>)> {
    config
        .diagnostics
        .iter()
        .map(|found| (found.code.as_str(), found.server.as_deref()))
        .collect()
}

fn stdio(config: &HostConfig, at: usize) -> StdioLaunch {
    match config.servers[at].resolve(&around()).unwrap().0 {
        Launch::Stdio(launch) => launch,
        Launch::Http(_) => panic!("not a program"),
    }
}

/// The value of one argument after filling in, with the rules of the format at this path.
fn filled(source: &str, path: &str, key: &str) -> Result<String, String> {
    let text = serde_json::json!({ key: { "s": { "type": "stdio", "command": "x", "args": [source] } } })
        .to_string();
    let config = HostConfig::parse(&text, path).unwrap();
    match config.servers[0].resolve(&around()) {
        Ok((Launch::Stdio(launch), _)) => Ok(launch.args[0].expose().to_owned()),
        Ok(_) => panic!("not a program"),
        Err(problem) => Err(problem.code.as_str().to_owned()),
    }
}

#[test]
fn p174_p176_references_are_filled_in_once() {
    for (source, want) in [
        ("${T}", Ok("tok")),
        ("${env:T}", Ok("tok")),
        ("Bearer ${T}!", Ok("Bearer tok!")),
        ("${U:-http://localhost:1}/mcp", Ok("http://localhost:1/mcp")),
        ("${env:U:-x}", Ok("x")),
        ("${U:-${T}}", Ok("tok")),
        ("${U:-a${V:-b}c}", Ok("abc")),
        ("${U:-}", Ok("")),
        ("${EMPTY:-x}", Ok("")),
        ("${ODD}", Ok("a$B${C}\"}")),
        ("a$", Ok("a$")),
        ("$T $ ${ ${} ${1} $$", Ok("$T $ ${ ${} ${1} $$")),
        ("${T", Ok("${T")),
        ("${T#x}", Ok("${T#x}")),
        ("$(id)", Ok("$(id)")),
        ("${input:x}", Ok("${input:x}")),
        ("${workspaceFolder}${/}x", Ok("/home/ada/app/x")),
        ("${workspaceFolderBasename}:${userHome}", Ok("app:/home/ada")),
        ("é${T}🙂", Ok("étok🙂")),
        ("${NOPE}", Err("unset-variable")),
    ] {
        let want = want.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(filled(source, AT, "mcpServers"), want, "{source}");
    }
}

#[test]
fn a_hostile_value_is_read_in_one_pass() {
    for piece in ["${", "${A:-", "$", "${}"] {
        let text = piece.repeat(200_000);
        let start = std::time::Instant::now();
        filled(&text, AT, "mcpServers").unwrap();
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{piece}");
    }
}

#[test]
fn every_format_has_its_own_spelling() {
    for (source, want) in [
        ("$T-${T}", Ok("tok-tok")),
        ("$", Ok("$")),
        ("$NOPE.", Ok(".")),
        ("${EMPTY:-x}", Ok("x")),
        ("${NOPE:?give it}", Err("unset-variable")),
        ("$(id)", Err("command-substitution-refused")),
    ] {
        let want = want.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(filled(source, "/p/crush.json", "mcp"), want, "{source}");
    }
    assert_eq!(
        filled("${env:T}${T}", "/p/.vscode/mcp.json", "servers").unwrap(),
        "tok${T}"
    );
    assert_eq!(
        filled("${input:x}", "/p/.vscode/mcp.json", "servers").unwrap_err(),
        "missing-input"
    );
    assert_eq!(
        filled("${env:T}${T}", "/p/.mcp.json", "mcpServers").unwrap(),
        "${env:T}tok"
    );
}

#[test]
fn p175_a_missing_variable_stops_its_server_alone() {
    let config = parse(
        r#"{"mcpServers":{
            "a":{"url":"https://a.example/mcp","headers":{"Authorization":"Bearer ${NOPE}"}},
            "b":{"command":"b"}}}"#,
    );
    assert!(config.diagnostics.is_empty(), "reading looks at no variable");
    let problem = config.servers[0].resolve(&around()).unwrap_err();
    assert_eq!(problem.code, Code::UnsetVariable);
    let text = problem.to_string();
    for part in ["mcp-host.json:2:", "\"a\"", "NOPE", "headers.Authorization"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(config.servers[0].variables(), ["NOPE"]);
    assert_eq!(stdio(&config, 1).command.expose(), "b");
}

#[test]
fn p177_faults_have_line_and_column() {
    for (text, line, column) in [
        ("{\n  \"mcpServers\": {\n    \"a\" {}\n  }\n}", 3, 9),
        ("{\"mcpServers\": {}} {}", 1, 20),
        ("{mcpServers: {}}", 1, 2),
        ("{\"é\": 1, \"mcpServers\": [}", 1, 25),
        ("", 1, 1),
        ("[]", 1, 1),
        ("{\"mcpServers\": []}", 1, 16),
        ("{'mcpServers': {}}", 1, 2),
    ] {
        let error = HostConfig::parse(text, AT).unwrap_err();
        assert!(error.is_parse());
        assert_eq!(error.position(), Some((line, column)), "{text}: {error}");
        assert!(error.to_string().starts_with(&format!("{AT}:{line}:{column}: ")));
    }
    let config = parse(
        "\u{feff}// x\n{ /* y */ \"mcpServers\": { \"a\": { \"command\": \"c\", \"args\": [\"1\",], }, }, }",
    );
    assert_eq!(stdio(&config, 0).args.len(), 1);
    assert!(
        HostConfig::parse(&"[".repeat(100_000), AT).is_err(),
        "depth is bounded"
    );
}

#[test]
fn p178_a_bad_entry_leaves_the_others() {
    let config = parse(
        r#"{"mcpServers":{
            "none":{},
            "typo":{"comand":"x"},
            "both":{"command":"x","url":"https://x"},
            "ws":{"type":"ws","url":"wss://x"},
            "list":{"command":["a","b"]},
            "args":{"command":"x","args":"-y"},
            "env":{"command":"x","env":{"A":["b"]}},
            "off":{"command":"x","disabled":"yes"},
            "text":"x",
            "header":{"url":"https://x","headers":{"a b":"c"}},
            "kind":{"type":"stdio","url":"https://x"},
            "time":{"command":"x","timeout":-1},
            "good":{"command":"x"}}}"#,
    );
    let found: Vec<_> = config
        .servers
        .iter()
        .map(|spec| {
            (
                spec.name.as_str(),
                spec.transport.as_ref().err().map(|problem| problem.code.as_str()),
            )
        })
        .collect();
    let bad = Some("bad-value");
    let missing = Some("missing-endpoint");
    assert_eq!(
        found,
        [
            ("none", missing),
            ("typo", missing),
            ("both", Some("mixed-transport")),
            ("ws", Some("unsupported-transport")),
            ("list", bad),
            ("args", bad),
            ("env", bad),
            ("off", bad),
            ("text", bad),
            ("header", bad),
            ("kind", missing),
            ("time", bad),
            ("good", None),
        ]
    );
    let typo = config.servers[1].transport.as_ref().unwrap_err().to_string();
    assert!(
        typo.contains("did you mean \"command\" instead of \"comand\"?"),
        "{typo}"
    );
    assert!(codes(&config).contains(&("unknown-field", Some("typo"))));
}

#[test]
fn p179_p180_paths_start_at_home_or_at_the_workspace() {
    let config = parse(
        r#"{"mcpServers":{
            "a":{"command":"./bin/s","cwd":"sub"},
            "b":{"command":"~/bin/s","cwd":"~/x","env_file":".env"},
            "c":{"command":"npx","args":["~/kept","./kept"]}}}"#,
    );
    let a = stdio(&config, 0);
    assert_eq!(
        (a.command.expose(), a.cwd.as_deref()),
        ("/home/ada/app/bin/s", Some(Path::new("/home/ada/app/sub")))
    );
    let b = stdio(&config, 1);
    assert_eq!(
        (b.command.expose(), b.cwd.as_deref()),
        ("/home/ada/bin/s", Some(Path::new("/home/ada/x")))
    );
    assert_eq!(b.env_file.as_deref(), Some(Path::new("/home/ada/app/.env")));
    let c = stdio(&config, 2);
    assert_eq!(c.command.expose(), "npx");
    assert_eq!([c.args[0].expose(), c.args[1].expose()], ["~/kept", "./kept"]);
}

#[test]
fn p182_spellings_and_types() {
    for kind in ["http", "streamable-http", "streamableHttp"] {
        let config = parse(&format!(
            r#"{{"mcpServers":{{"s":{{"type":"{kind}","url":"https://x"}}}}}}"#
        ));
        let Ok(Transport::Http(http)) = &config.servers[0].transport else {
            panic!("{kind}")
        };
        assert_eq!(http.mode, RemoteMode::StreamableHttp);
    }
    let config = HostConfig::parse(r#"{"servers":{"s":{"url":"https://x"}}}"#, "/w/some.json").unwrap();
    assert_eq!(config.format, Format::VsCode);
    let Ok(Transport::Http(http)) = &config.servers[0].transport else {
        panic!()
    };
    assert_eq!(http.mode, RemoteMode::Auto);

    let config = HostConfig::parse(r#"{"s":{"command":"x"}}"#, "/w/some.json").unwrap();
    assert_eq!((config.format, config.servers.len()), (Format::Native, 1));
    let config = HostConfig::parse(r#"{"mcpServers":{"s":{"command":"x"}}}"#, "/w/.vscode/mcp.json").unwrap();
    assert_eq!(
        (config.format, codes(&config)),
        (Format::VsCode, vec![("wrong-top-key", None)])
    );
    assert_eq!(config.workspace, Path::new("/w"));
    let config = parse("{}");
    assert_eq!(codes(&config), [("no-servers", None)]);
}

#[test]
fn odd_things_are_warned_about() {
    let config = parse(
        r#"{"mcpServers":{
            "t":{"command":"npx -y thing","timeout":30000,"disabledTools":["a"]},
            "t":{"command":"npx -y thing","timeout":30000,"disabledTools":["a"],"env":{"A":1,"A":true}},
            "u":{"command":"~/My Tools/x","timeout":1.5}}}"#,
    );
    let t = Some("t");
    let mut found = codes(&config);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("command-has-spaces", t),
            ("duplicate-key", None),
            ("duplicate-key", t),
            ("foreign-field", t),
            ("timeout-unit-guessed", t),
        ]
    );
    assert_eq!(config.servers.len(), 2);
    assert_eq!(
        config.servers[0].timeouts.call,
        Some(std::time::Duration::from_secs(30))
    );
    assert_eq!(
        config.servers[1].timeouts.call,
        Some(std::time::Duration::from_millis(1500))
    );
    assert_eq!(stdio(&config, 0).env[0].1.expose(), "true");
}

#[test]
fn p173_nothing_printed_holds_a_secret() {
    let config = parse(
        r#"{"mcpServers":{"s":{"command":"x","args":["--key","literal-1"],"env":{"K":"literal-2 ${T}"}},
            "h":{"url":"https://x","headers":{"A":"literal-3"}}}}"#,
    );
    let mut printed = format!("{config:?}");
    for spec in &config.servers {
        printed.push_str(&format!("{:?}", spec.resolve(&around()).unwrap()));
    }
    assert!(
        !printed.contains("literal") && !printed.contains("tok"),
        "{printed}"
    );
    assert!(printed.contains("${T}"), "references are shown: {printed}");
}

#[test]
fn a_header_cannot_smuggle_another() {
    let config =
        parse(r#"{"mcpServers":{"h":{"url":"https://x","headers":{"A":"b${N}"}},"f":{"url":"file:///x"}}}"#);
    let around = Surroundings::new("/w").with_variables([("N", "\r\nB: c")]);
    assert_eq!(
        config.servers[0].resolve(&around).unwrap_err().code,
        Code::BadValue
    );
    assert_eq!(
        config.servers[1].resolve(&around).unwrap_err().code,
        Code::BadValue
    );
}

#[test]
fn a_file_is_loaded_with_its_env_file() {
    let folder = std::env::temp_dir().join(format!("mcp-host-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mcp-host.json");
    std::fs::write(
        &path,
        r#"{"mcpServers":{"s":{"command":"x","env_file":".env","env":{"A":"config","GONE":null}}}}"#,
    )
    .unwrap();
    let config = HostConfig::load(&path).unwrap();
    let Ok((Launch::Stdio(launch), _)) = config.servers[0].resolve(&Surroundings::new(&config.workspace))
    else {
        panic!("not a program")
    };
    assert!(launch.merged_env().unwrap_err().is_not_found());
    std::fs::write(folder.join(".env"), "A=file\nB=file\nGONE=file\n").unwrap();
    let env: Vec<_> = launch
        .merged_env()
        .unwrap()
        .into_iter()
        .map(|(name, value)| (name, value.expose().to_owned()))
        .collect();
    assert_eq!(
        env,
        [("B", "file"), ("A", "config")].map(|(n, v)| (n.to_owned(), v.to_owned()))
    );
    assert!(
        HostConfig::load(folder.join("none.json"))
            .unwrap_err()
            .is_not_found()
    );
    assert!(HostConfig::load(&folder).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}
