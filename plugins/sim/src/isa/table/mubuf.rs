//! MUBUF: untyped buffer access.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{Sgpr, Ssrc, Vgpr},
    Ty::B32,
};
use crate::isa::target::TargetSet;

const fn bare(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Mubuf, opcode, name)
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

const fn atomic(opcode: u16, name: &'static str, dwords: u8) -> Row {
    store(opcode, name, dwords).dst(vgprs(dwords)).with(Forms::ATOMIC)
}

/// The old value cannot be returned.
const fn no_return(opcode: u16, name: &'static str, dwords: u8) -> Row {
    store(opcode, name, dwords).with(Forms::ATOMIC)
}

/// New value, then comparand; the old value is returned in the place of the new one.
const fn cmpswap(opcode: u16, name: &'static str, dwords: u8) -> Row {
    store(opcode, name, 2 * dwords)
        .dst(vgprs(dwords))
        .with(Forms::ATOMIC)
}

/// From LDS to memory; no register holds data or address.
const fn lds_store(opcode: u16, name: &'static str) -> Row {
    bare(opcode, name)
        .src(1, Slot::wide(Sgpr, B32, 4))
        .src(2, Slot::new(Ssrc, B32))
        .with(Forms::LDS)
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 78] = [
    load(0x00, "buffer_load_format_x", 1).with(Forms::LDS),
    load(0x01, "buffer_load_format_xy", 2),
    load(0x02, "buffer_load_format_xyz", 3),
    load(0x03, "buffer_load_format_xyzw", 4),
    store(0x04, "buffer_store_format_x", 1),
    store(0x05, "buffer_store_format_xy", 2),
    store(0x06, "buffer_store_format_xyz", 3),
    store(0x07, "buffer_store_format_xyzw", 4),
    load(0x08, "buffer_load_format_d16_x", 1),
    load(0x09, "buffer_load_format_d16_xy", 1),
    load(0x0a, "buffer_load_format_d16_xyz", 2),
    load(0x0b, "buffer_load_format_d16_xyzw", 2),
    store(0x0c, "buffer_store_format_d16_x", 1),
    store(0x0d, "buffer_store_format_d16_xy", 1),
    store(0x0e, "buffer_store_format_d16_xyz", 2),
    store(0x0f, "buffer_store_format_d16_xyzw", 2),
    load(0x10, "buffer_load_ubyte", 1).with(Forms::LDS),
    load(0x11, "buffer_load_sbyte", 1).with(Forms::LDS),
    load(0x12, "buffer_load_ushort", 1).with(Forms::LDS),
    load(0x13, "buffer_load_sshort", 1).with(Forms::LDS),
    load(0x14, "buffer_load_dword", 1).with(Forms::LDS),
    load(0x15, "buffer_load_dwordx2", 2),
    load(0x16, "buffer_load_dwordx3", 3),
    load(0x17, "buffer_load_dwordx4", 4),
    store(0x18, "buffer_store_byte", 1),
    store(0x19, "buffer_store_byte_d16_hi", 1),
    store(0x1a, "buffer_store_short", 1),
    store(0x1b, "buffer_store_short_d16_hi", 1),
    store(0x1c, "buffer_store_dword", 1),
    store(0x1d, "buffer_store_dwordx2", 2),
    store(0x1e, "buffer_store_dwordx3", 3),
    store(0x1f, "buffer_store_dwordx4", 4),
    load(0x20, "buffer_load_ubyte_d16", 1),
    load(0x21, "buffer_load_ubyte_d16_hi", 1),
    load(0x22, "buffer_load_sbyte_d16", 1),
    load(0x23, "buffer_load_sbyte_d16_hi", 1),
    load(0x24, "buffer_load_short_d16", 1),
    load(0x25, "buffer_load_short_d16_hi", 1),
    load(0x26, "buffer_load_format_d16_hi_x", 1),
    store(0x27, "buffer_store_format_d16_hi_x", 1),
    bare(0x28, "buffer_wbl2").on(TargetSet::GFX90A),
    bare(0x29, "buffer_invl2").on(TargetSet::GFX90A),
    lds_store(0x3d, "buffer_store_lds_dword"),
    bare(0x3e, "buffer_wbinvl1"),
    bare(0x3f, "buffer_wbinvl1_vol"),
    atomic(0x40, "buffer_atomic_swap", 1),
    cmpswap(0x41, "buffer_atomic_cmpswap", 1),
    atomic(0x42, "buffer_atomic_add", 1),
    atomic(0x43, "buffer_atomic_sub", 1),
    atomic(0x44, "buffer_atomic_smin", 1),
    atomic(0x45, "buffer_atomic_umin", 1),
    atomic(0x46, "buffer_atomic_smax", 1),
    atomic(0x47, "buffer_atomic_umax", 1),
    atomic(0x48, "buffer_atomic_and", 1),
    atomic(0x49, "buffer_atomic_or", 1),
    atomic(0x4a, "buffer_atomic_xor", 1),
    atomic(0x4b, "buffer_atomic_inc", 1),
    atomic(0x4c, "buffer_atomic_dec", 1),
    no_return(0x4d, "buffer_atomic_add_f32", 1).on(TargetSet::GFX908),
    atomic(0x4d, "buffer_atomic_add_f32", 1).on(TargetSet::GFX90A),
    no_return(0x4e, "buffer_atomic_pk_add_f16", 1).on(TargetSet::GFX908),
    atomic(0x4e, "buffer_atomic_pk_add_f16", 1).on(TargetSet::GFX90A),
    atomic(0x4f, "buffer_atomic_add_f64", 2).on(TargetSet::GFX90A),
    atomic(0x50, "buffer_atomic_min_f64", 2).on(TargetSet::GFX90A),
    atomic(0x51, "buffer_atomic_max_f64", 2).on(TargetSet::GFX90A),
    atomic(0x60, "buffer_atomic_swap_x2", 2),
    cmpswap(0x61, "buffer_atomic_cmpswap_x2", 2),
    atomic(0x62, "buffer_atomic_add_x2", 2),
    atomic(0x63, "buffer_atomic_sub_x2", 2),
    atomic(0x64, "buffer_atomic_smin_x2", 2),
    atomic(0x65, "buffer_atomic_umin_x2", 2),
    atomic(0x66, "buffer_atomic_smax_x2", 2),
    atomic(0x67, "buffer_atomic_umax_x2", 2),
    atomic(0x68, "buffer_atomic_and_x2", 2),
    atomic(0x69, "buffer_atomic_or_x2", 2),
    atomic(0x6a, "buffer_atomic_xor_x2", 2),
    atomic(0x6b, "buffer_atomic_inc_x2", 2),
    atomic(0x6c, "buffer_atomic_dec_x2", 2),
];
