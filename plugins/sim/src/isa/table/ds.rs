//! DS: access to the local data share (LDS), the global data share and the wave synchronisation.

use crate::isa::row::{Family, Forms, Row, Slot, SlotKind::Vgpr, Ty::B32};
use crate::isa::target::TargetSet;

const fn bare(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Ds, opcode, name)
}

const fn vgprs(dwords: u8) -> Slot {
    Slot::wide(Vgpr, B32, dwords)
}

const fn addressed(opcode: u16, name: &'static str) -> Row {
    bare(opcode, name).src(0, vgprs(1))
}

const fn read(opcode: u16, name: &'static str, dwords: u8) -> Row {
    addressed(opcode, name).dst(vgprs(dwords))
}

/// Two values, from two addresses.
const fn read2(opcode: u16, name: &'static str, dwords: u8) -> Row {
    read(opcode, name, 2 * dwords).with(Forms::OFFSET2)
}

const fn write(opcode: u16, name: &'static str, dwords: u8) -> Row {
    addressed(opcode, name).src(1, vgprs(dwords))
}

/// One address, two values: mask and value, or comparand and value.
const fn write_pair(opcode: u16, name: &'static str, dwords: u8) -> Row {
    write(opcode, name, dwords).src(2, vgprs(dwords))
}

/// Two values, to two addresses.
const fn write2(opcode: u16, name: &'static str, dwords: u8) -> Row {
    write_pair(opcode, name, dwords).with(Forms::OFFSET2)
}

/// Returns a value and takes one.
const fn rtn1(opcode: u16, name: &'static str, dwords: u8) -> Row {
    write(opcode, name, dwords).dst(vgprs(dwords))
}

/// Returns a value and takes two.
const fn rtn2(opcode: u16, name: &'static str, dwords: u8) -> Row {
    write_pair(opcode, name, dwords).dst(vgprs(dwords))
}

/// Exchanges two values at two addresses.
const fn xchg2(opcode: u16, name: &'static str, dwords: u8) -> Row {
    write2(opcode, name, dwords).dst(vgprs(2 * dwords))
}

/// The second operand is in LDS too.
const fn src2(opcode: u16, name: &'static str) -> Row {
    addressed(opcode, name)
}

/// The address comes from M0 (and the lane).
const fn dst_only(opcode: u16, name: &'static str) -> Row {
    bare(opcode, name).dst(vgprs(1))
}

/// The address comes from M0 and the lane.
const fn data_only(opcode: u16, name: &'static str) -> Row {
    bare(opcode, name).src(1, vgprs(1))
}

