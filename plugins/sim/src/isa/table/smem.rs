//! SMEM: scalar memory access and cache control.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{Imm, Sgpr},
    Ty::B32,
};

/// The base is a 64-bit address.
const BASE: u8 = 2;
/// The base is a buffer resource.
const BUFFER: u8 = 4;

const fn bare(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Smem, opcode, name)
}

const fn sgprs(dwords: u8) -> Slot {
    Slot::wide(Sgpr, B32, dwords)
}

/// SBASE and the offset.
const fn addressed(opcode: u16, name: &'static str, base: u8) -> Row {
    bare(opcode, name).src(0, sgprs(base)).src(1, sgprs(1))
}

const fn load(opcode: u16, name: &'static str, base: u8, dwords: u8) -> Row {
    addressed(opcode, name, base).dst(sgprs(dwords))
}

const fn store(opcode: u16, name: &'static str, base: u8, dwords: u8) -> Row {
    addressed(opcode, name, base).src(2, sgprs(dwords))
}

/// The old value is as wide as the new one.
const fn atomic(opcode: u16, name: &'static str, base: u8, dwords: u8) -> Row {
    store(opcode, name, base, dwords)
        .dst(sgprs(dwords))
        .with(Forms::ATOMIC)
}

/// New value, then comparand; the old value is returned in the place of the new one.
const fn cmpswap(opcode: u16, name: &'static str, base: u8, dwords: u8) -> Row {
    store(opcode, name, base, 2 * dwords)
        .dst(sgprs(dwords))
        .with(Forms::ATOMIC)
}

const fn time(opcode: u16, name: &'static str) -> Row {
    bare(opcode, name).dst(sgprs(2))
}

/// The data field is a number: the kind of access that is probed.
const fn probe(opcode: u16, name: &'static str, base: u8) -> Row {
    addressed(opcode, name, base).src(2, Slot::new(Imm, B32))
}

