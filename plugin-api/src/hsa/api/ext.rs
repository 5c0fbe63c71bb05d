//! The functions of the extension tables, in the order of their members.

/// Invokes a macro with one row for each member of `ImageExtTable`; see [`hsa::api`](crate::hsa::api) for the row.
#[macro_export]
macro_rules! for_each_image_api {
    ($callback:ident) => {
        $callback! {
            (0, exported, hsa_ext_image_get_capability, hsa_ext_image_get_capability_fn, (agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, capability_mask: *mut u32), hsa_status_t, "Tells what an agent can do with a format.")
            (1, exported, hsa_ext_image_data_get_info, hsa_ext_image_data_get_info_fn, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_info: *mut hsa_ext_image_data_info_t), hsa_status_t, "Tells which memory an image needs.")
            (2, exported, hsa_ext_image_create, hsa_ext_image_create_fn, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t), hsa_status_t, "Creates an image over memory of the program.")
            (3, exported, hsa_ext_image_import, hsa_ext_image_import_fn, (agent: hsa_agent_t, src_memory: *const c_void, src_row_pitch: usize, src_slice_pitch: usize, dst_image: hsa_ext_image_t, image_region: *const hsa_ext_image_region_t), hsa_status_t, "Copies linear memory into a box of an image.")
            (4, exported, hsa_ext_image_export, hsa_ext_image_export_fn, (agent: hsa_agent_t, src_image: hsa_ext_image_t, dst_memory: *mut c_void, dst_row_pitch: usize, dst_slice_pitch: usize, image_region: *const hsa_ext_image_region_t), hsa_status_t, "Copies a box of an image into linear memory.")
            (5, exported, hsa_ext_image_copy, hsa_ext_image_copy_fn, (agent: hsa_agent_t, src_image: hsa_ext_image_t, src_offset: *const hsa_dim3_t, dst_image: hsa_ext_image_t, dst_offset: *const hsa_dim3_t, range: *const hsa_dim3_t), hsa_status_t, "Copies a box between images.")
            (6, exported, hsa_ext_image_clear, hsa_ext_image_clear_fn, (agent: hsa_agent_t, image: hsa_ext_image_t, data: *const c_void, image_region: *const hsa_ext_image_region_t), hsa_status_t, "Fills a box of an image with one element.")
            (7, exported, hsa_ext_image_destroy, hsa_ext_image_destroy_fn, (agent: hsa_agent_t, image: hsa_ext_image_t), hsa_status_t, "Destroys an image, not its memory.")
            (8, exported, hsa_ext_sampler_create, hsa_ext_sampler_create_fn, (agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_t, sampler: *mut hsa_ext_sampler_t), hsa_status_t, "Creates a sampler.")
            (9, exported, hsa_ext_sampler_destroy, hsa_ext_sampler_destroy_fn, (agent: hsa_agent_t, sampler: hsa_ext_sampler_t), hsa_status_t, "Destroys a sampler.")
            (10, exported, hsa_ext_image_get_capability_with_layout, hsa_ext_image_get_capability_with_layout_fn, (agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, image_data_layout: hsa_ext_image_data_layout_t, capability_mask: *mut u32), hsa_status_t, "Tells what an agent can do with a format in a layout.")
            (11, exported, hsa_ext_image_data_get_info_with_layout, hsa_ext_image_data_get_info_with_layout_fn, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_layout: hsa_ext_image_data_layout_t, image_data_row_pitch: usize, image_data_slice_pitch: usize, image_data_info: *mut hsa_ext_image_data_info_t), hsa_status_t, "Tells which memory an image of a given layout needs.")
            (12, exported, hsa_ext_image_create_with_layout, hsa_ext_image_create_with_layout_fn, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image_data_layout: hsa_ext_image_data_layout_t, image_data_row_pitch: usize, image_data_slice_pitch: usize, image: *mut hsa_ext_image_t), hsa_status_t, "Creates an image of a given layout over memory of the program.")
            (13, exported, hsa_ext_sampler_create_v2, hsa_ext_sampler_create_v2_fn, (agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t, sampler: *mut hsa_ext_sampler_t), hsa_status_t, "Creates a sampler with one address mode for each axis.")
        }
    };
    ($callback:ident [$($context:tt)*]) => {
        $callback! {
            [$($context)*]
            (0, exported, hsa_ext_image_get_capability, hsa_ext_image_get_capability_fn, (agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, capability_mask: *mut u32), hsa_status_t, "Tells what an agent can do with a format.")
            (1, exported, hsa_ext_image_data_get_info, hsa_ext_image_data_get_info_fn, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_info: *mut hsa_ext_image_data_info_t), hsa_status_t, "Tells which memory an image needs.")
            (2, exported, hsa_ext_image_create, hsa_ext_image_create_fn, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t), hsa_status_t, "Creates an image over memory of the program.")
            (3, exported, hsa_ext_image_import, hsa_ext_image_import_fn, (agent: hsa_agent_t, src_memory: *const c_void, src_row_pitch: usize, src_slice_pitch: usize, dst_image: hsa_ext_image_t, image_region: *const hsa_ext_image_region_t), hsa_status_t, "Copies linear memory into a box of an image.")
            (4, exported, hsa_ext_image_export, hsa_ext_image_export_fn, (agent: hsa_agent_t, src_image: hsa_ext_image_t, dst_memory: *mut c_void, dst_row_pitch: usize, dst_slice_pitch: usize, image_region: *const hsa_ext_image_region_t), hsa_status_t, "Copies a box of an image into linear memory.")
            (5, exported, hsa_ext_image_copy, hsa_ext_image_copy_fn, (agent: hsa_agent_t, src_image: hsa_ext_image_t, src_offset: *const hsa_dim3_t, dst_image: hsa_ext_image_t, dst_offset: *const hsa_dim3_t, range: *const hsa_dim3_t), hsa_status_t, "Copies a box between images.")
            (6, exported, hsa_ext_image_clear, hsa_ext_image_clear_fn, (agent: hsa_agent_t, image: hsa_ext_image_t, data: *const c_void, image_region: *const hsa_ext_image_region_t), hsa_status_t, "Fills a box of an image with one element.")
            (7, exported, hsa_ext_image_destroy, hsa_ext_image_destroy_fn, (agent: hsa_agent_t, image: hsa_ext_image_t), hsa_status_t, "Destroys an image, not its memory.")
            (8, exported, hsa_ext_sampler_create, hsa_ext_sampler_create_fn, (agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_t, sampler: *mut hsa_ext_sampler_t), hsa_status_t, "Creates a sampler.")
            (9, exported, hsa_ext_sampler_destroy, hsa_ext_sampler_destroy_fn, (agent: hsa_agent_t, sampler: hsa_ext_sampler_t), hsa_status_t, "Destroys a sampler.")
            (10, exported, hsa_ext_image_get_capability_with_layout, hsa_ext_image_get_capability_with_layout_fn, (agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, image_data_layout: hsa_ext_image_data_layout_t, capability_mask: *mut u32), hsa_status_t, "Tells what an agent can do with a format in a layout.")
            (11, exported, hsa_ext_image_data_get_info_with_layout, hsa_ext_image_data_get_info_with_layout_fn, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_layout: hsa_ext_image_data_layout_t, image_data_row_pitch: usize, image_data_slice_pitch: usize, image_data_info: *mut hsa_ext_image_data_info_t), hsa_status_t, "Tells which memory an image of a given layout needs.")
            (12, exported, hsa_ext_image_create_with_layout, hsa_ext_image_create_with_layout_fn, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image_data_layout: hsa_ext_image_data_layout_t, image_data_row_pitch: usize, image_data_slice_pitch: usize, image: *mut hsa_ext_image_t), hsa_status_t, "Creates an image of a given layout over memory of the program.")
            (13, exported, hsa_ext_sampler_create_v2, hsa_ext_sampler_create_v2_fn, (agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t, sampler: *mut hsa_ext_sampler_t), hsa_status_t, "Creates a sampler with one address mode for each axis.")
        }
    };
}

