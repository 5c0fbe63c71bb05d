//! Executables, code objects and their symbols (HSA Runtime PRM 1.2, section 2.8).

use core::ffi::c_void;

use super::agent::hsa_agent_t;
use super::status::hsa_status_t;

abi_handle! {
    /// Names a reader: where a code object comes from.
    hsa_code_object_reader_t
}

abi_handle! {
    /// Names an executable: loaded code objects that refer to each other.
    hsa_executable_t
}

abi_enum! {
    /// State of an executable.
    hsa_executable_state_t: u32 {
        /// Code can be loaded and variables defined.
        UNFROZEN = 0 => HSA_EXECUTABLE_STATE_UNFROZEN,
        /// Complete: kernels can run.
        FROZEN = 1 => HSA_EXECUTABLE_STATE_FROZEN,
    }
}

abi_handle! {
    /// Names a code object loaded in an executable.
    hsa_loaded_code_object_t
}

abi_enum! {
    /// What `hsa_executable_get_info` can be asked.
    hsa_executable_info_t: u32 {
        /// `hsa_profile_t`: its profile.
        PROFILE = 1 => HSA_EXECUTABLE_INFO_PROFILE,
        /// `hsa_executable_state_t`: its state.
        STATE = 2 => HSA_EXECUTABLE_INFO_STATE,
        /// `hsa_default_float_rounding_mode_t`: its default rounding.
        DEFAULT_FLOAT_ROUNDING_MODE = 3 => HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE,
    }
}

abi_handle! {
    /// Names a symbol of an executable.
    hsa_executable_symbol_t
}

/// Called once for each symbol; anything but success ends the iteration.
pub type ExecutableSymbolCallback = Option<
    unsafe extern "C" fn(
        exec: hsa_executable_t,
        symbol: hsa_executable_symbol_t,
        data: *mut c_void,
    ) -> hsa_status_t,
>;

/// Called once for each symbol of an agent; anything but success ends the iteration.
pub type AgentSymbolCallback = Option<
    unsafe extern "C" fn(
        exec: hsa_executable_t,
        agent: hsa_agent_t,
        symbol: hsa_executable_symbol_t,
        data: *mut c_void,
    ) -> hsa_status_t,
>;

abi_enum! {
    /// What a symbol stands for.
    hsa_symbol_kind_t: u32 {
        /// A variable.
        VARIABLE = 0 => HSA_SYMBOL_KIND_VARIABLE,
        /// A kernel.
        KERNEL = 1 => HSA_SYMBOL_KIND_KERNEL,
        /// An indirect function.
        INDIRECT_FUNCTION = 2 => HSA_SYMBOL_KIND_INDIRECT_FUNCTION,
    }
}

abi_enum! {
    /// Where a symbol can be seen.
    hsa_symbol_linkage_t: u32 {
        /// In its module.
        MODULE = 0 => HSA_SYMBOL_LINKAGE_MODULE,
        /// In the program.
        PROGRAM = 1 => HSA_SYMBOL_LINKAGE_PROGRAM,
    }
}

abi_enum! {
    /// How often a variable exists.
    hsa_variable_allocation_t: u32 {
        /// Once for each agent.
        AGENT = 0 => HSA_VARIABLE_ALLOCATION_AGENT,
        /// Once.
        PROGRAM = 1 => HSA_VARIABLE_ALLOCATION_PROGRAM,
    }
}

abi_enum! {
    /// Segment of a variable.
    hsa_variable_segment_t: u32 {
        /// Global.
        GLOBAL = 0 => HSA_VARIABLE_SEGMENT_GLOBAL,
        /// Read-only.
        READONLY = 1 => HSA_VARIABLE_SEGMENT_READONLY,
    }
}

