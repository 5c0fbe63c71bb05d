//! Instruction caches of devices after code was written.
//!
//! No fence of an AQL packet reaches the instruction caches. AMD's packet processor drops them on the packet ACQUIRE_MEM
//! of its own language (PM4; Linux: `drivers/gpu/drm/amd/amdgpu/soc15d.h`, `nvd.h`), which a vendor packet of an AQL
//! queue can point to. Each device gets one small queue for that when code is first written.

use super::Queue;
use crate::error::{Error, Result};
use crate::memory::host::page_bytes;
use crate::memory::shown::ShownPages;
use crate::runtime::Runtime;
use crate::words::halves;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Packets of the queue.
const PACKETS: u32 = 64;

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
        let queue = Queue::create_own(runtime, agent, PACKETS).inspect_err(|_| {
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
        let buffer = halves(self.buffer.address as u64);
        let mut packet = [0; 16];
        packet[..6].copy_from_slice(&[
            AQL_INDIRECT,
            INDIRECT_BUFFER,
            buffer[0],
            buffer[1],
            self.words | VALID,
            WORDS_LEFT,
        ]);
        self.queue
            .run_own(&mut [packet], || false)
            .map_err(|_| Error::Failed("the device stopped before it dropped its instruction caches"))
    }
}

impl Runtime {
    /// Tells a device that code was written to its memory, whoever drives it. Software devices see it by themselves.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] and what the driver says of the queue for it.
    pub(crate) fn code_written(self: &Arc<Self>, agent: usize) -> Result<()> {
        let is_software = self.agents[agent].can(api::AgentCaps::SOFTWARE);
        if is_software || self.device_with(agent, api::DriverGroups::QUEUES).is_none() {
            return Ok(());
        }
        self.code_caches.agent(self, agent)?.invalidate()
    }
}
