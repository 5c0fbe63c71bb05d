//! What goes wrong: each error's code in the inactive signal, memory faults as events, and nobody else harmed.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use hansa_plugin_api::{AllocFlags, DeviceEventKind, FaultFlags, MapRequest, RSlice};
use rig::kernels::{arguments, Module};
use rig::queue::{AGENT_DISPATCH, BARRIER_AND, VENDOR};
use rig::{eventually, never, Program, Rig, TestQueue};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Runs a packet on a fresh queue and answers the error code, after checking that the queue stopped.
fn code_of(rig: &Rig, words: impl FnOnce(&TestQueue, u64) -> [u64; 8]) -> i64 {
    let queue = rig.queue(0);
    let [done, after] = [rig.signal(1), rig.signal(1)];
    let words = words(&queue, done.handle());
    queue.push(&words);
    queue.barrier(BARRIER_AND | 1 << 8, &[], after.handle());
    assert!(eventually(|| queue.inactive.value() != 0), "no error is reported");
    assert!(
        never(Duration::from_millis(10), || after.value() == 0),
        "the queue goes on"
    );
    assert_eq!(done.value(), 1, "a failed packet does not complete");
    let code = queue.inactive.value();
    // Another queue of the same device is as good as before.
    let (other, fine) = (rig.queue(0), rig.signal(1));
    other.barrier(BARRIER_AND, &[], fine.handle());
    fine.wait(0);
    code
}

fn code_of_program(change: impl FnOnce(&mut Program)) -> i64 {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let none = arguments(&rig, &[]);
    let mut program = Program::linear(module.kernel("empty"), none.address(), 64);
    change(&mut program);
    code_of(&rig, |_, completion| program.words(completion))
}

/// More work-groups than 64 bits can count are many work-groups, and no reason for the device to stop.
#[test]
fn a_grid_without_an_end_goes_with_its_queue() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let none = arguments(&rig, &[]);
    let mut program = Program::linear(module.kernel("empty"), none.address(), u32::MAX);
    program.dimensions = 3;
    program.workgroup = [1; 3];
    program.grid = [u32::MAX; 3];
    let (queue, done) = (rig.queue(0), rig.signal(1));
    queue.dispatch(&program, done.handle());
    assert!(never(Duration::from_millis(10), || done.value() != 1
        || queue.inactive.value() != 0));
    queue.destroy();
    let (other, fine) = (rig.queue(0), rig.signal(1));
    other.barrier(BARRIER_AND, &[], fine.handle());
    fine.wait(0);
}

#[test]
fn bad_dimensions() {
    assert_eq!(code_of_program(|program| program.dimensions = 0), 0x2);
    assert_eq!(code_of_program(|program| program.workgroup = [0, 1, 1]), 0x2);
    assert_eq!(
        code_of_program(|program| {
            program.dimensions = 3;
            program.workgroup = [64, 1, 0];
        }),
        0x2
    );
}

#[test]
fn too_much_group_memory() {
    assert_eq!(
        code_of_program(|program| program.group_bytes = (64 << 10) + 1),
        0x4
    );
}

#[test]
fn no_kernel() {
    assert_eq!(code_of_program(|program| program.kernel_object = 0), 0x8);
    assert_eq!(code_of_program(|program| program.kernel_object += 8), 0x8);
    assert_eq!(
        code_of_program(|program| program.kernel_object = 0x7000_0000_0000),
        0x8
    );
}

#[test]
fn a_work_group_that_is_too_large() {
    assert_eq!(
        code_of_program(|program| {
            program.dimensions = 2;
            program.workgroup = [513, 2, 1];
            program.grid = [1026, 4, 1];
        }),
        0x40
    );
    // As many work-items as 32 bits cannot count.
    assert_eq!(
        code_of_program(|program| {
            program.dimensions = 3;
            program.workgroup = [4096, 4096, 256];
        }),
        0x40
    );
}

#[test]
fn packets_that_are_none() {
    let rig = Rig::new("");
    let packet = |first: u64| move |_: &TestQueue, completion| [first, 0, 0, 0, 0, 0, 0, completion];
    assert_eq!(code_of(&rig, packet(AGENT_DISPATCH.into())), 0x20);
    assert_eq!(code_of(&rig, packet(77)), 0x20);
    assert_eq!(code_of(&rig, packet(u64::from(VENDOR) | 0x0009_0000)), 0x100);
}

#[test]
fn an_illegal_instruction_and_a_trap() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let none = arguments(&rig, &[]);
    let run = |name: &str| {
        let program = Program::linear(module.kernel(name), none.address(), 64);
        code_of(&rig, |_, completion| program.words(completion))
    };
    assert_eq!(run("illegal"), 0x4000_0000);
    let logged = rig.host.logged(hansa_plugin_api::LogLevel::ERROR).join("\n");
    assert!(logged.contains("bfff0000"), "{logged}");
    assert_eq!(run("trap"), 0x8000_0000);
}

