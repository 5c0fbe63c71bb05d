//! Requests of debuggers, made by the process on itself.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::uapi::system::RuntimeEnable;
use hansa_plugin_api as api;
use hansa_plugin_api::{Driver, QueueKind};
use hansa_vkernel::debug::{exception, mask};
use hansa_vkernel::{Errno, GpuSpec, Machine, Options};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use support::program::Program;
use support::trapping::{self, Queue};
use support::{kernels, ring_bell, within_a_second, QueueMemory, Rig, WRITE_INDEX};

const DBG_TRAP: u32 = 0xc020_4b26;

/// An operation on a process; answers the number and the words.
fn on(program: &Program, process: u32, operation: u32, words: [u32; 6]) -> Result<(i32, [u32; 6]), Errno> {
    let mut all = [0; 8];
    (all[0], all[1]) = (process, operation);
    all[2..].copy_from_slice(&words);
    let answer = program.call(DBG_TRAP, &mut all)?;
    Ok((answer, all[2..].try_into().unwrap()))
}

fn trap(program: &Program, operation: u32, words: [u32; 6]) -> Result<(i32, [u32; 6]), Errno> {
    on(program, std::process::id(), operation, words)
}

fn halves(value: u64) -> [u32; 2] {
    hansa_kfd::event::halves(value)
}

fn address<T>(of: &T) -> [u32; 2] {
    halves(std::ptr::from_ref(of).expose_provenance() as u64)
}

/// Words that the kernel writes.
fn cells<const N: usize>() -> [AtomicU32; N] {
    std::array::from_fn(|_| AtomicU32::new(0))
}

fn values<const N: usize>(cells: &[AtomicU32; N]) -> [u32; N] {
    std::array::from_fn(|i| cells[i].load(Ordering::Acquire))
}

/// Begins to debug; answers what the debugger reads from, and what it was told of the run-time.
fn attach(program: &Program, wanted: u64) -> (std::io::PipeReader, [u32; 4]) {
    let (reader, writer) = std::io::pipe().unwrap();
    let info = cells::<4>();
    let ([low, high], [to, to_high]) = (halves(wanted), address(&info));
    let fd = writer.as_raw_fd().unsigned_abs();
    let (_, words) = trap(program, 0, [low, high, to, to_high, 16, fd]).unwrap();
    assert_eq!(words[4], 16);
    (reader, values(&info))
}

