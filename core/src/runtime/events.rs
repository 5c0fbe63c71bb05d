//! System events: what devices report by themselves, and the program's handlers for it
//! (`hsa_amd_register_system_event_handler`).

use super::Runtime;
use crate::agent::DeviceRef;
use crate::error::{Error, Result};
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;

/// `hsa_amd_event_t`: what a handler is shown.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// 0 memory fault, 1 hardware exception, 2 memory error.
    pub event_type: u32,
    reserved: u32,
    /// The agent.
    pub agent: u64,
    /// Memory faults: the address. Others: the reset type and cause.
    pub address: u64,
    /// Memory faults: why, see [`api::FaultFlags`].
    pub reason: u32,
    reserved2: u32,
}

/// The program's function.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// The function: an [`Event`], data. Answers 0 when the event is dealt with.
    pub function: unsafe extern "C" fn(*const libc::c_void, *mut libc::c_void) -> u32,
    /// Its second argument.
    pub data: usize,
}

/// The handlers of a runtime.
#[derive(Debug, Default)]
pub struct SystemEvents {
    handlers: Mutex<Vec<Handler>>,
}

impl SystemEvents {
    /// Sets the handler.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] when there is one already (documented for `hsa_amd_register_system_event_handler`).
    pub fn add(&self, handler: Handler) -> Result<()> {
        let mut handlers = self.handlers.lock();
        if !handlers.is_empty() {
            return Err(Error::Failed("a system event handler is registered already"));
        }
        handlers.push(handler);
        Ok(())
    }

    /// Shows an event to the handlers, last first. Answers whether one dealt with it.
    pub(super) fn report(&self, runtime: &Runtime, driver: usize, event: &api::DeviceEvent) -> bool {
        let place = DeviceRef {
            driver,
            node: event.node,
        };
        let agent = runtime
            .agents
            .iter()
            .position(|a| a.device().is_some_and(|d| d.reference == place));
        let Some(agent) = agent else { return false };
        let shown = Event {
            event_type: match event.kind {
                api::DeviceEventKind::MEMORY_FAULT => 0,
                api::DeviceEventKind::MEMORY_ERROR => 2,
                _ => 1,
            },
            reserved: 0,
            agent: runtime.agent_handle(agent),
            address: event.address,
            reason: event.flags.bits(),
            reserved2: 0,
        };
        let handlers = self.handlers.lock().clone();
        let mut handled = false;
        for handler in handlers.iter().rev() {
            let data = std::ptr::with_exposed_provenance_mut(handler.data);
            // SAFETY: the program gave this function for exactly this call.
            handled |= unsafe { (handler.function)((&raw const shown).cast(), data) } == 0;
        }
        handled
    }
}
