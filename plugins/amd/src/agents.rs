//! Agents, system events and logging.

use crate::args::address;
use crate::callbacks::event_handler;
use crate::entry::{argument, entries};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_agent_attribute_t, hsa_amd_coherency_type_t, hsa_amd_system_event_callback_t,
};
use hansa_plugin_api::LogSink;
use std::ffi::c_void;
use std::io::Write as _;

entries! {
    /// The coherency of an agent's fine-grained memory.
    fn hsa_amd_coherency_get_type(call; agent: hsa_agent_t, kind: *mut hsa_amd_coherency_type_t) {
        let result = call.out(kind)?;
        result.set(hsa_amd_coherency_type_t(call.runtime().coherency(agent.handle)?));
        Ok(())
    }

    /// Wishes for a coherency.
    fn hsa_amd_coherency_set_type(call; agent: hsa_agent_t, kind: hsa_amd_coherency_type_t) {
        argument(kind.c_name().is_some())?;
        call.runtime().set_coherency(agent.handle, kind.0)?;
        Ok(())
    }

    /// Sets an agent up now instead of at first use. Unknown flags leave out nothing.
    fn hsa_amd_agent_preload(call; agent: hsa_agent_t, flags: u64) {
        call.runtime().preload(agent.handle, flags)?;
        Ok(())
    }

    /// How much scratch an agent's queues may keep.
    fn hsa_amd_agent_set_async_scratch_limit(call; agent: hsa_agent_t, threshold: usize) {
        call.runtime().set_async_scratch_limit(agent.handle, threshold as u64)?;
        Ok(())
    }

    /// Sets an attribute of an agent; the only one there is has the type `size_t`.
    fn hsa_amd_agent_set_attribute(call; agent: hsa_agent_t, attribute: hsa_amd_agent_attribute_t, value: *mut c_void) {
        argument(attribute == hsa_amd_agent_attribute_t::REQUEST_PERSISTING_L2_CACHE_SIZE)?;
        let value = call.read(value.cast_const().cast::<usize>())?;
        call.runtime().set_agent_attribute(agent.handle, attribute.0, value as u64)?;
        Ok(())
    }

    /// Calls a function for faults and exceptions.
    fn hsa_amd_register_system_event_handler(
        call; callback: hsa_amd_system_event_callback_t, data: *mut c_void,
    ) {
        call.runtime().on_system_event(event_handler(callback, data)?)?;
        Ok(())
    }

    /// Writes the runtime's packets to a C stream, or to stderr for NULL. The flags are 64 bits, one by one in 8 bytes.
    fn hsa_amd_enable_logging(call; flags: *mut u8, file: *mut c_void) {
        let flags = u64::from_le_bytes(call.read(flags.cast_const().cast::<[u8; 8]>())?);
        call.runtime().log_packets(flags, LogSink { function: write_text, argument: file })?;
        Ok(())
    }
}

/// Writes text to the C stream `file`, or to stderr for NULL. Text that cannot be written is lost.
///
/// # Safety
///
/// `file` is NULL or an open C stream, and `text` is good for `bytes` bytes.
unsafe extern "C" fn write_text(file: *mut c_void, text: *const u8, bytes: usize) {
    if address(file) == 0 {
        // SAFETY: by the contract of this function.
        let text = unsafe { std::slice::from_raw_parts(text, bytes) };
        let _ = std::io::stderr().write_all(text);
        return;
    }
    let stream = file.cast::<libc::FILE>();
    // SAFETY: by the contract of this function.
    unsafe { libc::fwrite(text.cast(), 1, bytes, stream) };
    // SAFETY: by the contract of this function.
    unsafe { libc::fflush(stream) };
}
