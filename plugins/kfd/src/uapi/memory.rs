//! Memory of devices, and attributes of shared virtual memory.

use super::{request, READ, WRITE};

/// The device's own memory.
pub const ALLOC_VRAM: u32 = 1;
/// Host memory that the kernel allocates.
pub const ALLOC_GTT: u32 = 1 << 1;
/// Host memory that the process has.
pub const ALLOC_USERPTR: u32 = 1 << 2;
/// The process's doorbells.
pub const ALLOC_DOORBELL: u32 = 1 << 3;
/// The page of remapped registers.
pub const ALLOC_MMIO_REMAP: u32 = 1 << 4;
/// Attributes differ by device.
pub const ALLOC_CONTIGUOUS: u32 = 1 << 23;
/// Coherent across devices and the host.
pub const ALLOC_EXT_COHERENT: u32 = 1 << 24;
/// Not cached.
pub const ALLOC_UNCACHED: u32 = 1 << 25;
/// Coherent at fine grain.
pub const ALLOC_COHERENT: u32 = 1 << 26;
/// Mapped twice in a row, for rings of old chips.
pub const ALLOC_AQL_QUEUE_MEM: u32 = 1 << 27;
/// This kind of memory and no other.
pub const ALLOC_NO_SUBSTITUTE: u32 = 1 << 28;
/// The host reads and writes it.
pub const ALLOC_PUBLIC: u32 = 1 << 29;
/// Code runs from it.
pub const ALLOC_EXECUTABLE: u32 = 1 << 30;
/// The device writes it.
pub const ALLOC_WRITABLE: u32 = 1 << 31;

request! {
    /// Memory to be allocated at an address.
    AllocMemoryOfGpu = 0x16, READ | WRITE, "ALLOC_MEMORY_OF_GPU", size 40 {
        /// Where devices see it.
        va_addr: u64 = 0,
        /// Bytes.
        size: u64 = 8,
        /// On return: its handle.
        handle: u64 = 16,
        /// Host memory of the process: its address. Other kinds, on return: offset for `mmap`.
        mmap_offset: u64 = 24,
        /// The device.
        gpu_id: u32 = 32,
        /// Kind and attributes.
        flags: u32 = 36,
    }
}

request! {
    /// Memory to be freed.
    FreeMemoryOfGpu = 0x17, WRITE, "FREE_MEMORY_OF_GPU", size 8 {
        /// Its handle.
        handle: u64 = 0,
    }
}

request! {
    /// Devices that are to see memory.
    MapMemoryToGpu = 0x18, READ | WRITE, "MAP_MEMORY_TO_GPU", size 24 {
        /// The memory.
        handle: u64 = 0,
        /// Words with device numbers.
        device_ids_array_ptr: u64 = 8,
        /// How many.
        n_devices: u32 = 16,
        /// Done before, and on return done.
        n_success: u32 = 20,
    }
}

request! {
    /// Devices that are to see memory no more.
    UnmapMemoryFromGpu = 0x19, READ | WRITE, "UNMAP_MEMORY_FROM_GPU", size 24 {
        /// The memory.
        handle: u64 = 0,
        /// Words with device numbers.
        device_ids_array_ptr: u64 = 8,
        /// How many.
        n_devices: u32 = 16,
        /// Done before, and on return done.
        n_success: u32 = 20,
    }
}

request! {
    /// Free memory of a device (interface 1.9).
    AvailableMemory = 0x23, READ | WRITE, "AVAILABLE_MEMORY", size 16 {
        /// Bytes.
        available: u64 = 0,
        /// The device.
        gpu_id: u32 = 8,
        /// Zero.
        pad: u32 = 12,
    }
}

/// Sets attributes.
pub const SVM_OP_SET_ATTR: u32 = 0;
/// Reads attributes.
pub const SVM_OP_GET_ATTR: u32 = 1;

request! {
    /// Attributes of a range; that many [`SvmAttribute`] follow it, and count in the number's size field.
    Svm = 0x20, READ | WRITE, "SVM", size 24 {
        /// First address.
        start_addr: u64 = 0,
        /// Bytes.
        size: u64 = 8,
        /// Set or get.
        op: u32 = 16,
        /// Attributes that follow.
        nattr: u32 = 20,
    }
}

/// One attribute of a range.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SvmAttribute {
    /// Which.
    pub kind: u32,
    /// Its value.
    pub value: u32,
}
