//! Judging a library without running any of it.
//!
//! The dynamic linker runs a library's constructors before it answers, so everything that can be
//! known from the file is read from the file: the ELF header (class, byte order, machine, type;
//! System V ABI, chapter 4) and the plugin's note.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hansa_plugin_api::manifest::TARGET;
use hansa_plugin_api::note::{OWNER, TYPE};
use hansa_plugin_api::INTERFACE;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, NoteIterator, ProgramHeader as _, SectionHeader as _};
use object::{NativeEndian, ReadCache, ReadRef};

use super::facts::{interface_text, same_target, Facts};
use super::note::decode;
use super::reason::Reason;

type Header = FileHeader64<NativeEndian>;

/// Bytes of the file header up to and with the machine.
const HEAD: usize = 20;
/// `ELFCLASS64`: HSA's large model, the only one this runtime has.
const CLASS: u8 = 2;
/// `ELFDATA2LSB` or `ELFDATA2MSB`.
const DATA: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };
/// `ET_DYN`.
const SHARED_OBJECT: u16 = 3;
/// Processors by their number in an ELF header.
const MACHINES: [(u16, &str); 8] = [
    (3, "x86"),
    (21, "powerpc64"),
    (22, "s390x"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
    (258, "loongarch64"),
];

/// Reads what a library says about itself, after checking that it is a shared object for this
/// machine.
///
/// # Errors
///
/// Why it cannot be used.
pub fn read_note(library: &Path) -> Result<Facts, Reason> {
    let unreadable = |error: std::io::Error| Reason::LibraryUnreadable {
        library: library.to_owned(),
        error: error.to_string(),
    };
    let file = File::open(library).map_err(unreadable)?;
    let kind = file.metadata().map_err(unreadable)?.file_type();
    if !kind.is_file() {
        return Err(Reason::LibraryUnreadable {
            library: library.to_owned(),
            error: "not a regular file".into(),
        });
    }
    check_header(library, &file)?;
    let descriptor = descriptor(&ReadCache::new(file))
        .map_err(|error| Reason::BadElf {
            library: library.to_owned(),
            error: error.to_string(),
        })?
        .ok_or_else(|| Reason::NoNote {
            library: library.to_owned(),
        })?;
    decode(&descriptor).map_err(|error| Reason::BadNote {
        library: library.to_owned(),
        error: error.to_string(),
    })
}

/// Whether a plugin of these facts can work with this runtime at all.
///
/// # Errors
///
/// Why not.
pub(super) fn check_facts(facts: &Facts) -> Result<(), Reason> {
    if !same_target(&facts.target, TARGET) {
        return Err(Reason::WrongTarget {
            found: facts.target.clone(),
            accepted: TARGET.to_owned(),
        });
    }
    if facts.interface.major != INTERFACE.major {
        return Err(Reason::WrongInterface {
            found: interface_text(facts.interface),
            accepted: interface_text(INTERFACE),
        });
    }
    Ok(())
}

fn check_header(library: &Path, file: &File) -> Result<(), Reason> {
    let wrong = |property, found: String, accepted: String| {
        Err(Reason::WrongElf {
            library: library.to_owned(),
            property,
            found,
            accepted,
        })
    };
    let mut head = [0; HEAD];
    if file.read_exact_at(&mut head, 0).is_err() || head[..4] != *b"\x7fELF" {
        return wrong("magic", "of something else".into(), "ELF".into());
    }
    let (class, data) = (head[4], head[5]);
    if class != CLASS {
        return wrong(
            "class",
            if class == 1 {
                "32 bits".into()
            } else {
                class.to_string()
            },
            "64 bits".into(),
        );
    }
    if data != DATA {
        let order = |data| if data == 1 { "little-endian" } else { "big-endian" }.to_owned();
        return wrong("byte order", order(data), order(DATA));
    }
    let half = |at: usize| u16::from_ne_bytes([head[at], head[at + 1]]);
    let machine = half(18);
    let name = |number| {
        MACHINES
            .iter()
            .find(|(known, _)| *known == number)
            .map(|(_, name)| *name)
    };
    if name(machine) != Some(std::env::consts::ARCH) {
        let found = name(machine).map_or_else(|| format!("number {machine}"), str::to_owned);
        return wrong("machine", found, std::env::consts::ARCH.to_owned());
    }
    let kind = half(16);
    if kind != SHARED_OBJECT {
        let found = match kind {
            1 => "relocatable object".to_owned(),
            2 => "executable".to_owned(),
            4 => "core dump".to_owned(),
            other => format!("number {other}"),
        };
        return wrong("type", found, "shared object".into());
    }
    Ok(())
}

/// The descriptor of our note: from the section headers, or, when those were stripped, from the
/// program headers.
fn descriptor<'data>(data: impl ReadRef<'data>) -> object::read::Result<Option<Vec<u8>>> {
    let header = Header::parse(data)?;
    for section in header.section_headers(NativeEndian, data)? {
        if let Some(found) = section.notes(NativeEndian, data)?.and_then(ours) {
            return Ok(Some(found));
        }
    }
    for segment in header.program_headers(NativeEndian, data)? {
        if let Some(found) = segment.notes(NativeEndian, data)?.and_then(ours) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Our note among those of one section. What other makers' notes look like is not our business.
fn ours(mut notes: NoteIterator<'_, Header>) -> Option<Vec<u8>> {
    while let Ok(Some(note)) = notes.next() {
        if note.name() == OWNER.as_bytes() && note.n_type(NativeEndian).0 == TYPE {
            return Some(note.desc().to_vec());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(bytes: &[u8]) -> Reason {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hansa-elf-{}-{number}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let reason = read_note(&path).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        reason
    }

    fn own_executable() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    fn property(change: impl FnOnce(&mut Vec<u8>)) -> (&'static str, String) {
        let mut bytes = own_executable();
        change(&mut bytes);
        match judge(&bytes) {
            Reason::WrongElf { property, found, .. } => (property, found),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_wrong_property_of_the_header_is_named() {
        assert_eq!(
            property(|bytes| bytes[0] = 0),
            ("magic", "of something else".into())
        );
        assert_eq!(
            property(|bytes| bytes.truncate(10)),
            ("magic", "of something else".into())
        );
        assert_eq!(property(|bytes| bytes[4] = 1), ("class", "32 bits".into()));
        assert_eq!(
            property(|bytes| bytes[5] = 3 - DATA),
            ("byte order", "big-endian".into())
        );
        assert_eq!(property(|bytes| bytes[18] = 8), ("machine", "number 8".into()));
        assert_eq!(property(|bytes| bytes[16] = 2), ("type", "executable".into()));
    }

    #[test]
    fn a_library_without_our_note_is_no_plugin() {
        assert!(matches!(judge(&own_executable()), Reason::NoNote { .. }));
    }

    #[test]
    fn a_cut_off_library_is_damaged() {
        assert!(matches!(judge(&own_executable()[..1000]), Reason::BadElf { .. }));
    }

    #[test]
    fn what_is_not_there_or_no_file_cannot_be_read() {
        assert!(matches!(
            read_note(Path::new("/nowhere/x.so")),
            Err(Reason::LibraryUnreadable { .. })
        ));
        let Err(Reason::LibraryUnreadable { error, .. }) = read_note(Path::new("/")) else {
            panic!()
        };
        assert_eq!(error, "not a regular file");
    }
}
