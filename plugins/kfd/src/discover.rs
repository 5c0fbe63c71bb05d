//! Which GPUs can be driven, and why others cannot.

use crate::chip::{by_device_id, save_area, SaveArea, Target};
use crate::config::Config;
use crate::error::{likely_cause, Error, Result};
use crate::ioctl::{Kfd, Node};
use crate::machine::Lasting;
use crate::topology::{self, DoorbellKind, Hidden, Numbers, Topology};
use crate::DEVICE;
use hansa_plugin_api::sys::{Errno, System};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often an open is tried again that a signal interrupted.
const MOST_RETRIES: u32 = 1 << 10;
/// First and last minor number of render nodes. Linux gave 128 to 191 until 6.12, and since then those beyond 255, too,
/// up to the last minor number there is.
const RENDER_MINORS: std::ops::RangeInclusive<u32> = 128..=(1 << 20) - 1;

/// Bits of the property `capability`.
pub mod capability {
    /// Addresses can be watched.
    pub const WATCH_POINTS: u32 = 1 << 7;
    /// Position of the logarithm of the number of watch points, four bits.
    pub const WATCH_POINTS_SHIFT: u32 = 8;
    /// Position of the chip's revision, four bits.
    pub const ASIC_REVISION_SHIFT: u32 = 22;
    /// Registers and caches are error-correcting.
    pub const SRAM_ECC: u32 = 1 << 26;
    /// Attributes of shared virtual memory work.
    pub const SVM: u32 = 1 << 27;
    /// The firmware reports exceptions of waves and packets to the kernel.
    pub const DEBUG_FIRMWARE: u32 = 1 << 29;
    /// The host's accesses are coherent.
    pub const COHERENT_HOST_ACCESS: u32 = 1 << 28;
}

/// A GPU that can be driven, as far as files tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The kernel's number of the node.
    pub node: u32,
    /// The kernel's number of the device.
    pub gpu_id: u32,
    /// The processor to report.
    pub target: Target,
    /// The processor that it is.
    pub own_target: Target,
    /// Minor number of its render node.
    pub render_minor: u32,
    /// Its numbers.
    pub numbers: Numbers,
    /// How it is rung.
    pub doorbell: DoorbellKind,
    /// Sizes of the save area; `None` on chips that have none.
    pub save_area: Option<SaveArea>,
}

impl Candidate {
    /// Path of its render node.
    #[must_use]
    pub fn render_path(&self) -> PathBuf {
        PathBuf::from(format!("/dev/dri/renderD{}", self.render_minor))
    }
}

/// The PCI address of a node, as Linux writes it.
#[must_use]
pub fn pci_address(node: &topology::Node) -> String {
    let location = node.properties.get("location_id");
    format!(
        "{:04x}:{:02x}:{:02x}.{}",
        node.properties.get("domain"),
        location >> 8 & 0xff,
        location >> 3 & 0x1f,
        location & 7
    )
}

/// Opens a file for reading and writing.
///
/// # Errors
///
/// [`Error::Open`] with the likely cause.
pub fn open_node(system: &Arc<dyn System>, path: &Path) -> Result<Node> {
    let mut tries = 0;
    loop {
        match system.open(path, true) {
            Ok(file) => return Ok(Node::new(Arc::clone(system), file, path.display().to_string())),
            Err(Errno::INTR) if tries < MOST_RETRIES => tries += 1,
            Err(errno) => {
                return Err(Error::Open {
                    path: path.into(),
                    errno,
                    because: likely_cause(errno),
                })
            }
        }
    }
}

/// Opens the device and compares versions; answers the minor number too.
///
/// # Errors
///
/// [`Error::Open`], [`Error::Version`].
pub fn open_kfd(system: &Arc<dyn System>) -> Result<(Kfd, u32)> {
    let kfd = Kfd(open_node(system, Path::new(DEVICE))?);
    let (major, minor) = kfd.version()?;
    if major != 1 {
        return Err(Error::Version { major, minor });
    }
    Ok((kfd, minor))
}