/// Invokes a macro with one row for each member of `FinalizerExtTable`; see [`hsa::api`](crate::hsa::api) for the row.
#[macro_export]
macro_rules! for_each_finalizer_api {
    ($callback:ident) => {
        $callback! {
            (0, exported, hsa_ext_program_create, hsa_ext_program_create_fn, (machine_model: hsa_machine_model_t, profile: hsa_profile_t, default_float_rounding_mode: hsa_default_float_rounding_mode_t, options: *const c_char, program: *mut hsa_ext_program_t), hsa_status_t, "Creates an empty program.")
            (1, exported, hsa_ext_program_destroy, hsa_ext_program_destroy_fn, (program: hsa_ext_program_t), hsa_status_t, "Destroys a program, not its modules.")
            (2, exported, hsa_ext_program_add_module, hsa_ext_program_add_module_fn, (program: hsa_ext_program_t, module: hsa_ext_module_t), hsa_status_t, "Adds a module, which must outlive the program.")
            (3, exported, hsa_ext_program_iterate_modules, hsa_ext_program_iterate_modules_fn, (program: hsa_ext_program_t, callback: ModuleCallback, data: *mut c_void), hsa_status_t, "Calls back for every module of a program.")
            (4, exported, hsa_ext_program_get_info, hsa_ext_program_get_info_fn, (program: hsa_ext_program_t, attribute: hsa_ext_program_info_t, value: *mut c_void), hsa_status_t, "Reads one property of a program.")
            (5, exported, hsa_ext_program_finalize, hsa_ext_program_finalize_fn, (program: hsa_ext_program_t, isa: hsa_isa_t, call_convention: i32, control_directives: hsa_ext_control_directives_t, options: *const c_char, code_object_type: hsa_code_object_type_t, code_object: *mut hsa_code_object_t), hsa_status_t, "Makes a code object for an instruction set.")
        }
    };
    ($callback:ident [$($context:tt)*]) => {
        $callback! {
            [$($context)*]
            (0, exported, hsa_ext_program_create, hsa_ext_program_create_fn, (machine_model: hsa_machine_model_t, profile: hsa_profile_t, default_float_rounding_mode: hsa_default_float_rounding_mode_t, options: *const c_char, program: *mut hsa_ext_program_t), hsa_status_t, "Creates an empty program.")
            (1, exported, hsa_ext_program_destroy, hsa_ext_program_destroy_fn, (program: hsa_ext_program_t), hsa_status_t, "Destroys a program, not its modules.")
            (2, exported, hsa_ext_program_add_module, hsa_ext_program_add_module_fn, (program: hsa_ext_program_t, module: hsa_ext_module_t), hsa_status_t, "Adds a module, which must outlive the program.")
            (3, exported, hsa_ext_program_iterate_modules, hsa_ext_program_iterate_modules_fn, (program: hsa_ext_program_t, callback: ModuleCallback, data: *mut c_void), hsa_status_t, "Calls back for every module of a program.")
            (4, exported, hsa_ext_program_get_info, hsa_ext_program_get_info_fn, (program: hsa_ext_program_t, attribute: hsa_ext_program_info_t, value: *mut c_void), hsa_status_t, "Reads one property of a program.")
            (5, exported, hsa_ext_program_finalize, hsa_ext_program_finalize_fn, (program: hsa_ext_program_t, isa: hsa_isa_t, call_convention: i32, control_directives: hsa_ext_control_directives_t, options: *const c_char, code_object_type: hsa_code_object_type_t, code_object: *mut hsa_code_object_t), hsa_status_t, "Makes a code object for an instruction set.")
        }
    };
}

