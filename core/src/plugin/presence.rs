//! Whether anything a plugin claims is in this machine.
//!
//! Linux shows PCI devices as directories in `/sys/bus/pci/devices`, each with the files `vendor`
//! and `device` (Documentation/ABI/testing/sysfs-bus-pci), loaded and built-in modules that have
//! something to show as directories in `/sys/module`, and devices that programs open as nodes in
//! `/dev`. One claim that is met is enough: the plugin's own probe then says exactly what it found.

use std::path::Path;

use hansa_plugin_api::sys::System;

use super::facts::Facts;
use super::glob;

/// Whether something is there that a plugin claims. A plugin that claims nothing needs nothing.
pub(super) fn is_present(system: &dyn System, facts: &Facts) -> bool {
    let claims_nothing = facts.pci.is_empty() && facts.nodes.is_empty() && facts.modules.is_empty();
    facts.always
        || claims_nothing
        || facts.nodes.iter().any(|node| node_exists(system, node))
        || facts.modules.iter().any(|module| {
            // The kernel writes dashes of a module's file name as underscores.
            system
                .read_dir(&Path::new("/sys/module").join(module.replace('-', "_")))
                .is_ok()
        })
        || pci_device_exists(system, &facts.pci)
}

/// Whether a glob over paths matches something. Each part of the path may have wildcards.
fn node_exists(system: &dyn System, pattern: &str) -> bool {
    fn below(system: &dyn System, dir: &Path, parts: &[&str]) -> bool {
        let Some((first, rest)) = parts.split_first() else {
            return true;
        };
        if !rest.is_empty() && glob::is_literal(first) {
            return below(system, &dir.join(first), rest);
        }
        let Ok(names) = system.read_dir(dir) else {
            return false;
        };
        let mut matching = names.iter().filter(|name| glob::matches(first, name));
        matching.any(|name| below(system, &dir.join(name), rest))
    }
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    below(system, Path::new("/"), &parts)
}

fn pci_device_exists(system: &dyn System, globs: &[String]) -> bool {
    if globs.is_empty() {
        return false;
    }
    let devices = Path::new("/sys/bus/pci/devices");
    let number = |path: &Path| {
        let text = String::from_utf8(system.read_file(path).ok()?).ok()?;
        u16::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
    };
    let names = system.read_dir(devices).unwrap_or_default();
    names.iter().any(|name| {
        let dir = devices.join(name);
        let (Some(vendor), Some(device)) = (number(&dir.join("vendor")), number(&dir.join("device"))) else {
            return false;
        };
        let id = format!("{vendor:04x}:{device:04x}");
        globs.iter().any(|glob| glob::matches(glob, &id))
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use hansa_plugin_api::sys::{Errno, File, MapAccess};

    use super::*;
    use crate::plugin::facts::tests::FACTS;

    /// A system that has these files and nothing else.
    #[derive(Debug, Default)]
    pub(in crate::plugin) struct Files(pub(in crate::plugin) BTreeMap<PathBuf, &'static str>);

    impl System for Files {
        fn open(&self, _: &Path, _: bool) -> Result<File, Errno> {
            Err(Errno::NOSYS)
        }
        fn close(&self, _: File) {}
        unsafe fn ioctl(&self, _: File, _: u32, _: *mut u8) -> Result<i32, Errno> {
            Err(Errno::NOSYS)
        }
        unsafe fn mmap(
            &self,
            _: *mut u8,
            _: usize,
            _: MapAccess,
            _: Option<File>,
            _: u64,
        ) -> Result<*mut u8, Errno> {
            Err(Errno::NOSYS)
        }
        unsafe fn munmap(&self, _: *mut u8, _: usize) -> Result<(), Errno> {
            Err(Errno::NOSYS)
        }
        fn poll(&self, _: File, _: i32) -> Result<bool, Errno> {
            Err(Errno::NOSYS)
        }
        fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
            self.0
                .get(path)
                .map(|text| text.as_bytes().to_vec())
                .ok_or(Errno::NOENT)
        }
        fn read_dir(&self, path: &Path) -> Result<Vec<String>, Errno> {
            let below = self
                .0
                .keys()
                .filter_map(|file| file.strip_prefix(path).ok()?.components().next());
            let mut names: Vec<String> = below
                .map(|name| name.as_os_str().to_string_lossy().into_owned())
                .collect();
            names.dedup();
            if names.is_empty() {
                Err(Errno::NOENT)
            } else {
                Ok(names)
            }
        }
        fn page_size(&self) -> usize {
            4096
        }
    }

    fn present(files: &[(&str, &'static str)], claims: impl FnOnce(&mut Facts)) -> bool {
        let mut facts = Facts::of(&FACTS).unwrap();
        facts.pci.clear();
        facts.nodes.clear();
        claims(&mut facts);
        is_present(
            &Files(files.iter().map(|(path, text)| (path.into(), *text)).collect()),
            &facts,
        )
    }

    #[test]
    fn a_pci_device_is_found_by_its_ids() {
        let gpu = [
            ("/sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n"),
            ("/sys/bus/pci/devices/0000:03:00.0/device", "0x744c\n"),
            ("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n"),
        ];
        assert!(present(&gpu, |facts| facts.pci.push("1002:*".into())));
        assert!(present(&gpu, |facts| facts.pci.push("1002:744c".into())));
        assert!(!present(&gpu, |facts| facts.pci.push("1002:7448".into())));
        assert!(!present(&[], |facts| facts.pci.push("*:*".into())));
    }

    #[test]
    fn a_node_is_found_by_a_glob_over_its_path() {
        let nodes = [("/dev/accel/accel3", ""), ("/dev/kfd", "")];
        assert!(present(&nodes, |facts| facts
            .nodes
            .push("/dev/accel/accel*".into())));
        assert!(present(&nodes, |facts| facts.nodes.push("/dev/kfd".into())));
        assert!(!present(&nodes, |facts| facts
            .nodes
            .push("/dev/dri/renderD*".into())));
    }

    #[test]
    fn a_module_is_found_whatever_its_dashes() {
        let modules = [("/sys/module/virtio_gpu/refcnt", "0")];
        assert!(present(&modules, |facts| facts.modules.push("virtio-gpu".into())));
        assert!(!present(&modules, |facts| facts.modules.push("amdgpu".into())));
    }

    #[test]
    fn who_needs_nothing_is_always_served() {
        assert!(present(&[], |facts| facts.always = true));
        assert!(present(&[], |_| {}));
    }
}
