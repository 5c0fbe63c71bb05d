//! Dispatches in a trace: a handler on each queue gives every kernel a completion signal of its own, reads the times when it
//! is over, and completes the program's signal then.
//!
//! That happens on a thread of the trace, not on the one that calls the program's handlers: those may wait for kernels. The
//! program's signals are completed in the order of the packets, as far as the kernels are over: a program that waits for one
//! packet knows that those before a barrier are over as well.

use super::{span, Place};
use crate::clock;
use crate::error::Result;
use crate::queue::Queue;
use crate::runtime::Runtime;
use crate::signal::block::flag;
use crate::signal::handlers::Handlers;
use crate::signal::{self, pool, Block, Condition};
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// Type of a kernel dispatch, in the low byte of a packet's first word.
const KERNEL_DISPATCH: u64 = 2;

/// The traced queues of a runtime.
#[derive(Debug, Default)]
pub struct Dispatches {
    handlers: Handlers,
    /// What the handlers of queues are given; it stays as long as a queue might call.
    queues: Mutex<Vec<Arc<Traced>>>,
}

/// A queue.
#[derive(Debug)]
struct Traced {
    this: Weak<Self>,
    runtime: Weak<Runtime>,
    agent: usize,
    queue: u64,
    /// Kernels that have been passed on, in the order of their packets.
    pending: Mutex<VecDeque<Dispatch>>,
}

/// A kernel that has been passed on.
#[derive(Debug)]
struct Dispatch {
    own: &'static Block,
    /// The program's signal, or 0.
    theirs: u64,
    kernel: String,
    submitted: u64,
    details: Vec<(&'static str, String)>,
}

impl Dispatches {
    /// Traces the dispatches of a queue that has handlers, none of which is there yet.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQueue`](crate::Error::InvalidQueue) for a queue of another kind.
    pub fn attach(&self, runtime: &Arc<Runtime>, queue: &Queue) -> Result<()> {
        let Some(agent) = queue.agent else { return Ok(()) };
        let traced = Arc::new_cyclic(|this| Traced {
            this: Weak::clone(this),
            runtime: Arc::downgrade(runtime),
            agent,
            queue: queue.descriptor.id.load(Ordering::Relaxed),
            pending: Mutex::default(),
        });
        let argument = Arc::as_ptr(&traced).cast_mut().cast::<c_void>();
        self.queues.lock().push(traced);
        queue.set_profiling(true);
        queue.add_handler(api::InterceptHandler {
            function: packets,
            argument,
        })
    }

    /// Ends the thread; kernels that are not over are not reported.
    pub fn stop(&self) {
        self.handlers.stop();
    }
}

/// Sees the packets on their way to the device.
///
/// # Safety
///
/// `packets` points to `count` packets, and `argument` is what [`Dispatches::attach`] gave.
unsafe extern "C" fn packets(
    packets: *const c_void,
    count: u64,
    _index: u64,
    argument: *mut c_void,
    writer: api::PacketWriter,
) {
    // SAFETY: the runtime keeps it as long as the queue.
    let traced = unsafe { &*argument.cast::<Traced>() };
    let count = usize::try_from(count).unwrap_or(0);
    let mut changed: Vec<[u64; 8]> = (0..count)
        .map(|at| {
            // SAFETY: there are so many packets.
            unsafe { packets.cast::<[u64; 8]>().wrapping_add(at).read_unaligned() }
        })
        .collect();
    if let Some(runtime) = traced.runtime.upgrade() {
        for packet in &mut changed {
            if packet[0] & 0xff == KERNEL_DISPATCH {
                traced.follow(&runtime, packet);
            }
        }
    }
    // SAFETY: these are packets, and the writer is for this call.
    unsafe { (writer.0)(changed.as_ptr().cast(), count as u64) };
}

impl Traced {
    /// Puts a signal of the trace into a packet. Where that cannot be, the kernel runs unseen.
    fn follow(&self, runtime: &Arc<Runtime>, packet: &mut [u64; 8]) {
        let Ok(own) = pool::create(1, flag::INTERNAL | flag::SLEEPS) else {
            return;
        };
        let object = packet[4];
        let half = |word: u64, shift: u32| word >> shift & 0xffff;
        let dispatch = Dispatch {
            own,
            theirs: packet[7],
            kernel: runtime
                .kernel_name(object)
                .unwrap_or_else(|| format!("kernel {object:#x}")),
            submitted: clock::now(),
            details: vec![
                (
                    "grid",
                    sides(packet[1] >> 32, packet[2] & 0xffff_ffff, packet[2] >> 32),
                ),
                (
                    "work-group",
                    sides(half(packet[0], 32), half(packet[0], 48), half(packet[1], 0)),
                ),
                ("private bytes", (packet[3] & 0xffff_ffff).to_string()),
                ("group bytes", (packet[3] >> 32).to_string()),
                ("kernel object", format!("{object:#x}")),
                ("completion signal", format!("{:#x}", packet[7])),
            ],
        };
        let this = Weak::clone(&self.this);
        let over = move |_| {
            if let Some(traced) = this.upgrade() {
                traced.deliver();
            }
            false
        };
        self.pending.lock().push_back(dispatch);
        let dispatches = &runtime.dispatches;
        if dispatches
            .handlers
            .register(own, Condition::Lt, 1, Box::new(over))
            .is_ok()
        {
            packet[7] = own.handle();
        } else {
            self.pending
                .lock()
                .retain(|dispatch| !std::ptr::eq(dispatch.own, own));
            pool::retire(own);
        }
    }

    /// Reports the kernels that are over.
    fn deliver(&self) {
        let Some(runtime) = self.runtime.upgrade() else {
            return;
        };
        self.pending.lock().retain(|dispatch| {
            let over = dispatch.own.value.load(Ordering::Acquire) < 1;
            if over {
                dispatch.report(&runtime, self.agent, self.queue);
            }
            !over
        });
    }
}

impl Dispatch {
    /// Reports a kernel that is over, and tells the program so.
    fn report(&self, runtime: &Runtime, agent: usize, queue: u64) {
        let ticks = [&self.own.start_ts, &self.own.end_ts].map(|tick| tick.load(Ordering::Acquire));
        let time = |tick| runtime.convert_tick(agent, tick).unwrap_or(0);
        let [start, end] = match ticks {
            // The program switched time stamps off.
            [0, _] | [_, 0] => [self.submitted, clock::now()],
            [start, end] => [time(start), time(end)],
        };
        let place = Place::Queue {
            agent,
            name: runtime.agents[agent].name(),
            queue,
        };
        span(place, &self.kernel, &self.details, start, end);
        if let Some(theirs) = Block::of(self.theirs) {
            theirs.start_ts.store(ticks[0], Ordering::Release);
            theirs.end_ts.store(ticks[1], Ordering::Release);
            signal::update(self.theirs, |value| value.fetch_sub(1, Ordering::AcqRel));
        }
        pool::retire(self.own);
    }
}

fn sides(x: u64, y: u64, z: u64) -> String {
    format!("{x} x {y} x {z}")
}
