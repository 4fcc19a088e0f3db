use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Inspect, call and serve Model Context Protocol tools.
#[derive(Debug, Parser)]
#[command(name = "mcp", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The servers to use. Else mcp-host.json, .mcp.json, mcp.json or .vscode/mcp.json, here or above
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Agree to start what is in a configuration that was found rather than named
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// Print every message on standard error, secrets masked
    #[arg(long, global = true)]
    pub(crate) trace: bool,
    /// Print logs and the servers' standard error
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools of all servers
    Tools {
        /// Only this server
        #[arg(long, short, value_name = "NAME")]
        server: Option<String>,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Call a tool by its name in `mcp tools`
    Call {
        /// Such as mcp__workspace__read_file
        name: String,
        /// A JSON object, @FILE, or - for standard input. No arguments if left out
        #[arg(value_name = "JSON|@FILE|-")]
        arguments: Option<String>,
        /// Start only this server
        #[arg(long, short, value_name = "NAME")]
        server: Option<String>,
        /// The whole result as one JSON document
        #[arg(long)]
        json: bool,
    },
    /// List the resources and templates of all servers
    Resources {
        /// Only this server
        #[arg(long, short, value_name = "NAME")]
        server: Option<String>,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Read a resource
    Read {
        /// Its URI
        uri: String,
        /// From this server
        #[arg(long, short, value_name = "NAME")]
        server: Option<String>,
        /// The whole result as one JSON document
        #[arg(long)]
        json: bool,
    },
    /// List the prompts of all servers
    Prompts {
        /// Only this server
        #[arg(long, short, value_name = "NAME")]
        server: Option<String>,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Fill a prompt in
    Prompt {
        /// Its name in `mcp prompts`
        name: String,
        /// What to fill in
        #[arg(value_name = "KEY=VALUE")]
        values: Vec<String>,
        /// From this server
        #[arg(long, short, value_name = "NAME")]
        server: Option<String>,
        /// The whole result as one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Serve the files of a folder on standard input and output, or over HTTP
    Serve {
        /// The folder
        #[arg(long, default_value = ".", value_name = "DIR")]
        root: PathBuf,
        /// Offer tools that write, too
        #[arg(long)]
        allow_write: bool,
        /// Serve over HTTP at this address, such as 127.0.0.1:8080; port 0 takes a free one
        #[arg(long, value_name = "ADDR")]
        http: Option<SocketAddr>,
        /// Also serve HTTP+SSE, the transport of 2024-11-05, at /sse
        #[arg(long, requires = "http")]
        sse: bool,
        /// Also take HTTP requests for this host
        #[arg(long, value_name = "HOST", requires = "http")]
        allow_host: Vec<String>,
        /// Also take HTTP requests from pages of this origin
        #[arg(long, value_name = "ORIGIN", requires = "http")]
        allow_origin: Vec<String>,
    },
    /// Connect to one server and show what it has
    Inspect(Inspect),
    /// Show the configuration as it is understood; starts nothing
    Config {
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Start a sample server, list its tools and call one
    Demo,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Speak only this revision, such as 2025-11-25
    #[arg(long, value_name = "REVISION")]
    pub(crate) protocol: Option<String>,
    /// Call this tool with these arguments, too
    #[arg(long, num_args = 2, value_names = ["NAME", "JSON"])]
    pub(crate) call: Option<Vec<String>>,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// The server's URL
    #[arg(
        value_name = "URL",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    pub(crate) url: Option<String>,
    /// Send this header with every request to the URL, as `name: value`
    #[arg(long, value_name = "HEADER", requires = "url")]
    pub(crate) header: Vec<String>,
    /// The program to start and its arguments, after --
    #[arg(last = true, value_name = "COMMAND ARGS")]
    pub(crate) command: Vec<OsString>,
}
