//! Asynchronous handlers: one thread per runtime calls functions when signals satisfy conditions
//! (`hsa_amd_signal_async_handler`).
//!
//! The thread starts with the first handler. It sleeps until a signal that it watches changes, and looks at the conditions on
//! that one only (`fired`), so that a wake costs the same beside thousands of other handlers. A handler that answers
//! `true` stays, and is called again as long as its condition holds; between two calls whoever shares the processor gets a
//! turn, so that it can change the signal.
//!
//! A trace has a thread of its own. A signal is watched by one of them.

use super::block::{flag, Block};
use super::ipc_wait::{Naps, Seen};
use super::wait::{self, Condition};
use super::{fired, hardware, pool};
use crate::error::{Error, Result};
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::sync::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What is called, with the value that was seen. Answers whether to stay registered.
pub type Callback = Box<dyn FnMut(i64) -> bool + Send>;

struct Handler {
    /// `None`: a function to run once, at once.
    signal: Option<&'static Block>,
    condition: Condition,
    compare: i64,
    callback: Callback,
}

impl Handler {
    /// Answers whether to stay registered. A panic would be a bug of ours in a callback that we made; it must not end the
    /// thread.
    fn call(&mut self, value: i64) -> bool {
        let callback = &mut self.callback;
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| callback(value))).unwrap_or(false)
    }
}

#[derive(Default)]
struct Shared {
    incoming: Mutex<Vec<Handler>>,
    /// Signals that changed, from the thread of other handlers.
    told: Mutex<Vec<&'static Block>>,
    stopping: AtomicBool,
    /// How many conditions were looked at.
    looks: AtomicU64,
}

impl Shared {
    fn stops(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Takes the signals that changed, in the order of the changes, and tells the other threads of them.
    fn changed(self: &Arc<Self>) -> Vec<&'static Block> {
        // What a thread has taken reaches the others before they take more.
        let threads = THREADS.lock();
        let taken = fired::take();
        if !taken.is_empty() && threads.len() > 1 {
            for (_, other) in threads.iter().filter(|(_, other)| !Arc::ptr_eq(other, self)) {
                other.told.lock().extend(&taken);
            }
            wait::wake_handlers();
        }
        let mut changed = std::mem::take(&mut *self.told.lock());
        drop(threads);
        changed.extend(taken);
        fired::sort(&mut changed);
        changed
    }
}

/// The threads that call handlers, with their process.
static THREADS: Lock<Vec<(u32, Arc<Shared>)>> = Lock::new(Vec::new());

/// The handler thread of a runtime.
pub struct Handlers {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handlers").finish_non_exhaustive()
    }
}

impl Default for Handlers {
    fn default() -> Self {
        Self::new()
    }
}

impl Handlers {
    /// No handlers and no thread yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::default(),
            thread: Mutex::new(None),
        }
    }

    /// Calls `callback` each time the signal is seen to satisfy the condition, until it answers `false`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the thread cannot start.
    pub fn register(
        &self,
        signal: &'static Block,
        condition: Condition,
        compare: i64,
        callback: Callback,
    ) -> Result<()> {
        self.start()?;
        pool::retain(signal);
        self.hand_over(Handler {
            signal: Some(signal),
            condition,
            compare,
            callback,
        });
        Ok(())
    }

    /// Runs a function once on the handler thread.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the thread cannot start.
    pub fn run(&self, mut function: impl FnMut() + Send + 'static) -> Result<()> {
        self.start()?;
        let callback = Box::new(move |_| {
            function();
            false
        });
        self.hand_over(Handler {
            signal: None,
            condition: Condition::Eq,
            compare: 0,
            callback,
        });
        Ok(())
    }

    /// How many conditions were looked at so far, for diagnosis.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.shared.looks.load(Ordering::Relaxed)
    }

    fn hand_over(&self, handler: Handler) {
        self.shared.incoming.lock().push(handler);
        wait::wake_handlers();
    }

    fn start(&self) -> Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let own = std::process::id();
            let mut threads = THREADS.lock();
            // A parent's are not in this process.
            threads.retain(|(process, _)| *process == own);
            let shared = Arc::clone(&self.shared);
            let started = std::thread::Builder::new()
                .name("hansa-handlers".into())
                .spawn(move || serve(&shared))
                .map_err(|_| Error::OutOfResources("a thread for asynchronous handlers"))?;
            // Before it, or another, takes what changed.
            threads.push((own, Arc::clone(&self.shared)));
            *thread = Some(started);
        }
        Ok(())
    }

    /// Stops the thread; handlers that wait are dropped uncalled.
    pub fn stop(&self) {
        self.shared.stopping.store(true, Ordering::Release);
        wait::wake_handlers();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
        THREADS
            .lock()
            .retain(|(_, shared)| !Arc::ptr_eq(shared, &self.shared));
    }
}

