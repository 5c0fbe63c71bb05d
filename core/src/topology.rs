//! The host's own topology: NUMA nodes, their processors, memory and caches, from `/sys` and `/proc`.
//!
//! The CPU agents need no driver. Everything here is optional in the files: a machine without
//! `/sys/devices/system/node`, or with an unusual `/proc/cpuinfo`, still has one CPU agent.

use hansa_plugin_api::{CacheDescription, CacheFlags};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// One NUMA node with processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostNode {
    /// The kernel's number.
    pub node: u32,
    /// Name of the processor.
    pub name: String,
    /// `CPU`, which is what AMD's runtime gives and programs print.
    pub vendor: String,
    /// Logical processors.
    pub processors: u32,
    /// Bytes of memory.
    pub bytes: u64,
    /// Highest clock in MHz, 0 when unknown.
    pub max_clock_mhz: u32,
    /// Data and unified caches of the first processor.
    pub caches: Vec<CacheDescription>,
}

/// Where the files are; another root in tests.
#[derive(Clone, Debug)]
pub struct HostFiles {
    root: PathBuf,
}

impl Default for HostFiles {
    fn default() -> Self {
        Self {
            root: PathBuf::from("/"),
        }
    }
}

impl HostFiles {
    /// The files below another root.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The start of a file, as text: enough for all that is read here, however many processors there are.
    fn text(&self, path: &str) -> Option<String> {
        let mut buffer = vec![0; 8192];
        let read = fs::File::open(self.path(path)).ok()?.read(&mut buffer).ok()?;
        buffer.truncate(read);
        Some(String::from_utf8_lossy(&buffer).trim().to_owned())
    }

    fn number(&self, path: &str) -> Option<u64> {
        let text = self.text(path)?;
        let digits = text.trim_end_matches('K');
        digits.parse().ok()
    }

    /// The NUMA nodes with processors, by number; at least one.
    #[must_use]
    pub fn nodes(&self) -> Vec<HostNode> {
        let processors = self.text("proc/cpuinfo").unwrap_or_default();
        let (name, vendor) = processor(&processors);
        let mut nodes: Vec<HostNode> = self
            .node_numbers()
            .into_iter()
            .filter_map(|node| self.node(node, &name, &vendor, &processors))
            .collect();
        if nodes.is_empty() {
            nodes.push(HostNode {
                node: 0,
                name,
                vendor,
                processors: processors_of_process(),
                bytes: self.memory("proc/meminfo").unwrap_or_else(physical_bytes),
                max_clock_mhz: self.clock(0, &processors),
                caches: self.caches(0),
            });
        }
        nodes
    }

    fn node_numbers(&self) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(self.path("sys/devices/system/node")) else {
            return Vec::new();
        };
        let mut numbers: Vec<u32> = entries
            .flatten()
            .filter_map(|e| e.file_name().to_str()?.strip_prefix("node")?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    fn node(&self, node: u32, name: &str, vendor: &str, processors: &str) -> Option<HostNode> {
        let list = self.text(&format!("sys/devices/system/node/node{node}/cpulist"))?;
        let (first, count) = count_list(&list)?;
        Some(HostNode {
            node,
            name: name.to_owned(),
            vendor: vendor.to_owned(),
            processors: count,
            bytes: self
                .memory(&format!("sys/devices/system/node/node{node}/meminfo"))
                .unwrap_or_else(physical_bytes),
            max_clock_mhz: self.clock(first, processors),
            caches: self.caches(first),
        })
    }

    fn memory(&self, path: &str) -> Option<u64> {
        let text = self.text(path)?;
        let line = text.lines().find(|line| line.contains("MemTotal:"))?;
        let kib: u64 = line
            .split("MemTotal:")
            .nth(1)?
            .split_whitespace()
            .next()?
            .parse()
            .ok()?;
        kib.checked_mul(1024)
    }

    /// The highest clock, or else that in the text about processors.
    fn clock(&self, processor: u32, processors: &str) -> u32 {
        let khz = self
            .number(&format!(
                "sys/devices/system/cpu/cpu{processor}/cpufreq/cpuinfo_max_freq"
            ))
            .unwrap_or(0);
        if khz != 0 {
            return u32::try_from(khz / 1000).unwrap_or(0);
        }
        processors
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim() == "cpu MHz")
            .and_then(|(_, value)| value.trim().split('.').next()?.parse().ok())
            .unwrap_or(0)
    }

    fn caches(&self, processor: u32) -> Vec<CacheDescription> {
        (0..16)
            .map_while(|index| {
                let base = format!("sys/devices/system/cpu/cpu{processor}/cache/index{index}");
                let level = self.number(&format!("{base}/level"))?;
                Some((base, level))
            })
            .filter_map(|(base, level)| {
                let flags = match self.text(&format!("{base}/type"))?.as_str() {
                    "Instruction" => return None,
                    "Data" => CacheFlags::DATA,
                    _ => CacheFlags::DATA | CacheFlags::INSTRUCTION,
                };
                Some(CacheDescription {
                    level: u32::try_from(level).ok()?,
                    flags,
                    bytes: self.number(&format!("{base}/size"))?.checked_mul(1024)?,
                    line_bytes: self
                        .number(&format!("{base}/coherency_line_size"))
                        .and_then(|n| n.try_into().ok())
                        .unwrap_or(0),
                    reserved: 0,
                })
            })
            .collect()
    }
}

