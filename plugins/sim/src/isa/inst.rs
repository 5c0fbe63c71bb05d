//! A decoded instruction: its table row, its operands, its modifiers.
//!
//! Operands that the encoding implies are written out, so that whoever executes an instruction need
//! not know how it was encoded: `v_addc_co_u32` in VOP2 form names VCC in `sdst` and `src[2]`, a
//! VOPC compare in its 32-bit form names VCC in `sdst`, `v_mac_f32` and `v_fmac_f32` name their
//! destination in `src[2]` too. SCC is never an operand unless a source field names it.
//!
//! Operand order per family:
//!
//! | family | dst | sdst | src\[0\] | src\[1\] | src\[2\] | src\[3\] | imm |
//! |---|---|---|---|---|---|---|---|
//! | SOP2, SOPC | SDST | | SSRC0 | SSRC1 | | | |
//! | SOP1 | SDST | | SSRC0 | old SDST, where bits of it survive (`s_cmov`, `s_bitset`) | | | |
//! | SOPK | SDST | | what is read: old SDST (`s_cmovk`, `s_addk`, `s_mulk`), the register in the place of SDST (`s_cmpk`, `s_setreg_b32`, `s_cbranch_i_fork`) or a literal (`s_setreg_imm32_b32`) | | | | SIMM16, sign-extended; zero-extended for the unsigned compares |
//! | SOPP | | | | | | | SIMM16, sign-extended |
//! | SMEM | loaded or returned data | | base pair or buffer quad | offset register | stored or atomic data, or the number that `s_atc_probe` sends | | 21-bit signed offset |
//! | VOP1, VOP2, VOP3, VOP3P | VDST, or SDST of `v_readlane` and `v_readfirstlane` | carry out | SRC0 | SRC1 | SRC2 | | |
//! | VOPC | | condition mask: VCC, or SDST | SRC0 | SRC1 | | | |
//! | VINTRP and interpolation in VOP3 | VDST | | VSRC, or the parameter number of `v_interp_mov` | | SRC2 | | attribute * 4 + channel |
//! | MUBUF, MTBUF | loaded or returned data | | VADDR | SRSRC | SOFFSET | stored or atomic data | 12-bit offset |
//! | MIMG | loaded or returned data | | VADDR | SRSRC | SSAMP | stored or atomic data | |
//! | DS | loaded or returned data | | ADDR, or the count of a `ds_gws` operation | DATA0 | DATA1 | | 16-bit offset, or OFFSET0 + 256 * OFFSET1 |
//! | FLAT, GLOBAL, SCRATCH | loaded or returned data | | VADDR | DATA | SADDR | | 12-bit offset, 13-bit signed for GLOBAL and SCRATCH |
//! | EXP | | | VSRC0 | VSRC1 | VSRC2 | VSRC3 | |
//!
//! - `v_madmk` and `v_madak` hold their literal in `src[1]` and `src[2]` respectively; `v_writelane`
//!   has its destination, whose other lanes survive, in `src[2]`; `v_swap_b32` exchanges `dst` and
//!   `src[0]`; `v_div_fmas` reads VCC in `src[3]`.
//! - Atomics name a destination exactly when they return the old value.
//! - MUBUF and MTBUF have no VADDR without IDXEN and OFFEN; with both it is a pair, index first.
//! - VADDR of GLOBAL is a 64-bit address without SADDR and a 32-bit offset with it. SCRATCH has
//!   VADDR or SADDR, never both; each is a 32-bit offset.
//! - A load with the `lds` modifier has no destination.
//! - Compares whose name starts with `v_cmpx` write EXEC as well as `sdst`.

use super::row::{Family, Row};

/// A register that is not a numbered SGPR or VGPR. 64-bit operands name the low half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Special {
    /// Low half of FLAT_SCRATCH.
    FlatScratchLo,
    /// High half of FLAT_SCRATCH.
    FlatScratchHi,
    /// Low half of XNACK_MASK.
    XnackMaskLo,
    /// High half of XNACK_MASK.
    XnackMaskHi,
    /// Low half of VCC.
    VccLo,
    /// High half of VCC.
    VccHi,
    /// Trap handler temporary 0 to 15.
    Ttmp(u8),
    /// M0.
    M0,
    /// Low half of EXEC.
    ExecLo,
    /// High half of EXEC.
    ExecHi,
    /// Base of the shared (LDS) aperture.
    SharedBase,
    /// Limit of the shared aperture.
    SharedLimit,
    /// Base of the private (scratch) aperture.
    PrivateBase,
    /// Limit of the private aperture.
    PrivateLimit,
    /// The exiting wave of primitive ordered pixel shading.
    PopsExitingWaveId,
    /// 1 when VCC is zero.
    Vccz,
    /// 1 when EXEC is zero.
    Execz,
    /// The scalar condition code.
    Scc,
    /// A dword of LDS at the address in M0.
    LdsDirect,
}

