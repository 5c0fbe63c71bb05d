//! The described machine: processors, GPUs, and the files that tell of them.

use crate::beside::{self, Beside, ADDRESS_BITS};
use crate::tree::Tree;
use hansa_kfd::discover::capability;
use hansa_kfd::topology::{Properties, ROOT};
use std::path::{Path, PathBuf};

/// Parameters of the module that programs look at: waves are saved, and the device is no model of one.
const PARAMETERS: [(&str, &str); 2] = [("cwsr_enable", "1\n"), ("emu_mode", "0\n")];
/// Where product names are.
const PRODUCTS: &str = "/usr/share/libdrm/amdgpu.ids";

/// Where the host's own nodes are.
pub const HOSTS: &str = "/sys/devices/system/node";

/// A GPU, as requests see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Node of the topology.
    pub node: u32,
    /// Number of the device.
    pub gpu_id: u32,
    /// Minor number of the render node.
    pub render_minor: u32,
    /// Bytes of local memory.
    pub vram: u64,
    /// PCI device number.
    pub device_id: u32,
    /// PCI revision.
    pub revision: u32,
    /// What kind of device the graphics driver says it is.
    pub ids_flags: u64,
    /// Bytes of its address space.
    pub address_bytes: u64,
    /// `gfx_target_version`.
    pub version: u32,
    /// Global wave sync resources.
    pub gws: u32,
    /// Copy engines.
    pub engines: u32,
    /// KiB of a group's memory.
    pub lds_kib: u32,
    /// Its doorbells have 32 bits, and its queues' rings are laid out twice, as before gfx9.
    pub is_old: bool,
    /// Its kind and numbers, as far as it is known: what saving its waves takes follows from them.
    pub shape: Option<(hansa_kfd::chip::Target, hansa_kfd::chip::Shape)>,
}

impl Gpu {
    /// Bytes of a doorbell.
    #[must_use]
    pub const fn doorbell_bytes(&self) -> u64 {
        if self.is_old {
            4
        } else {
            8
        }
    }

    /// Bytes of a process's doorbells, of which there is a whole page at least.
    #[must_use]
    pub fn doorbell_page_bytes(&self, page: u64) -> u64 {
        (self.doorbell_bytes() * 1024).max(page)
    }

    /// Where the waves of a queue are saved.
    #[must_use]
    pub fn save_area(&self, page: u64) -> Option<hansa_kfd::chip::SaveArea> {
        let (target, shape) = self.shape?;
        hansa_kfd::chip::save_area(target, shape, page)
    }
}

/// A machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Its files.
    pub tree: Tree,
    /// Its GPUs.
    pub gpus: Vec<Gpu>,
}

/// What a described GPU is like. The default is a Vega 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuSpec {
    /// `gfx_target_version`.
    pub version: u32,
    /// PCI device number.
    pub device_id: u32,
    /// SIMD units.
    pub simds: u32,
    /// SIMD units of a compute unit.
    pub simds_per_cu: u32,
    /// Waves of a SIMD unit.
    pub waves_per_simd: u32,
    /// Lanes of a wave.
    pub lanes: u32,
    /// Shader arrays.
    pub arrays: u32,
    /// Shader arrays of an engine.
    pub arrays_per_engine: u32,
    /// KiB of group memory.
    pub lds_kib: u32,
    /// Dies.
    pub dies: u32,
    /// Bytes of local memory.
    pub vram: u64,
    /// The host sees local memory.
    pub visible: bool,
    /// Capability word.
    pub capability: u32,
    /// Copy engines for the host, and on links.
    pub engines: (u32, u32),
    /// Group of linked devices.
    pub hive: u64,
    /// Part of a processor, whose memory it uses.
    pub integrated: bool,
    /// Width of its address space; 0 for that of its generation.
    pub address_bits: u32,
    /// Its way to the processor is a link of its own, and not the bus.
    pub linked: bool,
}

impl Default for GpuSpec {
    fn default() -> Self {
        Self {
            version: 90_000,
            device_id: 0x687f,
            simds: 256,
            simds_per_cu: 4,
            waves_per_simd: 10,
            lanes: 64,
            arrays: 4,
            arrays_per_engine: 1,
            lds_kib: 64,
            dies: 1,
            vram: 8_573_157_376,
            visible: true,
            capability: 0x2280,
            engines: (2, 0),
            hive: 0,
            integrated: false,
            address_bits: 0,
            linked: false,
        }
    }
}

