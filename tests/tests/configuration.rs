//! What variables do to a program that knows nothing of them, on software GPUs.

use std::process::{Command, Output};

use hansa_tests::artifacts::libraries;
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

/// What a program says on stderr that uses a little of everything.
fn told(variables: &[(&str, &str)]) -> String {
    let mut command = Machine::gfx900(Plugins::BuiltIn).command(&program("traced"));
    command.arg(code_objects()).envs(variables.iter().copied());
    let (output, text, errors) = finished(command);
    assert!(output.status.success(), "{text}{errors}");
    errors
}

#[test]
fn each_debug_switch_shows_its_own_and_nothing_else() {
    if !ready() {
        return;
    }
    let queue = [
        "hansa: queue 1: made for agent 1, gfx900: 0x",
        "Multi, 64 packets",
        "queue 1: destroyed; 16 of 16 packets",
    ];
    let memory = [
        "hansa: memory: 0x",
        "bytes of region",
        "1048576 bytes from 0x",
        "copied",
        "was never freed",
    ];
    let signal = [
        "hansa: signal 0x",
        ": made with 8",
        ": waited ",
        " us until ",
        ": destroyed",
    ];
    let switches: [(&str, &[&str]); 3] = [
        ("HSA_QUEUE_DEBUG", &queue),
        ("HSA_MEMORY_DEBUG", &memory),
        ("HSA_SIGNAL_DEBUG", &signal),
    ];
    for (switch, parts) in switches {
        let errors = told(&[(switch, "1")]);
        for (other, theirs) in switches {
            for part in theirs
                .iter()
                .filter(|part| other == switch || part.starts_with("hansa: "))
            {
                assert_eq!(
                    errors.contains(part),
                    other == switch,
                    "{switch}: {part}:\n{errors}"
                );
            }
        }
        assert!(!parts.is_empty());
    }
    assert_eq!(told(&[]), "");
}

#[test]
fn the_level_shows_more_the_higher_it_is() {
    if !ready() {
        return;
    }
    let quiet = [("HSA_DEBUG_LEVEL", "5"), ("HSA_ENABLE_SDMA_GANG", "1")];
    assert_eq!(told(&quiet), "");
    let some = told(&[("HSA_DEBUG_LEVEL", "6")]);
    assert!(
        some.contains("hansa: queue 1: ")
            && some.contains("hansa: memory: ")
            && !some.contains("hansa: signal")
    );
    let all = told(&[
        ("HSA_ENABLE_DEBUG", "1"),
        ("HSA_DEBUG_LEVEL", "7"),
        ("HSA_ENABLE_SDMA_GANG", "1"),
    ]);
    let meaningless = "hansa: HSA_ENABLE_SDMA_GANG has no meaning here: one copy uses one engine\n";
    assert!(
        all.contains(meaningless) && all.contains("hansa: signal"),
        "{all}"
    );
    let mut command = Machine::gfx900(Plugins::BuiltIn).command(&program("tooled"));
    command.env("HSA_DEBUG_LEVEL", "7");
    let (_, _, errors) = finished(command);
    assert!(
        errors.contains("hansa: hsa_shut_down: "),
        "no reason for a refusal:\n{errors}"
    );
}

