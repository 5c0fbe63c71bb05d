//! Plugins of an older and a newer minor version of the interface, and of one that was changed where
//! it may not change.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod plugins_support;

use hansa_core::plugin::Reason;
use hansa_plugin_api::{AllocFlags, AllocRequest, ErrorCode, INTERFACE};
use plugins_support::variants::{build_with, Change};
use plugins_support::{fakes, Place, Started};

const FAKE: &str = "org.hansa.fake";
const SECOND: &str = "org.hansa.second";

/// The words of the contract that say its version.
const MINOR: &str = "minor: 2 }";
/// The words of the driver before what came with later minor versions.
const ADDED: &str = "    added {\n";

/// The end of the last function of the driver.
const LAST: &str = "timeout_ms: u32) -> RVec<u64>;\n";

fn start(library: &std::path::Path) -> Started {
    let place = Place::new();
    place.install(library, |_| {});
    place.install(&fakes().second, |_| {});
    place.behave(SECOND, "devices = second:0");
    place.start(&[])
}

fn interface_of(started: &Started) -> (u32, u32) {
    let interface = started.plugins.candidates()[0].facts.as_ref().unwrap().interface;
    (interface.major, interface.minor)
}

/// A driver of any version allocates and frees.
fn works(started: &Started) {
    assert_eq!(started.serving(), [FAKE, SECOND]);
    let driver = &started.driver(FAKE).driver;
    let flags = AllocFlags::empty();
    let request = AllocRequest {
        node: 0,
        bank: 0,
        bytes: 4096,
        alignment: 4096,
        address: 0,
        flags,
        reserved: 0,
    };
    let memory = driver.allocate(&request).unwrap();
    driver.free(memory.handle).unwrap();
}

#[test]
fn a_plugin_of_an_older_minor_serves_and_what_it_lacks_is_not_supported() {
    let source = include_str!("../../plugin-api/src/contract/driver.rs");
    let (_, added) = source.split_once(ADDED).unwrap();
    let (added, _) = added.split_once("\n    }\n").unwrap();
    let library = build_with(
        "older",
        &[
            Change {
                file: "lib.rs",
                from: MINOR,
                to: "minor: 0 }",
            },
            Change {
                file: "contract/driver.rs",
                from: added,
                to: "",
            },
        ],
    );
    let started = start(&library);
    assert_eq!(interface_of(&started), (1, 0));
    works(&started);
    let driver = &started.driver(FAKE).driver;
    assert_eq!(driver.spm_acquire(0).unwrap_err().code, ErrorCode::NOT_SUPPORTED);
    assert_eq!(
        driver.pc_sampling_configs(0).unwrap_err().code,
        ErrorCode::NOT_SUPPORTED
    );
    let none = || [].as_slice().into();
    assert_eq!(
        driver
            .wait_events_since([1].as_slice().into(), none(), 0)
            .unwrap_err()
            .code,
        ErrorCode::NOT_SUPPORTED
    );
}

#[test]
fn a_plugin_of_a_newer_minor_serves() {
    let library = build_with(
        "newer",
        &[
            Change { file: "lib.rs", from: MINOR, to: "minor: 3 }" },
            Change {
                file: "contract/driver.rs",
                from: LAST,
                to: "timeout_ms: u32) -> RVec<u64>;\n        /// Newest.\n        fn newest(node: u32) -> u64;\n",
            },
            Change {
                file: "contract/host.rs",
                from: "    added {\n",
                to: "    added {\n        /// Newest.\n        fn newest() -> u64;\n",
            },
        ],
    );
    let started = start(&library);
    assert_eq!(interface_of(&started), (1, INTERFACE.minor + 1));
    works(&started);
}

#[test]
fn a_changed_type_is_named_and_the_other_plugin_serves() {
    let library = build_with(
        "retyped",
        &[Change {
            file: "contract/memory.rs",
            from: "pub alignment: u64",
            to: "pub alignment: i64",
        }],
    );
    let started = start(&library);
    assert_eq!(started.serving(), [SECOND]);
    let (at, expected, found) = ("AllocRequest.alignment".into(), "u64".into(), "i64".into());
    assert_eq!(
        *started.reason(FAKE),
        Reason::LayoutDiffers { at, expected, found }
    );
    assert_eq!(started.verdict(), "");
}

#[test]
fn a_function_in_the_middle_of_a_table_is_a_difference() {
    let library = build_with(
        "moved",
        &[Change {
            file: "contract/driver.rs",
            from: "        fn free(handle: MemoryHandle) -> ();\n",
            to: "        fn free(handle: MemoryHandle) -> ();\n        /// Wedged in.\n        fn wedge(node: u32) -> ();\n",
        }],
    );
    let started = start(&library);
    assert_eq!(started.serving(), [SECOND]);
    let (at, expected, found) = (
        "DriverVTable.map".into(),
        "field map".into(),
        "field wedge".into(),
    );
    assert_eq!(
        *started.reason(FAKE),
        Reason::LayoutDiffers { at, expected, found }
    );
}
