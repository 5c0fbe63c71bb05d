//! From bytes to [`Inst`].
//!
//! The leading bits of the first dword name the encoding family ("Vega" ISA, chapter 13, Microcode
//! Formats); each family then has its opcode at a fixed place, and the row says what the other
//! fields hold. Bits that no field of the row uses are ignored, as hardware does.

mod memory;
mod operand;
mod scalar;
mod vector;

use super::inst::{DecodeError, Inst, Mods, Operand};
use super::row::{Family, Forms, SlotKind};
use super::table;
use super::target::Target;

/// Decodes the instruction at the start of `bytes`.
///
/// # Errors
///
/// When the bytes are no instruction of `target`, or stop before its end.
pub fn decode(target: Target, bytes: &[u8]) -> Result<Inst, DecodeError> {
    let mut code = Code {
        target,
        bytes,
        word: 0,
        family: None,
        opcode: None,
    };
    code.word = code.dword(0)?;
    let word = code.word;
    match word >> 26 {
        0..=0x1f => match word >> 25 {
            0x3f => vector::vop1(&mut code),
            0x3e => vector::vopc(&mut code),
            _ => vector::vop2(&mut code),
        },
        0x20..=0x2f => match word >> 23 {
            0x17d => scalar::sop1(&mut code),
            0x17e => scalar::sopc(&mut code),
            0x17f => scalar::sopp(&mut code),
            _ if word >> 28 == 0xb => scalar::sopk(&mut code),
            _ => scalar::sop2(&mut code),
        },
        0x30 => scalar::smem(&mut code),
        0x31 => memory::exp(&mut code),
        0x34 if word >> 23 == 0x1a7 => vector::vop3p(&mut code),
        0x34 => vector::vop3(&mut code),
        0x35 => vector::vintrp(&mut code),
        0x36 => memory::ds(&mut code),
        0x37 => memory::flat(&mut code),
        0x38 => memory::mubuf(&mut code),
        0x3a => memory::mtbuf(&mut code),
        0x3c => memory::mimg(&mut code),
        _ => Err(code.error("no encoding family starts like this")),
    }
}

/// The bytes under decoding and what is known of them so far, for errors.
struct Code<'a> {
    target: Target,
    bytes: &'a [u8],
    word: u32,
    family: Option<Family>,
    opcode: Option<u16>,
}

impl Code<'_> {
    /// Dword `n` after the start.
    fn dword(&self, n: usize) -> Result<u32, DecodeError> {
        let bytes = self.bytes.get(4 * n..4 * n + 4).and_then(|b| b.try_into().ok());
        bytes
            .map(u32::from_le_bytes)
            .ok_or_else(|| self.error("the code ends within an instruction"))
    }

    fn error(&self, reason: &'static str) -> DecodeError {
        DecodeError {
            word: self.word,
            family: self.family,
            opcode: self.opcode,
            reason,
        }
    }

    /// Bits `low` to `low + len - 1` of the first dword.
    fn bits(&self, low: u32, len: u32) -> u32 {
        bits(self.word, low, len)
    }

    /// Starts an instruction of `size` dwords with the opcode in bits `low..low + len`.
    fn start(&mut self, family: Family, low: u32, len: u32, dwords: u8) -> Result<Inst, DecodeError> {
        let opcode = field16(self.bits(low, len));
        self.family = Some(family);
        self.opcode = Some(opcode);
        let row = table::row(self.target, family, opcode)
            .ok_or_else(|| self.error("the processor has no such opcode"))?;
        Ok(Inst {
            row,
            size: 4 * dwords,
            dst: Operand::None,
            sdst: Operand::None,
            src: [Operand::None; 4],
            imm: 0,
            mods: Mods::default(),
        })
    }

    /// Whether an atomic operation returns the old value, and anything else a value at all.
    fn returns(&self, inst: &Inst) -> Result<bool, DecodeError> {
        let has_value = inst.row.dst.is_some();
        if !inst.row.forms.contains(Forms::ATOMIC) {
            return Ok(has_value && !inst.mods.lds);
        }
        if inst.mods.glc && !has_value {
            return Err(self.error("the processor cannot return the value of this atomic"));
        }
        Ok(inst.mods.glc)
    }

    /// Fills the operands that the row implies and returns the finished instruction.
    fn finish(&self, mut inst: Inst) -> Inst {
        for n in 0..4 {
            match inst.row.src[n].kind {
                SlotKind::Vcc => inst.src[n] = operand::VCC,
                SlotKind::Dst => inst.src[n] = inst.dst,
                _ => {}
            }
        }
        if inst.row.sdst.kind == SlotKind::Vcc && inst.sdst == Operand::None {
            inst.sdst = operand::VCC;
        }
        inst
    }
}

