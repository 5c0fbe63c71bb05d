//! Making and destroying queues (HSA Runtime PRM 1.2, section 2.5).

use crate::entry::{entry, not_null, Place};
use hansa_core::queue::{ErrorCallback, Queue, QueueOptions, QueueType};
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::{
    c_void, hsa_agent_t, hsa_queue_feature_t as Feature, hsa_queue_t, hsa_queue_type32_t, hsa_queue_type_t,
    hsa_region_t, hsa_signal_t, hsa_status_t, QueueErrorCallback,
};
use hansa_plugin_api::QueuePriority;

type HsaCallback = unsafe extern "C" fn(hsa_status_t, *mut hsa_queue_t, *mut c_void);
type CoreCallback = unsafe extern "C" fn(u32, *mut c_void, *mut c_void);

/// The program's function as core calls it.
pub(crate) fn error_callback(function: QueueErrorCallback, data: *mut c_void) -> Option<ErrorCallback> {
    let function = function?;
    // SAFETY: a status is a 32-bit word, and the pointer is that of the queue in both.
    let function = unsafe { std::mem::transmute::<HsaCallback, CoreCallback>(function) };
    Some(ErrorCallback {
        function,
        data: data.expose_provenance(),
    })
}

/// The pointer that a queue's handle is.
pub(crate) fn pointer(queue: &Queue) -> *mut hsa_queue_t {
    std::ptr::with_exposed_provenance_mut(usize::try_from(queue.descriptor.handle()).unwrap_or(0))
}

fn queue_type(value: hsa_queue_type32_t) -> Result<QueueType> {
    match hsa_queue_type_t(value) {
        hsa_queue_type_t::MULTI => Ok(QueueType::Multi),
        hsa_queue_type_t::SINGLE => Ok(QueueType::Single),
        hsa_queue_type_t::COOPERATIVE => Ok(QueueType::Cooperative),
        _ => Err(Error::InvalidArgument("not a type of queue")),
    }
}

fn known_size(size: u32) -> Result<()> {
    if size.is_power_of_two() {
        Ok(())
    } else {
        Err(Error::InvalidArgument("a queue's size is a power of two"))
    }
}

fn handle(queue: *mut hsa_queue_t) -> Result<u64> {
    Ok(not_null(queue)?.addr() as u64)
}

entry! {
    fn hsa_queue_create(
        agent: hsa_agent_t,
        size: u32,
        r#type: hsa_queue_type32_t,
        callback: QueueErrorCallback,
        data: *mut c_void,
        private_segment_size: u32,
        group_segment_size: u32,
        queue: *mut *mut hsa_queue_t,
    ) {
        // A hint: dispatches say how much group memory they need.
        let _ = group_segment_size;
        let runtime = current()?;
        let place = Place::new(queue)?;
        known_size(size)?;
        let queue_type = queue_type(r#type)?;
        let options = QueueOptions {
            agent: runtime.agent_index(agent.handle)?,
            packets: size,
            queue_type,
            callback: error_callback(callback, data),
            private_bytes: private_segment_size,
            priority: QueuePriority::NORMAL,
        };
        place.set(pointer(&*Queue::create(&runtime, &options)?));
        Ok(())
    }

    fn hsa_soft_queue_create(
        region: hsa_region_t,
        size: u32,
        r#type: hsa_queue_type32_t,
        features: u32,
        doorbell_signal: hsa_signal_t,
        queue: *mut *mut hsa_queue_t,
    ) {
        let runtime = current()?;
        let place = Place::new(queue)?;
        known_size(size)?;
        let queue_type = queue_type(r#type)?;
        let known = Feature::KERNEL_DISPATCH.0 | Feature::AGENT_DISPATCH.0;
        let named = region.handle != 0 && doorbell_signal.handle != 0;
        if queue_type == QueueType::Cooperative || features == 0 || features & !known != 0 || !named {
            return Err(Error::InvalidArgument("not a soft queue"));
        }
        let region = runtime.region_index(region.handle)?;
        let made = Queue::create_soft(&runtime, region, size, queue_type, features, doorbell_signal.handle);
        let made = made.map_err(|error| match error {
            Error::InvalidAllocation(why) => Error::OutOfResources(why),
            other => other,
        })?;
        place.set(pointer(&made));
        Ok(())
    }

    fn hsa_queue_destroy(queue: *mut hsa_queue_t) {
        let runtime = current()?;
        runtime.destroy_queue(handle(queue)?)
    }

    fn hsa_queue_inactivate(queue: *mut hsa_queue_t) {
        let runtime = current()?;
        runtime.queue(handle(queue)?)?.inactivate(&runtime)
    }
}
