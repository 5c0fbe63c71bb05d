//! The smallest code object: one segment, one note.

const HEADER: usize = 64;
const SEGMENT: usize = 56;
const SECTION: usize = 64;

/// A code object of version 4 for gfx900 with this note of metadata.
#[must_use]
pub fn with_metadata(metadata: &[u8]) -> Vec<u8> {
    let note_at = HEADER + 2 * SEGMENT + SECTION;
    let mut note = Vec::new();
    for word in [7, u32::try_from(metadata.len()).unwrap_or(u32::MAX), 32] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"AMDGPU\0\0");
    note.extend(metadata);
    note.resize(note.len().next_multiple_of(4), 0);

    let mut elf = Vec::new();
    // Class 64, little endian, version 1, system 64 (HSA), its version 2 (code object version 4).
    elf.extend(b"\x7fELF\x02\x01\x01\x40\x02\0\0\0\0\0\0\0");
    elf.extend(3_u16.to_le_bytes());
    elf.extend(224_u16.to_le_bytes());
    elf.extend(1_u32.to_le_bytes());
    for word in [0, HEADER as u64, (HEADER + 2 * SEGMENT) as u64] {
        elf.extend(word.to_le_bytes());
    }
    // Processor gfx900, features not said.
    elf.extend(0x2c_u32.to_le_bytes());
    for half in [HEADER as u16, SEGMENT as u16, 2, SECTION as u16, 1, 0] {
        elf.extend(half.to_le_bytes());
    }
    for (kind, bytes, align) in [(1_u32, 64, 4096), (4, note.len(), 4)] {
        elf.extend(kind.to_le_bytes());
        elf.extend(4_u32.to_le_bytes());
        let (at, address) = if kind == 1 { (0, 0) } else { (note_at, note_at) };
        for word in [at, address, address, bytes, bytes, align] {
            elf.extend((word as u64).to_le_bytes());
        }
    }
    elf.extend([0; SECTION]);
    elf.extend(note);
    elf
}
