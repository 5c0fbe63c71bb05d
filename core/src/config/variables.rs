//! Every environment variable the runtime knows, and what becomes of it.
//!
//! The names are Hansa's own and those that AMD's runtime, its loader and its driver library read. `hansa config` names
//! those that are set and do nothing here. What a setting does is said beside it in `sections.rs`.

/// What becomes of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It sets this setting, given as `section.key`.
    Setting(&'static str),
    /// It does this.
    Special(&'static str),
    /// It is handed to the drivers, for this. One that does nothing with it may say so.
    Driver(&'static str),
    /// It has no meaning here, for this reason.
    NoMeaning(&'static str),
}

/// A known variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What becomes of it.
    pub purpose: Use,
    /// Whether its value leads to files, so that a program with more rights than its caller drops it.
    pub carries_path: bool,
}

/// The known variable of this name.
pub fn find(name: &str) -> Option<&'static Variable> {
    VARIABLES.iter().find(|variable| variable.name == name)
}

/// Whether a variable may be one that a plugin reads, such as `HANSA_SIM_TRACE`: its second word begins no variable of
/// the runtime.
pub fn is_of_a_plugin(name: &str) -> bool {
    let subject = |name: &str| name.split('_').nth(1).map(str::to_owned);
    let third = name.split('_').nth(2);
    third.is_some()
        && VARIABLES
            .iter()
            .all(|variable| subject(variable.name) != subject(name))
}

/// Whether a program with more rights than its caller must not see this variable.
pub fn carries_path(name: &str) -> bool {
    find(name).is_some_and(|variable| variable.carries_path)
}

const fn row(name: &'static str, purpose: Use) -> Variable {
    Variable {
        name,
        purpose,
        carries_path: false,
    }
}

const fn path(name: &'static str, purpose: Use) -> Variable {
    Variable {
        name,
        purpose,
        carries_path: true,
    }
}

/// Every known variable.
pub const VARIABLES: &[Variable] = &[
    // Hansa's own.
    path(
        "HANSA_CONFIG",
        Use::Special("names the one configuration file to read"),
    ),
    path(
        "HANSA_SET",
        Use::Special(
            "lines of a configuration file that are read after the files, as `hansa run --set` gives them",
        ),
    ),
    row(
        "HANSA_PRESENCE",
        Use::Special(
            "the agents with which `hansa run` answers what programs ask the system before they start the runtime",
        ),
    ),
    path(
        "HANSA_COMPILE_CACHE",
        Use::Special("where `hansa run` has code kept that programs compile when they start; empty for nowhere"),
    ),
    row("HANSA_BACKENDS", Use::Setting("plugins.backends")),
    path("HANSA_PLUGIN_ADD", Use::Setting("plugins.add")),
    row("HANSA_PLUGIN_DISABLE", Use::Setting("plugins.disable")),
    row("HANSA_PLUGIN_ENABLE", Use::Setting("plugins.enable")),
    path("HANSA_PLUGIN_FILES", Use::Setting("plugins.files")),
    row("HANSA_PLUGIN_ORDER", Use::Setting("plugins.order")),
    row("HANSA_PLUGIN_PRIORITY", Use::Setting("plugins.priority")),
    row("HANSA_PLUGIN_SELECT", Use::Setting("plugins.select")),
    row("HANSA_RUNTIME_QUEUE_SIZE", Use::Setting("runtime.queue_size")),
    row(
        "HANSA_RUNTIME_SCRATCH_MEM_MB",
        Use::Setting("runtime.scratch_mem_mb"),
    ),
    row("HANSA_RUNTIME_ENABLE_SDMA", Use::Setting("runtime.enable_sdma")),
    row("HANSA_DEBUG_LEVEL", Use::Setting("debug.level")),
    path("HANSA_DEBUG_API_TRACE", Use::Setting("debug.api_trace")),
    path("HSA_TRACE", Use::Setting("debug.api_trace")),
    row("HANSA_DEBUG_QUEUE", Use::Setting("debug.queue")),
    row("HANSA_DEBUG_MEMORY", Use::Setting("debug.memory")),
    row("HANSA_DEBUG_SIGNAL", Use::Setting("debug.signal")),
    row(
        "HANSA_MEMORY_USE_HUGE_PAGES",
        Use::Setting("memory.use_huge_pages"),
    ),
    row(
        "HANSA_MEMORY_SVM_GUARD_PAGES",
        Use::Setting("memory.svm_guard_pages"),
    ),
    // Where the user's files are.
    path(
        "XDG_CONFIG_HOME",
        Use::Special("the user's configuration directory"),
    ),
    path(
        "HOME",
        Use::Special("the user's configuration directory when XDG_CONFIG_HOME is not set"),
    ),
    // Known from tutorials; AMD's runtime has no such variable.
    row("HSA_QUEUE_SIZE", Use::Setting("runtime.queue_size")),
    row("HSA_DEBUG_LEVEL", Use::Setting("debug.level")),
    row("HSA_QUEUE_DEBUG", Use::Setting("debug.queue")),
    row("HSA_MEMORY_DEBUG", Use::Setting("debug.memory")),
    row("HSA_SIGNAL_DEBUG", Use::Setting("debug.signal")),
    // AMD's runtime.
    row("ROCR_VISIBLE_DEVICES", Use::Setting("hsa.visible_devices")),
    row("HSA_ENABLE_INTERRUPT", Use::Setting("hsa.enable_interrupt")),
    row("HSA_ENABLE_SDMA", Use::Setting("runtime.enable_sdma")),
    row(
        "HSA_ENABLE_PEER_SDMA",
        Use::NoMeaning("the drivers of two agents say how copies between them go"),
    ),
    row("HSA_ENABLE_SDMA_GANG", Use::NoMeaning("one copy uses one engine")),
    row(
        "HSA_ENABLE_SDMA_COPY_SIZE_OVERRIDE",
        Use::NoMeaning("the size of a copy packet follows from the engine's description"),
    ),
    row(
        "HSA_ENABLE_SDMA_RECOMMENDED_ENG",
        Use::NoMeaning("the driver says which engine suits a link"),
    ),
    row(
        "HSA_ENABLE_SDMA_HDP_FLUSH",
        Use::NoMeaning("the driver's engine description says whether a flush is needed"),
    ),
    row(
        "HSA_SDMA_WAIT_IDLE",
        Use::NoMeaning("a copy is waited for by its signal"),
    ),
    row(
        "HSA_FORCE_SDMA_SIZE",
        Use::NoMeaning("inside a device, the faster way is found out by large copies"),
    ),
    row(
        "HSA_CO_DMACOPY_SIZE",
        Use::NoMeaning("the loader chooses by where the segment lives"),
    ),
    row(
        "HSA_REV_COPY_DIR",
        Use::NoMeaning("the engine of a copy follows from its agents"),
    ),
    row(
        "HSA_DISCOVER_COPY_AGENTS",
        Use::NoMeaning("a copy uses the agents it names"),
    ),
    row("HSA_MAX_QUEUES", Use::Setting("hsa.max_queues")),
    row("GPU_MAX_HW_QUEUES", Use::Setting("hsa.max_counted_queues")),
    row("HSA_COUNTED_QUEUE_SIZE", Use::Setting("hsa.counted_queue_size")),
    row("HSA_SCRATCH_MEM", Use::Setting("hsa.scratch_mem")),
    row(
        "HSA_SCRATCH_SINGLE_LIMIT",
        Use::Setting("hsa.scratch_single_limit"),
    ),
    row(
        "HSA_SCRATCH_SINGLE_LIMIT_ASYNC",
        Use::Setting("hsa.scratch_single_limit_async"),
    ),
    row(
        "HSA_ENABLE_SCRATCH_ASYNC_RECLAIM",
        Use::Setting("hsa.enable_scratch_async_reclaim"),
    ),
    row(
        "HSA_ENABLE_SCRATCH_ALT",
        Use::NoMeaning("AMD's runtime reads it and ignores it"),
    ),
    row(
        "HSA_NO_SCRATCH_RECLAIM",
        Use::Setting("hsa.no_scratch_reclaim"),
    ),
    row(
        "HSA_NO_SCRATCH_THREAD_LIMITER",
        Use::Setting("hsa.no_scratch_thread_limiter"),
    ),
    row("HSA_CHECK_FLAT_SCRATCH", Use::Setting("hsa.check_flat_scratch")),
    path("HSA_TOOLS_LIB", Use::Setting("hsa.tools_lib")),
    row(
        "HSA_TOOLS_REPORT_LOAD_FAILURE",
        Use::Setting("hsa.tools_report_load_failure"),
    ),
    row(
        "HSA_TOOLS_DISABLE_REGISTER",
        Use::Setting("hsa.tools_disable_register"),
    ),
    row(
        "HSA_TOOLS_REPORT_REGISTER_FAILURE",
        Use::Setting("hsa.tools_report_register_failure"),
    ),
    row(
        "HSA_TOOLS_ROCPROFILER_V1_TOOLS",
        Use::Setting("hsa.tools_rocprofiler_v1_tools"),
    ),
    row(
        "HSA_RUNNING_UNDER_VALGRIND",
        Use::NoMeaning("plugins and tools are never unloaded"),
    ),
    row(
        "HSA_ENABLE_VM_FAULT_MESSAGE",
        Use::Setting("hsa.enable_vm_fault_message"),
    ),
    row(
        "HSA_ENABLE_QUEUE_FAULT_MESSAGE",
        Use::Setting("hsa.enable_queue_fault_message"),
    ),
    row(
        "HSA_DISABLE_FRAGMENT_ALLOCATOR",
        Use::NoMeaning("each allocation is the driver's own"),
    ),
    row(
        "HSA_FORCE_FINE_GRAIN_PCIE",
        Use::Driver("fine-grained local memory without links between devices"),
    ),
    row("HSA_DISABLE_IMAGE", Use::Setting("hsa.disable_image")),
    row(
        "HSA_DISABLE_PC_SAMPLING",
        Use::NoMeaning("sampling starts only when a tool asks"),
    ),
    row(
        "HSA_PCS_MAX_DEVICE_BUFFER_SIZE",
        Use::NoMeaning("the tool gives the size of the buffer"),
    ),
    row(
        "HSA_LOADER_ENABLE_MMAP_URI",
        Use::Setting("hsa.loader_enable_mmap_uri"),
    ),
    row(
        "HSA_IGNORE_SRAMECC_MISREPORT",
        Use::NoMeaning("a driver that misreports is not worked around"),
    ),
    row("HSA_ENABLE_SRAMECC", Use::Setting("hsa.enable_sramecc")),
    row("HSA_XNACK", Use::Setting("hsa.xnack")),
    row("HSA_ENABLE_DEBUG", Use::Setting("hsa.enable_debug")),
    row("HSA_CU_MASK", Use::Setting("hsa.cu_mask")),
    row("HSA_CU_MASK_SKIP_INIT", Use::Setting("hsa.cu_mask_skip_init")),
    row(
        "HSA_COOP_CU_COUNT",
        Use::NoMeaning("the count for cooperative queues is always the usable one"),
    ),
    path(
        "HSA_SVM_PROFILE",
        Use::NoMeaning("events of the driver go to tools"),
    ),
    row(
        "HSA_IMAGE_PRINT_SRD",
        Use::NoMeaning("a switch for the developers of AMD's image code"),
    ),
    row(
        "HSA_IMAGE_ENABLE_3D_SWIZZLE_DEBUG",
        Use::NoMeaning("a switch for the developers of AMD's image code"),
    ),
    row(
        "HSA_ENABLE_MWAITX",
        Use::NoMeaning("a wait spins briefly and then sleeps"),
    ),
    row(
        "HSA_ENABLE_IPC_MODE_LEGACY",
        Use::NoMeaning("the driver chooses how memory is shared"),
    ),
    row(
        "HSA_OVERRIDE_CPU_AFFINITY_DEBUG",
        Use::NoMeaning("the runtime's threads inherit their affinity"),
    ),
    row(
        "HSA_ALLOCATE_QUEUE_DEV_MEM",
        Use::NoMeaning("the driver chooses where a ring lives"),
    ),
    row(
        "HSA_WAIT_ANY_DEBUG",
        Use::NoMeaning("there is one way to wait for several signals"),
    ),
    row(
        "HSA_SIGNAL_WAIT_ABORT_TIMEOUT",
        Use::Setting("hsa.signal_wait_abort_timeout"),
    ),
    row(
        "HSA_ASYNCEVENTS_THREAD_PRIORITY",
        Use::NoMeaning("the thread for events has the priority of its creator"),
    ),
    row("HSA_ENABLE_DTIF", Use::NoMeaning("a simulator is a plugin here")),
    // AMD's loader.
    path(
        "LOADER_OPTIONS_APPEND",
        Use::NoMeaning("the loader has no options"),
    ),
    row(
        "LOADER_ENABLE_LOGGING",
        Use::NoMeaning("HANSA_DEBUG_LEVEL=3 shows what the loader finds"),
    ),
    row(
        "LOADER_USE_DYNSYM",
        Use::NoMeaning("the loader uses whichever symbol table there is"),
    ),
    // AMD's driver library.
    row(
        "HSA_OVERRIDE_GFX_VERSION",
        Use::Setting("hsa.override_gfx_version"),
    ),
    row("HSA_SVM_GUARD_PAGES", Use::Setting("memory.svm_guard_pages")),
    row(
        "HSAKMT_DEBUG_LEVEL",
        Use::NoMeaning("HSA_DEBUG_LEVEL is for drivers, too"),
    ),
    row(
        "HSA_ZFB",
        Use::NoMeaning("device memory is where the driver has it"),
    ),
    row(
        "HSA_USE_UDMABUF",
        Use::NoMeaning("the kernel's driver gives the memory of an APU"),
    ),
    row(
        "HSA_USE_SVM",
        Use::NoMeaning("the driver says whether it shares virtual memory"),
    ),
    row("HSA_DISABLE_CACHE", Use::Driver("uncached memory everywhere")),
    row(
        "HSA_USERPTR_FOR_PAGED_MEM",
        Use::NoMeaning("host memory for devices is the process's own pages"),
    ),
    row(
        "HSA_CHECK_USERPTR",
        Use::NoMeaning("the kernel looks at pages that are registered"),
    ),
    row(
        "HSA_RESERVE_SVM",
        Use::NoMeaning("devices see memory at the host's addresses"),
    ),
    row(
        "HSA_HIGH_PRECISION_MODE",
        Use::NoMeaning("the precision of matrix instructions is the chip's own"),
    ),
    row(
        "HSA_MAX_VA_ALIGN",
        Use::NoMeaning("an allocation is aligned as its granule and its size ask"),
    ),
    path(
        "HSA_MODEL_TOPOLOGY",
        Use::NoMeaning("a simulator is a plugin here"),
    ),
    path("HSA_MODEL_LIB", Use::NoMeaning("a simulator is a plugin here")),
    path(
        "HSA_MODEL_MEMFILE",
        Use::NoMeaning("a simulator is a plugin here"),
    ),
    row(
        "VHSAKMT_DEBUG_LEVEL",
        Use::NoMeaning("HSA_DEBUG_LEVEL is for drivers, too"),
    ),
    // AMD's runtime of 2026.
    row(
        "HSA_SIGBUS_DELAY_MS",
        Use::NoMeaning("an access to memory that a device lost is not delayed"),
    ),
    row(
        "HSA_ENABLE_HIGH_PRECISION_TIMESTAMPS",
        Use::NoMeaning("clocks of devices and host are compared as exactly as the driver can"),
    ),
    row(
        "HSA_HOTSWAP_ENABLE",
        Use::NoMeaning("code is not exchanged while it runs"),
    ),
    row(
        "HSA_DISABLE_GFX12_STRICT",
        Use::NoMeaning("kernels run as they were compiled"),
    ),
    row(
        "HSA_ENABLE_DTIF_FAST_COPY",
        Use::NoMeaning("a simulator is a plugin here"),
    ),
    row(
        "HSA_DTIF_SKIP_INV_CODE_CACHE",
        Use::NoMeaning("a simulator is a plugin here"),
    ),
    row(
        "HSA_ENABLE_DXG_DETECTION",
        Use::NoMeaning("each way to a device is a plugin here"),
    ),
    row(
        "HSA_COREDUMP_SHOW_PROGRESS",
        Use::NoMeaning("an error of a kernel does not end the process"),
    ),
    row(
        "HSA_DISABLE_COREDUMP_ON_EXCEPTION",
        Use::NoMeaning("an error of a kernel does not end the process"),
    ),
    path(
        "HSA_COREDUMP_PATTERN",
        Use::NoMeaning("an error of a kernel does not end the process"),
    ),
    row(
        "HSA_ENABLE_LIGHTWEIGHT_COREDUMP",
        Use::NoMeaning("an error of a kernel does not end the process"),
    ),
    row(
        "HSA_SDMA_LINEAR_B2B",
        Use::NoMeaning("the form of a copy packet follows from the engine's description"),
    ),
    row(
        "HSA_SDMA_MULTICAST",
        Use::NoMeaning("the form of a copy packet follows from the engine's description"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_once() {
        for (i, variable) in VARIABLES.iter().enumerate() {
            assert_eq!(
                VARIABLES.iter().position(|other| other.name == variable.name),
                Some(i),
                "{}",
                variable.name
            );
        }
    }
}
