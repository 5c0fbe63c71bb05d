//! Addresses and memory apart.

use super::driver::{placed, registered, Placed, Registered, ALLOCATIONS};
use super::other::{Other, Parent};
use super::rig::{bytes, is, rig, status, Rig};
use hansa_plugin_api as api;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;

const PAGE: u64 = 4096;
const READ: u32 = 1;
const WRITE: u32 = 3;

/// Pools of an agent, of which the host's first is fine-grained.
fn pool(rig: Rig, agent: u64) -> u64 {
    rig.memory.pools(agent).unwrap()[0]
}

fn reserve(rig: Rig, pages: u64) -> u64 {
    rig.sharing.vmem_reserve(pages * PAGE, 0, 0, 0).unwrap()
}

fn create(rig: Rig, agent: u64, pages: u64) -> u64 {
    rig.sharing
        .vmem_create(pool(rig, agent), pages * PAGE, 0, 0)
        .unwrap()
}

fn allow(rig: Rig, address: u64, pages: u64, access: &[(u64, u32)]) -> api::Result<()> {
    let access: Vec<_> = access
        .iter()
        .map(|&(agent, permission)| api::VmemAccess {
            agent,
            permission,
            reserved: 0,
        })
        .collect();
    rig.sharing
        .vmem_set_access(address, pages * PAGE, access.as_slice().into())
}

/// Whether the process can read at an address.
fn is_readable(address: u64) -> bool {
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    let place = std::ptr::with_exposed_provenance(address as usize);
    // SAFETY: the kernel reads the byte, or says that it cannot.
    let written = unsafe { libc::write(ends[1], place, 1) };
    for end in ends {
        // SAFETY: closes what was opened above.
        drop(unsafe { OwnedFd::from_raw_fd(end) });
    }
    written == 1
}

#[test]
fn a_reservation_is_where_it_was_wished_for_and_as_aligned() {
    let rig = rig();
    let first = reserve(rig, 16);
    assert!(!is_readable(first));
    let elsewhere = rig.sharing.vmem_reserve(PAGE, first, 0, 0).unwrap();
    assert_ne!(elsewhere, first);
    rig.sharing.vmem_release(elsewhere, PAGE).unwrap();
    rig.sharing.vmem_release(first, 16 * PAGE).unwrap();
    let aligned = rig.sharing.vmem_reserve(3 * PAGE, 0, 1 << 24, 1).unwrap();
    assert_eq!(aligned % (1 << 24), 0);
    rig.sharing.vmem_release(aligned, 3 * PAGE).unwrap();
    // Far from where the system puts anything by itself.
    let wish = 0x2345 << 32;
    let wished = rig.sharing.vmem_reserve(PAGE, wish, 1 << 24, 0).unwrap();
    assert_eq!(wished, wish);
    rig.sharing.vmem_release(wished, PAGE).unwrap();
}

#[test]
fn reservations_that_cannot_be_and_releases_that_do_not_fit_are_refused() {
    let rig = rig();
    let reserve_bytes = |bytes, alignment| status(rig.sharing.vmem_reserve(bytes, 0, alignment, 0));
    assert_eq!(reserve_bytes(0, 0), is::INVALID_ARGUMENT);
    assert_eq!(reserve_bytes(PAGE + 1, 0), is::INVALID_ARGUMENT);
    assert_eq!(reserve_bytes(PAGE, 3 * PAGE), is::INVALID_ARGUMENT);
    assert_eq!(reserve_bytes(1 << 62, 0), 0x1008);
    assert_eq!(reserve_bytes(0_u64.wrapping_sub(PAGE), 1 << 40), 0x1008);

    let address = reserve(rig, 4);
    assert_eq!(
        status(rig.sharing.vmem_release(address + PAGE, PAGE)),
        is::INVALID_ALLOCATION
    );
    assert_eq!(
        status(rig.sharing.vmem_release(address, PAGE)),
        is::INVALID_ARGUMENT
    );
    let memory = create(rig, rig.cpu, 1);
    rig.sharing.vmem_map(address, PAGE, memory).unwrap();
    assert_eq!(
        status(rig.sharing.vmem_release(address, 4 * PAGE)),
        is::RESOURCE_FREE
    );
    rig.sharing.vmem_unmap(address, PAGE).unwrap();
    rig.sharing.vmem_release(address, 4 * PAGE).unwrap();
    assert_eq!(
        status(rig.sharing.vmem_release(address, 4 * PAGE)),
        is::INVALID_ALLOCATION
    );
    rig.sharing.vmem_destroy(memory).unwrap();
}

