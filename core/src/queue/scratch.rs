//! Scratch: private memory of waves, given to a queue when a dispatch needs it.
//!
//! The packet processor stops at a dispatch whose private segment does not fit what the descriptor offers, and
//! says so through the inactive signal. The runtime allocates, fills in the descriptor and stores 0 to the signal.

use super::scratch_events::{report, ScratchEvent};
use super::{DeviceQueue, Queue, PACKET_BYTES};
use crate::agent::DeviceRef;
use crate::error::{Error, Result};
use crate::log::{self, Topic};
use crate::queue::Descriptor;
use crate::runtime::Runtime;
use crate::words::halves;
use hansa_plugin_api as api;
use std::sync::atomic::Ordering;

/// Lanes of a wave that scratch is laid out for.
const LANES: u64 = 64;
/// Waves of a compute unit that have scratch at once.
const WAVES_PER_CU: u64 = 32;
/// Largest value of `COMPUTE_TMPRING_SIZE.WAVES` (12 bits).
const MAX_WAVES: u64 = 0xfff;
/// Most bytes of scratch of one queue; the addresses are reserved, pages come with use.
const MOST: u64 = 4 << 30;
/// The part of the device's memory that one queue takes at most, so that there is enough for the other queues and for
/// data: HIP has up to four queues of each priority.
const PART_OF_MEMORY: u64 = 16;

/// How a generation lays scratch out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Granule of a wave's scratch (`COMPUTE_TMPRING_SIZE.WAVESIZE` counts these).
    wave_granule: u64,
    /// Largest value of `WAVESIZE`.
    most_granules: u64,
    /// `WAVES` counts those of one shader engine.
    waves_per_engine: bool,
    /// Dword 1 of a buffer descriptor: swizzling on.
    swizzle: u32,
    /// Dword 3 of a buffer descriptor.
    format: u32,
}

/// 32-bit data, element 4 bytes, index stride 64, add the lane's number.
const GFX9: Layout = Layout {
    wave_granule: 1024,
    most_granules: 0x1fff,
    waves_per_engine: false,
    swizzle: 1 << 31,
    format: (4 << 15) | (1 << 19) | (3 << 21) | (1 << 23) | 0x0002_4fac,
};
/// The channels in order, 32-bit unsigned data, add the lane's number, checked by structure.
const CHANNELS: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 20 << 12 | 1 << 23 | 2 << 28;
const GFX10: Layout = Layout {
    // Resource level 1.
    format: CHANNELS | 1 << 24,
    ..GFX9
};
const GFX11: Layout = Layout {
    wave_granule: 256,
    most_granules: 0x7fff,
    waves_per_engine: true,
    swizzle: 1 << 30,
    format: CHANNELS,
};

fn layout(agent: &crate::agent::Agent) -> Layout {
    match agent.isas.first().map_or(9, |isa| isa.processor().version[0]) {
        ..=9 => GFX9,
        10 => GFX10,
        _ => GFX11,
    }
}

/// Allocates scratch for `bytes` of private memory per work-item and writes it into the descriptor. Where there is not
/// enough memory for as many waves as the device runs, fewer run at once. Tools hear of it, and of the dispatch it is for.
pub(super) fn provide(
    runtime: &Runtime,
    place: DeviceRef,
    descriptor: &Descriptor,
    bytes: u32,
    least_waves: u64,
    dispatch: u64,
) -> Result<api::Allocation> {
    let queue = descriptor.handle();
    report(ScratchEvent::AllocStart { queue, dispatch });
    let given = allocate(runtime, place, descriptor, bytes, least_waves);
    let (bytes, waves) = given
        .as_ref()
        .map_or((0, 0), |(scratch, waves)| (scratch.bytes, *waves));
    report(ScratchEvent::AllocEnd {
        queue,
        dispatch,
        bytes,
        waves,
    });
    given.map(|(scratch, _)| scratch)
}

/// Gives the scratch of a queue back.
pub(super) fn release(runtime: &Runtime, driver: usize, queue: u64, scratch: api::Allocation) {
    report(ScratchEvent::FreeStart { queue });
    // As for every `free`: a driver that cannot has lost its device.
    let _ = runtime.drivers[driver].object.free(scratch.handle);
    report(ScratchEvent::FreeEnd { queue });
}

