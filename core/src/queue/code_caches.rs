//! Instruction caches of devices after code was written.
//!
//! No fence of an AQL packet reaches the instruction caches. AMD's packet processor drops them on the packet ACQUIRE_MEM
//! of its own language (PM4; Linux: `drivers/gpu/drm/amd/amdgpu/soc15d.h`, `nvd.h`), which a vendor packet of an AQL
//! queue can point to. Each device gets one small queue for that when code is first written.

use super::{Queue, QueueOptions, QueueType};
use crate::error::{Error, Result};
use crate::memory::host::page_bytes;
use crate::memory::shown::ShownPages;
use crate::runtime::Runtime;
use crate::signal::block::flag;
use crate::signal::{pool, wait, Condition};
use crate::words::halves;
use hansa_plugin_api as api;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Packets of the queue.
const PACKETS: u32 = 64;
/// Nanoseconds of one look at a queue that should be done.
const LOOK: u64 = 100_000_000;

/// Dword 0 of an AQL packet: vendor's, with the barrier bit, pointing to an indirect buffer.
const AQL_INDIRECT: u32 = 1 << 8 | 1 << 16;
/// PM4: INDIRECT_BUFFER of three more words.
const INDIRECT_BUFFER: u32 = 0xc002_3f00;
/// Bit of its last word: there is a buffer.
const VALID: u32 = 1 << 23;
/// Words of the packet that follow the indirect buffer.
const WORDS_LEFT: u32 = 10;

/// ACQUIRE_MEM of gfx9: scalar and instruction caches, vector caches written back, everywhere.
const GFX9: [u32; 7] = [0xc005_5800, 0x2884_0000, u32::MAX, 0xff, 0, 0, 4];
/// From gfx10 on, with the actions in the last word: drop instruction, scalar and vector caches.
const GFX10: [u32; 8] = [
    0xc006_5800,
    0,
    u32::MAX,
    0xff_ffff,
    0,
    0,
    4,
    1 | 1 << 7 | 1 << 8 | 1 << 9,
];

/// The queues, by agent.
#[derive(Debug, Default)]
pub struct CodeCaches {
    by_agent: Mutex<HashMap<usize, Arc<Agent>>>,
}

#[derive(Debug)]
struct Agent {
    queue: Arc<Queue>,
    /// Where the packet processor reads its own language.
    buffer: ShownPages,
    words: u32,
    /// One at a time.
    using: Mutex<()>,
}

impl CodeCaches {
    /// Takes the queues down.
    pub(crate) fn stop(&self, runtime: &Runtime) {
        for (_, agent) in self.by_agent.lock().drain() {
            agent.queue.destroy(runtime);
            // SAFETY: the queue that read it is gone.
            unsafe { agent.buffer.take_back(runtime) };
        }
    }

    fn agent(&self, runtime: &Arc<Runtime>, agent: usize) -> Result<Arc<Agent>> {
        let mut by_agent = self.by_agent.lock();
        if let Some(known) = by_agent.get(&agent) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(Agent::create(runtime, agent)?);
        by_agent.insert(agent, Arc::clone(&made));
        Ok(made)
    }
}

impl Agent {
    fn create(runtime: &Arc<Runtime>, agent: usize) -> Result<Self> {
        let of = &runtime.agents[agent];
        let newer = of
            .isas
            .first()
            .is_some_and(|isa| isa.processor().version[0] >= 10);
        let words: &[u32] = if newer { &GFX10 } else { &GFX9 };
        let driver = of.device().ok_or(Error::InvalidAgent)?.reference.driver;
        let buffer = ShownPages::new(runtime, driver, page_bytes())?;
        // SAFETY: the page was just made and is this function's.
        unsafe {
            std::ptr::copy_nonoverlapping(
                words.as_ptr(),
                std::ptr::with_exposed_provenance_mut(buffer.address),
                words.len(),
            );
        }
        let queue = Queue::create_hidden(
            runtime,
            &QueueOptions {
                agent,
                packets: PACKETS,
                queue_type: QueueType::Multi,
                callback: None,
                private_bytes: u32::MAX,
                priority: api::QueuePriority::NORMAL,
            },
        );
        let queue = queue.inspect_err(|_| {
            // SAFETY: no queue reads it.
            unsafe { buffer.take_back(runtime) };
        })?;
        Ok(Self {
            queue,
            buffer,
            words: u32::try_from(words.len()).unwrap_or(0),
            using: Mutex::new(()),
        })
    }

    fn invalidate(&self) -> Result<()> {
        let _using = self.using.lock();
        let descriptor = self.queue.descriptor;
        let done = pool::create(1, flag::SLEEPS)?;
        let index = descriptor.write_index.load(Ordering::Relaxed);
        let slot = index % u64::from(descriptor.size.load(Ordering::Relaxed)) * super::PACKET_BYTES as u64;
        let at = descriptor.base_address.load(Ordering::Relaxed) + slot;
        let word = |i: u64| {
            let address = usize::try_from(at + i * 4).unwrap_or(0);
            // SAFETY: a word of a packet of the queue's ring, which lives as long as the queue.
            unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address)) }
        };
        let buffer = halves(self.buffer.address as u64);
        let handle = halves(done.handle());
        let words = [
            (1, INDIRECT_BUFFER),
            (2, buffer[0]),
            (3, buffer[1]),
            (4, self.words | VALID),
            (5, WORDS_LEFT),
            (14, handle[0]),
            (15, handle[1]),
        ];
        for i in 6..14 {
            word(i).store(0, Ordering::Relaxed);
        }
        for (i, value) in words {
            word(i).store(value, Ordering::Relaxed);
        }
        word(0).store(AQL_INDIRECT, Ordering::Release);
        descriptor.write_index.store(index + 1, Ordering::Release);
        if let Some(device) = self.queue.device() {
            device.nudge(descriptor);
        }
        while wait::wait(done, Condition::Eq, 0, LOOK) != 0 {
            if self.queue.is_inactive() {
                // The device may still write to the signal: it is not used again.
                return Err(Error::Failed(
                    "the device stopped before it dropped its instruction caches",
                ));
            }
        }
        pool::retire(done);
        Ok(())
    }
}

impl Runtime {
    /// Tells a device that code was written to its memory. Software devices see it by themselves.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] and what the driver says of the queue for it.
    pub(crate) fn code_written(self: &Arc<Self>, agent: usize) -> Result<()> {
        let groups = api::DriverGroups::QUEUES | api::DriverGroups::DMA_ENGINES;
        if self.device_with(agent, groups).is_none() {
            return Ok(());
        }
        self.code_caches.agent(self, agent)?.invalidate()
    }
}
