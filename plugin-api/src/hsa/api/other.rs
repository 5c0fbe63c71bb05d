//! Exported functions that are no table member of their own: deprecated aliases and functions outside the tables.

/// Invokes a macro with one row `(alias, target, (arguments), Ret)` for each deprecated name of a core function.
#[macro_export]
macro_rules! for_each_alias {
    ($callback:ident) => {
        $callback! {
            (hsa_signal_load_acquire, hsa_signal_load_scacquire, (signal: hsa_signal_t), hsa_signal_value_t)
            (hsa_signal_store_release, hsa_signal_store_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_exchange_acq_rel, hsa_signal_exchange_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_exchange_acquire, hsa_signal_exchange_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_exchange_release, hsa_signal_exchange_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_cas_acq_rel, hsa_signal_cas_scacq_screl, (signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_cas_acquire, hsa_signal_cas_scacquire, (signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_cas_release, hsa_signal_cas_screlease, (signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_add_acq_rel, hsa_signal_add_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_add_acquire, hsa_signal_add_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_add_release, hsa_signal_add_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_subtract_acq_rel, hsa_signal_subtract_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_subtract_acquire, hsa_signal_subtract_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_subtract_release, hsa_signal_subtract_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_and_acq_rel, hsa_signal_and_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_and_acquire, hsa_signal_and_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_and_release, hsa_signal_and_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_or_acq_rel, hsa_signal_or_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_or_acquire, hsa_signal_or_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_or_release, hsa_signal_or_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_xor_acq_rel, hsa_signal_xor_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_xor_acquire, hsa_signal_xor_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_xor_release, hsa_signal_xor_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_wait_acquire, hsa_signal_wait_scacquire, (signal: hsa_signal_t, condition: hsa_signal_condition_t, compare_value: hsa_signal_value_t, timeout_hint: u64, wait_state_hint: hsa_wait_state_t), hsa_signal_value_t)
            (hsa_queue_load_read_index_acquire, hsa_queue_load_read_index_scacquire, (queue: *const hsa_queue_t), u64)
            (hsa_queue_load_write_index_acquire, hsa_queue_load_write_index_scacquire, (queue: *const hsa_queue_t), u64)
            (hsa_queue_store_write_index_release, hsa_queue_store_write_index_screlease, (queue: *const hsa_queue_t, value: u64), ())
            (hsa_queue_cas_write_index_acq_rel, hsa_queue_cas_write_index_scacq_screl, (queue: *const hsa_queue_t, expected: u64, value: u64), u64)
            (hsa_queue_cas_write_index_acquire, hsa_queue_cas_write_index_scacquire, (queue: *const hsa_queue_t, expected: u64, value: u64), u64)
            (hsa_queue_cas_write_index_release, hsa_queue_cas_write_index_screlease, (queue: *const hsa_queue_t, expected: u64, value: u64), u64)
            (hsa_queue_add_write_index_acq_rel, hsa_queue_add_write_index_scacq_screl, (queue: *const hsa_queue_t, value: u64), u64)
            (hsa_queue_add_write_index_acquire, hsa_queue_add_write_index_scacquire, (queue: *const hsa_queue_t, value: u64), u64)
            (hsa_queue_add_write_index_release, hsa_queue_add_write_index_screlease, (queue: *const hsa_queue_t, value: u64), u64)
            (hsa_queue_store_read_index_release, hsa_queue_store_read_index_screlease, (queue: *const hsa_queue_t, value: u64), ())
        }
    };
    ($callback:ident [$($context:tt)*]) => {
        $callback! {
            [$($context)*]
            (hsa_signal_load_acquire, hsa_signal_load_scacquire, (signal: hsa_signal_t), hsa_signal_value_t)
            (hsa_signal_store_release, hsa_signal_store_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_exchange_acq_rel, hsa_signal_exchange_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_exchange_acquire, hsa_signal_exchange_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_exchange_release, hsa_signal_exchange_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_cas_acq_rel, hsa_signal_cas_scacq_screl, (signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_cas_acquire, hsa_signal_cas_scacquire, (signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_cas_release, hsa_signal_cas_screlease, (signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t), hsa_signal_value_t)
            (hsa_signal_add_acq_rel, hsa_signal_add_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_add_acquire, hsa_signal_add_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_add_release, hsa_signal_add_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_subtract_acq_rel, hsa_signal_subtract_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_subtract_acquire, hsa_signal_subtract_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_subtract_release, hsa_signal_subtract_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_and_acq_rel, hsa_signal_and_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_and_acquire, hsa_signal_and_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_and_release, hsa_signal_and_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_or_acq_rel, hsa_signal_or_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_or_acquire, hsa_signal_or_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_or_release, hsa_signal_or_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_xor_acq_rel, hsa_signal_xor_scacq_screl, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_xor_acquire, hsa_signal_xor_scacquire, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_xor_release, hsa_signal_xor_screlease, (signal: hsa_signal_t, value: hsa_signal_value_t), ())
            (hsa_signal_wait_acquire, hsa_signal_wait_scacquire, (signal: hsa_signal_t, condition: hsa_signal_condition_t, compare_value: hsa_signal_value_t, timeout_hint: u64, wait_state_hint: hsa_wait_state_t), hsa_signal_value_t)
            (hsa_queue_load_read_index_acquire, hsa_queue_load_read_index_scacquire, (queue: *const hsa_queue_t), u64)
            (hsa_queue_load_write_index_acquire, hsa_queue_load_write_index_scacquire, (queue: *const hsa_queue_t), u64)
            (hsa_queue_store_write_index_release, hsa_queue_store_write_index_screlease, (queue: *const hsa_queue_t, value: u64), ())
            (hsa_queue_cas_write_index_acq_rel, hsa_queue_cas_write_index_scacq_screl, (queue: *const hsa_queue_t, expected: u64, value: u64), u64)
            (hsa_queue_cas_write_index_acquire, hsa_queue_cas_write_index_scacquire, (queue: *const hsa_queue_t, expected: u64, value: u64), u64)
            (hsa_queue_cas_write_index_release, hsa_queue_cas_write_index_screlease, (queue: *const hsa_queue_t, expected: u64, value: u64), u64)
            (hsa_queue_add_write_index_acq_rel, hsa_queue_add_write_index_scacq_screl, (queue: *const hsa_queue_t, value: u64), u64)
            (hsa_queue_add_write_index_acquire, hsa_queue_add_write_index_scacquire, (queue: *const hsa_queue_t, value: u64), u64)
            (hsa_queue_add_write_index_release, hsa_queue_add_write_index_screlease, (queue: *const hsa_queue_t, value: u64), u64)
            (hsa_queue_store_read_index_release, hsa_queue_store_read_index_screlease, (queue: *const hsa_queue_t, value: u64), ())
        }
    };
}

/// Invokes a macro with one row `(name, (arguments), Ret, "doc")` for each exported function that is in no table.
#[macro_export]
macro_rules! for_each_untabled_api {
    ($callback:ident) => {
        $callback! {
            (hsa_amd_image_get_info_max_dim, (agent: hsa_agent_t, attribute: hsa_agent_info_t, value: *mut c_void), hsa_status_t, "Gives an image limit of an agent.")
            (hsa_ext_image_mipmap_array_get_level, (agent: hsa_agent_t, mipmapped_array: *const hsa_ext_image_t, mip_level: u32, image_descriptor: *const hsa_ext_image_descriptor_v2_t, level_image_out: *mut hsa_ext_image_t), hsa_status_t, "Creates an image of one mip level of another.")
            (hsa_ext_image_create_v2, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t), hsa_status_t, "Creates an image with mip levels over memory of the program.")
            (hsa_ext_image_data_get_info_v2, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t, access_permission: hsa_access_permission_t, image_data_info: *mut hsa_ext_image_data_info_t), hsa_status_t, "Tells which memory an image with mip levels needs.")
            (hsa_ext_image_destroy_v2, (agent: hsa_agent_t, image: hsa_ext_image_t), hsa_status_t, "Destroys an image with mip levels, not its memory.")
        }
    };
    ($callback:ident [$($context:tt)*]) => {
        $callback! {
            [$($context)*]
            (hsa_amd_image_get_info_max_dim, (agent: hsa_agent_t, attribute: hsa_agent_info_t, value: *mut c_void), hsa_status_t, "Gives an image limit of an agent.")
            (hsa_ext_image_mipmap_array_get_level, (agent: hsa_agent_t, mipmapped_array: *const hsa_ext_image_t, mip_level: u32, image_descriptor: *const hsa_ext_image_descriptor_v2_t, level_image_out: *mut hsa_ext_image_t), hsa_status_t, "Creates an image of one mip level of another.")
            (hsa_ext_image_create_v2, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t), hsa_status_t, "Creates an image with mip levels over memory of the program.")
            (hsa_ext_image_data_get_info_v2, (agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_v2_t, access_permission: hsa_access_permission_t, image_data_info: *mut hsa_ext_image_data_info_t), hsa_status_t, "Tells which memory an image with mip levels needs.")
            (hsa_ext_image_destroy_v2, (agent: hsa_agent_t, image: hsa_ext_image_t), hsa_status_t, "Destroys an image with mip levels, not its memory.")
        }
    };
}
