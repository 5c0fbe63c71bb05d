//! Loads and stores (PRM 6.3, 6.4), and memory of a work-item that is made as it goes (10.10).

use super::builder::{Pointer, Value};
use super::error::{invalid, unsupported, Reason};
use super::function::Function;
use super::operand::ty_of;
use super::ty::Ty;
use crate::brig::{Form, Instruction, Operand, Segment};

/// More than any work-item has.
const MAX_BYTES: u128 = 1 << 24;

/// Alignment of the value at an offset from an aligned address.
fn alignment(align: u32, offset: u32) -> u32 {
    match offset {
        0 => align,
        offset => align.min(1 << offset.trailing_zeros()),
    }
}

/// The segment and the alignment that the address is known to have: 1 if none is named.
fn place(i: &Instruction<'_>) -> Result<(Segment, u32), Reason> {
    match i.form {
        Form::Mem { segment, align, .. } => Ok((segment, align.bytes().unwrap_or(1))),
        _ => invalid("it names no segment"),
    }
}

fn element(f: &mut Function<'_>, base: &Pointer, offset: u32) -> Pointer {
    match offset {
        0 => base.clone(),
        offset => {
            f.b.pointer(base.space, format_args!("getelementptr i8, {base}, i32 {offset}"))
        }
    }
}

/// An instruction's type as it lies in memory.
fn in_memory(i: &Instruction<'_>) -> Result<(Ty, u32), Reason> {
    let ty = Ty::int(ty_of(i.ty)?.bits());
    if ty == Ty::I1 {
        return invalid("single bits are not in memory");
    }
    Ok((ty, ty.bits() / 8))
}

/// `ld`.
pub(super) fn load<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let (segment, align) = place(i)?;
    let (ty, bytes) = in_memory(i)?;
    let registers = f.registers(i, 0)?;
    let base = f.address(i, 1)?;
    let base = f.pointer(&base, segment)?;
    let mut values = Vec::new();
    for (number, _) in (0..).zip(&registers) {
        let offset = number * bytes;
        let from = element(f, &base, offset);
        let align = alignment(align, offset);
        values.push(f.b.value(ty, format_args!("load {ty}, {from}, align {align}")));
    }
    for (register, value) in registers.into_iter().zip(&values) {
        f.write_register(register, i.ty, value)?;
    }
    Ok(())
}

/// `st`.
pub(super) fn store<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let (segment, align) = place(i)?;
    if matches!(segment, Segment::READONLY | Segment::KERNARG) {
        return invalid("nothing is stored in its segment");
    }
    let (ty, bytes) = in_memory(i)?;
    let sources = f.several(i, 0)?;
    let base = f.address(i, 1)?;
    let base = f.pointer(&base, segment)?;
    for (number, source) in (0..).zip(sources) {
        let value = f.read(source, i.ty)?;
        let value = f.b.bitcast(&value, ty);
        let offset = number * bytes;
        let to = element(f, &base, offset);
        let align = alignment(align, offset);
        f.b.line(format_args!("store {}, {to}, align {align}", value.argument()));
    }
    Ok(())
}

/// `alloca`.
pub(super) fn alloca<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let (_, align) = place(i)?;
    let bytes = match i.operand(1) {
        Some(Operand::Constant(size)) if size.number() < MAX_BYTES => size.number().max(1),
        Some(Operand::Constant(_)) => return invalid("it is larger than any private segment"),
        Some(Operand::Wavesize) => f.unit.target.wavefront.into(),
        // The stack grows for a whole wavefront, and LLVM does not find the largest size in it.
        _ => return unsupported("its size is no constant"),
    };
    let memory = f.b.pointer(
        5,
        format_args!("alloca i8, i32 {bytes}, align {align}, addrspace(5)"),
    );
    let address: Value = f.b.value(Ty::I32, format_args!("ptrtoint {memory} to i32"));
    f.write(i, i.ty, &address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_value_has_the_whole_alignment() {
        assert_eq!([0, 4, 8, 12].map(|offset| alignment(16, offset)), [16, 4, 8, 4]);
        assert_eq!([0, 4].map(|offset| alignment(1, offset)), [1, 1]);
    }
}