#[test]
fn a_debugger_has_to_attach_and_some_operations_need_a_run_time() {
    let program = Program::new();
    assert_eq!(
        trap(&program, 11, [0; 6]),
        Err(Errno::INVAL),
        "nobody is attached"
    );
    assert_eq!(on(&program, i32::MAX.unsigned_abs(), 0, [0; 6]), Err(Errno::SRCH));
    assert_eq!(trap(&program, 0, [0, 0, 0, 0, 16, 0xffff]), Err(Errno::BADF));
    let (mut reader, info) = attach(&program, mask(exception::PROCESS_RUNTIME));
    assert_eq!(info, [0; 4], "there is no run-time yet");
    assert_eq!(trap(&program, 0, [0; 6]), Err(Errno::ALREADY));
    for operation in [4, 5, 6, 7, 8, 9] {
        assert_eq!(trap(&program, operation, [0; 6]), Err(Errno::PERM), "{operation}");
    }
    assert_eq!(trap(&program, 11, [0; 6]), Err(Errno::AGAIN), "nothing happened");
    let mut runtime = RuntimeEnable {
        r_debug: 0x1234_5678_9abc,
        mode_mask: 3,
        capabilities_mask: 0,
    };
    program.ask(&mut runtime).unwrap();
    reader.read_exact(&mut [0]).unwrap();
    let [low, high] = halves(mask(exception::PROCESS_RUNTIME));
    let event = trap(&program, 11, [0; 6]).unwrap().1;
    assert_eq!(event, [low, high, 0, 0, 0, 0]);
    let info = cells::<4>();
    let [to, to_high] = address(&info);
    let query = |clear| {
        trap(
            &program,
            12,
            [to, to_high, 16, 0, exception::PROCESS_RUNTIME, clear],
        )
    };
    assert_eq!(query(1).unwrap().1[2], 16);
    assert_eq!(values(&info), [0x5678_9abc, 0x1234, 1, 1]);
    assert_eq!(query(0), Err(Errno::NODATA), "it was cleared");
    // What a run-time allows.
    assert_eq!(trap(&program, 5, [1, 0, 0, 0, 0, 0]), Ok((0, [1, 0, 0, 0, 0, 0])));
    assert_eq!(trap(&program, 5, [2, 0, 0, 0, 0, 0]), Err(Errno::INVAL));
    assert_eq!(
        trap(&program, 4, [0, 0x80, 0x80, 0, 0, 0]).unwrap().1[1..3],
        [0, 0xff]
    );
    assert_eq!(trap(&program, 4, [1, 0, 1 << 30, 0, 0, 0]), Err(Errno::ACCESS));
    assert_eq!(trap(&program, 4, [1, 0, 0, 0, 0, 0]).unwrap().1[1], 0x80);
    assert_eq!(trap(&program, 10, [1, 0, 0, 0, 0, 0]).unwrap().1[0], 0);
    assert_eq!(trap(&program, 10, [0, 0, 0, 0, 0, 0]).unwrap().1[0], 1);
    let watch = |gpu_id| trap(&program, 8, [0x1000, 0, 3, 0xff, gpu_id, 0]).map(|(_, words)| words[5]);
    assert_eq!(watch(1), Err(Errno::NODEV));
    let ids: Vec<_> = (0..5).map(|_| watch(program.gpu_id)).collect();
    assert_eq!(ids, [Ok(0), Ok(1), Ok(2), Ok(3), Err(Errno::NOMEM)]);
    trap(&program, 9, [program.gpu_id, 2, 0, 0, 0, 0]).unwrap();
    assert_eq!(
        trap(&program, 9, [program.gpu_id, 2, 0, 0, 0, 0]),
        Err(Errno::INVAL)
    );
    assert_eq!(watch(program.gpu_id), Ok(2));
    trap(&program, 1, [0; 6]).unwrap();
    assert_eq!(trap(&program, 1, [0; 6]), Err(Errno::INVAL));
    assert!(program.kernel.complaints().is_empty());
    assert_eq!(trap(&program, 15, [0; 6]), Err(Errno::INVAL));
    assert_eq!(
        on(&program, 1, 0, [0; 6]),
        Err(Errno::PERM),
        "or it is this kernel's own process"
    );
    let complaints = program.kernel.complaints();
    assert_eq!(
        complaints,
        ["DBG_TRAP with operation 15", "DBG_TRAP on another process, 1"]
    );
}

