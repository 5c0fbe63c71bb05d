//! Services for queues, their times and their interception.

use super::profiling::SpmBuffer;
use super::services_types::{
    CountedQueueRequest, InterceptHandler, InterceptQueueRequest, QueueDescription, QueueNotifier,
    SemaphoreCommand, TimeSpan,
};
use crate::interface;
use abi_stable::std_types::{RSlice, RVec};

interface! {
    /// Queues, their times and their interception. A queue is the address of its `hsa_queue_t`; INVALID_QUEUE for an
    /// address that is none, or one that was destroyed.
    pub trait QueueServices, QueueServicesVTable, QueueServicesVTableRef, QueueServicesVTablePrefix,
        QueueServicesObject, QueueServicesRef
    {
    }
    optional {
        /// Makes a queue. INVALID_AGENT; INVALID_ARGUMENT for a size the agent does not take; INVALID_QUEUE_CREATION for
        /// an engine or a type the agent does not have; OUT_OF_RESOURCES.
        fn create(agent: u64, description: &QueueDescription<'_>) -> u64;
        /// A new name for one of an agent's few shared queues of this priority, the one with the fewest users.
        /// INVALID_AGENT unless it is a GPU; OUT_OF_RESOURCES.
        fn counted_acquire(agent: u64, request: &CountedQueueRequest) -> u64;
        /// Gives the name back. ERROR for a queue that is none, or was given back before.
        fn counted_release(queue: u64) -> ();
        /// Makes a queue whose packets pass through handlers. Statuses as of `hsa_queue_create`.
        fn intercept_create(agent: u64, request: &InterceptQueueRequest) -> u64;
        /// Adds a handler, which sees packets before those that were added earlier. INVALID_QUEUE unless the queue
        /// came from [`QueueServices::intercept_create`].
        fn intercept_register(queue: u64, handler: InterceptHandler) -> ();
        /// Calls `notifier` for every queue that the runtime makes for itself from now on. ERROR when one is
        /// registered already.
        fn on_create(notifier: QueueNotifier) -> ();

        /// Sets a queue's priority (`hsa_amd_queue_priority_t`). INVALID_QUEUE also for soft and counted queues.
        fn set_priority(queue: u64, priority: u32) -> ();
        /// Sets the compute units a queue may use, all of them for an empty list; answers true when the process's own
        /// mask took some away. INVALID_QUEUE also for soft and counted queues; INVALID_ARGUMENT for half a pair where
        /// units come in pairs.
        fn set_cu_mask(queue: u64, mask: RSlice<'_, u32>) -> bool;
        /// The compute units a queue may use. INVALID_QUEUE also for soft queues.
        fn cu_mask(queue: u64) -> RVec<u32>;
        /// An attribute of a queue (`hsa_queue_info_attribute_t`), widened to 64 bits. INVALID_QUEUE; INVALID_ARGUMENT
        /// for an attribute the queue does not have.
        fn info(queue: u64, attribute: u32) -> u64;

        /// Turns time stamps in completion signals on or off. INVALID_QUEUE; success for soft queues.
        fn set_profiling(queue: u64, enable: bool) -> ();
        /// When the packet that a signal completed ran, in system ticks. INVALID_AGENT unless it is a GPU;
        /// INVALID_SIGNAL.
        fn dispatch_time(agent: u64, signal: u64) -> TimeSpan;
        /// An agent's tick in system ticks. INVALID_AGENT unless it is a GPU.
        fn convert_tick(agent: u64, tick: u64) -> u64;

        /// Takes the streaming counters of an agent. INVALID_AGENT unless it is a GPU; ERROR when another process has
        /// them.
        fn spm_acquire(agent: u64) -> ();
        /// Gives the streaming counters back. INVALID_AGENT; ERROR when they were not taken.
        fn spm_release(agent: u64) -> ();
        /// Changes the buffer the counters go to, and answers what happened to the one before. INVALID_AGENT; ERROR
        /// when they were not taken.
        fn spm_set_buffer(agent: u64, buffer: SpmBuffer) -> SpmBuffer;

        /// Imports a foreign semaphore; `kind` is `hsa_amd_external_semaphore_handle_type_t`, `handle` the system's
        /// handle. The caller has checked that the agent is a GPU.
        fn semaphore_open(agent: u64, kind: u32, handle: u64) -> u64;
        /// Lets go of a foreign semaphore. INVALID_ARGUMENT.
        fn semaphore_close(semaphore: u64) -> ();
        /// Lets the queue signal a foreign semaphore or wait for it. INVALID_QUEUE; INVALID_ARGUMENT for the
        /// semaphore; INVALID_AGENT for the semaphore of another agent.
        fn semaphore_submit(command: SemaphoreCommand) -> ();
    }
    added {
    }
}
