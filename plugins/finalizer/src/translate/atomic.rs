//! Atomic operations and fences (PRM 6.2, 6.6, 6.7, 6.9, 7.6).
//!
//! Operations that synchronize with an agent or the system are sequentially consistent among each other, as the PRM asks
//! (6.2.1); those within a work-group have exactly their order, for its work-items see one memory.

use super::builder::{Builder, Pointer, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::operand::ty_of;
use super::ty::Ty;
use crate::brig::{AtomicOp, Form, Instruction, MemoryOrder, MemoryScope, Opcode, Segment};

/// Order and scope of an operation.
#[derive(Clone, Copy)]
pub(super) struct Sync {
    order: MemoryOrder,
    scope: MemoryScope,
}

impl Sync {
    pub(super) fn new(order: MemoryOrder, scope: MemoryScope) -> Result<Self, Reason> {
        let is_order = (MemoryOrder::RELAXED..=MemoryOrder::ACQUIRE_RELEASE).contains(&order);
        let is_scope = (MemoryScope::WORKITEM..=MemoryScope::SYSTEM).contains(&scope);
        if is_order && is_scope {
            Ok(Self { order, scope })
        } else {
            invalid("it has no memory order, or no scope")
        }
    }

    /// An operation that the whole system sees.
    pub(super) fn system(order: MemoryOrder) -> Result<Self, Reason> {
        Self::new(order, MemoryScope::SYSTEM)
    }

    fn is_wide(self) -> bool {
        self.scope >= MemoryScope::AGENT
    }

    fn acquires(self) -> bool {
        matches!(self.order, MemoryOrder::ACQUIRE | MemoryOrder::ACQUIRE_RELEASE)
    }

    fn releases(self) -> bool {
        matches!(self.order, MemoryOrder::RELEASE | MemoryOrder::ACQUIRE_RELEASE)
    }

    /// The scope in front of an order; the system's has no name.
    pub(super) fn scope_text(self) -> &'static str {
        match self.scope {
            MemoryScope::WORKITEM => "syncscope(\"singlethread\") ",
            MemoryScope::WAVEFRONT => "syncscope(\"wavefront\") ",
            MemoryScope::WORKGROUP => "syncscope(\"workgroup\") ",
            MemoryScope::AGENT => "syncscope(\"agent\") ",
            _ => "",
        }
    }

    fn order_text(self) -> &'static str {
        match self.order {
            MemoryOrder::RELAXED => "monotonic",
            _ if self.is_wide() => "seq_cst",
            MemoryOrder::ACQUIRE => "acquire",
            MemoryOrder::RELEASE => "release",
            _ => "acq_rel",
        }
    }

    /// Scope and order of something that reads and writes.
    pub(super) fn update(self) -> String {
        format!("{}{}", self.scope_text(), self.order_text())
    }

    /// Of something that only reads: it does not release.
    pub(super) fn load(self) -> String {
        let order = match self.order_text() {
            "acq_rel" => "acquire",
            "release" => "monotonic",
            order => order,
        };
        format!("{}{order}", self.scope_text())
    }

    /// Of something that only writes: it does not acquire.
    pub(super) fn store(self) -> String {
        let order = match self.order_text() {
            "acq_rel" => "release",
            "acquire" => "monotonic",
            order => order,
        };
        format!("{}{order}", self.scope_text())
    }

    /// Of a comparison that fails.
    fn failure(self) -> &'static str {
        match self.order_text() {
            "acq_rel" => "acquire",
            "release" => "monotonic",
            order => order,
        }
    }

    fn fence(self, order: &str) -> String {
        format!("fence {}{order}", self.scope_text())
    }
}

/// `atomic` and `atomicnoret`.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let Form::Atomic {
        segment,
        order,
        scope,
        operation,
        ..
    } = i.form
    else {
        return invalid("it names no atomic operation");
    };
    if !matches!(segment, Segment::FLAT | Segment::GLOBAL | Segment::GROUP) {
        return invalid("there are no atomic operations in its segment");
    }
    let sync = Sync::new(order, scope)?;
    let has_result = i.opcode == Opcode::ATOMIC;
    let first = usize::from(has_result);
    let address = f.address(i, first)?;
    let pointer = f.pointer(&address, segment)?;
    let mut sources = Vec::new();
    for index in first + 1..=first + sources_of(operation)? {
        sources.push(f.source_bits(i, index, i.ty)?);
    }
    let ty = Ty::int(ty_of(i.ty)?.bits());
    let result = update(
        &mut f.b,
        operation,
        i.ty.is_signed(),
        ty,
        &pointer,
        &sources,
        sync,
    )?;
    match result {
        Some(result) if has_result => f.write(i, i.ty, &result),
        None if has_result => invalid("a store has no result"),
        _ => Ok(()),
    }
}

