//! The functions of the interface as rows: each is written down here and nowhere else.
//!
//! A `for_each_*` macro invokes a macro of yours once with all rows of a table, in the order of the members of that
//! table. A row of a table is
//!
//! ```text
//! (index, kind, name, name_fn, (argument: Type, ...), Ret, "what it does")
//! ```
//!
//! `kind` is `exported` for a symbol of the library and `table_only` for a function that is reached through the table
//! alone. The types are those of [`hsa`](super), which must be in scope, and so must `c_char`, `c_int` and `c_void`.
//! Tokens in brackets after the name of your macro are handed to it in brackets before the rows:
//!
//! ```
//! use hansa_plugin_api::for_each_core_api;
//!
//! macro_rules! names {
//!     ([$list:ident] $(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
//!         const $list: &[&str] = &[$(stringify!($name)),*];
//!     };
//! }
//! for_each_core_api!(names [CORE]);
//! assert_eq!(CORE.len(), 125);
//! assert_eq!(CORE[7], "hsa_queue_create");
//! ```
//!
//! The symbols of the library, each a jump through a table that tools may patch, are one macro; a member that is no
//! symbol falls out by its kind:
//!
//! ```
//! use std::sync::atomic::{AtomicPtr, Ordering};
//!
//! use hansa_plugin_api::hsa::*;
//!
//! static AMD_TABLE: AtomicPtr<AmdExtTable> = AtomicPtr::new(std::ptr::null_mut());
//!
//! macro_rules! trampolines {
//!     ([$table:ident] $(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
//!         $(trampolines!(@$kind $table, $name, $field, $args, $ret, $doc);)*
//!     };
//!     (@exported $table:ident, $name:ident, $field:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal) => {
//!         #[doc = $doc]
//!         pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
//!             // SAFETY: the table is there from before the first call until the process ends.
//!             let function = unsafe { (*$table.load(Ordering::Acquire)).$field };
//!             // SAFETY: the caller keeps the rules of the function.
//!             unsafe { function($($arg),*) }
//!         }
//!     };
//!     (@table_only $($rest:tt)*) => {};
//! }
//! hansa_plugin_api::for_each_amd_ext_api!(trampolines [AMD_TABLE]);
//! let _ = hsa_amd_memory_fill;
//! ```
//!
//! | macro | rows | symbols |
//! |---|---|---|
//! | `for_each_core_api` | 125 | 125 |
//! | `for_each_alias` | 34 | 34 |
//! | `for_each_amd_ext_api` | 94 | 90 |
//! | `for_each_image_api` | 14 | 14 |
//! | `for_each_finalizer_api` | 6 | 6 |
//! | `for_each_pc_sampling_api` | 7 | 7 |
//! | `for_each_untabled_api` | 5 | 5 |
//! | `for_each_tools_api` | 6 | none |
//! | `for_each_loader_api` | 9 | none |
//! | `for_each_aqlprofile_api` | 13 | none |
//!
//! With the data symbol `_amdgpu_r_debug` these are the 282 symbols of the library.

mod amd;
mod ext;
mod other;
mod standard;

/// Lists the symbols among the rows of a table.
macro_rules! exported_names {
    ([$list:ident, $doc:literal] $(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $text:literal))*) => {
        #[doc = $doc]
        pub const $list: &[Api] = &[$(Api { name: stringify!($name), exported: exported_names!(@$kind) }),*];
    };
    (@exported) => { true };
    (@table_only) => { false };
}

/// Lists the deprecated names.
macro_rules! alias_names {
    ($(($name:ident, $target:ident, $args:tt, $ret:ty))*) => {
        /// Deprecated names and what each stands for.
        pub const ALIASES: &[(&str, &str)] = &[$((stringify!($name), stringify!($target))),*];
    };
}

/// Lists the functions in no table.
macro_rules! untabled_names {
    ($(($name:ident, $args:tt, $ret:ty, $text:literal))*) => {
        /// Functions that are exported and in no table.
        pub const UNTABLED: &[&str] = &[$(stringify!($name)),*];
    };
}

/// A member of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// Name of the function.
    pub name: &'static str,
    /// Whether the library exports it.
    pub exported: bool,
}

crate::for_each_core_api!(exported_names [CORE, "Members of `CoreApiTable`, in order."]);
crate::for_each_amd_ext_api!(exported_names [AMD_EXT, "Members of `AmdExtTable`, in order."]);
crate::for_each_image_api!(exported_names [IMAGE, "Members of `ImageExtTable`, in order."]);
crate::for_each_finalizer_api!(exported_names [FINALIZER, "Members of `FinalizerExtTable`, in order."]);
crate::for_each_pc_sampling_api!(exported_names [PC_SAMPLING, "Members of `PcSamplingExtTable`, in order."]);
crate::for_each_loader_api!(exported_names [LOADER, "Functions of the loader extension, in order."]);
crate::for_each_aqlprofile_api!(exported_names [AQLPROFILE, "Functions of the aqlprofile library, in order."]);
crate::for_each_alias!(alias_names);
crate::for_each_untabled_api!(untabled_names);

/// The one data symbol of the library: a `struct r_debug` for debuggers.
pub const DEBUG_SYMBOL: &str = "_amdgpu_r_debug";

/// Version node of every symbol.
pub const SYMBOL_VERSION: &str = "ROCR_1";

/// Names of all functions that the library exports.
pub fn exported_functions() -> impl Iterator<Item = &'static str> {
    [CORE, AMD_EXT, IMAGE, FINALIZER, PC_SAMPLING]
        .into_iter()
        .flatten()
        .filter(|api| api.exported)
        .map(|api| api.name)
        .chain(ALIASES.iter().map(|(name, _)| *name))
        .chain(UNTABLED.iter().copied())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn two_hundred_and_eighty_one_functions_are_exported_under_different_names() {
        assert_eq!(exported_functions().count(), 281);
        assert_eq!(exported_functions().collect::<BTreeSet<_>>().len(), 281);
    }

    #[test]
    fn tables_have_the_members_of_the_published_versions() {
        let members = [CORE, AMD_EXT, IMAGE, FINALIZER, PC_SAMPLING, LOADER, AQLPROFILE].map(<[Api]>::len);
        assert_eq!(members, [125, 94, 14, 6, 7, 9, 13]);
        assert_eq!((ALIASES.len(), UNTABLED.len()), (34, 5));
    }

    #[test]
    fn an_alias_is_the_ordering_spelled_the_old_way() {
        for (alias, target) in ALIASES {
            let expected = alias
                .strip_suffix("_acq_rel")
                .map(|base| format!("{base}_scacq_screl"))
                .or_else(|| {
                    alias
                        .strip_suffix("_acquire")
                        .map(|base| format!("{base}_scacquire"))
                })
                .or_else(|| {
                    alias
                        .strip_suffix("_release")
                        .map(|base| format!("{base}_screlease"))
                });
            assert_eq!(expected.as_deref(), Some(*target), "{alias}");
            assert!(CORE.iter().any(|api| api.name == *target), "{target}");
        }
    }
}
