//! MIMG: image access. The rows give the fewest address registers that LLVM assumes; how many are
//! read follows from the resource's dimensions. How many data registers are used follows from
//! DMASK, D16 and TFE.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{Sgpr, Vgpr},
    Ty::B32,
};
use crate::isa::target::TargetSet;

const fn vgprs(dwords: u8) -> Slot {
    Slot::wide(Vgpr, B32, dwords)
}

const fn addressed(opcode: u16, name: &'static str, address: u8) -> Row {
    Row::new(Family::Mimg, opcode, name)
        .src(0, vgprs(address))
        .src(1, Slot::wide(Sgpr, B32, 8))
}

const fn load(opcode: u16, name: &'static str) -> Row {
    addressed(opcode, name, 1).dst(vgprs(1))
}

const fn store(opcode: u16, name: &'static str) -> Row {
    addressed(opcode, name, 1).src(3, vgprs(1))
}

const fn atomic(opcode: u16, name: &'static str) -> Row {
    store(opcode, name).dst(vgprs(1)).with(Forms::ATOMIC)
}

/// New value, then comparand.
const fn cmpswap(opcode: u16, name: &'static str) -> Row {
    store(opcode, name)
        .src(3, vgprs(2))
        .dst(vgprs(1))
        .with(Forms::ATOMIC)
}

const fn lod(opcode: u16, name: &'static str, address: u8) -> Row {
    addressed(opcode, name, address)
        .src(2, Slot::wide(Sgpr, B32, 4))
        .dst(vgprs(1))
}

const fn sample(opcode: u16, name: &'static str, address: u8) -> Row {
    lod(opcode, name, address).with(Forms::D16)
}