impl GpuSpec {
    /// A GPU of a processor, with the shape that its family has.
    #[must_use]
    pub fn of_version(version: u32) -> Self {
        let mut base = Self {
            version,
            // No device of the table: the version says what it is.
            device_id: 0x7fff,
            ..Self::default()
        };
        if matches!(version, 90_006 | 90_008 | 90_010 | 90_400..=90_500) {
            // Registers and caches of these are error-correcting.
            base.capability |= capability::SRAM_ECC;
        }
        match version {
            ..90_000 => Self {
                // Doorbells that count packets.
                capability: 0x1280,
                ..base
            },
            90_008 => Self {
                simds: 480,
                arrays: 8,
                engines: (2, 6),
                ..base
            },
            90_010 => Self {
                simds: 416,
                arrays: 8,
                waves_per_simd: 8,
                engines: (2, 3),
                ..base
            },
            90_400..=90_402 => Self {
                simds: 1216,
                arrays: 32,
                waves_per_simd: 8,
                dies: 8,
                engines: (2, 14),
                hive: 77,
                ..base
            },
            90_500 => Self {
                simds: 1024,
                arrays: 32,
                waves_per_simd: 8,
                dies: 8,
                lds_kib: 160,
                engines: (2, 14),
                hive: 77,
                ..base
            },
            100_000.. => Self {
                simds: 64,
                simds_per_cu: 2,
                waves_per_simd: 16,
                lanes: 32,
                arrays: 4,
                arrays_per_engine: 2,
                ..base
            },
            _ => base,
        }
    }

    /// A GPU by the name of its processor, such as `gfx90a`; `gfx900` is the default Vega 10. After colons come what it has
    /// besides: `debug` for firmware that reports exceptions, `svm` for shared virtual memory; and what it has not: `private`
    /// for local memory that the host does not see, `noengines` for no copy engines. `linked` has a link to the processor.
    ///
    /// # Errors
    ///
    /// A sentence for a name that is none.
    pub fn named(text: &str) -> Result<Self, String> {
        let mut words = text.split(':');
        let mut spec = Self::of_name(words.next().unwrap_or_default())?;
        for word in words {
            match word {
                "debug" => spec.capability |= capability::DEBUG_FIRMWARE,
                "svm" => spec.capability |= capability::SVM,
                "private" => spec.visible = false,
                "noengines" => spec.engines = (0, 0),
                "linked" => spec.linked = true,
                other => {
                    return Err(format!(
                        "{other:?} is neither debug nor svm, private, noengines nor linked"
                    ))
                }
            }
        }
        Ok(spec)
    }

    fn of_name(name: &str) -> Result<Self, String> {
        let chip = hansa_kfd::chip::CHIPS
            .iter()
            .find(|chip| chip.target.to_string() == name)
            .ok_or_else(|| format!("{name:?} is no processor, such as gfx90a"))?;
        let t = chip.target;
        match u32::from(t.major) * 10_000 + u32::from(t.minor) * 100 + u32::from(t.step) {
            90_000 => Ok(Self::default()),
            version => Ok(Self::of_version(version)),
        }
    }

    fn properties(&self, index: u32, render_minor: u32) -> String {
        let pairs: [(&str, u64); 38] = [
            ("cpu_cores_count", 0),
            ("simd_count", self.simds.into()),
            ("mem_banks_count", 1),
            ("caches_count", 2),
            ("io_links_count", 1),
            ("p2p_links_count", 0),
            ("cpu_core_id_base", 0),
            ("simd_id_base", 2_147_487_744),
            ("max_waves_per_simd", self.waves_per_simd.into()),
            ("lds_size_in_kb", self.lds_kib.into()),
            ("gds_size_in_kb", 0),
            ("num_gws", 64),
            ("wave_front_size", self.lanes.into()),
            ("array_count", self.arrays.into()),
            ("simd_arrays_per_engine", self.arrays_per_engine.into()),
            ("cu_per_simd_array", 16),
            ("simd_per_cu", self.simds_per_cu.into()),
            ("max_slots_scratch_cu", 32),
            ("gfx_target_version", self.version.into()),
            ("vendor_id", 4098),
            ("device_id", self.device_id.into()),
            ("location_id", u64::from(index + 3) << 8),
            ("domain", 0),
            ("drm_render_minor", render_minor.into()),
            ("hive_id", self.hive),
            ("num_sdma_engines", self.engines.0.into()),
            ("num_sdma_xgmi_engines", self.engines.1.into()),
            ("num_sdma_queues_per_engine", 2),
            ("num_cp_queues", 24),
            ("max_engine_clk_fcompute", 1630),
            ("local_mem_size", 0),
            ("fw_version", 432),
            ("capability", self.capability.into()),
            ("debug_prop", 0),
            ("sdma_fw_version", 430),
            ("unique_id", 156_410_164_096_331 + u64::from(index)),
            ("num_xcc", self.dies.into()),
            ("max_engine_clk_ccompute", 2000),
        ];
        lines(&pairs)
    }
}

