//! Registers and constants.

use crate::isa::inst::{inline_f16, inline_f64, Operand, Special, INV_2PI_F32};
use crate::isa::row::Ty;

/// An operand that spans `dwords` registers and is read as `ty`.
pub(super) fn text(operand: Operand, ty: Ty, dwords: u8) -> String {
    match operand {
        Operand::None => "off".to_owned(),
        Operand::Vgpr(n) => tuple("v", n, dwords),
        Operand::Agpr(n) => tuple("a", n, dwords),
        Operand::Sgpr(n) => tuple("s", n, dwords),
        Operand::Special(special) => special_text(special, dwords),
        Operand::Int(_) | Operand::Float(_) | Operand::Literal(_) => constant(operand, ty),
    }
}

fn tuple(file: &str, first: u16, dwords: u8) -> String {
    match u16::from(dwords) {
        0 | 1 => format!("{file}{first}"),
        n => format!("{file}[{first}:{}]", first + n - 1),
    }
}

fn special_text(special: Special, dwords: u8) -> String {
    let name = match (special, dwords) {
        (Special::FlatScratchLo, 2) => "flat_scratch",
        (Special::FlatScratchLo, _) => "flat_scratch_lo",
        (Special::FlatScratchHi, _) => "flat_scratch_hi",
        (Special::XnackMaskLo, 2) => "xnack_mask",
        (Special::XnackMaskLo, _) => "xnack_mask_lo",
        (Special::XnackMaskHi, _) => "xnack_mask_hi",
        (Special::VccLo, 2) => "vcc",
        (Special::VccLo, _) => "vcc_lo",
        (Special::VccHi, _) => "vcc_hi",
        (Special::ExecLo, 2) => "exec",
        (Special::ExecLo, _) => "exec_lo",
        (Special::ExecHi, _) => "exec_hi",
        (Special::Ttmp(n), _) => return tuple("ttmp", u16::from(n), dwords),
        (Special::M0, _) => "m0",
        (Special::SharedBase, _) => "src_shared_base",
        (Special::SharedLimit, _) => "src_shared_limit",
        (Special::PrivateBase, _) => "src_private_base",
        (Special::PrivateLimit, _) => "src_private_limit",
        (Special::PopsExitingWaveId, _) => "src_pops_exiting_wave_id",
        (Special::Vccz, _) => "src_vccz",
        (Special::Execz, _) => "src_execz",
        (Special::Scc, _) => "src_scc",
        (Special::LdsDirect, _) => "src_lds_direct",
    };
    name.to_owned()
}

/// A constant, shown as what its bits mean for the operand's type: a literal that happens to equal
/// an inline constant looks like one.
fn constant(operand: Operand, ty: Ty) -> String {
    match ty {
        Ty::F64 | Ty::I64 | Ty::U64 | Ty::B64 | Ty::B128 => bits64(value64(operand)),
        Ty::I16 | Ty::U16 | Ty::B16 | Ty::PkI16 => integer16(value16(operand)),
        Ty::F16 | Ty::PkF16 => bits16(value16(operand)),
        _ => bits32(value32(operand)),
    }
}

#[expect(clippy::cast_sign_loss, reason = "the bits of the constant")]
fn value64(operand: Operand) -> u64 {
    match operand {
        Operand::Int(n) => i64::from(n) as u64,
        Operand::Float(bits) => inline_f64(bits),
        Operand::Literal(bits) => u64::from(bits),
        _ => 0,
    }
}

#[expect(clippy::cast_sign_loss, reason = "the bits of the constant")]
fn value32(operand: Operand) -> u32 {
    match operand {
        Operand::Int(n) => n as u32,
        Operand::Float(bits) | Operand::Literal(bits) => bits,
        _ => 0,
    }
}

/// A 16-bit operand as a dword: a literal's high half is not cut off.
fn value16(operand: Operand) -> u32 {
    match operand {
        Operand::Float(bits) => u32::from(inline_f16(bits)),
        other => value32(other),
    }
}

fn inline_integer(value: i64) -> Option<String> {
    (-16..=64).contains(&value).then(|| value.to_string())
}

/// The inline floats but 1/(2 pi), by their single-precision bits.
const FLOATS: [(u32, &str); 8] = [
    (0x3f00_0000, "0.5"),
    (0xbf00_0000, "-0.5"),
    (0x3f80_0000, "1.0"),
    (0xbf80_0000, "-1.0"),
    (0x4000_0000, "2.0"),
    (0xc000_0000, "-2.0"),
    (0x4080_0000, "4.0"),
    (0xc080_0000, "-4.0"),
];

fn inline_float(is: impl Fn(u32) -> bool) -> Option<String> {
    FLOATS
        .iter()
        .find(|(bits, _)| is(*bits))
        .map(|(_, text)| (*text).to_owned())
}

/// 32 bits, as integer, float or number in base 16.
#[expect(clippy::cast_possible_wrap, reason = "the bits as a signed number")]
pub(super) fn bits32(value: u32) -> String {
    inline_integer(i64::from(value as i32))
        .or_else(|| inline_float(|bits| bits == value))
        .or_else(|| (value == INV_2PI_F32).then(|| "0.15915494".to_owned()))
        .unwrap_or_else(|| format!("{value:#x}"))
}

#[expect(clippy::cast_possible_wrap, reason = "the bits as a signed number")]
fn bits64(value: u64) -> String {
    inline_integer(value as i64)
        .or_else(|| inline_float(|bits| inline_f64(bits) == value))
        .or_else(|| (value == inline_f64(INV_2PI_F32)).then(|| "0.15915494309189532".to_owned()))
        .unwrap_or_else(|| format!("{value:#x}"))
}

/// 16 bits. A literal whose high half is set is no float, whatever its low half.
fn bits16(value: u32) -> String {
    let is = |half: u16| u32::from(half) == value;
    integer_low_half(value)
        .or_else(|| inline_float(|bits| is(inline_f16(bits))))
        .or_else(|| is(inline_f16(INV_2PI_F32)).then(|| "0.15915494".to_owned()))
        .unwrap_or_else(|| format!("{:#x}", value & 0xffff))
}

fn integer16(value: u32) -> String {
    integer_low_half(value).unwrap_or_else(|| format!("{:#x}", value & 0xffff))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is what is asked for"
)]
fn integer_low_half(value: u32) -> Option<String> {
    inline_integer(i64::from(value as i16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_that_equals_an_inline_constant_looks_like_it() {
        assert_eq!(text(Operand::Literal(0x3f80_0000), Ty::B32, 1), "1.0");
        assert_eq!(text(Operand::Literal(5), Ty::I64, 2), "5");
        assert_eq!(text(Operand::Literal(0x41), Ty::U32, 1), "0x41");
    }

    #[test]
    fn an_inline_float_is_shown_in_the_operand_type() {
        assert_eq!(text(Operand::Float(0x3f80_0000), Ty::U16, 1), "0x3c00");
        assert_eq!(
            text(Operand::Float(INV_2PI_F32), Ty::F64, 2),
            "0.15915494309189532"
        );
    }
}
