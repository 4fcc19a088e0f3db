//! The layer `lesson`. (Somebody is writing this folder right now: leave it alone and build the other layers beside it;
//! `conformance/mod.rs` is yours to extend.)

use super::Outcome;

/// Runs every example.
pub fn run() -> Vec<Outcome> {
    Vec::new()
}
