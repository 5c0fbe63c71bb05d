//! Which NPUs can be driven, and why others cannot.
//!
//! Each device of the kernel's accel class is a node `/dev/accel/accelN` (`Documentation/accel/introduction.rst`), of whichever
//! driver: the name that `VERSION` tells is the driver's. sysfs has the PCI device below `/sys/class/accel/accelN/device`,
//! with its numbers and what `amdxdna` adds: `vbnv` (a name for people), `fw_version`, and `device_type`, which is 0 where the
//! kernel keeps the queues.

use crate::error::{Error, Result};
use crate::ioctl::Accel;
use crate::uapi::accel::{AieMetadata, AieVersion, DRIVER_NAME};
use hansa_plugin_api::sys::System;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the nodes are.
pub const NODES: &str = "/dev/accel";
/// Where the kernel describes them.
const CLASS: &str = "/sys/class/accel";
/// PCI vendor number of AMD.
const AMD: u32 = 0x1022;
/// How the names of nodes begin.
const PREFIX: &str = "accel";

/// A generation of AI engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Phoenix and Hawk Point.
    Aie2,
    /// Strix, Strix Halo and Krackan.
    Aie2p,
}

impl Generation {
    /// The agent's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aie2 => "aie2",
            Self::Aie2p => "aie2p",
        }
    }

    /// Columns of the array that no context gets. The first generation's first column has no way to the host.
    #[must_use]
    pub const fn hidden_columns(self) -> u32 {
        match self {
            Self::Aie2 => 1,
            Self::Aie2p => 0,
        }
    }

    /// Most contexts that the kernel's driver gives out.
    #[must_use]
    pub const fn most_contexts(self) -> u32 {
        match self {
            Self::Aie2 => 6,
            Self::Aie2p => 16,
        }
    }
}

/// What sysfs tells of a device; 0 and nothing where it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// PCI address, as Linux writes it.
    pub pci_address: Option<String>,
    /// PCI vendor number.
    pub vendor: u32,
    /// PCI device number.
    pub device: u32,
    /// Its name for people.
    pub product: Option<String>,
    /// Version of its firmware.
    pub firmware: Option<String>,
    /// The NUMA node that it is at.
    pub numa_node: u32,
    /// Who keeps its queues: 0 the kernel.
    pub device_type: u32,
}

impl Identity {
    fn read(system: &dyn System, node: &str) -> Self {
        let folder = Path::new(CLASS).join(node).join("device");
        let text = |file: &str| {
            let bytes = system.read_file(&folder.join(file)).ok()?;
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let number = |file| text(file).and_then(|text| parse_number(&text)).unwrap_or(0);
        let address = text("uevent").and_then(|text| {
            let lines = text.lines();
            lines
                .filter_map(|line| line.strip_prefix("PCI_SLOT_NAME="))
                .map(str::to_owned)
                .next()
        });
        Self {
            pci_address: address,
            vendor: number("vendor"),
            device: number("device"),
            product: text("vbnv"),
            firmware: text("fw_version"),
            // -1 where the machine has one node.
            numa_node: number("numa_node"),
            device_type: number("device_type"),
        }
    }

    /// Domain, and bus, device and function as HSA packs them.
    #[must_use]
    pub fn location(&self) -> Option<(u32, u32)> {
        let mut parts = self.pci_address.as_deref()?.split([':', '.']);
        let mut next = || u32::from_str_radix(parts.next()?, 16).ok();
        let (domain, bus, device, function) = (next()?, next()?, next()?, next()?);
        Some((domain, bus << 8 | device << 3 | function))
    }
}

fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok(),
        None => text.parse().ok(),
    }
}

/// An NPU that can be driven, and its open node.
#[derive(Debug)]
pub struct Candidate {
    /// Its node.
    pub path: PathBuf,
    /// The node, open.
    pub accel: Accel,
    /// Its generation.
    pub generation: Generation,
    /// What sysfs tells.
    pub identity: Identity,
    /// The array.
    pub array: AieMetadata,
    /// The version of the array's hardware.
    pub version: AieVersion,
    /// MHz of the array, or 0.
    pub clock_mhz: u32,
}

impl Candidate {
    /// The name by which two drivers for one device are told apart.
    #[must_use]
    pub fn name(&self) -> String {
        let address = self.identity.pci_address.clone();
        address.unwrap_or_else(|| self.path.display().to_string())
    }

    /// Columns that contexts get.
    #[must_use]
    pub fn columns(&self) -> u32 {
        u32::from(self.array.cols).saturating_sub(self.generation.hidden_columns())
    }

