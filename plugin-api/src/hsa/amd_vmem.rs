//! Virtual memory: addresses, memory and mappings as separate things.

use super::agent::hsa_agent_t;
use super::system::hsa_access_permission_t;

abi_enum! {
    /// Flags of a reservation; a set of bits.
    hsa_amd_vmem_address_reserve_flag_t: u32 {
        /// Do not tell the driver.
        NO_REGISTER = 1 => HSA_AMD_VMEM_ADDRESS_NO_REGISTER,
    }
}

abi_handle! {
    /// Names memory that has no address of its own.
    hsa_amd_vmem_alloc_handle_t
}

abi_enum! {
    /// Whether memory is pinned.
    hsa_amd_memory_type_t: u32 {
        /// As the driver likes.
        NONE = 0 => MEMORY_TYPE_NONE,
        /// Pinned.
        PINNED = 1 => MEMORY_TYPE_PINNED,
    }
}

abi_struct! {
    /// Access of one agent.
    hsa_amd_memory_access_desc_t {
        /// What it may do.
        permissions: hsa_access_permission_t,
        /// The agent.
        agent_handle: hsa_agent_t,
    }
}

abi_struct! {
    /// Names memory to every host of a fabric.
    hsa_fabric_handle_t {
        /// The name.
        handle: [u8; 16],
    }
}
