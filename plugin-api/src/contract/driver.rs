//! The driver: opens devices, describes their nodes, and does what only the device or the kernel can do.
//!
//! A driver does not implement HSA. It knows nothing of agents, regions, signals or executables; it sees its
//! own nodes, addresses, and the layouts that hardware reads (`amd_queue_t`, `amd_signal_t`).
//!
//! Methods may be called from any thread at the same time unless they say otherwise.

use super::copy::{CopyRequest, EngineDescription};
use super::description::SystemDescription;
use super::event::{EventInfo, EventRequest};
use super::memory::{
    AllocRequest, Allocation, ExportKind, HostMemoryRequest, ImportRequest, MapRequest, MemoryHandle,
    SharedHandle, SvmAttribute,
};
use super::profiling::{ClockCounters, PcSamplingConfig, SpmBuffer};
use super::queue::{QueueInfo, QueueRequest, QueueUpdate, ScratchRequest};
use crate::interface;
use abi_stable::std_types::{RSlice, RVec};

interface! {
    /// A driver backend. Life and description are required; every other group is optional and announced in
    /// [`SystemDescription::groups`].
    pub trait Driver, DriverVTable, DriverVTableRef, DriverVTablePrefix, DriverObject, DriverRef {
        /// Opens its devices. Called once, before anything else but `describe`.
        ///
        /// # Errors
        ///
        /// When no device can be opened; a device that cannot is left out of the description instead.
        fn open() -> ();
        /// Describes the open devices. Called after `open`; the answer does not change until `close`.
        fn describe() -> SystemDescription;
        /// Closes its devices and stops its threads. Nothing is called after it but `drop`.
        fn close() -> ();
    }
    optional {
        /// Tells a driver in a child process that it was forked. It must not touch the parent's devices; it
        /// drops what it has and answers [`ErrorCode::DEVICE_LOST`](crate::ErrorCode::DEVICE_LOST) from then on.
        fn after_fork() -> ();

        /// Memory: allocates from a bank of a node, visible to that node; zero filled, unless the bank says that its
        /// allocations are not ([`BankFlags::UNCLEARED`](crate::BankFlags::UNCLEARED)).
        fn allocate(request: &AllocRequest) -> Allocation;
        /// Memory: frees an allocation; maps of it are undone.
        fn free(handle: MemoryHandle) -> ();
        /// Memory: lets further nodes see an allocation. All of them, or an error and none.
        fn map(request: &MapRequest<'_>) -> ();
        /// Memory: takes an allocation from the sight of nodes.
        fn unmap(request: &MapRequest<'_>) -> ();
        /// Memory: lets nodes see host memory, at its host address unless the request leaves that to the driver.
        fn register_host(request: &HostMemoryRequest<'_>) -> Allocation;
        /// Memory: undoes `register_host`.
        fn deregister_host(handle: MemoryHandle) -> ();
        /// Memory: bytes of a node's local memory that can still be allocated.
        fn available(node: u32) -> u64;
        /// Memory: makes pages resident ahead of use.
        fn make_resident(handle: MemoryHandle, nodes: RSlice<'_, u32>) -> ();

        /// Virtual memory: reserves an address range for the nodes. The runtime has reserved it for the host: a driver
        /// whose devices share the host's addresses answers with the same address, or refuses.
        fn reserve(address: u64, bytes: u64, alignment: u64) -> u64;
        /// Virtual memory: gives a reserved range back.
        fn unreserve(address: u64, bytes: u64) -> ();
        /// Virtual memory: puts an allocation's pages at a reserved address, for nodes or, when the list is empty, for
        /// the host; `access` has bit 0 for reading, bit 1 for writing, bit 2 for execution. An allocation may be at
        /// several addresses at once, and at one address for several lists of nodes with different access.
        fn map_at(handle: MemoryHandle, offset: u64, address: u64, bytes: u64, nodes: RSlice<'_, u32>, access: u32) -> ();
        /// Virtual memory: takes the pages away again, from all nodes and the host. The address range stays reserved:
        /// nobody else's mapping can come to lie there.
        fn unmap_at(handle: MemoryHandle, address: u64, bytes: u64) -> ();

        /// Sharing: names an allocation to another process.
        fn export_memory(handle: MemoryHandle, kind: ExportKind) -> SharedHandle;
        /// Sharing: takes memory that another process named. An import for no nodes is memory without an address, for
        /// [`Driver::map_at`]; only a driver with virtual memory is asked for one.
        fn import_memory(request: &ImportRequest<'_>) -> Allocation;

        /// SVM: sets attributes of a range.
        fn svm_set(address: u64, bytes: u64, attributes: RSlice<'_, SvmAttribute>) -> ();
        /// SVM: reads attributes of a range.
        fn svm_get(address: u64, bytes: u64, attributes: RSlice<'_, SvmAttribute>) -> RVec<SvmAttribute>;

        /// Queues: creates one. Its packets may be read from then on.
        fn create_queue(request: &QueueRequest) -> QueueInfo;
        /// Queues: destroys one. On return no packet is read and no kernel of it runs any more.
        fn destroy_queue(queue: u64) -> ();
        /// Queues: changes priority, share or compute units.
        fn update_queue(queue: u64, update: &QueueUpdate<'_>) -> ();
        /// Queues: gives private memory for waves; the runtime puts it into the descriptor.
        fn allocate_scratch(request: &ScratchRequest) -> Allocation;
        /// Queues: installs a trap handler and its data.
        fn set_trap_handler(node: u32, code: u64, code_bytes: u64, data: u64, data_bytes: u64) -> ();
        /// Queues: gives a queue global wave sync resources; answers the first one's number.
        fn allocate_gws(queue: u64, count: u32) -> u32;

        /// Events: creates one.
        fn create_event(request: &EventRequest) -> EventInfo;
        /// Events: destroys one; waits on it end.
        fn destroy_event(event: u32) -> ();
        /// Events: raises one from the host.
        fn set_event(event: u32) -> ();
        /// Events: lowers a manual-reset one.
        fn reset_event(event: u32) -> ();
        /// Events: sleeps until one, or all, are raised. Answers whether they were; `false` when time ran out.
        /// `ages` (as long as `events`, or empty) lets several threads wait on one event without losing a wake-up.
        fn wait_events(events: RSlice<'_, u32>, ages: RSlice<'_, u64>, all: bool, timeout_ms: u32) -> bool;

        /// Copy: does it, and returns when it is done. Called on a thread of the runtime that may block.
        fn copy(request: &CopyRequest) -> ();
        /// Copy: describes the engines that the runtime feeds through queues.
        fn engines(node: u32) -> EngineDescription;

        /// Clocks of a node.
        fn clock_counters(node: u32) -> ClockCounters;
    }
    added {
        /// Profiling (minor 1): the ways a node can sample program counters.
        fn pc_sampling_configs(node: u32) -> RVec<PcSamplingConfig>;
        /// Profiling (minor 1): takes the streaming counters of a node.
        fn spm_acquire(node: u32) -> ();
        /// Profiling (minor 1): gives the streaming counters back.
        fn spm_release(node: u32) -> ();
        /// Profiling (minor 1): sets the buffer for streaming counters.
        fn spm_set_buffer(node: u32, buffer: &SpmBuffer) -> SpmBuffer;
        /// Profiling (minor 1): opens the stream of system management events of a node; answers a file descriptor.
        fn open_smi(node: u32) -> i32;

        /// Events (minor 2): sleeps as [`Driver::wait_events`] does until one of the events is older than its age in `ages`
        /// says, and answers the ages that they have then; nothing when time ran out. Each raising makes an event one
        /// older, from 1 on, so any number of threads can wait for one event and none loses a wake-up: it takes the age
        /// before it looks whether it still has to sleep. Events of signals only.
        fn wait_events_since(events: RSlice<'_, u32>, ages: RSlice<'_, u64>, timeout_ms: u32) -> RVec<u64>;
    }
}
