//! Why a plugin serves or does not: one enum, for people and for programs.
//!
//! Every candidate that the search finds ends with one of these. The sentence says what happened,
//! to what, and what to do about it; the code in the JSON form never changes its meaning.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::config::Origin;

/// Where in the life of a plugin something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Looking for its devices.
    Probe,
    /// Making the driver.
    Init,
    /// Opening the devices.
    Open,
    /// Describing the devices.
    Describe,
    /// Making the extension.
    Extension,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Probe => "its probe",
            Self::Init => "making its driver",
            Self::Open => "opening its devices",
            Self::Describe => "describing its devices",
            Self::Extension => "making its extension",
        })
    }
}

/// What a reason means for the runtime's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It serves.
    Loaded,
    /// Somebody, or a rule, chose against it. Nothing is wrong.
    Skipped,
    /// What it is for is not there. Nothing is wrong.
    Absent,
    /// Something is wrong.
    Failed,
}

/// Why a plugin serves or does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Reason {
    /// It serves.
    Loaded {
        /// The devices it has, as its probe names them.
        devices: Vec<String>,
        /// Devices it could serve and another driver has.
        left_to_others: Vec<String>,
    },
    /// A link to `/dev/null` of the same file name stands before it.
    Masked {
        /// The link.
        #[serde(serialize_with = "lossy")]
        by: PathBuf,
    },
    /// A file of the same name stands before it.
    Shadowed {
        /// The file.
        #[serde(serialize_with = "lossy")]
        by: PathBuf,
    },
    /// Another copy of the same plugin serves.
    OtherVersion {
        /// This one's version.
        version: String,
        /// Where the other one is.
        by: String,
        /// The other one's version.
        by_version: String,
    },
    /// The configuration disables it.
    Disabled {
        /// Who said so.
        by: Origin,
        /// The pattern that names it.
        pattern: String,
    },
    /// The configuration selects others.
    NotSelected {
        /// Who said so.
        by: Origin,
    },
    /// Its own default is off, and nobody enabled it.
    OffByDefault,
    /// It stands in for hardware, and there is hardware.
    NotNeeded {
        /// The drivers that serve.
        served_by: Vec<String>,
    },
    /// A plugin that it must not be loaded beside serves.
    Conflict {
        /// That plugin.
        with: String,
    },
    /// Another driver has every device it could serve.
    Outranked {
        /// Device and driver.
        devices: Vec<TakenDevice>,
    },
    /// Nothing it is for is in this machine.
    NoDevice {
        /// What was looked for.
        looked_for: Vec<String>,
        /// What its probe said, when it ran.
        said: Option<String>,
    },
    /// A name in the configuration is that of no plugin.
    NotFound {
        /// Who asked for it.
        asked_by: Origin,
    },
    /// The system refuses access to its device.
    NoPermission {
        /// The device node.
        node: String,
        /// The system's error number.
        errno: i32,
        /// The system's name for it.
        errno_name: String,
        /// The group the node belongs to.
        group: Option<String>,
        /// What the plugin said.
        said: String,
    },
    /// The manifest could not be read.
    ManifestUnreadable {
        /// The file.
        #[serde(serialize_with = "lossy")]
        file: PathBuf,
        /// The system's text.
        error: String,
    },
    /// The file's name is not that of a manifest.
    ManifestName {
        /// The file.
        #[serde(serialize_with = "lossy")]
        file: PathBuf,
    },
    /// The manifest is not TOML.
    ManifestSyntax {
        /// The file.
        #[serde(serialize_with = "lossy")]
        file: PathBuf,
        /// The line.
        line: usize,
        /// The parser's text.
        message: String,
    },
    /// A key of the manifest is missing or has the wrong type.
    ManifestKey {
        /// The file.
        #[serde(serialize_with = "lossy")]
        file: PathBuf,
        /// The line.
        line: usize,
        /// The key.
        key: String,
        /// What stands there; nothing when the key is missing.
        found: Option<String>,
        /// What may stand there.
        accepted: String,
    },
    /// The manifest is in a format of the future.
    ManifestNewer {
        /// The file.
        #[serde(serialize_with = "lossy")]
        file: PathBuf,
        /// Its format.
        format: i64,
        /// The newest format this runtime reads.
        newest: u32,
    },
    /// Everybody may write to a file or directory it is loaded from.
    WorldWritable {
        /// The file or directory.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
    },
    /// The library is not there or cannot be read.
    LibraryUnreadable {
        /// The library.
        #[serde(serialize_with = "lossy")]
        library: PathBuf,
        /// The system's text.
        error: String,
    },
    /// The library is not a shared object for this machine.
    WrongElf {
        /// The library.
        #[serde(serialize_with = "lossy")]
        library: PathBuf,
        /// Which property is wrong: `magic`, `class`, `byte order`, `machine` or `type`.
        property: &'static str,
        /// What it is.
        found: String,
        /// What it must be.
        accepted: String,
    },
    /// The library is damaged.
    BadElf {
        /// The library.
        #[serde(serialize_with = "lossy")]
        library: PathBuf,
        /// What is wrong.
        error: String,
    },
    /// It was compiled for another target.
    WrongTarget {
        /// Its target.
        found: String,
        /// This runtime's.
        accepted: String,
    },
    /// The library has no note of a plugin.
    NoNote {
        /// The library.
        #[serde(serialize_with = "lossy")]
        library: PathBuf,
    },
    /// The library's note could not be understood.
    BadNote {
        /// The library.
        #[serde(serialize_with = "lossy")]
        library: PathBuf,
        /// What is wrong and where.
        error: String,
    },
    /// The library says something else than its manifest.
    NoteDisagrees {
        /// The fact.
        field: String,
        /// What the manifest says.
        manifest: String,
        /// What the library says.
        note: String,
    },
    /// It was built for another major version of the interface.
    WrongInterface {
        /// Its version.
        found: String,
        /// This runtime's.
        accepted: String,
    },
    /// A library that it needs is not there.
    MissingLibrary {
        /// That library.
        name: String,
    },
    /// A symbol that it needs is nowhere.
    MissingSymbol {
        /// The symbol.
        symbol: String,
    },
    /// A library that it needs is too old.
    MissingVersion {
        /// The version it needs.
        version: String,
        /// The library.
        library: String,
    },
    /// The dynamic linker refused it.
    LinkFailed {
        /// The linker's text.
        message: String,
    },
    /// The library exports no root module.
    NoRootModule {
        /// The library.
        #[serde(serialize_with = "lossy")]
        library: PathBuf,
    },
    /// The library's entry header is not this runtime's.
    WrongHeader {
        /// What differs.
        message: String,
    },
    /// A type of the interface is laid out differently.
    LayoutDiffers {
        /// `type.field`.
        at: String,
        /// What the runtime has there.
        expected: String,
        /// What the plugin has there.
        found: String,
    },
    /// The plugin said that it cannot.
    Failed {
        /// When.
        step: Step,
        /// Its text.
        text: String,
        /// Where.
        place: Option<String>,
        /// The system's error number, or 0.
        errno: i32,
    },
    /// The plugin panicked.
    Panicked {
        /// When.
        step: Step,
        /// The panic's text.
        text: String,
    },
}