/// Invokes a macro with one row for each member of `PcSamplingExtTable`; see [`hsa::api`](crate::hsa::api) for the row.
#[macro_export]
macro_rules! for_each_pc_sampling_api {
    ($callback:ident) => {
        $callback! {
            (0, exported, hsa_ven_amd_pcs_iterate_configuration, hsa_ven_amd_pcs_iterate_configuration_fn, (agent: hsa_agent_t, configuration_callback: hsa_ven_amd_pcs_iterate_configuration_callback_t, callback_data: *mut c_void), hsa_status_t, "Calls back for every configuration of an agent.")
            (1, exported, hsa_ven_amd_pcs_create, hsa_ven_amd_pcs_create_fn, (agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t, interval: usize, latency: usize, buffer_size: usize, data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t, client_callback_data: *mut c_void, pc_sampling: *mut hsa_ven_amd_pcs_t), hsa_status_t, "Creates a sampling session.")
            (2, exported, hsa_ven_amd_pcs_create_from_id, hsa_ven_amd_pcs_create_from_id_fn, (pcs_id: u32, agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t, interval: usize, latency: usize, buffer_size: usize, data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t, client_callback_data: *mut c_void, pc_sampling: *mut hsa_ven_amd_pcs_t), hsa_status_t, "Creates a sampling session for one that the driver already knows.")
            (3, exported, hsa_ven_amd_pcs_destroy, hsa_ven_amd_pcs_destroy_fn, (pc_sampling: hsa_ven_amd_pcs_t), hsa_status_t, "Destroys a sampling session.")
            (4, exported, hsa_ven_amd_pcs_start, hsa_ven_amd_pcs_start_fn, (pc_sampling: hsa_ven_amd_pcs_t), hsa_status_t, "Starts sampling.")
            (5, exported, hsa_ven_amd_pcs_stop, hsa_ven_amd_pcs_stop_fn, (pc_sampling: hsa_ven_amd_pcs_t), hsa_status_t, "Stops sampling.")
            (6, exported, hsa_ven_amd_pcs_flush, hsa_ven_amd_pcs_flush_fn, (pc_sampling: hsa_ven_amd_pcs_t), hsa_status_t, "Delivers the samples taken so far.")
        }
    };
    ($callback:ident [$($context:tt)*]) => {
        $callback! {
            [$($context)*]
            (0, exported, hsa_ven_amd_pcs_iterate_configuration, hsa_ven_amd_pcs_iterate_configuration_fn, (agent: hsa_agent_t, configuration_callback: hsa_ven_amd_pcs_iterate_configuration_callback_t, callback_data: *mut c_void), hsa_status_t, "Calls back for every configuration of an agent.")
            (1, exported, hsa_ven_amd_pcs_create, hsa_ven_amd_pcs_create_fn, (agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t, interval: usize, latency: usize, buffer_size: usize, data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t, client_callback_data: *mut c_void, pc_sampling: *mut hsa_ven_amd_pcs_t), hsa_status_t, "Creates a sampling session.")
            (2, exported, hsa_ven_amd_pcs_create_from_id, hsa_ven_amd_pcs_create_from_id_fn, (pcs_id: u32, agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t, interval: usize, latency: usize, buffer_size: usize, data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t, client_callback_data: *mut c_void, pc_sampling: *mut hsa_ven_amd_pcs_t), hsa_status_t, "Creates a sampling session for one that the driver already knows.")
            (3, exported, hsa_ven_amd_pcs_destroy, hsa_ven_amd_pcs_destroy_fn, (pc_sampling: hsa_ven_amd_pcs_t), hsa_status_t, "Destroys a sampling session.")
            (4, exported, hsa_ven_amd_pcs_start, hsa_ven_amd_pcs_start_fn, (pc_sampling: hsa_ven_amd_pcs_t), hsa_status_t, "Starts sampling.")
            (5, exported, hsa_ven_amd_pcs_stop, hsa_ven_amd_pcs_stop_fn, (pc_sampling: hsa_ven_amd_pcs_t), hsa_status_t, "Stops sampling.")
            (6, exported, hsa_ven_amd_pcs_flush, hsa_ven_amd_pcs_flush_fn, (pc_sampling: hsa_ven_amd_pcs_t), hsa_status_t, "Delivers the samples taken so far.")
        }
    };
}

