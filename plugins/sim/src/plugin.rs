//! The plugin: who it is, and how its driver is made.

use crate::config::Config;
use crate::driver::SimDriver;
use hansa_plugin_api::manifest::{Claims, DefaultUse, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::{
    DriverObject, HostRef, LogLevel, Plugin, ProbeOutcome, RStr, RString, RVec, Result, INTERFACE,
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
        let (config, _) = configuration(host)?;
        let devices: RVec<RString> = (0..config.devices)
            .map(|index| RString::from(format!("software:{index}")))
            .collect();
        Ok(ProbeOutcome { devices })
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        let (config, idle) = configuration(host)?;
        for variable in idle {
            let text = format!("{variable} has no meaning here: the software GPU has nothing of the kind");
            log(host, LogLevel::DEBUG, &text);
        }
        Ok(DriverObject::new(SimDriver::new(host, config)))
    }
}

/// Reads the configuration, with a warning for each setting that means nothing, and the variables that do nothing here.
fn configuration(host: HostRef<'_>) -> Result<(Config, Vec<String>)> {
    let text = host.configuration()?;
    let (config, complaints, idle) = Config::parse(text.as_str());
    for complaint in complaints {
        log(host, LogLevel::SETTING, &complaint);
    }
    Ok((config, idle))
}

fn log(host: HostRef<'_>, level: LogLevel, text: &str) {
    // A log that fails has nowhere to say so.
    let _ = host.log(level, RStr::from_str(text));
}
