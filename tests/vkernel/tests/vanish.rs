//! Devices that vanish, and failures of every kind of call, by the script.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::uapi::event::{CreateEvent, EventData, WaitEvents, EVENT_HW_EXCEPTION};
use hansa_kfd::uapi::memory::AvailableMemory;
use hansa_kfd::uapi::system::{GetVersion, SetXnackMode};
use hansa_plugin_api::sys::{MapAccess, System};
use hansa_plugin_api::Driver;
use hansa_vkernel::{Errno, GpuSpec, Kernel, Machine, Options, VirtualSystem};
use std::path::{Path, PathBuf};
use support::program::Program;
use support::{request_memory, within_a_second, Rig};

fn node(gpu: usize) -> PathBuf {
    Path::new(hansa_kfd::topology::ROOT).join(format!("nodes/{}", gpu + 1))
}

#[test]
fn a_device_that_vanished_is_told_of_and_refused_and_its_files_are_gone() {
    let program = Program::new();
    let mut event = CreateEvent {
        event_type: EVENT_HW_EXCEPTION,
        ..CreateEvent::default()
    };
    program.ask(&mut event).unwrap();
    // After three more requests, whichever they are.
    program.kernel.faults.script("vanish=0+3").unwrap();
    let mut memory = AvailableMemory {
        gpu_id: program.gpu_id,
        ..AvailableMemory::default()
    };
    for _ in 0..3 {
        program.ask(&mut memory).unwrap();
    }
    let system = VirtualSystem::new(std::sync::Arc::clone(&program.kernel));
    system.read_file(&node(0).join("properties")).unwrap();
    assert_eq!(program.ask(&mut memory), Err(Errno::NODEV));
    let mut data = EventData {
        event_id: event.event_id,
        ..EventData::default()
    };
    let mut wait = WaitEvents {
        events_ptr: std::ptr::from_mut(&mut data).expose_provenance() as u64,
        num_events: 1,
        timeout: 0,
        ..WaitEvents::default()
    };
    program.ask(&mut wait).unwrap();
    assert_eq!(wait.wait_result, 0, "it was told");
    program.ask(&mut GetVersion::default()).unwrap();
    assert_eq!(
        system.open(Path::new("/dev/dri/renderD128"), true),
        Err(Errno::NODEV)
    );
    assert_eq!(system.read_file(&node(0).join("properties")), Err(Errno::NOENT));
    assert_eq!(system.read_dir(node(0).parent().unwrap()).unwrap(), ["0"]);
    system.open(Path::new("/dev/kfd"), true).unwrap();
    assert!(program.kernel.complaints().is_empty());
}

#[test]
fn a_driver_gives_back_what_it_has_of_a_vanished_device_and_goes_on_with_the_other() {
    let spec = GpuSpec::default();
    let rig = Rig::new(Machine::with_gpus(&[spec, spec]), Options::default());
    rig.driver.open().unwrap();
    let lost = rig.driver.allocate(&request_memory(1, 1 << 20)).unwrap();
    rig.kernel().vanish(1);
    rig.driver.allocate(&request_memory(1, 4096)).unwrap_err();
    let kept = rig.driver.allocate(&request_memory(0, 1 << 20)).unwrap();
    rig.driver.free(kept.handle).unwrap();
    rig.driver.free(lost.handle).unwrap();
    within_a_second("the report", || {
        let reports = rig.host.reports.lock().unwrap();
        !reports.is_empty()
    });
    rig.driver.close().unwrap();
    assert_eq!(rig.kernel().books().queues, 0);
    rig.assert_no_complaints();
}

/// Every kind of call that a rule can name fails as often as the rule says, after as many as it says, and only then.
#[test]
fn every_kind_of_call_fails_by_the_script() {
    type Call<'a> = Box<dyn Fn() -> Result<(), Errno> + 'a>;
    let kernel = Kernel::new(Machine::vega10(), Options::default(), None).unwrap();
    let system = VirtualSystem::new(kernel);
    let open = |path: &str| system.open(Path::new(path), true);
    let (kfd, render) = (open("/dev/kfd").unwrap(), open("/dev/dri/renderD128").unwrap());
    let file = node(0).join("properties");
    let access = MapAccess {
        read: true,
        write: true,
        execute: false,
    };
    let map = |file, offset: u64, bytes| {
        // SAFETY: a new mapping.
        let at = unsafe { system.mmap(std::ptr::null_mut(), bytes, access, file, offset) }?;
        // SAFETY: nobody uses it.
        unsafe { system.munmap(at, bytes) }
    };
    let gpu_id = system.kernel().machine.gpus[0].gpu_id;
    let doorbells = 3 << 62 | u64::from(gpu_id) << 46;
    let ask = || {
        let mut mode = SetXnackMode { xnack_enabled: -1 };
        let at = std::ptr::from_mut(&mut mode).cast();
        // SAFETY: the number goes with the structure.
        unsafe { system.ioctl(kfd, <SetXnackMode as hansa_kfd::uapi::Request>::CODE, at) }.map(drop)
    };
    let calls: [(String, Call<'_>); 9] = [
        ("SET_XNACK_MODE".into(), Box::new(ask)),
        ("SET_*".into(), Box::new(ask)),
        ("open /dev/kfd".into(), Box::new(|| open("/dev/kfd").map(drop))),
        (
            "open /dev/dri/*".into(),
            Box::new(|| open("/dev/dri/renderD128").map(drop)),
        ),
        (
            format!("read {}", file.display()),
            Box::new(|| system.read_file(&file).map(drop)),
        ),
        (
            format!("list {}", node(0).display()),
            Box::new(|| system.read_dir(&node(0)).map(drop)),
        ),
        ("mmap kfd".into(), Box::new(|| map(Some(kfd), doorbells, 8192))),
        ("mmap render".into(), Box::new(|| map(Some(render), 0, 4096))),
        ("mmap nothing".into(), Box::new(|| map(None, 0, 4096))),
    ];
    for (name, call) in &calls {
        call().unwrap();
        system.kernel().faults.script(&format!("{name}=5x2+1")).unwrap();
        let answers: Vec<_> = (0..4).map(|_| call()).collect();
        assert_eq!(
            answers,
            [Ok(()), Err(Errno::IO), Err(Errno::IO), Ok(())],
            "{name}"
        );
        assert_eq!(
            system.kernel().faults.clear(),
            0,
            "{name} failed as often as it should"
        );
    }
    assert!(system.kernel().complaints().is_empty());
}
