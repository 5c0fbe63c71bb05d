//! The backend for virtual machines, in a virtual machine: its system is [`Guest`], on a host whose kernel is virtual.
//!
//! As a plugin it lets programs that nobody here wrote run over the protocol. `VKERNEL_MACHINE` names the host's GPUs as
//! for the preload library, and `VKERNEL_GUEST_FAULTS` is a script of failures.

use hansa_kfd::config::Config;
use hansa_kfd_virtio::discover;
use hansa_kfd_virtio::machine::Lasting;
use hansa_kfd_virtio::KfdVirtioDriver;
use hansa_plugin_api::fork::{Lazy, Lock};
use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{
    DriverObject, Error, ErrorCode, HostRef, Plugin, ProbeOutcome, RString, Result, INTERFACE,
};
use hansa_vkernel::device::SimExecutor;
use hansa_vkernel::virtio::{Guest, Shape};
use hansa_vkernel::{GpuSpec, Kernel, Machine};
use std::sync::Arc;

/// The plugin.
#[derive(Debug)]
pub struct GuestPlugin;

/// The guest of a process; a child of `fork` begins with a kernel of its own.
static GUEST: Lock<Option<(u32, Arc<Guest>)>> = Lock::new(None);
static LASTING: Lazy<Arc<Lasting>> = Lazy::new(Arc::default);

fn make() -> std::result::Result<Arc<Guest>, String> {
    let variable = |name| std::env::var(name).ok();
    let names = variable("VKERNEL_MACHINE").unwrap_or_else(|| "gfx900".into());
    let specs: std::result::Result<Vec<GpuSpec>, String> =
        names.split(',').map(str::trim).map(GpuSpec::named).collect();
    let machine = Machine::with_gpus(&specs?);
    let executor = Arc::new(SimExecutor::new(&machine));
    let kernel = Kernel::new(machine, Guest::host_options(), Some(executor))
        .map_err(|errno| format!("no virtual kernel: {errno}"))?;
    if let Some(script) = variable("VKERNEL_GUEST_FAULTS") {
        kernel.faults.script(&script)?;
    }
    Ok(Guest::new(kernel, Shape::default()))
}

fn guest() -> Result<Arc<dyn System>> {
    let own = std::process::id();
    let mut kept = GUEST.lock();
    if let Some((_, guest)) = kept.as_ref().filter(|(owner, _)| *owner == own) {
        return Ok(Arc::clone(guest) as Arc<dyn System>);
    }
    std::mem::forget(kept.take());
    let guest = make().map_err(|why| Error::new(ErrorCode::FAILED, why.as_str()))?;
    *kept = Some((own, Arc::clone(&guest)));
    Ok(guest)
}

impl Plugin for GuestPlugin {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.hansa.guest",
        kind: Kind::Driver,
        version: env!("CARGO_PKG_VERSION"),
        target: TARGET,
        interface: INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy::DEFAULT,
    }
    .checked();

    fn probe(_host: HostRef<'_>) -> Result<ProbeOutcome> {
        Ok(ProbeOutcome {
            devices: discover::probe(&guest()?)?
                .into_iter()
                .map(RString::from)
                .collect(),
        })
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        let config = Config::of_host(host)?;
        let driver = KfdVirtioDriver::new(guest()?, Arc::clone(&LASTING), host, config);
        Ok(DriverObject::new(driver))
    }
}

hansa_plugin_api::export_plugin!(GuestPlugin);
