//! The plugin: who it is, and how its driver is made.

use crate::config::Config;
use crate::driver::SimDriver;
use hansa_plugin_api::manifest::{Claims, DefaultUse, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::{
    DriverObject, Error, HostRef, LogLevel, Plugin, ProbeOutcome, RStr, RString, RVec, Result, INTERFACE,
};

/// The software GPU as a plugin.
#[derive(Debug)]
pub struct SimPlugin;

impl Plugin for SimPlugin {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.hansa.sim",
        kind: Kind::Driver,
        version: env!("CARGO_PKG_VERSION"),
        target: TARGET,
        interface: INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy {
            priority: 80,
            default: DefaultUse::OnlyIfNoHardware,
            software: true,
            ..Policy::DEFAULT
        },
    }
    .checked();

    fn probe(host: HostRef<'_>) -> Result<ProbeOutcome> {
        let config = configuration(host)?;
        let devices: RVec<RString> = (0..config.devices)
            .map(|index| RString::from(format!("software:{index}")))
            .collect();
        Ok(ProbeOutcome { devices })
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        let config = configuration(host)?;
        Ok(DriverObject::new(SimDriver::new(host, config)))
    }
}

/// Reads the configuration, with a warning for each key that means nothing.
fn configuration(host: HostRef<'_>) -> Result<Config> {
    let text = host.configuration()?;
    let (config, unknown) = Config::parse(text.as_str()).map_err(Error::from)?;
    for key in unknown {
        let message = format!(
            "The software GPU has no setting {key:?}; it has {}",
            Config::keys().join(", ")
        );
        // A log that fails has nowhere to say so.
        let _ = host.log(LogLevel::WARNING, RStr::from_str(&message));
    }
    Ok(config)
}
