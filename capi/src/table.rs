//! The tables of functions: the public ones, which the symbols jump through and tools patch.
//!
//! They are static, so that a program can call before `hsa_init` and after `hsa_shut_down`. The standard's table is
//! complete from the start; those of extensions hold [`absent`](crate::absent) functions until the runtime starts,
//! get the extensions' functions then, and are put back, with all that tools patched, when it stops.

#![allow(
    clippy::wildcard_imports,
    reason = "the rows name nearly every type of the interface"
)]

use crate::absent::{self, UntabledTable};
use crate::api;
use hansa_core::plugin::LoadedExtension;
use hansa_plugin_api::hsa::api::{self as rows, Api};
use hansa_plugin_api::hsa::*;
use hansa_plugin_api::{for_each_core_api, for_each_tools_api, ExtensionTable, TableSlot};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Words of a table that are its version, not functions.
const VERSION_WORDS: usize = size_of::<ApiTableVersion>() / size_of::<usize>();

/// A table that anybody may read and patch, word by word.
#[repr(transparent)]
pub(crate) struct Table<T>(UnsafeCell<T>);

// SAFETY: words of it are read and written one at a time, as hardware does; there is no other access.
unsafe impl<T> Sync for Table<T> {}

impl<T> Table<T> {
    /// A table that holds this to begin with.
    pub(crate) const fn new(table: T) -> Self {
        Self(UnsafeCell::new(table))
    }

    /// Its address, for tools.
    pub(crate) const fn pointer(&self) -> *mut T {
        self.0.get()
    }

    /// The address of a member.
    #[inline(always)]
    pub(crate) fn member<F>(&self, member: impl FnOnce(*const T) -> *const F) -> *const F {
        member(self.0.get())
    }

    /// Its words, as many as the first `bytes` bytes have.
    fn words(&self, bytes: usize) -> &[AtomicUsize] {
        let count = bytes.min(size_of::<T>()) / size_of::<usize>();
        // SAFETY: the table is static, made of whole aligned words, and only read and written by words.
        unsafe { std::slice::from_raw_parts(self.0.get().cast(), count) }
    }

    /// Replaces all of it.
    fn set(&self, table: &T) {
        for (word, new) in self.words(usize::MAX).iter().zip(Self::view(table)) {
            word.store(*new, Ordering::Relaxed);
        }
    }

    /// Moves the functions into another table and puts these in their place. The version stays.
    pub(crate) fn wrap(&self, inner: &Self, outer: &T) {
        let outer = Self::view(outer);
        let words = self
            .words(usize::MAX)
            .iter()
            .zip(inner.words(usize::MAX))
            .zip(outer);
        for ((word, inner), &outer) in words.skip(VERSION_WORDS) {
            inner.store(word.load(Ordering::Relaxed), Ordering::Relaxed);
            word.store(outer, Ordering::Relaxed);
        }
    }

    /// The words of a table that nobody changes.
    fn view(table: &T) -> &[usize] {
        // SAFETY: tables are made of whole aligned words.
        unsafe {
            std::slice::from_raw_parts(
                std::ptr::from_ref(table).cast(),
                size_of::<T>() / size_of::<usize>(),
            )
        }
    }

    /// Takes the functions of an extension's table; where that has none, because it is older or leaves them out, what
    /// is here stays.
    fn take(&self, version: ApiTableVersion, given: &ExtensionTable) {
        let words = self.words(given.bytes as usize);
        // SAFETY: the extension says that its table has `bytes` bytes, and keeps it in place.
        let functions = unsafe { std::slice::from_raw_parts(given.table.cast::<usize>(), words.len()) };
        for (word, &function) in words.iter().zip(functions).skip(VERSION_WORDS) {
            if function != 0 {
                word.store(function, Ordering::Relaxed);
            }
        }
        // SAFETY: the version is the first member; tools look at it once the runtime has started.
        unsafe { self.0.get().cast::<ApiTableVersion>().write_volatile(version) };
    }

    /// Takes what extensions bring for this table; tables only for queries, and those of a later interface, are for none.
    fn take_all(&self, slot: TableSlot, version: ApiTableVersion, extensions: &[LoadedExtension]) {
        let tables = extensions.iter().flat_map(|extension| &extension.tables);
        for given in tables.filter(|given| given.slot == slot) {
            self.take(version, given);
        }
    }

    /// Numbers of the functions that are still those of `original`.
    fn unchanged(&self, original: &T) -> impl Iterator<Item = usize> {
        let now: Vec<usize> = self
            .words(usize::MAX)
            .iter()
            .map(|w| w.load(Ordering::Relaxed))
            .collect();
        let original = Self::view(original);
        let same: Vec<usize> = (VERSION_WORDS..now.len())
            .filter(|&i| now[i] == original[i])
            .map(|i| i - VERSION_WORDS)
            .collect();
        same.into_iter()
    }
}

