//! Pools, allocations and locked memory.

use crate::support::{at, program, AGENTS, GPU_AGENT, POOL, POOL_HANDLE};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_agent_memory_pool_info_t, hsa_amd_link_info_type_t, hsa_amd_memory_pool_info_t,
    hsa_amd_memory_pool_link_info_t, hsa_amd_memory_pool_t, hsa_status_t,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance};

#[test]
fn pool_attributes_have_their_values_and_widths() {
    let program = program();
    let attributes: [(u32, usize, u64); 10] = [
        (0, 4, 0),
        (1, 4, 2),
        (2, 8, 1 << 34),
        (5, 1, 1),
        (6, 8, 4096),
        (7, 8, 8192),
        (15, 1, 0),
        (16, 8, 1 << 33),
        (17, 4, 1),
        (18, 8, 2 << 20),
    ];
    for (attribute, width, expected) in attributes {
        let mut value = [0xee_u8; 16];
        // SAFETY: the value has room for every attribute.
        let status = unsafe {
            (program.amd.hsa_amd_memory_pool_get_info_fn)(
                POOL_HANDLE,
                hsa_amd_memory_pool_info_t(attribute),
                value.as_mut_ptr().cast(),
            )
        };
        assert_eq!(status, hsa_status_t::SUCCESS, "attribute {attribute}");
        let mut wanted = [0xee_u8; 16];
        wanted[..width].copy_from_slice(&expected.to_le_bytes()[..width]);
        assert_eq!(value, wanted, "attribute {attribute}");
    }
    let mut value = [0xee_u8; 16];
    let value = value.as_mut_ptr().cast::<c_void>();
    statuses! { program.amd;
        "attribute 3": hsa_amd_memory_pool_get_info_fn(POOL_HANDLE, hsa_amd_memory_pool_info_t(3), value)
            => ERROR_INVALID_ARGUMENT,
        "attribute 19": hsa_amd_memory_pool_get_info_fn(POOL_HANDLE, hsa_amd_memory_pool_info_t(19), value)
            => ERROR_INVALID_ARGUMENT,
        "attribute -1": hsa_amd_memory_pool_get_info_fn(POOL_HANDLE, hsa_amd_memory_pool_info_t(u32::MAX), value)
            => ERROR_INVALID_ARGUMENT,
        "NULL value": hsa_amd_memory_pool_get_info_fn(POOL_HANDLE, hsa_amd_memory_pool_info_t::SIZE, null_mut())
            => ERROR_INVALID_ARGUMENT,
    }
    program.refuse("pool_info", hsa_status_t::ERROR_INVALID_MEMORY_POOL);
    statuses! { program.amd;
        "bad pool": hsa_amd_memory_pool_get_info_fn(POOL_HANDLE, hsa_amd_memory_pool_info_t::SIZE, value)
            => ERROR_INVALID_MEMORY_POOL,
    }
}

#[test]
fn the_way_to_a_pool_is_access_hops_and_one_record_for_each_hop() {
    let program = program();
    let get = program.amd.hsa_amd_agent_memory_pool_get_info_fn;
    let ask = |attribute: u32, value: *mut c_void| {
        // SAFETY: the value has room for the attribute.
        unsafe {
            get(
                GPU_AGENT,
                POOL_HANDLE,
                hsa_amd_agent_memory_pool_info_t(attribute),
                value,
            )
        }
    };
    let (mut access, mut hops) = (0xee_u32, 0xee_u32);
    assert_eq!(ask(0, (&raw mut access).cast()), hsa_status_t::SUCCESS);
    assert_eq!(ask(1, (&raw mut hops).cast()), hsa_status_t::SUCCESS);
    assert_eq!((access, hops), (2, 2));

    let untouched = hsa_amd_memory_pool_link_info_t {
        min_latency: 9,
        max_latency: 9,
        min_bandwidth: 9,
        max_bandwidth: 9,
        atomic_support_32bit: false,
        atomic_support_64bit: true,
        coherent_support: false,
        link_type: hsa_amd_link_info_type_t::QPI,
        numa_distance: 9,
    };
    let mut links = [untouched; 3];
    assert_eq!(ask(2, links.as_mut_ptr().cast()), hsa_status_t::SUCCESS);
    let first = links[0];
    assert_eq!(
        (
            first.min_latency,
            first.max_latency,
            first.min_bandwidth,
            first.max_bandwidth
        ),
        (1, 2, 3, 4)
    );
    assert_eq!(
        (
            first.atomic_support_32bit,
            first.atomic_support_64bit,
            first.coherent_support
        ),
        (true, false, true)
    );
    assert_eq!(
        (first.link_type, first.numa_distance),
        (hsa_amd_link_info_type_t::PCIE, 20)
    );
    assert_eq!((links[1].numa_distance, links[2].numa_distance), (0, 9));

    assert_eq!(
        ask(3, (&raw mut access).cast()),
        hsa_status_t::ERROR_INVALID_ARGUMENT
    );
    assert_eq!(ask(0, null_mut()), hsa_status_t::ERROR_INVALID_ARGUMENT);
    program.refuse("pool_access", hsa_status_t::ERROR_INVALID_AGENT);
    assert_eq!(
        ask(0, (&raw mut access).cast()),
        hsa_status_t::ERROR_INVALID_AGENT
    );
}

