//! Services for memory that more than one process, driver or mapping uses.

use super::services_types::{
    DiscardRequest, DmaBuf, FabricName, FileTransfer, FileTransferred, InteropMapping, InteropRequest,
    IpcName, SvmPair, VmemAccess, VmemProperties,
};
use crate::interface;
use abi_stable::std_types::{RSlice, RVec};

interface! {
    /// Memory across processes and drivers, virtual memory, shared virtual memory.
    pub trait SharingServices, SharingServicesVTable, SharingServicesVTableRef, SharingServicesVTablePrefix,
        SharingServicesObject, SharingServicesRef
    {
    }
    optional {
        /// Names an allocation for other processes. INVALID_ARGUMENT unless the range is one whole allocation of a
        /// GPU; OUT_OF_RESOURCES.
        fn ipc_export(address: u64, bytes: u64) -> IpcName;
        /// Maps another process's allocation for agents, all of them when the list is empty. INVALID_AGENT;
        /// INVALID_ARGUMENT for a stale or made-up name, or a wrong size; OUT_OF_RESOURCES.
        fn ipc_attach(name: IpcName, bytes: u64, agents: RSlice<'_, u64>) -> u64;
        /// Takes back one [`SharingServices::ipc_attach`]. INVALID_ARGUMENT for anything else.
        fn ipc_detach(address: u64) -> ();

        /// Makes a dma-buf of a range; `flags` are `hsa_amd_dma_buf_mapping_type_t`. INVALID_ALLOCATION unless the
        /// range lies in one allocation; INVALID_AGENT if its owner cannot export; OUT_OF_RESOURCES.
        fn dmabuf_export(address: u64, bytes: u64, flags: u64) -> DmaBuf;
        /// Closes a dma-buf. RESOURCE_FREE when the system refuses.
        fn dmabuf_close(descriptor: i32) -> ();
        /// Maps a foreign buffer for agents. INVALID_AGENT; INVALID_ARGUMENT for a descriptor that is no buffer;
        /// OUT_OF_RESOURCES.
        fn interop_map(request: &InteropRequest<'_>) -> InteropMapping;
        /// Takes back a [`SharingServices::interop_map`]. Success for anything else, and nothing happens.
        fn interop_unmap(address: u64) -> ();
        /// Moves bytes between a file and device memory. INVALID_ALLOCATION; INVALID_ARGUMENT for a bad descriptor.
        /// What the system refuses is no error here but a [`FileTransferred::status`].
        fn file_transfer(request: &FileTransfer) -> FileTransferred;

        /// Reserves addresses; `address` is a wish and may be 0, `alignment` is 0 or a power of two of at least a page.
        /// INVALID_ARGUMENT for a size that is no multiple of a page; OUT_OF_RESOURCES.
        fn vmem_reserve(bytes: u64, address: u64, alignment: u64, flags: u64) -> u64;
        /// Gives reserved addresses back. INVALID_ALLOCATION for an address that was not reserved; INVALID_ARGUMENT for
        /// another size; RESOURCE_FREE while something is mapped there.
        fn vmem_release(address: u64, bytes: u64) -> ();
        /// Allocates memory without an address; `kind` is `hsa_amd_memory_type_t`, `flags` are
        /// `hsa_amd_memory_pool_flag_t`. INVALID_MEMORY_POOL; INVALID_ARGUMENT for a size that is no multiple of the
        /// pool's granule; INVALID_ALLOCATION when the pool gives nothing out; OUT_OF_RESOURCES.
        fn vmem_create(pool: u64, bytes: u64, kind: u32, flags: u64) -> u64;
        /// Lets go of one reference to memory without an address. INVALID_ALLOCATION.
        fn vmem_destroy(memory: u64) -> ();
        /// Puts memory at reserved addresses, not yet visible to any agent. INVALID_ALLOCATION for the memory;
        /// INVALID_ARGUMENT for addresses that are not reserved or not free, or for another size than the memory's;
        /// OUT_OF_RESOURCES.
        fn vmem_map(address: u64, bytes: u64, memory: u64) -> ();
        /// Takes memory away from reserved addresses. INVALID_ALLOCATION when nothing is mapped there; INVALID_ARGUMENT
        /// for another size.
        fn vmem_unmap(address: u64, bytes: u64) -> ();
        /// Changes what the named agents may do; the others keep what they had. INVALID_AGENT; INVALID_ALLOCATION when
        /// nothing is mapped there; INVALID_ARGUMENT for another size; OUT_OF_RESOURCES.
        fn vmem_set_access(address: u64, bytes: u64, access: RSlice<'_, VmemAccess>) -> ();
        /// What an agent may do (`hsa_access_permission_t`). INVALID_AGENT; INVALID_ALLOCATION when nothing is mapped
        /// there or nothing was ever set for this agent.
        fn vmem_access(address: u64, agent: u64) -> u32;
        /// Makes a dma-buf of memory without an address. INVALID_ALLOCATION; INVALID_AGENT if its owner cannot export;
        /// OUT_OF_RESOURCES.
        fn vmem_export(memory: u64, flags: u64) -> i32;
        /// Makes memory without an address of a dma-buf. INVALID_ALLOCATION; OUT_OF_RESOURCES.
        fn vmem_import(descriptor: i32) -> u64;
        /// The memory mapped at an address, with one more reference. INVALID_ALLOCATION.
        fn vmem_retain(address: u64) -> u64;
        /// What memory without an address is. INVALID_ALLOCATION.
        fn vmem_properties(memory: u64) -> VmemProperties;
        /// Names memory for every host of a fabric. INVALID_ALLOCATION; OUT_OF_RESOURCES.
        fn fabric_export(memory: u64) -> FabricName;
        /// Makes memory of a fabric's name. INVALID_ALLOCATION; OUT_OF_RESOURCES.
        fn fabric_import(name: FabricName) -> u64;

        /// Sets attributes of a range, which the runtime widens to pages; the caller has sorted out attributes that
        /// cannot be set. INVALID_AGENT for agents among the values; ERROR when no agent has shared virtual memory.
        fn svm_set(address: u64, bytes: u64, attributes: RSlice<'_, SvmPair>) -> ();
        /// The same list with values filled in; an access query also gets another attribute number. INVALID_AGENT;
        /// ERROR when no agent has shared virtual memory.
        fn svm_get(address: u64, bytes: u64, attributes: RSlice<'_, SvmPair>) -> RVec<SvmPair>;
        /// Moves a range to an agent once all dependencies are 0, then decrements `completion`, which may be 0.
        /// INVALID_AGENT, INVALID_SIGNAL; ERROR when no agent has shared virtual memory.
        fn svm_prefetch(address: u64, bytes: u64, agent: u64, dependencies: RSlice<'_, u64>, completion: u64) -> ();
        /// Drops the contents of ranges, and with agents moves the ranges there. INVALID_AGENT, INVALID_SIGNAL;
        /// INVALID_ARGUMENT for a range that was not reserved; XNACK_DISABLED.
        fn svm_discard(request: &DiscardRequest<'_>) -> ();
    }
    added {
    }
}