/// An operand of a decoded instruction. Multi-dword operands name their first register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Operand {
    /// Absent.
    #[default]
    None,
    /// A vector register.
    Vgpr(u16),
    /// An accumulation register.
    Agpr(u16),
    /// A scalar register, 0 to 101.
    Sgpr(u16),
    /// A special register.
    Special(Special),
    /// An inline integer, -16 to 64.
    Int(i32),
    /// An inline float, as the bits of the single-precision number: 0.5, 1, 2, 4, their negatives,
    /// and 1/(2 pi). The slot's type decides the width that is read, for integers too:
    /// [`inline_f16`] for 16-bit and packed 16-bit operands, [`inline_f64`] for 64-bit ones.
    Float(u32),
    /// A literal dword after the instruction word. It is the high half of a 64-bit float operand,
    /// sign-extended for I64 and zero-extended for U64 and B64. 16-bit operands take its low half.
    Literal(u32),
}

/// The half-precision bits of an inline float given by its single-precision bits.
#[must_use]
pub const fn inline_f16(bits: u32) -> u16 {
    match bits {
        0x3f00_0000 => 0x3800,
        0xbf00_0000 => 0xb800,
        0x3f80_0000 => 0x3c00,
        0xbf80_0000 => 0xbc00,
        0x4000_0000 => 0x4000,
        0xc000_0000 => 0xc000,
        0x4080_0000 => 0x4400,
        0xc080_0000 => 0xc400,
        _ => 0x3118,
    }
}

/// The double-precision bits of an inline float given by its single-precision bits.
#[must_use]
pub const fn inline_f64(bits: u32) -> u64 {
    match bits {
        0x3f00_0000 => 0x3fe0_0000_0000_0000,
        0xbf00_0000 => 0xbfe0_0000_0000_0000,
        0x3f80_0000 => 0x3ff0_0000_0000_0000,
        0xbf80_0000 => 0xbff0_0000_0000_0000,
        0x4000_0000 => 0x4000_0000_0000_0000,
        0xc000_0000 => 0xc000_0000_0000_0000,
        0x4080_0000 => 0x4010_0000_0000_0000,
        0xc080_0000 => 0xc010_0000_0000_0000,
        _ => 0x3fc4_5f30_6dc9_c882,
    }
}

/// The bits of 1/(2 pi) in single precision, the one inline float that is not a power of two.
pub const INV_2PI_F32: u32 = 0x3e22_f983;

/// A part of a dword that an SDWA operand selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sel {
    /// Byte 0 to 3.
    Byte(u8),
    /// Word 0 or 1.
    Word(u8),
    /// The whole dword.
    Dword,
}

/// What SDWA does with the destination bits it does not select.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DstUnused {
    /// They become zero.
    Pad,
    /// Those above become copies of the sign, those below zero.
    Sext,
    /// They keep their value.
    Preserve,
}

/// Sub-dword addressing. Negation and absolute value of its sources are in [`Mods`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sdwa {
    /// Part of the destination that is written. `Dword` for compares.
    pub dst_sel: Sel,
    /// What happens to the rest. `Pad` for compares.
    pub dst_unused: DstUnused,
    /// Part of source 0.
    pub src0_sel: Sel,
    /// Part of source 1. `Dword` if there is none.
    pub src1_sel: Sel,
    /// Whether source 0 is sign-extended.
    pub src0_sext: bool,
    /// Whether source 1 is sign-extended.
    pub src1_sext: bool,
}

/// Data-parallel processing: source 0 comes from another lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dpp {
    /// The nine-bit permutation selector.
    pub ctrl: u16,
    /// Rows (of 16 lanes) that are written.
    pub row_mask: u8,
    /// Banks (of four lanes in each row) that are written.
    pub bank_mask: u8,
    /// Lanes that read outside read zero, instead of being left alone.
    pub bound_ctrl: bool,
}