macro_rules! core_table {
    ($(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        pub(crate) const CORE_FUNCTIONS: CoreApiTable = CoreApiTable {
            version: CORE_API_TABLE_VERSION,
            $($field: api::$name,)*
        };
    };
}
for_each_core_api!(core_table);

macro_rules! tools_table {
    ($(($index:literal, $name:ident, $field:ident))*) => {
        const NO_TOOLS: ToolsApiTable = ToolsApiTable {
            version: TOOLS_API_TABLE_VERSION,
            $($field: None,)*
        };
    };
}
for_each_tools_api!(tools_table);

/// Functions of the standard.
pub(crate) static CORE: Table<CoreApiTable> = Table::new(CORE_FUNCTIONS);
/// Functions of AMD.
pub(crate) static AMD: Table<AmdExtTable> = Table::new(absent::AMD);
/// Functions for images.
pub(crate) static IMAGE: Table<ImageExtTable> = Table::new(absent::IMAGE);
/// Functions of the finalizer.
pub(crate) static FINALIZER: Table<FinalizerExtTable> = Table::new(absent::FINALIZER);
/// Functions for sampling program counters.
pub(crate) static PC_SAMPLING: Table<PcSamplingExtTable> = Table::new(absent::PC_SAMPLING);
/// Exported functions in no public table.
pub(crate) static UNTABLED: Table<UntabledTable> = Table::new(absent::UNTABLED);
/// Callbacks of tools.
pub(crate) static TOOLS: Table<ToolsApiTable> = Table::new(NO_TOOLS);

const ROOT_TABLE: HsaApiTable = HsaApiTable {
    version: HSA_API_TABLE_VERSION,
    core_: CORE.pointer(),
    amd_ext_: AMD.pointer(),
    finalizer_ext_: FINALIZER.pointer(),
    image_ext_: IMAGE.pointer(),
    tools_: TOOLS.pointer(),
    pc_sampling_ext_: PC_SAMPLING.pointer(),
};

/// The root: what a tool is given.
pub(crate) static ROOT: Table<HsaApiTable> = Table::new(ROOT_TABLE);

/// Puts the functions of the runtime's extensions into the tables.
pub(crate) fn install(extensions: &[LoadedExtension]) {
    AMD.take_all(TableSlot::AMD, AMD_EXT_TABLE_VERSION, extensions);
    IMAGE.take_all(TableSlot::IMAGE, IMAGE_EXT_TABLE_VERSION, extensions);
    FINALIZER.take_all(TableSlot::FINALIZER, FINALIZER_EXT_TABLE_VERSION, extensions);
    PC_SAMPLING.take_all(TableSlot::PC_SAMPLING, PC_SAMPLING_EXT_TABLE_VERSION, extensions);
    UNTABLED.take_all(TableSlot::UNTABLED, UNTABLED_VERSION, extensions);
}

/// Nobody sees this one.
const UNTABLED_VERSION: ApiTableVersion = ApiTableVersion {
    major_id: 1,
    ..absent::UNTABLED.version
};

/// What is in the tables that tools are given, to put it back.
#[derive(Debug)]
pub(crate) struct Snapshot(Vec<Vec<usize>>);

impl Snapshot {
    /// The tables as they are.
    pub(crate) fn take() -> Self {
        let copy = |words: &[AtomicUsize]| words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        Self(patched().into_iter().map(copy).collect())
    }

    /// Makes the tables what they were.
    pub(crate) fn restore(&self) {
        for (words, old) in patched().into_iter().zip(&self.0) {
            for (word, &old) in words.iter().zip(old) {
                word.store(old, Ordering::Relaxed);
            }
        }
    }
}

/// The words of every table that a tool can get at.
fn patched() -> [&'static [AtomicUsize]; 7] {
    let all = usize::MAX;
    [
        CORE.words(all),
        AMD.words(all),
        IMAGE.words(all),
        FINALIZER.words(all),
        PC_SAMPLING.words(all),
        TOOLS.words(all),
        ROOT.words(all),
    ]
}

/// Puts every table back to what it was before the runtime started.
pub(crate) fn reset() {
    CORE.set(&CORE_FUNCTIONS);
    AMD.set(&absent::AMD);
    IMAGE.set(&absent::IMAGE);
    FINALIZER.set(&absent::FINALIZER);
    PC_SAMPLING.set(&absent::PC_SAMPLING);
    UNTABLED.set(&absent::UNTABLED);
    TOOLS.set(&NO_TOOLS);
    ROOT.set(&ROOT_TABLE);
}

/// The exported functions that none of these extensions brings: those that can only answer with an error. The public
/// tables do not say it, for a trace and tools may have patched every member.
pub(crate) fn missing(extensions: &[LoadedExtension]) -> Vec<&'static str> {
    fn left<T: Copy>(slot: TableSlot, absent: &T, extensions: &[LoadedExtension]) -> Vec<usize> {
        let table = Table::new(*absent);
        table.take_all(slot, absent::NO_VERSION, extensions);
        table.unchanged(absent).collect()
    }
    let exported = |apis: &'static [Api], indexes: Vec<usize>| {
        let apis = indexes.into_iter().filter_map(|i| apis.get(i));
        apis.filter(|api| api.exported).map(|api| api.name)
    };
    let amd = left(TableSlot::AMD, &absent::AMD, extensions);
    let image = left(TableSlot::IMAGE, &absent::IMAGE, extensions);
    let finalizer = left(TableSlot::FINALIZER, &absent::FINALIZER, extensions);
    let pc_sampling = left(TableSlot::PC_SAMPLING, &absent::PC_SAMPLING, extensions);
    let untabled = left(TableSlot::UNTABLED, &absent::UNTABLED, extensions);
    exported(rows::AMD_EXT, amd)
        .chain(exported(rows::IMAGE, image))
        .chain(exported(rows::FINALIZER, finalizer))
        .chain(exported(rows::PC_SAMPLING, pc_sampling))
        .chain(
            untabled
                .into_iter()
                .filter_map(|i| rows::UNTABLED.get(i).copied()),
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export;
    use std::sync::atomic::AtomicU32;

    static CALLS: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C" fn counting(_: hsa_signal_t) -> hsa_signal_value_t {
        i64::from(CALLS.fetch_add(1, Ordering::Relaxed)) + 100
    }

    #[test]
    fn what_a_tool_puts_into_the_table_is_what_the_symbol_calls() {
        let nothing = hsa_signal_t { handle: 0 };
        // SAFETY: a handle that is no signal reads as 0.
        assert_eq!(unsafe { export::hsa_signal_load_relaxed(nothing) }, 0);
        // SAFETY: the root is static.
        let core = unsafe { (*ROOT.pointer()).core_ };
        // SAFETY: so is the table that it names.
        let slot = unsafe { &raw mut (*core).hsa_signal_load_relaxed_fn };
        // SAFETY: a tool patches like this.
        unsafe { slot.write_volatile(counting) };
        // SAFETY: as above.
        assert_eq!(unsafe { export::hsa_signal_load_relaxed(nothing) }, 100);
        reset();
        // SAFETY: as above.
        assert_eq!(unsafe { export::hsa_signal_load_relaxed(nothing) }, 0);
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn without_extensions_all_of_theirs_is_missing_and_nothing_of_the_standard() {
        let names = missing(&[]);
        // 90 + 14 + 6 + 7 + 5, see `hansa_plugin_api::hsa::api`.
        assert_eq!(names.len(), 122);
        assert!(names.contains(&"hsa_amd_memory_pool_allocate") && !names.contains(&"hsa_init"));
    }

    #[test]
    fn what_a_tool_puts_in_place_of_a_missing_function_does_not_bring_it() {
        unsafe extern "C" fn destroy(_: hsa_ext_program_t) -> hsa_status_t {
            hsa_status_t(0x77)
        }
        // SAFETY: the table is static.
        let slot = unsafe { &raw mut (*FINALIZER.pointer()).hsa_ext_program_destroy_fn };
        // SAFETY: a tool patches like this.
        let before = unsafe { slot.read_volatile() };
        // SAFETY: as above.
        unsafe { slot.write_volatile(destroy) };
        let names = missing(&[]);
        // SAFETY: as above.
        unsafe { slot.write_volatile(before) };
        assert!(names.contains(&"hsa_ext_program_destroy"));
    }

    #[test]
    fn an_older_extension_leaves_what_it_does_not_have() {
        unsafe extern "C" fn destroy(_: hsa_ext_program_t) -> hsa_status_t {
            hsa_status_t(0x77)
        }
        let table = Table::new(absent::FINALIZER);
        // The version, a hole, and one function.
        let words = [0, 0, 0, destroy as *const () as usize];
        let given = ExtensionTable {
            slot: TableSlot::FINALIZER,
            id: 0,
            name: "older".into(),
            major: 1,
            minor: 0,
            bytes: 32,
            table: words.as_ptr().cast(),
            bytes_at_minor: [32u32].into_iter().collect(),
        };
        table.take(FINALIZER_EXT_TABLE_VERSION, &given);
        let all: Vec<usize> = (0..6).collect();
        let left: Vec<usize> = table.unchanged(&absent::FINALIZER).collect();
        assert_eq!(left, all.into_iter().filter(|&i| i != 1).collect::<Vec<_>>());
        // SAFETY: the version is the first member.
        let version = unsafe { table.pointer().cast::<ApiTableVersion>().read() };
        assert_eq!((version.major_id, version.minor_id), (2, 64));
    }
}