/// Judges the nodes of a machine.
#[must_use]
pub fn judge(topology: &Topology, config: &Config, page: u64) -> (Vec<Candidate>, Vec<String>) {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut hidden: Vec<String> = topology.hidden.iter().map(sentence).collect();
    let mut taken: HashMap<u32, u32> = HashMap::new();
    for node in topology.nodes.iter().filter(|node| node.gpu_id != 0) {
        let judged = candidate(node, config, page).and_then(|candidate| {
            match taken.insert(node.gpu_id, node.number) {
                None => Ok(candidate),
                Some(first) => Err(format!(
                    "gpu_id {} is also that of node {first}, so that the kernel could not tell them apart",
                    node.gpu_id
                )),
            }
        });
        match judged {
            Ok(candidate) => candidates.push(candidate),
            Err(reason) => hidden.push(format!("Node {} ({}): {reason}", node.number, pci_address(node))),
        }
    }
    (candidates, hidden)
}

fn sentence(hidden: &Hidden) -> String {
    let why = match hidden.errno {
        Some(Errno::PERM | Errno::ACCESS) => "; a device cgroup hides the GPU from this process",
        _ => "",
    };
    let errno = hidden.errno.map(|errno| format!(": {errno}")).unwrap_or_default();
    format!("Node {}: {}{errno}{why}", hidden.number, hidden.reason)
}

fn candidate(node: &topology::Node, config: &Config, page: u64) -> std::result::Result<Candidate, String> {
    let p = &node.properties;
    if p.get("simd_count") == 0 {
        return Err("it has no compute units (simd_count)".into());
    }
    let own_target = Target::of_version(p.get("gfx_target_version"))
        .or_else(|| by_device_id(p.get("device_id")))
        .ok_or_else(|| {
            format!(
                "device {:#06x} is not known and has no gfx_target_version",
                p.get("device_id")
            )
        })?;
    let target = config.target_of(node.number).unwrap_or(own_target);
    if own_target.major < 8 {
        return Err(format!(
            "{own_target} has an address space of the kind before gfx8"
        ));
    }
    if target.chip().is_none() {
        return Err(format!(
            "{target} is a processor that this driver does not know; HSA_OVERRIDE_GFX_VERSION can name one like it"
        ));
    }
    let numbers = Numbers::of(p, own_target);
    let shape = numbers.shape;
    let doorbell = numbers
        .doorbell
        .ok_or("its doorbells are of a kind that is not known")?;
    let save_area =
        save_area(own_target, shape, page).ok_or_else(|| format!("its numbers cannot be: {shape:?}"))?;
    if numbers.lanes != 32 && numbers.lanes != 64 {
        return Err(format!("its waves have {} lanes", numbers.lanes));
    }
    if !(1..=1024).contains(&shape.lds_kib) {
        return Err(format!("it has {} KiB of group memory", shape.lds_kib));
    }
    let render_minor = p.get("drm_render_minor");
    if !RENDER_MINORS.contains(&render_minor) {
        return Err(format!("it has no render node (drm_render_minor {render_minor})"));
    }
    Ok(Candidate {
        node: node.number,
        gpu_id: node.gpu_id,
        target,
        own_target,
        render_minor,
        numbers,
        doorbell,
        save_area: Some(save_area),
    })
}

/// Looks for devices: opens the device and reads the machine, and closes again. Answers the PCI addresses.
///
/// # Errors
///
/// Why there is none.
pub fn probe(system: &Arc<dyn System>, lasting: &Lasting, config: &Config) -> Result<Vec<String>> {
    let (_kfd, _) = open_kfd(system)?;
    let topology = Topology::read(system.as_ref(), Path::new(topology::ROOT))?;
    let (candidates, hidden) = judge(&topology, config, system.page_size() as u64);
    if candidates.is_empty() {
        return Err(nothing(&hidden));
    }
    let mut addresses: Vec<String> = candidates
        .iter()
        .filter_map(|candidate| topology.node(candidate.node))
        .map(pci_address)
        .collect();
    addresses.dedup();
    lasting.keep(topology);
    Ok(addresses)
}

/// The error for a machine without a GPU that can be driven.
#[must_use]
pub fn nothing(hidden: &[String]) -> Error {
    Error::NoDevice(if hidden.is_empty() {
        "The kernel lists no GPU".into()
    } else {
        format!("No GPU can be driven. {}", hidden.join(". "))
    })
}
