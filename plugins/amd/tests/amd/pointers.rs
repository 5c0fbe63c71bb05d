//! Pointer information.

use crate::support::{at, program, CPU, GPU};
use hansa_plugin_api::hsa::{hsa_agent_t, hsa_amd_pointer_info_t, hsa_status_t};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

unsafe extern "C" fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: any size.
    unsafe { libc::malloc(bytes) }
}

unsafe extern "C" fn allocate_nothing(_bytes: usize) -> *mut c_void {
    null_mut()
}

/// The structure as bytes, of which the first four are the size.
#[repr(C, align(8))]
struct PointerInfoBytes([u8; 96]);

fn pointer_info_of_size(size: u32) -> PointerInfoBytes {
    let mut bytes = PointerInfoBytes([0xee; 96]);
    bytes.0[..4].copy_from_slice(&size.to_ne_bytes());
    bytes
}

#[test]
fn pointer_info_fills_the_members_that_the_size_covers() {
    let program = program();
    let full = {
        let mut full = [0xee_u8; 96];
        full[4..8].copy_from_slice(&1_u32.to_ne_bytes());
        for (offset, value) in [(8, 0x4000_u64), (16, 0x4100), (24, 65_536), (32, 0x42), (40, GPU)] {
            full[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
        }
        full[48..52].copy_from_slice(&4_u32.to_ne_bytes());
        full[52] = 1;
        full[56..60].copy_from_slice(&0x11_u32.to_ne_bytes());
        full
    };
    // Sizes, and up to where members are filled: a member of which only a part would fit is left alone.
    let sizes = [
        (1, 4),
        (4, 4),
        (7, 4),
        (8, 8),
        (15, 8),
        (16, 16),
        (40, 40),
        (48, 48),
        (52, 52),
        (53, 53),
        (56, 53),
        (60, 60),
        (64, 60),
        (65, 60),
        (4096, 60),
    ];
    for (size, filled) in sizes {
        let mut info = pointer_info_of_size(size);
        // SAFETY: the bytes are at least as many as the size covers.
        let status = unsafe {
            (program.amd.hsa_amd_pointer_info_fn)(
                at(0x4010),
                (&raw mut info).cast(),
                None,
                null_mut(),
                null_mut(),
            )
        };
        assert_eq!(status, hsa_status_t::SUCCESS, "size {size}");
        let mut expected = [0xee_u8; 96];
        expected[..filled].copy_from_slice(&full[..filled]);
        expected[..4].copy_from_slice(&size.min(64).to_ne_bytes());
        assert_eq!(info.0, expected, "size {size}");
    }
    assert_eq!(program.calls()[0], "pointer_info(0x4010, false)");
}

#[test]
fn pointer_info_lists_agents_only_when_all_three_places_are_given() {
    let program = program();
    let mut info = pointer_info_of_size(64);
    let info = (&raw mut info).cast::<hsa_amd_pointer_info_t>();
    let (mut count, mut list) = (0xeeee_u32, null_mut::<hsa_agent_t>());
    let (count_at, list_at) = (&raw mut count, &raw mut list);
    let pointer = at(0x4010);
    statuses! { program.amd;
        "no allocator": hsa_amd_pointer_info_fn(pointer, info, None, count_at, list_at) => SUCCESS,
        "no count": hsa_amd_pointer_info_fn(pointer, info, Some(allocate), null_mut(), list_at) => SUCCESS,
        "no list": hsa_amd_pointer_info_fn(pointer, info, Some(allocate), count_at, null_mut()) => SUCCESS,
        "no memory": hsa_amd_pointer_info_fn(pointer, info, Some(allocate_nothing), count_at, list_at)
            => ERROR_OUT_OF_RESOURCES,
    }
    assert!(list.is_null() && count == 0xeeee);
    statuses! { program.amd;
        "list": hsa_amd_pointer_info_fn(pointer, info, Some(allocate), count_at, list_at) => SUCCESS,
    }
    assert_eq!(count, 2);
    // SAFETY: the list was allocated and filled for two agents.
    let agents = unsafe { *list.cast::<[u64; 2]>() };
    assert_eq!(agents, [CPU, GPU]);
    // SAFETY: allocated by `allocate`.
    unsafe { libc::free(list.cast()) };
    statuses! { program.amd;
        "nobody": hsa_amd_pointer_info_fn(at(0x666), info, Some(allocate), count_at, list_at) => SUCCESS,
    }
    assert!(count == 0 && !list.is_null());
    // SAFETY: allocated by `allocate`.
    unsafe { libc::free(list.cast()) };
}

#[test]
fn pointer_info_needs_a_pointer_a_structure_and_a_size() {
    let program = program();
    let mut info = pointer_info_of_size(0);
    let structure = (&raw mut info).cast::<hsa_amd_pointer_info_t>();
    statuses! { program.amd;
        "NULL ptr": hsa_amd_pointer_info_fn(null(), structure, None, null_mut(), null_mut()) => ERROR_INVALID_ARGUMENT,
        "NULL info": hsa_amd_pointer_info_fn(at(64), null_mut(), None, null_mut(), null_mut())
            => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_pointer_info_fn(at(64), structure, None, null_mut(), null_mut()) => ERROR_INVALID_ARGUMENT,
        "NULL ptr": hsa_amd_pointer_info_set_userdata_fn(null(), null_mut()) => ERROR_INVALID_ARGUMENT,
        "NULL data": hsa_amd_pointer_info_set_userdata_fn(at(64), null_mut()) => SUCCESS,
        "data": hsa_amd_pointer_info_set_userdata_fn(at(64), at(0x42)) => SUCCESS,
    }
    assert_eq!(info.0[4..], [0xee; 92]);
    assert_eq!(
        program.calls(),
        ["set_user_data(0x40, 0x0)", "set_user_data(0x40, 0x42)"]
    );
    program.refuse("set_user_data", hsa_status_t::ERROR_INVALID_ARGUMENT);
    statuses! { program.amd;
        "unknown": hsa_amd_pointer_info_set_userdata_fn(at(64), null_mut()) => ERROR_INVALID_ARGUMENT,
    }
}