/// The scratch, and the waves that can use it at once.
fn allocate(
    runtime: &Runtime,
    place: DeviceRef,
    descriptor: &Descriptor,
    bytes: u32,
    least_waves: u64,
) -> Result<(api::Allocation, u64)> {
    let agent = runtime
        .agents
        .iter()
        .find(|agent| agent.device().is_some_and(|device| device.reference == place))
        .ok_or(Error::InvalidAgent)?;
    let layout = layout(agent);
    let engines = agent
        .device()
        .map_or(1, |device| u64::from(device.description.shader_engines))
        .max(1);
    let wave_bytes = (u64::from(bytes) * LANES).next_multiple_of(layout.wave_granule);
    if wave_bytes / layout.wave_granule > layout.most_granules {
        return Err(Error::OutOfResources("private memory of a wave"));
    }
    // The waves are dealt out to the engines in equal parts.
    let parts = |waves: u64| waves.next_multiple_of(engines);
    let most_waves = if layout.waves_per_engine {
        MAX_WAVES * engines
    } else {
        MAX_WAVES / engines * engines
    };
    let limit = &runtime.config.settings.runtime.scratch_mem_mb;
    let most = if limit.is_set() {
        (u64::from(limit.value.0) << 20).max(wave_bytes)
    } else {
        let memory: u64 = agent.device().map_or(0, |device| {
            device.description.banks.iter().map(|bank| bank.bytes).sum()
        });
        (memory / PART_OF_MEMORY).min(MOST)
    };
    let compute_units = u64::from(descriptor.max_cu_id.load(Ordering::Relaxed)) + 1;
    let least = parts(least_waves.max(1));
    let mut waves = parts(compute_units * WAVES_PER_CU)
        .min(most_waves)
        .min(most / wave_bytes / engines * engines)
        .max(least);
    let scratch = loop {
        let request = api::ScratchRequest {
            node: place.node,
            reserved: 0,
            bytes: wave_bytes * waves,
        };
        match runtime.drivers[place.driver].object.allocate_scratch(&request) {
            Ok(scratch) => break scratch,
            Err(error) if error.code == api::ErrorCode::OUT_OF_RESOURCES && waves > least => {
                waves = parts(waves / 2).max(least);
            }
            Err(error) => return Err(error.into()),
        }
    };

    let id = descriptor.id.load(Ordering::Relaxed);
    log::line(
        Topic::Queue,
        format_args!("queue {id}: {waves} waves with {wave_bytes} bytes of scratch"),
    );
    let word = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let [low, high] = halves(scratch.device_address);
    let words = [
        low,
        (high & 0xffff) | layout.swizzle,
        word(scratch.bytes),
        layout.format,
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
        .store(word(wave_bytes / LANES), Ordering::Relaxed);
    let counted = if layout.waves_per_engine {
        waves / engines
    } else {
        waves
    };
    let tmpring = word(counted) | (word(wave_bytes / layout.wave_granule) << 12);
    descriptor.tmpring_size.store(tmpring, Ordering::Release);
    Ok((scratch, waves))
}

/// What the packet processor stopped at.
struct Wanted {
    /// The dispatch.
    index: u64,
    /// Private bytes per work-item.
    bytes: u32,
    /// Waves per group.
    waves: u64,
}

fn wanted(descriptor: &Descriptor) -> Option<Wanted> {
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
            return Some(Wanted {
                index,
                bytes: words[6],
                waves: (x.max(1) * y.max(1) * z.max(1)).div_ceil(LANES),
            });
        }
    }
    None
}

/// Gives a queue the scratch that it waits for.
pub(super) fn serve(runtime: &Runtime, queue: &Queue, device: &DeviceQueue) -> Result<()> {
    let wanted = wanted(queue.descriptor).ok_or(Error::Failed("no dispatch needs scratch"))?;
    let place = DeviceRef {
        driver: device.driver,
        node: device.node,
    };
    let mut held = device.scratch.lock();
    let new = provide(
        runtime,
        place,
        queue.descriptor,
        wanted.bytes,
        wanted.waves,
        wanted.index,
    )?;
    let old = held.replace(new);
    drop(held);
    if let Some(old) = old {
        release(runtime, device.driver, queue.descriptor.handle(), old);
    }
    Ok(())
}
