//! Queues that several users share (`hsa_amd_counted_queue_acquire`).
//!
//! An agent has few hardware queues for programs with many streams. Each user gets an `hsa_queue_t` of its own, which
//! names the ring and the doorbell of a shared queue; operations on its indexes go to the shared queue's. A shared
//! queue lives as long as the runtime.

use super::descriptor::{ARENA, NAME_TAG};
use super::listeners::ErrorCallback;
use super::{fill_common, slots, Queue, QueueOptions, QueueType, Ring, Server};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::{Condvar, Mutex};
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// One of the names of a shared queue.
#[derive(Debug)]
pub struct Name {
    shared: Arc<Queue>,
}

impl Name {
    /// The queue that it names.
    pub(super) fn shared(&self) -> &Queue {
        &self.shared
    }
}

/// The shared queues of a runtime.
#[derive(Debug, Default)]
pub struct Pool {
    shared: Mutex<Vec<Shared>>,
    made: Condvar,
    notifier: Mutex<Option<api::QueueNotifier>>,
}

/// A shared queue.
#[derive(Debug)]
struct Shared {
    agent: usize,
    priority: api::QueuePriority,
    /// `None` while it is made.
    queue: Option<Arc<Queue>>,
    users: u32,
}

impl Shared {
    fn serves(&self, agent: usize, priority: api::QueuePriority) -> bool {
        let dead = self.queue.as_ref().is_some_and(|queue| queue.is_inactive());
        self.agent == agent && self.priority == priority && !dead
    }

    fn is(&self, queue: &Queue) -> bool {
        self.queue
            .as_ref()
            .is_some_and(|known| std::ptr::eq(&raw const **known, queue))
    }
}

/// Takes back a place for a queue that could not be made.
struct Place<'a> {
    pool: &'a Pool,
    agent: usize,
    priority: api::QueuePriority,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut shared = self.pool.shared.lock();
        let unmade = |s: &Shared| s.queue.is_none() && s.agent == self.agent && s.priority == self.priority;
        if let Some(index) = shared.iter().position(unmade) {
            shared.remove(index);
        }
        drop(shared);
        self.pool.made.notify_all();
    }
}

impl Pool {
    /// Calls `notifier` for every queue that the runtime makes for itself from now on.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] when one is registered already.
    pub fn notify(&self, notifier: api::QueueNotifier) -> Result<()> {
        let mut known = self.notifier.lock();
        if known.is_some() {
            return Err(Error::Failed("a notifier for queues is registered already"));
        }
        *known = Some(notifier);
        Ok(())
    }

    /// A new name for the agent's shared queue of this priority that has the fewest users; for a new queue while
    /// there are few and all have users.
    ///
    /// # Errors
    ///
    /// As [`Queue::create`].
    pub fn acquire(
        &self,
        runtime: &Arc<Runtime>,
        agent: usize,
        priority: api::QueuePriority,
        callback: Option<ErrorCallback>,
    ) -> Result<u64> {
        let shared = self.take(runtime, agent, priority)?;
        name(runtime, &shared, callback).inspect_err(|_| self.give_back(&shared))
    }

    /// A shared queue, with one more user.
    fn take(&self, runtime: &Arc<Runtime>, agent: usize, priority: api::QueuePriority) -> Result<Arc<Queue>> {
        let most = runtime.config.settings.hsa.max_counted_queues.value.0.max(1);
        let mut shared = self.shared.lock();
        loop {
            let ours = || shared.iter().filter(|s| s.serves(agent, priority));
            let (count, idle) = (ours().count(), ours().any(|s| s.users == 0));
            if !idle && u32::try_from(count).is_ok_and(|count| count < most) {
                break;
            }
            let best = shared
                .iter_mut()
                .filter(|s| s.serves(agent, priority))
                .filter(|s| s.queue.is_some())
                .min_by_key(|s| s.users);
            if let Some(Shared {
                queue: Some(queue),
                users,
                ..
            }) = best
            {
                *users += 1;
                return Ok(Arc::clone(queue));
            }
            self.made.wait(&mut shared);
        }
        shared.push(Shared {
            agent,
            priority,
            queue: None,
            users: 1,
        });
        drop(shared);
        let place = Place {
            pool: self,
            agent,
            priority,
        };
        let queue = self.make(runtime, agent, priority)?;
        let mut shared = self.shared.lock();
        let unmade = |s: &&mut Shared| s.queue.is_none() && s.agent == agent && s.priority == priority;
        if let Some(entry) = shared.iter_mut().find(unmade) {
            entry.queue = Some(Arc::clone(&queue));
        }
        drop(shared);
        std::mem::forget(place);
        self.made.notify_all();
        Ok(queue)
    }

