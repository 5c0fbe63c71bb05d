//! Who is started, and what is said of the rest.

use hansa_plugin_api::{HostObject, RuntimeServicesObject};

use super::support::*;
use crate::config::tests::Root;
use crate::plugin::presence::tests::Files;
use crate::plugin::*;

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
    let (found, accepted) = ("2.0".into(), "1.2".into());
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