/// One component of four texels, whatever DMASK says.
const fn gather(opcode: u16, name: &'static str, address: u8) -> Row {
    sample(opcode, name, address).dst(vgprs(4))
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 89] = [
    load(0x00, "image_load").with(Forms::D16),
    load(0x01, "image_load_mip").with(Forms::D16),
    load(0x02, "image_load_pck"),
    load(0x03, "image_load_pck_sgn"),
    load(0x04, "image_load_mip_pck"),
    load(0x05, "image_load_mip_pck_sgn"),
    store(0x08, "image_store").with(Forms::D16),
    store(0x09, "image_store_mip").with(Forms::D16),
    store(0x0a, "image_store_pck"),
    store(0x0b, "image_store_mip_pck"),
    load(0x0e, "image_get_resinfo"),
    atomic(0x10, "image_atomic_swap"),
    cmpswap(0x11, "image_atomic_cmpswap"),
    atomic(0x12, "image_atomic_add"),
    atomic(0x13, "image_atomic_sub"),
    atomic(0x14, "image_atomic_smin"),
    atomic(0x15, "image_atomic_umin"),
    atomic(0x16, "image_atomic_smax"),
    atomic(0x17, "image_atomic_umax"),
    atomic(0x18, "image_atomic_and"),
    atomic(0x19, "image_atomic_or"),
    atomic(0x1a, "image_atomic_xor"),
    atomic(0x1b, "image_atomic_inc"),
    atomic(0x1c, "image_atomic_dec"),
    sample(0x20, "image_sample", 1),
    sample(0x21, "image_sample_cl", 1).on(TargetSet::TO_GFX908),
    sample(0x22, "image_sample_d", 2).on(TargetSet::TO_GFX908),
    sample(0x23, "image_sample_d_cl", 2).on(TargetSet::TO_GFX908),
    sample(0x24, "image_sample_l", 1).on(TargetSet::TO_GFX908),
    sample(0x25, "image_sample_b", 2).on(TargetSet::TO_GFX908),
    sample(0x26, "image_sample_b_cl", 2).on(TargetSet::TO_GFX908),
    sample(0x27, "image_sample_lz", 1).on(TargetSet::TO_GFX908),
    sample(0x28, "image_sample_c", 2).on(TargetSet::TO_GFX908),
    sample(0x29, "image_sample_c_cl", 2).on(TargetSet::TO_GFX908),
    sample(0x2a, "image_sample_c_d", 3).on(TargetSet::TO_GFX908),
    sample(0x2b, "image_sample_c_d_cl", 3).on(TargetSet::TO_GFX908),
    sample(0x2c, "image_sample_c_l", 2).on(TargetSet::TO_GFX908),
    sample(0x2d, "image_sample_c_b", 3).on(TargetSet::TO_GFX908),
    sample(0x2e, "image_sample_c_b_cl", 3).on(TargetSet::TO_GFX908),
    sample(0x2f, "image_sample_c_lz", 2).on(TargetSet::TO_GFX908),
    sample(0x30, "image_sample_o", 2).on(TargetSet::TO_GFX908),
    sample(0x31, "image_sample_cl_o", 2).on(TargetSet::TO_GFX908),
    sample(0x32, "image_sample_d_o", 3).on(TargetSet::TO_GFX908),
    sample(0x33, "image_sample_d_cl_o", 3).on(TargetSet::TO_GFX908),
    sample(0x34, "image_sample_l_o", 2).on(TargetSet::TO_GFX908),
    sample(0x35, "image_sample_b_o", 3).on(TargetSet::TO_GFX908),
    sample(0x36, "image_sample_b_cl_o", 3).on(TargetSet::TO_GFX908),
    sample(0x37, "image_sample_lz_o", 2).on(TargetSet::TO_GFX908),
    sample(0x38, "image_sample_c_o", 3).on(TargetSet::TO_GFX908),
    sample(0x39, "image_sample_c_cl_o", 3).on(TargetSet::TO_GFX908),
    sample(0x3a, "image_sample_c_d_o", 4).on(TargetSet::TO_GFX908),
    sample(0x3b, "image_sample_c_d_cl_o", 4).on(TargetSet::TO_GFX908),
    sample(0x3c, "image_sample_c_l_o", 3).on(TargetSet::TO_GFX908),
    sample(0x3d, "image_sample_c_b_o", 4).on(TargetSet::TO_GFX908),
    sample(0x3e, "image_sample_c_b_cl_o", 4).on(TargetSet::TO_GFX908),
    sample(0x3f, "image_sample_c_lz_o", 3).on(TargetSet::TO_GFX908),
    gather(0x40, "image_gather4", 1).on(TargetSet::TO_GFX908),
    gather(0x41, "image_gather4_cl", 1).on(TargetSet::TO_GFX908),
    gather(0x44, "image_gather4_l", 1).on(TargetSet::TO_GFX908),
    gather(0x45, "image_gather4_b", 2).on(TargetSet::TO_GFX908),
    gather(0x46, "image_gather4_b_cl", 2).on(TargetSet::TO_GFX908),
    gather(0x47, "image_gather4_lz", 1).on(TargetSet::TO_GFX908),
    gather(0x48, "image_gather4_c", 2).on(TargetSet::TO_GFX908),
    gather(0x49, "image_gather4_c_cl", 2).on(TargetSet::TO_GFX908),
    gather(0x4c, "image_gather4_c_l", 2).on(TargetSet::TO_GFX908),
    gather(0x4d, "image_gather4_c_b", 3).on(TargetSet::TO_GFX908),
    gather(0x4e, "image_gather4_c_b_cl", 3).on(TargetSet::TO_GFX908),
    gather(0x4f, "image_gather4_c_lz", 2).on(TargetSet::TO_GFX908),
    gather(0x50, "image_gather4_o", 2).on(TargetSet::TO_GFX908),
    gather(0x51, "image_gather4_cl_o", 2).on(TargetSet::TO_GFX908),
    gather(0x54, "image_gather4_l_o", 2).on(TargetSet::TO_GFX908),
    gather(0x55, "image_gather4_b_o", 3).on(TargetSet::TO_GFX908),
    gather(0x56, "image_gather4_b_cl_o", 3).on(TargetSet::TO_GFX908),
    gather(0x57, "image_gather4_lz_o", 2).on(TargetSet::TO_GFX908),
    gather(0x58, "image_gather4_c_o", 3).on(TargetSet::TO_GFX908),
    gather(0x59, "image_gather4_c_cl_o", 3).on(TargetSet::TO_GFX908),
    gather(0x5c, "image_gather4_c_l_o", 3).on(TargetSet::TO_GFX908),
    gather(0x5d, "image_gather4_c_b_o", 4).on(TargetSet::TO_GFX908),
    gather(0x5e, "image_gather4_c_b_cl_o", 4).on(TargetSet::TO_GFX908),
    gather(0x5f, "image_gather4_c_lz_o", 3).on(TargetSet::TO_GFX908),
    lod(0x60, "image_get_lod", 1).on(TargetSet::TO_GFX908),
    sample(0x68, "image_sample_cd", 2).on(TargetSet::TO_GFX908),
    sample(0x69, "image_sample_cd_cl", 2).on(TargetSet::TO_GFX908),
    sample(0x6a, "image_sample_c_cd", 3).on(TargetSet::TO_GFX908),
    sample(0x6b, "image_sample_c_cd_cl", 3).on(TargetSet::TO_GFX908),
    sample(0x6c, "image_sample_cd_o", 3).on(TargetSet::TO_GFX908),
    sample(0x6d, "image_sample_cd_cl_o", 3).on(TargetSet::TO_GFX908),
    sample(0x6e, "image_sample_c_cd_o", 4).on(TargetSet::TO_GFX908),
    sample(0x6f, "image_sample_c_cd_cl_o", 4).on(TargetSet::TO_GFX908),
];
