//! Files of the described machine: contents by path, directories explicit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A tree of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<PathBuf, Vec<u8>>,
    directories: BTreeSet<PathBuf>,
}

impl Tree {
    /// Puts a file; the directories above it come with it.
    pub fn put(&mut self, path: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) {
        let path = path.into();
        if let Some(parent) = path.parent() {
            self.put_directory(parent);
        }
        self.files.insert(path, contents.into());
    }

    /// Puts a directory, and those above it.
    pub fn put_directory(&mut self, path: &Path) {
        for directory in path.ancestors() {
            self.directories.insert(directory.into());
        }
    }

    /// Takes a file or a directory with all that is in it.
    pub fn remove(&mut self, path: &Path) {
        self.files.retain(|file, _| !file.starts_with(path));
        self.directories.retain(|directory| !directory.starts_with(path));
    }

    /// A file's contents.
    #[must_use]
    pub fn file(&self, path: &Path) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// The names in a directory, in order.
    #[must_use]
    pub fn list(&self, path: &Path) -> Option<Vec<String>> {
        if !self.directories.contains(path) {
            return None;
        }
        let mut names: Vec<String> = self
            .files
            .keys()
            .chain(&self.directories)
            .filter(|entry| entry.parent() == Some(path))
            .filter_map(|entry| Some(entry.file_name()?.to_string_lossy().into_owned()))
            .collect();
        names.sort_unstable();
        Some(names)
    }

    /// Every file.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files
            .iter()
            .map(|(path, contents)| (path.as_path(), contents.as_slice()))
    }

    /// Every directory.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(PathBuf::as_path)
    }

    /// Reads a directory of the real file system to a place in the tree.
    ///
    /// # Errors
    ///
    /// What reading says.
    pub fn load(&mut self, from: &Path, to: &Path) -> std::io::Result<()> {
        self.put_directory(to);
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            let to = to.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                self.load(&entry.path(), &to)?;
            } else {
                self.put(to, std::fs::read(entry.path())?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_brings_its_directories_and_a_removal_takes_all_below() {
        let mut tree = Tree::default();
        tree.put("/sys/a/b", "1");
        tree.put("/sys/a/c/d", "2");
        assert_eq!(tree.list(Path::new("/sys/a")).unwrap(), ["b", "c"]);
        tree.remove(Path::new("/sys/a/c"));
        assert_eq!(tree.list(Path::new("/sys/a")).unwrap(), ["b"]);
        assert_eq!(tree.list(Path::new("/sys/a/c")), None);
    }
}
