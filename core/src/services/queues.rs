//! Queues and their times.

use super::{gpu, Group};
use crate::agent::DeviceRef;
use crate::clock;
use crate::error::{Error, Result};
use crate::queue::{ErrorCallback, Queue, QueueOptions, QueueType, PACKET_BYTES};
use crate::runtime::Runtime;
use crate::signal;
use hansa_plugin_api as api;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub(super) struct Queues(pub(super) Group);

/// The priority of `hsa_amd_queue_priority_t`.
fn priority(number: u32) -> Result<api::QueuePriority> {
    match number {
        0 => Ok(api::QueuePriority::LOW),
        1 => Ok(api::QueuePriority::NORMAL),
        2 => Ok(api::QueuePriority::HIGH),
        _ => Err(Error::InvalidArgument("a priority is 0, 1 or 2")),
    }
}

fn queue_type(number: u32) -> Result<QueueType> {
    match number {
        0 => Ok(QueueType::Multi),
        1 => Ok(QueueType::Single),
        2 => Ok(QueueType::Cooperative),
        _ => Err(Error::InvalidArgument("a queue's type is 0, 1 or 2")),
    }
}

/// The program's error handler as queues call it.
fn callback(handler: api::ROption<api::QueueErrorHandler>) -> Option<ErrorCallback> {
    handler.into_option().map(|handler| ErrorCallback {
        function: handler.function,
        data: handler.argument.expose_provenance(),
    })
}

/// Whether pairs of clocks are read with care (`hsa_amd_enable_high_precision_timestamps`); for the rest of the process.
static CAREFUL: AtomicBool = AtomicBool::new(false);
/// Pairs that are read then.
const READS: usize = 8;

/// Reads pairs of clocks with care from now on.
pub(super) fn read_with_care() {
    CAREFUL.store(true, Ordering::Relaxed);
}

impl Runtime {
    /// The clocks of a device and of the system at one moment.
    fn counters(&self, device: DeviceRef) -> Result<api::ClockCounters> {
        let read = || self.drivers[device.driver].object.clock_counters(device.node);
        if !CAREFUL.load(Ordering::Relaxed) {
            return Ok(read()?);
        }
        // The shortest one: a read that took long may have been interrupted between the two clocks.
        let mut best = (u64::MAX, read()?);
        for _ in 0..READS {
            let before = clock::now();
            let counters = read()?;
            let took = clock::now() - before;
            if took < best.0 {
                best = (took, counters);
            }
        }
        Ok(best.1)
    }

    /// A tick of a device's clock in ticks of the HSA clock.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub fn convert_tick(&self, agent: usize, tick: u64) -> Result<u64> {
        let device = self.agents[agent].device().ok_or(Error::InvalidAgent)?;
        let now = self.counters(device.reference)?;
        let device_hz = i128::from(device.description.timestamp_hz.max(1));
        let ago = i128::from(now.device) - i128::from(tick);
        let system = i128::from(now.system) - ago * i128::from(now.system_hz) / device_hz;
        Ok(u64::try_from(system).unwrap_or(0))
    }
}

impl api::QueueServices for Queues {
    fn create(&self, agent: u64, description: &api::QueueDescription<'_>) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let agent = runtime.agent_index(agent)?;
        if description.engine != 0 {
            return Err(Error::InvalidQueueCreation("the agent offers no such engine").into());
        }
        let callback = callback(description.error_handler);
        let packets = description.ring_bytes / u32::try_from(PACKET_BYTES).unwrap_or(64);
        let queue = Queue::create(
            &runtime,
            &QueueOptions {
                agent,
                packets: packets.max(1),
                queue_type: queue_type(description.kind)?,
                callback,
                private_bytes: description.private_segment_bytes,
                priority: priority(description.priority)?,
            },
        )?;
        if !description.cu_mask.is_empty() {
            queue.set_cu_mask(&runtime, &description.cu_mask)?;
        }
        Ok(queue.descriptor.handle())
    }

