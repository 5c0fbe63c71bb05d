//! The tables as a whole: layout, and what every function does without a runtime or without arguments.

use crate::support::{at, extension, program};
#[allow(
    clippy::wildcard_imports,
    reason = "the rows of the tables name nearly every type of the interface"
)]
use hansa_plugin_api::hsa::*;
use hansa_plugin_api::hsa::{api, hsa_status_t, AmdExtTable, AMD_EXT_TABLE_VERSION};
use hansa_plugin_api::TableSlot;

/// A function's answer as a number.
trait Answer {
    fn number(self) -> u32;
}

impl Answer for hsa_status_t {
    fn number(self) -> u32 {
        self.0
    }
}

impl Answer for u32 {
    fn number(self) -> u32 {
        self
    }
}

/// Calls every function with arguments of nothing but zeros.
macro_rules! call_all {
    ([$name:ident, $Table:ty] $(($index:literal, $kind:ident, $function:ident, $field:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal))*) => {
        fn $name(table: &$Table) -> Vec<(&'static str, u32)> {
            vec![$((stringify!($function), {
                // SAFETY: all types of arguments are integers, pointers, optional functions and unions of these.
                $(let $arg = unsafe { std::mem::zeroed::<$ty>() };)*
                // SAFETY: NULL is allowed for every pointer.
                unsafe { (table.$field)($($arg),*) }.number()
            })),*]
        }
    };
}
hansa_plugin_api::for_each_amd_ext_api!(call_all [call_amd, AmdExtTable]);

/// As `call_all`, for a table whose members have the functions' names.
macro_rules! call_loader {
    ($(($index:literal, $kind:ident, $function:ident, $field:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal))*) => {
        fn call_loader(table: &hsa_ven_amd_loader_1_04_pfn_t) -> Vec<(&'static str, u32)> {
            vec![$((stringify!($function), {
                // SAFETY: all types of arguments are integers, pointers and optional functions.
                $(let $arg = unsafe { std::mem::zeroed::<$ty>() };)*
                // SAFETY: NULL is allowed for every pointer.
                unsafe { (table.$function)($($arg),*) }.number()
            })),*]
        }
    };
}
hansa_plugin_api::for_each_loader_api!(call_loader);

/// Functions that answer an index, not a status.
const WAITS: [&str; 2] = ["hsa_amd_signal_wait_any", "hsa_amd_signal_wait_all"];

#[test]
fn the_tables_are_those_of_interface_1_34_and_loader_1_04() {
    let program = program();
    let [amd, loader, pc_sampling] = program.tables() else {
        panic!("There are three tables")
    };
    assert_eq!(
        (amd.slot, amd.bytes, amd.major, amd.minor),
        (TableSlot::AMD, 768, 1, 34)
    );
    let version = program.amd.version;
    assert_eq!(
        (
            version.major_id,
            version.minor_id,
            version.step_id,
            version.reserved
        ),
        (2, 768, 0x15, 0)
    );
    assert_eq!(AMD_EXT_TABLE_VERSION.minor_id, amd.bytes);
    assert_eq!(
        (loader.slot, loader.id, loader.bytes),
        (TableSlot::NONE, 0x201, 72)
    );
    assert_eq!(loader.name, "HSA_EXTENSION_AMD_LOADER");
    assert_eq!((loader.major, loader.minor), (1, 4));
    assert_eq!(loader.bytes_at_minor[..], [24, 40, 48, 56, 72]);
    assert_eq!(
        (pc_sampling.slot, pc_sampling.id, pc_sampling.bytes),
        (TableSlot::PC_SAMPLING, 0x203, 72)
    );
}

#[test]
fn without_a_runtime_every_function_says_not_initialized() {
    let program = program();
    program.stop();
    let answers = call_amd(program.amd)
        .into_iter()
        .chain(call_loader(program.loader));
    for (function, status) in answers {
        let expected = if WAITS.contains(&function) {
            u32::MAX
        } else {
            hsa_status_t::ERROR_NOT_INITIALIZED.0
        };
        assert_eq!(status, expected, "{function}");
    }
    assert_eq!(
        program.calls(),
        [""; 0],
        "nothing is asked of a runtime that does not run"
    );
}

