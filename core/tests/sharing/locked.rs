//! The program's memory, locked for agents that see it at an address of their own.

use super::driver::registered;
use super::rig::{bytes, is, rig, status, Rig};
use hansa_plugin_api as api;

const PAGE: u64 = 4096;

/// Pages of the program that nobody else knows.
struct Pages(Vec<[u8; PAGE as usize]>, u64);

fn pages(count: usize) -> Pages {
    let mut memory = vec![[0; PAGE as usize]; count + 1];
    let start = (memory.as_mut_ptr().expose_provenance() as u64).next_multiple_of(PAGE);
    Pages(memory, start)
}

fn lock(rig: Rig, address: u64, bytes: u64, agents: &[u64]) -> api::Result<u64> {
    rig.memory.lock(&api::LockRequest {
        address,
        bytes,
        agents: agents.into(),
        pool: 0,
    })
}

fn seen_by(address: u64) -> Vec<Vec<u32>> {
    registered(address).into_iter().map(|one| one.nodes).collect()
}

#[test]
fn locked_memory_is_known_by_both_addresses() {
    let rig = rig();
    let memory = pages(2);
    let host = memory.1 + 5;
    let seen = lock(rig, host, 5000, &[rig.gpus[1]]).unwrap();
    assert_ne!(seen, host);
    assert_eq!(seen % PAGE, 5);
    assert_eq!(seen_by(memory.1), [[1]]);
    for address in [host, host + 4999, seen, seen + 4999] {
        let info = rig.memory.pointer_info(address, true).unwrap();
        assert_eq!(
            (info.kind, info.agent_base, info.host_base, info.bytes),
            (2, seen, host, 5000)
        );
        assert_eq!(info.agents.as_slice(), [rig.gpus[1]]);
    }
    for address in [host - 1, host + 5000, seen - 1, seen + 5000] {
        assert_eq!(rig.memory.pointer_info(address, false).unwrap().kind, 0);
    }
    rig.memory.fill(seen + 3, 0x0403_0201, 2).unwrap();
    assert_eq!(bytes(host, 12), [0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4, 0]);
    assert_eq!(status(rig.memory.fill(seen + 4996, 1, 2)), is::INVALID_ALLOCATION);
    assert_eq!(status(rig.memory.fill(host + 4996, 1, 2)), is::INVALID_ALLOCATION);
    assert_eq!(
        status(rig.memory.grant_access([rig.gpus[0]].as_slice().into(), seen)),
        is::INVALID_ARGUMENT
    );
    assert_eq!(status(rig.memory.free(seen)), is::INVALID_ALLOCATION);
    rig.memory.unlock(host).unwrap();
    assert_eq!(rig.memory.pointer_info(seen, false).unwrap().kind, 0);
    assert!(seen_by(memory.1).is_empty());
    drop(memory.0);
}

#[test]
fn a_range_is_locked_as_often_as_it_was_and_for_all_it_was_for() {
    let rig = rig();
    let memory = pages(1);
    let host = memory.1;
    let first = lock(rig, host, 100, &[rig.gpus[0]]).unwrap();
    let second = lock(rig, host, 100, &[rig.gpus[1], rig.cpu]).unwrap();
    assert_eq!(first, second);
    assert_eq!(seen_by(host), [[0, 1]]);
    let agents = rig.memory.pointer_info(host, true).unwrap().agents;
    assert_eq!(agents.as_slice(), rig.gpus);
    rig.memory.unlock(host).unwrap();
    assert_eq!(rig.memory.pointer_info(host, false).unwrap().kind, 2);
    // The agents' address names it as well.
    rig.memory.unlock(second).unwrap();
    assert_eq!(rig.memory.pointer_info(host, false).unwrap().kind, 0);
    rig.memory.unlock(host).unwrap();
    drop(memory.0);
}

#[test]
fn ranges_that_overlap_are_locked_each_for_itself() {
    let rig = rig();
    let memory = pages(4);
    let host = memory.1;
    lock(rig, host, 4 * PAGE, &[]).unwrap();
    lock(rig, host + PAGE, 10, &[rig.gpus[0]]).unwrap();
    lock(rig, host, 7, &[rig.gpus[1]]).unwrap();
    let length = |address| rig.memory.pointer_info(address, false).unwrap().bytes;
    assert_eq!(length(host + PAGE + 9), 10);
    assert_eq!(length(host + PAGE + 10), 4 * PAGE);
    assert_eq!(length(host + 6), 7);
    // The one that was locked last.
    rig.memory.unlock(host).unwrap();
    assert_eq!(length(host + 6), 4 * PAGE);
    rig.memory.unlock(host).unwrap();
    assert_eq!(length(host + 6), 0);
    assert_eq!(length(host + PAGE), 10);
    rig.memory.unlock(host + PAGE + 1).unwrap();
    assert_eq!(length(host + PAGE), 10);
    rig.memory.unlock(host + PAGE).unwrap();
    assert_eq!(length(host + PAGE), 0);
    drop(memory.0);
}

#[test]
fn processors_alone_see_locked_memory_where_it_is() {
    let rig = rig();
    let memory = pages(1);
    let host = memory.1;
    assert_eq!(lock(rig, host, 8, &[rig.cpu]).unwrap(), host);
    assert!(seen_by(host).is_empty());
    let info = rig.memory.pointer_info(host, true).unwrap();
    assert_eq!((info.kind, info.agents.len()), (2, 0));
    rig.memory.unlock(host).unwrap();
    let own = rig.allocate(rig.cpu, PAGE);
    assert_eq!(lock(rig, own, 8, &[rig.gpus[0]]).unwrap(), own);
    rig.memory.unlock(own).unwrap();
    assert_eq!(rig.memory.pointer_info(own, false).unwrap().kind, 1);
    rig.memory.free(own).unwrap();
    assert_eq!(status(lock(rig, host, u64::MAX, &[])), 0x1008);
    assert_eq!(status(lock(rig, host, 1, &[12345])), is::INVALID_AGENT);
    drop(memory.0);
}
