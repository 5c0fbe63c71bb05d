//! Function tables that `hsa_system_get_major_extension_table` copies out.
//!
//! Only ever extended at the end, so an older table is a prefix of a newer one.

use core::ffi::{c_char, c_void};

use super::agent::{hsa_agent_t, hsa_default_float_rounding_mode_t};
use super::aqlprofile::{
    hsa_ext_amd_aql_pm4_packet_t, hsa_ven_amd_aqlprofile_att_marker_channel_t,
    hsa_ven_amd_aqlprofile_coordinate_callback_t, hsa_ven_amd_aqlprofile_data_callback_t,
    hsa_ven_amd_aqlprofile_event_t, hsa_ven_amd_aqlprofile_eventname_callback_t,
    hsa_ven_amd_aqlprofile_info_type_t, hsa_ven_amd_aqlprofile_profile_t,
};
use super::code::{
    hsa_code_object_reader_t, hsa_code_object_t, hsa_code_object_type_t, hsa_executable_t,
    hsa_loaded_code_object_t,
};
use super::finalizer::{
    hsa_ext_control_directives_t, hsa_ext_module_t, hsa_ext_program_info_t, hsa_ext_program_t, ModuleCallback,
};
use super::image::{
    hsa_ext_image_data_info_t, hsa_ext_image_data_layout_t, hsa_ext_image_descriptor_t,
    hsa_ext_image_format_t, hsa_ext_image_geometry_t, hsa_ext_image_region_t, hsa_ext_image_t,
    hsa_ext_sampler_descriptor_t, hsa_ext_sampler_descriptor_v2_t, hsa_ext_sampler_t,
};
use super::isa::hsa_isa_t;
use super::loader::{
    hsa_ven_amd_loader_loaded_code_object_info_t, hsa_ven_amd_loader_segment_descriptor_t,
    ExecutableCallback, LoadedCodeObjectCallback,
};
use super::pc_sampling::{
    hsa_ven_amd_pcs_data_ready_callback_t, hsa_ven_amd_pcs_iterate_configuration_callback_t,
    hsa_ven_amd_pcs_method_kind_t, hsa_ven_amd_pcs_t, hsa_ven_amd_pcs_units_t,
};
use super::status::hsa_status_t;
use super::system::{hsa_access_permission_t, hsa_dim3_t, hsa_file_t, hsa_machine_model_t, hsa_profile_t};

