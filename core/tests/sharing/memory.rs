//! Memory of several processes, as files, and moved from and to files.

use super::driver::ALLOCATIONS;
use super::other::{numbers, words, Other, Parent};
use super::rig::{bytes, is, rig, status, Rig};
use hansa_plugin_api as api;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;

const ASKED: u64 = 5000;
const WHOLE: usize = 8192;

/// Attaches memory, tells what is in it, and changes it.
pub(crate) fn attach_memory(rig: Rig, parent: &Parent) {
    let words = words(&parent.hear());
    let name = api::IpcName { words };
    let address = rig.sharing.ipc_attach(name, ASKED, [].as_slice().into()).unwrap();
    let memory = bytes(address, WHOLE);
    parent.tell(&[memory[0].into(), memory[WHOLE - 1].into()]);
    parent.hear();
    memory[0] += 1;
    rig.sharing.ipc_detach(address).unwrap();
    parent.tell(&[]);
    parent.hear();
}

/// Gives memory, until it is killed.
pub(crate) fn give_memory(rig: Rig, parent: &Parent) {
    let address = rig.allocate(rig.gpus[1], ASKED);
    bytes(address, WHOLE)[17] = 34;
    parent.tell(&numbers(rig.sharing.ipc_export(address, ASKED).unwrap().words));
    parent.hear();
}

/// Frees and allocates memory that nobody clears, and tells what the driver has and what programs see.
pub(crate) fn use_again(rig: Rig, parent: &Parent) {
    let memory = rig.memory;
    let pools = memory.pools(rig.gpus[0]).unwrap();
    let allocate = |bytes| memory.pool_allocate(pools[1], bytes, 0).unwrap();
    let driver_has = || ALLOCATIONS.load(Ordering::Relaxed);
    let before = driver_has();
    let mut told = Vec::new();
    let first = allocate(ASKED);
    memory.set_user_data(first, 7).unwrap();
    bytes(first, WHOLE)[0] = 11;
    memory.free(first).unwrap();
    let gone = memory.pointer_info(first, false).unwrap();
    told.extend([driver_has() - before, u64::from(gone.kind)]);
    let twice = status(memory.free(first));
    let second = allocate(ASKED - 1);
    let info = memory.pointer_info(second, false).unwrap();
    told.extend([
        u64::from(twice == is::INVALID_ALLOCATION),
        u64::from(second == first),
        u64::from(bytes(second, WHOLE)[0]),
        info.user_data,
        info.bytes,
    ]);
    // What another agent saw, and what is larger, goes back; so does what the other bank gave, which is cleared.
    memory
        .grant_access([rig.gpus[1]].as_slice().into(), second)
        .unwrap();
    memory.free(second).unwrap();
    memory.free(allocate(1 << 20)).unwrap();
    memory.free(rig.allocate(rig.gpus[0], ASKED)).unwrap();
    told.push(driver_has() - before);
    // Not more than some are kept.
    let many: Vec<u64> = (0..100).map(|_| allocate(ASKED)).collect();
    many.into_iter().for_each(|address| memory.free(address).unwrap());
    told.push(driver_has() - before);
    let told: Vec<i64> = told.into_iter().map(|number: u64| number as i64).collect();
    parent.tell(&told);
    parent.hear();
}

#[test]
fn small_memory_that_nobody_clears_is_used_again() {
    let mut other = Other::start("use again");
    assert_eq!(other.hear(), [1, 0, 1, 1, 11, 0, WHOLE as i64, 0, 16]);
    other.tell(&[]);
}

#[test]
fn two_processes_see_the_same_device_memory() {
    let rig = rig();
    let address = rig.allocate(rig.gpus[0], ASKED);
    let memory = bytes(address, WHOLE);
    (memory[0], memory[WHOLE - 1]) = (11, 22);
    let name = rig.sharing.ipc_export(address, ASKED).unwrap();
    assert_eq!(rig.sharing.ipc_export(address, WHOLE as u64).unwrap(), name);
    let mut other = Other::start("attach memory");
    other.tell(&numbers(name.words));
    assert_eq!(other.hear(), [11, 22]);
    other.tell(&[]);
    other.hear();
    assert_eq!(bytes(address, WHOLE)[0], 12);
    rig.memory.free(address).unwrap();
}

