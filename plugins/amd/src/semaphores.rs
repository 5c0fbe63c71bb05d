//! Semaphores of other interfaces, such as Vulkan's.
//!
//! KFD has none, so on Linux these functions answer NOT_SUPPORTED once their arguments are in order, unless a driver's
//! runtime serves them.

use crate::args::{address, Call};
use crate::entry::{argument, ensure, entries, Outcome};
use crate::queues::queue_address;
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_external_semaphore_handle_descriptor_t, hsa_amd_external_semaphore_handle_type_t,
    hsa_amd_external_semaphore_t, hsa_queue_t, hsa_status_t,
};
use hansa_plugin_api::{AgentKind, SemaphoreCommand};

entries! {
    /// Imports a semaphore.
    fn hsa_amd_external_semaphore_handle_open(
        call; agent: hsa_agent_t, desc: *const hsa_amd_external_semaphore_handle_descriptor_t,
        out_sem: *mut hsa_amd_external_semaphore_t,
    ) {
        let descriptor = call.read(desc)?;
        let result = call.out(out_sem)?;
        let kind = call.runtime().agent_kind(agent.handle)?;
        ensure(kind == AgentKind::GPU, hsa_status_t::ERROR_INVALID_AGENT)?;
        ensure(descriptor.r#type.c_name().is_some(), hsa_status_t::ERROR_NOT_SUPPORTED)?;
        let os_handle = if descriptor.r#type == hsa_amd_external_semaphore_handle_type_t::OPAQUE_FD {
            // SAFETY: the type says that this arm holds; every bit pattern is an integer.
            let fd = unsafe { descriptor.handle.fd };
            u64::try_from(fd).map_err(|_| hsa_status_t::ERROR_INVALID_ARGUMENT)?
        } else {
            // SAFETY: the type says that this arm holds; every bit pattern is a pointer.
            let handle = unsafe { descriptor.handle.win32_handle };
            argument(!handle.is_null())?;
            address(handle)
        };
        let handle = call.queues()?.semaphore_open(agent.handle, descriptor.r#type.0, os_handle)?;
        result.set(hsa_amd_external_semaphore_t { handle });
        Ok(())
    }

    /// Lets go of a semaphore.
    fn hsa_amd_external_semaphore_handle_close(call; sem: hsa_amd_external_semaphore_t) {
        argument(sem.handle != 0)?;
        call.queues()?.semaphore_close(sem.handle)?;
        Ok(())
    }

    /// Lets a queue signal a semaphore.
    fn hsa_amd_queue_signal_external_semaphore(
        call; queue: *mut hsa_queue_t, sem: hsa_amd_external_semaphore_t, value: u64,
    ) {
        submit(call, queue, sem, value, false)
    }

    /// Lets a queue wait for a semaphore.
    fn hsa_amd_queue_wait_external_semaphore(
        call; queue: *mut hsa_queue_t, sem: hsa_amd_external_semaphore_t, value: u64,
    ) {
        submit(call, queue, sem, value, true)
    }
}

fn submit(
    call: &Call,
    queue: *mut hsa_queue_t,
    sem: hsa_amd_external_semaphore_t,
    value: u64,
    wait: bool,
) -> Outcome {
    let queue = queue_address(queue)?;
    argument(sem.handle != 0)?;
    let command = SemaphoreCommand {
        queue,
        semaphore: sem.handle,
        value,
        wait,
    };
    call.queues()?.semaphore_submit(command)?;
    Ok(())
}
