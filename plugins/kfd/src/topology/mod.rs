//! The machine as the kernel describes it in `/sys/devices/virtual/kfd/kfd/topology`.
//!
//! `generation_id` counts changes; a snapshot is good when it is the same before and after. `nodes/N` has `gpu_id`
//! (0 for processors; unreadable when a device cgroup hides the GPU), `name`, `properties`, and directories of
//! `mem_banks`, `caches`, `io_links` and, on newer kernels, `p2p_links`.
//!
//! Nothing here trusts a file. A node that cannot be read is left out with a reason; one whose numbers cannot be
//! is left out when something would divide by them. Counts in `properties` are not believed: the directories are.

mod numbers;
mod properties;
mod snapshot;

pub use numbers::{DoorbellKind, Numbers};
pub use properties::Properties;
pub use snapshot::Topology;

use hansa_plugin_api::sys::Errno;

/// Where the kernel has it.
pub const ROOT: &str = "/sys/devices/virtual/kfd/kfd/topology";

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kernel's number of the node.
    pub number: u32,
    /// The kernel's number of the device; 0 for processors.
    pub gpu_id: u32,
    /// The kernel's name, such as `vega20` or `ip discovery`; empty for processors and on old kernels.
    pub name: String,
    /// Its numbers.
    pub properties: Properties,
    /// Memory.
    pub banks: Vec<Bank>,
    /// Caches.
    pub caches: Vec<Cache>,
    /// Ways that start here.
    pub links: Vec<Link>,
}

impl Node {
    /// Whether it has compute units.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.gpu_id != 0 && self.properties.get("simd_count") != 0
    }

    /// Whether it has processors of the host.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.properties.get("cpu_cores_count") != 0
    }
}

/// A node that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The kernel's number of the node.
    pub number: u32,
    /// Which file told it, and how.
    pub reason: String,
    /// The system's number, when a file could not be read.
    pub errno: Option<Errno>,
}

/// Kind of a memory bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heap {
    /// The host's.
    System,
    /// The device's, and the host sees all of it.
    Public,
    /// The device's, and the host sees none of it.
    Private,
    /// Anything else (group memory, private memory, registers).
    Other(u32),
}

/// Memory of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    /// Kind.
    pub heap: Heap,
    /// Bytes.
    pub bytes: u64,
    /// Width of the bus in bits.
    pub width: u32,
    /// Highest clock in MHz.
    pub clock_mhz: u32,
}

/// Bits of [`Cache::kind`].
pub mod cache_kind {
    /// Data.
    pub const DATA: u32 = 1;
    /// Instructions.
    pub const INSTRUCTION: u32 = 1 << 1;
    /// Of a processor of the host.
    pub const CPU: u32 = 1 << 2;
    /// Of compute units.
    pub const COMPUTE: u32 = 1 << 3;
}

/// A cache of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// First compute unit (or processor) that uses it.
    pub processor: u32,
    /// Level, from 1.
    pub level: u32,
    /// KiB.
    pub kib: u32,
    /// Bytes of a line, or 0 when the kernel does not know.
    pub line_bytes: u32,
    /// See [`cache_kind`].
    pub kind: u32,
}

/// Bits of [`Link::flags`].
pub mod link_flag {
    /// The other bits count.
    pub const OVERRIDE: u32 = 1;
    /// Not coherent.
    pub const NON_COHERENT: u32 = 1 << 1;
    /// No 32-bit atomics.
    pub const NO_ATOMICS_32: u32 = 1 << 2;
    /// No 64-bit atomics.
    pub const NO_ATOMICS_64: u32 = 1 << 3;
    /// Devices cannot reach each other over it.
    pub const NO_PEER: u32 = 1 << 4;
}

/// A way to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The kernel's number of the node it ends at.
    pub to: u32,
    /// The kernel's kind: 1 HyperTransport, 2 PCI Express, 4 to 10 others, 11 xGMI.
    pub kind: u32,
    /// Distance.
    pub weight: u32,
    /// Nanoseconds.
    pub latency_ns: (u32, u32),
    /// MB/s.
    pub bandwidth_mbs: (u32, u32),
    /// Copy engines that are best for this way.
    pub engine_mask: u32,
    /// See [`link_flag`].
    pub flags: u32,
    /// It goes through nodes of the host (a directory of `p2p_links`).
    pub indirect: bool,
}
