//! Which render nodes lead to a host with AMD's compute driver, and why others do not.

use crate::error::{Error, Result};
use crate::uapi::{
    Capset, GetCaps, GetParam, Version, CAPSET_HSAKMT, CONTEXT_AMDGPU, PARAM_CAPSETS, PARAM_CONTEXT_INIT,
    PARAM_HOST_VISIBLE, PARAM_RESOURCE_BLOB,
};
use hansa_kfd::discover::open_node;
use hansa_kfd::ioctl::Node;
use hansa_plugin_api as api;
use hansa_plugin_api::sys::{Errno, System};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where render nodes are.
const DIRECTORY: &str = "/dev/dri";
/// The kernel's name of the driver.
const DRIVER: &str = "virtio_gpu";
/// Layout of messages that this driver speaks.
const WIRE_FORMAT: u32 = 0;
/// Most render nodes that are looked at.
const MOST_NODES: usize = 256;

/// A node that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path.
    pub path: PathBuf,
    /// Its minor number.
    pub minor: u32,
    /// What the host says of itself.
    pub capset: Capset,
}

/// What a look at the render nodes shows.
#[derive(Debug, Default)]
pub struct Look {
    /// Nodes that can be used.
    pub found: Vec<Found>,
    /// Why others cannot.
    pub hidden: Vec<String>,
    /// The first node that could not be opened, and might be one.
    closed: Option<Error>,
}

/// Looks at the render nodes, in the order of their numbers.
#[must_use]
pub fn look(system: &Arc<dyn System>) -> Look {
    let mut look = Look::default();
    let names = system.read_dir(Path::new(DIRECTORY)).unwrap_or_default();
    let mut minors: Vec<u32> = names
        .iter()
        .filter_map(|name| name.strip_prefix("renderD")?.parse().ok())
        .collect();
    minors.sort_unstable();
    for minor in minors.into_iter().take(MOST_NODES) {
        let path = Path::new(DIRECTORY).join(format!("renderD{minor}"));
        match judge(system, &path) {
            Ok(capset) => look.found.push(Found { path, minor, capset }),
            Err(error) => {
                look.hidden.push(sentence(&path, &error));
                if let Error::System(hansa_kfd::error::Error::Open { .. }) = error {
                    look.closed.get_or_insert(error);
                }
            }
        }
    }
    look
}

/// Why a node cannot be used.
fn sentence(path: &Path, error: &Error) -> String {
    match error {
        // Its text names the place.
        Error::System(_) => api::Error::from(error.clone()).to_string(),
        error => format!("{}: {error}", path.display()),
    }
}

impl Look {
    /// The error for a machine without a node that can be used.
    #[must_use]
    pub fn nothing(self) -> Error {
        if let Some(closed) = self.closed {
            return closed;
        }
        Error::NoDevice(if self.hidden.is_empty() {
            "There is no render node".into()
        } else {
            format!(
                "No host with AMD's compute driver is there. {}",
                self.hidden.join(". ")
            )
        })
    }
}

/// Looks for devices, without leaving anything on the host. Answers the paths of their nodes.
///
/// # Errors
///
/// Why there is none.
pub fn probe(system: &Arc<dyn System>) -> Result<Vec<String>> {
    let look = look(system);
    if look.found.is_empty() {
        return Err(look.nothing());
    }
    Ok(look
        .found
        .iter()
        .map(|found| found.path.display().to_string())
        .collect())
}

fn parameter(node: &Node, param: u64) -> Result<u64> {
    let mut value = 0_u64;
    let request = node.ask(&mut GetParam {
        param,
        value: std::ptr::from_mut(&mut value).expose_provenance() as u64,
    });
    match request {
        Ok(_) => Ok(value),
        // A kernel that does not know the parameter does not have what it is about.
        Err(error) if error.errno() == Some(Errno::INVAL) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// The name of the graphics driver of a node.
fn driver_name(node: &Node) -> Result<String> {
    let mut name = [0_u8; 64];
    let mut version = Version {
        name_bytes: name.len() as u64,
        name: name.as_mut_ptr().expose_provenance() as u64,
        ..Version::default()
    };
    node.ask(&mut version)?;
    let length = usize::try_from(version.name_bytes).unwrap_or(usize::MAX);
    Ok(String::from_utf8_lossy(&name[..length.min(name.len())]).into_owned())
}

fn judge(system: &Arc<dyn System>, path: &Path) -> Result<Capset> {
    let node = open_node(system, path)?;
    let name = driver_name(&node)?;
    if name != DRIVER {
        return Err(Error::NoDevice(format!("it belongs to {name}")));
    }
    for (param, what) in [
        (PARAM_RESOURCE_BLOB, "resources of memory (blobs)"),
        (
            PARAM_HOST_VISIBLE,
            "memory of the host that can be mapped (hostmem=)",
        ),
        (PARAM_CONTEXT_INIT, "contexts of other kinds than OpenGL"),
    ] {
        if parameter(&node, param)? == 0 {
            return Err(Error::NoDevice(format!("the virtual machine gives it no {what}")));
        }
    }
    let sets = parameter(&node, PARAM_CAPSETS)?;
    if sets & 1 << CAPSET_HSAKMT == 0 {
        return Err(Error::NoDevice(format!(
            "the host has no compute context (capability set {CAPSET_HSAKMT} is not in {sets:#x})"
        )));
    }
    let mut capset = Capset::default();
    node.ask(&mut GetCaps {
        cap_set_id: CAPSET_HSAKMT,
        cap_set_ver: 0,
        address: std::ptr::from_mut(&mut capset).expose_provenance() as u64,
        size: u32::try_from(size_of::<Capset>()).unwrap_or(0),
        pad: 0,
    })?;
    if capset.context_type != CONTEXT_AMDGPU {
        return Err(Error::NoDevice(format!(
            "the host's compute context is of kind {}, and AMD's is {CONTEXT_AMDGPU}",
            capset.context_type
        )));
    }
    if capset.wire_format != WIRE_FORMAT {
        return Err(Error::NoDevice(format!(
            "the host speaks format {}, this driver {WIRE_FORMAT}",
            capset.wire_format
        )));
    }
    Ok(capset)
}
