//! Waiting and waking.
//!
//! A wait looks at the value for a short while and then sleeps on a futex in the signal's block; it never
//! burns a core. Whoever changes a value looks at `waiters` and only goes to the system when somebody sleeps.
//! A store is one plain store followed by one plain load: the fence between them is the sleeper's business, who
//! runs `membarrier(2)` between announcing itself and its last look at the value.

use super::block::{flag, watch, Block};
use super::ipc_wait::{self, Naps, Seen};
use super::rest::{wake_all, Rest};
use super::{fired, hardware, rhythm, seat};
use rustix::thread::futex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a wait looks before it sleeps.
const SPIN: Duration = Duration::from_micros(40);
/// As [`SPIN`], where hardware changes signals: an interrupt takes longer to wake a sleeper than most packets last.
const SPIN_FOR_HARDWARE: Duration = Duration::from_micros(200);
/// How long a wait for hardware looks before it lets others have the processor between looks: whoever it waits for may need it.
const ALONE: Duration = Duration::from_micros(20);
/// After so many waits in a row that ended while others had the processor now and then, one keeps it and sleeps after that:
/// schedulers leave two threads that take turns on one processor there, and put one that wakes where there is room.
const MOST_TURNS: u32 = 16;
/// How long one sleep lasts where the system has no `membarrier`, so that a lost wake-up ends.
const UNSURE_SLEEP: Duration = Duration::from_millis(1);

/// What a wait waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less than.
    Lt,
    /// Greater than or equal.
    Gte,
}

impl Condition {
    /// Whether a value satisfies it.
    #[inline]
    #[must_use]
    pub const fn holds(self, value: i64, compare: i64) -> bool {
        match self {
            Self::Eq => value == compare,
            Self::Ne => value != compare,
            Self::Lt => value < compare,
            Self::Gte => value >= compare,
        }
    }
}

static MEMBARRIER: AtomicU32 = AtomicU32::new(0);
/// As [`MEMBARRIER`], for barriers that reach other processes.
static GLOBAL_BARRIER: AtomicU32 = AtomicU32::new(0);
const UNKNOWN: u32 = 0;
const READY: u32 = 1;
const ABSENT: u32 = 2;

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: the commands used here take no pointers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Asks the system for barriers ahead of the first sleep. Quick while the process has one thread.
pub fn prepare() {
    if MEMBARRIER.load(Ordering::Relaxed) == UNKNOWN {
        let ready = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        MEMBARRIER.store(if ready { READY } else { ABSENT }, Ordering::Relaxed);
    }
}