    fn counted_acquire(&self, agent: u64, request: &api::CountedQueueRequest) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let agent = gpu(&runtime, agent)?;
        let callback = callback(request.error_handler);
        Ok(runtime
            .counted
            .acquire(&runtime, agent, priority(request.priority)?, callback)?)
    }

    fn counted_release(&self, queue: u64) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        Ok(runtime.counted.release(&runtime, queue)?)
    }

    fn intercept_create(&self, agent: u64, request: &api::InterceptQueueRequest) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let options = QueueOptions {
            agent: runtime.agent_index(agent)?,
            packets: request.packets,
            queue_type: queue_type(request.kind)?,
            callback: callback(request.error_handler),
            private_bytes: request.private_segment_bytes,
            priority: api::QueuePriority::NORMAL,
        };
        let queue = Queue::create_intercepted(&runtime, &options)?;
        Ok(queue.descriptor.handle())
    }

    fn intercept_register(&self, queue: u64, handler: api::InterceptHandler) -> api::Result<()> {
        Ok(self.0.runtime()?.queue(queue)?.add_handler(handler)?)
    }

    fn on_create(&self, notifier: api::QueueNotifier) -> api::Result<()> {
        Ok(self.0.runtime()?.counted.notify(notifier)?)
    }

    fn set_priority(&self, queue: u64, number: u32) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        Ok(runtime.queue(queue)?.set_priority(&runtime, priority(number)?)?)
    }

    fn set_cu_mask(&self, queue: u64, mask: api::RSlice<'_, u32>) -> api::Result<bool> {
        let runtime = self.0.runtime()?;
        runtime.queue(queue)?.set_cu_mask(&runtime, &mask)?;
        Ok(false)
    }

    fn cu_mask(&self, queue: u64) -> api::Result<api::RVec<u32>> {
        let runtime = self.0.runtime()?;
        let queue = runtime.queue(queue)?;
        let agent = queue.agent.ok_or(Error::InvalidQueue)?;
        let mask = queue.cu_mask();
        if !mask.is_empty() {
            return Ok(mask.into());
        }
        let units = runtime.agents[agent]
            .device()
            .map_or(0, |d| d.description.compute_units);
        let word = |index: u32| match units.saturating_sub(index * 32) {
            0 => 0,
            left if left >= 32 => u32::MAX,
            left => (1 << left) - 1,
        };
        Ok((0..units.div_ceil(32)).map(word).collect())
    }

    fn info(&self, queue: u64, attribute: u32) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let queue = runtime.queue(queue)?;
        let d = queue.descriptor;
        let address =
            |field: &std::sync::atomic::AtomicU64| std::ptr::from_ref(field).expose_provenance() as u64;
        Ok(match attribute {
            0 => runtime.agent_handle(
                queue
                    .agent
                    .ok_or(Error::InvalidArgument("a soft queue has no agent"))?,
            ),
            1 => d.doorbell.load(Ordering::Relaxed),
            2 => u64::from(runtime.counted.users(&queue).unwrap_or(u32::MAX)),
            3 => queue.device().map_or(0, |q| q.queue),
            4..=7 => 0xff,
            10 | 13 => 0,
            15 => address(&d.read_index),
            16 => address(&d.write_index),
            _ => return Err(Error::InvalidArgument("the queue has no such attribute").into()),
        })
    }

    fn set_profiling(&self, queue: u64, enable: bool) -> api::Result<()> {
        self.0.runtime()?.queue(queue)?.set_profiling(enable);
        Ok(())
    }

    fn dispatch_time(&self, agent: u64, signal: u64) -> api::Result<api::TimeSpan> {
        let runtime = self.0.runtime()?;
        let agent = gpu(&runtime, agent)?;
        let block = signal::checked(signal)?;
        let (start, end) = (
            block.start_ts.load(Ordering::Acquire),
            block.end_ts.load(Ordering::Acquire),
        );
        Ok(api::TimeSpan {
            start: runtime.convert_tick(agent, start)?,
            end: runtime.convert_tick(agent, end)?,
        })
    }

    fn convert_tick(&self, agent: u64, tick: u64) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let agent = gpu(&runtime, agent)?;
        Ok(runtime.convert_tick(agent, tick)?)
    }

    fn spm_acquire(&self, agent: u64) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let place = runtime.agents[gpu(&runtime, agent)?]
            .device()
            .ok_or(Error::InvalidAgent)?
            .reference;
        runtime.drivers[place.driver].object.spm_acquire(place.node)
    }

    fn spm_release(&self, agent: u64) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let place = runtime.agents[gpu(&runtime, agent)?]
            .device()
            .ok_or(Error::InvalidAgent)?
            .reference;
        runtime.drivers[place.driver].object.spm_release(place.node)
    }

    fn spm_set_buffer(&self, agent: u64, buffer: api::SpmBuffer) -> api::Result<api::SpmBuffer> {
        let runtime = self.0.runtime()?;
        let place = runtime.agents[gpu(&runtime, agent)?]
            .device()
            .ok_or(Error::InvalidAgent)?
            .reference;
        runtime.drivers[place.driver]
            .object
            .spm_set_buffer(place.node, &buffer)
    }
}
