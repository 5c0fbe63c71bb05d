//! The host's nodes, in the words of its kernel, so that chips and descriptions are judged as they are outside.
//!
//! The structures are those of AMD's `hsakmttypes.h` (libhsakmt of 2025), packed to 4 bytes. Counts are not believed: lists
//! are asked for as long as an answer can be.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::wire::{bytes, query, Answer, VALUES};
use hansa_kfd::topology::{Bank, Cache, Heap, Link, Node, Properties, Topology};
use hansa_kfd::uapi::drm::DeviceInfo;

/// Most nodes of a machine.
const MOST_NODES: u32 = 1024;
/// Most entries of a list that the host gives at once.
const MOST_ENTRIES: usize = 128;

/// Bytes of an entry.
mod entry {
    pub(super) const BANK: usize = 32;
    pub(super) const CACHE: usize = 1056;
    pub(super) const LINK: usize = 52;
}

/// Kinds of memory that only say where something appears.
mod heap {
    pub(super) const GROUP: u32 = 4;
    pub(super) const PRIVATE: u32 = 5;
}

/// Where a GPU has group and private memory of a wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apertures {
    /// The host's number of the node.
    pub node: u32,
    /// First address of group memory.
    pub group: u64,
    /// First address of private memory.
    pub private: u64,
}

/// Asks for all nodes. `render_minor` is the guest's node that leads to them. Answers the places of group and private
/// memory beside them.
///
/// # Errors
///
/// What the host says, and [`Error::Nonsense`].
pub fn read(context: &Context, render_minor: u32) -> Result<(Topology, Vec<Apertures>)> {
    let nodes = context.query("GET_SYS_PROP", query::SYSTEM, &[], 0)?.word(VALUES);
    if nodes > MOST_NODES {
        return Err(Error::Nonsense {
            request: "GET_SYS_PROP",
            what: format!("{nodes} nodes"),
        });
    }
    let mut topology = Topology::default();
    let mut apertures = Vec::new();
    for number in 0..nodes {
        let answer = context.query("GET_NODE_PROP", query::NODE, &[number], 0)?;
        let of = |at| answer.word(VALUES + at);
        let (banks, places) = banks(context, number, of(12))?;
        apertures.push(places);
        topology.nodes.push(Node {
            number,
            gpu_id: gpu_id(&answer, number),
            name: answer.text(VALUES + 240, 64),
            properties: properties(&answer, render_minor),
            banks,
            caches: caches(context, number, of(16))?,
            links: links(context, number, of(20))?,
        });
    }
    Ok((topology, apertures))
}

/// The number of a device; hosts before it was told are without.
fn gpu_id(answer: &Answer, node: u32) -> u32 {
    match (answer.word(VALUES + 4), answer.word(VALUES + 360)) {
        (0, _) => 0,
        (_, 0) => node + 1,
        (_, told) => told,
    }
}

/// The numbers of a node, under the names that the kernel gives them.
fn properties(answer: &Answer, render_minor: u32) -> Properties {
    let word = |at| u64::from(answer.word(VALUES + at));
    let half = |at| u64::from(answer.half(VALUES + at));
    let byte = |at| u64::from(answer.byte(VALUES + at));
    let long = |at| answer.long(VALUES + at);
    let engine = answer.word(VALUES + 76);
    let (major, minor, step) = (engine >> 10 & 0x3f, engine >> 16 & 0xff, engine >> 24);
    [
        ("cpu_cores_count", word(0)),
        ("simd_count", word(4)),
        ("capability", word(32)),
        ("max_waves_per_simd", word(40)),
        ("lds_size_in_kb", word(44)),
        ("wave_front_size", word(52)),
        // The library divides what the kernel gives.
        ("array_count", word(56) * word(60)),
        ("simd_arrays_per_engine", word(60)),
        ("simd_per_cu", word(68)),
        (
            "gfx_target_version",
            u64::from(major * 10_000 + minor * 100 + step),
        ),
        ("fw_version", u64::from(engine & 0x3ff)),
        ("vendor_id", half(84)),
        ("device_id", half(86)),
        ("location_id", word(88)),
        ("local_mem_size", long(92)),
        ("max_engine_clk_fcompute", word(100)),
        ("drm_render_minor", u64::from(render_minor)),
        ("sdma_fw_version", word(304) & 0x3ff),
        ("hive_id", long(316)),
        ("domain", word(336)),
        ("unique_id", long(340)),
        ("num_xcc", word(356)),
        // The library lists ways through processors among the others, or adds them where its kernel does not.
        ("p2p_links_count", 0),
    ]
    .into_iter()
    .chain((byte(335) != 0).then_some(("integrated", 1)))
    .collect()
}

