//! A folder for one test, removed with the value.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Limits, Workspace};

pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "mcp-host-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let root = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&root).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(root)
    }

    pub(super) fn root(&self) -> &Path {
        &self.0
    }

    pub(super) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.join(path)).unwrap()
    }

    pub(super) fn workspace(&self) -> Workspace {
        Workspace::open(&self.0, Limits::default()).unwrap()
    }

    pub(super) fn with(&self, change: impl FnOnce(&mut Limits)) -> Workspace {
        let mut limits = Limits::default();
        change(&mut limits);
        Workspace::open(&self.0, limits).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
