//! Handles of objects that devices never see: agents, regions, ISAs, executables and the like.
//!
//! A handle is a word: the kind of object in bits 63:56, so that one kind is never taken for another. Objects that live as
//! long as the runtime (agents, regions, ISAs, caches) are an index into the runtime's lists and the
//! runtime's epoch, so that a handle of an earlier runtime is stale. Objects that programs make and destroy sit
//! in a table with generations, and looking one up takes no lock.

mod table;

pub use table::Table;

/// What kind of object a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `hsa_agent_t`.
    Agent = 0x41,
    /// `hsa_region_t` and `hsa_amd_memory_pool_t`: a pool is a region.
    Region = 0x52,
    /// `hsa_isa_t`.
    Isa = 0x49,
    /// `hsa_cache_t`.
    Cache = 0x43,
    /// `hsa_wavefront_t`.
    Wavefront = 0x57,
    /// `hsa_executable_t`.
    Executable = 0x45,
    /// `hsa_executable_symbol_t`.
    Symbol = 0x53,
    /// `hsa_code_object_reader_t`.
    Reader = 0x4f,
    /// `hsa_code_object_t`.
    CodeObject = 0x44,
    /// `hsa_code_symbol_t`.
    CodeSymbol = 0x59,
    /// `hsa_loaded_code_object_t`.
    LoadedCodeObject = 0x4c,
    /// `hsa_signal_group_t`.
    SignalGroup = 0x47,
    /// `hsa_amd_vmem_alloc_handle_t`.
    VirtualMemory = 0x56,
}

const KIND_SHIFT: u32 = 56;
const EPOCH_SHIFT: u32 = 40;
const EPOCH_MASK: u64 = 0xffff;
const INDEX_MASK: u64 = (1 << 32) - 1;

/// The handle of the object at `index` of a runtime's list.
#[must_use]
pub const fn of_index(kind: Kind, epoch: u16, index: usize) -> u64 {
    ((kind as u64) << KIND_SHIFT) | ((epoch as u64) << EPOCH_SHIFT) | ((index as u64 + 1) & INDEX_MASK)
}

/// The index in a handle, if it is of this kind and epoch.
#[inline]
#[must_use]
pub fn index(handle: u64, kind: Kind, epoch: u16) -> Option<usize> {
    let same = handle & !INDEX_MASK == ((kind as u64) << KIND_SHIFT) | (u64::from(epoch) << EPOCH_SHIFT);
    if !same {
        return None;
    }
    usize::try_from(handle & INDEX_MASK).ok()?.checked_sub(1)
}

/// The epoch in a handle made by [`of_index`].
#[must_use]
pub const fn epoch(handle: u64) -> u64 {
    (handle >> EPOCH_SHIFT) & EPOCH_MASK
}

/// The handle of what a small number names in every runtime.
#[must_use]
pub const fn of_code(kind: Kind, code: u64) -> u64 {
    ((kind as u64) << KIND_SHIFT) | code
}

/// The number in a handle made by [`of_code`], if it is of this kind.
#[must_use]
pub const fn code(handle: u64, kind: Kind) -> Option<u64> {
    if handle >> KIND_SHIFT == kind as u64 {
        Some(handle & ((1 << KIND_SHIFT) - 1))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_names_one_kind_of_one_epoch() {
        let handle = of_index(Kind::Agent, 7, 3);
        assert_eq!(index(handle, Kind::Agent, 7), Some(3));
        assert_eq!(index(handle, Kind::Agent, 8), None);
        assert_eq!(index(handle, Kind::Region, 7), None);
        for garbage in [0, 1, u64::MAX, 0x7f00_0000_1000] {
            assert_eq!(index(garbage, Kind::Agent, 7), None);
        }
    }
}
