//! Extensions: tables of C functions by HSA extension.

use super::services_types::ImageRequest;
use crate::interface;
use abi_stable::std_types::{RString, RVec};
use abi_stable::StableAbi;

/// Which table of the runtime an extension fills.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct TableSlot(pub u32);

impl TableSlot {
    /// A table only for `hsa_system_get_major_extension_table`.
    pub const NONE: Self = Self(0);
    /// `AmdExtTable`: the exported `hsa_amd_*`.
    pub const AMD: Self = Self(1);
    /// `ImageExtTable`: the exported `hsa_ext_image_*` and `hsa_ext_sampler_*`.
    pub const IMAGE: Self = Self(2);
    /// `FinalizerExtTable`: the exported `hsa_ext_program_*`.
    pub const FINALIZER: Self = Self(3);
    /// `PcSamplingExtTable`: the exported `hsa_ven_amd_pcs_*`.
    pub const PC_SAMPLING: Self = Self(4);
    /// The exported functions that are in none of the tables, as a table of their own: a version word of 16 bytes, then
    /// the functions in the order of [`UNTABLED`](crate::hsa::api::UNTABLED).
    pub const UNTABLED: Self = Self(5);
}

/// One table of C functions.
#[repr(C)]
#[derive(Clone, Debug, StableAbi)]
pub struct ExtensionTable {
    /// The table of the runtime it fills, whose layout it then has.
    pub slot: TableSlot,
    /// HSA extension id, or `u32::MAX` for one that is known by name only.
    pub id: u32,
    /// Name, as `hsa_extension_get_name` gives it.
    pub name: RString,
    /// Major version.
    pub major: u16,
    /// Highest minor version.
    pub minor: u16,
    /// Bytes of the table.
    pub bytes: u32,
    /// The table; it lives as long as the extension.
    pub table: *const (),
    /// Bytes of the table at each minor version from 0, for callers that ask for an older one.
    pub bytes_at_minor: RVec<u32>,
}

// SAFETY: the table is constant for as long as the extension lives.
unsafe impl Send for ExtensionTable {}
// SAFETY: as above.
unsafe impl Sync for ExtensionTable {}

interface! {
    /// An extension module.
    pub trait Extension, ExtensionVTable, ExtensionVTableRef, ExtensionVTablePrefix, ExtensionObject, ExtensionRef {
        /// The tables it provides. Called once.
        fn tables() -> RVec<ExtensionTable>;
        /// The last `hsa_shut_down` is running: stop threads, let go of runtime objects.
        fn shut_down() -> ();
    }
    optional {
    }
    added {
        /// The value of an attribute that it brings to `hsa_agent_get_info`, as that writes it; NOT_SUPPORTED for every
        /// other attribute. INVALID_AGENT.
        fn agent_attribute(agent: u64, attribute: u32) -> RVec<u8>;
        /// Makes an image from a vendor's own description, whose pointers the caller has checked for NULL; NOT_SUPPORTED
        /// unless it has images. The statuses are those of `RuntimeServices::image_create`.
        fn image_create(request: &ImageRequest) -> u64;
    }
}
