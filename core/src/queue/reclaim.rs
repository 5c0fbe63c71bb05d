//! How much scratch a queue keeps, and taking back what is more.
//!
//! A dispatch that needs more than its queue may keep has scratch of its own, which goes back when it is over (AMD's
//! packet processor calls that "use once"). Where the driver can, a limit that becomes lower also takes scratch from queues
//! that have more: each is stopped for a moment, loses it, and goes on; its memory is free when the dispatches that use it
//! are over.

use super::scratch_events::{report, ScratchEvent};
use super::{scratch, DeviceQueue, Queue};
use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use hansa_plugin_api::{AgentCaps, Attribute};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What AMD's runtime lets queues keep for each part (XCC) of a device.
const MOST_OF_A_PART: u64 = 3 << 30;
/// How long to sleep before looking again whether the dispatches are over that use what was taken.
const PAUSE: Duration = Duration::from_micros(200);

/// Whether scratch is taken from running queues of an agent.
pub(super) fn is_taken(runtime: &Runtime, agent: &Agent) -> bool {
    agent.can(AgentCaps::SCRATCH_RECLAIM) && runtime.config.settings.hsa.enable_scratch_async_reclaim.value
}

/// The highest limit that an agent's queues can have, in bytes; 0 for an agent that runs no kernels.
#[must_use]
pub fn most(runtime: &Runtime, agent: &Agent) -> u64 {
    let settings = &runtime.config.settings.hsa;
    let Some(device) = agent.device().filter(|_| agent.is_gpu()) else {
        return 0;
    };
    if !is_taken(runtime, agent) {
        return settings.scratch_single_limit.value.0;
    }
    match settings.scratch_single_limit_async.value.0 {
        0 => {
            MOST_OF_A_PART
                * device
                    .description
                    .attribute(Attribute::XCC_COUNT)
                    .unwrap_or(1)
                    .max(1)
        }
        bytes => bytes,
    }
}

/// The limit that an agent's queues have.
#[must_use]
pub fn limit(runtime: &Runtime, agent: &Agent) -> u64 {
    let chosen = runtime
        .agents
        .iter()
        .position(|known| std::ptr::eq(known, agent))
        .and_then(|index| runtime.scratch_limits.lock().get(&index).copied());
    chosen.unwrap_or_else(|| most(runtime, agent))
}

/// Whether a queue of the agent may not keep so many bytes.
pub(super) fn keeps_less(runtime: &Runtime, agent: &Agent, bytes: u64) -> bool {
    !runtime.config.settings.hsa.no_scratch_reclaim.value && bytes > limit(runtime, agent)
}

/// Sets the limit of an agent's queues, and takes what they have beyond it.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for more than [`most`], and where nothing can be taken from queues that run.
pub fn set_limit(runtime: &Runtime, index: usize, bytes: u64) -> Result<()> {
    let agent = &runtime.agents[index];
    if !is_taken(runtime, agent) {
        return Err(Error::InvalidArgument(
            "the agent does not take scratch back from running queues",
        ));
    }
    if bytes > most(runtime, agent) {
        return Err(Error::InvalidArgument("more scratch than SCRATCH_LIMIT_MAX"));
    }
    runtime.scratch_limits.lock().insert(index, bytes);
    if runtime.config.settings.hsa.no_scratch_reclaim.value {
        return Ok(());
    }
    let queues: Vec<_> = runtime.queues.lock().values().cloned().collect();
    for queue in queues.iter().filter(|queue| queue.agent == Some(index)) {
        if let Some(device) = queue.device() {
            take(runtime, queue, device, bytes);
        }
    }
    Ok(())
}

/// Takes the scratch of a queue if it is more than `most` bytes. A queue that ends meanwhile gives it back itself.
fn take(runtime: &Runtime, queue: &Queue, device: &DeviceQueue, most: u64) {
    let descriptor = queue.behind();
    let handle = descriptor.handle();
    let alive = device.alive.lock();
    if !*alive || queue.is_inactive() {
        return;
    }
    let mut held = device.scratch.lock();
    let Some(address) = held
        .as_ref()
        .filter(|scratch| !scratch.once && scratch.memory.bytes > most)
        .map(|scratch| scratch.memory.device_address)
    else {
        return;
    };
    let settings = device.settings.lock();
    if device.update(runtime, settings.priority, 0, &[]).is_err() {
        return;
    }
    report(ScratchEvent::ReclaimStart { queue: handle });
    // No dispatch begins now. Those that have begun are known by the last one's number.
    let last = descriptor
        .scratch_last_used
        .iter()
        .step_by(2)
        .map(|index| index.load(Ordering::Acquire))
        .max()
        .unwrap_or(0);
    let is_idle = || {
        let [read, write] = [&descriptor.read_index, &descriptor.write_index];
        let read = read.load(Ordering::Acquire);
        read > last || read == write.load(Ordering::Acquire)
    };
    let idle = is_idle();
    descriptor.scratch_max_use_index.store(last, Ordering::Relaxed);
    scratch::withdraw(descriptor);
    // A driver that cannot let it go on has lost its device, and says so by an event.
    let _ = device.update(runtime, settings.priority, 100, &[]);
    drop(settings);
    if !idle {
        drop((held, alive));
        while !is_idle() && !queue.is_inactive() {
            std::thread::sleep(PAUSE);
        }
        held = device.scratch.lock();
    }
    // What a dispatch got meanwhile is not taken, nor what the end of the queue gives back.
    let taken = held.take_if(|scratch| scratch.memory.device_address == address && !queue.is_inactive());
    drop(held);
    if let Some(taken) = taken {
        // As for every `free`: a driver that cannot has lost its device.
        let _ = runtime.drivers[device.driver].object.free(taken.memory.handle);
    }
    report(ScratchEvent::ReclaimEnd { queue: handle });
}
