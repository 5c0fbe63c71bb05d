//! Queues whose packets pass through handlers of tools (`hsa_amd_queue_intercept_create`).
//!
//! The program writes to a ring of its own. Its doorbell calls this module, on the program's thread, which shows each
//! packet to the handler that was registered last. A handler passes packets on, as many and as changed as it likes,
//! through the function it is given; they go to the handler that was registered before it, and from the first one to
//! the ring of the queue that the device reads.
//!
//! When that ring has no room, what is left waits here, and the last free slot gets a barrier packet whose completion
//! signal is the doorbell's own: the device's decrement of it wakes the handler thread, which goes on. A device that
//! rings the doorbell (it sees an ordinary signal there) wakes the same thread.

mod output;

use super::bell::{self, QUIET};
use super::descriptor::{Descriptor, ROLE_DEVICE, TAG};
use super::{clear_ring, fill_common, slots, Queue, QueueOptions, Ring, Server, Undo, PACKET_BYTES};
use crate::error::{Error, Result};
use crate::log::{self, Topic};
use crate::memory::host::{whole_pages, HostOptions, Pages};
use crate::runtime::Runtime;
use crate::signal::{Block, Condition};
use crate::trace;
use arc_swap::{ArcSwap, ArcSwapOption};
use hansa_plugin_api as api;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::sync::Mutex;
use output::{Output, Packet};
use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Weak};

/// Type of a slot without a packet, in the low byte of its header.
const INVALID: u16 = 1;
/// Fewest packets of such a queue.
const FEWEST: u32 = 4;

/// What is between the program's ring and the device's.
#[derive(Debug)]
pub struct Intercept {
    output: Output,
    doorbell: &'static Block,
    bell: &'static Bell,
    handlers: ArcSwap<Vec<api::InterceptHandler>>,
    /// Index of the next packet of the program. Whoever holds it shows packets to handlers.
    turn: Mutex<u64>,
    runtime: Weak<Runtime>,
}

/// A doorbell's way to its queue. It is never freed, for the doorbell may be rung while the queue goes away.
#[derive(Debug, Default)]
struct Bell {
    queue: ArcSwapOption<Queue>,
}

static SPARE_BELLS: Lock<Vec<&'static Bell>> = Lock::new(Vec::new());

/// Where a thread that shows packets is.
#[derive(Clone)]
struct Cursor {
    queue: Arc<Queue>,
    handlers: Arc<Vec<api::InterceptHandler>>,
    /// The handler that runs.
    position: usize,
    /// Index of the packet that the first handler was shown.
    index: u64,
}

thread_local! {
    /// Never dropped, so that it is there for calls from exit handlers too. A thread that ends has none.
    static CURSOR: ManuallyDrop<RefCell<Option<Cursor>>> = const { ManuallyDrop::new(RefCell::new(None)) };
}

impl Queue {
    /// Makes a queue whose packets pass through handlers; as yet there is none.
    ///
    /// # Errors
    ///
    /// As [`Queue::create`].
    pub fn create_intercepted(runtime: &Arc<Runtime>, options: &QueueOptions) -> Result<Arc<Self>> {
        Self::check_room(runtime, options.agent)?;
        let hidden = QueueOptions {
            callback: None,
            ..*options
        };
        let inner = Self::create_hidden(runtime, &hidden)?;
        let queue = wrap(runtime, &inner, options).inspect_err(|_| inner.destroy(runtime))?;
        let later = Arc::downgrade(&queue);
        let wake = move |_| later.upgrade().is_some_and(|queue| wake(&queue));
        if let Server::Intercept(intercept) = &queue.server {
            runtime
                .handlers
                .register(intercept.doorbell, Condition::Ne, QUIET, Box::new(wake))
                .inspect_err(|_| queue.destroy(runtime))?;
        }
        if let Some(device) = inner.device() {
            device.listeners.add(queue.descriptor.handle(), options.callback);
        }
        if trace::on() {
            runtime.dispatches.attach(runtime, &queue)?;
        }
        queue.limit(runtime)?;
        queue.publish(runtime);
        Ok(queue)
    }

    /// Adds a handler, which sees packets before those that were added earlier.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQueue`] for a queue of another kind.
    pub fn add_handler(&self, handler: api::InterceptHandler) -> Result<()> {
        let Server::Intercept(intercept) = &self.server else {
            return Err(Error::InvalidQueue);
        };
        intercept.handlers.rcu(|handlers| {
            let mut handlers = Vec::clone(handlers);
            handlers.push(handler);
            handlers
        });
        Ok(())
    }
}