abi_enum! {
    /// What `hsa_executable_symbol_get_info` can be asked.
    hsa_executable_symbol_info_t: u32 {
        /// `hsa_symbol_kind_t`: what it stands for.
        TYPE = 0 => HSA_EXECUTABLE_SYMBOL_INFO_TYPE,
        /// `uint32_t`: length of the name without terminator.
        NAME_LENGTH = 1 => HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH,
        /// `char[]`: name, not terminated.
        NAME = 2 => HSA_EXECUTABLE_SYMBOL_INFO_NAME,
        /// `uint32_t`: length of the module name without terminator.
        MODULE_NAME_LENGTH = 3 => HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH,
        /// `char[]`: module name, not terminated.
        MODULE_NAME = 4 => HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME,
        /// `hsa_agent_t`: agent it belongs to.
        AGENT = 20 => HSA_EXECUTABLE_SYMBOL_INFO_AGENT,
        /// `uint64_t`: address of the variable.
        VARIABLE_ADDRESS = 21 => HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS,
        /// `hsa_symbol_linkage_t`: where it can be seen.
        LINKAGE = 5 => HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE,
        /// `bool`: whether it is a definition, not a declaration.
        IS_DEFINITION = 17 => HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION,
        /// `hsa_variable_allocation_t`: how often the variable exists.
        VARIABLE_ALLOCATION = 6 => HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION,
        /// `hsa_variable_segment_t`: segment of the variable.
        VARIABLE_SEGMENT = 7 => HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT,
        /// `uint32_t`: alignment of the variable.
        VARIABLE_ALIGNMENT = 8 => HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT,
        /// `uint32_t`: bytes of the variable; 0 when unknown.
        VARIABLE_SIZE = 9 => HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE,
        /// `bool`: whether the variable is constant.
        VARIABLE_IS_CONST = 10 => HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST,
        /// `uint64_t`: what goes into a dispatch packet.
        KERNEL_OBJECT = 22 => HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
        /// `uint32_t`: bytes of the kernel arguments.
        KERNEL_KERNARG_SEGMENT_SIZE = 11 => HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
        /// `uint32_t`: alignment of the kernel arguments.
        KERNEL_KERNARG_SEGMENT_ALIGNMENT = 12 => HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT,
        /// `uint32_t`: static group bytes.
        KERNEL_GROUP_SEGMENT_SIZE = 13 => HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
        /// `uint32_t`: static private bytes of a work-item.
        KERNEL_PRIVATE_SEGMENT_SIZE = 14 => HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
        /// `bool`: whether the private bytes may grow by calls.
        KERNEL_DYNAMIC_CALLSTACK = 15 => HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK,
        /// `uint32_t`: call convention.
        KERNEL_CALL_CONVENTION = 18 => HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION,
        /// `uint64_t`: the indirect function.
        INDIRECT_FUNCTION_OBJECT = 23 => HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT,
        /// `uint32_t`: call convention of the indirect function.
        INDIRECT_FUNCTION_CALL_CONVENTION = 16 => HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION,
    }
}

abi_handle! {
    /// Names a code object.
    hsa_code_object_t
}

abi_handle! {
    /// Data of the program for an allocation callback.
    hsa_callback_data_t
}

/// Allocates the memory a serialized code object goes to.
pub type AllocCallback = Option<
    unsafe extern "C" fn(size: usize, data: hsa_callback_data_t, address: *mut *mut c_void) -> hsa_status_t,
>;

abi_enum! {
    /// Kind of code object.
    hsa_code_object_type_t: u32 {
        /// Code of a whole program.
        PROGRAM = 0 => HSA_CODE_OBJECT_TYPE_PROGRAM,
    }
}

abi_enum! {
    /// What `hsa_code_object_get_info` can be asked.
    hsa_code_object_info_t: u32 {
        /// `char[64]`: version text.
        VERSION = 0 => HSA_CODE_OBJECT_INFO_VERSION,
        /// `hsa_code_object_type_t`: its kind.
        TYPE = 1 => HSA_CODE_OBJECT_INFO_TYPE,
        /// `hsa_isa_t`: its instruction set.
        ISA = 2 => HSA_CODE_OBJECT_INFO_ISA,
        /// `hsa_machine_model_t`: its address width.
        MACHINE_MODEL = 3 => HSA_CODE_OBJECT_INFO_MACHINE_MODEL,
        /// `hsa_profile_t`: its profile.
        PROFILE = 4 => HSA_CODE_OBJECT_INFO_PROFILE,
        /// `hsa_default_float_rounding_mode_t`: its default rounding.
        DEFAULT_FLOAT_ROUNDING_MODE = 5 => HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE,
    }
}

