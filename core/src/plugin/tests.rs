//! Whole ways of plugins: what the search finds, who is started, and what is said of the rest.

use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};

use hansa_plugin_api::manifest::{Claims, DefaultUse, InterfaceVersion, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::{
    DeviceEvent, Driver, DriverObject, Error as PluginError, ErrorCode, Extension, ExtensionObject,
    ExtensionTable, Host, HostObject, HostRef, LogLevel, NodeDescription, NodeKind, Plugin, ProbeOutcome,
    RStr, RString, RVec, Result as PluginResult, RuntimeServices, RuntimeServicesObject, SystemDescription,
    ThreadEntry,
};

use super::presence::tests::Files;
use super::*;
use crate::config::tests::Root;

/// A runtime that knows only the configuration of the plugin.
struct QuietHost(String);

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

struct Stopped;

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

const BASE: PluginFacts = PluginFacts {
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
        struct $name;
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

/// Built-ins that were started with a configuration.
struct Started {
    plugins: Plugins,
    drivers: Vec<LoadedDriver>,
}

impl Started {
    fn reason(&self, id: &str) -> &Reason {
        let candidate = self
            .plugins
            .candidates()
            .iter()
            .find(|candidate| candidate.name == id);
        candidate.unwrap().reason.as_ref().unwrap()
    }

    fn serving(&self) -> Vec<&str> {
        self.drivers.iter().map(|driver| driver.id.as_str()).collect()
    }

    fn verdict(&self) -> String {
        self.plugins
            .verdict()
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }
}

fn roots(root: &Root) -> Roots {
    Roots {
        root: root.0.clone(),
        user: Some(root.0.join("home/.config")),
        runtime: Some(root.0.join("runtime")),
    }
}

fn make_host(_: &str, configuration: String) -> HostObject {
    HostObject::new(QuietHost(configuration))
}

fn start(name: &str, file: &str, variables: &[(&str, &str)], builtins: &[BuiltIn]) -> Started {
    let root = Root::new(&format!("start-{name}"));
    root.write("etc/hsa/hsa.conf", file);
    let config = root.load(variables, false);
    let mut plugins = Plugins::find(roots(&root), &config, false, builtins);
    let drivers = plugins.start_drivers(&Files::default(), &make_host);
    Started { plugins, drivers }
}

fn taken(device: &str, by: &str) -> Vec<TakenDevice> {
    vec![TakenDevice {
        device: device.into(),
        by: by.into(),
    }]
}

#[test]
fn everybody_with_a_device_of_its_own_serves() {
    let file = "[backend.hw]\ndevices = [\"0000:03:00.0\"]\n[backend.other]\ndevices = [\"/dev/other\"]\n";
    let started = start(
        "own",
        file,
        &[],
        &[BuiltIn::of::<Hardware>(), BuiltIn::of::<Other>()],
    );
    assert_eq!(started.serving(), ["org.test.hw", "org.test.other"]);
    let devices = vec!["0000:03:00.0".to_owned()];
    assert_eq!(
        *started.reason("org.test.hw"),
        Reason::Loaded {
            devices,
            left_to_others: vec![]
        }
    );
    assert_eq!(started.verdict(), "");
}

#[test]
fn one_device_goes_to_the_driver_of_higher_priority() {
    let file = "[backend.hw]\ndevices = [\"0000:03:00.0\"]\n[backend.prior]\ndevices = [\"0000:03:00.0\"]\n";
    let builtins = [BuiltIn::of::<Hardware>(), BuiltIn::of::<Prior>()];
    let started = start("prior", file, &[], &builtins);
    assert_eq!(started.serving(), ["org.test.prior"]);
    assert_eq!(
        *started.reason("org.test.hw"),
        Reason::Outranked {
            devices: taken("0000:03:00.0", "org.test.prior")
        }
    );

    let order = format!("[plugins]\norder = [\"hw\"]\n{file}");
    assert_eq!(start("order", &order, &[], &builtins).serving(), ["org.test.hw"]);
}

#[test]
fn of_several_devices_a_driver_keeps_those_that_nobody_has() {
    let file = "[backend.hw]\ndevices = [\"0000:03:00.0\", \"0000:04:00.0\"]\n[backend.prior]\ndevices = [\"0000:03:00.0\"]\n";
    let started = start(
        "several",
        file,
        &[],
        &[BuiltIn::of::<Hardware>(), BuiltIn::of::<Prior>()],
    );
    let hw = &started.drivers[1];
    assert_eq!(
        (&hw.devices[..], &hw.left_to_others[..]),
        (&["0000:04:00.0".to_owned()][..], &["0000:03:00.0".to_owned()][..])
    );
    // It describes both; what is left is bus 4.
    let left: Vec<String> = hw.own_devices().map(pci_address).collect();
    assert_eq!(left, ["0000:04:00.0"]);
}

#[test]
fn a_device_falls_to_the_next_driver_when_the_first_cannot_open_it() {
    let file = "[backend.hw]\ndevices = [\"0000:03:00.0\"]\n\
                [backend.prior]\ndevices = [\"0000:03:00.0\"]\nopen = \"Cannot open the device\"\n";
    let started = start(
        "next",
        file,
        &[],
        &[BuiltIn::of::<Hardware>(), BuiltIn::of::<Prior>()],
    );
    assert_eq!(started.serving(), ["org.test.hw"]);
    let Reason::NoPermission {
        node,
        errno,
        errno_name,
        group,
        said,
    } = started.reason("org.test.prior")
    else {
        panic!("{:?}", started.reason("org.test.prior"));
    };
    // The test's root has no list of groups, so the node's group is a number; it is root's.
    assert_eq!(
        (node.as_str(), *errno, errno_name.as_str()),
        ("/dev/null", 13, "EACCES")
    );
    assert_eq!(
        (group.as_deref(), said.as_str()),
        (Some("0"), "Cannot open the device")
    );
}

#[test]
fn a_panic_ends_one_plugin_and_keeps_its_text() {
    let file = "[backend.hw]\nopen = \"panic\"\n";
    let started = start(
        "panic",
        file,
        &[],
        &[BuiltIn::of::<Hardware>(), BuiltIn::of::<Other>()],
    );
    assert_eq!(started.serving(), ["org.test.other"]);
    let text = "Panic in Driver::open: cannot bear it".to_owned();
    assert_eq!(
        *started.reason("org.test.hw"),
        Reason::Panicked {
            step: Step::Open,
            text
        }
    );
}

#[test]
fn software_stands_in_when_no_accelerator_serves() {
    let builtins = [BuiltIn::of::<Software>(), BuiltIn::of::<Hardware>()];
    let started = start("hardware", "", &[], &builtins);
    assert_eq!(started.serving(), ["org.test.hw"]);
    let served_by = vec!["org.test.hw".to_owned()];
    assert_eq!(*started.reason("org.test.soft"), Reason::NotNeeded { served_by });

    assert_eq!(
        start("absent", "[backend.hw]\nprobe = \"none\"\n", &[], &builtins).serving(),
        ["org.test.soft"]
    );
    let nodes = start("no-nodes", "[backend.hw]\nno-nodes = true\n", &[], &builtins);
    assert_eq!(nodes.serving(), ["org.test.hw", "org.test.soft"]);
    let asked = start("asked", "", &[("HANSA_BACKENDS", "soft,hw")], &builtins);
    assert_eq!(asked.serving(), ["org.test.soft", "org.test.hw"]);
}

#[test]
fn the_driver_of_a_device_that_nobody_has_is_not_run() {
    let started = start(
        "nobody",
        "[backend.absent]\nprobe = \"it ran\"\n",
        &[],
        &[BuiltIn::of::<Absent>()],
    );
    let looked_for = vec!["/dev/absent".to_owned()];
    assert_eq!(
        *started.reason("org.test.absent"),
        Reason::NoDevice {
            looked_for,
            said: None
        }
    );
}

#[test]
fn the_higher_version_serves_and_the_lower_one_when_that_cannot() {
    let builtins = [BuiltIn::of::<Hardware>(), BuiltIn::of::<Newer>()];
    let started = start("versions", "", &[], &builtins);
    assert_eq!(
        (started.serving(), started.drivers[0].version.as_str()),
        (vec!["org.test.hw"], "2.0.0")
    );
    let (version, by, by_version) = ("1.0.0".into(), "built in".into(), "2.0.0".into());
    assert_eq!(
        *started.reason("org.test.hw"),
        Reason::OtherVersion {
            version,
            by,
            by_version
        }
    );
}

#[test]
fn two_that_exclude_each_other_are_not_loaded_together() {
    let builtins = [BuiltIn::of::<Hardware>(), BuiltIn::of::<Rival>()];
    let started = start("conflict", "", &[], &builtins);
    assert_eq!(
        *started.reason("org.test.rival"),
        Reason::Conflict {
            with: "org.test.hw".into()
        }
    );
    let started = start("conflict2", "[plugins]\norder = [\"rival\"]\n", &[], &builtins);
    assert_eq!(
        *started.reason("org.test.hw"),
        Reason::Conflict {
            with: "org.test.rival".into()
        }
    );
}

#[test]
fn another_interface_or_target_is_known_without_running_anything() {
    let started = start(
        "foreign",
        "",
        &[],
        &[BuiltIn::of::<Future>(), BuiltIn::of::<Foreign>()],
    );
    let (found, accepted) = ("2.0".into(), "1.1".into());
    assert_eq!(
        *started.reason("org.test.future"),
        Reason::WrongInterface { found, accepted }
    );
    assert!(matches!(
        started.reason("org.test.foreign"),
        Reason::WrongTarget { .. }
    ));
}

#[test]
fn a_critical_plugin_must_serve() {
    let builtins = [BuiltIn::of::<Critical>(), BuiltIn::of::<Hardware>()];
    assert_eq!(start("critical", "", &[], &builtins).verdict(), "");
    let text = start(
        "critical2",
        "[backend.critical]\nopen = \"panic\"\n",
        &[],
        &builtins,
    )
    .verdict();
    assert!(
        text.starts_with("the plugin org.test.critical is marked critical: It panicked"),
        "{text}"
    );
    // Who disables it knows what they do.
    assert_eq!(
        start(
            "critical3",
            "",
            &[("HANSA_PLUGIN_DISABLE", "critical")],
            &builtins
        )
        .verdict(),
        ""
    );
}

#[test]
fn a_plugin_asked_for_by_name_must_serve() {
    let builtins = [BuiltIn::of::<Hardware>(), BuiltIn::of::<Other>()];
    let broken = "[backend.hw]\nopen = \"panic\"\n";
    let verdict = |name, variables: &[(&str, &str)]| start(name, broken, variables, &builtins).verdict();
    assert_eq!(verdict("named1", &[]), "");
    let text = verdict("named2", &[("HANSA_BACKENDS", "hw,other")]);
    assert!(
        text.starts_with("HANSA_BACKENDS asks for hw: It panicked"),
        "{text}"
    );
    assert_eq!(verdict("named3", &[("HANSA_PLUGIN_SELECT", "*")]), "");
    let text = verdict("named4", &[("HANSA_PLUGIN_SELECT", "other,nobody")]);
    assert!(
        text.starts_with("HANSA_PLUGIN_SELECT asks for nobody: "),
        "{text}"
    );
    let text = verdict("named5", &[("HANSA_BACKENDS", "h*")]);
    assert_eq!(
        text,
        "HANSA_BACKENDS names the drivers to use, and none of them serves"
    );
}

#[test]
fn extensions_are_started_with_the_runtimes_services() {
    let root = Root::new("extensions");
    root.write("etc/hsa/hsa.conf", "[backend.extra]\nno-extension = true\n");
    let config = root.load(&[], false);
    let builtins = [
        BuiltIn::of::<Extra>(),
        BuiltIn::of::<Both>(),
        BuiltIn::of::<Hardware>(),
    ];
    let mut plugins = Plugins::find(roots(&root), &config, false, &builtins);
    let drivers = plugins.start_drivers(&Files::default(), &make_host);
    let services = RuntimeServicesObject::new(Stopped);
    // SAFETY: the object outlives the extensions.
    let lasting = unsafe { services.as_ref().unbound() };
    let extensions = plugins.start_extensions(&Files::default(), &make_host, lasting);
    assert_eq!(
        extensions
            .iter()
            .map(|extension| extension.id.as_str())
            .collect::<Vec<_>>(),
        ["org.test.both"]
    );
    assert_eq!(drivers.len(), 2);
    let reason = plugins.candidates()[0].reason.clone().unwrap();
    let text = "No extension today".to_owned();
    assert_eq!(
        reason,
        Reason::Failed {
            step: Step::Extension,
            text,
            place: None,
            errno: 0
        }
    );
}

// ---- the search ----

fn manifest(id: &str, version: &str) -> String {
    let facts = PluginFacts {
        id: "org.test.file",
        version: "1.0.0",
        ..BASE
    };
    let mut facts = Facts::of(&facts).unwrap();
    facts.id = id.to_owned();
    facts.version = version.parse().unwrap();
    facts.to_toml("lib.so")
}

fn find(root: &Root, variables: &[(&str, &str)], builtins: &[BuiltIn]) -> Plugins {
    Plugins::find(roots(root), &root.load(variables, false), false, builtins)
}

fn found(plugins: &Plugins, root: &Root) -> Vec<String> {
    let text = |candidate: &Candidate| {
        let code = serde_json::to_value(&candidate.reason).unwrap()["code"]
            .as_str()
            .unwrap_or("-")
            .to_owned();
        let source = candidate.source.to_string().replace(root.0.to_str().unwrap(), "");
        format!("{source} {} {code}", candidate.name)
    };
    plugins.candidates().iter().map(text).collect()
}

#[test]
fn files_are_found_in_the_order_of_the_search_and_in_byte_order() {
    let root = Root::new("order");
    for (path, id) in [
        ("usr/lib/hansa/plugins.d/50-a.d.toml", "a.d"),
        ("runtime/50-a.c.toml", "a.c"),
        ("runtime/notes.toml", "a.x"),
        ("runtime/hansa/plugins.d/50-a.c2.toml", "a.c2"),
        ("etc/hansa/plugins.d/60-a.b2.toml", "a.b2"),
        ("etc/hansa/plugins.d/50-a.b.toml", "a.b"),
        ("home/.config/hansa/plugins.d/50-a.a.toml", "a.a"),
    ] {
        root.write(path, &manifest(id, "1.0.0"));
    }
    let plugins = find(&root, &[], &[BuiltIn::of::<Hardware>()]);
    let expected = [
        "/home/.config/hansa/plugins.d/50-a.a.toml a.a -",
        "/etc/hansa/plugins.d/50-a.b.toml a.b -",
        "/etc/hansa/plugins.d/60-a.b2.toml a.b2 -",
        "/runtime/50-a.c.toml a.c -",
        "/runtime/hansa/plugins.d/50-a.c2.toml a.c2 -",
        "/usr/lib/hansa/plugins.d/50-a.d.toml a.d -",
        "built in org.test.hw -",
    ];
    assert_eq!(found(&plugins, &root), expected);
}

#[test]
fn the_first_file_of_a_name_wins_and_a_link_to_dev_null_masks() {
    let root = Root::new("names");
    root.write("etc/hansa/plugins.d/50-a.a.toml", &manifest("a.a", "1.0.0"));
    root.write("usr/lib/hansa/plugins.d/50-a.a.toml", &manifest("a.a", "9.0.0"));
    root.write("usr/lib/hansa/plugins.d/50-a.m.toml", &manifest("a.m", "1.0.0"));
    symlink("/dev/null", root.0.join("etc/hansa/plugins.d/50-a.m.toml")).unwrap();
    symlink(
        "/dev/null",
        root.0.join("etc/hansa/plugins.d/50-org.test.hw.toml"),
    )
    .unwrap();
    let plugins = find(&root, &[], &[BuiltIn::of::<Hardware>()]);
    let expected = [
        "/etc/hansa/plugins.d/50-a.a.toml a.a -",
        "/usr/lib/hansa/plugins.d/50-a.a.toml a.a shadowed",
        "/usr/lib/hansa/plugins.d/50-a.m.toml a.m masked",
        "built in org.test.hw masked",
    ];
    assert_eq!(found(&plugins, &root), expected);
}

#[test]
fn what_is_named_comes_first_or_alone() {
    let root = Root::new("named");
    root.write("add/50-a.a.toml", &manifest("a.a", "1.0.0"));
    root.write("one/whatever.toml", &manifest("a.one", "1.0.0"));
    root.write("etc/hansa/plugins.d/50-a.b.toml", &manifest("a.b", "1.0.0"));
    let add = root.0.join("add").into_os_string().into_string().unwrap();
    let one = root
        .0
        .join("one/whatever.toml")
        .into_os_string()
        .into_string()
        .unwrap();
    let plugins = find(&root, &[("HANSA_PLUGIN_ADD", &format!("{add}:{one}"))], &[]);
    let expected = [
        "/add/50-a.a.toml a.a -",
        "/one/whatever.toml a.one -",
        "/etc/hansa/plugins.d/50-a.b.toml a.b -",
    ];
    assert_eq!(found(&plugins, &root), expected);
    let plugins = find(
        &root,
        &[("HANSA_PLUGIN_FILES", &one)],
        &[BuiltIn::of::<Hardware>()],
    );
    assert_eq!(found(&plugins, &root), ["/one/whatever.toml a.one -"]);
}

#[test]
fn a_named_library_is_judged_by_its_note() {
    let root = Root::new("library");
    let exe = std::env::current_exe()
        .unwrap()
        .into_os_string()
        .into_string()
        .unwrap();
    let plugins = find(
        &root,
        &[("HANSA_PLUGIN_FILES", &format!("{exe}:/nowhere/x.so"))],
        &[],
    );
    let codes: Vec<String> = found(&plugins, &root)
        .iter()
        .map(|text| text.rsplit(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(codes, ["no-note", "library-unreadable"]);
}

#[test]
fn what_everybody_may_write_to_is_not_trusted() {
    let root = Root::new("writable");
    root.write("etc/hansa/plugins.d/50-a.a.toml", &manifest("a.a", "1.0.0"));
    root.write("usr/lib/hansa/plugins.d/50-a.b.toml", &manifest("a.b", "1.0.0"));
    let mode = |path: &str, mode| {
        fs::set_permissions(root.0.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("etc/hansa/plugins.d/50-a.a.toml", 0o646);
    mode("usr/lib/hansa/plugins.d", 0o777);
    let plugins = find(&root, &[], &[]);
    let paths: Vec<String> = plugins
        .candidates()
        .iter()
        .map(|candidate| match &candidate.reason {
            Some(Reason::WorldWritable { path }) => {
                path.display().to_string().replace(root.0.to_str().unwrap(), "")
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        paths,
        ["/etc/hansa/plugins.d/50-a.a.toml", "/usr/lib/hansa/plugins.d"]
    );
}

#[test]
fn broken_manifests_go_by_the_name_of_their_file() {
    let root = Root::new("broken");
    root.write("etc/hansa/plugins.d/50-a.a.toml", "format = 7\n");
    root.write("etc/hansa/plugins.d/b.toml", &manifest("a.b", "1.0.0"));
    root.write("etc/hansa/plugins.d/60-a.c.toml", &manifest("a.d", "1.0.0"));
    let plugins = find(&root, &[("HANSA_BACKENDS", "a.a")], &[]);
    let expected = [
        "/etc/hansa/plugins.d/50-a.a.toml a.a manifest-newer",
        "/etc/hansa/plugins.d/60-a.c.toml a.d not-selected",
        "/etc/hansa/plugins.d/b.toml b.toml manifest-name",
    ];
    assert_eq!(found(&plugins, &root), expected);
    assert_eq!(
        plugins.candidates()[1].warnings,
        ["the file name says a.c, and the manifest a.d"]
    );
    assert!(plugins
        .verdict()
        .unwrap_err()
        .to_string()
        .starts_with("HANSA_BACKENDS asks for a.a: The manifest"));
}

#[test]
fn a_directory_that_is_named_twice_is_searched_once() {
    let root = Root::new("twice");
    root.write("runtime/hansa/plugins.d/50-a.a.toml", &manifest("a.a", "1.0.0"));
    let add = root
        .0
        .join("runtime/hansa/plugins.d")
        .into_os_string()
        .into_string()
        .unwrap();
    let plugins = find(&root, &[("HANSA_PLUGIN_ADD", &add)], &[]);
    assert_eq!(
        found(&plugins, &root),
        ["/runtime/hansa/plugins.d/50-a.a.toml a.a -"]
    );
}

#[test]
fn a_secure_program_does_not_look_where_its_caller_says() {
    let root = Root::new("secure");
    root.write("add/50-a.a.toml", &manifest("a.a", "1.0.0"));
    root.write(
        "home/.config/hansa/plugins.d/50-a.b.toml",
        &manifest("a.b", "1.0.0"),
    );
    let add = root.0.join("add").into_os_string().into_string().unwrap();
    let config = root.load(&[("HANSA_PLUGIN_ADD", &add), ("HANSA_PLUGIN_FILES", &add)], true);
    let roots = Roots {
        user: None,
        ..roots(&root)
    };
    let plugins = Plugins::find(roots, &config, true, &[]);
    assert_eq!(found(&plugins, &root), [""; 0]);
    let report = plugins.report();
    assert!(report.secure);
    for name in ["HANSA_PLUGIN_ADD", "HANSA_PLUGIN_FILES", "HOME"] {
        let text = format!("{name}: ignored: this program runs with more rights than its caller");
        assert!(report.warnings.contains(&text), "{:?}", report.warnings);
    }
}