#[test]
fn every_function_survives_a_panic_in_the_runtime() {
    let program = program();
    program.fail("panic", hansa_plugin_api::Error::not_supported(""));
    let answers = call_amd(program.amd)
        .into_iter()
        .chain(call_loader(program.loader));
    for (function, status) in answers {
        let known = hsa_status_t(status).text().is_some() || WAITS.contains(&function);
        assert!(known, "{function}: {status:#x}");
    }
}

/// What functions answer to arguments of nothing but zeros in a runtime that accepts any handle.
const ZEROS: &[(&str, hsa_status_t)] = {
    use hsa_status_t as S;
    &[
        ("hsa_amd_coherency_get_type", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_coherency_set_type", S::SUCCESS),
        (
            "hsa_amd_profiling_set_profiler_enabled",
            S::ERROR_INVALID_ARGUMENT,
        ),
        ("hsa_amd_profiling_async_copy_enable", S::SUCCESS),
        ("hsa_amd_profiling_get_dispatch_time", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_profiling_get_async_copy_time", S::ERROR_INVALID_ARGUMENT),
        (
            "hsa_amd_profiling_convert_tick_to_system_domain",
            S::ERROR_INVALID_ARGUMENT,
        ),
        ("hsa_amd_signal_async_handler", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_async_function", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_signal_wait_any", hsa_status_t(u32::MAX)),
        ("hsa_amd_queue_cu_set_mask", S::ERROR_INVALID_QUEUE),
        ("hsa_amd_memory_pool_get_info", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_agent_iterate_memory_pools", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_pool_allocate", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_pool_free", S::SUCCESS),
        ("hsa_amd_memory_async_copy", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_async_copy_on_engine", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_copy_engine_status", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_agent_memory_pool_get_info", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_agents_allow_access", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_pool_can_migrate", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_migrate", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_lock", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_unlock", S::SUCCESS),
        ("hsa_amd_memory_fill", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_interop_map_buffer", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_interop_unmap_buffer", S::SUCCESS),
        ("hsa_amd_image_create", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_pointer_info", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_pointer_info_set_userdata", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_ipc_memory_create", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_ipc_memory_attach", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_ipc_memory_detach", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_signal_create", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_ipc_signal_create", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_ipc_signal_attach", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_register_system_event_handler", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_queue_intercept_create", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_queue_intercept_register", S::ERROR_INVALID_QUEUE),
        ("hsa_amd_queue_set_priority", S::ERROR_INVALID_QUEUE),
        ("hsa_amd_memory_async_copy_rect", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_runtime_queue_create_register", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_lock_to_pool", S::ERROR_INVALID_MEMORY_POOL),
        (
            "hsa_amd_register_deallocation_callback",
            S::ERROR_INVALID_ARGUMENT,
        ),
        (
            "hsa_amd_deregister_deallocation_callback",
            S::ERROR_INVALID_ARGUMENT,
        ),
        ("hsa_amd_signal_value_pointer", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_svm_attributes_set", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_svm_attributes_get", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_svm_prefetch_async", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_spm_acquire", S::SUCCESS),
        ("hsa_amd_spm_release", S::SUCCESS),
        ("hsa_amd_spm_set_dest_buffer", S::SUCCESS),
        ("hsa_amd_queue_cu_get_mask", S::ERROR_INVALID_QUEUE),
        ("hsa_amd_portable_export_dmabuf", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_portable_close_dmabuf", S::SUCCESS),
        ("hsa_amd_vmem_address_reserve", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_vmem_address_free", S::ERROR_INVALID_ALLOCATION),
        ("hsa_amd_vmem_handle_create", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_vmem_handle_release", S::SUCCESS),
        ("hsa_amd_vmem_map", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_vmem_unmap", S::ERROR_INVALID_ALLOCATION),
        ("hsa_amd_vmem_set_access", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_vmem_get_access", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_vmem_export_shareable_handle", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_vmem_import_shareable_handle", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_vmem_retain_alloc_handle", S::ERROR_INVALID_ARGUMENT),
        (
            "hsa_amd_vmem_get_alloc_properties_from_handle",
            S::ERROR_INVALID_ARGUMENT,
        ),
        ("hsa_amd_agent_set_async_scratch_limit", S::SUCCESS),
        ("hsa_amd_queue_get_info", S::ERROR_INVALID_QUEUE),
        ("hsa_amd_vmem_address_reserve_align", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_enable_logging", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_signal_wait_all", hsa_status_t(0)),
        (
            "hsa_amd_memory_get_preferred_copy_engine",
            S::ERROR_INVALID_ARGUMENT,
        ),
        ("hsa_amd_portable_export_dmabuf_v2", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_ais_file_write", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_ais_file_read", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_counted_queue_acquire", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_counted_queue_release", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_memory_async_batch_copy", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_agent_preload", S::SUCCESS),
        ("hsa_amd_svm_discard_batch_async", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_signal_get_event_id", S::ERROR_INVALID_ARGUMENT),
        (
            "hsa_amd_external_semaphore_handle_open",
            S::ERROR_INVALID_ARGUMENT,
        ),
        (
            "hsa_amd_external_semaphore_handle_close",
            S::ERROR_INVALID_ARGUMENT,
        ),
        ("hsa_amd_vmem_export_fabric_handle", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_vmem_import_fabric_handle", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_queue_create", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_queue_signal_external_semaphore", S::ERROR_INVALID_QUEUE),
        ("hsa_amd_queue_wait_external_semaphore", S::ERROR_INVALID_QUEUE),
        ("hsa_amd_image_create_v2", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_interop_map_buffer_with_size", S::ERROR_INVALID_ARGUMENT),
        (
            "hsa_amd_svm_discard_and_prefetch_batch_async",
            S::ERROR_INVALID_ARGUMENT,
        ),
        ("hsa_amd_agent_set_attribute", S::ERROR_INVALID_ARGUMENT),
        ("hsa_amd_enable_high_precision_timestamps", S::SUCCESS),
        ("hsa_ven_amd_loader_query_host_address", S::ERROR_INVALID_ARGUMENT),
        (
            "hsa_ven_amd_loader_query_segment_descriptors",
            S::ERROR_INVALID_ARGUMENT,
        ),
        ("hsa_ven_amd_loader_query_executable", S::ERROR_INVALID_ARGUMENT),
        (
            "hsa_ven_amd_loader_executable_iterate_loaded_code_objects",
            S::ERROR_INVALID_ARGUMENT,
        ),
        (
            "hsa_ven_amd_loader_loaded_code_object_get_info",
            S::ERROR_INVALID_ARGUMENT,
        ),
        (
            "hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size",
            S::ERROR_INVALID_ARGUMENT,
        ),
        (
            "hsa_ven_amd_loader_iterate_executables",
            S::ERROR_INVALID_ARGUMENT,
        ),
        (
            "hsa_ven_amd_loader_code_object_reader_get_load_size",
            S::ERROR_INVALID_ARGUMENT,
        ),
        (
            "hsa_ven_amd_loader_executable_load_agent_code_object_at_address",
            S::ERROR_INVALID_ARGUMENT,
        ),
    ]
};

#[test]
fn arguments_of_zeros_have_the_documented_status() {
    let program = program();
    let answers: Vec<_> = call_amd(program.amd)
        .into_iter()
        .chain(call_loader(program.loader))
        .collect();
    assert_eq!(answers.len(), api::AMD_EXT.len() + api::LOADER.len());
    let expected: Vec<_> = ZEROS
        .iter()
        .map(|(function, status)| (*function, status.0))
        .collect();
    assert_eq!(answers, expected);
}

/// A runtime that runs and has no services.
struct Bare;

impl hansa_plugin_api::RuntimeServices for Bare {
    fn is_running(&self) -> hansa_plugin_api::Result<bool> {
        Ok(true)
    }
}

#[test]
fn the_extension_made_last_serves_until_it_ends() {
    let program = program();
    let last = extension(Bare);
    statuses! { program.amd;
        "a runtime without memory": hsa_amd_memory_pool_free_fn(at(64)) => ERROR_NOT_SUPPORTED,
        "arguments are checked first": hsa_amd_memory_fill_fn(std::ptr::null_mut(), 0, 0) => ERROR_INVALID_ARGUMENT,
    }
    assert_eq!(program.calls(), [""; 0]);
    drop(last);
    statuses! { program.amd; "the one before": hsa_amd_memory_pool_free_fn(at(64)) => SUCCESS, }
    assert_eq!(program.calls(), ["free(0x40)"]);
}
