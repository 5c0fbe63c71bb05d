//! Pairs of instructions that compilers emit together, executed as one.
//!
//! Adding 64-bit numbers takes two instructions, with the carries between them in a mask register. Together the carries
//! stay in the lanes. Addresses are computed so, and kernels do little else as often.

use super::level::{versions, Host, Level};
use super::op::{Flow, Handler, Op};
use super::row::Row;
use super::slot::{EXEC, SCALAR};
use super::sop::slot;
use super::valu::{is_scalar, SHAPED};
use super::wave::{blend, Parts, Wave};
use crate::isa::{Inst, Operand};

/// What an instruction may be a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// A move of a scalar to a vector register.
    Splat,
    /// `v_add_co_u32`.
    Low,
    /// `v_addc_co_u32`.
    High,
}

/// What an instruction may be a part of; its operation is `op`.
pub(crate) fn part(inst: &Inst, op: &Op) -> Option<Part> {
    let literal = inst
        .src
        .iter()
        .any(|source| matches!(source, Operand::Literal(_)));
    if literal || op.e & SHAPED != 0 {
        return None;
    }
    match inst.row.name {
        "v_mov_b32" if is_scalar(op.a) && !is_scalar(op.d) => Some(Part::Splat),
        "v_add_co_u32" if !is_scalar(op.b) => Some(Part::Low),
        "v_addc_co_u32" if !is_scalar(op.b) => Some(Part::High),
        _ => None,
    }
}

/// An addition of 64 bits in place of the two that are it, if they are.
///
/// The low half is as `v_add_co_u32` has it. In the payload are destination, source 0 and source 1 of the high half, 16 bits
/// each; carries of the high half go to the mask register of both.
pub(crate) fn add(low: &Op, high: &Op, level: Level) -> Option<Op> {
    let carried = u32::from(high.c) == low.f && high.f == low.f;
    // The high half must not read, or overwrite, what the low half writes: not the mask either.
    let apart = ![high.a, high.b, high.d].contains(&low.d);
    let mask = u32::from(SCALAR) + (low.f & 511);
    let is_exec = slot(low.f as u16) == EXEC;
    let other_scalar = !is_scalar(high.a) || u32::from(high.a) & !1 != mask & !1;
    if !carried || !apart || !other_scalar || is_exec {
        return None;
    }
    let scalars = usize::from(is_scalar(low.a)) | usize::from(is_scalar(high.a)) << 1;
    let run = match level {
        Level::Portable => return None,
        Level::Avx2 => AVX2[scalars],
        Level::Avx512 => AVX512[scalars],
    };
    Some(Op {
        run,
        x: u64::from(high.d) | u64::from(high.a) << 16 | u64::from(high.b) << 32,
        next: high.next,
        reads: low.reads | high.reads,
        writes: low.writes | high.writes,
        ..*low
    })
}

/// The same where the scalar source of the high half has been moved to a vector register before, which then takes the high
/// half of the result.
pub(crate) fn add_splat(splat: &Op, low: &Op, high: &Op, level: Level) -> Option<Op> {
    let moved = high.a == splat.d && high.d == splat.d;
    let apart = ![low.a, low.b, low.d, high.b].contains(&splat.d);
    if !moved || !apart {
        return None;
    }
    let high = Op {
        a: splat.a,
        reads: high.reads & !splat.writes,
        ..*high
    };
    add(low, &high, level)
}

const AVX2: [Handler; 4] = [
    add_versions::avx2::<0>,
    add_versions::avx2::<1>,
    add_versions::avx2::<2>,
    add_versions::avx2::<3>,
];
const AVX512: [Handler; 4] = [
    add_versions::avx512::<0>,
    add_versions::avx512::<1>,
    add_versions::avx512::<2>,
    add_versions::avx512::<3>,
];

versions!(add_versions, add_wide, [const K: u8], [K]);

