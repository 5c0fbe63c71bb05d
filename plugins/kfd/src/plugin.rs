//! The plugin: who it is, and how its driver is made.

use crate::config::Config;
use crate::discover;
use crate::driver::KfdDriver;
use crate::machine::Lasting;
use hansa_plugin_api::fork::Lazy;
use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::sys::{LinuxSystem, System};
use hansa_plugin_api::{DriverObject, HostRef, Plugin, ProbeOutcome, RString, Result, INTERFACE};
use std::sync::Arc;

/// AMD GPUs through `/dev/kfd`, as a plugin.
#[derive(Debug)]
pub struct KfdPlugin;

/// What outlives drivers in this process.
static LASTING: Lazy<Arc<Lasting>> = Lazy::new(Arc::default);

impl Plugin for KfdPlugin {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.hansa.kfd",
        kind: Kind::Driver,
        version: env!("CARGO_PKG_VERSION"),
        target: TARGET,
        interface: INTERFACE,
        claims: Claims {
            nodes: &["/dev/kfd"],
            modules: &["amdgpu"],
            ..Claims::NONE
        },
        policy: Policy {
            priority: 100,
            ..Policy::DEFAULT
        },
    }
    .checked();

    fn probe(host: HostRef<'_>) -> Result<ProbeOutcome> {
        let system: Arc<dyn System> = Arc::new(LinuxSystem);
        let devices = discover::probe(&system, &LASTING, &Config::of_host(host)?)?;
        Ok(ProbeOutcome {
            devices: devices.into_iter().map(RString::from).collect(),
        })
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        let driver = KfdDriver::new(
            Arc::new(LinuxSystem),
            Arc::clone(&LASTING),
            host,
            Config::of_host(host)?,
        );
        Ok(DriverObject::new(driver))
    }
}
