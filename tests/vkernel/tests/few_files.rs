//! A process that may have few files. Alone in its program, as the limit is the process's.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{Driver, ErrorCode, ExportKind};
use hansa_vkernel::{GpuSpec, Machine, Options};
use support::{request_memory, Rig};

fn set_limit(files: u64) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure has room for the answer.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    assert_eq!(asked, 0);
    limit.rlim_cur = files;
    // SAFETY: the structure is filled in.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(set, 0);
}

/// The lowest number of a file that is free.
fn next_file() -> u64 {
    // SAFETY: a new descriptor of standard error.
    let fd = unsafe { libc::dup(2) };
    assert!(fd >= 0);
    // SAFETY: the descriptor was just made.
    unsafe { libc::close(fd) };
    u64::try_from(fd).unwrap()
}

#[test]
fn opening_and_sharing_with_too_few_files_is_an_error_and_leaves_nothing() {
    let mut refused = 0;
    for room in 0..6 {
        let rig = Rig::new(Machine::with_gpus(&[GpuSpec::default(); 2]), Options::default());
        set_limit(next_file() + room);
        let outcome = rig.driver.open();
        let devices = rig.driver.describe().map_or(0, |d| d.nodes.len());
        set_limit(1024);
        match outcome {
            Ok(()) => assert!(devices > 0),
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("too many open files"), "{error}");
                assert!(rig.system.open_files() <= 1, "only a render node may stay");
            }
        }
        rig.driver.close().unwrap();
        rig.driver.open().unwrap();
        let a = rig.driver.allocate(&request_memory(0, 8 << 20)).unwrap();
        let before = rig.kernel().books();
        set_limit(next_file());
        let error = rig
            .driver
            .export_memory(a.handle, ExportKind::DMA_BUF)
            .unwrap_err();
        set_limit(1024);
        assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES, "{error}");
        assert_eq!(rig.kernel().books(), before);
        let shared = rig.driver.export_memory(a.handle, ExportKind::DMA_BUF).unwrap();
        let nodes = [1];
        let b = rig
            .driver
            .import_memory(&api::ImportRequest {
                shared,
                bytes: 0,
                nodes: api::RSlice::from_slice(&nodes),
            })
            .unwrap();
        rig.driver.free(b.handle).unwrap();
        rig.driver.free(a.handle).unwrap();
        rig.assert_no_complaints();
    }
    assert!(refused >= 2, "{refused}");
}
