//! Operations on formulas whose result is one register.

use super::{Numbers, KNOWN};
use crate::exec::level::{versions, Host};
use crate::exec::op::{flag, Flow, Op, Versions};
use crate::exec::slot::{LITERAL, SCALAR};
use crate::exec::sop::slot;
use crate::exec::valu::{is_scalar, SHAPED};
use crate::exec::wave::Wave;
use crate::isa::Inst;

/// Operand code of the literal.
const LITERAL_CODE: u16 = SCALAR + LITERAL as u16;

/// The formula of a source.
#[inline(always)]
pub(super) fn source<N: Numbers>(wave: &Wave, op: &Op, code: u16) -> Option<N> {
    if !is_scalar(code) {
        return wave.formulas.get(code);
    }
    let value = if code == LITERAL_CODE {
        op.x as u32
    } else {
        wave.s[slot(code)]
    };
    Some(N::uniform(value))
}

/// An operation with one result.
pub(in crate::exec) trait Formula {
    /// How many sources it has.
    const SOURCES: usize;
    /// The result, if it is a formula. Sources that it has not are 0.
    fn result<N: Numbers>(a: N, b: N, c: N) -> Option<N>;
}

/// The body of a handler.
#[inline(always)]
pub(in crate::exec) fn compute<H: Host, O: Formula>(wave: &mut Wave, op: &Op) -> Flow {
    if wave.exec() != !0 {
        return Flow::ByLanes;
    }
    let zero = H::Numbers::uniform(0);
    let Some(a) = source::<H::Numbers>(wave, op, op.a) else {
        return Flow::ByLanes;
    };
    let b = if O::SOURCES > 1 {
        source(wave, op, op.b)
    } else {
        Some(zero)
    };
    let c = if O::SOURCES > 2 {
        source(wave, op, op.c)
    } else {
        Some(zero)
    };
    let (Some(b), Some(c)) = (b, c) else {
        return Flow::ByLanes;
    };
    match O::result(a, b, c) {
        Some(result) => {
            wave.formulas.set(op.d, result);
            Flow::Next
        }
        None => Flow::ByLanes,
    }
}

versions!(compute_versions, compute, [O: Formula], [O]);

/// Numbers of 24 bits, which the 24-bit products take as they are.
#[inline(always)]
fn is_short<N: Numbers>(formula: N) -> bool {
    formula.range().is_some_and(|(_, most)| most < 1 << 24)
}

macro_rules! formulas {
    ($($operation:ident $name:literal, $sources:literal, |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr;)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub(in crate::exec) struct $operation;

            impl Formula for $operation {
                const SOURCES: usize = $sources;
                #[inline(always)]
                fn result<N: Numbers>($a: N, $b: N, $c: N) -> Option<N> {
                    $body
                }
            }
        )*

        fn by_name(name: &str) -> Option<Versions> {
            Some(match name {
                $($name => compute_versions::all::<$operation>(),)*
                _ => return None,
            })
        }
    };
}

formulas! {
    Move "v_mov_b32", 1, |a, _, _| Some(a);
    Add "v_add_u32", 2, |a, b, _| Some(a.plus(b));
    Subtract "v_sub_u32", 2, |a, b, _| Some(a.minus(b));
    SubtractFrom "v_subrev_u32", 2, |a, b, _| Some(b.minus(a));
    Left "v_lshlrev_b32", 2, |a, b, _| Some(b.left(a.value()?));
    Right "v_lshrrev_b32", 2, |a, b, _| {
        let right = a.value()? & 31;
        let uniform = b.monotone(|value| value >> right).map(N::uniform);
        uniform.or_else(|| Some(b.of_own_bits()?.right(right)))
    };
    RightSigned "v_ashrrev_i32", 2, |a, b, _| {
        let right = a.value()? & 31;
        let uniform = b.monotone_signed(|value| (value >> right) as u32).map(N::uniform);
        // Without a sign it is the same as the other shift.
        uniform.or_else(|| {
            let (_, most) = b.range()?;
            if most >> 31 == 0 { Some(b.of_own_bits()?.right(right)) } else { None }
        })
    };
    And "v_and_b32", 2, |a, b, _| match a.value() {
        Some(mask) => Some(b.of_own_bits()?.and(mask)),
        None => { let mask = b.value()?; Some(a.of_own_bits()?.and(mask)) }
    };
    Extract "v_bfe_u32", 3, |a, b, c| {
        let (right, width) = (b.value()? & 31, c.value()? & 31);
        Some(a.of_own_bits()?.right(right).and((1 << width) - 1))
    };
    Multiply "v_mul_lo_u32", 2, |a, b, _| a.product(b);
    MultiplyShort "v_mul_u32_u24", 2, |a, b, _| if is_short(a) && is_short(b) { a.product(b) } else { None };
    MultiplyAddShort "v_mad_u32_u24", 3, |a, b, c| if is_short(a) && is_short(b) { Some(a.product(b)?.plus(c)) } else { None };
    LeftAdd "v_lshl_add_u32", 3, |a, b, c| Some(a.left(b.value()?).plus(c));
    AddLeft "v_add_lshl_u32", 3, |a, b, c| Some(a.plus(b).left(c.value()?));
    AddThree "v_add3_u32", 3, |a, b, c| Some(a.plus(b).plus(c));
}

