//! Times of packets and copies, clocks, and streaming counters.

use crate::args::{address, Out};
use crate::entry::{argument, entries};
use crate::signals::known;
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_profiling_async_copy_time_t, hsa_amd_profiling_dispatch_time_t, hsa_queue_t,
    hsa_signal_t,
};
use hansa_plugin_api::SpmBuffer;
use std::ffi::{c_int, c_void};

entries! {
    /// Turns time stamps of a queue's packets on or off. NULL is an invalid argument here, not an invalid queue.
    fn hsa_amd_profiling_set_profiler_enabled(call; queue: *mut hsa_queue_t, enable: c_int) {
        argument(!queue.is_null())?;
        call.queues()?.set_profiling(address(queue), enable != 0)?;
        Ok(())
    }

    /// Turns time stamps of copies on or off.
    fn hsa_amd_profiling_async_copy_enable(call; enable: bool) {
        call.copies()?.set_profiling(enable)?;
        Ok(())
    }

    /// When the packet that a signal completed ran.
    fn hsa_amd_profiling_get_dispatch_time(
        call; agent: hsa_agent_t, signal: hsa_signal_t, time: *mut hsa_amd_profiling_dispatch_time_t,
    ) {
        let result = call.out(time)?;
        known(signal)?;
        let span = call.queues()?.dispatch_time(agent.handle, signal.handle)?;
        result.set(hsa_amd_profiling_dispatch_time_t { start: span.start, end: span.end });
        Ok(())
    }

    /// When the copy that a signal completed ran.
    fn hsa_amd_profiling_get_async_copy_time(
        call; signal: hsa_signal_t, time: *mut hsa_amd_profiling_async_copy_time_t,
    ) {
        let result = call.out(time)?;
        known(signal)?;
        let span = call.copies()?.copy_time(signal.handle)?;
        result.set(hsa_amd_profiling_async_copy_time_t { start: span.start, end: span.end });
        Ok(())
    }

    /// An agent's tick in ticks of the system.
    fn hsa_amd_profiling_convert_tick_to_system_domain(
        call; agent: hsa_agent_t, agent_tick: u64, system_tick: *mut u64,
    ) {
        let result = call.out(system_tick)?;
        result.set(call.queues()?.convert_tick(agent.handle, agent_tick)?);
        Ok(())
    }

    /// Reads clocks more carefully from now on.
    fn hsa_amd_enable_high_precision_timestamps(call) {
        call.runtime().high_precision_timestamps()?;
        Ok(())
    }

    /// Takes an agent's streaming counters.
    fn hsa_amd_spm_acquire(call; preferred_agent: hsa_agent_t) {
        call.queues()?.spm_acquire(preferred_agent.handle)?;
        Ok(())
    }

    /// Gives an agent's streaming counters back.
    fn hsa_amd_spm_release(call; preferred_agent: hsa_agent_t) {
        call.queues()?.spm_release(preferred_agent.handle)?;
        Ok(())
    }

    /// Changes the buffer that counters go to; NULL stops them. Results that are not wanted may be NULL.
    fn hsa_amd_spm_set_dest_buffer(
        call; preferred_agent: hsa_agent_t, size_in_bytes: usize, timeout: *mut u32, size_copied: *mut u32,
        dest: *mut c_void, is_data_loss: *mut bool,
    ) {
        argument(dest.is_null() || size_in_bytes != 0)?;
        let timeout_ms = if timeout.is_null() { 0 } else { call.read(timeout)? };
        let buffer = SpmBuffer {
            address: address(dest),
            bytes: size_in_bytes as u64,
            timeout_ms,
            copied: 0,
            lost: 0,
            reserved: 0,
        };
        let last = call.queues()?.spm_set_buffer(preferred_agent.handle, buffer)?;
        set(call.wanted(timeout), last.timeout_ms);
        set(call.wanted(size_copied), last.copied);
        set(call.wanted(is_data_loss), last.lost != 0);
        Ok(())
    }
}

fn set<T: Copy>(result: Option<Out<T>>, value: T) {
    if let Some(result) = result {
        result.set(value);
    }
}
