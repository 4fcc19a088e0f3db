//! Tasks that cross crates: `cargo xtask help` lists them.

mod bench;
mod conformance;
mod interop;
// Its tests use the rest.
#[allow(dead_code)]
mod schema;
mod suite;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask VERB

  test         every crate's tests by itself, then other implementations where Node.js or Python are found
  conformance  the protocol in every revision, as one table   [--layer NAME]... [--json FILE]
  interop      real peers over stdio, in both directions      [--peer NAME]... [--revision REV]...
  schema       messages and types against the published JSON Schemas    [TRANSCRIPT...]
  deps         crates without IO stay without it
  bench        speed and size as ratios to other crates       [--footprint] [ARGUMENTS of the bench...]
  size         the bench with what the programs weigh
";

fn main() -> ExitCode {
    // Some checks make handlers panic on purpose; a line says enough.
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    let mut args = std::env::args().skip(1);
    let verb = args.next().unwrap_or_default();
    let args: Vec<String> = args.collect();
    let good = match verb.as_str() {
        "test" => suite::test(),
        "conformance" => conformance::run(&args),
        "interop" => return interop::run(&args),
        "__echo-server" => return conformance::lesson::echo_server(),
        "schema" => conformance::schema(&args),
        "deps" => suite::dependencies(),
        "bench" => bench::run(&args),
        "size" => bench::run(&["--footprint".to_owned()]),
        "" | "help" | "--help" => report(Ok(HELP.to_owned())),
        other => report(Err(format!("no verb {other:?}\n\n{HELP}"))),
    };
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn report(outcome: Result<String, String>) -> bool {
    match &outcome {
        Ok(text) => println!("{text}"),
        Err(text) => eprintln!("{text}"),
    }
    outcome.is_ok()
}
