//! The file of a trace, which belongs to one process: another one that is to write to the same name, at the same time or
//! as a forked child, gets a file of its own beside it, whose name ends in its process number.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A file, empty and ours.
#[derive(Debug)]
pub(super) struct OwnFile {
    /// The name that was asked for.
    wanted: PathBuf,
    /// The open file.
    pub(super) file: File,
    /// The process it belongs to.
    process: u32,
}

impl OwnFile {
    /// Makes the file. What an earlier program wrote there is gone.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let file = match claim(path)? {
            Some(file) => file,
            None => claim(&beside(path))?.ok_or_else(|| io::Error::other("another process writes to it"))?,
        };
        Ok(Self {
            wanted: path.to_owned(),
            file,
            process: std::process::id(),
        })
    }

    /// Whether this is the file of a name.
    pub(super) fn is_to(&self, path: &Path) -> bool {
        self.wanted == path
    }

    /// In a forked child, a file of its own.
    pub(super) fn after_fork(&self) -> Option<io::Result<Self>> {
        (self.process != std::process::id()).then(|| {
            let path = beside(&self.wanted);
            let file = claim(&path)?.ok_or_else(|| io::Error::other("another process writes to it"))?;
            Ok(Self {
                wanted: self.wanted.clone(),
                file,
                process: std::process::id(),
            })
        })
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    name.into()
}

/// Opens a file and empties it, unless another process has it.
fn claim(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(path)?;
    // A special file, such as a terminal, is for everybody.
    if file.metadata()?.is_file() {
        if rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        file.set_len(0)?;
    }
    Ok(Some(file))
}
