//! What a thread of the pool does.

use super::pool::Pool;
use super::work::Task;
use super::Job;
use crate::engine::{Outcome, Rest};
use crate::exec::{Arena, FloatState};
use crate::queue::Queue;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an idle thread searches before it sleeps: longer than it takes the system to wake a thread of the program
/// that slept until its packet was done, or the two would take turns sleeping.
const SEARCH: Duration = Duration::from_micros(100);
/// Spins between two looks at memory that the host changes without telling.
const SPINS: u32 = 32;

/// Runs until the pool closes.
pub(super) fn run(pool: &Arc<Pool>) {
    precise_timer();
    let _float = FloatState::of_device();
    let mut thread = Thread {
        pool,
        arena: Arena::new(),
        searching: false,
        searched: false,
        parallel: std::thread::available_parallelism().map_or(true, |threads| threads.get() > 1),
    };
    while !pool.is_closing() {
        pool.poll();
        if pool.only_sleeps() {
            thread.nap();
        }
        match pool.take(&mut thread.searching) {
            Some(task) => thread.perform(task),
            // There is something, but not for this thread.
            None if pool.has_work() => thread.nap(),
            None => thread.idle(),
        }
    }
    thread.end_search();
}

/// Asks the kernel for naps as short as they are asked for: by default it adds 50 microseconds.
fn precise_timer() {
    // Refused, naps are longer than they should be.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1000));
}

struct Thread<'a> {
    pool: &'a Arc<Pool>,
    arena: Arena,
    /// Whether this is the one that searches for work.
    searching: bool,
    /// Whether it searched in vain since it last had something to do, or was woken.
    searched: bool,
    /// Whether others can run while it searches.
    parallel: bool,
}

impl Thread<'_> {
    fn perform(&mut self, task: Task) {
        self.searched = false;
        match task {
            Task::Packets(queue) => queue.serve(),
            Task::Groups(queue, job, groups) => {
                self.groups(&queue, &job, groups);
                queue.leave();
            }
            Task::Resume(queue, job, rest) => {
                self.resume(&queue, &job, rest);
                queue.leave();
            }
        }
    }

    fn groups(&mut self, queue: &Arc<Queue>, job: &Arc<Job>, groups: Range<u64>) {
        if job.timed && groups.start == 0 {
            job.begin(self.pool.now());
        }
        self.arena.set_budget(job.slice(queue.is_cooperative()));
        let begun = (groups.end < job.groups).then(Instant::now);
        let started = job.launch.on(queue);
        let mut over = 0;
        let mut ran = 0;
        let mut full = false;
        for group in groups.clone() {
            if queue.stopped() || job.failed() {
                over += groups.end - group;
                break;
            }
            ran += 1;
            match started.group(group, &mut self.arena) {
                Outcome::Done => over += 1,
                Outcome::Failed(failure) => {
                    job.fail(failure);
                    over += 1;
                }
                Outcome::Later { rest, idle } => self.pool.suspend(queue, job, rest, idle),
                Outcome::NoRoom => {
                    self.pool.put_back(queue, job, group..groups.end);
                    full = true;
                    break;
                }
            }
        }
        if let Some(begun) = begun {
            let nanoseconds = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            job.took(ran, nanoseconds);
        }
        self.over(queue, job, over);
        if full && over == 0 {
            self.nap();
        }
    }

    fn resume(&mut self, queue: &Arc<Queue>, job: &Arc<Job>, rest: Rest) {
        self.pool.resumed(job.launch.waves());
        if queue.stopped() || job.failed() {
            job.launch.forget(&rest);
        } else {
            self.arena.set_budget(job.slice(queue.is_cooperative()));
            match job.launch.resume(queue, rest, &mut self.arena) {
                Outcome::Done | Outcome::NoRoom => {}
                Outcome::Failed(failure) => job.fail(failure),
                Outcome::Later { rest, idle } => return self.pool.suspend(queue, job, rest, idle),
            }
        }
        self.over(queue, job, 1);
    }

    /// Counts work-groups that are over; the last one of a dispatch completes its packet.
    fn over(&mut self, queue: &Arc<Queue>, job: &Arc<Job>, groups: u64) {
        if groups == 0 {
            return;
        }
        self.pool.progress(job);
        if job.finish(groups) {
            if job.timed {
                job.complete(self.pool.now());
            }
            // Whoever waits for the packet brings the next one at once: this thread is about to look for it, and
            // nobody needs to be woken.
            self.searching = self.searching || self.pool.begin_search();
            queue.finished(job.slot);
        }
    }

    /// Waits for work: searches for a while if nobody else does, then sleeps.
    fn idle(&mut self) {
        let pool = self.pool;
        // A thread that only wakes to look at memory does not search each time.
        self.searching = self.searching || (!self.searched && self.parallel && pool.begin_search());
        if self.searching {
            if self.search() {
                return;
            }
            self.searched = true;
            self.end_search();
        }
        let ticket = pool.sleep.ticket();
        if pool.has_work() || pool.is_closing() {
            pool.sleep.cancel(ticket);
            return;
        }
        let timeout = pool.has_polls().then(|| pool.next_nap());
        let woken = pool.sleep.sleep(ticket, timeout);
        self.searched &= !woken;
    }

    fn search(&self) -> bool {
        let begun = Instant::now();
        loop {
            for _ in 0..SPINS {
                if self.pool.has_work() || self.pool.is_closing() {
                    return true;
                }
                std::hint::spin_loop();
            }
            self.pool.poll();
            if !self.parallel || begun.elapsed() > SEARCH {
                return false;
            }
        }
    }

    fn end_search(&mut self) {
        if self.searching {
            self.searching = false;
            self.pool.end_search();
        }
    }

    /// Sleeps because all that is left waits for somebody else.
    fn nap(&mut self) {
        self.end_search();
        let ticket = self.pool.sleep.ticket();
        self.pool.sleep.sleep(ticket, Some(self.pool.next_nap()));
    }
}
