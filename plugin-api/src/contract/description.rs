//! What a driver says of its devices: nodes, memory banks, caches and links.
//!
//! Every driver numbers its own nodes from 0; the runtime maps them to its agents and never passes one driver
//! the number of another's. Names and units follow the HSA specification (2.5 and 2.8) and the kernel's topology
//! files (`Documentation/gpu/amdgpu`, `drivers/gpu/drm/amd/amdkfd/kfd_topology.c`).

use abi_stable::std_types::{RString, RVec};
use abi_stable::StableAbi;

/// Declares a flag word that crosses the boundary: a transparent integer, so that unknown bits are harmless.
macro_rules! flag_word {
    ($(#[$meta:meta])* pub struct $Name:ident: $Int:ty { $($(#[$($fmeta:tt)*])* const $FLAG:ident = $value:expr;)* }) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, abi_stable::StableAbi)]
        pub struct $Name(pub $Int);
        bitflags::bitflags! { impl $Name: $Int { $($(#[$($fmeta)*])* const $FLAG = $value;)* const _ = !0; } }
    };
}
pub(crate) use flag_word;

flag_word! {
    /// The groups of methods a driver has beyond life and description.
    pub struct DriverGroups: u64 {
        /// Memory: allocate, free, map, unmap, register host memory.
        const MEMORY = 1;
        /// Queues: create, update, destroy.
        const QUEUES = 1 << 1;
        /// Events of its own that waits can sleep on. Without it the runtime wakes waiters when the driver
        /// calls [`Host::signal_changed`](crate::Host::signal_changed).
        const EVENTS = 1 << 2;
        /// Copies: a native [`Driver::copy`](crate::Driver::copy).
        const COPY = 1 << 3;
        /// Copy engines fed through DMA queues whose packets the runtime builds.
        const DMA_ENGINES = 1 << 4;
        /// Virtual memory: reserve and map at given addresses.
        const VIRTUAL_MEMORY = 1 << 5;
        /// Shared virtual memory attributes.
        const SVM = 1 << 6;
        /// Export and import between processes.
        const SHARING = 1 << 7;
        /// Profiling: counters, samples.
        const PROFILING = 1 << 8;
        /// Host memory that its devices see at the program's address is only what it allocates itself, from a bank of kind
        /// [`BankKind::HOST`]; the runtime takes its host memory from there.
        const HOST_MEMORY = 1 << 9;
        /// Devices change signals and nothing tells of it: waits look by themselves.
        const POLLED = 1 << 10;
    }
}

flag_word! {
    /// What an agent can do; per node, never per process.
    pub struct AgentCaps: u64 {
        /// Dispatches kernels from AQL queues.
        const KERNEL_DISPATCH = 1;
        /// Executes agent-dispatch packets.
        const AGENT_DISPATCH = 1 << 1;
        /// Shares one virtual address space with the host: a host pointer is a device pointer.
        const SHARED_ADDRESSES = 1 << 2;
        /// Reads and writes pageable host memory without registration.
        const PAGEABLE_ACCESS = 1 << 3;
        /// The host can read and write the node's local memory directly (a large BAR, or host memory).
        const HOST_VISIBLE_MEMORY = 1 << 4;
        /// Supports cooperative queues and launches.
        const COOPERATIVE = 1 << 5;
        /// Replays memory faults (xnack) in this process.
        const XNACK = 1 << 6;
        /// Has error-correcting memory in registers and caches (sramecc).
        const SRAM_ECC = 1 << 7;
        /// Coherent with the host at fine grain.
        const FINE_GRAIN_LOCAL = 1 << 8;
        /// Can be debugged.
        const DEBUG = 1 << 9;
        /// Has image hardware (texture units).
        const IMAGES = 1 << 10;
        /// Part of the processor: shares its memory.
        const INTEGRATED = 1 << 11;
        /// Has the full profile (agent's page tables are the process's).
        const FULL_PROFILE = 1 << 12;
        /// Handles SVM ranges.
        const SVM = 1 << 13;
        /// The device is a model in software.
        const SOFTWARE = 1 << 14;
        /// Gives scratch up while a queue runs: once [`Driver::update_queue`](crate::Driver::update_queue) has stopped a
        /// queue, `scratch_last_used_index` of `amd_queue_v2_t` names the last dispatch that uses what there was.
        const SCRATCH_RECLAIM = 1 << 15;
        /// The host reaches memory that has moved to the device, coherently and without moving it back.
        const COHERENT_HOST_ACCESS = 1 << 16;
    }
}

/// What kind of device a node is.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct NodeKind(pub u32);

impl NodeKind {
    /// A processor of the host, as the driver's kernel interface lists it. The runtime makes the CPU agents
    /// itself; such a node only anchors links.
    pub const HOST: Self = Self(0);
    /// A GPU that runs AMDGPU code objects.
    pub const GPU: Self = Self(1);
    /// An array of AI engines.
    pub const AIE: Self = Self(2);
    /// Any other accelerator.
    pub const ACCELERATOR: Self = Self(3);
}

/// A named number that had no field of its own when this interface was fixed.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct Attribute {
    /// The key, see the constants.
    pub key: u32,
    /// Zero.
    pub reserved: u32,
    /// The value.
    pub value: u64,
}

impl Attribute {
    /// Number of dies (XCC) that share one queue.
    pub const XCC_COUNT: u32 = 1;
    /// Bytes of the wave save area of one queue.
    pub const SAVE_AREA_BYTES: u32 = 2;
    /// Bytes of the control stack of one queue.
    pub const CONTROL_STACK_BYTES: u32 = 3;
    /// Identifier of the group of directly linked devices (xGMI hive).
    pub const HIVE_ID: u32 = 4;
    /// Number of global wave sync resources.
    pub const GWS_COUNT: u32 = 5;
    /// Firmware version of the packet processor.
    pub const PACKET_FIRMWARE: u32 = 6;
    /// Firmware version of the copy engines.
    pub const DMA_FIRMWARE: u32 = 7;
    /// Address of the host data path flush registers, mapped into the process.
    pub const HDP_FLUSH_ADDRESS: u32 = 8;
    /// Revision of the chip.
    pub const ASIC_REVISION: u32 = 9;
    /// Family number of the chip, as the kernel's graphics driver numbers them.
    pub const ASIC_FAMILY: u32 = 10;
    /// Minor number of the render node.
    pub const RENDER_MINOR: u32 = 11;
    /// Columns of an AI engine array.
    pub const AIE_COLUMNS: u32 = 12;
    /// Core rows of an AI engine array.
    pub const AIE_CORE_ROWS: u32 = 13;
    /// Address watch points that a debugger has.
    pub const WATCH_POINTS: u32 = 14;
    /// Address of code with which compute units copy, for devices whose copy engines are not used. It lies there while the
    /// driver is open, and runs wherever it is put, at the start of a page.
    ///
    /// It begins with four kernel descriptors of 64 bytes: copies by 16, 4 and 1 bytes, and a fill by 4. Their arguments: where
    /// to write (64 bits); where to read (64 bits), or the word to fill with; bytes (32 bits), whole units; and by how many
    /// bytes a work-item goes on from one of its units to the next (32 bits), which is what all work-items move at once. A
    /// work-group has 256 work-items in one dimension.
    pub const COPY_CODE: u32 = 15;
    /// Bytes of [`Self::COPY_CODE`].
    pub const COPY_CODE_BYTES: u32 = 16;
    /// End of the addresses that the device reaches, where that is before the end of the host's. What it has to see lies below.
    pub const ADDRESS_END: u32 = 17;
}

/// One device.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq, StableAbi)]
pub struct NodeDescription {
    /// The driver's own number.
    pub node: u32,
    /// What it is.
    pub kind: NodeKind,
    /// What it can do.
    pub caps: AgentCaps,
    /// Name for HSA_AGENT_INFO_NAME: the processor's name without features, such as `gfx900`.
    pub name: RString,
    /// Name for people, such as `Radeon RX Vega`.
    pub product: RString,
    /// Vendor, such as `AMD`.
    pub vendor: RString,
    /// Full ISA names, the specific one first (`amdgcn-amd-amdhsa--gfx900:xnack-`).
    pub isas: RVec<RString>,
    /// Unique identifier, or 0 when the device has none.
    pub unique_id: u64,
    /// PCI vendor number, or 0.
    pub vendor_id: u32,
    /// PCI device number, or 0.
    pub device_id: u32,
    /// PCI domain.
    pub domain: u32,
    /// PCI location: bus in bits 15:8, device in 7:3, function in 2:0.
    pub location: u32,
    /// Compute units.
    pub compute_units: u32,
    /// SIMD units per compute unit.
    pub simds_per_cu: u32,
    /// Waves that one SIMD unit holds.
    pub waves_per_simd: u32,
    /// Shader engines.
    pub shader_engines: u32,
    /// Shader arrays per engine.
    pub arrays_per_engine: u32,
    /// Work-items of a wavefront.
    pub wavefront_size: u32,
    /// Bytes of group memory of one compute unit.
    pub group_bytes: u32,
    /// Highest clock in MHz.
    pub max_clock_mhz: u32,
    /// Ticks per second of the device's clock, as in dispatch timestamps.
    pub timestamp_hz: u64,
    /// Copy engines that can copy to and from the host.
    pub dma_engines: u32,
    /// Copy engines for device-to-device links.
    pub dma_link_engines: u32,
    /// Most compute queues at once.
    pub max_queues: u32,
    /// Fewest packets of a queue.
    pub min_queue_packets: u32,
    /// Most packets of a queue.
    pub max_queue_packets: u32,
    /// Bits 63:32 of the address where group memory appears to flat instructions.
    pub group_aperture_hi: u32,
    /// Bits 63:32 of the address where private memory appears to flat instructions.
    pub private_aperture_hi: u32,
    /// Most bytes of private memory of one work-item.
    pub max_private_bytes: u32,
    /// Local memory banks.
    pub banks: RVec<MemoryBank>,
    /// Caches.
    pub caches: RVec<CacheDescription>,
    /// Further numbers.
    pub attributes: RVec<Attribute>,
}

impl NodeDescription {
    /// A node with a number, a kind and a name, and nothing else: the start for a small accelerator.
    pub fn new(node: u32, kind: NodeKind, name: &str) -> Self {
        Self {
            node,
            kind,
            caps: AgentCaps::empty(),
            name: name.into(),
            product: name.into(),
            vendor: RString::new(),
            isas: RVec::new(),
            unique_id: 0,
            vendor_id: 0,
            device_id: 0,
            domain: 0,
            location: 0,
            compute_units: 0,
            simds_per_cu: 0,
            waves_per_simd: 0,
            shader_engines: 0,
            arrays_per_engine: 0,
            wavefront_size: 0,
            group_bytes: 0,
            max_clock_mhz: 0,
            timestamp_hz: 1_000_000_000,
            dma_engines: 0,
            dma_link_engines: 0,
            max_queues: 0,
            min_queue_packets: 0,
            max_queue_packets: 0,
            group_aperture_hi: 0,
            private_aperture_hi: 0,
            max_private_bytes: 0,
            banks: RVec::new(),
            caches: RVec::new(),
            attributes: RVec::new(),
        }
    }

    /// The value of a further number, if the driver gave it.
    #[must_use]
    pub fn attribute(&self, key: u32) -> Option<u64> {
        self.attributes.iter().find(|a| a.key == key).map(|a| a.value)
    }
}

/// What a memory bank is made of.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct BankKind(pub u32);

impl BankKind {
    /// The device's local memory.
    pub const LOCAL: Self = Self(0);
    /// Host memory that the driver allocates for the device.
    pub const HOST: Self = Self(1);
    /// A heap inside the device's address space (AI engine instructions).
    pub const DEVICE_HEAP: Self = Self(2);
}

flag_word! {
    /// How memory of a bank behaves.
    pub struct BankFlags: u32 {
        /// The host can read and write it.
        const HOST_VISIBLE = 1;
        /// Coherent at fine grain.
        const FINE_GRAIN = 1 << 1;
        /// Can hold kernel arguments.
        const KERNARG = 1 << 2;
        /// Can hold code.
        const EXECUTABLE = 1 << 3;
        /// Allocations are not cleared: they may hold what this process left there. The runtime may keep one that a program
        /// frees for the program's next.
        const UNCLEARED = 1 << 4;
    }
}

/// One bank of memory of a node.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct MemoryBank {
    /// What it is made of.
    pub kind: BankKind,
    /// How it behaves.
    pub flags: BankFlags,
    /// Size in bytes.
    pub bytes: u64,
    /// Allocations are multiples of this many bytes.
    pub granule: u64,
    /// Allocations that are multiples of this many bytes are best.
    pub recommended_granule: u64,
    /// Width of the bus in bits.
    pub width_bits: u32,
    /// Highest clock in MHz.
    pub max_clock_mhz: u32,
}

flag_word! {
    /// What a cache holds.
    pub struct CacheFlags: u32 {
        /// Data.
        const DATA = 1;
        /// Instructions.
        const INSTRUCTION = 1 << 1;
        /// Shared by several compute units.
        const SHARED = 1 << 2;
    }
}

/// One cache of a node. The runtime reports one per level that compute units see.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct CacheDescription {
    /// Level, from 1.
    pub level: u32,
    /// What it holds.
    pub flags: CacheFlags,
    /// Size in bytes.
    pub bytes: u64,
    /// Bytes of a line, or 0 when unknown.
    pub line_bytes: u32,
    /// Zero.
    pub reserved: u32,
}

/// One end of a link.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct NodeRef {
    /// 0: a node of this driver; 1: a NUMA node of the host.
    pub space: u32,
    /// Its number there.
    pub node: u32,
}

impl NodeRef {
    /// A node of the driver.
    #[must_use]
    pub const fn own(node: u32) -> Self {
        Self { space: 0, node }
    }

    /// A NUMA node of the host.
    #[must_use]
    pub const fn host(node: u32) -> Self {
        Self { space: 1, node }
    }
}

/// What a link is, with HSA's numbers (`hsa_amd_link_info_type_t`).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct LinkKind(pub u32);

impl LinkKind {
    /// HyperTransport.
    pub const HYPER_TRANSPORT: Self = Self(0);
    /// QuickPath.
    pub const QPI: Self = Self(1);
    /// PCI Express; also the model for anything behind a bus.
    pub const PCIE: Self = Self(2);
    /// InfiniBand.
    pub const INFINIBAND: Self = Self(3);
    /// xGMI.
    pub const XGMI: Self = Self(4);
}

flag_word! {
    /// What a link carries.
    pub struct LinkFlags: u32 {
        /// 32-bit atomics.
        const ATOMICS_32 = 1;
        /// 64-bit atomics.
        const ATOMICS_64 = 1 << 1;
        /// Coherent accesses.
        const COHERENT = 1 << 2;
        /// Devices cannot reach each other over it.
        const NO_PEER = 1 << 3;
    }
}

/// A way from one node to another, in one direction.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct LinkDescription {
    /// Where it starts.
    pub from: NodeRef,
    /// Where it ends.
    pub to: NodeRef,
    /// What it is.
    pub kind: LinkKind,
    /// What it carries.
    pub flags: LinkFlags,
    /// Distance, as the kernel weighs it.
    pub weight: u32,
    /// Hops.
    pub hops: u32,
    /// Least and most latency in nanoseconds, or 0.
    pub min_latency_ns: u32,
    /// Most latency in nanoseconds, or 0.
    pub max_latency_ns: u32,
    /// Least bandwidth in MB/s, or 0.
    pub min_bandwidth_mbs: u32,
    /// Most bandwidth in MB/s, or 0.
    pub max_bandwidth_mbs: u32,
    /// Mask of the copy engines that are best for this way, or 0.
    pub engine_mask: u32,
    /// Zero.
    pub reserved: u32,
}

/// All that a driver has.
#[repr(C)]
#[derive(Clone, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct SystemDescription {
    /// The groups of methods that work.
    pub groups: DriverGroups,
    /// Its devices.
    pub nodes: RVec<NodeDescription>,
    /// The ways between them and to the host.
    pub links: RVec<LinkDescription>,
    /// Devices that were found and left out, a sentence each: shown by `hansa doctor`.
    pub hidden: RVec<RString>,
}
