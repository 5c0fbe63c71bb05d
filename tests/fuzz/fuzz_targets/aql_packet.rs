//! AQL packets of any form, with kernels of any code, on a queue of the software GPU, through the driver's interface.
//!
//! Whatever stands in the ring, the queue can be destroyed, and another queue of the device still works.
#![no_main]

use hansa_fuzz::rig::queue::{BARRIER_AND, KERNEL_DISPATCH};
use hansa_fuzz::rig::{HostMemory, Rig, Signal, TestQueue};
use hansa_fuzz::Choices;
use hansa_plugin_api::{AllocFlags, AllocRequest, Allocation, CopyRequest};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const PACKETS: u64 = 16;
const CODE_BYTES: u64 = 4096;
/// How long a queue may work on what it was given before it is destroyed.
const PATIENCE: Duration = Duration::from_millis(5);

struct Bench {
    rig: Rig,
    code: Allocation,
    data: HostMemory,
    signals: [Signal; 3],
    witness: TestQueue,
    done: Signal,
}

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| {
        let rig = Rig::new("memory = \"64 MiB\"");
        let code = rig
            .driver
            .allocate(&AllocRequest {
                flags: AllocFlags::EXECUTABLE,
                ..hansa_fuzz::rig::alloc_request(0, CODE_BYTES)
            })
            .expect("there is memory for the code");
        Bench {
            data: rig.host_memory(8192),
            signals: [rig.signal(0), rig.signal(1), rig.signal(-1)],
            witness: rig.queue(0),
            done: rig.signal(0),
            code,
            rig,
        }
    })
}

/// A kernel descriptor and its code, ended.
fn write_code(bench: &Bench, choices: &mut Choices<'_>) {
    let mut image = [0_u32; 64 + 64];
    for word in image.iter_mut().take(usize::from(choices.u8() % 17)) {
        *word = choices.u32();
    }
    // The code is behind the descriptor; what stands at bytes 16 to 23 is the distance.
    if choices.u8() % 8 != 0 {
        image[4] = 256;
        image[5] = 0;
    }
    let instructions = usize::from(choices.u8() % 32);
    for word in &mut image[64..64 + instructions] {
        *word = choices.u32();
    }
    image[64 + instructions..].fill(0xbf81_0000);
    let from = image.as_ptr().expose_provenance() as u64;
    let to = bench.code.device_address;
    let copy = CopyRequest::linear(0, to, from, size_of_val(&image) as u64);
    bench.rig.driver.copy(&copy).expect("code is copied");
}

fn word(bench: &Bench, queue: &TestQueue, choices: &mut Choices<'_>) -> u64 {
    let offset = u64::from(choices.u8());
    match offset % 10 {
        0 => 0,
        1 => bench.code.device_address,
        2 => bench.data.address() + offset,
        3 => bench.signals[usize::from(choices.u8() % 3)].handle(),
        4 => u64::from(choices.u32()),
        5 => choices.u64() | 1 << 63,
        6 => bench.code.device_address + offset,
        7 => queue.ring.address() + 8 * offset,
        8 => u64::from(choices.u8()) << (8 * (choices.u8() % 8)),
        _ => u64::from(choices.u8() % 9) | u64::from(choices.u8() % 9) << 32,
    }
}

fuzz_target!(|data: &[u8]| {
    let bench = bench();
    let mut choices = Choices(data);
    write_code(bench, &mut choices);
    let queue = TestQueue::new(&bench.rig, 0, PACKETS);
    if choices.u8() % 4 == 0 {
        queue.profile();
    }
    let mut pushed = 0;
    while pushed < PACKETS && !choices.is_over() {
        let mut words = [0; 8];
        let mask = choices.u8();
        for (index, place) in words.iter_mut().enumerate() {
            if mask & 1 << index != 0 {
                *place = word(bench, &queue, &mut choices);
            }
        }
        let header = match choices.u8() % 8 {
            0 => KERNEL_DISPATCH,
            1 => BARRIER_AND,
            2 => 0,
            3 => 5,
            _ => u16::from(choices.u8()) | u16::from(choices.u8()) << 8,
        };
        words[0] = words[0] & !0xffff | u64::from(header);
        if header == KERNEL_DISPATCH && choices.u8() % 4 != 0 {
            // What a dispatch needs to run.
            words[0] |= u64::from(choices.u8() % 3 + 1) << 16 | u64::from(choices.u8()) << 32 | 1 << 48;
            words[1] = words[1] << 32 | 1;
            words[4] = bench.code.device_address;
        }
        queue.push(&words);
        pushed += 1;
    }
    let begun = Instant::now();
    while queue.read_index() < pushed && queue.inactive.value() == 0 && begun.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
    queue.destroy();
    bench.done.store(1);
    bench.witness.barrier(BARRIER_AND, &[], bench.done.handle());
    bench.done.wait(0);
});
