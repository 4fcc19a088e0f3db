//! The layer `lesson`: the outputs that the lesson prints, made by our crates.
//!
//! Each example is a file beside the code ([`example`] says how it is written): what goes in, the lines that the lesson
//! prints, and named exceptions with their reasons. A line that holds a JSON-RPC message is compared as JSON, any other
//! byte for byte. Servers of the demos are small programs over our public API; where a demo breaks the specification, a
//! scripted peer plays it.

mod bridge;
mod compare;
mod echo;
mod example;
mod features;
mod handshake;
mod host;
mod http;
mod messages;
mod notifications;
mod tiny;
mod wire;

#[cfg(test)]
mod tests;

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use mcp_types::Revision;

pub use echo::echo_server;
use example::Example;

use super::Outcome;

/// How long one example may take.
const PATIENCE: Duration = Duration::from_secs(60);

type Trouble = Box<dyn Error + Send + Sync>;

/// What an example prints, or why it did not get there.
type Lines = Result<Vec<String>, Trouble>;

/// The lines of the input.
type Input = Vec<&'static str>;

/// Plays an example in a revision.
type Play = fn(Input, Revision) -> Pin<Box<dyn Future<Output = Lines>>>;

/// A file, and what plays it.
macro_rules! examples {
    ($($file:literal $play:path,)*) => {
        [$((
            include_str!(concat!("../../../conformance/lesson/", $file, ".md")),
            (|input, revision| Box::pin($play(input, revision))) as Play,
        )),*]
    };
}

const EXAMPLES: [(&str, Play); 13] = examples! {
    "ex01" messages::kinds,
    "ex02" messages::framing,
    "ex03" handshake::handshake,
    "ex04" messages::shapes,
    "ex05" tiny::server,
    "ex06" tiny::client,
    "ex07" features::features,
    "ex08" notifications::notifications,
    "ex09" http::requests,
    "ex10" bridge::names,
    "ex12" host::own_tools,
    "ex13" host::process,
    "ex14" bridge::joined,
};

/// Runs every example, in each of its revisions. One outcome a line.
///
/// Blocks, and has a runtime of its own for each example.
pub fn run() -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (text, play) in EXAMPLES {
        match Example::parse(text) {
            Ok(example) => {
                for revision in example.revisions() {
                    let ours = perform(play, example.input(), revision);
                    outcomes.extend(compare::outcomes(&example, revision, ours));
                }
            }
            Err(why) => outcomes.push(compare::broken(text, &why)),
        }
    }
    outcomes
}

fn perform(play: Play, input: Input, revision: Option<Revision>) -> Lines {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let playing = play(input, revision.unwrap_or(Revision::LATEST_HANDSHAKE));
        match tokio::time::timeout(PATIENCE, playing).await {
            Ok(lines) => lines,
            Err(_) => Err(format!("it took longer than {PATIENCE:?}").into()),
        }
    })
}