/// Invokes a macro with one row `(index, name, field)` for each member of `ToolsApiTable`; all are `hsa_amd_tool_event`.
#[macro_export]
macro_rules! for_each_tools_api {
    ($callback:ident) => {
        $callback! {
            (0, hsa_amd_tool_scratch_event_alloc_start, hsa_amd_tool_scratch_event_alloc_start_fn)
            (1, hsa_amd_tool_scratch_event_alloc_end, hsa_amd_tool_scratch_event_alloc_end_fn)
            (2, hsa_amd_tool_scratch_event_free_start, hsa_amd_tool_scratch_event_free_start_fn)
            (3, hsa_amd_tool_scratch_event_free_end, hsa_amd_tool_scratch_event_free_end_fn)
            (4, hsa_amd_tool_scratch_event_async_reclaim_start, hsa_amd_tool_scratch_event_async_reclaim_start_fn)
            (5, hsa_amd_tool_scratch_event_async_reclaim_end, hsa_amd_tool_scratch_event_async_reclaim_end_fn)
        }
    };
    ($callback:ident [$($context:tt)*]) => {
        $callback! {
            [$($context)*]
            (0, hsa_amd_tool_scratch_event_alloc_start, hsa_amd_tool_scratch_event_alloc_start_fn)
            (1, hsa_amd_tool_scratch_event_alloc_end, hsa_amd_tool_scratch_event_alloc_end_fn)
            (2, hsa_amd_tool_scratch_event_free_start, hsa_amd_tool_scratch_event_free_start_fn)
            (3, hsa_amd_tool_scratch_event_free_end, hsa_amd_tool_scratch_event_free_end_fn)
            (4, hsa_amd_tool_scratch_event_async_reclaim_start, hsa_amd_tool_scratch_event_async_reclaim_start_fn)
            (5, hsa_amd_tool_scratch_event_async_reclaim_end, hsa_amd_tool_scratch_event_async_reclaim_end_fn)
        }
    };
}