/// Bits `low` to `low + len - 1` of `word`.
fn bits(word: u32, low: u32, len: u32) -> u32 {
    (word >> low) & ((1 << len) - 1)
}

/// Bit `n` of `word`.
fn bit(word: u32, n: u32) -> bool {
    word >> n & 1 != 0
}

/// A field of at most eight bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "callers pass fields of at most eight bits"
)]
fn field8(value: u32) -> u8 {
    value as u8
}

/// A field of at most sixteen bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "callers pass fields of at most sixteen bits"
)]
fn field16(value: u32) -> u16 {
    value as u16
}

/// The low `len` bits as a signed number.
#[expect(clippy::cast_possible_wrap, reason = "two's complement is what is asked for")]
fn signed(value: u32, len: u32) -> i32 {
    ((value << (32 - len)) as i32) >> (32 - len)
}

/// An immediate of at most 31 bits.
#[expect(clippy::cast_possible_wrap, reason = "callers pass fields of at most 31 bits")]
fn unsigned(value: u32) -> i32 {
    value as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::inst::Special;

    const VCC: Operand = Operand::Special(Special::VccLo);

    fn gfx900(words: &[u32]) -> Result<Inst, DecodeError> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        decode(Target::Gfx900, &bytes)
    }

    #[test]
    fn a_carry_chain_names_vcc() {
        // v_addc_co_u32_e32 v1, vcc, v2, v3, vcc
        let inst = gfx900(&[0x3802_0702]).expect("it decodes");
        assert_eq!((inst.sdst, inst.src[2]), (VCC, VCC));
        assert_eq!((inst.dst, inst.src[1]), (Operand::Vgpr(1), Operand::Vgpr(3)));
    }

    #[test]
    fn a_short_compare_names_vcc() {
        // v_cmp_lt_f32_e32 vcc, v1, v2
        let inst = gfx900(&[0x7c82_0501]).expect("it decodes");
        assert_eq!((inst.dst, inst.sdst), (Operand::None, VCC));
    }

    #[test]
    fn an_accumulator_is_a_source() {
        // v_mac_f32_e32 v4, v5, v6
        let inst = gfx900(&[0x2c08_0d05]).expect("it decodes");
        assert_eq!((inst.dst, inst.src[2]), (Operand::Vgpr(4), Operand::Vgpr(4)));
    }

    #[test]
    fn a_conditional_move_reads_its_destination() {
        // s_cmov_b32 s3, s4
        let inst = gfx900(&[0xbe83_0204]).expect("it decodes");
        assert_eq!(inst.src[..2], [Operand::Sgpr(4), Operand::Sgpr(3)]);
    }

    #[test]
    fn a_short_immediate_is_signed_unless_it_is_compared_unsigned() {
        // s_addk_i32 s5, 0xfffe; s_cmpk_eq_u32 s5, 0xfffe
        assert_eq!(gfx900(&[0xb705_fffe]).map(|inst| inst.imm), Ok(-2));
        assert_eq!(gfx900(&[0xb405_fffe]).map(|inst| inst.imm), Ok(0xfffe));
    }

    #[test]
    fn an_atomic_has_a_destination_when_it_returns() {
        // global_atomic_add v[2:3], v4, off; global_atomic_add v1, v[2:3], v4, off glc
        assert_eq!(
            gfx900(&[0xdd08_8000, 0x007f_0402]).map(|inst| inst.dst),
            Ok(Operand::None)
        );
        assert_eq!(
            gfx900(&[0xdd09_8000, 0x017f_0402]).map(|inst| inst.dst),
            Ok(Operand::Vgpr(1))
        );
    }

    #[test]
    fn an_unknown_opcode_is_named_with_its_family() {
        let error = gfx900(&[0xbe80_ff00]).expect_err("SOP1 has no opcode 0xff");
        assert_eq!((error.family, error.opcode), (Some(Family::Sop1), Some(0xff)));
        assert!(
            error.to_string().contains("0xbe80ff00 (SOP1, opcode 0xff)"),
            "{error}"
        );
    }
}