/// Asks the system for barriers that reach the threads of other processes, before the first signal that they share.
pub(super) fn share() {
    if GLOBAL_BARRIER.load(Ordering::Relaxed) == UNKNOWN {
        let ready = membarrier(libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
        GLOBAL_BARRIER.store(if ready { READY } else { ABSENT }, Ordering::Relaxed);
    }
}

/// Forgets, when a child of a fork makes its runtime, which signals the parent's changed.
pub(crate) fn forget_changes() {
    fired::after_fork();
}

/// Forgets what the system granted the parent process.
pub(crate) fn after_fork() {
    MEMBARRIER.store(UNKNOWN, Ordering::Relaxed);
    GLOBAL_BARRIER.store(UNKNOWN, Ordering::Relaxed);
    HANDLER_SLEEPERS.store(0, Ordering::Relaxed);
    hardware::after_fork();
}

/// A full barrier on every thread of the process. Answers whether a wake-up reaches the sleeper for sure.
fn barrier_everywhere() -> bool {
    prepare();
    std::sync::atomic::fence(Ordering::SeqCst);
    MEMBARRIER.load(Ordering::Relaxed) == READY
        && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
        && !hardware::is_polled()
}

/// A full barrier on every thread of every process that shares signals. Answers whether there was one.
pub(super) fn barrier_is_global() -> bool {
    share();
    std::sync::atomic::fence(Ordering::SeqCst);
    GLOBAL_BARRIER.load(Ordering::Relaxed) == READY && membarrier(libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED)
}

pub(super) fn timespec(duration: Duration) -> futex::Timespec {
    futex::Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// As [`wake_all`], for sleepers of every process.
pub(super) fn wake_shared(word: &AtomicU32) {
    word.fetch_add(1, Ordering::Release);
    let _ = futex::wake(word, futex::Flags::empty(), u32::MAX >> 1);
}

/// Counts wake-ups of waits on several signals.
static GROUP_WAKES: AtomicU32 = AtomicU32::new(0);
/// Whether a handler thread has something to look at, their futex, and how many sleep.
static HANDLER_WAKES: AtomicU32 = AtomicU32::new(0);
static HANDLER_READY: AtomicBool = AtomicBool::new(false);
static HANDLER_SLEEPERS: AtomicU32 = AtomicU32::new(0);

/// Wakes who waits for a change of this signal. Called after the value was changed.
#[inline]
pub fn changed(block: &Block) {
    if block.waiters.load(Ordering::Relaxed) != 0 {
        wake(block);
    }
}

/// Cannot unwind, so that who stores to a signal needs no stack.
#[cold]
extern "C" fn wake(block: &Block) {
    if block.is_shared() {
        return ipc_wait::wake(block);
    }
    let waiters = block.waiters.load(Ordering::SeqCst);
    if waiters & watch::SLEEPERS != 0 {
        wake_all(&block.wakes);
    }
    if waiters & watch::GROUPS != 0 {
        wake_all(&GROUP_WAKES);
    }
    if waiters & watch::HANDLER != 0 {
        fire(block);
    }
}

/// Has the handler threads look at a signal that changed. Whoever pushed it first wakes them.
pub(super) fn fire(block: &Block) {
    if fired::push(block) {
        wake_handlers();
    }
}

/// Wakes who sleeps on one signal.
pub(super) fn wake_waiters(block: &Block) {
    wake_all(&block.wakes);
}

/// Wakes the handler threads. While they are awake, this is no call of the system: they look at [`HANDLER_READY`] after they
/// have announced their sleep.
pub(crate) fn wake_handlers() {
    HANDLER_READY.store(true, Ordering::SeqCst);
    if HANDLER_SLEEPERS.load(Ordering::SeqCst) != 0 {
        wake_all(&HANDLER_WAKES);
    }
}

/// Looks for a short while whether a signal of the handler thread changes, as every wait does before it sleeps. What
/// hardware changes is not seen here.
pub(super) fn spin_as_handler() {
    if !hardware::is_served() && !hardware::is_polled() {
        spin(Deadline(None), || HANDLER_READY.load(Ordering::Relaxed));
    }
}

/// Wakes every wait on several signals, to look again.
pub(crate) fn wake_groups() {
    wake_all(&GROUP_WAKES);
}

/// Sleeps on behalf of a handler thread until a signal changes, a word of the `shared` ones does, or somebody wakes it.
/// `listens`: it watches signals that programs made. Answers `false` when the sleep was short because changes may go unseen.
pub(super) fn sleep_as_handler(
    shared: &Seen<'_>,
    listens: bool,
    sure: bool,
    naps: &mut Naps,
    mut done: impl FnMut() -> bool,
) -> bool {
    let age = (listens && sure && shared.is_empty()).then_some(&seat::HANDLERS);
    let mut rest = Rest::new(&HANDLER_WAKES, age, || hardware::enter_handlers(listens));
    let since = rest.since();
    HANDLER_SLEEPERS.fetch_add(1, Ordering::SeqCst);
    let sure = sure && !hardware::is_polled();
    let mut told = false;
    if !HANDLER_READY.swap(false, Ordering::SeqCst) && !done() {
        if shared.is_empty() {
            told = rest.sleep(since, (!sure).then_some(UNSURE_SLEEP));
        } else {
            shared.sleep(&HANDLER_WAKES, since.word(), naps, None);
        }
    }
    HANDLER_SLEEPERS.fetch_sub(1, Ordering::SeqCst);
    if told {
        hardware::fire_watched();
    }
    sure
}

/// Tells who changes the signal that a handler thread watches it, from [`watched_as_handler`] on.
pub(super) fn watch_as_handler(block: &Block) {
    if block.is_shared() {
        ipc_wait::watch(block);
    } else {
        block.waiters.fetch_or(watch::HANDLER, Ordering::SeqCst);
    }
}

/// Ends a run of [`watch_as_handler`]: whoever changes one of the signals after this pushes it. Answers whether that is sure.
pub(super) fn watched_as_handler() -> bool {
    barrier_everywhere()
}

/// Takes back one [`watch_as_handler`]; `last` when no other handler watches the signal.
pub(super) fn unwatch_as_handler(block: &Block, last: bool) {
    if block.is_shared() {
        ipc_wait::unwatch(block);
    } else if last {
        block.waiters.fetch_and(!watch::HANDLER, Ordering::SeqCst);
    }
}

/// When a wait ends without success.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// `timeout` nanoseconds from now; the largest number is never.
    #[must_use]
    pub fn after(timeout: u64) -> Self {
        Self(
            (timeout != u64::MAX)
                .then(|| Instant::now().checked_add(Duration::from_nanos(timeout)))
                .flatten(),
        )
    }

    pub(super) fn left(self) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(Instant::now()))
    }

    pub(super) fn is_over(self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }
}

