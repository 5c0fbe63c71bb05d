//! Callbacks of the program, as the runtime takes them.
//!
//! The contract names integers where C names an enumeration, plain pointers where C names structures, and 64 bits where C
//! names a handle. These are passed alike on every target with 64-bit pointers that HSA runs on, so only the types change
//! here and never the function.

use crate::entry::Outcome;
use hansa_plugin_api::hsa::{
    hsa_amd_deallocation_callback_t, hsa_amd_queue_intercept_handler, hsa_amd_runtime_queue_notifier,
    hsa_amd_signal_handler, hsa_amd_system_event_callback_t, hsa_status_t, AsyncCallback, QueueErrorCallback,
};
use hansa_plugin_api::{
    AsyncFunction, EventHandler, FreeCallback, InterceptHandler, PacketWriter, QueueErrorHandler,
    QueueNotifier, ROption, SignalHandler,
};
use std::ffi::c_void;
use std::mem::transmute;

/// The function of a callback that must not be NULL. INVALID_ARGUMENT.
pub(crate) fn required<F>(function: Option<F>) -> Outcome<F> {
    function.ok_or_else(|| hsa_status_t::ERROR_INVALID_ARGUMENT.into())
}

/// See [`SignalHandler`].
pub(crate) fn signal_handler(
    handler: hsa_amd_signal_handler,
    argument: *mut c_void,
) -> Outcome<SignalHandler> {
    let function = required(handler)?;
    Ok(SignalHandler { function, argument })
}

/// See [`AsyncFunction`].
pub(crate) fn async_function(callback: AsyncCallback, argument: *mut c_void) -> Outcome<AsyncFunction> {
    let function = required(callback)?;
    Ok(AsyncFunction { function, argument })
}

/// See [`FreeCallback`].
pub(crate) fn free_callback(
    callback: hsa_amd_deallocation_callback_t,
    argument: *mut c_void,
) -> Outcome<FreeCallback> {
    let function = required(callback)?;
    Ok(FreeCallback { function, argument })
}

/// See [`EventHandler`].
pub(crate) fn event_handler(
    callback: hsa_amd_system_event_callback_t,
    argument: *mut c_void,
) -> Outcome<EventHandler> {
    let function = required(callback)?;
    // SAFETY: the same function; the event is a pointer in both types, and the status is a transparent `u32`.
    let function = unsafe {
        transmute::<
            unsafe extern "C" fn(*const hansa_plugin_api::hsa::hsa_amd_event_t, *mut c_void) -> hsa_status_t,
            unsafe extern "C" fn(*const c_void, *mut c_void) -> u32,
        >(function)
    };
    Ok(EventHandler { function, argument })
}

/// See [`QueueErrorHandler`]; a queue may go without.
pub(crate) fn error_handler(
    callback: QueueErrorCallback,
    argument: *mut c_void,
) -> ROption<QueueErrorHandler> {
    let Some(function) = callback else {
        return ROption::RNone;
    };
    // SAFETY: the same function; the queue is a pointer in both types, and the status is a transparent `u32`.
    let function = unsafe {
        transmute::<
            unsafe extern "C" fn(hsa_status_t, *mut hansa_plugin_api::hsa::hsa_queue_t, *mut c_void),
            unsafe extern "C" fn(u32, *mut c_void, *mut c_void),
        >(function)
    };
    ROption::RSome(QueueErrorHandler { function, argument })
}

/// See [`QueueNotifier`].
pub(crate) fn queue_notifier(
    callback: hsa_amd_runtime_queue_notifier,
    argument: *mut c_void,
) -> Outcome<QueueNotifier> {
    let function = required(callback)?;
    // SAFETY: the same function; the queue is a pointer in both types, and the agent is a structure around a `u64`.
    let function = unsafe {
        transmute::<
            unsafe extern "C" fn(
                *const hansa_plugin_api::hsa::hsa_queue_t,
                hansa_plugin_api::hsa::hsa_agent_t,
                *mut c_void,
            ),
            unsafe extern "C" fn(*const c_void, u64, *mut c_void),
        >(function)
    };
    Ok(QueueNotifier { function, argument })
}

/// See [`InterceptHandler`].
pub(crate) fn intercept_handler(
    callback: hsa_amd_queue_intercept_handler,
    argument: *mut c_void,
) -> Outcome<InterceptHandler> {
    let function = required(callback)?;
    // SAFETY: the same function; the writer is a pointer to a function in both types, and the runtime passes one.
    let function = unsafe {
        transmute::<
            unsafe extern "C" fn(
                *const c_void,
                u64,
                u64,
                *mut c_void,
                hansa_plugin_api::hsa::hsa_amd_queue_intercept_packet_writer,
            ),
            unsafe extern "C" fn(*const c_void, u64, u64, *mut c_void, PacketWriter),
        >(function)
    };
    Ok(InterceptHandler { function, argument })
}

/// Calls `callback` for each item until it says anything but success, which is then the answer.
pub(crate) fn iterate<T>(
    items: impl IntoIterator<Item = T>,
    callback: impl Fn(T) -> hsa_status_t,
) -> Outcome {
    for item in items {
        let status = callback(item);
        if status != hsa_status_t::SUCCESS {
            return Err(status.into());
        }
    }
    Ok(())
}