#[test]
fn a_misaligned_atomic_is_an_aperture_violation() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let out = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[out.address() + 2]);
    let program = Program::linear(module.kernel("count_at"), kernarg.address(), 1);
    assert_eq!(
        code_of(&rig, |_, completion| program.words(completion)),
        0x2000_0000
    );
}

/// Outside a group's allocation there is nothing, as in hardware, and no error however far outside: rocBLAS reads zeroes there.
#[test]
fn group_memory_outside_the_allocation_reads_zero_and_takes_nothing() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let out = rig.host_memory(4096);
    for (index, found) in [
        (3, 8),
        (1000, 1),
        (16 << 10, 1),
        (0xf0_0000 / 4, 1),
        (0x3fff_ffff, 1),
    ] {
        let (queue, done) = (rig.queue(0), rig.signal(1));
        let kernarg = arguments(&rig, &[index, out.address()]);
        let mut program = Program::linear(module.kernel("set_group"), kernarg.address(), 64);
        program.group_bytes = 256;
        queue.dispatch(&program, done.handle());
        done.wait(0);
        assert_eq!(out.word(0).load(Ordering::Acquire) as u32, found, "word {index}");
    }
}

/// The same is an error for whoever wants to find such accesses.
#[test]
fn group_memory_outside_the_allocation_is_an_aperture_violation_where_it_is_checked() {
    let rig = Rig::new("check_group_memory = true");
    let module = Module::device(&rig);
    let out = rig.host_memory(4096);
    for (index, is_inside) in [(63u32, true), (64, false), (0xf0_0000 / 4, false)] {
        let kernarg = arguments(&rig, &[index.into(), out.address()]);
        let mut program = Program::linear(module.kernel("set_group"), kernarg.address(), 64);
        program.group_bytes = 256;
        if is_inside {
            let (queue, done) = (rig.queue(0), rig.signal(1));
            queue.dispatch(&program, done.handle());
            done.wait(0);
        } else {
            let code = code_of(&rig, |_, completion| program.words(completion));
            assert_eq!(code, 0x2000_0000, "word {index}");
        }
    }
    let logged = rig.host.logged(hansa_plugin_api::LogLevel::ERROR).join("\n");
    assert!(logged.contains("No group memory at 0xf00000"), "{logged}");
}

