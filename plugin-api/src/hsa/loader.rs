//! AMD's loader extension 1.4: where loaded code comes from and where it is. Reached by table only.

use core::ffi::c_void;

use super::agent::hsa_agent_t;
use super::code::{hsa_executable_t, hsa_loaded_code_object_t};
use super::status::hsa_status_t;

abi_enum! {
    /// Where a code object was read from.
    hsa_ven_amd_loader_code_object_storage_type_t: u32 {
        /// Nowhere: memory of the executable itself.
        NONE = 0 => HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE,
        /// A file.
        FILE = 1 => HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE,
        /// Memory.
        MEMORY = 2 => HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
    }
}

abi_struct! {
    /// One loaded segment.
    hsa_ven_amd_loader_segment_descriptor_t {
        /// Agent it was loaded for.
        agent: hsa_agent_t,
        /// Its executable.
        executable: hsa_executable_t,
        /// Where its code object was read from.
        code_object_storage_type: hsa_ven_amd_loader_code_object_storage_type_t,
        /// Memory or file name of the code object.
        code_object_storage_base: *const c_void,
        /// Bytes of the memory, or length of the name.
        code_object_storage_size: usize,
        /// First byte of the segment in the code object.
        code_object_storage_offset: usize,
        /// First byte of the segment as the agent sees it.
        segment_base: *const c_void,
        /// Bytes of the segment.
        segment_size: usize,
    }
}

/// Called once for each loaded code object; anything but success ends the iteration.
pub type LoadedCodeObjectCallback = Option<
    unsafe extern "C" fn(
        executable: hsa_executable_t,
        loaded_code_object: hsa_loaded_code_object_t,
        data: *mut c_void,
    ) -> hsa_status_t,
>;

abi_enum! {
    /// Whom a loaded code object belongs to.
    hsa_ven_amd_loader_loaded_code_object_kind_t: u32 {
        /// The program.
        PROGRAM = 1 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_PROGRAM,
        /// An agent.
        AGENT = 2 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT,
    }
}

abi_enum! {
    /// What `hsa_ven_amd_loader_loaded_code_object_get_info` can be asked.
    hsa_ven_amd_loader_loaded_code_object_info_t: u32 {
        /// `hsa_executable_t`: its executable.
        EXECUTABLE = 1 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE,
        /// `uint32_t`: `hsa_ven_amd_loader_loaded_code_object_kind_t`.
        KIND = 2 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND,
        /// `hsa_agent_t`: its agent.
        AGENT = 3 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT,
        /// `uint32_t`: `hsa_ven_amd_loader_code_object_storage_type_t`.
        CODE_OBJECT_STORAGE_TYPE = 4 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE,
        /// `uint64_t`: memory it was read from.
        CODE_OBJECT_STORAGE_MEMORY_BASE = 5 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE,
        /// `uint64_t`: bytes of that memory.
        CODE_OBJECT_STORAGE_MEMORY_SIZE = 6 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE,
        /// `int`: file it was read from.
        CODE_OBJECT_STORAGE_FILE = 7 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE,
        /// `int64_t`: loaded address less linked address.
        LOAD_DELTA = 8 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA,
        /// `uint64_t`: first loaded address.
        LOAD_BASE = 9 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE,
        /// `uint64_t`: loaded bytes.
        LOAD_SIZE = 10 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE,
        /// `uint32_t`: length of the URI without terminator.
        URI_LENGTH = 11 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH,
        /// `char[]`: URI, not terminated.
        URI = 12 => HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI,
    }
}

/// Called once for each executable; anything but success ends the iteration.
pub type ExecutableCallback =
    Option<unsafe extern "C" fn(executable: hsa_executable_t, data: *mut c_void) -> hsa_status_t>;
