//! The driver for NPUs on virtual ones, for programs: `HANSA_PLUGIN_ADD` with its manifest, and `HANSA_BACKENDS=vxdna`.
//!
//! `VXDNA_NPUS` says which NPUs there are: `npu1` (with AMD's own driver) and `npu4` (with the kernel's), separated by commas;
//! without it there is one `npu1`.

use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{DriverObject, Error, ErrorCode, HostRef, Plugin, ProbeOutcome, Result, INTERFACE};
use hansa_vxdna::{NpuSpec, VirtualNpus};
use hansa_xdna::plugin::{driver_on, probe_on};
use std::sync::Arc;

/// The plugin.
#[derive(Debug)]
pub struct VirtualXdna;

/// The machine that the environment asks for.
fn machine() -> Result<Arc<dyn System>> {
    let names = std::env::var("VXDNA_NPUS").unwrap_or_else(|_| "npu1".into());
    let mut specs = Vec::new();
    for (node, name) in (0..).zip(names.split(',')) {
        let spec = match name {
            "npu1" => NpuSpec::npu1(),
            "npu4" => NpuSpec::npu4(),
            other => {
                let text = format!("VXDNA_NPUS has npu1 and npu4, not {other:?}");
                return Err(Error::new(ErrorCode::INVALID_ARGUMENT, text));
            }
        };
        specs.push(NpuSpec {
            pci_address: format!("0000:c{node:x}:00.1"),
            ..spec.at(node)
        });
    }
    Ok(VirtualNpus::new(&specs))
}

impl Plugin for VirtualXdna {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.hansa.vxdna",
        kind: Kind::Driver,
        version: env!("CARGO_PKG_VERSION"),
        target: TARGET,
        interface: INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy {
            software: true,
            ..Policy::DEFAULT
        },
    }
    .checked();

    fn probe(_host: HostRef<'_>) -> Result<ProbeOutcome> {
        probe_on(&machine()?)
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        driver_on(machine()?, host)
    }
}

hansa_plugin_api::export_plugin!(VirtualXdna);
