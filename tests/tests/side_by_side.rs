//! Side by side: AMD's runtime from Debian and Hansa on the same virtual device, and Hansa with the software GPU. What they
//! say of the machine differs only where `tests/data/side-by-side.txt` gives a reason, and kernels give the same results.

use std::collections::BTreeMap;
use std::path::Path;

use hansa_tests::c_client::repository;
use hansa_tests::hip_client;
use hansa_tests::hsa_client::{program, ready};
use hansa_tests::kernels::{code_objects, TARGETS};
use hansa_tests::side::{is_comparable, Side};

/// A row of the list of differences: the pair, a pattern.
fn explanations() -> Vec<(String, String)> {
    let path = repository().join("tests/data/side-by-side.txt");
    let text = std::fs::read_to_string(&path).expect("The list of differences is part of the repository");
    let rows = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|line| {
        let mut fields = line.split("  ");
        let (Some(pair), Some(pattern), Some(reason)) = (fields.next(), fields.next(), fields.next()) else {
            panic!("{}: {line:?} is not PAIR  PATTERN  REASON", path.display());
        };
        assert!(!reason.is_empty(), "{line:?} has no reason");
        (pair.to_owned(), pattern.to_owned())
    })
    .collect()
}

/// Whether a name matches a pattern, whose stars stand for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return pattern == name;
    };
    name.strip_prefix(before).is_some_and(|rest| {
        (0..=rest.len()).any(|skipped| rest.is_char_boundary(skipped) && matches(after, &rest[skipped..]))
    })
}

