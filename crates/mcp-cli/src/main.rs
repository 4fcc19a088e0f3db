//! The `mcp` command: a thin face on `mcp-host`.
//!
//! Standard output carries results and nothing else; everything for people goes to standard error. Exit codes: 0 done,
//! 1 the operation failed, 2 wrong usage or a configuration that cannot be read, 130 interrupted.

mod args;
mod arguments;
mod ask;
mod commands;
mod config;
mod failure;
mod log;
mod screen;
mod servers;
mod stop;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    // Clap prints what is wrong, or the help, and ends with 2 or 0.
    let cli = Cli::parse();
    let serving = matches!(cli.command, Command::Serve { .. });
    log::start(cli.global.verbose, serving);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(32)
        .build();
    let outcome = match runtime {
        Ok(runtime) => {
            let outcome = runtime.block_on(stop::unless_told_to_stop(run(cli)));
            // A read of a terminal that nobody answers must not keep the command alive.
            runtime.shutdown_background();
            outcome
        }
        Err(error) => Err(Failure::operation(format!("cannot start: {error}"))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.code())
        }
    }
}

async fn run(cli: Cli) -> Result<(), Failure> {
    let Cli { global, command } = cli;
    match command {
        Command::Serve {
            root,
            allow_write,
            http,
            sse,
            allow_host: hosts,
            allow_origin: origins,
        } => {
            let http = http.map(|address| commands::serve::Http {
                address,
                sse,
                hosts,
                origins,
            });
            commands::serve::run(&root, allow_write, http).await
        }
        Command::Inspect(args) => commands::inspect::run(&global, args).await,
        Command::Tools { server, json } => commands::tools::run(&global, server.as_deref(), json).await,
        Command::Call {
            name,
            arguments,
            server,
            json,
        } => commands::call::run(&global, &name, arguments.as_deref(), server.as_deref(), json).await,
        Command::Resources { server, json } => {
            commands::resources::list(&global, server.as_deref(), json).await
        }
        Command::Read { uri, server, json } => {
            commands::resources::read(&global, &uri, server.as_deref(), json).await
        }
        Command::Prompts { server, json } => commands::prompts::list(&global, server.as_deref(), json).await,
        Command::Prompt {
            name,
            values,
            server,
            json,
        } => commands::prompts::fill(&global, &name, &values, server.as_deref(), json).await,
        Command::Config { json } => commands::config::run(&global, json),
        Command::Demo => commands::demo::run(&global).await,
    }
}
