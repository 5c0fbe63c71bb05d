//! Queues by descriptor.

use crate::support::{on_queue_error, program, queue, Program, GPU_AGENT};
use hansa_plugin_api::hsa::{hsa_amd_queue_create_desc_t, hsa_amd_queue_priority_t, hsa_status_t};
use std::mem::zeroed;
use std::ptr::null_mut;

type Change = (&'static str, fn(&mut hsa_amd_queue_create_desc_t));

fn descriptor() -> hsa_amd_queue_create_desc_t {
    // SAFETY: integers, pointers, an optional function and a union of these.
    let mut descriptor: hsa_amd_queue_create_desc_t = unsafe { zeroed() };
    descriptor.version = 1;
    descriptor.queue_size_bytes = 4096;
    descriptor.priority = hsa_amd_queue_priority_t::NORMAL;
    descriptor.queue = queue();
    descriptor
}

fn create(program: &Program, descriptors: &mut [hsa_amd_queue_create_desc_t]) -> hsa_status_t {
    let count = u32::try_from(descriptors.len()).expect("few descriptors");
    // SAFETY: live descriptors.
    unsafe { (program.amd.hsa_amd_queue_create_fn)(GPU_AGENT, descriptors.as_mut_ptr(), count) }
}

#[test]
fn queues_are_made_for_compute_and_copy_engines() {
    let program = program();
    let mask = [0xff_u32, 0xf];
    let mut error = 0_u32;
    let mut compute = descriptor();
    compute.callback = Some(on_queue_error);
    compute.callback_data = (&raw mut error).cast();
    compute.flags = 3;
    compute.engine.compute.cu_mask = mask.as_ptr();
    compute.engine.compute.cu_mask_count = 64;
    compute.engine.compute.r#type = 2;
    compute.engine.compute.private_segment_size = u32::MAX;
    let mut copy = descriptor();
    copy.engine_type = 1;
    copy.queue_size_bytes = 32;
    copy.engine.sdma.sdma_engine_id = 3;
    let mut descriptors = [compute, copy];
    assert_eq!(create(&program, &mut descriptors), hsa_status_t::SUCCESS);
    assert_eq!(
        program.calls(),
        [
            "create(0x12, engine 0, 3, 4096, 1, 2, 4294967295, [ff, f], 4294967295, handler)",
            "create(0x12, engine 1, 0, 32, 1, 0, 0, [], 3, no handler)"
        ]
    );
    assert_eq!(error, 0x1234);
    assert!(descriptors.iter().all(|one| one.queue.addr() == 0x6000));
}

#[test]
fn queue_descriptors_are_checked_one_by_one() {
    let program = program();
    let changes: [Change; 17] = [
        ("version 0", |one| one.version = 0),
        ("version 2", |one| one.version = 2),
        ("flags 4", |one| one.flags = 4),
        ("engine 3", |one| one.engine_type = 3),
        ("reserved header", |one| one.reserved_header[2] = 1),
        ("size 0", |one| one.queue_size_bytes = 0),
        ("size 4095", |one| one.queue_size_bytes = 4095),
        ("smaller than a packet", |one| one.queue_size_bytes = 32),
        ("priority 3", |one| one.priority = hsa_amd_queue_priority_t(3)),
        ("traffic class", |one| one.traffic_class = 1),
        ("reserved", |one| one.reserved[19] = 1),
        ("type 3", |one| one.engine.compute.r#type = 3),
        ("33 bits", |one| one.engine.compute.cu_mask_count = 33),
        ("NULL mask", |one| one.engine.compute.cu_mask_count = 32),
        ("compute reserved", |one| one.engine.compute.reserved = [0, 0, 1]),
        ("copy reserved", |one| {
            one.engine_type = 1;
            one.engine.sdma.reserved = [0, 0, 0, 0, 0, 0, 1];
        }),
        ("AI engine reserved", |one| {
            one.engine_type = 2;
            one.engine.aie.reserved = [1, 0, 0, 0, 0, 0, 0, 0];
        }),
    ];
    for (case, change) in changes {
        let mut descriptors = [descriptor(), descriptor(), descriptor()];
        change(&mut descriptors[1]);
        assert_eq!(
            create(&program, &mut descriptors),
            hsa_status_t::ERROR_INVALID_ARGUMENT,
            "{case}"
        );
        assert_eq!(
            descriptors.map(|one| one.queue.addr()),
            [0x6000, 0, 0x6000],
            "{case}"
        );
    }
    let mut engine = [descriptor(), descriptor()];
    engine[0].engine_type = 2;
    engine[1].version = 0;
    assert_eq!(
        create(&program, &mut engine),
        hsa_status_t::ERROR_INVALID_QUEUE_CREATION,
        "the first refusal counts"
    );
    let mut one = descriptor();
    statuses! { program.amd;
        "none": hsa_amd_queue_create_fn(GPU_AGENT, &raw mut one, 0) => ERROR_INVALID_ARGUMENT,
        "NULL": hsa_amd_queue_create_fn(GPU_AGENT, null_mut(), 1) => ERROR_INVALID_ARGUMENT,
    }
    program.refuse("create", hsa_status_t::ERROR_INVALID_AGENT);
    assert_eq!(create(&program, &mut [one]), hsa_status_t::ERROR_INVALID_AGENT);
}
