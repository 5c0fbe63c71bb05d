//! Agents and their caches (HSA Runtime PRM 1.2, section 2.3).

use core::ffi::c_void;

use super::status::hsa_status_t;

abi_handle! {
    /// Names an agent: a CPU, a GPU or another device.
    hsa_agent_t
}

/// Called once for each agent; anything but success ends the iteration.
pub type AgentCallback = Option<unsafe extern "C" fn(agent: hsa_agent_t, data: *mut c_void) -> hsa_status_t>;

abi_enum! {
    /// Packets an agent executes; a set of bits.
    hsa_agent_feature_t: u32 {
        /// Kernel dispatch packets.
        KERNEL_DISPATCH = 1 => HSA_AGENT_FEATURE_KERNEL_DISPATCH,
        /// Agent dispatch packets.
        AGENT_DISPATCH = 2 => HSA_AGENT_FEATURE_AGENT_DISPATCH,
    }
}

abi_enum! {
    /// What kind of device an agent is.
    hsa_device_type_t: u32 {
        /// Host processor.
        CPU = 0 => HSA_DEVICE_TYPE_CPU,
        /// Graphics processor.
        GPU = 1 => HSA_DEVICE_TYPE_GPU,
        /// Signal processor.
        DSP = 2 => HSA_DEVICE_TYPE_DSP,
        /// Array of AI engines.
        AIE = 3 => HSA_DEVICE_TYPE_AIE,
    }
}

abi_enum! {
    /// Default rounding of floating point operations.
    hsa_default_float_rounding_mode_t: u32 {
        /// The default of the agent.
        DEFAULT = 0 => HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
        /// Towards zero.
        ZERO = 1 => HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO,
        /// To the nearest value, ties to even.
        NEAR = 2 => HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
    }
}

abi_enum! {
    /// What `hsa_agent_get_info` can be asked.
    hsa_agent_info_t: u32 {
        /// `char[64]`: name of the agent.
        NAME = 0 => HSA_AGENT_INFO_NAME,
        /// `char[64]`: name of its maker.
        VENDOR_NAME = 1 => HSA_AGENT_INFO_VENDOR_NAME,
        /// `hsa_agent_feature_t`: which packets it executes.
        FEATURE = 2 => HSA_AGENT_INFO_FEATURE,
        /// `hsa_machine_model_t`: its address width.
        MACHINE_MODEL = 3 => HSA_AGENT_INFO_MACHINE_MODEL,
        /// `hsa_profile_t`: its profile.
        PROFILE = 4 => HSA_AGENT_INFO_PROFILE,
        /// `hsa_default_float_rounding_mode_t`: its default rounding.
        DEFAULT_FLOAT_ROUNDING_MODE = 5 => HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE,
        /// `hsa_default_float_rounding_mode_t`: roundings offered in the base profile, a mask.
        BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 23 => HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES,
        /// `bool`: whether half precision is at least as fast as single.
        FAST_F16_OPERATION = 24 => HSA_AGENT_INFO_FAST_F16_OPERATION,
        /// `uint32_t`: lanes of a wavefront.
        WAVEFRONT_SIZE = 6 => HSA_AGENT_INFO_WAVEFRONT_SIZE,
        /// `uint16_t[3]`: largest work-group in each dimension.
        WORKGROUP_MAX_DIM = 7 => HSA_AGENT_INFO_WORKGROUP_MAX_DIM,
        /// `uint32_t`: most work-items of a work-group.
        WORKGROUP_MAX_SIZE = 8 => HSA_AGENT_INFO_WORKGROUP_MAX_SIZE,
        /// `hsa_dim3_t`: largest grid in each dimension.
        GRID_MAX_DIM = 9 => HSA_AGENT_INFO_GRID_MAX_DIM,
        /// `uint32_t`: most work-items of a grid.
        GRID_MAX_SIZE = 10 => HSA_AGENT_INFO_GRID_MAX_SIZE,
        /// `uint32_t`: most fbarriers of a work-group.
        FBARRIER_MAX_SIZE = 11 => HSA_AGENT_INFO_FBARRIER_MAX_SIZE,
        /// `uint32_t`: most queues alive at once.
        QUEUES_MAX = 12 => HSA_AGENT_INFO_QUEUES_MAX,
        /// `uint32_t`: fewest packets of a queue.
        QUEUE_MIN_SIZE = 13 => HSA_AGENT_INFO_QUEUE_MIN_SIZE,
        /// `uint32_t`: most packets of a queue.
        QUEUE_MAX_SIZE = 14 => HSA_AGENT_INFO_QUEUE_MAX_SIZE,
        /// `hsa_queue_type32_t`: kind of queue the agent creates.
        QUEUE_TYPE = 15 => HSA_AGENT_INFO_QUEUE_TYPE,
        /// `uint32_t`: node of the system the agent belongs to.
        NODE = 16 => HSA_AGENT_INFO_NODE,
        /// `hsa_device_type_t`: kind of device.
        DEVICE = 17 => HSA_AGENT_INFO_DEVICE,
        /// `uint32_t[4]`: bytes of the caches of level 1 to 4; 0 for none.
        CACHE_SIZE = 18 => HSA_AGENT_INFO_CACHE_SIZE,
        /// `hsa_isa_t`: its instruction set.
        ISA = 19 => HSA_AGENT_INFO_ISA,
        /// `uint8_t[128]`: one bit for each extension it has.
        EXTENSIONS = 20 => HSA_AGENT_INFO_EXTENSIONS,
        /// `uint16_t`: major version of the standard it follows.
        VERSION_MAJOR = 21 => HSA_AGENT_INFO_VERSION_MAJOR,
        /// `uint16_t`: minor version of the standard it follows.
        VERSION_MINOR = 22 => HSA_AGENT_INFO_VERSION_MINOR,
        /// Keeps the type wide enough for extensions.
        LAST = 0x7fff_ffff => HSA_AGENT_INFO_LAST,
    }
}

abi_enum! {
    /// What an agent can do on a hardware exception; a set of bits.
    hsa_exception_policy_t: u32 {
        /// Stop the work-item and report.
        BREAK = 1 => HSA_EXCEPTION_POLICY_BREAK,
        /// Set a status bit and go on.
        DETECT = 2 => HSA_EXCEPTION_POLICY_DETECT,
    }
}

abi_handle! {
    /// Names a cache of an agent.
    hsa_cache_t
}

/// Called once for each cache; anything but success ends the iteration.
pub type CacheCallback = Option<unsafe extern "C" fn(cache: hsa_cache_t, data: *mut c_void) -> hsa_status_t>;

abi_enum! {
    /// What `hsa_cache_get_info` can be asked.
    hsa_cache_info_t: u32 {
        /// `uint32_t`: length of the name without its terminator.
        NAME_LENGTH = 0 => HSA_CACHE_INFO_NAME_LENGTH,
        /// `char[]`: name, as long as the length says.
        NAME = 1 => HSA_CACHE_INFO_NAME,
        /// `uint8_t`: level of the cache.
        LEVEL = 2 => HSA_CACHE_INFO_LEVEL,
        /// `uint32_t`: bytes; 0 when unknown.
        SIZE = 3 => HSA_CACHE_INFO_SIZE,
    }
}
