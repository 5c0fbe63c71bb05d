//! Who reaches which memory.

use super::{Allocation, AllocationKind, Place, Region, Segment};
use crate::agent::Device;
use crate::runtime::Runtime;
use hansa_plugin_api::AgentCaps;

/// How an agent reaches a region, with AMD's numbers (`hsa_amd_memory_pool_access_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reach {
    /// Never.
    Never = 0,
    /// Without being asked.
    ByDefault = 1,
    /// Each allocation, once it is granted.
    WhenGranted = 2,
}

impl Runtime {
    /// The agents that were given an allocation to see, in the order of the agents: of memory of the program and of
    /// host memory those that it was given to, of device memory the owner too. The host's processors are not among
    /// them, but for virtual memory, where they see nothing unless they are told.
    pub(crate) fn who_sees(&self, allocation: &Allocation) -> Vec<usize> {
        let owner = self.regions[allocation.region].agent;
        let granted = allocation.granted.lock();
        let is_virtual = allocation.kind == AllocationKind::Virtual;
        let owns = |agent| {
            agent == owner
                && matches!(
                    allocation.kind,
                    AllocationKind::Host(_) | AllocationKind::Device { .. }
                )
        };
        (0..self.agents.len())
            .filter(|&agent| {
                (granted.contains(&agent) || owns(agent)) && (is_virtual || !self.agents[agent].is_cpu())
            })
            .collect()
    }

    /// How an agent reaches a region.
    #[must_use]
    pub fn reach(&self, agent: usize, region: &Region) -> Reach {
        if region.agent == agent {
            return Reach::ByDefault;
        }
        if region.segment != Segment::Global {
            return Reach::Never;
        }
        if region.is_host() && self.agents[agent].is_cpu() {
            return Reach::ByDefault;
        }
        // A device with addresses of its own sees what its driver gives out, and no memory of the host's.
        let apart = |device: &Device| !device.description.caps.contains(AgentCaps::SHARED_ADDRESSES);
        if region.is_host() && self.agents[agent].device().is_some_and(apart) {
            return Reach::Never;
        }
        if self.links.get(agent, region.agent).is_none() {
            return Reach::Never;
        }
        let hidden = matches!(
            region.place,
            Place::Bank {
                host_visible: false,
                ..
            }
        );
        if hidden && self.agents[agent].is_cpu() {
            return Reach::Never;
        }
        Reach::WhenGranted
    }
}
