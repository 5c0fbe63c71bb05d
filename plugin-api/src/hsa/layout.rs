//! Sizes and offsets that were measured on the C interface of x86-64, checked at compile time.

use super::reflect::Layout;
#[allow(
    clippy::wildcard_imports,
    reason = "most types of the interface are checked here"
)]
use super::*;

/// Compares two names at compile time.
const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}

/// Whether a layout has this field, at this offset, of this size.
const fn has(layout: &Layout, name: &str, offset: usize, size: usize) -> bool {
    let mut index = 0;
    while index < layout.fields.len() {
        let field = &layout.fields[index];
        if same(field.name, name) {
            return field.offset == offset && field.size == size;
        }
        index += 1;
    }
    false
}

/// Checks the size and alignment of a type, and the offset and size of fields.
macro_rules! layout {
    ($name:ident = $size:literal align $align:literal { $($field:ident @ $offset:literal + $bytes:literal,)* }) => {
        const _: () = assert!(size_of::<$name>() == $size && align_of::<$name>() == $align, stringify!($name));
        layout!($name { $($field @ $offset + $bytes,)* });
    };
    ($name:ident { $($field:ident @ $offset:literal + $bytes:literal,)* }) => {
        $(const _: () = assert!(
            has(&$name::LAYOUT, stringify!($field), $offset, $bytes),
            concat!(stringify!($name), ".", stringify!($field))
        );)*
    };
}

