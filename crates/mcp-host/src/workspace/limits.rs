/// Bounds of every tool. Reaching one is said in the result or in the error, never hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest file that is read, searched, written or edited, in bytes. Default 10 MiB.
    pub file_bytes: u64,
    /// Longest text that one call returns, in bytes. Default 256 KiB.
    pub output_bytes: usize,
    /// Most paths in a listing. Default 10,000.
    pub listed: usize,
    /// Most directory entries looked at in one call. Default 200,000.
    pub visited: usize,
    /// Most folders below each other that a walk enters, or a new file lies in. Default 64.
    pub depth: usize,
    /// Most matching lines of a search. Default 200.
    pub matches: usize,
    /// Most bytes read by one search. Default 256 MiB.
    pub searched_bytes: u64,
    /// Longest path given by a caller, in bytes. Default 4096.
    pub path_bytes: usize,
    /// Names of folders that listings and searches do not enter. Default `.git`.
    pub skipped_folders: Vec<String>,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            file_bytes: 10 * MIB,
            output_bytes: 256 * 1024,
            listed: 10_000,
            visited: 200_000,
            depth: 64,
            matches: 200,
            searched_bytes: 256 * MIB,
            path_bytes: 4096,
            skipped_folders: vec![".git".to_owned()],
        }
    }
}
