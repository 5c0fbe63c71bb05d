//! The fake plugin in every state a plugin can be in: what is said of it, and that the other one
//! serves all the same.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod plugins_support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hansa_core::plugin::{Outcome, Reason, Step, TakenDevice};
use hansa_plugin_api::note::tag;
use hansa_plugin_api::{AllocFlags, AllocRequest, ErrorCode};
use plugins_support::{fakes, Place, Started};

const FAKE: &str = "org.hansa.fake";
const SECOND: &str = "org.hansa.second";

/// The fake plugin behaves as told, beside another that behaves well.
fn beside_another(behaviour: &str) -> Started {
    let place = Place::new();
    place.install(&fakes().fake, |_| {});
    place.install(&fakes().second, |_| {});
    place.behave(FAKE, behaviour);
    place.behave(SECOND, "devices = second:0");
    let started = place.start(&[]);
    started.keep(place)
}

/// The fake plugin was changed on disk, beside another that is whole.
fn changed(change: impl FnOnce(&Place)) -> Started {
    let place = Place::new();
    place.install(&fakes().fake, |_| {});
    place.install(&fakes().second, |_| {});
    place.behave(SECOND, "devices = second:0");
    change(&place);
    place.start(&[])
}

/// The other one serves, and the runtime may start.
fn the_other_serves(started: &Started) {
    assert_eq!(started.serving(), [SECOND]);
    assert_eq!(started.verdict(), "");
}

fn request(bytes: u64) -> AllocRequest {
    AllocRequest {
        node: 0,
        bank: 0,
        bytes,
        alignment: 4096,
        address: 0,
        flags: AllocFlags::empty(),
        reserved: 0,
    }
}

/// Where the value of a note's record begins.
fn record(bytes: &[u8], tag: u8) -> usize {
    let owner = bytes
        .windows(8)
        .position(|window| window == b"Hansa\0\0\0")
        .unwrap();
    let mut at = owner + 8 + 2;
    while bytes[at] != tag {
        at += 3 + usize::from(u16::from_le_bytes([bytes[at + 1], bytes[at + 2]]));
    }
    at + 3
}

#[test]
fn a_whole_plugin_serves() {
    let started = beside_another("devices = 0000:03:00.0, 0000:04:00.0\nhidden = GPU 7 has no memory");
    assert_eq!(started.serving(), [FAKE, SECOND]);
    let devices = vec!["0000:03:00.0".to_owned(), "0000:04:00.0".to_owned()];
    assert_eq!(
        *started.reason(FAKE),
        Reason::Loaded {
            devices,
            left_to_others: vec![]
        }
    );
    assert_eq!(
        started.plugins.candidates()[0].warnings,
        ["left out: GPU 7 has no memory"]
    );

    let driver = &started.driver(FAKE).driver;
    let memory = driver.allocate(&request(8192)).unwrap();
    assert_eq!((memory.bytes, memory.host_address % 4096), (8192, 0));
    driver.free(memory.handle).unwrap();
    assert_eq!(
        driver.free(memory.handle).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    assert_eq!(driver.spm_acquire(0).unwrap_err().code, ErrorCode::NOT_SUPPORTED);
}

#[test]
fn a_library_without_a_manifest_serves_by_its_note() {
    let place = Place::new();
    let library = place.copy(&fakes().fake, "anything.so");
    let started = place.start(&[("HANSA_PLUGIN_FILES", library.to_str().unwrap())]);
    assert_eq!(started.serving(), [FAKE]);
}

#[test]
fn the_copy_of_higher_version_serves() {
    let (low, high) = (Place::new(), Place::new());
    low.install(&fakes().fake, |_| {});
    high.install(&fakes().fake, |facts| facts.version = "9.0.0".parse().unwrap());
    fs::rename(
        high.dir.join("50-org.hansa.fake.toml"),
        high.dir.join("70-org.hansa.fake.toml"),
    )
    .unwrap();
    let add = format!("{}:{}", low.dir.display(), high.dir.display());
    let started = low.start(&[("HANSA_PLUGIN_ADD", &add)]);
    assert_eq!(started.serving(), [FAKE]);
    assert_eq!(started.driver(FAKE).version, "9.0.0");
    assert!(matches!(started.reason(FAKE), Reason::OtherVersion { by_version, .. } if by_version == "9.0.0"));
}

#[test]
fn no_device_is_no_fault() {
    let started = beside_another("probe = none");
    let reason = started.reason(FAKE);
    assert_eq!(reason.outcome(), Outcome::Absent);
    let Reason::NoDevice { said, .. } = reason else {
        panic!("{reason:?}")
    };
    assert_eq!(said.as_deref(), Some("Told to find no device"));
    the_other_serves(&started);
}

#[test]
fn a_driver_whose_device_nobody_has_is_not_opened() {
    let started = changed(|place| {
        place.install(&fakes().fake, |facts| facts.always = false);
        place.patch(FAKE, |bytes| {
            let at = record(bytes, tag::ALWAYS);
            bytes[at] = 0;
        });
    });
    let looked_for = vec!["kernel module hansa_fake".to_owned()];
    assert_eq!(
        *started.reason(FAKE),
        Reason::NoDevice {
            looked_for,
            said: None
        }
    );
    let library = started.plugins.candidates()[0]
        .source
        .library()
        .unwrap()
        .to_owned();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains(library.to_str().unwrap()));
    the_other_serves(&started);
}

