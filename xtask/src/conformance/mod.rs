//! `cargo xtask conformance`: layers of checks, composed into one table.
//!
//! - `lesson`: the printed outputs of the lesson's examples.
//! - `vectors`: fixtures through the scanner, the codec, the types and the names.
//! - `transcripts`: dialogues, over each transport in each revision.
//! - `schema`: what our server said in them, against the published schemas, where those are there.
//! - `replay`: handlers that ask, live and replayed.

mod coverage;
mod fixture;
pub mod lesson;
mod replay;
mod report;
mod transcripts;
mod vectors;

use crate::schema::SchemaSet;

/// One check that ran.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// `lesson`, `vectors`, `transcripts`, `replay`, `schema`.
    pub layer: &'static str,
    /// The crate that it is mostly about.
    pub krate: &'static str,
    /// The revision, or the era, or `-`.
    pub revision: String,
    /// `memory`, `stdio`, or `-`.
    pub transport: &'static str,
    /// What was checked.
    pub name: String,
    /// Why it failed: a readable difference.
    pub failure: Option<String>,
}

const LAYERS: [&str; 5] = ["lesson", "vectors", "transcripts", "schema", "replay"];

/// What was asked for.
struct Asked {
    layers: Vec<String>,
    json: Option<String>,
}

impl Asked {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut asked = Self {
            layers: Vec::new(),
            json: None,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let value = args.next().ok_or_else(|| format!("{arg} needs a value"))?;
            match arg.as_str() {
                "--layer" if LAYERS.contains(&value.as_str()) => asked.layers.push(value.clone()),
                "--layer" => return Err(format!("no layer {value:?}; there are {}", LAYERS.join(", "))),
                "--json" => asked.json = Some(value.clone()),
                other => return Err(format!("{other} means nothing here")),
            }
        }
        Ok(asked)
    }

    fn wants(&self, layer: &str) -> bool {
        self.layers.is_empty() || self.layers.iter().any(|asked| asked == layer)
    }
}

/// Runs the layers that are asked for, or all; prints what failed, one table, and `N passed, N failed`. True where
/// nothing failed. `serve NAME` serves a fixture instead: the layers start it as a process.
pub fn run(args: &[String]) -> bool {
    let outcome = match args {
        [verb, rest @ ..] if verb == "serve" => transcripts::serve(rest).map(|()| true),
        _ => Asked::parse(args).and_then(|asked| check(&asked)),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("{error}");
        false
    })
}

/// `cargo xtask schema`: without arguments what our server says in the transcripts, then the published examples and
/// our types; with arguments recorded conversations. True where all of it holds.
pub fn schema(args: &[String]) -> bool {
    if !args.is_empty() {
        return match crate::schema::run(args.to_vec()) {
            Ok(text) => {
                println!("{text}");
                true
            }
            Err(text) => {
                eprintln!("{text}");
                false
            }
        };
    }
    let folder = SchemaSet::default_folder();
    if SchemaSet::load(&folder).is_none() {
        println!("skipped: no published schemas in {}", folder.display());
        return true;
    }
    let asked = Asked {
        layers: vec!["schema".into()],
        json: None,
    };
    let held = check(&asked).unwrap_or_else(|error| {
        eprintln!("{error}");
        false
    });
    // The examples are read and written again by tests of the types, the types are held to the schemas by ours.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tests = [["mcp-types", "examples"], ["xtask", "types"]];
    let passed = tests.map(|[package, test]| {
        let mut command = std::process::Command::new(&cargo);
        command.args(["test", "--quiet", "--package", package, "--test", test]);
        command.status().is_ok_and(|status| status.success())
    });
    held && passed == [true; 2]
}

fn check(asked: &Asked) -> Result<bool, String> {
    let mut outcomes = Vec::new();
    if asked.wants("lesson") {
        outcomes.extend(lesson::run());
    }
    if asked.wants("vectors") {
        outcomes.extend(vectors::run());
    }
    if asked.wants("transcripts") || asked.wants("schema") {
        outcomes.extend(transcripts::run());
    }
    if asked.wants("replay") {
        outcomes.extend(replay::run());
    }
    outcomes.retain(|outcome| asked.wants(outcome.layer));
    let uncovered = if asked.layers.is_empty() {
        coverage::uncovered()
    } else {
        Vec::new()
    };
    print!("{}", report::text(&outcomes, &uncovered));
    if let Some(file) = &asked.json {
        let text = format!("{:#}\n", report::json(&outcomes, &uncovered));
        std::fs::write(file, text).map_err(|error| format!("{file}: {error}"))?;
    }
    let (passed, failed) = report::totals(&outcomes);
    // A run in which nothing was checked proves nothing.
    Ok(failed == 0 && passed > 0)
}
