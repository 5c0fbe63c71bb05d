//! Agents, system events, logs, images and semaphores.

use crate::support::{at, program, queue, CPU_AGENT, GPU_AGENT};
use hansa_plugin_api::hsa::{
    hsa_access_permission_t, hsa_agent_t, hsa_amd_agent_attribute_t, hsa_amd_coherency_type_t,
    hsa_amd_event_t, hsa_amd_external_semaphore_handle_descriptor_t,
    hsa_amd_external_semaphore_handle_type_t, hsa_amd_external_semaphore_os_handle_t,
    hsa_amd_external_semaphore_t, hsa_amd_image_descriptor_t, hsa_ext_image_t, hsa_status_t,
};
use std::ffi::c_void;
use std::mem::zeroed;
use std::ptr::{null, null_mut};

#[test]
fn agents_are_asked_and_set() {
    let program = program();
    let mut coherency = hsa_amd_coherency_type_t(9);
    let mut size = 1_usize << 20;
    let size = (&raw mut size).cast::<c_void>();
    let cache = hsa_amd_agent_attribute_t::REQUEST_PERSISTING_L2_CACHE_SIZE;
    statuses! { program.amd;
        "get": hsa_amd_coherency_get_type_fn(GPU_AGENT, &raw mut coherency) => SUCCESS,
        "set 1": hsa_amd_coherency_set_type_fn(GPU_AGENT, hsa_amd_coherency_type_t(1)) => SUCCESS,
        "set 2": hsa_amd_coherency_set_type_fn(GPU_AGENT, hsa_amd_coherency_type_t(2)) => ERROR_INVALID_ARGUMENT,
        "set -1": hsa_amd_coherency_set_type_fn(GPU_AGENT, hsa_amd_coherency_type_t(u32::MAX))
            => ERROR_INVALID_ARGUMENT,
        "preload": hsa_amd_agent_preload_fn(GPU_AGENT, 3) => SUCCESS,
        "scratch": hsa_amd_agent_set_async_scratch_limit_fn(GPU_AGENT, 4096) => SUCCESS,
        "attribute": hsa_amd_agent_set_attribute_fn(GPU_AGENT, cache, size) => SUCCESS,
        "attribute 1": hsa_amd_agent_set_attribute_fn(GPU_AGENT, hsa_amd_agent_attribute_t(1), size)
            => ERROR_INVALID_ARGUMENT,
        "NULL value": hsa_amd_agent_set_attribute_fn(GPU_AGENT, cache, null_mut()) => ERROR_INVALID_ARGUMENT,
        "clocks": hsa_amd_enable_high_precision_timestamps_fn() => SUCCESS,
    }
    assert_eq!(coherency, hsa_amd_coherency_type_t::NONCOHERENT);
    assert_eq!(
        program.calls(),
        [
            "coherency(0x12)",
            "set_coherency(0x12, 1)",
            "preload(0x12, 3)",
            "set_async_scratch_limit(0x12, 4096)",
            "set_agent_attribute(0x12, 0, 1048576)",
            "high_precision_timestamps()"
        ]
    );
    program.refuse("coherency", hsa_status_t::ERROR_INVALID_AGENT);
    statuses! { program.amd;
        "CPU": hsa_amd_coherency_get_type_fn(CPU_AGENT, &raw mut coherency) => ERROR_INVALID_AGENT,
    }
}

unsafe extern "C" fn on_event(_event: *const hsa_amd_event_t, data: *mut c_void) -> hsa_status_t {
    // SAFETY: the test's number.
    hsa_status_t(unsafe { *data.cast::<u32>() })
}

#[test]
fn an_event_handler_arrives_as_it_is_and_only_once() {
    let program = program();
    let mut number = 0x1000_u32;
    let data = (&raw mut number).cast::<c_void>();
    statuses! { program.amd;
        "NULL": hsa_amd_register_system_event_handler_fn(None, data) => ERROR_INVALID_ARGUMENT,
        "first": hsa_amd_register_system_event_handler_fn(Some(on_event), data) => SUCCESS,
    }
    assert_eq!(program.calls(), ["on_system_event(handled 4096)"]);
    program.refuse("on_system_event", hsa_status_t::ERROR);
    statuses! { program.amd; "second": hsa_amd_register_system_event_handler_fn(Some(on_event), data) => ERROR, }
}

