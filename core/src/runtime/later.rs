//! Work that waits for signals, done on the handler thread.

use super::Runtime;
use crate::error::Result;
use crate::signal::{pool, wait, Block, Condition};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

type Work = Box<dyn FnOnce(&Arc<Runtime>) -> Result<()> + Send>;

/// Work to be done, with the signals it needs. The signals live as long as it does.
struct Waiting {
    runtime: Weak<Runtime>,
    dependencies: Vec<&'static Block>,
    completion: Option<&'static Block>,
    work: Option<Work>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        for signal in self.dependencies.iter().copied().chain(self.completion) {
            pool::release(signal);
        }
    }
}

/// Does work when all dependencies have been seen to be 0, and then takes one from the completion signal; after work
/// that failed the signal gets a negative value.
///
/// # Errors
///
/// [`Error::OutOfResources`](crate::Error::OutOfResources) when the handler thread cannot start.
pub(crate) fn when_zero(
    runtime: &Arc<Runtime>,
    dependencies: Vec<&'static Block>,
    completion: Option<&'static Block>,
    work: impl FnOnce(&Arc<Runtime>) -> Result<()> + Send + 'static,
) -> Result<()> {
    for signal in dependencies.iter().copied().chain(completion) {
        pool::retain(signal);
    }
    go_on(
        runtime,
        Waiting {
            runtime: Arc::downgrade(runtime),
            dependencies,
            completion,
            work: Some(Box::new(work)),
        },
    )
}

/// Waits for the next dependency, or does the work.
fn go_on(runtime: &Arc<Runtime>, waiting: Waiting) -> Result<()> {
    let next = waiting
        .dependencies
        .iter()
        .copied()
        .find(|signal| signal.value.load(Ordering::Acquire) != 0);
    let mut waiting = Some(waiting);
    let Some(signal) = next else {
        return runtime.handlers.run(move || {
            if let Some(waiting) = waiting.take() {
                finish(waiting);
            }
        });
    };
    let again = move |_| {
        let Some(waiting) = waiting.take() else {
            return false;
        };
        if let Some(runtime) = waiting.runtime.upgrade() {
            // The thread runs: this is it.
            let _ = go_on(&runtime, waiting);
        }
        false
    };
    runtime
        .handlers
        .register(signal, Condition::Eq, 0, Box::new(again))
}

fn finish(mut waiting: Waiting) {
    let Some(runtime) = waiting.runtime.upgrade() else {
        return;
    };
    let result = waiting.work.take().map_or(Ok(()), |work| work(&runtime));
    if let Err(error) = &result {
        eprintln!("hansa: work that waited for signals failed: {error}");
    }
    if let Some(completion) = waiting.completion {
        if result.is_ok() {
            completion.value.fetch_sub(1, Ordering::AcqRel);
        } else {
            completion.value.store(-1, Ordering::Release);
        }
        wait::changed(completion);
    }
}
