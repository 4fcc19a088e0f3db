//! Writing events.
