//! The plugin: who it is, and how its driver is made.

use crate::config::Config;
use crate::discover;
use crate::driver::XdnaDriver;
use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::sys::{LinuxSystem, System};
use hansa_plugin_api::{
    DriverObject, HostRef, LogLevel, Plugin, ProbeOutcome, RStr, RString, Result, INTERFACE,
};
use std::sync::Arc;

/// AMD NPUs through `/dev/accel`, as a plugin.
#[derive(Debug)]
pub struct XdnaPlugin;

impl Plugin for XdnaPlugin {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.hansa.xdna",
        kind: Kind::Driver,
        version: env!("CARGO_PKG_VERSION"),
        target: TARGET,
        interface: INTERFACE,
        claims: Claims {
            nodes: &["/dev/accel/accel*"],
            modules: &["amdxdna"],
            ..Claims::NONE
        },
        policy: Policy {
            priority: 90,
            ..Policy::DEFAULT
        },
    }
    .checked();

    fn probe(host: HostRef<'_>) -> Result<ProbeOutcome> {
        let _ = host;
        probe_on(&(Arc::new(LinuxSystem) as Arc<dyn System>))
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        driver_on(Arc::new(LinuxSystem), host)
    }
}

/// [`Plugin::probe`] on a system.
///
/// # Errors
///
/// Why there is no device.
pub fn probe_on(system: &Arc<dyn System>) -> Result<ProbeOutcome> {
    let devices = discover::probe(system)?;
    Ok(ProbeOutcome {
        devices: devices.into_iter().map(RString::from).collect(),
    })
}

/// [`Plugin::driver`] on a system.
///
/// # Errors
///
/// What the host says.
pub fn driver_on(system: Arc<dyn System>, host: HostRef<'static>) -> Result<DriverObject> {
    let config = configuration(host)?;
    Ok(DriverObject::new(XdnaDriver::new(system, host, config)))
}

/// Reads the configuration, with a warning for each setting that means nothing.
fn configuration(host: HostRef<'_>) -> Result<Config> {
    let text = host.configuration()?;
    let (config, complaints) = Config::parse(text.as_str());
    for complaint in complaints {
        // A log that fails has nowhere to say so.
        let _ = host.log(LogLevel::SETTING, RStr::from_str(&complaint));
    }
    Ok(config)
}
