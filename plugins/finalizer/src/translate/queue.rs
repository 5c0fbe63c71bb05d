//! Indices of user mode queues (PRM 11.3): members of AMD's queue, whose address the address of the HSA queue is.

use super::atomic::{self, Sync};
use super::error::{invalid, Reason};
use super::function::Function;
use super::ty::Ty;
use crate::brig::{AtomicOp, Form, Instruction, Opcode, Type};

const WRITE_INDEX: u32 = 56;
const READ_INDEX: u32 = 128;

/// Translates an operation on a queue.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let Form::Queue { segment, order } = i.form else {
        return invalid("it names no segment");
    };
    if i.ty != Type::U64 {
        return invalid("indices have 64 bits");
    }
    let (offset, operation) = match i.opcode {
        Opcode::ADDQUEUEWRITEINDEX => (WRITE_INDEX, AtomicOp::ADD),
        Opcode::CASQUEUEWRITEINDEX => (WRITE_INDEX, AtomicOp::CAS),
        Opcode::LDQUEUEREADINDEX => (READ_INDEX, AtomicOp::LOAD),
        Opcode::LDQUEUEWRITEINDEX => (WRITE_INDEX, AtomicOp::LOAD),
        Opcode::STQUEUEREADINDEX => (READ_INDEX, AtomicOp::STORE),
        _ => (WRITE_INDEX, AtomicOp::STORE),
    };
    let first = usize::from(operation != AtomicOp::STORE);
    let address = f.address(i, first)?;
    let queue = f.pointer(&address, segment)?;
    let mut sources = Vec::new();
    for index in first + 1..=first + atomic::sources_of(operation)? {
        sources.push(f.source_bits(i, index, i.ty)?);
    }
    let index = f.b.pointer(
        queue.space,
        format_args!("getelementptr i8, {queue}, i64 {offset}"),
    );
    let old = atomic::update(
        &mut f.b,
        operation,
        false,
        Ty::I64,
        &index,
        &sources,
        Sync::system(order)?,
    )?;
    match old {
        Some(old) => f.write(i, i.ty, &old),
        None => Ok(()),
    }
}
