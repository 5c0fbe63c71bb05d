//! Decoding the ELF note of a plugin; [`hansa_plugin_api::note`] describes it.

use hansa_plugin_api::manifest::{is_id, DefaultUse, InterfaceVersion, Kind, Policy};
use hansa_plugin_api::note::{tag, FORMAT};
use semver::Version;

use super::facts::Facts;

/// Why a descriptor was not understood: what, and at which byte of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {offset} of the descriptor")]
pub struct NoteError {
    /// What is wrong.
    pub what: &'static str,
    /// Where.
    pub offset: usize,
}

/// Reads the descriptor of a note.
///
/// # Errors
///
/// What is wrong with it.
pub fn decode(descriptor: &[u8]) -> Result<Facts, NoteError> {
    let mut reader = Reader {
        bytes: descriptor,
        at: 0,
    };
    let format = u16::from_le_bytes(reader.take("the format number is cut off")?);
    if format != FORMAT {
        return Err(NoteError {
            what: "the format is not one this runtime reads",
            offset: 0,
        });
    }
    let mut found = Found::default();
    while reader.at < descriptor.len() {
        let offset = reader.at;
        let [tag, low, high] = reader.take("a record is cut off")?;
        let value = reader.slice(usize::from(u16::from_le_bytes([low, high])), "a value is cut off")?;
        found
            .record(tag, value)
            .map_err(|what| NoteError { what, offset })?;
    }
    found.facts().map_err(|what| NoteError {
        what,
        offset: descriptor.len(),
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn slice(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], NoteError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..len).ok_or(NoteError {
            what,
            offset: self.at,
        })?;
        self.at += len;
        Ok(taken)
    }

    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], NoteError> {
        let slice = self.slice(N, what)?;
        slice.try_into().map_err(|_| NoteError {
            what,
            offset: self.at,
        })
    }
}

/// The records read so far.
#[derive(Default)]
struct Found {
    id: Option<String>,
    kind: Option<Kind>,
    version: Option<Version>,
    target: Option<String>,
    interface: Option<InterfaceVersion>,
    always: bool,
    pci: Vec<String>,
    nodes: Vec<String>,
    modules: Vec<String>,
    priority: Option<i32>,
    default: Option<DefaultUse>,
    software: bool,
    critical: bool,
    conflicts: Vec<String>,
}

impl Found {
    fn record(&mut self, tag: u8, value: &[u8]) -> Result<(), &'static str> {
        match tag {
            tag::ID => self.id = Some(text(value)?).filter(|id| is_id(id)),
            tag::KIND => self.kind = Kind::ALL.into_iter().find(|kind| [kind.code()] == value),
            tag::VERSION => self.version = Version::parse(&text(value)?).ok(),
            tag::TARGET => self.target = Some(text(value)?),
            tag::INTERFACE => {
                let words: [u8; 8] = value.try_into().map_err(|_| "the interface is not two words")?;
                let [a, b, c, d, e, f, g, h] = words;
                let (major, minor) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
                self.interface = Some(InterfaceVersion { major, minor });
            }
            tag::ALWAYS => self.always = flag(value)?,
            tag::PCI => self.pci.push(text(value)?),
            tag::NODE => self.nodes.push(text(value)?),
            tag::MODULE => self.modules.push(text(value)?),
            tag::PRIORITY => {
                let word = value.try_into().map_err(|_| "the priority is not one word")?;
                self.priority = Some(i32::from_le_bytes(word));
            }
            tag::DEFAULT => {
                self.default = DefaultUse::ALL
                    .into_iter()
                    .find(|default| [default.code()] == value);
            }
            tag::SOFTWARE => self.software = flag(value)?,
            tag::CRITICAL => self.critical = flag(value)?,
            tag::CONFLICT => self.conflicts.push(text(value)?),
            // A later runtime's record.
            _ => {}
        }
        Ok(())
    }

    fn facts(self) -> Result<Facts, &'static str> {
        Ok(Facts {
            id: self.id.ok_or("there is no id that is one")?,
            kind: self.kind.ok_or("there is no kind this runtime knows")?,
            version: self.version.ok_or("there is no version that is one")?,
            target: self.target.ok_or("there is no target")?,
            interface: self.interface.ok_or("there is no interface version")?,
            always: self.always,
            pci: self.pci,
            nodes: self.nodes,
            modules: self.modules,
            priority: self.priority.unwrap_or(Policy::PRIORITY),
            default: self.default.unwrap_or(DefaultUse::On),
            software: self.software,
            critical: self.critical,
            conflicts: self.conflicts,
        })
    }
}

fn text(value: &[u8]) -> Result<String, &'static str> {
    std::str::from_utf8(value)
        .map(str::to_owned)
        .map_err(|_| "a text is not UTF-8")
}

fn flag(value: &[u8]) -> Result<bool, &'static str> {
    match value {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err("a switch is neither 0 nor 1"),
    }
}

#[cfg(test)]
mod tests {
    use hansa_plugin_api::manifest::{Claims, PluginFacts};
    use hansa_plugin_api::note::{size, Note};

    use super::*;
    use crate::plugin::facts::tests::FACTS;

    /// Length of the note before its descriptor.
    const HEADER: usize = 20;

    const FULL: PluginFacts = PluginFacts {
        kind: Kind::Both,
        claims: Claims {
            always: true,
            pci: &["1:2", "3:*"],
            nodes: &["/dev/x"],
            modules: &["m", "n"],
        },
        policy: Policy {
            priority: -7,
            default: DefaultUse::OnlyIfNoHardware,
            software: true,
            critical: true,
            conflicts: &["a.*"],
        },
        ..FACTS
    };
    static NOTE: Note<{ size(&FULL) }> = Note::new(&FULL);

    fn descriptor() -> Vec<u8> {
        let bytes = NOTE.bytes();
        let len = u32::from_ne_bytes(bytes[4..8].try_into().unwrap()) as usize;
        bytes[HEADER..HEADER + len].to_vec()
    }

    #[test]
    fn what_the_macro_encodes_the_runtime_reads() {
        assert_eq!(decode(&descriptor()), Ok(Facts::of(&FULL).unwrap()));
    }

    #[test]
    fn every_cut_is_an_error_and_never_a_panic() {
        let descriptor = descriptor();
        let whole = Facts::of(&FULL).unwrap();
        for len in 0..descriptor.len() {
            if let Ok(facts) = decode(&descriptor[..len]) {
                assert_ne!(facts, whole, "{len}");
            }
        }
    }

    #[test]
    fn an_unknown_record_is_passed_over() {
        let mut descriptor = descriptor();
        descriptor.extend([200, 2, 0, 1, 2]);
        assert_eq!(decode(&descriptor), Ok(Facts::of(&FULL).unwrap()));
    }

    #[test]
    fn errors_name_the_place() {
        assert_eq!(
            decode(&[9, 0]).unwrap_err().to_string(),
            "the format is not one this runtime reads at byte 0 of the descriptor"
        );
        assert_eq!(decode(&[1, 0, tag::ALWAYS, 1, 0, 7]).unwrap_err().offset, 2);
        assert_eq!(
            decode(&[1, 0, tag::ID, 9, 0, 7]).unwrap_err().what,
            "a value is cut off"
        );
    }
}
