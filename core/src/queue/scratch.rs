//! Scratch: private memory of waves, given to a queue when a dispatch needs it.
//!
//! The packet processor stops at a dispatch whose private segment does not fit what the descriptor offers, and
//! says so through the inactive signal. The runtime allocates, fills in the descriptor and stores 0 to the signal.

use super::descriptor::{property, CAN_RECLAIM};
use super::reclaim;
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

/// Scratch that a queue has.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) memory: api::Allocation,
    /// For one dispatch, which returns it.
    pub(super) once: bool,
}

/// How much is needed, and for whom.
#[derive(Clone, Copy, Debug)]
struct Order {
    /// Private bytes per work-item.
    bytes: u32,
    /// Fewest waves at once: those of a group.
    least_waves: u64,
    /// All waves of the dispatch.
    all_waves: u64,
    /// The dispatch.
    dispatch: u64,
}

/// What an agent makes of an [`Order`].
#[derive(Clone, Copy, Debug)]
struct Plan {
    layout: Layout,
    engines: u64,
    wave_bytes: u64,
    /// Fewest waves, in equal parts for the engines.
    least: u64,
    /// Waves that are to run at once.
    waves: u64,
    /// For one dispatch.
    once: bool,
}

/// Allocates scratch that a new queue keeps, for `bytes` of private memory per work-item.
pub(super) fn prepare(
    runtime: &Runtime,
    place: DeviceRef,
    descriptor: &Descriptor,
    bytes: u32,
) -> Result<Scratch> {
    let order = Order {
        bytes,
        least_waves: 0,
        all_waves: u64::MAX,
        dispatch: 0,
    };
    provide(runtime, place, descriptor, order)
}

/// Allocates scratch and writes it into the descriptor. Where there is not enough memory for as many waves as the device
/// runs, fewer run at once. Tools hear of it, and of the dispatch it is for.
fn provide(runtime: &Runtime, place: DeviceRef, descriptor: &Descriptor, order: Order) -> Result<Scratch> {
    let plan = plan(runtime, place, descriptor, order)?;
    let (queue, dispatch, once) = (descriptor.handle(), order.dispatch, plan.once);
    report(ScratchEvent::AllocStart {
        queue,
        dispatch,
        once,
    });
    let given = allocate(runtime, place, descriptor, plan);
    let (bytes, waves) = given
        .as_ref()
        .map_or((0, 0), |(scratch, waves)| (scratch.bytes, *waves));
    report(ScratchEvent::AllocEnd {
        queue,
        dispatch,
        bytes,
        waves,
        once,
    });
    given.map(|(memory, _)| Scratch { memory, once })
}

/// Gives the scratch of a queue back.
pub(super) fn release(runtime: &Runtime, driver: usize, queue: u64, scratch: Scratch) {
    let once = scratch.once;
    report(ScratchEvent::FreeStart { queue, once });
    // As for every `free`: a driver that cannot has lost its device.
    let _ = runtime.drivers[driver].object.free(scratch.memory.handle);
    report(ScratchEvent::FreeEnd { queue, once });
}

/// Takes scratch out of a descriptor: the next dispatch that needs some asks for it.
pub(super) fn withdraw(descriptor: &Descriptor) {
    descriptor.tmpring_size.store(0, Ordering::Release);
    descriptor.scratch_lane_bytes.store(0, Ordering::Relaxed);
    descriptor.scratch_location.store(0, Ordering::Relaxed);
    descriptor.scratch_bytes.store(0, Ordering::Relaxed);
    descriptor
        .properties
        .fetch_and(!property::USE_SCRATCH_ONCE, Ordering::Release);
}

fn plan(runtime: &Runtime, place: DeviceRef, descriptor: &Descriptor, order: Order) -> Result<Plan> {
    let agent = runtime
        .agents
        .iter()
        .find(|agent| agent.device().is_some_and(|device| device.reference == place))
        .ok_or(Error::InvalidAgent)?;
    let Order {
        bytes,
        least_waves,
        all_waves,
        ..
    } = order;
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
    // More than a queue may keep: as much as the dispatch can use, for as long as it runs.
    let once = all_waves != u64::MAX && reclaim::keeps_less(runtime, agent, wave_bytes * waves);
    if once {
        waves = waves.min(parts(all_waves)).max(least);
    }
    Ok(Plan {
        layout,
        engines,
        wave_bytes,
        least,
        waves,
        once,
    })
}

/// The scratch, and the waves that can use it at once.
fn allocate(
    runtime: &Runtime,
    place: DeviceRef,
    descriptor: &Descriptor,
    plan: Plan,
) -> Result<(api::Allocation, u64)> {
    let Plan {
        layout,
        engines,
        wave_bytes,
        least,
        mut waves,
        once,
    } = plan;
    let fewer = !runtime.config.settings.hsa.no_scratch_thread_limiter.value;
    let scratch = loop {
        let request = api::ScratchRequest {
            node: place.node,
            reserved: 0,
            bytes: wave_bytes * waves,
        };
        match runtime.drivers[place.driver].object.allocate_scratch(&request) {
            Ok(scratch) => break scratch,
            Err(error) if error.code == api::ErrorCode::OUT_OF_RESOURCES && fewer && waves > least => {
                waves = (waves / 2).next_multiple_of(engines).max(least);
            }
            Err(error) => return Err(error.into()),
        }
    };

    let id = descriptor.id.load(Ordering::Relaxed);
    log::line(
        Topic::Queue,
        format_args!(
            "queue {id}: {waves} waves with {wave_bytes} bytes of scratch{}",
            if once { ", for one dispatch" } else { "" }
        ),
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
    if descriptor.caps.load(Ordering::Relaxed) & CAN_RECLAIM != 0 {
        descriptor
            .scratch_max_use_index
            .store(u64::MAX, Ordering::Relaxed);
    }
    let set = if once { property::USE_SCRATCH_ONCE } else { 0 };
    let kept = |properties| Some(properties & !property::USE_SCRATCH_ONCE | set);
    // The function always answers a value.
    let _ = descriptor
        .properties
        .fetch_update(Ordering::Release, Ordering::Relaxed, kept);
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
    /// Waves of all groups.
    all_waves: u64,
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
            let waves = (x.max(1) * y.max(1) * z.max(1)).div_ceil(LANES);
            let groups = [(words[3], x), (words[4], y), (words[5], z)]
                .map(|(grid, group)| u64::from(grid).div_ceil(group.max(1)).max(1));
            let groups = groups.iter().fold(1, |all: u64, &one| all.saturating_mul(one));
            return Some(Wanted {
                index,
                bytes: words[6],
                waves,
                // More than any device runs at once is as good as that.
                all_waves: groups.saturating_mul(waves).min(u64::from(u32::MAX)),
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
    let order = Order {
        bytes: wanted.bytes,
        least_waves: wanted.waves,
        all_waves: wanted.all_waves,
        dispatch: wanted.index,
    };
    let new = provide(runtime, place, queue.descriptor, order)?;
    let old = held.replace(new);
    drop(held);
    if let Some(old) = old {
        release(runtime, device.driver, queue.descriptor.handle(), old);
    }
    Ok(())
}

/// Takes the scratch back that a dispatch had for itself.
pub(super) fn returned(runtime: &Runtime, queue: &Queue, device: &DeviceQueue) {
    let mut held = device.scratch.lock();
    let Some(scratch) = held.take_if(|scratch| scratch.once) else {
        return;
    };
    withdraw(queue.descriptor);
    drop(held);
    release(runtime, device.driver, queue.descriptor.handle(), scratch);
}
