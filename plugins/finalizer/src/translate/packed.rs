//! Lanes of packed values in another order, or one of them (PRM 5.9).

use super::builder::Value;
use super::error::{invalid, Reason};
use super::function::Function;
use super::moves::source_type;
use super::operand::{constant, ty_of};
use super::ty::Ty;
use crate::brig::{Instruction, Opcode, Type};

fn vector(ty: Type) -> Result<Ty, Reason> {
    let ir = ty_of(ty)?;
    if ir.is_vector() {
        Ok(ir.as_int())
    } else {
        invalid("its type is not packed")
    }
}

/// `shuffle`, `unpacklo`, `unpackhi`.
pub(super) fn shuffle<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let ty = vector(i.ty)?;
    let lanes = ty.lanes;
    let mut sources = Vec::new();
    for index in [1, 2] {
        let bits = f.source_bits(i, index, i.ty)?;
        sources.push(f.b.bitcast(&bits, ty));
    }
    let order: Vec<u32> = match i.opcode {
        Opcode::SHUFFLE => {
            // As many bits as count lanes for every lane; the upper half is from the second source.
            let (controls, bits) = (constant(i, 3)?, lanes.ilog2());
            let one = |lane: u32| {
                let control = controls >> (lane * bits) & u128::from(lanes - 1);
                let from = u32::try_from(control).unwrap_or(0);
                if lane < lanes / 2 {
                    from
                } else {
                    from + lanes
                }
            };
            (0..lanes).map(one).collect()
        }
        opcode => {
            let first = if opcode == Opcode::UNPACKHI { lanes / 2 } else { 0 };
            (0..lanes)
                .map(|lane| first + lane / 2 + lane % 2 * lanes)
                .collect()
        }
    };
    let order: Vec<String> = order.iter().map(|lane| format!("i32 {lane}")).collect();
    let (a, b) = (&sources[0], &sources[1]);
    let text = format!(
        "shufflevector {ty} {a}, {ty} {b}, <{lanes} x i32> <{}>",
        order.join(", ")
    );
    let value = f.b.value(ty, text);
    f.write(i, i.ty, &value)
}

/// Where a lane starts: its number, which counts modulo the lanes, in bits. Lanes of a number only known later are found
/// by shifts: LLVM 15 inserts bytes wrongly.
fn lane_start<'a>(f: &mut Function<'a>, i: &Instruction<'a>, index: usize, ty: Ty) -> Result<Value, Reason> {
    let number = f.source(i, index, Type::U32)?;
    let number = f.b.with_constant("and", &number, ty.lanes - 1);
    let start = f.b.with_constant("mul", &number, ty.lane_bits());
    Ok(f.b.resize(&start, Ty::int(ty.bits()), false))
}

/// `pack`: a value with one lane replaced.
pub(super) fn pack<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let ty = vector(i.ty)?;
    let whole = f.source_bits(i, 1, i.ty)?;
    let lane = f.source_bits(i, 2, source_type(i)?)?;
    if lane.ty.bits() < ty.lane_bits() {
        return invalid("its source is smaller than a lane");
    }
    let start = lane_start(f, i, 3, ty)?;
    let b = &mut f.b;
    let lane = b.resize(&lane, ty.lane(), false);
    let lane = b.resize(&lane, whole.ty, false);
    let lane = b.binary("shl", &lane, &start);
    let ones = Value::int(whole.ty, (1i128 << ty.lane_bits()) - 1);
    let hole = b.binary("shl", &ones, &start);
    let rest = b.with_constant("xor", &hole, -1);
    let rest = b.binary("and", &whole, &rest);
    let value = b.binary("or", &rest, &lane);
    f.write(i, i.ty, &value)
}

/// `unpack`: one lane.
pub(super) fn unpack<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let source = source_type(i)?;
    let ty = vector(source)?;
    let whole = f.source_bits(i, 1, source)?;
    let start = lane_start(f, i, 2, ty)?;
    let lane = f.b.binary("lshr", &whole, &start);
    let lane = f.b.resize(&lane, ty.lane(), false);
    let to = Ty::int(ty_of(i.ty)?.bits());
    if to.bits() < ty.lane_bits() {
        return invalid("its destination is smaller than a lane");
    }
    let value = f.b.resize(&lane, to, source.is_signed());
    f.write(i, i.ty, &value)
}
