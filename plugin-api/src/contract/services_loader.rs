//! Services for code objects and executables.

use super::services_types::{LoadAtRequest, LoadedCodeObject, SegmentDescriptor};
use crate::interface;
use abi_stable::std_types::{RSlice, RString, RVec};

interface! {
    /// Code objects and executables.
    pub trait LoaderServices, LoaderServicesVTable, LoaderServicesVTableRef, LoaderServicesVTablePrefix,
        LoaderServicesObject, LoaderServicesRef
    {
    }
    optional {
        /// Where the host can read the same bytes. INVALID_ARGUMENT for an address outside every loaded segment.
        fn host_address(address: u64) -> u64;
        /// The segments of everything that is loaded, in the order of loading.
        fn segments() -> RVec<SegmentDescriptor>;
        /// The executable around a device address. INVALID_ARGUMENT for an address outside every loaded segment.
        fn executable_at(address: u64) -> u64;
        /// All executables, in the order in which they were made.
        fn executables() -> RVec<u64>;
        /// The code objects loaded into an executable, frozen or not. INVALID_EXECUTABLE.
        fn loaded_code_objects(executable: u64) -> RVec<u64>;
        /// What a loaded code object is. INVALID_CODE_OBJECT.
        fn loaded_code_object(code_object: u64) -> LoadedCodeObject;
        /// A reader for a part of a file. INVALID_FILE for a descriptor that cannot be read; INVALID_CODE_OBJECT for no
        /// bytes, or a start beyond the file; a part that reaches beyond the end is cut there; OUT_OF_RESOURCES.
        fn reader_from_file(descriptor: i32, offset: u64, bytes: u64) -> u64;
        /// Bytes that the reader's code object takes once loaded. INVALID_CODE_OBJECT_READER, INVALID_CODE_OBJECT.
        fn load_size(reader: u64) -> u64;
        /// Loads for an agent at an address that the program mapped. INVALID_EXECUTABLE, FROZEN_EXECUTABLE,
        /// INVALID_AGENT unless it is a GPU, INVALID_CODE_OBJECT_READER, INVALID_CODE_OBJECT, INCOMPATIBLE_ARGUMENTS;
        /// INVALID_ARGUMENT when it does not fit or the agent may not execute there; OUT_OF_RESOURCES.
        fn load_at(request: &LoadAtRequest<'_>) -> u64;
    }
    added {
        /// The name of an instruction set. INVALID_ISA.
        fn isa_name(isa: u64) -> RString;
        /// Lanes of a wavefront of an instruction set. INVALID_ISA.
        fn isa_wavefront_size(isa: u64) -> u32;
        /// A code object of its bytes, as `hsa_code_object_deserialize` makes it. INVALID_CODE_OBJECT;
        /// OUT_OF_RESOURCES.
        fn code_object(bytes: RSlice<'_, u8>) -> u64;
    }
}