#[test]
fn a_refused_node_is_named_with_errno_and_group() {
    for step in ["probe", "open"] {
        let started = beside_another(&format!("{step} = denied /dev/null"));
        let reason = started.reason(FAKE);
        let Reason::NoPermission {
            node,
            errno,
            errno_name,
            group,
            said,
        } = reason
        else {
            panic!("{reason:?}")
        };
        assert_eq!(
            (node.as_str(), *errno, errno_name.as_str()),
            ("/dev/null", 13, "EACCES")
        );
        // The number of the group, as the root of these tests has no list of names.
        assert_eq!(
            (group.as_deref(), said.as_str()),
            (Some("0"), "Cannot open the device")
        );
        the_other_serves(&started);
    }
}

#[test]
fn an_error_keeps_its_text() {
    for (behaviour, step) in [
        ("probe", Step::Probe),
        ("init", Step::Init),
        ("open", Step::Open),
        ("describe", Step::Describe),
    ] {
        let started = beside_another(&format!("{behaviour} = error"));
        let text = format!("Told to fail in {behaviour}");
        assert_eq!(
            *started.reason(FAKE),
            Reason::Failed {
                step,
                text,
                place: None,
                errno: 0
            }
        );
        the_other_serves(&started);
    }
}

#[test]
fn a_panic_becomes_an_error_with_its_text() {
    for (behaviour, step, method) in [
        ("probe", Step::Probe, "Plugin::probe"),
        ("init", Step::Init, "Plugin::driver"),
        ("open", Step::Open, "Driver::open"),
    ] {
        let started = beside_another(&format!("{behaviour} = panic"));
        let text = format!("Panic in {method}: told to panic in {behaviour}");
        assert_eq!(*started.reason(FAKE), Reason::Panicked { step, text });
        the_other_serves(&started);
    }
}

#[test]
fn a_panic_in_allocate_is_an_error_and_the_driver_lives() {
    let started = beside_another("allocate = panic");
    let driver = &started.driver(FAKE).driver;
    let error = driver.allocate(&request(4096)).unwrap_err();
    assert_eq!(error.code, ErrorCode::PANIC);
    assert_eq!(
        error.message,
        "Panic in Driver::allocate: told to panic in allocate"
    );
    assert_eq!(driver.describe().unwrap().nodes.len(), 1);
}

