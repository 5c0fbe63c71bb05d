//! The runtime's services: what an extension can ask of the runtime.
//!
//! An extension turns C arguments into the plain values here and C statuses out of the answers; the runtime looks
//! handles up and keeps every HSA rule. Handles are HSA's 64-bit values, a queue is the address of its
//! `hsa_queue_t`, and lists are borrowed for the call only. A refusal is [`Error::status`](crate::Error::status) with
//! the `hsa_status_t`; a service that a runtime does not have answers
//! [`ErrorCode::NOT_SUPPORTED`](crate::ErrorCode::NOT_SUPPORTED).
//!
//! The services are grouped, because a stable table of functions holds at most 64 of them and because each group is
//! one part of the runtime: [`MemoryServices`](crate::MemoryServices), [`SharingServices`](crate::SharingServices),
//! [`SignalServices`](crate::SignalServices), [`CopyServices`](crate::CopyServices),
//! [`QueueServices`](crate::QueueServices) and [`LoaderServices`](crate::LoaderServices).
//!
//! Every service may be called from any thread. A callback that the runtime is handed here is called with no lock of
//! the runtime held. The statuses that a service names are those the AMD header and AMD's runtime give for the case.

use super::description::NodeDescription;
use super::services_copy::CopyServicesRef;
use super::services_loader::LoaderServicesRef;
use super::services_memory::MemoryServicesRef;
use super::services_queue::QueueServicesRef;
use super::services_sharing::SharingServicesRef;
use super::services_signal::SignalServicesRef;
use super::services_types::{AgentKind, EventHandler, ImageRequest, LogSink};
use crate::interface;
use abi_stable::std_types::RVec;

interface! {
    /// What an extension can ask of the runtime: its state, its agents, and the groups of services.
    pub trait RuntimeServices, RuntimeServicesVTable, RuntimeServicesVTableRef, RuntimeServicesVTablePrefix,
        RuntimeServicesObject, RuntimeServicesRef
    {
        /// Whether the runtime is between the first `hsa_init` and the last `hsa_shut_down`.
        fn is_running() -> bool;
    }
    optional {
        /// Pools, allocations, locked host memory. The group lives as long as this object.
        fn memory() -> MemoryServicesRef<'static>;
        /// Memory across processes and drivers, virtual memory, shared virtual memory. Lives as long as this object.
        fn sharing() -> SharingServicesRef<'static>;
        /// Signals and their handlers. The group lives as long as this object.
        fn signals() -> SignalServicesRef<'static>;
        /// Copies and their times. The group lives as long as this object.
        fn copies() -> CopyServicesRef<'static>;
        /// Queues, their times and their interception. The group lives as long as this object.
        fn queues() -> QueueServicesRef<'static>;
        /// Code objects and executables. The group lives as long as this object.
        fn loader() -> LoaderServicesRef<'static>;

        /// All agents, in the order in which `hsa_iterate_agents` shows them.
        fn agents() -> RVec<u64>;
        /// What an agent is. INVALID_AGENT for a handle that is none.
        fn agent_kind(agent: u64) -> AgentKind;
        /// The value of an attribute, as `hsa_agent_get_info` writes it. INVALID_AGENT; INVALID_ARGUMENT for an unknown
        /// attribute.
        fn agent_attribute(agent: u64, attribute: u32) -> RVec<u8>;
        /// The value of an attribute, as `hsa_system_get_info` writes it. INVALID_ARGUMENT for an unknown attribute.
        fn system_attribute(attribute: u32) -> RVec<u8>;

        /// Coherency of an agent's fine-grained memory (`hsa_amd_coherency_type_t`). INVALID_AGENT unless it is a GPU.
        fn coherency(agent: u64) -> u32;
        /// Wishes for a coherency; hardware whose coherency is fixed accepts and ignores it. INVALID_AGENT unless it is
        /// a GPU.
        fn set_coherency(agent: u64, coherency: u32) -> ();
        /// Pays an agent's lazy initialisation now, except for what `flags` names
        /// (`hsa_amd_agent_preload_flag_t`). INVALID_AGENT unless it is a GPU.
        fn preload(agent: u64, flags: u64) -> ();
        /// Sets how large scratch may be and still stay with its queue. INVALID_AGENT; INVALID_ARGUMENT if the agent
        /// cannot take scratch back from a running queue.
        fn set_async_scratch_limit(agent: u64, bytes: u64) -> ();
        /// Sets an attribute of an agent (`hsa_amd_agent_attribute_t`). INVALID_AGENT; INVALID_ARGUMENT for a value out
        /// of range.
        fn set_agent_attribute(agent: u64, attribute: u32, value: u64) -> ();

        /// Calls `handler` for faults, exceptions and shut down. ERROR when one is registered already.
        fn on_system_event(handler: EventHandler) -> ();
        /// Sends the runtime's packet log to `sink`: bits by `hsa_amd_log_flag_t`; 0 ends it. Replaces what was set
        /// before.
        fn log_packets(flags: u64, sink: LogSink) -> ();
        /// Makes an image from a vendor's own description. INVALID_AGENT; INVALID_ARGUMENT for a description that is
        /// not this agent's; the image extension's statuses.
        fn image_create(request: &ImageRequest) -> u64;
        /// From now on reads several pairs of clocks where one would do.
        fn high_precision_timestamps() -> ();
    }
    added {
        /// What the driver said of an agent's device. INVALID_AGENT for a CPU, which has none.
        fn device_description(agent: u64) -> NodeDescription;
    }
}

#[cfg(test)]
mod tests {
    use super::super::services_memory::{MemoryServices, MemoryServicesObject};
    use super::*;
    use crate::{Error, ErrorCode, Result, RuntimeServicesObject};
    use std::sync::OnceLock;

    struct Runtime;
    struct Memory;

    impl RuntimeServices for Runtime {
        fn is_running(&self) -> Result<bool> {
            Ok(true)
        }

        fn memory(&self) -> Result<MemoryServicesRef<'static>> {
            static MEMORY: OnceLock<MemoryServicesObject> = OnceLock::new();
            Ok(MEMORY.get_or_init(|| MemoryServicesObject::new(Memory)).as_ref())
        }
    }

    impl MemoryServices for Memory {
        fn pools(&self, agent: u64) -> Result<RVec<u64>> {
            if agent == 7 {
                Ok(RVec::from(vec![70, 71]))
            } else {
                Err(Error::status(0x1004, "No such agent"))
            }
        }
    }

    #[test]
    fn a_group_is_reached_through_the_runtime_and_answers_with_statuses() {
        let runtime = RuntimeServicesObject::new(Runtime);
        let memory = runtime.memory().expect("the group is there");
        assert_eq!(memory.pools(7).expect("agent 7 has pools").to_vec(), [70, 71]);
        let refused = memory.pools(8).expect_err("agent 8 is none");
        assert_eq!((refused.code, refused.errno), (ErrorCode::STATUS, 0x1004));
    }

    #[test]
    fn what_a_runtime_does_not_have_is_not_supported() {
        let runtime = RuntimeServicesObject::new(Runtime);
        let absent = runtime.signals().expect_err("there are no signals");
        assert_eq!(absent.code, ErrorCode::NOT_SUPPORTED);
        let memory = runtime.memory().expect("the group is there");
        assert_eq!(
            memory.free(1).expect_err("nothing frees").code,
            ErrorCode::NOT_SUPPORTED
        );
    }
}