    /// Makes a shared queue, which a tool can intercept if one asked to be told.
    fn make(&self, runtime: &Arc<Runtime>, agent: usize, priority: api::QueuePriority) -> Result<Arc<Queue>> {
        let size = runtime.config.settings.hsa.counted_queue_size.value.0;
        let largest = runtime.agents[agent]
            .device()
            .map_or(size, |device| device.description.max_queue_packets);
        let options = QueueOptions {
            agent,
            packets: size.min(largest),
            queue_type: QueueType::Multi,
            callback: None,
            private_bytes: u32::MAX,
            priority,
        };
        let notifier = *self.notifier.lock();
        let Some(notifier) = notifier else {
            return Queue::create(runtime, &options);
        };
        let queue = Queue::create_intercepted(runtime, &options)?;
        let handle = usize::try_from(queue.descriptor.handle()).unwrap_or(0);
        // SAFETY: the tool gave this function for exactly this call.
        unsafe {
            (notifier.function)(
                std::ptr::with_exposed_provenance(handle),
                runtime.agent_handle(agent),
                notifier.argument,
            );
        }
        Ok(queue)
    }

    fn give_back(&self, queue: &Queue) {
        if let Some(shared) = self.shared.lock().iter_mut().find(|s| s.is(queue)) {
            shared.users = shared.users.saturating_sub(1);
        }
    }

    /// Takes a name back.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] for anything that is no name.
    pub fn release(&self, runtime: &Runtime, handle: u64) -> Result<()> {
        let queue = {
            let mut queues = runtime.queues.lock();
            if !queues.get(&handle).is_some_and(|queue| queue.is_counted()) {
                return Err(Error::Failed("not a counted queue"));
            }
            queues.remove(&handle)
        };
        let Some(queue) = queue else {
            return Err(Error::Failed("not a counted queue"));
        };
        if let Server::Counted(name) = &queue.server {
            if let Some(device) = name.shared.device() {
                device.listeners.remove(handle);
            }
            self.give_back(&name.shared);
        }
        queue.destroy(runtime);
        Ok(())
    }

    /// How many names the queue behind a name has; `None` for a queue that is no name.
    pub fn users(&self, queue: &Queue) -> Option<u32> {
        let Server::Counted(name) = &queue.server else {
            return None;
        };
        let shared = self.shared.lock();
        shared.iter().find(|s| s.is(&name.shared)).map(|s| s.users)
    }

    /// Whether a handle is that of a shared queue.
    pub fn owns(&self, handle: u64) -> bool {
        let shared = self.shared.lock();
        let queues = shared.iter().filter_map(|s| s.queue.as_ref());
        queues
            .into_iter()
            .any(|queue| queue.descriptor.handle() == handle)
    }

    /// Forgets all shared queues, which are destroyed with the program's.
    pub(crate) fn forget(&self) {
        self.shared.lock().clear();
    }
}

/// Makes a name for a shared queue.
fn name(runtime: &Arc<Runtime>, shared: &Arc<Queue>, callback: Option<ErrorCallback>) -> Result<u64> {
    let (descriptor, of) = (slots::take(runtime)?, shared.descriptor);
    fill_common(
        descriptor,
        shared.queue_type,
        of.features.load(Ordering::Relaxed),
        of.size.load(Ordering::Relaxed),
        of.base_address.load(Ordering::Relaxed),
        of.doorbell.load(Ordering::Relaxed),
    );
    descriptor
        .role
        .store(of.role.load(Ordering::Relaxed), Ordering::Relaxed);
    descriptor.named.store(of.handle(), Ordering::Relaxed);
    debug_assert!(usize::try_from(of.handle()).is_ok_and(|address| ARENA.holds(address)));
    descriptor.tag.store(NAME_TAG, Ordering::Release);
    let queue = Arc::new(Queue {
        agent: shared.agent,
        queue_type: shared.queue_type,
        server: Server::Counted(Name {
            shared: Arc::clone(shared),
        }),
        descriptor,
        ring: Ring::Another,
    });
    if let Some(device) = shared.device() {
        device.listeners.add(descriptor.handle(), callback);
    }
    queue.publish(runtime);
    Ok(descriptor.handle())
}
