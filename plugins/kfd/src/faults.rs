//! What devices report by themselves: a thread waits for memory faults and hardware exceptions and tells the
//! runtime.

use crate::error::Result;
use crate::machine::Machine;
use crate::range::pointer;
use crate::uapi::event as uapi;
use crate::uapi::event::{exception, memory_fault, EventData};
use hansa_plugin_api::sync::{Condvar, Mutex};
use hansa_plugin_api::{
    DeviceEvent, DeviceEventKind, EventKind, EventRequest, FaultFlags, HostRef, LogLevel, RStr, ThreadEntry,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Milliseconds of one wait: for ever.
const FOR_EVER: u32 = u32::MAX - 1;

/// The watching thread.
#[derive(Debug)]
pub struct Watch {
    machine: Arc<Machine>,
    host: HostRef<'static>,
    memory: u32,
    hardware: u32,
    wake: u32,
    stopping: AtomicBool,
    running: Arc<Running>,
}

/// Whether the thread runs, and who waits for its end.
#[derive(Debug)]
struct Running {
    is: Mutex<bool>,
    ended: Condvar,
}

impl Watch {
    /// Starts to watch.
    ///
    /// # Errors
    ///
    /// What making the events says.
    pub fn start(machine: &Arc<Machine>, host: HostRef<'static>) -> Result<Arc<Self>> {
        let events = &machine.events;
        let request = |kind, manual_reset| EventRequest {
            kind,
            manual_reset,
            node: 0,
            reserved: 0,
        };
        let memory = events
            .create(machine, &request(EventKind::MEMORY_FAULT, 1))?
            .event;
        let hardware = events.create(machine, &request(EventKind::HARDWARE_EXCEPTION, 1));
        let wake = events.create(machine, &request(EventKind::SIGNAL, 0));
        let (hardware, wake) = match (hardware, wake) {
            (Ok(hardware), Ok(wake)) => (hardware.event, wake.event),
            (hardware, wake) => {
                // The first error is the one to tell.
                let _ = events.destroy(machine, memory);
                for made in [&hardware, &wake].into_iter().flatten() {
                    let _ = events.destroy(machine, made.event);
                }
                return Err(hardware.and(wake).err().unwrap_or(crate::error::Error::NotOpen));
            }
        };
        let watch = Arc::new(Self {
            machine: Arc::clone(machine),
            host,
            memory,
            hardware,
            wake,
            stopping: AtomicBool::new(false),
            running: Arc::new(Running {
                is: Mutex::new(true),
                ended: Condvar::new(),
            }),
        });
        let argument = Arc::into_raw(Arc::clone(&watch)).expose_provenance() as u64;
        let entry = ThreadEntry { run, argument };
        if host.spawn(RStr::from_str("hansa-kfd"), entry).is_err() {
            // SAFETY: the thread was not started, so the reference it would have had is still ours.
            drop(unsafe { Arc::from_raw(pointer(argument).cast_const().cast::<Self>()) });
            *watch.running.is.lock() = false;
            watch.log("Faults are not reported: no thread for them");
        }
        Ok(watch)
    }

    /// Ends the thread and waits for its end.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        let mut running = self.running.is.lock();
        while *running {
            // An event that cannot be raised ends the wait when it is destroyed.
            if self.machine.events.set(&self.machine, self.wake).is_err() {
                let _ = self.machine.events.destroy(&self.machine, self.wake);
            }
            self.running
                .ended
                .wait_for(&mut running, std::time::Duration::from_millis(100));
        }
    }

    fn log(&self, text: &str) {
        // A log that fails has nowhere to say so.
        let _ = self.host.log(LogLevel::WARNING, RStr::from_str(text));
    }

    fn watch(&self) {
        let of = |event_id| EventData {
            event_id,
            ..EventData::default()
        };
        while !self.stopping.load(Ordering::Acquire) {
            let mut events = [of(self.memory), of(self.hardware), of(self.wake)];
            if let Err(error) = self.machine.kfd.wait_events(&mut events, false, FOR_EVER) {
                if !self.stopping.load(Ordering::Acquire) {
                    self.log(&format!("Faults are not reported any more: {error}"));
                }
                return;
            }
            let reports = [self.memory_fault(&events[0]), self.exception(&events[1])];
            for report in reports.into_iter().flatten() {
                // The runtime is on its way out when it takes no more reports.
                let _ = self.host.device_event(&report);
            }
            for event in [self.memory, self.hardware] {
                // One that cannot be lowered would be reported for ever.
                if let Err(error) = self.machine.kfd.reset_event(event) {
                    self.log(&format!("Faults are not reported any more: {error}"));
                    return;
                }
            }
        }
    }

    fn memory_fault(&self, data: &EventData) -> Option<DeviceEvent> {
        let p = &data.payload;
        let node = self.machine.node_of(p[memory_fault::GPU_ID])?;
        let address =
            u64::from(p[memory_fault::ADDRESS_LOW]) | u64::from(p[memory_fault::ADDRESS_HIGH]) << 32;
        let mut flags = FaultFlags::empty();
        for (word, flag) in [
            (memory_fault::NOT_PRESENT, FaultFlags::PAGE_NOT_PRESENT),
            (memory_fault::READ_ONLY, FaultFlags::READ_ONLY),
            (memory_fault::NO_EXECUTE, FaultFlags::NO_EXECUTE),
            (memory_fault::IMPRECISE, FaultFlags::IMPRECISE),
        ] {
            flags.set(flag, p[word] != 0);
        }
        let kind = p[memory_fault::ERROR_KIND];
        flags.set(FaultFlags::SRAM_ECC, kind == 1);
        flags.set(FaultFlags::DRAM_ECC, kind == 2);
        flags.set(FaultFlags::HANG, kind == 3);
        Some(DeviceEvent {
            kind: if matches!(kind, 1 | 2) {
                DeviceEventKind::MEMORY_ERROR
            } else {
                DeviceEventKind::MEMORY_FAULT
            },
            node,
            queue: 0,
            address,
            flags,
            reserved: 0,
            message: format!(
                "Memory fault of GPU node {} at {address:#x} ({flags:?})",
                self.machine.gpus[node as usize].candidate.node
            )
            .into(),
        })
    }

    fn exception(&self, data: &EventData) -> Option<DeviceEvent> {
        let p = &data.payload;
        let node = self.machine.node_of(p[exception::GPU_ID])?;
        let lost = p[exception::MEMORY_LOST] != 0;
        let cause = if p[exception::RESET_CAUSE] == 0 {
            "a hang"
        } else {
            "a memory error"
        };
        let what = if p[exception::RESET_KIND] == 0 {
            "the GPU"
        } else {
            "one engine"
        };
        Some(DeviceEvent {
            kind: if lost {
                DeviceEventKind::LOST
            } else {
                DeviceEventKind::HARDWARE_EXCEPTION
            },
            node,
            queue: 0,
            address: 0,
            flags: FaultFlags::HANG,
            reserved: 0,
            message: format!(
                "GPU node {}: {what} was reset after {cause}{}",
                self.machine.gpus[node as usize].candidate.node,
                if lost { "; its memory is lost" } else { "" }
            )
            .into(),
        })
    }
}

extern "C" fn run(argument: u64) {
    // SAFETY: `start` gave this thread a reference of its own.
    let watch = unsafe { Arc::from_raw(pointer(argument).cast_const().cast::<Watch>()) };
    // A panic must not leave the thread; nothing is half done that `stop` looks at.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| watch.watch()));
    let running = Arc::clone(&watch.running);
    // Before the end is told, so that nothing of the machine is left then.
    drop(watch);
    *running.is.lock() = false;
    running.ended.notify_all();
}

/// That both kinds are of one payload.
const _: () = assert!(memory_fault::ERROR_KIND < 8 && exception::GPU_ID < 8 && uapi::signal::AGE_HIGH < 8);