/// Runs a kernel that touches an address, and answers the fault.
fn fault_of(rig: &Rig, kernel: &str, address: u64) -> hansa_plugin_api::DeviceEvent {
    let module = Module::device(rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let out = rig.host_memory(4096);
    let kernarg = arguments(rig, &[address, out.address()]);
    let index = queue.dispatch(
        &Program::linear(module.kernel(kernel), kernarg.address(), 1),
        done.handle(),
    );
    assert!(eventually(|| !rig::host::locked(&rig.host.events).is_empty()));
    assert_eq!(done.value(), 1);
    assert_eq!(queue.read_index(), index);
    assert_eq!(queue.inactive.value(), 0, "a memory fault is the device's event");
    let event = rig::host::locked(&rig.host.events).remove(0);
    assert_eq!(
        (event.kind, event.node, event.queue),
        (DeviceEventKind::MEMORY_FAULT, 0, queue.id)
    );
    event
}

#[test]
fn a_wild_write_is_a_fault_with_its_address() {
    let rig = Rig::new("");
    let event = fault_of(&rig, "write_at", 0x1234_5678_9abc);
    assert_eq!(event.address, 0x1234_5678_9abc);
    assert!(
        event.flags.contains(FaultFlags::PAGE_NOT_PRESENT),
        "{:?}",
        event.flags
    );
    assert!(event.message.contains("123456789abc"), "{}", event.message);
    // The process lives, and so do other queues.
    let (other, fine) = (rig.queue(0), rig.signal(1));
    other.barrier(BARRIER_AND, &[], fine.handle());
    fine.wait(0);
}

#[test]
fn a_null_read_is_a_fault() {
    let rig = Rig::new("");
    assert_eq!(fault_of(&rig, "read_at", 0).address, 0);
}

#[test]
fn a_jump_to_nowhere_is_a_fault() {
    let rig = Rig::new("");
    let event = fault_of(&rig, "leave", 0x1234_5678_9000);
    assert_eq!(event.address, 0x1234_5678_9000);
    assert!(event.flags.contains(FaultFlags::NO_EXECUTE), "{:?}", event.flags);
}

#[test]
fn code_without_an_end_faults_behind_its_memory() {
    const S_NOP: u32 = 0xbf80_0000;
    let rig = Rig::new("");
    let code = rig
        .driver
        .allocate(&hansa_plugin_api::AllocRequest {
            flags: AllocFlags::EXECUTABLE,
            ..rig::alloc_request(0, 4096)
        })
        .unwrap();
    let nops = [S_NOP; 1024];
    let from = nops.as_ptr().expose_provenance() as u64;
    rig.driver
        .copy(&hansa_plugin_api::CopyRequest::linear(
            0,
            code.device_address,
            from,
            4096,
        ))
        .unwrap();
    let event = fault_of(&rig, "leave", code.device_address);
    assert!(
        event.address >= code.device_address + 4096,
        "{:#x}",
        event.address
    );
    assert!(event.flags.contains(FaultFlags::NO_EXECUTE), "{:?}", event.flags);
}

#[test]
fn memory_of_a_peer_must_be_mapped_first() {
    let rig = Rig::new("devices = 2");
    let peer = rig.device_memory(1, 4096);
    let event = fault_of(&rig, "write_at", peer.device_address + 64);
    assert_eq!(event.address, peer.device_address + 64);
    let request = MapRequest {
        handle: peer.handle,
        nodes: RSlice::from_slice(&[0]),
        flags: AllocFlags::empty(),
        reserved: 0,
    };
    rig.driver.map(&request).unwrap();
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let kernarg = arguments(&rig, &[peer.device_address + 64, 7]);
    let program = Program::linear(module.kernel("write_at"), kernarg.address(), 1);
    queue.dispatch(&program, done.handle());
    done.wait(0);
    rig.driver.unmap(&request).unwrap();
    let event = fault_of(&rig, "read_at", peer.device_address + 64);
    assert_eq!(event.address, peer.device_address + 64);
}

#[test]
fn host_memory_counts_only_while_it_is_registered() {
    let rig = Rig::new("");
    let memory = rig.host_memory(4096);
    rig.driver.deregister_host(memory.handle()).unwrap();
    let event = fault_of(&rig, "write_at", memory.address() + 8);
    assert_eq!(event.address, memory.address() + 8);
    assert_eq!(memory.word(1).load(Ordering::Relaxed), 0);
}

#[test]
fn with_hmm_any_memory_of_the_process_counts() {
    let rig = Rig::new("hmm = true");
    let memory = Box::new(rig::Page::default());
    let address = std::ptr::from_ref(&*memory).expose_provenance() as u64;
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let kernarg = arguments(&rig, &[address + 16, 7]);
    let program = Program::linear(module.kernel("write_at"), kernarg.address(), 1);
    queue.dispatch(&program, done.handle());
    done.wait(0);
    assert_eq!(memory.0[2].load(Ordering::Acquire), 7);
    // Addresses without memory fault all the same.
    assert_eq!(fault_of(&rig, "read_at", 0x2000_0000).address, 0x2000_0000);
}

#[test]
fn memory_that_is_read_only_faults_on_a_write() {
    let rig = Rig::new("");
    let request = hansa_plugin_api::AllocRequest {
        flags: AllocFlags::READ_ONLY,
        ..rig::alloc_request(0, 4096)
    };
    let memory = rig.driver.allocate(&request).unwrap();
    let event = fault_of(&rig, "write_at", memory.device_address);
    assert!(event.flags.contains(FaultFlags::READ_ONLY), "{:?}", event.flags);
}

#[test]
fn a_peer_may_be_allowed_to_read_only() {
    let rig = Rig::new("devices = 2");
    let peer = rig.device_memory(1, 4096);
    let request = MapRequest {
        handle: peer.handle,
        nodes: RSlice::from_slice(&[0]),
        flags: AllocFlags::READ_ONLY,
        reserved: 0,
    };
    rig.driver.map(&request).unwrap();
    let event = fault_of(&rig, "write_at", peer.device_address);
    assert!(event.flags.contains(FaultFlags::READ_ONLY), "{:?}", event.flags);
    rig.driver.free(peer.handle).unwrap();
    let event = fault_of(&rig, "read_at", peer.device_address);
    assert!(
        event.flags.contains(FaultFlags::PAGE_NOT_PRESENT),
        "{:?}",
        event.flags
    );
}

#[test]
fn a_completion_signal_that_is_none_is_a_fault() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    queue.barrier(BARRIER_AND, &[], 0x5000_0000_0040);
    assert!(eventually(|| !rig::host::locked(&rig.host.events).is_empty()));
    let event = rig::host::locked(&rig.host.events).remove(0);
    assert_eq!(
        (event.kind, event.address),
        (DeviceEventKind::MEMORY_FAULT, 0x5000_0000_0040)
    );
}

#[test]
fn a_dependency_that_is_none_is_a_fault() {
    let rig = Rig::new("");
    let (queue, done) = (rig.queue(0), rig.signal(1));
    queue.barrier(BARRIER_AND, &[0x5000_0000_0080], done.handle());
    assert!(eventually(|| !rig::host::locked(&rig.host.events).is_empty()));
    assert_eq!(
        rig::host::locked(&rig.host.events).remove(0).address,
        0x5000_0000_0080
    );
    assert_eq!(done.value(), 1);
}