/// A handler that waits, with its ticket for what devices change.
struct Waiting {
    handler: Handler,
    ticket: Option<u64>,
}

/// The handlers of a signal, in the order of their registration.
struct Watched {
    signal: &'static Block,
    waiting: Vec<Waiting>,
    /// The round in which it was last looked at.
    round: u64,
}

impl Watched {
    /// Calls the handlers whose condition holds. Answers how many were called, and how many of these stay.
    fn call(&mut self, shared: &Shared) -> (usize, usize) {
        let signal = self.signal;
        let (mut called, mut stayed, before) = (0, 0, self.waiting.len());
        self.waiting.retain_mut(|Waiting { handler, ticket }| {
            if shared.stops() {
                return true;
            }
            shared.looks.fetch_add(1, Ordering::Relaxed);
            let value = signal.value.load(Ordering::Acquire);
            if !handler.condition.holds(value, handler.compare) {
                return true;
            }
            called += 1;
            let stays = handler.call(value);
            if stays {
                stayed += 1;
            } else if let Some(ticket) = ticket {
                hardware::unwatch(*ticket);
            }
            stays
        });
        self.let_go(before - self.waiting.len());
        (called, stayed)
    }

    /// Takes back what so many handlers that are gone have of the signal, which may be freed by that.
    fn let_go(&self, gone: usize) {
        for left in (0..gone).rev() {
            wait::unwatch_as_handler(self.signal, left == 0 && self.waiting.is_empty());
            pool::release(self.signal);
        }
    }

    fn end(mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for ticket in waiting.iter().filter_map(|waiting| waiting.ticket) {
            hardware::unwatch(ticket);
        }
        self.let_go(waiting.len());
    }
}

/// What the thread has.
struct List {
    /// By the signal's address.
    watched: HashMap<usize, Watched>,
    /// Those of the signals that other processes have, too. Their changes are not pushed.
    of_processes: Vec<&'static Block>,
    /// Signals to look at.
    due: Vec<&'static Block>,
    /// Handlers on signals that programs made.
    of_programs: usize,
    /// Whether every change is pushed.
    sure: bool,
    round: u64,
}

fn address(block: &Block) -> usize {
    std::ptr::from_ref(block).addr()
}

impl List {
    fn new() -> Self {
        Self {
            watched: HashMap::new(),
            of_processes: Vec::new(),
            due: Vec::new(),
            of_programs: 0,
            sure: true,
            round: 0,
        }
    }

    /// Watches the signals of new handlers, and runs functions. Answers whether there were any functions.
    fn admit(&mut self, incoming: Vec<Handler>, shared: &Shared) -> bool {
        let (mut ran, mut watches) = (false, false);
        for mut handler in incoming {
            let Some(signal) = handler.signal else {
                ran = true;
                if !shared.stops() {
                    handler.call(0);
                }
                continue;
            };
            watches = true;
            wait::watch_as_handler(signal);
            let is_shared = signal.is_shared();
            let ticket = (!is_shared).then(|| hardware::watch(signal, handler.condition, handler.compare));
            self.of_programs += usize::from(is_program(signal));
            self.due.push(signal);
            let watched = self.watched.entry(address(signal)).or_insert_with(|| {
                if is_shared {
                    self.of_processes.push(signal);
                }
                Watched {
                    signal,
                    waiting: Vec::new(),
                    round: 0,
                }
            });
            watched.waiting.push(Waiting { handler, ticket });
        }
        if watches {
            self.sure &= wait::watched_as_handler();
        }
        ran
    }

