//! What runs packets behind the queues: one thread per kernel, a state machine per queue, none waits for another.
//!
//! The thread sleeps when there is no queue, and looks at doorbells ever less often while nothing is rung; at packets that
//! wait for memory it looks as often as it does after work.

mod aql;
mod atomic;
mod memory;
mod pm4;
mod ring;
mod sdma;
mod sim;

pub use memory::{Fault, Memory};
pub(crate) use sdma::commands as copy_commands;
pub use sim::SimExecutor;

use crate::debug::{exception, Source};
use crate::kernel::Kernel;
use hansa_kfd::uapi::event::{memory_fault, EVENT_MEMORY};
use hansa_kfd::uapi::queue as uapi;
use hansa_plugin_api::sync::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long the thread looks at doorbells without a pause.
const BUSY: Duration = Duration::from_micros(50);
/// Shortest and longest pause after that.
const PAUSES: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

/// A dispatch that is under way.
pub trait Job: Send + fmt::Debug {
    /// Goes on for a short while.
    fn step(&mut self, memory: &Memory<'_>) -> Outcome;
}

/// How a dispatch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran.
    Done,
    /// It goes on at its next step.
    Later,
    /// It never goes on: waves of it stand still in their trap handlers.
    Stands,
    /// The packet processor stops the queue with this code.
    Stopped(i64),
    /// It touched memory that the device does not see so.
    Fault(Fault),
}

/// A kernel dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// The packet.
    pub packet: &'a [u8; 64],
    /// Where it is.
    pub address: u64,
    /// Its number in its queue.
    pub index: u64,
    /// The queue's descriptor.
    pub queue: u64,
    /// The number of the queue's doorbell.
    pub doorbell: u32,
}

/// A dispatch as registers describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compute {
    /// Address of the code.
    pub code: u64,
    /// RSRC1 to RSRC3.
    pub rsrc: [u32; 3],
    /// Work-items.
    pub grid: [u32; 3],
    /// Work-items of a group.
    pub workgroup: [u16; 3],
    /// Bytes of group memory.
    pub group_bytes: u32,
    /// Where private memory is.
    pub scratch: u64,
    /// How private memory is divided: waves, and units of 1 KiB of each from bit 12 on; 0 without.
    pub tmpring: u32,
    /// What scalar registers begin with.
    pub user_data: [u32; 16],
    /// What the queue's private memory is known by.
    pub queue: u64,
    /// The number of the queue's doorbell.
    pub doorbell: u32,
}

/// Runs kernels.
pub trait Executor: Send + Sync + fmt::Debug {
    /// Begins a kernel dispatch.
    ///
    /// # Errors
    ///
    /// How it ended before it began.
    fn dispatch(&self, memory: &Memory<'_>, dispatch: &Dispatch<'_>) -> Result<Box<dyn Job>, Outcome>;

    /// Begins a dispatch that registers describe.
    ///
    /// # Errors
    ///
    /// How it ended before it began.
    fn compute(&self, memory: &Memory<'_>, compute: &Compute) -> Result<Box<dyn Job>, Outcome>;

    /// A GPU sees a range from now on. Device addresses are host addresses there.
    fn see(&self, gpu: usize, address: u64, bytes: u64, write: bool, execute: bool);

    /// A GPU sees a range no more.
    fn forget(&self, gpu: usize, address: u64, bytes: u64);

    /// Code may have changed anywhere.
    fn invalidate(&self, gpu: usize);
}

/// How a step of a queue went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// There was nothing to do.
    Idle,
    /// A packet waits for memory to change, which no doorbell tells.
    Waits,
    /// Something was done, and there may be more.
    Did,
}

/// A queue as the device has it.
#[derive(Debug)]
enum Running {
    Aql(aql::Queue),
    Pm4(pm4::Queue),
    Sdma(sdma::Queue),
}

#[derive(Debug)]
struct Slot {
    gpu: usize,
    running: Running,
    paused: bool,
    dead: bool,
}

#[derive(Debug, Default)]
struct Shared {
    slots: Mutex<BTreeMap<u32, Arc<Mutex<Slot>>>>,
    changed: Condvar,
}

/// The devices of a kernel.
#[derive(Debug)]
pub struct Device {
    kernel: Weak<Kernel>,
    executor: Option<Arc<dyn Executor>>,
    shared: Arc<Shared>,
    started: Mutex<bool>,
}

impl Device {
    pub(crate) fn new(kernel: Weak<Kernel>, executor: Option<Arc<dyn Executor>>) -> Self {
        Self {
            kernel,
            executor,
            shared: Arc::default(),
            started: Mutex::new(false),
        }
    }

    /// Begins to read a queue.
    pub(crate) fn start(&self, kernel: &Kernel, id: u32, a: &uapi::CreateQueue, gpu: usize, doorbell: u32) {
        let described = &kernel.machine.gpus[gpu];
        let bell = Bell {
            address: kernel.doorbells[gpu].address + u64::from(doorbell) * described.doorbell_bytes(),
            is_old: described.is_old,
            number: doorbell,
        };
        // The first value of a queue is 0, which a fresh page holds too.
        bell.silence();
        let running = match a.queue_type {
            uapi::QUEUE_TYPE_COMPUTE_AQL => Running::Aql(aql::Queue::new(a, bell)),
            uapi::QUEUE_TYPE_COMPUTE => Running::Pm4(pm4::Queue::new(a, bell)),
            _ => Running::Sdma(sdma::Queue::new(a, bell)),
        };
        let slot = Slot {
            gpu,
            running,
            paused: a.queue_percentage == 0,
            dead: false,
        };
        self.shared.slots.lock().insert(id, Arc::new(Mutex::new(slot)));
        self.shared.changed.notify_all();
        let mut started = self.started.lock();
        if !*started {
            let (owner, executor, shared) = (
                self.kernel.clone(),
                self.executor.clone(),
                Arc::clone(&self.shared),
            );
            let thread = std::thread::Builder::new()
                .name("vkernel-device".into())
                .spawn(move || run(&owner, executor.as_deref(), &shared));
            match thread {
                Ok(_) => *started = true,
                Err(error) => kernel.complain(format!("no thread for the device: {error}")),
            }
        }
    }

