//! A driver that serves.

use hansa_plugin_api::{DriverObject, HostObject, NodeDescription, NodeKind, SystemDescription};

/// A driver whose devices are open.
#[derive(Debug)]
pub struct LoadedDriver {
    /// The plugin's id.
    pub id: String,
    /// The plugin's version.
    pub version: String,
    /// It computes on the host's processors.
    pub software: bool,
    /// What it said of its devices, without those that another driver has.
    pub description: SystemDescription,
    /// The devices it has, as its probe names them.
    pub devices: Vec<String>,
    /// Devices it could serve and another driver has: their nodes are not in the description.
    pub left_to_others: Vec<String>,
    /// The driver. Dropped before its host, which it may use until then.
    pub driver: DriverObject,
    /// The runtime as this plugin sees it.
    pub host: HostObject,
}

impl LoadedDriver {
    /// Its nodes that are devices.
    pub fn own_devices(&self) -> impl Iterator<Item = &NodeDescription> {
        self.description
            .nodes
            .iter()
            .filter(|node| node.kind != NodeKind::HOST)
    }
}

/// Takes the nodes whose devices other drivers have out of a description.
pub(super) fn leave_to_others(description: &mut SystemDescription, devices: &[String]) {
    description
        .nodes
        .retain(|node| node.kind == NodeKind::HOST || !devices.contains(&pci_address(node)));
}

/// A node's PCI address as Linux writes it.
pub fn pci_address(node: &NodeDescription) -> String {
    let NodeDescription { domain, location, .. } = node;
    format!(
        "{domain:04x}:{:02x}:{:02x}.{}",
        location >> 8 & 0xff,
        location >> 3 & 0x1f,
        location & 7
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_made_of_domain_and_location() {
        let mut node = NodeDescription::new(1, NodeKind::GPU, "gfx942");
        node.domain = 2;
        node.location = 0xc5 << 8 | 3 << 3 | 1;
        assert_eq!(pci_address(&node), "0002:c5:03.1");
    }
}
