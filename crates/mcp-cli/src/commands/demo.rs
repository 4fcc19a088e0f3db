use std::path::{Path, PathBuf};

use mcp_host::config::HostConfig;
use mcp_jsonrpc::RawJson;

use crate::args::Global;
use crate::commands::{call, tools};
use crate::failure::Failure;
use crate::screen;
use crate::servers;

/// Where the sample files are, seen from the repository.
const SAMPLES: &str = "samples/workspace";
const FILE: &str = "todo.md";
const TEXT: &str = "# To do\n\n- [ ] try `mcp tools --config FILE` with servers of your own\n";

/// Starts a server as a child process from a configuration, lists its tools by the names a model would see, and calls
/// one. Needs no file and no network.
pub(crate) async fn run(global: &Global) -> Result<(), Failure> {
    let samples = Samples::find()?;
    let config = config(samples.root())?;
    let servers = servers::launch(global, &config).await?;
    let listed = tools::listing(&servers.host().registry().snapshot());
    let arguments = RawJson::encode(&serde_json::json!({ "path": FILE }))
        .map_err(|error| Failure::operation(error.to_string()))?;
    let called = call::call(&servers, "mcp__workspace__read_file", arguments).await;
    servers.verdict()?;
    servers.close().await;
    let result = called?;
    let here = std::env::current_dir().unwrap_or_default();
    let root = samples.root().strip_prefix(here).unwrap_or(samples.root());
    let root = screen::one_line(&root.display().to_string());
    screen::result(&format!(
        "Started as a child process: mcp serve --root {root}\n\nIts tools:\n{listed}\nmcp__workspace__read_file \
         {{\"path\":\"{FILE}\"}} gives:\n{}",
        screen::indented(&call::text_of(&result), 4)
    ))?;
    match result.is_error {
        true => Err(Failure::silent()),
        false => Ok(()),
    }
}

/// The configuration, as a file would have it.
fn config(root: &Path) -> Result<HostConfig, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::operation(format!("this program does not know where it is: {error}")))?;
    let text = serde_json::json!({
        "mcpServers": {
            "workspace": {
                // A `$` in a path would be taken for a variable if a brace followed; such paths are not worth a syntax.
                "command": program.to_string_lossy(),
                "args": ["serve", "--root", root.to_string_lossy()],
            }
        }
    })
    .to_string();
    HostConfig::parse(&text, root.join("demo.json")).map_err(|error| Failure::operation(error.to_string()))
}

/// A folder with a file in it.
enum Samples {
    Repository(PathBuf),
    Made(PathBuf),
}

impl Samples {
    fn find() -> Result<Self, Failure> {
        let here = std::env::current_dir().unwrap_or_default();
        let known = here.ancestors().map(|folder| folder.join(SAMPLES));
        if let Some(root) = known.into_iter().find(|root| root.join(FILE).is_file()) {
            return Ok(Self::Repository(root));
        }
        let root = std::env::temp_dir().join(format!("mcp-demo-{}", std::process::id()));
        let made = std::fs::create_dir(&root).and_then(|()| std::fs::write(root.join(FILE), TEXT));
        made.map_err(|error| Failure::operation(format!("cannot make {}: {error}", root.display())))?;
        Ok(Self::Made(root))
    }

    fn root(&self) -> &Path {
        match self {
            Samples::Repository(root) | Samples::Made(root) => root,
        }
    }
}

impl Drop for Samples {
    fn drop(&mut self) {
        if let Samples::Made(root) = self {
            // Only what was made here. What is left behind lies in the folder for such things.
            let _ = std::fs::remove_file(root.join(FILE));
            let _ = std::fs::remove_dir(root);
        }
    }
}
