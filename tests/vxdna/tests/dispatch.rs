//! Dispatches that move data, from the packet to the value in memory.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api::Driver;
use hansa_vxdna::{Books, NpuSpec, Personality};
use hansa_xdna::config::{CacheFlush, Config};
use support::design::{image, loopback, passthrough, Code, PASSTHROUGH, PASSTHROUGH_WORDS};
use support::queue::{contents, filled, Kernel, SignalBlock, TestQueue};
use support::{Rig, HEAP, PLAIN};

fn numbers(count: u32, first: u32) -> Vec<u32> {
    (0..count)
        .map(|i| first.wrapping_add(i.wrapping_mul(2_654_435_761)))
        .collect()
}

/// Both kernels' drivers, and devices with addresses of their own.
fn machines() -> Vec<NpuSpec> {
    let mut all = Vec::new();
    for personality in [Personality::OutOfTree, Personality::Mainline] {
        for own_addresses in [false, true] {
            all.push(NpuSpec {
                personality,
                own_addresses,
                ..NpuSpec::npu1()
            });
        }
    }
    all
}

#[test]
fn the_published_passthrough_copies_its_input() {
    for spec in machines() {
        let rig = Rig::open(std::slice::from_ref(&spec));
        let queue = TestQueue::new(&rig);
        let words = numbers(4096, 1);
        assert_eq!(words.len(), PASSTHROUGH_WORDS);
        let input = filled(&rig, &words);
        let unused = filled(&rig, &[0; 1]);
        let output = rig.allocate(PLAIN, 4 * 4096);
        let kernel = Kernel::new(&rig, &passthrough(), &PASSTHROUGH, &[input, unused, output]);
        for round in 1..=3 {
            let signal = SignalBlock::new(1);
            queue.submit(&kernel.packet(signal.handle()));
            // The store returns when it is done.
            assert_eq!(
                signal.value(),
                0,
                "{spec:?}: {:?} {:?}",
                rig.system.log(),
                rig.host.log
            );
            assert_eq!(contents(&output, 4096), words);
            assert_eq!(queue.read_index(), round);
            assert!(rig.host.changed.lock().unwrap().contains(&signal.handle()));
            support::write(output.host_address, &[0; 4096]);
        }
        rig.driver.destroy_queue(queue.name).unwrap();
        rig.driver.close().unwrap();
        assert_eq!(rig.system.books(), Books::default());
        assert_eq!(rig.system.faults.counts()["CREATE_HWCTX"], 1);
        rig.assert_no_complaints();
    }
}

#[test]
fn both_encodings_and_both_generations_run() {
    for (spec, generation) in [(NpuSpec::npu1(), 3), (NpuSpec::npu4(), 4)] {
        for short in [false, true] {
            let rig = Rig::open(std::slice::from_ref(&spec));
            let queue = TestQueue::new(&rig);
            let words = numbers(1000, 5);
            let (input, output) = (filled(&rig, &words), rig.allocate(PLAIN, 4000));
            let code = Code::new(generation, short).copy(1000, 0, 1).finish();
            let kernel = Kernel::new(&rig, &loopback(), &code, &[input, output]);
            let signal = SignalBlock::new(1);
            queue.submit(&kernel.packet(signal.handle()));
            assert_eq!(signal.value(), 0, "{:?}", rig.system.log());
            assert_eq!(contents(&output, 1000), words);
        }
    }
}

/// The older packets have no completion signal: the store is all a program has.
#[test]
fn older_packets_are_done_when_the_store_returns() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let words = numbers(256, 9);
    // Arguments may be in the heap, too.
    let input = rig.allocate(HEAP, 1024);
    support::write(input.host_address, &words);
    let output = rig.allocate(PLAIN, 1024);
    let code = Code::new(3, false).copy(256, 0, 1).finish();
    let kernel = Kernel::new(&rig, &loopback(), &code, &[input, output]);
    let payload = kernel.payload();
    let before = payload.clone();
    for round in 1..=2 {
        queue.submit(&Kernel::command(&payload));
        assert_eq!(queue.read_index(), round);
        assert_eq!(contents(&output, 256), words);
        // A program uses its payload again.
        assert_eq!(payload, before);
        support::write(output.host_address, &[0; 256]);
    }
}

