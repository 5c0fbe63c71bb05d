//! Queues by descriptor, for any engine.
//!
//! Each descriptor of a call is on its own: those that can be served are, the others get NULL, and the call answers the
//! first refusal.

use crate::args::{element, pointer, widen, Call};
use crate::callbacks::error_handler;
use crate::entry::{argument, ensure, entries, Outcome};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_queue_create_desc_t, hsa_amd_queue_create_flag_t, hsa_amd_queue_engine_t as Engine,
    hsa_kernel_dispatch_packet_t, hsa_queue_t, hsa_queue_type_t, hsa_status_t,
    HSA_AMD_QUEUE_CREATE_DESC_VERSION, HSA_AMD_SDMA_ENGINE_ID_ANY,
};
use hansa_plugin_api::{QueueDescription, RSlice};
use std::mem::offset_of;

/// All bits of `hsa_amd_queue_create_flag_t`.
const FLAGS: u32 = hsa_amd_queue_create_flag_t::DEVICE_MEM_RING_BUF.0
    | hsa_amd_queue_create_flag_t::DEVICE_MEM_QUEUE_DESCRIPTOR.0;

/// A descriptor's words for its engine, read apart: which of them there are depends on the engine, and all arms of the
/// union have these 32 bytes.
type EngineWords = [u32; 8];

entries! {
    /// Makes queues.
    fn hsa_amd_queue_create(call; agent: hsa_agent_t, descs: *mut hsa_amd_queue_create_desc_t, num_descs: u32) {
        argument(!descs.is_null() && num_descs != 0)?;
        let mut answer = Ok(());
        for index in 0..widen(num_descs) {
            let descriptor = element(descs, index);
            let queue = create(call, agent, descriptor);
            let at = offset_of!(hsa_amd_queue_create_desc_t, queue);
            let result = call.out(descriptor.wrapping_byte_add(at).cast::<*mut hsa_queue_t>())?;
            match queue {
                Ok(address) => result.set(pointer(address)),
                Err(failure) => {
                    result.set(std::ptr::null_mut());
                    answer = answer.and(Err(failure));
                }
            }
        }
        answer
    }
}

fn create(call: &Call, agent: hsa_agent_t, at: *const hsa_amd_queue_create_desc_t) -> Outcome<u64> {
    let descriptor = call.read(at)?;
    argument(descriptor.version == HSA_AMD_QUEUE_CREATE_DESC_VERSION)?;
    argument(descriptor.reserved_header == [0; 3] && descriptor.reserved == [0; 20])?;
    argument(descriptor.traffic_class == 0 && u32::from(descriptor.flags) & !FLAGS == 0)?;
    argument(descriptor.queue_size_bytes.is_power_of_two() && descriptor.priority.c_name().is_some())?;

    let engine_at = offset_of!(hsa_amd_queue_create_desc_t, engine);
    let words: EngineWords = call.read(at.wrapping_byte_add(engine_at).cast())?;
    let engine = Engine(u32::from(descriptor.engine_type));
    let mut description = QueueDescription {
        engine: engine.0,
        flags: u32::from(descriptor.flags),
        ring_bytes: descriptor.queue_size_bytes,
        priority: descriptor.priority.0,
        kind: hsa_queue_type_t::MULTI.0,
        private_segment_bytes: 0,
        cu_mask: RSlice::EMPTY,
        sdma_engine: HSA_AMD_SDMA_ENGINE_ID_ANY,
        error_handler: error_handler(descriptor.callback, descriptor.callback_data),
    };
    match engine {
        Engine::COMPUTE => {
            let [mask_low, mask_high, kind, private_segment_size, mask_bits, reserved @ ..] = words;
            let mask = u64::from(mask_low) | u64::from(mask_high) << 32;
            argument(reserved == [0; 3] && hsa_queue_type_t(kind).c_name().is_some())?;
            argument(widen(descriptor.queue_size_bytes) >= size_of::<hsa_kernel_dispatch_packet_t>())?;
            argument(mask_bits % 32 == 0)?;
            description.kind = kind;
            description.private_segment_bytes = private_segment_size;
            description.cu_mask = call
                .list(pointer::<u32>(mask).cast_const(), widen(mask_bits / 32))?
                .into();
        }
        Engine::SDMA => {
            let [engine_id, reserved @ ..] = words;
            argument(reserved == [0; 7])?;
            description.sdma_engine = engine_id;
        }
        Engine::AIE => {
            argument(words == [0; 8])?;
            ensure(false, hsa_status_t::ERROR_INVALID_QUEUE_CREATION)?;
        }
        _ => argument(false)?,
    }
    Ok(call.queues()?.create(agent.handle, &description)?)
}