/// Global wave synchronisation with a count, in the place of the address.
const fn gws(opcode: u16, name: &'static str) -> Row {
    addressed(opcode, name)
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 156] = [
    write(0x00, "ds_add_u32", 1),
    write(0x01, "ds_sub_u32", 1),
    write(0x02, "ds_rsub_u32", 1),
    write(0x03, "ds_inc_u32", 1),
    write(0x04, "ds_dec_u32", 1),
    write(0x05, "ds_min_i32", 1),
    write(0x06, "ds_max_i32", 1),
    write(0x07, "ds_min_u32", 1),
    write(0x08, "ds_max_u32", 1),
    write(0x09, "ds_and_b32", 1),
    write(0x0a, "ds_or_b32", 1),
    write(0x0b, "ds_xor_b32", 1),
    write_pair(0x0c, "ds_mskor_b32", 1),
    write(0x0d, "ds_write_b32", 1),
    write2(0x0e, "ds_write2_b32", 1),
    write2(0x0f, "ds_write2st64_b32", 1),
    write_pair(0x10, "ds_cmpst_b32", 1),
    write_pair(0x11, "ds_cmpst_f32", 1),
    write(0x12, "ds_min_f32", 1),
    write(0x13, "ds_max_f32", 1),
    bare(0x14, "ds_nop"),
    write(0x15, "ds_add_f32", 1),
    data_only(0x1d, "ds_write_addtid_b32"),
    write(0x1e, "ds_write_b8", 1),
    write(0x1f, "ds_write_b16", 1),
    rtn1(0x20, "ds_add_rtn_u32", 1),
    rtn1(0x21, "ds_sub_rtn_u32", 1),
    rtn1(0x22, "ds_rsub_rtn_u32", 1),
    rtn1(0x23, "ds_inc_rtn_u32", 1),
    rtn1(0x24, "ds_dec_rtn_u32", 1),
    rtn1(0x25, "ds_min_rtn_i32", 1),
    rtn1(0x26, "ds_max_rtn_i32", 1),
    rtn1(0x27, "ds_min_rtn_u32", 1),
    rtn1(0x28, "ds_max_rtn_u32", 1),
    rtn1(0x29, "ds_and_rtn_b32", 1),
    rtn1(0x2a, "ds_or_rtn_b32", 1),
    rtn1(0x2b, "ds_xor_rtn_b32", 1),
    rtn2(0x2c, "ds_mskor_rtn_b32", 1),
    rtn1(0x2d, "ds_wrxchg_rtn_b32", 1),
    xchg2(0x2e, "ds_wrxchg2_rtn_b32", 1),
    xchg2(0x2f, "ds_wrxchg2st64_rtn_b32", 1),
    rtn2(0x30, "ds_cmpst_rtn_b32", 1),
    rtn2(0x31, "ds_cmpst_rtn_f32", 1),
    rtn1(0x32, "ds_min_rtn_f32", 1),
    rtn1(0x33, "ds_max_rtn_f32", 1),
    rtn2(0x34, "ds_wrap_rtn_b32", 1),
    rtn1(0x35, "ds_add_rtn_f32", 1),
    read(0x36, "ds_read_b32", 1),
    read2(0x37, "ds_read2_b32", 1),
    read2(0x38, "ds_read2st64_b32", 1),
    read(0x39, "ds_read_i8", 1),
    read(0x3a, "ds_read_u8", 1),
    read(0x3b, "ds_read_i16", 1),
    read(0x3c, "ds_read_u16", 1),
    read(0x3d, "ds_swizzle_b32", 1),
    rtn1(0x3e, "ds_permute_b32", 1),
    rtn1(0x3f, "ds_bpermute_b32", 1),
    write(0x40, "ds_add_u64", 2),
    write(0x41, "ds_sub_u64", 2),
    write(0x42, "ds_rsub_u64", 2),
    write(0x43, "ds_inc_u64", 2),
    write(0x44, "ds_dec_u64", 2),
    write(0x45, "ds_min_i64", 2),
    write(0x46, "ds_max_i64", 2),
    write(0x47, "ds_min_u64", 2),
    write(0x48, "ds_max_u64", 2),
    write(0x49, "ds_and_b64", 2),
    write(0x4a, "ds_or_b64", 2),
    write(0x4b, "ds_xor_b64", 2),
    write_pair(0x4c, "ds_mskor_b64", 2),
    write(0x4d, "ds_write_b64", 2),
    write2(0x4e, "ds_write2_b64", 2),
    write2(0x4f, "ds_write2st64_b64", 2),
    write_pair(0x50, "ds_cmpst_b64", 2),
    write_pair(0x51, "ds_cmpst_f64", 2),
    write(0x52, "ds_min_f64", 2),
    write(0x53, "ds_max_f64", 2),
    write(0x54, "ds_write_b8_d16_hi", 1),
    write(0x55, "ds_write_b16_d16_hi", 1),
    read(0x56, "ds_read_u8_d16", 1),
    read(0x57, "ds_read_u8_d16_hi", 1),
    read(0x58, "ds_read_i8_d16", 1),
    read(0x59, "ds_read_i8_d16_hi", 1),
    read(0x5a, "ds_read_u16_d16", 1),
    read(0x5b, "ds_read_u16_d16_hi", 1),
    write(0x5c, "ds_add_f64", 2).on(TargetSet::GFX90A),
    rtn1(0x60, "ds_add_rtn_u64", 2),
    rtn1(0x61, "ds_sub_rtn_u64", 2),
    rtn1(0x62, "ds_rsub_rtn_u64", 2),
    rtn1(0x63, "ds_inc_rtn_u64", 2),
    rtn1(0x64, "ds_dec_rtn_u64", 2),
    rtn1(0x65, "ds_min_rtn_i64", 2),
    rtn1(0x66, "ds_max_rtn_i64", 2),
    rtn1(0x67, "ds_min_rtn_u64", 2),
    rtn1(0x68, "ds_max_rtn_u64", 2),
    rtn1(0x69, "ds_and_rtn_b64", 2),
    rtn1(0x6a, "ds_or_rtn_b64", 2),
    rtn1(0x6b, "ds_xor_rtn_b64", 2),
    rtn2(0x6c, "ds_mskor_rtn_b64", 2),
    rtn1(0x6d, "ds_wrxchg_rtn_b64", 2),
    xchg2(0x6e, "ds_wrxchg2_rtn_b64", 2),
    xchg2(0x6f, "ds_wrxchg2st64_rtn_b64", 2),
    rtn2(0x70, "ds_cmpst_rtn_b64", 2),
    rtn2(0x71, "ds_cmpst_rtn_f64", 2),
    rtn1(0x72, "ds_min_rtn_f64", 2),
    rtn1(0x73, "ds_max_rtn_f64", 2),
    read(0x76, "ds_read_b64", 2),
    read2(0x77, "ds_read2_b64", 2),
    read2(0x78, "ds_read2st64_b64", 2),
    rtn1(0x7c, "ds_add_rtn_f64", 2).on(TargetSet::GFX90A),
    rtn1(0x7e, "ds_condxchg32_rtn_b64", 2),
    src2(0x80, "ds_add_src2_u32").on(TargetSet::TO_GFX908),
    src2(0x81, "ds_sub_src2_u32").on(TargetSet::TO_GFX908),
    src2(0x82, "ds_rsub_src2_u32").on(TargetSet::TO_GFX908),
    src2(0x83, "ds_inc_src2_u32").on(TargetSet::TO_GFX908),
    src2(0x84, "ds_dec_src2_u32").on(TargetSet::TO_GFX908),
    src2(0x85, "ds_min_src2_i32").on(TargetSet::TO_GFX908),
    src2(0x86, "ds_max_src2_i32").on(TargetSet::TO_GFX908),
    src2(0x87, "ds_min_src2_u32").on(TargetSet::TO_GFX908),
    src2(0x88, "ds_max_src2_u32").on(TargetSet::TO_GFX908),
    src2(0x89, "ds_and_src2_b32").on(TargetSet::TO_GFX908),
    src2(0x8a, "ds_or_src2_b32").on(TargetSet::TO_GFX908),
    src2(0x8b, "ds_xor_src2_b32").on(TargetSet::TO_GFX908),
    src2(0x8d, "ds_write_src2_b32").on(TargetSet::TO_GFX908),
    src2(0x92, "ds_min_src2_f32").on(TargetSet::TO_GFX908),
    src2(0x93, "ds_max_src2_f32").on(TargetSet::TO_GFX908),
    src2(0x95, "ds_add_src2_f32").on(TargetSet::TO_GFX908),
    bare(0x98, "ds_gws_sema_release_all"),
    gws(0x99, "ds_gws_init"),
    bare(0x9a, "ds_gws_sema_v"),
    gws(0x9b, "ds_gws_sema_br"),
    bare(0x9c, "ds_gws_sema_p"),
    gws(0x9d, "ds_gws_barrier"),
    dst_only(0xb6, "ds_read_addtid_b32"),
    dst_only(0xbd, "ds_consume"),
    dst_only(0xbe, "ds_append"),
    read(0xbf, "ds_ordered_count", 1).on(TargetSet::TO_GFX908),
    src2(0xc0, "ds_add_src2_u64").on(TargetSet::TO_GFX908),
    src2(0xc1, "ds_sub_src2_u64").on(TargetSet::TO_GFX908),
    src2(0xc2, "ds_rsub_src2_u64").on(TargetSet::TO_GFX908),
    src2(0xc3, "ds_inc_src2_u64").on(TargetSet::TO_GFX908),
    src2(0xc4, "ds_dec_src2_u64").on(TargetSet::TO_GFX908),
    src2(0xc5, "ds_min_src2_i64").on(TargetSet::TO_GFX908),
    src2(0xc6, "ds_max_src2_i64").on(TargetSet::TO_GFX908),
    src2(0xc7, "ds_min_src2_u64").on(TargetSet::TO_GFX908),
    src2(0xc8, "ds_max_src2_u64").on(TargetSet::TO_GFX908),
    src2(0xc9, "ds_and_src2_b64").on(TargetSet::TO_GFX908),
    src2(0xca, "ds_or_src2_b64").on(TargetSet::TO_GFX908),
    src2(0xcb, "ds_xor_src2_b64").on(TargetSet::TO_GFX908),
    src2(0xcd, "ds_write_src2_b64").on(TargetSet::TO_GFX908),
    src2(0xd2, "ds_min_src2_f64").on(TargetSet::TO_GFX908),
    src2(0xd3, "ds_max_src2_f64").on(TargetSet::TO_GFX908),
    write(0xde, "ds_write_b96", 3),
    write(0xdf, "ds_write_b128", 4),
    read(0xfe, "ds_read_b96", 3),
    read(0xff, "ds_read_b128", 4),
];