/// Rows of a matrix that lie apart are read as one stream: a published descriptor of three dimensions.
#[test]
fn a_strided_read_gathers() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let words = numbers(4096, 3);
    let (input, output) = (filled(&rig, &words), rig.allocate(PLAIN, 4 * 2048));
    let code = Code::new(3, false)
        .descriptor(0, [2048, 0, 0, 0, 0, 0, 0, 1 << 25], 1, 0)
        .write(0x1_d204, 1 << 31)
        .descriptor(1, [2048, 0, 0, 0x0200_0000, 0x8200_003f, 2047, 0, 1 << 25], 0, 0)
        .write(0x1_d214, 1)
        .wait()
        .finish();
    let kernel = Kernel::new(&rig, &loopback(), &code, &[input, output]);
    queue.submit(&kernel.packet(0));
    let rows = (0..2).flat_map(|a| (0..32).map(move |b| a * 2048 + b * 64));
    let expected: Vec<u32> = rows.flat_map(|row| words[row..row + 32].to_vec()).collect();
    assert_eq!(contents(&output, 2048), expected, "{:?}", rig.system.log());
}

/// One descriptor, four times, each time further on, to a place inside of a buffer.
#[test]
fn a_repeated_descriptor_walks_on() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let words = numbers(256, 7);
    let (input, output) = (filled(&rig, &words), filled(&rig, &[0; 256]));
    // 50 words further on each time, four times.
    let walk = 49 | 3 << 20;
    let code = Code::new(3, false)
        .descriptor(0, [64, 0, 0, 0, 0, 0, 0, 1 << 25], 1, 256)
        .write(0x1_d204, 1 << 31)
        .descriptor(1, [16, 0, 0, 0, 0, 0, walk, 1 << 25], 0, 0)
        .write(0x1_d214, 3 << 16 | 1)
        .wait()
        .finish();
    let kernel = Kernel::new(&rig, &loopback(), &code, &[input, output]);
    queue.submit(&kernel.packet(0));
    let mut expected = vec![0; 64];
    for start in [0, 50, 100, 150] {
        expected.extend(&words[start..start + 16]);
    }
    expected.extend([0; 128]);
    assert_eq!(contents(&output, 256), expected, "{:?}", rig.system.log());
}

/// The kernel writes the caches back where the processor must not.
#[test]
fn the_kernel_can_write_caches_back() {
    let config = Config {
        cache_flush: CacheFlush::Kernel,
        ..Config::default()
    };
    let rig = Rig::closed(&[NpuSpec::npu1()], config);
    rig.driver.open().unwrap();
    let queue = TestQueue::new(&rig);
    let (input, output) = (filled(&rig, &[1, 2, 3]), rig.allocate(PLAIN, 12));
    let code = Code::new(3, false).copy(3, 0, 1).finish();
    let kernel = Kernel::new(&rig, &loopback(), &code, &[input, output]);
    queue.submit(&kernel.packet(0));
    assert_eq!(contents(&output, 3), [1, 2, 3]);
    // Image, code and both arguments before, both arguments after.
    assert_eq!(rig.system.faults.counts()["SYNC_BO"], 6);
    rig.assert_no_complaints();
}

/// An argument inside of an allocation, and one that is given twice.
#[test]
fn arguments_may_lie_inside_and_be_the_same() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let words = numbers(2048, 1);
    let whole = filled(&rig, &words);
    let part = |start: u64| hansa_plugin_api::Allocation {
        host_address: whole.host_address + start,
        bytes: 400,
        ..whole
    };
    let code = Code::new(3, false).copy(100, 0, 1).finish();
    let kernel = Kernel::new(&rig, &loopback(), &code, &[part(40), part(4096), part(40)]);
    let signal = SignalBlock::new(1);
    queue.submit(&kernel.packet(signal.handle()));
    assert_eq!(signal.value(), 0, "{:?} {:?}", rig.system.log(), rig.host.log);
    assert_eq!(contents(&whole, 1124)[1024..], words[10..110]);
}

