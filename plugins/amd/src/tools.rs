//! What only tools use: queues whose packets pass through them. In the table alone, never exported.

use crate::args::pointer;
use crate::callbacks::{error_handler, intercept_handler, queue_notifier};
use crate::entry::{argument, entries};
use crate::queues::queue_address;
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_queue_intercept_handler, hsa_amd_runtime_queue_notifier, hsa_queue_t,
    hsa_queue_type32_t, hsa_queue_type_t, QueueErrorCallback,
};
use hansa_plugin_api::InterceptQueueRequest;
use std::ffi::c_void;

entries! {
    /// Makes a queue whose packets pass through handlers.
    fn hsa_amd_queue_intercept_create(
        call; agent: hsa_agent_t, size: u32, kind: hsa_queue_type32_t, callback: QueueErrorCallback,
        data: *mut c_void, private_segment_size: u32, group_segment_size: u32, queue: *mut *mut hsa_queue_t,
    ) {
        let result = call.out(queue)?;
        argument(size.is_power_of_two() && hsa_queue_type_t(kind).c_name().is_some())?;
        let request = InterceptQueueRequest {
            packets: size,
            kind,
            private_segment_bytes: private_segment_size,
            group_segment_bytes: group_segment_size,
            error_handler: error_handler(callback, data),
        };
        result.set(pointer(call.queues()?.intercept_create(agent.handle, &request)?));
        Ok(())
    }

    /// Adds a handler to such a queue.
    fn hsa_amd_queue_intercept_register(
        call; queue: *mut hsa_queue_t, callback: hsa_amd_queue_intercept_handler, user_data: *mut c_void,
    ) {
        let queue = queue_address(queue)?;
        call.queues()?.intercept_register(queue, intercept_handler(callback, user_data)?)?;
        Ok(())
    }

    /// Calls a function for every queue that the runtime makes for itself.
    fn hsa_amd_runtime_queue_create_register(
        call; callback: hsa_amd_runtime_queue_notifier, user_data: *mut c_void,
    ) {
        call.queues()?.on_create(queue_notifier(callback, user_data)?)?;
        Ok(())
    }
}