#[test]
fn attached_memory_outlives_the_process_that_gave_it() {
    let rig = rig();
    let mut other = Other::start("give memory");
    let words = words(&other.hear());
    let name = api::IpcName { words };
    let attach = |agents: &[u64]| rig.sharing.ipc_attach(name, ASKED, agents.into());
    let (first, second) = (attach(&[]).unwrap(), attach(&[rig.gpus[0]]).unwrap());
    other.kill();
    assert_eq!(status(attach(&[])), is::INVALID_ARGUMENT);
    bytes(first, WHOLE)[3] = 7;
    assert_eq!((bytes(second, WHOLE)[3], bytes(second, WHOLE)[17]), (7, 34));

    let info = rig.memory.pointer_info(first + 100, true).unwrap();
    assert_eq!((info.kind, info.agent_base, info.owner), (4, first, rig.gpus[1]));
    assert_eq!((info.bytes, info.agents.len()), (WHOLE as u64, 2));
    assert_eq!(status(rig.memory.free(first)), is::INVALID_ALLOCATION);
    for address in [first, second] {
        rig.sharing.ipc_detach(address).unwrap();
        assert_eq!(status(rig.sharing.ipc_detach(address)), is::INVALID_ARGUMENT);
        assert_eq!(rig.memory.pointer_info(address, false).unwrap().kind, 0);
    }
}

#[test]
fn only_whole_device_allocations_have_names() {
    let rig = rig();
    let (device, host) = (rig.allocate(rig.gpus[0], ASKED), rig.allocate(rig.cpu, ASKED));
    for (address, bytes) in [
        (device, 4096),
        (device + 4096, 4096),
        (device, ASKED + 1),
        (host, ASKED),
        (0x1000, 4096),
        (u64::MAX, u64::MAX),
    ] {
        assert_eq!(
            status(rig.sharing.ipc_export(address, bytes)),
            is::INVALID_ARGUMENT
        );
    }
    rig.memory.free(device).unwrap();
    rig.memory.free(host).unwrap();
}

#[test]
fn names_that_are_made_up_stale_or_of_another_size_are_refused() {
    let rig = rig();
    let address = rig.allocate(rig.gpus[0], ASKED);
    let name = rig.sharing.ipc_export(address, ASKED).unwrap();
    let attach = |words, bytes, agents: &[u64]| {
        let attached = rig
            .sharing
            .ipc_attach(api::IpcName { words }, bytes, agents.into());
        attached.inspect(|&address| rig.sharing.ipc_detach(address).unwrap())
    };
    for bytes in [0, 1, 4096, ASKED + 1, u64::MAX] {
        assert_eq!(status(attach(name.words, bytes, &[])), is::INVALID_ARGUMENT);
    }
    for changed in 0..8 {
        let mut words = name.words;
        words[changed] ^= 4;
        assert_eq!(
            status(attach(words, ASKED, &[])),
            is::INVALID_ARGUMENT,
            "word {changed}"
        );
    }
    assert_eq!(status(attach(name.words, ASKED, &[77])), is::INVALID_AGENT);
    assert!(attach(name.words, WHOLE as u64, &[rig.gpus[1]]).is_ok());
    rig.memory.free(address).unwrap();
    assert_eq!(status(attach(name.words, ASKED, &[])), is::INVALID_ARGUMENT);
}

