//! The symbols of the library.
//!
//! Each function of the tables has a trampoline that loads the pointer from the public table and calls it, so that a tool
//! that patches the table changes what everybody gets. The symbol is an assembler alias of the trampoline: that way it
//! is not in Rust's own list of exports and can carry the version node `ROCR_1` (see `build.rs`). An alias and
//! what it stands for must be in one object, hence `codegen-units = 1` for this crate.

#![allow(
    clippy::wildcard_imports,
    reason = "the rows name nearly every type of the interface"
)]

use crate::table;
use hansa_plugin_api::hsa::*;
use hansa_plugin_api::{
    for_each_alias, for_each_amd_ext_api, for_each_core_api, for_each_finalizer_api, for_each_image_api,
    for_each_pc_sampling_api, for_each_untabled_api,
};

/// Gives a symbol a global name.
macro_rules! export {
    ($name:ident, $symbol:path) => {
        core::arch::global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".set ", stringify!($name), ", {target}"),
            target = sym $symbol,
        );
    };
}

/// A trampoline and its symbol.
macro_rules! trampoline {
    (exported, $table:ident, $name:ident, $field:ident, ($($arg:ident: $ty:ty),*), $ret:ty) => {
        pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            let slot = table::$table.member(|table| {
                // SAFETY: the pointer is that of a static table.
                unsafe { &raw const (*table).$field }
            });
            // SAFETY: the slot is aligned and always holds a function. A tool may replace it at any time; the load is
            // one instruction, so it sees the old or the new function.
            let function = unsafe { slot.read_volatile() };
            // SAFETY: what the caller promised for this function holds for the one in the table.
            unsafe { function($($arg),*) }
        }
        export!($name, $name);
    };
    (table_only, $($rest:tt)*) => {};
}

macro_rules! trampolines {
    ([$table:ident] $(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        $(trampoline!($kind, $table, $name, $field, $args, $ret);)*
    };
}

for_each_core_api!(trampolines[CORE]);
for_each_amd_ext_api!(trampolines[AMD]);
for_each_image_api!(trampolines[IMAGE]);
for_each_finalizer_api!(trampolines[FINALIZER]);
for_each_pc_sampling_api!(trampolines[PC_SAMPLING]);

macro_rules! untabled {
    ($(($name:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        $(trampoline!(exported, UNTABLED, $name, $name, $args, $ret);)*
    };
}
for_each_untabled_api!(untabled);

macro_rules! aliases {
    ($(($name:ident, $target:ident, $args:tt, $ret:ty))*) => {
        $(export!($name, $target);)*
    };
}
for_each_alias!(aliases);
export!(_amdgpu_r_debug, crate::debugger::R_DEBUG);
