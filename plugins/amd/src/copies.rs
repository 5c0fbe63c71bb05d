//! Asynchronous copies of ranges and boxes, and their engines.

use crate::args::{address, Call};
use crate::entry::{argument, entries, Outcome};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_copy_direction_t, hsa_amd_sdma_engine_id_t, hsa_dim3_t, hsa_pitched_ptr_t,
    hsa_signal_t,
};
use hansa_plugin_api::{CopyCommand, RSlice, RectCopyCommand, RectSide};
use std::ffi::c_void;

entries! {
    /// Copies a range on whatever engine the runtime picks.
    fn hsa_amd_memory_async_copy(
        call; dst: *mut c_void, dst_agent: hsa_agent_t, src: *const c_void, src_agent: hsa_agent_t, size: usize,
        num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t,
    ) {
        let command = range((dst, dst_agent), (src, src_agent), size)?;
        submit(call, command, (num_dep_signals, dep_signals), completion_signal)
    }

    /// Copies a range on one engine.
    fn hsa_amd_memory_async_copy_on_engine(
        call; dst: *mut c_void, dst_agent: hsa_agent_t, src: *const c_void, src_agent: hsa_agent_t, size: usize,
        num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t,
        engine_id: hsa_amd_sdma_engine_id_t, force_copy_on_sdma: bool,
    ) {
        let command = range((dst, dst_agent), (src, src_agent), size)?;
        argument(engine_id.c_name().is_some())?;
        let command = CopyCommand { engine: engine_id.0, force_engine: force_copy_on_sdma, ..command };
        submit(call, command, (num_dep_signals, dep_signals), completion_signal)
    }

    /// The engines that are free for a direction.
    fn hsa_amd_memory_copy_engine_status(
        call; dst_agent: hsa_agent_t, src_agent: hsa_agent_t, engine_ids_mask: *mut u32,
    ) {
        let result = call.out(engine_ids_mask)?;
        result.set(call.copies()?.free_engines(dst_agent.handle, src_agent.handle)?);
        Ok(())
    }

    /// The engines that are fastest for a direction.
    fn hsa_amd_memory_get_preferred_copy_engine(
        call; dst_agent: hsa_agent_t, src_agent: hsa_agent_t, recommended_ids_mask: *mut u32,
    ) {
        let result = call.out(recommended_ids_mask)?;
        result.set(call.copies()?.preferred_engines(dst_agent.handle, src_agent.handle)?);
        Ok(())
    }

    /// Copies a box. Host to host is not for engines, so it is refused like an unknown direction.
    fn hsa_amd_memory_async_copy_rect(
        call; dst: *const hsa_pitched_ptr_t, dst_offset: *const hsa_dim3_t, src: *const hsa_pitched_ptr_t,
        src_offset: *const hsa_dim3_t, range: *const hsa_dim3_t, copy_agent: hsa_agent_t,
        dir: hsa_amd_copy_direction_t, num_dep_signals: u32, dep_signals: *const hsa_signal_t,
        completion_signal: hsa_signal_t,
    ) {
        use hsa_amd_copy_direction_t as Direction;
        argument(matches!(dir, Direction::HOST_TO_DEVICE | Direction::DEVICE_TO_HOST | Direction::DEVICE_TO_DEVICE))?;
        argument(completion_signal.handle != 0)?;
        let range = call.read(range)?;
        let command = RectCopyCommand {
            destination: side(call.read(dst)?, call.read(dst_offset)?, range)?,
            source: side(call.read(src)?, call.read(src_offset)?, range)?,
            range: [range.x, range.y, range.z],
            direction: dir.0,
            agent: copy_agent.handle,
            dependencies: call.dependencies(num_dep_signals, dep_signals)?,
            completion: completion_signal.handle,
        };
        call.copies()?.copy_rect(&command)?;
        Ok(())
    }
}

fn range(
    (dst, dst_agent): (*mut c_void, hsa_agent_t),
    (src, src_agent): (*const c_void, hsa_agent_t),
    size: usize,
) -> Outcome<CopyCommand<'static>> {
    argument(!dst.is_null() && !src.is_null())?;
    Ok(CopyCommand {
        destination: address(dst),
        destination_agent: dst_agent.handle,
        source: address(src),
        source_agent: src_agent.handle,
        bytes: size as u64,
        dependencies: RSlice::EMPTY,
        completion: 0,
        engine: 0,
        force_engine: false,
    })
}

fn submit(
    call: &Call,
    command: CopyCommand<'_>,
    (count, signals): (u32, *const hsa_signal_t),
    completion: hsa_signal_t,
) -> Outcome {
    argument(completion.handle != 0)?;
    let command = CopyCommand {
        dependencies: call.dependencies(count, signals)?,
        completion: completion.handle,
        ..command
    };
    call.copies()?.copy(&command)?;
    Ok(())
}

/// One side of a box. Engines move words, so the header wants base, pitch and slice in multiples of 4.
fn side(memory: hsa_pitched_ptr_t, offset: hsa_dim3_t, range: hsa_dim3_t) -> Outcome<RectSide> {
    let words = |number: usize| number.is_multiple_of(4);
    argument(
        !memory.base.is_null() && words(memory.base.addr()) && words(memory.pitch) && words(memory.slice),
    )?;
    let rows_overlap = (range.y > 1 || range.z > 1) && (memory.pitch as u64) < u64::from(range.x);
    argument(!rows_overlap)?;
    Ok(RectSide {
        base: address(memory.base),
        pitch: memory.pitch as u64,
        slice: memory.slice as u64,
        offset: [offset.x, offset.y, offset.z],
        reserved: 0,
    })
}
