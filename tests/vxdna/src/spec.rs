//! What devices a virtual machine has.

use hansa_plugin_api::sys::Errno;
use hansa_xdna::uapi::accel::{AieMetadata, AieVersion, TileMetadata};

/// Which of the two drivers there are answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Personality {
    /// The one that AMD ships apart from the kernel: commands are waited for with `WAIT_CMD`.
    OutOfTree,
    /// The kernel's own: commands are waited for through the timeline of their context.
    Mainline,
}

/// A device.
#[derive(Clone, Debug)]
pub struct NpuSpec {
    /// Who answers.
    pub personality: Personality,
    /// Number of its node.
    pub node: u32,
    /// PCI device number.
    pub device: u32,
    /// Its name for people.
    pub product: &'static str,
    /// PCI address.
    pub pci_address: String,
    /// `device_type` of sysfs.
    pub device_type: u32,
    /// Name of the kernel's driver.
    pub driver: &'static str,
    /// The array.
    pub array: AieMetadata,
    /// First column that a context can have.
    pub first_column: u32,
    /// How opening fails, if it does.
    pub refuses: Option<Errno>,
    /// Whether the device has addresses of its own for host memory.
    pub own_addresses: bool,
    /// Most parts of the heap.
    pub most_heaps: usize,
    /// Most contexts.
    pub most_contexts: usize,
    /// Milliseconds without progress after which a command is given up.
    pub patience_ms: u64,
}

impl NpuSpec {
    fn tiles(row_count: u16, row_start: u16, dma_channel_count: u16, lock_count: u16) -> TileMetadata {
        TileMetadata {
            row_count,
            row_start,
            dma_channel_count,
            lock_count,
            event_reg_count: 0,
            pad: [0; 3],
        }
    }

    fn array(cols: u16) -> AieMetadata {
        AieMetadata {
            col_size: 1 << 25,
            cols,
            rows: 6,
            version: AieVersion { major: 2, minor: 0 },
            core: Self::tiles(4, 2, 2, 16),
            mem: Self::tiles(1, 1, 6, 64),
            shim: Self::tiles(1, 0, 2, 16),
        }
    }

    /// The first generation (Phoenix), with AMD's driver.
    #[must_use]
    pub fn npu1() -> Self {
        Self {
            personality: Personality::OutOfTree,
            node: 0,
            device: 0x1502,
            product: "RyzenAI-npu1",
            pci_address: "0000:c5:00.1".into(),
            device_type: 0,
            driver: "amdxdna_accel_driver",
            array: Self::array(5),
            first_column: 1,
            refuses: None,
            own_addresses: false,
            most_heaps: 1,
            most_contexts: 6,
            patience_ms: 100,
        }
    }

    /// The second generation (Strix), with the kernel's driver.
    #[must_use]
    pub fn npu4() -> Self {
        Self {
            personality: Personality::Mainline,
            device: 0x17f0,
            product: "RyzenAI-npu4",
            pci_address: "0000:c6:00.1".into(),
            array: Self::array(8),
            first_column: 0,
            most_heaps: 8,
            most_contexts: 16,
            ..Self::npu1()
        }
    }

    /// The same device as another node.
    #[must_use]
    pub fn at(mut self, node: u32) -> Self {
        self.node = node;
        self
    }
}
