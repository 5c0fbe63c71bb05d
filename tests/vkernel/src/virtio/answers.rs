//! The host's nodes as its library describes them: C structures packed to 4 bytes, written at literal offsets.
//!
//! The guest reads them with offsets of its own; a difference shows in its description.

use crate::kernel::Kernel;
use crate::system::VirtualSystem;
use hansa_kfd::topology::{Heap, Node, Topology, ROOT};
use std::path::Path;
use std::sync::Arc;

/// A structure that is filled in.
#[derive(Debug)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    pub(super) fn new(bytes: usize) -> Self {
        Self(vec![0; bytes])
    }

    pub(super) fn put<const N: usize>(&mut self, at: usize, value: [u8; N]) -> &mut Self {
        self.0[at..at + N].copy_from_slice(&value);
        self
    }

    pub(super) fn word(&mut self, at: usize, value: u32) -> &mut Self {
        self.put(at, value.to_le_bytes())
    }

    pub(super) fn long(&mut self, at: usize, value: u64) -> &mut Self {
        self.put(at, value.to_le_bytes())
    }
}

/// The machine as the host's library sees it.
pub(super) fn topology(kernel: &Arc<Kernel>) -> Option<Topology> {
    let system = VirtualSystem::new(Arc::clone(kernel));
    Topology::read(system.as_ref(), Path::new(ROOT)).ok()
}

fn low<const N: usize>(value: u64) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&value.to_le_bytes()[..N]);
    bytes
}

/// Banks that say where group and private memory appear, after those of the kernel.
const PLACES: [(u32, u64); 2] = [(4, 1 << 48), (5, 2 << 48)];

/// How many banks a node has.
pub(super) fn bank_count(node: &Node) -> usize {
    node.banks.len() + if node.gpu_id == 0 { 0 } else { PLACES.len() }
}

/// `HsaNodeProperties`.
pub(super) fn node(node: &Node) -> Vec<u8> {
    let p = &node.properties;
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut bytes = Bytes::new(368);
    let arrays = p.get("simd_arrays_per_engine");
    let version = p.get("gfx_target_version");
    let engine = p.get("fw_version") & 0x3ff
        | (version / 10_000) << 10
        | (version / 100 % 100) << 16
        | (version % 100) << 24;
    bytes
        .word(0, p.get("cpu_cores_count"))
        .word(4, p.get("simd_count"))
        .word(12, count(bank_count(node)))
        .word(16, count(node.caches.len()))
        .word(20, count(node.links.len()))
        .word(32, p.get("capability"))
        .word(40, p.get("max_waves_per_simd"))
        .word(44, p.get("lds_size_in_kb"))
        .word(52, p.get("wave_front_size"))
        .word(56, p.get("array_count").checked_div(arrays).unwrap_or(0))
        .word(60, arrays)
        .word(68, p.get("simd_per_cu"))
        .word(76, engine)
        .put(84, low::<2>(p.get64("vendor_id")))
        .put(86, low::<2>(p.get64("device_id")))
        .word(88, p.get("location_id"))
        .long(92, p.get64("local_mem_size"))
        .word(100, p.get("max_engine_clk_fcompute"))
        .word(108, p.get("drm_render_minor"))
        .word(304, p.get("sdma_fw_version") & 0x3ff)
        .long(316, p.get64("hive_id"))
        .word(324, p.get("num_sdma_engines"))
        .word(328, p.get("num_sdma_xgmi_engines"))
        .word(336, p.get("domain"))
        .long(340, p.get64("unique_id"))
        .word(356, p.get("num_xcc"))
        .word(360, node.gpu_id);
    bytes.0[334] = low::<1>(p.get64("num_gws"))[0];
    let name = node.name.as_bytes();
    let length = name.len().min(63);
    bytes.0[240..240 + length].copy_from_slice(&name[..length]);
    bytes.0
}

/// `HsaMemoryProperties`, one after the other.
pub(super) fn banks(node: &Node) -> Vec<u8> {
    let mut all = Vec::new();
    for bank in &node.banks {
        let heap = match bank.heap {
            Heap::System => 0,
            Heap::Public => 1,
            Heap::Private => 2,
            Heap::Other(other) => other,
        };
        let mut bytes = Bytes::new(32);
        bytes
            .word(0, heap)
            .long(4, bank.bytes)
            .word(16, bank.width)
            .word(20, bank.clock_mhz);
        all.extend(bytes.0);
    }
    for (heap, address) in PLACES.iter().filter(|_| node.gpu_id != 0) {
        let mut bytes = Bytes::new(32);
        bytes.word(0, *heap).long(4, 64 << 10).long(24, *address);
        all.extend(bytes.0);
    }
    all
}

/// `HsaCacheProperties`, one after the other.
pub(super) fn caches(node: &Node) -> Vec<u8> {
    let mut all = Vec::new();
    for cache in &node.caches {
        let mut bytes = Bytes::new(1056);
        bytes
            .word(0, cache.processor)
            .word(4, cache.level)
            .word(8, cache.kib)
            .word(12, cache.line_bytes)
            .word(28, cache.kind);
        all.extend(bytes.0);
    }
    all
}

/// `HsaIoLinkProperties`, one after the other.
pub(super) fn links(node: &Node) -> Vec<u8> {
    let mut all = Vec::new();
    for link in &node.links {
        let mut bytes = Bytes::new(52);
        bytes
            .word(0, link.kind)
            .word(12, node.number)
            .word(16, link.to)
            .word(20, link.weight)
            .word(24, link.latency_ns.0)
            .word(28, link.latency_ns.1)
            .word(32, link.bandwidth_mbs.0)
            .word(36, link.bandwidth_mbs.1)
            .word(44, link.engine_mask)
            .word(48, link.flags);
        all.extend(bytes.0);
    }
    all
}