/// Name and vendor of the processor.
fn processor(text: &str) -> (String, String) {
    let field = |names: &[&str]| {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, value)| names.contains(&key.trim()) && !value.trim().is_empty())
            .map(|(_, value)| value.trim().to_owned())
    };
    let name =
        field(&["model name", "cpu", "Model", "Processor", "uarch"]).unwrap_or_else(|| "CPU".to_owned());
    // HSA_AGENT_INFO_VENDOR_NAME of a CPU agent is "CPU" in AMD's runtime; programs print it.
    (name, "CPU".to_owned())
}

/// The first number of a list such as `0-3,8`, and how many it has.
fn count_list(list: &str) -> Option<(u32, u32)> {
    let mut first = None;
    let mut count = 0_u32;
    for part in list.split(',').filter(|p| !p.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (u32, u32) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        count = count.checked_add(high.checked_sub(low)?.checked_add(1)?)?;
        first.get_or_insert(low);
    }
    Some((first?, count))
}

fn processors_of_process() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1))
}

fn physical_bytes() -> u64 {
    // SAFETY: sysconf takes a number and answers a number.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    u64::try_from(pages).unwrap_or(0) * rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (PathBuf, HostFiles) {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let root = std::env::temp_dir().join(format!(
            "hansa-topology-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        ));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (root.clone(), HostFiles::below(&root))
    }

    #[test]
    fn two_nodes_have_their_own_processors_and_memory() {
        let (root, files) = tree(&[
            ("sys/devices/system/node/node0/cpulist", "0-3,8-11\n"),
            (
                "sys/devices/system/node/node0/meminfo",
                "Node 0 MemTotal:       1024 kB\n",
            ),
            ("sys/devices/system/node/node1/cpulist", "4-7\n"),
            (
                "sys/devices/system/node/node1/meminfo",
                "Node 1 MemTotal:       2048 kB\n",
            ),
            ("sys/devices/system/node/node2/cpulist", "\n"),
            (
                "proc/cpuinfo",
                "processor : 0\nvendor_id : AuthenticAMD\nmodel name : AMD EPYC\ncpu MHz : 2450.1\n",
            ),
        ]);
        let nodes = files.nodes();
        assert_eq!(nodes.len(), 2);
        assert_eq!((nodes[0].processors, nodes[0].bytes), (8, 1 << 20));
        assert_eq!(
            (nodes[1].node, nodes[1].processors, nodes[1].bytes),
            (1, 4, 2 << 20)
        );
        assert_eq!(
            (nodes[0].name.as_str(), nodes[0].max_clock_mhz),
            ("AMD EPYC", 2450)
        );
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_list_of_processors_that_cannot_be_is_none() {
        assert_eq!(count_list("0-3,8"), Some((0, 5)));
        for bad in ["", "3-0", "0-4294967295", "0-4294967294,0", "a", "0-3;8"] {
            assert_eq!(count_list(bad), None, "{bad}");
        }
    }

    /// Case T15: there are no nodes, or one whose list of processors is not there.
    #[test]
    fn a_node_without_processors_is_not_the_only_one() {
        let (root, files) = tree(&[
            (
                "sys/devices/system/node/node0/meminfo",
                "Node 0 MemTotal: 1024 kB\n",
            ),
            ("proc/meminfo", "MemTotal:       2048 kB\n"),
        ]);
        let nodes = files.nodes();
        assert_eq!(nodes.len(), 1);
        assert_eq!((nodes[0].node, nodes[0].bytes), (0, 2 << 20));
        assert!(nodes[0].processors >= 1);
        fs::remove_dir_all(root).unwrap();
        assert_ne!(crate::clock::HZ, 0);
    }

    /// Case T16: processors without a vendor, as on POWER and some ARM, and caches of which half the files are missing.
    #[test]
    fn a_processor_without_a_vendor_gets_none_invented() {
        let (root, files) = tree(&[
            ("proc/cpuinfo", "processor : 0\nrevision : 2.2\n"),
            (
                "sys/devices/system/cpu/cpu0/cache/index0/physical_line_partition",
                "1\n",
            ),
            ("sys/devices/system/cpu/cpu0/cache/index0/level", "x\n"),
        ]);
        let node = files.nodes().remove(0);
        assert_eq!((node.name.as_str(), node.vendor.as_str()), ("CPU", "CPU"));
        assert!(node.caches.is_empty());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_machine_without_node_files_has_one_node() {
        let (root, files) = tree(&[("proc/cpuinfo", "cpu\t\t: POWER9, altivec supported\n")]);
        let nodes = files.nodes();
        assert_eq!(nodes.len(), 1);
        assert!(nodes[0].processors >= 1);
        assert!(nodes[0].bytes > 0);
        assert_eq!(nodes[0].name, "POWER9, altivec supported");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_cache_without_a_line_size_is_kept() {
        let (root, files) = tree(&[
            ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
            ("sys/devices/system/cpu/cpu0/cache/index1/level", "1\n"),
            ("sys/devices/system/cpu/cpu0/cache/index1/type", "Instruction\n"),
            ("sys/devices/system/cpu/cpu0/cache/index1/size", "32K\n"),
        ]);
        let caches = files.nodes().remove(0).caches;
        assert_eq!(caches.len(), 1);
        assert_eq!((caches[0].bytes, caches[0].line_bytes), (32 << 10, 0));
        fs::remove_dir_all(root).unwrap();
    }
}
