//! Finding candidates: files in the places of the search, then built-ins.
//!
//! Inside a directory files come in byte order of their names. The first file of a name wins over
//! later ones; a link to `/dev/null` wins too, and masks them. A file that everybody may write to,
//! or that lies in such a directory, is not trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::builtin::BuiltIn;
use super::candidate::{Candidate, Source};
use super::elf;
use super::facts::Facts;
use super::manifest::Manifest;
use super::reason::Reason;
use super::search::{places, replaces_everything, Place, Roots};
use crate::config::Config;

/// A place that was searched, for the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Searched {
    /// The directory or file.
    pub path: String,
    /// How many manifests were there, or why none could be looked for.
    #[serde(flatten)]
    pub found: Found,
}

/// What a place had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// So many candidates.
    Candidates(usize),
    /// It is not there.
    Absent(bool),
    /// It is there and could not be used.
    Unusable(String),
}

/// What the search found.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    pub(super) candidates: Vec<Candidate>,
    pub(super) searched: Vec<Searched>,
}

/// What a file name leads to first.
enum First {
    File(PathBuf),
    Mask(PathBuf),
}

/// Searches every place and reads every manifest. No library is opened by the dynamic linker.
pub(super) fn discover(roots: &Roots, config: &Config, builtins: &[BuiltIn]) -> Discovery {
    let mut discovery = Discovery::default();
    let mut names = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for place in places(roots, config) {
        let path = place.path();
        // Most places are not there, which is quicker to see than where a path leads.
        let real = path.exists().then(|| path.canonicalize().ok()).flatten();
        if !seen.insert(real.unwrap_or_else(|| path.to_owned())) {
            continue;
        }
        let (path, found) = match place {
            Place::Directory { path, strict } => {
                let found = discovery.directory(&path, strict, &mut names);
                (path, found)
            }
            Place::File(path) => {
                let found = discovery.named_file(&path);
                (path, found)
            }
        };
        discovery.searched.push(Searched {
            path: path.display().to_string(),
            found,
        });
    }
    if !replaces_everything(config) {
        for builtin in builtins {
            discovery.built_in(*builtin, &names);
        }
    }
    discovery
}

impl Discovery {
    fn directory(&mut self, dir: &Path, strict: bool, names: &mut BTreeMap<String, First>) -> Found {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Found::Absent(true),
            Err(error) => return Found::Unusable(error.to_string()),
        };
        let mut files: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_manifest_name(name) || strict && name.ends_with(".toml"))
            .collect();
        files.sort_unstable();
        let before = self.candidates.len();
        for name in files {
            let path = dir.join(&name);
            if is_mask(&path) {
                names.entry(name).or_insert(First::Mask(path));
                continue;
            }
            let mut candidate = match names.get(&name) {
                Some(First::Mask(by)) => ended(&path, &name, Reason::Masked { by: by.clone() }),
                Some(First::File(by)) => ended(&path, &name, Reason::Shadowed { by: by.clone() }),
                None if !is_manifest_name(&name) => {
                    ended(&path, &name, Reason::ManifestName { file: path.clone() })
                }
                None => {
                    names.insert(name.clone(), First::File(path.clone()));
                    from_manifest(&path, &name)
                }
            };
            warn_of_other_name(&mut candidate, &name);
            self.candidates.push(candidate);
        }
        Found::Candidates(self.candidates.len() - before)
    }

    fn named_file(&mut self, path: &Path) -> Found {
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        let is_manifest = path.extension().is_some_and(|extension| extension == "toml");
        self.candidates.push(if is_manifest {
            from_manifest(path, &name)
        } else {
            from_library(path, &name)
        });
        Found::Candidates(1)
    }

    fn built_in(&mut self, builtin: BuiltIn, names: &BTreeMap<String, First>) {
        let mut candidate = Candidate::new(Source::BuiltIn(builtin), builtin.facts.id.to_owned());
        match Facts::of(&builtin.facts) {
            Ok(facts) => {
                if let Some(First::Mask(by)) = names.get(&facts.file_name()) {
                    candidate.end(Reason::Masked { by: by.clone() });
                }
                candidate.facts = Some(facts);
            }
            Err(error) => candidate.end(Reason::WrongHeader {
                message: format!("its version is none: {error}"),
            }),
        }
        self.candidates.push(candidate);
    }
}

fn ended(path: &Path, name: &str, reason: Reason) -> Candidate {
    let source = Source::Manifest {
        manifest: path.to_owned(),
        library: None,
    };
    let mut candidate = Candidate::new(source, id_in_name(name).unwrap_or(name).to_owned());
    candidate.end(reason);
    candidate
}

fn from_manifest(path: &Path, name: &str) -> Candidate {
    let manifest = match trusted(path).and_then(|()| Manifest::read(path)) {
        Ok(manifest) => manifest,
        Err(reason) => return ended(path, name, reason),
    };
    let source = Source::Manifest {
        manifest: path.to_owned(),
        library: Some(manifest.library),
    };
    Candidate {
        warnings: manifest.warnings,
        name: manifest.facts.id.clone(),
        facts: Some(manifest.facts),
        ..Candidate::new(source, String::new())
    }
}

fn from_library(path: &Path, name: &str) -> Candidate {
    let mut candidate = Candidate::new(Source::Library(path.to_owned()), name.to_owned());
    match elf::read_note(path).and_then(|facts| trusted(path).map(|()| facts)) {
        Ok(facts) => {
            candidate.name.clone_from(&facts.id);
            candidate.facts = Some(facts);
        }
        Err(reason) => candidate.end(reason),
    }
    candidate
}

/// Judges the library of a candidate without running it: it is trusted, it is for this machine, and
/// it says what its manifest says.
///
/// # Errors
///
/// Why it cannot be used.
pub(super) fn judge(candidate: &mut Candidate) -> Result<(), Reason> {
    let Some(facts) = &candidate.facts else {
        return Ok(());
    };
    elf::check_facts(facts)?;
    let (Some(library), true) = (candidate.source.library(), candidate.source.manifest().is_some()) else {
        return Ok(());
    };
    let note = elf::read_note(library)?;
    trusted(library)?;
    candidate.warnings.extend(facts.agree_with_note(&note)?);
    Ok(())
}

/// Whether a file and the directory it lies in are closed to everybody's writing.
fn trusted(path: &Path) -> Result<(), Reason> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    for path in [path, parent] {
        let writable = fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o002 != 0);
        if writable {
            return Err(Reason::WorldWritable {
                path: path.to_owned(),
            });
        }
    }
    Ok(())
}

fn is_mask(path: &Path) -> bool {
    fs::read_link(path).is_ok_and(|target| target == Path::new("/dev/null"))
}

/// Whether a file name is `NN-ID.toml`.
fn is_manifest_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() > 8
        && bytes[0].is_ascii_digit()
        && bytes[1].is_ascii_digit()
        && bytes[2] == b'-'
        && name.ends_with(".toml")
}

/// The id in the file name `NN-ID.toml`.
fn id_in_name(name: &str) -> Option<&str> {
    name.get(3..)?
        .strip_suffix(".toml")
        .filter(|_| is_manifest_name(name))
}

/// A file named for another plugin than it describes is found by nobody who looks for it.
fn warn_of_other_name(candidate: &mut Candidate, name: &str) {
    if let (Some(facts), Some(expected)) = (&candidate.facts, id_in_name(name)) {
        if facts.id != expected {
            let remark = format!("the file name says {expected}, and the manifest {}", facts.id);
            candidate.warnings.push(remark);
        }
    }
}
