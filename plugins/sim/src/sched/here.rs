//! Small kernels on the thread that brings them.
//!
//! To wake a thread takes longer than many a kernel, so while all threads of the pool sleep, the thread of the program that
//! rings the doorbell runs a dispatch of one small work-group itself. What it may do is bounded: a work-group that
//! is not over soon, or that waits for somebody, goes on in the pool.

use super::pool::Pool;
use super::Job;
use crate::engine::Outcome;
use crate::exec::{guard, Arena, FloatState};
use crate::queue::Queue;
use hansa_plugin_api::sync::Mutex;
use std::sync::Arc;

/// Most waves of such a work-group.
pub(crate) const MOST_WAVES: u32 = 4;
/// Branches that they may take together: few microseconds.
const BRANCHES: u32 = 100;

/// What became of a dispatch that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    /// It is over.
    Over,
    /// The pool goes on with it.
    UnderWay,
    /// It did not begin.
    No,
}

/// What a thread of the program needs to run kernels.
#[derive(Debug, Default)]
pub(super) struct Guest(Mutex<Arena>);

impl Pool {
    /// Runs a dispatch on the calling thread of the program, if that is a good idea.
    pub(crate) fn run_here(self: &Arc<Self>, queue: &Arc<Queue>, job: &Arc<Job>) -> Here {
        if job.groups != 1 || job.launch.waves() > MOST_WAVES || !self.all_sleep() {
            return Here::No;
        }
        // A kernel may touch memory that is no longer there.
        if !guard::is_armed() {
            return Here::No;
        }
        let Some(mut arena) = self.guest.0.try_lock() else {
            return Here::No;
        };
        if !queue.enter() {
            return Here::No;
        }
        let _float = FloatState::of_device();
        arena.set_limit(BRANCHES);
        if job.timed {
            job.begin(self.now());
        }
        let outcome = job.launch.on(queue).group(0, &mut arena);
        drop(arena);
        queue.leave();
        match outcome {
            Outcome::Done => {}
            Outcome::Failed(failure) => job.fail(failure),
            Outcome::Later { rest, idle } => {
                self.stay_awake();
                self.suspend(queue, job, rest, idle);
                self.wake();
                return Here::UnderWay;
            }
            Outcome::NoRoom => return Here::No,
        }
        job.finish(1);
        if job.timed {
            job.complete(self.now());
        }
        Here::Over
    }
}
