//! Cases from public reports (`shared/cases/CASES.md`) that concern the interface, and where each is a test:
//!
//! | case | test |
//! |---|---|
//! | T04 | `t04_…` (here, and of the driver in `tests/vkernel/tests/topology.rs`) |
//! | T09 | `t09_an_override_names_the_kernels_nodes` of the same; an empty variable: `configuration.rs`, `plugins/kfd/src/config.rs` |
//! | T12 | `plugins/kfd/src/chip/mod.rs`, `versions_are_decimal_and_names_are_hexadecimal` |
//! | T15, T16 | `core/src/topology.rs`, `a_node_without_processors_is_not_the_only_one` and those that follow it |
//! | T23 | `oracle.rs`: all rows of `hsa_executable_load_program_code_object` |
//! | T24 | `clients.rs`, `endings`: every way to end with every activity, 252 processes with each kind of plugins |
//! | T25 | `loading.rs`, with `tests/clients/load/consumer.c` |
//! | T26 | `tools.rs`, `bad_tools_are_named_once_and_change_nothing` and the test after it |
//! | T28 | `t28_signals_need_no_events`; the driver's own limit: `tests/vkernel/tests/driver_life.rs` |
//! | T29 | `t29_…` here; `clients.rs`, `copies`: with engines and without, every engine by its mask |
//! | T31 | `pages.rs`, with the software GPU and the virtual kernel; the driver's: `tests/vkernel/tests/pages.rs` |

use std::path::{Path, PathBuf};
use std::process::Command;

use hansa_tests::artifacts::scratch_dir;
use hansa_tests::hsa_client::{judge, program, ready, Machine, Plugins};
use hansa_tests::kernels::code_objects;
use hansa_tests::side::Side;

/// A copy of a published topology, for one test; nothing where there are none.
fn dump(name: &str, test: &str) -> Option<PathBuf> {
    let directory =
        std::env::var_os("HANSA_CASES").map_or_else(|| "/work/shared/cases".into(), PathBuf::from);
    let archive = directory.join("dumps.tar.gz");
    if !archive.exists() {
        return None;
    }
    let to = scratch_dir("dumps").join(test);
    std::fs::create_dir_all(&to).expect("The target directory can be written");
    let member = format!("dumps-runnable/{name}");
    let mut command = Command::new("tar");
    command.arg("xzf").arg(&archive).arg("-C").arg(&to).arg(&member);
    assert!(command.status().expect("tar is a part of every system").success());
    Some(to.join(member))
}

const MIXED: &str = "mixed-vega20-navi33-navi23-4node";

/// A command that runs a client on our driver and a machine like a published one.
fn on(machine: &Path, client: &str) -> Command {
    let mut command = Side::Kfd.command("gfx900", &program(client));
    command.env("VKERNEL_MACHINE", machine);
    command
}

const WHERE: Machine<'_> = Machine::gfx900(Plugins::BuiltIn);

#[test]
fn t04_three_generations_in_one_machine() {
    let Some(machine) = ready().then(|| dump(MIXED, "t04")).flatten() else {
        return;
    };
    let output = on(&machine, "agents")
        .output()
        .expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let gpus: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("gpu "))
        .collect();
    assert_eq!(
        gpus,
        [
            "1 gfx906 GPU-05077f8d2c436ed7 amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-",
            "2 gfx1102 GPU-XX amdgcn-amd-amdhsa--gfx1102",
            "3 gfx1032 GPU-XX amdgcn-amd-amdhsa--gfx1032",
        ],
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The processors of the machine and its GPUs, as a program sees them.
#[test]
fn t04_the_agents_have_the_numbers_of_the_machine() {
    let Some(machine) = ready().then(|| dump(MIXED, "t04-agents")).flatten() else {
        return;
    };
    let output = on(&machine, "describe")
        .output()
        .expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for (agent, numbers) in [
        // Name, node, processors or compute units, lanes of a wave, bytes of the first pool.
        ("agent 0", ["", "0", "24", "0", "33453576192"]),
        ("agent 1", ["\"gfx906\"", "1", "60", "64", "17163091968"]),
        ("agent 2", ["\"gfx1102\"", "2", "28", "32", "8573157376"]),
        ("agent 3", ["\"gfx1032\"", "3", "32", "32", "8573157376"]),
    ] {
        let names = ["NAME", "NODE", "AMD_COMPUTE_UNIT_COUNT", "WAVEFRONT_SIZE"]
            .map(|name| format!("{agent}.{name}"));
        let size = format!("{agent}.pool 0.SIZE");
        for (name, value) in names.iter().chain([&size]).zip(numbers) {
            let line = format!("{name} = {value}");
            assert!(
                value.is_empty() || text.lines().any(|l| l == line),
                "{line}\n{text}"
            );
        }
    }
    assert_eq!(text.matches(".AMD_COMPUTE_UNIT_COUNT = ").count(), 4, "{text}");
}

/// The kernel gives no event, or not as many as the runtime would have: signals work and every wait ends.
#[test]
fn t28_signals_need_no_events() {
    if !ready() {
        return;
    }
    let (no_space, no_memory) = (28, 12);
    for errno in [no_space, no_memory] {
        for good in 0..4 {
            for client in ["signals", "memory"] {
                let mut command = Side::Kfd.command("gfx900", &program(client));
                command.env("VKERNEL_FAULTS", format!("CREATE_EVENT={errno}x4000000+{good}"));
                if client == "memory" {
                    command.arg(code_objects());
                }
                judge(WHERE, client, &mut command);
            }
        }
    }
}

/// There is one engine, and the second cannot be named.
#[test]
fn t29_an_agent_with_one_engine_says_one() {
    let Some(machine) = ready().then(|| dump(MIXED, "t29")).flatten() else {
        return;
    };
    for node in 1..=3 {
        let file = machine.join(format!("nodes/{node}/properties"));
        let text = std::fs::read_to_string(&file).expect("The dump has three GPUs");
        assert!(text.contains("num_sdma_engines 2\n"));
        let one = text.replace("num_sdma_engines 2\n", "num_sdma_engines 1\n");
        std::fs::write(&file, one).expect("The target directory can be written");
    }
    let output = on(&machine, "copies")
        .arg(code_objects())
        .output()
        .expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // With the engine by default and on request; without, the agent still has it.
    assert_eq!(text.matches("1 engines\n").count(), 3, "{text}");
}

#[test]
fn t29_a_minute_of_copies_loses_no_completion() {
    if ready() {
        let mut command = WHERE.command(&program("copies"));
        judge(WHERE, "copies", command.arg(code_objects()).arg("60"));
    }
}
