//! Virtual memory: addresses and memory apart (`hsa_amd_vmem_*`).
//!
//! Addresses are reserved and hold nothing; memory is made without an address; mapping brings the two together, as
//! often and at as many places as the program likes; and what each agent may do there is said last. Until then nobody
//! may do anything, the host included.
//!
//! Memory of the host, and of devices that compute on the host's memory, is a memory file: mapping it is the
//! runtime's, and drivers see each place as registered host memory. Other devices' memory is their driver's, which
//! puts it at addresses.

mod handles;
mod map;
mod physical;
mod place;
mod reserve;

pub use physical::Properties;

use super::available::Taken;
use crate::handle::Kind;
use handles::Handles;
use hansa_plugin_api::sync::Mutex;
use map::Mapping;
use physical::Physical;
use std::collections::BTreeMap;

/// All virtual memory of a runtime.
#[derive(Debug)]
pub struct VirtualMemory {
    /// Reserved ranges, by their first address.
    reservations: Mutex<BTreeMap<u64, Reservation>>,
    /// What memory files take of devices.
    pub(super) taken: Taken,
    /// Memory without an address that the program holds.
    memories: Handles<Physical>,
}

impl Default for VirtualMemory {
    fn default() -> Self {
        Self {
            reservations: Mutex::default(),
            taken: Taken::default(),
            memories: Handles::new(Kind::VirtualMemory),
        }
    }
}

/// A reserved range.
#[derive(Debug)]
struct Reservation {
    bytes: u64,
    /// Drivers that know of it, by index.
    drivers: Vec<usize>,
    /// What is mapped, by its first address.
    mappings: BTreeMap<u64, Mapping>,
}

/// The reservation that a whole range lies in.
fn around(
    reservations: &mut BTreeMap<u64, Reservation>,
    address: u64,
    bytes: u64,
) -> Option<&mut Reservation> {
    let (&base, reservation) = reservations.range_mut(..=address).next_back()?;
    let end = address.checked_add(bytes)?;
    (end - base <= reservation.bytes).then_some(reservation)
}