abi_struct! {
    /// Functions of the finalizer extension 1.0.
    hsa_ext_finalizer_1_00_pfn_t {
        /// Creates an empty program.
        hsa_ext_program_create: unsafe extern "C" fn(machine_model: hsa_machine_model_t, profile: hsa_profile_t, default_float_rounding_mode: hsa_default_float_rounding_mode_t, options: *const c_char, program: *mut hsa_ext_program_t) -> hsa_status_t,
        /// Destroys a program, not its modules.
        hsa_ext_program_destroy: unsafe extern "C" fn(program: hsa_ext_program_t) -> hsa_status_t,
        /// Adds a module, which must outlive the program.
        hsa_ext_program_add_module: unsafe extern "C" fn(program: hsa_ext_program_t, module: hsa_ext_module_t) -> hsa_status_t,
        /// Calls back for every module of a program.
        hsa_ext_program_iterate_modules: unsafe extern "C" fn(program: hsa_ext_program_t, callback: ModuleCallback, data: *mut c_void) -> hsa_status_t,
        /// Reads one property of a program.
        hsa_ext_program_get_info: unsafe extern "C" fn(program: hsa_ext_program_t, attribute: hsa_ext_program_info_t, value: *mut c_void) -> hsa_status_t,
        /// Makes a code object for an instruction set.
        hsa_ext_program_finalize: unsafe extern "C" fn(program: hsa_ext_program_t, isa: hsa_isa_t, call_convention: i32, control_directives: hsa_ext_control_directives_t, options: *const c_char, code_object_type: hsa_code_object_type_t, code_object: *mut hsa_code_object_t) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the image extension 1.0. The order differs from `ImageExtTable`.
    hsa_ext_images_1_00_pfn_t {
        /// Tells what an agent can do with a format.
        hsa_ext_image_get_capability: unsafe extern "C" fn(agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, capability_mask: *mut u32) -> hsa_status_t,
        /// Tells which memory an image needs.
        hsa_ext_image_data_get_info: unsafe extern "C" fn(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_info: *mut hsa_ext_image_data_info_t) -> hsa_status_t,
        /// Creates an image over memory of the program.
        hsa_ext_image_create: unsafe extern "C" fn(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t) -> hsa_status_t,
        /// Destroys an image, not its memory.
        hsa_ext_image_destroy: unsafe extern "C" fn(agent: hsa_agent_t, image: hsa_ext_image_t) -> hsa_status_t,
        /// Copies a box between images.
        hsa_ext_image_copy: unsafe extern "C" fn(agent: hsa_agent_t, src_image: hsa_ext_image_t, src_offset: *const hsa_dim3_t, dst_image: hsa_ext_image_t, dst_offset: *const hsa_dim3_t, range: *const hsa_dim3_t) -> hsa_status_t,
        /// Copies linear memory into a box of an image.
        hsa_ext_image_import: unsafe extern "C" fn(agent: hsa_agent_t, src_memory: *const c_void, src_row_pitch: usize, src_slice_pitch: usize, dst_image: hsa_ext_image_t, image_region: *const hsa_ext_image_region_t) -> hsa_status_t,
        /// Copies a box of an image into linear memory.
        hsa_ext_image_export: unsafe extern "C" fn(agent: hsa_agent_t, src_image: hsa_ext_image_t, dst_memory: *mut c_void, dst_row_pitch: usize, dst_slice_pitch: usize, image_region: *const hsa_ext_image_region_t) -> hsa_status_t,
        /// Fills a box of an image with one element.
        hsa_ext_image_clear: unsafe extern "C" fn(agent: hsa_agent_t, image: hsa_ext_image_t, data: *const c_void, image_region: *const hsa_ext_image_region_t) -> hsa_status_t,
        /// Creates a sampler.
        hsa_ext_sampler_create: unsafe extern "C" fn(agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_t, sampler: *mut hsa_ext_sampler_t) -> hsa_status_t,
        /// Destroys a sampler.
        hsa_ext_sampler_destroy: unsafe extern "C" fn(agent: hsa_agent_t, sampler: hsa_ext_sampler_t) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the image extension 1.x. The order differs from `ImageExtTable`.
    hsa_ext_images_1_pfn_t {
        /// Tells what an agent can do with a format.
        hsa_ext_image_get_capability: unsafe extern "C" fn(agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, capability_mask: *mut u32) -> hsa_status_t,
        /// Tells which memory an image needs.
        hsa_ext_image_data_get_info: unsafe extern "C" fn(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_info: *mut hsa_ext_image_data_info_t) -> hsa_status_t,
        /// Creates an image over memory of the program.
        hsa_ext_image_create: unsafe extern "C" fn(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t) -> hsa_status_t,
        /// Destroys an image, not its memory.
        hsa_ext_image_destroy: unsafe extern "C" fn(agent: hsa_agent_t, image: hsa_ext_image_t) -> hsa_status_t,
        /// Copies a box between images.
        hsa_ext_image_copy: unsafe extern "C" fn(agent: hsa_agent_t, src_image: hsa_ext_image_t, src_offset: *const hsa_dim3_t, dst_image: hsa_ext_image_t, dst_offset: *const hsa_dim3_t, range: *const hsa_dim3_t) -> hsa_status_t,
        /// Copies linear memory into a box of an image.
        hsa_ext_image_import: unsafe extern "C" fn(agent: hsa_agent_t, src_memory: *const c_void, src_row_pitch: usize, src_slice_pitch: usize, dst_image: hsa_ext_image_t, image_region: *const hsa_ext_image_region_t) -> hsa_status_t,
        /// Copies a box of an image into linear memory.
        hsa_ext_image_export: unsafe extern "C" fn(agent: hsa_agent_t, src_image: hsa_ext_image_t, dst_memory: *mut c_void, dst_row_pitch: usize, dst_slice_pitch: usize, image_region: *const hsa_ext_image_region_t) -> hsa_status_t,
        /// Fills a box of an image with one element.
        hsa_ext_image_clear: unsafe extern "C" fn(agent: hsa_agent_t, image: hsa_ext_image_t, data: *const c_void, image_region: *const hsa_ext_image_region_t) -> hsa_status_t,
        /// Creates a sampler.
        hsa_ext_sampler_create: unsafe extern "C" fn(agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_t, sampler: *mut hsa_ext_sampler_t) -> hsa_status_t,
        /// Destroys a sampler.
        hsa_ext_sampler_destroy: unsafe extern "C" fn(agent: hsa_agent_t, sampler: hsa_ext_sampler_t) -> hsa_status_t,
        /// Tells what an agent can do with a format in a layout.
        hsa_ext_image_get_capability_with_layout: unsafe extern "C" fn(agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, image_data_layout: hsa_ext_image_data_layout_t, capability_mask: *mut u32) -> hsa_status_t,
        /// Tells which memory an image of a given layout needs.
        hsa_ext_image_data_get_info_with_layout: unsafe extern "C" fn(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_layout: hsa_ext_image_data_layout_t, image_data_row_pitch: usize, image_data_slice_pitch: usize, image_data_info: *mut hsa_ext_image_data_info_t) -> hsa_status_t,
        /// Creates an image of a given layout over memory of the program.
        hsa_ext_image_create_with_layout: unsafe extern "C" fn(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image_data_layout: hsa_ext_image_data_layout_t, image_data_row_pitch: usize, image_data_slice_pitch: usize, image: *mut hsa_ext_image_t) -> hsa_status_t,
        /// Creates a sampler with one address mode for each axis.
        hsa_ext_sampler_create_v2: unsafe extern "C" fn(agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t, sampler: *mut hsa_ext_sampler_t) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the loader extension 1.0.
    hsa_ven_amd_loader_1_00_pfn_t {
        /// Gives the host copy of an address in loaded code.
        hsa_ven_amd_loader_query_host_address: unsafe extern "C" fn(device_address: *const c_void, host_address: *mut *const c_void) -> hsa_status_t,
        /// Lists all loaded segments; a NULL list and 0 ask for their number.
        hsa_ven_amd_loader_query_segment_descriptors: unsafe extern "C" fn(segment_descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t, num_segment_descriptors: *mut usize) -> hsa_status_t,
        /// Gives the executable an address in loaded code belongs to.
        hsa_ven_amd_loader_query_executable: unsafe extern "C" fn(device_address: *const c_void, executable: *mut hsa_executable_t) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the loader extension 1.1.
    hsa_ven_amd_loader_1_01_pfn_t {
        /// Gives the host copy of an address in loaded code.
        hsa_ven_amd_loader_query_host_address: unsafe extern "C" fn(device_address: *const c_void, host_address: *mut *const c_void) -> hsa_status_t,
        /// Lists all loaded segments; a NULL list and 0 ask for their number.
        hsa_ven_amd_loader_query_segment_descriptors: unsafe extern "C" fn(segment_descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t, num_segment_descriptors: *mut usize) -> hsa_status_t,
        /// Gives the executable an address in loaded code belongs to.
        hsa_ven_amd_loader_query_executable: unsafe extern "C" fn(device_address: *const c_void, executable: *mut hsa_executable_t) -> hsa_status_t,
        /// Calls back for every code object of an executable.
        hsa_ven_amd_loader_executable_iterate_loaded_code_objects: unsafe extern "C" fn(executable: hsa_executable_t, callback: LoadedCodeObjectCallback, data: *mut c_void) -> hsa_status_t,
        /// Reads one property of a loaded code object.
        hsa_ven_amd_loader_loaded_code_object_get_info: unsafe extern "C" fn(loaded_code_object: hsa_loaded_code_object_t, attribute: hsa_ven_amd_loader_loaded_code_object_info_t, value: *mut c_void) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the loader extension 1.2.
    hsa_ven_amd_loader_1_02_pfn_t {
        /// Gives the host copy of an address in loaded code.
        hsa_ven_amd_loader_query_host_address: unsafe extern "C" fn(device_address: *const c_void, host_address: *mut *const c_void) -> hsa_status_t,
        /// Lists all loaded segments; a NULL list and 0 ask for their number.
        hsa_ven_amd_loader_query_segment_descriptors: unsafe extern "C" fn(segment_descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t, num_segment_descriptors: *mut usize) -> hsa_status_t,
        /// Gives the executable an address in loaded code belongs to.
        hsa_ven_amd_loader_query_executable: unsafe extern "C" fn(device_address: *const c_void, executable: *mut hsa_executable_t) -> hsa_status_t,
        /// Calls back for every code object of an executable.
        hsa_ven_amd_loader_executable_iterate_loaded_code_objects: unsafe extern "C" fn(executable: hsa_executable_t, callback: LoadedCodeObjectCallback, data: *mut c_void) -> hsa_status_t,
        /// Reads one property of a loaded code object.
        hsa_ven_amd_loader_loaded_code_object_get_info: unsafe extern "C" fn(loaded_code_object: hsa_loaded_code_object_t, attribute: hsa_ven_amd_loader_loaded_code_object_info_t, value: *mut c_void) -> hsa_status_t,
        /// Makes a reader of a part of a file.
        hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size: unsafe extern "C" fn(file: hsa_file_t, offset: usize, size: usize, code_object_reader: *mut hsa_code_object_reader_t) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the loader extension 1.3.
    hsa_ven_amd_loader_1_03_pfn_t {
        /// Gives the host copy of an address in loaded code.
        hsa_ven_amd_loader_query_host_address: unsafe extern "C" fn(device_address: *const c_void, host_address: *mut *const c_void) -> hsa_status_t,
        /// Lists all loaded segments; a NULL list and 0 ask for their number.
        hsa_ven_amd_loader_query_segment_descriptors: unsafe extern "C" fn(segment_descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t, num_segment_descriptors: *mut usize) -> hsa_status_t,
        /// Gives the executable an address in loaded code belongs to.
        hsa_ven_amd_loader_query_executable: unsafe extern "C" fn(device_address: *const c_void, executable: *mut hsa_executable_t) -> hsa_status_t,
        /// Calls back for every code object of an executable.
        hsa_ven_amd_loader_executable_iterate_loaded_code_objects: unsafe extern "C" fn(executable: hsa_executable_t, callback: LoadedCodeObjectCallback, data: *mut c_void) -> hsa_status_t,
        /// Reads one property of a loaded code object.
        hsa_ven_amd_loader_loaded_code_object_get_info: unsafe extern "C" fn(loaded_code_object: hsa_loaded_code_object_t, attribute: hsa_ven_amd_loader_loaded_code_object_info_t, value: *mut c_void) -> hsa_status_t,
        /// Makes a reader of a part of a file.
        hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size: unsafe extern "C" fn(file: hsa_file_t, offset: usize, size: usize, code_object_reader: *mut hsa_code_object_reader_t) -> hsa_status_t,
        /// Calls back for every executable of the process.
        hsa_ven_amd_loader_iterate_executables: unsafe extern "C" fn(callback: ExecutableCallback, data: *mut c_void) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the loader extension 1.4.
    hsa_ven_amd_loader_1_04_pfn_t {
        /// Gives the host copy of an address in loaded code.
        hsa_ven_amd_loader_query_host_address: unsafe extern "C" fn(device_address: *const c_void, host_address: *mut *const c_void) -> hsa_status_t,
        /// Lists all loaded segments; a NULL list and 0 ask for their number.
        hsa_ven_amd_loader_query_segment_descriptors: unsafe extern "C" fn(segment_descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t, num_segment_descriptors: *mut usize) -> hsa_status_t,
        /// Gives the executable an address in loaded code belongs to.
        hsa_ven_amd_loader_query_executable: unsafe extern "C" fn(device_address: *const c_void, executable: *mut hsa_executable_t) -> hsa_status_t,
        /// Calls back for every code object of an executable.
        hsa_ven_amd_loader_executable_iterate_loaded_code_objects: unsafe extern "C" fn(executable: hsa_executable_t, callback: LoadedCodeObjectCallback, data: *mut c_void) -> hsa_status_t,
        /// Reads one property of a loaded code object.
        hsa_ven_amd_loader_loaded_code_object_get_info: unsafe extern "C" fn(loaded_code_object: hsa_loaded_code_object_t, attribute: hsa_ven_amd_loader_loaded_code_object_info_t, value: *mut c_void) -> hsa_status_t,
        /// Makes a reader of a part of a file.
        hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size: unsafe extern "C" fn(file: hsa_file_t, offset: usize, size: usize, code_object_reader: *mut hsa_code_object_reader_t) -> hsa_status_t,
        /// Calls back for every executable of the process.
        hsa_ven_amd_loader_iterate_executables: unsafe extern "C" fn(callback: ExecutableCallback, data: *mut c_void) -> hsa_status_t,
        /// Tells how many bytes a code object takes when loaded.
        hsa_ven_amd_loader_code_object_reader_get_load_size: unsafe extern "C" fn(code_object_reader: hsa_code_object_reader_t, load_size: *mut usize) -> hsa_status_t,
        /// Loads a code object for an agent at a given address.
        hsa_ven_amd_loader_executable_load_agent_code_object_at_address: unsafe extern "C" fn(executable: hsa_executable_t, agent: hsa_agent_t, code_object_reader: hsa_code_object_reader_t, options: *const c_char, load_address: *mut c_void, load_size: usize, loaded_code_object: *mut hsa_loaded_code_object_t) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the counter and trace packet library 1.0.
    hsa_ven_amd_aqlprofile_1_00_pfn_t {
        /// Gives the major version of the library.
        hsa_ven_amd_aqlprofile_version_major: unsafe extern "C" fn() -> u32,
        /// Gives the minor version of the library.
        hsa_ven_amd_aqlprofile_version_minor: unsafe extern "C" fn() -> u32,
        /// Gives the text of the last error.
        hsa_ven_amd_aqlprofile_error_string: unsafe extern "C" fn(str: *mut *const c_char) -> hsa_status_t,
        /// Tells whether an agent has a counter.
        hsa_ven_amd_aqlprofile_validate_event: unsafe extern "C" fn(agent: hsa_agent_t, event: *const hsa_ven_amd_aqlprofile_event_t, result: *mut bool) -> hsa_status_t,
        /// Makes the packet that starts measuring.
        hsa_ven_amd_aqlprofile_start: unsafe extern "C" fn(profile: *mut hsa_ven_amd_aqlprofile_profile_t, aql_start_packet: *mut hsa_ext_amd_aql_pm4_packet_t) -> hsa_status_t,
        /// Makes the packet that stops measuring.
        hsa_ven_amd_aqlprofile_stop: unsafe extern "C" fn(profile: *const hsa_ven_amd_aqlprofile_profile_t, aql_stop_packet: *mut hsa_ext_amd_aql_pm4_packet_t) -> hsa_status_t,
        /// Makes the packet that reads counters.
        hsa_ven_amd_aqlprofile_read: unsafe extern "C" fn(profile: *const hsa_ven_amd_aqlprofile_profile_t, aql_read_packet: *mut hsa_ext_amd_aql_pm4_packet_t) -> hsa_status_t,
        /// Makes the commands of a packet for GPUs that take them only in a ring.
        hsa_ven_amd_aqlprofile_legacy_get_pm4: unsafe extern "C" fn(aql_packet: *const hsa_ext_amd_aql_pm4_packet_t, data: *mut c_void) -> hsa_status_t,
        /// Reads one property of a profile.
        hsa_ven_amd_aqlprofile_get_info: unsafe extern "C" fn(profile: *const hsa_ven_amd_aqlprofile_profile_t, attribute: hsa_ven_amd_aqlprofile_info_type_t, value: *mut c_void) -> hsa_status_t,
        /// Calls back for every result.
        hsa_ven_amd_aqlprofile_iterate_data: unsafe extern "C" fn(profile: *const hsa_ven_amd_aqlprofile_profile_t, callback: hsa_ven_amd_aqlprofile_data_callback_t, data: *mut c_void) -> hsa_status_t,
        /// Calls back for every event name.
        hsa_ven_amd_aqlprofile_iterate_event_ids: unsafe extern "C" fn(callback: hsa_ven_amd_aqlprofile_eventname_callback_t) -> hsa_status_t,
        /// Calls back for every coordinate of an event.
        hsa_ven_amd_aqlprofile_iterate_event_coord: unsafe extern "C" fn(agent: hsa_agent_t, event: hsa_ven_amd_aqlprofile_event_t, sample_id: u32, callback: hsa_ven_amd_aqlprofile_coordinate_callback_t, userdata: *mut c_void) -> hsa_status_t,
        /// Makes the packet that puts a marker into a trace.
        hsa_ven_amd_aqlprofile_att_marker: unsafe extern "C" fn(profile: *mut hsa_ven_amd_aqlprofile_profile_t, aql_marker_packet: *mut hsa_ext_amd_aql_pm4_packet_t, data: u32, channel: hsa_ven_amd_aqlprofile_att_marker_channel_t) -> hsa_status_t,
    }
}

abi_struct! {
    /// Functions of the sampling extension 1.0.
    hsa_ven_amd_pc_sampling_1_00_pfn_t {
        /// Calls back for every configuration of an agent.
        hsa_ven_amd_pcs_iterate_configuration: unsafe extern "C" fn(agent: hsa_agent_t, configuration_callback: hsa_ven_amd_pcs_iterate_configuration_callback_t, callback_data: *mut c_void) -> hsa_status_t,
        /// Creates a sampling session.
        hsa_ven_amd_pcs_create: unsafe extern "C" fn(agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t, interval: usize, latency: usize, buffer_size: usize, data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t, client_callback_data: *mut c_void, pc_sampling: *mut hsa_ven_amd_pcs_t) -> hsa_status_t,
        /// Creates a sampling session for one that the driver already knows.
        hsa_ven_amd_pcs_create_from_id: unsafe extern "C" fn(pcs_id: u32, agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t, interval: usize, latency: usize, buffer_size: usize, data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t, client_callback_data: *mut c_void, pc_sampling: *mut hsa_ven_amd_pcs_t) -> hsa_status_t,
        /// Destroys a sampling session.
        hsa_ven_amd_pcs_destroy: unsafe extern "C" fn(pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t,
        /// Starts sampling.
        hsa_ven_amd_pcs_start: unsafe extern "C" fn(pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t,
        /// Stops sampling.
        hsa_ven_amd_pcs_stop: unsafe extern "C" fn(pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t,
        /// Delivers the samples taken so far.
        hsa_ven_amd_pcs_flush: unsafe extern "C" fn(pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t,
    }
}
