//! The plugin: who it is, and how its driver is made.
//!
//! Its settings, `[backend.kfd-virtio]`, are those of [`hansa_kfd::config`]. The ones about memory faults and caches are the
//! host's business and change nothing.

use crate::discover;
use crate::driver::KfdVirtioDriver;
use crate::machine::Lasting;
use hansa_kfd::config::Config;
use hansa_plugin_api::fork::Lazy;
use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::sys::{LinuxSystem, System};
use hansa_plugin_api::{DriverObject, HostRef, Plugin, ProbeOutcome, RString, Result, INTERFACE};
use std::sync::Arc;

/// AMD GPUs through virtio-gpu, as a plugin.
#[derive(Debug)]
pub struct KfdVirtioPlugin;

/// What outlives drivers in this process.
static LASTING: Lazy<Arc<Lasting>> = Lazy::new(Arc::default);

impl Plugin for KfdVirtioPlugin {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.hansa.kfd-virtio",
        kind: Kind::Driver,
        version: env!("CARGO_PKG_VERSION"),
        target: TARGET,
        interface: INTERFACE,
        claims: Claims {
            modules: &["virtio_gpu"],
            ..Claims::NONE
        },
        policy: Policy {
            priority: 90,
            ..Policy::DEFAULT
        },
    }
    .checked();

    fn probe(_host: HostRef<'_>) -> Result<ProbeOutcome> {
        let system: Arc<dyn System> = Arc::new(LinuxSystem);
        let devices = discover::probe(&system)?;
        Ok(ProbeOutcome {
            devices: devices.into_iter().map(RString::from).collect(),
        })
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        let driver = KfdVirtioDriver::new(
            Arc::new(LinuxSystem),
            Arc::clone(&LASTING),
            host,
            Config::of_host(host)?,
        );
        Ok(DriverObject::new(driver))
    }
}
