//! Values of the runtime's services: requests, answers, and callbacks of the program.
//!
//! Numbers are HSA's wherever a comment names one of its types. Addresses and handles are `u64`.

use abi_stable::std_types::{ROption, RSlice, RStr, RString, RVec};
use abi_stable::StableAbi;
use std::ffi::c_void;

/// Declares a C function of the program together with the argument that it is called with.
macro_rules! callbacks {
    ($($(#[$meta:meta])* pub struct $Name:ident = $Function:ty;)*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, StableAbi)]
            pub struct $Name {
                /// The function. Whoever calls it keeps to its C contract.
                pub function: $Function,
                /// The program's argument, passed on as it is.
                pub argument: *mut c_void,
            }

            // SAFETY: the runtime never looks at what the argument points to; by the C contract the program's function
            // may be called on any thread.
            unsafe impl Send for $Name {}
            // SAFETY: as above.
            unsafe impl Sync for $Name {}
        )*
    };
}

callbacks! {
    /// Called with the value that met the condition; false ends the registration (`hsa_amd_signal_handler`).
    pub struct SignalHandler = unsafe extern "C" fn(i64, *mut c_void) -> bool;
    /// Called once.
    pub struct AsyncFunction = unsafe extern "C" fn(*mut c_void);
    /// Called with the address that was registered when its memory is freed (`hsa_amd_deallocation_callback_t`).
    pub struct FreeCallback = unsafe extern "C" fn(*mut c_void, *mut c_void);
    /// Called with an `hsa_amd_event_t`; an answer other than success means that nobody took care of the event
    /// (`hsa_amd_system_event_callback_t`).
    pub struct EventHandler = unsafe extern "C" fn(*const c_void, *mut c_void) -> u32;
    /// Called with a status and the queue (an `hsa_queue_t`) that it happened to.
    pub struct QueueErrorHandler = unsafe extern "C" fn(u32, *mut c_void, *mut c_void);
    /// Called with the queue (an `hsa_queue_t`) and the handle of the agent that it was made on.
    pub struct QueueNotifier = unsafe extern "C" fn(*const c_void, u64, *mut c_void);
    /// Called with packets, their number, the index of the first one, the argument, and the function that takes the
    /// packets to be run instead (`hsa_amd_queue_intercept_handler`).
    pub struct InterceptHandler =
        unsafe extern "C" fn(*const c_void, u64, u64, *mut c_void, PacketWriter);
    /// Called with text and its length in bytes.
    pub struct LogSink = unsafe extern "C" fn(*mut c_void, *const u8, usize);
}

/// The function that takes packets and their number (`hsa_amd_queue_intercept_packet_writer`).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct PacketWriter(pub unsafe extern "C" fn(*const c_void, u64));

/// What an agent is (`hsa_device_type_t`).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct AgentKind(pub u32);

impl AgentKind {
    /// A host processor.
    pub const CPU: Self = Self(0);
    /// A GPU, or what behaves like one.
    pub const GPU: Self = Self(1);
    /// A signal processor, or any other accelerator.
    pub const DSP: Self = Self(2);
    /// An AI engine.
    pub const AIE: Self = Self(3);
}

/// What a pool is (the attributes of `hsa_amd_memory_pool_info_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct PoolInfo {
    /// The agent it belongs to.
    pub owner: u64,
    /// Bytes.
    pub bytes: u64,
    /// The most bytes of one allocation.
    pub max_allocation: u64,
    /// Allocations are multiples of this, in bytes.
    pub granule: u64,
    /// Allocations start at multiples of this, in bytes.
    pub alignment: u64,
    /// The granule without waste, in bytes.
    pub recommended_granule: u64,
    /// Segment (`hsa_amd_segment_t`).
    pub segment: u32,
    /// Flags of a global segment (`hsa_amd_memory_pool_global_flag_t`), or 0.
    pub global_flags: u32,
    /// Whose side it is on (`hsa_amd_memory_pool_location_t`).
    pub location: u32,
    /// Whether the program can allocate from it.
    pub allocation_allowed: bool,
    /// Whether every agent can reach it.
    pub accessible_by_all: bool,
}

/// One hop on the way from an agent to a pool (`hsa_amd_memory_pool_link_info_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct LinkInfo {
    /// Shortest latency, in nanoseconds.
    pub min_latency: u32,
    /// Longest latency, in nanoseconds.
    pub max_latency: u32,
    /// Smallest bandwidth, in MB/s.
    pub min_bandwidth: u32,
    /// Largest bandwidth, in MB/s.
    pub max_bandwidth: u32,
    /// Kind of link (`hsa_amd_link_info_type_t`).
    pub kind: u32,
    /// NUMA distance of the whole way.
    pub numa_distance: u32,
    /// Whether it carries 32-bit atomics.
    pub atomics_32bit: bool,
    /// Whether it carries 64-bit atomics.
    pub atomics_64bit: bool,
    /// Whether it is cache coherent.
    pub coherent: bool,
}

