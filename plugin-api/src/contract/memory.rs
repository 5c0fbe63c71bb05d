//! Memory requests: allocate, map, register, share.

use super::description::flag_word;
use abi_stable::std_types::{RSlice, RVec};
use abi_stable::StableAbi;

/// A driver's name for an allocation or a registration. It means something only to the driver that gave it;
/// the runtime keeps the owner beside it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct MemoryHandle(pub u64);

flag_word! {
    /// How memory is to be allocated or mapped.
    pub struct AllocFlags: u32 {
        /// Code may run from it.
        const EXECUTABLE = 1;
        /// Coherent at fine grain.
        const FINE_GRAIN = 1 << 1;
        /// Not cached by the device.
        const UNCACHED = 1 << 2;
        /// Physically contiguous.
        const CONTIGUOUS = 1 << 3;
        /// Address range only; pages come by [`Driver::map_at`](crate::Driver::map_at).
        const ADDRESS_ONLY = 1 << 4;
        /// Pages only; an address comes by [`Driver::map_at`](crate::Driver::map_at).
        const MEMORY_ONLY = 1 << 5;
        /// The host will read and write it.
        const HOST_ACCESS = 1 << 6;
        /// Will be shared with another process.
        const SHARED = 1 << 7;
        /// Read only for the device.
        const READ_ONLY = 1 << 8;
        /// Private memory of waves (scratch).
        const SCRATCH = 1 << 9;
        /// Host memory that is registered may lie at an address of the device's own, which is the answer's.
        const OWN_ADDRESS = 1 << 10;
        /// Stays at its address until the process ends: a driver that is opened again knows it, and nodes see it, still. Asked
        /// only of a driver that gives host memory ([`DriverGroups::HOST_MEMORY`](crate::DriverGroups::HOST_MEMORY)).
        const LASTING = 1 << 11;
        /// Host memory that is registered may be replaced by the driver's own at the same address: nobody uses it until the
        /// call returns, nor while it is deregistered, and what is in it need not stay either time (minor 2).
        const DISPOSABLE = 1 << 12;
    }
}

/// A request for memory of a node's bank.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct AllocRequest {
    /// The driver's node.
    pub node: u32,
    /// Index into the node's banks.
    pub bank: u32,
    /// Bytes, a multiple of the bank's granule.
    pub bytes: u64,
    /// Alignment in bytes, a power of two of at least the page size.
    pub alignment: u64,
    /// Where it should lie, or 0.
    pub address: u64,
    /// How it is to be allocated.
    pub flags: AllocFlags,
    /// Zero.
    pub reserved: u32,
}

/// Memory that a driver gave out.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct Allocation {
    /// The driver's name for it.
    pub handle: MemoryHandle,
    /// Where the device sees it.
    pub device_address: u64,
    /// Where the host sees it, or 0.
    pub host_address: u64,
    /// Bytes, at least those asked for.
    pub bytes: u64,
}

/// A request to let nodes see an allocation.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct MapRequest<'a> {
    /// The allocation or registration.
    pub handle: MemoryHandle,
    /// The nodes, by the driver's numbers.
    pub nodes: RSlice<'a, u32>,
    /// How they see it.
    pub flags: AllocFlags,
    /// Zero.
    pub reserved: u32,
}

/// A request to let nodes see host memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct HostMemoryRequest<'a> {
    /// Start of the host range, page aligned.
    pub address: u64,
    /// Bytes, whole pages.
    pub bytes: u64,
    /// The nodes, by the driver's numbers.
    pub nodes: RSlice<'a, u32>,
    /// How they see it.
    pub flags: AllocFlags,
    /// Zero.
    pub reserved: u32,
}

/// How memory is named to another process.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct ExportKind(pub u32);

impl ExportKind {
    /// A dma-buf file descriptor, in `words[0]`. An export gives it away; an import borrows it.
    pub const DMA_BUF: Self = Self(0);
    /// Eight words for another process of the same driver.
    pub const IPC: Self = Self(1);
    /// An id across hosts of one fabric.
    pub const FABRIC: Self = Self(2);
}

/// A name for memory that another process, or another driver, can use.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct SharedHandle {
    /// What the words are.
    pub kind: ExportKind,
    /// Zero.
    pub reserved: u32,
    /// Offset of the memory inside what is shared.
    pub offset: u64,
    /// The name.
    pub words: [u32; 8],
}

/// A request to take memory that another process exported.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct ImportRequest<'a> {
    /// The name.
    pub shared: SharedHandle,
    /// Bytes, or 0 for all.
    pub bytes: u64,
    /// The nodes that see it.
    pub nodes: RSlice<'a, u32>,
}

/// An attribute of a range of shared virtual memory, with HSA's numbers (`hsa_amd_svm_attribute_t`).
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq, StableAbi)]
pub struct SvmAttribute {
    /// Which.
    pub attribute: u64,
    /// Its value.
    pub value: u64,
    /// Nodes that the attribute names, if it names any. For a location that is none of the driver's nodes the list is
    /// empty, and the value is 1 for the host and 0 for nowhere.
    pub nodes: RVec<u32>,
}