#[test]
fn a_range_of_device_memory_becomes_a_buffer_for_others() {
    let rig = rig();
    let address = rig.allocate(rig.gpus[0], WHOLE as u64);
    let buffer = rig.sharing.dmabuf_export(address + 4096, 100, 0).unwrap();
    assert_eq!(buffer.offset, 4096);
    bytes(address, WHOLE)[4096] = 99;
    // SAFETY: the export gave the descriptor away.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(buffer.descriptor) });
    file.seek(std::io::SeekFrom::Start(buffer.offset)).unwrap();
    let mut byte = [0];
    file.read_exact(&mut byte).unwrap();
    assert_eq!(byte, [99]);

    let agents = [rig.gpus[1], rig.gpus[0]];
    let request = api::InteropRequest {
        descriptor: file.as_raw_fd(),
        reserved: 0,
        size_hint: 0,
        agents: agents.as_slice().into(),
    };
    let mapped = rig.sharing.interop_map(&request).unwrap();
    assert_eq!(
        (mapped.bytes, bytes(mapped.address, WHOLE)[4096]),
        (WHOLE as u64, 99)
    );
    let info = rig.memory.pointer_info(mapped.address, false).unwrap();
    assert_eq!((info.kind, info.owner), (3, rig.gpus[1]));
    assert_eq!(
        status(rig.sharing.ipc_detach(mapped.address)),
        is::INVALID_ARGUMENT
    );
    rig.sharing.interop_unmap(mapped.address).unwrap();
    rig.sharing.interop_unmap(mapped.address).unwrap();
    rig.sharing.interop_unmap(address).unwrap();
    assert_eq!(rig.memory.pointer_info(mapped.address, false).unwrap().kind, 0);
    assert_eq!(rig.memory.pointer_info(address, false).unwrap().kind, 1);
    rig.memory.free(address).unwrap();
}

#[test]
fn what_is_no_buffer_and_who_has_none_is_said() {
    let rig = rig();
    let (device, host) = (rig.allocate(rig.gpus[0], 4096), rig.allocate(rig.cpu, 4096));
    let export = |address, bytes| status(rig.sharing.dmabuf_export(address, bytes, 0));
    assert_eq!(export(host, 4096), is::INVALID_AGENT);
    assert_eq!(export(device, 4097), is::INVALID_ALLOCATION);
    assert_eq!(export(device + 4095, 2), is::INVALID_ALLOCATION);
    assert_eq!(export(0x1000, 1), is::INVALID_ALLOCATION);

    let null = std::fs::File::open("/dev/null").unwrap();
    let map = |descriptor, agents: &[u64]| {
        status(rig.sharing.interop_map(&api::InteropRequest {
            descriptor,
            reserved: 0,
            size_hint: 0,
            agents: agents.into(),
        }))
    };
    assert_eq!(map(null.as_raw_fd(), &[rig.gpus[0]]), is::INVALID_ARGUMENT);
    assert_eq!(map(-1, &[rig.gpus[0]]), is::INVALID_ARGUMENT);
    assert_eq!(map(null.as_raw_fd(), &[rig.cpu]), is::INVALID_AGENT);
    assert_eq!(map(null.as_raw_fd(), &[1]), is::INVALID_AGENT);
    assert_eq!(status(rig.sharing.dmabuf_close(-1)), is::RESOURCE_FREE);
    rig.memory.free(device).unwrap();
    rig.memory.free(host).unwrap();
}

#[test]
fn bytes_move_between_a_file_and_device_memory() {
    let rig = rig();
    let address = rig.allocate(rig.gpus[0], WHOLE as u64);
    let path = std::env::temp_dir().join(format!("hansa-transfer-{}", std::process::id()));
    let mut file = std::fs::File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    std::fs::remove_file(path).unwrap();
    file.write_all(b"0123456789").unwrap();
    let transfer = |write, address, bytes, offset, descriptor| {
        rig.sharing.file_transfer(&api::FileTransfer {
            descriptor,
            write,
            address,
            bytes,
            offset,
        })
    };
    let own = file.as_raw_fd();
    let moved = transfer(false, address + 1, 100, 4, own).unwrap();
    assert_eq!((moved.bytes, moved.status), (6, 0));
    assert_eq!(&bytes(address, WHOLE)[..8], b"\x00456789\x00");
    let moved = transfer(true, address + 1, 3, 8, own).unwrap();
    assert_eq!((moved.bytes, moved.status), (3, 0));
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "01234567456");

    assert_eq!(transfer(false, address, 1, -1, own).unwrap().status, libc::EINVAL);
    let write_only = std::fs::File::options().write(true).open("/dev/null").unwrap();
    let refused = transfer(false, address, 1, 0, write_only.as_raw_fd()).unwrap();
    assert_eq!((refused.bytes, refused.status), (0, libc::EBADF));
    assert_eq!(status(transfer(false, address, 1, 0, -1)), is::INVALID_ARGUMENT);
    assert_eq!(
        status(transfer(false, address + 8000, 193, 0, own)),
        is::INVALID_ALLOCATION
    );
    rig.memory.free(address).unwrap();
}