#[test]
fn memory_is_seen_at_all_its_addresses_and_by_whom_it_is_for() {
    let rig = rig();
    let memory = create(rig, rig.cpu, 2);
    let (first, second) = (reserve(rig, 2), reserve(rig, 5) + PAGE);
    for address in [first, second] {
        rig.sharing.vmem_map(address, 2 * PAGE, memory).unwrap();
        assert!(!is_readable(address));
        assert_eq!(rig.memory.pointer_info(address, false).unwrap().host_base, 0);
    }
    allow(
        rig,
        first,
        2,
        &[(rig.cpu, WRITE), (rig.gpus[1], READ), (rig.gpus[0], WRITE)],
    )
    .unwrap();
    allow(rig, second, 2, &[(rig.cpu, READ)]).unwrap();
    bytes(first, 8192)[5000] = 42;
    assert_eq!(bytes(second, 8192)[5000], 42);
    let seen = |nodes: &[u32], read_only| Registered {
        address: first,
        bytes: 2 * PAGE,
        nodes: nodes.to_vec(),
        read_only,
    };
    assert_eq!(registered(first), [seen(&[0], false), seen(&[1], true)]);
    assert_eq!(registered(second), []);

    allow(rig, first, 2, &[(rig.gpus[0], 0), (rig.gpus[1], WRITE)]).unwrap();
    assert_eq!(registered(first), [seen(&[1], false)]);
    let access = |address, agent| rig.sharing.vmem_access(address, agent);
    assert_eq!(access(first + 17, rig.cpu).unwrap(), WRITE);
    assert_eq!(access(first, rig.gpus[0]).unwrap(), 0);
    assert_eq!(access(second, rig.gpus[0]).unwrap(), 0);
    assert_eq!(status(access(second - PAGE, rig.cpu)), is::INVALID_ALLOCATION);
    assert_eq!(status(access(first, 1)), is::INVALID_AGENT);

    let info = rig.memory.pointer_info(first + 5000, true).unwrap();
    assert_eq!((info.kind, info.agent_base, info.host_base), (6, first, first));
    let mut agents = info.agents.to_vec();
    agents.sort_unstable();
    assert_eq!(agents, [rig.cpu, rig.gpus[1]]);
    assert_eq!(rig.memory.pointer_info(second - PAGE, false).unwrap().kind, 5);
    assert_eq!(status(rig.memory.free(first)), is::INVALID_ALLOCATION);

    // The program lets go of the memory; what is mapped stays.
    rig.sharing.vmem_destroy(memory).unwrap();
    assert_eq!(status(rig.sharing.vmem_destroy(memory)), is::INVALID_ALLOCATION);
    assert_eq!(bytes(first, 8192)[5000], 42);
    let again = rig.sharing.vmem_retain(second + 100).unwrap();
    assert_eq!(rig.sharing.vmem_retain(first).unwrap(), again);
    let properties = rig.sharing.vmem_properties(again).unwrap();
    assert_eq!((properties.pool, properties.kind), (pool(rig, rig.cpu), 0));
    for _ in 0..2 {
        rig.sharing.vmem_destroy(again).unwrap();
    }
    assert_eq!(status(rig.sharing.vmem_properties(again)), is::INVALID_ALLOCATION);

    for (address, base, pages) in [(first, first, 2), (second, second - PAGE, 5)] {
        rig.sharing.vmem_unmap(address, 2 * PAGE).unwrap();
        assert_eq!(registered(address), []);
        assert!(!is_readable(address));
        rig.sharing.vmem_release(base, pages * PAGE).unwrap();
    }
}