fn lines(pairs: &[(&str, u64)]) -> String {
    pairs
        .iter()
        .map(|(name, value)| format!("{name} {value}\n"))
        .collect()
}

fn link(from: u32, to: u32, linked: bool) -> String {
    lines(&[
        ("type", if linked { 11 } else { 2 }),
        ("version_major", 0),
        ("version_minor", 0),
        ("node_from", from.into()),
        ("node_to", to.into()),
        ("weight", 20),
        ("min_latency", 0),
        ("max_latency", 0),
        ("min_bandwidth", 312),
        ("max_bandwidth", 16_000),
        ("recommended_transfer_size", 0),
        ("flags", 1),
    ])
}

impl Machine {
    /// A machine with one processor node and some GPUs.
    #[must_use]
    pub fn with_gpus(specs: &[GpuSpec]) -> Self {
        let root = Path::new(ROOT);
        let mut tree = Tree::default();
        tree.put(root.join("generation_id"), "2\n");
        tree.put(
            root.join("system_properties"),
            "platform_oem 0\nplatform_id 0\nplatform_rev 1\n",
        );
        let host = root.join("nodes/0");
        tree.put(host.join("gpu_id"), "0\n");
        tree.put(host.join("name"), "\n");
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
        tree.put(
            host.join("properties"),
            lines(&[
                ("cpu_cores_count", cores),
                ("simd_count", 0),
                ("mem_banks_count", 1),
                ("caches_count", 0),
                ("io_links_count", specs.len() as u64),
                ("p2p_links_count", 0),
                ("cpu_core_id_base", 0),
                ("max_engine_clk_ccompute", 2000),
            ]),
        );
        tree.put(
            host.join("mem_banks/0/properties"),
            "heap_type 0\nsize_in_bytes 25276059648\nflags 0\nwidth 64\nmem_clk_max 2400\n",
        );
        for (index, spec) in (0_u32..).zip(specs) {
            let node = root.join(format!("nodes/{}", index + 1));
            tree.put(node.join("gpu_id"), format!("{}\n", 51_555 + index * 7));
            tree.put(node.join("name"), "virtual\n");
            tree.put(node.join("properties"), spec.properties(index, 128 + index));
            let address_bits = u64::from(spec.address_bits);
            tree.put(
                node.join(beside::DEVICE),
                lines(&[
                    ("ids_flags", spec.integrated.into()),
                    ("address_bits", address_bits),
                ]),
            );
            let heap = if spec.visible { 1 } else { 2 };
            tree.put(
                node.join("mem_banks/0/properties"),
                format!(
                    "heap_type {heap}\nsize_in_bytes {}\nflags 0\nwidth 2048\nmem_clk_max 945\n",
                    spec.vram
                ),
            );
            for (number, level, kib, line) in [(0, 1, 16, 64), (1, 2, 4096, 128)] {
                tree.put(
                    node.join(format!("caches/{number}/properties")),
                    format!(
                        "processor_id_low 2147487744\nlevel {level}\nsize {kib}\ncache_line_size {line}\n\
                         cache_lines_per_tag 1\nassociation 0\nlatency 0\ntype 9\nsibling_map 1,0,0\n"
                    ),
                );
            }
            tree.put(
                node.join("io_links/0/properties"),
                link(index + 1, 0, spec.linked),
            );
            if spec.visible {
                tree.put(
                    host.join(format!("io_links/{index}/properties")),
                    link(0, index + 1, spec.linked),
                );
            }
        }
        Self::of_tree(tree)
    }

    /// A machine with one Vega 10.
    #[must_use]
    pub fn vega10() -> Self {
        Self::with_gpus(&[GpuSpec::default()])
    }

    /// A machine whose topology directory was copied.
    ///
    /// # Errors
    ///
    /// What reading says.
    pub fn of_dump(directory: &Path) -> std::io::Result<Self> {
        let mut tree = Tree::default();
        tree.load(directory, Path::new(ROOT))?;
        let mut machine = Self::of_tree(tree);
        machine.put_hosts();
        Ok(machine)
    }

