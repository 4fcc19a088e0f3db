//! `cargo xtask conformance`: layers of checks, composed into one table.

mod fixture;
pub mod lesson;
mod transcripts;

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

/// Runs the layers that are asked for, or all; prints what failed, one table, and `N passed, N failed`. True where
/// nothing failed.
pub fn run(args: &[String]) -> bool {
    if let [verb, rest @ ..] = args
        && verb == "serve"
    {
        return match transcripts::serve(rest) {
            Ok(()) => true,
            Err(error) => {
                eprintln!("{error}");
                false
            }
        };
    }
    let mut outcomes = lesson::run();
    outcomes.extend(transcripts::run());
    let failed = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
    for outcome in &outcomes {
        if let Some(failure) = &outcome.failure {
            println!("{} {}: {failure}", outcome.layer, outcome.name);
        }
    }
    println!("{} passed, {failed} failed", outcomes.len() - failed);
    failed == 0
}
