//! The fake plugin under another id, for tests with two drivers and one device.

#[path = "../../../src/behaviour.rs"]
mod behaviour;
#[path = "../../../src/facts.rs"]
mod facts;
#[path = "../../../src/fake.rs"]
mod fake;

use hansa_plugin_api::manifest::PluginFacts;
use hansa_plugin_api::{DriverObject, HostRef, Plugin, ProbeOutcome, Result};

/// The plugin.
#[derive(Debug)]
pub struct Second;

impl Plugin for Second {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.hansa.second",
        ..facts::FACTS
    };

    fn probe(host: HostRef<'_>) -> Result<ProbeOutcome> {
        fake::Fake::probe(host)
    }

    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        fake::Fake::driver(host)
    }
}

hansa_plugin_api::export_plugin!(Second);