#[test]
fn memory_that_its_driver_places_is_placed_for_nodes_and_host() {
    let rig = rig();
    let memory = create(rig, rig.gpus[1], 1);
    assert_eq!(
        rig.sharing.vmem_properties(memory).unwrap().pool,
        pool(rig, rig.gpus[1])
    );
    let address = reserve(rig, 1);
    rig.sharing.vmem_map(address, PAGE, memory).unwrap();
    assert_eq!(placed(address), []);
    allow(rig, address, 1, &[(rig.gpus[0], READ), (rig.gpus[1], READ)]).unwrap();
    let one = |nodes: &[u32], access| Placed {
        address,
        nodes: nodes.to_vec(),
        access,
    };
    assert_eq!(placed(address), [one(&[0, 1], READ)]);
    assert!(!is_readable(address));
    allow(rig, address, 1, &[(rig.cpu, WRITE), (rig.gpus[1], WRITE)]).unwrap();
    let mut now = placed(address);
    now.sort_by_key(|one| one.nodes.clone());
    assert_eq!(now, [one(&[], WRITE), one(&[0], READ), one(&[1], WRITE)]);
    bytes(address, 4096)[9] = 9;
    let exported = rig.sharing.dmabuf_export(address + 9, 1, 0).unwrap();
    assert_eq!(exported.offset, 9);
    rig.sharing.dmabuf_close(exported.descriptor).unwrap();
    rig.sharing.vmem_destroy(memory).unwrap();
    rig.sharing.vmem_unmap(address, PAGE).unwrap();
    assert_eq!(placed(address), []);
    assert!(!is_readable(address));
    rig.sharing.vmem_release(address, PAGE).unwrap();
}

#[test]
fn what_does_not_fit_is_not_mapped() {
    let rig = rig();
    let (address, memory) = (reserve(rig, 4), create(rig, rig.cpu, 2));
    let map = |at, pages, memory| status(rig.sharing.vmem_map(at, pages * PAGE, memory));
    assert_eq!(map(address, 2, 0), is::INVALID_ALLOCATION);
    assert_eq!(map(address, 2, memory ^ 1), is::INVALID_ALLOCATION);
    assert_eq!(map(address, 3, memory), is::INVALID_ARGUMENT);
    assert_eq!(map(address + 3 * PAGE, 2, memory), is::INVALID_ARGUMENT);
    assert_eq!(map(address - PAGE, 2, memory), is::INVALID_ARGUMENT);
    assert_eq!(map(address + 1, 2, memory), is::INVALID_ARGUMENT);
    assert_eq!(map(0_u64.wrapping_sub(PAGE), 2, memory), is::INVALID_ARGUMENT);
    rig.sharing.vmem_map(address + PAGE, 2 * PAGE, memory).unwrap();
    for at in [address, address + PAGE, address + 2 * PAGE] {
        assert_eq!(map(at, 2, memory), is::INVALID_ARGUMENT);
    }
    // A part of the memory is mapped as well, beside the whole of it.
    rig.sharing.vmem_map(address + 3 * PAGE, PAGE, memory).unwrap();
    rig.sharing.vmem_unmap(address + 3 * PAGE, PAGE).unwrap();
    let unmap = |at, pages| status(rig.sharing.vmem_unmap(at, pages * PAGE));
    assert_eq!(unmap(address, 1), is::INVALID_ALLOCATION);
    assert_eq!(unmap(address + PAGE, 1), is::INVALID_ARGUMENT);
    assert_eq!(unmap(address + PAGE, 3), is::INVALID_ARGUMENT);
    assert_eq!(unmap(address + 2 * PAGE, 1), is::INVALID_ARGUMENT);
    assert_eq!(unmap(0x1000, 1), is::INVALID_ALLOCATION);
    let access = |at, pages, agent| status(allow(rig, at, pages, &[(agent, READ)]));
    assert_eq!(access(address, 1, rig.cpu), is::INVALID_ALLOCATION);
    assert_eq!(access(address + PAGE, 1, rig.cpu), is::INVALID_ARGUMENT);
    assert_eq!(access(address + PAGE, 2, 5), is::INVALID_AGENT);
    rig.sharing.vmem_unmap(address + PAGE, 2 * PAGE).unwrap();
    rig.sharing.vmem_release(address, 4 * PAGE).unwrap();
    rig.sharing.vmem_destroy(memory).unwrap();
}

#[test]
fn mappings_side_by_side_are_one_range() {
    let rig = rig();
    let address = reserve(rig, 3);
    let parts = [create(rig, rig.cpu, 1), create(rig, rig.cpu, 2)];
    rig.sharing.vmem_map(address, PAGE, parts[0]).unwrap();
    rig.sharing.vmem_map(address + PAGE, 2 * PAGE, parts[1]).unwrap();
    allow(rig, address, 3, &[(rig.cpu, WRITE)]).unwrap();
    bytes(address, 3 * 4096).fill(1);
    rig.sharing.vmem_unmap(address, 3 * PAGE).unwrap();
    rig.sharing.vmem_release(address, 3 * PAGE).unwrap();
    for memory in parts {
        rig.sharing.vmem_destroy(memory).unwrap();
    }
}