#[test]
fn packets_are_logged_to_a_c_stream() {
    let program = program();
    let mut flags = [5_u8, 0, 0, 0, 0, 0, 0, 0x80];
    let mut text = [0_u8; 64];
    // SAFETY: a buffer that outlives the stream.
    let stream = unsafe { libc::fmemopen(text.as_mut_ptr().cast(), text.len(), c"w".as_ptr()) };
    assert!(!stream.is_null());
    statuses! { program.amd;
        "NULL flags": hsa_amd_enable_logging_fn(null_mut(), stream.cast()) => ERROR_INVALID_ARGUMENT,
        "stream": hsa_amd_enable_logging_fn(flags.as_mut_ptr(), stream.cast()) => SUCCESS,
    }
    // SAFETY: the stream opened above.
    unsafe { libc::fclose(stream) };
    assert_eq!(&text[..7], b"packet\n");
    assert_eq!(program.calls(), ["log_packets(0x8000000000000005)"]);
}

#[test]
fn images_need_a_runtime_that_knows_images() {
    let program = program();
    // SAFETY: integers only.
    let descriptor = unsafe { zeroed() };
    // SAFETY: integers only.
    let descriptor_v2 = unsafe { zeroed() };
    let layout = hsa_amd_image_descriptor_t {
        version: 1,
        deviceID: 0,
        data: [0],
    };
    let (desc, lay, data) = (&raw const descriptor, &raw const layout, at(0x4000).cast_const());
    let desc2 = &raw const descriptor_v2;
    let mut image = hsa_ext_image_t { handle: 0 };
    let out = &raw mut image;
    let (rw, nobody) = (hsa_access_permission_t::RW, hsa_agent_t { handle: 0 });
    statuses! { program.amd;
        "NULL descriptor": hsa_amd_image_create_fn(GPU_AGENT, null(), lay, data, rw, out) => ERROR_INVALID_ARGUMENT,
        "NULL layout": hsa_amd_image_create_fn(GPU_AGENT, desc, null(), data, rw, out) => ERROR_INVALID_ARGUMENT,
        "NULL data": hsa_amd_image_create_fn(GPU_AGENT, desc, lay, null(), rw, out) => ERROR_INVALID_ARGUMENT,
        "NULL image": hsa_amd_image_create_fn(GPU_AGENT, desc, lay, data, rw, null_mut()) => ERROR_INVALID_ARGUMENT,
        "permission 0": hsa_amd_image_create_fn(GPU_AGENT, desc, lay, data, hsa_access_permission_t(0), out)
            => ERROR_INVALID_ARGUMENT,
        "permission 4": hsa_amd_image_create_fn(GPU_AGENT, desc, lay, data, hsa_access_permission_t(4), out)
            => ERROR_INVALID_ARGUMENT,
        "agent 0": hsa_amd_image_create_fn(nobody, desc, lay, data, rw, out) => ERROR_INVALID_AGENT,
        "fine": hsa_amd_image_create_fn(GPU_AGENT, desc, lay, data, rw, out) => SUCCESS,
        "NULL layout": hsa_amd_image_create_v2_fn(GPU_AGENT, desc2, null(), data, rw, out) => SUCCESS,
    }
    assert_eq!(image.handle, 0x71);
    assert_eq!(
        program.calls(),
        [
            "image_create(0x12, layout true, 3, v1)",
            "image_create(0x12, layout false, 3, v2)"
        ]
    );
    program.fail("image_create", hansa_plugin_api::Error::not_supported("images"));
    statuses! { program.amd;
        "no images": hsa_amd_image_create_fn(GPU_AGENT, desc, lay, data, rw, out) => ERROR_INVALID_ARGUMENT,
    }
    program.refuse("image_create", hsa_status_t::EXT_ERROR_IMAGE_SIZE_UNSUPPORTED);
    statuses! { program.amd;
        "too large": hsa_amd_image_create_fn(GPU_AGENT, desc, lay, data, rw, out) => EXT_ERROR_IMAGE_SIZE_UNSUPPORTED,
    }
}

