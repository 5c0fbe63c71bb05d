//! The API tables that tools patch: one function pointer for each function, found by its place.
//!
//! A table begins with its version: a major number, its size in bytes as minor number, and a step that counts the
//! functions added since the major changed. Tables grow at the end only. The members come from the rows of
//! [`api`](super::api), so that a function is written down once.

use core::ffi::{c_char, c_int, c_void};
use core::mem::offset_of;

#[allow(
    clippy::wildcard_imports,
    reason = "the rows of the tables name nearly every type of the interface"
)]
use super::*;

abi_struct! {
    /// First member of every table.
    ApiTableVersion {
        /// Number that changes when members are moved or removed; 0 for a table that is absent.
        major_id: u32,
        /// Bytes of the table.
        minor_id: u32,
        /// Number that changes when members are added.
        step_id: u32,
        /// Zero.
        reserved: u32,
    }
}

/// Declares a table from the rows of its functions.
macro_rules! define_table {
    ([$(#[$meta:meta])* $table:ident] $(($index:literal, $kind:ident, $name:ident, $field:ident,
        ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal))*) => {
        abi_struct! {
            $(#[$meta])*
            $table {
                /// Version of the table.
                version: ApiTableVersion,
                $(#[doc = $doc] $field: unsafe extern "C" fn($($arg: $ty),*) -> $ret,)*
            }
        }

        $(const _: () = assert!(offset_of!($table, $field) == 16 + 8 * $index);)*
    };
}

crate::for_each_core_api!(
    define_table[/// Functions of the standard.
    CoreApiTable]
);
crate::for_each_amd_ext_api!(
    define_table[/// Functions of AMD.
    AmdExtTable]
);
crate::for_each_finalizer_api!(
    define_table[/// Functions of the finalizer extension.
    FinalizerExtTable]
);
crate::for_each_image_api!(
    define_table[/// Functions of the image extension.
    ImageExtTable]
);
crate::for_each_pc_sampling_api!(
    define_table[/// Functions of the sampling extension.
    PcSamplingExtTable]
);

/// Declares the table of tool callbacks, which may be absent one by one.
macro_rules! define_tools_table {
    ($(($index:literal, $name:ident, $field:ident))*) => {
        abi_struct! {
            /// Callbacks that a tool fills in.
            ToolsApiTable {
                /// Version of the table.
                version: ApiTableVersion,
                $(#[doc = concat!("Called for `", stringify!($name), "`.")] $field: hsa_amd_tool_event,)*
            }
        }

        $(const _: () = assert!(offset_of!(ToolsApiTable, $field) == 16 + 8 * $index);)*
    };
}
crate::for_each_tools_api!(define_tools_table);

abi_struct! {
    /// The root: where all tables are. A pointer past the end said by the version is not there.
    HsaApiTable {
        /// Version of the root.
        version: ApiTableVersion,
        /// Functions of the standard.
        core_: *mut CoreApiTable,
        /// Functions of AMD.
        amd_ext_: *mut AmdExtTable,
        /// Functions of the finalizer extension; may be null.
        finalizer_ext_: *mut FinalizerExtTable,
        /// Functions of the image extension; may be null.
        image_ext_: *mut ImageExtTable,
        /// Callbacks of tools.
        tools_: *mut ToolsApiTable,
        /// Functions of the sampling extension; may be null.
        pc_sampling_ext_: *mut PcSamplingExtTable,
    }
}

/// Version word of a table of `size` bytes.
const fn version(major_id: u32, size: usize, step_id: u32) -> ApiTableVersion {
    assert!(size < 4096);
    #[expect(clippy::cast_possible_truncation, reason = "asserted to be small")]
    let minor_id = size as u32;
    ApiTableVersion {
        major_id,
        minor_id,
        step_id,
        reserved: 0,
    }
}

/// Version of the root.
pub const HSA_API_TABLE_VERSION: ApiTableVersion = version(3, size_of::<HsaApiTable>(), 1);
/// Version of [`CoreApiTable`].
pub const CORE_API_TABLE_VERSION: ApiTableVersion = version(2, size_of::<CoreApiTable>(), 0);
/// Version of [`AmdExtTable`].
pub const AMD_EXT_TABLE_VERSION: ApiTableVersion = version(2, size_of::<AmdExtTable>(), 0x15);
/// Version of [`FinalizerExtTable`].
pub const FINALIZER_EXT_TABLE_VERSION: ApiTableVersion = version(2, size_of::<FinalizerExtTable>(), 0);
/// Version of [`ImageExtTable`].
pub const IMAGE_EXT_TABLE_VERSION: ApiTableVersion = version(2, size_of::<ImageExtTable>(), 1);
/// Version of [`ToolsApiTable`].
pub const TOOLS_API_TABLE_VERSION: ApiTableVersion = version(1, size_of::<ToolsApiTable>(), 0);
/// Version of [`PcSamplingExtTable`].
pub const PC_SAMPLING_EXT_TABLE_VERSION: ApiTableVersion = version(1, size_of::<PcSamplingExtTable>(), 0);

const _: () = assert!(size_of::<CoreApiTable>() == 1016 && size_of::<AmdExtTable>() == 768);
const _: () = assert!(size_of::<ImageExtTable>() == 128 && size_of::<FinalizerExtTable>() == 64);
const _: () = assert!(size_of::<ToolsApiTable>() == 64 && size_of::<PcSamplingExtTable>() == 72);
const _: () = assert!(size_of::<HsaApiTable>() == 64 && offset_of!(HsaApiTable, pc_sampling_ext_) == 56);
