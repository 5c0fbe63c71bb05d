//! `hansa info`: agents, instruction sets, memory and links.

use crate::arguments::InfoOptions;
use crate::text::bytes;
use hansa_core::agent::{Agent, AgentKind};
use hansa_core::memory::{GlobalFlags, Region, Segment};
use hansa_core::runtime::links::Link;
use hansa_core::Runtime;
use hansa_plugin_api::{LinkFlags, LinkKind};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Debug, Serialize)]
struct Machine {
    agents: Vec<AgentInfo>,
    links: Vec<LinkInfo>,
}

#[derive(Debug, Serialize)]
struct AgentInfo {
    index: usize,
    kind: &'static str,
    name: String,
    product: String,
    vendor: String,
    driver: Option<String>,
    node: u32,
    uuid: Option<String>,
    pci: Option<String>,
    compute_units: u32,
    wavefront_size: u32,
    max_clock_mhz: u32,
    isas: Vec<String>,
    caches: Vec<CacheInfo>,
    pools: Vec<PoolInfo>,
}

#[derive(Debug, Serialize)]
struct CacheInfo {
    name: String,
    bytes: u64,
    line_bytes: u32,
}

#[derive(Debug, Serialize)]
struct PoolInfo {
    segment: &'static str,
    flags: Vec<&'static str>,
    bytes: u64,
    max_allocation: u64,
    granule: u64,
    can_allocate: bool,
}

#[derive(Debug, Serialize)]
struct LinkInfo {
    from: usize,
    to: usize,
    kind: &'static str,
    hops: u32,
    weight: u32,
    coherent: bool,
    atomics: bool,
}

pub(crate) fn run(options: &InfoOptions) -> Result<ExitCode, String> {
    if options.missing {
        return missing(options.output.json);
    }
    hansa_core::runtime::init(hsa_runtime64::plugins::BUILT_INS).map_err(|e| e.to_string())?;
    let machine = match hansa_core::current() {
        Ok(runtime) => describe(&runtime),
        Err(error) => return Err(error.to_string()),
    };
    hansa_core::runtime::shut_down().map_err(|e| e.to_string())?;
    if options.output.json {
        println!(
            "{}",
            serde_json::to_string_pretty(&machine).map_err(|e| e.to_string())?
        );
    } else {
        print(&machine);
    }
    Ok(ExitCode::SUCCESS)
}

