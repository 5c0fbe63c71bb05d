//! The machines: the kernel's numbers of each, and what AMD's runtime said of it.
//!
//! Numbers of devices, caches and clocks are facts of the hardware; the order of caches is that in which the kernel lists them
//! (`kfd_crat.c`: vector caches, instruction caches, scalar caches, those of a shader array, then the next level).

/// Kinds of caches, as the kernel numbers them.
const DATA: u32 = 9;
const INSTRUCTION: u32 = 10;
/// Bits of the capability word: doorbells of 64 bits, four watch points.
const USUAL: u32 = 0x2280;
const PACKET_DOORBELLS: u32 = 0x1280;
const SRAM_ECC: u32 = 1 << 26;
const SVM: u32 = 1 << 27;
const COHERENT: u32 = 1 << 28;

/// What the kernel said of a GPU.
#[derive(Clone, Copy)]
pub(crate) struct Gpu {
    /// `gfx_target_version`; 0 for a kernel that has no such key.
    pub(crate) version: u32,
    pub(crate) device: u32,
    pub(crate) revision: u32,
    pub(crate) fusion: bool,
    pub(crate) simds: u32,
    pub(crate) simds_per_cu: u32,
    pub(crate) waves: u32,
    pub(crate) lanes: u32,
    pub(crate) arrays: u32,
    pub(crate) per_engine: u32,
    pub(crate) dies: u32,
    pub(crate) clock: u32,
    pub(crate) location: u32,
    pub(crate) unique: u64,
    pub(crate) hive: u64,
    pub(crate) capability: u32,
    /// Bytes of local memory.
    pub(crate) memory: u64,
    /// Level, KiB, bytes of a line, kind.
    pub(crate) caches: &'static [(u32, u32, u32, u32)],
}

/// What AMD's runtime said of it.
#[derive(Clone, Copy)]
pub(crate) struct Said {
    pub(crate) name: &'static str,
    /// Where the list of products, or the processor's name, has it.
    pub(crate) product: Option<&'static str>,
    pub(crate) isa: &'static str,
    pub(crate) uuid: &'static str,
    /// KiB of each level.
    pub(crate) caches: [u32; 3],
    pub(crate) line: u32,
    pub(crate) asic_revision: u32,
    pub(crate) units: u32,
    pub(crate) engines: u32,
    pub(crate) waves_per_cu: u32,
    pub(crate) coherent: bool,
    /// KiB of the pools, and how many there are beside the groups'.
    pub(crate) pool: (u64, usize),
}

pub(crate) struct Published {
    pub(crate) what: &'static str,
    pub(crate) processor: &'static str,
    /// Nodes of the host, one of which each GPU is near.
    pub(crate) hosts: u32,
    pub(crate) gpus: u32,
    pub(crate) gpu: Gpu,
    pub(crate) said: Said,
}

const GFX9: Gpu = Gpu {
    version: 90_000,
    device: 0,
    revision: 0,
    fusion: false,
    simds: 256,
    simds_per_cu: 4,
    waves: 10,
    lanes: 64,
    arrays: 4,
    per_engine: 1,
    dies: 1,
    clock: 0,
    location: 0x300,
    unique: 0,
    hive: 0,
    capability: USUAL,
    memory: 8 << 30,
    caches: &[
        (1, 16, 0, DATA),
        (1, 32, 0, INSTRUCTION),
        (1, 16, 0, DATA),
        (2, 4096, 0, DATA),
    ],
};

const RDNA: Gpu = Gpu {
    simds_per_cu: 2,
    waves: 16,
    lanes: 32,
    per_engine: 2,
    capability: USUAL | SVM,
    ..GFX9
};

const MI300: Gpu = Gpu {
    version: 90_402,
    waves: 8,
    capability: USUAL | SRAM_ECC | SVM | 1 << 22,
    caches: &[
        (1, 32, 128, DATA),
        (1, 64, 128, INSTRUCTION),
        (1, 16, 64, DATA),
        (2, 4096, 128, DATA),
        (3, 262_144, 64, DATA),
    ],
    ..GFX9
};

const NOTHING: Said = Said {
    name: "",
    product: None,
    isa: "",
    uuid: "GPU-XX",
    caches: [16, 0, 0],
    line: 64,
    asic_revision: 0,
    units: 64,
    engines: 4,
    waves_per_cu: 40,
    coherent: false,
    pool: (0, 1),
};

