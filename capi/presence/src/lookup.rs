//! The paths that are answered.

use crate::nodes;
use core::ffi::{c_char, CStr};

/// What a path names, of the things that programs look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// `/dev/kfd`
    Device,
    /// `/sys/module/amdgpu/initstate`
    ModuleState,
    /// The directory of the nodes.
    Nodes,
    /// The directory of one node.
    Node(usize),
    /// The properties of one node.
    Properties(usize),
}

/// Both names of the topology in sysfs; the first is a link to the second.
const TOPOLOGIES: [&[u8]; 2] = [
    b"/sys/class/kfd/kfd/topology/nodes",
    b"/sys/devices/virtual/kfd/kfd/topology/nodes",
];

/// What a program's path names, if it is answered in this process.
///
/// # Safety
///
/// `path` is null or a C string.
pub(crate) unsafe fn lookup(path: *const c_char) -> Option<Lookup> {
    if path.is_null() || !nodes::answering() {
        return None;
    }
    // SAFETY: not null, so a C string as the caller promises.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    match of(path)? {
        Lookup::Node(node) | Lookup::Properties(node) if node >= nodes::count() => None,
        found => Some(found),
    }
}

fn of(path: &[u8]) -> Option<Lookup> {
    match path {
        b"/dev/kfd" => return Some(Lookup::Device),
        b"/sys/module/amdgpu/initstate" => return Some(Lookup::ModuleState),
        _ => {}
    }
    let rest = TOPOLOGIES.iter().find_map(|dir| path.strip_prefix(*dir))?;
    if !matches!(rest.first(), None | Some(b'/')) {
        return None;
    }
    let mut parts = rest.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    let Some(node) = parts.next() else {
        return Some(Lookup::Nodes);
    };
    let node = number(node)?;
    match (parts.next(), parts.next()) {
        (None, _) => Some(Lookup::Node(node)),
        // A file has nothing below it, not even a slash.
        (Some(b"properties"), None) if path.last() != Some(&b'/') => Some(Lookup::Properties(node)),
        _ => None,
    }
}

/// A number as sysfs writes it: no sign, no zeros in front.
fn number(text: &[u8]) -> Option<usize> {
    let plain = text.iter().all(u8::is_ascii_digit) && (text == b"0" || text.first() != Some(&b'0'));
    plain
        .then(|| core::str::from_utf8(text).ok()?.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_paths_are_known() {
        assert_eq!(of(b"/dev/kfd"), Some(Lookup::Device));
        assert_eq!(of(b"/sys/module/amdgpu/initstate"), Some(Lookup::ModuleState));
        for topology in ["/sys/class/kfd/kfd", "/sys/devices/virtual/kfd/kfd"] {
            let of = |rest: &str| of(format!("{topology}/topology/nodes{rest}").as_bytes());
            assert_eq!(of(""), Some(Lookup::Nodes));
            assert_eq!(of("/"), Some(Lookup::Nodes));
            assert_eq!(of("/0"), Some(Lookup::Node(0)));
            assert_eq!(of("//12/"), Some(Lookup::Node(12)));
            assert_eq!(of("/3/properties"), Some(Lookup::Properties(3)));
        }
    }

    #[test]
    fn nothing_else_is_known() {
        for path in [
            "",
            "/",
            "dev/kfd",
            "/dev/kfd0",
            "/dev/kfd/",
            "/dev",
            "/dev/dri/renderD128",
            "/sys/module/amdgpu",
            "/sys/class/kfd/kfd/topology",
            "/sys/class/kfd/kfd/topology/nodesX",
            "/sys/class/kfd/kfd/topology/nodes/x",
            "/sys/class/kfd/kfd/topology/nodes/01",
            "/sys/class/kfd/kfd/topology/nodes/+1",
            "/sys/class/kfd/kfd/topology/nodes/0/gpu_id",
            "/sys/class/kfd/kfd/topology/nodes/0/properties/",
            "/sys/class/kfd/kfd/topology/nodes/0/properties/x",
            "/sys/class/kfd/kfd/topology/nodes/0/../0",
            "/sys/class/kfd/kfd/topology/nodes/99999999999999999999999",
        ] {
            assert_eq!(of(path.as_bytes()), None, "{path}");
        }
    }
}
