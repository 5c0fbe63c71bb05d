//! Queues, their interception, and times.

use crate::support::{at, on_queue_error, program, queue, COMPLETION, CPU_AGENT, GPU, GPU_AGENT, NO_SIGNAL};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_profiling_async_copy_time_t, hsa_amd_profiling_dispatch_time_t,
    hsa_amd_queue_intercept_packet_writer, hsa_amd_queue_priority_t, hsa_queue_info_attribute_t, hsa_queue_t,
    hsa_queue_type_t, hsa_status_t,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[test]
fn queues_take_priorities_masks_and_profiling() {
    let program = program();
    let priority = hsa_amd_queue_priority_t;
    let mask = [0xf_u32, 0xff, 1, 0];
    let mask = mask.as_ptr();
    let mut seen = [0xee_u32; 4];
    let out = seen.as_mut_ptr();
    statuses! { program.amd;
        "NULL": hsa_amd_queue_set_priority_fn(null_mut(), priority(1)) => ERROR_INVALID_QUEUE,
        "priority 3": hsa_amd_queue_set_priority_fn(queue(), priority(3)) => ERROR_INVALID_ARGUMENT,
        "priority -1": hsa_amd_queue_set_priority_fn(queue(), priority(u32::MAX)) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_queue_set_priority_fn(queue(), priority(2)) => SUCCESS,
        "NULL": hsa_amd_queue_cu_set_mask_fn(null(), 64, mask) => ERROR_INVALID_QUEUE,
        "33 bits": hsa_amd_queue_cu_set_mask_fn(queue(), 33, mask) => ERROR_INVALID_ARGUMENT,
        "NULL mask": hsa_amd_queue_cu_set_mask_fn(queue(), 64, null()) => ERROR_INVALID_ARGUMENT,
        "0 bits, NULL": hsa_amd_queue_cu_set_mask_fn(queue(), 0, null()) => SUCCESS,
        "0 bits": hsa_amd_queue_cu_set_mask_fn(queue(), 0, mask) => SUCCESS,
        "64 bits": hsa_amd_queue_cu_set_mask_fn(queue(), 64, mask) => SUCCESS,
        "reduced": hsa_amd_queue_cu_set_mask_fn(queue(), 96, mask) => CU_MASK_REDUCED,
        "NULL": hsa_amd_queue_cu_get_mask_fn(null(), 64, out) => ERROR_INVALID_QUEUE,
        "0 bits": hsa_amd_queue_cu_get_mask_fn(queue(), 0, out) => ERROR_INVALID_ARGUMENT,
        "33 bits": hsa_amd_queue_cu_get_mask_fn(queue(), 33, out) => ERROR_INVALID_ARGUMENT,
        "NULL mask": hsa_amd_queue_cu_get_mask_fn(queue(), 64, null_mut()) => ERROR_INVALID_ARGUMENT,
        "NULL": hsa_amd_profiling_set_profiler_enabled_fn(null_mut(), 1) => ERROR_INVALID_ARGUMENT,
        "on": hsa_amd_profiling_set_profiler_enabled_fn(queue(), 77) => SUCCESS,
        "off": hsa_amd_profiling_set_profiler_enabled_fn(queue(), 0) => SUCCESS,
    }
    assert_eq!(
        program.calls(),
        [
            "set_priority(0x6000, 2)",
            "set_cu_mask(0x6000, [])",
            "set_cu_mask(0x6000, [])",
            "set_cu_mask(0x6000, [f, ff])",
            "set_cu_mask(0x6000, [f, ff, 1])",
            "set_profiling(0x6000, true)",
            "set_profiling(0x6000, false)"
        ]
    );
    for (bits, expected) in [
        (32, [0xf, 0xee, 0xee, 0xee]),
        (64, [0xf, 0xff, 0xee, 0xee]),
        (128, [0xf, 0xff, 0, 0]),
    ] {
        let mut seen = [0xee_u32; 4];
        // SAFETY: room for 128 bits.
        let status = unsafe { (program.amd.hsa_amd_queue_cu_get_mask_fn)(queue(), bits, seen.as_mut_ptr()) };
        assert_eq!((status, seen), (hsa_status_t::SUCCESS, expected), "{bits} bits");
    }
    program.refuse("set_priority", hsa_status_t::ERROR_INVALID_QUEUE);
    statuses! { program.amd;
        "soft queue": hsa_amd_queue_set_priority_fn(queue(), priority(1)) => ERROR_INVALID_QUEUE,
    }
}

