//! Regions: where memory of which kind can be had (HSA specification, 2.7). An AMD memory pool is a region.

use crate::runtime::Runtime;
use bitflags::bitflags;
use hansa_plugin_api::BankKind;

/// A region's segment, with HSA's numbers (`hsa_region_segment_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Segment {
    /// Memory that agents share.
    Global = 0,
    /// Memory of a work-group.
    Group = 3,
}

bitflags! {
    /// How global memory behaves, with HSA's bits (`hsa_region_global_flag_t`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GlobalFlags: u32 {
        /// Can hold kernel arguments.
        const KERNARG = 1;
        /// Coherent at fine grain.
        const FINE_GRAINED = 2;
        /// Coherent at kernel boundaries.
        const COARSE_GRAINED = 4;
    }
}

/// Where a region's memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The host: the runtime maps pages and lets devices see them.
    Host,
    /// A bank of a driver's node.
    Bank {
        /// Index of the driver.
        driver: usize,
        /// The driver's node.
        node: u32,
        /// Index of the bank.
        bank: u32,
        /// Whether the host can read and write it.
        host_visible: bool,
        /// Whether its driver does not clear it.
        uncleared: bool,
    },
    /// Nothing can be allocated (group memory).
    None,
}

impl Runtime {
    /// Whether memory of a region is the host's, whoever gives it out.
    #[must_use]
    pub fn is_memory_of_host(&self, region: &Region) -> bool {
        let Place::Bank { bank, .. } = region.place else {
            return region.is_host();
        };
        let banks = self.agents[region.agent]
            .device()
            .map(|device| &device.description.banks);
        banks
            .and_then(|banks| banks.get(bank as usize))
            .is_some_and(|bank| bank.kind == BankKind::HOST)
    }
}

/// A region of an agent.
#[derive(Clone, Debug)]
pub struct Region {
    /// Index of the agent.
    pub agent: usize,
    /// Segment.
    pub segment: Segment,
    /// Behaviour, for global segments.
    pub flags: GlobalFlags,
    /// Bytes.
    pub bytes: u64,
    /// Most bytes of one allocation; 0 when nothing can be allocated.
    pub max_allocation: u64,
    /// Allocations are multiples of this; 0 when nothing can be allocated.
    pub granule: u64,
    /// Best multiple.
    pub recommended_granule: u64,
    /// Where it comes from.
    pub place: Place,
}

impl Region {
    /// Whether programs can allocate from it.
    #[must_use]
    pub const fn can_allocate(&self) -> bool {
        !matches!(self.place, Place::None)
    }

    /// Whether it is memory of the host.
    #[must_use]
    pub const fn is_host(&self) -> bool {
        matches!(self.place, Place::Host)
    }
}