fn missing(json: bool) -> Result<ExitCode, String> {
    let missing = hsa_runtime64::missing().map_err(|e| e.to_string())?;
    if json {
        println!(
            "{}",
            serde_json::to_string_pretty(&missing).map_err(|e| e.to_string())?
        );
    } else {
        for name in &missing {
            println!("{name}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(runtime: &Runtime) -> Machine {
    let mut links: Vec<LinkInfo> = runtime
        .links
        .iter()
        .map(|(from, to, link)| link_info(from, to, link))
        .collect();
    links.sort_by_key(|l| (l.from, l.to));
    Machine {
        agents: runtime
            .agents
            .iter()
            .enumerate()
            .map(|(index, agent)| agent_info(runtime, index, agent))
            .collect(),
        links,
    }
}

fn agent_info(runtime: &Runtime, index: usize, agent: &Agent) -> AgentInfo {
    let device = agent.device();
    let description = device.map(|d| &d.description);
    AgentInfo {
        index,
        kind: match agent.kind {
            AgentKind::Cpu(_) => "CPU",
            AgentKind::Gpu(_) => "GPU",
            AgentKind::Aie(_) => "AIE",
            AgentKind::Accelerator(_) => "accelerator",
        },
        name: agent.name().to_owned(),
        product: description.map_or_else(|| agent.name().to_owned(), |d| d.product.to_string()),
        vendor: agent.vendor().to_owned(),
        driver: device.map(|d| runtime.drivers[d.reference.driver].id.clone()),
        node: agent.node,
        uuid: description
            .filter(|d| d.unique_id != 0)
            .map(|d| format!("GPU-{:016x}", d.unique_id)),
        pci: description.filter(|d| d.vendor_id != 0).map(|d| {
            format!(
                "{:04x}:{:02x}:{:02x}.{}",
                d.domain,
                d.location >> 8,
                (d.location >> 3) & 0x1f,
                d.location & 7
            )
        }),
        compute_units: match &agent.kind {
            AgentKind::Cpu(host) => host.processors,
            _ => description.map_or(0, |d| d.compute_units),
        },
        wavefront_size: description.map_or(0, |d| d.wavefront_size),
        max_clock_mhz: match &agent.kind {
            AgentKind::Cpu(host) => host.max_clock_mhz,
            _ => description.map_or(0, |d| d.max_clock_mhz),
        },
        isas: agent.isas.iter().map(ToString::to_string).collect(),
        caches: agent
            .caches
            .iter()
            .map(|&c| &runtime.caches[c])
            .map(|c| CacheInfo {
                name: c.name.clone(),
                bytes: c.description.bytes,
                line_bytes: c.description.line_bytes,
            })
            .collect(),
        pools: agent
            .regions
            .iter()
            .map(|&r| pool_info(&runtime.regions[r]))
            .collect(),
    }
}

fn pool_info(region: &Region) -> PoolInfo {
    let names = [
        (GlobalFlags::FINE_GRAINED, "fine-grained"),
        (GlobalFlags::COARSE_GRAINED, "coarse-grained"),
        (GlobalFlags::KERNARG, "kernarg"),
    ];
    PoolInfo {
        segment: match region.segment {
            Segment::Global => "global",
            Segment::Group => "group",
        },
        flags: names
            .into_iter()
            .filter(|(flag, _)| region.flags.contains(*flag))
            .map(|(_, name)| name)
            .collect(),
        bytes: region.bytes,
        max_allocation: region.max_allocation,
        granule: region.granule,
        can_allocate: region.can_allocate(),
    }
}

fn link_info(from: usize, to: usize, link: &Link) -> LinkInfo {
    LinkInfo {
        from,
        to,
        kind: match link.kind {
            LinkKind::HYPER_TRANSPORT => "HyperTransport",
            LinkKind::QPI => "QPI",
            LinkKind::PCIE => "PCIe",
            LinkKind::INFINIBAND => "InfiniBand",
            LinkKind::XGMI => "xGMI",
            _ => "other",
        },
        hops: link.hops,
        weight: link.weight,
        coherent: link.flags.contains(LinkFlags::COHERENT),
        atomics: link.flags.contains(LinkFlags::ATOMICS_32 | LinkFlags::ATOMICS_64),
    }
}

fn print(machine: &Machine) {
    for agent in &machine.agents {
        println!("Agent {}: {} {}", agent.index, agent.kind, agent.product);
        let mut facts = Vec::new();
        match agent.kind {
            "CPU" => facts.push(format!("{} processors", agent.compute_units)),
            _ if agent.compute_units != 0 => {
                facts.push(format!("{} compute units", agent.compute_units));
                // Not every device has any.
                if agent.wavefront_size != 0 {
                    facts.push(format!("wavefronts of {}", agent.wavefront_size));
                }
            }
            _ => {}
        }
        if agent.max_clock_mhz != 0 {
            facts.push(format!("{} MHz", agent.max_clock_mhz));
        }
        facts.extend(agent.pci.clone());
        facts.extend(agent.uuid.clone());
        facts.extend(agent.driver.as_ref().map(|d| format!("driver {d}")));
        println!("  {}", facts.join(", "));
        for isa in &agent.isas {
            println!("  ISA     {isa}");
        }
        let caches: Vec<String> = agent
            .caches
            .iter()
            .map(|c| format!("{} {}", c.name, bytes(c.bytes)))
            .collect();
        if !caches.is_empty() {
            println!("  caches  {}", caches.join(", "));
        }
        for pool in &agent.pools {
            let flags = if pool.flags.is_empty() {
                String::new()
            } else {
                format!(", {}", pool.flags.join(", "))
            };
            println!("  pool    {}{flags}: {}", pool.segment, bytes(pool.bytes));
        }
    }
    for link in &machine.links {
        println!(
            "Link {} -> {}: {}, {} hop{}, weight {}{}{}",
            link.from,
            link.to,
            link.kind,
            link.hops,
            if link.hops == 1 { "" } else { "s" },
            link.weight,
            if link.coherent { ", coherent" } else { "" },
            if link.atomics { ", atomics" } else { "" },
        );
    }
}
