//! The plugin: who it is, and how its driver is made.

use crate::config::Config;
use crate::discover;
use crate::driver::KfdDriver;
use crate::machine::Lasting;
use hansa_plugin_api::fork::Lazy;
use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::sys::{LinuxSystem, System};
use hansa_plugin_api::{
    DriverObject, HostRef, LogLevel, Plugin, ProbeOutcome, RStr, RString, Result, INTERFACE,
};
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
        let devices = discover::probe(&system, &LASTING, &configuration(host)?)?;
        Ok(ProbeOutcome {
            devices: devices.into_iter().map(RString::from).collect(),
        })
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        let driver = KfdDriver::new(
            Arc::new(LinuxSystem),
            Arc::clone(&LASTING),
            host,
            configuration(host)?,
        );
        Ok(DriverObject::new(driver))
    }
}

/// Reads the configuration, with a warning for each setting that means nothing.
fn configuration(host: HostRef<'_>) -> Result<Config> {
    let text = host.configuration()?;
    let (config, complaints) = Config::parse(text.as_str());
    for complaint in complaints {
        // A log that fails has nowhere to say so.
        let _ = host.log(LogLevel::WARNING, RStr::from_str(&complaint));
    }
    Ok(config)
}
