//! The pool: work, the threads that do it, and who must be woken.

#![expect(
    clippy::cast_possible_truncation,
    reason = "addresses and sizes of this process fit its pointers"
)]

use super::here::Guest;
use super::job::Job;
use super::sleep::Sleep;
use super::work::{Task, Work};
use super::worker;
use crate::engine::Rest;
use crate::queue::Queue;
use hansa_plugin_api::sync::{Condvar, Mutex};
use hansa_plugin_api::{HostRef, LogLevel, RStr, ThreadEntry};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Nanoseconds of naps between looks at memory that the host changes without telling: from here, growing by halves,
const FIRST_NAP: u64 = 20_000;
/// to here while a queue waits,
const LONGEST_NAP: u64 = 1_000_000;
/// and to here while a kernel does.
const LONGEST_KERNEL_NAP: u64 = 50_000;

/// The pool of a driver.
#[derive(Debug)]
pub(crate) struct Pool {
    host: HostRef<'static>,
    /// Most threads.
    threads: u32,
    /// Most waves that may be under way and waiting.
    waves: u32,
    work: Mutex<Work>,
    /// [`Work::len`], to be read without the lock.
    pending: AtomicUsize,
    /// Waves of suspended work-groups.
    waiting_waves: AtomicU32,
    pub(super) sleep: Sleep,
    pub(super) guest: Guest,
    /// Whether an idle thread looks for work.
    searching: AtomicBool,
    /// [`Sleep::ends`] when a thread was woken ahead of the work for it, with a bit above; or 0.
    roused: AtomicU64,
    started: AtomicU32,
    live: Mutex<u32>,
    ended: Condvar,
    closing: AtomicBool,
    /// Queues that wait for memory that the host changes without telling.
    polled: Mutex<Vec<Arc<Queue>>>,
    polls: AtomicUsize,
    /// Those that somebody looks at now.
    polling: Mutex<Vec<Arc<Queue>>>,
    /// Nanoseconds of the next nap between looks at memory that the host changes without telling.
    nap: AtomicU64,
}

impl Pool {
    /// A pool of at most `threads` threads, none of which runs yet.
    pub(crate) fn new(host: HostRef<'static>, threads: u32, waves: u32) -> Self {
        Self {
            host,
            threads: threads.max(1),
            waves,
            work: Mutex::default(),
            pending: AtomicUsize::new(0),
            waiting_waves: AtomicU32::new(0),
            sleep: Sleep::default(),
            guest: Guest::default(),
            searching: AtomicBool::new(false),
            roused: AtomicU64::new(0),
            started: AtomicU32::new(0),
            live: Mutex::new(0),
            ended: Condvar::new(),
            closing: AtomicBool::new(false),
            polled: Mutex::default(),
            polls: AtomicUsize::new(0),
            polling: Mutex::default(),
            nap: AtomicU64::new(FIRST_NAP),
        }
    }

    /// Most threads.
    pub(crate) fn threads(&self) -> u32 {
        self.threads
    }

    /// Brings a dispatch.
    pub(crate) fn submit(self: &Arc<Self>, queue: &Arc<Queue>, job: &Arc<Job>) {
        self.add(|work| work.push(queue, job, 0..job.groups));
    }

    /// Brings a queue whose packets another thread should read.
    pub(crate) fn submit_packets(self: &Arc<Self>, queue: Arc<Queue>) {
        self.add(|work| work.push_packets(queue));
    }

    /// Looks at a queue's packets again before long. `news` is whether it has just begun to wait.
    pub(crate) fn watch(self: &Arc<Self>, queue: Arc<Queue>, news: bool) {
        let mut polled = self.polled.lock();
        polled.push(queue);
        self.polls.store(polled.len(), Ordering::SeqCst);
        drop(polled);
        if news {
            self.stay_awake();
        }
        // Whoever polls right now counts the queues after it has let go.
        if news || self.polling.try_lock().is_some() {
            self.wake();
        }
    }

    /// Lets a queue's groups be forgotten: those that have not begun and those that wait. Answers the jobs that
    /// ended by it.
    pub(crate) fn forget(&self, queue: &Arc<Queue>) -> Vec<Arc<Job>> {
        let mut work = self.work.lock();
        let removed = work.remove(queue);
        self.pending.store(work.len(), Ordering::SeqCst);
        drop(work);
        removed
            .into_iter()
            .filter_map(|(job, fresh, rests)| {
                for rest in &rests {
                    self.resumed(job.launch.waves());
                    job.launch.forget(rest);
                }
                let groups = fresh + rests.len() as u64;
                (groups > 0 && job.finish(groups)).then_some(job)
            })
            .collect()
    }