#[test]
fn semaphores_are_checked_and_then_not_supported_by_drivers_without_them() {
    let program = program();
    let fd = |fd| hsa_amd_external_semaphore_handle_descriptor_t {
        r#type: hsa_amd_external_semaphore_handle_type_t::OPAQUE_FD,
        handle: hsa_amd_external_semaphore_os_handle_t { fd },
    };
    let handle = |kind, win32_handle| hsa_amd_external_semaphore_handle_descriptor_t {
        r#type: hsa_amd_external_semaphore_handle_type_t(kind),
        handle: hsa_amd_external_semaphore_os_handle_t { win32_handle },
    };
    let (fine, closed) = (fd(5), fd(-1));
    let (win32, empty, unknown) = (handle(0, at(64)), handle(1, null_mut()), handle(3, at(64)));
    let mut made = hsa_amd_external_semaphore_t { handle: 0 };
    let out = &raw mut made;
    let semaphore = hsa_amd_external_semaphore_t { handle: 0x81 };
    let nothing = hsa_amd_external_semaphore_t { handle: 0 };
    statuses! { program.amd;
        "NULL descriptor": hsa_amd_external_semaphore_handle_open_fn(GPU_AGENT, null(), out)
            => ERROR_INVALID_ARGUMENT,
        "NULL result": hsa_amd_external_semaphore_handle_open_fn(GPU_AGENT, &raw const fine, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "CPU": hsa_amd_external_semaphore_handle_open_fn(CPU_AGENT, &raw const fine, out) => ERROR_INVALID_AGENT,
        "fd -1": hsa_amd_external_semaphore_handle_open_fn(GPU_AGENT, &raw const closed, out)
            => ERROR_INVALID_ARGUMENT,
        "NULL handle": hsa_amd_external_semaphore_handle_open_fn(GPU_AGENT, &raw const empty, out)
            => ERROR_INVALID_ARGUMENT,
        "type 3": hsa_amd_external_semaphore_handle_open_fn(GPU_AGENT, &raw const unknown, out)
            => ERROR_NOT_SUPPORTED,
    }
    program.calls();
    statuses! { program.amd;
        "descriptor": hsa_amd_external_semaphore_handle_open_fn(GPU_AGENT, &raw const fine, out) => SUCCESS,
        "Windows handle": hsa_amd_external_semaphore_handle_open_fn(GPU_AGENT, &raw const win32, out) => SUCCESS,
        "NULL queue": hsa_amd_queue_signal_external_semaphore_fn(null_mut(), semaphore, 1) => ERROR_INVALID_QUEUE,
        "semaphore 0": hsa_amd_queue_wait_external_semaphore_fn(queue(), nothing, 1) => ERROR_INVALID_ARGUMENT,
        "signal": hsa_amd_queue_signal_external_semaphore_fn(queue(), semaphore, 1) => SUCCESS,
        "wait": hsa_amd_queue_wait_external_semaphore_fn(queue(), semaphore, 2) => SUCCESS,
        "semaphore 0": hsa_amd_external_semaphore_handle_close_fn(nothing) => ERROR_INVALID_ARGUMENT,
        "close": hsa_amd_external_semaphore_handle_close_fn(semaphore) => SUCCESS,
    }
    assert_eq!(made.handle, 0x81);
    assert_eq!(
        program.calls(),
        [
            "agent_kind(0x12)",
            "semaphore_open(0x12, 2, 0x5)",
            "agent_kind(0x12)",
            "semaphore_open(0x12, 0, 0x40)",
            "semaphore_submit(0x6000, 0x81, 1, false)",
            "semaphore_submit(0x6000, 0x81, 2, true)",
            "semaphore_close(0x81)"
        ]
    );
    program.fail(
        "semaphore_open",
        hansa_plugin_api::Error::not_supported("semaphores"),
    );
    statuses! { program.amd;
        "KFD": hsa_amd_external_semaphore_handle_open_fn(GPU_AGENT, &raw const fine, out) => ERROR_NOT_SUPPORTED,
    }
}

#[test]
fn what_the_runtime_refuses_is_in_the_log_and_not_what_the_arguments_say() {
    let program = program();
    program.refuse("free", hsa_status_t::ERROR_INVALID_ALLOCATION);
    statuses! { program.amd;
        "refused": hsa_amd_memory_pool_free_fn(at(64)) => ERROR_INVALID_ALLOCATION,
        "argument": hsa_amd_memory_fill_fn(null_mut(), 0, 0) => ERROR_INVALID_ARGUMENT,
    }
    assert_eq!(program.log(), ["7: hsa_amd_memory_pool_free: scripted"]);
}
