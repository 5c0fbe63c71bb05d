//! The operand shapes that FLAT, GLOBAL and SCRATCH share.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{Sgpr, Vgpr},
    Ty::B32,
};

const fn vgprs(dwords: u8) -> Slot {
    Slot::wide(Vgpr, B32, dwords)
}

/// VADDR is 64 bits wide, except in scratch and beside a scalar address, where it is an offset.
const fn addressed(family: Family, opcode: u16, name: &'static str) -> Row {
    let row = Row::new(family, opcode, name);
    match family {
        Family::Flat => row.src(0, vgprs(2)),
        Family::Global => row.src(0, vgprs(2)).src(2, Slot::wide(Sgpr, B32, 2)),
        _ => row.src(0, vgprs(1)).src(2, Slot::wide(Sgpr, B32, 1)),
    }
}

pub(super) const fn load(family: Family, opcode: u16, name: &'static str, dwords: u8) -> Row {
    addressed(family, opcode, name).dst(vgprs(dwords))
}

pub(super) const fn store(family: Family, opcode: u16, name: &'static str, dwords: u8) -> Row {
    addressed(family, opcode, name).src(1, vgprs(dwords))
}

/// The old value cannot be returned.
pub(super) const fn no_return(family: Family, opcode: u16, name: &'static str, dwords: u8) -> Row {
    store(family, opcode, name, dwords).with(Forms::ATOMIC)
}

/// The old value is as wide as the new one.
pub(super) const fn atomic(family: Family, opcode: u16, name: &'static str, dwords: u8) -> Row {
    store(family, opcode, name, dwords)
        .dst(vgprs(dwords))
        .with(Forms::ATOMIC)
}

/// New value, then comparand.
pub(super) const fn cmpswap(family: Family, opcode: u16, name: &'static str, dwords: u8) -> Row {
    store(family, opcode, name, 2 * dwords)
        .dst(vgprs(dwords))
        .with(Forms::ATOMIC)
}