/// How many entries of a list fit in an answer.
fn most(context: &Context, count: u32, each: usize) -> usize {
    let room = (context.channel().room() - bytes::QUERY_ANSWER) / each;
    (count as usize).min(MOST_ENTRIES).min(room)
}

fn list(
    context: &Context,
    request: &'static str,
    kind: u32,
    arguments: &[u32],
    count: usize,
    each: usize,
) -> Result<Vec<Answer>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let answer = context.query(request, kind, arguments, count * each)?;
    Ok(answer.entries(bytes::QUERY_ANSWER, each).take(count).collect())
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn banks(context: &Context, node: u32, count: u32) -> Result<(Vec<Bank>, Apertures)> {
    let count = most(context, count, entry::BANK);
    let mut places = Apertures {
        node,
        ..Apertures::default()
    };
    let mut banks = Vec::new();
    let arguments = [node, number(count)];
    for bank in list(
        context,
        "GET_NOD_MEM_PROP",
        query::BANKS,
        &arguments,
        count,
        entry::BANK,
    )? {
        let kind = bank.word(0);
        match kind {
            heap::GROUP => places.group = bank.long(24),
            heap::PRIVATE => places.private = bank.long(24),
            _ => {}
        }
        banks.push(Bank {
            heap: match kind {
                0 => Heap::System,
                1 => Heap::Public,
                2 => Heap::Private,
                other => Heap::Other(other),
            },
            bytes: bank.long(4),
            width: bank.word(16),
            clock_mhz: bank.word(20),
        });
    }
    Ok((banks, places))
}

fn caches(context: &Context, node: u32, count: u32) -> Result<Vec<Cache>> {
    let count = most(context, count, entry::CACHE);
    let arguments = [node, 0, number(count)];
    let caches = list(
        context,
        "GET_NOD_CACHE_PROP",
        query::CACHES,
        &arguments,
        count,
        entry::CACHE,
    )?;
    Ok(caches
        .iter()
        .map(|cache| Cache {
            processor: cache.word(0),
            level: cache.word(4),
            kib: cache.word(8),
            line_bytes: cache.word(12),
            kind: cache.word(28),
        })
        .collect())
}

fn links(context: &Context, node: u32, count: u32) -> Result<Vec<Link>> {
    let count = most(context, count, entry::LINK);
    let arguments = [node, number(count)];
    let links = list(
        context,
        "GET_NOD_IO_LINK_PROP",
        query::LINKS,
        &arguments,
        count,
        entry::LINK,
    )?;
    Ok(links
        .iter()
        .filter(|link| link.word(12) == node)
        .map(|link| Link {
            to: link.word(16),
            kind: link.word(0),
            weight: link.word(20),
            latency_ns: (link.word(24), link.word(28)),
            bandwidth_mbs: (link.word(32), link.word(36)),
            engine_mask: link.word(44),
            flags: link.word(48),
            indirect: false,
        })
        .collect())
}

/// What libdrm knows of the host's GPU. The command names none, so it is about one of them.
///
/// # Errors
///
/// What the host says.
pub fn device_info(context: &Context) -> Result<DeviceInfo> {
    let answer = context.query("GPU_INFO", query::GPU_INFO, &[], 0)?;
    let of = |at| answer.word(VALUES + at);
    Ok(DeviceInfo {
        device_id: of(0),
        chip_rev: of(4),
        external_rev: of(8),
        family: of(12),
        num_shader_engines: of(40),
        num_shader_arrays_per_engine: of(44),
        gpu_counter_freq: of(72),
        pci_rev: of(412),
        ids_flags: answer.long(VALUES + 16),
        ..DeviceInfo::default()
    })
}
