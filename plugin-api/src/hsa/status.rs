//! Status codes: one type for the codes of the standard, of AMD and of the extensions, with their texts.
//!
//! HSA Runtime Programmer's Reference Manual 1.2, section 2.2; the AMD codes are 40 to 50, the finalizer's start at
//! 0x2000 and those of images at 0x3000.

use core::ffi::CStr;

/// Declares the status type from rows of short name, value, C name and text.
macro_rules! status_codes {
    ($($short:ident = $value:literal => $c_name:ident, $text:literal;)*) => {
        abi_enum! {
            /// What a function of the runtime answers.
            hsa_status_t: u32 {
                $(#[doc = concat!(" ", $text, ".")] $short = $value => $c_name,)*
            }
        }

        impl hsa_status_t {
            /// Text that `hsa_status_string` gives: the name, a colon and a sentence; `None` for an unknown code.
            #[must_use]
            pub fn text(self) -> Option<&'static CStr> {
                match self {
                    $(Self::$short => Some(const { terminated(concat!(stringify!($c_name), ": ", $text, ".\0")) }),)*
                    _ => None,
                }
            }
        }
    };
}

status_codes! {
    SUCCESS = 0x0 => HSA_STATUS_SUCCESS, "The call did what was asked";
    INFO_BREAK = 0x1 => HSA_STATUS_INFO_BREAK, "A callback asked for the iteration to stop; this is no error";
    ERROR = 0x1000 => HSA_STATUS_ERROR, "An error that has no code of its own";
    ERROR_INVALID_ARGUMENT = 0x1001 => HSA_STATUS_ERROR_INVALID_ARGUMENT, "An argument is not one of those the function accepts";
    ERROR_INVALID_QUEUE_CREATION = 0x1002 => HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "The agent cannot create a queue of this kind";
    ERROR_INVALID_ALLOCATION = 0x1003 => HSA_STATUS_ERROR_INVALID_ALLOCATION, "The memory cannot be allocated like this, or the address is not in a fitting allocation";
    ERROR_INVALID_AGENT = 0x1004 => HSA_STATUS_ERROR_INVALID_AGENT, "The agent handle names no agent that can do this";
    ERROR_INVALID_REGION = 0x1005 => HSA_STATUS_ERROR_INVALID_REGION, "The region handle names no memory region";
    ERROR_INVALID_SIGNAL = 0x1006 => HSA_STATUS_ERROR_INVALID_SIGNAL, "The signal handle names no signal";
    ERROR_INVALID_QUEUE = 0x1007 => HSA_STATUS_ERROR_INVALID_QUEUE, "The pointer is not that of a live queue";
    ERROR_OUT_OF_RESOURCES = 0x1008 => HSA_STATUS_ERROR_OUT_OF_RESOURCES, "Memory or another resource needed for the call has run out";
    ERROR_INVALID_PACKET_FORMAT = 0x1009 => HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "A packet in a queue has a type or layout its packet processor does not know";
    ERROR_RESOURCE_FREE = 0x100a => HSA_STATUS_ERROR_RESOURCE_FREE, "Releasing a resource failed";
    ERROR_NOT_INITIALIZED = 0x100b => HSA_STATUS_ERROR_NOT_INITIALIZED, "The runtime has not been started by hsa_init, or has been shut down";
    ERROR_REFCOUNT_OVERFLOW = 0x100c => HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "A reference count has reached its largest value";
    ERROR_INCOMPATIBLE_ARGUMENTS = 0x100d => HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "Each argument is valid, but they do not fit together";
    ERROR_INVALID_INDEX = 0x100e => HSA_STATUS_ERROR_INVALID_INDEX, "The index is past the end of what it indexes";
    ERROR_INVALID_ISA = 0x100f => HSA_STATUS_ERROR_INVALID_ISA, "The handle names no instruction set";
    ERROR_INVALID_ISA_NAME = 0x1017 => HSA_STATUS_ERROR_INVALID_ISA_NAME, "No known instruction set has this name";
    ERROR_INVALID_CODE_OBJECT = 0x1010 => HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "The code object is malformed, or not of a kind that can be used here";
    ERROR_INVALID_EXECUTABLE = 0x1011 => HSA_STATUS_ERROR_INVALID_EXECUTABLE, "The handle names no executable, or the executable is not valid";
    ERROR_FROZEN_EXECUTABLE = 0x1012 => HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "The executable is frozen and takes no more changes";
    ERROR_INVALID_SYMBOL_NAME = 0x1013 => HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "No symbol has this name";
    ERROR_VARIABLE_ALREADY_DEFINED = 0x1014 => HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, "The variable already has a definition";
    ERROR_VARIABLE_UNDEFINED = 0x1015 => HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "The variable has no definition";
    ERROR_EXCEPTION = 0x1016 => HSA_STATUS_ERROR_EXCEPTION, "A kernel raised a hardware exception";
    ERROR_INVALID_CODE_SYMBOL = 0x1018 => HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "The handle names no symbol of a code object";
    ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019 => HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "The handle names no symbol of an executable";
    ERROR_INVALID_FILE = 0x1020 => HSA_STATUS_ERROR_INVALID_FILE, "The file descriptor cannot be read";
    ERROR_INVALID_CODE_OBJECT_READER = 0x1021 => HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "The handle names no code object reader";
    ERROR_INVALID_CACHE = 0x1022 => HSA_STATUS_ERROR_INVALID_CACHE, "The handle names no cache";
    ERROR_INVALID_WAVEFRONT = 0x1023 => HSA_STATUS_ERROR_INVALID_WAVEFRONT, "The handle names no wavefront";
    ERROR_INVALID_SIGNAL_GROUP = 0x1024 => HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "The handle names no signal group";
    ERROR_INVALID_RUNTIME_STATE = 0x1025 => HSA_STATUS_ERROR_INVALID_RUNTIME_STATE, "The runtime is in a state in which this cannot be done";
    ERROR_FATAL = 0x1026 => HSA_STATUS_ERROR_FATAL, "A queue met an error after which its process may be in an undefined state";
    ERROR_INVALID_MEMORY_POOL = 40 => HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "The handle names no memory pool";
    ERROR_MEMORY_APERTURE_VIOLATION = 41 => HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, "A kernel used an address outside every aperture";
    ERROR_ILLEGAL_INSTRUCTION = 42 => HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "A kernel executed an instruction its agent does not have";
    ERROR_MEMORY_FAULT = 43 => HSA_STATUS_ERROR_MEMORY_FAULT, "A kernel used memory its agent may not touch";
    CU_MASK_REDUCED = 44 => HSA_STATUS_CU_MASK_REDUCED, "The compute unit mask was set without the units this process may not use";
    ERROR_OUT_OF_REGISTERS = 45 => HSA_STATUS_ERROR_OUT_OF_REGISTERS, "A kernel needs more vector registers than the agent has";
    ERROR_RESOURCE_BUSY = 46 => HSA_STATUS_ERROR_RESOURCE_BUSY, "The resource is in use now";
    ERROR_NOT_SUPPORTED = 47 => HSA_STATUS_ERROR_NOT_SUPPORTED, "This system cannot do what was asked";
    ERROR_XNACK_DISABLED = 48 => HSA_STATUS_ERROR_XNACK_DISABLED, "The call needs retryable page faults, which are off";
    ERROR_INVALID_DISPATCH_PARAMETERS = 49 => HSA_STATUS_ERROR_INVALID_DISPATCH_PARAMETERS, "A dispatch packet exceeds a limit of the agent";
    ERROR_RESOURCE_NOT_READY = 50 => HSA_STATUS_ERROR_RESOURCE_NOT_READY, "The resource is valid but cannot be used yet";
    EXT_ERROR_IMAGE_FORMAT_UNSUPPORTED = 0x3000 => HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED, "The agent has no images of this format";
    EXT_ERROR_IMAGE_SIZE_UNSUPPORTED = 0x3001 => HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED, "The agent has no images of this size";
    EXT_ERROR_IMAGE_PITCH_UNSUPPORTED = 0x3002 => HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED, "The agent has no images of this row or slice pitch";
    EXT_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED = 0x3003 => HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED, "The agent has no samplers like this";
    EXT_ERROR_INVALID_PROGRAM = 0x2000 => HSA_EXT_STATUS_ERROR_INVALID_PROGRAM, "The handle names no program";
    EXT_ERROR_INVALID_MODULE = 0x2001 => HSA_EXT_STATUS_ERROR_INVALID_MODULE, "The module is not valid HSAIL";
    EXT_ERROR_INCOMPATIBLE_MODULE = 0x2002 => HSA_EXT_STATUS_ERROR_INCOMPATIBLE_MODULE, "The module was made for another machine model, profile or rounding than the program";
    EXT_ERROR_MODULE_ALREADY_INCLUDED = 0x2003 => HSA_EXT_STATUS_ERROR_MODULE_ALREADY_INCLUDED, "The module is already part of the program";
    EXT_ERROR_SYMBOL_MISMATCH = 0x2004 => HSA_EXT_STATUS_ERROR_SYMBOL_MISMATCH, "Modules of the program declare a symbol in different ways";
    EXT_ERROR_FINALIZATION_FAILED = 0x2005 => HSA_EXT_STATUS_ERROR_FINALIZATION_FAILED, "The finalizer could not make code of the program";
    EXT_ERROR_DIRECTIVE_MISMATCH = 0x2006 => HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH, "The program contradicts a control directive";
}

/// A text that is known to end in its only NUL.
const fn terminated(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a status text has a NUL inside"),
    }
}

impl hsa_status_t {
    /// Whether this is `SUCCESS`.
    #[must_use]
    pub const fn is_success(self) -> bool {
        self.0 == Self::SUCCESS.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_text_that_begins_with_its_name() {
        for (name, value) in hsa_status_t::ENUM.values {
            let code = hsa_status_t(u32::try_from(*value).expect("a status code fits 32 bits"));
            let text = code.text().and_then(|text| text.to_str().ok());
            assert!(
                text.is_some_and(|text| text.starts_with(&format!("{name}: "))),
                "{name}"
            );
        }
    }

    #[test]
    fn an_unknown_code_has_no_text() {
        assert_eq!(hsa_status_t(0x1027).text(), None);
        assert_eq!(hsa_status_t(2).text(), None);
    }
}
