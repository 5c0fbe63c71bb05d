//! Queues: priorities, compute units, attributes, and shared hardware queues.

use crate::args::{address, pointer, widen};
use crate::callbacks::error_handler;
use crate::entry::{argument, ensure, entries, Outcome};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_queue_priority_t, hsa_queue_info_attribute_t, hsa_queue_t, hsa_queue_type_t,
    hsa_status_t, QueueErrorCallback,
};
use hansa_plugin_api::CountedQueueRequest;
use std::ffi::c_void;

entries! {
    /// Sets a queue's priority.
    fn hsa_amd_queue_set_priority(call; queue: *mut hsa_queue_t, priority: hsa_amd_queue_priority_t) {
        let queue = queue_address(queue)?;
        argument(priority.c_name().is_some())?;
        call.queues()?.set_priority(queue, priority.0)?;
        Ok(())
    }

    /// Sets which compute units a queue may use; 0 bits mean all. CU_MASK_REDUCED when the process may not use some.
    fn hsa_amd_queue_cu_set_mask(call; queue: *const hsa_queue_t, num_cu_mask_count: u32, cu_mask: *const u32) {
        let queue = queue_address(queue)?;
        argument(num_cu_mask_count.is_multiple_of(32))?;
        let mask = call.list(cu_mask, widen(num_cu_mask_count / 32))?;
        let reduced = call.queues()?.set_cu_mask(queue, mask.into())?;
        ensure(!reduced, hsa_status_t::CU_MASK_REDUCED)
    }

    /// Which compute units a queue may use. Units that the agent does not have are 0.
    fn hsa_amd_queue_cu_get_mask(call; queue: *const hsa_queue_t, num_cu_mask_count: u32, cu_mask: *mut u32) {
        let queue = queue_address(queue)?;
        argument(num_cu_mask_count != 0 && num_cu_mask_count.is_multiple_of(32))?;
        let result = call.value(cu_mask.cast())?;
        let mut mask = call.queues()?.cu_mask(queue)?.into_vec();
        mask.resize(widen(num_cu_mask_count / 32), 0);
        result.put_all(&mask);
        Ok(())
    }

    /// An attribute of a queue, in the width that the attribute has.
    fn hsa_amd_queue_get_info(call; queue: *mut hsa_queue_t, attribute: hsa_queue_info_attribute_t, value: *mut c_void) {
        use hsa_queue_info_attribute_t as Attribute;
        let queue = queue_address(queue)?;
        let result = call.value(value)?;
        argument(attribute.c_name().is_some())?;
        let number = call.queues()?.info(queue, attribute.0)?;
        match attribute {
            Attribute::PREFETCH_METADATA_DISPATCH_PKT_VERSION_MAJOR
            | Attribute::PREFETCH_METADATA_DISPATCH_PKT_VERSION_MINOR
            | Attribute::PREFETCH_METADATA_BARRIER_PKT_VERSION_MAJOR
            | Attribute::PREFETCH_METADATA_BARRIER_PKT_VERSION_MINOR => result.put(low_byte(number)),
            Attribute::VM_FAULT_STATUS => result.put(number != 0),
            Attribute::USE_COUNT
            | Attribute::HW_ID
            | Attribute::VM_FAULT_REASON
            | Attribute::ENGINE_TYPE
            | Attribute::SDMA_ENGINE_ID => result.put(low_word(number)),
            Attribute::PROPERTIES => result.put(number.to_le_bytes()),
            _ => result.put(number),
        }
        Ok(())
    }

    /// A share of one of the few hardware queues of a priority.
    fn hsa_amd_counted_queue_acquire(
        call; agent: hsa_agent_t, kind: hsa_queue_type_t, priority: hsa_amd_queue_priority_t,
        callback: QueueErrorCallback, data: *mut c_void, _flags: u64, queue: *mut *mut hsa_queue_t,
    ) {
        let result = call.out(queue)?;
        argument(priority.c_name().is_some())?;
        ensure(kind == hsa_queue_type_t::MULTI, hsa_status_t::ERROR_INVALID_QUEUE_CREATION)?;
        let request = CountedQueueRequest { priority: priority.0, error_handler: error_handler(callback, data) };
        result.set(pointer(call.queues()?.counted_acquire(agent.handle, &request)?));
        Ok(())
    }

    /// Gives the share back.
    fn hsa_amd_counted_queue_release(call; queue: *mut hsa_queue_t) {
        argument(!queue.is_null())?;
        call.queues()?.counted_release(address(queue))?;
        Ok(())
    }
}

/// A queue for the runtime to look up. INVALID_QUEUE for NULL.
pub(crate) fn queue_address(queue: *const hsa_queue_t) -> Outcome<u64> {
    ensure(!queue.is_null(), hsa_status_t::ERROR_INVALID_QUEUE)?;
    Ok(address(queue))
}

#[expect(clippy::cast_possible_truncation, reason = "the attribute has 8 bits")]
const fn low_byte(number: u64) -> u8 {
    number as u8
}

#[expect(clippy::cast_possible_truncation, reason = "the attribute has 32 bits")]
const fn low_word(number: u64) -> u32 {
    number as u32
}