/// What a side says of its machine, by name.
fn description(side: Side, isa: &str) -> BTreeMap<String, String> {
    side.output(isa, &program("describe"), &[])
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn compare(pair: &str, isa: &str, one: Side, other: Side) {
    let (one, other) = (description(one, isa), description(other, isa));
    assert!(
        one.len() > 200 && other.len() > 200,
        "{} and {} answers",
        one.len(),
        other.len()
    );
    let explanations = explanations();
    let explained = |name: &str| {
        explanations
            .iter()
            .any(|(of, pattern)| of == pair && matches(pattern, name))
    };
    let mut unexplained = String::new();
    let names: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for name in names {
        let (a, b) = (one.get(name), other.get(name));
        if a != b && !explained(name) {
            unexplained += &format!("{name}: {a:?} and {b:?}\n");
        }
    }
    assert!(unexplained.is_empty(), "{pair}, {isa}:\n{unexplained}");
}

#[test]
fn amds_runtime_and_hansa_describe_the_same_device() {
    if is_comparable() {
        for isa in [
            "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030",
        ] {
            compare("amd", isa, Side::Amd, Side::Kfd);
        }
    }
}

#[test]
fn the_virtual_device_and_the_software_gpu_are_one_kind() {
    if is_comparable() {
        compare("sim", "gfx900", Side::Kfd, Side::Sim);
    }
}

#[test]
fn every_kernel_gives_the_same_results() {
    if !is_comparable() {
        return;
    }
    for isa in TARGETS {
        let results = [Side::Amd, Side::Kfd, Side::Sim]
            .map(|side| side.output(isa, &program("kernels"), &[code_objects()]));
        let verdicts = results.map(|text| text.lines().last().map(ToOwned::to_owned));
        assert!(
            verdicts[0].is_some() && verdicts.iter().all(|verdict| *verdict == verdicts[0]),
            "{isa}: {verdicts:?}"
        );
    }
}

/// AMD's runtime does not survive the other clients, which are about mistakes of programs.
#[test]
fn packets_and_signals_work_on_both() {
    if !is_comparable() {
        return;
    }
    for side in [Side::Amd, Side::Kfd] {
        for client in ["vector_add", "packets", "signals"] {
            side.output("gfx900", &program(client), &[code_objects()]);
        }
    }
}

/// Devices that reach fewer addresses than the host: what they see lies where they reach, on both runtimes.
#[test]
fn signals_of_devices_with_a_short_reach_work_on_both() {
    if is_comparable() {
        for side in [Side::Amd, Side::Kfd] {
            side.output("gfx803", &program("signals"), &[]);
        }
    }
}

#[test]
fn hansa_on_the_virtual_kernel_passes_every_client() {
    if !ready() {
        return;
    }
    for client in [
        "memory",
        "bad_packets",
        "bad_input",
        "bad_calls",
        "lifecycle",
        "info",
        "endings",
    ] {
        Side::Kfd.output("gfx900", &program(client), &[code_objects()]);
    }
}

/// The same clients over the messages of a virtual machine: memory, signals and queues of the runtime are the driver's there.
/// Those that are missing ask for what the protocol does not have: copy engines, priorities, masks, events of faults.
#[test]
fn hansa_in_a_virtual_machine_passes_the_clients() {
    if !ready() {
        return;
    }
    for client in [
        "vector_add",
        "signals",
        "memory",
        "bad_calls",
        "lifecycle",
        "info",
        "kernels",
    ] {
        Side::Guest.output("gfx900", &program(client), &[code_objects()]);
    }
    Side::Guest.output("gfx900,gfx900", &program("vector_add"), &[code_objects()]);
}

/// What a wave does that it must not, the status of it (HSA's and AMD's numbers: exception, illegal instruction, memory fault,
/// aperture violation), and the address where it goes.
const FAULTS: [[&str; 3]; 5] = [
    ["trap", "0x1016", "0"],
    ["illegal_instruction", "42", "0"],
    ["wild_read", "41", "0x800000dead0000"],
    ["wild_read", "43", "0xdead0000"],
    ["wild_write", "43", "0xdead0000"],
];

fn assert_reported(side: Side, isa: &str, fault: [&str; 3]) {
    let fault = fault.map(Path::new);
    side.output(isa, &program("faults"), &[&[code_objects()], &fault[..]].concat());
}

/// Where the kernel reports exceptions, errors of queues arrive another way and are the same to programs. Those of waves come from
/// the driver's trap handler, which the virtual device runs.
#[test]
fn errors_of_queues_are_the_same_where_the_kernel_reports_them() {
    if !ready() {
        return;
    }
    Side::Kfd.output("gfx900:debug", &program("bad_packets"), &[code_objects()]);
    for fault in FAULTS {
        for machine in ["gfx900:debug", "gfx90a:debug"] {
            assert_reported(Side::Kfd, machine, fault);
        }
    }
}

/// The virtual device is as AMD's own trap handler expects it. Of memory faults AMD's runtime makes an end of the program.
#[test]
fn amds_trap_handler_reports_what_waves_do() {
    if !is_comparable() {
        return;
    }
    for fault in &FAULTS[..3] {
        for machine in ["gfx900", "gfx906", "gfx90a"] {
            assert_reported(Side::Amd, machine, *fault);
        }
    }
}

/// Threads that sleep until a device is done: they wait in the driver themselves where events have ages (interface 1.14), and
/// are woken by the runtime's thread where not.
#[test]
fn sleepers_are_woken_with_and_without_ages_of_events() {
    if !ready() {
        return;
    }
    let sleepers = program("sleepers");
    for (minor, how) in [("17", "direct"), ("14", "direct"), ("13", "relayed")] {
        let mut command = Side::Kfd.command("gfx900", &sleepers);
        let output = command.env("VKERNEL_MINOR", minor).arg(how).output();
        let output = output.expect("timeout is a part of every system");
        assert!(
            output.status.success(),
            "interface 1.{minor}: {}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Side::Sim.output("gfx900", &sleepers, &[]);
    Side::Guest.output("gfx900", &sleepers, &[]);
}

/// Engines that the runtime feeds, and kernels of the driver where they are switched off or not there. Where the host does not
/// see the memory, nobody else can have done it.
#[test]
fn engines_and_compute_units_carry_every_byte() {
    if !ready() {
        return;
    }
    for isa in [
        "gfx900",
        "gfx900:private",
        "gfx900:private:noengines",
        "gfx90a:private:noengines",
    ] {
        for engines in ["0", "1"] {
            let mut command = Side::Kfd.command(isa, &program("carry"));
            let output = command.env("HSA_ENABLE_SDMA", engines).output();
            let output = output.expect("timeout is a part of every system");
            assert!(
                output.status.success(),
                "{isa} with HSA_ENABLE_SDMA={engines}: {}\n{}\n{}",
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

/// Debian's `rocminfo` lists the same agents, pools and instruction sets.
#[test]
fn rocminfo_shows_the_same_machine() {
    let rocminfo = Path::new("/usr/bin/rocminfo");
    if !is_comparable() || !rocminfo.exists() {
        return;
    }
    for isa in ["gfx900", "gfx90a"] {
        let shown = [Side::Amd, Side::Kfd].map(|side| side.output(isa, rocminfo, &[]));
        let facts = shown.map(|text| {
            assert!(text.contains("*** Done ***"), "{text}");
            let keys = [
                "Name:",
                "Uuid:",
                "Marketing Name:",
                "Vendor Name:",
                "Segment:",
                "Chip ID:",
                "Compute Unit:",
                "BDFID:",
                "Alloc Granule:",
                "Device Type:",
            ];
            let wanted = |line: &&str| keys.iter().any(|key| line.trim().starts_with(key));
            text.lines()
                .filter(wanted)
                .map(ToOwned::to_owned)
                .collect::<Vec<_>>()
        });
        assert_eq!(facts[0], facts[1], "{isa}");
    }
}

/// HIP programs that know nothing of Hansa, on the virtual kernel.
#[test]
fn hip_programs_run_on_the_virtual_kernel() {
    if !is_comparable() || !hip_client::ready() {
        return;
    }
    for name in [
        "algorithms",
        "atomics",
        "cooperative",
        "copy",
        "copy2d",
        "device",
        "events",
        "graph",
        "lanes",
        "launch",
        "managed",
        "math",
        "memory",
        "memset",
        "occupancy",
        "printf",
        "rtc",
        "soak",
        "stack",
        "streams",
        "symbols",
        "threads",
    ] {
        let program = hip_client::program(name, hip_client::Build::of("gfx900"));
        Side::Kfd.output("gfx900", &program, &[]);
    }
}

/// By the names of AMD's own kernel module, which are all that AMD's 5.2.3 knows, and by dma-buf files.
#[test]
fn memory_reaches_other_processes() {
    if !is_comparable() || !hip_client::ready() {
        return;
    }
    let program = hip_client::program("ipc", hip_client::Build::of("gfx900"));
    for (side, names) in [(Side::Amd, "1"), (Side::Kfd, "1"), (Side::Kfd, "")] {
        let output = side.run(side.command("gfx900", &program).env("VKERNEL_DKMS", names));
        assert!(
            output.status.success(),
            "{side:?} {names:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

/// Textures in tiles, which AMD's runtime fills with kernels of its own, and in rows.
#[test]
fn textures_work_on_both() {
    if !is_comparable() || !hip_client::ready() {
        return;
    }
    let program = hip_client::program("texture", hip_client::Build::of("gfx900"));
    for side in [Side::Amd, Side::Kfd] {
        side.output("gfx900", &program, &[]);
    }
}

/// AMD's runtime lays images out in tiles and moves them with kernels of its own.
#[test]
fn images_work_on_both() {
    if !is_comparable() {
        return;
    }
    let client = program("images");
    Side::Amd.output("gfx900", &client, &[code_objects(), Path::new("amd")]);
    for isa in TARGETS {
        Side::Kfd.output(isa, &client, &[code_objects()]);
    }
}
