//! Scalar slots: scalar registers and scalar constants in one array.
//!
//! A wave's scalar registers sit in one array at their hardware encodings (SGPRs 0 to 101,
//! FLAT_SCRATCH 102, VCC 106, trap temporaries 108, M0 124, EXEC 126). Behind them come the inline
//! constants, each with the bits it has for one operand type, and slots that are filled on use. A
//! scalar operand is then an index, whatever it names.

use crate::isa::{inline_f16, inline_f64, Operand, Special, Ty, INV_2PI_F32};

/// Slots of a wave; a power of two so that an index can be masked.
pub(crate) const SLOTS: usize = 512;

pub(crate) const FLAT_SCRATCH: usize = 102;
pub(crate) const XNACK_MASK: usize = 104;
pub(crate) const VCC: usize = 106;
pub(crate) const TTMP: usize = 108;
pub(crate) const M0: usize = 124;
/// A slot that nothing reads: destination of operands that are dropped.
pub(crate) const SINK: usize = 378;
pub(crate) const EXEC: usize = 126;

/// 64-bit integers -16 to 64, two slots each. Slots 128 to 159 take what wide destinations write past
/// the last register.
const INTS: usize = 160;
/// The nine inline floats in single precision, each followed by zero.
const F32: usize = 384;
/// The nine inline floats in half precision, high half zero.
const F16: usize = 332;
/// The nine inline floats in double precision, two slots each.
const F64: usize = 342;

/// Pairs that are evaluated before use.
pub(crate) const VCCZ: usize = 360;
pub(crate) const EXECZ: usize = 362;
pub(crate) const SCC: usize = 364;
/// Pairs that are set at launch.
pub(crate) const SHARED_BASE: usize = 366;
pub(crate) const SHARED_LIMIT: usize = 368;
pub(crate) const PRIVATE_BASE: usize = 370;
pub(crate) const PRIVATE_LIMIT: usize = 372;
pub(crate) const POPS: usize = 374;
pub(crate) const LDS_DIRECT: usize = 376;
/// The literal of the current instruction, a pair.
pub(crate) const LITERAL: usize = 380;

/// The first scalar operand code.
pub(crate) const SCALAR: u16 = 512;

/// Whether a slot is a register of trap handlers.
pub(crate) const fn is_ttmp(slot: usize) -> bool {
    slot >= TTMP && slot < M0
}

const FLOATS: [u32; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    INV_2PI_F32,
];

/// Slots with every inline constant in place and all registers zero.
pub(crate) fn initial() -> [u32; SLOTS] {
    let mut slots = [0; SLOTS];
    for (pair, value) in (-16i64..=64).enumerate() {
        slots[INTS + 2 * pair] = value as u32;
        slots[INTS + 2 * pair + 1] = (value >> 32) as u32;
    }
    for (i, bits) in FLOATS.into_iter().enumerate() {
        slots[F32 + 2 * i] = bits;
        slots[F16 + i] = inline_f16(bits).into();
        let wide = inline_f64(bits);
        slots[F64 + 2 * i] = wide as u32;
        slots[F64 + 2 * i + 1] = (wide >> 32) as u32;
    }
    slots
}

/// The operand code of `operand` read as `ty`, and the literal it needs in the payload, if any.
/// `None` if the operand is absent.
pub(crate) fn code(operand: Operand, ty: Ty) -> Option<(u16, Option<u64>)> {
    let slot = match operand {
        Operand::None => return None,
        Operand::Vgpr(n) => return Some((n & 255, None)),
        Operand::Agpr(n) => return Some((256 + (n & 255), None)),
        Operand::Sgpr(n) => usize::from(n),
        Operand::Special(special) => special_slot(special),
        Operand::Int(value) => INTS + 2 * (value + 16) as usize,
        Operand::Float(bits) => {
            let i = FLOATS.iter().position(|float| *float == bits).unwrap_or(0);
            match ty {
                Ty::F16 | Ty::PkF16 | Ty::PkI16 | Ty::B16 | Ty::I16 | Ty::U16 => F16 + i,
                Ty::F64 | Ty::B64 | Ty::I64 | Ty::U64 => F64 + 2 * i,
                _ => F32 + 2 * i,
            }
        }
        Operand::Literal(bits) => {
            let wide = match ty {
                Ty::F64 => u64::from(bits) << 32,
                Ty::I64 => i64::from(bits as i32) as u64,
                _ => u64::from(bits),
            };
            return Some((SCALAR + LITERAL as u16, Some(wide)));
        }
    };
    Some((SCALAR + slot as u16, None))
}

/// The slot of a special register.
fn special_slot(special: Special) -> usize {
    match special {
        Special::FlatScratchLo => FLAT_SCRATCH,
        Special::FlatScratchHi => FLAT_SCRATCH + 1,
        Special::XnackMaskLo => XNACK_MASK,
        Special::XnackMaskHi => XNACK_MASK + 1,
        Special::VccLo => VCC,
        Special::VccHi => VCC + 1,
        Special::Ttmp(n) => TTMP + usize::from(n),
        Special::M0 => M0,
        Special::ExecLo => EXEC,
        Special::ExecHi => EXEC + 1,
        Special::SharedBase => SHARED_BASE,
        Special::SharedLimit => SHARED_LIMIT,
        Special::PrivateBase => PRIVATE_BASE,
        Special::PrivateLimit => PRIVATE_LIMIT,
        Special::PopsExitingWaveId => POPS,
        Special::Vccz => VCCZ,
        Special::Execz => EXECZ,
        Special::Scc => SCC,
        Special::LdsDirect => LDS_DIRECT,
    }
}

/// Whether an operand has to be evaluated into its slot before the instruction runs.
pub(crate) fn needs_evaluation(operand: Operand) -> bool {
    matches!(
        operand,
        Operand::Special(Special::Vccz | Special::Execz | Special::Scc | Special::LdsDirect)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_constants_have_the_bits_of_their_type() {
        let slots = initial();
        let value = |operand, ty| {
            let (code, literal) = code(operand, ty).expect("present");
            let slot = usize::from(code - SCALAR);
            literal.unwrap_or_else(|| u64::from(slots[slot]) | u64::from(slots[slot + 1]) << 32)
        };
        assert_eq!(value(Operand::Int(-1), Ty::I64), !0);
        assert_eq!(value(Operand::Int(64), Ty::B32), 64);
        assert_eq!(value(Operand::Float(0x3f80_0000), Ty::F64), 1f64.to_bits());
        assert_eq!(
            value(Operand::Float(0xc080_0000), Ty::F32) as u32,
            (-4f32).to_bits()
        );
        assert_eq!(value(Operand::Float(0x3f00_0000), Ty::F16) as u32, 0x3800);
        assert_eq!(value(Operand::Literal(0x3ff0_0000), Ty::F64), 1f64.to_bits());
        assert_eq!(value(Operand::Literal(0x8000_0000), Ty::B64), 0x8000_0000);
        assert_eq!(
            value(Operand::Literal(0x8000_0000), Ty::I64),
            0xffff_ffff_8000_0000
        );
    }
}
