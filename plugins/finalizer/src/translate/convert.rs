//! Conversions (PRM 5.19).

use super::builder::Value;
use super::error::{invalid, Reason};
use super::function::Function;
use super::operand::ty_of;
use super::ty::Ty;
use super::{float, rounding};
use crate::brig::{Form, Instruction, Round, Type};

/// `cvt`.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let Form::Cvt {
        source_type,
        ftz,
        round,
    } = i.form
    else {
        return invalid("it does not say the type of its source");
    };
    let (from, to) = (ty_of(source_type)?, ty_of(i.ty)?);
    let is_number = |ty: Type| ty == Type::B1 || ty.is_float() || ty.is_signed() || ty.is_unsigned();
    let numbers = is_number(source_type) && is_number(i.ty);
    if !numbers || from.is_vector() || to.is_vector() || source_type == i.ty {
        return invalid("there is no such conversion");
    }
    let mut value = f.source(i, 1, source_type)?;
    let flushes = ftz && from.is_float();
    if flushes {
        value = float::flush(&mut f.b, &value);
    }
    let result = match (from.is_float(), to.is_float()) {
        (false, false) => integer(f, &value, source_type, i.ty, to),
        (true, false) if to == Ty::I1 => {
            let zero = Value::float(from, 0);
            f.b.compare("fcmp une", &value, &zero)
        }
        (true, false) => to_integer(f, &value, i.ty, to, round)?,
        (false, true) => to_float(f, &value, source_type.is_signed(), to, round)?,
        (true, true) => {
            let result = resize(f, &value, to, round)?;
            if flushes {
                float::flush(&mut f.b, &result)
            } else {
                result
            }
        }
    };
    f.write(i, i.ty, &result)
}

/// Between integers: cut, or extended as the source's type says. To one bit: whether it is not 0. From one bit to signed
/// integers of 32 and 64 bits: all ones or zeros.
fn integer(f: &mut Function<'_>, value: &Value, source: Type, destination: Type, to: Ty) -> Value {
    if to == Ty::I1 {
        return f.b.compare_constant("icmp ne", value, 0);
    }
    let spreads = source == Type::B1 && matches!(destination, Type::S32 | Type::S64);
    f.b.resize(value, to, source.is_signed() || spreads)
}

/// The integral rounding and whether it saturates. What does not saturate is undefined out of range, and saturates, too.
fn integral(round: Round) -> Result<&'static str, Reason> {
    Ok(match round {
        Round::I_NEAR | Round::I_NEAR_SAT | Round::SI_NEAR | Round::SI_NEAR_SAT => "llvm.rint",
        Round::I_UP | Round::I_UP_SAT | Round::SI_UP | Round::SI_UP_SAT => "llvm.ceil",
        Round::I_DOWN | Round::I_DOWN_SAT | Round::SI_DOWN | Round::SI_DOWN_SAT => "llvm.floor",
        Round::NONE
        | Round::DEFAULT
        | Round::I_ZERO
        | Round::I_ZERO_SAT
        | Round::SI_ZERO
        | Round::SI_ZERO_SAT => "llvm.trunc",
        _ => return invalid("integers are not rounded in this way"),
    })
}

fn to_integer(f: &mut Function<'_>, value: &Value, ty: Type, to: Ty, round: Round) -> Result<Value, Reason> {
    let rounded = f.b.overloaded(integral(round)?, &[value]);
    // Half precision goes through single precision, which has all of its numbers.
    let rounded = if rounded.ty == Ty::HALF {
        f.b.cast("fpext", &rounded, Ty::FLOAT)
    } else {
        rounded
    };
    let letter = if ty.is_signed() { 's' } else { 'u' };
    let name = format!("llvm.fpto{letter}i.sat.{}.{}", to.mangled(), rounded.ty.mangled());
    Ok(f.b.call(&name, to, &[&rounded]))
}

/// The rounding of a result that is a floating-point number.
fn directed(f: &Function<'_>, round: Round) -> Result<Round, Reason> {
    match round {
        Round::NONE | Round::DEFAULT | Round::NEAR | Round::ZERO | Round::UP | Round::DOWN => {
            Ok(rounding::effective(f, round))
        }
        _ => invalid("floating-point numbers are not rounded in this way"),
    }
}

fn to_float(
    f: &mut Function<'_>,
    value: &Value,
    signed: bool,
    to: Ty,
    round: Round,
) -> Result<Value, Reason> {
    let round = directed(f, round)?;
    // One bit is 0 or 1, and smaller integers are exact in 32 bits.
    let value = if value.ty.bits() < 32 {
        f.b.resize(value, Ty::I32, signed)
    } else {
        value.clone()
    };
    if round != Round::NEAR {
        return Ok(rounding::of_integer(&mut f.b, &value, signed, to, round));
    }
    let op = if signed { "sitofp" } else { "uitofp" };
    if to == Ty::HALF {
        // What single precision rounds is infinite in half precision.
        let single = f.b.cast(op, &value, Ty::FLOAT);
        return Ok(f.b.cast("fptrunc", &single, to));
    }
    Ok(f.b.cast(op, &value, to))
}

fn resize(f: &mut Function<'_>, value: &Value, to: Ty, round: Round) -> Result<Value, Reason> {
    if to.bits() > value.ty.bits() {
        return Ok(f.b.cast("fpext", value, to));
    }
    Ok(match directed(f, round)? {
        Round::NEAR => f.b.cast("fptrunc", value, to),
        round => rounding::narrow(&mut f.b, value, to, round),
    })
}
