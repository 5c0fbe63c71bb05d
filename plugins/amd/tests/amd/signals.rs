//! Signals, their handlers, and waits for several of them.

use crate::support::{program, COMPLETION, CPU_AGENT, GPU_AGENT, NO_SIGNAL, SIGNAL};
use hansa_plugin_api::hsa::{
    hsa_amd_ipc_memory_t, hsa_signal_condition_t, hsa_signal_t, hsa_status_t, hsa_wait_state_t,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[test]
fn signals_are_made_with_attributes_and_looked_into() {
    let program = program();
    let consumers = [CPU_AGENT, GPU_AGENT];
    let (mut signal, mut value, mut event) = (NO_SIGNAL, null_mut(), 99_u32);
    let (out, value_at, event_at) = (&raw mut signal, &raw mut value, &raw mut event);
    statuses! { program.amd;
        "NULL signal": hsa_amd_signal_create_fn(5, 0, null(), 0, null_mut()) => ERROR_INVALID_ARGUMENT,
        "NULL consumers": hsa_amd_signal_create_fn(5, 1, null(), 0, out) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_signal_create_fn(-5, 2, consumers.as_ptr(), 3, out) => SUCCESS,
        "no consumers, list": hsa_amd_signal_create_fn(5, 0, consumers.as_ptr(), 0, out) => SUCCESS,
        "signal 0": hsa_amd_signal_value_pointer_fn(NO_SIGNAL, value_at) => ERROR_INVALID_SIGNAL,
        "NULL": hsa_amd_signal_value_pointer_fn(COMPLETION, null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_signal_value_pointer_fn(COMPLETION, value_at) => SUCCESS,
        "signal 0": hsa_amd_signal_get_event_id_fn(NO_SIGNAL, event_at) => ERROR_INVALID_ARGUMENT,
        "NULL": hsa_amd_signal_get_event_id_fn(COMPLETION, null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_signal_get_event_id_fn(COMPLETION, event_at) => SUCCESS,
    }
    assert_eq!((signal.handle, value.addr(), event), (SIGNAL, 0x9008, 17));
    assert_eq!(
        program.calls(),
        [
            "create(-5, [11, 12], 3)",
            "create(5, [], 0)",
            "value_address(0x31)",
            "event_id(0x31)"
        ]
    );
    program.refuse("create", hsa_status_t::ERROR_INVALID_ARGUMENT);
    statuses! { program.amd;
        "duplicate consumers": hsa_amd_signal_create_fn(5, 2, [CPU_AGENT; 2].as_ptr(), 0, out)
            => ERROR_INVALID_ARGUMENT,
    }
}

unsafe extern "C" fn on_signal(value: i64, data: *mut c_void) -> bool {
    // SAFETY: the test's number.
    unsafe { *data.cast::<i64>() += value };
    true
}

unsafe extern "C" fn on_thread(data: *mut c_void) {
    // SAFETY: the test's number.
    unsafe { *data.cast::<i64>() += 1 };
}

#[test]
fn handlers_arrive_as_they_are() {
    let program = program();
    let mut sum = 0_i64;
    let data = (&raw mut sum).cast::<c_void>();
    let condition = hsa_signal_condition_t;
    statuses! { program.amd;
        "NULL handler": hsa_amd_signal_async_handler_fn(COMPLETION, condition(2), 1, None, data)
            => ERROR_INVALID_ARGUMENT,
        "signal 0": hsa_amd_signal_async_handler_fn(NO_SIGNAL, condition(2), 1, Some(on_signal), data)
            => ERROR_INVALID_SIGNAL,
        "condition 4": hsa_amd_signal_async_handler_fn(COMPLETION, condition(4), 1, Some(on_signal), data)
            => ERROR_INVALID_ARGUMENT,
        "condition 77": hsa_amd_signal_async_handler_fn(COMPLETION, condition(77), 1, Some(on_signal), data)
            => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_signal_async_handler_fn(COMPLETION, condition(2), 10, Some(on_signal), data) => SUCCESS,
        "NULL": hsa_amd_async_function_fn(None, data) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_async_function_fn(Some(on_thread), data) => SUCCESS,
    }
    assert_eq!(sum, 11);
    assert_eq!(
        program.calls(),
        ["on_condition(0x31, 2, 10, again true)", "run_async()"]
    );
    program.refuse("on_condition", hsa_status_t::ERROR_INVALID_SIGNAL);
    statuses! { program.amd;
        "doorbell": hsa_amd_signal_async_handler_fn(COMPLETION, condition(2), 10, Some(on_signal), data)
            => ERROR_INVALID_SIGNAL,
    }
}

#[test]
fn ipc_signals_pass_names() {
    let program = program();
    let mut name = hsa_amd_ipc_memory_t { handle: [0; 8] };
    let mut signal = NO_SIGNAL;
    statuses! { program.amd;
        "signal 0": hsa_amd_ipc_signal_create_fn(NO_SIGNAL, &raw mut name) => ERROR_INVALID_ARGUMENT,
        "NULL": hsa_amd_ipc_signal_create_fn(COMPLETION, null_mut()) => ERROR_INVALID_ARGUMENT,
        "zeros": hsa_amd_ipc_signal_attach_fn(&raw const name, &raw mut signal) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_ipc_signal_create_fn(COMPLETION, &raw mut name) => SUCCESS,
        "NULL": hsa_amd_ipc_signal_attach_fn(&raw const name, null_mut()) => ERROR_INVALID_ARGUMENT,
        "NULL": hsa_amd_ipc_signal_attach_fn(null(), &raw mut signal) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_ipc_signal_attach_fn(&raw const name, &raw mut signal) => SUCCESS,
    }
    assert_eq!((name.handle, signal.handle), ([3; 8], SIGNAL));
    assert_eq!(
        program.calls(),
        ["ipc_export(0x31)", "ipc_attach([3, 3, 3, 3, 3, 3, 3, 3])"]
    );
}

/// Waits for the condition `>= 7` and `== 8` of two signals and gives index and values.
fn wait(
    function: unsafe extern "C" fn(
        u32,
        *mut hsa_signal_t,
        *mut hsa_signal_condition_t,
        *mut i64,
        u64,
        hsa_wait_state_t,
        *mut i64,
    ) -> u32,
    timeout: u64,
) -> (u32, [i64; 2]) {
    let mut signals = [COMPLETION, hsa_signal_t { handle: 0x32 }];
    let mut conditions = [hsa_signal_condition_t::GTE, hsa_signal_condition_t::EQ];
    let (mut values, mut met) = ([7, 8], [-1, -1]);
    // SAFETY: lists of two, and room for two values.
    let answer = unsafe {
        function(
            2,
            signals.as_mut_ptr(),
            conditions.as_mut_ptr(),
            values.as_mut_ptr(),
            timeout,
            hsa_wait_state_t::ACTIVE,
            met.as_mut_ptr(),
        )
    };
    (answer, met)
}

#[test]
fn waits_answer_an_index_and_values() {
    let program = program();
    assert_eq!(wait(program.amd.hsa_amd_signal_wait_any_fn, 100), (1, [7, -1]));
    assert_eq!(
        wait(program.amd.hsa_amd_signal_wait_any_fn, 0),
        (u32::MAX, [-1, -1])
    );
    assert_eq!(wait(program.amd.hsa_amd_signal_wait_all_fn, 100), (0, [7, 8]));
    assert_eq!(
        wait(program.amd.hsa_amd_signal_wait_all_fn, 0),
        (u32::MAX, [-1, -1])
    );
    let waited = "([31, 32], [3, 0], [7, 8], ";
    assert_eq!(
        program.calls(),
        [
            format!("wait_any{waited}100, 1)"),
            format!("wait_any{waited}0, 1)"),
            format!("wait_all{waited}100, 1)"),
            format!("wait_all{waited}0, 1)")
        ]
    );
    program.fail("wait_any", hansa_plugin_api::Error::not_supported("wait"));
    assert_eq!(
        wait(program.amd.hsa_amd_signal_wait_any_fn, 100),
        (u32::MAX, [-1, -1])
    );
}

#[test]
fn waits_answer_the_largest_index_for_missing_lists() {
    let program = program();
    let (mut signals, mut conditions, mut values) = ([COMPLETION], [hsa_signal_condition_t::EQ], [1_i64]);
    let (signals, conditions, values) = (signals.as_mut_ptr(), conditions.as_mut_ptr(), values.as_mut_ptr());
    let blocked = hsa_wait_state_t::BLOCKED;
    for function in [
        program.amd.hsa_amd_signal_wait_any_fn,
        program.amd.hsa_amd_signal_wait_all_fn,
    ] {
        let lists = [
            (null_mut(), conditions, values),
            (signals, null_mut(), values),
            (signals, conditions, null_mut()),
        ];
        for (signals, conditions, values) in lists {
            // SAFETY: lists of one, or NULL.
            let answer = unsafe { function(1, signals, conditions, values, 9, blocked, null_mut()) };
            assert_eq!(answer, u32::MAX);
        }
    }
    assert_eq!(program.calls(), [""; 0]);
    let any = program.amd.hsa_amd_signal_wait_any_fn;
    // SAFETY: lists of one.
    let answer = unsafe { any(1, signals, conditions, values, 9, blocked, null_mut()) };
    assert_eq!(answer, 1, "the value is not wanted");
}