    /// Puts the signals that changed before what is due. Handlers are called in the order of changes as far as anybody can tell:
    /// a profiler completes a program's signals in them, and the program expects the order of its packets. So a signal that
    /// is due without having been pushed, as one that a handler came to just now, must not overtake one that changed before.
    fn put_in_order(&mut self, shared: &Arc<Shared>) {
        self.due.extend(&self.of_processes);
        // The newest first: the ones before it that changed before it are seen as well then.
        let mut met = Vec::new();
        while let Some(signal) = self.due.pop() {
            if self.is_met(signal, shared) {
                met.push(signal);
            }
        }
        if !met.is_empty() && hardware::is_served() {
            hardware::fire_watched();
        }
        // All that changed before one of those above was looked at.
        self.due = shared.changed();
        self.due.extend(met.iter().rev());
    }

    /// Whether the condition of a handler holds.
    fn is_met(&self, signal: &Block, shared: &Shared) -> bool {
        let Some(watched) = self.watched.get(&address(signal)) else {
            return false;
        };
        shared.looks.fetch_add(1, Ordering::Relaxed);
        let value = signal.value.load(Ordering::Acquire);
        let mut waiting = watched.waiting.iter();
        waiting.any(|Waiting { handler, .. }| handler.condition.holds(value, handler.compare))
    }

    /// Looks at what is due. Answers whether a handler was called, and whether one of these stays.
    fn call(&mut self, shared: &Shared) -> (bool, bool) {
        let (mut called, mut stayed) = (false, false);
        self.round += 1;
        for signal in std::mem::take(&mut self.due) {
            let key = address(signal);
            let Some(watched) = self.watched.get_mut(&key) else {
                continue;
            };
            if std::mem::replace(&mut watched.round, self.round) == self.round {
                continue;
            }
            let is_program = is_program(signal);
            let (calls, stays) = watched.call(shared);
            called |= calls != 0;
            stayed |= stays != 0;
            if is_program {
                self.of_programs -= calls - stays;
            }
            if watched.waiting.is_empty() {
                self.watched.remove(&key);
                self.of_processes.retain(|of| address(of) != key);
            } else if stays != 0 {
                self.due.push(signal);
            }
        }
        (called, stayed)
    }

    /// Has every signal looked at, as if its handlers had come just now.
    fn doubt(&mut self) {
        let mut all: Vec<&Watched> = self.watched.values().collect();
        all.sort_by_key(|watched| watched.waiting.first().map(|first| first.ticket));
        self.due = all.into_iter().map(|watched| watched.signal).collect();
    }

    /// Whether a signal that other processes have satisfies a condition.
    fn is_shared_due(&self, shared: &Shared) -> bool {
        self.of_processes.iter().any(|signal| self.is_met(signal, shared))
    }
}

/// Whether a signal is a program's, so that devices announce its changes where nobody may listen.
fn is_program(signal: &Block) -> bool {
    !signal.is_shared() && !signal.has(flag::INTERNAL)
}