    /// The files of the machine's own processor nodes, as far as its topology tells of them.
    fn put_hosts(&mut self) {
        let nodes = Path::new(ROOT).join("nodes");
        let mut first = 0;
        for node in 0..u32::try_from(self.tree.list(&nodes).map_or(0, |names| names.len())).unwrap_or(0) {
            let at = nodes.join(node.to_string());
            let read = |file: &str| Properties::parse(self.tree.file(&at.join(file)).unwrap_or_default());
            let cores = read("properties").get("cpu_cores_count");
            if cores == 0 {
                continue;
            }
            let host = PathBuf::from(format!("{HOSTS}/node{node}"));
            if self.tree.file(&host.join("cpulist")).is_some() {
                // A file that was copied with the topology.
                continue;
            }
            let kib = read("mem_banks/0/properties").get64("size_in_bytes") / 1024;
            self.tree
                .put(host.join("cpulist"), format!("{first}-{}\n", first + cores - 1));
            self.tree
                .put(host.join("meminfo"), format!("Node {node} MemTotal: {kib} kB\n"));
            first += cores;
        }
    }

    /// A machine of a tree that has a topology; the files around it are added.
    #[must_use]
    pub fn of_tree(mut tree: Tree) -> Self {
        beside::spread(&mut tree);
        let nodes = Path::new(ROOT).join("nodes");
        let mut numbers: Vec<u32> = tree
            .list(&nodes)
            .unwrap_or_default()
            .iter()
            .filter_map(|name| name.parse().ok())
            .collect();
        numbers.sort_unstable();
        let mut gpus = Vec::new();
        let mut hosts = 0;
        for node in numbers {
            let at = nodes.join(node.to_string());
            let beside = beside::of_node(&mut tree, &at);
            let text = |file: &str| tree.file(&at.join(file)).map(<[u8]>::to_vec).unwrap_or_default();
            let p = Properties::parse(&text("properties"));
            let gpu_id: u32 = String::from_utf8_lossy(&text("gpu_id"))
                .trim()
                .parse()
                .unwrap_or(0);
            if gpu_id == 0 {
                hosts += 1;
                continue;
            }
            gpus.push(gpu(
                node,
                gpu_id,
                &p,
                &Properties::parse(&text("mem_banks/0/properties")),
                beside,
            ));
        }
        let numa = Path::new(HOSTS);
        if tree.list(numa).is_none() {
            for node in 0..hosts.max(1) {
                tree.put_directory(&numa.join(format!("node{node}")));
            }
        }
        tree.put("/proc/modules", "amdgpu 9000000 0 - Live 0x0000000000000000\n");
        let module = PathBuf::from("/sys/module/amdgpu");
        tree.put(module.join("refcnt"), "0\n");
        tree.put(module.join("coresize"), "9000000\n");
        tree.put(module.join("initstate"), "live\n");
        tree.put_directory(&module.join("holders"));
        for (parameter, value) in PARAMETERS {
            let file = module.join("parameters").join(parameter);
            if tree.file(&file).is_none() {
                tree.put(file, value);
            }
        }
        for (card, gpu) in gpus.iter().enumerate() {
            let drm = format!("/sys/dev/char/226:{}/device/drm", gpu.render_minor);
            // Programs tell devices apart by the names of their nodes.
            for node in [format!("card{card}"), format!("renderD{}", gpu.render_minor)] {
                tree.put_directory(&Path::new(&drm).join(node));
            }
        }
        tree.put(PRODUCTS, "1.0.0\n687F,\tC1,\tAMD Radeon RX Vega\n");
        Self { tree, gpus }
    }
}

fn gpu(node: u32, gpu_id: u32, p: &Properties, bank: &Properties, beside: Beside) -> Gpu {
    use hansa_kfd::chip;
    let target = chip::Target::of_version(p.get("gfx_target_version"))
        .or_else(|| chip::by_device_id(p.get("device_id")));
    let is_old = target.is_some_and(|target| target.major < 9);
    let usual = if is_old { ADDRESS_BITS.0 } else { ADDRESS_BITS.1 };
    let shape = target.map(|target| (target, hansa_kfd::topology::Numbers::of(p, target).shape));
    Gpu {
        node,
        gpu_id,
        render_minor: p.get("drm_render_minor"),
        vram: bank.get64("size_in_bytes"),
        device_id: p.get("device_id"),
        version: p.get("gfx_target_version"),
        gws: p.get("num_gws"),
        engines: p.get("num_sdma_engines") + p.get("num_sdma_xgmi_engines"),
        lds_kib: p.get("lds_size_in_kb"),
        is_old,
        revision: beside.revision,
        ids_flags: beside.ids_flags,
        address_bytes: 1 << beside.address_bits.unwrap_or(usual),
        shape,
    }
}