    /// Stops the threads and waits until they are gone.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        let mut live = self.live.lock();
        while *live > 0 {
            self.sleep.wake_all();
            self.ended.wait_for(&mut live, Duration::from_millis(10));
        }
        drop(live);
        self.polled.lock().clear();
        *self.work.lock() = Work::default();
    }

    fn add(self: &Arc<Self>, push: impl FnOnce(&mut Work)) {
        self.stay_awake();
        let mut work = self.work.lock();
        push(&mut work);
        self.pending.store(work.len(), Ordering::SeqCst);
        drop(work);
        self.wake();
    }

    /// Whether no thread works or searches, and there is nothing to do.
    pub(super) fn all_sleep(&self) -> bool {
        self.sleep.sleepers() >= self.started.load(Ordering::Relaxed)
            && self.pending.load(Ordering::Relaxed) == 0
    }

    /// Wakes a thread ahead of the work that is being prepared for it, if all of them sleep: waking takes longer.
    #[inline]
    pub(crate) fn rouse(&self) {
        if self.started.load(Ordering::Relaxed) == 0 || !self.all_sleep() {
            return;
        }
        let ends = self.sleep.ends();
        if self.sleep.wake_one() {
            self.roused.store(1 << 32 | u64::from(ends), Ordering::SeqCst);
        }
    }

    /// Sees to it that a thread finds what was just brought.
    pub(super) fn wake(self: &Arc<Self>) {
        let sleepers = self.sleep.anybody();
        if self.searching.load(Ordering::SeqCst) {
            return;
        }
        if sleepers && self.roused.load(Ordering::Relaxed) != 0 {
            let roused = self.roused.swap(0, Ordering::SeqCst);
            if roused == 1 << 32 | u64::from(self.sleep.ends()) {
                // The thread that was woken has not come back yet, and will look then.
                return;
            }
        }
        if sleepers {
            self.sleep.wake_one();
        } else if self.started.load(Ordering::Relaxed) < self.threads {
            self.start_thread();
        }
    }

    /// Tries again to start a thread if there was none to be had for the work that waits.
    #[inline]
    pub(crate) fn ensure_thread(self: &Arc<Self>) {
        if self.started.load(Ordering::Relaxed) == 0 && self.has_work() {
            self.wake();
        }
    }

    #[cold]
    fn start_thread(self: &Arc<Self>) {
        let index = self.started.fetch_add(1, Ordering::Relaxed);
        if index >= self.threads || self.is_closing() {
            self.started.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        *self.live.lock() += 1;
        let name = format!("hansa-sim-{index}");
        let argument = Arc::into_raw(Arc::clone(self)).expose_provenance() as u64;
        let entry = ThreadEntry { run, argument };
        if let Err(error) = self.host.spawn(RStr::from_str(&name), entry) {
            // SAFETY: the argument was made from an `Arc` just above and no thread took it.
            drop(unsafe { owned(argument) });
            *self.live.lock() -= 1;
            self.started.fetch_sub(1, Ordering::Relaxed);
            self.log(
                LogLevel::ERROR,
                &format!("Cannot start a thread for kernels: {error}"),
            );
        }
    }

    /// Takes the next thing to do, and wakes a further thread if there is more. `searching` is whether the caller is
    /// the one that searches; it is not after it found something.
    pub(super) fn take(self: &Arc<Self>, searching: &mut bool) -> Option<Task> {
        if self.pending.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut work = self.work.lock();
        let room = self.waiting_waves.load(Ordering::Relaxed) < self.waves;
        let task = work.take(u64::from(self.threads), room)?;
        let left = work.len();
        self.pending.store(left, Ordering::SeqCst);
        drop(work);
        if *searching {
            *searching = false;
            self.end_search();
        }
        if left > 0 {
            self.wake();
        }
        Some(task)
    }

    /// Puts a work-group aside that gave its thread back.
    pub(super) fn suspend(&self, queue: &Arc<Queue>, job: &Arc<Job>, rest: Rest, idle: bool) {
        self.waiting_waves
            .fetch_add(job.launch.waves(), Ordering::Relaxed);
        let mut work = self.work.lock();
        work.push_rest(queue, job, rest, idle);
        self.pending.store(work.len(), Ordering::SeqCst);
    }

    /// Puts work-groups back that could not begin.
    pub(super) fn put_back(&self, queue: &Arc<Queue>, job: &Arc<Job>, groups: Range<u64>) {
        let mut work = self.work.lock();
        work.push(queue, job, groups);
        self.pending.store(work.len(), Ordering::SeqCst);
    }

    /// Notes that waves go on, or are over.
    pub(super) fn resumed(&self, waves: u32) {
        self.waiting_waves.fetch_sub(waves, Ordering::Relaxed);
    }

    /// Notes that work-groups of a dispatch came to their end, which others may wait for.
    pub(super) fn progress(&self, job: &Job) {
        job.progress();
        if self.waiting_waves.load(Ordering::Relaxed) > 0 {
            self.work.lock().progress();
        }
    }

    /// Whether all there is to do is to wait.
    pub(super) fn only_sleeps(&self) -> bool {
        self.waiting_waves.load(Ordering::Relaxed) > 0 && self.work.lock().only_sleeps()
    }

    /// Whether there is something to do.
    #[inline]
    pub(super) fn has_work(&self) -> bool {
        self.pending.load(Ordering::SeqCst) > 0
    }

    /// Whether a queue wants its packets looked at.
    #[inline]
    pub(super) fn has_polls(&self) -> bool {
        self.polls.load(Ordering::SeqCst) > 0
    }

    /// Becomes the one that searches, if there is none.
    pub(super) fn begin_search(&self) -> bool {
        !self.searching.swap(true, Ordering::SeqCst)
    }

    /// Stops searching.
    pub(super) fn end_search(&self) {
        self.searching.store(false, Ordering::SeqCst);
    }

    /// Looks once at every queue that waits for memory. Cheap when there is none, or when somebody else is at it.
    pub(crate) fn poll(&self) {
        if !self.has_polls() {
            return;
        }
        let Some(mut batch) = self.polling.try_lock() else {
            return;
        };
        std::mem::swap(&mut *batch, &mut *self.polled.lock());
        for queue in batch.drain(..) {
            queue.poll();
        }
        drop(batch);
        let polled = self.polled.lock();
        self.polls.store(polled.len(), Ordering::SeqCst);
    }

    /// How long to sleep until the next look; longer from time to time.
    pub(super) fn next_nap(&self) -> Duration {
        let longest = if self.waiting_waves.load(Ordering::Relaxed) > 0 {
            LONGEST_KERNEL_NAP
        } else {
            LONGEST_NAP
        };
        let nap = self.nap.load(Ordering::Relaxed).min(longest);
        self.nap.store(nap + nap / 2, Ordering::Relaxed);
        Duration::from_nanos(nap)
    }

    /// Makes the next nap a short one: something happened.
    pub(super) fn stay_awake(&self) {
        self.nap.store(FIRST_NAP, Ordering::Relaxed);
    }

    /// Whether threads are to end.
    #[inline]
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// The runtime.
    pub(crate) fn host(&self) -> HostRef<'static> {
        self.host
    }

    /// Writes to the runtime's log.
    pub(crate) fn log(&self, level: LogLevel, message: &str) {
        // A log that fails has nowhere to say so.
        let _ = self.host.log(level, RStr::from_str(message));
    }

    /// The host's clock.
    pub(crate) fn now(&self) -> u64 {
        // The clock's method is required and only reads a clock.
        self.host.now().unwrap_or(0)
    }
}

/// Takes back the pool that a thread was given.
///
/// # Safety
///
/// `argument` comes from [`Pool::start_thread`], and nobody took it back before.
unsafe fn owned(argument: u64) -> Arc<Pool> {
    // SAFETY: as the caller promises, this is the pointer of `Arc::into_raw`.
    unsafe { Arc::from_raw(std::ptr::with_exposed_provenance(argument as usize)) }
}

extern "C" fn run(argument: u64) {
    // SAFETY: the host calls this once for the entry that `start_thread` made.
    let pool = unsafe { owned(argument) };
    worker::run(&pool);
    let mut live = pool.live.lock();
    *live -= 1;
    pool.ended.notify_all();
    drop(live);
}