const MI300_SAID: Said = Said {
    name: "gfx942",
    isa: "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
    caches: [32, 4096, 262_144],
    line: 128,
    asic_revision: 1,
    waves_per_cu: 32,
    ..NOTHING
};

const ALONE: Published = Published {
    what: "",
    processor: "Intel(R) Core(TM) i3-12100F",
    hosts: 1,
    gpus: 1,
    gpu: GFX9,
    said: NOTHING,
};

pub(crate) fn machines() -> Vec<Published> {
    let mut machines = older_machines();
    machines.extend(newer_machines());
    machines
}

fn older_machines() -> Vec<Published> {
    vec![
        Published {
            what: "fury-x",
            gpu: Gpu {
                version: 80_003,
                device: 0x7300,
                revision: 0xcb,
                clock: 1000,
                location: 2304,
                capability: PACKET_DOORBELLS,
                memory: 4 << 30,
                caches: &[(1, 16, 64, DATA), (1, 32, 64, INSTRUCTION), (1, 16, 64, DATA)],
                ..GFX9
            },
            said: Said {
                name: "gfx803",
                product: Some("AMD Radeon R9 Fury Series"),
                isa: "amdgcn-amd-amdhsa--gfx803",
                pool: (4 << 20, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            // A kernel of 2018, which has neither versions nor second caches.
            what: "rx-470-linux-4.17",
            gpu: Gpu {
                version: 0,
                device: 26_591,
                revision: 0xcf,
                simds: 128,
                clock: 1260,
                location: 256,
                capability: PACKET_DOORBELLS,
                memory: 8 << 30,
                caches: &[(1, 16, 64, DATA), (1, 32, 64, INSTRUCTION), (1, 16, 64, DATA)],
                ..GFX9
            },
            said: Said {
                name: "gfx803",
                product: Some("AMD Radeon RX 470 Graphics"),
                isa: "amdgcn-amd-amdhsa--gfx803",
                units: 32,
                pool: (8 << 20, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            what: "raven2",
            processor: "AMD Ryzen 3 3200U with Radeon Vega Mobile Gfx",
            gpu: Gpu {
                version: 90_002,
                device: 0x15d8,
                revision: 0xc4,
                fusion: true,
                simds: 12,
                arrays: 1,
                clock: 1200,
                location: 1280,
                capability: USUAL | 9 << 22,
                memory: 2 << 30,
                caches: &[
                    (1, 16, 0, DATA),
                    (1, 32, 0, INSTRUCTION),
                    (1, 16, 0, DATA),
                    (2, 1024, 0, DATA),
                ],
                ..GFX9
            },
            said: Said {
                name: "gfx902",
                product: Some("AMD Radeon Vega 3 Graphics"),
                isa: "amdgcn-amd-amdhsa--gfx902:xnack-",
                caches: [16, 1024, 0],
                asic_revision: 9,
                units: 3,
                engines: 1,
                pool: (2 << 20, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            what: "cezanne",
            processor: "AMD Ryzen 5 5600G with Radeon Graphics",
            gpu: Gpu {
                version: 90_012,
                device: 0x1638,
                revision: 0xfe,
                fusion: true,
                simds: 28,
                arrays: 1,
                clock: 1900,
                location: 12_288,
                memory: 4 << 30,
                caches: &[
                    (1, 16, 0, DATA),
                    (1, 32, 0, INSTRUCTION),
                    (1, 16, 0, DATA),
                    (2, 1024, 0, DATA),
                ],
                ..GFX9
            },
            said: Said {
                name: "gfx90c",
                product: Some("AMD Radeon Graphics"),
                isa: "amdgcn-amd-amdhsa--gfx90c:xnack-",
                caches: [16, 1024, 0],
                units: 7,
                engines: 1,
                pool: (4_194_304, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            what: "mi50",
            gpu: Gpu {
                version: 90_006,
                device: 0x66a1,
                revision: 0x02,
                simds: 240,
                clock: 1725,
                location: 58_112,
                unique: 0x3cc2_5121_7349_7dfb,
                capability: USUAL | SRAM_ECC | 1 << 22,
                memory: 17_163_091_968,
                caches: &[
                    (1, 16, 64, DATA),
                    (1, 32, 64, INSTRUCTION),
                    (1, 16, 64, DATA),
                    (2, 8192, 0, DATA),
                ],
                ..GFX9
            },
            said: Said {
                name: "gfx906",
                product: Some("AMD Instinct MI60 / MI50"),
                isa: "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-",
                uuid: "GPU-3cc2512173497dfb",
                caches: [16, 8192, 0],
                asic_revision: 1,
                units: 60,
                pool: (16_760_832, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            // Four nodes of the host, each with two halves of cards that are linked with the processor and each other.
            what: "mi250x-lumi",
            processor: "AMD EPYC 7A53 64-Core Processor",
            hosts: 4,
            gpus: 8,
            gpu: Gpu {
                version: 90_010,
                device: 0x7408,
                revision: 0x00,
                simds: 440,
                waves: 8,
                arrays: 8,
                clock: 1700,
                location: 53_504,
                unique: 0xa543_f055_67cb_e736,
                hive: 0x55,
                capability: USUAL | SRAM_ECC | SVM | COHERENT | 1 << 22,
                memory: 68_702_699_520,
                caches: &[
                    (1, 16, 64, DATA),
                    (1, 32, 64, INSTRUCTION),
                    (1, 16, 64, DATA),
                    (2, 8192, 0, DATA),
                ],
                ..GFX9
            },
            said: Said {
                name: "gfx90a",
                product: Some("AMD Instinct MI250X"),
                isa: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
                uuid: "GPU-a543f05567cbe736",
                caches: [16, 8192, 0],
                asic_revision: 1,
                units: 110,
                engines: 8,
                waves_per_cu: 32,
                coherent: true,
                pool: (67_092_480, 2),
                ..NOTHING
            },
        },
    ]
}

fn newer_machines() -> Vec<Published> {
    vec![
        Published {
            what: "mi300x-spx",
            processor: "INTEL(R) XEON(R) PLATINUM 8562Y+",
            hosts: 2,
            gpus: 8,
            gpu: Gpu {
                device: 29_857,
                simds: 1216,
                arrays: 32,
                dies: 8,
                clock: 2100,
                location: 6912,
                unique: 0x0738_6a32_1fa4_5d1e,
                hive: 0x1234,
                memory: 206_141_652_992,
                ..MI300
            },
            said: Said {
                uuid: "GPU-07386a321fa45d1e",
                units: 304,
                engines: 32,
                pool: (201_310_208, 2),
                ..MI300_SAID
            },
        },
        Published {
            what: "mi300x-cpx",
            hosts: 2,
            gpus: 8,
            gpu: Gpu {
                device: 29_857,
                simds: 152,
                arrays: 4,
                clock: 1950,
                location: 1280,
                unique: 0x0738_6a32_1fa4_5d1e,
                hive: 0x1234,
                memory: 25_767_706_624,
                ..MI300
            },
            said: Said {
                uuid: "GPU-07386a321fa45d1e",
                units: 38,
                pool: (25_163_776, 2),
                ..MI300_SAID
            },
            ..ALONE
        },
        Published {
            what: "mi300a",
            processor: "AMD Instinct MI300A Accelerator",
            hosts: 4,
            gpus: 4,
            gpu: Gpu {
                device: 29_856,
                fusion: true,
                simds: 912,
                arrays: 24,
                dies: 6,
                clock: 2100,
                location: 256,
                unique: 0xb8e0_0789_91ff_9d4d,
                hive: 0x77,
                memory: 131_795_444 << 10,
                ..MI300
            },
            said: Said {
                product: Some("AMD Instinct MI300A Accelerator"),
                uuid: "GPU-b8e0078991ff9d4d",
                units: 228,
                engines: 24,
                pool: (131_795_444, 2),
                ..MI300_SAID
            },
        },
        Published {
            // The cache of a shader array is of the first level, too, and larger than those that programs ask for.
            what: "rx-6700-xt",
            gpu: Gpu {
                version: 100_301,
                device: 29_663,
                revision: 0xff,
                simds: 80,
                arrays: 4,
                clock: 2725,
                location: 2048,
                memory: 12_868_124_672,
                caches: &[
                    (1, 16, 128, DATA),
                    (1, 32, 64, INSTRUCTION),
                    (1, 16, 64, DATA),
                    (1, 128, 128, DATA),
                    (2, 3072, 128, DATA),
                    (3, 98_304, 64, DATA),
                ],
                ..RDNA
            },
            said: Said {
                name: "gfx1031",
                isa: "amdgcn-amd-amdhsa--gfx1031",
                caches: [16, 3072, 98_304],
                line: 128,
                units: 40,
                engines: 2,
                waves_per_cu: 32,
                pool: (12_566_528, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            what: "rx-7900-xt",
            gpu: Gpu {
                version: 110_000,
                device: 29_772,
                revision: 0xff,
                simds: 168,
                arrays: 12,
                clock: 2025,
                location: 768,
                memory: 21_458_059_264,
                caches: &[
                    (1, 32, 0, DATA),
                    (1, 32, 0, INSTRUCTION),
                    (1, 16, 0, DATA),
                    (1, 256, 0, DATA),
                    (2, 6144, 0, DATA),
                    (3, 81_920, 0, DATA),
                ],
                ..RDNA
            },
            said: Said {
                name: "gfx1100",
                isa: "amdgcn-amd-amdhsa--gfx1100",
                caches: [32, 6144, 81_920],
                units: 84,
                engines: 6,
                waves_per_cu: 32,
                pool: (20_955_136, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            what: "strix-halo",
            processor: "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S",
            gpu: Gpu {
                version: 110_501,
                device: 0x1586,
                revision: 0xfe,
                fusion: true,
                simds: 80,
                arrays: 4,
                clock: 2900,
                location: 25_856,
                memory: 92_274_688 << 10,
                caches: &[
                    (1, 32, 128, DATA),
                    (1, 32, 128, INSTRUCTION),
                    (1, 16, 64, DATA),
                    (1, 256, 128, DATA),
                    (2, 2048, 128, DATA),
                    (3, 32_768, 64, DATA),
                ],
                ..RDNA
            },
            said: Said {
                name: "gfx1151",
                product: Some("AMD Radeon 8060S"),
                isa: "amdgcn-amd-amdhsa--gfx1151",
                caches: [32, 2048, 32_768],
                line: 128,
                units: 40,
                engines: 2,
                waves_per_cu: 32,
                pool: (92_274_688, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            what: "r9700",
            gpu: Gpu {
                version: 120_001,
                device: 0x7551,
                revision: 0xff,
                simds: 128,
                arrays: 8,
                clock: 2350,
                location: 768,
                unique: 0xb84b_4aa8_c759_8291,
                capability: USUAL | SVM | 1 << 22,
                memory: 34_208_743_424,
                caches: &[
                    (1, 32, 128, DATA),
                    (1, 64, 128, INSTRUCTION),
                    (1, 16, 64, DATA),
                    (2, 8192, 256, DATA),
                    (3, 65_536, 64, DATA),
                ],
                ..RDNA
            },
            said: Said {
                name: "gfx1201",
                isa: "amdgcn-amd-amdhsa--gfx1201",
                uuid: "GPU-b84b4aa8c7598291",
                caches: [32, 8192, 65_536],
                line: 256,
                asic_revision: 1,
                units: 64,
                waves_per_cu: 32,
                pool: (33_406_976, 1),
                ..NOTHING
            },
            ..ALONE
        },
        Published {
            what: "rx-9060-xt",
            gpu: Gpu {
                // A kernel that does not say which version.
                version: 0,
                device: 30_096,
                revision: 0xff,
                simds: 64,
                arrays: 4,
                clock: 2780,
                location: 768,
                capability: USUAL | SVM | 1 << 22,
                memory: 17_095_983_104,
                caches: &[
                    (1, 32, 128, DATA),
                    (1, 64, 128, INSTRUCTION),
                    (1, 16, 64, DATA),
                    (2, 4096, 256, DATA),
                    (3, 32_768, 64, DATA),
                ],
                ..RDNA
            },
            said: Said {
                name: "gfx1200",
                isa: "amdgcn-amd-amdhsa--gfx1200",
                caches: [32, 4096, 32_768],
                line: 256,
                asic_revision: 1,
                units: 32,
                engines: 2,
                waves_per_cu: 32,
                pool: (16_695_296, 1),
                ..NOTHING
            },
            ..ALONE
        },
    ]
}