#[test]
fn a_debugger_sees_queues_and_devices_stops_queues_and_passes_errors_on() {
    let spec = GpuSpec::named("gfx900:debug").unwrap();
    let rig = Rig::new(Machine::with_gpus(&[spec, spec]), Options::default());
    rig.driver.open().unwrap();
    let program = Program {
        kernel: Arc::clone(rig.system.kernel()),
        kfd: rig.kernel().open(std::path::Path::new("/dev/kfd"), true).unwrap(),
        gpu_id: rig.kernel().machine.gpus[0].gpu_id,
    };
    let event = rig.signal_event();
    let memory = QueueMemory::new(&rig, &[0]);
    let request = api::QueueRequest {
        exception_address: memory.signal.address + 512,
        event: event.event,
        ..memory.request(0, 0, QueueKind::AQL)
    };
    let info = rig.driver.create_queue(&request).unwrap();
    let unsupported = 20;
    let (mut reader, runtime) = attach(&program, mask(unsupported) | mask(exception::QUEUE_NEW));
    assert_eq!(runtime[2], 1, "the driver announced itself");
    // It is new until a debugger has seen it, and cannot be stopped before.
    let queue = *rig.kernel().process().queues.table.keys().next().unwrap();
    let id = [AtomicU32::new(queue)];
    let [to, to_high] = address(&id);
    let suspend = || trap(&program, 6, [0, 0, to, to_high, 1, 0]).unwrap().0;
    assert_eq!((suspend(), values(&id)), (0, [queue | 1 << 31]));
    let entries = cells::<32>();
    let [at, at_high] = address(&entries);
    let [new, new_high] = halves(mask(exception::QUEUE_NEW));
    let counted = trap(&program, 13, [new, new_high, at, at_high, 0, 64]).unwrap().1;
    assert_eq!(counted[4..], [1, 64]);
    trap(&program, 13, [new, new_high, at, at_high, 2, 64]).unwrap();
    let entries = values(&entries);
    let ring = halves(memory.ring.address);
    assert_eq!(entries[..4], [new, new_high, ring[0], ring[1]]);
    assert_eq!(entries[10..14], [queue, program.gpu_id, 4096, 2]);
    assert_eq!(trap(&program, 13, [0, 0, at, at_high, 2, 0]), Err(Errno::INVAL));
    let devices = cells::<60>();
    let [at, at_high] = address(&devices);
    let counted = trap(&program, 14, [0, 0, at, at_high, 2, 120]).unwrap().1;
    assert_eq!(counted[4..], [2, 120]);
    let devices = values(&devices);
    let second = &devices[30..];
    assert_eq!(second[14], rig.kernel().machine.gpus[1].gpu_id);
    assert_eq!((&second[2..4], second[22]), (&[0, 1 << 16][..], 90_000));
    // A stopped queue runs nothing.
    let id = [AtomicU32::new(queue)];
    let [to, to_high] = address(&id);
    let answers = |operation: u32, words| trap(&program, operation, words).unwrap().0;
    assert_eq!(answers(6, [0, 0, to, to_high, 1, 0]), 1);
    memory.ring.word(0).store(9, Ordering::Release);
    memory.slots.word(WRITE_INDEX).store(1, Ordering::Release);
    ring_bell(&info, 0);
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(trap(&program, 11, [0; 6]), Err(Errno::AGAIN));
    assert_eq!(answers(7, [to, to_high, 1, 0, 0, 0]), 1);
    // The debugger is told of the bad packet, and not the run-time, before the debugger says so.
    reader.read_exact(&mut [0]).unwrap();
    let [low, high] = halves(mask(unsupported));
    let seen = trap(&program, 11, [low, high, 0, 0, 0, 0]).unwrap().1;
    assert_eq!(seen[..4], [low, high, program.gpu_id, queue]);
    assert_eq!(memory.signal.word(512).load(Ordering::Acquire), 0);
    trap(&program, 2, [low, high, program.gpu_id, queue, 0, 0]).unwrap();
    within_a_second("the run-time's word", || {
        memory.signal.word(512).load(Ordering::Acquire) == mask(unsupported)
    });
    trap(&program, 1, [0; 6]).unwrap();
    rig.driver.destroy_queue(info.queue).unwrap();
    memory.end(&rig);
    rig.assert_no_complaints();
}

#[test]
fn a_breakpoint_stands_while_somebody_debugs_and_is_the_debuggers() {
    for processor in ["gfx900", "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1200"] {
        let rig = trapping::rig(processor, ":debug");
        let program = Program {
            kernel: Arc::clone(rig.system.kernel()),
            kfd: rig.kernel().open(std::path::Path::new("/dev/kfd"), true).unwrap(),
            gpu_id: rig.kernel().machine.gpus[0].gpu_id,
        };
        let mut stopped = Queue::new(&rig);
        let mut other = Queue::new(&rig);
        let (mut reader, _) = attach(&program, mask(exception::WAVE_TRAP));
        stopped.dispatch(processor, kernels::BREAKPOINT);
        reader.read_exact(&mut [0]).unwrap();
        let [low, high] = halves(mask(exception::WAVE_TRAP));
        let seen = trap(&program, 11, [low, high, 0, 0, 0, 0]).unwrap().1;
        let [new, _] = halves(mask(exception::QUEUE_NEW));
        let queue = *rig.kernel().process().queues.table.keys().next().unwrap();
        assert_eq!(seen[..4], [low | new, high, program.gpu_id, queue], "{processor}");
        assert_eq!(stopped.exceptions(), 0, "{processor}: not the run-time's");
        assert!(!stopped.is_done(), "{processor}");
        trap(&program, 1, [0; 6]).unwrap();
        other.dispatch(processor, kernels::BREAKPOINT);
        within_a_second("the kernel", || other.is_done());
        assert_eq!(other.exceptions(), 0, "{processor}");
        stopped.end();
        other.end();
        rig.driver.close().unwrap();
        rig.assert_no_complaints();
    }
}

#[test]
fn nobody_may_save_or_restore_a_process() {
    let program = Program::new();
    assert_eq!(program.call(0xc038_4b22, &mut [0; 14]), Err(Errno::ACCESS));
}