/// Invokes a macro with one row for each function of `hsa_ven_amd_loader`, in table order; none is exported.
#[macro_export]
macro_rules! for_each_loader_api {
    ($callback:ident) => {
        $callback! {
            (0, table_only, hsa_ven_amd_loader_query_host_address, hsa_ven_amd_loader_query_host_address_fn, (device_address: *const c_void, host_address: *mut *const c_void), hsa_status_t, "Gives the host copy of an address in loaded code.")
            (1, table_only, hsa_ven_amd_loader_query_segment_descriptors, hsa_ven_amd_loader_query_segment_descriptors_fn, (segment_descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t, num_segment_descriptors: *mut usize), hsa_status_t, "Lists all loaded segments; a NULL list and 0 ask for their number.")
            (2, table_only, hsa_ven_amd_loader_query_executable, hsa_ven_amd_loader_query_executable_fn, (device_address: *const c_void, executable: *mut hsa_executable_t), hsa_status_t, "Gives the executable an address in loaded code belongs to.")
            (3, table_only, hsa_ven_amd_loader_executable_iterate_loaded_code_objects, hsa_ven_amd_loader_executable_iterate_loaded_code_objects_fn, (executable: hsa_executable_t, callback: LoadedCodeObjectCallback, data: *mut c_void), hsa_status_t, "Calls back for every code object of an executable.")
            (4, table_only, hsa_ven_amd_loader_loaded_code_object_get_info, hsa_ven_amd_loader_loaded_code_object_get_info_fn, (loaded_code_object: hsa_loaded_code_object_t, attribute: hsa_ven_amd_loader_loaded_code_object_info_t, value: *mut c_void), hsa_status_t, "Reads one property of a loaded code object.")
            (5, table_only, hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size, hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size_fn, (file: hsa_file_t, offset: usize, size: usize, code_object_reader: *mut hsa_code_object_reader_t), hsa_status_t, "Makes a reader of a part of a file.")
            (6, table_only, hsa_ven_amd_loader_iterate_executables, hsa_ven_amd_loader_iterate_executables_fn, (callback: ExecutableCallback, data: *mut c_void), hsa_status_t, "Calls back for every executable of the process.")
            (7, table_only, hsa_ven_amd_loader_code_object_reader_get_load_size, hsa_ven_amd_loader_code_object_reader_get_load_size_fn, (code_object_reader: hsa_code_object_reader_t, load_size: *mut usize), hsa_status_t, "Tells how many bytes a code object takes when loaded.")
            (8, table_only, hsa_ven_amd_loader_executable_load_agent_code_object_at_address, hsa_ven_amd_loader_executable_load_agent_code_object_at_address_fn, (executable: hsa_executable_t, agent: hsa_agent_t, code_object_reader: hsa_code_object_reader_t, options: *const c_char, load_address: *mut c_void, load_size: usize, loaded_code_object: *mut hsa_loaded_code_object_t), hsa_status_t, "Loads a code object for an agent at a given address.")
        }
    };
    ($callback:ident [$($context:tt)*]) => {
        $callback! {
            [$($context)*]
            (0, table_only, hsa_ven_amd_loader_query_host_address, hsa_ven_amd_loader_query_host_address_fn, (device_address: *const c_void, host_address: *mut *const c_void), hsa_status_t, "Gives the host copy of an address in loaded code.")
            (1, table_only, hsa_ven_amd_loader_query_segment_descriptors, hsa_ven_amd_loader_query_segment_descriptors_fn, (segment_descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t, num_segment_descriptors: *mut usize), hsa_status_t, "Lists all loaded segments; a NULL list and 0 ask for their number.")
            (2, table_only, hsa_ven_amd_loader_query_executable, hsa_ven_amd_loader_query_executable_fn, (device_address: *const c_void, executable: *mut hsa_executable_t), hsa_status_t, "Gives the executable an address in loaded code belongs to.")
            (3, table_only, hsa_ven_amd_loader_executable_iterate_loaded_code_objects, hsa_ven_amd_loader_executable_iterate_loaded_code_objects_fn, (executable: hsa_executable_t, callback: LoadedCodeObjectCallback, data: *mut c_void), hsa_status_t, "Calls back for every code object of an executable.")
            (4, table_only, hsa_ven_amd_loader_loaded_code_object_get_info, hsa_ven_amd_loader_loaded_code_object_get_info_fn, (loaded_code_object: hsa_loaded_code_object_t, attribute: hsa_ven_amd_loader_loaded_code_object_info_t, value: *mut c_void), hsa_status_t, "Reads one property of a loaded code object.")
            (5, table_only, hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size, hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size_fn, (file: hsa_file_t, offset: usize, size: usize, code_object_reader: *mut hsa_code_object_reader_t), hsa_status_t, "Makes a reader of a part of a file.")
            (6, table_only, hsa_ven_amd_loader_iterate_executables, hsa_ven_amd_loader_iterate_executables_fn, (callback: ExecutableCallback, data: *mut c_void), hsa_status_t, "Calls back for every executable of the process.")
            (7, table_only, hsa_ven_amd_loader_code_object_reader_get_load_size, hsa_ven_amd_loader_code_object_reader_get_load_size_fn, (code_object_reader: hsa_code_object_reader_t, load_size: *mut usize), hsa_status_t, "Tells how many bytes a code object takes when loaded.")
            (8, table_only, hsa_ven_amd_loader_executable_load_agent_code_object_at_address, hsa_ven_amd_loader_executable_load_agent_code_object_at_address_fn, (executable: hsa_executable_t, agent: hsa_agent_t, code_object_reader: hsa_code_object_reader_t, options: *const c_char, load_address: *mut c_void, load_size: usize, loaded_code_object: *mut hsa_loaded_code_object_t), hsa_status_t, "Loads a code object for an agent at a given address.")
        }
    };
}