#[test]
fn one_device_has_one_driver() {
    let started = beside_another("devices = second:0");
    assert_eq!(started.serving(), [FAKE]);
    let devices = vec![TakenDevice {
        device: "second:0".into(),
        by: FAKE.into(),
    }];
    assert_eq!(*started.reason(SECOND), Reason::Outranked { devices });

    let place = Place::new();
    place.install(&fakes().fake, |_| {});
    place.install(&fakes().second, |_| {});
    assert_eq!(
        place.start(&[("HANSA_PLUGIN_PRIORITY", "second=60")]).serving(),
        [SECOND]
    );
    assert_eq!(
        place.start(&[("HANSA_PLUGIN_ORDER", "second")]).serving(),
        [SECOND]
    );
    // The first choice cannot: the device is the other one's.
    place.behave(FAKE, "open = error");
    assert_eq!(place.start(&[]).serving(), [SECOND]);
}

#[test]
fn a_critical_plugin_that_fails_keeps_the_runtime_from_starting() {
    let place = Place::new();
    place.install(&fakes().fake, |facts| facts.critical = true);
    place.install(&fakes().second, |_| {});
    place.behave(SECOND, "devices = second:0");
    assert_eq!(place.start(&[]).verdict(), "");
    place.behave(FAKE, "init = error");
    let started = place.start(&[]);
    assert_eq!(started.serving(), [SECOND]);
    let text =
        "the plugin org.hansa.fake is marked critical: It failed in making its driver: Told to fail in init.";
    assert_eq!(started.verdict(), text);
}

#[test]
fn a_plugin_asked_for_by_name_that_fails_keeps_the_runtime_from_starting() {
    let place = Place::new();
    place.install(&fakes().fake, |_| {});
    place.behave(FAKE, "init = panic");
    assert_eq!(place.start(&[]).verdict(), "");
    let text = place.start(&[("HANSA_BACKENDS", "fake")]).verdict();
    assert!(
        text.starts_with("HANSA_BACKENDS asks for fake: It panicked in making its driver"),
        "{text}"
    );
}