    /// Core tiles that contexts get.
    #[must_use]
    pub fn core_tiles(&self) -> u32 {
        self.columns() * u32::from(self.array.core.row_count)
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Devices that can be driven, in the order of their nodes.
    pub candidates: Vec<Candidate>,
    /// A sentence for each that cannot.
    pub hidden: Vec<String>,
    /// Why the first of them cannot, if the system says so.
    refusal: Option<Error>,
}

/// Why a device is not driven.
enum Unfit {
    /// It is none of this driver's: nobody needs to know.
    NotOurs,
    /// Something that a person can read.
    Because(String),
    /// The system said no.
    Refused(Error),
}

impl From<Error> for Unfit {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Looks at every node. One that is bad hides only itself.
#[must_use]
pub fn find(system: &Arc<dyn System>) -> Found {
    let mut found = Found::default();
    let names = system.read_dir(Path::new(NODES)).unwrap_or_default();
    let mut numbers: Vec<u32> = names
        .iter()
        .filter_map(|name| name.strip_prefix(PREFIX)?.parse().ok())
        .collect();
    numbers.sort_unstable();
    for number in numbers {
        let name = format!("{PREFIX}{number}");
        match judge(system, &name) {
            Ok(candidate) => found.candidates.push(candidate),
            Err(Unfit::NotOurs) => {}
            Err(Unfit::Because(reason)) => found.hidden.push(format!("{name}: {reason}")),
            Err(Unfit::Refused(error)) => {
                found
                    .hidden
                    .push(hansa_plugin_api::Error::from(error.clone()).to_string());
                found.refusal.get_or_insert(error);
            }
        }
    }
    found
}

fn judge(system: &Arc<dyn System>, name: &str) -> std::result::Result<Candidate, Unfit> {
    let path = Path::new(NODES).join(name);
    let identity = Identity::read(system.as_ref(), name);
    if identity.vendor != 0 && identity.vendor != AMD {
        return Err(Unfit::NotOurs);
    }
    let accel = Accel::open(system, &path)?;
    let (driver, ..) = accel.version()?;
    if driver != DRIVER_NAME {
        return Err(Unfit::NotOurs);
    }
    if identity.device_type != 0 {
        return Err(Unfit::Because(format!(
            "its queues are in user memory (device_type {}), and this driver knows those of the kernel",
            identity.device_type
        )));
    }
    let version = accel.aie_version()?;
    let array = accel.metadata()?;
    let generation = match identity.device {
        0x1502 => Generation::Aie2,
        0x17f0 => Generation::Aie2p,
        // Without sysfs: the first generation has five columns.
        0 if array.cols == 5 => Generation::Aie2,
        0 => Generation::Aie2p,
        other => {
            return Err(Unfit::Because(format!(
                "device {AMD:04x}:{other:04x} is not known"
            )))
        }
    };
    let clock_mhz = accel.clocks().map_or(0, |clocks| clocks.h_clock.freq_mhz);
    let candidate = Candidate {
        path,
        accel,
        generation,
        identity,
        array,
        version,
        clock_mhz,
    };
    if candidate.core_tiles() == 0 {
        return Err(Unfit::Because(format!(
            "an array of {} columns and {} rows of cores computes nothing",
            array.cols, array.core.row_count
        )));
    }
    Ok(candidate)
}

impl Found {
    /// The devices, or why there is none.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn some(self) -> Result<Self> {
        if !self.candidates.is_empty() {
            return Ok(self);
        }
        match self.refusal {
            Some(error) if self.hidden.len() == 1 => Err(error),
            _ if self.hidden.is_empty() => Err(Error::NoDevice("The kernel lists no AMD NPU".into())),
            _ => Err(Error::NoDevice(format!(
                "No NPU can be driven. {}",
                self.hidden.join(". ")
            ))),
        }
    }
}

/// Looks for devices: opens each node, asks, and closes again. Answers the PCI addresses.
///
/// # Errors
///
/// Why there is none.
pub fn probe(system: &Arc<dyn System>) -> Result<Vec<String>> {
    let found = find(system).some()?;
    Ok(found.candidates.iter().map(Candidate::name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pci_address_is_domain_bus_device_and_function() {
        let at = |address: &str| {
            Identity {
                pci_address: Some(address.into()),
                ..Identity::default()
            }
            .location()
        };
        assert_eq!(at("0000:c5:00.1"), Some((0, 0xc501)));
        assert_eq!(at("0001:01:1f.7"), Some((1, 0x01ff)));
        for bad in ["", "c5:00.1", "0000:c5:00", "0000:zz:00.1"] {
            assert_eq!(at(bad), None, "{bad}");
        }
        assert_eq!(Identity::default().location(), None);
    }
}
