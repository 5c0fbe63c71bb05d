//! The directory of kept results: a file each, named by the key.
//!
//! A file has no name while it is written (`O_TMPFILE`), so it is complete or not there, whenever the program is killed,
//! and two programs that compile the same do not meet. File systems without that (NFS) get one of another name first, which
//! ages with the others if the program is killed then. Reading a file makes it young; when all together are over a limit,
//! the oldest go.

use crate::entry::{self, Object};
use rustix::fs::{self, AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The variable that names the directory.
const VARIABLE: &str = "HANSA_COMPILE_CACHE";

/// Bytes of all files together.
const LIMIT: u64 = 64 << 20;

/// Why nothing can be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("it cannot be used: {0}")]
    Io(#[from] io::Error),
    #[error("it belongs to user {0}, and code is taken from nobody else")]
    Foreign(u32),
}

/// A directory of kept results.
#[derive(Debug)]
pub(crate) struct Store {
    directory: PathBuf,
    limit: u64,
}

impl Store {
    /// That of the environment: an absolute path.
    pub(crate) fn of_environment() -> Option<Self> {
        let directory = PathBuf::from(std::env::var_os(VARIABLE)?);
        directory.is_absolute().then_some(Self {
            directory,
            limit: LIMIT,
        })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// What is kept under a name; nothing if that is damaged.
    pub(crate) fn get(&self, name: &str) -> Option<Vec<Object>> {
        self.check().ok()?;
        let mut file = File::open(self.directory.join(name)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let objects = entry::read(&bytes)?;
        let now = Timestamps {
            last_access: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
            last_modification: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_NOW,
            },
        };
        // On a file system that is only read the age stays.
        let _ = fs::futimens(&file, &now);
        Some(objects)
    }

    /// Keeps a result.
    pub(crate) fn put(&self, name: &str, objects: &[Object]) -> Result<(), Error> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)?;
        self.check()?;
        let (path, bytes) = (self.directory.join(name), entry::write(objects));
        self.write_unnamed(&path, &bytes)
            .or_else(|_| write_named(&path, &bytes))?;
        self.make_room()
    }

    fn write_unnamed(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mut file = File::from(fs::open(&self.directory, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(bytes)?;
        // One of that name is damaged, or of a program that was quicker.
        let _ = std::fs::remove_file(path);
        let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
        match fs::linkat(fs::CWD, unnamed, fs::CWD, path, AtFlags::SYMLINK_FOLLOW) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Code is run: nobody else's is taken.
    fn check(&self) -> Result<(), Error> {
        let owner = std::fs::metadata(&self.directory)?.uid();
        if owner == rustix::process::geteuid().as_raw() {
            Ok(())
        } else {
            Err(Error::Foreign(owner))
        }
    }

    /// Takes the oldest files away until all that are left are within the limit.
    fn make_room(&self) -> Result<(), Error> {
        let mut files = Vec::new();
        for file in std::fs::read_dir(&self.directory)? {
            let file = file?;
            if let Ok(facts) = file
                .metadata()
                .and_then(|facts| Ok((facts.modified()?, facts.len())))
            {
                files.push((facts, file.path()));
            }
        }
        files.sort_unstable();
        let mut all: u64 = files.iter().map(|((_, bytes), _)| bytes).sum();
        for ((_, bytes), path) in files {
            if all <= self.limit {
                break;
            }
            // Another program may have been quicker.
            let _ = std::fs::remove_file(path);
            all -= bytes;
        }
        Ok(())
    }
}

fn write_named(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let other = path.with_extension(std::process::id().to_string());
    let written = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&other)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&other, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&other);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    /// A directory of this test's own, which goes with it.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("hansa-{name}-{}", std::process::id()));
            Self(path)
        }

        fn store(&self, limit: u64) -> Store {
            Store {
                directory: self.0.join("a/b"),
                limit,
            }
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn result(bytes: usize) -> Vec<Object> {
        vec![Object {
            kind: 6,
            name: c"x".into(),
            data: vec![7; bytes],
        }]
    }

    #[test]
    fn what_was_kept_is_found_and_what_is_damaged_is_not() {
        let scratch = Scratch::new("kept");
        let store = scratch.store(LIMIT);
        assert_eq!(store.get("one"), None);
        store.put("one", &result(100)).unwrap();
        assert_eq!(store.get("one"), Some(result(100)));
        assert_eq!(store.get("two"), None);
        let path = store.directory().join("one");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(store.get("one"), None);
        store.put("one", &result(5)).unwrap();
        assert_eq!(store.get("one"), Some(result(5)));
        // Nothing but the entry is left there, and nobody else can write to it.
        assert_eq!(std::fs::read_dir(store.directory()).unwrap().count(), 1);
        assert_eq!(
            std::fs::metadata(store.directory()).unwrap().mode() & 0o777,
            0o700
        );
    }

    #[test]
    fn a_file_system_without_unnamed_files_keeps_as_well() {
        let scratch = Scratch::new("named");
        let store = scratch.store(LIMIT);
        store.put("one", &result(100)).unwrap();
        let path = store.directory().join("one");
        write_named(&path, &entry::write(&result(7))).unwrap();
        assert_eq!(store.get("one"), Some(result(7)));
        assert!(write_named(&store.directory().join("none/two"), b"").is_err());
        assert_eq!(std::fs::read_dir(store.directory()).unwrap().count(), 1);
    }

    #[test]
    fn the_longest_unused_go_first() {
        let scratch = Scratch::new("room");
        let store = scratch.store(2500);
        for (age, name) in [(30, "old"), (20, "used"), (10, "young")] {
            store.put(name, &result(600)).unwrap();
            let file = File::options()
                .write(true)
                .open(store.directory().join(name))
                .unwrap();
            let time = SystemTime::now() - Duration::from_secs(age * 60);
            file.set_modified(time).unwrap();
        }
        assert!(store.get("old").is_some());
        store.put("new", &result(1000)).unwrap();
        assert_eq!(store.get("used"), None);
        for name in ["old", "young", "new"] {
            assert!(store.get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_an_error() {
        let scratch = Scratch::new("file");
        std::fs::write(&scratch.0, b"").unwrap();
        assert!(matches!(
            scratch.store(LIMIT).put("one", &result(1)),
            Err(Error::Io(_))
        ));
        std::fs::remove_file(&scratch.0).unwrap();
    }
}
