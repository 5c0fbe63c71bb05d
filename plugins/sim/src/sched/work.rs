//! What there is to do, in the order in which threads do it.
//!
//! Dispatches take turns: after a claim of work-groups a dispatch goes to the end of its line. Lines have priorities,
//! and the lowest one gets every sixteenth turn, so that it is slow and not stuck.
//!
//! A dispatch has work-groups that have not begun, work-groups that were interrupted because they take long, and
//! work-groups that sleep. Interrupted ones go before new ones, so that not more are under way than threads; but what
//! looks like work may be waiting for a work-group that has not begun, so when none comes to its end, new ones begin
//! as well. Sleeping ones take turns with the rest.

use super::job::Job;
use crate::engine::Rest;
use crate::queue::Queue;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Lines of work, by the queue's priority.
const LINES: usize = 4;
/// One turn in so many goes to the lowest line first.
const LOW_TURN: u64 = 16;

/// Something to do. Whoever takes groups has entered their queue ([`Queue::enter`]) and leaves it afterwards.
#[derive(Debug)]
pub(crate) enum Task {
    /// Read packets of a queue.
    Packets(Arc<Queue>),
    /// Run work-groups of a dispatch.
    Groups(Arc<Queue>, Arc<Job>, Range<u64>),
    /// Go on with a work-group.
    Resume(Arc<Queue>, Arc<Job>, Rest),
}

/// What there is to do for a dispatch.
#[derive(Debug)]
struct Active {
    queue: Arc<Queue>,
    job: Arc<Job>,
    /// Work-groups that have not begun.
    fresh: VecDeque<Range<u64>>,
    /// Work-groups that were interrupted.
    interrupted: VecDeque<Rest>,
    /// Work-groups that sleep.
    asleep: VecDeque<Rest>,
    /// Counts turns, to alternate.
    turn: usize,
}

impl Active {
    fn new(queue: Arc<Queue>, job: Arc<Job>) -> Self {
        Self {
            queue,
            job,
            fresh: VecDeque::new(),
            interrupted: VecDeque::new(),
            asleep: VecDeque::new(),
            turn: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.interrupted.is_empty() && self.asleep.is_empty()
    }

    /// Whether nothing is left but work-groups that sleep.
    fn only_sleeps(&self) -> bool {
        self.fresh.is_empty() && self.interrupted.is_empty()
    }

    /// Takes what is next. `room` is whether a further work-group may begin.
    fn take(&mut self, threads: u64, room: bool) -> Option<Task> {
        self.turn += 1;
        if self.turn.is_multiple_of(2) {
            if let Some(task) = self.resume_asleep() {
                return Some(task);
            }
        }
        let begins = room && self.may_begin(threads);
        if begins {
            if let Some(task) = self.begin(threads) {
                return Some(task);
            }
        }
        if let Some(rest) = self.interrupted.pop_front() {
            self.job.stagnate();
            return Some(self.resume(rest));
        }
        if room && !begins {
            if let Some(task) = self.begin(threads) {
                return Some(task);
            }
        }
        self.resume_asleep()
    }

    /// Whether a work-group may begin although others were interrupted.
    fn may_begin(&self, threads: u64) -> bool {
        let under_way = self.interrupted.len() as u64;
        self.queue.is_cooperative()
            || under_way < threads
            || (self.job.stagnant() > under_way && self.turn % 4 < 2)
    }

    fn begin(&mut self, threads: u64) -> Option<Task> {
        let range = self.fresh.front_mut()?;
        let claimed = range.start..range.start + self.job.claim(range.end - range.start, threads);
        range.start = claimed.end;
        if range.is_empty() {
            self.fresh.pop_front();
        }
        Some(Task::Groups(
            Arc::clone(&self.queue),
            Arc::clone(&self.job),
            claimed,
        ))
    }

    fn resume_asleep(&mut self) -> Option<Task> {
        let rest = self.asleep.pop_front()?;
        Some(self.resume(rest))
    }

    fn resume(&self, rest: Rest) -> Task {
        Task::Resume(Arc::clone(&self.queue), Arc::clone(&self.job), rest)
    }
}

/// All there is to do.
#[derive(Debug, Default)]
pub(crate) struct Work {
    packets: VecDeque<Arc<Queue>>,
    lines: [VecDeque<Active>; LINES],
    turn: u64,
    /// Turns since something happened that a work-group may wait for.
    fruitless: usize,
}

impl Work {
    /// Number of queues and dispatches that have something to do.
    pub(crate) fn len(&self) -> usize {
        self.packets.len() + self.lines.iter().map(VecDeque::len).sum::<usize>()
    }