/// Everything in an instruction that is neither opcode nor operand nor immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Mods {
    /// Sources that are negated, bit n for `src[n]`. In SDWA and DPP forms too, and for `mad_mix`.
    pub neg: u8,
    /// Sources whose absolute value is taken, before negation.
    pub abs: u8,
    /// VOP3P: low halves that are negated.
    pub neg_lo: u8,
    /// VOP3P: high halves that are negated.
    pub neg_hi: u8,
    /// The result is clamped.
    pub clamp: bool,
    /// Output multiplier: 0 none, 1 times two, 2 times four, 3 divided by two.
    pub omod: u8,
    /// High halves selected: bits 0 to 2 for sources, bit 3 for the destination (VOP3). In VOP3P the
    /// half that feeds the low result.
    pub op_sel: u8,
    /// VOP3P: the half that feeds the high result.
    pub op_sel_hi: u8,
    /// Sub-dword addressing.
    pub sdwa: Option<Sdwa>,
    /// Cross-lane source.
    pub dpp: Option<Dpp>,
    /// MFMA: log2 of the broadcast group size.
    pub cbsz: u8,
    /// MFMA: which block is broadcast.
    pub abid: u8,
    /// MFMA: lane-group pattern of source B, or negation for double precision.
    pub blgp: u8,
    /// Globally coherent; for atomics: return the old value.
    pub glc: bool,
    /// System-level coherent.
    pub slc: bool,
    /// System coherence level (gfx90a).
    pub scc: bool,
    /// SMEM, FLAT: non-volatile.
    pub nv: bool,
    /// SMEM: there is an immediate offset (perhaps beside the offset register).
    pub imm_offset: bool,
    /// Data goes to LDS.
    pub lds: bool,
    /// The address register holds an index.
    pub idxen: bool,
    /// The address register holds an offset.
    pub offen: bool,
    /// DS: the global data share.
    pub gds: bool,
    /// Texture fail enable: one more register is returned.
    pub tfe: bool,
    /// LOD warning enable.
    pub lwe: bool,
    /// MIMG: components that are transferred.
    pub dmask: u8,
    /// MIMG: coordinates are not normalised.
    pub unorm: bool,
    /// MIMG: array.
    pub da: bool,
    /// MIMG: addresses are 16 bits wide.
    pub a16: bool,
    /// MIMG: data is 16 bits wide.
    pub d16: bool,
    /// MTBUF: data format.
    pub dfmt: u8,
    /// MTBUF: number format.
    pub nfmt: u8,
    /// EXP: target.
    pub exp_target: u8,
    /// EXP: enabled components.
    pub exp_en: u8,
    /// EXP: last export.
    pub exp_done: bool,
    /// EXP: components are packed halves, two in each of `src[0]` and `src[1]`.
    pub exp_compr: bool,
    /// EXP: the mask is valid.
    pub exp_vm: bool,
    /// VINTRP in VOP3 form: high half of the attribute.
    pub attr_high: bool,
}

/// A decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Inst {
    /// What it is.
    pub row: &'static Row,
    /// Bytes it takes: 4, 8 or 12.
    pub size: u8,
    /// The destination.
    pub dst: Operand,
    /// The scalar destination beside it.
    pub sdst: Operand,
    /// The sources.
    pub src: [Operand; 4],
    /// The immediate or memory offset.
    pub imm: i32,
    /// The modifiers.
    pub mods: Mods,
}

/// Why bytes are not an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Cannot decode {word:#010x} ({}, opcode {}): {reason}", .family.map_or("no family", Family::name), .opcode.map_or_else(|| "unknown".to_owned(), |op| format!("{op:#x}")))]
pub struct DecodeError {
    /// The first dword, as far as it is there.
    pub word: u32,
    /// The encoding family, if the word belongs to one.
    pub family: Option<Family>,
    /// The opcode field, if there is a family.
    pub opcode: Option<u16>,
    /// What is wrong.
    pub reason: &'static str,
}

impl Inst {
    /// Registers that the data of an image instruction takes: one per component of DMASK (four for
    /// gathers), half of that when D16 packs pairs, and one more for TFE.
    #[must_use]
    pub fn image_data_dwords(&self) -> u8 {
        let (row, mods) = (self.row, &self.mods);
        let slot = if row.src[3].is_some() { row.src[3] } else { row.dst };
        let tfe = u8::from(mods.tfe);
        let enabled = [0, 1, 2, 3]
            .map(|n| mods.dmask >> n & 1)
            .iter()
            .sum::<u8>()
            .max(1);
        if row.forms.contains(super::row::Forms::ATOMIC) {
            // One or two dwords per value, one or two values.
            return if enabled + tfe == 2 * slot.dwords {
                2 * slot.dwords
            } else {
                slot.dwords
            };
        }
        let components = if slot.dwords == 4 { 4 } else { enabled };
        let packed = if mods.d16 {
            components.div_ceil(2)
        } else {
            components
        };
        packed + tfe
    }
}
