//! Which configuration to use, and whether its programs may start.

use mcp_host::config::{HostConfig, ServerSpec, Severity, Transport, discover};

use crate::args::Global;
use crate::failure::Failure;
use crate::screen;

/// A configuration, and whether the user named it.
pub(crate) struct Loaded {
    pub(crate) config: HostConfig,
    pub(crate) named: bool,
}

/// Reads the file that was named, or the nearest one.
pub(crate) fn load(global: &Global) -> Result<Loaded, Failure> {
    let (path, named) = match &global.config {
        Some(path) => (path.clone(), true),
        None => (found()?, false),
    };
    let config = HostConfig::load(&path).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Loaded { config, named })
}

fn found() -> Result<std::path::PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current folder cannot be used: {error}")))?;
    discover(&here).ok_or_else(|| {
        Failure::usage(
            "no configuration: there is no mcp-host.json, .mcp.json, mcp.json or .vscode/mcp.json here or above.\n  \
             Name one with --config FILE, or try `mcp demo`, which needs none.",
        )
    })
}

impl Loaded {
    /// Tells the user what was noticed: about the file, and all servers or one. Errors of an entry are told when it
    /// does not start.
    pub(crate) fn warn(&self, only: Option<&str>) {
        for found in &self.config.diagnostics {
            let concerns = only.is_none() || found.server.is_none() || found.server.as_deref() == only;
            if concerns && found.severity == Severity::Warning {
                screen::note(&found.to_string());
            }
        }
    }

    /// A configuration that was found may have come with a folder of somebody else: nothing in it starts, connects or
    /// reads variables before the user agreed (P183).
    pub(crate) fn demand_consent(&self, global: &Global) -> Result<(), Failure> {
        if self.named || global.yes {
            return Ok(());
        }
        let mut text = format!(
            "{} was found, not named, so nothing in it runs yet. It would start:\n",
            self.config.path.display()
        );
        for spec in self.config.servers.iter().filter(|spec| !spec.disabled) {
            text.push_str(&format!(
                "  {}: {}\n",
                screen::one_line(&spec.name),
                what_starts(spec)
            ));
        }
        text.push_str("Agree this once with --yes, or name the file: --config ");
        text.push_str(&self.config.path.display().to_string());
        Err(Failure::usage(text))
    }
}

/// The exact command, as written in the file; of variables only the names.
pub(crate) fn what_starts(spec: &ServerSpec) -> String {
    match &spec.transport {
        Ok(Transport::Stdio(stdio)) => {
            let mut words = vec![word(stdio.command.source())];
            words.extend(stdio.args.iter().map(|arg| word(arg.source())));
            if !stdio.env.is_empty() {
                let names: Vec<&str> = stdio.env.iter().map(|(name, _)| name.as_str()).collect();
                words.push(format!("(sets {})", screen::one_line(&names.join(", "))));
            }
            words.join(" ")
        }
        Ok(Transport::Http(http)) => format!("connects to {}", screen::one_line(http.url.source())),
        Ok(_) => "a transport that this version does not know".to_owned(),
        Err(problem) => format!("nothing: {}", screen::one_line(&problem.message)),
    }
}

/// In quotes where spaces would mislead.
fn word(text: &str) -> String {
    match text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == '"') {
        true => format!("{:?}", text),
        false => screen::one_line(text),
    }
}