/// How an agent reaches a pool.
#[repr(C)]
#[derive(Clone, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct PoolAccess {
    /// `hsa_amd_memory_pool_access_t`.
    pub access: u32,
    /// The hops; none for the agent's own pools and for those that it never reaches.
    pub links: RVec<LinkInfo>,
}

/// A request to make host memory visible to agents.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct LockRequest<'a> {
    /// First byte, not 0.
    pub address: u64,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// The agents; all of them when the list is empty.
    pub agents: RSlice<'a, u64>,
    /// The pool whose properties the agents' view takes on, or 0 for the coarse-grained one.
    pub pool: u64,
}

/// What is known about an address (`hsa_amd_pointer_info_t`).
#[repr(C)]
#[derive(Clone, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct PointerInfo {
    /// `hsa_amd_pointer_type_t`.
    pub kind: u32,
    /// `hsa_amd_memory_pool_global_flag_t` of the memory.
    pub global_flags: u32,
    /// Where agents see its start.
    pub agent_base: u64,
    /// Where the host sees its start, or 0.
    pub host_base: u64,
    /// Bytes.
    pub bytes: u64,
    /// The program's value.
    pub user_data: u64,
    /// The agent that owns it.
    pub owner: u64,
    /// `hsa_amd_pointer_info_alloc_flag_t`.
    pub alloc_flags: u32,
    /// Whether a driver knows it.
    pub registered: bool,
    /// The agents that can reach it; empty unless asked for.
    pub agents: RVec<u64>,
}

impl PointerInfo {
    /// [`PointerInfo::kind`] of memory that is not the runtime's.
    pub const UNKNOWN: u32 = 0;
}

/// A name of memory or of a signal for other processes (`hsa_amd_ipc_memory_t`, `hsa_amd_ipc_signal_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct IpcName {
    /// Opaque words.
    pub words: [u32; 8],
}

/// A name of memory for every host of a fabric (`hsa_fabric_handle_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct FabricName {
    /// Opaque bytes.
    pub bytes: [u8; 16],
}

/// A dma-buf and where the memory lies in it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct DmaBuf {
    /// File descriptor, now the caller's.
    pub descriptor: i32,
    /// Zero.
    pub reserved: u32,
    /// Offset in bytes.
    pub offset: u64,
}

/// A request to map a foreign buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct InteropRequest<'a> {
    /// File descriptor of the buffer; it stays the program's.
    pub descriptor: i32,
    /// Zero.
    pub reserved: u32,
    /// Bytes if the program knows them, or 0.
    pub size_hint: u64,
    /// The agents, at least one.
    pub agents: RSlice<'a, u64>,
}

/// A mapped foreign buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct InteropMapping {
    /// Where it is.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Address of the exporter's metadata, which stays until the buffer is unmapped, or 0.
    pub metadata: u64,
    /// Bytes of the metadata.
    pub metadata_bytes: u64,
}

/// A transfer between a file and device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct FileTransfer {
    /// File descriptor.
    pub descriptor: i32,
    /// Whether the file is written (and not read).
    pub write: bool,
    /// Device memory.
    pub address: u64,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// Offset in the file.
    pub offset: i64,
}

/// What came of a [`FileTransfer`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct FileTransferred {
    /// Bytes moved.
    pub bytes: u64,
    /// The system's error number, or 0; another one than 0 makes the call an ERROR.
    pub status: i32,
    /// Zero.
    pub reserved: u32,
}

/// What an agent may do with mapped virtual memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct VmemAccess {
    /// The agent.
    pub agent: u64,
    /// `hsa_access_permission_t`: bit 0 read, bit 1 write, bit 2 execute.
    pub permission: u32,
    /// Zero.
    pub reserved: u32,
}

/// What memory without an address is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct VmemProperties {
    /// The pool it came from.
    pub pool: u64,
    /// `hsa_amd_memory_type_t`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
}

/// An attribute of a range of shared virtual memory (`hsa_amd_svm_attribute_pair_t`, whose layout it has).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct SvmPair {
    /// `hsa_amd_svm_attribute_t`.
    pub attribute: u64,
    /// Its value; agents by their handles.
    pub value: u64,
}

/// A request to drop the contents of ranges.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct DiscardRequest<'a> {
    /// First bytes of the ranges.
    pub addresses: RSlice<'a, u64>,
    /// Bytes of each range.
    pub bytes: RSlice<'a, u64>,
    /// Where the ranges move afterwards; none to leave them without pages.
    pub agents: RSlice<'a, u64>,
    /// Signals that must be 0 first.
    pub dependencies: RSlice<'a, u64>,
    /// The signal that is decremented at the end, or 0.
    pub completion: u64,
}

