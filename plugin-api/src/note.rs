//! The facts of a plugin as an ELF note, so that a library can be judged without running it.
//!
//! An ELF note (System V ABI, chapter 5, "Note Section") is three 32-bit words in the byte order
//! of the file (length of the owner's name, length of the descriptor, type) and then the name and
//! the descriptor, each padded to four bytes. Ours has the owner `Hansa`, type 1 and its own
//! section, `.note.hansa`, which every linker puts into a `PT_NOTE` segment that survives `strip`.
//!
//! The descriptor is a format number (16 bits) and then records of tag (8 bits), length (16 bits)
//! and value, all little-endian whatever the file is. A repeated record is a list. A reader passes
//! over tags it does not know, so that records can be added without a new format number.
//!
//! The encoder runs at compile time:
//!
//! ```
//! # use hansa_plugin_api::manifest::*;
//! use hansa_plugin_api::note::{self, Note};
//! const FACTS: PluginFacts = PluginFacts {
//!     id: "org.example.accel",
//! #   kind: Kind::Driver,
//! #   version: "1.0.0",
//! #   target: TARGET,
//! #   interface: InterfaceVersion { major: 1, minor: 0 },
//! #   claims: Claims::NONE,
//!     policy: Policy::DEFAULT,
//! };
//! #[used]
//! #[link_section = ".note.hansa"]
//! static NOTE: Note<{ note::size(&FACTS) }> = Note::new(&FACTS);
//! # assert!(NOTE.bytes().windows(17).any(|w| w == b"org.example.accel"));
//! ```

#![expect(
    clippy::cast_possible_truncation,
    reason = "checked conversions are no constant functions; lengths are asserted"
)]

use crate::manifest::PluginFacts;

/// The section of the note.
pub const SECTION: &str = ".note.hansa";
/// The owner's name in the note header, without the terminating zero that the file has.
pub const OWNER: &str = "Hansa";
/// The note's type.
pub const TYPE: u32 = 1;
/// The newest descriptor format this crate describes.
pub const FORMAT: u16 = 1;

/// Tags of the descriptor's records.
pub mod tag {
    /// Text: the id.
    pub const ID: u8 = 1;
    /// One byte: [`Kind::code`](crate::manifest::Kind::code).
    pub const KIND: u8 = 2;
    /// Text: the semantic version.
    pub const VERSION: u8 = 3;
    /// Text: the target triple.
    pub const TARGET: u8 = 4;
    /// Two 32-bit words: interface major and minor.
    pub const INTERFACE: u8 = 5;
    /// One byte, 0 or 1: needs no device.
    pub const ALWAYS: u8 = 6;
    /// Text, repeated: a glob over PCI ids.
    pub const PCI: u8 = 7;
    /// Text, repeated: a glob over device nodes.
    pub const NODE: u8 = 8;
    /// Text, repeated: a kernel module.
    pub const MODULE: u8 = 9;
    /// A 32-bit signed word: the priority.
    pub const PRIORITY: u8 = 10;
    /// One byte: [`DefaultUse::code`](crate::manifest::DefaultUse::code).
    pub const DEFAULT: u8 = 11;
    /// One byte, 0 or 1: computes on the host's processors.
    pub const SOFTWARE: u8 = 12;
    /// One byte, 0 or 1: the runtime must not start without it.
    pub const CRITICAL: u8 = 13;
    /// Text, repeated: a glob over ids it must not be loaded beside.
    pub const CONFLICT: u8 = 14;
}

/// Length of the note's header with the owner's name: three words, "Hansa", zero, two of padding.
const HEADER: usize = 12 + 8;
/// Length of a record's tag and length.
const RECORD: usize = 3;

/// A complete ELF note, aligned as the ABI asks.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct Note<const N: usize>([u8; N]);

impl<const N: usize> Note<N> {
    /// Encodes the facts; `N` is [`size`] of the same facts.
    pub const fn new(facts: &PluginFacts) -> Self {
        assert!(
            N == size(facts),
            "Note<N>: N must be note::size of the same facts"
        );
        Self(encode(facts))
    }

    /// The note as it stands in the file.
    pub const fn bytes(&self) -> &[u8; N] {
        &self.0
    }
}

/// The size of the note for these facts, header and padding included.
pub const fn size(facts: &PluginFacts) -> usize {
    HEADER + descriptor_size(facts).next_multiple_of(4)
}