/// Adds 64-bit numbers. Bit 0 of `K`: source 0 of the low half is scalar; bit 1: that of the high half.
#[inline(always)]
fn add_wide<H: Host, const K: u8>(wave: &mut Wave, op: &Op) -> Flow {
    let exec = wave.exec();
    if exec != !0 {
        wave.refresh_mask(exec);
    }
    let Parts {
        v, spare, mask, s, ..
    } = wave.parts();
    let [high_d, high_a, high_b] = [0, 16, 32].map(|at| (op.x >> at) as u16);
    let row = |code: u16| -> &Row { &v[usize::from(code) & 511] };
    let (low_a, low_b) = (row(op.a), row(op.b));
    let (upper_a, upper_b) = (row(high_a), row(high_b));
    let (low_scalar, high_scalar) = (s[slot(op.a)], s[slot(high_a)]);
    let [low, high, carries, _] = spare;
    for i in 0..64 {
        let a = if K & 1 != 0 { low_scalar } else { low_a.0[i] };
        let sum = a.wrapping_add(low_b.0[i]);
        let carry = u32::from(sum < a);
        let a = if K & 2 != 0 { high_scalar } else { upper_a.0[i] };
        let (upper, over) = a.overflowing_add(upper_b.0[i]);
        let (upper, again) = upper.overflowing_add(carry);
        low.0[i] = sum;
        high.0[i] = upper;
        carries.0[i] = 0u32.wrapping_sub((over | again).into());
    }
    let bits = H::compress(carries) & exec;
    for (code, result) in [(op.d, low), (high_d, high)] {
        let register = &mut v[usize::from(code) & 511];
        if exec != !0 {
            blend(result, register, mask);
        }
        std::mem::swap(register, result);
    }
    wave.set_s64(op.f as usize, bits);
    Flow::Next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::idle;
    use crate::exec::lower::blank;
    use crate::exec::slot::VCC;

    const MASK: u16 = SCALAR + VCC as u16;

    fn part_of_sum(d: u16, a: u16, b: u16) -> Op {
        Op {
            d,
            a,
            b,
            c: MASK,
            f: MASK.into(),
            next: 77,
            ..blank(idle)
        }
    }

    #[test]
    fn halves_that_depend_on_each_other_otherwise_stay_two() {
        let low = part_of_sum(2, SCALAR + 4, 2);
        let fused = |high: Op| add(&low, &high, Level::Avx2).map(|op| (op.d, op.x, op.next));
        let payload = |d: u64, a: u64, b: u64| d | a << 16 | b << 32;
        assert_eq!(fused(part_of_sum(3, 7, 3)), Some((2, payload(3, 7, 3), 77)));
        assert_eq!(fused(part_of_sum(3, 2, 3)), None);
        assert_eq!(fused(part_of_sum(3, 7, 2)), None);
        assert_eq!(fused(part_of_sum(2, 7, 3)), None);
        assert_eq!(fused(part_of_sum(3, MASK, 3)), None);
        assert_eq!(fused(part_of_sum(3, MASK + 1, 3)), None);
        let elsewhere = Op {
            c: SCALAR + 10,
            ..part_of_sum(3, 7, 3)
        };
        assert_eq!(fused(elsewhere), None);
        let exec = |d: u16| Op {
            c: SCALAR + EXEC as u16,
            f: u32::from(SCALAR) + EXEC as u32,
            ..part_of_sum(d, 7, d)
        };
        assert!(add(&exec(2), &exec(3), Level::Avx2).is_none());
        let splat = |d: u16| Op {
            d,
            a: SCALAR + 5,
            ..blank(idle)
        };
        let all = |splat: Op, high: Op| add_splat(&splat, &low, &high, Level::Avx512).map(|op| op.x);
        assert_eq!(all(splat(3), part_of_sum(3, 3, 9)), Some(payload(3, 512 + 5, 9)));
        assert_eq!(all(splat(3), part_of_sum(4, 3, 9)), None);
        assert_eq!(all(splat(3), part_of_sum(3, 3, 3)), None);
        assert_eq!(all(splat(2), part_of_sum(2, 2, 9)), None);
    }
}