/// Twelve designs of which each writes another number: each dispatch gets its own.
#[test]
fn every_dispatch_runs_on_its_own_image() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let output = rig.allocate(PLAIN, 64 * 4);
    // Word 16 of the core tile's memory, given to the host.
    let design = |number: u32| {
        image(&[
            (0x20_0040, number),
            (0x21_d000, 16 << 14 | 1),
            (0x21_d014, 1 << 25),
            (0x23_f014, 1 << 31 | 1),
            (0x23_f104, 1 << 31),
            (0x1b_001c, 1 << 31 | 13),
            (0x1b_0134, 1 << 31),
            (0x3_f010, 1 << 31 | 14),
            (0x3_f138, 1 << 31),
            (0x1_f004, 0x10),
        ])
    };
    let code = |slot: u32| {
        Code::new(3, false)
            .descriptor(0, [1, 0, 0, 0, 0, 0, 0, 1 << 25], 0, 4 * slot)
            .write(0x1_d204, 1 << 31)
            .write(0x21_de14, 0)
            .wait()
            .finish()
    };
    let kernels: Vec<Kernel> = (0..40)
        .map(|slot| Kernel::new(&rig, &design(1000 + slot), &code(slot), &[output]))
        .collect();
    for kernel in &kernels[..2] {
        queue.submit(&kernel.packet(0));
    }
    // Each new image made the context anew, and both stay known to it.
    assert_eq!(rig.system.faults.counts()["CREATE_HWCTX"], 2);
    queue.submit(&kernels[0].packet(0));
    queue.submit(&kernels[1].packet(0));
    assert_eq!(rig.system.faults.counts()["CREATE_HWCTX"], 2);
    assert_eq!(contents(&output, 2), [1000, 1001]);
    // More than a context has room for, in one go.
    let last = kernels
        .iter()
        .map(|kernel| queue.put(&kernel.packet(0)))
        .max()
        .unwrap();
    queue.ring(last);
    assert_eq!(
        contents(&output, 40),
        (1000..1040).collect::<Vec<_>>(),
        "{:?}",
        rig.system.log()
    );
    assert_eq!(rig.system.books().contexts, 1);
    rig.assert_no_complaints();
}

/// Memory of an image that was freed comes back with another image in it.
#[test]
fn an_image_that_was_freed_is_forgotten() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let (input, output) = (filled(&rig, &[1, 2, 3, 4]), rig.allocate(PLAIN, 16));
    let code = Code::new(3, false).copy(4, 0, 1).finish();
    // In this one nothing is connected.
    let kernel = Kernel::new(&rig, &image(&[(0x3_f010, 0)]), &code, &[input, output]);
    let loop_image = loopback();
    let first = kernel.image;
    rig.driver.free(first.handle).unwrap();
    let again = rig.allocate(HEAP, loop_image.len() as u64 * 4);
    assert_eq!(
        again.host_address, first.host_address,
        "the heap gives the same place"
    );
    support::write(again.host_address, &loop_image);
    let kernel = kernel.with_image(again);
    queue.submit(&kernel.packet(0));
    assert_eq!(contents(&output, 4), [1, 2, 3, 4], "{:?}", rig.system.log());
    // And while a context knows it.
    rig.driver.free(again.handle).unwrap();
    let third = rig.allocate(HEAP, loop_image.len() as u64 * 4);
    support::write(third.host_address, &loop_image);
    support::write(output.host_address, &[0; 4]);
    queue.submit(&kernel.with_image(third).packet(0));
    assert_eq!(contents(&output, 4), [1, 2, 3, 4], "{:?}", rig.system.log());
    assert_eq!(rig.system.faults.counts()["CREATE_HWCTX"], 2);
}
