//! Operations on bytes and their sums (PRM 5.15).

use super::builder::{Builder, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::moves::source_type;
use super::operand::{constant, ty_of};
use super::ty::Ty;
use crate::brig::{Instruction, Opcode, Type};

const BYTES: Ty = Ty { lanes: 4, ..Ty::I8 };

/// `packcvt`, `unpackcvt`, `sad`, `sadhi`.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    match i.opcode {
        Opcode::PACKCVT => pack(f, i),
        Opcode::UNPACKCVT => unpack(f, i),
        _ => differences(f, i),
    }
}

/// Four numbers to the nearest bytes; what is no number, to 0.
fn pack<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let mut numbers = Vec::new();
    for index in 1..=4 {
        numbers.push(f.source(i, index, Type::F32)?);
    }
    let value = f.b.by_lane(BYTES, |b, lane| {
        let near = b.overloaded("llvm.rint", &[&numbers[lane as usize]]);
        b.call("llvm.fptoui.sat.i8.f32", Ty::I8, &[&near])
    });
    f.write(i, i.ty, &value)
}

/// A byte as a number.
fn unpack<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let bits = f.source_bits(i, 1, source_type(i)?)?;
    let Ok(lane @ 0..=3) = u32::try_from(constant(i, 2)?) else {
        return invalid("there are bytes 0 to 3");
    };
    let bytes = f.b.bitcast(&bits, BYTES);
    let byte = f.b.lane(&bytes, lane);
    let number = f.b.cast("uitofp", &byte, Ty::FLOAT);
    f.write(i, i.ty, &number)
}

/// The sum of the differences of lanes, without their signs, and of a third source. `sadhi` sums above bit 16.
fn differences<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let source = source_type(i)?;
    let ty = ty_of(source)?;
    if ty.bits() != 32 || !source.is_unsigned() {
        return invalid("it has no such source");
    }
    let (x, y) = (f.source(i, 1, source)?, f.source(i, 2, source)?);
    let rest = f.source_bits(i, 3, i.ty)?;
    if rest.ty != Ty::I32 {
        return invalid("its result has 32 bits");
    }
    let difference = difference(&mut f.b, &x, &y);
    let mut sum = Value::int(Ty::I32, 0);
    for lane in 0..ty.lanes {
        let one = f.b.lane(&difference, lane);
        let one = f.b.resize(&one, Ty::I32, false);
        sum = f.b.binary("add", &sum, &one);
    }
    if i.opcode == Opcode::SADHI {
        sum = f.b.with_constant("shl", &sum, 16);
    }
    let value = f.b.binary("add", &sum, &rest);
    f.write(i, i.ty, &value)
}

fn difference(b: &mut Builder, x: &Value, y: &Value) -> Value {
    let most = b.overloaded("llvm.umax", &[x, y]);
    let least = b.overloaded("llvm.umin", &[x, y]);
    b.binary("sub", &most, &least)
}
