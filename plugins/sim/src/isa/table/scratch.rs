//! SCRATCH: memory access known to be scratch.

use super::flat_shape::{load, store};
use crate::isa::row::{Family::Scratch, Forms, Row};

/// The rows, by opcode.
pub(super) static ROWS: [Row; 22] = [
    load(Scratch, 0x10, "scratch_load_ubyte", 1).with(Forms::LDS),
    load(Scratch, 0x11, "scratch_load_sbyte", 1).with(Forms::LDS),
    load(Scratch, 0x12, "scratch_load_ushort", 1).with(Forms::LDS),
    load(Scratch, 0x13, "scratch_load_sshort", 1).with(Forms::LDS),
    load(Scratch, 0x14, "scratch_load_dword", 1).with(Forms::LDS),
    load(Scratch, 0x15, "scratch_load_dwordx2", 2),
    load(Scratch, 0x16, "scratch_load_dwordx3", 3),
    load(Scratch, 0x17, "scratch_load_dwordx4", 4),
    store(Scratch, 0x18, "scratch_store_byte", 1),
    store(Scratch, 0x19, "scratch_store_byte_d16_hi", 1),
    store(Scratch, 0x1a, "scratch_store_short", 1),
    store(Scratch, 0x1b, "scratch_store_short_d16_hi", 1),
    store(Scratch, 0x1c, "scratch_store_dword", 1),
    store(Scratch, 0x1d, "scratch_store_dwordx2", 2),
    store(Scratch, 0x1e, "scratch_store_dwordx3", 3),
    store(Scratch, 0x1f, "scratch_store_dwordx4", 4),
    load(Scratch, 0x20, "scratch_load_ubyte_d16", 1),
    load(Scratch, 0x21, "scratch_load_ubyte_d16_hi", 1),
    load(Scratch, 0x22, "scratch_load_sbyte_d16", 1),
    load(Scratch, 0x23, "scratch_load_sbyte_d16_hi", 1),
    load(Scratch, 0x24, "scratch_load_short_d16", 1),
    load(Scratch, 0x25, "scratch_load_short_d16_hi", 1),
];
