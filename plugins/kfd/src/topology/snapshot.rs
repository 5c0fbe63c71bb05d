//! Reading the topology.

use super::{Bank, Cache, Heap, Hidden, Link, Node, Properties};
use crate::error::{Error, Result};
use hansa_plugin_api::sys::{Errno, System};
use std::path::{Path, PathBuf};

/// How often a snapshot is taken again because the machine changed meanwhile.
const MOST_TRIES: u32 = 8;
/// Most nodes, and most entries of one kind of a node, that are looked at.
const MOST_ENTRIES: usize = 4096;

/// The machine at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Nodes in the order of their numbers.
    pub nodes: Vec<Node>,
    /// Nodes that were left out.
    pub hidden: Vec<Hidden>,
    /// Oddities that were passed over, a sentence each.
    pub remarks: Vec<String>,
    /// What tells this moment from others, if the kernel tells.
    pub generation: Option<Vec<u8>>,
}

impl Topology {
    /// Reads the machine below `root`.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] when there is no list of nodes.
    pub fn read(system: &dyn System, root: &Path) -> Result<Self> {
        let generation = || generation(system, root);
        let mut before = generation();
        for _ in 0..MOST_TRIES {
            let topology = Reader { system }.read(root)?;
            let after = generation();
            if after == before {
                return Ok(Self {
                    generation: after,
                    ..topology
                });
            }
            before = after;
        }
        Err(Error::Malformed {
            path: root.join("generation_id"),
            what: format!("The machine changed {MOST_TRIES} times while it was read"),
        })
    }

    /// Whether the machine is still the same.
    pub fn is_current(&self, system: &dyn System, root: &Path) -> bool {
        self.generation.is_some() && self.generation == generation(system, root)
    }

    /// The node with a number.
    #[must_use]
    pub fn node(&self, number: u32) -> Option<&Node> {
        self.nodes.iter().find(|node| node.number == number)
    }
}

fn generation(system: &dyn System, root: &Path) -> Option<Vec<u8>> {
    system.read_file(&root.join("generation_id")).ok()
}

struct Reader<'a> {
    system: &'a dyn System,
}

impl Reader<'_> {
    fn read(&self, root: &Path) -> Result<Topology> {
        let nodes = root.join("nodes");
        let mut numbers = self.numbers(&nodes).map_err(|errno| Error::Read {
            path: nodes.clone(),
            errno,
        })?;
        numbers.truncate(MOST_ENTRIES);
        let mut topology = Topology::default();
        for number in numbers {
            match self.node(&nodes.join(number.to_string()), number, &mut topology.remarks) {
                Ok(node) => topology.nodes.push(node),
                Err(hidden) => topology.hidden.push(hidden),
            }
        }
        Ok(topology)
    }

    /// The entries of a directory that are numbers, in order.
    fn numbers(&self, directory: &Path) -> std::result::Result<Vec<u32>, Errno> {
        let mut numbers: Vec<u32> = self
            .system
            .read_dir(directory)?
            .iter()
            .filter_map(|name| name.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    fn node(&self, path: &Path, number: u32, remarks: &mut Vec<String>) -> std::result::Result<Node, Hidden> {
        let hidden = |file: &str, errno: Errno| Hidden {
            number,
            reason: format!("{} cannot be read", path.join(file).display()),
            errno: Some(errno),
        };
        let id = self
            .system
            .read_file(&path.join("gpu_id"))
            .map_err(|errno| hidden("gpu_id", errno))?;
        let text = String::from_utf8_lossy(&id);
        let gpu_id = text.trim().parse().map_err(|_| Hidden {
            number,
            reason: format!(
                "{} holds {:?}, not a number",
                path.join("gpu_id").display(),
                text.trim().chars().take(40).collect::<String>()
            ),
            errno: None,
        })?;
        let properties = self
            .system
            .read_file(&path.join("properties"))
            .map_err(|errno| hidden("properties", errno))?;
        let properties = Properties::parse(&properties);
        if properties.is_empty() {
            return Err(Hidden {
                number,
                reason: format!("{} holds no properties", path.join("properties").display()),
                errno: None,
            });
        }
        let name = self.system.read_file(&path.join("name")).unwrap_or_default();
        let node = Node {
            number,
            gpu_id,
            name: String::from_utf8_lossy(&name).trim().chars().take(64).collect(),
            banks: self.each(&path.join("mem_banks"), remarks, bank),
            caches: self.each(&path.join("caches"), remarks, cache),
            links: [("io_links", false), ("p2p_links", true)]
                .into_iter()
                .flat_map(|(directory, indirect)| {
                    self.each(&path.join(directory), remarks, |p| link(p, indirect))
                })
                .collect(),
            properties,
        };
        for line in &node.properties.strange {
            remarks.push(format!(
                "{}: {line:?} is no name and number",
                path.join("properties").display()
            ));
        }
        Ok(node)
    }

    /// Reads `properties` of every numbered entry of a directory; one that is not there has none.
    fn each<T>(
        &self,
        directory: &Path,
        remarks: &mut Vec<String>,
        make: impl Fn(&Properties) -> std::result::Result<T, &'static str>,
    ) -> Vec<T> {
        let mut numbers = match self.numbers(directory) {
            Ok(numbers) => numbers,
            Err(Errno::NOENT) => return Vec::new(),
            Err(errno) => {
                remarks.push(format!("{} cannot be read: {errno}", directory.display()));
                return Vec::new();
            }
        };
        numbers.truncate(MOST_ENTRIES);
        let mut made = Vec::with_capacity(numbers.len());
        for number in numbers {
            let path: PathBuf = directory.join(number.to_string()).join("properties");
            let bytes = match self.system.read_file(&path) {
                Ok(bytes) => bytes,
                Err(errno) => {
                    remarks.push(format!("{} cannot be read: {errno}", path.display()));
                    continue;
                }
            };
            match make(&Properties::parse(&bytes)) {
                Ok(item) => made.push(item),
                Err(what) => remarks.push(format!("{}: {what}", path.display())),
            }
        }
        made
    }
}

fn bank(p: &Properties) -> std::result::Result<Bank, &'static str> {
    let bytes = p.find("size_in_bytes").ok_or("no size")?;
    Ok(Bank {
        heap: match p.get("heap_type") {
            0 => Heap::System,
            1 => Heap::Public,
            2 => Heap::Private,
            other => Heap::Other(other),
        },
        bytes,
        width: p.get("width"),
        clock_mhz: p.get("mem_clk_max"),
    })
}

fn cache(p: &Properties) -> std::result::Result<Cache, &'static str> {
    let level = p.get("level");
    if !(1..=8).contains(&level) {
        return Err("no level");
    }
    Ok(Cache {
        processor: p.get("processor_id_low"),
        level,
        kib: p.get("size"),
        line_bytes: p.get("cache_line_size"),
        kind: p.get("type"),
    })
}

/// `node_from` is not looked at: the directory says where a link starts, and copies of nodes have been seen whose
/// file says otherwise.
fn link(p: &Properties, indirect: bool) -> std::result::Result<Link, &'static str> {
    let to = p
        .find("node_to")
        .and_then(|to| u32::try_from(to).ok())
        .ok_or("no end")?;
    Ok(Link {
        to,
        kind: p.get("type"),
        weight: p.get("weight"),
        latency_ns: (p.get("min_latency"), p.get("max_latency")),
        bandwidth_mbs: (p.get("min_bandwidth"), p.get("max_bandwidth")),
        engine_mask: p.get("recommended_sdma_engine_id_mask"),
        flags: p.get("flags"),
        indirect,
    })
}