/// A device that another driver has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TakenDevice {
    /// The device.
    pub device: String,
    /// The driver that has it.
    pub by: String,
}

impl Reason {
    /// What the reason means for the runtime's start.
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Loaded { .. } => Outcome::Loaded,
            Self::Masked { .. }
            | Self::Shadowed { .. }
            | Self::OtherVersion { .. }
            | Self::Disabled { .. }
            | Self::NotSelected { .. }
            | Self::OffByDefault
            | Self::NotNeeded { .. }
            | Self::Conflict { .. }
            | Self::Outranked { .. } => Outcome::Skipped,
            Self::NoDevice { .. } => Outcome::Absent,
            Self::NotFound { .. }
            | Self::NoPermission { .. }
            | Self::ManifestUnreadable { .. }
            | Self::ManifestName { .. }
            | Self::ManifestSyntax { .. }
            | Self::ManifestKey { .. }
            | Self::ManifestNewer { .. }
            | Self::WorldWritable { .. }
            | Self::LibraryUnreadable { .. }
            | Self::WrongElf { .. }
            | Self::BadElf { .. }
            | Self::WrongTarget { .. }
            | Self::NoNote { .. }
            | Self::BadNote { .. }
            | Self::NoteDisagrees { .. }
            | Self::WrongInterface { .. }
            | Self::MissingLibrary { .. }
            | Self::MissingSymbol { .. }
            | Self::MissingVersion { .. }
            | Self::LinkFailed { .. }
            | Self::NoRootModule { .. }
            | Self::WrongHeader { .. }
            | Self::LayoutDiffers { .. }
            | Self::Failed { .. }
            | Self::Panicked { .. } => Outcome::Failed,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loaded { devices, left_to_others } => {
                f.write_str("Loaded")?;
                if !devices.is_empty() {
                    write!(f, "; it serves {}", devices.join(", "))?;
                }
                if !left_to_others.is_empty() {
                    write!(f, "; it leaves {} to another driver", left_to_others.join(", "))?;
                }
                f.write_str(".")
            }
            Self::Masked { by } => {
                write!(f, "Masked by {}, a link to /dev/null; remove the link to use it.", by.display())
            }
            Self::Shadowed { by } => write!(
                f,
                "{} has the same file name and comes first in the search order; rename one of them to use both.",
                by.display()
            ),
            Self::OtherVersion { version, by, by_version } => write!(
                f,
                "Version {version} stands back for version {by_version} of the same plugin ({by})."
            ),
            Self::Disabled { by, pattern } => {
                write!(f, "Disabled by {by} (\"{pattern}\"); take it out there to use it.")
            }
            Self::NotSelected { by } => {
                write!(f, "{by} selects other plugins; name it there, or unset that, to use it.")
            }
            Self::OffByDefault => f.write_str(
                "It is off unless asked for; name it in HANSA_PLUGIN_ENABLE, or in enable under [plugins].",
            ),
            Self::NotNeeded { served_by } => write!(
                f,
                "It stands in when there is no hardware, and {} serves; name it in HANSA_BACKENDS to use it.",
                served_by.join(", ")
            ),
            Self::Conflict { with } => write!(
                f,
                "It must not be loaded beside {with}, which serves; disable that one to use this."
            ),
            Self::Outranked { devices } => {
                let taken: Vec<String> = devices.iter().map(|taken| format!("{} ({})", taken.device, taken.by)).collect();
                write!(
                    f,
                    "Another driver has its devices: {}; order under [plugins] says which comes first.",
                    taken.join(", ")
                )
            }
            Self::NoDevice { looked_for, said } => {
                f.write_str("Nothing it is for is in this machine")?;
                match (said, looked_for.is_empty()) {
                    (Some(said), _) => write!(f, ": {said}.")?,
                    (None, false) => write!(f, " (looked for {}).", looked_for.join(", "))?,
                    (None, true) => f.write_str(".")?,
                }
                f.write_str(" If the device is there, its kernel module may not be loaded, or a container may hide it.")
            }
            Self::NotFound { asked_by } => {
                write!(f, "{asked_by} asks for it, and no plugin of this name was found; `hansa plugins` lists them.")
            }
            Self::NoPermission { node, errno, errno_name, group, said } => {
                write!(f, "{said}: {errno_name} (errno {errno}) on {node}.")?;
                match group {
                    Some(group) => write!(
                        f,
                        " The node belongs to group {group}; join it (sudo usermod -aG {group} \"$USER\") and log in \
                         again, or give the group to the container."
                    ),
                    None => f.write_str(" See who may open the node with ls -l, and whether a container withholds it."),
                }
            }
            Self::ManifestUnreadable { file, error } => {
                write!(f, "The manifest {} cannot be read: {error}.", file.display())
            }
            Self::ManifestName { file } => write!(
                f,
                "{} is not named like a manifest; rename it to NN-ID.toml, NN being two digits.",
                file.display()
            ),
            Self::ManifestSyntax { file, line, message } => {
                write!(f, "{}:{line}: the manifest is not TOML: {message}.", file.display())
            }
            Self::ManifestKey { file, line, key, found, accepted } => match found {
                Some(found) => write!(f, "{}:{line}: {key} = {found}; write {accepted}.", file.display()),
                None => write!(f, "{}:{line}: the key {key} is missing; write {accepted}.", file.display()),
            },
            Self::ManifestNewer { file, format, newest } => write!(
                f,
                "The manifest {} has format {format}, and this runtime reads up to {newest}; update the runtime.",
                file.display()
            ),
            Self::WorldWritable { path } => write!(
                f,
                "Everybody may write to {0}, so it is not trusted; run chmod o-w {0}.",
                path.display()
            ),
            Self::LibraryUnreadable { library, error } => write!(
                f,
                "The library {} cannot be read: {error}; install it there or correct the manifest.",
                library.display()
            ),
            Self::WrongElf { library, property, found, accepted } => write!(
                f,
                "The library {} has the {property} {found}, and this machine needs {accepted}; install the build for it.",
                library.display()
            ),
            Self::BadElf { library, error } => {
                write!(f, "The library {} is damaged: {error}; install it again.", library.display())
            }
            Self::WrongTarget { found, accepted } => write!(
                f,
                "It was compiled for {found}, and this runtime for {accepted}; install the build for this target."
            ),
            Self::NoNote { library } => write!(
                f,
                "The library {} has no Hansa note, so it is not a plugin; the export macro of hansa-plugin-api makes one.",
                library.display()
            ),
            Self::BadNote { library, error } => {
                write!(f, "The Hansa note of {} cannot be read: {error}; rebuild the plugin.", library.display())
            }
            Self::NoteDisagrees { field, manifest, note } => write!(
                f,
                "The manifest says {field} is \"{manifest}\", and the library says \"{note}\"; they are not from one package."
            ),
            Self::WrongInterface { found, accepted } => write!(
                f,
                "It was built for plugin interface {found}, and this runtime has {accepted}; install a build for this runtime."
            ),
            Self::MissingLibrary { name } => write!(f, "It needs the library {name}, which is not installed."),
            Self::MissingSymbol { symbol } => write!(
                f,
                "It needs the symbol {symbol}, which no library provides; plugin and libraries are not from one release."
            ),
            Self::MissingVersion { version, library } => {
                write!(f, "It needs {version} of {library}, which is older here; install a build for this system.")
            }
            Self::LinkFailed { message } => write!(f, "The dynamic linker refused it: {message}."),
            Self::NoRootModule { library } => {
                write!(f, "The library {} exports no root module; rebuild it with export_plugin!.", library.display())
            }
            Self::WrongHeader { message } => {
                write!(f, "Its entry header is not one this runtime reads: {message}; rebuild the plugin.")
            }
            Self::LayoutDiffers { at, expected, found } => write!(
                f,
                "{at} is {found} in the plugin and {expected} in the runtime; rebuild the plugin for this interface."
            ),
            Self::Failed { step, text, place, errno } => {
                write!(f, "It failed in {step}: {text}")?;
                if let Some(place) = place {
                    write!(f, " at {place}")?;
                }
                if *errno != 0 {
                    write!(f, ": {}", std::io::Error::from_raw_os_error(*errno))?;
                }
                f.write_str(".")
            }
            Self::Panicked { step, text } => {
                write!(f, "It panicked in {step}: {text}. This is a fault of the plugin; report it to its maker.")
            }
        }
    }
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}