/// Signals with the conditions they are waited for with. The lists are of equal length.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct WaitList<'a> {
    /// The signals.
    pub signals: RSlice<'a, u64>,
    /// `hsa_signal_condition_t` of each; one that is none of its numbers is never met.
    pub conditions: RSlice<'a, u32>,
    /// The value each is compared with.
    pub values: RSlice<'a, i64>,
    /// The longest time, in system ticks.
    pub timeout: u64,
    /// `hsa_wait_state_t`.
    pub wait_state: u32,
    /// Zero.
    pub reserved: u32,
}

/// What ended a wait for any signal.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct WaitAny {
    /// Index of the signal that met its condition, or `u32::MAX`.
    pub index: u32,
    /// Zero.
    pub reserved: u32,
    /// Its value.
    pub value: i64,
}

/// What ended a wait for all signals.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq, StableAbi)]
pub struct WaitAll {
    /// Whether all conditions were met.
    pub met: bool,
    /// The value of each signal as it met its condition; empty when the time ran out.
    pub values: RVec<i64>,
}

/// A copy of a range.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct CopyCommand<'a> {
    /// First byte written.
    pub destination: u64,
    /// The agent on whose side that is, or 0.
    pub destination_agent: u64,
    /// First byte read.
    pub source: u64,
    /// The agent on whose side that is, or 0.
    pub source_agent: u64,
    /// Bytes.
    pub bytes: u64,
    /// Signals that must be 0 first.
    pub dependencies: RSlice<'a, u64>,
    /// The signal that is decremented at the end.
    pub completion: u64,
    /// The engine as its single bit (`hsa_amd_sdma_engine_id_t`), or 0 for any.
    pub engine: u32,
    /// Whether an engine must do it even inside one agent.
    pub force_engine: bool,
}

/// One side of a copy of a box.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct RectSide {
    /// Address of the origin.
    pub base: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Bytes from slice to slice.
    pub slice: u64,
    /// The box's corner: bytes, rows, slices.
    pub offset: [u32; 3],
    /// Zero.
    pub reserved: u32,
}

/// A copy of a box.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct RectCopyCommand<'a> {
    /// Where it is written.
    pub destination: RectSide,
    /// Where it is read.
    pub source: RectSide,
    /// Its size: bytes of a row, rows of a slice, slices.
    pub range: [u32; 3],
    /// `hsa_amd_copy_direction_t`.
    pub direction: u32,
    /// The agent that copies.
    pub agent: u64,
    /// Signals that must be 0 first.
    pub dependencies: RSlice<'a, u64>,
    /// The signal that is decremented at the end.
    pub completion: u64,
}

/// A memory word that a copy engine waits for before an operation.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct CopyWait {
    /// `hsa_amd_memory_copy_wait_function_t`; 0 does not wait.
    pub function: u32,
    /// `hsa_fence_scope_t` of reads before the copy.
    pub scope: u32,
    /// The word's address.
    pub address: u64,
    /// What it is compared with.
    pub value: u64,
    /// The bits that are compared.
    pub mask: u64,
}

/// A memory word that a copy engine changes after an operation.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct CopySignal {
    /// `hsa_amd_memory_copy_signal_op_t`; 0 changes nothing.
    pub operation: u32,
    /// `hsa_fence_scope_t` of the write.
    pub scope: u32,
    /// The word's address.
    pub address: u64,
    /// The operand.
    pub data: u64,
}

/// One operation of a batch (`hsa_amd_memory_copy_op_t`), always in its form with lists.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct BatchOperation<'a> {
    /// `hsa_amd_memory_copy_op_type_t`.
    pub kind: u32,
    /// Quality of service, 0 for none.
    pub traffic_class: u32,
    /// What is read; one address for a broadcast, otherwise one for each entry.
    pub sources: RSlice<'a, u64>,
    /// The agent on whose side all of them are.
    pub source_agent: u64,
    /// What is written, one address for each entry.
    pub destinations: RSlice<'a, u64>,
    /// The agents on whose side they are, one for each entry.
    pub destination_agents: RSlice<'a, u64>,
    /// Bytes; one number for a broadcast, otherwise one for each entry.
    pub bytes: RSlice<'a, u64>,
    /// What the engine waits for first.
    pub wait: CopyWait,
    /// What the engine does afterwards.
    pub signal: CopySignal,
    /// The signal that is decremented at the end, the same in all operations of a batch.
    pub completion: u64,
}

/// When something ran.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct TimeSpan {
    /// Start, in system ticks.
    pub start: u64,
    /// End, in system ticks.
    pub end: u64,
}

