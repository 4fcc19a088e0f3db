//! Tasks that cross crates.
fn main() {}
