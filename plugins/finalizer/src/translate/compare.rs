//! Comparisons (PRM 5.13, 5.18). Signaling ones compare like the others: exceptions are not detected.

use super::builder::Value;
use super::error::{invalid, Reason};
use super::float;
use super::function::Function;
use super::moves::source_type;
use super::operand::ty_of;
use super::ty::{Scalar, Ty};
use crate::brig::{Compare, Form, Instruction, Type};

/// The predicates of LLVM: of floating-point numbers, of signed and of unsigned integers.
struct Predicate {
    compare: &'static [Compare],
    float: &'static str,
    integer: Option<[&'static str; 2]>,
}

const fn both(compare: &'static [Compare], float: &'static str, integer: [&'static str; 2]) -> Predicate {
    Predicate {
        compare,
        float,
        integer: Some(integer),
    }
}

const fn only_float(compare: &'static [Compare], float: &'static str) -> Predicate {
    Predicate {
        compare,
        float,
        integer: None,
    }
}

static PREDICATES: &[Predicate] = &[
    both(&[Compare::EQ, Compare::SEQ], "oeq", ["eq", "eq"]),
    both(&[Compare::NE, Compare::SNE], "one", ["ne", "ne"]),
    both(&[Compare::LT, Compare::SLT], "olt", ["slt", "ult"]),
    both(&[Compare::LE, Compare::SLE], "ole", ["sle", "ule"]),
    both(&[Compare::GT, Compare::SGT], "ogt", ["sgt", "ugt"]),
    both(&[Compare::GE, Compare::SGE], "oge", ["sge", "uge"]),
    only_float(&[Compare::EQU, Compare::SEQU], "ueq"),
    only_float(&[Compare::NEU, Compare::SNEU], "une"),
    only_float(&[Compare::LTU, Compare::SLTU], "ult"),
    only_float(&[Compare::LEU, Compare::SLEU], "ule"),
    only_float(&[Compare::GTU, Compare::SGTU], "ugt"),
    only_float(&[Compare::GEU, Compare::SGEU], "uge"),
    only_float(&[Compare::NUM, Compare::SNUM], "ord"),
    only_float(&[Compare::NAN, Compare::SNAN], "uno"),
];

/// The instruction of IR for a comparison of a type.
fn instruction(compare: Compare, ty: Type) -> Result<String, Reason> {
    let Some(predicate) = PREDICATES.iter().find(|row| row.compare.contains(&compare)) else {
        return invalid("HSAIL has no such comparison");
    };
    if ty.is_float() {
        return Ok(format!("fcmp {}", predicate.float));
    }
    let is_bits = !ty.is_signed() && !ty.is_unsigned();
    match predicate.integer {
        Some([signed, _]) if ty.is_signed() || is_bits && matches!(compare, Compare::EQ | Compare::NE) => {
            Ok(format!("icmp {signed}"))
        }
        Some([_, unsigned]) if ty.is_unsigned() => Ok(format!("icmp {unsigned}")),
        _ => invalid("its sources cannot be compared in this way"),
    }
}

/// `cmp`.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let Form::Cmp {
        source_type,
        ftz,
        compare,
        ..
    } = i.form
    else {
        return invalid("it does not say how to compare");
    };
    let mut sources = [f.source(i, 1, source_type)?, f.source(i, 2, source_type)?];
    if ftz && source_type.is_float() {
        sources = sources.map(|source| float::flush(&mut f.b, &source));
    }
    let op = instruction(compare, source_type)?;
    let truth = f.b.compare(&op, &sources[0], &sources[1]);
    let to = ty_of(i.ty)?;
    if to.lanes != truth.ty.lanes {
        return invalid("its result has another number of lanes than its sources");
    }
    let value = as_value(f, &truth, to);
    f.write(i, i.ty, &value)
}

/// True and false in a type: 1 and 0 in one bit and in floating-point numbers, else all ones and zeros.
fn as_value(f: &mut Function<'_>, truth: &Value, to: Ty) -> Value {
    match to.scalar {
        Scalar::Int(1) => truth.clone(),
        Scalar::Int(_) => f.b.resize(truth, to, true),
        _ => f.b.cast("uitofp", truth, to),
    }
}

/// `class`: whether a number is of one of several kinds. The bits of kinds are those of the hardware.
pub(super) fn class<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let source = source_type(i)?;
    if !source.is_float() {
        return invalid("its source is no floating-point number");
    }
    let value = f.source(i, 1, source)?;
    if value.ty.is_vector() {
        return invalid("its source is packed");
    }
    let kinds = f.source(i, 2, Type::U32)?;
    let name = format!("llvm.amdgcn.class.{}", value.ty.mangled());
    let truth = f.b.call(&name, Ty::I1, &[&value, &kinds]);
    f.write(i, Type::B1, &truth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparison_has_a_predicate() {
        for number in 0..=27 {
            let op = instruction(Compare(number), Type::F32);
            assert!(op.is_ok_and(|op| op.starts_with("fcmp ")), "{number}");
        }
        assert!(instruction(Compare(28), Type::F32).is_err());
    }

    #[test]
    fn integers_have_six_comparisons_and_bits_two() {
        let count = |ty| (0..=27).filter(|n| instruction(Compare(*n), ty).is_ok()).count();
        assert_eq!((count(Type::B1), count(Type::F64)), (2, 28));
        assert_eq!(instruction(Compare::LT, Type::U32), Ok("icmp ult".to_owned()));
        assert_eq!(instruction(Compare::LT, Type::S64), Ok("icmp slt".to_owned()));
        assert!(instruction(Compare::NUM, Type::S32).is_err());
    }
}