#[test]
fn memory_that_no_pool_gives_is_refused() {
    let rig = rig();
    let create = |pool, bytes| status(rig.sharing.vmem_create(pool, bytes, 0, 0));
    let own = pool(rig, rig.cpu);
    assert_eq!(create(0, PAGE), is::INVALID_MEMORY_POOL);
    assert_eq!(create(rig.cpu, PAGE), is::INVALID_MEMORY_POOL);
    assert_eq!(create(own, PAGE + 1), is::INVALID_ARGUMENT);
    assert_eq!(create(own, 0), is::INVALID_ARGUMENT);
    assert_eq!(create(own, 1 << 60), 0x1008);
}

#[test]
fn a_descriptor_carries_memory_to_other_handles() {
    let rig = rig();
    for agent in [rig.cpu, rig.gpus[0]] {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let memory = create(rig, agent, 1);
        let descriptor = rig.sharing.vmem_export(memory, 0).unwrap();
        let imported = rig.sharing.vmem_import(descriptor).unwrap();
        rig.sharing.dmabuf_close(descriptor).unwrap();
        assert_eq!(
            rig.sharing.vmem_properties(imported).unwrap().kind,
            rig.sharing.vmem_properties(memory).unwrap().kind
        );
        let address = reserve(rig, 2);
        rig.sharing.vmem_map(address, PAGE, memory).unwrap();
        rig.sharing.vmem_map(address + PAGE, PAGE, imported).unwrap();
        allow(rig, address, 2, &[(rig.cpu, WRITE)]).unwrap();
        bytes(address, 4096)[1] = 3;
        assert_eq!(bytes(address + PAGE, 4096)[1], 3);
        rig.sharing.vmem_unmap(address, 2 * PAGE).unwrap();
        rig.sharing.vmem_release(address, 2 * PAGE).unwrap();
        rig.sharing.vmem_destroy(memory).unwrap();
        rig.sharing.vmem_destroy(imported).unwrap();
        assert!(
            ALLOCATIONS.load(Ordering::Relaxed) <= before + 8,
            "other tests have a few"
        );
    }
    let null = std::fs::File::open("/dev/null").unwrap();
    for descriptor in [null.as_raw_fd(), -1, 9999] {
        assert_eq!(
            status(rig.sharing.vmem_import(descriptor)),
            is::INVALID_ALLOCATION
        );
    }
    assert_eq!(status(rig.sharing.vmem_export(7, 0)), is::INVALID_ALLOCATION);
}

/// Imports memory from the descriptor of its parent that it is told, and changes it.
pub(crate) fn take_a_descriptor(rig: Rig, parent: &Parent) {
    let [process, descriptor] = parent.hear()[..] else {
        unreachable!("the test tells two numbers")
    };
    let theirs = std::fs::File::options()
        .read(true)
        .write(true)
        .open(format!("/proc/{process}/fd/{descriptor}"))
        .unwrap();
    let memory = rig.sharing.vmem_import(theirs.as_raw_fd()).unwrap();
    assert_eq!(
        rig.sharing.vmem_properties(memory).unwrap().pool,
        pool(rig, rig.cpu)
    );
    let address = reserve(rig, 1);
    rig.sharing.vmem_map(address, PAGE, memory).unwrap();
    allow(rig, address, 1, &[(rig.cpu, WRITE)]).unwrap();
    let memory = bytes(address, 4096);
    memory[1] = memory[0] + 1;
    parent.tell(&[]);
    parent.hear();
}

#[test]
fn another_process_maps_exported_memory() {
    let rig = rig();
    let (memory, address) = (create(rig, rig.cpu, 1), reserve(rig, 1));
    rig.sharing.vmem_map(address, PAGE, memory).unwrap();
    allow(rig, address, 1, &[(rig.cpu, WRITE)]).unwrap();
    bytes(address, 4096)[0] = 70;
    let descriptor = rig.sharing.vmem_export(memory, 0).unwrap();
    let mut other = Other::start("take a descriptor");
    other.tell(&[std::process::id().into(), descriptor.into()]);
    other.hear();
    assert_eq!(bytes(address, 4096)[1], 71);
    rig.sharing.dmabuf_close(descriptor).unwrap();
    rig.sharing.vmem_unmap(address, PAGE).unwrap();
    rig.sharing.vmem_release(address, PAGE).unwrap();
    rig.sharing.vmem_destroy(memory).unwrap();
}