#[test]
fn queues_are_as_large_as_wanted_and_limited_to_compute_units() {
    if !ready() {
        return;
    }
    let queues = |variables: &[(&str, &str)]| -> Vec<String> {
        let mut command = THREE.command(&program("agents"));
        command.envs(variables.iter().copied());
        let (output, text, errors) = finished(command);
        assert!(output.status.success(), "{text}{errors}");
        let lines = text.lines().filter_map(|line| line.strip_prefix("queue "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(queues(&[]), ["0xffffffff 64"; 3]);
    assert_eq!(queues(&[("HSA_QUEUE_SIZE", "1024")]), ["0xffffffff 1024"; 3]);
    let mask = ("HSA_CU_MASK", "0:0-3;2:0xf0");
    assert_eq!(queues(&[mask]), ["0xf 64", "0xffffffff 64", "0xf0 64"]);
    // The number of a GPU is that among the visible ones.
    assert_eq!(queues(&[mask, ("ROCR_VISIBLE_DEVICES", "2")]), ["0xf 64"]);
    assert_eq!(
        queues(&[mask, ("HSA_CU_MASK_SKIP_INIT", "1")]),
        ["0xffffffff 64"; 3]
    );
}

#[test]
fn scratch_is_prepared_as_wanted() {
    if ready() {
        let scratch = |errors: String| {
            errors
                .lines()
                .find(|l| l.contains(" of scratch"))
                .map(str::to_owned)
        };
        let debug = ("HSA_QUEUE_DEBUG", "1");
        assert_eq!(scratch(told(&[debug])), None);
        let line = scratch(told(&[debug, ("HSA_SCRATCH_MEM", "512")]));
        // 64 lanes of 512 bytes each.
        assert!(
            line.as_ref()
                .is_some_and(|line| line.contains(" waves with 32768 bytes of scratch")),
            "{line:?}"
        );
    }
}

/// The variables that AMD's runtime, its loader and its driver library read, each with a value that it takes.
const OF_AMD: &str = "ROCR_VISIBLE_DEVICES=0 HSA_ENABLE_INTERRUPT HSA_ENABLE_SDMA HSA_ENABLE_PEER_SDMA HSA_ENABLE_SDMA_GANG \
    HSA_ENABLE_SDMA_COPY_SIZE_OVERRIDE HSA_ENABLE_SDMA_RECOMMENDED_ENG HSA_ENABLE_SDMA_HDP_FLUSH HSA_SDMA_WAIT_IDLE \
    HSA_FORCE_SDMA_SIZE HSA_CO_DMACOPY_SIZE HSA_REV_COPY_DIR HSA_DISCOVER_COPY_AGENTS HSA_MAX_QUEUES=128 HSA_SCRATCH_MEM=512 \
    HSA_SCRATCH_SINGLE_LIMIT HSA_SCRATCH_SINGLE_LIMIT_ASYNC HSA_ENABLE_SCRATCH_ASYNC_RECLAIM HSA_ENABLE_SCRATCH_ALT \
    HSA_NO_SCRATCH_RECLAIM HSA_NO_SCRATCH_THREAD_LIMITER HSA_CHECK_FLAT_SCRATCH HSA_TOOLS_LIB=libno-tool.so \
    HSA_TOOLS_REPORT_LOAD_FAILURE=0 HSA_TOOLS_DISABLE_REGISTER HSA_TOOLS_REPORT_REGISTER_FAILURE \
    HSA_TOOLS_ROCPROFILER_V1_TOOLS HSA_RUNNING_UNDER_VALGRIND HSA_ENABLE_VM_FAULT_MESSAGE HSA_ENABLE_QUEUE_FAULT_MESSAGE \
    HSA_DISABLE_FRAGMENT_ALLOCATOR HSA_FORCE_FINE_GRAIN_PCIE HSA_DISABLE_IMAGE HSA_DISABLE_PC_SAMPLING \
    HSA_PCS_MAX_DEVICE_BUFFER_SIZE HSA_LOADER_ENABLE_MMAP_URI HSA_IGNORE_SRAMECC_MISREPORT HSA_ENABLE_SRAMECC=0 HSA_XNACK=0 \
    HSA_ENABLE_DEBUG HSA_CU_MASK=0:0-3 HSA_CU_MASK_SKIP_INIT HSA_COOP_CU_COUNT HSA_SVM_PROFILE HSA_IMAGE_PRINT_SRD \
    HSA_IMAGE_ENABLE_3D_SWIZZLE_DEBUG HSA_ENABLE_MWAITX HSA_ENABLE_IPC_MODE_LEGACY HSA_OVERRIDE_CPU_AFFINITY_DEBUG \
    HSA_ALLOCATE_QUEUE_DEV_MEM HSA_WAIT_ANY_DEBUG HSA_SIGNAL_WAIT_ABORT_TIMEOUT=3600 HSA_ASYNCEVENTS_THREAD_PRIORITY \
    HSA_ENABLE_DTIF LOADER_OPTIONS_APPEND LOADER_ENABLE_LOGGING LOADER_USE_DYNSYM HSAKMT_DEBUG_LEVEL HSA_ZFB HSA_USE_UDMABUF \
    HSA_USE_SVM HSA_OVERRIDE_GFX_VERSION=9.0.0 HSA_OVERRIDE_GFX_VERSION_1=9.0.0 HSA_DISABLE_CACHE HSA_USERPTR_FOR_PAGED_MEM \
    HSA_CHECK_USERPTR HSA_RESERVE_SVM HSA_SVM_GUARD_PAGES HSA_HIGH_PRECISION_MODE HSA_MAX_VA_ALIGN HSA_MODEL_TOPOLOGY \
    HSA_MODEL_LIB HSA_MODEL_MEMFILE VHSAKMT_DEBUG_LEVEL HSA_SIGBUS_DELAY_MS HSA_ENABLE_HIGH_PRECISION_TIMESTAMPS \
    HSA_HOTSWAP_ENABLE HSA_DISABLE_GFX12_STRICT HSA_ENABLE_DTIF_FAST_COPY HSA_DTIF_SKIP_INV_CODE_CACHE \
    HSA_ENABLE_DXG_DETECTION HSA_COREDUMP_SHOW_PROGRESS HSA_DISABLE_COREDUMP_ON_EXCEPTION HSA_COREDUMP_PATTERN \
    HSA_ENABLE_LIGHTWEIGHT_COREDUMP GPU_MAX_HW_QUEUES HSA_COUNTED_QUEUE_SIZE=64 HSA_SDMA_LINEAR_B2B HSA_SDMA_MULTICAST";

/// The lines of `hansa config` with these variables.
fn settings(variables: &[(&str, &str)]) -> String {
    let mut command = Machine::gfx900(Plugins::BuiltIn).command(&libraries().join("hansa"));
    command.arg("config").envs(variables.iter().copied());
    let (output, text, errors) = finished(command);
    assert!(output.status.success() && errors.is_empty(), "{text}{errors}");
    text
}

#[test]
fn every_variable_of_amds_runtime_sets_something_or_is_said_to_have_no_meaning() {
    if !ready() {
        return;
    }
    let variables: Vec<(&str, &str)> = OF_AMD
        .split_whitespace()
        .map(|word| word.split_once('=').unwrap_or((word, "1")))
        .collect();
    let shown = settings(&variables);
    let loud: Vec<_> = variables
        .iter()
        .copied()
        .filter(|(name, _)| *name != "HSA_TOOLS_LIB")
        .chain([("HSA_DEBUG_LEVEL", "7")])
        .collect();
    let errors = told(&loud);
    for (name, _) in variables {
        let sets = shown.lines().any(|line| line.ends_with(&format!("# {name}")));
        let meaningless = format!(" {name} has no meaning here: ");
        let said = errors.lines().filter(|line| line.contains(&meaningless)).count();
        // Drivers are told of it as well, and this one does nothing with it.
        let both = name == "HSA_XNACK";
        assert!(
            said <= 1 && (sets || said == 1) && (both || sets != (said == 1)),
            "{name}: {said} lines of debugging, sets something: {sets}\n{shown}{errors}"
        );
    }
}

/// Where a setting has a name of its own and one that others know, both set it, and its own wins.
#[test]
fn both_spellings_of_a_setting_set_it() {
    if !ready() {
        return;
    }
    for (theirs, ours, one, other) in [
        ("HSA_QUEUE_SIZE", "HANSA_RUNTIME_QUEUE_SIZE", "1024", "2048"),
        ("HSA_ENABLE_SDMA", "HANSA_RUNTIME_ENABLE_SDMA", "0", "1"),
        ("HSA_DEBUG_LEVEL", "HANSA_DEBUG_LEVEL", "1", "2"),
        ("HSA_TRACE", "HANSA_DEBUG_API_TRACE", "text", "0"),
        ("HSA_QUEUE_DEBUG", "HANSA_DEBUG_QUEUE", "1", "0"),
        ("HSA_MEMORY_DEBUG", "HANSA_DEBUG_MEMORY", "1", "0"),
        ("HSA_SIGNAL_DEBUG", "HANSA_DEBUG_SIGNAL", "1", "0"),
        ("HSA_SVM_GUARD_PAGES", "HANSA_MEMORY_SVM_GUARD_PAGES", "0", "1"),
    ] {
        for (variables, by) in [
            (&[(theirs, one)][..], theirs),
            (&[(ours, other)][..], ours),
            (&[(theirs, one), (ours, other)][..], ours),
        ] {
            let shown = settings(variables);
            let of: Vec<&str> = shown
                .lines()
                .filter(|line| line.ends_with(&format!("# {by}")))
                .collect();
            assert_eq!(of.len(), 1, "{variables:?}:\n{shown}");
        }
    }
    for (ours, value) in [
        ("HANSA_RUNTIME_SCRATCH_MEM_MB", "64"),
        ("HANSA_MEMORY_USE_HUGE_PAGES", "0"),
    ] {
        assert!(
            settings(&[(ours, value)]).contains(&format!("# {ours}")),
            "{ours}"
        );
    }
}

/// A plugin's own settings: named with the file and line when they cannot be used, once, and the default holds.
#[test]
fn a_bad_setting_of_a_plugin_is_one_warning_and_the_default_holds() {
    if !ready() {
        return;
    }
    // The whole id, as the machine's own file has it.
    let lines = ["devices = \"many\"", "isa = \"gfx1\"", "colour = 3"]
        .map(|line| format!("backend.\"org.hansa.sim\".{line}\n"));
    let lines = lines.concat() + "backend.smi.devices = 2\n";
    let (gpus, errors) = gpus(Machine::gfx900(Plugins::BuiltIn), &[("HANSA_SET", &lines)]);
    assert_eq!(gpus.len(), 1, "{errors}");
    for (line, text) in [
        (1, "devices = \"many\": expected a whole number from 1 to 64"),
        (2, "isa = \"gfx1\": expected one of \"gfx900\""),
        (3, "colour = 3: unknown key; there are devices, isa"),
    ] {
        let start = format!("hansa: HANSA_SET:{line}: org.hansa.sim: {text}");
        let said = errors.lines().filter(|said| said.starts_with(&start)).count();
        assert_eq!(said, 1, "{start}\n{errors}");
    }
    let nobody = "hansa: HANSA_SET:4: [backend.smi] is for a plugin that was not found";
    assert_eq!(
        errors.lines().filter(|line| *line == nobody).count(),
        1,
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 4, "{errors}");
}
