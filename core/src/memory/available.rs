//! How much memory a device has left: what its driver says, less the memory files that stand for some of it.

use super::Place;
use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of memory files that count as memory of a device, by driver and node.
#[derive(Debug, Default)]
pub(super) struct Taken {
    by_node: Mutex<BTreeMap<(usize, u32), u64>>,
    /// There was such a file once.
    some: AtomicBool,
}

impl Taken {
    /// Bytes of a node.
    pub(super) fn of(&self, driver: usize, node: u32) -> u64 {
        if !self.some.load(Ordering::Acquire) {
            return 0;
        }
        self.by_node.lock().get(&(driver, node)).copied().unwrap_or(0)
    }

    /// Takes bytes of a node that has so many left.
    fn take(&self, driver: usize, node: u32, bytes: u64, left: u64) -> bool {
        self.some.store(true, Ordering::Release);
        let mut all = self.by_node.lock();
        let taken = all.entry((driver, node)).or_default();
        let fits = taken.saturating_add(bytes) <= left;
        if fits {
            *taken += bytes;
        }
        fits
    }

    fn give_back(&self, driver: usize, node: u32, bytes: u64) {
        if let Some(taken) = self.by_node.lock().get_mut(&(driver, node)) {
            *taken = taken.saturating_sub(bytes);
        }
    }
}

impl Runtime {
    /// Bytes of an agent's memory that can still be allocated; `None` for the host's processors.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub fn available(&self, agent: &Agent) -> Result<Option<u64>> {
        let Some(device) = agent.device() else {
            return Ok(None);
        };
        let place = device.reference;
        let left = self.left_of_driver(place.driver, place.node)?;
        let taken = self.virtual_memory.taken.of(place.driver, place.node);
        Ok(Some(left.saturating_sub(taken)))
    }

    /// Bytes that a driver has left for a node.
    fn left_of_driver(&self, driver: usize, node: u32) -> Result<u64> {
        self.give_back_spares();
        match self.drivers[driver].object.available(node) {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.code == api::ErrorCode::NOT_SUPPORTED => {
                // Each bank once: several regions may be of one.
                let mut banks = BTreeMap::new();
                for (index, region) in self.regions.iter().enumerate() {
                    if let Place::Bank {
                        driver: of,
                        node: at,
                        bank,
                        ..
                    } = region.place
                    {
                        if (of, at) == (driver, node) {
                            let bank = banks.entry(bank).or_insert((0, 0));
                            *bank = (region.bytes.max(bank.0), bank.1 + self.memory.bytes_in(index));
                        }
                    }
                }
                Ok(banks
                    .into_values()
                    .map(|(bytes, used)| bytes.saturating_sub(used))
                    .sum())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Counts a memory file as memory of a region's device.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the device has not that much left.
    pub(super) fn take_from(&self, region: usize, bytes: u64) -> Result<()> {
        let Place::Bank { driver, node, .. } = self.regions[region].place else {
            return Ok(());
        };
        let left = self.left_of_driver(driver, node)?;
        if self.virtual_memory.taken.take(driver, node, bytes, left) {
            Ok(())
        } else {
            Err(Error::OutOfResources("memory of the device"))
        }
    }

    /// Takes such a count back.
    pub(super) fn give_back_to(&self, region: usize, bytes: u64) {
        if let Place::Bank { driver, node, .. } = self.regions[region].place {
            self.virtual_memory.taken.give_back(driver, node, bytes);
        }
    }

    /// Refuses an allocation that memory files leave no room for; the driver does not know of them.
    pub(super) fn leave_room(&self, driver: usize, node: u32, bytes: u64) -> Result<()> {
        let taken = self.virtual_memory.taken.of(driver, node);
        if taken != 0 && self.left_of_driver(driver, node)?.saturating_sub(taken) < bytes {
            return Err(Error::OutOfResources("memory of the device"));
        }
        Ok(())
    }
}
