//! What kind of program a file is, as far as `hansa run` needs to know.

use object::elf;
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::LittleEndian;

/// The kind of a program file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElfKind {
    /// It has an interpreter that loads libraries.
    Dynamic,
    /// It loads no libraries.
    Static,
    /// It is for another machine or word size.
    OtherMachine(String),
    /// It is no ELF file.
    NotElf,
}

/// The machine that this runtime is for.
const fn own_machine() -> elf::Machine {
    if cfg!(target_arch = "aarch64") {
        elf::EM_AARCH64
    } else {
        elf::EM_X86_64
    }
}

/// Judges a file by its beginning.
#[must_use]
pub fn kind_of(bytes: &[u8]) -> ElfKind {
    if !bytes.starts_with(&elf::ELFMAG) {
        return ElfKind::NotElf;
    }
    if bytes.get(4) == Some(&elf::ELFCLASS32.0) {
        return ElfKind::OtherMachine("32 bits".to_owned());
    }
    let Ok(header) = elf::FileHeader64::<LittleEndian>::parse(bytes) else {
        return ElfKind::NotElf;
    };
    let machine = header.e_machine(LittleEndian);
    if machine != own_machine() {
        return ElfKind::OtherMachine(format!("ELF machine {}", machine.0));
    }
    let Ok(segments) = header.program_headers(LittleEndian, bytes) else {
        return ElfKind::NotElf;
    };
    if segments.iter().any(|s| s.p_type(LittleEndian) == elf::PT_INTERP) {
        ElfKind::Dynamic
    } else {
        ElfKind::Static
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_a_dynamic_program() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(kind_of(&bytes), ElfKind::Dynamic);
        assert_eq!(kind_of(b"hello"), ElfKind::NotElf);
        let mut other = bytes[..4096].to_vec();
        other[18] = 224;
        assert!(matches!(kind_of(&other), ElfKind::OtherMachine(_)));
        other[4] = 1;
        assert!(matches!(kind_of(&other), ElfKind::OtherMachine(_)));
    }
}
