//! Attributes of ranges of the program's memory.

use super::driver::TOLD;
use super::rig::{bytes, is, rig, status, Rig};
use hansa_core::signal::{self, Condition};
use hansa_plugin_api as api;
use hansa_plugin_api::hsa::hsa_amd_svm_attribute_t as Attribute;
use std::sync::atomic::Ordering;

const PAGE: u64 = 4096;
const SOON: u64 = 10_000_000_000;

fn pair(attribute: Attribute, value: u64) -> api::SvmPair {
    api::SvmPair {
        attribute: u64::from(attribute.0),
        value,
    }
}

fn set(rig: Rig, address: u64, bytes: u64, pairs: &[api::SvmPair]) -> api::Result<()> {
    rig.sharing.svm_set(address, bytes, pairs.into())
}

fn get(rig: Rig, address: u64, bytes: u64, attribute: Attribute, value: u64) -> (u64, u64) {
    let question = [pair(attribute, value)];
    let answer = rig
        .sharing
        .svm_get(address, bytes, question.as_slice().into())
        .unwrap();
    (answer[0].attribute, answer[0].value)
}

/// What the driver was told of a range.
fn told(address: u64) -> Vec<(u64, u64, Vec<u32>)> {
    let told = TOLD.lock().unwrap();
    let of_range = told.iter().filter(|(at, ..)| *at == address);
    of_range
        .flat_map(|(_, _, attributes)| attributes)
        .map(|a| (a.attribute, a.value, a.nodes.to_vec()))
        .collect()
}

/// A range of addresses that no other test speaks of.
fn range(rig: Rig, pages: u64) -> u64 {
    rig.sharing.vmem_reserve(pages * PAGE, 0, 0, 0).unwrap()
}

#[test]
fn what_is_set_is_told_to_the_driver_and_answered() {
    let rig = rig();
    let at = range(rig, 8);
    let pairs = [
        pair(Attribute::GLOBAL_FLAG, 1),
        pair(Attribute::MIGRATION_GRANULARITY, 4),
        pair(Attribute::PREFERRED_LOCATION, rig.gpus[1]),
        pair(Attribute::AGENT_ACCESSIBLE_IN_PLACE, rig.gpus[1]),
        pair(Attribute::AGENT_NO_ACCESS, rig.gpus[0]),
        pair(Attribute::AGENT_ACCESSIBLE, rig.cpu),
    ];
    set(rig, at + 5, 4 * PAGE, &pairs).unwrap();
    assert_eq!(
        told(at),
        [
            (0, 1, vec![]),
            (3, 4, vec![]),
            (4, 0, vec![1]),
            (0x201, 0, vec![1]),
            (0x202, 0, vec![0])
        ]
    );
    let ask = |attribute, value| get(rig, at, 5 * PAGE, attribute, value);
    assert_eq!(ask(Attribute::GLOBAL_FLAG, 0), (0, 1));
    assert_eq!(ask(Attribute::MIGRATION_GRANULARITY, 0), (3, 4));
    assert_eq!(ask(Attribute::PREFERRED_LOCATION, 0), (4, rig.gpus[1]));
    assert_eq!(ask(Attribute::ACCESS_QUERY, rig.gpus[1]), (0x201, rig.gpus[1]));
    assert_eq!(ask(Attribute::ACCESS_QUERY, rig.gpus[0]), (0x202, rig.gpus[0]));
    assert_eq!(ask(Attribute::ACCESS_QUERY, rig.cpu), (0x200, rig.cpu));
}

#[test]
fn parts_that_differ_have_the_least_in_common() {
    let rig = rig();
    let at = range(rig, 4);
    let pairs = [
        pair(Attribute::GLOBAL_FLAG, 1),
        pair(Attribute::READ_MOSTLY, 1),
        pair(Attribute::PREFERRED_LOCATION, rig.cpu),
        pair(Attribute::AGENT_ACCESSIBLE_IN_PLACE, rig.gpus[0]),
    ];
    set(rig, at, PAGE, &pairs).unwrap();
    let ask = |attribute, value| get(rig, at, 2 * PAGE, attribute, value);
    assert_eq!(ask(Attribute::GLOBAL_FLAG, 0), (0, 2));
    assert_eq!(ask(Attribute::READ_MOSTLY, 0), (6, 0));
    assert_eq!(ask(Attribute::PREFERRED_LOCATION, 0), (4, 0));
    assert_eq!(ask(Attribute::ACCESS_QUERY, rig.gpus[0]), (0x200, rig.gpus[0]));
    assert_eq!(get(rig, at, 1, Attribute::READ_MOSTLY, 0), (6, 1));
}

#[test]
fn the_host_may_and_has_more_where_it_was_asked_for() {
    let rig = rig();
    let at = range(rig, 2);
    assert_eq!(
        get(rig, at, PAGE, Attribute::ACCESS_QUERY, rig.cpu),
        (0x200, rig.cpu)
    );
    set(
        rig,
        at,
        PAGE,
        &[pair(Attribute::AGENT_ACCESSIBLE_IN_PLACE, rig.cpu)],
    )
    .unwrap();
    assert_eq!(
        get(rig, at, PAGE, Attribute::ACCESS_QUERY, rig.cpu),
        (0x201, rig.cpu)
    );
}