/// Counts pools in the first word, and ends with the second one's status when the count reaches the third.
unsafe extern "C" fn count_pools(pool: hsa_amd_memory_pool_t, data: *mut c_void) -> hsa_status_t {
    // SAFETY: the test's three words.
    let words = unsafe { &mut *data.cast::<[u32; 3]>() };
    assert_eq!(pool.handle, POOL + u64::from(words[0]));
    words[0] += 1;
    if words[0] == words[2] {
        hsa_status_t(words[1])
    } else {
        hsa_status_t::SUCCESS
    }
}

#[test]
fn an_iteration_ends_with_whatever_the_callback_says() {
    let program = program();
    for (answer, stop_at, calls) in [(0, 0, 3), (1, 1, 1), (0x1000, 2, 2), (0x77, 1, 1), (0x1008, 3, 3)] {
        let mut words = [0_u32, answer, stop_at];
        // SAFETY: the callback gets the words it expects.
        let status = unsafe {
            (program.amd.hsa_amd_agent_iterate_memory_pools_fn)(
                GPU_AGENT,
                Some(count_pools),
                (&raw mut words).cast(),
            )
        };
        assert_eq!(
            (status.0, words[0]),
            (answer, calls),
            "callback answers {answer:#x}"
        );
    }
    program.refuse("pools", hsa_status_t::ERROR_INVALID_AGENT);
    statuses! { program.amd;
        "NULL callback": hsa_amd_agent_iterate_memory_pools_fn(GPU_AGENT, None, null_mut()) => ERROR_INVALID_ARGUMENT,
        "bad agent": hsa_amd_agent_iterate_memory_pools_fn(GPU_AGENT, Some(count_pools), null_mut())
            => ERROR_INVALID_AGENT,
    }
}

#[test]
fn allocation_checks_size_flags_and_result() {
    let program = program();
    let mut memory = null_mut();
    statuses! { program.amd;
        "size 0": hsa_amd_memory_pool_allocate_fn(POOL_HANDLE, 0, 0, &raw mut memory) => ERROR_INVALID_ARGUMENT,
        "NULL ptr": hsa_amd_memory_pool_allocate_fn(POOL_HANDLE, 64, 0, null_mut()) => ERROR_INVALID_ARGUMENT,
        "flags 0x10": hsa_amd_memory_pool_allocate_fn(POOL_HANDLE, 64, 0x10, &raw mut memory)
            => ERROR_INVALID_ARGUMENT,
        "flags 0x80000000": hsa_amd_memory_pool_allocate_fn(POOL_HANDLE, 64, 0x8000_0000, &raw mut memory)
            => ERROR_INVALID_ARGUMENT,
    }
    assert!(memory.is_null() && program.calls().is_empty());
    statuses! { program.amd;
        "all flags": hsa_amd_memory_pool_allocate_fn(POOL_HANDLE, 100, 0xf, &raw mut memory) => SUCCESS,
    }
    assert_eq!(
        (memory.addr(), program.calls()),
        (0x4000, vec!["pool_allocate(0x21, 100, 15)".to_owned()])
    );
    program.refuse("pool_allocate", hsa_status_t::ERROR_INVALID_ALLOCATION);
    memory = null_mut();
    statuses! { program.amd;
        "too large": hsa_amd_memory_pool_allocate_fn(POOL_HANDLE, usize::MAX, 0, &raw mut memory)
            => ERROR_INVALID_ALLOCATION,
    }
    assert!(memory.is_null());
}

