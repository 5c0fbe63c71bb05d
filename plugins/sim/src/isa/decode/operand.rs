//! From operand codes to [`Operand`].
//!
//! A source code has nine bits: scalar registers and special registers below 128, then inline
//! constants, a few read-only values, the literal marker, and from 256 on vector registers. Scalar
//! destinations use the lower 128 codes.

use super::{field16, signed, unsigned};
use crate::isa::inst::{Operand, Special, INV_2PI_F32};

/// VCC as a pair.
pub(super) const VCC: Operand = Operand::Special(Special::VccLo);

/// Why an operand code names nothing.
pub(super) type Reason = &'static str;

/// Numbered scalar registers, of which the last two slots of a tuple may be FLAT_SCRATCH.
const SGPRS: u32 = 102;
const SGPR_TUPLE_END: u32 = 104;
const TTMP_BASE: u32 = 108;
const TTMPS: u32 = 16;

/// The source code that stands for a literal dword.
pub(super) const LITERAL: u32 = 255;

/// A vector register, by its number.
pub(super) fn vgpr(number: u32, dwords: u8) -> Result<Operand, Reason> {
    vector(number, dwords).map(Operand::Vgpr)
}

/// An accumulation register, by its number.
pub(super) fn agpr(number: u32, dwords: u8) -> Result<Operand, Reason> {
    vector(number, dwords).map(Operand::Agpr)
}

fn vector(number: u32, dwords: u8) -> Result<u16, Reason> {
    if number + u32::from(dwords) > 256 {
        return Err("a vector register tuple runs past register 255");
    }
    Ok(field16(number))
}

/// A scalar register or writable special register, by a code below 128. Tuples start at even
/// numbers, those of four and more at multiples of four; lower bits of the code are ignored.
pub(super) fn scalar(code: u32, dwords: u8) -> Result<Operand, Reason> {
    let align = match dwords {
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    };
    if code < SGPRS {
        let first = code & !(align - 1);
        if dwords > 1 && first + u32::from(dwords) > SGPR_TUPLE_END {
            return Err("a scalar register tuple runs past register 103");
        }
        return Ok(Operand::Sgpr(field16(first)));
    }
    if (TTMP_BASE..TTMP_BASE + TTMPS).contains(&code) {
        let first = (code - TTMP_BASE) & !(align - 1);
        if first + u32::from(dwords) > TTMPS {
            return Err("a tuple of trap temporaries runs past register 15");
        }
        return Ok(Operand::Special(Special::Ttmp(super::field8(first))));
    }
    let special = match (code, dwords) {
        (102, 1 | 2) => Special::FlatScratchLo,
        (103, 1) => Special::FlatScratchHi,
        (104, 1 | 2) => Special::XnackMaskLo,
        (105, 1) => Special::XnackMaskHi,
        (106, 1 | 2) => Special::VccLo,
        (107, 1) => Special::VccHi,
        (124, 1) => Special::M0,
        (126, 1 | 2) => Special::ExecLo,
        (127, 1) => Special::ExecHi,
        _ => return Err("the scalar operand code names no register of this width"),
    };
    Ok(Operand::Special(special))
}

/// A source of nine bits (or of eight, for scalar instructions). `literal` is the literal dword,
/// where the encoding allows one.
pub(super) fn source(code: u32, dwords: u8, literal: Option<u32>) -> Result<Operand, Reason> {
    match code {
        256.. => vgpr(code - 256, dwords),
        128..=192 => Ok(Operand::Int(unsigned(code - 128))),
        193..=208 => Ok(Operand::Int(192 - unsigned(code))),
        235..=239 | 251..=254 if dwords > 2 => Err("the operand is too wide for this register"),
        235 => Ok(Operand::Special(Special::SharedBase)),
        236 => Ok(Operand::Special(Special::SharedLimit)),
        237 => Ok(Operand::Special(Special::PrivateBase)),
        238 => Ok(Operand::Special(Special::PrivateLimit)),
        239 => Ok(Operand::Special(Special::PopsExitingWaveId)),
        240..=248 => Ok(Operand::Float(inline_float(code))),
        251 => Ok(Operand::Special(Special::Vccz)),
        252 => Ok(Operand::Special(Special::Execz)),
        253 => Ok(Operand::Special(Special::Scc)),
        254 if dwords < 2 => Ok(Operand::Special(Special::LdsDirect)),
        LITERAL => literal
            .map(Operand::Literal)
            .ok_or("a literal is not allowed here"),
        0..=127 => scalar(code, dwords),
        _ => Err("the source operand code is reserved"),
    }
}

/// The single-precision bits of inline float constants 240 to 248.
fn inline_float(code: u32) -> u32 {
    match code {
        240 => 0x3f00_0000,
        241 => 0xbf00_0000,
        242 => 0x3f80_0000,
        243 => 0xbf80_0000,
        244 => 0x4000_0000,
        245 => 0xc000_0000,
        246 => 0x4080_0000,
        247 => 0xc080_0000,
        _ => INV_2PI_F32,
    }
}

/// A 13-bit signed offset.
pub(super) fn offset13(word: u32) -> i32 {
    signed(word, 13)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_integers_are_0_to_64_and_minus_1_to_minus_16() {
        assert_eq!(source(128, 1, None), Ok(Operand::Int(0)));
        assert_eq!(source(192, 1, None), Ok(Operand::Int(64)));
        assert_eq!(source(193, 1, None), Ok(Operand::Int(-1)));
        assert_eq!(source(208, 1, None), Ok(Operand::Int(-16)));
    }

    #[test]
    fn a_tuple_past_the_last_register_is_refused() {
        assert!(vgpr(255, 1).is_ok());
        assert!(vgpr(255, 2).is_err());
        assert!(scalar(100, 4).is_ok());
        assert!(scalar(100, 8).is_err());
    }

    #[test]
    fn a_literal_needs_a_place() {
        assert_eq!(source(LITERAL, 1, Some(7)), Ok(Operand::Literal(7)));
        assert!(source(LITERAL, 1, None).is_err());
    }
}
