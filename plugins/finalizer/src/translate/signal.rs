//! Operations on signals (PRM 6.8).
//!
//! A handle is the address of a block that AMD's runtimes agree on: what it is at 0, its value at 8 or, of a doorbell, the
//! address of the doorbell; at 16 the address of a mailbox for the number at 24, by which an interrupt is known.

use super::atomic::{self, Sync};
use super::builder::{Builder, Pointer, Value};
use super::error::{invalid, unsupported, Reason};
use super::function::Function;
use super::globals::space;
use super::operand::ty_of;
use super::ty::Ty;
use crate::brig::{AtomicOp, Form, Instruction, MemoryOrder, Opcode, Type};

const VALUE: u32 = 8;
/// What a block is that has a value.
const USER: i32 = 1;
/// Longest that `wait` waits, in ticks of the real-time clock: seconds at its usual 25 to 100 MHz. A wait may end at any
/// time (6.8.2), and has to end at some.
const WAIT_TICKS: i64 = 500_000_000;

/// `signal` and `signalnoret`.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let Form::Signal {
        signal_type,
        order,
        operation,
    } = i.form
    else {
        return invalid("it names no operation on signals");
    };
    if signal_type != Type::SIG64 {
        return unsupported("only the large machine model is");
    }
    if ty_of(i.ty)?.bits() != 64 {
        return invalid("signals have 64 bits");
    }
    let has_result = i.opcode == Opcode::SIGNAL;
    let first = usize::from(has_result);
    let handle = f.source_bits(i, first, signal_type)?;
    let block = f.b.pointer(
        space::GLOBAL,
        format_args!("inttoptr {} to ptr addrspace(1)", handle.argument()),
    );
    let sync = Sync::system(order)?;
    if operation >= AtomicOp::WAIT_EQ {
        let against = f.source_bits(i, first + 1, i.ty)?;
        let limit = if operation >= AtomicOp::WAIT_TIMEOUT_EQ {
            let ticks = f.source_bits(i, first + 2, Type::U64)?;
            let most = Value::int(Ty::I64, WAIT_TICKS);
            f.b.overloaded("llvm.umin", &[&ticks, &most])
        } else {
            Value::int(Ty::I64, WAIT_TICKS)
        };
        let value = wait(&mut f.b, operation, &block, &against, &limit, sync)?;
        return f.write(i, i.ty, &value);
    }
    let mut sources = Vec::new();
    for index in first + 1..=first + atomic::sources_of(operation)? {
        sources.push(f.source_bits(i, index, i.ty)?);
    }
    if operation == AtomicOp::STORE {
        store(&mut f.b, &block, &sources, sync)?;
        return Ok(());
    }
    let place = member(&mut f.b, &block, VALUE);
    let old = atomic::update(&mut f.b, operation, true, Ty::I64, &place, &sources, sync)?;
    if operation != AtomicOp::LOAD {
        notify(&mut f.b, &block);
    }
    match old {
        Some(old) if has_result => f.write(i, i.ty, &old),
        _ => Ok(()),
    }
}

fn member(b: &mut Builder, block: &Pointer, offset: u32) -> Pointer {
    b.pointer(
        block.space,
        format_args!("getelementptr i8, {block}, i64 {offset}"),
    )
}

fn notify(b: &mut Builder, block: &Pointer) {
    b.helpers.insert("hansa.notify");
    b.line(format_args!("call void @hansa.notify({block})"));
}

/// A store to a signal, or to the doorbell of a queue, which is a signal to programs.
fn store(b: &mut Builder, block: &Pointer, sources: &[Value], sync: Sync) -> Result<(), Reason> {
    let kind = b.value(Ty::I64, format_args!("load i64, {block}, align 8"));
    let is_user = b.compare_constant("icmp eq", &kind, USER);
    let place = member(b, block, VALUE);
    let (user, doorbell, done) = (b.label(), b.label(), b.label());
    b.end(format_args!("br i1 {is_user}, label %{user}, label %{doorbell}"));
    b.block(&user);
    atomic::update(b, AtomicOp::STORE, true, Ty::I64, &place, sources, sync)?;
    notify(b, block);
    b.end(format_args!("br label %{done}"));
    b.block(&doorbell);
    let address = b.value(Ty::I64, format_args!("load i64, {place}, align 8"));
    let register = b.pointer(
        space::GLOBAL,
        format_args!("inttoptr i64 {address} to ptr addrspace(1)"),
    );
    // The packets have to be there before the doorbell rings.
    let release = Sync::system(MemoryOrder::RELEASE)?;
    atomic::update(b, AtomicOp::STORE, true, Ty::I64, &register, sources, release)?;
    b.block(&done);
    Ok(())
}

/// The value when the condition holds, or when it has lasted too long.
fn wait(
    b: &mut Builder,
    operation: AtomicOp,
    block: &Pointer,
    against: &Value,
    limit: &Value,
    sync: Sync,
) -> Result<Value, Reason> {
    let predicate = match operation {
        AtomicOp::WAIT_EQ | AtomicOp::WAIT_TIMEOUT_EQ => "icmp eq",
        AtomicOp::WAIT_NE | AtomicOp::WAIT_TIMEOUT_NE => "icmp ne",
        AtomicOp::WAIT_LT | AtomicOp::WAIT_TIMEOUT_LT => "icmp slt",
        AtomicOp::WAIT_GTE | AtomicOp::WAIT_TIMEOUT_GTE => "icmp sge",
        _ => return invalid("signals have no such operation"),
    };
    let place = member(b, block, VALUE);
    let start = clock(b);
    let (look, late, sleep, done) = (b.label(), b.label(), b.label(), b.label());
    b.block(&look);
    let value = b.value(
        Ty::I64,
        format_args!("load atomic i64, {place} {}, align 8", sync.load()),
    );
    let holds = b.compare(predicate, &value, against);
    b.end(format_args!("br i1 {holds}, label %{done}, label %{late}"));
    b.block(&late);
    let now = clock(b);
    let passed = b.binary("sub", &now, &start);
    let is_late = b.compare("icmp uge", &passed, limit);
    b.end(format_args!("br i1 {is_late}, label %{done}, label %{sleep}"));
    b.block(&sleep);
    let nap = Value::int(Ty::I32, 2);
    let text = b.call_text(
        "llvm.amdgcn.s.sleep",
        "void",
        std::iter::once((nap.ty.to_string(), nap.text)),
    );
    b.line(text);
    b.end(format_args!("br label %{look}"));
    b.block(&done);
    Ok(value)
}

fn clock(b: &mut Builder) -> Value {
    b.call("llvm.amdgcn.s.memrealtime", Ty::I64, &[])
}
