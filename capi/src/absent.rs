//! What a function answers whose extension is not there: `NOT_INITIALIZED` without a runtime, else one of its documented
//! errors, chosen by what it takes first. There is always a function, never NULL.

#![allow(
    clippy::wildcard_imports,
    reason = "the rows name nearly every type of the interface"
)]

use hansa_plugin_api::hsa::*;
use hansa_plugin_api::{
    for_each_amd_ext_api, for_each_finalizer_api, for_each_image_api, for_each_pc_sampling_api,
    for_each_untabled_api,
};

/// What a function can answer when it cannot do anything.
pub(crate) trait Answer {
    /// The answer for a status.
    fn of(status: hsa_status_t) -> Self;
}

impl Answer for hsa_status_t {
    fn of(status: hsa_status_t) -> Self {
        status
    }
}

/// Waits on several signals: none of them met its condition.
impl Answer for u32 {
    fn of(_: hsa_status_t) -> Self {
        Self::MAX
    }
}

fn answer<T: Answer>(absent: hsa_status_t) -> T {
    T::of(match hansa_core::current() {
        Ok(_) => absent,
        Err(error) => error.status(),
    })
}

/// The documented error of a function, by what it takes.
macro_rules! documented {
    ([AMD] $args:tt) => {
        hsa_status_t::ERROR_NOT_SUPPORTED
    };
    ([$table:ident] (program: $($rest:tt)*)) => {
        hsa_status_t::EXT_ERROR_INVALID_PROGRAM
    };
    ([$table:ident] (agent: $($rest:tt)*)) => {
        hsa_status_t::ERROR_INVALID_AGENT
    };
    ([$table:ident] $args:tt) => {
        hsa_status_t::ERROR_INVALID_ARGUMENT
    };
}

macro_rules! function {
    ($name:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $status:expr) => {
        pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            $(let _ = $arg;)*
            answer($status)
        }
    };
}

/// The version of a table that is not there.
pub(crate) const NO_VERSION: ApiTableVersion = ApiTableVersion {
    major_id: 0,
    minor_id: 0,
    step_id: 0,
    reserved: 0,
};

macro_rules! table {
    ([$table:ident, $Table:ident] $(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        $(function!($name, $args, $ret, documented!([$table] $args));)*

        /// The table of an extension that is not there: version 0.
        pub(crate) const $table: $Table = $Table {
            version: NO_VERSION,
            $($field: $name,)*
        };
    };
}

for_each_amd_ext_api!(table [AMD, AmdExtTable]);
for_each_image_api!(table [IMAGE, ImageExtTable]);
for_each_finalizer_api!(table [FINALIZER, FinalizerExtTable]);
for_each_pc_sampling_api!(table [PC_SAMPLING, PcSamplingExtTable]);

macro_rules! untabled {
    ($(($name:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal))*) => {
        /// The exported functions that are in no public table, in the form of one: an extension brings them
        /// in [`TableSlot::UNTABLED`](hansa_plugin_api::TableSlot::UNTABLED).
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct UntabledTable {
            pub(crate) version: ApiTableVersion,
            $(pub(crate) $name: unsafe extern "C" fn($($arg: $ty),*) -> $ret,)*
        }

        $(function!($name, ($($arg: $ty),*), $ret, hsa_status_t::ERROR_INVALID_AGENT);)*

        /// Version 0, as above.
        pub(crate) const UNTABLED: UntabledTable = UntabledTable {
            version: NO_VERSION,
            $($name,)*
        };
    };
}
for_each_untabled_api!(untabled);
