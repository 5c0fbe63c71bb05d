//! What a copied topology may say beside the kernel's files, in files of our own:
//!
//! * `nodes/N/device`: lines of a name and a number. `pci_rev` and `ids_flags` are what the graphics driver tells of the device
//!   (bit 0 of the latter: part of a processor), `address_bits` the width of its address space.
//! * `host/`: files of the machine around the GPUs, such as `host/proc/cpuinfo` and `host/sys/devices/system/node/node0/cpulist`.

use crate::tree::Tree;
use hansa_kfd::topology::{Properties, ROOT};
use std::path::{Path, PathBuf};

/// Files of the host that a machine may have of its own.
pub const HOST_FILES: [&str; 2] = ["/proc/cpuinfo", "/sys/devices/system/node"];
/// Name of the file in a node's directory.
pub(crate) const DEVICE: &str = "device";
/// Name of the directory.
const HOST: &str = "host";
/// PCI revision of a device of which nothing is said.
pub(crate) const REVISION: u32 = 0xc1;
/// Width of the address spaces of gfx8, and of later devices as far as programs can use it.
pub(crate) const ADDRESS_BITS: (u32, u32) = (40, 47);

/// What is said of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    pub(crate) revision: u32,
    pub(crate) ids_flags: u64,
    pub(crate) address_bits: Option<u32>,
}

/// Takes what is said of a node's device out of the tree.
pub(crate) fn of_node(tree: &mut Tree, node: &Path) -> Beside {
    let file = node.join(DEVICE);
    let p = Properties::parse(tree.file(&file).unwrap_or_default());
    tree.remove(&file);
    let number = |key| p.find(key).and_then(|value| u32::try_from(value).ok());
    Beside {
        revision: number("pci_rev").unwrap_or(REVISION),
        ids_flags: p.get64("ids_flags"),
        address_bits: number("address_bits").filter(|bits| (32..=ADDRESS_BITS.1).contains(bits)),
    }
}

/// Puts files of the host to where programs look for them.
pub(crate) fn spread(tree: &mut Tree) {
    let from = Path::new(ROOT).join(HOST);
    let files: Vec<(PathBuf, Vec<u8>)> = tree
        .files()
        .filter_map(|(path, text)| Some((path.strip_prefix(&from).ok()?.to_owned(), text.to_owned())))
        .collect();
    tree.remove(&from);
    for (path, text) in files {
        tree.put(Path::new("/").join(path), text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beside_the_kernels_are_taken_out_of_its() {
        let node = Path::new(ROOT).join("nodes/1");
        let mut tree = Tree::default();
        tree.put(node.join(DEVICE), "pci_rev 200\nids_flags 1\naddress_bits 99\n");
        tree.put(Path::new(ROOT).join("host/proc/cpuinfo"), "model name : A\n");
        let beside = of_node(&mut tree, &node);
        assert_eq!(
            (beside.revision, beside.ids_flags, beside.address_bits),
            (200, 1, None)
        );
        assert_eq!(of_node(&mut tree, &node).revision, REVISION);
        spread(&mut tree);
        let files: Vec<&Path> = tree.files().map(|(path, _)| path).collect();
        assert_eq!(files, [Path::new(HOST_FILES[0])]);
    }
}