#[test]
fn queue_attributes_have_their_widths() {
    let program = program();
    let widths = [8, 8, 4, 4, 1, 1, 1, 1, 8, 8, 1, 8, 4, 4, 4, 8, 8];
    for (attribute, width) in (0_u32..).zip(widths) {
        let mut value = [0xee_u8; 16];
        // SAFETY: the value has room for every attribute.
        let status = unsafe {
            (program.amd.hsa_amd_queue_get_info_fn)(
                queue(),
                hsa_queue_info_attribute_t(attribute),
                value.as_mut_ptr().cast(),
            )
        };
        assert_eq!(status, hsa_status_t::SUCCESS, "attribute {attribute}");
        let mut expected = [0xee_u8; 16];
        expected[..width].copy_from_slice(&0x0102_0304_0506_0701_u64.to_le_bytes()[..width]);
        assert_eq!(value, expected, "attribute {attribute}");
    }
    let mut value = [0_u8; 16];
    let value = value.as_mut_ptr().cast::<c_void>();
    let attribute = hsa_queue_info_attribute_t;
    statuses! { program.amd;
        "NULL": hsa_amd_queue_get_info_fn(null_mut(), attribute(0), value) => ERROR_INVALID_QUEUE,
        "NULL value": hsa_amd_queue_get_info_fn(queue(), attribute(0), null_mut()) => ERROR_INVALID_ARGUMENT,
        "attribute 17": hsa_amd_queue_get_info_fn(queue(), attribute(17), value) => ERROR_INVALID_ARGUMENT,
    }
}

