use std::io::Read;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

use super::error::{Kind, WorkspaceError};
use super::limits::Limits;
use super::path::Inside;

/// A folder that tools may work in, held open.
#[derive(Debug)]
pub struct Workspace {
    pub(super) dir: Dir,
    pub(super) limits: Limits,
    /// The folder as it was named and as it really is; absolute paths may start with either.
    roots: Vec<PathBuf>,
}

impl Workspace {
    /// Opens the folder.
    ///
    /// # Errors
    /// If `root` is not a folder that can be opened.
    pub fn open(root: impl AsRef<Path>, limits: Limits) -> Result<Self, WorkspaceError> {
        let root = root.as_ref();
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(Kind::Open)?;
        let mut roots = vec![std::path::absolute(root).map_err(Kind::Open)?];
        let real = root.canonicalize().map_err(Kind::Open)?;
        if !roots.contains(&real) {
            roots.push(real);
        }
        Ok(Self { dir, limits, roots })
    }

    /// Settles a caller's path on its text alone, and gives it relative to the folder, safe to show. What links do
    /// with it shows only when it is used.
    ///
    /// # Errors
    /// If the path leaves the workspace, is too long, or has characters that hide something.
    pub fn check(&self, path: &str) -> Result<String, WorkspaceError> {
        Ok(self.inside(path)?.shown().to_owned())
    }

    pub(super) fn inside(&self, path: &str) -> Result<Inside, WorkspaceError> {
        Inside::parse(path, &self.roots, &self.limits)
    }

    /// The folder a listing or search starts in.
    pub(super) fn start(&self, path: Option<&str>) -> Result<Inside, WorkspaceError> {
        match path {
            None => Ok(Inside::found(PathBuf::new())),
            Some(path) => self.inside(path),
        }
    }

    /// Opens a regular file. A pipe or device is refused without waiting for its other end, and only after opening,
    /// since the name may change its meaning in between.
    pub(super) fn open_file(&self, inside: &Inside) -> Result<(File, u64), WorkspaceError> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        let failed = |source| WorkspaceError::io(inside.shown(), source);
        let file = self.dir.open_with(inside.as_path(), &options).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Err(Kind::NotAFile {
                path: inside.shown().to_owned(),
            }
            .into());
        }
        Ok((file, meta.len()))
    }

    /// The whole of a regular file within the size limit.
    pub(super) fn bytes_of(&self, inside: &Inside) -> Result<Vec<u8>, WorkspaceError> {
        let (file, size) = self.open_file(inside)?;
        let limit = self.limits.file_bytes;
        let too_large = |size| Kind::TooLarge {
            path: inside.shown().to_owned(),
            size,
            limit,
        };
        if size > limit {
            return Err(too_large(size).into());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        // One more than allowed, because a file can grow after its size was asked for.
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| WorkspaceError::io(inside.shown(), source))?;
        match bytes.len() as u64 {
            read if read > limit => Err(too_large(read).into()),
            _ => Ok(bytes),
        }
    }

    /// A text file as text. Bytes that are not UTF-8, or hold a NUL, make it a binary file.
    pub(super) fn text_of(&self, inside: &Inside) -> Result<String, WorkspaceError> {
        let bytes = self.bytes_of(inside)?;
        let size = bytes.len() as u64;
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(text),
            _ => Err(Kind::Binary {
                path: inside.shown().to_owned(),
                size,
            }
            .into()),
        }
    }
}
