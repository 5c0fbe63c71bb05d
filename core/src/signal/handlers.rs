//! Asynchronous handlers: one thread per runtime calls functions when signals satisfy conditions
//! (`hsa_amd_signal_async_handler`).
//!
//! The thread starts with the first handler. It keeps a list, looks at it when a watched signal changes, and
//! sleeps otherwise. A handler that answers `true` stays, and is called again as long as its condition holds; between two
//! calls whoever shares the processor gets a turn, so that it can change the signal.

use super::block::Block;
use super::ipc_wait::Naps;
use super::pool;
use super::wait::{self, Condition};
use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
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

struct Shared {
    incoming: Mutex<Vec<Handler>>,
    stopping: AtomicBool,
}

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
            shared: Arc::new(Shared {
                incoming: Mutex::new(Vec::new()),
                stopping: AtomicBool::new(false),
            }),
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
        // The watch is set and cleared under the lock of the list, so that neither undoes the other.
        let mut incoming = self.shared.incoming.lock();
        wait::watch_as_handler(signal);
        incoming.push(Handler {
            signal: Some(signal),
            condition,
            compare,
            callback,
        });
        drop(incoming);
        wait::wake_handlers();
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
        let handler = Handler {
            signal: None,
            condition: Condition::Eq,
            compare: 0,
            callback,
        };
        self.shared.incoming.lock().push(handler);
        wait::wake_handlers();
        Ok(())
    }

    fn start(&self) -> Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let started = std::thread::Builder::new()
                .name("hansa-handlers".into())
                .spawn(move || serve(&shared))
                .map_err(|_| Error::OutOfResources("a thread for asynchronous handlers"))?;
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
    }
}

fn satisfied(handler: &Handler) -> Option<i64> {
    let Some(signal) = handler.signal else {
        return Some(0);
    };
    let value = signal.value.load(Ordering::Acquire);
    handler.condition.holds(value, handler.compare).then_some(value)
}

fn finish(handler: &Handler, others: &[Handler]) {
    if let Some(signal) = handler.signal {
        let watched = others
            .iter()
            .any(|o| o.signal.is_some_and(|s| std::ptr::eq(s, signal)));
        wait::unwatch_as_handler(signal, !watched);
        pool::release(signal);
    }
}

fn serve(shared: &Shared) {
    let mut handlers: Vec<Handler> = Vec::new();
    let mut naps = Naps::new();
    // What woke it may come again at once.
    let mut fresh = false;
    while !shared.stopping.load(Ordering::Acquire) {
        handlers.append(&mut shared.incoming.lock());
        let (mut called, mut stays) = (false, false);
        let mut index = 0;
        while index < handlers.len() {
            let Some(value) = satisfied(&handlers[index]) else {
                index += 1;
                continue;
            };
            called = true;
            // A panic would be a bug of ours in a callback that we made; it must not end the thread.
            let callback = &mut handlers[index].callback;
            let stay = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| callback(value)));
            if stay.unwrap_or(false) {
                stays = true;
                index += 1;
            } else {
                let handler = handlers.swap_remove(index);
                // A handler registered for the same signal meanwhile set the watch again or is in `incoming`.
                let incoming = shared.incoming.lock();
                if !incoming.iter().any(|o| same_signal(o, &handler)) {
                    finish(&handler, &handlers);
                } else if let Some(signal) = handler.signal {
                    wait::unwatch_as_handler(signal, false);
                    pool::release(signal);
                }
            }
            if shared.stopping.load(Ordering::Acquire) {
                break;
            }
        }
        if called {
            naps = Naps::new();
            fresh = true;
            if stays {
                std::thread::yield_now();
            }
        } else if std::mem::take(&mut fresh) {
            wait::spin_as_handler();
        } else {
            let watched = handlers
                .iter()
                .filter_map(|h| Some((h.signal?, h.condition, h.compare)));
            wait::sleep_as_handler(watched, &mut naps, || {
                shared.stopping.load(Ordering::Acquire)
                    || !shared.incoming.lock().is_empty()
                    || handlers.iter().any(|h| satisfied(h).is_some())
            });
        }
    }
    for handler in handlers.drain(..).chain(shared.incoming.lock().drain(..)) {
        finish(&handler, &[]);
    }
}

fn same_signal(a: &Handler, b: &Handler) -> bool {
    matches!((a.signal, b.signal), (Some(a), Some(b)) if std::ptr::eq(a, b))
}