#[test]
fn another_class_or_machine_is_known_from_the_file() {
    let wrong = |change: fn(&mut Vec<u8>)| {
        let started = changed(|place| place.patch(FAKE, change));
        the_other_serves(&started);
        match started.reason(FAKE) {
            Reason::WrongElf { property, found, .. } => (*property, found.clone()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(wrong(|bytes| bytes[4] = 1), ("class", "32 bits".into()));
    assert_eq!(
        wrong(|bytes| bytes[18..20].copy_from_slice(&22u16.to_ne_bytes())),
        ("machine", "s390x".into())
    );
}

#[test]
fn a_manifest_of_another_library_is_found_out() {
    let disagreement = |change: fn(&mut hansa_core::plugin::Facts)| {
        let started = changed(|place| drop(place.install(&fakes().fake, change)));
        the_other_serves(&started);
        match started.reason(FAKE) {
            Reason::NoteDisagrees {
                field,
                manifest,
                note,
            } => format!("{field}: {manifest} / {note}"),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        disagreement(|facts| facts.version = "0.9.0".parse().unwrap()),
        "version: 0.9.0 / 1.0.0"
    );
    assert_eq!(
        disagreement(|facts| facts.nodes.push("/dev/kfd".into())),
        "claims.nodes: /dev/kfd / "
    );
    assert_eq!(
        disagreement(|facts| facts.software = true),
        "policy.software: true / false"
    );
}

#[test]
fn another_major_of_the_interface_is_refused_without_opening() {
    let started = changed(|place| {
        place.install(&fakes().fake, |facts| facts.interface.major = 2);
        place.patch(FAKE, |bytes| {
            let at = record(bytes, tag::INTERFACE);
            bytes[at] = 2;
        });
    });
    assert!(matches!(started.reason(FAKE), Reason::WrongInterface { found, .. } if found.starts_with("2.")));
    the_other_serves(&started);
}

#[test]
fn a_library_that_it_needs_and_nobody_has_is_named() {
    let started = changed(|place| {
        place.patch(FAKE, |bytes| {
            let at = bytes
                .windows(14)
                .position(|window| window == b"libgcc_s.so.1\0")
                .unwrap();
            bytes[at..at + 13].copy_from_slice(b"libabsent.so1");
        });
    });
    assert_eq!(
        *started.reason(FAKE),
        Reason::MissingLibrary {
            name: "libabsent.so1".into()
        }
    );
    the_other_serves(&started);
}

#[test]
fn a_symbol_that_nobody_has_is_named() {
    let started = changed(|place| drop(place.install(&fakes().undefined_symbol, |_| {})));
    assert_eq!(
        *started.reason(FAKE),
        Reason::MissingSymbol {
            symbol: "hansa_symbol_that_nobody_has".into()
        }
    );
    the_other_serves(&started);
}

#[test]
fn a_library_without_a_root_module_is_no_plugin() {
    let started = changed(|place| drop(place.install(&fakes().no_root, |_| {})));
    assert!(
        matches!(started.reason(FAKE), Reason::NoRootModule { .. }),
        "{:?}",
        started.reason(FAKE)
    );
    the_other_serves(&started);
}

#[test]
fn a_library_that_is_not_there_is_named() {
    let started = changed(|place| fs::remove_file(place.dir.join("liborg_hansa_fake.so")).unwrap());
    assert!(matches!(started.reason(FAKE), Reason::LibraryUnreadable { .. }));
    the_other_serves(&started);
}

#[test]
fn bad_manifests_are_reasons_and_unknown_keys_are_not() {
    let with = |change: fn(String) -> String| {
        changed(|place| {
            let path = place.dir.join("50-org.hansa.fake.toml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, change(text)).unwrap();
        })
    };
    let newer = with(|text| text.replace("format = 1", "format = 9"));
    assert!(matches!(
        newer.reason(FAKE),
        Reason::ManifestNewer {
            format: 9,
            newest: 1,
            ..
        }
    ));
    the_other_serves(&newer);
    let wrong = with(|text| text.replace("priority = 50", "priority = \"50\""));
    assert!(matches!(wrong.reason(FAKE), Reason::ManifestKey { key, .. } if key == "policy.priority"));
    the_other_serves(&wrong);
    let broken = with(|text| text.replace('=', ":"));
    assert!(matches!(
        broken.reason(FAKE),
        Reason::ManifestSyntax { line: 1, .. }
    ));
    the_other_serves(&broken);
    let unknown = with(|text| format!("colour = 1\n{text}"));
    assert_eq!(unknown.serving(), [FAKE, SECOND]);
    assert!(unknown.plugins.candidates()[0].warnings[0].contains(":1: unknown key colour;"));
}

#[test]
fn an_unreadable_manifest_is_a_reason() {
    let started = changed(|place| {
        let path = place.dir.join("50-org.hansa.fake.toml");
        fs::remove_file(&path).unwrap();
        // Root reads any file, but nobody reads a directory as one.
        fs::create_dir(path).unwrap();
    });
    assert!(matches!(started.reason(FAKE), Reason::ManifestUnreadable { .. }));
    the_other_serves(&started);
}

#[test]
fn a_directory_that_everybody_may_write_to_is_not_trusted() {
    let (open, closed) = (Place::new(), Place::new());
    open.install(&fakes().fake, |_| {});
    closed.install(&fakes().second, |_| {});
    fs::set_permissions(&open.dir, fs::Permissions::from_mode(0o777)).unwrap();
    let add = format!("{}:{}", open.dir.display(), closed.dir.display());
    let started = open.start(&[("HANSA_PLUGIN_ADD", &add)]);
    assert_eq!(
        *started.reason(FAKE),
        Reason::WorldWritable {
            path: open.dir.clone()
        }
    );
    the_other_serves(&started);
}

#[test]
fn a_library_that_everybody_may_write_to_is_not_trusted() {
    let started = changed(|place| {
        let library = place.dir.join("liborg_hansa_fake.so");
        fs::set_permissions(library, fs::Permissions::from_mode(0o757)).unwrap();
    });
    assert!(
        matches!(started.reason(FAKE), Reason::WorldWritable { path } if path.ends_with("liborg_hansa_fake.so"))
    );
    the_other_serves(&started);
}

#[test]
fn plugins_can_be_started_again() {
    let place = Place::new();
    place.install(&fakes().fake, |_| {});
    for _ in 0..3 {
        let started = place.start(&[]);
        assert_eq!(started.serving(), [FAKE]);
        started.driver(FAKE).driver.close().unwrap();
    }
}