fn serve(shared: &Arc<Shared>) {
    let mut list = List::new();
    let mut naps = Naps::new();
    // What woke it may come again at once.
    let mut fresh = false;
    while !shared.stops() {
        let incoming = std::mem::take(&mut *shared.incoming.lock());
        let ran = list.admit(incoming, shared);
        list.put_in_order(shared);
        let (called, stays) = list.call(shared);
        if called || ran {
            naps = Naps::new();
            fresh = true;
            if stays {
                std::thread::yield_now();
            }
        } else if std::mem::take(&mut fresh) {
            wait::spin_as_handler();
        } else {
            let words = Seen::of(list.of_processes.iter().copied());
            let sure = wait::sleep_as_handler(&words, list.of_programs != 0, list.sure, &mut naps, || {
                shared.stops()
                    || !fired::is_empty()
                    || !shared.incoming.lock().is_empty()
                    || !shared.told.lock().is_empty()
                    || list.is_shared_due(shared)
            });
            if !sure {
                list.doubt();
            }
        }
    }
    for (_, watched) in list.watched.drain() {
        watched.end();
    }
    for signal in shared
        .incoming
        .lock()
        .drain(..)
        .filter_map(|handler| handler.signal)
    {
        pool::release(signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal;
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};

    fn signals(count: usize) -> Vec<&'static Block> {
        (0..count)
            .map(|_| pool::create(1, flag::SLEEPS).expect("there is a slot"))
            .collect()
    }

    fn until(what: &str, mut done: impl FnMut() -> bool) {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::yield_now();
        }
    }

    /// A handler that counts, and resets the signal.
    fn counting(signal: &'static Block, count: &Arc<AtomicUsize>) -> Callback {
        let count = Arc::clone(count);
        Box::new(move |_| {
            signal.value.store(1, Ordering::Release);
            count.fetch_add(1, Ordering::Release);
            true
        })
    }

    #[test]
    fn a_wake_looks_at_what_changed_only() {
        const OTHERS: usize = 3000;
        let handlers = Handlers::new();
        let signals = signals(OTHERS + 1);
        let count = Arc::new(AtomicUsize::new(0));
        for &signal in &signals {
            handlers
                .register(signal, Condition::Lt, 1, counting(signal, &count))
                .expect("it registers");
        }
        until("all are looked at once", || handlers.looks() > OTHERS as u64);
        let before = handlers.looks();
        for round in 1..=100 {
            signal::store(signals[OTHERS / 2].handle(), 0, Ordering::Release);
            until("the handler is called", || count.load(Ordering::Acquire) == round);
        }
        let looks = handlers.looks() - before;
        handlers.stop();
        signals
            .into_iter()
            .for_each(|signal| assert!(pool::retire(signal)));
        // Two for a call, the second after it stayed; more where the system knows no barriers.
        if !hardware::is_polled() && wait::watched_as_handler() {
            assert!(looks < 1000, "{looks} conditions for 100 changes");
        }
    }

    #[test]
    fn changes_beside_the_registration_are_seen() {
        let handlers = Handlers::new();
        let count = Arc::new(AtomicUsize::new(0));
        let rounds = 2000;
        for round in 1..=rounds {
            let signal = signals(1)[0];
            let handle = signal.handle();
            let (called, seen) = (Arc::clone(&count), Arc::clone(&count));
            let once = Box::new(move |_| {
                called.fetch_add(1, Ordering::Release);
                false
            });
            let register = || handlers.register(signal, Condition::Eq, 7, once);
            std::thread::scope(|scope| {
                scope.spawn(move || signal::store(handle, 7, Ordering::Release));
                register().expect("it registers");
            });
            until("the handler is called", || seen.load(Ordering::Acquire) == round);
            assert!(pool::retire(signal));
        }
        handlers.stop();
    }

    /// Also when the thread comes to the handler of the second signal while both change.
    #[test]
    fn handlers_are_called_in_the_order_of_changes() {
        let handlers = Handlers::new();
        let called: Arc<Mutex<Vec<usize>>> = Arc::default();
        for round in 0..20_000 {
            let pair = signals(2);
            for (index, &signal) in pair.iter().enumerate() {
                let called = Arc::clone(&called);
                let once = Box::new(move |_| {
                    called.lock().push(index);
                    false
                });
                handlers
                    .register(signal, Condition::Lt, 1, once)
                    .expect("it registers");
            }
            // The thread gets to every point of its round meanwhile.
            (0..round % 600).for_each(|_| std::hint::spin_loop());
            for signal in &pair {
                signal::store(signal.handle(), 0, Ordering::Release);
            }
            until("both are called", || called.lock().len() == 2);
            assert_eq!(std::mem::take(&mut *called.lock()), [0, 1], "round {round}");
            pair.into_iter().for_each(|signal| assert!(pool::retire(signal)));
        }
        handlers.stop();
    }

    #[test]
    fn two_threads_have_their_own_signals() {
        let both = [Handlers::new(), Handlers::new()];
        let count = Arc::new(AtomicUsize::new(0));
        let signals = signals(20);
        for (index, &signal) in signals.iter().enumerate() {
            both[index % 2]
                .register(signal, Condition::Lt, 1, counting(signal, &count))
                .expect("it registers");
        }
        for round in 1..=50 {
            for signal in &signals {
                signal::store(signal.handle(), 0, Ordering::Release);
            }
            until("all are called", || {
                count.load(Ordering::Acquire) == round * signals.len()
            });
        }
        both.iter().for_each(Handlers::stop);
        signals
            .into_iter()
            .for_each(|signal| assert!(pool::retire(signal)));
    }
}
