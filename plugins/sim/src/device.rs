//! One device: what its queues, its kernels and its memory have in common.

use crate::chip::{Chip, SIMDS_PER_CU};
use crate::config::Config;
use crate::exec::{self, CodeCache, Level, Sync, SyncAnswer};
use crate::gws::Gws;
use crate::space::{Range, Space};
use crate::watch::Watcher;
use hansa_plugin_api::HostRef;
use std::sync::Arc;

/// A device.
#[derive(Debug)]
pub(crate) struct Device {
    /// The driver's number of it.
    pub(crate) node: u32,
    /// What it is a model of.
    pub(crate) chip: &'static Chip,
    /// Its compute units.
    pub(crate) compute_units: u32,
    /// What it sees.
    pub(crate) space: Space,
    /// Its global wave sync resources.
    pub(crate) gws: Arc<Gws>,
    /// Code of its kernels, ready to run.
    pub(crate) code: Arc<CodeCache>,
    /// What kernels reach outside of it.
    pub(crate) outside: Arc<Outside>,
    /// What looks at its kernels, if somebody asked.
    pub(crate) watcher: Option<Arc<Watcher>>,
    clock: Arc<dyn exec::Clock>,
}

impl Device {
    /// The devices of a configuration.
    pub(crate) fn all(config: &Config, host: HostRef<'static>) -> Vec<Arc<Self>> {
        let watcher = Watcher::new(host);
        (0..config.devices)
            .map(|node| {
                let gws = Arc::new(Gws::default());
                let outside = Arc::new(Outside {
                    host,
                    gws: Arc::clone(&gws),
                    check_group_memory: config.check_group_memory,
                });
                let target = config.target(node);
                let chip = Chip::of(target);
                let device = Self {
                    node,
                    chip,
                    compute_units: config.compute_units.unwrap_or(chip.compute_units),
                    space: Space::default(),
                    gws,
                    code: Arc::new(CodeCache::new(target, Level::detected())),
                    outside: Arc::clone(&outside),
                    watcher: watcher.clone(),
                    clock: Arc::clone(&outside) as Arc<dyn exec::Clock>,
                };
                if config.hmm {
                    device.space.map(Range::PROCESS);
                }
                Arc::new(device)
            })
            .collect()
    }

    /// Waves that it holds at once.
    pub(crate) fn waves(&self) -> u32 {
        self.compute_units * SIMDS_PER_CU * self.chip.waves_per_simd
    }

    /// The clocks that kernels read.
    pub(crate) fn clock(&self) -> &Arc<dyn exec::Clock> {
        &self.clock
    }

    /// Notes that memory changed other than by kernels, or is gone: code in it is not what it was.
    pub(crate) fn memory_changed(&self, start: u64, bytes: u64) {
        self.code.invalidate(start, bytes);
    }
}

/// The runtime, as kernels reach it.
#[derive(Debug)]
pub(crate) struct Outside {
    host: HostRef<'static>,
    gws: Arc<Gws>,
    check_group_memory: bool,
}

/// Message numbers of `s_sendmsg`, in bits 3:0 of the immediate.
const MESSAGE_INTERRUPT: u16 = 1;
/// Bits of M0 that an interrupt carries.
const INTERRUPT_PAYLOAD: u32 = 0x00ff_ffff;

impl exec::Host for Outside {
    fn message(&self, immediate: u16, m0: u32) {
        if immediate & 0xf == MESSAGE_INTERRUPT {
            // A runtime that does not know the event has nobody waiting for it.
            let _ = self.host.event_raised(m0 & INTERRUPT_PAYLOAD);
        }
    }

    fn sync(&self, sync: &Sync) -> SyncAnswer {
        self.gws.use_resource(sync)
    }

    fn checks_group_memory(&self) -> bool {
        self.check_group_memory
    }
}

impl exec::Clock for Outside {
    fn shader(&self) -> u64 {
        self.real()
    }

    fn real(&self) -> u64 {
        // The clock's method is required and only reads a clock.
        self.host.now().unwrap_or(0)
    }
}
