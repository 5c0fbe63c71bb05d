//! Signals with attributes, their handlers, and waits for several of them.

use crate::args::{pointer, widen, Call, Promise};
use crate::callbacks::{async_function, signal_handler};
use crate::entry::{argument, ensure, entries, Outcome, SERVING};
use hansa_extension_lib::entry::evaluate;
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_ipc_signal_t, hsa_amd_signal_handler, hsa_signal_condition_t, hsa_signal_t,
    hsa_signal_value_t, hsa_status_t, hsa_wait_state_t, AsyncCallback,
};
use hansa_plugin_api::{IpcName, WaitList};
use std::ffi::c_void;

/// What a wait answers when no signal met its condition.
const NONE: u32 = u32::MAX;

entries! {
    /// Makes a signal.
    fn hsa_amd_signal_create(
        call; initial_value: hsa_signal_value_t, num_consumers: u32, consumers: *const hsa_agent_t, attributes: u64,
        signal: *mut hsa_signal_t,
    ) {
        let result = call.out(signal)?;
        let consumers = call.handles(consumers, widen(num_consumers))?;
        let handle = call.signals()?.create(initial_value, consumers, attributes)?;
        result.set(hsa_signal_t { handle });
        Ok(())
    }

    /// Where a signal's value is.
    fn hsa_amd_signal_value_pointer(call; signal: hsa_signal_t, value_ptr: *mut *mut hsa_signal_value_t) {
        let result = call.out(value_ptr)?;
        known(signal)?;
        result.set(pointer(call.signals()?.value_address(signal.handle)?));
        Ok(())
    }

    /// The number of the event that wakes a signal's waiters.
    fn hsa_amd_signal_get_event_id(call; signal: hsa_signal_t, event_id: *mut u32) {
        let result = call.out(event_id)?;
        argument(signal.handle != 0)?;
        result.set(call.signals()?.event_id(signal.handle)?);
        Ok(())
    }

    /// Calls a function whenever a signal meets a condition.
    fn hsa_amd_signal_async_handler(
        call; signal: hsa_signal_t, cond: hsa_signal_condition_t, value: hsa_signal_value_t,
        handler: hsa_amd_signal_handler, arg: *mut c_void,
    ) {
        let handler = signal_handler(handler, arg)?;
        argument(cond.c_name().is_some())?;
        known(signal)?;
        call.signals()?.on_condition(signal.handle, cond.0, value, handler)?;
        Ok(())
    }

    /// Calls a function once on the runtime's thread.
    fn hsa_amd_async_function(call; callback: AsyncCallback, arg: *mut c_void) {
        call.signals()?.run_async(async_function(callback, arg)?)?;
        Ok(())
    }

    /// Names a signal for other processes.
    fn hsa_amd_ipc_signal_create(call; signal: hsa_signal_t, handle: *mut hsa_amd_ipc_signal_t) {
        let result = call.out(handle)?;
        argument(signal.handle != 0)?;
        let name = call.signals()?.ipc_export(signal.handle)?;
        result.set(hsa_amd_ipc_signal_t { handle: name.words });
        Ok(())
    }

    /// Attaches another process's signal.
    fn hsa_amd_ipc_signal_attach(call; handle: *const hsa_amd_ipc_signal_t, signal: *mut hsa_signal_t) {
        let words = call.read(handle)?.handle;
        let result = call.out(signal)?;
        argument(words != [0; 8])?;
        result.set(hsa_signal_t { handle: call.signals()?.ipc_attach(IpcName { words })? });
        Ok(())
    }
}

/// Waits until one signal meets its condition and answers its index; `u32::MAX` if none does, or for arguments that
/// cannot be used: there is no way to answer a status.
pub(crate) unsafe extern "C" fn hsa_amd_signal_wait_any(
    signal_count: u32,
    signals: *mut hsa_signal_t,
    conds: *mut hsa_signal_condition_t,
    values: *mut hsa_signal_value_t,
    timeout_hint: u64,
    wait_hint: hsa_wait_state_t,
    satisfying_value: *mut hsa_signal_value_t,
) -> u32 {
    // SAFETY: the C contract of this function, by which its caller vouches for the pointers.
    let promise = unsafe { Promise::by_the_c_contract() };
    evaluate(&SERVING, "hsa_amd_signal_wait_any", promise, |call| {
        if signal_count == 0 {
            return Ok(NONE);
        }
        let list = wait_list(
            call,
            signal_count,
            (signals, conds, values),
            timeout_hint,
            wait_hint,
        )?;
        let met = call.signals()?.wait_any(&list)?;
        if let (true, Some(value)) = (met.index != NONE, call.wanted(satisfying_value)) {
            value.set(met.value);
        }
        Ok(met.index)
    })
    .unwrap_or(NONE)
}

/// Waits until all signals meet their conditions and answers 0; `u32::MAX` if they do not, or for arguments that cannot
/// be used.
pub(crate) unsafe extern "C" fn hsa_amd_signal_wait_all(
    signal_count: u32,
    signals: *mut hsa_signal_t,
    conds: *mut hsa_signal_condition_t,
    values: *mut hsa_signal_value_t,
    timeout_hint: u64,
    wait_hint: hsa_wait_state_t,
    satisfying_values: *mut hsa_signal_value_t,
) -> u32 {
    // SAFETY: the C contract of this function, by which its caller vouches for the pointers.
    let promise = unsafe { Promise::by_the_c_contract() };
    evaluate(&SERVING, "hsa_amd_signal_wait_all", promise, |call| {
        if signal_count == 0 {
            return Ok(0);
        }
        let list = wait_list(
            call,
            signal_count,
            (signals, conds, values),
            timeout_hint,
            wait_hint,
        )?;
        let met = call.signals()?.wait_all(&list)?;
        if !met.met {
            return Ok(NONE);
        }
        ensure(met.values.len() == list.signals.len(), hsa_status_t::ERROR)?;
        if !satisfying_values.is_null() {
            call.value(satisfying_values.cast())?
                .put_all(met.values.as_slice());
        }
        Ok(0)
    })
    .unwrap_or(NONE)
}

type WaitArrays = (
    *mut hsa_signal_t,
    *mut hsa_signal_condition_t,
    *mut hsa_signal_value_t,
);

fn wait_list(
    call: &Call,
    count: u32,
    (signals, conds, values): WaitArrays,
    timeout: u64,
    wait_state: hsa_wait_state_t,
) -> Outcome<WaitList<'_>> {
    let count = widen(count);
    Ok(WaitList {
        signals: call.handles(signals.cast_const(), count)?,
        conditions: call.list(conds.cast_const().cast::<u32>(), count)?.into(),
        values: call.list(values.cast_const(), count)?.into(),
        timeout,
        wait_state: wait_state.0,
        reserved: 0,
    })
}

/// A signal may be looked up. INVALID_SIGNAL for 0, which AMD's runtime calls an invalid argument.
pub(crate) fn known(signal: hsa_signal_t) -> Outcome {
    ensure(signal.handle != 0, hsa_status_t::ERROR_INVALID_SIGNAL)
}