#[test]
fn counted_queues_are_shared_by_priority() {
    let program = program();
    let (mut made, mut error) = (null_mut::<hsa_queue_t>(), 0_u32);
    let (out, data) = (&raw mut made, (&raw mut error).cast::<c_void>());
    let (multi, single) = (hsa_queue_type_t::MULTI, hsa_queue_type_t::SINGLE);
    let priority = hsa_amd_queue_priority_t;
    statuses! { program.amd;
        "NULL result": hsa_amd_counted_queue_acquire_fn(GPU_AGENT, multi, priority(1), None, data, 0, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "priority 3": hsa_amd_counted_queue_acquire_fn(GPU_AGENT, multi, priority(3), None, data, 0, out)
            => ERROR_INVALID_ARGUMENT,
        "single": hsa_amd_counted_queue_acquire_fn(GPU_AGENT, single, priority(1), None, data, 0, out)
            => ERROR_INVALID_QUEUE_CREATION,
        "no handler": hsa_amd_counted_queue_acquire_fn(GPU_AGENT, multi, priority(0), None, data, 0, out) => SUCCESS,
        "handler, flags ignored":
            hsa_amd_counted_queue_acquire_fn(GPU_AGENT, multi, priority(2), Some(on_queue_error), data, 99, out)
            => SUCCESS,
        "NULL": hsa_amd_counted_queue_release_fn(null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_counted_queue_release_fn(queue()) => SUCCESS,
    }
    assert_eq!((made.addr(), error), (0x6100, 0x1234));
    assert_eq!(
        program.calls(),
        [
            "counted_acquire(0x12, 0, no handler)",
            "counted_acquire(0x12, 2, handler)",
            "counted_release(0x6000)"
        ]
    );
    program.refuse("counted_release", hsa_status_t::ERROR);
    statuses! { program.amd; "twice": hsa_amd_counted_queue_release_fn(queue()) => ERROR, }
}

unsafe extern "C" fn on_packets(
    _packets: *const c_void,
    _count: u64,
    index: u64,
    data: *mut c_void,
    writer: hsa_amd_queue_intercept_packet_writer,
) {
    assert!(writer.is_some());
    // SAFETY: the test's number.
    unsafe { *data.cast::<u64>() += index };
}

unsafe extern "C" fn on_queue(_queue: *const hsa_queue_t, agent: hsa_agent_t, data: *mut c_void) {
    // SAFETY: the test's number.
    unsafe { *data.cast::<u64>() += agent.handle };
}

#[test]
fn tools_intercept_queues() {
    let program = program();
    let (mut made, mut sum) = (null_mut::<hsa_queue_t>(), 0_u64);
    let (out, data) = (&raw mut made, (&raw mut sum).cast::<c_void>());
    let gpu = GPU_AGENT;
    statuses! { program.amd;
        "NULL result": hsa_amd_queue_intercept_create_fn(gpu, 64, 0, None, data, 0, 0, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_queue_intercept_create_fn(gpu, 0, 0, None, data, 0, 0, out) => ERROR_INVALID_ARGUMENT,
        "size 65": hsa_amd_queue_intercept_create_fn(gpu, 65, 0, None, data, 0, 0, out) => ERROR_INVALID_ARGUMENT,
        "type 3": hsa_amd_queue_intercept_create_fn(gpu, 64, 3, None, data, 0, 0, out) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_queue_intercept_create_fn(gpu, 64, 1, None, data, 16, u32::MAX, out) => SUCCESS,
        "NULL": hsa_amd_queue_intercept_register_fn(null_mut(), Some(on_packets), data) => ERROR_INVALID_QUEUE,
        "NULL handler": hsa_amd_queue_intercept_register_fn(queue(), None, data) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_queue_intercept_register_fn(queue(), Some(on_packets), data) => SUCCESS,
        "NULL": hsa_amd_runtime_queue_create_register_fn(None, data) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_runtime_queue_create_register_fn(Some(on_queue), data) => SUCCESS,
    }
    assert_eq!((made.addr(), sum), (0x6200, 9 + GPU));
    assert_eq!(
        program.calls(),
        [
            "intercept_create(0x12, 64, 1, 16, 4294967295, no handler)",
            "intercept_register(0x6000)",
            "on_create()"
        ]
    );
}

#[test]
fn times_are_asked_by_signal() {
    let program = program();
    let mut dispatch = hsa_amd_profiling_dispatch_time_t { start: 0, end: 0 };
    let mut copy = hsa_amd_profiling_async_copy_time_t { start: 0, end: 0 };
    let mut tick = 0_u64;
    let (dispatch_at, copy_at) = (&raw mut dispatch, &raw mut copy);
    statuses! { program.amd;
        "NULL": hsa_amd_profiling_get_dispatch_time_fn(GPU_AGENT, COMPLETION, null_mut()) => ERROR_INVALID_ARGUMENT,
        "signal 0": hsa_amd_profiling_get_dispatch_time_fn(GPU_AGENT, NO_SIGNAL, dispatch_at) => ERROR_INVALID_SIGNAL,
        "fine": hsa_amd_profiling_get_dispatch_time_fn(GPU_AGENT, COMPLETION, dispatch_at) => SUCCESS,
        "NULL": hsa_amd_profiling_get_async_copy_time_fn(COMPLETION, null_mut()) => ERROR_INVALID_ARGUMENT,
        "signal 0": hsa_amd_profiling_get_async_copy_time_fn(NO_SIGNAL, copy_at) => ERROR_INVALID_SIGNAL,
        "fine": hsa_amd_profiling_get_async_copy_time_fn(COMPLETION, copy_at) => SUCCESS,
        "NULL": hsa_amd_profiling_convert_tick_to_system_domain_fn(GPU_AGENT, 100, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_profiling_convert_tick_to_system_domain_fn(GPU_AGENT, 100, &raw mut tick) => SUCCESS,
        "on": hsa_amd_profiling_async_copy_enable_fn(true) => SUCCESS,
    }
    assert_eq!(
        (dispatch.start, dispatch.end, copy.start, copy.end, tick),
        (300, 400, 100, 200, 1000)
    );
    assert_eq!(
        program.calls(),
        [
            "dispatch_time(0x12, 0x31)",
            "copy_time(0x31)",
            "convert_tick(0x12, 100)",
            "set_profiling(true)"
        ]
    );
    program.refuse("copy_time", hsa_status_t::ERROR);
    statuses! { program.amd;
        "never used": hsa_amd_profiling_get_async_copy_time_fn(COMPLETION, copy_at) => ERROR,
    }
    program.refuse("dispatch_time", hsa_status_t::ERROR_INVALID_AGENT);
    statuses! { program.amd;
        "CPU": hsa_amd_profiling_get_dispatch_time_fn(CPU_AGENT, COMPLETION, dispatch_at) => ERROR_INVALID_AGENT,
    }
}

#[test]
fn streaming_counters_change_buffers() {
    let program = program();
    let (mut timeout, mut copied, mut lost) = (20_u32, 0_u32, false);
    statuses! { program.amd;
        "take": hsa_amd_spm_acquire_fn(GPU_AGENT) => SUCCESS,
        "buffer of 0 bytes":
            hsa_amd_spm_set_dest_buffer_fn(GPU_AGENT, 0, &raw mut timeout, null_mut(), at(64), null_mut())
            => ERROR_INVALID_ARGUMENT,
        "next": hsa_amd_spm_set_dest_buffer_fn(
            GPU_AGENT, 4096, &raw mut timeout, &raw mut copied, at(64), &raw mut lost
        ) => SUCCESS,
        "stop": hsa_amd_spm_set_dest_buffer_fn(GPU_AGENT, 0, null_mut(), null_mut(), null_mut(), null_mut())
            => SUCCESS,
        "give back": hsa_amd_spm_release_fn(GPU_AGENT) => SUCCESS,
    }
    assert_eq!((timeout, copied, lost), (5, 64, true));
    assert_eq!(
        program.calls(),
        [
            "spm_acquire(0x12)",
            "spm_set_buffer(0x12, 0x40, 4096, 20)",
            "spm_set_buffer(0x12, 0x0, 0, 0)",
            "spm_release(0x12)"
        ]
    );
    program.fail("spm_acquire", hansa_plugin_api::Error::not_supported("counters"));
    statuses! { program.amd; "no driver has them": hsa_amd_spm_acquire_fn(GPU_AGENT) => ERROR_NOT_SUPPORTED, }
}
