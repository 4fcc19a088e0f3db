//! Example 3: the handshake, from both ends.

use mcp_client::Client;
use mcp_server::{BuildError, Server};
use mcp_stdio::Options;
use mcp_types::{Revision, Revisions};
use serde_json::Value;

use super::wire::{Log, Spoken, after, join};
use super::{Input, Lines, Trouble};

fn notes_server() -> Result<Server, BuildError> {
    Server::builder("notes-server", "1.0.0")
        .instructions("Tools for reading the project's notes.")
        .dynamic_tools()
        .build()
}

pub(super) async fn handshake(input: Input, _: Revision) -> Lines {
    let [first, features, older, line, stand_in] = input[..] else {
        return Err("five lines are wanted".into());
    };
    let mut out = Vec::new();
    let (client, log) = connected(after("offer", first)?).await?;
    let messages = log.all();
    let [asked, answered, initialized] = &messages[..] else {
        return Err(format!("three messages make a handshake: {messages:?}").into());
    };
    let goes_on = format!("client: continue with {}", client.revision());
    out.extend([asked.clone(), answered.clone(), goes_on, initialized.clone()]);

    for feature in after("features", features)?.split(' ') {
        let offers = client.server_capabilities();
        let offered = match feature {
            "tools" => offers.tools.is_some(),
            "resources" => offers.resources.is_some(),
            "prompts" => offers.prompts.is_some(),
            "logging" => offers.logging.is_some(),
            _ => return Err(format!("no feature: {feature}").into()),
        };
        out.push(format!("server offers {feature}: {offered}"));
    }

    let older = after("offer", older)?;
    let (_client, log) = connected(older).await?;
    let answered = log
        .all()
        .get(1)
        .and_then(|line| version(line.trim_start_matches("<- ")));
    let answered = answered.ok_or("the server names no version")?;
    out.push(format!("older client asks {older}, server answers {answered}"));

    let line = after("line", line)?;
    let asked: Value = serde_json::from_str(line)?;
    let asked = asked["params"]["protocolVersion"].as_str().unwrap_or_default();
    let mut server = Spoken::to(notes_server()?);
    let answer = server.say(line).await?.ok_or("the server does not answer")?;
    server.end().await?;
    let answered = version(&answer).ok_or("the server names no version")?;
    let then = decided(&answer, after("stand-in", stand_in)?).await?;
    out.push(format!(
        "client asks {asked}, server answers {answered}, client that knows only {asked}: {then}"
    ));
    Ok(out)
}

/// A client that offers this version and knows those before it, and what was said.
async fn connected(offer: &str) -> Result<(Client, Log), Trouble> {
    let newest = Revision::from_name(offer).ok_or("no such revision")?;
    let log = Log::default();
    let known = Revisions::between(Revision::V2024_10_07, newest);
    let (client, _) = join(notes_server()?, known, Options::default(), log.watching()).await?;
    Ok((client, log))
}

fn version(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    Some(answer["result"]["protocolVersion"].as_str()?.to_owned())
}

/// What a client that knows only this version does with an answer to `initialize`.
async fn decided(answer: &str, only: &str) -> Result<String, Trouble> {
    let only = Revision::from_name(only).ok_or("no such revision")?;
    let (mut peer, (reader, writer)) = mcp_testkit::pair();
    let client = Client::builder("loop", "0.1.0").revisions(only);
    let connecting = tokio::spawn(client.connect(mcp_stdio::streams(reader, writer)));
    let asked = peer.next().await?;
    let result: Value = serde_json::from_str(answer)?;
    peer.answer(&asked, result["result"].clone()).await?;
    match connecting.await? {
        Ok(client) => Ok(format!("continue with {}", client.revision())),
        Err(error) if error.is_negotiation() => match peer.next_line().await? {
            None => Ok(format!(
                "disconnect, cannot speak {}",
                version(answer).unwrap_or_default()
            )),
            Some(line) => Err(format!("the client goes on: {line}").into()),
        },
        Err(error) => Err(error.into()),
    }
}
