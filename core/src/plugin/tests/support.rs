//! Plugins to test with: their configuration says what they do.

use hansa_plugin_api::manifest::{Claims, DefaultUse, InterfaceVersion, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::{
    DeviceEvent, Driver, DriverObject, Error as PluginError, ErrorCode, Extension, ExtensionObject,
    ExtensionTable, Host, HostRef, LogLevel, NodeDescription, NodeKind, Plugin, ProbeOutcome, RStr, RString,
    RVec, Result as PluginResult, RuntimeServices, SystemDescription, ThreadEntry,
};

use crate::config::tests::Root;
use crate::plugin::Roots;

/// A runtime that knows only the configuration of the plugin.
pub(super) struct QuietHost(pub(super) String);

impl Host for QuietHost {
    fn log(&self, _: LogLevel, _: RStr<'_>) -> PluginResult<()> {
        Ok(())
    }
    fn now(&self) -> PluginResult<u64> {
        Ok(0)
    }
    fn configuration(&self) -> PluginResult<RString> {
        Ok(self.0.clone().into())
    }
    fn spawn(&self, _: RStr<'_>, _: ThreadEntry) -> PluginResult<()> {
        Err(PluginError::not_supported("spawn"))
    }
    fn signal_changed(&self, _: u64) -> PluginResult<()> {
        Ok(())
    }
    fn event_raised(&self, _: u32) -> PluginResult<()> {
        Ok(())
    }
    fn device_event(&self, _: &DeviceEvent) -> PluginResult<()> {
        Ok(())
    }
}

pub(super) struct Stopped;

impl RuntimeServices for Stopped {
    fn is_running(&self) -> PluginResult<bool> {
        Ok(false)
    }
}

/// A driver with one GPU, unless the configuration of its plugin says `open`, `describe` or `nodes`.
struct TestDriver(toml::Table);

impl Driver for TestDriver {
    fn open(&self) -> PluginResult<()> {
        match self.0.get("open").and_then(toml::Value::as_str) {
            Some("panic") => panic!("cannot bear it"),
            Some(text) => Err(PluginError::os(libc::EACCES, text, "/dev/null")),
            None => Ok(()),
        }
    }
    fn describe(&self) -> PluginResult<SystemDescription> {
        let devices = self
            .0
            .get("devices")
            .and_then(toml::Value::as_array)
            .map_or(1, Vec::len);
        let count = if self.0.contains_key("no-nodes") {
            0
        } else {
            devices
        };
        let nodes = (0..count).map(|number| {
            let number = u32::try_from(number).unwrap();
            let mut node = NodeDescription::new(number, NodeKind::GPU, "test");
            node.location = (3 + number) << 8;
            node
        });
        Ok(SystemDescription {
            nodes: nodes.collect(),
            ..SystemDescription::default()
        })
    }
    fn close(&self) -> PluginResult<()> {
        Ok(())
    }
}

struct TestExtension;

impl Extension for TestExtension {
    fn tables(&self) -> PluginResult<RVec<ExtensionTable>> {
        Ok(RVec::new())
    }
    fn shut_down(&self) -> PluginResult<()> {
        Ok(())
    }
}

/// Behaviour that all test plugins share: the configuration decides.
fn table(host: HostRef<'_>) -> toml::Table {
    host.configuration().unwrap().parse().unwrap()
}

fn probe(host: HostRef<'_>) -> PluginResult<ProbeOutcome> {
    let table = table(host);
    if let Some(text) = table.get("probe").and_then(toml::Value::as_str) {
        return Err(PluginError::new(ErrorCode::NO_DEVICE, text));
    }
    let devices = table
        .get("devices")
        .and_then(toml::Value::as_array)
        .cloned()
        .unwrap_or_default();
    Ok(ProbeOutcome {
        devices: devices
            .iter()
            .map(|device| device.as_str().unwrap().into())
            .collect(),
    })
}

pub(super) const BASE: PluginFacts = PluginFacts {
    id: "org.test.hw",
    kind: Kind::Driver,
    version: "1.0.0",
    target: TARGET,
    interface: InterfaceVersion { major: 1, minor: 1 },
    claims: Claims::ALWAYS,
    policy: Policy::DEFAULT,
};

macro_rules! plugins {
    ($($name:ident: $facts:expr;)*) => {$(
        pub(super) struct $name;
        impl Plugin for $name {
            const FACTS: PluginFacts = $facts;
            fn probe(host: HostRef<'_>) -> PluginResult<ProbeOutcome> {
                probe(host)
            }
            fn driver(host: HostRef<'static>) -> PluginResult<DriverObject> {
                Ok(DriverObject::new(TestDriver(table(host))))
            }
            fn extension(
                host: HostRef<'static>,
                runtime: hansa_plugin_api::RuntimeServicesRef<'static>,
            ) -> PluginResult<ExtensionObject> {
                assert!(!runtime.is_running()?);
                match table(host).contains_key("no-extension") {
                    true => Err(PluginError::new(ErrorCode::FAILED, "No extension today")),
                    false => Ok(ExtensionObject::new(TestExtension)),
                }
            }
        }
    )*};
}

plugins! {
    Hardware: BASE;
    Other: PluginFacts { id: "org.test.other", ..BASE };
    Prior: PluginFacts { id: "org.test.prior", policy: Policy { priority: 60, ..Policy::DEFAULT }, ..BASE };
    Critical: PluginFacts { id: "org.test.critical", policy: Policy { critical: true, ..Policy::DEFAULT }, ..BASE };
    Rival: PluginFacts { id: "org.test.rival", policy: Policy { conflicts: &["org.test.hw"], ..Policy::DEFAULT }, ..BASE };
    Absent: PluginFacts { id: "org.test.absent", claims: Claims { nodes: &["/dev/absent"], ..Claims::NONE }, ..BASE };
    Newer: PluginFacts { version: "2.0.0", ..BASE };
    Software: PluginFacts {
        id: "org.test.soft",
        policy: Policy { software: true, default: DefaultUse::OnlyIfNoHardware, ..Policy::DEFAULT },
        ..BASE
    };
    Extra: PluginFacts { id: "org.test.extra", kind: Kind::Extension, ..BASE };
    Both: PluginFacts { id: "org.test.both", kind: Kind::Both, ..BASE };
    Future: PluginFacts { id: "org.test.future", interface: InterfaceVersion { major: 2, minor: 0 }, ..BASE };
    Foreign: PluginFacts { id: "org.test.foreign", target: "sparc-unknown-linux-gnu", ..BASE };
}

pub(super) fn roots(root: &Root) -> Roots {
    Roots {
        root: root.0.clone(),
        user: Some(root.0.join("home/.config")),
        runtime: Some(root.0.join("runtime")),
    }
}
