//! MTBUF: buffer access with a data format.

use crate::isa::row::{
    Family, Row, Slot,
    SlotKind::{Sgpr, Ssrc, Vgpr},
    Ty::B32,
};

const fn bare(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Mtbuf, opcode, name)
}

const fn vgprs(dwords: u8) -> Slot {
    Slot::wide(Vgpr, B32, dwords)
}

/// VADDR (index, offset, or both), SRSRC, SOFFSET.
const fn addressed(opcode: u16, name: &'static str) -> Row {
    bare(opcode, name)
        .src(0, vgprs(2))
        .src(1, Slot::wide(Sgpr, B32, 4))
        .src(2, Slot::new(Ssrc, B32))
}

const fn load(opcode: u16, name: &'static str, dwords: u8) -> Row {
    addressed(opcode, name).dst(vgprs(dwords))
}

const fn store(opcode: u16, name: &'static str, dwords: u8) -> Row {
    addressed(opcode, name).src(3, vgprs(dwords))
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 16] = [
    load(0x00, "tbuffer_load_format_x", 1),
    load(0x01, "tbuffer_load_format_xy", 2),
    load(0x02, "tbuffer_load_format_xyz", 3),
    load(0x03, "tbuffer_load_format_xyzw", 4),
    store(0x04, "tbuffer_store_format_x", 1),
    store(0x05, "tbuffer_store_format_xy", 2),
    store(0x06, "tbuffer_store_format_xyz", 3),
    store(0x07, "tbuffer_store_format_xyzw", 4),
    load(0x08, "tbuffer_load_format_d16_x", 1),
    load(0x09, "tbuffer_load_format_d16_xy", 1),
    load(0x0a, "tbuffer_load_format_d16_xyz", 2),
    load(0x0b, "tbuffer_load_format_d16_xyzw", 2),
    store(0x0c, "tbuffer_store_format_d16_x", 1),
    store(0x0d, "tbuffer_store_format_d16_xy", 1),
    store(0x0e, "tbuffer_store_format_d16_xyz", 2),
    store(0x0f, "tbuffer_store_format_d16_xyzw", 2),
];