/// The longest sleep before a deadline; `sure` when a change wakes the sleeper.
fn longest(deadline: Deadline, sure: bool) -> Option<Duration> {
    let left = deadline.left();
    if sure {
        left
    } else {
        Some(left.unwrap_or(UNSURE_SLEEP).min(UNSURE_SLEEP))
    }
}

/// Waits for hardware in a row that ended while others had the processor now and then.
struct Turns(AtomicU32);

static TURNS: Turns = Turns(AtomicU32::new(0));

impl Turns {
    /// Whether the next wait lets others have the processor.
    fn are_fine(&self) -> bool {
        let few = self.0.load(Ordering::Relaxed) < MOST_TURNS;
        if !few {
            self.0.store(0, Ordering::Relaxed);
        }
        few
    }

    /// Notes how a wait ended.
    fn note(&self, with_turns: bool) {
        let turns = self.0.load(Ordering::Relaxed);
        if with_turns {
            self.0.store(turns + 1, Ordering::Relaxed);
        } else if turns != 0 {
            self.0.store(0, Ordering::Relaxed);
        }
    }
}

/// Looks at `done` a few times. Answers whether it became true.
fn glance(mut done: impl FnMut() -> bool) -> bool {
    (0..64).any(|_| {
        std::hint::spin_loop();
        done()
    })
}

/// Looks at `done` for a short while. Answers whether it became true.
fn spin(deadline: Deadline, mut done: impl FnMut() -> bool) -> bool {
    glance(&mut done) || watch_from(Instant::now(), deadline, done)
}

/// Looks at `done` for a short while from a time on. Answers whether it became true.
fn watch_from(start: Instant, deadline: Deadline, mut done: impl FnMut() -> bool) -> bool {
    let served = hardware::is_served();
    let most = if served { SPIN_FOR_HARDWARE } else { SPIN };
    let (until, shared_from) = (start + most, start + ALONE);
    let takes_turns = served && TURNS.are_fine();
    let mut took_turns = false;
    loop {
        for _ in 0..32 {
            if done() {
                if served {
                    TURNS.note(took_turns);
                }
                return true;
            }
            std::hint::spin_loop();
        }
        let now = Instant::now();
        if now >= until || deadline.0.is_some_and(|at| now >= at) {
            return done();
        }
        if takes_turns && now >= shared_from {
            took_turns = true;
            std::thread::yield_now();
        }
    }
}