#[test]
fn agents_that_are_none_and_attributes_that_cannot_be_set_are_refused() {
    let rig = rig();
    let at = range(rig, 1);
    for attribute in [
        Attribute::PREFERRED_LOCATION,
        Attribute::AGENT_ACCESSIBLE,
        Attribute::AGENT_NO_ACCESS,
    ] {
        assert_eq!(
            status(set(rig, at, PAGE, &[pair(attribute, 3)])),
            is::INVALID_AGENT
        );
    }
    let set_one = |attribute| status(set(rig, at, PAGE, &[pair(attribute, 0)]));
    assert_eq!(set_one(Attribute::ACCESS_QUERY), is::INVALID_ARGUMENT);
    assert_eq!(set_one(Attribute(0x7777)), is::INVALID_ARGUMENT);
    let beyond = [api::SvmPair {
        attribute: u64::MAX,
        value: 0,
    }];
    assert_eq!(status(set(rig, at, PAGE, &beyond)), is::INVALID_ARGUMENT);
    assert_eq!(
        status(set(rig, u64::MAX, 2, &[pair(Attribute::READ_ONLY, 1)])),
        is::INVALID_ARGUMENT
    );
    assert_eq!(told(at), []);
}

#[test]
fn a_prefetch_waits_for_its_signals_and_counts_down() {
    let rig = rig();
    let at = range(rig, 2);
    let none: &[u64] = &[];
    let signals: Vec<u64> = (0..3)
        .map(|n| rig.signals.create(n, none.into(), 0).unwrap())
        .collect();
    let done = rig.signals.create(1, none.into(), 0).unwrap();
    let prefetch = |agent, dependencies: &[u64]| {
        rig.sharing
            .svm_prefetch(at, PAGE, agent, dependencies.into(), done)
    };
    assert_eq!(status(prefetch(1, none)), is::INVALID_AGENT);
    assert_eq!(status(prefetch(rig.gpus[0], &[1])), is::INVALID_SIGNAL);
    prefetch(rig.gpus[0], &signals).unwrap();
    signal::store(signals[2], 0, Ordering::Release);
    assert_eq!(signal::wait(done, Condition::Eq, 0, 20_000_000), 1);
    assert_eq!(told(at), []);
    signal::store(signals[1], 0, Ordering::Release);
    assert_eq!(signal::wait(done, Condition::Eq, 0, SOON), 0);
    assert_eq!(told(at), [(5, 0, vec![0])]);
    assert_eq!(
        get(rig, at, PAGE, Attribute::PREFETCH_LOCATION, 0),
        (5, rig.gpus[0])
    );
    signal::store(done, 1, Ordering::Release);
    prefetch(rig.cpu, none).unwrap();
    assert_eq!(signal::wait(done, Condition::Eq, 0, SOON), 0);
    assert_eq!(told(at)[1], (5, 1, vec![]));
    for signal in signals.into_iter().chain([done]) {
        signal::destroy(signal).unwrap();
    }
}

#[test]
fn dropped_contents_read_as_zero() {
    let rig = rig();
    let at = range(rig, 3);
    let pool = rig.memory.pools(rig.cpu).unwrap()[0];
    let memory = rig.sharing.vmem_create(pool, 2 * PAGE, 0, 0).unwrap();
    rig.sharing.vmem_map(at, 2 * PAGE, memory).unwrap();
    let all = [api::VmemAccess {
        agent: rig.cpu,
        permission: 3,
        reserved: 0,
    }];
    rig.sharing
        .vmem_set_access(at, 2 * PAGE, all.as_slice().into())
        .unwrap();
    bytes(at, 8192).fill(5);
    let none: &[u64] = &[];
    let done = rig.signals.create(1, none.into(), 0).unwrap();
    let discard = |address: u64, length: u64, agents: &[u64]| {
        rig.sharing.svm_discard(&api::DiscardRequest {
            addresses: [address].as_slice().into(),
            bytes: [length].as_slice().into(),
            agents: agents.into(),
            dependencies: none.into(),
            completion: done,
        })
    };
    assert_eq!(
        status(discard(at + 2 * PAGE, 2 * PAGE, none)),
        is::INVALID_ARGUMENT
    );
    assert_eq!(status(discard(at, PAGE, &[2])), is::INVALID_AGENT);
    discard(at + PAGE, 2 * PAGE, &[rig.gpus[0]]).unwrap();
    assert_eq!(signal::wait(done, Condition::Eq, 0, SOON), 0);
    assert_eq!((bytes(at, 8192)[4095], bytes(at, 8192)[4096]), (5, 0));
    assert_eq!(told(at + PAGE), [(5, 0, vec![0])]);
    signal::destroy(done).unwrap();
    rig.sharing.vmem_unmap(at, 2 * PAGE).unwrap();
    rig.sharing.vmem_release(at, 3 * PAGE).unwrap();
    rig.sharing.vmem_destroy(memory).unwrap();
}
