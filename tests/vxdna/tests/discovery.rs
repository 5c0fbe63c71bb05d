//! Which devices are found, what is said of the others, and what the runtime is told.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{AgentCaps, Attribute, BankFlags, BankKind, Driver, ErrorCode, NodeKind, NodeRef};
use hansa_vxdna::{Errno, NpuSpec};
use hansa_xdna::config::Config;
use hansa_xdna::discover;
use hansa_xdna::plugin::probe_on;
use std::sync::Arc;
use support::Rig;

fn probe(specs: &[NpuSpec]) -> api::Result<Vec<String>> {
    let rig = Rig::closed(specs, Config::default());
    let system = Arc::clone(&rig.system) as Arc<dyn api::sys::System>;
    let outcome = probe_on(&system);
    assert_eq!(rig.system.books().files, 0, "a probe leaves nothing open");
    outcome.map(|found| found.devices.iter().map(ToString::to_string).collect())
}

fn refusing(errno: Errno) -> NpuSpec {
    NpuSpec {
        refuses: Some(errno),
        ..NpuSpec::npu1()
    }
}

#[test]
fn a_machine_without_npus_is_no_device_and_nothing_else() {
    let error = probe(&[]).unwrap_err();
    assert_eq!(error.code, ErrorCode::NO_DEVICE);
    assert_eq!(error.to_string(), "The kernel lists no AMD NPU");
}

#[test]
fn devices_are_named_by_their_pci_addresses() {
    let both = [NpuSpec::npu1(), NpuSpec::npu4().at(3)];
    assert_eq!(probe(&both).unwrap(), ["0000:c5:00.1", "0000:c6:00.1"]);
}

#[test]
fn without_sysfs_devices_are_named_by_their_nodes() {
    let rig = Rig::closed(&[NpuSpec::npu1()], Config::default());
    *rig.system.missing.lock() = ["uevent", "vendor", "device", "vbnv", "device_type", "numa_node"]
        .map(String::from)
        .to_vec();
    let system = Arc::clone(&rig.system) as Arc<dyn api::sys::System>;
    let found = discover::find(&system);
    assert_eq!(found.candidates[0].name(), "/dev/accel/accel0");
    assert_eq!(found.candidates[0].generation.name(), "aie2");
}