/// Looks at `done` until a time, or the deadline, and lets others have the processor now and then. Answers whether it became
/// true.
fn look_until(until: Instant, deadline: Deadline, mut done: impl FnMut() -> bool) -> bool {
    let mut yield_at = Instant::now() + ALONE;
    loop {
        for _ in 0..32 {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        let now = Instant::now();
        if now >= until || deadline.0.is_some_and(|at| now >= at) {
            return done();
        }
        if now >= yield_at {
            std::thread::yield_now();
            yield_at = Instant::now() + ALONE;
        }
    }
}

/// Counts threads that wait, for diagnosis.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// How many waits have gone to sleep.
pub fn sleeps() -> u64 {
    WAITS.load(Ordering::Relaxed)
}

/// Waits until the value satisfies the condition, or the time is over. Answers the last value seen.
pub fn wait(block: &Block, condition: Condition, compare: i64, timeout: u64) -> i64 {
    let mut value = block.value.load(Ordering::Acquire);
    if condition.holds(value, compare) || timeout == 0 {
        return value;
    }
    let deadline = Deadline::after(timeout);
    let mut look = || {
        value = block.value.load(Ordering::Acquire);
        condition.holds(value, compare)
    };
    if glance(&mut look) {
        rhythm::interrupt();
        return value;
    }
    let begun = Instant::now();
    // Hardware computes by itself; a software device may need the processor that looks.
    let mut window = hardware::is_served().then(rhythm::expected).flatten();
    let is_long = hardware::is_served() && rhythm::is_long();
    if !is_long && watch_from(begun, deadline, &mut look) {
        rhythm::interrupt();
        return value;
    }
    WAITS.fetch_add(1, Ordering::Relaxed);
    if block.is_shared() {
        ipc_wait::wait(block, deadline, look);
        return value;
    }
    block.waiters.fetch_add(watch::SLEEPER, Ordering::SeqCst);
    let age = (!block.has(flag::INTERNAL)).then_some(&seat::WAITERS);
    let lie_down = || Rest::new(&block.wakes, age, || hardware::enter(block, condition, compare));
    let mut rest = lie_down();
    loop {
        let since = rest.since();
        let sure = barrier_everywhere();
        if look() || deadline.is_over() {
            break;
        }
        let mut most = longest(deadline, sure);
        if let Some(rhythm::Window { from, until }) = window {
            let left = (begun + from).saturating_duration_since(Instant::now());
            if left.is_zero() {
                window = None;
                rest.get_up();
                if look_until(begun + until, deadline, &mut look) {
                    break;
                }
                rest = lie_down();
                continue;
            }
            most = Some(most.map_or(left, |most| most.min(left)));
        }
        rest.sleep(since, most);
        if look() || deadline.is_over() {
            break;
        }
    }
    drop(rest);
    // A wait that its time limit ends says nothing of the next, and does not make a thread look that waits again and again.
    if condition.holds(value, compare) {
        rhythm::note(begun.elapsed());
    } else {
        rhythm::interrupt();
    }
    block.waiters.fetch_sub(watch::SLEEPER, Ordering::SeqCst);
    value
}

/// Waits until `done` is true, which looks at the values of `blocks`, or the time is over. Answers whether it
/// was true.
pub fn wait_group(blocks: &[&Block], timeout: u64, mut done: impl FnMut() -> bool) -> bool {
    if done() {
        return true;
    }
    let deadline = Deadline::after(timeout);
    if timeout == 0 || spin(deadline, &mut done) {
        return done();
    }
    for block in blocks {
        if block.is_shared() {
            ipc_wait::watch(block);
        } else {
            block.waiters.fetch_add(watch::GROUP, Ordering::SeqCst);
        }
    }
    let sits = !blocks
        .iter()
        .any(|block| block.is_shared() || block.has(flag::INTERNAL));
    let age = sits.then_some(&seat::WAITERS);
    let mut rest = Rest::new(&GROUP_WAKES, age, hardware::enter_group);
    let mut naps = Naps::new();
    let result = loop {
        let since = rest.since();
        let shared = Seen::of(blocks.iter().copied());
        let sure = barrier_everywhere();
        if done() {
            break true;
        }
        if deadline.is_over() {
            break false;
        }
        if shared.is_empty() {
            rest.sleep(since, longest(deadline, sure));
        } else {
            shared.sleep(&GROUP_WAKES, since.word(), &mut naps, deadline.left());
        }
    };
    drop(rest);
    for block in blocks {
        if block.is_shared() {
            ipc_wait::unwatch(block);
        } else {
            block.waiters.fetch_sub(watch::GROUP, Ordering::SeqCst);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_waits_that_take_turns_does_not() {
        let turns = Turns(AtomicU32::new(0));
        for _ in 0..3 {
            for _ in 0..MOST_TURNS {
                assert!(turns.are_fine());
                turns.note(true);
            }
            assert!(!turns.are_fine());
        }
        for _ in 0..10 * MOST_TURNS {
            assert!(turns.are_fine());
            turns.note(true);
            turns.note(false);
        }
    }
}
