//! What variables do to a program that knows nothing of them, on software GPUs.

use std::process::{Command, Output};

use hansa_tests::hsa_client::{judge, program, ready, Machine, Plugins};
use hansa_tests::kernels::code_objects;

const THREE: Machine<'static> = Machine {
    plugins: Plugins::BuiltIn,
    isa: "gfx900",
    devices: 3,
};

fn finished(mut command: Command) -> (Output, String, String) {
    let output = command.output().expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text, errors)
}

/// The GPUs that a program sees, as `NODE NAME`, and what is said on stderr.
fn gpus(machine: Machine<'_>, variables: &[(&str, &str)]) -> (Vec<String>, String) {
    let mut command = machine.command(&program("agents"));
    command.envs(variables.iter().copied());
    let (output, text, errors) = finished(command);
    assert!(output.status.success(), "{text}{errors}");
    let words = text.lines().filter_map(|line| {
        let [node, name, ..] = line.strip_prefix("gpu ")?.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(format!("{node} {name}"))
    });
    (words.collect(), errors)
}

fn uuids() -> Vec<String> {
    let (output, text, errors) = finished(THREE.command(&program("agents")));
    assert!(output.status.success(), "{text}{errors}");
    text.lines()
        .filter_map(|line| Some(line.strip_prefix("gpu ")?.split(' ').nth(2)?.to_owned()))
        .collect()
}

#[test]
fn visible_devices_choose_and_reorder_by_index_and_uuid() {
    if !ready() {
        return;
    }
    let visible = |list: &str| gpus(THREE, &[("ROCR_VISIBLE_DEVICES", list)]);
    let (all, _) = gpus(THREE, &[]);
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(visible("2,0").0, [&*all[2], &all[0]]);
    let uuids = uuids();
    assert!(
        uuids.iter().all(|id| id.starts_with("GPU-") && id.len() == 20),
        "{uuids:?}"
    );
    assert_eq!(
        visible(&format!("{}, 0x0", uuids[1].to_lowercase())).0,
        [&*all[1], &all[0]]
    );
    // An empty list is no GPU; the first wrong word ends it.
    assert_eq!(visible("").0, [""; 0]);
    let (left, errors) = visible("1,7,0");
    assert_eq!(left, [&*all[1]]);
    assert!(
        errors.contains("ROCR_VISIBLE_DEVICES: \"7\": there is no GPU with this index"),
        "{errors}"
    );
    assert_eq!(errors.matches("ROCR_VISIBLE_DEVICES").count(), 1, "{errors}");
}

#[test]
fn gpus_say_the_version_they_are_told() {
    if !ready() {
        return;
    }
    let (all, _) = gpus(THREE, &[]);
    let nodes: Vec<u32> = all
        .iter()
        .map(|gpu| gpu.split(' ').next().unwrap_or("").parse().expect("a number"))
        .collect();
    let one = format!("HSA_OVERRIDE_GFX_VERSION_{}", nodes[1]);
    let empty = format!("HSA_OVERRIDE_GFX_VERSION_{}", nodes[2]);
    let variables = [
        ("HSA_OVERRIDE_GFX_VERSION", "9.0.6"),
        (&one, "9.0.10"),
        (&empty, ""),
    ];
    let names = |list: Vec<String>| -> Vec<String> {
        let last = |gpu: &String| gpu.split(' ').nth(1).unwrap_or("").to_owned();
        list.iter().map(last).collect()
    };
    assert_eq!(names(gpus(THREE, &variables).0), ["gfx906", "gfx90a", "gfx906"]);
    // The number is that of the node, whatever is visible.
    let visible = [variables[1], ("ROCR_VISIBLE_DEVICES", "1,0")];
    assert_eq!(names(gpus(THREE, &visible).0), ["gfx90a", "gfx900"]);
    // A version that the software GPU cannot be is reported all the same.
    assert_eq!(
        names(gpus(THREE, &[(&one, "11.0.0")]).0),
        ["gfx900", "gfx1100", "gfx900"]
    );
    let (kept, errors) = gpus(THREE, &[(&one, "eleven")]);
    assert_eq!(names(kept), ["gfx900"; 3]);
    assert!(
        errors.contains(&format!("{one}: eleven: expected major.minor.step")),
        "{errors}"
    );
}

/// Code for the version is loaded, and it runs as on that chip.
#[test]
fn kernels_of_the_version_run() {
    if ready() {
        for (version, plugins) in [("9.0.10", Plugins::BuiltIn), ("9.0.6", Plugins::Loaded)] {
            let machine = Machine::gfx900(plugins);
            let mut command = machine.command(&program("kernels"));
            command.env("HSA_OVERRIDE_GFX_VERSION", version);
            command
                .arg(code_objects())
                .args(["vector_add", "reduce", "spill"]);
            judge(machine, "kernels", &mut command);
        }
    }
}

#[test]
fn errors_of_kernels_are_said_without_being_asked_for() {
    if !ready() {
        return;
    }
    let run = |fault: &str, variables: &[(&str, &str)]| -> Vec<String> {
        let mut command = Machine::gfx900(Plugins::BuiltIn).command(&program("faults"));
        command
            .arg(code_objects())
            .arg(fault)
            .envs(variables.iter().copied());
        let (output, text, errors) = finished(command);
        assert!(output.status.success(), "{text}{errors}");
        errors.lines().map(str::to_owned).collect()
    };
    for (kernel, what) in [
        (
            "illegal_instruction",
            ["Illegal instruction 0xffffffff", "no encoding family"],
        ),
        ("trap", ["Trap 2", "(s_trap 2)"]),
        ("wild_write", ["Memory fault at 0xdead0000", "store_dword"]),
        ("wild_read", ["Memory fault at 0xdead0000", "load_dword"]),
    ] {
        let [line] = &run(kernel, &[])[..] else {
            panic!("{kernel}: not one line: {:?}", run(kernel, &[]));
        };
        assert!(
            line.starts_with("hansa: org.hansa.sim: Queue 1 stopped: "),
            "{line}"
        );
        assert!(
            line.contains(&format!(" = {kernel},")),
            "no name of the kernel: {line}"
        );
        assert!(what.iter().all(|what| line.contains(what)), "{line}");
        let silence = [
            ("HSA_ENABLE_QUEUE_FAULT_MESSAGE", "0"),
            ("HSA_ENABLE_VM_FAULT_MESSAGE", "0"),
        ];
        assert_eq!(run(kernel, &silence), [""; 0]);
    }
}
