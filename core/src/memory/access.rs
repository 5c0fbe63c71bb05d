//! Who reaches which memory.

use super::{Place, Region, Segment};
use crate::runtime::Runtime;

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