/// A request for a queue of any engine.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct QueueDescription<'a> {
    /// `hsa_amd_queue_engine_t`: 0 compute, 1 SDMA, 2 AIE.
    pub engine: u32,
    /// `hsa_amd_queue_create_flag_t`.
    pub flags: u32,
    /// Bytes of the ring, a power of two.
    pub ring_bytes: u32,
    /// `hsa_amd_queue_priority_t`.
    pub priority: u32,
    /// Compute: `hsa_queue_type_t`.
    pub kind: u32,
    /// Compute: bytes of private memory of a work-item, `u32::MAX` for the default.
    pub private_segment_bytes: u32,
    /// Compute: units it may use, all of them when the list is empty.
    pub cu_mask: RSlice<'a, u32>,
    /// SDMA: the engine's index, `u32::MAX` for any.
    pub sdma_engine: u32,
    /// The error handler, if there is one.
    pub error_handler: ROption<QueueErrorHandler>,
}

/// A request for a counted queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct CountedQueueRequest {
    /// `hsa_amd_queue_priority_t`.
    pub priority: u32,
    /// The error handler, if there is one.
    pub error_handler: ROption<QueueErrorHandler>,
}

/// A request for a queue whose packets pass through handlers; as for `hsa_queue_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct InterceptQueueRequest {
    /// Packets, a power of two.
    pub packets: u32,
    /// `hsa_queue_type_t`.
    pub kind: u32,
    /// Bytes of private memory of a work-item, `u32::MAX` for the default.
    pub private_segment_bytes: u32,
    /// Bytes of group memory of a work-group, `u32::MAX` for the default.
    pub group_segment_bytes: u32,
    /// The error handler, if there is one.
    pub error_handler: ROption<QueueErrorHandler>,
}

/// What a queue does with a foreign semaphore.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct SemaphoreCommand {
    /// The queue.
    pub queue: u64,
    /// The semaphore, from [`QueueServices::semaphore_open`](crate::QueueServices::semaphore_open).
    pub semaphore: u64,
    /// The value signalled or waited for.
    pub value: u64,
    /// Whether the queue waits (and does not signal).
    pub wait: bool,
}

/// A request for an image from a vendor's own description.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct ImageRequest {
    /// The agent.
    pub agent: u64,
    /// Address of the `hsa_ext_image_descriptor_t`, or of its second version.
    pub descriptor: u64,
    /// Address of the vendor's layout (`hsa_amd_image_descriptor_t`), or 0 in the second version.
    pub layout: u64,
    /// Address of the image's data.
    pub data: u64,
    /// `hsa_access_permission_t`.
    pub permission: u32,
    /// Version of the descriptor: 1 or 2.
    pub version: u32,
}

/// A segment of a loaded code object (`hsa_ven_amd_loader_segment_descriptor_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct SegmentDescriptor {
    /// The agent it lies on, or 0.
    pub agent: u64,
    /// Its executable.
    pub executable: u64,
    /// `hsa_ven_amd_loader_code_object_storage_type_t`.
    pub storage_kind: u32,
    /// Zero.
    pub reserved: u32,
    /// Address of the code object, or of the NUL-terminated path of its file; lives as long as the executable.
    pub storage_base: u64,
    /// Bytes of the code object, or of the path with its NUL.
    pub storage_bytes: u64,
    /// Where in the code object the segment's data begins.
    pub storage_offset: u64,
    /// Where the segment is.
    pub segment_base: u64,
    /// Its bytes.
    pub segment_bytes: u64,
}

/// What a loaded code object is (`hsa_ven_amd_loader_loaded_code_object_info_t`).
#[repr(C)]
#[derive(Clone, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct LoadedCodeObject {
    /// Its executable.
    pub executable: u64,
    /// The agent it was loaded for, or 0.
    pub agent: u64,
    /// `hsa_ven_amd_loader_loaded_code_object_kind_t`.
    pub kind: u32,
    /// `hsa_ven_amd_loader_code_object_storage_type_t`.
    pub storage_kind: u32,
    /// In memory: its address.
    pub memory_base: u64,
    /// In memory: its bytes.
    pub memory_bytes: u64,
    /// In a file: the descriptor the reader was made of.
    pub descriptor: i32,
    /// Zero.
    pub reserved: u32,
    /// What was added to the addresses in the file.
    pub load_delta: i64,
    /// Where its first segment is.
    pub load_base: u64,
    /// Bytes from its first segment to the end of its last one.
    pub load_bytes: u64,
    /// Where it came from, as a URI, without a NUL.
    pub uri: RString,
}

/// A request to load a code object at an address.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct LoadAtRequest<'a> {
    /// The executable.
    pub executable: u64,
    /// The agent.
    pub agent: u64,
    /// The reader.
    pub reader: u64,
    /// Options, empty for none.
    pub options: RStr<'a>,
    /// Where.
    pub address: u64,
    /// Bytes that may be used there.
    pub bytes: u64,
}
