//! Scratch: private memory of waves, given to a queue when a dispatch needs it.
//!
//! The packet processor stops at a dispatch whose private segment does not fit what the descriptor offers, and
//! says so through the inactive signal. The runtime allocates, fills in the descriptor and stores 0 to the signal.

use super::{DeviceQueue, Queue, PACKET_BYTES};
use crate::agent::DeviceRef;
use crate::error::{Error, Result};
use crate::queue::Descriptor;
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use std::sync::atomic::Ordering;

/// Lanes of a wave that scratch is laid out for.
const LANES: u64 = 64;
/// Granule of a wave's scratch (`COMPUTE_TMPRING_SIZE.WAVESIZE` counts these).
const WAVE_GRANULE: u64 = 1024;
/// Waves of a compute unit that have scratch at once.
const WAVES_PER_CU: u64 = 32;
/// Largest value of `COMPUTE_TMPRING_SIZE.WAVES` (12 bits).
const MAX_WAVES: u64 = 0xfff;
/// Largest value of `COMPUTE_TMPRING_SIZE.WAVESIZE` (13 bits).
const MAX_WAVE_GRANULES: u64 = 0x1fff;
/// Most bytes of scratch of one queue; the addresses are reserved, pages come with use.
const MOST: u64 = 4 << 30;

/// Dword 1 of a buffer descriptor: swizzling on.
const SWIZZLE: u32 = 1 << 31;
/// Dword 3 of a buffer descriptor on gfx9: 32-bit data, element 4 bytes, index stride 64, add the lane's number.
const GFX9_FORMAT: u32 = (4 << 15) | (1 << 19) | (3 << 21) | (1 << 23) | 0x0002_4fac;

/// Allocates scratch for `bytes` of private memory per work-item and writes it into the descriptor.
pub(super) fn provide(
    runtime: &Runtime,
    place: DeviceRef,
    descriptor: &Descriptor,
    bytes: u32,
    least_waves: u64,
) -> Result<api::Allocation> {
    let wave_bytes = (u64::from(bytes) * LANES).next_multiple_of(WAVE_GRANULE);
    if wave_bytes / WAVE_GRANULE > MAX_WAVE_GRANULES {
        return Err(Error::OutOfResources("private memory of a wave"));
    }
    let compute_units = u64::from(descriptor.max_cu_id.load(Ordering::Relaxed)) + 1;
    let waves = (compute_units * WAVES_PER_CU)
        .min(MAX_WAVES)
        .min(MOST / wave_bytes)
        .max(least_waves.max(1));
    let request = api::ScratchRequest {
        node: place.node,
        reserved: 0,
        bytes: wave_bytes * waves,
    };
    let scratch = runtime.drivers[place.driver].object.allocate_scratch(&request)?;

    let wave_granules = u32::try_from(wave_bytes / WAVE_GRANULE).unwrap_or(0);
    let waves = u32::try_from(waves).unwrap_or(0);
    let (low, high) = halves(scratch.device_address);
    let words = [
        low,
        (high & 0xffff) | SWIZZLE,
        u32::try_from(scratch.bytes).unwrap_or(u32::MAX),
        GFX9_FORMAT,
    ];
    for (field, word) in descriptor.scratch_descriptor.iter().zip(words) {
        field.store(word, Ordering::Relaxed);
    }
    descriptor
        .scratch_location
        .store(scratch.device_address, Ordering::Relaxed);
    descriptor.scratch_bytes.store(scratch.bytes, Ordering::Relaxed);
    descriptor
        .scratch_lane_bytes
        .store(u32::try_from(wave_bytes / LANES).unwrap_or(0), Ordering::Relaxed);
    descriptor
        .tmpring_size
        .store(waves | (wave_granules << 12), Ordering::Release);
    Ok(scratch)
}

const fn halves(value: u64) -> (u32, u32) {
    let bytes = value.to_le_bytes();
    (
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
    )
}

/// Private bytes per work-item of the dispatch that the packet processor stopped at, and its waves per group.
fn wanted(descriptor: &Descriptor) -> Option<(u32, u64)> {
    let size = u64::from(descriptor.size.load(Ordering::Relaxed));
    let ring = descriptor.base_address.load(Ordering::Relaxed);
    let (read, write) = (
        descriptor.read_index.load(Ordering::Acquire),
        descriptor.write_index.load(Ordering::Acquire),
    );
    for index in read..write.min(read + size) {
        let packet = usize::try_from(ring + (index & (size - 1)) * PACKET_BYTES as u64).ok()?;
        // SAFETY: a packet of the queue's ring, which lives as long as the queue.
        let words: [u32; 7] =
            unsafe { std::ptr::with_exposed_provenance::<[u32; 7]>(packet).read_volatile() };
        let kernel_dispatch = words[0] & 0xff == 2;
        if kernel_dispatch && words[6] != 0 {
            let (x, y, z) = (
                u64::from(words[1] & 0xffff),
                u64::from(words[1] >> 16),
                u64::from(words[2] & 0xffff),
            );
            return Some((words[6], (x.max(1) * y.max(1) * z.max(1)).div_ceil(LANES)));
        }
    }
    None
}

/// Gives a queue the scratch that it waits for.
pub(super) fn serve(runtime: &Runtime, queue: &Queue, device: &DeviceQueue) -> Result<()> {
    let (bytes, waves) = wanted(queue.descriptor).ok_or(Error::Failed("no dispatch needs scratch"))?;
    let place = DeviceRef {
        driver: device.driver,
        node: device.node,
    };
    let mut held = device.scratch.lock();
    let new = provide(runtime, place, queue.descriptor, bytes, waves)?;
    if let Some(old) = held.replace(new) {
        let _ = runtime.drivers[device.driver].object.free(old.handle);
    }
    Ok(())
}