#[test]
fn null_is_freed_and_unlocked_without_asking() {
    let program = program();
    statuses! { program.amd;
        "NULL": hsa_amd_memory_pool_free_fn(null_mut()) => SUCCESS,
        "NULL": hsa_amd_memory_unlock_fn(null_mut()) => SUCCESS,
        "NULL": hsa_amd_interop_unmap_buffer_fn(null_mut()) => SUCCESS,
    }
    assert_eq!(program.calls(), [""; 0]);
    statuses! { program.amd;
        "memory": hsa_amd_memory_pool_free_fn(at(0x4000)) => SUCCESS,
        "memory": hsa_amd_memory_unlock_fn(at(0x4001)) => SUCCESS,
        "memory": hsa_amd_interop_unmap_buffer_fn(at(0x4002)) => SUCCESS,
    }
    assert_eq!(
        program.calls(),
        ["free(0x4000)", "unlock(0x4001)", "interop_unmap(0x4002)"]
    );
    program.refuse("free", hsa_status_t::ERROR_INVALID_ALLOCATION);
    statuses! { program.amd; "twice": hsa_amd_memory_pool_free_fn(at(0x4000)) => ERROR_INVALID_ALLOCATION, }
}

#[test]
fn access_needs_agents_memory_and_no_flags() {
    let program = program();
    let (agents, memory, flags) = (AGENTS.as_ptr(), at(0x4000).cast_const(), [0_u32; 2]);
    statuses! { program.amd;
        "no agents": hsa_amd_agents_allow_access_fn(0, agents, null(), memory) => ERROR_INVALID_ARGUMENT,
        "NULL agents": hsa_amd_agents_allow_access_fn(2, null(), null(), memory) => ERROR_INVALID_ARGUMENT,
        "flags": hsa_amd_agents_allow_access_fn(2, agents, flags.as_ptr(), memory) => ERROR_INVALID_ARGUMENT,
        "NULL ptr": hsa_amd_agents_allow_access_fn(2, agents, null(), null()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_agents_allow_access_fn(2, agents, null(), memory) => SUCCESS,
    }
    assert_eq!(program.calls(), ["grant_access([11, 12], 0x4000)"]);
}

#[test]
fn migration_passes_pools_and_takes_no_flags() {
    let program = program();
    let mut result = false;
    statuses! { program.amd;
        "NULL result": hsa_amd_memory_pool_can_migrate_fn(POOL_HANDLE, POOL_HANDLE, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_memory_pool_can_migrate_fn(POOL_HANDLE, POOL_HANDLE, &raw mut result) => SUCCESS,
        "NULL ptr": hsa_amd_memory_migrate_fn(null(), POOL_HANDLE, 0) => ERROR_INVALID_ARGUMENT,
        "flags 1": hsa_amd_memory_migrate_fn(at(64), POOL_HANDLE, 1) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_memory_migrate_fn(at(64), POOL_HANDLE, 0) => SUCCESS,
    }
    assert!(result);
    assert_eq!(
        program.calls(),
        ["can_migrate(0x21, 0x21)", "migrate(0x40, 0x21)"]
    );
    program.refuse("migrate", hsa_status_t::ERROR_OUT_OF_RESOURCES);
    statuses! { program.amd;
        "cannot move": hsa_amd_memory_migrate_fn(at(64), POOL_HANDLE, 0) => ERROR_OUT_OF_RESOURCES,
    }
}

#[test]
fn locking_checks_range_and_agents() {
    let program = program();
    let mut agents = AGENTS;
    let agents = agents.as_mut_ptr();
    let mut seen = null_mut();
    let out = &raw mut seen;
    let host = at(0x10_0003);
    statuses! { program.amd;
        "NULL host": hsa_amd_memory_lock_fn(null_mut(), 3, agents, 2, out) => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_memory_lock_fn(host, 0, agents, 2, out) => ERROR_INVALID_ARGUMENT,
        "NULL result": hsa_amd_memory_lock_fn(host, 3, agents, 2, null_mut()) => ERROR_INVALID_ARGUMENT,
        "agents, number 0": hsa_amd_memory_lock_fn(host, 3, agents, 0, out) => ERROR_INVALID_ARGUMENT,
        "NULL agents, number 1": hsa_amd_memory_lock_fn(host, 3, null_mut(), 1, out) => ERROR_INVALID_ARGUMENT,
        "number -1": hsa_amd_memory_lock_fn(host, 3, agents, -1, out) => ERROR_INVALID_ARGUMENT,
        "flags 1": hsa_amd_memory_lock_to_pool_fn(host, 3, agents, 2, POOL_HANDLE, 1, out) => ERROR_INVALID_ARGUMENT,
        "pool 0": hsa_amd_memory_lock_to_pool_fn(host, 3, agents, 2, hsa_amd_memory_pool_t { handle: 0 }, 0, out)
            => ERROR_INVALID_MEMORY_POOL,
    }
    assert!(seen.is_null() && program.calls().is_empty());
    statuses! { program.amd;
        "all agents": hsa_amd_memory_lock_fn(host, 3, null_mut(), 0, out) => SUCCESS,
        "two agents": hsa_amd_memory_lock_to_pool_fn(host, 3, agents, 2, POOL_HANDLE, 0, out) => SUCCESS,
    }
    assert_eq!(program.calls(), ["lock(3, [], 0x0)", "lock(3, [11, 12], 0x21)"]);
    assert_eq!(seen.addr(), 0x4100);
}

#[test]
fn filling_checks_the_pointer_even_for_nothing() {
    let program = program();
    statuses! { program.amd;
        "NULL": hsa_amd_memory_fill_fn(null_mut(), 1, 16) => ERROR_INVALID_ARGUMENT,
        "NULL, count 0": hsa_amd_memory_fill_fn(null_mut(), 1, 0) => ERROR_INVALID_ARGUMENT,
        "misaligned": hsa_amd_memory_fill_fn(at(0x4001), 1, 16) => ERROR_INVALID_ARGUMENT,
        "misaligned, count 0": hsa_amd_memory_fill_fn(at(0x4002), 1, 0) => ERROR_INVALID_ARGUMENT,
        "count 0": hsa_amd_memory_fill_fn(at(0x4000), 1, 0) => SUCCESS,
        "fine": hsa_amd_memory_fill_fn(at(0x4000), 0xabcd_ef01, 16) => SUCCESS,
    }
    assert_eq!(program.calls(), ["fill(0x4000, 0xabcdef01, 16)"]);
}

unsafe extern "C" fn freed(address: *mut c_void, data: *mut c_void) {
    // SAFETY: the test's word.
    unsafe { *data.cast::<usize>() = address.addr() };
}

#[test]
fn a_free_callback_arrives_as_it_is() {
    let program = program();
    let mut address = 0_usize;
    statuses! { program.amd;
        "NULL ptr": hsa_amd_register_deallocation_callback_fn(null_mut(), Some(freed), null_mut())
            => ERROR_INVALID_ARGUMENT,
        "NULL callback": hsa_amd_register_deallocation_callback_fn(at(64), None, null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_register_deallocation_callback_fn(at(64), Some(freed), (&raw mut address).cast()) => SUCCESS,
        "NULL ptr": hsa_amd_deregister_deallocation_callback_fn(null_mut(), Some(freed)) => ERROR_INVALID_ARGUMENT,
        "NULL callback": hsa_amd_deregister_deallocation_callback_fn(at(64), None) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_deregister_deallocation_callback_fn(at(64), Some(freed)) => SUCCESS,
    }
    assert_eq!(address, 64);
    assert_eq!(program.calls(), ["on_free(0x40)", "cancel_on_free(0x40)"]);
    program.refuse("on_free", hsa_status_t::ERROR_INVALID_ALLOCATION);
    statuses! { program.amd;
        "foreign memory":
            hsa_amd_register_deallocation_callback_fn(at(64), Some(freed), (&raw mut address).cast())
            => ERROR_INVALID_ALLOCATION,
    }
}

#[test]
fn a_misaligned_list_is_an_invalid_argument() {
    let program = program();
    let list = without_provenance::<hsa_agent_t>(0x1001);
    statuses! { program.amd;
        "misaligned agents": hsa_amd_agents_allow_access_fn(1, list, null(), at(64)) => ERROR_INVALID_ARGUMENT,
    }
}