/// Puts a ring with a doorbell before a queue.
fn wrap(runtime: &Arc<Runtime>, inner: &Arc<Queue>, options: &QueueOptions) -> Result<Arc<Queue>> {
    let device = inner.device().ok_or(Error::InvalidQueue)?;
    let packets = inner.descriptor.size.load(Ordering::Relaxed);
    if packets < FEWEST {
        return Err(Error::InvalidArgument(
            "a queue with handlers has at least 4 packets",
        ));
    }
    let bytes = packets as usize * PACKET_BYTES;
    let ring = Pages::map(
        whole_pages(bytes).ok_or(Error::OutOfResources("memory for a ring"))?,
        bytes,
        HostOptions::default(),
    )?;
    let mut undo = Undo::new(runtime, ring);
    clear_ring(ring.address, packets);
    undo.registrations = runtime.register_with(
        &[device.driver],
        ring.address as u64,
        ring.bytes as u64,
        api::AllocFlags::FINE_GRAIN,
    )?;
    let descriptor = slots::take(runtime)?;
    undo.descriptor = Some(descriptor);
    let doorbell = bell::create()?;
    undo.signals.push(doorbell);
    fill_common(
        descriptor,
        options.queue_type,
        inner.descriptor.features.load(Ordering::Relaxed),
        packets,
        ring.address as u64,
        doorbell.handle(),
    );
    descriptor.role.store(ROLE_DEVICE, Ordering::Relaxed);
    describe(descriptor, inner.descriptor);

    let bell = SPARE_BELLS
        .lock()
        .pop()
        .unwrap_or_else(|| Box::leak(Box::default()));
    let queue = Arc::new(Queue {
        agent: inner.agent,
        queue_type: options.queue_type,
        server: Server::Intercept(Intercept {
            output: Output::new(Arc::clone(inner), doorbell.handle()),
            doorbell,
            bell,
            handlers: ArcSwap::default(),
            turn: Mutex::new(0),
            runtime: Arc::downgrade(runtime),
        }),
        descriptor,
        ring: Ring::Pages(ring, std::mem::take(&mut undo.registrations)),
    });
    undo.disarm();
    bell.queue.store(Some(Arc::clone(&queue)));
    let context = std::ptr::from_ref(bell).expose_provenance() as u64;
    bell::connect_to_function(doorbell, rung as *const () as usize as u64, context);
    descriptor.tag.store(TAG, Ordering::Release);
    Ok(queue)
}

