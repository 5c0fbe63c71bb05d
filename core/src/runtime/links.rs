//! The ways between agents, in each direction on its own.

use hansa_plugin_api::{LinkFlags, LinkKind};
use std::collections::HashMap;

/// One way from an agent to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it is.
    pub kind: LinkKind,
    /// What it carries.
    pub flags: LinkFlags,
    /// Distance, as the kernel weighs it.
    pub weight: u32,
    /// Hops.
    pub hops: u32,
    /// Least and most latency in nanoseconds.
    pub latency_ns: (u32, u32),
    /// Least and most bandwidth in MB/s.
    pub bandwidth_mbs: (u32, u32),
    /// Mask of the copy engines that are best for it.
    pub engine_mask: u32,
}

/// All ways.
#[derive(Clone, Debug, Default)]
pub struct Links {
    between: HashMap<(usize, usize), Link>,
}

impl Links {
    /// Enters a way between two agents, by index.
    pub fn insert(&mut self, from: usize, to: usize, link: Link) {
        self.between.insert((from, to), link);
    }

    /// The way from one agent to another: the one described, or the opposite one when only that is.
    #[must_use]
    pub fn get(&self, from: usize, to: usize) -> Option<&Link> {
        self.between
            .get(&(from, to))
            .or_else(|| self.between.get(&(to, from)))
    }

    /// All ways, by the indexes of the agents.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, &Link)> {
        self.between.iter().map(|(&(from, to), link)| (from, to, link))
    }
}