/// How many values an operation takes.
pub(super) fn sources_of(operation: AtomicOp) -> Result<usize, Reason> {
    match operation {
        AtomicOp::LOAD => Ok(0),
        AtomicOp::CAS => Ok(2),
        AtomicOp(0..=12) => Ok(1),
        _ => invalid("memory has no such atomic operation"),
    }
}

/// An atomic operation, with what was there before; a store does not know it.
pub(super) fn update(
    b: &mut Builder,
    operation: AtomicOp,
    is_signed: bool,
    ty: Ty,
    pointer: &Pointer,
    sources: &[Value],
    sync: Sync,
) -> Result<Option<Value>, Reason> {
    if !matches!(ty, Ty::I32 | Ty::I64) {
        return invalid("atomic operations have 32 or 64 bits");
    }
    let align = ty.bits() / 8;
    let name = match (operation, is_signed) {
        (AtomicOp::LOAD, _) => {
            let text = format!("load atomic {ty}, {pointer} {}, align {align}", sync.load());
            return Ok(Some(b.value(ty, text)));
        }
        (AtomicOp::STORE, _) => {
            let value = sources[0].argument();
            b.line(format_args!(
                "store atomic {value}, {pointer} {}, align {align}",
                sync.store()
            ));
            return Ok(None);
        }
        (AtomicOp::CAS, _) => {
            let [old, new] = [&sources[0], &sources[1]].map(Value::argument);
            let (success, failure) = (sync.update(), sync.failure());
            let pair = b.named(format_args!(
                "cmpxchg {pointer}, {old}, {new} {success} {failure}, align {align}"
            ));
            return Ok(Some(
                b.value(ty, format_args!("extractvalue {{ {ty}, i1 }} {pair}, 0")),
            ));
        }
        (AtomicOp::WRAP_INC, _) => return Ok(Some(wrapping(b, "inc", ty, pointer, &sources[0], sync))),
        (AtomicOp::WRAP_DEC, _) => return Ok(Some(wrapping(b, "dec", ty, pointer, &sources[0], sync))),
        (AtomicOp::ADD, _) => "add",
        (AtomicOp::SUB, _) => "sub",
        (AtomicOp::AND, _) => "and",
        (AtomicOp::OR, _) => "or",
        (AtomicOp::XOR, _) => "xor",
        (AtomicOp::EXCHANGE, _) => "xchg",
        (AtomicOp::MAX, true) => "max",
        (AtomicOp::MAX, false) => "umax",
        (AtomicOp::MIN, true) => "min",
        (AtomicOp::MIN, false) => "umin",
        _ => return invalid("memory has no such atomic operation"),
    };
    let value = sources[0].argument();
    let text = format!(
        "atomicrmw {name} {pointer}, {value} {}, align {align}",
        sync.update()
    );
    Ok(Some(b.value(ty, text)))
}

/// Increment and decrement that wrap at a bound, which have no order of their own in every LLVM: fences give it.
fn wrapping(b: &mut Builder, name: &str, ty: Ty, pointer: &Pointer, bound: &Value, sync: Sync) -> Value {
    if sync.releases() {
        b.line(sync.fence("release"));
    }
    let [zero, no] = [Value::int(Ty::I32, 0), Value::int(Ty::I1, 0)];
    let arguments = [(Pointer::type_of(pointer.space), pointer.text.clone())].into_iter();
    let arguments = arguments.chain([bound, &zero, &zero, &no].map(|v| (v.ty.to_string(), v.text.clone())));
    let name = format!("llvm.amdgcn.atomic.{name}.{}.{}", ty.mangled(), pointer.mangled());
    let text = b.call_text(&name, &ty.to_string(), arguments);
    let old = b.value(ty, text);
    if sync.acquires() {
        b.line(sync.fence("acquire"));
    }
    old
}

/// `memfence` and `imagefence`.
pub(super) fn fence<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let sync = match i.form {
        Form::MemFence {
            order,
            global_scope,
            group_scope,
            ..
        } => Sync::new(order, global_scope.max(group_scope))?,
        // Images are read through the cache of a compute unit, which what is written passes by.
        _ => Sync::new(MemoryOrder::ACQUIRE_RELEASE, MemoryScope::AGENT)?,
    };
    let order = match sync.order {
        MemoryOrder::RELAXED => return invalid("a fence has an order"),
        MemoryOrder::ACQUIRE => "acquire",
        MemoryOrder::RELEASE => "release",
        _ if sync.is_wide() => "seq_cst",
        _ => "acq_rel",
    };
    f.b.line(sync.fence(order));
    Ok(())
}