    /// Reads a queue no more; when this returns no packet of it is in work.
    pub(crate) fn stop(&self, id: u32) {
        let slot = self.shared.slots.lock().remove(&id);
        if let Some(slot) = slot {
            slot.lock().dead = true;
        }
    }

    /// What runs kernels, if anything does.
    pub(crate) fn executor(&self) -> Option<&dyn Executor> {
        self.executor.as_deref()
    }

    /// Lets a queue rest, or go on.
    pub(crate) fn pause(&self, id: u32, paused: bool) {
        let slot = self.shared.slots.lock().get(&id).cloned();
        if let Some(slot) = slot {
            slot.lock().paused = paused;
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.shared.slots.lock().clear();
        self.shared.changed.notify_all();
    }
}

/// A doorbell, at an address of the kernel's own view of the page.
#[derive(Clone, Copy, Debug)]
struct Bell {
    address: u64,
    /// It has 32 bits.
    is_old: bool,
    /// Its place in the page.
    number: u32,
}

impl Bell {
    fn pointer<T>(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(usize::try_from(self.address).unwrap_or(0))
    }

    fn narrow(self) -> &'static AtomicU32 {
        // SAFETY: the view of the doorbell page lives as long as the kernel, and the thread that reads bells holds it.
        unsafe { AtomicU32::from_ptr(self.pointer()) }
    }

    fn wide(self) -> &'static AtomicU64 {
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(self.pointer()) }
    }

    /// What was stored last.
    fn value(self) -> u64 {
        if self.is_old {
            self.narrow().load(Ordering::Acquire).into()
        } else {
            self.wide().load(Ordering::Acquire)
        }
    }

    /// Stores what no program stores.
    fn silence(self) {
        if self.is_old {
            self.narrow().store(u32::MAX, Ordering::Release);
        } else {
            self.wide().store(u64::MAX, Ordering::Release);
        }
    }
}

fn block_signals() {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is filled in before it is used.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    for own in [libc::SIGSEGV, libc::SIGBUS] {
        // A kernel's wild access is noticed by its signal.
        // SAFETY: the set was filled in.
        unsafe { libc::sigdelset(all.as_mut_ptr(), own) };
    }
    // SAFETY: signals are the program's; this thread takes none but those of its own accesses.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut()) };
}

/// Lets the thread's pauses be as short as it says: the system makes them 50 microseconds longer to wake less often.
fn pause_exactly() {
    // SAFETY: changes nothing but the calling thread's own pauses.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

fn run(kernel: &Weak<Kernel>, executor: Option<&dyn Executor>, shared: &Shared) {
    block_signals();
    pause_exactly();
    let mut idle_since = Instant::now();
    let mut pause = PAUSES.0;
    loop {
        let slots: Vec<_> = {
            let mut slots = shared.slots.lock();
            while slots.is_empty() {
                if kernel.strong_count() == 0 {
                    return;
                }
                shared.changed.wait_for(&mut slots, Duration::from_millis(200));
            }
            slots.values().cloned().collect()
        };
        let Some(kernel) = kernel.upgrade() else { return };
        let (mut did, mut waits) = (false, false);
        for slot in slots {
            let mut slot = slot.lock();
            if slot.dead || slot.paused {
                continue;
            }
            let memory = Memory::new(&kernel, slot.gpu);
            let step = match &mut slot.running {
                Running::Aql(queue) => queue.step(&memory, executor),
                Running::Pm4(queue) => queue.step(&memory, executor),
                Running::Sdma(queue) => queue.step(&memory),
            };
            match step {
                Ok(step) => {
                    did |= step == Step::Did;
                    waits |= step == Step::Waits;
                }
                Err(fault) => {
                    slot.dead = true;
                    report(&kernel, slot.gpu, fault);
                }
            }
        }
        if did {
            idle_since = Instant::now();
            pause = PAUSES.0;
        } else if idle_since.elapsed() > BUSY {
            drop(kernel);
            std::thread::sleep(pause);
            pause = if waits {
                PAUSES.0
            } else {
                (pause * 2).min(PAUSES.1)
            };
        } else {
            std::thread::yield_now();
        }
    }
}

/// Reports a memory fault, as the kernel does when a device's interrupt says so.
fn report(kernel: &Kernel, gpu: usize, fault: Fault) {
    let mut payload = [0; 8];
    payload[memory_fault::NOT_PRESENT] = u32::from(!fault.present);
    payload[memory_fault::READ_ONLY] = u32::from(fault.present);
    let [low, high] = hansa_kfd::event::halves(fault.address);
    payload[memory_fault::ADDRESS_LOW] = low;
    payload[memory_fault::ADDRESS_HIGH] = high;
    payload[memory_fault::GPU_ID] = kernel.machine.gpus[gpu].gpu_id;
    kernel.report(EVENT_MEMORY, payload);
    kernel.announce(gpu, 0, &crate::smi::Event::VmFault);
    kernel.exception(Source::Device(gpu), exception::MEMORY_VIOLATION);
}
