//! Batches of copies.

use crate::support::{at, program, Program, COMPLETION, CPU_AGENT, GPU_AGENT, NO_SIGNAL};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_memory_copy_op_t, hsa_amd_memory_copy_signal_t, hsa_amd_memory_copy_wait_t,
    hsa_status_t,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// A case, the type of the operation, and what is wrong with it.
type Change = (&'static str, u16, fn(&mut hsa_amd_memory_copy_op_t));

fn operation(kind: u16) -> hsa_amd_memory_copy_op_t {
    hsa_amd_memory_copy_op_t {
        version: 1,
        r#type: kind,
        num_entries: 0,
        traffic_class: 0,
        completion_signal: COMPLETION,
        src: at(0x5000),
        src_agent: CPU_AGENT,
        dst_agent: GPU_AGENT,
        dst: at(0x4000),
        size: 64,
        dst_size: if kind == 2 { 64 } else { 0 },
        wait: hsa_amd_memory_copy_wait_t {
            function: 0,
            scope: 0,
            reserved: 0,
            addr: null_mut(),
            value: 0,
            mask: 0,
        },
        signal: hsa_amd_memory_copy_signal_t {
            operation: 0,
            scope: 0,
            reserved: 0,
            addr: null_mut(),
            data: 0,
        },
        reserved1: [0],
    }
}

fn batch(program: &Program, operations: &[hsa_amd_memory_copy_op_t]) -> hsa_status_t {
    let count = u32::try_from(operations.len()).expect("few operations");
    // SAFETY: live operations, whose lists are live too.
    unsafe { (program.amd.hsa_amd_memory_async_batch_copy_fn)(operations.as_ptr(), count, 0, null()) }
}

/// The operands of operations with entries.
struct Lists {
    sources: [*mut c_void; 2],
    destinations: [*mut c_void; 2],
    agents: [hsa_agent_t; 2],
    sizes: [usize; 2],
}

impl Lists {
    fn new() -> Self {
        Self {
            sources: [at(0x5000), at(0x5100)],
            destinations: [at(0x4000), at(0x4100)],
            agents: [GPU_AGENT, CPU_AGENT],
            sizes: [16, 32],
        }
    }

    fn operation(&mut self, kind: u16) -> hsa_amd_memory_copy_op_t {
        let handle = self.agents.as_ptr().expose_provenance() as u64;
        let broadcast = kind == 1;
        hsa_amd_memory_copy_op_t {
            num_entries: 2,
            src: if broadcast {
                at(0x5000)
            } else {
                self.sources.as_mut_ptr().cast()
            },
            dst: self.destinations.as_mut_ptr().cast(),
            dst_agent: hsa_agent_t { handle },
            size: if broadcast {
                64
            } else {
                self.sizes.as_ptr().expose_provenance()
            },
            dst_size: 0,
            ..operation(kind)
        }
    }
}

#[test]
fn a_batch_passes_single_operations_and_lists() {
    let program = program();
    let mut lists = Lists::new();
    let operations = [
        operation(0),
        lists.operation(0),
        lists.operation(1),
        operation(2),
        lists.operation(5),
    ];
    assert_eq!(batch(&program, &operations), hsa_status_t::SUCCESS);
    let calls = program.calls();
    let expected = [
        "0 [5000]@11 -> [4000]@[12] [64] wait 0 signal 0",
        "0 [5000, 5100]@11 -> [4000, 4100]@[12, 11] [16, 32] wait 0 signal 0",
        "1 [5000]@11 -> [4000, 4100]@[12, 11] [64] wait 0 signal 0",
        "2 [5000]@11 -> [4000]@[12] [64] wait 0 signal 0",
        "5 [5000, 5100]@11 -> [4000, 4100]@[12, 11] [16, 32] wait 0 signal 0",
    ];
    assert_eq!(calls, [format!("copy_batch({}, after [])", expected.join("; "))]);
}

#[test]
fn a_batch_checks_every_operation() {
    let program = program();
    let changes: [Change; 21] = [
        ("version 0", 0, |one| one.version = 0),
        ("version 2", 0, |one| one.version = 2),
        ("type 6", 0, |one| one.r#type = 6),
        ("NULL source", 0, |one| one.src = null_mut()),
        ("NULL destination", 0, |one| one.dst = null_mut()),
        ("reserved", 0, |one| one.reserved1 = [1]),
        ("second size", 0, |one| one.dst_size = 1),
        ("exchange of two sizes", 2, |one| one.dst_size = 63),
        ("broadcast to nobody", 1, |one| one.num_entries = 0),
        ("too many pointers in memory", 3, |one| one.num_entries = 1025),
        ("wait function 7", 0, |one| {
            one.wait.function = 7;
            one.wait.addr = at(64);
        }),
        ("wait without address", 0, |one| one.wait.function = 3),
        ("address without wait", 0, |one| one.wait.addr = at(64)),
        ("scope without wait", 0, |one| one.wait.scope = 2),
        ("wait reserved", 0, |one| one.wait.reserved = 1),
        ("wait scope 3", 3, |one| one.wait.scope = 3),
        ("signal operation 4", 0, |one| {
            one.signal.operation = 4;
            one.signal.addr = at(64);
        }),
        ("signal without address", 0, |one| one.signal.operation = 1),
        ("address without signal", 0, |one| one.signal.addr = at(64)),
        ("signal reserved", 0, |one| one.signal.reserved = 1),
        ("other completion signal", 0, |one| {
            one.completion_signal.handle += 1;
        }),
    ];
    for (case, kind, change) in changes {
        let mut changed = operation(kind);
        change(&mut changed);
        let status = batch(&program, &[operation(0), changed]);
        assert_eq!(status, hsa_status_t::ERROR_INVALID_ARGUMENT, "{case}");
    }
    let mut nowhere = operation(0);
    nowhere.completion_signal = NO_SIGNAL;
    assert_eq!(
        batch(&program, &[nowhere]),
        hsa_status_t::ERROR_INVALID_ARGUMENT,
        "completion 0"
    );
    let mut lists = Lists::new();
    lists.destinations[1] = null_mut();
    assert_eq!(
        batch(&program, &[lists.operation(0)]),
        hsa_status_t::ERROR_INVALID_ARGUMENT,
        "NULL in a list"
    );
    let mut without_sizes = Lists::new().operation(0);
    without_sizes.size = 0;
    assert_eq!(
        batch(&program, &[without_sizes]),
        hsa_status_t::ERROR_INVALID_ARGUMENT,
        "NULL sizes"
    );
    assert_eq!(program.calls(), [""; 0]);
}

#[test]
fn a_batch_can_wait_for_memory_and_signal_memory() {
    let program = program();
    let mut one = operation(3);
    one.wait.scope = 2;
    one.signal.operation = 2;
    one.signal.addr = at(64);
    let mut other = operation(0);
    other.wait.function = 6;
    other.wait.addr = at(64);
    other.wait.scope = 1;
    assert_eq!(batch(&program, &[one, other]), hsa_status_t::SUCCESS);
    assert!(program.calls()[0].contains("wait 0 signal 2; 0 [5000]@11 -> [4000]@[12] [64] wait 6 signal 0"));
}
