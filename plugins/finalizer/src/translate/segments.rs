//! Addresses in segments and flat ones (PRM 5.8, 5.16, 5.17, 11.4).
//!
//! The null of the group and the private segment is all ones, for 0 is an address there; LLVM's casts between address
//! spaces turn one null into the other.

use super::builder::{Pointer, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::globals::space;
use super::operand::space_of;
use super::ty::Ty;
use crate::brig::{Form, Instruction, Opcode, Segment, Type};

/// `lda`: the address of an address expression.
pub(super) fn lda<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let Form::Addr { segment } = i.form else {
        return invalid("it names no segment");
    };
    if matches!(segment, Segment::SPILL | Segment::ARG) {
        return invalid("variables of the spill and the arg segment have no address");
    }
    let address = f.address(i, 1)?;
    let pointer = f.pointer(&address, segment)?;
    let (_, ty) = space_of(segment)?;
    let value = f.b.value(ty, format_args!("ptrtoint {pointer} to {ty}"));
    f.write(i, i.ty, &value)
}

fn converted(i: &Instruction<'_>) -> Result<(Segment, bool, Type), Reason> {
    match i.form {
        Form::SegCvt {
            source_type,
            segment,
            is_nonull,
        } => Ok((segment, is_nonull, source_type)),
        _ => invalid("it names no segment"),
    }
}

fn flat_source<'a>(
    f: &mut Function<'a>,
    i: &Instruction<'a>,
    source: Type,
) -> Result<(Value, Pointer), Reason> {
    let bits = f.source_bits(i, 1, source)?;
    if bits.ty != Ty::I64 {
        return invalid("flat addresses have 64 bits");
    }
    let pointer =
        f.b.pointer(space::FLAT, format_args!("inttoptr i64 {bits} to ptr"));
    Ok((bits, pointer))
}

fn is_in(f: &mut Function<'_>, pointer: &Pointer, segment: &str) -> Value {
    let argument = ("ptr".to_owned(), pointer.text.clone());
    let text = f.b.call_text(
        &format!("llvm.amdgcn.is.{segment}"),
        "i1",
        std::iter::once(argument),
    );
    f.b.value(Ty::I1, text)
}

/// `segmentp`: whether a flat address is in a segment, or null.
pub(super) fn segmentp<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let (segment, is_nonull, source) = converted(i)?;
    let (bits, pointer) = flat_source(f, i, source)?;
    let inside = match segment {
        Segment::GROUP => is_in(f, &pointer, "shared"),
        Segment::PRIVATE => is_in(f, &pointer, "private"),
        Segment::GLOBAL => {
            let group = is_in(f, &pointer, "shared");
            let private = is_in(f, &pointer, "private");
            let other = f.b.binary("or", &group, &private);
            f.b.with_constant("xor", &other, 1)
        }
        _ => return invalid("only the global, group and private segments have flat addresses"),
    };
    let inside = if is_nonull {
        inside
    } else {
        let null = f.b.compare_constant("icmp eq", &bits, 0);
        f.b.binary("or", &inside, &null)
    };
    f.write(i, Type::B1, &inside)
}

/// `ftos` and `stof`.
pub(super) fn convert<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let (segment, _, source) = converted(i)?;
    if !matches!(segment, Segment::GROUP | Segment::PRIVATE) {
        return invalid("only addresses of the group and the private segment are converted");
    }
    let (space, _) = space_of(segment)?;
    let to = Pointer::type_of(space);
    let value = if i.opcode == Opcode::FTOS {
        let (_, pointer) = flat_source(f, i, source)?;
        let pointer =
            f.b.pointer(space, format_args!("addrspacecast {pointer} to {to}"));
        f.b.value(Ty::I32, format_args!("ptrtoint {pointer} to i32"))
    } else {
        let bits = f.source_bits(i, 1, source)?;
        if bits.ty != Ty::I32 {
            return invalid("addresses of its segment have 32 bits");
        }
        let pointer = f.b.pointer(space, format_args!("inttoptr i32 {bits} to {to}"));
        let pointer =
            f.b.pointer(space::FLAT, format_args!("addrspacecast {pointer} to ptr"));
        f.b.value(Ty::I64, format_args!("ptrtoint {pointer} to i64"))
    };
    f.write(i, i.ty, &value)
}

/// `nullptr`.
pub(super) fn null<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let Form::Seg { segment } = i.form else {
        return invalid("it names no segment");
    };
    let value = match segment {
        Segment::GROUP | Segment::PRIVATE => Value::int(Ty::I32, -1),
        Segment::FLAT | Segment::GLOBAL | Segment::READONLY | Segment::KERNARG => Value::int(Ty::I64, 0),
        _ => return invalid("its segment has no null"),
    };
    f.write(i, i.ty, &value)
}