layout!(hsa_queue_t = 40 align 8 {
    r#type @ 0 + 4, features @ 4 + 4, base_address @ 8 + 8, doorbell_signal @ 16 + 8, size @ 24 + 4,
    reserved1 @ 28 + 4, id @ 32 + 8,
});
layout!(amd_queue_t = 256 align 64 {
    queue_inactive_signal @ 192 + 8, reserved5 @ 200 + 56,
});
layout!(amd_queue_v2_t = 2304 align 64 {
    caps @ 40 + 4, reserved1 @ 44 + 12, write_dispatch_id @ 56 + 8, group_segment_aperture_base_hi @ 64 + 4,
    private_segment_aperture_base_hi @ 68 + 4, max_cu_id @ 72 + 4, max_wave_id @ 76 + 4,
    max_legacy_doorbell_dispatch_id_plus_1 @ 80 + 8, legacy_doorbell_lock @ 88 + 4, reserved2 @ 92 + 36,
    read_dispatch_id @ 128 + 8, read_dispatch_id_field_base_byte_offset @ 136 + 4, compute_tmpring_size @ 140 + 4,
    scratch_resource_descriptor @ 144 + 16, scratch_backing_memory_location @ 160 + 8,
    scratch_backing_memory_byte_size @ 168 + 8, scratch_wave64_lane_byte_size @ 176 + 4, queue_properties @ 180 + 4,
    scratch_max_use_index @ 184 + 8, queue_inactive_signal @ 192 + 8, alt_scratch_max_use_index @ 200 + 8,
    alt_scratch_resource_descriptor @ 208 + 16, alt_scratch_backing_memory_location @ 224 + 8,
    alt_scratch_dispatch_limit_x @ 232 + 4, alt_scratch_dispatch_limit_y @ 236 + 4,
    alt_scratch_dispatch_limit_z @ 240 + 4, alt_scratch_wave64_lane_byte_size @ 244 + 4,
    alt_compute_tmpring_size @ 248 + 4, reserved5 @ 252 + 4, scratch_last_used_index @ 256 + 2048,
});
layout!(amd_signal_t = 64 align 64 {
    kind @ 0 + 8, value @ 8 + 8, event_mailbox_ptr @ 16 + 8, event_id @ 24 + 4, reserved1 @ 28 + 4,
    start_ts @ 32 + 8, end_ts @ 40 + 8, queue_ptr @ 48 + 8, reserved3 @ 56 + 8,
});
layout!(hsa_kernel_dispatch_packet_t = 64 align 8 {
    header @ 0 + 2, setup @ 2 + 2, workgroup_size_x @ 4 + 2, workgroup_size_y @ 6 + 2, workgroup_size_z @ 8 + 2,
    reserved0 @ 10 + 2, grid_size_x @ 12 + 4, grid_size_y @ 16 + 4, grid_size_z @ 20 + 4,
    private_segment_size @ 24 + 4, group_segment_size @ 28 + 4, kernel_object @ 32 + 8, kernarg_address @ 40 + 8,
    reserved2 @ 48 + 8, completion_signal @ 56 + 8,
});
layout!(hsa_agent_dispatch_packet_t = 64 align 8 {
    header @ 0 + 2, r#type @ 2 + 2, reserved0 @ 4 + 4, return_address @ 8 + 8, arg @ 16 + 32, reserved2 @ 48 + 8,
    completion_signal @ 56 + 8,
});
layout!(hsa_barrier_and_packet_t = 64 align 8 {
    header @ 0 + 2, reserved0 @ 2 + 2, reserved1 @ 4 + 4, dep_signal @ 8 + 40, reserved2 @ 48 + 8,
    completion_signal @ 56 + 8,
});
layout!(hsa_amd_barrier_value_packet_t = 64 align 8 {
    header @ 0 + 4, reserved0 @ 4 + 4, signal @ 8 + 8, value @ 16 + 8, mask @ 24 + 8, cond @ 32 + 4,
    reserved1 @ 36 + 4, reserved2 @ 40 + 8, reserved3 @ 48 + 8, completion_signal @ 56 + 8,
});
layout!(hsa_amd_vendor_packet_header_t = 4 align 2 {
    header @ 0 + 2, AmdFormat @ 2 + 1, reserved @ 3 + 1,
});
layout!(amd_aql_intercept_marker_t = 64 align 8 {
    callback @ 8 + 8, user_data @ 16 + 48,
});
layout!(amd_kernel_code_t = 256 align 64 {});
layout!(CoreApiTable = 1016 align 8 {});
layout!(AmdExtTable = 768 align 8 {});
layout!(ImageExtTable = 128 align 8 {});
layout!(FinalizerExtTable = 64 align 8 {});
layout!(ToolsApiTable = 64 align 8 {});
layout!(PcSamplingExtTable = 72 align 8 {});
layout!(HsaApiTable = 64 align 8 {});
layout!(ApiTableVersion = 16 align 4 {});
layout!(hsa_amd_pointer_info_t = 64 align 8 {
    size @ 0 + 4, r#type @ 4 + 4, agentBaseAddress @ 8 + 8, hostBaseAddress @ 16 + 8, sizeInBytes @ 24 + 8,
    userData @ 32 + 8, agentOwner @ 40 + 8, global_flags @ 48 + 4, registered @ 52 + 1, alloc_flags @ 56 + 4,
});
layout!(hsa_amd_ipc_memory_t = 32 align 4 {});
layout!(hsa_amd_hdp_flush_t = 16 align 8 {});
layout!(hsa_amd_ext_kernel_dispatch_packet_t = 64 align 8 {
    setup @ 3 + 1, cluster_count_x @ 12 + 4, cluster_count_y @ 16 + 2, cluster_size_x @ 20 + 1, perf_hint @ 23 + 1,
    private_segment_size @ 24 + 4, kernel_object @ 32 + 8, kernarg_address @ 40 + 8, dep_signal @ 48 + 8,
    completion_signal @ 56 + 8,
});
layout!(hsa_amd_memory_copy_op_t = 128 align 8 {
    completion_signal @ 8 + 8, src @ 16 + 8, src_agent @ 24 + 8, dst_agent @ 32 + 8, dst @ 40 + 8, size @ 48 + 8,
    dst_size @ 56 + 8, wait @ 64 + 32, signal @ 96 + 24, reserved1 @ 120 + 8,
});
layout!(hsa_amd_queue_create_desc_t = 96 align 8 {
    flags @ 2 + 2, engine_type @ 4 + 1, queue_size_bytes @ 8 + 4, priority @ 12 + 4, callback @ 16 + 8,
    callback_data @ 24 + 8, queue @ 32 + 8, engine @ 40 + 32, traffic_class @ 72 + 4, reserved @ 76 + 20,
});
layout!(hsa_amd_compute_queue_params_t = 32 align 8 {
    cu_mask @ 0 + 8, r#type @ 8 + 4, private_segment_size @ 12 + 4, cu_mask_count @ 16 + 4,
});
layout!(hsa_amd_aie_kernel_dispatch_packet_t = 64 align 8 {
    count @ 4 + 2, completion_signal @ 8 + 8, kernel_object_low @ 20 + 4, num_kernargs @ 28 + 2,
    kernarg_address @ 32 + 8,
});
layout!(hsa_amd_metadata_kernel_dispatch_packet_t = 256 align 8 {
    event_id @ 4 + 4, kernel_descriptor @ 8 + 48, header1 @ 64 + 4, header2 @ 128 + 4, header3 @ 192 + 4,
    launch_descriptor @ 204 + 52,
});
layout!(hsa_amd_metadata_barrier_packet_t = 256 align 4 {
    header1 @ 64 + 4, header2 @ 128 + 4, header3 @ 192 + 4,
});
layout!(amdhsa_kernel_descriptor_t = 64 align 8 {
    kernarg_size @ 8 + 4, kernel_code_entry_byte_offset @ 16 + 8, compute_pgm_rsrc3 @ 44 + 4,
    compute_pgm_rsrc1 @ 48 + 4, compute_pgm_rsrc2 @ 52 + 4, kernel_code_properties @ 56 + 2,
    kernarg_preload @ 58 + 2,
});
layout!(hsa_ext_image_descriptor_t = 48 align 8 {
    geometry @ 0 + 4, width @ 8 + 8, height @ 16 + 8, depth @ 24 + 8, array_size @ 32 + 8, format @ 40 + 8,
});
layout!(hsa_ext_image_descriptor_v2_t = 56 align 8 {
    mipmap_levels @ 48 + 8,
});
layout!(hsa_amd_event_t = 32 align 8 {
    data @ 8 + 24,
});
layout!(amd_launch_descriptor_t = 52 align 4 {
    cu_enable @ 4 + 4, dispatch_granularity_limiter @ 8 + 2, tg_chunk_size @ 14 + 2, prefetch @ 20 + 32,
});
layout!(hsa_barrier_or_packet_t = 64 align 8 {});
layout!(hsa_ext_sampler_descriptor_v2_t = 20 align 4 {});
layout!(hsa_ext_image_data_info_t = 16 align 8 {});
layout!(hsa_ext_image_region_t = 24 align 4 {});
layout!(hsa_ext_control_directives_t = 144 align 8 {});
layout!(hsa_ven_amd_loader_segment_descriptor_t = 64 align 8 {});
layout!(hsa_ext_images_1_00_pfn_t = 80 align 8 {});
layout!(hsa_ext_images_1_pfn_t = 112 align 8 {});
layout!(hsa_ext_finalizer_1_00_pfn_t = 48 align 8 {});
layout!(hsa_ven_amd_loader_1_00_pfn_t = 24 align 8 {});
layout!(hsa_ven_amd_loader_1_01_pfn_t = 40 align 8 {});
layout!(hsa_ven_amd_loader_1_02_pfn_t = 48 align 8 {});
layout!(hsa_ven_amd_loader_1_03_pfn_t = 56 align 8 {});
layout!(hsa_ven_amd_loader_1_04_pfn_t = 72 align 8 {});
layout!(hsa_ven_amd_aqlprofile_1_00_pfn_t = 104 align 8 {});
layout!(hsa_ven_amd_pc_sampling_1_00_pfn_t = 56 align 8 {});
layout!(hsa_amd_memory_pool_link_info_t = 28 align 4 {});
layout!(hsa_amd_svm_attribute_pair_t = 16 align 8 {});
layout!(hsa_amd_memory_access_desc_t = 16 align 8 {});
layout!(hsa_fabric_handle_t = 16 align 1 {});
layout!(hsa_amd_ais_file_handle_t = 8 align 8 {});
layout!(hsa_amd_external_semaphore_handle_descriptor_t = 16 align 8 {});