/// Invokes a macro with one row for each function of `hsa_ven_amd_aqlprofile`, in table order; none is exported.
#[macro_export]
macro_rules! for_each_aqlprofile_api {
    ($callback:ident) => {
        $callback! {
            (0, table_only, hsa_ven_amd_aqlprofile_version_major, hsa_ven_amd_aqlprofile_version_major_fn, (), u32, "Gives the major version of the library.")
            (1, table_only, hsa_ven_amd_aqlprofile_version_minor, hsa_ven_amd_aqlprofile_version_minor_fn, (), u32, "Gives the minor version of the library.")
            (2, table_only, hsa_ven_amd_aqlprofile_error_string, hsa_ven_amd_aqlprofile_error_string_fn, (str: *mut *const c_char), hsa_status_t, "Gives the text of the last error.")
            (3, table_only, hsa_ven_amd_aqlprofile_validate_event, hsa_ven_amd_aqlprofile_validate_event_fn, (agent: hsa_agent_t, event: *const hsa_ven_amd_aqlprofile_event_t, result: *mut bool), hsa_status_t, "Tells whether an agent has a counter.")
            (4, table_only, hsa_ven_amd_aqlprofile_start, hsa_ven_amd_aqlprofile_start_fn, (profile: *mut hsa_ven_amd_aqlprofile_profile_t, aql_start_packet: *mut hsa_ext_amd_aql_pm4_packet_t), hsa_status_t, "Makes the packet that starts measuring.")
            (5, table_only, hsa_ven_amd_aqlprofile_stop, hsa_ven_amd_aqlprofile_stop_fn, (profile: *const hsa_ven_amd_aqlprofile_profile_t, aql_stop_packet: *mut hsa_ext_amd_aql_pm4_packet_t), hsa_status_t, "Makes the packet that stops measuring.")
            (6, table_only, hsa_ven_amd_aqlprofile_read, hsa_ven_amd_aqlprofile_read_fn, (profile: *const hsa_ven_amd_aqlprofile_profile_t, aql_read_packet: *mut hsa_ext_amd_aql_pm4_packet_t), hsa_status_t, "Makes the packet that reads counters.")
            (7, table_only, hsa_ven_amd_aqlprofile_legacy_get_pm4, hsa_ven_amd_aqlprofile_legacy_get_pm4_fn, (aql_packet: *const hsa_ext_amd_aql_pm4_packet_t, data: *mut c_void), hsa_status_t, "Makes the commands of a packet for GPUs that take them only in a ring.")
            (8, table_only, hsa_ven_amd_aqlprofile_get_info, hsa_ven_amd_aqlprofile_get_info_fn, (profile: *const hsa_ven_amd_aqlprofile_profile_t, attribute: hsa_ven_amd_aqlprofile_info_type_t, value: *mut c_void), hsa_status_t, "Reads one property of a profile.")
            (9, table_only, hsa_ven_amd_aqlprofile_iterate_data, hsa_ven_amd_aqlprofile_iterate_data_fn, (profile: *const hsa_ven_amd_aqlprofile_profile_t, callback: hsa_ven_amd_aqlprofile_data_callback_t, data: *mut c_void), hsa_status_t, "Calls back for every result.")
            (10, table_only, hsa_ven_amd_aqlprofile_iterate_event_ids, hsa_ven_amd_aqlprofile_iterate_event_ids_fn, (callback: hsa_ven_amd_aqlprofile_eventname_callback_t), hsa_status_t, "Calls back for every event name.")
            (11, table_only, hsa_ven_amd_aqlprofile_iterate_event_coord, hsa_ven_amd_aqlprofile_iterate_event_coord_fn, (agent: hsa_agent_t, event: hsa_ven_amd_aqlprofile_event_t, sample_id: u32, callback: hsa_ven_amd_aqlprofile_coordinate_callback_t, userdata: *mut c_void), hsa_status_t, "Calls back for every coordinate of an event.")
            (12, table_only, hsa_ven_amd_aqlprofile_att_marker, hsa_ven_amd_aqlprofile_att_marker_fn, (profile: *mut hsa_ven_amd_aqlprofile_profile_t, aql_marker_packet: *mut hsa_ext_amd_aql_pm4_packet_t, data: u32, channel: hsa_ven_amd_aqlprofile_att_marker_channel_t), hsa_status_t, "Makes the packet that puts a marker into a trace.")
        }
    };
    ($callback:ident [$($context:tt)*]) => {
        $callback! {
            [$($context)*]
            (0, table_only, hsa_ven_amd_aqlprofile_version_major, hsa_ven_amd_aqlprofile_version_major_fn, (), u32, "Gives the major version of the library.")
            (1, table_only, hsa_ven_amd_aqlprofile_version_minor, hsa_ven_amd_aqlprofile_version_minor_fn, (), u32, "Gives the minor version of the library.")
            (2, table_only, hsa_ven_amd_aqlprofile_error_string, hsa_ven_amd_aqlprofile_error_string_fn, (str: *mut *const c_char), hsa_status_t, "Gives the text of the last error.")
            (3, table_only, hsa_ven_amd_aqlprofile_validate_event, hsa_ven_amd_aqlprofile_validate_event_fn, (agent: hsa_agent_t, event: *const hsa_ven_amd_aqlprofile_event_t, result: *mut bool), hsa_status_t, "Tells whether an agent has a counter.")
            (4, table_only, hsa_ven_amd_aqlprofile_start, hsa_ven_amd_aqlprofile_start_fn, (profile: *mut hsa_ven_amd_aqlprofile_profile_t, aql_start_packet: *mut hsa_ext_amd_aql_pm4_packet_t), hsa_status_t, "Makes the packet that starts measuring.")
            (5, table_only, hsa_ven_amd_aqlprofile_stop, hsa_ven_amd_aqlprofile_stop_fn, (profile: *const hsa_ven_amd_aqlprofile_profile_t, aql_stop_packet: *mut hsa_ext_amd_aql_pm4_packet_t), hsa_status_t, "Makes the packet that stops measuring.")
            (6, table_only, hsa_ven_amd_aqlprofile_read, hsa_ven_amd_aqlprofile_read_fn, (profile: *const hsa_ven_amd_aqlprofile_profile_t, aql_read_packet: *mut hsa_ext_amd_aql_pm4_packet_t), hsa_status_t, "Makes the packet that reads counters.")
            (7, table_only, hsa_ven_amd_aqlprofile_legacy_get_pm4, hsa_ven_amd_aqlprofile_legacy_get_pm4_fn, (aql_packet: *const hsa_ext_amd_aql_pm4_packet_t, data: *mut c_void), hsa_status_t, "Makes the commands of a packet for GPUs that take them only in a ring.")
            (8, table_only, hsa_ven_amd_aqlprofile_get_info, hsa_ven_amd_aqlprofile_get_info_fn, (profile: *const hsa_ven_amd_aqlprofile_profile_t, attribute: hsa_ven_amd_aqlprofile_info_type_t, value: *mut c_void), hsa_status_t, "Reads one property of a profile.")
            (9, table_only, hsa_ven_amd_aqlprofile_iterate_data, hsa_ven_amd_aqlprofile_iterate_data_fn, (profile: *const hsa_ven_amd_aqlprofile_profile_t, callback: hsa_ven_amd_aqlprofile_data_callback_t, data: *mut c_void), hsa_status_t, "Calls back for every result.")
            (10, table_only, hsa_ven_amd_aqlprofile_iterate_event_ids, hsa_ven_amd_aqlprofile_iterate_event_ids_fn, (callback: hsa_ven_amd_aqlprofile_eventname_callback_t), hsa_status_t, "Calls back for every event name.")
            (11, table_only, hsa_ven_amd_aqlprofile_iterate_event_coord, hsa_ven_amd_aqlprofile_iterate_event_coord_fn, (agent: hsa_agent_t, event: hsa_ven_amd_aqlprofile_event_t, sample_id: u32, callback: hsa_ven_amd_aqlprofile_coordinate_callback_t, userdata: *mut c_void), hsa_status_t, "Calls back for every coordinate of an event.")
            (12, table_only, hsa_ven_amd_aqlprofile_att_marker, hsa_ven_amd_aqlprofile_att_marker_fn, (profile: *mut hsa_ven_amd_aqlprofile_profile_t, aql_marker_packet: *mut hsa_ext_amd_aql_pm4_packet_t, data: u32, channel: hsa_ven_amd_aqlprofile_att_marker_channel_t), hsa_status_t, "Makes the packet that puts a marker into a trace.")
        }
    };
}
