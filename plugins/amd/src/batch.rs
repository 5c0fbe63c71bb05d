//! Batches of copies: many operations in one call.
//!
//! An operation names its operands itself or, with a number of entries, by lists. Both become lists here.

use crate::args::{address, widen, Call};
use crate::entry::{argument, entries, Outcome};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_memory_copy_op_t, hsa_amd_memory_copy_op_type_t as Kind,
    hsa_amd_memory_copy_signal_op_t, hsa_amd_memory_copy_wait_function_t, hsa_signal_t,
    HSA_AMD_MEMORY_COPY_OP_VERSION,
};
use hansa_plugin_api::{BatchOperation, CopySignal, CopyWait, RSlice};
use std::ffi::c_void;
use std::slice::from_ref;

/// The most entries of an operation through pointers in memory; others are bounded by the field's 16 bits.
const MAX_INDIRECT_ENTRIES: u16 = 1024;
/// The highest `hsa_fence_scope_t`: system.
const SYSTEM_SCOPE: u16 = 2;

entries! {
    /// Submits operations together.
    fn hsa_amd_memory_async_batch_copy(
        call; copy_ops: *const hsa_amd_memory_copy_op_t, num_copy_ops: u32, num_dep_signals: u32,
        dep_signals: *const hsa_signal_t,
    ) {
        argument(num_copy_ops != 0)?;
        let operations = call.list(copy_ops, widen(num_copy_ops))?;
        let completion = operations[0].completion_signal;
        argument(completion.handle != 0)?;
        argument(operations.iter().all(|operation| operation.completion_signal == completion))?;
        let dependencies = call.dependencies(num_dep_signals, dep_signals)?;
        let scalars: Vec<Scalars> = operations.iter().map(Scalars::of).collect();
        let batch = operations
            .iter()
            .zip(&scalars)
            .map(|(operation, own)| convert(call, operation, own))
            .collect::<Outcome<Vec<_>>>()?;
        call.copies()?.copy_batch(batch.as_slice().into(), dependencies)?;
        Ok(())
    }
}

/// The operands that an operation names itself, kept where lists can borrow them.
struct Scalars {
    source: u64,
    destination: u64,
    destination_agent: u64,
    bytes: u64,
}

impl Scalars {
    fn of(operation: &hsa_amd_memory_copy_op_t) -> Self {
        Self {
            source: address(operation.src),
            destination: address(operation.dst),
            destination_agent: operation.dst_agent.handle,
            bytes: operation.size as u64,
        }
    }
}

fn convert<'a>(
    call: &'a Call,
    operation: &'a hsa_amd_memory_copy_op_t,
    own: &'a Scalars,
) -> Outcome<BatchOperation<'a>> {
    let kind = Kind(u32::from(operation.r#type));
    let (single, entries) = (operation.num_entries == 0, usize::from(operation.num_entries));
    argument(operation.version == HSA_AMD_MEMORY_COPY_OP_VERSION && kind.c_name().is_some())?;
    argument(operation.reserved1 == [0])?;
    argument(!operation.src.is_null() && !operation.dst.is_null())?;
    let indirect = matches!(
        kind,
        Kind::LINEAR_INDIRECT_SRC | Kind::LINEAR_INDIRECT_DST | Kind::LINEAR_INDIRECT_SRCDST
    );
    argument(!indirect || operation.num_entries <= MAX_INDIRECT_ENTRIES)?;
    argument(kind != Kind::LINEAR_BROADCAST || !single)?;
    // The second size belongs to a single exchange alone, whose two sides are of one size.
    let second_size = if kind == Kind::LINEAR_SWAP && single {
        operation.size
    } else {
        0
    };
    argument(operation.dst_size == second_size)?;

    let (sources, destinations, destination_agents, bytes): (&[u64], &[u64], RSlice<'_, u64>, &[u64]) =
        match (kind, single) {
            (_, true) => (
                from_ref(&own.source),
                from_ref(&own.destination),
                from_ref(&own.destination_agent).into(),
                from_ref(&own.bytes),
            ),
            (Kind::LINEAR_BROADCAST, false) => (
                from_ref(&own.source),
                addresses(call, operation.dst, entries)?,
                agents(call, operation.dst_agent, entries)?,
                from_ref(&own.bytes),
            ),
            (_, false) => (
                addresses(call, operation.src, entries)?,
                addresses(call, operation.dst, entries)?,
                agents(call, operation.dst_agent, entries)?,
                call.list(std::ptr::with_exposed_provenance::<u64>(operation.size), entries)?,
            ),
        };
    Ok(BatchOperation {
        kind: kind.0,
        traffic_class: u32::from(operation.traffic_class),
        sources: sources.into(),
        source_agent: operation.src_agent.handle,
        destinations: destinations.into(),
        destination_agents,
        bytes: bytes.into(),
        wait: wait(operation, indirect)?,
        signal: signal(operation)?,
        completion: operation.completion_signal.handle,
    })
}

/// A list of pointers, none of which is NULL.
fn addresses(call: &Call, list: *mut c_void, entries: usize) -> Outcome<&[u64]> {
    let list = call.list(list.cast_const().cast::<u64>(), entries)?;
    argument(!list.contains(&0))?;
    Ok(list)
}

/// The list of agents whose address stands where a single operation has its agent.
fn agents(call: &Call, list: hsa_agent_t, entries: usize) -> Outcome<RSlice<'_, u64>> {
    call.handles(
        crate::args::pointer::<hsa_agent_t>(list.handle).cast_const(),
        entries,
    )
}

fn wait(operation: &hsa_amd_memory_copy_op_t, indirect: bool) -> Outcome<CopyWait> {
    let wait = operation.wait;
    let function = hsa_amd_memory_copy_wait_function_t(u32::from(wait.function));
    let waits = function != hsa_amd_memory_copy_wait_function_t::ALWAYS;
    argument(function.c_name().is_some() && wait.reserved == 0)?;
    argument(wait.addr.is_null() != waits)?;
    argument(wait.scope <= SYSTEM_SCOPE && (waits || indirect || wait.scope == 0))?;
    Ok(CopyWait {
        function: function.0,
        scope: u32::from(wait.scope),
        address: address(wait.addr),
        value: wait.value,
        mask: wait.mask,
    })
}

fn signal(operation: &hsa_amd_memory_copy_op_t) -> Outcome<CopySignal> {
    let signal = operation.signal;
    let change = hsa_amd_memory_copy_signal_op_t(u32::from(signal.operation));
    let changes = change != hsa_amd_memory_copy_signal_op_t::NONE;
    argument(change.c_name().is_some() && signal.reserved == 0 && signal.scope <= SYSTEM_SCOPE)?;
    argument(signal.addr.is_null() != changes)?;
    Ok(CopySignal {
        operation: change.0,
        scope: u32::from(signal.scope),
        address: address(signal.addr),
        data: signal.data,
    })
}
