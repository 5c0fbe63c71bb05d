//! The runtime, as a plugin sees it: the host table.

use super::Runtime;
use crate::agent::DeviceRef;
use crate::config::Origin;
use crate::signal::{block::Block, hardware, pool, wait};
use crate::{clock, queue};
use hansa_plugin_api as api;
use hansa_plugin_api::fork::Lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock, Weak};

/// Where a plugin's host finds the runtime once it is built.
#[derive(Debug, Default)]
pub struct RuntimeCell(OnceLock<Weak<Runtime>>);

impl RuntimeCell {
    /// Sets the runtime, once.
    pub(super) fn set(&self, runtime: &Arc<Runtime>) {
        let fresh = self.0.set(Arc::downgrade(runtime));
        debug_assert!(fresh.is_ok(), "every runtime makes a cell of its own");
    }

    /// The runtime, if it is built and not yet gone.
    pub fn get(&self) -> Option<Arc<Runtime>> {
        self.0.get()?.upgrade()
    }
}

/// The host of one plugin.
#[derive(Debug)]
pub struct PluginHost {
    /// The plugin's id.
    pub id: String,
    /// Its part of the configuration.
    pub configuration: String,
    /// Where the keys in it came from.
    pub origins: BTreeMap<String, Origin>,
    /// The quietest messages that are shown.
    pub level: u32,
    /// Whether errors are shown however quiet the rest is.
    pub errors: bool,
    /// The runtime.
    pub runtime: Arc<RuntimeCell>,
}

/// What was said of settings of plugins: each is said once in a process, however often plugins read them.
static SAID: Lock<BTreeSet<String>> = Lock::new(BTreeSet::new());

impl PluginHost {
    /// Shows that a setting could not be used, and where it came from.
    fn warn_of_setting(&self, message: &str) {
        let key = message.split([' ', '=', ':']).next().unwrap_or_default();
        let line = match self.origins.get(key) {
            Some(origin) => format!("hansa: {origin}: {}: {message}", self.id),
            None => format!("hansa: {}: {message}", self.id),
        };
        if SAID.lock().insert(line.clone()) {
            eprintln!("{line}");
        }
    }
}

impl api::Host for PluginHost {
    fn log(&self, level: api::LogLevel, message: api::RStr<'_>) -> api::Result<()> {
        if level == api::LogLevel::SETTING {
            self.warn_of_setting(&message);
            return Ok(());
        }
        if level.0 <= self.level || (self.errors && level.0 <= api::LogLevel::ERROR.0) {
            match self.runtime.get().filter(|_| level.0 <= api::LogLevel::ERROR.0) {
                Some(runtime) => eprintln!("hansa: {}: {}", self.id, runtime.with_kernel_names(&message)),
                None => eprintln!("hansa: {}: {message}", self.id),
            }
        }
        Ok(())
    }

    fn now(&self) -> api::Result<u64> {
        Ok(clock::now())
    }

    fn configuration(&self) -> api::Result<api::RString> {
        Ok(self.configuration.as_str().into())
    }

    fn spawn(&self, name: api::RStr<'_>, entry: api::ThreadEntry) -> api::Result<()> {
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || (entry.run)(entry.argument))
            .map(drop)
            .map_err(|e| api::Error::os(e.raw_os_error().unwrap_or(0), "Cannot start a thread", name))
    }

    fn signal_changed(&self, signal: u64) -> api::Result<()> {
        if let Some(block) = Block::of(signal) {
            wait::changed(block);
        }
        Ok(())
    }

    fn event_raised(&self, event: u32) -> api::Result<()> {
        if hardware::is_shared(event) {
            hardware::wake();
        } else {
            pool::of_event(event).for_each(wait::changed);
        }
        Ok(())
    }

    fn device_event(&self, event: &api::DeviceEvent) -> api::Result<()> {
        let Some(runtime) = self.runtime.get() else {
            return Ok(());
        };
        let Some(driver) = runtime.drivers.iter().position(|d| d.id == self.id) else {
            return Ok(());
        };
        let event = event.clone();
        let later = Arc::downgrade(&runtime);
        // On the handler thread: the program's functions must not run on a thread of a device.
        let reported = runtime.handlers.run(move || {
            if let Some(runtime) = later.upgrade() {
                runtime.system_event(driver, &event);
            }
        });
        reported.map_err(|e| api::Error::new(api::ErrorCode::OUT_OF_RESOURCES, e.to_string()))
    }

    fn worker_threads(&self) -> api::Result<u32> {
        Ok(std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1)))
    }
}

impl Runtime {
    /// Tells the program what a device reported, and ends the queue it happened on. Hardware does not say which one it
    /// was, and runs none of the process any more: then all queues of the device end.
    fn system_event(&self, driver: usize, event: &api::DeviceEvent) {
        let handled = self.events.report(self, driver, event);
        let is_victim = |queue: &queue::Queue| {
            queue.device().is_some_and(|device| {
                device.driver == driver
                    && if event.queue == 0 {
                        device.node == event.node
                    } else {
                        device.queue == event.queue
                    }
            })
        };
        let victims: Vec<_> = self
            .queues
            .lock()
            .values()
            .filter(|queue| is_victim(queue))
            .cloned()
            .collect();
        if !handled && self.config.settings.hsa.enable_vm_fault_message.value {
            let message = self.with_kernel_names(&event.message);
            eprintln!("hansa: {}: {message}", self.drivers[driver].id);
        }
        if event.queue == 0 {
            self.dma.fail(DeviceRef {
                driver,
                node: event.node,
            });
        }
        for victim in victims {
            let status = if event.kind == api::DeviceEventKind::MEMORY_FAULT {
                queue::errors::MEMORY_FAULT
            } else {
                queue::errors::DEVICE_LOST
            };
            if let Some(device) = victim.device() {
                device.fail(victim.descriptor.handle(), status);
            }
        }
    }
}
