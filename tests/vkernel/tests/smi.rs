//! Events for system management, read from files of their own, and attributes of shared virtual memory.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::uapi::system::SmiEvents;
use hansa_plugin_api::{Driver, QueueKind};
use hansa_vkernel::smi::{Event, EvictTrigger, ALL_PROCESSES};
use hansa_vkernel::{Errno, Kernel, Machine, Options};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use support::program::Program;
use support::{ring_bell, within_a_second, HostPages, QueueMemory, Rig, WRITE_INDEX};

fn open(program: &Program, mask: u64) -> File {
    let mut request = SmiEvents {
        gpuid: program.gpu_id,
        anon_fd: 0,
    };
    program.ask(&mut request).unwrap();
    // SAFETY: the request made the descriptor for its caller.
    let mut file = unsafe { File::from_raw_fd(i32::try_from(request.anon_fd).unwrap()) };
    file.write_all(&mask.to_ne_bytes()).unwrap();
    file
}

/// What can be read now.
fn read(file: &mut File) -> String {
    let mut bytes = [0; 4096];
    match file.read(&mut bytes) {
        Ok(count) => String::from_utf8_lossy(&bytes[..count]).into_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

const THROTTLE: Event = Event::ThermalThrottle { bits: 2, count: 1 };
const EVICTION: Event = Event::QueueEviction {
    gpu_id: 7,
    trigger: EvictTrigger::Memory,
};
/// A process that is not this one.
const OTHER: u32 = 1;

fn both(kernel: &Kernel, process: u32) {
    kernel.announce(0, process, &THROTTLE);
    kernel.announce(0, process, &EVICTION);
}

#[test]
fn a_reader_gets_what_its_mask_asks_for_and_its_rights_allow() {
    for (privileged, mask, own, other) in [
        (false, THROTTLE.bit(), (true, false), (true, false)),
        (false, EVICTION.bit(), (false, true), (false, false)),
        (false, u64::MAX, (true, true), (true, false)),
        (true, u64::MAX, (true, true), (true, true)),
        (true, !ALL_PROCESSES, (true, true), (true, false)),
        (true, 0, (false, false), (false, false)),
    ] {
        let program = Program::with(Options {
            privileged,
            ..Options::default()
        });
        let mut file = open(&program, mask);
        assert_eq!(read(&mut file), "WouldBlock", "nothing happened yet");
        for (process, (throttle, eviction)) in [(0, own), (OTHER, other)] {
            both(&program.kernel, process);
            let text = read(&mut file);
            assert_eq!(text.contains("2 2:1\n"), throttle, "{mask:#x}: {text}");
            assert_eq!(text.contains(" 7 2\n"), eviction, "{mask:#x}: {text}");
        }
        // The last mask counts.
        file.write_all(&0_u64.to_ne_bytes()).unwrap();
        both(&program.kernel, 0);
        assert_eq!(read(&mut file), "WouldBlock");
    }
}

#[test]
fn a_full_file_drops_events_and_a_closed_one_is_forgotten() {
    let program = Program::new();
    let mut file = open(&program, u64::MAX);
    let closed = open(&program, u64::MAX);
    drop(closed);
    for _ in 0..2000 {
        program.kernel.announce(0, 0, &THROTTLE);
    }
    let text = read(&mut file);
    assert!(
        text.starts_with("2 2:1\n2 2:1\n") && text.ends_with('\n'),
        "{text}"
    );
    program.kernel.announce(0, 0, &THROTTLE);
    while read(&mut file) != "WouldBlock" {}
    program.kernel.announce(0, 0, &EVICTION);
    assert!(read(&mut file).starts_with("9 "));
    assert!(program.kernel.complaints().is_empty());
    // Linux refuses such a mask; here it is only seen later.
    file.write_all(&[1, 2, 3]).unwrap();
    program.kernel.announce(0, 0, &THROTTLE);
    assert_eq!(
        program.kernel.complaints(),
        ["a mask of system management events of 3 bytes"]
    );
}

#[test]
fn a_fault_of_a_device_is_told_with_the_process() {
    let rig = Rig::new(Machine::vega10(), Options::default());
    rig.driver.open().unwrap();
    let program = Program {
        kernel: Arc::clone(rig.system.kernel()),
        kfd: rig.kernel().open(std::path::Path::new("/dev/kfd"), true).unwrap(),
        gpu_id: rig.kernel().machine.gpus[0].gpu_id,
    };
    let mut file = open(&program, Event::VmFault.bit());
    let memory = QueueMemory::new(&rig, &[0]);
    let info = rig
        .driver
        .create_queue(&memory.request(0, 0, QueueKind::AQL))
        .unwrap();
    // A barrier on a signal that the device does not see.
    memory.ring.word(8).store(0x1_0000, Ordering::Relaxed);
    memory.ring.word(0).store(3, Ordering::Release);
    memory.slots.word(WRITE_INDEX).store(1, Ordering::Release);
    ring_bell(&info, 0);
    let mut text = String::new();
    within_a_second("the event", || {
        text = read(&mut file);
        text != "WouldBlock"
    });
    let name = std::fs::read_to_string("/proc/self/comm").unwrap();
    assert_eq!(text, format!("1 {:x}:{name}", std::process::id()));
    rig.driver.destroy_queue(info.queue).unwrap();
    memory.end(&rig);
}

/// A request on a range, with attributes.
fn svm(program: &Program, pages: (u64, u64), operation: u32, attributes: &mut [u32]) -> Result<i32, Errno> {
    let [low, high] = hansa_kfd::event::halves(pages.0);
    let [bytes, more] = hansa_kfd::event::halves(pages.1);
    let count = u32::try_from(attributes.len() / 2).unwrap();
    let mut words = vec![low, high, bytes, more, operation, count];
    words.extend(&*attributes);
    let size = u32::try_from(words.len() * 4).unwrap();
    let answer = program.call(0xc000_4b20 | size << 16, &mut words);
    attributes.copy_from_slice(&words[6..]);
    answer
}

#[test]
fn ranges_have_attributes_and_pages_that_move_are_told_of() {
    let program = Program::new();
    let gpu = program.gpu_id;
    let memory = HostPages::new(4 * 4096);
    let all = (memory.address, memory.bytes);
    let second = (memory.address + 4096, 4096);
    let every = [0, 0, 1, 0, 5, 0, 7, 0, 2, gpu];
    let get = |pages| {
        let mut attributes = every;
        svm(&program, pages, 1, &mut attributes).map(|_| attributes)
    };
    let none = u32::MAX;
    assert_eq!(get(all), Ok([0, none, 1, none, 5, 3, 7, 9, 4, gpu]));
    let mut file = open(&program, u64::MAX);
    svm(
        &program,
        second,
        0,
        &mut [0, gpu, 1, gpu, 5, 0x10, 7, 0x3f, 2, gpu],
    )
    .unwrap();
    assert_eq!(get(second), Ok([0, gpu, 1, gpu, 5, 0x13, 7, 0x3f, 2, gpu]));
    let (page, own) = (second.0 / 4096, std::process::id());
    let text = read(&mut file);
    let lines: Vec<_> = text
        .lines()
        .map(|line| line.split_once(&format!(" -{own} ")).unwrap().1)
        .collect();
    let start = format!("@{page:x}(1) 0->{gpu:x} {gpu:x}:{gpu:x} 0");
    assert_eq!(lines, [start, format!("@{page:x}(1) 0->{gpu:x} 0 0")]);
    // A place that not all ranges have is none.
    svm(&program, all, 0, &mut [3, gpu, 6, 2]).unwrap();
    assert_eq!(get(all), Ok([0, none, 1, none, 5, 1, 7, 9, 3, gpu]));
    assert_eq!(
        program.kernel.books().mapped,
        3,
        "what lay between two is one each"
    );
    svm(&program, second, 0, &mut [4, gpu]).unwrap();
    assert_eq!(get(all), Ok([0, none, 1, none, 5, 1, 7, 9, 4, gpu]));
    assert_eq!(program.kernel.books().mapped, 2);
    for wrong in [[1, none], [2, 0], [8, 0], [5, 0x100]] {
        assert_eq!(
            svm(&program, all, 0, &mut wrong.clone()),
            Err(Errno::INVAL),
            "{wrong:?}"
        );
    }
    assert_eq!(get((1 << 46, 4096)), Err(Errno::FAULT), "nothing is there");
    assert_eq!(svm(&program, all, 2, &mut []), Err(Errno::INVAL));
}
