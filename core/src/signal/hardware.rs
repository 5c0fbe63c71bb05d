//! Signals that hardware changes: how whoever sleeps is woken.
//!
//! A device that completes a packet changes the signal's value, writes the signal's event number to its mailbox and
//! raises an interrupt; the kernel raises the event. Software drivers tell the runtime of changes by a call instead,
//! and for them nothing here is in the way.
//!
//! All signals share two events of the driver: one for the runtime's own signals, which change rarely (errors of
//! queues), and one for the program's. A thread waits for both and wakes the sleepers whose conditions are met. While
//! nobody sleeps it lets the second one be, so that a program that looks at its signals itself pays nothing. A
//! sleeper enters itself before its last look at the value, and the device changes the value before it raises the
//! event, so the thread sees either the entry or the sleeper the value.
//!
//! Where events have ages a few sleepers wait for the program's event themselves (`seat`).

use super::block::{flag, Block};
use super::seat;
use super::wait::{self, Condition};
use crate::error::{Error, Result};
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Milliseconds of one wait: for ever.
pub(super) const FOR_EVER: u32 = u32::MAX - 1;
/// How often the program's event may wake the thread for nobody before it lets the event be.
const MOST_IN_VAIN: u32 = 64;
/// [`Mailbox::address`]: devices get no mailbox.
const NO_MAILBOX: u64 = u64::MAX;

/// Where devices announce changes of signals.
struct Mailbox {
    /// Its address; 0: each signal has its own, [`NO_MAILBOX`].
    address: AtomicU64,
    event: AtomicU32,
}

impl Mailbox {
    const fn new() -> Self {
        Self {
            address: AtomicU64::new(0),
            event: AtomicU32::new(0),
        }
    }

    fn set(&self, address: u64, event: u32) {
        self.event.store(event, Ordering::Relaxed);
        self.address.store(address, Ordering::Release);
    }
}

/// Of the runtime's own signals.
static OWN: Mailbox = Mailbox::new();
/// Of the program's.
static PROGRAMS: Mailbox = Mailbox::new();
/// The thread runs.
static SERVED: AtomicBool = AtomicBool::new(false);
/// Devices change signals and nobody hears of it, so sleepers look again by themselves.
static POLLED: AtomicBool = AtomicBool::new(false);
/// Sleepers on the program's signals.
static WANTED: AtomicU32 = AtomicU32::new(0);
/// The thread waits for the program's event too.
static LISTENS: AtomicBool = AtomicBool::new(false);
/// It need not any more.
static QUIET: AtomicBool = AtomicBool::new(false);
/// Waits on several signals that sleep.
static GROUPS: AtomicU32 = AtomicU32::new(0);
/// The lists of this process; never freed. A forked child makes its own, for the parent's may be locked.
static LISTS: AtomicPtr<Lists> = AtomicPtr::new(std::ptr::null_mut());

#[derive(Default)]
struct Lists {
    sleepers: Mutex<Vec<Sleeper>>,
    /// What the handler threads watch, by ticket.
    watched: Mutex<BTreeMap<u64, Sleeper>>,
    /// The driver with its events, for whoever needs the thread's attention or sleeps in the driver.
    driver: Mutex<Option<Listening>>,
}

/// A driver with its events for the runtime's own signals and for the program's.
#[derive(Clone, Copy)]
struct Listening {
    driver: api::DriverRef<'static>,
    own: u32,
    programs: u32,
}

fn lists() -> &'static Lists {
    let mut lists = LISTS.load(Ordering::Acquire);
    if lists.is_null() {
        let made = Box::into_raw(Box::<Lists>::default());
        let set = LISTS.compare_exchange(lists, made, Ordering::AcqRel, Ordering::Acquire);
        lists = set.map_or_else(
            |first| {
                // SAFETY: another thread was first, and nobody has seen this one.
                drop(unsafe { Box::from_raw(made) });
                first
            },
            |_| made,
        );
    }
    // SAFETY: a box that is never freed.
    unsafe { &*lists }
}

