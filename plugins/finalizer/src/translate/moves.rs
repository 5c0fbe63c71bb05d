//! Copies of values (PRM 5.8, 5.10).

use super::builder::Value;
use super::error::{invalid, Reason};
use super::function::Function;
use super::operand::ty_of;
use super::ty::{Scalar, Ty};
use crate::brig::{Form, Instruction, Type};

/// `mov`: a copy.
pub(super) fn mov<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let value = f.source_bits(i, 1, i.ty)?;
    f.write(i, i.ty, &value)
}

/// The type of the sources of an instruction that has another one.
pub(super) fn source_type(i: &Instruction<'_>) -> Result<Type, Reason> {
    match i.form {
        Form::SourceType { source_type }
        | Form::Lane { source_type, .. }
        | Form::SegCvt { source_type, .. } => Ok(source_type),
        _ => invalid("it does not say the type of its source"),
    }
}

/// The vector of bits of a list of smaller values, the first being the lowest.
fn pieces(whole: Type, piece: Type, count: usize) -> Result<Ty, Reason> {
    let (whole, piece) = (ty_of(whole)?, ty_of(piece)?);
    let lanes = u32::try_from(count).unwrap_or(u32::MAX);
    if !(2..=4).contains(&lanes) || piece.bits() * lanes != whole.bits() {
        return invalid("the sizes of its parts do not add up to the size of the whole");
    }
    Ok(Ty {
        scalar: Scalar::Int(piece.bits()),
        lanes,
    })
}

/// `combine`: several registers into one.
pub(super) fn combine<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let piece = source_type(i)?;
    let sources = f.several(i, 1)?;
    let vector = pieces(i.ty, piece, sources.len())?;
    let mut values = Vec::new();
    for source in sources {
        let value = f.read(source, piece)?;
        values.push(f.b.bitcast(&value, vector.lane()));
    }
    let whole = f.b.by_lane(vector, |_, lane| values[lane as usize].clone());
    f.write(i, i.ty, &whole)
}

/// `expand`: one register into several.
pub(super) fn expand<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let registers = f.registers(i, 0)?;
    let source = source_type(i)?;
    let vector = pieces(source, i.ty, registers.len())?;
    let whole = f.source_bits(i, 1, source)?;
    let whole = f.b.bitcast(&whole, vector);
    for (lane, register) in (0..).zip(registers) {
        let value = f.b.lane(&whole, lane);
        f.write_register(register, i.ty, &value)?;
    }
    Ok(())
}

/// `cmov`: one of two values; each lane for itself in packed ones.
pub(super) fn cmov<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let ty = ty_of(i.ty)?;
    let condition = if ty.is_vector() {
        let lanes = f.source_bits(i, 1, i.ty)?;
        let lanes = f.b.bitcast(&lanes, ty.as_int());
        f.b.compare_constant("icmp ne", &lanes, 0)
    } else {
        f.source(i, 1, Type::B1)?
    };
    // As integers, which no selection changes.
    let mut sources = Vec::new();
    for index in [2, 3] {
        let value = f.source(i, index, i.ty)?;
        sources.push(f.b.bitcast(&value, ty.as_int()));
    }
    let value: Value = f.b.select(&condition, &sources[0], &sources[1]);
    f.write(i, i.ty, &value)
}