/// A compare of integers.
pub(in crate::exec) trait Compare {
    /// Whether the result is one for all lanes, and which.
    fn result<N: Numbers>(a: N, b: N) -> Option<bool>;
}

#[inline(always)]
fn compare<H: Host, O: Compare>(wave: &mut Wave, op: &Op) -> Flow {
    if wave.exec() != !0 {
        return Flow::ByLanes;
    }
    let (Some(a), Some(b)) = (
        source::<H::Numbers>(wave, op, op.a),
        source::<H::Numbers>(wave, op, op.b),
    ) else {
        return Flow::ByLanes;
    };
    match O::result(a, b) {
        Some(all) => {
            wave.set_s64(op.d.into(), if all { !0 } else { 0 });
            Flow::Next
        }
        None => Flow::ByLanes,
    }
}

versions!(compare_versions, compare, [O: Compare], [O]);

/// What to turn over in numbers so that unsigned order is theirs, if the bounds of both are of one sign each.
#[inline(always)]
fn turn([a, b]: [(u32, u32); 2], signed: bool) -> Option<u32> {
    if !signed {
        return Some(0);
    }
    ((a.0 ^ a.1 | b.0 ^ b.1) >> 31 == 0).then_some(1 << 31)
}

/// Whether two formulas are equal in all lanes, or in none.
#[inline(always)]
fn equal<N: Numbers>(a: N, b: N) -> Option<bool> {
    let (a, b) = (a.range()?, b.range()?);
    if a.1 < b.0 || a.0 > b.1 {
        return Some(false);
    }
    (a.0 == a.1 && b.0 == b.1).then_some(a.0 == b.0)
}

/// Whether `a` is at most `b` in all lanes, or in none.
#[inline(always)]
fn at_most<N: Numbers>(a: N, b: N, signed: bool) -> Option<bool> {
    let (a, b) = (a.range()?, b.range()?);
    let turn = turn([a, b], signed)?;
    if a.1 ^ turn <= b.0 ^ turn {
        Some(true)
    } else if a.0 ^ turn > b.1 ^ turn {
        Some(false)
    } else {
        None
    }
}

macro_rules! compares {
    ($($name:literal, |$a:ident, $b:ident| $body:expr;)*) => {
        fn compare_by_name(name: &str) -> Option<Versions> {
            $({
                struct Operation;
                impl Compare for Operation {
                    #[inline(always)]
                    fn result<N: Numbers>($a: N, $b: N) -> Option<bool> {
                        $body
                    }
                }
                if name == $name {
                    return Some(compare_versions::all::<Operation>());
                }
            })*
            None
        }
    };
}

compares! {
    "v_cmp_eq_u32", |a, b| equal(a, b);
    "v_cmp_ne_u32", |a, b| equal(a, b).map(|result| !result);
    "v_cmp_eq_i32", |a, b| equal(a, b);
    "v_cmp_ne_i32", |a, b| equal(a, b).map(|result| !result);
    "v_cmp_le_u32", |a, b| at_most(a, b, false);
    "v_cmp_gt_u32", |a, b| at_most(a, b, false).map(|result| !result);
    "v_cmp_ge_u32", |a, b| at_most(b, a, false);
    "v_cmp_lt_u32", |a, b| at_most(b, a, false).map(|result| !result);
    "v_cmp_le_i32", |a, b| at_most(a, b, true);
    "v_cmp_gt_i32", |a, b| at_most(a, b, true).map(|result| !result);
    "v_cmp_ge_i32", |a, b| at_most(b, a, true);
    "v_cmp_lt_i32", |a, b| at_most(b, a, true).map(|result| !result);
}

/// The handler of an instruction.
pub(super) fn handler(inst: &Inst, op: &Op) -> Option<Versions> {
    if op.e & (SHAPED | flag::KEEP_HALF | flag::WRITES_EXEC) != 0 {
        return None;
    }
    let name = inst.row.name;
    if name.starts_with("v_cmp_") {
        return compare_by_name(name);
    }
    by_name(name).filter(|_| usize::from(op.d) < KNOWN)
}