/// Who is to be woken.
struct Sleeper {
    block: &'static Block,
    condition: Condition,
    compare: i64,
    ticket: u64,
}

impl Sleeper {
    fn new(block: &Block, condition: Condition, compare: i64) -> Self {
        static TICKETS: AtomicU64 = AtomicU64::new(1);
        Self {
            block: Block::at(std::ptr::from_ref(block).addr()),
            condition,
            compare,
            ticket: TICKETS.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn is_due(&self) -> bool {
        let value = self.block.value.load(Ordering::Acquire);
        self.condition.holds(value, self.compare)
    }
}

/// Mailbox and event number of a new signal of these flags; `None` when it has one of its own.
#[inline]
pub(super) fn mailbox(flags: u32) -> Option<(u64, u32)> {
    let mailbox = if flags & flag::INTERNAL == 0 {
        &PROGRAMS
    } else {
        &OWN
    };
    match mailbox.address.load(Ordering::Acquire) {
        0 => None,
        NO_MAILBOX => Some((0, 0)),
        address => Some((address, mailbox.event.load(Ordering::Relaxed))),
    }
}

/// What a device's copy engine writes where, to announce changes of the program's signals; `None` when nobody listens.
pub(crate) fn announcement() -> Option<(u64, u32)> {
    mailbox(0).filter(|(address, _)| *address != 0)
}

/// Whether hardware changes signals, and somebody listens.
pub(super) fn is_served() -> bool {
    SERVED.load(Ordering::Relaxed)
}

/// Whether sleepers must look by themselves now and then.
pub(super) fn is_polled() -> bool {
    POLLED.load(Ordering::Relaxed)
}

/// Whether a number is that of an event all signals share.
pub(crate) fn is_shared(event: u32) -> bool {
    SERVED.load(Ordering::Acquire)
        && [&OWN, &PROGRAMS]
            .iter()
            .any(|mailbox| mailbox.event.load(Ordering::Relaxed) == event)
}

/// An entry among the sleepers; taken back when it is dropped.
#[derive(Debug)]
pub(super) struct Entry {
    /// 0 for who is in no list.
    ticket: u64,
    wanted: bool,
    group: bool,
}

/// Enters a waiter, which then looks at the value once more before it sleeps.
pub(super) fn enter(block: &Block, condition: Condition, compare: i64) -> Option<Entry> {
    if !SERVED.load(Ordering::SeqCst) {
        return None;
    }
    let sleeper = Sleeper::new(block, condition, compare);
    let ticket = sleeper.ticket;
    lists().sleepers.lock().push(sleeper);
    Some(entry(ticket, !block.has(flag::INTERNAL), false))
}

/// Enters a handler thread that goes to sleep; `listens` when it watches signals of programs.
pub(super) fn enter_handlers(listens: bool) -> Option<Entry> {
    SERVED.load(Ordering::SeqCst).then(|| entry(0, listens, false))
}

/// As [`enter`], for a wait on several signals.
pub(super) fn enter_group() -> Option<Entry> {
    SERVED.load(Ordering::SeqCst).then(|| {
        GROUPS.fetch_add(1, Ordering::SeqCst);
        entry(0, true, true)
    })
}

fn entry(ticket: u64, wanted: bool, group: bool) -> Entry {
    if wanted {
        want();
    }
    Entry {
        ticket,
        wanted,
        group,
    }
}

/// Has the handler threads look at a signal when a device makes it satisfy a condition, until [`unwatch`] gets the ticket.
pub(super) fn watch(block: &Block, condition: Condition, compare: i64) -> u64 {
    let watched = Sleeper::new(block, condition, compare);
    let ticket = watched.ticket;
    lists().watched.lock().insert(ticket, watched);
    ticket
}

/// Ends a [`watch`].
pub(super) fn unwatch(ticket: u64) {
    lists().watched.lock().remove(&ticket);
}

/// Asks the thread to listen for the program's event.
fn want() {
    WANTED.fetch_add(1, Ordering::SeqCst);
    if !LISTENS.load(Ordering::SeqCst) {
        if let Some(listening) = &*lists().driver.lock() {
            // A driver that cannot raise an event has lost its device: the thread sees that, too.
            let _ = listening.driver.set_event(listening.own);
        }
    }
}

/// Asks the thread not to listen for the program's event unless somebody wants that: who looks soon need not have it run
/// just then.
pub(super) fn be_quiet() {
    if LISTENS.load(Ordering::SeqCst) && WANTED.load(Ordering::SeqCst) == 0 {
        QUIET.store(true, Ordering::SeqCst);
        if let Some(listening) = &*lists().driver.lock() {
            // As above.
            let _ = listening.driver.set_event(listening.own);
        }
    }
}

/// The driver and its event for the program's signals; the driver stays while somebody sits.
pub(super) fn program_event() -> Option<(api::DriverRef<'static>, u32)> {
    lists()
        .driver
        .lock()
        .map(|listening| (listening.driver, listening.programs))
}

/// Has those look again who sleep in the driver.
pub(super) fn raise_program_event() {
    if let Some(listening) = &*lists().driver.lock() {
        // As above; then their sleep ends, too.
        let _ = listening.driver.set_event(listening.programs);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.wanted {
            WANTED.fetch_sub(1, Ordering::SeqCst);
        }
        if self.group {
            GROUPS.fetch_sub(1, Ordering::SeqCst);
        }
        if self.ticket != 0 {
            lists()
                .sleepers
                .lock()
                .retain(|sleeper| sleeper.ticket != self.ticket);
        }
    }
}

/// Wakes the sleepers whose conditions are met. An event does not say which signal it was for, so all are looked at.
pub(crate) fn wake() {
    for sleeper in lists().sleepers.lock().iter().filter(|s| s.is_due()) {
        wait::wake_waiters(sleeper.block);
    }
    fire_watched();
    if GROUPS.load(Ordering::SeqCst) != 0 {
        wait::wake_groups();
    }
}

/// Has the handler threads look at the signals whose conditions are met, in the order in which they were given handlers. They
/// are looked at in the opposite order, so that none that changes meanwhile overtakes one that changed before.
pub(super) fn fire_watched() {
    let watched = lists().watched.lock();
    let due: Vec<&Sleeper> = watched.values().rev().filter(|w| w.is_due()).collect();
    for watched in due.iter().rev() {
        wait::fire(watched.block);
    }
}

/// Hardware changes signals and no driver's events tell: sleepers look by themselves from now on.
pub(crate) fn poll() {
    for mailbox in [&OWN, &PROGRAMS] {
        mailbox.set(NO_MAILBOX, 0);
    }
    POLLED.store(true, Ordering::SeqCst);
    SERVED.store(false, Ordering::SeqCst);
    for sleeper in lists().sleepers.lock().iter() {
        wait::wake_waiters(sleeper.block);
    }
    wait::wake_handlers();
    wait::wake_groups();
    raise_program_event();
}

fn clear() {
    for mailbox in [&OWN, &PROGRAMS] {
        mailbox.set(0, 0);
    }
    for set in [&SERVED, &POLLED, &LISTENS, &QUIET] {
        set.store(false, Ordering::SeqCst);
    }
}

/// Forgets the parent's events and sleepers in a forked child.
pub(super) fn after_fork() {
    clear();
    WANTED.store(0, Ordering::SeqCst);
    GROUPS.store(0, Ordering::SeqCst);
    seat::after_fork();
    LISTS.store(std::ptr::null_mut(), Ordering::Release);
}

struct Shared {
    driver: api::DriverRef<'static>,
    own: u32,
    programs: u32,
    stopping: AtomicBool,
}

/// The thread, and the events it waits for.
#[derive(Default)]
pub struct Hardware {
    thread: Mutex<Option<(Arc<Shared>, JoinHandle<()>)>>,
}

impl std::fmt::Debug for Hardware {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hardware").finish_non_exhaustive()
    }
}

impl Hardware {
    /// Listens to a driver's events; where it has none to give, sleepers look by themselves.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the thread cannot start.
    ///
    /// # Safety
    ///
    /// The driver must live until [`Self::stop`] has returned.
    pub(crate) unsafe fn listen(&self, driver: api::DriverRef<'_>) -> Result<()> {
        let create = || {
            driver.create_event(&api::EventRequest {
                kind: api::EventKind::SIGNAL,
                manual_reset: 0,
                node: 0,
                reserved: 0,
            })
        };
        let Ok(own) = create() else {
            poll();
            return Ok(());
        };
        let Ok(programs) = create() else {
            // One that cannot be destroyed goes with the driver.
            let _ = driver.destroy_event(own.event);
            poll();
            return Ok(());
        };
        // SAFETY: the caller keeps the driver until `stop`, which ends every use.
        let driver = unsafe { driver.unbound() };
        let shared = Arc::new(Shared {
            driver,
            own: own.event,
            programs: programs.event,
            stopping: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("hansa-events".into())
            .spawn(move || serving.serve())
            .map_err(|_| Error::OutOfResources("a thread for events"))?;
        OWN.set(own.mailbox, own.event);
        PROGRAMS.set(programs.mailbox, programs.event);
        seat::begin();
        *lists().driver.lock() = Some(Listening {
            driver,
            own: own.event,
            programs: programs.event,
        });
        SERVED.store(true, Ordering::SeqCst);
        *self.thread.lock() = Some((shared, thread));
        Ok(())
    }

    /// Listens no more.
    pub(crate) fn stop(&self) {
        *lists().driver.lock() = None;
        clear();
        let Some((shared, thread)) = self.thread.lock().take() else {
            return;
        };
        seat::clear(|| {
            if shared.driver.set_event(shared.programs).is_err() {
                let _ = shared.driver.destroy_event(shared.programs);
            }
        });
        shared.stopping.store(true, Ordering::SeqCst);
        // A wait for an event that cannot be raised ends when the event is destroyed.
        if shared.driver.set_event(shared.own).is_err() {
            let _ = shared.driver.destroy_event(shared.own);
        }
        let _ = thread.join();
        for event in [shared.own, shared.programs] {
            // The driver's end takes what is left.
            let _ = shared.driver.destroy_event(event);
        }
    }
}

impl Shared {
    fn serve(&self) {
        let mut ages = [seat::FIRST_AGE; 2];
        let mut listens = false;
        let mut in_vain = 0;
        while !self.stopping.load(Ordering::SeqCst) {
            LISTENS.store(listens, Ordering::SeqCst);
            if !listens && WANTED.load(Ordering::SeqCst) != 0 {
                listens = true;
                continue;
            }
            let waited = self.wait(&mut ages[..if listens { 2 } else { 1 }]);
            if waited.is_err() {
                if !self.stopping.load(Ordering::SeqCst) {
                    poll();
                }
                return;
            }
            wake();
            if WANTED.load(Ordering::SeqCst) != 0 {
                listens = true;
                in_vain = 0;
            } else if listens {
                in_vain += 1;
                listens = in_vain < MOST_IN_VAIN && !QUIET.swap(false, Ordering::SeqCst);
            }
        }
    }

    /// Waits for as many of the events as there are ages, where they have some.
    fn wait(&self, ages: &mut [u64]) -> api::Result<()> {
        let events = &[self.own, self.programs][..ages.len()];
        if let Some(now) = seat::wait(self.driver, events, ages, FOR_EVER) {
            for (age, now) in ages.iter_mut().zip(now) {
                *age = now;
            }
            return Ok(());
        }
        let (events, none) = (api::RSlice::from_slice(events), api::RSlice::from_slice(&[]));
        self.driver.wait_events(events, none, false, FOR_EVER).map(drop)
    }
}