abi_handle! {
    /// Names a symbol of a code object.
    hsa_code_symbol_t
}

/// Called once for each symbol; anything but success ends the iteration.
pub type CodeSymbolCallback = Option<
    unsafe extern "C" fn(
        code_object: hsa_code_object_t,
        symbol: hsa_code_symbol_t,
        data: *mut c_void,
    ) -> hsa_status_t,
>;

abi_enum! {
    /// What `hsa_code_symbol_get_info` can be asked.
    hsa_code_symbol_info_t: u32 {
        /// `hsa_symbol_kind_t`: what it stands for.
        TYPE = 0 => HSA_CODE_SYMBOL_INFO_TYPE,
        /// `uint32_t`: length of the name without terminator.
        NAME_LENGTH = 1 => HSA_CODE_SYMBOL_INFO_NAME_LENGTH,
        /// `char[]`: name, not terminated.
        NAME = 2 => HSA_CODE_SYMBOL_INFO_NAME,
        /// `uint32_t`: length of the module name without terminator.
        MODULE_NAME_LENGTH = 3 => HSA_CODE_SYMBOL_INFO_MODULE_NAME_LENGTH,
        /// `char[]`: module name, not terminated.
        MODULE_NAME = 4 => HSA_CODE_SYMBOL_INFO_MODULE_NAME,
        /// `hsa_symbol_linkage_t`: where it can be seen.
        LINKAGE = 5 => HSA_CODE_SYMBOL_INFO_LINKAGE,
        /// `bool`: whether it is a definition, not a declaration.
        IS_DEFINITION = 17 => HSA_CODE_SYMBOL_INFO_IS_DEFINITION,
        /// `hsa_variable_allocation_t`: how often the variable exists.
        VARIABLE_ALLOCATION = 6 => HSA_CODE_SYMBOL_INFO_VARIABLE_ALLOCATION,
        /// `hsa_variable_segment_t`: segment of the variable.
        VARIABLE_SEGMENT = 7 => HSA_CODE_SYMBOL_INFO_VARIABLE_SEGMENT,
        /// `uint32_t`: alignment of the variable.
        VARIABLE_ALIGNMENT = 8 => HSA_CODE_SYMBOL_INFO_VARIABLE_ALIGNMENT,
        /// `uint32_t`: bytes of the variable; 0 when unknown.
        VARIABLE_SIZE = 9 => HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE,
        /// `bool`: whether the variable is constant.
        VARIABLE_IS_CONST = 10 => HSA_CODE_SYMBOL_INFO_VARIABLE_IS_CONST,
        /// `uint32_t`: bytes of the kernel arguments.
        KERNEL_KERNARG_SEGMENT_SIZE = 11 => HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
        /// `uint32_t`: alignment of the kernel arguments.
        KERNEL_KERNARG_SEGMENT_ALIGNMENT = 12 => HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT,
        /// `uint32_t`: static group bytes.
        KERNEL_GROUP_SEGMENT_SIZE = 13 => HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
        /// `uint32_t`: static private bytes of a work-item.
        KERNEL_PRIVATE_SEGMENT_SIZE = 14 => HSA_CODE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
        /// `bool`: whether the private bytes may grow by calls.
        KERNEL_DYNAMIC_CALLSTACK = 15 => HSA_CODE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK,
        /// `uint32_t`: call convention.
        KERNEL_CALL_CONVENTION = 18 => HSA_CODE_SYMBOL_INFO_KERNEL_CALL_CONVENTION,
        /// `uint32_t`: call convention of the indirect function.
        INDIRECT_FUNCTION_CALL_CONVENTION = 16 => HSA_CODE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION,
        /// `uint32_t`: lanes of a wavefront of the kernel.
        KERNEL_WAVEFRONT_SIZE = 19 => HSA_CODE_SYMBOL_INFO_KERNEL_WAVEFRONT_SIZE,
    }
}