const fn discard(opcode: u16, name: &'static str) -> Row {
    addressed(opcode, name, BASE)
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 84] = [
    load(0x00, "s_load_dword", BASE, 1),
    load(0x01, "s_load_dwordx2", BASE, 2),
    load(0x02, "s_load_dwordx4", BASE, 4),
    load(0x03, "s_load_dwordx8", BASE, 8),
    load(0x04, "s_load_dwordx16", BASE, 16),
    load(0x05, "s_scratch_load_dword", BASE, 1),
    load(0x06, "s_scratch_load_dwordx2", BASE, 2),
    load(0x07, "s_scratch_load_dwordx4", BASE, 4),
    load(0x08, "s_buffer_load_dword", BUFFER, 1),
    load(0x09, "s_buffer_load_dwordx2", BUFFER, 2),
    load(0x0a, "s_buffer_load_dwordx4", BUFFER, 4),
    load(0x0b, "s_buffer_load_dwordx8", BUFFER, 8),
    load(0x0c, "s_buffer_load_dwordx16", BUFFER, 16),
    store(0x10, "s_store_dword", BASE, 1),
    store(0x11, "s_store_dwordx2", BASE, 2),
    store(0x12, "s_store_dwordx4", BASE, 4),
    store(0x15, "s_scratch_store_dword", BASE, 1),
    store(0x16, "s_scratch_store_dwordx2", BASE, 2),
    store(0x17, "s_scratch_store_dwordx4", BASE, 4),
    store(0x18, "s_buffer_store_dword", BUFFER, 1),
    store(0x19, "s_buffer_store_dwordx2", BUFFER, 2),
    store(0x1a, "s_buffer_store_dwordx4", BUFFER, 4),
    bare(0x20, "s_dcache_inv"),
    bare(0x21, "s_dcache_wb"),
    bare(0x22, "s_dcache_inv_vol"),
    bare(0x23, "s_dcache_wb_vol"),
    time(0x24, "s_memtime"),
    time(0x25, "s_memrealtime"),
    probe(0x26, "s_atc_probe", BASE),
    probe(0x27, "s_atc_probe_buffer", BUFFER),
    discard(0x28, "s_dcache_discard"),
    discard(0x29, "s_dcache_discard_x2"),
    atomic(0x40, "s_buffer_atomic_swap", BUFFER, 1),
    cmpswap(0x41, "s_buffer_atomic_cmpswap", BUFFER, 1),
    atomic(0x42, "s_buffer_atomic_add", BUFFER, 1),
    atomic(0x43, "s_buffer_atomic_sub", BUFFER, 1),
    atomic(0x44, "s_buffer_atomic_smin", BUFFER, 1),
    atomic(0x45, "s_buffer_atomic_umin", BUFFER, 1),
    atomic(0x46, "s_buffer_atomic_smax", BUFFER, 1),
    atomic(0x47, "s_buffer_atomic_umax", BUFFER, 1),
    atomic(0x48, "s_buffer_atomic_and", BUFFER, 1),
    atomic(0x49, "s_buffer_atomic_or", BUFFER, 1),
    atomic(0x4a, "s_buffer_atomic_xor", BUFFER, 1),
    atomic(0x4b, "s_buffer_atomic_inc", BUFFER, 1),
    atomic(0x4c, "s_buffer_atomic_dec", BUFFER, 1),
    atomic(0x60, "s_buffer_atomic_swap_x2", BUFFER, 2),
    cmpswap(0x61, "s_buffer_atomic_cmpswap_x2", BUFFER, 2),
    atomic(0x62, "s_buffer_atomic_add_x2", BUFFER, 2),
    atomic(0x63, "s_buffer_atomic_sub_x2", BUFFER, 2),
    atomic(0x64, "s_buffer_atomic_smin_x2", BUFFER, 2),
    atomic(0x65, "s_buffer_atomic_umin_x2", BUFFER, 2),
    atomic(0x66, "s_buffer_atomic_smax_x2", BUFFER, 2),
    atomic(0x67, "s_buffer_atomic_umax_x2", BUFFER, 2),
    atomic(0x68, "s_buffer_atomic_and_x2", BUFFER, 2),
    atomic(0x69, "s_buffer_atomic_or_x2", BUFFER, 2),
    atomic(0x6a, "s_buffer_atomic_xor_x2", BUFFER, 2),
    atomic(0x6b, "s_buffer_atomic_inc_x2", BUFFER, 2),
    atomic(0x6c, "s_buffer_atomic_dec_x2", BUFFER, 2),
    atomic(0x80, "s_atomic_swap", BASE, 1),
    cmpswap(0x81, "s_atomic_cmpswap", BASE, 1),
    atomic(0x82, "s_atomic_add", BASE, 1),
    atomic(0x83, "s_atomic_sub", BASE, 1),
    atomic(0x84, "s_atomic_smin", BASE, 1),
    atomic(0x85, "s_atomic_umin", BASE, 1),
    atomic(0x86, "s_atomic_smax", BASE, 1),
    atomic(0x87, "s_atomic_umax", BASE, 1),
    atomic(0x88, "s_atomic_and", BASE, 1),
    atomic(0x89, "s_atomic_or", BASE, 1),
    atomic(0x8a, "s_atomic_xor", BASE, 1),
    atomic(0x8b, "s_atomic_inc", BASE, 1),
    atomic(0x8c, "s_atomic_dec", BASE, 1),
    atomic(0xa0, "s_atomic_swap_x2", BASE, 2),
    cmpswap(0xa1, "s_atomic_cmpswap_x2", BASE, 2),
    atomic(0xa2, "s_atomic_add_x2", BASE, 2),
    atomic(0xa3, "s_atomic_sub_x2", BASE, 2),
    atomic(0xa4, "s_atomic_smin_x2", BASE, 2),
    atomic(0xa5, "s_atomic_umin_x2", BASE, 2),
    atomic(0xa6, "s_atomic_smax_x2", BASE, 2),
    atomic(0xa7, "s_atomic_umax_x2", BASE, 2),
    atomic(0xa8, "s_atomic_and_x2", BASE, 2),
    atomic(0xa9, "s_atomic_or_x2", BASE, 2),
    atomic(0xaa, "s_atomic_xor_x2", BASE, 2),
    atomic(0xab, "s_atomic_inc_x2", BASE, 2),
    atomic(0xac, "s_atomic_dec_x2", BASE, 2),
];