const fn descriptor_size(facts: &PluginFacts) -> usize {
    let texts = RECORD * 3 + facts.id.len() + facts.version.len() + facts.target.len();
    let bytes = (RECORD + 1) * 5;
    let words = (RECORD + 8) + (RECORD + 4);
    let lists = list_size(facts.claims.pci)
        + list_size(facts.claims.nodes)
        + list_size(facts.claims.modules)
        + list_size(facts.policy.conflicts);
    2 + texts + bytes + words + lists
}

const fn list_size(items: &[&str]) -> usize {
    let mut size = 0;
    let mut i = 0;
    while i < items.len() {
        size += RECORD + items[i].len();
        i += 1;
    }
    size
}

const fn encode<const N: usize>(facts: &PluginFacts) -> [u8; N] {
    let mut out = Writer { bytes: [0; N], at: 0 };
    out.put(&(OWNER.len() as u32 + 1).to_ne_bytes());
    out.put(&(descriptor_size(facts) as u32).to_ne_bytes());
    out.put(&TYPE.to_ne_bytes());
    out.put(OWNER.as_bytes());
    out.at = HEADER;
    out.put(&FORMAT.to_le_bytes());
    out.record(tag::ID, facts.id.as_bytes());
    out.record(tag::KIND, &[facts.kind.code()]);
    out.record(tag::VERSION, facts.version.as_bytes());
    out.record(tag::TARGET, facts.target.as_bytes());
    out.head(tag::INTERFACE, 8);
    out.put(&facts.interface.major.to_le_bytes());
    out.put(&facts.interface.minor.to_le_bytes());
    out.record(tag::ALWAYS, &[facts.claims.always as u8]);
    out.list(tag::PCI, facts.claims.pci);
    out.list(tag::NODE, facts.claims.nodes);
    out.list(tag::MODULE, facts.claims.modules);
    out.record(tag::PRIORITY, &facts.policy.priority.to_le_bytes());
    out.record(tag::DEFAULT, &[facts.policy.default.code()]);
    out.record(tag::SOFTWARE, &[facts.policy.software as u8]);
    out.record(tag::CRITICAL, &[facts.policy.critical as u8]);
    out.list(tag::CONFLICT, facts.policy.conflicts);
    assert!(
        out.at.next_multiple_of(4) == N,
        "The size and the encoding of the note differ"
    );
    out.bytes
}

/// A cursor over a constant array: `Write` is no constant trait.
struct Writer<const N: usize> {
    bytes: [u8; N],
    at: usize,
}

impl<const N: usize> Writer<N> {
    const fn put(&mut self, bytes: &[u8]) {
        let mut i = 0;
        while i < bytes.len() {
            self.bytes[self.at] = bytes[i];
            self.at += 1;
            i += 1;
        }
    }

    const fn head(&mut self, tag: u8, len: usize) {
        assert!(len <= u16::MAX as usize, "A fact is longer than 65535 bytes");
        self.put(&[tag]);
        self.put(&(len as u16).to_le_bytes());
    }

    const fn record(&mut self, tag: u8, value: &[u8]) {
        self.head(tag, value.len());
        self.put(value);
    }

    const fn list(&mut self, tag: u8, items: &[&str]) {
        let mut i = 0;
        while i < items.len() {
            self.record(tag, items[i].as_bytes());
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Claims, InterfaceVersion, Kind, Policy, TARGET};

    const FACTS: PluginFacts = PluginFacts {
        id: "org.example.accel",
        kind: Kind::Both,
        version: "1.2.3",
        target: TARGET,
        interface: InterfaceVersion { major: 1, minor: 7 },
        claims: Claims {
            pci: &["1002:*", "1022:17f0"],
            ..Claims::NONE
        },
        policy: Policy::DEFAULT,
    }
    .checked();
    static NOTE: Note<{ size(&FACTS) }> = Note::new(&FACTS);

    #[test]
    fn the_header_is_a_note_header() {
        let bytes = NOTE.bytes();
        assert_eq!(bytes[0..4], 6u32.to_ne_bytes());
        assert_eq!(
            u32::from_ne_bytes(bytes[4..8].try_into().unwrap()) as usize,
            descriptor_size(&FACTS)
        );
        assert_eq!(bytes[8..12], 1u32.to_ne_bytes());
        assert_eq!(&bytes[12..20], b"Hansa\0\0\0");
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(std::ptr::from_ref(&NOTE).addr() % 4, 0);
    }

    #[test]
    fn the_descriptor_begins_with_format_and_id() {
        let bytes = &NOTE.bytes()[HEADER..];
        assert_eq!(&bytes[..5], &[1, 0, tag::ID, 17, 0]);
        assert_eq!(&bytes[5..22], b"org.example.accel");
        assert_eq!(&bytes[22..26], &[tag::KIND, 1, 0, 2]);
    }
}