/// Copies what tools read of a queue's device.
fn describe(descriptor: &Descriptor, of: &Descriptor) {
    for (to, from) in [
        (&descriptor.group_aperture_hi, &of.group_aperture_hi),
        (&descriptor.private_aperture_hi, &of.private_aperture_hi),
        (&descriptor.max_cu_id, &of.max_cu_id),
        (&descriptor.max_wave_id, &of.max_wave_id),
        (&descriptor.properties, &of.properties),
    ] {
        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// The program rang.
extern "C" fn rung(context: u64, _value: u64) {
    let bell: *const Bell = std::ptr::with_exposed_provenance(usize::try_from(context).unwrap_or(0));
    // SAFETY: the context is that of a doorbell that `wrap` made, and bells are never freed.
    let bell = unsafe { &*bell };
    let Some(queue) = bell.queue.load_full() else {
        return;
    };
    if CURSOR.with(|cursor| cursor.borrow().is_some()) {
        // A handler rings. Its own queue waits for it to return, and another one may wait for this one.
        defer(queue);
    } else {
        process(&queue);
    }
}

/// Lets the handler thread look at a queue.
fn defer(queue: Arc<Queue>) {
    let Server::Intercept(intercept) = &queue.server else {
        return;
    };
    let Some(runtime) = intercept.runtime.upgrade() else {
        return;
    };
    let later = Arc::clone(&queue);
    if runtime.handlers.run(move || process(&later)).is_err() {
        log::line(
            Topic::Queue,
            format_args!("no thread to pass on the packets that a handler submitted"),
        );
    }
}

/// A device rang, or a retry is due. Answers whether to go on watching the doorbell.
fn wake(queue: &Arc<Queue>) -> bool {
    let Server::Intercept(intercept) = &queue.server else {
        return false;
    };
    if intercept.output.has_ended() {
        return false;
    }
    // Whatever happens after this wakes the thread again; what happened before is seen below.
    intercept.doorbell.value.swap(QUIET, Ordering::AcqRel);
    // The swap may have taken the doorbell's last word.
    if intercept.output.has_ended() {
        return false;
    }
    intercept.output.disarm();
    process(queue);
    true
}

/// Shows the program's packets to the handlers, as far as there is room for what they make of them.
fn process(queue: &Arc<Queue>) {
    let Server::Intercept(intercept) = &queue.server else {
        return;
    };
    let descriptor = queue.descriptor;
    let mask = u64::from(descriptor.size.load(Ordering::Relaxed)) - 1;
    let base = descriptor.base_address.load(Ordering::Relaxed);
    let mut next = intercept.turn.lock();
    while !intercept.output.is_over() && intercept.output.flush() {
        if *next == descriptor.write_index.load(Ordering::Acquire) {
            return;
        }
        let address = usize::try_from(base + (*next & mask) * PACKET_BYTES as u64).unwrap_or(0);
        // SAFETY: a slot of the program's ring, which stays while `turn` is held.
        let header = unsafe { AtomicU16::from_ptr(std::ptr::with_exposed_provenance_mut(address)) };
        if header.load(Ordering::Acquire) & 0xff == INVALID {
            // Reserved and not yet written: whoever writes it rings.
            return;
        }
        // SAFETY: as above; a packet with a valid header is not written to any more.
        let packet = unsafe { std::ptr::with_exposed_provenance::<Packet>(address).read_volatile() };
        show(queue, intercept, packet, *next);
        header.store(INVALID, Ordering::Release);
        *next += 1;
        descriptor.read_index.store(*next, Ordering::Release);
    }
}

/// Shows a packet to the handler that was registered last, or passes it on when there is none.
fn show(queue: &Arc<Queue>, intercept: &Intercept, packet: Packet, index: u64) {
    let handlers = intercept.handlers.load_full();
    let Some(position) = handlers.len().checked_sub(1) else {
        return intercept.output.submit(&[packet]);
    };
    let cursor = Cursor {
        queue: Arc::clone(queue),
        handlers: Arc::clone(&handlers),
        position,
        index,
    };
    CURSOR.with(|now| now.replace(Some(cursor)));
    call(&handlers[position], (&raw const packet).cast(), 1, index);
    CURSOR.with(|cursor| cursor.replace(None));
}

fn call(handler: &api::InterceptHandler, packets: *const c_void, count: u64, index: u64) {
    // SAFETY: the tool gave this function for exactly this call.
    unsafe {
        (handler.function)(
            packets,
            count,
            index,
            handler.argument,
            api::PacketWriter(pass_on),
        );
    }
}

/// What a handler passes packets on with.
///
/// # Safety
///
/// `packets` points to `count` packets.
unsafe extern "C" fn pass_on(packets: *const c_void, count: u64) {
    let Some(cursor) = CURSOR.with(|cursor| cursor.borrow().clone()) else {
        return;
    };
    let (Server::Intercept(intercept), Ok(length)) = (&cursor.queue.server, usize::try_from(count)) else {
        return;
    };
    if packets.is_null() || length == 0 {
        return;
    }
    let move_to = |position| {
        CURSOR.with(|now| {
            if let Some(cursor) = &mut *now.borrow_mut() {
                cursor.position = position;
            }
        });
    };
    if let Some(position) = cursor.position.checked_sub(1) {
        move_to(position);
        call(&cursor.handlers[position], packets, count, cursor.index);
        move_to(cursor.position);
    } else {
        let read = |at| {
            // SAFETY: the handler says that there are so many packets; they need not be aligned.
            unsafe { packets.cast::<Packet>().wrapping_add(at).read_unaligned() }
        };
        let packets: Vec<Packet> = (0..length).map(read).collect();
        intercept.output.submit(&packets);
    }
}

impl Intercept {
    /// The queue that the device reads.
    pub(super) fn inner(&self) -> &Queue {
        self.output.inner()
    }

    /// Ends the queue behind the program's.
    pub(super) fn end(&self, runtime: &Runtime) {
        self.output.end();
        self.bell.queue.store(None);
        SPARE_BELLS.lock().push(self.bell);
        bell::end(self.doorbell);
        // Nobody shows packets any more once the turn is here, unless it is a handler that destroys its own queue.
        let own = CURSOR.with(|cursor| cursor.borrow().is_some());
        let _turn = (!own).then(|| self.turn.lock());
        self.inner().destroy(runtime);
    }
}
