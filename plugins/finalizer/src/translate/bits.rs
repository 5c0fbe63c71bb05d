//! Operations that count bits or take strings of them (PRM 5.6, 5.7).

use super::builder::{Builder, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::moves::source_type;
use super::operand::ty_of;
use super::ty::Ty;
use crate::brig::{Instruction, Opcode, Type};

/// `popcount`, `firstbit`, `lastbit`: numbers of bits, in 32 bits whatever the source.
pub(super) fn count<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let source = source_type(i)?;
    let value = f.source_bits(i, 1, source)?;
    let ty = value.ty;
    if !matches!(ty, Ty::I32 | Ty::I64) {
        return invalid("its source has neither 32 nor 64 bits");
    }
    let b = &mut f.b;
    let number = match i.opcode {
        Opcode::POPCOUNT => b.overloaded("llvm.ctpop", &[&value]),
        Opcode::LASTBIT => zeros(b, "llvm.cttz", &value),
        _ if source.is_signed() => {
            // Bits that are not the sign.
            let sign = b.with_constant("ashr", &value, ty.bits() - 1);
            let value = b.binary("xor", &value, &sign);
            zeros(b, "llvm.ctlz", &value)
        }
        _ => zeros(b, "llvm.ctlz", &value),
    };
    let number = b.resize(&number, Ty::I32, true);
    f.write(i, Type::U32, &number)
}

/// The number of zeros in front of or behind the first one, -1 if there is none.
fn zeros(b: &mut Builder, name: &str, value: &Value) -> Value {
    let ty = value.ty;
    let no = Value::int(Ty::I1, 0);
    let count = b.call(&format!("{name}.{}", ty.mangled()), ty, &[value, &no]);
    let is_zero = b.compare_constant("icmp eq", value, 0);
    let none = Value::int(ty, -1);
    b.select(&is_zero, &none, &count)
}

/// `bitmask`, `bitextract`, `bitinsert`: bits from an offset on, as many as a width says, both modulo the size.
pub(super) fn string<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let ty = ty_of(i.ty)?;
    if !matches!(ty, Ty::I32 | Ty::I64) {
        return invalid("its type has neither 32 nor 64 bits");
    }
    let sources = match i.opcode {
        Opcode::BITMASK => 0,
        Opcode::BITEXTRACT => 1,
        _ => 2,
    };
    let mut values = Vec::new();
    for index in 0..sources {
        values.push(f.source_bits(i, index + 1, i.ty)?);
    }
    let offset = amount(f, i, sources + 1, ty)?;
    let width = amount(f, i, sources + 2, ty)?;
    let b = &mut f.b;
    let one = Value::int(ty, 1);
    let mask = b.binary("shl", &one, &width);
    let mask = b.with_constant("sub", &mask, 1);
    let in_place = b.binary("shl", &mask, &offset);
    let value = match values.as_slice() {
        [] => in_place,
        [from] => {
            let bits = b.binary("lshr", from, &offset);
            let bits = b.binary("and", &bits, &mask);
            if i.ty.is_signed() {
                extended(b, &bits, &width)
            } else {
                bits
            }
        }
        [into, bits, ..] => {
            let bits = b.binary("and", bits, &mask);
            let bits = b.binary("shl", &bits, &offset);
            let hole = b.with_constant("xor", &in_place, -1);
            let rest = b.binary("and", into, &hole);
            b.binary("or", &rest, &bits)
        }
    };
    f.write(i, i.ty, &value)
}

/// A value of so many bits with its highest bit as the sign; 0 for none.
fn extended(b: &mut Builder, bits: &Value, width: &Value) -> Value {
    let ty = bits.ty;
    let size = Value::int(ty, ty.bits());
    let left = b.binary("sub", &size, width);
    // Of no bits there is nothing to extend, and the whole size is too much to shift.
    let left = b.with_constant("and", &left, ty.bits() - 1);
    let high = b.binary("shl", bits, &left);
    b.binary("ashr", &high, &left)
}

fn amount<'a>(f: &mut Function<'a>, i: &Instruction<'a>, index: usize, ty: Ty) -> Result<Value, Reason> {
    let value = f.source(i, index, Type::U32)?;
    let value = f.b.with_constant("and", &value, ty.bits() - 1);
    Ok(f.b.resize(&value, ty, false))
}