#[test]
fn no_driver_has_a_fabric() {
    let rig = rig();
    let (host, device) = (create(rig, rig.cpu, 1), create(rig, rig.gpus[0], 1));
    assert_eq!(status(rig.sharing.fabric_export(host)), is::INVALID_ALLOCATION);
    assert_eq!(status(rig.sharing.fabric_export(device)), is::NOT_SUPPORTED);
    assert_eq!(status(rig.sharing.fabric_export(3)), is::INVALID_ALLOCATION);
    let name = api::FabricName { bytes: [7; 16] };
    assert_eq!(status(rig.sharing.fabric_import(name)), is::INVALID_ALLOCATION);
    rig.sharing.vmem_destroy(host).unwrap();
    rig.sharing.vmem_destroy(device).unwrap();
}

#[test]
fn a_function_is_called_when_mapped_memory_is_unmapped() {
    static FREED: std::sync::Mutex<Vec<usize>> = std::sync::Mutex::new(Vec::new());
    unsafe extern "C" fn freed(address: *mut std::ffi::c_void, _data: *mut std::ffi::c_void) {
        FREED.lock().unwrap().push(address.addr());
    }
    let rig = rig();
    let (memory, address) = (create(rig, rig.cpu, 1), reserve(rig, 1));
    rig.sharing.vmem_map(address, PAGE, memory).unwrap();
    let callback = api::FreeCallback {
        function: freed,
        argument: std::ptr::null_mut(),
    };
    rig.memory.on_free(address + 8, callback).unwrap();
    rig.memory.set_user_data(address, 77).unwrap();
    allow(rig, address, 1, &[(rig.cpu, READ)]).unwrap();
    assert_eq!(rig.memory.pointer_info(address, false).unwrap().user_data, 77);
    rig.sharing.vmem_unmap(address, PAGE).unwrap();
    assert_eq!(*FREED.lock().unwrap(), [address as usize + 8]);
    rig.sharing.vmem_release(address, PAGE).unwrap();
    rig.sharing.vmem_destroy(memory).unwrap();
}

/// With a driver that has nothing optional: answers with statuses, or does without.
pub(crate) fn be_plain(rig: Rig, parent: &Parent) {
    // The device computes on the host's memory: virtual memory needs nothing of its driver.
    let (memory, address) = (create(rig, rig.gpus[0], 1), reserve(rig, 1));
    rig.sharing.vmem_map(address, PAGE, memory).unwrap();
    allow(rig, address, 1, &[(rig.gpus[0], WRITE), (rig.cpu, READ)]).unwrap();
    assert_eq!(registered(address).len(), 1);
    bytes(address, 4096)[0] = 1;
    assert_eq!(status(rig.sharing.fabric_export(memory)), is::INVALID_ALLOCATION);

    let device = rig.allocate(rig.gpus[0], PAGE);
    assert_eq!(status(rig.sharing.ipc_export(device, PAGE)), is::INVALID_ARGUMENT);
    assert_eq!(
        status(rig.sharing.dmabuf_export(device, PAGE, 0)),
        is::INVALID_AGENT
    );
    let pair = api::SvmPair {
        attribute: 1,
        value: 1,
    };
    assert_eq!(
        status(rig.sharing.svm_set(address, PAGE, [pair].as_slice().into())),
        is::ERROR
    );
    assert_eq!(
        status(rig.sharing.svm_get(address, PAGE, [pair].as_slice().into())),
        is::ERROR
    );
    let none: &[u64] = &[];
    assert_eq!(
        status(
            rig.sharing
                .svm_prefetch(address, PAGE, rig.gpus[0], none.into(), 0)
        ),
        is::ERROR
    );
    let request = api::DiscardRequest {
        addresses: [].as_slice().into(),
        bytes: [].as_slice().into(),
        agents: none.into(),
        dependencies: none.into(),
        completion: 0,
    };
    assert_eq!(status(rig.sharing.svm_discard(&request)), is::XNACK_DISABLED);
    parent.tell(&[1]);
}

#[test]
fn a_driver_without_anything_optional_answers_with_the_documented_statuses() {
    assert_eq!(Other::start("be plain").hear(), [1]);
}
