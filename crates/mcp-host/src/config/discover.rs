use std::path::{Path, PathBuf};

/// Looked for in every folder, in this order.
const NAMES: [&str; 4] = ["mcp-host.json", ".mcp.json", "mcp.json", ".vscode/mcp.json"];

/// Folders of one host inside a project; the project is the folder above.
const HOST_FOLDERS: [&str; 11] = [
    ".amazonq",
    ".codex",
    ".continue",
    ".cursor",
    ".gemini",
    ".github",
    ".junie",
    ".kiro",
    ".openhands",
    ".roo",
    ".vscode",
];

/// Finds the configuration file nearest to `from`, in that folder or one above it. Reads nothing.
///
/// A file found this way was not named by the user: nothing of it should run before the user agreed.
pub fn discover(from: impl AsRef<Path>) -> Option<PathBuf> {
    let from = std::path::absolute(from).ok()?;
    from.ancestors()
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// The folder relative paths of a configuration file start from: its own, or the one above a host's own folder such as
/// `.vscode/`. Never the current directory.
pub fn workspace_root(file: impl AsRef<Path>) -> PathBuf {
    let folder = file.as_ref().parent().unwrap_or(Path::new(""));
    let inside_host_folder = folder
        .ancestors()
        // Such folders may have folders of their own, as `.junie/mcp/`.
        .take(3)
        .find(|folder| {
            folder
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| HOST_FOLDERS.contains(&name))
        });
    inside_host_folder
        .and_then(Path::parent)
        .unwrap_or(folder)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn p180_the_workspace_follows_from_the_place_of_the_file() {
        for (file, want) in [
            ("/a/b/mcp-host.json", "/a/b"),
            ("/a/b/.vscode/mcp.json", "/a/b"),
            ("/a/b/.junie/mcp/mcp.json", "/a/b"),
            ("/mcp.json", "/"),
        ] {
            assert_eq!(workspace_root(file), Path::new(want), "{file}");
        }
    }

    #[test]
    fn the_nearest_file_is_found_upward() {
        let root = std::env::temp_dir().join(format!("mcp-host-discover-{}", std::process::id()));
        let deep = root.join("a/b");
        std::fs::create_dir_all(deep.join(".vscode")).unwrap();
        std::fs::write(root.join("mcp.json"), "{}").unwrap();
        assert_eq!(discover(&deep), Some(root.join("mcp.json")));
        std::fs::write(root.join("a/.mcp.json"), "{}").unwrap();
        assert_eq!(discover(&deep), Some(root.join("a/.mcp.json")));
        std::fs::write(deep.join(".vscode/mcp.json"), "{}").unwrap();
        assert_eq!(discover(&deep), Some(deep.join(".vscode/mcp.json")));
        std::fs::write(deep.join("mcp-host.json"), "{}").unwrap();
        assert_eq!(discover(&deep), Some(deep.join("mcp-host.json")));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
