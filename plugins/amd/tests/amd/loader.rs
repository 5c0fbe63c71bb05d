//! The loader extension.

use crate::support::{at, program, Program, GPU};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_code_object_reader_t, hsa_executable_t, hsa_loaded_code_object_t, hsa_status_t,
    hsa_ven_amd_loader_loaded_code_object_info_t, hsa_ven_amd_loader_segment_descriptor_t,
};
use std::ffi::c_void;
use std::mem::zeroed;
use std::ptr::{null, null_mut};

const EXECUTABLE: hsa_executable_t = hsa_executable_t { handle: 0x61 };
const IN_MEMORY: hsa_loaded_code_object_t = hsa_loaded_code_object_t { handle: 0x63 };
const IN_A_FILE: hsa_loaded_code_object_t = hsa_loaded_code_object_t { handle: 0x64 };
const READER: hsa_code_object_reader_t = hsa_code_object_reader_t { handle: 0x65 };

#[test]
fn addresses_lead_to_host_copies_and_executables() {
    let program = program();
    let (mut host, mut executable) = (null(), hsa_executable_t { handle: 0 });
    statuses! { program.loader;
        "NULL address": hsa_ven_amd_loader_query_host_address(null(), &raw mut host) => ERROR_INVALID_ARGUMENT,
        "NULL result": hsa_ven_amd_loader_query_host_address(at(64), null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_ven_amd_loader_query_host_address(at(64), &raw mut host) => SUCCESS,
        "NULL address": hsa_ven_amd_loader_query_executable(null(), &raw mut executable) => ERROR_INVALID_ARGUMENT,
        "NULL result": hsa_ven_amd_loader_query_executable(at(64), null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_ven_amd_loader_query_executable(at(64), &raw mut executable) => SUCCESS,
    }
    assert_eq!((host.addr(), executable.handle), (0x5000, 0x61));
    program.refuse("host_address", hsa_status_t::ERROR_INVALID_ARGUMENT);
    statuses! { program.loader;
        "unknown": hsa_ven_amd_loader_query_host_address(at(64), &raw mut host) => ERROR_INVALID_ARGUMENT,
    }
}

#[test]
fn segments_are_counted_first_and_listed_by_that_number() {
    let program = program();
    // SAFETY: integers and pointers.
    let mut list: [hsa_ven_amd_loader_segment_descriptor_t; 3] = unsafe { zeroed() };
    let list_at = list.as_mut_ptr();
    let mut count = 0_usize;
    let count_at = &raw mut count;
    statuses! { program.loader;
        "NULL count": hsa_ven_amd_loader_query_segment_descriptors(list_at, null_mut()) => ERROR_INVALID_ARGUMENT,
        "list, count 0": hsa_ven_amd_loader_query_segment_descriptors(list_at, count_at) => ERROR_INVALID_ARGUMENT,
        "count": hsa_ven_amd_loader_query_segment_descriptors(null_mut(), count_at) => SUCCESS,
        "no list, count 2": hsa_ven_amd_loader_query_segment_descriptors(null_mut(), count_at)
            => ERROR_INVALID_ARGUMENT,
        "list": hsa_ven_amd_loader_query_segment_descriptors(list_at, count_at) => SUCCESS,
    }
    assert_eq!(count, 2);
    let second = list[1];
    assert_eq!((second.agent.handle, second.executable.handle), (GPU, 0x61));
    assert_eq!(
        (
            second.code_object_storage_type.0,
            second.code_object_storage_base.addr()
        ),
        (2, 0x5100)
    );
    assert_eq!(
        (second.code_object_storage_size, second.code_object_storage_offset),
        (18_592, 0)
    );
    assert_eq!(
        (second.segment_base.addr(), second.segment_size),
        (0x5200, 25_384)
    );
    assert_eq!(list[2].segment_size, 0);
    count = 3;
    statuses! { program.loader;
        "count 3": hsa_ven_amd_loader_query_segment_descriptors(list_at, count_at) => ERROR_INCOMPATIBLE_ARGUMENTS,
    }
    assert_eq!(count, 3);
}

unsafe extern "C" fn one_code_object(
    executable: hsa_executable_t,
    code_object: hsa_loaded_code_object_t,
    data: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the test's list.
    unsafe { &mut *data.cast::<Vec<u64>>() }.push(executable.handle << 8 | code_object.handle);
    hsa_status_t::SUCCESS
}

unsafe extern "C" fn first_executable(executable: hsa_executable_t, data: *mut c_void) -> hsa_status_t {
    // SAFETY: the test's list.
    unsafe { &mut *data.cast::<Vec<u64>>() }.push(executable.handle);
    hsa_status_t::INFO_BREAK
}

#[test]
fn iterations_show_code_objects_and_executables() {
    let program = program();
    let (mut code_objects, mut executables) = (Vec::<u64>::new(), Vec::<u64>::new());
    statuses! { program.loader;
        "NULL callback": hsa_ven_amd_loader_executable_iterate_loaded_code_objects(EXECUTABLE, None, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "all": hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
            EXECUTABLE, Some(one_code_object), (&raw mut code_objects).cast()
        ) => SUCCESS,
        "NULL callback": hsa_ven_amd_loader_iterate_executables(None, null_mut()) => ERROR_INVALID_ARGUMENT,
        "first": hsa_ven_amd_loader_iterate_executables(Some(first_executable), (&raw mut executables).cast())
            => INFO_BREAK,
    }
    assert_eq!((code_objects, executables), (vec![0x6163, 0x6164], vec![0x61]));
    program.refuse("loaded_code_objects", hsa_status_t::ERROR_INVALID_EXECUTABLE);
    statuses! { program.loader;
        "bad executable": hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
            EXECUTABLE, Some(one_code_object), null_mut()
        ) => ERROR_INVALID_EXECUTABLE,
    }
}

/// The value of an attribute, in a field of marks, and the status.
fn attribute(
    program: &Program,
    code_object: hsa_loaded_code_object_t,
    attribute: u32,
) -> (hsa_status_t, [u8; 16]) {
    let mut value = [0xee_u8; 16];
    // SAFETY: the value has room for every attribute of the scripted code objects.
    let status = unsafe {
        (program.loader.hsa_ven_amd_loader_loaded_code_object_get_info)(
            code_object,
            hsa_ven_amd_loader_loaded_code_object_info_t(attribute),
            value.as_mut_ptr().cast(),
        )
    };
    (status, value)
}

#[test]
fn attributes_of_a_code_object_have_their_widths() {
    let program = program();
    let attributes: [(u32, &[u8]); 11] = [
        (1, &0x61_u64.to_le_bytes()),
        (2, &2_u32.to_le_bytes()),
        (3, &GPU.to_le_bytes()),
        (4, &2_u32.to_le_bytes()),
        (5, &0x5100_u64.to_le_bytes()),
        (6, &18_592_u64.to_le_bytes()),
        (8, &(-16_i64).to_le_bytes()),
        (9, &0x5200_u64.to_le_bytes()),
        (10, &25_384_u64.to_le_bytes()),
        (11, &10_u32.to_le_bytes()),
        (12, b"memory://1"),
    ];
    for (number, expected) in attributes {
        let mut wanted = [0xee_u8; 16];
        wanted[..expected.len()].copy_from_slice(expected);
        assert_eq!(
            attribute(&program, IN_MEMORY, number),
            (hsa_status_t::SUCCESS, wanted),
            "{number}"
        );
    }
    for number in [0, 7, 13, u32::MAX] {
        let refused = (hsa_status_t::ERROR_INVALID_ARGUMENT, [0xee; 16]);
        assert_eq!(attribute(&program, IN_MEMORY, number), refused, "{number}");
    }
}

#[test]
fn storage_attributes_depend_on_the_storage() {
    let program = program();
    let mut descriptor = [0xee_u8; 16];
    descriptor[..4].copy_from_slice(&9_i32.to_le_bytes());
    assert_eq!(
        attribute(&program, IN_A_FILE, 7),
        (hsa_status_t::SUCCESS, descriptor)
    );
    assert_eq!(
        attribute(&program, IN_A_FILE, 5).0,
        hsa_status_t::ERROR_INVALID_ARGUMENT
    );
    assert_eq!(
        attribute(&program, IN_A_FILE, 6).0,
        hsa_status_t::ERROR_INVALID_ARGUMENT
    );
    program.refuse("loaded_code_object", hsa_status_t::ERROR_INVALID_CODE_OBJECT);
    assert_eq!(
        attribute(&program, IN_MEMORY, 1).0,
        hsa_status_t::ERROR_INVALID_CODE_OBJECT
    );
}

#[test]
fn readers_are_made_for_parts_of_files() {
    let program = program();
    let mut reader = hsa_code_object_reader_t { handle: 0 };
    let mut size = 0_usize;
    let out = &raw mut reader;
    statuses! { program.loader;
        "NULL result":
            hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(5, 64, 128, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "fd -1": hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(-1, 64, 128, out)
            => ERROR_INVALID_FILE,
        "size 0": hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(5, 64, 0, out)
            => ERROR_INVALID_CODE_OBJECT,
        "fine": hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(5, 64, 128, out) => SUCCESS,
        "NULL result": hsa_ven_amd_loader_code_object_reader_get_load_size(READER, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "fine": hsa_ven_amd_loader_code_object_reader_get_load_size(READER, &raw mut size) => SUCCESS,
    }
    assert_eq!((reader, size), (READER, 25_384));
    assert_eq!(
        program.calls(),
        ["reader_from_file(5, 64, 128)", "load_size(0x65)"]
    );
}

#[test]
fn code_is_loaded_at_an_address_with_text_options() {
    let program = program();
    let agent = hsa_agent_t { handle: GPU };
    let mut loaded = hsa_loaded_code_object_t { handle: 0 };
    let out = &raw mut loaded;
    statuses! { program.loader;
        "NULL address": hsa_ven_amd_loader_executable_load_agent_code_object_at_address(
            EXECUTABLE, agent, READER, null(), null_mut(), 4096, out
        ) => ERROR_INVALID_ARGUMENT,
        "not UTF-8": hsa_ven_amd_loader_executable_load_agent_code_object_at_address(
            EXECUTABLE, agent, READER, c"\xff".as_ptr(), at(64), 4096, out
        ) => ERROR_INVALID_ARGUMENT,
        "no options": hsa_ven_amd_loader_executable_load_agent_code_object_at_address(
            EXECUTABLE, agent, READER, null(), at(64), 4096, null_mut()
        ) => SUCCESS,
        "options": hsa_ven_amd_loader_executable_load_agent_code_object_at_address(
            EXECUTABLE, agent, READER, c"-x".as_ptr(), at(64), 4096, out
        ) => SUCCESS,
    }
    assert_eq!(loaded, IN_MEMORY);
    assert_eq!(
        program.calls(),
        [
            r#"load_at(0x61, 0x12, 0x65, "", 0x40, 4096)"#,
            r#"load_at(0x61, 0x12, 0x65, "-x", 0x40, 4096)"#
        ]
    );
}
