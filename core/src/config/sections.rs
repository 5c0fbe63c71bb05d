//! The settings, section by section: the one list of what can be configured.
//!
//! Each row gives a key of the file, its type, its default and the variables that set it, the last
//! of them winning. Readers and listings walk the rows with [`Settings::for_each`].

use super::api_trace::ApiTrace;
use super::cu_mask::CuMask;
use super::gfx_version::GfxVersion;
use super::setting::{AnySetting, Setting};
use super::value::{Bytes, Count, Level, Libraries, Megabytes, Paths, Priorities, QueueSize, Seconds, Wish};
use super::visible_devices::VisibleDevices;

/// One setting while the rows are walked.
pub(super) struct Slot<'a> {
    /// The section of the file.
    pub(super) section: &'static str,
    /// The key in the section.
    pub(super) key: &'static str,
    /// What it does.
    pub(super) doc: &'static str,
    /// The variables that set it, in rising order of weight.
    pub(super) variables: &'static [&'static str],
    /// The setting.
    pub(super) setting: &'a mut dyn AnySetting,
}

macro_rules! settings {
    ($(
        $(#[doc = $section_doc:literal])+
        $section:ident: $Section:ident {
            $( $(#[doc = $doc:literal])+ $key:ident: $ty:ty = $default:expr $(, $variable:literal)*; )*
        }
    )*) => {
        $(
            $(#[doc = $section_doc])+
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $Section {
                $( $(#[doc = $doc])+ pub $key: Setting<$ty>, )*
            }

            impl Default for $Section {
                fn default() -> Self {
                    Self { $( $key: Setting::default($default), )* }
                }
            }
        )*

        /// Every setting.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Settings {
            $( $(#[doc = $section_doc])+ pub $section: $Section, )*
        }

        impl Settings {
            /// The sections of the file.
            pub(super) const SECTIONS: &'static [&'static str] = &[$(stringify!($section)),*];

            /// Walks over every setting, in the order of the rows.
            pub(super) fn for_each(&mut self, f: &mut dyn FnMut(Slot<'_>)) {
                $($(
                    f(Slot {
                        section: stringify!($section),
                        key: stringify!($key),
                        doc: concat!($($doc),+),
                        variables: &[$($variable),*],
                        setting: &mut self.$section.$key,
                    });
                )*)*
            }
        }
    };
}

settings! {
    /// Queues, scratch memory and copies.
    runtime: Runtime {
        /// When set, packets that a queue has at least, whatever the program asks for.
        queue_size: QueueSize = QueueSize(4096), "HSA_QUEUE_SIZE", "HANSA_RUNTIME_QUEUE_SIZE";
        /// When set, the most scratch memory that a queue gets, in megabytes.
        scratch_mem_mb: Megabytes = Megabytes(256), "HANSA_RUNTIME_SCRATCH_MEM_MB";
        /// Copies by the DMA engines (true), by kernels (false), or as the driver likes (auto).
        enable_sdma: Option<bool> = None, "HSA_ENABLE_SDMA", "HANSA_RUNTIME_ENABLE_SDMA";
    }
    /// What is written for a person who looks for a fault.
    debug: Debug {
        /// How much goes to the log: 0 nothing, 3 errors, 4 warnings, 6 what happens, 7 everything.
        level: Level = Level(0), "HSA_DEBUG_LEVEL", "HANSA_DEBUG_LEVEL";
        /// Write down each call of the C interface: "text" or "text:FILE" for lines, "perfetto:FILE" for ui.perfetto.dev.
        api_trace: ApiTrace = ApiTrace::Off, "HSA_TRACE", "HANSA_DEBUG_API_TRACE";
        /// Log queues that are made, fail and go.
        queue: bool = false, "HSA_QUEUE_DEBUG", "HANSA_DEBUG_QUEUE";
        /// Log allocations, locked memory and copies, and at the end what was never freed.
        memory: bool = false, "HSA_MEMORY_DEBUG", "HANSA_DEBUG_MEMORY";
        /// Log signals that are made and go, waits on them and what ended them.
        signal: bool = false, "HSA_SIGNAL_DEBUG", "HANSA_DEBUG_SIGNAL";
    }
    /// How memory is mapped.
    memory: Memory {
        /// Ask for huge pages behind large allocations.
        use_huge_pages: bool = true, "HANSA_MEMORY_USE_HUGE_PAGES";
        /// Leave an unmapped page on each side of an allocation.
        svm_guard_pages: bool = true, "HSA_SVM_GUARD_PAGES", "HANSA_MEMORY_SVM_GUARD_PAGES";
    }
    /// Which plugins serve.
    plugins: Plugins {
        /// The drivers to use, in order of preference; others are left out. Extensions are not concerned.
        backends: Vec<String> = Vec::new(), "HANSA_BACKENDS";
        /// Plugins that are used although their own default is off.
        enable: Vec<String> = Vec::new(), "HANSA_PLUGIN_ENABLE";
        /// Plugins that are not used, whatever else is said.
        disable: Vec<String> = Vec::new(), "HANSA_PLUGIN_DISABLE";
        /// When not empty, the only plugins that are used.
        select: Vec<String> = Vec::new(), "HANSA_PLUGIN_SELECT";
        /// Which of two drivers gets a device: the one named earlier.
        order: Vec<String> = Vec::new(), "HANSA_PLUGIN_ORDER";
        /// Priorities in place of those in the manifests.
        priority: Priorities = Priorities::default(), "HANSA_PLUGIN_PRIORITY";
        /// Manifests or libraries that replace the whole search.
        files: Paths = Paths::default(), "HANSA_PLUGIN_FILES";
        /// Directories, manifests or libraries to search before the usual places.
        add: Paths = Paths::default(), "HANSA_PLUGIN_ADD";
    }
    /// What AMD's runtime reads from `HSA_*` and `ROCR_*` variables.
    hsa: Hsa {
        /// Which GPUs there are for the program, and in which order.
        visible_devices: Option<VisibleDevices> = None, "ROCR_VISIBLE_DEVICES";
        /// The GPU version to report instead of the device's own.
        override_gfx_version: Option<GfxVersion> = None, "HSA_OVERRIDE_GFX_VERSION";
        /// Compute units that queues may use.
        cu_mask: Option<CuMask> = None, "HSA_CU_MASK";
        /// Leave a new queue's mask of compute units as the driver made it.
        cu_mask_skip_init: bool = false, "HSA_CU_MASK_SKIP_INIT";
        /// Sleep on the driver's events; otherwise waits poll where a driver would have to wake them.
        enable_interrupt: bool = true, "HSA_ENABLE_INTERRUPT";
        /// Ask the driver to set up what a debugger of GPU code needs, and show warnings unless a level is set.
        enable_debug: bool = false, "HSA_ENABLE_DEBUG";
        /// Say which GPU has no private aperture.
        check_flat_scratch: bool = false, "HSA_CHECK_FLAT_SCRATCH";
        /// When set, scratch memory per work-item that a new queue gets at once, in bytes.
        scratch_mem: Bytes = Bytes(2048), "HSA_SCRATCH_MEM";
        /// Scratch of one queue in bytes beyond which each dispatch has its own, where queues keep theirs to their end.
        scratch_single_limit: Bytes = Bytes(140 << 20), "HSA_SCRATCH_SINGLE_LIMIT";
        /// The same where scratch can be taken from a running queue; 0 for 3 GiB for each of the GPU's parts.
        scratch_single_limit_async: Bytes = Bytes(0), "HSA_SCRATCH_SINGLE_LIMIT_ASYNC";
        /// Take scratch from running queues, where the driver can.
        enable_scratch_async_reclaim: bool = true, "HSA_ENABLE_SCRATCH_ASYNC_RECLAIM";
        /// Leave a queue all scratch that it ever needed.
        no_scratch_reclaim: bool = false, "HSA_NO_SCRATCH_RECLAIM";
        /// Stop a queue with an error rather than run fewer waves at once when scratch is short.
        no_scratch_thread_limiter: bool = false, "HSA_NO_SCRATCH_THREAD_LIMITER";
        /// Most hardware queues per agent, 0 for as many as there are.
        max_queues: Count = Count(0), "HSA_MAX_QUEUES";
        /// Hardware queues per agent and priority that counted queues share.
        max_counted_queues: Count = Count(4), "GPU_MAX_HW_QUEUES";
        /// Packets in a hardware queue that counted queues share.
        counted_queue_size: QueueSize = QueueSize(16384), "HSA_COUNTED_QUEUE_SIZE";
        /// Run kernels with page-fault retry (XNACK) on or off.
        xnack: Option<bool> = None, "HSA_XNACK";
        /// Report ECC of the register files in the ISA name.
        enable_sramecc: Option<bool> = None, "HSA_ENABLE_SRAMECC";
        /// Leave out the image extension.
        disable_image: bool = false, "HSA_DISABLE_IMAGE";
        /// Say on stderr what a memory fault of a kernel was.
        enable_vm_fault_message: bool = true, "HSA_ENABLE_VM_FAULT_MESSAGE";
        /// Say on stderr what a queue error was.
        enable_queue_fault_message: bool = true, "HSA_ENABLE_QUEUE_FAULT_MESSAGE";
        /// Name the file behind a code object that was given in memory.
        loader_enable_mmap_uri: bool = false, "HSA_LOADER_ENABLE_MMAP_URI";
        /// Seconds after which a wait ends the program with a message, 0 for never.
        signal_wait_abort_timeout: Seconds = Seconds(0), "HSA_SIGNAL_WAIT_ABORT_TIMEOUT";
        /// Tools libraries to load, in order.
        tools_lib: Libraries = Libraries::default(), "HSA_TOOLS_LIB";
        /// Say on stderr which tools library could not be loaded.
        tools_report_load_failure: bool = true, "HSA_TOOLS_REPORT_LOAD_FAILURE";
        /// Do not offer the tables to rocprofiler-register.
        tools_disable_register: bool = false, "HSA_TOOLS_DISABLE_REGISTER";
        /// Say on stderr why rocprofiler-register did not take the tables.
        tools_report_register_failure: bool = false, "HSA_TOOLS_REPORT_REGISTER_FAILURE";
        /// Load tools libraries also when rocprofiler-register took the tables.
        tools_rocprofiler_v1_tools: Wish = Wish(false), "HSA_TOOLS_ROCPROFILER_V1_TOOLS";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::variables::{self, Use};

    #[test]
    fn each_row_is_in_the_table_of_variables_and_the_other_way_round() {
        let mut rows = Vec::new();
        Settings::default().for_each(&mut |slot| {
            assert!(!slot.doc.is_empty());
            rows.extend(
                slot.variables
                    .iter()
                    .map(|name| (*name, format!("{}.{}", slot.section, slot.key))),
            );
        });
        for (name, key) in &rows {
            let variable = variables::find(name).unwrap_or_else(|| panic!("{name} is not in the table"));
            assert!(
                matches!(variable.purpose, Use::Setting(of) if of == key),
                "{name}"
            );
        }
        for variable in variables::VARIABLES {
            if let Use::Setting(key) = variable.purpose {
                assert!(
                    rows.iter().any(|(name, of)| *name == variable.name && of == key),
                    "{}",
                    variable.name
                );
            }
        }
    }
}