    /// Whether there are nothing but work-groups that sleep, and each has been looked at in vain.
    pub(crate) fn only_sleeps(&self) -> bool {
        let mut all = self.lines.iter().flatten();
        self.packets.is_empty()
            && all.all(Active::only_sleeps)
            && self.fruitless
                > self
                    .lines
                    .iter()
                    .flatten()
                    .map(|active| active.asleep.len())
                    .sum()
    }

    /// Adds a queue whose packets are to be read.
    pub(crate) fn push_packets(&mut self, queue: Arc<Queue>) {
        self.fruitless = 0;
        self.packets.push_back(queue);
    }

    /// Adds work-groups that have not begun.
    pub(crate) fn push(&mut self, queue: &Arc<Queue>, job: &Arc<Job>, groups: Range<u64>) {
        self.fruitless = 0;
        self.active(queue, job).fresh.push_back(groups);
    }

    /// Adds a work-group that gave its thread back.
    pub(crate) fn push_rest(&mut self, queue: &Arc<Queue>, job: &Arc<Job>, rest: Rest, idle: bool) {
        let active = self.active(queue, job);
        if idle {
            active.asleep.push_back(rest);
        } else {
            active.interrupted.push_back(rest);
        }
    }

    /// Notes that something happened that a work-group may wait for.
    pub(crate) fn progress(&mut self) {
        self.fruitless = 0;
    }

    /// Takes what is next. `room` is whether a further work-group may begin.
    pub(crate) fn take(&mut self, threads: u64, room: bool) -> Option<Task> {
        if let Some(queue) = self.packets.pop_front() {
            return Some(Task::Packets(queue));
        }
        self.turn += 1;
        let low_first = self.turn.is_multiple_of(LOW_TURN);
        for step in 0..LINES {
            let line = if low_first { step } else { LINES - 1 - step };
            let line = &mut self.lines[line];
            for _ in 0..line.len() {
                let Some(mut active) = line.pop_front() else {
                    break;
                };
                if !active.queue.enter() {
                    line.push_back(active);
                    continue;
                }
                let task = active.take(threads, room);
                if task.is_none() {
                    active.queue.leave();
                }
                if !active.is_empty() {
                    line.push_back(active);
                }
                if let Some(task) = task {
                    self.fruitless += 1;
                    return Some(task);
                }
            }
        }
        None
    }

    /// Takes everything that belongs to a queue: how many groups have not begun, and what is left of others.
    pub(crate) fn remove(&mut self, queue: &Arc<Queue>) -> Vec<(Arc<Job>, u64, Vec<Rest>)> {
        let mut removed = Vec::new();
        for line in &mut self.lines {
            line.retain_mut(|active| {
                if !Arc::ptr_eq(&active.queue, queue) {
                    return true;
                }
                let fresh = active.fresh.drain(..).map(|range| range.end - range.start).sum();
                let rests = active.interrupted.drain(..).chain(active.asleep.drain(..));
                removed.push((Arc::clone(&active.job), fresh, rests.collect()));
                false
            });
        }
        removed
    }

    /// The entry of a dispatch, at the end of its line if it is not there.
    fn active(&mut self, queue: &Arc<Queue>, job: &Arc<Job>) -> &mut Active {
        let line = &mut self.lines[queue.line().min(LINES - 1)];
        let index = line
            .iter()
            .position(|active| Arc::ptr_eq(&active.job, job))
            .unwrap_or_else(|| {
                line.push_back(Active::new(Arc::clone(queue), Arc::clone(job)));
                line.len() - 1
            });
        &mut line[index]
    }
}