#[test]
fn a_device_that_cannot_be_opened_says_why() {
    for (errno, code, words) in [
        (
            Errno::ACCESS,
            ErrorCode::PERMISSION,
            "group of the device (usually render)",
        ),
        (Errno::PERM, ErrorCode::PERMISSION, "device cgroup"),
        (Errno::NODEV, ErrorCode::NO_DEVICE, "needs an IOMMU"),
        (Errno::INVAL, ErrorCode::NO_DEVICE, "needs an IOMMU"),
        (Errno::NXIO, ErrorCode::NO_DEVICE, "no driver is behind it"),
        (Errno::BUSY, ErrorCode::NO_DEVICE, "another process"),
    ] {
        let error = probe(&[refusing(errno)]).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert_eq!(error.errno, errno.raw_os_error(), "{error}");
        assert_eq!(error.place.as_str(), "/dev/accel/accel0", "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// Nodes of other makers and other drivers are none of ours; everything else hides itself alone, with a reason.
#[test]
fn a_bad_device_hides_only_itself() {
    let specs = [
        refusing(Errno::ACCESS),
        NpuSpec {
            driver: "ivpu",
            ..NpuSpec::npu1().at(1)
        },
        NpuSpec {
            device_type: 1,
            ..NpuSpec::npu4().at(2)
        },
        NpuSpec {
            device: 0x1234,
            ..NpuSpec::npu1().at(4)
        },
        NpuSpec::npu4().at(10),
    ];
    let rig = Rig::open(&specs);
    let description = rig.driver.describe().unwrap();
    let hidden: Vec<String> = description.hidden.iter().map(ToString::to_string).collect();
    assert_eq!(hidden.len(), 3, "{hidden:?}");
    assert!(
        hidden[0].contains("/dev/accel/accel0: Permission denied"),
        "{hidden:?}"
    );
    assert!(
        hidden[1].starts_with("accel2: its queues are in user memory"),
        "{hidden:?}"
    );
    assert!(
        hidden[2].starts_with("accel4: device 1022:1234 is not known"),
        "{hidden:?}"
    );
    assert_eq!(description.nodes.len(), 1);
    assert_eq!(description.nodes[0].name, "aie2p");
    assert_eq!(rig.system.books().files, 1);
    rig.driver.close().unwrap();
    assert_eq!(rig.system.books().files, 0);
    rig.assert_no_complaints();
}

#[test]
fn several_reasons_are_all_said_when_none_serves() {
    let error = probe(&[refusing(Errno::NODEV), refusing(Errno::ACCESS).at(1)]).unwrap_err();
    assert_eq!(error.code, ErrorCode::NO_DEVICE);
    for words in ["No NPU can be driven", "accel0", "accel1", "Permission denied"] {
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_failing_question_hides_the_device() {
    for call in ["VERSION", "GET_INFO"] {
        let rig = Rig::closed(&[NpuSpec::npu1()], Config::default());
        rig.system.faults.once(call, Errno::IO);
        let error = rig.driver.open().unwrap_err();
        assert_eq!(error.errno, Errno::IO.raw_os_error(), "{error}");
        assert_eq!(error.place.as_str(), "/dev/accel/accel0");
        assert_eq!(rig.system.books().files, 0);
        rig.driver.open().unwrap();
    }
}

#[test]
fn the_runtime_is_told_what_the_device_is() {
    let rig = Rig::open(&[NpuSpec::npu1(), NpuSpec::npu4().at(1)]);
    let description = rig.driver.describe().unwrap();
    let node = &description.nodes[0];
    assert_eq!((node.kind, node.name.as_str()), (NodeKind::AIE, "aie2"));
    assert_eq!(
        (node.product.as_str(), node.vendor.as_str()),
        ("RyzenAI-npu1", "AMD")
    );
    assert_eq!((node.vendor_id, node.device_id), (0x1022, 0x1502));
    assert_eq!((node.domain, node.location), (0, 0xc501));
    // One of five columns has no way to the host.
    assert_eq!(node.compute_units, 16);
    assert_eq!(node.attribute(Attribute::AIE_COLUMNS), Some(4));
    assert_eq!(node.attribute(Attribute::AIE_CORE_ROWS), Some(4));
    assert_eq!(node.max_clock_mhz, 1024);
    assert!(node.isas.is_empty() && node.caches.is_empty());
    assert!(node.caps.contains(AgentCaps::AGENT_DISPATCH));
    assert!(!node
        .caps
        .intersects(AgentCaps::KERNEL_DISPATCH | AgentCaps::SHARED_ADDRESSES));
    assert_eq!(description.nodes[1].compute_units, 32);
    let banks: Vec<_> = node
        .banks
        .iter()
        .map(|bank| (bank.kind, bank.bytes, bank.granule, bank.recommended_granule))
        .collect();
    let ram = 16 << 30;
    assert_eq!(
        banks,
        [
            (BankKind::HOST, ram, 4096, 4096),
            (BankKind::DEVICE_HEAP, 64 << 20, 4096, 0),
            (BankKind::HOST, ram, 4096, 4096),
        ]
    );
    let kernarg: Vec<_> = node
        .banks
        .iter()
        .map(|bank| bank.flags.contains(BankFlags::KERNARG))
        .collect();
    assert_eq!(kernarg, [true, false, false]);
    assert!(node
        .banks
        .iter()
        .all(|bank| bank.flags.contains(BankFlags::HOST_VISIBLE)));
    let ends: Vec<_> = description
        .links
        .iter()
        .map(|link| (link.from, link.to))
        .collect();
    let (npu, host) = (NodeRef::own, NodeRef::host(0));
    assert_eq!(
        ends,
        [(npu(0), host), (host, npu(0)), (npu(1), host), (host, npu(1))]
    );
}

/// What the driver is asked before it is open, after it was closed and in a forked child.
#[test]
fn only_an_open_driver_answers() {
    let rig = Rig::closed(&[NpuSpec::npu1()], Config::default());
    assert_eq!(rig.driver.describe().unwrap_err().code, ErrorCode::FAILED);
    rig.driver.open().unwrap();
    rig.driver.open().unwrap();
    assert_eq!(rig.system.books().files, 1);
    rig.driver.after_fork().unwrap();
    assert_eq!(rig.driver.available(0).unwrap_err().code, ErrorCode::DEVICE_LOST);
    assert_eq!(rig.system.books().files, 0);
}
