//! Our own stdin and stdout, polled where the system allows it.
//!
//! `tokio::io::stdin` hands every read to a thread, which costs more than the rest of a small call. A pipe or a
//! socket (some hosts give their servers sockets) can be polled directly; terminals and files go through the
//! threads. So does what is the same file as stderr: making that non-blocking would let log lines fail.

use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) type Reader = Pin<Box<dyn AsyncRead + Send>>;
pub(crate) type Writer = Pin<Box<dyn AsyncWrite + Send>>;

#[cfg(unix)]
mod unix {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    use super::{Reader, Writer};

    /// Whether stderr is this file.
    fn is_stderr(file: &Metadata) -> bool {
        open(io::stderr()).is_ok_and(|(_, stderr)| (stderr.dev(), stderr.ino()) == (file.dev(), file.ino()))
    }

    fn open(fd: impl AsFd) -> io::Result<(File, Metadata)> {
        let file = File::from(fd.as_fd().try_clone_to_owned()?);
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    fn socket(file: File) -> io::Result<UnixStream> {
        let stream = std::os::unix::net::UnixStream::from(OwnedFd::from(file));
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    }

    pub(super) fn input() -> io::Result<Option<Reader>> {
        let (file, metadata) = open(io::stdin())?;
        if is_stderr(&metadata) {
            return Ok(None);
        }
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return Ok(pipe::Receiver::from_file(file)
                .ok()
                .map(|pipe| Box::pin(pipe) as Reader));
        }
        if kind.is_socket() {
            // A socket of another family cannot be polled as this one; the threads can read it.
            return Ok(socket(file).ok().map(|socket| Box::pin(socket) as Reader));
        }
        Ok(None)
    }

    pub(super) fn output() -> io::Result<Option<Writer>> {
        let (file, metadata) = open(io::stdout())?;
        if is_stderr(&metadata) {
            return Ok(None);
        }
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return Ok(pipe::Sender::from_file(file)
                .ok()
                .map(|pipe| Box::pin(pipe) as Writer));
        }
        if kind.is_socket() {
            return Ok(socket(file).ok().map(|socket| Box::pin(socket) as Writer));
        }
        Ok(None)
    }
}

/// Our stdin.
pub(crate) fn input() -> io::Result<Reader> {
    #[cfg(unix)]
    if let Some(polled) = unix::input()? {
        return Ok(polled);
    }
    Ok(Box::pin(tokio::io::stdin()))
}

/// Our stdout.
pub(crate) fn output() -> io::Result<Writer> {
    #[cfg(unix)]
    if let Some(polled) = unix::output()? {
        return Ok(polled);
    }
    Ok(Box::pin(tokio::io::stdout()))
}
