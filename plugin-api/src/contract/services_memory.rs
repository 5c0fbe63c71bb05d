//! Services for pools, allocations and locked host memory.

use super::services_types::{FreeCallback, LockRequest, PointerInfo, PoolAccess, PoolInfo};
use crate::interface;
use abi_stable::std_types::{RSlice, RVec};

interface! {
    /// Pools, allocations and locked host memory.
    pub trait MemoryServices, MemoryServicesVTable, MemoryServicesVTableRef, MemoryServicesVTablePrefix,
        MemoryServicesObject, MemoryServicesRef
    {
    }
    optional {
        /// The pools of an agent, in their lasting order. INVALID_AGENT.
        fn pools(agent: u64) -> RVec<u64>;
        /// What a pool is. INVALID_MEMORY_POOL for a handle that is none.
        fn pool_info(pool: u64) -> PoolInfo;
        /// How an agent reaches a pool. INVALID_AGENT, INVALID_MEMORY_POOL.
        fn pool_access(agent: u64, pool: u64) -> PoolAccess;

        /// Allocates; `flags` are `hsa_amd_memory_pool_flag_t`, of which the caller knows all bits. INVALID_MEMORY_POOL;
        /// INVALID_ALLOCATION when the pool gives nothing out or less than `bytes`; OUT_OF_RESOURCES.
        fn pool_allocate(pool: u64, bytes: u64, flags: u32) -> u64;
        /// Frees an allocation, after its free callbacks ran. INVALID_ALLOCATION for an address that is not the start
        /// of one. Does not come with 0.
        fn free(address: u64) -> ();
        /// Lets exactly these agents, beside the owner of the memory, reach an allocation. INVALID_AGENT;
        /// INVALID_ARGUMENT when the address does not start an allocation or an agent can never reach its pool.
        fn grant_access(agents: RSlice<'_, u64>, address: u64) -> ();
        /// Whether memory of one pool can move to another under its address. INVALID_MEMORY_POOL.
        fn can_migrate(from: u64, to: u64) -> bool;
        /// Moves an allocation. INVALID_MEMORY_POOL; OUT_OF_RESOURCES when it cannot be moved.
        fn migrate(address: u64, pool: u64) -> ();

        /// Makes host memory visible to agents and answers where they see it. INVALID_AGENT (also for one that cannot
        /// reach the pool); INVALID_MEMORY_POOL for a pool that is not a CPU's global one; OUT_OF_RESOURCES.
        fn lock(request: &LockRequest<'_>) -> u64;
        /// Takes back the last [`MemoryServices::lock`] of a host range. Success for what is not locked.
        fn unlock(address: u64) -> ();
        /// Writes `count` words. INVALID_ALLOCATION unless the whole range lies in one allocation. The address is a
        /// multiple of 4 and not 0; nothing is written for 0 words, and the address is not looked at.
        fn fill(address: u64, value: u32, count: u64) -> ();

        /// What is known about the memory at any address inside it; `kind` is
        /// [`PointerInfo::UNKNOWN`] for foreign memory, which is no error. The list of agents is filled when
        /// `with_agents`.
        fn pointer_info(address: u64, with_agents: bool) -> PointerInfo;
        /// Keeps a value beside the memory at any address inside it. INVALID_ARGUMENT for foreign memory.
        fn set_user_data(address: u64, data: u64) -> ();
        /// Calls `callback` once, with this address, when the allocation around it is freed; the same callback may
        /// be registered twice. INVALID_ALLOCATION for foreign or locked memory.
        fn on_free(address: u64, callback: FreeCallback) -> ();
        /// Takes back one [`MemoryServices::on_free`] with this address and this function, whatever its argument.
        /// INVALID_ARGUMENT when there is none.
        fn cancel_on_free(address: u64, callback: FreeCallback) -> ();
    }
    added {
        /// As [`MemoryServices::pointer_info`] without agents (minor 2), written where the caller keeps it: programs ask for
        /// every copy, and the answer is not worth copying three times.
        fn pointer_facts(address: u64, info: &mut PointerInfo) -> ();
    }
}
